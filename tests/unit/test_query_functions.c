#include "test.h"

#include "query_world.h"

#include "base/mem.h"

static int setup(void **state)
{
    struct query_world *w = al_xcalloc(1, sizeof *w);
    query_world_open(
        w, query_dataset(
               "CREATE TABLE data(x, y, g); INSERT INTO data VALUES (2, 1, 'a'), (4, 2, 'a'), (4, 3, 'b'), "
               "(4, 4, 'b'), (5, NULL, 'b'), (5, 6, 'c'), (7, 7, 'c'), (9, 8, 'c')"));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    query_world_close(*state);
    free(*state);
    return 0;
}

struct row {
    const char *sql, *rows;
};

static void check(void **state, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_rows(*state, rows[i].sql, rows[i].rows);
}
#define CHECK(rows) check(state, rows, sizeof rows / sizeof *rows)

static void statistics(void **state)
{
    static const struct row rows[] = {
        {"SELECT stddev_pop(x), var_pop(x), round(stddev(x), 9), round(stddev_samp(x), 9) FROM data",
         "[[2,4,2.138089935,2.138089935]]"},
        {"SELECT round(variance(x), 9), round(var_samp(x), 9) FROM data", "[[4.571428571,4.571428571]]"},
        {"SELECT stddev(x) FROM data WHERE x = 2", "[[null]]"},
        {"SELECT stddev(x) FROM data WHERE x > 100", "[[null]]"},
        {"SELECT stddev_pop(x) FROM data WHERE x = 2", "[[0]]"},
        {"SELECT stddev(NULL)", "[[null]]"},
        {"SELECT stddev_pop(x + 1e9) FROM data", "[[2]]"},
        {"SELECT stddev(1e308 * 10)", "[[null]]"},
        {"SELECT median(x), percentile(x, 25), percentile(x, 100) FROM data", "[[4.5,4,9]]"},
        {"SELECT median(y) FROM data", "[[4]]"},
        {"SELECT g, median(x) FROM data GROUP BY g ORDER BY g", "[[\"a\",3],[\"b\",4],[\"c\",7]]"},
        {"SELECT percentile_cont(x, 0.5), percentile_disc(x, 0.5) FROM data", "[[4.5,4]]"},
        {"SELECT round(stddev_pop(x) OVER (ORDER BY rowid ROWS 1 PRECEDING), 6) FROM data",
         "[[0],[1],[0],[0],[0.5],[0],[1],[1]]"},
        {"SELECT count(*) FROM (SELECT stddev(x) OVER (ORDER BY rowid ROWS BETWEEN 2 PRECEDING AND 1 "
         "PRECEDING) s FROM data) "
         "WHERE s IS NULL",
         "[[2]]"},
    };
    CHECK(rows);
    assert_refused(*state, "SELECT percentile(x, 101) FROM data", AL_QUERY_ERROR, "not between 0.0 and 100");
}

static void dates_are_cut(void **state)
{
    static const struct row rows[] = {
        {"SELECT date_trunc('year', '2024-05-17'), date_trunc('quarter', '2024-05-17'), date_trunc('month', "
         "'2024-05-17')",
         "[[\"2024-01-01\",\"2024-04-01\",\"2024-05-01\"]]"},
        {"SELECT date_trunc('week', '2024-05-17'), date_trunc('week', '2024-05-13'), date_trunc('week', "
         "'2024-05-19')",
         "[[\"2024-05-13\",\"2024-05-13\",\"2024-05-13\"]]"},
        {"SELECT date_trunc('week', '2024-03-02'), date_trunc('week', '2023-01-01'), date_trunc('week', "
         "'2000-01-02')",
         "[[\"2024-02-26\",\"2022-12-26\",\"1999-12-27\"]]"},
        {"SELECT date_trunc('day', '2024-05-17T12:34:56Z'), date_trunc('hour', '2024-05-17 12:34:56.789'), "
         "date_trunc('MINUTE', '2024-05-17T12:34')",
         "[[\"2024-05-17\",\"2024-05-17 12:00:00\",\"2024-05-17T12:34:00\"]]"},
        {"SELECT date_trunc('hour', '2024-05-17'), date_trunc('day', NULL)",
         "[[\"2024-05-17T00:00:00\",null]]"},
    };
    CHECK(rows);
    assert_rows(*state, "SELECT date_trunc('day', '2024-02-30'), date_trunc('day', '17/05/2024')",
                "[[null,null]]");
    assert_note(*state, "date_trunc made NULL of 2 texts");
    assert_refused(*state, "SELECT date_trunc('2024-05-17', 'day')", AL_QUERY_ERROR,
                   "the unit, its first argument");
}

