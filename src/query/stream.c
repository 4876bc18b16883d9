/* Rows as the bytes of a file: CSV and TSV (RFC 4180, LF), JSON Lines, JSON. */
#include "query/query_int.h"

#include "base/ident.h"
#include "base/mem.h"
#include "base/text.h"
#include "dataset/cell.h"

#include <stdio.h>
#include <stdlib.h>

#define CHUNK ((size_t)64 << 10)
#define MAX_SAFE ((int64_t)1 << 53)

struct stream {
    struct al_rows *r;
    struct al_buf out, cell;
    int n_columns;
    char **names; /* JSONL: no name twice */
    int *scales;  /* exact: of the column in its file, or -1 */
    bool gone;    /* the reader */
};

/* The time in which the reader takes nothing is not the statement's. */
static void flush(struct stream *t, size_t from)
{
    if (t->out.n < from || t->out.n == 0)
        return;
    uint64_t began_ns = al_mono_ns();
    if (!t->gone && t->r->out->chunk && !t->r->out->chunk(t->r->out->ud, al_buf_str(&t->out)))
        t->gone = true;
    if (t->r->s->deadline_ns)
        t->r->s->deadline_ns += (int64_t)(al_mono_ns() - began_ns);
    al_buf_clear(&t->out);
}

/* A spreadsheet takes such a text for a formula. */
static bool is_formula(struct al_str s)
{
    if (s.n == 0 || !strchr("=+-@\t\r", s.p[0]))
        return false;
    size_t i = 1, digits = 0;
    if (s.p[0] != '-' && s.p[0] != '+')
        return true;
    for (bool point = false; i < s.n; i++) {
        if (s.p[i] == '.' && !point)
            point = true;
        else if (s.p[i] >= '0' && s.p[i] <= '9')
            digits++;
        else
            return true;
    }
    return digits == 0;
}

static void add_delimited(struct stream *t, struct al_str s, bool text)
{
    char delimiter = t->r->q->format == AL_QUERY_TSV ? '\t' : ',';
    bool guard = text && !t->r->q->exact && is_formula(s), quote = false;
    for (size_t i = 0; i < s.n && !quote; i++)
        quote = s.p[i] == delimiter || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r';
    if (quote)
        al_buf_addc(&t->out, '"');
    if (guard)
        al_buf_addc(&t->out, '\'');
    for (size_t i = 0; quote && i < s.n;) {
        const char *q = memchr(s.p + i, '"', s.n - i);
        size_t n = q ? (size_t)(q - s.p) - i + 1 : s.n - i;
        al_buf_add(&t->out, s.p + i, n);
        if (q)
            al_buf_addc(&t->out, '"');
        i += n;
        flush(t, CHUNK);
    }
    if (!quote)
        al_buf_add_str(&t->out, s);
    if (quote)
        al_buf_addc(&t->out, '"');
}

static void add_json_text(struct stream *t, struct al_str s)
{
    autobuf struct al_buf piece = AL_BUF_INIT(CHUNK * 8);
    al_buf_addc(&t->out, '"');
    while (s.n > 0) {
        struct al_jw w;
        struct al_str head = al_utf8_cut(s, CHUNK / 2);
        if (head.n == 0)
            head = (struct al_str){s.p, 1};
        al_buf_clear(&piece);
        al_jw_init(&w, &piece);
        al_jw_str(&w, head);
        al_buf_add(&t->out, piece.p + 1, piece.n - 2);
        s = (struct al_str){s.p + head.n, s.n - head.n};
        flush(t, CHUNK);
    }
    al_buf_addc(&t->out, '"');
}

static void add_number(struct stream *t, int i)
{
    sqlite3_stmt *stmt = t->r->stmt;
    if (sqlite3_column_type(stmt, i) == SQLITE_INTEGER && t->scales[i] <= 0)
        al_buf_addf(&t->cell, "%lld", (long long)sqlite3_column_int64(stmt, i));
    else if (t->r->q->exact)
        al_cell_print(sqlite3_column_double(stmt, i), t->scales[i], &t->cell);
    else
        al_cell_real(sqlite3_column_double(stmt, i), &t->cell);
}

