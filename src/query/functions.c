/* to_number, to_date and date_trunc. What does not convert is NULL, counted, and told in a note. */
#include "query/query_int.h"

#include "dataset/pattern.h"

#include <stdio.h>

static struct al_str text_of(sqlite3_value *v)
{
    const char *z = (const char *)sqlite3_value_text(v);
    return (struct al_str){z ? z : "", z ? (size_t)sqlite3_value_bytes(v) : 0};
}

static void result_value(sqlite3_context *ctx, const struct al_value *v)
{
    if (v->type == AL_VALUE_INT)
        sqlite3_result_int64(ctx, v->i);
    else if (v->type == AL_VALUE_REAL)
        sqlite3_result_double(ctx, v->d);
}

/* By the first numeric pattern that fits with this decimal mark. */
static bool convert_number(struct al_str s, char decimal, struct al_value *v)
{
    char buf[32];
    unsigned decimals;
    bool zeros;
    if (decimal == '.' && al_cell_number(s, true, v, &decimals, &zeros))
        return true;
    uint32_t bits = al_pattern_match(s);
    for (int p = AL_PATTERN_NONE + 1; p < AL_PATTERN_COUNT; p++) {
        enum al_pattern pattern = (enum al_pattern)p;
        bool other = pattern == (decimal == ',' ? AL_PATTERN_DECIMAL_POINT : AL_PATTERN_DECIMAL_COMMA);
        if (bits & (1u << p) && !al_pattern_is_date(pattern) && !other &&
            pattern != AL_PATTERN_EPOCH_SECONDS && al_pattern_convert(pattern, decimal, s, v, buf))
            return true;
    }
    /* "1.234" is a number of its own, and with a decimal comma one thousand two hundred thirty-four. */
    return al_pattern_convert(decimal == ',' ? AL_PATTERN_DECIMAL_COMMA : AL_PATTERN_DECIMAL_POINT, decimal,
                              s, v, buf);
}

static void to_number(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    int type = sqlite3_value_type(argv[0]);
    char decimal = 0;
    if (argc == 2) {
        struct al_str d = text_of(argv[1]);
        decimal = d.n == 1 ? d.p[0] : 0;
        if (decimal != ',' && decimal != '.') {
            sqlite3_result_error(ctx, "to_number: the decimal mark is '.' or ','", -1);
            return;
        }
    }
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        sqlite3_result_value(ctx, argv[0]);
        return;
    }
    if (type != SQLITE_TEXT)
        return;
    struct al_value v = {0};
    struct al_str s = text_of(argv[0]);
    if (s.n <= 64 && (decimal ? convert_number(s, decimal, &v) : al_pattern_number(s, &v))) {
        result_value(ctx, &v);
        return;
    }
    struct al_query_state *state = al_query_state_of(sqlite3_context_db_handle(ctx));
    if (state)
        al_query_count_null(&state->not_numbers, state->not_number, s);
}

static bool convert_date(struct al_str s, enum al_pattern order, char buf[32])
{
    struct al_value v = {0};
    if (order == AL_PATTERN_NONE)
        return al_pattern_date(s, buf);
    return al_pattern_convert(order, '.', s, &v, buf) || al_pattern_date(s, buf);
}

static void to_date(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    char buf[32] = "";
    enum al_pattern order = AL_PATTERN_NONE;
    if (argc == 2) {
        struct al_str how = text_of(argv[1]);
        order = al_str_same(how, "dmy")   ? AL_PATTERN_DATE_DMY
                : al_str_same(how, "mdy") ? AL_PATTERN_DATE_MDY
                                          : order;
        if (order == AL_PATTERN_NONE) {
            sqlite3_result_error(ctx, "to_date: the order is 'dmy' or 'mdy'", -1);
            return;
        }
    }
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    struct al_str s = text_of(argv[0]);
    if (s.n <= 64 && convert_date(s, order, buf)) {
        sqlite3_result_text(ctx, buf, -1, SQLITE_TRANSIENT);
        return;
    }
    struct al_query_state *state = al_query_state_of(sqlite3_context_db_handle(ctx));
    if (state)
        al_query_count_null(&state->not_dates, state->not_date, s);
}

/* --- date_trunc --- */

struct when {
    int year, month, day, hour, minute, second;
    bool time;
};

