/* One run: prepared on the pool, started under the supervisor, watched, and told of once when nothing of it
 * is left. */
#include "base/ident.h"
#include "base/mem.h"
#include "pyrun/run_state.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#define PIPE_BYTES (1u << 20) /* fewer wake-ups for a script that prints a lot */
#define STOPPER_MS 3000
#define CLIENT_MS 2000
#define STOP_TRIES 4
#define FIRST_LOOK_MS 20
#define LOOK_MS 100
/* A look at a large tree may take long: it is not to take more than a fifth of the time. */
#define LOOK_SHARE 4

static void finish(struct al_py_run *r);

/* --- stopping --- */

static void kill_tree(struct al_py_run *r)
{
    if (r->service)
        al_service_stop(r->service, 0);
}

static void client_is_late(void *ud)
{
    struct al_py_run *r = ud;
    r->client = NULL;
    kill_tree(r);
}

static bool start_stopper(struct al_py_run *r);

/* Its client removes the container that was killed, which nobody is to interrupt, and ends. One that cannot
 * be killed is about to begin, or about to go. */
static void stopper_done(void *ud, const struct al_child_end *end)
{
    struct al_py_run *r = ud;
    r->stopper = NULL;
    if (r->service && end->exit_status != 0 && r->stops < STOP_TRIES && start_stopper(r))
        return;
    if (r->service)
        r->client = al_timer_start(r->loop, CLIENT_MS, client_is_late, r);
    finish(r);
}

/* An engine's client is not its container: the container is ended by its engine, then what is ours. */
static bool start_stopper(struct al_py_run *r)
{
    r->stops++;
    if (!r->command.stop_program || !r->command.stop_argv)
        return false;
    struct al_child_spec spec = {.program = r->command.stop_program,
                                 .argv = r->command.stop_argv,
                                 .envp = r->command.envp,
                                 .cwd_fd = -1,
                                 .max_output = 4096,
                                 .timeout_ms = STOPPER_MS};
    r->stopper = al_child_start(r->loop, &spec, stopper_done, r, NULL);
    return r->stopper != NULL;
}

/* The first reason counts. r->err is told by the caller. */
static bool decide(struct al_py_run *r, enum al_py_cause cause)
{
    if (r->decided || r->phase == AL_PY_RUN_OVER)
        return false;
    r->decided = true;
    r->cause = cause;
    atomic_store(&r->look.stop, true); /* nothing that it could find counts any more */
    return true;
}

static void stop(struct al_py_run *r)
{
    if (r->phase == AL_PY_RUN_ON && !start_stopper(r))
        kill_tree(r);
}

void al_py_run_cancel(struct al_py_run *r)
{
    if (decide(r, AL_PY_STOPPED))
        stop(r);
}

static void time_is_up(void *ud)
{
    struct al_py_run *r = ud;
    r->deadline = NULL;
    if (!decide(r, AL_PY_TIMED_OUT))
        return;
    al_py_run_say_timeout(r, &r->err);
    stop(r);
}

/* --- looking --- */

static void look(void *ud);
static void look_at_disk(void *ud);

/* The next look: none when it is over, or about to be. */
static struct al_timer *judge(struct al_py_run *r, const struct al_py_use *use, uint64_t took_ms,
                              void (*next)(void *ud))
{
    enum al_py_cause cause;
    struct al_err err;
    r->looking--;
    if (r->phase != AL_PY_RUN_ON) {
        finish(r);
        return NULL;
    }
    if (al_py_run_over_limit(r, use, &cause, &err) && decide(r, cause)) {
        r->err = err;
        stop(r);
    }
    if (r->decided)
        return NULL;
    uint64_t wait = took_ms * LOOK_SHARE;
    return al_timer_start(r->loop, wait > LOOK_MS ? wait : LOOK_MS, next, r);
}

static void looked(void *ud)
{
    struct al_py_run *r = ud;
    if (r->phase == AL_PY_RUN_ON)
        al_py_run_tell_progress(r);
    r->tick = judge(r, &r->look.use, r->look.took_ms, look);
}

static void looked_at_disk(void *ud)
{
    struct al_py_run *r = ud;
    r->disk_tick = judge(r, &r->files.use, r->files.took_ms, look_at_disk);
}

static void look(void *ud)
{
    struct al_py_run *r = ud;
    r->tick = NULL;
    r->looking++;
    al_work_start(r->loop, al_py_run_look, looked, r);
}

static void look_at_disk(void *ud)
{
    struct al_py_run *r = ud;
    r->disk_tick = NULL;
    r->looking++;
    al_work_start(r->loop, al_py_run_look_at_disk, looked_at_disk, r);
}

