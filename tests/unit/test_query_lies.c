/* A number that is stored as text gives the right answer or none: every form of using one, over columns as
 * people write them, raw and through the view of values. */
#include "test.h"

#include "query_world.h"

#include "base/mem.h"

#include <sqlite-hooks.h>
#include <stdio.h>

static const char fixture[] =
    "CREATE TABLE data(id, european, dollar, percent, brackets, price, name, day, iso, plain, active);"
    "INSERT INTO data VALUES"
    " (1, '1.234,56', '$ 1,234.56', '12 %', '(12)', 10, 'ann', '31/12/2023', '2023-12-31', '12', 'true'),"
    " (2, '999,00', '$ 999.00', '5 %', '(7)', 9.5, 'bob', '01/02/2024', '2024-02-01', '-3.5', 'false'),"
    " (3, '12,50', '$ 12.50', '100 %', '(100)', 'n/a', 'eve', '15/01/2024', '2024-01-15', '1e5', 'true'),"
    " (4, '100,00', '$ 100.00', '7.5 %', '(3)', 100, 'zoe', NULL, NULL, ' 7 ', NULL);"
    "CREATE TABLE _alisio_values_1(european, dollar, percent, brackets, day);"
    "INSERT INTO _alisio_values_1 VALUES (1234.56, 1234.56, 12, -12, '2023-12-31'), (999, 999, 5, -7, "
    "'2024-02-01'),"
    " (12.5, 12.5, 100, -100, '2024-01-15'), (100, 100, 7.5, -3, NULL);"
    "CREATE VIEW data_values AS SELECT d.id AS id, v.european AS european, v.dollar AS dollar, v.percent AS "
    "percent,"
    " v.brackets AS brackets, d.price AS price, d.name AS name, v.day AS day, d.iso AS iso, d.plain AS plain,"
    " d.active AS active FROM data AS d LEFT JOIN _alisio_values_1 AS v ON v.rowid = d.rowid;"
    "INSERT INTO _alisio_columns(table_name, name, parsed_as) VALUES ('data', 'european', '1.234,56'),"
    " ('data', 'dollar', '$ 12'), ('data', 'percent', '12 %'), ('data', 'brackets', '(12)'), ('data', 'day', "
    "'dd/mm/yyyy')";

static int setup(void **state)
{
    struct query_world *w = al_xcalloc(1, sizeof *w);
    query_world_open(w, query_dataset(fixture));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    query_world_close(*state);
    free(*state);
    return 0;
}

/* $ is the column, @ the table. */
static void fill(const char *form, const char *column, const char *table, char sql[512])
{
    size_t n = 0;
    for (; *form && n < 400; form++) {
        if (*form == '$' || *form == '@')
            n += (size_t)snprintf(sql + n, 512 - n, "%s", *form == '$' ? column : table);
        else
            sql[n++] = *form;
    }
    sql[n] = 0;
}

static const char *const columns[] = {"european", "dollar", "percent", "brackets"};

