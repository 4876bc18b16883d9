#include "test.h"

#include "../fuzz/ts_grammar.h"
#include "core/schema.h"

#include <string.h>

static const struct al_json *parse(struct al_arena *a, const char *text)
{
    const struct al_json *v = NULL;
    struct al_err err = {.code = AL_OK};
    if (al_json_parse(a, al_str_of(text), &v, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return v;
}

static const struct {
    const char *schema, *value, *problems; /* "": it fits */
} checks[] = {
    /* types */
    {"{\"type\":\"string\"}", "\"x\"", ""},
    {"{\"type\":\"string\"}", "1", "/: must be a string, not a number"},
    {"{\"type\":\"integer\"}", "1", ""},
    {"{\"type\":\"integer\"}", "1e3", ""},
    {"{\"type\":\"integer\"}", "5.0", ""},
    {"{\"type\":\"integer\"}", "1e300", ""},
    {"{\"type\":\"integer\"}", "1.5", "/: must be an integer, not a fraction"},
    {"{\"type\":\"number\"}", "1.5", ""},
    {"{\"type\":\"boolean\"}", "true", ""},
    {"{\"type\":\"boolean\"}", "null", "/: must be a boolean, not null"},
    {"{\"type\":\"null\"}", "null", ""},
    {"{\"type\":\"array\"}", "[]", ""},
    {"{\"type\":\"object\"}", "[]", "/: must be an object, not an array"},
    {"{\"type\":[\"string\",\"null\"]}", "null", ""},
    {"{\"type\":[\"string\",\"null\"]}", "false", "/: must be a string or null, not a boolean"},
    {"{}", "[1,{\"a\":2}]", ""},
    /* numbers */
    {"{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}", "1", ""},
    {"{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}", "0", "/: must be at least 1"},
    {"{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}", "1e30", "/: must be at most 1000"},
    {"{\"type\":\"number\",\"maximum\":0.5}", "0.50001", "/: must be at most 0.5"},
    /* strings, in code points */
    {"{\"type\":\"string\",\"maxLength\":2}", "\"\xc3\xa9\xf0\x9f\x98\x80\"", ""},
    {"{\"type\":\"string\",\"maxLength\":2}", "\"abc\"", "/: must have at most 2 characters, not 3"},
    {"{\"type\":\"string\",\"minLength\":1}", "\"\"", "/: must have at least 1 character"},
    /* arrays */
    {"{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"type\":\"string\"}}", "[\"a\",\"b\"]",
     ""},
    {"{\"type\":\"array\",\"minItems\":1}", "[]", "/: must have at least 1 item"},
    {"{\"type\":\"array\",\"maxItems\":1}", "[1,2]", "/: must have at most 1 item, not 2"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "[\"a\",1,null]",
     "/1: must be a string, not a number\n/2: must be a string, not null"},
    /* enum, const */
    {"{\"enum\":[\"a\",\"b\",1]}", "1.0", ""},
    {"{\"enum\":[\"a\",\"b\",1]}", "\"c\"", "/: must be one of \"a\", \"b\", 1"},
    {"{\"const\":{\"a\":1}}", "{\"a\":1}", ""},
    {"{\"const\":7}", "8", "/: must be 7"},
    /* objects */
    {"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}", "{}",
     "/path: is required"},
    {"{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\"}}}", "{\"limti\":1}",
     "/limti: is no known property; did you mean \"limit\"?"},
    {"{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\"}}}", "{\"zzzzz\":1}",
     "/zzzzz: is no known property"},
    {"{\"type\":\"object\"}", "{\"anything\":1}", ""},
    {"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":true}", "{\"anything\":1}", ""},
    {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}", "{\"a\":\"x\",\"b\":2}",
     "/b: must be a string, not a number"},
    {"{\"type\":\"object\",\"additionalProperties\":false}", "{\"a\":1}", "/a: is no known property"},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\",\"properties\":{\"b\":{\"type\":"
     "\"array\","
     "\"items\":{\"type\":\"integer\"}}}}}}",
     "{\"a\":{\"b\":[1,\"x\"],\"c\":1}}",
     "/a/b/1: must be an integer, not a string\n/a/c: is no known property"},
    {"{\"properties\":{\"a\":false},\"additionalProperties\":true}", "{\"a\":1}", "/a: is not allowed"},
    /* every occurrence of a doubled key is looked at */
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1,\"a\":\"x\"}",
     "/a: must be a string, not a number"},
    /* pointers are escaped, and cannot forge lines or show controls */
    {"{\"properties\":{\"x\":{}}}", "{\"a/b~c\":1}", "/a~1b~0c: is no known property"},
    {"{\"properties\":{\"x\":{}}}", "{\"a\\n/b: fine\":1}", "/a\\n~1b: fine: is no known property"},
    {"{\"properties\":{\"x\":{}}}", "{\"\\u202e\":1}", "/\\u202e: is no known property"},
    /* choices by required keys */
    {"{\"type\":\"object\",\"properties\":{\"code\":{},\"codePath\":{}},\"oneOf\":[{\"required\":[\"code\"]},"
     "{\"required\":[\"codePath\"]}]}",
     "{\"code\":\"1\"}", ""},
    {"{\"type\":\"object\",\"properties\":{\"code\":{},\"codePath\":{}},\"oneOf\":[{\"required\":[\"code\"]},"
     "{\"required\":[\"codePath\"]}]}",
     "{\"code\":\"1\",\"codePath\":\"2\"}", "/: must have exactly one of \"code\", \"codePath\""},
    {"{\"type\":\"object\",\"properties\":{\"code\":{},\"codePath\":{}},\"oneOf\":[{\"required\":[\"code\"]},"
     "{\"required\":[\"codePath\"]}]}",
     "{}", "/: must have exactly one of \"code\", \"codePath\""},
    {"{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"anyOf\":[{\"required\":[\"a\"]},{"
     "\"required\":[\"b\"]}]}",
     "{\"a\":1,\"b\":2}", ""},
    {"{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"anyOf\":[{\"required\":[\"a\"]},{"
     "\"required\":[\"b\"]}]}",
     "{}", "/: must have at least one of \"a\", \"b\""},
    {"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\"}}}]}",
     "{\"p\":1}", "/: must fit exactly one of the schema's shapes"},
    {"{\"properties\":{\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"path\":{"
     "},\"id\":"
     "{}},\"oneOf\":[{\"required\":[\"path\"]},{\"required\":[\"id\"]}]}}}}",
     "{\"list\":[{\"path\":1},{}]}", "/list/1: must have exactly one of \"path\", \"id\""},
};

