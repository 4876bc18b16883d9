/* Numbers and dates as text, with ICU and without, and language tags. */
#include "test.h"

#include "dashboard/dashboard_int.h"
#include "table/icu.h"

#include <math.h>
#include <stdlib.h>

static const struct al_number_style whole,
    two = {.max_digits = 2}, price = {.min_digits = 2, .max_digits = 2},
    percent = {.percent = true, .max_digits = 1}, compact = {.compact = true, .max_digits = 1},
    small = {.significant = 3};

static void number_is(const char *locale, const struct al_number_style *s, double v, const char *wanted)
{
    struct al_format *f = al_format_new(al_str_of(locale));
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_format_number(f, s, v, &b);
    al_buf_addc(&b, 0);
    assert_string_equal(b.p, wanted);
    al_format_free(f);
}

static void time_is(const char *locale, enum al_bucket bucket, const char *key, const char *wanted)
{
    struct al_format *f = al_format_new(al_str_of(locale));
    autobuf struct al_buf b = AL_BUF_INIT(4096);
    al_format_bucket(f, bucket, al_str_of(key), &b);
    al_buf_addc(&b, 0);
    assert_string_equal(b.p, wanted);
    al_format_free(f);
}

/* English as Intl.NumberFormat("en") has it, from the built-in code at first and from ICU later. */
static void check_english(void)
{
    number_is("en", &whole, 0, "0");
    number_is("en", &whole, -0.0, "0");
    number_is("en", &whole, 999, "999");
    number_is("en", &whole, 1000, "1,000");
    number_is("en", &whole, 2.5, "3");
    number_is("en", &whole, -1234567, "-1,234,567");
    number_is("en", &two, 1.005, "1.01");
    number_is("en", &two, 9999.995, "10,000");
    number_is("en", &two, 0.125, "0.13");
    number_is("en", &two, 12.3, "12.3");
    number_is("en", &price, 1.5, "1.50");
    number_is("en", &price, 1e21, "1,000,000,000,000,000,000,000.00");
    number_is("en", &percent, 0.1234, "12.3%");
    number_is("en", &percent, 1, "100%");
    number_is("en", &percent, 12, "1,200%");
    number_is("en", &compact, 999, "999");
    number_is("en", &compact, 1234, "1.2K");
    number_is("en", &compact, 999949, "999.9K");
    number_is("en", &compact, 999950, "1M");
    number_is("en", &compact, 1234567, "1.2M");
    number_is("en", &compact, -1.5e9, "-1.5B");
    number_is("en", &compact, 1e15, "1000T");
    number_is("en", &compact, 1e16, "10,000T");
    number_is("en", &small, 0.0012345, "0.00123");
    number_is("en", &small, 0.5, "0.5");
    number_is("en", &small, 0.99951, "1");
    number_is("en", &whole, NAN, "\xe2\x80\x94");
    number_is("en", &whole, INFINITY, "\xe2\x80\x94");
    number_is("en", &(struct al_number_style){.unit_percent = true, .max_digits = 1}, 12.5, "12.5%");
}

static void without_icu_numbers_are_english_and_dates_are_their_keys(void **state)
{
    (void)state;
    check_english();
    number_is("de", &two, 1234.5, "1,234.5");
    time_is("de", AL_BUCKET_MONTH, "2024-03", "2024-03");
    time_is("de", AL_BUCKET_HOUR, "2024-03-05T07", "2024-03-05T07");
}

static bool no_icu(void)
{
    al_dashboard_prepare();
    if (!al_icu_there())
        print_message("no ICU here: its forms are not tested\n");
    return !al_icu_there();
}

static void english_is_the_same_by_icu(void **state)
{
    (void)state;
    if (no_icu())
        skip();
    check_english();
    number_is("xx", &two, 1234.5, "1,234.5");
}

/* As Chromium's Intl writes them; only what has not changed for years. */
static void numbers_are_those_of_the_language(void **state)
{
    (void)state;
    if (no_icu())
        skip();
    number_is("es", &two, 1234.5, "1234,5"); /* marks from five digits on */
    number_is("es", &two, 12345.678, "12.345,68");
    number_is("es-CO", &two, 1234.5, "1.234,5");
    number_is("es-MX", &two, 1234.5, "1,234.5");
    number_is("de", &two, 1234.5, "1.234,5");
    number_is("de", &percent, 0.1234, "12,3\xc2\xa0%");
    number_is("de", &compact, 1234567, "1,2\xc2\xa0Mio.");
    number_is("fr", &two, 12345.678,
              "12\xe2\x80\xaf"
              "345,68");
    number_is("pt-BR", &two, 12345.678, "12.345,68");
    number_is("pl", &two, 1234, "1234");
    number_is("sv", &two, -12345.5,
              "\xe2\x88\x92"
              "12\xc2\xa0"
              "345,5");
    number_is("hi", &two, 1234567, "12,34,567");
    number_is("ja", &compact, 12345678, "1234.6\xe4\xb8\x87");
    number_is("ar", &two, 1234.5, "1,234.5");
    number_is("ar-EG", &two, 1234.5, "\xd9\xa1\xd9\xac\xd9\xa2\xd9\xa3\xd9\xa4\xd9\xab\xd9\xa5");
    number_is("ar-u-nu-arab", &whole, 12, "\xd9\xa1\xd9\xa2");
}

