/* The conversation in memory: read from the journal, and kept as it goes on. */
#include "agent/agent_int.h"

#include "base/mem.h"
#include "base/text.h"

#define HISTORY_MAX ((size_t)1 << 30) /* bytes of a conversation in memory */
#define BODY_ARENA ((size_t)512 << 20)

void al_history_text(struct al_str text, struct al_buf *out)
{
    while (text.n) {
        const char *nul = memchr(text.p, 0, text.n);
        size_t n = nul ? (size_t)(nul - text.p) : text.n;
        al_utf8_clean(out, (struct al_str){text.p, n});
        if (nul)
            al_buf_adds(out, "\xef\xbf\xbd");
        text.p += n + (nul != NULL);
        text.n -= n + (nul != NULL);
    }
}

static struct al_str keep(struct al_agent_history *h, struct al_str v)
{
    if (!v.n)
        return (struct al_str){"", 0};
    char *p = al_arena_dup(&h->arena, v);
    return p ? (struct al_str){p, v.n} : (struct al_str){NULL, 0};
}

static struct al_llm_message *slot(struct al_agent_history *h)
{
    if (h->arena.max == 0)
        al_arena_init(&h->arena, HISTORY_MAX);
    if (h->n == h->cap) {
        h->cap = h->cap ? 2 * h->cap : 64;
        h->v = al_xrealloc(h->v, h->cap * sizeof *h->v);
    }
    h->v[h->n] = (struct al_llm_message){.role = AL_LLM_USER};
    return &h->v[h->n++];
}

void al_history_add(struct al_agent *a, const struct al_llm_message *m)
{
    struct al_agent_history *h = &a->history;
    struct al_llm_message *to = slot(h);
    *to = *m;
    to->from.provider = keep(h, m->from.provider);
    to->from.base_url = keep(h, m->from.base_url);
    to->from.model = keep(h, m->from.model);
    to->call_id = keep(h, m->call_id);
    to->parts = al_arena_alloc(&h->arena, (m->n_parts + 1) * sizeof *to->parts);
    to->n_parts = to->parts ? m->n_parts : 0;
    for (size_t i = 0; i < to->n_parts; i++) {
        to->parts[i] = m->parts[i];
        to->parts[i].text = keep(h, m->parts[i].text);
        to->parts[i].raw = keep(h, m->parts[i].raw);
        to->parts[i].id = keep(h, m->parts[i].id);
        to->parts[i].provider_id = keep(h, m->parts[i].provider_id);
        to->parts[i].name = keep(h, m->parts[i].name);
    }
}

void al_history_add_result(struct al_agent *a, struct al_str call_id, struct al_str text, bool is_error)
{
    autobuf struct al_buf clean = AL_BUF_INIT(4 * text.n + 16);
    al_history_text(text, &clean);
    struct al_llm_part part = {.kind = AL_LLM_TEXT, .text = al_buf_str(&clean)};
    struct al_llm_message m = {
        .role = AL_LLM_RESULT, .parts = &part, .n_parts = 1, .call_id = call_id, .is_error = is_error};
    al_history_add(a, &m);
}

/* --- from the journal --- */

struct result {
    int64_t message, ord;
    char *id, *text;
    bool is_error;
};

struct loading {
    struct al_agent *a;
    struct al_err *err;
    struct al_llm_message *v; /* with their seq; strings in the history's arena */
    size_t n, cap;
    int64_t *by_seq; /* sorted */
    struct result *results;
    size_t n_results, cap_results;
    int r;
};

static int broken(struct loading *l, int64_t seq, const char *why)
{
    const char *session = l->a->session;
    al_fail(l->err, AL_INTERNAL, "message %lld of session %s cannot be read: %s", (long long)seq, session,
            why);
    al_hint(l->err,
            "another version, or another program, wrote it: `alisio sessions export %s` shows the rest; go "
            "on in a new session",
            session);
    return l->r = -1;
}

static bool take_message(void *ud, const struct al_message_row *row)
{
    struct loading *l = ud;
    struct al_agent_history *h = &l->a->history;
    autoarena struct al_arena scratch = AL_ARENA_INIT(BODY_ARENA);
    const struct al_json *v;
    struct al_err why = {0};
    struct al_llm_message m = {.role = AL_LLM_USER};
    if (al_json_parse(&scratch, row->body, &v, &why) < 0 || al_llm_message_read(&scratch, v, &m, &why) < 0)
        return broken(l, row->seq, why.msg) == 0;
    if (m.role == AL_LLM_RESULT)
        return broken(l, row->seq, "a result is no message of its own") == 0;
    m.seq = row->seq;
    size_t before = h->n;
    al_history_add(l->a, &m);
    if (h->n == before || (m.n_parts && !h->v[before].n_parts))
        return broken(l, row->seq, "the conversation is too long for the memory") == 0;
    return true;
}

