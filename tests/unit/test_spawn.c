#include "os/spawn.h"
#include "os_help.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* This program is also the child: it tells what it was started with. */
static void report_status_lines(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0)
            printf("%s", line);
    }
    if (f)
        fclose(f);
}

static void report_fds(void)
{
    printf("fds");
    for (int fd = 0; fd < 4000; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            printf(" %d", fd);
    }
    printf("\n");
}

static int report(int argc, char **argv)
{
    struct rlimit core, stack;
    char cwd[4096];
    report_fds(); /* before anything is opened here */
    for (int i = 0; i < argc; i++)
        printf("arg[%s]\n", argv[i]);
    for (char **e = environ; *e; e++)
        printf("env[%s]\n", *e);
    report_status_lines();
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_STACK, &stack);
    printf("core %lu\nstack %lu\n", (unsigned long)core.rlim_cur, (unsigned long)stack.rlim_cur);
    printf("session %d\n", getsid(0) == getpid());
    printf("cwd %s\n", getcwd(cwd, sizeof(cwd)));
    int sig = 0;
    prctl(PR_GET_PDEATHSIG, &sig);
    printf("death %d\n", sig);
    fflush(stdout);
    _exit(0);
}

static char *const no_env[] = {NULL};

static struct al_spawn self(char *const *argv)
{
    return (struct al_spawn){.exec_fd = al_self_fd(), .argv = argv, .envp = no_env, .cwd_fd = -1};
}

/* Runs and gives what it wrote to descriptor 1. */
static char *run(struct al_spawn *how, const struct al_fd_map *more, size_t n_more)
{
    struct al_err err;
    struct al_fd_map fds[16];
    int p[2], pidfd;
    pid_t pid;
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    fds[0] = (struct al_fd_map){p[1], 1};
    for (size_t i = 0; i < n_more; i++)
        fds[i + 1] = more[i];
    how->fds = fds;
    how->n_fds = n_more + 1;
    if (al_spawn(how, &pid, &pidfd, &err) != 0)
        fail_msg("%s", err.msg);
    assert_true(al_pid_is_child(pid)); /* also when it has ended */
    assert_false(al_pid_is_child(getpid()));
    close(p[1]);
    struct al_buf out = AL_BUF_INIT(1 << 20);
    assert_int_equal(al_fd_read_all(p[0], &out), 0);
    close(p[0]);
    struct al_exit e;
    assert_int_equal(al_reap(pidfd, true, &e), 1);
    assert_false(al_pid_is_child(pid));
    assert_true(e.exited);
    assert_int_equal(e.status, 0);
    close(pidfd);
    return al_buf_take(&out);
}

static void arguments_and_environment_arrive_exactly(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"odd name", (char *)"__report",  (char *)"",    (char *)"a b",
                          (char *)"$HOME;*",  (char *)"l\xc3\xa9", (char *)"x]y", NULL};
    char *const envp[] = {(char *)"A=1", (char *)"B=with = sign", (char *)"C=", NULL};
    struct al_spawn how = self(argv);
    how.envp = envp;
    autofree char *out = run(&how, NULL, 0);
    assert_non_null(strstr(out,
                           "arg[odd name]\narg[__report]\narg[]\narg[a b]\narg[$HOME;*]\narg[l\xc3\xa9]\n"
                           "arg[x]y]\nenv[A=1]\nenv[B=with = sign]\nenv[C=]\nSig"));
}

static void nothing_else_is_inherited(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"t", (char *)"__report", NULL};
    int kept[50];
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigset_t block, before;
    for (int i = 0; i < 50; i++)
        kept[i] = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    sigaction(SIGUSR1, &ignore, &old);
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    sigprocmask(SIG_BLOCK, &block, &before);
    struct al_spawn how = self(argv);
    autofree char *out = run(&how, NULL, 0);
    sigset_t after;
    sigprocmask(SIG_SETMASK, &before, &after);
    sigaction(SIGUSR1, &old, NULL);
    assert_true(sigismember(&after, SIGUSR2));
    assert_non_null(strstr(out, "fds 0 1 2\n"));
    assert_non_null(strstr(out, "SigBlk:\t0000000000000000"));
    assert_non_null(strstr(out, "SigIgn:\t0000000000000000"));
    assert_non_null(strstr(out, "core 0\n"));
    assert_non_null(strstr(out, "session 0\n"));
    assert_non_null(strstr(out, "death 0\n"));
    assert_null(strstr(out, "env["));
    for (int i = 0; i < 50; i++)
        close(kept[i]);
}

