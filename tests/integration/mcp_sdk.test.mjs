// The official TypeScript SDK (v1) as the client: lists, calls, progress, cancel.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { AT_REST, alisio, childrenOf, makeHome, until } from "./lib.mjs";

let home, client, transport;
before(async () => {
  home = makeHome({ "data.csv": "a,b\n1,2\n3,4\n" });
  transport = new StdioClientTransport({ command: alisio, args: ["mcp", "--expose", "files"], cwd: home.workspace, env: home.env });
  client = new Client({ name: "sdk-test", version: "1.0.0" });
  await client.connect(transport);
});
after(async () => {
  await client.close();
  home.remove();
});

test("it connects and lists the tools", async () => {
  assert.equal(client.getServerVersion().name, "alisio");
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === "js_run"));
  assert.ok(tools.some((t) => t.name === "read_file"));
});

test("every exposed tool's answer passes the SDK's check against its output schema", async () => {
  for (const [name, args] of [
    ["js_run", { code: "return {rows: (await tools.read_file({path: 'data.csv'})).text.split('\\n').length}" }],
    ["js_run", { code: "throw new Error('no')" }],
    ["forge_guide", { topic: "overview" }],
    ["read_file", { path: "data.csv" }],
    ["read_files", { paths: ["data.csv", "missing"] }],
    ["list_files", {}],
    ["search_text", { pattern: "3" }],
    ["git_status", {}],
  ]) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.content[0].type, "text", name);
  }
});

test("progress arrives", async () => {
  const seen = [];
  await client.callTool(
    { name: "js_run", arguments: { code: "for (let i = 1; i <= 3; i++) { progress({completed: i, total: 3}); await tools.list_files({}) }" } },
    undefined,
    { onprogress: (p) => seen.push(p) },
  );
  // The SDK drops notifications that it reads together with the answer, so the last one may be missing here.
  assert.ok(seen.length >= 1);
  for (const p of seen) assert.equal(p.total, 3);
});

test("an aborted signal ends while(true){}", async () => {
  const abort = new AbortController();
  const call = client.callTool({ name: "js_run", arguments: { code: "while(true){}" } }, undefined, { signal: abort.signal });
  await until("the run", () => childrenOf(transport.pid).length > AT_REST);
  abort.abort("enough");
  await assert.rejects(call);
  await until("no run", () => childrenOf(transport.pid).length <= AT_REST);
  await client.ping();
});
