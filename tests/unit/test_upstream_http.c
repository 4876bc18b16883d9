/* Streamable HTTP as a transport, against a server on loopback that the test scripts. */
#include "http_peer.h"
#include "os_help.h"

#include "upstream/http_int.h"

#define LIMIT_MS 20000

struct world {
    struct al_loop *loop;
    struct al_http_client *client;
    struct al_transport *t;
    struct peer p;
    struct al_buf log; /* what the connection was told */
    struct al_err err;
    bool opened, ended, told, close_at_message, pause_at_message;
    unsigned wait_for; /* told when so many things were logged */
    unsigned n_told;
};

static void note(struct world *w)
{
    if (++w->n_told >= w->wait_for)
        w->told = true;
}

static void on_opened(void *ud)
{
    ((struct world *)ud)->opened = true;
}

static void on_message(void *ud, struct al_str json, uint64_t stream)
{
    struct world *w = ud;
    al_buf_addf(&w->log, "%.*s@%u;", AL_FMT(json), (unsigned)stream);
    if (w->pause_at_message)
        w->t->ops->pause(w->t, true);
    if (w->close_at_message) {
        w->t->ops->free(w->t);
        w->t = NULL;
    }
    note(w);
}

static void on_lost(void *ud, uint64_t id, enum al_transport_loss loss, const struct al_err *err)
{
    static const char *const names[] = {"BROKEN", "REFUSED", "SESSION", "TOO_BIG"};
    struct world *w = ud;
    al_buf_addf(&w->log, "%u %s;", (unsigned)id, names[loss]);
    w->err = *err;
    note(w);
}

static void on_ended(void *ud, const struct al_err *err)
{
    struct world *w = ud;
    w->err = *err;
    w->ended = true;
}

static void world_open(struct world *w, peer_fn *fn, const char *const *headers)
{
    static const struct al_transport_events events = {
        .opened = on_opened, .message = on_message, .lost = on_lost, .ended = on_ended};
    *w = (struct world){.log = AL_BUF_INIT(1 << 20)};
    peer_start(&w->p, fn, w);
    w->loop = al_loop_new();
    w->client = al_http_client_new(w->loop);
    char url[100];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/mcp", w->p.port);
    struct al_http_server server = {
        .name = "it", .url = url, .headers = headers, .loop = w->loop, .client = w->client};
    w->t = al_http_transport_new(&server, &events, w);
    ((struct al_http_transport *)w->t)->min_retry_ms = 1;
    w->t->ops->open(w->t);
    assert_false(w->opened);
    while (!w->opened && !w->ended) {
        bool never = false;
        al_loop_run_until(w->loop, &never, 5);
    }
}

static void world_close(struct world *w)
{
    if (w->t)
        w->t->ops->free(w->t);
    al_http_client_free(w->client);
    al_loop_free(w->loop);
    peer_stop(&w->p);
    al_buf_free(&w->log);
}

static void send_message(struct world *w, const struct al_transport_message *m)
{
    struct al_err err;
    if (w->t->ops->send(w->t, m, &err) < 0)
        fail_msg("%s", err.msg);
}

static void ask(struct world *w, uint64_t id, const char *method)
{
    static char json[8][200];
    char *text = json[id % 8];
    snprintf(text, 200, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\"}", (unsigned)id, method);
    struct al_transport_message m = {.json = al_str_of(text),
                                     .id = id,
                                     .method = method,
                                     .version = strcmp(method, "initialize") == 0 ? "" : "2025-11-25"};
    send_message(w, &m);
}

static void wait_told(struct world *w, unsigned n)
{
    w->wait_for = n;
    w->told = w->n_told >= n;
    if (!al_loop_run_until(w->loop, &w->told, LIMIT_MS))
        fail_msg("waited for %u, was told: %.*s", n, AL_FMT(al_buf_str(&w->log)));
}

static void expect(struct world *w, const char *log)
{
    al_buf_addc(&w->log, 0);
    assert_string_equal(w->log.p, log);
    al_buf_clear(&w->log);
    w->n_told = 0;
}

