/* What a dataset says of itself. The file is not trusted: whatever its tables hold, the answer is bounded
 * JSON or an error, and nothing of the file runs for long. */
#include "dataset/dataset.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "dataset/cell.h"
#include "dataset/stats.h"

#include <math.h>
#include <sqlite3.h>

#define VALUE_MAX ((int)16 << 20)
#define STEPS 10000
#define STEPS_MAX 20000 /* times STEPS instructions of SQLite's machine: about two seconds */
#define NAME_TEXT 1024
#define OPTIONS_TEXT ((size_t)16 << 10)
#define JSON_TEXT ((size_t)64 << 10)
#define NOTES_MAX 2000
#define SAMPLE_MAX 20

struct describe {
    sqlite3 *db;
    struct al_jw w;
    unsigned steps;
    struct al_str only; /* the sheet that was asked for, or "" */
    int sample_rows;
};

static int count_steps(void *ud)
{
    return ++((struct describe *)ud)->steps > STEPS_MAX;
}

static int damaged(struct describe *d, int rc, struct al_err *err)
{
    if ((rc & 0xff) == SQLITE_INTERRUPT)
        al_fail(err, AL_INGEST_INVALID, "the dataset file is damaged: its tables cannot be read in time");
    else
        al_fail(err, AL_INGEST_INVALID, "the dataset file is damaged");
    al_hint(err, "inspect the source file anew");
    return al_detail(err, "%s", sqlite3_errmsg(d->db));
}

static int prepare(struct describe *d, const char *sql, sqlite3_stmt **ret, struct al_err *err)
{
    int rc = sqlite3_prepare_v2(d->db, sql, -1, ret, NULL);
    return rc == SQLITE_OK ? 0 : damaged(d, rc, err);
}

/* 0 when every row was read. */
static int finalize(struct describe *d, sqlite3_stmt *s, struct al_err *err)
{
    int rc = sqlite3_finalize(s);
    return rc == SQLITE_OK ? 0 : damaged(d, rc, err);
}

static struct al_str text_of(sqlite3_stmt *s, int i)
{
    const char *p = (const char *)sqlite3_column_text(s, i);
    return p ? (struct al_str){p, (size_t)sqlite3_column_bytes(s, i)} : AL_STR("");
}

static void put_cut(struct al_jw *w, struct al_str s, size_t max)
{
    if (s.n <= max) {
        al_jw_str(w, s);
        return;
    }
    autobuf struct al_buf text = AL_BUF_INIT(max + 4);
    al_buf_add_str(&text, al_utf8_cut(s, max));
    al_buf_adds(&text, "…");
    al_jw_str(w, al_buf_str(&text));
}

static void put_text(struct al_jw *w, const char *key, sqlite3_stmt *s, int i)
{
    al_jw_key(w, key);
    if (sqlite3_column_type(s, i) == SQLITE_NULL)
        al_jw_null(w);
    else
        put_cut(w, text_of(s, i), NAME_TEXT);
}

/* A count: what is none is 0. */
static int64_t count_of(sqlite3_stmt *s, int i)
{
    int64_t n = sqlite3_column_int64(s, i);
    return n < 0 ? 0 : n;
}

/* JavaScript's integers end at 2^53: beyond it a number is a text. */
static void put_int(struct al_jw *w, int64_t v)
{
    const int64_t safe = ((int64_t)1 << 53) - 1;
    autobuf struct al_buf text = AL_BUF_INIT(32);
    if (v >= -safe && v <= safe) {
        al_jw_int(w, v);
        return;
    }
    al_buf_addf(&text, "%lld", (long long)v);
    al_jw_str(w, al_buf_str(&text));
}

static void put_double(struct al_jw *w, double v, int scale)
{
    autobuf struct al_buf text = AL_BUF_INIT(512);
    al_cell_print(v, scale, &text);
    if (isfinite(v) && !al_buf_failed(&text))
        al_jw_raw(w, al_buf_str(&text));
    else
        al_jw_null(w);
}

