/*
 * The life of a call: checks, gate, turn, tool, rows, done. Whatever happens, done comes once, in a later
 * turn of the loop. Calls with effects of one run (or the direct calls of this host) go one at a time, in the
 * order they were made.
 */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/call_int.h"
#include "core/core_int.h"
#include "core/schema.h"

#include <stdio.h>
#include <string.h>

/* Arguments, their decoded strings and their nodes. */
#define ARENA_MAX (AL_CALL_MAX_ARGS * 8)
/* A script's arguments are read in the loop's thread, so they may be long (a file's content) but not of very
 * many parts: beside their text, room for about 100,000 values. */
#define SCRIPT_NODES_MAX (8u << 20)
#define TEXT_MAX (16u << 20)
#define RELAYED_MAX (16u << 20)
#define MAX_CLIENT 1024         /* of what a client says of itself */
#define METHOD_NOT_FOUND -32601 /* JSON-RPC 2.0, section 5.1 */
/* What is checked to be one JSON value in builds that check. */
#define CHECKED_JSON_MAX (1u << 20)

static void begin(struct al_call_core *c);

/* --- the list of open calls --- */

static void link_call(struct al_call_core *c)
{
    struct al_core *core = c->call.core;
    c->prev = core->calls_last;
    *(c->prev ? &c->prev->next : &core->calls) = c;
    core->calls_last = c;
    core->n_calls++;
    core->n_direct += c->call.origin != AL_ORIGIN_SCRIPT;
}

static void unlink_call(struct al_call_core *c)
{
    struct al_core *core = c->call.core;
    *(c->prev ? &c->prev->next : &core->calls) = c->next;
    *(c->next ? &c->next->prev : &core->calls_last) = c->prev;
    core->n_calls--;
    core->n_direct -= c->call.origin != AL_ORIGIN_SCRIPT;
}

static void move_to_end(struct al_call_core *c)
{
    unlink_call(c);
    c->next = c->prev = NULL;
    link_call(c);
}

static bool is_own_run(const struct al_call_core *c)
{
    return c->call.tool->own_run && c->call.origin != AL_ORIGIN_SCRIPT;
}

static bool in_line(const struct al_call_core *c)
{
    return c->serial && !c->call.tool->only_reads && !is_own_run(c);
}

/* Calls of one run, or direct ones, wait for each other. */
static bool same_line(const struct al_call_core *a, const struct al_call_core *b)
{
    /* Relayed calls are a client's own, as if it spoke to the server: their order is its business. */
    if (a->spec.relay || b->spec.relay)
        return false;
    return in_line(a) && in_line(b) && strcmp(a->run_id, b->run_id) == 0;
}

static bool stands_in_line(const struct al_call_core *o)
{
    return o->state == AL_CALL_WAITING || o->state == AL_CALL_CHOOSING || o->state == AL_CALL_RUNNING;
}

static bool must_wait(const struct al_call_core *c)
{
    for (const struct al_call_core *o = c->prev; o; o = o->prev)
        if (stands_in_line(o) && same_line(o, c))
            return true;
    return false;
}

static struct al_call_core *next_in_line(const struct al_call_core *gone)
{
    for (struct al_call_core *o = gone->call.core->calls; o; o = o->next)
        if (stands_in_line(o) && same_line(o, gone))
            return o->state == AL_CALL_WAITING ? o : NULL;
    return NULL;
}

/* --- the end --- */

static void deliver(void *ud)
{
    struct al_call_core *c = ud;
    struct al_core *core = c->call.core;
    unlink_call(c);
    c->spec.done(c->spec.ud, &c->call);
    struct al_call_core *next = next_in_line(c);
    al_buf_free(&c->call.text);
    al_buf_free(&c->call.structured);
    al_buf_free(&c->call.relayed);
    al_arena_free(&c->call.arena);
    free(c);
    if (next)
        begin(next);
    al_core_tell_idle(core);
}

