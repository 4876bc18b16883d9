/* What the profile makes of kinds of tables: people, trials, years side by side; and of names that shorten
 * everything. */
#include "test.h"

#include "dashboard/dashboard_int.h"

#include <stdio.h>
#include <string.h>

/* type: i integer, r real, t text. each: how often each frequent value is there; 0: it is not said. */
struct given {
    const char *label;
    char type;
    double min, max;
    uint64_t distinct, each;
    const char *top; /* one frequent value, for all of them */
};

static struct al_arena arena = AL_ARENA_INIT((size_t)64 << 20);
static struct al_dash_catalog catalog;
static struct al_profile profile;

static struct al_dash_column column_of(const struct given *g)
{
    struct al_dash_column c = {.scale = -1, .distinct = g->distinct, .distinct_exact = true};
    c.label = c.name = al_str_of(g->label);
    c.type = g->type == 'i' ? AL_STR("integer") : g->type == 'r' ? AL_STR("real") : AL_STR("text");
    c.integers = g->type == 'i';
    c.has_range = g->type != 't';
    c.min = g->min;
    c.max = g->max;
    c.n_top = g->distinct < 5 ? g->distinct : 5;
    for (size_t i = 0; i < c.n_top; i++) {
        c.top[i] = al_str_of(g->top ? g->top : "North");
        c.top_count[i] = g->each ? g->each : 40 - i;
    }
    return c;
}

static void read_table(uint64_t rows, const struct given *g, size_t n, const char *source)
{
    struct al_err err;
    al_arena_free(&arena);
    catalog = (struct al_dash_catalog){
        .sheet = AL_STR("data"), .source = al_str_of(source), .rows = rows, .n = n, .n_sheets = 1};
    catalog.columns = al_arena_alloc(&arena, n * sizeof *catalog.columns);
    for (size_t i = 0; i < n; i++)
        catalog.columns[i] = column_of(&g[i]);
    assert_int_equal(al_profile(&catalog, &arena, &profile, &err), 0);
}

#define READ(rows, g, source) read_table((rows), (g), sizeof(g) / sizeof *(g), (source))

static void assert_is(size_t i, const char *expected)
{
    static const char *const roles[] = {"none",    "time",       "dimension", "boolean",
                                        "measure", "identifier", "place",     "text"};
    static const char *const adds[] = {"sum", "level", "average"};
    const struct al_dash_column *c = &catalog.columns[i];
    const char *is = c->role == AL_ROLE_MEASURE ? adds[c->adds] : roles[c->role];
    if (strcmp(is, expected) != 0)
        fail_msg("%.*s: %s, expected %s", AL_FMT(c->name), is, expected);
}

static void what_a_person_has_is_averaged_and_what_a_person_buys_is_added(void **s)
{
    (void)s;
    static const struct given g[] = {{"age", 'i', 18, 90, 70, 0, NULL},
                                     {"gender", 't', 0, 0, 2, 0, NULL},
                                     {"visits", 'i', 0, 60, 40, 0, NULL},
                                     {"earnings", 'r', 2, 60, 900, 0, NULL},
                                     {"population", 'i', 3750, 250000, 60, 0, NULL},
                                     {"nodes", 'i', 0, 33, 30, 0, NULL},
                                     {"quantity", 'i', 1, 60, 40, 0, NULL},
                                     {"amount", 'r', 1, 900, 800, 0, NULL}};
    READ(3000, g, "");
    assert_is(2, "average");
    assert_is(3, "average");
    assert_is(4, "average");
    assert_is(5, "average");
    assert_is(6, "sum");
    assert_is(7, "sum");
}

static void doses_that_are_equally_frequent_are_groups(void **s)
{
    (void)s;
    static const struct given g[] = {{"conc", 'r', 0, 32.5, 7, 10, NULL},
                                     {"weight", 'r', 0.5, 9, 60, 0, NULL},
                                     {"plant", 'i', 1001, 1070, 70, 1, NULL}};
    READ(70, g, "");
    assert_is(0, "dimension");
    assert_is(1, "average");
    static const struct given panel[] = {{"cl", 'i', 100, 980, 121, 7, NULL},
                                         {"loss", 'r', 0.5, 9, 800, 0, NULL},
                                         {"cpi", 'r', 30, 110, 7, 121, NULL},
                                         {"year", 'i', 1990, 1996, 7, 121, NULL}};
    READ(847, panel, "");
    assert_is(0, "identifier");
    assert_is(2, "average"); /* of each year */
}

