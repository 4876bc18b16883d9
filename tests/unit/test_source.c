#include "test.h"

#include "jsrun_world.h"

#include "base/mem.h"

#include <stdio.h>

/* Tools of servers, of which the core knows no more than a source tells. */

struct mock {
    const char *name, *server, *tool;
    enum al_tool_gate gate;
    const char *schema;
};

static const struct mock mocks[] = {
    {"mcp_github_get_issue", "github", "get_issue", AL_GATE_ALLOW,
     "{\"type\":\"object\",\"properties\":{\"issueNumber\":{\"type\":\"integer\"}},\"required\":["
     "\"issueNumber\"]}"},
    {"mcp_github_close", "github", "close", AL_GATE_ASK, "{\"type\":\"object\"}"},
    {"mcp_github_erase", "github", "erase", AL_GATE_DENY, "{\"type\":\"object\"}"},
    {"mcp_github_moved", "github", "moved", AL_GATE_CHANGED, "{\"type\":\"object\"}"},
    {"mcp_odd_odd_name_12345678", "odd", "odd name", AL_GATE_ALLOW, "{\"type\":\"object\"}"},
    {"mcp_constructor_x", "constructor", "x", AL_GATE_ALLOW, "{\"type\":\"object\"}"},
    {"mcp_tools_list", "tools", "list", AL_GATE_ALLOW, "{\"type\":\"object\"}"},
    {"mcp_call_me", "call", "me", AL_GATE_ALLOW, "{\"type\":\"object\"}"},
};
#define N_MOCKS (sizeof mocks / sizeof mocks[0])

static struct {
    unsigned started;
    unsigned extra; /* further tools of a server `many` */
    bool wait;      /* a call stands still for longer than its script may run */
    bool leave_clock;
    char definition; /* of all tools, as a digit of its hash; 0: not known */
    bool rug;        /* it is another after each call */
    enum al_tool_gate of_issue;
} seen;

static void go_on(void *ud)
{
    struct al_call *call = ud;
    if (!seen.leave_clock)
        al_call_clock_go(call);
    al_buf_addf(&call->structured, "{\"tool\":\"%s\",\"args\":%.*s}", call->tool->server_tool,
                AL_FMT(call->args_raw));
    al_call_finish(call);
}

static void start_mock(struct al_call *call)
{
    seen.started++;
    seen.definition = (char)(seen.definition + seen.rug);
    if (call->params_raw.n) {
        al_buf_add_str(&call->relayed, call->params_raw);
        al_call_finish(call);
    } else if (seen.wait) {
        al_call_clock_stop(call);
        al_timer_start(al_core_loop(call->core), 1500, go_on, call);
    } else {
        al_call_clock_stop(call);
        go_on(call);
    }
}

static struct al_tool tool_of(const struct mock *m)
{
    struct al_tool t = {
        .name = m->name,
        .title = m->tool,
        .description = "Does what its name says \xe2\x80\x94 and no more.",
        .input_schema = m->schema,
        .effect = AL_EFFECT_EXTERNAL,
        .start = start_mock,
        .server = m->server,
        .server_tool = m->tool,
        .gate = m->gate,
    };
    if (seen.definition)
        memset(t.sha256, seen.definition, sizeof t.sha256 - 1);
    return t;
}

static const struct al_tool *find(void *ud, struct al_str name, struct al_arena *arena)
{
    (void)ud;
    for (size_t i = 0; i < N_MOCKS; i++) {
        char dotted[128];
        snprintf(dotted, sizeof dotted, "%s.%s", mocks[i].server, mocks[i].tool);
        if (!al_str_is(name, mocks[i].name) && !al_str_is(name, dotted))
            continue;
        struct al_tool *t = al_arena_alloc(arena, sizeof *t);
        *t = tool_of(&mocks[i]);
        if (i == 0)
            t->gate = seen.of_issue;
        return t;
    }
    if (!al_str_starts(name, "mcp_many_"))
        return NULL;
    struct al_tool *t = al_arena_alloc(arena, sizeof *t);
    const char *whole = al_arena_dup(arena, name);
    struct mock extra = {whole, "many", whole + strlen("mcp_many_"), AL_GATE_ASK, "{\"type\":\"object\"}"};
    *t = tool_of(&extra);
    return t;
}

