/* The HTTP client against a server on loopback. */
#include "http_peer.h"
#include "os_help.h"

#include "http/client_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define LIMIT_MS 20000

enum act {
    NOTHING,
    CANCEL,
    PAUSE,
    ENOUGH
};

struct got {
    struct al_loop *loop;
    struct al_http_client *c;
    struct al_http *h;
    int status, heads, dones;
    char url[300], type[100], charset[100], x[100];
    struct al_buf body;
    struct al_err err;
    enum act at_head, at_body;
    bool done, stopped;
};

static void act(struct got *g, enum act a)
{
    if (a == CANCEL) {
        al_http_cancel(g->h);
        g->h = NULL;
        g->stopped = true;
    }
    if (a == PAUSE) {
        al_http_pause(g->h, true);
        g->stopped = true;
    }
}

static void on_head(void *ud, const struct al_http_head *head)
{
    struct got *g = ud;
    assert_false(g->stopped);
    g->heads++;
    g->status = head->status;
    snprintf(g->url, sizeof(g->url), "%s", head->url);
    snprintf(g->type, sizeof(g->type), "%s", head->content_type);
    snprintf(g->charset, sizeof(g->charset), "%s", head->charset);
    const char *x = g->h ? al_http_header(g->h, "X-VALUE") : NULL; /* of several, another may have ended */
    snprintf(g->x, sizeof(g->x), "%s", x ? x : "(none)");
    act(g, g->at_head);
}

static bool on_body(void *ud, struct al_str bytes)
{
    struct got *g = ud;
    assert_false(g->stopped);
    al_buf_add_str(&g->body, bytes);
    act(g, g->at_body);
    return g->at_body != ENOUGH;
}

static void on_done(void *ud, const struct al_err *err)
{
    struct got *g = ud;
    assert_false(g->stopped);
    g->dones++;
    g->err = *err;
    g->h = NULL;
    g->done = true;
}

static const struct al_http_ops ops = {.head = on_head, .body = on_body, .done = on_done};

static void got_open(struct got *g)
{
    *g = (struct got){.body = AL_BUF_INIT(64 << 20)};
    g->loop = al_loop_new();
    g->c = al_http_client_new(g->loop);
}

static void got_close(struct got *g)
{
    al_http_client_free(g->c);
    al_loop_free(g->loop);
    al_buf_free(&g->body);
}

static void got_reset(struct got *g)
{
    struct got keep = *g;
    al_buf_free(&g->body);
    *g = (struct got){.body = AL_BUF_INIT(64 << 20), .loop = keep.loop, .c = keep.c};
}

static void begin(struct got *g, const struct al_http_request *r)
{
    struct al_err err;
    g->h = al_http_start(g->c, r, &ops, g, &err);
    if (!g->h)
        fail_msg("%s", err.msg);
    assert_int_equal(g->dones, 0);
}

static void fetch(struct got *g, const struct al_http_request *r)
{
    begin(g, r);
    assert_true(al_loop_run_until(g->loop, &g->done, LIMIT_MS));
    assert_int_equal(g->dones, 1);
}

static char *url_of(const struct peer *p, const char *path)
{
    static char url[8][300];
    static unsigned n;
    char *u = url[n++ % 8];
    snprintf(u, 300, "http://127.0.0.1:%d%s", p->port, path);
    return u;
}

static bool echo(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    return peer_answer(
        fd, "200 OK",
        "Content-Type: Text/HTML ; a=b; Charset=\"UTF-8\"\r\nX-Value:  one \r\nx-value: two\r\n",
        al_str_of(request));
}

