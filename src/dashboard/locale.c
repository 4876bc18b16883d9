/* Language tags, as Intl takes them (the Unicode form of BCP 47). */
#include "dashboard/dashboard_int.h"

#define TAG 64 /* bytes */
#define SUBTAGS 16

enum kind {
    ALPHA = 1,
    DIGIT = 2
};

static int kinds(struct al_str s)
{
    int ret = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
            ret |= ALPHA;
        else if (c >= '0' && c <= '9')
            ret |= DIGIT;
        else
            return 0;
    }
    return ret;
}

static bool is_language(struct al_str s)
{
    return kinds(s) == ALPHA && s.n >= 2 && s.n <= 3; /* no longer one was ever given; "spanish" is a name */
}
static bool is_script(struct al_str s)
{
    return kinds(s) == ALPHA && s.n == 4;
}
static bool is_region(struct al_str s)
{
    return (kinds(s) == ALPHA && s.n == 2) || (kinds(s) == DIGIT && s.n == 3);
}
static bool is_variant(struct al_str s)
{
    return kinds(s) && ((s.n >= 5 && s.n <= 8) || (s.n == 4 && s.p[0] >= '0' && s.p[0] <= '9'));
}

static bool same(struct al_str a, struct al_str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        if ((a.p[i] | 32) != (b.p[i] | 32))
            return false;
    }
    return true;
}

struct tag {
    struct al_str part[SUBTAGS];
    size_t n;
};

/* Parts between - (or _, as file systems write locales). */
static bool split(struct al_str s, struct tag *t)
{
    t->n = 0;
    if (!s.n || s.n > TAG)
        return false;
    size_t start = 0;
    for (size_t i = 0; i <= s.n; i++) {
        if (i < s.n && s.p[i] != '-' && s.p[i] != '_')
            continue;
        struct al_str part = {s.p + start, i - start};
        if (t->n == SUBTAGS || !part.n || part.n > 8 || !kinds(part))
            return false;
        t->part[t->n++] = part;
        start = i + 1;
    }
    return true;
}

static bool repeated(const struct tag *t, size_t from, size_t i, size_t length)
{
    for (size_t k = from; k < i; k++) {
        if ((!length || t->part[k].n == length) && same(t->part[k], t->part[i]))
            return true;
    }
    return false;
}

/* Extensions: a letter or digit, once each, and what belongs to it; behind x whatever there is. */
static bool extensions_hold(const struct tag *t, size_t i)
{
    size_t first = i;
    while (i < t->n) {
        bool private = same(t->part[i], AL_STR("x"));
        if (t->part[i].n != 1 || (!private && repeated(t, first, i, 1)))
            return false;
        size_t start = ++i;
        while (i < t->n && (private || t->part[i].n > 1))
            i++;
        if (i == start)
            return false;
    }
    return true;
}

/* The parts that have a case of their own: script and region, or -1. */
static bool read_tag(const struct tag *t, size_t *ret_script, size_t *ret_region)
{
    size_t i = 1;
    *ret_script = *ret_region = SUBTAGS;
    if (!is_language(t->part[0]))
        return false;
    if (i < t->n && is_script(t->part[i]))
        *ret_script = i++;
    if (i < t->n && is_region(t->part[i]))
        *ret_region = i++;
    size_t variants = i;
    for (; i < t->n && is_variant(t->part[i]); i++) {
        if (repeated(t, variants, i, 0))
            return false;
    }
    return extensions_hold(t, i);
}

bool al_locale_canonical(struct al_str tag, struct al_arena *arena, struct al_str *ret)
{
    struct tag t;
    size_t script, region;
    if (!split(tag, &t) || !read_tag(&t, &script, &region))
        return false;
    char *p = al_arena_alloc(arena, tag.n + 1);
    if (!p)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < t.n; i++) {
        if (i)
            p[n++] = '-';
        for (size_t k = 0; k < t.part[i].n; k++) {
            char c = t.part[i].p[k];
            bool upper = i == region || (i == script && k == 0);
            if (kinds((struct al_str){&c, 1}) == ALPHA)
                c = (char)(upper ? c & ~32 : c | 32);
            p[n++] = c;
        }
    }
    *ret = (struct al_str){p, n};
    return true;
}
