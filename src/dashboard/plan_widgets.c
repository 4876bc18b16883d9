/* Widgets of a metric: as a figure, over time, by groups. */
#include "dashboard/plan_int.h"

#include <stdio.h>

#define DONUT 5 /* values of a donut; the sixth slice is Other */
#define PART_BARS 8
#define STACKED_TIMES 31

struct al_widget al_widget_of(enum al_widget_type type, enum al_widget_role role)
{
    return (struct al_widget){.type = type,
                              .role = role,
                              .metric = -1,
                              .over = -1,
                              .agg = AL_AGG_COUNT,
                              .clock = -1,
                              .dimension = -1,
                              .by = -1,
                              .x = -1,
                              .y = -1};
}

void al_widget_measure(const struct al_dash *d, struct al_widget *w, int c)
{
    w->metric = c;
    w->over = w->clock = -1;
    w->latest = w->percent = false;
    w->agg = AL_AGG_COUNT;
    if (c < 0)
        return;
    const struct al_dash_column *x = al_dash_col(d, c);
    w->agg = x->adds == AL_ADDS_NEVER || al_col_flag(x) ? AL_AGG_AVG : AL_AGG_SUM;
    if (w->agg == AL_AGG_SUM && x->adds == AL_ADDS_ACROSS) {
        w->clock = al_dash_clock(d);
        w->latest = w->clock >= 0;
    }
}

bool al_widget_same(const struct al_widget *a, const struct al_widget *b, bool strict)
{
    if ((a->type == AL_W_SCATTER) != (b->type == AL_W_SCATTER) ||
        (a->type == AL_W_TABLE) != (b->type == AL_W_TABLE) || (strict && a->type != b->type))
        return false;
    if (a->type == AL_W_SCATTER)
        return (a->x == b->x && a->y == b->y) || (a->x == b->y && a->y == b->x);
    if (a->type == AL_W_TABLE)
        return a->n_columns == b->n_columns &&
               memcmp(a->columns, b->columns, a->n_columns * sizeof *a->columns) == 0;
    return a->metric == b->metric && a->over == b->over && a->agg == b->agg && a->dimension == b->dimension &&
           a->by == b->by && a->bucket == b->bucket && a->latest == b->latest;
}

/* --- ids --- */

static void id_part(char *id, size_t *n, struct al_str text)
{
    bool gap = *n > 0;
    for (size_t i = 0; i < text.n && *n < AL_DASH_ID - 1; i++) {
        char c = text.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            gap = *n > 0;
            continue;
        }
        if (gap && *n < AL_DASH_ID - 2)
            id[(*n)++] = '-';
        gap = false;
        if (*n == 0 && c <= '9') {
            id[(*n)++] = 'w';
            id[(*n)++] = '-';
        }
        id[(*n)++] = c;
    }
}

static void id_column(const struct al_dash *d, char *id, size_t *n, const char *word, int c)
{
    id_part(id, n, al_str_of(word));
    if (c >= 0)
        id_part(id, n, al_dash_col(d, c)->name);
}

static void id_text(const struct al_dash *d, const struct al_widget *w, char *id, size_t *n)
{
    if (w->type == AL_W_SCATTER) {
        id_column(d, id, n, "", w->y);
        id_column(d, id, n, "vs", w->x);
    } else if (w->type == AL_W_TABLE) {
        id_part(id, n, AL_STR("detail"));
    } else {
        id_part(id, n, al_str_of(w->role == AL_R_KPI ? "kpi" : w->role == AL_R_COMPOSITION ? "share" : ""));
        id_column(d, id, n, w->metric < 0 ? "rows" : "", w->metric);
        if (w->over >= 0)
            id_column(d, id, n, "per", w->over);
        if (w->bucket)
            id_part(id, n, al_str_of(al_bucket_name(w->bucket)));
        else if (w->dimension >= 0)
            id_column(d, id, n, "by", w->dimension);
        if (w->by >= 0)
            id_column(d, id, n, w->bucket ? "by" : "and", w->by);
    }
}

static bool id_taken(const char *id, const struct al_widget *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].id, id) == 0)
            return true;
    return false;
}

void al_widget_name(const struct al_dash *d, struct al_widget *w, const struct al_widget *list, size_t n)
{
    char id[AL_DASH_ID + 8] = {0};
    size_t len = 0;
    if (*w->id)
        id_part(id, &len, al_str_of(w->id));
    if (!len)
        id_text(d, w, id, &len);
    if (!len)
        id_part(id, &len, AL_STR("widget"));
    id[len] = '\0';
    for (unsigned k = 2; id_taken(id, list, n); k++) {
        char tail[12];
        int t = snprintf(tail, sizeof tail, "-%u", k);
        size_t keep = len + (size_t)t < AL_DASH_ID ? len : AL_DASH_ID - 1 - (size_t)t;
        memcpy(id + keep, tail, (size_t)t + 1);
    }
    memcpy(w->id, id, AL_DASH_ID);
    w->id[AL_DASH_ID - 1] = '\0';
}

