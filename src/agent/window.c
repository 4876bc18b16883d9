/*
 * The context window: how large it is, as far as anybody says, and how much of it the next request takes. The
 * last report of the provider is the base; what came since is estimated, with the error of our estimates so
 * far taken out.
 */
#include "agent/turn_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "core/scratch.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN_WINDOW 32768
#define MESSAGE_TOKENS 4 /* of its role and its borders */
#define OUTPUT_SHARE 4   /* of the window at most: for the answer, and for one result */
#define SCALE_ONE 1000
#define SCALE_MIN 500
#define SCALE_MAX 2000
#define SMALL_REPORT 600 /* per mille of the estimate: the endpoint has cut the request without a word */
#define SMALL_REPORT_FROM 1500 /* tokens; below, an estimate says little */

/* --- how large --- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a <= 0 ? b : b <= 0 ? a : a < b ? a : b;
}

bool al_window_is_known(const struct al_agent *a)
{
    return smaller(a->window.told, a->window.learned) > 0;
}

int64_t al_window_size(const struct al_agent *a)
{
    int64_t known = smaller(a->window.told, a->window.learned);
    return known > 0 ? known : UNKNOWN_WINDOW;
}

/* For good: a window that was said smaller once is not larger another time. */
void al_window_learn(struct al_agent *a, int64_t window)
{
    if (window <= 0 || (a->window.learned > 0 && a->window.learned <= window))
        return;
    a->window.learned = window;
}

static int64_t told_output(const struct al_agent *a)
{
    const struct al_provider *p = al_llm_provider(a->llm);
    const struct al_model_entry *m = al_provider_model(p, al_llm_model(a->llm));
    int64_t max = m && m->max_output_tokens > 0 ? m->max_output_tokens : p->max_output_tokens;
    return max > 0 ? max : al_config_int(a->config, AL_OPT_MAX_OUTPUT_TOKENS);
}

/* The same for all requests of a process, so that each begins with the bytes of the one before; and for the
 * next process, which may know the window, in all but small ones. */
int64_t al_window_max_output(struct al_agent *a)
{
    if (a->window.max_output == 0) {
        int64_t share = al_window_is_known(a) ? al_window_size(a) / OUTPUT_SHARE : 0;
        a->window.max_output = smaller(smaller(told_output(a), al_llm_facts_of(a->llm)->max_output), share);
    }
    return a->window.max_output > 0 ? a->window.max_output : 1;
}

bool al_window_less_output(struct al_agent *a)
{
    int64_t share = al_window_size(a) / OUTPUT_SHARE;
    if (a->window.max_output <= share)
        return false;
    a->window.max_output = share;
    return true;
}

/* --- asking the endpoint --- */

static void keep(struct al_agent *a)
{
    al_turn_learned(a, al_llm_facts_of(a->llm));
}

/* Not in the middle of an answer, and not of an endpoint that does not answer: as its first one begins, or at
 * the run's end. */
void al_window_tell_unknown(struct al_agent *a)
{
    const struct al_provider *p = al_llm_provider(a->llm);
    autobuf struct al_buf text = AL_BUF_INIT(2048);
    if (al_window_is_known(a) || a->window.told_unknown || !a->window.asked || a->window.listing)
        return;
    a->window.told_unknown = true;
    al_buf_addf(&text, "the context window of %s is not known: %d tokens are assumed. ", al_llm_model(a->llm),
                UNKNOWN_WINDOW);
    if (strcmp(p->origin, "--base-url") == 0)
        al_buf_adds(&text,
                    "For an endpoint that `alisio setup provider` has written down, `alisio config set "
                    "providers.NAME.contextWindow N` says how large it is");
    else
        al_buf_addf(&text, "`alisio config set providers.%s.contextWindow N` says how large it is", p->name);
    al_turn_notice(a, al_buf_str(&text));
}

static void on_models(void *ud, const struct al_llm_models *models, const struct al_err *err)
{
    struct al_agent *a = ud;
    struct al_str wanted = al_str_of(al_llm_model(a->llm));
    a->window.listing = NULL;
    for (size_t i = 0; !err && a->turn && i < models->n; i++) {
        if (!al_str_eq(models->v[i].id, wanted))
            continue;
        if (models->v[i].window > 0) {
            al_window_learn(a, models->v[i].window);
            keep(a);
        } else if (a->turn->n_answers == 0 && !a->turn->streamed) {
            al_window_tell_unknown(a);
        }
    }
}

