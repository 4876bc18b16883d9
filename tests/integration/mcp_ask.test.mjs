// What an MCP client is asked: approvals in both eras of the protocol, and its roots.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AT_REST, McpClient, childrenOf, makeHome, until } from "./lib.mjs";

let home;
before(() => {
  home = makeHome({ "a.txt": "one\n" });
});
after(() => home.remove());

// A client whose user answers each question by the function `answer`.
class Asked extends McpClient {
  constructor(args, answer, options) {
    super(options?.home ?? home, args, options);
    this.answer = answer;
    this.questions = [];
  }

  take(line) {
    const message = JSON.parse(line);
    if (message.method && message.id !== undefined) {
      this.questions.push(message);
      const result = this.answer?.(message);
      if (result) this.send({ id: message.id, result });
    } else {
      super.take(line);
    }
  }

  async open(capabilities, protocolVersion = "2025-11-25") {
    await this.request("initialize", { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } });
    this.send({ method: "notifications/initialized" });
    return this;
  }

  async done() {
    const { code } = await this.close();
    assert.equal(code, 0, this.stderr);
  }
}

const decide = (decision) => () => ({ action: "accept", content: { decision } });
const WRITER = ["--expose", "files"];
const path = (name) => join(home.workspace, name);

test("a write is asked about: once, then again", async () => {
  const client = await new Asked(WRITER, decide("once")).open({ elicitation: {} }, "2025-06-18");
  for (const n of [1, 2]) {
    const { result } = await client.call("write_file", { path: `once${n}.txt`, content: String(n) });
    assert.equal(result.isError, false, JSON.stringify(result));
    assert.equal(client.questions.length, n);
    assert.equal(readFileSync(path(`once${n}.txt`), "utf8"), String(n));
  }
  const { message, requestedSchema } = client.questions[0].params;
  assert.match(message, /write_file[^]*\n    path: once1\.txt\n    content: 1\n/);
  assert.match(message, /"Allow for this session" covers any call of write_file, whatever its arguments, by every client/);
  assert.deepEqual(requestedSchema.properties.decision.enum, ["once", "session", "deny"]);
  assert.deepEqual(requestedSchema.required, ["decision"]);
  await client.done();
});

test("a program is asked about each time, with what it will be called with", async () => {
  const client = await new Asked(["--expose", "process"], decide("session")).open({ elicitation: {} });
  const { result } = await client.call("run_process", { command: "touch", args: ["ran\u200b.txt"] });
  assert.match(result.content[0].text, /APPROVAL_REQUIRED/, "what was not offered is no answer");
  const { message, requestedSchema } = client.questions[0].params;
  assert.deepEqual(requestedSchema.properties.decision.enum, ["once", "deny"]);
  assert.match(message, /\n    command: touch\n    args: \["ran\\u200b\.txt"\]$/);
  assert.doesNotMatch(message, /for this session/);
  await client.done();
});

test("a write that is not approved does not happen", async () => {
  for (const [answer, code] of [
    [decide("deny"), /PERMISSION_DENIED: .*said no/],
    [() => ({ action: "decline" }), /PERMISSION_DENIED: .*said no/],
    [() => ({ action: "cancel" }), /APPROVAL_REQUIRED: .*nobody answered\nhint: .*--allow-write/],
    [() => ({ nonsense: 1 }), /APPROVAL_REQUIRED: .*nobody answered\nhint: .*--allow-write/],
  ]) {
    const client = await new Asked(WRITER, answer).open({ elicitation: { form: {} } });
    const { result } = await client.call("write_file", { path: "denied.txt", content: "x" });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, code);
    assert.ok(!existsSync(path("denied.txt")));
    await client.done();
  }
});

test("--read-only asks nobody", async () => {
  const client = await new Asked([...WRITER, "--read-only"], decide("once")).open({ elicitation: {} });
  const { result, error } = await client.call("write_file", { path: "ro.txt", content: "x" });
  assert.ok(error || /PERMISSION_DENIED/.test(result.content[0].text));
  assert.equal(client.questions.length, 0);
  await client.done();
});

