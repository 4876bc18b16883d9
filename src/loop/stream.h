/* A byte stream over a pair of descriptors (pipe, socket, terminal or regular file), with a bounded write queue. */
#ifndef AL_LOOP_STREAM_H
#define AL_LOOP_STREAM_H

#include "loop/loop.h"

struct al_stream_ops {
    void (*data)(void *ud, struct al_str bytes);   /* bytes are a view for the call */
    void (*end)(void *ud, int error);              /* end of input (0) or -errno; once; EPIPE of writing comes here too */
    void (*drained)(void *ud);                     /* the write queue is empty again; may be NULL */
    /* While reading is paused: the other side writes no more. What it has written is still there to be read. Once; may
     * be NULL. */
    void (*hangup)(void *ud);
};

struct al_stream;
/* Takes read_fd and write_fd (either may be -1, both may be the same) when it succeeds: closes them on free. */
struct al_stream *al_stream_new(struct al_loop *loop, int read_fd, int write_fd, size_t max_queue,
                                const struct al_stream_ops *ops, void *ud, struct al_err *err);
/* Queues or writes at once. -1 when the queue's maximum would be passed (nothing is queued) or writing has failed. */
int al_stream_write(struct al_stream *s, struct al_str bytes) AL_MUST_CHECK;
size_t al_stream_queued(const struct al_stream *s);
void al_stream_pause(struct al_stream *s);
void al_stream_resume(struct al_stream *s);
void al_stream_close_write(struct al_stream *s); /* after the queue is written */
void al_stream_free(struct al_stream *s);        /* any callback; drops what is queued */

#endif
