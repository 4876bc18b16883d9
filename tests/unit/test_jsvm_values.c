/* Values as JSON, values as text, and the small classes that the prelude adds. */
#include "test_jsvm_rig.h"

static void values_have_a_json_form(void **state)
{
    (void)state;
    static const struct {
        const char *code, *json;
    } rows[] = {
        {"return undefined", "null"},
        {"return null", "null"},
        {"return [undefined, () => 1, Symbol('x')]", "[null,null,null]"},
        {"return {a: undefined, b() {}, c: Symbol('x'), d: 1}", "{\"d\":1}"},
        {"return () => 1", "null"},
        {"return [NaN, Infinity, -Infinity, -0, 1e21, 5e-324]", "[null,null,null,0,1e+21,5e-324]"},
        {"return 123456789012345678901234567890n", "\"123456789012345678901234567890\""},
        {"return {d: new Date(0), bad: new Date(NaN)}", "{\"d\":\"1970-01-01T00:00:00.000Z\",\"bad\":null}"},
        {"return new Map([['a', 1], ['b', new Map([[1, 2]])]])", "{\"a\":1,\"b\":[[1,2]]}"},
        {"return new Map([['__proto__', 1]])", "{\"__proto__\":1}"},
        {"return new Map()", "{}"},
        {"return new Set([1, 'a', {b: 2}])", "[1,\"a\",{\"b\":2}]"},
        {"return [new Uint8Array([1, 2]), new Float32Array([0.5, NaN]), new BigInt64Array([-1n])]",
         "[[1,2],[0.5,null],[\"-1\"]]"},
        {"return [new Uint8Array([1, 2, 255]).buffer, new DataView(new Uint8Array([65, 66, 67]).buffer, 1)]",
         "[{\"base64\":\"AQL/\"},{\"base64\":\"QkM=\"}]"},
        {"return new TypeError('t')", "{\"name\":\"TypeError\",\"message\":\"t\"}"},
        {"return Object.assign(new Error('t'), {code: 'X', extra: 1})",
         "{\"name\":\"Error\",\"message\":\"t\",\"code\":\"X\",\"extra\":1}"},
        {"return /a\\/b/gi", "\"/a\\\\/b/gi\""},
        {"return {toJSON() { return {x: 1n} }}", "{\"x\":\"1\"}"},
        {"return [new (class { constructor() { this.a = 1 } toJSON(k) { return 'key ' + k } })()]",
         "[\"key 0\"]"},
        {"return [Object(1), Object('s'), Object(true), Object(2n)]", "[1,\"s\",true,\"2\"]"},
        {"return Object.create({inherited: 1}, {own: {value: 2, enumerable: true}, hid: {value: 3}})",
         "{\"own\":2}"},
        {"return [,1]", "[null,1]"},
        {"return '\\ud800 \\u0001 \\u2028'", "\"\\ud800 \\u0001 \xe2\x80\xa8\""},
        {"return {'\\ud83d\\ude00': 1}", "{\"\xf0\x9f\x98\x80\":1}"},
        {"const a = {x: 1}; return [a, a]", "[{\"x\":1},{\"x\":1}]"},
        {"const a = new Map(); return [a, a]", "[{},{}]"},
        {"return new Proxy([1, 2], {})", "[1,2]"},
        {"return {__proto__: null, a: 1}", "{\"a\":1}"},
        {"return JSON.parse('{\"__proto__\":{\"a\":1n}}'.replace('1n', '1'))", "{\"__proto__\":{\"a\":1}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rig_value(rows[i].code, rows[i].json);
}

static void odd_values_are_noted(void **state)
{
    (void)state;
    assert_non_null(strstr(rig_run("return [NaN, 1 / 0]")->notes.p, "2 numbers"));
    assert_non_null(strstr(rig_run("return {a: Promise.resolve(1)}")->notes.p, "1 promise"));
    assert_string_equal(rig_run("return [1, null, 'NaN']")->notes.p, "");
}

static void what_is_no_json_is_invalid_result(void **state)
{
    (void)state;
    rig_fails("const a = {b: {}}; a.b.c = a; return a", AL_INVALID_RESULT,
              "value.b.c is a cycle: it leads back to value");
    rig_fails("const a = [{}]; a[0]['odd key'] = a[0]; return a", AL_INVALID_RESULT,
              "value[0][\"odd key\"] is a cycle: it leads back to value[0]");
    rig_fails("const m = new Map(); m.set('k', m); return m", AL_INVALID_RESULT, "value.k is a cycle");
    rig_fails("const s = new Set(); s.add(s); return s", AL_INVALID_RESULT, "cycle");
    rig_fails("const e = new Error('x'); e.self = e; return e", AL_INVALID_RESULT, "value.self is a cycle");
    rig_fails("let a = []; for (let i = 0; i < 200; i++) a = [a]; return a", AL_INVALID_RESULT,
              "deeper than 100");
    rig_fails("return {get a() { throw new Error('getter') }}", AL_INVALID_RESULT, "getter");
    rig_fails("return new Proxy({}, {ownKeys() { throw new Error('trap') }})", AL_INVALID_RESULT, "trap");
    rig_fails("const f = () => ({toJSON: f, x: f}); return {toJSON: () => ({a: f()})}", AL_OK, "");
    rig_value("let a = 1; for (let i = 0; i < 99; i++) a = [a]; return JSON.stringify(a).length", "199");
    struct rig_result *r = rig_run("let a = 1; for (let i = 0; i < 99; i++) a = [a]; return a");
    assert_int_equal(r->code, AL_OK);
    assert_int_equal(r->value.n, 199);
}

static void print_shows_values(void **state)
{
    (void)state;
    static const struct {
        const char *code, *text;
    } rows[] = {
        {"print('a', 1, true, null, undefined, 10n)", "a 1 true null undefined 10n\n"},
        {"print()", "\n"},
        {"print('two\\nlines')", "two\nlines\n"},
        {"print({a: 1, 'b c': 'x', d: [1, 2]})", "{ a: 1, \"b c\": \"x\", d: [ 1, 2 ] }\n"},
        {"print([], {}, new Map(), new Set())", "[] {} Map(0) {} Set(0) {}\n"},
        {"print(new Map([['a', {b: 1}]]), new Set([1]))", "Map(1) { \"a\" => { b: 1 } } Set(1) { 1 }\n"},
        {"const a = {}; a.self = a; print(a)", "{ self: [Circular] }\n"},
        {"print({a: {b: {c: {d: {e: 1}}}}})", "{ a: { b: { c: { d: [Object] } } } }\n"},
        {"print({get x() { return 1 }, f() {}, s: Symbol('q')})",
         "{ x: [Getter], f: [Function f], s: Symbol(q) }\n"},
        {"class P { constructor() { this.a = 1 } } print(new P(), Object.create(null))",
         "P { a: 1 } [null] {}\n"},
        {"print(new Date(0), /x/g, new Uint8Array([1, 2]), -0)",
         "1970-01-01T00:00:00.000Z /x/g Uint8Array(2) [ 1, 2 ] -0\n"},
        {"print(new Error('e'), new TypeError('t'))", "Error: e (line 1) TypeError: t (line 1)\n"},
        {"print(Promise.resolve(1), new Date(NaN), () => 1, class A {})",
         "Promise { not awaited } Invalid Date [Function] [Function A]\n"},
        {"console.log(1); console.info(2); console.warn(3); console.error(4); console.debug(5)",
         "1\n2\n3\n4\n5\n"},
        {"print(new Proxy({}, {ownKeys() { throw 1 }}))", "[cannot be shown]\n"},
        {"print('\\ud800')", "\xef\xbf\xbd\n"},
        {"print(tools.github)", "[null] { create_issue: [Function create_issue], echo: [Function echo] }\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig_result *r = rig_run(rows[i].code);
        assert_int_equal(r->code, AL_OK);
        if (strstr(rows[i].text, "\xef\xbf\xbd")) /* one mark or three: what matters is that it is valid */
            assert_non_null(strstr(r->printed.p, "\xef\xbf\xbd"));
        else
            assert_string_equal(r->printed.p, rows[i].text);
    }
    struct rig_result *r = rig_run("print(new Array(1000).fill('x'.repeat(300)))");
    assert_true(r->printed.n < 60000);
    assert_non_null(strstr(r->printed.p, "more"));
    r = rig_run("print(Array.from({length: 500}, (_, i) => i))");
    assert_non_null(strstr(r->printed.p, "… 400 more"));
    r = rig_run("print({long: 'x'.repeat(80), other: 'y'.repeat(80)})");
    assert_non_null(strstr(r->printed.p, "\n  other: "));
}

static void progress_is_throttled_and_keeps_the_last(void **state)
{
    (void)state;
    struct rig_result *r = rig_run("progress({completed: 1, total: 3, note: 'n', other: 5}); return 1");
    assert_string_equal(r->progress.p, "{\"completed\":1,\"total\":3,\"note\":\"n\"}\n");
    r = rig_run("for (let i = 0; i <= 5000; i++) progress({completed: i, total: 5000}); return 1");
    assert_non_null(strstr(r->progress.p, "{\"completed\":5000,\"total\":5000}\n"));
    unsigned lines = 0;
    for (size_t i = 0; i < r->progress.n; i++)
        lines += r->progress.p[i] == '\n';
    assert_true(lines <= 3 + r->duration_ms / 50);
    r = rig_run("progress('a'); progress(); progress(null); progress({completed: 'x', note: {a: 1}}); "
                "progress({get completed() { throw 1 }}); return 1");
    assert_int_equal(r->code, AL_OK);
}

static void structured_clone_copies(void **state)
{
    (void)state;
    rig_value(
        "const o = {a: [1, {b: new Date(5)}], m: new Map([[{k: 1}, new Set([2])]]), n: null, u: undefined}; "
        "const c = structuredClone(o); "
        "return [c !== o, c.a[1].b instanceof Date, +c.a[1].b, [...c.m.keys()][0].k, "
        "[...[...c.m.values()][0]], 'u' in c]",
        "[true,true,5,1,[2],true]");
    rig_value("const o = {}; o.self = o; const c = structuredClone(o); return c.self === c", "true");
    rig_value("const b = new Uint8Array([1, 2]); const c = structuredClone(b); c[0] = 9; return [...b, ...c]",
              "[1,2,9,2]");
    rig_value("try { structuredClone(() => 1) } catch (e) { return e.name }", "\"DataCloneError\"");
    rig_value("try { structuredClone({p: Promise.resolve()}) } catch (e) { return e.name }",
              "\"DataCloneError\"");
    rig_value("structuredClone(new TypeError('x')).message", "\"x\"");
    rig_value("structuredClone([1, , 3]).length", "3");
    rig_value("structuredClone(/a/g).flags", "\"g\"");
}

static void text_is_encoded_and_decoded(void **state)
{
    (void)state;
    rig_value("[...new TextEncoder().encode('a\\u00e4\\u20ac\\u{1f600}\\ud800')]",
              "[97,195,164,226,130,172,240,159,152,128,239,191,189]");
    rig_value("const t = 'a\\u00e4\\u20ac\\u{1f600}'; return new TextDecoder().decode(new "
              "TextEncoder().encode(t)) === t",
              "true");
    rig_value("new TextDecoder().decode(new Uint8Array([0xff, 65, 0xe2, 0x82, 66, 0xf0, 0x9f]))",
              "\"\xef\xbf\xbd"
              "A\xef\xbf\xbd"
              "B\xef\xbf\xbd\"");
    rig_value("new TextDecoder().decode(new Uint8Array([0xed, 0xa0, 0x80])).length", "3");
    rig_value("new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65]))", "\"A\"");
    rig_value(
        "new TextDecoder('utf-8', {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])).length",
        "2");
    rig_value("try { new TextDecoder('utf8', {fatal: true}).decode(new Uint8Array([0xff])) } catch (e) { "
              "return e.name }",
              "\"TypeError\"");
    rig_value("try { new TextDecoder('latin1') } catch (e) { return e.name }", "\"RangeError\"");
    rig_value("const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), {stream: true}) + "
              "d.decode(new Uint8Array([0xac]), {stream: true}) + d.decode()",
              "\"\xe2\x82\xac\"");
    rig_value("const r = new TextEncoder().encodeInto('a\\u20acb', new Uint8Array(3)); return r",
              "{\"read\":1,\"written\":1}");
    rig_value("new TextDecoder().decode(new TextEncoder().encode('x'.repeat(100000))).length", "100000");
    rig_value("new TextDecoder().decode(new Uint8Array([65, 66, 67]).buffer)", "\"ABC\"");
}

static void urls_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *code, *json;
    } rows[] = {
        {"new URL('HTTPS://User:Pa%20ss@Example.COM:8443/a/../b/./c?x=1&y=%20#frag').href",
         "\"https://User:Pa%20ss@example.com:8443/b/c?x=1&y=%20#frag\""},
        {"const u = new URL('http://h:80/p?q#f'); return [u.protocol, u.host, u.hostname, u.port, "
         "u.pathname, u.search, u.hash, u.origin]",
         "[\"http:\",\"h\",\"h\",\"\",\"/p\",\"?q\",\"#f\",\"http://h\"]"},
        {"new URL('../x?y#z', 'https://h/a/b/c').href", "\"https://h/a/x?y#z\""},
        {"new URL('/root', 'https://h:1/a').href", "\"https://h:1/root\""},
        {"new URL('//other/p', 'https://h/a').href", "\"https://other/p\""},
        {"new URL('?q=1', 'https://h/a/b?old#f').href", "\"https://h/a/b?q=1\""},
        {"new URL('#f', 'https://h/a/b?old').href", "\"https://h/a/b?old#f\""},
        {"new URL('', 'https://h/a/b?old#f').href", "\"https://h/a/b?old\""},
        {"new URL('http://h').href", "\"http://h/\""},
        {"new URL('http://h/a b\"c').href", "\"http://h/a%20b%22c\""},
        {"new URL('http://h/\\u00e4').pathname", "\"/%C3%A4\""},
        {"new URL('mailto:a@b').href", "\"mailto:a@b\""},
        {"new URL('data:text/plain,x').pathname", "\"text/plain,x\""},
        {"new URL('file:///a/b').href", "\"file:///a/b\""},
        {"new URL('http://[::1]:8080/').host", "\"[::1]:8080\""},
        {"const u = new URL('http://h/?a=1&b=2'); u.searchParams.set('a', 'x y'); u.searchParams.append('c', "
         "'&'); return u.href",
         "\"http://h/?a=x+y&b=2&c=%26\""},
        {"const u = new URL('http://h/'); u.pathname = 'p q'; u.search = 'a=1'; u.hash = 'z'; u.port = '81'; "
         "return `${u}`",
         "\"http://h:81/p%20q?a=1#z\""},
        {"JSON.stringify({u: new URL('http://h/')})", "\"{\\\"u\\\":\\\"http://h/\\\"}\""},
        {"[URL.canParse('x'), URL.canParse('http://h'), URL.parse('x'), URL.parse('http://h').href]",
         "[false,true,null,\"http://h/\"]"},
        {"[...new URLSearchParams('?a=1&a=2&b=%C3%A4+c')]",
         "[[\"a\",\"1\"],[\"a\",\"2\"],[\"b\",\"\xc3\xa4 c\"]]"},
        {"const p = new URLSearchParams({a: 1, b: 'x'}); p.delete('a'); p.append('b', 'y'); return "
         "[p.get('b'), p.getAll('b'), p.has('a'), p.size, p + '']",
         "[\"x\",[\"x\",\"y\"],false,2,\"b=x&b=y\"]"},
        {"new URLSearchParams([['k', \"it's (!~*)\"]]) + ''", "\"k=it%27s+%28%21%7E*%29\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rig_value(rows[i].code, rows[i].json);
    static const char *const bad[] = {"'x'",  "'http://'", "'http://h:99999/'", "'http://a b/'",
                                      "'/p'", "''",        "'http://h\\u00e4/'"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char code[200];
        snprintf(code, sizeof code, "try { return new URL(%s).href } catch (e) { return e.name }", bad[i]);
        rig_value(code, "\"TypeError\"");
    }
}

/* A script that changes what it finds surprises only itself: the run still ends, with its value. */
static void tampering_harms_only_the_script(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "Array.prototype.push = () => { throw 1 }; Array.prototype.join = () => 'no';",
        "JSON.stringify = () => 'evil'; JSON.parse = () => ({evil: 1});",
        "Promise.prototype.then = function () { throw 1 }; Promise.resolve = () => { throw 2 };",
        "globalThis.Promise = null; globalThis.Map = null; globalThis.Error = null; globalThis.Object = "
        "null;",
        "Map.prototype.get = Map.prototype.set = () => { throw 1 }; WeakMap.prototype.set = () => { throw 1 "
        "};",
        "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 };",
        "String.prototype.slice = String.prototype.indexOf = () => { throw 1 }; RegExp.prototype.exec = () "
        "=> { throw 1 };",
        "Object.keys = Object.getPrototypeOf = Object.defineProperty = Reflect.ownKeys = () => { throw 1 };",
        "Math.floor = Math.max = Math.min = () => NaN; Date.now = () => { throw 1 };",
        "delete globalThis.JSON; delete globalThis.print; delete globalThis.progress; delete "
        "globalThis.console;",
        "Symbol.iterator; for (const k of Reflect.ownKeys(globalThis)) { if (k != 'tools') try { delete "
        "globalThis[k] } catch {} }",
    };
    char code[700];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(code, sizeof code,
                 "const t = tools, p = print;\n%s\np({a: [1, 'x']}); const r = await t.echo({n: [1, 2]}); "
                 "return {r, ok: true}",
                 rows[i]);
        struct rig_result *r = rig_run(code);
        if (strstr(rows[i], "Promise.prototype.then")) /* await itself stands on it: any end, but an end */
            continue;
        if (r->code != AL_OK || strcmp(r->value.p, "{\"r\":{\"n\":[1,2]},\"ok\":true}") != 0)
            fail_msg("%s\nended with %s: %s\nvalue %s", rows[i], al_code_name(r->code), r->message.p,
                     r->value.p);
        assert_string_equal(r->printed.p, "{ a: [ 1, \"x\" ] }\n");
    }
    rig_value("Object.prototype.toJSON = () => 'mine'; return {a: 1}", "\"mine\"");
    rig_value(
        "Error.prepareStackTrace = () => { throw 1 }; try { await tools.fail() } catch (e) { return e.code }",
        "\"TOOL_ERROR\"");
    rig_fails("Error.prepareStackTrace = () => 5; throw new Error('p')", AL_SCRIPT_ERROR, "Error: p");
    rig_fails("Error.stackTraceLimit = 0; throw new Error('p')", AL_SCRIPT_ERROR, "Error: p");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_have_a_json_form),
    cmocka_unit_test(odd_values_are_noted),
    cmocka_unit_test(what_is_no_json_is_invalid_result),
    cmocka_unit_test(print_shows_values),
    cmocka_unit_test(progress_is_throttled_and_keeps_the_last),
    cmocka_unit_test(structured_clone_copies),
    cmocka_unit_test(text_is_encoded_and_decoded),
    cmocka_unit_test(urls_are_parsed),
    cmocka_unit_test(tampering_harms_only_the_script),
};
RIG_MAIN(tests)
