#include "test.h"

#include "dataset/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B(name) (1u << AL_PATTERN_##name)
#define COMMA B(DECIMAL_COMMA)
#define POINT B(DECIMAL_POINT)

struct match_case {
    const char *text;
    uint32_t bits;
    int misleads;
};

static void check_matches(const struct match_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct al_str s = al_str_of(cases[i].text);
        if (al_pattern_match(s) != cases[i].bits || al_pattern_misleads(s) != (cases[i].misleads != 0))
            fail_msg("\"%s\": bits %x, not %x; misleads %d", cases[i].text, al_pattern_match(s),
                     cases[i].bits, al_pattern_misleads(s));
    }
}
#define CHECK(cases) check_matches(cases, sizeof cases / sizeof cases[0])

static void numbers_are_known_by_their_separators(void **state)
{
    (void)state;
    static const struct match_case cases[] = {
        {"12", COMMA | POINT, 0},
        {"-3.5", POINT, 0},
        {" 12 ", COMMA | POINT, 0},
        {"1.50", POINT, 0},
        {"1.234", COMMA | POINT, 0},
        {"1,234", COMMA | POINT, 1},
        {"1,5", COMMA, 1},
        {"0,125", COMMA, 1},
        {",5", COMMA, 1},
        {"1234,567", COMMA, 1},
        {"1.234,56", COMMA, 1},
        {"1.234.567", COMMA, 1},
        {"1,234.56", POINT, 1},
        {"1,234,567", POINT, 1},
        {"12,34,567.8", POINT, 1},
        {"1 234", COMMA | POINT, 1},
        {"1 234 567,8", COMMA, 1},
        {"1\xc2\xa0"
         "234,56",
         COMMA, 1},
        {"1\xe2\x80\xaf"
         "234,56",
         COMMA, 1},
        {"1'234.50", POINT, 1},
        {"1\xe2\x80\x99"
         "234",
         COMMA | POINT, 1},
        {"\xe2\x88\x92"
         "5",
         COMMA | POINT, 1},
        {"12-", COMMA | POINT, 1},
        {"- 12", COMMA | POINT, 1},
        {"+12", COMMA | POINT, 0},
        {"\xc2\xa0"
         "12",
         COMMA | POINT, 1},
        {"1e5", B(SCIENTIFIC), 0},
        {"1.5E+03", B(SCIENTIFIC) | POINT, 0},
        {"1,5E-3", B(SCIENTIFIC) | COMMA, 1},
        {"192.168.100.200", COMMA, 0},
        {"999.168.100.200", COMMA, 1},
    };
    CHECK(cases);
}

static void what_stands_around_numbers_is_known(void **state)
{
    (void)state;
    static const struct match_case cases[] = {
        {"12 %", B(PERCENT), 1},
        {"12%", B(PERCENT), 1},
        {"12,5\xc2\xa0%", B(PERCENT) | COMMA, 1},
        {"-12.5%", B(PERCENT) | POINT, 1},
        {"%12", B(PERCENT), 1},
        {"$12", B(CURRENCY), 1},
        {"$ 12", B(CURRENCY), 1},
        {"$1,234.56", B(CURRENCY) | POINT, 1},
        {"-$12", B(CURRENCY), 1},
        {"$-12", B(CURRENCY), 1},
        {"($12)", B(CURRENCY), 1},
        {"$(12.50)", B(CURRENCY) | POINT, 1},
        {"12 €", B(CURRENCY), 1},
        {"1.234,56 €", B(CURRENCY) | COMMA, 1},
        {"€1.234", B(CURRENCY), 1},
        {"£5", B(CURRENCY), 1},
        {"¥500", B(CURRENCY), 1},
        {"₹ 12,34,567", B(CURRENCY) | POINT, 1},
        {"R$ 12,50", B(CURRENCY) | COMMA, 1},
        {"12 kr", B(CURRENCY), 1},
        {"12,50 kr.", B(CURRENCY) | COMMA, 1},
        {"CHF 1'234.50", B(CURRENCY) | POINT, 1},
        {"USD 12", B(CURRENCY), 1},
        {"12EUR", B(CURRENCY), 1},
        {"12 zł", B(CURRENCY), 1},
        {"(12)", B(BRACKETED), 1},
        {"(1,234.56)", B(BRACKETED) | POINT, 1},
    };
    CHECK(cases);
}

