/*
 * Extras: packages for scripts (pandas, matplotlib, …), installed from hash-locked wheels into a private virtual
 * environment that no job can write, <state>/runtimes/python/<version>/venv, and found again for each run. <version> is
 * a hash of the lock file and the interpreter's version; runtimes/python/extras.json says which one each set has.
 */
#ifndef AL_PYRUN_EXTRAS_H
#define AL_PYRUN_EXTRAS_H

#include "base/json.h"
#include "pyrun/pyrun.h"

/* What a set holds is for people: names, and what it costs. science has all of analysis. */
struct al_py_extras_set {
    const char *name;     /* "analysis" */
    const char *packages; /* "pandas, numpy, …" */
    const char *size;     /* of the download: "75 MB" */
};
const struct al_py_extras_set *al_py_extras_sets(size_t *ret_n);
/* NULL: no set of that name. */
const struct al_py_extras_set *al_py_extras_set(struct al_str name);

/* The environment that has all of the named sets (n ≥ 1) for that interpreter, checked against what was recorded when it
 * was installed: path of the venv folder, malloc'ed. EXTRAS_NOT_INSTALLED with the command; EXTRAS_INSTALL_FAILED when it
 * is not as it was. Blocks for a walk over its files: for the pool. */
int al_py_extras_find(struct al_pyrun *p, const struct al_py_interpreter *python, const char *const *sets, size_t n,
                      char **ret_venv, struct al_err *err) AL_MUST_CHECK;
/* For status: {"analysis":{"installed":true,"version":…,"python":…,"createdAt":…},…}, without checking the files. */
void al_py_extras_json(struct al_pyrun *p, struct al_jw *w);

struct al_py_install_spec {
    const char *set;
    struct al_str lock;   /* a lock file in place of the set's own; empty: the built-in */
    const char *from;     /* a folder of wheels, in place of the index; NULL: the index */
};
struct al_py_install_ops {
    void (*progress)(void *ud, struct al_str json); /* {"note":…} */
    void (*end)(void *ud, const struct al_err *err); /* once, never from within start; err->code AL_OK: installed */
};
struct al_py_install;
/* Beside what is there, which stays until all has succeeded; then one rename. At most 30 minutes. Killed at any moment,
 * nothing half-built is ever found: what is left is removed by the next installation or sweep. */
struct al_py_install *al_py_extras_install(struct al_pyrun *p, const struct al_py_install_spec *spec,
                                           const struct al_py_install_ops *ops, void *ud, struct al_err *err);
void al_py_install_cancel(struct al_py_install *i);
/* Removes what killed installations left, and environments that nothing names any more. Count. */
int al_py_extras_sweep(const char *state_dir);

#endif
