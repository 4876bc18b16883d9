/* Names of columns for people. */
#include "dashboard/profile_int.h"

#include "base/text.h"

#include <stdio.h>

#define DISPLAY_CHARS 60

/* Written in capitals wherever they stand. */
static const char acronyms[] =
    " api aqi auc bmi bpm ceo cpa cpc cpm cpu csat ctr dna ebit ebitda eps eu fbi "
    "fda fips fte gb gdp gmv gpa gps gpu hdi hiv "
    "http iata iban icao id ids imdb imf io ioc iq isbn iva kb kpi kwh mb mpaa "
    "mpg mph mwh naics nba nfl nhl nps oecd "
    "no2 o3 pdf pib pm10 pm2.5 so2 co2 qa rfc rna roas roe roi rpm rut sku sla sms sql ssn tv uk un url usa "
    "usd utc uuid uv vat vin wifi xml yoy ytd ";
/* Behind the rest these stand in parentheses. */
static const struct {
    const char *word, *shown;
} units[] = {
    {"cop", "COP"},  {"usd", "USD"},   {"eur", "EUR"}, {"mxn", "MXN"}, {"gbp", "GBP"},
    {"ars", "ARS"},  {"clp", "CLP"},   {"pen", "PEN"}, {"brl", "BRL"}, {"jpy", "JPY"},
    {"pct", "%"},    {"percent", "%"}, {"mm", "mm"},   {"cm", "cm"},   {"km", "km"},
    {"kg", "kg"},    {"lbs", "lbs"},   {"ml", "ml"},   {"kwh", "kWh"}, {"mwh", "MWh"},
    {"kmh", "km/h"}, {"mph", "mph"},   {"ms", "ms"},   {"mg", "mg"},   {"g", "g"},
};

static bool is_acronym(struct al_str lower)
{
    char padded[16];
    if (lower.n > 6 || !lower.n || memchr(lower.p, ' ', lower.n))
        return false;
    (void)snprintf(padded, sizeof padded, " %.*s ", AL_FMT(lower));
    return strstr(acronyms, padded);
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Characters that have no shape, or that turn the direction of a line, go; white space becomes one space. */
static void tidy(struct al_str s, struct al_buf *out)
{
    bool space = false;
    while (s.n) {
        uint32_t cp = 0;
        unsigned n = al_utf8_decode(s, &cp);
        bool white = cp <= 0x20 || cp == 0x85 || cp == 0xa0 || cp == 0x2028 || cp == 0x2029 || cp == 0x3000;
        bool none = (cp >= 0x7f && cp < 0xa0) || (cp >= 0x200b && cp <= 0x200f) ||
                    (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || cp == 0x61c ||
                    cp == 0xfeff || cp == 0xfffd || (cp >= 0xfff9 && cp <= 0xfffb) || cp >= 0xe0000;
        if (!n) {
            s = (struct al_str){s.p + 1, s.n - 1};
            continue;
        }
        if (white) {
            space = out->n > 0;
        } else if (!none) {
            if (space)
                al_buf_addc(out, ' ');
            space = false;
            al_buf_add(out, s.p, n);
        }
        s = (struct al_str){s.p + n, s.n - n};
    }
}

static bool between_digits(struct al_str s, size_t i)
{
    return i && i + 1 < s.n && is_digit(s.p[i - 1]) && is_digit(s.p[i + 1]);
}

/* Somebody wrote it for people: spaces, or capitals in a lone word; no "unit_price", "unitPrice",
 * "Sepal.Length". */
static bool for_people(struct al_str label)
{
    bool space = memchr(label.p, ' ', label.n), capitals = label.n > 2;
    if (memchr(label.p, '_', label.n))
        return false;
    for (size_t i = 0; i < label.n; i++) {
        bool inner = i > 1 && i + 1 < label.n; /* "iPhone" and "eBay" are names */
        if (inner && is_lower(label.p[i - 1]) && is_upper(label.p[i]))
            return false;
        if (i && i + 1 < label.n && !space && (label.p[i] == '.' || label.p[i] == '-'))
            return false;
        capitals &= !is_lower(label.p[i]) && !((unsigned char)label.p[i] & 0x80);
    }
    return !capitals || space;
}

/* Words as they are written, split where an identifier joins them; ret: views. */
static size_t split(struct al_str s, struct al_str ret[64])
{
    size_t n = 0, from = 0;
    for (size_t i = 0; i <= s.n && n < 64; i++) {
        bool end = i == s.n || s.p[i] == ' ' || s.p[i] == '_' || (s.p[i] == '-' && i > from) ||
                   (s.p[i] == '.' && i > from && !between_digits(s, i));
        bool camel = !end && i > from && is_upper(s.p[i]) &&
                     ((is_lower(s.p[i - 1]) && i > from + 1) ||
                      (is_upper(s.p[i - 1]) && i > from + 1 && i + 1 < s.n && is_lower(s.p[i + 1])));
        if (!end && !camel)
            continue;
        if (i > from)
            ret[n++] = (struct al_str){s.p + from, i - from};
        from = end ? i + 1 : i;
    }
    return n;
}

static bool is_capitals(struct al_str w)
{
    bool letters = false;
    for (size_t i = 0; i < w.n; i++) {
        if (is_lower(w.p[i]) || ((unsigned char)w.p[i] & 0x80))
            return false;
        letters |= is_upper(w.p[i]);
    }
    return letters;
}

static bool is_vowel(char c)
{
    return c && strchr("aeiou", c);
}

/* "SUN", "FILM", not "CO2", "MPG", "RBI": a word that can be said. */
static bool is_spoken(struct al_str lower)
{
    size_t vowels = 0;
    for (size_t i = 0; i < lower.n; i++) {
        if (!is_lower(lower.p[i]))
            return false;
        vowels += is_vowel(lower.p[i]);
    }
    if (lower.n == 3)
        return (vowels == 1 && is_vowel(lower.p[1])) || al_str_is(lower, "age");
    return vowels > 0;
}

/* lone: the whole name. */
static void add_word(struct al_buf *out, struct al_str w, bool first, bool shout, bool lone)
{
    char lower[16];
    struct al_str low = {lower, 0};
    for (; low.n < w.n && low.n < sizeof lower; low.n++)
        lower[low.n] = is_upper(w.p[low.n]) ? (char)(w.p[low.n] + 32) : w.p[low.n];
    static const char *const watts[] = {"kWh", "MWh", "GWh", "TWh"};
    for (size_t i = 0; i < sizeof watts / sizeof *watts; i++)
        if (low.n == 3 && al_str_ends(low, "wh") && (watts[i][0] | 32) == low.p[0]) {
            al_buf_adds(out, watts[i]);
            return;
        }
    bool acronym = w.n < sizeof lower && is_acronym(low);
    bool keep = is_capitals(w) && !shout && w.n <= 5 && !(lone && w.n >= 3 && is_spoken(low));
    for (size_t i = 0; i < w.n; i++) {
        bool up = acronym || (first && i == 0);
        char c = w.p[i];
        if (up && is_lower(c))
            c = (char)(c - 32);
        else if (!up && !keep && is_upper(c))
            c = (char)(c + 32);
        al_buf_addc(out, c);
    }
}

static const char *unit_of(struct al_str w)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].word);
        bool same = w.n == n;
        for (size_t k = 0; same && k < n; k++)
            same = (w.p[k] | 32) == units[i].word[k];
        if (same)
            return units[i].shown;
    }
    return NULL;
}

