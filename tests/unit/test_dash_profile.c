#include "test.h"

#include "dashboard/dashboard_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS 1000

/* What the statistics say of a column: i integers, r reals; of a range. */
struct given {
    const char *label, *type;
    double min, max;
    uint64_t distinct;
};

static struct al_arena arena = AL_ARENA_INIT((size_t)64 << 20);
static struct al_dash_catalog catalog;
static struct al_profile profile;
static struct al_err err;

static struct al_dash_column column_of(const struct given *g)
{
    struct al_dash_column c = {.scale = -1, .distinct = g->distinct, .distinct_exact = true};
    c.label = c.name = al_str_of(g->label);
    c.type = al_str_of(g->type);
    if (al_str_is(c.type, "date")) {
        snprintf(c.first, sizeof c.first, "2023-01-01");
        snprintf(c.last, sizeof c.last, "2024-12-31");
    }
    if (al_str_is(c.type, "integer") || al_str_is(c.type, "real")) {
        c.integers = al_str_is(c.type, "integer");
        c.has_range = true;
        c.min = g->min;
        c.max = g->max;
        c.mean = (g->min + g->max) / 2;
    }
    return c;
}

static int run(const struct given *g, size_t n, const char *source)
{
    al_arena_free(&arena);
    catalog = (struct al_dash_catalog){.sheet = AL_STR("data"),
                                       .table = AL_STR("data"),
                                       .view = AL_STR("data_values"),
                                       .source = al_str_of(source),
                                       .rows = ROWS,
                                       .n = n,
                                       .n_sheets = 1};
    catalog.columns = al_arena_alloc(&arena, n * sizeof *catalog.columns);
    for (size_t i = 0; i < n; i++)
        catalog.columns[i] = column_of(&g[i]);
    return al_profile(&catalog, &arena, &profile, &err);
}

static const char *what(const struct al_dash_column *c)
{
    static const char *const roles[] = {"none",    "time",       "dimension", "boolean",
                                        "measure", "identifier", "place",     "text"};
    static const char *const adds[] = {"sum", "level", "average"};
    return c->role == AL_ROLE_MEASURE ? adds[c->adds] : roles[c->role];
}

struct expected {
    const char *what, *type;
    double min, max;
    uint64_t distinct;
    const char *labels; /* with a bar between */
};

