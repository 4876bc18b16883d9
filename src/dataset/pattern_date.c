#include "dataset/pattern_int.h"

/* Names and abbreviations in English, Spanish, German, French and Portuguese, without accents. */
static const struct {
    const char *name;
    int month;
} months[] = {
    {"jan", 1},       {"january", 1},    {"januar", 1},    {"janner", 1},    {"janvier", 1},
    {"janv", 1},      {"janeiro", 1},    {"enero", 1},     {"ene", 1},       {"feb", 2},
    {"february", 2},  {"februar", 2},    {"febrero", 2},   {"fevrier", 2},   {"fevr", 2},
    {"fev", 2},       {"fevereiro", 2},  {"mar", 3},       {"march", 3},     {"marzo", 3},
    {"marz", 3},      {"maerz", 3},      {"mrz", 3},       {"mars", 3},      {"marco", 3},
    {"apr", 4},       {"april", 4},      {"abril", 4},     {"abr", 4},       {"avril", 4},
    {"avr", 4},       {"may", 5},        {"mayo", 5},      {"mai", 5},       {"maio", 5},
    {"jun", 6},       {"june", 6},       {"junio", 6},     {"juni", 6},      {"juin", 6},
    {"junho", 6},     {"jul", 7},        {"july", 7},      {"julio", 7},     {"juli", 7},
    {"juillet", 7},   {"juil", 7},       {"julho", 7},     {"aug", 8},       {"august", 8},
    {"agosto", 8},    {"ago", 8},        {"aout", 8},      {"sep", 9},       {"sept", 9},
    {"september", 9}, {"septiembre", 9}, {"setiembre", 9}, {"set", 9},       {"septembre", 9},
    {"setembro", 9},  {"oct", 10},       {"october", 10},  {"octubre", 10},  {"oktober", 10},
    {"okt", 10},      {"octobre", 10},   {"outubro", 10},  {"out", 10},      {"nov", 11},
    {"november", 11}, {"noviembre", 11}, {"novembre", 11}, {"novembro", 11}, {"dec", 12},
    {"december", 12}, {"diciembre", 12}, {"dic", 12},      {"dezember", 12}, {"dez", 12},
    {"decembre", 12}, {"dezembro", 12},
};

bool al_date_valid(int year, int month, int day)
{
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1000 || year > 2999 || month < 1 || month > 12 || day < 1)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap);
}

struct cursor {
    const char *p, *end;
};

static char peek(const struct cursor *c)
{
    return c->p < c->end ? *c->p : 0;
}

/* Up to max digits; how many there were. */
static int take_number(struct cursor *c, int max, int *ret)
{
    int n = 0, v = 0;
    for (; n < max && al_is_digit(peek(c)); n++)
        v = v * 10 + (*c->p++ - '0');
    *ret = v;
    return n;
}

static bool skip_spaces(struct cursor *c)
{
    const char *from = c->p;
    for (unsigned n; (n = al_space_at(c->p, c->end)) > 0; c->p += n)
        ;
    return c->p > from;
}

/* A word in lower case without accents; its length, 0 when there is none or it is too long. */
static unsigned take_word(struct cursor *c, char out[12])
{
    /* Latin-1's letters U+00C0 … U+00FF by their second byte; only those that names of months have. */
    static const char plain[] = "aaaaaaaceeeeiiiidnooooo/ouuuuy/saaaaaaaceeeeiiiidnooooo/ouuuuy/y";
    unsigned n = 0;
    while (c->p < c->end) {
        char ch = *c->p;
        unsigned step = 1;
        if (ch == '\xc3' && c->end - c->p >= 2 && (c->p[1] & 0xc0) == 0x80) {
            ch = plain[c->p[1] & 0x3f];
            step = 2;
        }
        ch |= 32;
        if (ch < 'a' || ch > 'z')
            break;
        if (n == 11)
            return 0;
        out[n++] = ch;
        c->p += step;
    }
    out[n] = 0;
    return n;
}

static bool take_month(struct cursor *c, int *month)
{
    char word[12];
    if (take_word(c, word) < 3)
        return false;
    for (size_t i = 0; i < sizeof months / sizeof months[0]; i++)
        if (months[i].name[0] == word[0] && months[i].name[1] == word[1] &&
            strcmp(months[i].name, word) == 0) {
            *month = months[i].month;
            return true;
        }
    return false;
}

/* Between the parts of a date with a month's name: spaces, a dash, a slash, a point, a comma; "de", "del",
 * "of". */
