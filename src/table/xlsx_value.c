/* What a cell's number looks like: plain, or as a date. Pure. */
#include "table/xlsx_int.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DAY 86400
#define DIGITS 15 /* of a decimal that a double always keeps */

static const double power10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- numbers ---- */

bool al_xlsx_number(struct al_str s, double *ret)
{
    char z[400];
    size_t i = 0, n_digits = 0;
    s = al_str_trim(s);
    if (s.n == 0 || s.n >= sizeof z)
        return false;
    if (s.p[i] == '-' || s.p[i] == '+')
        i++;
    while (i < s.n && is_digit(s.p[i]))
        i++, n_digits++;
    if (i < s.n && s.p[i] == '.')
        for (i++; i < s.n && is_digit(s.p[i]); i++)
            n_digits++;
    if (!n_digits)
        return false;
    if (i < s.n && (s.p[i] | 32) == 'e') {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        size_t first = i;
        while (i < s.n && is_digit(s.p[i]))
            i++;
        if (i == first)
            return false;
    }
    if (i != s.n)
        return false;
    memcpy(z, s.p, s.n);
    z[s.n] = 0;
    double d = strtod(z, NULL); /* the locale is always C */
    if (!isfinite(d))
        return false;
    *ret = d;
    return true;
}

/* Digits of m with the point k from the right, at least min_k of them behind it. */
static size_t put_scaled(bool negative, uint64_t m, int k, int min_k, char *buf)
{
    char digits[24];
    int n = 0, min = k > min_k ? k : min_k;
    do {
        digits[n++] = (char)('0' + m % 10);
        m /= 10;
    } while (m || n <= k);
    char *p = buf;
    if (negative)
        *p++ = '-';
    for (int i = n; i-- > 0;) {
        *p++ = digits[i];
        if (i == k && min)
            *p++ = '.';
    }
    for (int i = k; i < min; i++)
        *p++ = '0';
    *p = 0;
    return (size_t)(p - buf);
}

/*
 * Of d with at most 15 digits: m / 10^k, both exact, so the quotient is the double nearest to that decimal
 * (IEEE 754), and where it is d again the decimal is one that reads back as d. False: it needs more digits,
 * or an exponent.
 */
static bool short_decimal(double d, uint64_t *ret_m, int *ret_k)
{
    double a = fabs(d);
    if (a >= 1e15 || (a != 0 && a < 1e-7))
        return false;
    int whole = 1;
    while (whole < DIGITS && a >= power10[whole])
        whole++;
    /* Leading zeros behind the point are no significant digits. */
    int k = DIGITS - whole;
    for (int i = 1; i <= 7 && a * power10[i] < 1; i++)
        k++;
    double m = nearbyint(a * power10[k]);
    if (m / power10[k] != a)
        return false;
    uint64_t u = (uint64_t)m;
    while (k && u % 10 == 0)
        u /= 10, k--;
    *ret_m = u;
    *ret_k = k;
    return true;
}

enum al_cell_kind al_xlsx_print(double d, int decimals, char buf[48], size_t *ret_n)
{
    uint64_t m = 0;
    int k = 0;
    if (d == 0)
        d = 0; /* no negative zero: the sheet shows none */
    if (short_decimal(d, &m, &k)) {
        int digits = 1;
        for (uint64_t x = m; x >= 10; x /= 10)
            digits++;
        /* Zeros that the format shows are kept while all digits together stay within what a double keeps. */
        bool fixed = decimals >= k && digits + decimals - k <= DIGITS;
        *ret_n = put_scaled(d < 0, m, k, fixed ? decimals : 0, buf);
        return AL_CELL_TEXT;
    }
    for (int n = DIGITS; n <= 17; n++) {
        *ret_n = (size_t)snprintf(buf, 48, "%.*g", n, d);
        if (strtod(buf, NULL) == d)
            break;
    }
    /* An integer that a double holds is one of at most 2^53 - 1. */
    if (fabs(d) < 9007199254740992.0 && d == nearbyint(d)) {
        *ret_n = (size_t)snprintf(buf, 48, "%lld", (long long)d);
        return AL_CELL_TEXT;
    }
    return AL_CELL_NUMBER;
}

