/* The zygote, seen from the host, and the processes that are asked of it. */
#include "base/ident.h"
#include "base/mem.h"
#include "data/data_int.h"
#include "os/fd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* -- a process */

/* Which process it is, when the zygote that has forked it can no longer say so. 0: none. The page is the
 * process's to write: what is no child of ours is not taken for it. */
static int64_t pid_by_page(const struct al_query_proc *p)
{
    struct al_data_page page = {0};
    bool is_there = pread(p->page, &page, sizeof page, 0) == (ssize_t)sizeof page && page.pid > 0 &&
                    al_pid_is_child(page.pid);
    return is_there ? page.pid : 0;
}

static void on_frame(void *ud, const struct al_frame *f)
{
    struct al_query_proc *p = ud;
    if (p->job)
        al_query_proc_frame(p, f);
    else
        al_worker_lie(&p->w, "it spoke before it was asked");
}

static void on_over(void *ud)
{
    al_query_proc_over(ud);
}

static void on_sent(void *ud)
{
    al_query_proc_sent(ud);
}

void al_query_proc_free(struct al_query_proc *p)
{
    struct al_exit how;
    if (p->zygote) {
        /* Ask it to hurry: when it is dead, the page tells whether there is a process. */
        struct al_query_zygote *z = p->zygote;
        p->zygote = NULL;
        al_pidfd_kill(z->pidfd, SIGKILL);
        (void)al_reap(z->pidfd, true, &how);
        al_close(&z->pidfd);
        int64_t pid = pid_by_page(p);
        if (pid)
            p->w.pidfd = al_pidfd_open((pid_t)pid);
    }
    al_timer_stop(p->hang_timer);
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
    if (p->data->spare == p)
        p->data->spare = NULL;
    al_worker_close(&p->w);
    al_close(&p->page);
    free(p);
}

static struct al_query_proc *proc_new(struct al_data *d, struct al_err *err)
{
    struct al_query_proc *p = al_xcalloc(1, sizeof *p);
    p->data = d;
    if (al_worker_open(&p->w, d->loop, err) < 0) {
        free(p);
        return NULL;
    }
    p->w.frame = on_frame;
    p->w.over = on_over;
    p->w.sent_all = on_sent;
    p->w.ud = p;
    p->link = &d->procs;
    p->next = d->procs;
    if (p->next)
        p->next->link = &p->next;
    d->procs = p;
    p->page = al_fd_memory("query", sizeof(struct al_data_page));
    if (p->page < 0)
        al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -p->page, "cannot make a page for a process");
    if (p->page < 0 || al_query_proc_ask(p, err) < 0) {
        al_query_proc_free(p);
        return NULL;
    }
    return p;
}

struct al_query_proc *al_query_proc_get(struct al_data *d, struct al_err *err)
{
    struct al_query_proc *p = d->spare;
    d->spare = NULL;
    return p ? p : proc_new(d, err);
}

void al_data_spare_want(struct al_data *d)
{
    struct al_err told_by_the_query;
    if (!d->spare)
        d->spare = proc_new(d, &told_by_the_query);
}

static void zygote_hangs(void *ud)
{
    struct al_query_proc *p = ud;
    p->hang_timer = NULL;
    if (p->zygote && p->zygote->pidfd >= 0)
        al_pidfd_kill(p->zygote->pidfd, SIGKILL); /* its end of the control socket closes */
}

void al_query_proc_kill(struct al_query_proc *p, enum al_cause cause, const char *why)
{
    al_worker_kill(&p->w, cause, why);
}

static void cannot_start(struct al_query_proc *p, const char *why)
{
    al_worker_kill(&p->w, AL_CAUSE_NO_START, why);
    al_query_proc_over(p);
}

static void forked(struct al_query_proc *p, int64_t pid)
{
    struct al_err err = {0};
    char why[64];
    p->zygote = NULL;
    al_timer_stop(p->hang_timer);
    p->hang_timer = NULL;
    int fd = pid > 0 ? al_pidfd_open((pid_t)pid) : (int)pid;
    if (fd < 0) {
        snprintf(why, sizeof why, "error %d", -fd);
        cannot_start(p, why);
    } else if (al_worker_begin(&p->w, (pid_t)pid, fd, &err) < 0) {
        cannot_start(p, err.msg);
    } else {
        al_query_proc_begun(p);
    }
}

/*
 * The zygote died before it said whether it had forked. If it had, the page names the process, which goes on
 * as any other; if not, a new zygote is asked, once. A spare is not worth it.
 */
static void zygote_gone(struct al_query_proc *p, const char *why)
{
    struct al_err err = {0};
    int64_t pid = pid_by_page(p);
    p->zygote = NULL;
    if (pid) {
        forked(p, pid);
        return;
    }
    if (p->job && p->w.cause == AL_CAUSE_NONE && !why[0] && !p->retried) {
        p->retried = true;
        if (al_query_proc_ask(p, &err) == 0)
            return;
    }
    cannot_start(p, why[0] ? why : err.msg[0] ? err.msg : "its zygote died at the start");
}

/* -- the zygote */