static void limit_result(struct al_call *call)
{
    struct al_buf *parts[] = {&call->structured, &call->text, &call->relayed};
    struct al_buf *large = NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !large; i++)
        large = al_buf_failed(parts[i]) ? parts[i] : NULL;
    if (!large)
        return;
    size_t max = large->max;
    al_buf_free(large);
    if (call->err.code != AL_OK)
        return;
    autobuf struct al_buf size = AL_BUF_INIT(64);
    al_text_bytes(&size, max);
    al_fail(&call->err, AL_RESULT_TOO_LARGE, "%s: the result is over %.*s", call->tool->name,
            AL_FMT(al_buf_str(&size)));
    al_hint(&call->err, "ask for a part of it");
}

static void check_json(const struct al_call *call)
{
#ifdef AL_ASAN
    if (call->structured.n == 0 || call->structured.n > CHECKED_JSON_MAX)
        return;
    autoarena struct al_arena a = AL_ARENA_INIT(ARENA_MAX);
    const struct al_json *v;
    struct al_err err;
    if (al_json_parse(&a, al_buf_str(&call->structured), &v, &err) < 0) {
        fprintf(stderr, "alisio: %s made a result that is no JSON: %s\n", call->tool->name, err.msg);
        abort();
    }
#else
    (void)call;
#endif
}

void al_call_finish(struct al_call *call)
{
    struct al_call_core *c = call->priv;
    if (c->state == AL_CALL_FINISHED) {
        fprintf(stderr, "alisio: a call of %s ended twice\n", call->tool ? call->tool->name : "no tool");
        abort();
    }
    if (c->asking)
        al_call_ask_dropped(c);
    if (c->choosing)
        al_call_choosing_dropped(c);
    if (c->installing)
        al_call_install_dropped(c);
    limit_result(call);
    check_json(call);
    while (c->clock_stops > 0) /* a call that ends while it waits must not stop the caller's clock for good */
        al_call_clock_go(call);
    if (atomic_load(&call->cancelled) && call->err.code == AL_OK)
        al_fail(&call->err, AL_CANCELLED, "%s was cancelled", call->tool ? call->tool->name : "the call");
    c->state = AL_CALL_FINISHED;
    c->ended_ms = al_wall_ms();
    if (c->has_row)
        al_call_row_end(c);
    al_defer(call->core->loop, deliver, c);
}

void al_call_cancel(struct al_call *call)
{
    struct al_call_core *c = call->priv;
    if (c->state == AL_CALL_FINISHED || atomic_exchange(&call->cancelled, true))
        return;
    if (c->state != AL_CALL_RUNNING)
        al_call_finish(call);
    else if (call->tool->cancel)
        call->tool->cancel(call);
}

/* --- the work --- */

static void do_work(void *ud)
{
    struct al_call_core *c = ud;
    c->work(&c->call);
}

static void work_done(void *ud)
{
    struct al_call_core *c = ud;
    al_call_finish(&c->call);
}

void al_call_in_thread(struct al_call *call, void (*work)(struct al_call *call))
{
    call->priv->work = work;
    al_work_start(call->core->loop, do_work, work_done, call->priv);
}

void al_call_progress(struct al_call *call, struct al_str json)
{
    struct al_call_core *c = call->priv;
    if (c->state != AL_CALL_FINISHED && c->spec.progress)
        c->spec.progress(c->spec.ud, json);
}

void al_call_output(struct al_call *call, bool is_error, struct al_str bytes)
{
    struct al_call_core *c = call->priv;
    if (c->state != AL_CALL_FINISHED && c->spec.output)
        c->spec.output(c->spec.ud, is_error, bytes);
}

void al_call_clock_stop(struct al_call *call)
{
    struct al_call_core *c = call->priv;
    if (c->state == AL_CALL_FINISHED || !c->spec.clock)
        return;
    c->clock_stops++;
    c->spec.clock(c->spec.ud, true);
}

