/* The table of back ends, and what several of them have in common. */
#include "pyrun/backend.h"

const struct al_py_backend_ops *al_py_backend_ops(enum al_py_backend b)
{
    static const struct al_py_backend_ops *const table[AL_PY_N] = {
        [AL_PY_BWRAP] = &al_py_bwrap, [AL_PY_LANDLOCK] = &al_py_landlock, [AL_PY_OCI] = &al_py_oci,
        [AL_PY_WASM] = &al_py_wasm,   [AL_PY_MANAGED] = &al_py_managed,
    };
    return table[b];
}

enum al_opt al_py_memory_option(const struct al_config *c, enum al_py_backend b)
{
    enum al_opt own = b == AL_PY_OCI    ? AL_OPT_ANALYSIS_OCI_MEMORY_MB
                      : b == AL_PY_WASM ? AL_OPT_ANALYSIS_WASM_MEMORY_MB
                                        : AL_OPT_ANALYSIS_LIMITS_MEMORY_MB;
    bool less = al_config_int(c, own) < al_config_int(c, AL_OPT_ANALYSIS_LIMITS_MEMORY_MB);
    return less ? own : AL_OPT_ANALYSIS_LIMITS_MEMORY_MB;
}

struct al_py_places *al_py_host_places(const struct al_py_start *start, struct al_arena *a)
{
    const char *job = start->spec->job->path;
    struct al_py_places *p = al_arena_alloc(a, sizeof(*p));
    if (!p)
        return NULL;
    p->script = al_arena_printf(a, "%s/script", job);
    p->input = al_arena_printf(a, "%s/input", job);
    p->work = al_arena_printf(a, "%s/work", job);
    p->output = al_arena_printf(a, "%s/staging", job);
    p->scratch = start->spec->scratch;
    return p->script && p->input && p->work && p->output ? p : NULL;
}

const char *al_py_executable(const struct al_py_start *start, struct al_arena *a)
{
    if (start->spec->venv)
        return al_arena_printf(a, "%s/bin/python", start->spec->venv);
    return start->python->path;
}

bool al_py_explain_guest(const struct al_guest_report *report, int exit_code, struct al_str errors,
                         const char *name, struct al_err *err)
{
    if (report->layer == AL_GUEST_STARTED)
        return false;
    if (report->layer > AL_GUEST_STARTED) {
        al_guest_explain(report, err);
        al_wrap(err, "%s", name);
        return true;
    }
    al_fail(err, AL_RUNTIME_UNAVAILABLE, "%s ended before the script began (exit status %d)", name,
            exit_code);
    if (errors.n > 0)
        al_detail(err, "%.*s", errors.n > 200 ? 200 : (int)errors.n, errors.p);
    return true;
}
