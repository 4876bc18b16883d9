/* Arguments that travel as headers, too. */
#include "test.h"

#include "mcp/http_heads.h"

#include <stdio.h>
#include <strings.h>

struct sent {
    const char *name, *value;
    unsigned n;
};

static const char *get(void *ud, const char *name)
{
    const struct sent *s = ud;
    return s->value && strcasecmp(s->name, name) == 0 ? s->value : NULL;
}

static unsigned count(void *ud, const char *name)
{
    return get(ud, name) ? ((const struct sent *)ud)->n : 0;
}

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\",\"x-mcp-header\":"
    "\"Region\"},\"in\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
    "\"x-mcp-header\":\"N\"}}},\"free\":{\"type\":\"string\"}}}";

static void check(const char *arguments, struct sent sent, const char *wrong)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    const struct al_json *v = NULL;
    struct al_err err;
    char name[AL_MCP_HTTP_PARAM_MAX];
    struct al_mcp_http_headers headers = {.get = get, .count = count, .ud = &sent};
    if (arguments)
        assert_int_equal(al_json_parse(&a, al_str_of(arguments), &v, &err), 0);
    const char *found = al_mcp_http_params_wrong(al_str_of(schema), v, &headers, name);
    if (!wrong) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    char all[300];
    snprintf(all, sizeof all, "%s %s", name, found);
    assert_string_equal(all, wrong);
}

static void what_agrees_is_taken(void **state)
{
    (void)state;
    const struct sent none = {0};
    check(NULL, none, NULL);
    check("{\"free\":\"x\"}", none, NULL);
    check("{\"region\":null}", none, NULL);
    check("{\"region\":\"west\"}", (struct sent){"mcp-param-region", "west", 1}, NULL);
    check("{\"region\":\"\\u00e4\"}", (struct sent){"Mcp-Param-Region", "=?base64?w6Q=?=", 1}, NULL);
    check("{\"in\":{\"n\":42}}", (struct sent){"Mcp-Param-N", "42.0", 1}, NULL);
}

static void what_does_not_agree_is_named(void **state)
{
    (void)state;
    check("{\"region\":\"west\"}", (struct sent){0}, "Mcp-Param-Region is missing");
    check("{\"region\":\"west\"}", (struct sent){"Mcp-Param-Region", "east", 1},
          "Mcp-Param-Region does not say what the body says");
    check("{}", (struct sent){"Mcp-Param-Region", "east", 1},
          "Mcp-Param-Region does not say what the body says");
    check("{\"region\":\"west\"}", (struct sent){"Mcp-Param-Region", "west", 2},
          "Mcp-Param-Region is there more than once");
    check("{\"region\":\"west\"}", (struct sent){"Mcp-Param-Region", "we\x80st", 1},
          "Mcp-Param-Region has characters or a base64 form that no header may have");
    check("{\"in\":{\"n\":42}}", (struct sent){"Mcp-Param-N", "43", 1},
          "Mcp-Param-N does not say what the body says");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_agrees_is_taken),
        cmocka_unit_test(what_does_not_agree_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
