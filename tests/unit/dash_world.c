#include "test.h"

#include "dash_world.h"

#include "base/mem.h"
#include "base/text.h"
#include "dashboard/scan_int.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

unsigned dash_pick(struct dash_world *w, unsigned n)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 7;
    w->seed ^= w->seed << 17;
    return (unsigned)((w->seed >> 11) % n);
}

/* --- datasets --- */

enum {
    REGION,
    AMOUNT,
    PRICE,
    DAY,
    YEAR,
    GRADE,
    CODE,
    MONTH,
    AGES,
    FLAG,
    STAMP,
    GROSS,
    WEEKDAY,
    HUGE
};

/* Names that SQL would take for something else. */
static const char *const names[DASH_COLUMNS] = {
    "region", "amount", "label", "select", "año",    "a \"b\" c", "value",
    "x",      "n",      "group", "it's",   "series", "日",        "\xc3\xa9t\xc3\xa9"};

static void text(struct al_buf *out, const char *z)
{
    al_sql_text(out, al_str_of(z));
}
#define ONE_OF(w, out, ...)                                                       \
    do {                                                                          \
        static const char *const list_[] = {__VA_ARGS__};                         \
        text(out, list_[dash_pick(w, (unsigned)(sizeof list_ / sizeof *list_))]); \
    } while (0)

static void number(struct dash_world *w, struct al_buf *out)
{
    static const char *const hard[] = {"1e300",
                                       "-1e300",
                                       "1e-300",
                                       "0.1",
                                       "-0.0",
                                       "9007199254740991",
                                       "-9007199254740991",
                                       "123456789.123456789",
                                       "1e16",
                                       "1.0",
                                       "3"};
    if (dash_pick(w, 12) == 0)
        al_buf_adds(out, hard[dash_pick(w, sizeof hard / sizeof *hard)]);
    else
        al_buf_addf(out, "%s%u.%02u", dash_pick(w, 5) ? "" : "-", dash_pick(w, 1000), dash_pick(w, 100));
}

static void day(struct dash_world *w, struct al_buf *out, unsigned span, bool time)
{
    char key[16], z[64];
    if (dash_pick(w, 25) == 0) {
        ONE_OF(w, out, "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "n/a", "", "2024-1-1", "12:30",
               "2460000.5", "2024-02-29x", "2024-03-01 25:00", "2024-03-01T7");
        return;
    }
    int64_t n = 738900 + dash_pick(w, span);
    assert_true(al_bucket_text(AL_BUCKET_DAY, n, key));
    snprintf(z, sizeof z, "%s%c%02u:%02u%s", key, dash_pick(w, 3) ? 'T' : ' ', dash_pick(w, 24),
             dash_pick(w, 60), dash_pick(w, 4) ? "" : ":07Z");
    if (!time || dash_pick(w, 6) == 0)
        z[10] = '\0';
    text(out, z);
}