/* Their lists say nothing of windows. */
static bool list_is_silent(const struct al_provider *p)
{
    return al_str_starts(al_str_of(p->base_url), "https://api.openai.com");
}

void al_window_init(struct al_agent *a)
{
    const struct al_provider *p = al_llm_provider(a->llm);
    const struct al_model_entry *m = al_provider_model(p, al_llm_model(a->llm));
    a->window.told = m && m->context_window > 0 ? m->context_window : p->context_window;
    if (a->window.told <= 0)
        a->window.told = al_llm_known_window(p, al_llm_model(a->llm));
    al_window_learn(a, al_llm_facts_of(a->llm)->window);
    /* A conversation that goes on has heard of it. */
    for (size_t i = 0; i < a->history.n && !a->window.told_unknown; i++)
        a->window.told_unknown = a->history.v[i].role == AL_LLM_ASSISTANT;
}

void al_window_start(struct al_agent *a)
{
    if (a->window.learned > 0 || a->window.asked)
        return;
    a->window.asked = true;
    if (!list_is_silent(al_llm_provider(a->llm)))
        a->window.listing = al_llm_list(a->llm, al_llm_model(a->llm), on_models, a);
}

void al_window_stop(struct al_agent *a)
{
    if (a->window.listing) {
        al_llm_list_cancel(a->window.listing);
        a->window.asked = false; /* what it says is still to be heard */
    }
    a->window.listing = NULL;
}

/* --- how full --- */

/* Digits take about twice as many tokens as letters do: three of them make one. */
static int64_t of_text(struct al_str text)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.n; i++)
        digits += text.p[i] >= '0' && text.p[i] <= '9';
    return al_llm_estimate(text) + (int64_t)(digits * 2 / 5);
}

static int64_t of_part(const struct al_llm_part *p)
{
    if (p->kind == AL_LLM_CALL)
        return MESSAGE_TOKENS + of_text(p->name) + of_text(p->text);
    if (p->kind == AL_LLM_REASONING) /* as it is sent back, or not at all */
        return al_llm_estimate(p->raw);
    return of_text(p->text);
}

int64_t al_window_of_messages(const struct al_agent *a, size_t from, size_t to)
{
    int64_t n = 0;
    for (size_t i = from; i < to; i++) {
        n += MESSAGE_TOKENS;
        for (size_t k = 0; k < a->history.v[i].n_parts; k++)
            n += of_part(&a->history.v[i].parts[k]);
    }
    return n;
}

int64_t al_window_fixed(const struct al_agent *a)
{
    int64_t n = al_llm_estimate(al_buf_str(&a->system));
    for (size_t i = 0; i < a->n_tools; i++)
        n += MESSAGE_TOKENS + al_llm_estimate(a->tools[i].name) + al_llm_estimate(a->tools[i].description) +
             al_llm_estimate(a->tools[i].schema);
    return n;
}

static int64_t scaled(const struct al_agent *a, int64_t tokens)
{
    return tokens * (a->window.scale ? a->window.scale : SCALE_ONE) / SCALE_ONE;
}

int64_t al_window_estimate(const struct al_agent *a)
{
    const struct al_window *w = &a->window;
    if (w->counted > 0 && w->counted_n <= a->history.n)
        return w->counted + scaled(a, al_window_of_messages(a, w->counted_n, a->history.n));
    return scaled(a, al_window_fixed(a) + al_window_of_messages(a, 0, a->history.n));
}

static void tell_small(struct al_agent *a, int64_t read, int64_t sent)
{
    autobuf struct al_buf text = AL_BUF_INIT(2048);
    bool ollama = strcmp(al_llm_provider(a->llm)->name, "ollama") == 0;
    if (a->window.told_small)
        return;
    a->window.told_small = true;
    al_buf_addf(&text,
                "the endpoint read only %lld tokens of about %lld that were sent: its context window is "
                "smaller than the "
                "request, and it left out the rest without a word%s",
                (long long)read, (long long)sent,
                ollama ? ". A larger one: `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`" : "");
    al_turn_notice(a, al_buf_str(&text));
}

