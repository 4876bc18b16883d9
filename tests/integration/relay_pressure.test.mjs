// alisio mcp --expose upstream between a server that says too much and a client that does not read: what must arrive does.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { McpClient, makeHome, root, soon, until } from "./lib.mjs";

const META = "io.modelcontextprotocol/";
const modern = (capabilities = {}, more = {}) => ({
  _meta: {
    [`${META}protocolVersion`]: "2026-07-28",
    [`${META}clientCapabilities`]: capabilities,
    [`${META}clientInfo`]: { name: "test", version: "1" },
    ...more,
  },
});

let open = [];
afterEach(async () => {
  for (const { client, home } of open) {
    client.process.stdout.resume();
    client.process.kill("SIGKILL");
    await client.exit;
    home.remove();
  }
  open = [];
});

class Client extends McpClient {
  asked = [];

  take(line) {
    const message = JSON.parse(line);
    if (message.method === undefined || message.id === undefined) return super.take(line);
    this.asked.push(message);
    this.onAsked?.(message);
  }

  async older(capabilities = {}) {
    const clientInfo = { name: "test", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
    this.send({ method: "notifications/initialized" });
  }
}

function start(what, { servers = ["pushy"], args = ["--expose", "upstream", "--allow-mcp"], env = {} } = {}) {
  const home = makeHome();
  const config = join(home.dir, "servers.json");
  const server = { command: process.execPath, args: [join(root, "tests/fixtures/pushy.mjs"), what] };
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(servers.map((name) => [name, server])) }));
  const client = new Client(home, [...args, "--mcp-config", config], { env: { ALISIO_LOG_LEVEL: "warn", ...env } });
  open.push({ client, home });
  client.exit.then(() => (client.gone = true));
  return client;
}

const stuck = (client) =>
  until("the client's queue", () => {
    assert.ok(!client.gone, `it has ended: ${client.stderr}`);
    return /does not read/.test(client.stderr);
  });

test("a client that does not read misses logs, and gets its answer when it reads again", async () => {
  const client = start("logs");
  await client.older();
  client.process.stdout.pause();
  const answer = client.call("mcp_pushy_go", {});
  await stuck(client);
  client.process.stdout.resume();
  assert.equal((await answer).result.content[0].text, "logged");
  assert.deepEqual((await client.close()).code, 0);
});

test("listeners that do not read end nothing", async () => {
  const client = start("updates");
  await client.older();
  for (const id of ["a", "b", "c", "d"])
    client.send({ id, method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: ["x://1"] }, ...modern() } });
  const acknowledged = () => client.notifications.filter((n) => /acknowledged/.test(n.method)).length;
  await until("all listen", () => acknowledged() === 4);
  await client.request("resources/list", {});
  client.process.stdout.pause();
  const answer = client.call("mcp_pushy_go", {});
  await stuck(client);
  client.process.stdout.resume();
  assert.equal((await answer).result.content[0].text, "updated");
});

test("the end of input is seen while nobody reads the output", async () => {
  const client = start("long");
  await client.older();
  client.process.stdout.pause();
  const told = client.process.stdout;
  client.send({ id: "long", method: "tools/call", params: { name: "mcp_pushy_go", arguments: {} } });
  await until("output that waits", () => told.readableLength > 0 || client.gone);
  client.process.stdin.end();
  assert.equal((await soon(client.exit, "the end of the server", 10_000)).code, 0);
});

test("subscriptions that a server refuses are not kept", async () => {
  const client = start("long");
  await client.older();
  for (let batch = 0; batch < 2; batch++) {
    const uris = Array.from({ length: 600 }, (_, i) => `no://${batch}/${i}`);
    const refused = await Promise.all(uris.map((uri) => client.request("resources/subscribe", { uri })));
    assert.ok(refused.every((answer) => answer.error));
  }
  assert.deepEqual((await client.request("resources/subscribe", { uri: "x://1" })).result, {});
});

test("questions of a server leave room for approvals", async () => {
  const client = start("questions", { args: ["--expose", "upstream,process", "--allow-mcp"] });
  await client.older({ elicitation: {} });
  await client.call("mcp_pushy_go", {});
  await until("its questions", () => client.asked.length >= 32);
  const approval = new Promise((resolve) => (client.onAsked = (m) => /run_process/.test(m.params.message) && resolve(m)));
  const answer = client.call("run_process", { command: "true" });
  client.send({ id: (await soon(approval, "the approval")).id, result: { action: "accept", content: { decision: "once" } } });
  assert.equal((await answer).result.isError, false);
});

test("an approval counts once, servers behind us or not", async () => {
  const client = start("long", { args: ["--expose", "upstream,process", "--allow-mcp"] });
  const params = { name: "run_process", arguments: { command: "/bin/sh", args: ["-c", "echo ran >> f"] }, ...modern({ elicitation: {} }) };
  const { result } = await client.request("tools/call", params);
  const retry = { ...params, requestState: result.requestState, inputResponses: { approval: { action: "accept", content: { decision: "once" } } } };
  assert.equal((await client.request("tools/call", retry)).result.isError, false);
  assert.equal((await client.request("tools/call", retry)).error.code, -32602);
  assert.equal((await client.request("tools/call", { ...retry, requestState: "never given out" })).error.code, -32602);
  assert.equal(readFileSync(join(open[0].home.workspace, "f"), "utf8"), "ran\n");
});

test("logs that are longer than a stream takes end no request", async () => {
  const client = start("lists", {
    servers: ["one", "two"],
    args: ["--http", "0", "--expose", "upstream", "--allow-mcp"],
    env: { ALISIO_MCP_TOKEN: "a-token-for-tests-0123456789" },
  });
  const port = await until("its port", () => client.stderr.match(/127\.0\.0\.1:(\d+)/)?.[1]);
  const body = { jsonrpc: "2.0", id: 1, method: "resources/list", params: modern({}, { [`${META}logLevel`]: "debug" }) };
  const headers = {
    Authorization: "Bearer a-token-for-tests-0123456789",
    Accept: "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "resources/list",
  };
  const text = await soon(
    new Promise((resolve, reject) => {
      const request = http.request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, async (answer) => {
        let all = "";
        answer.on("error", reject).setEncoding("utf8").on("data", (piece) => (all += piece));
        answer.on("close", () => resolve(all));
      });
      request.on("error", reject).end(JSON.stringify(body));
    }),
    "the answer",
  );
  assert.match(text, /"resources":\[/);
  assert.ok(!client.gone);
});
