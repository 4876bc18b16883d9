/* One answer over all its attempts: when it is asked again, after which time, and what is told meanwhile. */
#include "llm_rig.h"

#include "base/mem.h"

#include <stdio.h>

#define BASE "https://api.maker.example/v1"
#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static void assert_log(struct rig *r, const char *expected)
{
    autofree char *got = strndup(r->log.p ? r->log.p : "", r->log.n);
    assert_string_equal(got, expected);
}

static void an_answer_is_told_once_in_each_api(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        struct rig r;
        rig_open(&r, (enum al_api)api, BASE, "sk-canary-0123456789");
        rig_ask(&r);
        rig_answer(&r, "Good day");
        assert_log(&r, "sending 1\ntext 1 Good day\nanswered stop Good day\n");
        assert_false(rig_is_open(&r));
        assert_int_equal(r.attempts, 1);
        assert_int_equal(r.unknown, 0);
        assert_int_equal(r.input, 5);
        assert_int_equal(r.output, 2);
        rig_close(&r);
    }
}

#define ERROR(words) "{\"error\":{\"message\":\"" words "\"}}"

static void open_chat(struct rig *r)
{
    rig_open(r, AL_API_CHAT, BASE, "sk-canary-0123456789");
}

/* --- the table --- */

static void the_table_decides_which_status_is_asked_again(void **state)
{
    (void)state;
    static const int again[] = {408, 409, 425, 429, 500, 502, 503, 504, 520,
                                521, 522, 523, 524, 525, 526, 527, 528, 529},
                     never[] = {400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414,
                                415, 418, 421, 422, 424, 426, 428, 431, 451, 501, 505,
                                507, 511, 300, 301, 302, 303, 307, 308, 201};
    for (size_t i = 0; i < COUNT(again); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        rig_refuse(&r, again[i], NULL, ERROR("m"));
        assert_int_equal(r.n_done, 0);
        assert_int_equal(r.last_attempt, 1);
        assert_int_equal(r.retry_fault.status, again[i]);
        rig_advance(&r, 8000);
        rig_answer(&r, "Yes");
        assert_int_equal(r.n_done, 1);
        assert_int_equal(r.attempts, 2);
        rig_close(&r);
    }
    for (size_t i = 0; i < COUNT(never); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        if (never[i] == 201)
            rig_refuse(&r, 200, NULL, ERROR("m\",\"code\":\"invalid_prompt"));
        else
            rig_refuse(&r, never[i], NULL, ERROR("m"));
        assert_int_equal(r.n_done, 1);
        assert_int_equal(r.n_http, 1);
        assert_false(r.fault.retry);
        rig_advance(&r, 100000);
        assert_int_equal(r.n_http, 1);
        rig_close(&r);
    }
}

static void connections_and_streams_that_break_are_asked_again_and_certificates_are_not(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_break(&r, AL_UPSTREAM_UNAVAILABLE, "refused");
    rig_advance(&r, 8000);
    rig_break(&r, AL_TIMEOUT, "took no connection");
    rig_advance(&r, 8000);
    rig_begin(&r);
    rig_break(&r, AL_UPSTREAM_UNAVAILABLE, "broke");
    rig_advance(&r, 8000);
    rig_begin(&r);
    rig_body(&r, "data: {\"a\":\n\n");
    rig_advance(&r, 8000);
    rig_answer(&r, "Yes");
    assert_log(&r, "sending 1\nretry 1 connection 0\nsending 2\nretry 2 timeout 0\nsending 3\ntext 3 "
                   "Hel\nretry 3 cut 3\n"
                   "sending 4\ntext 4 Hel\nretry 4 malformed 3\nsending 5\ntext 5 Yes\nanswered stop Yes\n");
    assert_int_equal(r.attempts, 5);
    assert_int_equal(r.unknown, 4);
    rig_close(&r);

    open_chat(&r);
    rig_ask(&r);
    struct rig_http *h = rig_now(&r);
    struct al_err err;
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the certificate of x cannot be trusted");
    al_detail(&err, AL_HTTP_UNTRUSTED);
    h->ops->done(h->ud, &err);
    h->open = false;
    assert_log(&r, "sending 1\nfailed tls\n");
    rig_close(&r);
}

static void an_attempt_that_was_not_sent_costs_nothing(void **state)
{
    (void)state;
    for (int sent = 0; sent < 2; sent++) {
        struct rig r;
        open_chat(&r);
        r.sent = sent;
        rig_ask(&r);
        rig_break(&r, AL_UPSTREAM_UNAVAILABLE, "broke");
        assert_int_equal(r.retry_fault.answered, sent);
        rig_advance(&r, 8000);
        rig_refuse(&r, 429, NULL, ERROR("m"));
        rig_advance(&r, 8000);
        rig_refuse(&r, 502, NULL, "<h1>Bad gateway</h1>");
        rig_advance(&r, 8000);
        rig_answer(&r, "Yes");
        assert_int_equal(r.unknown, sent + 1);
        rig_close(&r);
    }
}

/* --- waits --- */

static void waits_double_and_lose_at_most_a_quarter(void **state)
{
    (void)state;
    static const uint32_t chances[] = {0, 1000, 500, 12345, UINT32_MAX};
    for (size_t i = 0; i < COUNT(chances); i++) {
        struct rig r;
        open_chat(&r);
        r.chance = chances[i];
        rig_ask(&r);
        for (unsigned n = 0; n < 4; n++) {
            uint64_t full = 500u << n;
            rig_refuse(&r, 500, NULL, ERROR("m"));
            assert_in_range(r.last_wait, full * 3 / 4, full);
            if (chances[i] == 0)
                assert_int_equal(r.last_wait, full);
            if (chances[i] == 1000)
                assert_int_equal(r.last_wait, full * 3 / 4);
            size_t before = r.n_http;
            rig_advance(&r, r.last_wait - 1);
            assert_int_equal(r.n_http, before);
            rig_advance(&r, 1);
            assert_int_equal(r.n_http, before + 1);
        }
        rig_refuse(&r, 500, NULL, ERROR("m"));
        assert_int_equal(r.n_done, 1);
        assert_int_equal(r.n_http, 5); /* four retries, no more */
        assert_int_equal(r.fault.status, 500);
        rig_close(&r);
    }
}

