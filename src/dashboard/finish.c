/* What is shown of a widget's groups: order, limit, Other, the gaps of a time axis. */
#include "dashboard/scan_int.h"

#include "base/mem.h"
#include "dataset/cell.h"

#include <math.h>
#include <stdlib.h>

struct finish {
    struct al_dash *d;
    const struct al_widget *w;
    struct al_groups *g;
    struct al_result *r;
    struct al_err *err;
};

static const struct al_dash_column *column(const struct finish *f, bool second)
{
    return &f->d->catalog.columns[second ? f->w->by : f->w->dimension];
}

/* --- orders; keys are distinct, so that no tie is left --- */

static void sort(void *list, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n > 1) /* of nothing there may be no list */
        qsort(list, n, size, compare);
}

static int by_label(const void *x, const void *y)
{
    const struct al_group *a = x, *b = y;
    return al_dash_cell_cmp(&a->label, &b->label);
}

static int by_value(const void *x, const void *y)
{
    const struct al_group *a = x, *b = y;
    int c = al_dash_cell_cmp(&b->value, &a->value);
    return c ? c : al_dash_cell_cmp(&a->label, &b->label);
}

static int by_key(const void *x, const void *y)
{
    const struct al_total *a = x, *b = y;
    return al_dash_cell_cmp(&a->key, &b->key);
}

static int by_weight(const void *x, const void *y)
{
    const struct al_total *a = x, *b = y;
    int c = al_dash_cell_cmp(&b->weight, &a->weight);
    return c ? c : al_dash_cell_cmp(&a->key, &b->key);
}

double al_natural_of(enum al_dash_natural n, const struct al_dash_cell *c)
{
    autobuf struct al_buf digits = AL_BUF_INIT(512);
    if (c->kind == AL_DASH_CELL_TEXT)
        return n == AL_NATURAL_NONE ? 0 : al_natural_key(n, c->text);
    if (c->kind == AL_DASH_CELL_NONE || n == AL_NATURAL_NUMBER || n == AL_NATURAL_NONE)
        return 0; /* numbers stand in their order before texts */
    if (c->kind == AL_DASH_CELL_INT)
        al_buf_addf(&digits, "%lld", (long long)c->i);
    else
        al_cell_print(c->d, -1, &digits);
    return al_natural_key(n, al_buf_str(&digits));
}

/* Few keys: by insertion, first by the natural order, then by the key. */
static void sort_naturally(enum al_dash_natural n, struct al_total *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct al_total t = list[i];
        double key = al_natural_of(n, &t.key);
        size_t at = i;
        while (at > 0) {
            double other = al_natural_of(n, &list[at - 1].key);
            if (other < key || (!(other > key) && al_dash_cell_cmp(&list[at - 1].key, &t.key) <= 0))
                break;
            list[at] = list[at - 1];
            at--;
        }
        list[at] = t;
    }
}

/* --- the axis of labels --- */

static bool cell_index(const struct finish *f, const struct al_dash_cell *c, int64_t *ret)
{
    if (c->kind == AL_DASH_CELL_INT) {
        *ret = c->i;
        return true;
    }
    return c->kind == AL_DASH_CELL_TEXT && al_bucket_of_key(al_axis_bucket(f->d, f->w, false), c->text, ret);
}

static int put_keys(struct finish *f, const struct al_total *keys, size_t n, struct al_str **ret)
{
    *ret = al_arena_alloc(&f->d->arena, (n + 1) * sizeof **ret);
    if (!*ret)
        return al_scan_no_memory(f->err);
    for (size_t i = 0; i < n; i++) {
        (*ret)[i] = al_dash_cell_str(&f->d->arena, &keys[i].key);
        if (!(*ret)[i].p)
            return al_scan_no_memory(f->err);
    }
    return 0;
}

static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What lies between the times as a rule: 5 of every fifth year. 0: they are no times, or not in order. */
static int64_t step_of(const struct finish *f, const struct al_total *times, size_t n, int64_t *ret_first,
                       int64_t *ret_last)
{
    int64_t step = 0, before, at;
    if (n == 0 || !cell_index(f, &times[0].key, &before))
        return 0;
    *ret_first = *ret_last = before;
    for (size_t i = 1; i < n; i++, before = at) {
        if (!cell_index(f, &times[i].key, &at) || at <= before)
            return 0;
        step = common(at - before, step);
        *ret_last = at;
    }
    return n == 1 ? 1 : step;
}

/* The times from the first to the last, sorted, in the step that all of them keep: those between without
 * rows, too, where all fit. (What was never asked for, the years between censuses, is no gap.) Owned by the
 * caller; NULL: there are more than a chart shows. */
