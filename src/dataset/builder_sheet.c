/* The end of a sheet: what has to be done a second time, and what is known about each column. */
#include "dataset/builder_int.h"

#include "base/json.h"
#include "base/mem.h"

int al_builder_tables(struct al_builder *b, struct al_err *err)
{
    return al_builder_exec(
        b, err,
        "CREATE TABLE _alisio_meta(key PRIMARY KEY, value);"
        "CREATE TABLE _alisio_sheets(ordinal INTEGER PRIMARY KEY, name, table_name, rows, columns, "
        "values_name);"
        "CREATE TABLE _alisio_columns(table_name, ordinal, name, label, inferred_type, nulls, distinct_count,"
        " distinct_exact, min, max, mean, text_fallbacks, top_values, stddev, quartiles, scale, parsed_as, "
        "parsed_nulls,"
        " min_length, max_length, PRIMARY KEY(table_name, ordinal));"
        "CREATE TABLE _alisio_notes(ordinal INTEGER PRIMARY KEY, sheet, kind, count, lines, message)");
}

/* The text that a cell stood as, for an SQL function: alisio_zeros(value, decimals) is NULL where that is the
 * canonical print. */
static void sql_zeros(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    autobuf struct al_buf text = AL_BUF_INIT(512);
    al_cell_print(sqlite3_value_double(argv[0]), sqlite3_value_int(argv[1]), &text);
    if (sqlite3_value_int(argv[1]) > 1 && text.n && text.p[text.n - 1] == '0')
        sqlite3_result_text(ctx, text.p, (int)text.n, SQLITE_TRANSIENT);
}

static void value_of(sqlite3_stmt *s, int i, struct al_value *ret)
{
    *ret = (struct al_value){.type = AL_VALUE_NULL};
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER:
        ret->type = AL_VALUE_INT;
        ret->i = sqlite3_column_int64(s, i);
        break;
    case SQLITE_FLOAT:
        ret->type = AL_VALUE_REAL;
        ret->d = sqlite3_column_double(s, i);
        break;
    case SQLITE_TEXT:
        ret->type = AL_VALUE_TEXT;
        ret->text.p = (const char *)sqlite3_column_text(s, i);
        ret->text.n = (size_t)sqlite3_column_bytes(s, i);
        break;
    default:
        break;
    }
}

