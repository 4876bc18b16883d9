/*
 * An agent with a core of its own, and a model that the test plays: approvals, questions, circles, and a
 * cancel from within each event of a turn.
 */
#include "test.h"

#include "core_world.h"
#include "llm_rig.h"

#include "agent/turn_int.h"
#include "base/mem.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
    struct core_world *core;
    struct rig rig;
    struct al_agent *agent;
    struct al_buf log; /* types of events, a line each; of some with a word */
    unsigned n_events, n_ended, cancel_at, n_asked, n_questions;
    enum al_agent_outcome outcome;
    struct al_err err;
    char text[256];
    enum al_approval approval; /* the answer to the next question … */
    bool later;                /* … or it waits in what follows */
    void (*answer)(void *ud, enum al_approval approval);
    void *answer_ud;
    const char *reply; /* to a question of ask_user_question; NULL: it waits */
    void (*answers)(void *ud, struct al_str json, bool answered);
    void *answers_ud;
};

static void on_event(void *ud, const struct al_agent_event *e)
{
    struct world *w = ud;
    autoarena struct al_arena arena = AL_ARENA_INIT(1 << 20);
    const struct al_json *v = NULL;
    struct al_err err;
    if (al_json_parse(&arena, e->data, &v, &err) < 0)
        fail_msg("%s: %.*s", e->type, AL_FMT(e->data));
    w->n_events++;
    assert_int_equal(e->seq, w->n_events);
    al_buf_addf(&w->log, "%s", e->type);
    static const char *const keys[] = {"decision", "code", "capability"};
    for (size_t i = 0; i < 3; i++)
        if (al_json_get(v, keys[i]))
            al_buf_addf(&w->log, " %.*s", AL_FMT(al_json_get_text(v, keys[i])));
    al_buf_addc(&w->log, '\n');
    if (w->n_events == w->cancel_at)
        al_agent_cancel(w->agent);
}

static void on_ask(void *ud, const struct al_ask *ask)
{
    struct world *w = ud;
    w->n_asked++;
    if (!w->later) {
        ask->answer(ask->ud, w->approval);
        return;
    }
    w->answer = ask->answer;
    w->answer_ud = ask->ud;
}

static void on_question(void *ud, const struct al_agent_question *q)
{
    struct world *w = ud;
    w->n_questions++;
    assert_non_null(q->questions);
    assert_int_equal(q->questions->type, AL_JSON_ARRAY);
    if (w->reply) {
        q->answer(q->ud, al_str_of(w->reply), true);
        return;
    }
    w->answers = q->answer;
    w->answers_ud = q->ud;
}

static void on_ended(void *ud, const struct al_agent_end *end)
{
    struct world *w = ud;
    w->n_ended++;
    w->outcome = end->outcome;
    w->err = end->err;
    snprintf(w->text, sizeof(w->text), "%.*s", AL_FMT(end->text));
}

static void open_agent(struct world *w, bool asks)
{
    struct al_agent_opts o = {.core = w->core->core, .llm = w->rig.l, .headless = !asks};
    struct al_agent_ops ops = {.event = on_event, .ended = on_ended};
    struct al_err err;
    if (asks) {
        ops.ask = on_ask;
        ops.question = on_question;
    }
    if (al_agent_new(&o, &ops, w, &w->agent, &err) < 0)
        fail_msg("%s", err.msg);
}

static void open_world(struct world *w, void **state, bool asks)
{
    struct al_llm_facts facts = {.window = 100000};
    *w = (struct world){.core = *state, .approval = AL_APPROVAL_DENY, .log = AL_BUF_INIT(1 << 20)};
    w->core->opts.source = "agent";
    w->core->opts.can_ask = asks;
    core_world_start(w->core, NULL);
    al_tools_register(w->core->core);
    al_core_register(w->core->core, &al_tool_ask_user_question);
    rig_open(&w->rig, AL_API_CHAT, "http://127.0.0.1:1/v1", NULL);
    rig_facts(&w->rig, &facts);
    open_agent(w, asks);
}

static void close_world(struct world *w)
{
    al_agent_free(w->agent);
    rig_close(&w->rig);
    al_buf_free(&w->log);
}

/* --- time --- */

static void wake(void *ud)
{
    *(bool *)ud = true;
}

static void turn_loop(struct world *w)
{
    bool done = false;
    struct al_timer *t = al_timer_start(w->core->loop, 1, wake, &done);
    (void)t;
    assert_true(al_loop_run_until(w->core->loop, &done, 10000));
    rig_advance(&w->rig, 1);
}

