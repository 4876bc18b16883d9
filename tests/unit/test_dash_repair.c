/* Plans that were edited: each rule, and that nothing that comes in breaks it. */
#include "dash_plan_rig.h"

#include <stdio.h>
#include <stdlib.h>

static void shop(struct rig *r)
{
    rig_init(r, 1000);
    rig_date(r, "order_date", "2023-01-01", "2024-12-31");
    rig_dimension(r, "region", 7);
    rig_dimension(r, "channel", 3);
    rig_dimension(r, "shop", 40);
    rig_measure(r, "revenue", AL_ADDS_ALWAYS);
    rig_measure(r, "unit_price", AL_ADDS_NEVER);
    rig_measure(r, "profit", AL_ADDS_ALWAYS);
    rig_measure(r, "stock", AL_ADDS_ACROSS);
    rig_other(r, "customer_id", AL_ROLE_IDENTIFIER, 400);
    rig_other(r, "latitude", AL_ROLE_PLACE, 900);
    rig_natural(r, "weekday", 7, AL_NATURAL_WEEKDAY);
    rig_year(r, "model_year", 1990, 2020);
}

/* Widgets in, widgets and a note out; "" for no note at all. */
struct repair_case {
    const char *widgets, *shown, *note;
};

static void check(const struct repair_case *c, const char *request)
{
    struct rig r;
    char json[4096];
    shop(&r);
    rig_request(&r, request);
    (void)snprintf(json, sizeof json, "{\"version\":1,\"widgets\":[%s]}", c->widgets);
    bool read = rig_read(&r, json);
    if (!*c->shown && read)
        fail_msg("%s gives\n%s", c->widgets, rig_show(&r));
    if (*c->shown) {
        if (!read)
            fail_msg("%s gives nothing: %s", c->widgets, r.d.n_notes ? r.d.notes[0].p : r.err.msg);
        assert_has(&r, c->shown);
    }
    if (*c->note)
        rig_assert_noted(&r, c->note);
    else
        rig_assert_quiet(&r);
    rig_free(&r);
}

static void each(const struct repair_case *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&list[i], "{\"spec\":{}}");
}
#define EACH(list) each((list), sizeof(list) / sizeof *(list))

static void rows_can_only_be_counted(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"kpi\",\"metric\":\"*\",\"aggregation\":\"sum\"}", "kpi count *;",
         "rows can only be counted"},
        {"{\"type\":\"kpi\",\"metric\":\"*\",\"aggregation\":\"count\"}", "kpi count *;", ""},
        {"{\"type\":\"kpi\"}", "kpi count *;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"*\",\"aggregation\":\"ratio\",\"over\":\"profit\"}", "kpi count *;",
         "counted"},
    };
    (void)s;
    EACH(cases);
}

static void what_is_no_measure_is_counted_by_its_values(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"kpi\",\"metric\":\"customer_id\",\"aggregation\":\"sum\"}",
         "kpi count_distinct customer_id;", "customer_id is no measure"},
        {"{\"type\":\"kpi\",\"metric\":\"model_year\",\"aggregation\":\"sum\"}",
         "kpi count_distinct model_year;", "no measure"},
        {"{\"type\":\"kpi\",\"metric\":\"latitude\",\"aggregation\":\"avg\"}", "kpi count_distinct latitude;",
         "no measure"},
        {"{\"type\":\"kpi\",\"metric\":\"region\",\"aggregation\":\"max\"}", "kpi count_distinct region;",
         "no measure"},
        {"{\"type\":\"kpi\",\"metric\":\"customer_id\"}", "kpi count_distinct customer_id;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"customer_id\",\"aggregation\":\"count\"}", "kpi count customer_id;",
         ""},
    };
    (void)s;
    EACH(cases);
}

static void a_sum_that_a_person_asks_for_is_shown_with_a_note(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"kpi\",\"metric\":\"unit_price\",\"aggregation\":\"sum\"}", "kpi sum unit_price;",
         "does not add up"},
        {"{\"type\":\"kpi\",\"metric\":\"unit_price\"}", "kpi avg unit_price;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"revenue\"}", "kpi sum revenue;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"revenue\",\"aggregation\":\"median\"}", "kpi sum revenue;",
         "aggregation cannot be median; it is now sum"},
        {"{\"type\":\"kpi\",\"metric\":\"revenue\",\"aggregation\":\"average\"}", "kpi avg revenue;", ""},
    };
    (void)s;
    EACH(cases);
}

