/* What a fresh plan shows, and that it reads back as it was written. */
#include "dash_plan_rig.h"

#include <stdio.h>
#include <stdlib.h>

static void shop(struct rig *r)
{
    rig_init(r, 1000);
    rig_date(r, "order_date", "2023-01-01", "2024-12-31");
    rig_dimension(r, "region", 7);
    rig_dimension(r, "channel", 3);
    rig_dimension(r, "category", 12);
    rig_measure(r, "revenue", AL_ADDS_ALWAYS);
    rig_measure(r, "unit_price", AL_ADDS_NEVER);
    rig_measure(r, "profit", AL_ADDS_ALWAYS);
    rig_other(r, "customer_id", AL_ROLE_IDENTIFIER, 400);
}

static void plan_of(struct rig *r, const char *request)
{
    rig_request(r, request);
    rig_plan(r);
}

static size_t count(const struct rig *r, enum al_widget_type t)
{
    size_t n = 0;
    for (size_t i = 0; i < r->d.plan.n_widgets; i++)
        n += r->d.plan.widgets[i].type == t;
    return n;
}

static void executive_has_figures_a_trend_a_ranking_and_parts(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{}");
    assert_string_equal(r.d.plan.purpose, "executive");
    assert_has(&r, "kpi sum revenue;\nkpi avg unit_price;\nkpi sum profit;\nkpi count *;\n");
    assert_has(&r, "area sum revenue order_date/month;\n");
    assert_has(&r, "hbar sum revenue region 7;\n");
    assert_has(&r, "donut sum revenue channel 5 other;\n");
    assert_int_equal(count(&r, AL_W_TABLE), 0);
    rig_assert_quiet(&r);
    rig_free(&r);
}

static void operational_has_the_rows_behind_the_figures(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"monitor operations\"}");
    assert_has(&r, "kpi count *;\ntable "
                   "order_date,region,channel,category,revenue,unit_price,profit;\nhbar");
    assert_has(&r, "line sum revenue order_date/month;\n");
    rig_free(&r);
}

static void analytical_compares_series_and_measures(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"explore\"}");
    assert_has(&r, "line sum revenue order_date/month;\n");
    assert_has(&r, "line sum revenue order_date/month by channel;\n");
    assert_has(&r, "scatter revenue vs unit_price;\n");
    assert_has(&r, "hbar sum revenue region by channel 7;\n");
    assert_int_equal(r.d.plan.widgets[r.d.plan.n_widgets - 1].type, AL_W_TABLE);
    rig_free(&r);
}

static void without_measures_rows_are_counted(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 500);
    rig_date(&r, "day", "2024-01-01", "2024-03-01");
    rig_dimension(&r, "city", 20);
    rig_dimension(&r, "kind", 4);
    plan_of(&r, "{}");
    assert_has(&r, "kpi count *;\narea count * day/day;\nline count * day/day by kind;\nhbar count * city "
                   "10;\ndonut count * kind 5 other;\n");
    rig_free(&r);
}

static void without_dimensions_there_are_trends(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 500);
    rig_date(&r, "day", "2020-01-01", "2024-03-01");
    rig_measure(&r, "rain", AL_ADDS_ALWAYS);
    rig_measure(&r, "temperature", AL_ADDS_NEVER);
    plan_of(&r, "{}");
    assert_has(&r, "area sum rain day/month;\nline avg temperature day/month;\n");
    rig_free(&r);
}

static void measures_alone_are_points_and_rows(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 500);
    rig_measure(&r, "height", AL_ADDS_NEVER);
    rig_measure(&r, "weight", AL_ADDS_NEVER);
    plan_of(&r, "{}");
    assert_has(
        &r,
        "kpi avg height;\nkpi avg weight;\nkpi count *;\nscatter height vs weight;\ntable height,weight;\n");
    rig_free(&r);
}

static void what_says_nothing_is_not_there(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 500);
    rig_date(&r, "day", "2024-01-01", "2024-01-01");
    rig_dimension(&r, "country", 1);
    rig_measure(&r, "sales", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_not(&r, "day/");
    assert_not(&r, "sum sales country");
    rig_free(&r);
}

static void a_lopsided_kind_is_no_donut(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1000);
    rig_dimension(&r, "city", 30);
    int paid = rig_dimension(&r, "paid", 2);
    r.columns[paid].top[0] = AL_STR("yes");
    r.columns[paid].top_count[0] = 995;
    r.columns[paid].n_top = 1;
    rig_measure(&r, "sales", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_not(&r, "donut");
    rig_free(&r);
}

