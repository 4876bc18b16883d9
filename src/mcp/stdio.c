/* The transport over standard input and output: one client, one message a line, and the ends of both. */
#include "mcp/mcp_int.h"

#include "base/log.h"
#include "base/mem.h"
#include "loop/stream.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PARENT_WATCH_MS 250

struct al_mcp_stdio {
    struct al_mcp *mcp;
    struct al_mcp_peer *peer;
    struct al_stream *stream;
    struct al_rpc_lines lines;
    struct al_timer *linger, *parent_watch, *stop_soon;
    int parent_pid;
    bool output_broken;
    bool input_over; /* the client says nothing more: what is left of it is read, whatever waits for it */
    bool dropping;   /* notifications are left out until the client has read what waits */
};

static void stop_timers(struct al_mcp_stdio *s)
{
    al_timer_stop(s->linger);
    al_timer_stop(s->parent_watch);
    al_timer_stop(s->stop_soon);
    s->linger = s->parent_watch = s->stop_soon = NULL;
}

static void on_stop_soon(void *ud)
{
    struct al_mcp_stdio *s = ud;
    s->stop_soon = NULL;
    al_mcp_stop(s->mcp);
}

/* Nobody reads any more, or far too slowly: what is still running is for nobody. It ends in a later turn,
 * since whoever sends is in the middle of its work. */
static void output_is_broken(struct al_mcp_stdio *s)
{
    s->output_broken = true;
    if (!s->stop_soon && !s->mcp->stopping)
        s->stop_soon = al_timer_start(al_core_loop(s->mcp->core), 0, on_stop_soon, s);
}

static bool has_room(struct al_mcp_stdio *s, struct al_str message)
{
    size_t all = al_stream_queued(s->stream) + message.n;
    switch (al_mcp_weight(message)) {
    case AL_MCP_LOSSY:
        return al_stream_queued(s->stream) <= AL_MCP_QUEUE_HIGH;
    case AL_MCP_CHANGE:
        return all <= AL_MCP_QUEUE_CHANGES;
    default:
        return all <= AL_MCP_QUEUE_MAX - AL_MCP_QUEUE_HIGH;
    }
}

/* A client that does not read misses what it can do without, so that answers have room: first progress and
 * logs, then all notifications. An answer that is too long for the room that is left says so in a few words.
 */
static void leave_out(struct al_mcp_stdio *s, const struct al_mcp_request *about, bool last,
                      struct al_buf *line)
{
    if (!s->dropping)
        al_log(AL_LOG_WARN, "mcp", "the client does not read: messages to it are left out");
    s->dropping = true;
    if (last && about && about->id)
        al_rpc_failure(line, al_str_of(about->id), AL_RPC_INTERNAL_ERROR,
                       AL_STR("BUSY: the answer was left out, since too much waits for the client to read"),
                       (struct al_str){"", 0});
}

static void send_message(void *ud, struct al_mcp_request *about, struct al_str message, bool last)
{
    struct al_mcp_stdio *s = ud;
    autobuf struct al_buf line = AL_BUF_INIT(AL_MCP_QUEUE_MAX);
    if (s->output_broken || !message.n)
        return;
    if (has_room(s, message))
        al_buf_add_str(&line, message);
    else
        leave_out(s, about, last, &line);
    if (!line.n)
        return;
    al_rpc_line(&line);
    if (al_buf_failed(&line) || al_stream_write(s->stream, al_buf_str(&line)) < 0)
        output_is_broken(s);
    else if (al_stream_queued(s->stream) > AL_MCP_QUEUE_HIGH && !s->input_over)
        al_stream_pause(s->stream);
}

static bool on_line(void *ud, struct al_str line)
{
    struct al_mcp_stdio *s = ud;
    al_mcp_message(s->peer, line, NULL);
    return !s->mcp->stopping;
}

static void on_too_long(void *ud)
{
    struct al_mcp_stdio *s = ud;
    char text[100];
    snprintf(text, sizeof text, "the message is longer than %u MiB: it was skipped",
             AL_MCP_MAX_MESSAGE >> 20);
    al_mcp_send_error(s->peer, (struct al_str){0}, AL_RPC_INVALID_REQUEST, al_str_of(text));
}

static const struct al_rpc_sink sink = {.line = on_line, .too_long = on_too_long};

static void on_data(void *ud, struct al_str bytes)
{
    struct al_mcp_stdio *s = ud;
    if (!s->mcp->stopping)
        al_rpc_lines_feed(&s->lines, bytes, &sink, s);
}

static void on_linger(void *ud)
{
    struct al_mcp_stdio *s = ud;
    s->linger = NULL;
    al_mcp_stop(s->mcp);
}

static void on_end(void *ud, int error)
{
    struct al_mcp_stdio *s = ud;
    struct al_mcp *m = s->mcp;
    if (error == -EPIPE)
        s->output_broken = true;
    if (!m->input_ended && !m->stopping)
        al_rpc_lines_end(&s->lines, &sink, s);
    m->input_ended = true;
    if (s->output_broken)
        al_mcp_stop(m);
    else if (!s->linger && !m->stopping)
        s->linger = al_timer_start(al_core_loop(m->core), AL_MCP_LINGER_MS, on_linger, s);
    al_mcp_check_idle(m);
}

/* It comes while nothing is read: then the end of input would not be seen behind what was not read. What a
 * pipe still holds is little. */
static void on_hangup(void *ud)
{
    struct al_mcp_stdio *s = ud;
    s->input_over = true;
    if (!s->mcp->stopping)
        al_stream_resume(s->stream);
}

static void on_drained(void *ud)
{
    struct al_mcp_stdio *s = ud;
    s->dropping = false;
    if (!s->mcp->stopping)
        al_stream_resume(s->stream);
    al_mcp_check_idle(s->mcp);
}

static void watch_parent(void *ud)
{
    struct al_mcp_stdio *s = ud;
    if (getppid() != s->parent_pid)
        output_is_broken(s);
}

int al_mcp_stdio_start(struct al_mcp *m, struct al_err *err)
{
    static const struct al_stream_ops stream_ops = {
        .data = on_data, .end = on_end, .drained = on_drained, .hangup = on_hangup};
    static const struct al_mcp_peer_ops peer_ops = {.send = send_message};
    struct al_mcp_stdio *s = al_xcalloc(1, sizeof *s);
    s->mcp = m;
    s->stream = al_stream_new(al_core_loop(m->core), m->opts.in_fd, m->opts.out_fd, AL_MCP_QUEUE_MAX,
                              &stream_ops, s, err);
    if (!s->stream) {
        free(s);
        return -1;
    }
    al_rpc_lines_init(&s->lines, AL_MCP_MAX_MESSAGE);
    s->peer = al_mcp_peer_new(m, &peer_ops, s);
    s->parent_pid = getppid();
    s->parent_watch = al_timer_every(al_core_loop(m->core), PARENT_WATCH_MS, watch_parent, s);
    m->stdio = s;
    return 0;
}

void al_mcp_stdio_stop(struct al_mcp *m)
{
    stop_timers(m->stdio);
    al_stream_pause(m->stdio->stream);
}

bool al_mcp_stdio_idle(const struct al_mcp *m)
{
    return m->stdio->output_broken || al_stream_queued(m->stdio->stream) == 0;
}

void al_mcp_stdio_free(struct al_mcp *m)
{
    struct al_mcp_stdio *s = m->stdio;
    m->stdio = NULL;
    stop_timers(s);
    al_mcp_peer_close(s->peer);
    al_stream_free(s->stream);
    al_rpc_lines_free(&s->lines);
    free(s);
}
