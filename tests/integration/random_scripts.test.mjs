// 200 scripts, put together at random from pieces that a model would write and pieces that an attacker would, against
// hosts built with sanitizers: whatever a script does, the host answers with a listed code and reports no fault.
// ALISIO_SEED repeats a run; ALISIO_RANDOM_SCRIPTS makes it longer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { McpClient, makeHome } from "./lib.mjs";

const SCRIPTS = Number(process.env.ALISIO_RANDOM_SCRIPTS ?? 200);
const seed = Number(process.env.ALISIO_SEED ?? Date.now() % 1_000_000);

function generator(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const random = generator(seed);
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];

const values = [
  () => String(below(1e6)),
  () => "-0", () => "NaN", () => "1e400", () => "12345678901234567890n", () => "null", () => "undefined",
  () => JSON.stringify("text " + below(1e9)),
  () => '"\\ud800"', () => '"\\u0000\\u2028"', () => '"x".repeat(' + 10 ** below(6) + ")",
  () => `[${value()}, ${value()}]`,
  () => `{a: ${value()}, "b c": ${value()}, ["__proto__"]: 1}`,
  () => "new Date(" + below(1e13) + ")", () => "new Date(NaN)",
  () => `new Map([[1, ${value()}]])`, () => `new Set([${value()}])`,
  () => "new Uint8Array([1,2,3])", () => "new ArrayBuffer(8)", () => "new Error('e')",
  () => "Symbol('s')", () => "(() => 1)", () => "/x/g", () => "(() => { const c = {}; c.c = c; return c })()",
  () => "new Proxy({}, { get() { throw 1 } })", () => "globalThis", () => "tools", () => "ALISIO", () => "state", () => "input",
];
let depth = 0;
function value() {
  if (depth > 3) return "0";
  depth++;
  const v = pick(values)();
  depth--;
  return v;
}

const toolCalls = [
  () => `tools.read_file({path: ${pick(['"a.txt"', '"b/c.txt"', '"missing"', '"../etc/passwd"', '"/etc/passwd"', '".env"', value()])}})`,
  () => `tools.list_files({limit: ${below(20) - 2}})`,
  () => `tools.search_text({pattern: ${pick(['"one"', '"("', '"^$"', value()])}})`,
  () => `tools.write_file({path: ${pick(['"out.txt"', '"scratch:x/y"', '".git/hooks/x"'])}, content: ${value()}})`,
  () => `tools.call(${pick(['"read_file"', '"nope"', '"js_run"', value()])}, ${value()})`,
  () => `tools.read_files({paths: [${value()}, "a.txt"]})`,
  () => `tools[${value()}]?.(${value()})`,
];
const statements = [
  () => `print(${value()}, ${value()});`,
  () => `console.log(${value()});`,
  () => `progress({completed: ${below(10)}, total: ${below(10)}, note: ${value()}});`,
  () => `state[${value()}] = ${value()};`,
  () => `state.n = (state.n || 0) + 1;`,
  () => `await ${pick(toolCalls)()};`,
  () => `try { print(await ${pick(toolCalls)()}) } catch (e) { print(e.code, e.message, e.hint) }`,
  () => `${pick(toolCalls)()};`,
  () => `await Promise.all([${pick(toolCalls)()}, ${pick(toolCalls)()}]);`,
  () => `await Promise.allSettled([${pick(toolCalls)()}, ${pick(toolCalls)()}, ${pick(toolCalls)()}]);`,
  () => `await tools.map([1, 2, 3], async () => ${pick(toolCalls)(), value()}, {concurrency: ${below(6)}});`,
  () => `print(tools.list(${value()}).length, tools.list().length);`,
  () => `try { tools.describe(${value()}) } catch (e) { print(String(e)) }`,
  () => `Array.prototype.push = () => { throw 1 };`,
  () => `JSON.stringify = () => "}{";`,
  () => `Object.prototype.then = function (f) { f(1) };`,
  () => `Promise.prototype.then = undefined;`,
  () => `globalThis.${pick(["print", "tools", "state", "Promise", "JSON", "Object"])} = ${value()};`,
  () => `for (let i = 0; i < ${10 ** below(6)}; i++) {}`,
  () => `(function f(n) { if (n) f(n - 1) })(${10 ** below(6)});`,
  () => `JSON.parse("[".repeat(${10 ** below(6)}));`,
  () => `let big${below(1000)} = new Array(${10 ** below(8)}).fill(${below(9)});`,
  () => `throw ${value()};`,
  () => `return ${value()};`,
  () => `await new Promise(() => {});`,
  () => `while (${pick(["true", "Math.random() < 0.99"])}) {}`,
  () => `new Function("return " + ${JSON.stringify(value())})();`,
  () => `eval(${JSON.stringify(value())});`,
  () => `}); ${value()}; (async () => {`,
  () => `structuredClone(${value()});`,
  () => `new URL(${value()}).href;`,
  () => `new TextDecoder().decode(new TextEncoder().encode(${value()}));`,
];

function script() {
  const n = 1 + below(6);
  const lines = Array.from({ length: n }, () => pick(statements)());
  const text = lines.join("\n");
  return random() < 0.1 ? "```js\n" + text + "\n```" : random() < 0.05 ? text.slice(0, below(text.length)) + "}" : text;
}

const codes = new Set(
  ("INVALID_INPUT SYNTAX_ERROR SCRIPT_ERROR TIMEOUT MEMORY_LIMIT STACK_LIMIT CALL_LIMIT OUTPUT_LIMIT STATE_LIMIT STATE_CONFLICT " +
    "APPROVAL_REQUIRED PERMISSION_DENIED TOOL_NOT_FOUND TOOL_INPUT_INVALID TOOL_ERROR TOOL_TIMEOUT NOT_CALLABLE DEADLOCK INVALID_RESULT " +
    "PATH_OUTSIDE_WORKSPACE PATH_PROTECTED PATH_SECRET NOT_FOUND RESULT_TOO_LARGE QUOTA_EXCEEDED RUNTIME_UNAVAILABLE").split(" "),
);

test(`${SCRIPTS} random scripts (ALISIO_SEED=${seed})`, async () => {
  const home = makeHome({ "a.txt": "one\ntwo\n", "b/c.txt": "three\n", ".env": "KEY=1\n" });
  const client = new McpClient(home, ["--expose", "files", "--allow-write"]);
  const seen = {};
  try {
    await client.initialize();
    for (let i = 0; i < SCRIPTS; i++) {
      const code = script();
      const answer = await client.call("js_run", { code, timeoutMs: 400 });
      const context = `ALISIO_SEED=${seed}, script ${i}:\n${code}\n${JSON.stringify(answer).slice(0, 2000)}`;
      assert.ok(answer.result, context);
      const { status, error } = answer.result.structuredContent ?? {};
      if (answer.result.isError) {
        assert.ok(codes.has(error?.code), context);
        assert.ok(error.message.length > 3, context);
        assert.doesNotMatch(answer.result.content[0].text, new RegExp(home.dir), context);
      } else assert.equal(status, "completed", context);
      const key = error?.code ?? "completed";
      seen[key] = (seen[key] ?? 0) + 1;
    }
    assert.deepEqual((await client.request("ping")).result, {});
    const { code, signal } = await client.close();
    assert.equal(code, 0, `${signal} ${client.stderr}`);
    assert.doesNotMatch(client.stderr, /Sanitizer|runtime error/);
    console.log("#", seen);
  } finally {
    client.process.kill("SIGKILL");
    home.remove();
  }
});