static void cell(struct dash_world *w, int i, unsigned variant, struct al_buf *out)
{
    static const unsigned spans[] = {2, 30, 200, 900, 3000, 20000};
    if (dash_pick(w, 14) == 0) {
        al_buf_adds(out, "NULL");
        return;
    }
    switch (i) {
    case REGION:
        ONE_OF(w, out, "North", "South", "Ålesund", "O'Brien", "東京", "", "north", "a\"b", "Z\xe2\x80\xae");
        break;
    case AMOUNT: /* an integer column with texts left */
        if (dash_pick(w, 9) == 0)
            ONE_OF(w, out, "n/a", "1,234", "", "-", "12.5.6");
        else
            al_buf_addf(out, "%d", (int)dash_pick(w, 400) - (variant & 1 ? 0 : 50));
        break;
    case PRICE:
        number(w, out);
        break;
    case DAY:
        day(w, out, spans[variant % 6], false);
        break;
    case STAMP:
        day(w, out, spans[variant % 3], true);
        break;
    case YEAR:
        if (dash_pick(w, 15) == 0)
            al_buf_adds(out, dash_pick(w, 2) ? "0" : "1999.5");
        else
            al_buf_addf(out, "%u", 1990 + dash_pick(w, 4) * 7);
        break;
    case GRADE:
        al_buf_addf(out, "%u", dash_pick(w, 12));
        break;
    case CODE: /* numbers and texts */
        if (dash_pick(w, 2))
            al_buf_adds(out, (const char *const[]){"12", "12.0", "7", "1.5"}[dash_pick(w, 4)]);
        else
            ONE_OF(w, out, "A1", "012", "12a", "7 b");
        break;
    case MONTH:
        ONE_OF(w, out, "January", "feb", "Marzo", "abril", "MAY", "juin", "juillet", "Août", "septiembre",
               "Okt", "?", "dez", "márz", "mär");
        break;
    case AGES:
        ONE_OF(w, out, "18-24", "<18", "25-34", "65+", "5-9", "10,000-20,000", "none", "Under 5", "≥100");
        break;
    case FLAG:
        ONE_OF(w, out, "true", "false");
        break;
    case GROSS:
        if (variant & 2)
            al_buf_addf(out, "%u", dash_pick(w, 50));
        else
            number(w, out);
        break;
    case WEEKDAY:
        ONE_OF(w, out, "Mon", "tuesday", "Mi", "jueves", "Fr", "sáb", "So", "Do", "??");
        break;
    default:
        al_buf_adds(out, (const char *const[]){"9007199254740991", "4503599627370497", "-9007199254740990",
                                               "1", "0.5"}[dash_pick(w, 5)]);
    }
}

void dash_column(struct dash_world *w, int i, const char *name, const char *type, uint64_t fallbacks)
{
    w->columns[i] = (struct al_dash_column){.name = al_str_of(name),
                                            .label = al_str_of(name),
                                            .display = al_str_of(name),
                                            .type = al_str_of(type),
                                            .text_fallbacks = fallbacks,
                                            .scale = -1};
    w->d.catalog.n = w->d.catalog.n > (size_t)i ? w->d.catalog.n : (size_t)i + 1;
}

static void catalog(struct dash_world *w)
{
    static const char *const types[DASH_COLUMNS] = {"text",    "integer", "real", "date",   "integer",
                                                    "integer", "text",    "text", "text",   "boolean",
                                                    "date",    "real",    "text", "integer"};
    for (int i = 0; i < DASH_COLUMNS; i++)
        dash_column(w, i, names[i], types[i], i == AMOUNT ? 1 : 0);
    w->columns[DAY].time = w->columns[STAMP].time = AL_TIME_DATE;
    w->columns[YEAR].time = AL_TIME_YEAR;
    w->columns[GRADE].natural = AL_NATURAL_NUMBER;
    w->columns[MONTH].natural = AL_NATURAL_MONTH;
    w->columns[WEEKDAY].natural = AL_NATURAL_WEEKDAY;
    w->columns[AGES].natural = AL_NATURAL_RANGE;
    w->columns[AMOUNT].has_range = w->columns[GRADE].has_range = true;
    w->columns[AMOUNT].max = 1000;
    w->columns[GRADE].max = 12;
    w->columns[HUGE].has_range = dash_pick(w, 2); /* of a lie: sums may overflow */
}

static void connect(struct dash_world *w, const char *sql)
{
    query_world_open(&w->q, query_dataset(sql));
    w->q.q.format = AL_QUERY_JSON;
    w->q.q.timeout_ms = 0;
    struct al_err err = {0};
    if (al_query_open(&w->q.q, &w->db, &err) < 0)
        fail_msg("%s", err.msg);
    w->d.db = w->db;
    w->d.out = &w->out;
    w->d.catalog.table = AL_STR("data");
    w->d.catalog.view = AL_STR("data_values");
    w->d.catalog.sheet = AL_STR("data");
    w->d.catalog.columns = w->columns;
    al_arena_init(&w->d.arena, AL_DASH_ARENA);
}

