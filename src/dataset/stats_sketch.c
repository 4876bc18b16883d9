/* HyperLogLog for how many, Space-Saving for the most frequent, a t-digest for quartiles. */
#include "base/mem.h"
#include "dataset/stats_int.h"

#include <math.h>

/* 1.04 / sqrt(2^15) is 0.6 %: 2 % is over three standard errors. Of a wide sheet 2^14, 0.8 %. */
#define BITS 15
#define BITS_WIDE 14
#define COUNTERS 128u
#define COUNTERS_WIDE 32u
#define INDEX 512u  /* slots for the counters' keys */
#define DELTA 200.0 /* of the digest: at most so many centroids */
#define CENTROIDS 256u
#define BUFFER 512u

struct counter {
    struct al_key key;
    uint64_t count; /* at least the true one, by at most error */
    uint64_t error;
    uint16_t place;            /* in the heap */
    struct al_text_head *text; /* NULL: a number or a short text, or not known yet */
};
struct centroid {
    double mean, weight;
};
struct al_sketch {
    unsigned bits;
    uint8_t *ranks; /* 2^bits */
    struct counter counters[COUNTERS];
    uint16_t heap[COUNTERS]; /* least count first */
    uint16_t index[INDEX];   /* counter + 1, linear probing */
    unsigned n_counters, max_counters;
    struct centroid centroids[CENTROIDS], buffer[BUFFER];
    size_t n_centroids, n_buffer;
    double min, max, weight; /* of all numbers */
};

struct al_sketch *al_sketch_new(bool wide)
{
    struct al_sketch *s = al_xcalloc(1, sizeof *s);
    s->bits = wide ? BITS_WIDE : BITS;
    s->max_counters = wide ? COUNTERS_WIDE : COUNTERS;
    s->ranks = al_xcalloc((size_t)1 << s->bits, 1);
    s->min = INFINITY;
    s->max = -INFINITY;
    return s;
}

void al_sketch_free(struct al_sketch *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->n_counters; i++)
        free(s->counters[i].text);
    free(s->ranks);
    free(s);
}

/* --- distinct values
 * ---------------------------------------------------------------------------------------------- */
static void count_rank(struct al_sketch *s, const struct al_stats_secret *secret, const struct al_key *k)
{
    /* A second round: registers and ranks need every bit of it. */
    uint64_t h = al_mum(k->h ^ secret->mix[0] ^ k->b, secret->mix[2] ^ (uint64_t)k->kind << 32);
    size_t at = h >> (64 - s->bits);
    unsigned rank = (unsigned)__builtin_clzll(h << s->bits | 1ull << (s->bits - 1)) + 1;
    if (rank > s->ranks[at])
        s->ranks[at] = (uint8_t)rank;
}

/* The corrections for registers that are empty, and full (Ertl, "New cardinality estimation algorithms",
 * 2017). */
static double sigma(double x)
{
    double y = 1, z = x, before;
    if (x == 1)
        return INFINITY;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z != before);
    return z;
}

static double tau(double x)
{
    double y = 1, z = 1 - x, before;
    if (x == 0 || x == 1)
        return 0;
    do {
        x = sqrt(x);
        before = z;
        y *= 0.5;
        z -= (1 - x) * (1 - x) * y;
    } while (z != before);
    return z / 3;
}

uint64_t al_sketch_distinct(const struct al_sketch *s)
{
    double m = (double)((size_t)1 << s->bits);
    uint64_t with[66] = {0};
    unsigned q = 64 - s->bits;
    for (size_t i = 0; i < (size_t)1 << s->bits; i++)
        with[s->ranks[i]]++;
    double z = m * tau(1 - (double)with[q + 1] / m);
    for (unsigned k = q; k >= 1; k--)
        z = 0.5 * (z + (double)with[k]);
    z += m * sigma((double)with[0] / m);
    return (uint64_t)(m * m / (2 * M_LN2 * z) + 0.5);
}

/* --- frequent values
 * ---------------------------------------------------------------------------------------------- */
static bool same_key(const struct al_key *x, const struct al_key *y)
{
    return x->a == y->a && x->b == y->b && x->kind == y->kind;
}

static unsigned index_of(const struct al_key *k)
{
    return (unsigned)(k->h >> 13) % INDEX;
}

/* The slot of the key, or the free one where it belongs. */
static unsigned find(const struct al_sketch *s, const struct al_key *k)
{
    unsigned i = index_of(k);
    while (s->index[i] && !same_key(&s->counters[s->index[i] - 1].key, k))
        i = (i + 1) % INDEX;
    return i;
}

static void forget(struct al_sketch *s, unsigned i)
{
    /* What was pushed behind moves up, so that no search ends at the gap. */
    for (unsigned j = (i + 1) % INDEX; s->index[j]; j = (j + 1) % INDEX) {
        unsigned home = index_of(&s->counters[s->index[j] - 1].key);
        if ((j - home) % INDEX >= (j - i) % INDEX) {
            s->index[i] = s->index[j];
            i = j;
        }
    }
    s->index[i] = 0;
}

static void place(struct al_sketch *s, unsigned at, uint16_t counter)
{
    s->heap[at] = counter;
    s->counters[counter].place = (uint16_t)at;
}

static void sink(struct al_sketch *s, unsigned at)
{
    uint16_t it = s->heap[at];
    for (;;) {
        unsigned child = 2 * at + 1;
        if (child >= s->n_counters)
            break;
        if (child + 1 < s->n_counters &&
            s->counters[s->heap[child + 1]].count < s->counters[s->heap[child]].count)
            child++;
        if (s->counters[s->heap[child]].count >= s->counters[it].count)
            break;
        place(s, at, s->heap[child]);
        at = child;
    }
    place(s, at, it);
}

