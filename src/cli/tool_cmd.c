#include "cli/app.h"
#include "cli/commands.h"
#include "cli/table.h"

#include "base/text.h"
#include "core/schema.h"
#include "pyrun/pyrun.h"

#include <stdio.h>
#include <string.h>

#define MAX_ARGS_BYTES (16u << 20)

/* --- tool list --- */

/* The first sentence, without its full stop. */
static struct al_str first_sentence(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            return (struct al_str){s.p, i};
        if (s.p[i] == '.' && (i + 1 == s.n || s.p[i + 1] == ' ' || s.p[i + 1] == '\n'))
            return (struct al_str){s.p, i};
    }
    return s;
}

int al_cmd_tool_list(struct al_app *app, struct al_reply *reply)
{
    static const char *const heads[] = {"NAME", "EFFECT", "WHAT IT DOES", NULL};
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 20);
    autobuf struct al_buf list = AL_BUF_INIT(8u << 20);
    const struct al_json *v;
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    al_core_list_json(app->core, (struct al_str){0}, AL_ORIGIN_CLI, &list);
    if (al_json_parse(&arena, al_buf_str(&list), &v, &reply->err) < 0)
        return -1;
    autotable struct al_table t;
    al_table_init(&t, heads);
    t.fixed = 1;
    al_json_each(tool, v)
    {
        al_table_add_str(&t, al_json_get_text(tool, "name"));
        al_table_add_str(&t, al_json_get_text(tool, "effect"));
        al_table_add_str(&t, first_sentence(al_json_get_text(tool, "description")));
    }
    al_table_print(app, &t, &reply->text);
    al_buf_adds(&reply->structured, "{\"tools\":");
    al_buf_add_str(&reply->structured, al_buf_str(&list));
    al_buf_addc(&reply->structured, '}');
    return 0;
}

/* --- tool describe --- */

static void describe_part(struct al_app *app, const struct al_json *v, const char *key, const char *title,
                          struct al_buf *out)
{
    const struct al_json *part = al_json_get(v, key);
    if (!part || part->type == AL_JSON_NULL)
        return;
    al_buf_addf(out, "\n%s%s%s\n", al_style_on(app->color, AL_BOLD), title,
                al_style_off(app->color, AL_BOLD));
    al_say_json(app, out, part);
    al_buf_addc(out, '\n');
}

int al_cmd_tool_describe(struct al_app *app, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(16u << 20);
    const struct al_json *v;
    if (al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    if (al_core_describe_json(app->core, al_str_of(app->args.pos[0]), &reply->structured, &reply->err) < 0)
        return -1;
    if (al_json_parse(&arena, al_buf_str(&reply->structured), &v, &reply->err) < 0)
        return -1;
    al_say_foreign(app, &reply->text, al_json_get_text(v, "signature"), true);
    al_buf_adds(&reply->text, "\n\n");
    al_say_foreign(app, &reply->text, al_json_get_text(v, "description"), true);
    al_buf_addc(&reply->text, '\n');
    describe_part(app, v, "inputSchema", "Input", &reply->text);
    describe_part(app, v, "outputSchema", "Structured result", &reply->text);
    return 0;
}

/* --- tool call --- */

/* One JSON object; nothing stands for {}. */
static int read_args(struct al_app *app, struct al_buf *out, struct al_err *err)
{
    const char *word = app->args.n_pos > 1 ? app->args.pos[1] : "{}";
    if (al_str_is(al_str_of(word), "-")) {
        if (al_app_read_text(word, MAX_ARGS_BYTES, out, err) < 0)
            return -1;
    } else {
        al_buf_init(out, MAX_ARGS_BYTES);
        al_buf_adds(out, word);
    }
    if (al_buf_failed(out))
        return al_fail(err, AL_INVALID_INPUT, "the arguments are larger than 16 MiB");
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 30);
    const struct al_json *v;
    if (al_json_parse(&arena, al_buf_str(out), &v, err) < 0) {
        al_wrap(err, "the arguments are not JSON");
        return al_hint(err,
                       "quote them for the shell: '{\"path\": \"README.md\"}', or give - and pipe them in");
    }
    if (v->type != AL_JSON_OBJECT) {
        al_fail(err, AL_INVALID_INPUT, "the arguments are %s %s, not an object",
                v->type == AL_JSON_ARRAY ? "an" : "a", al_json_type_name(v));
        return al_hint(err, "write them as '{\"name\": value}'");
    }
    return 0;
}

