// What a program reads of `alisio run --json`: the frame of each run, the schema of each line, and a writer that no reader
// can bring to a stop.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { agentRig, KEY_ENV, ofType, soon, textOf } from "../fake/lib.mjs";
import { alisio, root, until } from "./lib.mjs";

const require = createRequire(import.meta.url);
const Ajv = require("ajv");
const TERMINAL = ["run_completed", "run_failed", "run_cancelled", "run_turns_exceeded"];
const LINE_MAX = 1 << 20;
const call = (name, args) => ({ name, arguments: args });

// The schema as it is shipped takes members that it does not know; the tests do not.
const shipped = JSON.parse(readFileSync(join(root, "docs/jsonl.schema.json"), "utf8"));
const strict = structuredClone(shipped);
strict.additionalProperties = false;
strict.properties.type = { enum: strict.allOf.map((rule) => rule.if.properties.type.const) };
for (const [name, part] of Object.entries(strict.definitions)) if (name !== "message") part.additionalProperties = false;
const ajv = new Ajv({ strict: false, allErrors: true });
const validate = ajv.compile(strict);

function assertLine(line) {
  assert.ok(Buffer.byteLength(line) < LINE_MAX, "a line is longer than 1 MiB");
  const event = JSON.parse(line);
  assert.ok(validate(event), `${line.slice(0, 600)}\n${ajv.errorsText(validate.errors)}`);
  return event;
}

// A reader that demands the whole frame.
function assertFrame(stdout) {
  assert.ok(stdout.endsWith("\n"), `standard output does not end a line: ${stdout.slice(-300)}`);
  const events = stdout.split("\n").slice(0, -1).map(assertLine);
  assert.equal(events[0].type, "run_started");
  assert.ok(TERMINAL.includes(events.at(-1).type), `the last line is ${events.at(-1).type}`);
  assert.equal(events.filter((e) => TERMINAL.includes(e.type)).length, 1);
  assert.equal(ofType(events, "run_started").length, 1);
  assert.equal(new Set(events.map((e) => e.runId)).size, 1);
  assert.equal(new Set(events.map((e) => e.sessionId)).size, 1);
  events.forEach((e, i) => assert.equal(e.seq, i + 1, "seq grows by one"));
  for (const e of events) if (/_delta$|tool_progress/.test(e.type)) assert.equal(e.eventId, undefined);
  return events;
}

const rigs = [];
async function rigOf(...args) {
  const rig = await agentRig(...args);
  rigs.push(rig);
  return rig;
}
after(() => Promise.all(rigs.map((rig) => rig.close())));

