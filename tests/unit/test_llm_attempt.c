/* Asking a model over real HTTP: streams in any pieces, silent servers, redirects, proxies, and how soon a
 * cancel is done. */
#include "http_peer.h"
#include "names_rig.h"
#include "os_help.h"

#include "llm/llm_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define KEY "sk-canary-0123456789abcdef"
#define LIMIT_MS 20000
#define AT_ONCE_MS 500 /* 100 ms are promised; machines that test are busy */
#define COUNT(x) (sizeof(x) / sizeof(*(x)))

struct world {
    struct al_loop *loop;
    struct al_http_client *http;
    struct al_provider provider;
    struct al_llm *l;
    struct al_llm_ask *ask;
    bool done, told, retried;
    unsigned attempts;
    enum al_llm_end end;
    char text[4096], answer[4096];
    struct al_llm_fault fault;
    struct al_llm_usage usage;
};

static void on_text(void *ud, unsigned attempt, struct al_str text)
{
    struct world *w = ud;
    (void)attempt;
    w->told = true;
    size_t n = strlen(w->text);
    snprintf(w->text + n, sizeof(w->text) - n, "%.*s", AL_FMT(text));
}

static void on_retry(void *ud, const struct al_llm_retry *r)
{
    struct world *w = ud;
    w->retried = true;
    w->fault = *r->fault;
    w->text[0] = 0;
}

static void on_done(void *ud, const struct al_llm_answer *a, const struct al_llm_fault *f)
{
    struct world *w = ud;
    assert_false(w->done);
    w->done = true;
    w->ask = NULL;
    if (f) {
        w->fault = *f;
        return;
    }
    autobuf struct al_buf b = AL_BUF_INIT(1 << 16);
    al_llm_message_text(&a->message, &b);
    snprintf(w->answer, sizeof(w->answer), "%.*s", AL_FMT(al_buf_str(&b)));
    w->attempts = a->attempts;
    w->end = a->end;
    w->usage = a->usage;
}

static const struct al_llm_ops ops = {.text = on_text, .retry = on_retry, .done = on_done};

static void world_open(struct world *w, enum al_api api, const char *base_url, const char *key)
{
    *w = (struct world){.loop = al_loop_new()};
    w->http = al_http_client_new(w->loop);
    w->provider = (struct al_provider){.name = al_xstrdup("maker"),
                                       .api = api,
                                       .base_url = al_xstrdup(base_url),
                                       .temperature = -1,
                                       .origin = al_xstrdup("the test")};
    struct al_llm_opts o = {
        .loop = w->loop, .http = w->http, .provider = &w->provider, .model = "model-1", .key = key};
    w->l = al_llm_new(&o);
}

static void world_close(struct world *w)
{
    al_llm_cancel(w->ask);
    al_llm_free(w->l);
    al_http_client_free(w->http);
    al_loop_free(w->loop);
    al_provider_fini(&w->provider);
}

static void ask(struct world *w)
{
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = AL_STR("Hello")};
    struct al_llm_message m = {.role = AL_LLM_USER, .parts = &part, .n_parts = 1};
    struct al_llm_request q = {.messages = &m, .n_messages = 1, .system = AL_STR("Be brief.")};
    w->done = w->told = w->retried = false;
    w->text[0] = w->answer[0] = 0;
    w->ask = al_llm_ask(w->l, &q, &ops, w);
}

static void run_to_end(struct world *w)
{
    assert_true(al_loop_run_until(w->loop, &w->done, LIMIT_MS));
}

static char *base_of(const struct peer *p)
{
    static char url[100];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1", p->port);
    return url;
}

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
#define CHAT_TEXT "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße 🙂\"}}]}\n\n"
#define CHAT_FINISH "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define CHAT_USAGE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n"
#define CHAT_DONE "data: [DONE]\n\n"

