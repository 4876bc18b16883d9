// The turn between model and tools, run by the real binary against the strict fake: what is executed and when, what the model
// reads of it, and how a run ends.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentRig, ofType, APIS } from "../fake/lib.mjs";
import { EVENTS } from "../fake/wire.mjs";

const rigs = [];
async function rigOf(...args) {
  const rig = await agentRig(...args);
  rigs.push(rig);
  return rig;
}
after(() => Promise.all(rigs.map((rig) => rig.close())));

// One run over a scenario; the fake has refused nothing that it was sent.
async function play(api, scenario, { args = [], prompt = "do it", ...options } = {}) {
  const rig = await rigOf(api, scenario, options);
  const r = await rig.run(["--json", ...args, prompt]);
  assert.deepEqual(rig.fake.violations, [], r.stderr);
  return { ...r, rig, asked: rig.fake.requests.filter((q) => q.api) };
}

// The results that a request carries, in its order: { text, error? }.
function results(api, body) {
  if (api === "chat") return body.messages.filter((m) => m.role === "tool").map((m) => ({ text: m.content }));
  if (api === "responses") return body.input.filter((i) => i.type === "function_call_output").map((i) => ({ text: i.output }));
  return body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((b) => b.type === "tool_result")
    .map((b) => ({ text: typeof b.content === "string" ? b.content : b.content.map((c) => c.text).join(""), error: b.is_error }));
}
const lastUser = (api, body) => JSON.stringify((api === "responses" ? body.input : body.messages).at(-1));
const call = (name, args) => ({ name, arguments: args });
const read = (path) => call("read_file", { path });
const js = (code) => call("js_run", { code });
const write = (path, content) => call("write_file", { path, content, expectedHash: null });
const busy = (ms, value) => js(`const t = Date.now() + ${ms}; while (Date.now() < t); return ${JSON.stringify(value)}`);

describe("arguments", () => {
  const wrong = [
    ["[1]", /byte 0: .*array/],
    ['"x"', /byte 0: .*string/],
    ['{"path":', /byte 8/],
    ['{"path":"a.txt"}{"path":"b"}', /byte 16/],
    ['"{\\"path\\":\\"a.txt\\"}"', /byte 0: .*string/],
    ["\n\n  17", /byte 4: .*number/],
  ];
  for (const api of APIS)
    it(`that are no object are not run: byte and required keys are told, and the loop goes on (${api})`, async () => {
      // Messages has no way to send another value than an object whole: it comes in pieces all the same.
      const r = await play(api, [{ calls: wrong.map(([text]) => call("read_file", text)) }, { text: "I see" }], { files: { "a.txt": "SECRET" } });
      assert.equal(r.last.type, "run_completed", r.stderr);
      const told = results(api, r.asked[1].body);
      assert.equal(told.length, wrong.length);
      for (const [i, [, at]] of wrong.entries()) {
        assert.match(told[i].text, /^TOOL_INPUT_INVALID: read_file was not run/);
        assert.match(told[i].text, at);
        assert.match(told[i].text, /"path"/);
        assert.doesNotMatch(told[i].text, /SECRET/);
      }
      for (const e of ofType(r.events, "tool_completed")) assert.equal(e.data.code, "TOOL_INPUT_INVALID");
    });
  it("that are empty, absent or null are an empty object", async () => {
    const r = await play("chat", [{ calls: ["", null, "null", "{}"].map((text) => call("list_files", text)) }, { text: "ok" }], { files: { "a.txt": "x" } });
    for (const one of results("chat", r.asked[1].body)) assert.match(one.text, /a\.txt/);
  });
  it("with a key twice: the last counts, and it is said", async () => {
    const r = await play("chat", [{ calls: [call("read_file", '{"path":"b.txt","path":"a.txt","limit":1}')] }, { text: "ok" }], { files: { "a.txt": "of a", "b.txt": "of b" } });
    const [one] = results("chat", r.asked[1].body);
    assert.match(one.text, /^warning: .*"path" twice/);
    assert.match(one.text, /of a/);
    assert.doesNotMatch(one.text, /of b/);
    assert.ok(ofType(r.events, "notice").some((e) => /"path" twice/.test(e.data.text)));
  });
  it("that miss a key are refused by the schema", async () => {
    const r = await play("chat", [{ calls: [call("read_file", {})] }, { text: "ok" }]);
    assert.match(results("chat", r.asked[1].body)[0].text, /^TOOL_INPUT_INVALID: .*path/s);
  });
});

