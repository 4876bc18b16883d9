/* Which rows are a title, which the header, and where the data begins. Pure. */
#include "table/head.h"

#include "base/text.h"

#define MAX_PREAMBLE 40
#define MAX_HEADER 4

/* A digit, and nothing that only words have. */
bool al_head_numish(struct al_str s)
{
    bool digit = false;
    size_t letters = 0;
    if (s.n > 40)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch >= '0' && ch <= '9')
            digit = true;
        else if ((ch | 32) >= 'a' && (ch | 32) <= 'z')
            letters += strchr("eEtTzZ", ch) ? 1 : 100;
        else if (ch < 0x80 ? !strchr(".,:/+-%$ ()'\xa0", ch) || !ch : 0)
            return false;
        else if (ch >= 0x80) {
            static const char *const marks[] = {"€", "£", "¥", "\xc2\xa0", "\xe2\x80\xaf", "−"};
            size_t k = 0, n = sizeof marks / sizeof marks[0];
            while (k < n && !al_str_starts((struct al_str){s.p + i, s.n - i}, marks[k]))
                k++;
            if (k == n)
                return false;
            i += strlen(marks[k]) - 1;
        }
    }
    return digit && letters <= 2;
}

/* What people write where there is nothing: no sign of a column's type. */
static bool is_null_word(struct al_str s)
{
    static const char *const words[] = {"NA",   "N/A", "n/a", "na", "null", "NULL", "None",
                                        "none", "nan", "NaN", "-",  "--",   "?",    "."};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (al_str_is(s, words[i]))
            return true;
    }
    return false;
}

/* A value as numbers are, and no name. */
static bool is_truth(struct al_str s)
{
    return al_str_is(s, "TRUE") || al_str_is(s, "FALSE") || al_str_is(s, "true") || al_str_is(s, "false");
}

static uint64_t hash_add(uint64_t h, unsigned char ch)
{
    return (h ^ ch) * 0x100000001b3u;
}

/* AB-1234 and XY-0007 are of one shape: letters, "-", digits. 0 where there is no digit or mark to tell by.
 */
static uint64_t shape_of(struct al_str s)
{
    uint64_t h = 0xcbf29ce484222325u;
    bool telling = false;
    char last = 0;
    if (s.n > 64)
        return 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        char kind = ch >= '0' && ch <= '9'                 ? '9'
                    : (ch | 32) >= 'a' && (ch | 32) <= 'z' ? 'a'
                    : ch >= 0x80                           ? 'a'
                                                           : (char)ch;
        telling = telling || kind == '9' || kind == '@';
        if (kind == ' ')
            return 0;
        if (kind != last || (kind != '9' && kind != 'a'))
            h = hash_add(h, (unsigned char)kind);
        last = kind;
    }
    return telling ? h | 1 : 0;
}

void al_head_cell(struct al_head_row *r, size_t i, struct al_str raw)
{
    struct al_str s = al_str_trim(raw);
    r->filled += s.n > 0;
    if (i >= AL_HEAD_COLUMNS)
        return;
    r->kind[i] = s.n == 0 || is_null_word(s)        ? AL_HEAD_EMPTY
                 : al_head_numish(s) || is_truth(s) ? AL_HEAD_NUMBER
                                                    : AL_HEAD_TEXT;
    r->hash[i] = 0xcbf29ce484222325u;
    for (size_t k = 0; k < s.n; k++)
        r->hash[i] = hash_add(r->hash[i], (unsigned char)s.p[k]);
    r->shape[i] = shape_of(s);
    int64_t year;
    r->year[i] = s.n == 4 && al_parse_int(s, 1000, 2999, &year);
}

void al_head_width(struct al_head_table *t)
{
    size_t best = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t same = 0;
        for (size_t j = 0; j < t->n; j++)
            same += t->rows[j].n == t->rows[i].n;
        if (same > best || (same == best && t->rows[i].n > t->width)) {
            best = same;
            t->width = t->rows[i].n;
        }
    }
}

/* Cells of a column below from: of which most are numbers. */
static bool is_typed(const struct al_head_table *t, size_t col, size_t from)
{
    size_t filled = 0, numbers = 0;
    for (size_t i = from; i < t->n; i++) {
        if (col >= t->rows[i].n || t->rows[i].kind[col] == AL_HEAD_EMPTY)
            continue;
        filled++;
        numbers += t->rows[i].kind[col] == AL_HEAD_NUMBER;
    }
    return numbers && numbers * 5 >= filled * 4;
}

static bool is_year(const struct al_head_table *t, const struct al_head_row *r, size_t col)
{
    if (!r->year[col])
        return false;
    for (size_t i = 0; i < t->n; i++) {
        if (&t->rows[i] != r && col < t->rows[i].n && t->rows[i].hash[col] == r->hash[col])
            return false;
    }
    return true;
}