static void buckets_are_dates_of_the_language(void **state)
{
    (void)state;
    if (no_icu())
        skip();
    time_is("en", AL_BUCKET_MONTH, "2024-03", "Mar 2024");
    time_is("en", AL_BUCKET_QUARTER, "2024-Q1", "Q1 2024");
    time_is("en", AL_BUCKET_YEAR, "2024", "2024");
    time_is("en", AL_BUCKET_WEEK, "2024-03-04", "Mar 4, 2024");
    time_is("en-GB", AL_BUCKET_DAY, "2024-03-05", "5 Mar 2024");
    time_is("en-GB", AL_BUCKET_HOUR, "2024-03-04T07", "4 Mar, 07:00");
    time_is("es", AL_BUCKET_MONTH, "2024-03", "mar 2024");
    time_is("es", AL_BUCKET_QUARTER, "2024-Q4", "T4 2024");
    time_is("de", AL_BUCKET_DAY, "2024-02-29", "29. Feb. 2024");
    time_is("ja", AL_BUCKET_MONTH, "2024-03",
            "2024\xe5\xb9\xb4"
            "3\xe6\x9c\x88");
    /* Gregorian throughout, whatever calendar the country has and however old the date is. */
    time_is("th", AL_BUCKET_YEAR, "2024", "2024");
    time_is("en", AL_BUCKET_DAY, "1500-03-01", "Mar 1, 1500");
    time_is("en", AL_BUCKET_DAY, "9999-12-31", "Dec 31, 9999");
}

static void what_is_no_key_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "",         "x",          "2024-13",       "2024-00-01",     "0000",   "0044-03-15",
        "-044",     "2024-Q5",    "2024-03-05T24", "2024-03-05T07:", "20245",  "2024-3",
        "2024-03-", "2024-03-0x", "2024-03-05 07", "2024-1-",        "+024-01"};
    (void)no_icu();
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        time_is("en", AL_BUCKET_DAY, odd[i], odd[i]);
    time_is("en", AL_BUCKET_NONE, "2024-03", "2024-03");
}

