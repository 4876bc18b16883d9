/* The HTTP transport's limits: sessions that expire, streams that nobody reads, readers that are too slow. */
#include "test.h"

#include "mcp_world.h"

#include "base/ident.h"
#include "base/mem.h"
#include "mcp/http_int.h"
#include "os/fd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT_MS 20000
#define TOKEN "a-token-for-tests"
#define HALF_HOUR_MS ((uint64_t)AL_MCP_HTTP_SESSION_IDLE_MS)

struct client {
    struct mcp_world *w;
    int fd;
    struct al_watch *watch;
    struct al_buf in;
    bool ended, changed;
};

static void on_readable(void *ud, int events)
{
    struct client *c = ud;
    char buf[65536];
    (void)events;
    ssize_t n = recv(c->fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n > 0)
        al_buf_add(&c->in, buf, (size_t)n);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        c->ended = true;
        al_watch_stop(c->watch);
        c->watch = NULL;
    }
    c->changed = true;
}

static struct al_loop *loop_of(struct mcp_world *w)
{
    return al_core_loop(w->mcp.core);
}

static void client_read(struct client *c)
{
    struct al_err err;
    c->watch = al_watch_start(loop_of(c->w), c->fd, AL_READABLE, on_readable, c, &err);
}

static void client_open(struct client *c, struct mcp_world *w, bool reads)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)al_mcp_port(&w->mcp))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *c = (struct client){
        .w = w, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .in = AL_BUF_INIT(64u << 20)};
    assert_true(c->fd >= 0);
    if (!reads) {
        int small = 4096;
        assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    }
    assert_int_equal(connect(c->fd, (struct sockaddr *)&a, sizeof a), 0);
    if (reads)
        client_read(c);
}

static void client_close(struct client *c)
{
    al_watch_stop(c->watch);
    c->watch = NULL;
    al_close(&c->fd);
    al_buf_free(&c->in);
}

static void send_request(struct client *c, const char *method, const char *headers, const char *body)
{
    autobuf struct al_buf text = AL_BUF_INIT(1u << 20);
    al_buf_addf(&text, "%s /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " TOKEN "\r\n%s", method,
                headers);
    al_buf_addf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
    assert_int_equal(al_fd_write_all(c->fd, al_buf_str(&text)), 0);
}

static bool has(const struct client *c, const char *text)
{
    return al_str_find(al_buf_str(&c->in), al_str_of(text)) >= 0;
}

static void turn(struct mcp_world *w, bool *changed)
{
    *changed = false;
    al_loop_run_until(loop_of(w), changed, 20);
}

#define WAIT_FOR(w, condition)                                          \
    do {                                                                \
        uint64_t end_ = al_mono_ms() + LIMIT_MS;                        \
        bool never_ = false;                                            \
        while (!(condition)) {                                          \
            if (al_mono_ms() > end_)                                    \
                fail_msg("line %d: in vain: %s", __LINE__, #condition); \
            turn((w), &never_);                                         \
        }                                                               \
    } while (0)

static int set_up(void **state)
{
    struct al_err err;
    int r = mcp_world_set_up(state);
    struct mcp_world *w = *state;
    w->mcp.opts = (struct al_mcp_opts){.http = true, .port = 0, .token = TOKEN, .in_fd = -1, .out_fd = -1};
    w->mcp.opts.expose_files = w->mcp.opts.expose_process = true;
    if (al_mcp_http_start(&w->mcp, &err) < 0)
        fail_msg("%s", err.msg);
    return r;
}

static int tear_down(void **state)
{
    struct mcp_world *w = *state;
    al_mcp_http_free(&w->mcp);
    return mcp_world_tear_down(state);
}

#define INITIALIZE                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-" \
    "25\","                                                                                              \
    "\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"

/* A new session; its header line. */
static struct al_mcp_session *open_session(struct mcp_world *w, char header[80])
{
    struct client c;
    client_open(&c, w, true);
    send_request(&c, "POST", "", INITIALIZE);
    WAIT_FOR(w, has(&c, "\r\n0\r\n\r\n"));
    struct al_mcp_session *s = w->mcp.http->sessions;
    assert_true(has(&c, s->id));
    snprintf(header, 80, "Mcp-Session-Id: %s\r\n", s->id);
    client_close(&c);
    return s;
}

static void call(struct client *c, const char *headers, int id, const char *tool)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/"
             "call\",\"params\":{\"name\":\"%s\",\"arguments\":{}}}",
             id, tool);
    send_request(c, "POST", headers, body);
}