describe("each run has its frame", { concurrency: 3 }, () => {
  const never = { reply: { status: 400, error: { type: "invalid_request_error", message: "the tests say no" } } };
  const runs = [
    ["that completes", [{ text: "all is well" }], 0, "run_completed", {}],
    ["with calls", [{ calls: [call("list_files", {})] }, { text: "one file" }], 0, "run_completed", {}],
    ["that the endpoint refuses", [never], 6, "run_failed", {}],
    ["that asked for a key in vain", [{ reply: { status: 401, error: { type: "authentication_error", message: "no" } } }], 3, "run_failed", {}],
    ["whose stream breaks once", [{ text: "half of it", cut: { byte: 400, how: "reset" } }, { text: "whole" }], 0, "run_completed", {}],
    ["that may answer once only", [{ calls: [call("list_files", {})] }], 5, "run_turns_exceeded", { args: ["--max-turns", "1"] }],
    ["whose answer is no event stream", [{ raw: "<html>hello</html>", contentType: "text/html" }, never], 6, "run_failed", {}],
  ];
  for (const [what, scenario, status, last, { args = [] }] of runs)
    it(`${what}: exit status ${status}`, async () => {
      const rig = await rigOf("chat", scenario, { files: { "a.txt": "x" } });
      const r = await rig.run(["--json", ...args, "do it"]);
      const events = assertFrame(r.stdout);
      assert.equal(events.at(-1).type, last, r.stdout + r.stderr);
      assert.equal(r.status, status);
      if (last === "run_completed")
        for (const key of ["text", "usage", "costUsd", "durationMs", "apiMs", "ttftMs", "turns", "calls", "sessionId", "model", "provider"])
          assert.ok(key in events.at(-1).data, key);
    });

  it("that could not begin: no key, no session, a session in use", async () => {
    const rig = await rigOf("chat", [{ text: "one" }, { hang: true }]);
    const none = await rig.run(["--json", "x"], { env: { [KEY_ENV]: "" } });
    assert.equal(none.status, 3);
    assert.equal(assertFrame(none.stdout).at(-1).data.code, "AUTH_REQUIRED");
    const unknown = await rig.resume(["--json", "ses_01J00000000000000000000000", "x"]);
    assert.equal(unknown.status, 4);
    assert.equal(assertFrame(unknown.stdout).at(-1).data.code, "NOT_FOUND");
    const first = await rig.run(["--json", "x"]);
    const held = rig.start(["--json", "--session", first.last.sessionId, "again"]);
    await rig.fake.request(1);
    const second = await rig.resume(["--json", first.last.sessionId, "me too"]);
    assert.equal(second.status, 1);
    assert.equal(assertFrame(second.stdout).at(-1).data.code, "STATE_CONFLICT");
    held.child.kill("SIGTERM");
    assert.equal((await held.done).status, 143);
    assertFrame(held.stdout);
  });

  for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]])
    it(`that ${signal} ends: exit status ${status}, and what there was of the answer`, async () => {
      const rig = await rigOf("chat", [{ text: "the beginning of it", chunk: 40, hold: { event: 4, name: "gate" } }]);
      const run = rig.start(["--json", "do it"]);
      await until("a delta", () => ofType(run.events, "text_delta").length);
      run.child.kill(signal);
      const r = await run.done;
      const events = assertFrame(r.stdout);
      assert.equal(events.at(-1).type, "run_cancelled");
      assert.equal(r.status, status);
      assert.equal(events.at(-1).data.text, textOf(events));
    });

  it("on a full disk: the message is on standard error", async () => {
    const rig = await rigOf("chat", [{ text: "x" }]);
    const r = await shell(rig, `"$ALISIO" run --json x > /dev/full`);
    assert.equal(r.status, 70);
    assert.match(r.stderr, /standard output cannot be written.*No space left/s);
  });
});

describe("a line that is wrong leaves standard output empty", () => {
  const lines = [["run", "--json", "--bogus", "x"], ["--json", "--bogus", "run", "x"], ["run", "--json"], ["run", "--json", ""], ["run", "--json", " \n\t"],
    ["run", "--json", "-"], ["run", "--json", "a", "b"], ["run", "--json", "x", "--api", "soap"], ["run", "--json", "x", "--base-url", "ftp://x"],
    ["run", "--json", "x", "--base-url", "http://me:secret@x/v1"], ["run", "--json", "x", "--provider", "olama"], ["run", "--json", "x", "--max-turns", "0"],
    ["run", "--json", "x", "--key-env", "sk-abc"], ["resume", "--json"], ["resume", "--json", "sess"], ["run", "--json", "x", "--session", "ses"]];
  it("and exits with 2", async () => {
    const rig = await rigOf("chat", []);
    for (const args of lines) {
      const r = spawnSync(alisio, args, { cwd: rig.home.workspace, env: rig.home.env, input: "\r\n\r\n", encoding: "utf8" });
      assert.equal(r.stdout, "", args.join(" "));
      assert.equal(r.status, 2, args.join(" ") + r.stderr);
      const told = JSON.parse(r.stderr.trim().split("\n").at(-1));
      assert.equal(told.type, "error");
      assert.match(told.code, /^(INVALID_INPUT|CONFIG_INVALID)$/);
      assert.ok(!r.stderr.includes("secret") && !r.stderr.includes("sk-abc"), r.stderr);
    }
    assert.equal(rig.fake.requests.length, 0);
  });

  it("and so does a machine without any provider", async () => {
    const rig = await rigOf("chat", []);
    writeFileSync(join(rig.home.env.ALISIO_CONFIG_HOME, "config.json"), "{}", { mode: 0o600 });
    const r = await rig.run(["--json", "x"]);
    assert.equal(r.status, 2);
    assert.equal(r.stdout, "");
    assert.match(r.stderr, /alisio setup provider/);
  });
});

// A line of the shell with $ALISIO, for what stands behind a pipe.
function shell(rig, line, options = {}) {
  const child = spawn("sh", ["-c", line], { cwd: rig.home.workspace, env: { ...rig.home.env, ALISIO: alisio }, stdio: ["ignore", "pipe", "pipe"], ...options });
  let stdout = "", stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  return soon(new Promise((done) => child.on("close", (status) => done({ status, stdout, stderr }))), line);
}