/* Headers of many kinds of files, and what an analyst would do with them. */
static const struct expected headers[] = {
    {"sum", "real", 0.4, 22638, 600,
     "Sales|sales_amount|Revenue|Total Sales|Net Revenue|Line Total|Importe|Ventas|Monto "
     "total|Ingresos|Valor venta|Facturación|"
     "Order Amount|fare_amount|tip_amount|tolls_amount|total_amount|Gross|Worldwide Gross|Production "
     "Budget|US DVD Sales|"
     "Shipping Cost|Costo|Gasto total|total_bill|Profit|Utilidad|precipitation|Rainfall "
     "(mm)|rain_mm|Production (tons)|"
     "Energy Consumption kWh|CO2 emissions|Donation|total price|Precio total|marketing "
     "spend|ad_spend_usd|totalPrice|domgross|"
     "Expenses|Gross Profit|Operating Income|wage costs|Discount Amount|Net Generation|generation_mwh|Total "
     "Volume|exports|Exportaciones"},
    {"sum", "integer", 0, 5000, 400,
     "passengers|births|Deaths|Units Sold|Quantity|qty|Order Qty|Cantidad|Unidades "
     "vendidas|number_of_reviews|num_orders|"
     "n_visits|# of items|Visits|pageviews|Clicks|Impressions|Vote Count|IMDB Votes|votes|New "
     "Users|new_cases|Casos nuevos|"
     "Nacimientos|Muertes|Pasajeros|Goals|points|fatalities_85_99|incidents_00_14|rating_count|ratings_count|"
     "review count|"
     "Appearances|Accidents|Likes|shares|comments|Downloads|Count|total|visitors|Visitantes|Transactions|"
     "orders|Pedidos|"
     "Llamadas|Number of Trips|passenger_count|wounded|Killed|Cantidad de pedidos|numero_de_hijos|Total de "
     "ventas|Injuries"},
    {"level", "integer", 100, 900000, 700,
     "population|pop|Population (2020)|Poblacion|Habitantes|Stock|inventory|Units in "
     "Stock|Inventario|Balance|Saldo|headcount|"
     "Employees|employee_count|Active Users|subscribers|Members|unemployed|Unemployed "
     "count|Desempleados|people|Hogares|army_size|"
     "debt|Deuda|Outstanding Balance|cumulative_cases|Casos acumulados|Total "
     "Population|followers|backlog|Number of employees|"
     "installed_capacity|Students|Matriculados|Full_time"},
    {"average", "real", 0.5, 90, 500,
     "price|Unit Price|unit_cost|Precio|Precio unitario|precio de venta|Sales Price|avg_sale|Average "
     "Sales|rate|Unemployment Rate|"
     "Tasa de desempleo|unemployment|score|IMDB Rating|Rotten Tomatoes Rating|temperature|temp_max|temp "
     "c|Temperatura máxima|age|"
     "Edad|height_cm|weight_kg|Sepal.Length|petal_width|body_mass_g|Flipper Length "
     "(mm)|Miles_per_Gallon|mpg|Horsepower|"
     "acceleration|life_expect|Life Expectancy|Esperanza de vida|gini_index|CO2|GDP per capita|Ingreso per "
     "capita|sales growth|"
     "Growth %|margin %|cost per order|Costo por pedido|speed km/h|Duration "
     "(min)|trip_distance|delivery_time|bmi|glucose|Salary|"
     "Sueldo|hourly wage|median household income|Income|humidity|wind_speed|pressure|delay|Latency "
     "ms|fertility|Index|"
     "customer satisfaction|nps|average number of children|votes per "
     "capita|crime_rate|conversion_rate|elevation|exchange rate|"
     "tipo de cambio|Close|Adj Close|open|yield|share_white|Share of "
     "voters|hate_crimes_per_100k|beer_servings|signal|firing_rate|"
     "x|y|Value|P25th|Median|stddev|danceability|precipitation probability|rain intensity|Promedio de "
     "ventas|Nota media|"
     "accuracy|total litres of alcohol|Running Time min|km recorridos por litro|valor unitario|tempo"},
    {"identifier", "integer", 1000, 99999999, 990,
     "id|Order ID|customer_id|CustomerID|user id|Invoice No|invoice_number|Numero de "
     "factura|Phone|telefono|zip|Zip Code|"
     "postal_code|Código Postal|fips|SKU|folio|employee number|Row ID|order "
     "no|Cedula|NIT|isbn|passport|account number|ranking"},
    {"dimension", "integer", 1, 5, 5,
     "Rank|pclass|cylinders|Store|region code|cluster|grade "
     "level|quarter|stars_group|Class|bedrooms|size|Priority|customer type id|"
     "Segmento|Nivel|Month|Mes|day of week|weekday|sibsp|doors|Shift|step"},
    {"dimension", "integer", 1, 31, 31, "day|Day of Month|date_of_month|dia|order_day"},
    {"dimension", "integer", 0, 23, 24, "hour|Hora|hour_of_day|start_hour|pickup hour"},
    {"time", "integer", 1955, 2015, 30,
     "year|Year|YEAR|año|Año|anio|model_year|budgetYear|Year_Release|release year|Fiscal Year|yr|year "
     "built|founded|season|"
     "Birth Year|anno|ejercicio|published|sales year|Decade"},
    {"place", "real", -122.4, 47.6, 900,
     "lat|latitude|Latitud|lon|lng|longitude|Longitud|pickup_latitude|start lng|long|decimalLatitude"},
};