static int count_anew(struct al_builder *b, size_t column, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (al_builder_prepare(b, &s, err, "SELECT \"%w\" FROM \"%w\"", b->columns[column].name, b->table) < 0)
        return -1;
    al_stats_reset(b->stats, column);
    struct al_value v;
    while (sqlite3_step(s) == SQLITE_ROW) {
        value_of(s, 0, &v);
        al_stats_add(b->stats, column, &v, AL_SCALE_ENDED);
    }
    int rc = sqlite3_finalize(s);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

/* The numbers before the row that ended the scale have one count of decimals, so those with trailing zeros
 * are found by their print. They become the texts that they were. */
static int end_scale(struct al_builder *b, size_t column, struct al_err *err)
{
    const struct al_bcolumn *c = &b->columns[column];
    int rc = sqlite3_create_function(b->db, "alisio_zeros", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                     sql_zeros, NULL, NULL);
    if (rc != SQLITE_OK)
        return al_builder_sql_error(b, rc, err);
    int r = al_builder_exec(b, err,
                            "UPDATE \"%w\" SET \"%w\" = alisio_zeros(\"%w\", %d) WHERE rowid <= %lld"
                            " AND typeof(\"%w\") = 'real' AND alisio_zeros(\"%w\", %d) IS NOT NULL",
                            b->table, c->name, c->name, c->ended_scale, (long long)c->ended_row, c->name,
                            c->name, c->ended_scale);
    sqlite3_create_function(b->db, "alisio_zeros", 2, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    return r < 0 ? -1 : count_anew(b, column, err);
}

static void bind_printed(sqlite3_stmt *s, int i, const struct al_value *v, int scale)
{
    autobuf struct al_buf text = AL_BUF_INIT(512);
    switch (v->type) {
    case AL_VALUE_NULL:
        sqlite3_bind_null(s, i);
        return;
    case AL_VALUE_INT:
        al_buf_addf(&text, "%lld", (long long)v->i);
        break;
    case AL_VALUE_REAL:
        al_cell_print(v->d, scale, &text);
        break;
    case AL_VALUE_TEXT:
        sqlite3_bind_text64(s, i, v->text.p, v->text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
        return;
    }
    sqlite3_bind_text(s, i, text.p, (int)text.n, SQLITE_TRANSIENT);
}

static void bind_top(sqlite3_stmt *s, int i, const struct al_stats_summary *sum, int scale)
{
    autobuf struct al_buf json = AL_BUF_INIT(65536);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_arr(&w);
    for (size_t k = 0; k < sum->n_top; k++) {
        const struct al_value *v = &sum->top[k].value;
        al_jw_obj(&w);
        al_jw_key(&w, "value");
        if (v->type == AL_VALUE_REAL) {
            autobuf struct al_buf number = AL_BUF_INIT(512);
            al_cell_print(v->d, scale, &number);
            al_jw_raw(&w, al_buf_str(&number));
        } else if (v->type == AL_VALUE_INT) {
            al_jw_int(&w, v->i);
        } else {
            al_jw_str(&w, v->text);
        }
        al_jw_kint(&w, "count", (int64_t)sum->top[k].count);
        al_jw_end(&w);
    }
    al_jw_end(&w);
    if (!al_buf_failed(&json))
        sqlite3_bind_text(s, i, json.p, (int)json.n, SQLITE_TRANSIENT);
}

static void bind_quartiles(sqlite3_stmt *s, int i, const struct al_stats_summary *sum)
{
    if (!sum->has_quartiles)
        return;
    autobuf struct al_buf json = AL_BUF_INIT(256);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_arr(&w);
    for (int k = 0; k < 3; k++)
        al_jw_double(&w, sum->quartile[k]);
    al_jw_end(&w);
    sqlite3_bind_text(s, i, json.p, (int)json.n, SQLITE_TRANSIENT);
}

static void bind_column(struct al_builder *b, sqlite3_stmt *s, size_t i, const struct al_stats_summary *sum,
                        uint64_t parsed_nulls)
{
    const struct al_bcolumn *c = &b->columns[i];
    sqlite3_bind_text(s, 1, b->table, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, (int64_t)i + 1);
    sqlite3_bind_text(s, 3, c->name, -1, SQLITE_STATIC);
    sqlite3_bind_text64(s, 4, c->label, c->n_label, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text(s, 5, sum->type, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 6, (int64_t)sum->nulls);
    sqlite3_bind_int64(s, 7, (int64_t)sum->distinct);
    sqlite3_bind_int64(s, 8, sum->exact);
    bind_printed(s, 9, &sum->min, c->scale);
    bind_printed(s, 10, &sum->max, c->scale);
    if (sum->has_mean)
        sqlite3_bind_double(s, 11, sum->mean);
    sqlite3_bind_int64(s, 12, (int64_t)sum->text_fallbacks);
    bind_top(s, 13, sum, c->scale);
    if (sum->has_stddev)
        sqlite3_bind_double(s, 14, sum->stddev);
    bind_quartiles(s, 15, sum);
    if (c->scale > 0)
        sqlite3_bind_int(s, 16, c->scale);
    if (sum->pattern.pattern != AL_PATTERN_NONE) {
        sqlite3_bind_text(s, 17, al_pattern_id(sum->pattern.pattern), -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 18, (int64_t)parsed_nulls);
    }
    if (sum->texts) {
        sqlite3_bind_int64(s, 19, (int64_t)sum->min_length);
        sqlite3_bind_int64(s, 20, (int64_t)sum->max_length);
    }
}

static int write_columns(struct al_builder *b, const struct al_stats_summary *sums,
                         const uint64_t *parsed_nulls, struct al_err *err)
{
    sqlite3_stmt *s = NULL;
    if (al_builder_prepare(
            b, &s, err,
            "INSERT INTO _alisio_columns VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
            " ?14, ?15, ?16, ?17, ?18, ?19, ?20)") < 0)
        return -1;
    int rc = SQLITE_OK;
    for (size_t i = 0; i < b->n_columns && rc == SQLITE_OK; i++) {
        sqlite3_clear_bindings(s);
        bind_column(b, s, i, &sums[i], parsed_nulls[i]);
        sqlite3_step(s);
        rc = sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return rc == SQLITE_OK ? 0 : al_builder_sql_error(b, rc, err);
}

/*
 * 1.234 is a number, but where the decimal mark is a comma, it may have meant 1234. The cells stay what they
 * say; that the sum may be a thousandth of what was meant is told.
 */
static void note_thousands(struct al_builder *b, const struct al_stats_summary *sums)
{
    static const struct al_lines one = {.count = 1};
    bool comma = b->limits.decimal == ',';
    for (size_t i = 0; i < b->n_columns; i++)
        comma = comma || (sums[i].pattern.pattern && sums[i].pattern.decimal == ',');
    for (size_t i = 0; i < b->n_columns && comma; i++) {
        if (b->columns[i].scale == 3 && sums[i].numbers && !sums[i].pattern.pattern)
            al_builder_note_lines(
                b, AL_NOTE_MIXED_DECIMALS, &one,
                "%s: numbers like 1.234, and the decimal mark elsewhere is a comma: if they are "
                "thousands, multiply by 1000",
                b->columns[i].name);
    }
}

static void note_columns(struct al_builder *b, const struct al_stats_summary *sums)
{
    static const struct al_lines one = {.count = 1};
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct al_bcolumn *c = &b->columns[i];
        if (c->scale == AL_SCALE_ENDED && c->zeros.count)
            al_builder_note_lines(
                b, AL_NOTE_SCALE_ENDED, &c->zeros,
                "%s: numbers of decimals differ, so cells with trailing zeros are kept as text (1.50)",
                c->name);
        if (sums[i].numbers && c->texts.count && sums[i].numbers >= c->texts.count)
            al_builder_note_lines(b, AL_NOTE_TEXT_IN_NUMBERS, &c->texts, "%s: %llu of %llu cells are text",
                                  c->name, (unsigned long long)c->texts.count,
                                  (unsigned long long)(sums[i].numbers + c->texts.count));
        if (sums[i].pattern.mixed_decimals)
            al_builder_note_lines(b, AL_NOTE_MIXED_DECIMALS, &one,
                                  "%s: both 1.5 and 1,5 occur; texts are not converted by a guess", c->name);
        if (sums[i].pattern.mixed_dates)
            al_builder_note_lines(b, AL_NOTE_MIXED_DATES, &one, "%s: dates are written in more than one way",
                                  c->name);
    }
}

static int describe_sheet(struct al_builder *b, struct al_err *err)
{
    autofree struct al_stats_summary *sums = al_xcalloc(b->n_columns, sizeof *sums);
    autofree struct al_pattern_verdict *verdicts = al_xcalloc(b->n_columns, sizeof *verdicts);
    autofree uint64_t *parsed_nulls = al_xcalloc(b->n_columns, sizeof *parsed_nulls);
    for (size_t i = 0; i < b->n_columns; i++) {
        al_stats_summary(b->stats, i, b->limits.decimal, &sums[i]);
        verdicts[i] = sums[i].pattern;
    }
    note_columns(b, sums);
    note_thousands(b, sums);
    if (al_builder_values(b, verdicts, parsed_nulls, err) < 0 ||
        write_columns(b, sums, parsed_nulls, err) < 0)
        return -1;
    sqlite3_stmt *s = NULL;
    if (al_builder_prepare(b, &s, err,
                           "INSERT INTO _alisio_sheets VALUES (%d, ?1, '%q', %lld, %d, '%q_values')",
                           (int)b->n_sheets, b->table, (long long)b->rows, (int)b->n_columns, b->table) < 0)
        return -1;
    sqlite3_bind_text64(s, 1, b->sheet_name, b->n_sheet_name, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_step(s);
    int rc = sqlite3_finalize(s);
    return rc == SQLITE_OK ? al_builder_write_notes(b, b->notes, true, err)
                           : al_builder_sql_error(b, rc, err);
}

/* "data" is the table of files that have one; that a file is a workbook shows after its first sheet began. */
static int name_for_workbook(struct al_builder *b, struct al_err *err)
{
    if (strcmp(b->table, "data") != 0)
        return 0;
    struct al_str name =
        al_names_add_table(b->tables, (struct al_str){b->sheet_name, b->n_sheet_name}, (unsigned)b->n_sheets);
    char *table = al_xdup(name.p, name.n);
    int r = al_builder_exec(b, err, "ALTER TABLE data RENAME TO \"%w\"", table);
    free(b->table);
    b->table = table;
    return r;
}

int al_builder_close_sheet(struct al_builder *b, bool workbook, struct al_err *err)
{
    if (!b->in_sheet)
        return 0;
    if (al_builder_need_table(b, err) < 0 || al_builder_flush(b, err) < 0)
        return -1;
    sqlite3_finalize(b->insert);
    b->insert = NULL;
    al_ring_drain(&b->ring);
    al_ring_columns(&b->ring, b->stats, b->n_columns, b->rows);
    b->ring.current = NULL;
    if (workbook && name_for_workbook(b, err) < 0)
        return -1;
    for (size_t i = 0; i < b->n_columns; i++) {
        const struct al_bcolumn *c = &b->columns[i];
        if (c->scale == AL_SCALE_ENDED && c->ended_zeros && end_scale(b, i, err) < 0)
            return -1;
    }
    if (describe_sheet(b, err) < 0)
        return -1;
    al_builder_drop_sheet(b);
    return 0;
}

/* The ring is at rest, or stopped. */
void al_builder_drop_sheet(struct al_builder *b)
{
    for (size_t i = 0; i < b->n_columns; i++) {
        free(b->columns[i].name);
        free(b->columns[i].label);
    }
    al_builder_drop_notes(b->notes);
    sqlite3_finalize(b->insert);
    b->insert = NULL;
    al_stats_free(b->stats);
    b->stats = NULL;
    al_names_free(b->names);
    b->names = NULL;
    free(b->sheet_name);
    free(b->table);
    b->sheet_name = b->table = NULL;
    b->n_columns = b->n_extra = 0;
    b->rows = b->rows_stored = 0;
    b->in_sheet = b->has_table = false;
}
