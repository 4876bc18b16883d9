/* Keys of times: as SQL makes them, one after the other, and which bucket suits a span. */
#include "test.h"

#include "dash_world.h"
#include "dashboard/scan_int.h"

#include "base/mem.h"

#include <sqlite3.h>
#include <stdio.h>

static void assert_key(enum al_bucket b, const char *iso, const char *key)
{
    char got[16] = "";
    bool there = al_bucket_key(b, al_str_of(iso), got);
    if (there != (key != NULL) || (key && strcmp(got, key) != 0))
        fail_msg("%s by %s is %s, not %s", iso, al_bucket_name(b), there ? got : "nothing",
                 key ? key : "nothing");
}

static void a_time_has_the_key_of_its_bucket(void **state)
{
    (void)state;
    static const char *const keys[] = {
        [AL_BUCKET_HOUR] = "2024-03-05T07", [AL_BUCKET_DAY] = "2024-03-05",  [AL_BUCKET_WEEK] = "2024-03-04",
        [AL_BUCKET_MONTH] = "2024-03",      [AL_BUCKET_QUARTER] = "2024-Q1", [AL_BUCKET_YEAR] = "2024"};
    for (int b = AL_BUCKET_HOUR; b <= AL_BUCKET_YEAR; b++) {
        assert_key((enum al_bucket)b, "2024-03-05T07:30:00+05:30", keys[b]);
        assert_key((enum al_bucket)b, "2024-03-05 07:30", keys[b]);
        static const char *const none[] = {"",           "2024",        "2024-03",    "2024-3-5",
                                           "2023-02-29", "2024-04-31",  "2024-00-01", "2024-13-01",
                                           "05/03/2024", "x2024-03-05", "2024-03-0"};
        for (size_t i = 0; i < sizeof none / sizeof *none; i++)
            assert_key((enum al_bucket)b, none[i], NULL);
    }
    assert_key(AL_BUCKET_HOUR, "2024-03-05", "2024-03-05T00");
    assert_key(AL_BUCKET_HOUR, "2024-03-05T24:00", NULL);
    assert_key(AL_BUCKET_HOUR, "2024-03-05T7:00", NULL);
    assert_key(AL_BUCKET_WEEK, "2024-12-31", "2024-12-30");
    assert_key(AL_BUCKET_WEEK, "2023-01-01", "2022-12-26");
    assert_key(AL_BUCKET_QUARTER, "2024-12-31", "2024-Q4");
    assert_key(AL_BUCKET_DAY, "2000-02-29", "2000-02-29");
    assert_key(AL_BUCKET_DAY, "1900-02-29", NULL);
    assert_key(AL_BUCKET_NONE, "2024-03-05", NULL);
}

