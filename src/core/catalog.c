/*
 * tools.list and tools.describe: what there is, what may be called now, and which tools fit a query best. Our
 * own tools and a source's are ranked together; of a source, which may have tens of thousands, only the best
 * come that far.
 */
#include "base/mem.h"
#include "base/text.h"
#include "core/core_int.h"
#include "core/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHORT 200 /* characters of a description in a list */
#define MAX_TERMS 16
#define MAX_TERM 32   /* bytes */
#define MAX_FOUND 200 /* tools of a source that are ranked with ours */
#define FOUND_ARENA (32u << 20)
#define MAX_LIST (3u << 20) /* bytes: a script's memory has to hold it several times */
#define MANY 500            /* tools of a source from which on a list of all says less of each */
#define MAX_SHORTER 60
#define SMALLEST_ENTRY 256u

/* What a match is worth, by where it stands. A word's beginning is worth half. */
enum {
    IN_NAME = 16,
    IN_TITLE = 6,
    IN_PARAMS = 4,
    IN_TEXT = 3,
};

struct terms {
    char term[MAX_TERMS][MAX_TERM];
    size_t n;
};

struct hit {
    const struct al_tool *tool;
    const struct al_json *input; /* its schema; NULL: unknown */
    double score;
    size_t n_terms; /* of the query, found in it */
};

static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The next word of *rest in lower case, cut to MAX_TERM - 1 bytes; camelCase counts as two. Length; 0 at the
 * end. */
static size_t next_word(struct al_str *rest, char out[MAX_TERM])
{
    size_t i = 0, n = 0;
    while (i < rest->n && !is_word((unsigned char)rest->p[i]))
        i++;
    for (size_t start = i; i < rest->n && is_word((unsigned char)rest->p[i]); i++) {
        bool upper = rest->p[i] >= 'A' && rest->p[i] <= 'Z';
        if (upper && i > start && !(rest->p[i - 1] >= 'A' && rest->p[i - 1] <= 'Z'))
            break;
        if (n < MAX_TERM - 1)
            out[n++] = lower(rest->p[i]);
    }
    out[n] = 0;
    *rest = (struct al_str){rest->p + i, rest->n - i};
    return n;
}

static void split_query(struct al_str query, struct terms *t)
{
    char word[MAX_TERM];
    t->n = 0;
    while (t->n < MAX_TERMS && next_word(&query, word) > 0) {
        bool seen = false;
        for (size_t i = 0; i < t->n; i++)
            seen = seen || strcmp(t->term[i], word) == 0;
        if (!seen)
            memcpy(t->term[t->n++], word, sizeof(word));
    }
}

/* Length of a word without its ending: searches, searching, searched and search are one. */
static size_t stem(const char *word)
{
    static const char *const endings[] = {"ing", "es", "ed", "s", "e"};
    size_t n = strlen(word);
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        size_t e = strlen(endings[i]);
        if (n >= e + 3 && memcmp(word + n - e, endings[i], e) == 0)
            return n - e;
    }
    return n;
}

/* 1 for the word itself, whatever its ending, ½ for its beginning, 0 for none. The best of the text. */
static double match(struct al_str text, const char *term)
{
    char word[MAX_TERM];
    double best = 0;
    size_t n = stem(term);
    while (next_word(&text, word) > 0) {
        if (strncmp(word, term, n) != 0)
            continue;
        if (stem(word) == n)
            return 1;
        if (n >= 2)
            best = 0.5;
    }
    return best;
}

static double params_match(const struct al_json *schema, const char *term)
{
    double best = 0;
    al_json_each(p, al_json_get(schema, "properties"))
    {
        double name = match(p->key, term), text = match(al_json_get_text(p, "description"), term) / 2;
        double m = name > text ? name : text;
        best = m > best ? m : best;
    }
    return best;
}

static double term_score(const struct hit *h, const char *term)
{
    const struct al_tool *tool = h->tool;
    double text = match(al_str_of(tool->description), term);
    /* A long text says many words without meaning them. */
    double length = (double)strlen(tool->description) / 400;
    return IN_NAME * match(al_str_of(tool->name), term) + IN_TITLE * match(al_str_of(tool->title), term) +
           IN_PARAMS * params_match(h->input, term) + IN_TEXT * text / (0.75 + 0.25 * length);
}

