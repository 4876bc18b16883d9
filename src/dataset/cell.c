#include "dataset/cell.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

/* The powers of ten that a double holds exactly. A whole number below 2^53 divided by one of them is rounded
 * once, so it is the double that stands nearest to the decimal. */
static const double pow10_exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define DECIMALS_MAX 22
#define DIGITS_MAX 15
#define INT_SAFE ((uint64_t)9007199254740991) /* 2^53 - 1 */

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* What follows the point, from p to end; v and n_digits are of what stood before it. */
static bool decimal_part(const char *p, const char *end, bool neg, uint64_t v, bool zeros_ok,
                         struct al_value *ret, unsigned *decimals, bool *zeros)
{
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
            return false;
    }
    bool trailing = end[-1] == '0';
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
        return *p == '.' && decimal_part(p + 1, end, neg, v, zeros_ok, ret, decimals, zeros);
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
    for (unsigned k = 0; k <= DECIMALS_MAX && fabs(d) * pow10_exact[k] < 1e15; k++) {
        if (print_exact(d, k, out))
            return;
    }
    autobuf struct al_buf json = AL_BUF_INIT(64);
    struct al_jw w;
    al_jw_init(&w, &json);
    al_jw_double(&w, d);
    print_unfolded(al_buf_str(&json), out);
}
