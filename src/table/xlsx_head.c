/* Title lines, header, data: told apart by how many cells the rows have and by what stands below what. */
#include "table/xlsx_int.h"

#include "base/mem.h"
#include "base/text.h"

#define MAX_PREAMBLE 50
#define MAX_LOOK 200 /* rows below the header that count */

enum looks {
    NOTHING,
    NUMBER,
    DATE,
    WORD
};

/* What a text looks like: -1.234,50 €, (12), 12 % are numbers, 2024-05-01, 1/5/2024 and 10:30 dates. */
static enum looks looks_like(struct al_str s)
{
    size_t digits = 0, letters = 0, dashes = 0, colons = 0, slashes = 0, high = 0;
    s = al_str_trim(s);
    if (!s.n)
        return NOTHING;
    if (al_str_is(s, "TRUE") || al_str_is(s, "FALSE"))
        return NUMBER;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        digits += c >= '0' && c <= '9';
        letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        dashes += i && c == '-';
        colons += c == ':';
        slashes += c == '/';
        high += c >= 0x80;
    }
    bool starts = (s.p[0] >= 'a' && s.p[0] <= 'z') || (s.p[0] >= 'A' && s.p[0] <= 'Z');
    if (!digits || s.n > 40 || starts) /* Q1 is a name */
        return WORD;
    if (dashes == 2 || colons || slashes == 2)
        return letters <= 1 && digits >= 3 ? DATE : WORD; /* the T of ISO 8601 */
    if (letters > 1 || dashes || slashes || high > 4)
        return WORD;
    return digits * 2 + letters >= s.n - high || s.n <= 4 ? NUMBER : WORD;
}

/* How many cells most rows have; of two such counts the larger one. */
static size_t usual_width(const struct al_xlsx_batch *b)
{
    autofree uint32_t *count = al_xcalloc(AL_XLSX_COLUMNS + 1, sizeof *count);
    size_t best = 0;
    for (size_t i = 0; i < b->n_rows && i < MAX_LOOK; i++)
        count[b->rows[i].n]++;
    for (size_t n = 1; n <= AL_XLSX_COLUMNS; n++)
        if (count[n] && count[n] >= count[best])
            best = n;
    return best;
}

static size_t find_preamble(const struct al_xlsx_batch *b)
{
    size_t width = usual_width(b), i = 0;
    unsigned left = AL_XLSX_COLUMNS;
    if (width < 2)
        return 0;
    for (size_t k = 0; k < b->n_rows; k++)
        if (b->rows[k].n >= width && b->cells[b->rows[k].first].column < left)
            left = b->cells[b->rows[k].first].column;
    for (; i < b->n_rows && i < MAX_PREAMBLE; i++) {
        const struct al_xlsx_row *r = &b->rows[i];
        /* A header that lacks but the label of its first column is one. */
        if (r->n > width / 2 || (r->n + 1 >= width && b->cells[r->first].column > left))
            return i;
    }
    return 0;
}

static struct al_str at_column(const struct al_xlsx_batch *b, const struct al_xlsx_row *r, unsigned column)
{
    for (uint32_t i = r->first; i < r->first + r->n && b->cells[i].column <= column; i++)
        if (b->cells[i].column == column)
            return al_xlsx_cell_text(b, &b->cells[i]);
    return (struct al_str){"", 0};
}

/* Years as labels: 2019 2020 2021 above numbers that are none. */
static bool is_year(struct al_str s)
{
    return s.n == 4 && (s.p[0] == '1' || s.p[0] == '2') && looks_like(s) == NUMBER && !memchr(s.p, '.', 4);
}

/* What speaks for a label above the cells of its column (> 0), and against (< 0). */
static int column_vote(const struct al_xlsx_batch *b, size_t head, const struct al_xlsx_cell *label)
{
    struct al_str text = al_xlsx_cell_text(b, label);
    enum looks above = looks_like(text);
    size_t n = 0, same = 0, kinds[WORD + 1] = {0};
    for (size_t i = head + 1; i < b->n_rows && i <= head + MAX_LOOK; i++) {
        struct al_str s = at_column(b, &b->rows[i], label->column);
        if (!s.n)
            continue;
        n++;
        kinds[looks_like(s)]++;
        same += al_str_eq(s, text);
    }
    if (!n)
        return 0;
    bool words = kinds[WORD] * 10 >= n * 9, values = kinds[WORD] * 10 <= n;
    if (above == WORD)
        return values ? 2 : same ? -1 : 0;
    if (is_year(text) && !same)
        return 0;
    return words ? 0 : -2;
}

static bool is_header(const struct al_xlsx_batch *b, size_t head)
{
    const struct al_xlsx_row *r = &b->rows[head];
    int votes = 0;
    size_t words = 0;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        votes += column_vote(b, head, &b->cells[i]);
        words += looks_like(al_xlsx_cell_text(b, &b->cells[i])) == WORD;
    }
    if (votes)
        return votes > 0;
    return words > 0; /* nothing speaks either way: labels, unless it is all values */
}

void al_xlsx_find_head(const struct al_xlsx_batch *b, const struct al_table_opts *opts,
                       struct al_xlsx_head *ret)
{
    *ret = (struct al_xlsx_head){0};
    if (!b->n_rows)
        return;
    if (!opts->has_skip_rows)
        ret->preamble = find_preamble(b);
    ret->header = opts->header ? opts->header > 0 : is_header(b, ret->preamble);
}
