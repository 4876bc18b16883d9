#include "test.h"

#include "dataset/cell.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

static uint64_t rng = 88172645463325252ULL;
static uint32_t draw(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)((rng >> 16) % n);
}

static void print_value(const struct al_value *v, int scale, struct al_buf *out)
{
    al_buf_clear(out);
    if (v->type == AL_VALUE_INT)
        al_buf_addf(out, "%lld", (long long)v->i);
    else
        al_cell_print(v->d, scale, out);
}

/* Either no number, or one that prints back. Whether it was one. */
static bool holds(struct al_str s, bool zeros_ok)
{
    autobuf struct al_buf out = AL_BUF_INIT(1024);
    struct al_value v;
    unsigned decimals = 99;
    bool zeros = false;
    if (!al_cell_number(s, zeros_ok, &v, &decimals, &zeros))
        return false;
    assert_true(zeros_ok || !zeros);
    assert_true((v.type == AL_VALUE_INT) == (decimals == 0));
    print_value(&v, (int)decimals, &out);
    assert_true(al_str_eq(al_buf_str(&out), s));
    if (!zeros) {
        print_value(&v, -1, &out);
        assert_true(al_str_eq(al_buf_str(&out), s));
    }
    if (v.type == AL_VALUE_REAL) {
        char z[64];
        snprintf(z, sizeof z, "%.*s", AL_FMT(s));
        assert_true(strtod(z, NULL) == v.d);
    }
    return true;
}

static void canonical_texts_are_numbers(void **state)
{
    (void)state;
    static const char *const yes[] = {"0",
                                      "-1",
                                      "7",
                                      "42",
                                      "9007199254740991",
                                      "-9007199254740991",
                                      "0.5",
                                      "-0.5",
                                      "1.5",
                                      "123456.789",
                                      "0.1",
                                      "0.0001",
                                      "0.000000000000000000001",
                                      "12345678901234.5",
                                      "-999999999999999",
                                      "999999.999999999",
                                      "0.3",
                                      "0.0000000123456789012345",
                                      "4503599627370496"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(holds(al_str_of(yes[i]), false));
}

static void other_texts_stay(void **state)
{
    (void)state;
    static const char *const no[] = {"",
                                     "-",
                                     ".",
                                     "-.",
                                     "-0",
                                     "-0.0",
                                     "-0.5e1",
                                     "007",
                                     "00",
                                     "-01",
                                     "01.5",
                                     "+1",
                                     "1.",
                                     ".5",
                                     "-.5",
                                     "1e5",
                                     "1E5",
                                     "0x10",
                                     "1,234",
                                     "1 234",
                                     " 1",
                                     "1 ",
                                     "$12",
                                     "12%",
                                     "N/A",
                                     "NaN",
                                     "inf",
                                     "9007199254740992",
                                     "-9007199254740992",
                                     "12345678901234567890",
                                     "12345678901234567.5",
                                     "1.10",
                                     "1.00",
                                     "0.00",
                                     "1.50",
                                     "1.2.3",
                                     "1-2",
                                     "--1",
                                     "1.2e3",
                                     "0.10000000000000001",
                                     "0.12345678901234560",
                                     "0.00000000000000000000001",
                                     "2022-01-01",
                                     "12:30",
                                     "١",
                                     "1\n",
                                     "1.5\r"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(holds(al_str_of(no[i]), false));
    assert_false(holds((struct al_str){"1\0", 2}, false));
}

/* As programs write columns of floats, with the digits that a double needs. */
static void floats_are_numbers_when_they_print_back(void **state)
{
    (void)state;
    static const char *const yes[] = {"3.0",
                                      "0.0",
                                      "-12.0",
                                      "0.30000000000000004",
                                      "0.8414709848078965",
                                      "0.1234567890123456",
                                      "-1234567.1234567",
                                      "1234567890123456.5"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(holds(al_str_of(yes[i]), false));
}

static void literals_are_numbers_when_a_double_holds_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double d;
    } yes[] = {{"1.50", 1.5},     {"1e5", 1e5},  {"-2.5E-3", -0.0025},
               {"1e+300", 1e300}, {"3.000", 3},  {"-0.0", 0},
               {"0.1", 0.1},      {"100e-2", 1}, {"5e-324", 5e-324},
               {"0e9", 0},        {"12e0", 12},  {"1.7976931348623157e308", 1.7976931348623157e308}};
    struct al_value v;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        assert_true(al_cell_literal(al_str_of(yes[i].text), &v));
        assert_true(v.type == AL_VALUE_REAL && v.d == yes[i].d);
    }
    assert_true(al_cell_literal(AL_STR("-0"), &v) && v.type == AL_VALUE_INT && v.i == 0);
    assert_true(al_cell_literal(AL_STR("9007199254740991"), &v) && v.type == AL_VALUE_INT);
    static const char *const no[] = {"9007199254740993",
                                     "1e400",
                                     "0.10000000000000001",
                                     "1e-400",
                                     "123456789012345678901",
                                     "3.14159265358979323846",
                                     "x",
                                     "1e",
                                     "e5",
                                     "",
                                     "-",
                                     "1e5x"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(al_cell_literal(al_str_of(no[i]), &v));
}

static void trailing_zeros_come_with_a_scale(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "1.50", "0.00", "10.00", "-3.20", "0.0000000000000000000000", "1234567890123.00"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        assert_true(holds(al_str_of(yes[i]), true));
        assert_false(holds(al_str_of(yes[i]), false));
    }
    static const char *const no[] = {"-0.00", "1.", "12345678901234.00", "0.00000000000000000000000",
                                     "00.50"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(holds(al_str_of(no[i]), true));
    struct al_value v;
    unsigned decimals;
    bool zeros;
    assert_true(al_cell_number(AL_STR("1.25"), true, &v, &decimals, &zeros));
    assert_true(decimals == 2 && !zeros && v.d == 1.25);
    assert_true(al_cell_number(AL_STR("1.20"), true, &v, &decimals, &zeros));
    assert_true(decimals == 2 && zeros && v.d == 1.2);
}

static void random_texts_print_back_or_stay(void **state)
{
    (void)state;
    static const char alphabet[] = "0123456789012345678900000..--+eE, x";
    unsigned numbers = 0;
    for (unsigned i = 0; i < 400000; i++) {
        char text[32];
        size_t n = draw(24);
        for (size_t k = 0; k < n; k++)
            text[k] = alphabet[draw(i % 3 ? 26 : sizeof alphabet - 1)];
        numbers += holds((struct al_str){text, n}, i % 2);
    }
    assert_true(numbers > 1000);
}

static void decimals_print_back_at_every_scale(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400000; i++) {
        char text[48];
        uint64_t m = ((uint64_t)draw(1u << 30) << 24 | draw(1u << 24)) % (uint64_t)1000000000000000;
        for (uint32_t cut = draw(15); cut; cut--)
            m /= 10;
        unsigned k = 1 + draw(15);
        uint64_t p = 1;
        for (unsigned j = 0; j < k; j++)
            p *= 10;
        int n = snprintf(text, sizeof text, "%s%llu.%0*llu", m && draw(2) ? "-" : "",
                         (unsigned long long)(m / p), (int)k, (unsigned long long)(m % p));
        assert_true(holds((struct al_str){text, (size_t)n}, true));
    }
}