static void a_value_is_checked_and_each_problem_has_its_pointer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
        autobuf struct al_buf out = AL_BUF_INIT(1u << 16);
        const struct al_json *schema = parse(&a, checks[i].schema);
        struct al_err err;
        if (al_schema_supported(schema, &err) < 0 && !strstr(checks[i].schema, ":false}"))
            fail_msg("%s: %s", checks[i].schema, err.msg);
        unsigned n = al_schema_check(schema, parse(&a, checks[i].value), &out);
        al_buf_addc(&out, 0);
        if (strcmp(out.p, checks[i].problems) != 0)
            fail_msg("%s against %s: \"%s\" instead of \"%s\"", checks[i].value, checks[i].schema, out.p,
                     checks[i].problems);
        unsigned lines = checks[i].problems[0] != 0;
        for (const char *p = checks[i].problems; *p; p++)
            lines += *p == '\n';
        assert_int_equal(n, lines);
    }
}

static void at_most_twenty_problems_are_shown_and_all_are_counted(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1u << 16), out = AL_BUF_INIT(1u << 16);
    al_buf_addc(&text, '[');
    for (int i = 0; i < 1000; i++)
        al_buf_adds(&text, i ? ",1" : "1");
    al_buf_adds(&text, "]");
    al_buf_addc(&text, 0);
    const struct al_json *schema = parse(&a, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
    assert_int_equal(al_schema_check(schema, parse(&a, text.p), &out), 1000);
    unsigned lines = 1;
    for (size_t i = 0; i < out.n; i++)
        lines += out.p[i] == '\n';
    assert_int_equal(lines, 20);
}

