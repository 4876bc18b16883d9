/*
 * Sessions of clients of the older era (2025-03-26 to 2025-11-25): one peer each, from initialize to DELETE,
 * or until nothing came for half an hour. Each POST of a request has a stream of its own, and so have
 * messages that belong to none. A connection that drops cancels nothing: the client comes back for the rest,
 * or says that it does not want it.
 */
#include "mcp/http_int.h"

#include "base/ident.h"
#include "base/mem.h"

#include <stdio.h>

/* --- life --- */

static void send_message(void *ud, struct al_mcp_request *about, struct al_str message, bool last)
{
    struct al_mcp_session *s = ud;
    struct al_mcp_hstream *st = about ? about->channel : s->general;
    autobuf struct al_buf busy = AL_BUF_INIT(4096);
    if (last) {
        message = al_mcp_http_or_busy(s->http, about, message, &busy);
        st->over = true;
    }
    if (message.n || (last && st->json_only))
        al_mcp_hstream_put(st, message, last);
    else
        al_mcp_hstream_pump(st); /* a request that was taken back ends without an answer */
}

static const struct al_mcp_peer_ops ops = {.send = send_message};

static bool is_busy(const struct al_mcp_session *s)
{
    if (s->peer->n_requests)
        return true;
    for (const struct al_mcp_hstream *st = s->streams; st; st = st->next)
        if (st->conn || st->json)
            return true;
    return false;
}

/* The one that was idle for longest. */
static struct al_mcp_session *idlest(struct al_mcp_http *h)
{
    struct al_mcp_session *found = NULL;
    for (struct al_mcp_session *s = h->sessions; s; s = s->next)
        if (!is_busy(s) && (!found || s->used_ms < found->used_ms))
            found = s;
    return found;
}

static struct al_mcp_session *session_new(struct al_mcp_http *h)
{
    unsigned char random[16];
    if (h->n_sessions >= AL_MCP_HTTP_MAX_SESSIONS) {
        struct al_mcp_session *old = idlest(h);
        if (!old)
            return NULL;
        al_mcp_session_free(old);
    }
    struct al_mcp_session *s = al_xcalloc(1, sizeof *s);
    s->http = h;
    al_random(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(s->id + 2 * i, 3, "%02x", random[i]);
    s->general = al_mcp_hstream_new(s); /* number 0 */
    s->peer = al_mcp_peer_new(h->mcp, &ops, s);
    s->next = h->sessions;
    h->sessions = s;
    h->n_sessions++;
    return s;
}

void al_mcp_session_free(struct al_mcp_session *s)
{
    for (struct al_mcp_session **at = &s->http->sessions; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    s->http->n_sessions--;
    al_mcp_peer_close(s->peer); /* nothing is sent any more */
    while (s->streams)
        al_mcp_hstream_free(s->streams);
    free(s);
}

static void keep_alive(struct al_mcp_session *s)
{
    for (struct al_mcp_hstream *st = s->streams; st; st = st->next) {
        if (!st->conn)
            continue;
        if (st->quiet && al_httpd_stream_queued(st->conn) == 0 &&
            al_httpd_stream_write(st->conn, AL_STR(":\n\n")) < 0)
            continue;
        st->quiet = true;
    }
}

void al_mcp_sessions_tick(struct al_mcp_http *h, uint64_t now_ms)
{
    struct al_mcp_session *next;
    for (struct al_mcp_session *s = h->sessions; s; s = next) {
        next = s->next;
        keep_alive(s);
        if (is_busy(s))
            s->used_ms = now_ms;
        else if (now_ms - s->used_ms > AL_MCP_HTTP_SESSION_IDLE_MS)
            al_mcp_session_free(s);
    }
}

/* The session that a request names; NULL: it is answered with the reason. */
static struct al_mcp_session *find(struct al_mcp_http *h, struct al_httpd_request *r)
{
    const char *id = al_httpd_header(r, "Mcp-Session-Id");
    if (!id || al_httpd_header_count(r, "Mcp-Session-Id") != 1) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 400},
                         "a session begins with initialize; later requests name it in Mcp-Session-Id");
        return NULL;
    }
    struct al_str wanted = al_str_trim(al_str_of(id));
    for (struct al_mcp_session *s = h->sessions; s; s = s->next)
        if (al_str_is(wanted, s->id)) {
            s->used_ms = al_mono_ms();
            return s;
        }
    al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 404},
                     "there is no such session, or it has ended: begin anew with initialize");
    return NULL;
}

/* --- requests --- */

