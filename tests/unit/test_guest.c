/* The guest: its command line, its reports, its end, and its place under the supervisor. */
#include "guest_rig.h"

#include "sandbox/tree.h"

/* --- the command line --- */

static void what_is_asked_for_stands_in_the_command_line(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(10000), small = AL_ARENA_INIT(200);
    static const char *const head[] = {"bwrap", "/proc/self/fd/5", NULL},
                             *const procs[] = {"/cg/procs", NULL},
                             *const tail[] = {"/usr/bin/python3", "-B", NULL};
    static const struct al_guest_path paths[] = {
        {"/usr", false, false}, {"/opt", false, true}, {"/job", true, false}, {"/x y", true, true}};
    static const char *const want[] = {"bwrap",
                                       "/proc/self/fd/5",
                                       "__guest",
                                       "--report=4",
                                       "--cgroup=/cg/procs",
                                       "--pid-ns=try",
                                       "--uid=5",
                                       "--gid=6",
                                       "--no-caps",
                                       "--nproc=1",
                                       "--data=2",
                                       "--fsize=3",
                                       "--nofile=4",
                                       "--landlock",
                                       "--read=/usr",
                                       "--read-if=/opt",
                                       "--write=/job",
                                       "--write-if=/x y",
                                       "--filter",
                                       "--no-sockets",
                                       "--",
                                       "/usr/bin/python3",
                                       "-B",
                                       NULL};
    const struct al_guest g = {.cgroup_procs = procs,
                               .pid_ns = AL_GUEST_TRY,
                               .uid = 5,
                               .gid = 6,
                               .no_caps = true,
                               .nproc = 1,
                               .data = 2,
                               .fsize = 3,
                               .nofile = 4,
                               .landlock = true,
                               .paths = paths,
                               .n_paths = 4,
                               .filter = true,
                               .no_sockets = true,
                               .report_fd = 4};
    char **argv = al_guest_argv(&a, head, &g, tail);
    assert_non_null(argv);
    for (size_t i = 0; want[i]; i++)
        assert_string_equal(argv[i], want[i]);
    assert_null(argv[sizeof(want) / sizeof(want[0]) - 1]);
    assert_null(al_guest_argv(&small, head, &g, tail));
}

/* --- reports --- */

static void a_start_is_reported_once_and_only_0_1_2_go_on(void **state)
{
    (void)state;
    struct run r = {
        .argv = SH("for f in 3 4 5 6 7 8 9 12 20; do [ -e /proc/$$/fd/$f ] && echo $f; done; echo done")};
    run(&r);
    assert_true(exited(&r, 0));
    assert_string_equal(r.out, "done\n");
    assert_int_equal(r.n_reports, 1);
    assert_int_equal(r.reports[0].layer, AL_GUEST_STARTED);
    assert_int_equal(r.reports[0].pid_ns, 0);
}

static void a_link_of_the_chain_keeps_descriptors_and_is_silent(void **state)
{
    (void)state;
    struct run r = {.guest = {.keep_fds = true},
                    .argv = SH("[ -e /proc/$$/fd/7 ] && [ -e /proc/$$/fd/12 ] && echo yes")};
    run(&r);
    assert_string_equal(r.out, "yes\n");
    assert_int_equal(r.n_reports, 0);
}

