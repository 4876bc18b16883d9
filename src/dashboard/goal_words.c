/* The words of a goal: their forms, and those that say how rather than what. */
#include "dashboard/goal_int.h"

#include "base/buf.h"
#include "base/text.h"

#define LABEL_CHARS 200
#define READINGS 4

static const char *const stop_words[] = {
    "a",     "an",    "the",   "of",    "in",   "on",      "at",  "to",  "for",  "from",  "by",
    "per",   "and",   "or",    "vs",    "with", "as",      "is",  "are", "our",  "my",    "me",
    "us",    "this",  "that",  "each",  "over", "all",     "el",  "la",  "los",  "las",   "un",
    "una",   "de",    "del",   "en",    "por",  "para",    "con", "y",   "e",    "o",     "u",
    "al",    "a",     "que",   "se",    "su",   "sus",     "mi",  "mis", "cada", "segun", "sobre",
    "entre", "todos", "todas", "every", "than", "between", NULL};

static const char *const generic_words[] = {
    "total",      "totals",  "net",     "gross",  "average", "avg",     "mean",   "sum",    "min",
    "max",        "minimum", "maximum", "median", "amount",  "num",     "nro",    "number", "numero",
    "code",       "codigo",  "count",   "rate",   "ratio",   "percent", "pct",    "share",  "percentage",
    "porcentaje", "tasa",    "name",    "nombre", "id",      "value",   "valor",  "time",   "tiempo",
    "promedio",   "media",   "top",     "new",    "best",    "most",    "first",  "last",   "data",
    "datos",      "neto",    "bruto",   "indice", "index",   "medio",   "maximo", "minimo", "unit",
    "level",      "nivel",   "per",     NULL};

static const char *const request_words[] = {
    "show",      "make",    "give",    "get",     "build", "create",  "see",     "want",     "need",
    "report",    "view",    "board",   "chart",   "graph", "table",   "list",    "page",     "file",
    "dashboard", "dataset", "compare", "track",   "use",   "like",    "look",    "find",     "summary",
    "overview",  "monitor", "status",  "please",  "run",   "plot",    "draw",    "display",  "tell",
    "how",       "what",    "which",   "who",     "where", "when",    "well",    "work",     "time",
    "ver",       "hacer",   "haz",     "crear",   "crea",  "muestra", "mostrar", "quiero",   "tabla",
    "grafico",   "grafica", "informe", "reporte", "panel", "tablero", "resumen", "comparar", "estado",
    "como",      "cual",    "cuanto",  "cuantos", "lista", "pagina",  "archivo", NULL};

static const char *const introducing[] = {
    "by",    "per",  "and",    "vs",     "versus", "each", "every", "against", "with",    "por",   "y", "e",
    "segun", "cada", "contra", "frente", "con",    "of",   "de",    "across",  "between", "entre", NULL};

static const char *const articles[] = {"the", "a",  "an",  "each", "el",    "la", "los",
                                       "las", "un", "una", "cada", "every", NULL};

static const char *const unit_words[] = {"cop", "usd", "eur", "mxn", "gbp", "pct",
                                         "jpy", "brl", "ars", "clp", "pen", NULL};

bool goal_in(struct al_str word, const char *const *list)
{
    for (; *list; list++)
        if (al_str_is(word, *list))
            return true;
    return false;
}

bool goal_stop_word(struct al_str word)
{
    return goal_in(word, stop_words);
}

bool goal_generic_word(struct al_str word)
{
    return goal_in(word, generic_words) || goal_in(word, stop_words);
}

bool goal_request_word(struct al_str word)
{
    return goal_in(word, request_words);
}

bool goal_introduced(const struct goal *g, size_t at)
{
    while (at > 0 && goal_in(g->words[at - 1].text, articles) && !goal_in(g->words[at - 1].text, introducing))
        at--;
    return at > 0 && goal_in(g->words[at - 1].text, introducing);
}