/* Is it one of those that are sent? */
static bool is_sent(const struct loading *l, int64_t seq)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->by_seq[mid] < seq)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->n && l->by_seq[lo] == seq;
}

static bool take_call(void *ud, const struct al_model_call *c)
{
    struct loading *l = ud;
    if (!is_sent(l, c->message_seq))
        return true;
    if (l->n_results == l->cap_results) {
        l->cap_results = l->cap_results ? 2 * l->cap_results : 64;
        l->results = al_xrealloc(l->results, l->cap_results * sizeof *l->results);
    }
    l->results[l->n_results++] = (struct result){
        .message = c->message_seq,
        .ord = c->ord,
        .id = al_xstrdup(c->id),
        .text = c->result ? al_xstrdup(c->result) : NULL,
        .is_error = c->is_error,
    };
    return true;
}

static int cmp_seq(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

static const struct result *find_result(const struct loading *l, int64_t message, struct al_str id)
{
    /* In order of message: the first of this one by halves. */
    size_t lo = 0, hi = l->n_results;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->results[mid].message < message)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < l->n_results && l->results[lo].message == message; lo++) {
        if (al_str_is(id, l->results[lo].id))
            return &l->results[lo];
    }
    return NULL;
}

/* Behind each assistant message the result of each of its calls, in their order. A call whose row is gone, or
 * has no end, is told as one that nothing is known of: a request with an open call would be refused. */
static void add_results(struct loading *l, size_t i)
{
    struct al_agent_history *h = &l->a->history;
    for (size_t k = 0; k < h->v[i].n_parts; k++) {
        /* Adding moves the list. */
        const struct al_llm_part p = h->v[i].parts[k];
        if (p.kind != AL_LLM_CALL)
            continue;
        const struct result *r = find_result(l, h->v[i].seq, p.id);
        if (r && r->text)
            al_history_add_result(l->a, p.id, al_str_of(r->text), r->is_error);
        else
            al_history_add_result(
                l->a, p.id,
                AL_STR("no result was recorded; it may have taken effect; check before repeating"), true);
    }
}

static int merge(struct loading *l)
{
    struct al_agent_history *h = &l->a->history;
    struct al_llm_message *sent = h->v;
    size_t n = h->n;
    h->v = NULL;
    h->n = h->cap = 0;
    for (size_t i = 0; i < n; i++) {
        *slot(h) = sent[i];
        if (sent[i].role == AL_LLM_ASSISTANT)
            add_results(l, h->n - 1);
    }
    free(sent);
    return 0;
}

static void clear(struct al_agent_history *h)
{
    free(h->v);
    al_arena_free(&h->arena);
    *h = (struct al_agent_history){.arena = AL_ARENA_INIT(HISTORY_MAX)};
}

static int load(struct loading *l)
{
    struct al_agent *a = l->a;
    struct al_agent_history *h = &a->history;
    if (al_message_each(a->store, a->session, false, take_message, l, l->err) < 0 || l->r < 0)
        return -1;
    l->n = h->n;
    l->by_seq = al_xcalloc(h->n + 1, sizeof *l->by_seq);
    for (size_t i = 0; i < h->n; i++)
        l->by_seq[i] = h->v[i].seq;
    qsort(l->by_seq, l->n, sizeof *l->by_seq, cmp_seq);
    if (al_model_call_each(a->store, a->session, take_call, l, l->err) < 0)
        return -1;
    return merge(l);
}

int al_history_load(struct al_agent *a, struct al_err *err)
{
    struct loading l = {.a = a, .err = err};
    clear(&a->history);
    int r = load(&l);
    for (size_t i = 0; i < l.n_results; i++) {
        free(l.results[i].id);
        free(l.results[i].text);
    }
    free(l.results);
    free(l.by_seq);
    if (r < 0)
        clear(&a->history);
    return r;
}

void al_history_fini(struct al_agent *a)
{
    clear(&a->history);
}
