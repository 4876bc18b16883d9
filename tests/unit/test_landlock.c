#include "os_help.h"

#include "loop/child.h"
#include "os/spawn.h"
#include "sandbox/landlock.h"
#include "sandbox/supervise.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LIMIT_MS 30000

static char *git; /* NULL: none here */

/* Runs fn in a child that is sealed for git; its result is the exit status. */
static int in_seal(int (*fn)(const char *dir), const char *dir)
{
    int st;
    pid_t pid = fork();
    if (pid == 0) {
        struct al_err err;
        autofd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (al_landlock_seal_git(git, &fd, 1, &err) < 0)
            _exit(100);
        _exit(fn(dir));
    }
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFEXITED(st));
    return WEXITSTATUS(st);
}

static int try_exec(const char *path, int exec_fd, const char *arg)
{
    char *const argv[] = {(char *)path, (char *)arg, NULL};
    static char *const env[] = {NULL};
    struct al_spawn how = {
        .path = exec_fd < 0 ? path : NULL, .exec_fd = exec_fd, .argv = argv, .envp = env, .cwd_fd = -1};
    struct al_err err;
    struct al_exit e;
    pid_t pid;
    int pidfd;
    int r = al_spawn(&how, &pid, &pidfd, &err);
    if (r < 0)
        return r;
    al_reap(pidfd, true, &e);
    close(pidfd);
    return e.exited ? e.status : -1;
}

/* 0, or the number of the first thing that should not have been possible, or should have been. */
static int probe(const char *dir)
{
    char path[600];
    char b[8];
    snprintf(path, sizeof(path), "%s/file", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, b, 2) != 2)
        return 1;
    close(fd);
    DIR *d = opendir(dir);
    if (!d || !readdir(d))
        return 2;
    closedir(d);
    if (open(path, O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES)
        return 3;
    if (al_landlock_abi() >= 3 && (truncate(path, 0) == 0 || errno != EACCES))
        return 4;
    if (unlink(path) == 0 || errno != EACCES)
        return 5;
    snprintf(path, sizeof(path), "%s/new", dir);
    if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 || errno != EACCES)
        return 6;
    if (mkdir(path, 0700) == 0 || symlink("x", path) == 0 || mkfifo(path, 0600) == 0)
        return 7;
    static const char *const outside[] = {"/etc/passwd", "/proc/self/environ", "/", "/etc", "link", "../out"};
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        autofd int here = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (openat(here, outside[i], O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
            return 20 + (int)i;
    }
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0 || write(fd, "x", 1) != 1)
        return 8;
    if (try_exec("/bin/sh", -1, "-c") != -EACCES || try_exec(git, -1, "--version") != -EACCES)
        return 9;
    snprintf(path, sizeof(path), "%s/script", dir);
    const char *const others[] = {"/bin/sh", "/usr/bin/env", path}; /* not by descriptor either */
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        fd = open(others[i], O_PATH | O_CLOEXEC);
        if (fd < 0 || try_exec("x", fd, NULL) != -EACCES)
            return 10;
        close(fd);
    }
    fd = open(git, O_PATH | O_CLOEXEC);
    if (fd < 0 || try_exec("git", fd, "--version") != 0)
        return 11;
    close(fd);
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EACCES)
        return 12;
    if (socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        return 13;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 14;
}

static void the_seal_holds(void **state)
{
    struct tmp t;
    (void)state;
    tmp_make(&t);
    assert_int_equal(mkdirat(t.fd, "in", 0755), 0);
    put_file(t.fd, "out", "text");
    put_file(t.fd, ".gitignore", "text");
    put_link("../out", t.fd, "in/link");
    put_file(t.fd, "in/file", "text");
    put_file(t.fd, "in/script", "#!/bin/sh\nexit 0\n");
    set_mode(t.fd, "in/script", 0755);
    char dir[300], script[600];
    snprintf(dir, sizeof(dir), "%s/in", t.path);
    snprintf(script, sizeof(script), "%s/script", dir);
    assert_int_equal(try_exec(script, -1, NULL), 0); /* it would run */
    assert_int_equal(in_seal(probe, dir), 0);
    tmp_remove(&t);
}

