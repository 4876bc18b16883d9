#include "base/mem.h"
#include "base/text.h"
#include "core/core_int.h"
#include "core/jsrun_int.h"

#include <stdio.h>

#define MAX_NAME 130u /* server.tool */
#define MAX_REPLY (64u << 20)
#define EMPTY ((struct al_str){"", 0})

static const char *keep(struct jsrun *r, struct al_str s)
{
    const char *z = al_arena_dup(&r->arena, s);
    return z ? z : "";
}

/* Redacting reads the whole: of larger arguments only the size is kept. */
#define PREVIEW_MAX_ARGS (1u << 20)

static void describe_args(struct jsrun_call *c, struct al_str args)
{
    al_sha256(args, c->args_sha256);
    autobuf struct al_buf redacted = AL_BUF_INIT(4 * PREVIEW_MAX_ARGS), line = AL_BUF_INIT(4096);
    if (args.n > PREVIEW_MAX_ARGS)
        al_buf_addf(&redacted, "‹%zu bytes›", args.n);
    else
        al_redact_json(args, &redacted);
    jscut_line(al_buf_str(&redacted), JSRUN_PREVIEW_CHARS, &line);
    c->preview = keep(c->run, al_buf_str(&line));
}

/* By the registry's name: a tool may be called by another one of its names than `uses` had. The hash of what
 * was approved; NULL: nothing was. */
static const char *named_in_uses(const struct jsrun *r, struct al_str name)
{
    if (!r->preapproved || r->n_uses == 0)
        return NULL;
    autoarena struct al_arena a = AL_ARENA_INIT(TOOL_ARENA_MAX);
    const struct al_tool *tool = al_core_find_tool(r->core, name, &a);
    for (size_t i = 0; tool && i < r->n_uses; i++) {
        if (strcmp(r->uses[i], tool->name) == 0)
            return r->uses_sha256[i];
    }
    return NULL;
}

static struct jsrun_call *add_call(struct jsrun *r, uint32_t vm_id, struct al_str tool)
{
    if (r->n_calls == r->cap_calls) {
        r->cap_calls = r->cap_calls ? 2 * r->cap_calls : 8;
        r->calls = al_xrealloc(r->calls, r->cap_calls * sizeof *r->calls);
    }
    struct jsrun_call *c = al_xcalloc(1, sizeof *c);
    r->calls[r->n_calls++] = c;
    c->run = r;
    c->vm_id = vm_id;
    c->seq = (unsigned)r->n_calls;
    autobuf struct al_buf name = AL_BUF_INIT(1024);
    jscut_line(tool, MAX_NAME, &name);
    c->tool = keep(r, al_buf_str(&name));
    c->open = true;
    c->status = "running";
    c->decision = "allowed";
    c->started_ms = al_mono_ms();
    c->started_wall_ms = al_wall_ms();
    r->n_open++;
    return c;
}

/* The value that the script gets: structured, else text that is an object or array, else the text. */
static void value_of(const struct al_call *call, struct al_buf *out)
{
    if (call->structured.n) {
        al_buf_add_str(out, al_buf_str(&call->structured));
        return;
    }
    struct al_str text = al_buf_str(&call->text), trimmed = al_str_trim(text);
    if (trimmed.n && (trimmed.p[0] == '{' || trimmed.p[0] == '[') &&
        jscut_valid(trimmed, AL_JSON_MAX_DEPTH)) {
        al_buf_add_str(out, trimmed);
        return;
    }
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_str(&w, text);
}

static void reply(struct jsrun_call *c, struct al_call *call)
{
    struct jsrun *r = c->run;
    autobuf struct al_buf value = AL_BUF_INIT(MAX_REPLY);
    struct al_err err = call->err;
    if (!err.code) {
        value_of(call, &value);
        if (al_buf_failed(&value))
            al_fail(&err, AL_RESULT_TOO_LARGE, "the result of %s is too large for a script", c->tool);
        c->bytes = value.n;
        r->tool_bytes += value.n;
    }
    c->code = err.code;
    if (r->vm && !r->cancelled && !r->ended)
        al_vm_reply(r->vm, c->vm_id, al_buf_str(&value), err.code ? &err : NULL);
}

/* A server's tool may have been found by a name that is almost its own: the journal has what it is called. */
static void take_name(struct jsrun_call *c, const struct al_tool *tool)
{
    if (!tool || !tool->server || strcmp(c->tool, tool->name) == 0)
        return;
    autobuf struct al_buf whole = AL_BUF_INIT(8192), line = AL_BUF_INIT(1024);
    al_buf_addf(&whole, "%s.%s", tool->server, tool->server_tool);
    jscut_line(al_buf_str(&whole), MAX_NAME, &line);
    c->tool = keep(c->run, al_buf_str(&line));
}

