/* What the tests of the guest share: one is started as by a host, as root or as an ordinary user. */
#ifndef AL_TESTS_GUEST_RIG_H
#define AL_TESTS_GUEST_RIG_H

#include "os_help.h"

#include "os/spawn.h"
#include "sandbox/guest.h"
#include "sandbox/landlock.h"
#include "sandbox/seccomp.h"
#include "sandbox/supervise.h"

#include <grp.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define USER 60123u  /* nobody's */
#define OTHER 60124u /* whom a guest becomes */
#define REPORT_FD 7

/* --- starting one --- */

struct run {
    struct al_guest guest;
    const char *const *argv;
    uid_t as; /* 0: who we are */
    const char *const *env;
    int dir_fd;      /* -1: here */
    int refuse_call; /* a system call that fails with EPERM from the start; 0: none */
    /* filled in */
    pid_t pid;
    int out_fd, report_fd;
    char mark[64], out[65536];
    struct al_guest_report reports[4];
    unsigned n_reports;
    int status; /* as waitpid gives it */
};

UNUSED static void refuse_from_the_start(int nr)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog prog = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
        _exit(90);
}

UNUSED static void become(uid_t uid)
{
    if (uid != 0 && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        _exit(91);
}

/* Descriptors that a careless host has left open go along on purpose. */
UNUSED static void start(struct run *r)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    static const char *const head[] = {"alisio", NULL};
    const char *env[16];
    size_t n = 0;
    int out[2], report[2];
    new_mark(r->mark);
    env[n++] = r->mark;
    env[n++] = "PATH=/usr/bin:/bin";
    for (size_t i = 0; r->env && r->env[i]; i++)
        env[n++] = r->env[i];
    env[n] = NULL;
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    r->guest.report_fd = REPORT_FD;
    char **argv = al_guest_argv(&a, head, &r->guest, r->argv);
    assert_non_null(argv);
    r->pid = fork();
    if (r->pid == 0) {
        setsid();
        /* Before the numbers below, one of which it may have. */
        if (r->dir_fd > 0 && fchdir(r->dir_fd) < 0)
            _exit(92);
        dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
        dup2(out[1], 1);
        dup2(out[1], 2);
        int self = fcntl(al_self_fd(), F_DUPFD_CLOEXEC, 20);
        dup2(fcntl(report[1], F_DUPFD_CLOEXEC, 20), REPORT_FD);
        dup2(0, 12);
        become(r->as);
        if (r->refuse_call)
            refuse_from_the_start(r->refuse_call);
        syscall(SYS_execveat, self, "", argv, env, AT_EMPTY_PATH);
        _exit(93);
    }
    assert_true(r->pid > 0);
    close(out[1]);
    close(report[1]);
    r->out_fd = out[0];
    r->report_fd = report[0];
}

UNUSED static void hear(struct run *r)
{
    char c;
    struct pollfd p = {.fd = r->out_fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 20000), 1);
    assert_int_equal(read(r->out_fd, &c, 1), 1);
}

UNUSED static void read_reports(struct run *r)
{
    r->n_reports = 0;
    while (r->n_reports < 4 &&
           read(r->report_fd, &r->reports[r->n_reports], sizeof(r->reports[0])) == sizeof(r->reports[0]))
        r->n_reports++;
    al_close(&r->report_fd);
}

UNUSED static void finish(struct run *r)
{
    size_t n = 0;
    for (ssize_t k; n + 1 < sizeof(r->out) && (k = read(r->out_fd, r->out + n, sizeof(r->out) - 1 - n)) > 0;)
        n += (size_t)k;
    r->out[n] = 0;
    al_close(&r->out_fd);
    read_reports(r);
    assert_int_equal(waitpid(r->pid, &r->status, 0), r->pid);
}

UNUSED static void run(struct run *r)
{
    start(r);
    finish(r);
}

UNUSED static bool exited(const struct run *r, int status)
{
    return WIFEXITED(r->status) && WEXITSTATUS(r->status) == status;
}

/* Whoever tests it: root can be an ordinary user, too. */
UNUSED static uid_t ordinary(void)
{
    return getuid() == 0 ? USER : 0;
}

UNUSED static bool user_namespaces_work(void)
{
    int st;
    pid_t pid = fork();
    if (pid == 0) {
        become(ordinary());
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 ? 0 : 1);
    }
    return waitpid(pid, &st, 0) == pid && st == 0;
}

#define SH(script) ((const char *const[]){"/bin/sh", "-c", (script), NULL})
#define LOADER_PATHS                                                      \
    {"/usr", false, false}, {"/bin", false, true}, {"/lib", false, true}, \
    {                                                                     \
        "/lib64", false, true                                             \
    }

#endif
