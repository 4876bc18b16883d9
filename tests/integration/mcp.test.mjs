// The MCP server, byte by byte: what a client may send, and what must come back.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { AT_REST, McpClient, alisio, childrenOf, isAlive, makeHome, soon, until } from "./lib.mjs";

let home;
before(() => {
  home = makeHome({ "a.txt": "one\ntwo\nthree\n", "src/b.js": "// needle\n", "big.txt": "0123456789abcdef\n".repeat(60_000) });
});
after(() => home.remove());

async function withServer(args, body) {
  const client = new McpClient(home, args);
  try {
    await client.initialize();
    await body(client);
  } finally {
    const { code } = await client.close();
    assert.equal(code, 0, client.stderr);
  }
}

test("initialize answers with the asked version, or with the newest", async () => {
  const client = new McpClient(home);
  for (const [asked, given] of [
    ["2024-11-05", "2024-11-05"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
  ]) {
    const { result } = await client.request("initialize", { protocolVersion: asked, capabilities: {}, clientInfo: {} });
    assert.equal(result.protocolVersion, given);
    assert.equal(result.serverInfo.name, "alisio");
    assert.ok(result.capabilities.tools);
  }
  await client.close();
});

test("tools/list offers code mode, and file tools only when exposed", () =>
  withServer([], async (bare) => {
    const names = (await bare.request("tools/list")).result.tools.map((t) => t.name).sort();
    assert.deepEqual(names, ["artifact_create", "artifact_list", "artifact_read", "dashboard_generate", "data_inspect", "data_query", "forge_guide", "js_run"]);
    await withServer(["--expose", "files"], async (wide) => {
      const { tools } = (await wide.request("tools/list")).result;
      const found = tools.map((t) => t.name).sort();
      for (const name of ["read_file", "read_files", "list_files", "search_text", "git_status", "git_diff", "write_file", "edit_file"])
        assert.ok(found.includes(name), name);
      assert.ok(!found.includes("shell"));
      for (const tool of tools) {
        assert.ok(tool.title && tool.description && tool.inputSchema.type === "object", tool.name);
        assert.ok(Buffer.byteLength(tool.description) <= 2048, tool.name);
        for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])
          assert.equal(typeof tool.annotations[hint], "boolean", `${tool.name} ${hint}`);
      }
      assert.equal(tools.find((t) => t.name === "read_file").annotations.readOnlyHint, true);
      assert.equal(tools.find((t) => t.name === "js_run").annotations.readOnlyHint, true);
    });
    await withServer(["--allow-write"], async (writer) => {
      const js = (await writer.request("tools/list")).result.tools.find((t) => t.name === "js_run");
      assert.equal(js.annotations.readOnlyHint, false);
      assert.equal(js.annotations.destructiveHint, true);
    });
    await withServer(["--allow-analysis"], async (analyst) => {
      const { tools } = (await analyst.request("tools/list")).result;
      const hints = (name) => {
        const { readOnlyHint, destructiveHint, openWorldHint } = tools.find((t) => t.name === name).annotations;
        return [readOnlyHint, destructiveHint, openWorldHint];
      };
      assert.deepEqual(hints("python_run"), [false, false, false]); // a wall holds it
      assert.deepEqual(hints("js_run"), [false, false, false]);
      assert.deepEqual(hints("artifact_create"), [false, false, false]);
    });
  }));

test("js_run returns text and a bounded structured value", () =>
  withServer([], async (client) => {
    const { result } = await client.call("js_run", {
      code: 'const {files} = await tools.list_files({}); print("seen", files.length); return files.filter(f => f.endsWith(".txt")).sort()',
    });
    assert.equal(result.isError, false, JSON.stringify(result));
    assert.match(result.content[0].text, /a\.txt/);
    assert.match(result.content[0].text, /seen 3/);
    assert.equal(result.structuredContent.status, "completed");
    assert.deepEqual(result.structuredContent.value, ["a.txt", "big.txt"]);
    assert.match(result.structuredContent.executionId, /^exec_[0-9A-HJKMNP-TV-Z]{26}$/);
  }));

