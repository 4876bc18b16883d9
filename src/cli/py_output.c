#include "cli/py_output.h"

#include "base/text.h"
#include "os/fd.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that says it can be written takes so many bytes without waiting (POSIX: PIPE_BUF). */
#define PIECE 4096

static bool writable(const struct al_py_stream *s, int wait_ms)
{
    struct pollfd p = {.fd = s->fd, .events = POLLOUT};
    return !s->polls || poll(&p, 1, wait_ms) > 0;
}

/* Writes what can be written without waiting. False: something is left. */
static bool flush(struct al_py_stream *s)
{
    size_t at = 0;
    while (at < s->waiting.n && !s->gone && writable(s, 0)) {
        size_t n = s->waiting.n - at;
        ssize_t r = write(s->fd, s->waiting.p + at, s->polls && n > PIECE ? PIECE : n);
        if (r > 0)
            at += (size_t)r;
        else if (r < 0 && errno == EAGAIN)
            break;
        else if (r < 0 && errno != EINTR)
            s->gone = true; /* as `head` has when it has seen enough; the script goes on */
    }
    al_buf_drop(&s->waiting, s->gone ? s->waiting.n : at);
    return s->waiting.n == 0;
}

static void on_writable(void *ud, int events)
{
    struct al_py_stream *s = ud;
    (void)events;
    if (!flush(s))
        return;
    al_watch_stop(s->watch);
    s->watch = NULL;
}

/* Bytes at the end of text that begin a character and do not end it. */
static unsigned torn_at_end(struct al_str text)
{
    for (unsigned n = 1; n <= 3 && n <= text.n; n++) {
        unsigned char c = (unsigned char)text.p[text.n - n];
        if ((c & 0xc0) == 0x80)
            continue;
        unsigned wants = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        return wants > n ? n : 0;
    }
    return 0;
}

static void to_terminal(struct al_py_stream *s, struct al_str bytes)
{
    autobuf struct al_buf whole = AL_BUF_INIT(bytes.n + sizeof s->torn);
    al_buf_add(&whole, s->torn, s->n_torn);
    al_buf_add_str(&whole, bytes);
    struct al_str text = al_buf_str(&whole);
    s->n_torn = torn_at_end(text);
    text.n -= s->n_torn;
    memcpy(s->torn, text.p + text.n, s->n_torn);
    al_text_visible(&s->waiting, text, true);
}

static void on_output(void *ud, bool is_error, struct al_str bytes)
{
    struct al_py_output_view *v = ud;
    struct al_py_stream *s = &v->streams[is_error];
    struct al_err ignored;
    if (s->gone || bytes.n == 0)
        return;
    if (s->lost || s->waiting.n > AL_PY_OUTPUT_MAX) {
        s->lost += bytes.n;
        return;
    }
    if (s->tty) {
        al_app_progress_end(v->app);
        to_terminal(s, bytes);
        s->mid_line = bytes.p[bytes.n - 1] != '\n';
        v->app->mid_line = s->mid_line;
    } else {
        al_buf_add_str(&s->waiting, bytes);
    }
    if (!flush(s) && !s->watch)
        s->watch = al_watch_start(v->app->loop, s->fd, AL_WRITABLE, on_writable, s, &ignored);
}

static void begin(struct al_py_stream *s, int fd, bool tty)
{
    struct stat st;
    *s = (struct al_py_stream){.fd = fd, .tty = tty};
    s->polls = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode);
    al_buf_init(&s->waiting, SIZE_MAX / 4); /* on_output keeps it within AL_PY_OUTPUT_MAX and one piece */
}

void al_py_output_start(struct al_py_output_view *v, struct al_app *app)
{
    *v = (struct al_py_output_view){.app = app};
    begin(&v->streams[0], STDOUT_FILENO, app->tty);
    begin(&v->streams[1], STDERR_FILENO, al_fd_is_tty(STDERR_FILENO));
    app->on_output = app->json ? NULL : on_output;
    app->on_output_ud = v;
}

static void finish(struct al_py_output_view *v, struct al_py_stream *s)
{
    if (s->watch)
        al_watch_stop(s->watch);
    if (s->n_torn)
        al_text_visible(&s->waiting, (struct al_str){s->torn, s->n_torn}, true);
    if (s->tty && s->mid_line)
        al_buf_addc(&s->waiting, '\n');
    while (!flush(s) && !v->app->signal)
        (void)writable(s, 100);
    if (s->lost) {
        autobuf struct al_buf bytes = AL_BUF_INIT(64);
        al_text_bytes(&bytes, s->lost);
        al_app_warn(v->app, "%.*s of what the script printed were not shown: their reader was too slow",
                    AL_FMT(al_buf_str(&bytes)));
    }
    al_buf_free(&s->waiting);
}

void al_py_output_end(struct al_py_output_view *v)
{
    v->app->on_output = NULL;
    v->app->mid_line = false;
    for (int i = 0; i < 2; i++)
        finish(v, &v->streams[i]);
}
