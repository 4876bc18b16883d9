#include "test.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Parses an exact-size heap copy, so that a read past the end is seen. */
static int parse_copy(struct al_arena *a, struct al_str text, char **ret_copy, const struct al_json **ret,
                      struct al_err *err)
{
    *ret_copy = al_xmalloc(text.n);
    if (text.n)
        memcpy(*ret_copy, text.p, text.n);
    return al_json_parse(a, (struct al_str){*ret_copy, text.n}, ret, err);
}

static const struct al_json *must_parse(struct al_arena *a, const char *z)
{
    const struct al_json *v = NULL;
    struct al_err err;
    if (al_json_parse(a, al_str_of(z), &v, &err) < 0)
        fail_msg("%s: %s", z, err.msg);
    return v;
}

static void a_document_becomes_a_tree(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    const struct al_json *v = must_parse(
        &a, " {\"a\" : [1, -2.5e+3 ,true,false,null,\"x\"],\n\"b\":{}, \"c\":[ ] , \"\":{\"d\":[[]]}}\r\n");
    assert_int_equal(v->type, AL_JSON_OBJECT);
    assert_int_equal(v->n, 4);
    const struct al_json *list = al_json_get(v, "a");
    assert_int_equal(list->n, 6);
    static const enum al_json_type types[] = {AL_JSON_NUMBER, AL_JSON_NUMBER, AL_JSON_TRUE,
                                              AL_JSON_FALSE,  AL_JSON_NULL,   AL_JSON_STRING};
    static const char *const raws[] = {"1", "-2.5e+3", "true", "false", "null", "\"x\""};
    size_t i = 0;
    al_json_each(it, list)
    {
        assert_int_equal(it->type, types[i]);
        assert_true(al_str_is(it->raw, raws[i]));
        i++;
    }
    assert_int_equal(i, 6);
    assert_true(al_str_is(list->raw, "[1, -2.5e+3 ,true,false,null,\"x\"]"));
    assert_int_equal(al_json_get(v, "b")->n, 0);
    assert_true(al_str_is(al_json_get(v, "c")->raw, "[ ]"));
    assert_true(al_str_is(al_json_get(al_json_get(v, ""), "d")->raw, "[[]]"));
}

static void of_equal_names_the_last_counts(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    const struct al_json *v = must_parse(&a, "{\"k\":1,\"K\":2,\"\\u006b\":3}");
    int64_t n = 0;
    assert_int_equal(v->n, 3);
    assert_true(al_json_int(al_json_get(v, "k"), 0, 9, &n));
    assert_int_equal(n, 3);
    assert_null(al_json_get(v, "none"));
    assert_null(al_json_get(NULL, "k"));
    assert_null(al_json_get(v->child, "k"));
}

static void strings_are_decoded(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        struct al_str want;
    } cases[] = {
        {"\"\"", AL_S("")},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", AL_S("\"\\/\b\f\n\r\t")},
        {"\"\\u0000x\"", AL_S("\0x")},
        {"\"\\u00e4\\u20AC\"", AL_S("\xc3\xa4\xe2\x82\xac")},
        {"\"\\ud83d\\ude00\"", AL_S("\xf0\x9f\x98\x80")},
        {"\"\\ud800\"", AL_S("\xef\xbf\xbd")},
        {"\"\\udc00\\ud800\"", AL_S("\xef\xbf\xbd\xef\xbf\xbd")},
        {"\"\\udc00\\udc00\"", AL_S("\xef\xbf\xbd\xef\xbf\xbd")},
        {"\"\\ud800\\ud83d\\ude00\"", AL_S("\xef\xbf\xbd\xf0\x9f\x98\x80")},
        {"\"\\ud800\\u0041\"", AL_S("\xef\xbf\xbd"
                                    "A")},
        {"\"\\ud800\\n\"", AL_S("\xef\xbf\xbd\n")},
        {"\"\x7f\xc2\x80\xe2\x80\xa8\"", AL_S("\x7f\xc2\x80\xe2\x80\xa8")},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(MIB);
        const struct al_json *v = must_parse(&a, cases[i].json);
        assert_true(al_json_is_string(v));
        assert_true(al_str_eq(v->str, cases[i].want));
        assert_true(al_str_is(v->raw, cases[i].json));
    }
}