static void what_was_asked_for_is_waited_or_told(void **state)
{
    (void)state;
    static const struct {
        const char *headers[5];
        int64_t wait; /* -1: it fails at once */
    } rows[] = {
        {{"retry-after", "30", NULL}, 30000},
        {{"retry-after", "60", NULL}, 60000},
        {{"retry-after", "61", NULL}, -1},
        {{"retry-after", "86400", NULL}, -1},
        {{"retry-after-ms", "60001", NULL}, -1},
        {{"retry-after-ms", "1500", NULL}, 1500},
        {{"retry-after-ms", "1500.4", NULL}, 1501},
        {{"retry-after-ms", "100", NULL}, 500},
        {{"retry-after-ms", "2000", "retry-after", "50", NULL}, 2000},
        {{"retry-after", "0", NULL}, 500},
        {{"retry-after", "-1", NULL}, 500},
        {{"retry-after", "soon", NULL}, 500},
        /* the wall clock of the rig stands at Mon, 21 Sep 2026 14:13:20 GMT */
        {{"retry-after", "Mon, 21 Sep 2026 14:13:40 GMT", NULL}, 20000},
        {{"retry-after", "Mon, 21 Sep 2026 14:13:00 GMT", NULL}, 500},
        {{"retry-after", "Tue, 22 Sep 2026 14:13:20 GMT", NULL}, -1},
        {{"retry-after", "Mon, 21 Sep 2026 15:00:07 GMT", "date", "Mon, 21 Sep 2026 15:00:00 GMT", NULL},
         7000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        rig_refuse(&r, 429, rows[i].headers, ERROR("slower"));
        if (rows[i].wait < 0) {
            struct al_err err = {0};
            assert_int_equal(r.n_done, 1);
            assert_true(r.fault.retry_after_ms > 60000);
            al_llm_fault_err(&r.fault, &r.provider, "m", &err);
            assert_non_null(strstr(err.hint, "until 20"));
        } else {
            if (r.last_wait != (uint64_t)rows[i].wait)
                fail_msg("%s: %llu", rows[i].headers[1], (unsigned long long)r.last_wait);
            rig_advance(&r, r.last_wait - 1);
            assert_int_equal(r.n_http, 1);
            rig_advance(&r, 1);
            assert_int_equal(r.n_http, 2);
            rig_answer(&r, "Yes");
        }
        rig_close(&r);
    }
}

static void money_is_never_asked_for_again(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "{\"error\":{\"message\":\"You exceeded your current quota\",\"type\":\"insufficient_quota\"}}",
        "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Stop\",\"details\":{"
        "\"error_code\":"
        "\"enforced_spend_limit_reached\"}}}",
    };
    static const char *const yes[] = {"x-should-retry", "true", "retry-after", "1", NULL};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        rig_refuse(&r, 429, i ? NULL : yes, bodies[i]);
        assert_log(&r, "sending 1\nfailed quota\n");
        rig_advance(&r, 1000000);
        assert_int_equal(r.n_http, 1);
        rig_close(&r);
    }
}

static void should_retry_is_obeyed_both_ways(void **state)
{
    (void)state;
    static const char *const yes[] = {"x-should-retry", "true", NULL}, *const no[] = {"X-Should-Retry",
                                                                                      "false", NULL};
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_refuse(&r, 400, yes, ERROR("m"));
    rig_advance(&r, 1000);
    rig_refuse(&r, 500, no, ERROR("m"));
    assert_log(&r, "sending 1\nretry 1 rejected 0\nsending 2\nfailed server_error\n");
    rig_close(&r);
}

/* --- streams that break --- */

static void what_was_discarded_is_counted_and_is_part_of_nothing(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        struct rig r;
        rig_open(&r, (enum al_api)api, BASE, NULL);
        rig_ask(&r);
        rig_begin(&r);
        rig_end(&r);
        assert_int_equal(r.last_discarded, 3);
        rig_advance(&r, 500);
        rig_answer(&r, "Hello");
        assert_log(&r,
                   "sending 1\ntext 1 Hel\nretry 1 cut 3\nsending 2\ntext 2 Hello\nanswered stop Hello\n");
        assert_int_equal(r.unknown, 1);
        assert_string_equal(r.http[0].body, r.http[1].body);
        rig_close(&r);
    }
}

static void an_error_within_a_stream_is_classed_at_each_position(void **state)
{
    (void)state;
    static const char *const errors[] = {
        "data: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n",
        "event: error\ndata: "
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
        "event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"busy\"}\n\n",
        "data: {\"type\":\"error\",\"code\":\"overloaded\",\"message\":\"busy\"}\n\n",
    };
    for (int api = 0; api < AL_N_APIS; api++)
        for (size_t i = 0; i < COUNT(errors); i++)
            for (int position = 0; position < 2; position++) {
                struct rig r;
                rig_open(&r, (enum al_api)api, BASE, NULL);
                rig_ask(&r);
                if (position)
                    rig_begin(&r);
                else
                    rig_head(&r, 200, "text/event-stream", NULL);
                rig_body(&r, errors[i]);
                rig_advance(&r, 0);
                assert_int_equal(r.retry_fault.kind, AL_LLM_FAULT_OVERLOADED);
                assert_string_equal(r.retry_fault.message, "busy");
                assert_int_equal(r.last_discarded, position ? 3 : 0);
                assert_false(rig_is_open(&r));
                rig_close(&r);
            }
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_head(&r, 200, "text/event-stream", NULL);
    rig_body(&r,
             "event: error\ndata: {\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\"}}\n\n");
    rig_end(&r);
    assert_log(&r, "sending 1\nfailed rejected\n"); /* not "cut", and not again */
    rig_close(&r);
}