/* The word and what it may be the plural of. */
static size_t readings(struct al_str w, struct al_str ret[READINGS], char y[64])
{
    size_t n = 0;
    ret[n++] = w;
    if (w.n < 4 || w.p[w.n - 1] != 's' || w.p[w.n - 2] == 's')
        return n;
    ret[n++] = (struct al_str){w.p, w.n - 1};
    if (w.n > 4 && w.p[w.n - 2] == 'e') {
        ret[n++] = (struct al_str){w.p, w.n - 2};
        if (w.p[w.n - 3] == 'i' && w.n < 64) {
            memcpy(y, w.p, w.n - 3);
            y[w.n - 3] = 'y';
            ret[n++] = (struct al_str){y, w.n - 2};
        }
    }
    return n;
}

static struct goal_word goal_word_of(struct al_str text)
{
    int group = al_word_synonyms(text);
    return (struct goal_word){text, group, al_word_synonyms_also(text, group)};
}

bool goal_same(const struct goal_word *a, const struct goal_word *b)
{
    if (a->synonyms >= 0 && (a->synonyms == b->synonyms || a->synonyms == b->also))
        return true;
    if (a->also >= 0 && (a->also == b->synonyms || a->also == b->also))
        return true;
    if (!a->text.n || !b->text.n || a->text.p[0] != b->text.p[0])
        return false; /* no reading changes the first letter */
    struct al_str x[READINGS], y[READINGS];
    char xy[64], yy[64];
    size_t nx = readings(a->text, x, xy), ny = readings(b->text, y, yy);
    for (size_t i = 0; i < nx; i++)
        for (size_t j = 0; j < ny; j++)
            if (al_str_eq(x[i], y[j]))
                return true;
    return false;
}

/* --- reading --- */

static bool column_name(struct goal *g, struct al_str text, struct al_words *scratch, struct goal_name *ret)
{
    al_words_of(g->arena, al_utf8_head(text, LABEL_CHARS), scratch);
    ret->words = al_arena_alloc(g->arena, (GOAL_NAME_WORDS + 1) * sizeof *ret->words);
    if (!ret->words)
        return false;
    for (size_t i = 0; i < scratch->n; i++) {
        struct al_str w = scratch->list[i];
        if (goal_in(w, unit_words) && scratch->n > 1)
            continue;
        if (ret->n == GOAL_NAME_WORDS) { /* too long to be named by its words */
            ret->n = 0;
            return true;
        }
        ret->words[ret->n++] = goal_word_of(w);
    }
    return true;
}

static void values(struct goal *g, const struct al_dash_column *c, struct al_words *scratch)
{
    if (c->role != AL_ROLE_DIMENSION && c->role != AL_ROLE_BOOLEAN)
        return;
    for (size_t i = 0; i < c->n_top && g->n_values < GOAL_VALUE_WORDS; i++) {
        if (c->top[i].n > 64)
            continue;
        al_words_of(g->arena, c->top[i], scratch);
        if (scratch->n == 1)
            g->values[g->n_values++] = scratch->list[0];
    }
}

/* "%" and "/" are words, too: "margin %", "profit/sales". */
static void spell_signs(struct al_buf *out, struct al_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '%')
            al_buf_adds(out, " percent ");
        else if (text.p[i] == '/')
            al_buf_adds(out, " per ");
        else
            al_buf_addc(out, text.p[i]);
    }
}

bool goal_words_read(struct goal *g, struct al_str text)
{
    autobuf struct al_buf b = AL_BUF_INIT((size_t)16 * AL_DASHBOARD_GOAL);
    struct al_words *w = al_arena_alloc(g->arena, sizeof *w);
    g->columns = al_arena_alloc(g->arena, (g->catalog->n + 1) * sizeof *g->columns);
    if (!w || !g->columns)
        return false;
    spell_signs(&b, text);
    al_words_of(g->arena, al_buf_str(&b), w);
    for (size_t i = 0; i < w->n; i++)
        g->words[g->n_words++] = goal_word_of(w->list[i]);
    for (size_t i = 0; i < g->catalog->n; i++) {
        const struct al_dash_column *c = &g->catalog->columns[i];
        if (c->role == AL_ROLE_NONE)
            continue;
        const struct al_str names[3] = {c->display, c->label, c->name};
        for (int k = 0; k < 3; k++)
            if (!column_name(g, names[k], w, &g->columns[i].names[k]))
                return false;
        values(g, c, w);
    }
    return true;
}

/* --- what is not a column --- */

