/*
 * Keys of a column as small numbers. Texts are looked up by their bytes; a number and a real of the same
 * value are one key (as SQLite groups them), and show what came first. Times are read without a copy, and
 * those of late are remembered.
 */
#include "dashboard/group_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>

#define MEMO 2048 /* times; a power of two */

struct al_time_memo {
    struct {
        uint64_t a, b; /* the first 10 (13) bytes of the text */
        int64_t index;
        uint32_t id;
        bool known;
    } of[MEMO];
};

void al_keys_init(struct al_keys *k, int column, int cell, enum al_bucket bucket, bool year)
{
    *k = (struct al_keys){.column = column, .cell = cell, .bucket = bucket, .year = year, .now = AL_NO_KEY};
    al_arena_init(&k->texts, AL_MAX_KEY_TEXT);
    if (bucket != AL_BUCKET_NONE && !year)
        k->memo = al_xcalloc(1, sizeof *k->memo);
}

void al_keys_free(struct al_keys *k)
{
    free(k->cells);
    free(k->slots);
    free(k->memo);
    al_arena_free(&k->texts);
    k->cells = NULL;
    k->slots = NULL;
    k->memo = NULL;
}

/* --- hashes: who makes them collide only slows its own page down, within its time --- */

static inline uint64_t word(const char *p, size_t n)
{
    uint64_t w = 0;
    memcpy(&w, p, n);
    return w;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xc2b2ae3d27d4eb4fu);
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint32_t hash_text(struct al_str s)
{
    uint64_t h = s.n;
    const char *p = s.p, *end = s.p + s.n;
    for (; end - p > 16; p += 16)
        h = mix(word(p, 8) ^ h, word(p + 8, 8));
    size_t n = (size_t)(end - p);
    if (n >= 8)
        h = mix(word(p, 8) ^ h, word(end - 8, 8));
    else if (n >= 4)
        h = mix(word(p, 4) ^ h, word(end - 4, 4));
    else if (n > 0)
        h = mix(((uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[n / 2] << 8 |
                 (unsigned char)p[n - 1]) ^
                    h,
                1);
    return (uint32_t)(h ^ h >> 32);
}

static inline uint32_t hash_int(int64_t i)
{
    uint64_t h = mix((uint64_t)i, 7);
    return (uint32_t)(h ^ h >> 32);
}

/* --- the table --- */

static void grow(struct al_keys *k)
{
    uint32_t size = k->mask ? (k->mask + 1) * 2 : 64;
    struct al_key_slot *old = k->slots;
    uint32_t n = old ? k->mask + 1 : 0;
    k->slots = al_xmalloc(size * sizeof *k->slots);
    k->mask = size - 1;
    for (uint32_t i = 0; i < size; i++)
        k->slots[i].id = AL_NO_KEY;
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].id == AL_NO_KEY)
            continue;
        uint32_t at = old[i].hash & k->mask;
        while (k->slots[at].id != AL_NO_KEY)
            at = (at + 1) & k->mask;
        k->slots[at] = old[i];
    }
    free(old);
}

static uint32_t insert(struct al_keys *k, const struct al_dash_cell *c, uint32_t hash, uint32_t at)
{
    struct al_dash_cell own = *c;
    if (k->n == AL_MAX_KEYS)
        k->full = true;
    else if (c->kind == AL_DASH_CELL_TEXT && !(own.text.p = al_arena_dup(&k->texts, c->text)))
        k->full = true;
    if (k->full)
        return AL_NO_KEY;
    if (k->n == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 32;
        k->cells = al_xrealloc(k->cells, k->cap * sizeof *k->cells);
    }
    k->cells[k->n] = own;
    k->slots[at] = (struct al_key_slot){hash, k->n};
    return k->n++;
}

static inline uint32_t find_text(struct al_keys *k, const struct al_dash_cell *c)
{
    uint32_t hash = hash_text(c->text);
    if (k->n * 2 >= k->mask)
        grow(k);
    uint32_t at = hash & k->mask;
    for (; k->slots[at].id != AL_NO_KEY; at = (at + 1) & k->mask) {
        const struct al_dash_cell *own = &k->cells[k->slots[at].id];
        if (k->slots[at].hash == hash && own->kind == AL_DASH_CELL_TEXT && al_str_eq(own->text, c->text))
            return k->slots[at].id;
    }
    return insert(k, c, hash, at);
}

