#include "os/spawn.h"
#include "base/text.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_STACK (64 * 1024)
#define MAX_FDS 32
#define NSIG_KERNEL 64

enum step {
    STEP_FDS,
    STEP_CWD,
    STEP_SESSION,
    STEP_EXEC,
};

/* Shared with the child, which runs in our memory while we stand still. */
struct child {
    const struct al_spawn *how;
    pid_t parent;
    int base;               /* descriptors from here on are nobody's target */
    int parked[MAX_FDS];    /* copies of fds[i].from, at base or above */
    unsigned long fd_limit; /* for the slow way of closing */
    volatile int eno;       /* set when a step failed */
    volatile enum step step;
};

/*
 * The code of the child runs between clone and exec on a borrowed stack, in the memory of the parent. It
 * makes system calls and nothing else: no allocation, no lock, no libc that keeps state. Sanitizers know
 * nothing of that stack and must not instrument it.
 */
#define CHILD_CODE __attribute__((no_sanitize("address", "undefined"), no_stack_protector))

CHILD_CODE static void child_die(struct child *c, enum step step)
{
    c->eno = errno ? errno : EINVAL;
    c->step = step;
    for (;;)
        syscall(SYS_exit_group, 127);
}

CHILD_CODE static void child_signals(void)
{
    /* The kernel's own layout of a zeroed action is the default one on every architecture. */
    uint64_t action[8];
    for (unsigned i = 0; i < 8; i++)
        action[i] = 0;
    for (int sig = 1; sig <= NSIG_KERNEL; sig++) {
        if (sig != SIGKILL && sig != SIGSTOP)
            syscall(SYS_rt_sigaction, sig, action, NULL, NSIG_KERNEL / 8);
    }
}

CHILD_CODE static void child_unblock(void)
{
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, NSIG_KERNEL / 8);
}

CHILD_CODE static int child_park(struct child *c, int fd)
{
    int r = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, c->base);
    if (r < 0)
        child_die(c, STEP_FDS);
    return r;
}

CHILD_CODE static void child_close_others(struct child *c)
{
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    for (unsigned long fd = 3; fd < c->fd_limit; fd++)
        syscall(SYS_fcntl, (int)fd, F_SETFD, FD_CLOEXEC);
}

/* First all sources out of the way of all targets, then each to its place: overlaps and swaps come out right.
 */
CHILD_CODE static void child_fds(struct child *c, int *exec_fd, int *cwd_fd)
{
    const struct al_spawn *how = c->how;
    bool std[3] = {false, false, false};
    for (size_t i = 0; i < how->n_fds; i++)
        c->parked[i] = child_park(c, how->fds[i].from);
    if (*exec_fd >= 0)
        *exec_fd = child_park(c, *exec_fd);
    if (*cwd_fd >= 0)
        *cwd_fd = child_park(c, *cwd_fd);
    child_close_others(c);
    for (size_t i = 0; i < how->n_fds; i++) {
        if (syscall(SYS_dup3, c->parked[i], how->fds[i].to, 0) < 0)
            child_die(c, STEP_FDS);
        if (how->fds[i].to <= 2)
            std[how->fds[i].to] = true;
    }
    for (int fd = 0; fd <= 2; fd++) {
        if (std[fd])
            continue;
        int null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
        if (null < 0)
            child_die(c, STEP_FDS);
        /* When the number was closed in the parent, open has hit it already; dup3 refuses equal numbers. */
        if (null == fd)
            syscall(SYS_fcntl, fd, F_SETFD, 0);
        else if (syscall(SYS_dup3, null, fd, 0) < 0)
            child_die(c, STEP_FDS);
    }
}

CHILD_CODE static void child_limits(const struct al_spawn *how)
{
    struct rlimit none = {0, 0};
    syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
    if (how->stack_bytes > 0) {
        struct rlimit now = {0, 0};
        syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &now);
        now.rlim_cur = how->stack_bytes < now.rlim_max ? how->stack_bytes : now.rlim_max;
        syscall(SYS_prlimit64, 0, RLIMIT_STACK, &now, NULL);
    }
}