static bool digits(struct al_str s, size_t at, size_t n, int *ret)
{
    *ret = 0;
    for (size_t i = at; i < at + n; i++) {
        if (i >= s.n || s.p[i] < '0' || s.p[i] > '9')
            return false;
        *ret = *ret * 10 + (s.p[i] - '0');
    }
    return true;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* ISO 8601 as datasets hold it: yyyy-mm-dd, then T or a space and hh:mm, :ss; what follows is cut. */
static bool read_iso(struct al_str s, struct when *w)
{
    *w = (struct when){0};
    if (!digits(s, 0, 4, &w->year) || s.n < 10 || s.p[4] != '-' || !digits(s, 5, 2, &w->month) ||
        s.p[7] != '-' || !digits(s, 8, 2, &w->day) || w->year < 1 || w->month < 1 || w->month > 12 ||
        w->day < 1 || w->day > days_of(w->year, w->month))
        return false;
    if (s.n == 10)
        return true;
    if ((s.p[10] != 'T' && s.p[10] != ' ') || !digits(s, 11, 2, &w->hour) || s.n < 16 || s.p[13] != ':' ||
        !digits(s, 14, 2, &w->minute))
        return false;
    if (s.n >= 19 && s.p[16] == ':' && !digits(s, 17, 2, &w->second))
        return false;
    w->time = true;
    return w->hour <= 24 && w->minute < 60 && w->second <= 60;
}

/* Back to Monday (ISO 8601 weeks); Zeller's day count modulo 7. */
static void to_monday(struct when *w)
{
    int y = w->month < 3 ? w->year - 1 : w->year, m = w->month < 3 ? w->month + 12 : w->month;
    int since_saturday = (w->day + 13 * (m + 1) / 5 + y + y / 4 - y / 100 + y / 400) % 7;
    w->day -= (since_saturday + 5) % 7;
    if (w->day >= 1)
        return;
    if (--w->month < 1) {
        w->month = 12;
        w->year--;
    }
    w->day += days_of(w->year, w->month);
}

enum unit {
    YEAR,
    QUARTER,
    MONTH,
    WEEK,
    DAY,
    HOUR,
    MINUTE,
    N_UNITS
};

static void date_trunc(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    static const char *const names[] = {"year", "quarter", "month", "week", "day", "hour", "minute"};
    (void)argc;
    int unit = 0;
    struct al_str name = text_of(argv[0]);
    while (unit < N_UNITS && !al_str_same(name, names[unit]))
        unit++;
    if (unit == N_UNITS) {
        sqlite3_result_error(
            ctx,
            "date_trunc: the unit, its first argument, is year, quarter, month, week, day, hour or minute",
            -1);
        return;
    }
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    struct when w;
    char buf[32];
    struct al_str s = text_of(argv[1]);
    if (sqlite3_value_type(argv[1]) != SQLITE_TEXT || !read_iso(s, &w)) {
        struct al_query_state *state = al_query_state_of(sqlite3_context_db_handle(ctx));
        if (state)
            al_query_count_null(&state->not_dates, state->not_date, s);
        return;
    }
    if (unit == QUARTER)
        w.month = (w.month - 1) / 3 * 3 + 1;
    if (unit == YEAR)
        w.month = 1;
    if (unit <= MONTH)
        w.day = 1;
    if (unit == WEEK)
        to_monday(&w);
    int n = snprintf(buf, sizeof buf, "%04d-%02d-%02d", w.year % 10000, w.month % 100, w.day % 100);
    if (unit >= HOUR)
        snprintf(buf + n, sizeof buf - (size_t)n, "%c%02d:%02d:00", w.time ? s.p[10] : 'T', w.hour % 100,
                 unit == HOUR ? 0 : w.minute % 100);
    sqlite3_result_text(ctx, buf, -1, SQLITE_TRANSIENT);
}

int al_functions_dates(sqlite3 *db)
{
    static const struct {
        const char *name;
        int n;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } all[] = {{"to_number", 1, to_number},
               {"to_number", 2, to_number},
               {"to_date", 1, to_date},
               {"to_date", 2, to_date},
               {"date_trunc", 2, date_trunc}};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_OK; i++)
        rc = sqlite3_create_function_v2(db, all[i].name, all[i].n,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                        all[i].call, NULL, NULL, NULL);
    return rc;
}

int al_query_functions(struct sqlite3 *db, struct al_err *err)
{
    int rc = al_functions_dates(db);
    if (rc == SQLITE_OK)
        rc = al_functions_stats(db);
    if (rc == SQLITE_OK)
        rc = al_functions_regexp(db);
    return rc == SQLITE_OK
               ? 0
               : al_fail(err, AL_INTERNAL, "functions could not be added: %s", sqlite3_errmsg(db));
}
