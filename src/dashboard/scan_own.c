/* A widget by its own SQL: distinct counts, tables, and what has more groups than the scan keeps. */
#include "dashboard/scan_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <sqlite3.h>

#define CELL_BYTES ((size_t)128 << 10) /* of a text; a page shows less */
#define SQL_BYTES ((size_t)4 << 20)

int al_scan_no_memory(struct al_err *err)
{
    return al_fail(err, AL_QUERY_LIMIT, "the dashboard needs more memory than it may have");
}

int al_scan_failed(struct al_dash *d, struct al_result *r, struct al_err *err)
{
    switch (sqlite3_errcode(d->db) & 0xff) {
    case SQLITE_INTERRUPT:
        al_fail(err, AL_QUERY_TIMEOUT, "the dashboard's numbers were not ready in time");
        return al_hint(err, "give more time: timeoutMs in the call; or fewer rows, by filters");
    case SQLITE_NOMEM:
    case SQLITE_FULL:
        r->failed = "it needs more memory than a query may have";
        return 0;
    case SQLITE_TOOBIG:
        r->failed = "its statement is too long";
        return 0;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        al_fail(err, AL_QUERY_ERROR, "the dataset's file is damaged: %s", sqlite3_errmsg(d->db));
        return al_hint(err, "make it anew with data_inspect of the source");
    default:
        break;
    }
    r->failed = strstr(sqlite3_errmsg(d->db), "integer overflow") ? "its sum is larger than 64 bits hold"
                                                                  : "its query failed";
    return 0;
}

struct own {
    struct al_dash *d;
    const struct al_widget *w;
    struct al_result *r;
    struct al_err *err;
    sqlite3_stmt *stmt;
    struct al_buf sql;
};

/* 1: r->failed is set, and nothing more is asked. */
static int prepare(struct own *o)
{
    if (al_buf_failed(&o->sql) || o->sql.n > (size_t)sqlite3_limit(o->d->db, SQLITE_LIMIT_SQL_LENGTH, -1)) {
        o->r->failed = "its statement is too long";
        return 1;
    }
    if (sqlite3_prepare_v2(o->d->db, o->sql.p, (int)o->sql.n, &o->stmt, NULL) == SQLITE_OK)
        return 0;
    return al_scan_failed(o->d, o->r, o->err) < 0 ? -1 : 1;
}

/* 1 a row, 0 the end (or r->failed), -1. */
static int step(struct own *o)
{
    int rc = sqlite3_step(o->stmt);
    if (rc == SQLITE_ROW)
        return 1;
    int r = rc == SQLITE_DONE ? 0 : al_scan_failed(o->d, o->r, o->err);
    sqlite3_finalize(o->stmt);
    o->stmt = NULL;
    return r;
}

static int keep_cell(struct own *o, int i, struct al_dash_cell *ret)
{
    al_dash_cell_of(o->stmt, i, ret);
    if (ret->kind != AL_DASH_CELL_TEXT)
        return 0;
    ret->text = al_utf8_cut(ret->text, CELL_BYTES);
    const char *p = al_arena_dup(&o->d->arena, ret->text);
    if (!p)
        return al_scan_no_memory(o->err);
    ret->text.p = p;
    return 0;
}

/* Rows of up to three columns as groups. */
static int read_groups(struct own *o, struct al_groups *g)
{
    size_t cap = 0;
    int r;
    bool series = o->w->by >= 0;
    if ((r = prepare(o)) != 0)
        return r < 0 ? -1 : 0;
    while ((r = step(o)) > 0) {
        if (g->n == cap) {
            cap = cap ? cap * 2 : 64;
            g->list = al_xrealloc(g->list, cap * sizeof *g->list);
        }
        struct al_group *x = &g->list[g->n++];
        *x = (struct al_group){0};
        if (keep_cell(o, 0, &x->label) < 0 || (series && keep_cell(o, 1, &x->series) < 0) ||
            keep_cell(o, series ? 2 : 1, &x->value) < 0) {
            sqlite3_finalize(o->stmt);
            return -1;
        }
    }
    return r;
}

static int read_totals(struct own *o, bool second, struct al_total **ret, size_t *n)
{
    size_t most = (size_t)AL_DASH_KEYS + AL_DASH_HEAT;
    int r;
    al_buf_clear(&o->sql);
    al_sql_among(o->d, o->w, second, &o->sql);
    *ret = al_xcalloc(most, sizeof **ret);
    if ((r = prepare(o)) != 0)
        return r < 0 ? -1 : 0;
    while ((r = step(o)) > 0)
        if (*n < most && keep_cell(o, 0, &(*ret)[(*n)++].key) < 0) {
            sqlite3_finalize(o->stmt);
            return -1;
        }
    return r;
}

