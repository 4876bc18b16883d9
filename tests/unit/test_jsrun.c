/* js_run through the real engine: every error, every limit, nested calls, state, uses, queue, journal. */
#include "test.h"

#include "jsrun_world.h"

#include "base/mem.h"
#include "base/text.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static struct world *make(const char *config)
{
    return world_new(&(struct world_opts){.config = config});
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in: %.2000s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" in: %.2000s", part, text);
}

/* --- values and text --- */

static void a_script_gives_value_text_and_record(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o =
        world_js(w, "print('hello', {a: 1});\nreturn {sum: 1 + 1, input};", ",\"input\":[1],\"title\":\"t\"");
    assert_int_equal(o.code, AL_OK);
    assert_true(al_str_starts(al_str_of(o.text), "{\"sum\":2,\"input\":[1]}\nhello "));
    assert_true(al_str_ends(al_str_of(o.text), "; effects: 0 external, 0 write]"));
    assert_true(al_id_valid(al_str_of(o.id), "exec_"));
    assert_string_equal(json_at(o.structured, "status"), "\"completed\"");
    assert_string_equal(json_at(o.structured, "value.sum"), "2");
    assert_string_equal(json_at(o.structured, "truncated"), "false");
    outcome_fini(&o);
    world_free(w);
}

/* What a tool gives, as the script sees it. */
static void nested_results_are_structured_or_json_or_text(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    static const char *const rows[][2] = {
        {"await tools.echo({v: {a: [1, null]}})", "{\"a\":[1,null]}"},
        {"await tools.call('echo', {v: 'x'})", "x"},
        {"await tools.text({text: '[1,2]'})", "[1,2]"},
        {"await tools.text({text: ' {\"a\":1} '})", "{\"a\":1}"},
        {"typeof await tools.text({text: '12'})", "string"},
        {"typeof await tools.text({text: 'true'})", "string"},
        {"await tools.text({text: '[broken'})", "[broken"},
        {"await tools.text({text: 'a\\n\"b\" \\u0001'})", "a\n\"b\" \x01"},
        {"await tools.text({text: ''})", "\"\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o = world_js(w, rows[i][0], NULL);
        size_t n = strlen(rows[i][1]);
        if (o.code || strncmp(o.text, rows[i][1], n) != 0 || o.text[n] != '\n')
            fail_msg("%s: %s", rows[i][0], o.text);
        outcome_fini(&o);
    }
    world_free(w);
}

/* --- every row of the table of errors --- */

struct error_row {
    const char *name, *code, *more;
    enum al_code want;
    const char *in_text, *in_hint;
};

static const struct error_row error_rows[] = {
    {"syntax", "const a = 1;\nreturn (a;", NULL, AL_SYNTAX_ERROR, "line 2", "forge_guide"},
    {"modules", "import fs from 'fs';\nreturn 1;", NULL, AL_SYNTAX_ERROR, "no modules", ""},
    {"uncaught", "print('before');\nconst a = null;\nreturn a.b.c;", NULL, AL_SCRIPT_ERROR, "at line 3",
     "forge_guide"},
    {"thrown", "throw new TypeError('boom');", NULL, AL_SCRIPT_ERROR, "TypeError: boom", ""},
    {"loop", "while (true) {}", ",\"timeoutMs\":100", AL_TIMEOUT,
     "TIMEOUT: ", "the script itself was running"},
    {"pending", "await tools.slow({});", ",\"timeoutMs\":1000", AL_TIMEOUT,
     "TIMEOUT: ", "pending: slow (for "},
    {"memory", "const a = []; for (;;) a.push('x'.repeat(1000) + a.length);", NULL, AL_MEMORY_LIMIT,
     "MEMORY_LIMIT", "forge.javascript.memoryBytes"},
    {"stack", "const f = n => f(n + 1) + 1; return f(0);", NULL, AL_STACK_LIMIT, "STACK_LIMIT",
     "forge.javascript.stackBytes"},
    {"calls", "for (let i = 0; i < 4; i++) await tools.echo({v: i});", NULL, AL_CALL_LIMIT,
     "3 calls and 1 beyond the limit", "forge.javascript.maxToolCalls"},
    {"printed", "const s = 'x'.repeat(1 << 20); for (;;) print(s);", NULL, AL_OUTPUT_LIMIT, "OUTPUT_LIMIT",
     ""},
    {"state", "state.big = 'x'.repeat(3000); return 'kept';", NULL, AL_STATE_LIMIT, "\nkept\n",
     "forge.state.maxTotalBytes"},
    {"approval", "await tools.put({name: 'a'});", NULL, AL_APPROVAL_REQUIRED, "put",
     "put --allow-write into"},
    {"no tool", "await tools.ecko({v: 1});", NULL, AL_TOOL_NOT_FOUND, "ecko", "echo"},
    {"no schema", "await tools.echo({v: 1, w: 2});", NULL, AL_TOOL_INPUT_INVALID, "w", "tools.describe"},
    {"failed", "await tools.fail({});", NULL, AL_TOOL_ERROR, "it went wrong", "try another way"},
    {"tool time", "await tools.fail({code: 'TOOL_TIMEOUT'});", NULL, AL_TOOL_TIMEOUT, "it went wrong", ""},
    {"too large", "await tools.big({n: 9 << 20});", NULL, AL_RESULT_TOO_LARGE, "big", ""},
    {"nested js_run", "await tools.js_run({code: '1'});", NULL, AL_NOT_CALLABLE, "js_run", ""},
    {"nested guide", "await tools.forge_guide({topic: 'limits'});", NULL, AL_NOT_CALLABLE, "forge_guide", ""},
    {"deadlock", "await new Promise(() => {});", NULL, AL_DEADLOCK, "DEADLOCK", ""},
    {"cycle", "const a = {b: {}}; a.b.c = a; return a;", NULL, AL_INVALID_RESULT, "INVALID_RESULT", ""},
    {"deep", "let a = 1; for (let i = 0; i < 110; i++) a = [a]; return a;", NULL, AL_INVALID_RESULT,
     "INVALID_RESULT", ""},
};

static void every_error_has_its_code_and_hint(void **state)
{
    (void)state;
    struct world *w =
        make("{\"forge\":{\"javascript\":{\"maxToolCalls\":3},\"state\":{\"maxTotalBytes\":1024}}}");
    for (size_t i = 0; i < sizeof error_rows / sizeof *error_rows; i++) {
        const struct error_row *row = &error_rows[i];
        struct outcome o = world_js(w, row->code, row->more);
        if (o.code != row->want)
            fail_msg("%s: %s: %s", row->name, al_code_name(o.code), o.text);
        assert_true(al_str_starts(al_str_of(o.text), al_code_name(row->want)));
        has(o.text, row->in_text);
        has(o.hint, row->in_hint);
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\"", al_code_name(row->want));
        assert_string_equal(json_at(o.structured, "error.code"), quoted);
        const char *status = row->want == AL_TIMEOUT ? "\"timed_out\"" : "\"failed\"";
        assert_string_equal(json_at(o.structured, "status"), status);
        struct al_run run = {0};
        struct al_err err = {0};
        assert_int_equal(al_store_run_get(w->store, o.id, &run, &err), 0);
        assert_string_equal(run.error_code, al_code_name(row->want));
        assert_non_null(run.record);
        assert_true(run.ended_ms > 0);
        al_run_fini(&run);
        outcome_fini(&o);
    }
    world_free(w);
}