static void each(void *ud, struct al_str query, int limit,
                 bool (*fn)(void *fn_ud, const struct al_tool *tool), void *fn_ud)
{
    (void)ud;
    int left = limit > 0 ? limit : INT32_MAX;
    for (size_t i = 0; i < N_MOCKS + seen.extra; i++) {
        char name[64], tool_name[64];
        snprintf(name, sizeof name, "mcp_many_tool_%zu", i);
        snprintf(tool_name, sizeof tool_name, "tool_%zu", i);
        struct mock extra = {name, "many", tool_name, AL_GATE_ASK, "{\"type\":\"object\"}"};
        struct al_tool t = tool_of(i < N_MOCKS ? &mocks[i] : &extra);
        bool fits = query.n == 0 || al_str_find(al_str_of(t.name), query) >= 0;
        if (fits && (!fn(fn_ud, &t) || --left == 0))
            return;
    }
}

static void names_json(void *ud, size_t max, struct al_buf *out)
{
    (void)ud, (void)max;
    al_buf_adds(out, "{\"github\":[\"get_issue\",\"close\"],\"constructor\":[\"x\"],\"__proto__\":[\"y\"],"
                     "\"tools\":[],\"odd\":[],"
                     "\"call\":[\"me\"]}");
}

static size_t count(void *ud)
{
    (void)ud;
    return N_MOCKS + seen.extra;
}

static void servers(void *ud, void (*fn)(void *fn_ud, const char *server, int64_t n_tools), void *fn_ud)
{
    (void)ud;
    fn(fn_ud, "github", 4);
    fn(fn_ud, "new", -1);
}

static const struct al_tool_source source = {
    .find = find, .each = each, .names_json = names_json, .count = count, .servers = servers};

static struct world *start(const struct world_opts *o)
{
    struct world_opts none = {0};
    struct world *w = world_new(o ? o : &none);
    memset(&seen, 0, sizeof seen);
    seen.of_issue = AL_GATE_ALLOW;
    al_core_set_source(w->core, &source, NULL);
    return w;
}

static void check_value(struct world *w, const char *code, const char *more, const char *value)
{
    struct outcome o = world_js(w, code, more);
    if (o.code)
        fail_msg("%s: %s (%s)", code, o.msg, o.hint);
    assert_string_equal(json_at(o.structured, "value"), value);
    outcome_fini(&o);
}

/* --- calls --- */

static void scripts_call_them_by_every_name(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    const char *const calls[] = {
        "tools.github.get_issue({issueNumber: 7})",
        "tools.mcp_github_get_issue({issueNumber: 7})",
        "tools.call('github.get_issue', {issueNumber: 7})",
        "tools.call('mcp_github_get_issue', {issueNumber: 7})",
        "tools['github']['get_issue']({issueNumber: 7})",
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        autofree char *code = NULL;
        assert_true(asprintf(&code, "return (await %s).args.issueNumber", calls[i]) > 0);
        check_value(w, code, "", "7");
    }
    check_value(w, "return (await tools.odd['odd name']()).tool", "", "\"odd name\"");
    check_value(w,
                "return [typeof tools.github.unknown_one, typeof tools.constructor, typeof tools.__proto__]",
                "", "[\"function\",\"undefined\",\"undefined\"]");
    check_value(w, "return (await tools.call('constructor.x')).tool", "", "\"x\"");
    check_value(w, "return (await tools.mcp_constructor_x()).tool", "", "\"x\"");
    check_value(w, "return (await tools.tools.list()).tool", "", "\"list\"");
    check_value(w, "return (await tools.call('call.me')).tool", "", "\"me\"");
    check_value(w, "return await tools.github.nothing().catch(e => e.code)", "", "\"TOOL_NOT_FOUND\"");
    world_free(w);
}

/* What the schema says is the server's business: it may use all of a language that we know a part of. */
static void arguments_are_the_servers_to_check(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    check_value(w, "return (await tools.github.get_issue({more: [1]})).args", "", "{\"more\":[1]}");
    check_value(w, "return await tools.github.get_issue([1]).catch(e => e.code + ' ' + e.message)", "",
                "\"TOOL_INPUT_INVALID mcp_github_get_issue: /: must be an object, not array\"");
    world_free(w);
}

