/* What is said of a call that has no end, and copies of a conversation. */
#include "conversation_test.h"

/* Texts with what differs between two runs taken out: ids and times. */
static void normalise(const char *text, const char *execution, struct al_buf *out)
{
    while (*text) {
        char at[AL_TIME_MAX];
        if (execution && strncmp(text, execution, strlen(execution)) == 0) {
            al_buf_adds(out, "EXEC");
            text += strlen(execution);
        } else if (strncmp(text, "since 2", 7) == 0 &&
                   strlen(text) >= 6 + strlen("2026-01-31T12:00:00.000Z")) {
            snprintf(at, sizeof at, "%.24s", text + 6);
            assert_int_equal(at[23], 'Z');
            al_buf_adds(out, "since TIME");
            text += 30;
        } else {
            al_buf_addc(out, *text++);
        }
    }
}

static void assert_words(const struct al_model_call *c, const char *execution, const char *status,
                         const char *want)
{
    autobuf struct al_buf got = AL_BUF_INIT(1u << 20);
    normalise(c->result, execution, &got);
    al_buf_addc(&got, 0);
    assert_string_equal(c->status, status);
    assert_string_equal(got.p, want);
    assert_int_equal(c->is_error, strcmp(status, "completed") != 0);
    assert_true(c->ended_ms > 0);
}

static void count_change(void *ud, const struct al_model_call *c)
{
    assert_non_null(c->result);
    ++*(int *)ud;
}

static void running(struct talk *t, struct al_model_call *c, const char *effect)
{
    struct al_err err = {0};
    OK(al_turn_call_begin(t->s, c->id, effect, true, &err));
}

/* A run of the call, with an end unless status is "running". */
static void run_of(struct talk *t, struct al_model_call *c, const char *status, const char *record,
                   char id[AL_ID_MAX])
{
    struct al_err err = {0};
    struct al_run r = make_run(t->session, "running");
    memcpy(id, r.id, AL_ID_MAX);
    OK(al_store_run_begin(t->s, &r, AL_STR("x"), &err));
    OK(al_turn_call_execution(t->s, c->id, r.id, &err));
    struct al_call_row row = {.seq = 1, .tool = (char *)"write_file", .effect = (char *)"write"};
    OK(al_store_call_begin(t->s, r.id, &row, false, &err));
    row.status = (char *)"completed";
    OK(al_store_call_end(t->s, r.id, &row, &err));
    row = (struct al_call_row){.seq = 2, .tool = (char *)"shell", .effect = (char *)"process"};
    OK(al_store_call_begin(t->s, r.id, &row, false, &err));
    r.status = (char *)status;
    r.record = (char *)record;
    r.error_code = strcmp(status, "failed") == 0 ? (char *)"TOOL_ERROR" : NULL;
    r.error_msg = r.error_code ? (char *)"it broke" : NULL;
    if (strcmp(status, "running") != 0)
        OK(al_store_run_end(t->s, &r, &err));
}

static void each_kind_of_open_call_has_its_words(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    enum {
        ENDED,
        ABSENT,
        RUNNING,
        OUTPUT,
        RAN,
        FAILED,
        BARE,
        CUT,
        CANCELLED,
        N
    };
    struct al_model_call calls[N];
    char exec[N][AL_ID_MAX] = {""};
    for (int i = 0; i < N; i++)
        calls[i] = call_of("shell", "{}");
    assistant(&t, calls, N);
    for (int i = 0; i < N; i++) {
        if (i != ABSENT)
            running(&t, &calls[i], "process");
    }
    calls[ENDED].status = (char *)"completed";
    calls[ENDED].result = (char *)"its result";
    OK(al_turn_call_end(t.s, &calls[ENDED], &err));
    OK(al_turn_call_output(t.s, calls[OUTPUT].id, AL_STR("line 1\nline 2"), &err));
    run_of(&t, &calls[RAN], "completed", "{\"value\":{\"a\":1},\"text\":\"printed\\n\"}", exec[RAN]);
    run_of(&t, &calls[FAILED], "failed", NULL, exec[FAILED]);
    run_of(&t, &calls[BARE], "failed",
           "{\"error\":{\"code\":\"TIMEOUT\",\"message\":\"too "
           "long\",\"hint\":\"less\"},\"stdout\":\"out\",\"stderr\":\"bad\"}",
           exec[BARE]);
    run_of(&t, &calls[CUT], "interrupted", NULL, exec[CUT]);
    run_of(&t, &calls[CANCELLED], "cancelled", NULL, exec[CANCELLED]);
    int changed = 0;
    OK(al_turn_settle(t.s, t.session, count_change, &changed, &err));
    assert_int_equal(changed, N - 1);
    struct calls got;
    calls_of(t.s, t.session, &got);
    assert_words(&got.v[ENDED], NULL, "completed", "its result");
    assert_words(&got.v[ABSENT], NULL, "interrupted", "not started: the session ended before");
#define IN_FLIGHT \
    "interrupted while running; it may have taken effect; check before repeating\nrunning since TIME"
    assert_words(&got.v[RUNNING], NULL, "interrupted", IN_FLIGHT);
    assert_words(&got.v[OUTPUT], NULL, "interrupted", IN_FLIGHT "\nits output so far:\nline 1\nline 2");
    assert_words(
        &got.v[RAN], exec[RAN], "completed",
        "completed before the session was interrupted; what run EXEC recorded:\n{\"a\":1}\nprinted\n");
    assert_words(&got.v[FAILED], exec[FAILED], "failed",
                 "failed before the session was interrupted; what run EXEC recorded:\nTOOL_ERROR: it broke");
    assert_words(&got.v[BARE], exec[BARE], "failed",
                 "failed before the session was interrupted; what run EXEC recorded:\nTIMEOUT: too "
                 "long\nhint: less\nout\nstandard "
                 "error:\nbad");
    assert_words(&got.v[CUT], exec[CUT], "interrupted",
                 IN_FLIGHT "; run EXEC was interrupted\nits calls: write_file completed, shell interrupted");
    assert_words(&got.v[CANCELLED], exec[CANCELLED], "interrupted",
                 IN_FLIGHT "; run EXEC was cancelled\nits calls: write_file completed, shell cancelled");
    calls_fini(&got);
    /* Once. */
    changed = 0;
    OK(al_turn_settle(t.s, t.session, count_change, &changed, &err));
    assert_int_equal(changed, 0);
    al_store_close(t.s);
}