static void add_delimited_cell(struct stream *t, int i)
{
    sqlite3_stmt *stmt = t->r->stmt;
    int type = sqlite3_column_type(stmt, i);
    al_buf_clear(&t->cell);
    if (type == SQLITE_TEXT) {
        const char *z = (const char *)sqlite3_column_text(stmt, i);
        struct al_str s = {z ? z : "", z ? (size_t)sqlite3_column_bytes(stmt, i) : 0};
        add_delimited(t, t->r->q->exact ? s : al_cell_text(stmt, i, &t->cell), true);
        return;
    }
    if (type == SQLITE_BLOB)
        al_buf_addf(&t->cell, "<blob %d bytes>", sqlite3_column_bytes(stmt, i));
    else if (type != SQLITE_NULL)
        add_number(t, i);
    add_delimited(t, al_buf_str(&t->cell), false);
}

static void add_json_cell(struct stream *t, int i)
{
    sqlite3_stmt *stmt = t->r->stmt;
    struct al_jw w;
    int64_t n;
    al_jw_init(&w, &t->out);
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        n = sqlite3_column_int64(stmt, i);
        if (n > -MAX_SAFE && n < MAX_SAFE)
            al_jw_int(&w, n);
        else
            al_buf_addf(&t->out, "\"%lld\"", (long long)n);
        break;
    case SQLITE_FLOAT:
        al_jw_double(&w, sqlite3_column_double(stmt, i));
        break;
    case SQLITE_TEXT:
        al_buf_clear(&t->cell);
        add_json_text(t, al_cell_text(stmt, i, &t->cell));
        break;
    case SQLITE_BLOB:
        al_buf_addf(&t->out, "\"<blob %d bytes>\"", sqlite3_column_bytes(stmt, i));
        break;
    default:
        al_buf_adds(&t->out, "null");
        break;
    }
}

static void add_row(struct stream *t)
{
    enum al_query_format f = t->r->q->format;
    bool delimited = f == AL_QUERY_CSV || f == AL_QUERY_TSV;
    if (f == AL_QUERY_JSON)
        al_buf_adds(&t->out, t->r->n > 0 ? ",\n[" : "\n[");
    if (f == AL_QUERY_JSONL)
        al_buf_addc(&t->out, '{');
    for (int i = 0; i < t->n_columns && !t->gone; i++) {
        if (i > 0)
            al_buf_addc(&t->out, f == AL_QUERY_TSV ? '\t' : ',');
        if (f == AL_QUERY_JSONL) {
            add_json_text(t, al_str_of(t->names[i]));
            al_buf_addc(&t->out, ':');
        }
        if (delimited)
            add_delimited_cell(t, i);
        else
            add_json_cell(t, i);
        flush(t, CHUNK);
    }
    /* A row of one empty cell would be no row. */
    if (delimited && t->n_columns == 1 && sqlite3_column_type(t->r->stmt, 0) == SQLITE_NULL)
        al_buf_adds(&t->out, "\"\"");
    al_buf_adds(&t->out, f == AL_QUERY_JSON ? "]" : f == AL_QUERY_JSONL ? "}\n" : "\n");
    flush(t, CHUNK);
}

static void add_head(struct stream *t)
{
    enum al_query_format f = t->r->q->format;
    if (f == AL_QUERY_JSONL)
        return;
    if (f == AL_QUERY_JSON)
        al_buf_adds(&t->out, "{\"columns\":[");
    for (int i = 0; i < t->n_columns; i++) {
        const char *z = sqlite3_column_name(t->r->stmt, i);
        if (i > 0)
            al_buf_addc(&t->out, f == AL_QUERY_TSV ? '\t' : ',');
        if (f == AL_QUERY_JSON)
            add_json_text(t, al_str_of(z ? z : ""));
        else
            add_delimited(t, al_str_of(z ? z : ""), true);
    }
    al_buf_adds(&t->out, f == AL_QUERY_JSON ? "],\"rows\":[" : "\n");
}

