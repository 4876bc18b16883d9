/* What a goal asks for and the data do not have: said only where the text is clear, for a note too many is
 * noise. */
#include "dashboard/goal_int.h"

static const char *const by_words[] = {"by", "per", "across", "each", "every", "por", "segun", "cada", NULL};
/* "por favor", "por ejemplo", "by default", "per capita": no columns are meant. */
static const char *const idioms[] = {
    "favor",      "ejemplo", "example",  "default",  "far",       "hand",     "cent",       "ciento",
    "capita",     "person",  "persona",  "people",   "head",      "cabeza",   "inhabitant", "row",
    "rows",       "fila",    "filas",    "record",   "records",   "registro", "registros",  "habitante",
    "period",     "periodo", "periodos", "periods",  "group",     "groups",   "grupo",      "grupos",
    "column",     "columns", "columna",  "columnas", "dimension", "category", "categories", "categoria",
    "categorias", "date",    "fecha",    "item",     "items",     NULL};
static const char *const purpose_parts[] = {
    "executiv", "ejecutiv", "overview",  "resumen",  "kpi",      "directiv", "gerenci", "summary", "managem",
    "operati",  "monitor",  "status",    "seguimi",  "tracking", "analy",    "analis",  "analiz",  "analit",
    "compar",   "explor",   "correl",    "investig", "relaci",   "pattern",  "patron",  "trend",   "tendenc",
    "evoluci",  "quick",    "simple",    "general",  "insight",  "metric",   "figure",  "cifra",   "number",
    "histor",   "distribu", "breakdown", "ranking",  "desglose", NULL};

static bool has_part(struct al_str word, const char *const *list)
{
    for (; *list; list++)
        if (al_str_starts(word, *list))
            return true;
    return false;
}

static bool letters(struct al_str w)
{
    for (size_t i = 0; i < w.n; i++)
        if (w.p[i] >= '0' && w.p[i] <= '9')
            return false;
    return true;
}

/* Some column has the word in its name: it was not clear enough, but it is there. */
static bool in_a_name(const struct goal *g, const struct goal_word *w)
{
    for (size_t c = 0; c < g->catalog->n; c++)
        for (int k = 0; k < 3; k++)
            for (size_t i = 0; i < g->columns[c].names[k].n; i++)
                if (goal_same(w, &g->columns[c].names[k].words[i]))
                    return true;
    return false;
}

/* A word for a matter: no number, no small word, nothing that says how. */
static bool matter(const struct goal *g, size_t at)
{
    struct al_str w = g->words[at].text;
    bool adverb;
    return !g->used[at] && w.n >= 3 && letters(w) && !goal_generic_word(w) && !goal_request_word(w) &&
           !goal_bucket_word(w, &adverb) && !goal_is_value(g, w) && !has_part(w, purpose_parts) &&
           !goal_in(w, idioms) && !in_a_name(g, &g->words[at]);
}

/* "by country"; "profit by …"; "margin %". */
static bool asked(const struct goal *g, size_t at)
{
    static const char *const signs[] = {"percent", "pct", "percentage", "porcentaje", NULL};
    struct al_str next = at + 1 < g->n_words ? g->words[at + 1].text : AL_STR("");
    struct al_str before = at > 0 ? g->words[at - 1].text : AL_STR("");
    bool article = goal_in(before, (const char *const[]){"the", "el", "la", "los", "las", "a", "un", NULL});
    if (article && at > 1)
        before = g->words[at - 2].text;
    return goal_in(before, by_words) || goal_in(next, by_words) || goal_in(next, signs);
}

void goal_unmet(const struct goal *g, struct al_goal *ret)
{
    bool any = false;
    for (size_t i = 0; i < g->n_words && !ret->ratio; i++) {
        if (!matter(g, i))
            continue;
        any = true;
        if (asked(g, i) && ret->n_unmet < sizeof ret->unmet / sizeof *ret->unmet)
            ret->unmet[ret->n_unmet++] = g->words[i].text;
    }
    ret->names_nothing = any && !ret->n_named && !ret->bucket;
}