describe("a turn that was cut runs nothing", () => {
  const content = 'one {"a":1} two {"b":[2]} three';
  for (const api of APIS)
    it(`by the output limit: the model reads that, how many calls were dropped, and goes on (${api})`, async () => {
      const r = await play(api, [
        { text: "writing", calls: [write("x.txt", "whole"), call("write_file", '{"path":"y.txt","content":"ha')], end: "length" },
        { calls: [write("z.txt", "small")] }, { text: "done" },
      ], { args: ["--allow-write"] });
      assert.equal(r.last.type, "run_completed", r.stderr);
      assert.deepEqual(["x.txt", "y.txt", "z.txt"].map((f) => existsSync(join(r.rig.home.workspace, f))), [false, false, true]);
      assert.match(lastUser(api, r.asked[1].body), /output limit.*2 tool calls were dropped/);
      assert.equal(results(api, r.asked[1].body).length, 0);
      assert.deepEqual(ofType(r.events, "truncation_recovery").map((e) => e.data), [{ attempt: 1, droppedCalls: 2 }]);
      assert.equal(ofType(r.events, "response_truncated")[0].data.droppedCalls, 2);
    });
  it("wherever its arguments were cut, also where they are JSON already", async () => {
    const whole = JSON.stringify({ path: "x.txt", content, expectedHash: null });
    const cuts = [...whole].map((_, i) => i + 1).filter((n) => n > 14 && (n % 9 === 0 || "}]".includes(whole[n - 1])));
    const steps = cuts.map((n) => ({ calls: [call("write_file", whole.slice(0, n))], end: "length" }));
    // Two recoveries in a row and then an answer, again and again in one session.
    for (let i = steps.length - (steps.length % 2); i > 0; i -= 2) steps.splice(i, 0, { calls: [js(`return ${i}`)] });
    const r = await play("messages", [...steps, { text: "done" }], { args: ["--allow-write"] });
    assert.equal(r.last.type, "run_completed", r.stdout.slice(-500));
    assert.equal(ofType(r.events, "truncation_recovery").length, cuts.length);
    assert.equal(existsSync(join(r.rig.home.workspace, "x.txt")), false);
  });
  it("three times in a row: the run ends as output_truncated", async () => {
    const cut = { calls: [call("write_file", '{"path":"y.txt","content":"ha')], end: "length" };
    const r = await play("chat", [cut, cut, cut], { args: ["--allow-write"] });
    assert.equal(r.last.type, "run_failed");
    assert.equal(r.last.data.code, "output_truncated");
    assert.equal(r.status, 5);
    assert.equal(ofType(r.events, "truncation_recovery").length, 2);
    assert.equal(r.asked.length, 3);
  });
  it("a text that was cut is gone on with, and is one answer", async () => {
    const r = await play("messages", [{ text: "one two ", end: "length" }, { text: "three" }]);
    assert.equal(r.last.type, "run_completed");
    assert.equal(r.last.data.text, "one two three");
  });
  for (const [end, why] of [["content_filter", /content filter/], ["refusal", /refused/]])
    for (const api of end === "content_filter" ? ["chat", "responses"] : ["messages"])
      it(`by ${end}: told plainly (${api})`, async () => {
        const r = await play(api, [{ text: "I will", calls: [write("x.txt", "whole")], end }], { args: ["--allow-write"] });
        assert.equal(r.last.type, "run_failed");
        assert.equal(r.last.data.code, "UPSTREAM_REJECTED");
        assert.match(r.last.data.error, why);
        assert.equal(r.status, 6);
        assert.equal(existsSync(join(r.rig.home.workspace, "x.txt")), false);
      });
  it("by a connection that ends in the middle: asked again, and each call ran once", async () => {
    const answer = { text: "writing", calls: [write("x.txt", "1")] };
    const steps = [{ ...answer, dropLast: 1 }, answer, { text: "done" }];
    const r = await play("messages", steps, { args: ["--allow-write"] });
    assert.equal(r.last.type, "run_completed", r.stderr);
    assert.equal(ofType(r.events, "tool_started").length, 1);
    // What is sent from here on is what an undisturbed run would send.
    const calm = await play("messages", steps.slice(1), { args: ["--allow-write"] });
    const plain = (body) => JSON.stringify(body).replaceAll(/(call|toolu|ses|exec)_[A-Za-z0-9_]+/g, "$1").replaceAll(/\d+ ms/g, "T");
    assert.equal(plain(r.asked.at(-1).body), plain(calm.asked.at(-1).body));
    assert.equal(r.last.data.usage.estimated, true);
    assert.equal(ofType(r.events, "turn_completed")[0].data.attemptsUnknown, 1);
    assert.equal(calm.last.data.usage.estimated, false);
  });
});

