/* Calls of the core to a server's tool: `start` and `cancel` of what catalog.c makes of a definition. */
#include "base/mem.h"
#include "base/text.h"
#include "upstream/params.h"
#include "upstream/result.h"
#include "upstream/upstream_int.h"

#include <stdio.h>

#define MAX_LISTS 3 /* for one call, while they change as they are read */
#define MAX_PARAMS (AL_UPSTREAM_MAX_MESSAGE - 4096)

struct tool_call {
    struct al_call *call; /* NULL: cancelled while the list was fetched */
    struct al_upstream *s;
    struct al_upstream_call *request;
    struct al_timer *clock; /* the caller's stands still until then; NULL: it runs */
    unsigned n_lists;       /* that were asked for on its behalf */
    bool sent_again;
};

/* "github.get_issue", as scripts write it; a name is foreign text. */
static void shown_name(const struct al_call *call, struct al_buf *out)
{
    al_text_visible(out, al_utf8_cut(al_str_of(call->tool->server), AL_SERVER_NAME_MAX), false);
    al_buf_addc(out, '.');
    al_text_visible(out, al_utf8_cut(al_str_of(call->tool->server_tool), 128), false);
}

static bool is_relayed(const struct al_call *call)
{
    return call->params_raw.n > 0;
}

static void clock_go(struct tool_call *t)
{
    if (!t->clock)
        return;
    al_timer_stop(t->clock);
    t->clock = NULL;
    al_call_clock_go(t->call);
}

static void waited_enough(void *ud)
{
    struct tool_call *t = ud;
    t->clock = NULL;
    al_call_clock_go(t->call);
}

/* A script does not pay for the start of a server, its first list included: once for each, and no longer than
 * one may take, or a server could give it all the time in the world. */
static void clock_stop(struct tool_call *t)
{
    struct al_upstream *s = t->s;
    if (!t->call->run_id || t->clock || (s->state == AL_UPSTREAM_READY && s->listed))
        return;
    for (size_t i = 0; i < AL_UPSTREAM_N_RUNS; i++)
        if (strcmp(s->waited[i], t->call->run_id) == 0)
            return;
    snprintf(s->waited[s->next_waited], AL_ID_MAX, "%s", t->call->run_id);
    s->next_waited = (s->next_waited + 1) % AL_UPSTREAM_N_RUNS;
    t->clock = al_timer_start(al_upstream_loop(s), s->config->start_timeout_ms, waited_enough, t);
    al_call_clock_stop(t->call);
}

static void progress(void *ud, struct al_str params)
{
    struct tool_call *t = ud;
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    al_result_progress(params, &out);
    if (out.n > 0 && !al_buf_failed(&out))
        al_call_progress(t->call, al_buf_str(&out));
}

static void question(void *ud, const struct al_upstream_question *q)
{
    struct tool_call *t = ud;
    al_call_question(t->call, q->method, q->params, q->reply);
}

static void take_answer(struct al_call *call, const struct al_upstream_answer *a)
{
    autobuf struct al_buf name = AL_BUF_INIT(4096);
    shown_name(call, &name);
    al_buf_addc(&name, 0);
    if (a->err) {
        call->err = *a->err;
    } else if (is_relayed(call)) {
        call->relayed_failure = a->failure.n > 0;
        al_buf_add_str(&call->relayed, a->failure.n > 0 ? a->failure : a->result);
    } else if (a->failure.n > 0) {
        al_result_failure(a->failure, name.p, &call->err);
        al_result_advise(call->tool, name.p, call->origin, &call->err);
    } else if (al_result_take(a->value, name.p, &call->text, &call->structured, &call->err) == 0) {
        al_err_clear(&call->err);
    } else {
        al_result_advise(call->tool, name.p, call->origin, &call->err);
    }
}

static void end(struct tool_call *t)
{
    struct al_call *call = t->call;
    clock_go(t);
    call->impl = NULL;
    free(t);
    al_call_finish(call);
}

static bool is_header_mismatch(struct al_str failure)
{
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    const struct al_json *v;
    int64_t code = 0;
    struct al_err unused;
    return failure.n > 0 && al_json_parse(&a, failure, &v, &unused) == 0 &&
           al_json_int(al_json_get(v, "code"), AL_RPC_HEADER_MISMATCH, AL_RPC_HEADER_MISMATCH, &code);
}

static void listed(void *ud, const struct al_err *err);

/* The server wants other headers than its list told of when we last read it (2026-07-28, basic/transports):
 * with the list read anew the call goes out once more. It was refused before it began. */
static bool send_again(struct tool_call *t, const struct al_upstream_answer *a)
{
    const struct al_conn *conn = t->s->conn;
    if (t->sent_again || !t->s->config->http || !conn || !al_conn_modern(conn) ||
        atomic_load(&t->call->cancelled) || !is_header_mismatch(a->failure))
        return false;
    t->sent_again = true;
    t->request = NULL;
    al_upstream_refresh(t->s, listed, t);
    return true;
}

static void done(void *ud, const struct al_upstream_answer *a)
{
    struct tool_call *t = ud;
    if (send_again(t, a))
        return;
    take_answer(t->call, a);
    end(t);
}

/* {"name":…,"arguments":…}, or a relayed call's own params with the name that the server knows. */
static int write_params(const struct al_call *call, struct al_buf *out, struct al_err *err)
{
    if (is_relayed(call)) {
        al_params_rename(call->params_raw, al_str_of(call->tool->server_tool), out);
    } else {
        struct al_jw w;
        al_jw_init(&w, out);
        al_jw_obj(&w);
        al_jw_kstrz(&w, "name", call->tool->server_tool);
        al_jw_kraw(&w, "arguments", call->args_raw.n ? call->args_raw : AL_STR("{}"));
        al_jw_end(&w);
    }
    if (!al_buf_failed(out))
        return 0;
    al_fail(err, AL_TOOL_INPUT_INVALID, "%s: the arguments are over %u MiB", call->tool->name,
            AL_UPSTREAM_MAX_MESSAGE >> 20);
    return al_hint(err, "send less at once");
}

