#include "dataset/pattern_int.h"

#include <stdlib.h>

/* ISO 4217 codes in use, in order; without ALL and TOP, which are words ("TOP 10"). */
static const char codes[][4] = {
    "AED", "AFN", "AMD", "ANG", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BGN", "BHD",
    "BIF", "BMD", "BND", "BOB", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHF", "CLF",
    "CLP", "CNY", "COP", "CRC", "CUP", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB",
    "EUR", "FJD", "FKP", "GBP", "GEL", "GHS", "GIP", "GMD", "GNF", "GTQ", "GYD", "HKD", "HNL", "HTG",
    "HUF", "IDR", "ILS", "INR", "IQD", "IRR", "ISK", "JMD", "JOD", "JPY", "KES", "KGS", "KHR", "KMF",
    "KPW", "KRW", "KWD", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "LYD", "MAD", "MDL", "MGA",
    "MKD", "MMK", "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO",
    "NOK", "NPR", "NZD", "OMR", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD",
    "RUB", "RWF", "SAR", "SBD", "SCR", "SDG", "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN",
    "SYP", "SZL", "THB", "TJS", "TMT", "TND", "TRY", "TTD", "TWD", "TZS", "UAH", "UGX", "USD", "UYU",
    "UZS", "VES", "VND", "VUV", "WST", "XAF", "XCD", "XOF", "XPF", "YER", "ZAR", "ZMW",
};
/* Signs; of two that begin alike the longer one first. */
static const struct al_str signs[] = {
    AL_S("$"),   AL_S("€"),   AL_S("£"),   AL_S("¥"),   AL_S("₹"),    AL_S("₽"),  AL_S("₩"),   AL_S("₺"),
    AL_S("₫"),   AL_S("₪"),   AL_S("₴"),   AL_S("฿"),   AL_S("₦"),    AL_S("₱"),    AL_S("₡"),   AL_S("₲"),
    AL_S("₵"),   AL_S("₸"),   AL_S("₼"), AL_S("₾"), AL_S("￥"),   AL_S("R$"),   AL_S("RM"),  AL_S("Rs."),
    AL_S("Rs"),  AL_S("Rp"),  AL_S("US$"), AL_S("AU$"), AL_S("A$"),   AL_S("CA$"),  AL_S("C$"),  AL_S("NZ$"),
    AL_S("HK$"), AL_S("NT$"), AL_S("MX$"), AL_S("S$"),  AL_S("S/."),  AL_S("S/"),   AL_S("B/."), AL_S("Bs."),
    AL_S("Bs"),  AL_S("kr."), AL_S("kr"),  AL_S("Kr."), AL_S("Kr"),   AL_S("zł"),   AL_S("Kč"),  AL_S("Ft"),
    AL_S("lei"), AL_S("лв."), AL_S("лв"),  AL_S("Fr."), AL_S("SFr."), AL_S("руб."), AL_S("руб"), AL_S("р."),
    AL_S("грн"), AL_S("円"),  AL_S("元"),  AL_S("원"),
};
#define N_CODES (sizeof codes / sizeof codes[0])

static bool is_letter(char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}

/* Most texts with a digit end here: whether a sign begins with that byte. */
static bool begins_sign(char c)
{
    unsigned char u = (unsigned char)c;
    static const char ascii[] = "$ABCFHKMNRSUklz";
    return u >= 0x80 || (u && memchr(ascii, c, sizeof ascii - 1));
}

/* Bytes of the currency at p, or 0; *id tells which. */
static unsigned currency_at(const char *p, const char *end, unsigned *id)
{
    size_t left = (size_t)(end - p);
    if (left >= 3 && p[0] >= 'A' && p[0] <= 'Z' && p[1] >= 'A' && p[1] <= 'Z' && p[2] >= 'A' && p[2] <= 'Z' &&
        (left == 3 || !is_letter(p[3]) || al_space_at(p + 3, end) || p[3] == '\xe2')) {
        size_t lo = 0, hi = N_CODES;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            int order = memcmp(p, codes[mid], 3);
            if (order == 0) {
                *id = (unsigned)mid + 1;
                return 3;
            }
            *(order < 0 ? &hi : &lo) = order < 0 ? mid : mid + 1;
        }
        return 0;
    }
    if (!begins_sign(*p))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        struct al_str s = signs[i];
        if (s.p[0] != *p || s.n > left || memcmp(s.p, p, s.n) != 0)
            continue;
        /* A word goes on: no sign. */
        char last = s.p[s.n - 1];
        if ((last | 32) >= 'a' && (last | 32) <= 'z' && left > s.n && is_letter(p[s.n]) &&
            !al_space_at(p + s.n, end))
            continue;
        *id = (unsigned)(N_CODES + i) + 1;
        return (unsigned)s.n;
    }
    return 0;
}

