/* A tool's result: a structured value, and a text for a model. */
#include "query/query_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_TEXT 24000 /* characters, with the closing lines */
#define CLOSING 4000   /* of them, kept for those */
#define DEFAULT_ROWS 200
#define MAX_SAFE ((int64_t)1 << 53)

struct result {
    struct al_rows *r;
    struct al_buf rows, lines, cell;
    struct al_jw w;
    int n_columns;
    unsigned *types;  /* bits of 1 << SQLITE_…, by column */
    uint64_t clipped; /* cells */
    uint64_t shown;   /* rows in the text */
    size_t chars;     /* of lines */
    bool full;
};

struct al_str al_cell_text(sqlite3_stmt *stmt, int i, struct al_buf *tmp)
{
    const char *z = (const char *)sqlite3_column_text(stmt, i);
    struct al_str s = {z ? z : "", z ? (size_t)sqlite3_column_bytes(stmt, i) : 0};
    if (al_utf8_valid(s))
        return s;
    al_buf_clear(tmp);
    al_utf8_clean(tmp, s);
    return al_buf_str(tmp);
}

void al_cell_real(double d, struct al_buf *out)
{
    struct al_jw w;
    if (d != d || d - d != 0) {
        al_buf_adds(out, d > 0 ? "Inf" : d < 0 ? "-Inf" : "");
        return;
    }
    al_jw_init(&w, out);
    al_jw_double(&w, d);
}

/* The value into JSON, its text into res->cell; long text is cut and counted. */
static void write_value(struct result *res, int i)
{
    sqlite3_stmt *stmt = res->r->stmt;
    int type = sqlite3_column_type(stmt, i);
    int64_t n;
    res->types[i] |= 1u << type;
    al_buf_clear(&res->cell);
    switch (type) {
    case SQLITE_INTEGER:
        n = sqlite3_column_int64(stmt, i);
        al_buf_addf(&res->cell, "%lld", (long long)n);
        if (n > -MAX_SAFE && n < MAX_SAFE)
            al_jw_int(&res->w, n);
        else
            al_jw_str(&res->w, al_buf_str(&res->cell));
        break;
    case SQLITE_FLOAT:
        al_cell_real(sqlite3_column_double(stmt, i), &res->cell);
        al_jw_double(&res->w, sqlite3_column_double(stmt, i));
        break;
    case SQLITE_BLOB:
        al_buf_addf(&res->cell, "<blob %d bytes>", sqlite3_column_bytes(stmt, i));
        al_jw_str(&res->w, al_buf_str(&res->cell));
        break;
    case SQLITE_TEXT: {
        const char *z = (const char *)sqlite3_column_text(stmt, i);
        struct al_str all = {z ? z : "", z ? (size_t)sqlite3_column_bytes(stmt, i) : 0}, s = all;
        if (s.n > AL_QUERY_CELL)
            s = al_utf8_cut(s, AL_QUERY_CELL);
        al_utf8_clean(&res->cell, s);
        if (s.n < all.n) {
            al_buf_adds(&res->cell, "…");
            res->clipped++;
        }
        al_jw_str(&res->w, al_buf_str(&res->cell));
        break;
    }
    default:
        al_jw_null(&res->w);
        break;
    }
}