static bool skip_between(struct cursor *c)
{
    const char *from = c->p;
    if (peek(c) == '.' || peek(c) == ',')
        c->p++;
    skip_spaces(c);
    if (peek(c) == '-' || peek(c) == '/')
        c->p++;
    struct cursor word_at = *c;
    char word[12];
    if (take_word(&word_at, word) > 0 &&
        (strcmp(word, "de") == 0 || strcmp(word, "del") == 0 || strcmp(word, "of") == 0) &&
        skip_spaces(&word_at))
        *c = word_at;
    return c->p > from;
}

static void skip_ordinal(struct cursor *c)
{
    static const char *const endings[] = {"st", "nd", "rd", "th", "er", "\xc2\xba", "\xc2\xb0"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (c->end - c->p >= 2 && memcmp(c->p, endings[i], 2) == 0) {
            c->p += 2;
            return;
        }
}

static bool take_zone(struct cursor *c, struct al_date_form *f)
{
    skip_spaces(c);
    if (c->end - c->p == 3 && (memcmp(c->p, "UTC", 3) == 0 || memcmp(c->p, "GMT", 3) == 0)) {
        c->p += 3;
        memcpy(f->zone, "Z", 2);
    } else if (peek(c) == 'Z') {
        c->p++;
        memcpy(f->zone, "Z", 2);
    } else if (peek(c) == '+' || peek(c) == '-') {
        char sign = *c->p++;
        int h, m;
        if (take_number(c, 2, &h) != 2 || h > 14)
            return false;
        if (peek(c) == ':')
            c->p++;
        if (take_number(c, 2, &m) != 2 || m > 59)
            return false;
        const char zone[7] = {sign, (char)('0' + h / 10), (char)('0' + h % 10),
                              ':',  (char)('0' + m / 10), (char)('0' + m % 10),
                              0};
        memcpy(f->zone, zone, sizeof zone);
    }
    return true;
}

/* h:mm[:ss[.f]] [am|pm] [zone], to the end. */
static bool take_time(struct cursor *c, struct al_date_form *f)
{
    int n = take_number(c, 2, &f->hour);
    if (n == 0 || peek(c) != ':')
        return false;
    c->p++;
    if (take_number(c, 2, &f->minute) != 2)
        return false;
    if (peek(c) == ':') {
        c->p++;
        if (take_number(c, 2, &f->second) != 2)
            return false;
        if ((peek(c) == '.' || peek(c) == ',') && c->p + 1 < c->end && al_is_digit(c->p[1]))
            for (c->p++; al_is_digit(peek(c)); c->p++)
                ;
    }
    struct cursor half = *c;
    skip_spaces(&half);
    char which = (char)(peek(&half) | 32);
    if (which == 'a' || which == 'p') {
        half.p++;
        if (peek(&half) == '.')
            half.p++;
        if ((peek(&half) | 32) != 'm' || f->hour < 1 || f->hour > 12)
            return false;
        half.p++;
        if (peek(&half) == '.')
            half.p++;
        f->hour = f->hour % 12 + (which == 'p' ? 12 : 0);
        *c = half;
    }
    if (f->hour > 23 || f->minute > 59 || f->second > 59 || !take_zone(c, f))
        return false;
    f->has_time = true;
    return true;
}

/* What follows the day: nothing, or a time. */
static bool take_rest(struct cursor *c, struct al_date_form *f)
{
    if (c->p == c->end)
        return true;
    if (peek(c) == ',')
        c->p++;
    bool apart = skip_spaces(c);
    if (c->p == c->end)
        return true;
    if (!apart && *c->p == 'T')
        c->p++;
    else if (!apart)
        return false;
    if (!take_time(c, f))
        return false;
    skip_spaces(c);
    return c->p == c->end;
}

static bool after_year(struct cursor *c, struct al_date_form *f)
{
    char sep = peek(c);
    if (al_is_digit(sep)) { /* 20241231 */
        f->kind = AL_DATE_YMD;
        if (take_number(c, 2, &f->a) != 2 || take_number(c, 2, &f->b) != 2 || al_is_digit(peek(c)) ||
            f->year < 1800 || f->year > 2199)
            return false;
    } else {
        if (sep != '-' && sep != '/' && sep != '.')
            return false;
        c->p++;
        int na, nb;
        if (al_is_digit(peek(c))) {
            na = take_number(c, 2, &f->a);
            f->kind = AL_DATE_YMD;
        } else {
            na = take_month(c, &f->a) ? 3 : 0;
            f->kind = AL_DATE_NAMED;
        }
        if (na == 0 || peek(c) != sep)
            return false;
        c->p++;
        nb = take_number(c, 2, &f->b);
        if (nb == 0 || al_is_digit(peek(c)))
            return false;
        if (sep == '-' && na == 2 && nb == 2)
            f->kind = AL_DATE_ISO;
    }
    return al_date_valid(f->year, f->a, f->b) && take_rest(c, f);
}

static bool after_day(struct cursor *c, struct al_date_form *f, int day)
{
    char sep = peek(c);
    struct cursor at = {c->p + 1, c->end};
    if ((sep == '/' || sep == '.' || sep == '-') && al_is_digit(peek(&at))) {
        f->kind = AL_DATE_NUMERIC;
        f->a = day;
        if (take_number(&at, 2, &f->b) == 0 || peek(&at) != sep)
            return false;
        at.p++;
        if (take_number(&at, 4, &f->year) != 4 || al_is_digit(peek(&at)))
            return false;
        f->dmy = al_date_valid(f->year, f->b, f->a);
        f->mdy = al_date_valid(f->year, f->a, f->b);
        return (f->dmy || f->mdy) && take_rest(&at, f);
    }
    f->kind = AL_DATE_NAMED;
    f->b = day;
    skip_ordinal(c);
    if (!skip_between(c) || !take_month(c, &f->a) || !skip_between(c) || take_number(c, 4, &f->year) != 4 ||
        al_is_digit(peek(c)))
        return false;
    return al_date_valid(f->year, f->a, f->b) && take_rest(c, f);
}

bool al_date_parse(struct al_str s, struct al_date_form *f)
{
    if (s.n < 8 || s.n > AL_FORM_MAX)
        return false;
    *f = (struct al_date_form){0};
    struct cursor c = {s.p, s.p + s.n};
    skip_spaces(&c);
    if (al_is_digit(peek(&c))) {
        int v, n = take_number(&c, 4, &v);
        if (n == 4) {
            f->year = v;
            return after_year(&c, f);
        }
        return n <= 2 && after_day(&c, f, v);
    }
    f->kind = AL_DATE_NAMED;
    if (!take_month(&c, &f->a) || !skip_between(&c))
        return false;
    int n = take_number(&c, 2, &f->b);
    if (n == 0)
        return false;
    skip_ordinal(&c);
    if (!skip_between(&c) || take_number(&c, 4, &f->year) != 4 || al_is_digit(peek(&c)))
        return false;
    return al_date_valid(f->year, f->a, f->b) && take_rest(&c, f);
}

static char *put2(char *p, int v)
{
    *p++ = (char)('0' + v / 10 % 10);
    *p++ = (char)('0' + v % 10);
    return p;
}

size_t al_date_print(const struct al_date_form *f, bool day_first, char buf[32])
{
    bool swap = f->kind == AL_DATE_NUMERIC && day_first;
    char *p = put2(put2(buf, f->year / 100), f->year);
    *p++ = '-';
    p = put2(p, swap ? f->b : f->a);
    *p++ = '-';
    p = put2(p, swap ? f->a : f->b);
    if (f->has_time) {
        *p++ = 'T';
        p = put2(p, f->hour);
        *p++ = ':';
        p = put2(p, f->minute);
        *p++ = ':';
        p = put2(p, f->second);
        size_t n = strlen(f->zone);
        memcpy(p, f->zone, n);
        p += n;
    }
    *p = 0;
    return (size_t)(p - buf);
}

static bool two_digits(const char *p, int max)
{
    return al_is_digit(p[0]) && al_is_digit(p[1]) && (p[0] - '0') * 10 + (p[1] - '0') <= max;
}

bool al_pattern_is_iso(struct al_str s)
{
    const char *p = s.p;
    if (s.n < 10 || p[4] != '-' || p[7] != '-' || !two_digits(p, 99) || !two_digits(p + 2, 99) ||
        !two_digits(p + 5, 12) || !two_digits(p + 8, 31) || (p[5] == '0' && p[6] == '0') ||
        (p[8] == '0' && p[9] == '0'))
        return false;
    if (s.n == 10)
        return true;
    const char *end = p + s.n;
    if (s.n < 16 || (p[10] != 'T' && p[10] != ' ') || !two_digits(p + 11, 24) || p[13] != ':' ||
        !two_digits(p + 14, 59))
        return false;
    p += 16;
    if (end - p >= 3 && *p == ':') {
        if (!two_digits(p + 1, 60))
            return false;
        p += 3;
        if (end - p >= 2 && *p == '.' && al_is_digit(p[1]))
            for (p++; p < end && al_is_digit(*p); p++)
                ;
    }
    if (p == end || (end - p == 1 && *p == 'Z'))
        return true;
    if ((*p != '+' && *p != '-') || end - p < 5 || !two_digits(p + 1, 14))
        return false;
    p += 3;
    p += *p == ':';
    return end - p == 2 && two_digits(p, 59);
}
