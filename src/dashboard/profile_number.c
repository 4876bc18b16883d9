/* What a column of numbers is for: a measure and how it adds up, a year, a code, a flag, a class. */
#include "dashboard/profile_int.h"

#include <math.h>

#define FEW 12       /* values of a class */
#define FEW_CODES 30 /* of something that is called a code or a group */
#define YEAR_MIN 1500
#define YEAR_MAX 2100

uint64_t al_column_filled(const struct al_profile_context *x, const struct al_dash_column *c)
{
    uint64_t out = c->nulls + (c->parsed_as.n ? c->parsed_nulls : 0);
    return out < x->rows ? x->rows - out : 0;
}

static void be_measure(struct al_dash_column *c, enum al_dash_adds adds)
{
    c->role = AL_ROLE_MEASURE;
    c->adds = adds;
}

static void be_class(struct al_dash_column *c)
{
    c->role = AL_ROLE_DIMENSION;
    c->natural = AL_NATURAL_NUMBER;
}

static bool within(const struct al_dash_column *c, double min, double max)
{
    return c->integers && c->min >= min && c->max <= max;
}

/* As many values as the range has, or nearly: numbers that count on. */
static bool is_dense(const struct al_dash_column *c, double part)
{
    return c->integers && (double)c->distinct >= part * (c->max - c->min + 1);
}

static bool repeats(uint64_t filled, const struct al_dash_column *c, uint64_t times)
{
    return c->distinct > 0 && filled / c->distinct >= times;
}

/* --- years and parts of dates --- */

#define AMOUNTS                                                                             \
    (AL_CLASS(MONEY) | AL_CLASS(FLOW) | AL_CLASS(RATE) | AL_CLASS(UNIT) | AL_CLASS(LEVEL) | \
     AL_CLASS(COUNT) | AL_CLASS(TOTAL) | AL_CLASS(LEVEL_RATE))

static bool is_year(const struct al_name_traits *t, uint64_t filled, const struct al_dash_column *c)
{
    bool named = t->n == 1 && (t->all & AL_CLASS(YEAR) || al_str_is(t->head_word, "time") ||
                               al_str_is(t->head_word, "date") || al_str_is(t->head_word, "fecha"));
    if (c->min < YEAR_MIN || c->max > YEAR_MAX || !(c->integers || named) || t->strict || t->counts)
        return false;
    if (named)
        return true; /* perhaps 1974.25, of a series */
    if (t->all & AL_CLASS(YEAR))
        return true;
    if (t->all & AL_CLASS(YEARLY) && !(t->all & AMOUNTS))
        return true;
    if (al_str_is(c->type, "text") || t->all & (AMOUNTS | AL_CLASS(ID) | AL_CLASS(CODE) | AL_CLASS(RANK)))
        return false;
    return c->min >= 1700 && !t->counted && c->distinct >= 5 && is_dense(c, 0.9) && repeats(filled, c, 2);
}

/* Months, days and hours within their ranges. */
static bool is_date_part(const struct al_name_traits *t, const struct al_dash_column *c)
{
    static const struct {
        const char *word;
        int min, max;
    } parts[] = {{"month", 0, 12},   {"mes", 0, 12},      {"day", 0, 366},   {"dia", 0, 366},
                 {"hour", 0, 24},    {"hora", 0, 24},     {"week", 0, 53},   {"semana", 0, 53},
                 {"quarter", 1, 4},  {"trimestre", 1, 4}, {"weekday", 0, 7}, {"dow", 0, 7},
                 {"doy", 0, 366},    {"moy", 1, 12},      {"minute", 0, 59}, {"minuto", 0, 59},
                 {"semester", 1, 2}, {"semestre", 1, 2}};
    if (t->short_part) /* "birth_mo", "birth_d" */
        return within(c, 1, t->short_part);
    if (!t->step || t->counts || t->strict || t->all & AL_CLASS(UNIT))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (al_str_is(t->head_word, parts[i].word))
            return within(c, parts[i].min, parts[i].max);
    return false;
}

