/* Headers into identifiers. */
#include "test.h"

#include "base/mem.h"
#include "dataset/names.h"
#include "table/icu.h"

#include <stdio.h>
#include <stdlib.h>

static void check(const char *const *labels, const char *const *want, size_t n)
{
    struct al_names *names = al_names_new();
    for (size_t i = 0; i < n; i++) {
        struct al_str got = al_names_add(names, al_str_of(labels[i]), (unsigned)i + 1);
        if (!al_str_is(got, want[i]))
            fail_msg("%s became %.*s, not %s", labels[i], AL_FMT(got), want[i]);
    }
    al_names_free(names);
}
#define CHECK(labels, want) check(labels, want, sizeof(labels) / sizeof((labels)[0]))

static void headers_become_identifiers(void **state)
{
    (void)state;
    const char *const labels[] = {"Total", "Unit Price ($)", "%",        "",          "2024", "__x__",
                                  "a.b-c", "release",        "sqlite_x", "_alisio_y", "A  B"};
    const char *const want[] = {"total", "unit_price", "column_3",  "column_4", "_2024", "x",
                                "a_b_c", "release",    "_sqlite_x", "alisio_y", "a_b"};
    CHECK(labels, want);
}

static void taken_names_get_a_number(void **state)
{
    (void)state;
    const char *const labels[] = {"a",   "A",   "a_2", "a",         "rowid",     "ROWID", "_rowid_",
                                  "oid", "a 2", "",    "column 10", "column_11", ""};
    const char *const want[] = {"a",           "a_2",       "a_2_2",    "a_3",   "rowid_2",
                                "rowid_3",     "rowid_4",   "oid_2",    "a_2_3", "column_10",
                                "column_10_2", "column_11", "column_13"};
    CHECK(labels, want);
}

static void long_headers_are_cut(void **state)
{
    (void)state;
    const char *const labels[] = {"this is a header that has more than forty eight characters, it does",
                                  "this is a header that has more than forty eight charac",
                                  "123456789012345678901234567890123456789012345678901234567890",
                                  "this is a header that has more than forty eight, yes"};
    const char *const want[] = {"this_is_a_header_that_has_more_than_forty_eight",
                                "this_is_a_header_that_has_more_than_forty_eight_2",
                                "_12345678901234567890123456789012345678901234567",
                                "this_is_a_header_that_has_more_than_forty_eight_3"};
    CHECK(labels, want);
}

static void a_thousand_names_are_unique(void **state)
{
    (void)state;
    struct al_names *names = al_names_new();
    struct al_str first = al_names_add(names, AL_STR("x"), 1), last = first;
    for (unsigned i = 2; i <= 1016; i++)
        last = al_names_add(names, AL_STR("X"), i);
    assert_true(al_str_is(first, "x"));
    assert_true(al_str_is(last, "x_1016"));
    al_names_free(names);
}

static void sheets_and_their_views_share_no_name(void **state)
{
    (void)state;
    static const struct {
        const char *sheet, *want;
    } sheets[] = {
        {"Sheet1", "s_sheet1"},       {"a", "s_a"},
        {"a values", "s_a_values_2"}, {"A", "s_a_2"},
        {"2024", "s_2024"},           {"!!", "s_sheet_6"},
        {"b values", "s_b_values"},   {"b", "s_b_2"},
        {"sqlite_x", "s_sqlite_x"},   {"_alisio_meta", "s_alisio_meta"},
    };
    struct al_names *names = al_names_new();
    for (unsigned i = 0; i < sizeof sheets / sizeof sheets[0]; i++) {
        struct al_str got = al_names_add_table(names, al_str_of(sheets[i].sheet), i + 1);
        if (!al_str_is(got, sheets[i].want))
            fail_msg("%s became %.*s", sheets[i].sheet, AL_FMT(got));
    }
    al_names_free(names);
}

static void other_scripts_are_transliterated(void **state)
{
    (void)state;
    if (!al_icu_load()) {
        print_message("skipped: ICU is not installed\n");
        skip();
    }
    const char *const labels[] = {"Año de venta", "城市", "Дата", "Größe", "Ελλάδα", "Prénom", "ﬁle", "🙂"};
    const char *const want[] = {"ano_de_venta", "cheng_shi", "data", "grosse",
                                "ellada",       "prenom",    "file", "column_8"};
    CHECK(labels, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_become_identifiers),
        cmocka_unit_test(taken_names_get_a_number),
        cmocka_unit_test(long_headers_are_cut),
        cmocka_unit_test(a_thousand_names_are_unique),
        cmocka_unit_test(sheets_and_their_views_share_no_name),
        cmocka_unit_test(other_scripts_are_transliterated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
