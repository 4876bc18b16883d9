#include "loop/stream.h"
#include "base/mem.h"
#include "loop/loop_int.h"
#include "loop/stream_int.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define READS_PER_TURN 16
/* A pipe that is ready takes that much without blocking. */
#define PIPE_ATOM 4096

void al_stream_hold(struct al_stream *s)
{
    s->refs++;
}

void al_stream_release(struct al_stream *s)
{
    if (--s->refs > 0)
        return;
    al_close(&s->read_fd);
    al_close(&s->write_fd);
    al_close(&s->write_orig);
    al_buf_free(&s->queue);
    al_buf_free(&s->flying);
    free(s->chunk);
    free(s);
}

void al_stream_drop(void *ud)
{
    al_stream_release(ud);
}

static void stop_reading(struct al_stream *s)
{
    al_watch_stop(s->read_watch);
    al_watch_stop(s->hangup_watch);
    s->read_watch = s->hangup_watch = NULL;
}

static void stop_writing(struct al_stream *s)
{
    al_watch_stop(s->write_watch);
    s->write_watch = NULL;
}

void al_stream_deliver(struct al_stream *s, const char *p, ssize_t n)
{
    if (n > 0) {
        s->ops->data(s->ud, (struct al_str){p, (size_t)n});
        return;
    }
    s->read_done = true;
    stop_reading(s);
    if (s->ended)
        return;
    s->ended = true;
    s->ops->end(s->ud, (int)n);
}

static ssize_t read_once(struct al_stream *s, char *p, size_t n)
{
    ssize_t r;
    do {
        r = s->read_socket ? recv(s->read_fd, p, n, MSG_DONTWAIT) : read(s->read_fd, p, n);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

static void readable(void *ud, int events)
{
    struct al_stream *s = ud;
    char chunk[AL_STREAM_CHUNK];
    (void)events;
    al_stream_hold(s);
    /* Where a second read could block, readiness is asked for again before each. */
    int turns = s->read_socket || s->read_nonblock ? READS_PER_TURN : 1;
    for (int i = 0; i < turns && !s->freed && s->read_watch; i++) {
        ssize_t n = read_once(s, chunk, sizeof(chunk));
        if (n == -EAGAIN)
            break;
        al_stream_deliver(s, chunk, n);
        if (n > 0 && n < AL_STREAM_CHUNK)
            break; /* most likely empty now; if not, we are called again */
    }
    al_stream_release(s);
}

static int start_reading(struct al_stream *s)
{
    if (s->read_fd < 0 || s->read_done || s->paused || s->read_watch)
        return 0;
    int r = al_watch_open(s->loop, s->read_fd, AL_READABLE, readable, s, &s->read_watch);
    if (r == -EPERM) {
        s->read_file = true;
        al_stream_file_read(s);
        r = 0;
    }
    return r;
}

static void hung_up(void *ud, int events)
{
    struct al_stream *s = ud;
    (void)events;
    stop_reading(s);
    s->hung_up = true;
    s->ops->hangup(s->ud);
}

/* A descriptor that cannot be watched for it is one whose end is found by reading alone. */
static void watch_hangup(struct al_stream *s)
{
    if (s->ops->hangup && !s->hung_up && s->read_fd >= 0 && !s->read_done && !s->read_file &&
        !s->hangup_watch && al_watch_open(s->loop, s->read_fd, AL_HANGUP, hung_up, s, &s->hangup_watch) < 0)
        s->hangup_watch = NULL;
}

static void report_error(void *ud)
{
    struct al_stream *s = ud;
    if (!s->freed && !s->ended) {
        s->ended = true;
        s->ops->end(s->ud, s->error);
    }
    if (!s->freed && s->want_drained) { /* whoever waits for the queue must not wait for ever */
        s->want_drained = false;
        if (s->ops->drained)
            s->ops->drained(s->ud);
    }
    al_stream_release(s);
}

/* Told in a later turn: al_stream_write fails in the middle of what the owner is doing. */
void al_stream_write_error(struct al_stream *s, int error)
{
    if (s->write_failed)
        return;
    s->write_failed = true;
    s->error = error;
    al_buf_free(&s->queue);
    s->sent = 0;
    stop_writing(s);
    al_stream_hold(s);
    al_defer_or_drop(s->loop, report_error, al_stream_drop, s);
}

static void finish_write(struct al_stream *s)
{
    if (s->write_flying || s->write_fd < 0)
        return;
    stop_writing(s);
    if (s->write_socket)
        shutdown(s->write_fd, SHUT_WR);
    al_close(&s->write_fd);
    al_close(&s->write_orig);
}

void al_stream_written(struct al_stream *s)
{
    stop_writing(s);
    if (s->write_closing)
        finish_write(s);
    if (!s->want_drained)
        return;
    s->want_drained = false;
    if (s->ops->drained)
        s->ops->drained(s->ud);
}

/* As many bytes as go without blocking; -errno. */
static ssize_t write_once(struct al_stream *s, struct al_str b)
{
    ssize_t r;
    if (!s->write_socket && !s->write_nonblock) {
        struct pollfd p = {.fd = s->write_fd, .events = POLLOUT};
        if (poll(&p, 1, 0) <= 0)
            return -EAGAIN;
        if (b.n > PIPE_ATOM)
            b.n = PIPE_ATOM;
    }
    do {
        r = s->write_socket ? send(s->write_fd, b.p, b.n, MSG_DONTWAIT | MSG_NOSIGNAL)
                            : write(s->write_fd, b.p, b.n);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r;
}

static void writable(void *ud, int events)
{
    struct al_stream *s = ud;
    (void)events;
    al_stream_hold(s);
    while (!s->freed && !s->write_failed && s->queue.n > s->sent) {
        ssize_t n = write_once(s, (struct al_str){s->queue.p + s->sent, s->queue.n - s->sent});
        if (n == -EAGAIN)
            break;
        if (n < 0)
            al_stream_write_error(s, (int)n);
        else
            s->sent += (size_t)n;
    }
    if (!s->freed && !s->write_failed && s->queue.n == s->sent) {
        al_buf_free(&s->queue);
        s->sent = 0;
        al_stream_written(s);
    }
    al_stream_release(s);
}

static int enqueue(struct al_stream *s, struct al_str bytes)
{
    if (s->sent > 0 && s->sent >= s->queue.n / 2) {
        al_buf_drop(&s->queue, s->sent);
        s->sent = 0;
    }
    s->queue.max = s->sent + bytes.n + s->queue.n; /* the limit of what waits was checked already */
    al_buf_add_str(&s->queue, bytes);
    s->want_drained = true;
    if (s->write_file) {
        al_stream_file_write(s);
        return 0;
    }
    if (s->write_watch)
        return 0;
    int r = al_watch_open(s->loop, s->write_fd, AL_WRITABLE, writable, s, &s->write_watch);
    if (r < 0)
        al_stream_write_error(s, r);
    return r < 0 ? -1 : 0;
}

int al_stream_write(struct al_stream *s, struct al_str bytes)
{
    size_t queued = al_stream_queued(s);
    if (s->write_fd < 0 || s->write_failed || s->write_closing)
        return -1;
    if (bytes.n > s->queue_max || queued > s->queue_max - bytes.n)
        return -1;
    while (queued == 0 && !s->write_file && bytes.n > 0) {
        ssize_t n = write_once(s, bytes);
        if (n == -EAGAIN)
            break;
        if (n < 0) {
            al_stream_write_error(s, (int)n);
            return -1;
        }
        bytes.p += n;
        bytes.n -= (size_t)n;
    }
    return bytes.n > 0 ? enqueue(s, bytes) : 0;
}

size_t al_stream_queued(const struct al_stream *s)
{
    return s->queue.n - s->sent + s->flying.n;
}

void al_stream_pause(struct al_stream *s)
{
    if (s->paused)
        return;
    s->paused = true;
    stop_reading(s);
    watch_hangup(s);
}

void al_stream_resume(struct al_stream *s)
{
    if (!s->paused)
        return;
    s->paused = false;
    stop_reading(s);
    if (s->read_file)
        al_stream_file_resume(s);
    else if (start_reading(s) < 0)
        al_stream_write_error(s, -EBADF);
}

void al_stream_close_write(struct al_stream *s)
{
    s->write_closing = true;
    if (al_stream_queued(s) == 0)
        finish_write(s);
}

void al_stream_free(struct al_stream *s)
{
    if (!s || s->freed)
        return;
    s->freed = true;
    stop_reading(s);
    stop_writing(s);
    /* What the pool is using stays open until it comes back. */
    if (!s->read_flying)
        al_close(&s->read_fd);
    if (!s->write_flying) {
        al_close(&s->write_fd);
        al_close(&s->write_orig);
    }
    al_stream_release(s);
}

static bool is_nonblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK);
}

/*
 * A terminal or pipe that we were started with is shared with others: O_NONBLOCK would hit them too. A
 * description of our own comes from opening it anew; where that is refused, writing goes in small steps after
 * asking for readiness.
 */
static void own_description(struct al_stream *s)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", s->write_fd);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    s->write_orig = s->write_fd;
    s->write_fd = fd;
    s->write_nonblock = true;
}

