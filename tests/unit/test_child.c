#include "os_help.h"

#include "loop/child.h"
#include "os/spawn.h"
#include "sandbox/supervise.h"

#include <signal.h>
#include <sys/wait.h>

#define LIMIT_MS 30000
#define SH "/bin/sh"
#ifdef AL_ASAN
#define N_IN_SEQUENCE 100 /* a start of the sanitizers costs more than all else */
#else
#define N_IN_SEQUENCE (getenv("ALISIO_SOAK") ? 1000 : 200)
#endif

struct result {
    struct al_loop *loop;
    struct al_child *child;
    bool done;
    int calls;
    struct al_child_end end;
    char *out, *err;
    size_t n_out, n_err;
};

static void on_done(void *ud, const struct al_child_end *end)
{
    struct result *r = ud;
    r->calls++;
    r->done = true;
    r->end = *end;
    r->n_out = end->out->n;
    r->n_err = end->err->n;
    r->out = al_xdup(end->out->p, end->out->n);
    r->err = al_xdup(end->err->p, end->err->n);
    al_child_cancel(r->child); /* too late, and harmless */
    r->child = NULL;
}

static void result_free(struct result *r)
{
    free(r->out);
    free(r->err);
    al_loop_free(r->loop);
}

static struct al_child_spec spec_of(char *const *argv)
{
    return (struct al_child_spec){.program = argv[0], .argv = argv, .cwd_fd = -1, .max_output = 1 << 20};
}

static void start(struct result *r, const struct al_child_spec *spec)
{
    struct al_err err;
    *r = (struct result){.loop = al_loop_new()};
    r->child = al_child_start(r->loop, spec, on_done, r, &err);
    if (!r->child)
        fail_msg("%s", err.msg);
}

static void finish(struct result *r)
{
    assert_true(al_loop_run_until(r->loop, &r->done, LIMIT_MS));
    assert_int_equal(r->calls, 1);
}

static void run_script(struct result *r, const char *script, struct al_child_spec *more)
{
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)script, NULL};
    struct al_child_spec spec = spec_of(argv);
    if (more) {
        spec = *more;
        spec.program = SH;
        spec.argv = argv;
    }
    start(r, &spec);
    finish(r);
}

static void output_and_status_are_told(void **state)
{
    (void)state;
    struct result r;
    run_script(&r, "echo out; echo err >&2; exit 7", NULL);
    assert_string_equal(r.out, "out\n");
    assert_string_equal(r.err, "err\n");
    assert_int_equal(r.end.exit_status, 7);
    assert_int_equal(r.end.signal, 0);
    assert_int_equal(r.end.exec_errno, 0);
    assert_false(r.end.timed_out || r.end.cancelled || r.end.out_truncated || r.end.err_truncated);
    result_free(&r);
    run_script(&r, "kill -SEGV $$", NULL);
    assert_int_equal(r.end.exit_status, -1);
    assert_int_equal(r.end.signal, SIGSEGV);
    result_free(&r);
}

static void arguments_environment_and_folder_arrive_exactly(void **state)
{
    (void)state;
    struct tmp t;
    struct result r;
    tmp_make(&t);
    autofree char *real = realpath(t.path, NULL);
    char *const argv[] = {(char *)"own name",
                          (char *)"-c",
                          (char *)"echo \"$0|$1|$2|$A|$B\"; env | wc -l; pwd -P; cat",
                          (char *)"",
                          (char *)"a  b",
                          (char *)"--seal-git",
                          NULL};
    char *const envp[] = {(char *)"A=1 2", (char *)"B=", (char *)"PATH=/usr/bin:/bin", NULL};
    struct al_child_spec spec = spec_of(argv);
    spec.program = SH;
    spec.envp = envp;
    spec.cwd_fd = t.fd;
    start(&r, &spec);
    finish(&r);
    char want[500];
    snprintf(want, sizeof(want), "|a  b|--seal-git|1 2|\n4\n%s\n", real); /* the shell adds PWD */
    assert_string_equal(r.out, want);
    assert_int_equal(r.end.exit_status, 0);
    result_free(&r);
    tmp_remove(&t);
}

static void input_arrives_whole_and_ends(void **state)
{
    (void)state;
    struct result r;
    struct al_child_spec more = {.cwd_fd = -1, .max_output = 1 << 20};
    size_t n = 3000000;
    autofree char *bytes = al_xmalloc(n);
    memset(bytes, 'z', n);
    more.input = (struct al_str){bytes, n};
    run_script(&r, "wc -c", &more);
    assert_int_equal(atol(r.out), n);
    result_free(&r);
    run_script(&r, "exec <&-; exit 3", &more); /* nobody reads it */
    assert_int_equal(r.end.exit_status, 3);
    result_free(&r);
}