static bool stream_head(int fd)
{
    return peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n");
}

/* --- the old era --- */

static bool legacy(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    bool known = strcmp(peer_header(request, "mcp-session-id"), "s-1") == 0;
    if (strstr(request, "\"initialize\""))
        return peer_answer(fd, "200 OK", "Content-Type: application/json\r\nMcp-Session-Id: s-1\r\n",
                           AL_STR("{\"id\":1,\"result\":{}}"));
    if (!known)
        return peer_answer(fd, "400 Bad Request", "", AL_STR("no session"));
    if (strstr(request, "\"gone\""))
        return peer_answer(
            fd, "404 Not Found", "Content-Type: application/json\r\n",
            AL_STR("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32001,\"message\":\"Session not "
                   "found\"}}"));
    if (strstr(request, "notifications/"))
        return peer_answer(fd, "202 Accepted", "", AL_STR(""));
    if (strncmp(request, "DELETE", 6) == 0)
        return peer_answer(fd, "200 OK", "", AL_STR(""));
    if (strncmp(request, "GET", 3) == 0)
        return peer_answer(fd, "405 Method Not Allowed", "", AL_STR(""));
    if (strstr(request, "\"stream\"")) {
        stream_head(fd);
        peer_say(fd, ": hello\n\ndata: {\"method\":\"notifications/progress\"}\n\n"
                     "event: message\ndata: {\"id\":3,\ndata: \"result\":{}}\n\n");
        return false;
    }
    char body[200];
    snprintf(body, sizeof(body), "{\"result\":\"%s %s\",\"id\":%s}", peer_header(request, "accept"),
             peer_header(request, "mcp-protocol-version"), strstr(request, "\"id\":") + 5);
    *strchr(strstr(body, "\"id\":"), ',') = '}';
    body[strcspn(body, "}") + 1] = 0;
    return peer_answer(fd, "200 OK", "Content-Type: application/json\r\n", al_str_of(body));
}

static void a_session_is_kept_and_streams_and_texts_are_answers(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, legacy, NULL);
    ask(&w, 1, "initialize");
    wait_told(&w, 1);
    expect(&w, "{\"id\":1,\"result\":{}}@1;");
    struct al_transport_message m = {.json = AL_STR("{\"method\":\"notifications/initialized\"}"),
                                     .method = "notifications/initialized",
                                     .version = "2025-11-25"};
    send_message(&w, &m);
    w.t->ops->listen(w.t);
    ask(&w, 2, "tools/list");
    wait_told(&w, 1);
    expect(&w, "{\"result\":\"application/json, text/event-stream 2025-11-25\",\"id\":2}@2;");
    ask(&w, 3, "stream");
    wait_told(&w, 2);
    expect(&w, "{\"method\":\"notifications/progress\"}@3;{\"id\":3,\n\"result\":{}}@3;");
    ask(&w, 4, "gone");
    wait_told(&w, 1);
    expect(&w, "4 SESSION;");
    world_close(&w);
}

/* Tells whether the notification had arrived before the request. */
static bool gate(struct peer *p, int fd, const char *request, unsigned n)
{
    static atomic_bool initialized;
    (void)p;
    (void)n;
    if (strstr(request, "initialized")) {
        initialized = true;
        return peer_answer(fd, "202 Accepted", "", AL_STR(""));
    }
    return peer_answer(fd, "200 OK", "Content-Type: application/json\r\n",
                       initialized ? AL_STR("{\"id\":2,\"result\":\"after\"}")
                                   : AL_STR("{\"id\":2,\"result\":\"before\"}"));
}

static void nothing_overtakes_the_end_of_the_handshake(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, gate, NULL);
    struct al_transport_message m = {.json = AL_STR("{\"method\":\"notifications/initialized\"}"),
                                     .method = "notifications/initialized",
                                     .version = "2025-11-25"};
    send_message(&w, &m);
    ask(&w, 2, "tools/list");
    wait_told(&w, 1);
    expect(&w, "{\"id\":2,\"result\":\"after\"}@2;");
    world_close(&w);
}