static void session_folder_stack_and_death_signal_are_set(void **state)
{
    (void)state;
    struct tmp t;
    tmp_make(&t);
    autofree char *real = realpath(t.path, NULL);
    char *const argv[] = {(char *)"t", (char *)"__report", NULL};
    struct al_spawn how = self(argv);
    how.new_session = true;
    how.cwd_fd = t.fd;
    how.stack_bytes = 3 << 20;
    how.death_signal = SIGTERM;
    autofree char *out = run(&how, NULL, 0);
    char want[400];
    snprintf(want, sizeof(want), "stack %d\nsession 1\ncwd %s\ndeath %d\n", 3 << 20, real, SIGTERM);
    assert_non_null(strstr(out, want));
    tmp_remove(&t);
}

static void descriptors_may_swap_and_overlap(void **state)
{
    (void)state;
    struct tmp t;
    tmp_make(&t);
    put_file(t.fd, "a", "AAAA");
    put_file(t.fd, "b", "BBBB");
    int a = openat(t.fd, "a", O_RDONLY | O_CLOEXEC), b = openat(t.fd, "b", O_RDONLY | O_CLOEXEC);
    /* Each descriptor goes to the other's number, and one of them also to 0 and to a far one. */
    const struct al_fd_map maps[] = {{a, b}, {b, a}, {a, 0}, {b, 200}};
    char from_a[16], from_b[16];
    snprintf(from_a, sizeof(from_a), "%d", a);
    snprintf(from_b, sizeof(from_b), "%d", b);
    char *const argv[] = {(char *)"t", (char *)"__cat", from_a, from_b, (char *)"0", (char *)"200", NULL};
    struct al_spawn how = self(argv);
    autofree char *out = run(&how, maps, 4);
    assert_string_equal(out, "BBBB AAAA AAAA BBBB ");
    const struct al_fd_map same[] = {{a, a}};
    char *const argv2[] = {(char *)"t", (char *)"__cat", from_a, NULL};
    how = self(argv2);
    autofree char *out2 = run(&how, same, 1);
    assert_string_equal(out2, "AAAA ");
    close(a);
    close(b);
    tmp_remove(&t);
}

static int cat(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        char b[64];
        ssize_t n = pread(atoi(argv[i]), b, sizeof(b), 0);
        printf("%.*s ", n > 0 ? (int)n : 5, n > 0 ? b : "ERROR");
    }
    fflush(stdout);
    _exit(0);
}

static void a_failed_start_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    struct tmp t;
    tmp_make(&t);
    put_file(t.fd, "text", "no program\n");
    put_file(t.fd, "shebang", "#!/no/such/interpreter\n");
    set_mode(t.fd, "text", 0755);
    set_mode(t.fd, "shebang", 0755);
    put_file(t.fd, "plain", "#!/bin/sh\n");
    const struct {
        const char *name;
        int eno;
        enum al_code code;
    } table[] = {
        {"missing", ENOENT, AL_NOT_FOUND},   {"text/x", ENOTDIR, AL_NOT_FOUND},
        {".", EACCES, AL_PERMISSION_DENIED}, {"plain", EACCES, AL_PERMISSION_DENIED},
        {"text", ENOEXEC, AL_INTERNAL},      {"shebang", ENOENT, AL_NOT_FOUND},
    };
    unsigned fds = count_fds();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char path[400];
        char *const argv[] = {(char *)"x", NULL};
        struct al_err err;
        pid_t pid = -7;
        int pidfd = -7;
        snprintf(path, sizeof(path), "%s/%s", t.path, table[i].name);
        struct al_spawn how = {.path = path, .exec_fd = -1, .argv = argv, .envp = no_env, .cwd_fd = -1};
        assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -table[i].eno);
        assert_int_equal(err.code, table[i].code);
        assert_null(strstr(err.msg, t.path));
        assert_int_equal(pid, -7);
        assert_int_equal(pidfd, -7);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
    }
    assert_int_equal(count_fds(), fds);
    tmp_remove(&t);
}

