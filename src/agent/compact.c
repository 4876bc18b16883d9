/*
 * When the conversation grows out of the window: first the oldest large results become notes; then the model
 * is asked for a summary, by the same request with one instruction behind it (so the provider's cache serves
 * it), and that stands for the older turns from now on. Nothing is deleted from the journal.
 */
#include "agent/turn_int.h"

#include "base/failpoint.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"

#include <stdio.h>
#include <string.h>

#define SUMMARY_MAX (4u << 20)
#define EVENT_MAX (1u << 20)
#define BODY_MAX (32u << 20)
#define DEADLINE_MS (10 * 60 * 1000)
#define SAY_EVERY_MS 15000
#define NOTE_FROM 1200 /* bytes: a shorter result is no large one */
#define NOTE "[The result of "
#define REDUCE_TO 70  /* of a hundred: where reducing may stop */
#define SHARE_MIN 100 /* tokens of a result that stay at least */
#define LITTLE 80     /* of a hundred: more than this is left, so little was saved */
#define LITTLE_TIMES 2

struct al_compaction {
    bool overflow, started;
    bool again; /* the summary's own request was too large once */
    struct al_cut cut;
    int64_t before;           /* tokens */
    struct al_timer *waiting; /* says now and then that it is still at work */
    uint64_t began_ms;
    struct al_err err;
};

static const char instruction[] =
    "The conversation is about to be shortened: what you write now will stand for its older part. Call no "
    "tool. Write a "
    "summary for yourself: what the user wants, with every constraint in their own words; what was done, "
    "which files, "
    "datasets, artifacts and ids there are, with their exact names; what was found out, with the numbers; "
    "what failed and "
    "why; what is still to be done, and the next step. Leave out what is of no use any more.";

/* --- events --- */

static void tell(struct al_agent *a, const char *type, const char *reason, int64_t after,
                 const struct al_err *err)
{
    const struct al_compaction *c = a->turn->compaction;
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    struct al_jw w;
    al_jw_init(&w, &data);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "reason", reason);
    al_jw_kint(&w, "tokensBefore", c->before);
    if (after >= 0)
        al_jw_kint(&w, "tokensAfter", after);
    bool two = c->cut.after_last > c->cut.after_first;
    size_t first = c->cut.before_last > c->cut.before_first ? c->cut.before_first : c->cut.after_first;
    size_t last = two ? c->cut.after_last : c->cut.before_last;
    if (last > first && last <= a->history.n) {
        al_jw_kint(&w, "firstSeq", a->history.v[first].seq);
        al_jw_kint(&w, "lastSeq", a->history.v[last - 1].seq);
    }
    if (err) {
        al_jw_kstrz(&w, "error", err->msg);
        al_jw_kstrz(&w, "code", al_code_name(err->code));
    }
    al_jw_end(&w);
    al_agent_event(a, type, al_buf_str(&data));
}

static const char *reason_of(const struct al_compaction *c)
{
    return c->overflow ? "overflow" : "threshold";
}

static void end(struct al_agent *a, bool ok, const struct al_err *err)
{
    struct al_err e = err ? *err : (struct al_err){.code = AL_OK};
    if (a->cancelled)
        return;
    al_compact_free(a->turn);
    al_turn_compacted(a, ok, &e);
}

static void end_full(struct al_agent *a)
{
    struct al_err err;
    al_window_fail(a, &err);
    if (a->turn->compaction->started)
        tell(a, "compaction_failed", reason_of(a->turn->compaction), -1, &err);
    end(a, false, &err);
}

/* --- first: large results become notes --- */

static bool is_note(struct al_str text)
{
    return al_str_starts(text, NOTE);
}

