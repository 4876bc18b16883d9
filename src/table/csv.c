#include "table/csv_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

#define SAMPLE ((size_t)256 << 10) /* in memory before anything is decided */
#define MAX_GROUP 256              /* bytes of a header's cell that are repeated for those to its right */
#define SNIFF ((size_t)64 << 10)   /* of it, for the dialect, and more where lines are long */

static void move_to_start(struct al_csv *c)
{
    size_t left = (size_t)(c->e - c->p);
    if (c->p != c->win && left)
        memmove(c->win, c->p, left);
    c->p = c->win;
    c->e = c->win + left;
}

/* Adds at least want bytes to the window, or all there are. */
static int fill(struct al_csv *c, size_t want, struct al_err *err)
{
    move_to_start(c);
    size_t goal = (size_t)(c->e - c->win) + want;
    while (!c->eof && (size_t)(c->e - c->win) < goal) {
        struct al_str piece;
        if (al_source_next(c->src, &piece, err) < 0)
            return -1;
        size_t n = (size_t)(c->e - c->win);
        if (n + piece.n + AL_CSV_PAD > c->cap) {
            c->cap = (n + piece.n + AL_CSV_PAD) * 3 / 2;
            c->win = al_xrealloc(c->win, c->cap);
            c->p = c->win;
        }
        memcpy(c->win + n, piece.p, piece.n);
        c->e = c->win + n + piece.n;
        c->eof = piece.n == 0;
        c->consumed += piece.n;
        c->nul = c->nul || memchr(piece.p, 0, piece.n);
    }
    memset(c->e, 0, AL_CSV_PAD);
    return 0;
}

static int too_long(struct al_csv *c, const char *what, size_t limit, struct al_err *err)
{
    al_fail(err, AL_INGEST_LIMIT, "row %llu (line %llu) has %s of more than %zu MiB, a limit that is fixed",
            (unsigned long long)c->row + 1, (unsigned long long)c->line, what, limit >> 20);
    return al_hint(err, "look at that line: is the delimiter right, and the quoting?");
}

/* The next record: 1, or 0 at the end. Its cells are views until the next call. */
static int next_record(struct al_csv *c, struct al_err *err)
{
    if (c->held) {
        c->held = false;
        return 1;
    }
    for (;;) {
        if (c->p == c->e) {
            if (c->eof)
                return 0;
            c->nul = false;
            if (fill(c, 1, err) < 0)
                return -1;
            continue;
        }
        enum al_csv_got got = al_csv_scan(c);
        if (got == AL_CSV_ROW && (size_t)(c->next - c->p) <= AL_CSV_MAX_RECORD)
            return 1;
        if (got == AL_CSV_ROW)
            return too_long(c, "a record", AL_CSV_MAX_RECORD, err);
        if (got == AL_CSV_LONG)
            return too_long(c, "a cell", AL_TABLE_MAX_CELL, err);
        if (got != AL_CSV_MORE && al_csv_repair(c, got)) {
            for (size_t i = 0; i < c->n && i < AL_CSV_MAX_CELLS; i++) {
                if (c->cells[i].text.n > AL_TABLE_MAX_CELL)
                    return too_long(c, "a cell", AL_TABLE_MAX_CELL, err);
            }
            return 1;
        }
        size_t have = (size_t)(c->e - c->p);
        if (have > AL_CSV_MAX_RECORD)
            return too_long(c, "a record", AL_CSV_MAX_RECORD, err);
        if (fill(c, have ? have : 1, err) < 0)
            return -1;
    }
}

static void took(struct al_csv *c)
{
    c->p = c->next;
    c->line += c->lines;
}

static bool is_blank(const struct al_csv *c)
{
    return c->n == 1 && c->cells[0].text.n == 0 && (*c->p == '\n' || *c->p == '\r');
}

static void note_row(struct al_csv *c)
{
    if (c->stray && c->open == NULL)
        c->sink->note(c->sink->ud, AL_NOTE_STRAY_QUOTE, c->line,
                      "a quote within an unquoted field: kept as text");
    if (c->nul && memchr(c->p, 0, (size_t)(c->next - c->p)))
        c->sink->note(c->sink->ud, AL_NOTE_NUL_BYTES, c->line, "zero bytes are kept");
}

/* Whether it can separate cells: a character of ASCII that neither quotes them nor ends lines. */
static bool can_delimit(char c)
{
    return (c > 0 && c < 0x7f) && c != '"' && c != '\'' && c != '\n' && c != '\r';
}