static void impossible_settings_are_refused(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"t", (char *)"__exit", (char *)"0", NULL};
    const struct al_fd_map bad_from[] = {{-1, 1}}, bad_to[] = {{0, -1}}, closed[] = {{900, 1}};
    struct al_err err;
    pid_t pid;
    int pidfd;
    struct al_spawn how = self(argv);
    how.n_fds = 1;
    how.fds = bad_from;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -EINVAL);
    how.fds = bad_to;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -EINVAL);
    how.fds = closed;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -EBADF);
    how = self(argv);
    how.envp = NULL;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -EINVAL);
    how = self(argv);
    how.cwd_fd = 900;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -EBADF);
    how = self(argv);
    how.exec_fd = -1;
    assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), -EINVAL);
}

static int spawn_mode(const char *mode, const char *arg, int death_signal, int *ret_pidfd)
{
    char *const argv[] = {(char *)"t", (char *)mode, (char *)arg, NULL};
    struct al_err err;
    pid_t pid;
    struct al_spawn how = self(argv);
    how.death_signal = death_signal;
    assert_int_equal(al_spawn(&how, &pid, ret_pidfd, &err), 0);
    return pid;
}

static void reaping_tells_exit_and_signal(void **state)
{
    (void)state;
    struct al_exit e;
    int pidfd;
    spawn_mode("__exit", "42", 0, &pidfd);
    assert_int_equal(al_reap(pidfd, true, &e), 1);
    assert_true(e.exited);
    assert_int_equal(e.status, 42);
    assert_int_equal(al_reap(pidfd, true, &e), -ECHILD);
    close(pidfd);
    spawn_mode("__pause", "", 0, &pidfd);
    assert_int_equal(al_reap(pidfd, false, &e), 0);
    assert_int_equal(al_pidfd_kill(pidfd, SIGTERM), 0);
    assert_int_equal(al_reap(pidfd, true, &e), 1);
    assert_false(e.exited);
    assert_int_equal(e.signal, SIGTERM);
    assert_int_equal(al_pidfd_kill(pidfd, SIGTERM), -ESRCH);
    close(pidfd);
    spawn_mode("__burn", "", 0, &pidfd);
    assert_int_equal(al_reap(pidfd, true, &e), 1);
    assert_true(e.cpu_ms >= 30);
    close(pidfd);
    assert_int_equal(al_pidfd_open(999999999), -ESRCH);
}

static void statuses_come_although_sigchld_was_ignored(void **state)
{
    (void)state;
    struct al_exit e;
    int pidfd;
    signal(SIGCHLD, SIG_IGN);
    spawn_mode("__exit", "3", 0, &pidfd);
    assert_int_equal(al_reap(pidfd, true, &e), 1);
    assert_int_equal(e.status, 3);
    close(pidfd);
}

static void the_death_signal_follows_a_killed_parent(void **state)
{
    (void)state;
    int p[2];
    char c;
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    pid_t middle = fork();
    if (middle == 0) {
        char *const argv[] = {(char *)"t", (char *)"__tell_and_pause", NULL};
        const struct al_fd_map out[] = {{p[1], 1}};
        struct al_err err;
        pid_t pid;
        int pidfd;
        struct al_spawn how = self(argv);
        how.fds = out;
        how.n_fds = 1;
        how.death_signal = SIGKILL;
        if (al_spawn(&how, &pid, &pidfd, &err) != 0)
            _exit(1);
        for (;;)
            pause();
    }
    close(p[1]);
    assert_int_equal(read(p[0], &c, 1), 1);
    kill(middle, SIGKILL);
    waitpid(middle, NULL, 0);
    struct pollfd hup = {.fd = p[0], .events = POLLIN};
    assert_int_equal(poll(&hup, 1, 10000), 1); /* the only writer is gone */
    assert_int_equal(read(p[0], &c, 1), 0);
    close(p[0]);
}

