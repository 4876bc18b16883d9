/* Which columns the person's words name, and what the dashboard is for. */
#include "dashboard/goal_int.h"

#include "base/text.h"

#define SHARED 3 /* columns that one word may name together, when all are measures */

static bool has_letter(struct al_str w)
{
    for (size_t i = 0; i < w.n; i++)
        if (w.p[i] < '0' || w.p[i] > '9')
            return true;
    return false;
}

static bool hit_by(const struct goal *g, int column)
{
    for (size_t i = 0; i < g->n_hits; i++)
        if (g->hits[i].column == column)
            return true;
    return false;
}

static void hit(struct goal *g, int column, size_t at, size_t end, bool run)
{
    if (g->n_hits == GOAL_HITS || hit_by(g, column))
        return;
    g->hits[g->n_hits++] = (struct goal_hit){column, at, end, run};
    for (size_t i = at; i < end; i++)
        g->used[i] = true;
}

/* Could these words name a column at all? Numbers are years or values; very short names and words of requests
 * need a preposition before them, which only the place in the goal tells. */
static bool can_name(const struct goal_name *n, bool *ret_careful)
{
    size_t bytes = 0;
    bool letters = false;
    for (size_t i = 0; i < n->n; i++) {
        bytes += n->words[i].text.n;
        letters = letters || has_letter(n->words[i].text);
    }
    if (!letters || (n->n == 1 && goal_stop_word(n->words[0].text)))
        return false;
    *ret_careful = bytes < 3 || (n->n == 1 && goal_request_word(n->words[0].text));
    return true;
}

/* --- all words of a name --- */

static bool run_at(const struct goal *g, const struct goal_name *n, size_t at)
{
    if (at + n->n > g->n_words)
        return false;
    for (size_t k = 0; k < n->n; k++)
        if (g->taken[at + k] || !goal_same(&g->words[at + k], &n->words[k]))
            return false;
    return true;
}

static bool find_run(const struct goal *g, const struct goal_name *n, bool careful, size_t *ret)
{
    for (size_t at = 0; at < g->n_words; at++)
        if (run_at(g, n, at) && (!careful || goal_introduced(g, at))) {
            *ret = at;
            return true;
        }
    return false;
}

/* Each word somewhere, no place twice; *ret is the first place. */
static bool find_scattered(struct goal *g, const struct goal_name *n, size_t *ret,
                           size_t places[GOAL_NAME_WORDS])
{
    *ret = g->n_words;
    for (size_t k = 0; k < n->n; k++) {
        size_t i = 0;
        for (; i < g->n_words; i++) {
            bool twice = g->taken[i];
            for (size_t j = 0; j < k && !twice; j++)
                twice = places[j] == i;
            if (!twice && goal_same(&g->words[i], &n->words[k]))
                break;
        }
        if (i == g->n_words)
            return false;
        places[k] = i;
        if (i < *ret)
            *ret = i;
    }
    return true;
}

static void match_whole(struct goal *g, int column, const struct goal_name *n)
{
    size_t at, places[GOAL_NAME_WORDS];
    bool careful;
    if (!can_name(n, &careful))
        return;
    if (find_run(g, n, careful, &at)) {
        hit(g, column, at, at + n->n, true);
    } else if (n->n > 1 && find_scattered(g, n, &at, places)) {
        hit(g, column, at, at + 1, false);
        for (size_t k = 0; k < n->n; k++)
            g->used[places[k]] = true;
    }
}

/* Longest names first, and what a run of words has named is taken: "sales growth" is no mention of "sales".
 */
static void match_names(struct goal *g)
{
    for (size_t len = GOAL_NAME_WORDS; len > 0; len--) {
        size_t before = g->n_hits;
        for (size_t c = 0; c < g->catalog->n; c++)
            for (int k = 0; k < 3; k++)
                if (g->columns[c].names[k].n == len && !hit_by(g, (int)c))
                    match_whole(g, (int)c, &g->columns[c].names[k]);
        for (size_t i = before; i < g->n_hits; i++)
            for (size_t w = g->hits[i].at; g->hits[i].run && w < g->hits[i].end; w++)
                g->taken[w] = true;
    }
}

/* --- one word of a name --- */

bool goal_is_value(const struct goal *g, struct al_str word)
{
    for (size_t i = 0; i < g->n_values; i++)
        if (al_str_eq(g->values[i], word))
            return true;
    return false;
}

/* "survival" and "survived": one stem, for flags only. */
static bool same_stem(struct al_str a, struct al_str b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n >= 5 && a.n - n <= 3 && b.n - n <= 3;
}

static bool owns(const struct goal *g, size_t column, const struct goal_word *w)
{
    const struct al_dash_column *c = &g->catalog->columns[column];
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < g->columns[column].names[k].n; i++) {
            const struct goal_word *own = &g->columns[column].names[k].words[i];
            if (goal_generic_word(own->text))
                continue;
            if (goal_same(w, own) || (c->role == AL_ROLE_BOOLEAN && same_stem(w->text, own->text)))
                return true;
        }
    return false;
}