static void sessions_expire_when_idle(void **state)
{
    struct mcp_world *w = *state;
    struct al_mcp_http *h = w->mcp.http;
    struct client c;
    char header[80];
    struct al_mcp_session *s = open_session(w, header);
    client_open(&c, w, true);
    send_request(&c, "GET", header, "");
    WAIT_FOR(w, s->general->conn);
    al_mcp_sessions_tick(h, al_mono_ms() + 2 * HALF_HOUR_MS); /* a stream is open */
    assert_int_equal(h->n_sessions, 1);
    client_close(&c);
    WAIT_FOR(w, !s->general->conn);
    s->used_ms = al_mono_ms();
    al_mcp_sessions_tick(h, al_mono_ms() + HALF_HOUR_MS - 1000);
    assert_int_equal(h->n_sessions, 1);
    al_mcp_sessions_tick(h, al_mono_ms() + HALF_HOUR_MS + 1000);
    assert_int_equal(h->n_sessions, 0);
    client_open(&c, w, true);
    call(&c, header, 1, "look");
    WAIT_FOR(w, has(&c, "HTTP/1.1 404 "));
    client_close(&c);
}

static void sessions_are_limited(void **state)
{
    struct mcp_world *w = *state;
    char header[80];
    struct al_mcp_session *first = open_session(w, header);
    char id[33];
    memcpy(id, first->id, sizeof id);
    first->used_ms = 0;
    for (int i = 0; i < AL_MCP_HTTP_MAX_SESSIONS; i++)
        (void)open_session(w, header);
    assert_int_equal(w->mcp.http->n_sessions, AL_MCP_HTTP_MAX_SESSIONS);
    for (struct al_mcp_session *s = w->mcp.http->sessions; s; s = s->next)
        assert_string_not_equal(s->id, id);
}

static struct al_mcp_hstream *stream_of(struct al_mcp_session *s, uint64_t no)
{
    struct al_mcp_hstream *st = s->streams;
    while (st && st->no != no)
        st = st->next;
    return st;
}

static void notify(struct al_mcp_peer *p, int i, const char *filler)
{
    autobuf struct al_buf params = AL_BUF_INIT(1u << 20);
    al_buf_addf(&params, "{\"level\":\"info\",\"data\":\"no %d %s\"}", i, filler);
    al_mcp_notify(p, p->requests, "notifications/message", al_buf_str(&params));
}

static void what_nobody_reads_is_bounded_and_the_answer_stays(void **state)
{
    struct mcp_world *w = *state;
    struct client c;
    char header[80], more[160], filler[4001];
    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = 0;
    struct al_mcp_session *s = open_session(w, header);
    client_open(&c, w, true);
    call(&c, header, 7, "hold");
    WAIT_FOR(w, mcp_n_held == 1 && has(&c, "id: "));
    client_close(&c);
    struct al_mcp_hstream *st = s->streams;
    WAIT_FOR(w, !st->conn);
    for (int i = 0; i < 3000; i++) {
        notify(s->peer, i, i % 2 ? filler : "");
        assert_true(st->bytes <= AL_MCP_HTTP_STREAM_BYTES && st->n_events <= AL_MCP_HTTP_STREAM_EVENTS);
        assert_int_equal(s->bytes,
                         st->bytes + s->general->bytes +
                             (stream_of(s, 1) && stream_of(s, 1) != st ? stream_of(s, 1)->bytes : 0));
    }
    mcp_let_go();
    WAIT_FOR(w, st->over && !st->delivered);
    client_open(&c, w, true);
    snprintf(more, sizeof more, "%sLast-Event-ID: %llu-1\r\n", header, (unsigned long long)st->no);
    send_request(&c, "GET", more, "");
    WAIT_FOR(w, has(&c, "\r\n0\r\n\r\n"));
    assert_true(has(&c, "\"id\":7"));
    assert_true(has(&c, "no 2999 "));
    assert_false(has(&c, "no 0 "));
    client_close(&c);
}