test("a failing tool is an answer with isError, code and hint", () =>
  withServer([], async (client) => {
    const { result } = await client.call("js_run", { code: "return await tools.write_file({path: 'x.txt', content: 'x'})" });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /APPROVAL_REQUIRED/);
    assert.match(result.content[0].text, /--allow-write/);
    assert.equal(result.structuredContent.error.code, "APPROVAL_REQUIRED");
    const bad = await client.call("js_run", { cod: "1" });
    assert.equal(bad.result.isError, true);
    assert.match(bad.result.content[0].text, /INVALID_INPUT/);
  }));

test("unknown tools, methods and shapes get JSON-RPC errors, and the connection lives", () =>
  withServer([], async (client) => {
    assert.equal((await client.call("no_such_tool", {})).error.code, -32602);
    assert.equal((await client.call("read_file", { path: "a.txt" })).error.code, -32602, "not exposed");
    assert.equal((await client.request("no/such")).error.code, -32601);
    assert.equal((await client.request("tools/call", {})).error.code, -32602);
    const before = client.strays.length;
    const raw = [
      "nonsense",
      '{"jsonrpc":"2.0","id":',
      "[]",
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      '{"jsonrpc":"1.0","method":"ping"}',
      "[".repeat(100_000),
      "5",
    ];
    for (const line of raw) client.write(line + "\n");
    client.write(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d, 0x0a])); // invalid UTF-8
    client.write("\r\n\n  \n"); // empty lines are nothing
    await until("an error for each", () => client.strays.length === before + raw.length + 1);
    for (const stray of client.strays.slice(before)) {
      assert.equal(stray.id, null);
      assert.ok([-32700, -32600].includes(stray.error.code), JSON.stringify(stray));
    }
    assert.deepEqual((await client.request("ping")).result, {});
  }));