/* Names of JSONL's members: the columns', and b_2 for a second b. */
static void make_names(struct stream *t)
{
    bool renamed = false;
    t->names = al_xcalloc((size_t)t->n_columns + 1, sizeof *t->names);
    for (int i = 0; i < t->n_columns; i++) {
        const char *z = sqlite3_column_name(t->r->stmt, i);
        autobuf struct al_buf name = AL_BUF_INIT(AL_QUERY_MAX_SQL + 16);
        al_buf_adds(&name, z ? z : "");
        for (int k = 2, j = 0; j < i; j++) {
            if (!al_str_is(al_buf_str(&name), t->names[j]))
                continue;
            al_buf_clear(&name);
            al_buf_addf(&name, "%s_%d", z ? z : "", k++);
            renamed = true;
            j = -1;
        }
        t->names[i] = al_buf_take(&name);
    }
    if (renamed)
        al_query_note(t->r->s, "columns of the same name got a number behind it");
}

static void find_scales(struct stream *t)
{
    sqlite3_stmt *stmt = t->r->stmt;
    t->scales = al_xcalloc((size_t)t->n_columns + 1, sizeof *t->scales);
    for (int i = 0; i < t->n_columns; i++) {
        const struct al_column *c =
            t->r->q->exact
                ? al_column_of(t->r->s, sqlite3_column_database_name(stmt, i),
                               sqlite3_column_table_name(stmt, i), sqlite3_column_origin_name(stmt, i))
                : NULL;
        t->scales[i] = c ? c->scale : -1;
    }
}

static void write_end(struct stream *t)
{
    struct al_query_state *s = t->r->s;
    struct al_jw w;
    al_lies_notes(s);
    if (t->r->q->format == AL_QUERY_JSON)
        al_buf_adds(&t->out, "\n]}\n");
    flush(t, 1);
    if (!t->r->out->json)
        return;
    al_jw_init(&w, t->r->out->json);
    al_jw_obj(&w);
    al_jw_kint(&w, "rowCount", (int64_t)t->r->n);
    al_jw_kbool(&w, "truncated", t->r->truncated);
    al_jw_key(&w, "notes");
    al_jw_arr(&w);
    for (size_t i = 0; i < s->n_notes; i++)
        al_jw_strz(&w, s->notes[i]);
    al_jw_end(&w);
    al_jw_end(&w);
}

static int step_all(struct stream *t)
{
    struct al_rows *r = t->r;
    int rc;
    while ((rc = sqlite3_step(r->stmt)) == SQLITE_ROW && !t->gone && !r->s->met) {
        r->truncated = r->q->max_rows > 0 && r->n == r->q->max_rows;
        if (r->truncated)
            break;
        add_row(t);
        r->n++;
    }
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int al_rows_stream(struct al_rows *r, int *rc, struct al_err *err)
{
    struct stream t = {.r = r, .n_columns = sqlite3_column_count(r->stmt)};
    /* A cell has at most 16 MiB, and an invalid byte becomes three. */
    al_buf_init(&t.out, (size_t)64 << 20);
    al_buf_init(&t.cell, (size_t)64 << 20);
    make_names(&t);
    find_scales(&t);
    add_head(&t);
    *rc = step_all(&t);
    if (*rc == SQLITE_OK && !t.gone && !r->s->met)
        write_end(&t);
    al_buf_free(&t.out);
    al_buf_free(&t.cell);
    for (int i = 0; i < t.n_columns; i++)
        free(t.names[i]);
    free(t.names);
    free(t.scales);
    if (*rc != SQLITE_OK)
        return -1;
    return t.gone ? al_fail(err, AL_CANCELLED, "the reader of the rows has gone") : 0;
}