/* Whatever else runs on: an axis, no amount. */
static bool is_step(const struct al_name_traits *t, const struct al_dash_column *c)
{
    if (is_date_part(t, c))
        return true;
    if (!t->step || !c->integers || c->distinct > 200 || t->counts || (t->all & AMOUNTS & ~AL_CLASS(RATE)))
        return false;
    return c->min >= -1 && c->max <= 10000 && is_dense(c, 0.3);
}

/* --- numbers that name --- */

static bool is_place(const struct al_name_traits *t, const struct al_dash_column *c)
{
    bool degrees = c->min >= -180 && c->max <= 180 && !c->integers;
    if (t->all & AL_CLASS(PLACE))
        return degrees || !(t->all & AL_CLASS(UNIT));
    return degrees && t->n == 1 && (al_str_is(t->head_word, "long") || al_str_is(t->head_word, "longitud"));
}

static bool is_code(const struct al_name_traits *t, uint64_t filled, const struct al_dash_column *c)
{
    if ((t->all & (AL_CLASS(CODE) | AL_CLASS(RANK) | AL_CLASS(LINK))) && !(t->head & AMOUNTS) && !t->counts)
        return true;
    if ((t->id_last && !t->strict) ||
        (t->row && t->n == 1 && (c->integers || al_str_starts(t->head_word, "row"))))
        return true;
    if (t->number_last && !t->strict && c->integers)
        return c->distinct * 2 >= filled || c->distinct > FEW_CODES;
    /* Numbers of customers and stations: they have no plural and too many values for groups. */
    if (c->integers && (t->head & AL_CLASS(DIMENSION)) && c->distinct > FEW_CODES && !t->duration &&
        !al_word_looks_plural(t->head_word))
        return !(t->all & (AMOUNTS | AL_CLASS(GENERIC)));
    /* Milliseconds since 1970, and telephone numbers. */
    return c->integers && c->min > 1e11 && c->max < 1e13 && !(t->all & AMOUNTS);
}

/* Codes with few values that repeat group rows; others are only counted. */
static void be_code(uint64_t filled, const struct al_name_traits *t, struct al_dash_column *c)
{
    bool id = t->head & AL_CLASS(ID);
    c->role = AL_ROLE_IDENTIFIER;
    if (c->integers && c->distinct >= 2 && c->distinct <= (id ? FEW : FEW_CODES) &&
        repeats(filled, c, id ? 8 : 3))
        be_class(c);
}

/* 1, 2, 3 … of the rows. All of them from 0 or 1 on are that whatever they are called. */
static bool is_row_number(const struct al_name_traits *t, uint64_t filled, const struct al_dash_column *c)
{
    uint64_t least = t->all & AMOUNTS && !t->row ? 20 : 5; /* five sales may be 1 to 5 */
    bool unique = filled >= least && (double)c->distinct >= 0.98 * (double)filled;
    bool index = t->n == 0 || t->row;
    if (!unique || t->step)
        return unique && index && is_dense(c, 0.5);
    if (is_dense(c, 1) && c->distinct == filled && (c->min == 0 || c->min == 1))
        return true;
    bool far = c->min >= 1000 || filled >= 200; /* the marks of sixty pupils may be 40 to 99 */
    return is_dense(c, index ? 0.5 : 0.9) && c->min <= 1e6 && (index || (far && !(t->all & AMOUNTS)));
}

/* "dep_time": 517, 2359: times of the day, written as numbers. Their mean is none. */
static bool is_clock_time(const struct al_name_traits *t, const struct al_dash_column *c)
{
    bool named = al_str_is(t->head_word, "time") || al_str_is(t->head_word, "hora");
    if (!named || t->n < 2 || !within(c, 0, 2400) || c->max < 2300 || c->distinct < 60 || c->distinct > 1440)
        return false;
    for (size_t i = 0; i < c->n_top; i++) {
        struct al_str s = c->top[i];
        if (s.n >= 2 && s.p[s.n - 2] > '5' && s.p[s.n - 2] <= '9')
            return false;
    }
    return c->n_top > 0;
}