static int probe_above(const char *dir)
{
    static const char *const fine[] = {"../.gitignore", "../.gitattributes", "../.git"};
    autofd int here = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        autofd int fd = openat(here, fine[i], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return 1 + (int)i;
    }
    return openat(here, "../../.gitignore", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES ? 0 : 9;
}

/* Files and no links: the uppermost leads to what is not to be read. */
static void what_holds_from_above_is_read(void **state)
{
    struct tmp t;
    (void)state;
    tmp_make(&t);
    assert_int_equal(mkdirat(t.fd, "a", 0755), 0);
    assert_int_equal(mkdirat(t.fd, "a/b", 0755), 0);
    put_file(t.fd, "a/.gitignore", "text");
    put_file(t.fd, "a/.gitattributes", "text");
    put_file(t.fd, "a/.git", "text");
    put_link("/etc/passwd", t.fd, ".gitignore");
    char dir[300];
    snprintf(dir, sizeof(dir), "%s/a/b", t.path);
    assert_int_equal(in_seal(probe_above, dir), 0);
    tmp_remove(&t);
}

static void a_git_that_is_no_program_is_an_error(void **state)
{
    struct tmp t;
    (void)state;
    tmp_make(&t);
    put_file(t.fd, "script", "#!/bin/sh\nexec git \"$@\"\n");
    char path[600];
    static const char *const names[] = {"script", "missing", "."};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct al_err err;
        snprintf(path, sizeof(path), "%s/%s", t.path, names[i]);
        assert_int_equal(al_landlock_seal_git(path, &t.fd, 1, &err), -1);
        assert_int_equal(err.code, AL_RUNTIME_UNAVAILABLE);
        assert_null(strstr(err.msg, t.path));
    }
    put_file(t.fd, "script", "still writable");
    tmp_remove(&t);
}

struct result {
    bool done;
    struct al_child_end end;
    char *out, *err;
};

static void on_done(void *ud, const struct al_child_end *end)
{
    struct result *r = ud;
    r->done = true;
    r->end = *end;
    r->out = al_xdup(end->out->p, end->out->n);
    r->err = al_xdup(end->err->p, end->err->n);
}

static void run_git(struct result *r, struct tmp *t, bool seal, const char *const *args)
{
    struct al_loop *loop = al_loop_new();
    struct al_err err;
    char home[300];
    char *argv[16] = {(char *)"git"};
    for (size_t i = 0; args[i]; i++)
        argv[i + 1] = (char *)args[i];
    snprintf(home, sizeof(home), "HOME=%s", t->path);
    char *const env[] = {home, (char *)"PATH=/usr/bin:/bin", (char *)"GIT_CONFIG_NOSYSTEM=1", NULL};
    struct al_child_spec spec = {.program = git,
                                 .argv = argv,
                                 .envp = env,
                                 .cwd_fd = t->fd,
                                 .seal = seal ? AL_CHILD_SEAL_GIT : AL_CHILD_OPEN,
                                 .max_output = 100000,
                                 .timeout_ms = LIMIT_MS};
    *r = (struct result){0};
    assert_non_null(al_child_start(loop, &spec, on_done, r, &err));
    assert_true(al_loop_run_until(loop, &r->done, LIMIT_MS));
    al_loop_free(loop);
}

static void git_quiet(struct tmp *t, const char *const *args)
{
    struct result r;
    run_git(&r, t, false, args);
    if (r.end.exit_status != 0)
        fail_msg("git %s: %s", args[0], r.err);
    free(r.out);
    free(r.err);
}

#define GIT(t, ...) git_quiet(t, (const char *const[]){__VA_ARGS__, NULL})

/* A repository that wants programs of its own to run, each of which leaves a file behind. */
static void hostile_repository(struct tmp *t)
{
    GIT(t, "init", "-q");
    GIT(t, "config", "user.email", "a@example.org");
    GIT(t, "config", "user.name", "A");
    put_file(t->fd, "a.txt", "one\n");
    put_file(t->fd, "b.bin", "two\n");
    GIT(t, "add", "a.txt", "b.bin");
    GIT(t, "commit", "-q", "-m", "first");
    put_file(t->fd, "a.txt", "changed\n");
    put_file(t->fd, "b.bin", "changed\n");
    put_file(t->fd, "evil", "#!/bin/sh\ntouch \"$HOME/ran\"\ncat\n");
    set_mode(t->fd, "evil", 0755);
    put_file(t->fd, ".gitattributes", "*.txt filter=evil diff=evil\n*.bin diff=evil\n");
    char cmd[400];
    snprintf(cmd, sizeof(cmd), "%s/evil", t->path);
    GIT(t, "config", "filter.evil.clean", cmd);
    GIT(t, "config", "diff.evil.textconv", cmd);
    GIT(t, "config", "diff.external", cmd);
    GIT(t, "config", "core.fsmonitor", cmd);
    GIT(t, "config", "core.pager", cmd);
    unlinkat(t->fd, "ran", 0);
}

static void a_repository_runs_nothing(void **state)
{
    (void)state;
    static const char *const status[] = {"--no-optional-locks", "status", "--porcelain", NULL};
    static const char *const diff[] = {"diff", NULL};
    const char *const *const commands[] = {status, diff};
    for (int i = 0; i < 2; i++) {
        for (int seal = 0; seal < 2; seal++) {
            struct tmp t;
            struct result r;
            tmp_make(&t);
            hostile_repository(&t);
            run_git(&r, &t, seal, commands[i]);
            /* Without the seal it does run, so that the other half of this test means something. */
            assert_int_equal(faccessat(t.fd, "ran", F_OK, 0) == 0, !seal);
            free(r.out);
            free(r.err);
            tmp_remove(&t);
        }
    }
}

