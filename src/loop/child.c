#include "loop/child.h"
#include "base/ident.h"
#include "base/mem.h"
#include "loop/stream.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "sandbox/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define READ_CHUNK (64 * 1024)
#define READS_PER_TURN 16
/* Of what may still lie in a pipe when its writers are gone. A writer outside of the tree is not waited for.
 */
#define DRAIN_MAX (2u << 20)
/* The supervisor needs 300 ms and a little. A program may have stopped it: it is waked, and at last killed.
 */
#define NUDGE_MS 500
#define NUDGES 20

struct capture {
    struct al_child *child;
    int fd;
    struct al_watch *watch;
    struct al_buf buf;
    bool truncated;
};

struct al_child {
    struct al_loop *loop;
    void (*done)(void *ud, const struct al_child_end *end);
    void *ud;
    int pidfd, status_fd;
    struct al_watch *watch;
    struct capture out, err;
    struct al_stream *input;
    struct al_timer *timeout, *idle, *nudge;
    unsigned nudges;
    uint64_t started_ms, idle_ms, heard_ms;
    bool timed_out, cancelled;
};

static void capture_close(struct capture *c)
{
    al_watch_stop(c->watch);
    c->watch = NULL;
    al_close(&c->fd);
}

/* One read. Bytes, 0 at the end (then closed), -EAGAIN. */
static ssize_t capture_read(struct capture *c)
{
    char chunk[READ_CHUNK];
    ssize_t n;
    do {
        n = read(c->fd, chunk, sizeof(chunk));
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return -EAGAIN;
    if (n <= 0) {
        capture_close(c);
        return 0;
    }
    c->child->heard_ms = al_mono_ms();
    size_t room = c->buf.max - c->buf.n;
    al_buf_add(&c->buf, chunk, (size_t)n < room ? (size_t)n : room);
    if ((size_t)n > room)
        c->truncated = true;
    return n;
}

static void capture_ready(void *ud, int events)
{
    struct capture *c = ud;
    (void)events;
    for (int i = 0; i < READS_PER_TURN; i++) {
        ssize_t n = capture_read(c);
        if (n < READ_CHUNK)
            return;
    }
}

static void capture_drain(struct capture *c)
{
    for (size_t total = 0; c->fd >= 0 && total < DRAIN_MAX;) {
        ssize_t n = capture_read(c);
        if (n <= 0)
            break;
        total += (size_t)n;
    }
    capture_close(c);
}

static void child_free(struct al_child *c)
{
    al_watch_stop(c->watch);
    al_timer_stop(c->timeout);
    al_timer_stop(c->idle);
    al_timer_stop(c->nudge);
    al_stream_free(c->input);
    capture_close(&c->out);
    capture_close(&c->err);
    al_buf_free(&c->out.buf);
    al_buf_free(&c->err.buf);
    al_close(&c->pidfd);
    al_close(&c->status_fd);
    free(c);
}

static void read_status(struct al_child *c, const struct al_exit *supervisor, struct al_child_end *end)
{
    struct al_supervise_status st;
    ssize_t n;
    do {
        n = read(c->status_fd, &st, sizeof(st));
    } while (n < 0 && errno == EINTR);
    if (n == sizeof(st)) {
        end->exec_errno = st.exec_errno;
        end->exit_status = st.exit_status;
        end->signal = st.signal;
        return;
    }
    /* The supervisor ended before the program did, or before it began. */
    end->exit_status = -1;
    end->signal = supervisor->signal ? supervisor->signal : SIGKILL;
}

static void child_ended(void *ud, int events)
{
    struct al_child *c = ud;
    struct al_exit supervisor = {0};
    (void)events;
    if (al_reap(c->pidfd, false, &supervisor) == 0)
        return;
    struct al_child_end end = {.timed_out = c->timed_out, .cancelled = c->cancelled};
    read_status(c, &supervisor, &end);
    capture_drain(&c->out);
    capture_drain(&c->err);
    end.out = &c->out.buf;
    end.err = &c->err.buf;
    end.out_truncated = c->out.truncated;
    end.err_truncated = c->err.truncated;
    end.duration_ms = al_mono_ms() - c->started_ms;
    al_watch_stop(c->watch);
    c->watch = NULL;
    al_close(&c->pidfd);
    c->done(c->ud, &end);
    child_free(c);
}

static void nudge(void *ud)
{
    struct al_child *c = ud;
    if (++c->nudges >= NUDGES)
        al_pidfd_kill(c->pidfd, SIGKILL);
    else
        al_pidfd_kill(c->pidfd, SIGCONT);
}

static void child_kill(struct al_child *c)
{
    if (c->nudge || c->pidfd < 0)
        return;
    al_pidfd_kill(c->pidfd, SIGTERM);
    al_pidfd_kill(c->pidfd, SIGCONT);
    c->nudge = al_timer_every(c->loop, NUDGE_MS, nudge, c);
}

static void end_late(struct al_child *c)
{
    if (c->cancelled)
        return;
    c->timed_out = true;
    child_kill(c);
}

static void child_late(void *ud)
{
    struct al_child *c = ud;
    c->timeout = NULL;
    end_late(c);
}

static void child_idle(void *ud)
{
    struct al_child *c = ud;
    uint64_t silent = al_mono_ms() - c->heard_ms;
    if (silent < c->idle_ms) {
        c->idle = al_timer_start(c->loop, c->idle_ms - silent, child_idle, c);
        return;
    }
    c->idle = NULL;
    end_late(c);
}

void al_child_cancel(struct al_child *c)
{
    if (!c || c->pidfd < 0)
        return;
    if (!c->timed_out)
        c->cancelled = true;
    child_kill(c);
}

static void input_data(void *ud, struct al_str bytes)
{
    (void)ud;
    (void)bytes;
}

/* A program need not read what it is given. */
static void input_end(void *ud, int error)
{
    (void)ud;
    (void)error;
}

static const struct al_stream_ops input_ops = {.data = input_data, .end = input_end};

static int start_input(struct al_child *c, int *fd, struct al_str input, struct al_err *err)
{
    int r = al_fd_nonblock(*fd);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot prepare a pipe");
    c->input = al_stream_new(c->loop, -1, *fd, input.n, &input_ops, c, err);
    if (!c->input)
        return -1;
    *fd = -1;
    if (al_stream_write(c->input, input) == 0)
        al_stream_close_write(c->input);
    return 0;
}

static int start_capture(struct al_child *c, struct capture *cap, int *fd, size_t max, struct al_err *err)
{
    cap->fd = *fd;
    *fd = -1;
    al_buf_init(&cap->buf, max);
    int r = al_fd_nonblock(cap->fd);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot prepare a pipe");
    cap->watch = al_watch_start(c->loop, cap->fd, AL_READABLE, capture_ready, cap, err);
    return cap->watch ? 0 : -1;
}

struct pipes {
    int in[2], out[2], err[2], status[2];
};

static void pipes_close(struct pipes *p)
{
    for (int i = 0; i < 2; i++) {
        al_close(&p->in[i]);
        al_close(&p->out[i]);
        al_close(&p->err[i]);
        al_close(&p->status[i]);
    }
}

static int pipes_open(struct pipes *p, bool with_input, struct al_err *err)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if ((with_input && pipe2(p->in, O_CLOEXEC) < 0) || pipe2(p->out, O_CLOEXEC) < 0 ||
        pipe2(p->err, O_CLOEXEC) < 0 || pipe2(p->status, O_CLOEXEC) < 0)
        return al_fail_errno(err, AL_BUSY, errno, "cannot make pipes");
    return 0;
}

