#include "dataset/stats.h"

#include "base/ident.h"
#include "base/mem.h"
#include "dataset/stats_int.h"

#include <math.h>

/* A column that holds less is left exact: what replaces its counts is not smaller. */
#define FALL_MIN ((size_t)96 << 10)
#define FALL_MIN_WIDE ((size_t)48 << 10)
#define WIDE_SHEET 256 /* columns */

#define HIGH 0x8080808080808080u

struct al_stats *al_stats_new_keyed(uint64_t budget_bytes, const struct al_stats_secret *secret)
{
    struct al_stats *s = al_xcalloc(1, sizeof *s);
    s->budget = budget_bytes;
    s->secret = *secret;
    return s;
}

struct al_stats *al_stats_new(uint64_t budget_bytes)
{
    struct al_stats_secret secret;
    al_random(&secret, sizeof secret);
    secret.point[0] >>= 3; /* below 2^61 */
    secret.point[1] >>= 3;
    return al_stats_new_keyed(budget_bytes, &secret);
}

static void drop_counts(struct al_column *c)
{
    al_distinct_free(&c->number);
    al_distinct_free(&c->brief);
    al_distinct_free(&c->fingerprint);
    free(c->dense.cells);
    c->dense = (struct al_dense){0};
    free(c->listed);
    c->listed = NULL;
    c->n_listed = 0;
}

static void column_fini(struct al_column *c)
{
    drop_counts(c);
    al_memo_free(&c->memo);
    al_sketch_free(c->sketch);
    free(c->min_text);
    free(c->max_text);
    free(c->out);
}

static void column_init(struct al_stats *s, struct al_column *c)
{
    *c = (struct al_column){.min = INFINITY, .max = -INFINITY};
    al_distinct_init(&c->number, AL_KEY_NUMBER, &s->secret);
    al_distinct_init(&c->brief, AL_KEY_SHORT, &s->secret);
    al_distinct_init(&c->fingerprint, AL_KEY_LONG, &s->secret);
}

void al_stats_free(struct al_stats *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        column_fini(s->columns[i]);
        free(s->columns[i]);
    }
    free(s->columns);
    free(s);
}

size_t al_stats_column(struct al_stats *s)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->columns = al_xrealloc(s->columns, s->cap * sizeof *s->columns);
    }
    s->columns[s->n] = al_xmalloc(sizeof **s->columns);
    column_init(s, s->columns[s->n]);
    return s->n++;
}

size_t al_column_bytes(const struct al_column *c)
{
    return c->number.bytes + c->brief.bytes + c->fingerprint.bytes + c->dense.size +
           (c->listed ? AL_STATS_TOP * sizeof *c->listed : 0);
}

void al_head_set(struct al_text_head *h, struct al_str text)
{
    h->n = text.n;
    if (text.n > 0)
        memcpy(h->p, text.p, text.n < AL_STATS_PREFIX ? text.n : AL_STATS_PREFIX);
}

int al_head_cmp(const struct al_text_head *h, struct al_str text)
{
    size_t n = h->n < text.n ? h->n : text.n;
    int order = n > 0 ? memcmp(h->p, text.p, n < AL_STATS_PREFIX ? n : AL_STATS_PREFIX) : 0;
    return order ? order : (h->n > text.n) - (h->n < text.n);
}

/* --- falling back
 * ------------------------------------------------------------------------------------------------- */
static const struct al_listed *listed_of(const struct al_column *c, const struct al_key *k)
{
    for (size_t i = 0; i < c->n_listed; i++)
        if (c->listed[i].key.a == k->a && c->listed[i].key.b == k->b)
            return &c->listed[i];
    return NULL;
}

static void pour(struct al_stats *s, struct al_column *c, const struct al_distinct *t)
{
    struct al_distinct_iter it = {.t = t};
    struct al_key k;
    uint32_t n;
    while (al_distinct_next(&it, &k, &n)) {
        k.h = al_key_hash(&s->secret, k.kind, k.a);
        const struct al_listed *l = k.kind == AL_KEY_LONG ? listed_of(c, &k) : NULL;
        struct al_str text = l ? (struct al_str){l->text.p, l->text.n} : (struct al_str){0};
        al_sketch_add(c->sketch, &s->secret, &k, l ? &text : NULL, n);
    }
}