static void put_real(struct al_jw *w, const char *key, sqlite3_stmt *s, int i)
{
    al_jw_key(w, key);
    if (sqlite3_column_type(s, i) == SQLITE_NULL)
        al_jw_null(w);
    else
        al_jw_double(w, sqlite3_column_double(s, i));
}

static void put_cell(struct al_jw *w, sqlite3_stmt *s, int i, int scale, size_t max)
{
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        put_int(w, sqlite3_column_int64(s, i));
        break;
    case SQLITE_FLOAT:
        put_double(w, sqlite3_column_double(s, i), scale);
        break;
    case SQLITE_TEXT:
        put_cut(w, text_of(s, i), max);
        break;
    case SQLITE_BLOB: {
        autobuf struct al_buf text = AL_BUF_INIT(64);
        al_buf_addf(&text, "(%d bytes)", sqlite3_column_bytes(s, i));
        al_jw_str(w, al_buf_str(&text));
        break;
    }
    default:
        al_jw_null(w);
        break;
    }
}

/* min and max: numbers in a column that has numbers. */
static void put_bound(struct al_jw *w, const char *key, sqlite3_stmt *s, int i, bool numeric)
{
    struct al_value v;
    unsigned decimals;
    bool zeros;
    struct al_str text = text_of(s, i);
    al_jw_key(w, key);
    if (sqlite3_column_type(s, i) == SQLITE_NULL)
        al_jw_null(w);
    else if (numeric && al_cell_number(text, true, &v, &decimals, &zeros))
        al_jw_raw(w, text);
    else
        put_cut(w, text, NAME_TEXT);
}

static const struct al_json *parse(struct al_arena *a, struct al_str text)
{
    const struct al_json *v = NULL;
    if (text.n > JSON_TEXT || al_json_parse(a, text, &v, NULL) < 0)
        return NULL;
    return v;
}

static void put_top(struct al_jw *w, struct al_str text)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)1 << 20);
    const struct al_json *top = parse(&a, text);
    int n = 0;
    al_jw_key(w, "top");
    al_jw_arr(w);
    al_json_each(it, top)
    {
        const struct al_json *value = al_json_get(it, "value");
        int64_t count;
        if (top->type != AL_JSON_ARRAY || n == AL_STATS_TOP || !value || value->n ||
            !al_json_int(al_json_get(it, "count"), 0, INT64_MAX, &count))
            break;
        n++;
        al_jw_obj(w);
        al_jw_key(w, "value");
        if (al_json_is_string(value))
            put_cut(w, value->str, NAME_TEXT);
        else
            al_jw_value(w, value);
        al_jw_kint(w, "count", count);
        al_jw_end(w);
    }
    al_jw_end(w);
}

/* An array of at most n numbers. */
static void put_numbers(struct al_jw *w, const char *key, struct al_str text, int n)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)1 << 20);
    const struct al_json *v = parse(&a, text);
    al_jw_key(w, key);
    al_jw_arr(w);
    al_json_each(it, v)
    {
        if (v->type != AL_JSON_ARRAY || n-- == 0)
            break;
        if (it->type == AL_JSON_NUMBER && it->raw.n < 64)
            al_jw_value(w, it);
    }
    al_jw_end(w);
}

static void put_column(struct al_jw *w, sqlite3_stmt *s)
{
    bool numeric = sqlite3_column_type(s, 9) != SQLITE_NULL;
    al_jw_obj(w);
    put_text(w, "name", s, 0);
    put_text(w, "label", s, 1);
    put_text(w, "type", s, 2);
    al_jw_kint(w, "nulls", count_of(s, 3));
    al_jw_kint(w, "distinct", count_of(s, 4));
    al_jw_kbool(w, "distinctExact", sqlite3_column_int(s, 5) != 0);
    put_bound(w, "min", s, 6, numeric);
    put_bound(w, "max", s, 7, numeric);
    put_real(w, "mean", s, 9);
    put_real(w, "stddev", s, 10);
    if (sqlite3_column_type(s, 11) != SQLITE_NULL)
        put_numbers(w, "quartiles", text_of(s, 11), 3);
    al_jw_kint(w, "textFallbacks", count_of(s, 8));
    if (sqlite3_column_type(s, 12) != SQLITE_NULL)
        al_jw_kint(w, "scale", count_of(s, 12) > 22 ? 22 : count_of(s, 12));
    if (sqlite3_column_type(s, 13) != SQLITE_NULL) {
        put_text(w, "parsedAs", s, 13);
        al_jw_kint(w, "parsedNulls", count_of(s, 14));
    }
    if (sqlite3_column_type(s, 15) != SQLITE_NULL) {
        al_jw_kint(w, "minLength", count_of(s, 15));
        al_jw_kint(w, "maxLength", count_of(s, 16));
    }
    put_top(w, text_of(s, 17));
    al_jw_end(w);
}