static void the_deepest_value_that_can_be_read_is_checked(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(4u << 20);
    autobuf struct al_buf schema = AL_BUF_INIT(1u << 16), value = AL_BUF_INIT(1u << 16),
                          out = AL_BUF_INIT(1u << 16);
    const int depth = AL_JSON_MAX_DEPTH - 1;
    for (int i = 0; i < depth; i++) {
        al_buf_adds(&schema, "{\"items\":");
        al_buf_addc(&value, '[');
    }
    al_buf_adds(&schema, "{\"type\":\"string\"}");
    al_buf_addc(&value, '1');
    for (int i = 0; i < depth; i++) {
        al_buf_addc(&schema, '}');
        al_buf_addc(&value, ']');
    }
    al_buf_addc(&schema, 0);
    al_buf_addc(&value, 0);
    assert_int_equal(al_schema_check(parse(&a, schema.p), parse(&a, value.p), &out), 1);
    out.n = 0;
    al_schema_typescript(parse(&a, schema.p), &out);
    assert_true(out.n > 0);
}

static const struct {
    const char *schema, *type;
} types[] = {
    {"{\"type\":\"string\"}", "string"},
    {"{\"type\":\"integer\"}", "number"},
    {"{\"type\":[\"string\",\"null\"]}", "string | null"},
    {"{}", "unknown"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "string[]"},
    {"{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"null\"]}}", "(string | null)[]"},
    {"{\"type\":\"array\",\"items\":{\"enum\":[\"a\",2,null,true]}}", "(\"a\" | 2 | null | true)[]"},
    {"{\"type\":\"array\"}", "unknown[]"},
    {"{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"startLine\":{\"type\":"
     "\"integer\"}},"
     "\"required\":[\"path\"]}",
     "{path: string; startLine?: number}"},
    {"{\"type\":\"object\"}", "Record<string, unknown>"},
    {"{\"type\":\"object\",\"properties\":{}}", "{}"},
    {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}", "Record<string, number>"},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":true}",
     "{a?: string; [key: string]: unknown}"},
    {"{\"const\":\"x\"}", "\"x\""},
    {"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\"}}}]}",
     "string | {p?: string}"},
    {"{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"oneOf\":[{\"required\":[\"a\"]},{"
     "\"required\":[\"b\"]}]}",
     "{a?: unknown; b?: unknown}"},
    /* names that are no identifiers, and texts that would end what they are pasted into */
    {"{\"type\":\"object\",\"properties\":{\"a-b\":{},\"1x\":{},\"\":{},\"x y\":{}}}",
     "{\"a-b\"?: unknown; \"1x\"?: unknown; \"\"?: unknown; \"x y\"?: unknown}"},
    {"{\"properties\":{\"a: any}; evil(); {\\\"b\":{}}}", "{\"a: any}; evil(); {\\\"b\"?: unknown}"},
    {"{\"enum\":[\"*/ alert(1) /*\"]}", "\"*\\/ alert(1) /*\""},
    {"{\"enum\":[\"</script>\"]}", "\"<\\/script>\""},
    {"{\"enum\":[\"```\"]}", "\"\\u0060\\u0060\\u0060\""},
    {"{\"enum\":[\"\\u2028\\u2029\"]}", "\"\\u2028\\u2029\""},
    {"{\"enum\":[\"\\u202e\\n\"]}", "\"\\u202e\\n\""},
    {"{\"enum\":[[1],{\"a\":1}]}", "unknown | unknown"},
    /* schemas of other people's tools */
    {"true", "unknown"},
    {"false", "never"},
    {"[]", "unknown"},
    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"string\"}}}", "string"},
    {"{\"$ref\":\"#/$defs/a~1b~0c%20d\",\"$defs\":{\"a/b~c d\":{\"type\":\"null\"}}}", "null"},
    {"{\"$ref\":\"#/oneOf/1\",\"oneOf\":[{},{\"type\":\"number\"}]}", "number"},
    {"{\"$ref\":\"#\"}", "unknown"},
    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}",
     "unknown"},
    {"{\"properties\":{\"me\":{\"$ref\":\"#\"},\"many\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
     "n\"}}},"
     "\"$defs\":{\"n\":{\"properties\":{\"next\":{\"$ref\":\"#/$defs/n\"}}}}}",
     "{me?: {me?: unknown; many?: {next?: unknown}[]}; many?: {next?: unknown}[]}"},
    {"{\"$ref\":\"https://example.com/schema.json\"}", "unknown"},
    {"{\"$ref\":\"#/nowhere\"}", "unknown"},
    {"{\"$ref\":\"other.json#/a\"}", "unknown"},
    {"{\"$ref\":7}", "unknown"},
    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}],\"default\":null}", "string | null"},
    {"{\"allOf\":[{\"properties\":{\"a\":{}}},{\"properties\":{\"b\":{\"type\":\"string\"}}},{\"required\":["
     "\"b\"]}]}",
     "{a?: unknown} & {b?: string}"},
    {"{\"type\":\"object\",\"properties\":{\"k\":{}},\"anyOf\":[{\"properties\":{\"a\":{}}},{\"properties\":"
     "{\"b\":{}}}]}",
     "{k?: unknown} & ({a?: unknown} | {b?: unknown})"},
    {"{\"type\":\"array\",\"items\":{\"allOf\":[{\"type\":\"string\"},{\"enum\":[\"a\",\"b\"]}]}}",
     "(string & (\"a\" | \"b\"))[]"},
    {"{\"type\":\"string\",\"nullable\":true}", "string | null"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"number\",\"nullable\":true}}", "(number | null)[]"},
    {"{\"type\":[\"integer\",\"number\",\"null\"]}", "number | null"},
    {"{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"items\":false}",
     "[string, number]"},
    {"{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":[\"number\",\"null\"]}"
     "}",
     "[string, ...(number | null)[]]"},
    {"{\"type\":\"array\",\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[string]"},
    {"{\"items\":[{\"type\":\"string\"}]}", "[string, ...unknown[]]"},
    {"{\"type\":\"array\",\"items\":false}", "never[]"},
    {"{\"patternProperties\":{\"^x-\":{\"type\":\"string\"}}}", "Record<string, string>"},
    {"{\"properties\":{\"a\":{\"const\":1}},\"patternProperties\":{\"^x-\":{}}}",
     "{a?: 1; [key: string]: unknown}"},
    {"{\"type\":\"object\",\"additionalProperties\":false}", "{}"},
    {"{\"type\":\"file\"}", "unknown"},
    {"{\"type\":7,\"properties\":[],\"enum\":\"x\",\"oneOf\":{}}", "unknown"},
    {"{\"properties\":{\"__proto__\":{},\"constructor\":{\"type\":\"string\"}}}",
     "{__proto__?: unknown; constructor?: string}"},
    {"{\"description\":\"*/ evil\",\"type\":\"string\"}", "string"},
};

