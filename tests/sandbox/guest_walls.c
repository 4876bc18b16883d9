/* The walls of a guest: each with a program that tries it, as root and as an ordinary user; and what works
 * behind them. */
#include "unit/guest_rig.h"

/* --- attacks --- */

struct field {
    struct tmp tmp;
    char outside[300], work[300], attack[300], readable[300], env[5][400];
    const char *envp[6];
    int work_fd, sockets[3];
    pid_t victim;
    char port[16];
};

static void copy_program(int dir, const char *from, const char *name)
{
    struct al_buf b = AL_BUF_INIT(32 << 20);
    autofd int in = open(from, O_RDONLY | O_CLOEXEC),
               out = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_true(in >= 0 && out >= 0);
    assert_int_equal(al_fd_read_all(in, &b), 0);
    assert_int_equal(al_fd_write_all(out, al_buf_str(&b)), 0);
    al_buf_free(&b);
    assert_int_equal(fchmod(out, 0755), 0);
}

static void open_sockets(struct field *f)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX}, name = {.sun_family = AF_UNIX};
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof(tcp);
    assert_true(snprintf(path.sun_path, sizeof(path.sun_path), "%.80s/socket", f->outside) < 100);
    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "%s", strrchr(f->tmp.path, '/') + 1);
    f->sockets[0] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    f->sockets[1] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    f->sockets[2] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->sockets[0], (struct sockaddr *)&path, sizeof(path)), 0);
    assert_int_equal(chmod(path.sun_path, 0777), 0);
    assert_int_equal(
        bind(f->sockets[1], (struct sockaddr *)&name,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1))),
        0);
    assert_int_equal(bind(f->sockets[2], (struct sockaddr *)&tcp, sizeof(tcp)), 0);
    assert_int_equal(listen(f->sockets[2], 5), 0);
    assert_int_equal(getsockname(f->sockets[2], (struct sockaddr *)&tcp, &n), 0);
    snprintf(f->env[0], sizeof(f->env[0]), "ATTACK_SOCKET=%s", path.sun_path);
    snprintf(f->env[1], sizeof(f->env[1]), "ATTACK_NAME=%s", name.sun_path + 1);
    snprintf(f->env[2], sizeof(f->env[2]), "ATTACK_PORT=%d", ntohs(tcp.sin_port));
}

/* Everything in it belongs to the guest's own user: it is the walls that hold, not the modes. */
static void field_make(struct field *f, uid_t owner)
{
    memset(f, 0, sizeof(*f));
    tmp_make(&f->tmp);
    snprintf(f->outside, sizeof(f->outside), "%s/outside", f->tmp.path);
    snprintf(f->work, sizeof(f->work), "%s/work", f->tmp.path);
    snprintf(f->attack, sizeof(f->attack), "%s/work/attack", f->tmp.path);
    snprintf(f->readable, sizeof(f->readable), "%s/outside/readable", f->tmp.path);
    assert_int_equal(chmod(f->tmp.path, 0755), 0);
    assert_true(mkdir(f->outside, 0755) == 0 && mkdir(f->work, 0755) == 0);
    autofd int outside = open(f->outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    f->work_fd = open(f->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put_file(outside, "file", "text");
    put_file(outside, "readable", "text");
    copy_program(outside, "/bin/true", "program");
    copy_program(f->work_fd, GUEST_ATTACK, "attack");
    static const char *const all[] = {"outside", "outside/file", "outside/readable", "outside/program",
                                      "work"};
    for (size_t i = 0; i < 5 && owner; i++)
        assert_int_equal(fchownat(f->tmp.fd, all[i], owner, owner, 0), 0);
    open_sockets(f);
    f->victim = fork();
    if (f->victim == 0) {
        setpgid(0, 0);
        become(owner);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* not before: who becomes another one loses it */
        prctl(PR_SET_DUMPABLE, 1);
        for (;;)
            pause();
    }
    setpgid(f->victim, f->victim);
    snprintf(f->env[3], sizeof(f->env[3]), "ATTACK_VICTIM=%d", (int)f->victim);
    snprintf(f->env[4], sizeof(f->env[4]), "ATTACK_OUTSIDE=%s", f->outside);
    for (size_t i = 0; i < 5; i++)
        f->envp[i] = f->env[i];
}

static void field_end(struct field *f)
{
    int st;
    kill(f->victim, SIGKILL);
    waitpid(f->victim, &st, 0);
    for (size_t i = 0; i < 3; i++)
        close(f->sockets[i]);
    al_close(&f->work_fd);
    tmp_remove(&f->tmp);
}

/* What an older kernel leaves open, and says so. */
static bool is_known_gap(const char *name)
{
    static const struct {
        unsigned gap;
        const char *name;
    } gaps[] = {{AL_LANDLOCK_GAP_TCP, "connect_tcp"},
                {AL_LANDLOCK_GAP_TCP, "bind_tcp"},
                {AL_LANDLOCK_GAP_ABSTRACT, "connect_abstract"},
                {AL_LANDLOCK_GAP_SIGNALS, "kill_victim"},
                {AL_LANDLOCK_GAP_SIGNALS, "kill_victim_by_pidfd"},
                {AL_LANDLOCK_GAP_SIGNALS, "queue_to_victim"},
                {AL_LANDLOCK_GAP_TRUNCATE, "cut_outside"},
                {AL_LANDLOCK_GAP_TRUNCATE, "cut_by_opening"},
                {AL_LANDLOCK_GAP_TRUNCATE, "cut_by_odd_opening"}};
    for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
        if (al_landlock_gaps() & gaps[i].gap && strcmp(name, gaps[i].name) == 0)
            return true;
    }
    return false;
}

/* Refused by a wall, not for arguments that the kernel did not like. */
static bool is_refusal(const char *result)
{
    static const char *const no[] = {"through", "EINVAL", "EFAULT", "EBADF", "ENOENT", "lost", "killed 9"};
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (strcmp(result, no[i]) == 0)
            return false;
    }
    return true;
}

