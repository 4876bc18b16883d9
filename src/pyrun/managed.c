/* The user's own Python with the user's rights: no wall at all, and it says so. */
#include "pyrun/backend.h"

#include <fcntl.h>
#include <stdio.h>

static enum al_py_isolation isolation(struct al_pyrun *p)
{
    (void)p;
    return AL_PY_NONE;
}

static int check(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err)
{
    (void)p;
    (void)err;
    snprintf(probe->version, sizeof(probe->version), "Python %s", probe->python);
    return 0;
}

static int command(const struct al_py_start *start, struct al_arena *a, struct al_py_command *ret,
                   struct al_err *err)
{
    static const char *const self[] = {"alisio", NULL};
    *ret = (struct al_py_command){.cwd_fd = -1, .fds = {-1, -1, -1, -1}};
    struct al_guest g = {
        .cgroup_procs = start->cgroup ? al_cgroup_procs(start->cgroup) : NULL,
        .pid_ns = AL_GUEST_TRY,
        .report_fd = start->report_fd,
    };
    const struct al_py_places *places = al_py_host_places(start, a);
    const char *main_py = places ? al_arena_printf(a, "%s/main.py", places->script) : NULL;
    const char *head[] = {al_py_executable(start, a), NULL};
    char **python = main_py && head[0] ? al_py_argv(head, main_py, a) : NULL;
    ret->argv = python ? al_guest_argv(a, self, &g, (const char *const *)python) : NULL;
    ret->envp = ret->argv ? al_py_env(start, places, a) : NULL;
    if (!ret->envp)
        return al_fail(err, AL_INTERNAL, "the command of a script is too long");
    ret->cwd_fd = openat(start->spec->job->fd, "work", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return 0;
}

static bool explain(const struct al_guest_report *report, int exit_code, struct al_str errors,
                    struct al_err *err)
{
    return al_py_explain_guest(report, exit_code, errors, "managed", err);
}

const struct al_py_backend_ops al_py_managed = {
    .id = AL_PY_MANAGED,
    .needs_python = true,
    .isolation = isolation,
    .check = check,
    .command = command,
    .explain = explain,
};
