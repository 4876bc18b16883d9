/* Why a run ended, in one value. */
#include "base/mem.h"
#include "pyrun/run_state.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MARK_MAX 256

/* bwrap and engines tell of a signal by 128 and its number. A script may end with such a number, too; by
 * these it is far more likely that it was killed. */
static int signal_of(enum al_py_backend b, int exit_code)
{
    static const int deadly[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS, SIGFPE,
                                 SIGKILL, SIGSEGV, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};
    if (b != AL_PY_BWRAP && b != AL_PY_WASM && b != AL_PY_OCI)
        return 0;
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
        if (exit_code == 128 + deadly[i])
            return deadly[i];
    }
    return 0;
}

static bool fail_exec(const struct al_py_run *r, struct al_err *err)
{
    const char *program = r->command.program ? r->command.program : "alisio";
    const char *slash = strrchr(program, '/');
    al_fail_errno(err, AL_RUNTIME_UNAVAILABLE, r->ended.exec_errno, "%s could not be started",
                  slash ? slash + 1 : program);
    al_hint(err, "`alisio doctor` tries each way of running Python, and says what is missing.");
    al_detail(err, "%s", program);
    return true;
}

static bool never_started(struct al_py_run *r, struct al_str errors, struct al_err *err)
{
    if (r->ended.exec_errno > 0)
        return fail_exec(r, err);
    if (!r->backend->explain)
        return false;
    int code = r->ended.signal ? -1 : r->ended.exit_status;
    return r->backend->explain(&r->last_report, code, errors, err);
}

static enum al_py_cause find_cause(struct al_py_run *r, struct al_str errors)
{
    if (r->decided)
        return r->cause;
    if (never_started(r, errors, &r->err))
        return AL_PY_NOT_STARTED;
    bool by_engine =
        r->backend->memory_exit && !r->ended.signal && r->ended.exit_status == r->backend->memory_exit;
    if (by_engine || (r->was_oom && (r->ended.signal || r->ended.exit_status != 0))) {
        al_py_run_say_memory(r, &r->err);
        return AL_PY_MEMORY;
    }
    return AL_PY_EXITED;
}

/* Bubblewrap makes the namespace, not the guest within it. */
static bool has_own(const struct al_py_run *r)
{
    return r->backend->isolation(r->pyrun) == AL_PY_OS_SANDBOX;
}

/* Root without a user of its own is not bound by the number of processes of a user. */
static bool limits_processes(const struct al_py_run *r)
{
    enum al_py_isolation i = r->backend->isolation(r->pyrun);
    return i == AL_PY_OS_SANDBOX || (i == AL_PY_OS_FILTER && geteuid() != 0);
}

void al_py_run_find_keepers(struct al_py_run *r)
{
    enum al_py_keeper ours = r->backend->sampled ? AL_PY_KEPT_SAMPLED : AL_PY_KEPT_NOT;
    r->memory = r->group_memory ? AL_PY_KEPT_CGROUP : ours;
    r->pids = r->had_group ? AL_PY_KEPT_CGROUP : limits_processes(r) ? AL_PY_KEPT_RLIMIT : AL_PY_KEPT_NOT;
    r->disk = ours;
    if (r->backend->id != AL_PY_OCI)
        return;
    const struct al_py_probe *known = al_pyrun_known(r->pyrun, AL_PY_OCI);
    if (known && known->state == AL_PY_READY) {
        r->memory = known->memory;
        r->pids = known->pids;
    }
}

static void say_keepers(const struct al_py_run *r, struct al_py_run_end *end)
{
    end->memory = r->memory;
    end->pids = r->pids;
    end->disk = r->disk;
    end->pid_namespace =
        r->last_report.layer == AL_GUEST_STARTED && (r->last_report.pid_ns == 1 || has_own(r));
    if (r->backend->id == AL_PY_OCI)
        end->pid_namespace = r->service_ran;
}

static void add_text(const struct al_py_capture *c, struct al_buf *text, struct al_py_output *ret)
{
    al_buf_init(text, (c->head.max + c->tail_max) * 3 + MARK_MAX);
    al_py_capture_text(c, text);
    *ret = (struct al_py_output){.text = al_buf_str(text), .bytes = c->bytes, .logged = c->logged};
}

void al_py_run_tell_end(struct al_py_run *r)
{
    autobuf struct al_buf out = AL_BUF_INIT(0), errors = AL_BUF_INIT(0);
    struct al_py_run_end end = {.exit_code = -1,
                                .duration_ms = r->duration_ms,
                                .cpu_ms = r->ended.cpu_ms,
                                .peak_bytes = r->peak_bytes};
    add_text(&r->out, &out, &end.out);
    add_text(&r->errors, &errors, &end.errors);
    end.cause = find_cause(r, end.errors.text);
    end.err = r->err;
    say_keepers(r, &end);
    if (r->service_ran) {
        end.signal = r->ended.signal ? r->ended.signal : signal_of(r->backend->id, r->ended.exit_status);
        end.exit_code = end.signal ? -1 : r->ended.exit_status;
    }
    r->ops.end(r->ud, &end);
}
