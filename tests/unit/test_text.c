#include "test.h"

#include "base/text.h"

#include <string.h>

static void every_code_point_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        char enc[4];
        uint32_t back = 0;
        unsigned n = al_utf8_encode(cp, enc);
        assert_int_equal(al_utf8_decode((struct al_str){enc, n}, &back), n);
        bool surrogate = cp >= 0xd800 && cp <= 0xdfff;
        assert_int_equal(back, surrogate ? 0xfffd : cp);
        for (unsigned cut = 0; cut < n; cut++)
            assert_int_equal(al_utf8_decode((struct al_str){enc, cut}, &back), 0);
    }
    char enc[4];
    assert_int_equal(al_utf8_encode(0x110000, enc), 3);
    assert_memory_equal(enc, "\xef\xbf\xbd", 3);
}

static void ill_formed_sequences_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x41",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xe1\x80",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xef\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80",
        "\xfe",
        "\xff",
        "\xe2\x82\x28",
        "\xf0\x9f\x98\x28",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t cp = 7;
        assert_int_equal(al_utf8_decode(al_str_of(cases[i]), &cp), 0);
        assert_int_equal(cp, 7);
        assert_false(al_utf8_valid(al_str_of(cases[i])));
    }
    assert_true(al_utf8_valid(AL_STR("")));
    assert_true(al_utf8_valid(AL_STR("a\0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf")));
}

static void characters_are_counted_and_bad_bytes_count_one(void **state)
{
    (void)state;
    assert_int_equal(al_utf8_count(AL_STR("")), 0);
    assert_int_equal(al_utf8_count(AL_STR("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80")), 4);
    assert_int_equal(al_utf8_count(AL_STR("\xf0\x9f\x98")), 3);
}

static void a_cut_ends_at_a_character(void **state)
{
    (void)state;
    struct al_str s = AL_STR("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z");
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t max = 0; max < sizeof want / sizeof want[0]; max++)
        assert_int_equal(al_utf8_cut(s, max).n, want[max]);
    /* Where there is no character to split, the cut takes the bytes. */
    assert_int_equal(al_utf8_cut(AL_STR("\x80\x80\x80\x80\x80\x80"), 4).n, 4);
    assert_int_equal(al_utf8_cut(AL_STR("\xff\xff\xff"), 2).n, 2);
    assert_int_equal(al_utf8_cut(AL_STR("ab"), 100).n, 2);
}

static void head_counts_characters(void **state)
{
    (void)state;
    struct al_str s = AL_STR("a\xc3\xa4\xff\xf0\x9f\x98\x80");
    static const size_t want[] = {0, 1, 3, 4, 8, 8};
    for (size_t n = 0; n < sizeof want / sizeof want[0]; n++)
        assert_int_equal(al_utf8_head(s, n).n, want[n]);
}

static void clean_replaces_each_bad_byte(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"plain \xc3\xa4", "plain \xc3\xa4"},
        {"a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"x\xf0\x9f\x98", "x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(100);
        al_utf8_clean(&b, al_str_of(cases[i][0]));
        assert_true(al_str_is(al_buf_str(&b), cases[i][1]));
        assert_true(al_utf8_valid(al_buf_str(&b)));
    }
}

static void integers_are_read_whole_and_in_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1e3", false, 0},
        {"0x10", false, 0},
        {"--1", false, 0},
        {"\xd9\xa1", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t v = 42;
        assert_int_equal(al_parse_int(al_str_of(cases[i].text), INT64_MIN, INT64_MAX, &v), cases[i].ok);
        assert_int_equal(v, cases[i].ok ? cases[i].want : 42);
    }
    int64_t v = 42;
    assert_false(al_parse_int(AL_STR("11"), 0, 10, &v));
    assert_false(al_parse_int(AL_STR("-1"), 0, 10, &v));
    assert_false(al_parse_int(AL_STR("1\0"), 0, 10, &v));
    assert_int_equal(v, 42);
    assert_true(al_parse_int(AL_STR("10"), 0, 10, &v));
    assert_int_equal(v, 10);
}

static void hidden_characters_are_shown(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool keep;
        const char *want;
    } cases[] = {
        {"plain \xc3\xa4 \xf0\x9f\x98\x80", false, "plain \xc3\xa4 \xf0\x9f\x98\x80"},
        {"\x1b[31mred\x1b[0m", false, "\\x1b[31mred\\x1b[0m"},
        {"a\nb\tc\rd", false, "a\\nb\\tc\\rd"},
        {"a\nb\tc\rd", true, "a\nb\tc\\rd"},
        {"\x07\x7f", true, "\\x07\\x7f"},
        {"\xc2\x9b"
         "31m",
         false, "\\u009b31m"}, /* C1: CSI in one character */
        {"\xe2\x80\xae"
         "evil",
         false, "\\u202eevil"}, /* right-to-left override */
        {"\xe2\x81\xa6", false, "\\u2066"},
        {"\xe2\x80\xa8", true, "\\u2028"},
        {"\xef\xbb\xbf", false, "\\ufeff"},
        {"\xf3\xa0\x81\x81", false, "\\u{e0041}"}, /* a tag */
        {"\xe2\x80\x8d", false, "\xe2\x80\x8d"},   /* a joiner belongs to emoji */
        {"\xff\xc3", false, "\\xff\\xc3"},
        {"", false, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(200);
        al_text_visible(&b, al_str_of(cases[i].text), cases[i].keep);
        if (!al_str_is(al_buf_str(&b), cases[i].want))
            fail_msg("case %zu: %.*s", i, AL_FMT(al_buf_str(&b)));
    }
    autobuf struct al_buf zero = AL_BUF_INIT(20);
    al_text_visible(&zero, AL_STR("a\0b"), true);
    assert_true(al_str_is(al_buf_str(&zero), "a\\x00b"));
}