static void a_long_record_is_told_within_a_bound(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call c = call_of("js_run", "{}");
    char exec[AL_ID_MAX];
    assistant(&t, &c, 1);
    running(&t, &c, "internal");
    autobuf struct al_buf record = AL_BUF_INIT(16u << 20);
    al_buf_adds(&record, "{\"text\":\"");
    for (int i = 0; i < 3 << 20; i++)
        al_buf_addc(&record, 'x');
    al_buf_adds(&record, "\",\"truncated\":true}");
    al_buf_addc(&record, 0);
    run_of(&t, &c, "completed", record.p, exec);
    OK(al_turn_settle(t.s, t.session, NULL, NULL, &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    size_t n = strlen(got.v[0].result);
    assert_true(n > 1000000 && n <= 1u << 20);
    assert_non_null(strstr(got.v[0].result, "…\n(cut in the journal)"));
    calls_fini(&got);
    al_store_close(t.s);
}

static void a_result_of_8_mib_is_kept_whole(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call c = call_of("read_file", "{}");
    assistant(&t, &c, 1);
    autobuf struct al_buf text = AL_BUF_INIT(16u << 20);
    char *p = al_buf_grow(&text, 8u << 20);
    memset(p, 'y', 8u << 20);
    al_buf_addc(&text, 0);
    c.status = (char *)"completed";
    c.result = (char *)"head and tail";
    c.whole = text.p;
    OK(al_turn_call_end(t.s, &c, &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    assert_string_equal(got.v[0].result, "head and tail");
    assert_int_equal(strlen(got.v[0].whole), 8u << 20);
    calls_fini(&got);
    al_store_close(t.s);
}

static bool count_message(void *ud, const struct al_message_row *m)
{
    assert_true(m->body.n > 0);
    ++*(int *)ud;
    return true;
}

static void a_copy_goes_its_own_way(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call calls[] = {call_of("read_file", "{}"), call_of("shell", "{}"),
                                    call_of("shell", "{}")};
    int64_t extra;
    OK(al_turn_message(t.s, t.session, t.turn, AL_STR(USER), &extra, &err));
    OK(al_turn_compact(t.s, t.session, t.turn, AL_STR(USER), t.prompt, extra, &extra, &err));
    assistant(&t, calls, 3);
    running(&t, &calls[0], "read");
    calls[0].status = (char *)"completed";
    calls[0].result = (char *)"text";
    OK(al_turn_call_end(t.s, &calls[0], &err));
    running(&t, &calls[1], "process");
    OK(al_turn_lock(t.s, t.session, NULL, &err));
    struct al_session copy = {0}, again = {0};
    OK(al_store_session_fork(t.s, t.session, &copy, &err));
    assert_string_equal(copy.kind, "agent");
    assert_string_equal(copy.workspace, "/w");
    assert_string_equal(copy.title, "a title");
    OK(al_turn_lock(t.s, copy.id, NULL, &err));
    struct calls mine, theirs;
    calls_of(t.s, t.session, &mine);
    calls_of(t.s, copy.id, &theirs);
    assert_int_equal(theirs.n, 3);
    assert_string_equal(theirs.v[0].result, "text");
    assert_string_equal(theirs.v[1].status, "interrupted");
    assert_string_equal(theirs.v[2].result, "not started: the session ended before");
    assert_string_equal(mine.v[1].status, "running");
    assert_string_equal(mine.v[2].status, "absent");
    assert_string_equal(theirs.v[0].id, mine.v[0].id);
    assert_true(theirs.v[0].message_seq > mine.v[0].message_seq);
    calls_fini(&theirs);
    calls_fini(&mine);
    /* Who goes on with the copy is told, once. */
    int told = 0;
    OK(al_turn_settle(t.s, copy.id, count_change, &told, &err));
    assert_int_equal(told, 2);
    OK(al_turn_settle(t.s, copy.id, count_change, &told, &err));
    assert_int_equal(told, 2);
    /* The original goes on; a copy of the copy is one, too. */
    calls[1].status = (char *)"completed";
    calls[1].result = (char *)"the end";
    OK(al_turn_call_end(t.s, &calls[1], &err));
    running(&t, &calls[2], "process");
    OK(al_store_session_fork(t.s, copy.id, &again, &err));
    calls_of(t.s, copy.id, &theirs);
    assert_string_equal(theirs.v[1].status, "interrupted");
    assert_int_equal(theirs.v[2].started_ms, 0);
    calls_fini(&theirs);
    int all = 0, sent = 0;
    OK(al_message_each(t.s, again.id, true, count_message, &all, &err));
    OK(al_message_each(t.s, again.id, false, count_message, &sent, &err));
    assert_int_equal(all, 4);
    assert_int_equal(sent, 2);
    al_turn_unlock(t.s, t.session);
    OK(al_store_session_delete(t.s, t.session, &err));
    calls_of(t.s, again.id, &theirs);
    assert_int_equal(theirs.n, 3);
    calls_fini(&theirs);
    assert_int_equal(al_store_session_fork(t.s, "ses_none", &copy, &err), -1);
    assert_int_equal(err.code, AL_NOT_FOUND);
    al_session_fini(&copy);
    al_session_fini(&again);
    al_store_close(t.s);
}

static void rows_of_another_program_are_bounded_and_never_a_crash(void **state)
{
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    struct al_model_call c = call_of("shell", "{}");
    assistant(&t, &c, 1);
    running(&t, &c, "process");
    OK(al_db_exec(
        t.s->db,
        "UPDATE model_calls SET started_ms=-9223372036854775808, ord=9223372036854775807, execution=x'00ff', "
        "output=x'c3ff00', name=x'ff'; UPDATE messages SET place=9223372036854775807, compacted_by=-5, "
        "turn=7 "
        "WHERE seq=1; UPDATE turns SET status='', host_id='../../etc', n_calls='x'",
        &err));
    OK(al_turn_settle(t.s, t.session, NULL, NULL, &err));
    struct calls got;
    calls_of(t.s, t.session, &got);
    assert_int_equal(got.n, 1);
    assert_string_equal(got.v[0].status, "interrupted");
    assert_true(al_utf8_valid(al_str_of(got.v[0].result)));
    calls_fini(&got);
    int n = 0;
    OK(al_message_each(t.s, t.session, true, count_message, &n, &err));
    struct al_session copy = {0};
    if (al_store_session_fork(t.s, t.session, &copy, &err) == 0)
        al_session_fini(&copy);
    OK(al_db_exec(
        t.s->db,
        "INSERT INTO messages VALUES(9223372036854775807,(SELECT id FROM sessions LIMIT 1),NULL,0,0,1,'{}')",
        &err));
    int64_t seq;
    OK(al_turn_message(t.s, t.session, NULL, AL_STR(USER), &seq, &err));
    assert_true(seq > 1 && seq < INT64_MAX / 2);
    al_store_close(t.s);
}

static void an_owner_that_is_no_id_does_not_hold_up_the_start(void **state)
{
    static const char *const owners[] = {"x'00ff00'", "''", "7", "printf('%.*c', 200, 'Z')",
                                         "'zz' || char(0) || 'y'"};
    struct talk t = new_talk(*state);
    struct al_err err = {0};
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        struct al_run r = make_run(t.session, "running");
        char sql[160];
        OK(al_store_run_begin(t.s, &r, AL_STR("x"), &err));
        snprintf(sql, sizeof sql, "UPDATE runs SET host_id=%s WHERE id='%s'", owners[i], r.id);
        OK(al_db_exec(t.s->db, sql, &err));
        OK(al_store_recover(t.s, &err));
    }
    OK(al_db_exec(t.s->db, "UPDATE runs SET host_id='zzz'", &err));
    assert_int_equal(al_store_recover(t.s, &err), 4); /* one was closed as what it says */
    al_store_close(t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_of_open_call_has_its_words, setup, teardown),
        cmocka_unit_test_setup_teardown(a_long_record_is_told_within_a_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(a_result_of_8_mib_is_kept_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_goes_its_own_way, setup, teardown),
        cmocka_unit_test_setup_teardown(an_owner_that_is_no_id_does_not_hold_up_the_start, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_of_another_program_are_bounded_and_never_a_crash, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
