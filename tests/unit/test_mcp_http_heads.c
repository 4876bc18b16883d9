#include "test.h"

#include "mcp/http_heads.h"

static void accept_names_what_is_welcome(void **state)
{
    static const struct {
        const char *accept;
        bool json, sse;
    } cases[] = {
        {NULL, true, true},
        {"", false, false},
        {"*/*", true, true},
        {"application/json", true, false},
        {"text/event-stream", false, true},
        {"application/json, text/event-stream", true, true},
        {"Application/JSON;q=0.5 ,TEXT/event-stream", true, true},
        {"application/*", true, false},
        {"text/html", false, false},
        {"application/json;q=0, */*", false, true},
        {"*/*;q=0", false, false},
        {"*/*;q=0.0, text/event-stream;q=0.001", false, true},
        {"application/jsonx, xtext/event-stream", false, false},
        {",,;;,", false, false},
        {"application", false, false},
        {"*", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (al_mcp_http_accepts(cases[i].accept, "application/json") != cases[i].json ||
            al_mcp_http_accepts(cases[i].accept, "text/event-stream") != cases[i].sse)
            fail_msg("Accept: %s", cases[i].accept ? cases[i].accept : "(none)");
    }
    assert_true(al_mcp_http_is_json("application/json; charset=utf-8"));
    assert_false(al_mcp_http_is_json("text/plain"));
    assert_false(al_mcp_http_is_json(NULL));
}

static void only_this_machine_is_let_in(void **state)
{
    static const char *const allowed[] = {"box.example", NULL};
    static const char *const good[] = {"localhost",  "LocalHost:80", "127.0.0.1:65535", "[::1]",
                                       "[::1]:8080", "box.example",  "BOX.example:1"};
    static const char *const bad[] = {"",
                                      "evil",
                                      "localhost.",
                                      "localhost:",
                                      "localhost:99999",
                                      "localhost:x",
                                      "a@localhost",
                                      "localhost/x",
                                      "127.0.0.1.x",
                                      "127.0.0.2",
                                      "::1",
                                      "[::1",
                                      "[::1]x",
                                      "[::2]",
                                      "localhost:1:2",
                                      "xlocalhost",
                                      "box.example.x",
                                      "localhost, evil"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!al_mcp_http_host_ok(good[i], allowed))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (al_mcp_http_host_ok(bad[i], allowed))
            fail_msg("%s is let in", bad[i]);
    assert_false(al_mcp_http_host_ok(NULL, allowed));
    assert_false(al_mcp_http_host_ok("box.example", NULL));
    assert_true(al_mcp_http_origin_ok("http://localhost:3000", NULL));
    assert_true(al_mcp_http_origin_ok("HTTPS://[::1]", NULL));
    assert_true(al_mcp_http_origin_ok("https://box.example", allowed));
    static const char *const foreign[] = {"null",
                                          "",
                                          "localhost",
                                          "ftp://localhost",
                                          "http://",
                                          "http://evil",
                                          "http://localhost/",
                                          "http://evil@localhost",
                                          "http:/localhost"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (al_mcp_http_origin_ok(foreign[i], NULL))
            fail_msg("%s is let in", foreign[i]);
}

static void the_token_must_be_whole(void **state)
{
    (void)state;
    assert_true(al_mcp_http_bearer_ok("Bearer secret", "secret"));
    assert_true(al_mcp_http_bearer_ok("bearer  secret ", "secret"));
    static const char *const bad[] = {
        "",       "Bearer",       "Bearer ",      "Bearer secre", "Bearer secrets", "Bearer secretsecret",
        "secret", "Basic secret", "Bearersecret", "Bearer SECRET"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (al_mcp_http_bearer_ok(bad[i], "secret"))
            fail_msg("%s is let in", bad[i]);
    assert_false(al_mcp_http_bearer_ok(NULL, "secret"));
    assert_false(al_mcp_http_bearer_ok("Bearer ", ""));
}

static void values_are_plain_or_base64(void **state)
{
    static const struct {
        const char *value, *decoded; /* NULL: refused */
    } cases[] = {
        {"us-west1", "us-west1"},
        {"  padded ", "padded"},
        {"=?base64?IHBhZGRlZCA=?=", " padded "},
        {"=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, \xe4\xb8\x96\xe7\x95\x8c"},
        {"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="},
        {"=?base64?"
         "?=",
         ""},
        {"=?base64?SGVsbG8?=", NULL},
        {"=?base64?SGVs!!!bG8=?=", NULL},
        {"=?base64?====?=", NULL},
        {"=?base64?A===?=", NULL},
        {"=?base64?AA=A?=", NULL},
        {"=?base64?/w==?=", NULL}, /* no UTF-8 */
        {"=?base64?SGVsbG8=", "=?base64?SGVsbG8="},
        {"SGVsbG8=", "SGVsbG8="},
        {"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="},
        {"=?base64?=", "=?base64?="},
        {"a\x01z", NULL},
        {"\xc3\xa9", NULL},
        {"a\tb", "a\tb"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct al_buf out = AL_BUF_INIT(100);
        bool ok = al_mcp_http_decode(al_str_of(cases[i].value), &out);
        if (ok != (cases[i].decoded != NULL) || (ok && !al_str_is(al_buf_str(&out), cases[i].decoded)))
            fail_msg("%s", cases[i].value);
        al_buf_free(&out);
    }
    struct al_buf small = AL_BUF_INIT(4);
    assert_false(al_mcp_http_decode(AL_STR("hello"), &small));
    al_buf_free(&small);
}

static void headers_are_held_against_the_body(void **state)
{
    static const struct {
        const char *header, *json;
        bool same;
    } cases[] = {
        {"a", "\"a\"", true},    {"a", "\"b\"", false},
        {"42", "42", true},      {"42.0", "42", true},
        {"4.2e1", "42", true},   {"43", "42", false},
        {"-7", "-7", true},      {"x", "42", false},
        {"", "42", false},       {"true", "true", true},
        {"True", "true", false}, {"false", "false", true},
        {"null", "null", false}, {"1.5", "1.5", false},
        {"[1]", "[1]", false},   {"9007199254740993", "9007199254740993", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct al_arena a = AL_ARENA_INIT(4096);
        const struct al_json *v;
        assert_int_equal(al_json_parse(&a, al_str_of(cases[i].json), &v, NULL), 0);
        if (al_mcp_http_same(al_str_of(cases[i].header), v) != cases[i].same)
            fail_msg("%s and %s", cases[i].header, cases[i].json);
        al_arena_free(&a);
    }
    assert_false(al_mcp_http_same(AL_STR("a"), NULL));
}

static void ids_of_events_are_read_back(void **state)
{
    char id[AL_MCP_EVENT_ID_MAX];
    uint64_t stream, event;
    (void)state;
    al_mcp_http_event_id(id, 12, 345);
    assert_string_equal(id, "12-345");
    assert_true(al_mcp_http_read_event_id(al_str_of(id), &stream, &event));
    assert_int_equal(stream, 12);
    assert_int_equal(event, 345);
    static const char *const bad[] = {
        "", "-", "1-", "-1", "1", "1--1", "1-1-1", "a-1", "1-99999999999999999999", "+1-1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (al_mcp_http_read_event_id(al_str_of(bad[i]), &stream, &event))
            fail_msg("%s", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accept_names_what_is_welcome),      cmocka_unit_test(only_this_machine_is_let_in),
        cmocka_unit_test(the_token_must_be_whole),           cmocka_unit_test(values_are_plain_or_base64),
        cmocka_unit_test(headers_are_held_against_the_body), cmocka_unit_test(ids_of_events_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