static bool reduce_one(struct al_agent *a, struct al_llm_message *m)
{
    autobuf struct al_buf where = AL_BUF_INIT(1024);
    struct al_err err;
    if (m->role != AL_LLM_RESULT || m->n_parts != 1 || m->parts[0].text.n < NOTE_FROM ||
        is_note(m->parts[0].text))
        return false;
    /* One that was cut has its place, and that has the whole. */
    if (al_str_find(m->parts[0].text, AL_STR(AL_AGENT_LEFT_OUT)) < 0)
        al_window_say_where(a, m->call_id, m->parts[0].text, &where);
    else
        al_buf_addf(&where, "The whole is still in scratch:results/%.*s.txt, if there is a scratchpad.",
                    AL_FMT(m->call_id));
    char *note = al_arena_printf(
        &a->history.arena,
        NOTE "%.*s (%zu bytes) was left out to make room; the journal keeps it as %.*s. %.*s]",
        AL_FMT(al_window_call_name(a, m->call_id)), m->parts[0].text.n, AL_FMT(m->call_id),
        AL_FMT(al_buf_str(&where)));
    if (!note || al_turn_call_reduce(a->store, a->session, m->call_id.p, al_str_of(note), &err) < 0)
        return false;
    m->parts[0].text = al_str_of(note);
    return true;
}

static void tell_reduced(struct al_agent *a, size_t n, int64_t before)
{
    autobuf struct al_buf data = AL_BUF_INIT(1024);
    al_buf_addf(&data, "{\"results\":%zu,\"tokensBefore\":%lld,\"tokensAfter\":%lld}", n, (long long)before,
                (long long)al_window_estimate(a));
    al_agent_event(a, "context_reduced", al_buf_str(&data));
}

bool al_compact_reduce(struct al_agent *a, unsigned keep, int64_t goal)
{
    size_t n = 0, to = al_compact_reducible(a->history.v, a->history.n, keep);
    int64_t before = al_window_estimate(a);
    for (size_t i = 0; i < to; i++) {
        if (!reduce_one(a, &a->history.v[i]))
            continue;
        n++;
        al_window_changed(a);
        if (al_window_estimate(a) <= goal)
            break;
    }
    if (n == 0)
        return false;
    tell_reduced(a, n, before);
    return true;
}

static bool shrink_one(struct al_agent *a, struct al_llm_message *m, int64_t share)
{
    autobuf struct al_buf cut = AL_BUF_INIT(AL_AGENT_RESULT_MAX);
    struct al_err err;
    if (m->n_parts != 1 || is_note(m->parts[0].text))
        return false;
    al_window_cut(a, m->call_id, m->parts[0].text, share, &cut);
    if (cut.n >= m->parts[0].text.n)
        return false;
    char *text = al_arena_dup(&a->history.arena, al_buf_str(&cut));
    if (!text || al_turn_call_reduce(a->store, a->session, m->call_id.p, al_buf_str(&cut), &err) < 0)
        return false;
    m->parts[0].text = (struct al_str){text, cut.n};
    return true;
}

/* Results that the model has not read yet get shorter instead: each an equal share of what is left for them.
 */
bool al_compact_shrink(struct al_agent *a, int64_t goal)
{
    size_t n = 0, first = a->history.n;
    int64_t before = al_window_estimate(a);
    while (first > 0 && a->history.v[first - 1].role == AL_LLM_RESULT)
        first--;
    int64_t results = al_window_of_messages(a, first, a->history.n), rest = before - results;
    size_t count = a->history.n - first;
    int64_t share = count > 0 && goal > rest ? (goal - rest) / (int64_t)count : 0;
    for (size_t i = first; i < a->history.n; i++)
        n += shrink_one(a, &a->history.v[i], share > SHARE_MIN ? share : SHARE_MIN);
    if (n == 0)
        return false;
    al_window_changed(a);
    tell_reduced(a, n, before);
    return true;
}

/* --- then: a summary --- */

static void put_summary(struct al_str text, struct al_buf *out)
{
    autobuf struct al_buf words = AL_BUF_INIT(SUMMARY_MAX + 1024);
    al_buf_addf(&words, "[Summary of the older part of this conversation, written by you]\n%.*s",
                AL_FMT(text));
    al_agent_user_body(AL_LLM_SUMMARY, al_buf_str(&words), out);
}

