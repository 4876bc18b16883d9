/* Clients and their requests in flight: how each is answered once, and what is told besides. */
#include "mcp/mcp_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

#define PROGRESS_NOTE_CHARS 500
#define MAX_MESSAGE_CUT (64u << 10)

static const char *const levels[] = {
    [AL_MCP_DEBUG] = "debug",     [AL_MCP_INFO] = "info",           [AL_MCP_NOTICE] = "notice",
    [AL_MCP_WARNING] = "warning", [AL_MCP_ERROR] = "error",         [AL_MCP_CRITICAL] = "critical",
    [AL_MCP_ALERT] = "alert",     [AL_MCP_EMERGENCY] = "emergency",
};

enum al_mcp_level al_mcp_level_of(struct al_str name)
{
    unsigned i = 0;
    while (i < AL_MCP_NO_LOG && !al_str_is(name, levels[i]))
        i++;
    return i;
}

/* --- peers --- */

struct al_mcp_peer *al_mcp_peer_new(struct al_mcp *m, const struct al_mcp_peer_ops *ops, void *ud)
{
    struct al_mcp_peer *p = al_xcalloc(1, sizeof *p);
    p->mcp = m;
    p->ops = ops;
    p->ud = ud;
    p->client.level = AL_MCP_INFO; /* until the client says what it wants */
    p->next = m->peers;
    m->peers = p;
    return p;
}