/* Each with the exact place, so that a message leads a person to the fault. */
static void faults_are_told_with_their_place(void **state)
{
    (void)state;
    static const struct {
        struct al_str text;
        const char *want;
    } cases[] = {
        {AL_S(""), "line 1, column 1: expected a value, the text ends"},
        {AL_S(" \n "), "line 2, column 2: expected a value, the text ends"},
        {AL_S("\xef\xbb\xbf{}"), "line 1, column 1: expected a value"},
        {AL_S("{'a':1}"), "line 1, column 2: expected a name in double quotes"},
        {AL_S("{a:1}"), "line 1, column 2: expected a name in double quotes"},
        {AL_S("{\"a\":1,}"), "line 1, column 8: a comma must be followed by a further value"},
        {AL_S("[1,]"), "line 1, column 4: a comma must be followed by a further value"},
        {AL_S("[,1]"), "line 1, column 2: expected a value"},
        {AL_S("[1,,2]"), "line 1, column 4: expected a value"},
        {AL_S("[1 2]"), "line 1, column 4: expected ',' or ']'"},
        {AL_S("[1}"), "line 1, column 3: expected ',' or ']'"},
        {AL_S("[}"), "line 1, column 2: expected a value"},
        {AL_S("{]"), "line 1, column 2: expected a name in double quotes"},
        {AL_S("{\"a\":1]"), "line 1, column 7: expected ',' or '}'"},
        {AL_S("{\"a\" 1}"), "line 1, column 6: expected ':' after the name"},
        {AL_S("{\"a\":}"), "line 1, column 6: expected a value"},
        {AL_S("{\"a\""), "line 1, column 5: expected ':' after the name"},
        {AL_S("{"), "line 1, column 2: expected a name, the text ends"},
        {AL_S("[1"), "line 1, column 3: the text ends too early"},
        {AL_S("]"), "line 1, column 1: expected a value"},
        {AL_S("{} {}"), "line 1, column 4: unexpected text after the value"},
        {AL_S("1\0"), "line 1, column 2: unexpected text after the value"},
        {AL_S("1 // x"), "line 1, column 3: unexpected text after the value"},
        {AL_S("tru"), "line 1, column 1: expected a value"},
        {AL_S("True"), "line 1, column 1: expected a value"},
        {AL_S("nullx"), "line 1, column 5: unexpected text after the value"},
        {AL_S("NaN"), "line 1, column 1: expected a value"},
        {AL_S("-Infinity"), "line 1, column 2: expected a digit after '-'"},
        {AL_S("+1"), "line 1, column 1: expected a value"},
        {AL_S(".5"), "line 1, column 1: expected a value"},
        {AL_S("01"), "line 1, column 1: a number must not begin with 0"},
        {AL_S("-00"), "line 1, column 2: a number must not begin with 0"},
        {AL_S("1."), "line 1, column 3: expected a digit after the decimal point"},
        {AL_S("1.e3"), "line 1, column 3: expected a digit after the decimal point"},
        {AL_S("1e"), "line 1, column 3: expected a digit in the exponent"},
        {AL_S("1e+"), "line 1, column 4: expected a digit in the exponent"},
        {AL_S("0x10"), "line 1, column 2: unexpected text after the value"},
        {AL_S("\"a"), "line 1, column 3: the text ends inside a string"},
        {AL_S("\"a\\"), "line 1, column 3: not an escape that JSON has"},
        {AL_S("\"\\x41\""), "line 1, column 2: not an escape that JSON has"},
        {AL_S("\"\\u12g4\""), "line 1, column 2: not an escape that JSON has"},
        {AL_S("\"\\u123\""), "line 1, column 2: not an escape that JSON has"},
        {AL_S("\"\\\0\""), "line 1, column 2: not an escape that JSON has"},
        {AL_S("\"a\nb\""), "line 1, column 3: a control character in a string must be escaped"},
        {AL_S("\"\0\""), "line 1, column 2: a control character in a string must be escaped"},
        {AL_S("\"\xff\""), "line 1, column 2: the text is not valid UTF-8"},
        {AL_S("\"\xc0\xaf\""), "line 1, column 2: the text is not valid UTF-8"},
        {AL_S("\"\xed\xa0\x80\""), "line 1, column 2: the text is not valid UTF-8"},
        {AL_S("\"\xe2\x82"), "line 1, column 2: the text is not valid UTF-8"},
        {AL_S("{\n  \"\xc3\xa4\xf0\x9f\x98\x80\": x\n}"), "line 2, column 9: expected a value"},
        {AL_S("[1]\xc2\xa0"), "line 1, column 4: unexpected text after the value"},
        {AL_S("\v1"), "line 1, column 1: expected a value"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(MIB);
        autofree char *copy = NULL;
        const struct al_json *v = NULL;
        struct al_err err = {0};
        assert_int_equal(parse_copy(&a, cases[i].text, &copy, &v, &err), -1);
        assert_null(v);
        assert_int_equal(err.code, AL_INVALID_INPUT);
        assert_string_equal(err.msg, cases[i].want);
    }
}

static void a_text_cut_anywhere_is_refused(void **state)
{
    (void)state;
    static const char text[] =
        "{\"name\":[1,-2.5e+10,\"\\ud83d\\ude00 \\n \xf0\x9f\x98\x80\",{\"x\":null,\"y\":[true,false,"
        "{}],\"z\":\"\\u0000\"}],\"last\":{\"a\":{}}}";
    for (size_t n = 0; n < sizeof text; n++) {
        autoarena struct al_arena a = AL_ARENA_INIT(MIB);
        autofree char *copy = NULL;
        const struct al_json *v;
        struct al_err err;
        int r = parse_copy(&a, (struct al_str){text, n}, &copy, &v, &err);
        assert_int_equal(r, n == sizeof text - 1 ? 0 : -1);
    }
}

static void fill(struct al_buf *b, const char *z, size_t times)
{
    for (size_t i = 0; i < times; i++)
        al_buf_adds(b, z);
}

static void nesting_ends_at_its_limit(void **state)
{
    (void)state;
    static const char *const opens[] = {"[", "{\"a\":"}, *const closes[] = {"]", "}"};
    for (int kind = 0; kind < 2; kind++) {
        for (size_t depth = AL_JSON_MAX_DEPTH - 1; depth <= AL_JSON_MAX_DEPTH + 1; depth++) {
            autoarena struct al_arena a = AL_ARENA_INIT(MIB);
            autobuf struct al_buf b = AL_BUF_INIT(MIB);
            const struct al_json *v;
            struct al_err err;
            fill(&b, opens[kind], depth);
            al_buf_adds(&b, "1");
            fill(&b, closes[kind], depth);
            int r = al_json_parse(&a, al_buf_str(&b), &v, &err);
            assert_int_equal(r, depth <= AL_JSON_MAX_DEPTH ? 0 : -1);
            if (r == 0) {
                /* What is read can be written again. */
                autobuf struct al_buf out = AL_BUF_INIT(MIB);
                struct al_jw w;
                al_jw_init(&w, &out);
                al_jw_value(&w, v);
                assert_true(al_str_eq(al_buf_str(&out), al_buf_str(&b)));
            }
        }
    }
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    autobuf struct al_buf b = AL_BUF_INIT(4 * MIB);
    const struct al_json *v;
    struct al_err err;
    fill(&b, "[", 4 * MIB);
    assert_int_equal(al_json_parse(&a, al_buf_str(&b), &v, &err), -1);
    assert_string_equal(err.msg, "line 1, column 129: nested too deeply");
}

static void many_small_values_stop_at_the_limit_of_the_arena(void **state)
{
    (void)state;
    enum {
        TIMES = 3000000
    };
    autobuf struct al_buf b = AL_BUF_INIT(16 * MIB);
    al_buf_addc(&b, '[');
    fill(&b, "{},", TIMES);
    al_buf_adds(&b, "0]");
    assert_false(al_buf_failed(&b));
    autoarena struct al_arena a = AL_ARENA_INIT(4 * MIB);
    const struct al_json *v = NULL;
    struct al_err err;
    assert_int_equal(al_json_parse(&a, al_buf_str(&b), &v, &err), -1);
    assert_non_null(strstr(err.msg, "more memory than the limit"));
    assert_null(v);
    assert_in_range(a.used, 0, 4 * MIB);
}

static void long_strings_with_escapes_respect_the_arena_too(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(4 * MIB);
    const struct al_json *v;
    struct al_err err;
    al_buf_addc(&b, '"');
    fill(&b, "\\n", MIB);
    al_buf_addc(&b, '"');
    autoarena struct al_arena small = AL_ARENA_INIT(MIB / 2);
    assert_int_equal(al_json_parse(&small, al_buf_str(&b), &v, &err), -1);
    autoarena struct al_arena large = AL_ARENA_INIT(2 * MIB);
    assert_int_equal(al_json_parse(&large, al_buf_str(&b), &v, &err), 0);
    assert_int_equal(v->str.n, MIB);
}

static void integers_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool ok;
        int64_t want;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"0.000", true, 0},
        {"0e999999999999999999999", true, 0},
        {"1e3", true, 1000},
        {"5.0", true, 5},
        {"1.50e1", true, 15},
        {"100e-2", true, 1},
        {"0.001e3", true, 1},
        {"-12.340E+2", true, -1234},
        {"9007199254740993", true, 9007199254740993}, /* no double */
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9.223372036854775808e18", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"1e18", true, 1000000000000000000},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"1e99999999999999999999", false, 0},
        {"1e-99999999999999999999", false, 0},
        {"1.5", false, 0},
        {"1e-1", false, 0},
        {"15e-1", false, 0},
        {"123456789012345678901234567890", false, 0},
        {"\"5\"", false, 0},
        {"true", false, 0},
        {"[5]", false, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(MIB);
        int64_t n = 42;
        if (al_json_int(must_parse(&a, cases[i].json), INT64_MIN, INT64_MAX, &n) != cases[i].ok)
            fail_msg("%s", cases[i].json);
        assert_int_equal(n, cases[i].ok ? cases[i].want : 42);
    }
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    int64_t n;
    assert_false(al_json_int(NULL, 0, 9, &n));
    assert_false(al_json_int(must_parse(&a, "10"), 0, 9, &n));
    assert_false(al_json_int(must_parse(&a, "-1"), 0, 9, &n));
    assert_true(al_json_int(must_parse(&a, "9"), 0, 9, &n));
}

