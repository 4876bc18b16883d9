/* The statements that a page shows, and a small table whose numbers were counted by hand. */
#include "test.h"

#include "dash_world.h"
#include "dashboard/sql_int.h"

#include <math.h>
#include <stdio.h>

/* Sales of a shop. Without a region: row 6. Texts left in amount: row 7. */
static const char shop[] = "CREATE TABLE data(region, channel, day, year, amount, visits, month);"
                           "INSERT INTO data VALUES ('North', 'Web', '2024-01-15', 2022, 10, 100, "
                           "'January'), ('North', 'Shop', '2024-01-20', 2022, 5, 50, 'January'),"
                           "('South', 'Web', '2024-02-01', 2023, 20, 10, 'February'), ('South', 'Web', "
                           "'2024-04-30', 2023, 2.5, 0, 'April'),"
                           "('East', 'Shop', '2024-02-30', 2023, 1, 20, 'February'), (NULL, 'Shop', "
                           "'2024-02-10', 2024, 100, 40, 'February'),"
                           "('West', '', '2024-02-11', 2024, '1,234', 5, 'February'), ('West', 'Phone', "
                           "NULL, 2024, NULL, 7, 'March');"
                           "CREATE VIEW data_values AS SELECT * FROM data";

enum {
    REGION,
    CHANNEL,
    DAY,
    YEAR,
    AMOUNT,
    VISITS,
    MONTH
};

