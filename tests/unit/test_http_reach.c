/* Whom the HTTP client reaches, and how it lets go: names that hang, addresses, kept connections,
 * certificates. */
#include "http_peer.h"
#include "names_rig.h"
#include "os_help.h"

#include "http/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define LIMIT_MS 20000
#define AT_ONCE_MS 500 /* 100 ms are promised; machines that test are busy */

struct got {
    struct al_loop *loop;
    struct al_http_client *c;
    struct al_http *h;
    unsigned dones;
    int status;
    bool done, near_at_head, near, sent;
    struct al_err err;
};

static void on_head(void *ud, const struct al_http_head *head)
{
    struct got *g = ud;
    g->status = head->status;
    g->near_at_head = al_http_near(g->h);
}

static void on_done(void *ud, const struct al_err *err)
{
    struct got *g = ud;
    g->near = al_http_near(g->h);
    g->sent = al_http_sent(g->h);
    g->dones++;
    g->err = *err;
    g->h = NULL;
    g->done = true;
}

static const struct al_http_ops ops = {.head = on_head, .done = on_done};

static void got_open(struct got *g)
{
    *g = (struct got){0};
    g->loop = al_loop_new();
    g->c = al_http_client_new(g->loop);
}

static void got_close(struct got *g)
{
    al_http_client_free(g->c);
    al_loop_free(g->loop);
}

static void begin(struct got *g, const struct al_http_request *r)
{
    struct al_err err;
    g->done = false;
    g->status = 0;
    g->near = g->sent = g->near_at_head = false;
    g->h = al_http_start(g->c, r, &ops, g, &err);
    if (!g->h)
        fail_msg("%s", err.msg);
}

static void fetch(struct got *g, const struct al_http_request *r)
{
    begin(g, r);
    assert_true(al_loop_run_until(g->loop, &g->done, LIMIT_MS));
}

static bool hello(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    (void)n;
    return peer_answer(fd, "200 OK", "Content-Type: text/plain\r\n", AL_STR("hello"));
}

static bool mute(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    (void)n;
    peer_wait_closed(fd);
    return false;
}

static char *url(const char *host, int port)
{
    static char text[300];
    snprintf(text, sizeof(text), "http://%s:%d/", host, port);
    return text;
}

static void run_for(struct got *g, uint64_t ms)
{
    bool never = false;
    al_loop_run_until(g->loop, &never, ms);
}

static void a_request_whose_name_hangs_is_let_go_at_once(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct got g;
        got_open(&g);
        names_hold();
        begin(&g, &(struct al_http_request){.url = "http://hangs.test/"});
        for (uint64_t end = al_mono_ms() + LIMIT_MS; !names_hanging && al_mono_ms() < end;)
            run_for(&g, 5);
        assert_int_equal(names_hanging, 1);
        uint64_t before = al_mono_ms();
        if (how == 0)
            al_http_cancel(g.h);
        got_close(&g);
        assert_in_range(al_mono_ms() - before, 0, AT_ONCE_MS);
        assert_int_equal(names_hanging, 1); /* it still hangs, alone */
        assert_int_equal(g.dones, 0);
        names_let_go();
    }
}

static void a_name_that_hangs_ends_with_the_time_to_connect(void **state)
{
    (void)state;
    struct got g;
    got_open(&g);
    names_hold();
    fetch(&g, &(struct al_http_request){.url = "http://hangs.test/", .connect_ms = 200});
    assert_int_equal(g.err.code, AL_TIMEOUT);
    assert_false(g.sent);
    got_close(&g);
    names_let_go();
}

static void the_other_end_is_known_to_be_near_or_not(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, hello, NULL);
    got_open(&g);
    static const char *const hosts[] = {"127.0.0.1", "localhost", "here.test",
                                        "here.test"}; /* kept open, too */
    for (size_t i = 0; i < 4; i++) {
        fetch(&g, &(struct al_http_request){.url = url(hosts[i], p.port)});
        assert_int_equal(g.status, 200);
        assert_true(g.near_at_head && g.near && g.sent);
    }
    fetch(&g, &(struct al_http_request){.url = "http://127.0.0.1:1/"});
    assert_int_equal(g.err.code, AL_UPSTREAM_UNAVAILABLE);
    assert_false(g.sent);
    got_close(&g);
    peer_stop(&p);
}

static bool closes(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)fd;
    (void)request;
    (void)n;
    return false;
}

static void what_was_sent_before_a_connection_broke_is_told(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, closes, NULL);
    got_open(&g);
    fetch(&g, &(struct al_http_request){.url = url("127.0.0.1", p.port), .body = AL_STR("{}")});
    assert_int_equal(g.err.code, AL_UPSTREAM_UNAVAILABLE);
    assert_true(g.sent);
    assert_string_equal(g.err.detail, "");
    got_close(&g);
    peer_stop(&p);
}

