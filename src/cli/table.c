#include "cli/table.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/app.h"
#include "cli/term.h"

#include <stdio.h>

#define MIN_COLUMN 8

void al_table_init(struct al_table *t, const char *const *heads)
{
    *t = (struct al_table){.heads = heads};
    while (heads[t->n_columns])
        t->n_columns++;
}

void al_table_free(struct al_table *t)
{
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].text);
    free(t->cells);
    t->cells = NULL;
    t->n_cells = t->cap = 0;
}

static void add_owned(struct al_table *t, char *text, enum al_style style)
{
    if (t->n_cells == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 64;
        t->cells = al_xrealloc(t->cells, t->cap * sizeof *t->cells);
    }
    t->cells[t->n_cells++] = (struct al_table_cell){text, style};
}

void al_table_add_style(struct al_table *t, const char *text, enum al_style style)
{
    add_owned(t, al_xstrdup(text), style);
}

void al_table_add(struct al_table *t, const char *text)
{
    al_table_add_style(t, text, AL_PLAIN);
}

void al_table_add_str(struct al_table *t, struct al_str text)
{
    add_owned(t, al_xdup(text.p, text.n), AL_PLAIN);
}

void al_table_addf(struct al_table *t, const char *fmt, ...)
{
    char line[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    al_table_add(t, line);
}

/* A cell is one line, whatever its text holds. */
static void clean_cells(const struct al_app *app, struct al_table *t)
{
    for (size_t i = 0; i < t->n_cells; i++) {
        struct al_buf b = AL_BUF_INIT(AL_REPLY_MAX);
        al_say_foreign(app, &b, al_str_of(t->cells[i].text), false);
        for (size_t k = 0; k < b.n; k++)
            if (b.p[k] == '\n' || b.p[k] == '\r' || b.p[k] == '\t')
                b.p[k] = ' ';
        free(t->cells[i].text);
        t->cells[i].text = al_xdup(b.p, b.n);
        al_buf_free(&b);
    }
}

static void measure(const struct al_table *t, unsigned width[AL_TABLE_COLUMNS])
{
    for (unsigned c = 0; c < t->n_columns; c++)
        width[c] = al_term_columns(al_str_of(t->heads[c]));
    for (size_t i = 0; i < t->n_cells; i++) {
        unsigned n = al_term_columns(al_str_of(t->cells[i].text));
        if (n > width[i % t->n_columns])
            width[i % t->n_columns] = n;
    }
}

/* Takes columns from the widest until the row fits, or until every column is narrow. */
static void fit(const struct al_table *t, unsigned width[AL_TABLE_COLUMNS], unsigned room)
{
    for (;;) {
        unsigned total = 2 * (t->n_columns - 1), widest = 0, at = 0;
        for (unsigned c = 0; c < t->n_columns; c++) {
            total += width[c];
            if (!(t->fixed & UINT64_C(1) << c) && width[c] > widest) {
                widest = width[c];
                at = c;
            }
        }
        if (total <= room || widest <= MIN_COLUMN)
            return;
        unsigned over = total - room, spare = widest - MIN_COLUMN;
        /* One at a time near the end, so that two wide columns share the loss. */
        unsigned take = over / 2 + 1 < spare ? over / 2 + 1 : spare;
        width[at] -= take;
    }
}

static void pad(struct al_buf *out, unsigned n)
{
    while (n-- > 0)
        al_buf_addc(out, ' ');
}

static void print_cell(const struct al_app *app, const struct al_table *t, unsigned column, unsigned width,
                       struct al_table_cell cell, struct al_buf *out)
{
    struct al_str s = al_str_of(cell.text);
    bool last = column + 1 == t->n_columns;
    unsigned n = al_term_columns(s);
    bool cut = n > width;
    if (cut) {
        s = al_term_cut(s, width - 1);
        n = al_term_columns(s) + 1;
    }
    bool right = t->right & UINT64_C(1) << column;
    if (right)
        pad(out, width - n);
    al_buf_adds(out, al_style_on(app->color, cell.style));
    al_buf_add_str(out, s);
    if (cut)
        al_buf_adds(out, "…");
    al_buf_adds(out, al_style_off(app->color, cell.style));
    if (!last) {
        if (!right)
            pad(out, width - n);
        al_buf_adds(out, "  ");
    }
}

void al_table_print(const struct al_app *app, struct al_table *t, struct al_buf *out)
{
    if (t->n_cells == 0)
        return;
    unsigned width[AL_TABLE_COLUMNS];
    clean_cells(app, t);
    measure(t, width);
    if (app->width)
        fit(t, width, app->width);
    for (unsigned c = 0; c < t->n_columns; c++) {
        char head[64];
        snprintf(head, sizeof head, "%s", t->heads[c]);
        print_cell(app, t, c, width[c], (struct al_table_cell){head, AL_DIM}, out);
    }
    al_buf_addc(out, '\n');
    for (size_t i = 0; i < t->n_cells; i++) {
        unsigned c = (unsigned)(i % t->n_columns);
        print_cell(app, t, c, width[c], t->cells[i], out);
        if (c + 1 == t->n_columns)
            al_buf_addc(out, '\n');
    }
}
