#include "table/csv_int.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * The structural bytes of 64 at a time as a bit mask (delimiter, quote, LF, CR), then a walk over its bits:
 * the cost is that of the cells, not of the bytes. After Langdale and Lemire, "Parsing gigabytes of JSON per
 * second" (2019).
 */
struct cursor {
    char *block, *e;
    uint64_t bits;
    char delim, quote;
};

static inline uint64_t mask_of(const struct cursor *k, const char *p)
{
#ifdef __SSE2__
    const __m128i d = _mm_set1_epi8(k->delim), q = _mm_set1_epi8(k->quote);
    const __m128i lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, d), _mm_cmpeq_epi8(v, q)),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, lf), _mm_cmpeq_epi8(v, cr)));
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << (16 * i);
    }
    return bits;
#else
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(p[i] == k->delim || p[i] == k->quote || p[i] == '\n' || p[i] == '\r') << i;
    return bits;
#endif
}

static inline void load(struct cursor *k)
{
    k->bits = mask_of(k, k->block);
    if (k->e - k->block < 64)
        k->bits &= ((uint64_t)1 << (k->e - k->block)) - 1;
}

/* The next structural byte, or the end. */
static inline char *next_of(struct cursor *k)
{
    while (!k->bits) {
        k->block += 64;
        if (k->block >= k->e)
            return k->e;
        load(k);
    }
    char *p = k->block + __builtin_ctzll(k->bits);
    k->bits &= k->bits - 1;
    return p;
}

static inline void add(struct al_csv *c, char *s, char *q)
{
    if (c->n < AL_CSV_MAX_CELLS) {
        c->cells[c->n].text = (struct al_str){s, (size_t)(q - s)};
        c->cells[c->n].kind = AL_CELL_TEXT;
    }
    c->n++;
}

static bool is_escaped(const char *s, const char *q)
{
    size_t n = 0;
    while (q > s && q[-1] == '\\') {
        q--;
        n++;
    }
    return n & 1;
}

/* In place: doubled quotes and, where the file has them, backslashes. */
static void unescape(const struct al_csv_dialect *d, struct al_cell *cell)
{
    char *p = (char *)(uintptr_t)cell->text.p, *e = p + cell->text.n, *w = p;
    for (; p < e; p++) {
        if (d->escape && *p == '\\' && p + 1 < e && (p[1] == '\\' || p[1] == d->quote))
            p++;
        else if (*p == d->quote && p + 1 < e && p[1] == d->quote)
            p++;
        *w++ = *p;
    }
    cell->text.n = (size_t)(w - cell->text.p);
}

/* A field whose quote stands at open: the cell is added, *ret_end is the byte behind its closing quote. */
static enum al_csv_got quoted(struct al_csv *c, struct cursor *k, char *open, char **ret_end)
{
    char *s = open + 1;
    bool marked = false;
    uint64_t lines = 0;
    c->open = open;
    for (;;) {
        char *q = next_of(k);
        if (q == k->e) {
            if ((size_t)(q - s) > AL_TABLE_MAX_CELL)
                return lines ? AL_CSV_OPEN : AL_CSV_LONG;
            return c->eof ? AL_CSV_OPEN : AL_CSV_MORE;
        }
        if (*q != k->quote) {
            lines += *q == '\n' || (*q == '\r' && (q + 1 == k->e || q[1] != '\n'));
            continue;
        }
        if (q + 1 == k->e && !c->eof)
            return AL_CSV_MORE;
        bool escaped = c->d.escape && is_escaped(s, q);
        if (escaped || (q + 1 < k->e && q[1] == k->quote)) {
            if (!escaped)
                next_of(k);
            marked = true;
            continue;
        }
        if ((size_t)(q - s) > AL_TABLE_MAX_CELL)
            return lines ? AL_CSV_OPEN : AL_CSV_LONG;
        if (q + 1 < k->e && q[1] != k->delim && q[1] != '\n' && q[1] != '\r')
            return AL_CSV_ODD;
        marked = marked || (c->d.escape && memchr(s, '\\', (size_t)(q - s)));
        if (marked && c->n < AL_CSV_MAX_CELLS)
            c->escaped[c->n_escaped++] = c->n;
        add(c, s, q);
        c->lines += lines;
        *ret_end = q + 1;
        return AL_CSV_ROW;
    }
}

static enum al_csv_got end_row(struct al_csv *c, char *next)
{
    for (size_t i = 0; i < c->n_escaped; i++)
        unescape(&c->d, &c->cells[c->escaped[i]]);
    c->next = next;
    return AL_CSV_ROW;
}

enum al_csv_got al_csv_scan(struct al_csv *c)
{
    struct cursor k = {.block = c->p, .e = c->e, .delim = c->d.delim, .quote = c->d.quote};
    char *s = c->p;
    const bool space = c->d.space;
    c->n = c->n_escaped = 0;
    c->lines = 1;
    c->stray = false;
    c->open = NULL;
    load(&k);
    for (;;) {
        char *q = next_of(&k);
        if (q < k.e && *q == k.quote) {
            if (q != s) {
                c->stray = k.quote == '"';
                continue;
            }
            enum al_csv_got got = quoted(c, &k, q, &s);
            if (got != AL_CSV_ROW)
                return got;
            q = next_of(&k); /* stands right behind the closing quote */
        } else {
            if ((size_t)(q - s) > AL_TABLE_MAX_CELL)
                return AL_CSV_LONG;
            if (q == k.e && !c->eof)
                return AL_CSV_MORE;
            add(c, s, q);
        }
        if (q == k.e)
            return c->eof ? end_row(c, q) : AL_CSV_MORE;
        if (*q == k.delim && k.delim != '\n') {
            s = q + 1;
            if (space && s < k.e && *s == ' ')
                s++;
            continue;
        }
        if (*q == '\r') {
            if (q + 1 == k.e && !c->eof)
                return AL_CSV_MORE;
            q += q + 1 < k.e && q[1] == '\n';
        }
        return end_row(c, q + 1);
    }
}