static void a_thousand_in_sequence_leave_nothing(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"true", NULL};
    unsigned fds = count_fds();
    for (int i = 0; i < 1000; i++) {
        struct al_spawn how = {
            .path = "/bin/true", .exec_fd = -1, .argv = argv, .envp = no_env, .cwd_fd = -1};
        struct al_err err;
        struct al_exit e;
        pid_t pid;
        int pidfd;
        assert_int_equal(al_spawn(&how, &pid, &pidfd, &err), 0);
        assert_int_equal(al_reap(pidfd, true, &e), 1);
        close(pidfd);
    }
    assert_int_equal(count_fds(), fds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void the_environment_of_children_holds_no_keys(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool passes;
    } table[] = {
        {"PATH", true},
        {"HOME", true},
        {"LC_ALL", true},
        {"XDG_RUNTIME_DIR", true},
        {"HTTPS_PROXY", true},
        {"no_proxy", true},
        {"SSL_CERT_FILE", true},
        {"TERM", true},
        {"OPENAI_API_KEY", false},
        {"PATHS", false},
        {"LC_", false},
        {"LD_PRELOAD", false},
        {"GIT_SSH_COMMAND", false},
        {"AWS_SECRET", false},
        {"ALISIO_LOG_LEVEL", false},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        setenv(table[i].name, "v", table[i].passes && strcmp(table[i].name, "PATH") != 0);
    char **env = al_env_child();
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        bool found = false;
        size_t n = strlen(table[i].name);
        for (char **e = env; *e; e++)
            found = found || (strncmp(*e, table[i].name, n) == 0 && (*e)[n] == '=');
        assert_int_equal(found, table[i].passes);
    }
    al_env_free(env);
    al_env_free(NULL);
}

/* A program that lies where a child happens to be, or in a repository, must not be found by its name. */
static void path_of_children_has_no_doubtful_entries(void **state)
{
    (void)state;
    autofree char *before = al_xstrdup(getenv("PATH"));
    const char *avoid[] = {"/usr/share", NULL};
    char *env[] = {al_xstrdup("A=PATH=."), al_xstrdup("PATH=:/bin:.:rel/bin:/usr/share/x:/none/../bin:"),
                   NULL};
    al_env_clean_path(env, avoid);
    assert_string_equal(env[0], "A=PATH=.");
    assert_string_equal(env[1], "PATH=/bin:/none/../bin");
    free(env[1]);
    env[1] = al_xstrdup("PATH=.:/usr/share");
    al_env_clean_path(env, avoid);
    assert_string_equal(env[1], "PATH=/usr/local/bin:/usr/bin:/bin");
    free(env[0]);
    free(env[1]);
    setenv("PATH", "./node_modules/.bin:/usr/bin:", 1);
    char **child = al_env_child();
    bool found = false;
    for (char **e = child; *e; e++)
        found = found || strcmp(*e, "PATH=/usr/bin") == 0;
    assert_true(found);
    al_env_free(child);
    setenv("PATH", before, 1);
}

static int child_mode(int argc, char **argv)
{
    if (strcmp(argv[1], "__report") == 0)
        return report(argc, argv);
    if (strcmp(argv[1], "__cat") == 0)
        return cat(argc, argv);
    if (strcmp(argv[1], "__exit") == 0)
        _exit(atoi(argv[2]));
    if (strcmp(argv[1], "__burn") == 0) {
        for (struct rusage r;
             getrusage(RUSAGE_SELF, &r) == 0 && r.ru_utime.tv_usec + r.ru_stime.tv_usec < 40000;)
            ;
        _exit(0);
    }
    if (strcmp(argv[1], "__tell_and_pause") == 0)
        (void)!write(1, "x", 1);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child_mode(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_and_environment_arrive_exactly),
        cmocka_unit_test(nothing_else_is_inherited),
        cmocka_unit_test(session_folder_stack_and_death_signal_are_set),
        cmocka_unit_test(descriptors_may_swap_and_overlap),
        cmocka_unit_test(a_failed_start_is_an_error_and_leaves_nothing),
        cmocka_unit_test(impossible_settings_are_refused),
        cmocka_unit_test(reaping_tells_exit_and_signal),
        cmocka_unit_test(statuses_come_although_sigchld_was_ignored),
        cmocka_unit_test(the_death_signal_follows_a_killed_parent),
        cmocka_unit_test(a_thousand_in_sequence_leave_nothing),
        cmocka_unit_test(the_environment_of_children_holds_no_keys),
        cmocka_unit_test(path_of_children_has_no_doubtful_entries),
    };
    al_self_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
