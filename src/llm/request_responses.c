#include "llm/request_int.h"

#include <stdio.h>

/*
 * Responses, with nothing kept on the other side: each request carries all items, reasoning as it was sealed.
 * An id of OpenAI's goes out with reasoning only: any other item that names one is refused when its reasoning
 * is not beside it.
 */

#define LEAST_OUTPUT 16 /* fewer tokens are refused */

/* Unlike in Chat Completions, a function is strict here unless it says otherwise: each optional argument
 * would become required. */
static void put_tools(const struct al_llm_wire *w, struct al_jw *j)
{
    const struct al_llm_request *r = w->request;
    if (r->n_tools == 0)
        return;
    al_jw_key(j, "tools");
    al_jw_arr(j);
    for (size_t i = 0; i < r->n_tools; i++) {
        al_jw_obj(j);
        al_jw_kstrz(j, "type", "function");
        al_jw_kstr(j, "name", r->tools[i].name);
        al_jw_kstr(j, "description", r->tools[i].description);
        al_jw_kraw(j, "parameters", r->tools[i].schema);
        if (al_llm_sends(w, AL_LLM_STRICT))
            al_jw_kbool(j, "strict", false);
        al_jw_end(j);
    }
    al_jw_end(j);
}

static void put_user(const struct al_llm_message *m, struct al_jw *j)
{
    al_jw_obj(j);
    al_jw_kstrz(j, "type", "message");
    al_jw_kstrz(j, "role", "user");
    al_jw_key(j, "content");
    al_jw_arr(j);
    for (size_t i = 0; i < m->n_parts; i++) {
        al_jw_obj(j);
        al_jw_kstrz(j, "type", "input_text");
        al_jw_kstr(j, "text", m->parts[i].text);
        al_jw_end(j);
    }
    al_jw_end(j);
    al_jw_end(j);
}

#define PHASE_MAX 40

/* A model that is told which of its words were not yet the answer must be told so again. */
static void put_phase(struct al_str raw, struct al_jw *j)
{
    if (!raw.n)
        return;
    autoarena struct al_arena a = AL_ARENA_INIT(AL_LLM_TREE(raw.n));
    const struct al_json *v = NULL;
    if (al_json_parse(&a, raw, &v, NULL) < 0)
        return;
    struct al_str phase = al_json_get_text(v, "phase");
    if (phase.n <= PHASE_MAX && al_llm_name_ok(phase))
        al_jw_kstr(j, "phase", phase);
}

static void put_text(const struct al_llm_part *p, size_t number, struct al_jw *j)
{
    char id[32];
    snprintf(id, sizeof id, "msg_%zu", number);
    al_jw_obj(j);
    al_jw_kstrz(j, "type", "message");
    al_jw_kstrz(j, "id", id);
    al_jw_kstrz(j, "role", "assistant");
    al_jw_kstrz(j, "status", "completed");
    put_phase(p->raw, j);
    al_jw_key(j, "content");
    al_jw_arr(j);
    al_jw_obj(j);
    al_jw_kstrz(j, "type", "output_text");
    al_jw_kraw(j, "annotations", AL_STR("[]"));
    al_jw_kstr(j, "text", p->text);
    al_jw_end(j);
    al_jw_end(j);
    al_jw_end(j);
}

static void put_assistant(const struct al_llm_message *m, size_t *number, struct al_jw *j)
{
    for (size_t i = 0; i < m->n_parts; i++) {
        const struct al_llm_part *p = &m->parts[i];
        switch (p->kind) {
        case AL_LLM_TEXT:
            put_text(p, ++*number, j);
            break;
        case AL_LLM_REASONING:
            al_jw_raw(j, p->raw);
            break;
        case AL_LLM_CALL:
            al_jw_obj(j);
            al_jw_kstrz(j, "type", "function_call");
            al_jw_kstr(j, "call_id", p->id);
            al_jw_kstr(j, "name", p->name);
            al_jw_kstr(j, "arguments", p->text);
            al_jw_end(j);
            break;
        }
    }
}

static void put_result(const struct al_llm_message *m, struct al_jw *j)
{
    al_jw_obj(j);
    al_jw_kstrz(j, "type", "function_call_output");
    al_jw_kstr(j, "call_id", m->call_id);
    al_jw_kstr(j, "output", m->parts[0].text);
    al_jw_end(j);
}

static void put_items(const struct al_llm_request *r, struct al_jw *j)
{
    size_t number = 0;
    for (size_t i = 0; i < r->n_messages; i++) {
        const struct al_llm_message *m = &r->messages[i];
        switch (m->role) {
        case AL_LLM_USER:
            put_user(m, j);
            break;
        case AL_LLM_ASSISTANT:
            put_assistant(m, &number, j);
            break;
        case AL_LLM_RESULT:
            put_result(m, j);
            break;
        }
    }
}

void al_llm_body_responses(const struct al_llm_wire *w, struct al_buf *out)
{
    const struct al_llm_request *r = w->request;
    struct al_jw j;
    al_jw_init(&j, out);
    al_jw_obj(&j);
    al_jw_kstrz(&j, "model", w->model);
    al_jw_kbool(&j, "stream", true);
    if (al_llm_sends(w, AL_LLM_STORE))
        al_jw_kbool(&j, "store", false);
    if (al_llm_sends(w, AL_LLM_INCLUDE))
        al_jw_kraw(&j, "include", AL_STR("[\"reasoning.encrypted_content\"]"));
    int64_t max_output = al_llm_wire_max_output(w);
    if (al_llm_sends(w, AL_LLM_MAX_TOKENS))
        al_jw_kint(&j, "max_output_tokens", max_output < LEAST_OUTPUT ? LEAST_OUTPUT : max_output);
    al_llm_put_temperature(w, &j);
    if (w->provider->reasoning_effort && al_llm_sends(w, AL_LLM_EFFORT)) {
        al_jw_key(&j, "reasoning");
        al_jw_obj(&j);
        al_jw_kstrz(&j, "effort", w->provider->reasoning_effort);
        al_jw_kstrz(&j, "summary", "auto");
        al_jw_end(&j);
    }
    al_llm_put_cache_key(w, &j);
    put_tools(w, &j);
    if (r->system.n)
        al_llm_put_clean(&j, "instructions", r->system);
    al_jw_key(&j, "input");
    al_jw_arr(&j);
    put_items(r, &j);
    al_jw_end(&j);
    /* Behind the items: a summary asks with the bytes of the request before it. */
    if (r->no_calls && r->n_tools)
        al_jw_kstrz(&j, "tool_choice", "none");
    al_jw_end(&j);
}
