/* What the statements of widgets and the scan must mean alike: which rows have a key, which count, in which order. */
#ifndef AL_DASHBOARD_SQL_INT_H
#define AL_DASHBOARD_SQL_INT_H

#include "dashboard/dashboard_int.h"

/* Whether a column may hold texts (or nothing is known) where numbers are needed: those rows are left out by typeof(). */
bool al_sql_mixed(const struct al_dash_column *c);
/* Whether a sum of its integers could pass 64 bits: it is then taken of reals, in SQL and in the scan. */
bool al_sql_wide(const struct al_dash *d, int column);

/* The bucket by which a widget takes its dimension or (second) its `by`; NONE for what is no time. A year column is always
 * taken by year; dates without a bucket by al_bucket_for, as a second dimension by year when the first is a time, too. */
enum al_bucket al_axis_bucket(const struct al_dash *d, const struct al_widget *w, bool second);
/* `latest`: by which bucket of its clock. The widget's, when its dimension is no time; else years of a year, days of a date. */
enum al_bucket al_clock_bucket(const struct al_dash *d, const struct al_widget *w);
/* What a widget computes: rows, when it names no column. */
static inline enum al_agg al_widget_agg(const struct al_widget *w)
{
    return w->metric < 0 ? AL_AGG_COUNT : w->agg;
}
/* Its groups may be put together by addition: sums and counts. */
static inline bool al_agg_adds(enum al_agg a)
{
    return a == AL_AGG_SUM || a == AL_AGG_COUNT;
}
static inline bool al_agg_numeric(enum al_agg a)
{
    return a != AL_AGG_COUNT && a != AL_AGG_DISTINCT;
}
/* Groups that are not above zero have no slice. */
static inline bool al_widget_slices(const struct al_widget *w)
{
    return w->type == AL_W_PIE || w->type == AL_W_DONUT;
}
int al_widget_limit(const struct al_widget *w);        /* of labels: 1 to AL_DASH_LIMIT, of a heat AL_DASH_HEAT */
int al_widget_series_limit(const struct al_widget *w); /* of series */

/* The key of a column as an expression, and the condition that a row has one. */
void al_sql_key(const struct al_dash *d, int column, enum al_bucket b, struct al_buf *out);
void al_sql_has_key(const struct al_dash *d, int column, enum al_bucket b, struct al_buf *out);
/* An expression over `of` (a label) that sorts in the natural order; ties by the label itself. */
void al_sql_natural(enum al_dash_natural n, const char *of, struct al_buf *out);
/* The aggregate; the condition of the rows that count ("" for all). */
void al_sql_value(const struct al_dash *d, const struct al_widget *w, struct al_buf *out);
void al_sql_counts(const struct al_dash *d, const struct al_widget *w, struct al_buf *out);
void al_sql_filter(const struct al_dash *d, const struct al_filter *f, struct al_buf *out);

/* Conditions joined by AND; what is "" leaves no trace. */
struct al_sql_where {
    struct al_buf *out;
    bool any;
};
void al_sql_and(struct al_sql_where *w, struct al_str condition);
/* All conditions of a widget's rows but those of its keys: filters, rows that count, the last bucket. */
void al_sql_rows(const struct al_dash *d, const struct al_widget *w, struct al_sql_where *where);
/* Of a cross-tab: which labels (second: series) are shown, in their order; nothing is cut from an axis of time. */
void al_sql_among(const struct al_dash *d, const struct al_widget *w, bool second, struct al_buf *out);

#endif