static bool polling(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    const char *last = peer_header(request, "last-event-id");
    stream_head(fd);
    if (strncmp(request, "POST", 4) == 0)
        peer_say(fd, "id: e1\nretry: 10\ndata:\n\n");
    else if (strcmp(last, "e1") == 0 && n == 1)
        peer_say(fd, "data: {\"method\":\"m\"}\nid: e2\n\n");
    else if (strcmp(last, "e2") == 0)
        peer_say(fd, "data: {\"id\":7,\"result\":{}}\nid: e3\n\n");
    return false;
}

static bool never_comes_back(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    if (strncmp(request, "POST", 4) == 0) {
        stream_head(fd);
        peer_say(fd, "id: e1\nretry: 1\ndata:\n\n");
    }
    return false;
}

static void a_stream_that_breaks_off_is_taken_up_again(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, polling, NULL);
    ask(&w, 7, "tools/call");
    wait_told(&w, 2);
    expect(&w, "{\"method\":\"m\"}@7;{\"id\":7,\"result\":{}}@7;");
    assert_int_equal(w.p.n_requests, 3);
    world_close(&w);

    world_open(&w, never_comes_back, NULL);
    ask(&w, 8, "tools/call");
    wait_told(&w, 1);
    expect(&w, "8 BROKEN;");
    assert_true(w.p.n_requests > 3 && w.p.n_requests < 10);
    world_close(&w);
}

static bool listening(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    if (n == 2)
        return peer_answer(fd, "405 No", "", AL_STR(""));
    stream_head(fd);
    peer_say(fd, "retry: 1\nid: l%u\ndata: {\"last\":\"%s\"}\n\n", n, peer_header(request, "last-event-id"));
    return false;
}

static void the_stream_of_no_request_is_kept_up(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, listening, NULL);
    w.t->ops->listen(w.t);
    wait_told(&w, 2);
    expect(&w, "{\"last\":\"\"}@0;{\"last\":\"l0\"}@0;");
    world_close(&w);
}

static atomic_uint n_soon;

/* Ends each stream at once, and wants it asked for again at once. */
static bool hasty(struct peer *p, int fd, const char *request, unsigned n)
{
    static _Atomic uint64_t last_ms;
    (void)p;
    (void)request;
    uint64_t now = al_mono_ms();
    n_soon += n > 0 && now - last_ms < 90;
    last_ms = now;
    stream_head(fd);
    peer_say(fd, "retry: 0\nid: %u\ndata: {\"n\":%u}\n\n", n, n);
    return false;
}

static void a_server_that_wants_no_pause_gets_one(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, hasty, NULL);
    ((struct al_http_transport *)w.t)->min_retry_ms = 100;
    w.t->ops->listen(w.t);
    wait_told(&w, 3);
    assert_int_equal(n_soon, 0);
    assert_true(((struct al_http_transport *)w.t)->first->failures >= 2); /* ever more rarely */
    world_close(&w);
}

/* Answers with a stream that ends, or with a fault of its own, a dozen times; then it has something to tell.
 */
static bool a_bad_day(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    if (n < 12 && n % 2)
        return peer_answer(fd, "503 Later", "", AL_STR(""));
    stream_head(fd);
    if (n >= 12)
        peer_say(fd, "data: {\"n\":%u}\n\n", n);
    return false;
}

static void listening_is_not_given_up(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, a_bad_day, NULL);
    w.t->ops->listen(w.t);
    struct al_exchange *x = ((struct al_http_transport *)w.t)->first;
    x->retry_ms = 0;
    while (w.p.n_requests < 12) { /* without the pauses that it makes by now */
        bool never = false;
        al_loop_run_until(w.loop, &never, 5);
        x->failures = x->failures > 3 ? 3 : x->failures;
    }
    wait_told(&w, 1);
    world_close(&w);
}