static void match_word(struct goal *g, size_t at)
{
    const struct goal_word *w = &g->words[at];
    int owners[SHARED];
    size_t n = 0;
    bool measures = true, adverb;
    if (g->taken[at] || w->text.n < 3 || !has_letter(w->text) || goal_generic_word(w->text) ||
        goal_is_value(g, w->text) || (goal_request_word(w->text) && !goal_introduced(g, at)))
        return;
    for (size_t c = 0; c < g->catalog->n; c++) {
        enum al_dash_role role = g->catalog->columns[c].role;
        if (role == AL_ROLE_NONE || !owns(g, c, w))
            continue;
        if (n == SHARED)
            return;
        owners[n++] = (int)c;
        measures = measures && role == AL_ROLE_MEASURE;
    }
    if (!n || (n > 1 && !measures) || (goal_bucket_word(w->text, &adverb) && measures))
        return;
    for (size_t i = 0; i < n; i++)
        hit(g, owners[i], at, at + 1, false);
}

static void in_order(struct goal *g)
{
    for (size_t i = 1; i < g->n_hits; i++) {
        struct goal_hit x = g->hits[i];
        size_t k = i;
        for (; k > 0 &&
               (g->hits[k - 1].at > x.at || (g->hits[k - 1].at == x.at && g->hits[k - 1].column > x.column));
             k--)
            g->hits[k] = g->hits[k - 1];
        g->hits[k] = x;
    }
}

static int wanted_bucket(const struct goal *g)
{
    for (size_t i = 0; i < g->n_words; i++) {
        bool adverb = false;
        enum al_bucket b = g->used[i] ? AL_BUCKET_NONE : goal_bucket_word(g->words[i].text, &adverb);
        if (b && (adverb || goal_introduced(g, i)))
            return (int)b;
    }
    return 0;
}

/* "average sales": of a flow, the mean is wanted. */
static int averaged(const struct goal *g)
{
    static const char *const words[] = {"average", "avg",    "mean",      "promedio", "media",
                                        "medio",   "medias", "promedios", NULL};
    static const char *const between[] = {"de", "del", "la", "el", "las", "los", "of", "the", NULL};
    for (size_t i = 0; i < g->n_hits; i++) {
        size_t before = g->hits[i].at;
        while (before > 0 && goal_in(g->words[before - 1].text, between))
            before--;
        bool after = g->hits[i].end < g->n_words && goal_in(g->words[g->hits[i].end].text, words);
        if (g->catalog->columns[g->hits[i].column].role == AL_ROLE_MEASURE &&
            (after || (before > 0 && goal_in(g->words[before - 1].text, words))))
            return g->hits[i].column;
    }
    return -1;
}

/* "share of removed", "porcentaje de los retirados". */
static bool share_of(const struct goal *g, size_t at)
{
    static const char *const shares[] = {"share",      "proportion", "percentage", "percent",
                                         "porcentaje", "proporcion", "parte",      NULL};
    static const char *const small[] = {"of", "de", "del", "the", "los", "las", "la", "el", NULL};
    size_t i = at;
    while (i > 0 && goal_in(g->words[i - 1].text, small))
        i--;
    return i > 0 && i < at && goal_in(g->words[i - 1].text, shares);
}

/* A flag that is named like a matter ("survival by class"), not like a group ("sales by member"). */
static int flag(const struct goal *g)
{
    for (size_t i = 0; i < g->n_hits; i++) {
        const struct al_dash_column *c = &g->catalog->columns[g->hits[i].column];
        if (c->role == AL_ROLE_BOOLEAN && c->has_range && c->integers && c->min >= 0 && c->max <= 1 &&
            (!goal_introduced(g, g->hits[i].at) || share_of(g, g->hits[i].at)))
            return g->hits[i].column;
    }
    return -1;
}

void al_goal_read(struct al_arena *arena, struct al_str text, const struct al_dash_catalog *c,
                  const struct al_profile *p, struct al_goal *ret)
{
    struct al_str head = al_utf8_head(text, AL_DASHBOARD_GOAL);
    struct goal *g = al_arena_alloc(arena, sizeof *g);
    (void)p; /* the roles say what can be named; the order of the shortlists does not */
    *ret = (struct al_goal){
        .ratio_of = -1, .ratio_over = -1, .things = -1, .averaged = -1, .flag = -1, .cut = head.n < text.n};
    if (!g || !head.n)
        return;
    g->arena = arena;
    g->catalog = c;
    if (!goal_words_read(g, head))
        return;
    match_names(g);
    for (size_t i = 0; i < g->n_words; i++)
        match_word(g, i);
    in_order(g);
    for (size_t i = 0; i < g->n_hits && ret->n_named < sizeof ret->named / sizeof *ret->named; i++)
        ret->named[ret->n_named++] = g->hits[i].column;
    ret->bucket = wanted_bucket(g);
    ret->averaged = averaged(g);
    ret->flag = flag(g);
    goal_ratio(g, ret);
    goal_count(g, ret);
    ret->purpose = goal_purpose(g);
    goal_unmet(g, ret);
}
