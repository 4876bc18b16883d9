/* The object, for the files of this folder that keep something in it. */
#ifndef AL_PYRUN_PYRUN_INT_H
#define AL_PYRUN_PYRUN_INT_H

#include "pyrun/backend.h"

#include <pthread.h>

struct al_py_program;
struct al_py_probing;
struct al_py_choosing;

struct al_pyrun {
    struct al_loop *loop;
    const struct al_config *config;
    char *state_dir, *python;
    char **avoid; /* NULL-terminated */
    enum al_py_policy floor;

    pthread_mutex_t lock; /* of programs */
    struct al_py_program *programs;

    pthread_mutex_t find_lock; /* held while an interpreter is looked for; of found and late */
    bool has_found;
    struct al_py_interpreter found;
    struct al_err late;           /* why none was found, when somebody did not answer in time */
    uint64_t late_until_ms;       /* so long it is not waited for again */
    _Atomic unsigned bwrap_minor; /* of bubblewrap 0.MINOR; 0: not known, so a new one */
    _Atomic bool closing;         /* no program is asked, or waited for, any more */
    _Atomic unsigned wasm_wall;   /* wasm.c: what is around Node.js; 0: not known */

    /* The loop's thread alone. */
    struct al_py_probe known[AL_PY_N];
    bool distrusted[AL_PY_N]; /* what the file says of it is not believed */
    struct al_py_probing *probing[AL_PY_N];
    struct al_py_choosing *choosing;
    unsigned busy; /* probes and choices under way, which need the object */
    bool closed;   /* al_pyrun_free was called: no callback any more */
    bool idle;     /* and nothing is under way */
};

/* probe.c: ends what is under way, and waits for it. False: it did not end in time. */
bool al_pyrun_settle(struct al_pyrun *p);

/* probe_cache.c: <state>/runtimes/python/probes.json. On the pool. The fingerprint is of all that a probe's result rests
 * on: kernel, its settings, programs, interpreter, our own binary, our user, the configuration. */
void al_py_fingerprint(struct al_pyrun *p, enum al_py_backend b, const struct al_py_interpreter *python,
                       char out[AL_SHA256_HEX]);
bool al_py_probe_recall(struct al_pyrun *p, enum al_py_backend b, const char *fingerprint, struct al_py_probe *ret);
void al_py_probe_remember(struct al_pyrun *p, enum al_py_backend b, const char *fingerprint,
                          const struct al_py_probe *probe);
/* <state>/runtimes/python, made when it is not there. -1: it cannot be. */
int al_py_runtimes_open(struct al_pyrun *p);

/* trap.c: what a probe's script tries to reach, and whether it did. Blocks, but for al_py_trap_sprung's few reads. */
struct al_py_trap {
    char name[AL_ID_MAX + 8]; /* of the folder in <state>/analysis, and of the abstract socket */
    char *path;               /* of the folder */
    int tcp, udp, local;      /* listening sockets */
    char secret[33];
};
int al_py_trap_set(struct al_pyrun *p, struct al_py_trap *t, struct al_err *err) AL_MUST_CHECK;
/* What the script is told of it (backend.h, probe_code). */
void al_py_trap_tell(const struct al_py_trap *t, struct al_buf *out);
/* Whether anything arrived here, whatever the script says. */
void al_py_trap_sprung(const struct al_py_trap *t, bool *network, bool *files);
void al_py_trap_clear(struct al_pyrun *p, struct al_py_trap *t);

#endif