static void each_step_that_fails_is_named(void **state)
{
    (void)state;
    static const char *const no_group[] = {"/nowhere/cgroup.procs", NULL};
    static const struct al_guest_path no_path[] = {{"/nowhere", false, false}};
    struct run table[] = {
        {.guest = {.cgroup_procs = no_group}, .argv = SH("echo ran"), .status = AL_GUEST_CGROUP},
        {.guest = {.pid_ns = AL_GUEST_MUST, .uid = OTHER, .gid = OTHER},
         .argv = SH("echo ran"),
         .as = ordinary(),
         .status = AL_GUEST_PIDNS},
        {.guest = {.uid = OTHER, .gid = OTHER},
         .argv = SH("echo ran"),
         .as = ordinary(),
         .status = AL_GUEST_USER},
        {.guest = {.no_caps = true},
         .argv = SH("echo ran"),
         .refuse_call = SYS_capset,
         .status = AL_GUEST_USER},
#ifndef AL_ASAN /* which asks for a limit itself */
        {.guest = {.nofile = 100},
         .argv = SH("echo ran"),
         .refuse_call = SYS_prlimit64,
         .status = AL_GUEST_RLIMIT},
#endif
        {.guest = {.landlock = true, .paths = no_path, .n_paths = 1},
         .argv = SH("echo ran"),
         .status = AL_GUEST_LANDLOCK},
        {.guest = {.landlock = true},
         .argv = SH("echo ran"),
         .refuse_call = SYS_landlock_restrict_self,
         .status = AL_GUEST_LANDLOCK},
        {.guest = {.filter = true},
         .argv = SH("echo ran"),
         .refuse_call = SYS_seccomp,
         .status = AL_GUEST_SECCOMP},
        {.argv = (const char *const[]){"/nowhere/program", NULL}, .status = AL_GUEST_EXEC},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct run *r = &table[i];
        struct al_err err;
        int layer = r->status;
        run(r);
        if (r->n_reports == 0 || r->reports[r->n_reports - 1].layer != layer || !exited(r, 125) || r->out[0])
            fail_msg("row %zu: %u reports, layer %d, status %x: %s", i, r->n_reports, r->reports[0].layer,
                     r->status, r->out);
        assert_true(r->reports[r->n_reports - 1].error > 0);
        assert_int_equal(al_guest_explain(&r->reports[r->n_reports - 1], &err), -1);
        assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
        assert_true(err.msg[0] && err.hint[0]);
    }
}

static void a_report_of_rubbish_is_explained_all_the_same(void **state)
{
    (void)state;
    struct al_guest_report r;
    struct al_err err;
    memset(&r, 0xff, sizeof(r));
    assert_int_equal(al_guest_explain(&r, &err), -1);
    r.layer = AL_GUEST_EXEC;
    r.error = 2;
    memset(r.detail, 'x', sizeof(r.detail)); /* no end */
    assert_int_equal(al_guest_explain(&r, &err), -1);
    assert_int_equal(strlen(err.detail), sizeof(r.detail) - 1);
}

static void impossible_settings_start_nothing(void **state)
{
    (void)state;
    static const char *const rows[][6] = {{"__guest", NULL},
                                          {"__guest", "--", NULL},
                                          {"__guest", "--other", "--", "/bin/true", NULL},
                                          {"__guest", "--nofile=x", "--", "/bin/true", NULL},
                                          {"__guest", "--uid=5", "--", "/bin/true", NULL},
                                          {"__guest", "--report=1", "--", "/bin/true", NULL},
                                          {"__guest", "/bin/true", NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *argv[8] = {"alisio"};
        int st;
        for (size_t k = 0; rows[i][k]; k++)
            argv[k + 1] = rows[i][k];
        pid_t pid = fork();
        if (pid == 0) {
            dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 2);
            syscall(SYS_execveat, al_self_fd(), "", argv, (char *[]){NULL}, AT_EMPTY_PATH);
            _exit(93);
        }
        assert_int_equal(waitpid(pid, &st, 0), pid);
        if (!WIFEXITED(st) || WEXITSTATUS(st) != 125)
            fail_msg("row %zu: %x", i, st);
    }
}

/* --- the end --- */

