/*
 * Requests of the modern era (2026-07-28): each POST is a peer of its own, says in its headers what it says
 * in its body, and is answered by one JSON object, or by a stream when there is something to tell before the
 * end. Whoever closes the connection takes the request back.
 */
#include "mcp/http_int.h"

#include "base/mem.h"
#include "rpc/sse.h"

struct al_mcp_post {
    struct al_mcp_post *next;
    struct al_mcp_http *http;
    struct al_mcp_peer *peer;
    struct al_httpd_request *waiting; /* not answered yet … */
    struct al_httpd_stream *conn;     /* … or answered by a stream */
    bool json_ok, sse_ok, meta_complete;
    bool quiet;  /* nothing was sent since the last tick */
    bool broken; /* its reader takes nothing: to be freed in a later turn */
};

/* --- headers that say what the body says --- */

static bool mismatch(struct al_httpd_request *r, const struct al_mcp_http_body *b, const char *header,
                     const char *what)
{
    al_mcp_http_fail(
        r, &(struct al_mcp_http_error){.status = 400, .code = AL_RPC_HEADER_MISMATCH, .id = b->rpc.id},
        "Header mismatch: %s %s", header, what);
    return false;
}

/* plain: the value is never encoded. */
static bool header_says(struct al_httpd_request *r, const struct al_mcp_http_body *b, const char *header,
                        struct al_str wanted, bool plain)
{
    const char *value = al_httpd_header(r, header);
    if (!value)
        return mismatch(r, b, header, "is missing");
    if (al_httpd_header_count(r, header) != 1)
        return mismatch(r, b, header, "is there more than once");
    autobuf struct al_buf decoded = AL_BUF_INIT(64u << 10);
    if (plain)
        al_buf_add_str(&decoded, al_str_trim(al_str_of(value)));
    else if (!al_mcp_http_decode(al_str_of(value), &decoded))
        return mismatch(r, b, header, "has characters or a base64 form that no header may have");
    if (!al_str_eq(al_buf_str(&decoded), wanted))
        return mismatch(r, b, header, "does not say what the body says");
    return true;
}

static const char *name_member(struct al_str method)
{
    if (al_str_is(method, "tools/call") || al_str_is(method, "prompts/get"))
        return "name";
    return al_str_is(method, "resources/read") ? "uri" : NULL;
}

static const char *get_header(void *ud, const char *name)
{
    return al_httpd_header(ud, name);
}

static unsigned count_header(void *ud, const char *name)
{
    return al_httpd_header_count(ud, name);
}

/* Only tools of servers behind us have arguments that are headers, too. */
static bool arguments_ok(struct al_mcp_relay *relay, struct al_httpd_request *r,
                         const struct al_mcp_http_body *b)
{
    const struct al_mcp_http_headers headers = {.get = get_header, .count = count_header, .ud = r};
    autobuf struct al_buf schema = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    char name[AL_MCP_HTTP_PARAM_MAX];
    if (!relay || !al_str_is(b->rpc.method, "tools/call") ||
        !al_mcp_relay_schema(relay, al_json_get_text(b->rpc.params, "name"), &schema))
        return true;
    const char *wrong = al_mcp_http_params_wrong(al_buf_str(&schema), al_json_get(b->rpc.params, "arguments"),
                                                 &headers, name);
    return !wrong || mismatch(r, b, name, wrong);
}

static bool headers_ok(struct al_httpd_request *r, const struct al_mcp_http_body *b)
{
    bool request = b->rpc.kind == AL_RPC_REQUEST;
    if (b->meta_version.n || !b->version) {
        if (!header_says(r, b, "MCP-Protocol-Version", b->meta_version, true))
            return false;
    }
    if (!request && !al_httpd_header(r, "Mcp-Method"))
        return true;
    if (!header_says(r, b, "Mcp-Method", b->rpc.method, true))
        return false;
    const char *member = name_member(b->rpc.method);
    struct al_str name = member ? al_json_get_text(b->rpc.params, member) : (struct al_str){NULL, 0};
    /* A name that is no text is refused with the parameters. */
    return !name.p || header_says(r, b, "Mcp-Name", name, false);
}