test("a script's tools are asked about once, before it starts", async () => {
  const code = "await tools.write_file({path: 'u1.txt', content: '1'}); await tools.write_file({path: 'u2.txt', content: '2'}); return 'ok'";
  const client = await new Asked([], decide("once")).open({ elicitation: {} });
  const { result } = await client.call("js_run", { code, uses: ["write_file"], title: `${"long ".repeat(30)}\u202e` });
  assert.equal(result.structuredContent.value, "ok", JSON.stringify(result));
  assert.equal(client.questions.length, 1);
  const { message, requestedSchema } = client.questions[0].params;
  assert.match(message, /u1\.txt/);
  assert.ok(!message.includes("\u202e"));
  assert.ok(/"(long ){15,16}/.test(message) && !/(long ){18}/.test(message), message);
  assert.deepEqual(requestedSchema.properties.decision.enum, ["once", "deny"]);
  assert.ok(existsSync(path("u2.txt")));
  // Without uses, nobody is asked in the middle, and the hint names what works here.
  const bare = await client.call("js_run", { code });
  assert.match(bare.result.content[0].text, /APPROVAL_REQUIRED/);
  assert.match(bare.result.structuredContent.error.hint, /`uses`/);
  assert.doesNotMatch(bare.result.structuredContent.error.hint, /directly/);
  assert.equal(client.questions.length, 1);
  await client.done();
});

test("a script whose tools are not approved does not start", async () => {
  const code = "print('begun'); await tools.write_file({path: 'un.txt', content: '1'})";
  for (const [answer, expected] of [
    [decide("deny"), { code: "PERMISSION_DENIED", message: /the person said no to write_file/ }],
    [() => ({ action: "cancel" }), { code: "APPROVAL_REQUIRED", message: /nobody answered, about write_file/ }],
  ]) {
    const client = await new Asked([], answer).open({ elicitation: {} });
    const { result } = await client.call("js_run", { code, uses: ["write_file"] });
    assert.equal(result.isError, true);
    const { error, text } = result.structuredContent;
    assert.equal(error.code, expected.code, JSON.stringify(error));
    assert.match(error.message, expected.message);
    assert.doesNotMatch(text ?? "", /begun/);
    assert.ok(!existsSync(path("un.txt")));
    await client.done();
  }
});

test("the time of a script does not run while its user thinks, and it can be cancelled then", async () => {
  const client = await new Asked([]).open({ elicitation: {} });
  const code = "return 'never'";
  const answer = client.request("tools/call", { name: "js_run", arguments: { code, uses: ["write_file"], timeoutMs: 1 } }, "run");
  answer.catch(() => {});
  await until("the question", () => client.questions.length === 1);
  client.send({ method: "notifications/cancelled", params: { requestId: "run" } });
  await until("the end of the question", () => client.notifications.some((n) => n.method === "notifications/cancelled"));
  client.send({ id: client.questions[0].id, result: { action: "accept", content: { decision: "once" } } });
  assert.deepEqual((await client.request("ping")).result, {});
  assert.ok(childrenOf(client.process.pid).length <= AT_REST);
  client.waiting.delete("run");
  await client.done();
});

// --- the modern era ---

const meta = (capabilities = {}) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": capabilities,
});
const yes = { approval: { action: "accept", content: { decision: "once" } } };