/* Reasoning that its maker wants back is part of the next request, too. */
static bool sends_reasoning(const struct al_llm_message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == AL_LLM_REASONING && m->parts[i].raw.n > 0)
            return true;
    return false;
}

/*
 * Of the answer that is in the history by now. A report far below what was sent is no base for anything: some
 * endpoints cut a long request without a word, some leave out what their cache had.
 */
void al_window_report(struct al_agent *a, const struct al_llm_usage *u)
{
    struct al_window *w = &a->window;
    int64_t sent = w->estimated;
    w->counted = 0;
    if (!u->known || u->input <= 0)
        return;
    if (sent >= SMALL_REPORT_FROM && u->input < sent * SMALL_REPORT / SCALE_ONE) {
        tell_small(a, u->input, sent);
        return;
    }
    size_t n = a->history.n;
    while (n > 0 && a->history.v[n - 1].role != AL_LLM_ASSISTANT)
        n--; /* what we said behind it is not in the report */
    int64_t raw = al_window_fixed(a) + al_window_of_messages(a, 0, n > 0 ? n - 1 : 0);
    int64_t scale = raw > 0 ? u->input * SCALE_ONE / raw : SCALE_ONE;
    w->scale = scale < SCALE_MIN ? SCALE_MIN : scale > SCALE_MAX ? SCALE_MAX : scale;
    w->counted = u->input + u->output - (n > 0 && sends_reasoning(&a->history.v[n - 1]) ? 0 : u->reasoning);
    w->counted_n = n;
}

void al_window_changed(struct al_agent *a)
{
    a->window.counted = 0;
}

int64_t al_window_room(const struct al_agent *a)
{
    int64_t size = al_window_size(a),
            out = a->window.max_output > 0 ? a->window.max_output : size / OUTPUT_SHARE;
    return size - smaller(out, size / OUTPUT_SHARE);
}

int64_t al_window_limit(const struct al_agent *a)
{
    return al_window_room(a) * al_config_int(a->config, AL_OPT_COMPACTION_THRESHOLD) / 100;
}

bool al_compact_needed(const struct al_agent *a)
{
    return al_window_estimate(a) > al_window_limit(a);
}

/* --- what does not fit --- */

/* Ollama serves 4,096 tokens unless it is told otherwise, whatever the model can. */
static const char *window_advice(const struct al_agent *a)
{
    const struct al_provider *p = al_llm_provider(a->llm);
    if (!al_llm_is_here(p) || al_window_size(a) > 8192)
        return "";
    return strcmp(p->name, "ollama") == 0
               ? "; Ollama serves more when it is started by `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`"
               : "; its server decides how large the window is that it serves: start it with 32768";
}

void al_window_fail(struct al_agent *a, struct al_err *err)
{
    struct al_agent_turn *t = a->turn;
    int64_t tools = 0, system = scaled(a, al_llm_estimate(al_buf_str(&a->system)));
    int64_t files = scaled(a, al_llm_estimate(al_buf_str(&a->context.user)) +
                                  al_llm_estimate(al_buf_str(&a->context.repository)));
    size_t from = a->history.n;
    while (from > 0 &&
           !(a->history.v[from - 1].role == AL_LLM_USER && a->history.v[from - 1].by == AL_LLM_PERSON))
        from--;
    from -= from > 0;
    int64_t newest = scaled(a, al_window_of_messages(a, from, a->history.n)), all = al_window_estimate(a);
    tools = scaled(a, al_window_fixed(a)) - system;
    al_fail(err, AL_CONTEXT_LIMIT,
            "the conversation does not fit into the model's context window: about %lld tokens, and %lld are "
            "there for "
            "them (system prompt %lld, tools %lld, AGENTS.md %lld, newest turn %lld)",
            (long long)all, (long long)al_window_room(a), (long long)system, (long long)tools,
            (long long)files, (long long)newest);
    al_hint(err, "begin a new session, ask for less at once, or use a model with a larger window%s",
            al_window_is_known(a)
                ? window_advice(a)
                : " (`alisio config set providers.NAME.contextWindow N` says how large it is)");
    al_buf_clear(&t->details);
    al_buf_addf(
        &t->details,
        "{\"window\":%lld,\"estimate\":%lld,\"sizes\":{\"system\":%lld,\"tools\":%lld,\"agentsMd\":%lld,"
        "\"newestTurn\":%lld}}",
        (long long)al_window_size(a), (long long)all, (long long)system, (long long)tools, (long long)files,
        (long long)newest);
}

