/* What a dataset says of its columns: read from its own tables. The file is not trusted: each count, number
 * and text is bounded here, and only names that its view really has go on. */
#include "dashboard/dashboard_int.h"

#include "base/mem.h"
#include "base/text.h"
#include "dashboard/profile_int.h"
#include "dataset/cell.h"
#include "dataset/dataset.h"
#include "dataset/pattern.h"

#include <math.h>
#include <sqlite3.h>

#define MAX_ROWS ((uint64_t)1 << 40)
#define NAME_BYTES 512
#define LABEL_BYTES 2048
#define TOP_BYTES 256
#define WHOLE_DISTINCT 400
#define TERMS 3
#define MAX_LOOKS 600 /* columns; a result has at most 2,000 */
#define TOP_JSON ((size_t)64 << 10)
#define FOLD_BYTES 8192 /* of a folded name or label */

struct reader {
    struct sqlite3 *db;
    struct al_arena *arena;
    struct al_dash_catalog *c;
    struct al_err *err;
};

static int no_memory(struct reader *r)
{
    return al_fail(r->err, AL_QUERY_LIMIT, "the dashboard needs more memory than it may have");
}

/* SQLite's word for what went wrong; of a statement over the dataset's own tables: the file is damaged. */
static int damaged(struct reader *r, const char *what)
{
    int rc = sqlite3_errcode(r->db) & 0xff;
    if (rc == SQLITE_NOMEM)
        return no_memory(r);
    if (rc == SQLITE_INTERRUPT)
        return al_fail(r->err, AL_QUERY_TIMEOUT,
                       "reading what the dataset says of its columns took too long");
    al_fail(r->err, AL_QUERY_ERROR, "the dataset is damaged: %s", what);
    return al_hint(r->err, "inspect the source file anew with data_inspect");
}

static int prepare(struct reader *r, const char *sql, sqlite3_stmt **ret)
{
    if (sqlite3_prepare_v2(r->db, sql, -1, ret, NULL) == SQLITE_OK && *ret)
        return 0;
    return damaged(r, "its tables of sheets and columns cannot be read");
}

/* 0 when every row was read. */
static int finalize(struct reader *r, sqlite3_stmt *s)
{
    return sqlite3_finalize(s) == SQLITE_OK ? 0
                                            : damaged(r, "its tables of sheets and columns cannot be read");
}

/* Whatever a cell is, as text; "" for NULL and blobs. A view until the next step. */
static struct al_str raw_text(sqlite3_stmt *s, int i)
{
    int type = sqlite3_column_type(s, i);
    if (type == SQLITE_NULL || type == SQLITE_BLOB)
        return AL_STR("");
    const char *p = (const char *)sqlite3_column_text(s, i);
    return p ? (struct al_str){p, (size_t)sqlite3_column_bytes(s, i)} : AL_STR("");
}

/* Valid UTF-8 without NUL, at most max bytes, in the arena; "" when there is no memory left, too. */
static struct al_str keep(struct reader *r, struct al_str s, size_t max)
{
    autobuf struct al_buf clean = AL_BUF_INIT(max * 3 + 3);
    al_utf8_clean(&clean, al_utf8_cut(s, max));
    for (size_t i = 0; i < clean.n; i++)
        if (!clean.p[i])
            clean.p[i] = ' ';
    char *p = al_arena_dup(r->arena, al_buf_str(&clean));
    return p ? (struct al_str){p, clean.n} : AL_STR("");
}

static uint64_t count_of(sqlite3_stmt *s, int i, uint64_t max)
{
    if (sqlite3_column_type(s, i) != SQLITE_INTEGER)
        return 0;
    int64_t n = sqlite3_column_int64(s, i);
    return n < 0 ? 0 : (uint64_t)n > max ? max : (uint64_t)n;
}

/* A statistic that is stored as text or as a number. */
static bool number_of(sqlite3_stmt *s, int i, double *ret)
{
    int type = sqlite3_column_type(s, i);
    if (type == SQLITE_TEXT) {
        struct al_value v;
        unsigned decimals;
        bool zeros;
        if (!al_cell_number(raw_text(s, i), true, &v, &decimals, &zeros))
            return false;
        *ret = v.type == AL_VALUE_INT ? (double)v.i : v.d;
        return isfinite(*ret);
    }
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return false;
    *ret = sqlite3_column_double(s, i);
    return isfinite(*ret);
}

/* A name goes into SQL between quotes and into JSON: it must be a text that stays what it is. */
static bool name_holds(struct al_str s)
{
    return s.n && s.n <= NAME_BYTES && !memchr(s.p, 0, s.n) && al_utf8_valid(s);
}

