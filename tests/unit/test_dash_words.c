#include "test.h"

#include "dashboard/profile_int.h"

#include <stdio.h>
#include <string.h>

static struct al_arena arena = AL_ARENA_INIT((size_t)64 << 20);
static struct al_words words;

static void assert_words(const char *text, const char *expected)
{
    char got[4096] = "";
    al_words_of(&arena, al_str_of(text), &words);
    for (size_t i = 0; i < words.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%.*s", i ? " " : "", AL_FMT(words.list[i]));
    assert_string_equal(got, expected);
}

static void a_name_is_split_where_people_see_words(void **state)
{
    (void)state;
    assert_words("Miles_per_Gallon", "miles per gallon");
    assert_words("unitPriceUSD", "unit price usd");
    assert_words("HTTPServer", "http server");
    assert_words("budget2013$", "budget 2013");
    assert_words("CO2", "co 2");
    assert_words("RECTANGLE_3D_FRAME", "rectangle 3d frame");
    assert_words("Sepal.Length", "sepal length");
    assert_words("energy_kWh", "energy kwh");
    assert_words("iPhone", "iphone");
    assert_words("  -- ", "");
    assert_words("", "");
}

static void accents_go_and_other_scripts_stay(void **state)
{
    (void)state;
    assert_words("Año de Facturación", "ano de facturacion");
    assert_words("A\xcc\x83o", "ao"); /* a mark of its own */
    assert_words("Straße Łódź Œuvre", "strasse lodz oeuvre");
    assert_words("ДАТА продажи", "дата продажи");
    assert_words("销售额", "销售额");
    assert_words("Ventas\xe2\x80\xae"
                 "txt",
                 "ventas txt");
}

static void bad_bytes_only_end_words(void **state)
{
    (void)state;
    al_words_of(&arena,
                (struct al_str){"a\0b\xff\xfe"
                                "c\xc3",
                                7},
                &words);
    assert_int_equal(words.n, 3);
}

static void long_texts_and_words_are_cut(void **state)
{
    (void)state;
    static char text[200000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? ' ' : 'x';
    al_words_of(&arena, (struct al_str){text, sizeof text}, &words);
    assert_int_equal(words.n, AL_WORDS_MAX);
    memset(text, 'y', sizeof text);
    al_words_of(&arena, (struct al_str){text, sizeof text}, &words);
    assert_int_equal(words.n, 1);
    assert_true(words.list[0].n < 64);
}

static void no_memory_gives_fewer_words(void **state)
{
    (void)state;
    struct al_arena small = AL_ARENA_INIT(8);
    al_words_of(&small, AL_STR("one two three four"), &words);
    assert_true(words.n < 4);
    al_arena_free(&small);
}

static void every_word_of_every_list_is_found(void **state)
{
    (void)state;
    size_t n = 0;
    for (int c = 0; c < AL_CLASS_COUNT_OF; c++)
        for (const char *p = al_word_list((enum al_word_class)c); *p; n++) {
            size_t len = strcspn(p, " ");
            struct al_str w = {p, len};
            if (!(al_word_classes(w) & (1u << c)))
                fail_msg("%.*s", AL_FMT(w));
            for (size_t i = 0; i < len; i++)
                assert_true((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9'));
            p += len + (p[len] ? 1 : 0);
        }
    assert_true(n > 1500 && n < 4000);
    assert_string_equal(al_word_list(AL_CLASS_COUNT_OF), "");
}

static void kinds_know_plurals_and_both_languages(void **state)
{
    (void)state;
    static const struct {
        enum al_word_kind kind;
        const char *yes, *no;
    } cases[] = {
        {AL_WORD_FLOW, "sales sale ventas importe births cost costs qty deaths pasajeros",
         "price region id glass"},
        {AL_WORD_LEVEL, "population poblacion stock balance headcount saldo people", "sales price"},
        {AL_WORD_AVERAGE, "rate tasa tasas ratio price precios score temperature age ratings",
         "sales region"},
        {AL_WORD_PERCENT, "pct percent porcentaje porcentajes", "price"},
        {AL_WORD_ID, "id ids uuid sku folio", "idea region"},
        {AL_WORD_NOT_MEASURE, "zip phone fips postal telefono codigo rank", "zipper"},
        {AL_WORD_PLACE, "latitude longitude lat lng latitud", "late"},
        {AL_WORD_DIMENSION, "region regions category categories categoria ciudades pais paises", "price"},
        {AL_WORD_TIME, "date fecha fechas timestamp", "datum"},
        {AL_WORD_YEAR, "year years ano anio yr", "yearly"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int no = 0; no < 2; no++) {
            al_words_of(&arena, al_str_of(no ? cases[i].no : cases[i].yes), &words);
            for (size_t k = 0; k < words.n; k++)
                if (al_word_is(words.list[k], cases[i].kind) == no)
                    fail_msg("%d: %.*s", (int)cases[i].kind, AL_FMT(words.list[k]));
        }
    assert_false(al_word_is(AL_STR(""), AL_WORD_FLOW));
    assert_false(al_word_is(AL_STR("sales cost"), AL_WORD_FLOW));
    assert_false(al_word_is(AL_STR("sales"), AL_WORD_KINDS));
}

static void compounds_are_known_by_their_parts(void **state)
{
    (void)state;
    assert_true(al_word_classes_deep(AL_STR("domgross")) & AL_CLASS(MONEY));
    assert_true(al_word_classes_deep(AL_STR("winpercent")) & AL_CLASS(PERCENT));
    assert_true(al_word_classes_deep(AL_STR("avgprice")) & AL_CLASS(RATE));
    assert_true(al_word_classes_deep(AL_STR("avgprice")) & AL_CLASS(UNIT));
    assert_int_equal(al_word_classes_deep(AL_STR("xyzzy")), 0);
    assert_int_equal(al_word_classes_deep(AL_STR("paramount")) & AL_CLASS(CODE), 0);
}

static void words_of_two_languages_mean_the_same(void **state)
{
    (void)state;
    assert_int_equal(al_word_synonyms(AL_STR("ventas")), al_word_synonyms(AL_STR("revenue")));
    assert_int_equal(al_word_synonyms(AL_STR("sales")), al_word_synonyms(AL_STR("ingresos")));
    assert_int_equal(al_word_synonyms(AL_STR("ciudades")), al_word_synonyms(AL_STR("city")));
    assert_int_equal(al_word_synonyms(AL_STR("cities")), al_word_synonyms(AL_STR("ciudad")));
    assert_int_not_equal(al_word_synonyms(AL_STR("cost")), al_word_synonyms(AL_STR("price")));
    assert_true(al_word_same(AL_STR("estado"), AL_STR("status")) &&
                al_word_same(AL_STR("estados"), AL_STR("state")));
    assert_true(al_word_same(AL_STR("quux"), AL_STR("quux")) &&
                !al_word_same(AL_STR("status"), AL_STR("state")));
    assert_int_equal(al_word_synonyms(AL_STR("quux")), -1);
    assert_int_equal(al_word_synonyms(AL_STR("")), -1);
}

static void months_and_weekdays_of_five_languages_have_numbers(void **state)
{
    (void)state;
    assert_int_equal(al_word_month(AL_STR("january")), 1);
    assert_int_equal(al_word_month(AL_STR("ene.")), 1);
    assert_int_equal(al_word_month(AL_STR("dezember")), 12);
    assert_int_equal(al_word_month(AL_STR("fevrier")), 2);
    assert_int_equal(al_word_month(AL_STR("abril")), 4);
    assert_int_equal(al_word_month(AL_STR("smarch")), 0);
    assert_int_equal(al_word_weekday(AL_STR("mon")), 1);
    assert_int_equal(al_word_weekday(AL_STR("domingo")), 7);
    assert_int_equal(al_word_weekday(AL_STR("terca-feira")), 2);
    assert_int_equal(al_word_weekday(AL_STR("")), 0);
}

static void assert_shown(const char *name, const char *label, const char *shown)
{
    struct al_str s = al_display_name(&arena, al_str_of(name), al_str_of(label));
    char got[600];
    snprintf(got, sizeof got, "%.*s", AL_FMT(s));
    assert_string_equal(got, shown);
}

static void names_are_shown_as_people_would_write_them(void **state)
{
    (void)state;
    assert_shown("us_gross", "US Gross", "US Gross");
    assert_shown("miles_per_gallon", "Miles_per_Gallon", "Miles per gallon");
    assert_shown("sepal_length", "Sepal.Length", "Sepal length");
    assert_shown("unit_price_usd", "unit_price_usd", "Unit price (USD)");
    assert_shown("margin_pct", "margin_pct", "Margin (%)");
    assert_shown("weight_in_lbs", "Weight_in_lbs", "Weight (lbs)");
    assert_shown("imdb_id", "imdb_id", "IMDB ID");
    assert_shown("order_date", "order date", "Order date");
    assert_shown("budget_year", "budgetYear", "Budget year");
    assert_shown("film", "FILM", "Film");
    assert_shown("rectangle_3d_frame", "RECTANGLE_3D_FRAME", "Rectangle 3d frame");
    assert_shown("co2", "CO2", "CO2");
    assert_shown("pm2_5", "PM2.5", "PM2.5");
    assert_shown("facturacion", "Facturación", "Facturación");
    assert_shown("region", "", "Region");
    assert_shown("comision", "comisión", "Comisión");
    assert_shown("ano_fiscal", "año fiscal", "Año fiscal");
    assert_shown("energia", "énergie", "Énergie");
    assert_shown("iphone", "iPhone", "iPhone");
    assert_shown("p_e", "P/E", "P/E");
    assert_shown("incidents_85_99", "incidents_85_99", "Incidents 85–99");
    assert_shown("deaths_2019_2021", "deaths_2019_2021", "Deaths 2019–2021");
}

static void what_cannot_be_seen_in_a_label_goes_and_the_rest_is_cut(void **state)
{
    (void)state;
    char longer[4000];
    assert_shown("a",
                 "Sales\n\tof \xe2\x80\xae"
                 "the\x01 day",
                 "Sales of the day");
    assert_shown("col", "\xe2\x80\x8b\xe2\x80\x8b", "Col");
    assert_shown("bad", "\xff\xfe", "Bad");
    assert_shown("heb", "מכירות", "מכירות");
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    struct al_str s = al_display_name(&arena, AL_STR("a"), al_str_of(longer));
    assert_true(s.n <= 70);
    struct al_arena none = AL_ARENA_INIT(1);
    assert_true(al_str_is(al_display_name(&none, AL_STR("name"), AL_STR("Some label")), "name"));
    al_arena_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_split_where_people_see_words),
        cmocka_unit_test(accents_go_and_other_scripts_stay),
        cmocka_unit_test(bad_bytes_only_end_words),
        cmocka_unit_test(long_texts_and_words_are_cut),
        cmocka_unit_test(no_memory_gives_fewer_words),
        cmocka_unit_test(every_word_of_every_list_is_found),
        cmocka_unit_test(kinds_know_plurals_and_both_languages),
        cmocka_unit_test(compounds_are_known_by_their_parts),
        cmocka_unit_test(words_of_two_languages_mean_the_same),
        cmocka_unit_test(months_and_weekdays_of_five_languages_have_numbers),
        cmocka_unit_test(names_are_shown_as_people_would_write_them),
        cmocka_unit_test(what_cannot_be_seen_in_a_label_goes_and_the_rest_is_cut),
    };
    int r = cmocka_run_group_tests(tests, NULL, NULL);
    al_arena_free(&arena);
    return r;
}
