/*
 * The results of all widgets: one statement reads the columns that they need, each row once; what one scan
 * cannot (distinct counts, tables, too many groups) is done by statements of their own.
 */
#include "dashboard/group_int.h"

#include "base/mem.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

#define PROGRESS_ROWS 8192              /* between looks at the clock */
#define TIMES_BYTES ((size_t)256 << 20) /* 26 widgets' axes of 200,000 times and their headers */
#define PROGRESS_NS 50000000

/* --- what is needed --- */

static bool is_own(const struct al_widget *w)
{
    return w->type == AL_W_TABLE || (w->type != AL_W_SCATTER && al_widget_agg(w) == AL_AGG_DISTINCT);
}

static int cell_or_none(struct al_scan *s, int column)
{
    return column >= 0 ? al_scan_cell(s, column) : -1;
}

static void plan_points(struct al_scan *s, const struct al_widget *w, struct al_result *r)
{
    struct al_points *p = &s->points[s->n_points++];
    *p = (struct al_points){.w = w, .r = r, .x = al_scan_cell(s, w->x), .y = al_scan_cell(s, w->y)};
    p->heap = al_xcalloc(AL_DASH_POINTS, sizeof *p->heap);
}

static void plan_tally(struct al_scan *s, const struct al_widget *w, struct al_result *r)
{
    struct al_dash *d = s->d;
    struct al_tally *t = &s->tallies[s->n_tallies++];
    *t = (struct al_tally){.w = w, .r = r, .agg = al_widget_agg(w), .epoch = 1, .clock = -1};
    t->metric = cell_or_none(s, w->metric);
    t->over = t->agg == AL_AGG_RATIO ? cell_or_none(s, w->over) : -1;
    t->wide = w->metric >= 0 && al_agg_numeric(t->agg) && al_sql_wide(d, w->metric);
    t->over_wide = t->over >= 0 && al_sql_wide(d, w->over);
    int a = -1, b = -1;
    if (w->type != AL_W_KPI && w->dimension >= 0) {
        a = al_scan_keys(s, w->dimension, al_axis_bucket(d, w, false));
        if (w->by >= 0)
            b = al_scan_keys(s, w->by, al_axis_bucket(d, w, true));
    }
    t->grouping = al_scan_grouping(s, a, b);
    if (w->latest && w->clock >= 0)
        t->clock = al_scan_keys(s, w->clock, al_clock_bucket(d, w));
}

static void plan_chips(struct al_scan *s)
{
    if (s->d->plan.no_rows || s->d->plan.n_chips == 0)
        return;
    for (size_t i = 0; i < s->d->plan.n_chips && i < AL_DASH_CHIPS; i++) {
        bool twice = false;
        for (int k = 0; k < s->n_chips; k++)
            twice |= s->chip_columns[k] == s->d->plan.chips[i];
        if (twice)
            continue;
        s->chip_columns[s->n_chips] = s->d->plan.chips[i];
        s->chips[s->n_chips++] = al_scan_keys(s, s->d->plan.chips[i], AL_BUCKET_NONE);
    }
    struct al_tally *rows = &s->tallies[s->n_tallies++];
    *rows = (struct al_tally){.agg = AL_AGG_COUNT, .metric = -1, .over = -1, .clock = -1, .epoch = 1};
    rows->grouping = al_scan_grouping(s, -1, -1);
    al_cube_start(s);
}

static void plan_scan(struct al_scan *s)
{
    struct al_dash *d = s->d;
    for (size_t i = 0; i < d->plan.n_widgets; i++) {
        const struct al_widget *w = &d->plan.widgets[i];
        if (is_own(w))
            continue;
        if (w->type == AL_W_SCATTER)
            plan_points(s, w, &d->results[i]);
        else
            plan_tally(s, w, &d->results[i]);
    }
    plan_chips(s);
}

/* --- the scan --- */

static void write_sql(struct al_scan *s, struct al_buf *sql)
{
    al_buf_adds(sql, "SELECT ");
    for (int i = 0; i < s->n_cells; i++) {
        al_buf_adds(sql, i ? ", " : "");
        al_sql_name(sql, s->d->catalog.columns[s->columns[i]].name);
    }
    al_buf_adds(sql, s->n_cells ? " FROM " : "NULL FROM ");
    al_sql_name(sql, s->d->catalog.view);
    al_buf_addc(sql, ' ');
    al_sql_where(s->d, sql);
}

