/* The conversation as it is read from the journal, and events on their way into it. */
#include "conversation_test.h"

#include "agent/agent_int.h"

#define SAID(text) "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"text\":\"" text "\"}]}"
#define HEAD                                                                                             \
    "{\"role\":\"assistant\",\"from\":{\"provider\":\"fake\",\"baseUrl\":\"u\",\"model\":\"m\",\"api\":" \
    "\"chat\"},\"parts\":["

static struct al_agent agent_of(const struct talk *t)
{
    struct al_agent a = {.store = t->s};
    memcpy(a.session, t->session, sizeof a.session);
    return a;
}

/* An assistant message with these calls, as the journal has it; secret arguments in the first. */
static int64_t calling(struct talk *t, struct al_model_call *calls, size_t n)
{
    struct al_err err = {0};
    autobuf struct al_buf body = AL_BUF_INIT(1u << 20);
    int64_t seq;
    al_buf_adds(&body, HEAD "{\"text\":\"I look\"}");
    for (size_t i = 0; i < n; i++)
        al_buf_addf(&body,
                    ",{\"call\":{\"id\":\"%s\",\"providerId\":\"p%zu\",\"name\":\"%s\",\"arguments\":\"{"
                    "\\\"token\\\":1}\"}}",
                    calls[i].id, i, calls[i].name);
    al_buf_adds(&body, "]}");
    OK(al_turn_assistant(t->s, t->session, t->turn, al_buf_str(&body), calls, n, &seq, &err));
    return seq;
}

/* "user hello|assistant I look +2|result text|error x": what a request would be made of. */
static void outline(const struct al_agent *a, struct al_buf *out)
{
    for (size_t i = 0; i < a->history.n; i++) {
        const struct al_llm_message *m = &a->history.v[i];
        size_t calls = 0;
        al_buf_addf(out, "%s%s ", i ? "|" : "",
                    m->role == AL_LLM_USER        ? m->by == AL_LLM_SUMMARY ? "summary" : "user"
                    : m->role == AL_LLM_ASSISTANT ? "assistant"
                    : m->is_error                 ? "error"
                                                  : "result");
        for (size_t k = 0; k < m->n_parts; k++) {
            if (m->parts[k].kind == AL_LLM_TEXT)
                al_buf_add_str(out, m->parts[k].text);
            calls += m->parts[k].kind == AL_LLM_CALL;
        }
        if (calls)
            al_buf_addf(out, " +%zu", calls);
    }
    al_buf_addc(out, 0);
}

static void assert_outline(struct talk *t, const char *want)
{
    struct al_err err = {0};
    struct al_agent a = agent_of(t);
    autobuf struct al_buf got = AL_BUF_INIT(1u << 20);
    OK(al_history_load(&a, &err));
    outline(&a, &got);
    assert_string_equal(got.p, want);
    al_history_fini(&a);
}

static void results_stand_behind_their_calls_in_their_order(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call calls[] = {call_of("a", "{}"), call_of("b", "{}"), call_of("c", "{}")};
    calling(&t, calls, 3);
    for (int i = 2; i >= 0; i--) { /* they end the other way round */
        if (i < 2)
            OK(al_turn_call_begin(t.s, calls[i].id, "read", false, &err));
        calls[i].status = (char *)"completed";
        calls[i].result = (char *)(i == 0 ? "first" : "second");
        if (i == 1)
            OK(al_turn_call_end(t.s, &calls[i], &err));
    }
    OK(al_turn_settle(t.s, t.session, NULL, NULL, &err));
    int64_t seq;
    OK(al_turn_message(t.s, t.session, t.turn, AL_STR(SAID("next")), &seq, &err));
    struct al_agent a = agent_of(&t);
    OK(al_history_load(&a, &err));
    assert_int_equal(a.history.n, 6);
    assert_true(al_str_is(a.history.v[2].call_id, calls[0].id));
    assert_true(a.history.v[2].is_error && al_str_starts(a.history.v[2].parts[0].text, AL_CALL_IN_FLIGHT));
    assert_true(al_str_is(a.history.v[3].parts[0].text, "second") && !a.history.v[3].is_error);
    assert_true(al_str_is(a.history.v[4].parts[0].text, AL_CALL_NOT_STARTED) && a.history.v[4].is_error);
    assert_int_equal(a.history.v[5].seq, seq);
    /* What the model wrote is what it reads again. */
    assert_true(al_str_is(a.history.v[1].parts[1].text, "{\"token\":1}"));
    assert_true(al_str_is(a.history.v[1].parts[1].provider_id, "p0"));
    al_history_fini(&a);
    al_store_close(t.s);
}

