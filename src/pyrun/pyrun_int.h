/* The object, for the files of this folder that keep something in it. */
#ifndef AL_PYRUN_PYRUN_INT_H
#define AL_PYRUN_PYRUN_INT_H

#include "pyrun/backend.h"

#include <pthread.h>

struct al_py_program;
struct al_py_probing;

struct al_pyrun {
    struct al_loop *loop;
    const struct al_config *config;
    char *state_dir, *python;
    char **avoid; /* NULL-terminated */
    enum al_py_policy floor;

    pthread_mutex_t lock; /* of programs */
    struct al_py_program *programs;

    pthread_mutex_t find_lock; /* held while an interpreter is looked for; of found */
    bool has_found;
    struct al_py_interpreter found;
    _Atomic unsigned bwrap_minor; /* of bubblewrap 0.MINOR; 0: not known, so a new one */

    /* The loop's thread alone. */
    struct al_py_probe known[AL_PY_N];
    struct al_py_probing *probing[AL_PY_N];
    unsigned busy; /* probes and choices under way, which keep the object */
    bool closed;   /* al_pyrun_free was called */
};

/* busy fell to 0 after al_pyrun_free. */
void al_pyrun_let_go(struct al_pyrun *p);

#endif