static void a_request_says_what_was_asked_and_the_answer_comes_whole(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, echo, NULL);
    got_open(&g);
    const char *headers[] = {"X-Ours: yes", "X-Empty:", NULL};
    fetch(&g, &(struct al_http_request){.url = url_of(&p, "/a b?c=d#e"), .headers = headers});
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(g.status, 200);
    assert_int_equal(g.heads, 1);
    assert_string_equal(g.type, "text/html");
    assert_string_equal(g.charset, "utf-8");
    assert_string_equal(g.x, "one");
    al_buf_addc(&g.body, 0);
    assert_true(strstr(g.body.p, "GET /a%20b?c=d HTTP/1.1\r\n") == g.body.p);
    assert_string_equal(peer_header(g.body.p, "x-ours"), "yes");
    assert_non_null(strstr(g.body.p, "\r\nX-Empty:\r\n"));
    assert_true(strncmp(peer_header(g.body.p, "user-agent"), "alisio/", 7) == 0);

    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = url_of(&p, "/"), .body = AL_STR("{\"a\":1}")});
    al_buf_addc(&g.body, 0);
    assert_true(strncmp(g.body.p, "POST / HTTP/1.1\r\n", 17) == 0);
    assert_string_equal(peer_body(g.body.p), "{\"a\":1}");
    assert_null(strstr(g.body.p, "Expect:"));
    assert_null(strstr(g.body.p, "Content-Type:"));

    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = url_of(&p, "/"), .method = "DELETE"});
    al_buf_addc(&g.body, 0);
    assert_true(strncmp(g.body.p, "DELETE / HTTP/1.1\r\n", 19) == 0);
    assert_int_equal(p.n_conn, 1); /* kept open between requests */
    got_close(&g);
    peer_stop(&p);
}

static void what_is_no_request_is_refused_at_once(void **state)
{
    (void)state;
    struct got g;
    got_open(&g);
    static const char *const urls[] = {"",
                                       "example.org",
                                       "ftp://example.org/",
                                       "file:///etc/passwd",
                                       "http://",
                                       "http://a b/",
                                       "http://[::1",
                                       "javascript:1",
                                       "gopher://x/",
                                       NULL};
    struct al_err err;
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
        assert_null(al_http_start(g.c, &(struct al_http_request){.url = urls[i]}, &ops, &g, &err));
        assert_int_equal(err.code, AL_INVALID_INPUT);
        assert_true(err.hint[0]);
    }
    static const char *const headers[] = {"NoColon", ": x", "A b: c", "A: b\r\nC: d", "A: \x01", ""};
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
        const char *list[] = {headers[i], NULL};
        assert_null(al_http_start(g.c, &(struct al_http_request){.url = "http://x.test/", .headers = list},
                                  &ops, &g, &err));
        assert_int_equal(err.code, AL_INVALID_INPUT);
    }
    assert_null(al_http_start(g.c, &(struct al_http_request){.url = "http://x.test/", .method = "A B"}, &ops,
                              &g, &err));
    assert_int_equal(err.code, AL_INVALID_INPUT);
    got_close(&g);
}

static void failures_are_said_in_a_persons_words(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, echo, NULL);
    got_open(&g);
    char *url = url_of(&p, "/secret-path");
    peer_stop(&p);
    fetch(&g, &(struct al_http_request){.url = url});
    assert_int_equal(g.err.code, AL_UPSTREAM_UNAVAILABLE);
    assert_non_null(strstr(g.err.msg, "127.0.0.1 refuses connections at port"));
    assert_null(strstr(g.err.msg, "secret"));
    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = "http://no-such-name.invalid/secret"});
    assert_int_equal(g.err.code, AL_UPSTREAM_UNAVAILABLE);
    assert_string_equal(g.err.msg, "the name no-such-name.invalid cannot be resolved");
    got_close(&g);
}

static bool odd_ends(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    if (strstr(request, "GET /nothing"))
        return false;
    if (strstr(request, "GET /noise")) {
        peer_say(fd, "SSH-2.0-x\r\n\r\n");
        return false;
    }
    if (strstr(request, "GET /half")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        return false;
    }
    if (strstr(request, "GET /br")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd");
        return true;
    }
    if (strstr(request, "GET /twice")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n"
                     "Content-Length: 4\r\n\r\nabcd");
        return true;
    }
    if (strstr(request, "GET /early")) {
        peer_say(fd, "HTTP/1.1 103 Early Hints\r\nContent-Encoding: gzip\r\n\r\n"
                     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd");
        return true;
    }
    if (strstr(request, "GET /transfer")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n");
        return true;
    }
    if (strstr(request, "GET /badgzip")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd");
        return true;
    }
    if (strstr(request, "GET /flood")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\n");
        for (int i = 0; peer_say(fd, "X-A%d: 0123456789\r\n", i); i++)
            ;
    }
    if (strstr(request, "GET /line")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nX-Long: ");
        while (peer_say(fd, "0123456789012345678901234567890123456789"))
            ;
    }
    if (strstr(request, "GET /hints"))
        peer_say(fd,
                 "HTTP/1.1 103 Early Hints\r\nX-Value: early\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nX-Value: late\r\nTransfer-Encoding: chunked\r\nTrailer: X-Value\r\n\r\n"
                 "3\r\nabc\r\n0\r\nX-Value: trailer\r\n\r\n");
    if (strstr(request, "GET /silent"))
        peer_wait_closed(fd);
    if (strstr(request, "GET /stall")) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        peer_wait_closed(fd);
    }
    return true;
}