static void what_is_no_stream_is_shown(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body, *words;
    } rows[] = {
        {"text/html", "<html><title>Please log in</title></html>", "status 200, text/html: Please log in"},
        {"text/plain", "hello", "status 200, text/plain: hello"},
        {"text/event-stream", "", "status 200, text/event-stream, and nothing in it"},
        {"text/event-stream", ": only a comment\n\n", "status 200, text/event-stream: : only a comment"},
        {"application/json", "", "status 200, application/json, and nothing in it"},
        {"application/json", "{\"a\":", "status 200, application/json: {\"a\":"},
        {"application/json", "{\"hello\":1}", "status 200, application/json: {\"hello\":1}"},
        {"", "", "status 200, and nothing in it"},
        {"", "<html>no</html>", "status 200: <html>no</html>"},
        {"application/x-ndjson", "{}", "status 200, application/x-ndjson: {}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        rig_head(&r, 200, rows[i].type, NULL);
        if (*rows[i].body)
            rig_body(&r, rows[i].body);
        if (rig_is_open(&r))
            rig_end(&r);
        assert_int_equal(r.retry_fault.kind, AL_LLM_FAULT_MALFORMED);
        assert_string_equal(r.retry_fault.message, rows[i].words);
        rig_close(&r);
    }
}

static void a_whole_answer_instead_of_a_stream_is_taken(void **state)
{
    (void)state;
    static const char *const types[] = {"application/json", "application/problem+json", ""};
    for (size_t i = 0; i < COUNT(types); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        rig_head(&r, 200, types[i], NULL);
        rig_body(&r, "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Good");
        rig_body(
            &r,
            " day\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}");
        rig_end(&r);
        assert_int_equal(r.n_done, 1);
        assert_string_equal(r.text, "Good day");
        assert_int_equal(r.input, 5);
        rig_close(&r);
    }
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_refuse(&r, 200, NULL, "{\"error\":{\"message\":\"busy\",\"code\":529}}");
    assert_int_equal(r.retry_fault.kind, AL_LLM_FAULT_OVERLOADED);
    rig_close(&r);
}

static void sizes_have_their_limits(void **state)
{
    (void)state;
    struct rig r;
    char *mib = al_xmalloc(1 << 20);
    memset(mib, 'x', 1 << 20);
    open_chat(&r);
    rig_ask(&r);
    rig_head(&r, 200, "text/event-stream", NULL);
    rig_body(&r, "data: {\"a\":\"");
    for (int i = 0; i < 18 && rig_is_open(&r); i++)
        rig_bytes(&r, (struct al_str){mib, 1 << 20});
    rig_advance(&r, 0);
    assert_int_equal(r.fault.kind, AL_LLM_FAULT_TOO_LARGE);
    assert_int_equal(r.n_http, 1);
    rig_close(&r);

    open_chat(&r);
    rig_ask(&r);
    rig_head(&r, 200, "application/json", NULL);
    for (int i = 0; i < 66 && rig_is_open(&r); i++)
        rig_bytes(&r, (struct al_str){mib, 1 << 20});
    assert_int_equal(r.fault.kind, AL_LLM_FAULT_TOO_LARGE);
    assert_int_equal(r.n_http, 1);
    rig_close(&r);

    open_chat(&r);
    rig_ask(&r);
    rig_head(&r, 500, "text/plain", NULL);
    for (int i = 0; i < 66 && rig_is_open(&r); i++)
        rig_bytes(&r, (struct al_str){mib, 1 << 20});
    assert_false(rig_is_open(&r)); /* an error is not read on and on */
    assert_int_equal(r.retry_fault.status, 500);
    rig_close(&r);
    free(mib);
}

/* --- time --- */

static void ten_minutes_of_comments_are_no_failure(void **state)
{
    (void)state;
    static const char *const noise[] = {": OPENROUTER PROCESSING\n\n",
                                        "event: ping\ndata: {\"type\":\"ping\"}\n\n", "\n", ":"};
    for (size_t i = 0; i < COUNT(noise); i++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        rig_head(&r, 200, "text/event-stream", NULL);
        for (int n = 0; n < 10; n++) {
            rig_advance(&r, 60000);
            rig_body(&r, noise[i]);
        }
        rig_advance(&r, 119999);
        rig_body(&r, "\n");
        assert_true(rig_is_open(&r));
        rig_body(
            &r, "data: "
                "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]}\n\n"
                "data: [DONE]\n\n");
        rig_advance(&r, 0);
        assert_log(&r, "sending 1\ntext 1 Yes\nanswered stop Yes\n");
        rig_close(&r);
    }
}

static void silence_between_bytes_ends_an_attempt_after_120_s(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_begin(&r);
    rig_advance(&r, 119999);
    assert_true(rig_is_open(&r));
    rig_advance(&r, 2);
    assert_false(rig_is_open(&r));
    assert_int_equal(r.retry_fault.kind, AL_LLM_FAULT_TIMEOUT);
    assert_string_equal(r.retry_fault.message, "api.maker.example sent nothing for 120 s");
    assert_int_equal(r.last_discarded, 3);
    assert_true(r.retry_fault.answered);
    rig_close(&r);
}

/* As when the machine was too busy to let us run: the clock is over the limit when the timer is served, the
 * bytes are there. */
