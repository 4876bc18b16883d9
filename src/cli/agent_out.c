#include "cli/agent_out.h"

#include "base/ident.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20) /* so that the longest line fits into an empty pipe */

static void on_ready(void *ud, int events);

static void unwatch(struct al_out *o)
{
    al_watch_stop(o->watch);
    o->watch = NULL;
}

/* Only the hang-up of a reader counts while nothing waits to be written. */
static void watch_for(struct al_out *o, bool write)
{
    struct al_err err;
    if (o->finished || o->file || (o->watch && o->watching_write == write))
        return;
    unwatch(o);
    o->watching_write = write;
    o->watch = al_watch_start(o->loop, o->fd, write ? AL_WRITABLE : AL_HANGUP, on_ready, o, &err);
}

static void give_up(struct al_out *o, int eno)
{
    if (o->finished)
        return;
    o->finished = true;
    o->eno = eno;
    o->empty = true;
    al_buf_clear(&o->queue);
    o->at = 0;
    unwatch(o);
    if (o->on_gone)
        o->on_gone(o->ud);
}

/* A description of our own, which does not wait: the flag of the one that we were given is shared with
 * others. */
static void open_own(struct al_out *o)
{
    struct stat st;
    o->fd = STDOUT_FILENO;
    o->file = true;
    if (fstat(STDOUT_FILENO, &st) < 0)
        return;
    o->socket = S_ISSOCK(st.st_mode);
    if (o->socket) {
        o->file = false;
        return;
    }
    if (!S_ISFIFO(st.st_mode) && !al_fd_is_tty(STDOUT_FILENO))
        return;
    int fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (S_ISFIFO(st.st_mode))
        (void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
    o->fd = fd;
    o->own = true;
    o->file = false;
}

void al_out_init(struct al_out *o, struct al_loop *loop, void (*on_gone)(void *ud), void *ud)
{
    *o = (struct al_out){.loop = loop, .on_gone = on_gone, .ud = ud};
    al_buf_init(&o->queue, AL_OUT_QUEUE_MAX);
    open_own(o);
    watch_for(o, false);
}

static ssize_t write_some(struct al_out *o, struct al_str s)
{
    for (;;) {
        ssize_t n = o->socket ? send(o->fd, s.p, s.n, MSG_DONTWAIT | MSG_NOSIGNAL) : write(o->fd, s.p, s.n);
        if (n >= 0 || errno != EINTR)
            return n;
    }
}

/* Bytes that were taken; on an error that is none of waiting the end of it all. */
static size_t offer(struct al_out *o, struct al_str s)
{
    size_t done = 0;
    while (done < s.n && !o->finished) {
        ssize_t n = write_some(o, (struct al_str){s.p + done, s.n - done});
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n < 0) {
            give_up(o, errno);
            break;
        }
        done += (size_t)n;
        o->taken_ms = al_mono_ms();
    }
    return done;
}

static void on_ready(void *ud, int events)
{
    struct al_out *o = ud;
    if (!o->queue.n) {
        if (events & AL_HANGUP)
            give_up(o, EPIPE);
        return;
    }
    size_t n = offer(o, (struct al_str){o->queue.p + o->at, o->queue.n - o->at});
    if (o->finished)
        return;
    o->at += n;
    if (o->at > PIPE_BYTES && o->at > o->queue.n / 2) {
        al_buf_drop(&o->queue, o->at);
        o->at = 0;
    }
    if (o->at == o->queue.n) {
        al_buf_clear(&o->queue);
        o->at = 0;
        o->empty = true;
        watch_for(o, false);
    }
}

void al_out_write(struct al_out *o, struct al_str s, bool spare)
{
    if (o->finished || s.n == 0)
        return;
    size_t n = o->queue.n ? 0 : offer(o, s);
    if (o->finished || n == s.n)
        return;
    if (spare && n == 0 && o->queue.n - o->at > AL_OUT_QUEUE_SOFT) {
        o->left_out = true;
        return;
    }
    if (!o->queue.n)
        o->taken_ms = al_mono_ms();
    al_buf_add(&o->queue, s.p + n, s.n - n);
    if (al_buf_failed(&o->queue))
        give_up(o, ETIMEDOUT);
    else
        watch_for(o, true);
}

int al_out_finish(struct al_out *o)
{
    while (o->queue.n && !o->finished) {
        o->empty = false;
        (void)al_loop_run_until(o->loop, &o->empty, AL_OUT_PATIENCE_MS / 10);
        if (o->queue.n && al_mono_ms() - o->taken_ms > AL_OUT_PATIENCE_MS)
            give_up(o, ETIMEDOUT);
    }
    unwatch(o);
    o->finished = true;
    if (o->own)
        al_close(&o->fd);
    al_buf_free(&o->queue);
    return o->eno;
}
