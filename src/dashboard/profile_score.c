/* Which columns are the best of their kind. */
#include "dashboard/profile_int.h"

#include "base/text.h"

#include <math.h>

/* --- scores --- */

/* A few gaps do not make a column worse. */
static double filled_part(const struct al_profiler *p, const struct al_dash_column *c)
{
    double part = (double)al_column_filled(&p->x, c) / (double)p->x.rows;
    return part >= 0.95 ? 1 : part;
}

static double measure_score(const struct al_profiler *p, const struct al_name_traits *t,
                            const struct al_dash_column *c)
{
    double s = filled_part(p, c);
    if (c->adds == AL_ADDS_ALWAYS)
        s += t->all & AL_CLASS(MONEY) ? 0.8 : 0.6;
    else if (c->adds == AL_ADDS_ACROSS)
        s += 0.4;
    else if (t->strict || t->all & (AL_CLASS(RATE) | AL_CLASS(OUTCOME)))
        s += 0.3;
    else if (t->all & AL_CLASS(UNIT))
        s += al_str_is(t->head_word, "age") || al_str_is(t->head_word, "edad")
                 ? 0.1
                 : 0.2; /* who, rather than what */
    if (t->in_source)
        s += 0.3; /* the file is called after it */
    bool whole = c->adds != AL_ADDS_NEVER || (t->head & AL_CLASS(BETTER) && !(t->head & AL_CLASS(TOTAL))) ||
                 (t->first & AL_CLASS(TOTAL) && t->n > 1);
    if (t->all & AL_CLASS(BETTER) && whole && !t->strict)
        s += 0.35;
    if (t->n == 1 && al_str_is(t->head_word, "n"))
        s -= 0.7; /* of a sample */
    if (t->all & AL_CLASS(MINOR) && !(c->percent && c->integers))
        s -= 0.7;
    if (t->all & AL_CLASS(STATISTIC))
        s -= t->all & AL_CLASS(RATE) ? 0.8 : 0.15; /* "sd" is of another column */
    if (t->wide == AL_WIDE_LAST)
        s += 0.1;
    return s + (c->min < c->max ? 0.2 : -0.5);
}

/* Short marks ("S", "C") are no names. */
static bool single_letters(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++)
        if (al_utf8_count(c->top[i]) > 1)
            return false;
    return c->n_top > 0;
}

static double dimension_score(const struct al_profiler *p, const struct al_name_traits *t,
                              const struct al_dash_column *c)
{
    double s = filled_part(p, c);
    if (c->distinct >= 3 && c->distinct <= 12)
        s += 0.5;
    else if (c->distinct >= 13 && c->distinct <= 30)
        s += 0.25;
    else if (c->distinct > 100)
        s -= 0.5;
    if (t->all & AL_CLASS(DIMENSION))
        s += 0.3;
    if (c->natural == AL_NATURAL_NUMBER)
        s -= t->step ? 0.7 : 0.6;
    if (t->all & (AL_CLASS(MINOR) | AL_CLASS(LINK) | AL_CLASS(CODE)))
        s -= 0.3;
    if (al_text_is_numeric(p, c))
        s -= 0.5;
    if ((double)c->top_count[0] >= 0.95 * (double)al_column_filled(&p->x, c))
        s -= 0.5; /* nearly all rows are the same */
    if (single_letters(c) || c->max_length > 80)
        s -= 0.2;
    return s;
}

/* Days from the first to the last time; a rough calendar is enough here. */
static double days_of(const char *iso)
{
    int64_t y, m, d;
    if (strlen(iso) < 10 || !al_parse_int((struct al_str){iso, 4}, 0, 9999, &y) ||
        !al_parse_int((struct al_str){iso + 5, 2}, 0, 99, &m) ||
        !al_parse_int((struct al_str){iso + 8, 2}, 0, 99, &d))
        return 0;
    return (double)y * 365.25 + (double)m * 30.4 + (double)d;
}

static double time_score(const struct al_profiler *p, const struct al_name_traits *t,
                         const struct al_dash_column *c)
{
    double s = filled_part(p, c);
    double days = c->time == AL_TIME_YEAR ? (c->max - c->min) * 365.25 : days_of(c->last) - days_of(c->first);
    if (t->all & (AL_CLASS(TIME) | AL_CLASS(YEAR)))
        s += 0.3;
    if (t->all & AL_CLASS(LATER))
        s -= 0.5;
    if (c->time == AL_TIME_YEAR)
        s -= 0.15;
    return s + 0.1 * fmin(1, fmax(0, days) / 365);
}

/* --- shortlists --- */

/* Better ones first; among equals the earlier column. */
static void put(const struct al_profiler *p, int *list, size_t *n, size_t max, int column)
{
    size_t at = *n;
    while (at > 0 && p->score[list[at - 1]] < p->score[column])
        at--;
    if (at >= max)
        return;
    if (*n < max)
        ++*n;
    for (size_t i = *n - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = column;
}

void al_profile_shortlist(struct al_profiler *p, struct al_profile *ret)
{
    for (size_t i = 0; i < p->c->n; i++) {
        struct al_dash_column *c = &p->c->columns[i];
        const struct al_name_traits *t = &p->traits[i];
        if (c->role == AL_ROLE_MEASURE) {
            c->score = p->score[i] = measure_score(p, t, c);
            if (t->wide != AL_WIDE_BETWEEN)
                put(p, ret->measures, &ret->n_measures, AL_DASH_SHORTLIST, (int)i);
        } else if (c->role == AL_ROLE_DIMENSION || c->role == AL_ROLE_BOOLEAN) {
            c->score = p->score[i] = dimension_score(p, t, c);
            if (c->role == AL_ROLE_DIMENSION && !al_profile_is_twin(p, i))
                put(p, ret->dimensions, &ret->n_dimensions, AL_DASH_SHORTLIST, (int)i);
        } else if (c->role == AL_ROLE_TIME) {
            c->score = p->score[i] = time_score(p, t, c);
            put(p, ret->times, &ret->n_times, AL_DASH_TIMES, (int)i);
        }
    }
    /* Flags group rows where nothing else does. */
    for (size_t i = 0; ret->n_dimensions == 0 && i < p->c->n; i++)
        if (p->c->columns[i].role == AL_ROLE_BOOLEAN)
            put(p, ret->dimensions, &ret->n_dimensions, 1, (int)i);
}
