/*
 * A turn: request, answer, calls, request … until the model has said its last, or something ends it. Each
 * step comes from the loop (al_turn_later), so that a callback of the model or of a tool never ends in the
 * next one, and a cancel finds either something in flight or a step to take back.
 */
#include "agent/turn_int.h"

#include "base/failpoint.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX (160u << 20) /* of an answer as the journal keeps it */
#define TEXT_MAX (64u << 20)
#define EVENT_MAX (1u << 20)
#define DELTA_BYTES (120u << 10) /* of text in one event: as JSON at most six times as much */
#define MIN_TOKENS 400000
#define MAX_TOKENS 8000000
#define TOKENS_UNKNOWN 1000000
#define WINDOWS_A_RUN 8

/* --- steps --- */

static void on_step(void *ud)
{
    struct al_agent *a = ud;
    void (*fn)(struct al_agent *) = a->turn->step_fn;
    a->turn->step = NULL;
    a->turn->step_fn = NULL;
    /* Who is told an event may cancel within it: what was to come next then does not. */
    if (a->cancelled && fn != al_turn_end_events)
        fn = al_turn_cancelled;
    fn(a);
}

void al_turn_later(struct al_agent *a, void (*fn)(struct al_agent *a))
{
    struct al_agent_turn *t = a->turn;
    if (t->step)
        al_timer_stop(t->step);
    t->step_fn = fn;
    t->step = al_timer_start(a->loop, 0, on_step, a);
}

struct al_agent_turn *al_turn_new(void)
{
    struct al_agent_turn *t = al_xcalloc(1, sizeof(*t));
    al_buf_init(&t->text, TEXT_MAX);
    al_buf_init(&t->answer, TEXT_MAX);
    al_buf_init(&t->details, EVENT_MAX / 4);
    al_buf_init(&t->calls.loop, 256);
    t->began_ns = al_mono_ns();
    t->ttft_ms = -1;
    t->usage.known = true;
    return t;
}

void al_turn_finish(struct al_agent *a, enum al_agent_outcome outcome, const struct al_err *err)
{
    struct al_agent_turn *t = a->turn;
    if (t->ending)
        return;
    t->ending = true;
    t->outcome = outcome;
    if (err)
        t->err = *err;
    al_turn_later(a, al_turn_end_events);
}

static void fail(struct al_agent *a, const struct al_err *err)
{
    al_turn_finish(a, AL_AGENT_FAILED, err);
}

/* --- limits --- */

int64_t al_turn_max(const struct al_agent *a)
{
    return a->o.max_turns > 0 ? a->o.max_turns : al_config_int(a->config, AL_OPT_MAX_TURNS);
}

int64_t al_turn_max_tokens(const struct al_agent *a)
{
    int64_t max = al_config_int(a->config, AL_OPT_MAX_TOKENS);
    if (max > 0)
        return max;
    if (!al_window_is_known(a))
        return TOKENS_UNKNOWN;
    max = WINDOWS_A_RUN * al_window_size(a);
    return max < MIN_TOKENS ? MIN_TOKENS : max > MAX_TOKENS ? MAX_TOKENS : max;
}

/* True: a limit of the run ends it here. */
static bool over_limit(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    int64_t max = al_turn_max(a), tokens = t->usage.input + t->usage.output + t->unreported,
            max_tokens = al_turn_max_tokens(a);
    struct al_err err;
    if ((int64_t)t->n_answers >= max) {
        al_fail(&err, AL_TURN_LIMIT, "the run has made %u requests, its limit (maxTurns)", t->n_answers);
        al_hint(&err,
                "`alisio resume %s` goes on; --max-turns or maxTurns in the configuration sets the limit",
                a->session);
        al_turn_finish(a, AL_AGENT_TURNS_EXCEEDED, &err);
        return true;
    }
    if (tokens < max_tokens)
        return false;
    al_fail(&err, AL_TURN_LIMIT, "the run has used %lld tokens; its limit is %lld (maxTokens)",
            (long long)tokens, (long long)max_tokens);
    al_hint(&err, "`alisio resume %s` goes on; maxTokens in the configuration sets the limit", a->session);
    al_buf_addf(&t->details, "{\"limit\":\"tokens\",\"tokens\":%lld,\"maxTokens\":%lld}", (long long)tokens,
                (long long)max_tokens);
    fail(a, &err);
    return true;
}

