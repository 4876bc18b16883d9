/* Columns and rows as they come: typed, and put into batches. */
#include "dataset/builder_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>

/* Below what a record of SQLite can hold (SQLITE_MAX_LENGTH). */
#define ROW_MAX ((size_t)512 << 20)

/* Whether a name is the one that the label alone would have got. */
static void note_renamed(struct al_builder *b, const struct al_bcolumn *c, struct al_str label,
                         size_t ordinal)
{
    char plain[32];
    snprintf(plain, sizeof plain, "column_%zu", ordinal);
    if (strcmp(c->name, plain) == 0 && !al_str_is(label, plain)) {
        if (al_str_trim(label).n == 0)
            al_builder_note(b, AL_NOTE_RENAMED_COLUMNS, 0, "column %zu has no header: it is %s", ordinal,
                            c->name);
        else
            al_builder_note(b, AL_NOTE_RENAMED_COLUMNS, 0,
                            "the header \"%.*s\" of column %zu has no letter: it is %s",
                            (int)al_utf8_cut(label, 60).n, label.p, ordinal, c->name);
        return;
    }
    struct al_names *alone = al_names_new();
    struct al_str name = al_names_add(alone, label, (unsigned)ordinal);
    bool reserved = name.n > 2 && al_str_ends(name, "_2") && !al_str_ends(al_str_trim(label), "2");
    if (!al_str_is(name, c->name) || reserved)
        al_builder_note(b, AL_NOTE_RENAMED_COLUMNS, 0,
                        "the header \"%.*s\" of column %zu %s: the column is %s",
                        (int)al_utf8_cut(label, 60).n, label.p, ordinal,
                        reserved ? "is reserved" : "was there before", c->name);
    al_names_free(alone);
}

/* Names a column; the table does not have it yet. */
static int add_column(struct al_builder *b, struct al_str label, bool extra, struct al_err *err)
{
    if (b->n_columns == AL_TABLE_MAX_COLUMNS) {
        al_fail(err, AL_INGEST_LIMIT, "the sheet %.*s has more than 1,000 columns", (int)b->n_sheet_name,
                b->sheet_name);
        return al_hint(err, "leave out columns, or turn the table into a long one (a row for each value)");
    }
    if (b->n_columns == b->cap_columns) {
        b->cap_columns = b->cap_columns ? b->cap_columns * 2 : 16;
        b->columns = al_xrealloc(b->columns, b->cap_columns * sizeof *b->columns);
    }
    size_t ordinal = b->n_columns + 1;
    struct al_str name = al_names_add(b->names, label, (unsigned)ordinal);
    struct al_bcolumn *c = &b->columns[b->n_columns++];
    *c = (struct al_bcolumn){.name = al_xdup(name.p, name.n), .scale = AL_SCALE_NONE};
    char plain[32];
    if (label.n == 0) {
        snprintf(plain, sizeof plain, "column_%zu", ordinal);
        label = al_str_of(plain);
        if (!extra)
            note_renamed(b, c, AL_STR(""), ordinal);
    } else if (!extra) {
        note_renamed(b, c, label, ordinal);
    }
    c->label = al_xdup(label.p, label.n);
    c->n_label = label.n;
    return 0;
}

static int create_table(struct al_builder *b, struct al_err *err)
{
    autobuf struct al_buf sql = AL_BUF_INIT((size_t)AL_TABLE_MAX_COLUMNS * 2 * (AL_NAME_MAX + 16));
    for (size_t i = 0; i < b->n_columns; i++)
        al_buf_addf(&sql, "%s\"%s\"", i ? "," : "", b->columns[i].name);
    al_buf_addc(&sql, '\0');
    b->has_table = true;
    return al_builder_exec(b, err, "CREATE TABLE \"%w\"(%s)", b->table, sql.p);
}

/* Rows that came before there was a column: JSON's empty objects. */
static int store_pending(struct al_builder *b, struct al_err *err)
{
    if (b->rows == 0)
        return 0;
    int r =
        al_builder_exec(b, err,
                        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %lld) "
                        "INSERT INTO \"%w\" SELECT NULL FROM n",
                        (long long)b->rows, b->table);
    b->rows_stored = b->rows;
    return r;
}

/* Adds a column to the table that is there. What is in the batch has the old width. */
static int widen(struct al_builder *b, struct al_str label, bool extra, struct al_err *err)
{
    if (al_builder_flush(b, err) < 0 || add_column(b, label, extra, err) < 0)
        return -1;
    sqlite3_finalize(b->insert);
    b->insert = NULL;
    if (!b->has_table)
        return create_table(b, err) < 0 ? -1 : store_pending(b, err);
    return al_builder_exec(b, err, "ALTER TABLE \"%w\" ADD COLUMN \"%w\"", b->table,
                           b->columns[b->n_columns - 1].name);
}

