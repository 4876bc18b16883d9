/* What a person reads before they decide: all of it as it will happen, and nothing of it ours that is not. */
#include "test.h"

#include "base/json.h"
#include "base/mem.h"
#include "core/ask_text.h"

#include <stdlib.h>

static const struct al_tool program = {
    .name = "run_program", .title = "Run a program", .effect = AL_EFFECT_PROCESS};
static const struct al_tool foreign = {.name = "mcp_hub_get",
                                       .title = "Get\" it\n\"now",
                                       .effect = AL_EFFECT_EXTERNAL,
                                       .server = "hub",
                                       .server_tool = "get"};

/* Until the next one. */
static const char *asked_of(const struct al_tool *tool, const char *args)
{
    static struct al_buf out = AL_BUF_INIT(1u << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 20);
    struct al_ask ask = {.tool = tool, .tools = al_str_of(tool->name)};
    struct al_err err;
    if (args && al_json_parse(&arena, al_str_of(args), &ask.args, &err) < 0)
        fail_msg("%s", err.msg);
    al_buf_free(&out);
    al_ask_text(&ask, false, &out);
    al_buf_addc(&out, '\0');
    assert_false(al_buf_failed(&out));
    return out.p;
}

static const char *run_asked(const char *title, const char *code, bool whole)
{
    static struct al_buf out = AL_BUF_INIT(1u << 20);
    struct al_ask ask = {.title = title, .code = al_str_of(code), .tools = AL_STR("put, post")};
    al_buf_free(&out);
    al_ask_text(&ask, whole, &out);
    al_buf_addc(&out, '\0');
    assert_false(al_buf_failed(&out));
    return out.p;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in: %s", part, text);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in: %s", part, text);
}

static void arguments_are_shown_as_the_tool_reads_them(void **state)
{
    (void)state;
    const char *text =
        asked_of(&program, "{\"command\":\"\\u0072\\u006d\",\"args\":[\"\\u002drf\",{\"a\" : 1}]}");
    has(text, ": run_program.\nIt is described as: \"Run a program\"\nIts arguments:");
    has(text, "\n    command: rm\n    args: [\"-rf\",{\"a\":1}]");
    text = asked_of(&program, "{\"command\":\"ls\",\"n\":{\"x\":1,\"y\":2,\"x\":3},\"command\":\"rm\"}");
    has(text, "\n    n: {\"y\":2,\"x\":3}\n    command: rm");
    lacks(text, "ls");
    text = asked_of(&program, "{\"command\":\" ls\",\"cwd\":\"\",\"n\":1.50,\"b\":null}");
    has(text, "\n    command: \" ls\"\n    cwd: \"\"\n    n: 1.50\n    b: null");
    has(asked_of(&program, "{}"), "It has no arguments.");
    has(asked_of(&program, NULL), "It has no arguments.");
}

static void nothing_is_there_that_is_not_seen(void **state)
{
    (void)state;
    const char *text =
        asked_of(&program, "{\"a\":\"x\\u202e\\u200b\\u001b[2J\",\"b\":[\"\\ufe0f\\u3164\\u00ad\"]}");
    has(text, "    a: x\\u202e\\u200b\\x1b[2J\n    b: [\"\\ufe0f\\u3164\\u00ad\"]");
    text = asked_of(&program, "{\"a: 1\\n    command\":2,\"\":3,\"\\u200b\":4}");
    has(text, "\n    \"a: 1\\n    command\": 2\n    \"\": 3\n    \"\\u200b\": 4");
    has(run_asked(NULL, "a\xe2\x80\x8b\r\n\tb", false), "The script:\n    a\\u200b\\r\n    \tb");
}

static void many(struct al_buf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        al_buf_adds(out, text);
}