static void codes_and_words_are_no_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "abc",
        "007",
        "00,5",
        "$007",
        "1.10.2",
        "1.2.3.4",
        "10.0.0.1",
        "555-1234",
        "+1 555 123 4567",
        "+34 600 123 456",
        "(555) 123-4567",
        "01 42 68 53 00",
        "0 123 456",
        "12 kg",
        "12345-AB",
        "N/A",
        "#1",
        "12:30",
        "1,2,3",
        "1.234,567.8",
        "1,234.56.78",
        "--5",
        "(-5)",
        "-5-",
        "(12",
        "12)",
        "$12 €",
        "12 % €",
        "$",
        "%",
        "()",
        "5.",
        "1..2",
        "TOP 10",
        "R2",
        "EURO 12",
        "12 EURO",
        "12 krone",
        "1/2",
        "12 34",
        "1e999999",
        "Room 12",
        "2x4",
        "1 2345",
        "5 % 5",
        "١٢",
        "1234567890123456789012345678901234567890123",
        "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct al_str s = al_str_of(texts[i]);
        if (al_pattern_match(s) || al_pattern_misleads(s))
            fail_msg("\"%s\": bits %x, misleads %d", texts[i], al_pattern_match(s), al_pattern_misleads(s));
    }
}

static void dates_are_known_in_the_ways_people_write_them(void **state)
{
    (void)state;
    static const struct match_case cases[] = {
        {"31/12/2024", B(DATE_DMY), 0},
        {"12/31/2024", B(DATE_MDY), 0},
        {"05/06/2024", B(DATE_DMY) | B(DATE_MDY), 0},
        {"31.12.2024", B(DATE_DMY), 0},
        {"1.2.2024", B(DATE_DMY) | B(DATE_MDY), 0},
        {"12-31-2024", B(DATE_MDY), 0},
        {"31/12/2024 23:59", B(DATE_DMY), 0},
        {"12/31/2024, 11:59:59 PM", B(DATE_MDY), 0},
        {"2024/12/31", B(DATE_YMD), 0},
        {"2024.12.31", B(DATE_YMD), 0},
        {"2024-1-5", B(DATE_YMD), 0},
        {"20241231", B(DATE_YMD) | COMMA | POINT, 0},
        {"5 Jan 2024", B(DATE_NAMED), 0},
        {"January 5, 2024", B(DATE_NAMED), 0},
        {"Jan 5 2024", B(DATE_NAMED), 0},
        {"05-ene-2024", B(DATE_NAMED), 0},
        {"5. März 2024", B(DATE_NAMED), 0},
        {"1er août 2024", B(DATE_NAMED), 0},
        {"5 de março de 2024", B(DATE_NAMED), 0},
        {"3rd of March, 2024", B(DATE_NAMED), 0},
        {"31-DEC-2024 10:00", B(DATE_NAMED), 0},
        {"2024-Dec-31", B(DATE_NAMED), 0},
        {"2024-12-31", 0, 0},
        {"2024-12-31 10:00", 0, 0},
        {"31/02/2024", 0, 0},
        {"29/02/2023", 0, 0},
        {"29/02/2024", B(DATE_DMY), 0},
        {"32/01/2024", 0, 0},
        {"13/13/2024", 0, 0},
        {"31/12/24", 0, 0},
        {"31/12/20245", 0, 0},
        {"31/12.2024", 0, 0},
        {"31/12/2024 25:00", 0, 0},
        {"31/12/2024 13:00 PM", 0, 0},
        {"5 Foo 2024", 0, 0},
        {"31 Feb 2024", 0, 0},
        {"May", 0, 0},
        {"20241301", COMMA | POINT, 0},
    };
    CHECK(cases);
}

static void iso_dates_are_known(void **state)
{
    (void)state;
    static const char *const yes[] = {"2024-01-05",
                                      "2024-12-31T10:00",
                                      "2024-12-31 10:00:59",
                                      "2024-12-31T10:00:59.123",
                                      "2024-12-31T10:00Z",
                                      "2024-12-31T10:00:00+0130",
                                      "2024-12-31T10:00:00-08:00"};
    static const char *const no[] = {"2024-1-05",
                                     "2024-13-05",
                                     "2024-00-05",
                                     "2024-01-00",
                                     "2024-01-32",
                                     "2024-01-05 ",
                                     "2024-01-05x",
                                     "2024-01-05T1:00",
                                     "2024-01-05T25:00",
                                     "2024-01-05T10:60",
                                     "2024-01-05T10:00:",
                                     "2024-01-05T10:00:00.",
                                     "2024-01-05T10:00+1",
                                     "2024/01/05",
                                     "",
                                     "2024-01-05T10:00:00+01:0",
                                     "20x4-01-05"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!al_pattern_is_iso(al_str_of(yes[i])))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (al_pattern_is_iso(al_str_of(no[i])))
            fail_msg("%s", no[i]);
}

