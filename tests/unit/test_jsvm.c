/* What a script is, and what it finds: forms, globals, tools. */
#include "test_jsvm_rig.h"

static void an_expression_is_the_value(void **state)
{
    (void)state;
    rig_value("1+1", "2");
    rig_value("1+1;", "2");
    rig_value("  \n {a:1} \n", "{\"a\":1}");
    rig_value("'text'", "\"text\"");
    rig_value("1 // one", "1");
    rig_value("1 /* one */", "1");
    rig_value("await tools.echo({x:1})", "{\"x\":1}");
    rig_value("(1, 2)", "2");
    rig_value("\"a\" + `b${1}`", "\"ab1\"");
    rig_value("Promise.resolve(5)", "5");
}

static void a_function_value_is_called_with_input(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec("async (x) => x.n + 1");
    spec.input = AL_STR("{\"n\":41}");
    assert_string_equal(rig_run_spec(&spec)->value.p, "42");
    spec.code = AL_STR("function main(x){\n  return x.n\n}");
    assert_string_equal(rig_run_spec(&spec)->value.p, "41");
    spec.code = AL_STR("async function main(x){ await 1; return x.n }");
    assert_string_equal(rig_run_spec(&spec)->value.p, "41");
    spec.code = AL_STR("x => x.n");
    assert_string_equal(rig_run_spec(&spec)->value.p, "41");
    rig_value("x => x", "null");
    /* A body that returns a function returns it: functions are dropped. */
    rig_value("const f = () => 1; return f", "null");
}

static void a_body_returns_its_value(void **state)
{
    (void)state;
    rig_value("return 42", "42");
    rig_value("const a = 1;\nlet b = 2;\nreturn a + b;", "3");
    rig_value("await 1; return (await tools.echo([1]))[0]", "1");
    rig_value("for (let i = 0; i < 3; i++) { if (i == 2) return i }", "2");
    rig_value("'use strict'; return this === undefined", "true");
    rig_value("return 1 // the end", "1");
    rig_value("return `}); evil(`", "\"}); evil(\"");
    struct rig_result *r = rig_run("const a = 1; a");
    assert_int_equal(r->code, AL_OK);
    assert_string_equal(r->value.p, "null");
    assert_non_null(strstr(r->notes.p, "no return value"));
    r = rig_run("return 1");
    assert_string_equal(r->notes.p, "");
}

static void a_fence_is_stripped_and_keeps_its_lines(void **state)
{
    (void)state;
    rig_value("```js\nreturn 7\n```", "7");
    rig_value("\n  ```javascript\n1 + 1\n```\n", "2");
    rig_value("~~~\nreturn 7\n~~~", "7");
    rig_value("```\r\nreturn 7\r\n```", "7");
    struct rig_result *r =
        rig_fails("```js\nreturn 1 +\n```", AL_SYNTAX_ERROR, "ends too early, after line 3");
    r = rig_fails("```js\n\nthrow new Error('x')\n```", AL_SCRIPT_ERROR, "Error: x");
    assert_int_equal(r->line, 3);
}

static void code_cannot_close_its_wrapper(void **state)
{
    (void)state;
    static const char *const hostile[] = {
        "}); evil(",
        "return 1 }, print('out'), async()=>{ return 2",
        "} [print('out')] = {",
        "} static { print('out') } async x() {",
        "1) + (2",
        "1] + [2",
        "1)}) + (async()=>{return (2",
        "1; /*",
        "return 1 } } print('out'); class X { async m() {",
        "})()}; print('out'); (()=>{((",
        "1\n)}); print('out'); (async()=>{return (1",
        "*/ print('out') /*",
        "`",
        "\\u007d); print('out'); (()=>{",
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct rig_result *r = rig_fails(hostile[i], AL_SYNTAX_ERROR, "SyntaxError");
        assert_string_equal(r->printed.p, "");
    }
}

