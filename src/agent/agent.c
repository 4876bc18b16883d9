/* An agent's life: taking the session, its conversation and what is sent with each request; a turn's begin
 * and its cancel. */
#include "agent/turn_int.h"

#include "base/failpoint.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX (96u << 20) /* of a message as the journal keeps it */
#define EVENT_MAX (1u << 20)

/* --- new and free --- */

static void keep_settled(void *ud, const struct al_model_call *c)
{
    struct al_agent *a = ud;
    a->settled = al_xrealloc(a->settled, (a->n_settled + 1) * sizeof(*a->settled));
    struct al_model_call *to = &a->settled[a->n_settled++];
    *to =
        (struct al_model_call){.is_error = c->is_error, .started_ms = c->started_ms, .ended_ms = c->ended_ms};
    memcpy(to->id, c->id, sizeof(to->id));
    to->name = al_xstrdup(c->name);
    to->status = al_xstrdup(c->status);
    to->result = al_xstrdup(c->result);
    to->execution = c->execution ? al_xstrdup(c->execution) : NULL;
}

static void forget_settled(struct al_agent *a)
{
    for (size_t i = 0; i < a->n_settled; i++)
        al_model_call_fini(&a->settled[i]);
    free(a->settled);
    a->settled = NULL;
    a->n_settled = 0;
}

static int read_context(struct al_agent *a, struct al_err *err)
{
    if (al_context_read(a->core, a->o.home, NULL, a->o.project_trusted, &a->context, err) < 0)
        return -1;
    if (a->o.headless)
        al_context_drop_untrusted(&a->context);
    return 0;
}

static int fill(struct al_agent *a, struct al_err *err)
{
    if (al_turn_settle(a->store, a->session, keep_settled, a, err) < 0 || al_history_load(a, err) < 0 ||
        read_context(a, err) < 0 || al_agent_offer(a, err) < 0)
        return -1;
    al_agent_system(a, &a->system);
    al_window_init(a);
    return 0;
}

int al_agent_new(const struct al_agent_opts *o, const struct al_agent_ops *ops, void *ud,
                 struct al_agent **ret, struct al_err *err)
{
    struct al_agent *a = al_xcalloc(1, sizeof(*a));
    a->o = *o;
    a->ops = *ops;
    a->ud = ud;
    a->core = o->core;
    a->llm = o->llm;
    a->store = al_core_store(o->core);
    a->loop = al_core_loop(o->core);
    a->config = al_core_config(o->core);
    snprintf(a->session, sizeof(a->session), "%s", al_core_session(o->core)->id);
    al_buf_init(&a->system, 2u << 20); /* with context.maxBytes of the person's own */
    al_arena_init(&a->offered, 16u << 20);
    if (al_turn_lock(a->store, a->session, o->terminal, err) < 0) {
        al_agent_free(a);
        return -1;
    }
    a->locked = true;
    if (fill(a, err) < 0) {
        al_agent_free(a);
        return -1;
    }
    *ret = a;
    return 0;
}

void al_agent_free(struct al_agent *a)
{
    if (!a)
        return;
    al_window_stop(a);
    if (a->locked)
        al_turn_unlock(a->store, a->session);
    forget_settled(a);
    free(a->published);
    al_context_fini(&a->context);
    al_buf_free(&a->system);
    al_arena_free(&a->offered);
    al_arena_free(&a->history.arena);
    free(a->history.v);
    free(a);
}

const char *al_agent_run_id(const struct al_agent *a)
{
    return a->run_id;
}

/* --- the first events of a turn --- */

static void put_limits(struct al_jw *w, struct al_agent *a)
{
    al_jw_key(w, "limits");
    al_jw_obj(w);
    al_jw_kint(w, "maxTurns", al_turn_max(a));
    al_jw_kint(w, "maxTokens", al_turn_max_tokens(a));
    al_jw_kint(w, "maxOutputTokens", al_window_max_output(a));
    al_jw_kint(w, "contextWindow", al_window_size(a));
    al_jw_kbool(w, "contextWindowKnown", al_window_is_known(a));
    al_jw_end(w);
}

