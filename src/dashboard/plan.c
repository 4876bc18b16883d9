/*
 * A fresh plan by the rules: candidates in the order of their worth, none that says nothing, no two that say
 * the same; the first twelve, laid out by purpose.
 */
#include "dashboard/plan_choice.h"

#define MEASURE_KPIS 4 /* by themselves; five when the goal names them */
#define MEASURE_KPIS_NAMED 5
#define NAMED_CHARTS 3 /* measures of the goal that have charts of their own */
#define FEW_CHARTS 3   /* fewer than these are filled up */

static bool is_purpose(const struct al_dash *d, const char *purpose)
{
    return strcmp(d->plan.purpose, purpose) == 0;
}

/* --- figures --- */

static size_t count_kpis(const struct choice *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        n += x->list[i].role == AL_R_KPI;
    return n;
}

static void add_kpi(struct choice *x, const struct al_widget *metric)
{
    struct al_widget w = al_widget_of(AL_W_KPI, AL_R_KPI);
    w.metric = metric->metric;
    w.over = metric->over;
    w.agg = metric->agg;
    w.percent = metric->percent;
    w.latest = metric->latest;
    w.clock = metric->clock;
    choice_add(x, w);
}

static void add_measure_kpi(struct choice *x, int column)
{
    struct al_widget m = choice_metric(x, column);
    add_kpi(x, &m);
}

/* What the goal names and nobody can add up is counted: "customers". */
static void add_distinct_kpi(struct choice *x, int column)
{
    const struct al_dash_column *c = al_dash_col(x->d, column);
    struct al_widget w = al_widget_of(AL_W_KPI, AL_R_KPI);
    if (c->role != AL_ROLE_IDENTIFIER && c->role != AL_ROLE_TEXT)
        return;
    if (c->distinct < 2 || (!c->nulls && c->distinct_exact && c->distinct == x->d->catalog.rows))
        return; /* as many as rows, which are counted anyway */
    w.metric = column;
    w.agg = AL_AGG_DISTINCT;
    choice_add(x, w);
}

static void figures(struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    const struct al_profile *p = &x->d->profile;
    struct al_widget rows = al_widget_of(AL_W_KPI, AL_R_KPI);
    if (x->lead.metric >= 0)
        add_kpi(x, &x->lead);
    else
        choice_add(x, rows);
    if (x->ratio.metric >= 0)
        add_kpi(x, &x->ratio);
    if (g->ratio) {
        add_measure_kpi(x, g->ratio_of);
        if (g->ratio_over >= 0)
            add_measure_kpi(x, g->ratio_over);
    }
    for (size_t i = 0; i < g->n_named && count_kpis(x) < MEASURE_KPIS_NAMED; i++) {
        if (al_dash_col(x->d, g->named[i])->role == AL_ROLE_MEASURE || g->named[i] == g->flag)
            add_measure_kpi(x, g->named[i]);
        else
            add_distinct_kpi(x, g->named[i]);
    }
    for (size_t i = 0; i < p->n_measures && count_kpis(x) < MEASURE_KPIS; i++)
        add_measure_kpi(x, p->measures[i]);
    choice_add(x, rows);
}

/* --- charts --- */

static void add_trend(struct choice *x, const struct al_widget *metric, int time, int by)
{
    struct al_widget w = al_widget_trend(x->d, metric, time, by);
    uint64_t n = al_bucket_count(al_dash_col(x->d, time), w.bucket);
    bool ones = w.metric < 0 && x->d->catalog.rows <= n; /* a row each, or none */
    if (n >= 2 && !ones)
        choice_add(x, w);
}

static void trends(struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    if (x->time < 0)
        return;
    add_trend(x, &x->lead, x->time, -1);
    for (size_t i = 0, n = 1; i < g->n_named && n < NAMED_CHARTS; i++)
        if (al_dash_col(x->d, g->named[i])->role == AL_ROLE_MEASURE) {
            struct al_widget m = choice_metric(x, g->named[i]);
            add_trend(x, &m, x->time, -1);
            n++;
        }
    if (x->ratio.metric >= 0)
        add_trend(x, &x->ratio, x->time, -1);
}