static void fall(struct al_stats *s, struct al_column *c)
{
    c->sketch = al_sketch_new(s->n > WIDE_SHEET);
    struct al_numbers_iter it = {.s = s, .c = c};
    double d;
    uint64_t n;
    while (al_numbers_next(&it, &d, &n)) {
        struct al_key k;
        al_key_number(&s->secret, d, &k);
        al_sketch_add(c->sketch, &s->secret, &k, NULL, n);
    }
    pour(s, c, &c->brief);
    pour(s, c, &c->fingerprint);
    drop_counts(c);
}

/* Columns fall back, the largest first, until the rest fits. */
static void relieve(struct al_stats *s)
{
    while (s->used > s->budget) {
        struct al_column *largest = NULL;
        size_t most = s->n > WIDE_SHEET ? FALL_MIN_WIDE : FALL_MIN;
        for (size_t i = 0; i < s->n; i++) {
            size_t bytes = al_column_bytes(s->columns[i]);
            if (!s->columns[i]->sketch && bytes > most) {
                most = bytes;
                largest = s->columns[i];
            }
        }
        if (!largest)
            return;
        fall(s, largest);
        s->used -= most;
    }
}

/* --- counting
 * ----------------------------------------------------------------------------------------------------- */
static inline uint32_t add_to(uint32_t *count, uint64_t n)
{
    uint64_t sum = (*count & AL_COUNT_MAX) + n;
    if (sum > AL_COUNT_MAX)
        sum = AL_COUNT_MAX;
    *count = (*count & AL_COUNT_LISTED) | (uint32_t)sum;
    return (uint32_t)sum;
}

static uint32_t listed_count(const struct al_column *c, size_t i)
{
    const uint32_t *count = al_distinct_find(&c->fingerprint, &c->listed[i].key);
    return count ? *count & AL_COUNT_MAX : 0;
}

/* The listed one that goes first: the rarest, of those the last in order. */
static size_t weakest(struct al_column *c)
{
    size_t w = 0;
    uint32_t least = listed_count(c, 0);
    for (size_t i = 1; i < c->n_listed; i++) {
        uint32_t n = listed_count(c, i);
        const struct al_text_head *t = &c->listed[i].text;
        struct al_str text = {t->p, t->n};
        if (n < least || (n == least && al_head_cmp(&c->listed[w].text, text) < 0)) {
            w = i;
            least = n;
        }
    }
    c->listed_min = least;
    return w;
}

/*
 * A text that is no longer known once it is counted has to be kept while it could be among the first. A value
 * is in its final place, as far as those before it go, when it comes for the last time: then fewer than five
 * are before it, and it is listed; and who could take its place later would be before it in the end.
 */
static void list_frequent(struct al_column *c, const struct al_key *k, struct al_str text, uint32_t *count)
{
    uint32_t n = *count & AL_COUNT_MAX;
    size_t at = c->n_listed;
    if (!c->listed)
        c->listed = al_xmalloc(AL_STATS_TOP * sizeof *c->listed);
    if (at == AL_STATS_TOP) {
        at = weakest(c);
        if (n < c->listed_min || (n == c->listed_min && al_head_cmp(&c->listed[at].text, text) <= 0))
            return;
        uint32_t *gone = al_distinct_find(&c->fingerprint, &c->listed[at].key);
        if (gone)
            *gone &= AL_COUNT_MAX;
    } else {
        c->n_listed++;
    }
    c->listed[at].key = *k;
    al_head_set(&c->listed[at].text, text);
    *count |= AL_COUNT_LISTED;
    if (c->n_listed == AL_STATS_TOP)
        weakest(c);
}

static void count_text(struct al_stats *s, struct al_column *c, const struct al_key *k, struct al_str text,
                       uint64_t n)
{
    if (c->sketch) {
        al_sketch_add(c->sketch, &s->secret, k, &text, n);
        return;
    }
    bool fresh, is_long = k->kind == AL_KEY_LONG;
    struct al_distinct *t = is_long ? &c->fingerprint : &c->brief;
    size_t before = t->bytes;
    uint32_t *count = al_distinct_at(t, k, &fresh);
    uint32_t sum = add_to(count, n);
    if (is_long && !(*count & AL_COUNT_LISTED) && (c->n_listed < AL_STATS_TOP || sum >= c->listed_min)) {
        s->used += c->listed ? 0 : AL_STATS_TOP * sizeof *c->listed;
        list_frequent(c, k, text, count);
    }
    if (t->bytes != before) {
        s->used += t->bytes - before;
        if (s->used > s->budget)
            relieve(s);
    }
}

