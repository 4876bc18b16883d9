/* A sheet's rows as a table: its header, its columns, its order. */
#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

/* What is looked at before anything is given out; a sheet within these bounds is put into order, too. */
#define SAMPLE_ROWS 1000
#define SAMPLE_CELLS 100000
#define MAX_GROUP 256 /* bytes of a label that are repeated for those to its right */
#define SAMPLE_TEXT ((size_t)4 << 20)

struct table {
    struct al_xlsx *w;
    const struct al_xlsx_sheet *sheet;
    struct al_xlsx_reader *reader;
    struct al_xlsx_batch batch;
    bool whole;   /* the batch holds all rows */
    uint64_t top; /* rows above this number are no part of the table */
    uint64_t last;
    uint16_t map[AL_XLSX_COLUMNS]; /* column of the sheet → column of the table + 1; 0: none */
    size_t n;
    struct al_cell *cells; /* n, NULL but for the row's own */
};

static void note_disorder(struct table *t, uint64_t row)
{
    const struct al_table_sink *s = t->w->sink;
    s->note(s->ud, AL_NOTE_OTHER, row, "sheet \"%.100s\": rows do not stand in the order of their numbers",
            t->sheet->name);
}

static int row_cmp(const void *a, const void *b)
{
    const struct al_xlsx_row *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int read_sample(struct table *t, struct al_err *err)
{
    struct al_xlsx_batch *b = &t->batch;
    bool sorted = true;
    while (b->n_rows < SAMPLE_ROWS && b->n_cells < SAMPLE_CELLS && b->text.n < SAMPLE_TEXT) {
        size_t n = b->n_rows, n_cells = b->n_cells, n_text = b->text.n;
        int r = al_xlsx_reader_row(t->reader, b, err);
        if (r < 0)
            return -1;
        if (r == 0) {
            t->whole = true;
            break;
        }
        if (b->rows[n].number <= t->top) {
            b->n_rows = n;
            b->n_cells = n_cells;
            b->text.n = n_text;
            continue;
        }
        if (n && sorted && b->rows[n].number <= b->rows[n - 1].number) {
            sorted = false;
            note_disorder(t, b->rows[n].number);
        }
    }
    if (!sorted)
        qsort(b->rows, b->n_rows, sizeof *b->rows, row_cmp);
    return 0;
}

/* ---- columns ---- */

/* Columns with a value, as far as is known: map is 1 for them, n their number. */
static void mark_rows(struct table *t, const struct al_xlsx_batch *b, size_t from)
{
    for (size_t i = from; i < b->n_rows; i++)
        for (uint32_t k = 0; k < b->rows[i].n; k++) {
            uint16_t *at = &t->map[b->cells[b->rows[i].first + k].column];
            t->n += !*at;
            *at = 1;
        }
}

/* Whether the rows seen have a cell in each column that the sheet says it has, and in no other. */
static bool all_seen(const struct table *t)
{
    unsigned first, last;
    if (!al_xlsx_reader_dimension(t->reader, &first, &last))
        return false;
    for (unsigned c = 0; c < AL_XLSX_COLUMNS; c++)
        if ((t->map[c] != 0) != (c >= first && c <= last))
            return false;
    return true;
}

/* A pass over the whole sheet that only looks for columns. */
static int mark_all(struct table *t, struct al_err *err)
{
    struct al_xlsx_reader *r = NULL;
    struct al_xlsx_batch b = {.text = AL_BUF_INIT(AL_XLSX_MAX_ROW * 2)};
    if (al_xlsx_reader_open(t->w, t->sheet, true, &r, err) < 0)
        return -1;
    int got = 0;
    while (t->n <= AL_TABLE_MAX_COLUMNS && (got = al_xlsx_reader_row(r, &b, err)) > 0) {
        if (b.rows[0].number > t->top)
            mark_rows(t, &b, 0);
        al_xlsx_batch_clear(&b);
    }
    al_xlsx_batch_free(&b);
    al_xlsx_reader_free(r);
    return got < 0 ? -1 : 0;
}

static int too_many(struct table *t, struct al_err *err)
{
    al_fail(err, AL_INGEST_LIMIT, "sheet \"%.100s\" has values in more than %d columns", t->sheet->name,
            AL_TABLE_MAX_COLUMNS);
    return al_hint(err, "export the part that is of use as CSV");
}

static int number_columns(struct table *t, struct al_err *err)
{
    if (t->n > AL_TABLE_MAX_COLUMNS)
        return too_many(t, err);
    t->n = 0;
    for (unsigned c = 0; c < AL_XLSX_COLUMNS; c++) {
        if (!t->map[c])
            continue;
        t->map[c] = (uint16_t)++t->n;
    }
    /* So many, for columns that come late. */
    t->cells = al_xcalloc(AL_TABLE_MAX_COLUMNS, sizeof *t->cells);
    for (size_t i = 0; i < AL_TABLE_MAX_COLUMNS; i++)
        t->cells[i] = (struct al_cell){{"", 0}, AL_CELL_NULL};
    return 0;
}

/* A header of several rows: "Price" above "EUR" is "Price EUR". */
static void join_labels(struct table *t, const struct al_xlsx_head *head, struct al_buf *parts)
{
    for (unsigned h = 0; h < head->header_rows; h++) {
        const struct al_xlsx_row *r = &t->batch.rows[head->preamble + h];
        autofree struct al_str *cells = al_xcalloc(t->n + 1, sizeof *cells);
        for (uint32_t k = 0; k < r->n; k++) {
            const struct al_xlsx_cell *c = &t->batch.cells[r->first + k];
            cells[t->map[c->column] - 1] = al_xlsx_cell_text(&t->batch, c);
        }
        size_t group = 0; /* length of the label that the cells to the right take, too */
        for (size_t i = 0; i < t->n; i++) {
            if (head->grouped && h && i && !parts[i].n && cells[i].n)
                al_buf_add(&parts[i], parts[i - 1].p, group);
            else if (parts[i].n)
                group = parts[i].n <= MAX_GROUP ? parts[i].n : 0;
            if (parts[i].n && cells[i].n)
                al_buf_addc(&parts[i], ' ');
            al_buf_add_str(&parts[i], cells[i]);
        }
    }
}

static int give_columns(struct table *t, const struct al_xlsx_head *head, struct al_err *err)
{
    const struct al_table_sink *s = t->w->sink;
    autofree struct al_str *labels = al_xcalloc(t->n + 1, sizeof *labels);
    struct al_buf *parts = al_xcalloc(t->n + 1, sizeof *parts);
    for (size_t i = 0; i < t->n; i++)
        al_buf_init(&parts[i], 4 * AL_TABLE_MAX_CELL + 16);
    join_labels(t, head, parts);
    for (size_t i = 0; i < t->n; i++)
        labels[i] = parts[i].n ? al_buf_str(&parts[i]) : AL_STR("");
    if (!head->header_rows && !t->w->opts->header)
        s->note(
            s->ud, AL_NOTE_HEADER, 0,
            "sheet \"%.100s\": the first row looks like data, so the columns have no names: say header when "
            "it is one",
            t->sheet->name);
    if (head->header_rows > 1)
        s->note(s->ud, AL_NOTE_HEADER, t->batch.rows[head->preamble].number,
                "sheet \"%.100s\": the header has %u rows: each name is made of them", t->sheet->name,
                head->header_rows);
    int r = s->columns(s->ud, labels, t->n, err);
    for (size_t i = 0; i < t->n; i++)
        al_buf_free(&parts[i]);
    free(parts);
    return r;
}

/* ---- rows ---- */

static int late_column(struct table *t, unsigned column, struct al_err *err)
{
    const struct al_table_sink *s = t->w->sink;
    if (t->n == AL_TABLE_MAX_COLUMNS)
        return too_many(t, err);
    t->map[column] = (uint16_t)++t->n;
    s->note(s->ud, AL_NOTE_OTHER, 0, "sheet \"%.100s\" says that it has fewer columns than it has",
            t->sheet->name);
    return s->late_column(s->ud, AL_STR(""), err);
}

static int give_row(struct table *t, const struct al_xlsx_batch *b, const struct al_xlsx_row *r,
                    struct al_err *err)
{
    const struct al_table_sink *s = t->w->sink;
    const struct al_xlsx_cell *c = b->cells + r->first, *end = c + r->n;
    for (; c < end; c++) {
        if (!t->map[c->column] && late_column(t, c->column, err) < 0)
            return -1;
        t->cells[t->map[c->column] - 1] =
            (struct al_cell){al_xlsx_cell_text(b, c), (enum al_cell_kind)c->kind};
    }
    if (t->last && r->number > t->last + 1)
        s->note(s->ud, AL_NOTE_BLANK_LINES, t->last + 1,
                "sheet \"%.100s\": rows without a value are left out", t->sheet->name);
    t->last = r->number;
    int ok = s->row(s->ud, t->cells, t->n, r->number, err);
    for (c = b->cells + r->first; c < end; c++)
        t->cells[t->map[c->column] - 1] = (struct al_cell){{"", 0}, AL_CELL_NULL};
    return ok;
}

/* Those of one number are one row: of two cells at a place the later one counts. */
static size_t join_rows(struct al_xlsx_batch *b, size_t i, struct al_xlsx_row *ret,
                        struct al_xlsx_cell **ret_cells)
{
    size_t end = i + 1, n = b->rows[i].n;
    *ret = b->rows[i];
    *ret_cells = NULL;
    for (; end < b->n_rows && b->rows[end].number == b->rows[i].number; end++)
        n += b->rows[end].n;
    if (end == i + 1)
        return end;
    struct al_xlsx_cell *all = al_xmalloc(n * sizeof *all);
    n = 0;
    for (size_t k = i; k < end; k++) {
        memcpy(all + n, b->cells + b->rows[k].first, b->rows[k].n * sizeof *all);
        n += b->rows[k].n;
    }
    ret->first = 0;
    ret->n = (uint32_t)n;
    *ret_cells = all;
    return end;
}

static int give_sample(struct table *t, size_t from, struct al_err *err)
{
    struct al_xlsx_batch *b = &t->batch;
    for (size_t i = from; i < b->n_rows;) {
        struct al_xlsx_row row;
        struct al_xlsx_cell *joined;
        i = join_rows(b, i, &row, &joined);
        struct al_xlsx_batch view = *b;
        if (joined)
            view.cells = joined;
        int r = give_row(t, &view, &row, err);
        free(joined);
        if (r < 0)
            return -1;
    }
    return 0;
}

static int give_rest(struct table *t, struct al_err *err)
{
    struct al_xlsx_batch *b = &t->batch;
    for (;;) {
        al_xlsx_batch_clear(b);
        int r = al_xlsx_reader_row(t->reader, b, err);
        if (r <= 0)
            return r;
        if (b->rows[0].number <= t->w->opts->skip_rows)
            continue;
        if (b->rows[0].number <= t->last) {
            note_disorder(t, b->rows[0].number);
            t->last = b->rows[0].number - 1; /* no gap to speak of */
        }
        if (give_row(t, b, &b->rows[0], err) < 0)
            return -1;
    }
}

/* ---- the sheet ---- */

static void note_preamble(struct table *t, size_t n)
{
    const struct al_table_sink *s = t->w->sink;
    autobuf struct al_buf text = AL_BUF_INIT(1024);
    for (size_t i = 0; i < n; i++) {
        const struct al_xlsx_row *r = &t->batch.rows[i];
        for (uint32_t k = 0; k < r->n; k++) {
            struct al_str cell =
                al_utf8_cut(al_xlsx_cell_text(&t->batch, &t->batch.cells[r->first + k]), 200);
            al_buf_adds(&text, text.n ? k ? " | " : " / " : "");
            al_buf_add_str(&text, cell);
        }
    }
    s->note(s->ud, AL_NOTE_PREAMBLE, t->batch.rows[0].number, "sheet \"%.100s\", above the table: %.*s",
            t->sheet->name, AL_FMT(al_utf8_cut(al_buf_str(&text), 600)));
}

static int give_nothing(struct table *t, struct al_err *err)
{
    const struct al_table_sink *s = t->w->sink;
    struct al_str label = AL_STR("");
    s->note(s->ud, AL_NOTE_EMPTY_SHEET, 0, "sheet \"%.100s\" has no values", t->sheet->name);
    return s->columns(s->ud, &label, 1, err);
}

static int read_table(struct table *t, struct al_err *err)
{
    const struct al_table_sink *s = t->w->sink;
    struct al_xlsx_head head;
    if (s->sheet(s->ud, al_str_of(t->sheet->name), err) < 0)
        return -1;
    if (t->sheet->hidden)
        s->note(s->ud, AL_NOTE_HIDDEN_SHEET, 0, "sheet \"%.100s\" is hidden; it was read, too",
                t->sheet->name);
    if (read_sample(t, err) < 0)
        return -1;
    if (!t->batch.n_rows)
        return give_nothing(t, err);
    al_xlsx_find_head(&t->batch, t->w->opts, &head);
    if (head.preamble) {
        note_preamble(t, head.preamble);
        t->top = t->batch.rows[head.preamble - 1].number;
    }
    mark_rows(t, &t->batch, head.preamble);
    if (!t->whole && !all_seen(t) && mark_all(t, err) < 0)
        return -1;
    if (number_columns(t, err) < 0)
        return -1;
    if (give_columns(t, &head, err) < 0)
        return -1;
    size_t data = head.preamble + head.header_rows;
    if (head.header_rows)
        t->last = t->batch.rows[data - 1].number;
    if (give_sample(t, data, err) < 0)
        return -1;
    return t->whole ? 0 : give_rest(t, err);
}

int al_xlsx_table(struct al_xlsx *w, const struct al_xlsx_sheet *sheet, struct al_err *err)
{
    struct table *t = al_xcalloc(1, sizeof *t);
    t->w = w;
    t->sheet = sheet;
    t->top = w->opts->skip_rows;
    al_buf_init(&t->batch.text, SAMPLE_TEXT + 2 * AL_XLSX_MAX_ROW);
    int r = al_xlsx_reader_open(w, sheet, false, &t->reader, err);
    if (r == 0)
        r = read_table(t, err);
    al_xlsx_reader_free(t->reader);
    al_xlsx_batch_free(&t->batch);
    free(t->cells);
    free(t);
    return r;
}