test("a line of 100 MB is refused without being held", () =>
  withServer([], async (client) => {
    const block = "x".repeat(1 << 20);
    for (let i = 0; i < 100; i++) {
      if (!client.process.stdin.write(block)) await soon(new Promise((r) => client.process.stdin.once("drain", r)), "drain");
    }
    client.write("\n");
    await until("the refusal", () => client.strays.some((m) => m.error.code === -32600));
    assert.deepEqual((await client.request("ping")).result, {});
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${client.process.pid}/status`, "utf8"))?.[1] ?? 0);
    if (!process.env.ASAN_OPTIONS) assert.ok(peak < 100_000, `peak ${peak} kB`);
  }));

test("progress follows the script and its nested calls, and only rises", () =>
  withServer([], async (client) => {
    const { result } = await client.call(
      "js_run",
      { code: "for (let i = 1; i <= 5; i++) { progress({completed: i, total: 5, note: 'step ' + i}); await tools.read_file({path: 'a.txt'}) }" },
      { progressToken: "p1" },
    );
    assert.equal(result.isError, false);
    const seen = client.notifications.filter((n) => n.method === "notifications/progress").map((n) => n.params);
    assert.ok(seen.length >= 1);
    for (const p of seen) assert.equal(p.progressToken, "p1");
    for (let i = 1; i < seen.length; i++) assert.ok(seen[i].progress > seen[i - 1].progress);
    assert.equal(seen.at(-1).progress, 5);
    assert.equal(seen.at(-1).total, 5);
  }));

test("a cancelled request gets no answer, and its VM is gone", () =>
  withServer([], async (client) => {
    const answer = client.request("tools/call", { name: "js_run", arguments: { code: "while(true){}" } }, "loop");
    answer.catch(() => {});
    await until("the run", () => childrenOf(client.process.pid).length > AT_REST);
    client.send({ method: "notifications/cancelled", params: { requestId: "loop" } });
    await until("the end of the run", () => childrenOf(client.process.pid).length <= AT_REST);
    assert.deepEqual((await client.request("ping")).result, {});
    client.waiting.delete("loop");
    assert.ok(!client.lines.some((l) => l.includes('"loop"')));
  }));

test("200 requests at once are all answered, each once", () =>
  withServer(["--expose", "files"], async (client) => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => client.call("read_file", { path: i % 2 ? "a.txt" : "src/b.js" })),
    );
    for (const a of answers) assert.equal(a.result.isError, false, JSON.stringify(a.result));
    assert.equal(client.strays.length, 0);
  }));

test("content and structured content are bounded", () =>
  withServer(["--expose", "files"], async (client) => {
    const max = 16_000;
    for (const [name, args] of [
      ["read_file", { path: "big.txt", limit: 50_000 }],
      ["read_file", { path: "big.txt" }],
      ["js_run", { code: "return (await tools.read_file({path: 'big.txt'})).text" }],
      ["js_run", { code: "for (let i = 0; i < 20000; i++) print('line', i); return Array.from({length: 20000}, (_, i) => ({i}))" }],
      ["search_text", { pattern: "0123" }],
    ]) {
      const { result } = await client.call(name, args);
      const chars = [...result.content[0].text].length + [...JSON.stringify(result.structuredContent ?? "")].length;
      assert.ok(chars <= 2 * max + 2048, `${name}: ${chars}`);
    }
  }));

test("a duplicate id is refused while the first runs", () =>
  withServer([], async (client) => {
    client.send({ id: "d", method: "tools/call", params: { name: "js_run", arguments: { code: "while(true){}", timeoutMs: 30_000 } } });
    client.send({ id: "d", method: "tools/call", params: { name: "js_run", arguments: { code: "1" } } });
    await until("the refusal", () => client.strays.some((m) => m.id === "d" && m.error?.code === -32600));
    client.send({ method: "notifications/cancelled", params: { requestId: "d" } });
    assert.deepEqual((await client.request("ping")).result, {});
  }));

test("at end of input it ends within a second, with its children", async () => {
  const client = new McpClient(home);
  await client.initialize();
  client.send({ id: "x", method: "tools/call", params: { name: "js_run", arguments: { code: "while(true){}" } } });
  const children = await until("the run", () => {
    const c = childrenOf(client.process.pid);
    return c.length > AT_REST && c;
  });
  const start = performance.now();
  await client.close();
  assert.ok(performance.now() - start < 20_000);
  await until("no child", () => children.every((pid) => !isAlive(pid)));
});

test("a killed server leaves no process", async () => {
  const client = new McpClient(home, ["--allow-process"]);
  await client.initialize();
  client.send({ id: "x", method: "tools/call", params: { name: "js_run", arguments: { code: "await tools.shell({command: 'exec sleep 1000'})" } } });
  const tree = () => {
    const all = [];
    for (const queue = [client.process.pid]; queue.length; ) {
      const c = childrenOf(queue.pop());
      all.push(...c);
      queue.push(...c);
    }
    return all;
  };
  const pids = await until("zygote, spare, run, supervisor and sleep", () => {
    const t = tree();
    return t.length >= AT_REST + 3 && t;
  });
  client.process.kill("SIGKILL");
  await soon(client.exit, "exit");
  await until("no process", () => pids.every((pid) => !isAlive(pid)));
});

test("a client that closes its reading side ends the server", async () => {
  const client = new McpClient(home);
  await client.initialize();
  client.process.stdout.destroy();
  client.send({ id: 1, method: "ping" });
  client.send({ id: 2, method: "ping" });
  await soon(client.exit, "exit after EPIPE");
});

test("a broken user config is told in every answer, and the server starts", async () => {
  const { mkdirSync, writeFileSync } = await import("node:fs");
  const other = makeHome();
  try {
    mkdirSync(other.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    writeFileSync(`${other.env.ALISIO_CONFIG_HOME}/config.json`, '{"forge": {"javascript": {"timeoutMS": 5}}}');
    const client = new McpClient(other);
    await client.initialize();
    const { result } = await client.call("js_run", { code: "1" });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /CONFIG_INVALID/);
    assert.match(result.content[0].text, /timeoutMs/);
    await client.close();
  } finally {
    other.remove();
  }
});

test("a run whose value did not fit is linked, and read whole as a resource", () =>
  withServer([], async (client) => {
    const { result } = await client.call("js_run", { code: "return Array.from({length: 20000}, (_, i) => 'row ' + i)" });
    assert.equal(result.structuredContent.truncated, true);
    const link = result.content.find((c) => c.type === "resource_link");
    assert.equal(link.uri, `run://${result.structuredContent.executionId}`);
    const listed = (await client.request("resources/list")).result.resources;
    assert.equal(listed[0].uri, link.uri);
    const read = (await client.request("resources/read", { uri: link.uri })).result.contents[0];
    assert.equal(read.mimeType, "application/json");
    const record = JSON.parse(read.text);
    assert.equal(record.value[19999], "row 19999");
    assert.equal((await client.request("resources/read", { uri: "run://nothing" })).error.code, -32002);
  }));

