/*
 * A pattern, a line end, a path, against a slow matcher that looks at every pair of positions once. The real
 * one has to agree, and to end soon: libFuzzer's time limit for one input sees to that.
 */
#include "base/mem.h"
#include "tools/tools_int.h"

#include <stdlib.h>

#define SLOW_MAX 200 /* bytes of a pattern or path that the slow matcher takes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct slow {
    struct al_str p, s;
    signed char seen[SLOW_MAX + 1][SLOW_MAX + 1]; /* 0: not yet; 1: no; 2: yes */
};

static bool slow_match(struct slow *w, size_t p, size_t s);

/* The end of a class whose "[" is at p, or 0 when none closes it; *ret_hit: is c in it? */
static size_t slow_class(struct al_str pat, size_t p, char c, bool *ret_hit)
{
    size_t i = p + 1;
    bool negate = i < pat.n && (pat.p[i] == '!' || pat.p[i] == '^'), hit = false;
    i += negate;
    for (size_t first = i; i < pat.n; i++) {
        if (pat.p[i] == ']' && i > first) {
            *ret_hit = hit != negate && c != '/';
            return i + 1;
        }
        unsigned char low = (unsigned char)pat.p[i], high = low;
        if (i + 2 < pat.n && pat.p[i + 1] == '-' && pat.p[i + 2] != ']') {
            high = (unsigned char)pat.p[i + 2];
            i += 2;
        }
        hit |= low <= (unsigned char)c && (unsigned char)c <= high;
    }
    return 0;
}

static bool slow_stars(struct slow *w, size_t p, size_t s)
{
    struct al_str pat = w->p;
    bool component = p == 0 || pat.p[p - 1] == '/';
    if (component && al_str_starts((struct al_str){pat.p + p, pat.n - p}, "**")) {
        if (p + 2 == pat.n)
            return true;
        if (pat.p[p + 2] == '/') {
            if (p + 3 == pat.n)
                return true;
            for (size_t i = s; i <= w->s.n; i++) {
                if ((i == s || w->s.p[i - 1] == '/') && slow_match(w, p + 3, i))
                    return true;
            }
            return false;
        }
    }
    return slow_match(w, p + 1, s) || (s < w->s.n && w->s.p[s] != '/' && slow_match(w, p, s + 1));
}

static bool slow_here(struct slow *w, size_t p, size_t s)
{
    struct al_str pat = w->p;
    if (p == pat.n)
        return s == w->s.n;
    if (pat.p[p] == '*')
        return slow_stars(w, p, s);
    if (s == w->s.n)
        return false;
    char c = w->s.p[s];
    if (pat.p[p] == '[') {
        bool hit = false;
        size_t end = slow_class(pat, p, c, &hit);
        if (end > 0)
            return hit && slow_match(w, end, s + 1);
    }
    if (pat.p[p] == '?')
        return c != '/' && slow_match(w, p + 1, s + 1);
    if (pat.p[p] == '\\' && p + 1 < pat.n)
        p++;
    return pat.p[p] == c && slow_match(w, p + 1, s + 1);
}

static bool slow_match(struct slow *w, size_t p, size_t s)
{
    if (w->seen[p][s] == 0)
        w->seen[p][s] = slow_here(w, p, s) ? 2 : 1;
    return w->seen[p][s] == 2;
}

/* Without braces a pattern is its only alternative. */
static bool is_plain(struct al_str pattern)
{
    return !memchr(pattern.p, '{', pattern.n) && !memchr(pattern.p, '}', pattern.n) &&
           pattern.n <= SLOW_MAX && !al_str_starts(pattern, "./");
}

static void check_against_slow(struct al_str pattern, struct al_str path, bool got)
{
    struct slow *w = al_xcalloc(1, sizeof(*w));
    *w = (struct slow){.p = pattern, .s = path};
    if (!memchr(pattern.p, '/', pattern.n)) {
        const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
        if (slash)
            w->s = (struct al_str){slash + 1, path.n - (size_t)(slash + 1 - path.p)};
    } else if (pattern.p[0] == '/') {
        w->p = (struct al_str){pattern.p + 1, pattern.n - 1};
    }
    must(slow_match(w, 0, 0) == got);
    free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *lf = size ? memchr(data, '\n', size) : NULL;
    size_t n = lf ? (size_t)(lf - data) : size, rest = lf ? size - n - 1 : 0;
    char *exact_pattern = al_xmalloc(n ? n : 1), *exact_path = al_xmalloc(rest ? rest : 1);
    memcpy(exact_pattern, data, n);
    memcpy(exact_path, lf ? lf + 1 : data, rest);
    struct al_str pattern = {exact_pattern, n}, path = {exact_path, rest};
    struct al_globs *g = NULL;
    struct al_err err = {.code = AL_OK};
    if (al_globs_new(pattern, &g, &err) == 0) {
        bool got = al_globs_match(g, path);
        if (is_plain(pattern) && path.n <= SLOW_MAX)
            check_against_slow(pattern, path, got);
    } else {
        must(err.code == AL_TOOL_INPUT_INVALID && err.msg[0]);
    }
    al_globs_free(g);
    free(exact_pattern);
    free(exact_path);
    return 0;
}
