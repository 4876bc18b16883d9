/* The parts of the statistics: tables of distinct values, sums, and what replaces them when memory is up. */
#ifndef AL_DATASET_STATS_INT_H
#define AL_DATASET_STATS_INT_H

#include "dataset/stats.h"

#define AL_STATS_PREFIX 256 /* bytes of a text by which texts are ordered; beyond, the length decides */

/* --- a value as a key
 * ------------------------------------------------------------------------------------------- */
enum al_key_kind {
    AL_KEY_NONE,
    AL_KEY_NUMBER,
    AL_KEY_SHORT,
    AL_KEY_LONG
};
struct al_key {
    uint64_t
        a; /* a double's bits; the bytes of a text up to 8; or, with b, the fingerprint of a longer one */
    uint64_t b;
    uint64_t h; /* keyed hash of a and b */
    enum al_key_kind kind;
};
/* Two polynomials over 2^61 - 1 in secret points: texts of n bytes meet with a chance of (n / 7 + 2)^2 /
 * 2^122. */
struct al_stats_secret {
    uint64_t mix[4];
    uint64_t point[2];
};
static inline uint64_t al_mum(uint64_t x, uint64_t y)
{
    unsigned __int128 p = (unsigned __int128)x * y;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}
static inline uint64_t al_key_hash(const struct al_stats_secret *s, enum al_key_kind kind, uint64_t a)
{
    return al_mum(a ^ s->mix[kind - 1], s->mix[kind]);
}
void al_key_text(const struct al_stats_secret *s, struct al_str text, struct al_key *ret);
static inline void al_key_number(const struct al_stats_secret *s, double d, struct al_key *ret)
{
    memcpy(&ret->a, &d, sizeof d);
    ret->b = 0;
    ret->kind = AL_KEY_NUMBER;
    ret->h = al_key_hash(s, AL_KEY_NUMBER, ret->a);
}

/* --- a table of keys and counts
 * ----------------------------------------------------------------------------------- */
#define AL_COUNT_LISTED 0x80000000u /* in a count: this value is in the list of frequent texts */
#define AL_COUNT_MAX 0x7fffffffu
struct al_table_part {
    uint32_t *slots; /* each: a, b if wide, and the count, which is 0 in a free one */
    uint32_t cap, n;
};
/* Open addressing. In one part, later in 64, so that growing never needs much more memory than what is held.
 */
struct al_distinct {
    struct al_table_part *part;
    struct al_table_part one;
    unsigned n_parts; /* 0 while empty */
    unsigned words;   /* of a slot: 3, or 5 with b */
    enum al_key_kind kind;
    const struct al_stats_secret *secret;
    uint64_t n;
    size_t bytes;
};
void al_distinct_init(struct al_distinct *t, enum al_key_kind kind, const struct al_stats_secret *secret);
/* The count of the key, to be added to; *fresh when it was not there (and its count is 0: the caller sets
 * it). */
uint32_t *al_distinct_at(struct al_distinct *t, const struct al_key *k, bool *fresh);
uint32_t *al_distinct_find(const struct al_distinct *t, const struct al_key *k);
void al_distinct_free(struct al_distinct *t); /* and empty again */
/* Whether the next key makes it grow. */
bool al_distinct_full(const struct al_distinct *t, const struct al_key *k);
static inline const struct al_table_part *al_distinct_part(const struct al_distinct *t, uint64_t h)
{
    return &t->part[t->n_parts == 1 ? 0 : h >> 58];
}
static inline uint32_t al_distinct_slot(const struct al_table_part *p, uint64_t h)
{
    return (uint32_t)(((h >> 20 & 0xffffffff) * p->cap) >> 32);
}
static inline void al_distinct_prefetch(const struct al_distinct *t, const struct al_key *k)
{
    if (t->n_parts) {
        const struct al_table_part *p = al_distinct_part(t, k->h);
        const uint32_t *slot = p->slots + (size_t)al_distinct_slot(p, k->h) * t->words;
        __builtin_prefetch(slot, 1);
        __builtin_prefetch(slot + 16, 1); /* a search goes on into the next line as often as not */
    }
}
struct al_distinct_iter {
    const struct al_distinct *t;
    unsigned part;
    uint32_t slot;
};
/* The next key (its h is not set) and its count without the mark; false at the end. */
bool al_distinct_next(struct al_distinct_iter *it, struct al_key *ret, uint32_t *count);

