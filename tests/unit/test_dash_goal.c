/* What a goal names. */
#include "dash_plan_rig.h"

#include <stdlib.h>

static int revenue, profit, orders, price, region, channel, product, date, survived, customer;

static void shop(struct rig *r)
{
    rig_init(r, 1000);
    date = rig_date(r, "order_date", "2023-01-01", "2024-12-31");
    region = rig_dimension(r, "region", 5);
    channel = rig_dimension(r, "sales_channel", 3);
    product = rig_dimension(r, "product_category", 8);
    revenue = rig_measure(r, "revenue", AL_ADDS_ALWAYS);
    profit = rig_measure(r, "profit", AL_ADDS_ALWAYS);
    orders = rig_measure(r, "orders", AL_ADDS_ALWAYS);
    price = rig_measure(r, "unit_price", AL_ADDS_NEVER);
    survived = rig_flag(r, "survived");
    customer = rig_other(r, "customer_id", AL_ROLE_IDENTIFIER, 400);
    rig_other(r, "empty", AL_ROLE_NONE, 0);
}

static void goal_n(struct rig *r, struct al_str text)
{
    al_goal_read(&r->d.arena, text, &r->d.catalog, &r->d.profile, &r->d.goal);
}

static void goal(struct rig *r, const char *text)
{
    goal_n(r, al_str_of(text));
}

static bool names(const struct rig *r, int column)
{
    for (size_t i = 0; i < r->d.goal.n_named; i++)
        if (r->d.goal.named[i] == column)
            return true;
    return false;
}

static void named_in_the_order_of_the_text(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "Profit and revenue by region, in 2024");
    assert_int_equal(r.d.goal.n_named, 3);
    assert_int_equal(r.d.goal.named[0], profit);
    assert_int_equal(r.d.goal.named[1], revenue);
    assert_int_equal(r.d.goal.named[2], region);
    rig_free(&r);
}

static void plurals_accents_and_the_other_language_name_a_column(void **s)
{
    static const char *const texts[] = {"revenues per regions", "Ventas por región", "INGRESOS POR REGIONES",
                                        "facturación de cada región"};
    (void)s;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rig r;
        shop(&r);
        goal(&r, texts[i]);
        if (!names(&r, revenue) || !names(&r, region))
            fail_msg("%s", texts[i]);
        rig_free(&r);
    }
}

static void one_word_names_a_column_when_no_other_has_it(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "what sells by channel and category");
    assert_true(names(&r, channel));
    assert_true(names(&r, product));
    assert_int_equal(r.d.goal.n_named, 2);
    goal(&r, "price of things");
    assert_true(names(&r, price));
    rig_free(&r);
}

static void a_longer_name_leaves_nothing_for_the_shorter(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1000);
    int sales = rig_measure(&r, "sales", AL_ADDS_ALWAYS),
        growth = rig_measure(&r, "sales_growth", AL_ADDS_NEVER);
    goal(&r, "sales growth by year");
    assert_true(names(&r, growth));
    assert_false(names(&r, sales));
    goal(&r, "sales growth and sales");
    assert_true(names(&r, growth));
    assert_true(names(&r, sales));
    rig_free(&r);
}

static void generic_words_years_and_values_name_nothing(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    rig_dimension(&r, "2024", 3);
    int make = rig_dimension(&r, "make", 9), male = rig_dimension(&r, "adult_male", 2);
    r.columns[region].top[0] = AL_STR("North");
    r.columns[region].n_top = 1;
    r.columns[make].top[0] = AL_STR("Male");
    r.columns[make].n_top = 1;
    goal(&r, "make me a total of the average number for the rate in 2024, male");
    assert_int_equal(r.d.goal.n_named, 0);
    goal(&r, "revenue by make");
    assert_true(names(&r, make));
    assert_false(names(&r, male));
    rig_free(&r);
}

static void the_purpose_is_read_from_words_that_name_no_column(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "Resumen ejecutivo de ventas");
    assert_string_equal(r.d.goal.purpose, "executive");
    goal(&r, "monitor orders daily");
    assert_string_equal(r.d.goal.purpose, "operational");
    goal(&r, "Analysis of revenue");
    assert_string_equal(r.d.goal.purpose, "analytical");
    goal(&r, "revenue by region");
    assert_null(r.d.goal.purpose);
    int status = rig_dimension(&r, "status", 4);
    goal(&r, "orders by status");
    assert_true(names(&r, status));
    assert_null(r.d.goal.purpose);
    rig_free(&r);
}

static void a_period_is_asked_for(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "revenue by region and month in 2024");
    assert_int_equal(r.d.goal.bucket, AL_BUCKET_MONTH);
    goal(&r, "ventas mensuales");
    assert_int_equal(r.d.goal.bucket, AL_BUCKET_MONTH);
    goal(&r, "weekly orders");
    assert_int_equal(r.d.goal.bucket, AL_BUCKET_WEEK);
    goal(&r, "the best day for revenue");
    assert_int_equal(r.d.goal.bucket, 0);
    rig_free(&r);
}