static const struct {
    const char *sql, *named; /* how the message names the place; NULL: not checked */
} forms[] = {
    {"SELECT $ + 1 AS x FROM @ ORDER BY id", "`$ + 1`"},
    {"SELECT 1000 - $ AS x FROM @ ORDER BY id", "`1000 - $`"},
    {"SELECT $ * 2 AS x FROM @ ORDER BY id", "`$ * 2`"},
    {"SELECT $ / 4 AS x FROM @ ORDER BY id", "`$ / 4`"},
    {"SELECT $ % 7 AS x FROM @ ORDER BY id", "`$ % 7`"},
    {"SELECT -$ AS x FROM @ ORDER BY id", NULL},
    {"SELECT CAST($ AS REAL) AS x FROM @ ORDER BY id", "CAST($ AS REAL)"},
    {"SELECT CAST($ AS INTEGER) AS x FROM @ ORDER BY id", "CAST($ AS INTEGER)"},
    {"SELECT CAST($ AS NUMERIC) AS x FROM @ ORDER BY id", "CAST($ AS NUMERIC)"},
    {"SELECT id FROM @ WHERE $ < 100 ORDER BY id", "`$ < 100`"},
    {"SELECT id FROM @ WHERE $ >= 100 ORDER BY id", "`$ >= 100`"},
    {"SELECT id FROM @ WHERE 100 > $ ORDER BY id", "`100 > $`"},
    {"SELECT id FROM @ WHERE $ BETWEEN 5 AND 500 ORDER BY id", "`$ BETWEEN 5 AND 500`"},
    {"SELECT id FROM @ WHERE $ = 12 ORDER BY id", "`$ = 12`"},
    {"SELECT id FROM @ WHERE $ <> 12 ORDER BY id", "`$ <> 12`"},
    {"SELECT id FROM @ WHERE $ IN (12, 5) ORDER BY id", "$ IN (12 …)"},
    {"SELECT id FROM @ WHERE $ NOT IN (-12, 5) ORDER BY id", "$ IN (12 …)"},
    {"SELECT id FROM @ t WHERE t.$ in (1234.56)", "$ IN (1234.56 …)"},
    {"SELECT sum($) FROM @", "sum($)"},
    {"SELECT sum(t.$) FROM @ t", "sum(t.$)"},
    {"SELECT avg($) FROM @", "avg($)"},
    {"SELECT total($) FROM @", "total($)"},
    {"SELECT min($) FROM @", "min($)"},
    {"SELECT max($) FROM @", "max($)"},
    {"SELECT max($, 50) AS x FROM @ ORDER BY id", "max($, 50)"},
    {"SELECT id FROM @ ORDER BY $", "ORDER BY $"},
    {"SELECT id FROM @ ORDER BY $ DESC LIMIT 2", "ORDER BY $"},
    {"SELECT $, id FROM @ ORDER BY 1", "ORDER BY $"},
    {"SELECT id, rank() OVER (ORDER BY $) AS r FROM @ ORDER BY id", "ORDER BY $"},
    {"SELECT id, sum($) OVER (ORDER BY id) AS s FROM @ ORDER BY id", "sum($)"},
    {"SELECT round($) AS x FROM @ ORDER BY id", "round($)"},
    {"SELECT abs($) AS x FROM @ ORDER BY id", "abs($)"},
    {"SELECT sqrt(abs($)) AS x FROM @ ORDER BY id", "abs($)"},
    {"SELECT exp(ln(sqrt($ * $))) FROM @ WHERE id = 1", NULL},
    {"SELECT ceil($) AS x FROM @ ORDER BY id", "ceil($)"},
    {"SELECT median($) FROM @", NULL},
    {"SELECT stddev($) FROM @", "stddev($)"},
    {"SELECT percentile($, 25) FROM @", NULL},
    {"SELECT printf('%.2f', $) AS x FROM @ ORDER BY id", NULL},
    {"SELECT id FROM @ WHERE $ AND 1 ORDER BY id", NULL},
    {"SELECT CASE WHEN $ THEN 'yes' ELSE 'no' END AS x FROM @ ORDER BY id", "`$`"},
    {"SELECT CAST($ AS INTEGER) | 1 AS x FROM @ ORDER BY id", NULL},
    {"SELECT sum($) FILTER (WHERE id > 1) FROM @", "sum($)"},
    {"SELECT name, sum($) AS s FROM @ GROUP BY name HAVING sum($) > 1 ORDER BY name", "sum($)"},
    {"WITH t AS (SELECT $ AS v, id FROM @) SELECT sum(v) FROM t", NULL},
    {"SELECT (SELECT sum($) FROM @)", "sum($)"},
};

static void raw_columns_are_refused_with_the_cure(void **state)
{
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            char sql[512], named[512], cure[128];
            fill(forms[f].sql, columns[c], "data", sql);
            fill(forms[f].named ? forms[f].named : "", columns[c], "data", named);
            assert_refused(*state, sql, AL_QUERY_ERROR, named);
            if (!forms[f].named)
                continue;
            snprintf(cure, sizeof cure, "to_number(%s)", columns[c]);
            assert_refused(*state, sql, AL_QUERY_ERROR, cure);
            assert_refused(*state, sql, AL_QUERY_ERROR, "data_values");
        }
    }
}

/* The same statement over the view gives what it gives over a table of numbers. */
static void the_view_of_values_answers_as_numbers_do(void **state)
{
    struct query_world *w = *state, truth;
    query_world_open(
        &truth,
        query_dataset("CREATE TABLE data(id, european, dollar, percent, brackets, name);"
                      "INSERT INTO data VALUES (1, 1234.56, 1234.56, 12, -12, 'ann'), (2, 999, 999, 5, -7, "
                      "'bob'), (3, 12.5, 12.5, 100, -100, 'eve'), (4, 100, 100, 7.5, -3, 'zoe')"));
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            char sql[512];
            fill(forms[f].sql, columns[c], "data", sql);
            must(&truth, sql);
            const struct al_json *want = al_json_get(truth.value, "rows");
            fill(forms[f].sql, columns[c], "data_values", sql);
            autofree char *rows = al_xdup(want->raw.p, want->raw.n);
            assert_rows(w, sql, rows);
            assert_no_note(w);
        }
    }
    query_world_close(&truth);
}

