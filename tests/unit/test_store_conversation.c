/* Turns, messages, calls and events of a conversation, and what else the store does with them. */
#include "conversation_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

struct turns {
    struct al_turn last;
    char status[8][24];
    int n;
};

static bool take_turn(void *ud, const struct al_turn *t)
{
    struct turns *l = ud;
    snprintf(l->status[l->n++], sizeof l->status[0], "%s", t->status);
    l->last.n_requests = t->n_requests;
    l->last.n_calls = t->n_calls;
    l->last.ended_ms = t->ended_ms;
    assert_string_equal(t->provider, "fake");
    assert_string_equal(t->api, "chat");
    return l->n < 8;
}

static void turns_of(struct al_store *s, const char *session, struct turns *ret)
{
    struct al_err err = {0};
    *ret = (struct turns){.n = 0};
    OK(al_turn_each(s, session, take_turn, ret, &err));
}

/* "12 s14 15": the numbers of messages in their order, less the first one's, a summary marked. */
struct order {
    int64_t first;
    struct al_buf out;
};

static bool take_message(void *ud, const struct al_message_row *m)
{
    struct order *o = ud;
    if (!o->first)
        o->first = m->seq;
    al_buf_addf(&o->out, "%s%lld", o->out.n ? " " : "", (long long)(m->seq - o->first));
    if (m->compacted_by)
        al_buf_addf(&o->out, "/%lld", (long long)(m->compacted_by - o->first));
    return true;
}

static void assert_order(struct al_store *s, const char *session, bool all, int64_t first, const char *want)
{
    struct al_err err = {0};
    struct order o = {.first = first, .out = AL_BUF_INIT(4096)};
    OK(al_message_each(s, session, all, take_message, &o, &err));
    al_buf_addc(&o.out, 0);
    assert_string_equal(o.out.p, want);
    al_buf_free(&o.out);
}

