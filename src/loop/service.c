#include "loop/service.h"
#include "base/mem.h"
#include "loop/loop_int.h"
#include "loop/stream.h"
#include "loop/supervised.h"
#include "os/fd.h"

#include <fcntl.h>

struct al_service {
    struct al_loop *loop;
    struct al_service_ops ops;
    void *ud;
    struct al_supervised program;
    struct al_outlet out, err;
    struct al_stream *input;
    struct al_timer *grace;
    bool stopped;
    bool freed; /* the memory goes in a later turn: a callback of ours may be running */
};

static void free_memory(void *ud)
{
    free(ud);
}

void al_service_free(struct al_service *s)
{
    if (!s || s->freed)
        return;
    s->freed = true;
    al_timer_stop(s->grace);
    al_stream_free(s->input);
    al_outlet_close(&s->out);
    al_outlet_close(&s->err);
    al_supervised_fini(&s->program);
    al_defer_or_drop(s->loop, free_memory, free_memory, s);
}

static bool service_output(void *ud, struct al_str bytes)
{
    struct al_service *s = ud;
    s->ops.output(s->ud, bytes);
    return !s->freed;
}

static bool service_errors(void *ud, struct al_str bytes)
{
    struct al_service *s = ud;
    if (bytes.n > 0)
        s->ops.errors(s->ud, bytes);
    return !s->freed;
}

static void service_ended(void *ud, const struct al_supervise_status *status)
{
    struct al_service *s = ud;
    bool stopped = s->stopped;
    if (!al_outlet_drain(&s->err) || !al_outlet_drain(&s->out))
        return;
    struct al_service_end end = {
        .exec_errno = status->exec_errno,
        .exit_status = status->exit_status,
        .signal = status->signal,
        .stopped = stopped,
        .cpu_ms = s->program.cpu_ms,
    };
    al_timer_stop(s->grace);
    s->grace = NULL;
    s->ops.ended(s->ud, &end);
    al_service_free(s);
}

static void input_data(void *ud, struct al_str bytes)
{
    (void)ud;
    (void)bytes;
}

/* A program that reads no more will end, or be ended by its owner: each write fails from now on. */
static void input_end(void *ud, int error)
{
    (void)ud;
    (void)error;
}

static void input_drained(void *ud)
{
    struct al_service *s = ud;
    if (!s->freed && s->ops.drained)
        s->ops.drained(s->ud);
}

static const struct al_stream_ops input_ops = {
    .data = input_data, .end = input_end, .drained = input_drained};

static int start_input(struct al_service *s, int *fd, size_t max_queue, struct al_err *err)
{
    int r = al_fd_nonblock(*fd);
    if (r < 0)
        return al_fail_errno(err, AL_INTERNAL, -r, "cannot prepare a pipe");
    s->input = al_stream_new(s->loop, -1, *fd, max_queue, &input_ops, s, err);
    if (!s->input)
        return -1;
    *fd = -1;
    return 0;
}

/* Where the system gives it: it has a limit for each user. */
static void widen(const struct al_program_pipes *p, size_t bytes)
{
    if (bytes == 0 || bytes > INT32_MAX)
        return;
    (void)fcntl(p->out[1], F_SETPIPE_SZ, (int)bytes);
    (void)fcntl(p->err[1], F_SETPIPE_SZ, (int)bytes);
}

static int prepare(struct al_service *s, const struct al_service_spec *spec, struct al_program_pipes *p,
                   struct al_err *err)
{
    if (al_program_pipes_open(p, !spec->no_input, err) < 0 ||
        al_outlet_open(&s->out, s->loop, &p->out[0], service_output, s, err) < 0 ||
        al_outlet_open(&s->err, s->loop, &p->err[0], service_errors, s, err) < 0 ||
        (!spec->no_input && start_input(s, &p->in[1], spec->max_queue, err) < 0))
        return -1;
    widen(p, spec->pipe_bytes);
    struct al_supervised_spec how = {.program = spec->program,
                                     .argv = spec->argv,
                                     .envp = spec->envp,
                                     .cwd_fd = spec->cwd_fd,
                                     .pass_fds = spec->pass_fds,
                                     .n_pass_fds = spec->n_pass_fds,
                                     .grace_ms = spec->grace_ms};
    return al_supervised_start(&s->program, &how, p, err);
}

struct al_service *al_service_start(struct al_loop *loop, const struct al_service_spec *spec,
                                    const struct al_service_ops *ops, void *ud, struct al_err *err)
{
    struct al_service *s = al_xcalloc(1, sizeof(*s));
    struct al_program_pipes p;
    s->loop = loop;
    s->ops = *ops;
    s->ud = ud;
    s->out.fd = s->err.fd = -1;
    al_supervised_init(&s->program, loop, service_ended, s);
    int r = prepare(s, spec, &p, err);
    al_program_pipes_close(&p);
    if (r == 0)
        return s;
    al_service_free(s);
    return NULL;
}

int al_service_write(struct al_service *s, struct al_str bytes)
{
    return s->input ? al_stream_write(s->input, bytes) : -1;
}

size_t al_service_queued(const struct al_service *s)
{
    return s->input ? al_stream_queued(s->input) : 0;
}

pid_t al_service_pid(const struct al_service *s)
{
    return s->program.pid;
}

void al_service_pause(struct al_service *s, bool pause)
{
    struct al_err unused;
    if (al_outlet_pause(&s->out, pause, &unused) < 0)
        al_supervised_kill(&s->program); /* it could never be heard again */
}

static void patience_is_over(void *ud)
{
    struct al_service *s = ud;
    s->grace = NULL;
    al_supervised_kill(&s->program);
}

void al_service_stop(struct al_service *s, uint64_t grace_ms)
{
    s->stopped = true;
    if (s->input)
        al_stream_close_write(s->input);
    al_timer_stop(s->grace);
    s->grace = NULL;
    if (grace_ms > 0)
        s->grace = al_timer_start(s->loop, grace_ms, patience_is_over, s);
    else
        al_supervised_kill(&s->program);
}