static void what_was_printed_before_a_failure_is_there(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o = world_js(w, "print('one'); await tools.echo({v: 1}); print('two'); while (true) {}",
                                ",\"timeoutMs\":1000");
    assert_int_equal(o.code, AL_TIMEOUT);
    has(o.text, "\none\ntwo\n[1 call, ");
    assert_string_equal(json_at(o.structured, "calls.0.status"), "\"completed\"");
    outcome_fini(&o);
    world_free(w);
}

static void a_value_over_its_limit_is_output_limit(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"javascript\":{\"memoryBytes\":134217728}}}");
    struct outcome o = world_js(w, "return 'x'.repeat(33 << 20);", NULL);
    assert_int_equal(o.code, AL_OUTPUT_LIMIT);
    outcome_fini(&o);
    world_free(w);
}

struct input_row {
    const char *args, *field;
};

static void bad_arguments_are_invalid_input_naming_the_field(void **state)
{
    (void)state;
    static const struct input_row rows[] = {
        {"{}", "code"},
        {"{\"code\":\"\"}", "code"},
        {"{\"code\":\"  \"}", "code"},
        {"{\"code\":1}", "code"},
        {"{\"code\":\"1\",\"codePath\":\"a.js\"}", "codePath"},
        {"{\"codePath\":\"../a.js\"}", "codePath"},
        {"{\"codePath\":\"a/../plan.js\"}", "codePath"},
        {"{\"codePath\":\"/etc/passwd\"}", "codePath"},
        {"{\"codePath\":\"missing.js\"}", "codePath"},
        {"{\"codePath\":\"link.js\"}", "codePath"},
        {"{\"codePath\":\"folder\"}", "codePath"},
        {"{\"codePath\":\"large.js\"}", "codePath"},
        {"{\"codePath\":\"binary.js\"}", "codePath"},
        {"{\"codePath\":\"empty.js\"}", "codePath"},
        {"{\"code\":\"1\",\"timeoutMs\":0}", "timeoutMs"},
        {"{\"code\":\"1\",\"timeoutMs\":1.5}", "timeoutMs"},
        {"{\"code\":\"1\",\"timeoutMs\":5001}", "timeoutMs"},
        {"{\"code\":\"1\",\"timeoutMs\":\"1\"}", "timeoutMs"},
        {"{\"code\":\"1\",\"uses\":\"put\"}", "uses"},
        {"{\"code\":\"1\",\"uses\":[\"putt\"]}", "uses"},
        {"{\"code\":\"1\",\"uses\":[\"js_run\"]}", "uses"},
        {"{\"code\":\"1\",\"uses\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}",
         "uses"},
        {"{\"code\":\"1\",\"nonsense\":1}", "nonsense"},
    };
    struct world *w = make("{\"forge\":{\"javascript\":{\"maxTimeoutMs\":5000}}}");
    autofree char *large = al_xcalloc(1, 800002);
    memset(large, ' ', 800001);
    world_scratch(w, "large.js", large);
    world_scratch(w, "binary.js", "return '\xff';");
    world_scratch(w, "empty.js", "");
    world_scratch(w, "folder/a.js", "return 1;");
    char link[4200];
    snprintf(link, sizeof link, "%s/link.js", al_scratch_path(al_core_scratch(w->core)));
    assert_int_equal(symlink("/etc/passwd", link), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o = world_call(w, "js_run", rows[i].args);
        if (o.code != AL_INVALID_INPUT)
            fail_msg("%s: %s: %s", rows[i].args, al_code_name(o.code), o.msg);
        if (!strstr(o.hint, rows[i].field) && !strstr(o.msg, rows[i].field))
            fail_msg("%s: field not named: %s (%s)", rows[i].args, o.msg, o.hint);
        has_not(o.msg, w->dir);
        assert_string_equal(o.id, "");
        outcome_fini(&o);
    }
    assert_int_equal(al_core_n_runs(w->core), 0);
    world_free(w);
}

static void code_and_title_have_their_exact_limits(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    for (int over = 0; over < 2; over++) {
        struct al_buf code = AL_BUF_INIT(4u << 20);
        al_buf_adds(&code, "return 7;//");
        for (int i = 0; i < 200000 - 11 + over; i++)
            al_buf_adds(&code, "é");
        al_buf_addc(&code, '\0');
        struct outcome o = world_js(w, code.p, NULL);
        assert_int_equal(o.code, over ? AL_INVALID_INPUT : AL_OK);
        outcome_fini(&o);
        struct al_buf title = AL_BUF_INIT(4096);
        al_buf_adds(&title, ",\"title\":\"");
        for (int i = 0; i < 200 + over; i++)
            al_buf_adds(&title, "é");
        al_buf_add(&title, "\"", 2);
        o = world_js(w, "1", title.p);
        al_buf_free(&title);
        assert_int_equal(o.code, over ? AL_INVALID_INPUT : AL_OK);
        outcome_fini(&o);
        al_buf_free(&code);
    }
    world_free(w);
}