void dash_open_sql(struct dash_world *w, const char *sql)
{
    *w = (struct dash_world){.seed = 1};
    connect(w, sql);
}

void dash_open(struct dash_world *w, uint64_t seed, unsigned rows)
{
    *w = (struct dash_world){.seed = seed * 0x9e3779b97f4a7c15u + 88172645463325252u};
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)64 << 20);
    unsigned variant = dash_pick(w, 1000);
    al_buf_adds(&sql, "CREATE TABLE data(");
    for (int i = 0; i < DASH_COLUMNS; i++) {
        al_buf_adds(&sql, i ? ", " : "");
        al_sql_name(&sql, al_str_of(names[i]));
    }
    al_buf_adds(&sql, "); BEGIN;");
    for (unsigned r = 0; r < rows; r++) {
        al_buf_adds(&sql, "INSERT INTO data VALUES (");
        for (int i = 0; i < DASH_COLUMNS; i++) {
            al_buf_adds(&sql, i ? ", " : "");
            cell(w, i, variant, &sql);
        }
        al_buf_adds(&sql, ");");
    }
    al_buf_adds(&sql, "COMMIT; CREATE VIEW data_values AS SELECT * FROM data AS d");
    al_buf_addc(&sql, '\0');
    assert_false(al_buf_failed(&sql));
    connect(w, sql.p);
    w->d.catalog.rows = rows;
    catalog(w);
}

void dash_forget(struct dash_world *w)
{
    al_arena_free(&w->d.arena);
    w->d.plan = (struct al_plan){0};
    w->d.results = NULL;
    w->d.cube = NULL;
    w->d.n_notes = w->d.n_missing = 0;
}

void dash_close(struct dash_world *w)
{
    dash_forget(w);
    sqlite3_close(w->db);
    query_world_close(&w->q);
}

/* --- plans --- */

struct al_widget dash_widget(enum al_widget_type type)
{
    struct al_widget w = {
        .type = type, .metric = -1, .over = -1, .clock = -1, .dimension = -1, .by = -1, .x = -1, .y = -1};
    return w;
}

static int one(struct dash_world *w, const int *list, unsigned n)
{
    return list[dash_pick(w, n)];
}

static int a_measure(struct dash_world *w)
{
    static const int list[] = {AMOUNT, PRICE, GROSS, GRADE, HUGE, AMOUNT, CODE};
    return one(w, list, 7);
}

static int a_dimension(struct dash_world *w)
{
    static const int list[] = {REGION, CODE,   MONTH, AGES, FLAG,  WEEKDAY,
                               GRADE,  REGION, YEAR,  DAY,  STAMP, PRICE};
    return one(w, list, 12);
}

static void random_widget(struct dash_world *w, struct al_widget *x)
{
    *x = dash_widget((enum al_widget_type)dash_pick(w, 10));
    x->agg = (enum al_agg)dash_pick(w, 7);
    x->metric = x->agg == AL_AGG_COUNT && dash_pick(w, 3) ? -1 : a_measure(w);
    if (x->agg == AL_AGG_DISTINCT || x->agg == AL_AGG_COUNT)
        x->metric = x->metric < 0 ? -1 : a_dimension(w);
    x->over = dash_pick(w, 3) ? a_measure(w) : -1;
    x->latest = dash_pick(w, 5) == 0;
    x->clock = (const int[]){YEAR, DAY, STAMP}[dash_pick(w, 3)];
    x->dimension = a_dimension(w);
    do
        x->by = dash_pick(w, 3) ? -1 : a_dimension(w);
    while (x->by == x->dimension);
    x->bucket = (enum al_bucket)dash_pick(w, 7);
    x->order = (enum al_order)dash_pick(w, 2);
    x->limit = (int)dash_pick(w, 24);
    x->other = dash_pick(w, 2);
    x->x = a_measure(w);
    x->y = a_measure(w);
    x->n_columns = 1 + dash_pick(w, AL_DASH_TABLE_COLUMNS);
    for (size_t i = 0; i < x->n_columns; i++)
        x->columns[i] = (int)dash_pick(w, DASH_COLUMNS);
    if (x->type == AL_W_PIE || x->type == AL_W_DONUT)
        x->by = -1;
}

