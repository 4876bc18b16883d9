#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/guest_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Three processes: the outer one, which the rest of the world waits for; the first of the namespace, which
 * reaps; and its child, which becomes the program. The kernel gives the first one no signal that it did not
 * ask for, so the program cannot kill it, and ends the namespace with it.
 */
enum word {
    WORD_READY = 1,
    WORD_FAILED,
    WORD_ENDED
};

struct message {
    int32_t word;
    int32_t value; /* FAILED: errno; ENDED: as waitpid(2) gave it */
};

struct pipes {
    int said[2];  /* from the first process of the namespace to the outer one */
    int alive[2]; /* nothing is ever written: at its end, the outer one has gone */
};

static void say(int fd, enum word word, int value)
{
    struct message m = {word, value};
    (void)al_fd_write_all(fd, (struct al_str){(const char *)&m, sizeof(m)});
}

static bool hear(int fd, struct message *ret)
{
    ssize_t n;
    do {
        n = read(fd, ret, sizeof(*ret));
    } while (n < 0 && errno == EINTR);
    return n == sizeof(*ret);
}

/* Whoever waits only keeps nothing open: what comes out of the program ends with the program. *keep
 * becomes 3. */
static void let_go(int *keep)
{
    autofd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (*keep != 3 && dup2(*keep, 3) == 3)
        *keep = 3;
    null = -1; /* closed with the rest */
    if (syscall(SYS_close_range, (unsigned)*keep + 1, ~0u, 0) == 0)
        return;
    struct rlimit r = {.rlim_cur = 1024};
    getrlimit(RLIMIT_NOFILE, &r);
    for (int fd = *keep + 1; fd < (int)(r.rlim_cur > 65536 ? 65536 : r.rlim_cur); fd++)
        close(fd);
}

static int write_text(const char *path, const char *text)
{
    autofd int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : al_fd_write_all(fd, al_str_of(text));
}

/* In a user namespace of our own we are who we were, and nobody else is anybody. */
static int map_ourselves(uid_t uid, gid_t gid)
{
    char line[64];
    int r = write_text("/proc/self/setgroups", "deny");
    snprintf(line, sizeof(line), "%u %u 1\n", uid, uid);
    if (r == 0)
        r = write_text("/proc/self/uid_map", line);
    snprintf(line, sizeof(line), "%u %u 1\n", gid, gid);
    return r < 0 ? r : write_text("/proc/self/gid_map", line);
}

/* --- the first process of the namespace --- */

/* Only our end ends the namespace: in every case we come to one. */
static void reap_until(pid_t program, int said)
{
    for (;;) {
        int st;
        pid_t pid = waitpid(-1, &st, __WALL);
        if (pid == program) {
            say(said, WORD_ENDED, st);
            _exit(0);
        }
        if (pid < 0 && errno != EINTR)
            _exit(1);
    }
}

/* Returns only in the program's process. */
static void be_first(struct pipes *p, uint64_t flags, uid_t uid, gid_t gid, const sigset_t *mask)
{
    struct pollfd outer = {.fd = p->alive[0]};
    al_close(&p->alive[1]);
    al_close(&p->said[0]);
    int r = flags & CLONE_NEWUSER ? map_ourselves(uid, gid) : 0;
    /* After the maps: a process whose capabilities grow loses its death signal. And had the outer one died
     * before, no signal would ever come. */
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (poll(&outer, 1, 0) != 0)
        _exit(1);
    if (r < 0) {
        say(p->said[1], WORD_FAILED, -r);
        _exit(1);
    }
    pid_t pid = al_fork(SIGKILL);
    if (pid == 0) {
        al_close(&p->alive[0]);
        al_close(&p->said[1]);
        sigprocmask(SIG_SETMASK, mask, NULL);
        return;
    }
    if (pid < 0) {
        say(p->said[1], WORD_FAILED, -pid);
        _exit(1);
    }
    say(p->said[1], WORD_READY, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* not before the fork: nobody could look into /proc/self there */
    let_go(&p->said[1]);
    reap_until(pid, p->said[1]);
}

/* --- the outer one --- */

static void reap(pid_t pid)
{
    int st;
    while (waitpid(pid, &st, __WALL) < 0 && errno == EINTR)
        ;
}

static void end_as(int status)
{
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    sigset_t none;
    struct rlimit no_core = {0, 0};
    sigemptyset(&none);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status)); /* not reached, but by signals that this kernel does not deliver */
}

static void wait_for_the_end(pid_t first, struct pipes *p)
{
    struct message m = {0};
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    let_go(&p->said[0]); /* our sign of life too: the first one has its death signal by now */
    bool ended = hear(p->said[0], &m) && m.word == WORD_ENDED;
    reap(first); /* comes when the whole namespace has gone */
    end_as(ended ? m.value : SIGKILL);
}

static int enter(uint64_t flags, uid_t uid, gid_t gid)
{
    struct pipes p = {{-1, -1}, {-1, -1}};
    struct message m = {0};
    sigset_t all, mask;
    if (pipe2(p.said, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(p.alive, O_CLOEXEC) < 0) {
        int r = -errno;
        al_close(&p.said[0]);
        al_close(&p.said[1]);
        return r;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    long pid = al_clone(flags, NULL);
    if (pid == 0) {
        be_first(&p, flags, uid, gid, &mask);
        return 1;
    }
    al_close(&p.alive[0]);
    al_close(&p.said[1]);
    if (pid > 0) {
        bool ready = hear(p.said[0], &m) && m.word == WORD_READY;
        if (ready)
            wait_for_the_end((pid_t)pid, &p);
        reap((pid_t)pid);
        pid = m.word == WORD_FAILED ? -m.value : -ECHILD;
    }
    al_close(&p.alive[1]);
    al_close(&p.said[0]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return (int)pid;
}

int al_guest_enter_pid_ns(const struct al_guest *g)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (g->pid_ns == AL_GUEST_NO)
        return 0;
    int r = enter(CLONE_NEWPID, uid, gid);
    /* With one user only in its map, nobody can become another one there. */
    if (r == -EPERM && g->uid == 0)
        r = enter(CLONE_NEWPID | CLONE_NEWUSER, uid, gid);
    return r < 0 && g->pid_ns == AL_GUEST_TRY ? 0 : r;
}
