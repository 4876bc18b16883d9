/* The HTTP server, by raw sockets: what a client does wrong, slowly, early or never. */
#include "test.h"

#include "base/ident.h"
#include "base/mem.h"
#include "http/server.h"
#include "os/fd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LIMIT_MS 20000
#define MAX_STREAMS 200

struct world {
    struct al_loop *loop;
    struct al_httpd *d;
    struct al_httpd_request *kept;                /* by /wait */
    struct al_httpd_stream *streams[MAX_STREAMS]; /* by /stream */
    size_t n_streams;
    int requests, gone, closed;
    size_t body_n;
    char path[64], host[64];
    bool changed;
};

struct client {
    struct world *w;
    int fd;
    struct al_watch *watch;
    struct al_buf in;
    bool ended;
};

static void on_gone(void *ud)
{
    struct world *w = ud;
    w->gone++;
    w->kept = NULL;
    w->changed = true;
}

static void on_closed(void *ud)
{
    struct world *w = ud;
    w->closed++;
    w->changed = true;
}

static void reply_body(struct al_httpd_request *r, int status, struct al_str body)
{
    const struct al_httpd_header headers[] = {{"Content-Type", "text/plain"}, {NULL, NULL}};
    al_httpd_reply(r, status, headers, body);
}

static void on_request(void *ud, struct al_httpd_request *r)
{
    struct world *w = ud;
    const char *path = al_httpd_path(r), *host = al_httpd_header(r, "host");
    w->requests++;
    w->changed = true;
    w->body_n = al_httpd_body(r).n;
    snprintf(w->path, sizeof w->path, "%s %s", al_httpd_method(r), path);
    snprintf(w->host, sizeof w->host, "%s/%u", host ? host : "-", al_httpd_header_count(r, "HOST"));
    if (strcmp(path, "/wait") == 0) {
        w->kept = r;
        al_httpd_on_gone(r, on_gone, w);
    } else if (strcmp(path, "/stream") == 0) {
        const struct al_httpd_header headers[] = {{"Content-Type", "text/event-stream"}, {NULL, NULL}};
        assert_true(w->n_streams < MAX_STREAMS);
        w->streams[w->n_streams++] = al_httpd_stream_open(r, 200, headers, 256 * 1024, on_closed, w);
    } else if (strcmp(path, "/stop") == 0) {
        al_httpd_stop(w->d);
        w->d = NULL;
    } else {
        reply_body(r, 200, al_httpd_body(r));
    }
}

static void on_head(void *ud, struct al_httpd_request *r)
{
    (void)ud;
    if (al_httpd_header(r, "X-Known"))
        al_httpd_trust(r);
    if (strcmp(al_httpd_path(r), "/refuse") == 0)
        reply_body(r, 401, AL_STR("refused"));
}

static const struct al_httpd_ops ops = {.head = on_head, .request = on_request};

static void world_open(struct world *w, const struct al_httpd_opts *given)
{
    struct al_err err;
    struct al_httpd_opts o =
        given ? *given : (struct al_httpd_opts){.max_body = 100000, .max_connections = 400};
    *w = (struct world){.loop = al_loop_new()};
    w->d = al_httpd_start(w->loop, &o, &ops, w, &err);
    if (!w->d)
        fail_msg("%s", err.msg);
}

static void world_close(struct world *w)
{
    al_httpd_stop(w->d);
    al_loop_free(w->loop);
}

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
    c->w->changed = true;
}

static void client_open(struct client *c, struct world *w, bool reads)
{
    struct al_err err;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)al_httpd_port(w->d))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *c = (struct client){
        .w = w, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .in = AL_BUF_INIT(64 << 20)};
    assert_true(c->fd >= 0);
    if (!reads) {
        int small = 4096;
        assert_int_equal(setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    }
    assert_int_equal(connect(c->fd, (struct sockaddr *)&a, sizeof a), 0);
    if (reads) {
        c->watch = al_watch_start(w->loop, c->fd, AL_READABLE, on_readable, c, &err);
        assert_non_null(c->watch);
    }
}

static void client_close(struct client *c)
{
    al_watch_stop(c->watch);
    c->watch = NULL;
    al_close(&c->fd);
    al_buf_free(&c->in);
}

static void send_text(struct client *c, const char *text)
{
    assert_int_equal(al_fd_write_all(c->fd, al_str_of(text)), 0);
}

static bool has(struct client *c, const char *text)
{
    return al_str_find(al_buf_str(&c->in), al_str_of(text)) >= 0;
}