int al_builder_columns(void *ud, const struct al_str *labels, size_t n, struct al_err *err)
{
    struct al_builder *b = ud;
    if (b->has_table || b->n_columns)
        return al_fail(err, AL_INTERNAL, "columns of a sheet were given twice");
    /* Where there is no header at all, the reader has said so. */
    size_t named = 0;
    for (size_t i = 0; i < n; i++)
        named += labels[i].n != 0;
    for (size_t i = 0; i < n; i++) {
        if (add_column(b, labels[i], named == 0, err) < 0)
            return -1;
    }
    b->n_all_columns += n;
    return n ? create_table(b, err) : 0;
}

int al_builder_late_column(void *ud, struct al_str label, struct al_err *err)
{
    struct al_builder *b = ud;
    b->n_all_columns++;
    return widen(b, label, false, err);
}

int al_builder_need_table(struct al_builder *b, struct al_err *err)
{
    return b->has_table ? 0 : widen(b, AL_STR(""), true, err);
}

int al_builder_flush(struct al_builder *b, struct al_err *err)
{
    struct al_batch *batch = b->batch;
    if (!batch || batch->n_rows == 0)
        return 0;
    b->batch = NULL;
    al_ring_give(&b->ring);
    return al_builder_insert(b, batch, err);
}

static bool looks_numeric(struct al_str s)
{
    return s.n && ((unsigned char)(s.p[0] - '0') < 10 || s.p[0] == '-');
}

/* A number whose count of decimals is another than that of the column so far. False: it is a text. */
static bool other_scale(struct al_builder *b, struct al_bcolumn *c, unsigned decimals, bool zeros)
{
    if (c->scale == AL_SCALE_NONE) {
        c->scale = decimals <= INT8_MAX ? (int)decimals : AL_SCALE_ENDED;
        return true;
    }
    c->ended_scale = c->scale;
    c->ended_row = b->rows - 1;
    c->ended_zeros = c->zeros.count;
    c->scale = AL_SCALE_ENDED;
    return !zeros;
}

static void put_number(const struct al_bcolumn *c, const struct al_value *v, struct al_bcell *out)
{
    out->type = (uint8_t)v->type;
    out->scale = (int8_t)c->scale;
    if (v->type == AL_VALUE_REAL)
        out->d = v->d;
    else
        out->i = v->i;
}

/* A number of a format that has numbers: how it was written says nothing, so the column's scale is at an end
 * unless all of it is written with one count of decimals. */
static void scale_of_literal(struct al_builder *b, struct al_bcolumn *c, struct al_str s)
{
    struct al_value v;
    unsigned decimals = 0;
    bool zeros;
    bool plain = al_cell_number(s, true, &v, &decimals, &zeros);
    if (c->scale != AL_SCALE_ENDED && (!plain || (int)decimals != c->scale))
        (void)other_scale(b, c, plain ? decimals : UINT_MAX, false);
}

/* Types a cell; the text stays where it is. */
static void type_cell(struct al_builder *b, struct al_bcolumn *c, const struct al_cell *in, uint64_t line,
                      struct al_bcell *out)
{
    if (in->kind == AL_CELL_NULL || (in->text.n == 0 && in->kind != AL_CELL_STRING)) {
        out->type = AL_VALUE_NULL;
        out->scale = (int8_t)c->scale;
        return;
    }
    struct al_value v;
    unsigned decimals;
    bool zeros = false;
    if (in->kind == AL_CELL_NUMBER && al_cell_literal(in->text, &v)) {
        scale_of_literal(b, c, in->text);
        put_number(c, &v, out);
        return;
    }
    if (in->kind != AL_CELL_STRING && looks_numeric(in->text)) {
        bool number = al_cell_number(in->text, true, &v, &decimals, &zeros);
        if (number && (int)decimals != c->scale)
            number = c->scale == AL_SCALE_ENDED ? !zeros : other_scale(b, c, decimals, zeros);
        if (zeros)
            al_lines_add(&c->zeros, line);
        if (number) {
            put_number(c, &v, out);
            return;
        }
    }
    if (!zeros)
        al_lines_add(&c->texts, line);
    out->type = AL_VALUE_TEXT;
    out->scale = (int8_t)c->scale;
    out->p = in->text.p ? in->text.p : "";
    out->n = (uint32_t)in->text.n;
}

static void copy_text(struct al_batch *batch, struct al_bcell *cell)
{
    char *to = batch->text + batch->n_text;
    memcpy(to, cell->p, cell->n);
    batch->n_text += cell->n;
    cell->p = to;
}