static void bytes_that_were_not_looked_at_are_no_silence(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_begin(&r);
    r.mono += 400000;
    rig_advance(&r, 0);
    assert_true(rig_is_open(&r));
    rig_body(&r, ": here\n\n");
    rig_advance(&r, 119999);
    assert_true(rig_is_open(&r));
    rig_advance(&r, 2);
    assert_false(rig_is_open(&r));
    rig_close(&r);
}

static void the_first_byte_has_300_s_and_no_limit_nearby(void **state)
{
    (void)state;
    static const struct {
        const char *base;
        bool near;
        uint64_t configured, limit; /* 0: none */
    } rows[] = {
        {BASE, false, 0, 300000},
        {BASE, false, 7000, 7000},
        {"http://127.0.0.1:8080/v1", false, 0, 0},
        {"http://127.0.0.1:8080/v1", false, 7000, 7000},
        {"http://localhost:11434/v1", false, 0, 0},
        {"http://gpu.localhost./v1", false, 0, 0},
        {"http://[::1]:8080/v1", false, 0, 0},
        {"http://10.1.2.3/v1", false, 0, 0},
        {"http://192.168.1.4:8000/v1", false, 0, 0},
        {"http://172.20.0.2/v1", false, 0, 0},
        {"http://[fd00::1]/v1", false, 0, 0},
        {"https://8.8.8.8/v1", false, 0, 300000},
        {"http://gpu-box:8000/v1", true, 0, 0},
        {"http://gpu-box:8000/v1", true, 7000, 7000},
        {"http://gpu-box:8000/v1", false, 0, 300000},
        {"http://notlocalhost/v1", false, 0, 300000},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int head = 0; head < 2;
             head++) { /* a head alone is no byte of an answer: servers send it, then think */
            struct rig r;
            rig_open(&r, AL_API_CHAT, rows[i].base, NULL);
            al_llm_free(r.l);
            r.l = NULL;
            r.provider.first_byte_ms = rows[i].configured;
            rig_facts(&r, NULL);
            r.near = rows[i].near;
            rig_ask(&r);
            if (head)
                rig_head(&r, 200, "text/event-stream", NULL);
            if (rows[i].limit) {
                rig_advance(&r, rows[i].limit - 1);
                assert_true(rig_is_open(&r));
                rig_advance(&r, 2);
                assert_int_equal(r.retry_fault.kind, AL_LLM_FAULT_TIMEOUT);
            } else {
                rig_advance(&r, 3600 * 1000);
                assert_true(rig_is_open(&r));
                assert_int_equal(r.n_http, 1);
            }
            rig_close(&r);
        }
}

static void a_turn_ends_two_seconds_after_its_finish_reason(void **state)
{
    (void)state;
    static const char finish[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]}\n\n";
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_head(&r, 200, "text/event-stream", NULL);
    rig_body(&r, finish);
    rig_advance(&r, 1999);
    assert_int_equal(r.n_done, 0);
    rig_body(&r, ": still here\n\n"); /* no byte makes it longer */
    rig_advance(&r, 1);
    assert_log(&r, "sending 1\ntext 1 Yes\nanswered stop Yes\n");
    assert_int_equal(r.input, -1);
    assert_false(rig_is_open(&r));
    rig_close(&r);

    open_chat(&r);
    rig_ask(&r);
    rig_head(&r, 200, "text/event-stream", NULL);
    rig_body(&r, finish);
    rig_advance(&r, 1500);
    rig_body(&r, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\n");
    rig_advance(&r, 600);
    assert_int_equal(r.n_done, 1);
    assert_int_equal(r.input, 7);
    rig_close(&r);

    open_chat(&r); /* and whether the connection ends well or not is the same, then */
    rig_ask(&r);
    rig_head(&r, 200, "text/event-stream", NULL);
    rig_body(&r, finish);
    rig_break(&r, AL_UPSTREAM_UNAVAILABLE, "broke");
    assert_int_equal(r.n_done, 1);
    assert_string_equal(r.text, "Yes");
    rig_close(&r);
}

static void a_turn_that_has_ended_leaves_a_silent_server_at_once(void **state)
{
    (void)state;
    for (int api = 0; api < AL_N_APIS; api++) {
        struct rig r;
        rig_open(&r, (enum al_api)api, BASE, NULL);
        rig_ask(&r);
        rig_answer(&r, "Yes"); /* without an end of the connection, and no time passes */
        assert_int_equal(r.n_done, 1);
        assert_false(rig_is_open(&r));
        rig_close(&r);
    }
}

static void after_a_sleep_a_dead_connection_costs_no_retry(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    for (int i = 0; i < 6; i++) {
        rig_begin(&r);
        r.slept += 5000;
        rig_break(&r, AL_UPSTREAM_UNAVAILABLE, "broke");
        assert_int_equal(r.last_wait, 0);
        rig_advance(&r, 0);
        assert_int_equal(r.n_woke, i + 1); /* what was kept open is dropped before the next attempt */
    }
    for (unsigned n = 0; n < 4; n++) { /* all four retries are still there */
        rig_refuse(&r, 500, NULL, ERROR("m"));
        assert_int_equal(r.last_wait, 500u << n);
        rig_advance(&r, 8000);
    }
    assert_int_equal(r.n_woke, 6);
    rig_answer(&r, "Yes");
    assert_int_equal(r.attempts, 11);
    rig_close(&r);
}

static void a_short_sleep_and_a_clear_refusal_are_as_ever(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    r.slept += 4999;
    rig_break(&r, AL_UPSTREAM_UNAVAILABLE, "broke");
    assert_int_equal(r.last_wait, 500);
    rig_advance(&r, 500);
    assert_int_equal(r.n_woke, 0);
    r.slept += 3600000;
    rig_refuse(&r, 503, NULL, ERROR("m"));
    assert_int_equal(r.last_wait, 1000);
    rig_advance(&r, 1000);
    assert_int_equal(r.n_woke, 1);
    r.slept += 3600000;
    rig_refuse(&r, 401, NULL, ERROR("m"));
    assert_int_equal(r.n_done, 1);
    assert_int_equal(r.fault.kind, AL_LLM_FAULT_AUTH);
    rig_close(&r);
}