static int store_range(struct al_agent *a, size_t first, size_t last, struct al_str body, struct al_err *err)
{
    int64_t from = 0, to = 0, seq;
    for (size_t i = first; i < last; i++) { /* a result has no row of its own among the messages */
        if (a->history.v[i].seq == 0)
            continue;
        from = from ? from : a->history.v[i].seq;
        to = a->history.v[i].seq;
    }
    if (to == 0)
        return 0;
    return al_turn_compact(a->store, a->session, a->run_id, body, from, to, &seq, err);
}

static int store_ranges(struct al_agent *a, struct al_str text, struct al_err *err)
{
    const struct al_cut *cut = &a->turn->compaction->cut;
    autobuf struct al_buf body = AL_BUF_INIT(BODY_MAX), pointer = AL_BUF_INIT(4096);
    bool before = cut->before_last > cut->before_first, after = cut->after_last > cut->after_first;
    put_summary(text, &body);
    if (!after)
        return store_range(a, cut->before_first, cut->before_last, al_buf_str(&body), err);
    if (store_range(a, cut->after_first, cut->after_last, al_buf_str(&body), err) < 0)
        return -1;
    al_agent_user_body(AL_LLM_SUMMARY, AL_STR("[What was said before this is part of the summary below.]"),
                       &pointer);
    return before ? store_range(a, cut->before_first, cut->before_last, al_buf_str(&pointer), err) : 0;
}

/* Both or none. */
static int store_summary(struct al_agent *a, struct al_str text, struct al_err *err)
{
    struct al_err ignored;
    if (al_store_batch_begin(a->store, err) < 0)
        return -1;
    if (store_ranges(a, text, err) == 0)
        return al_store_batch_end(a->store, err);
    (void)!al_store_batch_end(a->store, &ignored);
    return -1;
}

static void reload(struct al_agent *a, struct al_err *err)
{
    al_arena_free(&a->history.arena);
    a->history.n = 0;
    if (al_history_load(a, err) < 0)
        al_wrap(err, "the shortened conversation cannot be read");
}

static void fail_summary(struct al_agent *a, const struct al_err *err, bool hopeless)
{
    struct al_agent_turn *t = a->turn;
    bool overflow = t->compaction->overflow;
    tell(a, "compaction_failed", reason_of(t->compaction), -1, err);
    t->saved_little++;
    if (!hopeless && !overflow && t->saved_little < LITTLE_TIMES && al_window_estimate(a) < al_window_room(a))
        end(a, true, NULL);
    else
        end(a, false, err);
}

static void take_summary(struct al_agent *a, struct al_str text)
{
    struct al_agent_turn *t = a->turn;
    struct al_compaction *c = t->compaction;
    int64_t before = c->before;
    struct al_err err = {.code = AL_OK};
    if (store_summary(a, text, &err) < 0) {
        fail_summary(a, &err, true);
        return;
    }
    al_failpoint("agent.compact_stored");
    /* The range is of the history as it was. */
    const struct al_cut was = c->cut;
    int64_t after;
    autobuf struct al_buf data = AL_BUF_INIT(EVENT_MAX);
    size_t first = was.before_last > was.before_first ? was.before_first : was.after_first;
    size_t last = was.after_last > was.after_first ? was.after_last : was.before_last;
    int64_t first_seq = a->history.v[first].seq, last_seq = 0;
    for (size_t i = first; i < last; i++)
        last_seq = a->history.v[i].seq > last_seq ? a->history.v[i].seq : last_seq;
    reload(a, &err);
    if (err.code != AL_OK) {
        fail_summary(a, &err, true);
        return;
    }
    c->cut = (struct al_cut){0};
    al_window_changed(a);
    after = al_window_estimate(a);
    al_buf_addf(
        &data,
        "{\"reason\":\"%s\",\"tokensBefore\":%lld,\"tokensAfter\":%lld,\"firstSeq\":%lld,\"lastSeq\":%lld}",
        reason_of(c), (long long)before, (long long)after, (long long)first_seq, (long long)last_seq);
    al_agent_event(a, "compaction_completed", al_buf_str(&data));
    t->saved_little = after * 100 > before * LITTLE ? t->saved_little + 1 : 0;
    if (after > al_window_room(a) && al_compact_shrink(a, al_window_limit(a)))
        after = al_window_estimate(a);
    if (t->saved_little >= LITTLE_TIMES || (after > al_window_room(a) && al_window_is_known(a))) {
        end_full(a);
        return;
    }
    end(a, true, NULL);
}