static void their_policy_decides(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    static const char code[] =
        "const out = {};"
        "for (const t of ['get_issue', 'close', 'erase', 'moved'])"
        "  out[t] = await tools.github[t]().then(() => 'ok', e => e.code + ': ' + e.hint);"
        "return out;";
    struct outcome o = world_js(w, code, "");
    assert_int_equal(o.code, AL_OK);
    assert_string_equal(json_at(o.structured, "value.get_issue"), "\"ok\"");
    assert_non_null(strstr(json_at(o.structured, "value.close"), "APPROVAL_REQUIRED"));
    assert_non_null(strstr(json_at(o.structured, "value.close"), "`alisio mcp allow github 'close'`"));
    assert_non_null(strstr(json_at(o.structured, "value.erase"), "PERMISSION_DENIED"));
    assert_non_null(strstr(json_at(o.structured, "value.moved"), "`alisio mcp review github`"));
    assert_int_equal(seen.started, 1);
    outcome_fini(&o);
    world_free(w);
    struct world_opts read_only = {.policy = {.read_only = true}};
    w = start(&read_only);
    check_value(w, "return await tools.github.get_issue().catch(e => e.code)", "", "\"PERMISSION_DENIED\"");
    world_free(w);
}

/* Named one way, called another way; and no other tool is opened by it. */
static void uses_are_asked_about_once(void **state)
{
    (void)state;
    struct world_opts o = {.can_ask = true};
    struct world *w = start(&o);
    w->answer = AL_APPROVAL_ONCE;
    check_value(w,
                "await tools.github.close(); await tools.mcp_github_close();"
                "return await tools.github.moved().catch(e => e.code)",
                ",\"uses\":[\"github.close\",\"github.get_issue\"]", "\"APPROVAL_REQUIRED\"");
    assert_non_null(strstr(w->asked, "mcp_github_close"));
    assert_null(strstr(w->asked, "get_issue")); /* allowed: nothing to ask */
    w->answer = AL_APPROVAL_NONE;
    struct outcome none = world_js(w, "return 1", ",\"uses\":[\"mcp_github_close\"]");
    assert_int_equal(none.code, AL_APPROVAL_REQUIRED);
    outcome_fini(&none);
    struct outcome bad = world_js(w, "return 1", ",\"uses\":[\"github.nothing\"]");
    assert_int_equal(bad.code, AL_INVALID_INPUT);
    outcome_fini(&bad);
    world_free(w);
}

/* What the person was asked about was a definition: another one that comes while the script runs was not. */
static void an_approval_is_of_the_definition_that_was_asked_about(void **state)
{
    (void)state;
    struct world_opts o = {.can_ask = true};
    struct world *w = start(&o);
    w->answer = AL_APPROVAL_ONCE;
    seen.definition = '1';
    const char *twice =
        "await tools.github.close(); return await tools.github.close().then(() => 1, e => e.code)";
    check_value(w, twice, ",\"uses\":[\"github.close\"]", "1");
    seen.rug = true;
    check_value(w, twice, ",\"uses\":[\"github.close\"]", "\"APPROVAL_REQUIRED\"");
    world_free(w);
}

/* A server that starts is no work of the script's; a call that forgets to let the clock go does not stop it
 * for good. */
static void the_clock_of_a_script_stands_still_while_a_server_starts(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    seen.wait = true;
    check_value(w, "return (await tools.github.get_issue()).tool", ",\"timeoutMs\":1000", "\"get_issue\"");
    seen.leave_clock = true;
    struct outcome o = world_js(w, "await tools.github.get_issue(); for (;;);", ",\"timeoutMs\":1000");
    assert_int_equal(o.code, AL_TIMEOUT);
    outcome_fini(&o);
    world_free(w);
}

static void on_relayed(void *ud, struct al_call *call)
{
    struct outcome *o = ud;
    o->done = true;
    o->code = call->err.code;
    o->structured = al_buf_take(&call->relayed);
}

static void a_relayed_call_has_all_of_its_params(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    struct outcome o = {0};
    struct al_call_spec spec = {
        .tool = AL_STR("mcp_github_get_issue"),
        .args_json = AL_STR("{\"a\":1}"),
        .origin = AL_ORIGIN_MCP,
        .relay = true,
        .params_json = AL_STR("{\"name\":\"x\",\"_meta\":{\"k\":1}}"),
        .done = on_relayed,
        .ud = &o,
    };
    al_core_call(w->core, &spec);
    world_wait(w, &o);
    assert_int_equal(o.code, AL_OK);
    assert_string_equal(o.structured, "{\"name\":\"x\",\"_meta\":{\"k\":1}}");
    outcome_fini(&o);
    world_free(w);
}

/* --- lists --- */

