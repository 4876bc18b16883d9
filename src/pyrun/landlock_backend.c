/* Not built yet. */
#include "pyrun/backend.h"

static enum al_py_isolation isolation(struct al_pyrun *p)
{
    (void)p;
    return AL_PY_OS_FILTER;
}

static int check(struct al_pyrun *p, struct al_py_probe *probe, struct al_err *err)
{
    (void)p;
    (void)probe;
    return al_fail(err, AL_RUNTIME_UNAVAILABLE, "not built yet");
}

static int command(const struct al_py_start *start, struct al_arena *a, struct al_py_command *ret,
                   struct al_err *err)
{
    (void)start;
    (void)a;
    (void)ret;
    return al_fail(err, AL_RUNTIME_UNAVAILABLE, "not built yet");
}

static bool explain(const struct al_guest_report *report, int exit_code, struct al_str errors,
                    struct al_err *err)
{
    return al_py_explain_guest(report, exit_code, errors, "landlock", err);
}

const struct al_py_backend_ops al_py_landlock = {
    .id = AL_PY_LANDLOCK, .isolation = isolation, .check = check, .command = command, .explain = explain};
