#include "llm/request_int.h"

/* Messages: turns of blocks. All results of a turn open one user message; what a person says stands behind
 * them. */

/* A conversation with calls is refused where no tools are; where none are offered any more, those that it
 * called are named. */
static bool put_called(const struct al_llm_request *r, struct al_jw *j)
{
    autoarena struct al_arena a = AL_ARENA_INIT(SIZE_MAX / 4);
    struct al_llm_ids *names = al_llm_ids_new(&a);
    bool any = false;
    for (size_t i = 0; i < r->n_messages; i++) {
        for (size_t k = 0; k < r->messages[i].n_parts; k++) {
            const struct al_llm_part *p = &r->messages[i].parts[k];
            if (p->kind != AL_LLM_CALL || !al_llm_ids_add(names, p->name))
                continue;
            if (!any) {
                al_jw_key(j, "tools");
                al_jw_arr(j);
                any = true;
            }
            al_jw_obj(j);
            al_jw_kstr(j, "name", p->name);
            al_jw_kstrz(j, "description", "not available any more");
            al_jw_kraw(j, "input_schema", AL_STR("{\"type\":\"object\"}"));
            al_jw_end(j);
        }
    }
    if (any)
        al_jw_end(j);
    return any;
}

/* Whether there are any. */
static bool put_tools(const struct al_llm_request *r, struct al_jw *j)
{
    if (r->n_tools == 0)
        return put_called(r, j);
    al_jw_key(j, "tools");
    al_jw_arr(j);
    for (size_t i = 0; i < r->n_tools; i++) {
        al_jw_obj(j);
        al_jw_kstr(j, "name", r->tools[i].name);
        al_jw_kstr(j, "description", r->tools[i].description);
        al_jw_kraw(j, "input_schema", r->tools[i].schema);
        al_jw_end(j);
    }
    al_jw_end(j);
    return true;
}

static void put_text(struct al_str text, struct al_jw *j)
{
    al_jw_obj(j);
    al_jw_kstrz(j, "type", "text");
    al_jw_kstr(j, "text", text);
    al_jw_end(j);
}

static void put_result(const struct al_llm_message *m, struct al_jw *j)
{
    al_jw_obj(j);
    al_jw_kstrz(j, "type", "tool_result");
    al_jw_kstr(j, "tool_use_id", m->call_id);
    if (m->is_error)
        al_jw_kbool(j, "is_error", true);
    al_jw_kstr(j, "content", m->parts[0].text);
    al_jw_end(j);
}

static void put_assistant(const struct al_llm_message *m, struct al_jw *j)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct al_llm_part *p = &m->parts[i];
        switch (p->kind) {
        case AL_LLM_TEXT:
            put_text(p->text, j);
            break;
        case AL_LLM_REASONING:
            al_jw_raw(j, p->raw);
            break;
        case AL_LLM_CALL:
            al_jw_obj(j);
            al_jw_kstrz(j, "type", "tool_use");
            al_jw_kstr(j, "id", p->id);
            al_jw_kstr(j, "name", p->name);
            al_jw_kraw(j, "input", p->text);
            al_jw_end(j);
            break;
        }
    }
}

/* One turn of the user or the model; the number of messages that it took. */
static size_t put_turn(const struct al_llm_message *m, size_t n, struct al_jw *j)
{
    size_t used = 0;
    bool assistant = m->role == AL_LLM_ASSISTANT;
    al_jw_obj(j);
    al_jw_kstrz(j, "role", assistant ? "assistant" : "user");
    al_jw_key(j, "content");
    al_jw_arr(j);
    if (assistant)
        put_assistant(&m[used++], j);
    while (!assistant && used < n && m[used].role == AL_LLM_RESULT)
        put_result(&m[used++], j);
    while (!assistant && used < n && m[used].role == AL_LLM_USER) {
        for (size_t i = 0; i < m[used].n_parts; i++)
            put_text(m[used].parts[i].text, j);
        used++;
    }
    al_jw_end(j);
    al_jw_end(j);
    return used;
}

/* "none" and "off" switch thinking off; any other word is a depth of it, which the newest models choose
 * within. */
static void put_effort(const struct al_llm_wire *w, struct al_jw *j)
{
    const char *effort = w->provider->reasoning_effort;
    if (!effort || !al_llm_sends(w, AL_LLM_EFFORT))
        return;
    if (strcmp(effort, "none") == 0 || strcmp(effort, "off") == 0) {
        al_jw_kraw(j, "thinking", AL_STR("{\"type\":\"disabled\"}"));
        return;
    }
    al_jw_kraw(j, "thinking", AL_STR("{\"type\":\"adaptive\",\"display\":\"summarized\"}"));
    al_jw_key(j, "output_config");
    al_jw_obj(j);
    al_jw_kstrz(j, "effort", effort);
    al_jw_end(j);
}

void al_llm_body_messages(const struct al_llm_wire *w, struct al_buf *out)
{
    const struct al_llm_request *r = w->request;
    struct al_jw j;
    al_jw_init(&j, out);
    al_jw_obj(&j);
    al_jw_kstrz(&j, "model", w->model);
    al_jw_kint(&j, "max_tokens", al_llm_wire_max_output(w));
    al_jw_kbool(&j, "stream", true);
    al_llm_put_temperature(w, &j);
    put_effort(w, &j);
    if (al_llm_sends(w, AL_LLM_CACHE_CONTROL))
        al_jw_kraw(&j, "cache_control", AL_STR("{\"type\":\"ephemeral\"}"));
    bool tools = put_tools(r, &j);
    if (r->system.n)
        al_llm_put_clean(&j, "system", r->system);
    al_jw_key(&j, "messages");
    al_jw_arr(&j);
    for (size_t at = 0; at < r->n_messages;)
        at += put_turn(&r->messages[at], r->n_messages - at, &j);
    al_jw_end(&j);
    /* Behind the messages: a summary asks with the bytes of the request before it. */
    if (tools && (r->no_calls || r->n_tools == 0))
        al_jw_kraw(&j, "tool_choice", AL_STR("{\"type\":\"none\"}"));
    al_jw_end(&j);
}