/* --- what is told while the model speaks --- */

void al_turn_text_event(struct al_agent *a, const char *type, unsigned attempt, struct al_str text)
{
    while (text.n > 0) {
        autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
        struct al_str part = al_utf8_cut(text, DELTA_BYTES);
        struct al_jw w;
        if (part.n == 0)
            part = text;
        al_jw_init(&w, &data);
        al_jw_obj(&w);
        al_jw_kstr(&w, "text", part);
        al_jw_kint(&w, "attempt", attempt);
        al_jw_end(&w);
        al_agent_event(a, type, al_buf_str(&data));
        text.p += part.n;
        text.n -= part.n;
    }
}

static void streamed(struct al_agent *a)
{
    if (a->turn->streamed)
        return;
    al_window_tell_unknown(a); /* the endpoint answers, and none of its text has been shown */
    a->turn->streamed = true;
    al_failpoint("agent.stream");
}

static void on_text(void *ud, unsigned attempt, struct al_str text)
{
    struct al_agent *a = ud;
    streamed(a);
    al_buf_add_str(&a->turn->text, text);
    al_turn_text_event(a, "text_delta", attempt, text);
}

static void on_reasoning(void *ud, unsigned attempt, struct al_str text)
{
    struct al_agent *a = ud;
    streamed(a);
    al_turn_text_event(a, "reasoning_delta", attempt, text);
}

void al_turn_retry_event(struct al_agent *a, const struct al_llm_retry *r)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kint(&w, "attempt", r->attempt);
    al_jw_kstrz(&w, "reason", al_llm_fault_name(r->fault->kind));
    al_jw_kint(&w, "waitMs", (int64_t)r->wait_ms);
    al_jw_kint(&w, "discardedChars", (int64_t)r->discarded_chars);
    if (r->fault->status)
        al_jw_kint(&w, "status", r->fault->status);
    al_jw_kstrz(&w, "message", r->fault->message);
    al_jw_end(&w);
    al_agent_event(a, "request_retry", al_buf_str(&data));
}

static void on_retry(void *ud, const struct al_llm_retry *r)
{
    struct al_agent *a = ud;
    a->turn->unknown_now += r->fault->answered;
    al_turn_sent(a, "failed", NULL, al_llm_fault_name(r->fault->kind));
    al_buf_clear(&a->turn->text);
    a->turn->streamed = false;
    al_turn_retry_event(a, r);
}

void al_turn_notice(struct al_agent *a, struct al_str text)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstr(&w, "text", al_utf8_cut(text, DELTA_BYTES));
    al_jw_end(&w);
    al_agent_event(a, "notice", al_buf_str(&data));
}

static void on_notice(void *ud, struct al_str text)
{
    al_turn_notice(ud, text);
}

static void on_learned(void *ud, const struct al_llm_facts *facts)
{
    al_turn_learned(ud, facts);
}

/* What cannot be kept is learned again. */
void al_turn_learned(struct al_agent *a, const struct al_llm_facts *facts)
{
    autobuf struct al_buf json = AL_BUF_INIT(4096);
    struct al_llm_facts all = *facts;
    struct al_jw w;
    struct al_err err;
    if (facts->window > 0)
        al_window_learn(a, facts->window);
    all.window = a->window.learned;
    al_jw_init(&w, &json);
    al_llm_facts_write(&w, &all);
    if (al_store_model_facts_set(a->store, al_llm_provider(a->llm)->base_url, al_llm_model(a->llm),
                                 al_buf_str(&json), &err) < 0)
        al_turn_notice(a, al_str_of(err.msg));
}

/* --- rows of requests --- */

