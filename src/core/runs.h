/* The script runs of one host: how many at once, who waits, and how one is found by its id. It starts none
 * itself. */
#ifndef AL_CORE_RUNS_H
#define AL_CORE_RUNS_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct al_core;

/* Part of a run, which fills the first five. */
struct al_run_slot {
    const char *id;
    void (*go)(void *ud);     /* its turn has come; in a turn of the loop of its own */
    void (*cancel)(void *ud); /* for al_core_cancel_run */
    void *ud;
    /* Made by a script that has a place: it goes at once and takes none, or runs that wait for runs of their own would
     * stop each other for good. Set before al_runs_admit. */
    bool nested;
    struct al_run_slot *next, *prev;
    enum {
        AL_SLOT_OUT,
        AL_SLOT_ADMITTED,
        AL_SLOT_WAITING,
        AL_SLOT_RUNNING
    } state;
};

/* Takes a place among the runs of this host; BUSY when 16 run and 64 wait. */
int al_runs_admit(struct al_core *core, struct al_run_slot *slot, struct al_err *err) AL_MUST_CHECK;
/* Asks for a turn: go() follows, first come, first served. */
void al_runs_wait(struct al_core *core, struct al_run_slot *slot);
/* Gives the place back, from any state; no callback comes after it. */
void al_runs_leave(struct al_core *core, struct al_run_slot *slot);
/* Runs that wait or are being asked about. */
size_t al_runs_n_queued(const struct al_core *core);

#endif
