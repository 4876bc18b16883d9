#include "base/mem.h"
#include "dataset/stats_int.h"

#define SPLIT_AT 32768u /* keys */
#define N_PARTS 64u
#define CAP_MIN 16u

#define P61 ((1ull << 61) - 1)

static inline uint64_t times(uint64_t x, uint64_t y)
{
    unsigned __int128 p = (unsigned __int128)x * y;
    uint64_t r = ((uint64_t)p & P61) + (uint64_t)(p >> 61);
    return (r & P61) + (r >> 61);
}

/* Words of 7 bytes are below the prime, and so distinct in it. */
static void fingerprint(const struct al_stats_secret *s, struct al_str t, struct al_key *ret)
{
    uint64_t x = t.n + 1, y = t.n + 1, w;
    size_t i = 0;
    for (; i + 8 <= t.n; i += 7) {
        memcpy(&w, t.p + i, 8);
        w &= 0xffffffffffffff;
        x = times(x, s->point[0]) + w;
        y = times(y, s->point[1]) + w;
    }
    w = 0;
    memcpy(&w, t.p + i, t.n - i); /* up to 7 bytes are left */
    x = times(times(x, s->point[0]) + w, s->point[0]);
    y = times(times(y, s->point[1]) + w, s->point[1]);
    ret->a = x == P61 ? 0 : x;
    ret->b = y == P61 ? 0 : y;
    ret->kind = AL_KEY_LONG;
    ret->h = al_key_hash(s, AL_KEY_LONG, ret->a);
}

void al_key_text(const struct al_stats_secret *s, struct al_str t, struct al_key *ret)
{
    /* A text that ends in a NUL byte is not told by its bytes and zeros behind them. */
    if (t.n > 8 || (t.n > 0 && t.p[t.n - 1] == 0)) {
        fingerprint(s, t, ret);
        return;
    }
    ret->a = 0;
    if (t.n > 0)
        memcpy(&ret->a, t.p, t.n);
    ret->b = 0;
    ret->kind = AL_KEY_SHORT;
    ret->h = al_key_hash(s, AL_KEY_SHORT, ret->a);
}