static void levels_count_in_the_last_period(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"kpi\",\"metric\":\"stock\",\"aggregation\":\"sum\"}",
         "kpi sum stock latest order_date;", "only the last period of order_date"},
        {"{\"type\":\"kpi\",\"metric\":\"stock\",\"aggregation\":\"sum\",\"latest\":false}", "kpi sum stock;",
         ""},
        {"{\"type\":\"kpi\",\"metric\":\"stock\",\"latest\":true,\"clock\":\"model_year\"}",
         "kpi sum stock latest model_year;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"stock\",\"latest\":true,\"clock\":\"region\"}",
         "kpi sum stock latest order_date;", ""},
        {"{\"type\":\"line\",\"metric\":\"stock\",\"dimension\":\"order_date\"}",
         "line sum stock order_date/month;", ""},
        {"{\"type\":\"line\",\"metric\":\"stock\",\"dimension\":\"order_date\",\"latest\":true}",
         "line sum stock order_date/month;", "latest was left out"},
        {"{\"type\":\"kpi\",\"metric\":\"stock\",\"latest\":7}", "kpi sum stock latest order_date;",
         "latest was left out"},
    };
    (void)s;
    EACH(cases);
}

static void a_ratio_has_two_measures(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"kpi\",\"metric\":\"profit\",\"aggregation\":\"ratio\",\"over\":\"revenue\",\"percent\":"
         "true}",
         "kpi ratio profit/revenue%;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"profit\",\"over\":\"revenue\"}", "kpi ratio profit/revenue;", ""},
        {"{\"type\":\"kpi\",\"metric\":\"profit\",\"aggregation\":\"ratio\"}", "kpi avg profit;",
         "metric and over"},
        {"{\"type\":\"kpi\",\"metric\":\"profit\",\"aggregation\":\"ratio\",\"over\":\"profit\"}",
         "kpi avg profit;", "two different"},
        {"{\"type\":\"kpi\",\"metric\":\"profit\",\"aggregation\":\"ratio\",\"over\":\"region\"}",
         "kpi avg profit;", "two different"},
        {"{\"type\":\"donut\",\"metric\":\"profit\",\"aggregation\":\"ratio\",\"over\":\"revenue\","
         "\"dimension\":\"channel\"}",
         "hbar ratio profit/revenue channel", "does not add up to a whole"},
    };
    (void)s;
    EACH(cases);
}

static void lines_are_for_times(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"region\"}", "bar sum revenue region 7;",
         "region is no time"},
        {"{\"type\":\"area\",\"metric\":\"revenue\",\"dimension\":\"weekday\"}",
         "bar sum revenue weekday 7 key;", "no time"},
        {"{\"type\":\"line\",\"metric\":\"revenue\"}", "line sum revenue order_date/month;",
         "it is now order_date"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"order_date\"}",
         "bar sum revenue order_date/month;", "type cannot be hbar"},
        {"{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"model_year\"}",
         "bar sum revenue model_year/year;", ""},
    };
    (void)s;
    EACH(cases);
}

static void pies_are_parts_of_a_whole(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"pie\",\"metric\":\"revenue\",\"dimension\":\"order_date\"}",
         "bar sum revenue order_date/month;", "periods"},
        {"{\"type\":\"donut\",\"metric\":\"unit_price\",\"aggregation\":\"avg\",\"dimension\":\"channel\"}",
         "hbar avg unit_price channel", "does not add up to a whole"},
        {"{\"type\":\"donut\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"limit\":9}",
         "hbar sum revenue shop 9 other;", "at most 6 slices"},
        {"{\"type\":\"pie\",\"metric\":\"revenue\",\"dimension\":\"shop\"}", "pie sum revenue shop 5 other;",
         ""},
        {"{\"type\":\"pie\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"limit\":6}",
         "pie sum revenue shop 5 other;", "limit is now 5"},
        {"{\"type\":\"pie\",\"metric\":\"revenue\",\"dimension\":\"channel\",\"by\":\"region\"}",
         "pie sum revenue channel 5", "by was left out"},
        {"{\"type\":\"doughnut\",\"metric\":\"*\",\"dimension\":\"channel\",\"other\":false}",
         "donut count * channel 5;", ""},
    };
    (void)s;
    EACH(cases);
}

