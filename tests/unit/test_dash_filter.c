/* Filters: what is taken, what is refused and how, which rows they keep, and how they read. */
#include "test.h"

#include "dash_world.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static const char dataset[] = "CREATE TABLE data(id, region, amount, day, code, year, flag);"
                              "INSERT INTO data VALUES (1, 'North', 10, '2024-01-31', 12, 1999, 'yes'), (2, "
                              "'South', -2.5, '2024-02-29T08:00', '012', 2000, 'no'),"
                              "(3, NULL, 'n/a', '2024-03-01 09:30:15', 'A1', 2001, 'yes'), (4, '', NULL, "
                              "'2025-01-01', '12', NULL, NULL),"
                              "(5, 'north 100%', '1,234', NULL, NULL, 1999, 'no'), (6, 'O''Brien', 0, "
                              "'2023-12-31T23:59', 'a_b', 2024, 'yes');"
                              "CREATE VIEW data_values AS SELECT * FROM data";

enum {
    ID,
    REGION,
    AMOUNT,
    DAY,
    CODE,
    YEAR,
    FLAG
};

static void open_world(struct dash_world *w)
{
    dash_open_sql(w, dataset);
    w->d.catalog.rows = 6;
    dash_column(w, ID, "id", "integer", 0);
    dash_column(w, REGION, "region", "text", 0);
    dash_column(w, AMOUNT, "amount", "integer", 2);
    dash_column(w, DAY, "day", "date", 0);
    dash_column(w, CODE, "code", "text", 0);
    dash_column(w, YEAR, "year", "integer", 0);
    dash_column(w, FLAG, "flag", "boolean", 0);
    w->columns[DAY].time = AL_TIME_DATE;
    w->columns[YEAR].time = AL_TIME_YEAR;
    w->columns[FLAG].top[0] = AL_STR("yes");
    w->columns[FLAG].top[1] = AL_STR("no");
    w->columns[FLAG].n_top = 2;
    w->columns[REGION].display = AL_STR("Region");
    w->columns[DAY].display = AL_STR("Day");
}

static int read_filters(struct dash_world *w, const char *json, bool strict, struct al_err *err)
{
    const struct al_json *j = NULL;
    dash_forget(w);
    assert_int_equal(al_json_parse(&w->d.arena, al_str_of(json), &j, err), 0);
    return al_filters_read(&w->d, j, strict, err);
}

/* The ids of the rows that are kept, by the scan's own condition through the guarded query. */
static void assert_ids(struct dash_world *w, const char *filter, const char *ids)
{
    struct al_err err = {0};
    char json[2000];
    autobuf struct al_buf sql = AL_BUF_INIT(1 << 16);
    snprintf(json, sizeof json, "[%s]", filter);
    if (read_filters(w, json, true, &err) < 0)
        fail_msg("%s: %s (%s)", filter, err.msg, err.hint);
    al_buf_adds(&sql, "SELECT coalesce(group_concat(id, ' '), '') FROM data_values ");
    al_sql_where(&w->d, &sql);
    al_buf_addc(&sql, '\0');
    must(&w->q, sql.p);
    char want[100];
    snprintf(want, sizeof want, "\n[\"%s\"]\n", ids);
    if (al_str_find(al_buf_str(&w->q.bytes), al_str_of(want)) < 0)
        fail_msg("%s\n%s\ngave %.*s, not %s", filter, sql.p, AL_FMT(al_buf_str(&w->q.bytes)), ids);
}