static int init_write(struct al_stream *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    s->write_fd = fd;
    s->write_socket = S_ISSOCK(st.st_mode);
    s->write_nonblock = is_nonblock(fd);
    /* Waiting for it once tells whether epoll takes it. */
    int r = al_watch_open(s->loop, fd, AL_WRITABLE, writable, s, &s->write_watch);
    stop_writing(s);
    s->write_file = r == -EPERM;
    if (!s->write_file && !s->write_socket && !s->write_nonblock)
        own_description(s);
    return s->write_file ? 0 : r;
}

static int init_read(struct al_stream *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    s->read_fd = fd;
    s->read_socket = S_ISSOCK(st.st_mode);
    s->read_nonblock = is_nonblock(fd);
    return start_reading(s);
}

struct al_stream *al_stream_new(struct al_loop *loop, int read_fd, int write_fd, size_t max_queue,
                                const struct al_stream_ops *ops, void *ud, struct al_err *err)
{
    struct al_stream *s = al_xcalloc(1, sizeof(*s));
    s->loop = loop;
    s->ops = ops;
    s->ud = ud;
    s->refs = 1;
    s->read_fd = s->write_fd = s->write_orig = -1;
    s->held = AL_STREAM_NOTHING;
    s->queue_max = max_queue;
    int r = 0;
    int write_copy = -1;
    if (write_fd >= 0 && write_fd == read_fd) {
        write_copy = fcntl(write_fd, F_DUPFD_CLOEXEC, 3);
        r = write_copy < 0 ? -errno : 0;
        write_fd = write_copy;
    }
    if (r == 0 && write_fd >= 0)
        r = init_write(s, write_fd);
    if (r == 0 && read_fd >= 0)
        r = init_read(s, read_fd);
    if (r == 0)
        return s;
    /* The descriptors are still the caller's: only what was made here goes. */
    if (s->write_orig >= 0)
        al_close(&s->write_fd);
    s->read_fd = s->write_fd = s->write_orig = -1;
    al_close(&write_copy);
    al_stream_free(s);
    al_fail_errno(err, AL_INTERNAL, -r, "cannot use a descriptor as a stream");
    return NULL;
}