/* --- answers --- */

static void post_free(struct al_mcp_post *post)
{
    for (struct al_mcp_post **at = &post->http->posts; *at; at = &(*at)->next)
        if (*at == post) {
            *at = post->next;
            break;
        }
    al_mcp_peer_close(post->peer);
    free(post);
}

static void on_gone(void *ud)
{
    struct al_mcp_post *post = ud;
    post->waiting = NULL;
    post->conn = NULL;
    post_free(post);
}

static void open_stream(struct al_mcp_post *post)
{
    post->conn = al_mcp_http_open_sse(post->waiting, NULL, on_gone, NULL, post);
    post->waiting = NULL;
}

/* A longer message is no error. */
#define MAX_ERROR (256u << 10)

/* The errors of the protocol have statuses of their own; what a method says of its own work is a success to
 * HTTP. */
static int status_of(const struct al_mcp_post *post, struct al_str message)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8 * (size_t)MAX_ERROR);
    const struct al_json *v;
    int64_t code;
    if (message.n > MAX_ERROR || al_json_parse(&arena, message, &v, NULL) < 0 ||
        !al_json_int(al_json_get(al_json_get(v, "error"), "code"), INT32_MIN, INT32_MAX, &code))
        return 200;
    switch (code) {
    case AL_RPC_METHOD_NOT_FOUND:
        return 404;
    case AL_RPC_INVALID_REQUEST:
    case AL_RPC_HEADER_MISMATCH:
    case AL_RPC_MISSING_CAPABILITY:
    case AL_RPC_UNSUPPORTED_VERSION:
        return 400;
    case AL_RPC_INVALID_PARAMS:
        return post->meta_complete ? 200 : 400;
    default:
        return 200;
    }
}

static bool write_event(struct al_mcp_post *post, struct al_str message)
{
    const struct al_str none = {"", 0};
    autobuf struct al_buf event = AL_BUF_INIT(AL_MCP_QUEUE_MAX);
    al_sse_write(&event, none, none, message);
    post->quiet = false;
    return !al_buf_failed(&event) && al_httpd_stream_write(post->conn, al_buf_str(&event)) == 0;
}

static void free_broken(void *ud)
{
    struct al_mcp_http *h = ud;
    h->sweep = NULL;
    struct al_mcp_post *post = h->posts;
    while (post) {
        if (!post->broken) {
            post = post->next;
            continue;
        }
        post->broken = false;
        post_free(post);
        post = h->posts; /* others may have gone with it */
    }
}

/* Later: whoever sends is in the middle of the work that goes with the post. */
static void break_later(struct al_mcp_post *post)
{
    struct al_mcp_http *h = post->http;
    al_httpd_stream_abort(post->conn);
    post->conn = NULL;
    post->broken = true;
    if (!h->sweep)
        h->sweep = al_timer_start(al_core_loop(h->mcp->core), 0, free_broken, h);
}

/* What is told besides, when the reader has not yet taken what was told before. Whoever listens for changes
 * must not miss one, and comes back for the whole; progress and logs of a request can be missed, its answer
 * not. */
static void tell(struct al_mcp_post *post, const struct al_mcp_request *about, struct al_str message)
{
    if (al_httpd_stream_queued(post->conn) < AL_MCP_HTTP_MODERN_AHEAD &&
        al_mcp_http_room(post->http, message.n, AL_MCP_HTTP_TOLD_BYTES) && write_event(post, message))
        return;
    if (about && strcmp(about->method, "subscriptions/listen") == 0)
        break_later(post);
}

/* The answer, and the end of the stream. */
static void end_stream(struct al_mcp_post *post, struct al_str message)
{
    if (!message.n || write_event(post, message))
        al_httpd_stream_close(post->conn);
    else
        al_httpd_stream_abort(post->conn);
}

