/* Ratios that a goal asks for: "margin %", "cost per order", "conversion rate", "profit as a share of sales".
 */
#include "dashboard/goal_int.h"

static const char *const per_words[] = {"per", "por", "over", "entre", "cada", "each", NULL};
static const char *const between_words[] = {
    "of",       "to",         "as",    "over",  "in",         "from",     "sobre",      "entre",
    "en",       "de",         "del",   "como",  "a",          "the",      "an",         "la",
    "el",       "los",        "las",   "total", "all",        "with",     "respecto",   "share",
    "percent",  "percentage", "pct",   "ratio", "proportion", "fraction", "porcentaje", "proporcion",
    "relacion", "cociente",   "parte", NULL};
static const char *const share_words[] = {"share",    "percent",    "percentage", "pct", "proportion",
                                          "fraction", "porcentaje", "proporcion", NULL};
static const char *const ratio_words[] = {"ratio", "relacion", "cociente", "quotient", NULL};
static const char *const rate_words[] = {"rate",  "rates", "percent", "pct",        "percentage", "ratio",
                                         "share", "tasa",  "tasas",   "porcentaje", "indice",     NULL};
static const char *const filler[] = {"the", "a",  "an",  "each", "every", "cada",  "el",     "la",     "los",
                                     "las", "un", "una", "de",   "del",   "total", "number", "numero", NULL};
static const char *const person_words[] = {"capita",  "person",    "people", "inhabitant", "head",
                                           "persona", "habitante", "cabeza", NULL};
static const char *const population[] = {"population", "poblacion", "inhabitants",
                                         "habitantes", "residents", NULL};

/* Rates that have a name, and what they are made of. `alone`: the name is the rate; else a word for "rate"
 * stands by. */
static const struct named_rate {
    const char *names[6];
    const char *of[10], *over[10]; /* words of the columns' names, the better first */
    bool alone, percent;
} rates[] = {
    {{"margin", "margen", "margenes", "margins", "rentabilidad", "profitability"},
     {"profit", "utilidad", "ganancia", "beneficio", "margin", "margen"},
     {"sales", "revenue", "ventas", "ingresos", "facturacion", "turnover", "income", "venta", "importe",
      "amount"},
     false,
     true},
    {{"conversion", "conversiones", "conversions"},
     {"conversions", "converted", "conversiones", "orders", "purchases", "pedidos", "compras", "signups",
      "sales", "ventas"},
     {"visits", "sessions", "visitors", "visitas", "sesiones", "clicks", "leads", "users", "views",
      "impressions"},
     false,
     true},
    {{"ctr", "clickthrough"},
     {"clicks", "clics"},
     {"impressions", "impresiones", "views", "sent"},
     true,
     true},
    {{"click", "clicks", "clics"},
     {"clicks", "clics"},
     {"impressions", "impresiones", "views", "sent"},
     false,
     true},
    {{"open", "opens", "apertura"},
     {"opens", "opened", "aperturas"},
     {"delivered", "sent", "emails", "enviados"},
     false,
     true},
    {{"bounce", "bounces", "rebote"},
     {"bounces", "bounced", "rebotes"},
     {"sessions", "visits", "sesiones", "visitas"},
     false,
     true},
    {{"return", "returns", "refund", "devolucion", "devoluciones", "refunds"},
     {"returns", "returned", "refunds", "refunded", "devoluciones"},
     {"orders", "sold", "units", "sales", "pedidos", "unidades", "ventas"},
     false,
     true},
    {{"churn", "abandono", "cancelacion"},
     {"churned", "churn", "lost", "cancelled", "bajas"},
     {"customers", "subscribers", "users", "clientes", "usuarios"},
     true,
     true},
    {{"win", "wins", "victorias"},
     {"wins", "won", "victorias"},
     {"games", "matches", "played", "opportunities", "partidos"},
     false,
     true},
    {{"error", "errors", "defect", "defects", "failure", "errores"},
     {"errors", "defects", "failures", "errores", "defectos", "faults", "fallos"},
     {"requests", "units", "produced", "tests", "inspected", "unidades", "solicitudes"},
     false,
     true},
    {{"fatality", "mortality", "death", "letalidad", "mortalidad", "deaths"},
     {"deaths", "fatalities", "muertes", "fallecidos", "died"},
     {"cases", "casos", "population", "poblacion", "infected"},
     false,
     true},
    {{"unemployment", "desempleo", "paro"},
     {"unemployed", "desempleados", "parados"},
     {"labor", "labour", "workforce", "laboral", "activa"},
     false,
     true},
    {{"occupancy", "utilization", "utilisation", "ocupacion"},
     {"occupied", "used", "sold", "ocupadas", "ocupados", "vendidas"},
     {"capacity", "available", "rooms", "seats", "capacidad", "disponibles", "plazas"},
     true,
     true},
    {{"aov", "ticket"},
     {"sales", "revenue", "ventas", "ingresos", "importe", "amount"},
     {"orders", "tickets", "transactions", "pedidos", "transacciones"},
     true,
     false},
    {{"arpu"},
     {"revenue", "sales", "ingresos", "ventas"},
     {"users", "customers", "subscribers", "usuarios", "clientes"},
     true,
     false},
    {{"cpc"}, {"cost", "spend", "costo", "coste", "gasto"}, {"clicks", "clics"}, true, false},
    {{"cac"},
     {"cost", "spend", "costo", "coste", "gasto"},
     {"customers", "clientes", "acquired", "signups"},
     true,
     false},
    {{"roas"},
     {"revenue", "sales", "ingresos", "ventas"},
     {"spend", "cost", "gasto", "inversion", "costo", "coste"},
     true,
     false},
};

