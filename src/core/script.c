#include "core/script.h"

#include "base/text.h"
#include "core/core.h"
#include "os/fd.h"
#include "os/path.h"

#include <fcntl.h>
#include <stdio.h>

#define SHOWN_PATH 200u /* characters of a path in a message */
#define SHOWN_FIELD 60u

int al_script_bad(struct al_err *err, const char *field, const char *what)
{
    al_fail(err, AL_INVALID_INPUT, "%s: %s", field, what);
    return al_hint(err, "the field to mend is %s", field);
}

int al_script_known_fields(const struct al_json *args, const char *const *known, size_t n, struct al_err *err)
{
    al_json_each(v, args)
    {
        bool found = false;
        for (size_t i = 0; i < n; i++)
            found |= al_str_is(v->key, known[i]);
        if (found)
            continue;
        autobuf struct al_buf shown = AL_BUF_INIT(16 * SHOWN_FIELD);
        al_text_visible(&shown, al_utf8_head(v->key, SHOWN_FIELD), false);
        al_buf_addc(&shown, '\0');
        return al_script_bad(err, shown.p, "there is no such field");
    }
    return 0;
}

int al_script_check_code(struct al_str code, const char *field, struct al_err *err)
{
    if (al_str_trim(code).n == 0)
        return al_script_bad(err, field, "there is no code in it");
    if (code.n > AL_SCRIPT_MAX_CODE_BYTES || al_utf8_count(code) > AL_SCRIPT_MAX_CODE_CHARS)
        return al_script_bad(err, field, "code may have at most 200,000 characters");
    if (!al_utf8_valid(code))
        return al_script_bad(err, field, "code must be UTF-8 text");
    return 0;
}

/* Any ".." is refused, also one that would stay inside: what a script's place is should be plain to see. */
static bool has_dotdot(struct al_str path)
{
    for (size_t i = 0, from = 0; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        if (i - from == 2 && path.p[from] == '.' && path.p[from + 1] == '.')
            return true;
        from = i + 1;
    }
    return false;
}

/* Every failure of codePath is INVALID_INPUT, whatever the layer below calls it. */
static int bad_path(struct al_err *err, const char *why, const char *example)
{
    al_fail(err, AL_INVALID_INPUT, "codePath: %s", why);
    return al_hint(err, "the field to mend is codePath: the name of a file in the scratchpad, as \"%s\"",
                   example);
}

static int open_code(struct al_core *core, struct al_str path, const char *example, int *ret_fd,
                     struct al_err *err)
{
    struct al_scratch *scratch = al_core_scratch(core);
    if (!scratch)
        return al_script_bad(err, "codePath", "there is no scratchpad (forge.scratch.enabled is false)");
    if (al_str_starts(path, "scratch:")) {
        path.p += 8;
        path.n -= 8;
    }
    if (path.n == 0 || path.p[0] == '/')
        return bad_path(err, "a path inside the scratchpad is wanted", example);
    if (has_dotdot(path))
        return al_script_bad(err, "codePath", "\"..\" has no place in it");
    struct al_err why = {0};
    autobuf struct al_buf rel = AL_BUF_INIT(8192), shown = AL_BUF_INIT(8192);
    if (al_path_normalize(path, &rel, &why) < 0)
        return bad_path(err, why.msg, example);
    al_text_visible(&shown, al_utf8_head(al_buf_str(&rel), SHOWN_PATH), false);
    al_buf_addc(&rel, '\0');
    al_buf_addc(&shown, '\0');
    int dir = al_scratch_fd(scratch, &why);
    if (dir < 0)
        return bad_path(err, why.msg, example);
    /* O_NONBLOCK: a pipe that lies there must not stop us. */
    if (al_path_open(dir, rel.p, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, shown.p, ret_fd, &why) < 0)
        return bad_path(err, why.msg, example);
    return 0;
}

static int read_code_path(struct al_core *core, struct al_str path, const char *example, struct al_buf *file,
                          struct al_str *ret_code, struct al_err *err)
{
    autofd int fd = -1;
    if (open_code(core, path, example, &fd, err) < 0)
        return -1;
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return al_script_bad(err, "codePath", "it names no file");
    if (st.st_size > (off_t)AL_SCRIPT_MAX_CODE_BYTES)
        return al_script_bad(err, "codePath", "code may have at most 200,000 characters");
    al_buf_init(file, AL_SCRIPT_MAX_CODE_BYTES);
    if (al_fd_read_all(fd, file) < 0)
        return al_script_bad(err, "codePath", "the file cannot be read");
    struct al_str code = al_buf_str(file);
    if (al_str_starts(code, "\xef\xbb\xbf")) {
        code.p += 3;
        code.n -= 3;
    }
    *ret_code = code;
    return al_script_check_code(code, "codePath", err);
}

int al_script_code(struct al_core *core, const struct al_json *args, const char *example, struct al_buf *file,
                   struct al_str *ret_code, struct al_err *err)
{
    const struct al_json *code = al_json_get(args, "code"), *path = al_json_get(args, "codePath");
    if (!code == !path) {
        al_fail(err, AL_INVALID_INPUT, "%s",
                code ? "code and codePath exclude each other" : "there is no code");
        return al_hint(err, "give exactly one of the fields code (the script itself) and codePath (a file in "
                            "the scratchpad)");
    }
    if (path)
        return read_code_path(core, al_json_get_text(args, "codePath"), example, file, ret_code, err);
    *ret_code = al_json_get_text(args, "code");
    return al_script_check_code(*ret_code, "code", err);
}

int al_script_title(const struct al_json *args, struct al_arena *a, const char **ret_title,
                    struct al_err *err)
{
    struct al_str title = al_json_get_text(args, "title");
    if (al_utf8_count(title) > AL_SCRIPT_MAX_TITLE)
        return al_script_bad(err, "title", "at most 200 characters are wanted");
    if (title.n)
        *ret_title = al_arena_dup(a, title);
    return 0;
}