static void a_natural_order_is_kept(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 5000);
    rig_natural(&r, "hour", 24, AL_NATURAL_NUMBER);
    rig_natural(&r, "age_group", 6, AL_NATURAL_RANGE);
    rig_measure(&r, "trips", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_has(&r, "bar sum trips hour 24 key;\n");
    assert_not(&r, "donut");
    rig_free(&r);
}

static void a_level_is_never_added_over_time(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 693);
    rig_year(&r, "year", 1955, 2005);
    rig_dimension(&r, "country", 63);
    rig_dimension(&r, "cluster", 6);
    rig_measure(&r, "population", AL_ADDS_ACROSS);
    plan_of(&r, "{}");
    assert_has(&r, "kpi sum population latest year;\n");
    assert_has(&r, "area sum population year/year;\n");
    assert_has(&r, "hbar sum population latest year country 10;\n");
    assert_has(&r, "sum population latest year cluster");
    rig_free(&r);
}

static void a_list_of_things_has_no_last_period(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1001);
    int joined = rig_date(&r, "joined", "2020-01-05", "2024-06-01");
    rig_other(&r, "customer", AL_ROLE_IDENTIFIER, 1001);
    rig_dimension(&r, "segment", 4);
    rig_measure(&r, "balance", AL_ADDS_ACROSS);
    r.columns[joined].distinct = 700;
    plan_of(&r, "{}");
    assert_not(&r, "latest");
    assert_has(&r, "kpi sum balance;\n");
    rig_free(&r);
}

static void a_level_by_month_is_not_added_up_to_quarters(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 120);
    int month = rig_date(&r, "month", "2006-01-01", "2015-12-01");
    rig_measure(&r, "employees", AL_ADDS_ACROSS);
    r.columns[month].distinct = 120;
    plan_of(&r, "{}");
    assert_has(&r, "area sum employees month/month;\n");
    rig_free(&r);
    rig_init(&r, 4000);
    int day = rig_date(&r, "day", "2014-01-01", "2024-12-31");
    rig_measure(&r, "stock", AL_ADDS_ACROSS);
    r.columns[day].distinct = 4000;
    plan_of(&r, "{}");
    assert_has(&r, "line avg stock day/quarter;\n"); /* too many days for buckets of their own */
    rig_free(&r);
}

static void kinds_of_one_size_are_no_parts(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 150);
    rig_dimension(&r, "species", 3);
    int site = rig_dimension(&r, "site", 3);
    for (int i = 0; i < 3; i++)
        r.columns[site].top_count[i] = 50;
    r.columns[site].n_top = 3;
    rig_measure(&r, "length", AL_ADDS_NEVER);
    plan_of(&r, "{}");
    assert_not(&r, "donut");
    assert_has(&r, "hbar avg length site 3;\n");
    rig_free(&r);
}

static void averages_have_no_parts(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 400);
    rig_dimension(&r, "origin", 3);
    rig_dimension(&r, "maker", 30);
    rig_measure(&r, "mileage", AL_ADDS_NEVER);
    plan_of(&r, "{}");
    assert_has(&r, "hbar avg mileage origin 3;\n");
    assert_not(&r, "donut avg");
    rig_free(&r);
}

static void names_of_rows_are_ranked(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 3000);
    rig_other(&r, "title", AL_ROLE_TEXT, 2990);
    rig_dimension(&r, "genre", 12);
    rig_measure(&r, "gross", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_has(&r, "hbar sum gross title 10;\n");
    assert_has(&r, "hbar sum gross genre 12;\n");
    rig_free(&r);
}

/* --- goals --- */

static void the_goal_chooses_measure_and_groups(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"profit by category and month\"}");
    assert_has(&r, "kpi sum profit;\n");
    assert_has(&r, "area sum profit order_date/month;\n");
    assert_has(&r, "hbar sum profit category 12;\n");
    assert_int_equal(r.d.goal.n_not_shown, 0);
    rig_free(&r);
}

static void a_small_group_by_month_is_lines(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"revenue by channel and week\"}");
    assert_has(&r, "line sum revenue order_date/week by channel;\n");
    rig_free(&r);
}

static void two_groups_are_a_cross_tab(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"revenue by region and channel\"}");
    assert_has(&r, "hbar sum revenue region by channel 7;\n");
    rig_free(&r);
}