/* U+2212, the minus that is none of ASCII's. */
static bool minus_at(const char *p, const char *end)
{
    return end - p >= 3 && p[0] == '\xe2' && p[1] == '\x88' && p[2] == '\x92';
}

/* What stands around the digits so far. */
struct around {
    const char *p, *end;
    int n_signs;
    bool plus, open, close, odd; /* odd: something that SQLite does not read */
};

static void skip_spaces(struct around *a)
{
    for (unsigned n; (n = al_space_at(a->p, a->end)) > 0; a->p += n)
        ;
}

/* Signs, brackets, currency and percent before the digits. False: something else. */
static bool take_before(struct around *a, struct al_number_form *f)
{
    while (a->p < a->end && !al_is_digit(*a->p) && *a->p != '.' && *a->p != ',') {
        unsigned n = al_space_at(a->p, a->end);
        if (n > 0) {
            a->p += n;
            a->odd = true; /* behind a sign; spaces before everything are gone by now */
            continue;
        }
        bool long_minus = minus_at(a->p, a->end);
        if (*a->p == '-' || *a->p == '+' || long_minus) {
            a->n_signs++;
            a->plus = *a->p == '+';
            f->negative = !a->plus;
            a->odd |= long_minus;
            a->p += long_minus ? 3 : 1;
            continue;
        }
        a->odd = true;
        if (*a->p == '(' && !a->open) {
            a->open = true;
            a->p++;
        } else if (*a->p == '%' && !f->percent) {
            f->percent = true;
            a->p++;
        } else if (!f->currency && (n = currency_at(a->p, a->end, &f->currency)) > 0) {
            a->p += n;
        } else {
            return false;
        }
    }
    return true;
}

static bool take_behind(struct around *a, struct al_number_form *f)
{
    while (a->p < a->end) {
        unsigned n = al_space_at(a->p, a->end);
        a->odd = true;
        if (n > 0) {
            a->p += n;
        } else if (*a->p == ')' && a->open && !a->close) {
            a->close = true;
            a->p++;
        } else if (*a->p == '%' && !f->percent) {
            f->percent = true;
            a->p++;
        } else if (*a->p == '-' || minus_at(a->p, a->end)) {
            a->n_signs++;
            f->negative = true;
            a->p += *a->p == '-' ? 1 : 3;
        } else if (!f->currency && (n = currency_at(a->p, a->end, &f->currency)) > 0) {
            a->p += n;
        } else {
            return false;
        }
    }
    return true;
}

/* The separator at p when a digit follows: its byte in the form, and its length. */
static char separator_at(const char *p, const char *end, unsigned *ret_n)
{
    unsigned n = al_space_at(p, end);
    char c = 0;
    if (n > 0 && *p != '\t') {
        c = ' ';
    } else if (p < end && (*p == '.' || *p == ',' || *p == '\'')) {
        c = *p;
        n = 1;
    } else if (end - p >= 3 && p[0] == '\xe2' && p[1] == '\x80' && p[2] == '\x99') {
        c = '\'';
        n = 3;
    }
    if (!c || p + n >= end || !al_is_digit(p[n]))
        return 0;
    *ret_n = n;
    return c;
}

struct groups {
    unsigned len[AL_FORM_GROUPS + 1];   /* digits of each group */
    unsigned value[AL_FORM_GROUPS + 1]; /* capped */
    char sep[AL_FORM_GROUPS];
    unsigned n_seps;
};

static bool take_digits(struct around *a, struct al_number_form *f, struct groups *g)
{
    unsigned total = 0;
    for (;;) {
        unsigned n = 0;
        if (a->p < a->end && al_is_digit(*a->p)) {
            if (++total > AL_FORM_DIGITS)
                return false;
            unsigned *v = &g->value[g->n_seps];
            *v = *v < 1000000 ? *v * 10 + (unsigned)(*a->p - '0') : *v;
            g->len[g->n_seps]++;
            f->digits[f->n_digits++] = *a->p++;
            continue;
        }
        char c = separator_at(a->p, a->end, &n);
        if (!c)
            break;
        if (g->n_seps == AL_FORM_GROUPS)
            return false;
        f->digits[f->n_digits++] = c;
        g->sep[g->n_seps++] = c;
        a->p += n;
    }
    return total > 0;
}

/* Groups 0 … last are thousands: 1.234.567, or 12,34,567 as in India. */
static bool are_thousands(const struct groups *g, unsigned last)
{
    bool threes = g->len[0] >= 1 && g->len[0] <= 3,
         twos = g->sep[0] == ',' && g->len[0] >= 1 && g->len[0] <= 2;
    for (unsigned i = 1; i <= last; i++) {
        threes &= g->len[i] == 3;
        twos &= g->len[i] == (i == last ? 3 : 2);
    }
    return threes || twos;
}