static void from_rows(struct own *o, const char *select)
{
    struct al_sql_where where = {.out = &o->sql};
    al_buf_clear(&o->sql);
    al_buf_adds(&o->sql, select);
    al_buf_adds(&o->sql, "\nFROM ");
    al_sql_name(&o->sql, o->d->catalog.view);
    al_sql_rows(o->d, o->w, &where);
}

/* The condition that a row has all keys; negated: that it does not. */
static void and_keys(struct own *o, bool negated)
{
    autobuf struct al_buf one = AL_BUF_INIT((size_t)64 << 10);
    struct al_sql_where where = {.out = &o->sql, .any = true};
    al_buf_adds(&one, negated ? "coalesce(NOT (" : "((");
    al_sql_has_key(o->d, o->w->dimension, al_axis_bucket(o->d, o->w, false), &one);
    al_buf_adds(&one, ")");
    if (o->w->by >= 0) {
        al_buf_adds(&one, negated ? " OR NOT (" : " AND (");
        al_sql_has_key(o->d, o->w->by, al_axis_bucket(o->d, o->w, true), &one);
        al_buf_adds(&one, ")");
    }
    al_buf_adds(&one, negated ? ", 1)" : ")");
    where.any = o->d->plan.n_filters || o->w->metric >= 0 || o->w->latest;
    al_sql_and(&where, al_buf_str(&one));
}

static int one_row(struct own *o, struct al_dash_cell *ret, int n)
{
    int r = prepare(o);
    for (int i = 0; i < n; i++)
        ret[i] = (struct al_dash_cell){.kind = AL_DASH_CELL_NONE};
    if (r != 0)
        return r < 0 ? -1 : 0;
    r = step(o);
    for (int i = 0; r > 0 && i < n; i++)
        if (keep_cell(o, i, &ret[i]) < 0)
            r = -1;
    sqlite3_finalize(o->stmt);
    o->stmt = NULL;
    return r < 0 ? -1 : 0;
}

static uint64_t count_of(const struct al_dash_cell *c)
{
    return c->kind == AL_DASH_CELL_INT && c->i > 0 ? (uint64_t)c->i : 0;
}

/* Rows that count, and those without a key. */
static int count_rows(struct own *o)
{
    struct al_dash_cell n;
    from_rows(o, "SELECT count(*)");
    if (o->w->dimension >= 0)
        and_keys(o, false);
    if (one_row(o, &n, 1) < 0)
        return -1;
    o->r->rows = count_of(&n);
    if (o->w->dimension < 0 || o->r->failed)
        return 0;
    from_rows(o, "SELECT count(*)");
    and_keys(o, true);
    if (one_row(o, &n, 1) < 0)
        return -1;
    o->r->left_out = count_of(&n);
    return 0;
}

static int find_period(struct own *o)
{
    struct al_dash_cell key;
    autobuf struct al_buf select = AL_BUF_INIT((size_t)64 << 10);
    o->r->period = AL_STR("");
    if (!o->w->latest || o->w->clock < 0)
        return 0;
    al_buf_adds(&select, "SELECT max(");
    al_sql_key(o->d, o->w->clock, al_clock_bucket(o->d, o->w), &select);
    al_buf_addc(&select, ')');
    al_buf_addc(&select, '\0');
    from_rows(o, al_buf_failed(&select) ? "" : select.p);
    if (one_row(o, &key, 1) < 0)
        return -1;
    if (key.kind != AL_DASH_CELL_NONE)
        o->r->period = al_dash_cell_str(&o->d->arena, &key);
    return o->r->period.p ? 0 : al_scan_no_memory(o->err);
}