static bool long_session(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    size_t length = strtoul(strstr(request, "\"id\":") + 5, NULL, 10) == 1 ? 8192 : 8193;
    if (strstr(request, "tools/list"))
        return peer_answer(fd, "200 OK", "Content-Type: application/json\r\n",
                           strlen(peer_header(request, "mcp-session-id")) == 8192
                               ? AL_STR("{\"id\":2,\"result\":{}}")
                               : AL_STR("{\"id\":2,\"error\":{}}"));
    char head[9000], id[8200];
    memset(id, 's', length);
    id[length] = 0;
    snprintf(head, sizeof(head), "Content-Type: application/json\r\nMcp-Session-Id: %s\r\n", id);
    return peer_answer(fd, "200 OK", head, AL_STR("{\"id\":1,\"result\":{}}"));
}

static void a_session_id_is_kept_whole_or_refused(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, long_session, NULL);
    ask(&w, 1, "initialize");
    wait_told(&w, 1);
    ask(&w, 2, "tools/list");
    wait_told(&w, 2);
    expect(&w, "{\"id\":1,\"result\":{}}@1;{\"id\":2,\"result\":{}}@2;");
    ask(&w, 3, "initialize");
    wait_told(&w, 1);
    expect(&w, "3 BROKEN;");
    assert_non_null(strstr(w.err.msg, "session id that cannot be used"));
    world_close(&w);
}

static bool elsewhere(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)n;
    char head[200];
    bool away = strstr(request, "\"id\":1") != NULL;
    if (strstr(request, "POST /there"))
        return peer_answer(fd, "200 OK", "Content-Type: application/json\r\n",
                           AL_STR("{\"id\":2,\"result\":{}}"));
    snprintf(head, sizeof(head), "Location: http://%s:%d/there\r\n", away ? "localhost" : "127.0.0.1",
             p->port);
    return peer_answer(fd, "307 There", head, AL_STR(""));
}

static void nothing_follows_a_redirect_to_another_place(void **state)
{
    (void)state;
    struct world w;
    char where[100];
    world_open(&w, elsewhere, NULL);
    ask(&w, 1, "tools/call");
    wait_told(&w, 1);
    expect(&w, "1 BROKEN;");
    snprintf(where, sizeof(where), "the MCP server it: 127.0.0.1 redirects to http://localhost:%d, another",
             w.p.port);
    assert_non_null(strstr(w.err.msg, where));
    assert_int_equal(w.p.n_requests, 1);
    ask(&w, 2, "tools/call");
    wait_told(&w, 1);
    expect(&w, "{\"id\":2,\"result\":{}}@2;");
    world_close(&w);
}

/* --- the new era --- */

static bool echo_head(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    char head[2000];
    snprintf(head, sizeof(head), "{\"id\":5,\"result\":\"%s|%s|%s|%s|%s|%s|%s\"}",
             peer_header(request, "mcp-protocol-version"), peer_header(request, "mcp-method"),
             peer_header(request, "mcp-name"), peer_header(request, "mcp-param-a"),
             peer_header(request, "mcp-param-deep"), peer_header(request, "authorization"),
             peer_header(request, "mcp-session-id"));
    return peer_answer(fd, "200 OK", "Content-Type: application/json\r\nMcp-Session-Id: no\r\n",
                       al_str_of(head));
}

static void modern_requests_carry_checked_headers(void **state)
{
    (void)state;
    struct world w;
    setenv("AL_TEST_TOKEN", "t0ken", 1);
    const char *headers[] = {"Authorization: Bearer ${AL_TEST_TOKEN}", "MCP-METHOD: mine", "Accept: mine",
                             NULL};
    world_open(&w, echo_head, headers);
    struct al_transport_message m = {
        .json = AL_STR("{\"id\":5}"),
        .id = 5,
        .method = "tools/call",
        .name = AL_STR("gr\xc3\xbc\xc3\x9f"),
        .version = "2026-07-28",
        .modern = true,
        .arguments = AL_STR("{\"a\":\" x\\n\",\"o\":{\"b\":4.2e1},\"c\":null}"),
        .input_schema =
            AL_STR("{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"c\":{\"type\":"
                   "\"string\",\"x-mcp-header\":\"C\"},"
                   "\"o\":{\"properties\":{\"b\":{\"type\":\"integer\",\"x-mcp-header\":\"Deep\"}}}}}"),
    };
    send_message(&w, &m);
    wait_told(&w, 1);
    expect(&w, "{\"id\":5,\"result\":\"2026-07-28|tools/call|=?base64?Z3LDvMOf?=|=?base64?IHgK?=|42|Bearer "
               "t0ken|\"}@5;");
    send_message(&w, &m);
    wait_told(&w, 1);
    expect(&w, "{\"id\":5,\"result\":\"2026-07-28|tools/call|=?base64?Z3LDvMOf?=|=?base64?IHgK?=|42|Bearer "
               "t0ken|\"}@5;");
    world_close(&w);
}