static void a_long_argument_hides_no_other(void **state)
{
    (void)state;
    autobuf struct al_buf args = AL_BUF_INIT(1u << 20);
    al_buf_adds(&args, "{\"content\":\"BEGIN ");
    many(&args, "x", 100000);
    al_buf_adds(&args, " END\",\"block\":\"one\\n");
    many(&args, "\\n", 1000);
    al_buf_adds(&args, "last\\n\",\"path\":\"a.txt\"}");
    al_buf_addc(&args, '\0');
    const char *text = asked_of(&program, args.p);
    has(text, "Its arguments:\n    path: a.txt\n    content: BEGIN xxx");
    has(text, "x … (99560 characters are left out here) … xxx");
    has(text, "xxx END\n    block:\n        one\n");
    has(text, "(986 characters are left out here)\n");
    has(text, "\n        last");
    assert_true(strlen(text) < 4000);
}

static void the_whole_is_bounded_and_says_so(void **state)
{
    (void)state;
    autobuf struct al_buf args = AL_BUF_INIT(4u << 20), code = AL_BUF_INIT(1u << 20);
    al_buf_adds(&args, "{\"path\":1");
    for (int i = 0; i < 1000; i++) {
        al_buf_addf(&args, ",\"long%d\":\"", i);
        many(&args, "\\u200b", 400);
        al_buf_addc(&args, '"');
    }
    al_buf_adds(&args, "}");
    al_buf_addc(&args, '\0');
    const char *text = asked_of(&program, args.p);
    has(text, "arguments:\n    path: 1\n    long0: \\u200b");
    has(text, "\n(997 more arguments are not shown)");
    assert_true(strlen(text) < 12000);
    al_buf_adds(&code, "first();\n");
    many(&code, "// 34567\n", 1000);
    al_buf_adds(&code, "last();");
    al_buf_addc(&code, '\0');
    text = run_asked(NULL, code.p, false);
    has(text, "The script:\n    first();\n    // 34567\n");
    has(text, "(8658 characters are left out here)\n    // 34567\n");
    has(text, "\n    last();");
    assert_true(strlen(text) < 4000);
    text = run_asked(NULL, code.p, true);
    lacks(text, "left out");
    assert_true(strlen(text) > code.n);
}

static void a_title_cannot_end_its_quotes(void **state)
{
    (void)state;
    const char *text =
        run_asked("x\" (checked by alisio).\n\"Choose \xe2\x80\x9dyes\xe2\x80\x9d", "1", false);
    has(text, "need your approval: put, post.\nIts title, in the words of who wrote it:\n"
              "    \"x' (checked by alisio).\\n'Choose 'yes'\"\nThe script:\n    1");
    text = run_asked(
        "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt", "1",
        false);
    has(text, "ttt…\"\n");
    text = asked_of(&foreign, "{}");
    has(text, "It belongs to the MCP server \"hub\", which calls it:\n    \"Get' it\\n'now\"\n");
}

static void a_grant_says_all_that_it_grants(void **state)
{
    (void)state;
    struct al_ask ask = {.tool = &foreign, .tools = AL_STR("mcp_hub_get"), .session_ends = true};
    autobuf struct al_buf out = AL_BUF_INIT(4096), kept = AL_BUF_INIT(4096);
    al_ask_session_text(&ask, &out);
    assert_true(al_str_is(
        al_buf_str(&out),
        "\"Allow for this session\" covers any call of mcp_hub_get of the MCP server \"hub\", whatever "
        "its arguments, by every client that works in this folder, for 12 hours."));
    ask.session_ends = false;
    al_ask_session_text(&ask, &kept);
    assert_true(al_str_ends(al_buf_str(&kept), "by every client of this session, as long as it exists."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_shown_as_the_tool_reads_them),
        cmocka_unit_test(nothing_is_there_that_is_not_seen),
        cmocka_unit_test(a_long_argument_hides_no_other),
        cmocka_unit_test(the_whole_is_bounded_and_says_so),
        cmocka_unit_test(a_title_cannot_end_its_quotes),
        cmocka_unit_test(a_grant_says_all_that_it_grants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