static const char *const streams[AL_N_APIS] = {
    [AL_API_CHAT] = CHAT_TEXT CHAT_FINISH CHAT_USAGE CHAT_DONE,
    [AL_API_RESPONSES] =
        "event: response.output_item.added\ndata: "
        "{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{"
        "\"type\":\"message\",\"id\":\"m1\",\"role\":\"assistant\",\"content\":[]}}\n\n"
        "data: "
        "{\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,"
        "\"delta\":"
        "\"Grüße 🙂\"}\n\n"
        "data: "
        "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":"
        "\"m1\","
        "\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Grüße 🙂\"}]}}\n\n"
        "data: "
        "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":"
        "5,"
        "\"output_tokens\":2}}}\n\n",
    [AL_API_MESSAGES] = "event: message_start\ndata: "
                        "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":5,"
                        "\"output_tokens\":1}}}\n\n"
                        "data: "
                        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
                        "\"text\":\"\"}}\n\n"
                        "data: "
                        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
                        "\"text\":\"Grüße 🙂\"}}\n\n"
                        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                        "data: "
                        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
                        "\"output_tokens\":2}}\n\n"
                        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
};

struct plan {
    const char *stream;
    size_t piece;    /* bytes of each chunk; 0: all */
    bool chunked;    /* with its end, so that the connection can be kept */
    bool stays_open; /* silent after the stream, until the client goes */
    atomic_uint n_closed;
    char seen[4096]; /* the last request's head */
};

static bool by_plan(struct peer *p, int fd, const char *request, unsigned n)
{
    struct plan *plan = p->ud;
    size_t size = strlen(plan->stream), piece = plan->piece ? plan->piece : size;
    (void)n;
    snprintf(plan->seen, sizeof(plan->seen), "%s", request);
    if (plan->chunked && !plan->piece) /* its end comes together with the last event */
        return peer_say(fd, HEAD "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n", size,
                        plan->stream);
    peer_say(fd, HEAD "%s\r\n", plan->chunked ? "Transfer-Encoding: chunked\r\n" : "Connection: close\r\n");
    for (size_t i = 0; i < size; i += piece) {
        size_t m = size - i < piece ? size - i : piece;
        if (plan->chunked)
            peer_say(fd, "%zx\r\n", m);
        if (!peer_write(fd, plan->stream + i, m) || (plan->chunked && !peer_say(fd, "\r\n")))
            return false;
    }
    if (plan->stays_open) {
        peer_wait_closed(fd);
        plan->n_closed++;
        return false;
    }
    return plan->chunked && peer_say(fd, "0\r\n\r\n");
}

static void a_stream_is_read_in_any_pieces_in_each_api(void **state)
{
    (void)state;
    static const size_t pieces[] = {0, 1, 7, 64};
    static const char *const paths[] = {"POST /v1/chat/completions ", "POST /v1/responses ",
                                        "POST /v1/messages "};
    for (int api = 0; api < AL_N_APIS; api++)
        for (size_t i = 0; i < COUNT(pieces); i++) {
            struct plan plan = {.stream = streams[api], .piece = pieces[i], .chunked = i % 2 == 0};
            struct peer p;
            struct world w;
            peer_start(&p, by_plan, &plan);
            world_open(&w, (enum al_api)api, base_of(&p), KEY);
            ask(&w);
            run_to_end(&w);
            assert_string_equal(w.answer, "Grüße 🙂");
            assert_string_equal(w.text, "Grüße 🙂");
            assert_int_equal(w.attempts, 1);
            assert_int_equal(w.usage.input, 5);
            assert_int_equal(w.usage.output, 2);
            assert_true(strncmp(plan.seen, paths[api], strlen(paths[api])) == 0);
            world_close(&w);
            peer_stop(&p);
        }
}

static void a_connection_whose_answer_ended_is_used_again(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        struct plan plan = {.stream = streams[api], .chunked = true};
        struct peer p;
        struct world w;
        peer_start(&p, by_plan, &plan);
        world_open(&w, (enum al_api)api, base_of(&p), NULL);
        for (int i = 0; i < 5; i++) {
            ask(&w);
            run_to_end(&w);
            assert_string_equal(w.answer, "Grüße 🙂");
        }
        assert_int_equal(p.n_conn, 1);
        world_close(&w);
        peer_stop(&p);
    }
}