static void assert_ratio(struct rig *r, const char *text, int of, int over, bool percent, bool first)
{
    goal(r, text);
    const struct al_goal *g = &r->d.goal;
    if (!g->ratio || g->ratio_of != of || g->ratio_over != over || g->ratio_percent != percent ||
        g->ratio_first != first)
        fail_msg("%s: %d %d/%d %d %d", text, g->ratio, g->ratio_of, g->ratio_over, g->ratio_percent,
                 g->ratio_first);
}

static void ratios_are_of_their_parts(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    assert_ratio(&r, "margin % by region", profit, revenue, true, true);
    assert_ratio(&r, "Margen % por región", profit, revenue, true, true);
    assert_ratio(&r, "revenue by region, and profit margin", profit, revenue, true, false);
    assert_ratio(&r, "revenue per order", revenue, orders, false, true);
    assert_ratio(&r, "ingresos por cada pedido", revenue, orders, false, true);
    assert_ratio(&r, "revenue per visit", revenue, -1, false, true);
    assert_ratio(&r, "profit/revenue", profit, revenue, false, true);
    assert_ratio(&r, "profit as a share of revenue", profit, revenue, true, true);
    assert_ratio(&r, "ratio of profit to orders", profit, orders, false, true);
    goal(&r, "revenue per region");
    assert_false(r.d.goal.ratio);
    goal(&r, "revenue per month");
    assert_false(r.d.goal.ratio);
    goal(&r, "ventas por tienda");
    assert_false(r.d.goal.ratio);
    goal(&r, "revenue and profit");
    assert_false(r.d.goal.ratio);
    rig_free(&r);
}

static void a_rate_with_a_name_needs_its_parts(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1000);
    int visits = rig_measure(&r, "visits", AL_ADDS_ALWAYS),
        bought = rig_measure(&r, "purchases", AL_ADDS_ALWAYS);
    assert_ratio(&r, "conversion rate by week", bought, visits, true, true);
    goal(&r, "click through rate");
    assert_false(r.d.goal.ratio);
    rig_measure(&r, "conversion_rate", AL_ADDS_NEVER);
    goal(&r, "conversion rate by week");
    assert_false(r.d.goal.ratio);
    rig_free(&r);
}

static void per_head_is_over_the_population(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1000);
    int people = rig_measure(&r, "population", AL_ADDS_ACROSS), gdp = rig_measure(&r, "gdp", AL_ADDS_ALWAYS);
    assert_ratio(&r, "GDP per capita", gdp, people, false, true);
    rig_free(&r);
}

static void a_flag_is_the_matter_or_a_group(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "survival by region");
    assert_int_equal(r.d.goal.flag, survived);
    goal(&r, "revenue by survived");
    assert_true(names(&r, survived));
    assert_int_equal(r.d.goal.flag, -1);
    rig_free(&r);
}

static void average_is_heard(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "average revenue by region");
    assert_int_equal(r.d.goal.averaged, revenue);
    goal(&r, "promedio de ventas por canal");
    assert_int_equal(r.d.goal.averaged, revenue);
    goal(&r, "revenue by region");
    assert_int_equal(r.d.goal.averaged, -1);
    rig_free(&r);
}

/* Any characters, of any length: it ends, and what is named is there once. */
static void sane(const struct rig *r)
{
    for (size_t i = 0; i < r->d.goal.n_named; i++) {
        assert_in_range(r->d.goal.named[i], 0, r->d.catalog.n - 1);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(r->d.goal.named[i], r->d.goal.named[k]);
    }
}

static void hostile_goals_end(void **s)
{
    static const char *const parts[] = {"revenue ",
                                        "\xf0\x9f\x92\xa9",
                                        "\xe2\x80\xae",
                                        "%",
                                        "/",
                                        "é",
                                        "per per ",
                                        "por de la ",
                                        "ª",
                                        "\xff\xfe",
                                        "region region ",
                                        "a",
                                        "2024 ",
                                        "margin % ",
                                        "_",
                                        "\xef\xbf\xbd",
                                        "ŉ",
                                        "ﬁ",
                                        "revenueProfit"};
    (void)s;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct rig r;
        struct al_buf b = AL_BUF_INIT(1u << 20);
        shop(&r);
        while (b.n < 20000)
            al_buf_adds(&b, parts[i]);
        goal_n(&r, al_buf_str(&b));
        assert_true(r.d.goal.cut);
        sane(&r);
        rig_free(&r);
        al_buf_free(&b);
    }
}

static void goals_of_any_words_end(void **s)
{
    static const char *const words[] = {"revenue", "per",      "por",     "order",      "profit", "%",
                                        "margin",  "region",   "of",      "share",      "de",     "/",
                                        "rate",    "survival", "average", "conversion", "by",     "month",
                                        "cada",    "capita",   "sales",   "channel",    "unit",   "price"};
    unsigned seed = 1;
    (void)s;
    struct rig r;
    shop(&r);
    for (int n = 0; n < 800; n++) {
        struct al_buf b = AL_BUF_INIT(4096);
        for (int k = 0; k < 9; k++) {
            seed = seed * 1664525u + 1013904223u;
            al_buf_adds(&b, words[(seed >> 16) % (sizeof words / sizeof *words)]);
            al_buf_addc(&b, ' ');
        }
        goal_n(&r, al_buf_str(&b));
        sane(&r);
        if (r.d.goal.ratio)
            assert_int_not_equal(r.d.goal.ratio_of, r.d.goal.ratio_over);
        al_buf_free(&b);
        if (n % 100 == 99) {
            rig_free(&r);
            shop(&r);
        }
    }
    rig_free(&r);
}