static void code_path_runs_a_file_of_the_scratchpad(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    world_scratch(w, "dir/plan.js", "\xef\xbb\xbfreturn 'from ' + input;");
    static const char *const paths[] = {"dir/plan.js", "scratch:dir/plan.js", "./dir//plan.js"};
    for (size_t i = 0; i < 3; i++) {
        char args[128];
        snprintf(args, sizeof args, "{\"codePath\":\"%s\",\"input\":\"file\"}", paths[i]);
        struct outcome o = world_call(w, "js_run", args);
        assert_int_equal(o.code, AL_OK);
        has(o.text, "from file\n");
        outcome_fini(&o);
    }
    world_free(w);
    w = make("{\"forge\":{\"scratch\":{\"enabled\":false}}}");
    struct outcome o = world_call(w, "js_run", "{\"codePath\":\"plan.js\"}");
    assert_int_equal(o.code, AL_INVALID_INPUT);
    has(o.msg, "forge.scratch.enabled");
    outcome_fini(&o);
    world_free(w);
}

/* --- nested calls --- */

static void errors_of_calls_can_be_caught(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"javascript\":{\"maxToolCalls\":3}}}");
    struct outcome o = world_js(
        w,
        "const seen = [];\n"
        "for (const f of [() => tools.fail({}), () => tools.put({name: 'a'}), () => tools.nope({}),\n"
        "                 () => tools.echo({v: 1})])\n"
        "  try { await f(); } catch (e) { seen.push([e.name, e.code, e.tool, typeof e.hint]); }\n"
        "return seen;",
        NULL);
    assert_int_equal(o.code, AL_OK);
    assert_true(al_str_starts(
        al_str_of(o.text),
        "[[\"ToolError\",\"TOOL_ERROR\",\"fail\",\"string\"],"
        "[\"ToolError\",\"APPROVAL_REQUIRED\",\"put\",\"string\"],"
        "[\"ToolError\",\"TOOL_NOT_FOUND\",\"nope\",\"string\"],"
        "[\"ToolError\",\"CALL_LIMIT\",\"echo\",\"string\"]]\n[3 calls (3 failed) and 1 beyond the limit"));
    outcome_fini(&o);
    world_free(w);
}

static void calls_run_concurrently_and_results_keep_their_order(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"javascript\":{\"maxConcurrency\":2}}}");
    struct outcome o = world_js(
        w,
        "return await Promise.all([tools.later({name: 'a', after: 'c'}), tools.later({name: 'b', ms: 5}),"
        " tools.later({name: 'c', ms: 5})]);",
        NULL);
    assert_int_equal(o.code, AL_OK);
    assert_true(al_str_starts(al_str_of(o.text), "[\"a\",\"b\",\"c\"]\n"));
    assert_string_equal(w->log, "+a +b -b +c -c -a");
    outcome_fini(&o);
    world_free(w);
}

static void calls_with_effects_go_one_at_a_time_in_order(void **state)
{
    (void)state;
    struct world *w = world_new(
        &(struct world_opts){.policy = {.allow_write = true, .allow_external = true, .allow_process = true}});
    struct outcome o =
        world_js(w,
                 "await Promise.all([tools.put({name: 'a', ms: 30}), tools.post({name: 'b', ms: 10}),"
                 " tools.spawn({name: 'c'}), tools.put({name: 'd'})]); return 1;",
                 NULL);
    assert_int_equal(o.code, AL_OK);
    assert_string_equal(w->log, "+a -a +b -b +c -c +d -d");
    has(o.text, "; effects: 1 external (post), 2 write (put), 1 process (spawn)]");
    outcome_fini(&o);
    world_free(w);
}

static void calls_not_awaited_are_awaited_and_noted(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o =
        world_js(w, "tools.later({name: 'a'}); tools.later({name: 'b', after: 'a'}); return 1;", NULL);
    assert_int_equal(o.code, AL_OK);
    assert_string_equal(w->log, "+a +b -a -b");
    has(o.text, "[2 calls, ");
    has(o.text, "not awaited");
    outcome_fini(&o);
    world_free(w);
}

static void a_run_ends_when_its_calls_are_reaped(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o = world_js(w, "await tools.stubborn({});", ",\"timeoutMs\":1000");
    assert_int_equal(o.code, AL_TIMEOUT);
    assert_string_equal(w->log, " reaped");
    assert_string_equal(json_at(o.structured, "calls.0.status"), "\"cancelled\"");
    has(o.hint, "stubborn");
    outcome_fini(&o);
    world_free(w);
}

static void a_script_sees_the_tools_and_their_signatures(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o =
        world_js(w,
                 "const put = tools.list().find(t => t.name === 'put');\n"
                 "let code; try { tools.describe('nope'); } catch (e) { code = e.code; }\n"
                 "return [put.effect, put.callable, typeof put.reason, tools.describe('echo').signature,"
                 " tools.list('echo')[0].name, code];",
                 NULL);
    assert_int_equal(o.code, AL_OK);
    has(o.text, "[\"write\",");
    has(o.text, "\"string\",\"echo(args: ");
    has(o.text, "\"echo\",\"TOOL_NOT_FOUND\"]");
    outcome_fini(&o);
    world_free(w);
}

/* --- uses --- */

static void uses_is_asked_once_and_opens_those_tools_for_this_run(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.can_ask = true});
    w->answer = AL_APPROVAL_ONCE;
    struct outcome o = world_js(w, "await tools.put({name: 'a'}); return 'done';",
                                ",\"uses\":[\"put\",\"echo\",\"post\"],\"title\":\"My title\"");
    assert_string_equal(w->asked, "My title|put, post");
    assert_int_equal(o.code, AL_OK);
    struct outcome again = world_js(w, "await tools.put({name: 'a'});", NULL);
    assert_int_equal(again.code, AL_APPROVAL_REQUIRED);
    outcome_fini(&again);
    outcome_fini(&o);
    world_free(w);
}

