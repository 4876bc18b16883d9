/* What the relay changes between the eras, and that it changes nothing else. */
#include "test.h"

#include "mcp/relay_pure.h"

static const struct al_json *parse(struct al_arena *a, const char *text)
{
    const struct al_json *v;
    struct al_err err;
    assert_int_equal(al_json_parse(a, al_str_of(text), &v, &err), 0);
    return v;
}

static void check_result(const char *given, const char *method, bool modern, const char *wanted)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    al_relay_write_result(parse(&a, given), al_str_of(method), modern, &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, wanted);
}

static void results_pass_unharmed(void **state)
{
    (void)state;
    static const char odd[] =
        "{\"content\":[{\"type\":\"image\",\"data\":\"aGk=\",\"x\":1.50e+1}],\"own\":{\"a\":"
        "12345678901234567890123,\"\\u00e4\":\"\\ud800\"},\"structuredContent\":{\"n\":1.0}}";
    check_result(odd, "tools/call", false, odd);
    check_result(odd, "tools/call", true, odd);
    static const char modern[] =
        "{\"resultType\":\"complete\",\"ttlMs\":5,\"cacheScope\":\"public\",\"_meta\":{\"a\":1}}";
    check_result(modern, "resources/read", false, modern);
    check_result(modern, "resources/read", true, modern);
}

static void a_modern_client_gets_cache_hints_where_they_belong(void **state)
{
    (void)state;
    check_result("{\"contents\":[]}", "resources/read", true,
                 "{\"contents\":[],\"ttlMs\":0,\"cacheScope\":\"private\"}");
    check_result("{\"contents\":[],\"ttlMs\":9}", "resources/read", true,
                 "{\"contents\":[],\"ttlMs\":9,\"cacheScope\":\"private\"}");
    check_result("{\"messages\":[]}", "prompts/get", true, "{\"messages\":[]}");
    static const char asking[] = "{\"resultType\":\"input_required\",\"requestState\":\"s\"}";
    check_result(asking, "resources/read", true, asking);
}

static void an_older_client_gets_no_structured_content_that_is_no_object(void **state)
{
    (void)state;
    check_result("{\"content\":[{\"type\":\"text\",\"text\":\"[1]\"}],\"structuredContent\":[1]}",
                 "tools/call", false, "{\"content\":[{\"type\":\"text\",\"text\":\"[1]\"}]}");
    check_result("{\"content\":[],\"structuredContent\":[1,\"a\"]}", "tools/call", false,
                 "{\"content\":[{\"type\":\"text\",\"text\":\"[1,\\\"a\\\"]\"}]}");
    check_result("{\"content\":[],\"structuredContent\":[1]}", "tools/call", true,
                 "{\"content\":[],\"structuredContent\":[1]}");
}

static void check_params(struct al_relay_params p, const char *params, const char *wanted)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    p.params = params ? parse(&a, params) : NULL;
    al_relay_write_params(&p, &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, wanted);
}

static void params_pass_with_their_meta_of_this_hop_made_anew(void **state)
{
    (void)state;
    check_params((struct al_relay_params){.member = "name", .member_json = AL_STR("\"echo\"")},
                 "{\"name\":\"mcp_s_echo\",\"arguments\":{\"n\":1.0},\"_meta\":{\"progressToken\":7,"
                 "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"traceparent\":\"00-a\"}}",
                 "{\"arguments\":{\"n\":1.0},\"name\":\"echo\",\"_meta\":{\"traceparent\":\"00-a\","
                 "\"io.modelcontextprotocol/clientCapabilities\":{}}}");
    check_params(
        (struct al_relay_params){.capabilities = AL_STR("{\"sampling\":{}}"), .log_level = AL_STR("info")},
        NULL,
        "{\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{}},"
        "\"io.modelcontextprotocol/logLevel\":\"info\"}}");
}

static void a_cursor_is_put_in_and_taken_out(void **state)
{
    (void)state;
    struct al_relay_params p = {.member = "cursor", .member_json = AL_STR("\"c\"")};
    check_params(p, "{\"cursor\":\"3:abc=c\"}",
                 "{\"cursor\":\"c\",\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}}");
    p.member_json = AL_STR("null");
    check_params(p, "{\"cursor\":\"3:abc\"}",
                 "{\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}}");
}

static void a_retry_replaces_both_of_its_members(void **state)
{
    (void)state;
    static const char before[] = "{\"inputResponses\":{\"a\":1},\"requestState\":\"old\"}";
    check_params(
        (struct al_relay_params){.retry = true, .input_responses = AL_STR("{\"b\":{}}")}, before,
        "{\"inputResponses\":{\"b\":{}},\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}}");
    check_params((struct al_relay_params){0}, before,
                 "{\"inputResponses\":{\"a\":1},\"requestState\":\"old\",\"_meta\":{"
                 "\"io.modelcontextprotocol/clientCapabilities\":{}}}");
}