/* A tool that --read-only takes away is refused, not unknown: a person named it. */
static bool taken_away(const struct al_app *app, const char *name)
{
    if (!al_core_policy(app->core)->read_only)
        return false;
    for (size_t i = 0; i < al_core_n_tools(app->core); i++) {
        const struct al_tool *tool = al_core_tool_at(app->core, i);
        if (strcmp(tool->name, name) == 0)
            return !al_core_tool_registered(app->core, tool);
    }
    return false;
}

static const struct al_tool *find_tool(struct al_app *app, struct al_arena *arena, struct al_err *err)
{
    const char *name = app->args.pos[0];
    const struct al_tool *tool = al_core_find_tool(app->core, al_str_of(name), arena);
    if (tool)
        return tool;
    if (taken_away(app, name)) {
        al_fail(err, AL_PERMISSION_DENIED, "%s changes things, and this is --read-only", name);
        al_hint(err, "leave --read-only out");
        return NULL;
    }
    (void)al_core_tool_not_found(app->core, al_str_of(name), AL_ORIGIN_CLI, err);
    return NULL;
}

struct choosing {
    bool done, known;
    enum al_py_isolation isolation;
    struct al_err err;
};

static void on_chosen(void *ud, const struct al_py_probe *probe, enum al_py_backend backend,
                      struct al_str reason, const struct al_err *err)
{
    struct choosing *c = ud;
    (void)backend, (void)reason;
    c->done = true;
    if (err && err->code != AL_OK)
        c->err = *err;
    else
        c->isolation = probe->isolation;
    c->known = c->err.code == AL_OK;
}

/* What the gate decides about a Python script depends on what would hold it here. -1: nothing can run it. */
static int find_wall(struct al_app *app, struct al_gate_query *q, struct al_err *err)
{
    struct choosing c = {.done = false};
    if (!al_gate_needs_isolation(al_core_policy(app->core), q))
        return 0;
    al_pyrun_choose(al_core_pyrun(app->core), on_chosen, &c);
    al_loop_run_until(app->loop, &c.done, 0);
    q->isolation_known = c.known;
    q->isolation = c.isolation;
    *err = c.err;
    return c.known ? 0 : -1;
}

static void explain_gate(struct al_app *app, struct al_reply *reply, struct al_jw *w,
                         const struct al_tool *tool, const struct al_json *args, enum al_origin origin,
                         bool *ret_allowed)
{
    struct al_err why = {0};
    struct al_gate_query q = al_gate_query_of(tool, origin);
    q.scratch_only = tool->scratch_only && tool->scratch_only(args);
    q.takes_scratch = false;
    bool script = origin == AL_ORIGIN_SCRIPT;
    if (script && tool->not_callable)
        al_fail(&why, AL_NOT_CALLABLE, "%s", tool->not_callable);
    else if (find_wall(app, &q, &why) == 0 &&
             al_gate_decide(al_core_policy(app->core), &q, tool->name, &why) == 0)
        al_err_clear(&why);
    *ret_allowed = why.code == AL_OK;
    al_buf_addf(&reply->text, "%-12s", script ? "in a script" : "typed here");
    if (why.code == AL_OK)
        al_buf_adds(&reply->text, "allowed\n");
    else
        al_buf_addf(&reply->text, "%s: %s\n", al_code_name(why.code), why.msg);
    if (why.hint[0])
        al_buf_addf(&reply->text, "%-12s%s\n", "", why.hint);
    al_jw_key(w, script ? "inScript" : "typed");
    al_jw_obj(w);
    al_jw_kstrz(w, "decision", why.code == AL_OK ? "allowed" : "refused");
    if (why.code != AL_OK) {
        al_jw_kstrz(w, "code", al_code_name(why.code));
        al_jw_kstrz(w, "message", why.msg);
        if (why.hint[0])
            al_jw_kstrz(w, "hint", why.hint);
    }
    al_jw_end(w);
}

static int check_schema(const struct al_tool *tool, const struct al_json *args, struct al_buf *problems,
                        unsigned *ret_n, struct al_err *err)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8u << 20);
    const struct al_json *schema;
    *ret_n = 0;
    if (tool->server) /* it checks its own arguments */
        return 0;
    if (al_json_parse(&arena, al_str_of(tool->input_schema), &schema, err) < 0)
        return -1;
    *ret_n = al_schema_check(schema, args, problems);
    return 0;
}

