/*
 * The transport over HTTP: who may ask, and which era a request belongs to. A request must come from this
 * machine by name (Host, Origin) and know the token; there is no other way in. Older clients have sessions
 * (http_session.c), modern ones an answer for each POST (http_modern.c).
 */
#include "mcp/http_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <sys/resource.h>

/* --- answers --- */

static void put_error(struct al_buf *out, const struct al_mcp_http_error *e, const char *text)
{
    autobuf struct al_buf message = AL_BUF_INIT(4096);
    struct al_jw w;
    if (e->name)
        al_buf_addf(&message, "%s: ", e->name);
    al_buf_adds(&message, text);
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "jsonrpc", "2.0");
    if (e->id.n)
        al_jw_kraw(&w, "id", e->id);
    al_jw_key(&w, "error");
    al_jw_obj(&w);
    al_jw_kint(&w, "code", e->code ? e->code : AL_RPC_INVALID_REQUEST);
    al_jw_kstr(&w, "message", al_buf_str(&message));
    if (e->data.n) {
        al_jw_kraw(&w, "data", e->data);
    } else if (e->name) {
        al_jw_key(&w, "data");
        al_jw_obj(&w);
        al_jw_kstrz(&w, "code", e->name);
        if (e->hint)
            al_jw_kstrz(&w, "hint", e->hint);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
}

void al_mcp_http_fail(struct al_httpd_request *r, const struct al_mcp_http_error *e, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    autobuf struct al_buf body = AL_BUF_INIT(64u << 10);
    put_error(&body, e, text);
    struct al_httpd_header headers[] = {
        {"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {NULL, NULL}, {NULL, NULL}};
    if (e->status == 401)
        headers[2] = (struct al_httpd_header){"WWW-Authenticate", "Bearer realm=\"alisio\""};
    if (e->status == 405)
        headers[2] = (struct al_httpd_header){"Allow", "GET, POST, DELETE"};
    al_httpd_reply(r, e->status, headers, al_buf_str(&body));
}

void al_mcp_http_reply_json(struct al_httpd_request *r, int status, const char *session,
                            struct al_str message)
{
    const struct al_httpd_header headers[] = {{"Content-Type", "application/json"},
                                              {"Cache-Control", "no-store"},
                                              {session ? "Mcp-Session-Id" : NULL, session},
                                              {NULL, NULL}};
    al_httpd_reply(r, status, headers, message);
}

struct al_httpd_stream *al_mcp_http_open_sse(struct al_httpd_request *r, const char *session,
                                             void (*closed)(void *ud), void (*drained)(void *ud), void *ud)
{
    const struct al_httpd_header headers[] = {{"Content-Type", "text/event-stream"},
                                              {"Cache-Control", "no-store"},
                                              {"X-Accel-Buffering", "no"},
                                              {session ? "Mcp-Session-Id" : NULL, session},
                                              {NULL, NULL}};
    struct al_httpd_stream *s = al_httpd_stream_open(r, 200, headers, AL_MCP_HTTP_QUEUE, closed, ud);
    al_httpd_stream_on_drained(s, drained);
    return s;
}

/* --- who may ask --- */

static bool is_local(const struct al_mcp_http *h, struct al_httpd_request *r)
{
    const char *const *allowed = h->mcp->opts.allow_hosts;
    unsigned origins = al_httpd_header_count(r, "Origin");
    if (al_httpd_header_count(r, "Host") != 1 || !al_mcp_http_host_ok(al_httpd_header(r, "Host"), allowed))
        return false;
    return origins == 0 || (origins == 1 && al_mcp_http_origin_ok(al_httpd_header(r, "Origin"), allowed));
}

/* Before the body is looked at: nobody else can have us hold one. */
static void on_head(void *ud, struct al_httpd_request *r)
{
    struct al_mcp_http *h = ud;
    if (!is_local(h, r)) {
        al_mcp_http_fail(
            r,
            &(struct al_mcp_http_error){.status = 403,
                                        .name = "FORBIDDEN_ORIGIN",
                                        .hint = "alisio mcp --allow-host NAME lets a name in"},
            "this server answers to localhost alone, and not to the Host or Origin of this request");
        return;
    }
    if (al_httpd_header_count(r, "Authorization") != 1 ||
        !al_mcp_http_bearer_ok(al_httpd_header(r, "Authorization"), h->mcp->opts.token)) {
        al_mcp_http_fail(
            r,
            &(struct al_mcp_http_error){.status = 401,
                                        .name = "UNAUTHORIZED",
                                        .hint = "the token is in the file mcp-token of the config "
                                                "folder"},
            "each request needs the header \"Authorization: Bearer TOKEN\", with this server's token");
        return;
    }
    al_httpd_trust(r);
}

/* --- what is asked --- */

static void look_into(struct al_httpd_request *r, struct al_mcp_http_body *b)
{
    const char *accept = al_httpd_header(r, "Accept");
    b->text = al_httpd_body(r);
    al_rpc_read(&b->arena, b->text, &b->rpc);
    b->version = al_httpd_header(r, "MCP-Protocol-Version");
    b->json_ok = al_mcp_http_accepts(accept, "application/json");
    b->sse_ok = al_mcp_http_accepts(accept, "text/event-stream");
    const struct al_json *meta = al_json_get(b->rpc.params, "_meta");
    const struct al_json *version = al_json_get(meta, "io.modelcontextprotocol/protocolVersion");
    const struct al_json *capabilities = al_json_get(meta, "io.modelcontextprotocol/clientCapabilities");
    if (al_json_is_string(version))
        b->meta_version = version->str;
    b->meta_complete = b->meta_version.n && capabilities && capabilities->type == AL_JSON_OBJECT;
}

static bool is_readable(struct al_httpd_request *r, const struct al_mcp_http_body *b)
{
    if (!al_mcp_http_is_json(al_httpd_header(r, "Content-Type"))) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 415},
                         "a message comes with \"Content-Type: application/json\"");
        return false;
    }
    if (!b->json_ok && !b->sse_ok) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 406},
                         "answers are application/json or text/event-stream: Accept must have them");
        return false;
    }
    if (b->rpc.kind == AL_RPC_BROKEN) {
        al_mcp_http_fail(
            r, &(struct al_mcp_http_error){.status = 400, .code = (int)b->rpc.error_code, .id = b->rpc.id},
            "%s", b->rpc.error);
        return false;
    }
    return true;
}