static void a_run_whose_tools_nobody_approved_does_not_start(void **state)
{
    (void)state;
    static const struct {
        enum al_approval answer;
        enum al_code code;
        const char *msg, *hint;
    } cases[] = {
        {AL_APPROVAL_DENY, AL_PERMISSION_DENIED, "the person said no to put", "do without"},
        {AL_APPROVAL_NONE, AL_APPROVAL_REQUIRED, "nobody answered, about put", "--allow-write"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world *w = world_new(&(struct world_opts){.can_ask = true});
        w->answer = cases[i].answer;
        struct outcome o = world_js(w, "await tools.echo({}); print('BEGUN');", ",\"uses\":[\"put\"]");
        assert_int_equal(o.code, cases[i].code);
        has(o.msg, cases[i].msg);
        has(o.hint, cases[i].hint);
        assert_null(strstr(o.hint, "uses"));
        assert_null(strstr(o.text, "BEGUN"));
        assert_string_equal(json_at(o.structured, "calls"), "[]");
        assert_int_equal(al_core_n_runs(w->core), 0);
        outcome_fini(&o);
        world_free(w);
    }
}

static void in_the_agent_a_nested_call_is_told_of_uses_only_where_somebody_is_asked(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.can_ask = true, .source = "agent"});
    w->answer = AL_APPROVAL_ONCE;
    const char *code = "try { await tools.put({name: 'a'}); } catch (e) { return e.hint; }";
    struct outcome o = world_js(w, code, ",\"uses\":[\"put\"]");
    assert_string_equal(w->asked, "|put");
    assert_string_equal(json_at(o.structured, "value"), "null");
    outcome_fini(&o);
    o = world_js(w, code, NULL);
    has(json_at(o.structured, "value"), "\"name it in `uses`, or the person starts alisio with --allow-write;");
    outcome_fini(&o);
    o = world_js(w, "await tools.put({name: 'a'});", NULL);
    has(o.hint, "name it in `uses`, or the person starts alisio with --allow-write");
    outcome_fini(&o);
    world_free(w);
    w = world_new(&(struct world_opts){.source = "agent"});
    o = world_js(w, code, ",\"uses\":[\"put\"]");
    has(json_at(o.structured, "value"), "\"the person starts alisio with --allow-write;");
    outcome_fini(&o);
    world_free(w);
}

static void uses_opens_no_other_tool(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.can_ask = true});
    w->answer = AL_APPROVAL_ONCE;
    struct outcome o = world_js(w, "await tools.post({name: 'a'});", ",\"uses\":[\"put\"]");
    assert_int_equal(o.code, AL_APPROVAL_REQUIRED);
    outcome_fini(&o);
    world_free(w);
}

static void nobody_is_asked_for_what_is_allowed_or_denied_anyway(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.can_ask = true, .policy = {.allow_write = true}});
    struct outcome o = world_js(w, "await tools.put({name: 'a'});", ",\"uses\":[\"put\",\"echo\"]");
    assert_int_equal(o.code, AL_OK);
    assert_string_equal(w->asked, "");
    outcome_fini(&o);
    world_free(w);
    w = world_new(&(struct world_opts){.can_ask = true, .policy = {.read_only = true}});
    o = world_js(w, "await tools.put({name: 'a'});", ",\"uses\":[\"put\"]");
    assert_int_equal(o.code, AL_PERMISSION_DENIED);
    assert_string_equal(w->asked, "");
    outcome_fini(&o);
    world_free(w);
}

static void a_run_can_be_cancelled_while_the_person_thinks(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.can_ask = true});
    w->answer = -1;
    struct outcome o;
    autofree char *args = world_js_args("await tools.put({name: 'a'});", ",\"uses\":[\"put\"]");
    world_start(w, "js_run", args, &o);
    assert_string_equal(w->asked, "|put");
    assert_int_equal(al_core_n_runs(w->core), 1);
    al_call_cancel(o.call);
    world_wait(w, &o);
    assert_int_equal(o.code, AL_CANCELLED);
    assert_int_equal(al_core_n_runs(w->core), 0);
    w->kept.answer(w->kept.ud, AL_APPROVAL_ONCE); /* too late, and harmless */
    outcome_fini(&o);
    world_free(w);
}

/* --- state --- */

static char *state_of(struct world *w)
{
    struct al_buf b = AL_BUF_INIT(1u << 20);
    struct al_err err = {0};
    assert_int_equal(al_store_state_get(w->store, al_core_session(w->core)->id, &b, &err), 0);
    return al_buf_take(&b);
}