static void rise(struct al_sketch *s, unsigned at)
{
    uint16_t it = s->heap[at];
    while (at > 0 && s->counters[s->heap[(at - 1) / 2]].count > s->counters[it].count) {
        place(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(s, at, it);
}

static void count_frequent(struct al_sketch *s, const struct al_key *k, const struct al_str *text, uint64_t n)
{
    unsigned slot = find(s, k);
    struct counter *c;
    if (s->index[slot]) {
        c = &s->counters[s->index[slot] - 1];
        c->count += n;
        sink(s, c->place);
    } else if (s->n_counters < s->max_counters) {
        uint16_t i = (uint16_t)s->n_counters++;
        c = &s->counters[i];
        *c = (struct counter){.key = *k, .count = n};
        s->index[slot] = (uint16_t)(i + 1);
        place(s, i, i);
        rise(s, i);
    } else { /* takes the place of the rarest, and its count: never less than the true one */
        uint16_t i = s->heap[0];
        c = &s->counters[i];
        forget(s, find(s, &c->key));
        c->key = *k;
        c->error = c->count;
        c->count += n;
        s->index[find(s, k)] = (uint16_t)(i + 1);
        if (k->kind != AL_KEY_LONG || !text) {
            free(c->text);
            c->text = NULL;
        } else if (c->text) {
            al_head_set(c->text, *text);
        }
        sink(s, 0);
    }
    if (k->kind == AL_KEY_LONG && text && !c->text) {
        c->text = al_xmalloc(sizeof *c->text);
        al_head_set(c->text, *text);
    }
}

bool al_sketch_frequent(const struct al_sketch *s, size_t i, struct al_sketch_top *ret)
{
    if (i >= s->n_counters)
        return false;
    const struct counter *c = &s->counters[i];
    *ret = (struct al_sketch_top){.key = c->key, .count = c->count};
    /* Whatever has no counter came at most as often as the rarest that has one. */
    ret->certain = s->n_counters < s->max_counters || c->count - c->error > s->counters[s->heap[0]].count;
    if (c->text)
        ret->text = (struct al_str){c->text->p, c->text->n};
    return true;
}

/* --- quartiles
 * ---------------------------------------------------------------------------------------------------- */
static int by_mean(const void *a, const void *b)
{
    double x = ((const struct centroid *)a)->mean, y = ((const struct centroid *)b)->mean;
    return (x > y) - (x < y);
}

/* The greatest position that a centroid which begins at q may reach (scale function k1). */
static double reach(double q)
{
    double k = asin(2 * q - 1) + 2 * M_PI / DELTA;
    return k >= M_PI / 2 ? 1 : (sin(k) + 1) / 2;
}

static void merge(struct al_sketch *s)
{
    struct centroid all[CENTROIDS + BUFFER];
    if (s->n_buffer == 0)
        return;
    qsort(s->buffer, s->n_buffer, sizeof s->buffer[0], by_mean);
    size_t n = 0, i = 0, j = 0;
    while (i < s->n_centroids || j < s->n_buffer) {
        bool old = j == s->n_buffer || (i < s->n_centroids && s->centroids[i].mean <= s->buffer[j].mean);
        all[n++] = old ? s->centroids[i++] : s->buffer[j++];
    }
    s->n_buffer = 0;
    s->n_centroids = 1;
    s->centroids[0] = all[0];
    double before = 0, limit = reach(0) * s->weight;
    for (i = 1; i < n; i++) {
        struct centroid *c = &s->centroids[s->n_centroids - 1];
        if (before + c->weight + all[i].weight <= limit || s->n_centroids == CENTROIDS) {
            c->weight += all[i].weight;
            c->mean += (all[i].mean - c->mean) * (all[i].weight / c->weight);
        } else {
            before += c->weight;
            limit = reach(before / s->weight) * s->weight;
            s->centroids[s->n_centroids++] = all[i];
        }
    }
}

static void add_number(struct al_sketch *s, double d, uint64_t n)
{
    s->min = d < s->min ? d : s->min;
    s->max = d > s->max ? d : s->max;
    s->weight += (double)n;
    s->buffer[s->n_buffer++] = (struct centroid){d, (double)n};
    if (s->n_buffer == BUFFER)
        merge(s);
}

double al_sketch_quantile(struct al_sketch *s, double q)
{
    merge(s);
    double at = q * (s->weight - 1) + 0.5, begin = 0, last_at = 0.5, last = s->min;
    for (size_t i = 0; i < s->n_centroids; i++) {
        const struct centroid *c = &s->centroids[i];
        double middle = begin + c->weight / 2;
        if (at <= middle)
            return middle > last_at ? last + (c->mean - last) * ((at - last_at) / (middle - last_at))
                                    : c->mean;
        last_at = middle;
        last = c->mean;
        begin += c->weight;
    }
    double end = s->weight - 0.5;
    return end > last_at ? last + (s->max - last) * ((at - last_at) / (end - last_at)) : last;
}

void al_sketch_add(struct al_sketch *s, const struct al_stats_secret *secret, const struct al_key *k,
                   const struct al_str *text, uint64_t n)
{
    count_rank(s, secret, k);
    count_frequent(s, k, text, n);
    if (k->kind == AL_KEY_NUMBER) {
        double d;
        memcpy(&d, &k->a, sizeof d);
        add_number(s, d, n);
    }
}
