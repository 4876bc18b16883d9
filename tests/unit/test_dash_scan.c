/* The one scan says what each widget's statement says. ALISIO_DASH_ROUNDS: how many random datasets. */
#include "test.h"

#include "dash_world.h"

#include "base/mem.h"
#include "base/text.h"

#include <sqlite3.h>
#include <stdio.h>

static void the_scan_says_what_each_statement_says(void **state)
{
    (void)state;
    const char *rounds = getenv("ALISIO_DASH_ROUNDS");
#ifdef AL_ASAN
    int64_t n = 60;
#else
    int64_t n = 150;
#endif
    if (rounds)
        assert_true(al_parse_int(al_str_of(rounds), 1, 10000000, &n));
    for (int64_t i = 0; i < n; i++) {
        struct dash_world w;
        dash_open(&w, (uint64_t)i + 1, i % 10 == 9 ? 0 : i % 10 == 8 ? 1500 : 20 + (unsigned)i % 150);
        for (int k = 0; k < 4; k++) {
            dash_random_plan(&w);
            dash_scan(&w);
            dash_check(&w);
            dash_check_cube(&w);
        }
        dash_close(&w);
    }
}

/* --- limits --- */

static void open_columns(struct dash_world *w, const char *sql, const char *const *names,
                         const char *const *types, int n, uint64_t rows)
{
    dash_open_sql(w, sql);
    for (int i = 0; i < n; i++)
        dash_column(w, i, names[i], types[i], 0);
    w->d.catalog.rows = rows;
}

static struct al_widget *add(struct dash_world *w, enum al_widget_type type, enum al_agg agg, int metric,
                             int dimension)
{
    struct al_widget *x = &w->d.plan.widgets[w->d.plan.n_widgets++];
    *x = dash_widget(type);
    x->agg = agg;
    x->metric = metric;
    x->dimension = dimension;
    return x;
}

static const char *const two[] = {"name", "amount"}, *const two_types[] = {"text", "integer"};

static void more_groups_than_are_kept_are_counted_by_the_statement(void **state)
{
    (void)state;
    struct dash_world w;
    open_columns(&w,
                 "CREATE TABLE data(name, amount); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                 "FROM n WHERE i < 210000) "
                 "INSERT INTO data SELECT 'name ' || i, i % 1000 FROM n; CREATE VIEW data_values AS SELECT * "
                 "FROM data",
                 two, two_types, 2, 210000);
    w.columns[1].has_range = true;
    w.columns[1].max = 1000;
    struct al_widget *x = add(&w, AL_W_HBAR, AL_AGG_SUM, 1, 0);
    x->other = true;
    add(&w, AL_W_KPI, AL_AGG_SUM, 1, -1);
    w.d.plan.chips[0] = 0;
    w.d.plan.n_chips = 1;
    dash_scan(&w);
    dash_check(&w);
    const struct al_result *r = &w.d.results[0];
    assert_int_equal(r->groups, 210000);
    assert_true(r->has_other && r->n_labels == 11 && r->rows == 210000 && r->left_out == 0);
    double sum = 0;
    for (size_t i = 0; i < r->n_labels; i++)
        sum += r->values[i];
    assert_true(sum == (double)w.d.results[1].value.i);
    assert_null(w.d.cube);
    dash_close(&w);
}

static const char *const five[] = {"a", "b", "c", "d", "amount"}, *const five_types[] = {"integer", "integer",
                                                                                         "integer", "integer",
                                                                                         "integer"};

