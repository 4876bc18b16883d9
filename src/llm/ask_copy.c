/* The caller's request is its own: what is asked lives in our memory. */
#include "llm/ask_int.h"

static bool copy_str(struct al_arena *arena, struct al_str *s)
{
    char *copy = al_arena_dup(arena, *s);
    if (copy)
        s->p = copy;
    return copy != NULL;
}

/* n elements; NULL over the limit, or when there are too many to count. */
static void *copy_array(struct al_arena *arena, const void *from, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    void *to = al_arena_alloc(arena, bytes ? bytes : 1);
    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

static bool copy_message(struct al_arena *arena, struct al_llm_message *m)
{
    struct al_llm_part *parts = copy_array(arena, m->parts, m->n_parts, sizeof(*parts));
    bool ok = parts && copy_str(arena, &m->from.provider) && copy_str(arena, &m->from.base_url) &&
              copy_str(arena, &m->from.model) && copy_str(arena, &m->call_id);
    m->parts = parts;
    for (size_t i = 0; ok && i < m->n_parts; i++)
        ok = copy_str(arena, &parts[i].text) && copy_str(arena, &parts[i].raw) &&
             copy_str(arena, &parts[i].id) && copy_str(arena, &parts[i].provider_id) &&
             copy_str(arena, &parts[i].name);
    return ok;
}

int al_llm_request_copy(struct al_arena *arena, const struct al_llm_request *r, struct al_llm_request *ret,
                        struct al_err *err)
{
    struct al_llm_request c = *r;
    struct al_llm_message *messages = copy_array(arena, r->messages, r->n_messages, sizeof(*messages));
    struct al_llm_tool *tools = copy_array(arena, r->tools, r->n_tools, sizeof(*tools));
    bool ok = messages && tools && copy_str(arena, &c.system) && copy_str(arena, &c.cache_key);
    for (size_t i = 0; ok && i < r->n_messages; i++)
        ok = copy_message(arena, &messages[i]);
    for (size_t i = 0; ok && i < r->n_tools; i++)
        ok = copy_str(arena, &tools[i].name) && copy_str(arena, &tools[i].description) &&
             copy_str(arena, &tools[i].schema);
    if (!ok)
        return al_fail(err, AL_CONTEXT_LIMIT, "the conversation is over %zu MiB", arena->max >> 20);
    c.messages = messages;
    c.tools = tools;
    *ret = c;
    return 0;
}
