/*
 * The life of an HTTP server. The library is entered from one place only (drive), never from a callback of
 * its own or from what a caller calls: those leave a note (al_httpd.wakes), and the next turn acts on it.
 */
#include "http/server.h"
#include "base/ident.h"
#include "base/mem.h"
#include "http/server_int.h"
#include "os/fd.h"

#include <unistd.h>

#define DEFAULT_HEAD (32u * 1024)
#define DEFAULT_CONNECTIONS 256
#define DEFAULT_IDLE_S 60
#define DEFAULT_STRANGER_MS 10000
#define LAST_RUNS 3

static void drive(struct al_httpd *d);

static void on_timer(void *ud)
{
    struct al_httpd *d = ud;
    d->timer = NULL;
    d->timer_due_ms = UINT64_MAX;
    drive(d);
}

static void on_ready(void *ud, int events)
{
    (void)events;
    drive(ud);
}

/* A timer that fires too early only looks and sleeps again, so one that stands is kept. */
static void arm(struct al_httpd *d, uint64_t in_ms)
{
    uint64_t due = al_mono_ms() + in_ms;
    if (d->timer && d->timer_due_ms <= due)
        return;
    al_timer_stop(d->timer);
    d->timer_due_ms = due;
    d->timer = al_timer_start(d->loop, in_ms, on_timer, d);
}

void al_httpd_soon(struct al_httpd *d)
{
    if (!d->running && !d->stopping)
        arm(d, 0);
}

static void finish(struct al_httpd *d);

static void resume_woken(struct al_httpd *d)
{
    while (d->wakes) {
        struct al_httpd_request *r = d->wakes;
        d->wakes = r->next_wake;
        r->waking = false;
        if (r->suspended) {
            r->suspended = false;
            d->mhd->resume_connection(r->connection);
        }
    }
}

static void drive(struct al_httpd *d)
{
    if (d->running || d->stopping)
        return;
    d->running = true;
    resume_woken(d);
    d->mhd->run(d->daemon);
    d->running = false;
    if (d->stopping) {
        finish(d);
        return;
    }
    MHD_UNSIGNED_LONG_LONG in_ms;
    if (d->wakes)
        arm(d, 0);
    else if (d->mhd->get_timeout(d->daemon, &in_ms) == MHD_YES)
        arm(d, in_ms);
}

/* From a later turn of the loop, or at once: nothing of the library is on the stack. */
static void finish(struct al_httpd *d)
{
    al_watch_stop(d->watch);
    al_timer_stop(d->timer);
    /* The library ends the process when it is stopped with suspended connections. */
    for (struct al_httpd_request *r = d->all; r; r = r->next) {
        if (r->suspended)
            d->mhd->resume_connection(r->connection);
        r->suspended = false;
    }
    /* What was answered goes out, if it can without waiting. */
    d->running = true;
    for (int i = 0; i < LAST_RUNS; i++)
        d->mhd->run(d->daemon);
    d->mhd->stop_daemon(d->daemon);
    al_timer_stop(d->late);
    if (d->socket_path)
        (void)unlink(d->socket_path);
    free(d->socket_path);
    free(d);
}

static struct MHD_Daemon *start_daemon(struct al_httpd *d, const struct al_httpd_opts *o, int fd)
{
    size_t head = o->max_head ? o->max_head : DEFAULT_HEAD;
    unsigned idle_s = o->idle_s ? o->idle_s : DEFAULT_IDLE_S;
    return d->mhd->start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL, al_httpd_on_request, d,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, head, MHD_OPTION_CONNECTION_LIMIT,
        d->max_connections, MHD_OPTION_CONNECTION_TIMEOUT, idle_s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, al_httpd_on_completed, d, MHD_OPTION_NOTIFY_CONNECTION,
        al_httpd_on_connection, d, MHD_OPTION_END);
}

struct al_httpd *al_httpd_start(struct al_loop *loop, const struct al_httpd_opts *o,
                                const struct al_httpd_ops *ops, void *ud, struct al_err *err)
{
    const struct al_mhd *mhd = al_mhd_load(err);
    if (!mhd)
        return NULL;
    int port = -1;
    int fd =
        o->socket_path ? al_httpd_listen_unix(o->socket_path, err) : al_httpd_listen_tcp(o->port, &port, err);
    if (fd < 0)
        return NULL;
    struct al_httpd *d = al_xcalloc(1, sizeof *d);
    *d = (struct al_httpd){.loop = loop,
                           .mhd = mhd,
                           .ops = ops,
                           .ud = ud,
                           .max_body = o->max_body,
                           .max_bodies = o->max_bodies ? o->max_bodies : SIZE_MAX,
                           .max_connections = o->max_connections ? o->max_connections : DEFAULT_CONNECTIONS,
                           .max_strangers = o->max_strangers,
                           .stranger_ms = o->stranger_ms ? o->stranger_ms : DEFAULT_STRANGER_MS,
                           .port = port,
                           .socket_path = o->socket_path ? al_xstrdup(o->socket_path) : NULL,
                           .timer_due_ms = UINT64_MAX};
    d->daemon = start_daemon(d, o, fd); /* takes fd, also when it fails */
    if (!d->daemon) {
        al_fail(err, AL_INTERNAL, "the HTTP server does not start");
        free(d->socket_path);
        free(d);
        return NULL;
    }
    const union MHD_DaemonInfo *info = mhd->get_daemon_info(d->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    d->watch = al_watch_start(loop, info->epoll_fd, AL_READABLE, on_ready, d, err);
    if (!d->watch) {
        finish(d);
        return NULL;
    }
    return d;
}

int al_httpd_port(const struct al_httpd *d)
{
    return d->port;
}

size_t al_httpd_queued(const struct al_httpd *d)
{
    return d->queued;
}

void al_httpd_stop(struct al_httpd *d)
{
    if (!d || d->stopping)
        return;
    d->stopping = true;
    if (!d->running)
        finish(d);
}