test("1,000 requests in flight, and each is cancelled", () =>
  withServer(["--allow-process", "--expose", "process"], async (client) => {
    for (let i = 0; i < 1000; i++)
      client.send({ id: `c${i}`, method: "tools/call", params: { name: "shell", arguments: { command: "exec sleep 1000" } } });
    await until("the first", () => childrenOf(client.process.pid).length > 0);
    for (let i = 0; i < 1000; i++) client.send({ method: "notifications/cancelled", params: { requestId: `c${i}` } });
    assert.deepEqual((await client.request("ping")).result, {});
    await until("the end of all", () => childrenOf(client.process.pid).length <= AT_REST);
    assert.deepEqual(client.lines.filter((l) => /"id":"c\d/.test(l)), []);
  }));

const residentKiB = (pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

test("a client that never reads is not answered without bound", async () => {
  const other = makeHome({ "big.txt": "0123456789abcdef\n".repeat(2_000) });
  const child = spawn(alisio, ["mcp", "--expose", "files"], { cwd: other.workspace, env: other.env, stdio: ["pipe", "pipe", "ignore"] });
  const exit = new Promise((resolve) => child.on("exit", resolve));
  child.stdin.on("error", () => {});
  let taken = 0;
  const ask = (id) => JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "read_file", arguments: { path: "big.txt" } } }) + "\n";
  for (let i = 0; i < 20_000; i++) child.stdin.write(ask(i), () => taken++);
  // It takes no more requests than it may owe answers for: writing to it stalls.
  let before = -1;
  await until("a standstill", async () => {
    const stands = taken === before && taken > 0;
    before = taken;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return stands;
  });
  assert.ok(taken < 20_000, `${taken} requests were taken`);
  if (!process.env.ASAN_OPTIONS) assert.ok(residentKiB(child.pid) < 100_000, `${residentKiB(child.pid)} kB`);
  child.stdout.destroy();
  child.stdin.destroy();
  await soon(exit, "exit");
  other.remove();
});

test("a server whose parent was killed ends, although its input stays open", async () => {
  const script = 'exec 3<&0; "$0" mcp <&3 & echo $!; wait';
  const parent = spawn("/bin/sh", ["-c", script, alisio], { cwd: home.workspace, env: home.env, stdio: ["pipe", "pipe", "ignore"] });
  let said = "";
  parent.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  const pid = Number(await until("its pid", () => said.includes("\n") && said.trim()));
  parent.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await until("an answer", () => said.includes('"result"'));
  parent.kill("SIGKILL");
  await until("the end of the server", () => !isAlive(pid));
});
