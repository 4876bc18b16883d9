/* What a column of texts is for: groups, names, codes, prose. */
#include "dashboard/profile_int.h"

#define TEXT_VALUES 200  /* distinct texts of a dimension */
#define LONG_TEXT 250    /* characters: prose */
#define NUMERIC_TEXTS 30 /* distinct texts of digits that may be a dimension */

/* "ORD-2024-0001", "a3f9…": unique, no spaces, digits; not names. */
static bool looks_like_code(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++) {
        struct al_str s = c->top[i];
        size_t digits = 0;
        for (size_t k = 0; k < s.n; k++) {
            digits += s.p[k] >= '0' && s.p[k] <= '9';
            if (s.p[k] == ' ' || ((unsigned char)s.p[k] & 0x80))
                return false;
        }
        if (s.n < 4 || digits * 3 < s.n)
            return false;
    }
    return c->n_top > 0;
}

/* A record that was kept as JSON. */
bool al_text_is_json(const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++)
        if (!c->top[i].n || (*c->top[i].p != '{' && *c->top[i].p != '['))
            return false;
    return c->n_top > 0;
}

/* Digits without letters that are neither numbers nor ranges: telephones, odd dates, amounts in a form that
 * nobody reads. */
bool al_text_is_numeric(const struct al_profiler *p, const struct al_dash_column *c)
{
    for (size_t i = 0; i < c->n_top; i++) {
        bool digit = false;
        for (size_t k = 0; k < c->top[i].n; k++) {
            char b = c->top[i].p[k];
            digit |= b >= '0' && b <= '9';
            if ((b | 32) >= 'a' && (b | 32) <= 'z')
                return false;
        }
        if (!digit)
            return false;
    }
    return c->n_top && (double)c->text_fallbacks >= 0.9 * (double)al_column_filled(&p->x, c) &&
           c->natural == AL_NATURAL_NONE;
}

static bool is_total(const struct al_words *w)
{
    static const char *const first[] = {"all", "total", "todos", "todas", "grand"};
    static const char *const alone[] = {"world", "worldwide", "global", "overall", "mundo", "gesamt"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (w->n >= 1 && w->n <= 4 && al_str_is(w->list[0], first[i]))
            return true;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (w->n == 1 && al_str_is(w->list[0], alone[i]))
            return true;
    return false;
}

/* A frequent value that says it is all of the others: sums over the column count each thing twice. */
static struct al_str find_total(const struct al_dash_column *c)
{
    autoarena struct al_arena a = AL_ARENA_INIT((size_t)64 << 10);
    struct al_words *w = al_arena_alloc(&a, sizeof *w);
    for (size_t i = 0; w && i < c->n_top && c->distinct >= 3; i++) {
        al_words_of(&a, c->top[i], w);
        if (is_total(w))
            return c->top[i];
    }
    return AL_STR("");
}

void al_profile_text(const struct al_profiler *p, const struct al_name_traits *t, struct al_dash_column *c)
{
    uint64_t filled = al_column_filled(&p->x, c);
    double ratio = filled ? (double)c->distinct / (double)filled : 0;
    bool unique = ratio >= 0.9 && filled >= 20;
    c->role = AL_ROLE_NONE;
    if (c->distinct < 2 || t->head & AL_CLASS(LINK) || c->max_length > LONG_TEXT || al_text_is_json(c))
        return;
    c->natural = al_profile_order(c);
    bool code = t->id_last || t->number_last || (t->all & (AL_CLASS(CODE) | AL_CLASS(PLACE)));
    if ((code && ratio >= 0.5 && c->distinct > 12) || (unique && looks_like_code(c)))
        c->role = AL_ROLE_IDENTIFIER;
    else if (al_text_is_numeric(p, c) && c->distinct > NUMERIC_TEXTS)
        c->role = AL_ROLE_IDENTIFIER;
    else
        c->role = c->distinct <= TEXT_VALUES ? AL_ROLE_DIMENSION : AL_ROLE_TEXT;
    if (c->role == AL_ROLE_DIMENSION)
        c->total = find_total(c);
}
