#include "base/mem.h"
#include "base/text.h"
#include "dataset/stats_int.h"

#include <math.h>

#define SORTED_MAX 65536u /* distinct numbers that are sorted at once */

/* --- quartiles
 * ---------------------------------------------------------------------------------------------------- */
struct weighted {
    double d;
    uint64_t n;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->d, y = ((const struct weighted *)b)->d;
    return (x > y) - (x < y);
}

/* The positions that quartiles lie between: of each the lower and the upper one, ascending. */
struct ranks {
    uint64_t at[6];
    double value[6];
};

static void walk(struct ranks *r, unsigned *next, uint64_t *seen, double d, uint64_t n)
{
    *seen += n;
    while (*next < 6 && r->at[*next] < *seen)
        r->value[(*next)++] = d;
}

/* A number's bits in an order that is the numbers' own. */
static uint64_t ordered(double d)
{
    uint64_t w;
    memcpy(&w, &d, sizeof w);
    return w >> 63 ? ~w : w | 1ull << 63;
}

static double unordered(uint64_t w)
{
    double d;
    w = w >> 63 ? w & ~(1ull << 63) : ~w;
    memcpy(&d, &w, sizeof d);
    return d;
}

/* Without a copy of the numbers: sixteen bits of each position's number a round, by counting. */
static void select_ranks(const struct al_stats *s, const struct al_column *c, struct ranks *r)
{
    uint64_t prefix[6] = {0}, left[6];
    uint64_t *sums = al_xmalloc(6 * 65536 * sizeof *sums);
    memcpy(left, r->at, sizeof left);
    for (unsigned shift = 48;; shift -= 16) {
        unsigned group[6], n_groups = 0; /* positions with one prefix share their counts */
        uint64_t of[6];
        for (unsigned i = 0; i < 6; i++) {
            if (n_groups == 0 || of[n_groups - 1] != prefix[i])
                of[n_groups++] = prefix[i];
            group[i] = n_groups - 1;
        }
        memset(sums, 0, n_groups * 65536 * sizeof *sums);
        struct al_numbers_iter it = {.s = s, .c = c};
        double d;
        uint64_t n;
        while (al_numbers_next(&it, &d, &n)) {
            uint64_t w = ordered(d), high = shift == 48 ? 0 : w >> (shift + 16);
            for (unsigned g = 0; g < n_groups; g++)
                if (of[g] == high)
                    sums[(size_t)g * 65536 + (w >> shift & 0xffff)] += n;
        }
        for (unsigned i = 0; i < 6; i++) {
            const uint64_t *h = sums + (size_t)group[i] * 65536;
            uint64_t digit = 0;
            while (left[i] >= h[digit])
                left[i] -= h[digit++];
            prefix[i] = prefix[i] << 16 | digit;
        }
        if (shift == 0)
            break;
    }
    for (unsigned i = 0; i < 6; i++)
        r->value[i] = unordered(prefix[i]);
    free(sums);
}

static void find_ranks(const struct al_stats *s, const struct al_column *c, struct ranks *r)
{
    struct al_numbers_iter it = {.s = s, .c = c};
    uint64_t outside = c->number.n - c->dense.carries, seen = 0, n;
    unsigned next = 0;
    double d;
    if (outside == 0) { /* all in order */
        while (next < 6 && al_numbers_next(&it, &d, &n))
            walk(r, &next, &seen, d, n);
        return;
    }
    if (outside + c->dense.n > SORTED_MAX) {
        select_ranks(s, c, r);
        return;
    }
    struct weighted *all = al_xmalloc((size_t)(outside + c->dense.n) * sizeof *all);
    size_t n_all = 0;
    while (al_numbers_next(&it, &d, &n))
        all[n_all++] = (struct weighted){d, n};
    qsort(all, n_all, sizeof *all, by_value);
    for (size_t i = 0; i < n_all; i++)
        walk(r, &next, &seen, all[i].d, all[i].n);
    free(all);
}