/* "sep=;" on a line of its own, as Excel reads and writes it. */
static void take_sep_line(struct al_csv *c)
{
    struct al_str s = {c->p, (size_t)(c->e - c->p)};
    if (s.n < 5 || memcmp(s.p, "sep=", 4) != 0)
        return;
    if ((s.n > 5 && s.p[5] != '\n' && s.p[5] != '\r') || !can_delimit(s.p[4]))
        return;
    if (!c->opts->delimiter)
        c->d.delim = s.p[4];
    c->p += s.n > 5 && s.p[5] == '\r' && s.n > 6 && s.p[6] == '\n' ? 7 : s.n > 5 ? 6 : 5;
    c->line++;
}

/* Lines, whatever is in them. */
static int skip_lines(struct al_csv *c, uint32_t n, struct al_err *err)
{
    while (n) {
        while (c->p < c->e && *c->p != '\n' && *c->p != '\r')
            c->p++;
        if (c->e - c->p < 2 && !c->eof) {
            if (fill(c, SAMPLE, err) < 0)
                return -1;
            continue;
        }
        if (c->p == c->e)
            return 0;
        c->p += *c->p == '\r' && c->p + 1 < c->e && c->p[1] == '\n' ? 2 : 1;
        c->line++;
        n--;
    }
    return 0;
}

static int no_rows(struct al_err *err)
{
    al_fail(err, AL_INGEST_INVALID, "the file has no rows");
    return al_hint(err, "a table needs at least a line with names");
}

static int find_dialect(struct al_csv *c, bool tab, struct al_csv_head *head, struct al_err *err)
{
    if (fill(c, SAMPLE, err) < 0)
        return -1;
    take_sep_line(c);
    if (c->opts->skip_rows && skip_lines(c, c->opts->skip_rows, err) < 0)
        return -1;
    if (!c->eof && (size_t)(c->e - c->p) < SAMPLE && fill(c, SAMPLE, err) < 0)
        return -1;
    struct al_str all = {c->p, (size_t)(c->e - c->p)}, sniff = all;
    if (all.n > SNIFF) {
        size_t lines = 0, n = 0;
        for (; n < all.n && (n < SNIFF || lines < 50); n++)
            lines += all.p[n] == '\n' || all.p[n] == '\r';
        sniff.n = n;
    }
    al_csv_sniff(c, sniff, c->eof && sniff.n == all.n, tab);
    al_csv_find_head(c, sniff, c->eof && sniff.n == all.n, head);
    c->p += head->start - all.p;
    c->line = head->line;
    return 0;
}

/* How many of a row's cells are given out: those at its end that are no columns are left away while they are
 * empty. */
static size_t trimmed(const struct al_csv *c)
{
    size_t n = c->n < AL_CSV_MAX_CELLS ? c->n : AL_CSV_MAX_CELLS, keep = c->width - c->tail;
    if (!c->tail || n <= keep || c->n > c->width)
        return n;
    for (size_t i = keep; i < n; i++) {
        if (c->cells[i].text.n)
            return n;
    }
    return keep;
}

/* A header of several lines: "Price" above "EUR" is "Price EUR". */
static int read_header(struct al_csv *c, const struct al_csv_head *head, struct al_err *err)
{
    unsigned rows = head->head.header_rows;
    struct al_buf *parts = al_xcalloc(AL_CSV_MAX_CELLS, sizeof *parts);
    struct al_str *labels = al_xcalloc(AL_CSV_MAX_CELLS, sizeof *labels);
    size_t n = 0;
    int r = 0;
    while (rows && (r = next_record(c, err)) > 0) {
        if (is_blank(c) && c->d.delim != '\n') {
            c->sink->note(c->sink->ud, AL_NOTE_BLANK_LINES, c->line, "blank lines are skipped");
            took(c);
            continue;
        }
        note_row(c);
        size_t group = 0; /* length of the name that the cells to the right take, too */
        for (size_t i = 0; i < c->n && i < AL_CSV_MAX_CELLS; i++) {
            if (i >= n)
                al_buf_init(&parts[i], 2 * AL_TABLE_MAX_CELL);
            if (head->head.grouped && rows < head->head.header_rows && i && i < n && !parts[i].n &&
                c->cells[i].text.n)
                al_buf_add(&parts[i], parts[i - 1].p, group);
            else if (parts[i].n)
                group = parts[i].n <= MAX_GROUP ? parts[i].n : 0;
            if (i < n && parts[i].n && c->cells[i].text.n)
                al_buf_addc(&parts[i], ' ');
            al_buf_add_str(&parts[i], c->cells[i].text);
            n = i >= n ? i + 1 : n;
        }
        took(c);
        rows--;
    }
    size_t first = head->head.named_rows && n < AL_CSV_MAX_CELLS;
    for (size_t i = 0; i < n; i++)
        labels[i + first] = al_buf_str(&parts[i]);
    if (first)
        labels[0] = AL_STR("");
    c->width = head->head.tail ? head->width : n + first;
    if (r >= 0)
        r = n ? c->sink->columns(c->sink->ud, labels,
                                 head->head.tail && n > head->width - head->head.tail
                                     ? head->width - head->head.tail
                                     : n + first,
                                 err)
              : no_rows(err);
    for (size_t i = 0; i < n; i++)
        al_buf_free(&parts[i]);
    free(parts);
    free(labels);
    return r < 0 ? -1 : 0;
}