static void what_a_summary_stands_for_is_not_read(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("a", "{}");
    int64_t sum, seq = calling(&t, &call, 1);
    call.status = (char *)"completed";
    call.result = (char *)"text";
    OK(al_turn_call_end(t.s, &call, &err));
    assert_outline(&t, "user hello|assistant I look +1|result text");
    OK(al_turn_message(t.s, t.session, t.turn, AL_STR(SAID("next")), &sum, &err));
    OK(al_turn_compact(t.s, t.session, t.turn,
                       AL_STR("{\"role\":\"user\",\"by\":\"summary\",\"parts\":[{\"text\":\"short\"}]}"),
                       t.prompt, seq, &sum, &err));
    assert_outline(&t, "summary short|user next");
    al_store_close(t.s);
}

static void a_call_without_a_row_is_told_as_unknown(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("a", "{}");
    calling(&t, &call, 1);
    OK(al_db_exec(t.s->db, "DELETE FROM model_calls", &err));
    assert_outline(&t, "user hello|assistant I look +1|error no result was recorded; it may have taken "
                       "effect; check before repeating");
    al_store_close(t.s);
}

static void a_row_that_cannot_be_read_is_named(void **state)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "7",
        "{}",
        "{\"role\":\"wizard\"}",
        "{\"role\":\"user\",\"parts\":7}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[7]}",
        "{\"role\":\"result\",\"callId\":\"x\",\"parts\":[{\"text\":\"\"}]}",
        "{\"role\":\"user\",\"by\":\"person\",\"parts\":[{\"text\":\"\xff\"}]}",
    };
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_agent a = agent_of(&t);
    int64_t seq;
    OK(al_turn_message(t.s, t.session, t.turn, AL_STR(SAID("next")), &seq, &err));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct al_stmt *q;
        char want[64];
        OK(al_db_prepare(t.s->db, "UPDATE messages SET body=?2 WHERE seq=?1", &q, &err));
        al_bind_int(q, 1, seq);
        al_bind_textz(q, 2, bad[i]);
        OK(al_step(q, &err));
        assert_int_equal(al_history_load(&a, &err), -1);
        snprintf(want, sizeof want, "message %lld of session %s", (long long)seq, t.session);
        assert_non_null(strstr(err.msg, want));
        assert_non_null(strstr(err.hint, "sessions export"));
        assert_int_equal(a.history.n, 0);
    }
    /* Deep, or as a number. */
    OK(al_db_exec(t.s->db, "UPDATE messages SET body=x'00ff' WHERE seq=2", &err));
    assert_int_equal(al_history_load(&a, &err), -1);
    al_history_fini(&a);
    al_store_close(t.s);
}

static void what_is_added_reads_as_it_will_from_the_journal(void **state)
{
    struct talk t = new_talk(*state);
    struct al_agent a = agent_of(&t);
    al_history_add_result(&a, AL_STR("call_1"), AL_STR("a\0b\xc3"), true);
    assert_true(al_str_is(a.history.v[0].parts[0].text, "a\xef\xbf\xbd"
                                                        "b\xef\xbf\xbd"));
    assert_true(a.history.v[0].is_error);
    char name[] = "n";
    struct al_llm_part part = {.kind = AL_LLM_CALL, .name = {name, 1}, .id = AL_STR("call_2")};
    struct al_llm_message m = {.role = AL_LLM_ASSISTANT, .parts = &part, .n_parts = 1};
    al_history_add(&a, &m);
    name[0] = 'x';
    assert_true(al_str_is(a.history.v[1].parts[0].name, "n"));
    al_history_fini(&a);
    al_store_close(t.s);
}