static void a_turn_that_ended_leaves_a_server_that_stays_silent(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS + 1; api++) {
        bool late = api == AL_N_APIS; /* chat without [DONE] */
        struct plan plan = {.stream = late ? CHAT_TEXT CHAT_FINISH : streams[api], .stays_open = true};
        struct peer p;
        struct world w;
        peer_start(&p, by_plan, &plan);
        world_open(&w, late ? AL_API_CHAT : (enum al_api)api, base_of(&p), NULL);
        uint64_t before = al_mono_ms();
        ask(&w);
        run_to_end(&w);
        uint64_t took = al_mono_ms() - before;
        assert_string_equal(w.answer, "Grüße 🙂");
        assert_in_range(took, late ? 1900 : 0, late ? 6000 : 1500);
        for (uint64_t end = al_mono_ms() + LIMIT_MS; !plan.n_closed && al_mono_ms() < end;)
            poll(NULL, 0, 2);
        assert_int_equal(plan.n_closed, 1);
        world_close(&w);
        peer_stop(&p);
    }
}

static bool cut_then_whole(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    peer_say(fd, HEAD "Connection: close\r\n\r\n%s", CHAT_TEXT);
    if (n)
        peer_say(fd, "%s", CHAT_FINISH CHAT_DONE);
    return false;
}

static void a_stream_that_breaks_is_asked_again(void **state)
{
    (void)state;
    struct peer p;
    struct world w;
    peer_start(&p, cut_then_whole, NULL);
    world_open(&w, AL_API_CHAT, base_of(&p), NULL);
    ask(&w);
    run_to_end(&w);
    assert_true(w.retried);
    assert_int_equal(w.fault.kind, AL_LLM_FAULT_CUT);
    assert_int_equal(w.attempts, 2);
    assert_string_equal(w.answer, "Grüße 🙂");
    assert_string_equal(w.text, "Grüße 🙂");
    world_close(&w);
    peer_stop(&p);
}

static bool with_interim(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)request;
    (void)n;
    peer_say(fd, "HTTP/1.1 100 Continue\r\n\r\n" HEAD "X-Request-Id: req_7\r\nConnection: close\r\n\r\n%s",
             CHAT_TEXT CHAT_FINISH CHAT_DONE);
    return false;
}

static void an_interim_answer_is_no_answer(void **state)
{
    (void)state;
    struct peer p;
    struct world w;
    peer_start(&p, with_interim, NULL);
    world_open(&w, AL_API_CHAT, base_of(&p), NULL);
    ask(&w);
    run_to_end(&w);
    assert_string_equal(w.answer, "Grüße 🙂");
    world_close(&w);
    peer_stop(&p);
}

/* --- errors --- */

struct refusal {
    int status;
    char head[300];
    const char *body;
};

static bool refuse(struct peer *p, int fd, const char *request, unsigned n)
{
    const struct refusal *r = p->ud;
    char status[32];
    (void)request;
    (void)n;
    snprintf(status, sizeof(status), "%d No", r->status);
    return peer_answer(fd, status, r->head, al_str_of(r->body));
}

static void an_error_is_read_with_its_headers(void **state)
{
    (void)state;
    struct refusal r = {401, "Content-Type: application/json\r\nX-Request-Id: req_9\r\n",
                        "{\"error\":{\"message\":\"Incorrect API key provided: " KEY
                        "\",\"code\":\"invalid_api_key\"}}"};
    struct peer p;
    struct world w;
    struct al_err err = {0};
    peer_start(&p, refuse, &r);
    world_open(&w, AL_API_CHAT, base_of(&p), KEY);
    ask(&w);
    run_to_end(&w);
    assert_int_equal(w.fault.kind, AL_LLM_FAULT_AUTH);
    assert_string_equal(w.fault.message, "Incorrect API key provided: ‹redacted›");
    assert_string_equal(w.fault.request_id, "req_9");
    al_llm_fault_err(&w.fault, &w.provider, "model-1", &err);
    assert_int_equal(err.code, AL_AUTH_REQUIRED);
    assert_int_equal(p.n_requests, 1);
    snprintf(r.head, sizeof(r.head), "Content-Type: application/json\r\nRetry-After: 3600\r\n");
    r.status = 429;
    ask(&w);
    run_to_end(&w);
    assert_int_equal(w.fault.kind, AL_LLM_FAULT_RATE);
    assert_int_equal(w.fault.retry_after_ms, 3600000);
    assert_int_equal(p.n_requests, 2);
    world_close(&w);
    peer_stop(&p);
}