static void options_are_those_of_intl(void **state)
{
    (void)state;
    static const struct {
        struct al_number_style s;
        const char *json;
    } cases[] = {
        {{0}, "{\"minimumFractionDigits\":0,\"maximumFractionDigits\":0}"},
        {{.min_digits = 2, .max_digits = 2}, "{\"minimumFractionDigits\":2,\"maximumFractionDigits\":2}"},
        {{.percent = true, .max_digits = 1},
         "{\"style\":\"percent\",\"minimumFractionDigits\":0,\"maximumFractionDigits\":1}"},
        {{.compact = true, .max_digits = 1},
         "{\"notation\":\"compact\",\"minimumFractionDigits\":0,\"maximumFractionDigits\":1}"},
        {{.significant = 3}, "{\"maximumSignificantDigits\":3}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(4096);
        struct al_jw w;
        al_jw_init(&w, &b);
        al_format_options(&cases[i].s, &w);
        al_buf_addc(&b, 0);
        assert_string_equal(b.p, cases[i].json);
    }
}

/* --- styles --- */

static struct al_number_style style_of(struct al_dash_column c, struct al_widget w, double largest)
{
    struct al_dash *d = calloc(1, sizeof *d);
    d->catalog.columns = &c;
    d->catalog.n = 1;
    struct al_number_style s = al_number_style_of(d, &w, largest);
    free(d);
    return s;
}

static void prices_keep_their_digits_and_counts_have_none(void **state)
{
    (void)state;
    struct al_dash_column cents = {.scale = 2}, count = {.scale = -1, .integers = true}, real = {.scale = -1};
    struct al_widget sum = {.agg = AL_AGG_SUM, .type = AL_W_BAR},
                     mean = {.agg = AL_AGG_AVG, .type = AL_W_BAR},
                     kpi = {.agg = AL_AGG_AVG, .type = AL_W_KPI}, rows = {.agg = AL_AGG_COUNT, .metric = -1};
    struct al_number_style s = style_of(cents, sum, 123456);
    assert_int_equal(s.min_digits, 2);
    assert_int_equal(s.max_digits, 2);
    assert_int_equal(style_of(count, sum, 12).max_digits, 0);
    assert_int_equal(style_of(count, mean, 12).min_digits, 2);
    assert_int_equal(style_of(count, kpi, 12).min_digits, 0);
    assert_int_equal(style_of(count, kpi, 12).max_digits, 2);
    assert_int_equal(style_of(real, sum, 12).max_digits, 2);
    assert_int_equal(style_of(real, sum, 123456).max_digits, 0);
    assert_int_equal(style_of(real, sum, 0.02).significant, 3);
    assert_int_equal(style_of(cents, rows, 5).max_digits, 0);
}

static void fractions_are_percentages_only_where_they_cannot_be_anything_else(void **state)
{
    (void)state;
    struct al_dash_column rate = {.scale = -1, .percent = true},
                          flag = {.scale = -1, .integers = true, .has_range = true, .max = 1},
                          points = {.scale = -1, .unit_percent = true};
    struct al_widget sum = {.agg = AL_AGG_SUM}, mean = {.agg = AL_AGG_AVG},
                     ratio = {.agg = AL_AGG_RATIO, .percent = true};
    assert_true(style_of(rate, mean, 0.5).percent);
    assert_int_equal(style_of(rate, mean, 0.5).max_digits, 1);
    assert_false(style_of(rate, mean, 1.5).percent);
    assert_false(style_of(rate, sum, 0.5).percent);
    assert_true(style_of(flag, mean, 0.4).percent);
    assert_false(style_of(flag, sum, 1).percent);
    assert_true(style_of(flag, ratio, 1.4).percent);
    assert_true(style_of(points, mean, 40).unit_percent);
    assert_false(style_of(points, sum, 40).unit_percent);
}

/* --- language tags --- */

static void tags_come_in_their_canonical_case(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"en", "en"},
        {"EN-gb", "en-GB"},
        {"es_CO", "es-CO"},
        {"ZH-hans-cn", "zh-Hans-CN"},
        {"es-419", "es-419"},
        {"sl-ROZAJ", "sl-rozaj"},
        {"de-1996", "de-1996"},
        {"ar-U-NU-latn", "ar-u-nu-latn"},
        {"en-x-CO", "en-x-co"},
        {"yue-hant-HK", "yue-Hant-HK"},
        {"de-DE-u-co-phonebk", "de-DE-u-co-phonebk"},
    };
    autoarena struct al_arena a = AL_ARENA_INIT(65536);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_str got;
        assert_true(al_locale_canonical(al_str_of(cases[i][0]), &a, &got));
        assert_true(al_str_is(got, cases[i][1]));
    }
}

static void what_is_no_tag_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        "e",
                                        "english language",
                                        "en-",
                                        "-en",
                                        "en--GB",
                                        "abcd",
                                        "12",
                                        "x-foo",
                                        "i-klingon",
                                        "en-u",
                                        "en-GB-oxendict-oxendict",
                                        "en-a-bb-a-cc",
                                        "en-GB-US",
                                        "en\"onload",
                                        "en-<b>",
                                        "\xc3\xa9n",
                                        "de-abcdefghi",
                                        "en-x",
                                        "en-1",
                                        "a-DE"};
    autoarena struct al_arena a = AL_ARENA_INIT(65536);
    char longest[200];
    struct al_str got;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (al_locale_canonical(al_str_of(cases[i]), &a, &got))
            fail_msg("\"%s\" was taken", cases[i]);
    }
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "en-x-", 5);
    assert_false(al_locale_canonical((struct al_str){longest, sizeof longest}, &a, &got));
    assert_false(al_locale_canonical((struct al_str){"en\0-GB", 6}, &a, &got));
}

int main(void)
{
    /* Without ICU first: a process that has it keeps it. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_icu_numbers_are_english_and_dates_are_their_keys),
        cmocka_unit_test(english_is_the_same_by_icu),
        cmocka_unit_test(numbers_are_those_of_the_language),
        cmocka_unit_test(buckets_are_dates_of_the_language),
        cmocka_unit_test(what_is_no_key_stays_as_it_is),
        cmocka_unit_test(options_are_those_of_intl),
        cmocka_unit_test(prices_keep_their_digits_and_counts_have_none),
        cmocka_unit_test(fractions_are_percentages_only_where_they_cannot_be_anything_else),
        cmocka_unit_test(tags_come_in_their_canonical_case),
        cmocka_unit_test(what_is_no_tag_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