static void nitrogen_phosphorus_and_potassium_are_no_counts(void **s)
{
    (void)s;
    static const struct given g[] = {{"N", 'i', 0, 3, 4, 0, NULL},
                                     {"P", 'i', 0, 3, 4, 0, NULL},
                                     {"K", 'i', 0, 3, 4, 0, NULL},
                                     {"yield", 'r', 0.5, 9, 600, 0, NULL}};
    READ(612, g, "");
    for (size_t i = 0; i < 3; i++)
        assert_is(i, "dimension");
}

static void of_years_side_by_side_the_last_leads_and_the_first_stands_beside(void **s)
{
    (void)s;
    static const struct given g[] = {{"country", 't', 0, 0, 190, 0, NULL},
                                     {"year_1960", 'i', 1000, 9e8, 190, 0, NULL},
                                     {"year_1961", 'i', 1000, 9e8, 190, 0, NULL},
                                     {"year_1962", 'i', 1000, 9e8, 190, 0, NULL}};
    READ(190, g, "world_population.csv");
    assert_int_equal(profile.n_measures, 2);
    assert_int_equal(profile.measures[0], 3);
    assert_int_equal(profile.measures[1], 1);
    assert_is(3, "level");
    static const struct given ages[] = {{"male.2000", 'i', 3000, 2e6, 101, 0, NULL},
                                        {"male.2010", 'i', 3000, 2e6, 101, 0, NULL},
                                        {"male.2020", 'i', 3000, 2e6, 101, 0, NULL}};
    READ(101, ages, "");
    assert_is(2, "level");
}

static void levels_without_places_or_with_periods_that_are_no_axis_are_averaged(void **s)
{
    (void)s;
    static const struct given quarters[] = {{"gdp", 'r', 1500, 9000, 232, 0, NULL},
                                            {"tbill", 'r', 0.3, 15, 200, 0, NULL}};
    READ(232, quarters, "");
    assert_is(0, "average");
    static const struct given panel[] = {{"state", 'i', 1, 51, 46, 30, NULL},
                                         {"year", 'i', 63, 92, 30, 46, NULL},
                                         {"pop", 'r', 300, 30000, 1300, 0, NULL}};
    READ(1380, panel, "");
    assert_is(2, "average");
    static const struct given places[] = {{"state", 't', 0, 0, 50, 1, NULL},
                                          {"pop", 'r', 300, 30000, 50, 0, NULL}};
    READ(50, places, "");
    assert_is(1, "level");
}

static void columns_of_one_name_are_of_one_kind(void **s)
{
    (void)s;
    static const struct given g[] = {{"warm_t0", 'i', 0, 100, 11, 0, "50"},
                                     {"warm_t1", 'i', 0, 100, 60, 0, "51"},
                                     {"param", 't', 0, 0, 40, 0, NULL},
                                     {"paramn", 'i', 1, 70, 40, 0, "7"}};
    READ(193, g, "");
    assert_is(0, "average");
    assert_is(1, "average");
    assert_is(3, "identifier");
}