static void state_is_kept_across_runs_unless_one_fails(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    static const struct {
        const char *code, *after;
        const char *changed;
        enum al_code want;
    } rows[] = {
        {"state.n = 1; state.list = [1, {a: null}];", "{\"n\":1,\"list\":[1,{\"a\":null}]}", "true", AL_OK},
        {"return state.n;", "{\"n\":1,\"list\":[1,{\"a\":null}]}", "false", AL_OK},
        {"state.n++; delete state.list;", "{\"n\":2}", "true", AL_OK},
        {"state.n = 99; throw new Error('no');", "{\"n\":2}", "false", AL_SCRIPT_ERROR},
        {"state.n = 99; while (true) {}", "{\"n\":2}", "false", AL_TIMEOUT},
        {"state.f = 1; state = 5;", "{\"n\":2}", "false", AL_INVALID_RESULT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o = world_js(w, rows[i].code, ",\"timeoutMs\":1000");
        autofree char *now = state_of(w);
        if (rows[i].want == AL_INVALID_RESULT ? o.code == AL_OK : o.code != rows[i].want)
            fail_msg("%s: %s", rows[i].code, o.text);
        assert_string_equal(now, rows[i].after);
        assert_string_equal(json_at(o.structured, "state.changed"), rows[i].changed);
        outcome_fini(&o);
    }
    world_free(w);
}

/* While a script runs, another run of the session sets a key. */
static void set_key(struct world *w, struct al_call *call)
{
    struct al_str key = al_json_get_text(call->args, "key");
    struct al_buf now = AL_BUF_INIT(1u << 20);
    struct al_err err = {0};
    char after[256];
    size_t bytes;
    bool changed;
    const char *id = al_core_session(w->core)->id;
    assert_int_equal(al_store_state_get(w->store, id, &now, &err), 0);
    snprintf(after, sizeof after, "[[\"%.*s\",\"theirs\"]]", AL_FMT(key));
    if (al_store_state_merge(w->store, id, AL_STR("{}"), al_str_of(after), 1u << 20, &bytes, &changed, &err) <
        0)
        fail_msg("%s", err.msg);
    al_buf_free(&now);
}

static void state_of_two_runs_merges_by_key_and_says_conflicts(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    w->on_tool = set_key;
    struct outcome o = world_js(w, "state.mine = 1; await tools.hook({key: 'other'}); return 1;", NULL);
    assert_int_equal(o.code, AL_OK);
    autofree char *both = state_of(w);
    has(both, "\"other\":\"theirs\"");
    has(both, "\"mine\":1");
    outcome_fini(&o);
    o = world_js(
        w,
        "print('said'); state.same = 'mine'; state.more = 1; await tools.hook({key: 'same'}); return {v: 1};",
        NULL);
    assert_int_equal(o.code, AL_STATE_CONFLICT);
    has(o.text, "same");
    has(o.text, "\n{\"v\":1}\nsaid\n");
    has(o.hint, "forge.state");
    autofree char *now = state_of(w);
    has(now, "\"same\":\"theirs\"");
    has_not(now, "more");
    outcome_fini(&o);
    world_free(w);
}

static void state_that_is_off_is_no_global(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"state\":{\"enabled\":false}}}");
    struct outcome o = world_js(w, "return typeof state;", NULL);
    has(o.text, "undefined\n");
    outcome_fini(&o);
    world_free(w);
}

/* --- cancel, limits of the host --- */

static void cancel_on_hook(struct world *w, struct al_call *call)
{
    assert_true(al_core_cancel_run(w->core, al_str_of(call->run_id)));
}

static void a_cancelled_run_keeps_what_it_said(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    w->on_tool = cancel_on_hook;
    struct outcome o = world_js(
        w, "print('before'); tools.slow({}); await tools.hook({}); print('after'); while (true) {}", NULL);
    assert_int_equal(o.code, AL_CANCELLED);
    has(o.text, "\nbefore\n[2 calls");
    has_not(o.text, "after");
    assert_string_equal(json_at(o.structured, "status"), "\"cancelled\"");
    assert_string_equal(json_at(o.structured, "calls.0.status"), "\"cancelled\"");
    struct al_run run = {0};
    struct al_err err = {0};
    assert_int_equal(al_store_run_get(w->store, o.id, &run, &err), 0);
    assert_string_equal(run.status, "cancelled");
    al_run_fini(&run);
    outcome_fini(&o);
    world_free(w);
}

static void a_script_that_swallows_everything_is_cancelled(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    w->on_tool = cancel_on_hook;
    struct outcome o = world_js(w, "for (;;) { try { await tools.hook({}); for (;;) {} } catch {} }", NULL);
    assert_int_equal(o.code, AL_CANCELLED);
    outcome_fini(&o);
    world_free(w);
}

static void sixteen_run_sixty_four_wait_and_more_is_busy(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    static struct outcome o[82];
    autofree char *args = world_js_args("await tools.slow({});", NULL);
    for (int i = 0; i < 80; i++)
        world_start(w, "js_run", args, &o[i]);
    assert_int_equal(al_core_n_runs(w->core), 80);
    world_start(w, "js_run", args, &o[80]);
    world_wait(w, &o[80]);
    assert_int_equal(o[80].code, AL_BUSY);
    bool never = false;
    while (al_runs_n_queued(w->core) > 64)
        al_loop_run_until(w->loop, &never, 5);
    assert_int_equal(al_runs_n_queued(w->core), 64);
    /* One that waits can be cancelled without starting; then one more fits. */
    al_call_cancel(o[79].call);
    world_wait(w, &o[79]);
    assert_int_equal(o[79].code, AL_CANCELLED);
    has(o[79].msg, "before it started");
    world_start(w, "js_run", args, &o[81]);
    assert_int_equal(al_core_n_runs(w->core), 80);
    /* All end, those that wait in their turn. */
    for (int i = 0; i < 82; i++) {
        if (!o[i].done)
            al_call_cancel(o[i].call);
        world_wait(w, &o[i]);
        outcome_fini(&o[i]);
    }
    assert_int_equal(al_core_n_runs(w->core), 0);
    world_free(w);
}

static void wait_for_log(struct world *w, const char *part)
{
    bool never = false;
    for (uint64_t end = al_mono_ms() + 20000; !strstr(w->log, part) && al_mono_ms() < end;)
        al_loop_run_until(w->loop, &never, 2);
    has(w->log, part);
}

static void waiting_runs_start_in_their_order(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    static struct outcome o[22];
    for (int i = 0; i < 22; i++) {
        char code[128];
        snprintf(code, sizeof code, "await tools.later({name: 'r%02d', ms: 1}); await tools.slow({});", i);
        autofree char *args = world_js_args(code, NULL);
        world_start(w, "js_run", args, &o[i]);
    }
    for (int i = 0; i < 16; i++) {
        char mark[16];
        snprintf(mark, sizeof mark, "+r%02d", i);
        wait_for_log(w, mark);
    }
    /* Each that ends lets the next one in, and no other. */
    for (int i = 16; i < 22; i++) {
        char mark[16], next[16];
        snprintf(mark, sizeof mark, "+r%02d", i);
        snprintf(next, sizeof next, "+r%02d", i + 1);
        has_not(w->log, mark);
        al_call_cancel(o[i - 16].call);
        world_wait(w, &o[i - 16]);
        wait_for_log(w, mark);
        has_not(w->log, next);
    }
    for (int i = 0; i < 22; i++) {
        if (!o[i].done)
            al_call_cancel(o[i].call);
        world_wait(w, &o[i]);
        outcome_fini(&o[i]);
    }
    world_free(w);
}

