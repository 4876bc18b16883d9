#include "loop/child.h"
#include "base/ident.h"
#include "base/mem.h"
#include "loop/stream.h"
#include "loop/supervised.h"
#include "os/fd.h"

struct capture {
    struct al_child *child;
    struct al_outlet outlet;
    struct al_buf buf;
    bool truncated;
};

struct al_child {
    struct al_loop *loop;
    void (*done)(void *ud, const struct al_child_end *end);
    void (*output)(void *ud, bool is_error, struct al_str bytes);
    void *ud;
    struct al_supervised program;
    struct capture out, err;
    struct al_stream *input;
    struct al_timer *timeout, *idle;
    uint64_t started_ms, idle_ms, heard_ms;
    bool timed_out, cancelled;
};

static bool capture_bytes(void *ud, struct al_str bytes)
{
    struct capture *c = ud;
    c->child->heard_ms = al_mono_ms();
    size_t room = c->buf.max - c->buf.n;
    al_buf_add(&c->buf, bytes.p, bytes.n < room ? bytes.n : room);
    if (bytes.n > room)
        c->truncated = true;
    if (c->child->output)
        c->child->output(c->child->ud, c == &c->child->err, bytes);
    return true;
}

static void child_free(struct al_child *c)
{
    al_timer_stop(c->timeout);
    al_timer_stop(c->idle);
    al_stream_free(c->input);
    al_outlet_close(&c->out.outlet);
    al_outlet_close(&c->err.outlet);
    al_buf_free(&c->out.buf);
    al_buf_free(&c->err.buf);
    al_supervised_fini(&c->program);
    free(c);
}

static void child_ended(void *ud, const struct al_supervise_status *status)
{
    struct al_child *c = ud;
    al_outlet_drain(&c->out.outlet);
    al_outlet_drain(&c->err.outlet);
    struct al_child_end end = {
        .exec_errno = status->exec_errno,
        .exit_status = status->exit_status,
        .signal = status->signal,
        .timed_out = c->timed_out,
        .cancelled = c->cancelled,
        .out_truncated = c->out.truncated,
        .err_truncated = c->err.truncated,
        .duration_ms = al_mono_ms() - c->started_ms,
        .out = &c->out.buf,
        .err = &c->err.buf,
    };
    c->done(c->ud, &end);
    child_free(c);
}

static void end_late(struct al_child *c)
{
    if (c->cancelled)
        return;
    c->timed_out = true;
    al_supervised_kill(&c->program);
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
    if (!c || c->program.pidfd < 0)
        return;
    if (!c->timed_out)
        c->cancelled = true;
    al_supervised_kill(&c->program);
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
    al_buf_init(&cap->buf, max);
    return al_outlet_open(&cap->outlet, c->loop, fd, capture_bytes, cap, err);
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

/* Everything that can fail comes before the process is made: after it there is always a done. */
static int child_prepare(struct al_child *c, const struct al_child_spec *spec, struct al_program_pipes *p,
                         struct al_err *err)
{
    if (al_program_pipes_open(p, spec->input.n > 0, err) < 0)
        return -1;
    if (start_capture(c, &c->out, &p->out[0], spec->max_output, err) < 0 ||
        start_capture(c, &c->err, &p->err[0], spec->max_output, err) < 0)
        return -1;
    if (spec->input.n > 0 && start_input(c, &p->in[1], spec->input, err) < 0)
        return -1;
    struct al_supervised_spec how = {
        .program = spec->program,
        .argv = spec->argv,
        .envp = spec->envp,
        .cwd_fd = spec->cwd_fd,
        .seal = seal_option(spec),
        .read_fds = spec->read_fds,
        .n_read_fds = spec->n_read_fds,
        .max_data = spec->max_data,
    };
    return al_supervised_start(&c->program, &how, p, err);
}

struct al_child *al_child_start(struct al_loop *loop, const struct al_child_spec *spec,
                                void (*done)(void *ud, const struct al_child_end *end), void *ud,
                                struct al_err *err)
{
    struct al_child *c = al_xcalloc(1, sizeof(*c));
    struct al_program_pipes p;
    c->loop = loop;
    c->done = done;
    c->output = spec->output;
    c->ud = ud;
    c->out.outlet.fd = c->err.outlet.fd = -1;
    c->started_ms = c->heard_ms = al_mono_ms();
    c->idle_ms = spec->idle_ms;
    c->out.child = c->err.child = c;
    al_supervised_init(&c->program, loop, child_ended, c);
    int r = child_prepare(c, spec, &p, err);
    al_program_pipes_close(&p);
    if (r < 0) {
        child_free(c);
        return NULL;
    }
    if (spec->timeout_ms)
        c->timeout = al_timer_start(loop, spec->timeout_ms, child_late, c);
    if (spec->idle_ms)
        c->idle = al_timer_start(loop, spec->idle_ms, child_idle, c);
    return c;
}