static void a_redirect_is_an_error_that_names_its_target_and_nobody_gets_the_key(void **state)
{
    (void)state;
    static const int statuses[] = {301, 302, 303, 307, 308};
    struct plan plan = {.stream = streams[AL_API_CHAT]};
    struct peer other;
    peer_start(&other, by_plan, &plan);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        struct refusal r = {.status = statuses[i], .body = "moved"};
        struct peer p;
        struct world w;
        char target[100];
        snprintf(target, sizeof(target), "http://127.0.0.1:%d/v1/chat/completions", other.port);
        snprintf(r.head, sizeof(r.head), "Location: %s\r\n", target);
        peer_start(&p, refuse, &r);
        world_open(&w, AL_API_CHAT, base_of(&p), KEY);
        ask(&w);
        run_to_end(&w);
        assert_int_equal(w.fault.kind, AL_LLM_FAULT_REDIRECT);
        assert_int_equal(w.fault.status, statuses[i]);
        assert_non_null(strstr(w.fault.message, target));
        assert_int_equal(p.n_requests, 1);
        assert_int_equal(other.n_requests, 0);
        world_close(&w);
        peer_stop(&p);
    }
    peer_stop(&other);
}

static void nobody_there_is_told_after_its_retries(void **state)
{
    (void)state;
    struct peer p;
    struct world w;
    peer_start(&p, refuse, NULL);
    char base[100];
    snprintf(base, sizeof(base), "%s", base_of(&p));
    peer_stop(&p); /* its port is closed now */
    world_open(&w, AL_API_CHAT, base, NULL);
    ask(&w);
    assert_true(al_loop_run_until(w.loop, &w.retried, LIMIT_MS));
    assert_int_equal(w.fault.kind, AL_LLM_FAULT_CONNECT);
    assert_false(w.fault.answered);
    assert_non_null(strstr(w.fault.message, "127.0.0.1 refuses connections at port"));
    world_close(&w);
}

/* --- where a key goes --- */

static void a_name_is_judged_by_its_address_before_the_key_goes_there(void **state)
{
    (void)state;
    struct plan plan = {.stream = streams[AL_API_CHAT]};
    struct peer p;
    struct world w;
    char base[100];
    peer_start(&p, by_plan, &plan);
    snprintf(base, sizeof(base), "http://here.test:%d/v1", p.port);
    world_open(&w, AL_API_CHAT, base, KEY);
    ask(&w);
    run_to_end(&w);
    assert_string_equal(w.answer, "Grüße 🙂");
    assert_string_equal(peer_header(plan.seen, "authorization"), "Bearer " KEY);
    world_close(&w);

    snprintf(base, sizeof(base), "http://public.test:%d/v1", p.port);
    world_open(&w, AL_API_CHAT, base, KEY);
    ask(&w);
    run_to_end(&w);
    struct al_err err = {0};
    assert_int_equal(w.fault.kind, AL_LLM_FAULT_LOCAL);
    al_llm_fault_err(&w.fault, &w.provider, "model-1", &err);
    assert_int_equal(err.code, AL_PERMISSION_DENIED);
    assert_non_null(strstr(err.hint, "insecure"));
    assert_int_equal(p.n_requests, 1);
    world_close(&w);
    peer_stop(&p);
}

