#include "test.h"

#include "core_world.h"

#include "base/mem.h"
#include "core/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void never(struct al_call *call)
{
    (void)call;
    fail();
}

static bool switched_on;

static bool is_switched_on(const struct al_core *core)
{
    (void)core;
    return switched_on;
}

static bool always(const struct al_json *args)
{
    (void)args;
    return true;
}

#define TOOL(n, e, d) .name = n, .title = n, .effect = e, .description = d, .start = never
static const struct al_tool find_text = {
    TOOL("find_text", AL_EFFECT_READ, "Searches files for a text or a regular expression. Says more here."),
    .input_schema = "{\"type\":\"object\",\"properties\":{\"pattern\":{\"type\":\"string\"},\"glob\":{"
                    "\"type\":\"string\"}},"
                    "\"required\":[\"pattern\"]}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"matches\":{\"type\":\"array\",\"items\":{"
                     "\"type\":\"string\"}}},"
                     "\"required\":[\"matches\"]}",
};
static const struct al_tool put_file = {
    TOOL("put_file", AL_EFFECT_WRITE, "Writes a file.\nSecond line about text."),
    .input_schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}",
    .scratch_only = always,
};
static const struct al_tool run_it = {
    TOOL("run_it", AL_EFFECT_PROCESS, "Runs a program."),
    .input_schema = "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"}}}",
};
static const struct al_tool ask_person = {
    TOOL("ask_person", AL_EFFECT_READ, "Asks."),
    .input_schema = "{\"type\":\"object\"}",
    .not_callable = "nobody can be asked from a script",
};
static const struct al_tool optional = {
    TOOL("optional-tool", AL_EFFECT_READ, "There at times."),
    .input_schema = "{\"type\":\"object\"}",
    .registered = is_switched_on,
};

static struct core_world *start(void **state, const char *config)
{
    struct core_world *t = *state;
    switched_on = false;
    core_world_start(t, config);
    al_core_register(t->core, &run_it);
    al_core_register(t->core, &find_text);
    al_core_register(t->core, &put_file);
    al_core_register(t->core, &ask_person);
    al_core_register(t->core, &optional);
    return t;
}