static void random_value(struct dash_world *w, int column, struct al_jw *out)
{
    static const char *const texts[] = {"North", "O'Brien", "",   "12",  "12.0",  "012",  "true",
                                        "%",     "a_b",     "\\", "n/a", "18-24", "1,234"};
    static const char *const dates[] = {"2024",       "2024-02",          "2024-03-01",
                                        "2023-12-31", "2024-01-15T10:30", "2024-01-15 10:30:00",
                                        "2023",       "2025-06"};
    static const double numbers[] = {0, 12, 1.5, -3, 100, 1e300, 0.1, 2000, 1990};
    if (column == DAY || column == STAMP)
        al_jw_strz(out, dates[dash_pick(w, 8)]);
    else if (column == FLAG && dash_pick(w, 2))
        al_jw_bool(out, dash_pick(w, 2));
    else if (column == REGION || column == CODE || column == MONTH || dash_pick(w, 5) == 0)
        al_jw_strz(out, texts[dash_pick(w, 13)]);
    else
        al_jw_double(out, numbers[dash_pick(w, 9)]);
}

static void random_filters(struct dash_world *w)
{
    autobuf struct al_buf json = AL_BUF_INIT(1 << 16);
    struct al_jw out;
    unsigned n = dash_pick(w, 4);
    al_jw_init(&out, &json);
    al_jw_arr(&out);
    for (unsigned i = 0; i < n; i++) {
        int column = (int)dash_pick(w, DASH_COLUMNS);
        enum al_op op = (enum al_op)dash_pick(w, 12);
        bool list = op == AL_OP_IN || op == AL_OP_NOT_IN || op == AL_OP_BETWEEN;
        unsigned values = op == AL_OP_BETWEEN ? 2 : list ? 1 + dash_pick(w, 4) : 1;
        al_jw_obj(&out);
        al_jw_kstrz(&out, "column", names[column]);
        al_jw_kstrz(&out, "op", al_op_name(op));
        al_jw_key(&out, "value");
        if (list)
            al_jw_arr(&out);
        for (unsigned k = 0; k < values; k++)
            random_value(w, column, &out);
        if (list)
            al_jw_end(&out);
        al_jw_end(&out);
    }
    al_jw_end(&out);
    const struct al_json *j = NULL;
    char *kept = al_arena_dup(&w->d.arena, al_buf_str(&json));
    struct al_err err = {0};
    assert_int_equal(al_json_parse(&w->d.arena, al_str_of(kept), &j, &err), 0);
    assert_int_equal(al_filters_read(&w->d, j, false, &err), 0);
}

void dash_random_plan(struct dash_world *w)
{
    static const int chips[] = {REGION, FLAG, GRADE, CODE, WEEKDAY, MONTH};
    dash_forget(w);
    random_filters(w);
    w->d.plan.n_widgets = 1 + dash_pick(w, 8);
    for (size_t i = 0; i < w->d.plan.n_widgets; i++)
        random_widget(w, &w->d.plan.widgets[i]);
    w->d.plan.n_chips = dash_pick(w, 5);
    for (size_t i = 0; i < w->d.plan.n_chips; i++)
        w->d.plan.chips[i] = one(w, chips, 6);
}

/* --- checks --- */

void dash_scan(struct dash_world *w)
{
    struct al_err err = {0};
    if (al_scan(&w->d, &err) < 0 && !strstr(err.msg, "no part of"))
        fail_msg("%s (%s)", err.msg, err.hint);
}

static const char *sql_of(struct dash_world *w, const struct al_widget *x, struct al_buf *out)
{
    al_buf_clear(out);
    al_sql_widget(&w->d, x, out);
    al_buf_addc(out, '\0');
    assert_false(al_buf_failed(out));
    return out->p;
}

