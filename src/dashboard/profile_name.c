/* What a column's name says of its numbers. English puts the word that counts last ("wage costs"), Spanish
 * first ("costo salarial"); units, years and limits stand behind either. */
#include "dashboard/profile_int.h"

#include "base/text.h"

#include <string.h>

#define NAME_WORDS 24

struct named {
    struct al_words words;
    uint32_t cls[AL_WORDS_MAX];
    bool skip[AL_WORDS_MAX]; /* it does not say what the column is */
};

static bool in(const char *list, struct al_str word)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, " ");
        if (al_str_eq(word, (struct al_str){p, n}))
            return true;
        p += n + (p[n] ? 1 : 0);
    }
    return false;
}

static const char particles[] =
    "a al and are at by con da das de del der des di do dos du e el en for from how in is it la las "
    "le les los many o of on or over para por que se sin su the to un una was were with y";
static const char currencies[] = "usd us eur euro euros gbp mxn cop ars clp pen brl jpy cny inr cad aud chf "
                                 "dollar dollars pesos peso dolar dolares bn mm mn";
static const char strict_words[] = "average avg mean median med promedio prom media mediana rate tasa ratio "
                                   "pct percent percentage perc porcentaje "
                                   "per capita percapita proportion proporcion density densidad index indice "
                                   "gini yoy mom growth crecimiento";
static const char durations[] = "days hours hrs minutes mins seconds secs weeks months years dias horas "
                                "minutos segundos semanas meses anos";
static const char deltas[] =
    "new added change changes net nuevo nueva nuevos nuevas neto cambio cambios hired lost gained";
static const char money_units[] = "price precio fare tarifa rent renta alquiler wage salary salario sueldo";
/* Properties in Spanish: what comes behind them says of what. */
static const char spanish[] =
    "precio tarifa alquiler salario sueldo temperatura edad altura peso duracion tiempo distancia valor "
    "longitud ancho velocidad presion nivel renta";

/* Phrases that mean something else than their words. */
static const struct {
    const char *words;
    uint32_t cls;
} phrases[] = {
    {"box office", AL_CLASS(MONEY)},
    {"co 2", AL_CLASS(RATE)},
    {"pm 2 5", AL_CLASS(RATE)},
    {"pm 10", AL_CLASS(RATE)},
    {"no 2", AL_CLASS(RATE)},
    {"so 2", AL_CLASS(RATE)},
    {"o 3", AL_CLASS(RATE)},
    {"co 2 emission", AL_CLASS(FLOW)},
    {"head count", AL_CLASS(LEVEL)},
    {"on hand", AL_CLASS(LEVEL)},
    {"in stock", AL_CLASS(LEVEL)},
    {"en stock", AL_CLASS(LEVEL)},
    {"to date", AL_CLASS(CUMULATIVE)},
    {"so far", AL_CLASS(CUMULATIVE)},
    {"running total", AL_CLASS(CUMULATIVE)},
    {"a la fecha", AL_CLASS(CUMULATIVE)},
    {"active case", AL_CLASS(LEVEL)},
    {"open ticket", AL_CLASS(LEVEL)},
    {"open order", AL_CLASS(LEVEL)},
    {"caso activo", AL_CLASS(LEVEL)},
    {"active user", AL_CLASS(LEVEL)},
    {"exchange rate", AL_CLASS(RATE)},
    {"tipo de cambio", AL_CLASS(RATE)},
    {"unit cost", AL_CLASS(RATE)},
    {"unit price", AL_CLASS(UNIT)},
    {"unitario", AL_CLASS(RATE)},
    {"unitaria", AL_CLASS(RATE)},
    {"cost of living", AL_CLASS(RATE)},
    {"costo de vida", AL_CLASS(RATE)},
    {"lead time", AL_CLASS(UNIT)},
    {"dew point", AL_CLASS(UNIT)},
    {"full time", AL_CLASS(LEVEL)},
    {"part time", AL_CLASS(LEVEL)},
    {"household size", AL_CLASS(UNIT)},
    {"family size", AL_CLASS(UNIT)},
    {"class size", AL_CLASS(UNIT)},
    {"group size", AL_CLASS(UNIT)},
    {"party size", AL_CLASS(UNIT)},
    {"date of month", AL_CLASS(STEP)},
    {"day of month", AL_CLASS(STEP)},
    {"day of week", AL_CLASS(STEP)},
    {"day of year", AL_CLASS(STEP)},
    {"dia de la semana", AL_CLASS(STEP)},
    {"dia semana", AL_CLASS(STEP)},
    {"hour of day", AL_CLASS(STEP)},
    {"hora del dia", AL_CLASS(STEP)},
    {"year built", AL_CLASS(YEAR)},
    {"net income", AL_CLASS(MONEY)},
    {"operating income", AL_CLASS(MONEY)},
    {"gross income", AL_CLASS(MONEY)},
    {"total income", AL_CLASS(MONEY)},
    {"interest income", AL_CLASS(MONEY)},
    {"per capita", AL_CLASS(RATE)},
    {"gross domestic product", AL_CLASS(LEVEL)},
    {"producto interno bruto", AL_CLASS(LEVEL)},
    {"market cap", AL_CLASS(LEVEL)},
    {"market capitalization", AL_CLASS(LEVEL)},
    {"zip code", AL_CLASS(CODE)},
    {"postal code", AL_CLASS(CODE)},
    {"codigo postal", AL_CLASS(CODE)},
    {"area code", AL_CLASS(CODE)},
    {"sample size", AL_CLASS(UNIT) | AL_CLASS(MINOR)},
    {"sample", AL_CLASS(UNIT) | AL_CLASS(MINOR)},
    {"time stamp", AL_CLASS(TIME)},
    {"half life", AL_CLASS(UNIT)},
    {"user id", AL_CLASS(ID)},
    {"price range", AL_CLASS(DIMENSION)},
    {"age group", AL_CLASS(DIMENSION)},
    {"grupo de edad", AL_CLASS(DIMENSION)},
    {"run time", AL_CLASS(UNIT)},
    {"running time", AL_CLASS(UNIT)},
    {"fiscal year", AL_CLASS(YEAR)},
    {"school year", AL_CLASS(YEAR)},
    {"goods sold", AL_CLASS(MONEY)},
    {"p value", AL_CLASS(RATE)},
    {"lap time", AL_CLASS(UNIT)},
    {"step count", AL_CLASS(FLOW)},
    {"word count", AL_CLASS(FLOW)},
};