/* --- what is learned --- */

static void a_refused_field_is_left_out_once_and_remembered(void **state)
{
    (void)state;
    static const struct {
        enum al_api api;
        const char *base, *name, *refusal, *in_body;
        enum al_llm_field field;
    } rows[] = {
        {AL_API_CHAT, BASE, "stream_options", "Unrecognized request argument supplied: stream_options",
         "\"stream_options\"", AL_LLM_STREAM_OPTIONS},
        {AL_API_CHAT, BASE, "max_tokens",
         "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "\"max_tokens\"",
         AL_LLM_MAX_TOKENS},
        {AL_API_CHAT, "https://api.openai.com/v1", "max_completion_tokens",
         "Unknown field: max_completion_tokens", "\"max_completion_tokens\"", AL_LLM_MAX_COMPLETION},
        {AL_API_CHAT, BASE, "temperature", "'temperature' is not supported with this model",
         "\"temperature\"", AL_LLM_TEMPERATURE},
        {AL_API_CHAT, BASE, "reasoning_effort", "reasoning_effort is not supported", "\"reasoning_effort\"",
         AL_LLM_EFFORT},
        {AL_API_RESPONSES, BASE, "store", "Unknown parameter: 'store'.", "\"store\"", AL_LLM_STORE},
        {AL_API_RESPONSES, BASE, "include", "Unknown parameter: 'include'.", "\"include\"", AL_LLM_INCLUDE},
        {AL_API_MESSAGES, BASE, "cache_control", "cache_control: Extra inputs are not permitted",
         "\"cache_control\"", AL_LLM_CACHE_CONTROL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;
        char body[512], expected[512];
        rig_open(&r, rows[i].api, rows[i].base, NULL);
        r.provider.temperature = 20;
        r.provider.reasoning_effort = al_xstrdup("low");
        rig_facts(&r, NULL);
        rig_ask(&r);
        if (!strstr(rig_now(&r)->body, rows[i].in_body))
            fail_msg("%s is not sent: %s", rows[i].name, rig_now(&r)->body);
        snprintf(body, sizeof(body), "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\"}}",
                 rows[i].refusal);
        rig_refuse(&r, 400, NULL, body);
        assert_int_equal(r.last_wait, 0);
        rig_advance(&r, 0);
        assert_null(strstr(rig_now(&r)->body, rows[i].in_body));
        if (rows[i].field == AL_LLM_MAX_TOKENS)
            assert_non_null(strstr(rig_now(&r)->body, "\"max_completion_tokens\""));
        if (rows[i].field == AL_LLM_MAX_COMPLETION)
            assert_non_null(strstr(rig_now(&r)->body, "\"max_tokens\""));
        rig_answer(&r, "Yes");
        snprintf(expected, sizeof(expected),
                 "learned {\"without\":[\"%s\"]}\nnotice model-1 does not take %s: ", rows[i].name,
                 rows[i].name);
        assert_true(al_str_find(al_buf_str(&r.log), al_str_of(expected)) > 0);
        assert_int_equal(al_llm_facts_of(r.l)->without, 1u << rows[i].field);
        /* The next request does without it from the start, and the person is told no more. */
        rig_ask(&r);
        assert_null(strstr(rig_now(&r)->body, rows[i].in_body));
        rig_answer(&r, "Yes");
        assert_log(&r, "sending 1\ntext 1 Yes\nanswered stop Yes\n");
        rig_close(&r);
    }
}

static void a_field_that_is_refused_again_is_an_error(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_refuse(&r, 400, NULL, ERROR("Unrecognized request argument supplied: stream_options"));
    rig_advance(&r, 0);
    rig_refuse(&r, 400, NULL, ERROR("Unrecognized request argument supplied: stream_options"));
    assert_int_equal(r.n_done, 1);
    assert_int_equal(r.fault.kind, AL_LLM_FAULT_REJECTED);
    assert_int_equal(r.n_http, 2);
    rig_close(&r);
}

static void two_fields_are_learned_one_after_the_other(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_refuse(&r, 400, NULL, ERROR("Unrecognized request argument supplied: stream_options"));
    rig_advance(&r, 0);
    rig_refuse(
        &r, 422, NULL,
        "{\"detail\":[{\"loc\":[\"body\",\"max_tokens\"],\"msg\":\"Extra inputs are not permitted\"}]}");
    rig_advance(&r, 0);
    rig_answer(&r, "Yes");
    assert_int_equal(r.attempts, 3);
    assert_int_equal(r.unknown, 0);
    assert_int_equal(al_llm_facts_of(r.l)->without, 1u << AL_LLM_STREAM_OPTIONS | 1u << AL_LLM_MAX_TOKENS);
    rig_close(&r);
}

static void a_limit_of_answers_is_obeyed_from_then_on(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, AL_API_MESSAGES, BASE, NULL);
    rig_ask(&r);
    rig_refuse(&r, 400, NULL,
               "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"max_tokens: "
               "16384 > 4096, which "
               "is the maximum allowed number of output tokens for model-1\"}}");
    rig_advance(&r, 0);
    assert_non_null(strstr(rig_now(&r)->body, "\"max_tokens\":4096"));
    rig_answer(&r, "Yes");
    assert_int_equal(al_llm_facts_of(r.l)->max_output, 4096);
    rig_close(&r);
}

