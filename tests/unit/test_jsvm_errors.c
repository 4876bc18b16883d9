/* How scripts fail: each class of error, the known traps of the engine, and the limits. */
#include "test_jsvm_rig.h"

static struct rig_result *run_for(const char *code, uint64_t timeout_ms)
{
    struct al_vm_spec spec = rig_spec(code);
    spec.timeout_ms = timeout_ms;
    return rig_run_spec(&spec);
}

static void syntax_errors_name_line_column_and_text(void **state)
{
    (void)state;
    struct rig_result *r = rig_fails("const a = 1;\n  const b = ;\nreturn a", AL_SYNTAX_ERROR, "const b = ;");
    assert_int_equal(r->line, 2);
    assert_int_equal(r->column, 13);
    assert_non_null(strstr(r->message.p, "line 2, column 13"));
    r = rig_fails("return {a: 1,, b: 2}", AL_SYNTAX_ERROR, "return {a: 1,, b: 2}");
    assert_int_equal(r->line, 1);
    rig_fails("with (Math) { return PI }", AL_SYNTAX_ERROR, "SyntaxError");
    rig_fails("return 010", AL_SYNTAX_ERROR, "SyntaxError");
}

static void what_is_no_javascript_gets_a_cure(void **state)
{
    (void)state;
    static const struct {
        const char *code, *message;
    } rows[] = {
        {"import fs from 'fs';\nreturn 1", "no modules"},
        {"import { a } from \"b\"", "no modules"},
        {"import 'x'", "no modules"},
        {"const x = 1;\nexport default x", "no modules"},
        {"export const x = 1", "no modules"},
        {"npm install left-pad", "shell"},
        {"ls -la /tmp", "shell"},
        {"$ git status", "shell"},
        {"#!/bin/sh\necho hi", "shell"},
        {"curl https://example.com", "shell"},
        {"cat file.txt | grep x", "shell"},
        {"const x: number = 1; return x", "TypeScript"},
        {"function f(a: string, b?: number): void {}\nreturn f", "TypeScript"},
        {"interface A { b: string }\nreturn 1", "TypeScript"},
        {"type A = string;\nreturn 1", "TypeScript"},
        {"const a = x as string; return a", "TypeScript"},
        {"const f = (a: Foo[]) => a; return f", "TypeScript"},
        {"enum A { B }\nreturn 1", "TypeScript"},
        {"return (await tools.echo<Foo>({}))!.x", "TypeScript"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig_result *r = rig_fails(rows[i].code, AL_SYNTAX_ERROR, rows[i].message);
        assert_true(r->hint.n > 0);
        assert_true(r->line >= 1);
    }
    /* and what only looks like it runs */
    rig_value("const o = {a: true ? 1 : Map}; label: for (;;) break label; return o.a", "1");
    rig_value("const git = 1, status = 2; return git - status", "-1");
}

static void uncaught_exceptions_name_their_place(void **state)
{
    (void)state;
    struct rig_result *r = rig_fails("const x = 5;\n\nx();", AL_SCRIPT_ERROR, "TypeError: not a function");
    assert_int_equal(r->line, 3);
    r = rig_fails("function inner() {\n  throw new RangeError('far')\n}\nawait 1\ninner()", AL_SCRIPT_ERROR,
                  "RangeError: far");
    assert_int_equal(r->line, 2);
    assert_string_equal(r->stack.p, "at inner (2:13)\nat 5:1");
    r = rig_fails("  null.foo", AL_SCRIPT_ERROR, "TypeError: cannot read property 'foo' of null");
    assert_int_equal(r->line, 1);
    r = rig_fails("undefinedName + 1", AL_SCRIPT_ERROR, "ReferenceError: undefinedName is not defined");
    rig_fails("throw 'text'", AL_SCRIPT_ERROR, "thrown: text");
    rig_fails("throw {a: 1}", AL_SCRIPT_ERROR, "thrown: { a: 1 }");
    rig_fails("throw null", AL_SCRIPT_ERROR, "thrown: null");
    rig_fails("throw undefined", AL_SCRIPT_ERROR, "thrown: undefined");
    rig_fails("class MyError extends Error { name = 'Mine' }\nthrow new MyError('m')", AL_SCRIPT_ERROR,
              "Mine: m");
    rig_fails("await Promise.reject(new Error('r'))", AL_SCRIPT_ERROR, "Error: r");
    rig_fails("() => { throw new Error('called') }", AL_SCRIPT_ERROR, "Error: called");
    rig_fails("queueMicrotask(() => { throw new Error('micro') }); await tools.slow(); return 1",
              AL_SCRIPT_ERROR, "Error: micro");
    rig_fails("throw Object.defineProperty(new Error('x'), 'message', {get() { throw 1 }})", AL_SCRIPT_ERROR,
              "");
    rig_fails("throw new Proxy({}, {get() { throw 1 }, getPrototypeOf() { throw 2 }})", AL_SCRIPT_ERROR, "");
    rig_fails("throw Symbol('s')", AL_SCRIPT_ERROR, "Symbol(s)");
    r = rig_fails("throw new Error('x'.repeat(100000))", AL_SCRIPT_ERROR, "xxx");
    assert_true(r->message.n < 10000);
}

static void an_uncaught_tool_error_keeps_its_code(void **state)
{
    (void)state;
    struct rig_result *r = rig_fails("const a = 1;\nawait tools.fail({})", AL_TOOL_ERROR, "fail: it broke");
    assert_string_equal(r->hint.p, "mend it");
    assert_int_equal(r->line, 2);
    rig_fails("await tools['\\ud800x']({})", AL_TOOL_NOT_FOUND,
              "no tool \xef\xbf\xbdx"); /* no text that UTF-8 has */
    r = rig_fails("await tools.nope({})", AL_TOOL_NOT_FOUND, "nope: no tool nope");
    rig_fails("tools.describe('zz')", AL_TOOL_NOT_FOUND, "no such tool");
    /* changed or made by the script: the host's code counts, or none */
    rig_fails("try { await tools.fail({}) } catch (e) { e.code = 'TIMEOUT'; throw e }", AL_TOOL_ERROR, "");
    rig_fails("throw Object.assign(new Error('x'), {name: 'ToolError', code: 'TIMEOUT'})", AL_SCRIPT_ERROR,
              "ToolError: x");
    rig_fails("let c; try { await tools.fail({}) } catch (e) { c = e.constructor }\n"
              "throw new c('t', {code: 'CANCELLED', message: 'm'})",
              AL_SCRIPT_ERROR, "m");
}

static void engine_errors_cannot_be_faked(void **state)
{
    (void)state;
    rig_fails("throw new Error('interrupted')", AL_SCRIPT_ERROR, "Error: interrupted");
    rig_fails("throw Object.assign(new Error('out of memory'), {name: 'InternalError'})", AL_SCRIPT_ERROR,
              "InternalError: out of memory");
    rig_fails("throw new RangeError('Maximum call stack size exceeded')", AL_SCRIPT_ERROR, "RangeError");
    rig_fails("throw Object.assign(new Error('t'), {code: 'TIMEOUT'})", AL_SCRIPT_ERROR, "Error: t");
    rig_fails("throw {code: 'CANCELLED', message: 'the run was cancelled'}", AL_SCRIPT_ERROR, "cancelled");
}

/* What a script makes of the built-in objects reaches its own values, never the words that its run ends with.
 */
static void an_end_cannot_be_forged(void **state)
{
    static const struct {
        const char *code;
        enum al_code want;
        const char *message;
    } all[] = {
        {"Object.prototype.toJSON = function () {return {code: 'INTERNAL', message: 'forged'}}; return 1",
         AL_OK, ""},
        {"Object.prototype.toJSON = function () {return {code: 'INTERNAL', message: 'forged'}}; throw "
         "Error('mine')",
         AL_SCRIPT_ERROR, "mine"},
        {"Object.prototype.toJSON = function f() {return f()}; return 1", AL_OK, ""},
        {"Object.prototype.toJSON = () => {throw 1}; return 1", AL_OK, ""},
        {"Array.prototype.toJSON = () => 'x'; 1", AL_OK, ""},
        {"Object.prototype.toJSON = () => 7; await new Promise(() => {})", AL_DEADLOCK, "never happen"},
        {"String.prototype.toJSON = () => 'INTERNAL'; throw Error('mine')", AL_SCRIPT_ERROR, "mine"},
        {"Object.prototype.code = 'MEMORY_LIMIT'; return 1", AL_OK, ""},
        {"Object.defineProperty(Object.prototype, 'notes', {set() {throw 1}}); 1", AL_OK, ""},
        {"Object.defineProperty(Object.prototype, 'get', {value: () => 1}); throw Error('mine')",
         AL_SCRIPT_ERROR, "mine"},
        {"Object.defineProperty(Array.prototype, 0, {set() {throw 1}}); throw Error('mine')", AL_SCRIPT_ERROR,
         "mine"},
        {"Object.defineProperty(Error.prototype, 'code', {get() {return 'MEMORY_LIMIT'}, set() {}});"
         "await tools.nosuch({})",
         AL_TOOL_NOT_FOUND, "no tool nosuch"},
        {"Object.defineProperty(Error.prototype, 'hint', {set() {throw 1}}); await tools.fail({})",
         AL_TOOL_ERROR, "it broke"},
        {"Object.prototype.error = {code: 'MEMORY_LIMIT', message: 'forged'}; tools.list(); return 1", AL_OK,
         ""},
        {"try {await tools.fail({})} catch (e) {e.code = 'INTERNAL'; e.hint = 'forged'; throw e}",
         AL_TOOL_ERROR, "it broke"},
        {"const e = await tools.fail({}).catch(e => e); Object.setPrototypeOf(e.constructor, function () {"
         "return Object.assign(new Error('forged'), {code: 'INTERNAL'})}); await tools.fail({})",
         AL_TOOL_ERROR, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rig_result *r = rig_fails(all[i].code, all[i].want, all[i].message);
        assert_null(strstr(r->hint.p, "forged"));
        if (all[i].want == AL_OK && strstr(all[i].code, "return 1"))
            assert_string_equal(r->value.p, "1");
    }
}

static void a_state_has_the_form_of_a_state(void **state)
{
    static const struct {
        const char *code, *state;
        enum al_code want;
    } all[] = {
        {"Array.prototype.toJSON = () => ({'0': 1}); state.x = [1]", "[[\"x\",{\"0\":1}]]", AL_OK},
        {"state.x = 1; Object.prototype.toJSON = () => 'abc'", "", AL_INVALID_RESULT},
        {"state.x = 1; Object.prototype.toJSON = () => [1]", "", AL_INVALID_RESULT},
        {"state.x = {y: 1}; Object.prototype.toJSON = function () {return this}", "[[\"x\",{\"y\":1}]]",
         AL_OK},
        {"state.x = 1; Array.prototype[Symbol.iterator] = function* () {yield 5}", "[[\"x\",1]]", AL_OK},
        {"state.__proto__x = 1; state.y = JSON.parse('{\"__proto__\": 3}')",
         "[[\"__proto__x\",1],[\"y\",{\"__proto__\":3}]]", AL_OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct al_vm_spec spec = rig_spec(all[i].code);
        spec.state = AL_STR("{}");
        struct rig_result *r = rig_run_spec(&spec);
        if (r->code != all[i].want || strcmp(r->state.p, all[i].state) != 0)
            fail_msg("%s\n%s: %s\nstate %s", all[i].code, al_code_name(r->code), r->message.p, r->state.p);
    }
}

static void a_state_is_bounded_by_its_keepers_limit(void **state)
{
    static const struct {
        const char *code;
        size_t before; /* bytes of a text in the state already */
        enum al_code want;
    } all[] = {
        {"state.x = 'x'.repeat(900)", 0, AL_OK},
        {"state.x = 'x'.repeat(3000)", 0, AL_STATE_LIMIT},
        {"state.x = 'x'.repeat(3000); return 1", 0, AL_STATE_LIMIT},
        {"for (let i = 0; i < 160; i++) state['k' + i] = 1", 0, AL_OK}, /* many are longer as pairs */
        {"state.a = state.a.slice(1)", 5000, AL_OK}, /* over a limit that was once higher */
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        autobuf struct al_buf before = AL_BUF_INIT(10000);
        struct al_vm_spec spec = rig_spec(all[i].code);
        al_buf_adds(&before, "{\"a\":\"");
        memset(al_buf_grow(&before, all[i].before), 'a', all[i].before);
        al_buf_adds(&before, "\"}");
        spec.state = al_buf_str(&before);
        spec.max_state_bytes = 1300;
        struct rig_result *r = rig_run_spec(&spec);
        if (r->code != all[i].want)
            fail_msg("%s: %s: %s", all[i].code, al_code_name(r->code), r->message.p);
        assert_int_equal(r->state.n > 0, all[i].want == AL_OK);
    }
}

static void out_of_memory_is_memory_limit(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "let x = []; while (true) x.push(new Array(1000).fill('abc' + x.length))",
        "let x = []; try { while (true) x.push(new Array(1000).fill('abc' + x.length)) } catch (e) { return "
        "1 }",
        "let x = []; try { while (true) x.push({a: x.length}) } finally { return 1 }",
        "await 1; let x = []; try { while (true) x.push({a: x.length}) } catch { return 'caught' }",
        "(async () => { let x = []; while (true) x.push({a: x.length}) })().catch(() => 0); await "
        "tools.slow(); return 1",
        "Promise.resolve().then(() => { let x = []; while (true) x.push({}) }).catch(() => 0); await "
        "tools.slow(); return 1",
        "const m = new Map(); let i = 0; while (true) m.set(i++, {})",
        "return new Uint8Array(3e8).length",
        "return new Array(3e8).fill(1).length",
        "return 'x'.repeat(2e8).length",
        "let s = 'x'; while (true) s += s",
        "return await tools.map(new Array(1e6).fill(0), () => new Array(100).fill(1))",
        "return 'x'.repeat(20e6) + [...'y'.repeat(3e6)]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig_result *r = rig_run(rows[i]);
        if (r->code != AL_MEMORY_LIMIT)
            fail_msg("%s\nended with %s: %s", rows[i], al_code_name(r->code), r->message.p);
        assert_non_null(strstr(r->hint.p, "forge.javascript.memoryBytes"));
        assert_false(r->security);
    }
    struct rig_result *r = rig_run(rows[0]);
    assert_true(r->heap_peak > (uint64_t)30 << 20);
    assert_true(r->heap_peak < (uint64_t)48 << 20);
}

static void the_memory_limit_is_the_one_asked_for(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec(
        "const x = []; for (let i = 0; i < 20; i++) x.push(new Uint8Array(1 << 20)); return x.length");
    spec.memory_bytes = (uint64_t)64 << 20;
    assert_string_equal(rig_run_spec(&spec)->value.p, "20");
    spec.memory_bytes = (uint64_t)4 << 20;
    assert_int_equal(rig_run_spec(&spec)->code, AL_MEMORY_LIMIT);
    spec.code = AL_STR("return 1");
    spec.memory_bytes = 1;
    assert_string_equal(rig_run_spec(&spec)->value.p, "1");
}

static void deep_recursion_is_stack_limit(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "function f() { f() } f()",
        "function f(n) { return n + f(n + 1) } return f(0)",
        "await 1; const f = () => f(); f()",
        "JSON.parse('['.repeat(50000))",
        "return eval('('.repeat(5000) + '1' + ')'.repeat(5000))",
        "let a = []; for (let i = 0; i < 50000; i++) a = [a]; return JSON.stringify(a).length",
        "class A { get x() { return this.x } } return new A().x",
        "const p = new Proxy({}, {get(t, k, r) { return r[k] }}); return p.x",
        "return eval('['.repeat(20000) + ']'.repeat(20000))",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig_result *r = rig_run(rows[i]);
        if (r->code != AL_STACK_LIMIT)
            fail_msg("%s\nended with %s: %s", rows[i], al_code_name(r->code), r->message.p);
        assert_non_null(strstr(r->hint.p, "forge.javascript.stackBytes"));
    }
    rig_value("function f() { f() } try { f() } catch (e) { return e.name }", "\"RangeError\"");
    /* the largest stack is safe too: an error, no trap */
    struct al_vm_spec spec =
        rig_spec("let n = 0; function f() { n++; f() } try { f() } catch (e) { return n > 1000 }");
    spec.stack_bytes = 512 << 10;
    assert_string_equal(rig_run_spec(&spec)->value.p, "true");
    spec.stack_bytes = 1 << 30;
    assert_string_equal(rig_run_spec(&spec)->value.p, "true");
}

static void time_is_over_in_every_state(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "while (true) {}",
        "new Array(3e8) + ''",
        "await tools.never()",
        "async function f() { while (true) {} } f().catch(() => 0); return 1",
        "const g = () => { Promise.resolve().then(g) }; g(); await new Promise(() => 0)",
        "const g = async () => { throw 1 }; for (;;) { try { await g() } catch {} }",
        "for (;;) { try { while (true) {} } catch (e) { continue } }",
        "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        "return (2n ** 200000n) ** 20n > 1n",
        "for (;;) new Array(1e5).fill(0).map((_, i) => (i * 7919) % 10007).sort()",
        "for (;;) await tools.slow()",
        "for (;;) await tools.echo({})",
        "for (;;) tools.list()",
        "for (;;) progress('x')",
        "for (;;) queueMicrotask(() => 0), await null",
        "tools.never(); return 1",
        "return {toJSON() { for (;;); }}",
        "print({get a() { return 1 }, [Symbol.toStringTag]: 'x'}); for (;;);",
        "const a = []; for (;;) { a.push(a.length); if (a.length > 1e5) a.length = 0 }",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig_result *r = run_for(rows[i], 150);
        if (r->code != AL_TIMEOUT)
            fail_msg("%s\nended with %s: %s", rows[i], al_code_name(r->code), r->message.p);
        assert_true(r->duration_ms >= 150);
        assert_true(r->duration_ms < 150 + 20 * 100);
        assert_int_equal(r->ends, 1);
    }
}

