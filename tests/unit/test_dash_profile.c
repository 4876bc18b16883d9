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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_many_kinds_of_files_are_what_an_analyst_takes_them_for),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    al_arena_free(&arena);
    return r;
}
