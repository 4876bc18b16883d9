#include "dataset/names.h"

#include "base/mem.h"
#include "table/icu.h"

#include <stdio.h>

#define ASCII_MAX ((size_t)64 << 10) /* of a transliterated header; only 48 characters of it count */
#define SUFFIX_MAX 16                /* "_" and a count, or "_values" */

struct al_names {
    char **names; /* owned; views of them were given out */
    size_t n, cap;
    size_t *slots; /* open addressing: index of names + 1; a power of two, at least twice n */
    size_t n_slots;
};

static size_t hash(struct al_str s)
{
    size_t h = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h;
}

/* The slot where s stands, or would. */
static size_t *slot_of(const struct al_names *n, struct al_str s)
{
    size_t i = hash(s) & (n->n_slots - 1);
    while (n->slots[i] && !al_str_is(s, n->names[n->slots[i] - 1]))
        i = (i + 1) & (n->n_slots - 1);
    return &n->slots[i];
}

static bool is_taken(const struct al_names *n, struct al_str s)
{
    return *slot_of(n, s) != 0;
}

static void grow(struct al_names *n)
{
    n->cap = n->cap ? 2 * n->cap : 32;
    n->names = al_xrealloc(n->names, n->cap * sizeof *n->names);
    free(n->slots);
    n->n_slots = 4 * n->cap;
    n->slots = al_xcalloc(n->n_slots, sizeof *n->slots);
    for (size_t i = 0; i < n->n; i++)
        *slot_of(n, al_str_of(n->names[i])) = i + 1;
}

/* s is not taken yet. */
static struct al_str take(struct al_names *n, struct al_str s)
{
    if (n->n == n->cap)
        grow(n);
    char *name = al_xdup(s.p, s.n);
    n->names[n->n++] = name;
    *slot_of(n, s) = n->n;
    return (struct al_str){name, s.n};
}

struct al_names *al_names_new(void)
{
    struct al_names *n = al_xcalloc(1, sizeof *n);
    grow(n);
    take(n, AL_STR("rowid"));
    take(n, AL_STR("oid"));
    take(n, AL_STR("_rowid_"));
    return n;
}

void al_names_free(struct al_names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++)
        free(n->names[i]);
    free(n->names);
    free(n->slots);
    free(n);
}

/* Letters and digits of s in lower case, whatever is between them one "_"; nothing at the ends. Length, at
 * most max. */
static size_t squeeze(struct al_str s, char *out, size_t max)
{
    size_t n = 0;
    bool gap = false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
            gap = n > 0;
            continue;
        }
        if (n + gap >= max)
            break;
        if (gap)
            out[n++] = '_';
        gap = false;
        out[n++] = c;
    }
    return n;
}

static size_t identifier(struct al_str label, char *out, size_t max)
{
    autobuf struct al_buf ascii = AL_BUF_INIT(ASCII_MAX);
    al_icu_to_ascii(label, &ascii);
    return squeeze(al_buf_str(&ascii), out, max);
}

/* The name, or the first of name_2, name_3 … that is free; with view, whose view is free, too. */
static struct al_str take_free(struct al_names *n, struct al_str base, const char *view)
{
    char name[AL_NAME_MAX + 2 * SUFFIX_MAX], values[sizeof name + SUFFIX_MAX];
    for (unsigned i = 1;; i++) {
        int len = i == 1 ? snprintf(name, sizeof name, "%.*s", AL_FMT(base))
                         : snprintf(name, sizeof name, "%.*s_%u", AL_FMT(base), i);
        struct al_str s = {name, (size_t)len}, v = {values, 0};
        if (view)
            v.n = (size_t)snprintf(values, sizeof values, "%s%s", name, view);
        if (is_taken(n, s) || (view && is_taken(n, v)))
            continue;
        if (view)
            take(n, v);
        return take(n, s);
    }
}

struct al_str al_names_add(struct al_names *n, struct al_str label, unsigned ordinal)
{
    char name[AL_NAME_MAX + SUFFIX_MAX];
    size_t len = identifier(label, name + 1, AL_NAME_MAX);
    struct al_str s = {name + 1, len};
    if (len == 0) {
        s.n = (size_t)snprintf(name + 1, sizeof name - 1, "column_%u", ordinal);
    } else if ((name[1] >= '0' && name[1] <= '9') || al_str_starts(s, "sqlite_")) {
        name[0] = '_';
        s = (struct al_str){name, len < AL_NAME_MAX ? len + 1 : AL_NAME_MAX};
    }
    return take_free(n, s, NULL);
}

struct al_str al_names_add_table(struct al_names *n, struct al_str sheet, unsigned ordinal)
{
    char name[AL_NAME_MAX + SUFFIX_MAX] = "s_";
    size_t len = identifier(sheet, name + 2, AL_NAME_MAX - 2);
    struct al_str s = {name, len + 2};
    if (len == 0)
        s.n = (size_t)snprintf(name, sizeof name, "s_sheet_%u", ordinal);
    return take_free(n, s, "_values");
}
