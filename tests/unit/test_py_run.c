#include "test.h"

#include "pyrun_world.h"

#include "base/ident.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os_help.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define LONG_MS 120000
/* SIGTERM, 300 ms, SIGKILL; and time for a busy machine. */
#define STOP_MS 10000

static const enum al_py_backend with_files[] = {AL_PY_MANAGED, AL_PY_LANDLOCK, AL_PY_BWRAP};
#define N_BACKENDS (sizeof(with_files) / sizeof(with_files[0]))

static void started_world(struct pyrun_world *t)
{
    pyrun_world_start(t, NULL);
}

static void run(struct pyrun_world *t, const char *code, struct pyrun_answer *a)
{
    pyrun_world_run(t, AL_PY_MANAGED, code, LONG_MS, a, NULL);
}

static void limits(struct pyrun_world *t, const char *members)
{
    char json[512];
    snprintf(json, sizeof(json), "{\"analysis\":{\"limits\":{%s}}}", members);
    pyrun_world_start(t, json);
}

static bool is_there(const struct al_py_job *j, const char *rel)
{
    struct stat st;
    return fstatat(j->fd, rel, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void drop(struct al_py_job *j)
{
    al_py_job_remove(j);
    al_py_job_close(j);
}

/* Runs until the script has said "READY". */
static struct al_py_run *run_to_ready(struct pyrun_world *t, enum al_py_backend b, const char *code,
                                      uint64_t timeout_ms, struct al_py_job *job, struct pyrun_answer *a)
{
    pyrun_world_job(t, code, job);
    const struct al_py_run_spec spec = {
        .job = job, .backend = b, .timeout_ms = timeout_ms, .max_head = 2048, .max_tail = 2048};
    *a = (struct pyrun_answer){.until = "READY"};
    struct al_py_run *r = pyrun_world_begin(t, &spec, a);
    pyrun_world_wait(t, &a->heard);
    if (a->done && a->cause != AL_PY_TIMED_OUT)
        fail_msg("it ended before it was ready: %s %s", a->err.msg, a->errors);
    return r;
}

/* --- ends --- */

static void a_script_ends_with_its_status_and_its_words(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    struct al_py_job job;
    started_world(t);
    pyrun_world_run(
        t, AL_PY_MANAGED,
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint(repr(sys.stdin.read()))\nsys.exit(3)",
        LONG_MS, &a, &job);
    assert_int_equal(a.cause, AL_PY_EXITED);
    assert_int_equal(a.exit_code, 3);
    assert_int_equal(a.signal, 0);
    assert_string_equal(a.out, "out\n''\n");
    assert_string_equal(a.errors, "err\n");
    assert_true(a.has_started && a.pid > 0);
    char *log = get_file(job.fd, "logs/stdout.log");
    assert_string_equal(log, "out\n''\n");
    free(log);
    pyrun_answer_free(&a);
    drop(&job);
}

static void a_signal_is_told_through_every_wall(void **state)
{
    struct pyrun_world *t = *state;
    started_world(t);
    for (size_t i = 0; i < N_BACKENDS; i++) {
        if (!pyrun_world_has(t, with_files[i]))
            continue;
        struct pyrun_answer a;
        pyrun_world_run(t, with_files[i], "import os\nos.kill(os.getpid(), 11)", LONG_MS, &a, NULL);
        assert_int_equal(a.cause, AL_PY_EXITED);
        assert_int_equal(a.signal, SIGSEGV);
        assert_int_equal(a.exit_code, -1);
        pyrun_answer_free(&a);
    }
}

static void an_error_names_the_line_of_the_script(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    started_world(t);
    run(t, "a = 1\n\nb = a / 0\n", &a);
    assert_int_equal(a.exit_code, 1);
    assert_non_null(strstr(a.errors, "main.py\", line 3"));
    assert_non_null(strstr(a.errors, "ZeroDivisionError"));
    pyrun_answer_free(&a);
}

static void a_script_has_its_folders_and_nothing_open_but_three(void **state)
{
    static const char code[] = "import os\n"
                               "import alisio_runtime as r\n"
                               "open(os.path.join(r.output_dir(), 'a.txt'), 'w').write('a')\n"
                               "open('b.txt', 'w').write('b')\n"
                               "print(open(os.path.join(r.input_dir(), 'in.txt')).read())\n"
                               "print(sorted(int(f) for f in os.listdir('/proc/self/fd')) == [0, 1, 2, 3])\n";
    struct pyrun_world *t = *state;
    started_world(t);
    for (size_t i = 0; i < N_BACKENDS; i++) {
        if (!pyrun_world_has(t, with_files[i]))
            continue;
        struct pyrun_answer a;
        struct al_py_job job;
        struct al_py_input in;
        struct al_err err;
        pyrun_world_job(t, code, &job);
        put_file(job.fd, "logs/in.txt", "hello");
        autofd int src = openat(job.fd, "logs/in.txt", O_RDONLY | O_CLOEXEC);
        assert_int_equal(al_py_job_input(&job, src, AL_STR("in.txt"), 100, &in, &err), 0);
        const struct al_py_run_spec spec = {
            .job = &job, .backend = with_files[i], .timeout_ms = LONG_MS, .max_head = 2048, .max_tail = 2048};
        a = (struct pyrun_answer){0};
        pyrun_world_begin(t, &spec, &a);
        pyrun_world_wait(t, &a.done);
        assert_string_equal(a.errors, "");
        assert_string_equal(a.out, "hello\nTrue\n");
        assert_true(is_there(&job, "staging/a.txt") && is_there(&job, "work/b.txt"));
        pyrun_answer_free(&a);
        drop(&job);
    }
}

static void what_cannot_start_is_no_failed_script(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    t->opts.python = "/nonexistent/python";
    started_world(t);
    run(t, "print(1)", &a);
    assert_int_equal(a.cause, AL_PY_NOT_STARTED);
    assert_int_equal(a.err.code, AL_RUNTIME_UNAVAILABLE);
    assert_true(a.err.hint[0] != 0);
    assert_false(a.has_started);
    pyrun_answer_free(&a);
}

static void runs_leave_no_descriptor(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    started_world(t);
    run(t, "print(1)", &a);
    pyrun_answer_free(&a);
    unsigned before = count_fds();
    for (int i = 0; i < 5; i++) {
        run(t, "print(1)", &a);
        pyrun_answer_free(&a);
    }
    assert_int_equal(count_fds(), before);
}

static void the_command_for_people_runs_the_script(void **state)
{
    struct pyrun_world *t = *state;
    struct al_err err;
    struct al_py_job job;
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    started_world(t);
    pyrun_world_job(t, "import os\nopen('done', 'w').write(os.environ['ALISIO_EXECUTION_ID'])", &job);
    const struct al_py_run_spec spec = {.job = &job, .backend = AL_PY_LANDLOCK, .timeout_ms = LONG_MS};
    if (al_py_run_command(t->pyrun, &spec, &out, &err) < 0)
        fail_msg("%s", err.msg);
    al_buf_addc(&out, 0);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", out.p, (char *)NULL);
        _exit(126);
    }
    int st;
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_int_equal(st, 0);
    char *id = get_file(job.fd, "work/done");
    assert_string_equal(id, job.id);
    free(id);
    drop(&job);
}

/* --- stops --- */

static void a_timeout_keeps_what_was_printed(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    struct al_py_job job;
    started_world(t);
    pyrun_world_run(t, AL_PY_MANAGED, "import time\nprint('so far')\ntime.sleep(600)", 1500, &a, &job);
    assert_int_equal(a.cause, AL_PY_TIMED_OUT);
    assert_int_equal(a.err.code, AL_TIMEOUT);
    assert_non_null(strstr(a.err.msg, "1.5 s"));
    assert_non_null(strstr(a.err.hint, "logs/stdout.log"));
    assert_string_equal(a.out, "so far\n");
    assert_true(a.duration_ms >= 1500 && a.duration_ms < 1500 + STOP_MS);
    char *log = get_file(job.fd, "logs/stdout.log");
    assert_string_equal(log, "so far\n");
    free(log);
    pyrun_answer_free(&a);
    drop(&job);
}

static void a_stop_is_soon_also_when_it_is_ignored(void **state)
{
    static const char code[] = "import signal, time\n"
                               "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                               "print('READY')\n"
                               "while True:\n"
                               "    time.sleep(600)\n";
    struct pyrun_world *t = *state;
    started_world(t);
    for (size_t i = 0; i < N_BACKENDS; i++) {
        if (!pyrun_world_has(t, with_files[i]))
            continue;
        struct pyrun_answer a;
        struct al_py_job job;
        struct al_py_run *r = run_to_ready(t, with_files[i], code, LONG_MS, &job, &a);
        uint64_t before = al_mono_ms();
        al_py_run_cancel(r);
        al_py_run_cancel(r); /* once is enough */
        pyrun_world_wait(t, &a.done);
        print_message("%s: stopped in %u ms\n", al_py_backend_name(with_files[i]),
                      (unsigned)(al_mono_ms() - before));
        assert_true(al_mono_ms() - before < STOP_MS);
        assert_int_equal(a.ends, 1);
        assert_int_equal(a.cause, AL_PY_STOPPED);
        pyrun_answer_free(&a);
        drop(&job);
    }
}

static void a_stop_before_the_start_starts_nothing(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    started_world(t);
    pyrun_world_job(t, "open('canary', 'w')", &job);
    const struct al_py_run_spec spec = {.job = &job, .backend = AL_PY_MANAGED, .timeout_ms = LONG_MS};
    struct pyrun_answer a = {0};
    al_py_run_cancel(pyrun_world_begin(t, &spec, &a));
    pyrun_world_wait(t, &a.done);
    assert_int_equal(a.cause, AL_PY_STOPPED);
    assert_int_equal(a.ends, 1);
    assert_false(a.has_started);
    assert_false(is_there(&job, "work/canary"));
    pyrun_answer_free(&a);
    drop(&job);
}

/* --- outputs --- */

struct beat {
    unsigned n;
};

static void beat(void *ud)
{
    ((struct beat *)ud)->n++;
}

static void a_flood_is_counted_and_holds_nothing_up(void **state)
{
    struct pyrun_world *t = *state;
    struct al_py_job job;
    struct beat b = {0};
    limits(t, "\"maxLogBytes\":100000");
    pyrun_world_job(t,
                    "import sys\nb = b'0123456789abcde\\n' * 65536\n"
                    "for i in range(300): sys.stdout.buffer.write(b)\nprint('the end')",
                    &job);
    const struct al_py_run_spec spec = {
        .job = &job, .backend = AL_PY_MANAGED, .timeout_ms = LONG_MS, .max_head = 1000, .max_tail = 1000};
    struct pyrun_answer a = {0};
    struct al_timer *timer = al_timer_every(t->loop, 10, beat, &b);
    pyrun_world_begin(t, &spec, &a);
    pyrun_world_wait(t, &a.done);
    al_timer_stop(timer);
    assert_int_equal(a.exit_code, 0);
    assert_int_equal(a.out_bytes, 300u * (1 << 20) + 8);
    assert_int_equal(a.out_logged, 100000);
    struct stat st;
    assert_int_equal(fstatat(job.fd, "logs/stdout.log", &st, 0), 0);
    assert_int_equal(st.st_size, 100000);
    assert_true(strlen(a.out) < 2200);
    assert_non_null(strstr(a.out, "bytes left out; the first 100,000 bytes of it are in logs/stdout.log]\n"));
    assert_true(al_str_ends(al_str_of(a.out), "the end\n"));
    /* At least one turn of the loop in four was someone else's. */
    print_message("300 MiB in %u ms, %u beats\n", (unsigned)a.duration_ms, b.n);
    assert_true(b.n >= a.duration_ms / 40);
    pyrun_answer_free(&a);
    drop(&job);
}

/* --- progress --- */

static void progress_is_told_when_it_changes(void **state)
{
    static const char code[] = "import alisio_runtime as r, time\n"
                               "r.progress(1, 2, 'half')\n"
                               "print('READY')\n"
                               "time.sleep(0.5)\n"
                               "r.progress(2, 2, 'all')\n";
    struct pyrun_world *t = *state;
    started_world(t);
    for (size_t i = 0; i < N_BACKENDS; i++) {
        if (!pyrun_world_has(t, with_files[i]))
            continue;
        struct pyrun_answer a;
        pyrun_world_run(t, with_files[i], code, LONG_MS, &a, NULL);
        assert_int_equal(a.exit_code, 0);
        assert_int_equal(a.n_progress, 2);
        assert_string_equal(a.progress, "{\"completed\":2,\"total\":2,\"note\":\"all\"}");
        pyrun_answer_free(&a);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pyrun_world_set_up, pyrun_world_tear_down)

int main(int argc, char **argv)
{
    pyrun_world_enter(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(a_script_ends_with_its_status_and_its_words),
        TEST(a_signal_is_told_through_every_wall),
        TEST(an_error_names_the_line_of_the_script),
        TEST(a_script_has_its_folders_and_nothing_open_but_three),
        TEST(what_cannot_start_is_no_failed_script),
        TEST(runs_leave_no_descriptor),
        TEST(the_command_for_people_runs_the_script),
        TEST(a_timeout_keeps_what_was_printed),
        TEST(a_stop_is_soon_also_when_it_is_ignored),
        TEST(a_stop_before_the_start_starts_nothing),
        TEST(a_flood_is_counted_and_holds_nothing_up),
        TEST(progress_is_told_when_it_changes),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
