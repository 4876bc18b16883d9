/* What a fresh plan makes of kinds of files: panels, events, totals among their parts. */
#include "dash_plan_rig.h"

static void plan_of(struct rig *r, const char *request)
{
    rig_request(r, request);
    rig_plan(r);
}

static void count_rows(struct rig *r)
{
    int c = rig_other(r, "rownames", AL_ROLE_IDENTIFIER, r->d.catalog.rows);
    r->columns[c].has_range = r->columns[c].integers = true;
    r->columns[c].min = 1;
    r->columns[c].max = (double)r->d.catalog.rows;
}

static void levels_of_a_panel_count_in_its_last_period_whatever_numbers_its_rows(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 4060); /* 219 countries, 19 years, some of them not there */
    count_rows(&r);
    rig_year(&r, "year", 1995, 2013);
    rig_other(&r, "country", AL_ROLE_TEXT, 219);
    rig_measure(&r, "population", AL_ADDS_ACROSS);
    plan_of(&r, "{}");
    assert_has(&r, "kpi sum population latest");
    rig_free(&r);
}

static void levels_of_a_list_with_a_date_for_each_row_are_added_up(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1000);
    count_rows(&r);
    rig_year(&r, "joined", 2001, 2019);
    rig_dimension(&r, "region", 5);
    rig_measure(&r, "balance", AL_ADDS_ACROSS);
    plan_of(&r, "{}");
    assert_has(&r, "kpi sum balance;\n");
    rig_free(&r);
}

static void rows_lead_where_only_an_age_could(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 5000);
    rig_date(&r, "incident_date", "2016-01-01", "2019-12-31");
    rig_dimension(&r, "force type", 9);
    rig_measure(&r, "subject_age", AL_ADDS_NEVER);
    plan_of(&r, "{}");
    assert_has(&r, "kpi count *;\nkpi avg subject_age;\n");
    assert_has(&r, "area count * incident_date/");
    assert_has(&r, "hbar count * force type 9;\nhbar avg subject_age force type 9;\n");
    plan_of(&r, "{\"goal\":\"subject age by force type\"}");
    assert_has(&r, "kpi avg subject_age;\n");
    rig_free(&r);
}

static void totals_among_their_parts_are_left_out_unless_the_goal_names_them(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 800);
    int c = rig_dimension(&r, "entity", 11);
    r.columns[c].total = AL_STR("All natural disasters");
    rig_measure(&r, "deaths", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_int_equal(r.d.plan.n_filters, 1);
    assert_int_equal(r.d.plan.filters[0].op, AL_OP_NE);
    rig_assert_noted(&r, "hold the sum of the others");
    rig_free(&r);

    rig_init(&r, 800);
    c = rig_dimension(&r, "entity", 11);
    r.columns[c].total = AL_STR("All natural disasters");
    rig_measure(&r, "deaths", AL_ADDS_ALWAYS);
    plan_of(&r, "{\"goal\":\"deaths by entity, all natural disasters too\"}");
    assert_int_equal(r.d.plan.n_filters, 0);
    rig_free(&r);
}

static void eighty_quarters_are_no_ranking(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 24000);
    rig_natural(&r, "quarter", 80, AL_NATURAL_RANGE);
    rig_dimension(&r, "region", 76);
    rig_measure(&r, "trips", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_has(&r, "hbar sum trips region 10;\n");
    rig_free(&r);
}

static void a_table_of_rows_has_no_running_number(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 70);
    count_rows(&r);
    rig_dimension(&r, "dose", 7);
    rig_measure(&r, "weight", AL_ADDS_NEVER);
    plan_of(&r, "{\"goal\":\"explore\"}");
    assert_has(&r, "table dose,weight;\n");
    rig_free(&r);
}

static void of_groups_and_outcomes_alone_both_are_crossed(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 451);
    rig_dimension(&r, "group", 2);
    rig_dimension(&r, "outcome", 2);
    plan_of(&r, "{}");
    assert_has(&r, "count * group by outcome");
    rig_free(&r);
}

static void two_names_of_each_row_are_one_ranking(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 51);
    rig_dimension(&r, "state full", 51);
    rig_other(&r, "state", AL_ROLE_TEXT, 51);
    rig_measure(&r, "votes", AL_ADDS_ALWAYS);
    plan_of(&r, "{}");
    assert_has(&r, "hbar sum votes state full 10;\n");
    assert_not(&r, "hbar sum votes state 10;\n");
    rig_free(&r);
}

static void rows_are_not_ranked_by_what_is_equally_frequent(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 555);
    int c = rig_dimension(&r, "month", 5);
    r.columns[c].n_top = 5;
    for (size_t i = 0; i < 5; i++)
        r.columns[c].top_count[i] = 111;
    rig_dimension(&r, "status", 4);
    plan_of(&r, "{}");
    assert_has(&r, "hbar count * status 4;\n");
    assert_not(&r, "count * month 5;\n");
    rig_free(&r);
}

static void a_goal_that_counts_leads_with_the_count(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 5000);
    rig_dimension(&r, "region", 6);
    rig_measure(&r, "revenue", AL_ADDS_ALWAYS);
    rig_other(&r, "customer_id", AL_ROLE_IDENTIFIER, 700);
    plan_of(&r, "{\"goal\":\"how many sheep by region\"}");
    assert_has(&r, "kpi count *;\n");
    assert_has(&r, "hbar count * region 6;\n");
    rig_free(&r);

    rig_init(&r, 5000);
    rig_dimension(&r, "region", 6);
    rig_measure(&r, "revenue", AL_ADDS_ALWAYS);
    rig_other(&r, "customer_id", AL_ROLE_IDENTIFIER, 700);
    plan_of(&r, "{\"goal\":\"number of customers per region\"}");
    assert_has(&r, "hbar count_distinct customer_id region 6;\n");
    rig_free(&r);
}

static void of_what_is_not_there_rows_are_counted_rather_than_something_averaged(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 5000);
    rig_dimension(&r, "region", 6);
    rig_measure(&r, "height", AL_ADDS_NEVER);
    plan_of(&r, "{\"goal\":\"smokers by region\"}");
    assert_has(&r, "hbar count * region 6;\n");
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_of_a_panel_count_in_its_last_period_whatever_numbers_its_rows),
        cmocka_unit_test(levels_of_a_list_with_a_date_for_each_row_are_added_up),
        cmocka_unit_test(rows_lead_where_only_an_age_could),
        cmocka_unit_test(totals_among_their_parts_are_left_out_unless_the_goal_names_them),
        cmocka_unit_test(eighty_quarters_are_no_ranking),
        cmocka_unit_test(a_goal_that_counts_leads_with_the_count),
        cmocka_unit_test(of_what_is_not_there_rows_are_counted_rather_than_something_averaged),
        cmocka_unit_test(a_table_of_rows_has_no_running_number),
        cmocka_unit_test(of_groups_and_outcomes_alone_both_are_crossed),
        cmocka_unit_test(two_names_of_each_row_are_one_ranking),
        cmocka_unit_test(rows_are_not_ranked_by_what_is_equally_frequent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