static void buckets_suit_their_times(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"bucket\":\"week\"}",
         "line sum revenue order_date/week;", ""},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"bucket\":\"day\"}",
         "line sum revenue order_date/week;", "bucket is now week: day does not fit order_date"},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"bucket\":\"hour\"}",
         "line sum revenue order_date/month;", "hour does not fit"},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"bucket\":\"decade\"}",
         "line sum revenue order_date/month;", "bucket was left out"},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"model_year\",\"bucket\":\"month\"}",
         "line sum revenue model_year/year;", "month does not fit model_year"},
        {"{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"region\",\"bucket\":\"month\"}",
         "bar sum revenue region 7;", "its dimension is no time"},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"bucket\":3}",
         "order_date/month;", "bucket was left"},
    };
    (void)s;
    EACH(cases);
}

static void limits_and_orders_are_held(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\"}", "hbar sum revenue shop 10;",
         ""},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"limit\":0}",
         "hbar sum revenue shop 1;", "limit is now 1"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"limit\":21}",
         "hbar sum revenue shop 20;", "limit is now 20"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"limit\":-1e999}",
         "hbar sum revenue shop 1;", "limit is now 1"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"limit\":\"all\"}",
         "hbar sum revenue shop 10;", "limit was left out"},
        {"{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"weekday\",\"limit\":31,\"order\":\"key\"}",
         "bar sum revenue weekday 31 key;", ""},
        {"{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"weekday\",\"order\":\"up\"}",
         "bar sum revenue weekday 7 key;", "order cannot be up; it is now key"},
        {"{\"type\":\"table\",\"columns\":[\"region\"],\"limit\":500}", "table region;", "limit is now 20"},
    };
    (void)s;
    EACH(cases);
}

static void other_needs_sums_over_kinds(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"other\":true}",
         "hbar sum revenue shop 10 other;", ""},
        {"{\"type\":\"hbar\",\"metric\":\"unit_price\",\"dimension\":\"shop\",\"other\":true}",
         "hbar avg unit_price shop 10;", "other was left out"},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"other\":true}",
         "line sum revenue order_date/month;", "other was left out"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"by\":\"channel\",\"other\":"
         "true}",
         "hbar sum revenue shop by channel 10;", "other was left out"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\",\"other\":\"yes\"}",
         "hbar sum revenue shop 10;", "other was left out"},
    };
    (void)s;
    EACH(cases);
}

static void charts_need_groups(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"hbar\",\"metric\":\"revenue\"}", "", "needs a dimension"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"profit\"}", "",
         "too many different numbers"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"latitude\"}", "", "too many different"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":5}", "", "dimension was left out"},
        {"{\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"customer_id\"}",
         "hbar sum revenue customer_id 10;", ""},
    };
    (void)s;
    EACH(cases);
}

static void two_dimensions_are_stacked_or_heat_or_lines(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"region\",\"by\":\"channel\"}",
         "bar sum revenue region by channel 7;", ""},
        {"{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"region\",\"by\":\"shop\"}",
         "heat sum revenue region by shop 7;", "at most 8 kinds of shop"},
        {"{\"type\":\"bar\",\"metric\":\"unit_price\",\"dimension\":\"region\",\"by\":\"channel\"}",
         "heat avg unit_price region by channel 7;", "heat table"},
        {"{\"type\":\"heat\",\"metric\":\"revenue\",\"dimension\":\"region\"}", "hbar sum revenue region",
         "two dimensions"},
        {"{\"type\":\"heat\",\"metric\":\"revenue\",\"dimension\":\"weekday\",\"by\":\"weekday\"}",
         "bar sum revenue weekday", "it is the dimension itself"},
        {"{\"type\":\"heat\",\"metric\":\"revenue\",\"dimension\":\"region\",\"by\":\"profit\"}",
         "hbar sum revenue region", "too many different values"},
        {"{\"type\":\"heat\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"by\":\"channel\"}",
         "line sum revenue order_date/month by channel;", "type cannot be heat"},
        {"{\"type\":\"area\",\"metric\":\"unit_price\",\"dimension\":\"order_date\",\"by\":\"channel\"}",
         "line avg unit_price order_date/month by channel;", "type cannot be area"},
        {"{\"type\":\"line\",\"metric\":\"revenue\",\"dimension\":\"order_date\",\"by\":\"channel\"}",
         "line sum revenue order_date/month by channel;", ""},
        {"{\"type\":\"heatmap\",\"metric\":\"revenue\",\"dimension\":\"region\",\"by\":\"weekday\"}",
         "heat sum revenue region by weekday 7;", ""},
    };
    (void)s;
    EACH(cases);
}

