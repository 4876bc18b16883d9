#include "sandbox/supervise.h"
#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/guest.h"
#include "sandbox/landlock.h"
#include "sandbox/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FD 3
#define GRACE_MS 300
#define GRACE_MS_MAX 5000 /* the host thinks that we hang after 10 s */
#define PASS_MS_FIRST 1
#define PASS_MS_MAX 50
#define PLAIN_PASSES 2
#define FREEZE_PASSES 200
/* Processes that changed their user cannot be killed by us; they are waited for that long. */
#define REFUSED_MS 2000
/* After this a namespace that was killed is taken apart like anything else. */
#define NAMESPACE_MS 1000
/* A program may have stopped our other half: it is waked so often, and in the end not waited for. */
#define WAKE_MS 100
#define STUCK_MS 5000
#define MAX_READ 4
#define MAX_PASS 8
#define EXIT_NOT_SPAWNED 125 /* as a guest ends that could not start */

enum seal {
    SEAL_NONE,
    SEAL_GIT,
    SEAL_SEARCH,
    SEAL_INPUT
};

struct supervisor {
    const char *program;
    char **argv;
    enum seal seal;
    rlim_t max_data;        /* 0: as we have it */
    int read_fds[MAX_READ]; /* folders for git */
    size_t n_read;
    int pass_fds[MAX_PASS]; /* the program's 4, 5, … */
    size_t n_pass;
    uint64_t grace_ms;
    int signal_fd;
    pid_t outer; /* 0: that is us */
    pid_t pid;   /* of the program; in the outer half, of the inner one */
    bool ended, stopping, killing;
    uint64_t kill_at_ms;       /* while stopping */
    uint64_t refused_at_ms;    /* since when nothing but refusals; 0: not now */
    uint64_t patient_until_ms; /* its namespace was killed, and is going; 0: not tried */
    int pass_ms, passes;
};

static bool number_option(const char *arg, const char *name, int64_t min, int64_t max, int64_t *ret)
{
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && al_parse_int(al_str_of(arg + n), min, max, ret);
}

static bool parse_option(struct supervisor *s, const char *arg)
{
    static const char *const seals[] = {
        [SEAL_GIT] = "--seal-git", [SEAL_SEARCH] = "--seal-search", [SEAL_INPUT] = "--seal-input"};
    for (size_t i = SEAL_GIT; i < sizeof(seals) / sizeof(seals[0]); i++) {
        if (strcmp(arg, seals[i]) == 0) {
            s->seal = (enum seal)i;
            return true;
        }
    }
    int64_t n = 0;
    if (number_option(arg, "--max-data=", 1, INT64_MAX, &n)) {
        s->max_data = (rlim_t)n;
        return true;
    }
    if (number_option(arg, "--grace=", 1, GRACE_MS_MAX, &n)) {
        s->grace_ms = (uint64_t)n;
        return true;
    }
    if (s->n_pass < MAX_PASS && number_option(arg, "--pass=", STATUS_FD + 1, INT32_MAX, &n)) {
        s->pass_fds[s->n_pass++] = (int)n;
        return al_fd_cloexec((int)n) == 0;
    }
    if (s->n_read == MAX_READ || !number_option(arg, "--read=", STATUS_FD + 1, INT32_MAX, &n))
        return false;
    s->read_fds[s->n_read++] = (int)n;
    return al_fd_cloexec((int)n) == 0;
}

/* Everybody may read the command line of a process, and a person may have let a key be put into a program's:
 * in the program's own it stands by their will, in ours by no one's. */
static void take_command(struct supervisor *s, int n, char **argv)
{
    s->program = al_xstrdup(argv[0]);
    s->argv = al_xcalloc((size_t)n, sizeof(*s->argv));
    for (int i = 1; i < n; i++)
        s->argv[i - 1] = al_xstrdup(argv[i]);
    for (int i = 0; i < n; i++)
        explicit_bzero(argv[i], strlen(argv[i]));
}

static bool parse(int argc, char **argv, struct supervisor *s)
{
    int i = 2;
    while (i < argc && strcmp(argv[i], "--") != 0) {
        if (!parse_option(s, argv[i++]))
            return false;
    }
    if (i + 2 >= argc)
        return false;
    take_command(s, argc - i - 1, argv + i + 1);
    return true;
}