static void count_number(struct al_stats *s, struct al_column *c, const struct al_key *k, double d,
                         uint64_t n)
{
    if (c->sketch) {
        al_sketch_add(c->sketch, &s->secret, k, NULL, n);
        return;
    }
    size_t before = c->number.bytes + c->dense.size;
    if (!al_dense_add(s, c, d, n)) {
        /* Before a table grows, positions may take its place. */
        if (!c->dense.cells && c->number.n_parts && al_distinct_full(&c->number, k) && al_dense_build(s, c) &&
            al_dense_add(s, c, d, n)) {
        } else {
            bool fresh;
            add_to(al_distinct_at(&c->number, k, &fresh), n);
        }
    }
    size_t after = c->number.bytes + c->dense.size;
    if (after != before) {
        s->used += after - before; /* may wrap, and is right again */
        if (s->used > s->budget)
            relieve(s);
    }
}

void al_column_densify(struct al_stats *s, struct al_column *c)
{
    size_t before = c->number.bytes;
    if (c->number.n_parts && al_dense_build(s, c)) {
        s->used += c->number.bytes + c->dense.size - before;
        if (s->used > s->budget)
            relieve(s);
    }
}

/* --- texts
 * -------------------------------------------------------------------------------------------------------- */
struct scan {
    uint64_t chars;
    bool digit, letter;
};

/* One pass, eight bytes at a time. */
static inline void scan_word(struct scan *r, uint64_t w, uint64_t *starts)
{
    uint64_t low = w & ~HIGH, ascii = ~w & HIGH;
    r->digit |= ((low + 0x5050505050505050u) & ~(low + 0x4646464646464646u) & ascii) != 0;
    uint64_t lower = low | 0x2020202020202020u;
    r->letter |= ((lower + 0x1f1f1f1f1f1f1f1fu) & ~(lower + 0x0505050505050505u) & ascii) != 0;
    uint64_t inner = w & ~(w << 1) & HIGH; /* bytes 10xxxxxx */
    *starts -= ((inner >> 7) * 0x0101010101010101u) >> 56;
}

static struct scan scan(struct al_str t)
{
    struct scan r = {.chars = t.n};
    size_t i = 0;
    uint64_t w;
    for (; i + 8 <= t.n; i += 8) {
        memcpy(&w, t.p + i, 8);
        scan_word(&r, w, &r.chars);
    }
    if (i < t.n) {
        w = 0;
        memcpy(&w, t.p + i, t.n - i);
        scan_word(&r, w, &r.chars);
    }
    return r;
}

static bool is_boolean(struct al_str t)
{
    static const char words[2][6] = {"true", "false"};
    if (t.n != 4 && t.n != 5)
        return false;
    const char *word = words[t.n - 4];
    for (size_t i = 0; i < t.n; i++)
        if ((t.p[i] | 32) != word[i])
            return false;
    return true;
}

static uint64_t first8(struct al_str t)
{
    uint64_t w = 0;
    if (t.n > 0)
        memcpy(&w, t.p, t.n < 8 ? t.n : 8);
    return __builtin_bswap64(w);
}

static void widen_texts(struct al_column *c, struct al_str t)
{
    uint64_t w = first8(t);
    if (!c->min_text) {
        c->min_text = al_xmalloc(sizeof *c->min_text);
        c->max_text = al_xmalloc(sizeof *c->max_text);
        al_head_set(c->min_text, t);
        al_head_set(c->max_text, t);
        c->min8 = c->max8 = w;
        return;
    }
    if (w < c->min8 || (w == c->min8 && al_head_cmp(c->min_text, t) > 0)) {
        al_head_set(c->min_text, t);
        c->min8 = w;
    }
    if (w > c->max8 || (w == c->max8 && al_head_cmp(c->max_text, t) < 0)) {
        al_head_set(c->max_text, t);
        c->max8 = w;
    }
}