static void odd_answers_end_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum al_code code;
        const char *says;
    } cases[] = {
        {"/nothing", AL_UPSTREAM_UNAVAILABLE, "closed the connection without an answer"},
        {"/noise", AL_UPSTREAM_UNAVAILABLE, "does not speak HTTP"},
        {"/half", AL_UPSTREAM_UNAVAILABLE, "broke in the middle of the answer"},
        {"/br", AL_UPSTREAM_UNAVAILABLE, "packed"},
        {"/twice", AL_UPSTREAM_UNAVAILABLE, "packed its answer in a way that was not asked for"},
        {"/early", AL_UPSTREAM_UNAVAILABLE, "packed its answer in a way that was not asked for"},
        {"/transfer", AL_UPSTREAM_UNAVAILABLE, "packed"},
        {"/badgzip", AL_UPSTREAM_UNAVAILABLE, "packed wrongly"},
        {"/flood", AL_RESULT_TOO_LARGE, "head"},
        {"/line", AL_RESULT_TOO_LARGE, "head"},
        {"/hints", AL_OK, ""},
    };
    struct peer p;
    struct got g;
    peer_start(&p, odd_ends, NULL);
    got_open(&g);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        got_reset(&g);
        fetch(&g, &(struct al_http_request){.url = url_of(&p, cases[i].path)});
        if (g.err.code != cases[i].code || !strstr(g.err.msg, cases[i].says))
            fail_msg("%s: %d %s", cases[i].path, g.err.code, g.err.msg);
    }
    assert_string_equal(g.x, "late");
    assert_true(al_str_is(al_buf_str(&g.body), "abc"));
    got_close(&g);
    peer_stop(&p);
}

static void limits_of_time_end_a_request(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, odd_ends, NULL);
    got_open(&g);
    fetch(&g, &(struct al_http_request){.url = url_of(&p, "/silent"), .total_ms = 50});
    assert_int_equal(g.err.code, AL_TIMEOUT);
    assert_string_equal(g.err.msg, "127.0.0.1 gave no answer within 0.05 s");
    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = url_of(&p, "/stall"), .total_ms = 50});
    assert_string_equal(g.err.msg, "the answer of 127.0.0.1 was not complete within 0.05 s");
    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = url_of(&p, "/stall"), .idle_ms = 50});
    assert_int_equal(g.err.code, AL_TIMEOUT);
    assert_string_equal(g.err.msg, "127.0.0.1 sent nothing for 0.05 s");
    assert_int_equal(g.heads, 1);
    got_close(&g);
    peer_stop(&p);
}

static bool long_body(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    static char block[100000];
    memset(block, 'x', sizeof(block));
    if (strstr(request, "GET /silent"))
        peer_wait_closed(fd);
    if (!peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n"))
        return false;
    for (int i = 0; i < 100; i++)
        if (!peer_write(fd, block, sizeof(block)))
            return false;
    return true;
}

static void turn_the_loop(struct got *g, uint64_t ms)
{
    bool never = false;
    al_loop_run_until(g->loop, &never, ms);
}

static void a_request_can_be_cancelled_in_each_callback(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, long_body, NULL);
    got_open(&g);
    for (int when = 0; when < 4; when++) {
        struct al_http_request r = {.url = url_of(&p, when < 2 ? "/silent" : "/")};
        got_reset(&g);
        g.at_head = when == 2 ? CANCEL : NOTHING;
        g.at_body = when == 3 ? CANCEL : NOTHING;
        begin(&g, &r);
        if (when == 1)
            turn_the_loop(&g, 20);
        if (when < 2)
            act(&g, CANCEL);
        else
            assert_true(al_loop_run_until(g.loop, &g.stopped, LIMIT_MS));
        turn_the_loop(&g, 20);
        assert_int_equal(g.dones, 0);
        assert_int_equal(g.heads, when >= 2);
    }
    got_close(&g);
    peer_stop(&p);
}