static void slow_readers_are_cut_off_and_may_come_back(void **state)
{
    struct mcp_world *w = *state;
    struct client c;
    char header[80], more[160], filler[4001];
    bool changed = false;
    memset(filler, 'y', sizeof filler - 1);
    filler[sizeof filler - 1] = 0;
    struct al_mcp_session *s = open_session(w, header);
    client_open(&c, w, false);
    call(&c, header, 8, "hold");
    WAIT_FOR(w, mcp_n_held == 1 && s->streams->conn);
    struct al_mcp_hstream *st = s->streams;
    for (int i = 0; st->conn; i++) {
        assert_true(i < 20000);
        notify(s->peer, i, filler);
        if (i % 10 == 0)
            turn(w, &changed);
        assert_true(st->bytes <= AL_MCP_HTTP_STREAM_BYTES);
        assert_true(!st->conn || al_httpd_stream_queued(st->conn) <= AL_MCP_HTTP_AHEAD + 8192);
    }
    mcp_let_go();
    client_close(&c);
    client_open(&c, w, true);
    snprintf(more, sizeof more, "%sLast-Event-ID: %llu-1\r\n", header, (unsigned long long)st->no);
    send_request(&c, "GET", more, "");
    WAIT_FOR(w, has(&c, "\r\n0\r\n\r\n"));
    assert_true(has(&c, "\"id\":8"));
    client_close(&c);
}

static void delivered_streams_are_forgotten_in_time(void **state)
{
    struct mcp_world *w = *state;
    char header[80];
    struct client c;
    struct al_mcp_session *s = open_session(w, header);
    for (int i = 1; i <= 3 * AL_MCP_HTTP_DELIVERED_STREAMS; i++) {
        client_open(&c, w, true);
        call(&c, header, i, "look");
        WAIT_FOR(w, has(&c, "\r\n0\r\n\r\n"));
        client_close(&c);
    }
    assert_true(s->n_streams <= AL_MCP_HTTP_DELIVERED_STREAMS + 3);
}

static void long_notifications_go_to_readers_and_are_not_kept(void **state)
{
    struct mcp_world *w = *state;
    struct client c;
    char header[80];
    static char filler[900001];
    memset(filler, 'f', sizeof filler - 1);
    autobuf struct al_buf params = AL_BUF_INIT(8u << 20);
    al_buf_addf(&params, "{\"level\":\"info\",\"data\":\"long %s%s%s\"}", filler, filler, filler);
    struct al_mcp_session *s = open_session(w, header);
    al_mcp_notify(s->peer, NULL, "notifications/message", al_buf_str(&params));
    assert_int_equal(s->general->bytes, 0);
    client_open(&c, w, true);
    send_request(&c, "GET", header, "");
    WAIT_FOR(w, s->general->conn);
    al_mcp_notify(s->peer, NULL, "notifications/message", al_buf_str(&params));
    assert_true(s->general->bytes <= AL_MCP_HTTP_STREAM_BYTES);
    WAIT_FOR(w, has(&c, "long "));
    WAIT_FOR(w, al_httpd_queued(w->mcp.http->httpd) == 0);
    client_close(&c);
}

static void what_waits_for_all_clients_is_bounded(void **state)
{
    struct mcp_world *w = *state;
    struct al_mcp_http *h = w->mcp.http;
    struct client c[16];
    char header[80];
    static char filler[900001];
    memset(filler, 'f', sizeof filler - 1);
    autobuf struct al_buf big = AL_BUF_INIT(32u << 20);
    al_buf_adds(&big, "{\"level\":\"info\",\"data\":\"");
    for (int i = 0; i < 16; i++)
        al_buf_adds(&big, filler);
    al_buf_adds(&big, "\"}");
    for (int i = 0; i < 16; i++) {
        struct al_mcp_session *s = open_session(w, header);
        client_open(&c[i], w, false);
        send_request(&c[i], "GET", header, "");
        WAIT_FOR(w, s->general->conn);
        al_mcp_notify(s->peer, NULL, "notifications/message", al_buf_str(&big));
        assert_true(h->bytes + al_httpd_queued(h->httpd) <= AL_MCP_HTTP_TOLD_BYTES);
    }
    for (int i = 0; i < 16; i++)
        client_close(&c[i]);
}

