/* A sheet's first rows as those of its export: every row as wide as the sheet, rows without a value blank. */
#include "table/xlsx_int.h"

#include "base/mem.h"

struct sample {
    struct al_head_table t;
    size_t source[AL_HEAD_ROWS]; /* of its rows: the batch's row, or the next one of a blank row */
};

static void span(const struct al_xlsx_batch *b, unsigned *ret_first, size_t *ret_n)
{
    unsigned first = AL_XLSX_COLUMNS, last = 0;
    for (size_t i = 0; i < b->n_rows; i++) {
        const struct al_xlsx_row *r = &b->rows[i];
        unsigned from = b->cells[r->first].column, to = b->cells[r->first + r->n - 1].column;
        first = from < first ? from : first;
        last = to > last ? to : last;
    }
    *ret_first = first;
    *ret_n = last - first + 1;
}

static struct al_head_row *add_row(struct sample *s, size_t source, size_t width)
{
    s->source[s->t.n] = source;
    struct al_head_row *r = &s->t.rows[s->t.n++];
    *r = (struct al_head_row){.n = width};
    return r;
}

static void read_rows(const struct al_xlsx_batch *b, struct sample *s)
{
    unsigned first;
    size_t width;
    uint64_t last = 0;
    span(b, &first, &width);
    for (size_t i = 0; i < b->n_rows && s->t.n < AL_HEAD_ROWS; i++) {
        const struct al_xlsx_row *r = &b->rows[i];
        for (; last && last + 1 < r->number && s->t.n < AL_HEAD_ROWS; last++)
            add_row(s, i, width);
        last = r->number;
        if (s->t.n == AL_HEAD_ROWS)
            break;
        struct al_head_row *h = add_row(s, i, width);
        const struct al_xlsx_cell *c = b->cells + r->first;
        for (uint32_t k = 0; k < r->n; k++)
            al_head_cell(h, c[k].column - first, al_xlsx_cell_text(b, &c[k]));
        struct al_str text = al_xlsx_cell_text(b, c);
        h->comment = c->column == 0 && text.n && *text.p == '#';
        h->tail = first + width - 1 - c[r->n - 1].column;
    }
    s->t.width = width;
}

void al_xlsx_find_head(const struct al_xlsx_batch *b, const struct al_table_opts *opts,
                       struct al_xlsx_head *ret)
{
    struct sample *s = al_xcalloc(1, sizeof *s);
    struct al_head h = {0};
    *ret = (struct al_xlsx_head){0};
    if (b->n_rows) {
        s->t.rows = al_xcalloc(AL_HEAD_ROWS, sizeof *s->t.rows);
        read_rows(b, s);
        al_head_find(&s->t, opts, &h);
        ret->preamble = s->source[h.at];
        ret->grouped = h.grouped;
        /* Of the header's rows, those that have a value. */
        for (size_t i = 0; i < h.header_rows; i++) {
            size_t source = s->source[h.at + i];
            bool blank = h.at + i + 1 < s->t.n && s->source[h.at + i + 1] == source;
            ret->header_rows += !blank || i + 1 == h.header_rows;
        }
    }
    free(s->t.rows);
    free(s);
}