/* --- the summary's request --- */

static int on_sending(void *ud, unsigned attempt, struct al_str body, const char sha256[AL_SHA256_HEX],
                      struct al_err *err)
{
    (void)body;
    if (al_turn_sending(ud, attempt, sha256, err) < 0)
        return -1;
    al_failpoint("agent.compact_asked");
    return 0;
}

static void on_nothing(void *ud, unsigned attempt, struct al_str text)
{
    (void)ud;
    (void)attempt;
    (void)text;
}

static void on_retry(void *ud, const struct al_llm_retry *r)
{
    struct al_agent *a = ud;
    a->turn->unknown_now += r->fault->answered;
    al_turn_sent(a, "failed", NULL, al_llm_fault_name(r->fault->kind));
    al_turn_retry_event(a, r);
}

static void on_notice(void *ud, struct al_str text)
{
    al_turn_notice(ud, text);
}

static void on_learned(void *ud, const struct al_llm_facts *facts)
{
    al_turn_learned(ud, facts);
}

static void ask(struct al_agent *a);

static bool is_hopeless(enum al_llm_fault_kind k)
{
    return k != AL_LLM_FAULT_REJECTED && k != AL_LLM_FAULT_MALFORMED && k != AL_LLM_FAULT_TOO_LARGE;
}

/* The request for the summary is itself too large: with all older results as notes it may fit. */
static void on_too_large(struct al_agent *a, int64_t window)
{
    struct al_compaction *c = a->turn->compaction;
    al_window_learn(a, window);
    if (!c->again && al_compact_reduce(a, 1, 0)) {
        c->again = true;
        ask(a);
        return;
    }
    end_full(a);
}

static void on_done(void *ud, const struct al_llm_answer *answer, const struct al_llm_fault *fault)
{
    struct al_agent *a = ud;
    struct al_err err;
    a->asking = NULL;
    if (fault) {
        al_turn_sent(a, "failed", NULL, al_llm_fault_name(fault->kind));
        al_turn_count_lost(a, a->turn->unknown_now + fault->answered);
        if (fault->kind == AL_LLM_FAULT_OVERFLOW) {
            on_too_large(a, fault->window);
            return;
        }
        al_llm_fault_err(fault, al_llm_provider(a->llm), al_llm_model(a->llm), &err);
        al_turn_fault_details(fault, &a->turn->details);
        fail_summary(a, &err, is_hopeless(fault->kind));
        return;
    }
    autobuf struct al_buf text = AL_BUF_INIT(SUMMARY_MAX);
    al_turn_sent(a, "completed", &answer->usage, NULL);
    al_turn_count(a, answer);
    if (answer->end == AL_LLM_END_WINDOW) {
        on_too_large(a, 0);
        return;
    }
    al_llm_message_text(&answer->message, &text);
    struct al_str trimmed = al_str_trim(al_buf_str(&text));
    if (trimmed.n > 0 && !al_buf_failed(&text)) {
        take_summary(a, trimmed);
        return;
    }
    al_fail(&err, AL_CONTEXT_LIMIT, "the model gave no summary of the conversation (%s)",
            al_llm_end_name(answer->end));
    al_hint(&err, "begin a new session, or use a model with a larger window");
    fail_summary(a, &err, false);
}

static void give_up(struct al_agent *a)
{
    struct al_err err;
    if (a->asking)
        al_llm_cancel(a->asking);
    a->asking = NULL;
    al_turn_count_lost(a, a->turn->unknown_now + 1);
    al_turn_sent(a, "failed", NULL, "timeout");
    al_fail(&err, AL_TIMEOUT, "the summary of the conversation was not ready after %d minutes",
            DEADLINE_MS / 60000);
    al_hint(&err, "`alisio resume %s` tries again", a->session);
    fail_summary(a, &err, true);
}