/* Whatever waits, a request has an answer. */
static void an_answer_without_room_says_so(void **state)
{
    struct mcp_world *w = *state;
    struct client c;
    char header[80];
    open_session(w, header);
    client_open(&c, w, true);
    call(&c, header, 1, "hold");
    WAIT_FOR(w, mcp_n_held == 1);
    struct al_mcp_request *r = w->mcp.http->sessions->peer->requests;
    autobuf struct al_buf out = AL_BUF_INIT(4096);
    static char text[8192];
    memset(text, 'a', sizeof text);
    const struct al_str answer = {text, sizeof text};
    assert_ptr_equal(al_mcp_http_or_busy(w->mcp.http, r, answer, &out).p, text);
    w->mcp.http->bytes += AL_MCP_HTTP_ALL_BYTES;
    assert_true(al_str_find(al_mcp_http_or_busy(w->mcp.http, r, answer, &out), AL_STR("BUSY")) >= 0);
    w->mcp.http->bytes -= AL_MCP_HTTP_ALL_BYTES;
    mcp_let_go();
    WAIT_FOR(w, has(&c, "\r\n0\r\n\r\n"));
    client_close(&c);
}

#define MODERN_POST(method, name) "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\n" name
#define LISTEN                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/" \
    "listen\",\"params\":{\"notifications\":{}," MCP_META("{}") "}}"

static void a_slow_modern_reader_misses_logs_and_gets_its_answer(void **state)
{
    struct mcp_world *w = *state;
    struct client c;
    static char filler[300001];
    memset(filler, 'z', sizeof filler - 1);
    client_open(&c, w, false);
    send_request(&c, "POST", MODERN_POST("tools/call", "Mcp-Name: hold\r\n"),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                 "call\",\"params\":{\"name\":\"hold\",\"arguments\":{}," MCP_META("{}") "}}");
    WAIT_FOR(w, mcp_n_held == 1);
    for (int i = 0; i < 100; i++)
        notify(w->mcp.peers, i, filler);
    assert_true(al_httpd_queued(w->mcp.http->httpd) < AL_MCP_HTTP_MODERN_AHEAD + (1u << 20));
    mcp_let_go();
    WAIT_FOR(w, !w->mcp.http->posts);
    client_read(&c);
    WAIT_FOR(w, has(&c, "\r\n0\r\n\r\n"));
    assert_true(has(&c, "no 0 "));
    assert_false(has(&c, "no 99 "));
    assert_true(has(&c, "\"resultType\":\"complete\""));
    client_close(&c);
}

static void a_listener_that_takes_nothing_is_let_go_later(void **state)
{
    struct mcp_world *w = *state;
    struct client c;
    static char filler[300001];
    memset(filler, 'z', sizeof filler - 1);
    client_open(&c, w, false);
    send_request(&c, "POST", MODERN_POST("subscriptions/listen", ""), LISTEN);
    WAIT_FOR(w, w->mcp.peers && w->mcp.peers->subscriptions);
    struct al_mcp_peer *p = w->mcp.peers;
    for (int i = 0; i < 100; i++) {
        notify(p, i, filler);
        assert_ptr_equal(w->mcp.peers, p);
        assert_non_null(p->subscriptions);
    }
    WAIT_FOR(w, !w->mcp.peers);
    assert_null(w->mcp.http->posts);
    client_close(&c);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(sessions_expire_when_idle),
        CASE(sessions_are_limited),
        CASE(what_nobody_reads_is_bounded_and_the_answer_stays),
        CASE(slow_readers_are_cut_off_and_may_come_back),
        CASE(delivered_streams_are_forgotten_in_time),
        CASE(long_notifications_go_to_readers_and_are_not_kept),
        CASE(what_waits_for_all_clients_is_bounded),
        CASE(an_answer_without_room_says_so),
        CASE(a_slow_modern_reader_misses_logs_and_gets_its_answer),
        CASE(a_listener_that_takes_nothing_is_let_go_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
