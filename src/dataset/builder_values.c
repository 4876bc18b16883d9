/* The view of values: beside columns whose text means numbers or dates, a table of what they mean, that any
 * SQLite can read; our functions are needed once, here. */
#include "dataset/builder_int.h"

struct convert {
    const struct al_pattern_verdict *verdicts;
    const struct al_bcolumn *columns;
    uint64_t *failed;
};

static bool convert_text(const struct al_pattern_verdict *p, struct al_str s, sqlite3_context *ctx)
{
    struct al_value v;
    char date[32];
    if (!al_pattern_convert(p->pattern, p->decimal, s, &v, date))
        return false;
    if (v.type == AL_VALUE_INT)
        sqlite3_result_int64(ctx, v.i);
    else if (v.type == AL_VALUE_REAL)
        sqlite3_result_double(ctx, v.d);
    else if (v.type == AL_VALUE_TEXT)
        sqlite3_result_text(ctx, v.text.p, (int)v.text.n, SQLITE_TRANSIENT);
    return v.type != AL_VALUE_NULL;
}

/* alisio_convert(value, index of the column) */
static void sql_convert(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    const struct convert *to = sqlite3_user_data(ctx);
    int i = sqlite3_value_int(argv[1]), type = sqlite3_value_type(argv[0]);
    const struct al_pattern_verdict *p = &to->verdicts[i];
    if (type == SQLITE_NULL)
        return;
    /* A number in a column of amounts is one, but for "1.234" where the comma is the decimal mark; in a
     * column of dates it may be a date without separators, or seconds. */
    bool comma = type == SQLITE_FLOAT && p->decimal == ',';
    if (type != SQLITE_TEXT && !comma && !al_pattern_is_date(p->pattern) &&
        p->pattern != AL_PATTERN_EPOCH_SECONDS) {
        sqlite3_result_value(ctx, argv[0]);
        return;
    }
    autobuf struct al_buf printed = AL_BUF_INIT(512);
    struct al_str s;
    if (type == SQLITE_INTEGER) {
        al_buf_addf(&printed, "%lld", (long long)sqlite3_value_int64(argv[0]));
        s = al_buf_str(&printed);
    } else if (type == SQLITE_FLOAT) {
        al_cell_print(sqlite3_value_double(argv[0]), to->columns[i].scale, &printed);
        s = al_buf_str(&printed);
    } else {
        s.p = (const char *)sqlite3_value_text(argv[0]);
        s.n = (size_t)sqlite3_value_bytes(argv[0]);
    }
    if (!convert_text(p, s, ctx))
        to->failed[i]++;
}

static int fill(struct al_builder *b, const struct al_pattern_verdict *verdicts, uint64_t *failed,
                struct al_err *err)
{
    autobuf struct al_buf names = AL_BUF_INIT((size_t)1 << 20), values = AL_BUF_INIT((size_t)1 << 20);
    for (size_t i = 0; i < b->n_columns; i++) {
        if (verdicts[i].pattern == AL_PATTERN_NONE)
            continue;
        al_buf_addf(&names, ",\"%s\"", b->columns[i].name);
        al_buf_addf(&values, ",alisio_convert(\"%s\",%zu)", b->columns[i].name, i);
    }
    al_buf_addc(&names, '\0');
    al_buf_addc(&values, '\0');
    if (al_builder_exec(b, err, "CREATE TABLE _alisio_values_%d(%s)", (int)b->n_sheets, names.p + 1) < 0)
        return -1;
    struct convert to = {verdicts, b->columns, failed};
    int rc = sqlite3_create_function(b->db, "alisio_convert", 2, SQLITE_UTF8, &to, sql_convert, NULL, NULL);
    if (rc != SQLITE_OK)
        return al_builder_sql_error(b, rc, err);
    int r = al_builder_exec(
        b, err, "INSERT INTO _alisio_values_%d(rowid%s) SELECT rowid%s FROM \"%w\" ORDER BY rowid",
        (int)b->n_sheets, names.p, values.p, b->table);
    sqlite3_create_function(b->db, "alisio_convert", 2, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    return r;
}

int al_builder_values(struct al_builder *b, const struct al_pattern_verdict *verdicts, uint64_t *parsed_nulls,
                      struct al_err *err)
{
    autobuf struct al_buf list = AL_BUF_INIT((size_t)1 << 20);
    bool any = false;
    for (size_t i = 0; i < b->n_columns; i++) {
        bool parsed = verdicts[i].pattern != AL_PATTERN_NONE;
        any |= parsed;
        al_buf_addf(&list, "%s%c.\"%s\" AS \"%s\"", i ? "," : "", parsed ? 'v' : 'd', b->columns[i].name,
                    b->columns[i].name);
    }
    al_buf_addc(&list, '\0');
    if (!any)
        return al_builder_exec(b, err, "CREATE VIEW \"%w_values\" AS SELECT %s FROM \"%w\" AS d", b->table,
                               list.p, b->table);
    if (fill(b, verdicts, parsed_nulls, err) < 0)
        return -1;
    return al_builder_exec(b, err,
                           "CREATE VIEW \"%w_values\" AS SELECT %s FROM \"%w\" AS d"
                           " LEFT JOIN _alisio_values_%d AS v ON v.rowid = d.rowid",
                           b->table, list.p, b->table, (int)b->n_sheets);
}