describe("calls", () => {
  // How many events of a stream are its end.
  const marker = { chat: 3, responses: 1, messages: 1 };
  for (const api of APIS)
    it(`start after the end of the turn, not before (${api})`, async () => {
      const answer = { parts: [{ call: write("x.txt", "1") }, { text: "behind the call" }] };
      const n = EVENTS[api]({ model: "fake", usage: { input: 1, output: 1 }, ...answer }, { n: 0, usageInStream: true }).length;
      const rig = await rigOf(api, [{ ...answer, hold: { event: n - marker[api], name: "end" } }, { text: "done" }]);
      const file = join(rig.home.workspace, "x.txt");
      let text = "";
      const before = [];
      const run = rig.start(["--json", "--allow-write", "go"], {
        onEvent: (e) => {
          if (e.type === "text_delta") text += e.data.text;
          before.push(e.type);
          if (text !== "behind the call" || e.type !== "text_delta") return;
          before.push(existsSync(file));
          setImmediate(() => rig.fake.release("end"));
        },
      });
      const r = await run.done;
      assert.equal(r.last.type, "run_completed", r.stderr);
      assert.equal(readFileSync(file, "utf8"), "1");
      assert.equal(before.indexOf(false) < before.indexOf("tool_started"), true);
      assert.equal(before.includes(true), false);
    });
  it("that are complete run, also when the turn says stop", async () => {
    const r = await play("chat", [{ calls: [read("a.txt")], endWord: "stop" }, { text: "done" }], { files: { "a.txt": "hello" } });
    assert.match(results("chat", r.asked[1].body)[0].text, /hello/);
  });
  it("of a tool that is none: the three nearest that are offered, and the loop goes on", async () => {
    const r = await play("chat", [{ calls: [call("readFile", {}), call("document_create", {}), call("serach_text", {})] }, { text: "ok" }]);
    const told = results("chat", r.asked[1].body);
    assert.match(told[0].text, /^TOOL_NOT_FOUND: there is no tool "readFile"\nhint: .*: read_file, read_files, \w+$/);
    assert.match(told[1].text, /: \w+, \w+, \w+$/);
    assert.match(told[2].text, /: search_text, /);
    const offered = r.events[0].data.tools;
    for (const one of told) for (const name of one.text.split(": ").at(-1).split(", ")) assert.ok(offered.includes(name), name);
  });
  it("of a tool that nothing lets pass: refused with the way in, and the loop goes on", async () => {
    const r = await play("chat", [{ calls: [write("x.txt", "1")] }, { text: "ok" }]);
    assert.match(results("chat", r.asked[1].body)[0].text, /^APPROVAL_REQUIRED.*--allow-write/s);
    assert.equal(r.last.type, "run_completed");
    assert.equal(existsSync(join(r.rig.home.workspace, "x.txt")), false);
  });
  it("with one result again and again: the model is told at the third, and the run ends at the fifth", async () => {
    const r = await play("messages", Array.from({ length: 6 }, () => ({ calls: [read("a.txt")] })), { files: { "a.txt": "hello" } });
    assert.equal(r.last.type, "run_failed");
    assert.equal(r.last.data.details.reason, "LOOP");
    assert.equal(r.last.data.details.tool, "read_file");
    assert.equal(r.status, 5);
    assert.equal(r.asked.length, 5);
    const told = results("messages", r.asked[4].body).map((one) => /note: .*same call/.test(one.text));
    assert.deepEqual(told, [false, false, true, true]);
  });
  it("that differ, or whose result does, are no circle", async () => {
    const steps = Array.from({ length: 8 }, (_, i) => ({ calls: [i % 2 ? read("a.txt") : js(`return ${i}`)] }));
    const r = await play("chat", [...steps, { text: "done" }], { files: { "a.txt": "hello" } });
    assert.equal(r.last.type, "run_completed");
  });
  it("of a script with the same value are a circle, although each run has its own id", async () => {
    const r = await play("chat", Array.from({ length: 6 }, () => ({ calls: [js("return 1")] })));
    assert.equal(r.last.data.details?.reason, "LOOP", r.stdout.slice(-300));
  });
});

