/* What scripts and models get of a server's result, and what a server gets of a request's parameters. */
#include "test.h"

#include "base/json.h"
#include "base/mem.h"
#include "upstream/edges.h"
#include "upstream/params.h"
#include "upstream/result.h"

#include <stdio.h>

static struct al_buf text, value;
static struct al_err err;

static int read_result(const char *json)
{
    al_buf_free(&text);
    al_buf_free(&value);
    al_buf_init(&text, 1u << 20);
    al_buf_init(&value, 1u << 20);
    al_err_clear(&err);
    return al_result_read(al_str_of(json), "srv.tool", &text, &value, &err);
}

static void is(const char *json, const char *want_value, const char *want_text)
{
    if (read_result(json) < 0)
        fail_msg("%s: %s", json, err.msg);
    al_buf_addc(&text, 0);
    al_buf_addc(&value, 0);
    assert_string_equal(value.p, want_value);
    assert_string_equal(text.p, want_text);
}

static void fails(const char *json, enum al_code code, const char *msg)
{
    assert_int_equal(read_result(json), -1);
    assert_int_equal(err.code, code);
    assert_string_equal(err.msg, msg);
}

static int clean_up(void **state)
{
    (void)state;
    al_buf_free(&text);
    al_buf_free(&value);
    return 0;
}

#define TEXT(s) "{\"type\":\"text\",\"text\":\"" s "\"}"
#define CONTENT(parts) "{\"content\":[" parts "]}"

static void structured_content_comes_first(void **state)
{
    (void)state;
    is("{\"content\":[" TEXT("four") "],\"structuredContent\":{ \"n\" : 4 }}", "{\"n\":4}", "four");
    is("{\"content\":[],\"structuredContent\":{\"n\":4}}", "{\"n\":4}", "{\"n\":4}");
    is("{\"structuredContent\":[1,2]}", "[1,2]", "[1,2]");
    is("{\"structuredContent\":null,\"content\":[" TEXT("x") "]}", "\"x\"", "x");
}

static void a_text_that_is_an_object_or_array_is_one(void **state)
{
    (void)state;
    is(CONTENT(TEXT("{\\\"a\\\": [1]}")), "{\"a\":[1]}", "{\"a\": [1]}");
    is(CONTENT(TEXT(" [1, 2]\\n")), "[1,2]", " [1, 2]\n");
    is(CONTENT(TEXT("{broken")), "\"{broken\"", "{broken");
    is(CONTENT(TEXT("0123")), "\"0123\"", "0123");
    is(CONTENT(TEXT("42")), "\"42\"", "42");
    is(CONTENT(TEXT("true")), "\"true\"", "true");
    is(CONTENT(TEXT("")), "\"\"", "");
}

static void several_parts_are_all_there_and_the_model_reads_names(void **state)
{
    (void)state;
    is(CONTENT(TEXT("a") "," TEXT("b")),
       "{\"parts\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}", "a\nb");
    is(CONTENT("{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAAA\",\"annotations\":{}}"),
       "{\"parts\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAAA\",\"bytes\":3}]}",
       "[audio audio/wav, 3 B]");
    is(CONTENT(
           "{\"type\":\"resource\",\"resource\":{\"uri\":\"x://1\",\"mimeType\":\"a/b\",\"blob\":\"AA==\"}}"),
       "{\"parts\":[{\"type\":\"resource\",\"uri\":\"x://1\",\"mimeType\":\"a/"
       "b\",\"blob\":\"AA==\",\"bytes\":1}]}",
       "[resource x://1 a/b, 1 B]");
    is(CONTENT("{\"type\":\"resource_link\",\"uri\":\"x://2\",\"name\":\"n\"}"),
       "{\"parts\":[{\"type\":\"resource_link\",\"uri\":\"x://2\",\"name\":\"n\"}]}",
       "[resource_link x://2]");
    is(CONTENT("{\"type\":\"hologram\",\"x\":1},7,null"), "{\"parts\":[{\"type\":\"hologram\",\"x\":1}]}",
       "[hologram]");
    is(CONTENT("{\"type\":\"image\"}"), "{\"parts\":[{\"type\":\"image\",\"data\":\"\",\"bytes\":0}]}",
       "[image]");
}