static void each_op_keeps_its_rows(void **state)
{
    (void)state;
    static const struct {
        const char *filter, *ids;
    } cases[] = {
        {"{\"column\":\"region\",\"op\":\"=\",\"value\":\"North\"}", "1"},
        {"{\"column\":\"REGION\",\"op\":\"=\",\"value\":\"North\"}", "1"},
        {"{\"column\":\"region\",\"op\":\"!=\",\"value\":\"North\"}", "2 3 4 5 6"},
        {"{\"column\":\"region\",\"op\":\"in\",\"value\":[\"North\",\"O'Brien\"]}", "1 6"},
        {"{\"column\":\"region\",\"op\":\"not_in\",\"value\":[\"North\",\"O'Brien\"]}", "2 3 4 5"},
        {"{\"column\":\"region\",\"op\":\"contains\",\"value\":\"north\"}", "1 5"},
        {"{\"column\":\"region\",\"op\":\"contains\",\"value\":\"0%\"}", "5"},
        {"{\"column\":\"code\",\"op\":\"contains\",\"value\":\"a_\"}", "6"},
        {"{\"column\":\"region\",\"op\":\"is_null\"}", "3 4"},
        {"{\"column\":\"region\",\"op\":\"not_null\"}", "1 2 5 6"},
        {"{\"column\":\"amount\",\"op\":\"=\",\"value\":10}", "1"},
        {"{\"column\":\"amount\",\"op\":\"=\",\"value\":\"10\"}", "1"},
        {"{\"column\":\"amount\",\"op\":\"=\",\"value\":\"n/a\"}", "3"},
        {"{\"column\":\"amount\",\"op\":\"in\",\"value\":[0,\"1,234\",10]}", "1 5 6"},
        {"{\"column\":\"amount\",\"op\":\"!=\",\"value\":10}", "2 3 4 5 6"},
        {"{\"column\":\"amount\",\"op\":\"not_in\",\"value\":[10,\"n/a\"]}", "2 4 5 6"},
        {"{\"column\":\"amount\",\"op\":\">\",\"value\":-3}", "1 2 6"},
        {"{\"column\":\"amount\",\"op\":\">=\",\"value\":0}", "1 6"},
        {"{\"column\":\"amount\",\"op\":\"<\",\"value\":0}", "2"},
        {"{\"column\":\"amount\",\"op\":\"<=\",\"value\":0}", "2 6"},
        {"{\"column\":\"amount\",\"op\":\"between\",\"value\":[-2.5,0]}", "2 6"},
        {"{\"column\":\"amount\",\"op\":\"is_null\"}", "4"},
        {"{\"column\":\"day\",\"op\":\"=\",\"value\":\"2024-02-29\"}", "2"},
        {"{\"column\":\"day\",\"op\":\"=\",\"value\":\"2024\"}", "1 2 3"},
        {"{\"column\":\"day\",\"op\":\"=\",\"value\":2024}", "1 2 3"},
        {"{\"column\":\"day\",\"op\":\"!=\",\"value\":2024}", "4 5 6"},
        {"{\"column\":\"day\",\"op\":\"<=\",\"value\":\"2024-02-29\"}", "1 2 6"},
        {"{\"column\":\"day\",\"op\":\"<=\",\"value\":\"2024-02\"}", "1 2 6"},
        {"{\"column\":\"day\",\"op\":\">\",\"value\":\"2024-02\"}", "3 4"},
        {"{\"column\":\"day\",\"op\":\">=\",\"value\":\"2024-03-01T09:30\"}", "3 4"},
        {"{\"column\":\"day\",\"op\":\">\",\"value\":\"2024-03-01T09:30\"}", "4"},
        {"{\"column\":\"day\",\"op\":\"between\",\"value\":[\"2024-02\",\"2024\"]}", "2 3"},
        {"{\"column\":\"day\",\"op\":\"in\",\"value\":[\"2023\",\"2025-01\"]}", "4 6"},
        {"{\"column\":\"day\",\"op\":\"not_in\",\"value\":[\"2023\",\"2025-01\"]}", "1 2 3 5"},
        {"{\"column\":\"day\",\"op\":\"is_null\"}", "5"},
        {"{\"column\":\"code\",\"op\":\"=\",\"value\":\"12\"}", "1 4"},
        {"{\"column\":\"code\",\"op\":\"=\",\"value\":12}", "1 4"},
        {"{\"column\":\"code\",\"op\":\"=\",\"value\":\"012\"}", "2"},
        {"{\"column\":\"code\",\"op\":\"in\",\"value\":[\"A1\",12]}", "1 3 4"},
        {"{\"column\":\"year\",\"op\":\">=\",\"value\":\"2000\"}", "2 3 6"},
        {"{\"column\":\"flag\",\"op\":\"=\",\"value\":true}", "1 3 6"},
        {"{\"column\":\"flag\",\"op\":\"!=\",\"value\":true}", "2 4 5"},
        {"{\"column\":\"year\",\"op\":\"=\",\"value\":1999},{\"column\":\"flag\",\"op\":\"=\",\"value\":"
         "false}",
         "5"},
        {"", "1 2 3 4 5 6"},
    };
    struct dash_world w;
    open_world(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_ids(&w, cases[i].filter, cases[i].ids);
    dash_close(&w);
}

static void what_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *filter, *part;
    } cases[] = {
        {"{\"column\":\"regoin\",\"op\":\"=\",\"value\":1}", "did you mean \"region\"?"},
        {"{\"column\":\"zzzzzz\",\"op\":\"=\",\"value\":1}", "it has \"id\", \"region\""},
        {"{\"op\":\"=\",\"value\":1}", "a filter is an object"},
        {"5", "a filter is an object"},
        {"{\"column\":\"region\",\"op\":\"like\",\"value\":1}", "the op \"like\""},
        {"{\"column\":\"region\",\"value\":1}", "has no op"},
        {"{\"column\":\"region\",\"op\":\"=\"}", "has no value"},
        {"{\"column\":\"region\",\"op\":\"=\",\"value\":null}", "needs texts, numbers"},
        {"{\"column\":\"region\",\"op\":\"=\",\"value\":[\"a\"]}", "needs one value"},
        {"{\"column\":\"region\",\"op\":\"in\",\"value\":\"a\"}", "needs an array"},
        {"{\"column\":\"region\",\"op\":\"in\",\"value\":[]}", "has no values"},
        {"{\"column\":\"region\",\"op\":\"in\",\"value\":[{}]}", "needs texts, numbers"},
        {"{\"column\":\"region\",\"op\":\"<\",\"value\":\"M\"}", "which have no order"},
        {"{\"column\":\"amount\",\"op\":\"<\",\"value\":\"many\"}", "\"many\" is none"},
        {"{\"column\":\"amount\",\"op\":\"<\",\"value\":1e999}", "too large"},
        {"{\"column\":\"amount\",\"op\":\"between\",\"value\":[5]}", "needs two values"},
        {"{\"column\":\"amount\",\"op\":\"between\",\"value\":[5,1]}", "the larger value first"},
        {"{\"column\":\"day\",\"op\":\"between\",\"value\":[\"2024-03\",\"2024-01\"]}",
         "the larger value first"},
        {"{\"column\":\"day\",\"op\":\"=\",\"value\":\"2024-02-30\"}", "\"2024-02-30\" is none"},
        {"{\"column\":\"day\",\"op\":\">\",\"value\":\"soon\\u202e\"}", "compares dates"},
        {"{\"column\":\"region\",\"op\":\"=\",\"value\":\"a\\u0000b\"}", "NUL"},
    };
    struct dash_world w;
    open_world(&w);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[2000];
        struct al_err err = {0};
        snprintf(json, sizeof json, "[{\"column\":\"id\",\"op\":\">\",\"value\":0},%s]", cases[i].filter);
        assert_int_equal(read_filters(&w, json, true, &err), -1);
        assert_int_equal(err.code, AL_INVALID_INPUT);
        if (!strstr(err.msg, cases[i].part) && !strstr(err.hint, cases[i].part))
            fail_msg("%s: %s (%s)", cases[i].filter, err.msg, err.hint);
        /* Of a plan only this one is left out. */
        assert_int_equal(read_filters(&w, json, false, &err), 0);
        assert_int_equal(w.d.plan.n_filters, 1);
        assert_int_equal(w.d.n_notes, 1);
        assert_int_equal(w.d.n_missing,
                         strstr(cases[i].filter, "oin") || strstr(cases[i].filter, "zzz") ? 1 : 0);
    }
    dash_close(&w);
}

