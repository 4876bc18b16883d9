#include "data/worker.h"
#include "base/ident.h"
#include "os/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_CHUNK ((size_t)64 << 10)
#define TURN_NS ((uint64_t)2000000) /* of a loop's turn, for what one worker says */
#define OUT_MAX (((size_t)2 << 20) + AL_DATA_PARAMS_MAX)

static void channel_ready(void *ud, int events);
static void pump(struct al_worker *w);

/* -- what counts */

static bool counts(const struct al_worker *w)
{
    return w->cause == AL_CAUSE_NONE && !w->ended;
}

static void watch_channel(struct al_worker *w)
{
    bool write = w->out.n > w->out_at;
    bool read = counts(w) && !w->paused;
    al_watch_stop(w->channel_watch);
    w->channel_watch = NULL;
    if (w->gone || w->channel < 0 || (!read && !write))
        return;
    w->channel_watch = al_watch_start(
        w->loop, w->channel, (read ? AL_READABLE : 0) | (write ? AL_WRITABLE : 0), channel_ready, w, NULL);
    if (!w->channel_watch)
        al_worker_kill(w, AL_CAUSE_NO_START, "cannot wait for its process");
}

static void end_watch(struct al_worker *w)
{
    al_watch_stop(w->channel_watch);
    w->channel_watch = NULL;
}

static void another_turn(void *ud)
{
    struct al_worker *w = ud;
    w->turn = NULL;
    pump(w);
}

static void in_another_turn(struct al_worker *w)
{
    if (!w->turn)
        w->turn = al_timer_start(w->loop, 0, another_turn, w);
}

/* -- to the worker */

static void flush(struct al_worker *w)
{
    bool had = w->out.n > w->out_at;
    while (w->out.n > w->out_at) {
        ssize_t n = send(w->channel, w->out.p + w->out_at, w->out.n - w->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) /* it has gone: its exit says so */
            break;
        w->sent += (uint64_t)n;
        w->out_at += (size_t)n;
    }
    al_buf_free(&w->out);
    w->out_at = 0;
    if (had && w->sent_all)
        w->sent_all(w->ud);
}

void al_worker_send(struct al_worker *w, struct al_str bytes)
{
    al_buf_add_str(&w->out, bytes);
    if (al_buf_failed(&w->out)) {
        al_worker_kill(w, AL_CAUSE_NO_START, "more than can be sent to it");
        return;
    }
    flush(w);
    if (w->channel_watch || w->out.n > w->out_at)
        watch_channel(w);
}

/* -- from the worker */

/* Gives out the frames that are there. */
static void take_frames(struct al_worker *w)
{
    struct al_err err = {0};
    struct al_frame f;
    while (counts(w) && !w->paused) {
        int r = al_frames_next(&w->in, &f, &err);
        if (r == 0)
            return;
        if (r < 0)
            al_worker_lie(w, err.msg);
        else
            w->frame(w->ud, &f);
    }
}