static void a_scatter_has_two_measures(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"scatter\",\"x\":\"profit\",\"y\":\"revenue\"}", "scatter revenue vs profit;", ""},
        {"{\"type\":\"scatter\",\"x\":\"profit\",\"y\":\"profit\"}", "", "two different measures"},
        {"{\"type\":\"scatter\",\"x\":\"profit\"}", "", "two different measures"},
        {"{\"type\":\"scatter\",\"x\":\"profit\",\"y\":\"region\"}", "", "two different measures"},
    };
    (void)s;
    EACH(cases);
}

static void a_table_has_columns(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"table\",\"columns\":[\"region\",\"region\",\"revenue\"]}", "table region,revenue;", ""},
        {"{\"type\":\"table\",\"columns\":[]}", "", "none of its columns"},
        {"{\"type\":\"table\",\"columns\":[1,null,{}]}", "", "none of its columns"},
        {"{\"type\":\"table\",\"columns\":\"region\"}", "", "none of its columns"},
        {"{\"type\":\"table\",\"columns\":[\"region\",\"nowhere\"]}", "table region;", "no column nowhere"},
        {"{\"type\":\"table\",\"columns\":[\"order_date\",\"region\",\"channel\",\"shop\",\"revenue\",\"unit_"
         "price\",\"profit\","
         "\"stock\",\"weekday\"]}",
         "table order_date,region,channel,shop,revenue,unit_price,profit,stock;", "left out: weekday"},
    };
    (void)s;
    EACH(cases);
}

static void unknown_types_roles_and_fields_are_told(void **s)
{
    static const struct repair_case cases[] = {
        {"{\"type\":\"gauge\",\"metric\":\"revenue\"}", "", "its type is gauge; known are kpi"},
        {"{\"metric\":\"revenue\"}", "", "its type is null"},
        {"{\"type\":7}", "", "its type is 7"},
        {"{\"type\":\"gauge\",\"role\":\"kpi\",\"metric\":\"revenue\"}", "kpi sum revenue;",
         "type cannot be gauge; it is now kpi"},
        {"{\"role\":\"trend\",\"metric\":\"revenue\",\"dimension\":\"order_date\"}",
         "line sum revenue order_date/month;", ""},
        {"{\"type\":\"kpi\",\"role\":\"hero\",\"metric\":\"revenue\"}", "kpi sum revenue;",
         "role was left out"},
        {"{\"type\":\"kpi\",\"metric\":\"revenue\",\"colour\":\"red\",\"sql\":\"DROP TABLE\"}",
         "kpi sum revenue;", "Unknown fields were left out: colour, sql"},
        {"5", "", "no JSON object"},
        {"[[[]]]", "", "no JSON object"},
        {"null", "", "no JSON object"},
    };
    (void)s;
    EACH(cases);
}

static void columns_are_found_by_label_whatever_the_case(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    r.columns[1].label = AL_STR("Región de Venta");
    rig_request(&r, "{\"spec\":{}}");
    assert_true(rig_read(&r, "{\"version\":1,\"widgets\":[{\"type\":\"hbar\",\"metric\":\"REVENUE\","
                             "\"dimension\":\"region de venta\"}]}"));
    assert_has(&r, "hbar sum revenue region 7;");
    rig_free(&r);
}