static void no_shown_text_holds_a_control_character(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10ffff; cp += cp < 0x3000 ? 1 : 61) {
        char enc[4];
        autobuf struct al_buf b = AL_BUF_INIT(20);
        al_text_visible(&b, (struct al_str){enc, al_utf8_encode(cp, enc)}, false);
        assert_true(al_utf8_valid(al_buf_str(&b)));
        for (size_t i = 0; i < b.n; i++)
            assert_true((unsigned char)b.p[i] >= 0x20 && b.p[i] != 0x7f);
    }
}

static void plain_text_holds_nothing_that_is_not_seen(void **state)
{
    (void)state;
    static const struct {
        const char *text, *visible, *plain;
    } cases[] = {
        {"a\u200bb\u200c\u200d", "a\u200bb\u200c\u200d", "a\\u200bb\\u200c\\u200d"},
        {"\u2060\u2064\u00ad\u034f", "\u2060\u2064\u00ad\u034f", "\\u2060\\u2064\\u00ad\\u034f"},
        {"\u115f\u1160\u180e\u3164\uffa0", "\u115f\u1160\u180e\u3164\uffa0",
         "\\u115f\\u1160\\u180e\\u3164\\uffa0"},
        {"\ufe00\ufe0f\U000e0100\U000e01ef", "\ufe00\ufe0f\U000e0100\U000e01ef",
         "\\ufe00\\ufe0f\\u{e0100}\\u{e01ef}"},
        {"\ufeff\u202e\U000e0041\x1b", "\\ufeff\\u202e\\u{e0041}\\x1b", "\\ufeff\\u202e\\u{e0041}\\x1b"},
        {"\u00ac\u00ae\u2027\u2010 \u00e9\u4e2d\U0001f600", "\u00ac\u00ae\u2027\u2010 \u00e9\u4e2d\U0001f600",
         "\u00ac\u00ae\u2027\u2010 \u00e9\u4e2d\U0001f600"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf visible = AL_BUF_INIT(200), plain = AL_BUF_INIT(200);
        al_text_visible(&visible, al_str_of(cases[i].text), false);
        al_text_plain(&plain, al_str_of(cases[i].text), false);
        if (!al_str_is(al_buf_str(&visible), cases[i].visible))
            fail_msg("case %zu: %.*s", i, AL_FMT(al_buf_str(&visible)));
        if (!al_str_is(al_buf_str(&plain), cases[i].plain))
            fail_msg("case %zu: %.*s", i, AL_FMT(al_buf_str(&plain)));
    }
    autobuf struct al_buf lines = AL_BUF_INIT(40);
    al_text_plain(&lines, AL_STR("a\n\tb\r"), true);
    assert_true(al_str_is(al_buf_str(&lines), "a\n\tb\\r"));
}

static void sizes_read_well(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *want;
    } cases[] = {
        {0, "0 B"},          {999, "999 B"},          {1000, "1 KB"},        {1500, "1.5 KB"},
        {9999, "9.9 KB"},    {10000, "10 KB"},        {999999, "999 KB"},    {1000000, "1 MB"},
        {16777216, "16 MB"}, {1099511627776, "1 TB"}, {UINT64_MAX, "18 EB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(40);
        al_text_bytes(&b, cases[i].bytes);
        if (!al_str_is(al_buf_str(&b), cases[i].want))
            fail_msg("%s became %.*s", cases[i].want, AL_FMT(al_buf_str(&b)));
    }
}

static void durations_read_well(void **state)
{
    (void)state;
    static const struct {
        uint64_t ms;
        const char *want;
    } cases[] = {
        {0, "0 ms"},
        {12, "12 ms"},
        {999, "999 ms"},
        {1000, "1 s"},
        {2345, "2.3 s"},
        {59999, "59 s"},
        {60000, "1 min 0 s"},
        {185000, "3 min 5 s"},
        {3600000, "1 h 0 min"},
        {90000000, "1 d 1 h"},
        {UINT64_MAX, "213503982334 d 14 h"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        autobuf struct al_buf b = AL_BUF_INIT(60);
        al_text_duration(&b, cases[i].ms);
        if (!al_str_is(al_buf_str(&b), cases[i].want))
            fail_msg("%s became %.*s", cases[i].want, AL_FMT(al_buf_str(&b)));
    }
}

static void a_path_is_a_url_that_leads_to_it(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(200);
    al_text_file_uri(&b, "/a b/#1?x%41&\xc3\xb1/p-._~.html");
    assert_true(al_str_is(al_buf_str(&b), "file:///a%20b/%231%3Fx%2541%26%C3%B1/p-._~.html"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_survives_encoding),
        cmocka_unit_test(ill_formed_sequences_are_refused),
        cmocka_unit_test(characters_are_counted_and_bad_bytes_count_one),
        cmocka_unit_test(a_cut_ends_at_a_character),
        cmocka_unit_test(head_counts_characters),
        cmocka_unit_test(clean_replaces_each_bad_byte),
        cmocka_unit_test(integers_are_read_whole_and_in_range),
        cmocka_unit_test(hidden_characters_are_shown),
        cmocka_unit_test(no_shown_text_holds_a_control_character),
        cmocka_unit_test(plain_text_holds_nothing_that_is_not_seen),
        cmocka_unit_test(sizes_read_well),
        cmocka_unit_test(durations_read_well),
        cmocka_unit_test(a_path_is_a_url_that_leads_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