static bool adds_up(const struct goal *g, int column)
{
    const struct al_dash_column *c = &g->catalog->columns[column];
    return c->role == AL_ROLE_MEASURE && c->adds != AL_ADDS_NEVER;
}

static const struct goal_hit *hit_at(const struct goal *g, size_t at)
{
    for (size_t i = 0; i < g->n_hits; i++)
        if (g->hits[i].at == at && adds_up(g, g->hits[i].column))
            return &g->hits[i];
    for (size_t i = 0; i < g->n_hits; i++)
        if (at >= g->hits[i].at && at < g->hits[i].end)
            return &g->hits[i];
    return NULL;
}

/* A measure that adds up and whose name has the word. */
static int find_part(const struct goal *g, struct al_str text, int not_this)
{
    struct goal_word w = {text, -1, -1};
    for (size_t c = 0; c < g->catalog->n; c++) {
        if ((int)c == not_this || !adds_up(g, (int)c))
            continue;
        for (int k = 0; k < 3; k++)
            for (size_t i = 0; i < g->columns[c].names[k].n; i++) {
                struct goal_word own = {g->columns[c].names[k].words[i].text, -1, -1};
                if (goal_same(&w, &own))
                    return (int)c;
            }
    }
    return -1;
}

static int find_any(const struct goal *g, const char *const *list, size_t n, int not_this)
{
    int c = -1;
    for (size_t i = 0; i < n && list[i] && c < 0; i++)
        c = find_part(g, al_str_of(list[i]), not_this);
    return c;
}

static void found(const struct goal *g, struct al_goal *ret, int of, int over, bool percent, size_t from,
                  size_t to)
{
    ret->ratio = true;
    ret->ratio_of = of;
    ret->ratio_over = over;
    ret->ratio_percent = percent;
    ret->ratio_first = true;
    for (size_t i = 0; i < g->n_hits; i++) {
        const struct goal_hit *h = &g->hits[i];
        bool part = (h->at >= from && h->at < to) || h->column == of;
        if (!part && h->at < from && g->catalog->columns[h->column].role == AL_ROLE_MEASURE)
            ret->ratio_first = false;
    }
}

/* --- "cost per order" --- */

static bool row_identifier(const struct goal *g, int column)
{
    const struct al_dash_column *c = &g->catalog->columns[column];
    return c->role == AL_ROLE_IDENTIFIER && c->distinct_exact && c->distinct + c->nulls == g->catalog->rows;
}

/* What stands behind "per": a measure, a person, or one row. False: something else, like a region. */
static bool per_what(const struct goal *g, size_t at, int of, bool clearly, int *ret_over)
{
    const struct goal_hit *h = hit_at(g, at);
    bool adverb;
    if (h && adds_up(g, h->column)) {
        *ret_over = h->column;
        return h->column != of;
    }
    if (goal_in(g->words[at].text, person_words)) {
        *ret_over = find_any(g, population, sizeof population / sizeof *population, of);
        return *ret_over >= 0;
    }
    *ret_over = -1;
    if (h)
        return row_identifier(g, h->column);
    return clearly && !goal_bucket_word(g->words[at].text, &adverb) && !goal_stop_word(g->words[at].text);
}

