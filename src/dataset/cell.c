#include "dataset/cell.h"

#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The powers of ten that a double holds exactly. A whole number below 2^53 divided by one of them is rounded
 * once, so it is the double that stands nearest to the decimal. */
static const double pow10_exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define DECIMALS_MAX 22
#define DIGITS_MAX 15
#define LITERAL_MAX 400                       /* characters; no double needs as many */
#define INT_SAFE ((uint64_t)9007199254740991) /* 2^53 - 1 */

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Sixteen or seventeen digits, as programs write what they have computed: a number if it prints back. */
static bool long_decimal(struct al_str s, struct al_value *ret, unsigned *decimals, bool *zeros)
{
    char z[DECIMALS_MAX + 4];
    memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    double d = strtod(z, NULL); /* the locale is always C */
    autobuf struct al_buf printed = AL_BUF_INIT(512);
    al_cell_print(d, AL_SCALE_NONE, &printed);
    if (!al_str_eq(al_buf_str(&printed), s))
        return false;
    *ret = (struct al_value){.type = AL_VALUE_REAL, .d = d};
    *decimals = (unsigned)(s.n - 1 - (size_t)((const char *)memchr(s.p, '.', s.n) - s.p));
    *zeros = false;
    return true;
}

/* What follows the point, from p to the text's end; v is of what stood before it. */
static bool decimal_part(struct al_str text, const char *p, bool neg, uint64_t v, bool zeros_ok,
                         struct al_value *ret, unsigned *decimals, bool *zeros)
{
    const char *end = text.p + text.n;
    size_t n = (size_t)(end - p);
    if (n == 0 || n > DECIMALS_MAX)
        return false;
    /* Zeros in front of the first other digit are no significant ones, so the count follows the value. */
    unsigned digits = 0;
    for (uint64_t left = v; left; left /= 10)
        digits++;
    for (; p < end && is_digit(*p); p++) {
        v = v * 10 + (uint64_t)(*p - '0');
        digits += v != 0;
        if (digits > DIGITS_MAX)
            return long_decimal(text, ret, decimals, zeros);
    }
    bool trailing = n > 1 && end[-1] == '0';
    if (p < end || (neg && v == 0) || (trailing && !zeros_ok))
        return false;
    double d = (double)v / pow10_exact[n];
    *ret = (struct al_value){.type = AL_VALUE_REAL, .d = neg ? -d : d};
    *decimals = (unsigned)n;
    *zeros = trailing;
    return true;
}