/* --- the program --- */

static void got_output(void *ud, struct al_str bytes)
{
    struct al_py_run *r = ud;
    al_py_capture_add(&r->out, bytes);
    if (bytes.n > 0 && r->ops.output)
        r->ops.output(r->ud, false, bytes);
}

static void got_errors(void *ud, struct al_str bytes)
{
    struct al_py_run *r = ud;
    al_py_capture_add(&r->errors, bytes);
    if (bytes.n > 0 && r->ops.output)
        r->ops.output(r->ud, true, bytes);
}

static void ended(void *ud, const struct al_service_end *end)
{
    struct al_py_run *r = ud;
    r->service = NULL;
    r->ended = *end;
    r->phase = AL_PY_RUN_OVER;
    r->duration_ms = al_mono_ms() - r->started_ms;
    finish(r);
}

static void told(void *ud)
{
    struct al_py_run *r = ud;
    al_py_run_tell_progress(r);
    al_py_run_tell_end(r);
    al_py_run_free(r);
}

/* Once nothing is on its way any more: the last look, and the end. */
static void finish(struct al_py_run *r)
{
    if (r->phase != AL_PY_RUN_OVER || r->finishing)
        return;
    atomic_store(&r->look.stop, true);
    al_timer_stop(r->deadline);
    al_timer_stop(r->tick);
    al_timer_stop(r->disk_tick);
    al_timer_stop(r->client);
    r->deadline = r->tick = r->disk_tick = r->client = NULL;
    if (r->looking > 0 || r->stopper)
        return;
    r->finishing = true;
    al_work_start(r->loop, al_py_run_clear, told, r);
}

static int start_program(struct al_py_run *r, struct al_err *err)
{
    static const struct al_service_ops ops = {.output = got_output, .errors = got_errors, .ended = ended};
    struct al_py_command *c = &r->command;
    int fds[AL_SERVICE_PASS_FDS] = {r->report[1]};
    size_t n = 1;
    char own[32];
    while (n < 1 + sizeof(c->fds) / sizeof(c->fds[0]) && c->fds[n - 1] >= 0) {
        fds[n] = c->fds[n - 1];
        n++;
    }
    /* Our own binary by its descriptor, so that an upgrade meanwhile changes nothing. */
    snprintf(own, sizeof(own), "/proc/self/fd/%zu", AL_PY_REPORT_FD + n);
    if (!c->program)
        fds[n++] = al_self_fd();
    struct al_service_spec spec = {.program = c->program ? c->program : own,
                                   .argv = c->argv,
                                   .envp = c->envp,
                                   .cwd_fd = c->cwd_fd,
                                   .no_input = true,
                                   .pipe_bytes = PIPE_BYTES,
                                   .pass_fds = fds,
                                   .n_pass_fds = n};
    r->service = al_service_start(r->loop, &spec, &ops, r, err);
    return r->service ? 0 : -1;
}

static void prepared(void *ud)
{
    struct al_py_run *r = ud;
    r->started_ms = al_mono_ms();
    bool fine = r->prepared && !r->decided && start_program(r, &r->err) == 0;
    al_py_run_close_passed(r);
    if (!fine) {
        if (!r->decided)
            r->cause = AL_PY_NOT_STARTED;
        r->decided = true;
        r->phase = AL_PY_RUN_OVER;
        finish(r);
        return;
    }
    r->phase = AL_PY_RUN_ON;
    r->service_ran = true;
    al_py_run_find_keepers(r);
    r->look.pid = al_service_pid(r->service);
    r->deadline = al_timer_start(r->loop, al_py_run_time(r), time_is_up, r);
    r->tick = al_timer_start(r->loop, FIRST_LOOK_MS, look, r);
    if (r->backend->sampled)
        r->disk_tick = al_timer_start(r->loop, FIRST_LOOK_MS, look_at_disk, r);
    if (r->ops.started)
        r->ops.started(r->ud, r->look.pid);
}

struct al_py_run *al_py_run_start(struct al_pyrun *p, const struct al_py_run_spec *spec,
                                  const struct al_py_run_ops *ops, void *ud, struct al_err *err)
{
    const struct al_py_backend_ops *backend = al_py_backend_ops(spec->backend);
    if (!backend || !spec->job || spec->job->fd < 0) {
        al_fail(err, AL_INTERNAL, "a Python run was asked for without its job");
        return NULL;
    }
    struct al_py_run *r = al_py_run_new(p, spec, backend);
    r->ops = *ops;
    r->ud = ud;
    al_work_start(r->loop, al_py_run_prepare, prepared, r);
    return r;
}