/* --- mean and deviation
 * ------------------------------------------------------------------------------------------- */
/*
 * While all numbers are k / 10^e with one e ≤ 15 and |k| ≤ 10^15 (2^53 for e = 0), sums of k - k0 and of its
 * square are exact integers. Then, or from the start, compensated sums of doubles, shifted by the first one.
 */
struct al_sums {
    uint64_t n;
    bool inexact;
    int e;
    int64_t k0;
    __int128 s1;
    unsigned __int128 s2;
    double shift, s_hi, s_lo, q_hi, q_lo;
};
extern const double al_pow10[16];
/* k with k / 10^e == d, when there is one. */
static inline bool al_scaled(double d, int e, int64_t *ret)
{
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
    if (e == 0) {
        if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0))
            return false;
        *ret = (int64_t)d;
        return (double)*ret == d;
    }
    double x = d * al_pow10[e];
    if (!(x >= -1e15 && x <= 1e15))
        return false;
    x = (x + magic) - magic;
    *ret = (int64_t)x;
    return x / al_pow10[e] == d;
}
#define AL_SUMS_DELTA_MAX ((int64_t)1 << 47) /* its square, 2^32 times, has room in 128 bits */
/* Adds k - k0 n times, exactly, or returns false. */
static inline bool al_sums_scaled(struct al_sums *s, int64_t k, uint64_t n)
{
    int64_t delta;
    if (__builtin_sub_overflow(k, s->k0, &delta) || delta >= AL_SUMS_DELTA_MAX || delta <= -AL_SUMS_DELTA_MAX)
        return false;
    unsigned __int128 s2 = s->s2 + (unsigned __int128)((__int128)delta * delta) * n;
    if (s2 >> 126)
        return false;
    s->s1 += (__int128)delta * (__int128)n;
    s->s2 = s2;
    s->n += n;
    return true;
}
void al_sums_add(struct al_sums *s, double d, uint64_t n);
/* From here on sums of doubles. */
void al_sums_approximate(struct al_sums *s);
bool al_sums_mean(const struct al_sums *s, double *ret);
bool al_sums_stddev(const struct al_sums *s, double *ret);

/* --- what replaces exact counts
 * ----------------------------------------------------------------------------------- */
struct al_sketch;
/* wide: the sheet has many columns; less memory for each. */
struct al_sketch *al_sketch_new(bool wide);
void al_sketch_free(struct al_sketch *s);
/* text: the whole text of a text, or NULL when it is not known (it is learned when the value comes again). */
void al_sketch_add(struct al_sketch *s, const struct al_stats_secret *secret, const struct al_key *k,
                   const struct al_str *text, uint64_t n);
uint64_t al_sketch_distinct(const struct al_sketch *s);
/* Position from 0 to 1. */
double al_sketch_quantile(struct al_sketch *s, double q);
struct al_sketch_top {
    struct al_key key;
    uint64_t count;
    bool certain;       /* more frequent than all that are not counted */
    struct al_str text; /* up to AL_STATS_PREFIX bytes; n is the length of the whole */
};
/* The i-th of the counted values whose text is known; false when there is none more. Unordered. */
bool al_sketch_frequent(const struct al_sketch *s, size_t i, struct al_sketch_top *ret);

/* --- columns
 * ------------------------------------------------------------------------------------------------------ */
/* A text by its first bytes. */
struct al_text_head {
    size_t n; /* of the whole */
    char p[AL_STATS_PREFIX];
};
struct al_listed {
    struct al_key key;
    struct al_text_head text;
};
/* Counts of k from lo on, in one byte each: a byte that was 255 goes on at 128, and the rest is in the table.
 */