static void answer(struct al_mcp_post *post, struct al_str message)
{
    int status = post->waiting && message.n ? status_of(post, message) : 200;
    if (post->waiting && message.n && !post->json_ok && status == 200)
        open_stream(post);
    if (post->conn)
        end_stream(post, message);
    else if (post->waiting && message.n)
        al_mcp_http_reply_json(post->waiting, status, NULL, message);
    else if (post->waiting)
        al_httpd_reply(post->waiting, 202, NULL, message);
    post->waiting = NULL;
    post->conn = NULL;
    post_free(post);
}

static void send_message(void *ud, struct al_mcp_request *about, struct al_str message, bool last)
{
    struct al_mcp_post *post = ud;
    autobuf struct al_buf busy = AL_BUF_INIT(4096);
    if (last) {
        answer(post, al_mcp_http_or_busy(post->http, about, message, &busy));
        return;
    }
    if (post->waiting && post->sse_ok)
        open_stream(post);
    if (!post->conn)
        return; /* a client that takes JSON alone is told nothing but the answer */
    tell(post, about, message);
}

static const struct al_mcp_peer_ops ops = {.send = send_message};

/* --- requests --- */

static void take_request(struct al_mcp_http *h, struct al_httpd_request *r, struct al_mcp_http_body *b)
{
    if (al_str_is(b->rpc.method, "subscriptions/listen") && !b->sse_ok) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 406, .id = b->rpc.id},
                         "subscriptions/listen is answered by a stream: Accept must have text/event-stream");
        return;
    }
    struct al_mcp_post *post = al_xcalloc(1, sizeof *post);
    *post = (struct al_mcp_post){.next = h->posts,
                                 .http = h,
                                 .waiting = r,
                                 .json_ok = b->json_ok,
                                 .sse_ok = b->sse_ok,
                                 .meta_complete = b->meta_complete};
    h->posts = post;
    post->peer = al_mcp_peer_new(h->mcp, &ops, post);
    post->peer->client.modern = true;
    post->peer->client.level = AL_MCP_NO_LOG;
    al_httpd_on_gone(r, on_gone, post);
    (void)al_mcp_message(post->peer, b->text, post); /* post may be gone with it */
}

void al_mcp_modern_post(struct al_mcp_http *h, struct al_httpd_request *r, struct al_mcp_http_body *b)
{
    if (!headers_ok(r, b) || !arguments_ok(h->mcp->relay, r, b))
        return;
    if (b->rpc.kind == AL_RPC_REQUEST) {
        take_request(h, r, b);
        return;
    }
    if (b->rpc.kind == AL_RPC_RESPONSE) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 400},
                         "in " AL_MCP_MODERN " clients send requests and notifications, no responses");
        return;
    }
    /* There is no notification that would mean something here: a request is taken back by closing its
     * connection. */
    al_httpd_reply(r, 202, NULL, (struct al_str){"", 0});
}

/* A request that takes its time gets its stream, so that nobody in between gives up on it. */
void al_mcp_modern_tick(struct al_mcp_http *h)
{
    for (struct al_mcp_post *post = h->posts; post; post = post->next) {
        if (post->waiting && post->sse_ok)
            open_stream(post);
        if (post->conn && post->quiet && al_httpd_stream_queued(post->conn) == 0 &&
            al_httpd_stream_write(post->conn, AL_STR(":\n\n")) < 0)
            continue;
        post->quiet = true;
    }
}

void al_mcp_modern_end(struct al_mcp_http *h)
{
    al_timer_stop(h->sweep);
    h->sweep = NULL;
    while (h->posts) {
        struct al_mcp_post *post = h->posts;
        if (post->conn)
            al_httpd_stream_close(post->conn);
        else if (post->waiting)
            al_mcp_http_fail(post->waiting, &(struct al_mcp_http_error){.status = 503}, "the server ends");
        post_free(post);
    }
}