static bool same_word(struct al_str word, struct al_str of)
{
    char reading[3][64];
    if (al_str_eq(word, of))
        return true;
    size_t n = al_word_singulars(word, reading);
    for (size_t i = 0; i < n; i++)
        if (al_str_is(of, reading[i]))
            return true;
    return false;
}

/* Words that the phrase takes from the i-th on; 0: it is not there. */
static size_t phrase_at(const struct al_words *w, size_t i, const char *phrase)
{
    size_t taken = 0;
    for (const char *p = phrase; *p; taken++) {
        size_t n = strcspn(p, " ");
        if (i + taken == w->n || !same_word(w->list[i + taken], (struct al_str){p, n}))
            return 0;
        p += n + (p[n] ? 1 : 0);
    }
    return taken;
}

static void take_phrases(struct named *n)
{
    for (size_t i = 0; i < n->words.n; i++) {
        size_t longest = 0;
        uint32_t cls = 0;
        for (size_t k = 0; k < sizeof phrases / sizeof *phrases; k++) {
            size_t taken = phrase_at(&n->words, i, phrases[k].words);
            if (taken > longest) {
                longest = taken;
                cls = phrases[k].cls;
            }
        }
        for (size_t k = 0; k < longest; k++) {
            n->cls[i + k] = k + 1 == longest ? cls : 0;
            n->skip[i + k] = k + 1 < longest;
        }
        i += longest ? longest - 1 : 0;
    }
}