/* Sum over the terms, each weighted by how few tools know it; more for a tool that knows more of them. */
static void score(struct hit *hits, size_t n, const struct terms *t)
{
    double *of_term = al_xcalloc(n + 1, sizeof(*of_term));
    for (size_t k = 0; k < t->n; k++) {
        size_t known = 0;
        for (size_t i = 0; i < n; i++) {
            of_term[i] = term_score(&hits[i], t->term[k]);
            known += of_term[i] > 0;
        }
        double rarity = known ? 1 + (double)(n - known) / (double)known : 0;
        rarity = rarity > 8 ? 8 : rarity;
        for (size_t i = 0; i < n; i++) {
            hits[i].score += of_term[i] * rarity;
            hits[i].n_terms += of_term[i] > 0;
        }
    }
    for (size_t i = 0; i < n; i++)
        hits[i].score *= (double)(hits[i].n_terms * hits[i].n_terms) / (double)(t->n * t->n);
    free(of_term);
}

static int by_score(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return strcmp(x->tool->name, y->tool->name);
}

struct al_str al_tool_first_sentence(const char *description)
{
    struct al_str s = al_str_of(description);
    const char *line = memchr(s.p, '\n', s.n);
    if (line)
        s.n = (size_t)(line - s.p);
    ptrdiff_t stop = al_str_find(s, AL_STR(". "));
    if (stop >= 0)
        s.n = (size_t)stop + 1;
    return s;
}

/* As far as it is known without starting anything; a grant counts then for whatever may hold. */
static void take_wall(const struct al_core *core, const struct al_tool *tool, struct al_gate_query *q)
{
    struct al_wall wall = {0};
    const char *isolation = NULL;
    if (tool->capability && al_gate_needs_isolation(&core->policy, q) && al_wall_known(core, &wall)) {
        q->isolation_known = true;
        q->isolation = wall.isolation;
        isolation = al_py_isolation_name(wall.isolation);
    }
    if (al_origin_is_model(q->origin) && tool->effect >= AL_EFFECT_WRITE)
        q->granted = al_store_grant_valid(core->store, core->session.id,
                                          tool->capability ? tool->capability : tool->name, isolation);
}

int al_catalog_callable(const struct al_core *core, const struct al_tool *tool, enum al_origin origin,
                        bool *ret_scratch_only, struct al_err *err)
{
    *ret_scratch_only = false;
    if (origin == AL_ORIGIN_SCRIPT && tool->not_callable)
        return al_fail(err, AL_NOT_CALLABLE, "%s", tool->not_callable);
    struct al_gate_query q = al_gate_query_of(tool, origin);
    q.can_ask = core->can_ask;
    q.over_mcp = strcmp(core->source, "mcp") == 0;
    q.in_agent = strcmp(core->source, "agent") == 0;
    take_wall(core, tool, &q);
    if (al_gate_decide(&core->policy, &q, tool->name, err) == 0)
        return 0;
    q.scratch_only = tool->scratch_only && core->scratch;
    if (!q.scratch_only || al_gate_decide(&core->policy, &q, tool->name, NULL) < 0)
        return -1;
    *ret_scratch_only = true;
    return 0;
}

static void add_reason(struct al_jw *w, const struct al_tool *tool, const struct al_err *err, bool brief)
{
    autobuf struct al_buf reason = AL_BUF_INIT(2048);
    /* In a list of thousands, the command that helps and no more. */
    if (tool->gate == AL_GATE_ASK && brief)
        al_buf_adds(&reason, "APPROVAL_REQUIRED: `alisio mcp allow`");
    else if (tool->gate == AL_GATE_CHANGED && brief)
        al_buf_adds(&reason, "APPROVAL_REQUIRED: `alisio mcp review`");
    else if (tool->server && err->hint[0]) /* the message says nothing that the hint does not */
        al_buf_addf(&reason, "%s: %s", al_code_name(err->code), err->hint);
    else if (err->hint[0])
        al_buf_addf(&reason, "%s: %s (%s)", al_code_name(err->code), err->msg, err->hint);
    else
        al_buf_addf(&reason, "%s: %s", al_code_name(err->code), err->msg);
    al_jw_kstr(w, "reason", al_buf_str(&reason));
}