int al_turn_sending(struct al_agent *a, unsigned attempt, const char *sha256, struct al_err *err)
{
    if (al_turn_request(a->store, a->run_id, attempt, al_llm_model(a->llm), sha256, &a->turn->request_seq,
                        err) < 0)
        return -1;
    a->turn->n_requests++;
    al_failpoint("agent.request_stored");
    return 0;
}

static int on_sending(void *ud, unsigned attempt, struct al_str body, const char sha256[AL_SHA256_HEX],
                      struct al_err *err)
{
    (void)body;
    return al_turn_sending(ud, attempt, sha256, err);
}

/* The row of a request is for whoever looks at it later: the answer is worth more than it. */
void al_turn_sent(struct al_agent *a, const char *status, const struct al_llm_usage *u, const char *error)
{
    struct al_agent_turn *t = a->turn;
    autobuf struct al_buf usage = AL_BUF_INIT(4096);
    struct al_jw w;
    struct al_err err;
    if (t->request_seq == 0)
        return;
    if (u) {
        al_jw_init(&w, &usage);
        al_turn_usage_json(&w, NULL, u, false, false);
        al_buf_addc(&usage, 0);
    }
    if (al_turn_request_end(a->store, t->request_seq, status, usage.n ? usage.p : NULL, error, &err) < 0)
        al_turn_notice(a, al_str_of(err.msg));
    t->request_seq = 0;
}

/* --- messages --- */

static void store_failed(struct al_agent *a, const struct al_err *err)
{
    struct al_err e = *err;
    al_wrap(&e, "the conversation cannot be written down");
    fail(a, &e);
}

bool al_turn_say(struct al_agent *a, enum al_llm_by by, struct al_str text)
{
    autobuf struct al_buf body = AL_BUF_INIT(MESSAGE_MAX);
    int64_t seq;
    struct al_err err;
    al_agent_user_body(by, text, &body);
    if (al_turn_message(a->store, a->session, a->run_id, al_buf_str(&body), &seq, &err) < 0) {
        store_failed(a, &err);
        return false;
    }
    al_agent_add_user(a, by, text, seq);
    return true;
}

static bool is_sendable(const struct al_llm_message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == AL_LLM_CALL || (m->parts[i].kind == AL_LLM_TEXT && m->parts[i].text.n) ||
            (m->parts[i].kind == AL_LLM_REASONING && m->parts[i].raw.n))
            return true;
    return false;
}

/* The message, and a row for each of its calls; then into the history. One without anything in it is none. */
static bool store_assistant(struct al_agent *a, const struct al_llm_message *m)
{
    autobuf struct al_buf body = AL_BUF_INIT(MESSAGE_MAX);
    struct al_llm_message stored = *m;
    struct al_jw w;
    struct al_err err;
    size_t n = 0;
    if (!is_sendable(m))
        return true;
    al_jw_init(&w, &body);
    al_llm_message_write(&w, m);
    struct al_model_call *rows = al_xcalloc(m->n_parts + 1, sizeof(*rows));
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != AL_LLM_CALL)
            continue;
        struct al_model_call *row = &rows[n];
        snprintf(row->id, sizeof(row->id), "%.*s", AL_FMT(m->parts[i].id));
        snprintf(row->session, sizeof(row->session), "%s", a->session);
        row->ord = (int64_t)n++;
        row->name = al_xdup(m->parts[i].name.p, m->parts[i].name.n);
        row->arguments = al_xdup(m->parts[i].text.p, m->parts[i].text.n);
    }
    int failed = al_buf_failed(&body)
                     ? al_fail(&err, AL_RESULT_TOO_LARGE, "the answer is too long to be kept")
                     : al_turn_assistant(a->store, a->session, a->run_id, al_buf_str(&body), rows, n,
                                         &stored.seq, &err);
    for (size_t i = 0; i < n; i++)
        al_model_call_fini(&rows[i]);
    free(rows);
    if (failed < 0) {
        store_failed(a, &err);
        return false;
    }
    al_history_add(a, &stored);
    al_failpoint("agent.assistant_stored");
    return true;
}

