/* Readiness of descriptors. */
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/loop_int.h"
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct al_watch {
    uv_poll_t uv;
    void (*fn)(void *ud, int events);
    void *ud;
    int events;
    int own_fd; /* a copy, when another watch has the number already; else -1 */
    bool stopped;
};

static void watch_closed(uv_handle_t *h)
{
    free(h->data);
}

static int to_uv(int events)
{
    return (events & AL_READABLE ? UV_READABLE : 0) | (events & AL_WRITABLE ? UV_WRITABLE : 0) |
           (events & AL_HANGUP ? UV_DISCONNECT : 0);
}

static void watch_ready(uv_poll_t *h, int status, int uv_events)
{
    struct al_watch *w = h->data;
    if (w->stopped)
        return;
    int events = (uv_events & UV_READABLE ? AL_READABLE : 0) | (uv_events & UV_WRITABLE ? AL_WRITABLE : 0) |
                 (uv_events & UV_DISCONNECT ? AL_HANGUP : 0);
    if (status < 0) {
        /* An error of the descriptor, as of a pipe without reader. libuv has stopped: level-triggered goes
         * on, and the owner meets the error in its next read or write. */
        events = w->events | AL_HANGUP;
        uv_poll_start(h, to_uv(w->events), watch_ready);
    }
    if (events)
        w->fn(w->ud, events);
}

/* libuv makes what it polls non-blocking, also for all others who share a terminal with us. It is not ours to
 * change. */
static int poll_init(uv_loop_t *uv, uv_poll_t *h, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    int r = uv_poll_init(uv, h, fd);
    if (!(flags & O_NONBLOCK))
        (void)fcntl(fd, F_SETFL, flags);
    return r;
}

int al_watch_open(struct al_loop *loop, int fd, int events, void (*fn)(void *ud, int events), void *ud,
                  struct al_watch **ret)
{
    struct al_watch *w = al_xcalloc(1, sizeof(*w));
    w->own_fd = -1;
    int r = poll_init(&loop->uv, &w->uv, fd);
    if (r == UV_EEXIST) {
        w->own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        r = w->own_fd < 0 ? -errno : poll_init(&loop->uv, &w->uv, w->own_fd);
    }
    if (r < 0) {
        al_close(&w->own_fd);
        free(w);
        return r;
    }
    w->uv.data = w;
    w->fn = fn;
    w->ud = ud;
    w->events = events;
    uv_poll_start(&w->uv, to_uv(events), watch_ready);
    *ret = w;
    return 0;
}

struct al_watch *al_watch_start(struct al_loop *loop, int fd, int events, void (*fn)(void *ud, int events),
                                void *ud, struct al_err *err)
{
    struct al_watch *w = NULL;
    int r = al_watch_open(loop, fd, events, fn, ud, &w);
    if (r < 0)
        al_fail_errno(err, AL_INTERNAL, -r, "cannot wait for a descriptor");
    return w;
}

void al_watch_stop(struct al_watch *w)
{
    if (!w || w->stopped)
        return;
    w->stopped = true;
    uv_close((uv_handle_t *)&w->uv, watch_closed); /* takes the descriptor out of epoll at once */
    al_close(&w->own_fd);
}
