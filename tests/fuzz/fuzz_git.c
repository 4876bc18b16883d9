/* What git prints: status, numstat, patches and configuration, each of any bytes. The first byte says which.
 */
#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "tools/git_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Up to a line end: the folder of the workspace in its repository. */
static struct al_str take_prefix(struct al_str *rest)
{
    const char *lf = rest->n > 0 ? memchr(rest->p, '\n', rest->n) : NULL;
    if (!lf)
        return (struct al_str){0};
    struct al_str prefix = {rest->p, (size_t)(lf - rest->p)};
    rest->p += prefix.n + 1;
    rest->n -= prefix.n + 1;
    return prefix;
}

static void check_entry(const struct al_json *e)
{
    const struct al_json *index = al_json_get(e, "index"), *worktree = al_json_get(e, "worktree");
    must(al_json_get(e, "path") && index && worktree);
    must(index->type == AL_JSON_STRING && worktree->type == AL_JSON_STRING);
}

static void check_status(struct al_str out)
{
    struct al_buf json = AL_BUF_INIT(AL_CALL_MAX_RESULT), text = AL_BUF_INIT(AL_CALL_MAX_RESULT);
    struct al_arena a = AL_ARENA_INIT(256u << 20);
    struct al_str prefix = take_prefix(&out);
    const struct al_json *v;
    struct al_err err = {0};
    int r = al_git_status_json(out, prefix, &json, &text, &err);
    must(r <= 0 || out.n > AL_TOOL_JSON_ROOM / 200);
    must((r < 0) == (err.code == AL_UNTRUSTED_REPOSITORY) && al_utf8_valid(al_str_of(err.msg)));
    if (r < 0) { /* nothing is shown of it */
        must(json.n == 0 && text.n == 0);
        al_buf_free(&json);
        al_buf_free(&text);
        return;
    }
    must(!al_buf_failed(&json) && !al_buf_failed(&text));
    must(al_utf8_valid(al_buf_str(&text)));
    must(al_json_parse(&a, al_buf_str(&json), &v, &err) == 0);
    const struct al_json *entries = al_json_get(v, "entries");
    must(entries && entries->type == AL_JSON_ARRAY && entries->n <= out.n);
    al_json_each(e, entries) check_entry(e);
    al_arena_free(&a);
    al_buf_free(&json);
    al_buf_free(&text);
}

static void check_numstat(struct al_str out)
{
    struct al_str rest = out;
    struct al_git_numstat n;
    size_t before = rest.n + 1;
    while (al_git_numstat_next(&rest, &n)) {
        must(rest.n < before);
        before = rest.n;
        must(n.added >= -1 && n.removed >= -1);
        must(n.path.n == 0 || (n.path.p >= out.p && n.path.p + n.path.n <= out.p + out.n));
        must(!n.path.n || !memchr(n.path.p, 0, n.path.n));
    }
}

/* Nothing is lost, and each head begins a part of its own. */
static void check_patch(struct al_str out)
{
    struct al_buf name = AL_BUF_INIT(65536);
    struct al_str part, rest = out;
    const char *at = out.p;
    while (al_git_patch_next(&rest, &part, &name)) {
        must(part.p == at && part.n > 0);
        at += part.n;
        must(al_str_find(part, AL_STR("\ndiff --git ")) < 0);
        must(name.n <= part.n);
    }
    must(at == out.p + out.n);
    al_buf_free(&name);
}

static void check_config(struct al_str out)
{
    struct al_buf filters[AL_GIT_MAX_FILTERS] = {0}, programs = AL_BUF_INIT(400);
    size_t n = 0;
    int r = al_git_config_scan(out, filters, AL_GIT_MAX_FILTERS, &n, &programs);
    must(r == 0 || n > 0);
    must(n <= AL_GIT_MAX_FILTERS && programs.n <= 400);
    must(al_utf8_valid(al_buf_str(&programs)));
    struct al_str value = {0}, include = al_git_config_include(out);
    if (al_git_config_get(out, "core.worktree", &value) && value.n > 0 && !al_str_is(value, "true"))
        must(value.p >= out.p && value.p + value.n <= out.p + out.n);
    must(include.n <= out.n);
    for (size_t i = 0; i < n; i++)
        al_buf_free(&filters[i]);
    al_buf_free(&programs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *exact = al_xmalloc(size);
    memcpy(exact, data, size);
    struct al_str out = {exact + 1, size - 1};
    if (data[0] == 's')
        check_status(out);
    else if (data[0] == 'n')
        check_numstat(out);
    else if (data[0] == 'p')
        check_patch(out);
    else
        check_config(out);
    free(exact);
    return 0;
}
