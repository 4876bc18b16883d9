#include "sandbox/supervise.h"
#include "base/ident.h"
#include "base/text.h"
#include "os/fd.h"
#include "os/spawn.h"
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
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FD 3
#define GRACE_MS 300
#define PASS_MS_FIRST 1
#define PASS_MS_MAX 50
#define PLAIN_PASSES 2
#define FREEZE_PASSES 200
/* Processes that changed their user cannot be killed by us; they are waited for that long. */
#define REFUSED_MS 2000

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
    rlim_t max_data; /* 0: as we have it */
    int signal_fd;
    pid_t pid; /* of the program */
    bool ended, stopping, killing;
    uint64_t kill_at_ms;    /* while stopping */
    uint64_t refused_at_ms; /* since when nothing but refusals; 0: not now */
    int pass_ms, passes;
};

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
    static const char data[] = "--max-data=";
    int64_t bytes = 0;
    if (strncmp(arg, data, strlen(data)) != 0 ||
        !al_parse_int(al_str_of(arg + strlen(data)), 1, INT64_MAX, &bytes))
        return false;
    s->max_data = (rlim_t)bytes;
    return true;
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
    s->program = argv[i + 1];
    s->argv = argv + i + 2;
    return true;
}

static void report(int exec_errno, int exit_status, int signum)
{
    struct al_supervise_status st = {exec_errno, exit_status, signum};
    /* It fits a pipe's guaranteed atom. With the host gone nobody reads it, and that is fine. */
    (void)al_fd_write_all(STATUS_FD, (struct al_str){(const char *)&st, sizeof(st)});
}

/* All signals are blocked from here on; what the host or the kernel has to say is read from a descriptor. */
static int take_signals(struct supervisor *s)
{
    sigset_t all, heard;
    sigfillset(&all);
    sigemptyset(&heard);
    sigaddset(&heard, SIGTERM);
    sigaddset(&heard, SIGCHLD);
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0)
        return -errno;
    s->signal_fd = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signal_fd < 0 ? -errno : 0;
}

/* The program's output ends when the last of its tree does, not with us. */
static void let_go_of_output(void)
{
    autofd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; fd++) {
        if (null >= 0)
            dup2(null, fd);
        else
            close(fd);
    }
}

/* *ret_fd: what to start, when sealed; a sealed program starts by descriptor only. */
static int seal(const struct supervisor *s, int *ret_fd)
{
    struct al_err err;
    if (s->seal == SEAL_NONE)
        return 0;
    autofd int program = open(s->program, O_PATH | O_CLOEXEC), dir = -1;
    if (program < 0)
        return -errno;
    if (s->seal == SEAL_GIT && al_landlock_seal_git(s->program, &err) < 0)
        return al_landlock_abi() == 0 ? -ENOSYS : -EACCES;
    if (s->seal == SEAL_SEARCH && (dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
        return -errno;
    int r = s->seal == SEAL_GIT ? 0 : al_landlock_seal_search(s->program, dir, &err);
    if (r < 0)
        return -EACCES;
    if (r == 0) {
        *ret_fd = program;
        program = -1;
    }
    return 0;
}

static int start(struct supervisor *s)
{
    static const struct al_fd_map fds[] = {{0, 0}, {1, 1}, {2, 2}};
    struct al_err err;
    int pidfd = -1;
    autofd int sealed_fd = -1;
    int r = seal(s, &sealed_fd);
    if (r < 0)
        return r;
    struct al_spawn how = {
        .path = sealed_fd >= 0 ? NULL : s->program,
        .exec_fd = sealed_fd,
        .argv = s->argv,
        .envp = environ,
        .cwd_fd = -1,
        .fds = fds,
        .n_fds = 3,
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
        if (WIFEXITED(st))
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

static void kill_all(struct supervisor *s)
{
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
        if (s->stopping) { /* the second time is meant */
            s->killing = true;
            continue;
        }
        s->stopping = true;
        s->kill_at_ms = al_mono_ms() + GRACE_MS;
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

static void supervise(struct supervisor *s)
{
    while (reap_all(s)) {
        struct pollfd p = {.fd = s->signal_fd, .events = POLLIN};
        if (poll(&p, 1, act(s)) > 0)
            hear(s);
        if (s->killing && s->refused_at_ms && al_mono_ms() - s->refused_at_ms > REFUSED_MS)
            return;
    }
}

int al_supervise_main(int argc, char **argv)
{
    struct supervisor s = {.signal_fd = -1, .pass_ms = PASS_MS_FIRST};
    int r = take_signals(&s);
    prctl(PR_SET_NAME, "alisio-super", 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (r == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        r = -errno;
    if (r == 0)
        r = al_fd_cloexec(STATUS_FD);
    if (r == 0 && !parse(argc, argv, &s))
        r = -EINVAL;
    if (r == 0)
        r = start(&s);
    if (r < 0)
        report(-r, -1, 0);
    let_go_of_output();
    if (r == 0)
        supervise(&s);
    /* No return: exit handlers of the host program have no business here. */
    _exit(r < 0 ? 1 : 0);
}