static bool all_digits(struct al_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

/* "p25th", "q1": a statistic of something. */
static bool is_percentile(const struct al_words *w, size_t i)
{
    struct al_str next = i + 1 < w->n ? w->list[i + 1] : AL_STR("");
    bool th = al_str_ends(next, "th") || al_str_ends(next, "rd") || al_str_ends(next, "st");
    if (th)
        next.n -= 2;
    bool lone = w->n == 2 && all_digits(next);
    return (al_str_is(w->list[i], "p") && lone && next.n <= 2) ||
           (al_str_is(w->list[i], "q") && lone && next.n == 1);
}

/* Units and limits behind other words do not say what it is; years do, and months, days, hours behind
 * anything but a property: "start hour", not "delay hour". */
static bool is_aside(const struct named *n, size_t i)
{
    uint32_t before = 0;
    if (i == 0 || !(n->cls[i] & (AL_CLASS(MEASURED) | AL_CLASS(STATISTIC))) || n->cls[i] & AL_CLASS(YEAR))
        return false;
    if (n->cls[i] & AL_CLASS(RATE) && !(n->cls[i] & AL_CLASS(STATISTIC)))
        return false;
    for (size_t k = 0; k < i; k++)
        before |= n->cls[k];
    bool step = in(al_word_list(AL_CLASS_STEP), n->words.list[i]);
    return !step || (before & AL_CLASS(UNIT));
}

static void read_words(struct named *n)
{
    for (size_t i = 0; i < n->words.n; i++) {
        struct al_str w = n->words.list[i];
        bool particle = in(particles, w);
        n->cls[i] = particle ? 0 : al_word_classes_deep(w);
        if (is_percentile(&n->words, i))
            n->cls[i] = AL_CLASS(RATE) | AL_CLASS(STATISTIC);
        n->skip[i] = particle || all_digits(w) || in(currencies, w) || is_aside(n, i) ||
                     (w.n == 1 && i > 0 && !(n->cls[i] & AL_CLASS(COUNT)));
    }
    take_phrases(n);
}

/* The last word that says something; the first that is known, where a Spanish one leads ("precio de venta").
 */
static size_t head_of(const struct named *n)
{
    size_t head = n->words.n;
    for (size_t i = 0; i < n->words.n; i++)
        if (!n->skip[i])
            head = i;
    if (head == n->words.n)
        return 0;
    for (size_t i = 0; i + 1 < n->words.n; i++)
        if (in("de del por", n->words.list[i + 1]) && !n->skip[i] && n->cls[i])
            return i;
        else if (in("of per at", n->words.list[i + 1]) && !n->skip[i] && n->cls[i])
            return i;
    return head;
}

static bool has_per(const struct al_words *w, struct al_str label)
{
    for (size_t i = 1; i + 1 < w->n; i++)
        if (in("per cada", w->list[i]) || (in("por", w->list[i]) && !in("vendido pagado", w->list[i - 1])))
            return true;
    const char *slash = label.n ? memchr(label.p, '/', label.n) : NULL;
    return slash && slash > label.p && slash + 1 < label.p + label.n && w->n <= 4;
}

static void read_flow(const struct named *n, size_t head, struct al_name_traits *t)
{
    const uint32_t flow = AL_CLASS(MONEY) | AL_CLASS(FLOW);
    size_t unit = AL_WORDS_MAX;
    bool english = true;
    for (size_t i = 0; i < n->words.n; i++) {
        if (n->cls[i] & AL_CLASS(UNIT) && !(n->cls[i] & flow)) {
            unit = i;
            english = !in(spanish, n->words.list[i]);
        }
        if (!(n->cls[i] & flow))
            continue;
        bool says = i == head || i == 0 || al_word_looks_plural(n->words.list[i]) ||
                    (n->cls[i] & AL_CLASS(MONEY)) || n->words.n == 2;
        t->flow |= says;
        bool noun = !in("paid sold spent billed charged", n->words.list[i]);
        t->flow_last |= says && unit < i && i == head && english && noun;
    }
}

static bool level_plural(struct al_str word)
{
    char plural[72];
    if (word.n + 2 > sizeof plural)
        return false;
    memcpy(plural, word.p, word.n);
    plural[word.n] = 's';
    return (al_word_classes((struct al_str){plural, word.n + 1}) | al_word_classes(word)) & AL_CLASS(LEVEL);
}

/* "número de factura": of one, and so a name. */
static bool is_number_of_one(const struct named *n)
{
    const struct al_words *w = &n->words;
    return w->n > 2 && (n->cls[0] & AL_CLASS(NUMBER)) && al_str_is(w->list[1], "de") &&
           !al_word_looks_plural(w->list[2]) && !(n->cls[2] & (AL_CLASS(LEVEL) | AL_CLASS(FLOW)));
}

/* "number of x", "num_x", "n_x"; "no" is a number only before "of": "no_previous" is not. */
static bool counts_first(const struct named *n)
{
    const struct al_words *w = &n->words;
    bool of = w->n > 2 && in("of de", w->list[1]);
    if (!(n->cls[0] & (AL_CLASS(NUMBER) | AL_CLASS(COUNT))) || w->n < 2 || is_number_of_one(n))
        return false;
    struct al_str next = w->list[1];
    bool word = next.n >= 2 && !(*next.p >= '0' && *next.p <= '9');
    return of || (!in("no nr nro of de", w->list[0]) && word);
}

/* "smokeyrs", "hushrs" */
static bool is_duration(struct al_str w)
{
    static const char *const tails[] = {"hrs", "yrs", "hours", "years", "mins", "days", "secs", "months"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (al_str_ends(w, tails[i]))
            return true;
    return false;
}

static void read_counts(const struct named *n, size_t head, struct al_str label, struct al_name_traits *t)
{
    const struct al_words *w = &n->words;
    size_t last = w->n - 1, counted = head;
    bool vague = w->n > 1 && in("n num nbr", w->list[last]); /* a count or a number of one */
    bool behind = n->cls[last] & AL_CLASS(COUNT) && !vague, before = counts_first(n);
    t->counts = behind || before || (label.n && memchr(label.p, '#', label.n));
    if (behind && last > 0)
        counted = last - 1;
    else if (before)
        counted = last;
    t->level_count = t->counts && w->n > 1 && level_plural(w->list[counted]);
    t->id_last = (n->cls[last] | n->cls[head]) & AL_CLASS(ID);
    t->number_last = (w->n > 1 && (n->cls[last] & AL_CLASS(NUMBER))) || is_number_of_one(n);
    bool unit = n->cls[head] & (AL_CLASS(UNIT) | AL_CLASS(MEASURED) | AL_CLASS(RATE));
    t->counted = al_word_looks_plural(w->list[head]) && !unit && !is_duration(w->list[head]);
    t->step = (n->cls[head] & AL_CLASS(STEP)) && !al_word_looks_plural(w->list[head]);
}

static bool shares_word(const struct al_words *source, struct al_str word)
{
    if (word.n < 3 || all_digits(word) || in(particles, word))
        return false;
    for (size_t i = 0; i < source->n; i++)
        if (same_word(source->list[i], word) || same_word(word, source->list[i]))
            return true;
    return false;
}

static void read_all(const struct named *n, const struct al_words *source, struct al_name_traits *t)
{
    for (size_t i = 0; i < n->words.n; i++) {
        struct al_str w = n->words.list[i];
        t->all |= n->cls[i];
        t->n += !in(particles, w);
        t->strict |= in(strict_words, w);
        t->delta |= in(deltas, w);
        t->money_unit |= in(money_units, w);
        t->in_source |= shares_word(source, w);
        t->percent_word |=
            in("pct percent percentage perc prcnt porcentaje porciento", w) || al_str_ends(w, "percent");
        t->duration |= in(durations, w);
    }
    struct al_str last = n->words.list[n->words.n - 1];
    if (n->words.n > 1)
        t->short_part = al_str_is(last, "mo") || al_str_is(last, "mth") ? 12 : al_str_is(last, "d") ? 31 : 0;
    t->other = n->words.n == 1 &&
               in("other others otro otra otros otras rest resto misc unknown remaining", n->words.list[0]);
    for (size_t i = 0; i < n->words.n; i++)
        t->row |= in("row rows rowname rownames rowid index idx obs observation column unnamed line record "
                     "case sno srno",
                     n->words.list[i]);
}

void al_name_read(struct al_arena *arena, const struct al_words *source, struct al_str name,
                  struct al_str label, struct al_name_traits *ret)
{
    autoarena struct al_arena scratch = AL_ARENA_INIT((size_t)256 << 10);
    struct named *n = al_arena_alloc(&scratch, sizeof *n);
    *ret = (struct al_name_traits){0};
    if (!n)
        return;
    al_words_of(&scratch, label.n ? label : name, &n->words);
    if (!n->words.n)
        al_words_of(&scratch, name, &n->words);
    if (n->words.n > NAME_WORDS)
        n->words.n = NAME_WORDS;
    ret->percent_sign = label.n && memchr(label.p, '%', label.n);
    if (!n->words.n)
        return;
    read_words(n);
    size_t head = head_of(n);
    ret->head = n->cls[head];
    ret->first = n->cls[0];
    char *word = al_arena_dup(arena, n->words.list[head]);
    ret->head_word = al_str_of(word ? word : "");
    read_all(n, source, ret);
    ret->strict |= ret->percent_sign || has_per(&n->words, label);
    read_flow(n, head, ret);
    read_counts(n, head, label, ret);
}