/* --- sheets --- */

static bool sheet_is(struct al_str asked, struct al_str name, struct al_str table)
{
    return al_str_eq(asked, name) || al_str_eq(asked, table);
}

static int no_such_sheet(struct reader *r, struct al_str asked, const struct al_buf *names)
{
    autobuf struct al_buf shown = AL_BUF_INIT(1024);
    al_text_plain(&shown, al_utf8_cut(asked, 100), false);
    if (!asked.n)
        return al_fail(r->err, AL_NOT_FOUND, "the dataset has no sheet");
    al_fail(r->err, AL_NOT_FOUND, "the dataset has no sheet \"%.*s\"", AL_FMT(al_buf_str(&shown)));
    return al_hint(r->err, "its sheets: %.*s%s", AL_FMT(al_buf_str(names)),
                   al_buf_failed(names) ? ", …" : "");
}

static int take_sheet(struct reader *r, sqlite3_stmt *s)
{
    struct al_dash_catalog *c = r->c;
    if (!name_holds(raw_text(s, 1)))
        return damaged(r, "the name of a table is no name");
    c->sheet = keep(r, raw_text(s, 0), LABEL_BYTES);
    c->table = keep(r, raw_text(s, 1), NAME_BYTES);
    c->view = name_holds(raw_text(s, 2)) ? keep(r, raw_text(s, 2), NAME_BYTES) : c->table;
    c->rows = count_of(s, 3, MAX_ROWS);
    c->source = keep(r, raw_text(s, 4), NAME_BYTES);
    return c->table.n && c->view.n ? 0 : no_memory(r);
}

/* The sheet that was asked for; without one the first with rows, else the first. */
static int find_sheet(struct reader *r, struct al_str asked)
{
    autobuf struct al_buf names = AL_BUF_INIT(300);
    sqlite3_stmt *s = NULL;
    int rc = 0;
    if (prepare(r,
                "SELECT name, table_name, values_name, rows,"
                " (SELECT value FROM main._alisio_meta WHERE key = 'source_name')"
                " FROM main._alisio_sheets ORDER BY ordinal LIMIT 256",
                &s) < 0)
        return -1;
    while (rc == 0 && sqlite3_step(s) == SQLITE_ROW) {
        bool better = asked.n ? !r->c->table.n && sheet_is(asked, raw_text(s, 0), raw_text(s, 1))
                              : !r->c->table.n || (!r->c->rows && count_of(s, 3, MAX_ROWS));
        autobuf struct al_buf name = AL_BUF_INIT(256);
        al_text_plain(&name, al_utf8_cut(raw_text(s, 0), 60), false);
        al_buf_addf(&names, "%s%.*s", names.n ? ", " : "", AL_FMT(al_buf_str(&name)));
        r->c->n_sheets++;
        if (better)
            rc = take_sheet(r, s);
    }
    if (rc < 0) {
        sqlite3_finalize(s);
        return -1;
    }
    if (finalize(r, s) < 0)
        return -1;
    return r->c->table.n ? 0 : no_such_sheet(r, asked, &names);
}

/* --- columns --- */

static struct al_str type_of(struct al_str s)
{
    static const char *const types[] = {"integer", "real", "date", "boolean"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (al_str_is(s, types[i]))
            return al_str_of(types[i]);
    return AL_STR("text");
}

static struct al_str pattern_of(struct al_str s)
{
    for (int p = AL_PATTERN_NONE + 1; p < AL_PATTERN_COUNT; p++)
        if (al_str_is(s, al_pattern_id((enum al_pattern)p)))
            return al_str_of(al_pattern_id((enum al_pattern)p));
    return AL_STR("");
}

static void read_top(struct reader *r, struct al_str text, struct al_dash_column *col)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)1 << 20);
    const struct al_json *top = NULL;
    if (text.n > TOP_JSON || al_json_parse(&a, text, &top, NULL) < 0 || top->type != AL_JSON_ARRAY)
        return;
    al_json_each(it, top)
    {
        const struct al_json *value = al_json_get(it, "value");
        if (!value || value->n || col->n_top == sizeof col->top / sizeof *col->top)
            break;
        struct al_str t = al_json_is_string(value) ? value->str : value->raw;
        int64_t count;
        if (al_json_int(al_json_get(it, "count"), 0, (int64_t)MAX_ROWS, &count))
            col->top_count[col->n_top] = (uint64_t)count;
        col->top[col->n_top++] = keep(r, t, TOP_BYTES);
    }
}