static const char *const older[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
enum {
    N_OLDER = sizeof older / sizeof *older
};

static bool is_older(struct al_str version)
{
    size_t i = 0;
    while (i < N_OLDER && !al_str_is(version, older[i]))
        i++;
    return i < N_OLDER;
}

static void refuse_version(struct al_httpd_request *r, struct al_str asked, struct al_str id)
{
    autobuf struct al_buf data = AL_BUF_INIT(4096);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_key(&w, "supported");
    al_jw_arr(&w);
    al_jw_strz(&w, AL_MCP_MODERN);
    for (size_t i = N_OLDER; i > 0; i--)
        al_jw_strz(&w, older[i - 1]);
    al_jw_end(&w);
    al_jw_kstr(&w, "requested", al_utf8_head(asked, 64));
    al_jw_end(&w);
    al_mcp_http_fail(
        r,
        &(struct al_mcp_http_error){
            .status = 400, .code = AL_RPC_UNSUPPORTED_VERSION, .id = id, .data = al_buf_str(&data)},
        "unsupported protocol version in MCP-Protocol-Version");
}

static bool version_ok(struct al_httpd_request *r, struct al_str id)
{
    const char *version = al_httpd_header(r, "MCP-Protocol-Version");
    struct al_str v = al_str_trim(al_str_of(version));
    if (!version || is_older(v) || al_str_is(v, AL_MCP_MODERN))
        return true;
    refuse_version(r, v, id);
    return false;
}

static bool is_modern(struct al_httpd_request *r)
{
    const char *version = al_httpd_header(r, "MCP-Protocol-Version");
    return version && al_str_is(al_str_trim(al_str_of(version)), AL_MCP_MODERN);
}

static void take_post(struct al_mcp_http *h, struct al_httpd_request *r)
{
    struct al_mcp_http_body b = {.arena = AL_ARENA_INIT(8 * (size_t)AL_MCP_MAX_MESSAGE)};
    look_into(r, &b);
    if (is_readable(r, &b)) {
        /* A version in the body is judged with it: the header must say the same. */
        if (b.meta_version.n || is_modern(r))
            al_mcp_modern_post(h, r, &b);
        else if (version_ok(r, b.rpc.id))
            al_mcp_session_post(h, r, &b);
    }
    al_arena_free(&b.arena);
}

static void on_request(void *ud, struct al_httpd_request *r)
{
    struct al_mcp_http *h = ud;
    const char *method = al_httpd_method(r), *path = al_httpd_path(r);
    const struct al_str none = {"", 0};
    if (strcmp(path, "/mcp") != 0 && strcmp(path, "/") != 0)
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 404}, "there is nothing but /mcp here");
    else if (h->closed)
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 503}, "the server ends");
    else if (strcmp(method, "POST") == 0)
        take_post(h, r);
    else if (strcmp(method, "GET") != 0 && strcmp(method, "DELETE") != 0)
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 405}, "POST, GET or DELETE, not this");
    else if (is_modern(r))
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 405},
                         "in " AL_MCP_MODERN " there is POST alone: subscriptions/listen in place of GET");
    else if (!version_ok(r, none))
        return;
    else if (strcmp(method, "GET") == 0)
        al_mcp_session_get(h, r);
    else
        al_mcp_session_delete(h, r);
}