/* All of its values in as many rows, as far as that is known. */
static bool equal(const struct al_dash_column *c)
{
    size_t n = c->n_top < c->distinct ? c->n_top : (size_t)c->distinct;
    return n >= 2 && c->top_count[0] && c->top_count[n - 1] == c->top_count[0];
}

static void add_groups(struct choice *x, const struct al_widget *metric, int dimension)
{
    if (dimension < 0)
        return;
    const struct al_dash_column *c = al_dash_col(x->d, dimension);
    if (metric->metric < 0 && (al_col_unique(x->d, c) || (equal(c) && !x->d->goal.n_named)))
        return; /* one row each, or as many as each other: all bars would be alike */
    if (metric->latest && choice_of_time(x, dimension))
        return;
    choice_add(x, al_widget_groups(x->d, metric, dimension));
}

/* The metric of which a dimension's values are parts: the lead when it adds up, else the rows. */
static struct al_widget whole(const struct choice *x)
{
    struct al_widget m =
        al_widget_adds(&x->lead) ? x->lead : choice_metric(x, x->d->goal.ratio ? x->d->goal.ratio_of : -1);
    return al_widget_adds(&m) ? m : al_widget_of(AL_W_KPI, AL_R_KPI);
}

static void add_parts(struct choice *x, int dimension)
{
    if (dimension < 0)
        return;
    struct al_widget m = whole(x);
    const struct al_dash_column *c = al_dash_col(x->d, dimension);
    bool natural = c->natural != AL_NATURAL_NONE && x->lead.metric >= 0;
    if (m.metric < 0 && (al_col_unique(x->d, c) || choice_even(c) || natural))
        return; /* parts of one size say nothing, and what has an order is no composition */
    choice_add(x, al_widget_parts(x->d, &m, dimension));
}

/* One chart for each dimension that the goal names. */
static void named_dimensions(struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    for (size_t i = 0; i < g->n_named; i++) {
        int c = g->named[i];
        const struct al_dash_column *col = al_dash_col(x->d, c);
        if (!choice_groups(x, c) || c == g->flag)
            continue;
        bool parts = c != x->ranking && al_widget_adds(&x->lead) && col->distinct <= 5;
        if (parts)
            add_parts(x, c);
        else
            add_groups(x, &x->lead, c);
    }
}

/* Further measures of the goal, by what it names first. */
static void named_measures(struct choice *x)
{
    const struct al_goal *g = &x->d->goal;
    if (x->ratio.metric >= 0)
        add_groups(x, &x->ratio, x->ranking);
    for (size_t i = 0, n = 1; i < g->n_named && n < NAMED_CHARTS; i++)
        if (al_dash_col(x->d, g->named[i])->role == AL_ROLE_MEASURE) {
            struct al_widget m = choice_metric(x, g->named[i]);
            add_groups(x, &m, x->ranking);
            n++;
        }
}

static void add_cross(struct choice *x, const struct al_widget *metric, int a, int b)
{
    choice_add(x, al_widget_cross(x->d, metric, a, b));
}

/* "sales by region and category", "sales by region and month". */
static void named_cross(struct choice *x)
{
    int first = -1, second = -1;
    const struct al_goal *g = &x->d->goal;
    for (size_t i = 0; i < g->n_named; i++) {
        if (!choice_groups(x, g->named[i]) || g->named[i] == g->flag ||
            al_dash_col(x->d, g->named[i])->distinct > AL_DASH_HEAT)
            continue;
        if (first < 0)
            first = g->named[i];
        else if (second < 0)
            second = g->named[i];
    }
    if (first >= 0 && x->time >= 0 && x->time_named && al_dash_col(x->d, first)->distinct <= AL_DASH_SERIES)
        add_trend(x, &x->lead, x->time, first);
    if (second >= 0)
        add_cross(x, &x->lead, first, second);
}