/* The columns of a table; names and scales are for the sample. */
struct columns {
    struct al_buf list; /* quoted names, comma between */
    int *scale;
    int n;
};

static int put_columns(struct describe *d, struct al_str table, struct columns *cols, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (prepare(d,
                "SELECT name, label, inferred_type, nulls, distinct_count, distinct_exact, min, max, "
                "text_fallbacks, mean,"
                " stddev, quartiles, scale, parsed_as, parsed_nulls, min_length, max_length, top_values"
                " FROM _alisio_columns WHERE table_name = ?1 ORDER BY ordinal LIMIT 1000",
                &s, err) < 0)
        return -1;
    sqlite3_bind_text64(s, 1, table.p, table.n, SQLITE_STATIC, SQLITE_UTF8);
    al_jw_key(&d->w, "columns");
    al_jw_arr(&d->w);
    while (sqlite3_step(s) == SQLITE_ROW && cols->n < AL_TABLE_MAX_COLUMNS) {
        put_column(&d->w, s);
        char *quoted = sqlite3_mprintf("%s\"%w\"", cols->n ? "," : "", text_of(s, 0).p);
        al_buf_adds(&cols->list, quoted ? quoted : "");
        sqlite3_free(quoted);
        cols->scale[cols->n++] = sqlite3_column_type(s, 12) == SQLITE_NULL ? -1 : sqlite3_column_int(s, 12);
    }
    al_jw_end(&d->w);
    return finalize(d, s, err);
}

/* Only what is stored as a table is read: a view of the file could be anything. */
static int is_table(struct describe *d, struct al_str name, bool *ret, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (prepare(d, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1",
                &s, err) < 0)
        return -1;
    sqlite3_bind_text64(s, 1, name.p, name.n, SQLITE_STATIC, SQLITE_UTF8);
    *ret = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1;
    return finalize(d, s, err);
}