static void a_ratio_leads_when_it_comes_first(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"margin % by region\"}");
    assert_has(&r, "kpi ratio profit/revenue%;\nkpi sum profit;\nkpi sum revenue;\n");
    assert_has(&r, "hbar ratio profit/revenue% region 7;\n");
    assert_not(&r, "donut ratio");
    rig_free(&r);
    shop(&r);
    plan_of(&r, "{\"goal\":\"revenue and margin % by region\"}");
    assert_has(&r, "kpi sum revenue;\nkpi ratio profit/revenue%;\n");
    assert_has(&r, "hbar sum revenue region 7;\n");
    assert_has(&r, "hbar ratio profit/revenue% region 7;\n");
    rig_free(&r);
}

static void a_flag_is_a_share(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 800);
    rig_flag(&r, "survived");
    rig_dimension(&r, "class", 3);
    rig_measure(&r, "fare", AL_ADDS_NEVER);
    plan_of(&r, "{\"goal\":\"survival by class\"}");
    assert_has(&r, "kpi avg survived;\n");
    assert_has(&r, "hbar avg survived class 3;\n");
    rig_free(&r);
}

static void what_has_many_values_is_counted_when_named(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"customers by region\"}");
    assert_has(&r, "kpi count_distinct customer_id;\n");
    assert_int_equal(r.d.goal.n_not_shown, 0);
    rig_free(&r);
}

static void what_is_named_and_cannot_be_shown_is_told(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_other(&r, "latitude", AL_ROLE_PLACE, 900);
    plan_of(&r, "{\"goal\":\"revenue by latitude\"}");
    assert_int_equal(r.d.goal.n_not_shown, 1);
    assert_true(al_str_is(r.d.goal.not_shown[0], "Latitude"));
    rig_free(&r);
}

static void a_goal_that_is_cut_says_so(void **s)
{
    struct rig r;
    char *text = malloc(3000);
    (void)s;
    shop(&r);
    (void)snprintf(text, 3000, "{\"locale\":\"es\",\"goal\":\"%02500d\"}", 7);
    plan_of(&r, text);
    rig_assert_noted(&r, "2.000 caracteres");
    rig_free(&r);
    free(text);
}

/* --- requests --- */

static void by_asks_for_a_cross_tab(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"by\":[\"category\",\"channel\"]}");
    assert_has(&r, "hbar sum revenue category by channel 12;\n");
    rig_free(&r);
    shop(&r);
    rig_dimension(&r, "shop", 15);
    plan_of(&r, "{\"by\":[\"region\",\"shop\"]}");
    assert_has(&r, "heat sum revenue region by shop 7;\n");
    rig_free(&r);
    shop(&r);
    plan_of(&r, "{\"by\":[\"channel\",\"order_date\"],\"goal\":\"unit price\"}");
    assert_has(&r, "line avg unit_price order_date/month by channel;\n");
    rig_free(&r);
}

static void by_that_cannot_be_names_what_can(void **s)
{
    static const struct {
        const char *request, *msg, *hint;
    } cases[] = {
        {"{\"by\":[\"regoin\",\"channel\"]}", "regoin", "region"},
        {"{\"by\":[\"region\",\"revenue\"]}", "revenue", "channel"},
        {"{\"by\":[\"region\",\"region\"]}", "twice", "two columns"},
        {"{\"by\":[\"region\"]}", "two names", "channel"},
        {"{\"by\":\"region\"}", "two names", "channel"},
        {"{\"by\":[1,{}]}", "two names", "channel"},
    };
    (void)s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        shop(&r);
        rig_request(&r, cases[i].request);
        assert_int_equal(al_plan_make(&r.d, al_json_get(r.d.request, "by"), &r.err), -1);
        assert_int_equal(r.err.code, AL_INVALID_INPUT);
        assert_non_null(strstr(r.err.msg, cases[i].msg));
        assert_non_null(strstr(r.err.hint, cases[i].hint));
        rig_free(&r);
    }
}

static void no_rows_leaves_rows_out(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"explore\",\"noRows\":true}");
    assert_int_equal(count(&r, AL_W_TABLE) + count(&r, AL_W_SCATTER), 0);
    assert_int_equal(r.d.plan.n_chips, 0);
    rig_assert_quiet(&r);
    rig_free(&r);
}

static void a_filtered_dimension_is_no_chart(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"filters\":[{\"column\":\"region\",\"op\":\"=\",\"value\":\"North\"}]}");
    assert_not(&r, "revenue region");
    assert_has(&r, "hbar sum revenue channel 3;\n");
    for (size_t i = 0; i < r.d.plan.n_chips; i++)
        assert_int_not_equal(r.d.plan.chips[i], 1);
    rig_free(&r);
}