static inline uint64_t word_at(const uint32_t *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static inline bool same(const uint32_t *slot, unsigned words, const struct al_key *k)
{
    return word_at(slot) == k->a && (words == 3 || word_at(slot + 2) == k->b);
}

/* The key's slot, or the free one where it belongs. There is always a free one. */
static inline uint32_t *probe(const struct al_table_part *p, unsigned words, const struct al_key *k)
{
    uint32_t i = al_distinct_slot(p, k->h);
    for (;;) {
        uint32_t *slot = p->slots + (size_t)i * words;
        if (slot[words - 1] == 0 || same(slot, words, k))
            return slot;
        i = i + 1 == p->cap ? 0 : i + 1;
    }
}

void al_distinct_init(struct al_distinct *t, enum al_key_kind kind, const struct al_stats_secret *secret)
{
    *t = (struct al_distinct){.kind = kind, .words = kind == AL_KEY_LONG ? 5 : 3, .secret = secret};
}

static void part_init(struct al_distinct *t, struct al_table_part *p, uint32_t cap)
{
    *p = (struct al_table_part){.slots = al_xcalloc(cap, t->words * sizeof(uint32_t)), .cap = cap};
    t->bytes += (size_t)cap * t->words * sizeof(uint32_t);
}

static void part_free(struct al_distinct *t, struct al_table_part *p)
{
    t->bytes -= (size_t)p->cap * t->words * sizeof(uint32_t);
    free(p->slots);
}

/* Puts a slot's content into the table as it is. */
static void move(struct al_distinct *t, const uint32_t *slot)
{
    struct al_key k = {.a = word_at(slot), .b = t->words == 5 ? word_at(slot + 2) : 0};
    k.h = al_key_hash(t->secret, t->kind, k.a);
    struct al_table_part *p = &t->part[t->n_parts == 1 ? 0 : k.h >> 58];
    memcpy(probe(p, t->words, &k), slot, t->words * sizeof(uint32_t));
    p->n++;
}

static void empty_into(struct al_distinct *t, struct al_table_part old)
{
    for (uint32_t i = 0; i < old.cap; i++) {
        const uint32_t *slot = old.slots + (size_t)i * t->words;
        if (slot[t->words - 1])
            move(t, slot);
    }
    part_free(t, &old);
}

/* Room for one more with this hash. */
static void grow(struct al_distinct *t, uint64_t h)
{
    if (t->n_parts == 0) {
        t->n_parts = 1;
        t->part = &t->one;
        part_init(t, &t->one, CAP_MIN);
        return;
    }
    if (t->n_parts == 1 && t->n >= SPLIT_AT) {
        struct al_table_part old = t->one;
        t->part = al_xcalloc(N_PARTS, sizeof *t->part);
        t->n_parts = N_PARTS;
        for (unsigned i = 0; i < N_PARTS; i++)
            part_init(t, &t->part[i], SPLIT_AT / N_PARTS * 2);
        empty_into(t, old);
        return;
    }
    struct al_table_part *p = &t->part[t->n_parts == 1 ? 0 : h >> 58], old = *p;
    part_init(t, p, t->n_parts == 1 ? old.cap * 2 : old.cap + old.cap / 2);
    empty_into(t, old);
}

bool al_distinct_full(const struct al_distinct *t, const struct al_key *k)
{
    if (t->n_parts == 0)
        return true;
    const struct al_table_part *p = al_distinct_part(t, k->h);
    return p->n >= p->cap / 4 * 3;
}

uint32_t *al_distinct_find(const struct al_distinct *t, const struct al_key *k)
{
    if (t->n_parts == 0)
        return NULL;
    uint32_t *slot = probe(al_distinct_part(t, k->h), t->words, k);
    return slot[t->words - 1] ? &slot[t->words - 1] : NULL;
}

uint32_t *al_distinct_at(struct al_distinct *t, const struct al_key *k, bool *fresh)
{
    if (t->n_parts == 0)
        grow(t, k->h);
    struct al_table_part *p = &t->part[t->n_parts == 1 ? 0 : k->h >> 58];
    uint32_t *slot = probe(p, t->words, k);
    *fresh = slot[t->words - 1] == 0;
    if (!*fresh)
        return &slot[t->words - 1];
    while (al_distinct_full(t, k)) {
        grow(t, k->h);
        p = &t->part[t->n_parts == 1 ? 0 : k->h >> 58];
        slot = probe(p, t->words, k);
    }
    memcpy(slot, &k->a, sizeof k->a);
    if (t->words == 5)
        memcpy(slot + 2, &k->b, sizeof k->b);
    p->n++;
    t->n++;
    return &slot[t->words - 1];
}

void al_distinct_free(struct al_distinct *t)
{
    for (unsigned i = 0; i < t->n_parts; i++)
        free(t->part[i].slots);
    if (t->part != &t->one)
        free(t->part);
    al_distinct_init(t, t->kind, t->secret);
}

bool al_distinct_next(struct al_distinct_iter *it, struct al_key *ret, uint32_t *count)
{
    for (; it->part < it->t->n_parts; it->part++, it->slot = 0) {
        const struct al_table_part *p = &it->t->part[it->part];
        while (it->slot < p->cap) {
            const uint32_t *slot = p->slots + (size_t)it->slot++ * it->t->words;
            if (slot[it->t->words - 1] == 0)
                continue;
            ret->a = word_at(slot);
            ret->b = it->t->words == 5 ? word_at(slot + 2) : 0;
            ret->kind = it->t->kind;
            *count = slot[it->t->words - 1] & AL_COUNT_MAX;
            return true;
        }
    }
    return false;
}