static const struct al_httpd_ops ops = {.head = on_head, .request = on_request};

/* --- life --- */

static void on_tick(void *ud)
{
    struct al_mcp_http *h = ud;
    al_mcp_sessions_tick(h, al_mono_ms());
    al_mcp_modern_tick(h);
}

/* A connection is a descriptor, and many systems allow 1,024 of them before a program asks for more. */
static void want_descriptors(void)
{
    struct rlimit limit;
    rlim_t wanted = AL_MCP_HTTP_CONNECTIONS + 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int al_mcp_http_start(struct al_mcp *m, struct al_err *err)
{
    const struct al_mcp_opts *o = &m->opts;
    struct al_loop *loop = al_core_loop(m->core);
    if (!o->token || !*o->token)
        return al_fail(err, AL_INVALID_INPUT, "a server over HTTP needs a token");
    want_descriptors();
    struct al_mcp_http *h = al_xcalloc(1, sizeof *h);
    h->mcp = m;
    const struct al_httpd_opts how = {.port = o->socket_path ? -1 : o->port,
                                      .socket_path = o->socket_path,
                                      .max_body = AL_MCP_MAX_MESSAGE,
                                      .max_bodies = AL_MCP_MAX_OPEN_BYTES,
                                      .max_connections = AL_MCP_HTTP_CONNECTIONS,
                                      .max_strangers = AL_MCP_HTTP_STRANGERS};
    h->httpd = al_httpd_start(loop, &how, &ops, h, err);
    if (!h->httpd) {
        free(h);
        return -1;
    }
    h->tick = al_timer_every(loop, AL_MCP_HTTP_TICK_MS, on_tick, h);
    m->http = h;
    return 0;
}

int al_mcp_port(const struct al_mcp *m)
{
    return m->http ? al_httpd_port(m->http->httpd) : -1;
}

void al_mcp_http_stop(struct al_mcp *m)
{
    struct al_mcp_http *h = m->http;
    h->closed = true;
    al_timer_stop(h->tick);
    h->tick = NULL;
}

void al_mcp_http_free(struct al_mcp *m)
{
    struct al_mcp_http *h = m->http;
    al_timer_stop(h->tick);
    while (h->sessions)
        al_mcp_session_free(h->sessions);
    al_mcp_modern_end(h);
    al_httpd_stop(h->httpd); /* what was written goes out */
    m->http = NULL;
    free(h);
}