static void the_code_may_be_anything(void **state)
{
    (void)state;
    rig_value("", "null");
    rig_value("   \n\n", "null");
    rig_value("// nothing", "null");
    rig_value("return '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
    rig_value("return '\\u2028\\0'.length", "2");
    struct al_vm_spec spec = rig_spec("");
    spec.code = (struct al_str){"return 'a\0b'.length", 19};
    assert_string_equal(rig_run_spec(&spec)->value.p, "3");
    spec.code = (struct al_str){"return 1\xff", 9};
    assert_int_equal(rig_run_spec(&spec)->code, AL_SYNTAX_ERROR);
}

static void globals_are_as_documented(void **state)
{
    (void)state;
    rig_value("input", "null");
    rig_value("ALISIO", "{\"executionId\":\"exec_1\",\"limits\":{\"toolCalls\":5}}");
    rig_value("Object.isFrozen(ALISIO) && Object.isFrozen(ALISIO.limits)", "true");
    rig_value(
        "[typeof state, typeof callTool, typeof SharedArrayBuffer, typeof Atomics, typeof InternalError]",
        "[\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\"]");
    rig_value("['setTimeout','setInterval','fetch','require','process','std','os','scriptArgs','WebAssembly',"
              "'Worker',"
              "'host','run','gc'].filter(n => n in globalThis)",
              "[]");
    rig_value("try { ALISIO = 1 } catch (e) { return e.name }", "\"TypeError\"");
    rig_value("try { ALISIO.limits.toolCalls = 9 } catch (e) { return e.name }", "\"TypeError\"");
    rig_value("Object.keys(globalThis)", "[]");
    rig_value("eval('1+1') + new Function('a', 'return a')(3)", "5");
    rig_value("const d = performance.now(); return d >= 0 && d < 20000", "true");
    rig_value("try { await import('fs') } catch (e) { return e.name }", "\"ReferenceError\"");
}

static void input_reaches_the_script(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec("return [input, input.a[1]]");
    spec.input = AL_STR("{\"a\":[1,\"\\u00e4\"],\"__proto__\":{\"x\":1}}");
    assert_string_equal(rig_run_spec(&spec)->value.p,
                        "[{\"a\":[1,\"\xc3\xa4\"],\"__proto__\":{\"x\":1}},\"\xc3\xa4\"]");
    spec.code = AL_STR("input = 5; return input");
    assert_string_equal(rig_run_spec(&spec)->value.p, "5");
}

static void execute_knows_call_tool(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec("return await callTool('echo', {a: 1})");
    spec.legacy_execute = true;
    assert_string_equal(rig_run_spec(&spec)->value.p, "{\"a\":1}");
}

static void tools_are_called_by_property_and_by_name(void **state)
{
    (void)state;
    rig_value("await tools.echo({a: 1})", "{\"a\":1}");
    rig_value("await tools.call('echo', {a: 1})", "{\"a\":1}");
    rig_value("await tools['odd-name']({a: 1})", "{\"a\":1}");
    rig_value("await tools.github.create_issue({t: 'x'})", "{\"t\":\"x\"}");
    rig_value("await tools.call('github.create_issue', {t: 'x'})", "{\"t\":\"x\"}");
    rig_value("await tools.call('then', {a: 1})", "{\"a\":1}");
    struct rig_result *r = rig_run("await tools.echo(); return 1");
    assert_string_equal(r->calls.p, "echo {}\n");
    r = rig_run("const {echo} = tools; await echo({d: new Date(0), n: NaN, b: 2n}); return 1");
    assert_string_equal(r->calls.p, "echo {\"d\":\"1970-01-01T00:00:00.000Z\",\"n\":null,\"b\":\"2\"}\n");
    /* a tool wins over a server of its name */
    rig_value("await tools.echo({a: 2})", "{\"a\":2}");
}

static void tools_hides_what_would_be_mistaken(void **state)
{
    (void)state;
    rig_value("['then','catch','finally','toJSON','constructor','prototype','toString','valueOf','__proto__']"
              ".filter(n => tools[n] !== undefined || tools.github[n] !== undefined)",
              "[]");
    rig_value("tools[Symbol.iterator] === undefined && tools.github[Symbol.toPrimitive] === undefined",
              "true");
    rig_value("await tools; await tools.github; return 1", "1");
    rig_value("[Object.getPrototypeOf(tools), Object.getPrototypeOf(tools.github)]", "[null,null]");
    rig_value("Object.isFrozen(tools) && Object.isFrozen(tools.github)", "true");
    rig_value("try { tools.echo = 1 } catch (e) { return e.name }", "\"TypeError\"");
    rig_value("try { globalThis.tools = 1 } catch (e) { return e.name }", "\"TypeError\"");
    rig_value(
        "Object.keys(tools).sort()",
        "[\"big\",\"call\",\"describe\",\"echo\",\"fail\",\"github\",\"list\",\"map\",\"never\",\"odd-name\","
        "\"slow\"]");
    rig_value("Object.keys(tools.github)", "[\"create_issue\",\"echo\"]");
    rig_value("Object.getOwnPropertyNames(tools.github)", "[\"create_issue\",\"echo\"]");
    assert_string_equal(rig_run("print(tools.github)")->printed.p,
                        "[null] { create_issue: [Function create_issue], echo: [Function echo] }\n");
    rig_value("typeof tools.list === 'function' && tools.list.name", "\"list\"");
}

static void an_unknown_tool_rejects_with_close_names(void **state)
{
    (void)state;
    rig_value("try { await tools.ecko({}) } catch (e) { return [e.name, e.code, e.hint, e.tool, e instanceof "
              "Error] }",
              "[\"ToolError\",\"TOOL_NOT_FOUND\",\"did you mean echo?\",\"ecko\",true]");
    rig_value("try { await tools.github.nope({}) } catch (e) { return e.tool }", "\"github.nope\"");
    rig_value("try { await tools.nosuch.thing({}) } catch (e) { return [e.code, e.tool] }",
              "[\"TOOL_NOT_FOUND\",\"nosuch.thing\"]");
    rig_value("try { await tools.a.b['c d'].e() } catch (e) { return e.tool }", "\"a.b.c d.e\"");
    rig_value("try { await tools.github.a.b() } catch (e) { return e.tool }", "\"github.a.b\"");
    rig_value("let t = tools; for (let i = 0; i < 5000; i++) t = t.x; try { await t() } catch (e) { return "
              "e.code }",
              "\"TOOL_INPUT_INVALID\"");
    rig_value(
        "const n = tools.nosuch; return [typeof n, n.name, `${typeof n.toString}`, n.then === undefined, "
        "n[Symbol.iterator] === undefined, Object.isFrozen(n), JSON.stringify({n})]",
        "[\"function\",\"nosuch\",\"function\",true,true,true,\"{}\"]");
    rig_value("await tools.nosuch; await tools.nosuch.deeper; return 1", "1");
    rig_value("try { await tools.nosuch.call(null, {}) } catch (e) { return e.tool }", "\"nosuch\"");
    rig_value("try { await tools.github({}) } catch (e) { return [e.name, e.code, e.tool] }",
              "[\"ToolError\",\"TOOL_NOT_FOUND\",\"github\"]");
    rig_value("try { await tools.call(5) } catch (e) { return e.code }", "\"TOOL_INPUT_INVALID\"");
    rig_value("const a = {}; a.a = a; try { await tools.echo(a) } catch (e) { return [e.code, e.message] }",
              "[\"TOOL_INPUT_INVALID\",\"arguments.a is a cycle: it leads back to arguments\"]");
    rig_value("const r = await Promise.allSettled([tools.fail(), tools.echo({})]); return [r[0].status, "
              "r[0].reason.code, r[1].value]",
              "[\"rejected\",\"TOOL_ERROR\",{}]");
}

static void list_and_describe_answer_at_once(void **state)
{
    (void)state;
    rig_value("tools.list()", "[{\"name\":\"echo\",\"query\":null}]");
    rig_value("tools.list('a \"b\"')", "[{\"name\":\"echo\",\"query\":\"a \\\"b\\\"\"}]");
    rig_value("tools.describe('echo').signature", "\"echo(a: any): any\"");
    rig_value("try { tools.describe('zz') } catch (e) { return [e.name, e.code] }",
              "[\"ToolError\",\"TOOL_NOT_FOUND\"]");
    /* results that come while the VM waits for an answer are kept */
    rig_value("const p = [1, 2, 3].map(i => tools.echo({i})); for (let i = 0; i < 50; i++) tools.list(); "
              "return await Promise.all(p)",
              "[{\"i\":1},{\"i\":2},{\"i\":3}]");
}

static void calls_run_at_most_so_many_at_once(void **state)
{
    (void)state;
    struct rig_result *r =
        rig_run("return (await Promise.all(Array.from({length: 30}, () => tools.slow()))).length");
    assert_string_equal(r->value.p, "30");
    assert_int_equal(r->n_calls, 30);
    assert_int_equal(r->n_open_max, 4);
    r = rig_run("const p = []; for (let i = 0; i < 9; i++) p.push(tools.echo({i})); return (await "
                "Promise.all(p)).map(x => x.i)");
    assert_string_equal(r->value.p, "[0,1,2,3,4,5,6,7,8]");
    assert_string_equal(r->calls.p,
                        "echo {\"i\":0}\necho {\"i\":1}\necho {\"i\":2}\necho {\"i\":3}\necho {\"i\":4}\n"
                        "echo {\"i\":5}\necho {\"i\":6}\necho {\"i\":7}\necho {\"i\":8}\n");
}

static void map_keeps_order_and_limit(void **state)
{
    (void)state;
    rig_value("await tools.map([3, 1, 2], async (x, i) => { await tools.slow(); return [x, i] })",
              "[[3,0],[1,1],[2,2]]");
    struct rig_result *r = rig_run(
        "return (await tools.map(new Set([1,2,3,4,5,6]), () => tools.slow(), {concurrency: 2})).length");
    assert_string_equal(r->value.p, "6");
    assert_int_equal(r->n_open_max, 2);
    r = rig_run("try { await tools.map([1,2,3,4,5,6,7,8], (x) => tools.fail({x}), {concurrency: 2}) } catch "
                "(e) { return e.code }");
    assert_string_equal(r->value.p, "\"TOOL_ERROR\"");
    assert_true(r->n_calls <= 3);
    rig_value("(await tools.map([1, 2], (x) => x == 1 ? tools.fail() : x, {settle: true})).map(r => r.status "
              "+ (r.value ?? ''))",
              "[\"rejected\",\"fulfilled2\"]");
    rig_value("await tools.map([], () => 1)", "[]");
    rig_value("try { await tools.map([1], () => { throw new Error('s') }) } catch (e) { return e.message }",
              "\"s\"");
    rig_value("try { await tools.map([1], 5) } catch (e) { return e.name }", "\"TypeError\"");
    rig_value("try { await tools.map([1], x => x, {concurrency: 0}) } catch (e) { return e.name }",
              "\"TypeError\"");
}

static void calls_that_nobody_awaits_are_awaited_and_noted(void **state)
{
    (void)state;
    struct rig_result *r = rig_run("for (let i = 0; i < 6; i++) tools.slow(); return 1");
    assert_int_equal(r->code, AL_OK);
    assert_int_equal(r->n_calls, 6);
    assert_int_equal(r->n_open, 0);
    assert_non_null(strstr(r->notes.p, "6 calls were not awaited"));
    r = rig_run("tools.slow().then(() => print('later')); return 1");
    assert_string_equal(r->printed.p, "later\n");
    assert_non_null(strstr(r->notes.p, "1 call was not awaited"));
    r = rig_run("tools.slow(); throw new Error('early')");
    assert_int_equal(r->code, AL_SCRIPT_ERROR);
    assert_int_equal(r->n_open, 0);
}

static void a_large_result_arrives_whole(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec("return (await tools.big()).length");
    spec.memory_bytes = (uint64_t)128 << 20;
    assert_string_equal(rig_run_spec(&spec)->value.p, "8388608");
}

static void state_comes_back_when_it_changed(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec("state.n = (state.n ?? 0) + 1; state.list = [1]; return state.old");
    spec.state = AL_STR("{\"old\":true,\"n\":4}");
    struct rig_result *r = rig_run_spec(&spec);
    assert_string_equal(r->value.p, "true");
    assert_string_equal(r->state.p, "[[\"old\",true],[\"n\",5],[\"list\",[1]]]");
    spec.code = AL_STR("return state.n");
    assert_string_equal(rig_run_spec(&spec)->state.p, "");
    spec.code = AL_STR("return 1");
    assert_string_equal(rig_run_spec(&spec)->state.p, "");
    spec.code = AL_STR("delete state.old; delete state.n; return 1");
    assert_string_equal(rig_run_spec(&spec)->state.p, "[]");
    spec.code = AL_STR("state = {a: new Map([['k', 1]])}; return 1");
    assert_string_equal(rig_run_spec(&spec)->state.p, "[[\"a\",{\"k\":1}]]");
    spec.code = AL_STR("state.x = 1; throw new Error('no')");
    r = rig_run_spec(&spec);
    assert_int_equal(r->code, AL_SCRIPT_ERROR);
    assert_string_equal(r->state.p, "");
    spec.code = AL_STR("state.a = state; return 7");
    r = rig_run_spec(&spec);
    assert_int_equal(r->code, AL_INVALID_RESULT);
    assert_non_null(strstr(r->message.p, "state.a is a cycle"));
    assert_string_equal(r->value.p, "7");
    spec.code = AL_STR("state = [1]; return 1");
    assert_int_equal(rig_run_spec(&spec)->code, AL_INVALID_RESULT);
    spec.state = AL_STR("{}");
    spec.code = AL_STR("state.a = undefined; return 1");
    assert_string_equal(rig_run_spec(&spec)->state.p, "");
}

static void dates_are_in_the_zone_of_the_user(void **state)
{
    (void)state;
    struct al_engine *kept = rig_engine;
    setenv("TZ", "America/New_York", 1);
    rig_engine = al_engine_new(rig_loop);
    rig_value("[new Date(2026, 0, 1).getTimezoneOffset(), new Date(2026, 6, 1).getTimezoneOffset(), "
              "new Date(Date.UTC(2026, 6, 1, 12)).getHours(), new Date(1e14).getTimezoneOffset() > 0]",
              "[300,240,8,true]");
    al_engine_free(rig_engine);
    setenv("TZ", "Asia/Kolkata", 1);
    rig_engine = al_engine_new(rig_loop);
    rig_value("new Date(0).getTimezoneOffset()", "-330");
    al_engine_free(rig_engine);
    unsetenv("TZ");
    rig_engine = kept;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_expression_is_the_value),
    cmocka_unit_test(a_function_value_is_called_with_input),
    cmocka_unit_test(a_body_returns_its_value),
    cmocka_unit_test(a_fence_is_stripped_and_keeps_its_lines),
    cmocka_unit_test(code_cannot_close_its_wrapper),
    cmocka_unit_test(the_code_may_be_anything),
    cmocka_unit_test(globals_are_as_documented),
    cmocka_unit_test(input_reaches_the_script),
    cmocka_unit_test(execute_knows_call_tool),
    cmocka_unit_test(tools_are_called_by_property_and_by_name),
    cmocka_unit_test(tools_hides_what_would_be_mistaken),
    cmocka_unit_test(an_unknown_tool_rejects_with_close_names),
    cmocka_unit_test(list_and_describe_answer_at_once),
    cmocka_unit_test(calls_run_at_most_so_many_at_once),
    cmocka_unit_test(map_keeps_order_and_limit),
    cmocka_unit_test(calls_that_nobody_awaits_are_awaited_and_noted),
    cmocka_unit_test(a_large_result_arrives_whole),
    cmocka_unit_test(state_comes_back_when_it_changed),
    cmocka_unit_test(dates_are_in_the_zone_of_the_user),
};
RIG_MAIN(tests)