static void texts_become_numbers(void **state)
{
    static const struct row rows[] = {
        {"SELECT to_number('1.234,56'), to_number('1,234.56'), to_number('12 %'), to_number('(12)'), "
         "to_number('$ 12')",
         "[[1234.56,1234.56,12,-12,12]]"},
        {"SELECT to_number(5), to_number(1.5), to_number(NULL), to_number('7')", "[[5,1.5,null,7]]"},
        {"SELECT to_number('1.234', ','), to_number('1,234', '.'), to_number('1,5', ',')",
         "[[1234,1234,1.5]]"},
        {"SELECT typeof(to_number('12')), typeof(to_number('12,5'))", "[[\"integer\",\"real\"]]"},
    };
    CHECK(rows);
    assert_rows(*state, "SELECT to_number('n/a'), to_number('1,234')", "[[null,null]]");
    assert_note(*state, "to_number made NULL of 2 texts");
    assert_refused(*state, "SELECT to_number('1', ';')", AL_QUERY_ERROR, "decimal mark");
}

static void texts_become_dates(void **state)
{
    static const struct row rows[] = {
        {"SELECT to_date('2024-05-17'), to_date('31/12/2024'), to_date('12/31/2024'), to_date(NULL)",
         "[[\"2024-05-17\",\"2024-12-31\",\"2024-12-31\",null]]"},
        {"SELECT to_date('01/02/2024', 'dmy'), to_date('01/02/2024', 'mdy')",
         "[[\"2024-02-01\",\"2024-01-02\"]]"},
    };
    CHECK(rows);
    assert_rows(*state, "SELECT to_date('01/02/2024')", "[[null]]");
    assert_note(*state, "such as \"01/02/2024\"");
    assert_refused(*state, "SELECT to_date('x', 'ymd')", AL_QUERY_ERROR, "'dmy' or 'mdy'");
}

static void regular_expressions(void **state)
{
    static const struct row rows[] = {
        {"SELECT 'abc' REGEXP '^a.c$', regexp('b+', 'abbc'), 'abc' REGEXP 'z', NULL REGEXP 'a'",
         "[[1,1,0,null]]"},
        {"SELECT 'Ärger' REGEXP '(?i)^ä', 'x1' REGEXP '\\d', 12 REGEXP '^1'", "[[1,1,1]]"},
        {"SELECT count(*) FROM data WHERE g REGEXP '[ab]'", "[[5]]"},
        {"SELECT group_concat(y, '') FROM (SELECT y FROM data WHERE 'x' || y REGEXP '^x' || y || '$' ORDER "
         "BY y)",
         "[[\"1234678\"]]"},
        {"SELECT CAST(x'ff61' AS TEXT) REGEXP 'a'", "[[1]]"},
    };
    CHECK(rows);
    assert_refused(*state, "SELECT 'x' REGEXP '[a'", AL_QUERY_ERROR, "the pattern is wrong at byte 3");
    assert_refused(*state, "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' REGEXP '^(a|aa)+$'",
                   AL_QUERY_ERROR, "takes too long");
}

static void json_math_and_windows_are_there(void **state)
{
    static const struct row rows[] = {
        {"SELECT json_extract('{\"a\":{\"b\":7}}', '$.a.b'), '{\"c\":1}' ->> 'c'", "[[7,1]]"},
        {"SELECT sqrt(16), pow(2, 10), round(ln(exp(1)), 6), mod(7, 3), ceil(1.2)", "[[4,1024,1,1,2]]"},
        {"SELECT x, lag(x) OVER (ORDER BY rowid), sum(x) OVER (ORDER BY rowid) FROM data LIMIT 3",
         "[[2,null,2],[4,2,6],[4,4,10]]"},
        {"SELECT strftime('%Y-%m', '2024-05-17'), date('2024-01-31', '+1 month')",
         "[[\"2024-05\",\"2024-03-02\"]]"},
        {"SELECT string_agg(g, '') FROM (SELECT DISTINCT g FROM data ORDER BY g)", "[[\"abc\"]]"},
        {"SELECT length(random() || ''), date('now') > '2020' FROM data WHERE 0", "[]"},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statistics, setup, teardown),
        cmocka_unit_test_setup_teardown(dates_are_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_become_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_become_dates, setup, teardown),
        cmocka_unit_test_setup_teardown(regular_expressions, setup, teardown),
        cmocka_unit_test_setup_teardown(json_math_and_windows_are_there, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