static void codes_of_groups_say_nothing_beside_their_names(void **s)
{
    (void)s;
    static const struct given g[] = {{"iso3c", 't', 0, 0, 40, 20, NULL},
                                     {"country", 't', 0, 0, 40, 20, NULL},
                                     {"region", 't', 0, 0, 6, 0, NULL},
                                     {"block", 't', 0, 0, 40, 20, NULL},
                                     {"value", 'r', 0, 9, 700, 0, NULL}};
    READ(800, g, "");
    assert_int_equal(profile.n_dimensions, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_not_equal(profile.dimensions[i], 0);
}

static void a_tax_alone_is_a_rate_and_a_sum_of_marks_is_a_mark(void **s)
{
    (void)s;
    static const struct given alone[] = {{"town", 't', 0, 0, 92, 0, NULL},
                                         {"tax", 'i', 187, 711, 66, 0, NULL}};
    READ(506, alone, "");
    assert_is(1, "average");
    static const struct given bill[] = {{"sales", 'r', 0, 9000, 400, 0, NULL},
                                        {"tax", 'r', 0, 711, 400, 0, NULL}};
    READ(506, bill, "");
    assert_is(1, "sum");
    static const struct given marks[] = {{"sat_v", 'i', 24, 76, 50, 0, NULL},
                                         {"sat_m", 'i', 29, 77, 50, 0, NULL},
                                         {"sat_sum", 'i', 53, 144, 80, 0, NULL}};
    READ(1000, marks, "");
    assert_is(2, "average");
    static const struct given gases[] = {{"cfc12", 'r', 370, 876, 60, 0, NULL},
                                         {"cfc11", 'r', 250, 795, 60, 0, NULL},
                                         {"sum", 'r', 3000, 4100, 60, 0, NULL}};
    READ(62, gases, "");
    assert_is(2, "average");
}

static void names_that_shorten_everything_are_read(void **s)
{
    (void)s;
    static const struct {
        struct given g;
        const char *is;
    } cases[] = {
        {{"AESEQ", 'i', 1, 40, 30, 0, NULL}, "identifier"},
        {{"intnum", 'i', 4, 9306, 900, 0, NULL}, "identifier"},
        {{"micnum", 'i', 4, 4500, 900, 0, NULL}, "identifier"},
        {{"patid", 'i', 4, 9306, 900, 0, NULL}, "identifier"},
        {{"humid", 'i', 4, 99, 90, 0, NULL}, "average"},
        {{"dxyr", 'i', 1960, 1994, 35, 0, NULL}, "time"},
        {{"dxyr", 'i', 60, 94, 35, 0, NULL}, "dimension"},
        {{"birth_d", 'i', 1, 31, 31, 0, NULL}, "dimension"},
        {{"birth_mo", 'i', 1, 12, 12, 0, NULL}, "dimension"},
        {{"n_mc_cain", 'i', 6000, 5000000, 900, 0, NULL}, "sum"},
        {{"dep_time", 'i', 1, 2400, 1200, 0, "1657"}, "identifier"},
        {{"survival time", 'i', 1, 2399, 1200, 0, "1697"}, "average"},
        {{"plot", 'i', 1, 900, 900, 0, NULL}, "identifier"},
        {{"firm", 'i', 1, 140, 140, 0, NULL}, "identifier"},
        {{"class", 'r', 1.1, 64.3, 66, 0, NULL}, "identifier"},
        {{"extraversion", 'i', 0, 23, 24, 0, NULL}, "average"},
        {{"year", 'i', 2018, 9.7e12, 2, 0, NULL}, "identifier"},
        {{"cards", 'r', -0.2, 1, 900, 0, NULL}, "average"},
        {{"hcfcs", 'i', 90, 1200, 900, 0, NULL}, "average"},
        {{"nvorres", 'i', 0, 120, 90, 0, NULL}, "average"},
        {{"Time", 'i', 14, 84, 11, 0, NULL}, "dimension"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct given g[] = {cases[i].g, {"sales", 'r', 0, 9.5, 300, 0, NULL}};
        READ(1000, g, "");
        assert_is(0, cases[i].is);
    }
}

static void assert_str(struct al_str is, const char *expected)
{
    if (!al_str_is(is, expected))
        fail_msg("%.*s, expected %s", AL_FMT(is), expected);
}

static void names_are_shown_as_people_write_them(void **s)
{
    (void)s;
    static const struct {
        const char *name, *shown;
    } cases[] = {
        {"kwh", "kWh"}, {"roadORtrack", "Road ortrack"}, {"unitPrice", "Unit price"}, {"FTar_1", "Ftar 1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_str(al_display_name(&arena, al_str_of(cases[i].name), al_str_of(cases[i].name)),
                   cases[i].shown);
    static const struct given g[] = {{"rownames", 't', 0, 0, 50, 1, NULL},
                                     {"sales", 'r', 0, 9.5, 50, 0, NULL}};
    READ(50, g, "");
    assert_str(catalog.columns[0].display, "Name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_person_has_is_averaged_and_what_a_person_buys_is_added),
        cmocka_unit_test(doses_that_are_equally_frequent_are_groups),
        cmocka_unit_test(nitrogen_phosphorus_and_potassium_are_no_counts),
        cmocka_unit_test(of_years_side_by_side_the_last_leads_and_the_first_stands_beside),
        cmocka_unit_test(levels_without_places_or_with_periods_that_are_no_axis_are_averaged),
        cmocka_unit_test(columns_of_one_name_are_of_one_kind),
        cmocka_unit_test(codes_of_groups_say_nothing_beside_their_names),
        cmocka_unit_test(a_tax_alone_is_a_rate_and_a_sum_of_marks_is_a_mark),
        cmocka_unit_test(names_that_shorten_everything_are_read),
        cmocka_unit_test(names_are_shown_as_people_write_them),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    al_arena_free(&arena);
    return r;
}
