#include "os_help.h"

#include "os/spawn.h"
#include "sandbox/supervise.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* A supervisor, started as a host would, with its program's output on a pipe. */
struct sup {
    int pidfd, status_fd, out_fd;
    char mark[64];
};

static void sup_start(struct sup *s, const char *const *args)
{
    struct al_err err;
    int status[2], out[2];
    char *argv[20] = {(char *)"alisio", (char *)AL_SUPERVISE_VERB};
    pid_t pid;
    for (size_t i = 0; args[i]; i++)
        argv[2 + i] = (char *)args[i];
    new_mark(s->mark);
    char *const env[] = {s->mark, (char *)"PATH=/usr/bin:/bin", NULL};
    assert_int_equal(pipe2(status, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    const struct al_fd_map fds[] = {{out[1], 1}, {status[1], 3}};
    struct al_spawn how = {.exec_fd = al_self_fd(),
                           .argv = argv,
                           .envp = env,
                           .cwd_fd = -1,
                           .fds = fds,
                           .n_fds = 2,
                           .death_signal = SIGTERM,
                           .new_session = true};
    assert_int_equal(al_spawn(&how, &pid, &s->pidfd, &err), 0);
    close(status[1]);
    close(out[1]);
    s->status_fd = status[0];
    s->out_fd = out[0];
}

/* Waits until the program has said so many bytes. */
static void sup_hear(struct sup *s, size_t n)
{
    char c;
    while (n-- > 0)
        assert_int_equal(read(s->out_fd, &c, 1), 1);
}

static void sup_end(struct sup *s, struct al_supervise_status *st)
{
    struct al_exit e;
    struct pollfd p = {.fd = s->pidfd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 20000), 1);
    assert_int_equal(al_reap(s->pidfd, true, &e), 1);
    assert_true(e.exited);
    memset(st, 0x55, sizeof(*st));
    assert_int_equal(read(s->status_fd, st, sizeof(*st)), sizeof(*st));
    char c;
    assert_int_equal(read(s->status_fd, &c, 1), 0); /* one status, and nobody else holds the pipe */
    assert_int_equal(count_marked(s->mark), 0);
    close(s->pidfd);
    close(s->status_fd);
    close(s->out_fd);
}

static void status_table(void **state)
{
    (void)state;
    static const struct {
        const char *args[8];
        struct al_supervise_status want;
    } table[] = {
        {{"--", "/bin/true", "true", NULL}, {0, 0, 0}},
        {{"--", "/bin/sh", "sh", "-c", "exit 255", NULL}, {0, 255, 0}},
        {{"--", "/bin/sh", "sh", "-c", "kill -9 $$", NULL}, {0, -1, SIGKILL}},
        {{"--", "/bin/sh", "--", "-c", "exit 5", NULL}, {0, 5, 0}},
        {{"--", "/none", "x", NULL}, {ENOENT, -1, 0}},
        {{"--", "/", "x", NULL}, {EACCES, -1, 0}},
        {{"--", "/bin/true", NULL}, {EINVAL, -1, 0}},
        {{"--", NULL}, {EINVAL, -1, 0}},
        {{"/bin/true", "true", NULL}, {EINVAL, -1, 0}},
        {{"--other", "--", "/bin/true", "true", NULL}, {EINVAL, -1, 0}},
        {{NULL}, {EINVAL, -1, 0}},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct sup s;
        struct al_supervise_status st;
        sup_start(&s, table[i].args);
        sup_end(&s, &st);
        if (memcmp(&st, &table[i].want, sizeof(st)) != 0)
            fail_msg("row %zu: errno %d status %d signal %d", i, st.exec_errno, st.exit_status, st.signal);
    }
}

static void the_program_sees_nothing_of_the_supervisor(void **state)
{
    (void)state;
    static const char *const args[] = {
        "--",
        "/bin/sh",
        "sh",
        "-c",
        "[ -e /proc/self/fd/3 ] && [ /proc/self/fd/3 -ef /proc/$PPID/fd/3 ] && echo open; "
        "while read a b; do [ $a = SigBlk: ] && echo $b; done </proc/$$/status; read x || echo empty; "
        "[ \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ ] && echo session",
        NULL};
    struct sup s;
    struct al_supervise_status st;
    struct al_buf out = AL_BUF_INIT(1000);
    sup_start(&s, args);
    assert_int_equal(al_fd_read_all(s.out_fd, &out), 0);
    autofree char *text = al_buf_take(&out);
    assert_string_equal(text, "0000000000000000\nempty\nsession\n");
    sup_end(&s, &st);
    assert_int_equal(st.exit_status, 0);
}

static const char deaf[] =
    "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo; sleep 600' & echo; sleep 600; sleep 600";

static void what_the_program_was_told_stands_in_its_own_command_line_alone(void **state)
{
    (void)state;
    static const char *const args[] = {"--",
                                       "/bin/sh",
                                       "sh",
                                       "-c",
                                       "for p in $$ $PPID $(cut -d' ' -f4 /proc/$PPID/stat); do grep -q "
                                       "s3cret /proc/$p/cmdline && echo yes || echo no; done",
                                       "s3cret",
                                       NULL};
    struct sup s;
    struct al_supervise_status st;
    char said[64] = "";
    sup_start(&s, args);
    size_t n = 0;
    for (ssize_t r; n + 1 < sizeof(said) && (r = read(s.out_fd, said + n, sizeof(said) - 1 - n)) > 0;)
        n += (size_t)r;
    assert_string_equal(said, "yes\nno\nno\n");
    sup_end(&s, &st);
}

static void sigterm_waits_300_ms_before_it_kills(void **state)
{
    (void)state;
    static const char *const args[] = {"--", "/bin/sh", "sh", "-c", deaf, NULL};
    struct sup s;
    struct al_supervise_status st;
    sup_start(&s, args);
    sup_hear(&s, 2);
    uint64_t start = al_mono_ms();
    assert_int_equal(al_pidfd_kill(s.pidfd, SIGTERM), 0);
    sup_end(&s, &st);
    assert_true(al_mono_ms() - start >= 299);
    assert_int_equal(st.signal, SIGKILL);
}

static void the_second_sigterm_kills_at_once(void **state)
{
    (void)state;
    static const char *const args[] = {"--", "/bin/sh", "sh", "-c", deaf, NULL};
    struct sup s;
    struct al_supervise_status st;
    bool fast = false;
    /* On a loaded machine the two may take long to be heard: one in ten must have been faster than the grace.
     */
    for (int i = 0; i < 10 && !fast; i++) {
        sup_start(&s, args);
        sup_hear(&s, 2);
        uint64_t start = al_mono_ms();
        assert_int_equal(al_pidfd_kill(s.pidfd, SIGTERM), 0);
        struct pollfd p = {.fd = s.pidfd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 20), 0); /* two of a kind that are pending would be one */
        al_pidfd_kill(s.pidfd, SIGTERM);
        sup_end(&s, &st);
        fast = al_mono_ms() - start < 300;
    }
    assert_true(fast);
}

