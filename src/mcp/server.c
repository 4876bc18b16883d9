/* The connection: lines in, messages out, and its end. */
#include "mcp/mcp_int.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void al_mcp_begin(struct al_jw *w, struct al_buf *out, struct al_str id)
{
    al_jw_init(w, out);
    al_jw_obj(w);
    al_jw_kstrz(w, "jsonrpc", "2.0");
    al_jw_kraw(w, "id", id.n ? id : AL_STR("null"));
}

void al_mcp_send(struct al_mcp *m, struct al_buf *message)
{
    if (m->output_broken)
        return;
    /* A line end in a JSON text can only stand between tokens; here it would end the message. */
    for (size_t i = 0; i < message->n; i++)
        if (message->p[i] == '\n' || message->p[i] == '\r')
            message->p[i] = ' ';
    al_buf_addc(message, '\n');
    if (al_buf_failed(message) || al_stream_write(m->stream, al_buf_str(message)) < 0) {
        /* Nobody reads any more, or far too slowly: what is still running is for nobody. */
        m->output_broken = true;
        al_mcp_stop(m);
        return;
    }
    if (al_stream_queued(m->stream) > AL_MCP_QUEUE_HIGH)
        al_stream_pause(m->stream);
}

void al_mcp_send_error(struct al_mcp *m, struct al_str id, enum al_rpc_code code, const char *fmt, ...)
{
    autobuf struct al_buf out = AL_BUF_INIT(AL_MCP_MAX_MESSAGE);
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct al_jw w;
    al_mcp_begin(&w, &out, id);
    al_jw_key(&w, "error");
    al_jw_obj(&w);
    al_jw_kint(&w, "code", code);
    al_jw_kstrz(&w, "message", text);
    al_jw_end(&w);
    al_jw_end(&w);
    al_mcp_send(m, &out);
}

static bool on_line(void *ud, struct al_str line)
{
    struct al_mcp *m = ud;
    al_mcp_message(m, line);
    return !m->stopping;
}

static void on_too_long(void *ud)
{
    al_mcp_send_error(ud, (struct al_str){0}, AL_RPC_INVALID_REQUEST,
                      "the message is longer than %u MiB: it was skipped", AL_MCP_MAX_MESSAGE >> 20);
}

static const struct al_rpc_sink sink = {.line = on_line, .too_long = on_too_long};

static void on_data(void *ud, struct al_str bytes)
{
    struct al_mcp *m = ud;
    if (!m->stopping)
        al_rpc_lines_feed(&m->lines, bytes, &sink, m);
}

static void on_linger(void *ud)
{
    struct al_mcp *m = ud;
    m->linger = NULL;
    al_mcp_stop(m);
}

static void on_end(void *ud, int error)
{
    struct al_mcp *m = ud;
    if (error == -EPIPE)
        m->output_broken = true;
    if (!m->input_ended && !m->stopping)
        al_rpc_lines_end(&m->lines, &sink, m);
    m->input_ended = true;
    if (m->output_broken)
        al_mcp_stop(m);
    else if (!m->linger && !m->stopping)
        m->linger = al_timer_start(al_core_loop(m->core), AL_MCP_LINGER_MS, on_linger, m);
    al_mcp_check_idle(m);
}

static void on_drained(void *ud)
{
    struct al_mcp *m = ud;
    if (!m->stopping)
        al_stream_resume(m->stream);
    al_mcp_check_idle(m);
}

static void watch_parent(void *ud)
{
    struct al_mcp *m = ud;
    if (getppid() != m->parent_pid) {
        m->output_broken = true;
        al_mcp_stop(m);
    }
}

struct al_mcp *al_mcp_start(struct al_core *core, const struct al_mcp_opts *o, void (*ended)(void *ud),
                            void *ud, struct al_err *err)
{
    static const struct al_stream_ops ops = {.data = on_data, .end = on_end, .drained = on_drained};
    struct al_mcp *m = al_xcalloc(1, sizeof *m);
    m->core = core;
    m->opts = *o;
    m->ended = ended;
    m->ud = ud;
    al_rpc_lines_init(&m->lines, AL_MCP_MAX_MESSAGE);
    m->stream = al_stream_new(al_core_loop(core), o->in_fd, o->out_fd, AL_MCP_QUEUE_MAX, &ops, m, err);
    if (!m->stream) {
        free(m);
        return NULL;
    }
    m->parent_pid = getppid();
    m->parent_watch = al_timer_every(al_core_loop(core), 250, watch_parent, m);
    return m;
}

static void call_ended(void *ud)
{
    struct al_mcp *m = ud;
    m->ended(m->ud);
}

void al_mcp_check_idle(struct al_mcp *m)
{
    bool over = m->stopping || m->input_ended;
    bool written = m->output_broken || al_stream_queued(m->stream) == 0;
    if (!over || m->n_requests || m->ended_called || !(written || m->stopping))
        return;
    m->ended_called = true;
    al_timer_stop(m->linger);
    al_timer_stop(m->parent_watch);
    m->linger = m->parent_watch = NULL;
    /* Later, so that nobody frees the server inside one of its own callbacks. */
    al_defer(al_core_loop(m->core), call_ended, m);
}

void al_mcp_stop(struct al_mcp *m)
{
    if (m->stopping)
        return;
    m->stopping = true;
    al_stream_pause(m->stream);
    al_mcp_cancel_all(m);
    al_mcp_check_idle(m);
}

void al_mcp_free(struct al_mcp *m)
{
    if (!m)
        return;
    al_timer_stop(m->linger);
    al_timer_stop(m->parent_watch);
    al_stream_free(m->stream);
    al_rpc_lines_free(&m->lines);
    free(m);
}