static void an_overflow_teaches_the_window_and_is_for_the_caller(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    rig_refuse(&r, 400, NULL, ERROR("This model's maximum context length is 8192 tokens."));
    assert_log(&r, "sending 1\nlearned {\"without\":[],\"window\":8192}\nnotice the context window of "
                   "model-1 at maker is 8192 "
                   "tokens\nfailed context_overflow\n");
    assert_int_equal(r.fault.window, 8192);
    rig_ask(&r);
    rig_refuse(&r, 400, NULL, ERROR("This model's maximum context length is 16384 tokens."));
    assert_int_equal(al_llm_facts_of(r.l)->window, 8192); /* only ever less */
    rig_ask(&r);
    rig_refuse(&r, 400, NULL, ERROR("This model's maximum context length is 4096 tokens."));
    assert_int_equal(al_llm_facts_of(r.l)->window, 4096);
    rig_ask(&r);
    rig_refuse(&r, 413, NULL, "<h1>413</h1>");
    assert_int_equal(r.fault.kind, AL_LLM_FAULT_OVERFLOW);
    assert_int_equal(al_llm_facts_of(r.l)->window, 4096);
    rig_close(&r);
}

/* A turn that thought and called, its result, and a question. */
static void ask_with_reasoning(struct rig *r, const char *raw)
{
    struct al_llm_part question = {.kind = AL_LLM_TEXT, .text = AL_STR("Hello")},
                       result = {.kind = AL_LLM_TEXT, .text = AL_STR("42")};
    struct al_llm_part said[2] = {
        {.kind = AL_LLM_REASONING, .text = AL_STR("thoughts"), .raw = al_str_of(raw)},
        {.kind = AL_LLM_CALL,
         .text = AL_STR("{}"),
         .id = AL_STR("call_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
         .provider_id = AL_STR("c1"),
         .name = AL_STR("look")},
    };
    struct al_llm_message m[3] = {
        {.role = AL_LLM_USER, .parts = &question, .n_parts = 1},
        {.role = AL_LLM_ASSISTANT,
         .parts = said,
         .n_parts = 2,
         .from = {al_str_of(r->provider.name), al_str_of(r->provider.base_url), AL_STR("model-1"),
                  r->provider.api}},
        {.role = AL_LLM_RESULT,
         .parts = &result,
         .n_parts = 1,
         .call_id = AL_STR("call_01ARZ3NDEKTSV4RRFFQ69G5FAV")},
    };
    struct al_llm_tool tool = {AL_STR("look"), AL_STR("Looks."), AL_STR("{\"type\":\"object\"}")};
    struct al_llm_request q = {.messages = m, .n_messages = 3, .tools = &tool, .n_tools = 1};
    rig_ask_with(r, &q);
}

static void refused_reasoning_is_dropped_once_for_the_session(void **state)
{
    (void)state;
    static const struct {
        enum al_api api;
        const char *raw, *refusal, *code;
    } rows[] = {
        {AL_API_MESSAGES, "{\"type\":\"thinking\",\"thinking\":\"thoughts\",\"signature\":\"c2ln\"}",
         "messages.1.content.0: Invalid `signature` in `thinking` block", "x"},
        {AL_API_RESPONSES,
         "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"c2ln\"}",
         "The encrypted content could not be verified.", "invalid_encrypted_content"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;
        char body[512];
        rig_open(&r, rows[i].api, BASE, NULL);
        ask_with_reasoning(&r, rows[i].raw);
        assert_non_null(strstr(rig_now(&r)->body, "c2ln"));
        snprintf(body, sizeof(body),
                 "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\",\"code\":\"%s\"}}",
                 rows[i].refusal, rows[i].code);
        rig_refuse(&r, 400, NULL, body);
        assert_int_equal(r.last_wait, 0);
        rig_advance(&r, 0);
        assert_null(strstr(rig_now(&r)->body, "c2ln"));
        rig_answer(&r, "Yes");
        assert_true(al_str_find(al_buf_str(&r.log),
                                AL_STR("notice maker does not accept the reasoning of earlier turns")) > 0);
        ask_with_reasoning(&r, rows[i].raw);
        assert_null(strstr(rig_now(&r)->body, "c2ln"));
        rig_refuse(&r, 400, NULL, body); /* the second one is shown */
        assert_log(&r, "sending 1\nfailed rejected\n");
        rig_close(&r);
    }
}

static void reasoning_that_is_wanted_back_goes_back(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    ask_with_reasoning(&r, "");
    assert_null(strstr(rig_now(&r)->body, "thoughts"));
    rig_refuse(&r, 400, NULL,
               ERROR("The `reasoning_content` in the thinking mode must be passed back to the API."));
    rig_advance(&r, 0);
    assert_non_null(strstr(rig_now(&r)->body, "\"reasoning_content\":\"thoughts\""));
    rig_answer(&r, "Yes");
    assert_true(al_llm_facts_of(r.l)->wants_reasoning);
    assert_int_equal(r.attempts, 2);
    rig_close(&r);
}

/* --- where a key may go --- */

static void a_key_goes_in_the_clear_to_private_places_only(void **state)
{
    (void)state;
    static const struct {
        const char *base;
        bool key, insecure, goes, private_only;
    } rows[] = {
        {"https://api.maker.example/v1", true, false, true, false},
        {"http://8.8.8.8/v1", true, false, false, false},
        {"http://8.8.8.8/v1", true, true, true, false},
        {"http://8.8.8.8/v1", false, false, true, false},
        {"http://[2606:4700::1]/v1", true, false, false, false},
        {"http://127.0.0.1:8080/v1", true, false, true, false},
        {"http://10.0.0.7/v1", true, false, true, false},
        {"http://api.maker.example/v1", true, false, true, true}, /* by its address, once it is known */
        {"http://api.maker.example/v1", true, true, true, false},
        {"HTTP://8.8.8.8/v1", true, false, false, false},
        {"http://user@8.8.8.8/v1", true, false, false, false},
        {"http://127.0.0.1@8.8.8.8/v1", true, false, false, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;
        rig_open(&r, AL_API_CHAT, rows[i].base, rows[i].key ? "sk-canary-0123456789" : NULL);
        r.provider.insecure = rows[i].insecure;
        rig_facts(&r, NULL);
        rig_ask(&r);
        if (rows[i].goes) {
            assert_int_equal(rig_now(&r)->private_only, rows[i].private_only);
        } else {
            rig_advance(&r, 0);
            assert_int_equal(r.n_http, 0);
            assert_log(&r, "sending 1\nfailed local\n");
            struct al_err err = {0};
            al_llm_fault_err(&r.fault, &r.provider, "m", &err);
            assert_int_equal(err.code, AL_PERMISSION_DENIED);
            assert_non_null(strstr(err.hint, "insecure"));
        }
        rig_close(&r);
    }
}

static void an_error_that_echoes_the_key_does_not_show_it(void **state)
{
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct rig r;
        open_chat(&r);
        rig_ask(&r);
        if (where == 0) {
            rig_refuse(&r, 401, NULL, ERROR("bad key sk-canary-0123456789"));
        } else if (where == 1) {
            rig_begin(&r);
            rig_body(&r, "data: {\"error\":{\"message\":\"bad key "
                         "sk-canary-0123456789\",\"type\":\"authentication_error\"}}\n\n");
            rig_advance(&r, 0);
        } else {
            rig_head(&r, 200, "text/event-stream", NULL);
            rig_body(&r, "data: bad key sk-canary-0123456789\n\n");
            rig_advance(&r, 0);
        }
        const struct al_llm_fault *f = where == 2 ? &r.retry_fault : &r.fault;
        assert_non_null(strstr(f->message, "bad key ‹redacted›"));
        assert_null(strstr(f->message, "canary"));
        rig_close(&r);
    }
}

static void a_key_in_a_header_of_the_providers_own_is_not_shown_either(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, AL_API_CHAT, BASE, NULL);
    r.provider.headers = al_xcalloc(3, sizeof(char *));
    r.provider.headers[0] = al_xstrdup("api-key: abcdef0123456789canary");
    r.provider.headers[1] = al_xstrdup("X-Title: something of mine");
    rig_facts(&r, NULL);
    rig_ask(&r);
    rig_refuse(&r, 401, NULL, ERROR("no abcdef0123456789canary for something of mine"));
    assert_string_equal(r.fault.message, "no ‹redacted› for something of mine");
    rig_close(&r);
}

/* --- ours --- */

static int unwritable(void *ud, unsigned attempt, struct al_str body, const char sha256[AL_SHA256_HEX],
                      struct al_err *err)
{
    (void)ud;
    (void)attempt;
    (void)body;
    (void)sha256;
    return al_fail(err, AL_INTERNAL, "the journal cannot be written");
}

static void keep_fault(void *ud, const struct al_llm_answer *answer, const struct al_llm_fault *fault)
{
    assert_null(answer);
    *(struct al_llm_fault *)ud = *fault;
}

static void what_is_wrong_with_us_ends_it_at_once(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    r.refuse_start = true;
    rig_ask(&r);
    rig_advance(&r, 0);
    assert_log(&r, "sending 1\nfailed local\n");
    struct al_err err = {0};
    al_llm_fault_err(&r.fault, &r.provider, "m", &err);
    assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);

    struct al_llm_fault f = {0};
    struct al_llm_ops ops = {.sending = unwritable, .done = keep_fault};
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = AL_STR("Hello")};
    struct al_llm_message m = {.role = AL_LLM_USER, .parts = &part, .n_parts = 1};
    struct al_llm_request q = {.messages = &m, .n_messages = 1};
    r.refuse_start = false;
    al_llm_ask(r.l, &q, &ops, &f);
    rig_advance(&r, 0);
    assert_int_equal(f.kind, AL_LLM_FAULT_LOCAL);
    al_llm_fault_err(&f, &r.provider, "m", &err);
    assert_int_equal(err.code, AL_INTERNAL);
    assert_string_equal(err.msg, "the journal cannot be written");
    assert_int_equal(r.n_http, 0);
    rig_close(&r);
}

