/* Shared by the files of the stream only. */
#ifndef AL_LOOP_STREAM_INT_H
#define AL_LOOP_STREAM_INT_H

#include "base/buf.h"
#include "loop/stream.h"

#define AL_STREAM_CHUNK (64 * 1024)

struct al_stream {
    struct al_loop *loop;
    const struct al_stream_ops *ops;
    void *ud;
    unsigned refs; /* the owner, each callback that is running, each thing on its way that comes back to us */
    bool freed;    /* by the owner: no callback any more */
    bool ended;    /* ops->end was called */
    int error;     /* -errno of a failed write, until it is reported */

    int read_fd;
    bool read_socket, read_nonblock;
    bool read_file;   /* epoll does not take it: read on the thread pool */
    bool read_flying; /* a read is on the pool */
    bool paused;
    bool read_done; /* end of input or an error came */
    bool hung_up;   /* ops->hangup was called */
    struct al_watch *read_watch;
    struct al_watch *hangup_watch; /* while paused */
    char *chunk;  /* of a file */
    ssize_t held; /* what a read on the pool gave: bytes, 0, -errno; -1 - INT_MAX: nothing */

    int write_fd, write_orig; /* orig: the description that others share with us, left as it was; or -1 */
    bool write_socket, write_nonblock;
    bool write_file;
    bool write_flying;
    bool write_closing, write_failed;
    bool want_drained; /* something had to wait in the queue since the last drained */
    struct al_watch *write_watch;
    size_t queue_max; /* of what waits, in flight included */
    struct al_buf queue;
    size_t sent;          /* bytes of queue that are written already */
    struct al_buf flying; /* what the pool is writing */
    int flying_result;
};

#define AL_STREAM_NOTHING ((ssize_t)(-1) - INT32_MAX)

void al_stream_hold(struct al_stream *s);
void al_stream_release(struct al_stream *s);
void al_stream_drop(void *ud); /* the same, for a deferred call that never comes */
/* Hands what a read gave to the owner: bytes, 0 for the end, -errno. */
void al_stream_deliver(struct al_stream *s, const char *p, ssize_t n);
void al_stream_write_error(struct al_stream *s, int error);
/* The queue is empty: drained, and the end of writing when it was asked for. */
void al_stream_written(struct al_stream *s);

/* Regular files and devices without readiness: one read and one write at a time on the pool. */
void al_stream_file_read(struct al_stream *s);
void al_stream_file_resume(struct al_stream *s);
void al_stream_file_write(struct al_stream *s);

#endif