void al_call_clock_go(struct al_call *call)
{
    struct al_call_core *c = call->priv;
    if (c->state == AL_CALL_FINISHED || c->clock_stops == 0)
        return;
    c->clock_stops--;
    c->spec.clock(c->spec.ud, false);
}

/* --- questions --- */

static void settle_question(struct al_question_reply *r, struct al_str result, int code,
                            struct al_str message)
{
    r->done(r->ud, result, code, message);
    free(r);
}

void al_question_answer(struct al_question_reply *r, struct al_str result_json)
{
    settle_question(r, result_json, 0, (struct al_str){"", 0});
}

void al_question_refuse(struct al_question_reply *r, int rpc_code, struct al_str message)
{
    settle_question(r, (struct al_str){"", 0}, rpc_code, message);
}

void al_call_question(struct al_call *call, struct al_str method, struct al_str params_json,
                      struct al_question_reply *reply)
{
    struct al_call_core *c = call->priv;
    if (c->state != AL_CALL_FINISHED && c->spec.question)
        c->spec.question(c->spec.ud, method, params_json, reply);
    else
        al_question_refuse(reply, METHOD_NOT_FOUND, AL_STR("a script cannot answer questions"));
}

/* Hands the call to its tool. A row that cannot be written ends it before it can have an effect. */
static void begin(struct al_call_core *c)
{
    struct al_call *call = &c->call;
    c->started_ms = al_wall_ms();
    bool failed = call->core->closing;
    if (failed)
        al_fail(&call->err, AL_CANCELLED, "alisio is shutting down");
    else if (c->serial && call->origin != AL_ORIGIN_SCRIPT && !is_own_run(c))
        failed = al_call_row_begin(c, &call->err) < 0;
    if (!failed && c->spec.starting)
        failed = c->spec.starting(c->spec.ud, call, &call->err) < 0;
    if (c->state == AL_CALL_FINISHED) /* cancelled from within starting */
        return;
    if (failed) {
        al_call_finish(call);
        return;
    }
    c->state = AL_CALL_RUNNING;
    call->core->used = true;
    call->tool->start(call);
}

/* --- checks --- */

static int hint_input(struct al_call_core *c)
{
    const char *name = c->call.tool->name;
    if (c->call.origin == AL_ORIGIN_SCRIPT)
        return al_hint(&c->call.err, "tools.describe(\"%s\") has the schema", name);
    if (c->call.origin == AL_ORIGIN_CLI)
        return al_hint(&c->call.err, "`alisio tool describe %s` shows the schema", name);
    autobuf struct al_buf signature = AL_BUF_INIT(16384);
    al_tool_signature(c->call.tool, &signature);
    struct al_str s = al_buf_str(&signature);
    ptrdiff_t end = al_str_find(s, AL_STR("): Promise<"));
    if (end > 0)
        s.n = (size_t)end + 1;
    return al_hint(&c->call.err, "expected %.*s", AL_FMT(s));
}

static enum al_code input_code(const struct al_tool *tool)
{
    return tool->input_code != AL_OK ? tool->input_code : AL_TOOL_INPUT_INVALID;
}

/* As many whole lines as fit into the message, and how many were left out. */
static int fail_schema(struct al_call_core *c, unsigned n, struct al_str problems)
{
    const struct al_tool *tool = c->call.tool;
    struct al_str shown = problems;
    const size_t room = sizeof(c->call.err.msg) - 128;
    if (shown.n > room) {
        shown.n = room;
        while (shown.n > 0 && shown.p[shown.n] != '\n')
            shown.n--;
    }
    unsigned n_shown = shown.n > 0;
    for (size_t i = 0; i < shown.n; i++)
        n_shown += shown.p[i] == '\n';
    autobuf struct al_buf line = AL_BUF_INIT(2 * sizeof(c->call.err.msg));
    for (size_t i = 0; i < shown.n; i++) {
        if (shown.p[i] == '\n')
            al_buf_adds(&line, "; ");
        else
            al_buf_addc(&line, shown.p[i]);
    }
    if (n_shown < n)
        al_buf_addf(&line, "; … and %u more", n - n_shown);
    al_fail(&c->call.err, input_code(tool), "%s: %.*s", tool->name, AL_FMT(al_buf_str(&line)));
    return hint_input(c);
}

