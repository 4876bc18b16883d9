/* The server as a whole: its transports, its start and its end. */
#include "mcp/mcp_int.h"

#include "base/mem.h"

static int start_transports(struct al_mcp *m, struct al_err *err)
{
    if (m->opts.http)
        return al_mcp_http_start(m, err);
    return al_mcp_stdio_start(m, err);
}

struct al_mcp *al_mcp_start(struct al_core *core, const struct al_mcp_opts *o, void (*ended)(void *ud),
                            void *ud, struct al_err *err)
{
    struct al_mcp *m = al_xcalloc(1, sizeof *m);
    m->core = core;
    m->opts = *o;
    m->ended = ended;
    m->ud = ud;
    m->question_ms = AL_MCP_QUESTION_MS;
    if (o->expose_upstream && o->upstreams)
        m->relay = al_mcp_relay_new(m);
    if (start_transports(m, err) < 0) {
        al_mcp_relay_free(m->relay);
        free(m);
        return NULL;
    }
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
    if (!over || m->n_open || m->ended_called)
        return;
    if (!m->stopping && !al_mcp_stdio_idle(m))
        return;
    m->ended_called = true;
    /* Later, so that nobody frees the server inside one of its own callbacks. */
    al_defer(al_core_loop(m->core), call_ended, m);
}

void al_mcp_stop(struct al_mcp *m)
{
    if (m->stopping)
        return;
    m->stopping = true;
    if (m->stdio)
        al_mcp_stdio_stop(m);
    al_mcp_stop_requests(m);
    al_mcp_drop_all_questions(m, "the server ends");
    if (m->http)
        al_mcp_http_stop(m);
    al_mcp_check_idle(m);
}

void al_mcp_free(struct al_mcp *m)
{
    if (!m)
        return;
    if (m->stdio)
        al_mcp_stdio_free(m);
    if (m->http)
        al_mcp_http_free(m);
    al_mcp_relay_free(m->relay);
    while (m->peers)
        al_mcp_peer_close(m->peers);
    free(m);
}
