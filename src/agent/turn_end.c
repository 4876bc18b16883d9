/* How a run ends: its last event, its row, and what both say of tokens, time and money. */
#include "agent/turn_int.h"

#include "base/failpoint.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define EVENT_MAX (1u << 20)
#define PICO 1e12

void al_turn_free(struct al_agent_turn *t)
{
    al_timer_stop(t->step);
    al_turn_circling_dropped(t);
    al_compact_free(t);
    al_calls_free(&t->calls);
    al_buf_free(&t->calls.loop);
    al_buf_free(&t->text);
    al_buf_free(&t->answer);
    al_buf_free(&t->details);
    free(t);
}

/* --- parts of events --- */

void al_agent_put_text(struct al_jw *w, const char *key, struct al_str text)
{
    for (struct al_str part = text;; part = al_utf8_cut(text, part.n / 2)) {
        autobuf struct al_buf json = AL_BUF_INIT(AL_AGENT_LINE_TEXT);
        struct al_jw one;
        if (part.n > AL_AGENT_LINE_TEXT)
            part = al_utf8_cut(text, AL_AGENT_LINE_TEXT);
        al_jw_init(&one, &json);
        al_jw_str(&one, part);
        if (al_buf_failed(&json))
            continue;
        al_jw_kraw(w, key, al_buf_str(&json));
        if (part.n < text.n)
            al_jw_kbool(w, "truncated", true);
        return;
    }
}

void al_turn_usage_json(struct al_jw *w, const char *key, const struct al_llm_usage *u, bool in_all,
                        bool estimated)
{
    if (key)
        al_jw_key(w, key);
    al_jw_obj(w);
    al_jw_kint(w, "input", u->input);
    al_jw_kint(w, "cachedInput", u->cached_input);
    al_jw_kint(w, "cacheWrite", u->cache_write);
    al_jw_kint(w, "output", u->output);
    al_jw_kint(w, "reasoning", u->reasoning);
    al_jw_kbool(w, in_all ? "estimated" : "known", in_all ? estimated : u->known);
    al_jw_end(w);
}

void al_turn_fault_details(const struct al_llm_fault *f, struct al_buf *out)
{
    struct al_jw w;
    if (out->n)
        return;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "fault", al_llm_fault_name(f->kind));
    if (f->status)
        al_jw_kint(&w, "status", f->status);
    const struct {
        const char *key, *text;
    } words[] = {{"type", f->type}, {"code", f->code}, {"field", f->field}, {"requestId", f->request_id}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (words[i].text[0])
            al_jw_kstrz(&w, words[i].key, words[i].text);
    if (f->retry_after_ms >= 0)
        al_jw_kint(&w, "retryAfterMs", f->retry_after_ms);
    al_jw_end(&w);
}

static void put_sums(struct al_jw *w, const struct al_agent *a)
{
    const struct al_agent_turn *t = a->turn;
    al_turn_usage_json(w, "usage", &t->usage, true, t->estimated);
    if (t->attempts_unknown)
        al_jw_kint(w, "attemptsUnknown", t->attempts_unknown);
    al_jw_key(w, "costUsd");
    if (t->cost < 0 || t->n_answers == 0)
        al_jw_null(w);
    else
        al_jw_double(w, (double)t->cost / PICO);
    al_jw_kint(w, "durationMs", (int64_t)((al_mono_ns() - t->began_ns) / 1000000));
    al_jw_kint(w, "apiMs", (int64_t)t->api_ms);
    al_jw_key(w, "ttftMs");
    if (t->ttft_ms < 0)
        al_jw_null(w);
    else
        al_jw_int(w, t->ttft_ms);
    al_jw_kint(w, "turns", t->n_answers);
    al_jw_kint(w, "calls", t->n_calls);
    al_jw_kstrz(w, "sessionId", a->session);
    al_jw_kstrz(w, "model", al_llm_model(a->llm));
    al_jw_kstrz(w, "provider", al_llm_provider(a->llm)->name);
}

static void put_failure(struct al_jw *w, const struct al_agent_turn *t)
{
    al_jw_kstrz(w, "error", t->err.msg);
    al_jw_kstrz(w, "code", t->output_truncated ? "output_truncated" : al_code_name(t->err.code));
    if (t->err.hint[0])
        al_jw_kstrz(w, "hint", t->err.hint);
    if (t->details.n)
        al_jw_kraw(w, "details", al_buf_str(&t->details));
}

static const char *const types[] = {
    [AL_AGENT_COMPLETED] = "run_completed",
    [AL_AGENT_FAILED] = "run_failed",
    [AL_AGENT_CANCELLED] = "run_cancelled",
    [AL_AGENT_TURNS_EXCEEDED] = "run_turns_exceeded",
};
static const char *const statuses[] = {
    [AL_AGENT_COMPLETED] = "completed",
    [AL_AGENT_FAILED] = "failed",
    [AL_AGENT_CANCELLED] = "cancelled",
    [AL_AGENT_TURNS_EXCEEDED] = "turns_exceeded",
};

static void tell_end(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    autobuf struct al_buf data = AL_BUF_INIT(2 * EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_agent_put_text(&w, "text", al_buf_str(&t->answer));
    if (t->outcome == AL_AGENT_FAILED)
        put_failure(&w, t);
    if (t->outcome == AL_AGENT_TURNS_EXCEEDED)
        al_jw_kint(&w, "maxTurns", al_turn_max(a));
    put_sums(&w, a);
    al_jw_end(&w);
    al_agent_event(a, types[t->outcome], al_buf_str(&data));
}

static void store_end(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    autobuf struct al_buf usage = AL_BUF_INIT(4096);
    autofree char *status = al_xstrdup(statuses[t->outcome]);
    autofree char *code = al_xstrdup(al_code_name(t->err.code));
    struct al_turn row = {
        .status = status, .ended_ms = al_wall_ms(), .n_requests = t->n_requests, .n_calls = t->n_calls};
    struct al_jw w;
    struct al_err err;
    snprintf(row.id, sizeof(row.id), "%s", a->run_id);
    snprintf(row.session, sizeof(row.session), "%s", a->session);
    al_jw_init(&w, &usage);
    al_turn_usage_json(&w, NULL, &t->usage, true, t->estimated);
    al_buf_addc(&usage, 0);
    row.usage = usage.p;
    if (t->err.code != AL_OK) {
        row.error_code = code;
        row.error_msg = t->err.msg;
    }
    if (al_turn_end(a->store, &row, &err) < 0)
        al_turn_notice(a, al_str_of(err.msg));
}

void al_turn_end_events(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    if (t->calls.n_ended < t->calls.n)
        return; /* al_turn_calls_done comes back here */
    al_agent_tell_begun(a);
    al_window_stop(a);
    if (t->n_answers > 0)
        al_window_tell_unknown(a);
    store_end(a);
    tell_end(a);
    al_failpoint("agent.turn_ended");
    struct al_agent_end end = {
        .outcome = t->outcome,
        .text = al_buf_str(&t->answer),
        .err = t->err,
        .output_truncated = t->output_truncated,
    };
    a->turn = NULL;
    a->state = AL_AGENT_IDLE;
    a->ops.ended(a->ud, &end); /* who is told may free the agent */
    al_turn_free(t);
}
