// SIGINT in each state of a turn: the last event comes at once (the figure is 100 ms on a quiet machine, and printed; here the
// deadline is 20 times that), what there was is kept and marked, and the session goes on.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { agentRig, ofType, startAlisio, configure } from "../fake/lib.mjs";

const LATEST_MS = 2000;
const rigs = [], figures = [];
async function rigOf(...args) {
  const rig = await agentRig(...args);
  rigs.push(rig);
  return rig;
}
after(async () => {
  await Promise.all(rigs.map((rig) => rig.close()));
  process.stdout.write(`# ms from SIGINT to run_cancelled: ${figures.map(([what, ms]) => `${what} ${ms.toFixed(0)}`).join(", ")}\n`);
});

// Sends SIGINT once `when` says so of an event (or of the run itself, for what has no event), and waits for the end.
async function cancelled(rig, what, { args = [], when, once, signal = "SIGINT", status = 130 } = {}) {
  let sent, ended;
  const strike = (child) => {
    if (sent) return;
    sent = performance.now();
    child.kill(signal);
  };
  const run = rig.start(["--json", ...args, "PROMPT"], {
    onEvent: (e, r) => {
      if (sent && /^run_(?!started)/.test(e.type)) ended ??= performance.now();
      if (when?.(e, r)) strike(r.child);
    },
  });
  if (once) once().then(() => strike(run.child));
  const r = await run.done;
  assert.equal(r.last?.type, "run_cancelled", `${what}: ${r.stdout.slice(-800)}${r.stderr}`);
  assert.equal(r.status, status, r.stderr);
  assert.equal(r.events.filter((e) => /^run_(?!started)/.test(e.type)).length, 1);
  figures.push([what, ended - sent]);
  assert.ok(ended - sent < LATEST_MS, `${what}: ${(ended - sent).toFixed(0)} ms`);
  return r;
}
// The session goes on by a prompt, with a history that the strict fake takes; its messages.
async function goesOn(rig, r) {
  rig.fake.play([{ text: "and on" }]);
  const again = await rig.resume([r.last.sessionId, "--json", "go on"]);
  assert.equal(again.last?.type, "run_completed", again.stdout + again.stderr);
  assert.deepEqual(rig.fake.violations, []);
  return JSON.stringify(rig.fake.requests.filter((q) => q.api).at(-1).body.messages);
}
const call = (name, args) => ({ name, arguments: args });
const started = (name) => (e) => e.type === "tool_started" && e.data.name === name;