static void a_proxy_is_for_others_only_and_reads_no_key(void **state)
{
    (void)state;
    struct plan here = {.stream = streams[AL_API_CHAT]}, there = {.stream = streams[AL_API_CHAT]};
    struct peer server, proxy;
    struct world w;
    char url[100];
    peer_start(&server, by_plan, &here);
    peer_start(&proxy, by_plan, &there);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", proxy.port);
    setenv("http_proxy", url, 1);
    setenv("https_proxy", url, 1);

    world_open(&w, AL_API_CHAT, base_of(&server), KEY); /* loopback never */
    ask(&w);
    run_to_end(&w);
    assert_string_equal(w.answer, "Grüße 🙂");
    assert_int_equal(proxy.n_requests, 0);
    world_close(&w);

    world_open(&w, AL_API_CHAT, "http://api.maker.test/v1", NULL); /* another host, without a key */
    ask(&w);
    run_to_end(&w);
    assert_string_equal(w.answer, "Grüße 🙂");
    assert_true(strncmp(there.seen, "POST http://api.maker.test/v1/chat/completions ", 46) == 0);
    world_close(&w);

    world_open(&w, AL_API_CHAT, "http://api.maker.test/v1", KEY); /* with one, in the clear */
    ask(&w);
    run_to_end(&w);
    assert_int_equal(w.fault.kind, AL_LLM_FAULT_LOCAL);
    assert_int_equal(proxy.n_requests, 1);
    world_close(&w);

    world_open(&w, AL_API_CHAT, "https://api.maker.test/v1",
               KEY); /* the proxy is asked for a way through, and sees no more */
    ask(&w);
    assert_true(al_loop_run_until(w.loop, &w.retried, LIMIT_MS));
    assert_true(strncmp(there.seen, "CONNECT api.maker.test:443 ", 27) == 0);
    assert_null(strstr(there.seen, "canary"));
    world_close(&w);

    setenv("no_proxy", ".test", 1);
    snprintf(url, sizeof(url), "http://here.test:%d/v1", server.port);
    unsigned before = proxy.n_requests;
    world_open(&w, AL_API_CHAT, url, KEY);
    ask(&w);
    run_to_end(&w);
    assert_string_equal(w.answer, "Grüße 🙂");
    assert_int_equal(proxy.n_requests, before);
    world_close(&w);
    unsetenv("no_proxy");
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    peer_stop(&proxy);
    peer_stop(&server);
}

/* --- cancelling --- */

static bool mute(struct peer *p, int fd, const char *request, unsigned n)
{
    struct plan *plan = p->ud;
    (void)request;
    (void)n;
    peer_wait_closed(fd);
    plan->n_closed++;
    return false;
}

static void cancel_in(struct world *w, struct plan *plan)
{
    uint64_t before = al_mono_ms();
    al_llm_cancel(w->ask);
    w->ask = NULL;
    assert_in_range(al_mono_ms() - before, 0, AT_ONCE_MS);
    char kept[sizeof(w->text)];
    snprintf(kept, sizeof(kept), "%s", w->text);
    bool never = false;
    for (uint64_t end = al_mono_ms() + LIMIT_MS; plan && !plan->n_closed && al_mono_ms() < end;)
        al_loop_run_until(w->loop, &never, 5);
    if (plan)
        assert_int_equal(plan->n_closed, 1);
    al_loop_run_until(w->loop, &never, 20);
    assert_false(w->done);
    assert_string_equal(w->text, kept);
}

/* A port that takes no connection and refuses none: its queue is full. */
static int full_listener(char *base, size_t size)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    for (int i = 0; i < 4; i++) /* they stay until the test ends */
        connect(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), (struct sockaddr *)&a,
                sizeof(a));
    snprintf(base, size, "http://127.0.0.1:%d/v1", ntohs(a.sin_port));
    return fd;
}

