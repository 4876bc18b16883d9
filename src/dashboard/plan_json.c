/* A plan as JSON. */
#include "dashboard/plan_int.h"

static const char *const type_names[] = {"kpi", "line",  "area", "bar",     "hbar",
                                         "pie", "donut", "heat", "scatter", "table"};
static const char *const role_names[] = {"kpi",      "trend",       "ranking", "composition",
                                         "crosstab", "correlation", "table"};
static const char *const agg_names[] = {"sum", "avg", "min", "max", "count", "count_distinct", "ratio"};
static const char *const bucket_names[] = {"", "hour", "day", "week", "month", "quarter", "year"};
static const char *const op_names[] = {
    "=", "!=", "<", "<=", ">", ">=", "in", "not_in", "between", "contains", "is_null", "not_null"};

const char *al_widget_type_name(enum al_widget_type t)
{
    return type_names[t];
}
const char *al_widget_role_name(enum al_widget_role r)
{
    return role_names[r];
}
const char *al_agg_name(enum al_agg a)
{
    return agg_names[a];
}
const char *al_bucket_name(enum al_bucket b)
{
    return bucket_names[b];
}
const char *al_op_name(enum al_op o)
{
    return op_names[o];
}

static void put_column(const struct al_dash *d, struct al_jw *w, const char *key, int c)
{
    if (c >= 0)
        al_jw_kstr(w, key, al_dash_col(d, c)->name);
}

static void put_columns(const struct al_dash *d, struct al_jw *w, const char *key, const int *list, size_t n)
{
    al_jw_key(w, key);
    al_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        al_jw_str(w, al_dash_col(d, list[i])->name);
    al_jw_end(w);
}

/* What depends on whether it was said is always said, so that it reads back as it is. */
static void put_metric(const struct al_dash *d, struct al_jw *w, const struct al_widget *x)
{
    bool level = x->metric >= 0 && al_dash_col(d, x->metric)->adds == AL_ADDS_ACROSS;
    if (x->metric < 0)
        al_jw_kstrz(w, "metric", "*");
    put_column(d, w, "metric", x->metric);
    al_jw_kstrz(w, "aggregation", al_agg_name(x->agg));
    put_column(d, w, "over", x->over);
    if (x->agg == AL_AGG_RATIO)
        al_jw_kbool(w, "percent", x->percent);
    if (x->latest || (level && x->agg == AL_AGG_SUM && !x->bucket))
        al_jw_kbool(w, "latest", x->latest);
    if (x->latest)
        put_column(d, w, "clock", x->clock);
}

static void put_chart(const struct al_dash *d, struct al_jw *w, const struct al_widget *x)
{
    put_metric(d, w, x);
    if (x->type == AL_W_KPI)
        return;
    put_column(d, w, "dimension", x->dimension);
    if (x->bucket)
        al_jw_kstrz(w, "bucket", al_bucket_name(x->bucket));
    put_column(d, w, "by", x->by);
    if (x->bucket)
        return; /* all periods, in their order */
    al_jw_kstrz(w, "order", x->order == AL_ORDER_KEY ? "key" : "value");
    al_jw_kint(w, "limit", x->limit);
    al_jw_kbool(w, "other", x->other);
}

static void put_widget(const struct al_dash *d, struct al_jw *w, const struct al_widget *x)
{
    al_jw_obj(w);
    al_jw_kstrz(w, "id", x->id);
    al_jw_kstrz(w, "type", al_widget_type_name(x->type));
    al_jw_kstrz(w, "role", al_widget_role_name(x->role));
    al_jw_kstr(w, "title", x->title);
    if (x->type == AL_W_SCATTER) {
        put_column(d, w, "x", x->x);
        put_column(d, w, "y", x->y);
    } else if (x->type == AL_W_TABLE) {
        put_columns(d, w, "columns", x->columns, x->n_columns);
        al_jw_kint(w, "limit", x->limit);
    } else {
        put_chart(d, w, x);
    }
    al_jw_end(w);
}

void al_plan_write(const struct al_dash *d, struct al_jw *w)
{
    const struct al_plan *p = &d->plan;
    al_jw_obj(w);
    al_jw_kint(w, "version", 1);
    al_jw_kstrz(w, "purpose", p->purpose);
    al_jw_kstr(w, "locale", p->locale);
    al_jw_kstr(w, "title", p->title);
    al_jw_kstr(w, "sheet", d->catalog.sheet);
    al_jw_kbool(w, "noRows", p->no_rows);
    al_jw_key(w, "filters");
    al_jw_arr(w);
    for (size_t i = 0; i < p->n_filters; i++)
        al_filter_write(d, &p->filters[i], w);
    al_jw_end(w);
    put_columns(d, w, "chips", p->chips, p->n_chips);
    al_jw_key(w, "widgets");
    al_jw_arr(w);
    for (size_t i = 0; i < p->n_widgets; i++)
        put_widget(d, w, &p->widgets[i]);
    al_jw_end(w);
    al_jw_end(w);
}
