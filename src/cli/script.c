#include "cli/script.h"

#include "base/text.h"

#include <string.h>

int al_script_read(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    const struct al_args *args = &app->args;
    const char *code = args->value[AL_FLAG_EVAL];
    if (code && args->n_pos) {
        al_fail(err, AL_INVALID_INPUT, "there are two scripts: -e CODE and %.200s", args->pos[0]);
        return al_hint(err, "give one of them");
    }
    if (!code && !args->n_pos) {
        al_fail(err, AL_INVALID_INPUT, "there is no script to run");
        return al_hint(err,
                       "give a FILE, -e CODE, or - for standard input; `alisio %s --help` shows examples",
                       args->command->name);
    }
    if (code) {
        al_buf_init(out, AL_SCRIPT_MAX_BYTES);
        al_buf_adds(out, code);
        if (al_buf_failed(out))
            return al_fail(err, AL_INVALID_INPUT, "the script is longer than 200,000 characters");
    } else if (al_app_read_text(args->pos[0], AL_SCRIPT_MAX_BYTES, out, err) < 0) {
        return -1;
    }
    if (!al_utf8_valid(al_buf_str(out)))
        return al_fail(err, AL_INVALID_INPUT, "the script is not UTF-8 text");
    return 0;
}

void al_script_put_title(const struct al_app *app, struct al_jw *w)
{
    const struct al_args *args = &app->args;
    if (al_args_has(args, AL_FLAG_TITLE)) {
        al_jw_kstrz(w, "title", args->value[AL_FLAG_TITLE]);
        return;
    }
    if (!args->n_pos || strcmp(args->pos[0], "-") == 0)
        return;
    /* Lists of runs are read by people: a script's file names it. */
    const char *slash = strrchr(args->pos[0], '/');
    struct al_str name = al_str_of(slash ? slash + 1 : args->pos[0]);
    if (name.n && al_utf8_valid(name))
        al_jw_kstr(w, "title", al_utf8_head(name, 200));
}