static void the_end_of_the_program_is_ours(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        int exit_status, signal;
    } table[] = {{"exit 0", 0, 0},
                 {"exit 7", 7, 0},
                 {"kill -9 $$", 0, SIGKILL},
                 {"kill -15 $$", 0, SIGTERM},
                 {"kill -11 $$", 0, SIGSEGV},
                 {"kill -2 $$", 0, SIGINT},
                 {"exit 125", 125, 0}};
    for (size_t i = 0; i < 2 * sizeof(table) / sizeof(table[0]); i++) {
        struct run r = {.guest = {.pid_ns = i % 2 ? AL_GUEST_TRY : AL_GUEST_NO, .no_caps = i % 4 == 1},
                        .argv = SH(table[i / 2].script),
                        .as = i % 3 ? ordinary() : 0};
        run(&r);
        if (WIFEXITED(r.status) ? WEXITSTATUS(r.status) != table[i / 2].exit_status || table[i / 2].signal
                                : WTERMSIG(r.status) != table[i / 2].signal)
            fail_msg("%s, namespace %zu: %x", table[i / 2].script, i % 2, r.status);
        assert_int_equal(r.n_reports, 1);
    }
}

static const char detaches[] =
    "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM; echo; sleep 600; sleep 600' & "
    "(setsid sh -c '(trap \"\" TERM; echo; sleep 600; sleep 600) &' &) ; echo; ";

static void require_pid_namespaces(uid_t as)
{
    struct run r = {.guest = {.pid_ns = AL_GUEST_TRY}, .argv = SH("exit 0"), .as = as};
    run(&r);
    if (!r.reports[0].pid_ns) {
        print_message("skipped: no process id namespace can be had here\n");
        skip();
    }
}

static void nothing_survives_in_a_pid_namespace(void **state)
{
    (void)state;
    require_pid_namespaces(ordinary());
    for (int i = 0; i < 4; i++) {
        char script[500];
        snprintf(script, sizeof(script), "%s read x </dev/zero & %s", detaches,
                 i < 2 ? "exit 3" : "sleep 600; sleep 600");
        struct run r = {.guest = {.pid_ns = AL_GUEST_MUST}, .argv = SH(script), .as = i % 2 ? ordinary() : 0};
        start(&r);
        for (int k = 0; k < (i < 2 ? 0 : 3); k++)
            hear(&r);
        if (i >= 2)
            kill(r.pid, SIGKILL);
        finish(&r);
        assert_true(i < 2 ? exited(&r, 3) : WIFSIGNALED(r.status));
        if (i < 2)
            assert_int_equal(count_marked(r.mark), 0); /* at once */
        else
            assert_true(gone_soon(r.mark));
    }
}

/* By one signal: whatever is in it need not be named. Where there is none, nothing is touched. */
static void a_namespace_is_killed_by_its_first_process(void **state)
{
    (void)state;
    require_pid_namespaces(ordinary());
    for (int i = 0; i < 3; i++) {
        char script[500];
        snprintf(script, sizeof(script), "%s exec sleep 600", i < 2 ? detaches : "echo;");
        struct run r = {.guest = {.pid_ns = i < 2 ? AL_GUEST_MUST : AL_GUEST_NO},
                        .argv = SH(script),
                        .as = i == 1 ? ordinary() : 0};
        start(&r);
        for (int k = 0; k < (i < 2 ? 3 : 1); k++)
            hear(&r);
        assert_int_equal(al_tree_kill_namespace(), i < 2);
        if (i == 2)
            kill(r.pid, SIGKILL);
        finish(&r);
        assert_true(WIFSIGNALED(r.status));
        assert_int_equal(count_marked(r.mark), 0);
    }
}

static void the_first_process_cannot_be_killed_from_within(void **state)
{
    (void)state;
    require_pid_namespaces(ordinary());
    for (int i = 0; i < 2; i++) {
        struct run r = {
            .guest = {.pid_ns = AL_GUEST_MUST},
            .argv = SH("kill -9 1; kill -15 1; kill -19 1; kill -9 $PPID; kill -9 -1; echo alive; exit 4"),
            .as = i ? ordinary() : 0};
        run(&r);
        assert_true(strstr(r.out, "alive") != NULL);
        assert_true(exited(&r, 4));
    }
}