static const char *seal_option(const struct al_child_spec *spec)
{
    switch (spec->seal) {
    case AL_CHILD_SEAL_GIT:
        return "--seal-git";
    case AL_CHILD_SEAL_SEARCH:
        return spec->cwd_fd >= 0 ? "--seal-search" : "--seal-input";
    default:
        return NULL;
    }
}

#define FIRST_READ_FD 4
#define OPTION_SIZE 48

/* alisio __supervise [OPTIONS] -- PROGRAM ARGV0 ARGV1 … */
static char **supervisor_argv(const struct al_child_spec *spec, char options[][OPTION_SIZE])
{
    size_t n = 0, at = 0;
    while (spec->argv[n])
        n++;
    const char **argv = al_xcalloc(n + 7 + spec->n_read_fds, sizeof(*argv));
    argv[at++] = "alisio";
    argv[at++] = AL_SUPERVISE_VERB;
    if (seal_option(spec))
        argv[at++] = seal_option(spec);
    if (spec->max_data > 0) {
        snprintf(*options, OPTION_SIZE, "--max-data=%zu", spec->max_data);
        argv[at++] = *options++;
    }
    for (size_t i = 0; i < spec->n_read_fds; i++) {
        snprintf(*options, OPTION_SIZE, "--read=%zu", FIRST_READ_FD + i);
        argv[at++] = *options++;
    }
    argv[at++] = "--";
    argv[at++] = spec->program;
    for (size_t i = 0; i < n; i++)
        argv[at++] = spec->argv[i];
    return (char **)argv; /* exec takes char *const[], and changes nothing */
}