/* What may be kept of an answer that did not end by itself: its text. Its calls are not run, and reasoning
 * without what it led to is refused by who made it. */
static bool store_text_of(struct al_agent *a, const struct al_llm_message *m)
{
    struct al_llm_message kept = *m;
    kept.parts = al_xcalloc(m->n_parts + 1, sizeof(*kept.parts));
    kept.n_parts = 0;
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == AL_LLM_TEXT) {
            kept.parts[kept.n_parts] = m->parts[i];
            kept.parts[kept.n_parts++].raw = (struct al_str){"", 0}; /* "in progress", or half a signature */
        }
    bool ok = store_assistant(a, &kept);
    free(kept.parts);
    return ok;
}

static unsigned count_calls(const struct al_llm_message *m)
{
    unsigned n = 0;
    for (size_t i = 0; i < m->n_parts; i++)
        n += m->parts[i].kind == AL_LLM_CALL;
    return n;
}

/* --- an answer --- */

void al_turn_count(struct al_agent *a, const struct al_llm_answer *answer)
{
    struct al_agent_turn *t = a->turn;
    const struct al_llm_usage *u = &answer->usage;
    struct al_price price = al_provider_price(al_llm_provider(a->llm), al_llm_model(a->llm));
    t->attempts_unknown += answer->attempts_unknown + !u->known;
    t->estimated = t->estimated || answer->attempts_unknown || !u->known;
    t->api_ms += answer->api_ms;
    if (t->ttft_ms < 0)
        t->ttft_ms = (int64_t)answer->ttft_ms;
    if (!u->known) {
        autobuf struct al_buf text = AL_BUF_INIT(TEXT_MAX);
        al_llm_message_text(&answer->message, &text);
        t->unreported += a->window.estimated + al_llm_estimate(al_buf_str(&text));
        return;
    }
    int64_t cost = al_llm_cost(&price, u);
    if (cost < 0 || t->cost < 0 || __builtin_add_overflow(t->cost, cost, &t->cost))
        t->cost = -1;
    t->usage.input += u->input;
    t->usage.cached_input += u->cached_input;
    t->usage.cache_write += u->cache_write;
    t->usage.output += u->output;
    t->usage.reasoning += u->reasoning;
}

void al_turn_count_lost(struct al_agent *a, unsigned attempts)
{
    a->turn->attempts_unknown += attempts;
    a->turn->estimated = a->turn->estimated || attempts > 0;
}

static void tell_turn(struct al_agent *a, const struct al_llm_answer *answer)
{
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kint(&w, "turn", a->turn->n_answers);
    al_jw_kint(&w, "calls", count_calls(&answer->message));
    al_jw_kstrz(&w, "model", al_llm_model(a->llm));
    al_jw_kstrz(&w, "end", al_llm_end_name(answer->end));
    al_turn_usage_json(&w, "usage", &answer->usage, false, false);
    al_jw_kint(&w, "attempts", answer->attempts);
    al_jw_kint(&w, "attemptsUnknown", answer->attempts_unknown);
    al_jw_kint(&w, "durationMs", (int64_t)((al_mono_ns() - a->turn->asked_ns) / 1000000));
    al_jw_kint(&w, "ttftMs", (int64_t)answer->ttft_ms);
    al_jw_end(&w);
    al_agent_event(a, "turn_completed", al_buf_str(&data));
}

/* The text of an answer that goes on where the output limit cut it belongs to that one. */
static void take_text(struct al_agent *a, const struct al_llm_message *m)
{
    struct al_agent_turn *t = a->turn;
    if (!t->continues)
        al_buf_clear(&t->answer);
    t->continues = false;
    al_llm_message_text(m, &t->answer);
}