/* Each that names no column is compared with all names there are; a plan of a megabyte has 20,000 of them. */
static void of_a_plan_the_first_hundred_filters_are_looked_at(void **state)
{
    (void)state;
    struct dash_world w;
    struct al_err err = {0};
    open_world(&w);
    for (int more = 0; more < 2; more++) {
        autobuf struct al_buf json = AL_BUF_INIT(1 << 20);
        for (int i = 0; i < 99 + more; i++)
            al_buf_addf(&json, "%s{\"column\":\"none%d\",\"op\":\"is_null\"}", i ? "," : "[", i);
        al_buf_adds(&json, ",{\"column\":\"id\",\"op\":\"=\",\"value\":1}]");
        al_buf_addc(&json, '\0');
        assert_int_equal(read_filters(&w, json.p, false, &err), 0);
        assert_int_equal(w.d.plan.n_filters, 1 - more);
    }
    dash_close(&w);
}

static void filters_are_bounded(void **state)
{
    (void)state;
    struct dash_world w;
    struct al_err err = {0};
    autobuf struct al_buf json = AL_BUF_INIT(1 << 20);
    open_world(&w);
    for (int i = 0; i < 17; i++)
        al_buf_addf(&json, "%s{\"column\":\"id\",\"op\":\">\",\"value\":%d}", i ? "," : "[", i);
    al_buf_adds(&json, "]");
    al_buf_addc(&json, '\0');
    assert_int_equal(read_filters(&w, json.p, true, &err), -1);
    assert_non_null(strstr(err.msg, "more than 16"));
    assert_int_equal(read_filters(&w, json.p, false, &err), 0);
    assert_int_equal(w.d.plan.n_filters, 16);
    al_buf_clear(&json);
    for (int i = 0; i < 101; i++)
        al_buf_addf(&json, "%s%d", i ? "," : "[{\"column\":\"id\",\"op\":\"in\",\"value\":[", i);
    al_buf_adds(&json, "]}]");
    al_buf_addc(&json, '\0');
    assert_int_equal(read_filters(&w, json.p, true, &err), -1);
    assert_non_null(strstr(err.msg, "more than 100"));
    al_buf_clear(&json);
    al_buf_adds(&json, "[");
    for (int i = 0; i < 2; i++) {
        al_buf_adds(&json, i ? ",{\"column\":\"region\",\"op\":\"in\",\"value\":["
                             : "{\"column\":\"region\",\"op\":\"in\",\"value\":[");
        for (int k = 0; k < 99; k++)
            al_buf_addf(&json, "%s\"%0150d\"", k ? "," : "", k);
        al_buf_adds(&json, "]}");
    }
    al_buf_adds(&json, "]");
    al_buf_addc(&json, '\0');
    assert_int_equal(read_filters(&w, json.p, true, &err), -1);
    assert_non_null(strstr(err.msg, "8,000 bytes"));
    assert_int_equal(read_filters(&w, "{}", true, &err), -1);
    dash_close(&w);
}