static void what_the_tree_leaves_is_killed_without_grace(void **state)
{
    (void)state;
    static const char *const args[] = {
        "--", "/bin/sh", "sh", "-c", "trap '' TERM; setsid sleep 600 & (sleep 600 &) ; exit 4", NULL};
    struct sup s;
    struct al_supervise_status st;
    sup_start(&s, args);
    sup_end(&s, &st);
    assert_int_equal(st.exit_status, 4);
}

static void a_leader_that_ended_before_its_threads_is_no_zombie(void **state)
{
    (void)state;
    autofree char *self = realpath("/proc/self/exe", NULL);
    for (int nested = 0; nested < 2; nested++) {
        const char *const direct[] = {"--", self, "t", "__threads", NULL};
        const char *const below[] = {"--", "/bin/sh", "sh", "-c", "\"$0\" __threads & wait", self, NULL};
        struct sup s;
        struct al_supervise_status st;
        sup_start(&s, nested ? below : direct);
        sup_hear(&s, 1);
        assert_int_equal(al_pidfd_kill(s.pidfd, SIGTERM), 0);
        sup_end(&s, &st);
    }
}

static void *deaf_thread(void *arg)
{
    (void)arg;
    (void)!write(1, "x", 1);
    for (;;)
        pause();
    return NULL;
}