static bool is_asked(struct world *w)
{
    return rig_is_open(&w->rig);
}

/* Until the model is asked, or the turn has ended. */
static bool until_asked(struct world *w)
{
    for (int i = 0; i < 2000 && !is_asked(w) && w->n_ended == 0; i++)
        turn_loop(w);
    return is_asked(w) && w->n_ended == 0;
}

static void until_ended(struct world *w)
{
    for (int i = 0; i < 2000 && w->n_ended == 0; i++)
        turn_loop(w);
    if (w->n_ended != 1)
        fail_msg("%u ends after %.*s", w->n_ended, AL_FMT(al_buf_str(&w->log)));
}

/* --- the model --- */

static void begin(struct world *w, const char *prompt)
{
    struct al_err err;
    w->n_ended = w->n_events = 0;
    al_buf_clear(&w->log);
    if (al_agent_start(w->agent, al_str_of(prompt), &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(w->n_ended, 0);
}

static void put_call(struct al_buf *b, int i, const char *name, const char *args)
{
    struct al_jw w;
    al_jw_init(&w, b);
    al_buf_addf(b,
                "data: "
                "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"type\":"
                "\"function\","
                "\"function\":{\"name\":\"%s\",\"arguments\":",
                i, i, name);
    al_jw_strz(&w, args);
    al_buf_adds(b, "}}]},\"finish_reason\":null}]}\n\n");
}

static void stream(struct world *w, struct al_str bytes)
{
    rig_head(&w->rig, 200, "text/event-stream", NULL);
    if (is_asked(w)) /* not cancelled from within an event */
        rig_bytes(&w->rig, bytes);
    rig_advance(&w->rig, 0);
}

/* An answer with calls: name, arguments, name, arguments … NULL. Nothing when the turn has ended. */
static void say_calls(struct world *w, const char *const *calls)
{
    autobuf struct al_buf b = AL_BUF_INIT(1 << 20);
    if (!until_asked(w))
        return;
    al_buf_adds(
        &b,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so: \"},\"finish_reason\":null}]}\n\n");
    for (int i = 0; calls[2 * i]; i++)
        put_call(&b, i, calls[2 * i], calls[2 * i + 1]);
    al_buf_adds(&b,
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: "
                "[DONE]\n\n");
    stream(w, al_buf_str(&b));
}

static void say(struct world *w, const char *text)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    if (!until_asked(w))
        return;
    al_buf_addf(
        &b,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":null}]}\n\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        text);
    stream(w, al_buf_str(&b));
}

#define CALLS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define WRITE "{\"path\":\"x.txt\",\"content\":\"1\",\"expectedHash\":null}"

static bool is_there(struct world *w, const char *name)
{
    autofree char *path = core_world_path(w->core->ws, name);
    return access(path, F_OK) == 0;
}

static bool last_request_says(struct world *w, const char *words)
{
    return strstr(w->rig.http[w->rig.n_http - 1].body, words) != NULL;
}

static void log_has(const struct world *w, const char *lines)
{
    if (al_str_find(al_buf_str(&w->log), al_str_of(lines)) < 0)
        fail_msg("%s is not in\n%.*s", lines, AL_FMT(al_buf_str(&w->log)));
}

/* --- approvals --- */

static void an_approval_is_asked_for_told_and_counts_once(void **state)
{
    struct world w;
    open_world(&w, state, true);
    w.approval = AL_APPROVAL_ONCE;
    begin(&w, "go");
    say_calls(&w, CALLS("write_file", WRITE));
    say_calls(&w, CALLS("write_file", "{\"path\":\"y.txt\",\"content\":\"1\",\"expectedHash\":null}"));
    say(&w, "done");
    until_ended(&w);
    assert_int_equal(w.outcome, AL_AGENT_COMPLETED);
    assert_int_equal(w.n_asked, 2);
    assert_true(is_there(&w, "x.txt") && is_there(&w, "y.txt"));
    log_has(&w, "tool_started\napproval_requested\napproval_resolved once\ntool_completed\n");
    close_world(&w);
}

static void an_approval_for_the_session_asks_no_more(void **state)
{
    struct world w;
    open_world(&w, state, true);
    w.approval = AL_APPROVAL_SESSION;
    begin(&w, "go");
    say_calls(&w, CALLS("write_file", WRITE, "write_file",
                        "{\"path\":\"y.txt\",\"content\":\"1\",\"expectedHash\":null}"));
    say(&w, "done");
    until_ended(&w);
    assert_int_equal(w.n_asked, 1);
    assert_true(is_there(&w, "x.txt") && is_there(&w, "y.txt"));
    close_world(&w);
}

static void a_no_is_what_the_model_reads(void **state)
{
    struct world w;
    open_world(&w, state, true);
    begin(&w, "go");
    say_calls(&w, CALLS("write_file", WRITE));
    assert_true(until_asked(&w));
    assert_true(last_request_says(&w, "PERMISSION_DENIED: write_file: the person was asked, and said no"));
    say(&w, "done");
    until_ended(&w);
    assert_false(is_there(&w, "x.txt"));
    log_has(&w, "approval_resolved deny\ntool_completed PERMISSION_DENIED\n");
    close_world(&w);
}

static void a_cancel_while_a_person_is_asked_ends_at_once_and_a_late_yes_does_nothing(void **state)
{
    struct world w;
    open_world(&w, state, true);
    w.later = true;
    begin(&w, "go");
    say_calls(&w, CALLS("write_file", WRITE));
    for (int i = 0; i < 1000 && !w.answer; i++)
        turn_loop(&w);
    al_agent_cancel(w.agent);
    until_ended(&w);
    assert_int_equal(w.outcome, AL_AGENT_CANCELLED);
    al_agent_free(w.agent);
    w.agent = NULL;
    w.answer(w.answer_ud, AL_APPROVAL_ONCE);
    turn_loop(&w);
    assert_false(is_there(&w, "x.txt"));
    close_world(&w);
}

/* --- questions --- */

#define QUESTION                                                                                         \
    "{\"questions\":[{\"header\":\"Format\",\"question\":\"Which?\",\"options\":[{\"label\":\"JSON\"},{" \
    "\"label\":\"CSV\"}]}]}"

static void a_question_goes_to_the_person_and_the_answer_to_the_model(void **state)
{
    struct world w;
    open_world(&w, state, true);
    w.reply = "{\"answers\":[{\"header\":\"Format\",\"selected\":[\"CSV\"]}]}";
    begin(&w, "go");
    say_calls(&w, CALLS("ask_user_question", QUESTION));
    assert_true(until_asked(&w));
    assert_int_equal(w.n_questions, 1);
    assert_true(last_request_says(&w, "Format: CSV"));
    say(&w, "done");
    until_ended(&w);
    close_world(&w);
}

static void a_question_where_nobody_is_is_an_error_at_once(void **state)
{
    struct world w;
    open_world(&w, state, false);
    begin(&w, "go");
    say_calls(&w, CALLS("ask_user_question", QUESTION));
    assert_true(until_asked(&w));
    assert_true(last_request_says(&w, "nobody"));
    say(&w, "done");
    until_ended(&w);
    assert_int_equal(w.outcome, AL_AGENT_COMPLETED);
    close_world(&w);
}

static void a_cancel_takes_a_question_back(void **state)
{
    struct world w;
    open_world(&w, state, true);
    begin(&w, "go");
    say_calls(&w, CALLS("ask_user_question", QUESTION));
    for (int i = 0; i < 1000 && !w.answers; i++)
        turn_loop(&w);
    al_agent_cancel(w.agent);
    until_ended(&w);
    assert_int_equal(w.outcome, AL_AGENT_CANCELLED);
    w.answers(w.answers_ud, AL_STR("{\"answers\":[]}"), true);
    turn_loop(&w);
    close_world(&w);
}

/* --- circles --- */

static void a_person_decides_about_a_model_that_goes_in_a_circle(void **state)
{
    struct world w;
    open_world(&w, state, true);
    w.reply = "{\"answers\":[{\"header\":\"Going in a circle\",\"selected\":[\"Go on\"]}]}";
    begin(&w, "go");
    for (int i = 0; i < 6; i++)
        say_calls(&w, CALLS("artifact_list", "{}"));
    assert_true(until_asked(&w));
    if (w.n_questions != 1)
        fail_msg("%s", w.rig.http[w.rig.n_http - 1].body);
    w.reply = "{\"answers\":[{\"header\":\"Going in a circle\",\"selected\":[\"Stop\"]}]}";
    for (int i = 0; i < 4; i++)
        say_calls(&w, CALLS("artifact_list", "{}"));
    until_ended(&w);
    assert_int_equal(w.n_questions, 2);
    assert_int_equal(w.outcome, AL_AGENT_FAILED);
    assert_int_equal(w.err.code, AL_TURN_LIMIT);
    close_world(&w);
}

/* --- turns of one agent --- */

static void turns_follow_each_other_and_nothing_goes_on_by_itself(void **state)
{
    struct world w;
    struct al_err err;
    open_world(&w, state, true);
    assert_int_equal(al_agent_start(w.agent, AL_STR(""), &err), -1);
    assert_int_equal(err.code, AL_INVALID_INPUT);
    begin(&w, "first");
    assert_int_equal(al_agent_start(w.agent, AL_STR("second"), &err), -1);
    say(&w, "one");
    until_ended(&w);
    assert_string_equal(w.text, "one");
    assert_int_equal(al_agent_start(w.agent, AL_STR(""), &err), -1);
    begin(&w, "second");
    say(&w, "two");
    assert_true(last_request_says(&w, "first") && last_request_says(&w, "one") &&
                last_request_says(&w, "second"));
    until_ended(&w);
    begin(&w, "third");
    assert_true(until_asked(&w));
    al_agent_cancel(w.agent);
    al_agent_cancel(w.agent);
    until_ended(&w);
    assert_int_equal(w.outcome, AL_AGENT_CANCELLED);
    begin(&w, "");
    say(&w, "on");
    until_ended(&w);
    assert_int_equal(w.outcome, AL_AGENT_COMPLETED);
    close_world(&w);
}

static void the_session_is_taken_by_one_agent(void **state)
{
    struct world w;
    struct al_agent_ops ops = {.event = on_event, .ended = on_ended};
    struct al_agent *second = NULL;
    struct al_err err;
    open_world(&w, state, true);
    struct al_agent_opts o = {.core = w.core->core, .llm = w.rig.l};
    assert_int_equal(al_agent_new(&o, &ops, &w, &second, &err), -1);
    assert_int_equal(err.code, AL_STATE_CONFLICT);
    assert_null(second);
    close_world(&w);
}

/* --- a cancel from within each event --- */

static unsigned play(struct world *w, unsigned cancel_at)
{
    w->cancel_at = cancel_at;
    w->approval = AL_APPROVAL_ONCE;
    begin(w, "go");
    say_calls(w, CALLS("artifact_list", "{}", "nope", "{}", "read_file", "[1]", "artifact_list", "{}",
                       "write_file", WRITE, "read_file", "{\"path\":\"x.txt\"}"));
    say_calls(w, CALLS("artifact_create", "{\"fileName\":\"a.txt\",\"text\":\"a\",\"text\":\"b\"}"));
    say(w, "done");
    until_ended(w);
    for (int i = 0; i < 5; i++)
        turn_loop(w);
    assert_int_equal(w->n_ended, 1);
    return w->n_events;
}

static void a_cancel_from_within_any_event_ends_the_turn_once(void **state)
{
    struct world w;
    open_world(&w, state, true);
    unsigned n = play(&w, 0);
    assert_int_equal(w.outcome, AL_AGENT_COMPLETED);
    assert_true(n > 15);
    for (unsigned at = 1; at < n; at++) {
        autofree char *file = core_world_path(w.core->ws, "x.txt");
        (void)!unlink(file);
        play(&w, at);
        if (w.outcome != AL_AGENT_CANCELLED && w.n_events < n)
            fail_msg("cancelled at %u: outcome %d after %.*s", at, w.outcome, AL_FMT(al_buf_str(&w.log)));
        w.cancel_at = 0;
        begin(&w, "and on");
        say(&w, "fine");
        until_ended(&w);
        assert_int_equal(w.outcome, AL_AGENT_COMPLETED);
    }
    close_world(&w);
}

#define WORLD(name) cmocka_unit_test_setup_teardown(name, core_world_set_up, core_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(an_approval_is_asked_for_told_and_counts_once),
        WORLD(an_approval_for_the_session_asks_no_more),
        WORLD(a_no_is_what_the_model_reads),
        WORLD(a_cancel_while_a_person_is_asked_ends_at_once_and_a_late_yes_does_nothing),
        WORLD(a_question_goes_to_the_person_and_the_answer_to_the_model),
        WORLD(a_question_where_nobody_is_is_an_error_at_once),
        WORLD(a_cancel_takes_a_question_back),
        WORLD(a_person_decides_about_a_model_that_goes_in_a_circle),
        WORLD(turns_follow_each_other_and_nothing_goes_on_by_itself),
        WORLD(the_session_is_taken_by_one_agent),
        WORLD(a_cancel_from_within_any_event_ends_the_turn_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