describe("the writer", () => {
  it("ends the run when its reader closes: exit status 7, and the connection is given up", async () => {
    const rig = await rigOf("chat", [{ text: "some words that come slowly", chunk: 30, hold: { event: 3, name: "gate" } }]);
    const r = await shell(rig, `{ "$ALISIO" run --json x; echo $? > status; } | head -n 1`);
    assert.equal(assertLine(r.stdout.trimEnd()).type, "run_started");
    assert.equal(readFileSync(join(rig.home.workspace, "status"), "utf8"), "7\n");
    await until("the end of the request", () => rig.fake.requests[0]?.closed);
    assert.match(r.stderr, /CANCELLED/);
  });

  it("does not hang on a reader that stops, be it a pipe or a socket", async () => {
    const slow = () => rigOf("chat", [{ text: "0123456789abcdef".repeat(100_000), wire: { split: 4000 }, chunk: 1 << 16 }]);
    const piped = await slow(), socketed = await slow();
    const pipe = shell(piped, `{ "$ALISIO" run --json x; echo $? > status; } | { head -c 10 > /dev/null; until test -s status; do sleep 0.05; done; }`);
    const child = spawn(alisio, ["run", "--json", "x"], { cwd: socketed.home.workspace, env: socketed.home.env, stdio: ["ignore", "pipe", "ignore"] });
    child.stdout.pause();
    const socket = soon(new Promise((done) => child.on("exit", done)), "the end");
    assert.match((await pipe).stderr, /CANCELLED|not read/);
    assert.equal(readFileSync(join(piped.home.workspace, "status"), "utf8"), "7\n");
    assert.equal(await socket, 7);
    child.stdout.destroy();
    for (const rig of [piped, socketed]) assert.equal(rig.fake.requests.filter((q) => q.api).length, 1, "the answer was read to its end");
  });

  it("writes each line with one write", async () => {
    const rig = await rigOf("chat", [{ calls: [call("list_files", {})] }, { text: "a few words in some pieces", wire: { split: 3 } }]);
    // Of a packet socket each read gives what one write put there.
    const program = [
      "import json, socket, subprocess, sys",
      "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)",
      "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=b.fileno())",
      "b.close()",
      "got = []",
      "while True:",
      "    m = a.recv(1 << 20)",
      "    if not m: break",
      "    got.append(m.decode())",
      "p.wait()",
      "print(json.dumps(got))",
    ].join("\n");
    const child = spawn(existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3", ["-I", "-S", "-c", program, alisio, "run", "--json", "x"], { cwd: rig.home.workspace, env: rig.home.env, stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (text) => (out += text));
    await soon(new Promise((done) => child.on("close", done)), "the packets");
    const packets = JSON.parse(out);
    for (const packet of packets) assert.match(packet, /^[^\n]+\n$/);
    assertFrame(packets.join(""));
  });

  it("grows with the answer alone: 100 kB in pieces of 4 bytes", async () => {
    const text = "abcd".repeat(25_000);
    const rig = await rigOf("chat", [{ text, wire: { split: 4 }, chunk: 1 << 16 }]);
    const r = await rig.run(["--json", "x"]);
    const events = assertFrame(r.stdout), deltas = ofType(events, "text_delta");
    assert.equal(textOf(events), text);
    assert.equal(events.at(-1).data.text, text);
    assert.ok(Buffer.byteLength(r.stdout) <= 40 * text.length + 200 * deltas.length, `${Buffer.byteLength(r.stdout)} bytes for ${deltas.length} deltas`);
  });

  it("cuts a text that is too long for a line, and says so", async () => {
    const text = "ä\u0001".repeat(200_000);
    const rig = await rigOf("chat", [{ text, wire: { split: 100_000 }, chunk: 1 << 16 }]);
    const r = await rig.run(["--json", "x"]);
    const events = assertFrame(r.stdout);
    assert.equal(textOf(events), text);
    assert.equal(events.at(-1).data.truncated, true);
    assert.ok(text.startsWith(events.at(-1).data.text));
  });
});

describe("standard output holds lines of JSON and nothing else", () => {
  it("with warnings, and with a child that writes to its standard output", async () => {
    const rig = await rigOf("chat", [{ calls: [call("run_process", { command: "sh", args: ["-c", "echo here; echo there >&2"] })] }, { text: "done" }]);
    mkdirSync(join(rig.home.workspace, ".alisio"));
    writeFileSync(join(rig.home.workspace, ".alisio/config.json"), "{ broken");
    const r = await rig.run(["--json", "--allow-process", "x"]);
    const events = assertFrame(r.stdout);
    assert.match(ofType(events, "tool_completed")[0].data.preview, /here/);
    for (const line of r.stderr.split("\n").filter(Boolean)) assert.equal(typeof JSON.parse(line), "object", line);
  });

  it("on a terminal too: no escape sequence, no mode", async () => {
    const rig = await rigOf("chat", [{ text: "plain \u001b[31mred" }]);
    const child = spawn("script", ["-qec", `"$ALISIO" run --json x`, "/dev/null"], { cwd: rig.home.workspace, env: { ...rig.home.env, ALISIO: alisio, TERM: "xterm" }, stdio: ["pipe", "pipe", "inherit"] });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    await soon(new Promise((done) => child.on("close", done)), "the end");
    assert.ok(!out.includes("\u001b"), JSON.stringify(out));
    assertFrame(out.replaceAll("\r\n", "\n"));
  });

  it("when a tool prints 100 MB of escapes and broken UTF-8: a preview of 2,000 characters", async () => {
    const print = "head -c 100000000 /dev/zero | tr '\\000' '\\033'; printf '\\377\\376'";
    const rig = await rigOf("chat", [{ calls: [call("run_process", { command: "sh", args: ["-c", print], timeoutMs: 60000 })] }, { text: "much" }]);
    const r = await rig.run(["--json", "--allow-process", "x"], { timeout: 60_000 });
    const [done] = ofType(assertFrame(r.stdout), "tool_completed");
    assert.ok([...done.data.preview].length <= 2000);
    assert.ok(!r.stdout.includes("\u001b") && !r.stderr.includes("\u001b"));
  });
});

describe("sessions export", () => {
  it("has every kept event as it was told, then each message", async () => {
    const rig = await rigOf("chat", [{ calls: [call("read_file", { path: "a.txt" })] }, { text: "it says hello" }, { text: "again" }], { files: { "a.txt": "hello" } });
    const first = await rig.run(["--json", "what does it say?"]), id = first.last.sessionId;
    await rig.resume(["--json", id, "and now?"]);
    const r = spawnSync(alisio, ["sessions", "export", id], { cwd: rig.home.workspace, env: rig.home.env, encoding: "utf8" });
    assert.equal(r.status, 0, r.stderr);
    const lines = r.stdout.trimEnd().split("\n").map(assertLine), messages = ofType(lines, "message");
    assert.deepEqual(lines.slice(0, -messages.length).filter((e) => e.runId === first.last.runId), first.events.filter((e) => e.eventId));
    assert.deepEqual(messages.map((m) => m.data.message.role), ["user", "assistant", "assistant", "user", "assistant"]);
    assert.deepEqual(lines.map((l) => l.type === "message").sort(), lines.map((l) => l.type === "message"), "messages stand last");
    const last = spawnSync(alisio, ["sessions", "export", "last"], { cwd: rig.home.workspace, env: rig.home.env, encoding: "utf8" });
    assert.equal(last.stdout, r.stdout);
  });
});

it("the schema that is shipped is one, and takes what a later version adds", () => {
  const loose = new Ajv({ strict: false }).compile(shipped);
  const line = { schemaVersion: 1, runId: "run_01J00000000000000000000000", sessionId: "ses_01J00000000000000000000000", seq: 1, type: "something_new", timestamp: "2026-01-31T12:00:00.000Z", data: { any: 1 }, correlationId: "x" };
  assert.ok(loose(line));
  assert.ok(!loose({ ...line, type: "text_delta" }));
  assert.ok(existsSync(join(root, "docs/jsonl.md")));
  for (const rule of shipped.allOf) {
    const text = readFileSync(join(root, "docs/jsonl.md"), "utf8"), type = rule.if.properties.type.const;
    assert.ok(text.includes(type) || text.includes(type.replace("compaction", "")), `docs/jsonl.md does not name ${type}`);
  }
});
