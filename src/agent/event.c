/* Events of a turn: numbered, the durable ones kept, all of them told. */
#include "agent/agent_int.h"

#include "base/text.h"
#include "base/log.h"

#define EVENT_MAX (32u << 20)

/* A model's arguments are shown without the values of secret-looking keys; they may be an object, or the text
 * as it came. */
static void add_arguments(struct al_jw *w, const struct al_json *v)
{
    autobuf struct al_buf shown = AL_BUF_INIT(EVENT_MAX);
    bool text = al_json_is_string(v);
    al_redact_json(text ? v->str : v->raw, &shown);
    al_jw_key_str(w, v->key);
    if (al_buf_failed(&shown) || !shown.n)
        al_jw_null(w);
    else if (text)
        al_jw_str(w, al_buf_str(&shown));
    else
        al_jw_raw(w, al_buf_str(&shown));
}

/* The same data, but for what must not be kept. False: it is none. */
static bool redact(struct al_str data, struct al_buf *out)
{
    static const char *const kept_out[] = {"arguments", "questions", "answers"};
    autoarena struct al_arena arena = AL_ARENA_INIT((size_t)256 << 20);
    const struct al_json *v;
    struct al_jw w;
    if (al_json_parse(&arena, data, &v, NULL) < 0 || v->type != AL_JSON_OBJECT)
        return false;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_json_each(m, v)
    {
        bool hide = false;
        for (size_t i = 0; i < sizeof kept_out / sizeof kept_out[0]; i++)
            hide |= al_str_is(m->key, kept_out[i]);
        if (hide) {
            add_arguments(&w, m);
        } else {
            al_jw_key_str(&w, m->key);
            al_jw_value(&w, m);
        }
    }
    al_jw_end(&w);
    return !al_buf_failed(out);
}

void al_agent_event(struct al_agent *a, const char *type, struct al_str data)
{
    bool durable = al_agent_event_durable(type);
    autobuf struct al_buf shown = AL_BUF_INIT(EVENT_MAX);
    if (durable && !redact(data, &shown)) {
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
