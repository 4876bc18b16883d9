#include "query/query_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <strings.h>

static bool is_word_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c >= 0x80;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

/* Behind white space and comments. */
static size_t skip_space(struct al_str s, size_t i)
{
    while (i < s.n) {
        if (is_space((unsigned char)s.p[i])) {
            i++;
        } else if (s.p[i] == '-' && i + 1 < s.n && s.p[i + 1] == '-') {
            while (i < s.n && s.p[i] != '\n')
                i++;
        } else if (s.p[i] == '/' && i + 1 < s.n && s.p[i + 1] == '*') {
            i += 2;
            while (i < s.n && !(s.p[i] == '*' && i + 1 < s.n && s.p[i + 1] == '/'))
                i++;
            i = i + 2 < s.n ? i + 2 : s.n;
        } else {
            break;
        }
    }
    return i;
}

/* Behind the closing quote, a doubled one being part of it; the end when there is none. */
static size_t skip_quoted(struct al_str s, size_t i)
{
    char close = s.p[i] == '[' ? ']' : s.p[i];
    for (i++; i < s.n; i++) {
        if (s.p[i] != close)
            continue;
        if (close != ']' && i + 1 < s.n && s.p[i + 1] == close)
            i++;
        else
            return i + 1;
    }
    return s.n;
}

static size_t skip_number(struct al_str s, size_t i)
{
    while (i < s.n) {
        unsigned char c = (unsigned char)s.p[i];
        bool sign = (c == '+' || c == '-') && (s.p[i - 1] == 'e' || s.p[i - 1] == 'E');
        if (!is_word_byte(c) && c != '.' && !sign)
            break;
        i++;
    }
    return i;
}

static size_t skip_sign(struct al_str s, size_t i)
{
    static const char *const two[] = {"<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "->"};
    for (size_t k = 0; k < sizeof two / sizeof *two; k++)
        if (i + 1 < s.n && s.p[i] == two[k][0] && s.p[i + 1] == two[k][1])
            return i + 2;
    return i + 1;
}

static struct al_token read_one(struct al_str s, size_t i)
{
    struct al_token t = {.kind = AL_TOKEN_SIGN, .at = i};
    unsigned char c = (unsigned char)s.p[i];
    size_t inner = 0;
    if (c == '\'' || c == '"' || c == '`' || c == '[') {
        t.kind = c == '\'' ? AL_TOKEN_STRING : AL_TOKEN_NAME;
        t.end = skip_quoted(s, i);
        inner = 1;
    } else if (is_digit(c) || (c == '.' && i + 1 < s.n && is_digit((unsigned char)s.p[i + 1]))) {
        t.kind = AL_TOKEN_NUMBER;
        t.end = skip_number(s, i + 1);
    } else if (c == '?' || c == ':' || c == '@' || c == '$') {
        t.kind = AL_TOKEN_PARAM;
        for (t.end = i + 1; t.end < s.n && is_word_byte((unsigned char)s.p[t.end]);)
            t.end++;
    } else if (is_word_byte(c)) {
        t.kind = AL_TOKEN_WORD;
        for (t.end = i + 1; t.end < s.n && is_word_byte((unsigned char)s.p[t.end]);)
            t.end++;
    } else {
        t.end = skip_sign(s, i);
    }
    t.text = (struct al_str){s.p + i, t.end - i};
    if (inner) {
        size_t drop = t.text.n >= 2 ? 2 : 1;
        t.text = (struct al_str){t.text.p + 1, t.text.n - drop};
    }
    return t;
}

void al_tokens_read(struct al_tokens *t, struct al_str sql)
{
    size_t cap = 0;
    unsigned depth = 0;
    *t = (struct al_tokens){0};
    for (size_t i = skip_space(sql, 0); i < sql.n; i = skip_space(sql, i)) {
        if (t->n == cap) {
            cap = cap ? cap * 2 : 64;
            t->list = al_xrealloc(t->list, cap * sizeof *t->list);
        }
        struct al_token *one = &t->list[t->n++];
        *one = read_one(sql, i);
        i = one->end;
        bool close = one->kind == AL_TOKEN_SIGN && one->text.p[0] == ')';
        if (close && depth > 0)
            depth--;
        one->depth = depth;
        if (one->kind == AL_TOKEN_SIGN && one->text.p[0] == '(')
            depth++;
    }
}

void al_tokens_free(struct al_tokens *t)
{
    free(t->list);
    *t = (struct al_tokens){0};
}

bool al_str_same(struct al_str a, const char *z)
{
    return strlen(z) == a.n && strncasecmp(a.p, z, a.n) == 0;
}

bool al_token_is(const struct al_tokens *t, size_t i, const char *word)
{
    return i < t->n && (t->list[i].kind == AL_TOKEN_WORD || t->list[i].kind == AL_TOKEN_SIGN) &&
           al_str_same(t->list[i].text, word);
}

bool al_token_names(const struct al_tokens *t, size_t i, const char *name)
{
    return i < t->n && (t->list[i].kind == AL_TOKEN_WORD || t->list[i].kind == AL_TOKEN_NAME) &&
           al_str_same(t->list[i].text, name);
}

bool al_tokens_only_space(struct al_str sql)
{
    size_t i = skip_space(sql, 0);
    while (i < sql.n && sql.p[i] == ';')
        i = skip_space(sql, i + 1);
    return i >= sql.n;
}
