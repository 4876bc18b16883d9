/* Nothing of a job survives it, and what it uses too much of ends it. */
#include "test.h"

#include "pyrun_world.h"

#include "base/ident.h"
#include "base/mem.h"
#include "os/fd.h"
#include "os_help.h"

#include <signal.h>
#include <sys/wait.h>

#define LONG_MS 120000
#define GONE_MS 10000

static const enum al_py_backend all[] = {AL_PY_MANAGED, AL_PY_LANDLOCK, AL_PY_BWRAP};
#define N_ALL (sizeof(all) / sizeof(all[0]))

/*
 * Four ways to outlive a script, each deaf to what asks it to end and holding the script's outputs. With
 * their word in the command line they are found from outside; a canary appears when one of them is still
 * there after two seconds.
 */
#define SURVIVORS                                                                \
    "import os, subprocess, sys, time\n"                                         \
    "body = '''\n"                                                               \
    "import os, signal, sys, time\n"                                             \
    "for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):\n" \
    "    signal.signal(s, signal.SIG_IGN)\n"                                     \
    "open(sys.argv[2], 'w')\n"                                                   \
    "time.sleep(2)\n"                                                            \
    "open('canary', 'w')\n"                                                      \
    "time.sleep(600)\n"                                                          \
    "'''\n"                                                                      \
    "def words(name):\n"                                                         \
    "    return [sys.executable, '-S', '-E', '-c', body, '%s', name]\n"          \
    "subprocess.Popen(words('up1'))\n"                                           \
    "subprocess.Popen(words('up2'), start_new_session=True)\n"                   \
    "subprocess.Popen(['nohup'] + words('up3'))\n"                               \
    "if os.fork() == 0:\n"                                                       \
    "    os.setsid()\n"                                                          \
    "    if os.fork() == 0:\n"                                                   \
    "        os.execv(sys.executable, words('up4'))\n"                           \
    "    os._exit(0)\n"                                                          \
    "while not all(os.path.exists('up%%d' %% i) for i in (1, 2, 3, 4)):\n"       \
    "    time.sleep(0.005)\n"                                                    \
    "print('READY')\n"

struct marked {
    char mark[64];
    char code[4096];
};

static void survivors(struct marked *m, const char *then)
{
    uint64_t r;
    al_random(&r, sizeof(r));
    snprintf(m->mark, sizeof(m->mark), "al-survivor-%016llx", (unsigned long long)r);
    int n = snprintf(m->code, sizeof(m->code), SURVIVORS, m->mark);
    assert_true(n > 0 && (size_t)n + strlen(then) < sizeof(m->code));
    snprintf(m->code + n, sizeof(m->code) - (size_t)n, "%s", then);
}

/* Processes with that word in their command line; a zombie has none. */
static unsigned count_word(const char *word)
{
    unsigned n = 0;
    DIR *d = opendir("/proc");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        struct al_buf b = AL_BUF_INIT(1 << 20);
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && al_fd_read_all(fd, &b) == 0 && al_str_find(al_buf_str(&b), al_str_of(word)) >= 0)
            n++;
        al_close(&fd);
        al_buf_free(&b);
    }
    closedir(d);
    return n;
}

static void assert_gone(const char *word, uint64_t within_ms)
{
    for (uint64_t end = al_mono_ms() + within_ms; al_mono_ms() < end; poll(NULL, 0, 5)) {
        if (count_word(word) == 0)
            return;
    }
    fail_msg("%u processes are left", count_word(word));
}

static void assert_no_canary(const struct al_py_job *j)
{
    struct stat st;
    assert_int_equal(fstatat(j->fd, "work/up4", &st, 0), 0);
    assert_int_equal(fstatat(j->fd, "work/canary", &st, 0), -1);
}

static void drop(struct al_py_job *j)
{
    al_py_job_remove(j);
    al_py_job_close(j);
}

static struct al_py_run *begin(struct pyrun_world *t, enum al_py_backend b, const char *code,
                               uint64_t timeout_ms, struct al_py_job *job, struct pyrun_answer *a)
{
    pyrun_world_job(t, code, job);
    const struct al_py_run_spec spec = {
        .job = job, .backend = b, .timeout_ms = timeout_ms, .max_head = 2048, .max_tail = 2048};
    *a = (struct pyrun_answer){.until = "READY"};
    struct al_py_run *r = pyrun_world_begin(t, &spec, a);
    pyrun_world_wait(t, &a->heard);
    return r;
}

/* --- nothing survives --- */

/* Their hold on the outputs is not waited for, either. */
static void nothing_survives_the_end_of_a_script(void **state)
{
    struct pyrun_world *t = *state;
    pyrun_world_start(t, NULL);
    for (size_t i = 0; i < N_ALL; i++) {
        struct marked m;
        struct pyrun_answer a;
        struct al_py_job job;
        if (!pyrun_world_has(t, all[i]))
            continue;
        survivors(&m, "");
        begin(t, all[i], m.code, LONG_MS, &job, &a);
        pyrun_world_wait(t, &a.done);
        assert_int_equal(a.cause, AL_PY_EXITED);
        assert_int_equal(a.exit_code, 0);
        assert_int_equal(count_word(m.mark), 0); /* at once: the end was told after theirs */
        assert_no_canary(&job);
        pyrun_answer_free(&a);
        drop(&job);
    }
}

