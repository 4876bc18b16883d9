/*
 * The definition of each widget: one SELECT over the view of values, with names of the catalog and literals
 * that are quoted here. It runs through the guarded query as it stands: where texts could meet arithmetic,
 * typeof() keeps them out.
 *
 * What the SQL does not say: Other is what the groups beyond the limit add up to; on a time axis a period
 * without rows is a gap. With a second dimension, the rows come by label and series; which labels and series
 * are shown, and in which order, is what the inner statements say.
 */
#include "dashboard/sql_int.h"

/* --- a widget's axes --- */

static const struct al_dash_column *column(const struct al_dash *d, int i)
{
    return &d->catalog.columns[i];
}

static bool is_time(const struct al_dash *d, int i)
{
    return i >= 0 && column(d, i)->time != AL_TIME_NONE;
}

enum al_bucket al_axis_bucket(const struct al_dash *d, const struct al_widget *w, bool second)
{
    int i = second ? w->by : w->dimension;
    if (!is_time(d, i))
        return AL_BUCKET_NONE;
    if (column(d, i)->time == AL_TIME_YEAR)
        return AL_BUCKET_YEAR;
    if (second && (is_time(d, w->dimension) || w->bucket == AL_BUCKET_NONE))
        return AL_BUCKET_YEAR;
    return w->bucket != AL_BUCKET_NONE ? w->bucket : al_bucket_for(column(d, i));
}

enum al_bucket al_clock_bucket(const struct al_dash *d, const struct al_widget *w)
{
    if (column(d, w->clock)->time == AL_TIME_YEAR)
        return AL_BUCKET_YEAR;
    return w->bucket != AL_BUCKET_NONE && !is_time(d, w->dimension) && !is_time(d, w->by) ? w->bucket
                                                                                          : AL_BUCKET_DAY;
}

static int between(int v, int least, int most, int none)
{
    return v <= 0 ? none : v < least ? least : v > most ? most : v;
}

int al_widget_limit(const struct al_widget *w)
{
    int most = w->order == AL_ORDER_KEY ? AL_DASH_KEYS : AL_DASH_LIMIT;
    return between(w->limit, 1, most, w->type == AL_W_HEAT ? AL_DASH_HEAT : 10);
}

int al_widget_series_limit(const struct al_widget *w)
{
    return w->type == AL_W_HEAT ? AL_DASH_HEAT : AL_DASH_SERIES;
}

/* --- the aggregate --- */

static void number_condition(const struct al_dash *d, int i, struct al_buf *out)
{
    if (al_sql_mixed(column(d, i))) {
        al_buf_adds(out, "typeof(");
        al_sql_name(out, column(d, i)->name);
        al_buf_adds(out, ") IN ('integer', 'real')");
    } else {
        al_sql_name(out, column(d, i)->name);
        al_buf_adds(out, " IS NOT NULL");
    }
}

static void call(const struct al_dash *d, const char *fn, int i, struct al_buf *out)
{
    al_buf_addf(out, "%s(", fn);
    al_sql_name(out, column(d, i)->name);
    if (strcmp(fn, "sum") == 0 && al_sql_wide(d, i))
        al_buf_adds(out, " + 0.0");
    al_buf_addc(out, ')');
}

void al_sql_value(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    static const char *const names[] = {
        [AL_AGG_SUM] = "sum", [AL_AGG_AVG] = "avg", [AL_AGG_MIN] = "min", [AL_AGG_MAX] = "max"};
    switch (al_widget_agg(w)) {
    case AL_AGG_DISTINCT:
        al_buf_adds(out, "count(DISTINCT ");
        al_sql_name(out, column(d, w->metric)->name);
        al_buf_addc(out, ')');
        break;
    case AL_AGG_RATIO:
        al_buf_adds(out, "1.0 * ");
        call(d, "sum", w->metric, out);
        al_buf_adds(out, " / ");
        if (w->over >= 0)
            call(d, "sum", w->over, out);
        else
            al_buf_adds(out, "count(*)");
        break;
    case AL_AGG_COUNT:
        al_buf_adds(out, "count(*)");
        break;
    default:
        call(d, names[al_widget_agg(w)], w->metric, out);
    }
}

void al_sql_counts(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    if (w->metric < 0)
        return;
    if (!al_agg_numeric(w->agg)) {
        al_sql_has_key(d, w->metric, AL_BUCKET_NONE, out);
        return;
    }
    number_condition(d, w->metric, out);
    if (w->agg == AL_AGG_RATIO && w->over >= 0) {
        al_buf_adds(out, " AND ");
        number_condition(d, w->over, out);
    }
}

/* --- WHERE --- */