bool al_cell_number(struct al_str s, bool zeros_ok, struct al_value *ret, unsigned *decimals, bool *zeros)
{
    const char *p = s.p, *end = s.p + s.n;
    /* '-', 0, the point and the decimals are the longest number. */
    if (s.n == 0 || s.n > DECIMALS_MAX + 3 || (!is_digit(*p) && *p != '-'))
        return false;
    bool neg = *p == '-';
    p += neg;
    const char *first = p;
    uint64_t v = 0;
    for (; p < end && is_digit(*p); p++) {
        if (p - first >= 16)
            return false;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    if (p == first || (*first == '0' && p - first > 1))
        return false;
    if (p < end)
        return *p == '.' && decimal_part(s, p + 1, neg, v, zeros_ok, ret, decimals, zeros);
    if (v > INT_SAFE || (neg && v == 0))
        return false;
    *ret = (struct al_value){.type = AL_VALUE_INT, .i = neg ? -(int64_t)v : (int64_t)v};
    *decimals = 0;
    *zeros = false;
    return true;
}

/* m * 10^-decimals */
static void print_scaled(bool neg, uint64_t m, unsigned decimals, struct al_buf *out)
{
    char text[48], *p = text + sizeof text;
    for (unsigned i = 0; m || i <= decimals; i++) {
        if (i == decimals && i > 0)
            *--p = '.';
        *--p = (char)('0' + m % 10);
        m /= 10;
    }
    if (neg)
        *--p = '-';
    al_buf_add(out, p, (size_t)(text + sizeof text - p));
}

/* The decimal of at most 15 digits with that many decimals, if d is the double nearest to it. Such a decimal
 * is the only one. */
static bool print_exact(double d, unsigned decimals, struct al_buf *out)
{
    double m = rint(fabs(d) * pow10_exact[decimals]);
    if (!(m < 1e15) || m / pow10_exact[decimals] != fabs(d))
        return false;
    print_scaled(signbit(d) && d != 0, (uint64_t)m, decimals, out);
    return true;
}

/* "-1.5e-7" without its exponent; json is what al_jw_double writes. */
static void print_unfolded(struct al_str json, struct al_buf *out)
{
    const char *e = memchr(json.p, 'e', json.n);
    if (!e) {
        al_buf_add_str(out, json);
        return;
    }
    char digits[24];
    size_t n = 0;
    for (const char *p = json.p; p < e && n < sizeof digits; p++) {
        if (is_digit(*p))
            digits[n++] = *p;
    }
    bool down = e[1] == '-';
    int exp = 0; /* at most 324 */
    for (const char *p = e + 2; p < json.p + json.n && exp < 1000; p++)
        exp = exp * 10 + (*p - '0');
    if (json.p[0] == '-')
        al_buf_addc(out, '-');
    if (down)
        al_buf_adds(out, "0.");
    for (int i = 1; down && i < exp; i++)
        al_buf_addc(out, '0');
    al_buf_add(out, digits, n);
    for (int i = (int)n; !down && i <= exp; i++)
        al_buf_addc(out, '0');
}

void al_cell_print(double d, int scale, struct al_buf *out)
{
    if (!isfinite(d)) { /* no cell of ours, but a file can hold it */
        al_buf_adds(out, isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity");
        return;
    }
    if (scale >= 0 && scale <= DECIMALS_MAX) {
        if (!print_exact(d, (unsigned)scale, out))
            al_buf_addf(out, "%.*f", scale, d);
        return;
    }
    for (unsigned k = 1; k <= DECIMALS_MAX && fabs(d) * pow10_exact[k] < 1e15; k++) {
        if (print_exact(d, k, out))
            return;
    }
    autobuf struct al_buf json = AL_BUF_INIT(64);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_double(&w, d);
    print_unfolded(al_buf_str(&json), out);
}

/* A decimal as 0.DIGITS times ten to the power of point; no digits are zero. */
struct significant {
    char digits[LITERAL_MAX];
    size_t n;
    int64_t point;
};

/* False for what is no number (RFC 8259, section 6; leading zeros are the reader's to refuse). */
static bool significant_of(struct al_str s, struct significant *ret)
{
    const char *p = s.p, *end = s.p + s.n;
    bool fraction = false;
    int64_t e = 0;
    ret->n = 0;
    ret->point = 0;
    p += p < end && *p == '-';
    if (p == end || !is_digit(*p))
        return false;
    for (; p < end && (is_digit(*p) || (*p == '.' && !fraction)); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        bool counts = ret->n || *p != '0';
        if (counts)
            ret->digits[ret->n++] = *p;
        ret->point += fraction ? -!counts : counts;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool down = p < end && *p == '-';
        p += down || (p < end && *p == '+');
        if (!al_parse_int((struct al_str){p, (size_t)(end - p)}, 0, 100000, &e))
            return false;
        ret->point += down ? -e : e;
        p = end;
    }
    while (ret->n && ret->digits[ret->n - 1] == '0')
        ret->n--;
    return p == end && p[-1] != '.';
}

bool al_cell_literal(struct al_str s, struct al_value *ret)
{
    unsigned decimals;
    bool zeros;
    struct significant in, back;
    char z[LITERAL_MAX + 1];
    if (al_cell_number(s, true, ret, &decimals, &zeros))
        return true;
    if (s.n > LITERAL_MAX || !significant_of(s, &in))
        return false;
    bool whole = !memchr(s.p, '.', s.n) && !memchr(s.p, 'e', s.n) && !memchr(s.p, 'E', s.n);
    if (whole) /* al_cell_number has taken all others */
        *ret = (struct al_value){.type = AL_VALUE_INT};
    if (whole)
        return in.n == 0;
    memcpy(z, s.p, s.n);
    z[s.n] = '\0';
    double d = strtod(z, NULL);
    autobuf struct al_buf shortest = AL_BUF_INIT(64);
    struct al_jw w;
    al_jw_init(&w, &shortest);
    al_jw_double(&w, d);
    if (!isfinite(d) || !significant_of(al_buf_str(&shortest), &back) || back.n != in.n ||
        memcmp(back.digits, in.digits, in.n) != 0 || (in.n && back.point != in.point))
        return false;
    *ret = (struct al_value){.type = AL_VALUE_REAL, .d = d};
    return true;
}