struct heard {
    struct al_buf text;
    int64_t seq, ids;
};

static void hear(void *ud, const struct al_agent_event *e)
{
    struct heard *h = ud;
    assert_int_equal(e->seq, ++h->seq);
    h->ids += e->event_id > 0;
    al_buf_addf(&h->text, "%s %.*s;", e->type, AL_FMT(e->data));
}

static bool take_event(void *ud, const struct al_event_row *e)
{
    al_buf_addf(ud, "%lld %s %.*s;", (long long)e->seq, e->type, AL_FMT(e->data));
    return true;
}

static void deltas_are_told_and_never_kept(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct heard h = {.text = AL_BUF_INIT(1u << 20)};
    struct al_agent a = agent_of(&t);
    a.ops.event = hear;
    a.ud = &h;
    memcpy(a.run_id, t.turn, sizeof a.run_id);
    al_agent_event(&a, "run_started", AL_STR("{\"tokensBefore\":5}"));
    al_agent_event(&a, "text_delta", AL_STR("{\"text\":\"x\"}"));
    al_agent_event(&a, "reasoning_delta", AL_STR("{}"));
    al_agent_event(&a, "tool_progress", AL_STR("{}"));
    al_agent_event(&a, "tool_started",
                   AL_STR("{\"arguments\":{\"api_key\":\"canary\",\"b\":1},\"name\":\"token\"}"));
    al_agent_event(&a, "tool_started", AL_STR("{\"arguments\":\"{\\\"password\\\":\\\"canary\\\"}\"}"));
    assert_int_equal(h.ids, 3);
    autobuf struct al_buf kept = AL_BUF_INIT(1u << 20);
    OK(al_turn_event_each(t.s, t.session, 0, take_event, &kept, &err));
    al_buf_addc(&kept, 0);
    assert_string_equal(
        kept.p, "1 run_started {\"tokensBefore\":5};"
                "5 tool_started {\"arguments\":{\"api_key\":\"‹redacted›\",\"b\":1},\"name\":\"token\"};"
                "6 tool_started {\"arguments\":\"{\\\"password\\\":\\\"‹redacted›\\\"}\"};");
    al_buf_addc(&h.text, 0);
    assert_null(strstr(h.text.p, "canary"));
    al_buf_free(&h.text);
    al_store_close(t.s);
}

static void a_message_is_shown_without_its_secrets(void **state)
{
    (void)state;
    autobuf struct al_buf out = AL_BUF_INIT(1u << 20);
    assert_true(
        al_message_shown(AL_STR(HEAD "{\"text\":\"t\"},{\"call\":{\"id\":\"c\",\"name\":\"n\",\"arguments\":"
                                     "\"{\\\"token\\\":\\\"canary\\\"}\"}}]}"),
                         &out));
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, HEAD "{\"text\":\"t\"},{\"call\":{\"id\":\"c\",\"name\":\"n\",\"arguments\":"
                                    "\"{\\\"token\\\":\\\"‹redacted›\\\"}\"}}]}");
    al_buf_clear(&out);
    assert_false(al_message_shown(AL_STR("[]"), &out));
    assert_false(al_message_shown(AL_STR("{\"a\":"), &out));
}

static bool pass_turn(void *ud, const struct al_turn *t)
{
    *(size_t *)ud += strlen(t->provider) + strlen(t->status) + strlen(t->api);
    return true;
}

static bool pass_event(void *ud, const struct al_event_row *e)
{
    *(size_t *)ud += strlen(e->type) + strlen(e->turn) + e->data.n;
    return true;
}

static bool pass_call(void *ud, const struct al_model_call *c)
{
    *(size_t *)ud += strlen(c->name) + strlen(c->arguments) + strlen(c->status);
    return true;
}