static void who_waits_holds_no_output(void **state)
{
    (void)state;
    require_pid_namespaces(ordinary());
    struct run r = {
        .guest = {.pid_ns = AL_GUEST_MUST}, .argv = SH("exec >/dev/null 2>&1; sleep 600"), .as = ordinary()};
    struct pollfd p = {.events = POLLIN};
    char c;
    start(&r);
    p.fd = r.out_fd;
    assert_int_equal(poll(&p, 1, 20000), 1);
    assert_int_equal(read(r.out_fd, &c, 1), 0); /* the end, though it still runs */
    read_reports(&r);                           /* to its end */
    assert_int_equal(r.n_reports, 1);
    kill(r.pid, SIGKILL);
    finish(&r);
    assert_true(gone_soon(r.mark));
}

/* --- under the supervisor, as in a run --- */

static void supervised(const char *const *options, const char *const *program, int pass_fd, struct run *r)
{
    int out[2], status[2];
    const char *argv[40] = {"alisio", AL_SUPERVISE_VERB};
    size_t n = 2;
    for (size_t i = 0; options[i]; i++)
        argv[n++] = options[i];
    argv[n++] = "--";
    for (size_t i = 0; program[i]; i++)
        argv[n++] = program[i];
    new_mark(r->mark);
    char *const env[] = {r->mark, (char *)"PATH=/usr/bin:/bin", NULL};
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(status, O_CLOEXEC), 0);
    const struct al_fd_map fds[] = {{out[1], 1}, {status[1], 3}, {pass_fd, 4}, {al_self_fd(), 5}};
    struct al_spawn how = {.exec_fd = al_self_fd(),
                           .argv = (char *const *)argv,
                           .envp = env,
                           .cwd_fd = -1,
                           .fds = fds,
                           .n_fds = 4,
                           .death_signal = SIGTERM,
                           .new_session = true};
    struct al_err err;
    int pidfd;
    assert_int_equal(al_spawn(&how, &r->pid, &pidfd, &err), 0);
    close(pidfd);
    close(out[1]);
    close(status[1]);
    r->out_fd = out[0];
    r->report_fd = status[0];
}

static void supervised_end(struct run *r, struct al_supervise_status *ret)
{
    int st;
    assert_int_equal(waitpid(r->pid, &st, 0), r->pid);
    assert_int_equal(read(r->report_fd, ret, sizeof(*ret)), sizeof(*ret));
    al_close(&r->out_fd);
    al_close(&r->report_fd);
}

static void a_supervised_program_gets_the_descriptors_passed(void **state)
{
    (void)state;
    static const char *const options[] = {"--pass=5", "--pass=4", NULL};
    struct run r = {0};
    struct al_supervise_status st;
    int p[2];
    char c;
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    supervised(options,
               (const char *const[]){"/bin/sh", "sh", "-c",
                                     "echo x >&5; exec 5>&-; [ -e /proc/$$/fd/4 ] && [ ! -e /proc/$$/fd/3 ] "
                                     "&& [ ! -e /proc/$$/fd/6 ] && echo; sleep 600",
                                     NULL},
               p[1], &r);
    close(p[1]);
    hear(&r);
    assert_int_equal(read(p[0], &c, 1), 1);
    assert_int_equal(read(p[0], &c, 1), 1);
    assert_int_equal(read(p[0], &c, 1), 0); /* nobody else holds it while the program still runs */
    close(p[0]);
    kill(r.pid, SIGTERM);
    supervised_end(&r, &st);
    assert_int_equal(st.signal, SIGTERM);
    assert_int_equal(count_marked(r.mark), 0);
}

/* By its descriptor it is entered without an exec, by another name with one. */
static const char *const own_names[] = {"/proc/self/fd/5", "/proc/self/exe"};