static void report(int exec_errno, int exit_status, int signum)
{
    struct al_supervise_status st = {exec_errno, exit_status, signum};
    /* It fits a pipe's guaranteed atom. With the host gone nobody reads it, and that is fine. */
    (void)al_fd_write_all(STATUS_FD, (struct al_str){(const char *)&st, sizeof(st)});
}

/* All signals are blocked from here on; what the host or the kernel has to say is read from a descriptor. The
 * inner half takes a descriptor of its own. */
static int take_signals(struct supervisor *s)
{
    sigset_t all, heard;
    sigfillset(&all);
    sigemptyset(&heard);
    sigaddset(&heard, SIGTERM);
    sigaddset(&heard, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
        return -errno;
    al_close(&s->signal_fd);
    s->signal_fd = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signal_fd < 0 ? -errno : 0;
}

/* The program's output ends when the last of its tree does, not with us; and so does what it was handed. */
static void let_go(struct supervisor *s)
{
    while (s->n_pass > 0)
        al_close(&s->pass_fds[--s->n_pass]);
    autofd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; fd++) {
        if (null >= 0)
            dup2(null, fd);
        else
            close(fd);
    }
}

static int seal_git(const struct supervisor *s, int here)
{
    struct al_err err;
    int dirs[MAX_READ + 1] = {here};
    memcpy(dirs + 1, s->read_fds, s->n_read * sizeof(int));
    if (al_landlock_seal_git(s->program, dirs, s->n_read + 1, &err) == 0)
        return 0;
    return al_landlock_abi() == 0 ? -ENOSYS : -EACCES;
}

