/* The host side of the engine, between its own files. */
#ifndef AL_JSVM_ENGINE_INT_H
#define AL_JSVM_ENGINE_INT_H

#include "base/arena.h"
#include "base/json.h"
#include "jsvm/engine.h"
#include "jsvm/proto.h"
#include "os/spawn.h"
#include "wire/frame.h"

#include <sys/types.h>

#define AL_ZYGOTE_RUNS_MAX 10000
#define AL_ZYGOTE_AGE_MS ((uint64_t)3600 * 1000)
#define AL_PROGRESS_MS 50
#define AL_TURN_NS ((uint64_t)2000000)       /* of a loop's turn, for what one run says */
#define AL_SPARE_TEXTS ((uint64_t)1 << 20)   /* INIT's texts that a spare is ready for */
#define AL_SPARE_MEMORY ((uint64_t)32 << 20) /* what the first spare is made for, before any run has come */
#define AL_OVER_MAX \
    16 /* processes of runs that are over and not yet reaped; beyond, an end waits for its own */

struct al_zygote {
    struct al_engine *engine;
    struct al_zygote *next; /* in engine->zygotes */
    pid_t pid;
    int pidfd, control;
    struct al_watch *watch;
    uint64_t runs, born_ms;
    char why[200]; /* what it said when it failed to start */
};

struct al_engine {
    struct al_loop *loop;
    struct al_zygote *zygote;  /* the one that forks now; NULL when there is none */
    struct al_zygote *zygotes; /* it, and those that are found dead but whose runs do not know it yet */
    struct al_vm *vms;         /* the spare, the runs, and the processes of runs that are over */
    struct al_vm *spare;       /* the process that waits for the next script; NULL when there is none */
    bool warm;                 /* more than one run is to be expected: keep a spare */
    unsigned n_over;
    uint64_t rest_until_ns; /* a run's end has taken long: the next one comes in another turn */
    uint64_t started, next_seq;
};

enum al_vm_phase {
    AL_PHASE_SPARE, /* forked ahead, or about to be: nobody's yet */
    AL_PHASE_RUN,
    AL_PHASE_OVER, /* its owner has been told; only its process is still to be reaped */
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

/* A frame on its way to a run. */
struct al_vm_out {
    struct al_vm_out *next;
    size_t n, at; /* bytes, and how many of them are sent */
    uint32_t id;  /* of RESULT: the call that it answers */
    uint8_t type;
    char bytes[];
};

struct al_vm_open {
    uint32_t id;
    bool answered; /* but its RESULT is not sent to the end: until then the call counts */
};

struct al_vm {
    struct al_engine *engine;
    struct al_vm *next, **link; /* in engine->vms */
    enum al_vm_phase phase;
    struct al_zygote *zygote; /* while its pid is not known */
    const struct al_vm_ops *ops;
    void *ud;
    uint64_t seq;
    pid_t pid, told; /* told: the one that the owner knows of */
    int pidfd, channel, page;
    int child_channel; /* the other end, until the process has spoken: a second one may need it */
    uint64_t sent;     /* bytes into the channel */
    struct al_watch *exit_watch, *channel_watch;
    bool wants_write;
    struct al_frames in;
    struct al_timer *resume_timer; /* frames are left in `in`: a turn's time was up */
    struct al_vm_out *out, **out_end;
    /* limits */
    uint64_t memory_bytes, timeout_ms;
    uint64_t data_bytes; /* what the process was made for */
    uint32_t max_concurrency;
    size_t max_text_bytes, max_value_bytes, max_state_bytes;
    /* the clock */
    uint64_t start_ns, spent_ns, going_ns; /* going_ns: since when it goes; 0 while it stands */
    unsigned stops;
    struct al_timer *timer, *hang_timer, *tell_timer;
    /* what it has said */
    size_t text_bytes;
    struct al_vm_open *open;
    uint32_t n_open, n_answered; /* of those */
    bool asks;                   /* the answer to its question is not sent to the end */
    struct al_buf progress;      /* held back by the limit of frequency */
    uint64_t progress_ms;
    struct al_timer *progress_timer;
    struct al_buf value, state, last; /* last: the JSON of END */
    bool ended;                       /* END has come */
    bool ahead;                       /* made as a spare */
    bool gone;                        /* reaped; what it had said is still being taken */
    struct al_exit how;               /* once it has gone */
    bool retried;
    enum al_vm_cause cause;
    char lie[200];
};

/* engine.c */
int al_zygote_request(struct al_vm *vm, struct al_err *err);

/* run.c */
struct al_vm *al_vm_start_probe(struct al_engine *e, const struct al_vm_spec *spec,
                                const struct al_vm_ops *ops, void *ud, bool probe, struct al_err *err);
void al_vm_kill(struct al_vm *vm, enum al_vm_cause cause);
/* One frame of two parts. */
void al_vm_queue(struct al_vm *vm, uint8_t type, uint32_t id, struct al_str head, struct al_str rest);
void al_vm_drop_out(struct al_vm *vm);
void al_vm_watch_channel(struct al_vm *vm);
void al_vm_channel_ready(void *ud, int events);
/* What has come already and no more. False: a turn's time was up before the end of it. */
bool al_vm_read_rest(struct al_vm *vm);
void al_vm_tell_started(struct al_vm *vm);

/* process.c */
/* A process for that much data, and what it takes to talk to it; in engine->vms, as a spare. */
struct al_vm *al_vm_prepare(struct al_engine *e, uint64_t data_bytes, bool ahead, struct al_err *err);
void al_vm_forked(struct al_vm *vm, int64_t pid);
void al_vm_zygote_gone(struct al_vm *vm, const struct al_zygote *z);
void al_vm_said_end(struct al_vm *vm);
void al_vm_resume_later(struct al_vm *vm); /* run.c: goes on in another turn */
void al_vm_drain(struct al_vm *vm);        /* it has gone: takes what it had said, and ends it */
void al_vm_take_down(struct al_vm *vm);    /* kills, reaps and ends it, now */
/* The spare, if it was made for that much data, else NULL. */
struct al_vm *al_spare_take(struct al_engine *e, uint64_t memory_bytes, uint64_t text_bytes);
/* Asks for one, for the runs to come; a failure shows when the next run starts. */
void al_spare_want(struct al_engine *e, uint64_t memory_bytes);

/* run_end.c: views in end lie in the arena, or in the run's own buffers. */
unsigned long al_vm_cpu_ms(const struct al_vm *vm); /* of the process so far, by the kernel's clock for it */
void al_vm_make_end(struct al_vm *vm, const struct al_exit *how, struct al_arena *a, struct al_vm_end *end);

/* frames.c */
void al_vm_take_frame(struct al_vm *vm, const struct al_frame *f);
void al_vm_flush_progress(struct al_vm *vm);
int al_vm_lie(struct al_vm *vm, const char *what); /* kills it for breaking the protocol; -1 */

/* json_check.c: is s, which is JSON, an array of [text, value]? */
bool al_json_is_pairs(struct al_str s);

#endif
