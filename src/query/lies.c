/*
 * Keeps text that means a number out of arithmetic, conditions and comparisons (data.md "A number stored as
 * text must not lie"). SQLite tells through sqlite-hooks.h; the statement is then interrupted. The words of
 * the statement are only used to say where it was.
 */
#include "query/query_int.h"

#include "base/text.h"
#include "dataset/pattern.h"

#include <stdio.h>
#include <stdlib.h>

static struct al_query_state *watched; /* whose steps run now: SQLite's hooks belong to the process */

enum {
    PLAIN = 1,
    NUMBER,
    MISLEADS,
    DATE
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* As SQLite reads a number: white space around it, a sign, digits with one point, an exponent. */
static bool wholly_number(struct al_str s, bool *exponent)
{
    s = al_str_trim(s);
    size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0, digits = 0;
    for (; i < s.n && is_digit(s.p[i]); i++)
        digits++;
    if (i < s.n && s.p[i] == '.')
        for (i++; i < s.n && is_digit(s.p[i]); i++)
            digits++;
    *exponent = digits > 0 && i < s.n && (s.p[i] == 'e' || s.p[i] == 'E');
    if (*exponent) {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        if (i == s.n)
            return false;
        while (i < s.n && is_digit(s.p[i]))
            i++;
    }
    return digits > 0 && i == s.n;
}

static bool is_iso_date(struct al_str s)
{
    static const char shape[] = "dddd-dd-dd";
    if (s.n < sizeof shape - 1)
        return false;
    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? !is_digit(s.p[i]) : s.p[i] != shape[i])
            return false;
    return true;
}

#define DATE_BITS (1u << AL_PATTERN_DATE_DMY | 1u << AL_PATTERN_DATE_MDY | 1u << AL_PATTERN_DATE_NAMED)

static int classify(struct al_str s)
{
    bool exponent, digit = false;
    if (s.n > 64 || is_iso_date(s))
        return PLAIN;
    for (size_t i = 0; i < s.n && !digit; i++)
        digit = is_digit(s.p[i]);
    if (!digit)
        return PLAIN;
    if (wholly_number(s, &exponent))
        return NUMBER;
    if (al_pattern_misleads(s))
        return MISLEADS;
    return al_pattern_match(s) & DATE_BITS ? DATE : PLAIN;
}

/* One side of a comparison is the same for many rows. */
static int class_of(struct al_query_state *s, const struct al_sqlite_operand *o, int side)
{
    struct text_class *seen = &s->seen[side];
    if (o->n < 0 || !o->z)
        return PLAIN;
    if (seen->verdict && seen->n == o->n && (o->n == 0 || memcmp(seen->z, o->z, (size_t)o->n) == 0))
        return seen->verdict;
    int verdict = classify((struct al_str){o->z, (size_t)o->n});
    seen->verdict = 0;
    if ((size_t)o->n <= sizeof seen->z) {
        memcpy(seen->z, o->z, (size_t)o->n);
        seen->n = o->n;
        seen->verdict = verdict;
    }
    return verdict;
}

static void meet(struct al_query_state *s, const char *z, int n)
{
    s->met = true;
    struct al_str all = {z, n > 0 ? (size_t)n : 0};
    struct al_str head = al_utf8_cut(all, 80);
    memcpy(s->text, head.p, head.n);
    s->text_n = head.n;
    s->text_cut = head.n < all.n;
    sqlite3_interrupt(s->db);
}

static void on_text(sqlite3 *db, enum al_sqlite_where where, const char *z, int n)
{
    struct al_query_state *s = watched;
    bool exponent;
    if (!s || s->db != db || s->met)
        return;
    /* SQLite takes the digits before the e for all of it; "12.7" as an integer is a cut that was asked for.
     */
    if (where == AL_SQLITE_INTEGER && n >= 0 && wholly_number((struct al_str){z, (size_t)n}, &exponent) &&
        !exponent)
        return;
    s->compares = false;
    s->where = where;
    meet(s, z, n);
}