static void enough_ends_it_well_and_a_pause_holds_everything_back(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, long_body, NULL);
    got_open(&g);
    struct al_http_request r = {.url = url_of(&p, "/"), .idle_ms = 10000};
    g.at_body = ENOUGH;
    fetch(&g, &r);
    assert_int_equal(g.err.code, AL_OK);
    assert_true(g.body.n > 0 && g.body.n < 1000000);
    for (int when = 0; when < 2; when++) {
        got_reset(&g);
        g.at_head = when ? NOTHING : PAUSE;
        g.at_body = when ? PAUSE : NOTHING;
        begin(&g, &r);
        assert_true(al_loop_run_until(g.loop, &g.stopped, LIMIT_MS));
        turn_the_loop(&g, 50);
        assert_false(g.done);
        assert_true(g.body.n < 100000);
        g.at_head = g.at_body = NOTHING;
        g.stopped = false;
        al_http_pause(g.h, false);
        assert_true(al_loop_run_until(g.loop, &g.done, LIMIT_MS));
        assert_int_equal(g.err.code, AL_OK);
        assert_int_equal(g.body.n, 10000000);
    }
    got_close(&g);
    peer_stop(&p);
}

static void the_client_can_be_freed_with_requests_open(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, odd_ends, NULL);
    got_open(&g);
    for (int i = 0; i < 10; i++)
        begin(&g, &(struct al_http_request){.url = url_of(&p, "/stall"), .idle_ms = 5000, .total_ms = 6000});
    turn_the_loop(&g, 30);
    begin(&g, &(struct al_http_request){.url = url_of(&p, "/silent")});
    begin(&g, &(struct al_http_request){.url = "http://no-such-name.invalid/"});
    turn_the_loop(&g, 1);
    got_close(&g);
    peer_stop(&p);
}

struct hops {
    int status;
    const char *to;
    struct al_buf seen; /* method and headers of each request */
};

static bool hop(struct peer *p, int fd, const char *request, unsigned n)
{
    struct hops *h = p->ud;
    (void)n;
    al_buf_addf(&h->seen, "%.*s auth=%s accept=%s type=%s body=%s;", (int)strcspn(request, " "), request,
                peer_header(request, "authorization"), peer_header(request, "accept"),
                peer_header(request, "content-type"), peer_body(request));
    if (!h->to || strstr(request, " /end"))
        return peer_answer(fd, "200 OK", "", AL_STR("end"));
    char head[300], status[30];
    snprintf(head, sizeof(head), "Location: %s\r\n", h->to);
    snprintf(status, sizeof(status), "%d Redirect", h->status);
    return peer_answer(fd, status, head, AL_STR("not for you"));
}

static const char *const secrets[] = {"Authorization: Bearer s3cret", "Accept: text/x",
                                      "Content-Type: text/y", NULL};

static void redirect_case(int status, const char *method, bool away, const char *first, const char *second)
{
    struct hops a = {.status = status, .seen = AL_BUF_INIT(10000)}, b = {.seen = AL_BUF_INIT(10000)};
    struct peer pa, pb;
    struct got g;
    peer_start(&pa, hop, &a);
    peer_start(&pb, hop, &b);
    a.to = away ? url_of(&pb, "/end") : "/end";
    got_open(&g);
    struct al_str body = strcmp(method, "POST") == 0 ? AL_STR("B") : AL_STR("");
    fetch(
        &g,
        &(struct al_http_request){
            .url = url_of(&pa, "/"), .method = method, .body = body, .headers = secrets, .max_redirects = 3});
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(g.status, 200);
    assert_int_equal(g.heads, 1);
    assert_string_equal(g.url, away ? a.to : url_of(&pa, "/end"));
    assert_true(al_str_is(al_buf_str(&g.body), "end"));
    autobuf struct al_buf all = AL_BUF_INIT(20000);
    al_buf_add_str(&all, al_buf_str(&a.seen));
    al_buf_addc(&all, '>');
    al_buf_add_str(&all, al_buf_str(&b.seen));
    al_buf_addc(&all, 0);
    char want[1000];
    snprintf(want, sizeof(want), "%s%s%s", first, away ? ">" : "", second);
    if (!away)
        strncat(want, ">", sizeof(want) - strlen(want) - 1);
    assert_string_equal(all.p, want);
    got_close(&g);
    peer_stop(&pa);
    peer_stop(&pb);
    al_buf_free(&a.seen);
    al_buf_free(&b.seen);
}

