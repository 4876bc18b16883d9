/* What a run may use, and what is said when it uses more. */
#include "base/ident.h"
#include "base/text.h"
#include "pyrun/run_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

static uint64_t limit(const struct al_py_run *r, enum al_opt o)
{
    return (uint64_t)al_config_int(r->config, o);
}

uint64_t al_py_run_time(const struct al_py_run *r)
{
    uint64_t more = r->backend->id == AL_PY_WASM ? limit(r, AL_OPT_ANALYSIS_WASM_STARTUP_MS) : 0;
    return r->spec.timeout_ms + more;
}

static uint64_t memory_limit(const struct al_py_run *r)
{
    return limit(r, al_py_memory_option(r->config, r->backend->id)) * MIB;
}

void al_py_run_look(void *run)
{
    struct al_py_run *r = run;
    uint64_t before = al_mono_ms();
    r->look.use = (struct al_py_use){0};
    al_buf_clear(&r->look.progress);
    if (!al_py_progress_read(r->work_fd, &r->look.progress))
        al_buf_clear(&r->look.progress);
    bool counts = r->memory == AL_PY_KEPT_SAMPLED;
    if (r->group_memory)
        r->look.use.memory = al_cgroup_memory(r->cgroup);
    else
        r->look.use.memory =
            al_py_tree_memory(r->look.pid, counts ? memory_limit(r) : UINT64_MAX, &r->look.stop);
    r->look.took_ms = al_mono_ms() - before;
}

void al_py_run_look_at_disk(void *run)
{
    struct al_py_run *r = run;
    uint64_t before = al_mono_ms();
    uint64_t bytes = limit(r, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES);
    uint64_t files = limit(r, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES);
    r->files.use = (struct al_py_use){0};
    al_py_folder_use(r->work_fd, bytes, files, &r->look.stop, &r->files.use);
    al_py_folder_use(r->staging_fd, bytes, files, &r->look.stop, &r->files.use);
    r->files.took_ms = al_mono_ms() - before;
}

/* --- words --- */

static void hint_logs(const struct al_py_run *r, struct al_err *err, const char *more)
{
    al_hint(err, "What it had printed is in logs/stdout.log and logs/stderr.log of the run %s. %s",
            r->spec.job->id, more);
}

void al_py_run_say_timeout(const struct al_py_run *r, struct al_err *err)
{
    autobuf struct al_buf time = AL_BUF_INIT(64);
    al_text_duration(&time, r->spec.timeout_ms);
    al_fail(err, AL_TIMEOUT, "%s did not end within %.*s and was ended with all that it started",
            r->spec.job->id, AL_FMT(al_buf_str(&time)));
    al_hint(err,
            "do less in one script, or pass timeoutMs (now %" PRIu64
            "; its ceiling is analysis.limits.timeoutMs); what it printed until then is in the result and in "
            "logs/stdout.log of the run",
            r->spec.timeout_ms);
}

void al_py_run_say_memory(const struct al_py_run *r, struct al_err *err)
{
    enum al_opt o = al_py_memory_option(r->config, r->backend->id);
    char more[160];
    al_fail(err, AL_MEMORY_LIMIT, "the script was stopped: it used more memory than %s (%" PRIu64 " MiB)",
            al_opt_name(o), limit(r, o));
    snprintf(more, sizeof(more), "Work in smaller parts, or raise %s.", al_opt_name(o));
    hint_logs(r, err, more);
}

static void say_bytes(const struct al_py_run *r, struct al_err *err)
{
    autobuf struct al_buf size = AL_BUF_INIT(64);
    al_text_bytes(&size, limit(r, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES));
    al_fail(
        err, AL_QUOTA_EXCEEDED,
        "the script was stopped: its files take more of the disk than analysis.limits.maxWorkBytes (%.*s)",
        AL_FMT(al_buf_str(&size)));
    hint_logs(r, err, "Write less, or raise analysis.limits.maxWorkBytes.");
}

static void say_files(const struct al_py_run *r, bool deep, struct al_err *err)
{
    if (deep)
        al_fail(err, AL_QUOTA_EXCEEDED, "the script was stopped: its folders are nested more than %d deep",
                AL_PY_MAX_DEPTH);
    else
        al_fail(err, AL_QUOTA_EXCEEDED,
                "the script was stopped: it made more files and folders than analysis.limits.maxWorkFiles "
                "(%" PRIu64 ")",
                limit(r, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES));
    hint_logs(r, err,
              deep ? "Make fewer levels." : "Write fewer files, or raise analysis.limits.maxWorkFiles.");
}

bool al_py_run_over_limit(struct al_py_run *r, const struct al_py_use *use, enum al_py_cause *ret_cause,
                          struct al_err *ret_err)
{
    if (use->memory > r->peak_bytes)
        r->peak_bytes = use->memory;
    if (!r->backend->sampled)
        return false;
    if (r->memory == AL_PY_KEPT_SAMPLED && use->memory > memory_limit(r)) {
        *ret_cause = AL_PY_MEMORY;
        al_py_run_say_memory(r, ret_err);
        return true;
    }
    *ret_cause = AL_PY_DISK;
    if (use->disk > limit(r, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_BYTES)) {
        say_bytes(r, ret_err);
        return true;
    }
    if (use->deep || use->files > limit(r, AL_OPT_ANALYSIS_LIMITS_MAX_WORK_FILES)) {
        say_files(r, use->deep, ret_err);
        return true;
    }
    return false;
}

void al_py_run_tell_progress(struct al_py_run *r)
{
    struct al_str now = al_buf_str(&r->look.progress);
    if (now.n == 0 || al_str_eq(now, al_buf_str(&r->told)))
        return;
    al_buf_clear(&r->told);
    al_buf_add_str(&r->told, now);
    if (r->ops.progress)
        r->ops.progress(r->ud, al_buf_str(&r->told));
}