static const struct al_json *list(struct core_world *t, struct al_arena *a, const char *query,
                                  enum al_origin origin)
{
    static struct al_buf out = AL_BUF_INIT(1u << 20);
    struct al_err err;
    const struct al_json *v = NULL;
    al_buf_free(&out);
    al_core_list_json(t->core, al_str_of(query), origin, &out);
    char *kept = al_arena_dup(a, al_buf_str(&out));
    size_t n = out.n;
    al_buf_free(&out);
    if (al_json_parse(a, (struct al_str){kept, n}, &v, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(v->type, AL_JSON_ARRAY);
    return v;
}

static const struct al_json *find(const struct al_json *all, const char *name)
{
    al_json_each(one, all) if (al_str_is(al_json_get_text(one, "name"), name)) return one;
    return NULL;
}

static void check_callable(const struct al_json *entry, bool callable, const char *reason)
{
    assert_non_null(entry);
    assert_int_equal(al_json_is_true(al_json_get(entry, "callable")), callable);
    struct al_str why = al_json_get_text(entry, "reason");
    if (!reason)
        assert_null(al_json_get(entry, "reason"));
    else
        assert_true(al_str_find(why, al_str_of(reason)) >= 0);
}

/* --- names --- */

static void tools_are_kept_by_name(void **state)
{
    struct core_world *t = start(state, NULL);
    const char *before = "";
    for (size_t i = 0; i < al_core_n_tools(t->core); i++) {
        const char *name = al_core_tool_at(t->core, i)->name;
        assert_true(strcmp(before, name) < 0);
        before = name;
    }
    assert_ptr_equal(al_core_tool(t->core, AL_STR("find_text")), &find_text);
    assert_ptr_equal(al_core_tool(t->core, AL_STR("run_it")), &run_it);
    assert_null(al_core_tool(t->core, AL_STR("find_tex")));
    assert_null(al_core_tool(t->core, AL_STR("find_text2")));
    assert_null(al_core_tool(t->core, AL_STR("")));
    assert_null(al_core_tool(t->core, (struct al_str){NULL, 0}));
}

static void a_tool_that_is_off_is_not_there(void **state)
{
    struct core_world *t = start(state, NULL);
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    struct al_err err;
    assert_null(al_core_tool(t->core, AL_STR("optional-tool")));
    assert_null(find(list(t, &a, "", AL_ORIGIN_SCRIPT), "optional-tool"));
    assert_int_equal(al_core_describe_json(t->core, AL_STR("optional-tool"), &b, &err), -1);
    assert_int_equal(err.code, AL_TOOL_NOT_FOUND);
    al_core_close_names(t->core, AL_STR("optional"), &b);
    assert_int_equal(b.n, 0);
    switched_on = true;
    assert_ptr_equal(al_core_tool(t->core, AL_STR("optional-tool")), &optional);
    al_core_close_names(t->core, AL_STR("optional"), &b);
    assert_true(al_str_is(al_buf_str(&b), "did you mean optional-tool?"));
}

static void js_run_or_its_predecessor_is_there(void **state)
{
    struct core_world *t = start(state, NULL);
    assert_ptr_equal(al_core_tool(t->core, AL_STR("js_run")), &al_tool_js_run);
    assert_null(al_core_tool(t->core, AL_STR("execute")));
    core_world_stop(t);
    start(state, "{\"forge\":{\"javascript\":{\"enabled\":false}}}");
    assert_null(al_core_tool(t->core, AL_STR("js_run")));
    assert_ptr_equal(al_core_tool(t->core, AL_STR("execute")), &al_tool_execute);
}

static void close_names_forgive_case_and_separators(void **state)
{
    struct core_world *t = start(state, NULL);
    static const struct {
        const char *wanted, *said;
    } cases[] = {
        {"findText", "did you mean find_text?"},
        {"find-text", "did you mean find_text?"},
        {"fnid_text", "did you mean find_text?"},
        {"fs.find_text", "did you mean find_text?"},
        {"put", "did you mean put_file?"},
        {"runit", "did you mean run_it?"},
        {"zzzzzzzz", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        autobuf struct al_buf b = AL_BUF_INIT(1000);
        al_core_close_names(t->core, al_str_of(cases[i].wanted), &b);
        al_buf_addc(&b, 0);
        assert_string_equal(b.p, cases[i].said);
    }
    char huge[5000];
    memset(huge, 'x', sizeof(huge));
    autobuf struct al_buf b = AL_BUF_INIT(1000);
    al_core_close_names(t->core, (struct al_str){huge, sizeof(huge)}, &b);
    assert_int_equal(b.n, 0);
}

/* --- what is wrong with a tool ends the program --- */

static void check_aborts(struct core_world *t, const struct al_tool *tool)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(3);
        signal(SIGABRT, SIG_DFL);
        al_core_register(t->core, tool);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("tool \"%s\" was taken", tool->name);
}

static void a_broken_tool_is_a_fault_of_the_program(void **state)
{
    struct core_world *t = start(state, NULL);
    const struct al_tool good = {TOOL("good", AL_EFFECT_READ, "d"), .input_schema = "{\"type\":\"object\"}"};
    struct al_tool bad[12];
    size_t n = 0;
    for (size_t i = 0; i < 12; i++)
        bad[i] = good;
    bad[n++].name = "";
    bad[n++].name = "has space";
    bad[n++].name = "dotted.name";
    bad[n++].name = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; /* 65 */
    bad[n++].name = "find_text";                                                         /* taken */
    bad[n++].input_schema = "{\"type\":\"array\"}";
    bad[n++].input_schema = "{";
    bad[n++].input_schema = "{\"type\":\"object\",\"$ref\":\"#\"}";
    bad[n++].input_schema = "{\"type\":\n\"object\"}";
    bad[n++].output_schema = "{\"type\":\"nothing\"}";
    bad[n++].start = NULL;
    bad[n++].input_schema = NULL;
    for (size_t i = 0; i < n; i++)
        check_aborts(t, &bad[i]);
    al_core_register(t->core, &good);
    assert_ptr_equal(al_core_tool(t->core, AL_STR("good")), &good);
}

/* --- the list --- */

static void the_list_says_what_may_be_called_now(void **state)
{
    struct core_world *t = start(state, NULL);
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    const struct al_json *all = list(t, &a, "", AL_ORIGIN_SCRIPT);
    check_callable(find(all, "find_text"), true, NULL);
    check_callable(find(all, "put_file"), true, "scratch:");
    check_callable(find(all, "run_it"), false, "APPROVAL_REQUIRED");
    check_callable(find(all, "run_it"), false, "--allow-process");
    check_callable(find(all, "ask_person"), false, "NOT_CALLABLE: nobody can be asked from a script");
    check_callable(find(all, "js_run"), false, "NOT_CALLABLE");
    assert_true(al_str_is(al_json_get_text(find(all, "run_it"), "effect"), "process"));
    assert_true(al_str_is(al_json_get_text(find(all, "find_text"), "description"),
                          "Searches files for a text or a regular expression."));
    assert_true(al_str_is(al_json_get_text(find(all, "put_file"), "description"), "Writes a file."));
    all = list(t, &a, "", AL_ORIGIN_CLI);
    check_callable(find(all, "run_it"), true, NULL);
    check_callable(find(all, "ask_person"), true, NULL);

    core_world_stop(t);
    t->opts.policy = (struct al_policy){.allow_process = true, .allow_write = true};
    start(state, NULL);
    all = list(t, &a, "", AL_ORIGIN_SCRIPT);
    check_callable(find(all, "run_it"), true, NULL);
    check_callable(find(all, "put_file"), true, NULL);

    core_world_stop(t);
    t->opts.policy = (struct al_policy){.allow_process = true, .read_only = true};
    start(state, NULL);
    all = list(t, &a, "", AL_ORIGIN_SCRIPT);
    check_callable(find(all, "run_it"), false, "PERMISSION_DENIED");
    check_callable(find(all, "put_file"), false, "PERMISSION_DENIED");

    core_world_stop(t);
    t->opts.policy = (struct al_policy){0};
    start(state, "{\"forge\":{\"scratch\":{\"enabled\":false}}}");
    check_callable(find(list(t, &a, "", AL_ORIGIN_SCRIPT), "put_file"), false, "APPROVAL_REQUIRED");
}

static void a_query_ranks_and_leaves_out_what_does_not_match(void **state)
{
    struct core_world *t = start(state, NULL);
    static const struct {
        const char *query, *first;
    } cases[] = {
        {"find", "find_text"},     {"search files", "find_text"}, {"SEARCH", "find_text"},
        {"pattern", "find_text"},  {"text", "find_text"},         {"command", "run_it"},
        {"write", "put_file"},     {"put files", "put_file"},     {"findText", "find_text"},
        {"run program", "run_it"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
        const struct al_json *all = list(t, &a, cases[i].query, AL_ORIGIN_SCRIPT);
        if (!all->child || !al_str_is(al_json_get_text(all->child, "name"), cases[i].first))
            fail_msg("\"%s\" did not find %s first", cases[i].query, cases[i].first);
    }
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    assert_int_equal(list(t, &a, "quantum chromodynamics", AL_ORIGIN_SCRIPT)->n, 0);
    assert_int_equal(list(t, &a, "  ,;", AL_ORIGIN_SCRIPT)->n, list(t, &a, "", AL_ORIGIN_SCRIPT)->n);
    char *huge = al_xmalloc(1u << 20);
    memset(huge, 'f', 1u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1u << 20);
    al_core_list_json(t->core, (struct al_str){huge, 1u << 20}, AL_ORIGIN_SCRIPT, &out);
    assert_true(al_str_is(al_buf_str(&out), "[]"));
    free(huge);
}

static void a_description_has_schemas_and_a_signature(void **state)
{
    struct core_world *t = start(state, NULL);
    autoarena struct al_arena a = AL_ARENA_INIT(1u << 20);
    autobuf struct al_buf out = AL_BUF_INIT(1u << 16);
    struct al_err err;
    const struct al_json *v = NULL;
    assert_int_equal(al_core_describe_json(t->core, AL_STR("find_text"), &out, &err), 0);
    assert_int_equal(al_json_parse(&a, al_buf_str(&out), &v, &err), 0);
    assert_true(al_str_is(al_json_get_text(v, "name"), "find_text"));
    assert_true(al_str_is(al_json_get_text(v, "description"), find_text.description));
    assert_true(al_str_is(al_json_get(v, "inputSchema")->raw, find_text.input_schema));
    assert_true(al_str_is(al_json_get(v, "outputSchema")->raw, find_text.output_schema));
    assert_true(al_str_is(al_json_get_text(v, "signature"),
                          "find_text(args: {pattern: string; glob?: string}): Promise<{matches: string[]}>"));
    al_buf_clear(&out);
    al_tool_signature(&optional, &out);
    assert_true(
        al_str_is(al_buf_str(&out), "\"optional-tool\"(args?: Record<string, unknown>): Promise<unknown>"));
    assert_int_equal(al_core_describe_json(t->core, AL_STR("findtext"), &out, &err), -1);
    assert_non_null(strstr(err.hint, "did you mean find_text?"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, core_world_set_up, core_world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(tools_are_kept_by_name),
        CASE(a_tool_that_is_off_is_not_there),
        CASE(js_run_or_its_predecessor_is_there),
        CASE(close_names_forgive_case_and_separators),
        CASE(a_broken_tool_is_a_fault_of_the_program),
        CASE(the_list_says_what_may_be_called_now),
        CASE(a_query_ranks_and_leaves_out_what_does_not_match),
        CASE(a_description_has_schemas_and_a_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