static void no_content_is_no_value(void **state)
{
    (void)state;
    is("{}", "", "");
    is("{\"content\":[]}", "", "");
    is("{\"content\":\"what\"}", "", "");
    is("{\"content\":{},\"resultType\":\"complete\"}", "", "");
}

static void foreign_names_do_not_reach_the_terminal(void **state)
{
    (void)state;
    is(CONTENT("{\"type\":\"im\\u001b[2Jage\",\"mimeType\":\"a\\nb\"}"),
       "{\"parts\":[{\"type\":\"im\\u001b[2Jage\",\"mimeType\":\"a\\nb\"}]}", "[im\\x1b[2Jage a\\nb]");
}

static void errors_are_the_tool_s_own_words(void **state)
{
    (void)state;
    fails("{\"isError\":true,\"content\":[" TEXT("no such thing") "]}", AL_TOOL_ERROR,
          "srv.tool: no such thing");
    fails("{\"isError\":true,\"content\":[" TEXT("no") "],\"structuredContent\":{\"code\":7}}", AL_TOOL_ERROR,
          "srv.tool: no {\"code\":7}");
    fails("{\"isError\":true,\"structuredContent\":{\"code\":7}}", AL_TOOL_ERROR, "srv.tool: {\"code\":7}");
    fails("{\"isError\":true}", AL_TOOL_ERROR, "srv.tool: it failed and said nothing");
    assert_int_equal(read_result("{\"resultType\":\"input_required\"}"), -1);
    assert_int_equal(err.code, AL_TOOL_ERROR);
    assert_int_equal(read_result("{\"resultType\":\"task\"}"), -1);
    assert_int_equal(err.code, AL_TOOL_ERROR);
    assert_int_equal(
        al_result_failure(AL_STR("{\"code\":-32602,\"message\":\"n is missing\"}"), "srv.tool", &err), -1);
    assert_int_equal(err.code, AL_TOOL_INPUT_INVALID);
    assert_string_equal(err.msg, "srv.tool: n is missing");
    al_result_failure(AL_STR("{\"code\":5,\"message\":\"a\\tb\\u0007\"}"), "srv.tool", &err);
    assert_string_equal(err.msg, "srv.tool: a\tb\\x07 (error 5)");
    al_result_failure(AL_STR("{\"code\":5,\"message\":\"a\\r\\nb\\rc\"}"), "srv.tool", &err);
    assert_string_equal(err.msg, "srv.tool: a\nb\\rc (error 5)");
    al_result_failure(AL_STR("{}"), "srv.tool", &err);
    assert_string_equal(err.msg, "srv.tool: it failed and said nothing (error 0)");
}

static void check_advice(enum al_code code, const char *msg, enum al_origin origin, const char *hint)
{
    static const struct al_tool tool = {
        .name = "mcp_srv_tool",
        .input_schema =
            "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}},\"required\":[\"n\"]}",
        .server = "srv",
        .server_tool = "tool",
    };
    al_fail(&err, code, "%s", msg);
    al_result_advise(&tool, "srv.tool", origin, &err);
    assert_string_equal(err.hint, hint);
}

static void wrong_arguments_come_with_what_is_right(void **state)
{
    (void)state;
    check_advice(AL_TOOL_INPUT_INVALID, "srv.tool: no", AL_ORIGIN_SCRIPT,
                 "it takes srv.tool(args: {n: number}); tools.describe(\"srv.tool\") has the schema");
    check_advice(
        AL_TOOL_ERROR, "srv.tool: MCP error -32602: Input validation error", AL_ORIGIN_CLI,
        "it takes srv.tool(args: {n: number}); `alisio tool describe mcp_srv_tool` shows the schema");
    check_advice(AL_TOOL_ERROR, "srv.tool: n: Field required", AL_ORIGIN_MCP,
                 "it takes srv.tool(args: {n: number})");
    check_advice(AL_TOOL_ERROR, "srv.tool: the disk is full", AL_ORIGIN_SCRIPT, "");
    check_advice(AL_UPSTREAM_UNAVAILABLE, "srv.tool: -32602", AL_ORIGIN_SCRIPT, "");
    struct al_tool any = {.name = "a", .input_schema = "{\"type\":\"object\"}"};
    al_fail(&err, AL_TOOL_INPUT_INVALID, "no");
    al_result_advise(&any, "s.a", AL_ORIGIN_SCRIPT, &err);
    assert_string_equal(err.hint, "tools.describe(\"s.a\") has the schema");
    al_fail(&err, AL_TOOL_INPUT_INVALID, "no");
    al_result_advise(&any, "s.a", AL_ORIGIN_MCP, &err);
    assert_string_equal(err.hint, "");
}