/* The number of one thing, where each has its own or nearly so: plots, firms. "class" 1.1 is the first of
 * class 1. */
static bool is_thing(const struct al_name_traits *t, uint64_t filled, const struct al_dash_column *c)
{
    bool named = t->head & AL_CLASS(DIMENSION) && !(t->all & (AMOUNTS | AL_CLASS(GENERIC) | AL_CLASS(SIZE)));
    bool part = t->n == 1 && (al_str_is(t->head_word, "class") || al_str_is(t->head_word, "clase") ||
                              al_str_is(t->head_word, "group") || al_str_is(t->head_word, "grupo"));
    bool plot = t->n == 1 && (al_str_is(t->head_word, "plot") || al_str_is(t->head_word, "parcela"));
    if (!named || t->strict || t->counts || t->duration || al_word_looks_plural(t->head_word))
        return false;
    return c->integers ? c->min >= 0 : plot || (part && repeats(filled, c, 3));
}

/* A year whose numbers are none, by a slip in the file: no measure even so. */
static bool is_lone_year(const struct al_name_traits *t, const struct al_dash_column *c)
{
    return t->n == 1 && t->all & AL_CLASS(YEAR) && c->integers && !al_word_looks_plural(t->head_word);
}

/* --- classes --- */

static bool multiples_of_5(const struct al_dash_column *c)
{
    if (fmod(c->min, 5) != 0 || fmod(c->max, 5) != 0 || c->n_top < 3)
        return false;
    for (size_t i = 0; i < c->n_top; i++) {
        struct al_str s = c->top[i];
        if (!s.n || (s.p[s.n - 1] != '0' && s.p[s.n - 1] != '5'))
            return false;
    }
    return true;
}

static bool is_class(const struct al_name_traits *t, uint64_t filled, const struct al_dash_column *c)
{
    bool amount = t->all & AMOUNTS & ~AL_CLASS(UNIT), coordinate = t->n == 1 && t->head_word.n == 1;
    if (!c->integers || c->distinct < 2 || !repeats(filled, c, 3) || coordinate || t->counts || t->duration)
        return false;
    if ((t->head & AL_CLASS(DIMENSION)) && !(t->head & AMOUNTS & ~AL_CLASS(UNIT)) && !t->strict)
        return c->distinct <= FEW_CODES;
    if (amount)
        return false;
    if (c->distinct <= FEW && c->max - c->min <= 100)
        return repeats(filled, c, 5);
    /* Classes of 5 or 10 years, kilos, points. */
    return c->distinct <= FEW_CODES && multiples_of_5(c) && repeats(filled, c, 10);
}

/* "Time": 14, 21, 28 … of each plant: when it was measured, and not what. */
static bool is_waiting(const struct al_name_traits *t, uint64_t filled, const struct al_dash_column *c)
{
    bool named = t->n == 1 && (al_str_is(t->head_word, "time") || al_str_is(t->head_word, "tiempo"));
    return named && c->integers && c->distinct <= FEW_CODES && repeats(filled, c, 10);
}

/* --- measures --- */

static enum al_dash_adds generic_adds(const struct al_profile_context *x, const struct al_name_traits *t,
                                      const struct al_dash_column *c)
{
    if (x->source & (AL_CLASS(LEVEL) | AL_CLASS(LEVEL_RATE)))
        return x->source & AL_CLASS(RATE) ? AL_ADDS_NEVER : AL_ADDS_ACROSS;
    if (t->counts || t->all & AL_CLASS(TOTAL))
        return AL_ADDS_ALWAYS;
    if (x->source & (AL_CLASS(RATE) | AL_CLASS(UNIT)) || c->min < 0)
        return t->flow ? AL_ADDS_ALWAYS : AL_ADDS_NEVER; /* "amount" */
    return t->flow || x->source & (AL_CLASS(MONEY) | AL_CLASS(FLOW)) ? AL_ADDS_ALWAYS : AL_ADDS_NEVER;
}