test("a modern client comes back with the answer", async () => {
  const client = new Asked(WRITER);
  const params = { name: "write_file", arguments: { path: "modern.txt", content: "m" }, _meta: meta({ elicitation: {} }) };
  const { result } = await client.request("tools/call", params);
  assert.equal(result.resultType, "input_required");
  assert.equal(result.inputRequests.approval.method, "elicitation/create");
  assert.equal(result.inputRequests.approval.params.mode, "form");
  assert.ok(!existsSync(path("modern.txt")));
  const { requestState } = result;
  const other = { ...params, arguments: { path: "other.txt", content: "m" } };
  for (const wrong of [
    { ...other, requestState, inputResponses: yes },
    { ...params, requestState: "0".repeat(32), inputResponses: yes },
    { ...params, requestState: 1, inputResponses: yes },
  ])
    assert.equal((await client.request("tools/call", wrong)).error.code, -32602);
  assert.ok(!existsSync(path("other.txt")));
  const done = await client.request("tools/call", { ...params, requestState, inputResponses: yes });
  assert.equal(done.result.resultType, "complete");
  assert.equal(done.result.isError, false, JSON.stringify(done));
  assert.equal(readFileSync(path("modern.txt"), "utf8"), "m");
  const late = await client.request("tools/call", { ...params, requestState, inputResponses: yes });
  assert.equal(late.error.code, -32602);
  assert.equal(client.questions.length, 0, "no request of the server's own");
  await client.done();
});

test("a modern client's run with uses waits for its approval", async () => {
  const client = new Asked([]);
  const params = {
    name: "js_run",
    arguments: { code: "return await tools.write_file({path: 'mu.txt', content: '1'})", uses: ["write_file"] },
    _meta: meta({ elicitation: { form: {} } }),
  };
  const { result } = await client.request("tools/call", params);
  assert.equal(result.resultType, "input_required", JSON.stringify(result));
  const done = await client.request("tools/call", { ...params, requestState: result.requestState, inputResponses: yes });
  assert.equal(done.result.isError, false, JSON.stringify(done));
  assert.ok(existsSync(path("mu.txt")));
  await client.done();
});

test("a modern client that cannot be asked is told the flag", async () => {
  const client = new Asked(WRITER);
  const { result } = await client.request("tools/call", {
    name: "write_file",
    arguments: { path: "x", content: "" },
    _meta: meta(),
  });
  assert.match(result.content[0].text, /APPROVAL_REQUIRED[^]*--allow-write/);
  await client.done();
});

test("work that waits for a client ends with the server", async () => {
  const client = new Asked(WRITER);
  await client.request("tools/call", { name: "write_file", arguments: { path: "w", content: "" }, _meta: meta({ elicitation: {} }) });
  await client.done();
  assert.ok(!existsSync(path("w")));
});

// --- roots ---

test("the client's first root is the workspace, and --cwd beats it", async () => {
  const project = join(home.dir, "my project"), more = join(home.dir, "more");
  for (const dir of [project, more]) mkdirSync(dir);
  writeFileSync(join(project, "here.txt"), "here");
  writeFileSync(join(more, "there.txt"), "there");
  const uri = (dir) => `file://${realpathSync(dir).replaceAll(" ", "%20")}`;
  const roots = (message) => (message.method === "roots/list" ? { roots: [{ uri: uri(project) }, { uri: uri(more) }] } : null);
  const client = await new Asked(WRITER, roots).open({ roots: { listChanged: true } });
  const { result } = await client.call("read_file", { path: "here.txt" });
  assert.equal(result.isError, false, JSON.stringify(result));
  const added = await client.call("read_file", { path: join(realpathSync(more), "there.txt") });
  assert.equal(added.result.isError, false, JSON.stringify(added));
  await client.done();
  const fixed = await new Asked([...WRITER, "--cwd", home.workspace], roots).open({ roots: {} });
  assert.equal((await fixed.call("read_file", { path: "a.txt" })).result.isError, false);
  assert.equal(fixed.questions.length, 0);
  await fixed.done();
});

test("the home folder as a root is refused for files, and scripts work", async () => {
  const roots = () => ({ roots: [{ uri: `file://${realpathSync(home.dir)}` }] });
  const client = await new Asked(WRITER, roots).open({ roots: {} });
  const { result } = await client.call("read_file", { path: "workspace/a.txt" });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /PERMISSION_DENIED/);
  assert.equal((await client.call("js_run", { code: "return 1" })).result.structuredContent.value, 1);
  await client.done();
});