#define GET_OURS "GET auth=Bearer s3cret accept=text/x type=text/y body=;"
#define POST_OURS "POST auth=Bearer s3cret accept=text/x type=text/y body=B;"

static void headers_of_ours_stay_with_their_origin(void **state)
{
    (void)state;
    redirect_case(302, "GET", false, GET_OURS, GET_OURS);
    redirect_case(302, "GET", true, GET_OURS, "GET auth= accept=text/x type=text/y body=;");
    redirect_case(307, "POST", false, POST_OURS, POST_OURS);
    redirect_case(308, "POST", true, POST_OURS, "POST auth= accept=text/x type=text/y body=B;");
    redirect_case(303, "POST", false, POST_OURS, "GET auth=Bearer s3cret accept=text/x type= body=;");
    redirect_case(301, "POST", true, POST_OURS, "GET auth= accept=text/x type= body=;");
    redirect_case(301, "DELETE", false, "DELETE auth=Bearer s3cret accept=text/x type=text/y body=;",
                  "DELETE auth=Bearer s3cret accept=text/x type=text/y body=;");
}

static void redirects_have_an_end(void **state)
{
    (void)state;
    static const struct {
        const char *to;
        unsigned max;
        enum al_code code;
        int status;
    } cases[] = {
        {"/again", 5, AL_UPSTREAM_UNAVAILABLE, 0},   {"/again", 0, AL_OK, 302},
        {"ftp://x/", 5, AL_UPSTREAM_UNAVAILABLE, 0}, {"file:///etc/passwd", 5, AL_UPSTREAM_UNAVAILABLE, 0},
        {"http://[", 5, AL_UPSTREAM_UNAVAILABLE, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct hops h = {.status = 302, .to = cases[i].to, .seen = AL_BUF_INIT(100000)};
        struct peer p;
        struct got g;
        peer_start(&p, hop, &h);
        got_open(&g);
        fetch(&g, &(struct al_http_request){.url = url_of(&p, "/"), .max_redirects = cases[i].max});
        assert_int_equal(g.err.code, cases[i].code);
        assert_int_equal(g.status, cases[i].status);
        assert_true(p.n_requests <= cases[i].max + 1);
        got_close(&g);
        peer_stop(&p);
        al_buf_free(&h.seen);
    }
}

static void an_address_that_is_not_public_is_refused(void **state)
{
    (void)state;
    struct hops h = {.status = 302, .seen = AL_BUF_INIT(100000)};
    struct peer p;
    struct got g;
    peer_start(&p, hop, &h);
    got_open(&g);
    char localhost[100];
    snprintf(localhost, sizeof(localhost), "http://localhost:%d/", p.port);
    const char *urls[] = {url_of(&p, "/"), localhost, "http://[::1]/", "http://0x7f.1/",
                          "http://2130706433/"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
        got_reset(&g);
        fetch(&g, &(struct al_http_request){.url = urls[i], .public_only = true});
        assert_int_equal(g.err.code, AL_PERMISSION_DENIED);
        assert_non_null(strstr(g.err.msg, "is no address of the public internet"));
        assert_int_equal(strstr(g.err.msg, " is at ") != NULL, urls[i] == localhost);
    }
    assert_int_equal(p.n_conn, 0);
    got_close(&g);
    peer_stop(&p);
    al_buf_free(&h.seen);
}

static bool one_only(const struct sockaddr *a)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)a;
    return a->sa_family == AF_INET && in->sin_addr.s_addr == htonl(0x7f000001);
}

static void each_hop_and_each_connection_is_checked(void **state)
{
    (void)state;
    struct hops a = {.status = 302, .seen = AL_BUF_INIT(100000)}, b = {.seen = AL_BUF_INIT(100000)};
    struct peer pa, pb;
    struct got g;
    peer_start(&pa, hop, &a);
    peer_start_at(&pb, "127.0.0.2", 0, hop, &b);
    char inside[100];
    snprintf(inside, sizeof(inside), "http://127.0.0.2:%d/end", pb.port);
    a.to = inside;
    got_open(&g);
    g.c->is_public = one_only;
    /* A connection to it lies ready: it must not be used. */
    fetch(&g, &(struct al_http_request){.url = inside});
    assert_int_equal(g.err.code, AL_OK);
    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = url_of(&pa, "/"), .public_only = true, .max_redirects = 5});
    assert_int_equal(g.err.code, AL_PERMISSION_DENIED);
    assert_non_null(strstr(g.err.msg, "127.0.0.2"));
    assert_int_equal(g.heads, 0);
    assert_int_equal(pb.n_requests, 1);
    got_close(&g);
    peer_stop(&pa);
    peer_stop(&pb);
    al_buf_free(&a.seen);
    al_buf_free(&b.seen);
}