/* Without a header the first row says how many columns there are. */
static int name_none(struct al_csv *c, const struct al_csv_head *head, struct al_err *err)
{
    static const struct al_str none[AL_CSV_MAX_CELLS];
    int r;
    while ((r = next_record(c, err)) > 0 && is_blank(c) && c->d.delim != '\n') {
        c->sink->note(c->sink->ud, AL_NOTE_BLANK_LINES, c->line, "blank lines are skipped");
        took(c);
    }
    if (r < 0)
        return -1;
    c->held = r > 0;
    c->width = r ? (c->n < AL_CSV_MAX_CELLS ? c->n : AL_CSV_MAX_CELLS) : 0;
    if (c->width && c->tail)
        c->width = head->width;
    return c->width ? c->sink->columns(c->sink->ud, none, c->width - c->tail, err) : no_rows(err);
}

static int read_rows(struct al_csv *c, struct al_err *err)
{
    int r;
    while ((r = next_record(c, err)) > 0) {
        if (is_blank(c)) {
            bool one = c->width == 1 && (c->d.delim == '\n' || c->opts->delimiter);
            c->sink->note(c->sink->ud, AL_NOTE_BLANK_LINES, c->line,
                          one ? "blank lines are empty cells of the one column" : "blank lines are skipped");
            if (!one) {
                took(c);
                continue;
            }
        }
        if (c->nul || c->stray)
            note_row(c);
        if (c->n > AL_CSV_MAX_CELLS)
            c->sink->note(c->sink->ud, AL_NOTE_CUT_ROWS, c->line,
                          "of the row's %zu cells, those beyond %zu are not kept", c->n,
                          c->width + AL_TABLE_MAX_EXTRA);
        c->row++;
        if (c->sink->row(c->sink->ud, c->cells, trimmed(c), c->line, err) < 0)
            return -1;
        took(c);
    }
    return r;
}

static int read_all(struct al_csv *c, bool tab, struct al_err *err)
{
    struct al_csv_head head;
    if (find_dialect(c, tab, &head, err) < 0)
        return -1;
    if (c->p == c->e && c->eof)
        return no_rows(err);
    c->tail = head.head.tail;
    c->found->delimiter = c->d.delim == '\n' ? 0 : c->d.delim;
    if (c->sink->sheet(c->sink->ud, AL_STR("data"), err) < 0)
        return -1;
    if ((head.head.header_rows ? read_header(c, &head, err) : name_none(c, &head, err)) < 0)
        return -1;
    return read_rows(c, err);
}

int al_csv_read(struct al_source *src, bool tab_only, const struct al_table_opts *opts,
                const struct al_table_sink *sink, struct al_table_found *found, struct al_err *err)
{
    if (opts->delimiter && !can_delimit(opts->delimiter)) {
        al_fail(err, AL_INVALID_INPUT,
                "a delimiter is one ASCII character that neither quotes cells nor ends lines");
        return al_hint(err, "\",\" \";\" \"|\" or a tab; leave it out to have it found");
    }
    struct al_csv *c = al_xcalloc(1, sizeof *c);
    *c = (struct al_csv){.src = src, .opts = opts, .sink = sink, .found = found, .line = 1};
    c->cap = (16 << 10) + AL_CSV_PAD; /* grows with the first pieces */
    c->win = al_xmalloc(c->cap);
    c->p = c->e = c->win;
    c->cells = al_xcalloc(AL_CSV_MAX_CELLS, sizeof *c->cells);
    al_csv_slow_init(&c->slow, &c->d);
    al_csv_slow_init(&c->best, &c->d);
    int r = read_all(c, tab_only, err);
    al_csv_slow_fini(&c->slow);
    al_csv_slow_fini(&c->best);
    free(c->cells);
    free(c->win);
    free(c);
    return r;
}