static void a_core_that_shuts_down_ends_its_runs(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    static struct outcome o[20];
    autofree char *args = world_js_args("await tools.slow({}); while (true) {}", NULL);
    for (int i = 0; i < 20; i++)
        world_start(w, "js_run", args, &o[i]);
    bool never = false;
    al_loop_run_until(w->loop, &never, 20);
    world_free(w);
    for (int i = 0; i < 20; i++) {
        assert_true(o[i].done);
        assert_int_equal(o[i].code, AL_CANCELLED);
        outcome_fini(&o[i]);
    }
}

static void kill_the_vm(struct world *w, struct al_call *call)
{
    struct al_run run = {0};
    struct al_err err = {0};
    assert_int_equal(al_store_run_get(w->store, call->run_id, &run, &err), 0);
    if (run.pid > 1) /* it comes later than the first words */
        assert_int_equal(kill((pid_t)run.pid, SIGKILL), 0);
    al_run_fini(&run);
}

static void a_vm_that_dies_is_engine_crashed(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    w->on_tool = kill_the_vm;
    struct outcome o = world_js(
        w, "print('last words'); for (;;) { await tools.hook({}); await tools.later({name: 'x'}); }", NULL);
    assert_int_equal(o.code, AL_ENGINE_CRASHED);
    has(o.text, "last words");
    has(o.hint, "alisio forge status");
    outcome_fini(&o);
    o = world_js(w, "return 'the next one works';", NULL);
    assert_int_equal(o.code, AL_OK);
    outcome_fini(&o);
    world_free(w);
}

