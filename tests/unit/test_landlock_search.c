#include "os_help.h"

#include "loop/child.h"
#include "os/spawn.h"
#include "sandbox/landlock.h"
#include "sandbox/supervise.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LIMIT_MS 60000

static char *rg; /* NULL: none here */

struct result {
    bool done;
    struct al_child_end end;
    char *out;
};

static void on_done(void *ud, const struct al_child_end *end)
{
    struct result *r = ud;
    r->done = true;
    r->end = *end;
    r->out = al_xdup(end->out->p, end->out->n);
}

static void run_rg(struct result *r, const struct al_child_spec *how, const char *const *args)
{
    struct al_loop *loop = al_loop_new();
    struct al_err err;
    char *argv[16] = {(char *)"rg", (char *)"--no-config"};
    for (size_t i = 0; args[i]; i++)
        argv[i + 2] = (char *)args[i];
    struct al_child_spec spec = *how;
    spec.program = rg;
    spec.argv = argv;
    spec.max_output = 100000;
    spec.timeout_ms = LIMIT_MS;
    *r = (struct result){0};
    assert_non_null(al_child_start(loop, &spec, on_done, r, &err));
    assert_true(al_loop_run_until(loop, &r->done, LIMIT_MS));
    al_loop_free(loop);
}

static int open_in(const struct tmp *t, const char *name)
{
    int fd = openat(t->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* A folder to search, and beside it what is not to be read; links lead from one to the other. */
static void make_folders(struct tmp *t)
{
    tmp_make(t);
    assert_int_equal(mkdirat(t->fd, "in", 0755), 0);
    assert_int_equal(mkdirat(t->fd, "out", 0755), 0);
    put_file(t->fd, "in/plain", "needle inside\n");
    put_file(t->fd, "out/secret", "needle outside\n");
    assert_int_equal(symlinkat("../out/secret", t->fd, "in/file-link"), 0);
    assert_int_equal(symlinkat("../out", t->fd, "in/folder-link"), 0);
    char absolute[600];
    snprintf(absolute, sizeof(absolute), "%s/out", t->path);
    assert_int_equal(symlinkat(absolute, t->fd, "in/absolute-link"), 0);
}

static void a_link_to_outside_is_not_read(void **state)
{
    (void)state;
    static const char *const follow[] = {"-L", "needle", "./", NULL};
    static const char *const named[] = {"needle", "../out/secret", NULL};
    static const char *const hard_way[] = {"needle", "folder-link/secret", "file-link", NULL};
    const char *const *const all[] = {follow, named, hard_way};
    struct tmp t;
    make_folders(&t);
    autofd int in = open_in(&t, "in");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (int sealed = 0; sealed < 2; sealed++) {
            struct result r;
            struct al_child_spec spec = {.cwd_fd = in, .seal = sealed ? AL_CHILD_SEAL_SEARCH : AL_CHILD_OPEN};
            run_rg(&r, &spec, all[i]);
            /* Without the seal it is read, so that the other half of this test means something. */
            assert_int_equal(strstr(r.out, "needle outside") != NULL, !sealed);
            assert_int_equal(strstr(r.out, "needle inside") != NULL, i == 0);
            free(r.out);
        }
    }
    tmp_remove(&t);
}

static void the_folders_above_say_what_to_ignore(void **state)
{
    (void)state;
    static const char *const files[] = {"--no-require-git", "--sort=path", "--files", "./", NULL};
    static const char *const above[] = {"needle", "../out/secret", "../.gitignore", NULL};
    struct tmp t;
    struct result r;
    make_folders(&t);
    assert_int_equal(mkdirat(t.fd, "in/deep", 0755), 0);
    assert_int_equal(mkdirat(t.fd, ".git", 0755), 0);
    assert_int_equal(mkdirat(t.fd, ".git/info", 0755), 0);
    put_file(t.fd, ".gitignore", "one\n");
    put_file(t.fd, ".git/info/exclude", "two\n");
    put_file(t.fd, "out/ignore", "needle\nthree\n");
    assert_int_equal(symlinkat("../out/ignore", t.fd, "in/.ignore"), 0); /* a link is not followed for it */
    static const char *const names[] = {"in/deep/one", "in/deep/two", "in/deep/three", "in/deep/four"};
    for (size_t i = 0; i < 4; i++)
        put_file(t.fd, names[i], "x\n");
    autofd int deep = open_in(&t, "in/deep");
    struct al_child_spec spec = {.cwd_fd = deep, .seal = AL_CHILD_SEAL_SEARCH};
    run_rg(&r, &spec, files);
    assert_string_equal(r.out, "./four\n./three\n");
    free(r.out);
    run_rg(&r, &spec, above);
    assert_string_equal(r.out, "");
    free(r.out);
    tmp_remove(&t);
}

static void input_alone_is_searched(void **state)
{
    (void)state;
    static const char *const input[] = {"needle", "-", NULL};
    static const char *const here[] = {"-uuu", "--files", "./", NULL};
    struct result r;
    struct al_child_spec spec = {
        .cwd_fd = -1, .seal = AL_CHILD_SEAL_SEARCH, .input = AL_STR("x\na needle\n")};
    run_rg(&r, &spec, input);
    assert_string_equal(r.out, "a needle\n");
    assert_int_equal(r.end.exit_status, 0);
    free(r.out);
    spec.input = AL_STR("");
    run_rg(&r, &spec, here);
    assert_string_equal(r.out, "");
    free(r.out);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    static const char *const args[] = {"--no-mmap", "-c", "needle", "./", NULL};
    struct tmp t;
    struct result r;
    tmp_make(&t);
    size_t n = 80u << 20;
    autofree char *line = al_xmalloc(n);
    memset(line, 'a', n);
    memcpy(line + n / 2, "needle", 6);
    autofd int fd = openat(t.fd, "line", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(al_fd_write_all(fd, (struct al_str){line, n}), 0);
    struct al_child_spec spec = {.cwd_fd = t.fd, .seal = AL_CHILD_SEAL_SEARCH};
    run_rg(&r, &spec, args);
    assert_string_equal(r.out, "./line:1\n");
    free(r.out);
    spec.max_data = 48u << 20;
    run_rg(&r, &spec, args);
    assert_int_equal(r.end.signal, SIGABRT); /* what Rust does when it gets no memory */
    free(r.out);
    tmp_remove(&t);
}

/* 0, or the number of the first thing that should not have been possible. */
static int probe(const struct tmp *t)
{
    char b[8];
    autofd int in = open_in(t, "in");
    struct al_err err;
    if (al_landlock_seal_search(rg, in, &err) != 0)
        return 1;
    int fd = openat(in, "plain", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, b, 6) != 6)
        return 2;
    close(fd);
    static const char *const closed[] = {"file-link", "folder-link/secret", "../out/secret", "/etc/passwd",
                                         "/proc/self/environ"};
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        if (openat(in, closed[i], O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
            return 10 + (int)i;
    }
    if (openat(in, "plain", O_WRONLY | O_CLOEXEC) >= 0 || unlinkat(in, "plain", 0) == 0 ||
        mkdirat(in, "d", 0700) == 0 || openat(in, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
        return 20;
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        return 21;
    static const char *const programs[] = {"/bin/sh", "/usr/bin/env"};
    for (size_t i = 0; i < 2; i++) {
        char *const argv[] = {(char *)"x", NULL};
        static char *const env[] = {NULL};
        pid_t pid;
        int pidfd;
        fd = open(programs[i], O_PATH | O_CLOEXEC);
        struct al_spawn by_name = {
            .path = programs[i], .exec_fd = -1, .argv = argv, .envp = env, .cwd_fd = -1};
        struct al_spawn by_fd = {.exec_fd = fd, .argv = argv, .envp = env, .cwd_fd = -1};
        if (fd < 0 || al_spawn(&by_name, &pid, &pidfd, &err) != -EACCES ||
            al_spawn(&by_fd, &pid, &pidfd, &err) != -EACCES)
            return 22;
        close(fd);
    }
    return 0;
}

static int in_child(int (*fn)(const struct tmp *t), const struct tmp *t)
{
    int st;
    pid_t pid = fork();
    if (pid == 0)
        _exit(fn(t));
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFEXITED(st));
    return WEXITSTATUS(st);
}

static void the_seal_holds(void **state)
{
    (void)state;
    struct tmp t;
    make_folders(&t);
    assert_int_equal(in_child(probe, &t), 0);
    tmp_remove(&t);
}

static void scripts_and_launchers_run_unsealed(void **state)
{
    (void)state;
    struct tmp t;
    make_folders(&t);
    put_file(t.fd, "script", "#!/bin/sh\nexec rg \"$@\"\n");
    assert_int_equal(symlinkat("/bin/sh", t.fd, "rg"), 0);
    static const char *const names[] = {"script", "rg", "missing"};
    for (size_t i = 0; i < 3; i++) {
        struct al_err err;
        char path[600];
        snprintf(path, sizeof(path), "%s/%s", t.path, names[i]);
        assert_int_equal(al_landlock_seal_search(path, t.fd, &err), 1);
    }
    put_file(t.fd, "script", "still writable");
    tmp_remove(&t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], AL_SUPERVISE_VERB))
        return al_supervise_main(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_to_outside_is_not_read),
        cmocka_unit_test(the_folders_above_say_what_to_ignore),
        cmocka_unit_test(input_alone_is_searched),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(the_seal_holds),
        cmocka_unit_test(scripts_and_launchers_run_unsealed),
    };
    al_self_open();
    rg = al_path_find_program("rg", NULL);
    if (!rg || al_landlock_abi() == 0) {
        fprintf(stderr, "%s is missing here\n", rg ? "Landlock" : "rg");
        return 77; /* ctest: skipped */
    }
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    free(rg);
    return r;
}