static void too_many_cells_cost_the_last_chips(void **state)
{
    (void)state;
    struct dash_world w;
    open_columns(
        &w,
        "CREATE TABLE data(a, b, c, d, amount); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM "
        "n WHERE i < 40000) "
        "INSERT INTO data SELECT i % 12, i / 12 % 11, nullif(i / 132 % 12, 3), i / 1584 % 7, i % 97 FROM n;"
        "CREATE VIEW data_values AS SELECT * FROM data",
        five, five_types, 5, 40001);
    for (int i = 0; i < 4; i++)
        w.d.plan.chips[i] = i;
    w.d.plan.n_chips = 4;
    add(&w, AL_W_KPI, AL_AGG_SUM, 4, -1);
    add(&w, AL_W_KPI, AL_AGG_AVG, 4, -1);
    add(&w, AL_W_KPI, AL_AGG_RATIO, 4, -1)->over = 0;
    add(&w, AL_W_HBAR, AL_AGG_MAX, 4, 3);
    dash_scan(&w);
    dash_check(&w);
    dash_check_cube(&w);
    /* a × b × c are 1,584, and those by d 7 times as many; with all four the key figures alone would be
     * 44,352 cells. */
    assert_true(w.d.cube && w.d.cube->n_chips == 3 && w.d.cube->chips[2] == 2);
    assert_int_equal(w.d.cube->rows.n_cells, 1584);
    assert_int_equal(w.d.cube->n_cells, 1584 * 4 + 1584 * 7);
    assert_int_equal(w.d.cube->n_values[2], 12);
    assert_int_equal(w.d.cube->values[2][11].n, 0);
    dash_forget(&w);
    /* A column that has more values than a chip may have; and one with a single value. */
    w.d.plan.chips[0] = 4;
    w.d.plan.chips[1] = 3;
    w.d.plan.n_chips = 2;
    add(&w, AL_W_HBAR, AL_AGG_SUM, 4, 0);
    dash_scan(&w);
    dash_check_cube(&w);
    assert_true(w.d.cube && w.d.cube->n_chips == 1 && w.d.cube->chips[0] == 3);
    w.d.plan.no_rows = true;
    w.d.cube = NULL;
    dash_scan(&w);
    assert_null(w.d.cube);
    dash_close(&w);
}

/* It would take the chips from all others. */
static void a_cross_tab_of_too_many_pairs_is_not_counted_again(void **state)
{
    static const char *const names[] = {"a", "x", "y", "c1", "c2", "c3", "amount"}, *const types[] = {
                                                                                        "text",    "integer",
                                                                                        "integer", "integer",
                                                                                        "integer", "integer",
                                                                                        "integer"};
    (void)state;
    struct dash_world w;
    open_columns(
        &w,
        "CREATE TABLE data(a, x, y, c1, c2, c3, amount);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 65999) "
        "INSERT INTO data SELECT NULL, i / 256, i % 256, i % 3, 0, 0, 1 FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999) "
        "INSERT INTO data SELECT 'a' || i % 100, NULL, NULL, i % 9, 1 + i / 9 % 8, i / 100 % 9, 2 FROM n;"
        "CREATE VIEW data_values AS SELECT * FROM data",
        names, types, 7, 86000);
    for (int i = 0; i < 3; i++)
        w.d.plan.chips[i] = 3 + i;
    w.d.plan.n_chips = 3;
    add(&w, AL_W_HBAR, AL_AGG_SUM, 6, 0);
    add(&w, AL_W_HEAT, AL_AGG_SUM, 6, 1)->by = 2;
    dash_scan(&w);
    dash_check(&w);
    dash_check_cube(&w);
    assert_true(w.d.cube && w.d.cube->widgets[0].there && !w.d.cube->widgets[1].there);
    dash_close(&w);
}

static void a_wide_widget_is_not_counted_again(void **state)
{
    (void)state;
    struct dash_world w;
    open_columns(
        &w,
        "CREATE TABLE data(name, amount); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 5100) "
        "INSERT INTO data SELECT 'name ' || i, i % 3 FROM n; CREATE VIEW data_values AS SELECT * FROM data",
        two, two_types, 2, 5100);
    w.d.plan.chips[0] = 1;
    w.d.plan.n_chips = 1;
    add(&w, AL_W_HBAR, AL_AGG_SUM, 1, 0);
    add(&w, AL_W_KPI, AL_AGG_SUM, 1, -1);
    dash_scan(&w);
    dash_check(&w);
    dash_check_cube(&w);
    assert_true(w.d.cube && !w.d.cube->widgets[0].there && w.d.cube->widgets[1].there);
    dash_close(&w);
}

