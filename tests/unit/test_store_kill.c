/* A writer that is killed at any moment: what it had reported as done is there, nothing stays open, and the
 * state is the one from before or after a run, never a mixture. */
#include "store_test.h"

#include "db/db.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define ROUNDS 60

/* One run: a row, two calls (one synced), an event, a state of two keys that are always equal, the end. */
static bool one_run(struct al_store *s, const char *ses, int n)
{
    struct al_err err;
    autobuf struct al_buf before = AL_BUF_INIT(4096);
    char after[64];
    size_t bytes;
    bool changed;
    struct al_run r = make_run(ses, "queued");
    struct al_call_row c = {.seq = 1, .tool = (char *)"read_file", .effect = (char *)"read"};
    if (al_store_run_begin(s, &r, AL_STR("return 1"), &err) < 0 ||
        al_store_run_started(s, r.id, 1, &err) < 0 || al_store_call_begin(s, r.id, &c, false, &err) < 0)
        return false;
    c.seq = 2;
    if (al_store_call_begin(s, r.id, &c, true, &err) < 0 ||
        al_store_event_add(s, r.id, "print", AL_STR("hello"), &err) < 0 ||
        al_store_state_get(s, ses, &before, &err) < 0)
        return false;
    snprintf(after, sizeof after, "[[\"a\",%d],[\"b\",%d]]", n, n);
    if (al_store_state_merge(s, ses, al_buf_str(&before), al_str_of(after), 4096, &bytes, &changed, &err) < 0)
        return false;
    for (c.seq = 1; c.seq <= 2; c.seq++) {
        c.status = (char *)"completed";
        if (al_store_call_end(s, r.id, &c, &err) < 0)
            return false;
    }
    r.status = (char *)"completed";
    return al_store_run_end(s, &r, &err) == 0;
}

/* Tells each finished run through the pipe. */
static void writer(const struct fix *f, int fd)
{
    struct al_store *s;
    struct al_err err;
    char ses[AL_ID_MAX];
    if (al_store_open(f->dir, NULL, &s, &err) < 0)
        _exit(1);
    session_of(s, "/w", ses);
    for (int n = 1; one_run(s, ses, n); n++) {
        if (write(fd, "x", 1) != 1)
            _exit(1);
    }
    _exit(1);
}

struct seen {
    int completed, interrupted, other;
};

static bool look(void *ud, const struct al_run *r)
{
    struct seen *seen = ud;
    if (strcmp(r->status, "completed") == 0)
        seen->completed++;
    else if (strcmp(r->status, "interrupted") == 0)
        seen->interrupted++;
    else
        seen->other++;
    return true;
}

static int64_t number(const struct fix *f, const char *literal)
{
    struct al_db *db;
    struct al_stmt *q;
    struct al_err err = {0};
    struct al_db_opts ro = {.read_only = true};
    OK(al_db_open(f->file, &ro, &db, &err));
    OK(al_db_prepare(db, literal, &q, &err));
    assert_int_equal(al_step(q, &err), 1);
    int64_t v = al_col_int(q, 0);
    al_stmt_reset(q);
    al_db_close(db);
    return v;
}

static void check_state(struct al_store *s, const char *ses)
{
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    struct al_err err = {0};
    OK(al_store_state_get(s, ses, &b, &err));
    al_buf_addc(&b, '\0');
    if (strcmp(b.p, "{}") == 0)
        return;
    char *end, want[64];
    assert_memory_equal(b.p, "{\"a\":", 5);
    long x = strtol(b.p + 5, &end, 10);
    snprintf(want, sizeof want, "{\"a\":%ld,\"b\":%ld}", x, x);
    assert_string_equal(b.p, want);
}

static int drain(int fd)
{
    char b[4096];
    int n = 0;
    for (ssize_t r; (r = read(fd, b, sizeof b)) > 0;)
        n += (int)r;
    return n;
}

static void a_writer_killed_at_any_moment_leaves_a_whole_journal(void **state)
{
    struct fix *f = *state;
    struct al_err err = {0};
    int told = 0, interrupted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int p[2];
        assert_int_equal(pipe(p), 0);
        pid_t pid = fork();
        if (pid == 0) {
            close(p[0]);
            writer(f, p[1]);
        }
        close(p[1]);
        char c;
        /* From the third round on it may also die while it starts. */
        if (round < 3)
            told += read(p[0], &c, 1) == 1;
        uint32_t r;
        al_random(&r, sizeof r);
        struct timespec moment = {0, r % 12000000};
        nanosleep(&moment, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        told += drain(p[0]);
        close(p[0]);

        struct al_store *s = open_store(f);
        char ses[AL_ID_MAX];
        session_of(s, "/w", ses);
        struct seen seen = {0};
        OK(al_store_run_each(s, &(struct al_run_filter){.limit = 1000000}, look, &seen, &err));
        assert_int_equal(seen.other, 0);
        assert_in_range(seen.completed, told, told + round + 1);
        assert_in_range(seen.interrupted, interrupted, interrupted + 1);
        interrupted = seen.interrupted;
        told = seen.completed;
        check_state(s, ses);
        al_store_close(s);
        assert_int_equal(
            number(f, "SELECT count(*) FROM calls WHERE status NOT IN ('completed','interrupted')"), 0);
        assert_int_equal(number(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check<>'ok'"),
                         0);
        assert_int_equal(number(f, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    }
    assert_true(told > 0);
    assert_true(interrupted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_writer_killed_at_any_moment_leaves_a_whole_journal, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