static bool same_number(double a, const struct al_json *v)
{
    double b;
    if (!v || v->type == AL_JSON_NULL)
        return isnan(a);
    if (v->type == AL_JSON_STRING) { /* an integer that is no double */
        int64_t whole;
        return al_parse_int(v->str, INT64_MIN, INT64_MAX, &whole) && a == (double)whole;
    }
    return v->type == AL_JSON_NUMBER && al_json_double(v, &b) && (a == b || (isnan(a) && isinf(b)));
}

static bool same_key(struct al_str key, const struct al_json *v)
{
    double a, b;
    char z[400];
    if (v->type == AL_JSON_STRING)
        return al_str_eq(key, v->str);
    if (al_str_eq(key, v->raw))
        return true;
    bool text = key.n > 1 && key.p[0] == '0' && key.p[1] != '.'; /* "012" is not 12 */
    if (key.n >= sizeof z || !key.n || text || !al_json_double(v, &b))
        return false;
    memcpy(z, key.p, key.n);
    z[key.n] = 0;
    char *end;
    a = strtod(z, &end);
    return *end == 0 && a == b;
}

struct check {
    struct dash_world *w;
    const struct al_widget *x;
    const struct al_result *r;
    const struct al_json *rows;
    const char *sql;
};

#define WRONG(c, ...)                                                                   \
    do {                                                                                \
        print_error(__VA_ARGS__);                                                       \
        print_error("\n");                                                              \
        fail_msg("%s\ngave %.*s", (c)->sql, AL_FMT(al_utf8_cut((c)->rows->raw, 3000))); \
    } while (0)

static void check_kpi(struct check *c)
{
    const struct al_json *v = c->rows->child->child;
    const struct al_dash_cell *own = &c->r->value;
    double d;
    if (own->kind == AL_DASH_CELL_NONE) {
        if (v->type != AL_JSON_NULL)
            WRONG(c, "none");
    } else if (own->kind == AL_DASH_CELL_INT) {
        char z[32];
        snprintf(z, sizeof z, "%lld", (long long)own->i);
        if (!al_str_is(v->raw, z) && !al_str_is(v->str, z))
            WRONG(c, "%s", z);
    } else if (!al_json_double(v, &d) || d != own->d) {
        WRONG(c, "%.17g", own->d);
    }
}

static bool is_time(const struct check *c, int column)
{
    return c->w->columns[column].time != AL_TIME_NONE;
}

static void check_series(struct check *c)
{
    const struct al_result *r = c->r;
    size_t i = 0, shown = r->n_labels - r->has_other;
    bool time = is_time(c, c->x->dimension);
    if (r->n_series != 1)
        WRONG(c, "%zu series", r->n_series);
    al_json_each(row, c->rows)
    {
        while (time && i < shown && !same_key(r->labels[i], row->child)) {
            if (!isnan(r->values[i]))
                WRONG(c, "a value in the gap %.*s", AL_FMT(r->labels[i]));
            i++;
        }
        if (i >= shown)
            WRONG(c, "only %zu labels", shown);
        if (!same_key(r->labels[i], row->child) || !same_number(r->values[i], row->child->next))
            WRONG(c, "label %zu of %zu is %.*s with %.17g", i, shown, AL_FMT(r->labels[i]), r->values[i]);
        i++;
    }
    if (i != shown)
        WRONG(c, "%zu labels, not %zu", shown, i);
}

static size_t find_key(const struct al_str *keys, size_t n, const struct al_json *v)
{
    for (size_t i = 0; i < n; i++)
        if (same_key(keys[i], v))
            return i;
    return n;
}

