#include "base/json_int.h"

#include "base/mem.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/*
 * A JSON number taken apart: (neg ? -1 : 1) * digits * 10^exp10. digits runs from the first to the last digit
 * that is not 0 and may hold one '.', which has no meaning any more; it is empty for zero.
 */
struct decimal {
    bool neg;
    bool vast; /* the exponent is beyond any use; exp10 says nothing */
    struct al_str digits;
    size_t n_digits;
    int64_t exp10;
};

#define EXP_MAX ((int64_t)1 << 60)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* text is a number by the grammar: the reader made sure. */
static struct decimal take_apart(struct al_str text)
{
    struct decimal d = {0};
    const char *p = text.p, *end = text.p + text.n;
    d.neg = p < end && *p == '-';
    p += d.neg;
    const char *first = NULL, *last = NULL, *point = NULL, *mant_end = p;
    for (; mant_end < end && (is_digit(*mant_end) || *mant_end == '.'); mant_end++) {
        if (*mant_end == '.') {
            point = mant_end;
        } else if (*mant_end != '0') {
            first = first ? first : mant_end;
            last = mant_end;
        }
    }
    if (!first) {
        d.neg = false; /* -0 is 0 */
        return d;
    }
    d.digits = (struct al_str){first, (size_t)(last - first) + 1};
    d.n_digits = d.digits.n - (point && point > first && point < last);
    point = point ? point : mant_end;
    d.exp10 = last < point ? point - last - 1 : -(last - point);
    if (mant_end < end) {
        struct al_str exp = {mant_end + 1, (size_t)(end - mant_end) - 1};
        if (exp.n && exp.p[0] == '+')
            exp = (struct al_str){exp.p + 1, exp.n - 1};
        int64_t e = 0;
        d.vast = !al_parse_int(exp, -EXP_MAX, EXP_MAX, &e);
        d.exp10 += e;
    }
    return d;
}

bool al_json_num_equal(struct al_str ta, struct al_str tb)
{
    struct decimal a = take_apart(ta), b = take_apart(tb);
    if (a.vast || b.vast)
        return al_str_eq(ta, tb);
    if (a.neg != b.neg || a.n_digits != b.n_digits || a.exp10 != b.exp10)
        return false;
    size_t i = 0, j = 0;
    for (size_t k = 0; k < a.n_digits; k++, i++, j++) {
        i += a.digits.p[i] == '.';
        j += b.digits.p[j] == '.';
        if (a.digits.p[i] != b.digits.p[j])
            return false;
    }
    return true;
}

bool al_json_int(const struct al_json *v, int64_t min, int64_t max, int64_t *ret)
{
    if (!v || v->type != AL_JSON_NUMBER)
        return false;
    struct decimal d = take_apart(v->raw);
    if (d.vast || d.exp10 < 0 || d.exp10 > 18 || d.n_digits > 19)
        return false;
    /* Counted below zero, where INT64_MIN has room. */
    int64_t n = 0;
    for (size_t i = 0; i < d.digits.n; i++) {
        if (d.digits.p[i] == '.')
            continue;
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, d.digits.p[i] - '0', &n))
            return false;
    }
    for (int64_t i = 0; i < d.exp10; i++) {
        if (__builtin_mul_overflow(n, 10, &n))
            return false;
    }
    if (!d.neg && __builtin_sub_overflow(0, n, &n))
        return false;
    if (n < min || n > max)
        return false;
    *ret = n;
    return true;
}

/* strtod(3) reads "." by LC_NUMERIC, which stays "C" in this program. */
bool al_json_double(const struct al_json *v, double *ret)
{
    char small[64];
    if (!v || v->type != AL_JSON_NUMBER)
        return false;
    autofree char *big = NULL;
    char *z = small;
    if (v->raw.n >= sizeof small)
        z = big = al_xdup(v->raw.p, v->raw.n);
    else {
        memcpy(small, v->raw.p, v->raw.n);
        small[v->raw.n] = '\0';
    }
    double d = strtod(z, NULL);
    if (!isfinite(d))
        return false;
    *ret = d;
    return true;
}

/* The fewest digits that read back: 15 always do where they suffice, but for the denormal numbers. */
static int shortest(char *text, size_t cap, double v)
{
    int digits = v < DBL_MIN ? 1 : 15;
    for (; digits <= 17; digits++) {
        snprintf(text, cap, "%.*e", digits - 1, v);
        if (strtod(text, NULL) == v)
            break;
    }
    return digits > 17 ? 17 : digits;
}

/* ECMA-262, Number::toString with radix 10. */
size_t al_json_num_format(char out[AL_JSON_DOUBLE_MAX], double v)
{
    char sci[32], digits[20];
    size_t at = 0;
    if (v == 0) {
        out[0] = '0';
        return 1;
    }
    if (v < 0)
        out[at++] = '-';
    int k = shortest(sci, sizeof sci, fabs(v)), n = 1;
    digits[0] = sci[0];
    if (k > 1)
        memcpy(digits + 1, sci + 2, (size_t)k - 1);
    const char *e = strchr(sci, 'e');
    n += e ? (int)strtol(e + 1, NULL, 10) : 0; /* the value is 0.digits * 10^n */
    while (k > 1 && digits[k - 1] == '0')
        k--;
    char tail[8] = "";
    int point = n; /* digits before the decimal point */
    if (n > 21 || n <= -6) {
        point = 1;
        snprintf(tail, sizeof tail, "e%+d", n - 1);
    }
    if (point <= 0) {
        out[at++] = '0';
        out[at++] = '.';
        for (int i = point; i < 0; i++)
            out[at++] = '0';
    }
    for (int i = 0; i < k || i < point; i++) {
        if (i == point && i > 0)
            out[at++] = '.';
        out[at++] = i < k ? digits[i] : '0';
    }
    size_t tail_n = strlen(tail);
    memcpy(out + at, tail, tail_n);
    return at + tail_n;
}