CHILD_CODE static int child_run(void *arg)
{
    struct child *c = arg;
    const struct al_spawn *how = c->how;
    int exec_fd = how->path ? -1 : how->exec_fd;
    int cwd_fd = how->cwd_fd;

    child_signals();
    if (how->death_signal) {
        syscall(SYS_prctl, PR_SET_PDEATHSIG, how->death_signal, 0, 0, 0);
        /* Had the parent died before that call, no signal would ever come. */
        if ((pid_t)syscall(SYS_getppid) != c->parent) {
            errno = ESRCH;
            child_die(c, STEP_SESSION);
        }
    }
    if (how->new_session && syscall(SYS_setsid) < 0)
        child_die(c, STEP_SESSION);
    child_fds(c, &exec_fd, &cwd_fd);
    if (cwd_fd >= 0 && syscall(SYS_fchdir, cwd_fd) < 0)
        child_die(c, STEP_CWD);
    child_limits(how);
    child_unblock();
    if (how->path)
        syscall(SYS_execve, how->path, how->argv, how->envp);
    else
        syscall(SYS_execveat, exec_fd, "", how->argv, how->envp, AT_EMPTY_PATH);
    child_die(c, STEP_EXEC);
    return 0;
}

static int check(const struct al_spawn *how, int *ret_base)
{
    int base = 3;
    if (how->n_fds > MAX_FDS || !how->argv || !how->argv[0] || !how->envp || (!how->path && how->exec_fd < 0))
        return -EINVAL;
    for (size_t i = 0; i < how->n_fds; i++) {
        if (how->fds[i].from < 0 || how->fds[i].to < 0 || how->fds[i].to > 1024)
            return -EINVAL;
        if (how->fds[i].to >= base)
            base = how->fds[i].to + 1;
    }
    *ret_base = base;
    return 0;
}

static unsigned long fd_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur > 1048576)
        return 1048576;
    return (unsigned long)r.rlim_cur;
}

/* A SIGCHLD that somebody left ignored would let the kernel throw exit statuses away. */
static void want_statuses(void)
{
    struct sigaction sa;
    if (sigaction(SIGCHLD, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN) {
        memset(&sa, 0, sizeof(sa));
        sa.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &sa, NULL);
    }
}

static int fail_step(const struct child *c, int eno, struct al_err *err)
{
    static const char *const what[] = {
        [STEP_FDS] = "cannot hand descriptors to a program",
        [STEP_CWD] = "cannot enter the folder of a program",
        [STEP_SESSION] = "cannot start a session for a program",
        [STEP_EXEC] = "cannot start a program",
    };
    enum al_code code = AL_INTERNAL;
    if (c->step == STEP_EXEC && (eno == ENOENT || eno == ENOTDIR))
        code = AL_NOT_FOUND;
    else if (eno == EACCES || eno == EPERM)
        code = AL_PERMISSION_DENIED;
    else if (eno == E2BIG)
        code = AL_INVALID_INPUT;
    al_fail_errno(err, code, eno, "%s", what[c->step]);
    if (c->how->path)
        al_detail(err, "%s", c->how->path);
    return -eno;
}