/* More cells than columns: columns for them, as far as there are cells that hold something. */
static int settle_long(struct al_builder *b, const struct al_cell *cells, size_t *n, uint64_t line,
                       struct al_err *err)
{
    size_t before = b->n_columns - b->n_extra, held = *n;
    while (held > b->n_columns && cells[held - 1].kind != AL_CELL_STRING && cells[held - 1].text.n == 0)
        held--;
    al_builder_note(b, AL_NOTE_LONG_ROWS, line,
                    "%zu cells where there are %zu columns: what is too much is in extra_1 …", *n, before);
    while (b->n_columns < held && b->n_extra < AL_TABLE_MAX_EXTRA && b->n_columns < AL_TABLE_MAX_COLUMNS) {
        char label[32];
        int m = snprintf(label, sizeof label, "extra_%zu", ++b->n_extra);
        if (widen(b, (struct al_str){label, (size_t)m}, true, err) < 0)
            return -1;
    }
    for (size_t i = b->n_columns; i < held; i++) {
        if (cells[i].text.n || cells[i].kind == AL_CELL_STRING)
            al_builder_note(b, AL_NOTE_CUT_ROWS, line, "cells beyond column %zu are not kept", b->n_columns);
    }
    *n = *n < b->n_columns ? *n : b->n_columns;
    return 0;
}

/* How many cells the table's columns got, with what is odd about it noted. */
static int settle_width(struct al_builder *b, const struct al_cell *cells, size_t *n, uint64_t line,
                        struct al_err *err)
{
    size_t proper = b->n_columns - b->n_extra;
    if (*n < proper)
        al_builder_note(b, AL_NOTE_SHORT_ROWS, line,
                        "%zu cells where there are %zu columns: the rest is NULL", *n, proper);
    b->irregular += *n != proper;
    return *n > proper ? settle_long(b, cells, n, line, err) : 0;
}

/* A row whose text does not fit into an empty batch goes alone, from the reader's memory, and is waited for.
 */
static int store_alone(struct al_builder *b, struct al_err *err)
{
    int r = al_builder_flush(b, err);
    al_ring_drain(&b->ring);
    return r;
}

static int put_row(struct al_builder *b, const struct al_cell *cells, size_t n, uint64_t line,
                   struct al_err *err)
{
    size_t width = b->n_columns, bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += cells[i].text.n;
    if (bytes > ROW_MAX) {
        al_fail(err, AL_INGEST_LIMIT, "line %llu: the row is larger than 512 MB", (unsigned long long)line);
        return al_hint(err, "leave out the largest cells of that row");
    }
    struct al_batch *batch = b->batch;
    if (batch && (batch->n_text + bytes > AL_BATCH_TEXT || (batch->n_rows + 1) * width > AL_BATCH_CELLS)) {
        if (al_builder_flush(b, err) < 0)
            return -1;
        batch = NULL;
    }
    if (!batch) {
        batch = b->batch = al_ring_slot(&b->ring);
        batch->n_columns = width;
        batch->rows_before = b->rows - 1;
        batch->stats = b->stats;
    }
    struct al_bcell *out = batch->cells + batch->n_rows * width;
    bool alone = batch->alone = bytes > AL_BATCH_TEXT;
    for (size_t i = 0; i < n; i++) {
        type_cell(b, &b->columns[i], &cells[i], line, &out[i]);
        if (out[i].type == AL_VALUE_TEXT && !alone)
            copy_text(batch, &out[i]);
    }
    for (size_t i = n; i < width; i++) {
        out[i].type = AL_VALUE_NULL;
        out[i].scale = (int8_t)b->columns[i].scale;
    }
    batch->n_rows++;
    return alone ? store_alone(b, err) : 0;
}

int al_builder_row(void *ud, const struct al_cell *cells, size_t n, uint64_t line, struct al_err *err)
{
    struct al_builder *b = ud;
    if (b->rows >= b->limits.max_rows) {
        al_fail(err, AL_INGEST_LIMIT, "the sheet %.*s has more than %llu rows (analysis.data.maxRows)",
                (int)b->n_sheet_name, b->sheet_name, (unsigned long long)b->limits.max_rows);
        return al_hint(err, "raise analysis.data.maxRows");
    }
    if (line == 0)
        line = b->rows + 1;
    if (n != b->n_columns - b->n_extra && settle_width(b, cells, &n, line, err) < 0)
        return -1;
    b->rows++;
    b->all_rows++;
    return b->n_columns ? put_row(b, cells, n, line, err) : 0;
}
