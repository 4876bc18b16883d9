#include "cli/app.h"
#include "cli/commands.h"

#include "base/text.h"

#include <stdio.h>

/* 200,000 characters, each of four bytes at most. */
#define MAX_CODE_BYTES (800u * 1000u)
#define MAX_INPUT_BYTES (16u << 20)

static int read_code(struct al_app *app, struct al_buf *out, struct al_err *err)
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
                       "give a FILE, -e CODE, or - for standard input; `alisio js --help` shows examples");
    }
    if (code) {
        al_buf_init(out, MAX_CODE_BYTES);
        al_buf_adds(out, code);
        if (al_buf_failed(out))
            return al_fail(err, AL_INVALID_INPUT, "the script is longer than 200,000 characters");
    } else if (al_app_read_text(args->pos[0], MAX_CODE_BYTES, out, err) < 0) {
        return -1;
    }
    if (!al_utf8_valid(al_buf_str(out)))
        return al_fail(err, AL_INVALID_INPUT, "the script is not UTF-8 text");
    return 0;
}

static int add_input(struct al_app *app, struct al_jw *w, struct al_err *err)
{
    const char *input = app->args.value[AL_FLAG_INPUT];
    if (!input)
        return 0;
    autoarena struct al_arena arena = AL_ARENA_INIT(512u << 20);
    const struct al_json *v;
    if (al_json_parse(&arena, al_str_of(input), &v, err) < 0) {
        al_wrap(err, "--input is not JSON");
        return al_hint(err, "quote it for the shell: --input '{\"n\": 1}', --input '\"text\"'");
    }
    al_jw_key(w, "input");
    al_jw_value(w, v);
    return 0;
}

static int build_args(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    autobuf struct al_buf code = AL_BUF_INIT(MAX_CODE_BYTES);
    struct al_jw w;
    if (read_code(app, &code, err) < 0)
        return -1;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstr(&w, "code", al_buf_str(&code));
    if (al_args_has(&app->args, AL_FLAG_TITLE))
        al_jw_kstrz(&w, "title", app->args.value[AL_FLAG_TITLE]);
    if (al_args_has(&app->args, AL_FLAG_TIMEOUT))
        al_jw_kint(&w, "timeoutMs", app->args.number[AL_FLAG_TIMEOUT]);
    if (add_input(app, &w, err) < 0)
        return -1;
    al_jw_end(&w);
    if (al_buf_failed(out))
        return al_fail(err, AL_INVALID_INPUT, "script and input are larger than 16 MiB together");
    return 0;
}

/* What was printed, then the value: text as it is, anything else as readable JSON. A value that nobody
 * returned is not shown when there is printed text. */
static void person_form(struct al_app *app, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 30);
    const struct al_json *v;
    struct al_err err;
    if (!reply->structured.n || al_json_parse(&arena, al_buf_str(&reply->structured), &v, &err) < 0) {
        if (reply->err.code == AL_OK)
            al_say_foreign(app, &reply->text, al_buf_str(&reply->model_text), true);
        return;
    }
    struct al_str printed = al_json_get_text(v, "text");
    const struct al_json *value = al_json_get(v, "value");
    al_say_foreign(app, &reply->text, printed, true);
    if (printed.n && printed.p[printed.n - 1] != '\n')
        al_buf_addc(&reply->text, '\n');
    bool nothing = !value || value->type == AL_JSON_NULL;
    if (nothing && (printed.n || reply->err.code != AL_OK))
        return;
    if (al_json_is_string(value))
        al_say_foreign(app, &reply->text, value->str, true);
    else if (value)
        al_say_json(app, &reply->text, value);
    al_buf_addc(&reply->text, '\n');
}

int al_cmd_js(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_INPUT_BYTES);
    snprintf(reply->tool, sizeof reply->tool, "js_run");
    if (build_args(app, &args, &reply->err) < 0)
        return -1;
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    if (!al_core_tool(app->core, AL_STR("js_run"))) {
        al_fail(&reply->err, AL_RUNTIME_UNAVAILABLE, "js_run is switched off by forge.javascript.enabled");
        return al_hint(&reply->err, "alisio config set forge.javascript.enabled true");
    }
    int r = al_app_call(app, AL_STR("js_run"), al_buf_str(&args), reply);
    if (!app->json)
        person_form(app, reply);
    return r;
}
