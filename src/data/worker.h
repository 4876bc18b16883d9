/*
 * The host's side of one sealed process: its channel, its exit, and why the host ended it. Knows frames, not
 * what they mean. (Not for the sealed side.)
 */
#ifndef AL_DATA_WORKER_H
#define AL_DATA_WORKER_H

#include "data/proto.h"
#include "os/spawn.h"
#include "wire/frame.h"

#include <sys/types.h>

/* Why the host ended a worker. The cause of an end is this, never what the worker said. */
enum al_cause {
    AL_CAUSE_NONE,
    AL_CAUSE_TIMEOUT,
    AL_CAUSE_CANCELLED,
    AL_CAUSE_LIE,      /* broke the protocol: `why` says how */
    AL_CAUSE_NO_START, /* `why` */
};

struct al_worker {
    struct al_loop *loop;
    /* A frame; it may pause, kill, or call al_worker_ended. */
    void (*frame)(void *ud, const struct al_frame *f);
    /* The process is reaped and all that it said was given out. The worker may be closed in there. */
    void (*over)(void *ud);
    /* Bytes went out to it; may be NULL. */
    void (*sent_all)(void *ud);
    void *ud;
    pid_t pid;
    int pidfd;         /* -1: no process yet, or none any more */
    int channel;       /* ours */
    int child_channel; /* the other end, until the worker has spoken: another process may need it. -1 */
    struct al_watch *exit_watch, *channel_watch;
    bool wants_write;
    struct al_timer *turn; /* goes on in another turn */
    struct al_frames in;
    struct al_buf out;
    size_t out_at;
    uint64_t sent; /* bytes */
    bool paused, ended, gone, told;
    struct al_exit how; /* once gone */
    enum al_cause cause;
    char why[200];
};

/* Makes the channel. -1 with err: nothing is held then. */
int al_worker_open(struct al_worker *w, struct al_loop *loop, struct al_err *err) AL_MUST_CHECK;
/* The process is there. pidfd is the worker's from now on, also on failure. */
int al_worker_begin(struct al_worker *w, pid_t pid, int pidfd, struct al_err *err) AL_MUST_CHECK;
/* Its process is another one: as after al_worker_open, what was sent is still in the channel. */
void al_worker_forget_process(struct al_worker *w);
/* Sends bytes; what does not go at once goes later. */
void al_worker_send(struct al_worker *w, struct al_str bytes);
/* After the last frame: whatever follows does not count, and the process is killed. */
void al_worker_ended(struct al_worker *w);
void al_worker_kill(struct al_worker *w, enum al_cause cause, const char *why);
int al_worker_lie(struct al_worker *w, const char *what); /* kills it for breaking the protocol; -1 */
void al_worker_pause(struct al_worker *w);                /* no frame more until */
void al_worker_resume(struct al_worker *w);               /* which comes in another turn */
/* True when the process died before it had read a byte of what it was sent, and was not ended by the host. */
bool al_worker_read_nothing(struct al_worker *w);
/* Kills and reaps what is there, now; lets everything go. No callback. */
void al_worker_close(struct al_worker *w);

/*
 * How it ended, as an error: by the host's cause, by how it died. what: "the query", for people. Code AL_OK
 * when it ended by its own word.
 */
void al_worker_why(const struct al_worker *w, const char *what, struct al_err *ret);

/* -- claims.c: what was said, held to what may be said */

struct al_said {
    struct al_err err;
    uint64_t rows, bytes;
    char sha256[65];
};
/* Of whom: each has codes that the others cannot come to. */
enum al_said_kind {
    AL_SAID_QUERY,
    AL_SAID_INGEST, /* has rows, bytes and a hash */
    AL_SAID_DASHBOARD,
};
/* END's payload. False: it is none. */
bool al_said_end(struct al_str payload, enum al_said_kind kind, struct al_said *ret);
/* Appends a payload that may come once, of JSON when depth > 0, else of text. False: it is none. */
bool al_said_part(struct al_buf *to, struct al_str payload, unsigned json_depth);

#endif