static void each_header(const struct expected *e, size_t *wrong)
{
    char labels[4096], *save = NULL;
    snprintf(labels, sizeof labels, "%s", e->labels);
    for (char *p = strtok_r(labels, "|", &save); p; p = strtok_r(NULL, "|", &save)) {
        const struct given g[] = {{p, e->type, e->min, e->max, e->distinct}, {"region", "text", 0, 0, 5}};
        assert_int_equal(run(g, 2, "file.csv"), 0);
        const char *is = what(&catalog.columns[0]);
        if (strcmp(is, e->what) != 0) {
            print_error("%s: %s, expected %s\n", p, is, e->what);
            ++*wrong;
        }
    }
}

static void headers_of_many_kinds_of_files_are_what_an_analyst_takes_them_for(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        each_header(&headers[i], &wrong);
    assert_int_equal(wrong, 0);
}

/* --- texts --- */

static void set_top(struct al_dash_column *c, const char *values)
{
    static char text[8][200];
    const char *p = values;
    for (c->n_top = 0; *p && c->n_top < 5; c->n_top++) {
        size_t n = strcspn(p, "|");
        snprintf(text[c->n_top], sizeof text[0], "%.*s", (int)n, p);
        c->top[c->n_top] = al_str_of(text[c->n_top]);
        c->top_count[c->n_top] = 7 + c->n_top;
        p += n + (p[n] ? 1 : 0);
    }
}

/* The column "x" with these frequent values among so many, of ROWS rows; its role and order. */
static const struct al_dash_column *text_column(const char *label, const char *values, uint64_t distinct)
{
    const struct given g[] = {{label, "text", 0, 0, distinct}, {"sales", "real", 0, 9, 500}};
    al_arena_free(&arena);
    catalog = (struct al_dash_catalog){.sheet = AL_STR("data"), .rows = ROWS, .n = 2, .n_sheets = 1};
    catalog.columns = al_arena_alloc(&arena, 2 * sizeof *catalog.columns);
    for (size_t i = 0; i < 2; i++)
        catalog.columns[i] = column_of(&g[i]);
    set_top(&catalog.columns[0], values);
    assert_int_equal(al_profile(&catalog, &arena, &profile, &err), 0);
    return &catalog.columns[0];
}