static int spawn_supervisor(struct al_child *c, const struct al_child_spec *spec, struct pipes *p,
                            struct al_err *err)
{
    struct al_fd_map fds[4 + AL_CHILD_READ_FDS] = {{p->out[1], 1}, {p->err[1], 2}, {p->status[1], 3}};
    size_t n_fds = 3;
    char options[1 + AL_CHILD_READ_FDS][OPTION_SIZE];
    if (spec->n_read_fds > AL_CHILD_READ_FDS)
        return al_fail(err, AL_INTERNAL, "a program was to be started with impossible settings");
    for (size_t i = 0; i < spec->n_read_fds; i++)
        fds[n_fds++] = (struct al_fd_map){spec->read_fds[i], FIRST_READ_FD + (int)i};
    if (p->in[0] >= 0)
        fds[n_fds++] = (struct al_fd_map){p->in[0], 0};
    autofree char **argv = supervisor_argv(spec, options);
    char **own_env = spec->envp ? NULL : al_env_child();
    struct al_spawn how = {
        .exec_fd = al_self_fd(),
        .argv = argv,
        .envp = spec->envp ? spec->envp : own_env,
        .cwd_fd = spec->cwd_fd,
        .fds = fds,
        .n_fds = n_fds,
        .death_signal = SIGTERM,
        .new_session = true, /* a Ctrl-C in our terminal is ours to handle */
    };
    pid_t pid;
    int r = al_spawn(&how, &pid, &c->pidfd, err);
    al_env_free(own_env);
    return r < 0 ? -1 : 0;
}

/* Everything that can fail comes before the process is made: after it there is always a done. */
static int child_prepare(struct al_child *c, const struct al_child_spec *spec, struct pipes *p,
                         struct al_err *err)
{
    if (pipes_open(p, spec->input.n > 0, err) < 0)
        return -1;
    if (start_capture(c, &c->out, &p->out[0], spec->max_output, err) < 0 ||
        start_capture(c, &c->err, &p->err[0], spec->max_output, err) < 0)
        return -1;
    int r = al_fd_nonblock(p->status[0]);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot prepare a pipe");
    c->status_fd = p->status[0];
    p->status[0] = -1;
    if (spec->input.n > 0 && start_input(c, &p->in[1], spec->input, err) < 0)
        return -1;
    return spawn_supervisor(c, spec, p, err);
}

struct al_child *al_child_start(struct al_loop *loop, const struct al_child_spec *spec,
                                void (*done)(void *ud, const struct al_child_end *end), void *ud,
                                struct al_err *err)
{
    struct al_child *c = al_xcalloc(1, sizeof(*c));
    struct pipes p;
    c->loop = loop;
    c->done = done;
    c->ud = ud;
    c->pidfd = c->status_fd = c->out.fd = c->err.fd = -1;
    c->started_ms = c->heard_ms = al_mono_ms();
    c->idle_ms = spec->idle_ms;
    c->out.child = c->err.child = c;
    int r = child_prepare(c, spec, &p, err);
    pipes_close(&p);
    if (r == 0)
        c->watch = al_watch_start(loop, c->pidfd, AL_READABLE, child_ended, c, err);
    if (!c->watch) {
        if (c->pidfd >= 0) {
            /* Killed before its program runs, or by its death signal: nothing may be left when we say no. */
            struct al_exit unused;
            al_pidfd_kill(c->pidfd, SIGTERM);
            al_reap(c->pidfd, true, &unused);
        }
        child_free(c);
        return NULL;
    }
    if (spec->timeout_ms)
        c->timeout = al_timer_start(loop, spec->timeout_ms, child_late, c);
    if (spec->idle_ms)
        c->idle = al_timer_start(loop, spec->idle_ms, child_idle, c);
    return c;
}