static void a_sum_that_is_too_large_loses_its_widget_alone(void **state)
{
    (void)state;
    struct dash_world w;
    open_columns(&w,
                 "CREATE TABLE data(name, amount); INSERT INTO data VALUES ('a', 9000000000000000000), ('a', "
                 "9000000000000000000), ('b', 1);"
                 "CREATE VIEW data_values AS SELECT * FROM data",
                 two, two_types, 2, 3);
    w.columns[1].has_range = true; /* and it is no such thing */
    add(&w, AL_W_HBAR, AL_AGG_SUM, 1, 0);
    add(&w, AL_W_KPI, AL_AGG_SUM, 1, -1);
    add(&w, AL_W_KPI, AL_AGG_AVG, 1, -1);
    dash_scan(&w);
    dash_check(&w);
    assert_true(w.d.results[0].failed && w.d.results[1].failed && !w.d.results[2].failed);
    w.d.plan.n_widgets = 2;
    struct al_err err = {0};
    assert_int_equal(al_scan(&w.d, &err), -1);
    assert_int_equal(err.code, AL_QUERY_ERROR);
    w.columns[1].has_range = false; /* nothing is known: reals */
    dash_scan(&w);
    dash_check(&w);
    assert_true(w.d.results[1].value.kind == AL_DASH_CELL_REAL && w.d.results[1].value.d > 1.7e19);
    dash_close(&w);
}

static void an_axis_of_time_has_at_most_400_periods(void **state)
{
    (void)state;
    static const char *const names[] = {"day", "amount"}, *const types[] = {"date", "integer"};
    struct dash_world w;
    open_columns(&w,
                 "CREATE TABLE data(day, amount); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 "
                 "FROM n WHERE i < 450) "
                 "INSERT INTO data SELECT date('2020-01-01', '+' || i || ' days'), 1 FROM n; CREATE VIEW "
                 "data_values AS SELECT * FROM data",
                 names, types, 2, 451);
    w.columns[0].time = AL_TIME_DATE;
    struct al_widget *x = add(&w, AL_W_LINE, AL_AGG_SUM, 1, 0);
    x->bucket = AL_BUCKET_DAY;
    x = add(&w, AL_W_LINE, AL_AGG_SUM, 1, 0);
    x->bucket = AL_BUCKET_WEEK;
    dash_scan(&w);
    dash_check(&w);
    assert_non_null(w.d.results[0].failed);
    assert_int_equal(w.d.results[1].n_labels, 65);
    dash_close(&w);
}

static void tell(void *ud, const char *stage, uint64_t done, uint64_t total)
{
    uint64_t *told = ud;
    assert_string_equal(stage, "reading");
    assert_true(done > *told && total == 3000001);
    *told = done;
}

static int stop(void *ud)
{
    (void)ud;
    return 1;
}

static void reading_is_told_of_and_can_be_ended(void **state)
{
    (void)state;
    struct dash_world w;
    uint64_t told = 0;
    struct al_err err = {0};
    open_columns(&w,
                 "CREATE TABLE one(i); INSERT INTO one VALUES (1); CREATE VIEW data_values AS WITH RECURSIVE "
                 "n(i) AS (SELECT 0 UNION ALL "
                 "SELECT i + 1 FROM n WHERE i < 3000000) SELECT 'x' || (i % 7) AS name, i AS amount FROM n",
                 two, two_types, 2, 3000001);
    w.columns[1].has_range = true;
    add(&w, AL_W_HBAR, AL_AGG_SUM, 1, 0);
    w.out.progress = tell;
    w.out.ud = &told;
    dash_scan(&w);
    assert_true(told > 0);
    w.out.progress = NULL;
    sqlite3_progress_handler(w.db, 1000, stop, NULL);
    assert_int_equal(al_scan(&w.d, &err), -1);
    assert_int_equal(err.code, AL_QUERY_TIMEOUT);
    dash_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scan_says_what_each_statement_says),
        cmocka_unit_test(more_groups_than_are_kept_are_counted_by_the_statement),
        cmocka_unit_test(too_many_cells_cost_the_last_chips),
        cmocka_unit_test(a_wide_widget_is_not_counted_again),
        cmocka_unit_test(a_cross_tab_of_too_many_pairs_is_not_counted_again),
        cmocka_unit_test(a_sum_that_is_too_large_loses_its_widget_alone),
        cmocka_unit_test(an_axis_of_time_has_at_most_400_periods),
        cmocka_unit_test(reading_is_told_of_and_can_be_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