static void an_engine_that_cannot_start_is_engine_unavailable(void **state)
{
    (void)state;
#ifdef AL_ASAN
    skip(); /* the sanitizer itself needs the address space that this takes away */
#endif
    struct rlimit old, low;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    low = (struct rlimit){(rlim_t)4 << 30, old.rlim_max};
    struct world *w = make(NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    struct outcome o = world_js(w, "return 1;", NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_int_equal(o.code, AL_ENGINE_UNAVAILABLE);
    has(o.hint, "alisio forge status");
    struct al_run run = {0};
    struct al_err err = {0};
    assert_int_equal(al_store_run_get(w->store, o.id, &run, &err), 0);
    assert_string_equal(run.status, "failed");
    al_run_fini(&run);
    outcome_fini(&o);
    world_free(w);
}

/* --- journal --- */

struct rows {
    struct al_buf text;
};

static bool add_row(void *ud, const struct al_call_row *c)
{
    struct rows *r = ud;
    al_buf_addf(&r->text, "%d %s %s %s %s %s|", (int)c->seq, c->tool, c->effect, c->decision, c->status,
                c->code ? c->code : "-");
    assert_true(c->ended_ms >= c->started_ms && c->started_ms > 0);
    assert_int_equal(strlen(c->args_sha256), 64);
    return true;
}

static void the_journal_has_a_row_for_each_call(void **state)
{
    (void)state;
    struct world *w = world_new(&(struct world_opts){.can_ask = true});
    w->answer = AL_APPROVAL_ONCE;
    struct outcome o = world_js(
        w,
        "await tools.echo({v: 1}); await tools.put({name: 'a'}); await tools.put({name: 'scratch:b'});\n"
        "await Promise.allSettled([tools.post({name: 'c'}), tools.nope({}), tools.fail({}), "
        "tools.echo({})]);\n"
        "tools.slow({}); await tools.slow({});",
        ",\"uses\":[\"put\"],\"timeoutMs\":1000");
    assert_int_equal(o.code, AL_TIMEOUT);
    struct rows rows = {AL_BUF_INIT(1u << 20)};
    struct al_err err = {0};
    assert_int_equal(al_store_call_each(w->store, o.id, add_row, &rows, &err), 0);
    al_buf_addc(&rows.text, '\0');
    assert_string_equal(rows.text.p, "1 echo read allowed completed -|"
                                     "2 put write preapproved completed -|"
                                     "3 put write allowed completed -|"
                                     "4 post external refused: APPROVAL_REQUIRED refused APPROVAL_REQUIRED|"
                                     "5 nope read refused: TOOL_NOT_FOUND refused TOOL_NOT_FOUND|"
                                     "6 fail read allowed failed TOOL_ERROR|"
                                     "7 echo read refused: TOOL_INPUT_INVALID refused TOOL_INPUT_INVALID|"
                                     "8 slow read allowed cancelled CANCELLED|"
                                     "9 slow read allowed cancelled CANCELLED|");
    struct al_run run = {0};
    assert_int_equal(al_store_run_get(w->store, o.id, &run, &err), 0);
    assert_string_equal(run.status, "timed_out");
    assert_int_equal(run.n_calls, 9);
    assert_string_equal(run.kind, "js_run");
    assert_string_equal(run.source, "mcp");
    assert_string_equal(json_at(run.engine, "isolation"), "\"process-vm\"");
    assert_string_equal(json_at(run.limits, "timeoutMs"), "1000");
    struct al_buf code = AL_BUF_INIT(1u << 20);
    assert_int_equal(al_store_run_code(w->store, o.id, &code, &err), 0);
    assert_true(al_str_starts(al_buf_str(&code), "await tools.echo({v: 1});"));
    al_buf_free(&code);
    al_run_fini(&run);
    al_buf_free(&rows.text);
    outcome_fini(&o);
    world_free(w);
}

static char seen_rows[512];

static bool see_row(void *ud, const struct al_call_row *c)
{
    (void)ud;
    size_t n = strlen(seen_rows);
    snprintf(seen_rows + n, sizeof seen_rows - n, "%s %s|", c->tool, c->status);
    return true;
}

/* Looks until the row of the open call is there; the run says that it runs by then. */
static void look_for_slow(struct world *w, struct al_call *call)
{
    struct al_err err = {0};
    struct al_run run = {0};
    seen_rows[0] = '\0';
    assert_int_equal(al_store_call_each(w->store, call->run_id, see_row, NULL, &err), 0);
    assert_int_equal(al_store_run_get(w->store, call->run_id, &run, &err), 0);
    if (strstr(seen_rows, "slow running|") && strcmp(run.status, "running") == 0 && run.pid > 1)
        assert_true(al_core_cancel_run(w->core, al_str_of(call->run_id)));
    al_run_fini(&run);
}

static void open_calls_are_in_the_journal_while_they_run(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"javascript\":{\"maxToolCalls\":500}}}");
    w->on_tool = look_for_slow;
    struct outcome o = world_js(
        w, "tools.slow({}); for (;;) { await tools.hook({}); await tools.later({name: 'x'}); }", NULL);
    assert_int_equal(o.code, AL_CANCELLED);
    outcome_fini(&o);
    world_free(w);
}

static bool add_preview(void *ud, const struct al_call_row *c)
{
    al_buf_adds(ud, c->args_preview);
    al_buf_addc(ud, '\n');
    assert_true(al_utf8_count(al_str_of(c->args_preview)) <= 200);
    return true;
}

static void previews_are_short_and_hide_secrets(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o = world_js(
        w, "await tools.later({name: 'a', token: 'hunter2'}); await tools.echo({v: 'é'.repeat(5000)});",
        NULL);
    assert_int_equal(o.code, AL_OK);
    struct al_buf b = AL_BUF_INIT(1u << 20);
    struct al_err err = {0};
    assert_int_equal(al_store_call_each(w->store, o.id, add_preview, &b, &err), 0);
    al_buf_addc(&b, '\0');
    has(b.p, "‹redacted›");
    has_not(b.p, "hunter2");
    has_not(o.structured, "hunter2");
    al_buf_free(&b);
    outcome_fini(&o);
    world_free(w);
}

struct events {
    struct al_buf printed;
    int n_print, n_progress;
};

static bool add_event(void *ud, int64_t seq, const char *type, struct al_str body, int64_t at_ms)
{
    struct events *e = ud;
    (void)seq;
    (void)at_ms;
    if (strcmp(type, "print") == 0) {
        al_buf_add_str(&e->printed, body);
        e->n_print++;
    }
    e->n_progress += strcmp(type, "progress") == 0;
    return true;
}

static struct events events_of(struct world *w, const char *id)
{
    struct events e = {.printed = AL_BUF_INIT(64u << 20)};
    struct al_err err = {0};
    assert_int_equal(al_store_event_each(w->store, id, 0, add_event, &e, &err), 0);
    al_buf_addc(&e.printed, '\0');
    return e;
}

static void what_is_printed_is_journaled_in_batches(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o = world_js(w, "for (let i = 0; i < 5000; i++) print('line ' + i); return 1;", NULL);
    assert_int_equal(o.code, AL_OK);
    struct events e = events_of(w, o.id);
    assert_true(al_str_starts(al_str_of(e.printed.p), "line 0\nline 1\n"));
    assert_true(al_str_ends(al_str_of(e.printed.p), "line 4999\n"));
    assert_true(e.n_print >= 2 && e.n_print < 500);
    al_buf_free(&e.printed);
    outcome_fini(&o);
    world_free(w);
}

static void killed_runs_have_all_they_printed_in_the_journal(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o =
        world_js(w, "print('a'); print('b'); progress({completed: 1, total: 3, note: 'n'}); for (;;) {}",
                 ",\"timeoutMs\":1000");
    assert_int_equal(o.code, AL_TIMEOUT);
    struct events e = events_of(w, o.id);
    assert_string_equal(e.printed.p, "a\nb\n");
    assert_int_equal(e.n_progress, 1);
    al_buf_free(&e.printed);
    assert_string_equal(json_at(o.structured, "progress.note"), "\"n\"");
    outcome_fini(&o);
    world_free(w);
}

static void progress_reaches_the_caller_and_the_last_always_does(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o = world_js(
        w,
        "for (let i = 1; i <= 20; i++) { await tools.echo({v: i}); progress({completed: i, total: 20}); }"
        " progress({completed: 20, total: 20, note: 'last'}); return 1;",
        NULL);
    assert_int_equal(o.code, AL_OK);
    assert_true(w->n_progress >= 1);
    assert_string_equal(json_at(w->progress, "completed"), "20");
    assert_string_equal(json_at(w->progress, "note"), "\"last\"");
    assert_string_equal(json_at(w->progress, "calls.started"), "20");
    assert_string_equal(json_at(w->progress, "calls.finished"), "20");
    outcome_fini(&o);
    world_free(w);
}

/* --- long results --- */

static void what_does_not_fit_is_saved_whole(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"javascript\":{\"maxOutputChars\":1000}}}");
    struct outcome o = world_js(w, "return Array.from({length: 1000}, (_, i) => ({id: i}));", NULL);
    assert_int_equal(o.code, AL_OK);
    assert_true(al_utf8_count(al_str_of(o.text)) <= 1000);
    char rel[128], shown[160];
    snprintf(rel, sizeof rel, "out/%s.json", o.id);
    snprintf(shown, sizeof shown, "\"scratch:%s\"", rel);
    has(o.text, rel);
    assert_string_equal(json_at(o.structured, "savedTo"), shown);
    assert_string_equal(json_at(o.structured, "truncated"), "true");
    assert_string_equal(json_at(o.structured, "value.3.id"), "3");
    autofree char *whole = world_scratch_read(w, rel);
    assert_non_null(whole);
    assert_string_equal(json_at(whole, "9.id"), "9");
    outcome_fini(&o);
    o = world_js(w, "for (let i = 0; i < 500; i++) print('line', i); return 'v'.repeat(3000);", NULL);
    snprintf(rel, sizeof rel, "out/%s.txt", o.id);
    has(o.text, rel);
    autofree char *text = world_scratch_read(w, rel);
    assert_non_null(text);
    has(text, "vvv\nline 0\n");
    has(text, "line 499\n");
    outcome_fini(&o);
    world_free(w);
}

