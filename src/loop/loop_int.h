/* Shared by the files of the loop only. */
#ifndef AL_LOOP_LOOP_INT_H
#define AL_LOOP_LOOP_INT_H

#include "loop/loop.h"

#include <uv.h>

struct al_deferred {
    void (*fn)(void *ud);
    void (*drop)(void *ud); /* instead of fn, when the loop is freed first; or NULL */
    void *ud;
    struct al_deferred *next;
};

struct al_loop {
    uv_loop_t uv;
    uv_idle_t idle; /* runs while something is deferred, so that the loop does not sleep on it */
    struct al_deferred *first, **last;
    bool running;
};

/* al_defer; when the loop is freed before its turn, drop(ud) is called instead, to let go of what ud holds.
 */
void al_defer_or_drop(struct al_loop *loop, void (*fn)(void *ud), void (*drop)(void *ud), void *ud);

/* al_watch_start with the reason as -errno: EPERM when the descriptor (a regular file) cannot be waited for.
 */
int al_watch_open(struct al_loop *loop, int fd, int events, void (*fn)(void *ud, int events), void *ud,
                  struct al_watch **ret);

#endif