void al_sql_and(struct al_sql_where *w, struct al_str condition)
{
    if (!condition.n)
        return;
    al_buf_adds(w->out, w->any ? "\n  AND " : "\nWHERE ");
    al_buf_add_str(w->out, condition);
    w->any = true;
}

static void and_filters(const struct al_dash *d, struct al_sql_where *where)
{
    autobuf struct al_buf one = AL_BUF_INIT((size_t)1 << 20);
    for (size_t i = 0; i < d->plan.n_filters; i++) {
        al_buf_clear(&one);
        al_sql_filter(d, &d->plan.filters[i], &one);
        where->out->failed |= al_buf_failed(&one);
        al_sql_and(where, al_buf_str(&one));
    }
}

void al_sql_where(const struct al_dash *d, struct al_buf *out)
{
    struct al_sql_where where = {.out = out};
    autobuf struct al_buf all = AL_BUF_INIT((size_t)4 << 20);
    where.out = &all;
    and_filters(d, &where);
    struct al_str s = al_buf_str(&all);
    if (s.n) /* without the line's end */
        al_buf_add(out, s.p + 1, s.n - 1);
    out->failed |= al_buf_failed(&all);
}

static void from(const struct al_dash *d, struct al_buf *out)
{
    al_buf_adds(out, "\nFROM ");
    al_sql_name(out, d->catalog.view);
}

void al_sql_rows(const struct al_dash *d, const struct al_widget *w, struct al_sql_where *where)
{
    autobuf struct al_buf one = AL_BUF_INIT((size_t)4 << 20), inner = AL_BUF_INIT((size_t)4 << 20);
    and_filters(d, where);
    al_sql_counts(d, w, &one);
    al_sql_and(where, al_buf_str(&one));
    if (!w->latest || w->clock < 0)
        return;
    enum al_bucket b = al_clock_bucket(d, w);
    struct al_sql_where all = {.out = &inner};
    al_buf_clear(&one);
    al_sql_key(d, w->clock, b, &one);
    al_buf_adds(&inner, "(SELECT max(");
    al_sql_key(d, w->clock, b, &inner);
    al_buf_addc(&inner, ')');
    from(d, &inner);
    and_filters(d, &all);
    autobuf struct al_buf counts = AL_BUF_INIT((size_t)64 << 10);
    al_sql_counts(d, w, &counts);
    al_sql_and(&all, al_buf_str(&counts));
    al_buf_clear(&counts);
    al_sql_has_key(d, w->clock, b, &counts);
    al_sql_and(&all, al_buf_str(&counts));
    al_buf_adds(&inner, ")");
    al_buf_adds(&one, " = ");
    al_buf_add_str(&one, al_buf_str(&inner));
    al_sql_and(where, al_buf_str(&counts));
    al_sql_and(where, al_buf_str(&one));
    where->out->failed |= al_buf_failed(&one) || al_buf_failed(&inner);
}

/* --- the statements --- */

static void and_has_key(const struct al_dash *d, int i, enum al_bucket b, struct al_sql_where *where)
{
    autobuf struct al_buf one = AL_BUF_INIT((size_t)64 << 10);
    al_sql_has_key(d, i, b, &one);
    al_sql_and(where, al_buf_str(&one));
}

/* What decides which labels and series of a cross-tab are shown: the largest, of averages and the like those
 * of most rows. */
static void weight(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    if (al_agg_adds(al_widget_agg(w)))
        al_sql_value(d, w, out);
    else
        al_buf_adds(out, "count(*)");
}

void al_sql_among(const struct al_dash *d, const struct al_widget *w, bool second, struct al_buf *out)
{
    struct al_sql_where inner = {.out = out};
    al_buf_adds(out, "SELECT ");
    al_sql_key(d, second ? w->by : w->dimension, al_axis_bucket(d, w, second), out);
    from(d, out);
    al_sql_rows(d, w, &inner);
    and_has_key(d, w->dimension, al_axis_bucket(d, w, false), &inner);
    and_has_key(d, w->by, al_axis_bucket(d, w, true), &inner);
    al_buf_adds(out, "\nGROUP BY 1\nORDER BY ");
    weight(d, w, out);
    al_buf_addf(out, " DESC, 1\nLIMIT %d", second ? al_widget_series_limit(w) : al_widget_limit(w));
}

static void and_among(const struct al_dash *d, const struct al_widget *w, bool second,
                      struct al_sql_where *where)
{
    autobuf struct al_buf one = AL_BUF_INIT((size_t)4 << 20);
    al_sql_key(d, second ? w->by : w->dimension, al_axis_bucket(d, w, second), &one);
    al_buf_adds(&one, " IN (");
    al_sql_among(d, w, second, &one);
    al_buf_addc(&one, ')');
    al_sql_and(where, al_buf_str(&one));
    where->out->failed |= al_buf_failed(&one);
}