static void a_proxy_of_the_environment_is_used_and_names_are_checked_before(void **state)
{
    (void)state;
    struct hops h = {.seen = AL_BUF_INIT(100000)};
    struct peer p;
    struct got g;
    peer_start(&p, hop, &h);
    setenv("http_proxy", url_of(&p, ""), 1);
    setenv("no_proxy", "direct.test, 10.0.0.0/8", 1);
    got_open(&g);
    const char *headers[] = {"Authorization: Bearer s3cret", NULL};
    fetch(&g, &(struct al_http_request){.url = "http://192.0.2.7/", .headers = headers});
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(p.n_requests, 1);
    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = "http://192.0.2.7/", .public_only = true});
    assert_int_equal(g.err.code, AL_PERMISSION_DENIED);
    assert_non_null(strstr(g.err.msg, "192.0.2.7"));
    got_reset(&g);
    fetch(&g, &(struct al_http_request){.url = "http://93.184.215.14/", .public_only = true});
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(p.n_requests, 2);
    got_close(&g);
    peer_stop(&p);
    al_buf_free(&h.seen);
    unsetenv("http_proxy");
    unsetenv("no_proxy");
}

static void no_proxy_is_understood_as_people_write_it(void **state)
{
    (void)state;
    static const struct {
        const char *rules, *host, *port;
        bool proxy;
    } cases[] = {
        {"", "example.org", "80", true},
        {"*", "example.org", "80", false},
        {"example.org", "example.org", "80", false},
        {"example.org", "www.EXAMPLE.org", "80", false},
        {"example.org", "badexample.org", "80", true},
        {".example.org", "example.org", "80", false},
        {"*.example.org", "a.example.org", "80", false},
        {"a,example.org:8080", "example.org", "8080", false},
        {"a,example.org:8080", "example.org", "80", true},
        {"a example.org. b", "example.org", "80", false},
        {"10.0.0.0/8", "10.1.2.3", "80", false},
        {"10.0.0.0/8", "11.1.2.3", "80", true},
        {"10.0.0.0/8", "10.example.org", "80", true},
        {"192.0.2.1", "192.0.2.1", "80", false},
        {"2001:db8::/32", "[2001:db8::1]", "80", false},
        {"[2001:db8::1]:90", "[2001:db8::1]", "90", false},
        {"[2001:db8::1]:90", "[2001:db8::1]", "91", true},
        {"", "localhost", "80", false},
        {"", "a.localhost", "80", false},
        {"", "127.9.9.9", "80", false},
        {"", "[::1]", "80", false},
    };
    setenv("all_proxy", "http://proxy.test:3128", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        setenv("NO_PROXY", cases[i].rules, 1);
        autofree char *proxy = al_http_proxy_for("https", cases[i].host, cases[i].port);
        if ((proxy != NULL) != cases[i].proxy)
            fail_msg("%s against %s", cases[i].host, cases[i].rules);
    }
    unsetenv("all_proxy");
    unsetenv("NO_PROXY");
    setenv("HTTP_PROXY", "http://proxy.test", 1);
    assert_null(al_http_proxy_for("http", "example.org", "80"));
    unsetenv("HTTP_PROXY");
}

/* 100 MB of zeros, packed: its reader decides how much of it comes to be. */
static bool bomb(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)request;
    (void)n;
    struct al_str *packed = p->ud;
    return peer_answer(fd, "200 OK", "Content-Encoding: gzip\r\n", *packed);
}

/* Stored and repeated blocks of deflate, written by hand: one literal zero, then runs of 258 in fixed codes.
 */