/* A source's tool is checked by its server, which knows all of its schema's language. */
static int check_args(struct al_call_core *c, const struct al_json *args)
{
    autobuf struct al_buf problems = AL_BUF_INIT(64u << 10);
    unsigned n = 1;
    if (c->entry)
        n = al_schema_check(c->entry->input, args, &problems);
    else if (args->type == AL_JSON_OBJECT)
        return 0;
    else
        al_buf_addf(&problems, "/: must be an object, not %s", al_json_type_name(args));
    return n ? fail_schema(c, n, al_buf_str(&problems)) : 0;
}

static int copy_params(struct al_call_core *c, struct al_str params)
{
    struct al_call *call = &c->call;
    if (params.n > AL_CALL_MAX_ARGS)
        return al_fail(&call->err, input_code(call->tool), "%s: the request has %zu bytes; at most %u fit",
                       call->tool->name, params.n, AL_CALL_MAX_ARGS);
    call->params_raw = (struct al_str){al_arena_dup(&call->arena, params), params.n};
    return 0;
}

static int read_args(struct al_call_core *c, struct al_str json)
{
    struct al_call *call = &c->call;
    if (json.n > AL_CALL_MAX_ARGS) {
        al_fail(&call->err, input_code(call->tool), "%s: the arguments have %zu bytes; at most %u fit",
                call->tool->name, json.n, AL_CALL_MAX_ARGS);
        return -1;
    }
    struct al_str raw = json.n ? json : AL_STR("{}");
    call->args_raw = (struct al_str){al_arena_dup(&call->arena, raw), raw.n};
    const struct al_json *args = NULL;
    if (al_json_parse(&call->arena, call->args_raw, &args, &call->err) < 0) {
        call->err.code = input_code(call->tool);
        al_wrap(&call->err, "%s: the arguments are no valid JSON", call->tool->name);
        return hint_input(c);
    }
    if (check_args(c, args) < 0)
        return -1;
    call->args = args;
    return 0;
}

/* Not registered only because of --read-only: the gate says so, where "no such tool" would send people
 * looking. */
static bool read_only_hides(const struct al_core *core, const struct al_tool *tool)
{
    return core->policy.read_only && tool->effect >= AL_EFFECT_WRITE;
}

static const struct al_tool *resolve(struct al_call_core *c, struct al_str name)
{
    struct al_core *core = c->call.core;
    c->entry = al_registry_find(core, name);
    if (!c->entry)
        return al_registry_find_source(core, name, &c->call.arena);
    if (!al_core_tool_registered(core, c->entry->tool) && !read_only_hides(core, c->entry->tool))
        c->entry = NULL;
    return c->entry ? c->entry->tool : NULL;
}

static struct al_str copy_client(struct al_call_core *c, struct al_str client)
{
    const char *copy = client.n && client.n <= MAX_CLIENT ? al_arena_dup(&c->call.arena, client) : NULL;
    return copy ? (struct al_str){copy, client.n} : (struct al_str){"", 0};
}

/* Everything that can refuse a call, in the order in which a caller can do something about it. As
 * al_call_settle takes it. */