static void missing_columns_are_told_once(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{}}");
    assert_true(
        rig_read(&r, "{\"version\":1,\"chips\":[\"regoin\"],\"widgets\":["
                     "{\"type\":\"hbar\",\"title\":\"One\",\"metric\":\"revenue\",\"dimension\":\"regoin\"},"
                     "{\"type\":\"kpi\",\"title\":\"Two\",\"metric\":\"nothing\"},{\"type\":\"kpi\","
                     "\"metric\":\"profit\"}]}"));
    assert_int_equal(r.d.n_missing, 2);
    assert_true(al_str_is(r.d.missing[0], "regoin") && al_str_is(r.d.missing[1], "nothing"));
    rig_assert_noted(&r, "There is no column regoin. Columns like it: region");
    rig_assert_noted(&r, "(regoin, nothing): One, Two.");
    assert_string_equal(strchr(rig_show(&r), '\n') ? "kpi" : "", "kpi");
    rig_free(&r);
}

static void a_plan_of_another_dataset_drops_what_it_cannot_show(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"like\":{\"id\":\"art_1\"}}");
    assert_true(rig_read(&r,
                         "{\"version\":1,\"sheet\":\"of another\",\"widgets\":["
                         "{\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"region\",\"by\":\"gone\"},"
                         "{\"type\":\"kpi\",\"title\":\"Gone\",\"metric\":\"lost\"}]}"));
    assert_has(&r, "bar sum revenue region 7;");
    assert_int_equal(r.d.n_missing, 2);
    assert_int_equal(r.d.n_notes, 1);
    rig_assert_noted(&r, "Gone");
    rig_free(&r);
}

static void nothing_left_is_plan_failed(void **s)
{
    static const char *const plans[] = {
        "{\"version\":1,\"widgets\":[]}",
        "{\"version\":1,\"widgets\":[{\"type\":\"kpi\",\"metric\":\"lost\"}]}"};
    (void)s;
    for (size_t i = 0; i < 2; i++) {
        struct rig r;
        shop(&r);
        rig_request(&r, "{\"like\":{}}");
        assert_false(rig_read(&r, plans[i]));
        assert_int_equal(r.err.code, AL_PLAN_FAILED);
        assert_true(strlen(r.err.hint) > 0);
        rig_free(&r);
    }
}

static void what_is_no_plan_is_refused_whole(void **s)
{
    static const struct {
        const char *plan, *note;
    } cases[] = {
        {"{\"version\":2,\"widgets\":[{\"type\":\"kpi\"}]}", "its version is 2"},
        {"{\"version\":\"1\",\"widgets\":[{\"type\":\"kpi\"}]}", "version"},
        {"{\"version\":1,\"purpose\":\"fun\",\"widgets\":[{\"type\":\"kpi\"}]}", "its purpose is fun"},
        {"{\"version\":1,\"purpose\":4,\"widgets\":[{\"type\":\"kpi\"}]}", "its purpose is 4"},
        {"{\"version\":1,\"locale\":\"e\\u0000s\",\"widgets\":[{\"type\":\"kpi\"}]}", "its locale is"},
        {"{\"version\":1,\"locale\":[],\"widgets\":[{\"type\":\"kpi\"}]}", "its locale is []"},
        {"{\"version\":1,\"sheet\":\"nowhere\",\"widgets\":[{\"type\":\"kpi\"}]}",
         "its sheet is nowhere; it may be data"},
        {"{\"version\":1,\"widgets\":{}}", "no list of widgets"},
        {"{\"version\":1}", "no list of widgets"},
        {"[]", "no JSON object"},
        {"7", "no JSON object"},
    };
    (void)s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        shop(&r);
        rig_request(&r, "{\"spec\":{}}");
        assert_false(rig_read(&r, cases[i].plan));
        rig_assert_noted(&r, cases[i].note);
        assert_int_equal(r.d.plan.n_widgets, 0);
        rig_free(&r);
    }
}

static void two_alike_are_one(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{}}");
    assert_true(rig_read(
        &r, "{\"version\":1,\"widgets\":[{\"id\":\"a\",\"type\":\"hbar\",\"metric\":\"revenue\","
            "\"dimension\":\"region\"},"
            "{\"id\":\"b\",\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"region\",\"limit\":3},"
            "{\"id\":\"c\",\"type\":\"bar\",\"metric\":\"revenue\",\"dimension\":\"region\"}]}"));
    assert_int_equal(r.d.plan.n_widgets, 2);
    rig_assert_noted(&r, "b was left out: it shows the same as a");
    rig_free(&r);
}

