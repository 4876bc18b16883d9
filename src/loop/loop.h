/* The event loop: libuv behind a small surface. One thread; only work functions run elsewhere. */
#ifndef AL_LOOP_LOOP_H
#define AL_LOOP_LOOP_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct al_loop;
struct al_loop *al_loop_new(void);
void al_loop_free(struct al_loop *loop); /* every handle must have been stopped */
void al_loop_run(struct al_loop *loop);  /* until al_loop_stop, or nothing is left to wait for */
void al_loop_stop(struct al_loop *loop);
/* Runs until *done is true or the deadline passes (0: none). For commands that wait for one thing. True when done. */
bool al_loop_run_until(struct al_loop *loop, const bool *done, uint64_t timeout_ms);

/*
 * Handles. Each _stop takes the handle back: it may be called in any callback, also in its own; NULL is fine; the
 * pointer is dead after it, and no callback comes any more (the memory is freed when libuv has let go).
 */
struct al_timer;
/* Fires once, not before timeout_ms of CLOCK_MONOTONIC have passed since this call. After firing, the handle is dead. */
struct al_timer *al_timer_start(struct al_loop *loop, uint64_t timeout_ms, void (*fn)(void *ud), void *ud);
/* Fires every period_ms until stopped. */
struct al_timer *al_timer_every(struct al_loop *loop, uint64_t period_ms, void (*fn)(void *ud), void *ud);
void al_timer_stop(struct al_timer *t);

/* Runs fn in a later turn of the loop, in order. Cannot be taken back: ud must live, or carry its own check. */
void al_defer(struct al_loop *loop, void (*fn)(void *ud), void *ud);

enum { AL_READABLE = 1, AL_WRITABLE = 2, AL_HANGUP = 4 };
struct al_watch;
/* Level-triggered readiness of a socket, pipe or pidfd (not of a regular file). The descriptor stays the caller's
 * and must outlive the watch. NULL with err. */
struct al_watch *al_watch_start(struct al_loop *loop, int fd, int events, void (*fn)(void *ud, int events), void *ud,
                                struct al_err *err);
void al_watch_stop(struct al_watch *w);

/* work(ud) on the thread pool, then done(ud) in the loop, always both. */
void al_work_start(struct al_loop *loop, void (*work)(void *ud), void (*done)(void *ud), void *ud);

struct al_signal;
struct al_signal *al_signal_start(struct al_loop *loop, int signum, void (*fn)(void *ud, int signum), void *ud);
void al_signal_stop(struct al_signal *s);

#endif
