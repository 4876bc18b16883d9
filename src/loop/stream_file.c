#include "base/mem.h"
#include "loop/loop_int.h"
#include "loop/stream_int.h"
#include "os/fd.h"

#include <errno.h>
#include <unistd.h>

static void read_work(void *ud)
{
    struct al_stream *s = ud;
    ssize_t n;
    do {
        n = read(s->read_fd, s->chunk, AL_STREAM_CHUNK);
    } while (n < 0 && errno == EINTR);
    s->held = n < 0 ? -errno : n;
}

static void hand_out(struct al_stream *s)
{
    ssize_t n = s->held;
    s->held = AL_STREAM_NOTHING;
    al_stream_deliver(s, s->chunk, n);
    if (!s->freed)
        al_stream_file_read(s);
}

static void read_done(void *ud)
{
    struct al_stream *s = ud;
    s->read_flying = false;
    if (!s->freed && !s->paused)
        hand_out(s);
    al_stream_release(s);
}

void al_stream_file_read(struct al_stream *s)
{
    if (s->read_flying || s->read_done || s->paused || s->held != AL_STREAM_NOTHING)
        return;
    if (!s->chunk)
        s->chunk = al_xmalloc(AL_STREAM_CHUNK);
    s->read_flying = true;
    al_stream_hold(s);
    al_work_start(s->loop, read_work, read_done, s);
}

static void resume_later(void *ud)
{
    struct al_stream *s = ud;
    if (!s->freed && !s->paused && !s->read_flying) {
        if (s->held != AL_STREAM_NOTHING)
            hand_out(s);
        else
            al_stream_file_read(s);
    }
    al_stream_release(s);
}

void al_stream_file_resume(struct al_stream *s)
{
    al_stream_hold(s);
    al_defer_or_drop(s->loop, resume_later, al_stream_drop, s);
}

static void write_work(void *ud)
{
    struct al_stream *s = ud;
    s->flying_result = al_fd_write_all(s->write_fd, al_buf_str(&s->flying));
}

static void write_done(void *ud)
{
    struct al_stream *s = ud;
    s->write_flying = false;
    al_buf_free(&s->flying);
    if (!s->freed) {
        if (s->flying_result < 0)
            al_stream_write_error(s, s->flying_result);
        else if (s->queue.n > s->sent)
            al_stream_file_write(s);
        else
            al_stream_written(s);
    }
    al_stream_release(s);
}

void al_stream_file_write(struct al_stream *s)
{
    if (s->write_flying || s->write_failed || s->queue.n == 0)
        return;
    s->flying = s->queue; /* nothing of a file's queue is ever sent in part */
    s->queue = (struct al_buf)AL_BUF_INIT(0);
    s->write_flying = true;
    al_stream_hold(s);
    al_work_start(s->loop, write_work, write_done, s);
}
