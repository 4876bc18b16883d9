// `alisio mcp --http` and --socket by bare HTTP: who is let in, sessions, streams that are taken up again, limits, the end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { alisio, childrenOf, makeHome, run, runJson, soon, until, AT_REST } from "./lib.mjs";

const TOKEN = "a-token-for-tests-0123456789";
const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";

// A server and where it is. url is without a path.
async function serve(home, args = ["--http", "0"], env = { ALISIO_MCP_TOKEN: TOKEN }) {
  const child = spawn(alisio, ["mcp", "--expose", "files", ...args], {
    cwd: home.workspace,
    env: { ...home.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const s = { child, home, stderr: "", stdout: "", token: env.ALISIO_MCP_TOKEN };
  s.exit = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal })));
  child.stdout.setEncoding("utf8").on("data", (text) => (s.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (s.stderr += text));
  await until("the server's address", () => /MCP on .*\/mcp\n[^]*\n/.test(s.stderr) || child.exitCode !== null);
  s.port = Number(s.stderr.match(/127\.0\.0\.1:(\d+)\/mcp/)?.[1]);
  s.stop = async () => {
    child.kill("SIGTERM");
    return soon(s.exit, "the end of the server");
  };
  return s;
}

// One request; the answer's body may be read as a whole or event by event.
function ask(s, { method = "POST", path = "/mcp", headers = {}, body, agent, socketPath } = {}) {
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const all = {
    Authorization: `Bearer ${s.token}`,
    ...(method === "POST" ? { "Content-Type": "application/json", Accept: "application/json, text/event-stream" } : {}),
    ...headers,
  };
  for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
  return soon(
    new Promise((resolve, reject) => {
      const at = socketPath ? { socketPath } : { host: "127.0.0.1", port: s.port };
      const req = http.request({ ...at, method, path, headers: all, agent: agent ?? false }, (res) => {
        res.setEncoding("utf8");
        const answer = { status: res.statusCode, headers: res.headers, events: [], text: "", res, req };
        answer.end = new Promise((done) => res.on("close", done));
        res.on("error", () => {});
        let rest = "";
        res.on("data", (piece) => {
          answer.text += piece;
          rest += piece;
          for (let n; (n = rest.indexOf("\n\n")) >= 0; rest = rest.slice(n + 2)) takeEvent(answer, rest.slice(0, n));
        });
        resolve(answer);
      });
      req.on("error", reject);
      req.end(text);
    }),
    `${method} ${path}`,
  );
}

function takeEvent(answer, block) {
  const event = { data: "" };
  for (const line of block.split("\n")) {
    const [, name, value] = line.match(/^([a-z]*): ?(.*)$/) ?? [];
    if (name) event[name] = value;
  }
  if (event.data) event.message = JSON.parse(event.data);
  answer.events.push(event);
}

async function whole(answer) {
  await soon(answer.end, "the end of an answer");
  if (/^application\/json/.test(answer.headers["content-type"] ?? "")) answer.json = JSON.parse(answer.text);
  answer.messages = answer.json ? [answer.json] : answer.events.filter((e) => e.message).map((e) => e.message);
  answer.last = answer.messages.at(-1);
  return answer;
}

const initialize = (version = "2025-11-25") => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: "bare", version: "1" } },
});

async function openSession(s, version = "2025-11-25") {
  const answer = await whole(await ask(s, { body: initialize(version) }));
  assert.equal(answer.status, 200);
  assert.equal(answer.last.result.protocolVersion, version);
  const id = answer.headers["mcp-session-id"];
  assert.match(id, /^[\x21-\x7e]{22,}$/);
  const headers = { "Mcp-Session-Id": id, "MCP-Protocol-Version": version };
  const told = await whole(await ask(s, { headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } }));
  assert.equal(told.status, 202);
  assert.equal(told.text, "");
  return { id, headers };
}