static void quartiles(const struct al_stats *s, struct al_column *c, struct al_stats_summary *ret)
{
    if (c->numbers == 0)
        return;
    ret->has_quartiles = true;
    if (c->sketch) {
        for (int i = 0; i < 3; i++)
            ret->quartile[i] = al_sketch_quantile(c->sketch, (i + 1) * 0.25);
        return;
    }
    struct ranks r = {0};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t fourths = (c->numbers - 1) * (i + 1);
        r.at[2 * i] = fourths / 4;
        r.at[2 * i + 1] = fourths / 4 + (fourths % 4 > 0);
    }
    /* Positions ascend but where an upper one is beyond the next lower one: with less than four numbers. */
    for (unsigned i = 1; i < 6; i++)
        for (unsigned j = i; j > 0 && r.at[j - 1] > r.at[j]; j--) {
            uint64_t t = r.at[j];
            r.at[j] = r.at[j - 1];
            r.at[j - 1] = t;
        }
    find_ranks(s, c, &r);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t fourths = (c->numbers - 1) * (i + 1);
        double lo = 0, hi = 0;
        for (unsigned j = 0; j < 6; j++) {
            lo = r.at[j] == fourths / 4 ? r.value[j] : lo;
            hi = r.at[j] == fourths / 4 + (fourths % 4 > 0) ? r.value[j] : hi;
        }
        ret->quartile[i] = lo + (double)(fourths % 4) / 4 * (hi - lo);
    }
}

/* --- frequent values
 * ---------------------------------------------------------------------------------------------- */
struct candidate {
    uint64_t count;
    bool is_number;
    double d;
    char brief[8];
    struct al_str text; /* p NULL: brief holds it */
};

static struct al_text_head head_of(const struct candidate *c)
{
    struct al_text_head h;
    al_head_set(&h, c->text.p ? c->text : (struct al_str){c->brief, c->text.n});
    return h;
}

/* By count, then numbers before texts, then by value. */
static bool goes_before(const struct candidate *x, const struct candidate *y)
{
    if (x->count != y->count)
        return x->count > y->count;
    if (x->is_number != y->is_number)
        return x->is_number;
    if (x->is_number)
        return x->d < y->d;
    struct al_text_head h = head_of(x);
    return al_head_cmp(&h, y->text.p ? y->text : (struct al_str){y->brief, y->text.n}) < 0;
}

struct best {
    struct candidate of[AL_STATS_TOP];
    size_t n;
};

static void offer(struct best *b, const struct candidate *c)
{
    if (b->n == AL_STATS_TOP && (c->count < b->of[b->n - 1].count || !goes_before(c, &b->of[b->n - 1])))
        return;
    size_t i = b->n < AL_STATS_TOP ? b->n++ : AL_STATS_TOP - 1;
    for (; i > 0 && goes_before(c, &b->of[i - 1]); i--)
        b->of[i] = b->of[i - 1];
    b->of[i] = *c;
}

static void set_brief(struct candidate *c, uint64_t a)
{
    memcpy(c->brief, &a, sizeof a);
    c->text = (struct al_str){NULL, sizeof a};
    while (c->text.n > 0 && c->brief[c->text.n - 1] == 0)
        c->text.n--;
}

static void find_best(const struct al_stats *s, const struct al_column *c, struct best *b)
{
    struct candidate k = {.is_number = true};
    struct al_numbers_iter numbers = {.s = s, .c = c};
    while (al_numbers_next(&numbers, &k.d, &k.count))
        offer(b, &k);
    struct al_distinct_iter it = {.t = &c->brief};
    struct al_key key;
    uint32_t n;
    k.is_number = false;
    while (al_distinct_next(&it, &key, &n)) {
        k.count = n;
        if (b->n == AL_STATS_TOP && n < b->of[AL_STATS_TOP - 1].count)
            continue;
        set_brief(&k, key.a);
        offer(b, &k);
    }
    for (size_t i = 0; i < c->n_listed; i++) {
        const uint32_t *count = al_distinct_find(&c->fingerprint, &c->listed[i].key);
        k.count = count ? *count & AL_COUNT_MAX : 0;
        k.text = (struct al_str){c->listed[i].text.p, c->listed[i].text.n};
        offer(b, &k);
    }
}

static void find_sketched(const struct al_column *c, struct best *b)
{
    struct al_sketch_top t;
    for (size_t i = 0; al_sketch_frequent(c->sketch, i, &t); i++) {
        if (!t.certain)
            continue; /* in a column of unique values: any value */
        struct candidate k = {.count = t.count, .is_number = t.key.kind == AL_KEY_NUMBER, .text = t.text};
        if (k.is_number)
            memcpy(&k.d, &t.key.a, sizeof k.d);
        else if (t.key.kind == AL_KEY_SHORT)
            set_brief(&k, t.key.a);
        else if (!t.text.p)
            continue; /* its text is not known */
        offer(b, &k);
    }
}

/* --- the summary
 * -------------------------------------------------------------------------------------------------- */
static void number_value(const struct al_column *c, double d, struct al_value *ret)
{
    if (c->numbers == c->integers)
        *ret = (struct al_value){.type = AL_VALUE_INT, .i = (int64_t)d};
    else
        *ret = (struct al_value){.type = AL_VALUE_REAL, .d = d};
}