static void fifty_widgets_are_twelve(void **s)
{
    static const char *const aggs[] = {"sum", "avg", "min", "max"}, *const groups[] = {"region", "channel",
                                                                                       "shop", "weekday"};
    struct al_buf b = AL_BUF_INIT(1u << 20);
    struct rig r;
    (void)s;
    shop(&r);
    al_buf_adds(&b, "{\"version\":1,\"widgets\":[{\"type\":\"table\",\"columns\":[\"region\"]},");
    for (int i = 0; i < 16; i++) {
        al_buf_addf(&b, "{\"id\":\"k%d\",\"type\":\"kpi\",\"metric\":\"%s\",\"aggregation\":\"%s\"},", i,
                    i < 4    ? "revenue"
                    : i < 8  ? "profit"
                    : i < 12 ? "stock"
                             : "unit_price",
                    aggs[i % 4]);
        al_buf_addf(&b,
                    "{\"id\":\"h%d\",\"type\":\"hbar\",\"metric\":\"revenue\",\"aggregation\":\"%s\","
                    "\"dimension\":\"%s\"},",
                    i, aggs[i % 4], groups[i / 4]);
    }
    al_buf_adds(&b, "{\"type\":\"line\",\"id\":\"l\",\"metric\":\"revenue\",\"dimension\":\"order_date\"}]}");
    al_buf_addc(&b, '\0');
    rig_request(&r, "{\"spec\":{}}");
    assert_true(rig_read(&r, b.p));
    assert_int_equal(r.d.plan.n_widgets, 12);
    assert_non_null(rig_widget(&r, "k5"));
    assert_null(rig_widget(&r, "k6"));
    assert_non_null(rig_widget(&r, "l"));
    assert_null(rig_widget(&r, "detail"));
    rig_assert_noted(&r, "At most 6 figures");
    rig_assert_noted(&r, "At most 12 widgets");
    rig_free(&r);
    al_buf_free(&b);
}

static void ids_are_made_to_differ(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{}}");
    assert_true(rig_read(
        &r,
        "{\"version\":1,\"widgets\":[{\"id\":\"a\",\"type\":\"kpi\"},{\"id\":\"a\",\"type\":\"kpi\","
        "\"metric\":\"revenue\"},"
        "{\"id\":\"9 Lives!\",\"type\":\"kpi\",\"metric\":\"profit\"},"
        "{\"id\":\"<script>alert(1)</script>\\u0000\",\"type\":\"kpi\",\"metric\":\"stock\",\"latest\":true},"
        "{\"id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"type\":\"kpi\","
        "\"metric\":\"unit_price\"},"
        "{\"id\":\"\\u00e9\\u4e2d\",\"type\":\"hbar\",\"metric\":\"revenue\",\"dimension\":\"shop\"}]}"));
    assert_int_equal(r.d.plan.n_widgets, 6);
    assert_non_null(rig_widget(&r, "a-2"));
    assert_non_null(rig_widget(&r, "w-9-lives"));
    assert_non_null(rig_widget(&r, "script-alert-1-script"));
    assert_non_null(rig_widget(&r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_non_null(rig_widget(&r, "revenue-by-shop"));
    rig_assert_noted(&r, "it is now a-2");
    rig_free(&r);
}

static void made_titles_follow_the_widget_and_written_ones_stay(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{},\"locale\":\"es\"}");
    assert_true(rig_read(
        &r, "{\"version\":1,\"title\":\"Operational dashboard\",\"widgets\":["
            "{\"id\":\"a\",\"type\":\"kpi\",\"title\":\"Total "
            "revenue\",\"metric\":\"revenue\",\"aggregation\":\"avg\"},"
            "{\"id\":\"b\",\"type\":\"hbar\",\"title\":\"Where we "
            "earn\",\"metric\":\"revenue\",\"dimension\":\"region\"},"
            "{\"id\":\"c\",\"type\":\"line\",\"title\":\"Total profit per month\",\"metric\":\"profit\","
            "\"dimension\":\"order_date\",\"bucket\":\"week\"}]}"));
    assert_true(al_str_is(r.d.plan.title, "Panel ejecutivo"));
    assert_true(al_str_is(rig_widget(&r, "a")->title, "Promedio de revenue"));
    assert_true(al_str_is(rig_widget(&r, "b")->title, "Where we earn"));
    assert_true(al_str_is(rig_widget(&r, "c")->title, "Total de profit por semana"));
    rig_free(&r);
}