static void set_time(char to[32], struct al_str iso)
{
    *to = 0;
    if (iso.n < 32 && al_pattern_is_iso(iso)) {
        memcpy(to, iso.p, iso.n);
        to[iso.n] = 0;
    }
}

/* A text column that is nearly all numbers, with "-" or "n/a" between: those numbers count. */
static bool mostly_numbers(const struct al_dash_catalog *c, const struct al_dash_column *col)
{
    uint64_t filled = c->rows - col->nulls;
    return !col->parsed_as.n && col->text_fallbacks <= filled &&
           (double)(filled - col->text_fallbacks) >= 0.8 * (double)filled;
}

static bool year_text(struct al_str s, double *ret)
{
    int64_t year;
    if (s.n != 4 || !al_parse_int(s, 1000, 2999, &year))
        return false;
    *ret = (double)year;
    return true;
}

/* Years as texts ("1955" of a JSON file): least and largest are years, and what is frequent. */
static bool read_text_years(sqlite3_stmt *s, struct al_dash_column *col)
{
    double min, max, other;
    if (sqlite3_column_type(s, 8) != SQLITE_NULL || col->max_length != 4)
        return false;
    bool all = year_text(raw_text(s, 6), &min) && year_text(raw_text(s, 7), &max) && min <= max;
    for (size_t i = 0; i < col->n_top && all; i++)
        all = year_text(col->top[i], &other);
    if (!all)
        return false;
    col->min = min;
    col->max = max;
    return col->integers = col->has_range = true;
}

static void read_range(const struct al_dash_catalog *c, sqlite3_stmt *s, struct al_dash_column *col)
{
    bool text = al_str_is(col->type, "text");
    if (al_str_is(col->type, "date")) {
        set_time(col->first, raw_text(s, 6));
        set_time(col->last, raw_text(s, 7));
        return;
    }
    if (al_str_is(col->type, "boolean") || (text && (read_text_years(s, col) || !mostly_numbers(c, col))))
        return;
    col->has_range = number_of(s, 6, &col->min) && number_of(s, 7, &col->max) &&
                     number_of(s, 8, &col->mean) && col->min <= col->max;
    if (!col->has_range)
        col->min = col->max = col->mean = 0;
}

static int read_column(struct reader *r, sqlite3_stmt *s)
{
    struct al_dash_catalog *c = r->c;
    struct al_dash_column *col = &c->columns[c->n];
    if (!name_holds(raw_text(s, 0)))
        return damaged(r, "the name of a column is no name");
    *col = (struct al_dash_column){.scale = -1};
    col->name = keep(r, raw_text(s, 0), NAME_BYTES);
    col->label = keep(r, raw_text(s, 1), LABEL_BYTES);
    col->type = type_of(raw_text(s, 2));
    col->nulls = count_of(s, 3, c->rows);
    col->distinct = count_of(s, 4, c->rows - col->nulls);
    col->distinct_exact = count_of(s, 5, 1);
    col->text_fallbacks = count_of(s, 9, c->rows);
    col->parsed_as = pattern_of(raw_text(s, 10));
    col->parsed_nulls = count_of(s, 11, c->rows);
    if (sqlite3_column_type(s, 12) == SQLITE_INTEGER && count_of(s, 12, 16) <= 15)
        col->scale = (int)count_of(s, 12, 15);
    col->max_length = count_of(s, 13, UINT32_MAX);
    col->integers = al_str_is(col->type, "integer");
    read_top(r, raw_text(s, 14), col);
    read_range(c, s, col);
    if (!col->name.n)
        return no_memory(r);
    c->n++;
    return 0;
}

static int read_columns(struct reader *r)
{
    sqlite3_stmt *s = NULL;
    int rc = 0;
    r->c->columns = al_arena_alloc(r->arena, AL_TABLE_MAX_COLUMNS * sizeof *r->c->columns);
    if (!r->c->columns)
        return no_memory(r);
    if (prepare(r,
                "SELECT name, label, inferred_type, nulls, distinct_count, distinct_exact, min, max, mean,"
                " text_fallbacks, parsed_as, parsed_nulls, scale, max_length, top_values"
                " FROM main._alisio_columns WHERE table_name = ?1 ORDER BY ordinal LIMIT 1000",
                &s) < 0)
        return -1;
    sqlite3_bind_text64(s, 1, r->c->table.p, r->c->table.n, SQLITE_STATIC, SQLITE_UTF8);
    while (rc == 0 && r->c->n < AL_TABLE_MAX_COLUMNS && sqlite3_step(s) == SQLITE_ROW)
        rc = read_column(r, s);
    if (rc < 0) {
        sqlite3_finalize(s);
        return -1;
    }
    return finalize(r, s);
}