static void a_turn_goes_from_its_prompt_to_its_end_once(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call calls[] = {call_of("read_file", "{\"path\":\"a\"}"), call_of("no_such", "not json")};
    int64_t request, again;
    OK(al_turn_request(t.s, t.turn, 1, "m", "00ff", &request, &err));
    OK(al_turn_request_end(t.s, request, "failed", NULL, "cut", &err));
    OK(al_turn_request(t.s, t.turn, 2, "m", "00ff", &again, &err));
    OK(al_turn_request_end(t.s, again, "completed", "{\"input\":1}", NULL, &err));
    OK(al_turn_request_end(t.s, again, "failed", NULL, "late", &err));
    assert_true(again > request);
    assert_int_equal(
        number_of(t.s, "SELECT count(*) FROM model_requests WHERE status='failed' AND error='cut'"), 1);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM model_requests WHERE status='completed'"), 1);
    int64_t seq = assistant(&t, calls, 2);
    OK(al_turn_call_begin(t.s, calls[0].id, "read", false, &err));
    OK(al_turn_call_execution(t.s, calls[0].id, "exec_1", &err));
    calls[0].status = (char *)"completed";
    calls[0].result = (char *)"text";
    OK(al_turn_call_end(t.s, &calls[0], &err));
    calls[0].result = (char *)"another";
    OK(al_turn_call_end(t.s, &calls[0], &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    assert_int_equal(got.n, 2);
    assert_int_equal(got.v[0].message_seq, seq);
    assert_int_equal(got.v[1].ord, 1);
    assert_string_equal(got.v[0].result, "text");
    assert_string_equal(got.v[0].effect, "read");
    assert_string_equal(got.v[0].execution, "exec_1");
    assert_true(got.v[0].started_ms > 0 && got.v[0].ended_ms >= got.v[0].started_ms);
    assert_string_equal(got.v[1].status, "absent");
    assert_string_equal(got.v[1].arguments, "not json");
    assert_null(got.v[1].effect);
    calls_fini(&got);
    end_turn(&t, "completed");
    end_turn(&t, "failed");
    begin_turn(&t, "");
    assert_int_equal(t.prompt, 0);
    struct turns turns;
    turns_of(t.s, t.session, &turns);
    assert_int_equal(turns.n, 2);
    assert_string_equal(turns.status[0], "completed");
    assert_string_equal(turns.status[1], "running");
    al_store_close(t.s);
}

static void a_call_begins_once(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("write_file", "{}");
    assistant(&t, &call, 1);
    OK(al_turn_call_begin(t.s, call.id, "write", true, &err));
    assert_int_equal(al_turn_call_begin(t.s, call.id, "write", true, &err), -1);
    call.status = (char *)"completed";
    OK(al_turn_call_end(t.s, &call, &err));
    assert_int_equal(al_turn_call_begin(t.s, call.id, "write", true, &err), -1);
    assert_int_equal(al_turn_call_begin(t.s, "call_none", "write", true, &err), -1);
    call.status = (char *)"running";
    assert_int_equal(al_turn_call_end(t.s, &call, &err), -1);
    al_store_close(t.s);
}

static void a_message_and_its_calls_are_there_together_or_not_at_all(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call calls[] = {call_of("a", "{}"), call_of("b", "{}")};
    memcpy(calls[1].id, calls[0].id, AL_ID_MAX);
    int64_t seq = -7;
    assert_int_equal(al_turn_assistant(t.s, t.session, t.turn, AL_STR(ASSISTANT), calls, 2, &seq, &err), -1);
    assert_int_equal(seq, -7);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM messages"), 1);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM model_calls"), 0);
    static const char *const bad[] = {"", "{", "{\"a\":\"\xff\"}", "{} x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(al_turn_message(t.s, t.session, t.turn, al_str_of(bad[i]), &seq, &err), -1);
    struct al_turn row = turn_of("ses_none");
    assert_int_equal(al_turn_begin(t.s, &row, AL_STR(USER), &seq, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_store_close(t.s);
}

static void a_summary_stands_where_its_messages_stood(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    int64_t seq[8], sum1, sum2, sum3;
    seq[0] = t.prompt;
    for (int i = 1; i < 8; i++)
        OK(al_turn_message(t.s, t.session, t.turn, AL_STR(USER), &seq[i], &err));
    OK(al_turn_compact(t.s, t.session, t.turn, AL_STR(USER), seq[1], seq[3], &sum1, &err));
    assert_order(t.s, t.session, false, seq[0], "0 8 4 5 6 7");
    assert_order(t.s, t.session, true, seq[0], "0 1/8 2/8 3/8 4 5 6 7 8");
    /* With the summary itself. */
    OK(al_turn_compact(t.s, t.session, t.turn, AL_STR(USER), sum1, seq[5], &sum2, &err));
    assert_order(t.s, t.session, false, seq[0], "0 9 6 7");
    OK(al_turn_compact(t.s, t.session, t.turn, AL_STR(USER), seq[0], seq[6], &sum3, &err));
    assert_order(t.s, t.session, false, seq[0], "10 7");
    assert_order(t.s, t.session, true, seq[0], "0/10 1/8 2/8 3/8 4/9 5/9 6/10 7 8/9 9/10 10");
    /* What is compacted, another session's, or turned round cannot be summarised, and nothing is left of the
     * attempt. */
    int64_t none = -7;
    assert_int_equal(al_turn_compact(t.s, t.session, t.turn, AL_STR(USER), seq[0], seq[7], &none, &err), -1);
    assert_int_equal(al_turn_compact(t.s, t.session, t.turn, AL_STR(USER), seq[7], sum3, &none, &err), -1);
    assert_int_equal(al_turn_compact(t.s, "ses_other", t.turn, AL_STR(USER), sum3, seq[7], &none, &err), -1);
    assert_int_equal(none, -7);
    assert_order(t.s, t.session, false, seq[0], "10 7");
    al_store_close(t.s);
}

static void a_number_of_a_strange_hand_stops_nobody(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_session other = {0};
    int64_t seq = 0, next = 0;
    OK(al_turn_message(t.s, t.session, t.turn, AL_STR(USER), &seq, &err));
    OK(al_db_exec(t.s->db,
                  "UPDATE messages SET seq=9223372036854775807 WHERE seq=(SELECT max(seq) FROM messages)",
                  &err));
    OK(al_turn_message(t.s, t.session, t.turn, AL_STR(USER), &next, &err));
    assert_int_equal(next, seq);
    end_turn(&t, "completed");
    new_session(t.s, "/w", t.session);
    begin_turn(&t, USER);
    assert_int_equal(t.prompt, seq + 1);
    OK(al_store_session_fork(t.s, t.session, &other, &err));
    al_session_fini(&other);
    al_store_close(t.s);
}

static void what_is_no_text_is_kept_as_replacement_characters(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("a\xff", "{\"k\":\"\xed\xa0\x80\"}");
    assistant(&t, &call, 1);
    OK(al_turn_call_begin(t.s, call.id, NULL, false, &err));
    OK(al_turn_call_output(t.s, call.id, AL_STR("o\0\xc3"), &err));
    call.status = (char *)"completed";
    call.result = (char *)"r\xf0\x9f";
    OK(al_turn_call_end(t.s, &call, &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    assert_string_equal(got.v[0].name, "a\xef\xbf\xbd");
    assert_true(al_utf8_valid(al_str_of(got.v[0].arguments)));
    assert_string_equal(got.v[0].output, "o\xef\xbf\xbd\xef\xbf\xbd");
    assert_true(al_utf8_valid(al_str_of(got.v[0].result)));
    assert_non_null(strstr(got.v[0].result, "r\xef\xbf\xbd"));
    calls_fini(&got);
    al_store_close(t.s);
}

static void the_last_of_an_output_is_kept_at_whole_characters(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("shell", "{}");
    assistant(&t, &call, 1);
    OK(al_turn_call_begin(t.s, call.id, "process", true, &err));
    autobuf struct al_buf out = AL_BUF_INIT(1u << 20);
    for (int i = 0; i < 5000; i++)
        al_buf_adds(&out, "€");
    al_buf_adds(&out, "ab");
    OK(al_turn_call_output(t.s, call.id, al_buf_str(&out), &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    struct al_str kept = al_str_of(got.v[0].output);
    assert_true(kept.n <= 4096 && kept.n > 4090);
    assert_true(al_str_starts(kept, "€") && al_str_ends(kept, "€ab"));
    calls_fini(&got);
    al_store_close(t.s);
}

static void secrets_of_arguments_are_in_the_models_message_only(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("webfetch", "{\"url\":\"u\",\"api_key\":\"canary\"}");
    int64_t seq;
    OK(al_turn_assistant(t.s, t.session, t.turn,
                         AL_STR("{\"role\":\"assistant\",\"parts\":[{\"call\":{\"arguments\":\"{\\\"api_"
                                "key\\\":\\\"canary\\\"}\"}}]}"),
                         &call, 1, &seq, &err));
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM model_calls WHERE arguments LIKE '%canary%'"), 0);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM model_calls WHERE arguments LIKE '%redacted%'"), 1);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM messages WHERE body LIKE '%canary%'"), 1);
    al_store_close(t.s);
}

static void a_shorter_result_keeps_the_whole(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call call = call_of("read_file", "{}");
    assistant(&t, &call, 1);
    OK(al_turn_call_reduce(t.s, t.session, call.id, AL_STR("too early"), &err));
    call.status = (char *)"completed";
    call.result = (char *)"the long one";
    OK(al_turn_call_end(t.s, &call, &err));
    OK(al_turn_call_reduce(t.s, t.session, call.id, AL_STR("short"), &err));
    OK(al_turn_call_reduce(t.s, t.session, call.id, AL_STR("shorter"), &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    assert_string_equal(got.v[0].result, "shorter");
    assert_string_equal(got.v[0].whole, "the long one");
    calls_fini(&got);
    al_store_close(t.s);
}

static bool take_event(void *ud, const struct al_event_row *e)
{
    struct al_buf *b = ud;
    al_buf_addf(b, "%lld %s %.*s;", (long long)e->seq, e->type, AL_FMT(e->data));
    return true;
}

static void events_are_read_on_after_a_number(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    int64_t first, id;
    OK(al_turn_event(t.s, t.session, t.turn, "run_started", AL_STR("{}"), 1, &first, &err));
    OK(al_turn_event(t.s, t.session, t.turn, "tool_started", AL_STR("{\"a\":1}"), 4, &id, &err));
    assert_true(id > first);
    autobuf struct al_buf all = AL_BUF_INIT(4096), rest = AL_BUF_INIT(4096);
    OK(al_turn_event_each(t.s, t.session, 0, take_event, &all, &err));
    OK(al_turn_event_each(t.s, t.session, first, take_event, &rest, &err));
    assert_true(al_str_is(al_buf_str(&all), "1 run_started {};4 tool_started {\"a\":1};"));
    assert_true(al_str_is(al_buf_str(&rest), "4 tool_started {\"a\":1};"));
    al_store_close(t.s);
}

static void what_is_known_of_a_model_is_kept_for_its_address(void **state)
{
    struct al_store *s = open_store(*state);
    struct al_err err = {0};
    autobuf struct al_buf out = AL_BUF_INIT(4096);
    OK(al_store_model_facts(s, "u", "m", &out, &err));
    assert_int_equal(out.n, 0);
    OK(al_store_model_facts_set(s, "u", "m", AL_STR("{\"window\":1}"), &err));
    OK(al_store_model_facts_set(s, "u", "m", AL_STR("{\"window\":2}"), &err));
    OK(al_store_model_facts_set(s, "v", "m", AL_STR("{\"window\":3}"), &err));
    OK(al_store_model_facts(s, "u", "m", &out, &err));
    assert_true(al_str_is(al_buf_str(&out), "{\"window\":2}"));
    al_store_close(s);
}

static void one_host_at_a_time_has_a_session(void **state)
{
    struct talk t = new_talk(*state);
    struct al_store *other = open_store(*state);
    struct al_err err = {0};
    char want[64];
    OK(al_turn_lock(t.s, t.session, "/dev/pts/7", &err));
    for (int i = 0; i < 2; i++) {
        /* Not even its own host twice. */
        assert_int_equal(al_turn_lock(i ? t.s : other, t.session, NULL, &err), -1);
        assert_int_equal(err.code, AL_STATE_CONFLICT);
        snprintf(want, sizeof want, "process %d on /dev/pts/7 since 20", (int)getpid());
        assert_non_null(strstr(err.msg, want));
        assert_non_null(strstr(err.hint, "--fork"));
    }
    al_turn_unlock(other, t.session);
    assert_int_equal(al_turn_lock(other, t.session, NULL, &err), -1);
    al_turn_unlock(t.s, t.session);
    OK(al_turn_lock(other, t.session, NULL, &err));
    assert_int_equal(al_turn_lock(t.s, t.session, "/dev/pts/7", &err), -1);
    assert_null(strstr(err.msg, " on "));
    /* The end of its host is the end of a lock. */
    al_store_close(other);
    OK(al_turn_lock(t.s, t.session, "\x1b]0;x", &err));
    assert_int_equal(al_turn_lock(t.s, t.session, NULL, &err), -1);
    assert_null(strchr(err.msg, 0x1b));
    assert_int_equal(al_turn_lock(t.s, "ses_none", NULL, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_store_close(t.s);
}

/* A process that has the session, a running turn and a call, and is killed. */
static void leave_behind(const struct fix *f, const char *session)
{
    int p[2];
    char c;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct al_err err = {0};
        struct talk t = {.s = open_store(f)};
        memcpy(t.session, session, AL_ID_MAX);
        begin_turn(&t, USER);
        int64_t request;
        struct al_model_call call = call_of("shell", "{}");
        assistant(&t, &call, 1);
        if (al_turn_lock(t.s, session, NULL, &err) < 0 ||
            al_turn_request(t.s, t.turn, 1, "m", "", &request, &err) < 0 ||
            al_turn_call_begin(t.s, call.id, "process", true, &err) < 0 || write(p[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(p[0], &c, 1), 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(p[0]);
    close(p[1]);
}

static void what_a_dead_host_held_is_closed_and_taken_over(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    end_turn(&t, "completed");
    leave_behind(*state, t.session);
    /* This store was open before the other died: it finds out when it asks. */
    OK(al_turn_lock(t.s, t.session, NULL, &err));
    struct turns turns;
    turns_of(t.s, t.session, &turns);
    assert_int_equal(turns.n, 2);
    assert_string_equal(turns.status[0], "completed");
    assert_string_equal(turns.status[1], "interrupted");
    assert_true(turns.last.ended_ms > 0);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM model_requests WHERE status='interrupted'"), 1);
    al_turn_unlock(t.s, t.session);
    leave_behind(*state, t.session);
    al_store_close(open_store(*state));
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM session_locks"), 0);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM turns WHERE status='running'"), 0);
    al_store_close(t.s);
}

static void many_that_take_over_at_once_are_one(void **state)
{
    struct fix *f = *state;
    struct talk t = new_talk(f);
    leave_behind(f, t.session);
    int go[2], won = 0, refused = 0;
    assert_int_equal(pipe(go), 0);
    pid_t pids[20];
    for (int i = 0; i < 20; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct al_store *s;
            struct al_err err = {0};
            char c;
            close(go[1]);
            if (al_store_open(f->dir, NULL, &s, &err) < 0 || read(go[0], &c, 1) != 0)
                _exit(2);
            if (al_turn_lock(s, t.session, NULL, &err) == 0)
                pause();
            _exit(err.code == AL_STATE_CONFLICT ? 0 : 3);
        }
    }
    close(go[1]);
    for (int i = 0, status; i < 19; i++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        refused += WEXITSTATUS(status) == 0;
    }
    for (int i = 0, status; i < 20; i++) {
        if (waitpid(pids[i], &status, WNOHANG) == 0) {
            won++;
            kill(pids[i], SIGKILL);
            waitpid(pids[i], &status, 0);
        }
    }
    assert_int_equal(won, 1);
    assert_int_equal(refused, 19);
    close(go[0]);
    al_store_close(t.s);
}

static void a_closed_store_leaves_no_turn_running(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    OK(al_turn_lock(t.s, t.session, NULL, &err));
    al_store_close(t.s);
    struct al_store *s = open_store(*state);
    assert_int_equal(number_of(s, "SELECT count(*) FROM turns WHERE status='interrupted'"), 1);
    assert_int_equal(number_of(s, "SELECT count(*) FROM session_locks"), 0);
    al_store_close(s);
}

static void fill(struct talk *t)
{
    struct al_err err = {0};
    struct al_model_call call = call_of("read_file", "{}");
    int64_t id;
    assistant(t, &call, 1);
    OK(al_turn_call_begin(t->s, call.id, "read", false, &err));
    call.status = (char *)"completed";
    OK(al_turn_call_end(t->s, &call, &err));
    OK(al_turn_request(t->s, t->turn, 1, "m", "", &id, &err));
    OK(al_turn_event(t->s, t->session, t->turn, "run_started", AL_STR("{}"), 1, &id, &err));
}

static int64_t rows_left(struct al_store *s)
{
    return number_of(
        s, "SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM "
           "model_calls) + (SELECT count(*) FROM model_requests) + (SELECT count(*) FROM turn_events) + "
           "(SELECT count(*) FROM session_locks)");
}

static void deleting_a_session_leaves_nothing_of_its_conversation(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_store *other = open_store(*state);
    fill(&t);
    OK(al_turn_lock(t.s, t.session, NULL, &err));
    assert_int_equal(al_store_session_delete(other, t.session, &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    assert_int_equal(al_store_purge_workspace(other, "/w", &err), -1);
    assert_int_equal(err.code, AL_BUSY);
    assert_true(rows_left(t.s) >= 6);
    al_turn_unlock(t.s, t.session);
    OK(al_store_session_delete(other, t.session, &err));
    assert_int_equal(rows_left(t.s), 0);
    new_session(t.s, "/w", t.session);
    begin_turn(&t, USER);
    fill(&t);
    OK(al_store_purge_workspace(other, "/w", &err));
    assert_int_equal(rows_left(t.s), 0);
    al_store_close(other);
    al_store_close(t.s);
}

static void old_conversations_go_with_the_old_runs(void **state)
{
    struct talk t = new_talk(*state), young = t, used = t;
    struct al_err err = {0};
    fill(&t);
    end_turn(&t, "completed");
    new_session(t.s, "/w", young.session);
    begin_turn(&young, USER);
    fill(&young);
    new_session(t.s, "/w", used.session);
    begin_turn(&used, USER);
    struct al_run run = make_run(used.session, "running");
    OK(al_store_run_begin(t.s, &run, AL_STR("x"), &err));
    OK(al_db_exec(t.s->db, "UPDATE sessions SET updated_ms=1000", &err));
    struct al_stmt *q;
    OK(al_db_prepare(t.s->db, "UPDATE sessions SET updated_ms=5000 WHERE id=?1", &q, &err));
    al_bind_textz(q, 1, young.session);
    OK(al_step(q, &err));
    OK(al_turn_lock(t.s, t.session, NULL, &err));
    OK(al_store_purge_before(t.s, 2000, &err));
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM sessions"), 3); /* one is in use, one has a run */
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM turns"), 2);
    al_turn_unlock(t.s, t.session);
    OK(al_store_purge_before(t.s, 2000, &err));
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM sessions"), 2);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM turns"), 1);
    assert_int_equal(number_of(t.s, "SELECT count(*) FROM model_calls"), 1);
    al_store_close(t.s);
}

static void a_state_of_the_version_before_gets_its_new_tables(void **state)
{
    struct fix *f = *state;
    struct al_db *db;
    struct al_err err = {0};
    al_store_close(open_store(f));
    assert_int_equal(unlink(f->file), 0);
    OK(al_db_open(f->file, NULL, &db, &err));
    OK(al_db_migrate(db, al_store_migrations, 4, &err));
    OK(al_db_exec(db,
                  "INSERT INTO sessions VALUES('ses_1','/w','default',NULL,1,1); INSERT INTO runs(id, "
                  "session, workspace, host_id, "
                  "kind, source, status, created_ms, started_ms, ended_ms, pid) "
                  "VALUES('exec_1','ses_1','/w','x','js_run','cli',"
                  "'running',1,1,0,0)",
                  &err));
    al_db_close(db);
    struct al_store *s = open_store(f);
    struct al_run run;
    OK(al_store_run_get(s, "exec_1", &run, &err));
    assert_string_equal(run.status, "interrupted");
    al_run_fini(&run);
    struct talk t = {.s = s};
    new_session(s, "/w", t.session);
    begin_turn(&t, USER);
    al_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_turn_goes_from_its_prompt_to_its_end_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_call_begins_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_message_and_its_calls_are_there_together_or_not_at_all, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_summary_stands_where_its_messages_stood, setup, teardown),
        cmocka_unit_test_setup_teardown(a_number_of_a_strange_hand_stops_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_text_is_kept_as_replacement_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_of_an_output_is_kept_at_whole_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(secrets_of_arguments_are_in_the_models_message_only, setup, teardown),
        cmocka_unit_test_setup_teardown(a_shorter_result_keeps_the_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(events_are_read_on_after_a_number, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_known_of_a_model_is_kept_for_its_address, setup, teardown),
        cmocka_unit_test_setup_teardown(one_host_at_a_time_has_a_session, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_dead_host_held_is_closed_and_taken_over, setup, teardown),
        cmocka_unit_test_setup_teardown(many_that_take_over_at_once_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closed_store_leaves_no_turn_running, setup, teardown),
        cmocka_unit_test_setup_teardown(deleting_a_session_leaves_nothing_of_its_conversation, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(old_conversations_go_with_the_old_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_state_of_the_version_before_gets_its_new_tables, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
