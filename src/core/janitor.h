/* Retention: what is removed after its time, by whom, and when. */
#ifndef AL_CORE_JANITOR_H
#define AL_CORE_JANITOR_H

#include "base/buf.h"
#include "core/core.h"
#include "pyrun/sweep.h"

struct al_swept {
    struct al_py_swept jobs;
    unsigned artifacts; /* expired: their files went, their rows stay */
    unsigned datasets;  /* unused ones */
    unsigned extras;    /* environments that nothing names, and halves of killed installations */
    struct al_buf said; /* a line for each thing removed */
    struct al_err err;  /* what could not be done */
    bool too_soon;      /* it was done less than a day ago: nothing was looked at */
};
/* Sweeps in the background, at most once in 24 hours for all processes that share the state folder, or now (force); done
 * comes once, later. BUSY in err when another process is at it. */
void al_core_sweep(struct al_core *core, bool force, void (*done)(void *ud, const struct al_swept *swept), void *ud);
/* For hosts that live long: once in 24 hours for all that share the state folder, the first a few seconds from now; not
 * under --read-only, nor with analysis.enabled off. What it removed goes to the log. */
void al_core_janitor_start(struct al_core *core);
void al_core_janitor_stop(struct al_core *core); /* a sweep that goes on ends soon; idle (core.h) comes after it */

#endif