/* Turns the loop until the condition holds; fails at the deadline. */
#define WAIT_FOR(w, condition)                                          \
    do {                                                                \
        uint64_t end_ = al_mono_ms() + LIMIT_MS;                        \
        while (!(condition)) {                                          \
            if (al_mono_ms() > end_)                                    \
                fail_msg("line %d: in vain: %s", __LINE__, #condition); \
            (w)->changed = false;                                       \
            al_loop_run_until((w)->loop, &(w)->changed, 50);            \
        }                                                               \
    } while (0)

static int count(struct client *c, const char *text)
{
    struct al_str s = al_buf_str(&c->in);
    int n = 0;
    for (ptrdiff_t at; (at = al_str_find(s, al_str_of(text))) >= 0; n++)
        s = (struct al_str){s.p + at + 1, s.n - (size_t)at - 1};
    return n;
}

static void answers_with_head_and_body(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    WAIT_FOR(&w, has(&c, "\r\n\r\nhello"));
    assert_true(has(&c, "HTTP/1.1 200 OK\r\n"));
    assert_string_equal(w.path, "POST /mcp");
    assert_string_equal(w.host, "a/1");
    send_text(&c, "HEAD / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n"); /* the same connection */
    WAIT_FOR(&w, count(&c, "HTTP/1.1 ") == 2);
    assert_true(w.requests == 1 || strcmp(w.host, "a/2") == 0);
    client_close(&c);
    world_close(&w);
}

static void takes_chunks_and_pipelines(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(
        &c,
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
        "OPTIONS /b HTTP/1.1\r\nHost: a\r\n\r\n"
        "DELETE /c HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, count(&c, "HTTP/1.1 200") == 3);
    assert_true(has(&c, "\r\n\r\nabcdefg"));
    assert_string_equal(w.path, "DELETE /c");
    client_close(&c);
    world_close(&w);
}

static void answers_later_and_in_order(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\nGET /two HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, w.kept);
    assert_int_equal(w.requests, 1);
    reply_body(w.kept, 202, AL_STR("late"));
    WAIT_FOR(&w, count(&c, "HTTP/1.1 ") == 2);
    assert_true(has(&c, "HTTP/1.1 202 "));
    assert_int_equal(w.gone, 0);
    client_close(&c);
    world_close(&w);
}

static void tells_that_a_waiting_client_has_gone(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, w.kept);
    client_close(&c);
    WAIT_FOR(&w, w.gone == 1);
    world_close(&w);
    assert_int_equal(w.gone, 1);
}