struct convert_case {
    enum al_pattern p;
    char decimal;
    const char *text;
    const char *want; /* NULL: does not fit */
};

static void print_value(const struct al_value *v, char *out, size_t n)
{
    if (v->type == AL_VALUE_INT)
        snprintf(out, n, "%lld", (long long)v->i);
    else if (v->type == AL_VALUE_REAL)
        snprintf(out, n, "r%.15g", v->d);
    else
        snprintf(out, n, "%.*s", AL_FMT(v->text));
}

static void texts_convert_by_their_columns_pattern(void **state)
{
    (void)state;
    static const struct convert_case cases[] = {
        {AL_PATTERN_DECIMAL_COMMA, 0, "1.234,56", "r1234.56"},
        {AL_PATTERN_DECIMAL_COMMA, 0, "1.234", "1234"},
        {AL_PATTERN_DECIMAL_COMMA, 0, "1,234", "r1.234"},
        {AL_PATTERN_DECIMAL_COMMA, 0, "1 234,5", "r1234.5"},
        {AL_PATTERN_DECIMAL_COMMA, 0, "12", "12"},
        {AL_PATTERN_DECIMAL_COMMA, 0, "1.5", NULL},
        {AL_PATTERN_DECIMAL_COMMA, 0, "-0,5", "r-0.5"},
        {AL_PATTERN_DECIMAL_COMMA, 0, "12 %", NULL},
        {AL_PATTERN_DECIMAL_COMMA, 0, "€ 12", NULL},
        {AL_PATTERN_DECIMAL_COMMA, 0, "007", NULL},
        {AL_PATTERN_DECIMAL_POINT, 0, "1,234.56", "r1234.56"},
        {AL_PATTERN_DECIMAL_POINT, 0, "1,234", "1234"},
        {AL_PATTERN_DECIMAL_POINT, 0, "1,23", NULL},
        {AL_PATTERN_DECIMAL_POINT, 0, "n/a", NULL},
        {AL_PATTERN_DECIMAL_POINT, 0, "9,007,199,254,740,991", "9007199254740991"},
        {AL_PATTERN_DECIMAL_POINT, 0, "9,007,199,254,740,993", "r9.00719925474099e+15"},
        {AL_PATTERN_PERCENT, '.', "12 %", "12"},
        {AL_PATTERN_PERCENT, ',', "12,5%", "r12.5"},
        {AL_PATTERN_PERCENT, '.', "12,5%", NULL},
        {AL_PATTERN_PERCENT, '.', "0.12", NULL},
        {AL_PATTERN_CURRENCY, '.', "$1,234", "1234"},
        {AL_PATTERN_CURRENCY, ',', "€ 1.234", "1234"},
        {AL_PATTERN_CURRENCY, '.', "($1,234.50)", "r-1234.5"},
        {AL_PATTERN_CURRENCY, '.', "12.5", "r12.5"},
        {AL_PATTERN_CURRENCY, '.', "12 %", NULL},
        {AL_PATTERN_BRACKETED, '.', "(12)", "-12"},
        {AL_PATTERN_BRACKETED, '.', "12", "12"},
        {AL_PATTERN_BRACKETED, '.', "12-", "-12"},
        {AL_PATTERN_SCIENTIFIC, '.', "1.5e3", "r1500"},
        {AL_PATTERN_SCIENTIFIC, '.', "1e400", NULL},
        {AL_PATTERN_DATE_DMY, 0, "31/12/2024", "2024-12-31"},
        {AL_PATTERN_DATE_DMY, 0, "5.6.2024", "2024-06-05"},
        {AL_PATTERN_DATE_DMY, 0, "12/31/2024", NULL},
        {AL_PATTERN_DATE_DMY, 0, "31/12/2024 7:05", "2024-12-31T07:05:00"},
        {AL_PATTERN_DATE_MDY, 0, "05/06/2024", "2024-05-06"},
        {AL_PATTERN_DATE_MDY, 0, "12/31/2024 12:00 AM", "2024-12-31T00:00:00"},
        {AL_PATTERN_DATE_MDY, 0, "12/31/2024 12:01:02 p.m.", "2024-12-31T12:01:02"},
        {AL_PATTERN_DATE_YMD, 0, "20241231", "2024-12-31"},
        {AL_PATTERN_DATE_YMD, 0, "2024/1/5 10:00:00 +0130", "2024-01-05T10:00:00+01:30"},
        {AL_PATTERN_DATE_YMD, 0, "2024-01-05", "2024-01-05"},
        {AL_PATTERN_DATE_NAMED, 0, "5 Jan 2024", "2024-01-05"},
        {AL_PATTERN_DATE_NAMED, 0, "05-ene-2024", "2024-01-05"},
        {AL_PATTERN_DATE_NAMED, 0, "31/12/2024", NULL},
        {AL_PATTERN_EPOCH_SECONDS, 0, "0", "1970-01-01T00:00:00"},
        {AL_PATTERN_EPOCH_SECONDS, 0, "951827696", "2000-02-29T12:34:56"},
        {AL_PATTERN_EPOCH_SECONDS, 0, "1735689599", "2024-12-31T23:59:59"},
        {AL_PATTERN_EPOCH_SECONDS, 0, "1.5", NULL},
        {AL_PATTERN_NONE, 0, "12", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buf[32], got[64] = "does not fit";
        struct al_value v;
        if (al_pattern_convert(cases[i].p, cases[i].decimal, al_str_of(cases[i].text), &v, buf))
            print_value(&v, got, sizeof got);
        if (strcmp(got, cases[i].want ? cases[i].want : "does not fit") != 0)
            fail_msg("%s by %s: %s", cases[i].text, al_pattern_id(cases[i].p), got);
    }
}

static void lone_texts_convert_where_there_is_no_doubt(void **state)
{
    (void)state;
    static const struct convert_case cases[] = {
        {0, 0, "1.234,56", "r1234.56"},
        {0, 0, "1,234", NULL},
        {0, 0, "1,234,567", "1234567"},
        {0, 0, "12", "12"},
        {0, 0, "007", "7"},
        {0, 0, "1e5", "r100000"},
        {0, 0, "$12", "12"},
        {0, 0, "$1,234", NULL},
        {0, 0, "(12)", "-12"},
        {0, 0, "12 %", "12"},
        {0, 0, "1 234", "1234"},
        {0, 0, "1.2.3", NULL},
        {0, 0, "abc", NULL},
        {0, 0, "", NULL},
        {0, 0, "192.168.100.200", NULL},
        {0, 0, "1.234", "r1.234"},
        {0, 0,
         "\xe2\x88\x92"
         "1,5",
         "r-1.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char got[64] = "NULL";
        struct al_value v;
        if (al_pattern_number(al_str_of(cases[i].text), &v))
            print_value(&v, got, sizeof got);
        if (strcmp(got, cases[i].want ? cases[i].want : "NULL") != 0)
            fail_msg("to_number(%s): %s", cases[i].text, got);
    }
    static const char *const dates[][2] = {
        {"2024-12-31", "2024-12-31"},
        {"2024-12-31 10:00", "2024-12-31T10:00:00"},
        {"31/12/2024", "2024-12-31"},
        {"12/31/2024", "2024-12-31"},
        {"05/06/2024", NULL},
        {"05/05/2024", "2024-05-05"},
        {"20241231", "2024-12-31"},
        {"January 5, 2024", "2024-01-05"},
        {"2024-02-30", NULL},
        {"12", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        char buf[32];
        bool ok = al_pattern_date(al_str_of(dates[i][0]), buf);
        if (ok != (dates[i][1] != NULL) || (ok && strcmp(buf, dates[i][1]) != 0))
            fail_msg("to_date(%s): %s", dates[i][0], ok ? buf : "NULL");
    }
}

/* Cells apart by '|', as a column: canonical numbers are numbers. "*20" repeats the cell before. */
static void decide(const char *column, char decimal, struct al_pattern_verdict *ret)
{
    struct al_pattern_counts c = {0};
    struct al_value v = {0};
    for (const char *p = column; *p;) {
        const char *end = strchrnul(p, '|');
        struct al_str s = {p, (size_t)(end - p)};
        uint64_t n = 1;
        unsigned decimals;
        bool zeros;
        if (*p == '*')
            n = (uint64_t)strtoul(p + 1, NULL, 10);
        else if (!al_cell_number(s, false, &v, &decimals, &zeros))
            v = (struct al_value){.type = AL_VALUE_TEXT, .text = s};
        al_pattern_count_n(&c, &v, n);
        p = *end ? end + 1 : end;
    }
    al_pattern_decide(&c, decimal, ret);
}

static void a_column_decides_its_pattern(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        char forced;
        const char *id;
        char mark;
    } cases[] = {
        {"1.234,56|12,5|7", 0, "1.234,56", ','},
        {"1,234.56|12.5|7", 0, "1,234.56", '.'},
        {"1,234|2,500|999", 0, "1,234.56", '.'},
        {"1,234|2,500|999", ',', "1.234,56", ','},
        {"1,234|999", 0, "1,234.56", '.'},
        {"1,234", 0, "", '.'},
        {"1,234|0,5", 0, "1.234,56", ','},
        {"1,5|1.5", 0, "", 0},
        {"1.234,5|1.234|12", 0, "1.234,56", ','},
        {"1.50|1.5|2", 0, "1,234.56", '.'},
        {".097|-.5|1", 0, "1,234.56", '.'},
        {"0.12345678901234567890|0.5", 0, "1,234.56", '.'},
        {"12345678901234567890|12345678901234567891", 0, "", '.'},
        {"12|13|1.5", 0, "", '.'},
        {"12 %|13,5 %", 0, "12 %", ','},
        {"12 %|0.5", 0, "", 0},
        {"$1,234|$5", 0, "$ 12", '.'},
        {"1.234 €|5.500 €", 0, "$ 12", ','},
        {"$5|€ 5", 0, "", 0},
        {"$5|6", 0, "$ 12", '.'},
        {"(12)|13", 0, "(12)", '.'},
        {"31/12/2024|05/06/2024", 0, "dd/mm/yyyy", 0},
        {"12/31/2024|05/06/2024", 0, "mm/dd/yyyy", 0},
        {"04/05/2024|05/06/2024", 0, "", 0},
        {"31/12/2024|12/31/2024", 0, "", 0},
        {"2024/12/31|2024.01.01", 0, "yyyy/mm/dd", 0},
        {"20241231|20240101|20240515|20240516|20240630", 0, "yyyy/mm/dd", 0},
        {"20241231|20240101", 0, "", 0},
        {"5 Jan 2024|6 Feb 2024|2024-02-07", 0, "dd Mon yyyy", 0},
        {"2024-01-05|2024-01-06", 0, "", 0},
        {"1e5|2e5|3", 0, "1e5", '.'},
        {"1700000000|*10|1710000000|*10", 0, "epoch seconds", 0},
        {"1700000000|*10|1710000000|*10|x", 0, "", 0},
        {"1700000000|*18", 0, "", 0},
        {"1000000000|*20|1000000020", 0, "", 0},
        {"950000000|*20|2050000000", 0, "", 0},
        {"192.168.100.200|192.168.100.201", 0, "", 0},
        {"Alice|Bob", 0, "", 0},
        {"007|008", 0, "", 0},
        {"1,5|*18|n/a", 0, "1.234,56", ','},
        {"1,5|*17|n/a", 0, "", 0},
        {"", 0, "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_pattern_verdict v;
        decide(cases[i].column, cases[i].forced, &v);
        if (strcmp(al_pattern_id(v.pattern), cases[i].id) != 0 ||
            (cases[i].mark && v.decimal != cases[i].mark))
            fail_msg("%s: \"%s\" %c", cases[i].column, al_pattern_id(v.pattern), v.decimal);
    }
}

static void mixtures_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        bool decimals, dates;
    } cases[] = {
        {"1,5|1.5", true, false},
        {"1,5|1.234,5", false, false},
        {"1.234,5|1.234", false, false},
        {"1,5|1,234.5", true, false},
        {"31/12/2024|12/31/2024", false, true},
        {"31/12/2024|2024-01-01", false, true},
        {"5 Jan 2024|2024/01/01", false, true},
        {"2024-01-01|2024-01-02", false, false},
        {"31/12/2024|1/1/2024", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct al_pattern_verdict v;
        decide(cases[i].column, 0, &v);
        if (v.mixed_decimals != cases[i].decimals || v.mixed_dates != cases[i].dates)
            fail_msg("%s: %d %d", cases[i].column, v.mixed_decimals, v.mixed_dates);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_known_by_their_separators),
        cmocka_unit_test(what_stands_around_numbers_is_known),
        cmocka_unit_test(codes_and_words_are_no_numbers),
        cmocka_unit_test(dates_are_known_in_the_ways_people_write_them),
        cmocka_unit_test(iso_dates_are_known),
        cmocka_unit_test(texts_convert_by_their_columns_pattern),
        cmocka_unit_test(lone_texts_convert_where_there_is_no_doubt),
        cmocka_unit_test(a_column_decides_its_pattern),
        cmocka_unit_test(mixtures_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