/* What was let in, before the catalogue forgets it: what comes in its place waits for a review, in the next
 * call, too. */
static int pin_former(const struct al_tool *was, struct al_store *store, struct al_err *err)
{
    struct al_catalog_tool t = {
        .server = was->server,
        .tool = was->server_tool,
        .title = was->title,
        .description = was->description,
        .input_schema = was->input_schema,
        .output_schema = was->output_schema,
        .annotations = was->annotations,
    };
    memcpy(t.sha256, was->sha256, sizeof(t.sha256));
    return al_catalog_pin_as(store, &t, err);
}

/* The person has decided about a definition; the server may have another one by now. What was decided about
 * is kept at first use: a server that changes a tool later is seen by that. */
static int check(void *ud, struct al_err *err)
{
    struct tool_call *t = ud;
    const struct al_tool *was = t->call->tool;
    struct al_store *store = al_core_store(al_upstream_core(t->s));
    autoarena struct al_arena a = AL_ARENA_INIT(8u << 20);
    struct al_catalog_tool now = {0};
    bool found = al_catalog_find_of(store, was->server, was->server_tool, &a, &now, err) == 0;
    if (!found && err->code != AL_NOT_FOUND)
        return -1;
    al_err_clear(err);
    bool same = found && strcmp(now.sha256, was->sha256) == 0;
    if (found && !same && !now.pinned && *was->sha256 && pin_former(was, store, err) < 0)
        return -1;
    if ((!same || (now.changed && was->gate != AL_GATE_CHANGED)) && al_call_gate_again(t->call) < 0) {
        *err = t->call->err;
        return -1;
    }
    bool first = found && !now.pinned;
    return first ? al_catalog_pin(store, now.server, now.tool, now.sha256, false, err) : 0;
}

static void add_schema(struct al_upstream_call *request, struct al_upstream *s, const char *tool)
{
    autoarena struct al_arena a = AL_ARENA_INIT(8u << 20);
    struct al_catalog_tool known;
    struct al_err unused;
    if (!s->config->http ||
        al_catalog_find_of(al_core_store(al_upstream_core(s)), s->config->name, tool, &a, &known, &unused) <
            0 ||
        !known.input_schema || !strstr(known.input_schema, "x-mcp-header"))
        return;
    request->input_schema.n = strlen(known.input_schema);
    request->input_schema.p = al_xdup(known.input_schema, request->input_schema.n);
}

/* A relayed call's client may want to hear its log messages. */
static struct al_str log_level(const struct al_call *call, struct al_buf *level)
{
    struct al_str meta =
        is_relayed(call) ? al_params_member(call->params_raw, "_meta") : (struct al_str){"", 0};
    if (!al_params_text(meta, "io.modelcontextprotocol/logLevel", level))
        al_buf_clear(level);
    return al_buf_str(level);
}

static void send(struct tool_call *t)
{
    struct al_call *call = t->call;
    struct al_upstream *s = t->s;
    autobuf struct al_buf params = AL_BUF_INIT(MAX_PARAMS), level = AL_BUF_INIT(64);
    clock_go(t);
    if (check(t, &call->err) < 0 || write_params(call, &params, &call->err) < 0) {
        end(t);
        return;
    }
    struct al_upstream_request r = {
        .method = "tools/call",
        .params = al_buf_str(&params),
        .log_level = log_level(call, &level),
        .owner = call->owner ? call->owner : call, /* a script's: of nobody else */
        .progress = progress,
        .question = is_relayed(call) ? question : NULL,
        .done = done,
        .ud = t,
    };
    t->request = al_request_new(s, &r, false);
    t->request->check = check;
    add_schema(t->request, s, call->tool->server_tool);
    al_request_begin(t->request);
}

static void list(struct tool_call *t)
{
    t->n_lists++;
    al_upstream_refresh(t->s, listed, t);
}

/* A server that works but cannot list its tools shows no other definition; one whose list changes whenever it
 * is read has shown the newest that can be had. */
static void listed(void *ud, const struct al_err *err)
{
    struct tool_call *t = ud;
    if (!t->call) {
        free(t);
        return;
    }
    bool ready = t->s->state == AL_UPSTREAM_READY;
    if (err && !ready) {
        t->call->err = *err;
        end(t);
    } else if ((!ready || !t->s->catalog_fresh) && !err && t->n_lists < MAX_LISTS) {
        list(t);
    } else if (!ready) {
        al_fail(&t->call->err, AL_UPSTREAM_UNAVAILABLE, "the MCP server %s ends again and again",
                t->s->config->name);
        al_hint(&t->call->err, "`alisio mcp doctor %s` shows what it printed", t->s->config->name);
        end(t);
    } else {
        send(t);
    }
}

void al_upstream_tool_start(struct al_call *call)
{
    struct tool_call *t = al_xcalloc(1, sizeof(*t));
    t->call = call;
    t->s = (struct al_upstream *)call->tool->data;
    call->impl = t;
    if (t->s->state == AL_UPSTREAM_READY && t->s->catalog_fresh) {
        send(t);
        return;
    }
    clock_stop(t);
    list(t);
}

void al_upstream_tool_cancel(struct al_call *call)
{
    struct tool_call *t = call->impl;
    if (!t)
        return;
    if (t->request) {
        al_upstream_cancel(t->request);
        return;
    }
    clock_go(t);
    t->call = NULL; /* listed() still comes, and frees */
    call->impl = NULL;
    al_call_finish(call);
}
