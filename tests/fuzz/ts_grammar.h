/* Whether a text is a TypeScript type as al_schema_typescript writes them: a small reader, for tests alone.
 */
#ifndef AL_TESTS_TS_GRAMMAR_H
#define AL_TESTS_TS_GRAMMAR_H

#include "base/str.h"

struct ts_text {
    const char *p, *end;
};

static bool ts_type(struct ts_text *t);

static inline bool ts_eat(struct ts_text *t, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
        return false;
    t->p += n;
    return true;
}

static inline bool ts_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static inline bool ts_string(struct ts_text *t)
{
    if (!ts_eat(t, "\""))
        return false;
    for (; t->p < t->end && *t->p != '"'; t->p++) {
        if (*t->p == '\\' && ++t->p == t->end)
            return false;
        if ((unsigned char)*t->p < 0x20)
            return false;
    }
    return ts_eat(t, "\"");
}

static inline bool ts_number(struct ts_text *t)
{
    const char *from = t->p;
    while (t->p < t->end && strchr("0123456789+-.eE", *t->p))
        t->p++;
    return t->p > from;
}

static inline bool ts_member(struct ts_text *t)
{
    if (ts_eat(t, "[key: string]: unknown"))
        return true;
    const char *from = t->p;
    while (t->p < t->end && ts_word_char(*t->p))
        t->p++;
    bool named = t->p > from ? !(*from >= '0' && *from <= '9') : ts_string(t);
    if (!named)
        return false;
    ts_eat(t, "?");
    return ts_eat(t, ": ") && ts_type(t);
}

static inline bool ts_element(struct ts_text *t)
{
    ts_eat(t, "...");
    return ts_type(t);
}

static inline bool ts_list(struct ts_text *t, const char *separator, const char *close,
                           bool (*one)(struct ts_text *t))
{
    if (ts_eat(t, close))
        return true;
    do {
        if (!one(t))
            return false;
    } while (ts_eat(t, separator));
    return ts_eat(t, close);
}

static inline bool ts_primary(struct ts_text *t)
{
    static const char *const words[] = {"unknown", "never", "string", "number",
                                        "boolean", "null",  "true",   "false"};
    if (ts_eat(t, "("))
        return ts_type(t) && ts_eat(t, ")");
    if (ts_eat(t, "{"))
        return ts_list(t, "; ", "}", ts_member);
    if (ts_eat(t, "["))
        return ts_list(t, ", ", "]", ts_element);
    if (ts_eat(t, "Record<string, "))
        return ts_type(t) && ts_eat(t, ">");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ts_eat(t, words[i]))
            return t->p == t->end || !ts_word_char(*t->p);
    return t->p < t->end && (*t->p == '"' ? ts_string(t) : ts_number(t));
}

static inline bool ts_type(struct ts_text *t)
{
    do {
        if (!ts_primary(t))
            return false;
        while (ts_eat(t, "[]"))
            ;
    } while (ts_eat(t, " | ") || ts_eat(t, " & "));
    return true;
}

static inline bool ts_is_type(struct al_str text)
{
    struct ts_text t = {text.p, text.p + text.n};
    return ts_type(&t) && t.p == t.end;
}

#endif