struct al_dense {
    uint8_t *cells;
    int64_t lo;
    uint32_t size;
    int e;
    uint64_t n;       /* cells that are not 0 */
    uint64_t carries; /* keys of the table that have their cell here */
};
/* Texts that came lately with how often they came, uncounted until others take their places. */
#define AL_STATS_MEMO_TEXT 24 /* bytes of a text that may be there */
struct al_memo_entry {
    uint64_t w[3]; /* the text, and zeros */
    uint32_t n;    /* bytes of it */
    uint32_t count;
};
struct al_memo {
    struct al_memo_entry *entries;
    uint32_t size; /* a power of two; 0: none yet */
    uint32_t looked, missed;
    bool off; /* texts differ too much */
};
struct al_column {
    uint64_t nulls, numbers, integers, texts, iso, booleans, digits_only;
    uint64_t min_chars, max_chars;
    double min, max;
    uint64_t min8, max8; /* first bytes of the least and the greatest text, most significant first */
    struct al_text_head *min_text, *max_text;
    struct al_sums sums;
    struct al_dense dense;
    struct al_distinct number, brief, fingerprint;
    struct al_listed
        *listed; /* the most frequent of the texts beyond 8 bytes: only theirs are not in the table */
    size_t n_listed;
    uint32_t listed_min; /* no listed one has less */
    struct al_sketch *sketch;
    struct al_pattern_counts patterns;
    /* What came last waits here for a different value: repeats are counted at once, and memory has time to
     * come. */
    uint64_t pending;
    struct al_key key;
    double pending_number;
    bool pending_integer;
    size_t text_n;
    char text[72]; /* zeros behind it, to a multiple of 8 */
    struct al_memo memo;
    char *out; /* texts of the summary: one slot of AL_STATS_TOP_TEXT for each */
};
#define AL_STATS_PENDING 64 /* bytes of a text that may wait */
struct al_stats {
    struct al_stats_secret secret;
    uint64_t budget;
    uint64_t used; /* by what al_column_bytes counts */
    struct al_column **columns;
    size_t n, cap;
};
struct al_stats *al_stats_new_keyed(uint64_t budget_bytes, const struct al_stats_secret *secret);
/* Counts what waits. */
void al_column_flush(struct al_stats *s, struct al_column *c);
size_t al_column_bytes(const struct al_column *c);
/* Counts a text n times. */
void al_column_text(struct al_stats *s, struct al_column *c, const struct al_key *k, struct al_str t,
                    uint64_t n);
/* What is known of a number but for sums and counts of values. */
static inline void al_column_range(struct al_column *c, double d, bool integer, uint64_t n)
{
    c->min = d < c->min ? d : c->min;
    c->max = d > c->max ? d : c->max;
    c->numbers += n;
    c->integers += integer ? n : 0;
    if (integer) {
        if (d >= 18000101 && d <= 21991231) {
            const struct al_value v = {.type = AL_VALUE_INT, .i = (int64_t)d};
            al_pattern_count_n(&c->patterns, &v, n);
        }
    } else if (c->sums.inexact || c->sums.e >= 3) {
        const struct al_value v = {.type = AL_VALUE_REAL, .d = d};
        al_pattern_count_n(&c->patterns, &v, n);
    }
}
/* Dense counts, where they are possible. */
void al_column_densify(struct al_stats *s, struct al_column *c);
void al_memo_flush(struct al_stats *s, struct al_column *c);
void al_memo_free(struct al_memo *m);
void al_head_set(struct al_text_head *h, struct al_str text);
int al_head_cmp(const struct al_text_head *h, struct al_str text);
/* The dense counts: true when d was counted there. */
bool al_dense_add(struct al_stats *s, struct al_column *c, double d, uint64_t n);
/* Moves the numbers of the table into dense counts where that is smaller. */
bool al_dense_build(struct al_stats *s, struct al_column *c);

/* All distinct numbers with their counts, dense ones first and in order. */
struct al_numbers_iter {
    const struct al_stats *s;
    const struct al_column *c;
    uint64_t cell;
    struct al_distinct_iter table;
};
bool al_numbers_next(struct al_numbers_iter *it, double *ret, uint64_t *count);

#endif
