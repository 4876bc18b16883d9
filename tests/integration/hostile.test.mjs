// Upstream servers that misbehave, each in one way: what a script gets, and that nothing else suffers. In every test
// another server works, the host stays small, and no process is left at the end.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { McpClient, isAlive, makeHome, root, run, soon, until } from "./lib.mjs";

const HOST_MAX_KB = 64 << 10;
// What a client's model reads of one answer, in characters, with the default of forge.javascript.maxOutputChars.
const ANSWER_MAX = 2 * 16_000 + 2048;
const sizeOf = ({ content, structuredContent }) =>
  [...content.map((part) => part.text ?? JSON.stringify(part)), structuredContent ? JSON.stringify(structuredContent) : ""]
    .map((text) => [...text].length)
    .reduce((a, b) => a + b, 0);
const hostile = join(root, "tests/fixtures/hostile.mjs");
const simple = join(root, "tests/fixtures/simple.mjs");
const peakOf = (pid) => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

// A host with the hostile servers (name → mode) and a good one.
async function withHost(modes, body, { args = [], timeoutMs = 1000, startTimeoutMs = 4000 } = {}) {
  const home = makeHome();
  const starts = join(home.dir, "starts");
  const entry = (mode) => ({
    command: process.execPath,
    args: [hostile, mode],
    env: { HOSTILE_STARTS: starts },
    timeoutMs,
    startTimeoutMs,
    tools: { "*": "allow" },
  });
  const servers = Object.fromEntries(Object.entries(modes).map(([name, mode]) => [name, entry(mode)]));
  Object.defineProperty(servers, "good", {
    value: { command: process.execPath, args: [simple], tools: { "*": "allow" } },
    enumerable: true,
  });
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
  writeFileSync(
    join(home.env.ALISIO_CONFIG_HOME, "config.json"),
    JSON.stringify({ schemaVersion: 1, mcp: { servers } }),
    { mode: 0o600 },
  );
  const client = new McpClient(home, args);
  const pids = () => (existsSync(starts) ? readFileSync(starts, "utf8").trim().split("\n").map(Number) : []);
  const js = async (code) => {
    const { result, error } = await client.call("js_run", { code });
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  };
  // The value of a script; it must not fail.
  const value = async (code) => {
    const result = await js(code);
    assert.notEqual(result.isError, true, result.content[0].text);
    return result.structuredContent.value;
  };
  // What a call of a tool rejects with.
  const failure = (call) => value(`return ${call}.then((v) => ({ got: v }), ({ code, message, hint }) => ({ code, message, hint }))`);
  try {
    await client.initialize();
    await body({ home, client, js, value, failure, pids });
    assert.equal(await value("return tools.good.echo({ text: 'alive' })"), "alive");
    if (!process.env.ASAN_OPTIONS) {
      const peak = peakOf(client.process.pid);
      assert.ok(peak < HOST_MAX_KB, `the host had ${peak} kB`);
    }
  } finally {
    const { code } = await client.close();
    assert.equal(code, 0, client.stderr);
    await until("the end of every server", () => !pids().some(isAlive), 1500);
    home.remove();
  }
}

const bad = (mode, body, options) => withHost({ bad: mode }, body, options);

// The same, with the tools of every server known.
const known = (modes, body, options) =>
  withHost(
    modes,
    async (host) => {
      run(host.home, ["mcp", "doctor"]);
      await body(host);
    },
    options,
  );

// Modes in which the server is as good as any other.
describe("survived without a word", { concurrency: 2 }, () => {
  for (const mode of [
    "noise",
    "bom",
    "crlf",
    "stranger",
    "huge-noise",
    "early-flood",
    "progress-flood",
    "log-flood",
    "stderr-flood",
    "stubborn",
    "repeat-cursor",
    "list-shape",
    "list-error",
    "deep-schema",
  ])
    test(mode, () =>
      bad(mode, async ({ value }) => {
        assert.deepEqual(await value("return [await tools.bad.go({}), await tools.bad.fine({})]"), ["went", "fine"]);
      }, { timeoutMs: 8000 }));
});

// Modes in which no call can be answered: UPSTREAM_UNAVAILABLE, which names the server, soon.
describe("not there, and told so", { concurrency: 2 }, () => {
  for (const mode of [
    "die-start",
    "die-initialize",
    "die-after",
    "mute",
    "deaf",
    "initialize-shape",
    "initialize-error",
    "future-version",
    "no-version",
  ])
    test(mode, () =>
      bad(mode, async ({ failure, js, pids }) => {
        const e = await failure("tools.call('mcp_bad_go', {})");
        assert.equal(e.code, "UPSTREAM_UNAVAILABLE", JSON.stringify(e));
        assert.match(e.message, /bad/);
        const uncaught = await js("return tools.call('mcp_bad_go', {})");
        assert.equal(uncaught.structuredContent.error.code, "UPSTREAM_UNAVAILABLE", uncaught.content[0].text);
        assert.ok(pids().length <= 6, `started ${pids().length} times`);
      }, { startTimeoutMs: 1000 }));
});