static void assert_words(struct dash_world *w, const char *filter, const char *english, const char *spanish)
{
    struct al_err err = {0};
    for (int i = 0; i < 2; i++) {
        autobuf struct al_buf out = AL_BUF_INIT(1 << 16);
        char json[1000];
        snprintf(json, sizeof json, "[%s]", filter);
        assert_int_equal(read_filters(w, json, true, &err), 0);
        w->d.plan.spanish = i == 1;
        al_filter_words(&w->d, &w->d.plan.filters[0], &out);
        al_buf_addc(&out, '\0');
        assert_string_equal(out.p, i ? spanish : english);
        /* As written, it is read again. */
        autobuf struct al_buf written = AL_BUF_INIT(1 << 16);
        struct al_jw jw;
        al_jw_init(&jw, &written);
        al_filter_write(&w->d, &w->d.plan.filters[0], &jw);
        al_buf_addc(&written, '\0');
        assert_string_equal(written.p, filter);
    }
}

static void filters_read_as_sentences(void **state)
{
    (void)state;
    struct dash_world w;
    open_world(&w);
    assert_words(&w, "{\"column\":\"region\",\"op\":\"=\",\"value\":\"North\"}", "Region is North",
                 "Region es North");
    assert_words(&w, "{\"column\":\"region\",\"op\":\"in\",\"value\":[\"a\",\"b\",\"c\"]}",
                 "Region is a, b or c", "Region es a, b o c");
    assert_words(&w,
                 "{\"column\":\"region\",\"op\":\"not_in\",\"value\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\","
                 "\"7\",\"8\"]}",
                 "Region is not 1, 2, 3, 4, 5 and 3 more", "Region no es 1, 2, 3, 4, 5 y 3 más");
    assert_words(&w, "{\"column\":\"day\",\"op\":\">=\",\"value\":\"2024-03\"}", "Day is 2024-03 or later",
                 "Day es 2024-03 o posterior");
    assert_words(&w, "{\"column\":\"amount\",\"op\":\"<\",\"value\":1.50}", "amount is under 1.50",
                 "amount es menor que 1.50");
    assert_words(&w, "{\"column\":\"amount\",\"op\":\"between\",\"value\":[1,2]}",
                 "amount is between 1 and 2", "amount está entre 1 y 2");
    assert_words(&w, "{\"column\":\"region\",\"op\":\"is_null\"}", "Region has no value",
                 "Region no tiene valor");
    dash_close(&w);
}

