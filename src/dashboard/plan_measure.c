/* Columns and what may be done with them. */
#include "dashboard/bucket_int.h"
#include "dashboard/plan_int.h"

#include "base/text.h"

#include <math.h>

#define FEW_NUMBERS                                                                        \
    20 /* distinct values of an integer measure that may be groups when a plan asks for it \
        */
#define NEAR 5
#define PANEL 2.5 /* cells of things by periods for each row: of a panel with gaps */
#define SPARSE 2  /* buckets for each distinct date: more are mostly empty */

bool al_col_flag(const struct al_dash_column *c)
{
    return c->role == AL_ROLE_BOOLEAN && c->has_range && c->integers && c->min >= 0 && c->max <= 1 &&
           !c->text_fallbacks;
}

bool al_col_number(const struct al_dash_column *c)
{
    return c->role == AL_ROLE_MEASURE || al_col_flag(c);
}

bool al_col_groups(const struct al_dash_column *c)
{
    switch (c->role) {
    case AL_ROLE_DIMENSION:
    case AL_ROLE_BOOLEAN:
    case AL_ROLE_TEXT:
        return true;
    case AL_ROLE_MEASURE:
        return c->integers && c->distinct_exact && c->distinct <= FEW_NUMBERS;
    default:
        return false;
    }
}

bool al_col_chip(const struct al_dash_column *c)
{
    return al_col_groups(c) && c->distinct >= 2 && c->distinct <= AL_DASH_CHIP_VALUES;
}

bool al_col_unique(const struct al_dash *d, const struct al_dash_column *c)
{
    uint64_t there = d->catalog.rows > c->nulls ? d->catalog.rows - c->nulls : 0;
    return there >= 5 && (double)c->distinct >= 0.9 * (double)there;
}

bool al_col_running(const struct al_dash *d, const struct al_dash_column *c)
{
    return c->role == AL_ROLE_IDENTIFIER && c->has_range && c->integers && (c->min == 0 || c->min == 1) &&
           c->max - c->min + 1 == (double)d->catalog.rows;
}

/* --- time --- */

/* Some column names things that come back, each at most once a period, and most of them in each. */
static bool is_panel(const struct al_dash *d, const struct al_dash_column *clock)
{
    for (size_t i = 0; i < d->catalog.n; i++) {
        const struct al_dash_column *c = al_dash_col(d, (int)i);
        bool names = c->role == AL_ROLE_IDENTIFIER || c->role == AL_ROLE_TEXT || c->role == AL_ROLE_DIMENSION;
        double cells = (double)c->distinct * (double)clock->distinct;
        if (names && c->distinct >= 2 && cells >= (double)d->catalog.rows &&
            cells <= PANEL * (double)d->catalog.rows && c->distinct * 2 <= d->catalog.rows)
            return true;
    }
    return false;
}

/* A column that names each row. Numbers of the rows do that in a panel, too, and say nothing there. */
static bool has_row_key(const struct al_dash *d, const struct al_dash_column *clock)
{
    bool panel = is_panel(d, clock);
    for (size_t i = 0; i < d->catalog.n; i++) {
        const struct al_dash_column *c = al_dash_col(d, (int)i);
        if (panel && al_col_running(d, c))
            continue;
        if ((c->role == AL_ROLE_IDENTIFIER || c->role == AL_ROLE_TEXT || c->role == AL_ROLE_DIMENSION) &&
            !c->nulls && al_col_unique(d, c))
            return true;
    }
    return false;
}

int al_dash_clock(const struct al_dash *d)
{
    if (!d->profile.n_times)
        return -1;
    int clock = d->profile.times[0];
    const struct al_dash_column *t = al_dash_col(d, clock);
    if (t->distinct < 2)
        return -1;
    /* Each period as many rows as every other: the same things again and again, whatever key the rows have.
     */
    bool even = t->distinct_exact && d->catalog.rows % t->distinct == 0;
    return has_row_key(d, t) && !even ? -1 : clock;
}

uint64_t al_bucket_count(const struct al_dash_column *c, enum al_bucket b)
{
    int64_t from, to;
    if (c->time == AL_TIME_YEAR) {
        if (!c->has_range || !(c->max >= c->min) || c->max - c->min > 10000)
            return 0;
        return (uint64_t)(floor(c->max) - floor(c->min)) + 1;
    }
    if (b == AL_BUCKET_NONE || !al_bucket_index(b, al_str_of(c->first), &from) ||
        !al_bucket_index(b, al_str_of(c->last), &to) || to < from)
        return 0;
    return (uint64_t)(to - from) + 1;
}

enum al_bucket al_bucket_fit(const struct al_dash_column *c, enum al_bucket wanted)
{
    if (c->time == AL_TIME_YEAR)
        return AL_BUCKET_YEAR;
    if (wanted == AL_BUCKET_NONE || (wanted == AL_BUCKET_HOUR && strlen(c->last) <= 10)) {
        /* Dates that stand for months or years are no days: most buckets would be empty. */
        wanted = al_bucket_for(c);
        while (wanted != AL_BUCKET_NONE && wanted < AL_BUCKET_YEAR && c->distinct > 0 &&
               al_bucket_count(c, wanted) > SPARSE * c->distinct)
            wanted++;
        return wanted;
    }
    while (wanted < AL_BUCKET_YEAR && al_bucket_count(c, wanted) > AL_DASH_BUCKETS)
        wanted++;
    return wanted;
}

enum al_bucket al_bucket_level(const struct al_dash_column *c)
{
    if (c->time == AL_TIME_YEAR)
        return AL_BUCKET_YEAR;
    for (int b = AL_BUCKET_YEAR; b > AL_BUCKET_NONE; b--)
        if (al_bucket_count(c, (enum al_bucket)b) >= c->distinct && c->distinct > 0)
            return al_bucket_count(c, (enum al_bucket)b) <= AL_DASH_BUCKETS ? (enum al_bucket)b
                                                                            : AL_BUCKET_NONE;
    return AL_BUCKET_NONE;
}

bool al_widget_level(const struct al_dash *d, const struct al_widget *w)
{
    return w->agg == AL_AGG_SUM && w->metric >= 0 && al_dash_col(d, w->metric)->adds == AL_ADDS_ACROSS;
}

/* --- names --- */

bool al_near_columns(const struct al_dash *d, struct al_str name, struct al_buf *out)
{
    size_t n = 0;
    bool found = false;
    for (int pass = 0; pass < 2 && !n; pass++)
        for (size_t i = 0; i < d->catalog.n && n < NEAR; i++) {
            const struct al_dash_column *c = al_dash_col(d, (int)i);
            size_t longest = name.n > c->name.n ? name.n : c->name.n;
            bool near = al_str_distance(name, c->name) * 3 <= longest ||
                        al_str_distance(name, c->label) * 3 <= longest ||
                        (name.n >= 3 && al_str_find(c->name, name) >= 0);
            if (pass == 0 && !near)
                continue;
            found = found || near;
            al_buf_adds(out, n++ ? ", " : "");
            al_text_visible(out, al_utf8_head(c->name, 60), false);
        }
    return found;
}