/* What was decided about the call, and which effect it has. */
static void take_decision(struct jsrun_call *c, const struct al_call *call)
{
    take_name(c, call->tool);
    c->decision = keep(c->run, al_str_of(call->priv->decision));
    c->refused = strncmp(c->decision, "refused", 7) == 0;
    c->effect = call->tool ? call->tool->effect : AL_EFFECT_READ;
    c->only_reads = call->tool && call->tool->only_reads;
}

/* Just before the tool gets it. Without its row a call does not begin: what has effects must be found later.
 */
static int on_starting(void *ud, struct al_call *call, struct al_err *err)
{
    struct jsrun_call *c = ud;
    take_decision(c, call);
    c->started_ms = al_mono_ms();
    c->started_wall_ms = al_wall_ms();
    c->began = true;
    return jsrun_journal_call_begin(c->run, c, err);
}

static void on_done(void *ud, struct al_call *call)
{
    struct jsrun_call *c = ud;
    struct jsrun *r = c->run;
    c->call = NULL;
    c->open = false;
    c->ended_ms = al_mono_ms();
    if (!c->began)
        take_decision(c, call);
    r->n_open--;
    r->n_finished++;
    reply(c, call);
    c->status = c->refused ? "refused" : al_call_status(call);
    jsrun_journal_call_end(r, c);
    jsrun_progress_calls(r);
    jsrun_call_gone(r);
}

/* What is waited for is no time of the script's: a server that starts, a person who is asked. */
static void on_clock(void *ud, bool stop)
{
    struct jsrun_call *c = ud;
    if (!c->run->vm)
        return;
    if (stop)
        al_vm_clock_stop(c->run->vm);
    else
        al_vm_clock_go(c->run->vm);
}

static void refuse_beyond(struct jsrun *r, uint32_t id)
{
    r->n_beyond++;
    struct al_err err = {0};
    al_fail(&err, AL_CALL_LIMIT, "this script has made its %u tool calls", r->limits.max_calls);
    if (r->legacy)
        al_hint(&err, "do more with each call");
    else
        al_hint(&err,
                "do more with each call (read_files and the like), or raise forge.javascript.maxToolCalls");
    al_vm_reply(r->vm, id, EMPTY, &err);
}

void jsrun_on_call(void *ud, uint32_t id, struct al_str tool_name, struct al_str args_json)
{
    struct jsrun *r = ud;
    if (!r->vm || r->cancelled || r->ended)
        return;
    if (r->n_calls >= r->limits.max_calls) {
        refuse_beyond(r, id);
        return;
    }
    struct jsrun_call *c = add_call(r, id, tool_name);
    const char *approved = named_in_uses(r, tool_name);
    describe_args(c, args_json);
    struct al_call_spec spec = {
        .tool = tool_name,
        .args_json = args_json,
        .origin = AL_ORIGIN_SCRIPT,
        .run_id = r->id,
        .preapproved = approved != NULL,
        .approved_sha256 = approved,
        .approved_wall = r->wall_chosen ? &r->wall : NULL,
        .client = r->call->client,
        .clock = on_clock,
        .starting = on_starting,
        .done = on_done,
        .ud = c,
    };
    c->call = al_core_call(r->core, &spec);
    jsrun_progress_calls(r);
}

static void error_answer(const struct al_err *err, struct al_buf *out)
{
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_key(&w, "error");
    al_jw_obj(&w);
    al_jw_kstrz(&w, "code", al_code_name(err->code));
    al_jw_kstrz(&w, "message", err->msg);
    if (err->hint[0])
        al_jw_kstrz(&w, "hint", err->hint);
    al_jw_end(&w);
    al_jw_end(&w);
}

void jsrun_on_query(void *ud, struct al_str what, struct al_str arg_json, struct al_buf *out)
{
    struct jsrun *r = ud;
    struct al_arena a = AL_ARENA_INIT(64u << 10);
    const struct al_json *arg = NULL;
    struct al_err err = {0};
    struct al_str text = EMPTY;
    if (arg_json.n && arg_json.n < 4096 && al_json_parse(&a, arg_json, &arg, &err) == 0 &&
        al_json_is_string(arg))
        text = arg->str;
    if (al_str_is(what, "list"))
        al_core_list_json(r->core, text, AL_ORIGIN_SCRIPT, out);
    else if (al_core_describe_json(r->core, text, out, &err) < 0)
        error_answer(&err, out);
    al_arena_free(&a);
}

/* Their ends come later, each in a turn of its own. */
void jsrun_cancel_calls(struct jsrun *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        if (r->calls[i]->open && r->calls[i]->call)
            al_call_cancel(r->calls[i]->call);
    }
}