static void a_schema_prints_as_typescript(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
        autobuf struct al_buf out = AL_BUF_INIT(1u << 16);
        al_schema_typescript(parse(&a, types[i].schema), &out);
        al_buf_addc(&out, 0);
        assert_string_equal(out.p, types[i].type);
        assert_true(ts_is_type(al_str_of(out.p)));
    }
}

/* Each definition names the next one twice: written out, two to the hundredth of them. */
static void a_schema_that_doubles_itself_ends(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1u << 16), out = AL_BUF_INIT(1u << 20);
    al_buf_adds(&text, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 100; i++)
        al_buf_addf(
            &text,
            "\"d%d\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/d%d\"},\"b\":{\"$ref\":\"#/$defs/d%d\"}}},",
            i, i + 1, i + 1);
    al_buf_adds(&text, "\"d100\":{\"type\":\"string\"}}}");
    al_buf_addc(&text, 0);
    al_schema_typescript(parse(&a, text.p), &out);
    assert_true(out.n > 0 && out.n < (1u << 19));
    assert_true(ts_is_type(al_buf_str(&out)));
}

/* A name that had to be cut would be another one's; the rest is still said. */
static void a_name_that_is_too_long_is_left_open(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1u << 16), out = AL_BUF_INIT(1u << 16);
    al_buf_adds(&text, "{\"properties\":{\"a\":{\"type\":\"string\"},\"");
    for (int i = 0; i < 101; i++)
        al_buf_addc(&text, 'n');
    al_buf_adds(&text, "\":{}}}");
    al_buf_addc(&text, 0);
    al_schema_typescript(parse(&a, text.p), &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, "{a?: string; [key: string]: unknown}");
}