static struct al_total *fill_gaps(struct finish *f, const struct al_total *times, size_t n, size_t *ret_n)
{
    int64_t first = 0, last = 0, step = step_of(f, times, n, &first, &last);
    char key[16];
    size_t all = n;
    bool filled = step > 0 && (last - first) / step < AL_DASH_BUCKETS;
    if (!filled && n > AL_DASH_BUCKETS)
        return NULL;
    if (filled)
        all = (size_t)((last - first) / step) + 1;
    struct al_total *list = al_xcalloc(all + 1, sizeof *list);
    *ret_n = all;
    for (size_t i = 0, k = 0; i < all; i++) {
        int64_t own, at = first + (int64_t)i * step;
        struct al_dash_cell *c = &list[i].key;
        if (!filled || (k < n && cell_index(f, &times[k].key, &own) && own == at)) {
            *c = times[k++].key;
        } else if (times[0].key.kind == AL_DASH_CELL_INT) {
            *c = (struct al_dash_cell){.kind = AL_DASH_CELL_INT, .i = at};
        } else if (al_bucket_text(al_axis_bucket(f->d, f->w, false), at, key)) {
            const char *p = al_arena_dup(&f->d->arena, al_str_of(key));
            *c = (struct al_dash_cell){.kind = AL_DASH_CELL_TEXT, .text = al_str_of(p ? p : "")};
        }
    }
    return list;
}

static size_t place(const struct al_total *keys, size_t n, const struct al_dash_cell *key)
{
    for (size_t i = 0; i < n; i++)
        if (al_dash_cell_cmp(&keys[i].key, key) == 0)
            return i;
    return n;
}

static int make_values(struct finish *f)
{
    size_t n = f->r->n_labels * f->r->n_series;
    f->r->values = al_arena_alloc(&f->d->arena, (n + 1) * sizeof *f->r->values);
    if (!f->r->values)
        return al_scan_no_memory(f->err);
    for (size_t i = 0; i < n; i++)
        f->r->values[i] = NAN;
    f->r->whole = true;
    return 0;
}

static void put_value(struct finish *f, size_t at, const struct al_dash_cell *v)
{
    f->r->values[at] = al_dash_cell_double(v);
    f->r->whole &= v->kind != AL_DASH_CELL_REAL;
}

/* --- one dimension --- */

static int one_series(struct finish *f)
{
    f->r->series = al_arena_alloc(&f->d->arena, sizeof *f->r->series);
    if (!f->r->series)
        return al_scan_no_memory(f->err);
    f->r->series[0] = AL_STR("");
    f->r->n_series = 1;
    return 0;
}

static int finish_time(struct finish *f)
{
    struct al_groups *g = f->g;
    size_t n = 0;
    sort(g->list, g->n, sizeof *g->list, by_label);
    autofree struct al_total *times = al_xcalloc(g->n + 1, sizeof *times);
    for (size_t i = 0; i < g->n; i++)
        times[i].key = g->list[i].label;
    autofree struct al_total *keys = fill_gaps(f, times, g->n, &n);
    f->r->groups = g->n;
    if (!keys) {
        f->r->failed = "its axis of time has more than 400 periods";
        return 0;
    }
    f->r->n_labels = n;
    if (one_series(f) < 0 || put_keys(f, keys, n, &f->r->labels) < 0 || make_values(f) < 0)
        return -1;
    for (size_t i = 0, k = 0; i < n && k < g->n; i++)
        if (al_dash_cell_cmp(&keys[i].key, &g->list[k].label) == 0)
            put_value(f, i, &g->list[k++].value);
    return 0;
}

static void keep_slices(struct finish *f)
{
    struct al_groups *g = f->g;
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (al_dash_cell_double(&g->list[i].value) > 0 ||
            (g->list[i].value.kind == AL_DASH_CELL_REAL && g->list[i].value.d > 0))
            g->list[n++] = g->list[i];
    g->n = n;
}

/* What is left over, where parts add up to a whole: no part may be below zero. */
static bool other(struct finish *f, size_t shown, double *ret)
{
    struct al_groups *g = f->g;
    double sum = 0, rest = 0;
    if (!f->w->other || !al_agg_adds(al_widget_agg(f->w)))
        return false;
    for (size_t i = 0; i < g->n; i++) {
        double v = al_dash_cell_double(&g->list[i].value), t = sum + v;
        if (!(v >= 0))
            return false;
        if (i < shown)
            continue;
        rest += fabs(sum) > fabs(v) ? (sum - t) + v : (v - t) + sum;
        sum = t;
    }
    *ret = sum + rest;
    if (g->chosen)
        *ret = g->has_rest ? g->rest : 0;
    return *ret > 0 && isfinite(*ret);
}