static void nothing_survives_a_stop(void **state)
{
    struct pyrun_world *t = *state;
    pyrun_world_start(t, NULL);
    for (size_t i = 0; i < N_ALL; i++) {
        struct marked m;
        struct pyrun_answer a;
        struct al_py_job job;
        if (!pyrun_world_has(t, all[i]))
            continue;
        survivors(&m, "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)\n");
        struct al_py_run *r = begin(t, all[i], m.code, LONG_MS, &job, &a);
        assert_int_equal(count_word(m.mark), 4);
        al_py_run_cancel(r);
        pyrun_world_wait(t, &a.done);
        assert_int_equal(a.cause, AL_PY_STOPPED);
        assert_int_equal(count_word(m.mark), 0);
        assert_no_canary(&job);
        pyrun_answer_free(&a);
        drop(&job);
    }
}

static void nothing_survives_a_timeout(void **state)
{
    struct pyrun_world *t = *state;
    struct marked m;
    struct pyrun_answer a;
    struct al_py_job job;
    pyrun_world_start(t, NULL);
    survivors(&m, "os.close(1)\nos.close(2)\ntime.sleep(600)\n");
    begin(t, AL_PY_MANAGED, m.code, 1500, &job, &a);
    pyrun_world_wait(t, &a.done);
    assert_int_equal(a.cause, AL_PY_TIMED_OUT);
    assert_int_equal(count_word(m.mark), 0);
    pyrun_answer_free(&a);
    drop(&job);
}

/* Does not return. Tells by one byte that the script is ready. */
static void be_host(enum al_py_backend b, const char *code, const char *top, int ready)
{
    void *state = NULL;
    setenv("TMPDIR", top, 1);
    pyrun_world_set_up(&state);
    struct pyrun_world *t = state;
    struct pyrun_answer a;
    struct al_py_job job;
    pyrun_world_start(t, NULL);
    begin(t, b, code, LONG_MS, &job, &a);
    if (a.done || write(ready, "1", 1) != 1)
        _exit(1);
    bool never = false;
    al_loop_run_until(t->loop, &never, LONG_MS);
    _exit(0);
}

static void nothing_survives_the_death_of_its_host(void **state)
{
    struct pyrun_world *t = *state;
    pyrun_world_start(t, NULL);
    for (size_t i = 0; i < N_ALL; i++) {
        struct marked m;
        int p[2];
        char c;
        if (!pyrun_world_has(t, all[i]))
            continue;
        survivors(&m, "time.sleep(600)\n");
        assert_int_equal(pipe(p), 0);
        pid_t host = fork();
        if (host == 0)
            be_host(all[i], m.code, t->top, p[1]);
        close(p[1]);
        assert_int_equal(read(p[0], &c, 1), 1);
        close(p[0]);
        assert_int_equal(count_word(m.mark), 4);
        kill(host, SIGKILL);
        waitpid(host, NULL, 0);
        assert_gone(m.mark, GONE_MS);
    }
}

static void a_thousand_children_end_with_their_script(void **state)
{
    static const char code[] = "import os, signal, time\n"
                               "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                               "for i in range(1000):\n"
                               "    if os.fork() == 0:\n"
                               "        if i % 2: os.setsid()\n"
                               "        time.sleep(600)\n"
                               "        os._exit(0)\n"
                               "print('READY')\n"
                               "time.sleep(600)\n";
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    struct al_py_job job;
    pyrun_world_start(t, "{\"analysis\":{\"limits\":{\"memoryMb\":1024}}}");
    struct al_py_run *r = begin(t, AL_PY_MANAGED, code, LONG_MS, &job, &a);
    assert_true(count_word(job.id) >= 1000);
    uint64_t before = al_mono_ms();
    al_py_run_cancel(r);
    pyrun_world_wait(t, &a.done);
    print_message("1,000 children stopped in %u ms\n", (unsigned)(al_mono_ms() - before));
    assert_int_equal(a.cause, AL_PY_STOPPED);
    assert_int_equal(count_word(job.id), 0);
    pyrun_answer_free(&a);
    drop(&job);
}

/* Behind a wall it meets its limit; the host still answers, and its end is the end of all. */
static void a_fork_bomb_ends(void **state)
{
    static const char code[] = "import os, signal, sys\n"
                               "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                               "sys.stdout.write('READY\\n')\n"
                               "sys.stdout.flush()\n"
                               "while True:\n"
                               "    try:\n"
                               "        os.fork()\n"
                               "    except OSError:\n"
                               "        pass\n";
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    struct al_py_job job;
    pyrun_world_start(t, "{\"analysis\":{\"limits\":{\"processes\":40}}}");
    if (!pyrun_world_has(t, AL_PY_BWRAP))
        skip();
    begin(t, AL_PY_BWRAP, code, 1000, &job, &a);
    pyrun_world_wait(t, &a.done);
    assert_int_equal(a.cause, AL_PY_TIMED_OUT);
    print_message("a fork bomb with 1 s: %u ms\n", (unsigned)a.duration_ms);
    assert_true(a.duration_ms < 1000 + 10000);
    assert_int_equal(count_word(job.id), 0);
    pyrun_answer_free(&a);
    drop(&job);
}

