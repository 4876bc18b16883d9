/* Path globs for listings: braces are expanded first, so that matching knows only * ? [] and **. */
#include "tools/tools_int.h"

#include "base/mem.h"

enum kind {
    T_CHAR,
    T_ANY,   /* ? */
    T_CLASS, /* [a-z] */
    T_STAR,
    T_SLASH,
    T_DEEP, /* a part "**" with its slash: any number of parts, also none */
    T_REST, /* a part "**" at the end: whatever follows */
};

struct token {
    unsigned char kind;
    char c;            /* T_CHAR */
    uint16_t from, to; /* T_CLASS: its place in the text, brackets included */
};

struct glob {
    struct al_buf text; /* without braces */
    struct token *tokens;
    size_t n;
    bool anywhere; /* it has no slash: the last name alone is matched */
};

struct al_globs {
    struct glob one[AL_GLOB_MAX_ALTERNATIVES];
    size_t n;
};

static int push(struct al_globs *g, struct al_str s, struct al_err *err)
{
    if (g->n == AL_GLOB_MAX_ALTERNATIVES)
        return al_fail(err, AL_TOOL_INPUT_INVALID, "glob: the braces make more than %d alternatives",
                       AL_GLOB_MAX_ALTERNATIVES);
    struct al_buf *text = &g->one[g->n++].text;
    al_buf_init(text, AL_GLOB_MAX_BYTES);
    al_buf_add_str(text, s);
    if (al_buf_failed(text))
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
        if (!find_braces(al_buf_str(&g->one[i].text), &open, &close)) {
            i++;
            continue;
        }
        struct al_buf whole = g->one[i].text;
        g->one[i].text = g->one[--g->n].text;
        int r = expand_one(g, al_buf_str(&whole), open, close, err);
        al_buf_free(&whole);
        if (r < 0)
            return -1;
    }
    return 0;
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
            return hit != negate;
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

/* --- a pattern as tokens --- */

/* One token at p; returns what is behind it. */
static const char *next_token(const struct glob *g, const char *p, const char *pe, struct token *t)
{
    const char *end = p + 1;
    bool part_starts = g->n == 0 || g->tokens[g->n - 1].kind == T_SLASH || g->tokens[g->n - 1].kind == T_DEEP;
    *t = (struct token){.kind = T_CHAR, .c = *p};
    if (part_starts && pe - p >= 2 && p[0] == '*' && p[1] == '*' && (pe - p == 2 || p[2] == '/')) {
        t->kind = pe - p <= 3 ? T_REST : T_DEEP;
        return pe - p <= 3 ? pe : p + 3;
    }
    if (*p == '*') {
        t->kind = T_STAR;
        while (end < pe && *end == '*')
            end++;
    } else if (*p == '?') {
        t->kind = T_ANY;
    } else if (*p == '[' && match_class(p, pe, 0, &end) >= 0) {
        t->kind = T_CLASS;
        t->from = (uint16_t)(p - g->text.p);
        t->to = (uint16_t)(end - g->text.p);
    } else if (*p == '\\' && p + 1 < pe) {
        t->c = p[1];
        end = p + 2;
    }
    if (t->kind == T_CHAR && t->c == '/')
        t->kind = T_SLASH;
    return end;
}

static void compile(struct glob *g)
{
    const char *p = al_buf_str(&g->text).p, *pe = p + g->text.n;
    g->anywhere = !memchr(p, '/', g->text.n);
    p += p < pe && *p == '/';
    g->tokens = al_xcalloc(g->text.n + 1, sizeof(*g->tokens));
    while (p < pe) {
        p = next_token(g, p, pe, &g->tokens[g->n]);
        g->n++;
    }
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
    for (size_t i = 0; i < g->n; i++)
        compile(&g->one[i]);
    *ret = g;
    return 0;
}

void al_globs_free(struct al_globs *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++) {
        al_buf_free(&g->one[i].text);
        free(g->one[i].tokens);
    }
    free(g);
}

/* --- matching
 * ----------------------------------------------------------------------------------------------------
 * Both levels, characters of a part and parts of a path, go back to the last star only: what an earlier one
 * could take more of, the last one can as well. So no pattern costs more than its length times the path's. */

static bool match_one(const struct glob *g, const struct token *t, char c)
{
    const char *unused;
    switch (t->kind) {
    case T_ANY:
        return true;
    case T_CLASS:
        return match_class(g->text.p + t->from, g->text.p + t->to, c, &unused) == 1;
    default:
        return t->kind == T_CHAR && t->c == c;
    }
}

/* One part of the path, without slashes, against the tokens p to pe. */
static bool match_part(const struct glob *g, size_t p, size_t pe, const char *s, const char *se)
{
    const struct token *t = g->tokens;
    size_t behind_star = 0;
    const char *again = NULL; /* where the last star gives over */
    while (s < se) {
        if (p < pe && t[p].kind == T_STAR) {
            behind_star = ++p;
            again = s;
        } else if (p < pe && match_one(g, &t[p], *s)) {
            p++;
            s++;
        } else if (again) {
            p = behind_star;
            s = ++again;
        } else {
            return false;
        }
    }
    while (p < pe && t[p].kind == T_STAR)
        p++;
    return p == pe;
}

static size_t part_end(const struct glob *g, size_t p)
{
    while (p < g->n && g->tokens[p].kind != T_SLASH)
        p++;
    return p;
}

static bool match(const struct glob *g, struct al_str path)
{
    const char *s = path.p, *se = s + path.n, *again = NULL;
    size_t p = 0, behind_deep = 0;
    for (;;) {
        unsigned kind = p < g->n ? g->tokens[p].kind : T_SLASH;
        if (kind == T_REST)
            return true;
        if (kind == T_DEEP) {
            behind_deep = ++p;
            again = s;
            continue;
        }
        const char *slash = memchr(s, '/', (size_t)(se - s));
        size_t pe = part_end(g, p);
        if ((pe == g->n) == !slash && match_part(g, p, pe, s, slash ? slash : se)) {
            if (!slash)
                return true;
            p = pe + 1;
            s = slash + 1;
            continue;
        }
        slash = again ? memchr(again, '/', (size_t)(se - again)) : NULL;
        if (!slash)
            return false;
        s = again = slash + 1;
        p = behind_deep;
    }
}

bool al_globs_match(const struct al_globs *g, struct al_str path)
{
    const char *slash = path.n > 0 ? memrchr(path.p, '/', path.n) : NULL;
    struct al_str name = slash ? (struct al_str){slash + 1, path.n - (size_t)(slash + 1 - path.p)} : path;
    for (size_t i = 0; i < g->n; i++) {
        if (match(&g->one[i], g->one[i].anywhere ? name : path))
            return true;
    }
    return false;
}