static const struct {
    const char *word;
    enum al_bucket bucket;
    bool adverb;
} bucket_words[] = {
    {"hour", AL_BUCKET_HOUR, false},
    {"hours", AL_BUCKET_HOUR, false},
    {"hora", AL_BUCKET_HOUR, false},
    {"horas", AL_BUCKET_HOUR, false},
    {"hourly", AL_BUCKET_HOUR, true},
    {"day", AL_BUCKET_DAY, false},
    {"days", AL_BUCKET_DAY, false},
    {"dia", AL_BUCKET_DAY, false},
    {"dias", AL_BUCKET_DAY, false},
    {"daily", AL_BUCKET_DAY, true},
    {"diario", AL_BUCKET_DAY, true},
    {"diaria", AL_BUCKET_DAY, true},
    {"diarias", AL_BUCKET_DAY, true},
    {"diarios", AL_BUCKET_DAY, true},
    {"week", AL_BUCKET_WEEK, false},
    {"weeks", AL_BUCKET_WEEK, false},
    {"semana", AL_BUCKET_WEEK, false},
    {"semanas", AL_BUCKET_WEEK, false},
    {"weekly", AL_BUCKET_WEEK, true},
    {"semanal", AL_BUCKET_WEEK, true},
    {"semanales", AL_BUCKET_WEEK, true},
    {"month", AL_BUCKET_MONTH, false},
    {"months", AL_BUCKET_MONTH, false},
    {"mes", AL_BUCKET_MONTH, false},
    {"meses", AL_BUCKET_MONTH, false},
    {"monthly", AL_BUCKET_MONTH, true},
    {"mensual", AL_BUCKET_MONTH, true},
    {"mensuales", AL_BUCKET_MONTH, true},
    {"quarter", AL_BUCKET_QUARTER, false},
    {"quarters", AL_BUCKET_QUARTER, false},
    {"trimestre", AL_BUCKET_QUARTER, false},
    {"trimestres", AL_BUCKET_QUARTER, false},
    {"quarterly", AL_BUCKET_QUARTER, true},
    {"trimestral", AL_BUCKET_QUARTER, true},
    {"trimestrales", AL_BUCKET_QUARTER, true},
    {"year", AL_BUCKET_YEAR, false},
    {"years", AL_BUCKET_YEAR, false},
    {"ano", AL_BUCKET_YEAR, false},
    {"anos", AL_BUCKET_YEAR, false},
    {"yearly", AL_BUCKET_YEAR, true},
    {"annual", AL_BUCKET_YEAR, true},
    {"annually", AL_BUCKET_YEAR, true},
    {"anual", AL_BUCKET_YEAR, true},
    {"anuales", AL_BUCKET_YEAR, true},
};

enum al_bucket goal_bucket_word(struct al_str word, bool *ret_adverb)
{
    for (size_t i = 0; i < sizeof bucket_words / sizeof *bucket_words; i++)
        if (al_str_is(word, bucket_words[i].word)) {
            *ret_adverb = bucket_words[i].adverb;
            return bucket_words[i].bucket;
        }
    return AL_BUCKET_NONE;
}

static const struct {
    const char *purpose;
    const char *parts[16]; /* of words; "ejecutiv" is in "ejecutiva" */
} purposes[] = {
    {"executive",
     {"executive", "overview", "resumen", "ejecutiv", "kpi", "directiv", "gerenci", "summary", "management",
      "board meeting"}},
    {"operational",
     {"operational", "operations", "operativ", "monitor", "status", "estado", "seguimiento", "tracking",
      "day to day", "dia a dia"}},
    {"analytical",
     {"analy", "analis", "analiz", "analitic", "compar", "explor", "correl", "investig", "relationship",
      "relacion", "pattern", "patron"}},
};

const char *goal_purpose(const struct goal *g)
{
    autobuf struct al_buf left = AL_BUF_INIT((size_t)16 * AL_DASHBOARD_GOAL);
    for (size_t i = 0; i < g->n_words; i++)
        if (!g->used[i]) {
            al_buf_add_str(&left, g->words[i].text);
            al_buf_addc(&left, ' ');
        }
    for (size_t i = 0; i < sizeof purposes / sizeof *purposes; i++)
        for (size_t k = 0; k < 16 && purposes[i].parts[k]; k++)
            if (al_str_find(al_buf_str(&left), al_str_of(purposes[i].parts[k])) >= 0)
                return purposes[i].purpose;
    return NULL;
}
