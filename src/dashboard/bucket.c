/* Times as keys of buckets: which bucket suits a span, the key of an ISO text, the key that follows. No
 * allocation. */
#include "dashboard/bucket_int.h"

#include <stdio.h>

struct day {
    int y, m, d;
};

static const unsigned char month_days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

static int days_in(int y, int m)
{
    return m == 2 && ((y % 4 == 0 && y % 100 != 0) || y % 400 == 0) ? 29 : month_days[m];
}

/* Days since 0000-03-01 of the Gregorian calendar, carried on backwards. */
static long day_number(struct day t)
{
    long y = t.m > 2 ? t.y : t.y - 1, m = t.m > 2 ? t.m - 3 : t.m + 9;
    return y * 365 + (y >= 0 ? y / 4 - y / 100 + y / 400 : -1) + (m * 153 + 2) / 5 + t.d - 1;
}

static struct day day_of(long n)
{
    long era = n / 146097, rest = n % 146097;
    if (rest < 0) {
        rest += 146097;
        era--;
    }
    long year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    long day = rest - (year * 365 + year / 4 - year / 100);
    long month = (day * 5 + 2) / 153;
    struct day t = {.m = (int)(month < 10 ? month + 3 : month - 9),
                    .d = (int)(day - (month * 153 + 2) / 5 + 1)};
    t.y = (int)(era * 400 + year) + (t.m <= 2);
    return t;
}

static int digits(const char *p, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        unsigned c = (unsigned char)p[i] - '0';
        if (c > 9)
            return -1;
        v = v * 10 + (int)c;
    }
    return v;
}

static bool read_day(struct al_str s, struct day *ret)
{
    if (s.n < 10 || s.p[4] != '-' || s.p[7] != '-')
        return false;
    struct day t = {digits(s.p, 4), digits(s.p + 5, 2), digits(s.p + 8, 2)};
    if (t.y < 0 || t.m < 1 || t.m > 12 || t.d < 1 || t.d > days_in(t.y, t.m))
        return false;
    *ret = t;
    return true;
}

/* The hour of "2024-03-05T07:30", of "2024-03-05" 0; -1: neither. */
static int read_hour(struct al_str s)
{
    if (s.n == 10)
        return 0;
    if (s.n < 13 || (s.p[10] != 'T' && s.p[10] != ' '))
        return -1;
    int h = digits(s.p + 11, 2);
    return h < 24 ? h : -1;
}

bool al_bucket_index(enum al_bucket b, struct al_str iso, int64_t *ret)
{
    struct day t;
    int hour = 0;
    if (!read_day(iso, &t) || (b == AL_BUCKET_HOUR && (hour = read_hour(iso)) < 0))
        return false;
    switch (b) {
    case AL_BUCKET_HOUR:
        *ret = (int64_t)day_number(t) * 24 + hour;
        return true;
    case AL_BUCKET_DAY:
        *ret = day_number(t);
        return true;
    case AL_BUCKET_WEEK:
        *ret = (day_number(t) + 709) / 7 - 100; /* rounded down in the year 0, too */
        return true;
    case AL_BUCKET_MONTH:
        *ret = t.y * 12 + t.m - 1;
        return true;
    case AL_BUCKET_QUARTER:
        *ret = t.y * 4 + (t.m - 1) / 3;
        return true;
    case AL_BUCKET_YEAR:
        *ret = t.y;
        return true;
    case AL_BUCKET_NONE:
        break;
    }
    return false;
}