static bool waits_for_the_end(struct peer *p, int fd, const char *request, unsigned n)
{
    struct world *w = p->ud;
    (void)request;
    (void)n;
    stream_head(fd);
    peer_say(fd, "data: {\"method\":\"m\"}\n\n");
    peer_wait_closed(fd);
    w->ended = true;
    return false;
}

static void a_cancelled_request_closes_its_stream(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, waits_for_the_end, NULL);
    ask(&w, 5, "tools/call");
    wait_told(&w, 1);
    w.t->ops->cancel(w.t, 5);
    for (int i = 0; i < LIMIT_MS / 5 && !*(volatile bool *)&w.ended; i++) {
        bool never = false;
        al_loop_run_until(w.loop, &never, 5);
    }
    assert_true(w.ended);
    expect(&w, "{\"method\":\"m\"}@5;");
    world_close(&w);
}

/* --- what goes wrong --- */

static bool refuses(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    const char *method = strstr(request, "\"method\":\"") + 10;
    if (strncmp(method, "page", 4) == 0)
        return peer_answer(fd, "200 OK", "Content-Type: text/html\r\n", AL_STR("<html>"));
    if (strncmp(method, "cut", 3) == 0) {
        stream_head(fd);
        return false;
    }
    if (strncmp(method, "own", 3) == 0)
        return peer_answer(fd, "404 Not Found", "Content-Type: application/json\r\n",
                           AL_STR("{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}"));
    if (strncmp(method, "big", 3) == 0) {
        peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
        while (peer_say(fd, "%4000s", ""))
            ;
        return false;
    }
    if (strncmp(method, "event", 5) == 0) {
        stream_head(fd);
        peer_say(fd, "data: ");
        for (int i = 0; i < 4400; i++)
            peer_say(fd, "%4000s", "");
        peer_say(fd, "\n\ndata: {\"id\":1}\n\n");
        return false;
    }
    char status[64];
    snprintf(status, sizeof(status), "%.3s Status", method);
    return peer_answer(
        fd, status, "Content-Type: application/json\r\n",
        AL_STR("{\"id\":null,\"error\":{\"code\":-32000,\"message\":\"since it is \\u001b[31mso\"}}"));
}

static void refusals_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *method, *log;
        enum al_code code;
        const char *says;
    } cases[] = {
        {"401", "1 BROKEN;", AL_AUTH_REQUIRED, "wants to know who asks: since it is \\x1b[31mso"},
        {"403", "1 BROKEN;", AL_UPSTREAM_UNAVAILABLE, "refuses us (HTTP 403): since"},
        {"400", "1 REFUSED;", AL_UPSTREAM_UNAVAILABLE, "refuses the request (HTTP 400): since"},
        {"404", "1 REFUSED;", AL_UPSTREAM_UNAVAILABLE, "(HTTP 404)"},
        {"405", "1 REFUSED;", AL_UPSTREAM_UNAVAILABLE, "(HTTP 405)"},
        {"429", "1 BROKEN;", AL_UPSTREAM_UNAVAILABLE, "fewer requests"},
        {"503", "1 BROKEN;", AL_UPSTREAM_UNAVAILABLE, "a fault of its own (HTTP 503)"},
        {"202",
         "{\"id\":null,\"error\":{\"code\":-32000,\"message\":\"since it is \\u001b[31mso\"}}@1;1 BROKEN;",
         AL_UPSTREAM_UNAVAILABLE, "gave no answer"},
        {"page", "1 REFUSED;", AL_UPSTREAM_UNAVAILABLE, "does not speak MCP"},
        {"cut", "1 BROKEN;", AL_UPSTREAM_UNAVAILABLE, "ended its answer before its result came"},
        {"own", "{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no\"}}@1;", AL_OK, ""},
        {"big", "1 TOO_BIG;", AL_RESULT_TOO_LARGE, "over 16 MiB"},
        {"event", "1 TOO_BIG;", AL_RESULT_TOO_LARGE, "over 16 MiB"},
    };
    struct world w;
    world_open(&w, refuses, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        al_err_clear(&w.err);
        ask(&w, 1, cases[i].method);
        wait_told(&w, strstr(cases[i].log, ";1 ") ? 2 : 1);
        expect(&w, cases[i].log);
        assert_int_equal(w.err.code, cases[i].code);
        if (!strstr(w.err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].method, w.err.msg);
    }
    world_close(&w);
}

