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
static const char *asked(const struct al_tool *tool, const char *args, bool whole)
{
    static struct al_buf out = AL_BUF_INIT(8u << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 20);
    struct al_ask ask = {.tool = tool, .tools = al_str_of(tool->name)};
    struct al_err err;
    if (args && al_json_parse(&arena, al_str_of(args), &ask.args, &err) < 0)
        fail_msg("%s", err.msg);
    al_buf_free(&out);
    al_ask_text(&ask, whole, &out);
    al_buf_addc(&out, '\0');
    assert_false(al_buf_failed(&out));
    return out.p;
}

static const char *asked_of(const struct al_tool *tool, const char *args)
{
    return asked(tool, args, false);
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

/* What is in the middle runs, too. */
static void at_a_terminal_nothing_of_a_call_is_left_out(void **state)
{
    (void)state;
    autobuf struct al_buf args = AL_BUF_INIT(4u << 20);
    al_buf_adds(&args, "{\"command\":\"true ");
    many(&args, "x", 100000);
    al_buf_adds(&args, "; rm -rf inline; ");
    many(&args, "x", 100000);
    al_buf_adds(&args, "\",\"block\":\"a\\n");
    many(&args, "#\\n", 1000);
    al_buf_adds(&args, "rm -rf inblock\\n");
    many(&args, "#\\n", 1000);
    al_buf_adds(&args, "z\"");
    for (int i = 0; i < 1000; i++)
        al_buf_addf(&args, ",\"long%d\":\"%0200d\"", i, i);
    al_buf_adds(&args, ",\"list\":[\"");
    many(&args, "x", 1000);
    al_buf_adds(&args, "\",\"--evil\",\"");
    many(&args, "x", 1000);
    al_buf_adds(&args, "\"]}");
    al_buf_addc(&args, '\0');
    const char *text = asked(&program, args.p, true);
    has(text, "x; rm -rf inline; x");
    has(text, "\n        rm -rf inblock\n");
    has(text, "\n    long999: 0000");
    has(text, "\"--evil\"");
    lacks(text, "left out");
    lacks(text, "not shown");
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

/* --- Python scripts --- */

static const struct al_tool python = {
    .name = "python_run", .title = "Run Python", .effect = AL_EFFECT_PROCESS, .capability = "analysis.run"};

static const char *python_asked(const char *args, const struct al_wall *wall, const char *code, bool whole)
{
    static struct al_buf out = AL_BUF_INIT(4u << 20);
    autoarena struct al_arena arena = AL_ARENA_INIT(64u << 20);
    struct al_ask ask = {.tool = &python,
                         .tools = AL_STR("python_run"),
                         .wall = wall,
                         .code = code ? al_str_of(code) : (struct al_str){0}};
    struct al_err err;
    if (al_json_parse(&arena, al_str_of(args), &ask.args, &err) < 0)
        fail_msg("%s", err.msg);
    al_buf_free(&out);
    al_ask_text(&ask, whole, &out);
    al_buf_addc(&out, '\0');
    assert_false(al_buf_failed(&out));
    return out.p;
}

static void a_python_script_is_shown_with_what_holds_it(void **state)
{
    (void)state;
    const struct al_wall bwrap = {AL_PY_BWRAP, AL_PY_OS_SANDBOX}, none = {AL_PY_MANAGED, AL_PY_NONE},
                         filter = {AL_PY_LANDLOCK, AL_PY_OS_FILTER}, oci = {AL_PY_OCI, AL_PY_CONTAINER},
                         bare = {AL_PY_WASM, AL_PY_RESTRICTED_PROCESS};
    const char *args = "{\"title\":\"Sum \\\"it\\\"\",\"code\":\"import "
                       "os\\nprint(1)\",\"inputs\":[{\"path\":\"sales.csv\"},"
                       "{\"datasetId\":\"ds_1\",\"as\":\"x\\u202ey\"},{\"artifactId\":\"art_1\"}],\"extras\":"
                       "[\"analysis\"]}";
    assert_string_equal(
        python_asked(args, &bwrap, NULL, false),
        "A Python script is to be run, which needs your approval (python_run).\n"
        "Its title, in the words of who wrote it:\n    \"Sum 'it'\"\n"
        "It runs in bubblewrap: no network, no files but the job's (bwrap, os-sandbox).\n"
        "It gets copies of:\n    sales.csv\n    dataset ds_1 as \"x\\u202ey\"\n    artifact art_1\n"
        "It uses the extra packages: [\"analysis\"]\n"
        "The script:\n    import os\n    print(1)");
    has(python_asked(args, &none, NULL, false), "\nIt: NOT SANDBOXED: runs with your rights, can read your "
                                                "files and use the network (managed, none).\n");
    has(python_asked(args, &filter, NULL, false),
        "\nIt runs in Landlock and seccomp: no network, no files but the job's; "
        "that other files exist can be seen (landlock, os-filter).");
    has(python_asked(args, &oci, NULL, false),
        "\nIt runs in a container: no network, no files but the job's (oci, ");
    has(python_asked(args, &bare, NULL, false), "\nIt: NOT SANDBOXED: WebAssembly in a plain process");
    has(python_asked(args, NULL, NULL, false), "\nIt: what holds it is not known.");
}

static void the_code_of_a_file_is_shown_as_it_was_read(void **state)
{
    (void)state;
    const struct al_wall bwrap = {AL_PY_BWRAP, AL_PY_OS_SANDBOX};
    autobuf struct al_buf code = AL_BUF_INIT(1u << 20);
    has(python_asked("{\"codePath\":\"plan.py\"}", &bwrap, "print('\x1b[2J')", false),
        "\nThe script is the file \"plan.py\":\n    print('\\x1b[2J')");
    has(python_asked("{\"rerunOf\":\"art_1\"}", &bwrap, "x", false),
        "\nThe script is that of \"art_1\":\n    x");
    has(python_asked("{\"rerunOf\":\"art_1\"}", &bwrap, "x", false), "\nIt gets what it got then: ");
    has(python_asked("{\"rerunOf\":\"art_1\",\"inputs\":[{\"path\":\"b.csv\",\"as\":\"a.csv\"}]}", &bwrap,
                     "x", false),
        "\nIn the place of those of the same names it gets copies of:\n    b.csv as \"a.csv\"");
    has(python_asked("{\"rerunOf\":\"art_1\"}", &bwrap, NULL, false),
        "is that of \"art_1\", and its text is not known here.");
    for (int i = 0; i < 5000; i++)
        al_buf_addf(&code, "print(%d)\n", i);
    al_buf_addc(&code, '\0');
    const char *text = python_asked("{}", &bwrap, code.p, false);
    has(text, "\n    print(0)\n");
    has(text, "characters are left out here)");
    has(text, "\n    print(4999)");
    assert_true(strlen(text) < 6000);
    lacks(python_asked("{}", &bwrap, code.p, true), "left out");
}

static void many_inputs_are_counted(void **state)
{
    (void)state;
    autobuf struct al_buf args = AL_BUF_INIT(1u << 20);
    al_buf_adds(&args, "{\"code\":\"pass\",\"inputs\":[{\"path\":\"a\"}");
    for (int i = 0; i < 19; i++) {
        al_buf_adds(&args, ",{\"path\":\"");
        many(&args, "\\u200b", 500);
        al_buf_adds(&args, "\"}");
    }
    al_buf_adds(&args, "]}");
    al_buf_addc(&args, '\0');
    const char *text = python_asked(args.p, NULL, NULL, false);
    has(text, "It gets copies of:\n    a\n    \\u200b");
    has(text, " more)\nThe script:\n    pass");
    assert_true(strlen(text) < 9000);
}

static void a_grant_for_python_names_the_wall(void **state)
{
    (void)state;
    const struct al_wall bwrap = {AL_PY_BWRAP, AL_PY_OS_SANDBOX}, none = {AL_PY_MANAGED, AL_PY_NONE};
    struct al_ask ask = {
        .tool = &python, .tools = AL_STR("python_run"), .wall = &bwrap, .session_ends = true};
    autobuf struct al_buf strong = AL_BUF_INIT(4096), weak = AL_BUF_INIT(4096);
    al_ask_session_text(&ask, &strong);
    al_buf_addc(&strong, '\0');
    assert_string_equal(
        strong.p,
        "\"Allow for this session\" covers any call of python_run, whatever its script, behind such a "
        "wall or a stronger one, by every client that works in this folder, for 12 hours.");
    ask.wall = &none;
    al_ask_session_text(&ask, &weak);
    al_buf_addc(&weak, '\0');
    has(weak.p, "whatever its script, with or without a sandbox, by every client");
}

static void an_installation_names_packages_size_and_network(void **state)
{
    (void)state;
    const struct al_ask_install what = {"analysis", "pandas, numpy", "75 MB"};
    struct al_ask ask = {.install = &what, .tool = NULL, .tools = AL_STR("analysis.install")};
    autobuf struct al_buf out = AL_BUF_INIT(4096);
    al_ask_text(&ask, false, &out);
    al_buf_addc(&out, '\0');
    has(out.p,
        "to be installed, which needs your approval: the extras \"analysis\".\nThey are: pandas, numpy.\n"
        "This downloads about 75 MB and needs the network.");
    assert_string_equal(al_ask_prompt(&ask), "Install them?");
    ask = (struct al_ask){.tools = AL_STR("shell")};
    assert_string_equal(al_ask_prompt(&ask), "Let this run call them?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_shown_as_the_tool_reads_them),
        cmocka_unit_test(nothing_is_there_that_is_not_seen),
        cmocka_unit_test(a_long_argument_hides_no_other),
        cmocka_unit_test(the_whole_is_bounded_and_says_so),
        cmocka_unit_test(at_a_terminal_nothing_of_a_call_is_left_out),
        cmocka_unit_test(a_title_cannot_end_its_quotes),
        cmocka_unit_test(a_grant_says_all_that_it_grants),
        cmocka_unit_test(a_python_script_is_shown_with_what_holds_it),
        cmocka_unit_test(the_code_of_a_file_is_shown_as_it_was_read),
        cmocka_unit_test(many_inputs_are_counted),
        cmocka_unit_test(a_grant_for_python_names_the_wall),
        cmocka_unit_test(an_installation_names_packages_size_and_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
