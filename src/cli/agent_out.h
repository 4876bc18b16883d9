/*
 * Standard output of a run: whole lines or text, never waited for while a model or a tool works. A reader that is slow gets
 * what was kept for it, one that has gone or does not read any more ends the run, and nobody hangs.
 */
#ifndef AL_CLI_AGENT_OUT_H
#define AL_CLI_AGENT_OUT_H

#include "base/buf.h"
#include "loop/loop.h"

#define AL_OUT_QUEUE_MAX (64u << 20) /* kept for a slow reader */
#define AL_OUT_QUEUE_SOFT (16u << 20) /* above it, what can be done without is left out */
#define AL_OUT_PATIENCE_MS 5000 /* at the end: a reader that takes nothing for so long does not read */

struct al_out {
    struct al_loop *loop;
    int fd;            /* standard output, or a description of our own of the same pipe or terminal */
    bool own, socket, file;
    struct al_buf queue; /* what is not written yet, from `at` on */
    size_t at;
    struct al_watch *watch;
    bool watching_write;
    bool finished;     /* nobody reads, or it cannot be written: what comes is dropped */
    int eno;           /* why; EPIPE: the reader has gone; ETIMEDOUT: it does not read */
    bool empty;        /* of the queue, while waited for */
    bool left_out;     /* something was, for a slow reader */
    uint64_t taken_ms; /* when something was taken last */
    void (*on_gone)(void *ud); /* once, from the loop or from within a write */
    void *ud;
};
void al_out_init(struct al_out *o, struct al_loop *loop, void (*on_gone)(void *ud), void *ud);
/* One write, if the reader can take it. spare: it may be left out when the reader is far behind. */
void al_out_write(struct al_out *o, struct al_str s, bool spare);
/* Waits until all is written or the reader takes nothing any more; closes. 0, or the errno of why not all was written. */
int al_out_finish(struct al_out *o);

#endif