static void assert_prints(double d, int scale, const char *want)
{
    autobuf struct al_buf out = AL_BUF_INIT(1024);
    al_cell_print(d, scale, &out);
    assert_false(al_buf_failed(&out));
    autofree char *got = al_buf_take(&out);
    assert_string_equal(got, want);
}

static void any_double_prints_without_exponent(void **state)
{
    (void)state;
    assert_prints(0, -1, "0.0");
    assert_prints(-0.0, -1, "0.0");
    assert_prints(1e21, -1, "1000000000000000000000");
    assert_prints(1.5e22, -1, "15000000000000000000000");
    assert_prints(-1.25e-10, -1, "-0.000000000125");
    assert_prints(0.1 + 0.2, -1, "0.30000000000000004");
}

static void doubles_read_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t bits = (uint64_t)draw(1u << 31) << 40 ^ (uint64_t)draw(1u << 31) << 20 ^ draw(1u << 31);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (!isfinite(d))
            continue;
        autobuf struct al_buf out = AL_BUF_INIT(1024);
        al_cell_print(d, i % 4 ? -1 : (int)draw(60) - 10, &out);
        assert_false(al_buf_failed(&out));
        autofree char *z = al_buf_take(&out);
        assert_null(strchr(z, 'e'));
        if (i % 4)
            assert_true(strtod(z, NULL) == d);
    }
    assert_prints(INFINITY, -1, "Infinity");
    assert_prints(-INFINITY, 2, "-Infinity");
    assert_prints(NAN, 2, "NaN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_texts_are_numbers),
        cmocka_unit_test(other_texts_stay),
        cmocka_unit_test(floats_are_numbers_when_they_print_back),
        cmocka_unit_test(literals_are_numbers_when_a_double_holds_them),
        cmocka_unit_test(trailing_zeros_come_with_a_scale),
        cmocka_unit_test(random_texts_print_back_or_stay),
        cmocka_unit_test(decimals_print_back_at_every_scale),
        cmocka_unit_test(any_double_prints_without_exponent),
        cmocka_unit_test(doubles_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
