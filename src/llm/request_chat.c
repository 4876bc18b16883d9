#include "llm/request_int.h"

/*
 * Chat Completions: the dialect of many servers. What OpenAI alone knows goes to OpenAI alone.
 */

static void put_limits(const struct al_llm_wire *w, struct al_jw *j)
{
    bool completion = al_llm_host_is(w->provider, "api.openai.com");
    if (!al_llm_sends(w, completion ? AL_LLM_MAX_COMPLETION : AL_LLM_MAX_TOKENS))
        completion = !completion;
    enum al_llm_field field = completion ? AL_LLM_MAX_COMPLETION : AL_LLM_MAX_TOKENS;
    if (al_llm_sends(w, field))
        al_jw_kint(j, al_llm_field_name(field), al_llm_wire_max_output(w));
}

/* DeepSeek thinks unless it is told not to, in words of its own. */
static void put_effort(const struct al_llm_wire *w, struct al_jw *j)
{
    const char *effort = w->provider->reasoning_effort;
    if (!effort || !al_llm_sends(w, AL_LLM_EFFORT))
        return;
    if (strcmp(effort, "none") == 0 && al_llm_host_is(w->provider, "api.deepseek.com"))
        al_jw_kraw(j, "thinking", AL_STR("{\"type\":\"disabled\"}"));
    else
        al_jw_kstrz(j, "reasoning_effort", effort);
}

static void put_tools(const struct al_llm_request *r, struct al_jw *j)
{
    if (r->n_tools == 0)
        return;
    al_jw_key(j, "tools");
    al_jw_arr(j);
    for (size_t i = 0; i < r->n_tools; i++) {
        al_jw_obj(j);
        al_jw_kstrz(j, "type", "function");
        al_jw_key(j, "function");
        al_jw_obj(j);
        al_jw_kstr(j, "name", r->tools[i].name);
        al_jw_kstr(j, "description", r->tools[i].description);
        al_jw_kraw(j, "parameters", r->tools[i].schema);
        al_jw_end(j);
        al_jw_end(j);
    }
    al_jw_end(j);
}

/* Texts of one kind as one; between is put between two that are not empty. */
static void put_joined(const struct al_llm_message *m, enum al_llm_part_kind kind, const char *between,
                       struct al_jw *j)
{
    size_t n = 0, max = 0;
    struct al_str only = {NULL, 0};
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == kind && m->parts[i].text.n) {
            only = m->parts[i].text;
            max += only.n + 2;
            n++;
        }
    if (n < 2) {
        al_jw_str(j, only);
        return;
    }
    autobuf struct al_buf all = AL_BUF_INIT(max);
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == kind && m->parts[i].text.n) {
            if (all.n)
                al_buf_adds(&all, between);
            al_buf_add_str(&all, m->parts[i].text);
        }
    al_jw_str(j, al_buf_str(&all));
}

static size_t count(const struct al_llm_message *m, enum al_llm_part_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_parts; i++)
        n += m->parts[i].kind == kind;
    return n;
}

static void put_call(const struct al_llm_part *p, struct al_jw *j)
{
    al_jw_obj(j);
    al_jw_kstr(j, "id", p->id);
    al_jw_kstrz(j, "type", "function");
    al_jw_key(j, "function");
    al_jw_obj(j);
    al_jw_kstr(j, "name", p->name);
    al_jw_kstr(j, "arguments", p->text);
    al_jw_end(j);
    if (p->raw.n) {
        autoarena struct al_arena a = AL_ARENA_INIT(AL_LLM_TREE(p->raw.n));
        const struct al_json *v = NULL;
        if (al_json_parse(&a, p->raw, &v, NULL) == 0 && al_json_get(v, "extra_content"))
            al_jw_kraw(j, "extra_content", al_json_get(v, "extra_content")->raw);
    }
    al_jw_end(j);
}