static uint32_t find_number(struct al_keys *k, const struct al_dash_cell *c)
{
    double d = c->kind == AL_DASH_CELL_INT ? 0 : c->d;
    bool whole = c->kind == AL_DASH_CELL_INT || (d >= -9.2e18 && d <= 9.2e18 && d == (double)(int64_t)d);
    uint64_t bits = 0;
    if (!whole)
        memcpy(&bits, &d, sizeof bits);
    uint32_t hash =
        whole ? hash_int(c->kind == AL_DASH_CELL_INT ? c->i : (int64_t)d) : hash_int((int64_t)bits) ^ 1;
    if (k->n * 2 >= k->mask)
        grow(k);
    uint32_t at = hash & k->mask;
    for (; k->slots[at].id != AL_NO_KEY; at = (at + 1) & k->mask)
        if (k->slots[at].hash == hash && al_dash_cell_cmp(&k->cells[k->slots[at].id], c) == 0)
            return k->slots[at].id;
    return insert(k, c, hash, at);
}

static uint32_t find_index(struct al_keys *k, int64_t index)
{
    struct al_dash_cell c = {.kind = AL_DASH_CELL_INT, .i = index};
    return find_number(k, &c);
}

/* --- times --- */

static void take_year(struct al_keys *k, const struct al_dash_cell *c)
{
    int64_t text = -1; /* "1955": a column of years that were texts */
    if (c->kind == AL_DASH_CELL_TEXT && c->text.n == 4 && !al_parse_int(c->text, 1000, 9999, &text))
        return;
    double v = c->kind == AL_DASH_CELL_INT    ? (double)c->i
               : c->kind == AL_DASH_CELL_REAL ? c->d
                                              : (double)text;
    if (!(v >= AL_YEAR_FIRST && v <= AL_YEAR_LAST))
        return;
    k->index = (int64_t)v;
    k->timed = true;
    k->now = find_index(k, k->index);
}

static void take_time(struct al_keys *k, const struct al_dash_cell *c)
{
    size_t n = k->bucket == AL_BUCKET_HOUR && c->text.n != 10 ? 13 : 10;
    if (c->kind != AL_DASH_CELL_TEXT || c->text.n < n)
        return;
    uint64_t a = word(c->text.p, 8), b = n == 13 ? word(c->text.p + 5, 8) : word(c->text.p + 8, 2);
    size_t at = mix(a, b) & (MEMO - 1);
    if (!k->memo->of[at].known || k->memo->of[at].a != a || k->memo->of[at].b != b) {
        int64_t index;
        if (!al_bucket_index(k->bucket, c->text, &index))
            return;
        k->timed = true;
        k->index = index;
        uint32_t id = find_index(k, index);
        if (id == AL_NO_KEY) /* as many as are kept: a clock goes on */
            return;
        k->memo->of[at].a = a;
        k->memo->of[at].b = b;
        k->memo->of[at].index = index;
        k->memo->of[at].id = id;
        k->memo->of[at].known = true;
    }
    k->timed = true;
    k->index = k->memo->of[at].index;
    k->now = k->memo->of[at].id;
}

void al_keys_take(struct al_keys *k, const struct al_dash_cell *c)
{
    k->now = AL_NO_KEY;
    k->timed = false;
    if (k->year)
        take_year(k, c);
    else if (k->bucket != AL_BUCKET_NONE)
        take_time(k, c);
    else if (c->kind == AL_DASH_CELL_TEXT)
        k->now = c->text.n ? find_text(k, c) : AL_NO_KEY;
    else if (c->kind != AL_DASH_CELL_NONE)
        k->now = find_number(k, c);
}

bool al_keys_cell(const struct al_keys *k, uint32_t id, struct al_arena *times, struct al_dash_cell *ret)
{
    char text[16];
    *ret = k->cells[id];
    if (k->bucket == AL_BUCKET_NONE || k->year)
        return true;
    if (!al_bucket_text(k->bucket, ret->i, text))
        text[0] = '\0';
    const char *p = al_arena_dup(times, al_str_of(text));
    *ret = (struct al_dash_cell){.kind = AL_DASH_CELL_TEXT, .text = al_str_of(p)};
    return p != NULL;
}