static bool cannot_be_tried(const char *result)
{
    return strcmp(result, "EOPNOTSUPP") == 0 || strcmp(result, "ENOSYS") == 0 ||
           strcmp(result, "unknown") == 0;
}

/* kind: N, only where it is said so for a guest in namespaces; L likewise for one without. */
static void judge(char *lines, char kind, const char *title)
{
    unsigned n = 0, bad = 0;
    for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        char *name = strchr(line, ' ') + 1, *result = strchr(name, ' ') + 1;
        name[result - name - 1] = 0;
        name[-1] = 0;
        bool open = strchr(line, kind) != NULL;
        bool right = open ? strcmp(result, "through") == 0 || cannot_be_tried(result) || is_known_gap(name)
                          : is_refusal(result) || is_known_gap(name);
        n++;
        if (!right) {
            print_message("%s: %s: %s\n", title, name, result);
            bad++;
        }
    }
    assert_true(n > 110);
    assert_int_equal(bad, 0);
}

static void attack(const char *title, char kind, struct al_guest guest, uid_t as, uid_t owner)
{
    struct field f;
    field_make(&f, owner);
    const struct al_guest_path paths[] = {LOADER_PATHS,
                                          {"/proc", false, false},
                                          {"/dev/ptmx", false, true},
                                          {f.readable, false, false},
                                          {f.work, true, false},
                                          {"/none", true, true}};
    guest.no_caps = guest.landlock = guest.filter = true;
    guest.paths = paths;
    guest.n_paths = sizeof(paths) / sizeof(paths[0]);
    guest.data = 400 << 20;
    guest.fsize = 1 << 20;
    guest.nofile = 128;
    struct run r = {.guest = guest,
                    .argv = (const char *const[]){f.attack, NULL},
                    .as = as,
                    .env = f.envp,
                    .dir_fd = f.work_fd};
    run(&r);
    if (r.n_reports != 1 || r.reports[0].layer != AL_GUEST_STARTED)
        fail_msg("%s: %u reports, the last: layer %d, errno %d; status %x: %s", title, r.n_reports,
                 r.reports[r.n_reports ? r.n_reports - 1 : 0].layer,
                 r.reports[r.n_reports ? r.n_reports - 1 : 0].error, (unsigned)r.status, r.out);
    judge(r.out, kind, title);
    assert_true(exited(&r, 0));
    autofree char *text = get_file(f.tmp.fd, "outside/file");
    assert_string_equal(text, "text");
    assert_int_equal(count_marked(r.mark), 0);
    field_end(&f);
}

static void require_landlock(void)
{
    if (al_landlock_abi() == 0) {
        print_message("skipped: Landlock is missing here\n");
        skip();
    }
}

static void a_guest_in_namespaces_gets_through_only_where_they_hold(void **state)
{
    (void)state;
    require_landlock();
    attack("user", 'N', (struct al_guest){0}, ordinary(), ordinary());
    if (getuid() == 0)
        attack("root that drops", 'N', (struct al_guest){.uid = OTHER, .gid = OTHER}, 0, OTHER);
}

static void a_guest_without_namespaces_gets_through_only_where_it_is_said(void **state)
{
    (void)state;
    require_landlock();
    attack("user", 'L', (struct al_guest){.no_sockets = true}, ordinary(), ordinary());
    attack("user with a pid namespace", 'L', (struct al_guest){.no_sockets = true, .pid_ns = AL_GUEST_TRY},
           ordinary(), ordinary());
    if (getuid() != 0)
        return;
    attack("root", 'L', (struct al_guest){.no_sockets = true}, 0, 0);
    attack("root with a pid namespace", 'L', (struct al_guest){.no_sockets = true, .pid_ns = AL_GUEST_TRY}, 0,
           0);
}