/* Up to AL_STATS_TOP_TEXT bytes into out; true when it had to be cut. head has at least so many, or all of
 * it. */
static bool text_value(char *out, struct al_str head, struct al_value *ret)
{
    static const char ellipsis[] = "…";
    *ret = (struct al_value){.type = AL_VALUE_TEXT, .text = {out, head.n}};
    if (head.n <= AL_STATS_TOP_TEXT) {
        if (head.n > 0)
            memcpy(out, head.p, head.n);
        return false;
    }
    size_t room = AL_STATS_TOP_TEXT - (sizeof ellipsis - 1);
    size_t n = al_utf8_cut((struct al_str){head.p, AL_STATS_PREFIX}, room).n;
    memcpy(out, head.p, n);
    memcpy(out + n, ellipsis, sizeof ellipsis - 1);
    ret->text.n = n + sizeof ellipsis - 1;
    return true;
}

static char *slot(struct al_column *c, size_t i)
{
    return c->out + i * AL_STATS_TOP_TEXT;
}

static void extremes(struct al_column *c, struct al_stats_summary *ret)
{
    if (c->numbers > 0) {
        number_value(c, c->min, &ret->min);
        number_value(c, c->max, &ret->max);
    } else if (c->texts > 0) {
        text_value(slot(c, AL_STATS_TOP), (struct al_str){c->min_text->p, c->min_text->n}, &ret->min);
        text_value(slot(c, AL_STATS_TOP + 1), (struct al_str){c->max_text->p, c->max_text->n}, &ret->max);
    }
}

static void frequent(const struct al_stats *s, struct al_column *c, struct al_stats_summary *ret)
{
    struct best b = {0};
    if (c->sketch)
        find_sketched(c, &b);
    else
        find_best(s, c, &b);
    ret->n_top = b.n;
    for (size_t i = 0; i < b.n; i++) {
        const struct candidate *k = &b.of[i];
        struct al_stats_top *t = &ret->top[i];
        t->count = k->count;
        if (k->is_number)
            number_value(c, k->d, &t->value);
        else
            t->cut =
                text_value(slot(c, i), k->text.p ? k->text : (struct al_str){k->brief, k->text.n}, &t->value);
    }
}

static const char *type_of(const struct al_column *c)
{
    uint64_t all = c->numbers + c->texts;
    if (c->numbers > 0 && c->numbers >= all - all / 20)
        return c->integers == c->numbers ? "integer" : "real";
    if (c->numbers == 0 && c->texts > 0 && c->iso == c->texts)
        return "date";
    if (c->numbers == 0 && c->texts > 0 && c->booleans == c->texts)
        return "boolean";
    return "text";
}

static void patterns(const struct al_column *c, char decimal, struct al_pattern_verdict *ret)
{
    struct al_pattern_counts p = c->patterns;
    p.texts = c->texts;
    p.numbers = c->numbers;
    p.integers = c->integers;
    if (c->numbers > 0 && c->integers == c->numbers) {
        p.int_min = (int64_t)c->min;
        p.int_max = (int64_t)c->max;
    }
    al_pattern_decide(&p, decimal, ret);
}

void al_stats_summary(struct al_stats *s, size_t column, char decimal, struct al_stats_summary *ret)
{
    struct al_column *c = s->columns[column];
    al_column_flush(s, c);
    if (!c->out)
        c->out = al_xmalloc((AL_STATS_TOP + 2) * AL_STATS_TOP_TEXT);
    *ret = (struct al_stats_summary){
        .type = type_of(c),
        .nulls = c->nulls,
        .numbers = c->numbers,
        .texts = c->texts,
        .exact = !c->sketch,
        .min_length = c->min_chars,
        .max_length = c->max_chars,
    };
    ret->distinct = c->sketch ? al_sketch_distinct(c->sketch)
                              : c->dense.n + c->number.n - c->dense.carries + c->brief.n + c->fingerprint.n;
    if (c->numbers > 0)
        ret->text_fallbacks = c->texts;
    else if (strcmp(ret->type, "text") == 0)
        ret->text_fallbacks = c->digits_only;
    ret->has_mean = al_sums_mean(&c->sums, &ret->mean);
    ret->has_stddev = al_sums_stddev(&c->sums, &ret->stddev);
    extremes(c, ret);
    quartiles(s, c, ret);
    frequent(s, c, ret);
    patterns(c, decimal, &ret->pattern);
}