/* A table of two dimensions with enough rows in its cells. */
static void default_cross(struct choice *x)
{
    int a = -1, b = -1;
    const struct al_profile *p = &x->d->profile;
    for (size_t i = 0; i < p->n_dimensions; i++) {
        const struct al_dash_column *c = al_dash_col(x->d, p->dimensions[i]);
        if (!choice_groups(x, p->dimensions[i]) || c->distinct > PLAN_ALL_BARS)
            continue;
        if (b < 0 && c->distinct <= AL_DASH_SERIES && a >= 0)
            b = p->dimensions[i];
        else if (a < 0)
            a = p->dimensions[i];
    }
    if (b < 0)
        return;
    uint64_t cells = al_dash_col(x->d, a)->distinct * al_dash_col(x->d, b)->distinct;
    if (x->d->catalog.rows >= 4 * cells)
        add_cross(x, &x->lead, a, b);
}

static void add_scatter(struct choice *x)
{
    const struct al_profile *p = &x->d->profile;
    struct al_widget w = al_widget_of(AL_W_SCATTER, AL_R_CORRELATION);
    w.y = x->lead.metric;
    if (w.y < 0 || al_dash_col(x->d, w.y)->role != AL_ROLE_MEASURE)
        w.y = p->n_measures ? p->measures[0] : -1;
    for (size_t i = 0; i < p->n_measures && w.x < 0; i++)
        if (p->measures[i] != w.y)
            w.x = p->measures[i];
    if (w.x >= 0 && w.y >= 0 && !x->no_rows)
        choice_add(x, w);
}

static void add_table(struct choice *x)
{
    struct al_widget w = al_widget_of(AL_W_TABLE, AL_R_TABLE);
    if (x->no_rows)
        return;
    choice_table(x, &w);
    if (w.n_columns)
        choice_add(x, w);
}

static void analysis(struct choice *x)
{
    const struct al_profile *p = &x->d->profile;
    if (x->time >= 0 && x->series >= 0)
        add_trend(x, &x->lead, x->time, x->series);
    default_cross(x);
    add_scatter(x);
    for (size_t i = 0, n = 0; i < p->n_dimensions && n < 2; i++)
        if (choice_groups(x, p->dimensions[i]) && p->dimensions[i] != x->ranking &&
            p->dimensions[i] != x->parts) {
            add_groups(x, &x->lead, p->dimensions[i]);
            n++;
        }
}

/* A page of one chart is none yet: lines by groups, further groups, further measures, then points, then rows.
 */
static void fill_up(struct choice *x)
{
    const struct al_profile *p = &x->d->profile;
    if (x->n - count_kpis(x) < FEW_CHARTS + 1 && x->time >= 0 && x->series >= 0)
        add_trend(x, &x->lead, x->time, x->series);
    for (size_t i = 0; i < p->n_dimensions && x->n - count_kpis(x) < FEW_CHARTS; i++)
        if (choice_groups(x, p->dimensions[i]))
            add_groups(x, &x->lead, p->dimensions[i]);
    for (size_t i = 0; i < p->n_measures && x->n - count_kpis(x) < FEW_CHARTS; i++) {
        struct al_widget m = choice_metric(x, p->measures[i]);
        if (x->time >= 0)
            add_trend(x, &m, x->time, -1);
        else if (x->ranking >= 0)
            add_groups(x, &m, x->ranking);
    }
    if (x->n - count_kpis(x) < FEW_CHARTS && x->lead.metric < 0)
        default_cross(x); /* what came of each treatment */
    if (x->n - count_kpis(x) < FEW_CHARTS)
        add_scatter(x);
    if (x->n - count_kpis(x) < FEW_CHARTS - 1)
        add_table(x);
}