// Modes in which one call fails, with its code, and the next one is answered.
describe("one call fails, and the next is answered", { concurrency: 2 }, () => {
  for (const [mode, code, timeoutMs = 1000] of [
    ["missing", "TOOL_TIMEOUT"],
    ["late", "TOOL_TIMEOUT"],
    ["die-call", "UPSTREAM_UNAVAILABLE"],
    ["kill-call", "UPSTREAM_UNAVAILABLE"],
    ["half-call", "UPSTREAM_UNAVAILABLE"],
    ["huge-answer", "RESULT_TOO_LARGE", 8000],
    ["neither", "UPSTREAM_UNAVAILABLE"],
    ["error-text", "UPSTREAM_UNAVAILABLE"],
    ["error-code", "TOOL_ERROR"],
    ["error-empty", "TOOL_ERROR"],
    ["big-image", "RESULT_TOO_LARGE", 8000],
    ["big-text", "RESULT_TOO_LARGE", 8000],
    ["deep", "UPSTREAM_UNAVAILABLE", 60_000],
  ])
    test(mode, () =>
      bad(mode, async ({ failure, value }) => {
        const e = await failure("tools.bad.go({})");
        assert.equal(e.code, code, JSON.stringify(e).slice(0, 1000));
        assert.equal(await value("return tools.bad.fine({})"), "fine");
      }, { timeoutMs }));
});

describe("results", { concurrency: 2 }, () => {
  for (const [mode, expected] of [
    ["structured-only", { rows: [1, 2, 3] }],
    ["structured-empty", { rows: [1, 2, 3] }],
    ["text-only", "plain words"],
    ["text-json", { rows: [1, 2, 3] }],
    ["double", "first"],
    ["invalid-utf8", "A\ufffd\ufffd(B"],
    ["batch", "in a batch"],
  ])
    test(mode, () => bad(mode, async ({ value }) => assert.deepEqual(await value("return tools.bad.go({})"), expected)));

  test("error-structured: the message is shown, the parts are kept out of it", () =>
    bad("error-structured", async ({ failure }) => {
      const e = await failure("tools.bad.go({})");
      assert.equal(e.code, "TOOL_ERROR");
      assert.match(e.message, /It broke/);
      assert.ok(!/[\u0000-\u0008\u001b]/.test(e.message), JSON.stringify(e.message));
      assert.ok(!e.message.includes("AAAA"));
    }));

  for (const mode of ["text-two", "nothing", "wrong-types", "wrong-parts", "surrogate", "both"])
    test(`${mode}: something that a script can hold, or a clear failure`, () =>
      bad(mode, async ({ failure }) => {
        const e = await failure("tools.bad.go({})");
        if (e.code) assert.ok(["TOOL_ERROR", "INVALID_RESULT"].includes(e.code), JSON.stringify(e));
        else if (mode === "text-two") assert.match(JSON.stringify(e.got), /one.*two/s);
        else if (mode === "wrong-parts") assert.match(JSON.stringify(e.got), /kept/);
      }));

  test("proto: members with special names harm nothing", () =>
    bad("proto", async ({ value }) => {
      const got = await value("const r = await tools.bad.go({}); return [r.ok, ({}).polluted ?? null, Object.keys(r).sort()]");
      assert.equal(got[0], 1);
      assert.equal(got[1], null);
    }));

  test("big-ok: a result of some megabytes reaches the script whole, and the model cut", () =>
    bad("big-ok", async ({ js, value }) => {
      assert.equal(await value("return (await tools.bad.go({})).rows.length"), 50_000);
      for (const code of [
        "return tools.bad.go({})",
        "const r = await tools.bad.go({}); print(r); return r",
        "const r = await tools.bad.go({}); for (const row of r.rows.slice(0, 20000)) print(row.word); return r.rows",
        "throw new Error(JSON.stringify(await tools.bad.go({})).slice(0, 1e6))",
        "return 'é€😀'.repeat(500_000)",
      ]) {
        const size = sizeOf(await js(code));
        assert.ok(size <= ANSWER_MAX, `${code}: ${size} characters`);
      }
    }, { timeoutMs: 8000 }));

  test("questions of a server to a model or a person are refused during a script's call", () =>
    bad("questions", async ({ value }) => {
      const [sampling, elicitation, roots, unknown] = await value("return tools.bad.go({})");
      assert.equal(roots, "answered");
      for (const code of [sampling, elicitation, unknown]) assert.equal(code, -32601);
    }));
});