/* One read; 0 when nothing is left, now or ever. */
static size_t read_once(struct al_worker *w)
{
    struct al_err err = {0};
    char chunk[READ_CHUNK];
    ssize_t n;
    do {
        n = recv(w->channel, chunk, sizeof chunk, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            end_watch(w);
        return 0;
    }
    al_close(&w->child_channel);
    if (al_frames_feed(&w->in, (struct al_str){chunk, (size_t)n}, &err) < 0)
        al_worker_lie(w, err.msg);
    return (size_t)n;
}

/* Reads and gives out until nothing more is there (true), or the turn is up. */
static bool read_some(struct al_worker *w)
{
    uint64_t until_ns = al_mono_ns() + TURN_NS;
    take_frames(w);
    while (counts(w) && !w->paused) {
        size_t n = read_once(w);
        take_frames(w);
        if (n == 0)
            return true;
        if (al_mono_ns() >= until_ns)
            return false;
    }
    return true;
}

/* What it said, then its end: the process may be gone long before its last words are read. */
static void pump(struct al_worker *w)
{
    bool all = read_some(w);
    if (w->gone && !all) {
        in_another_turn(w);
        return;
    }
    if (!w->gone) {
        if (!counts(w))
            end_watch(w);
        else if (!w->channel_watch)
            watch_channel(w);
        return;
    }
    if (w->told || (w->paused && counts(w)))
        return;
    w->told = true;
    w->over(w->ud);
}

static void channel_ready(void *ud, int events)
{
    struct al_worker *w = ud;
    if (events & AL_WRITABLE) {
        flush(w);
        watch_channel(w);
    }
    pump(w);
}

static void exited(void *ud, int events)
{
    struct al_worker *w = ud;
    (void)events;
    if (al_reap(w->pidfd, false, &w->how) == 0)
        return;
    al_watch_stop(w->exit_watch);
    w->exit_watch = NULL;
    end_watch(w);
    al_close(&w->pidfd);
    w->gone = true;
    pump(w);
}

/* -- the process */

int al_worker_open(struct al_worker *w, struct al_loop *loop, struct al_err *err)
{
    int pair[2];
    *w = (struct al_worker){.loop = loop, .pidfd = -1, .channel = -1, .child_channel = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "cannot make a channel for a process");
    w->channel = pair[0];
    w->child_channel = pair[1];
    al_frames_init(&w->in, AL_DATA_MAX_JSON);
    al_buf_init(&w->out, OUT_MAX);
    return 0;
}

int al_worker_begin(struct al_worker *w, pid_t pid, int pidfd, struct al_err *err)
{
    w->pid = pid;
    w->pidfd = pidfd;
    w->exit_watch = al_watch_start(w->loop, pidfd, AL_READABLE, exited, w, err);
    if (!w->exit_watch)
        return -1;
    if (!counts(w))
        al_pidfd_kill(pidfd, SIGKILL);
    watch_channel(w);
    return 0;
}

void al_worker_forget_process(struct al_worker *w)
{
    end_watch(w);
    al_watch_stop(w->exit_watch);
    w->exit_watch = NULL;
    al_close(&w->pidfd);
    w->pid = 0;
    w->gone = w->told = false;
    w->how = (struct al_exit){0};
}

void al_worker_ended(struct al_worker *w)
{
    w->ended = true;
    if (w->pidfd >= 0)
        al_pidfd_kill(w->pidfd, SIGKILL);
}

void al_worker_kill(struct al_worker *w, enum al_cause cause, const char *why)
{
    if (!counts(w))
        return;
    w->cause = cause;
    snprintf(w->why, sizeof w->why, "%s", why);
    if (w->pidfd >= 0)
        al_pidfd_kill(w->pidfd, SIGKILL);
    if (w->gone) /* it waited for its reader */
        in_another_turn(w);
}

int al_worker_lie(struct al_worker *w, const char *what)
{
    al_worker_kill(w, AL_CAUSE_LIE, what);
    return -1;
}

void al_worker_pause(struct al_worker *w)
{
    w->paused = true;
    end_watch(w);
}

void al_worker_resume(struct al_worker *w)
{
    if (!w->paused)
        return;
    w->paused = false;
    in_another_turn(w);
}

bool al_worker_read_nothing(struct al_worker *w)
{
    int unread = -1;
    return counts(w) && w->child_channel >= 0 && ioctl(w->child_channel, FIONREAD, &unread) == 0 &&
           unread >= 0 && (uint64_t)unread == w->sent;
}

void al_worker_close(struct al_worker *w)
{
    al_timer_stop(w->turn);
    w->turn = NULL;
    end_watch(w);
    al_watch_stop(w->exit_watch);
    w->exit_watch = NULL;
    if (w->pidfd >= 0) {
        al_pidfd_kill(w->pidfd, SIGKILL);
        (void)al_reap(w->pidfd, true, &w->how);
    }
    al_close(&w->pidfd);
    al_close(&w->channel);
    al_close(&w->child_channel);
    al_frames_free(&w->in);
    al_buf_free(&w->out);
}

/* -- the end, in words */

static void died(const struct al_worker *w, const char *what, struct al_err *ret)
{
    if (w->how.exited && w->how.status == AL_DATA_EXIT_MEMORY) {
        al_fail(ret, AL_MEMORY_LIMIT, "%s needed more memory than its process may have", what);
    } else if (!w->how.exited && w->how.signal == SIGSYS) {
        al_fail(ret, AL_ENGINE_CRASHED,
                "the process of %s made a system call that it may not make, and was killed", what);
        al_hint(ret, "alisio doctor");
        al_detail(ret, "security: a refused system call");
    } else if (!w->how.exited) {
        al_fail(ret, AL_ENGINE_CRASHED, "the process of %s was killed by signal %d", what, w->how.signal);
        al_hint(ret, "try again; alisio doctor");
    } else {
        al_fail(ret, AL_ENGINE_CRASHED, "the process of %s ended without a result (status %d)", what,
                w->how.status);
        al_hint(ret, "try again; alisio doctor");
    }
}

void al_worker_why(const struct al_worker *w, const char *what, struct al_err *ret)
{
    al_err_clear(ret);
    switch (w->cause) {
    case AL_CAUSE_TIMEOUT:
        al_fail(ret, AL_TIMEOUT, "%s took longer than it may", what);
        break;
    case AL_CAUSE_CANCELLED:
        al_fail(ret, AL_CANCELLED, "%s was cancelled", what);
        break;
    case AL_CAUSE_LIE:
        al_fail(ret, AL_ENGINE_CRASHED, "the process of %s broke its protocol: %s", what, w->why);
        al_hint(ret, "alisio doctor");
        break;
    case AL_CAUSE_NO_START:
        al_fail(ret, AL_ENGINE_UNAVAILABLE, "the process of %s does not start: %s", what, w->why);
        al_hint(ret, "alisio doctor");
        break;
    case AL_CAUSE_NONE:
        if (!w->ended)
            died(w, what, ret);
    }
}