static void put_reasoning(const struct al_llm_wire *w, const struct al_llm_message *m, struct al_jw *j)
{
    if (al_llm_wants_reasoning(w)) {
        bool any = false;
        for (size_t i = 0; i < m->n_parts; i++)
            any |= m->parts[i].kind == AL_LLM_REASONING && m->parts[i].text.n;
        al_jw_key(j, "reasoning_content");
        if (any)
            put_joined(m, AL_LLM_REASONING, "", j);
        else /* Calls of another model have none; where it is wanted, its absence is refused, and so is an
                empty one. */
            al_jw_strz(j, " ");
    }
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct al_llm_part *p = &m->parts[i];
        if (p->kind != AL_LLM_REASONING || !p->raw.n)
            continue;
        autoarena struct al_arena a = AL_ARENA_INIT(AL_LLM_TREE(p->raw.n));
        const struct al_json *v = NULL;
        if (al_json_parse(&a, p->raw, &v, NULL) == 0 && al_json_get(v, "reasoning_details"))
            al_jw_kraw(j, "reasoning_details", al_json_get(v, "reasoning_details")->raw);
        break;
    }
}

static void put_assistant(const struct al_llm_wire *w, const struct al_llm_message *m, struct al_jw *j)
{
    al_jw_kstrz(j, "role", "assistant");
    al_jw_key(j, "content");
    if (count(m, AL_LLM_TEXT))
        put_joined(m, AL_LLM_TEXT, m->from.api == AL_API_CHAT ? "" : "\n\n", j);
    else
        al_jw_null(j);
    if (count(m, AL_LLM_CALL) == 0)
        return;
    put_reasoning(w, m, j);
    al_jw_key(j, "tool_calls");
    al_jw_arr(j);
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == AL_LLM_CALL)
            put_call(&m->parts[i], j);
    al_jw_end(j);
}

static void put_message(const struct al_llm_wire *w, const struct al_llm_message *m, struct al_jw *j)
{
    al_jw_obj(j);
    switch (m->role) {
    case AL_LLM_USER:
        al_jw_kstrz(j, "role", "user");
        al_jw_key(j, "content");
        put_joined(m, AL_LLM_TEXT, "\n\n", j);
        break;
    case AL_LLM_ASSISTANT:
        put_assistant(w, m, j);
        break;
    case AL_LLM_RESULT:
        al_jw_kstrz(j, "role", "tool");
        al_jw_kstr(j, "tool_call_id", m->call_id);
        al_jw_kstr(j, "content", m->parts[0].text);
        break;
    }
    al_jw_end(j);
}

void al_llm_body_chat(const struct al_llm_wire *w, struct al_buf *out)
{
    const struct al_llm_request *r = w->request;
    struct al_jw j;
    al_jw_init(&j, out);
    al_jw_obj(&j);
    al_jw_kstrz(&j, "model", w->model);
    al_jw_kbool(&j, "stream", true);
    if (al_llm_sends(w, AL_LLM_STREAM_OPTIONS))
        al_jw_kraw(&j, "stream_options", AL_STR("{\"include_usage\":true}"));
    put_limits(w, &j);
    al_llm_put_temperature(w, &j);
    put_effort(w, &j);
    al_llm_put_cache_key(w, &j);
    put_tools(r, &j);
    al_jw_key(&j, "messages");
    al_jw_arr(&j);
    if (r->system.n) {
        bool developer = al_llm_host_is(w->provider, "api.openai.com") && al_llm_sends(w, AL_LLM_DEVELOPER);
        al_jw_obj(&j);
        al_jw_kstrz(&j, "role", developer ? "developer" : "system");
        al_llm_put_clean(&j, "content", r->system);
        al_jw_end(&j);
    }
    for (size_t i = 0; i < r->n_messages; i++)
        put_message(w, &r->messages[i], &j);
    al_jw_end(&j);
    /* Behind the messages: a summary asks with the bytes of the request before it. */
    if (r->no_calls && r->n_tools)
        al_jw_kstrz(&j, "tool_choice", "none");
    al_jw_end(&j);
}
