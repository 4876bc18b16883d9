/* A run's parts that are made and taken away on the pool. */
#include "base/mem.h"
#include "os/fd.h"
#include "pyrun/job_int.h"
#include "pyrun/run_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_MAX (4u << 20)
#define PROGRESS_MAX 8192
#define MIB ((uint64_t)1 << 20)

static const char *keep(struct al_py_run *r, const char *text)
{
    return text ? al_arena_dup(&r->arena, al_str_of(text)) : NULL;
}

struct al_py_run *al_py_run_new(struct al_pyrun *p, const struct al_py_run_spec *spec,
                                const struct al_py_backend_ops *backend)
{
    struct al_py_run *r = al_xcalloc(1, sizeof(*r));
    al_arena_init(&r->arena, ARENA_MAX);
    r->pyrun = p;
    r->loop = al_pyrun_loop(p);
    r->config = al_pyrun_config(p);
    r->backend = backend;
    r->spec = *spec;
    r->spec.venv = keep(r, spec->venv);
    r->spec.scratch = keep(r, spec->scratch);
    r->report[0] = r->report[1] = r->work_fd = r->staging_fd = -1;
    r->command.cwd_fd = -1;
    memset(r->command.fds, -1, sizeof(r->command.fds));
    r->last_report.layer = -1;
    al_buf_init(&r->look.progress, PROGRESS_MAX);
    al_buf_init(&r->told, PROGRESS_MAX);
    uint64_t max_log = (uint64_t)al_config_int(r->config, AL_OPT_ANALYSIS_LIMITS_MAX_LOG_BYTES);
    al_py_capture_init(&r->out, spec->max_head, spec->max_tail, max_log, -1, "stdout.log");
    al_py_capture_init(&r->errors, spec->max_head, spec->max_tail, max_log, -1, "stderr.log");
    return r;
}

/* What only the program is to have from now on: with our end of the report open, nobody could tell that none
 * comes. */
void al_py_run_close_passed(struct al_py_run *r)
{
    for (size_t i = 0; i < sizeof(r->command.fds) / sizeof(r->command.fds[0]); i++)
        al_close(&r->command.fds[i]);
    al_close(&r->command.cwd_fd);
    al_close(&r->report[1]);
}

void al_py_run_free(struct al_py_run *r)
{
    al_py_run_close_passed(r);
    al_close(&r->report[0]);
    al_close(&r->work_fd);
    al_close(&r->staging_fd);
    al_py_capture_fini(&r->out);
    al_py_capture_fini(&r->errors);
    al_buf_free(&r->look.progress);
    al_buf_free(&r->told);
    al_cgroup_free(r->cgroup);
    if (r->python.path)
        al_py_interpreter_fini(&r->python);
    al_arena_free(&r->arena);
    free(r);
}

/* --- before --- */

static int fail_folder(const struct al_py_run *r, int eno, const char *what, struct al_err *err)
{
    al_fail_errno(err, eno == ENOSPC || eno == EDQUOT ? AL_QUOTA_EXCEEDED : AL_INTERNAL, eno,
                  "cannot use %s of the job", what);
    return al_detail(err, "%s", r->spec.job->path);
}

static int open_log(const struct al_py_run *r, int logs, struct al_py_capture *c, struct al_err *err)
{
    c->log_fd =
        openat(logs, c->log_name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    return c->log_fd < 0 ? fail_folder(r, errno, c->log_name, err) : 0;
}

static int open_parts(struct al_py_run *r, struct al_err *err)
{
    autofd int logs = -1;
    const struct al_py_job *j = r->spec.job;
    if (al_py_job_part(j, "work", &r->work_fd, err) < 0 ||
        al_py_job_part(j, "staging", &r->staging_fd, err) < 0 || al_py_job_part(j, "logs", &logs, err) < 0)
        return -1;
    return open_log(r, logs, &r->out, err) < 0 || open_log(r, logs, &r->errors, err) < 0 ? -1 : 0;
}

/* Whoever makes the walls is no longer the root who may enter everything when it goes to work/; the folder
 * above keeps others out. */
static int give_folders(struct al_py_run *r, uid_t uid, gid_t gid, struct al_err *err)
{
    if (fchmodat(r->spec.job->fd, "work", 0711, 0) < 0)
        return fail_folder(r, errno, "work/", err);
    if (fchownat(r->work_fd, "", uid, gid, AT_EMPTY_PATH) < 0)
        return fail_folder(r, errno, "work/", err);
    if (fchownat(r->staging_fd, "", uid, gid, AT_EMPTY_PATH) < 0)
        return fail_folder(r, errno, "staging/", err);
    return 0;
}

/* Without one the sampler does what it can. */
static int make_group(struct al_py_run *r, struct al_err *err)
{
    struct al_cgroup_limits limits = {
        .memory_bytes =
            (uint64_t)al_config_int(r->config, al_py_memory_option(r->config, r->backend->id)) * MIB,
        .pids = (uint64_t)al_config_int(r->config, AL_OPT_ANALYSIS_LIMITS_PROCESSES),
    };
    /* What an engine starts is not our child. */
    bool ours = r->backend->sampled && r->backend->id != AL_PY_OCI;
    if (ours && al_cgroup_new(r->spec.job->id, &limits, &r->cgroup, err) < 0)
        return -1;
    r->had_group = r->cgroup != NULL;
    r->group_memory = r->cgroup && al_cgroup_limits_memory(r->cgroup);
    return 0;
}

static int make_report(struct al_py_run *r, struct al_err *err)
{
    if (pipe2(r->report, O_CLOEXEC | O_NONBLOCK) < 0)
        return al_fail_errno(err, AL_BUSY, errno, "cannot make a pipe");
    return 0;
}

static int prepare(struct al_py_run *r, struct al_err *err)
{
    struct al_py_start start = {.pyrun = r->pyrun, .spec = &r->spec, .report_fd = AL_PY_REPORT_FD};
    if (r->backend->needs_python && al_py_interpreter_find(r->pyrun, &r->python, err) < 0)
        return -1;
    if (open_parts(r, err) < 0)
        return -1;
    if (r->backend->drops_root && geteuid() == 0) {
        al_py_job_owner(r->spec.job, &start.uid, &start.gid);
        if (give_folders(r, start.uid, start.gid, err) < 0)
            return -1;
    }
    if (make_group(r, err) < 0 || make_report(r, err) < 0)
        return -1;
    start.python = r->backend->needs_python ? &r->python : NULL;
    start.cgroup = r->cgroup;
    return r->backend->command(&start, &r->arena, &r->command, err);
}

void al_py_run_prepare(void *run)
{
    struct al_py_run *r = run;
    r->prepared = prepare(r, &r->err) == 0;
}

/* --- after --- */

/* Several links of the chain may have written; the last word counts. */
static void read_report(struct al_py_run *r)
{
    struct al_guest_report report;
    while (r->report[0] >= 0 && read(r->report[0], &report, sizeof(report)) == sizeof(report))
        r->last_report = report;
}

void al_py_run_clear(void *run)
{
    struct al_py_run *r = run;
    read_report(r);
    al_buf_clear(&r->look.progress);
    if (r->work_fd >= 0 && !al_py_progress_read(r->work_fd, &r->look.progress))
        al_buf_clear(&r->look.progress);
    if (r->cgroup)
        r->was_oom = al_cgroup_was_oom(r->cgroup);
    al_cgroup_free(r->cgroup);
    r->cgroup = NULL;
}
