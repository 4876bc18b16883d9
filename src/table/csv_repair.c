#include "table/csv_int.h"

#include "base/mem.h"

#include <stdio.h>

#define LOOK ((size_t)256 << 10)       /* how far a field with an odd quote is followed */
#define FREE_LOOKS ((uint64_t)8 << 20) /* what all repairs of a file may look at, and 8 bytes a byte read */

/*
 * What an odd quote meant cannot be known; what the other rows look like says which reading is right. So each
 * reading is tried, and the first that gives a row of the table's width on one line wins. Then those over
 * several lines. Else the quote is text, so that no line is swallowed.
 */
static const struct reading {
    enum al_csv_mode mode;
    bool literal; /* the quote that opened the field is text */
} readings[] = {
    {AL_CSV_INNER, false},
    {AL_CSV_CLOSE, false},
    {AL_CSV_INNER, true},
    {AL_CSV_NODOUBLE, false},
};
#define N_READINGS (sizeof readings / sizeof readings[0])

static const char *line_end(const char *p, const char *e)
{
    while (p < e && *p != '\n' && *p != '\r')
        p++;
    return p < e ? p + 1 + (*p == '\r' && p + 1 < e && p[1] == '\n') : e;
}

static void read_as(struct al_csv *c, struct al_csv_slow *k, struct reading r, const char *trouble,
                    const char *e, bool eof)
{
    k->mode = r.mode;
    k->literal_at = r.literal ? trouble : NULL;
    k->literal_from = NULL;
    al_csv_slow_record(k, c->p, e, eof);
    c->spent += (uint64_t)(k->end - c->p);
}

static void keep(struct al_csv *c)
{
    struct al_csv_slow other = c->best;
    c->best = c->slow;
    c->slow = other;
}

/* Rows that fit: one line before several, few quotes that stay odd before many, then the order of the table.
 */
static bool find_fitting(struct al_csv *c, const char *trouble, const char *e, bool eof)
{
    bool found = false;
    for (size_t i = 0; i < N_READINGS; i++) {
        const struct al_csv_slow *k = &c->slow, *best = &c->best;
        read_as(c, &c->slow, readings[i], trouble, e, eof);
        if (!k->whole || (c->width ? k->n != c->width : k->lines > 1))
            continue;
        bool one = k->lines == 1, best_one = best->lines == 1;
        if (!found || (one && !best_one) ||
            (one == best_one && !readings[i].literal && k->stray < best->stray))
            keep(c);
        found = true;
    }
    return found;
}

/* Nothing gives the width: a reading that stays on its line, or the line as it stands from the quote on. */
static void take_some(struct al_csv *c, const char *trouble, bool open, const char *e, bool eof)
{
    for (size_t i = 0; i < 2 && !open; i++) {
        read_as(c, &c->slow, readings[i], trouble, e, eof);
        if (c->slow.whole && c->slow.lines == 1) {
            keep(c);
            return;
        }
    }
    c->slow.mode = AL_CSV_INNER;
    c->slow.literal_at = NULL;
    c->slow.literal_from = trouble;
    al_csv_slow_record(&c->slow, c->p, c->e, c->eof);
    keep(c);
}

bool al_csv_repair(struct al_csv *c, enum al_csv_got why)
{
    bool open = why == AL_CSV_OPEN, eof = c->eof;
    const char *e = c->e, *trouble = c->open;
    if (!eof && (size_t)(e - c->p) < LOOK && !open)
        return false;
    if ((size_t)(e - c->open) > LOOK && !open) {
        e = line_end(c->open + LOOK, e);
        eof = eof || e < c->e;
    }
    /* What comes behind the end of the line is not the answer for a quote without end. */
    if (open || c->spent > 8 * c->consumed + FREE_LOOKS) {
        e = line_end(trouble, c->e);
        eof = eof || e < c->e || (e > c->p && (e[-1] == '\n'));
    }
    bool fits = find_fitting(c, trouble, e, eof);
    if (!fits)
        take_some(c, trouble, open, e, eof);
    const struct al_csv_slow *k = &c->best;
    if (!k->whole && !c->eof)
        return false;
    c->n = k->n;
    size_t n = k->n < AL_CSV_MAX_CELLS ? k->n : AL_CSV_MAX_CELLS;
    for (size_t i = 0; i < n; i++)
        c->cells[i] =
            (struct al_cell){{al_buf_str(&k->text).p + k->spans[i].at, k->spans[i].n}, AL_CELL_TEXT};
    c->next = c->p + (k->end - c->p);
    c->lines = k->lines;
    if (open || k->literal_from || (k->literal_at && k->lines == 1))
        c->sink->note(c->sink->ud, AL_NOTE_UNTERMINATED_QUOTE, c->line,
                      "a quote opens a field and does not end it well: the quote is kept as text");
    else
        c->sink->note(c->sink->ud, AL_NOTE_STRAY_QUOTE, c->line, "%s",
                      k->mode == AL_CSV_CLOSE ? "text behind a closing quote: kept as part of the cell"
                                              : "a quote within a quoted field: kept as text");
    return true;
}