static void long_titles_are_cut(void **s)
{
    struct rig r;
    char json[2048], title[700];
    (void)s;
    for (size_t i = 0; i + 2 < sizeof title; i += 2)
        memcpy(title + i, "é", 2);
    title[400] = '\0';
    shop(&r);
    rig_request(&r, "{\"spec\":{}}");
    (void)snprintf(json, sizeof json,
                   "{\"version\":1,\"title\":\"%s\",\"widgets\":[{\"type\":\"kpi\",\"title\":\"%s\"}]}",
                   title, title);
    assert_true(rig_read(&r, json));
    assert_int_equal(al_utf8_count(r.d.plan.title), 120);
    assert_int_equal(al_utf8_count(r.d.plan.widgets[0].title), 80);
    rig_assert_noted(&r, "cut to 120");
    rig_assert_noted(&r, "cut to 80");
    rig_free(&r);
}

static void chips_are_columns_with_few_values(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{}}");
    assert_true(rig_read(&r, "{\"version\":1,\"chips\":[\"region\",\"region\",\"shop\",7,\"revenue\","
                             "\"channel\"],\"widgets\":[{\"type\":\"kpi\"}]}"));
    assert_int_equal(r.d.plan.n_chips, 2);
    rig_assert_noted(&r, "No chips for shop");
    rig_free(&r);
}

static void no_rows_drops_what_shows_rows(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{}}");
    assert_true(
        rig_read(&r, "{\"version\":1,\"noRows\":true,\"chips\":[\"region\"],\"widgets\":[{\"type\":\"kpi\"},"
                     "{\"type\":\"table\",\"columns\":[\"region\"]},{\"type\":\"scatter\",\"x\":\"profit\","
                     "\"y\":\"revenue\"}]}"));
    assert_string_equal(rig_show(&r),
                        "kpi count *;\nnote: Left out, because the page is to show no raw rows (noRows): "
                        "detail, revenue-vs-profit.\n");
    assert_int_equal(r.d.plan.n_chips, 0);
    rig_free(&r);
}

static void notes_are_in_the_plans_language_and_show_what_they_name(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_request(&r, "{\"spec\":{},\"locale\":\"es\"}");
    assert_true(rig_read(&r, "{\"version\":1,\"widgets\":[{\"type\":\"kpi\",\"title\":\"a\\u202eb\\u001b\","
                             "\"metric\":\"region\",\"aggregation\":\"sum\"}]}"));
    rig_assert_noted(&r, "a\\u202eb\\x1b: region no es una medida");
    rig_free(&r);
}

/* --- anything at all --- */

static unsigned rolls;

static unsigned roll(unsigned n)
{
    rolls = rolls * 1664525u + 1013904223u;
    return (rolls >> 16) % n;
}

static void any_value(struct al_buf *b)
{
    static const char *const values[] = {"null",
                                         "true",
                                         "false",
                                         "0",
                                         "-1",
                                         "1e400",
                                         "\"\"",
                                         "[]",
                                         "{}",
                                         "[[[[1]]]]",
                                         "\"*\"",
                                         "\"region\"",
                                         "\"revenue\"",
                                         "\"order_date\"",
                                         "\"stock\"",
                                         "\"shop\"",
                                         "\"kpi\"",
                                         "\"line\"",
                                         "\"heat\"",
                                         "\"donut\"",
                                         "\"sum\"",
                                         "\"ratio\"",
                                         "\"month\"",
                                         "\"key\"",
                                         "\"trend\"",
                                         "7",
                                         "\"\\ud800\"",
                                         "\"unit_price\"",
                                         "\"model_year\"",
                                         "\"nowhere\"",
                                         "\"weekday\"",
                                         "\"profit\""};
    al_buf_adds(b, values[roll(sizeof values / sizeof *values)]);
}