/* A chart of twelve days in a file of years has days on its axis. */
static void filters_narrow_the_span_of_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *filters, *first, *last;
    } cases[] = {
        {"[{\"column\":\"day\",\"op\":\"between\",\"value\":[\"2024-02-01\",\"2024-02-12\"]}]",
         "2024-02-01T00:00", "2024-02-13T00:00"},
        {"[{\"column\":\"day\",\"op\":\"=\",\"value\":\"2024-02\"}]", "2024-02-01T00:00", "2024-03-01T00:00"},
        {"[{\"column\":\"day\",\"op\":\">=\",\"value\":\"2024\"},{\"column\":\"day\",\"op\":\"<\",\"value\":"
         "\"2024-06\"}]",
         "2024-01-01T00:00", "2024-07-01T00:00"},
        {"[{\"column\":\"day\",\"op\":\"!=\",\"value\":\"2024\"}]", "2023-12-31T23:59", "2025-01-01T00:00"},
        {"[{\"column\":\"day\",\"op\":\">\",\"value\":\"2031\"}]", "2023-12-31T23:59", "2025-01-01T00:00"},
        {"[{\"column\":\"region\",\"op\":\"=\",\"value\":\"2024\"}]", "2023-12-31T23:59", "2025-01-01T00:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dash_world w;
        struct al_err err = {0};
        open_world(&w);
        snprintf(w.columns[DAY].first, sizeof w.columns[DAY].first, "2023-12-31T23:59");
        snprintf(w.columns[DAY].last, sizeof w.columns[DAY].last, "2025-01-01T00:00");
        assert_int_equal(read_filters(&w, cases[i].filters, true, &err), 0);
        al_filters_narrow(&w.d);
        assert_string_equal(w.columns[DAY].first, cases[i].first);
        assert_string_equal(w.columns[DAY].last, cases[i].last);
        dash_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_op_keeps_its_rows),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(filters_are_bounded),
        cmocka_unit_test(of_a_plan_the_first_hundred_filters_are_looked_at),
        cmocka_unit_test(filters_read_as_sentences),
        cmocka_unit_test(filters_narrow_the_span_of_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