static void what_a_modern_server_asks_is_read(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    struct al_relay_asked asked;
    assert_true(
        al_relay_is_asking(parse(&a, "{\"resultType\":\"input_required\",\"requestState\":\"\\u0041\","
                                     "\"inputRequests\":{\"x\":{\"method\":\"roots/list\"}}}"),
                           &asked));
    assert_int_equal(asked.requests->n, 1);
    assert_true(al_str_is(asked.state, "\"\\u0041\""));
    static const char *const wrong[] = {
        "{\"resultType\":\"complete\",\"requestState\":\"a\"}",
        "{\"resultType\":\"input_required\"}",
        "{\"resultType\":\"input_required\",\"requestState\":1}",
        "{\"resultType\":\"input_required\",\"inputRequests\":[]}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"x\":1}}",
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"x\":{\"method\":\"m\",\"params\":[]}}}",
        "[]",
        "null",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(al_relay_is_asking(parse(&a, wrong[i]), &asked));
}

static void entries_are_named_anew_and_fit_the_clients_schema(void **state)
{
    (void)state;
    static const char tool[] =
        "{\"x\":1.0,\"name\":\"a\",\"outputSchema\":{\"type\":\"array\"},\"name\":\"b\"}";
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    struct al_jw w;
    al_jw_init(&w, &out);
    al_jw_arr(&w);
    al_relay_write_entry(&w, parse(&a, tool), "s_b", false);
    al_relay_write_entry(&w, parse(&a, tool), NULL, true);
    al_jw_end(&w);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p,
                        "[{\"name\":\"s_b\",\"x\":1.0},{\"x\":1.0,\"name\":\"a\",\"outputSchema\":{\"type\":"
                        "\"array\"},\"name\":\"b\"}]");
}

static void an_errors_code_is_that_of_the_clients_era(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    const struct al_json *e = parse(&a, "{\"code\":-32002,\"message\":\"no\",\"data\":{\"uri\":\"a:b\"}}");
    struct al_relay_error r;
    al_relay_read_error(e, false, &r);
    assert_int_equal(r.code, -32002);
    al_relay_read_error(e, true, &r);
    assert_int_equal(r.code, -32602);
    assert_true(al_str_is(r.message, "no"));
    assert_true(al_str_is(r.data, "{\"uri\":\"a:b\"}"));
    al_relay_read_error(parse(&a, "{\"code\":\"x\"}"), true, &r);
    assert_int_equal(r.code, -32603);
    assert_int_equal(r.message.n, 0);
}

static void pages_to_open_become_a_round_of_questions(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    assert_true(
        al_relay_write_url_round(parse(&a, "{\"code\":-32042,\"message\":\"m\",\"data\":{\"elicitations\":[{"
                                           "\"mode\":\"url\",\"message\":\"go\","
                                           "\"elicitationId\":\"e1\",\"url\":\"https://a.example/\"}]}}"),
                                 &out));
    struct al_relay_asked asked;
    al_buf_addc(&out, 0);
    assert_true(al_relay_is_asking(parse(&a, out.p), &asked));
    assert_true(
        al_str_is(al_json_get_text(al_json_get(asked.requests, "e1"), "method"), "elicitation/create"));
    autobuf struct al_buf none = AL_BUF_INIT(1 << 20);
    assert_false(al_relay_write_url_round(parse(&a, "{\"code\":-32042}"), &none));
    assert_false(
        al_relay_write_url_round(parse(&a, "{\"code\":-32602,\"data\":{\"elicitations\":[]}}"), &none));
}

static void check_round(const char *given, const char *wanted)
{
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20);
    al_relay_write_named_round(parse(&a, given), AL_STR("evil"), &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, wanted);
}

static void who_asks_is_said_before_it(void **state)
{
    (void)state;
    autoarena struct al_arena a = AL_ARENA_INIT(1 << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1 << 20), pages = AL_BUF_INIT(1 << 20);
    /* A second message cannot be hidden behind the first. */
    al_relay_write_named(parse(&a, "{\"message\":\"a\",\"mode\":\"url\",\"message\":\"b\"}"), AL_STR("e\nv"),
                         &out);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, "{\"mode\":\"url\",\"message\":\"The MCP server e\\\\nv asks: b\"}");
    check_round(
        "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"elicitation/create\","
        "\"params\":{\"message\":\"hi\"}},\"b\":{\"method\":\"roots/list\"}},\"requestState\":\"s\"}",
        "{\"resultType\":\"input_required\",\"requestState\":\"s\",\"inputRequests\":{\"a\":{\"method\":"
        "\"elicitation/create\",\"params\":{\"message\":\"The MCP server evil asks: hi\"}},\"b\":{\"method\":"
        "\"roots/list\"}}}");
    check_round("{\"requestState\":\"s\"}", "{\"requestState\":\"s\"}");
    assert_true(al_relay_write_named_pages(
        parse(&a, "{\"code\":-32042,\"message\":\"m\",\"data\":{\"elicitations\":[{\"url\":\"u\",\"message\":"
                  "\"go\"},1]}}"),
        AL_STR("evil"), &pages));
    al_buf_addc(&pages, 0);
    assert_string_equal(pages.p,
                        "{\"code\":-32042,\"message\":\"m\",\"data\":{\"elicitations\":[{\"url\":\"u\","
                        "\"message\":\"The MCP server evil asks: go\"},1]}}");
    assert_false(al_relay_write_named_pages(parse(&a, "{\"code\":-32602}"), AL_STR("evil"), &pages));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_pass_unharmed),
        cmocka_unit_test(a_modern_client_gets_cache_hints_where_they_belong),
        cmocka_unit_test(an_older_client_gets_no_structured_content_that_is_no_object),
        cmocka_unit_test(params_pass_with_their_meta_of_this_hop_made_anew),
        cmocka_unit_test(a_cursor_is_put_in_and_taken_out),
        cmocka_unit_test(a_retry_replaces_both_of_its_members),
        cmocka_unit_test(what_a_modern_server_asks_is_read),
        cmocka_unit_test(entries_are_named_anew_and_fit_the_clients_schema),
        cmocka_unit_test(an_errors_code_is_that_of_the_clients_era),
        cmocka_unit_test(pages_to_open_become_a_round_of_questions),
        cmocka_unit_test(who_asks_is_said_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