static void pack_zeros(struct al_buf *out, size_t runs)
{
    al_buf_add(out, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    uint32_t bits = 0;
    unsigned n = 0;
#define PUT(value, width)                 \
    do {                                  \
        bits |= (uint32_t)(value) << n;   \
        n += (width);                     \
        while (n >= 8) {                  \
            al_buf_addc(out, (char)bits); \
            bits >>= 8;                   \
            n -= 8;                       \
        }                                 \
    } while (0)
    PUT(3, 3);    /* the last block, fixed codes */
    PUT(0x0c, 8); /* literal 0: 00110000, most significant bit first */
    for (size_t i = 0; i < runs; i++) {
        PUT(0xa3, 8); /* length 258: 11000101 */
        PUT(0, 5);    /* distance 1 */
    }
    PUT(0, 7); /* end */
    if (n)
        al_buf_addc(out, (char)bits);
    uint32_t crc = ~0u, size = (uint32_t)(1 + 258 * runs);
    for (uint32_t i = 0; i < size && runs < 100000; i++) /* nobody comes to the end of more */
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    crc = ~crc;
    for (unsigned i = 0; i < 32; i += 8)
        al_buf_addc(out, (char)(crc >> i));
    for (unsigned i = 0; i < 32; i += 8)
        al_buf_addc(out, (char)(size >> i));
}

static size_t memory_kb(void)
{
    char text[4096];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *second = strchr(text, ' ');
    return strtoul(second ? second : "0", NULL, 10) * 4;
}

static void a_packed_bomb_is_bounded_by_its_reader(void **state)
{
    (void)state;
    autobuf struct al_buf packed = AL_BUF_INIT(16 << 20);
    pack_zeros(&packed, 2000000); /* 516 MB out of 3.2 MB */
    struct al_str view = al_buf_str(&packed);
    struct peer p;
    struct got g;
    peer_start(&p, bomb, &view);
    got_open(&g);
    size_t before = memory_kb();
    g.at_body = PAUSE;
    begin(&g, &(struct al_http_request){.url = url_of(&p, "/")});
    assert_true(al_loop_run_until(g.loop, &g.stopped, LIMIT_MS));
    turn_the_loop(&g, 50);
    assert_true(g.body.n < 1000000);
    assert_true(memory_kb() < before + 64 * 1024);
    g.stopped = false;
    g.at_body = ENOUGH;
    al_http_pause(g.h, false);
    assert_true(al_loop_run_until(g.loop, &g.done, LIMIT_MS));
    assert_int_equal(g.err.code, AL_OK);
    assert_true(g.body.n < 1000000);
    got_close(&g);
    peer_stop(&p);
}

struct turns {
    struct got *g;
    struct al_timer *timer;
    size_t seen, most;
};

static void on_turn(void *ud)
{
    struct turns *t = ud;
    size_t now = t->g->body.n - t->seen;
    t->most = now > t->most ? now : t->most;
    t->seen = t->g->body.n;
    t->timer = t->g->done ? NULL : al_timer_start(t->g->loop, 0, on_turn, t);
}

/* A million bytes come out of six thousand: whatever else the loop has to do is done between. */
static void what_unpacks_to_much_comes_in_turns(void **state)
{
    (void)state;
    autobuf struct al_buf packed = AL_BUF_INIT(16 << 20);
    pack_zeros(&packed, 65000); /* 16.8 MB out of 105 kB */
    struct al_str view = al_buf_str(&packed);
    struct peer p;
    struct got g;
    peer_start(&p, bomb, &view);
    got_open(&g);
    struct turns t = {.g = &g};
    begin(&g, &(struct al_http_request){.url = url_of(&p, "/")});
    on_turn(&t);
    assert_true(al_loop_run_until(g.loop, &g.done, LIMIT_MS));
    al_timer_stop(t.timer);
    assert_int_equal(g.err.code, AL_OK);
    assert_int_equal(g.body.n, 1 + 258 * 65000);
    assert_true(t.most <= 3 << 20);
    got_close(&g);
    peer_stop(&p);
}

static void addresses_of_the_public_internet(void **state)
{
    (void)state;
    static const struct {
        const char *ip;
        bool is_public;
    } cases[] = {
        {"8.8.8.8", true},
        {"1.1.1.1", true},
        {"0.0.0.0", false},
        {"0.1.2.3", false},
        {"9.255.255.255", true},
        {"10.0.0.0", false},
        {"10.255.255.255", false},
        {"11.0.0.0", true},
        {"100.63.255.255", true},
        {"100.64.0.0", false},
        {"100.127.255.255", false},
        {"100.128.0.0", true},
        {"126.255.255.255", true},
        {"127.0.0.1", false},
        {"127.255.255.255", false},
        {"128.0.0.0", true},
        {"169.253.0.1", true},
        {"169.254.169.254", false},
        {"169.255.0.1", true},
        {"172.15.255.255", true},
        {"172.16.0.0", false},
        {"172.31.255.255", false},
        {"172.32.0.0", true},
        {"192.0.0.8", false},
        {"192.0.1.0", true},
        {"192.0.2.1", false},
        {"192.0.3.1", true},
        {"192.88.99.1", false},
        {"192.167.1.1", true},
        {"192.168.0.1", false},
        {"192.169.0.1", true},
        {"198.17.255.255", true},
        {"198.18.0.0", false},
        {"198.19.255.255", false},
        {"198.20.0.0", true},
        {"198.51.100.1", false},
        {"203.0.113.1", false},
        {"223.255.255.255", true},
        {"224.0.0.1", false},
        {"239.1.1.1", false},
        {"240.0.0.1", false},
        {"255.255.255.255", false},

        {"::", false},
        {"::1", false},
        {"::8.8.8.8", false},
        {"::127.0.0.1", false},
        {"::ffff:8.8.8.8", true},
        {"::ffff:127.0.0.1", false},
        {"::ffff:10.0.0.1", false},
        {"::ffff:0:8.8.8.8", false},
        {"64:ff9b::8.8.8.8", true},
        {"64:ff9b::10.0.0.1", false},
        {"64:ff9b:1::8.8.8.8", false},
        {"2002:808:808::1", true},
        {"2002:7f00:1::1", false},
        {"2002:a00:1::", false},
        {"2002:c0a8:101::1", false},
        {"2001:4860:4860::8888", true},
        {"2606:4700::1111", true},
        {"2a00:1450::1", true},
        {"2001::1", false},
        {"2001:0:1:2::", false},
        {"2001:2::1", false},
        {"2001:10::1", false},
        {"2001:1ff::1", false},
        {"2001:200::1", true},
        {"2001:db8::1", false},
        {"3fff::1", false},
        {"3fff:1000::1", true},
        {"3ffe::1", false},
        {"100::1", false},
        {"fc00::1", false},
        {"fd12::1", false},
        {"fe80::1", false},
        {"fec0::1", false},
        {"ff02::1", false},
        {"4000::1", false},
        {"5f00::1", false},
        {"1fff::1", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct sockaddr_in a4 = {.sin_family = AF_INET};
        struct sockaddr_in6 a6 = {.sin6_family = AF_INET6};
        bool four = inet_pton(AF_INET, cases[i].ip, &a4.sin_addr) == 1;
        if (!four)
            assert_int_equal(inet_pton(AF_INET6, cases[i].ip, &a6.sin6_addr), 1);
        struct sockaddr *a = four ? (struct sockaddr *)&a4 : (struct sockaddr *)&a6;
        if (al_http_address_public(a) != cases[i].is_public)
            fail_msg("%s", cases[i].ip);
    }
    struct sockaddr odd = {.sa_family = AF_UNIX};
    assert_false(al_http_address_public(&odd));
}

int main(void)
{
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    unsetenv("no_proxy");
    unsetenv("NO_PROXY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_the_public_internet),
        cmocka_unit_test(a_request_says_what_was_asked_and_the_answer_comes_whole),
        cmocka_unit_test(what_is_no_request_is_refused_at_once),
        cmocka_unit_test(failures_are_said_in_a_persons_words),
        cmocka_unit_test(odd_answers_end_with_a_reason),
        cmocka_unit_test(limits_of_time_end_a_request),
        cmocka_unit_test(a_request_can_be_cancelled_in_each_callback),
        cmocka_unit_test(enough_ends_it_well_and_a_pause_holds_everything_back),
        cmocka_unit_test(the_client_can_be_freed_with_requests_open),
        cmocka_unit_test(headers_of_ours_stay_with_their_origin),
        cmocka_unit_test(redirects_have_an_end),
        cmocka_unit_test(an_address_that_is_not_public_is_refused),
        cmocka_unit_test(each_hop_and_each_connection_is_checked),
        cmocka_unit_test(a_proxy_of_the_environment_is_used_and_names_are_checked_before),
        cmocka_unit_test(no_proxy_is_understood_as_people_write_it),
        cmocka_unit_test(a_packed_bomb_is_bounded_by_its_reader),
        cmocka_unit_test(what_unpacks_to_much_comes_in_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