static void what_is_for_private_places_goes_to_no_other(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, hello, NULL);
    got_open(&g);
    fetch(&g, &(struct al_http_request){.url = url("here.test", p.port), .private_only = true});
    assert_int_equal(g.status, 200);
    fetch(&g, &(struct al_http_request){.url = url("public.test", p.port), .private_only = true});
    assert_int_equal(g.err.code, AL_PERMISSION_DENIED);
    assert_non_null(strstr(g.err.msg, "public.test is at 192.88.0.7"));
    assert_false(g.sent);
    assert_int_equal(p.n_requests, 1);
    /* Nor through a proxy, who would read it. */
    setenv("http_proxy", url("127.0.0.1", p.port), 1);
    fetch(&g, &(struct al_http_request){.url = "http://here.test/", .private_only = true});
    assert_int_equal(g.err.code, AL_PERMISSION_DENIED);
    assert_int_equal(p.n_requests, 1);
    fetch(&g, &(struct al_http_request){.url = "http://elsewhere.test/"});
    assert_int_equal(g.status, 200);
    assert_false(g.near); /* the proxy is, what is behind it is not */
    unsetenv("http_proxy");
    got_close(&g);
    peer_stop(&p);
}

static void kept_connections_that_are_dropped_are_not_used_again(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, hello, NULL);
    got_open(&g);
    struct al_http_request r = {.url = url("127.0.0.1", p.port)};
    fetch(&g, &r);
    fetch(&g, &r);
    assert_int_equal(p.n_conn, 1);
    al_http_client_drop(g.c);
    fetch(&g, &r);
    assert_int_equal(p.n_conn, 2);
    run_for(&g, 2100); /* later the one from before is too old, and the new one is not */
    unsigned before = p.n_conn;
    fetch(&g, &r);
    fetch(&g, &r);
    assert_true(p.n_conn <= before + 1);
    got_close(&g);
    peer_stop(&p);
}

static bool dies_when_used_again(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    return n != 1 && peer_answer(fd, "200 OK", "", AL_STR("hello"));
}

static void what_goes_out_once_is_not_sent_again_unseen(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        struct peer p;
        struct got g;
        peer_start(&p, dies_when_used_again, NULL);
        got_open(&g);
        struct al_http_request r = {.url = url("127.0.0.1", p.port), .body = AL_STR("{}"), .once = once};
        fetch(&g, &r);
        assert_int_equal(g.status, 200);
        fetch(&g, &r); /* on the connection that was kept, and dies */
        assert_int_equal(g.err.code, once ? AL_UPSTREAM_UNAVAILABLE : AL_OK);
        assert_true(g.sent);
        assert_int_equal(p.n_requests, once ? 2 : 3);
        fetch(&g, &r);
        assert_int_equal(g.status, 200);
        got_close(&g);
        peer_stop(&p);
    }
}

/* Our end of the connection to that port. */
static int find_socket(int port)
{
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in a;
        socklen_t n = sizeof(a);
        if (getpeername(fd, (struct sockaddr *)&a, &n) == 0 && a.sin_family == AF_INET &&
            ntohs(a.sin_port) == port)
            return fd;
    }
    return -1;
}

static void a_connection_is_probed_after_30_s_of_silence(void **state)
{
    (void)state;
    struct peer p;
    struct got g;
    peer_start(&p, mute, NULL);
    got_open(&g);
    begin(&g, &(struct al_http_request){.url = url("127.0.0.1", p.port)});
    for (uint64_t end = al_mono_ms() + LIMIT_MS; !p.n_requests && al_mono_ms() < end;)
        run_for(&g, 5);
    int fd = find_socket(p.port);
    assert_true(fd >= 0);
    static const struct {
        int level, name, value;
    } wanted[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                  {IPPROTO_TCP, TCP_KEEPIDLE, 30},
                  {IPPROTO_TCP, TCP_KEEPINTVL, 10},
                  {IPPROTO_TCP, TCP_KEEPCNT, 3}};
    for (size_t i = 0; i < 4; i++) {
        int value = 0;
        socklen_t n = sizeof(value);
        assert_int_equal(getsockopt(fd, wanted[i].level, wanted[i].name, &value, &n), 0);
        assert_int_equal(value, wanted[i].value);
    }
    al_http_cancel(g.h);
    got_close(&g);
    peer_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_whose_name_hangs_is_let_go_at_once),
        cmocka_unit_test(a_name_that_hangs_ends_with_the_time_to_connect),
        cmocka_unit_test(the_other_end_is_known_to_be_near_or_not),
        cmocka_unit_test(what_was_sent_before_a_connection_broke_is_told),
        cmocka_unit_test(what_is_for_private_places_goes_to_no_other),
        cmocka_unit_test(kept_connections_that_are_dropped_are_not_used_again),
        cmocka_unit_test(what_goes_out_once_is_not_sent_again_unseen),
        cmocka_unit_test(a_connection_is_probed_after_30_s_of_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