/* --- limits --- */

static const enum al_py_backend walls[] = {AL_PY_LANDLOCK, AL_PY_BWRAP};

/* False: this computer does not have it. */
static bool limited(struct pyrun_world *t, enum al_py_backend b, const char *limits, const char *code,
                    struct pyrun_answer *a)
{
    char json[256];
    snprintf(json, sizeof(json), "{\"analysis\":{\"limits\":{%s}}}", limits);
    pyrun_world_start(t, json);
    if (!pyrun_world_has(t, b))
        return false;
    pyrun_world_run(t, b, code, LONG_MS, a, NULL);
    return true;
}

static void too_much_memory_ends_a_script(void **state)
{
    struct pyrun_world *t = *state;
    for (size_t i = 0; i < sizeof(walls) / sizeof(walls[0]); i++) {
        struct pyrun_answer a;
        /* In four processes: no limit of one process sees it. */
        if (!limited(
                t, walls[i], "\"memoryMb\":100",
                "import os, sys, time\nfor i in range(4):\n    if os.fork() == 0:\n        b = bytearray(60 << 20)\n"
                "        for i in range(0, len(b), 4096): b[i] = 1\n        time.sleep(30)\n        os._exit(0)\n"
                "sys.exit(1 if os.wait()[1] else 0)", /* whoever of them the kernel takes first */
                &a))
            continue;
        assert_int_equal(a.cause, AL_PY_MEMORY);
        assert_int_equal(a.err.code, AL_MEMORY_LIMIT);
        assert_non_null(strstr(a.err.msg, "analysis.limits.memoryMb (100 MiB)"));
        assert_true(a.memory == AL_PY_KEPT_SAMPLED || a.memory == AL_PY_KEPT_CGROUP);
        assert_true(a.duration_ms < 29000);
        pyrun_answer_free(&a);
    }
}

static void what_children_share_counts_once(void **state)
{
    struct pyrun_world *t = *state;
    for (size_t i = 0; i < sizeof(walls) / sizeof(walls[0]); i++) {
        struct pyrun_answer a;
        if (!limited(
                t, walls[i], "\"memoryMb\":150",
                "import os, time\nb = bytearray(60 << 20)\nfor i in range(0, len(b), 4096): b[i] = 1\n"
                "for i in range(5):\n    if os.fork() == 0:\n        time.sleep(1)\n        os._exit(0)\n"
                "time.sleep(0.7)\n",
                &a))
            continue;
        assert_int_equal(a.cause, AL_PY_EXITED);
        assert_int_equal(a.exit_code, 0);
        assert_true(a.peak_bytes > 60u << 20);
        pyrun_answer_free(&a);
    }
}

static void too_many_bytes_or_files_end_a_script(void **state)
{
    struct pyrun_world *t = *state;
    struct pyrun_answer a;
    if (!limited(t, AL_PY_LANDLOCK, "\"maxWorkBytes\":20000000",
                 "import alisio_runtime, os, time\nfor i in range(5):\n"
                 "    f = open(os.path.join(alisio_runtime.output_dir(), str(i)), 'wb')\n"
                 "    f.write(os.urandom(8 << 20))\n    f.flush()\n    os.fsync(f.fileno())\ntime.sleep(30)",
                 &a))
        skip();
    assert_int_equal(a.cause, AL_PY_DISK);
    assert_int_equal(a.err.code, AL_QUOTA_EXCEEDED);
    assert_non_null(strstr(a.err.msg, "analysis.limits.maxWorkBytes"));
    assert_int_equal(a.disk, AL_PY_KEPT_SAMPLED);
    assert_true(a.duration_ms < 29000);
    pyrun_answer_free(&a);
    if (!limited(t, AL_PY_LANDLOCK, "\"maxWorkFiles\":300",
                 "import os, time\nfor i in range(400):\n    os.makedirs('d%d' % (i % 20), exist_ok=True)\n"
                 "    open('d%d/%d' % (i % 20, i), 'w')\ntime.sleep(30)",
                 &a))
        skip();
    assert_int_equal(a.cause, AL_PY_DISK);
    assert_non_null(strstr(a.err.msg, "analysis.limits.maxWorkFiles (300)"));
    assert_true(a.duration_ms < 29000);
    pyrun_answer_free(&a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pyrun_world_set_up, pyrun_world_tear_down)

int main(int argc, char **argv)
{
    pyrun_world_enter(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(nothing_survives_the_end_of_a_script),
        TEST(nothing_survives_a_stop),
        TEST(nothing_survives_a_timeout),
        TEST(nothing_survives_the_death_of_its_host),
        TEST(a_thousand_children_end_with_their_script),
        TEST(a_fork_bomb_ends),
        TEST(too_much_memory_ends_a_script),
        TEST(what_children_share_counts_once),
        TEST(too_many_bytes_or_files_end_a_script),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