static bool all_digits(struct al_str w)
{
    for (size_t i = 0; i < w.n; i++)
        if (!is_digit(w.p[i]))
            return false;
    return w.n > 0;
}

/* "incidents_85_99", "2000-2014": from and to. */
static bool is_span(const struct al_str *w, size_t i)
{
    return w[i].n == w[i - 1].n && (w[i].n == 2 || w[i].n == 4) && all_digits(w[i]) && all_digits(w[i - 1]);
}

/* "unit_price_usd" → "Unit price (USD)"; "CO2" stays; names all in capitals are no acronyms. */
static void from_identifier(struct al_str s, struct al_buf *out)
{
    struct al_str w[64];
    size_t n = split(s, w);
    size_t long_words = 0;
    bool shout = is_capitals(s);
    for (size_t i = 0; i < n; i++)
        long_words += w[i].n > 3;
    shout = shout && long_words;
    for (size_t i = 0; i < n; i++) {
        const char *unit = i && i + 1 == n ? unit_of(w[i]) : NULL;
        bool before_unit =
            i && i + 2 == n && unit_of(w[i + 1]) && (al_str_is(w[i], "in") || al_str_is(w[i], "en"));
        if (before_unit)
            continue; /* "weight_in_lbs" */
        if (i)
            al_buf_adds(out, is_span(w, i) ? "–" : " ");
        if (unit)
            al_buf_addf(out, "(%s)", unit);
        else
            add_word(out, w[i], i == 0, shout, n == 1);
    }
}

static bool same_letters(struct al_str label, struct al_str name)
{
    autobuf struct al_buf folded = AL_BUF_INIT(4096);
    al_fold(&folded, label);
    return al_str_eq(al_buf_str(&folded), name) && al_str_eq(label, name);
}

/* "order date", "año fiscal": the first letter, when there is no large one in the first word ("iPhone"). */
static void capitalize(struct al_buf *out)
{
    size_t end = 0;
    while (end < out->n && out->p[end] != ' ' && !is_upper(out->p[end]))
        end++;
    if (!out->n || (end < out->n && out->p[end] != ' '))
        return;
    unsigned char second = out->n > 1 ? (unsigned char)out->p[1] : 0;
    if (is_lower(out->p[0]))
        out->p[0] = (char)(out->p[0] - 32);
    else if ((unsigned char)out->p[0] == 0xc3 && second >= 0xa0 && second <= 0xbe && second != 0xb7)
        out->p[1] = (char)(second - 32); /* U+00E0 to U+00FE but the sign of division */
}

struct al_str al_display_name(struct al_arena *arena, struct al_str name, struct al_str label)
{
    autobuf struct al_buf clean = AL_BUF_INIT(8192), out = AL_BUF_INIT(8192);
    tidy(al_utf8_cut(label, 2048), &clean);
    bool named = clean.n > 0;
    if (!named)
        tidy(al_utf8_cut(name, 2048), &clean);
    struct al_str s = al_buf_str(&clean);
    if (!named || same_letters(s, name) || !for_people(s)) {
        from_identifier(s, &out);
    } else {
        al_buf_add_str(&out, s);
        capitalize(&out);
    }
    struct al_str r = al_str_trim(al_buf_str(&out));
    if (!r.n)
        r = name;
    char *p = NULL;
    if (al_utf8_count(r) <= DISPLAY_CHARS)
        p = al_arena_dup(arena, r);
    else
        p = al_arena_printf(arena, "%.*s…", AL_FMT(al_str_trim(al_utf8_head(r, DISPLAY_CHARS - 1))));
    return p ? al_str_of(p) : name;
}