static void on_whole(struct al_agent *a, const struct al_llm_answer *answer)
{
    struct al_agent_turn *t = a->turn;
    unsigned n_calls = count_calls(&answer->message);
    t->recoveries = t->pauses = 0;
    take_text(a, &answer->message);
    if (!store_assistant(a, &answer->message))
        return;
    al_window_report(a, &answer->usage);
    tell_turn(a, answer);
    if (n_calls == 0) {
        if (t->answer.n == 0)
            al_turn_notice(a, AL_STR("the model ended its turn without a text"));
        al_turn_finish(a, AL_AGENT_COMPLETED, NULL);
        return;
    }
    a->state = AL_AGENT_TOOLS;
    al_calls_start(a);
}

static void tell_truncated(struct al_agent *a, unsigned dropped, const char *reason)
{
    autobuf struct al_buf data = AL_BUF_INIT(4096);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "reason", reason);
    al_jw_kint(&w, "droppedCalls", dropped);
    al_jw_end(&w);
    al_agent_event(a, "response_truncated", al_buf_str(&data));
}

static void fail_truncated(struct al_agent *a, unsigned dropped)
{
    struct al_agent_turn *t = a->turn;
    struct al_err err;
    t->output_truncated = true;
    al_fail(&err, AL_OUTPUT_LIMIT,
            "the model's output limit (%lld tokens) cut its answer %u times in a row%s",
            (long long)al_window_max_output(a), t->recoveries + 1,
            dropped ? "; the tool calls that were cut did not run" : "");
    al_hint(&err, "raise maxOutputTokens, or ask for the work in smaller parts");
    al_buf_addf(&t->details, "{\"recoveries\":%u,\"droppedCalls\":%u}", t->recoveries, dropped);
    fail(a, &err);
}

static void tell_recovery(struct al_agent *a, unsigned dropped)
{
    autobuf struct al_buf data = AL_BUF_INIT(4096);
    al_buf_addf(&data, "{\"attempt\":%u,\"droppedCalls\":%u}", a->turn->recoveries, dropped);
    al_agent_event(a, "truncation_recovery", al_buf_str(&data));
}

static void on_length(struct al_agent *a, const struct al_llm_answer *answer)
{
    struct al_agent_turn *t = a->turn;
    unsigned dropped = count_calls(&answer->message);
    autobuf struct al_buf words = AL_BUF_INIT(4096);
    take_text(a, &answer->message);
    bool has_text = t->answer.n > 0;
    if (!store_text_of(a, &answer->message))
        return;
    if (dropped)
        al_buf_addf(
            &words,
            "Your output limit (%lld tokens) ended that answer. %u tool call%s dropped: none of them ran, "
            "and "
            "nothing of them was changed. Make them again in smaller parts, for example a file in several "
            "writes.",
            (long long)al_window_max_output(a), dropped, dropped == 1 ? " was" : "s were");
    else
        al_buf_addf(&words,
                    "Your output limit (%lld tokens) ended that answer. No tool call was dropped (0 ran). Go "
                    "on exactly "
                    "where it stopped, without repeating anything; what is long goes in parts.",
                    (long long)al_window_max_output(a));
    if (!al_turn_say(a, AL_LLM_HOST, al_buf_str(&words)))
        return;
    al_window_report(a, &answer->usage);
    tell_turn(a, answer);
    tell_truncated(a, dropped, al_llm_end_name(answer->end));
    if (t->recoveries >= AL_AGENT_RECOVERIES) {
        fail_truncated(a, dropped);
        return;
    }
    t->recoveries++;
    t->continues = dropped == 0 && has_text;
    tell_recovery(a, dropped);
    al_turn_later(a, al_turn_next);
}