static bool has_shape(const struct al_head_table *t, size_t col, size_t from, uint64_t *ret)
{
    size_t filled = 0, same = 0;
    for (size_t i = from; i < t->n; i++) {
        const struct al_head_row *r = &t->rows[i];
        if (col >= r->n || r->kind[col] == AL_HEAD_EMPTY)
            continue;
        if (filled++ == 0)
            *ret = r->shape[col];
        same += r->shape[col] == *ret;
    }
    return filled >= 3 && *ret && same * 10 >= filled * 9;
}

static bool occurs_below(const struct al_head_table *t, size_t at, size_t col)
{
    const struct al_head_row *h = &t->rows[at];
    for (size_t i = at + 1; i < t->n; i++) {
        const struct al_head_row *r = &t->rows[i];
        if (col < r->n && r->hash[col] == h->hash[col] &&
            !(r->n == h->n && memcmp(r->hash, h->hash, sizeof h->hash) == 0))
            return true;
    }
    return false;
}

/* Is row at a header of what is below? */
static bool is_header(const struct al_head_table *t, size_t at)
{
    const struct al_head_row *h = &t->rows[at];
    size_t n = h->n < AL_HEAD_COLUMNS ? h->n : AL_HEAD_COLUMNS, pro = 0, con = 0, numbers = 0, texts = 0,
           again = 0, years = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t shape = 0;
        if (h->kind[i] == AL_HEAD_EMPTY)
            continue;
        numbers += h->kind[i] == AL_HEAD_NUMBER;
        texts += h->kind[i] == AL_HEAD_TEXT;
        years += h->kind[i] == AL_HEAD_NUMBER && is_year(t, h, i);
        if (is_typed(t, i, at + 1)) {
            pro += h->kind[i] == AL_HEAD_TEXT;
            con += h->kind[i] == AL_HEAD_NUMBER;
        } else if (has_shape(t, i, at + 1, &shape)) {
            pro += h->shape[i] != shape;
            con += h->shape[i] == shape;
        } else if (h->kind[i] == AL_HEAD_TEXT) {
            again += occurs_below(t, at, i);
        }
    }
    if (h->filled == 0 || (texts == 0 && (pro == 0 || numbers == 0)))
        return h->filled && texts;
    if (at + 1 == t->n)
        return texts >= numbers;
    if (years && years == numbers && texts)
        return true;
    if (pro || con)
        return pro >= con && !(con && again);
    return again * 2 <= texts;
}

/* Groups: "Dates,Travel,,Total" above ",Air,Rail,": what is empty in one line is filled in the other. */
static bool is_grouped(const struct al_head_row *h, const struct al_head_row *r)
{
    size_t gaps = 0, filled = 0, alone = 0, alone_empty = 0;
    for (size_t i = 0; i < h->n && i < AL_HEAD_COLUMNS; i++) {
        bool gap = h->kind[i] == AL_HEAD_EMPTY,
             next_gap = i + 1 < h->n && i + 1 < AL_HEAD_COLUMNS && h->kind[i + 1] == AL_HEAD_EMPTY;
        if (r->kind[i] == AL_HEAD_NUMBER || h->kind[i] == AL_HEAD_NUMBER)
            return false;
        if (gap && i) {
            gaps++;
            filled += r->kind[i] == AL_HEAD_TEXT;
        } else if (!next_gap) {
            alone++;
            alone_empty += r->kind[i] == AL_HEAD_EMPTY;
        }
    }
    return gaps && filled == gaps && alone && alone_empty * 2 > alone;
}

/* A second line of a header: text above columns of numbers, as in the line before. */
static bool goes_on(const struct al_head_table *t, size_t at, size_t next)
{
    const struct al_head_row *h = &t->rows[at], *r = &t->rows[next];
    if (next + 3 > t->n || r->n != t->width || h->n != r->n)
        return false;
    /* The same line again is a header again only above something else than words. */
    bool same = r->filled == h->filled && memcmp(r->hash, h->hash, sizeof h->hash) == 0;
    if (!same && next == at + 1 && is_grouped(h, r))
        return true;
    size_t typed = 0, text = 0;
    for (size_t i = 0; i < r->n && i < AL_HEAD_COLUMNS; i++) {
        if (!is_typed(t, i, next + 1))
            continue;
        if (r->kind[i] == AL_HEAD_NUMBER || h->kind[i] == AL_HEAD_NUMBER)
            return false;
        typed++;
        text += r->kind[i] == AL_HEAD_TEXT;
    }
    if (same)
        return text > 0;
    return text >= 2 && text * 2 > typed;
}

/* Lines that begin with # before the table; not a header that does ("#,name,amount"). */
static size_t skip_comments(const struct al_head_table *t)
{
    size_t i = 0;
    while (i + 1 < t->n && t->rows[i].comment) {
        const struct al_head_row *r = &t->rows[i];
        if (t->width > 1 && r->n == t->width && !t->rows[i + 1].comment && r->filled == r->n &&
            (t->rows[i + 1].n == t->width) && is_header(t, i) && !is_header(t, i + 1))
            break;
        i++;
    }
    return i;
}