static int admit(struct al_call_core *c, const struct al_call_spec *spec)
{
    struct al_call *call = &c->call;
    struct al_core *core = call->core;
    struct al_str name = spec->tool;
    if (core->config_err.code != AL_OK) {
        call->err = core->config_err;
        return -1;
    }
    if (core->closing)
        return al_fail(&call->err, AL_CANCELLED, "alisio is shutting down");
    if (call->origin != AL_ORIGIN_SCRIPT && core->n_direct > AL_HOST_MAX_CALLS) {
        al_fail(&call->err, AL_BUSY, "%u calls are open", AL_HOST_MAX_CALLS);
        return al_hint(&call->err, "wait for some of them to end");
    }
    call->tool = resolve(c, name);
    if (!call->tool)
        return al_registry_not_found(core, name, call->origin, &call->err);
    c->serial = call->tool->effect >= AL_EFFECT_WRITE;
    if (call->tool->effect != AL_EFFECT_INTERNAL || call->origin == AL_ORIGIN_SCRIPT)
        call->structured.max = AL_CALL_MAX_RESULT;
    if (call->origin == AL_ORIGIN_SCRIPT && call->tool->not_callable) {
        c->refused = true;
        return al_fail(&call->err, AL_NOT_CALLABLE, "%s: %s", call->tool->name, call->tool->not_callable);
    }
    if (read_args(c, spec->args_json) < 0 || (spec->relay && copy_params(c, spec->params_json) < 0))
        return -1;
    call->client = copy_client(c, spec->client);
    if (call->tool->prepare && call->tool->prepare(call) < 0)
        return -1;
    return al_call_ask_gate(c);
}

void al_call_decided(struct al_call_core *c, bool admitted)
{
    struct al_call *call = &c->call;
    if (!admitted) {
        snprintf(c->decision_text, sizeof(c->decision_text), "refused: %s", al_code_name(call->err.code));
        c->decision = c->decision_text;
    }
    if (al_call_audit(c, admitted ? &call->err : NULL) < 0)
        admitted = false;
    if (c->state == AL_CALL_ASKING)
        move_to_end(c); /* behind what began meanwhile */
    c->state = AL_CALL_WAITING;
    if (!admitted)
        al_call_finish(call);
    else if (!c->serial || !must_wait(c))
        begin(c);
}

/* While it is asked about it stands in no line: what waited for it does so no longer. */
static void leave_line(struct al_call_core *c)
{
    struct al_call_core *next = next_in_line(c);
    if (next && !must_wait(next))
        begin(next);
}

void al_call_settle(struct al_call_core *c, int admitted)
{
    if (admitted > 0) {
        al_call_choose_wall(c);
    } else if (admitted < 0 && al_call_may_ask(c)) {
        bool stood = c->state == AL_CALL_CHOOSING;
        al_call_ask(c);
        if (stood)
            leave_line(c);
    } else {
        al_call_decided(c, admitted == 0);
    }
}

struct al_call *al_core_call(struct al_core *core, const struct al_call_spec *spec)
{
    struct al_call_core *c = al_xcalloc(1, sizeof(*c));
    struct al_call *call = &c->call;
    c->spec = *spec;
    c->spec.tool = c->spec.args_json = c->spec.params_json = c->spec.client = (struct al_str){NULL, 0};
    if (spec->approved_wall) {
        c->approved_wall = *spec->approved_wall;
        c->spec.approved_wall = &c->approved_wall;
    }
    c->decision = "allowed";
    call->core = core;
    call->priv = c;
    call->origin = spec->origin;
    call->owner = spec->owner;
    if (spec->origin == AL_ORIGIN_SCRIPT && spec->run_id) {
        snprintf(c->run_id, sizeof(c->run_id), "%s", spec->run_id);
        call->run_id = c->run_id;
    }
    c->spec.run_id = call->run_id;
    size_t text_max = spec->args_json.n < AL_CALL_MAX_ARGS ? spec->args_json.n : AL_CALL_MAX_ARGS;
    al_arena_init(&call->arena,
                  spec->origin == AL_ORIGIN_SCRIPT ? 2 * text_max + SCRIPT_NODES_MAX : ARENA_MAX);
    al_buf_init(&call->text, TEXT_MAX);
    al_buf_init(&call->structured, AL_CALL_MAX_RECORD);
    al_buf_init(&call->relayed, RELAYED_MAX);
    atomic_init(&call->cancelled, false);
    link_call(c);
    al_call_settle(c, admit(c, spec));
    return call;
}