/* --- one result --- */

/* The longest head (or, from_end, tail) of at most max bytes, at the border of a character. */
static struct al_str piece(struct al_str s, size_t max, bool from_end)
{
    if (s.n <= max)
        return s;
    if (!from_end)
        return al_utf8_cut(s, max);
    size_t at = s.n - max;
    while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
        at++;
    return (struct al_str){s.p + at, s.n - at};
}

struct al_str al_window_call_name(const struct al_agent *a, struct al_str id)
{
    for (size_t at = a->history.n; at > 0; at--) {
        const struct al_llm_message *m = &a->history.v[at - 1];
        for (size_t i = 0; i < m->n_parts; i++)
            if (m->parts[i].kind == AL_LLM_CALL && al_str_eq(m->parts[i].id, id))
                return m->parts[i].name;
    }
    return AL_STR("a tool");
}

/* A call that may have changed something is not to be made again for its text. */
static bool may_repeat(const struct al_agent *a, struct al_str call_id)
{
    autoarena struct al_arena arena = AL_ARENA_INIT(8u << 20);
    const struct al_tool *tool = al_core_find_tool(a->core, al_window_call_name(a, call_id), &arena);
    return !tool || tool->effect == AL_EFFECT_READ;
}

void al_window_say_where(struct al_agent *a, struct al_str call_id, struct al_str text, struct al_buf *out)
{
    struct al_scratch *scratch = al_core_scratch(a->core);
    const struct al_tool *read = al_core_tool(a->core, AL_STR("read_file"));
    bool again = may_repeat(a, call_id);
    struct al_err err;
    char rel[AL_ID_MAX + 32];
    snprintf(rel, sizeof(rel), "results/%.*s.txt", AL_FMT(call_id));
    if (scratch && read && al_agent_offers(a, read) && al_scratch_write(scratch, rel, text, &err) == 0)
        al_buf_addf(out,
                    "The whole is in scratch:%s: read_file reads it on with startLine and limit, search_text "
                    "finds in it%s.",
                    rel, again ? "; or make the call again for a part of it" : "");
    else if (again)
        al_buf_adds(out, "Make the call again for a part of it (a range, a filter, a smaller limit).");
    else
        al_buf_adds(
            out,
            "The whole is in the journal, where the user can read it; do not make the call again for it.");
}

/* What a text takes, and rather more: a limit is not the place for a mean. */
static int64_t at_least(const struct al_agent *a, struct al_str text)
{
    int64_t plain = of_text(text), as_reported = scaled(a, plain);
    return plain > as_reported ? plain : as_reported;
}

void al_window_cut(struct al_agent *a, struct al_str call_id, struct al_str text, int64_t room,
                   struct al_buf *out)
{
    int64_t tokens = at_least(a, text);
    if (tokens <= room) {
        al_buf_add_str(out, text);
        return;
    }
    autobuf struct al_buf where = AL_BUF_INIT(1024);
    al_window_say_where(a, call_id, text, &where);
    int64_t words = 100 + al_llm_estimate(al_buf_str(&where));
    size_t bytes = room > 2 * words ? (size_t)((double)text.n * (double)(room - words) / (double)tokens) : 0;
    for (;; bytes = bytes * 9 / 10) { /* parts of it may be denser than the whole */
        struct al_str head = piece(text, bytes * 2 / 3, false), tail = piece(text, bytes / 3, true);
        autobuf struct al_buf cut = AL_BUF_INIT(AL_AGENT_RESULT_MAX);
        al_buf_addf(&cut,
                    "%.*s\n\n" AL_AGENT_LEFT_OUT
                    "%zu of %zu bytes, since the result is too long for the context. %.*s]\n\n%.*s",
                    AL_FMT(head), text.n - head.n - tail.n, text.n, AL_FMT(al_buf_str(&where)), AL_FMT(tail));
        if (bytes > 64 && at_least(a, al_buf_str(&cut)) > room)
            continue;
        al_buf_add_str(out, al_buf_str(&cut));
        return;
    }
}

void al_window_cut_result(struct al_agent *a, struct al_str call_id, struct al_str text, struct al_buf *out)
{
    al_window_cut(a, call_id, text, al_window_size(a) / OUTPUT_SHARE, out);
}