/* The loader may be executed, since git needs it; it must not become a way to run a file of the repository.
 */
static void the_loader_runs_nothing_for_a_repository(void **state)
{
    (void)state;
    static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
    static const char *const diff[] = {"diff", "sub/prog", NULL};
    if (access(loader, X_OK) != 0)
        skip();
    for (int seal = 0; seal < 2; seal++) {
        struct tmp t;
        struct result r;
        struct al_buf prog = AL_BUF_INIT(64 << 20);
        tmp_make(&t);
        GIT(&t, "init", "-q");
        mkdirat(t.fd, "sub", 0755);
        autofd int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
        assert_int_equal(al_fd_read_all(from, &prog), 0);
        autofd int to = openat(t.fd, "sub/prog", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
        assert_int_equal(al_fd_write_all(to, al_buf_str(&prog)), 0);
        al_buf_free(&prog);
        put_file(t.fd, ".gitattributes", "* diff=evil\n");
        GIT(&t, "add", "-N", "sub/prog");
        GIT(&t, "config", "diff.evil.textconv", loader);
        run_git(&r, &t, seal, diff);
        /* The program prints nothing and ends well: where it runs, so does the diff. */
        assert_int_equal(r.end.exit_status == 0, !seal);
        if (seal)
            assert_non_null(strstr(r.err, "Permission denied"));
        free(r.out);
        free(r.err);
        tmp_remove(&t);
    }
}

/* git does not check the paths of an index that it reads. */
static void an_index_leads_nowhere(void **state)
{
    (void)state;
    static const char *const diff[] = {"diff", NULL};
    for (int seal = 0; seal < 2; seal++) {
        struct tmp t, out;
        struct result r;
        char path[500], real[400];
        tmp_make(&t);
        tmp_make(&out);
        put_file(out.fd, "notes", "of somebody\n");
        put_file(t.fd, "empty", "");
        GIT(&t, "init", "-q");
        snprintf(real, sizeof(real), "%s/notes", out.path);
        snprintf(path, sizeof(path), "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,x%s", real + 1);
        GIT(&t, "add", "empty");
        GIT(&t, "update-index", "--add", "--cacheinfo", path);
        autofree char *index = NULL;
        struct al_buf b = AL_BUF_INIT(1 << 20);
        autofd int fd = openat(t.fd, ".git/index", O_RDWR | O_CLOEXEC);
        assert_int_equal(al_fd_read_all(fd, &b), 0);
        long at = al_str_find(al_buf_str(&b),
                              al_str_of(path + strlen("100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,")));
        assert_true(at > 0);
        index = al_buf_take(&b);
        assert_int_equal(pwrite(fd, "/", 1, at), 1);
        run_git(&r, &t, seal, diff);
        /* Without the seal it is shown, so that the other half of this test means something. */
        assert_int_equal(strstr(r.out, "+of somebody") != NULL, !seal);
        free(r.out);
        free(r.err);
        tmp_remove(&t);
        tmp_remove(&out);
    }
}

static void git_works_in_the_seal(void **state)
{
    (void)state;
    struct tmp t;
    struct result r;
    static const char *const status[] = {
        "--no-optional-locks",       "-c", "core.fsmonitor=false", "status", "--porcelain",
        "--ignore-submodules=dirty", NULL};
    static const char *const diff[] = {
        "-c", "core.fsmonitor=false", "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
        NULL};
    tmp_make(&t);
    hostile_repository(&t);
    unlinkat(t.fd, ".gitattributes", 0);
    GIT(&t, "init", "-q", "module");
    GIT(&t, "-C", "module", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q",
        "--allow-empty", "-m", "x");
    GIT(&t, "-c", "advice.addEmbeddedRepo=false", "add", "module");
    run_git(&r, &t, true, status);
    if (r.end.exit_status != 0)
        fail_msg("%s", r.err);
    assert_non_null(strstr(r.out, " M a.txt\n"));
    assert_non_null(strstr(r.out, "?? evil\n"));
    free(r.out);
    free(r.err);
    run_git(&r, &t, true, diff);
    if (r.end.exit_status != 0)
        fail_msg("%s", r.err);
    assert_non_null(strstr(r.out, "-one\n+changed\n"));
    free(r.out);
    free(r.err);
    tmp_remove(&t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_seal_holds),
        cmocka_unit_test(what_holds_from_above_is_read),
        cmocka_unit_test(a_git_that_is_no_program_is_an_error),
        cmocka_unit_test(a_repository_runs_nothing),
        cmocka_unit_test(the_loader_runs_nothing_for_a_repository),
        cmocka_unit_test(an_index_leads_nowhere),
        cmocka_unit_test(git_works_in_the_seal),
    };
    al_self_open();
    git = al_path_find_program("git", NULL);
    if (!git || al_landlock_abi() == 0) {
        fprintf(stderr, "%s is missing here\n", git ? "Landlock" : "git");
        return 77; /* ctest: skipped */
    }
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    free(git);
    return r;
}