static void on_json_gone(void *ud)
{
    struct al_mcp_hstream *st = ud;
    st->json = NULL; /* nobody can ask for the answer again */
}

/* A client that takes JSON alone gets the answer and nothing else, when it is there; others a stream. */
static void take_request(struct al_mcp_session *s, struct al_httpd_request *r,
                         const struct al_mcp_http_body *b, bool introduces)
{
    struct al_mcp_hstream *st = al_mcp_hstream_new(s);
    st->introduces = introduces;
    st->json_only = !b->sse_ok;
    st->held = true;
    if (st->json_only) {
        st->json = r;
        al_httpd_on_gone(r, on_json_gone, st);
    } else if (s->polls) {
        al_mcp_hstream_put(st, (struct al_str){"", 0}, false);
    }
    (void)al_mcp_message(s->peer, b->text, st);
    st->held = false;
    if (!st->json_only)
        al_mcp_hstream_connect(st, r);
}

static void refuse_busy(struct al_httpd_request *r, const struct al_mcp_http_body *b, const char *what)
{
    al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 429, .name = "BUSY", .id = b->rpc.id}, "%s",
                     what);
}

/* Without an agreement on a version there is no session. */
static void take_initialize(struct al_mcp_http *h, struct al_httpd_request *r,
                            const struct al_mcp_http_body *b)
{
    struct al_mcp_session *s = session_new(h);
    if (!s) {
        refuse_busy(r, b, "too many sessions are open, and each of them is in use");
        return;
    }
    s->used_ms = al_mono_ms();
    take_request(s, r, b, true);
    s->polls = strcmp(s->peer->client.version, "2025-11-25") >= 0;
    if (!s->peer->client.version[0])
        al_mcp_session_free(s);
}

void al_mcp_session_post(struct al_mcp_http *h, struct al_httpd_request *r, struct al_mcp_http_body *b)
{
    bool request = b->rpc.kind == AL_RPC_REQUEST;
    if (request && al_str_is(b->rpc.method, "initialize") && !al_httpd_header(r, "Mcp-Session-Id")) {
        take_initialize(h, r, b);
        return;
    }
    struct al_mcp_session *s = find(h, r);
    if (!s)
        return;
    if (request) {
        if (s->n_streams >= AL_MCP_HTTP_MAX_STREAMS)
            al_mcp_hstream_drop_oldest(s);
        if (s->n_streams >= AL_MCP_HTTP_MAX_STREAMS)
            refuse_busy(r, b, "this session has too many open requests");
        else
            take_request(s, r, b, false);
        return;
    }
    (void)al_mcp_message(s->peer, b->text, NULL);
    al_httpd_reply(r, 202, NULL, (struct al_str){"", 0});
}

/* --- streams without a request --- */

static struct al_mcp_hstream *find_stream(struct al_mcp_session *s, uint64_t no)
{
    struct al_mcp_hstream *st = s->streams;
    while (st && st->no != no)
        st = st->next;
    return st && !st->json_only ? st : NULL;
}

static void resume(struct al_mcp_session *s, struct al_httpd_request *r, const char *last_id)
{
    uint64_t stream, event;
    if (!al_mcp_http_read_event_id(al_str_of(last_id), &stream, &event)) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 400},
                         "Last-Event-ID is none of this server's");
        return;
    }
    struct al_mcp_hstream *st = find_stream(s, stream);
    if (!st || event >= st->next_event) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 410},
                         "the stream of that Last-Event-ID is not kept any more");
        return;
    }
    st->written = event;
    al_mcp_hstream_connect(st, r);
}

void al_mcp_session_get(struct al_mcp_http *h, struct al_httpd_request *r)
{
    if (!al_mcp_http_accepts(al_httpd_header(r, "Accept"), "text/event-stream")) {
        al_mcp_http_fail(r, &(struct al_mcp_http_error){.status = 406},
                         "GET opens a stream: Accept must have text/event-stream");
        return;
    }
    struct al_mcp_session *s = find(h, r);
    if (!s)
        return;
    const char *last_id = al_httpd_header(r, "Last-Event-ID");
    if (last_id) {
        resume(s, r, last_id);
        return;
    }
    if (s->polls && !s->general->first)
        al_mcp_hstream_put(s->general, (struct al_str){"", 0}, false);
    al_mcp_hstream_connect(s->general, r);
}

void al_mcp_session_delete(struct al_mcp_http *h, struct al_httpd_request *r)
{
    struct al_mcp_session *s = find(h, r);
    if (!s)
        return;
    al_mcp_session_free(s);
    al_httpd_reply(r, 204, NULL, (struct al_str){"", 0});
}