static bool per_ratio(const struct goal *g, struct al_goal *ret)
{
    for (size_t i = 0; i < g->n_hits; i++) {
        const struct goal_hit *h = &g->hits[i];
        size_t at = h->end;
        int over;
        if (!adds_up(g, h->column))
            continue;
        while (at < g->n_words && goal_in(g->words[at].text, filler))
            at++;
        if (at + 1 >= g->n_words || g->used[at] || !goal_in(g->words[at].text, per_words))
            continue;
        bool clearly = al_str_is(g->words[at].text, "per") || al_str_is(g->words[at + 1].text, "cada");
        for (at++; at < g->n_words && goal_in(g->words[at].text, filler); at++)
            ;
        if (at < g->n_words && per_what(g, at, h->column, clearly, &over)) {
            found(g, ret, h->column, over, false, h->at, at + 1);
            return true;
        }
    }
    return false;
}

/* --- "profit as a share of sales", "ratio of profit to sales" --- */

static bool joined(const struct goal *g, const struct goal_hit *a, const struct goal_hit *b,
                   bool *ret_percent)
{
    bool share = false, ratio = false;
    size_t from = a->at > 3 ? a->at - 3 : 0, to = b->end + 1 < g->n_words ? b->end + 1 : g->n_words;
    if (a->end > b->at || a->end == b->at)
        return false;
    for (size_t i = a->end; i < b->at; i++)
        if (!goal_in(g->words[i].text, between_words))
            return false;
    for (size_t i = from; i < to; i++) {
        share = share || goal_in(g->words[i].text, share_words);
        ratio = ratio || goal_in(g->words[i].text, ratio_words);
    }
    *ret_percent = share;
    return share || ratio;
}

static bool joined_ratio(const struct goal *g, struct al_goal *ret)
{
    for (size_t i = 0; i < g->n_hits; i++)
        for (size_t k = 0; k < g->n_hits; k++) {
            const struct goal_hit *a = &g->hits[i], *b = &g->hits[k];
            bool percent;
            if (a->column != b->column && adds_up(g, a->column) && adds_up(g, b->column) &&
                joined(g, a, b, &percent)) {
                found(g, ret, a->column, b->column, percent, a->at, b->end);
                return true;
            }
        }
    return false;
}

/* --- "conversion rate" --- */

static bool rate_word_near(const struct goal *g, size_t at)
{
    size_t from = at > 2 ? at - 2 : 0, to = at + 3 < g->n_words ? at + 3 : g->n_words;
    for (size_t i = from; i < to; i++)
        if (i != at && goal_in(g->words[i].text, rate_words))
            return true;
    return false;
}

/* A column that has the rate already: what the name means is read, not computed. */
static bool is_there(const struct goal *g, size_t at)
{
    for (size_t i = 0; i < g->n_hits; i++) {
        const struct goal_hit *h = &g->hits[i];
        const struct al_dash_column *c = &g->catalog->columns[h->column];
        if (at >= h->at && at < h->end && c->role == AL_ROLE_MEASURE && c->adds == AL_ADDS_NEVER)
            return true;
    }
    return false;
}

static bool profit_before(const struct goal *g, size_t at)
{
    return at > 0 &&
           goal_in(g->words[at - 1].text, (const char *const[]){"profit", "gross", "net", "operating", NULL});
}

static bool named_rate(const struct goal *g, struct al_goal *ret)
{
    for (size_t at = 0; at < g->n_words; at++)
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            const struct named_rate *r = &rates[i];
            size_t n = 0;
            while (n < 6 && r->names[n] && !al_str_is(g->words[at].text, r->names[n]))
                n++;
            if (n == 6 || !r->names[n] || is_there(g, at))
                continue;
            if (!r->alone && !rate_word_near(g, at) && !(i == 0 && profit_before(g, at)))
                continue;
            int of = find_any(g, r->of, 10, -1), over = of < 0 ? -1 : find_any(g, r->over, 10, of);
            if (over < 0)
                continue;
            found(g, ret, of, over, r->percent, at > 0 ? at - 1 : 0, at + 3);
            return true;
        }
    return false;
}

void goal_ratio(const struct goal *g, struct al_goal *ret)
{
    if (!per_ratio(g, ret) && !joined_ratio(g, ret))
        (void)named_rate(g, ret);
}