static void a_stop_ends_a_namespace_of_the_deaf(void **state)
{
    (void)state;
    require_pid_namespaces(0);
    static const char *const options[] = {"--pass=4", "--pass=5", "--grace=600", NULL};
    char script[500];
    snprintf(script, sizeof(script), "%s sleep 600; sleep 600", detaches);
    for (size_t i = 0; i < 2; i++) {
        struct run r = {0};
        struct al_supervise_status st;
        struct al_guest_report report;
        int p[2];
        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        supervised(options,
                   (const char *const[]){own_names[i], "alisio", "__guest", "--report=4", "--pid-ns=must",
                                         "--filter", "--", "/bin/sh", "-c", script, NULL},
                   p[1], &r);
        close(p[1]);
        assert_int_equal(read(p[0], &report, sizeof(report)), sizeof(report));
        assert_int_equal(report.layer, AL_GUEST_STARTED);
        assert_int_equal(report.pid_ns, 1);
        assert_int_equal(read(p[0], &report, 1), 0);
        close(p[0]);
        for (int k = 0; k < 3; k++)
            hear(&r);
        uint64_t begin = al_mono_ms();
        kill(r.pid, SIGTERM);
        supervised_end(&r, &st);
        assert_true(al_mono_ms() - begin >= 599); /* as long as was said, and everybody was asked first */
        assert_int_equal(count_marked(r.mark), 0);
    }
}

static void with_and_without_an_exec_a_guest_finds_the_same(void **state)
{
    (void)state;
    static const char *const options[] = {"--pass=4", "--pass=5", NULL};
    static const char script[] =
        "echo $(ls /proc/$$/fd); grep -E '^(Sig(Blk|Ign|Cgt)|CapEff|NoNewPrivs|Seccomp):' /proc/$$/status; "
        "ulimit -c; "
        "[ \"$(cut -d' ' -f6 /proc/$$/stat)\" = $$ ] && echo session; read x || echo empty; env; "
        "cut -d' ' -f2 /proc/$PPID/stat; pwd; kill -15 $$";
    char said[2][4096] = {"", ""};
    for (size_t i = 0; i < 4; i++) {
        struct run r = {0};
        struct al_supervise_status st;
        int p[2];
        assert_int_equal(pipe2(p, O_CLOEXEC), 0);
        supervised(options,
                   (const char *const[]){own_names[i % 2], "alisio", "__guest",
                                         i < 2 ? "--report=4" : "--keep-fds", "--", "/bin/sh", "-c", script,
                                         NULL},
                   p[1], &r);
        close(p[1]);
        size_t n = 0;
        for (ssize_t k;
             n + 1 < sizeof(said[0]) && (k = read(r.out_fd, said[i % 2] + n, sizeof(said[0]) - 1 - n)) > 0;)
            n += (size_t)k;
        said[i % 2][n] = 0;
        close(p[0]);
        supervised_end(&r, &st);
        assert_int_equal(st.signal, SIGTERM);
        char *mark = strstr(said[i % 2], "AL_TEST_MARK=");
        assert_non_null(mark);
        memset(mark, 'x', strlen("AL_TEST_MARK=") + 16);
        if (i % 2)
            assert_string_equal(said[0], said[1]);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    if (argc > 1 && !strcmp(argv[1], AL_GUEST_VERB))
        return al_guest_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for_stands_in_the_command_line),
        cmocka_unit_test(a_start_is_reported_once_and_only_0_1_2_go_on),
        cmocka_unit_test(a_link_of_the_chain_keeps_descriptors_and_is_silent),
        cmocka_unit_test(each_step_that_fails_is_named),
        cmocka_unit_test(a_report_of_rubbish_is_explained_all_the_same),
        cmocka_unit_test(impossible_settings_start_nothing),
        cmocka_unit_test(the_end_of_the_program_is_ours),
        cmocka_unit_test(nothing_survives_in_a_pid_namespace),
        cmocka_unit_test(a_namespace_is_killed_by_its_first_process),
        cmocka_unit_test(the_first_process_cannot_be_killed_from_within),
        cmocka_unit_test(who_waits_holds_no_output),
        cmocka_unit_test(a_supervised_program_gets_the_descriptors_passed),
        cmocka_unit_test(a_stop_ends_a_namespace_of_the_deaf),
        cmocka_unit_test(with_and_without_an_exec_a_guest_finds_the_same),
    };
    al_self_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
