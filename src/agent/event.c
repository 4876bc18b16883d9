/* Events of a turn: numbered, the durable ones kept, all of them told. */
#include "agent/agent_int.h"

#include "base/log.h"

#define EVENT_MAX ((size_t)64 << 20)

void al_agent_event(struct al_agent *a, const char *type, struct al_str data)
{
    bool durable = al_agent_event_durable(type);
    autobuf struct al_buf shown = AL_BUF_INIT(EVENT_MAX);
    if (durable && !al_agent_shown(data, &shown)) {
        al_log(AL_LOG_ERROR, "agent", "event %s has no data that can be kept", type);
        al_buf_clear(&shown);
        al_buf_adds(&shown, "{}");
    }
    struct al_agent_event e = {
        .type = type,
        .data = durable ? al_buf_str(&shown) : data,
        .seq = ++a->seq,
        .at_ms = al_wall_ms(),
        .run_id = a->run_id,
        .session_id = a->session,
    };
    struct al_err err;
    /* The rows of the turn are the truth; an event that cannot be kept is still told. */
    if (durable && al_turn_event(a->store, a->session, a->run_id, type, e.data, e.seq, &e.event_id, &err) < 0)
        al_log(AL_LOG_ERROR, "agent", "event %s cannot be kept: %s", type, err.msg);
    if (a->ops.event)
        a->ops.event(a->ud, &e);
}