static void check_cross(struct check *c)
{
    const struct al_result *r = c->r;
    size_t met = 0, there = 0;
    al_json_each(row, c->rows)
    {
        size_t l = find_key(r->labels, r->n_labels, row->child),
               s = find_key(r->series, r->n_series, row->child->next);
        if (l == r->n_labels || s == r->n_series)
            WRONG(c, "no %.*s × %.*s", AL_FMT(row->child->raw), AL_FMT(row->child->next->raw));
        if (!same_number(r->values[s * r->n_labels + l], row->child->next->next))
            WRONG(c, "%.*s × %.*s is %.17g", AL_FMT(row->child->raw), AL_FMT(row->child->next->raw),
                  r->values[s * r->n_labels + l]);
        met += row->child->next->next->type != AL_JSON_NULL;
    }
    for (size_t i = 0; i < r->n_labels * r->n_series; i++)
        there += !isnan(r->values[i]);
    if (there > met)
        WRONG(c, "%zu values, not %zu", there, met);
}

static void check_points(struct check *c)
{
    size_t i = 0;
    if (c->rows->n != c->r->n_points)
        WRONG(c, "%zu points", c->r->n_points);
    al_json_each(row, c->rows)
    {
        if (!same_number(c->r->points[i * 2], row->child) ||
            !same_number(c->r->points[i * 2 + 1], row->child->next))
            WRONG(c, "point %zu", i);
        i++;
    }
}

static void check_table(struct check *c)
{
    size_t i = 0;
    if (c->rows->n != c->r->n_rows)
        WRONG(c, "%zu rows", c->r->n_rows);
    al_json_each(row, c->rows) al_json_each(v, row)
    {
        const struct al_dash_cell *own = &c->r->cells[i++];
        struct al_str z = al_dash_cell_str(&c->w->d.arena, own);
        if (own->kind == AL_DASH_CELL_NONE ? v->type != AL_JSON_NULL : !same_key(z, v))
            WRONG(c, "cell %zu is %.*s", i, AL_FMT(z));
    }
}

static void check_periods(struct check *c)
{
    const struct al_result *r = c->r;
    enum al_bucket b = al_axis_bucket(&c->w->d, c->x, false);
    for (size_t i = 1; i < r->n_labels && r->n_labels <= AL_DASH_BUCKETS; i++) {
        char next[16], key[16];
        snprintf(key, sizeof key, "%.*s", (int)(r->labels[i - 1].n < 15 ? r->labels[i - 1].n : 15),
                 r->labels[i - 1].p);
        if (!al_bucket_next(b, key, next))
            WRONG(c, "no key after %s", key);
        if (!al_str_is(r->labels[i], next)) /* too far apart to show all between */
            return;
    }
}

static const struct al_json *answer(struct check *c, const struct al_buf *sql)
{
    const struct al_json *all = NULL;
    struct al_err err = {0};
    must(&c->w->q, sql->p);
    assert_int_equal(al_json_parse(&c->w->q.arena, al_buf_str(&c->w->q.bytes), &all, &err), 0);
    return al_json_get(all, "rows")->child->child;
}

/* The rows that count and those without a key are all rows; what is shown and Other are the whole. */
static void check_counts(struct check *c)
{
    autobuf struct al_buf sql = AL_BUF_INIT(1 << 20);
    struct al_sql_where where = {.out = &sql};
    const struct al_result *r = c->r;
    double all;
    al_buf_adds(&sql, "SELECT count(*) FROM data_values");
    al_sql_rows(&c->w->d, c->x, &where);
    al_buf_addc(&sql, '\0');
    assert_true(al_json_double(answer(c, &sql), &all));
    if (all != (double)(r->rows + r->left_out))
        fail_msg("%s: %g rows, not %llu and %llu left out", c->sql, all, (unsigned long long)r->rows,
                 (unsigned long long)r->left_out);
    if (c->x->latest) {
        al_buf_clear(&sql);
        al_buf_adds(&sql, "SELECT max(");
        al_sql_key(&c->w->d, c->x->clock, al_clock_bucket(&c->w->d, c->x), &sql);
        al_buf_adds(&sql, ") FROM data_values");
        where.any = false;
        al_sql_rows(&c->w->d, c->x, &where);
        al_buf_addc(&sql, '\0');
        const struct al_json *key = answer(c, &sql);
        if (key->type == AL_JSON_NULL ? r->period.n > 0 : !same_key(r->period, key))
            fail_msg("%s\nis of %.*s, not %.*s", c->sql, AL_FMT(r->period), AL_FMT(key->raw));
    }
    ptrdiff_t end = al_str_find(al_str_of(c->sql), AL_STR("\nORDER BY 2 DESC"));
    if (!r->has_other || c->x->order != AL_ORDER_VALUE || c->x->by >= 0)
        return;
    double own = 0;
    for (size_t i = 0; i < r->n_labels; i++)
        own += r->values[i];
    al_buf_clear(&sql);
    al_buf_addf(&sql, "SELECT total(value), count(*) FROM (%.*s)", (int)end, c->sql);
    al_buf_addc(&sql, '\0');
    const struct al_json *v = answer(c, &sql);
    assert_true(al_json_double(v, &all) && fabs(own - all) <= 1e-12 * all);
    assert_true(al_json_double(v->next, &all) && all == (double)r->groups);
}