static void what_does_not_start_is_an_errno(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int eno;
    } table[] = {
        {"/no/such/program", ENOENT}, {"/etc", EACCES}, {"/etc/passwd", EACCES}, {"/etc/passwd/x", ENOTDIR}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct result r;
        char *const argv[] = {(char *)table[i].path, NULL};
        struct al_child_spec spec = spec_of(argv);
        start(&r, &spec);
        finish(&r);
        assert_int_equal(r.end.exec_errno, table[i].eno);
        assert_int_equal(r.end.exit_status, -1);
        assert_int_equal(r.n_out + r.n_err, 0);
        result_free(&r);
    }
}

static void too_much_output_is_cut_and_read_on(void **state)
{
    (void)state;
    struct result r;
    struct al_child_spec more = {.cwd_fd = -1, .max_output = 1000};
    run_script(&r, "head -c 50000000 /dev/zero; head -c 1001 /dev/zero >&2; printf END", &more);
    assert_int_equal(r.end.exit_status, 0); /* it was not killed */
    assert_int_equal(r.n_out, 1000);
    assert_int_equal(r.n_err, 1000);
    assert_true(r.end.out_truncated && r.end.err_truncated);
    result_free(&r);
    run_script(&r, "head -c 1000 /dev/zero", &more);
    assert_int_equal(r.n_out, 1000);
    assert_false(r.end.out_truncated);
    result_free(&r);
    more.max_output = 0;
    run_script(&r, "echo x", &more);
    assert_int_equal(r.n_out, 0);
    assert_true(r.end.out_truncated);
    result_free(&r);
}

/* Each leaves something behind, or will not go. All of it carries a mark in its environment. */
static const struct {
    const char *name, *script;
    bool ends; /* by itself; else it has to be stopped */
} trees[] = {
    {"background", "sleep 600 & echo up", true},
    {"holds the pipe", "(sleep 600; echo late) & echo up", true},
    {"setsid", "setsid sleep 600 & echo up", true},
    {"double fork", "( (setsid sh -c 'sleep 600 & sleep 600' & ) & ) ; echo up", true},
    {"nohup", "nohup sleep 600 >/dev/null 2>&1 & echo up", true},
    {"closed pipes", "setsid sleep 600 </dev/null >/dev/null 2>&1 & echo up", true},
    {"deaf to SIGTERM",
     "trap '' TERM; setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 600; done' & echo up", true},
    {"stopped", "sleep 600 & kill -STOP $!; echo up", true},
    {"waits", "echo up; sleep 600", false},
    {"waits deaf", "trap '' TERM; echo up; while :; do sleep 600; done", false},
    {"stops itself", "echo up; kill -STOP $$", false},
    {"children of its own",
     "for i in 1 2 3 4 5; do setsid sh -c 'sleep 600 & sleep 600' & done; echo up; wait", false},
    {"stops its supervisor", "echo up; kill -STOP $PPID; sleep 600", false},
    {"comes again", "trap 'setsid sleep 600 & sleep 600' TERM; echo up; while :; do sleep 600 & wait; done",
     false},
};

static void mark_env(char mark[64], char *env[3])
{
    new_mark(mark);
    env[0] = mark;
    env[1] = (char *)"PATH=/usr/local/bin:/usr/bin:/bin";
    env[2] = NULL;
}

static void a_program_that_ends_takes_its_tree_with_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        char mark[64], *env[3];
        struct result r;
        if (!trees[i].ends)
            continue;
        mark_env(mark, env);
        struct al_child_spec more = {.cwd_fd = -1, .max_output = 1000, .envp = env};
        run_script(&r, trees[i].script, &more);
        if (count_marked(mark) != 0)
            fail_msg("%s: something is left", trees[i].name);
        assert_string_equal(r.out, "up\n");
        assert_int_equal(r.end.exit_status, 0);
        assert_true(r.end.duration_ms < 5000);
        result_free(&r);
    }
}

static void a_stopped_program_takes_its_tree_with_it(void **state)
{
    (void)state;
    for (int cancel = 0; cancel < 2; cancel++) {
        for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
            char mark[64], *env[3];
            struct result r;
            if (trees[i].ends)
                continue;
            mark_env(mark, env);
            char *const argv[] = {(char *)SH, (char *)"-c", (char *)trees[i].script, NULL};
            struct al_child_spec spec = spec_of(argv);
            spec.envp = env;
            spec.timeout_ms = cancel ? 0 : 200;
            start(&r, &spec);
            bool never = false;
            if (cancel) {
                al_loop_run_until(r.loop, &never, 200);
                al_child_cancel(r.child);
                al_child_cancel(r.child);
            }
            finish(&r);
            if (count_marked(mark) != 0)
                fail_msg("%s: something is left", trees[i].name);
            assert_int_equal(r.end.cancelled, cancel);
            assert_int_equal(r.end.timed_out, !cancel);
            assert_true(r.end.duration_ms >= 200);
            if (r.end.duration_ms > 3000)
                fail_msg("%s: took %lu ms", trees[i].name, (unsigned long)r.end.duration_ms);
            result_free(&r);
        }
    }
}

