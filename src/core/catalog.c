/* tools.list and tools.describe: what there is, what may be called now, and which tools fit a query best. */
#include "base/mem.h"
#include "base/text.h"
#include "core/core_int.h"
#include "core/schema.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHORT 200 /* characters of a description in a list */
#define MAX_TERMS 16
#define MAX_TERM 32 /* bytes */

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
    const struct al_tool_entry *entry;
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

static double term_score(const struct al_tool_entry *e, const char *term)
{
    double text = match(al_str_of(e->tool->description), term);
    double length =
        (double)strlen(e->tool->description) / 400; /* a long text says many words without meaning them */
    return IN_NAME * match(al_str_of(e->tool->name), term) +
           IN_TITLE * match(al_str_of(e->tool->title), term) + IN_PARAMS * params_match(e->input, term) +
           IN_TEXT * text / (0.75 + 0.25 * length);
}

/* Sum over the terms, each weighted by how few tools know it; more for a tool that knows more of them. */
static void score(struct hit *hits, size_t n, const struct terms *t)
{
    double *of_term = al_xcalloc(n + 1, sizeof(*of_term));
    for (size_t k = 0; k < t->n; k++) {
        size_t known = 0;
        for (size_t i = 0; i < n; i++) {
            of_term[i] = term_score(hits[i].entry, t->term[k]);
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
    return strcmp(x->entry->tool->name, y->entry->tool->name);
}

/* The first sentence, or as much of the first line as fits. */
static struct al_str short_text(const char *description)
{
    struct al_str s = al_str_of(description);
    const char *line = memchr(s.p, '\n', s.n);
    if (line)
        s.n = (size_t)(line - s.p);
    ptrdiff_t stop = al_str_find(s, AL_STR(". "));
    if (stop >= 0)
        s.n = (size_t)stop + 1;
    return al_utf8_head(s, MAX_SHORT);
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
    if (origin == AL_ORIGIN_MCP && tool->effect >= AL_EFFECT_WRITE)
        q.granted = al_store_grant_valid(core->store, core->session.id, tool->name);
    if (al_gate_decide(&core->policy, &q, tool->name, err) == 0)
        return 0;
    q.scratch_only = tool->scratch_only && core->scratch;
    if (!q.scratch_only || al_gate_decide(&core->policy, &q, tool->name, NULL) < 0)
        return -1;
    *ret_scratch_only = true;
    return 0;
}

static void add_entry(struct al_jw *w, const struct al_core *core, const struct al_tool *tool,
                      enum al_origin origin)
{
    struct al_err err = {.code = AL_OK};
    bool scratch_only;
    bool callable = al_catalog_callable(core, tool, origin, &scratch_only, &err) == 0;
    al_jw_obj(w);
    al_jw_kstrz(w, "name", tool->name);
    al_jw_kstr(w, "description", short_text(tool->description));
    al_jw_kstrz(w, "effect", al_effect_name(tool->effect));
    al_jw_kbool(w, "callable", callable);
    if (scratch_only) {
        al_jw_kstrz(w, "reason", "only for `scratch:` paths: --allow-write was not given");
    } else if (!callable) {
        autobuf struct al_buf reason = AL_BUF_INIT(2048);
        al_buf_addf(&reason, "%s: %s", al_code_name(err.code), err.msg);
        if (err.hint[0])
            al_buf_addf(&reason, " (%s)", err.hint);
        al_jw_kstr(w, "reason", al_buf_str(&reason));
    }
    al_jw_end(w);
}

void al_core_list_json(const struct al_core *core, struct al_str query, enum al_origin origin,
                       struct al_buf *out)
{
    struct hit *hits = al_xcalloc(core->n_tools + 1, sizeof(*hits));
    struct terms terms;
    size_t n = 0;
    split_query(query, &terms);
    for (size_t i = 0; i < core->n_tools; i++)
        if (al_core_tool_registered(core, core->tools[i].tool))
            hits[n++].entry = &core->tools[i];
    if (terms.n > 0) {
        score(hits, n, &terms);
        qsort(hits, n, sizeof(*hits), by_score);
    }
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_arr(&w);
    for (size_t i = 0; i < n; i++)
        if (terms.n == 0 || hits[i].score > 0)
            add_entry(&w, core, hits[i].entry->tool, origin);
    al_jw_end(&w);
    free(hits);
}

int al_core_describe_json(const struct al_core *core, struct al_str name, struct al_buf *out,
                          struct al_err *err)
{
    const struct al_tool_entry *e = al_registry_find(core, name);
    if (!e || !al_core_tool_registered(core, e->tool))
        return al_registry_not_found(core, name, AL_ORIGIN_SCRIPT, err);
    autobuf struct al_buf signature = AL_BUF_INIT(16384);
    al_tool_signature(e->tool, &signature);
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "name", e->tool->name);
    al_jw_kstrz(&w, "description", e->tool->description);
    al_jw_kraw(&w, "inputSchema", e->input->raw);
    if (e->output)
        al_jw_kraw(&w, "outputSchema", e->output->raw);
    al_jw_kstr(&w, "signature", al_buf_str(&signature));
    al_jw_end(&w);
    return 0;
}
