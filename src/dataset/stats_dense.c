/* Counts by position, for numbers that lie close together: a byte each instead of a slot of a table. */
#include "base/mem.h"
#include "dataset/stats_int.h"

#define DENSE_MIN 4096u
#define DENSE_MAX (1u << 30)

/* Bytes that are worth it for n numbers: what a table would take. */
static uint64_t worth(uint64_t n)
{
    uint64_t w = n * 16;
    return w < DENSE_MIN ? DENSE_MIN : w > DENSE_MAX ? DENSE_MAX : w;
}

static uint8_t *cell_of(const struct al_dense *d, double x)
{
    int64_t k;
    if (!d->cells || !al_scaled(x, d->e, &k))
        return NULL;
    uint64_t at = (uint64_t)k - (uint64_t)d->lo;
    return at < d->size ? &d->cells[at] : NULL;
}

static double value_at(const struct al_dense *d, uint64_t at)
{
    return (double)(d->lo + (int64_t)at) / al_pow10[d->e];
}

/* More than the byte holds. */
static void carry(struct al_stats *s, struct al_column *c, double d, uint64_t n)
{
    struct al_key k;
    bool fresh;
    al_key_number(&s->secret, d, &k);
    uint32_t *count = al_distinct_at(&c->number, &k, &fresh);
    c->dense.carries += fresh;
    uint64_t sum = *count + n;
    *count = sum > AL_COUNT_MAX ? AL_COUNT_MAX : (uint32_t)sum;
}

static void count_in(struct al_stats *s, struct al_column *c, uint8_t *cell, double d, uint64_t n)
{
    c->dense.n += *cell == 0;
    if (*cell + n <= 255) {
        *cell = (uint8_t)(*cell + n);
    } else {
        uint64_t over = *cell + n - 128;
        *cell = 128;
        carry(s, c, d, over);
    }
}

/* The table anew: what has a cell now goes there. What was carried stays. */
static void absorb(struct al_stats *s, struct al_column *c)
{
    struct al_distinct old = c->number;
    if (old.part == &c->number.one)
        old.part = &old.one;
    al_distinct_init(&c->number, AL_KEY_NUMBER, &s->secret);
    c->dense.carries = 0;
    struct al_distinct_iter it = {.t = &old};
    struct al_key k;
    uint32_t n;
    while (al_distinct_next(&it, &k, &n)) {
        double d;
        memcpy(&d, &k.a, sizeof d);
        uint8_t *cell = cell_of(&c->dense, d);
        bool fresh;
        if (cell) {
            count_in(s, c, cell, d, n);
        } else {
            k.h = al_key_hash(&s->secret, AL_KEY_NUMBER, k.a);
            *al_distinct_at(&c->number, &k, &fresh) = n;
        }
    }
    al_distinct_free(&old);
}

/* Cells for lo … hi; those that there are keep their counts. */
static void resize(struct al_dense *d, int64_t lo, uint64_t size)
{
    uint8_t *cells = al_xcalloc(size, 1);
    if (d->cells)
        memcpy(cells + (d->lo - lo), d->cells, d->size);
    free(d->cells);
    d->cells = cells;
    d->lo = lo;
    d->size = (uint32_t)size;
}

bool al_dense_build(struct al_stats *s, struct al_column *c)
{
    int64_t lo, hi;
    struct al_dense *d = &c->dense;
    if (d->cells || c->sums.inexact || !al_scaled(c->min, c->sums.e, &lo) ||
        !al_scaled(c->max, c->sums.e, &hi))
        return false;
    uint64_t size = (uint64_t)(hi - lo) + 1;
    if (size > worth(c->number.n))
        return false;
    d->e = c->sums.e;
    resize(d, lo, size);
    absorb(s, c);
    return true;
}

/* Wider, by half of its size at least, so that k has a cell; when that is worth it. */
static bool widen(struct al_stats *s, struct al_column *c, int64_t k)
{
    struct al_dense *d = &c->dense;
    int64_t lo = d->lo, hi = d->lo + d->size - 1;
    uint64_t most = worth(d->n + c->number.n);
    uint64_t need = k < lo ? (uint64_t)hi - (uint64_t)k + 1 : (uint64_t)k - (uint64_t)lo + 1;
    if (need > most)
        return false;
    uint64_t size = need + d->size / 2 < most ? need + d->size / 2 : most;
    if (k < lo)
        lo = hi - (int64_t)size + 1;
    resize(d, lo, size);
    if (c->number.n > d->carries)
        absorb(s, c);
    return true;
}

bool al_dense_add(struct al_stats *s, struct al_column *c, double d, uint64_t n)
{
    struct al_dense *t = &c->dense;
    int64_t k;
    if (!t->cells || !al_scaled(d, t->e, &k))
        return false;
    if ((uint64_t)k - (uint64_t)t->lo >= t->size && !widen(s, c, k))
        return false;
    count_in(s, c, &t->cells[k - t->lo], d, n);
    return true;
}

bool al_numbers_next(struct al_numbers_iter *it, double *ret, uint64_t *count)
{
    const struct al_dense *d = &it->c->dense;
    struct al_key k;
    while (it->cell < d->size) {
        uint64_t at = it->cell++;
        if (!d->cells[at])
            continue;
        *ret = value_at(d, at);
        *count = d->cells[at];
        if (d->cells[at] >= 128 && d->carries) {
            al_key_number(&it->s->secret, *ret, &k);
            const uint32_t *more = al_distinct_find(&it->c->number, &k);
            *count += more ? *more : 0;
        }
        return true;
    }
    uint32_t n;
    it->table.t = &it->c->number;
    while (al_distinct_next(&it->table, &k, &n)) {
        memcpy(ret, &k.a, sizeof *ret);
        *count = n;
        if (!cell_of(d, *ret))
            return true;
    }
    return false;
}