static int finish_ranking(struct finish *f)
{
    struct al_groups *g = f->g;
    struct al_result *r = f->r;
    if (al_widget_slices(f->w))
        keep_slices(f);
    if (!g->chosen)
        sort(g->list, g->n, sizeof *g->list, by_value);
    size_t limit = (size_t)al_widget_limit(f->w), shown = g->n < limit ? g->n : limit;
    double rest = 0;
    r->groups = g->chosen ? g->in_all : g->n;
    r->has_other = other(f, shown, &rest);
    autofree struct al_total *keys = al_xcalloc(shown + 1, sizeof *keys);
    for (size_t i = 0; i < shown; i++)
        keys[i] = (struct al_total){g->list[i].label, g->list[i].value};
    if (f->w->order == AL_ORDER_KEY)
        sort_naturally(column(f, false)->natural, keys, shown);
    keys[shown].key = (struct al_dash_cell){.kind = AL_DASH_CELL_TEXT, .text = AL_STR("")};
    r->n_labels = shown + r->has_other;
    if (one_series(f) < 0 || put_keys(f, keys, r->n_labels, &r->labels) < 0 || make_values(f) < 0)
        return -1;
    for (size_t i = 0; i < shown; i++)
        put_value(f, i, &keys[i].weight);
    if (r->has_other) {
        r->values[shown] = rest;
        r->whole &= rest == floor(rest);
    }
    return 0;
}

/* --- two dimensions --- */

static size_t choose(struct finish *f, struct al_total *list, size_t n, bool second)
{
    size_t limit = (size_t)(second ? al_widget_series_limit(f->w) : al_widget_limit(f->w));
    enum al_dash_natural order = column(f, second)->natural;
    if (!f->g->chosen)
        sort(list, n, sizeof *list, by_weight);
    n = n < limit ? n : limit;
    if (second && al_axis_bucket(f->d, f->w, true) != AL_BUCKET_NONE)
        sort(list, n, sizeof *list, by_key);
    else if (second ? order != AL_NATURAL_NONE : f->w->order == AL_ORDER_KEY)
        sort_naturally(order, list, n);
    return n;
}

static size_t distinct_labels(struct al_groups *g, struct al_total *ret)
{
    size_t n = 0;
    sort(g->list, g->n, sizeof *g->list, by_label);
    for (size_t i = 0; i < g->n; i++)
        if (n == 0 || al_dash_cell_cmp(&ret[n - 1].key, &g->list[i].label) != 0)
            ret[n++].key = g->list[i].label;
    return n;
}

/* Of a time axis only the periods count that the shown series have. */
static void keep_series(struct al_groups *g, size_t n_series)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (place(g->series, n_series, &g->list[i].series) < n_series)
            g->list[n++] = g->list[i];
    g->n = n;
}

static int finish_cross(struct finish *f)
{
    struct al_groups *g = f->g;
    struct al_result *r = f->r;
    bool time = al_axis_bucket(f->d, f->w, false) != AL_BUCKET_NONE;
    autofree struct al_total *own = NULL, *filled = NULL;
    struct al_total *labels = g->labels;
    r->n_series = choose(f, g->series, g->n_series, true);
    if (time) {
        keep_series(g, r->n_series);
        own = al_xcalloc(g->n + 1, sizeof *own);
        r->groups = distinct_labels(g, own);
        labels = filled = fill_gaps(f, own, r->groups, &r->n_labels);
        if (!labels) {
            r->failed = "its axis of time has more than 400 periods";
            return 0;
        }
    } else {
        r->groups = g->chosen ? g->in_all : g->n_labels;
        r->n_labels = choose(f, labels, g->n_labels, false);
    }
    if (put_keys(f, labels, r->n_labels, &r->labels) < 0 ||
        put_keys(f, g->series, r->n_series, &r->series) < 0 || make_values(f) < 0)
        return -1;
    for (size_t i = 0; i < g->n; i++) {
        size_t s = place(g->series, r->n_series, &g->list[i].series);
        size_t l = s < r->n_series ? place(labels, r->n_labels, &g->list[i].label) : r->n_labels;
        if (l < r->n_labels)
            put_value(f, s * r->n_labels + l, &g->list[i].value);
    }
    return 0;
}

int al_finish(struct al_dash *d, const struct al_widget *w, struct al_groups *g, struct al_result *r,
              struct al_err *err)
{
    struct finish f = {d, w, g, r, err};
    if (w->by >= 0)
        return finish_cross(&f);
    return al_axis_bucket(d, w, false) != AL_BUCKET_NONE ? finish_time(&f) : finish_ranking(&f);
}