/* --- charts --- */

static struct al_widget chart(const struct al_widget *metric, enum al_widget_type type,
                              enum al_widget_role role)
{
    struct al_widget w = al_widget_of(type, role);
    w.metric = metric->metric;
    w.over = metric->over;
    w.agg = metric->agg;
    w.percent = metric->percent;
    w.latest = metric->latest;
    w.clock = metric->clock;
    return w;
}

static void over_time(const struct al_dash *d, struct al_widget *w, int time, int wanted)
{
    w->dimension = time;
    w->bucket = al_bucket_fit(al_dash_col(d, time), (enum al_bucket)wanted);
    w->latest = false; /* each period for itself */
    w->clock = -1;
    w->order = AL_ORDER_KEY;
    if (!al_widget_level(d, w))
        return;
    /* A bucket with several dates would add a level to itself: one date each, else their mean. */
    enum al_bucket own = al_bucket_level(al_dash_col(d, time));
    if (own != AL_BUCKET_NONE && (wanted == AL_BUCKET_NONE || wanted <= (int)own))
        w->bucket = own;
    else
        w->agg = AL_AGG_AVG;
}

struct al_widget al_widget_trend(const struct al_dash *d, const struct al_widget *metric, int time, int by)
{
    struct al_widget w = chart(metric, AL_W_LINE, AL_R_TREND);
    over_time(d, &w, time, d->goal.bucket);
    w.by = by;
    if (by < 0 && al_widget_adds(&w) && d->plan.purpose && strcmp(d->plan.purpose, "executive") == 0)
        w.type = AL_W_AREA;
    return w;
}

void al_widget_order(const struct al_dash *d, struct al_widget *w)
{
    const struct al_dash_column *c = al_dash_col(d, w->dimension);
    bool all = c->distinct <= PLAN_ALL_BARS && c->distinct > 0;
    if (c->natural != AL_NATURAL_NONE && c->distinct <= AL_DASH_KEYS && c->distinct > 0) {
        w->order = AL_ORDER_KEY;
        w->limit = (int)c->distinct;
    } else {
        w->order = AL_ORDER_VALUE;
        w->limit = all ? (int)c->distinct : PLAN_RANKING;
    }
}

struct al_widget al_widget_groups(const struct al_dash *d, const struct al_widget *metric, int dimension)
{
    struct al_widget w = chart(metric, AL_W_HBAR, AL_R_RANKING);
    w.dimension = dimension;
    al_widget_order(d, &w);
    if (w.order == AL_ORDER_KEY)
        w.type = AL_W_BAR;
    return w;
}

struct al_widget al_widget_parts(const struct al_dash *d, const struct al_widget *metric, int dimension)
{
    const struct al_dash_column *c = al_dash_col(d, dimension);
    bool negative = metric->metric >= 0 && !(al_dash_col(d, metric->metric)->min >= 0);
    struct al_widget w = al_widget_groups(d, metric, dimension);
    w.role = AL_R_COMPOSITION;
    if (w.order == AL_ORDER_KEY || negative)
        return w;
    w.other = true;
    w.type = c->distinct <= DONUT ? AL_W_DONUT : AL_W_HBAR;
    w.limit = c->distinct <= DONUT ? DONUT : PART_BARS;
    return w;
}

struct al_widget al_widget_cross(const struct al_dash *d, const struct al_widget *metric, int a, int b)
{
    if (al_dash_col(d, b)->time && !al_dash_col(d, a)->time) {
        int swap = a;
        a = b;
        b = swap;
    }
    const struct al_dash_column *rows = al_dash_col(d, a), *series = al_dash_col(d, b);
    bool few = series->distinct <= AL_DASH_SERIES;
    struct al_widget w = chart(metric, few && al_widget_adds(metric) ? AL_W_BAR : AL_W_HEAT, AL_R_CROSSTAB);
    w.by = b;
    if (rows->time) {
        over_time(d, &w, a, d->goal.bucket);
        uint64_t times = al_bucket_count(rows, w.bucket);
        if (times > STACKED_TIMES || (few && !al_widget_adds(&w)) || (!few && times > AL_DASH_HEAT))
            w.type = AL_W_LINE;
        return w;
    }
    w.dimension = a;
    al_widget_order(d, &w);
    if (w.type == AL_W_BAR && w.order == AL_ORDER_VALUE && rows->distinct > 6)
        w.type = AL_W_HBAR;
    if (w.type == AL_W_HEAT && w.limit > AL_DASH_HEAT)
        w.limit = AL_DASH_HEAT;
    else if (w.type == AL_W_HEAT)
        w.limit = rows->distinct < AL_DASH_HEAT ? (int)rows->distinct : AL_DASH_HEAT;
    return w;
}