static enum al_dash_adds level_adds(const struct al_name_traits *t, const struct al_dash_column *c)
{
    bool size = al_str_is(t->head_word, "size") || al_str_is(t->head_word, "tamano");
    if (t->head & AL_CLASS(UNIT) && !size)
        return AL_ADDS_NEVER;
    if (!(t->all & AL_CLASS(LEVEL)) && !t->level_count && !c->integers && c->max <= 100)
        return AL_ADDS_NEVER; /* unemployment as a percentage */
    if (c->integers && c->max <= 25 && !t->counts)
        return AL_ADDS_NEVER; /* of one household: "children" */
    if (t->delta || (t->flow && !(t->head & AL_CLASS(LEVEL)) && !t->level_count))
        return AL_ADDS_ALWAYS;
    return AL_ADDS_ACROSS;
}

static enum al_dash_adds size_adds(const struct al_name_traits *t, const struct al_dash_column *c)
{
    bool margin = al_str_starts(t->head_word, "marg");
    double large = fmax(fabs(c->min), fabs(c->max));
    return large <= (margin ? 100 : 1) ? AL_ADDS_NEVER : AL_ADDS_ALWAYS;
}

/* A name that no list knows. In a file that is called after a level its whole numbers are levels; else a lone
 * plural whose numbers spread as counts do is counted; anything else is averaged, which is never nonsense. */
static enum al_dash_adds unknown_adds(const struct al_profile_context *x, const struct al_name_traits *t,
                                      const struct al_dash_column *c)
{
    if (!c->integers && c->max <= 100)
        return AL_ADDS_NEVER;
    if (x->clock && x->source & (AL_CLASS(LEVEL) | AL_CLASS(LEVEL_RATE)) &&
        !(t->all & (AL_CLASS(UNIT) | AL_CLASS(MEASURED))))
        return t->delta ? AL_ADDS_ALWAYS : AL_ADDS_ACROSS;
    return t->counted && t->n == 1 && c->integers && c->min >= 0 && c->min * 10 <= c->max ? AL_ADDS_ALWAYS
                                                                                          : AL_ADDS_NEVER;
}

enum al_dash_adds al_profile_adds(const struct al_profile_context *x, const struct al_name_traits *t,
                                  const struct al_dash_column *c)
{
    const uint32_t property = AL_CLASS(UNIT) | AL_CLASS(MEASURED);
    if (t->strict)
        return AL_ADDS_NEVER;
    if (t->n == 1 && t->all & AL_CLASS(GENERIC))
        return generic_adds(x, t, c);
    if (t->n == 1 && al_str_is(t->head_word, "freq") && c->integers)
        return AL_ADDS_ALWAYS; /* of a table of counts */
    if (t->all & AL_CLASS(CUMULATIVE) && !(t->all & AL_CLASS(RATE)))
        return AL_ADDS_ACROSS;
    if (t->counts && !(t->all & (AL_CLASS(LEVEL) | AL_CLASS(LEVEL_RATE))) && !t->level_count)
        return AL_ADDS_ALWAYS;
    if (t->all & AL_CLASS(RATE) && !(t->flow && t->counted))
        return AL_ADDS_NEVER;
    if (t->head & AL_CLASS(SIZE) || (!t->head && t->all & AL_CLASS(SIZE)))
        return size_adds(t, c);
    if (t->all & (AL_CLASS(LEVEL) | AL_CLASS(LEVEL_RATE)) || t->level_count)
        return level_adds(t, c);
    if (t->all & AL_CLASS(STATISTIC) && !t->flow)
        return AL_ADDS_NEVER;
    if (t->flow && !c->integers && c->min >= -1 && c->max <= 1 &&
        !(t->all & (AL_CLASS(MASS) | AL_CLASS(MONEY) | AL_CLASS(TOTAL))))
        return AL_ADDS_NEVER; /* nobody counts halves of events */
    if (t->flow && !c->integers && !t->counted &&
        !(t->all & (AL_CLASS(MASS) | AL_CLASS(MONEY) | AL_CLASS(TOTAL))))
        return AL_ADDS_NEVER; /* "murder", 12.5: of 100,000 people, or so */
    if (t->flow)
        return !(t->all & AL_CLASS(UNIT)) || t->flow_last || t->all & AL_CLASS(TOTAL) ? AL_ADDS_ALWAYS
                                                                                      : AL_ADDS_NEVER;
    if (t->all & AL_CLASS(TOTAL))
        return !(t->all & property) || t->money_unit || t->duration ? AL_ADDS_ALWAYS : AL_ADDS_NEVER;
    return t->all & property ? AL_ADDS_NEVER : unknown_adds(x, t, c);
}