const call = (id, name, args, meta) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...(meta ? { _meta: meta } : {}) },
});
const js = (id, code, meta) => call(id, "js_run", { code }, meta);
// Waits for a file that the test writes; says how often it has looked.
const waitFor = (name) =>
  `for (let i = 1;; i++) { progress({completed: i, total: 1e6}); const r = await tools.list_files({glob: "${name}"}); if (r.files.length) return "found" }`;

const allRunsEnded = (home) => runJson(home, ["runs", "list"]).json.structured.runs.every((r) => r.endedAt);

// A request of the modern era, with the headers that belong to it.
function modern(method, params = {}, { id = 1, headers = {}, meta = {} } = {}) {
  const body = {
    jsonrpc: "2.0",
    id,
    method,
    params: {
      ...params,
      _meta: { [`${META}protocolVersion`]: MODERN, [`${META}clientCapabilities`]: {}, [`${META}clientInfo`]: { name: "bare", version: "1" }, ...meta },
    },
  };
  const name = params.name ?? params.uri;
  const named = name && /^(tools\/call|resources\/read|prompts\/get)$/.test(method) ? { "Mcp-Name": name } : {};
  return { body, headers: { "MCP-Protocol-Version": MODERN, "Mcp-Method": method, ...named, ...headers } };
}

let home, s;
before(async () => {
  home = makeHome({ "data.csv": "a,b\n1,2\n" });
  s = await serve(home);
});
after(async () => {
  const { code } = await s.stop();
  assert.equal(s.stdout, "", "standard output carries nothing");
  assert.equal(code, 143);
  home.remove();
});

test("foreign Host and Origin are refused before the token is looked at", async () => {
  for (const headers of [
    { Host: "evil.example" },
    { Host: "localhost.evil.example" },
    { Host: "127.0.0.1.evil.example:80" },
    { Host: "localhost:80:80" },
    { Host: "[::1].evil.example" },
    { Origin: "http://evil.example" },
    { Origin: "null" },
    { Origin: "http://localhost@evil.example" },
    { Origin: "http://localhost.evil.example" },
    { Origin: "http://localhost/../evil" },
    { Origin: "file://localhost" },
  ]) {
    const answer = await whole(await ask(s, { headers: { Authorization: undefined, ...headers }, body: initialize() }));
    assert.equal(answer.status, 403, JSON.stringify(headers));
    assert.equal(answer.json.error.data.code, "FORBIDDEN_ORIGIN");
    assert.ok(!("id" in answer.json));
  }
  for (const headers of [{ Host: "LOCALHOST" }, { Host: "[::1]:1234" }, { Origin: "http://localhost:5173" }, { Origin: "https://127.0.0.1" }]) {
    const answer = await whole(await ask(s, { headers, body: initialize() }));
    assert.equal(answer.status, 200, JSON.stringify(headers));
    assert.ok(!("access-control-allow-origin" in answer.headers));
  }
});