describe("the order of calls", () => {
  it("results go out in the order of the calls, whichever ends first; four run at once", async () => {
    const r = await play("responses", [{ calls: [busy(400, "first"), busy(200, "second"), js("return 'third'"), js("return 'fourth'"), js("return 'fifth'")] }, { text: "done" }]);
    assert.deepEqual(results("responses", r.asked[1].body).map((one) => /first|second|third|fourth|fifth/.exec(one.text)[0]), ["first", "second", "third", "fourth", "fifth"]);
    const types = r.events.filter((e) => e.type === "tool_started" || e.type === "tool_completed");
    const ended = types.findIndex((e) => e.type === "tool_completed");
    assert.equal(ended, 4, "four start before the first ends");
    const ids = ofType(r.events, "tool_started").map((e) => e.data.id);
    assert.notEqual(ofType(r.events, "tool_completed")[0].data.id, ids[0]);
  });
  it("an effect waits for all before it, and all behind wait for it", async () => {
    const r = await play("chat", [{ calls: [busy(150, "a"), read("a.txt"), write("a2.txt", "new"), read("a2.txt"), write("a3.txt", "x")] }, { text: "done" }],
      { args: ["--allow-write"], files: { "a.txt": "old" } });
    const seen = r.events.filter((e) => /^tool_(started|completed)$/.test(e.type)).map((e) => `${e.type === "tool_started" ? "+" : "-"}${e.data.name}`);
    assert.deepEqual(seen.slice(4), ["+write_file", "-write_file", "+read_file", "-read_file", "+write_file", "-write_file"]);
    assert.match(results("chat", r.asked[1].body)[3].text, /new/);
  });
});

describe("a run", () => {
  it("makes no request but its turns", async () => {
    for (const api of APIS) {
      const r = await play(api, [{ calls: [read("a.txt")] }, { text: "done" }], { files: { "a.txt": "x" } });
      assert.equal(r.asked.length, 2);
      assert.equal(r.last.data.turns, 2);
      assert.equal(r.last.data.calls, 1);
    }
  });
  it("ends softly after maxTurns answers, with its calls done, and goes on by resume", async () => {
    const rig = await rigOf("chat", [{ calls: [write("x.txt", "1")] }, { text: "done" }]);
    const r = await rig.run(["--json", "--allow-write", "--max-turns", "1", "go"]);
    assert.equal(r.last.type, "run_turns_exceeded");
    assert.equal(r.status, 5);
    assert.equal(readFileSync(join(rig.home.workspace, "x.txt"), "utf8"), "1");
    const again = await rig.resume([r.last.sessionId, "--json"]);
    assert.equal(again.last.type, "run_completed", again.stderr);
    assert.deepEqual(rig.fake.violations, []);
    assert.match(results("chat", rig.fake.requests.filter((q) => q.api).at(-1).body)[0].text, /x\.txt/);
  });
  it("ends when it has used its tokens", async () => {
    const r = await play("chat", [{ calls: [read("a.txt")], usage: { input: 90_000, output: 20_000 } }], { config: { maxTokens: 100_000 }, files: { "a.txt": "x" } });
    assert.equal(r.last.type, "run_failed");
    assert.equal(r.last.data.code, "TURN_LIMIT");
    assert.equal(r.last.data.details.limit, "tokens");
    assert.equal(r.status, 5);
  });
  it("goes on after a pause, at most ten times in a row", async () => {
    const r = await play("messages", [{ text: "one ", end: "pause" }, { text: "two", end: "stop" }], { fake: { prefill: true } });
    assert.equal(r.last.data.text, "one two");
    const endless = await play("messages", () => ({ text: "…", end: "pause" }), { fake: { prefill: true } });
    assert.equal(endless.last.type, "run_failed");
    assert.equal(endless.asked.length, 11);
  });
  it("tells what it published, with the place where it is", async () => {
    const r = await play("chat", [{ calls: [call("artifact_create", { fileName: "note.txt", text: "hello" })] }, { text: "done" }]);
    const [e] = ofType(r.events, "artifact_published");
    assert.equal(readFileSync(e.data.path, "utf8"), "hello");
    assert.equal(e.data.artifact.fileName, "note.txt");
    assert.equal(e.data.callId, ofType(r.events, "tool_started")[0].data.id);
    assert.equal(ofType(r.events, "artifact_published").length, 1);
  });
  it("counts money by configured prices, exactly", async () => {
    const price = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };
    const r = await play("messages", [{ text: "done", usage: { input: 1000, cachedInput: 400, cacheWrite: 100, output: 50 } }],
      { provider: { models: { fake: { price } } } });
    assert.equal(r.last.data.costUsd, (500 * 3 + 400 * 0.3 + 100 * 3.75 + 50 * 15) / 1e6);
  });
  it("says what the model read: results, errors and notes are the same in the journal", async () => {
    const rig = await rigOf("chat", [{ calls: [read("a.txt"), call("nope", {})] }, { text: "done" }, { text: "more" }], { files: { "a.txt": "hello" } });
    const first = await rig.run(["--json", "go"]);
    await rig.resume([first.last.sessionId, "--json", "and now?"]);
    const bodies = rig.fake.requests.filter((q) => q.api).map((q) => q.body);
    assert.deepEqual(bodies[2].messages.slice(0, bodies[1].messages.length), bodies[1].messages);
    assert.deepEqual(rig.fake.violations, []);
  });
});