static void charts(struct choice *x, const int by[2])
{
    const struct al_profile *p = &x->d->profile;
    if (by)
        add_cross(x, &x->lead, by[0], by[1]);
    trends(x);
    if (is_purpose(x->d, "operational"))
        add_table(x);
    add_groups(x, &x->lead, x->ranking);
    named_cross(x);
    named_dimensions(x);
    named_measures(x);
    if (x->entity >= 0 && x->lead.metric >= 0 &&
        (x->d->goal.n_named || !al_col_unique(x->d, al_dash_col(x->d, x->ranking))))
        add_groups(x, &x->lead, x->entity);
    if (x->lead.metric < 0 && p->n_measures && x->ranking >= 0) { /* beside the rows what is known of them */
        struct al_widget m = choice_metric(x, p->measures[0]);
        add_groups(x, &m, x->ranking);
    }
    if (x->parts >= 0 && !al_widget_adds(&x->lead))
        add_groups(x, &x->lead, x->parts); /* an average has no parts */
    if (!is_purpose(x->d, "analytical") || (x->parts >= 0 && al_dash_col(x->d, x->parts)->distinct <= 5))
        add_parts(x, x->parts);
    if (is_purpose(x->d, "analytical")) {
        analysis(x);
        add_table(x);
    }
    fill_up(x);
}

/* --- layout --- */

static int layout_rank(const char *purpose, enum al_widget_role r)
{
    static const signed char others[] = {
        [AL_R_KPI] = 0,      [AL_R_TREND] = 1,       [AL_R_RANKING] = 2, [AL_R_COMPOSITION] = 3,
        [AL_R_CROSSTAB] = 4, [AL_R_CORRELATION] = 5, [AL_R_TABLE] = 6};
    static const signed char operational[] = {
        [AL_R_KPI] = 0,         [AL_R_TABLE] = 1,    [AL_R_RANKING] = 2,    [AL_R_TREND] = 3,
        [AL_R_COMPOSITION] = 4, [AL_R_CROSSTAB] = 5, [AL_R_CORRELATION] = 6};
    return strcmp(purpose, "operational") == 0 ? operational[r] : others[r];
}

static void lay_out(struct al_dash *d, const struct choice *x)
{
    struct al_plan *p = &d->plan;
    size_t n = x->n < AL_DASH_WIDGETS ? x->n : AL_DASH_WIDGETS;
    for (int rank = 0; rank <= AL_R_TABLE; rank++)
        for (size_t i = 0; i < n; i++)
            if (layout_rank(p->purpose, x->list[i].role) == rank) {
                struct al_widget w = x->list[i];
                al_widget_name(d, &w, p->widgets, p->n_widgets);
                p->widgets[p->n_widgets++] = w;
            }
}

static void chips(struct choice *x)
{
    struct al_dash *d = x->d;
    if (x->no_rows)
        return;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0;
             i < (pass ? d->catalog.n : d->profile.n_dimensions) && d->plan.n_chips < AL_DASH_CHIPS; i++) {
            int c = pass ? (int)i : d->profile.dimensions[i];
            bool there = pass && al_dash_col(d, c)->role != AL_ROLE_BOOLEAN;
            for (size_t k = 0; k < d->plan.n_chips; k++)
                there = there || d->plan.chips[k] == c;
            if (!there && choice_groups(x, c) && al_col_chip(al_dash_col(d, c)) &&
                !al_col_unique(d, al_dash_col(d, c)))
                d->plan.chips[d->plan.n_chips++] = c;
        }
}

int al_plan_make(struct al_dash *d, const struct al_json *by, struct al_err *err)
{
    struct choice *x = al_arena_alloc(&d->arena, sizeof *x);
    int cross[2];
    if (!x)
        return al_fail(err, AL_QUERY_LIMIT, "the dashboard needs more memory than it may have");
    if (by && al_by_read(d, by, cross, err) < 0)
        return -1;
    d->plan.purpose = d->goal.purpose ? d->goal.purpose : "executive";
    if (d->goal.cut)
        al_plan_note(d, AL_TEXT_NOTE_GOAL_CUT, NULL, 0);
    al_plan_totals(d);
    choice_make(x, d);
    figures(x);
    charts(x, by ? cross : NULL);
    lay_out(d, x);
    chips(x);
    return 0;
}
