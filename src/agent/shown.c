/* What a person is shown of a model's words: the same, but for the values of secret-looking keys in its
 * arguments. */
#include "agent/agent_int.h"

#include "base/text.h"

#define SHOWN_ARENA ((size_t)512 << 20)

/* Arguments: an object, or the text as it came. Writes a value. */
static void add_redacted(struct al_jw *w, const struct al_json *v, size_t max)
{
    autobuf struct al_buf shown = AL_BUF_INIT(max);
    bool text = al_json_is_string(v);
    al_redact_json(text ? v->str : v->raw, &shown);
    if (al_buf_failed(&shown) || !shown.n)
        al_jw_null(w);
    else if (text)
        al_jw_str(w, al_buf_str(&shown));
    else
        al_jw_raw(w, al_buf_str(&shown));
}

static bool is_one_of(struct al_str key, const char *const *names)
{
    for (; *names; names++) {
        if (al_str_is(key, *names))
            return true;
    }
    return false;
}

/* An object with the members of these names redacted. */
static void add_object(struct al_jw *w, const struct al_json *v, const char *const *names, size_t max)
{
    al_jw_obj(w);
    al_json_each(m, v)
    {
        al_jw_key_str(w, m->key);
        if (is_one_of(m->key, names))
            add_redacted(w, m, max);
        else
            al_jw_value(w, m);
    }
    al_jw_end(w);
}

bool al_agent_shown(struct al_str data, struct al_buf *out)
{
    static const char *const names[] = {"arguments", "questions", "answers", NULL};
    autoarena struct al_arena arena = AL_ARENA_INIT(SHOWN_ARENA);
    const struct al_json *v;
    struct al_jw w;
    if (al_json_parse(&arena, data, &v, NULL) < 0 || v->type != AL_JSON_OBJECT)
        return false;
    al_jw_init(&w, out);
    add_object(&w, v, names, out->max);
    return !al_buf_failed(out);
}

static void add_part(struct al_jw *w, const struct al_json *part, size_t max)
{
    static const char *const names[] = {"arguments", NULL};
    const struct al_json *call = al_json_get(part, "call");
    if (!call || call->type != AL_JSON_OBJECT) {
        al_jw_value(w, part);
        return;
    }
    al_jw_obj(w);
    al_jw_key(w, "call");
    add_object(w, call, names, max);
    al_jw_end(w);
}

bool al_message_shown(struct al_str body, struct al_buf *out)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(SHOWN_ARENA);
    const struct al_json *v;
    struct al_jw w;
    if (al_json_parse(&arena, body, &v, NULL) < 0 || v->type != AL_JSON_OBJECT)
        return false;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_json_each(m, v)
    {
        al_jw_key_str(&w, m->key);
        if (!al_str_is(m->key, "parts") || m->type != AL_JSON_ARRAY) {
            al_jw_value(&w, m);
            continue;
        }
        al_jw_arr(&w);
        al_json_each(part, m) add_part(&w, part, out->max);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    return !al_buf_failed(out);
}