/* --- cancelling --- */

enum {
    AT_ONCE,
    WAITS_FOR_HEAD,
    WAITS_FOR_BYTES,
    STREAMS,
    FINISHED,
    ENDED,
    BACKS_OFF,
    LEARNED,
    N_STATES
};

static void go_to(struct rig *r, int where)
{
    if (where == AT_ONCE)
        return;
    rig_advance(r, 0);
    switch (where) {
    case WAITS_FOR_BYTES:
        rig_head(r, 200, "text/event-stream", NULL);
        break;
    case STREAMS:
        rig_begin(r);
        break;
    case FINISHED:
        rig_begin(r);
        rig_body(r, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
        break;
    case ENDED:
        rig_begin(r);
        rig_body(r, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: "
                    "[DONE]\n\n");
        break;
    case BACKS_OFF:
        rig_refuse(r, 500, NULL, ERROR("m"));
        break;
    case LEARNED:
        rig_refuse(r, 400, NULL, ERROR("Unrecognized request argument supplied: stream_options"));
        break;
    default:
        break;
    }
}

static const struct al_llm_request *one_word(void)
{
    static struct al_llm_part part;
    static struct al_llm_message m;
    static struct al_llm_request q;
    part = (struct al_llm_part){.kind = AL_LLM_TEXT, .text = AL_STR("Hello")};
    m = (struct al_llm_message){.role = AL_LLM_USER, .parts = &part, .n_parts = 1};
    q = (struct al_llm_request){.messages = &m, .n_messages = 1};
    return &q;
}

static void after_a_cancel_in_any_state_nothing_is_told_and_nothing_is_open(void **state)
{
    (void)state;
    for (int where = 0; where < N_STATES; where++) {
        struct rig r;
        open_chat(&r);
        if (where == AT_ONCE) {
            static const struct al_llm_ops none = {0};
            struct al_llm_ask *a = al_llm_ask(r.l, one_word(), &none, &r);
            al_llm_cancel(a);
            rig_advance(&r, 1000000);
            assert_int_equal(r.n_http, 0);
            rig_close(&r);
            continue;
        }
        rig_ask(&r);
        go_to(&r, where);
        size_t told = r.log.n;
        al_llm_cancel(r.ask);
        r.ask = NULL;
        assert_false(rig_is_open(&r));
        rig_advance(&r, 1000000);
        assert_int_equal(r.log.n, told);
        assert_int_equal(r.n_done, 0);
        rig_close(&r);
    }
}

static const char *cancel_at;

static void cancel_here(struct rig *r, const char *what)
{
    if (strcmp(what, cancel_at) != 0)
        return;
    al_llm_cancel(r->ask);
    r->ask = NULL;
    al_buf_clear(&r->log);
}

static void a_cancel_within_any_callback_is_the_last_thing_that_is_told(void **state)
{
    (void)state;
    static const char *const at[] = {"sending", "text", "retry", "learned", "notice"};
    for (size_t i = 0; i < COUNT(at); i++) {
        struct rig r;
        open_chat(&r);
        cancel_at = at[i];
        r.hook = cancel_here;
        struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = AL_STR("Hello")};
        struct al_llm_message m = {.role = AL_LLM_USER, .parts = &part, .n_parts = 1};
        struct al_llm_request q = {.messages = &m, .n_messages = 1};
        rig_ask_with(&r, &q);
        if (r.ask && strcmp(at[i], "text") == 0) {
            rig_head(&r, 200, "text/event-stream", NULL);
            rig_body(
                &r,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
                "data: "
                "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n"
                "data: [DONE]\n\n");
        } else if (r.ask && strcmp(at[i], "retry") == 0) {
            rig_refuse(&r, 500, NULL, ERROR("m"));
        } else if (r.ask) {
            rig_refuse(&r, 400, NULL, ERROR("Unrecognized request argument supplied: stream_options"));
        }
        assert_null(r.ask);
        rig_advance(&r, 1000000);
        assert_int_equal(r.log.n, 0);
        assert_int_equal(r.n_done, 0);
        assert_false(rig_is_open(&r));
        rig_close(&r);
    }
}