static char *put(char *p, long v, int digits)
{
    for (int i = digits - 1; i >= 0; i--, v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + digits;
}

/* The week of January 1, 0000 begins in the year before, written as SQLite writes it. */
static bool put_day(long n, char ret[16])
{
    struct day t = day_of(n);
    char *p = ret;
    if (t.y > 9999)
        return false;
    if (t.y < 0)
        *p++ = '-';
    p = put(p, t.y < 0 ? -t.y : t.y, 4);
    *p++ = '-';
    p = put(p, t.m, 2);
    *p++ = '-';
    *put(p, t.d, 2) = '\0';
    return true;
}

static bool put_hour(long n, char ret[16])
{
    long day = n >= 0 ? n / 24 : (n - 23) / 24;
    if (!put_day(day, ret))
        return false;
    char *p = ret + strlen(ret);
    *p++ = 'T';
    *put(p, n - day * 24, 2) = '\0';
    return true;
}

bool al_bucket_text(enum al_bucket b, int64_t index, char ret[16])
{
    static const int64_t most[] = {
        [AL_BUCKET_NONE] = -1,     [AL_BUCKET_HOUR] = 24 * 3660000,    [AL_BUCKET_DAY] = 3660000,
        [AL_BUCKET_WEEK] = 600000, [AL_BUCKET_MONTH] = 12 * 9999 + 11, [AL_BUCKET_QUARTER] = 4 * 9999 + 3,
        [AL_BUCKET_YEAR] = 9999};
    bool days = b >= AL_BUCKET_HOUR && b <= AL_BUCKET_WEEK; /* their numbers begin in March of the year 0 */
    if (index < (days ? -1500 : 0) || index > most[b])
        return false;
    switch (b) {
    case AL_BUCKET_HOUR:
        return put_hour((long)index, ret);
    case AL_BUCKET_DAY:
        return put_day((long)index, ret);
    case AL_BUCKET_WEEK:
        return put_day((long)index * 7 - 9, ret);
    case AL_BUCKET_MONTH:
        ret = put(ret, index / 12, 4);
        *ret++ = '-';
        ret = put(ret, index % 12 + 1, 2);
        break;
    case AL_BUCKET_QUARTER:
        ret = put(ret, index / 4, 4);
        *ret++ = '-';
        *ret++ = 'Q';
        ret = put(ret, index % 4 + 1, 1);
        break;
    default:
        ret = put(ret, index, 4);
    }
    *ret = '\0';
    return true;
}

bool al_bucket_of_key(enum al_bucket b, struct al_str key, int64_t *ret)
{
    char full[20];
    struct al_str iso = key;
    static const size_t lengths[] = {[AL_BUCKET_HOUR] = 13, [AL_BUCKET_DAY] = 10,    [AL_BUCKET_WEEK] = 10,
                                     [AL_BUCKET_MONTH] = 7, [AL_BUCKET_QUARTER] = 7, [AL_BUCKET_YEAR] = 4};
    if (b == AL_BUCKET_NONE || key.n != lengths[b])
        return false;
    if (b == AL_BUCKET_QUARTER) {
        if (key.p[5] != 'Q' || key.p[6] < '1' || key.p[6] > '4')
            return false;
        snprintf(full, sizeof full, "%.4s%c%02d-01", key.p, key.p[4], (key.p[6] - '1') * 3 + 1);
        iso = al_str_of(full);
    } else if (key.n < 10) {
        snprintf(full, sizeof full, "%.*s%s", AL_FMT(key), key.n == 4 ? "-01-01" : "-01");
        iso = al_str_of(full);
    }
    return al_bucket_index(b, iso, ret);
}

bool al_bucket_key(enum al_bucket b, struct al_str iso, char ret[16])
{
    int64_t index;
    return al_bucket_index(b, iso, &index) && al_bucket_text(b, index, ret);
}

bool al_bucket_next(enum al_bucket b, const char key[16], char ret[16])
{
    int64_t index;
    return al_bucket_of_key(b, (struct al_str){key, strnlen(key, 16)}, &index) &&
           al_bucket_text(b, index + 1, ret);
}

bool al_bucket_days(struct al_str iso, char first[16], char after[16])
{
    enum al_bucket b = iso.n == 4 ? AL_BUCKET_YEAR : iso.n == 7 ? AL_BUCKET_MONTH : AL_BUCKET_DAY;
    const char *rest = iso.n == 4 ? "-01-01" : iso.n == 7 ? "-01" : "";
    int64_t index;
    if (!al_bucket_of_key(b, iso, &index) || !al_bucket_text(b, index, first) ||
        !al_bucket_text(b, index + 1, after))
        return false;
    memcpy(first + strlen(first), rest, strlen(rest) + 1);
    memcpy(after + strlen(after), rest, strlen(rest) + 1);
    return true;
}

/* 8.13: by the days between the first and the last time; then coarser until all of them fit into a chart. */
enum al_bucket al_bucket_for(const struct al_dash_column *c)
{
    static const struct {
        enum al_bucket bucket;
        double days; /* one bucket */
        long most;   /* of a span */
    } steps[] = {{AL_BUCKET_HOUR, 1 / 24.0, 3},      {AL_BUCKET_DAY, 1, 60},
                 {AL_BUCKET_WEEK, 7, 420},           {AL_BUCKET_MONTH, 30.4375, 1800},
                 {AL_BUCKET_QUARTER, 91.3125, 5400}, {AL_BUCKET_YEAR, 365.25, 0}};
    struct day from, to;
    size_t i = 0, last = sizeof steps / sizeof *steps - 1;
    if (c->time == AL_TIME_YEAR)
        return AL_BUCKET_YEAR;
    if (!read_day(al_str_of(c->first), &from) || !read_day(al_str_of(c->last), &to))
        return AL_BUCKET_MONTH;
    long span = day_number(to) - day_number(from);
    bool times = strlen(c->first) > 10 || strlen(c->last) > 10;
    if (!times)
        i = 1;
    while (i < last && span > steps[i].most)
        i++;
    while (i < last && (long)((double)span / steps[i].days) + 2 > AL_DASH_BUCKETS)
        i++;
    return steps[i].bucket;
}