static void texts_have_the_order_that_people_expect(void **state)
{
    (void)state;
    static const struct {
        const char *values;
        enum al_dash_natural natural;
    } cases[] = {
        {"January|March|December", AL_NATURAL_MONTH},
        {"ene|feb|mar|dic", AL_NATURAL_MONTH},
        {"Sept.|Oct.", AL_NATURAL_MONTH},
        {"Mon|Tue|Sun", AL_NATURAL_WEEKDAY},
        {"lunes|Martes|domingo", AL_NATURAL_WEEKDAY},
        {"18-24|25-34|65+", AL_NATURAL_RANGE},
        {"<10000|10000 to 14999|200000+", AL_NATURAL_RANGE},
        {"$0 - $24,999|$25,000 - $49,999|$150,000+", AL_NATURAL_RANGE},
        {"12|13|22-23", AL_NATURAL_RANGE},
        {"menos de 18|18 a 24|25 y mas", AL_NATURAL_RANGE},
        {"2023-11|2023-12|2024-01", AL_NATURAL_RANGE},
        {"2023-Q4|2024-Q1|2024-Q2", AL_NATURAL_RANGE},
        {"North|South", AL_NATURAL_NONE},
        {"Mon|North", AL_NATURAL_NONE},
        {"May|Mayfield", AL_NATURAL_NONE},
        {"North", AL_NATURAL_NONE},
        {"A-1|B-2", AL_NATURAL_NONE},
        {"12|13", AL_NATURAL_NONE},
        {"01-701-1015|01-701-1023", AL_NATURAL_NONE},
        {"", AL_NATURAL_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (text_column("group", cases[i].values, 6)->natural != cases[i].natural)
            fail_msg("%s: %d", cases[i].values, (int)catalog.columns[0].natural);
}

static void texts_are_groups_names_or_codes(void **state)
{
    (void)state;
    assert_int_equal(text_column("region", "North|South", 5)->role, AL_ROLE_DIMENSION);
    assert_int_equal(text_column("name", "Ann Lee|Bo Li", 700)->role, AL_ROLE_TEXT);
    assert_int_equal(text_column("title", "1984|Up", 990)->role, AL_ROLE_TEXT);
    assert_int_equal(text_column("Order ID", "CA-2016-152156|US-2015-108966", 900)->role, AL_ROLE_IDENTIFIER);
    assert_int_equal(text_column("ticket", "A/5 21171|PC 17599", 700)->role, AL_ROLE_TEXT);
    assert_int_equal(text_column("reference", "f81d4fae-7dec-11d0|a765-00a0c91e6bf6", 1000)->role,
                     AL_ROLE_IDENTIFIER);
    assert_int_equal(text_column("iata", "JFK|LAX", 900)->role, AL_ROLE_IDENTIFIER);
    assert_int_equal(text_column("homepage url", "https://a.example|https://b.example", 50)->role,
                     AL_ROLE_NONE);
    assert_int_equal(text_column("record", "{\"a\":1}|{\"a\":2}", 50)->role, AL_ROLE_NONE);
    assert_int_equal(text_column("constant", "same", 1)->role, AL_ROLE_NONE);
    assert_true(al_str_is(text_column("entity", "All natural disasters|Flood|Drought", 11)->total,
                          "All natural disasters"));
    assert_true(al_str_is(text_column("region", "Total|North|South", 5)->total, "Total"));
    assert_int_equal(text_column("region", "Allendale|North|South", 5)->total.n, 0);
}

static void shortlists_put_the_best_first_and_end(void **state)
{
    (void)state;
    struct given g[40];
    size_t n = 0;
    for (int i = 0; i < 12; i++)
        g[n++] = (struct given){"temperature", "real", 0, 9.5, 300};
    for (int i = 0; i < 12; i++)
        g[n++] = (struct given){"group", "text", 0, 0, 150};
    for (int i = 0; i < 6; i++)
        g[n++] = (struct given){"updated", "date", 0, 0, 90};
    g[n++] = (struct given){"sales", "real", 0, 9.5, 300};
    g[n++] = (struct given){"region", "text", 0, 0, 5};
    g[n++] = (struct given){"order_date", "date", 0, 0, 90};
    assert_int_equal(run(g, n, ""), 0);
    assert_int_equal(profile.n_measures, AL_DASH_SHORTLIST);
    assert_int_equal(profile.n_dimensions, AL_DASH_SHORTLIST);
    assert_int_equal(profile.n_times, AL_DASH_TIMES);
    assert_int_equal(profile.measures[0], 30);
    assert_int_equal(profile.measures[1], 0);
    assert_int_equal(profile.measures[2], 1);
    assert_int_equal(profile.dimensions[0], 31);
    assert_int_equal(profile.times[0], 32);
}

/* What a column of 1 to ROWS is, all of them distinct. */
static enum al_dash_role running(const char *label)
{
    const struct given g[] = {{label, "integer", 1, ROWS, ROWS}, {"sales", "real", 0, 9.5, 300}};
    assert_int_equal(run(g, 2, ""), 0);
    return catalog.columns[0].role;
}

static void a_running_number_is_no_measure_whatever_it_is_called(void **state)
{
    (void)state;
    static const char *const labels[] = {"rownames", "Unnamed: 0", "",      "index",      "obs",   "names",
                                         "times",    "x",          "sales", "passengers", "price", "caso"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        assert_int_equal(running(labels[i]), AL_ROLE_IDENTIFIER);
}

static void events_with_decimals_are_rates_and_amounts_are_not(void **state)
{
    (void)state;
    static const struct {
        struct given g;
        const char *is;
    } cases[] = {
        {{"Murder", "real", 0.8, 17.4, 400}, "average"},
        {{"Assault", "integer", 45, 337, 300}, "average"},
        {{"murders", "integer", 0, 337, 300}, "sum"},
        {{"snow", "real", 0, 30.5, 300}, "sum"},
        {{"production", "real", 0, 30.5, 300}, "sum"},
        {{"visitnum", "integer", 1, 201, 90}, "identifier"},
        {{"siteid", "integer", 701, 718, 17}, "identifier"},
        {{"children", "integer", 0, 9, 10}, "average"},
        {{"smokeyrs", "integer", 0, 60, 60}, "average"},
        {{"Freq", "integer", 8, 512, 400}, "sum"},
        {{"time", "real", 1956.25, 2010.75, 400}, "time"},
        {{"time", "integer", 1950, 2000, 51}, "time"},
        {{"time", "real", 0.5, 2010.75, 400}, "average"},
        {{"N1i", "integer", 0, 337, 300}, "average"},
        {{"price paid", "real", 1, 2010.75, 400}, "average"},
        {{"people affected", "integer", 0, 33700, 300}, "sum"},
        {{"ccode", "integer", 2, 950, 190}, "identifier"},
        {{"inst", "integer", 1, 33, 18}, "dimension"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(&cases[i].g, 1, "") < 0 && err.code != AL_NO_USABLE_COLUMNS, 0);
        if (strcmp(what(&catalog.columns[0]), cases[i].is) != 0)
            fail_msg("%s: %s, expected %s", cases[i].g.label, what(&catalog.columns[0]), cases[i].is);
    }
}

static void the_measure_that_the_file_is_called_after_comes_first(void **state)
{
    (void)state;
    const struct given g[] = {{"median_income", "real", 0, 9.5, 300},
                              {"hate_crimes_per_100k", "real", 0, 9.5, 300}};
    assert_int_equal(run(g, 2, "hate-crimes.csv"), 0);
    assert_int_equal(profile.measures[0], 1);
    assert_int_equal(run(g, 2, "median.csv"), 0);
    assert_int_equal(profile.measures[0], 0);
}

static void fractions_and_percentages_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        struct given g;
        bool percent, unit_percent;
    } cases[] = {
        {{"unemployment rate", "real", 0.01, 0.2, 300}, true, false},
        {{"unemployment rate", "real", 1.5, 20, 300}, false, false},
        {{"win_pct", "real", 0, 1, 300}, true, false},
        {{"win_pct", "real", 0, 88.5, 300}, false, true},
        {{"Margin %", "real", -0.5, 0.9, 300}, true, false},
        {{"Margin %", "real", -50, 90, 300}, false, true},
        {{"discount", "real", 0, 0.8, 12}, true, false},
        {{"discount", "real", 0, 80.5, 300}, false, false},
        {{"gini", "real", 0, 0.9, 300}, false, false},
        {{"score", "real", 0, 1, 300}, false, false},
        {{"Sepal.Width", "real", 0, 1, 300}, false, false},
        {{"survived", "integer", 0, 1, 2}, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run(&cases[i].g, 1, ""), 0);
        const struct al_dash_column *c = &catalog.columns[0];
        if (c->percent != cases[i].percent || c->unit_percent != cases[i].unit_percent)
            fail_msg("%s: %d %d", cases[i].g.label, c->percent, c->unit_percent);
    }
}

/* --- nonsense --- */

static uint32_t next(uint32_t *x)
{
    *x = *x * 1664525 + 1013904223;
    return *x >> 8;
}

static void random_column(uint32_t *x, char label[200], struct al_dash_column *c)
{
    static const char *const parts[] = {"sales",
                                        "_",
                                        "price",
                                        " ",
                                        "%",
                                        "/",
                                        "#",
                                        "of",
                                        "de",
                                        "per",
                                        "2013",
                                        "count",
                                        "no",
                                        "\xff",
                                        "\xc3",
                                        "é",
                                        "ñ",
                                        "kWh",
                                        "A",
                                        "id",
                                        "-",
                                        ".",
                                        "(",
                                        "total",
                                        "year",
                                        "销",
                                        "co",
                                        "2",
                                        "\xe2\x80\xae",
                                        "to date",
                                        "p",
                                        "25th",
                                        "min",
                                        "rate"};
    static const char *const types[] = {"integer", "real", "text", "date", "boolean"};
    static const char *const tops[] = {"",     "1",        "18-24", "Jan",     "mon",    "{",
                                       "\xff", "ORD-1234", "3+",    "5k - 9k", "2024-Q", "All x"};
    static const double numbers[] = {0, 1, -1, 1955, 2100, 1e12, 1e308, -1e308, 0.5, 31, 100};
    label[0] = 0;
    for (uint32_t n = next(x) % 9; n; n--)
        strncat(label, parts[next(x) % (sizeof parts / sizeof *parts)], 199 - strlen(label));
    *c = (struct al_dash_column){
        .name = AL_STR("x"), .label = al_str_of(label), .type = al_str_of(types[next(x) % 5])};
    c->has_range = next(x) % 2;
    c->integers = next(x) % 2;
    c->min = numbers[next(x) % 11];
    c->max = numbers[next(x) % 11];
    c->distinct = next(x) % 1200;
    c->distinct_exact = next(x) % 2;
    c->nulls = next(x) % 1100;
    c->text_fallbacks = next(x) % 1100;
    c->parsed_as = next(x) % 4 ? AL_STR("") : AL_STR("12 %");
    c->n_top = next(x) % 6;
    for (size_t i = 0; i < c->n_top; i++) {
        c->top[i] = al_str_of(tops[next(x) % 12]);
        c->top_count[i] = next(x) % 3 ? 5 : next(x);
    }
    snprintf(c->last, sizeof c->last, "%s", next(x) % 5 ? "" : "2024-99-99T1");
    snprintf(c->first, sizeof c->first, "%s", next(x) % 5 ? "" : "2001-01-01");
}

static void nonsense_gives_a_profile_or_says_that_there_is_none(void **state)
{
    (void)state;
    uint32_t x = 7;
    for (int round = 0; round < 2000; round++) {
        struct al_dash_column columns[5];
        char labels[5][200];
        struct al_arena a = AL_ARENA_INIT(round % 7 ? (size_t)8 << 20 : next(&x) % 40000);
        struct al_dash_catalog c = {
            .sheet = AL_STR("s"), .rows = ROWS, .columns = columns, .n = 5, .n_sheets = 1 + round % 2};
        for (size_t i = 0; i < 5; i++)
            random_column(&x, labels[i], &columns[i]);
        c.source = al_str_of(labels[0]);
        if (al_profile(&c, &a, &profile, &err) < 0)
            assert_true(err.code == AL_NO_USABLE_COLUMNS || err.code == AL_QUERY_LIMIT);
        else
            for (size_t i = 0; i < profile.n_measures; i++)
                assert_int_equal(columns[profile.measures[i]].role, AL_ROLE_MEASURE);
        al_arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_many_kinds_of_files_are_what_an_analyst_takes_them_for),
        cmocka_unit_test(texts_have_the_order_that_people_expect),
        cmocka_unit_test(texts_are_groups_names_or_codes),
        cmocka_unit_test(shortlists_put_the_best_first_and_end),
        cmocka_unit_test(a_running_number_is_no_measure_whatever_it_is_called),
        cmocka_unit_test(events_with_decimals_are_rates_and_amounts_are_not),
        cmocka_unit_test(the_measure_that_the_file_is_called_after_comes_first),
        cmocka_unit_test(fractions_and_percentages_are_told_apart),
        cmocka_unit_test(nonsense_gives_a_profile_or_says_that_there_is_none),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    al_arena_free(&arena);
    return r;
}