/* *ret_fd: what to start, when sealed; a sealed program starts by descriptor only. */
static int seal(const struct supervisor *s, int *ret_fd)
{
    struct al_err err;
    if (s->seal == SEAL_NONE)
        return 0;
    autofd int program = open(s->program, O_PATH | O_CLOEXEC), here = -1;
    if (program < 0 || (s->seal != SEAL_INPUT && (here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0))
        return -errno;
    int r = s->seal == SEAL_GIT ? seal_git(s, here) : al_landlock_seal_search(s->program, here, &err);
    if (r < 0)
        return s->seal == SEAL_GIT ? r : -EACCES;
    if (r == 0) {
        *ret_fd = program;
        program = -1;
    }
    return 0;
}

/* --- a guest --- */

/* Whether the program is ourselves, told by a descriptor that is passed, as a guest. */
static bool is_guest(const struct supervisor *s)
{
    static const char head[] = "/proc/self/fd/";
    struct stat it, self;
    int64_t fd;
    if (s->max_data > 0 || s->seal != SEAL_NONE || !s->argv[0] || !s->argv[1] ||
        strcmp(s->argv[1], AL_GUEST_VERB) != 0 || strncmp(s->program, head, sizeof(head) - 1) != 0 ||
        !al_parse_int(al_str_of(s->program + sizeof(head) - 1), STATUS_FD + 1, STATUS_FD + MAX_PASS, &fd))
        return false;
    size_t i = (size_t)fd - STATUS_FD - 1;
    return i < s->n_pass && fstat(s->pass_fds[i], &it) == 0 && stat("/proc/self/exe", &self) == 0 &&
           it.st_dev == self.st_dev && it.st_ino == self.st_ino;
}

/* As al_spawn leaves it to a program: these descriptors, default signals, a session of its own. */
static int be_as_spawned(struct supervisor *s)
{
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < s->n_pass; i++) {
        s->pass_fds[i] = fcntl(s->pass_fds[i], F_DUPFD, STATUS_FD + 1 + MAX_PASS);
        if (s->pass_fds[i] < 0)
            return -errno;
    }
    for (size_t i = 0; i < s->n_pass; i++) {
        if (dup2(s->pass_fds[i], STATUS_FD + 1 + (int)i) < 0)
            return -errno;
        close(s->pass_fds[i]);
    }
    close(STATUS_FD);
    unsigned first = STATUS_FD + 1 + (unsigned)s->n_pass;
    if (syscall(SYS_close_range, first, ~0u, 0) < 0) {
        for (int fd = (int)first; fd < 1024; fd++)
            close(fd);
    }
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* as after an exec: it has to write to its own /proc */
    if (setsid() < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return -errno;
    return 0;
}

/* A copy of ourselves does what an exec of our binary would do: loading that takes longer than all of its
 * steps. */
static int start_guest(struct supervisor *s)
{
    pid_t pid = al_fork(SIGKILL);
    if (pid == 0) {
        int argc = 0;
        while (s->argv[argc])
            argc++;
        if (be_as_spawned(s) == 0)
            al_guest_main(argc, s->argv);
        _exit(EXIT_NOT_SPAWNED);
    }
    s->pid = pid;
    return pid < 0 ? pid : 0;
}

static int start(struct supervisor *s)
{
    struct al_fd_map fds[3 + MAX_PASS] = {{0, 0}, {1, 1}, {2, 2}};
    struct al_err err;
    int pidfd = -1;
    autofd int sealed_fd = -1;
    if (is_guest(s))
        return start_guest(s);
    int r = seal(s, &sealed_fd);
    if (r < 0)
        return r;
    for (size_t i = 0; i < s->n_pass; i++)
        fds[3 + i] = (struct al_fd_map){s->pass_fds[i], STATUS_FD + 1 + (int)i};
    struct al_spawn how = {
        .path = sealed_fd >= 0 ? NULL : s->program,
        .exec_fd = sealed_fd,
        .argv = s->argv,
        .envp = environ,
        .cwd_fd = -1,
        .fds = fds,
        .n_fds = 3 + s->n_pass,
        .death_signal = SIGKILL,
        .new_session = true,
    };
    r = al_spawn(&how, &s->pid, &pidfd, &err);
    al_close(&pidfd);
    /* Not before the exec: this process may hold more than that (sanitizers do), and has yet to go on. */
    const struct rlimit limit = {s->max_data, s->max_data};
    if (r == 0 && s->max_data > 0)
        (void)prlimit(s->pid, RLIMIT_DATA, &limit, NULL);
    return r;
}

/* Reaps whatever has ended. False when there is no child left. */
static bool reap_all(struct supervisor *s)
{
    for (;;) {
        int st;
        pid_t pid = waitpid(-1, &st, WNOHANG | __WALL);
        if (pid == 0 || (pid < 0 && errno == EINTR))
            return true;
        if (pid < 0)
            return false;
        if (pid != s->pid || s->ended)
            continue;
        s->ended = true;
        if (s->outer == 0) /* it has told; and unless it was killed, there is nothing left to do */
            s->killing = !WIFEXITED(st);
        else if (WIFEXITED(st))
            report(0, WEXITSTATUS(st), 0);
        else
            report(0, -1, WTERMSIG(st));
    }
}

static void signal_all(struct supervisor *s, int signum)
{
    struct al_tree_count count;
    if (al_tree_signal(signum, &count) < 0) {
        /* No /proc, or none under the seal of a search: what stayed in the program's group is all that can be
         * named. */
        kill(-s->pid, signum);
        return;
    }
    bool only_refusals = count.alive > 0 && count.refused == count.alive;
    if (!only_refusals)
        s->refused_at_ms = 0;
    else if (!s->refused_at_ms)
        s->refused_at_ms = al_mono_ms();
}

/*
 * What multiplies as fast as it is killed, is first brought to a halt: who is stopped makes no more, and
 * keeps his place in the limit of processes. When nothing moves any more, one pass kills all.
 */
static void freeze(void)
{
    struct al_tree_count count;
    setpriority(PRIO_PROCESS, 0, -20); /* where we may; else we compete as one of many */
    for (int i = 0; i < FREEZE_PASSES; i++) {
        if (al_tree_signal(SIGSTOP, &count) < 0 || count.moving == 0)
            return;
    }
}

/* The kernel ends a namespace faster than we could name what is in it, and looking on would only hold it up.
 */
static bool kill_namespace(struct supervisor *s)
{
    if (s->patient_until_ms == 0)
        s->patient_until_ms = al_tree_kill_namespace() ? al_mono_ms() + NAMESPACE_MS : 1;
    return al_mono_ms() < s->patient_until_ms;
}

static void kill_all(struct supervisor *s)
{
    if (kill_namespace(s))
        return;
    if (s->passes++ >= PLAIN_PASSES)
        freeze();
    signal_all(s, SIGKILL);
}

static void hear(struct supervisor *s)
{
    struct signalfd_siginfo si;
    while (read(s->signal_fd, &si, sizeof(si)) == sizeof(si)) {
        if (si.ssi_signo != SIGTERM)
            continue;
        /* The second time is meant. And without the outer half nobody waits for an orderly end. */
        if (s->stopping || getppid() != s->outer) {
            s->killing = true;
            continue;
        }
        s->stopping = true;
        s->kill_at_ms = al_mono_ms() + s->grace_ms;
        signal_all(s, SIGTERM);
    }
}

/* How long to wait for the next signal, in ms; -1 for ever. Kills when it is time to. */
static int act(struct supervisor *s)
{
    uint64_t now = al_mono_ms();
    if (s->stopping && now >= s->kill_at_ms)
        s->killing = true;
    if (s->ended && !s->stopping)
        s->killing = true;
    if (s->killing) {
        kill_all(s);
        s->pass_ms = s->pass_ms * 2 > PASS_MS_MAX ? PASS_MS_MAX : s->pass_ms * 2;
        return s->pass_ms;
    }
    return s->stopping ? (int)(s->kill_at_ms - now) : -1;
}

static bool refuses(const struct supervisor *s)
{
    return s->killing && s->refused_at_ms && al_mono_ms() - s->refused_at_ms > REFUSED_MS;
}

static void supervise(struct supervisor *s)
{
    while (reap_all(s)) {
        struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
        if (poll(&p, 1, act(s)) > 0)
            hear(s);
        if (refuses(s))
            return;
    }
}

/* --- the outer half --- */

/* What we are told goes on to the inner half, which has not ended as long as it is not reaped. */
static void pass_on(struct supervisor *s)
{
    struct signalfd_siginfo si;
    while (read(s->signal_fd, &si, sizeof(si)) == sizeof(si)) {
        if (si.ssi_signo != SIGTERM || s->ended)
            continue;
        kill(s->pid, SIGTERM);
        kill(s->pid, SIGCONT);
        if (!s->stopping)
            s->kill_at_ms = al_mono_ms() + s->grace_ms + STUCK_MS;
        s->stopping = true;
    }
}

/* Nothing to do while the inner half lives; what it leaves when it is killed, is ours. */
static void watch(struct supervisor *s)
{
    while (reap_all(s) && (!s->ended || s->killing)) {
        struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
        int wait_ms = s->stopping ? WAKE_MS : -1;
        if (s->ended)
            wait_ms = act(s);
        else if (s->stopping)
            kill(s->pid, al_mono_ms() < s->kill_at_ms ? SIGCONT : SIGKILL);
        if (poll(&p, 1, wait_ms) > 0)
            pass_on(s);
        if (refuses(s))
            return;
    }
}

static int prepare(struct supervisor *s)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return -errno;
    return take_signals(s);
}

/* Does not return: exit handlers of the host program have no business here. */
static void inner_main(struct supervisor *s)
{
    int r = prepare(s);
    if (r == 0)
        r = start(s);
    if (r < 0)
        report(-r, -1, 0);
    let_go(s);
    if (r == 0)
        supervise(s);
    _exit(0);
}

int al_supervise_main(int argc, char **argv)
{
    struct supervisor s = {.signal_fd = -1, .grace_ms = GRACE_MS, .pass_ms = PASS_MS_FIRST};
    pid_t self = getpid();
    prctl(PR_SET_NAME, "alisio-super", 0, 0, 0);
    int r = prepare(&s);
    if (r == 0)
        r = al_fd_cloexec(STATUS_FD);
    if (r == 0 && !parse(argc, argv, &s))
        r = -EINVAL;
    if (r == 0)
        r = s.pid = al_fork(SIGTERM);
    if (r == 0) {
        s.outer = self;
        inner_main(&s);
    }
    if (r < 0)
        report(-r, -1, 0);
    /* The status, too: that nobody holds it any more says that none will come. */
    close(STATUS_FD);
    let_go(&s);
    if (r > 0)
        watch(&s);
    _exit(r < 0 ? 1 : 0);
}
