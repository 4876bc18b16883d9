/* The host side of the engine, between its own files. */
#ifndef AL_JSVM_ENGINE_INT_H
#define AL_JSVM_ENGINE_INT_H

#include "base/arena.h"
#include "jsvm/engine.h"
#include "jsvm/proto.h"
#include "wire/frame.h"

#include <sys/types.h>

#define AL_ZYGOTE_RUNS_MAX 10000
#define AL_ZYGOTE_AGE_MS ((uint64_t)3600 * 1000)
#define AL_PROGRESS_MS 50

struct al_zygote {
    struct al_engine *engine;
    pid_t pid;
    int pidfd, control;
    struct al_watch *watch;
    uint64_t runs, born_ms;
    char why[200]; /* what it said when it failed to start */
};

struct al_engine {
    struct al_loop *loop;
    struct al_zygote *zygote; /* the one that forks now; NULL when there is none */
    struct al_vm *runs;       /* all that have not ended */
    uint64_t started, next_seq;
};

/* Why the host ended a run. The cause of an end is this, never what the run said. */
enum al_vm_cause {
    AL_CAUSE_NONE,
    AL_CAUSE_TIMEOUT,
    AL_CAUSE_CANCELLED,
    AL_CAUSE_OUTPUT,   /* printed more than it may */
    AL_CAUSE_LIE,      /* broke the protocol: `lie` says how */
    AL_CAUSE_NO_START, /* the zygote cannot fork it: `lie` says why */
};

struct al_vm {
    struct al_engine *engine;
    struct al_vm *next, **link; /* in engine->runs */
    struct al_zygote *zygote;   /* while its pid is not known */
    const struct al_vm_ops *ops;
    void *ud;
    uint64_t seq;
    pid_t pid;
    int pidfd, channel, page;
    int child_channel; /* the other end, until the zygote has forked: a second zygote may need it */
    struct al_watch *exit_watch, *channel_watch;
    bool wants_write;
    struct al_frames in;
    struct al_buf out;
    size_t out_at;
    /* limits */
    uint64_t memory_bytes, data_bytes, timeout_ms;
    uint32_t max_concurrency;
    size_t max_text_bytes, max_value_bytes;
    /* the clock */
    uint64_t start_ns, spent_ns, going_ns; /* going_ns: since when it goes; 0 while it stands */
    unsigned stops;
    struct al_timer *timer, *hang_timer;
    /* what it has said */
    size_t text_bytes;
    uint32_t *open; /* ids of calls without answer */
    uint32_t n_open;
    struct al_buf progress; /* held back by the limit of frequency */
    uint64_t progress_ms;
    struct al_timer *progress_timer;
    struct al_buf value, state, last; /* last: the JSON of END */
    bool ended;                       /* END has come */
    bool retried;
    enum al_vm_cause cause;
    char lie[200];
};

/* engine.c */
int al_zygote_request(struct al_vm *vm, struct al_err *err);

/* run.c */
struct al_vm *al_vm_start_probe(struct al_engine *e, const struct al_vm_spec *spec,
                                const struct al_vm_ops *ops, void *ud, bool probe, struct al_err *err);
void al_vm_forked(struct al_vm *vm, int64_t pid);
void al_vm_zygote_gone(struct al_vm *vm, const struct al_zygote *z);
void al_vm_kill(struct al_vm *vm, enum al_vm_cause cause);
void al_vm_take_down(struct al_vm *vm); /* kills, reaps and ends it, now */
void al_vm_queue(struct al_vm *vm, uint8_t type, struct al_str payload);

/* run_end.c: views in end lie in the arena, or in the run's own buffers. */
struct al_exit;
void al_vm_make_end(struct al_vm *vm, const struct al_exit *how, struct al_arena *a, struct al_vm_end *end);

/* frames.c */
void al_vm_take_frame(struct al_vm *vm, const struct al_frame *f);
void al_vm_flush_progress(struct al_vm *vm);
int al_vm_lie(struct al_vm *vm, const char *what); /* kills it for breaking the protocol; -1 */

/* json_check.c: is s one JSON text, valid UTF-8, no deeper than max_depth? Needs no memory. */
bool al_json_check(struct al_str s, unsigned max_depth);

#endif