/* How many groups there are in all, and what those amount to that are not shown. */
static int count_groups(struct own *o, struct al_groups *g)
{
    struct al_dash_cell n[3];
    autobuf struct al_buf inner = AL_BUF_INIT(SQL_BYTES);
    al_buf_adds(&inner, "SELECT count(*), min(value), total(value) FROM (SELECT ");
    al_sql_value(o->d, o->w, &inner);
    al_buf_adds(&inner, " AS value");
    al_buf_addc(&inner, '\0');
    from_rows(o, al_buf_failed(&inner) ? "" : inner.p);
    and_keys(o, false);
    al_buf_adds(&o->sql, "\nGROUP BY ");
    al_sql_key(o->d, o->w->dimension, al_axis_bucket(o->d, o->w, false), &o->sql);
    al_buf_adds(&o->sql, al_widget_slices(o->w) ? ") WHERE value > 0" : ")");
    if (one_row(o, n, 3) < 0)
        return -1;
    double least = al_dash_cell_double(&n[1]), all = al_dash_cell_double(&n[2]);
    g->in_all = count_of(&n[0]);
    for (size_t i = 0; i < g->n && o->w->by < 0; i++)
        all -= al_dash_cell_double(&g->list[i].value);
    g->has_rest = g->in_all > g->n && least >= 0 && all > 0;
    g->rest = all;
    return 0;
}

static int chart(struct own *o)
{
    struct al_groups g = {.chosen = true};
    bool time = al_axis_bucket(o->d, o->w, false) != AL_BUCKET_NONE;
    al_sql_widget(o->d, o->w, &o->sql);
    int r = read_groups(o, &g);
    if (r == 0 && !o->r->failed && o->w->by >= 0)
        r = read_totals(o, true, &g.series, &g.n_series);
    if (r == 0 && !o->r->failed && o->w->by >= 0 && !time)
        r = read_totals(o, false, &g.labels, &g.n_labels);
    if (r == 0 && !o->r->failed && !time)
        r = count_groups(o, &g);
    if (r == 0 && !o->r->failed)
        r = count_rows(o);
    if (r == 0 && !o->r->failed)
        r = find_period(o);
    if (r == 0 && !o->r->failed)
        r = al_finish(o->d, o->w, &g, o->r, o->err);
    free(g.list);
    free(g.labels);
    free(g.series);
    return r;
}

static int table(struct own *o)
{
    struct al_result *t = o->r;
    size_t most = (size_t)al_widget_limit(o->w);
    int r;
    t->cells = al_arena_alloc(&o->d->arena, (most * o->w->n_columns + 1) * sizeof *t->cells);
    if (!t->cells)
        return al_scan_no_memory(o->err);
    al_sql_widget(o->d, o->w, &o->sql);
    if ((r = prepare(o)) != 0)
        return r < 0 ? -1 : 0;
    while ((r = step(o)) > 0 && t->n_rows < most) {
        for (size_t i = 0; i < o->w->n_columns; i++)
            if (keep_cell(o, (int)i, &t->cells[t->n_rows * o->w->n_columns + i]) < 0)
                r = -1;
        t->n_rows++;
        if (r < 0)
            break;
    }
    sqlite3_finalize(o->stmt);
    o->stmt = NULL;
    t->rows = t->n_rows;
    return r < 0 ? -1 : 0;
}

static int points(struct own *o)
{
    struct al_result *t = o->r;
    struct al_dash_cell c;
    int r;
    t->points = al_arena_alloc(&o->d->arena, (AL_DASH_POINTS * 2 + 2) * sizeof *t->points);
    if (!t->points)
        return al_scan_no_memory(o->err);
    al_sql_widget(o->d, o->w, &o->sql);
    if ((r = prepare(o)) != 0)
        return r < 0 ? -1 : 0;
    while ((r = step(o)) > 0)
        if (t->n_points < AL_DASH_POINTS) {
            for (int i = 0; i < 2; i++) {
                al_dash_cell_of(o->stmt, i, &c);
                t->points[t->n_points * 2 + (size_t)i] = al_dash_cell_double(&c);
            }
            t->n_points++;
        }
    t->of_points = t->rows = t->n_points;
    return r;
}

int al_scan_own(struct al_dash *d, const struct al_widget *w, struct al_result *r, struct al_err *err)
{
    struct own o = {.d = d, .w = w, .r = r, .err = err, .sql = AL_BUF_INIT(SQL_BYTES)};
    int rc = 0;
    if (w->type == AL_W_TABLE) {
        rc = table(&o);
    } else if (w->type == AL_W_SCATTER) {
        rc = points(&o);
    } else if (w->type != AL_W_KPI && w->dimension >= 0) {
        rc = chart(&o);
    } else {
        al_sql_widget(d, w, &o.sql);
        rc = one_row(&o, &r->value, 1);
        if (rc == 0 && !r->failed)
            rc = count_rows(&o);
        if (rc == 0 && !r->failed)
            rc = find_period(&o);
        if (r->value.kind == AL_DASH_CELL_REAL && !isfinite(r->value.d))
            r->value.kind = AL_DASH_CELL_NONE;
    }
    al_buf_free(&o.sql);
    return rc;
}