static void peer_free(struct al_mcp_peer *p)
{
    for (struct al_mcp_peer **at = &p->mcp->peers; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    al_mcp_free_subscriptions(p);
    al_mcp_roots_free(p);
    free(p->client.capabilities);
    free(p);
}

static struct al_mcp_request *next_to_cancel(struct al_mcp_peer *p)
{
    struct al_mcp_request *r = p->requests;
    while (r && r->cancelled)
        r = r->next;
    return r;
}

/* The last request that ends frees a peer that is closed: while one of the server's own stands there, it
 * stays. */
static void hold_peer(struct al_mcp_peer *p, struct al_mcp_request *own)
{
    *own = (struct al_mcp_request){.peer = p, .next = p->requests, .cancelled = true};
    p->requests = own;
}

static void release_peer(struct al_mcp_peer *p, const struct al_mcp_request *own)
{
    struct al_mcp_request **at = &p->requests;
    while (*at != own)
        at = &(*at)->next;
    *at = own->next;
    if (p->closing && !p->requests)
        peer_free(p);
}

void al_mcp_peer_close(struct al_mcp_peer *p)
{
    if (p->closing)
        return;
    p->closing = true;
    struct al_mcp_request own;
    hold_peer(p, &own);
    al_mcp_drop_questions(p, NULL, "the client has gone");
    struct al_mcp_request *r;
    while ((r = next_to_cancel(p)))
        al_mcp_cancel(r);
    release_peer(p, &own);
}

static void send_about(struct al_mcp_peer *p, struct al_mcp_request *r, struct al_str message)
{
    if (!p->closing && !(r && r->cancelled))
        p->ops->send(p->ud, r, message, false);
}

void al_mcp_send_error(struct al_mcp_peer *p, struct al_str id, int code, struct al_str message)
{
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    al_rpc_failure(&out, id, code, message, (struct al_str){"", 0});
    send_about(p, NULL, al_buf_str(&out));
}

/* --- requests --- */

struct al_mcp_request *al_mcp_find_request(struct al_mcp_peer *p, struct al_str id)
{
    for (struct al_mcp_request *r = p->requests; r; r = r->next)
        if (r->id && al_str_is(id, r->id))
            return r;
    return NULL;
}

static char *progress_token(const struct al_json *params)
{
    const struct al_json *token = al_json_get(al_json_get(params, "_meta"), "progressToken");
    if (!token || token->raw.n > AL_RPC_MAX_ID ||
        (token->type != AL_JSON_STRING && token->type != AL_JSON_NUMBER))
        return NULL;
    return al_xdup(token->raw.p, token->raw.n);
}

static void refuse_new(struct al_mcp_peer *p, struct al_str id, enum al_rpc_code code, void *channel,
                       const char *why)
{
    /* A request of its own, which nobody else sees, so that the answer finds its channel. */
    struct al_mcp_request r = {.peer = p, .channel = channel};
    autobuf struct al_buf out = AL_BUF_INIT(64u << 10);
    al_rpc_failure(&out, id, code, al_str_of(why), (struct al_str){"", 0});
    if (!p->closing)
        p->ops->send(p->ud, &r, al_buf_str(&out), true);
}

struct al_mcp_request *al_mcp_request_new(struct al_mcp_peer *p, const struct al_rpc *rpc, void *channel)
{
    struct al_mcp *m = p->mcp;
    struct al_str params = rpc->params ? rpc->params->raw : (struct al_str){"", 0};
    char busy[100];
    if (al_mcp_find_request(p, rpc->id)) {
        refuse_new(p, rpc->id, AL_RPC_INVALID_REQUEST, channel, "a request with this id is still running");
        return NULL;
    }
    snprintf(busy, sizeof busy, "BUSY: %u requests are open already", AL_MCP_MAX_IN_FLIGHT);
    if (m->n_open >= AL_MCP_MAX_IN_FLIGHT) {
        refuse_new(p, rpc->id, AL_RPC_INTERNAL_ERROR, channel, busy);
        return NULL;
    }
    if (m->bytes_open + params.n > AL_MCP_MAX_OPEN_BYTES) {
        refuse_new(p, rpc->id, AL_RPC_INTERNAL_ERROR, channel,
                   "BUSY: the open requests have too many bytes of parameters");
        return NULL;
    }
    struct al_mcp_request *r = al_xcalloc(1, sizeof *r);
    r->peer = p;
    r->id = al_xdup(rpc->id.p, rpc->id.n);
    r->method = al_xdup(rpc->method.p, rpc->method.n);
    r->params = al_xdup(params.p, params.n);
    r->params_n = params.n;
    r->progress_token = progress_token(rpc->params);
    r->channel = channel;
    r->next = p->requests;
    p->requests = r;
    p->n_requests++;
    m->n_open++;
    m->bytes_open += params.n;
    return r;
}

static void request_free(struct al_mcp_request *r)
{
    struct al_mcp_peer *p = r->peer;
    struct al_mcp *m = p->mcp;
    for (struct al_mcp_request **at = &p->requests; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    p->n_requests--;
    m->n_open--;
    m->bytes_open -= r->params_n;
    free(r->id);
    free(r->method);
    free(r->params);
    free(r->progress_token);
    free(r->client.capabilities);
    free(r);
    if (p->closing && !p->requests)
        peer_free(p);
}

/* The end of every request goes through here. */
static void finish(struct al_mcp_request *r, struct al_str message)
{
    struct al_mcp_peer *p = r->peer;
    struct al_mcp *m = p->mcp;
    al_mcp_end_questions(al_mcp_take_questions(p, r), true, "the request has ended");
    if (!p->closing)
        p->ops->send(p->ud, r, r->cancelled ? (struct al_str){"", 0} : message, true);
    request_free(r);
    al_mcp_check_idle(m);
}

void al_mcp_fail_with(struct al_mcp_request *r, int code, struct al_str message, struct al_str data)
{
    autobuf struct al_buf out = AL_BUF_INIT(2 * (size_t)AL_MCP_MAX_MESSAGE);
    if (r->subscribes)
        al_mcp_subscribe_failed(r);
    al_rpc_failure(&out, al_str_of(r->id), code, message, data);
    if (al_buf_failed(&out)) { /* the code at least */
        al_buf_clear(&out);
        al_rpc_failure(&out, al_str_of(r->id), code, al_utf8_cut(message, MAX_MESSAGE_CUT),
                       (struct al_str){"", 0});
    }
    finish(r, al_buf_str(&out));
}

void al_mcp_fail(struct al_mcp_request *r, int code, struct al_str data, const char *fmt, ...)
{
    char text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    al_mcp_fail_with(r, code, al_utf8_cut(al_str_of(text), sizeof text - 1), data);
}

/* --- results --- */

static void put_meta(struct al_jw *w, const struct al_json *meta)
{
    static const char server_info[] = "io.modelcontextprotocol/serverInfo";
    al_jw_key(w, "_meta");
    al_jw_obj(w);
    al_json_each(e, meta)
    {
        al_jw_key_str(w, e->key);
        al_jw_raw(w, e->raw);
    }
    if (!al_json_get(meta, server_info)) {
        al_jw_key(w, server_info);
        al_mcp_put_info(w);
    }
    al_jw_end(w);
}

/* What each result of the modern era has, where it is missing. */
static void put_modern(struct al_jw *w, struct al_str result)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE);
    const struct al_json *v = NULL;
    if (result.n && al_json_parse(&arena, result, &v, NULL) < 0)
        v = NULL;
    const struct al_json *meta = al_json_get(v, "_meta");
    bool own_meta = meta && meta->type == AL_JSON_OBJECT;
    al_jw_obj(w);
    if (!al_json_get(v, "resultType"))
        al_jw_kstrz(w, "resultType", "complete");
    al_json_each(e, v)
    {
        if (al_str_is(e->key, "_meta"))
            continue;
        al_jw_key_str(w, e->key);
        al_jw_raw(w, e->raw);
    }
    put_meta(w, own_meta ? meta : NULL);
    al_jw_end(w);
}