static void on_waiting(void *ud)
{
    struct al_agent *a = ud;
    uint64_t ms = al_mono_ms() - a->turn->compaction->began_ms;
    autobuf struct al_buf text = AL_BUF_INIT(256);
    if (ms >= DEADLINE_MS) {
        give_up(a);
        return;
    }
    al_buf_addf(&text, "the summary of the older turns is being made (%llu s)",
                (unsigned long long)(ms / 1000));
    al_turn_notice(a, al_buf_str(&text));
}

static void ask(struct al_agent *a)
{
    static const struct al_llm_ops ops = {
        .sending = on_sending,
        .text = on_nothing,
        .reasoning = on_nothing,
        .retry = on_retry,
        .notice = on_notice,
        .learned = on_learned,
        .done = on_done,
    };
    struct al_llm_request r = al_turn_make_request(a);
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = al_str_of(instruction)};
    struct al_llm_message last = {.role = AL_LLM_USER, .by = AL_LLM_HOST, .parts = &part, .n_parts = 1};
    if (a->cancelled)
        return;
    struct al_llm_message *messages = al_xcalloc(r.n_messages + 1, sizeof(*messages));
    memcpy(messages, r.messages, r.n_messages * sizeof(*messages));
    messages[r.n_messages++] = last;
    r.messages = messages;
    r.no_calls = true;
    a->state = AL_AGENT_COMPACTING;
    a->turn->unknown_now = 0;
    a->asking = al_llm_ask(a->llm, &r, &ops, a); /* copies */
    free(messages);
}

static bool skip_if_fits(struct al_agent *a, int64_t limit)
{
    int64_t now = al_window_estimate(a);
    if (now > limit)
        return false;
    tell(a, "compaction_skipped", "reduced", now, NULL);
    end(a, true, NULL);
    return true;
}

void al_compact_start(struct al_agent *a, bool overflow)
{
    struct al_agent_turn *t = a->turn;
    unsigned keep = (unsigned)al_config_int(a->config, AL_OPT_COMPACTION_KEEP_TURNS);
    int64_t limit = al_window_limit(a), room = al_window_room(a);
    t->compaction = al_xcalloc(1, sizeof(*t->compaction));
    t->compaction->overflow = overflow;
    t->compaction->before = al_window_estimate(a);
    a->state = AL_AGENT_COMPACTING;
    if (al_compact_reduce(a, keep, limit * REDUCE_TO / 100) && skip_if_fits(a, limit))
        return;
    /* The summary is asked for with all of it: so all of it has to fit. */
    if (al_window_estimate(a) > room && (overflow || al_window_is_known(a)) &&
        (al_compact_reduce(a, 1, limit) || al_compact_shrink(a, limit)) && skip_if_fits(a, limit))
        return;
    if (al_compact_cut(a->history.v, a->history.n, keep, &t->compaction->cut)) {
        t->compaction->started = true;
        tell(a, "compaction_started", reason_of(t->compaction), -1, NULL);
        if (a->cancelled)
            return;
        t->compaction->began_ms = al_mono_ms();
        t->compaction->waiting = al_timer_every(a->loop, SAY_EVERY_MS, on_waiting, a);
        ask(a);
    } else if (!overflow && (al_window_estimate(a) <= room || !al_window_is_known(a))) {
        end(a, true, NULL); /* there is nothing to shorten, and no need yet */
    } else if (al_compact_shrink(a, limit) && al_window_estimate(a) <= room) {
        tell(a, "compaction_skipped", "reduced", al_window_estimate(a), NULL);
        end(a, true, NULL);
    } else {
        end_full(a);
    }
}

/* What it has stays until the turn's end: the cancel may come from within one of its events. */
void al_compact_cancel(struct al_agent *a)
{
    struct al_compaction *c = a->turn->compaction;
    if (a->asking)
        al_llm_cancel(a->asking);
    a->asking = NULL;
    if (c)
        al_timer_stop(c->waiting);
    if (c)
        c->waiting = NULL;
}

void al_compact_free(struct al_agent_turn *t)
{
    if (t->compaction)
        al_timer_stop(t->compaction->waiting);
    free(t->compaction);
    t->compaction = NULL;
}