static void a_variable_that_is_not_set_ends_it_before_it_begins(void **state)
{
    (void)state;
    struct world w;
    unsetenv("AL_TEST_MISSING");
    const char *headers[] = {"Authorization: Bearer ${AL_TEST_MISSING}", NULL};
    world_open(&w, refuses, headers);
    assert_true(w.ended && !w.opened);
    assert_int_equal(w.err.code, AL_CONFIG_INVALID);
    assert_non_null(strstr(w.err.msg, "AL_TEST_MISSING"));
    assert_non_null(strstr(w.err.msg, "the MCP server it"));
    assert_int_equal(w.p.n_requests, 0);
    world_close(&w);
}

static bool many_events(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    (void)n;
    stream_head(fd);
    peer_say(fd, "data: 1\n\ndata: 2\n\ndata: 3\r\rdata: {\"id\":1}\n\n");
    return false;
}

static void a_pause_holds_back_what_has_come_already(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, many_events, NULL);
    w.pause_at_message = true;
    ask(&w, 1, "x");
    for (int i = 1; i <= 4; i++) {
        char want[40];
        wait_told(&w, 1);
        bool never = false;
        al_loop_run_until(w.loop, &never, 20);
        snprintf(want, sizeof(want), i < 4 ? "%d@1;" : "{\"id\":1}@1;", i);
        expect(&w, want);
        w.t->ops->pause(w.t, false);
    }
    world_close(&w);
}

static void the_transport_can_be_freed_in_its_own_callback(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, many_events, NULL);
    w.close_at_message = true;
    ask(&w, 1, "x");
    ask(&w, 2, "x");
    wait_told(&w, 1);
    bool never = false;
    al_loop_run_until(w.loop, &never, 20);
    assert_int_equal(w.n_told, 1); /* and of the two that run, and of what they bring besides, nothing more */
    world_close(&w);
}

static atomic_int n_deletes;

static bool counts_deletes(struct peer *p, int fd, const char *request, unsigned n)
{
    if (strncmp(request, "DELETE", 6) == 0 && strcmp(peer_header(request, "mcp-session-id"), "s-1") == 0)
        n_deletes++;
    return legacy(p, fd, request, n);
}

static void the_session_is_given_back_at_the_end(void **state)
{
    (void)state;
    struct world w;
    n_deletes = 0;
    world_open(&w, counts_deletes, NULL);
    ask(&w, 1, "initialize");
    wait_told(&w, 1);
    w.t->ops->close(w.t, 5000);
    assert_false(w.ended);
    struct al_err err;
    assert_int_equal(w.t->ops->send(w.t, &(struct al_transport_message){.json = AL_STR("{}"), .id = 2}, &err),
                     -1);
    assert_true(al_loop_run_until(w.loop, &w.ended, LIMIT_MS));
    assert_int_equal(n_deletes, 1);
    world_close(&w);
}

/* --- x-mcp-header --- */