static void set_percent(const struct al_name_traits *t, struct al_dash_column *c)
{
    bool fractions = c->min >= -1 && c->max <= 1 && !(c->integers && c->max - c->min > 1);
    bool says = t->percent_sign || (t->all & AL_CLASS(PERCENT));
    if (c->adds != AL_ADDS_NEVER)
        return;
    if (says && fractions) {
        c->percent = true;
        return;
    }
    c->unit_percent = (t->percent_sign || t->percent_word) && fabs(c->max) <= 10000;
}

/* 0 and 1: the mean is a share. What asks for it by its name is a measure; else it groups when nothing else
 * does. */
static void be_flag(const struct al_profile_context *x, const struct al_name_traits *t,
                    struct al_dash_column *c)
{
    bool counts = t->counts || (t->flow && (t->counted || t->all & AL_CLASS(MONEY)));
    if (t->all & AL_CLASS(OUTCOME) && !counts) {
        be_measure(c, AL_ADDS_NEVER);
        c->percent = true;
    } else if (counts) {
        be_measure(c, al_profile_adds(x, t, c));
    } else {
        c->role = AL_ROLE_BOOLEAN;
        c->percent = true;
    }
}

void al_profile_number(const struct al_profile_context *x, const struct al_name_traits *t,
                       struct al_dash_column *c)
{
    uint64_t filled = al_column_filled(x, c);
    const uint32_t flows = AL_CLASS(MONEY) | AL_CLASS(FLOW) | AL_CLASS(COUNT) | AL_CLASS(TOTAL);
    bool short_year =
        (t->head & AL_CLASS(YEAR)) && c->integers && c->max < 1000 && c->distinct <= 120 && !t->counted;
    if (al_str_is(c->parsed_as, "12 %")) {
        be_measure(c, AL_ADDS_NEVER);
        c->unit_percent = true;
    } else if (c->min == c->max && filled > 2 && !(t->all & flows)) {
        c->role = AL_ROLE_NONE; /* one value in all rows */
    } else if (is_year(t, filled, c)) {
        c->role = AL_ROLE_TIME;
        c->time = AL_TIME_YEAR;
    } else if (is_place(t, c)) {
        c->role = AL_ROLE_PLACE;
    } else if (is_date_part(t, c)) {
        be_class(c);
    } else if (is_code(t, filled, c)) {
        be_code(filled, t, c);
    } else if (within(c, 0, 1) && c->distinct <= 2) {
        be_flag(x, t, c);
    } else if (is_row_number(t, filled, c)) {
        c->role = AL_ROLE_IDENTIFIER;
    } else if (is_step(t, c) || is_class(t, filled, c) || short_year || is_waiting(t, filled, c)) {
        be_class(c);
    } else if (is_thing(t, filled, c) && c->integers && c->distinct <= FEW && repeats(filled, c, 2)) {
        be_class(c);
    } else if (is_clock_time(t, c) || is_thing(t, filled, c) || is_lone_year(t, c)) {
        c->role = AL_ROLE_IDENTIFIER;
    } else {
        be_measure(c, al_profile_adds(x, t, c));
        set_percent(t, c);
    }
}
