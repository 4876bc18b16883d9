/* How many digits a widget's numbers have. */
#include "dashboard/dashboard_int.h"

#include <math.h>

#define DIGITS 2       /* behind the mark, at most */
#define SMALL_DIGITS 3 /* of numbers below 1, in all */
#define ROUND 10000    /* from here on, digits behind the mark say nothing; but prices keep theirs */

static const struct al_dash_column *column(const struct al_dash *d, int c)
{
    return c >= 0 && (size_t)c < d->catalog.n ? &d->catalog.columns[c] : NULL;
}

static bool is_mean(enum al_agg a)
{
    return a == AL_AGG_AVG || a == AL_AGG_RATIO;
}

/* A mean of 0 and 1 is a share. */
static bool is_flag(const struct al_dash_column *c)
{
    return c->integers && c->has_range && c->min >= 0 && c->max <= 1;
}

static bool is_percent(const struct al_widget *w, const struct al_dash_column *c, double largest)
{
    if (w->agg == AL_AGG_RATIO)
        return w->percent;
    if (w->agg == AL_AGG_AVG && is_flag(c))
        return true;
    return c->percent && largest <= 1 &&
           (w->agg == AL_AGG_AVG || w->agg == AL_AGG_MIN || w->agg == AL_AGG_MAX);
}

/* All numbers of the widget are whole, though its column's need not be. */
static bool is_whole(const struct al_dash *d, const struct al_widget *w)
{
    const struct al_widget *first = d->plan.widgets;
    return d->results && w >= first && w < first + d->plan.n_widgets && d->results[w - first].whole;
}

static bool in_line(const struct al_widget *w)
{
    return w->type != AL_W_KPI && w->type != AL_W_TABLE && w->type != AL_W_SCATTER;
}

struct al_number_style al_number_style_of(const struct al_dash *d, const struct al_widget *w, double largest)
{
    struct al_number_style s = {0};
    const struct al_dash_column *c = column(d, w->metric);
    if (w->agg == AL_AGG_COUNT || w->agg == AL_AGG_DISTINCT || !c)
        return s;
    if (is_percent(w, c, largest)) {
        s.percent = true;
        s.max_digits = 1;
        s.min_digits = in_line(w);
        return s;
    }
    s.unit_percent = c->unit_percent && w->agg != AL_AGG_RATIO && w->agg != AL_AGG_SUM;
    if ((c->integers && !is_mean(w->agg)) || (is_whole(d, w) && c->scale != DIGITS))
        return s;
    if (largest > 0 && largest < 1 && c->scale != DIGITS) {
        s.significant = SMALL_DIGITS;
        return s;
    }
    s.max_digits = largest >= ROUND && c->scale <= 0 ? 0 : DIGITS;
    if (c->scale >= 0 && c->scale < DIGITS && !is_mean(w->agg))
        s.max_digits = c->scale;
    /* Numbers beside one another stand in line; rows of the file stand as they are there, but for prices. */
    if (c->scale == DIGITS || in_line(w))
        s.min_digits = s.max_digits;
    return s;
}