void al_mcp_answer(struct al_mcp_request *r, struct al_str result)
{
    autobuf struct al_buf out = AL_BUF_INIT(2 * (size_t)AL_MCP_MAX_MESSAGE);
    struct al_jw w;
    al_rpc_begin(&w, &out, al_str_of(r->id));
    al_jw_key(&w, "result");
    if (r->client.modern)
        put_modern(&w, result);
    else
        al_jw_raw(&w, result.n ? result : AL_STR("{}"));
    al_jw_end(&w);
    if (al_buf_failed(&out)) {
        al_mcp_fail(r, AL_RPC_INTERNAL_ERROR, (struct al_str){"", 0},
                    "RESULT_TOO_LARGE: the answer is over %u MiB", AL_MCP_MAX_MESSAGE >> 20);
        return;
    }
    finish(r, al_buf_str(&out));
}

/* --- told besides --- */

void al_mcp_notify(struct al_mcp_peer *p, struct al_mcp_request *r, const char *method, struct al_str params)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    al_rpc_notification(&out, method, params);
    if (!al_buf_failed(&out))
        send_about(p, r, al_buf_str(&out));
}

/* By how al_rpc_notification begins: it has been written here. */
enum al_mcp_weight al_mcp_weight(struct al_str message)
{
    static const char notification[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/";
    struct al_str name = {message.p + sizeof notification - 1, message.n - (sizeof notification - 1)};
    if (!al_str_starts(message, notification))
        return AL_MCP_NEEDED;
    return al_str_starts(name, "progress\"") || al_str_starts(name, "message\"") ? AL_MCP_LOSSY
                                                                                 : AL_MCP_CHANGE;
}

void al_mcp_progress(struct al_mcp_request *r, double value, double total, struct al_str message)
{
    if (!r->progress_token || r->cancelled || !(value > r->progress))
        return;
    r->progress = value;
    autobuf struct al_buf params = AL_BUF_INIT(64u << 10);
    struct al_jw w;
    al_jw_init(&w, &params);
    al_jw_obj(&w);
    al_jw_kraw(&w, "progressToken", al_str_of(r->progress_token));
    al_jw_key(&w, "progress");
    al_jw_double(&w, value);
    if (!isnan(total)) {
        al_jw_key(&w, "total");
        al_jw_double(&w, total);
    }
    if (message.n)
        al_jw_kstr(&w, "message", al_utf8_head(message, PROGRESS_NOTE_CHARS));
    al_jw_end(&w);
    al_mcp_notify(r->peer, r, "notifications/progress", al_buf_str(&params));
}

void al_mcp_log(struct al_mcp_peer *p, struct al_mcp_request *r, enum al_mcp_level level, const char *logger,
                struct al_str data)
{
    /* A modern client is told about a request, on its own channel, or not at all. */
    bool wanted =
        r ? level >= r->client.level : !p->client.modern && p->initialized && level >= p->client.level;
    if (!wanted || level >= AL_MCP_NO_LOG)
        return;
    autobuf struct al_buf params = AL_BUF_INIT(1u << 20);
    struct al_jw w;
    al_jw_init(&w, &params);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "level", levels[level]);
    if (logger)
        al_jw_kstrz(&w, "logger", logger);
    al_jw_kraw(&w, "data", data);
    al_jw_end(&w);
    if (!al_buf_failed(&params))
        al_mcp_notify(p, r, "notifications/message", al_buf_str(&params));
}

/* --- taking back --- */

static bool is_open(const struct al_mcp_peer *p, const struct al_mcp_request *r)
{
    const struct al_mcp_request *o = p->requests;
    while (o && o != r)
        o = o->next;
    return o != NULL;
}

void al_mcp_cancel(struct al_mcp_request *r)
{
    struct al_mcp_peer *p = r->peer;
    if (r->cancelled)
        return;
    r->cancelled = true;
    struct al_mcp_request own;
    hold_peer(p, &own);
    /* First what works on it, which may end the request now; then the questions, whose answers nobody needs.
     */
    struct al_mcp_question *questions = al_mcp_take_questions(p, r);
    if (r->cancel)
        r->cancel(r->work);
    al_mcp_end_questions(questions, !is_open(p, r), "the request was cancelled");
    release_peer(p, &own);
}

static struct al_mcp_request *next_to_stop(struct al_mcp *m)
{
    for (struct al_mcp_peer *p = m->peers; p; p = p->next)
        for (struct al_mcp_request *r = p->requests; r; r = r->next)
            if (!r->told_to_stop && r->cancel)
                return r;
    return NULL;
}

void al_mcp_stop_requests(struct al_mcp *m)
{
    struct al_mcp_request *r;
    while ((r = next_to_stop(m))) {
        r->told_to_stop = true;
        r->cancel(r->work);
    }
}