/* --- what the view has --- */

static int add_name(struct al_buf *sql, struct al_str name)
{
    char *quoted = sqlite3_mprintf("\"%w\"", name.p);
    al_buf_adds(sql, quoted ? quoted : "");
    bool there = quoted;
    sqlite3_free(quoted);
    return there ? 0 : -1;
}

/* In one sheet no two columns may answer to one name, and each must be in the view. */
static int check_names(struct reader *r)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)1 << 20);
    sqlite3_stmt *s = NULL;
    al_buf_adds(&sql, "SELECT * FROM main.");
    if (add_name(&sql, r->c->view) < 0)
        return no_memory(r);
    al_buf_adds(&sql, " LIMIT 0");
    al_buf_addc(&sql, 0);
    if (al_buf_failed(&sql) || sqlite3_prepare_v2(r->db, sql.p, -1, &s, NULL) != SQLITE_OK || !s)
        return damaged(r, "the view of its values cannot be read");
    int n = sqlite3_column_count(s), at = 0, rc = 0;
    /* The builder wrote both in one order; whatever is out of it is not from the builder. */
    for (size_t i = 0; i < r->c->n && rc == 0; i++) {
        const char *name = NULL;
        while (at < n && (name = sqlite3_column_name(s, at++)) && !al_str_is(r->c->columns[i].name, name))
            name = NULL;
        if (!name)
            rc = damaged(r, "its list of columns names one that the values do not have");
    }
    sqlite3_finalize(s);
    return rc;
}

/* --- what the statistics do not know in its converted form --- */

static bool is_date_pattern(const struct al_dash_column *col)
{
    for (int p = AL_PATTERN_NONE + 1; p < AL_PATTERN_COUNT; p++)
        if (al_str_is(col->parsed_as, al_pattern_id((enum al_pattern)p)))
            return al_pattern_is_date((enum al_pattern)p) || p == AL_PATTERN_EPOCH_SECONDS;
    return false;
}

/* Programs that write tables with gaps write whole numbers as 3.0: worth a look where flags, years and codes
 * could be. */
static bool may_be_whole(const struct al_dash_column *col)
{
    return al_str_is(col->type, "real") && !col->parsed_as.n && col->has_range && !col->text_fallbacks &&
           col->min == floor(col->min) && col->max == floor(col->max) && fabs(col->min) < 1e9 &&
           fabs(col->max) < 1e9 && col->distinct <= WHOLE_DISTINCT;
}

static bool is_plain_pattern(const struct al_dash_column *col)
{
    return al_str_is(col->parsed_as, al_pattern_id(AL_PATTERN_DECIMAL_COMMA)) ||
           al_str_is(col->parsed_as, al_pattern_id(AL_PATTERN_DECIMAL_POINT));
}

/* Three terms for each column: least, largest, and whether there is a number that is not whole, where that
 * matters. In a converted column all that is not NULL is of one kind: no look at types, which would cost as
 * much again. */
static void add_terms(struct al_buf *sql, const struct al_dash_column *col)
{
    bool range = col->parsed_as.n, whole = may_be_whole(col) || is_plain_pattern(col);
    char *name = sqlite3_mprintf("\"%w\"", col->name.p);
    char *terms = !name   ? NULL
                  : range ? sqlite3_mprintf("min(%s),max(%s)", name, name)
                          : sqlite3_mprintf("NULL,NULL");
    char *third =
        !name   ? NULL
        : whole ? sqlite3_mprintf("max(%s<>round(%s)) FILTER (WHERE typeof(%s)<>'text')", name, name, name)
                : sqlite3_mprintf("NULL");
    if (terms && third)
        al_buf_addf(sql, "%s%s,%s", al_str_is(al_buf_str(sql), "SELECT ") ? "" : ",", terms, third);
    else
        sql->failed = true;
    sqlite3_free(name);
    sqlite3_free(terms);
    sqlite3_free(third);
}

static bool needs_values(const struct al_dash_column *col)
{
    return col->parsed_as.n || may_be_whole(col);
}