static void to_number_is_a_cure(void **state)
{
    assert_rows(*state,
                "SELECT sum(to_number(european)), sum(to_number(dollar)), sum(to_number(percent)), "
                "sum(to_number(brackets)) FROM data",
                "[[2346.06,2346.06,124.5,-122]]");
    assert_rows(*state, "SELECT id FROM data ORDER BY to_number(european)", "[[3],[4],[2],[1]]");
    assert_rows(*state, "SELECT to_number(european) AS european FROM data ORDER BY european",
                "[[12.5],[100],[999],[1234.56]]");
    assert_rows(*state, "SELECT id FROM data WHERE to_number(percent) > 10 ORDER BY id", "[[1],[3]]");
}

static void messages_name_place_text_and_cure(void **state)
{
    struct query_world *w = *state;
    assert_int_equal(ask(w, "SELECT sum(european) FROM data"), -1);
    assert_string_equal(w->err.msg,
                        "sum(european) met text \"1.234,56\"; use data_values or to_number(european)");
    assert_true(al_str_is(al_json_get_text(w->value, "text"), "1.234,56"));
    assert_true(al_str_is(al_json_get_text(w->value, "column"), "european"));
    assert_int_equal(ask(w, "SELECT european * 2 FROM data"), -1);
    assert_string_equal(w->err.msg,
                        "`european * 2` met text \"1.234,56\" where a number is needed; use data_values or "
                        "to_number(european)");
    /* Two columns could be meant: the one that holds the text is named. */
    assert_int_equal(ask(w, "SELECT sum(id), sum(price), sum(plain), sum(european) FROM data WHERE id < 3"),
                     -1);
    assert_non_null(strstr(w->err.msg, "sum(european)"));
    assert_int_equal(ask(w, "SELECT sum(id), sum(price) FROM data"), -1);
    assert_string_equal(
        w->err.msg,
        "sum(price) met text \"n/a\"; use to_number(price), which makes it NULL, or leave it out: "
        "WHERE typeof(price) <> 'text'");
    assert_int_equal(ask(w, "SELECT id FROM data WHERE active"), -1);
    assert_string_equal(
        w->err.msg,
        "`active` met text \"true\" where true or false is needed; compare it, as in active = 'true'");
}