static void crosstab(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    enum al_bucket a = al_axis_bucket(d, w, false), b = al_axis_bucket(d, w, true);
    struct al_sql_where where = {.out = out};
    al_buf_adds(out, "SELECT ");
    al_sql_key(d, w->dimension, a, out);
    al_buf_adds(out, " AS label, ");
    al_sql_key(d, w->by, b, out);
    al_buf_adds(out, " AS series, ");
    al_sql_value(d, w, out);
    al_buf_adds(out, " AS value");
    from(d, out);
    al_sql_rows(d, w, &where);
    and_has_key(d, w->dimension, a, &where);
    and_has_key(d, w->by, b, &where);
    if (a == AL_BUCKET_NONE)
        and_among(d, w, false, &where);
    and_among(d, w, true, &where);
    al_buf_adds(out, "\nGROUP BY 1, 2\nORDER BY 1, 2");
}

static void series(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    enum al_bucket b = al_axis_bucket(d, w, false);
    bool by_key = b == AL_BUCKET_NONE && w->order == AL_ORDER_KEY;
    struct al_sql_where where = {.out = out};
    if (by_key)
        al_buf_adds(out, "SELECT label, value FROM (\n");
    al_buf_adds(out, "SELECT ");
    al_sql_key(d, w->dimension, b, out);
    al_buf_adds(out, " AS label, ");
    al_sql_value(d, w, out);
    al_buf_adds(out, " AS value");
    from(d, out);
    al_sql_rows(d, w, &where);
    and_has_key(d, w->dimension, b, &where);
    al_buf_adds(out, "\nGROUP BY 1");
    if (al_widget_slices(w) && b == AL_BUCKET_NONE) {
        al_buf_adds(out, "\nHAVING ");
        al_sql_value(d, w, out);
        al_buf_adds(out, " > 0");
    }
    if (b != AL_BUCKET_NONE) {
        al_buf_adds(out, "\nORDER BY 1");
        return;
    }
    al_buf_addf(out, "\nORDER BY 2 DESC, 1\nLIMIT %d", al_widget_limit(w));
    if (by_key) {
        al_buf_adds(out, "\n)\nORDER BY ");
        al_sql_natural(column(d, w->dimension)->natural, "label", out);
        al_buf_adds(out, "label");
    }
}

/* The points are those with the smallest hash of the row's number: a step would follow whatever repeats in
 * the rows. */
static void scatter(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    autobuf struct al_buf one = AL_BUF_INIT((size_t)64 << 10);
    struct al_sql_where where = {.out = out};
    al_buf_adds(out, "SELECT x, y FROM (\nSELECT ");
    al_sql_name(out, column(d, w->x)->name);
    al_buf_adds(out, " AS x, ");
    al_sql_name(out, column(d, w->y)->name);
    al_buf_adds(out, " AS y, row_number() OVER () AS n");
    from(d, out);
    and_filters(d, &where);
    number_condition(d, w->x, &one);
    al_sql_and(&where, al_buf_str(&one));
    al_buf_clear(&one);
    number_condition(d, w->y, &one);
    al_sql_and(&where, al_buf_str(&one));
    al_buf_addf(out, "\n)\nORDER BY n * 2654435761 %% 4294967296\nLIMIT %d", AL_DASH_POINTS);
}

static void table(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    struct al_sql_where where = {.out = out};
    al_buf_adds(out, "SELECT ");
    for (size_t i = 0; i < w->n_columns; i++) {
        al_buf_adds(out, i ? ", " : "");
        al_sql_name(out, column(d, w->columns[i])->name);
    }
    from(d, out);
    and_filters(d, &where);
    al_buf_addf(out, "\nLIMIT %d", al_widget_limit(w));
}

static void kpi(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    struct al_sql_where where = {.out = out};
    al_buf_adds(out, "SELECT ");
    al_sql_value(d, w, out);
    al_buf_adds(out, " AS value");
    from(d, out);
    al_sql_rows(d, w, &where);
}

void al_sql_widget(const struct al_dash *d, const struct al_widget *w, struct al_buf *out)
{
    if (w->type == AL_W_SCATTER)
        scatter(d, w, out);
    else if (w->type == AL_W_TABLE)
        table(d, w, out);
    else if (w->type == AL_W_KPI || w->dimension < 0)
        kpi(d, w, out);
    else if (w->by >= 0)
        crosstab(d, w, out);
    else
        series(d, w, out);
}