static void chips_are_small_dimensions_and_flags(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_flag(&r, "member");
    rig_dimension(&r, "city", 50);
    plan_of(&r, "{}");
    assert_int_equal(r.d.plan.n_chips, 4);
    assert_non_null(strstr(rig_write(&r), "\"chips\":[\"region\",\"channel\",\"category\",\"member\"]"));
    rig_free(&r);
}

/* --- words --- */

static const char *title(const struct rig *r, const char *id)
{
    static char text[400];
    const struct al_widget *w = rig_widget(r, id);
    if (!w) {
        fail_msg("no widget %s", id);
        return "";
    }
    (void)snprintf(text, sizeof text, "%.*s", AL_FMT(w->title));
    return text;
}

static void titles_are_in_the_plans_language(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    plan_of(&r, "{\"goal\":\"revenue by channel and month, margin %\"}");
    assert_true(al_str_is(r.d.plan.title, "Executive dashboard"));
    assert_string_equal(title(&r, "kpi-revenue"), "Total revenue");
    assert_string_equal(title(&r, "kpi-rows"), "Rows");
    assert_string_equal(title(&r, "kpi-profit-per-revenue"), "Profit as % of revenue");
    assert_string_equal(title(&r, "kpi-unit-price"), "Average unit price");
    assert_string_equal(title(&r, "revenue-month"), "Total revenue per month");
    assert_string_equal(title(&r, "revenue-month-by-channel"), "Total revenue per month by channel");
    rig_free(&r);
    shop(&r);
    plan_of(&r, "{\"locale\":\"es-CO\",\"goal\":\"analizar\"}");
    assert_true(al_str_is(r.d.plan.title, "Panel analítico"));
    assert_string_equal(title(&r, "kpi-revenue"), "Total de revenue");
    assert_string_equal(title(&r, "revenue-month"), "Total de revenue por mes");
    assert_string_equal(title(&r, "share-revenue-by-channel"), "Distribución de revenue por channel");
    assert_string_equal(title(&r, "detail"), "Detalle");
    rig_free(&r);
}

static void names_keep_their_capitals_and_lose_what_is_said_twice(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 100);
    int gdp = rig_measure(&r, "gdp", AL_ADDS_ALWAYS), total = rig_measure(&r, "total_cost", AL_ADDS_ALWAYS);
    int avg = rig_measure(&r, "average_age", AL_ADDS_NEVER);
    r.columns[gdp].display = AL_STR("GDP");
    plan_of(&r, "{}");
    assert_string_equal(title(&r, "kpi-gdp"), "Total GDP");
    assert_string_equal(title(&r, "kpi-total-cost"), "Total cost");
    assert_string_equal(title(&r, "kpi-average-age"), "Average age");
    (void)total, (void)avg;
    rig_free(&r);
}

static void a_title_has_80_characters_at_most(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 100);
    int m = rig_measure(&r, "m", AL_ADDS_ALWAYS), g = rig_dimension(&r, "g", 4);
    r.columns[m].display = AL_STR("éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé");
    r.columns[g].display = r.columns[m].display;
    plan_of(&r, "{}");
    for (size_t i = 0; i < r.d.plan.n_widgets; i++)
        assert_in_range(al_utf8_count(r.d.plan.widgets[i].title), 1, 80);
    rig_free(&r);
}

/* --- any dataset, any goal --- */

static unsigned rolls;

static unsigned roll(unsigned n)
{
    rolls = rolls * 1664525u + 1013904223u;
    return (rolls >> 16) % n;
}

static void any_dataset(struct rig *r)
{
    char name[32];
    rig_init(r, 1 + roll(3000));
    for (unsigned i = roll(5); i > 0; i--) {
        (void)snprintf(name, sizeof name, "measure_%u", i);
        int c = rig_measure(r, name, (enum al_dash_adds)roll(3));
        r->columns[c].min = roll(2) ? -5 : 0;
    }
    for (unsigned i = roll(5); i > 0; i--) {
        (void)snprintf(name, sizeof name, "kind_%u", i);
        rig_natural(r, name, 1 + roll(60), (enum al_dash_natural)(roll(2) ? 0 : roll(5)));
    }
    if (roll(2))
        rig_date(r, "day", "2019-03-04", roll(2) ? "2019-03-20T10:00" : "2024-01-01");
    if (roll(3) == 0)
        rig_year(r, "year", 1950, 1950 + (int)roll(60));
    if (roll(2))
        rig_flag(r, "flag");
    if (roll(2))
        rig_other(r, "title", AL_ROLE_TEXT, r->d.catalog.rows);
    if (roll(2))
        rig_other(r, "code", AL_ROLE_IDENTIFIER, r->d.catalog.rows / 2);
}