static void one_key_follows_the_other(void **state)
{
    (void)state;
    static const struct {
        enum al_bucket b;
        const char *key, *next;
    } cases[] = {{AL_BUCKET_HOUR, "2024-02-28T23", "2024-02-29T00"},
                 {AL_BUCKET_HOUR, "2023-12-31T23", "2024-01-01T00"},
                 {AL_BUCKET_DAY, "2024-02-28", "2024-02-29"},
                 {AL_BUCKET_DAY, "2023-02-28", "2023-03-01"},
                 {AL_BUCKET_WEEK, "2024-12-30", "2025-01-06"},
                 {AL_BUCKET_MONTH, "2024-12", "2025-01"},
                 {AL_BUCKET_QUARTER, "2024-Q4", "2025-Q1"},
                 {AL_BUCKET_QUARTER, "2024-Q1", "2024-Q2"},
                 {AL_BUCKET_YEAR, "1999", "2000"},
                 {AL_BUCKET_YEAR, "9999", NULL},
                 {AL_BUCKET_DAY, "9999-12-31", NULL},
                 {AL_BUCKET_MONTH, "9999-12", NULL},
                 {AL_BUCKET_QUARTER, "9999-Q4", NULL},
                 {AL_BUCKET_HOUR, "9999-12-31T23", NULL},
                 {AL_BUCKET_MONTH, "2024-Q1", NULL},
                 {AL_BUCKET_YEAR, "", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char key[16] = "", next[16] = "";
        snprintf(key, sizeof key, "%s", cases[i].key);
        bool there = al_bucket_next(cases[i].b, key, next);
        if (there != (cases[i].next != NULL) || (there && strcmp(next, cases[i].next) != 0))
            fail_msg("after %s comes %s", cases[i].key, there ? next : "nothing");
    }
}

/* Every week and some days of ten thousand years, and texts that are no dates, in both languages. */
static void sql_and_c_give_the_same_keys(void **state)
{
    (void)state;
    struct dash_world w;
    dash_open_sql(&w, "CREATE TABLE data(d); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                      "WHERE i < 4000) "
                      "INSERT INTO data SELECT datetime('0000-01-01', '+' || (i * 913 + i % 7) || ' days', "
                      "'+' || i % 29 || ' hours') "
                      "FROM n; INSERT INTO data VALUES ('2024-02-30'), ('2024-02-29T'), ('2024-02-29T23'), "
                      "('2024-02-29 24:00'), "
                      "('2024-02-29'), ('2024-02-29Z12'), ('noon'), (''), (NULL), (20240229), (2460000.5), "
                      "('2024-02-29é'), ('２０２４-01-01');"
                      "CREATE VIEW data_values AS SELECT * FROM data");
    dash_column(&w, 0, "d", "date", 0);
    w.columns[0].time = AL_TIME_DATE;
    autobuf struct al_buf sql = AL_BUF_INIT(1 << 16);
    int n = 0;
    for (int b = AL_BUCKET_HOUR; b <= AL_BUCKET_YEAR; b++) {
        sqlite3_stmt *stmt = NULL;
        al_buf_clear(&sql);
        al_buf_adds(&sql, "SELECT d, CASE WHEN ");
        al_sql_has_key(&w.d, 0, (enum al_bucket)b, &sql);
        al_buf_adds(&sql, " THEN ");
        al_sql_key(&w.d, 0, (enum al_bucket)b, &sql);
        al_buf_adds(&sql, " END FROM data_values");
        assert_int_equal(sqlite3_prepare_v2(w.db, sql.p, (int)sql.n, &stmt, NULL), SQLITE_OK);
        for (; sqlite3_step(stmt) == SQLITE_ROW; n++) {
            const char *d = (const char *)sqlite3_column_text(stmt, 0),
                       *own = (const char *)sqlite3_column_text(stmt, 1);
            char key[16];
            bool there = al_bucket_key((enum al_bucket)b, al_str_of(d ? d : ""), key);
            if (there != (own != NULL) || (there && strcmp(key, own) != 0))
                fail_msg("%s by %s: %s, in SQL %s", d, al_bucket_name((enum al_bucket)b),
                         there ? key : "none", own ? own : "none");
        }
        sqlite3_finalize(stmt);
    }
    assert_true(n > 20000);
    dash_close(&w);
}