static void a_cancel_is_done_at_once_in_each_state(void **state)
{
    (void)state;
    struct plan plan = {.stream = CHAT_TEXT, .stays_open = true};
    struct refusal r = {503, "Retry-After: 20\r\n", "{}"};
    struct peer p;
    struct world w;
    char base[100];
    bool never = false;

    names_hold(); /* while its name is looked up */
    world_open(&w, AL_API_CHAT, "https://hangs.test/v1", KEY);
    ask(&w);
    for (uint64_t end = al_mono_ms() + LIMIT_MS; !names_hanging && al_mono_ms() < end;)
        al_loop_run_until(w.loop, &never, 5);
    assert_int_equal(names_hanging, 1);
    cancel_in(&w, NULL);
    uint64_t before = al_mono_ms();
    world_close(&w);
    assert_in_range(al_mono_ms() - before, 0, AT_ONCE_MS);
    names_let_go();

    int full = full_listener(base, sizeof(base)); /* while it connects */
    world_open(&w, AL_API_CHAT, base, KEY);
    ask(&w);
    al_loop_run_until(w.loop, &never, 50);
    assert_false(w.retried || w.done);
    cancel_in(&w, NULL);
    world_close(&w);
    close(full);

    peer_start(&p, mute, &plan); /* before the first byte */
    world_open(&w, AL_API_CHAT, base_of(&p), KEY);
    ask(&w);
    for (uint64_t end = al_mono_ms() + LIMIT_MS; !p.n_requests && al_mono_ms() < end;)
        al_loop_run_until(w.loop, &never, 5);
    cancel_in(&w, &plan);
    world_close(&w);
    peer_stop(&p);

    plan.n_closed = 0;
    peer_start(&p, by_plan, &plan); /* within the stream */
    world_open(&w, AL_API_CHAT, base_of(&p), KEY);
    ask(&w);
    assert_true(al_loop_run_until(w.loop, &w.told, LIMIT_MS));
    cancel_in(&w, &plan);
    assert_string_equal(w.text, "Grüße 🙂");
    world_close(&w);
    peer_stop(&p);

    peer_start(&p, refuse, &r); /* between two attempts */
    world_open(&w, AL_API_CHAT, base_of(&p), KEY);
    ask(&w);
    assert_true(al_loop_run_until(w.loop, &w.retried, LIMIT_MS));
    cancel_in(&w, NULL);
    assert_int_equal(p.n_requests, 1);
    world_close(&w);
    peer_stop(&p);
}

static bool listing(struct peer *p, int fd, const char *request, unsigned n)
{
    (void)p;
    (void)n;
    if (strncmp(request, "GET /v1/models ", 15) == 0)
        return peer_answer(
            fd, "200 OK", "Content-Type: application/json\r\n",
            AL_STR(
                "{\"data\":[{\"id\":\"m\",\"owned_by\":\"llamacpp\",\"meta\":{\"n_ctx_train\":131072}}]}"));
    if (strncmp(request, "GET /props ", 11) == 0)
        return peer_answer(fd, "200 OK", "Content-Type: application/json\r\n",
                           AL_STR("{\"default_generation_settings\":{\"n_ctx\":4096}}"));
    return peer_answer(fd, "404 Not Found", "", AL_STR("no"));
}

static void on_list(void *ud, const struct al_llm_models *models, const struct al_err *err)
{
    struct world *w = ud;
    assert_null(err);
    assert_int_equal(models->n, 1);
    assert_int_equal(models->v[0].window, 4096);
    w->done = true;
}

static void models_are_listed_over_http(void **state)
{
    (void)state;
    struct peer p;
    struct world w;
    peer_start(&p, listing, NULL);
    world_open(&w, AL_API_CHAT, base_of(&p), KEY);
    al_llm_list(w.l, "m", on_list, &w);
    run_to_end(&w);
    assert_int_equal(p.n_requests, 2);
    world_close(&w);
    peer_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_read_in_any_pieces_in_each_api),
        cmocka_unit_test(a_connection_whose_answer_ended_is_used_again),
        cmocka_unit_test(a_turn_that_ended_leaves_a_server_that_stays_silent),
        cmocka_unit_test(a_stream_that_breaks_is_asked_again),
        cmocka_unit_test(an_interim_answer_is_no_answer),
        cmocka_unit_test(an_error_is_read_with_its_headers),
        cmocka_unit_test(a_redirect_is_an_error_that_names_its_target_and_nobody_gets_the_key),
        cmocka_unit_test(nobody_there_is_told_after_its_retries),
        cmocka_unit_test(a_name_is_judged_by_its_address_before_the_key_goes_there),
        cmocka_unit_test(a_proxy_is_for_others_only_and_reads_no_key),
        cmocka_unit_test(a_cancel_is_done_at_once_in_each_state),
        cmocka_unit_test(models_are_listed_over_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
