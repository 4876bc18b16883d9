/* What lies in the host stays there: nothing of it in a run's memory, and nobody of the same user reads it.
 */
#include "test_jsvm_rig.h"

#include "base/ident.h"
#include "base/mem.h"
#include "jsvm/engine_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char secret[41]; /* made at run time: a literal would be in the binary, which the run maps too */
static char *on_heap;

/* Occurrences of what in the readable memory of pid; -1 when it may not be read. */
static long count_in_memory(pid_t pid, const char *what)
{
    char path[64], line[512];
    static char chunk[(1 << 20) + 64];
    size_t len = strlen(what);
    long n = 0;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps) {
        close(fd);
        return -1;
    }
    while (fgets(line, sizeof line, maps)) {
        unsigned long long from, to;
        char mode[8];
        if (sscanf(line, "%llx-%llx %7s", &from, &to, mode) != 3 || mode[0] != 'r' || strstr(line, "[v"))
            continue;
        if (to - from > (unsigned long long)1 << 30)
            continue; /* the shadow of a sanitizer */
        for (unsigned long long at = from; at < to; at += 1 << 20) {
            size_t want = to - at < (1 << 20) + len ? (size_t)(to - at) : (1 << 20) + len - 1;
            ssize_t got = pread(fd, chunk, want, (off_t)at);
            for (const char *p = chunk; got > 0 && (p = memmem(p, (size_t)(chunk + got - p), what, len)); p++)
                n++;
        }
    }
    fclose(maps);
    close(fd);
    return n;
}

static void wait_for_call(struct rig_result *r, const struct al_vm_spec *spec)
{
    rig_start(r, spec);
    while (r->n_calls == 0 && !r->done)
        al_loop_run_until(rig_loop, &r->done, 1);
    assert_false(r->done);
}

static void the_hosts_secrets_are_not_in_a_run(void **state)
{
    (void)state;
    struct rig_result r = {0};
    struct al_vm_spec spec = rig_spec("const mine = 'canary-' + 'of-the-script'; await tools.never({mine})");
    wait_for_call(&r, &spec);
    if (geteuid() == 0) {
        assert_true(count_in_memory(getpid(), secret) >= 2); /* the search itself works */
        assert_true(count_in_memory((pid_t)r.pid, "canary-of-the-script") >= 1);
        assert_int_equal(count_in_memory((pid_t)r.pid, secret), 0);
        assert_int_equal(count_in_memory(rig_engine->zygote->pid, secret), 0);
    } else {
        /* not even its own user looks into it */
        assert_int_equal(count_in_memory((pid_t)r.pid, secret), -1);
        assert_int_equal(count_in_memory(rig_engine->zygote->pid, secret), -1);
    }
    al_vm_cancel(r.vm);
    rig_wait(&r);
    rig_free(&r);
}

static void two_runs_share_nothing(void **state)
{
    (void)state;
    rig_value("globalThis.left = 'behind'; Array.prototype.evil = 1; Object.prototype.evil = 2; "
              "try { tools.evil = 1 } catch {} Math.max = () => 5; return 1",
              "1");
    rig_value("[typeof left, [].evil, ({}).evil, Math.max(1, 2)]", "[\"undefined\",null,null,2]");
}

static void line_of(pid_t pid, const char *file, const char *key, char *out, size_t n)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    out[0] = '\0';
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) == 0)
            snprintf(out, n, "%s", line + strlen(key));
    }
    if (f)
        fclose(f);
}

#ifndef AL_ASAN
static void line_with(pid_t pid, const char *what, char *out, size_t n)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    out[0] = '\0';
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strstr(line, what))
            snprintf(out, n, "%s", line);
    }
    if (f)
        fclose(f);
}
#endif

static void zygote_and_run_are_sealed(void **state)
{
    (void)state;
    struct rig_result r = {0};
    char line[512];
    struct al_vm_spec spec = rig_spec("await tools.never()");
    wait_for_call(&r, &spec);
    pid_t all[] = {(pid_t)r.pid, rig_engine->zygote->pid};
    for (int i = 0; i < 2; i++) {
        line_of(all[i], "status", "Seccomp:\t", line, sizeof line);
        assert_string_equal(line, "2\n");
        line_of(all[i], "status", "NoNewPrivs:\t", line, sizeof line);
        assert_string_equal(line, "1\n");
        line_of(all[i], "status", "PPid:\t", line, sizeof line);
        assert_int_equal(strtol(line, NULL, 10), getpid());
        line_of(all[i], "status", "Threads:\t", line, sizeof line);
        assert_string_equal(line, "1\n");
    }
    if (geteuid() == 0) {
        char path[64], env[16];
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "/proc/%d/environ", (int)all[i]);
            int fd = open(path, O_RDONLY | O_CLOEXEC);
            assert_true(fd >= 0);
            assert_int_equal(read(fd, env, sizeof env), 0);
            close(fd);
        }
    }
#ifndef AL_ASAN
    if (geteuid() == 0) {
        /* code that no run calls is not there; the search itself works */
        line_with(getpid(), "libseccomp", line, sizeof line);
        assert_string_not_equal(line, "");
        line_with((pid_t)r.pid, "libseccomp", line, sizeof line);
        assert_string_equal(line, "");
        line_with((pid_t)r.pid, "libc.so", line, sizeof line);
        assert_string_not_equal(line, "");
    }
#endif
    al_vm_cancel(r.vm);
    rig_wait(&r);
    rig_free(&r);
}

/* In a process of its own: 0 when the same user could read our environment, 1 when it could not. */
static int environment_is_shut(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getpid());
    pid_t child = fork();
    if (child == 0)
        _exit(open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static int become_a_host(void)
{
    if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
        return 10;
    prctl(PR_SET_DUMPABLE, 1);
    if (environment_is_shut() != 0)
        return 11; /* the check itself does not work */
    struct al_loop *loop = al_loop_new();
    struct al_engine *e = al_engine_new(loop);
    int r = environment_is_shut() == 1 ? 0 : 12;
    al_engine_free(e);
    al_loop_free(loop);
    return r;
}

static void the_hosts_environment_is_shut_to_its_user(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(become_a_host());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state)
{
    unsigned char bytes[20];
    al_random(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    setenv("ALISIO_TEST_KEY", secret, 1);
    on_heap = al_xstrdup(secret);
    return rig_setup(state);
}

static int teardown(void **state)
{
    free(on_heap);
    return rig_teardown(state);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_hosts_secrets_are_not_in_a_run),
    cmocka_unit_test(two_runs_share_nothing),
    cmocka_unit_test(zygote_and_run_are_sealed),
    cmocka_unit_test(the_hosts_environment_is_shut_to_its_user),
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_ZYGOTE_VERB) == 0)
        return al_zygote_main(argc, argv);
    return cmocka_run_group_tests(tests, setup, teardown);
}