static void processes_are_limited(void **state)
{
    (void)state;
    if (getuid() != 0 && !user_namespaces_work()) {
        print_message("skipped: the limit counts all processes of this user\n");
        skip();
    }
    struct run r = {
        .guest = {.nproc = 12, .no_caps = true, .pid_ns = getuid() == 0 ? AL_GUEST_NO : AL_GUEST_MUST},
        .argv = SH("i=0; while [ $i -lt 30 ]; do sleep 0.2 & i=$((i+1)); done; wait")};
    if (getuid() == 0)
        r.guest.uid = r.guest.gid = OTHER;
    run(&r);
    assert_non_null(strstr(r.out, "fork"));
}

/* --- the truncation that older kernels do not know of --- */

static long try_cut(int how)
{
    struct open_how open2 = {.flags = O_RDONLY};
    if (how == 0)
        return syscall(SYS_truncate, "cut", 0);
    if (how == 1)
        return syscall(SYS_openat, AT_FDCWD, "cut", O_RDONLY | O_TRUNC, 0);
    if (how == 2)
        return syscall(SYS_openat, AT_FDCWD, "cut", O_ACCMODE | O_TRUNC | O_CLOEXEC, 0);
    if (how == 3)
        return syscall(SYS_openat2, AT_FDCWD, "cut", &open2, sizeof(open2));
    return syscall(SYS_openat, AT_FDCWD, "cut", O_WRONLY | O_TRUNC, 0);
}

static void before_abi_3_files_are_cut_through_writing_alone(void **state)
{
    (void)state;
    static const int want[] = {EACCES, EACCES, EACCES, ENOSYS, 0};
    struct tmp t;
    struct sock_fprog *prog;
    struct al_err err;
    assert_int_equal(al_seal_build(AL_SEAL_GUEST_NO_CUTTING, &prog, &err), 0);
    tmp_make(&t);
    put_file(t.fd, "cut", "text");
    for (int how = 0; how < 5; how++) {
        int st;
        pid_t pid = fork();
        if (pid == 0) {
            if (fchdir(t.fd) < 0 || al_seal_load(prog) != 0)
                _exit(90);
            _exit(try_cut(how) < 0 ? errno : 0);
        }
        assert_int_equal(waitpid(pid, &st, 0), pid);
        assert_true(WIFEXITED(st));
        assert_int_equal(WEXITSTATUS(st), want[how]);
    }
    al_seal_free(prog);
    tmp_remove(&t);
}

static void gaps_close_from_one_abi_to_the_next(void **state)
{
    (void)state;
    static const unsigned want[] = {31, 31, 31, 30, 28, 24, 0, 0};
    for (int abi = 0; abi < 8; abi++)
        assert_int_equal(al_landlock_gaps_of(abi), want[abi]);
    assert_int_equal(al_landlock_gaps(), al_landlock_gaps_of(al_landlock_abi()));
}

/* --- and what has to work --- */

static void runs_well(const char *program, const char *script)
{
    if (access(program, X_OK) < 0) {
        print_message("skipped: no %s here\n", program);
        skip();
    }
    for (int i = 0; i < 2; i++) {
        struct tmp t;
        char home[300];
        tmp_make(&t);
        snprintf(home, sizeof(home), "TMPDIR=%s", t.path);
        const char *const env[] = {home, i ? "ALONE=1" : "ALONE=", NULL};
        struct run r = {
            .guest = {.filter = true, .no_caps = true, .no_sockets = i == 1, .pid_ns = AL_GUEST_TRY},
            .argv = (const char *const[]){program, script, NULL},
            .env = env,
            .dir_fd = t.fd};
        run(&r);
        if (!exited(&r, 0) || strcmp(r.out, "fine\n") != 0)
            fail_msg("%s, %s: status %x: %s", program, env[1], r.status, r.out);
        tmp_remove(&t);
    }
}

static void python_does_all_that_python_does(void **state)
{
    (void)state;
    runs_well("/usr/bin/python3", GUEST_SCRIPTS "/guest_works.py");
}

static void node_does_all_that_node_does(void **state)
{
    (void)state;
    runs_well(GUEST_NODE, GUEST_SCRIPTS "/guest_works.mjs");
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    if (argc > 1 && !strcmp(argv[1], AL_GUEST_VERB))
        return al_guest_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_in_namespaces_gets_through_only_where_they_hold),
        cmocka_unit_test(a_guest_without_namespaces_gets_through_only_where_it_is_said),
        cmocka_unit_test(processes_are_limited),
        cmocka_unit_test(before_abi_3_files_are_cut_through_writing_alone),
        cmocka_unit_test(gaps_close_from_one_abi_to_the_next),
        cmocka_unit_test(python_does_all_that_python_does),
        cmocka_unit_test(node_does_all_that_node_does),
    };
    al_self_open();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