static void lists_have_them_with_their_reasons(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    check_value(w,
                "const t = tools.list().find(t => t.name === 'mcp_github_close');"
                "return [t.server, t.tool, t.effect, t.callable, t.reason.startsWith('APPROVAL_REQUIRED: ')]",
                "", "[\"github\",\"close\",\"external\",false,true]");
    check_value(w, "return tools.list().filter(t => t.server === 'new').map(t => [t.name, t.callable])", "",
                "[[\"new.*\",false]]");
    check_value(w, "return tools.list('get_issue')[0].name", "", "\"mcp_github_get_issue\"");
    check_value(w, "return tools.describe('github.get_issue').signature", "",
                "\"mcp_github_get_issue(args: {issueNumber: number}): Promise<unknown>\"");
    check_value(w,
                "return ['github.close', 'odd.odd name', 'constructor.x', 'call.me'].map(n => "
                "tools.describe(n).call)",
                "",
                "[\"tools.github.close\",\"tools.odd[\\\"odd "
                "name\\\"]\",\"tools.mcp_constructor_x\",\"tools.mcp_call_me\"]");
    check_value(w, "try { tools.describe('github.get_issues') } catch (e) { return [e.code, e.hint] }", "",
                "[\"TOOL_NOT_FOUND\",\"did you mean github.get_issue? tools.list() names what there is\"]");
    world_free(w);
}

static void a_list_of_very_many_is_bounded_and_says_so(void **state)
{
    (void)state;
    struct world *w = start(NULL);
    seen.extra = 50000;
    autobuf struct al_buf out = AL_BUF_INIT(64u << 20);
    al_core_list_json(w->core, (struct al_str){"", 0}, AL_ORIGIN_SCRIPT, &out);
    assert_false(al_buf_failed(&out));
    assert_true(out.n < (8u << 20));
    assert_true(al_str_find(al_buf_str(&out), AL_STR(" more tools: tools.list(query) finds them.")) > 0);
    assert_true(jscut_valid(al_buf_str(&out), 16));
    al_buf_clear(&out);
    al_core_list_json(w->core, AL_STR("tool_4"), AL_ORIGIN_SCRIPT, &out);
    assert_true(out.n < (256u << 10)); /* the best 200, not all */
    check_value(w, "return tools.list().length > 10000", "", "true");
    world_free(w);
}

static void the_guide_shows_how_scripts_call_them(void **state)
{
    (void)state;
    struct world_opts can_ask = {.can_ask = true};
    struct world *w = start(&can_ask);
    seen.extra = 20000;
    struct outcome o = world_call(w, "forge_guide", "{\"topic\":\"tools\",\"query\":\"github\"}");
    assert_int_equal(o.code, AL_OK);
    assert_non_null(strstr(o.text, "\nNot searched, since its first call fetches its tools: new\n"));
    assert_non_null(
        strstr(o.text, "\ntools.github.get_issue(args: {issueNumber: number}): Promise<unknown>\n"));
    assert_non_null(
        strstr(o.text, "\ntools.github.close(args?: Record<string, unknown>): Promise<unknown>\n"));
    assert_non_null(strstr(o.text, "(needs an approval)"));
    assert_non_null(strstr(o.text, "name it in uses"));
    assert_null(strstr(o.text, "\ntools.github.erase("));
    assert_true(strlen(o.text) <= 6u << 10);
    outcome_fini(&o);
    o = world_call(w, "forge_guide", "{\"topic\":\"tools\",\"query\":\"tool\"}");
    assert_non_null(strstr(o.text, "\nOver 52 more: narrow the query: many.tool_"));
    assert_true(strlen(o.text) < 2500);
    outcome_fini(&o);
    o = world_call(w, "forge_guide", "{\"topic\":\"tools\"}");
    assert_non_null(strstr(o.text, "\n- github (4): get_issue, close, …\n- new (not fetched yet"));
    assert_null(strstr(o.text, "tools.github"));
    assert_true(strlen(o.text) <= 6u << 10);
    outcome_fini(&o);
    world_free(w);
}

int main(int argc, char **argv)
{
    world_zygote(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_call_them_by_every_name),
        cmocka_unit_test(arguments_are_the_servers_to_check),
        cmocka_unit_test(their_policy_decides),
        cmocka_unit_test(uses_are_asked_about_once),
        cmocka_unit_test(an_approval_is_of_the_definition_that_was_asked_about),
        cmocka_unit_test(the_clock_of_a_script_stands_still_while_a_server_starts),
        cmocka_unit_test(a_relayed_call_has_all_of_its_params),
        cmocka_unit_test(lists_have_them_with_their_reasons),
        cmocka_unit_test(a_list_of_very_many_is_bounded_and_says_so),
        cmocka_unit_test(the_guide_shows_how_scripts_call_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