static void at_done(struct rig *r, const char *what)
{
    if (strcmp(what, "done") == 0 && r->n_done == 1) {
        r->hook = NULL;
        rig_ask_with(r, one_word()); /* the next one begins where the last one ends */
    }
}

static void the_next_request_can_begin_within_done(void **state)
{
    (void)state;
    struct rig r;
    open_chat(&r);
    rig_ask(&r);
    r.hook = at_done;
    rig_answer(&r, "Yes");
    rig_answer(&r, "And no");
    assert_int_equal(r.n_http, 2);
    assert_string_equal(r.text, "And no");
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_told_once_in_each_api),
        cmocka_unit_test(the_table_decides_which_status_is_asked_again),
        cmocka_unit_test(connections_and_streams_that_break_are_asked_again_and_certificates_are_not),
        cmocka_unit_test(an_attempt_that_was_not_sent_costs_nothing),
        cmocka_unit_test(waits_double_and_lose_at_most_a_quarter),
        cmocka_unit_test(what_was_asked_for_is_waited_or_told),
        cmocka_unit_test(money_is_never_asked_for_again),
        cmocka_unit_test(should_retry_is_obeyed_both_ways),
        cmocka_unit_test(what_was_discarded_is_counted_and_is_part_of_nothing),
        cmocka_unit_test(an_error_within_a_stream_is_classed_at_each_position),
        cmocka_unit_test(what_is_no_stream_is_shown),
        cmocka_unit_test(a_whole_answer_instead_of_a_stream_is_taken),
        cmocka_unit_test(sizes_have_their_limits),
        cmocka_unit_test(ten_minutes_of_comments_are_no_failure),
        cmocka_unit_test(silence_between_bytes_ends_an_attempt_after_120_s),
        cmocka_unit_test(bytes_that_were_not_looked_at_are_no_silence),
        cmocka_unit_test(the_first_byte_has_300_s_and_no_limit_nearby),
        cmocka_unit_test(a_turn_ends_two_seconds_after_its_finish_reason),
        cmocka_unit_test(a_turn_that_has_ended_leaves_a_silent_server_at_once),
        cmocka_unit_test(after_a_sleep_a_dead_connection_costs_no_retry),
        cmocka_unit_test(a_short_sleep_and_a_clear_refusal_are_as_ever),
        cmocka_unit_test(a_refused_field_is_left_out_once_and_remembered),
        cmocka_unit_test(a_field_that_is_refused_again_is_an_error),
        cmocka_unit_test(two_fields_are_learned_one_after_the_other),
        cmocka_unit_test(a_limit_of_answers_is_obeyed_from_then_on),
        cmocka_unit_test(an_overflow_teaches_the_window_and_is_for_the_caller),
        cmocka_unit_test(refused_reasoning_is_dropped_once_for_the_session),
        cmocka_unit_test(reasoning_that_is_wanted_back_goes_back),
        cmocka_unit_test(a_key_goes_in_the_clear_to_private_places_only),
        cmocka_unit_test(an_error_that_echoes_the_key_does_not_show_it),
        cmocka_unit_test(a_key_in_a_header_of_the_providers_own_is_not_shown_either),
        cmocka_unit_test(what_is_wrong_with_us_ends_it_at_once),
        cmocka_unit_test(after_a_cancel_in_any_state_nothing_is_told_and_nothing_is_open),
        cmocka_unit_test(a_cancel_within_any_callback_is_the_last_thing_that_is_told),
        cmocka_unit_test(the_next_request_can_begin_within_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
