/* A run from within, for run.c and run_*.c. */
#ifndef AL_PYRUN_RUN_STATE_H
#define AL_PYRUN_RUN_STATE_H

#include "loop/child.h"
#include "os/spawn.h"
#include "pyrun/run_int.h"

#include <stdio.h>

enum al_py_run_phase {
    AL_PY_RUN_PREPARING,
    AL_PY_RUN_ON,  /* its program runs */
    AL_PY_RUN_OVER /* nothing of it runs any more */
};

struct al_py_run {
    struct al_pyrun *pyrun;
    struct al_loop *loop;
    const struct al_config *config;
    const struct al_py_backend_ops *backend;
    struct al_py_run_spec spec; /* its texts in the arena */
    struct al_py_run_ops ops;
    void *ud;
    struct al_arena arena;

    enum al_py_run_phase phase;
    bool decided;     /* cause, and err where it has one, are known */
    bool prepared;    /* else err says why */
    unsigned looking; /* looks that are on the pool: what they write is their own */
    bool finishing;
    enum al_py_cause cause;
    struct al_err err;

    /* Made on the pool before the start. */
    struct al_py_interpreter python;
    struct al_cgroup *cgroup;
    struct al_py_command command;
    int report[2];
    int work_fd, staging_fd;
    struct al_py_capture out, errors;

    struct al_service *service;
    struct al_child *stopper;
    unsigned stops; /* times that the engine was told to */
    struct al_timer *deadline, *tick, *disk_tick,
        *client;                 /* client: an engine's, after its container was ended */
    struct al_service_end ended; /* when it ran */
    bool service_ran, had_group, group_memory;
    enum al_py_keeper memory, pids, disk;
    uint64_t started_ms, duration_ms, peak_bytes;

    struct {
        atomic_bool stop;
        pid_t pid;
        struct al_py_use use;
        uint64_t took_ms;
        struct al_buf progress; /* what it found; empty: nothing */
    } look;
    /* A tree of files may take long to be walked: nobody's memory is out of sight meanwhile. */
    struct {
        struct al_py_use use;
        uint64_t took_ms;
    } files;
    struct al_buf told; /* the progress that was told last */

    /* Found on the pool at the end. */
    struct al_guest_report last_report; /* layer -1: none came */
    bool was_oom;
};

/* run_prepare.c */
struct al_py_run *al_py_run_new(struct al_pyrun *p, const struct al_py_run_spec *spec,
                                const struct al_py_backend_ops *backend);
void al_py_run_free(struct al_py_run *r);
void al_py_run_prepare(void *run); /* on the pool */
void al_py_run_close_passed(struct al_py_run *r);
void al_py_run_clear(void *run); /* on the pool: the last look, and the control group goes */

/* run_watch.c */
uint64_t al_py_run_time(const struct al_py_run *r); /* ms, with what the back end needs to start */
void al_py_run_look(void *run);                     /* on the pool: memory and progress */
void al_py_run_look_at_disk(void *run);             /* on the pool */
bool al_py_run_over_limit(struct al_py_run *r, const struct al_py_use *use, enum al_py_cause *ret_cause,
                          struct al_err *ret_err);
void al_py_run_tell_progress(struct al_py_run *r);
void al_py_run_say_timeout(const struct al_py_run *r, struct al_err *err);
void al_py_run_say_memory(const struct al_py_run *r, struct al_err *err);

/* run_end.c */
void al_py_run_find_keepers(struct al_py_run *r); /* once it is prepared, on the loop's thread */
void al_py_run_tell_end(struct al_py_run *r);

#endif