static void open_shop(struct dash_world *w)
{
    dash_open_sql(w, shop);
    w->d.catalog.rows = 8;
    dash_column(w, REGION, "region", "text", 0);
    dash_column(w, CHANNEL, "channel", "text", 0);
    dash_column(w, DAY, "day", "date", 0);
    dash_column(w, YEAR, "year", "integer", 0);
    dash_column(w, AMOUNT, "amount", "integer", 1);
    dash_column(w, VISITS, "visits", "integer", 0);
    dash_column(w, MONTH, "month", "text", 0);
    w->columns[DAY].time = AL_TIME_DATE;
    w->columns[YEAR].time = AL_TIME_YEAR;
    w->columns[MONTH].natural = AL_NATURAL_MONTH;
    w->columns[AMOUNT].has_range = w->columns[VISITS].has_range = true;
    w->columns[AMOUNT].max = w->columns[VISITS].max = 100;
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

static void assert_sql(struct dash_world *w, const struct al_widget *x, const char *want)
{
    autobuf struct al_buf sql = AL_BUF_INIT(1 << 16);
    al_sql_widget(&w->d, x, &sql);
    al_buf_addc(&sql, '\0');
    assert_string_equal(sql.p, want);
    must(&w->q, sql.p);
}

static void a_widget_is_one_statement(void **state)
{
    (void)state;
    struct dash_world w;
    open_shop(&w);
    assert_sql(&w, add(&w, AL_W_KPI, AL_AGG_SUM, AMOUNT, -1),
               "SELECT sum(\"amount\") AS value\nFROM \"data_values\"\nWHERE typeof(\"amount\") IN "
               "('integer', 'real')");
    assert_sql(&w, add(&w, AL_W_KPI, AL_AGG_COUNT, -1, -1), "SELECT count(*) AS value\nFROM \"data_values\"");
    assert_sql(&w, add(&w, AL_W_HBAR, AL_AGG_SUM, VISITS, REGION),
               "SELECT \"region\" AS label, sum(\"visits\") AS value\nFROM \"data_values\"\nWHERE \"visits\" "
               "IS NOT NULL\n"
               "  AND \"region\" <> ''\nGROUP BY 1\nORDER BY 2 DESC, 1\nLIMIT 10");
    assert_sql(&w, add(&w, AL_W_DONUT, AL_AGG_COUNT, -1, CHANNEL),
               "SELECT \"channel\" AS label, count(*) AS value\nFROM \"data_values\"\nWHERE \"channel\" <> "
               "''\nGROUP BY 1\n"
               "HAVING count(*) > 0\nORDER BY 2 DESC, 1\nLIMIT 10");
    struct al_widget *x = add(&w, AL_W_LINE, AL_AGG_SUM, VISITS, DAY);
    x->bucket = AL_BUCKET_MONTH;
    assert_sql(&w, x,
               "SELECT substr(\"day\", 1, 7) AS label, sum(\"visits\") AS value\nFROM \"data_values\"\nWHERE "
               "\"visits\" IS NOT NULL\n"
               "  AND date(substr(\"day\", 1, 10)) = substr(\"day\", 1, 10)\nGROUP BY 1\nORDER BY 1");
    x = add(&w, AL_W_KPI, AL_AGG_SUM, VISITS, -1);
    x->latest = true;
    x->clock = YEAR;
    assert_sql(&w, x,
               "SELECT sum(\"visits\") AS value\nFROM \"data_values\"\nWHERE \"visits\" IS NOT NULL\n"
               "  AND \"year\" BETWEEN 1000 AND 9999\n  AND CAST(\"year\" AS INTEGER) = (SELECT "
               "max(CAST(\"year\" AS INTEGER))\n"
               "FROM \"data_values\"\nWHERE \"visits\" IS NOT NULL\n  AND \"year\" BETWEEN 1000 AND 9999)");
    x = add(&w, AL_W_KPI, AL_AGG_RATIO, AMOUNT, -1);
    x->over = VISITS;
    assert_sql(&w, x,
               "SELECT 1.0 * sum(\"amount\") / sum(\"visits\") AS value\nFROM \"data_values\"\n"
               "WHERE typeof(\"amount\") IN ('integer', 'real') AND \"visits\" IS NOT NULL");
    x = add(&w, AL_W_TABLE, AL_AGG_SUM, -1, -1);
    x->columns[0] = REGION;
    x->columns[1] = DAY;
    x->n_columns = 2;
    x->limit = 3;
    assert_sql(&w, x, "SELECT \"region\", \"day\"\nFROM \"data_values\"\nLIMIT 3");
    dash_close(&w);
}

static void names_and_texts_are_quoted(void **state)
{
    (void)state;
    autobuf struct al_buf out = AL_BUF_INIT(1000);
    al_sql_name(&out, AL_STR("a\"; DROP TABLE data; --"));
    al_sql_text(&out, AL_STR("it's ' OR 1=1"));
    al_buf_addc(&out, '\0');
    assert_string_equal(out.p, "\"a\"\"; DROP TABLE data; --\"'it''s '' OR 1=1'");
}

static void assert_labels(const struct al_result *r, const char *labels, const double *values)
{
    autobuf struct al_buf own = AL_BUF_INIT(1000);
    for (size_t i = 0; i < r->n_labels; i++) {
        al_buf_adds(&own, i ? "," : "");
        al_buf_add_str(&own, r->labels[i]);
    }
    al_buf_addc(&own, '\0');
    assert_string_equal(own.p, labels);
    for (size_t i = 0; i < r->n_labels * r->n_series; i++)
        if (!(r->values[i] == values[i] || (isnan(r->values[i]) && isnan(values[i]))))
            fail_msg("%s: value %zu is %g, not %g", labels, i, r->values[i], values[i]);
}

static void the_numbers_are_those_counted_by_hand(void **state)
{
    (void)state;
    struct dash_world w;
    open_shop(&w);
    add(&w, AL_W_KPI, AL_AGG_SUM, AMOUNT, -1); /* 10 + 5 + 20 + 2.5 + 1 + 100 */
    add(&w, AL_W_KPI, AL_AGG_AVG, VISITS, -1); /* 232 / 8 */
    add(&w, AL_W_KPI, AL_AGG_COUNT, -1, -1);
    add(&w, AL_W_KPI, AL_AGG_DISTINCT, REGION, -1);
    struct al_widget *x = add(&w, AL_W_KPI, AL_AGG_RATIO, AMOUNT, -1);
    x->over = VISITS; /* 138.5 / (100 + 50 + 10 + 0 + 20 + 40) */
    x = add(&w, AL_W_KPI, AL_AGG_SUM, VISITS, -1);
    x->latest = true;
    x->clock = YEAR; /* of 2024: 40 + 5 + 7 */
    add(&w, AL_W_HBAR, AL_AGG_SUM, AMOUNT, REGION);
    x = add(&w, AL_W_LINE, AL_AGG_SUM, AMOUNT, DAY);
    x->bucket = AL_BUCKET_MONTH;
    x = add(&w, AL_W_DONUT, AL_AGG_SUM, VISITS, REGION);
    x->limit = 2;
    x->other = true;
    x = add(&w, AL_W_BAR, AL_AGG_COUNT, -1, MONTH);
    x->order = AL_ORDER_KEY;
    x = add(&w, AL_W_HEAT, AL_AGG_SUM, AMOUNT, REGION);
    x->by = CHANNEL;
    w.d.plan.chips[0] = CHANNEL;
    w.d.plan.n_chips = 1;
    dash_scan(&w);
    dash_check(&w);
    dash_check_cube(&w);
    const struct al_result *r = w.d.results;
    assert_true(r[0].value.kind == AL_DASH_CELL_REAL && r[0].value.d == 138.5 && r[0].rows == 6);
    assert_true(r[1].value.d == 29 && r[1].rows == 8);
    assert_true(r[2].value.kind == AL_DASH_CELL_INT && r[2].value.i == 8);
    assert_true(r[3].value.i == 4);
    assert_true(r[4].value.d == 138.5 / 220);
    assert_true(r[5].value.i == 52 && r[5].rows == 3);
    assert_labels(&r[6], "South,North,East", (double[]){22.5, 15, 1});
    assert_int_equal(r[6].left_out, 1);
    assert_true(r[6].groups == 3 && !r[6].whole && !r[6].has_other);
    /* February 30 is no day; March has no rows: a gap. */
    assert_labels(&r[7], "2024-01,2024-02,2024-03,2024-04", (double[]){15, 120, NAN, 2.5});
    assert_int_equal(r[7].left_out, 1);
    assert_labels(&r[8], "North,East,", (double[]){150, 20, 22});
    assert_true(r[8].has_other && r[8].groups == 4 && r[8].whole);
    assert_labels(&r[9], "January,February,March,April", (double[]){2, 4, 1, 1});
    assert_labels(&r[10], "South,North,East", (double[]){22.5, 10, NAN, NAN, 5, 1});
    assert_true(al_str_is(r[10].series[0], "Web") && al_str_is(r[10].series[1], "Shop") &&
                r[10].n_series == 2);
    const struct al_cube *c = w.d.cube;
    assert_true(c && c->n_chips == 1 && c->chips[0] == CHANNEL && c->n_values[0] == 4);
    assert_true(al_str_is(c->values[0][0], "Phone") && al_str_is(c->values[0][2], "Web") &&
                c->values[0][3].n == 0);
    /* KPI of amounts: Phone has none, Shop 5 + 1 + 100, Web 32.5. */
    assert_int_equal(c->widgets[0].n_cells, 2);
    assert_true(c->widgets[0].cells[0].chip[0] == 1 && c->widgets[0].cells[0].sum == 106 &&
                c->widgets[0].cells[0].n == 3);
    assert_true(c->widgets[0].cells[1].chip[0] == 2 && c->widgets[0].cells[1].sum == 32.5);
    assert_false(c->widgets[3].there);
    dash_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_widget_is_one_statement),
        cmocka_unit_test(names_and_texts_are_quoted),
        cmocka_unit_test(the_numbers_are_those_counted_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