static void the_span_decides_on_the_bucket(void **state)
{
    (void)state;
    static const struct {
        const char *first, *last;
        enum al_bucket b;
    } cases[] = {{"2024-01-01T00:00", "2024-01-03T12:00", AL_BUCKET_HOUR},
                 {"2024-01-01", "2024-01-03", AL_BUCKET_DAY},
                 {"2024-01-01", "2024-03-01", AL_BUCKET_DAY},
                 {"2024-01-01", "2024-03-02", AL_BUCKET_WEEK},
                 {"2023-01-01", "2024-02-25", AL_BUCKET_WEEK},
                 {"2023-01-01", "2024-02-26", AL_BUCKET_MONTH},
                 {"2020-01-01", "2024-12-05", AL_BUCKET_MONTH},
                 {"2020-01-01", "2024-12-06", AL_BUCKET_QUARTER},
                 {"2010-01-01", "2024-10-14", AL_BUCKET_QUARTER},
                 {"2010-01-01", "2024-10-15", AL_BUCKET_YEAR},
                 {"0001-01-01", "9999-12-31", AL_BUCKET_YEAR},
                 {"", "", AL_BUCKET_MONTH}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct al_dash_column c = {.time = AL_TIME_DATE};
        snprintf(c.first, sizeof c.first, "%s", cases[i].first);
        snprintf(c.last, sizeof c.last, "%s", cases[i].last);
        if (al_bucket_for(&c) != cases[i].b)
            fail_msg("%s to %s: %s", cases[i].first, cases[i].last, al_bucket_name(al_bucket_for(&c)));
    }
    assert_int_equal(al_bucket_for(&(struct al_dash_column){.time = AL_TIME_YEAR}), AL_BUCKET_YEAR);
}

static void names_stand_in_their_natural_order(void **state)
{
    (void)state;
    static const struct {
        enum al_dash_natural n;
        const char *first, *then;
    } pairs[] = {
        {AL_NATURAL_MONTH, "December", "?"},
        {AL_NATURAL_MONTH, "jan", "FEB"},
        {AL_NATURAL_MONTH, "enero", "Februar"},
        {AL_NATURAL_MONTH, "fév", "mars"},
        {AL_NATURAL_MONTH, "März", "Abril"},
        {AL_NATURAL_MONTH, "mai", "juin"},
        {AL_NATURAL_MONTH, "juin", "juillet"},
        {AL_NATURAL_MONTH, "July", "août"},
        {AL_NATURAL_MONTH, "set", "outubro"},
        {AL_NATURAL_MONTH, "nov", "Déc"},
        {AL_NATURAL_WEEKDAY, "Mo", "Di"},
        {AL_NATURAL_WEEKDAY, "Di", "Mi"},
        {AL_NATURAL_WEEKDAY, "Mi", "Do"},
        {AL_NATURAL_WEEKDAY, "Do", "Fr"},
        {AL_NATURAL_WEEKDAY, "Sa", "So"},
        {AL_NATURAL_WEEKDAY, "lunes", "martes"},
        {AL_NATURAL_WEEKDAY, "martes", "miércoles"},
        {AL_NATURAL_WEEKDAY, "jueves", "sábado"},
        {AL_NATURAL_WEEKDAY, "Saturday", "Sunday"},
        {AL_NATURAL_WEEKDAY, "samedi", "dimanche"},
        {AL_NATURAL_WEEKDAY, "segunda", "terça"},
        {AL_NATURAL_WEEKDAY, "Sunday", "holiday"},
        {AL_NATURAL_RANGE, "<18", "18-24"},
        {AL_NATURAL_RANGE, "9-12", "13+"},
        {AL_NATURAL_RANGE, "Under 5", "5-9"},
        {AL_NATURAL_RANGE, "5,000-9,999", "10,000+"},
        {AL_NATURAL_RANGE, "65+", "other"},
        {AL_NATURAL_NUMBER, "9", "10"},
        {AL_NATURAL_NUMBER, "-5", "3"},
        {AL_NATURAL_NUMBER, "3", "x"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double a = al_natural_key(pairs[i].n, al_str_of(pairs[i].first)),
               b = al_natural_key(pairs[i].n, al_str_of(pairs[i].then));
        if (!(a < b))
            fail_msg("%s (%g) and %s (%g)", pairs[i].first, a, pairs[i].then, b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_has_the_key_of_its_bucket),
        cmocka_unit_test(one_key_follows_the_other),
        cmocka_unit_test(sql_and_c_give_the_same_keys),
        cmocka_unit_test(the_span_decides_on_the_bucket),
        cmocka_unit_test(names_stand_in_their_natural_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