static void doubles_are_finite_or_refused(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    double d = 0;
    assert_true(al_json_double(must_parse(&a, "-1.25e2"), &d));
    assert_true(d == -125);
    assert_true(al_json_double(must_parse(&a, "1e-400"), &d));
    assert_true(d == 0);
    d = 7;
    assert_false(al_json_double(must_parse(&a, "1e400"), &d));
    assert_false(al_json_double(must_parse(&a, "\"1\""), &d));
    assert_false(al_json_double(NULL, &d));
    assert_true(d == 7);
    char text[200];
    memset(text, '1', sizeof text);
    text[199] = '\0';
    assert_true(al_json_double(must_parse(&a, text), &d));
    assert_true(fabs(d / 1.1111111111111111e198 - 1) < 1e-15);
}

static void equality_is_that_of_values(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool want;
    } cases[] = {
        {"1", "1.0", true},
        {"100", "1e2", true},
        {"1200.50e-1", "120.05", true},
        {"-0", "0.0e5", true},
        {"1", "-1", false},
        {"12", "1.3e1", false},
        {"9007199254740993", "9007199254740992", false},
        {"1e99999999999999999999", "1e99999999999999999999", true},
        {"1e99999999999999999999", "1e99999999999999999998", false},
        {"1e400", "10e399", true},
        {"\"\\u0041\"", "\"A\"", true},
        {"\"a\"", "\"b\"", false},
        {"null", "false", false},
        {"true", "true", true},
        {"1", "\"1\"", false},
        {"[1,2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1]", "[1,1]", false},
        {"[]", "{}", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}", true},
        {"{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", false},
        {"{}", "{}", true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(MIB);
        const struct al_json *x = must_parse(&a, cases[i].a), *y = must_parse(&a, cases[i].b);
        if (al_json_equal(x, y) != cases[i].want || al_json_equal(y, x) != cases[i].want)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
    assert_true(al_json_equal(NULL, NULL));
}

/* 40,000 names twice: a comparison of each with each would take minutes under a sanitizer. */
static void large_objects_compare_quickly(void **state)
{
    (void)state;
    enum {
        N = 40000
    };
    autobuf struct al_buf up = AL_BUF_INIT(4 * MIB), down = AL_BUF_INIT(4 * MIB);
    for (int i = 0; i < N; i++) {
        al_buf_addf(&up, "%c\"k%d\":%d", i ? ',' : '{', i, i);
        al_buf_addf(&down, "%c\"k%d\":%d", i ? ',' : '{', N - 1 - i, N - 1 - i);
    }
    al_buf_addc(&up, '}');
    al_buf_addc(&down, '}');
    autoarena struct al_arena a = AL_ARENA_INIT(32 * MIB);
    const struct al_json *x, *y;
    struct al_err err;
    assert_int_equal(al_json_parse(&a, al_buf_str(&up), &x, &err), 0);
    assert_int_equal(al_json_parse(&a, al_buf_str(&down), &y, &err), 0);
    assert_true(al_json_equal(x, y));
}

static void small_questions_take_null(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    const struct al_json *v =
        must_parse(&a, "{\"s\":\"text\",\"n\":1,\"t\":true,\"o\":{},\"a\":[],\"z\":null}");
    assert_true(al_str_is(al_json_get_text(v, "s"), "text"));
    assert_null(al_json_get_text(v, "n").p);
    assert_null(al_json_get_text(v, "none").p);
    assert_true(al_json_is_true(al_json_get(v, "t")));
    assert_false(al_json_is_true(al_json_get(v, "n")));
    assert_false(al_json_is_true(NULL));
    assert_false(al_json_is_string(NULL));
    assert_string_equal(al_json_type_name(v), "object");
    assert_string_equal(al_json_type_name(al_json_get(v, "s")), "string");
    assert_string_equal(al_json_type_name(al_json_get(v, "n")), "number");
    assert_string_equal(al_json_type_name(al_json_get(v, "t")), "boolean");
    assert_string_equal(al_json_type_name(al_json_get(v, "a")), "array");
    assert_string_equal(al_json_type_name(al_json_get(v, "z")), "null");
    assert_string_equal(al_json_type_name(NULL), "nothing");
}

static void the_writer_sets_commas_and_colons(void **state)
{
    (void)state;
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    struct al_jw w;
    al_jw_init(&w, &b);
    al_jw_obj(&w);
    al_jw_kstrz(&w, "a", "x");
    al_jw_kstrz(&w, "none", NULL);
    al_jw_kint(&w, "n", INT64_MIN);
    al_jw_kbool(&w, "t", true);
    al_jw_kraw(&w, "raw", AL_STR("[1, 2]"));
    al_jw_kstr(&w, "s", AL_STR("y"));
    al_jw_key(&w, "list");
    al_jw_arr(&w);
    al_jw_arr(&w);
    al_jw_end(&w);
    al_jw_int(&w, 1);
    al_jw_null(&w);
    al_jw_obj(&w);
    al_jw_key_str(&w, AL_STR("k\n"));
    al_jw_double(&w, 0.5);
    al_jw_end(&w);
    al_jw_bool(&w, false);
    al_jw_end(&w);
    al_jw_key(&w, "end");
    al_jw_obj(&w);
    al_jw_end(&w);
    al_jw_end(&w);
    assert_false(al_buf_failed(&b));
    assert_true(al_str_is(
        al_buf_str(&b),
        "{\"a\":\"x\",\"none\":null,\"n\":-9223372036854775808,\"t\":true,\"raw\":[1, 2],\"s\":\"y\","
        "\"list\":[[],1,null,{\"k\\n\":0.5},false],\"end\":{}}"));
}

static void written_strings_are_escaped(void **state)
{
    (void)state;
    static const struct {
        struct al_str text;
        const char *want;
    } cases[] = {
        {AL_S(""), "\"\""},
        {{NULL, 0}, "\"\""},
        {AL_S("a\"b\\c/d"), "\"a\\\"b\\\\c/d\""},
        {AL_S("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
        {AL_S("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\\u007f\""},
        {AL_S("\xc2\x9b"), "\"\\u009b\""},
        {AL_S("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa"), "\"\\u2028\\u2029\xe2\x80\xaa\""},
        {AL_S("a\xff\xc3\xa4\xed\xa0\x80"), "\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {AL_S("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        autobuf struct al_buf b = AL_BUF_INIT(200);
        struct al_jw w;
        al_jw_init(&w, &b);
        al_jw_str(&w, cases[i].text);
        assert_true(al_str_is(al_buf_str(&b), cases[i].want));
    }
}

static void any_bytes_written_as_a_string_read_back_clean(void **state)
{
    (void)state;
    uint32_t seed = 12345;
    for (int round = 0; round < 2000; round++) {
        char bytes[40];
        size_t n = (size_t)round % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] = (char)(seed >> 24);
        }
        autoarena struct al_arena a = AL_ARENA_INIT(MIB);
        autobuf struct al_buf b = AL_BUF_INIT(1000), clean = AL_BUF_INIT(1000);
        const struct al_json *v;
        struct al_err err;
        struct al_jw w;
        al_jw_init(&w, &b);
        al_jw_str(&w, (struct al_str){bytes, n});
        al_utf8_clean(&clean, (struct al_str){bytes, n});
        assert_int_equal(al_json_parse(&a, al_buf_str(&b), &v, &err), 0);
        assert_true(al_str_eq(v->str, al_buf_str(&clean)));
    }
}

/* The right-hand sides are what JavaScript prints for String(x). */
static void doubles_are_written_as_javascript_does(void **state)
{
    (void)state;
    static const struct {
        double v;
        const char *want;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-1, "-1"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {1e21, "1e+21"},
        {123456789012345680000.0, "123456789012345680000"},
        {999999999999999900000.0, "999999999999999900000"},
        {1e-6, "0.000001"},
        {1.25e-6, "0.00000125"},
        {1e-7, "1e-7"},
        {-1.5e-7, "-1.5e-7"},
        {100, "100"},
        {1234.5, "1234.5"},
        {9007199254740993.0, "9007199254740992"},
        {4294967296.5, "4294967296.5"},
        {1e100, "1e+100"},
        {1.5e300, "1.5e+300"},
        {NAN, "null"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        autobuf struct al_buf b = AL_BUF_INIT(100);
        struct al_jw w;
        al_jw_init(&w, &b);
        al_jw_double(&w, cases[i].v);
        if (!al_str_is(al_buf_str(&b), cases[i].want))
            fail_msg("%s became %.*s", cases[i].want, AL_FMT(al_buf_str(&b)));
    }
}

static void check_double_round_trip(double v)
{
    char json[64];
    autoarena struct al_arena a = AL_ARENA_INIT(4096);
    autobuf struct al_buf b = AL_BUF_INIT(40);
    const struct al_json *parsed;
    struct al_err err;
    struct al_jw w;
    double back = 0;
    al_jw_init(&w, &b);
    al_jw_double(&w, v);
    assert_false(al_buf_failed(&b));
    snprintf(json, sizeof json, "%.*s", AL_FMT(al_buf_str(&b)));
    assert_int_equal(al_json_parse(&a, al_buf_str(&b), &parsed, &err), 0);
    assert_true(al_json_double(parsed, &back));
    if (back != v)
        fail_msg("%a became %s", v, json);
}

static void every_kind_of_double_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        double v;
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        uint64_t bits = seed;
        if (i % 4 == 1)
            bits &= 0x800fffffffffffffu; /* denormal */
        memcpy(&v, &bits, sizeof v);
        if (i % 4 == 2)
            v = (double)(int64_t)(bits >> 11) / 1000;
        if (i % 4 == 3)
            v = ldexp(1, (int)(bits % 2098) - 1074); /* powers of two: uneven neighbours */
        if (isfinite(v))
            check_double_round_trip(v);
    }
}

static void calls_out_of_order_spoil_the_text(void **state)
{
    (void)state;
    for (int kind = 0; kind < 9; kind++) {
        autobuf struct al_buf b = AL_BUF_INIT(1000);
        struct al_jw w;
        al_jw_init(&w, &b);
        if (kind == 0) { /* two values at the top */
            al_jw_int(&w, 1);
            al_jw_int(&w, 2);
        } else if (kind == 1) { /* a value without a key */
            al_jw_obj(&w);
            al_jw_int(&w, 2);
        } else if (kind == 2) { /* a key in an array */
            al_jw_arr(&w);
            al_jw_key(&w, "a");
        } else if (kind == 3) { /* a key without a value */
            al_jw_obj(&w);
            al_jw_key(&w, "a");
            al_jw_end(&w);
        } else if (kind == 4) { /* two keys */
            al_jw_obj(&w);
            al_jw_key(&w, "a");
            al_jw_key(&w, "b");
        } else if (kind == 5) {
            al_jw_end(&w);
        } else if (kind == 6) {
            al_jw_key(&w, "a");
        } else if (kind == 7) {
            al_jw_raw(&w, AL_STR(""));
        } else {
            for (int i = 0; i <= AL_JSON_MAX_DEPTH; i++)
                al_jw_arr(&w);
        }
        if (!al_buf_failed(&b))
            fail_msg("kind %d", kind);
    }
}

static void a_full_buffer_fails_the_writer_at_every_length(void **state)
{
    (void)state;
    static const char whole[] = "{\"key\":[1,\"two\",{\"n\":2.5}]}";
    for (size_t max = 0; max < sizeof whole; max++) {
        autobuf struct al_buf b = AL_BUF_INIT(max);
        struct al_jw w;
        al_jw_init(&w, &b);
        al_jw_obj(&w);
        al_jw_key(&w, "key");
        al_jw_arr(&w);
        al_jw_int(&w, 1);
        al_jw_strz(&w, "two");
        al_jw_obj(&w);
        al_jw_key(&w, "n");
        al_jw_double(&w, 2.5);
        al_jw_end(&w);
        al_jw_end(&w);
        al_jw_end(&w);
        assert_int_equal(al_buf_failed(&b), max < sizeof whole - 1);
        if (!al_buf_failed(&b))
            assert_true(al_str_is(al_buf_str(&b), whole));
    }
}

static void a_value_is_copied_without_white_space_and_unharmed(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(MIB);
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    struct al_jw w;
    al_jw_init(&w, &b);
    al_jw_obj(&w);
    al_jw_key(&w, "in");
    al_jw_value(
        &w,
        must_parse(
            &a, "[ 1.00 , 1e400,{ \"a\" : \"\\ud800\\/\" ,\n\"b\":[ ]},{},\n[[ 12345678901234567890 ]] ]"));
    al_jw_key(&w, "none");
    al_jw_value(&w, NULL);
    al_jw_end(&w);
    assert_false(al_buf_failed(&b));
    assert_true(al_str_is(al_buf_str(&b),
                          "{\"in\":[1.00,1e400,{\"a\":\"\\ud800\\/\",\"b\":[]},{},[[12345678901234567890"
                          "]]],\"none\":null}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_becomes_a_tree),
        cmocka_unit_test(of_equal_names_the_last_counts),
        cmocka_unit_test(strings_are_decoded),
        cmocka_unit_test(faults_are_told_with_their_place),
        cmocka_unit_test(a_text_cut_anywhere_is_refused),
        cmocka_unit_test(nesting_ends_at_its_limit),
        cmocka_unit_test(many_small_values_stop_at_the_limit_of_the_arena),
        cmocka_unit_test(long_strings_with_escapes_respect_the_arena_too),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(doubles_are_finite_or_refused),
        cmocka_unit_test(equality_is_that_of_values),
        cmocka_unit_test(large_objects_compare_quickly),
        cmocka_unit_test(small_questions_take_null),
        cmocka_unit_test(the_writer_sets_commas_and_colons),
        cmocka_unit_test(written_strings_are_escaped),
        cmocka_unit_test(any_bytes_written_as_a_string_read_back_clean),
        cmocka_unit_test(doubles_are_written_as_javascript_does),
        cmocka_unit_test(every_kind_of_double_reads_back),
        cmocka_unit_test(calls_out_of_order_spoil_the_text),
        cmocka_unit_test(a_full_buffer_fails_the_writer_at_every_length),
        cmocka_unit_test(a_value_is_copied_without_white_space_and_unharmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