/* ---- dates ---- */

/* Days from 1970-01-01 to a date of the Gregorian calendar, by eras of 400 years. */
static void civil(int64_t days, int *ret_y, unsigned *ret_m, unsigned *ret_d)
{
    days += 719468; /* to 0000-03-01 */
    int64_t era = days / 146097;
    unsigned doe = (unsigned)(days - era * 146097);
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    unsigned mp = (5 * doy + 2) / 153;
    *ret_d = doy - (153 * mp + 2) / 5 + 1;
    *ret_m = mp < 10 ? mp + 3 : mp - 9;
    *ret_y = (int)(yoe + (unsigned)era * 400) + (*ret_m <= 2);
}

static size_t put_time(char *p, size_t cap, int64_t hours, unsigned rest)
{
    return (size_t)snprintf(p, cap, "%02lld:%02u:%02u", (long long)hours, rest / 60, rest % 60);
}

bool al_xlsx_date(double serial, enum al_xlsx_kind kind, bool date1904, char buf[48], size_t *ret_n)
{
    const int64_t end = 2958466 - (date1904 ? 1462 : 0); /* the day after 9999-12-31 */
    if (!(serial >= 0) || !(serial < (double)end))
        return false;
    /* To the second, as a sheet shows it; what rounds up to midnight is the next day. */
    int64_t seconds = llround(serial * DAY), day = seconds / DAY, rest = seconds % DAY;
    if (kind == AL_XLSX_ELAPSED) {
        *ret_n = put_time(buf, 48, seconds / 3600, (unsigned)(seconds % 3600));
        return true;
    }
    if (day >= end)
        return false;
    if (day == 0 && (!date1904 || kind == AL_XLSX_TIME)) {
        *ret_n = put_time(buf, 48, rest / 3600, (unsigned)(rest % 3600));
        return true;
    }
    int y = 1900;
    unsigned m = 2, d = 29; /* serial 60 is a day that there never was */
    if (date1904)
        civil(day - 24107, &y, &m, &d); /* from 1904-01-01 */
    else if (day != 60)
        civil(day - (day < 60 ? 25568 : 25569), &y, &m, &d);
    int n = snprintf(buf, 48, "%04d-%02u-%02u", y, m, d);
    if (rest) {
        buf[n++] = 'T';
        n += (int)put_time(buf + n, 48 - (size_t)n, rest / 3600, (unsigned)(rest % 3600));
    }
    *ret_n = (size_t)n;
    return true;
}

/* ---- _xHHHH_ ---- */

static int hex(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The unit that is written at p, or -1. */
static int32_t unit(const char *p, size_t n)
{
    if (n < 7 || p[0] != '_' || p[1] != 'x' || p[6] != '_')
        return -1;
    int32_t u = 0;
    for (int i = 2; i < 6; i++) {
        int d = hex(p[i]);
        if (d < 0)
            return -1;
        u = u * 16 + d;
    }
    return u;
}

size_t al_xlsx_unescape(char *s, size_t n)
{
    const char *first = memmem(s, n, "_x", 2);
    if (!first)
        return n;
    size_t out = (size_t)(first - s);
    for (size_t i = out; i < n;) {
        int32_t u = unit(s + i, n - i), low = -1;
        if (u < 0) {
            s[out++] = s[i++];
            continue;
        }
        i += 7;
        if (u >= 0xd800 && u < 0xdc00) {
            low = unit(s + i, n - i);
            if (low >= 0xdc00 && low < 0xe000) {
                u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
                i += 7;
            }
        }
        if (u >= 0xd800 && u < 0xe000)
            u = 0xfffd;
        char utf8[4];
        unsigned len = al_utf8_encode((uint32_t)u, utf8);
        memcpy(s + out, utf8, len);
        out += len;
    }
    return out;
}