describe("SIGINT", () => {
  it("while it connects", async () => {
    // A listener whose queue is full takes no connection, and refuses none.
    const rig = await rigOf("chat", []);
    const server = createServer(() => {}).listen(0, "127.0.0.1", 1);
    await new Promise((done) => server.once("listening", done));
    configure(rig.home, { api: "chat", baseUrl: `http://192.0.2.1:9/v1`, model: "fake", keyEnv: "FAKE_API_KEY", insecure: true });
    let begun = false;
    await cancelled(rig, "connect", { when: (e) => !begun && (begun = e.type === "run_started") });
    server.close();
  });
  it("before the first byte", async () => {
    const rig = await rigOf("messages", [{ hang: true }]);
    const r = await cancelled(rig, "first byte", { once: () => rig.fake.request(0) });
    assert.match(await goesOn(rig, r), /cancelled by the user/);
  });
  it("in the stream: its text so far is kept, and marked", async () => {
    const rig = await rigOf("messages", [{ text: "the beginning of an answer", wire: { split: 4 }, stall: { event: 7 } }]);
    let text = "";
    const r = await cancelled(rig, "stream", { when: (e) => e.type === "text_delta" && (text += e.data.text).length > 8 });
    assert.ok(text.length > 8 && "the beginning of an answer".startsWith(r.last.data.text));
    assert.equal(r.last.data.usage.estimated, true);
    const messages = JSON.parse(await goesOn(rig, r));
    assert.equal(messages[1].role, "assistant");
    assert.match(JSON.stringify(messages[1]), new RegExp(r.last.data.text));
    assert.match(JSON.stringify(messages[2]), /cancelled by the user/);
  });
  it("in the stream, in the middle of a call: it is not run, and no part of the history", async () => {
    const rig = await rigOf("messages", [{ text: "now", calls: [call("write_file", { path: "x", content: "y".repeat(4000), expectedHash: null })], stall: { byte: 2000 } }]);
    const r = await cancelled(rig, "call in the stream", { args: ["--allow-write"], when: (e) => e.type === "text_delta" });
    assert.equal(ofType(r.events, "tool_started").length, 0);
    assert.doesNotMatch(await goesOn(rig, r), /tool_use/);
  });
  it("while it waits to ask again", async () => {
    const rig = await rigOf("chat", [{ reply: { status: 503, headers: { "retry-after": "20" }, error: { type: "server_error", message: "later" } } }]);
    const r = await cancelled(rig, "back-off", { when: (e) => e.type === "request_retry" });
    assert.match(await goesOn(rig, r), /cancelled by the user/);
  });
  it("in a script", async () => {
    const rig = await rigOf("messages", [{ calls: [call("js_run", { code: "console.log('so far'); while (true) {}" })] }]);
    const r = await cancelled(rig, "js_run", { when: started("js_run") });
    const said = await goesOn(rig, r);
    assert.match(said, /cancelled by the user; it may have taken effect/);
  });
  it("in a command: its tree is gone, and what follows never started", async () => {
    const rig = await rigOf("messages", [{ calls: [call("shell", { command: "echo $$ > pid; sleep 60" }), call("shell", { command: "touch second" }), call("read_file", { path: "pid" })] }]);
    let pid;
    const r = await cancelled(rig, "shell", {
      args: ["--allow-process"], once: async () => {
        for (;;) {
          try {
            pid = Number(readFileSync(join(rig.home.workspace, "pid"), "utf8"));
            if (pid) return;
          } catch { /* not yet */ }
          await new Promise((done) => setTimeout(done, 5));
        }
      },
    });
    assert.throws(() => process.kill(pid, 0));
    const ends = ofType(r.events, "tool_completed").map((e) => e.data.preview);
    assert.equal(ends.length, 3);
    const said = JSON.parse(await goesOn(rig, r)).at(2).content;
    const text = (b) => (typeof b.content === "string" ? b.content : b.content[0].text);
    assert.match(text(said[0]), /^cancelled by the user; it may have taken effect/);
    assert.equal(text(said[1]), "cancelled by the user");
    assert.equal(text(said[2]), "cancelled by the user");
  });
  it("in a command that does not want to end: only that is waited for", async () => {
    const rig = await rigOf("chat", [{ calls: [call("shell", { command: "trap '' TERM INT; echo up > up; sleep 60 & wait; sleep 60" })] }]);
    let run;
    run = rig.start(["--json", "--allow-process", "PROMPT"], { timeout: 15_000 });
    for (;;) {
      try {
        if (readFileSync(join(rig.home.workspace, "up"), "utf8")) break;
      } catch { /* not yet */ }
      await new Promise((done) => setTimeout(done, 5));
    }
    const sent = performance.now();
    run.child.kill("SIGINT");
    const r = await run.done;
    assert.equal(r.last.type, "run_cancelled");
    figures.push(["shell that ignores SIGTERM", performance.now() - sent]);
  });
  it("in Python", async () => {
    const rig = await rigOf("chat", [{ calls: [call("python_run", { code: "print('up', flush=True)\nwhile True: pass" })] }]);
    const run = await cancelled(rig, "python_run", { args: ["--allow-analysis=unsandboxed"], when: started("python_run") });
    assert.match(await goesOn(rig, run), /cancelled by the user/);
  });
  it("while reads are in flight", async () => {
    const rig = await rigOf("chat", [{ calls: ["a", "b", "c"].map((p) => call("search_text", { pattern: p })) }], { files: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}.txt`, "abc\n".repeat(500)])) });
    const r = await cancelled(rig, "reads", { when: started("search_text") });
    await goesOn(rig, r);
  });
  it("in a summary: the session is as before", async () => {
    const long = "words that fill the window ".repeat(60);
    const rig = await rigOf("messages", ({ n, request }) => (/Write a summary/.test(request.raw.toString()) ? { hang: true } : { text: `${n} ${long}`, calls: [call("js_run", { code: `return ${n}` })] }), { provider: { contextWindow: 12_000 } });
    const r = await cancelled(rig, "compaction", { when: (e) => e.type === "compaction_started" });
    assert.equal(ofType(r.events, "compaction_completed").length, 0);
    rig.fake.play(({ request }) => (/Write a summary/.test(request.raw.toString()) ? { text: "SUMMARY" } : { text: "and on" }));
    const again = await rig.resume([r.last.sessionId, "--json", "go on"]);
    assert.equal(again.last.type, "run_completed");
    assert.deepEqual(rig.fake.violations, []);
  });
  it("between a resume and its first byte", async () => {
    const rig = await rigOf("chat", [{ text: "one" }]);
    const first = await rig.run(["--json", "PROMPT"]);
    rig.fake.play([{ hang: true }]);
    const n = rig.fake.requests.length;
    const run = startAlisio(rig.home, ["resume", first.last.sessionId, "--json", "more"], {});
    await rig.fake.request(n);
    const sent = performance.now();
    run.child.kill("SIGINT");
    const r = await run.done;
    assert.equal(r.last.type, "run_cancelled");
    figures.push(["resume", performance.now() - sent]);
  });
  for (const [signal, status] of [["SIGTERM", 143], ["SIGHUP", 129]])
    it(`${signal} is a cancel, too`, async () => {
      const rig = await rigOf("chat", [{ hang: true }]);
      await cancelled(rig, signal, { once: () => rig.fake.request(0), signal, status });
    });
});