static void tools_with_bad_marks_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *schema;
        bool fine;
    } cases[] = {
        {"{}", true},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}", true},
        {"{\"properties\":{\"a\":{\"type\":[\"integer\",\"null\"],\"x-mcp-header\":\"A\"}}}", true},
        {"{\"properties\":{\"o\":{\"properties\":{\"a\":{\"type\":\"boolean\",\"x-mcp-header\":\"A\"}}}}}",
         true},
        {"{\"properties\":{\"x-mcp-header\":{\"type\":\"string\"}}}", true},
        {"{\"properties\":{\"a\":{\"default\":{\"x-mcp-header\":1}}}}", true},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\"}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":1}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A B\"}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\\r\\nB: c\"}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"\xc3\xbc\"}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"object\",\"x-mcp-header\":\"A\"}}}", false},
        {"{\"properties\":{\"a\":{\"x-mcp-header\":\"A\"}}}", false},
        {"{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"},\"b\":{\"type\":\"string\","
         "\"x-mcp-header\":\"a\"}}}",
         false},
        {"{\"type\":\"string\",\"x-mcp-header\":\"A\"}", false},
        {"{\"properties\":{\"a\":{\"items\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}}", false},
        {"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}]}", false},
        {"{\"$defs\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"A\"}}}", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
        autobuf struct al_buf text = AL_BUF_INIT(10000), why = AL_BUF_INIT(1000);
        const struct al_json *tool;
        struct al_err err;
        al_buf_addf(&text, "{\"name\":\"t\",\"inputSchema\":%s}", cases[i].schema);
        assert_int_equal(al_json_parse(&a, al_buf_str(&text), &tool, &err), 0);
        if (al_params_takes_tool(tool, &why) != cases[i].fine)
            fail_msg("%s: %.*s", cases[i].schema, AL_FMT(al_buf_str(&why)));
        assert_true((why.n > 0) != cases[i].fine);
    }
}

static void whose_answer_a_message_is(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool ours;
    } cases[] = {
        {"{\"id\":12,\"result\":{}}", true},
        {"{\"result\":{\"id\":13,\"method\":\"x\"},\"id\": 12 }", true},
        {"{\"jsonrpc\":\"2.0\",\"error\":{},\"id\":\"12\"}", true},
        {"{\"id\":1,\"result\":{\"id\":12}}", false},
        {"{\"id\":12,\"method\":\"ping\"}", false},
        {"{\"method\":\"a\",\"params\":{\"id\":12}}", false},
        {"{\"x\":\"\\\"id\\\":12\",\"result\":[]}", false},
        {"{\"id\":123}", false},
        {"{\"id", false},
        {"\"", false},
        {"{\"", false},
        {"{\"id\":", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (al_answer_for(al_str_of(cases[i].json), 12) != cases[i].ours)
            fail_msg("%s", cases[i].json);
}

int main(void)
{
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_kept_and_streams_and_texts_are_answers),
        cmocka_unit_test(nothing_overtakes_the_end_of_the_handshake),
        cmocka_unit_test(a_stream_that_breaks_off_is_taken_up_again),
        cmocka_unit_test(the_stream_of_no_request_is_kept_up),
        cmocka_unit_test(a_server_that_wants_no_pause_gets_one),
        cmocka_unit_test(listening_is_not_given_up),
        cmocka_unit_test(a_session_id_is_kept_whole_or_refused),
        cmocka_unit_test(nothing_follows_a_redirect_to_another_place),
        cmocka_unit_test(modern_requests_carry_checked_headers),
        cmocka_unit_test(a_cancelled_request_closes_its_stream),
        cmocka_unit_test(refusals_are_told_apart),
        cmocka_unit_test(a_variable_that_is_not_set_ends_it_before_it_begins),
        cmocka_unit_test(a_pause_holds_back_what_has_come_already),
        cmocka_unit_test(the_transport_can_be_freed_in_its_own_callback),
        cmocka_unit_test(the_session_is_given_back_at_the_end),
        cmocka_unit_test(tools_with_bad_marks_are_refused),
        cmocka_unit_test(whose_answer_a_message_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