test("without the token nothing is told", async () => {
  for (const value of [undefined, "", "Bearer", "Bearer ", `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, `Basic ${TOKEN}`, TOKEN]) {
    for (const [method, path] of [["POST", "/mcp"], ["GET", "/mcp"], ["OPTIONS", "/mcp"], ["GET", "/nothing"]]) {
      const answer = await whole(await ask(s, { method, path, headers: { Authorization: value }, ...(method === "POST" ? { body: initialize() } : {}) }));
      assert.equal(answer.status, 401, `${method} ${value}`);
      assert.match(answer.headers["www-authenticate"], /^Bearer/);
      assert.equal(answer.json.error.data.code, "UNAUTHORIZED");
      assert.ok(!answer.text.includes(TOKEN));
    }
  }
});

test("what is no MCP request gets the status that says why", async () => {
  const { headers } = await openSession(s);
  const expect = async (status, request) => {
    const answer = await whole(await ask(s, request));
    assert.equal(answer.status, status, JSON.stringify(request).slice(0, 200) + answer.text);
    return answer;
  };
  await expect(404, { path: "/other", body: initialize() });
  await expect(405, { method: "PUT", body: initialize() });
  await expect(405, { method: "OPTIONS" });
  await expect(415, { headers: { "Content-Type": "text/plain" }, body: initialize() });
  await expect(406, { headers: { Accept: "text/html" }, body: initialize() });
  await expect(406, { method: "GET", headers: { ...headers, Accept: "application/json" } });
  const broken = await expect(400, { headers, body: "{" });
  assert.equal(broken.json.error.code, -32700);
  assert.equal((await expect(400, { headers, body: "[]" })).json.error.code, -32600);
  await expect(400, { headers, body: '{"jsonrpc":"2.0","id":1,"method":5}' });
  await expect(400, { body: js(1, "1") }); // no session
  await expect(400, { headers: { ...headers, "MCP-Protocol-Version": "2024-01-01" }, body: js(1, "1") });
  await expect(404, { headers: { ...headers, "Mcp-Session-Id": "0".repeat(32) }, body: js(1, "1") });
  await expect(413, { headers, body: `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(17 << 20)}"}` });
  await expect(200, { headers: { ...headers, "MCP-Protocol-Version": undefined }, body: js(1, "1") });
});

test("an unknown session is 404, and a client begins anew", async () => {
  const first = await openSession(s);
  const gone = await whole(await ask(s, { method: "DELETE", headers: first.headers }));
  assert.equal(gone.status, 204);
  const late = await whole(await ask(s, { headers: first.headers, body: js(1, "1") }));
  assert.equal(late.status, 404);
  const second = await openSession(s);
  assert.notEqual(second.id, first.id);
  const answer = await whole(await ask(s, { headers: second.headers, body: js(1, "return 6 * 7") }));
  assert.equal(answer.last.result.structuredContent.value, 42);
});

test("a client that takes JSON alone gets one object", async () => {
  const init = await whole(await ask(s, { headers: { Accept: "application/json" }, body: initialize() }));
  assert.match(init.headers["content-type"], /^application\/json/);
  const headers = { Accept: "application/json", "Mcp-Session-Id": init.headers["mcp-session-id"] };
  const answer = await whole(await ask(s, { headers, body: js(1, "progress('half'); return 1", { progressToken: 1 }) }));
  assert.equal(answer.json.id, 1);
  assert.equal(answer.json.result.structuredContent.value, 1);
});

test("streams begin with an event without data where the client knows what that is", async () => {
  for (const [version, primed] of [["2025-11-25", true], ["2025-06-18", false], ["2025-03-26", false]]) {
    const { headers } = await openSession(s, version);
    const answer = await whole(await ask(s, { headers, body: js(1, "progress('half'); return 1", { progressToken: "p" }) }));
    assert.match(answer.headers["content-type"], /^text\/event-stream/);
    assert.equal(answer.headers["x-accel-buffering"], "no");
    assert.equal(answer.events[0].data === "", primed);
    if (primed) assert.ok(answer.events[0].id && Number(answer.events[0].retry) > 0);
    assert.ok(answer.events.every((e) => e.id));
    assert.equal(new Set(answer.events.map((e) => e.id)).size, answer.events.length);
    assert.ok(answer.messages.some((m) => m.method === "notifications/progress" && m.params.progressToken === "p"));
    assert.equal(answer.last.id, 1);
  }
});

test("a dropped connection cancels nothing, and its stream goes on without loss or doubling", async () => {
  const { headers } = await openSession(s);
  const first = await ask(s, { headers, body: js(7, waitFor("drop-1"), { progressToken: "t" }) });
  await until("progress", () => first.events.filter((e) => e.message).length >= 3);
  first.res.destroy();
  const seen = first.events.filter((e) => e.message);
  const last = first.events.at(-1).id;
  writeFileSync(join(home.workspace, "drop-1"), "x");
  const get = { method: "GET", headers: { ...headers, Accept: "text/event-stream", "Last-Event-ID": last } };
  const second = await whole(await ask(s, get));
  assert.equal(second.status, 200);
  assert.equal(second.last.id, 7);
  assert.equal(second.last.result.structuredContent.value, "found");
  const steps = [...seen, ...second.events.filter((e) => e.message)].filter((e) => e.message.method).map((e) => e.message.params.progress);
  assert.deepEqual(steps, [...new Set(steps)].sort((a, b) => a - b), "each progress once, in order");
  const ids = [...first.events, ...second.events].map((e) => Number(e.id.split("-")[1]));
  assert.deepEqual(ids, ids.map((_, i) => ids[0] + i), "no event is missing");
  // The same once more: what was delivered is kept for a while.
  const again = await whole(await ask(s, get));
  assert.deepEqual(again.events.map((e) => e.id), second.events.map((e) => e.id));
  // From an earlier event on, and of no other stream.
  const earlier = await whole(await ask(s, { ...get, headers: { ...get.headers, "Last-Event-ID": first.events[0].id } }));
  assert.ok(earlier.events.length >= second.events.length);
  for (const bad of ["", "x", "1", "99999-1", "1-999999999", "-", "1-1-1"]) {
    const answer = await whole(await ask(s, { ...get, headers: { ...get.headers, "Last-Event-ID": bad } }));
    assert.ok([400, 410].includes(answer.status), `${bad}: ${answer.status}`);
  }
});

test("an answer waits for a client that comes back late", async () => {
  const { headers } = await openSession(s);
  const first = await ask(s, { headers, body: js(1, waitFor("late-1")) });
  await until("the first event", () => first.events.length > 0);
  first.res.destroy();
  writeFileSync(join(home.workspace, "late-1"), "x");
  // The run has ended when the workspace's journal says so.
  await until("the end of the run", () => allRunsEnded(home));
  const second = await whole(
    await ask(s, { method: "GET", headers: { ...headers, Accept: "text/event-stream", "Last-Event-ID": first.events[0].id } }),
  );
  assert.equal(second.last.result.structuredContent.value, "found");
});

test("notifications/cancelled ends a request, and its stream without an answer", async () => {
  const { headers } = await openSession(s);
  const running = await ask(s, { headers, body: js("c1", "while(true){}") });
  await until("the run", () => childrenOf(s.child.pid).length > AT_REST);
  const told = await whole(
    await ask(s, { headers, body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c1" } } }),
  );
  assert.equal(told.status, 202);
  await whole(running);
  assert.equal(running.messages.length, 0);
  await until("no run", () => childrenOf(s.child.pid).length <= AT_REST);
});

test("DELETE ends a session with what runs in it", async () => {
  const { headers } = await openSession(s);
  const running = await ask(s, { headers, body: js(1, "while(true){}") });
  const lost = await ask(s, { method: "GET", headers: { ...headers, Accept: "text/event-stream" } });
  assert.equal(lost.status, 200);
  // A client that asks again has lost the first, whatever we know of it.
  const general = await ask(s, { method: "GET", headers: { ...headers, Accept: "text/event-stream" } });
  assert.equal(general.status, 200);
  await whole(lost);
  await until("the run", () => childrenOf(s.child.pid).length > AT_REST);
  assert.equal((await whole(await ask(s, { method: "DELETE", headers }))).status, 204);
  await whole(running);
  await whole(general);
  await until("no run", () => childrenOf(s.child.pid).length <= AT_REST);
});

test("1,000 requests at once are answered, each with its own answer", async () => {
  const { headers } = await openSession(s, "2025-06-18");
  const answers = await Promise.all(
    Array.from({ length: 1000 }, async (_, i) => whole(await ask(s, { headers, body: call(i, "forge_guide", { topic: i % 2 ? "overview" : "js_run" }) }))),
  );
  for (const [i, answer] of answers.entries()) {
    assert.equal(answer.status, 200);
    assert.equal(answer.last.id, i);
    assert.ok(answer.last.result);
  }
});

test("a reader that takes nothing holds nobody up, and can come back for the answer", async () => {
  const { headers } = await openSession(s);
  const code = `${waitFor("slow-1").replace('return "found"', 'return "x".repeat(5000)')}`;
  const body = JSON.stringify(js(1, code, { progressToken: "slow" }));
  const socket = net.connect(s.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json, text/event-stream\r\nMcp-Session-Id: ${headers["Mcp-Session-Id"]}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  let head = "";
  await soon(
    new Promise((resolve) =>
      socket.on("data", (piece) => {
        head += piece;
        if (/\nid: /.test(head)) resolve(socket.pause());
      }),
    ),
    "the first event",
  );
  const id = head.match(/\nid: (\S+)/)[1];
  const answer = await whole(await ask(s, { headers, body: js(2, "return 1") })); // others are served meanwhile
  assert.equal(answer.last.result.structuredContent.value, 1);
  writeFileSync(join(home.workspace, "slow-1"), "x");
  await until("the end of the run", () => allRunsEnded(home));
  socket.destroy();
  const resumed = await whole(await ask(s, { method: "GET", headers: { ...headers, Accept: "text/event-stream", "Last-Event-ID": id } }));
  assert.equal(resumed.last.id, 1);
  assert.equal(resumed.last.result.structuredContent.value.length, 5000);
});

test("the modern era needs no session", async () => {
  const found = await whole(await ask(s, modern("server/discover")));
  assert.equal(found.status, 200);
  assert.ok(found.last.result.supportedVersions.includes(MODERN));
  assert.ok(!("mcp-session-id" in found.headers));
  const answer = await whole(await ask(s, modern("tools/call", { name: "js_run", arguments: { code: "return 6 * 7" } })));
  assert.equal(answer.last.result.structuredContent.value, 42);
  assert.equal(answer.last.result.resultType, "complete");
  const told = await whole(
    await ask(s, modern("tools/call", { name: "js_run", arguments: { code: "progress('half'); return 1" } }, { meta: { progressToken: 9 } })),
  );
  assert.match(told.headers["content-type"], /^text\/event-stream/);
  assert.ok(told.messages.some((m) => m.method === "notifications/progress"));
  assert.ok(told.events.every((e) => !e.id), "there is nothing to come back to");
  assert.equal((await whole(await ask(s, { method: "GET", headers: { "MCP-Protocol-Version": MODERN } }))).status, 405);
});

test("modern headers must say what the body says", async () => {
  const list = modern("tools/list");
  const guide = modern("tools/call", { name: "forge_guide", arguments: { topic: "overview" } });
  const expect = async (status, code, request, headers) => {
    const answer = await whole(await ask(s, { ...request, headers: { ...request.headers, ...headers } }));
    assert.equal(answer.status, status, `${JSON.stringify(headers)} ${answer.text.slice(0, 300)}`);
    assert.equal(answer.last.error?.code, code, answer.text.slice(0, 300));
    assert.equal(answer.last.id, request.body.id);
    return answer;
  };
  await expect(200, undefined, list, {});
  await expect(400, -32020, list, { "MCP-Protocol-Version": undefined });
  await expect(400, -32020, list, { "MCP-Protocol-Version": "2025-11-25" });
  await expect(400, -32020, list, { "Mcp-Method": undefined });
  await expect(400, -32020, list, { "Mcp-Method": "TOOLS/LIST" });
  await expect(400, -32020, guide, { "Mcp-Name": undefined });
  await expect(400, -32020, guide, { "Mcp-Name": "js_run" });
  await expect(200, undefined, guide, { "Mcp-Name": "  forge_guide  " });
  await expect(200, undefined, guide, { "Mcp-Name": `=?base64?${Buffer.from("forge_guide").toString("base64")}?=` });
  await expect(400, -32020, guide, { "Mcp-Name": "=?base64?Zm9yZ2VfZ3VpZGU?=" });
  await expect(400, -32020, guide, { "Mcp-Name": "=?base64?Zm9y!!!fZ3VpZGU=?=" });
  const other = modern("tools/list", {}, { meta: { [`${META}protocolVersion`]: "2099-01-01" } });
  const unsupported = await expect(400, -32022, other, { "MCP-Protocol-Version": "2099-01-01" });
  assert.deepEqual(unsupported.json.error.data.supported.includes(MODERN), true);
  assert.equal(unsupported.json.error.data.requested, "2099-01-01");
  await expect(404, -32601, modern("no/such"), {});
  const bare = { body: { jsonrpc: "2.0", id: 5, method: "server/discover", params: {} }, headers: { "MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover" } };
  await expect(400, -32602, bare, {});
  const half = modern("server/discover", {}, { meta: { [`${META}clientCapabilities`]: undefined } });
  await expect(400, -32602, half, {});
  const response = await whole(await ask(s, { headers: { "MCP-Protocol-Version": MODERN }, body: { jsonrpc: "2.0", id: 1, result: {} } }));
  assert.equal(response.status, 400);
});

test("closing a modern request's connection cancels it", async () => {
  for (const progressToken of [undefined, "p"]) {
    const code = progressToken ? "progress('on'); while(true){}" : "while(true){}";
    const request = modern("tools/call", { name: "js_run", arguments: { code } }, { meta: { progressToken } });
    const socket = net.connect(s.port, "127.0.0.1");
    socket.on("error", () => {});
    const text = JSON.stringify(request.body);
    const head = Object.entries({ Host: "localhost", Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", "Content-Length": text.length, ...request.headers });
    socket.write(`POST / HTTP/1.1\r\n${head.map(([k, v]) => `${k}: ${v}\r\n`).join("")}\r\n${text}`);
    await until("the run", () => childrenOf(s.child.pid).length > AT_REST);
    socket.destroy();
    await until("no run", () => childrenOf(s.child.pid).length <= AT_REST);
  }
});

test("subscriptions/listen keeps its stream open", async () => {
  const answer = await ask(s, modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "sub" }));
  assert.match(answer.headers["content-type"], /^text\/event-stream/);
  await until("the acknowledgement", () => answer.events.length);
  assert.equal(answer.events[0].message.method, "notifications/subscriptions/acknowledged");
  assert.equal(answer.events[0].message.params._meta[`${META}subscriptionId`], "sub");
  answer.res.destroy();
  const json = await whole(await ask(s, { ...modern("subscriptions/listen", { notifications: {} }), headers: { ...modern("subscriptions/listen").headers, Accept: "application/json" } }));
  assert.equal(json.status, 406);
});

test("the SDK's client works, and takes its session up again after it was lost", async () => {
  const connect = async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${s.port}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } },
    });
    const client = new Client({ name: "sdk-http", version: "1.0.0" });
    await client.connect(transport);
    return { client, transport };
  };
  const { client, transport } = await connect();
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === "js_run"));
  const seen = [];
  const result = await client.callTool({ name: "js_run", arguments: { code: "progress({completed: 1, total: 2}); await tools.list_files({}); return 3" } }, undefined, {
    onprogress: (p) => seen.push(p),
  });
  assert.equal(result.structuredContent.value, 3);
  assert.ok(seen.length >= 1);
  const abort = new AbortController();
  const endless = client.callTool({ name: "js_run", arguments: { code: "while(true){}" } }, undefined, { signal: abort.signal });
  await until("the run", () => childrenOf(s.child.pid).length > AT_REST);
  abort.abort();
  await assert.rejects(endless);
  await until("no run", () => childrenOf(s.child.pid).length <= AT_REST);
  await transport.terminateSession();
  await assert.rejects(client.listTools());
  await client.close();
  const again = await connect();
  assert.ok((await again.client.listTools()).tools.length);
  await again.client.close();
});