/* The first row that is as full as the table; what is before it must be nearly empty to be no part of it. */
static size_t skip_preamble(const struct al_head_table *t, size_t from)
{
    size_t usual = 0, rows = 0;
    if (t->width < 2)
        return from;
    for (size_t i = from; i < t->n; i++) {
        if (t->rows[i].n == t->width) {
            usual += t->rows[i].filled;
            rows++;
        }
    }
    usual = rows ? usual / rows : 0;
    size_t at = from;
    for (; at < t->n && at - from < MAX_PREAMBLE; at++) {
        const struct al_head_row *r = &t->rows[at];
        size_t need = usual / 2 > 2 ? usual / 2 : 2;
        if (r->n * 2 > t->width && r->filled >= need)
            break;
        bool sparse = r->filled <= 1 || (r->n * 2 <= t->width && r->filled * 3 <= t->width);
        if (!sparse || (t->width == 2 && r->n == 2))
            return from;
    }
    if (at == from || at >= t->n || at - from >= MAX_PREAMBLE || at + 1 >= t->n)
        return from;
    if (t->width == 2 && !t->rows[at].after_blank && !(is_header(t, at) && is_typed(t, 1, at + 1)))
        return from;
    return at;
}

/*
 * Cells at the end of each line that are empty and have no name: a delimiter that ends lines rather than
 * cells, or the empty columns of a spreadsheet. So few that a value which comes there later is kept as one
 * beyond the header.
 */
static size_t empty_tail(const struct al_head_table *t, size_t at)
{
    const struct al_head_row *h = &t->rows[at];
    size_t tail = AL_TABLE_MAX_EXTRA + 1;
    if (at + 1 >= t->n || h->n > t->width || h->n + 1 < t->width)
        return 0;
    for (size_t i = at; i < t->n; i++) {
        const struct al_head_row *r = &t->rows[i];
        if (r->n > t->width)
            return 0;
        size_t empty = r->tail + (t->width - r->n);
        tail = empty < tail ? empty : tail;
    }
    return tail <= AL_TABLE_MAX_EXTRA && tail < t->width ? tail : 0;
}

/* As R's write.table has it: a header that has one name less than each row has cells, the first of which
 * names it. */
static bool names_rows(const struct al_head_table *t, size_t at)
{
    const struct al_head_row *h = &t->rows[at];
    if (t->n - at < 3 || h->n < 2 || h->n + 1 != t->width || h->filled != h->n || t->rows[at + 1].after_blank)
        return false;
    for (size_t i = at + 1; i < t->n; i++) {
        if (t->rows[i].n != t->width || t->rows[i].kind[0] == AL_HEAD_EMPTY)
            return false;
        for (size_t k = at + 1; k < i; k++) {
            if (t->rows[k].hash[0] == t->rows[i].hash[0])
                return false;
        }
    }
    return true;
}

/* The row's cells one to the right, so that they stand above those that they name. */
static void shift(struct al_head_row *h)
{
    memmove(h->kind + 1, h->kind, (AL_HEAD_COLUMNS - 1) * sizeof *h->kind);
    memmove(h->hash + 1, h->hash, (AL_HEAD_COLUMNS - 1) * sizeof *h->hash);
    memmove(h->shape + 1, h->shape, (AL_HEAD_COLUMNS - 1) * sizeof *h->shape);
    memmove(h->year + 1, h->year, (AL_HEAD_COLUMNS - 1) * sizeof *h->year);
    h->kind[0] = AL_HEAD_EMPTY;
    h->hash[0] = h->shape[0] = 0;
    h->year[0] = false;
    h->n++;
}

static void find_edges(struct al_head_table *t, const struct al_table_opts *opts, struct al_head *ret)
{
    ret->tail = empty_tail(t, ret->at);
    if (ret->tail || opts->header < 0 || !names_rows(t, ret->at))
        return;
    struct al_head_row was = t->rows[ret->at];
    shift(&t->rows[ret->at]);
    ret->named_rows = opts->header > 0 || is_header(t, ret->at);
    if (!ret->named_rows)
        t->rows[ret->at] = was;
}

void al_head_find(struct al_head_table *t, const struct al_table_opts *opts, struct al_head *ret)
{
    *ret = (struct al_head){0};
    if (t->n == 0)
        return;
    if (!opts->has_skip_rows) {
        ret->comments = skip_comments(t);
        ret->at = skip_preamble(t, ret->comments);
    }
    find_edges(t, opts, ret);
    size_t at = ret->at;
    bool header = opts->header ? opts->header > 0 : ret->named_rows || is_header(t, at);
    if (!header)
        return;
    ret->header_rows = 1;
    ret->grouped = at + 1 < t->n && t->rows[at].n == t->rows[at + 1].n && !opts->header &&
                   is_grouped(&t->rows[at], &t->rows[at + 1]);
    while (!opts->header && ret->header_rows < MAX_HEADER && goes_on(t, at, at + ret->header_rows))
        ret->header_rows++;
}