static void the_timeout_names_what_was_pending(void **state)
{
    (void)state;
    struct rig_result *r = run_for("tools.never(); print('so far'); await tools.never()", 100);
    assert_int_equal(r->code, AL_TIMEOUT);
    assert_non_null(strstr(r->hint.p, "2 nested calls were still pending"));
    assert_string_equal(r->printed.p, "so far\n");
}

static void a_wait_for_nothing_is_a_deadlock_at_once(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "await new Promise(() => {})",
        "new Promise(() => {})",
        "await tools.slow(); await new Promise(() => {})",
        "const a = new Promise(r => globalThis.r = r); const b = a.then(() => b); await a",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig_result *r = rig_fails(rows[i], AL_DEADLOCK, "never happen");
        assert_true(r->duration_ms < 10000);
    }
}

static void output_has_limits(void **state)
{
    (void)state;
    struct al_vm_spec spec = rig_spec("for (let i = 0; i < 1000; i++) print('0123456789'); return 1");
    spec.max_text_bytes = 1000;
    struct rig_result *r = rig_run_spec(&spec);
    assert_int_equal(r->code, AL_OUTPUT_LIMIT);
    assert_true(r->printed.n > 900 && r->printed.n <= 1100);
    spec.code = AL_STR("print('x'.repeat(5000)); return 1");
    r = rig_run_spec(&spec);
    assert_int_equal(r->code, AL_OUTPUT_LIMIT);
    assert_int_equal(r->printed.n, 1001);
    spec.code = AL_STR("for (;;) print('')");
    r = rig_run_spec(&spec);
    assert_int_equal(r->code, AL_OUTPUT_LIMIT);
    spec.code = AL_STR("print('\\u20ac'.repeat(500)); return 1"); /* cut at a character */
    r = rig_run_spec(&spec);
    assert_int_equal(r->printed.n, 999 + 1);
    spec.code = AL_STR("print('x'.repeat(998)); return 1");
    assert_int_equal(rig_run_spec(&spec)->code, AL_OK);

    spec = rig_spec("return 'x'.repeat(5000)");
    spec.max_value_bytes = 1000;
    r = rig_run_spec(&spec);
    assert_int_equal(r->code, AL_OUTPUT_LIMIT);
    assert_string_equal(r->value.p, "");
    spec.code = AL_STR("return 'x'.repeat(998)");
    assert_int_equal(rig_run_spec(&spec)->code, AL_OK);
    spec.code = AL_STR("return 'x'.repeat(999)");
    assert_int_equal(rig_run_spec(&spec)->code, AL_OUTPUT_LIMIT);

    spec = rig_spec("try { await tools.echo('x'.repeat(17 << 20)) } catch (e) { return e.code }");
    spec.memory_bytes = (uint64_t)256 << 20;
    assert_string_equal(rig_run_spec(&spec)->value.p, "\"TOOL_INPUT_INVALID\"");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(syntax_errors_name_line_column_and_text),
    cmocka_unit_test(what_is_no_javascript_gets_a_cure),
    cmocka_unit_test(uncaught_exceptions_name_their_place),
    cmocka_unit_test(an_uncaught_tool_error_keeps_its_code),
    cmocka_unit_test(engine_errors_cannot_be_faked),
    cmocka_unit_test(an_end_cannot_be_forged),
    cmocka_unit_test(a_state_has_the_form_of_a_state),
    cmocka_unit_test(a_state_is_bounded_by_its_keepers_limit),
    cmocka_unit_test(out_of_memory_is_memory_limit),
    cmocka_unit_test(the_memory_limit_is_the_one_asked_for),
    cmocka_unit_test(deep_recursion_is_stack_limit),
    cmocka_unit_test(time_is_over_in_every_state),
    cmocka_unit_test(the_timeout_names_what_was_pending),
    cmocka_unit_test(a_wait_for_nothing_is_a_deadlock_at_once),
    cmocka_unit_test(output_has_limits),
};
RIG_MAIN(tests)