static void add_lines(struct al_jw *w, struct al_str text)
{
    while (text.n > 0) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        if (n)
            al_jw_str(w, (struct al_str){text.p, n});
        n += end != NULL;
        text.p += n;
        text.n -= n;
    }
}

static int explain(struct al_app *app, struct al_str args_json, struct al_reply *reply)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 30);
    autobuf struct al_buf problems = AL_BUF_INIT(64 << 10);
    const struct al_json *args;
    unsigned n_problems;
    struct al_jw w;
    bool typed, in_script;
    const struct al_tool *tool = find_tool(app, &arena, &reply->err);
    if (!tool || al_json_parse(&arena, args_json, &args, &reply->err) < 0 ||
        check_schema(tool, args, &problems, &n_problems, &reply->err) < 0)
        return -1;
    al_jw_init(&w, &reply->structured);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "tool", tool->name);
    al_jw_kstrz(&w, "effect", al_effect_name(tool->effect));
    al_jw_key(&w, "problems");
    al_jw_arr(&w);
    add_lines(&w, al_buf_str(&problems));
    al_jw_end(&w);
    al_buf_addf(&reply->text, "%-12s%s\n%-12s%s\n%-12s", "tool", tool->name, "effect",
                al_effect_name(tool->effect), "arguments");
    al_buf_adds(&reply->text, n_problems     ? "do not fit:\n"
                              : tool->server ? "are checked by the server\n"
                                             : "fit\n");
    al_say_foreign(app, &reply->text, al_buf_str(&problems), true);
    if (n_problems && reply->text.p[reply->text.n - 1] != '\n')
        al_buf_addc(&reply->text, '\n');
    explain_gate(app, reply, &w, tool, args, AL_ORIGIN_CLI, &typed);
    explain_gate(app, reply, &w, tool, args, AL_ORIGIN_SCRIPT, &in_script);
    al_jw_kbool(&w, "wouldRun", typed && n_problems == 0);
    al_jw_end(&w);
    al_buf_adds(&reply->text, "nothing was run; what it names (paths, programs) is checked when it runs\n");
    return 0;
}

/* "CODE: message\nhint: …\n" as whole lines: what is told on standard error is not told twice. */
static void leave_out_error(struct al_buf *text, const struct al_err *err)
{
    autobuf struct al_buf told = AL_BUF_INIT(16u << 10);
    al_buf_addf(&told, "%s: %s\n", al_code_name(err->code), err->msg);
    if (err->hint[0])
        al_buf_addf(&told, "hint: %s\n", err->hint);
    al_buf_addc(&told, '\0');
    if (al_buf_failed(&told))
        return;
    told.n--;
    struct al_str all = al_buf_str(text);
    for (size_t i = 0; i + told.n <= all.n; i++) {
        const char *end = memchr(all.p + i, '\n', all.n - i);
        if (al_str_starts((struct al_str){all.p + i, all.n - i}, told.p)) {
            memmove(text->p + i, text->p + i + told.n, text->n - i - told.n);
            text->n -= told.n;
            return;
        }
        if (!end)
            return;
        i = (size_t)(end - all.p);
    }
}

int al_cmd_tool_call(struct al_app *app, struct al_reply *reply)
{
    autobuf struct al_buf args = AL_BUF_INIT(MAX_ARGS_BYTES);
    if (read_args(app, &args, &reply->err) < 0 || al_app_core(app, "cli", &reply->err) < 0)
        return -1;
    if (al_args_has(&app->args, AL_FLAG_EXPLAIN))
        return explain(app, al_buf_str(&args), reply);
    autoarena struct al_arena arena = AL_ARENA_INIT(1u << 20);
    const struct al_tool *tool = find_tool(app, &arena, &reply->err);
    if (!tool)
        return -1;
    struct al_str name = al_str_of(app->args.pos[0]);
    snprintf(reply->tool, sizeof reply->tool, "%s", tool->name);
    int r = al_app_call(app, name, al_buf_str(&args), reply);
    if (app->json)
        return r;
    struct al_str text = al_buf_str(&reply->model_text);
    if (r < 0 && reply->err.code != AL_OK && al_str_starts(text, al_code_name(reply->err.code)))
        return r; /* the text repeats the error, which is told on standard error */
    if (r < 0 && reply->err.code != AL_OK) {
        leave_out_error(&reply->model_text, &reply->err);
        text = al_buf_str(&reply->model_text);
    }
    al_say_foreign(app, &reply->text, text, true);
    if (text.n && text.p[text.n - 1] != '\n')
        al_buf_addc(&reply->text, '\n');
    return r;
}