static void any_widget(struct al_buf *b)
{
    static const char *const types[] = {"kpi", "line",  "area", "bar",     "hbar",
                                        "pie", "donut", "heat", "scatter", "table"};
    static const char *const keys[] = {
        "metric", "aggregation", "over", "latest", "clock", "dimension", "bucket",  "by",   "order",  "limit",
        "other",  "x",           "y",    "id",     "title", "role",      "percent", "type", "columns"};
    al_buf_addf(b, "{\"type\":\"%s\"", types[roll(10)]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (roll(3) == 0)
            continue;
        al_buf_addf(b, ",\"%s\":", keys[i]);
        if (i == 18) {
            al_buf_addc(b, '[');
            any_value(b);
            al_buf_addc(b, ',');
            any_value(b);
            al_buf_addc(b, ']');
        } else {
            any_value(b);
        }
    }
    al_buf_addc(b, '}');
}

static void any_plan(struct al_buf *b)
{
    al_buf_clear(b);
    al_buf_adds(b, "{\"version\":1,\"chips\":[");
    any_value(b);
    al_buf_adds(b, "],\"widgets\":[");
    for (unsigned n = 1 + roll(6); n > 0; n--) {
        any_widget(b);
        al_buf_adds(b, n > 1 ? "," : "");
    }
    al_buf_adds(b, "]}");
    al_buf_addc(b, '\0');
}

static void what_is_repaired_needs_no_repair(void **s)
{
    struct al_buf b = AL_BUF_INIT(1u << 20);
    unsigned good = 0;
    (void)s;
    for (unsigned i = 0; i < 2000; i++) {
        struct rig r;
        rolls = i;
        shop(&r);
        rig_request(&r, "{\"spec\":{}}");
        any_plan(&b);
        if (rig_read(&r, b.p)) {
            char *first = strdup(rig_write(&r));
            good++;
            if (!rig_read(&r, first))
                fail_msg("%u: not read again: %s", i, first);
            for (size_t k = 0; k < r.d.n_notes; k++)
                if (al_str_find(r.d.notes[k], AL_STR("as the plan asks")) < 0)
                    fail_msg("%u: %.*s\n%s\n%s", i, AL_FMT(r.d.notes[k]), b.p, first);
            assert_string_equal(rig_write(&r), first);
            free(first);
        }
        rig_free(&r);
    }
    if (good < 300)
        fail_msg("only %u plans were good", good);
    al_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_can_only_be_counted),
        cmocka_unit_test(what_is_no_measure_is_counted_by_its_values),
        cmocka_unit_test(a_sum_that_a_person_asks_for_is_shown_with_a_note),
        cmocka_unit_test(levels_count_in_the_last_period),
        cmocka_unit_test(a_ratio_has_two_measures),
        cmocka_unit_test(lines_are_for_times),
        cmocka_unit_test(pies_are_parts_of_a_whole),
        cmocka_unit_test(buckets_suit_their_times),
        cmocka_unit_test(limits_and_orders_are_held),
        cmocka_unit_test(other_needs_sums_over_kinds),
        cmocka_unit_test(charts_need_groups),
        cmocka_unit_test(two_dimensions_are_stacked_or_heat_or_lines),
        cmocka_unit_test(a_scatter_has_two_measures),
        cmocka_unit_test(a_table_has_columns),
        cmocka_unit_test(unknown_types_roles_and_fields_are_told),
        cmocka_unit_test(columns_are_found_by_label_whatever_the_case),
        cmocka_unit_test(missing_columns_are_told_once),
        cmocka_unit_test(a_plan_of_another_dataset_drops_what_it_cannot_show),
        cmocka_unit_test(nothing_left_is_plan_failed),
        cmocka_unit_test(what_is_no_plan_is_refused_whole),
        cmocka_unit_test(two_alike_are_one),
        cmocka_unit_test(fifty_widgets_are_twelve),
        cmocka_unit_test(ids_are_made_to_differ),
        cmocka_unit_test(made_titles_follow_the_widget_and_written_ones_stay),
        cmocka_unit_test(long_titles_are_cut),
        cmocka_unit_test(chips_are_columns_with_few_values),
        cmocka_unit_test(no_rows_drops_what_shows_rows),
        cmocka_unit_test(notes_are_in_the_plans_language_and_show_what_they_name),
        cmocka_unit_test(what_is_repaired_needs_no_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