static void add_entry(struct al_jw *w, const struct al_core *core, const struct al_tool *tool,
                      enum al_origin origin, bool brief)
{
    struct al_err err = {.code = AL_OK};
    bool scratch_only;
    bool callable = al_catalog_callable(core, tool, origin, &scratch_only, &err) == 0;
    struct al_str text = al_utf8_head(al_tool_first_sentence(tool->description), MAX_SHORT);
    if (brief)
        text = al_utf8_head(text, MAX_SHORTER);
    al_jw_obj(w);
    al_jw_kstrz(w, "name", tool->name);
    if (tool->server) {
        al_jw_kstrz(w, "server", tool->server);
        al_jw_kstrz(w, "tool", tool->server_tool);
    }
    al_jw_kstr(w, "description", text.n ? text : al_str_of(tool->title));
    al_jw_kstrz(w, "effect", al_effect_name(tool->effect));
    al_jw_kbool(w, "callable", callable);
    if (scratch_only)
        al_jw_kstrz(w, "reason", "only for `scratch:` paths: --allow-write was not given");
    else if (!callable)
        add_reason(w, tool, &err, brief);
    al_jw_end(w);
}

/* --- lists --- */

struct list {
    const struct al_core *core;
    enum al_origin origin;
    struct al_jw w;
    size_t max;     /* bytes of the whole */
    size_t n_shown; /* tools of the source */
    bool brief;
    struct hit *hits;
    size_t n, cap;
    struct al_arena *arena;
};

/* What is no tool of its own, in the shape of one: scripts filter lists by their members. */
static void add_note(struct list *l, const char *name, const char *server, const char *text)
{
    al_jw_obj(&l->w);
    al_jw_kstrz(&l->w, "name", name);
    if (server)
        al_jw_kstrz(&l->w, "server", server);
    al_jw_kstrz(&l->w, "description", text);
    al_jw_kstrz(&l->w, "effect", al_effect_name(AL_EFFECT_EXTERNAL));
    al_jw_kbool(&l->w, "callable", false);
    al_jw_end(&l->w);
}

static void note_server(void *ud, const char *server, int64_t n_tools)
{
    struct list *l = ud;
    if (n_tools >= 0 || l->w.out->n + SMALLEST_ENTRY > l->max)
        return;
    autobuf struct al_buf name = AL_BUF_INIT(1024), text = AL_BUF_INIT(2048);
    al_buf_addf(&name, "%s.*%c", server, 0);
    al_buf_addf(&text, "Not fetched yet: `alisio mcp tools %s`, or the first call, fetches its tools.%c",
                server, 0);
    if (!al_buf_failed(&name) && !al_buf_failed(&text))
        add_note(l, name.p, server, text.p);
}

static bool show_tool(void *ud, const struct al_tool *tool)
{
    struct list *l = ud;
    if (l->w.out->n + SMALLEST_ENTRY * 4 > l->max)
        return false;
    add_entry(&l->w, l->core, tool, l->origin, l->brief);
    l->n_shown++;
    return true;
}

static void add_all(struct list *l, int most)
{
    const struct al_core *core = l->core;
    for (size_t i = 0; i < core->n_tools; i++)
        if (al_core_tool_registered(core, core->tools[i].tool))
            add_entry(&l->w, core, core->tools[i].tool, l->origin, false);
    if (!core->source_ops)
        return;
    size_t all = core->source_ops->count(core->source_ud);
    l->brief = most == 0 && all > MANY;
    core->source_ops->each(core->source_ud, (struct al_str){"", 0}, most, show_tool, l);
    if (most == 0 && all > l->n_shown) {
        char text[128];
        snprintf(text, sizeof(text), "%zu more tools: tools.list(query) finds them.", all - l->n_shown);
        add_note(l, "...", NULL, text);
    }
}