/* A text that the statement itself writes (or is given) is compared for what it is. */
static bool is_written(const struct al_query_state *s, const struct al_sqlite_operand *o)
{
    for (size_t i = 0; i < s->tokens.n; i++) {
        const struct al_token *t = &s->tokens.list[i];
        if (t->kind == AL_TOKEN_PARAM)
            return true;
        if (t->kind == AL_TOKEN_STRING && o->n >= 0 &&
            al_str_eq(t->text, (struct al_str){o->z, (size_t)o->n}))
            return true;
    }
    return false;
}

static void note_equal(struct al_query_state *s, const struct al_sqlite_operand *text,
                       const struct al_sqlite_operand *number)
{
    double d = number->kind == 'i' ? (double)number->i : number->r;
    char z[64];
    if (s->noted_equal || text->n <= 0 || (size_t)text->n >= sizeof z)
        return;
    memcpy(z, text->z, (size_t)text->n);
    z[text->n] = 0;
    if (strtod(z, NULL) != d)
        return;
    s->noted_equal = true;
    al_query_note(s,
                  "a number is never equal to a text: the number %s was compared with the text \"%s\"; write "
                  "it without "
                  "quotes, or compare CAST(… AS TEXT)",
                  z, z);
}

static void text_and_number(struct al_query_state *s, enum al_sqlite_comparison how,
                            const struct al_sqlite_operand *text, const struct al_sqlite_operand *number,
                            int class)
{
    bool equality = how <= AL_SQLITE_EQ;
    if (class == MISLEADS && !(equality && is_written(s, text))) {
        s->compares = true;
        s->how = how;
        meet(s, text->z, text->n);
    } else if (equality && class == NUMBER) {
        note_equal(s, text, number);
    } else if (!equality && !s->noted_order && text->n > 0) { /* a window's RANGE compares with '' */
        struct al_str head =
            al_utf8_cut((struct al_str){text->z ? text->z : "", text->z ? (size_t)text->n : 0}, 40);
        s->noted_order = true;
        if (how == AL_SQLITE_MINMAX)
            al_query_note(s,
                          "min or max compared numbers with the text \"%.*s\": SQLite sorts text after "
                          "numbers; add WHERE "
                          "typeof(…) <> 'text'",
                          AL_FMT(head));
        else
            al_query_note(
                s,
                "< > or BETWEEN compared a number with the text \"%.*s\": SQLite sorts text after numbers%s",
                AL_FMT(head),
                class == NUMBER ? "; write numbers without quotes" : "; use data_values or to_number(…)");
    }
}

static void on_compared(sqlite3 *db, enum al_sqlite_comparison how, const struct al_sqlite_operand *left,
                        const struct al_sqlite_operand *right)
{
    struct al_query_state *s = watched;
    if (!s || s->db != db || s->met)
        return;
    if (left->kind != 't' || right->kind != 't') {
        const struct al_sqlite_operand *text = left->kind == 't' ? left : right,
                                       *other = left->kind == 't' ? right : left;
        if (other->kind == 'i' || other->kind == 'r')
            text_and_number(s, how, text, other, class_of(s, text, text == right));
        return;
    }
    int a = class_of(s, left, 0), b = class_of(s, right, 1);
    bool numbers = (a == MISLEADS && (b == MISLEADS || b == NUMBER)) || (b == MISLEADS && a == NUMBER);
    if (!numbers && !(a == DATE && b == DATE))
        return;
    const struct al_sqlite_operand *o = a == MISLEADS || a == DATE ? left : right;
    if (is_written(s, o) && (b == MISLEADS || b == DATE))
        o = right;
    s->compares = true;
    s->how = how;
    meet(s, o->z, o->n);
}

const struct al_sqlite_hooks al_lies_hooks = {.text = on_text, .compared = on_compared};

void al_lies_watch(struct al_query_state *s)
{
    watched = s;
    al_sqlite_hooks = s ? &al_lies_hooks : NULL;
}