void dash_check(struct dash_world *w)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)4 << 20);
    for (size_t i = 0; i < w->d.plan.n_widgets; i++) {
        struct check c = {w, &w->d.plan.widgets[i], &w->d.results[i], NULL, NULL};
        c.sql = sql_of(w, c.x, &sql);
        int r = ask(&w->q, c.sql);
        if (r < 0 && !(c.r->failed && strstr(w->q.err.msg, "integer overflow")))
            fail_msg("%s\n%s (%s)", c.sql, w->q.err.msg, w->q.err.hint);
        if (c.r->failed) {
            if (r == 0 && !strstr(c.r->failed, "periods"))
                fail_msg("%s\n%s", c.sql, c.r->failed);
            continue;
        }
        const struct al_json *all = NULL;
        struct al_err err = {0};
        if (al_json_parse(&w->q.arena, al_buf_str(&w->q.bytes), &all, &err) < 0)
            fail_msg("%s: %.*s", err.msg, AL_FMT(al_buf_str(&w->q.bytes)));
        c.rows = al_json_get(all, "rows");
        if (c.x->type == AL_W_TABLE)
            check_table(&c);
        else if (c.x->type == AL_W_SCATTER)
            check_points(&c);
        else if (c.x->type == AL_W_KPI)
            check_kpi(&c);
        else if (c.x->by >= 0)
            check_cross(&c);
        else
            check_series(&c);
        if (c.x->type != AL_W_TABLE && c.x->type != AL_W_SCATTER)
            check_counts(&c);
        if (c.x->type != AL_W_TABLE && c.x->type != AL_W_SCATTER && c.x->type != AL_W_KPI &&
            is_time(&c, c.x->dimension))
            check_periods(&c);
    }
}

/* --- the cube --- */

struct whole { /* of one label and series, over all chips */
    double sum, over, min, max, size, over_size;
    uint64_t n;
};

static double value_of(enum al_agg agg, const struct whole *t)
{
    switch (agg) {
    case AL_AGG_COUNT:
        return (double)t->n;
    case AL_AGG_AVG:
        return t->sum / (double)t->n;
    case AL_AGG_MIN:
        return t->min;
    case AL_AGG_MAX:
        return t->max;
    case AL_AGG_RATIO:
        return t->over != 0 ? t->sum / t->over : NAN;
    default:
        return t->sum;
    }
}

static void check_whole(const struct al_widget *x, const struct whole *t, double value, const char *what)
{
    double own = value_of(al_widget_agg(x), t);
    if (isnan(value) || isnan(own) || isinf(own))
        return;
    double scale = t->size;
    if (x->agg == AL_AGG_AVG)
        scale /= (double)t->n;
    if (x->agg == AL_AGG_RATIO) /* what the plain sums here lose below the line, too */
        scale = t->size / fabs(t->over) + fabs(own) * t->over_size / fabs(t->over);
    if (fabs(own - value) > 1e-9 * scale + 1e-12)
        fail_msg("the cube's %s (%s) is %.17g, not %.17g", what, al_agg_name(x->agg), own, value);
}