static pid_t run_clone(struct child *c, int *ret_pidfd)
{
    long page = sysconf(_SC_PAGESIZE);
    size_t size = CHILD_STACK + (size_t)page;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
    if (mprotect(stack, (size_t)page, PROT_NONE) < 0) {
        int eno = errno;
        munmap(stack, size);
        return -eno;
    }
    /* No handler of ours may run in the child: it would work on our memory. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int pidfd = -1;
    pid_t pid = clone(child_run, stack + size, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, c, &pidfd);
    int eno = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    munmap(stack, size);
    if (pid < 0)
        return -eno;
    *ret_pidfd = pidfd;
    return pid;
}

int al_spawn(const struct al_spawn *how, pid_t *ret_pid, int *ret_pidfd, struct al_err *err)
{
    struct child c = {.how = how, .parent = getpid(), .fd_limit = fd_limit()};
    int r = check(how, &c.base);
    if (r < 0) {
        al_fail(err, AL_INTERNAL, "a program was to be started with impossible settings");
        return r;
    }
    want_statuses();
    autofd int pidfd = -1;
    pid_t pid = run_clone(&c, &pidfd);
    if (pid < 0) {
        al_fail_errno(err, AL_BUSY, -pid, "cannot make a process");
        return pid;
    }
    if (c.eno) {
        struct al_exit unused;
        al_reap(pidfd, true, &unused);
        return fail_step(&c, c.eno, err);
    }
    *ret_pid = pid;
    *ret_pidfd = pidfd;
    pidfd = -1;
    return 0;
}

pid_t al_fork(int death_signal)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0 && death_signal) {
        prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
        if (getppid() != parent) /* it died before that call */
            _exit(1);
    }
    return pid;
}

long al_clone(uint64_t flags, int32_t *told)
{
    struct clone_args how = {.flags = flags | (told ? CLONE_PARENT_SETTID : 0),
                             .parent_tid = (uintptr_t)told};
    long pid = syscall(SYS_clone3, &how, sizeof how);
    if (pid < 0 && errno == ENOSYS) /* as some containers answer */
        pid = syscall(SYS_clone, how.flags, 0, told, 0, 0);
    return pid < 0 ? -errno : pid;
}

int al_become(const char *path, char *const *argv, char *const *envp)
{
    execve(path, argv, envp);
    return -errno;
}

uint64_t al_own_bytes(const char *name, uint64_t when_unknown)
{
    autobuf struct al_buf text = AL_BUF_INIT(64 << 10);
    autofd int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || al_fd_read_all(fd, &text) < 0)
        return when_unknown;
    ptrdiff_t at = al_str_find(al_buf_str(&text), al_str_of(name));
    int64_t kib;
    if (at < 0)
        return when_unknown;
    size_t from = (size_t)at + strlen(name);
    struct al_str s = al_str_trim((struct al_str){text.p + from, text.n - from});
    ptrdiff_t space = al_str_find(s, AL_STR(" "));
    if (space <= 0 || !al_parse_int((struct al_str){s.p, (size_t)space}, 0, INT32_MAX, &kib))
        return when_unknown;
    return (uint64_t)kib << 10;
}

int al_reap(int pidfd, bool block, struct al_exit *ret)
{
    siginfo_t si;
    struct rusage ru;
    long r;
    memset(&si, 0, sizeof(si));
    memset(&ru, 0, sizeof(ru));
    do {
        r = syscall(SYS_waitid, P_PIDFD, pidfd, &si, WEXITED | __WALL | (block ? 0 : WNOHANG), &ru);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return -errno;
    if (si.si_pid == 0)
        return 0;
    memset(ret, 0, sizeof(*ret));
    ret->exited = si.si_code == CLD_EXITED;
    ret->status = ret->exited ? si.si_status : -1;
    ret->signal = ret->exited ? 0 : si.si_status;
    ret->cpu_ms = (unsigned long)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000 +
                  (unsigned long)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1000;
    return 1;
}

int al_pidfd_kill(int pidfd, int signum)
{
    return syscall(SYS_pidfd_send_signal, pidfd, signum, NULL, 0) < 0 ? -errno : 0;
}

int al_pidfd_open(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return fd < 0 ? -errno : fd;
}

bool al_pid_is_child(pid_t pid)
{
    siginfo_t info;
    autofd int fd = al_pidfd_open(pid);
    return fd >= 0 && waitid((idtype_t)P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

static int self_fd = -1;

int al_self_open(void)
{
    if (self_fd >= 0)
        return self_fd;
    int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fd <= 2) { /* never where a standard stream is expected */
        int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        int eno = errno;
        close(fd);
        if (moved < 0)
            return -eno;
        fd = moved;
    }
    self_fd = fd;
    return fd;
}

int al_self_fd(void)
{
    return al_self_open();
}