/* A filter or a refusal: the provider's last word on it, told as it is. */
static void on_refused(struct al_agent *a, const struct al_llm_answer *answer)
{
    struct al_agent_turn *t = a->turn;
    unsigned dropped = count_calls(&answer->message);
    struct al_err err;
    take_text(a, &answer->message);
    if (!store_text_of(a, &answer->message))
        return;
    al_window_report(a, &answer->usage);
    tell_turn(a, answer);
    tell_truncated(a, dropped, al_llm_end_name(answer->end));
    if (answer->end == AL_LLM_END_FILTER)
        al_fail(&err, AL_UPSTREAM_REJECTED, "the content filter of %s ended the answer",
                al_llm_provider(a->llm)->name);
    else
        al_fail(&err, AL_UPSTREAM_REJECTED, "the model refused to answer%s%.*s", t->answer.n ? ": " : "",
                AL_FMT(al_utf8_cut(al_buf_str(&t->answer), 200)));
    al_hint(&err,
            "say it in other words, or use another model; what was asked for is still in the session %s",
            a->session);
    al_buf_addf(&t->details, "{\"end\":\"%s\",\"droppedCalls\":%u}", al_llm_end_name(answer->end), dropped);
    fail(a, &err);
}

static void on_pause(struct al_agent *a, const struct al_llm_answer *answer)
{
    struct al_agent_turn *t = a->turn;
    struct al_err err;
    take_text(a, &answer->message);
    t->continues = true;
    if (!store_assistant(a, &answer->message))
        return;
    al_window_report(a, &answer->usage);
    tell_turn(a, answer);
    if (t->pauses++ < AL_AGENT_PAUSES) {
        al_turn_later(a, al_turn_next);
        return;
    }
    al_fail(&err, AL_UPSTREAM_UNAVAILABLE, "the provider paused its answer %u times in a row", t->pauses);
    al_hint(&err, "`alisio resume %s` goes on", a->session);
    fail(a, &err);
}

/* The window was full while it answered: what there is of it is not whole, and the same request would end so
 * again. */
static void on_window_full(struct al_agent *a, const struct al_llm_answer *answer)
{
    tell_turn(a, answer);
    tell_truncated(a, count_calls(&answer->message), al_llm_end_name(answer->end));
    al_turn_overflow(a, 0);
}

static void make_smaller(struct al_agent *a)
{
    al_compact_start(a, true);
}

void al_turn_overflow(struct al_agent *a, int64_t window)
{
    struct al_agent_turn *t = a->turn;
    struct al_err err;
    if (window > 0)
        al_window_learn(a, window);
    t->overflows++;
    if (t->overflows < AL_AGENT_OVERFLOWS && al_window_less_output(a) &&
        al_window_estimate(a) <= al_window_limit(a)) {
        al_turn_later(a, al_turn_next); /* what was asked for, not what was said, was too much */
        return;
    }
    if (t->overflow_tried || t->overflows >= AL_AGENT_OVERFLOWS) {
        al_window_fail(a, &err);
        fail(a, &err);
        return;
    }
    t->overflow_tried = true;
    al_turn_later(a, make_smaller);
}

static void on_answer(struct al_agent *a, const struct al_llm_answer *answer)
{
    struct al_agent_turn *t = a->turn;
    streamed(a);
    al_failpoint("agent.answer_ended");
    al_turn_sent(a, "completed", &answer->usage, NULL);
    t->n_answers++;
    al_turn_count(a, answer);
    if (answer->end != AL_LLM_END_WINDOW) {
        t->overflow_tried = false;
        t->overflows = 0;
    }
    switch (answer->end) {
    case AL_LLM_END_TURN:
        on_whole(a, answer);
        break;
    case AL_LLM_END_LENGTH:
        on_length(a, answer);
        break;
    case AL_LLM_END_WINDOW:
        on_window_full(a, answer);
        break;
    case AL_LLM_END_FILTER:
    case AL_LLM_END_REFUSAL:
        on_refused(a, answer);
        break;
    case AL_LLM_END_PAUSE:
        on_pause(a, answer);
        break;
    }
}

static void on_fault(struct al_agent *a, const struct al_llm_fault *fault)
{
    struct al_err err;
    al_turn_sent(a, "failed", NULL, al_llm_fault_name(fault->kind));
    al_turn_count_lost(a, a->turn->unknown_now + fault->answered);
    if (fault->kind == AL_LLM_FAULT_OVERFLOW) {
        al_turn_overflow(a, fault->window);
        return;
    }
    al_llm_fault_err(fault, al_llm_provider(a->llm), al_llm_model(a->llm), &err);
    al_turn_fault_details(fault, &a->turn->details);
    fail(a, &err);
}