static const char *any_goal(void)
{
    static const char *const goals[] = {"{}",
                                        "{\"goal\":\"explore measure 1 by kind 1 and kind 2\"}",
                                        "{\"goal\":\"monitor measure 1 per measure 2 by kind 1 and month\"}",
                                        "{\"goal\":\"flag by kind 2, title, code\",\"locale\":\"es\"}",
                                        "{\"goal\":\"average measure 2 and measure 3 by day\"}",
                                        "{\"goal\":\"analizar\",\"noRows\":true}",
                                        "{\"goal\":\"measure 1 as share of measure 2 by year and title\"}"};
    return goals[roll(sizeof goals / sizeof *goals)];
}

static void check_limits(struct rig *r)
{
    const struct al_plan *p = &r->d.plan;
    assert_in_range(p->n_widgets, 1, AL_DASH_WIDGETS);
    assert_in_range(count(r, AL_W_KPI), 0, AL_DASH_KPIS);
    for (size_t i = 0; i < p->n_widgets; i++) {
        assert_true(p->widgets[i].id[0] >= 'a' && p->widgets[i].id[0] <= 'z');
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(p->widgets[i].id, p->widgets[k].id);
            assert_false(al_widget_same(&p->widgets[i], &p->widgets[k], false));
        }
    }
}

static void a_plan_reads_back_as_it_was_written(void **s)
{
    (void)s;
    for (unsigned i = 0; i < 800; i++) {
        struct rig r;
        rolls = i;
        any_dataset(&r);
        rig_request(&r, any_goal());
        rig_plan(&r);
        check_limits(&r);
        char *first = strdup(rig_write(&r));
        rig_assert_quiet(&r);
        if (!rig_read(&r, first))
            fail_msg("%u: not read: %s", i, first);
        if (r.d.n_notes)
            fail_msg("%u: %.*s", i, AL_FMT(r.d.notes[0]));
        assert_string_equal(rig_write(&r), first);
        free(first);
        rig_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executive_has_figures_a_trend_a_ranking_and_parts),
        cmocka_unit_test(operational_has_the_rows_behind_the_figures),
        cmocka_unit_test(analytical_compares_series_and_measures),
        cmocka_unit_test(without_measures_rows_are_counted),
        cmocka_unit_test(without_dimensions_there_are_trends),
        cmocka_unit_test(measures_alone_are_points_and_rows),
        cmocka_unit_test(what_says_nothing_is_not_there),
        cmocka_unit_test(a_lopsided_kind_is_no_donut),
        cmocka_unit_test(a_natural_order_is_kept),
        cmocka_unit_test(a_level_is_never_added_over_time),
        cmocka_unit_test(a_list_of_things_has_no_last_period),
        cmocka_unit_test(a_level_by_month_is_not_added_up_to_quarters),
        cmocka_unit_test(kinds_of_one_size_are_no_parts),
        cmocka_unit_test(averages_have_no_parts),
        cmocka_unit_test(names_of_rows_are_ranked),
        cmocka_unit_test(the_goal_chooses_measure_and_groups),
        cmocka_unit_test(a_small_group_by_month_is_lines),
        cmocka_unit_test(two_groups_are_a_cross_tab),
        cmocka_unit_test(a_ratio_leads_when_it_comes_first),
        cmocka_unit_test(a_flag_is_a_share),
        cmocka_unit_test(what_has_many_values_is_counted_when_named),
        cmocka_unit_test(what_is_named_and_cannot_be_shown_is_told),
        cmocka_unit_test(a_goal_that_is_cut_says_so),
        cmocka_unit_test(by_asks_for_a_cross_tab),
        cmocka_unit_test(by_that_cannot_be_names_what_can),
        cmocka_unit_test(no_rows_leaves_rows_out),
        cmocka_unit_test(a_filtered_dimension_is_no_chart),
        cmocka_unit_test(chips_are_small_dimensions_and_flags),
        cmocka_unit_test(titles_are_in_the_plans_language),
        cmocka_unit_test(names_keep_their_capitals_and_lose_what_is_said_twice),
        cmocka_unit_test(a_title_has_80_characters_at_most),
        cmocka_unit_test(a_plan_reads_back_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