describe("catalogues", { concurrency: 2 }, () => {
  test("a list that never comes: what can be called without it is called after the start limit", () =>
    bad("list-missing", async ({ value }) => {
      assert.equal(await value("return tools.bad.go({})"), "went");
    }, { startTimeoutMs: 3000 }));

  test("pages without end: what came first can be called, and doctor says why there is no more", () =>
    bad("endless-pages", async ({ value }) => {
      assert.equal(await value("return tools.bad.fine({})"), "fine");
    }, { startTimeoutMs: 10_000 }));

  test("10,000 tools: found by search, called, and the answers stay bounded", () =>
    known({ bad: "many" }, async ({ client, value }) => {
      assert.equal(await value("return tools.bad.tool_9999({})"), "went");
      const found = await value("return tools.list('Number 4321').map((t) => t.name)");
      assert.ok(found.includes("mcp_bad_tool_4321"), JSON.stringify(found.slice(0, 5)));
      for (const [name, args] of [
        ["js_run", { code: "return tools.list()" }],
        ["js_run", { code: "for (const t of tools.list()) print(t.name, t.description); return 1" }],
        ["forge_guide", { topic: "tools" }],
        ["forge_guide", { topic: "tools", query: "number" }],
        ["forge_guide", { topic: "overview" }],
      ]) {
        const { result } = await client.call(name, args);
        assert.ok(sizeOf(result) <= ANSWER_MAX, `${name} ${JSON.stringify(args)}: ${sizeOf(result)} characters`);
      }
    }, { startTimeoutMs: 20_000 }));

  test("names that collide after cleaning and at 64 characters stay apart, and each calls its own", () =>
    known({ bad: "collide" }, async ({ value }) => {
      const names = await value("return tools.list().map((t) => t.name).filter((n) => n.startsWith('mcp_bad_'))");
      assert.equal(new Set(names).size, names.length, JSON.stringify(names));
      assert.ok(names.length >= 9, JSON.stringify(names));
      for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
      const all = await value(
        "const out = []; for (const t of tools.list()) if (t.name.startsWith('mcp_bad_')) out.push(await tools.call(t.name, {})); return out",
      );
      assert.deepEqual([...new Set(all)], ["went"]);
    }));

  test("death in tools/list: calls are answered, or told why not", () =>
    bad("die-tools/list", async ({ failure, pids }) => {
      for (let i = 0; i < 5; i++) {
        const e = await failure("tools.bad.go({})");
        if (e.got !== "went") assert.match(`${e.code} ${e.message}`, /^UPSTREAM_UNAVAILABLE.*bad/);
      }
      assert.ok(pids().length <= 6, `started ${pids().length} times`);
    }));

  test("odd schemas: a signature for each, and one bad schema spoils no other", () =>
    known({ bad: "schemas" }, async ({ value }) => {
      assert.equal(await value("return tools.bad.fine({})"), "fine");
      const signatures = await value(
        "return tools.list().filter((t) => t.name.startsWith('mcp_bad_')).map((t) => [t.name, tools.describe(t.name).signature])",
      );
      const by = Object.fromEntries(signatures);
      for (const name of ["cyclic", "comment", "odd_names", "unions", "deep", "remote", "pattern", "fine"])
        assert.equal(typeof by[`mcp_bad_${name}`], "string", name);
      for (const [name, signature] of signatures) {
        assert.ok(signature.length < 10_000, `${name}: ${signature.length}`);
        assert.ok(!/[\u2028\u2029\u001b\u202e]/.test(signature), name);
      }
    }));

  test("servers named tools, constructor and __proto__ are servers like any other", async () => {
    const modes = JSON.parse('{"tools":"noise","constructor":"noise","__proto__":"noise"}');
    await known(modes, async ({ value }) => {
      const names = await value("return tools.list().map((t) => t.name).filter((n) => /^mcp_.*_go(_|$)/.test(n)).sort()");
      assert.equal(names.length, 3, JSON.stringify(names));
      const said = await value(`return Promise.all(${JSON.stringify(names)}.map((n) => tools.call(n, {})))`);
      assert.deepEqual(said, ["went", "went", "went"]);
      assert.equal(await value("return typeof tools.call + typeof tools.list + typeof ({}).constructor"), "functionfunctionfunction");
    });
  });
});

describe("life", { concurrency: 2 }, () => {
  test("servers that are mute cost each its start limit, and the good one nothing", () =>
    withHost({ mute0: "mute", mute1: "mute" }, async ({ client, value }) => {
      const mute = value("return Promise.all([0, 1].map((i) => tools.call(`mcp_mute${i}_go`, {}).catch((e) => e.code)))");
      assert.equal((await client.call("js_run", { code: "return tools.good.add({a: 1, b: 2})" })).result.structuredContent.value.sum, 3);
      assert.deepEqual(await soon(mute, "both", 10_000), ["UPSTREAM_UNAVAILABLE", "UPSTREAM_UNAVAILABLE"]);
    }, { startTimeoutMs: 1000 }));

  test("a cancelled run does not wait for a server that never answers", () =>
    bad("missing", async ({ client }) => {
      const params = {
        name: "js_run",
        arguments: { code: "progress('on'); return tools.bad.go({})" },
        _meta: { progressToken: 1 },
      };
      client.send({ id: "endless", method: "tools/call", params });
      await until("the call", () => client.notifications.some((n) => n.method === "notifications/progress"));
      client.send({ method: "notifications/cancelled", params: { requestId: "endless" } });
      assert.deepEqual((await client.request("ping")).result, {});
    }, { timeoutMs: 60_000 }));
});