static void what_no_column_answers_is_kept(void **s)
{
    static const struct {
        const char *text, *unmet[3];
    } cases[] = {{"sales by country", {"country"}},
                 {"ventas por país", {"pais"}},
                 {"stock % by region", {"stock"}},
                 {"weight per planet", {"weight", "planet"}},
                 {"revenue by region per month", {NULL}},
                 {"un resumen por favor, por ejemplo de ventas", {NULL}},
                 {"revenue by default per row", {NULL}},
                 {"profit per order", {NULL}},
                 {"margin %", {NULL}}};
    (void)s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        size_t n = 0;
        shop(&r);
        goal(&r, cases[i].text);
        for (; n < 3 && cases[i].unmet[n]; n++)
            if (n >= r.d.goal.n_unmet || !al_str_is(r.d.goal.unmet[n], cases[i].unmet[n]))
                fail_msg("%s: not %s", cases[i].text, cases[i].unmet[n]);
        if (r.d.goal.n_unmet != n)
            fail_msg("%s: %.*s", cases[i].text, AL_FMT(r.d.goal.unmet[n]));
        rig_free(&r);
    }
}

static void a_goal_of_other_matters_names_nothing(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "the tallest mountains");
    assert_true(r.d.goal.names_nothing);
    goal(&r, "make me a dashboard, please: an executive overview");
    assert_false(r.d.goal.names_nothing);
    goal(&r, "monthly");
    assert_false(r.d.goal.names_nothing);
    goal(&r, "revenue of mountains");
    assert_false(r.d.goal.names_nothing);
    rig_free(&r);
}

static void how_many_counts_rows_or_things(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "how many parcels by region");
    assert_true(r.d.goal.rows);
    goal(&r, "número de paquetes por región");
    assert_true(r.d.goal.rows);
    goal(&r, "number of customers per region");
    assert_false(r.d.goal.rows);
    assert_int_equal(r.d.goal.things, customer);
    goal(&r, "clientes por región");
    assert_int_equal(r.d.goal.things, customer);
    goal(&r, "number of orders by region"); /* a measure has it */
    assert_false(r.d.goal.rows);
    assert_int_equal(r.d.goal.things, -1);
    goal(&r, "revenue by customer and region");
    assert_int_equal(r.d.goal.things, -1);
    int id = rig_other(&r, "ticket_id", AL_ROLE_IDENTIFIER, 1000);
    goal(&r, "tickets by region");
    assert_true(names(&r, id) && r.d.goal.rows);
    rig_free(&r);
}

static void a_word_of_two_meanings_names_either(void **s)
{
    struct rig r;
    (void)s;
    rig_init(&r, 1000);
    int state = rig_dimension(&r, "state", 50);
    rig_measure(&r, "packs", AL_ADDS_NEVER);
    goal(&r, "consumo de paquetes por estado");
    assert_true(names(&r, state));
    assert_null(r.d.goal.purpose);
    rig_free(&r);
}

static void the_share_of_a_flag_is_the_matter(void **s)
{
    struct rig r;
    (void)s;
    shop(&r);
    goal(&r, "share of survived by region");
    assert_int_equal(r.d.goal.flag, survived);
    goal(&r, "revenue of survived by region");
    assert_int_equal(r.d.goal.flag, -1);
    rig_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_in_the_order_of_the_text),
        cmocka_unit_test(plurals_accents_and_the_other_language_name_a_column),
        cmocka_unit_test(one_word_names_a_column_when_no_other_has_it),
        cmocka_unit_test(a_longer_name_leaves_nothing_for_the_shorter),
        cmocka_unit_test(generic_words_years_and_values_name_nothing),
        cmocka_unit_test(the_purpose_is_read_from_words_that_name_no_column),
        cmocka_unit_test(a_period_is_asked_for),
        cmocka_unit_test(ratios_are_of_their_parts),
        cmocka_unit_test(a_rate_with_a_name_needs_its_parts),
        cmocka_unit_test(per_head_is_over_the_population),
        cmocka_unit_test(a_flag_is_the_matter_or_a_group),
        cmocka_unit_test(average_is_heard),
        cmocka_unit_test(what_no_column_answers_is_kept),
        cmocka_unit_test(a_goal_of_other_matters_names_nothing),
        cmocka_unit_test(how_many_counts_rows_or_things),
        cmocka_unit_test(a_word_of_two_meanings_names_either),
        cmocka_unit_test(the_share_of_a_flag_is_the_matter),
        cmocka_unit_test(hostile_goals_end),
        cmocka_unit_test(goals_of_any_words_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
