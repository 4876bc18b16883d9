/* Retention of job folders. Pure of everything but the folders beneath <state>/analysis/jobs. */
#ifndef AL_PYRUN_SWEEP_H
#define AL_PYRUN_SWEEP_H

#include "base/buf.h"
#include "base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct al_py_sweep_spec {
    const char *state_dir;
    int64_t now_ms;                  /* wall clock; a job's age is that of its id */
    int64_t intermediate_days;       /* then work/ goes; 0: never */
    int64_t jobs_days;               /* then logs/ and staging/ go, and script/, input/ and job.json unless kept; 0: never */
    /* Both are asked in the thread of the sweep. live: it runs (or waits), so nothing of it is touched. kept: one of its
     * artifacts is ready, so that it can be run again. */
    bool (*live)(void *ud, const char *exec_id);
    bool (*kept)(void *ud, const char *exec_id);
    void *ud;
    const atomic_bool *stop; /* set by another thread: it ends soon; NULL: never */
};
struct al_py_swept {
    unsigned work, logs, scripts, jobs; /* folders removed: work/, logs/ with staging/, script/ with input/, whole jobs */
    int64_t bytes;
};
/* Never follows a link, never touches what is not named like a workspace, a session or a run, and never leaves the folder
 * that it opened first. What cannot be removed is passed over. said: a line for each folder that it removed something of;
 * NULL: none. Blocks. -1 when the folder of jobs cannot be opened; none is fine. */
int al_py_sweep(const struct al_py_sweep_spec *spec, struct al_py_swept *ret, struct al_buf *said, struct al_err *err)
    AL_MUST_CHECK;

#endif