static int sample(struct describe *d, struct al_str table, const struct columns *cols, size_t cell_max,
                  struct al_buf *out, struct al_err *err)
{
    char *sql = sqlite3_mprintf("SELECT %s FROM \"%.*w\" LIMIT %d", cols->list.p, (int)table.n, table.p,
                                d->sample_rows);
    sqlite3_stmt *s = NULL;
    int r = prepare(d, sql ? sql : "", &s, err);
    sqlite3_free(sql);
    if (r < 0)
        return -1;
    struct al_jw w;
    al_jw_init(&w, out);
    al_jw_arr(&w);
    while (sqlite3_step(s) == SQLITE_ROW && !al_buf_failed(out)) {
        al_jw_arr(&w);
        for (int i = 0; i < cols->n; i++)
            put_cell(&w, s, i, cols->scale[i], cell_max);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    return finalize(d, s, err);
}

/* Cells are cut shorter until the sample takes no more than half of the room that is left. */
static int put_sample(struct describe *d, struct al_str table, const struct columns *cols, struct al_err *err)
{
    static const size_t cell_max[] = {2048, 256, 32};
    bool there = false;
    al_jw_key(&d->w, "sample");
    if (is_table(d, table, &there, err) < 0)
        return -1;
    for (size_t i = 0; i < 3 && there && cols->n && d->sample_rows; i++) {
        autobuf struct al_buf rows = AL_BUF_INIT((d->w.out->max - d->w.out->n) / 2);
        if (sample(d, table, cols, cell_max[i], &rows, err) < 0)
            return -1;
        if (!al_buf_failed(&rows)) {
            al_jw_raw(&d->w, al_buf_str(&rows));
            return 0;
        }
    }
    al_jw_arr(&d->w);
    al_jw_end(&d->w);
    return 0;
}

static int put_sheet(struct describe *d, sqlite3_stmt *sheet, struct al_err *err)
{
    autofree int *scale = al_xcalloc(AL_TABLE_MAX_COLUMNS, sizeof *scale);
    struct columns cols = {.list = AL_BUF_INIT((size_t)1 << 20), .scale = scale};
    struct al_str table = text_of(sheet, 1);
    al_jw_obj(&d->w);
    put_text(&d->w, "name", sheet, 0);
    put_text(&d->w, "table", sheet, 1);
    put_text(&d->w, "valuesView", sheet, 2);
    al_jw_kint(&d->w, "rows", count_of(sheet, 3));
    int r = put_columns(d, table, &cols, err);
    al_buf_addc(&cols.list, '\0');
    if (r == 0 && !al_buf_failed(&cols.list))
        r = put_sample(d, table, &cols, err);
    al_jw_end(&d->w);
    al_buf_free(&cols.list);
    return r;
}

static int no_such_sheet(struct describe *d, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    autobuf struct al_buf names = AL_BUF_INIT(300);
    if (prepare(d, "SELECT name FROM _alisio_sheets ORDER BY ordinal LIMIT 256", &s, err) < 0)
        return -1;
    while (sqlite3_step(s) == SQLITE_ROW && !al_buf_failed(&names)) {
        autobuf struct al_buf name = AL_BUF_INIT(256);
        al_text_plain(&name, al_utf8_cut(text_of(s, 0), 60), false);
        al_buf_addf(&names, "%s%.*s", names.n ? ", " : "", AL_FMT(al_buf_str(&name)));
    }
    if (finalize(d, s, err) < 0)
        return -1;
    autobuf struct al_buf asked = AL_BUF_INIT(512);
    al_text_plain(&asked, al_utf8_cut(d->only, 100), false);
    al_fail(err, AL_NOT_FOUND, "the dataset has no sheet \"%.*s\"", AL_FMT(al_buf_str(&asked)));
    return al_hint(err, "its sheets: %.*s%s", AL_FMT(al_buf_str(&names)), al_buf_failed(&names) ? ", …" : "");
}

static int put_sheets(struct describe *d, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (prepare(d,
                "SELECT name, table_name, values_name, rows FROM _alisio_sheets ORDER BY ordinal LIMIT 256",
                &s, err) < 0)
        return -1;
    int n = 0, r = 0;
    al_jw_key(&d->w, "sheets");
    al_jw_arr(&d->w);
    while (r == 0 && sqlite3_step(s) == SQLITE_ROW && !al_buf_failed(d->w.out)) {
        if (d->only.n && !al_str_eq(d->only, text_of(s, 0)) && !al_str_eq(d->only, text_of(s, 1)))
            continue;
        r = put_sheet(d, s, err);
        n++;
    }
    al_jw_end(&d->w);
    if (r < 0) {
        sqlite3_finalize(s);
        return -1;
    }
    if (finalize(d, s, err) < 0)
        return -1;
    return n || !d->only.n || al_buf_failed(d->w.out) ? 0 : no_such_sheet(d, err);
}

static int put_notes(struct describe *d, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (prepare(
            d,
            "SELECT sheet, kind, count, lines, message FROM _alisio_notes WHERE ?1 = '' OR sheet IS NULL OR "
            "sheet IN"
            " (SELECT name FROM _alisio_sheets WHERE name = ?1 OR table_name = ?1) ORDER BY ordinal LIMIT ?2",
            &s, err) < 0)
        return -1;
    sqlite3_bind_text64(s, 1, d->only.n ? d->only.p : "", d->only.n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int(s, 2, NOTES_MAX);
    al_jw_key(&d->w, "notes");
    al_jw_arr(&d->w);
    while (sqlite3_step(s) == SQLITE_ROW && !al_buf_failed(d->w.out)) {
        al_jw_obj(&d->w);
        if (sqlite3_column_type(s, 0) != SQLITE_NULL)
            put_text(&d->w, "sheet", s, 0);
        put_text(&d->w, "kind", s, 1);
        al_jw_kint(&d->w, "count", count_of(s, 2));
        put_numbers(&d->w, "lines", text_of(s, 3), 5);
        put_text(&d->w, "message", s, 4);
        al_jw_end(&d->w);
    }
    al_jw_end(&d->w);
    return finalize(d, s, err);
}

static void put_options(struct al_jw *w, struct al_str text)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)1 << 20);
    const struct al_json *v = text.n <= OPTIONS_TEXT ? parse(&a, text) : NULL;
    al_jw_key(w, "options");
    if (v && v->type == AL_JSON_OBJECT) {
        al_jw_value(w, v);
    } else {
        al_jw_obj(w);
        al_jw_end(w);
    }
}