static void tell_started(struct al_agent *a)
{
    const struct al_provider *p = al_llm_provider(a->llm);
    const struct al_workspace *ws = al_core_workspace(a->core);
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "provider", p->name);
    al_jw_kstrz(&w, "model", al_llm_model(a->llm));
    al_jw_kstrz(&w, "api", al_api_name(p->api));
    al_jw_kstrz(&w, "workspace", ws ? al_workspace_root(ws) : NULL);
    al_jw_key(&w, "tools");
    al_jw_arr(&w);
    for (size_t i = 0; i < a->n_tools; i++)
        al_jw_str(&w, a->tools[i].name);
    al_jw_end(&w);
    put_limits(&w, a);
    al_jw_kbool(&w, "resumed", a->turn->resumed);
    al_jw_end(&w);
    al_agent_event(a, "run_started", al_buf_str(&data));
}

/* What a former process left open reads the same for the person and the model. */
static void tell_settled(struct al_agent *a)
{
    for (size_t i = 0; i < a->n_settled; i++) {
        const struct al_model_call *c = &a->settled[i];
        autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
        struct al_jw w;
        al_jw_init(&w, &data);
        al_jw_obj(&w);
        al_jw_kstrz(&w, "id", c->id);
        al_jw_kstrz(&w, "name", c->name);
        al_jw_kbool(&w, "isError", c->is_error);
        al_jw_kint(&w, "durationMs",
                   c->started_ms && c->ended_ms > c->started_ms ? c->ended_ms - c->started_ms : 0);
        al_jw_kstr(&w, "preview", al_utf8_head(al_str_of(c->result), AL_AGENT_PREVIEW));
        if (c->execution)
            al_jw_kstrz(&w, "executionId", c->execution);
        al_jw_kbool(&w, "settled", true);
        al_jw_end(&w);
        al_agent_event(a, "tool_completed", al_buf_str(&data));
    }
    forget_settled(a);
}

static void tell_context(struct al_agent *a)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    if (a->context.n == 0)
        return;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_key(&w, "files");
    al_jw_arr(&w);
    for (size_t i = 0; i < a->context.n; i++) {
        const struct al_context_file *f = &a->context.files[i];
        al_jw_obj(&w);
        al_jw_kstrz(&w, "path", f->path);
        al_jw_kint(&w, "bytes", (int64_t)f->bytes);
        al_jw_kint(&w, "sent", (int64_t)f->sent);
        al_jw_kbool(&w, "trusted", f->trusted);
        al_jw_kbool(&w, "used", f->used);
        if (f->why)
            al_jw_kstrz(&w, "why", f->why);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_end(&w);
    al_agent_event(a, "session_context_injected", al_buf_str(&data));
}

static void begin(struct al_agent *a)
{
    al_agent_tell_begun(a);
    al_turn_next(a);
}

/* Once, and before anything else of the run is told, also when it is cancelled at once. */
void al_agent_tell_begun(struct al_agent *a)
{
    if (a->turn->begun)
        return;
    a->turn->begun = true;
    tell_started(a);
    tell_settled(a);
    tell_context(a);
    al_window_start(a);
}

/* --- start --- */

static int check_goes_on(const struct al_agent *a, struct al_err *err)
{
    const struct al_llm_message *last = a->history.n ? &a->history.v[a->history.n - 1] : NULL;
    if (!last) {
        al_fail(err, AL_INVALID_INPUT, "the session has no conversation yet");
        return al_hint(err, "give a prompt");
    }
    if (last->role != AL_LLM_ASSISTANT)
        return 0;
    al_fail(err, AL_INVALID_INPUT,
            "the session's last turn ended with an answer: there is nothing to go on with");
    return al_hint(err, "give a prompt");
}

/* What the repository said last in this conversation; empty: nothing. */
static struct al_str newest_repository(const struct al_agent *a)
{
    for (size_t i = a->history.n; i > 0; i--) {
        const struct al_llm_message *m = &a->history.v[i - 1];
        if (m->role == AL_LLM_USER && m->by == AL_LLM_REPOSITORY && m->n_parts == 1)
            return m->parts[0].text;
    }
    return (struct al_str){"", 0};
}

void al_agent_user_body(enum al_llm_by by, struct al_str text, struct al_buf *out)
{
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = text};
    struct al_llm_message m = {.role = AL_LLM_USER, .by = by, .parts = &part, .n_parts = 1};
    struct al_jw w;
    al_jw_init(&w, out);
    al_llm_message_write(&w, &m);
}