static void a_cancel_at_once_is_a_cancel(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char mark[64], *env[3];
        struct result r;
        mark_env(mark, env);
        char *const argv[] = {(char *)SH, (char *)"-c", (char *)"setsid sleep 600 & sleep 600", NULL};
        struct al_child_spec spec = spec_of(argv);
        spec.envp = env;
        start(&r, &spec);
        bool never = false;
        if (i > 0)
            al_loop_run_until(r.loop, &never, (uint64_t)i);
        al_child_cancel(r.child);
        finish(&r);
        assert_true(r.end.cancelled);
        assert_int_equal(count_marked(mark), 0);
        result_free(&r);
    }
}

static void a_polite_program_may_clean_up(void **state)
{
    (void)state;
    struct result r;
    char *const argv[] = {(char *)SH, (char *)"-c",
                          (char *)"trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.01; done",
                          NULL};
    struct al_child_spec spec = spec_of(argv);
    spec.timeout_ms = 150;
    start(&r, &spec);
    finish(&r);
    assert_string_equal(r.out, "up\nbye\n");
    assert_int_equal(r.end.exit_status, 9);
    assert_true(r.end.timed_out);
    result_free(&r);
}

static void two_hundred_at_once_are_all_stopped(void **state)
{
    (void)state;
    char mark[64], *env[3];
    struct result r;
    mark_env(mark, env);
    struct al_child_spec more = {.cwd_fd = -1, .max_output = 1000, .envp = env};
    run_script(&r, "i=0; while [ $i -lt 200 ]; do setsid sleep 600 & i=$((i+1)); done; echo up", &more);
    assert_string_equal(r.out, "up\n");
    assert_int_equal(count_marked(mark), 0);
    result_free(&r);
}

static void a_tree_that_multiplies_is_stopped(void **state)
{
    (void)state;
    char mark[64], *env[3];
    struct result r;
    mark_env(mark, env);
    /* Each generation starts two of the next in sessions of their own, and ends; the eighth stays. */
    const char *script =
        "f() { [ \"$1\" -gt 8 ] && exec sleep 600; setsid sh -c \"$S\" x $(($1+1)) & "
        "setsid sh -c \"$S\" x $(($1+1)) & }; S='f() { [ \"$1\" -gt 8 ] && exec sleep 600; "
        "setsid sh -c \"$S\" x $(($1+1)) & setsid sh -c \"$S\" x $(($1+1)) & }; f $1'; export S; f 1; "
        "sleep 600";
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)script, NULL};
    struct al_child_spec spec = spec_of(argv);
    spec.envp = env;
    spec.timeout_ms = 100;
    start(&r, &spec);
    finish(&r);
    assert_true(r.end.timed_out);
    assert_int_equal(count_marked(mark), 0);
    result_free(&r);
}

static void many_run_side_by_side(void **state)
{
    (void)state;
    struct al_loop *loop = al_loop_new();
    struct result r[32];
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)"read x; echo $x$x", NULL};
    for (int i = 0; i < 32; i++) {
        char line[16];
        struct al_err err;
        struct al_child_spec spec = spec_of(argv);
        snprintf(line, sizeof(line), "%d\n", i);
        spec.input = al_str_of(line); /* copied */
        r[i] = (struct result){.loop = loop};
        r[i].child = al_child_start(loop, &spec, on_done, &r[i], &err);
        assert_non_null(r[i].child);
    }
    for (int i = 0; i < 32; i++) {
        char want[32];
        assert_true(al_loop_run_until(loop, &r[i].done, LIMIT_MS));
        snprintf(want, sizeof(want), "%d%d\n", i, i);
        assert_string_equal(r[i].out, want);
        free(r[i].out);
        free(r[i].err);
    }
    al_loop_free(loop);
}