static void what_is_right_stays(void **state)
{
    static const struct {
        const char *sql, *rows;
    } cases[] = {
        /* Texts that are wholly numbers, as in SQLite. */
        {"SELECT sum(plain) FROM data", "[[100015.5]]"},
        {"SELECT plain * 2 FROM data ORDER BY id", "[[24],[-7],[200000],[14]]"},
        {"SELECT CAST('12.7' AS INTEGER), CAST(' 12 ' AS REAL), '5' + 1, abs('-3')", "[[12,12,6,3]]"},
        /* Equality of texts, and order of those that are no numbers. */
        {"SELECT id FROM data WHERE european = '1.234,56'", "[[1]]"},
        {"SELECT id FROM data WHERE european <> '1.234,56' ORDER BY id", "[[2],[3],[4]]"},
        {"SELECT id FROM data WHERE percent IN ('5 %', '12 %') ORDER BY id", "[[1],[2]]"},
        {"SELECT id FROM data WHERE price = '12 %'", "[]"},
        {"SELECT min(name), max(name) FROM data WHERE name > 'b'", "[[\"bob\",\"zoe\"]]"},
        {"SELECT min(iso), max(iso) FROM data WHERE iso >= '2024-01-01'",
         "[[\"2024-01-15\",\"2024-02-01\"]]"},
        {"SELECT count(european), count(DISTINCT european) FROM data", "[[4,4]]"},
        {"SELECT european || '!' FROM data WHERE id = 1", "[[\"1.234,56!\"]]"},
        {"SELECT id FROM data WHERE european LIKE '1%' ORDER BY id", "[[1],[3],[4]]"},
        {"SELECT length(european), upper(dollar) FROM data WHERE id = 1", "[[8,\"$ 1,234.56\"]]"},
        {"SELECT european, count(*) FROM data GROUP BY european HAVING count(*) > 1", "[]"},
        {"SELECT name FROM data ORDER BY name DESC LIMIT 1", "[[\"zoe\"]]"},
        {"SELECT id FROM data WHERE active = 'true' ORDER BY id", "[[1],[3]]"},
        {"SELECT id FROM data WHERE active IS NULL", "[[4]]"},
        {"SELECT sum(price) FROM data WHERE typeof(price) <> 'text'", "[[119.5]]"},
        {"SELECT id FROM data WHERE typeof(price) = 'text' OR price > 50 ORDER BY id", "[[3],[4]]"},
        {"SELECT substr(day, 7) AS y, count(*) FROM data WHERE day IS NOT NULL GROUP BY y ORDER BY y",
         "[[\"2023\",1],[\"2024\",2]]"},
        {"SELECT date(iso, '+1 day'), strftime('%Y', iso), julianday(iso) > 0 FROM data WHERE id = 1",
         "[[\"2024-01-01\",\"2023\",1]]"},
        {"SELECT json_extract('{\"a\":[1,2]}', '$.a[1]') + 1", "[[3]]"},
        {"SELECT substr('hello', 2, 3), instr('abc', 'c'), coalesce(NULL, 'x'), printf('%s-%d', 'a', 5)",
         "[[\"ell\",3,\"x\",\"a-5\"]]"},
        {"SELECT CASE name WHEN 'ann' THEN 1 ELSE 0 END FROM data ORDER BY id LIMIT 1", "[[1]]"},
        {"SELECT group_concat(name, ', ') FROM (SELECT name FROM data ORDER BY name)",
         "[[\"ann, bob, eve, zoe\"]]"},
        {"SELECT id FROM data WHERE name > 5 AND id = 1", "[[1]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_rows(*state, cases[i].sql, cases[i].rows);
}

static void other_texts_are_no_numbers_either(void **state)
{
    static const struct {
        const char *sql, *part;
    } cases[] = {
        {"SELECT sum(price) FROM data", "\"n/a\""},
        {"SELECT avg(name) FROM data", "\"ann\""},
        {"SELECT '' + 1", "\"\""},
        {"SELECT 'abc' * 2", "\"abc\""},
        {"SELECT CAST('0x10' AS INTEGER)", "\"0x10\""},
        {"SELECT CAST('1e5' AS INTEGER)", "\"1e5\""},
        {"SELECT 1 WHERE 'false'", "\"false\""},
        {"SELECT NOT name FROM data", "\"ann\""},
        {"SELECT printf('%d', '1,234')", "\"1,234\""},
        {"SELECT '12 %' | 1", "\"12 %\""},
        {"SELECT max('1,234', '999')", "\"1,234\""},
        {"SELECT id FROM data WHERE european > '100'", "to_number(european)"},
        {"SELECT id FROM data WHERE day > '01/01/2024'", "to_date(day)"},
        {"SELECT min(day) FROM data", "to_date(day)"},
        {"SELECT id FROM data ORDER BY day", "data_values"},
        {"SELECT id FROM data d ORDER BY d.\"european\" COLLATE NOCASE DESC NULLS LAST, id", "data_values"},
        {"SELECT id FROM data ORDER BY name, european", "data_values"},
        {"SELECT median(price) FROM data", "to_number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(*state, cases[i].sql, AL_QUERY_ERROR, cases[i].part);
}

static void notes_tell_what_is_not_refused(void **state)
{
    must(*state, "SELECT european FROM data");
    assert_note(*state, "european holds numbers as text (1.234,56): in data_values it is a number");
    must(*state, "SELECT day FROM data");
    assert_note(*state, "an ISO date");
    must(*state, "SELECT id FROM data WHERE price > 50");
    assert_note(*state, "compared a number with the text \"n/a\"");
    must(*state, "SELECT id FROM data WHERE id > '2'");
    assert_note(*state, "write numbers without quotes");
    must(*state, "SELECT id FROM data WHERE id = '2'");
    assert_note(*state, "a number is never equal to a text: the number 2");
    must(*state, "SELECT max(price) FROM data");
    assert_note(*state, "min or max compared numbers with the text \"n/a\"");
    must(*state, "SELECT sum(to_number(price)) FROM data");
    assert_note(*state, "to_number made NULL of 1 text that is no number without doubt, such as \"n/a\"");
    must(*state, "SELECT id, name FROM data WHERE id > 2");
    assert_no_note(*state);
}

static void the_hosts_own_connections_are_left_alone(void **state)
{
    must(*state, "SELECT 1");
    assert_null(al_sqlite_hooks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(raw_columns_are_refused_with_the_cure, setup, teardown),
        cmocka_unit_test_setup_teardown(the_view_of_values_answers_as_numbers_do, setup, teardown),
        cmocka_unit_test_setup_teardown(to_number_is_a_cure, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_name_place_text_and_cure, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_right_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(other_texts_are_no_numbers_either, setup, teardown),
        cmocka_unit_test_setup_teardown(notes_tell_what_is_not_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_hosts_own_connections_are_left_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