static int put_meta(struct describe *d, struct al_err *err)
{
    static const struct {
        const char *key, *as;
        bool always;
    } texts[] = {{"format", "format", true},        {"encoding", "encoding", true},
                 {"delimiter", "delimiter", false}, {"source_name", "sourceName", true},
                 {"source_sha256", "sha256", true}, {"created_at", "createdAt", true}};
    sqlite3_stmt *s = NULL;
    if (prepare(d, "SELECT value FROM _alisio_meta WHERE key = ?1", &s, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sqlite3_bind_text(s, 1, texts[i].key, -1, SQLITE_STATIC);
        if (sqlite3_step(s) == SQLITE_ROW)
            put_text(&d->w, texts[i].as, s, 0);
        else if (texts[i].always)
            al_jw_kstrz(&d->w, texts[i].as, "");
        sqlite3_reset(s);
    }
    sqlite3_bind_text(s, 1, "gzip", -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 1)
        al_jw_kbool(&d->w, "gzip", true);
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, "options", -1, SQLITE_STATIC);
    put_options(&d->w, sqlite3_step(s) == SQLITE_ROW ? text_of(s, 0) : AL_STR(""));
    return finalize(d, s, err);
}

static int check_tables(struct describe *d, struct al_err *err)
{
    static const char *const names[] = {"_alisio_meta", "_alisio_sheets", "_alisio_columns", "_alisio_notes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool there = false;
        if (is_table(d, al_str_of(names[i]), &there, err) < 0)
            return -1;
        if (!there) {
            al_fail(err, AL_INGEST_INVALID, "the file is no dataset");
            return al_hint(err, "inspect the source file anew");
        }
    }
    return 0;
}

static int describe_all(struct describe *d, struct al_err *err)
{
    if (check_tables(d, err) < 0)
        return -1;
    al_jw_obj(&d->w);
    if (put_meta(d, err) < 0 || put_sheets(d, err) < 0 || put_notes(d, err) < 0)
        return -1;
    al_jw_end(&d->w);
    if (!al_buf_failed(d->w.out))
        return 0;
    al_fail(err, AL_RESULT_TOO_LARGE, "the description of the dataset is larger than %zu bytes",
            d->w.out->max);
    return al_hint(err, "ask for one sheet, with fewer sample rows");
}

int al_dataset_describe(struct sqlite3 *db, struct al_str sheet, int sample_rows, struct al_buf *out,
                        struct al_err *err)
{
    struct describe d = {.db = db, .only = sheet};
    d.sample_rows = sample_rows < 0 ? 0 : sample_rows > SAMPLE_MAX ? SAMPLE_MAX : sample_rows;
    int length = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, length < VALUE_MAX ? length : VALUE_MAX);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_progress_handler(db, STEPS, count_steps, &d);
    al_jw_init(&d.w, out);
    int r = describe_all(&d, err);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, length);
    return r;
}
