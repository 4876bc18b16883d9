/* Path globs for listings: braces are expanded first, so that matching knows only * ? [] and **. */
#include "tools/tools_int.h"

#include "base/mem.h"

struct al_globs {
    struct al_buf one[AL_GLOB_MAX_ALTERNATIVES]; /* without braces */
    size_t n;
};

/* A hostile pattern ("*a*a*a*…") gives up instead of taking the machine. */
#define GLOB_STEPS 50000

static int push(struct al_globs *g, struct al_str s, struct al_err *err)
{
    if (g->n == AL_GLOB_MAX_ALTERNATIVES)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "glob: the braces make more than %d alternatives",
                       AL_GLOB_MAX_ALTERNATIVES);
    al_buf_init(&g->one[g->n], AL_GLOB_MAX_BYTES);
    al_buf_add_str(&g->one[g->n], s);
    if (al_buf_failed(&g->one[g->n++]))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "glob: over %d bytes", AL_GLOB_MAX_BYTES);
    return 0;
}

/* The first brace group that holds no other: open and close are offsets. False when there is none. */
static bool find_braces(struct al_str s, size_t *ret_open, size_t *ret_close)
{
    bool have = false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\') {
            i++;
        } else if (s.p[i] == '{') {
            *ret_open = i;
            have = true;
        } else if (s.p[i] == '}' && have) {
            *ret_close = i;
            return true;
        }
    }
    return false;
}

static int expand_one(struct al_globs *g, struct al_str s, size_t open, size_t close, struct al_err *err)
{
    size_t from = open + 1;
    for (size_t i = from; i <= close; i++) {
        if (s.p[i] == '\\') {
            i++;
            continue;
        }
        if (s.p[i] != ',' && i != close)
            continue;
        autobuf struct al_buf b = AL_BUF_INIT(AL_GLOB_MAX_BYTES);
        al_buf_add(&b, s.p, open);
        al_buf_add(&b, s.p + from, i - from);
        al_buf_add(&b, s.p + close + 1, s.n - close - 1);
        if (al_buf_failed(&b) || push(g, al_buf_str(&b), err) < 0)
            return -1;
        from = i + 1;
    }
    return 0;
}

/* Takes alternatives with braces out of the list and puts their expansions in, until none has any. */
static int expand(struct al_globs *g, struct al_err *err)
{
    for (size_t i = 0; i < g->n;) {
        size_t open = 0, close = 0;
        if (!find_braces(al_buf_str(&g->one[i]), &open, &close)) {
            i++;
            continue;
        }
        struct al_buf whole = g->one[i];
        g->one[i] = g->one[--g->n];
        int r = expand_one(g, al_buf_str(&whole), open, close, err);
        al_buf_free(&whole);
        if (r < 0)
            return -1;
    }
    return 0;
}

int al_globs_new(struct al_str pattern, struct al_globs **ret, struct al_err *err)
{
    if (pattern.n == 0 || memchr(pattern.p, 0, pattern.n))
        return al_fail(err, AL_TOOL_INPUT_INVALID, "glob: is empty or holds a NUL");
    while (al_str_starts(pattern, "./")) {
        pattern.p += 2;
        pattern.n -= 2;
    }
    struct al_globs *g = al_xcalloc(1, sizeof(*g));
    if (push(g, pattern, err) < 0 || expand(g, err) < 0) {
        al_globs_free(g);
        return -1;
    }
    *ret = g;
    return 0;
}

void al_globs_free(struct al_globs *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        al_buf_free(&g->one[i]);
    free(g);
}

/* [abc], [a-z], [!x]: 1 matches, 0 does not, and *ret_end is behind it; -1: no closing bracket, "[" is
 * itself. */
static int match_class(const char *p, const char *pe, char c, const char **ret_end)
{
    const char *q = p + 1;
    bool negate = q < pe && (*q == '!' || *q == '^'), hit = false;
    q += negate;
    for (const char *first = q; q < pe; q++) {
        if (*q == ']' && q > first) {
            *ret_end = q + 1;
            return hit != negate && c != '/';
        }
        if (q + 2 < pe && q[1] == '-' && q[2] != ']') {
            hit |= (unsigned char)c >= (unsigned char)q[0] && (unsigned char)c <= (unsigned char)q[2];
            q += 2;
        } else {
            hit |= *q == c;
        }
    }
    return -1;
}

static bool match(const char *p, const char *pe, const char *s, const char *se, unsigned *steps);

/* "**" as a whole component: any number of components, also none. */
static bool match_deep(const char *p, const char *pe, const char *s, const char *se, unsigned *steps)
{
    if (p == pe)
        return true;
    for (;;) {
        if (match(p, pe, s, se, steps))
            return true;
        const char *slash = memchr(s, '/', (size_t)(se - s));
        if (!slash || *steps == 0)
            return false;
        s = slash + 1;
    }
}

static bool match_star(const char *p, const char *pe, const char *s, const char *se, unsigned *steps)
{
    while (p < pe && *p == '*')
        p++;
    for (;; s++) {
        if (match(p, pe, s, se, steps))
            return true;
        if (s == se || *s == '/' || *steps == 0)
            return false;
    }
}

static bool match(const char *p, const char *pe, const char *s, const char *se, unsigned *steps)
{
    bool start = true; /* of a component of the pattern */
    while (p < pe) {
        if (*steps == 0)
            return false;
        --*steps;
        if (start && pe - p >= 2 && p[0] == '*' && p[1] == '*' && (pe - p == 2 || p[2] == '/'))
            return match_deep(pe - p == 2 ? pe : p + 3, pe, s, se, steps);
        if (*p == '*')
            return match_star(p, pe, s, se, steps);
        if (s == se)
            return false;
        const char *end = p + 1;
        int in_class = *p == '[' ? match_class(p, pe, *s, &end) : -1;
        bool escaped = *p == '\\' && p + 1 < pe;
        if (in_class == 0 || (in_class < 0 && *p == '?' && *s == '/'))
            return false;
        if (in_class < 0 && *p != '?' && p[escaped] != *s)
            return false;
        start = *s == '/';
        p = in_class == 1 ? end : p + 1 + escaped;
        s++;
    }
    return s == se;
}

bool al_globs_match(const struct al_globs *g, struct al_str path)
{
    for (size_t i = 0; i < g->n; i++) {
        struct al_str pattern = al_buf_str(&g->one[i]), s = path;
        unsigned steps = GLOB_STEPS;
        if (!memchr(pattern.p, '/', pattern.n)) {
            const char *slash = memrchr(s.p, '/', s.n);
            if (slash && !al_str_is(pattern, "**"))
                s = (struct al_str){slash + 1, s.n - (size_t)(slash + 1 - s.p)};
        } else if (pattern.p[0] == '/') {
            pattern.p++;
            pattern.n--;
        }
        if (match(pattern.p, pattern.p + pattern.n, s.p, s.p + s.n, &steps))
            return true;
    }
    return false;
}