static inline void read_cell(sqlite3_stmt *stmt, int i, struct al_dash_cell *c)
{
    sqlite3_value *v = sqlite3_column_value(stmt, i);
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        c->kind = AL_DASH_CELL_INT;
        c->i = sqlite3_value_int64(v);
        break;
    case SQLITE_FLOAT:
        c->kind = AL_DASH_CELL_REAL;
        c->d = sqlite3_value_double(v);
        break;
    case SQLITE_TEXT:
        c->kind = AL_DASH_CELL_TEXT;
        c->text.p = (const char *)sqlite3_value_text(v);
        c->text.n = c->text.p ? (size_t)sqlite3_value_bytes(v) : 0;
        break;
    default:
        c->kind = AL_DASH_CELL_NONE;
    }
}

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The statement's end, and why: SQLite's result. */
static int read_rows(struct al_scan *s, sqlite3_stmt *stmt)
{
    const struct al_dashboard_out *out = s->d->out;
    uint64_t n = 0;
    int64_t told = now_ns();
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < s->n_cells; i++)
            read_cell(stmt, i, &s->cells[i]);
        al_scan_row(s);
        if (++n % PROGRESS_ROWS == 0 && out->progress && now_ns() - told > PROGRESS_NS) {
            told = now_ns();
            out->progress(out->ud, "reading", n, s->d->catalog.rows);
        }
    }
    s->d->kept = n;
    return rc;
}

static int fail_all(struct al_scan *s)
{
    struct al_result all = {0};
    if (al_scan_failed(s->d, &all, s->err) < 0)
        return -1;
    for (int i = 0; i < s->n_tallies; i++)
        if (s->tallies[i].r)
            s->tallies[i].r->failed = all.failed;
    for (int i = 0; i < s->n_points; i++)
        s->points[i].r->failed = all.failed;
    return 1;
}

/* 0; 1: all of its widgets have failed; -1. */
static int read_all(struct al_scan *s)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)4 << 20);
    sqlite3_stmt *stmt = NULL;
    if (s->n_tallies == 0 && s->n_points == 0)
        return 0;
    write_sql(s, &sql);
    if (al_buf_failed(&sql))
        return al_scan_no_memory(s->err);
    int rc = sqlite3_prepare_v2(s->d->db, sql.p, (int)sql.n, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = read_rows(s, stmt);
    s->d->has_kept = rc == SQLITE_DONE;
    int r = rc == SQLITE_DONE ? 0 : fail_all(s);
    sqlite3_finalize(stmt);
    return r;
}

/* --- the end --- */

static int by_hash(const void *x, const void *y)
{
    const struct al_point *a = x, *b = y;
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static int finish_points(struct al_scan *s, struct al_points *p)
{
    struct al_result *r = p->r;
    qsort(p->heap, p->n, sizeof *p->heap, by_hash);
    r->points = al_arena_alloc(&s->d->arena, (p->n * 2 + 1) * sizeof *r->points);
    if (!r->points)
        return al_scan_no_memory(s->err);
    for (size_t i = 0; i < p->n; i++) {
        r->points[i * 2] = p->heap[i].x;
        r->points[i * 2 + 1] = p->heap[i].y;
    }
    r->n_points = p->n;
    r->of_points = r->rows = p->seen;
    return 0;
}

static int finish(struct al_scan *s)
{
    for (int i = 0; i < s->n_points; i++)
        if (finish_points(s, &s->points[i]) < 0)
            return -1;
    for (int i = 0; i < s->n_tallies; i++) {
        struct al_tally *t = &s->tallies[i];
        if (t->w && (t->own ? al_scan_own(s->d, t->w, t->r, s->err) : al_tally_finish(s, t)) < 0)
            return -1;
    }
    return s->n_chips ? al_cube_build(s) : 0;
}

static int own_widgets(struct al_dash *d, struct al_err *err)
{
    for (size_t i = 0; i < d->plan.n_widgets; i++)
        if (is_own(&d->plan.widgets[i]) && al_scan_own(d, &d->plan.widgets[i], &d->results[i], err) < 0)
            return -1;
    return 0;
}

static void scan_free(struct al_scan *s)
{
    for (int i = 0; i < s->n_keys; i++)
        al_keys_free(&s->keys[i]);
    for (int i = 0; i < s->n_groupings; i++) {
        al_ids_free(&s->groupings[i].pairs);
        al_cells_free(&s->groupings[i].cells);
    }
    for (int i = 0; i < s->n_tallies; i++)
        al_tally_free(&s->tallies[i]);
    for (int i = 0; i < s->n_points; i++)
        free(s->points[i].heap);
    free(s->combinations);
    al_arena_free(&s->times);
    free(s);
}

int al_scan(struct al_dash *d, struct al_err *err)
{
    size_t failed = 0, n = d->plan.n_widgets;
    d->results = al_arena_alloc(&d->arena, (n + 1) * sizeof *d->results);
    if (!d->results)
        return al_scan_no_memory(err);
    struct al_scan *s = al_xcalloc(1, sizeof *s);
    s->d = d;
    s->err = err;
    al_arena_init(&s->times, TIMES_BYTES);
    plan_scan(s);
    int r = read_all(s);
    if (r == 0)
        r = finish(s);
    scan_free(s);
    if (r < 0 || own_widgets(d, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        failed += d->results[i].failed != NULL;
    if (n > 0 && failed == n)
        return al_fail(err, AL_QUERY_ERROR, "no part of the dashboard could be computed: %s",
                       d->results[0].failed);
    return 0;
}
