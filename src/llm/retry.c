/* How long to wait when a provider says it: retry-after-ms, retry-after in seconds or as a date (RFC
 * 9110 10.2.3, 5.6.7). */
#include "base/text.h"
#include "llm/llm_int.h"

#include <ctype.h>
#include <strings.h>

#define MAX_WAIT_MS (INT64_C(1000) * 3600 * 24 * 366)

/* Thousandths of a number as "30" or "1.5", rounded up; false for anything else. */
static bool thousandths(struct al_str s, int64_t *ret)
{
    size_t dot = 0;
    int64_t whole = 0, rest = 0, scale = 100;
    while (dot < s.n && s.p[dot] != '.')
        dot++;
    for (size_t i = 0; i < dot; i++)
        if (!isdigit((unsigned char)s.p[i]))
            return false;
    if (!dot || (dot < s.n && dot + 1 == s.n))
        return false;
    if (!al_parse_int((struct al_str){s.p, dot}, 0, MAX_WAIT_MS, &whole))
        whole = MAX_WAIT_MS;
    bool more = false;
    for (size_t i = dot + 1; i < s.n; i++, scale /= 10) {
        if (!isdigit((unsigned char)s.p[i]))
            return false;
        rest += (s.p[i] - '0') * scale;
        more = more || (!scale && s.p[i] != '0');
    }
    *ret = whole * 1000 + rest + more;
    return true;
}

static int find_month(struct al_str s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; s.n >= 3 && i < 12; i++)
        if (strncasecmp(s.p, months + 3 * i, 3) == 0)
            return i + 1;
    return 0;
}

/* Days since 1970-01-01 of the Gregorian calendar. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, year = y - era * 400;
    int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

struct date {
    int64_t day, month, year, h, m, s;
};

static bool clock_of(struct al_str s, struct date *d)
{
    return s.n == 8 && s.p[2] == ':' && s.p[5] == ':' &&
           al_parse_int((struct al_str){s.p, 2}, 0, 23, &d->h) &&
           al_parse_int((struct al_str){s.p + 3, 2}, 0, 59, &d->m) &&
           al_parse_int((struct al_str){s.p + 6, 2}, 0, 60, &d->s);
}

/* Words of a date, split at blanks, commas and (of the day) hyphens: "Sun, 06 Nov 1994 08:49:37 GMT",
 * "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994". */
static size_t split_date(struct al_str s, struct al_str words[8])
{
    size_t n = 0;
    for (size_t i = 0; i < s.n;) {
        size_t begin = i;
        while (i < s.n && s.p[i] != ' ' && s.p[i] != ',' && s.p[i] != '-')
            i++;
        if (i > begin && n < 8)
            words[n++] = (struct al_str){s.p + begin, i - begin};
        i++;
    }
    return n;
}

static bool read_date(struct al_str s, int64_t *ret_ms)
{
    struct al_str w[8];
    struct date d = {0};
    size_t n = split_date(s, w);
    if (n == 6 && find_month(w[2])) { /* of today, or of RFC 850 */
        d.month = find_month(w[2]);
        if (!al_parse_int(w[1], 1, 31, &d.day) || !al_parse_int(w[3], 0, 9999, &d.year) ||
            !clock_of(w[4], &d))
            return false;
        if (w[3].n == 2)
            d.year += d.year < 70 ? 2000 : 1900;
    } else if (n == 5 && find_month(w[1])) { /* of asctime */
        d.month = find_month(w[1]);
        if (!al_parse_int(w[2], 1, 31, &d.day) || !clock_of(w[3], &d) ||
            !al_parse_int(w[4], 0, 9999, &d.year))
            return false;
    } else {
        return false;
    }
    *ret_ms = (days_of(d.year, d.month, d.day) * 86400 + d.h * 3600 + d.m * 60 + d.s) * 1000;
    return true;
}

bool al_llm_date(const char *text, int64_t *ret_wall_ms)
{
    struct al_str s = al_str_trim(al_str_of(text));
    return s.n >= 24 && s.n <= 40 && read_date(s, ret_wall_ms);
}

int64_t al_llm_retry_after(const char *ms, const char *after, int64_t now_wall_ms)
{
    int64_t v;
    struct al_str a = al_str_trim(al_str_of(ms)), b = al_str_trim(al_str_of(after));
    if (a.n && a.n < 64 && thousandths(a, &v))
        return (v + 999) / 1000 < MAX_WAIT_MS ? (v + 999) / 1000 : MAX_WAIT_MS;
    if (b.n && b.n < 64 && thousandths(b, &v))
        return v > MAX_WAIT_MS ? MAX_WAIT_MS : v;
    if (al_llm_date(after, &v)) {
        int64_t wait = v - now_wall_ms;
        return wait < 0 ? 0 : wait > MAX_WAIT_MS ? MAX_WAIT_MS : wait;
    }
    return -1;
}
