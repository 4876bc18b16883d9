#include "base/str.h"

#include "base/text.h"

bool al_str_starts(struct al_str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool al_str_ends(struct al_str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

int al_str_cmp(struct al_str a, struct al_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int r = n ? memcmp(a.p, b.p, n) : 0;
    if (r != 0)
        return r < 0 ? -1 : 1;
    return a.n < b.n ? -1 : a.n > b.n;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct al_str al_str_trim(struct al_str s)
{
    while (s.n && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

ptrdiff_t al_str_find(struct al_str s, struct al_str needle)
{
    if (needle.n == 0)
        return 0;
    if (s.n < needle.n)
        return -1;
    const char *at = memmem(s.p, s.n, needle.p, needle.n);
    return at ? at - s.p : -1;
}

/* Takes one character, or one byte where the text is not UTF-8 (told apart by a value no character has). */
static uint32_t take_char(struct al_str *s)
{
    uint32_t cp;
    unsigned n = al_utf8_decode(*s, &cp);
    if (n == 0) {
        cp = 0x80000000u | (unsigned char)s->p[0];
        n = 1;
    }
    s->p += n;
    s->n -= n;
    return cp;
}

/* set is what follows '['. 1 match, 0 no match (set moves behind ']'), -1 not a set: '[' stands for itself.
 */
static int match_set(struct al_str *set, uint32_t cp)
{
    struct al_str s = *set;
    bool negated = s.n && (s.p[0] == '!' || s.p[0] == '^');
    if (negated) {
        s.p++;
        s.n--;
    }
    bool hit = false;
    for (bool first = true;; first = false) {
        if (s.n == 0)
            return -1;
        if (s.p[0] == ']' && !first)
            break;
        uint32_t lo = take_char(&s), hi = lo;
        if (s.n >= 2 && s.p[0] == '-' && s.p[1] != ']') {
            s.p++;
            s.n--;
            hi = take_char(&s);
        }
        hit |= cp >= lo && cp <= hi;
    }
    *set = (struct al_str){s.p + 1, s.n - 1};
    return hit != negated;
}

/* One step of the pattern, which is not '*', against one character. */
static bool match_one(struct al_str *pat, uint32_t cp)
{
    uint32_t want = take_char(pat);
    if (want == '?')
        return true;
    if (want == '[') {
        int r = match_set(pat, cp);
        if (r >= 0)
            return r;
    }
    if (want == '\\' && pat->n)
        want = take_char(pat);
    return want == cp;
}

/* Only the last star is ever tried again, so the time is at most pattern times text. */
bool al_str_glob(const char *pattern, struct al_str s)
{
    struct al_str pat = al_str_of(pattern);
    struct al_str star_pat = {0}, star_s = {0};
    while (s.n || pat.n) {
        if (pat.n && pat.p[0] == '*') {
            pat.p++;
            pat.n--;
            star_pat = pat;
            star_s = s;
            continue;
        }
        struct al_str rest = s;
        if (pat.n && s.n && match_one(&pat, take_char(&rest))) {
            s = rest;
            continue;
        }
        if (!star_pat.p || star_s.n == 0)
            return false;
        take_char(&star_s);
        pat = star_pat;
        s = star_s;
    }
    return true;
}

#define DISTANCE_MAX 64

static unsigned min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace, swap of neighbours. */
unsigned al_str_distance(struct al_str a, struct al_str b)
{
    unsigned na = a.n < DISTANCE_MAX ? (unsigned)a.n : DISTANCE_MAX;
    unsigned nb = b.n < DISTANCE_MAX ? (unsigned)b.n : DISTANCE_MAX;
    unsigned rows[3][DISTANCE_MAX + 1];
    unsigned *before = rows[0], *prev = rows[1], *cur = rows[2];
    for (unsigned j = 0; j <= nb; j++)
        prev[j] = before[j] = j;
    for (unsigned i = 1; i <= na; i++) {
        cur[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned d = prev[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            d = min2(d, min2(prev[j], cur[j - 1]) + 1);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                d = min2(d, before[j - 2] + 1);
            cur[j] = d;
        }
        unsigned *free_row = before;
        before = prev;
        prev = cur;
        cur = free_row;
    }
    return prev[nb];
}