static void hundreds_in_sequence_leave_nothing(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"/bin/true", NULL};
    unsigned fds = count_fds();
    for (int i = 0; i < N_IN_SEQUENCE; i++) {
        struct result r;
        struct al_child_spec spec = spec_of(argv);
        start(&r, &spec);
        finish(&r);
        assert_int_equal(r.end.exit_status, 0);
        result_free(&r);
    }
    assert_int_equal(count_fds(), fds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* A host of its own: starts a tree, says so, and never returns. */
static void be_host(const char *script, char **env, int tell)
{
    struct result r;
    char *const argv[] = {(char *)SH, (char *)"-c", (char *)script, NULL};
    struct al_child_spec spec = spec_of(argv);
    spec.envp = env;
    start(&r, &spec);
    (void)!write(tell, "x", 1);
    bool never = false;
    for (;;)
        al_loop_run_until(r.loop, &never, 1000);
}

static void a_killed_host_takes_the_tree_with_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]) + 6; i++) {
        /* The last rounds: the host dies while the supervisor is still starting. */
        bool early = i >= sizeof(trees) / sizeof(trees[0]);
        const char *script = early ? "setsid sleep 600 & sleep 600" : trees[i].script;
        char mark[64], *env[3], c;
        int p[2];
        if (!early && (trees[i].ends || strcmp(trees[i].name, "stops its supervisor") == 0))
            continue; /* a stopped supervisor hears nothing, and there is nobody left to wake it */
        mark_env(mark, env);
        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        pid_t host = fork();
        if (host == 0)
            be_host(script, env, p[1]);
        close(p[1]);
        assert_int_equal(read(p[0], &c, 1), 1);
        if (!early)
            for (uint64_t end = al_mono_ms() + 10000; count_marked(mark) < 2 && al_mono_ms() < end;)
                poll(NULL, 0, 5);
        kill(host, SIGKILL);
        waitpid(host, NULL, 0);
        if (!gone_soon(mark))
            fail_msg("%s: something is left", early ? "early" : trees[i].name);
        close(p[0]);
    }
}

static void silence_is_a_time_limit_of_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        bool late;
    } cases[] = {
        {"echo a; sleep 600", true},
        {"echo a; while :; do sleep 600 & wait; done", true},
        {"i=0; while [ $i -lt 15 ]; do echo; sleep 0.1; i=$((i+1)); done; echo a", false},
        {"i=0; while [ $i -lt 15 ]; do echo >&2; sleep 0.1; i=$((i+1)); done; echo a", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result r;
        struct al_child_spec more = {
            .cwd_fd = -1, .max_output = 1 << 20, .idle_ms = cases[i].late ? 100 : 1200};
        run_script(&r, cases[i].script, &more);
        if (r.end.timed_out != cases[i].late)
            fail_msg("%s", cases[i].script);
        assert_int_equal(r.end.exit_status, cases[i].late ? -1 : 0);
        result_free(&r);
    }
}

static void folders_to_read_are_for_the_supervisor_alone(void **state)
{
    (void)state;
    struct tmp t;
    struct result r;
    tmp_make(&t);
    char script[700];
    snprintf(script, sizeof(script),
             "for f in /proc/self/fd/*; do [ $f -ef %s ] && echo open; done; echo end", t.path);
    const int dirs[AL_CHILD_READ_FDS + 1] = {t.fd, t.fd, t.fd, t.fd, t.fd};
    struct al_child_spec more = {
        .cwd_fd = -1, .max_output = 1000, .read_fds = dirs, .n_read_fds = AL_CHILD_READ_FDS};
    run_script(&r, script, &more);
    assert_string_equal(r.out, "end\n");
    result_free(&r);
    char *const argv[] = {(char *)SH, NULL};
    struct al_child_spec spec = spec_of(argv);
    struct al_err err;
    spec.read_fds = dirs;
    spec.n_read_fds = AL_CHILD_READ_FDS + 1;
    r.loop = al_loop_new();
    assert_null(al_child_start(r.loop, &spec, on_done, &r, &err));
    assert_int_equal(err.code, AL_INTERNAL);
    al_loop_free(r.loop);
    tmp_remove(&t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_are_told),
        cmocka_unit_test(arguments_environment_and_folder_arrive_exactly),
        cmocka_unit_test(input_arrives_whole_and_ends),
        cmocka_unit_test(what_does_not_start_is_an_errno),
        cmocka_unit_test(too_much_output_is_cut_and_read_on),
        cmocka_unit_test(a_program_that_ends_takes_its_tree_with_it),
        cmocka_unit_test(a_stopped_program_takes_its_tree_with_it),
        cmocka_unit_test(a_cancel_at_once_is_a_cancel),
        cmocka_unit_test(silence_is_a_time_limit_of_its_own),
        cmocka_unit_test(folders_to_read_are_for_the_supervisor_alone),
        cmocka_unit_test(a_polite_program_may_clean_up),
        cmocka_unit_test(two_hundred_at_once_are_all_stopped),
        cmocka_unit_test(a_tree_that_multiplies_is_stopped),
        cmocka_unit_test(many_run_side_by_side),
        cmocka_unit_test(hundreds_in_sequence_leave_nothing),
        cmocka_unit_test(a_killed_host_takes_the_tree_with_it),
    };
    al_self_open();
    al_loop_free(al_loop_new());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