/* Ends it and what waits for it. Processes that were forked go on. */
static void zygote_free(struct al_query_zygote *z)
{
    struct al_data *d = z->data;
    struct al_exit exit;
    struct al_query_zygote **link = &d->zygotes;
    while (*link && *link != z)
        link = &(*link)->next;
    if (*link)
        *link = z->next;
    if (d->zygote == z)
        d->zygote = NULL;
    al_watch_stop(z->watch);
    if (z->pidfd >= 0) {
        al_pidfd_kill(z->pidfd, SIGKILL);
        (void)al_reap(z->pidfd, true, &exit);
    }
    al_close(&z->control);
    al_close(&z->pidfd);
    /* What is called in here may add processes and take some away: from the beginning, each time. */
    for (struct al_query_proc *p = d->procs; p;) {
        bool waits = p->zygote == z;
        if (waits)
            zygote_gone(p, z->why);
        p = waits ? d->procs : p->next;
    }
    free(z);
}

static void zygote_said(struct al_query_zygote *z, const struct al_data_reply *m)
{
    if (m->kind == AL_DATA_FAILED) {
        snprintf(z->why, sizeof z->why, "%.*s", (int)strnlen(m->text, sizeof m->text), m->text);
    } else if (m->kind == AL_DATA_FORKED) {
        for (struct al_query_proc *p = z->data->procs; p; p = p->next) {
            if (p->zygote == z && p->seq == m->seq) {
                forked(p, m->pid);
                return;
            }
        }
    }
}

static void zygote_readable(void *ud, int events)
{
    struct al_query_zygote *z = ud;
    (void)events;
    for (;;) {
        struct al_data_reply m;
        ssize_t n = recv(z->control, &m, sizeof m, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n != (ssize_t)sizeof m) {
            zygote_free(z);
            return;
        }
        zygote_said(z, &m);
    }
}

static struct al_query_zygote *zygote_new(struct al_data *d, struct al_err *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        al_fail_errno(err, AL_ENGINE_UNAVAILABLE, errno, "cannot make a socket for the data engine");
        return NULL;
    }
    struct al_query_zygote *z = al_xcalloc(1, sizeof *z);
    *z = (struct al_query_zygote){.data = d, .pidfd = -1, .control = pair[0], .born_ms = al_mono_ms()};
    struct al_fd_map map = {.from = pair[1], .to = AL_DATA_FD};
    int r = al_data_exec(AL_DATA_ZYGOTE_VERB, &map, 1, &z->pid, &z->pidfd, err);
    al_close(&pair[1]);
    if (r == 0)
        z->watch = al_watch_start(d->loop, z->control, AL_READABLE, zygote_readable, z, err);
    if (r < 0 || !z->watch) {
        al_wrap(err, "the data engine does not start");
        zygote_free(z);
        return NULL;
    }
    z->next = d->zygotes;
    d->zygotes = z;
    return z;
}

static bool any_waits(const struct al_query_zygote *z)
{
    for (const struct al_query_proc *p = z->data->procs; p; p = p->next) {
        if (p->zygote == z)
            return true;
    }
    return false;
}

/* The zygote to use now; a fresh one when there is none, or when it has served its time. */
static struct al_query_zygote *zygote_get(struct al_data *d, struct al_err *err)
{
    struct al_query_zygote *z = d->zygote;
    bool old = z && (z->runs >= AL_ZYGOTE_RUNS_MAX || al_mono_ms() - z->born_ms >= AL_ZYGOTE_AGE_MS);
    if (old && !any_waits(z))
        zygote_free(z);
    if (!d->zygote)
        d->zygote = zygote_new(d, err);
    return d->zygote;
}

/*
 * It takes no more. Whoever starts a query may be the one to find that, and must not be called back
 * meanwhile: those who wait for it are told in a turn of the loop, when its end of the control socket has
 * closed.
 */
static void zygote_retire(struct al_query_zygote *z)
{
    if (z->data->zygote == z)
        z->data->zygote = NULL;
    if (z->pidfd >= 0)
        al_pidfd_kill(z->pidfd, SIGKILL);
}

int al_query_proc_ask(struct al_query_proc *p, struct al_err *err)
{
    struct al_data *d = p->data;
    int r = 0;
    /* A zygote that has just died is noticed here at the latest: once more, with a new one. */
    for (int tries = 0; tries < 2; tries++) {
        struct al_query_zygote *z = zygote_get(d, err);
        if (!z)
            return -1;
        struct al_data_request req = {.seq = p->seq = d->next_seq++};
        r = al_fd_send(z->control, &req, sizeof req, (int[2]){p->w.child_channel, p->page}, 2);
        if (r == 0) {
            z->runs++;
            p->zygote = z;
            al_timer_stop(p->hang_timer);
            p->hang_timer = al_timer_start(d->loop, AL_ZYGOTE_HANG_MS, zygote_hangs, p);
            return 0;
        }
        zygote_retire(z);
    }
    return al_fail_errno(err, AL_ENGINE_UNAVAILABLE, -r, "the data engine takes no query");
}

void al_data_zygotes_free(struct al_data *d)
{
    while (d->procs)
        al_query_proc_free(d->procs);
    while (d->zygotes)
        zygote_free(d->zygotes);
}
