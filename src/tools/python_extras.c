/* The packages that a run asks for: found, or installed when the person says so. */
#include "tools/python_int.h"

#include "base/mem.h"
#include "pyrun/extras.h"

/* Which set to install for those that are wanted: science has all of analysis. */
static const char *wanted_set(const struct python_run *r)
{
    for (size_t i = 0; i < r->n_extras; i++) {
        if (strcmp(r->extras[i], "science") == 0)
            return "science";
    }
    return "analysis";
}

static bool brings_its_own(const struct python_run *r)
{
    return r->backend == AL_PY_OCI || r->backend == AL_PY_WASM;
}

/* On the pool: it asks the interpreter, and walks over the files of the environment. */
static void find_work(void *ud)
{
    struct python_run *r = ud;
    struct al_pyrun *p = r->pyrun;
    struct al_py_interpreter python = {0};
    autofree char *venv = NULL;
    if (al_py_interpreter_find(p, &python, &r->err) < 0)
        return;
    if (al_py_extras_find(p, &python, r->extras, r->n_extras, &venv, &r->err) == 0)
        r->venv = al_arena_dup(&r->arena, al_str_of(venv));
    al_py_interpreter_fini(&python);
}

static void find(struct python_run *r);

static void installed(void *ud, const struct al_err *err)
{
    struct python_run *r = ud;
    r->install = NULL;
    if (err->code == AL_OK && !r->cancelled) {
        find(r);
        return;
    }
    r->err = *err;
    python_extras_done(r);
}

static void on_progress(void *ud, struct al_str json)
{
    struct python_run *r = ud;
    al_call_progress(r->call, json);
}

static void answered(struct al_call *call, const struct al_err *err)
{
    static const struct al_py_install_ops ops = {.progress = on_progress, .end = installed};
    struct python_run *r = call->impl;
    r->asking = false;
    if (!err && !r->cancelled) {
        struct al_py_install_spec spec = {.set = wanted_set(r)};
        r->asked = true;
        r->install = al_py_extras_install(r->pyrun, &spec, &ops, r, &r->err);
        if (r->install)
            return;
    } else if (err) {
        r->err = *err;
    }
    python_extras_done(r);
}

static void ask(struct python_run *r)
{
    const struct al_py_extras_set *set = al_py_extras_set(al_str_of(wanted_set(r)));
    struct al_ask_install what = {.extras = set->name, .packages = set->packages, .size = set->size};
    al_err_clear(&r->err);
    r->asking = true;
    al_call_ask_install(r->call, &what, answered);
}

static void found(void *ud)
{
    struct python_run *r = ud;
    r->busy = false;
    if (r->err.code == AL_EXTRAS_NOT_INSTALLED && !r->asked && !r->cancelled)
        ask(r);
    else
        python_extras_done(r);
}

static void find(struct python_run *r)
{
    r->busy = true;
    al_work_start(al_core_loop(r->core), find_work, found, r);
}

void python_extras(struct python_run *r)
{
    if (r->n_extras && !brings_its_own(r)) {
        find(r);
        return;
    }
    if (r->n_extras)
        al_buf_addf(&r->warnings, "extras are not used in %s: there is what %s has\n",
                    al_py_backend_name(r->backend),
                    r->backend == AL_PY_OCI ? "its image" : "its distribution");
    python_extras_done(r);
}

void python_extras_cancel(struct python_run *r)
{
    if (r->install)
        al_py_install_cancel(r->install);
}