static void a_signature_is_cut_where_it_is_long(void **state)
{
    (void)state;
    struct al_buf schema = AL_BUF_INIT(1u << 20);
    al_buf_adds(&schema, "{\"type\":\"object\",\"properties\":{");
    for (int i = 0; i < 100; i++)
        al_buf_addf(&schema, "%s\"property%d\":{\"type\":\"string\"}", i ? "," : "", i);
    al_buf_addf(&schema, "}}%c", 0);
    struct al_tool tool = {.name = "a", .input_schema = schema.p};
    al_fail(&err, AL_TOOL_INPUT_INVALID, "no");
    al_result_advise(&tool, "s.a", AL_ORIGIN_SCRIPT, &err);
    assert_true(al_str_starts(al_str_of(err.hint), "it takes s.a(args?: {property0?: string"));
    assert_non_null(strstr(err.hint, "…; tools.describe(\"s.a\") has the schema"));
    al_buf_free(&schema);
}

static void a_long_error_is_cut(void **state)
{
    (void)state;
    struct al_buf json = AL_BUF_INIT(1u << 16);
    al_buf_adds(&json, "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"");
    for (size_t i = 0; i < 5000; i++)
        al_buf_adds(&json, "é");
    al_buf_adds(&json, "\"}],\"structuredContent\":{\"code\":7}}");
    al_buf_addc(&json, 0);
    assert_int_equal(read_result(json.p), -1);
    assert_non_null(strstr(err.msg, "{\"code\":7}"));
    assert_true(strlen(err.msg) < 1000);
    al_buf_free(&json);
}

static void progress_is_translated(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{\"progressToken\":1,\"progress\":0.5,\"total\":1,\"message\":\"half\"}",
         "{\"completed\":0.5,\"total\":1,\"note\":\"half\"}"},
        {"{\"progress\":3}", "{\"completed\":3}"},
        {"{\"progress\":\"x\",\"message\":7}", "{}"},
        {"[]", ""},
        {"{", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct al_buf out = AL_BUF_INIT(4096);
        al_result_progress(al_str_of(cases[i][0]), &out);
        al_buf_addc(&out, 0);
        assert_string_equal(out.p, cases[i][1]);
        al_buf_free(&out);
    }
}

static void params(const struct al_params *p, const char *want)
{
    struct al_buf out = AL_BUF_INIT(1u << 16);
    al_params_write(&out, p);
    al_buf_addc(&out, 0);
    assert_string_equal(out.p, want);
    al_buf_free(&out);
}

static void what_belongs_to_another_hop_is_left_out(void **state)
{
    (void)state;
    params(&(struct al_params){.params = AL_STR("")}, "{}");
    params(&(struct al_params){.params = AL_STR("{ \"a\" : [1, {\"_meta\":2}] , \"b\":\"}\\\"\"}")},
           "{\"a\":[1, {\"_meta\":2}],\"b\":\"}\\\"\"}");
    params(&(struct al_params){.params = AL_STR(
                                   "{\"_meta\":{\"progressToken\":\"t\",\"io.modelcontextprotocol/x\":1}}")},
           "{}");
    params(&(struct al_params){.params =
                                   AL_STR("{\"_meta\":{\"progressToken\":\"t\",\"k\":{\"z\":[]}},\"n\":1}"),
                               .progress_token = 9},
           "{\"n\":1,\"_meta\":{\"k\":{\"z\":[]},\"progressToken\":9}}");
    params(&(struct al_params){.params = AL_STR("{\"_m\\u0065ta\":{\"pro\\u0067ressToken\":1}}")}, "{}");
}

static void the_newer_protocol_is_told_who_asks(void **state)
{
    (void)state;
    struct al_params p = {
        .modern = true, .log_level = AL_STR("info"), .capabilities = AL_STR("{\"roots\":{}}")};
    params(&p,
           "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
           "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"alisio\",\"title\":\"alisio: code mode\","
           "\"version\":\"" AL_VERSION "\"},\"io.modelcontextprotocol/clientCapabilities\":{\"roots\":{}},"
           "\"io.modelcontextprotocol/logLevel\":\"info\"}}");
    struct al_buf out = AL_BUF_INIT(4096);
    p.params = AL_STR("{\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{}}}}");
    p.keep_capabilities = true;
    al_params_write(&out, &p);
    assert_true(al_str_find(al_buf_str(&out), AL_STR("clientCapabilities\":{\"sampling\":{}}")) > 0);
    assert_true(al_str_find(al_buf_str(&out), AL_STR("roots")) < 0);
    al_buf_free(&out);
}

static void a_relayed_call_gets_the_server_s_own_name(void **state)
{
    (void)state;
    struct al_buf out = AL_BUF_INIT(4096), name = AL_BUF_INIT(64);
    al_params_rename(AL_STR("{\"name\":\"mcp_a_b\",\"arguments\":{\"name\":1}}"), AL_STR("b\""), &out);
    assert_true(al_str_is(al_buf_str(&out), "{\"name\":\"b\\\"\",\"arguments\":{\"name\":1}}"));
    assert_true(al_params_text(al_buf_str(&out), "name", &name));
    assert_true(al_str_is(al_buf_str(&name), "b\""));
    assert_true(al_str_is(al_params_member(al_buf_str(&out), "arguments"), "{\"name\":1}"));
    assert_true(al_str_is(al_params_member(al_buf_str(&out), "other"), ""));
    al_buf_free(&out);
    al_buf_free(&name);
}

static uint64_t id_of(const char *head, size_t fill, const char *tail, size_t step)
{
    struct al_edges e = {0};
    struct al_buf all = AL_BUF_INIT(1u << 16);
    al_buf_adds(&all, head);
    for (size_t i = 0; i < fill; i++)
        al_buf_addc(&all, 'x');
    al_buf_adds(&all, tail);
    for (size_t i = 0; i < all.n; i += step)
        al_edges_add(&e, (struct al_str){all.p + i, all.n - i < step ? all.n - i : step});
    al_buf_free(&all);
    return al_edges_id(&e);
}

static void the_id_of_a_line_that_is_too_long_is_seen_at_its_edges(void **state)
{
    (void)state;
    for (size_t step = 1; step < 2000; step = step * 3 + 1) {
        assert_int_equal(id_of("{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":", 9000, "}}", step), 17);
        assert_int_equal(id_of("{\"result\":", 9000, "},\"jsonrpc\":\"2.0\",\"id\": 18}", step), 18);
        assert_int_equal(id_of("{\"id\":\"text\",\"result\":", 9000, "\\\"id\\\":5}", step), 0);
        assert_int_equal(id_of("{\"id\":19}", 0, "", step), 19);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structured_content_comes_first),
        cmocka_unit_test(a_text_that_is_an_object_or_array_is_one),
        cmocka_unit_test(several_parts_are_all_there_and_the_model_reads_names),
        cmocka_unit_test(no_content_is_no_value),
        cmocka_unit_test(foreign_names_do_not_reach_the_terminal),
        cmocka_unit_test(errors_are_the_tool_s_own_words),
        cmocka_unit_test(wrong_arguments_come_with_what_is_right),
        cmocka_unit_test(a_signature_is_cut_where_it_is_long),
        cmocka_unit_test(a_long_error_is_cut),
        cmocka_unit_test(progress_is_translated),
        cmocka_unit_test(what_belongs_to_another_hop_is_left_out),
        cmocka_unit_test(the_newer_protocol_is_told_who_asks),
        cmocka_unit_test(a_relayed_call_gets_the_server_s_own_name),
        cmocka_unit_test(the_id_of_a_line_that_is_too_long_is_seen_at_its_edges),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
