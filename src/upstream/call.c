/* Calls of the core to a server's tool: `start` and `cancel` of what catalog.c makes of a definition. */
#include "base/mem.h"
#include "base/text.h"
#include "upstream/params.h"
#include "upstream/result.h"
#include "upstream/upstream_int.h"

#define MAX_PARAMS (AL_UPSTREAM_MAX_MESSAGE - 4096)

struct tool_call {
    struct al_call *call; /* NULL: cancelled while the list was fetched */
    struct al_upstream *s;
    struct al_upstream_call *request;
    bool clock_stopped;
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

static void clock_stop(struct tool_call *t)
{
    if (!t->clock_stopped)
        al_call_clock_stop(t->call);
    t->clock_stopped = true;
}

static void clock_go(struct tool_call *t)
{
    if (t->clock_stopped)
        al_call_clock_go(t->call);
    t->clock_stopped = false;
}

static void sent(void *ud)
{
    clock_go(ud);
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
    } else if (al_result_take(a->value, name.p, &call->text, &call->structured, &call->err) == 0) {
        al_err_clear(&call->err);
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
    clock_stop(t);
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

/* What the person's approval is about is kept at first use: a server that changes a tool later is seen by
 * that. */
static int pin(struct al_upstream *s, const char *tool, struct al_err *err)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (const char *z = tool; *z; z++)
        hash = (hash ^ (unsigned char)*z) * 1099511628211u;
    uint64_t *slot = &s->pinned[hash % AL_UPSTREAM_N_PINNED];
    if (*slot == hash)
        return 0;
    if (al_catalog_pin(al_core_store(al_upstream_core(s)), s->config->name, tool, NULL, false, err) == 0) {
        *slot = hash;
        return 0;
    }
    if (err->code != AL_NOT_FOUND) /* it has left the list a moment ago: the server will say so */
        return -1;
    al_err_clear(err);
    return 0;
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
    if (write_params(call, &params, &call->err) < 0 || pin(s, call->tool->server_tool, &call->err) < 0) {
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
    add_schema(t->request, s, call->tool->server_tool);
    al_request_begin(t->request);
    if (t->request->state == AL_REQUEST_WAITING) {
        t->request->sent = sent;
        clock_stop(t);
    } else {
        clock_go(t);
    }
}

/* The person has decided about a definition; the server may have another one by now. One that works but
 * cannot list its tools shows no other definition, either. */
static void listed(void *ud, const struct al_err *err)
{
    struct tool_call *t = ud;
    if (!t->call) {
        free(t);
        return;
    }
    bool gone = err && t->s->state != AL_UPSTREAM_READY;
    if (gone)
        t->call->err = *err;
    if (gone || al_call_gate_again(t->call) < 0)
        end(t);
    else
        send(t);
}

void al_upstream_tool_start(struct al_call *call)
{
    struct tool_call *t = al_xcalloc(1, sizeof(*t));
    t->call = call;
    t->s = (struct al_upstream *)call->tool->data;
    call->impl = t;
    if (t->s->catalog_fresh) {
        send(t);
        return;
    }
    clock_stop(t);
    al_upstream_refresh(t->s, listed, t);
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