static const char *kept(struct list *l, const char *z, bool *ok)
{
    const char *copy = z ? al_arena_dup(l->arena, al_str_of(z)) : NULL;
    *ok = *ok && (copy || !z);
    return copy;
}

static bool find_tool(void *ud, const struct al_tool *tool)
{
    struct list *l = ud;
    bool ok = l->n < l->cap;
    struct al_tool *t = ok ? al_arena_alloc(l->arena, sizeof(*t)) : NULL;
    if (!t)
        return false;
    *t = *tool;
    const char **texts[] = {&t->name,         &t->title,  &t->description,
                            &t->input_schema, &t->server, &t->server_tool};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        *texts[i] = kept(l, *texts[i], &ok);
    struct hit *h = &l->hits[l->n];
    h->tool = t;
    if (!ok || al_json_parse(l->arena, al_str_of(t->input_schema), &h->input, NULL) < 0)
        h->input = NULL;
    l->n += ok;
    return ok;
}

static void add_found(struct list *l, const struct terms *terms, struct al_str query, int most)
{
    const struct al_core *core = l->core;
    autoarena struct al_arena a = AL_ARENA_INIT(FOUND_ARENA);
    l->arena = &a;
    l->cap = core->n_tools + MAX_FOUND;
    l->hits = al_xcalloc(l->cap, sizeof(*l->hits));
    for (size_t i = 0; i < core->n_tools; i++)
        if (al_core_tool_registered(core, core->tools[i].tool))
            l->hits[l->n++] = (struct hit){.tool = core->tools[i].tool, .input = core->tools[i].input};
    if (core->source_ops)
        core->source_ops->each(core->source_ud, query, MAX_FOUND, find_tool, l);
    score(l->hits, l->n, terms);
    qsort(l->hits, l->n, sizeof(*l->hits), by_score);
    for (size_t i = 0; i < l->n && l->hits[i].score > 0; i++)
        if (most == 0 || i < (size_t)most)
            add_entry(&l->w, core, l->hits[i].tool, l->origin, false);
    free(l->hits);
}

void al_catalog_list(const struct al_core *core, struct al_str query, int most, enum al_origin origin,
                     struct al_buf *out)
{
    struct list l = {.core = core, .origin = origin, .max = out->max < MAX_LIST ? out->max : MAX_LIST};
    struct terms terms;
    split_query(query, &terms);
    al_jw_init(&l.w, out);
    al_jw_arr(&l.w);
    if (terms.n > 0)
        add_found(&l, &terms, query, most);
    else
        add_all(&l, most);
    if (core->source_ops)
        core->source_ops->servers(core->source_ud, note_server, &l);
    al_jw_end(&l.w);
}

void al_core_list_json(const struct al_core *core, struct al_str query, enum al_origin origin,
                       struct al_buf *out)
{
    al_catalog_list(core, query, 0, origin, out);
}

int al_core_describe_json(const struct al_core *core, struct al_str name, struct al_buf *out,
                          struct al_err *err)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_tool *tool = al_core_find_tool(core, name, &a);
    if (!tool)
        return al_registry_not_found(core, name, AL_ORIGIN_SCRIPT, err);
    autobuf struct al_buf signature = AL_BUF_INIT(16384);
    al_tool_signature(tool, &signature);
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", tool->name);
    if (tool->server) {
        al_jw_kstrz(&w, "server", tool->server);
        al_jw_kstrz(&w, "tool", tool->server_tool);
        al_jw_kstrz(&w, "title", tool->title);
    }
    al_jw_kstrz(&w, "description", tool->description);
    al_jw_kraw(&w, "inputSchema", al_str_of(tool->input_schema));
    if (tool->output_schema)
        al_jw_kraw(&w, "outputSchema", al_str_of(tool->output_schema));
    if (tool->annotations)
        al_jw_kraw(&w, "annotations", al_str_of(tool->annotations));
    al_jw_kstr(&w, "signature", al_buf_str(&signature));
    if (tool->server) {
        al_buf_clear(&signature);
        al_registry_call_path(core, tool, &signature);
        al_jw_kstr(&w, "call", al_buf_str(&signature));
    }
    al_jw_end(&w);
    return 0;
}