static void be_threads(void)
{
    pthread_t t;
    signal(SIGTERM, SIG_IGN);
    if (pthread_create(&t, NULL, deaf_thread, NULL) != 0)
        _exit(1);
    pthread_exit(NULL);
}

static void a_killed_supervisor_takes_its_program_along(void **state)
{
    (void)state;
    static const char *const args[] = {"--", "/bin/sh", "sh", "-c", "echo; exec sleep 600", NULL};
    struct sup s;
    struct al_exit e;
    char c;
    sup_start(&s, args);
    sup_hear(&s, 1);
    assert_int_equal(al_pidfd_kill(s.pidfd, SIGKILL), 0);
    assert_int_equal(al_reap(s.pidfd, true, &e), 1);
    struct al_supervise_status st;
    assert_true(gone_soon(s.mark)); /* by its other half, which still tells */
    assert_int_equal(read(s.status_fd, &st, sizeof(st)), sizeof(st));
    assert_int_equal(st.signal, SIGKILL);
    assert_int_equal(read(s.status_fd, &c, 1), 0);
    close(s.pidfd);
    close(s.status_fd);
    close(s.out_fd);
}

/* Kills its parent, the supervisor that it can see, after it has detached a part of itself. */
static void what_a_program_detached_dies_when_it_kills_its_parent(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "(setsid sh -c 'echo; exec sleep 600' &); read x <&3; kill -9 $PPID; exec sleep 600",
        "(setsid sh -c 'echo; exec sleep 600' &); read x <&3; kill -9 $PPID",
        /* the outer one alone */
        "(setsid sh -c 'echo; exec sleep 600' &); read x <&3; kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); "
        "exec "
        "sleep 600",
        /* stopped, and then told to end */
        "(setsid sh -c 'echo; exec sleep 600' &); read x <&3; kill -STOP $PPID; echo; exec sleep 600",
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct tmp t;
        struct sup s;
        struct al_exit e;
        char script[800], c;
        tmp_make(&t);
        assert_int_equal(mkfifoat(t.fd, "go", 0600), 0);
        snprintf(script, sizeof(script), "exec 3<>%s/go; %s", t.path, scripts[i]);
        const char *const args[] = {"--", "/bin/sh", "sh", "-c", script, NULL};
        sup_start(&s, args);
        sup_hear(&s, 1);
        autofd int go = openat(t.fd, "go", O_RDWR | O_CLOEXEC);
        assert_int_equal(write(go, "\n", 1), 1);
        if (i == 3) {
            sup_hear(&s, 1);
            al_pidfd_kill(s.pidfd, SIGTERM);
        }
        struct pollfd p = {.fd = s.pidfd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 20000), 1);
        assert_int_equal(al_reap(s.pidfd, true, &e), 1);
        /* With the outer one gone nobody is left to be waited for. */
        if (i == 2)
            assert_true(gone_soon(s.mark));
        else if (count_marked(s.mark) != 0)
            fail_msg("script %zu has left something", i);
        (void)!read(s.status_fd, &c, 1);
        close(s.pidfd);
        close(s.status_fd);
        close(s.out_fd);
        tmp_remove(&t);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "__threads"))
        be_threads();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_table),
        cmocka_unit_test(the_program_sees_nothing_of_the_supervisor),
        cmocka_unit_test(what_the_program_was_told_stands_in_its_own_command_line_alone),
        cmocka_unit_test(sigterm_waits_300_ms_before_it_kills),
        cmocka_unit_test(the_second_sigterm_kills_at_once),
        cmocka_unit_test(what_the_tree_leaves_is_killed_without_grace),
        cmocka_unit_test(a_leader_that_ended_before_its_threads_is_no_zombie),
        cmocka_unit_test(a_killed_supervisor_takes_its_program_along),
        cmocka_unit_test(what_a_program_detached_dies_when_it_kills_its_parent),
    };
    al_self_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
