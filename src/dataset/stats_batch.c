/* Many cells of a column at once, as batches hold them. A text that comes often is counted in a small memo of
 * recent ones, and known again by its bytes alone: no fingerprint, no pattern, no way through a large table.
 * A number that has its place among dense counts goes there at once. */
#include "base/mem.h"
#include "dataset/stats_int.h"

#define MEMO_MIN 64u
#define MEMO_MAX 4096u
#define MEMO_BYTES                                                                          \
    ((size_t)2 << 20) /* of a sheet, all columns together; the least size of each beside it \
                       */
#define WINDOW 4096u  /* texts at least between two thoughts about a memo's size */
#define EAGER 1024u   /* numbers of a column before small tables become dense */

static inline uint64_t mask_of(uint32_t bytes)
{
    return bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * bytes)) - 1;
}

/* The bytes of a text of up to 24, and zeros. As many can be read. */
static inline void words_of(const char *p, uint32_t n, uint64_t w[3])
{
    memcpy(w, p, AL_STATS_MEMO_TEXT);
    w[0] &= mask_of(n);
    w[1] &= mask_of(n > 8 ? n - 8 : 0);
    w[2] &= mask_of(n > 16 ? n - 16 : 0);
}

static void forget(struct al_stats *s, struct al_column *c, struct al_memo_entry *e)
{
    uint32_t n = e->count;
    if (n == 0)
        return;
    e->count = 0;
    struct al_key k;
    struct al_str text = {(const char *)e->w, e->n};
    al_key_text(&s->secret, text, &k);
    al_column_text(s, c, &k, text, n);
}

void al_memo_flush(struct al_stats *s, struct al_column *c)
{
    for (uint32_t i = 0; i < c->memo.size; i++)
        forget(s, c, &c->memo.entries[i]);
}

void al_memo_free(struct al_memo *m)
{
    free(m->entries);
    *m = (struct al_memo){0};
}

static void memo_resize(struct al_stats *s, struct al_column *c, uint32_t size)
{
    al_memo_flush(s, c);
    al_memo_free(&c->memo);
    c->memo.off = size == 0;
    c->memo.size = size;
    if (size > 0)
        c->memo.entries = al_xcalloc(size, sizeof *c->memo.entries);
}

/* Larger while that helps, and none where nearly all texts differ. */
static void memo_adapt(struct al_stats *s, struct al_column *c)
{
    struct al_memo *m = &c->memo;
    if (m->looked < WINDOW || m->looked < 4 * m->size)
        return;
    size_t most = MEMO_BYTES / sizeof *m->entries / s->n;
    if (m->missed > m->looked / 8 && m->size < MEMO_MAX && m->size * 4 <= most)
        memo_resize(s, c, m->size * 4);
    else if (m->missed > m->looked / 4 * 3)
        memo_resize(s, c, 0);
    m->looked = m->missed = 0;
}

static inline void memo_add(struct al_stats *s, struct al_column *c, const struct al_bcell *cell)
{
    uint64_t w[3];
    words_of(cell->p, cell->n, w);
    struct al_memo *m = &c->memo;
    uint64_t rest = (w[1] + cell->n) ^ w[2] * 0x9E3779B97F4A7C15u;
    uint64_t h = al_mum(w[0] ^ s->secret.mix[0], rest ^ s->secret.mix[1]);
    struct al_memo_entry *e = &m->entries[h & (m->size - 1)];
    if (((e->w[0] ^ w[0]) | (e->w[1] ^ w[1]) | (e->w[2] ^ w[2]) | (e->n ^ cell->n)) != 0 || e->count == 0 ||
        e->count == UINT32_MAX) {
        forget(s, c, e);
        memcpy(e->w, w, sizeof e->w);
        e->n = cell->n;
        m->missed++;
    }
    e->count++;
    m->looked++;
}

/* A number that has its place among the dense counts, while sums are exact: true when it is counted. */
static inline bool dense_add(struct al_column *c, double d, bool integer)
{
    struct al_dense *t = &c->dense;
    int64_t k;
    if (c->sums.inexact || c->sums.e != t->e || !al_scaled(d, t->e, &k))
        return false;
    uint64_t at = (uint64_t)k - (uint64_t)t->lo;
    if (at >= t->size || t->cells[at] == UINT8_MAX || !al_sums_scaled(&c->sums, k, 1))
        return false;
    t->n += t->cells[at]++ == 0;
    al_column_range(c, d, integer, 1);
    return true;
}

void al_stats_add_cells(struct al_stats *s, size_t column, const struct al_bcell *cell, size_t stride,
                        size_t n)
{
    struct al_column *c = s->columns[column];
    struct al_value v = {0};
    if (!c->dense.cells && !c->sketch && c->numbers >= EAGER)
        al_column_densify(s, c);
    for (size_t i = 0; i < n; i++, cell += stride) {
        switch ((enum al_value_type)cell->type) {
        case AL_VALUE_NULL:
            c->nulls++;
            continue;
        case AL_VALUE_INT:
            if (dense_add(c, (double)cell->i, true))
                continue;
            break;
        case AL_VALUE_REAL:
            if (dense_add(c, cell->d + 0.0, false))
                continue;
            break;
        case AL_VALUE_TEXT:
            if (cell->n > AL_STATS_MEMO_TEXT || c->memo.off)
                break;
            if (c->memo.size == 0)
                memo_resize(s, c, MEMO_MIN);
            memo_add(s, c, cell);
            continue;
        }
        al_bcell_value(cell, &v);
        al_stats_add(s, column, &v, cell->scale);
    }
    if (c->memo.size > 0)
        memo_adapt(s, c);
}