/* Which readings the separators allow. */
static bool judge(struct al_number_form *f, const struct groups *g)
{
    unsigned m = g->n_seps;
    f->zeros = g->len[0] > 1 && f->digits[0] == '0';
    f->as_comma = f->as_point = true;
    if (m == 0)
        return true;
    char last = g->sep[m - 1];
    bool may_mark = last == '.' || last == ',', same = true;
    for (unsigned i = 1; i + 1 < m; i++)
        if (g->sep[i] != g->sep[0])
            return false;
    same = g->sep[0] == last;
    bool threes = g->len[0] >= 1 && f->digits[0] != '0' && are_thousands(g, same ? m : m - 1);
    if (m == 1 && may_mark) {
        if (threes) {
            f->doubt = last;
            return true;
        }
        f->mark = last;
    } else if (same) {
        if (!threes)
            return false;
        f->grouped = true;
        if (!may_mark)
            return true;
        f->mark = last == '.' ? ',' : '.';
        f->quad = last == '.' && m == 3 && g->value[0] < 256 && g->value[1] < 256 && g->value[2] < 256 &&
                  g->value[3] < 256;
    } else {
        if (!may_mark || !threes)
            return false;
        f->grouped = true;
        f->mark = last;
    }
    f->as_comma = f->mark == ',';
    f->as_point = f->mark == '.';
    return true;
}

static bool take_exponent(struct around *a, struct al_number_form *f)
{
    if (a->p >= a->end || (*a->p | 32) != 'e')
        return true;
    const char *p = a->p + 1;
    bool negative = p < a->end && *p == '-';
    if (p < a->end && (*p == '-' || *p == '+'))
        p++;
    if (p >= a->end || !al_is_digit(*p))
        return true; /* "5 EUR", "5E" */
    int e = 0;
    for (; p < a->end && al_is_digit(*p); p++) {
        e = e * 10 + (*p - '0');
        if (e > 400)
            return false;
    }
    a->p = p;
    f->exponent = negative ? -e : e;
    f->scientific = true;
    return true;
}

bool al_number_parse(struct al_str s, struct al_number_form *f)
{
    if (s.n == 0 || s.n > AL_FORM_MAX)
        return false;
    *f = (struct al_number_form){0};
    struct around a = {.p = s.p, .end = s.p + s.n};
    struct groups g = {0};
    skip_spaces(&a);
    for (const char *p = s.p; p < a.p; p++)
        a.odd |= (*p & 0x80) != 0; /* a space that SQLite knows not */
    if (!take_before(&a, f) || !take_digits(&a, f, &g) || !judge(f, &g) || !take_exponent(&a, f))
        return false;
    const char *tail = a.p;
    while (a.end > tail && (a.end[-1] == ' ' || a.end[-1] == '\t'))
        a.end--;
    if (!take_behind(&a, f) || a.open != a.close || a.n_signs + a.open > 1 || (f->percent && f->currency))
        return false;
    f->brackets = a.open;
    f->quad = f->quad && !a.odd && a.n_signs == 0;
    f->negative |= a.open;
    /* "+34 600 123 456" is a telephone number. */
    if (a.plus && f->grouped && !f->currency && !f->percent && (g.sep[0] == ' ' || g.sep[0] == '.') &&
        g.sep[g.n_seps - 1] == g.sep[0])
        return false;
    if (f->scientific && (f->grouped || f->currency || f->percent || f->brackets))
        return false;
    f->plain = !a.odd && (g.n_seps == 0 || (g.n_seps == 1 && g.sep[0] == '.'));
    return true;
}

void al_number_value(const struct al_number_form *f, char mark, struct al_value *ret)
{
    char text[sizeof f->digits + 16];
    size_t n = 0, whole = 0;
    bool point = false;
    /* Only the last separator can be the mark. */
    size_t last = f->n_digits;
    for (size_t i = 0; i < f->n_digits; i++)
        if (!al_is_digit(f->digits[i]))
            last = i;
    if (f->negative)
        text[n++] = '-';
    for (size_t i = 0; i < f->n_digits; i++) {
        if (al_is_digit(f->digits[i])) {
            text[n++] = f->digits[i];
            whole += !point;
        } else if (i == last && f->digits[i] == mark) {
            text[n++] = '.';
            point = true;
        }
    }
    if (f->scientific) {
        int e = f->exponent;
        text[n++] = 'e';
        if (e < 0)
            text[n++] = '-';
        e = e < 0 ? -e : e;
        text[n++] = (char)('0' + e / 100);
        text[n++] = (char)('0' + e / 10 % 10);
        text[n++] = (char)('0' + e % 10);
    }
    text[n] = 0;
    *ret = (struct al_value){.type = AL_VALUE_REAL, .d = strtod(text, NULL)};
    if (!point && !f->scientific && whole <= 16 && ret->d >= -9007199254740991.0 &&
        ret->d <= 9007199254740991.0)
        *ret = (struct al_value){.type = AL_VALUE_INT, .i = (int64_t)ret->d};
}