static void on_done(void *ud, const struct al_llm_answer *answer, const struct al_llm_fault *fault)
{
    struct al_agent *a = ud;
    a->asking = NULL;
    if (answer)
        on_answer(a, answer);
    else
        on_fault(a, fault);
    if (a->turn)
        al_buf_clear(&a->turn->text);
}

/* --- the next request --- */

struct al_llm_request al_turn_make_request(struct al_agent *a)
{
    return (struct al_llm_request){
        .messages = a->history.v,
        .n_messages = a->history.n,
        .system = al_buf_str(&a->system),
        .tools = a->tools,
        .n_tools = a->n_tools,
        .max_output_tokens = al_window_max_output(a),
        .cache_key = al_str_of(a->session),
    };
}

static void ask(struct al_agent *a)
{
    static const struct al_llm_ops ops = {
        .sending = on_sending,
        .text = on_text,
        .reasoning = on_reasoning,
        .retry = on_retry,
        .notice = on_notice,
        .learned = on_learned,
        .done = on_done,
    };
    struct al_llm_request r = al_turn_make_request(a);
    a->state = AL_AGENT_MODEL;
    a->turn->streamed = false;
    a->turn->unknown_now = 0;
    a->turn->asked_ns = al_mono_ns();
    al_buf_clear(&a->turn->text);
    a->window.estimated = al_window_estimate(a);
    a->asking = al_llm_ask(a->llm, &r, &ops, a);
}

void al_turn_next(struct al_agent *a)
{
    if (a->cancelled) {
        al_turn_later(a, al_turn_cancelled);
        return;
    }
    if (over_limit(a))
        return;
    if (al_compact_needed(a))
        al_compact_start(a, false);
    else
        ask(a);
}

void al_turn_compacted(struct al_agent *a, bool ok, const struct al_err *err)
{
    if (a->cancelled)
        return;
    a->state = AL_AGENT_MODEL;
    if (!ok)
        fail(a, err);
    else
        ask(a);
}

/* The limits are asked again, the need for a summary too: by what the results added. */
void al_turn_calls_done(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    a->state = AL_AGENT_MODEL;
    if (t->ending) {
        al_turn_later(a, al_turn_end_events);
    } else if (a->cancelled) {
        al_turn_later(a, al_turn_cancelled);
    } else {
        al_failpoint("agent.results_stored");
        al_turn_later(a, t->calls.loop.n ? al_turn_in_circles : al_turn_next);
    }
}

/* --- cancelled --- */

/* What had come of the answer is kept, and marked. */
void al_turn_cancelled(struct al_agent *a)
{
    struct al_agent_turn *t = a->turn;
    const struct al_provider *p = al_llm_provider(a->llm);
    al_agent_tell_begun(a);
    al_turn_count_lost(a, t->unknown_now + (t->request_seq != 0));
    al_turn_sent(a, "cancelled", NULL, "cancelled");
    if (t->text.n > 0) {
        struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = al_buf_str(&t->text)};
        struct al_llm_message m = {
            .role = AL_LLM_ASSISTANT,
            .from = {.provider = al_str_of(p->name),
                     .base_url = al_str_of(p->base_url),
                     .model = al_str_of(al_llm_model(a->llm)),
                     .api = p->api},
            .parts = &part,
            .n_parts = 1,
        };
        take_text(a, &m);
        if (!store_assistant(a, &m))
            return;
        if (!al_turn_say(a, AL_LLM_HOST,
                         AL_STR("That answer was cancelled by the user before it was whole.")))
            return;
    } else if (!al_turn_say(a, AL_LLM_HOST, AL_STR("The run was cancelled by the user here."))) {
        return;
    }
    struct al_err err;
    al_fail(&err, AL_CANCELLED, "cancelled by the user");
    al_turn_finish(a, AL_AGENT_CANCELLED, &err);
}