void al_column_text(struct al_stats *s, struct al_column *c, const struct al_key *k, struct al_str t,
                    uint64_t n)
{
    struct scan r = scan(t);
    if (c->texts == 0 || r.chars < c->min_chars)
        c->min_chars = r.chars;
    if (r.chars > c->max_chars)
        c->max_chars = r.chars;
    c->texts += n;
    widen_texts(c, t);
    if (r.digit) {
        c->digits_only += r.letter ? 0 : n;
        bool iso = al_pattern_is_iso(t);
        c->iso += iso ? n : 0;
        if (iso) {
            c->patterns.iso_dates += n;
        } else if (t.n <= AL_STATS_PENDING) {
            const struct al_value v = {.type = AL_VALUE_TEXT, .text = t};
            al_pattern_count_n(&c->patterns, &v, n);
        }
    } else if (is_boolean(t)) {
        c->booleans += n;
    }
    count_text(s, c, k, t, n);
}

static void take_number(struct al_stats *s, struct al_column *c, const struct al_key *k, double d,
                        bool integer, uint64_t n)
{
    al_sums_add(&c->sums, d, n); /* first: what is counted of the number follows its decimals */
    al_column_range(c, d, integer, n);
    count_number(s, c, k, d, n);
}

static void flush_pending(struct al_stats *s, struct al_column *c)
{
    uint64_t n = c->pending;
    if (n == 0)
        return;
    c->pending = 0;
    if (c->key.kind == AL_KEY_NUMBER)
        take_number(s, c, &c->key, c->pending_number, c->pending_integer, n);
    else
        al_column_text(s, c, &c->key, (struct al_str){c->text, c->text_n}, n);
}

void al_column_flush(struct al_stats *s, struct al_column *c)
{
    flush_pending(s, c);
    al_memo_flush(s, c);
}

static void add_number(struct al_stats *s, struct al_column *c, double d, bool integer)
{
    d += 0.0; /* no negative zero */
    if (c->pending && c->key.kind == AL_KEY_NUMBER && c->pending_number == d &&
        c->pending_integer == integer) {
        c->pending++;
        return;
    }
    flush_pending(s, c);
    al_key_number(&s->secret, d, &c->key);
    c->pending_number = d;
    c->pending_integer = integer;
    c->pending = 1;
    const struct al_dense *t = &c->dense;
    double at = d * al_pow10[t->e] - (double)t->lo;
    if (!t->cells)
        al_distinct_prefetch(&c->number, &c->key);
    else if (at >= 0 && at < t->size)
        __builtin_prefetch(t->cells + (size_t)at, 1);
}

static inline bool same_text(const struct al_column *c, struct al_str t)
{
    return c->text_n == t.n && (t.n == 0 || memcmp(c->text, t.p, t.n) == 0);
}

static void add_text(struct al_stats *s, struct al_column *c, struct al_str t)
{
    if (c->pending && c->key.kind != AL_KEY_NUMBER && same_text(c, t)) {
        c->pending++;
        return;
    }
    flush_pending(s, c);
    struct al_key k;
    al_key_text(&s->secret, t, &k);
    if (t.n > AL_STATS_PENDING) {
        al_column_text(s, c, &k, t, 1);
        return;
    }
    if (t.n > 0)
        memcpy(c->text, t.p, t.n);
    c->text_n = t.n;
    c->key = k;
    c->pending = 1;
    al_distinct_prefetch(k.kind == AL_KEY_LONG ? &c->fingerprint : &c->brief, &k);
}

void al_stats_add(struct al_stats *s, size_t column, const struct al_value *v, int scale)
{
    (void)scale; /* sums find the decimals of the numbers themselves */
    struct al_column *c = s->columns[column];
    switch (v->type) {
    case AL_VALUE_NULL:
        c->nulls++;
        break;
    case AL_VALUE_INT:
        add_number(s, c, (double)v->i, true);
        break;
    case AL_VALUE_REAL:
        add_number(s, c, v->d, false);
        break;
    case AL_VALUE_TEXT:
        add_text(s, c, v->text);
        break;
    }
}

void al_stats_nulls(struct al_stats *s, size_t column, uint64_t n)
{
    s->columns[column]->nulls += n;
}

void al_stats_reset(struct al_stats *s, size_t column)
{
    struct al_column *c = s->columns[column];
    s->used -= al_column_bytes(c);
    column_fini(c);
    column_init(s, c);
}