/* A signature has little room: the outermost names are worth more than what is deep inside. */
static void what_does_not_fit_is_said_with_less_inside(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(40);
    al_schema_typescript(parse(&a,
                               "{\"properties\":{\"one\":{\"properties\":{\"two\":{\"properties\":{\"three\":"
                               "{\"type\":\"string\"}}}}}}}"),
                         &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, "{one?: {two?: {three?: string}}}");
    al_buf_free(&out);
    out.max = 30;
    al_schema_typescript(parse(&a,
                               "{\"properties\":{\"one\":{\"properties\":{\"two\":{\"properties\":{\"three\":"
                               "{\"type\":\"string\"}}}}}}}"),
                         &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, "{one?: {two?: unknown}}");
}

static void a_long_enum_shows_twenty(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf text = AL_BUF_INIT(1u << 16), out = AL_BUF_INIT(1u << 16);
    al_buf_adds(&text, "{\"enum\":[\"v0\"");
    for (int i = 1; i < 50; i++)
        al_buf_addf(&text, ",\"v%d\"", i);
    al_buf_adds(&text, "]}");
    al_buf_addc(&text, 0);
    al_schema_typescript(parse(&a, text.p), &out);
    al_buf_addc(&out, 0);
    assert_non_null(strstr(out.p, "\"v19\" | string"));
    assert_null(strstr(out.p, "v20"));
}

static void a_type_that_does_not_fit_becomes_unknown(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(16);
    al_schema_typescript(parse(&a, "{\"properties\":{\"a_long_name\":{},\"another\":{}}}"), &out);
    assert_false(al_buf_failed(&out));
    assert_true(al_str_is(al_buf_str(&out), "unknown"));
}

static const char *const refused[] = {
    "[]",
    "{\"$ref\":\"#/x\"}",
    "{\"type\":\"objekt\"}",
    "{\"type\":[]}",
    "{\"pattern\":\"x\"}",
    "{\"properties\":{\"a\":{\"$id\":\"x\"}}}",
    "{\"properties\":[]}",
    "{\"required\":\"a\"}",
    "{\"required\":[1]}",
    "{\"items\":[{}]}",
    "{\"oneOf\":{}}",
    "{\"oneOf\":[1]}",
    "{\"maxLength\":-1}",
    "{\"minimum\":\"1\"}",
    "{\"enum\":[]}",
    "{\"description\":1}",
};

static void a_keyword_that_is_not_supported_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
        struct al_err err = {.code = AL_OK};
        if (al_schema_supported(parse(&a, refused[i]), &err) == 0)
            fail_msg("%s was taken", refused[i]);
        assert_int_equal(err.code, AL_INTERNAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_checked_and_each_problem_has_its_pointer),
        cmocka_unit_test(at_most_twenty_problems_are_shown_and_all_are_counted),
        cmocka_unit_test(the_deepest_value_that_can_be_read_is_checked),
        cmocka_unit_test(a_schema_prints_as_typescript),
        cmocka_unit_test(a_schema_that_doubles_itself_ends),
        cmocka_unit_test(a_name_that_is_too_long_is_left_open),
        cmocka_unit_test(what_does_not_fit_is_said_with_less_inside),
        cmocka_unit_test(a_long_enum_shows_twenty),
        cmocka_unit_test(a_type_that_does_not_fit_becomes_unknown),
        cmocka_unit_test(a_keyword_that_is_not_supported_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