/* Every reader of a session's rows; each may fail, and then says why. */
static void read_all(struct talk *t)
{
    struct al_err err = {0};
    struct al_agent a = agent_of(t);
    struct al_session copy = {0};
    size_t sum = 0;
    if (al_turn_lock(t->s, t->session, NULL, &err) == 0)
        al_turn_unlock(t->s, t->session);
    if (al_turn_settle(t->s, t->session, NULL, NULL, &err) < 0 ||
        al_turn_each(t->s, t->session, pass_turn, &sum, &err) < 0 ||
        al_turn_event_each(t->s, t->session, 0, pass_event, &sum, &err) < 0 ||
        al_model_call_each(t->s, t->session, pass_call, &sum, &err) < 0)
        assert_true(err.msg[0]);
    if (al_history_load(&a, &err) < 0)
        assert_true(err.msg[0]);
    al_history_fini(&a);
    if (al_store_session_fork(t->s, t->session, &copy, &err) == 0)
        al_session_fini(&copy);
    OK(al_store_recover(t->s, &err));
    OK(al_store_purge_before(t->s, 1, &err));
}

static void rows_of_any_content_are_read_or_named(void **state)
{
    static const char *const columns[][2] = {
        {"turns", "host_id"},         {"turns", "provider"},         {"turns", "status"},
        {"turns", "usage"},           {"turns", "created_ms"},       {"turns", "ended_ms"},
        {"turns", "n_calls"},         {"messages", "turn"},          {"messages", "created_ms"},
        {"messages", "compacted_by"}, {"messages", "place"},         {"messages", "body"},
        {"model_calls", "id"},        {"model_calls", "ord"},        {"model_calls", "name"},
        {"model_calls", "effect"},    {"model_calls", "status"},     {"model_calls", "is_error"},
        {"model_calls", "execution"}, {"model_calls", "started_ms"}, {"model_calls", "ended_ms"},
        {"model_calls", "arguments"}, {"model_calls", "output"},     {"model_calls", "result"},
        {"model_calls", "whole"},     {"turn_events", "turn"},       {"turn_events", "seq"},
        {"turn_events", "type"},      {"turn_events", "data"},       {"session_locks", "host_id"},
        {"session_locks", "pid"},     {"session_locks", "terminal"}, {"session_locks", "since_ms"},
    };
    static const char *const values[] = {
        "''",
        "x'00ff00'",
        "x'c328'",
        "-9223372036854775807-1",
        "9223372036854775807",
        "1e300",
        "'running'",
        "'absent'",
        "'../../x'",
        "printf('%.*c', 70000, '[')",
        "printf('%.*c', 70000, 'x')",
        "'{\"role\":\"assistant\",\"parts\":[{\"call\":{}}]}'",
    };
    struct talk t = {.s = open_store(*state)};
    struct al_err err = {0};
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            struct al_model_call call = call_of("shell", "{}");
            int64_t id;
            char sql[512];
            new_session(t.s, "/w", t.session);
            begin_turn(&t, USER);
            calling(&t, &call, 1);
            OK(al_turn_call_begin(t.s, call.id, "process", false, &err));
            OK(al_turn_event(t.s, t.session, t.turn, "run_started", AL_STR("{}"), 1, &id, &err));
            OK(al_turn_lock(t.s, t.session, NULL, &err));
            snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s=%s WHERE session='%s'", columns[c][0],
                     columns[c][1], values[v], t.session);
            OK(al_db_exec(t.s->db, sql, &err));
            read_all(&t);
        }
        /* Rows grow with each session; what is asked of one must not. */
        OK(al_db_exec(t.s->db, "DELETE FROM sessions", &err));
    }
    al_store_close(t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_stand_behind_their_calls_in_their_order, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_summary_stands_for_is_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_call_without_a_row_is_told_as_unknown, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_that_cannot_be_read_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_added_reads_as_it_will_from_the_journal, setup, teardown),
        cmocka_unit_test_setup_teardown(deltas_are_told_and_never_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_of_any_content_are_read_or_named, setup, teardown),
        cmocka_unit_test(a_message_is_shown_without_its_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
