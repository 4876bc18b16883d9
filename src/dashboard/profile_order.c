/* Texts that people expect in an order of their own: months, weekdays, ranges. */
#include "dashboard/profile_int.h"

static bool all_are(const struct al_dash_column *c, int (*place)(struct al_str folded))
{
    for (size_t i = 0; i < c->n_top; i++) {
        autobuf struct al_buf folded = AL_BUF_INIT(1024);
        al_fold(&folded, al_str_trim(c->top[i]));
        if (!place(al_buf_str(&folded)))
            return false;
    }
    return c->n_top >= 2;
}

static size_t skip_number(struct al_str s, size_t i)
{
    size_t from = i;
    while (i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || ((s.p[i] == '.' || s.p[i] == ',') && i > from)))
        i++;
    return i;
}

/* "18-24", "<18", "65+", "10,000 to 14,999", "$50k - $75k", "under 20", "70 and more". */
static bool is_range(struct al_str s)
{
    static const char *const betweens[] = {"-", "–", "—", "to", "a", "and", "y", "until", "hasta", "bis"};
    static const char *const opens[] = {
        "<",         ">",     "<=",    ">=",    "≤",        "≥",      "under", "over",     "less than",
        "more than", "above", "below", "up to", "menos de", "mas de", "hasta", "menor de", "mayor de"};
    autobuf struct al_buf plain = AL_BUF_INIT(512);
    al_fold(&plain, al_str_trim(s));
    struct al_str t = al_buf_str(&plain);
    if (al_buf_failed(&plain) || t.n > 60)
        return false;
    size_t at = 0;
    while (at < t.n && !(t.p[at] >= '0' && t.p[at] <= '9'))
        at++;
    if (at == t.n)
        return false;
    struct al_str before = al_str_trim((struct al_str){t.p, at});
    while (before.n && (before.p[before.n - 1] == '$' || before.p[before.n - 1] == ' '))
        before.n--;
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++)
        if (al_str_is(before, opens[i]))
            return true;
    if (before.n)
        return false;
    at = skip_number(t, at);
    if (at < t.n && (t.p[at] == 'k' || t.p[at] == 'm'))
        at++;
    struct al_str rest = al_str_trim((struct al_str){t.p + at, t.n - at});
    if (al_str_starts(rest, "+") || al_str_starts(rest, "or ") || al_str_starts(rest, "and ") ||
        al_str_starts(rest, "o mas") || al_str_starts(rest, "y mas"))
        return true;
    for (size_t i = 0; i < sizeof betweens / sizeof *betweens; i++) {
        if (!al_str_starts(rest, betweens[i]))
            continue;
        struct al_str after =
            al_str_trim((struct al_str){rest.p + strlen(betweens[i]), rest.n - strlen(betweens[i])});
        while (after.n && (*after.p == '$' || *after.p == ' '))
            after.p++, after.n--;
        if (after.n && ((*after.p >= '0' && *after.p <= '9') || *after.p == '<')) {
            size_t end = skip_number(after, *after.p == '<');
            return end == after.n || (after.p[end] != '-' && after.p[end] != '/'); /* 01-701-1015 is a code */
        }
    }
    return false;
}

/* "2024-Q1", "2024Q1", "2024-W05", "2024 T2": by the year, then by the text. */
static bool is_period(struct al_str s)
{
    size_t at = 4;
    if (s.n < 6 || s.n > 9 || skip_number(s, 0) != 4)
        return false;
    at += strchr("-/ ", s.p[at]) != NULL;
    bool mark = strchr("QqWwTtMmSsHh", s.p[at]) != NULL && s.p[at];
    return mark && at + 1 < s.n && skip_number(s, at + 1) == s.n;
}

/* Lone numbers may stand among ranges ("12", "13", "22-23"), but one must be a range. */
static bool all_ranges(const struct al_dash_column *c)
{
    size_t ranges = 0, numbers = 0;
    for (size_t i = 0; i < c->n_top; i++) {
        struct al_str s = al_str_trim(c->top[i]);
        size_t end = skip_number(s, 0);
        if (is_range(s) || is_period(s))
            ranges++;
        else if (s.n && end == s.n)
            numbers++;
    }
    return c->n_top >= 2 && ranges && ranges + numbers == c->n_top;
}

enum al_dash_natural al_profile_order(const struct al_dash_column *c)
{
    if (c->distinct <= 24 && all_are(c, al_word_month))
        return AL_NATURAL_MONTH;
    if (c->distinct <= 14 && all_are(c, al_word_weekday))
        return AL_NATURAL_WEEKDAY;
    return all_ranges(c) ? AL_NATURAL_RANGE : AL_NATURAL_NONE;
}