void al_agent_add_user(struct al_agent *a, enum al_llm_by by, struct al_str text, int64_t seq)
{
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = text};
    struct al_llm_message m = {.role = AL_LLM_USER, .by = by, .parts = &part, .n_parts = 1, .seq = seq};
    al_history_add(a, &m);
}

/* What the repository says stands before the first prompt; where it says something else by now, before the
 * next one. */
static int store_repository(struct al_agent *a, struct al_err *err)
{
    autobuf struct al_buf body = AL_BUF_INIT(MESSAGE_MAX);
    struct al_str text = al_buf_str(&a->context.repository);
    int64_t seq;
    autobuf struct al_buf clean = AL_BUF_INIT(MESSAGE_MAX);
    al_history_text(text, &clean);
    if (text.n == 0 || al_str_eq(al_buf_str(&clean), newest_repository(a)))
        return 0;
    al_agent_user_body(AL_LLM_REPOSITORY, text, &body);
    if (al_turn_message(a->store, a->session, NULL, al_buf_str(&body), &seq, err) < 0)
        return -1;
    al_agent_add_user(a, AL_LLM_REPOSITORY, text, seq);
    return 0;
}

static int store_begin(struct al_agent *a, struct al_str prompt, struct al_err *err)
{
    const struct al_provider *p = al_llm_provider(a->llm);
    autobuf struct al_buf body = AL_BUF_INIT(MESSAGE_MAX);
    autofree char *model = al_xstrdup(al_llm_model(a->llm)), *api = al_xstrdup(al_api_name(p->api));
    struct al_turn row = {.provider = p->name, .base_url = p->base_url, .model = model, .api = api};
    int64_t seq = 0;
    snprintf(row.id, sizeof(row.id), "%s", a->run_id);
    snprintf(row.session, sizeof(row.session), "%s", a->session);
    row.created_ms = al_wall_ms();
    char running[] = "running";
    row.status = running;
    if (prompt.n)
        al_agent_user_body(AL_LLM_PERSON, prompt, &body);
    if (al_buf_failed(&body))
        return al_fail(err, AL_INVALID_INPUT, "the prompt has %zu bytes; at most 16 MiB fit", prompt.n);
    if (al_turn_begin(a->store, &row, al_buf_str(&body), &seq, err) < 0)
        return -1;
    if (prompt.n)
        al_agent_add_user(a, AL_LLM_PERSON, prompt, seq);
    al_failpoint("agent.prompt_stored");
    return 0;
}

int al_agent_start(struct al_agent *a, struct al_str prompt, struct al_err *err)
{
    if (a->turn)
        return al_fail(err, AL_INVALID_INPUT, "a turn is running");
    if (prompt.n > AL_CALL_MAX_ARGS)
        return al_fail(err, AL_INVALID_INPUT, "the prompt has %zu bytes; at most %u fit", prompt.n,
                       AL_CALL_MAX_ARGS);
    if (prompt.n == 0 && check_goes_on(a, err) < 0)
        return -1;
    al_id_new(a->run_id, "run");
    if (store_repository(a, err) < 0 || store_begin(a, prompt, err) < 0) {
        a->run_id[0] = 0;
        return -1;
    }
    a->seq = 0;
    a->cancelled = false;
    a->repeat = (struct al_repeat){.n = 0};
    a->turn = al_turn_new();
    a->turn->resumed = prompt.n == 0;
    a->state = AL_AGENT_MODEL;
    al_turn_later(a, begin);
    return 0;
}

/* --- cancel --- */

void al_agent_cancel(struct al_agent *a)
{
    if (!a->turn || a->turn->ending || a->cancelled)
        return;
    a->cancelled = true;
    switch (a->state) {
    case AL_AGENT_IDLE:
        break;
    case AL_AGENT_MODEL:
        if (a->asking)
            al_llm_cancel(a->asking);
        a->asking = NULL;
        al_turn_later(a, al_turn_cancelled);
        break;
    case AL_AGENT_TOOLS:
        al_calls_cancel(a);
        break;
    case AL_AGENT_COMPACTING:
        al_compact_cancel(a);
        al_turn_later(a, al_turn_cancelled);
        break;
    }
}