/* On one line, without the tab that ends a cell. */
static void add_cell(struct result *res)
{
    struct al_str s = al_buf_str(&res->cell);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\t' || c == '\n' || c == '\r')
            al_buf_adds(&res->lines, c == '\t' ? "\\t" : c == '\n' ? "\\n" : "\\r");
        else
            al_buf_addc(&res->lines, (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
    }
}

/* Whether what was appended since still fits the text; taken back when not. */
static void end_line(struct result *res, size_t before)
{
    al_buf_addc(&res->lines, '\n');
    struct al_str line = {res->lines.p ? res->lines.p + before : "", res->lines.n - before};
    size_t chars = al_utf8_count(line);
    if (al_buf_failed(&res->lines) || res->chars + chars > MAX_TEXT - CLOSING) {
        res->lines.n = before;
        res->full = true;
    } else {
        res->chars += chars;
    }
}

static void write_header(struct result *res)
{
    for (int i = 0; i < res->n_columns; i++) {
        const char *name = sqlite3_column_name(res->r->stmt, i);
        al_buf_clear(&res->cell);
        al_utf8_clean(&res->cell, al_utf8_cut(al_str_of(name ? name : ""), 256));
        if (i > 0)
            al_buf_addc(&res->lines, '\t');
        add_cell(res);
    }
    end_line(res, 0);
}

/* False when the row was too much for the structured value. */
static bool write_row(struct result *res)
{
    size_t json = res->rows.n, text = res->lines.n;
    struct al_jw before = res->w;
    al_jw_arr(&res->w);
    for (int i = 0; i < res->n_columns; i++) {
        write_value(res, i);
        if (res->full)
            continue;
        if (i > 0)
            al_buf_addc(&res->lines, '\t');
        add_cell(res);
    }
    al_jw_end(&res->w);
    if (al_buf_failed(&res->rows)) {
        res->rows.n = json;
        res->rows.failed = false;
        res->w = before;
        if (!res->full)
            res->lines.n = text;
        return false;
    }
    if (!res->full) {
        end_line(res, text);
        res->shown += res->full ? 0 : 1;
    }
    return true;
}

static const char *type_name(unsigned bits)
{
    bits &= ~(1u << SQLITE_NULL);
    if (bits == 0)
        return "null";
    if (bits == 1u << SQLITE_INTEGER)
        return "integer";
    if (bits == 1u << SQLITE_FLOAT || bits == (1u << SQLITE_FLOAT | 1u << SQLITE_INTEGER))
        return "real";
    if (bits == 1u << SQLITE_TEXT)
        return "text";
    return bits == 1u << SQLITE_BLOB ? "blob" : "mixed";
}

static void write_notes(struct al_jw *w, const struct al_query_state *s)
{
    al_jw_key(w, "notes");
    al_jw_arr(w);
    for (size_t i = 0; i < s->n_notes; i++)
        al_jw_strz(w, s->notes[i]);
    al_jw_end(w);
}

static void write_json(struct result *res)
{
    struct al_rows *r = res->r;
    struct al_jw w;
    al_jw_init(&w, r->out->json);
    al_jw_obj(&w);
    al_jw_key(&w, "columns");
    al_jw_arr(&w);
    for (int i = 0; i < res->n_columns; i++) {
        const char *name = sqlite3_column_name(r->stmt, i);
        al_jw_obj(&w);
        al_jw_kstr(&w, "name", al_utf8_cut(al_str_of(name ? name : ""), 256));
        al_jw_kstrz(&w, "type", type_name(res->types[i]));
        al_jw_end(&w);
    }
    al_jw_end(&w);
    al_jw_kraw(&w, "rows", al_buf_str(&res->rows));
    al_jw_kint(&w, "rowCount", (int64_t)r->n);
    al_jw_kbool(&w, "truncated", r->truncated);
    al_jw_kint(&w, "clipped", (int64_t)res->clipped);
    write_notes(&w, r->s);
    al_jw_end(&w);
}

static void write_text(struct result *res)
{
    struct al_rows *r = res->r;
    struct al_buf *out = r->out->text;
    al_buf_add_str(out, al_buf_str(&res->lines));
    al_buf_addf(out, "[%llu row%s", (unsigned long long)r->n, r->n == 1 ? "" : "s");
    if (r->truncated)
        al_buf_adds(out, "; truncated, there are more");
    if (res->clipped > 0)
        al_buf_addf(out, "; %llu long cell%s shortened", (unsigned long long)res->clipped,
                    res->clipped == 1 ? "" : "s");
    if (res->full)
        al_buf_addf(out, "; output shortened to %llu row%s", (unsigned long long)res->shown,
                    res->shown == 1 ? "" : "s");
    for (size_t i = 0; i < r->s->n_notes; i++) {
        al_buf_clear(&res->cell);
        al_utf8_clean(&res->cell, al_str_of(r->s->notes[i]));
        al_buf_adds(out, "; note: ");
        al_text_visible(out, al_buf_str(&res->cell), false);
    }
    al_buf_addc(out, ']');
}

static int step_all(struct result *res)
{
    struct al_rows *r = res->r;
    uint64_t max = r->q->max_rows ? r->q->max_rows : DEFAULT_ROWS;
    int rc;
    while ((rc = sqlite3_step(r->stmt)) == SQLITE_ROW && !r->s->met) {
        r->truncated = r->n == max;
        if (r->truncated)
            break;
        if (!write_row(res)) {
            r->truncated = true;
            al_query_note(
                r->s,
                "the result was cut at %llu rows, where it is as large as a result may be; select fewer "
                "columns, or write it to a file",
                (unsigned long long)r->n);
            break;
        }
        r->n++;
    }
    return r->truncated || rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int al_result_write(struct al_rows *r, int *rc, struct al_err *err)
{
    int n = sqlite3_column_count(r->stmt);
    size_t max = r->out->json->max, head = (size_t)n * 640 + 8192;
    struct result res = {.r = r, .n_columns = n};
    if (max < head)
        return al_fail(err, AL_QUERY_LIMIT, "%d columns are too many for a result", n);
    res.types = al_xcalloc((size_t)n + 1, sizeof *res.types);
    al_buf_init(&res.rows, max - head);
    al_buf_init(&res.lines, (size_t)MAX_TEXT * 8);
    al_buf_init(&res.cell, (size_t)AL_QUERY_CELL * 4);
    al_jw_init(&res.w, &res.rows);
    al_jw_arr(&res.w);
    write_header(&res);
    *rc = step_all(&res);
    res.rows.max += 16;
    al_jw_end(&res.w);
    if (*rc == SQLITE_OK && !r->s->met) {
        al_lies_notes(r->s);
        write_json(&res);
        write_text(&res);
    }
    al_buf_free(&res.rows);
    al_buf_free(&res.lines);
    al_buf_free(&res.cell);
    free(res.types);
    if (*rc == SQLITE_OK && (al_buf_failed(r->out->json) || al_buf_failed(r->out->text)))
        return al_fail(err, AL_QUERY_LIMIT, "the result is too large");
    return *rc == SQLITE_OK ? 0 : -1;
}