static size_t key_at(const struct al_str *keys, size_t n, struct al_str key)
{
    for (size_t i = 0; i < n; i++)
        if (al_str_eq(keys[i], key))
            return i;
    return n;
}

static void check_widget_cube(struct dash_world *w, size_t i)
{
    const struct al_cube *cube = w->d.cube;
    const struct al_cube_widget *c = &cube->widgets[i];
    const struct al_widget *x = &w->d.plan.widgets[i];
    const struct al_result *r = &w->d.results[i];
    size_t n_series = c->n_series ? c->n_series : 1, n_labels = c->n_labels ? c->n_labels : 1;
    autofree struct whole *all = al_xcalloc(n_labels * n_series, sizeof *all);
    for (size_t k = 0; k < c->n_cells; k++) {
        const struct al_cube_cell *cell = &c->cells[k];
        assert_true(cell->label < n_labels && cell->series < n_series && cell->n > 0);
        for (size_t chip = 0; chip < cube->n_chips; chip++)
            assert_true(cell->chip[chip] < cube->n_values[chip]);
        if (k) {
            const struct al_cube_cell *b = &c->cells[k - 1];
            int order = memcmp(b->chip, cell->chip, sizeof b->chip);
            assert_true(order < 0 || (order == 0 && (b->label < cell->label ||
                                                     (b->label == cell->label && b->series < cell->series))));
        }
        struct whole *t = &all[cell->series * n_labels + cell->label];
        t->min = t->n && t->min < cell->min ? t->min : cell->min;
        t->max = t->n && t->max > cell->max ? t->max : cell->max;
        t->n += cell->n;
        t->sum += cell->sum;
        t->over += cell->over;
        t->size += fabs(cell->sum);
        t->over_size += fabs(cell->over);
    }
    if (x->type == AL_W_KPI)
        check_whole(x, &all[0], al_dash_cell_double(&r->value), "key figure");
    for (size_t s = 0; s < r->n_series && x->type != AL_W_KPI; s++)
        for (size_t l = 0; l + r->has_other < r->n_labels; l++) {
            double value = r->values[s * r->n_labels + l];
            size_t at = key_at(c->labels, c->n_labels, r->labels[l]);
            size_t row = x->by < 0 ? 0 : key_at(c->series, c->n_series, r->series[s]);
            if (isnan(value))
                continue;
            if (at == c->n_labels || row == n_series)
                fail_msg("the cube does not know %.*s", AL_FMT(r->labels[l]));
            check_whole(x, &all[row * n_labels + at], value, "value");
        }
}

void dash_check_cube(struct dash_world *w)
{
    const struct al_cube *cube = w->d.cube;
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)4 << 20);
    size_t n = 0;
    if (!cube)
        return;
    assert_true(cube->n_chips > 0 && cube->n_chips <= w->d.plan.n_chips && cube->n_cells <= AL_DASH_CELLS);
    for (size_t i = 0; i < w->d.plan.n_widgets; i++) {
        n += cube->widgets[i].n_cells;
        if (getenv("ALISIO_DASH_SHOW"))
            print_message("%s\n", sql_of(w, &w->d.plan.widgets[i], &sql));
        if (cube->widgets[i].there)
            check_widget_cube(w, i);
    }
    assert_int_equal(cube->n_cells, n + cube->rows.n_cells);
    al_buf_clear(&sql);
    al_buf_adds(&sql, "SELECT count(*) FROM data_values ");
    al_sql_where(&w->d, &sql);
    al_buf_addc(&sql, '\0');
    must(&w->q, sql.p);
    uint64_t rows = 0;
    for (size_t i = 0; i < cube->rows.n_cells; i++)
        rows += cube->rows.cells[i].n;
    char z[64];
    snprintf(z, sizeof z, "\n[%llu]", (unsigned long long)rows);
    assert_true(al_str_find(al_buf_str(&w->q.bytes), al_str_of(z)) > 0);
}
