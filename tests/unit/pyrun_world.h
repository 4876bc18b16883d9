/* What tests of Python runs stand on: a state folder of their own, a config and an al_pyrun over them. */
#ifndef AL_TESTS_PYRUN_WORLD_H
#define AL_TESTS_PYRUN_WORLD_H

#include "pyrun/pyrun.h"

struct pyrun_world {
    char *top, *state;
    struct al_loop *loop;
    struct al_config *config;
    struct al_pyrun *pyrun;
    struct al_pyrun_opts opts; /* change it before pyrun_world_start */
    unsigned jobs;
};

/* The first call of main: enters the supervisor and the guest when this program was started as one. */
void pyrun_world_enter(int argc, char **argv);
/* cmocka's set-up and tear-down. No run may be on its way at the end. */
int pyrun_world_set_up(void **state);
int pyrun_world_tear_down(void **state);
/* Makes t->pyrun anew. config_json NULL: none. */
void pyrun_world_start(struct pyrun_world *t, const char *config_json);

/* A job of its own with that script. */
void pyrun_world_job(struct pyrun_world *t, const char *code, struct al_py_job *ret);

/* How a run ended, and what came on the way. */
struct pyrun_answer {
    bool done, has_started;
    unsigned ends;
    int64_t pid;
    enum al_py_cause cause;
    int exit_code, signal;
    struct al_err err;
    char *out, *errors, *progress; /* the last progress; freed by pyrun_answer_free */
    unsigned n_progress;
    uint64_t out_bytes, out_logged, duration_ms, cpu_ms, peak_bytes;
    enum al_py_keeper memory, pids, disk;
    bool pid_namespace;
    uint64_t came;     /* bytes of both outputs so far */
    const char *until; /* heard when this stands in what came */
    struct al_buf heard_text;
    bool heard;
};
void pyrun_answer_free(struct pyrun_answer *a);
struct al_py_run *pyrun_world_begin(struct pyrun_world *t, const struct al_py_run_spec *spec,
                                    struct pyrun_answer *answer);
/* Runs the loop until it is true; fails the test after 150 s. */
void pyrun_world_wait(struct pyrun_world *t, const bool *flag);
/* Job, run, wait; the job's folder is removed unless keep is given, which then is the caller's. */
void pyrun_world_run(struct pyrun_world *t, enum al_py_backend b, const char *code, uint64_t timeout_ms,
                     struct pyrun_answer *answer, struct al_py_job *keep);
/* Does this computer have it? Else the reason is printed: the test then skips. */
bool pyrun_world_has(struct pyrun_world *t, enum al_py_backend b);

#endif