static void take_values(sqlite3_stmt *s, int at, struct al_dash_column *col)
{
    if (is_date_pattern(col)) {
        set_time(col->first, raw_text(s, at));
        set_time(col->last, raw_text(s, at + 1));
        col->has_range = false;
        return;
    }
    col->integers = sqlite3_column_type(s, at + 2) == SQLITE_INTEGER && sqlite3_column_int(s, at + 2) == 0;
    if (!col->parsed_as.n)
        return;
    bool numbers = sqlite3_column_type(s, at) != SQLITE_TEXT && sqlite3_column_type(s, at + 1) != SQLITE_TEXT;
    col->has_range =
        numbers && number_of(s, at, &col->min) && number_of(s, at + 1, &col->max) && col->min <= col->max;
    col->mean = 0;
    if (!col->has_range)
        col->min = col->max = 0;
}

static int read_values(struct reader *r)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)1 << 20);
    sqlite3_stmt *s = NULL;
    struct al_dash_catalog *c = r->c;
    size_t n = 0;
    al_buf_adds(&sql, "SELECT ");
    for (size_t i = 0; i < c->n && n < MAX_LOOKS; i++)
        if (needs_values(&c->columns[i])) {
            add_terms(&sql, &c->columns[i]);
            n++;
        }
    if (!n || !c->rows)
        return 0;
    al_buf_adds(&sql, " FROM main.");
    (void)add_name(&sql, c->view);
    al_buf_addc(&sql, 0);
    if (al_buf_failed(&sql))
        return no_memory(r);
    if (sqlite3_prepare_v2(r->db, sql.p, -1, &s, NULL) != SQLITE_OK)
        return damaged(r, "the view of its values cannot be read");
    if (sqlite3_step(s) == SQLITE_ROW) {
        int at = 0;
        for (size_t i = 0; i < c->n && at < (int)n * TERMS; i++)
            if (needs_values(&c->columns[i])) {
                take_values(s, at, &c->columns[i]);
                at += TERMS;
            }
    }
    return sqlite3_finalize(s) == SQLITE_OK ? 0 : damaged(r, "its values cannot be read");
}

/* --- columns by their names --- */

static struct al_str fold(struct al_arena *arena, struct al_str s)
{
    autobuf struct al_buf out = AL_BUF_INIT(FOLD_BYTES);
    al_fold(&out, al_str_trim(s));
    char *p = al_buf_failed(&out) ? NULL : al_arena_dup(arena, al_buf_str(&out));
    return p ? (struct al_str){p, out.n} : AL_STR("");
}

/* Once: a plan may name thousands of columns that there are not. */
static int fold_names(struct reader *r)
{
    struct al_dash_catalog *c = r->c;
    c->folds = al_arena_alloc(r->arena, (c->n + 1) * sizeof *c->folds);
    for (size_t i = 0; i < c->n && c->folds; i++) {
        c->folds[i].name = fold(r->arena, c->columns[i].name);
        c->folds[i].label = fold(r->arena, c->columns[i].label);
    }
    return c->folds ? 0 : no_memory(r);
}

int al_dash_catalog_read(struct sqlite3 *db, struct al_str sheet, struct al_arena *arena,
                         struct al_dash_catalog *ret, struct al_err *err)
{
    struct reader r = {db, arena, ret, err};
    *ret = (struct al_dash_catalog){0};
    if (find_sheet(&r, sheet) < 0 || read_columns(&r) < 0 || check_names(&r) < 0 || read_values(&r) < 0 ||
        fold_names(&r) < 0)
        return -1;
    return 0;
}

static bool is_fold(const struct al_dash_catalog *c, size_t i, bool label, struct al_str asked)
{
    if (c->folds)
        return al_str_eq(label ? c->folds[i].label : c->folds[i].name, asked);
    autobuf struct al_buf own = AL_BUF_INIT(FOLD_BYTES);
    al_fold(&own, al_str_trim(label ? c->columns[i].label : c->columns[i].name));
    return al_str_eq(al_buf_str(&own), asked);
}

int al_dash_catalog_find(const struct al_dash_catalog *c, struct al_str name)
{
    autobuf struct al_buf asked = AL_BUF_INIT(FOLD_BYTES);
    for (size_t i = 0; i < c->n; i++)
        if (al_str_eq(c->columns[i].name, name))
            return (int)i;
    for (size_t i = 0; i < c->n; i++)
        if (al_str_eq(c->columns[i].label, name))
            return (int)i;
    al_fold(&asked, al_str_trim(name));
    if (!asked.n || al_buf_failed(&asked))
        return -1;
    for (int label = 0; label < 2; label++)
        for (size_t i = 0; i < c->n; i++)
            if (is_fold(c, i, label, al_buf_str(&asked)))
                return (int)i;
    return -1;
}