static void answers_a_client_that_closed_its_half(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhalf");
    assert_int_equal(shutdown(c.fd, SHUT_WR), 0);
    WAIT_FOR(&w, c.ended);
    assert_true(has(&c, "\r\n\r\nhalf"));
    client_close(&c);
    /* A body that never comes to its end is no request. */
    client_open(&c, &w, true);
    send_text(&c, "POST /y HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
    assert_int_equal(shutdown(c.fd, SHUT_WR), 0);
    WAIT_FOR(&w, c.ended);
    assert_int_equal(w.requests, 1);
    client_close(&c);
    world_close(&w);
}

static void asks_for_the_body_when_the_client_waits(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    WAIT_FOR(&w, has(&c, "HTTP/1.1 100 "));
    send_text(&c, "body");
    WAIT_FOR(&w, has(&c, "\r\n\r\nbody"));
    client_close(&c);
    client_open(&c, &w, true);
    send_text(&c, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\nExpect: 100-continue\r\n\r\n");
    WAIT_FOR(&w, c.ended);
    assert_true(has(&c, "HTTP/1.1 413 "));
    assert_false(has(&c, "HTTP/1.1 100 "));
    client_close(&c);
    world_close(&w);
}

static void refuses_a_large_body_without_holding_it(void **state)
{
    struct world w;
    struct client c;
    char piece[1000];
    (void)state;
    memset(piece, 'x', sizeof piece);
    for (int chunked = 0; chunked < 2; chunked++) {
        world_open(&w, NULL);
        client_open(&c, &w, true);
        send_text(&c, chunked ? "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                              : "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n");
        for (int i = 0; i < 300; i++) {
            if (chunked)
                send_text(&c, "3e8\r\n");
            assert_int_equal(al_fd_write_all(c.fd, (struct al_str){piece, sizeof piece}), 0);
            if (chunked)
                send_text(&c, "\r\n");
            w.changed = true;
            al_loop_run_until(w.loop, &w.changed, 1);
        }
        if (chunked)
            send_text(&c, "0\r\n\r\n");
        WAIT_FOR(&w, has(&c, "HTTP/1.1 413 "));
        assert_int_equal(w.requests, 0);
        client_close(&c);
        world_close(&w);
    }
}

static void refuses_by_the_head_without_holding_the_body(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    WAIT_FOR(&w, c.ended);
    assert_true(has(&c, "HTTP/1.1 401 ") && !has(&c, "HTTP/1.1 100 "));
    client_close(&c);
    client_open(&c, &w, true);
    send_text(
        &c,
        "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, count(&c, "HTTP/1.1 ") == 2); /* the connection goes on behind the body */
    assert_true(has(&c, "HTTP/1.1 401 ") && has(&c, "HTTP/1.1 200 "));
    assert_int_equal(w.requests, 1);
    client_close(&c);
    world_close(&w);
}

/* Until the server has nothing more to do: the bytes that were sent over loopback are with it. */
static void turn_a_little(struct world *w)
{
    for (int i = 0; i < 20; i++) {
        w->changed = false;
        al_loop_run_until(w->loop, &w->changed, 1);
    }
}

static void bounds_all_bodies_together(void **state)
{
    struct world w;
    struct client first, second;
    (void)state;
    world_open(&w, &(struct al_httpd_opts){.max_body = 1000, .max_bodies = 1500});
    client_open(&first, &w, true);
    client_open(&second, &w, true);
    char body[1001];
    memset(body, 'b', sizeof body - 1);
    body[sizeof body - 1] = 0;
    const char head[] = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n";
    send_text(&first, head);
    send_text(&first, body + 100);
    turn_a_little(&w);
    send_text(&second, head);
    send_text(&second, body);
    WAIT_FOR(&w, has(&second, "HTTP/1.1 503 "));
    send_text(&first, body + 900);
    WAIT_FOR(&w, has(&first, "HTTP/1.1 200 "));
    send_text(&first, "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    send_text(&first, body);
    WAIT_FOR(&w, count(&first, "HTTP/1.1 200 ") == 2); /* there is room again */
    client_close(&first);
    client_close(&second);
    world_close(&w);
}

static void refuses_heads_that_are_wrong(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } bad[] = {
#define BAD(t) {t, sizeof(t) - 1}
        BAD("GET / HTTP/1.1\r\n\r\n"), /* no Host */
        BAD("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        BAD("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        BAD("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nab"),
        BAD("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n"),
        BAD("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        BAD("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        BAD("\x16\x03\x01\x02\r\n\r\n"),
#undef BAD
    };
    struct world w;
    (void)state;
    world_open(&w, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct client c;
        client_open(&c, &w, true);
        assert_int_equal(al_fd_write_all(c.fd, (struct al_str){bad[i].text, bad[i].n}), 0);
        (void)shutdown(c.fd, SHUT_WR);
        WAIT_FOR(&w, c.ended);
        if (has(&c, "HTTP/1.1 200"))
            fail_msg("head %zu was taken", i);
        client_close(&c);
    }
    assert_int_equal(w.requests, 0);
    struct client c;
    client_open(&c, &w, true);
    send_text(&c, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    for (int i = 0; i < 40; i++) {
        char piece[1025];
        memset(piece, 'x', sizeof piece - 1);
        piece[sizeof piece - 1] = 0;
        if (al_fd_write_all(c.fd, al_str_of(piece)) < 0)
            break;
    }
    WAIT_FOR(&w, c.ended);
    assert_true(has(&c, "HTTP/1.1 431"));
    assert_int_equal(w.requests, 0);
    client_close(&c);
    world_close(&w);
}

static void streams_piece_by_piece(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, has(&c, "\r\n\r\n"));
    assert_true(has(&c, "Content-Type: text/event-stream"));
    assert_int_equal(al_httpd_stream_write(w.streams[0], AL_STR("one")), 0);
    WAIT_FOR(&w, has(&c, "one"));
    assert_int_equal(al_httpd_stream_write(w.streams[0], AL_STR("two")), 0);
    assert_int_equal(al_httpd_stream_write(w.streams[0], AL_STR("three")), 0);
    al_httpd_stream_close(w.streams[0]);
    WAIT_FOR(&w, has(&c, "\r\n0\r\n\r\n"));
    assert_true(has(&c, "three"));
    send_text(&c, "GET /again HTTP/1.1\r\nHost: a\r\n\r\n"); /* the connection lives */
    WAIT_FOR(&w, count(&c, "HTTP/1.1 200") == 2);
    assert_int_equal(w.closed, 0);
    client_close(&c);
    world_close(&w);
}

static void tells_that_a_reader_has_gone(void **state)
{
    struct world w;
    struct client c;
    (void)state;
    world_open(&w, NULL);
    client_open(&c, &w, true);
    send_text(&c, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, has(&c, "\r\n\r\n"));
    client_close(&c);
    WAIT_FOR(&w, w.closed == 1);
    world_close(&w);
    assert_int_equal(w.closed, 1);
}

static void bounds_what_waits_for_a_slow_reader(void **state)
{
    struct world w;
    struct client c;
    char piece[8192];
    size_t written = 0;
    (void)state;
    memset(piece, 'x', sizeof piece);
    world_open(&w, NULL);
    client_open(&c, &w, false);
    send_text(&c, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, w.n_streams == 1);
    while (al_httpd_stream_write(w.streams[0], (struct al_str){piece, sizeof piece}) == 0) {
        written += sizeof piece;
        assert_true(written < (64u << 20));
        w.changed = false;
        al_loop_run_until(w.loop, &w.changed, 1);
    }
    assert_true(al_httpd_stream_queued(w.streams[0]) <= 256 * 1024);
    al_httpd_stream_abort(w.streams[0]);
    /* What the kernel holds comes, and then the connection's end. */
    ssize_t n;
    do {
        w.changed = false;
        al_loop_run_until(w.loop, &w.changed, 1);
        n = recv(c.fd, piece, sizeof piece, MSG_DONTWAIT);
    } while (n > 0 || (n < 0 && errno == EAGAIN));
    assert_int_equal(w.closed, 0);
    client_close(&c);
    world_close(&w);
}

static uint64_t cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void rests_with_a_hundred_open_streams(void **state)
{
    static struct client c[100];
    struct world w;
    bool never = false;
    (void)state;
    world_open(&w, NULL);
    for (int i = 0; i < 100; i++) {
        client_open(&c[i], &w, true);
        send_text(&c[i], "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    for (int i = 0; i < 100; i++)
        WAIT_FOR(&w, has(&c[i], "\r\n\r\n"));
    /* A reader that takes nothing must not be asked in a circle, either. */
    struct client slow;
    client_open(&slow, &w, false);
    send_text(&slow, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, w.n_streams == 101);
    autofree char *much = al_xcalloc(1, 256 * 1024);
    for (int i = 0; i < 100; i++) {
        if (al_httpd_stream_write(w.streams[100], (struct al_str){much, 64 * 1024}) < 0)
            break;
        al_loop_run_until(w.loop, &never, 5);
    }
    uint64_t before = cpu_us();
    al_loop_run_until(w.loop, &never, 1000);
    uint64_t used = cpu_us() - before;
    if (used > 50000)
        fail_msg("a quiet second cost %llu us", (unsigned long long)used);
    for (int i = 0; i < 100; i++)
        assert_int_equal(al_httpd_stream_write(w.streams[i], AL_STR("hello")), 0);
    for (int i = 0; i < 100; i++)
        WAIT_FOR(&w, has(&c[i], "hello"));
    for (int i = 0; i < 100; i++)
        client_close(&c[i]);
    WAIT_FOR(&w, w.closed == 100);
    client_close(&slow);
    world_close(&w);
}

static void stops_with_everything_open(void **state)
{
    static struct client c[21];
    struct world w;
    (void)state;
    world_open(&w, NULL);
    for (int i = 0; i < 20; i++) {
        client_open(&c[i], &w, true);
        send_text(&c[i], i % 2 ? "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"
                               : "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    WAIT_FOR(&w, w.requests == 20);
    assert_int_equal(al_httpd_stream_write(w.streams[0], AL_STR("unsent")), 0);
    client_open(&c[20], &w, true);
    send_text(&c[20], "GET /stop HTTP/1.1\r\nHost: a\r\n\r\n"); /* from within a request */
    for (int i = 0; i < 21; i++) {
        WAIT_FOR(&w, c[i].ended);
        client_close(&c[i]);
    }
    assert_null(w.d);
    assert_int_equal(w.gone + w.closed, 0);
    world_close(&w);
}

static void closes_what_says_nothing(void **state)
{
    struct world w;
    struct client idle, waiting, stream;
    (void)state;
    world_open(&w, &(struct al_httpd_opts){.max_body = 1000, .idle_s = 1});
    client_open(&idle, &w, true);
    client_open(&waiting, &w, true);
    client_open(&stream, &w, true);
    send_text(&idle, "GET / HTT");
    send_text(&waiting, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    send_text(&stream, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, idle.ended && w.requests == 2);
    assert_false(waiting.ended);
    assert_false(stream.ended);
    client_close(&idle);
    client_close(&waiting);
    client_close(&stream);
    world_close(&w);
}

/* Never longer than that, however busily it writes its head. */
static void drips(struct client *c)
{
    uint64_t end = al_mono_ms() + LIMIT_MS;
    while (!c->ended) {
        assert_true(al_mono_ms() < end);
        (void)!send(c->fd, "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        al_loop_run_until(c->w->loop, &c->ended, 5);
    }
}

static void a_stranger_has_a_short_time(void **state)
{
    struct world w;
    struct client slow, refused, known, waiting;
    (void)state;
    world_open(&w, &(struct al_httpd_opts){.max_body = 1000, .max_strangers = 10, .stranger_ms = 300});
    client_open(&known, &w, true);
    client_open(&waiting, &w, true);
    send_text(&known, "GET /a HTTP/1.1\r\nHost: a\r\nX-Known: 1\r\n\r\n");
    send_text(&waiting, "GET /wait HTTP/1.1\r\nHost: a\r\nX-Known: 1\r\n\r\n");
    WAIT_FOR(&w, w.requests == 2);
    client_open(&slow, &w, true);
    client_open(&refused, &w, true);
    send_text(&refused, "GET /refuse HTTP/1.1\r\nHost: a\r\n\r\n");
    send_text(&slow, "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ");
    WAIT_FOR(&w, has(&refused, "401"));
    drips(&slow);
    WAIT_FOR(&w, refused.ended);
    assert_false(known.ended || waiting.ended);
    send_text(&known, "GET /again HTTP/1.1\r\nHost: a\r\n\r\n");
    WAIT_FOR(&w, w.requests == 3 && count(&known, "200 OK") == 2);
    client_close(&slow);
    client_close(&refused);
    client_close(&known);
    client_close(&waiting);
    world_close(&w);
}

static size_t n_ended(const struct client *c, size_t n)
{
    size_t ended = 0;
    for (size_t i = 0; i < n; i++)
        ended += c[i].ended;
    return ended;
}

/* However many connect and say nothing: who is known gets in, and stays. */
static void strangers_make_room_and_hasten(void **state)
{
    struct world w;
    struct client many[100], known, late;
    (void)state;
    world_open(&w, &(struct al_httpd_opts){
                       .max_body = 1000, .max_strangers = 8, .max_connections = 40, .stranger_ms = 10000});
    client_open(&known, &w, true);
    send_text(&known, "GET /a HTTP/1.1\r\nHost: a\r\nX-Known: 1\r\n\r\n");
    WAIT_FOR(&w, has(&known, "200 OK"));
    for (size_t i = 0; i < 100; i++) {
        client_open(&many[i], &w, true);
        send_text(&many[i], "POST / HTTP/1.1\r\nHost: a\r\nX:");
    }
    client_open(&late, &w, true);
    send_text(&late, "GET /late HTTP/1.1\r\nHost: a\r\nX-Known: 1\r\n\r\n");
    WAIT_FOR(&w, has(&late, "200 OK"));
    WAIT_FOR(&w, n_ended(many, 100) >= 92);
    assert_false(known.ended || late.ended);
    for (size_t i = 0; i < 100; i++)
        client_close(&many[i]);
    client_close(&known);
    client_close(&late);
    world_close(&w);
}

/* A client may open many connections before it speaks on the first of them. */
static void many_that_speak_soon_are_all_heard(void **state)
{
    struct world w;
    struct client many[100];
    (void)state;
    world_open(&w, &(struct al_httpd_opts){
                       .max_body = 1000, .max_strangers = 8, .max_connections = 150, .stranger_ms = 600000});
    for (size_t i = 0; i < 100; i++)
        client_open(&many[i], &w, true);
    al_loop_run_until(w.loop, &w.changed, 20);
    for (size_t i = 0; i < 100; i++)
        send_text(&many[i], "GET / HTTP/1.1\r\nHost: a\r\nX-Known: 1\r\n\r\n");
    for (size_t i = 0; i < 100; i++) {
        WAIT_FOR(&w, has(&many[i], "200 OK"));
        client_close(&many[i]);
    }
    world_close(&w);
}

static void port_taken_is_busy(void **state)
{
    struct world w, other = {0};
    struct al_err err;
    (void)state;
    world_open(&w, NULL);
    struct al_httpd_opts o = {.port = al_httpd_port(w.d), .max_body = 10};
    assert_null(al_httpd_start(w.loop, &o, &ops, &other, &err));
    assert_int_equal(err.code, AL_BUSY);
    world_close(&w);
}

static int unix_client(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void serves_a_private_unix_socket(void **state)
{
    char dir[] = "/tmp/alisio-httpd-XXXXXX", path[64];
    struct al_err err;
    struct stat st;
    struct world w, other = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/mcp.sock", dir);
    struct al_httpd_opts o = {.port = -1, .socket_path = path, .max_body = 1000};
    world_open(&w, &o);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    struct client c = {.w = &w, .fd = unix_client(path), .in = AL_BUF_INIT(10000)};
    c.watch = al_watch_start(w.loop, c.fd, AL_READABLE, on_readable, &c, &err);
    send_text(&c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nunix");
    WAIT_FOR(&w, has(&c, "\r\n\r\nunix"));
    assert_null(al_httpd_start(w.loop, &o, &ops, &other, &err));
    assert_int_equal(err.code, AL_BUSY);
    client_close(&c);
    world_close(&w);
    assert_int_equal(lstat(path, &st), -1);

    /* A socket that a killed server left is replaced; another file is not. */
    int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(stale, (struct sockaddr *)&a, sizeof a), 0);
    close(stale);
    world_open(&w, &o);
    world_close(&w);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    close(fd);
    w.loop = al_loop_new();
    assert_null(al_httpd_start(w.loop, &o, &ops, &other, &err));
    assert_int_equal(err.code, AL_INVALID_INPUT);
    al_loop_free(w.loop);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void another_user_does_not_get_in(void **state)
{
    char dir[] = "/tmp/alisio-httpd-XXXXXX", path[64];
    struct al_err err;
    struct world w;
    (void)state;
    if (geteuid() != 0)
        skip(); /* who else could one be */
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/mcp.sock", dir);
    world_open(&w, &(struct al_httpd_opts){.port = -1, .socket_path = path, .max_body = 1000});
    assert_int_equal(chmod(dir, 0755) | chmod(path, 0666), 0);
    assert_int_equal(seteuid(65534), 0);
    int fd = unix_client(path);
    assert_int_equal(seteuid(0), 0);
    struct client c = {.w = &w, .fd = fd, .in = AL_BUF_INIT(10000)};
    (void)!al_fd_write_all(c.fd, AL_STR("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    c.watch = al_watch_start(w.loop, c.fd, AL_READABLE, on_readable, &c, &err);
    WAIT_FOR(&w, c.ended);
    assert_int_equal(w.requests, 0);
    assert_int_equal(c.in.n, 0);
    client_close(&c);
    world_close(&w);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_with_head_and_body),
        cmocka_unit_test(takes_chunks_and_pipelines),
        cmocka_unit_test(answers_later_and_in_order),
        cmocka_unit_test(tells_that_a_waiting_client_has_gone),
        cmocka_unit_test(answers_a_client_that_closed_its_half),
        cmocka_unit_test(asks_for_the_body_when_the_client_waits),
        cmocka_unit_test(refuses_a_large_body_without_holding_it),
        cmocka_unit_test(refuses_by_the_head_without_holding_the_body),
        cmocka_unit_test(bounds_all_bodies_together),
        cmocka_unit_test(refuses_heads_that_are_wrong),
        cmocka_unit_test(streams_piece_by_piece),
        cmocka_unit_test(tells_that_a_reader_has_gone),
        cmocka_unit_test(bounds_what_waits_for_a_slow_reader),
        cmocka_unit_test(rests_with_a_hundred_open_streams),
        cmocka_unit_test(stops_with_everything_open),
        cmocka_unit_test(closes_what_says_nothing),
        cmocka_unit_test(a_stranger_has_a_short_time),
        cmocka_unit_test(strangers_make_room_and_hasten),
        cmocka_unit_test(many_that_speak_soon_are_all_heard),
        cmocka_unit_test(port_taken_is_busy),
        cmocka_unit_test(serves_a_private_unix_socket),
        cmocka_unit_test(another_user_does_not_get_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