static void without_a_scratchpad_the_text_says_that_it_is_not_saved(void **state)
{
    (void)state;
    struct world *w =
        make("{\"forge\":{\"javascript\":{\"maxOutputChars\":1000},\"scratch\":{\"enabled\":false}}}");
    struct outcome o = world_js(w, "return 'v'.repeat(3000);", NULL);
    assert_int_equal(o.code, AL_OK);
    has(o.text, "not saved: ");
    assert_string_equal(json_at(o.structured, "savedTo"), "");
    outcome_fini(&o);
    world_free(w);
    w = make("{\"forge\":{\"javascript\":{\"maxOutputChars\":1000},\"scratch\":{\"maxBytes\":1048576}}}");
    o = world_js(w, "return 'v'.repeat(2000000);", NULL);
    assert_int_equal(o.code, AL_OK);
    has(o.text, "not saved: ");
    outcome_fini(&o);
    world_free(w);
}

/* --- execute --- */

static void execute_stands_in_when_js_run_is_off(void **state)
{
    (void)state;
    struct world *w = make("{\"forge\":{\"javascript\":{\"enabled\":false}}}");
    assert_null(al_core_tool(w->core, AL_STR("js_run")));
    assert_null(al_core_tool(w->core, AL_STR("forge_guide")));
    struct outcome o =
        world_call(w, "execute", "{\"code\":\"return [await callTool('echo', {v: 1}), typeof state];\"}");
    assert_int_equal(o.code, AL_OK);
    has(o.text, "[1,\"undefined\"]\n");
    assert_string_equal(json_at(o.structured, "limits.timeoutMs"), "10000");
    assert_string_equal(json_at(o.structured, "limits.maxToolCalls"), "20");
    struct al_run run = {0};
    struct al_err err = {0};
    assert_int_equal(al_store_run_get(w->store, o.id, &run, &err), 0);
    assert_string_equal(run.kind, "execute");
    al_run_fini(&run);
    outcome_fini(&o);
    o = world_call(w, "execute",
                   "{\"code\":\"for (let i = 0; i < 21; i++) await callTool('echo', {v: 1});\"}");
    assert_int_equal(o.code, AL_CALL_LIMIT);
    outcome_fini(&o);
    o = world_call(w, "execute", "{\"code\":\"1\",\"title\":\"x\"}");
    assert_int_equal(o.code, AL_INVALID_INPUT);
    outcome_fini(&o);
    world_free(w);
}

static void forged_errors_change_no_status(void **state)
{
    (void)state;
    struct world *w = make(NULL);
    struct outcome o =
        world_js(w, "throw Object.assign(new Error('x'), {name: 'ToolError', code: 'CANCELLED'});", NULL);
    assert_string_equal(json_at(o.structured, "status"), "\"failed\"");
    outcome_fini(&o);
    o = world_js(w, "await tools.fail({code: 'CANCELLED'});", NULL);
    assert_string_equal(json_at(o.structured, "status"), "\"failed\"");
    outcome_fini(&o);
    o = world_js(w, "await tools.fail({code: 'TIMEOUT'});", NULL);
    assert_string_equal(json_at(o.structured, "status"), "\"failed\"");
    outcome_fini(&o);
    world_free(w);
}

int main(int argc, char **argv)
{
    world_zygote(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_gives_value_text_and_record),
        cmocka_unit_test(nested_results_are_structured_or_json_or_text),
        cmocka_unit_test(every_error_has_its_code_and_hint),
        cmocka_unit_test(what_was_printed_before_a_failure_is_there),
        cmocka_unit_test(a_value_over_its_limit_is_output_limit),
        cmocka_unit_test(bad_arguments_are_invalid_input_naming_the_field),
        cmocka_unit_test(code_and_title_have_their_exact_limits),
        cmocka_unit_test(code_path_runs_a_file_of_the_scratchpad),
        cmocka_unit_test(errors_of_calls_can_be_caught),
        cmocka_unit_test(calls_run_concurrently_and_results_keep_their_order),
        cmocka_unit_test(calls_with_effects_go_one_at_a_time_in_order),
        cmocka_unit_test(calls_not_awaited_are_awaited_and_noted),
        cmocka_unit_test(a_run_ends_when_its_calls_are_reaped),
        cmocka_unit_test(a_script_sees_the_tools_and_their_signatures),
        cmocka_unit_test(uses_is_asked_once_and_opens_those_tools_for_this_run),
        cmocka_unit_test(a_run_whose_tools_nobody_approved_does_not_start),
        cmocka_unit_test(in_the_agent_a_nested_call_is_told_of_uses_only_where_somebody_is_asked),
        cmocka_unit_test(uses_opens_no_other_tool),
        cmocka_unit_test(nobody_is_asked_for_what_is_allowed_or_denied_anyway),
        cmocka_unit_test(a_run_can_be_cancelled_while_the_person_thinks),
        cmocka_unit_test(state_is_kept_across_runs_unless_one_fails),
        cmocka_unit_test(state_of_two_runs_merges_by_key_and_says_conflicts),
        cmocka_unit_test(state_that_is_off_is_no_global),
        cmocka_unit_test(a_cancelled_run_keeps_what_it_said),
        cmocka_unit_test(a_script_that_swallows_everything_is_cancelled),
        cmocka_unit_test(sixteen_run_sixty_four_wait_and_more_is_busy),
        cmocka_unit_test(waiting_runs_start_in_their_order),
        cmocka_unit_test(a_core_that_shuts_down_ends_its_runs),
        cmocka_unit_test(a_vm_that_dies_is_engine_crashed),
        cmocka_unit_test(an_engine_that_cannot_start_is_engine_unavailable),
        cmocka_unit_test(the_journal_has_a_row_for_each_call),
        cmocka_unit_test(open_calls_are_in_the_journal_while_they_run),
        cmocka_unit_test(previews_are_short_and_hide_secrets),
        cmocka_unit_test(what_is_printed_is_journaled_in_batches),
        cmocka_unit_test(killed_runs_have_all_they_printed_in_the_journal),
        cmocka_unit_test(progress_reaches_the_caller_and_the_last_always_does),
        cmocka_unit_test(what_does_not_fit_is_saved_whole),
        cmocka_unit_test(without_a_scratchpad_the_text_says_that_it_is_not_saved),
        cmocka_unit_test(execute_stands_in_when_js_run_is_off),
        cmocka_unit_test(forged_errors_change_no_status),
    };
    return cmocka_run_group_tests_name("jsrun", tests, NULL, NULL);
}