test("an idle server with open streams uses no processor time", async () => {
  const { headers } = await openSession(s);
  const general = await ask(s, { method: "GET", headers: { ...headers, Accept: "text/event-stream" } });
  const listening = await ask(s, modern("subscriptions/listen", { notifications: {} }));
  await until("the acknowledgement", () => listening.events.length);
  const ticks = () => {
    const rest = readFileSync(`/proc/${s.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return Number(rest[11]) + Number(rest[12]);
  };
  const start = ticks();
  const end = performance.now() + 500;
  await until("half a second", () => performance.now() > end);
  assert.ok(ticks() - start <= 5, `${ticks() - start} ticks`);
  general.res.destroy();
  listening.res.destroy();
});

test("the server ends within a second, whatever is open", async () => {
  const other = makeHome();
  const t = await serve(other);
  const { headers } = await openSession(t);
  await ask(t, { method: "GET", headers: { ...headers, Accept: "text/event-stream" } });
  await ask(t, { headers, body: js(1, "while(true){}") });
  const listening = await ask(t, modern("subscriptions/listen", { notifications: {} }));
  net.connect(t.port, "127.0.0.1").on("error", () => {}); // says nothing
  await until("the run", () => childrenOf(t.child.pid).length > AT_REST);
  const start = performance.now();
  const { code } = await t.stop();
  assert.equal(code, 143);
  assert.ok(performance.now() - start < 2000, `${performance.now() - start} ms`);
  await whole(listening);
  assert.ok(listening.last.result, "a subscription is told that it is over");
  other.remove();
});

test("a Unix socket serves the same, to its owner alone", async () => {
  const other = makeHome();
  const path = join(other.dir, "mcp.sock");
  const t = await serve(other, ["--socket", path]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const answer = await whole(await ask(t, { socketPath: path, headers: { Host: "localhost" }, body: initialize() }));
  assert.equal(answer.status, 200);
  const foreign = await whole(await ask(t, { socketPath: path, headers: { Host: "evil.example" }, body: initialize() }));
  assert.equal(foreign.status, 403);
  await t.stop();
  assert.throws(() => statSync(path));
  other.remove();
});

test("the token is made once, kept private, and never shown", async () => {
  const other = makeHome();
  const file = join(other.env.ALISIO_CONFIG_HOME, "mcp-token");
  const t = await serve(other, ["--http", "0"], {});
  const token = readFileSync(file, "utf8").trim();
  assert.match(token, /^[\x21-\x7e]{32,}$/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(t.stderr.includes(file) && !t.stderr.includes(token), t.stderr);
  t.token = token;
  assert.equal((await whole(await ask(t, { body: initialize() }))).status, 200);
  await t.stop();
  const u = await serve(other, ["--http", "0"], {});
  assert.equal(readFileSync(file, "utf8").trim(), token);
  await u.stop();
  const refused = (mode, text) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    const r = run(other, ["mcp", "--http", "0"]);
    assert.equal(r.status, 2, r.stderr);
    assert.match(r.stderr, /mcp-token/);
  };
  refused(0o644, token);
  refused(0o600, "short");
  refused(0o600, `${token}\nmore`);
  for (const [args, word] of [
    [["--http", "0", "--socket", "x"], "--socket"],
    [["--allow-host", "x"], "--allow-host"],
    [["--http", "65536"], "--http"],
  ]) {
    const r = run(other, ["mcp", ...args]);
    assert.equal(r.status, 2);
    assert.match(r.stderr, new RegExp(word));
  }
  const short = run(other, ["mcp", "--http", "0"], { env: { ALISIO_MCP_TOKEN: "short" } });
  assert.equal(short.status, 2);
  const busy = run(other, ["mcp", "--http", String(s.port)], { env: { ALISIO_MCP_TOKEN: TOKEN } });
  assert.equal(busy.status, 5, busy.stderr);
  other.remove();
});

test("--allow-host lets a name in", async () => {
  const other = makeHome();
  const t = await serve(other, ["--http", "0", "--allow-host", "box.example", "--allow-host", "second.example"]);
  for (const headers of [{ Host: "box.example:8443" }, { Host: "second.example" }, { Host: "BOX.example", Origin: "https://second.example" }])
    assert.equal((await whole(await ask(t, { headers, body: initialize() }))).status, 200);
  assert.equal((await whole(await ask(t, { headers: { Host: "third.example" }, body: initialize() }))).status, 403);
  await t.stop();
  other.remove();
});
