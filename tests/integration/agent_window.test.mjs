// The context window: where its size comes from, what is done before it is full, and what is said when nothing more can be done.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { agentRig, ofType, APIS } from "../fake/lib.mjs";

const rigs = [];
async function rigOf(...args) {
  const rig = await agentRig(...args);
  rigs.push(rig);
  return rig;
}
after(() => Promise.all(rigs.map((rig) => rig.close())));
async function play(api, scenario, { args = [], prompt = "do it", ...options } = {}) {
  const rig = await rigOf(api, scenario, options);
  const r = await rig.run(["--json", ...args, prompt]);
  assert.deepEqual(rig.fake.violations, [], r.stderr);
  return { ...r, rig, asked: rig.fake.requests.filter((q) => q.api) };
}
const read = (path, more = {}) => ({ name: "read_file", arguments: { path, ...more } });
const messagesOf = (api, body) => (api === "responses" ? body.input : body.messages);
const says = (api, body, text) => JSON.stringify(messagesOf(api, body)).includes(text);
const lines = (n, word = "line") => Array.from({ length: n }, (_, i) => `${word} ${i} ${"abcdefghij ".repeat(4)}`).join("\n");
const isSummary = (q) => /Write a summary for yourself/.test(q.raw.toString());

describe("the size of the window", () => {
  const servers = {
    anthropic: ["messages", { window: 200_000 }, 200_000],
    openrouter: ["chat", { window: 100_000, served: 60_000 }, 60_000],
    vllm: ["chat", { window: 12_000 }, 12_000],
    llamacpp: ["chat", { window: 131_072, served: 16_000 }, 16_000],
    lmstudio: ["chat", { window: 131_072, served: 14_000 }, 14_000],
    ollama: ["chat", { window: 131_072, served: 10_000 }, 10_000],
  };
  for (const [dialect, [api, model, window]] of Object.entries(servers))
    it(`is asked for beside the first request, and kept: ${dialect}`, async () => {
      const rig = await rigOf(api, () => ({ text: "done", delayMs: 400 }), { fake: { models: { dialect, list: [{ id: "fake", ...model }] } } });
      const first = await rig.run(["--json", "one"]);
      assert.equal(first.last.type, "run_completed", first.stderr);
      assert.equal(first.events[0].data.limits.contextWindowKnown, false);
      assert.equal(ofType(first.events, "notice").length, 0, first.stdout);
      const asked = rig.fake.requests.length;
      const second = await rig.run(["--json", "two"]);
      assert.equal(second.events[0].data.limits.contextWindow, window);
      assert.equal(rig.fake.requests.length, asked + 1, "known: nothing is asked again");
    });
  it("is the smaller one where the configuration says more than is served", async () => {
    const rig = await rigOf("chat", () => ({ text: "done", delayMs: 400 }), { provider: { contextWindow: 131_072 }, fake: { models: { dialect: "vllm", list: [{ id: "fake", window: 8192 }] } } });
    await rig.run(["--json", "one"]);
    assert.equal((await rig.run(["--json", "two"])).events[0].data.limits.contextWindow, 8192);
  });
  it("is 32,768 with a notice where nobody says it", async () => {
    const r = await play("chat", [{ text: "done", delayMs: 400 }], { fake: { models: { dialect: "openai", list: [{ id: "fake" }] } } });
    assert.equal(r.events[0].data.limits.contextWindow, 32_768);
    assert.ok(ofType(r.events, "notice").some((e) => /32768 tokens are assumed.*contextWindow/.test(e.data.text)), r.stdout);
  });
  it("that an endpoint keeps to itself shows when it reads less than was sent", async () => {
    const r = await play("chat", [{ text: "done", usage: { input: 900, output: 5 } }]);
    assert.ok(ofType(r.events, "notice").some((e) => /read only 900 tokens/.test(e.data.text)), r.stdout);
  });
  for (const api of APIS)
    it(`is learned from the first request that is too large, and that one is made smaller (${api})`, async () => {
      const files = Object.fromEntries([0, 1, 2, 3].map((i) => [`f${i}.txt`, lines(180, `file${i}`)]));
      const rig = await rigOf(api, ({ n, request }) => (isSummary({ raw: request.raw }) ? { text: "The files were read." } : n < 4 ? { calls: [read(`f${n}.txt`)] } : { text: "done" }),
        { provider: { contextWindow: 131_072 }, files, fake: { window: 9000, models: { dialect: "openai", list: [{ id: "fake" }] } } });
      const r = await rig.run(["--json", "read them"]);
      assert.equal(r.last?.type, "run_completed", r.stdout.slice(-600));
      const refused = rig.fake.requests.filter((q) => q.refused);
      assert.ok(refused.length >= 1 && refused.length <= 2, String(refused.length));
      assert.ok(ofType(r.events, "context_reduced").length + ofType(r.events, "compaction_completed").length > 0);
      assert.equal((await rig.run(["--json", "again"])).events[0].data.limits.contextWindow, 9000);
    });
});

describe("older turns are summarised", () => {
  // Answers whose texts fill the window by themselves: nothing but a summary helps.
  const long = (i) => `step ${i}: ${"words that fill the window ".repeat(60)}`;
  const script = ({ n, request }) => (isSummary(request) ? { text: "SUMMARY: steps were made." } : n > 14 ? { text: "all done" } : { text: long(n), calls: [{ name: "js_run", arguments: { code: `return ${n}` } }] });
  for (const api of APIS)
    it(`in the middle of a task, which goes on by itself (${api})`, async () => {
      const r = await play(api, script, { prompt: "THE NEWEST PROMPT", provider: { contextWindow: 12_000 } });
      assert.equal(r.last.type, "run_completed", r.stdout.slice(-600));
      assert.equal(r.last.data.text, "all done");
      const done = ofType(r.events, "compaction_completed");
      assert.ok(done.length >= 1);
      assert.equal(ofType(r.events, "compaction_started").length, done.length);
      for (const { data } of done) {
        assert.ok(data.tokensAfter < data.tokensBefore * 0.8, JSON.stringify(data));
        assert.ok(data.firstSeq <= data.lastSeq);
      }
      for (const [i, q] of r.asked.entries()) {
        if (!isSummary(q)) continue;
        const before = r.asked[i - 1].raw, after = r.asked[i + 1].body;
        const open = before.subarray(0, before.lastIndexOf("]"));
        assert.ok(q.raw.subarray(0, open.length).equals(open), "it begins with the bytes of the request before");
        assert.deepEqual(q.body.tools, r.asked[i - 1].body.tools);
        assert.deepEqual(q.body.tool_choice, api === "messages" ? { type: "none" } : "none");
        assert.ok(says(api, after, "SUMMARY: steps were made."));
        assert.ok(says(api, after, "THE NEWEST PROMPT"));
        assert.equal(messagesOf(api, after)[api === "chat" ? 1 : 0].role, "user");
      }
      const kept = r.asked.at(-1);
      assert.ok(kept.raw.length < 12_000 * 4);
      assert.ok(says(api, kept.body, "THE NEWEST PROMPT"));
    });
  it("when it was full while the model wrote: once, and what was written so is not run", async () => {
    const r = await play("messages", ({ n, request }) => (isSummary(request) ? { text: "SUMMARY" } : n === 4 ? { text: "half", calls: [{ name: "write_file", arguments: { path: "x", content: "x", expectedHash: null } }], end: "context_window" } : n > 5 ? { text: "done" } : { text: `step ${n}`, calls: [{ name: "js_run", arguments: { code: `return ${n}` } }] }),
      { provider: { contextWindow: 100_000 }, args: ["--allow-write"] });
    assert.equal(r.last.type, "run_completed", r.stdout.slice(-400));
    assert.equal(ofType(r.events, "compaction_completed").length, 1);
    assert.equal(r.asked.filter(isSummary).length, 1);
    assert.deepEqual(readdirSync(r.rig.home.workspace), []);
    assert.ok(!says("messages", r.asked.at(-1).body, "half"));
  });
  it("and resume sends what the run would have sent", async () => {
    const rig = await rigOf("messages", script, { provider: { contextWindow: 12_000 } });
    const first = await rig.run(["--json", "PROMPT"]);
    const last = rig.fake.requests.filter((q) => q.api).at(-1).body;
    await rig.resume([first.last.sessionId, "--json", "more"]);
    const body = rig.fake.requests.filter((q) => q.api).at(-1).body;
    assert.deepEqual(body.messages.slice(0, last.messages.length - 1), last.messages.slice(0, -1));
    assert.deepEqual(rig.fake.violations, []);
  });
  it("by a model that answers with calls all the same: none is run", async () => {
    const r = await play("chat", (q) => (isSummary(q.request) ? { text: "SUMMARY", calls: [{ name: "write_file", arguments: { path: "x", content: "x", expectedHash: null } }] } : script(q)),
      { provider: { contextWindow: 12_000 }, args: ["--allow-write"] });
    assert.equal(r.last.type, "run_completed");
    assert.deepEqual(readdirSync(r.rig.home.workspace), []);
  });
  it("a summary that fails leaves all as it was, and its error is the one that is shown", async () => {
    const rig = await rigOf("messages", (q) => (isSummary(q.request) ? { reply: { status: 401, error: { type: "authentication_error", message: "the key has gone" } } } : script(q)), { provider: { contextWindow: 12_000 } });
    const r = await rig.run(["--json", "PROMPT"]);
    assert.equal(r.last.type, "run_failed");
    assert.equal(r.last.data.code, "AUTH_REQUIRED");
    assert.match(r.last.data.error, /the key has gone/);
    assert.equal(r.status, 3);
    assert.match(ofType(r.events, "compaction_failed")[0].data.error, /the key has gone/);
    const n = rig.fake.requests.filter((q) => q.api).length, before = rig.fake.requests.filter((q) => q.api).at(-2).body;
    rig.fake.play((q) => (isSummary(q.request) ? { text: "SUMMARY" } : { text: "done" }));
    const again = await rig.resume([r.last.sessionId, "--json"]);
    assert.equal(again.last.type, "run_completed", again.stdout);
    const summary = rig.fake.requests.filter((q) => q.api)[n];
    assert.ok(isSummary(summary));
    assert.deepEqual(summary.body.messages.slice(0, before.messages.length), before.messages);
  });
  it("twice in a row that save next to nothing: the run ends, with the sizes by part", async () => {
    const filler = "words that fill the window ".repeat(200);
    const r = await play("chat", (q) => (isSummary(q.request) ? { text: filler.repeat(4) } : q.n > 40 ? { text: "done" } : { text: `${q.n} ${filler}`, calls: [{ name: "js_run", arguments: { code: `return ${q.n}` } }] }), { provider: { contextWindow: 14_000 } });
    assert.equal(r.last.type, "run_failed", r.stdout.slice(-300));
    assert.equal(r.last.data.code, "CONTEXT_LIMIT");
    assert.deepEqual(Object.keys(r.last.data.details.sizes), ["system", "tools", "agentsMd", "newestTurn"]);
    assert.equal(r.status, 5);
    assert.ok(r.asked.filter(isSummary).length <= 3);
  });
});

describe("what does not fit", () => {
  it("by itself is said before anything is sent", async () => {
    const r = await play("chat", [{ text: "never" }], { provider: { contextWindow: 4000 }, prompt: "a long prompt ".repeat(2000) });
    assert.equal(r.last.data.code, "CONTEXT_LIMIT");
    assert.match(r.last.data.error, /system prompt \d+, tools \d+, AGENTS\.md \d+, newest turn \d+/);
    assert.equal(r.asked.length, 0);
  });
  it("of old results becomes a note that names where it is, before anything is summarised", async () => {
    const files = Object.fromEntries([0, 1, 2, 3, 4, 5].map((i) => [`f${i}.txt`, lines(100, `file${i}`)]));
    const r = await play("chat", ({ n }) => (n < 6 ? { text: "next", calls: [read(`f${n}.txt`)] } : { text: "done" }), { provider: { contextWindow: 13_000 }, files });
    assert.equal(r.last.type, "run_completed", r.stdout.slice(-500));
    const reduced = ofType(r.events, "context_reduced");
    assert.ok(reduced.length >= 1);
    assert.ok(reduced[0].data.tokensAfter < reduced[0].data.tokensBefore);
    assert.equal(r.asked.filter(isSummary).length, 0);
    const body = r.asked.at(-1).body, results = body.messages.filter((m) => m.role === "tool");
    assert.match(results[0].content, /^\[The result of read_file \(\d+ bytes\) was left out .* call_\w+\. The whole is in scratch:results\/call_/);
    assert.match(results.at(-1).content, /file5 99/, "the newest stay");
  });
  it("of one result: head, end, and a place where the whole can be read on", async () => {
    const text = lines(700, "row");
    const r = await play("messages", [{ calls: [read("big.txt", { limit: 1000 })] }, { text: "done" }], { provider: { contextWindow: 8192 }, files: { "big.txt": text } });
    assert.equal(r.last.type, "run_completed", r.stdout.slice(-500));
    const [result] = r.asked[1].body.messages.at(-1).content;
    const said = typeof result.content === "string" ? result.content : result.content[0].text;
    assert.ok(said.length / 3.5 <= 8192 / 4 + 1, String(said.length));
    assert.match(said, /row 0 /);
    const [, place] = /\[Left out here: \d+ of \d+ bytes.*(scratch:results\/call_\w+\.txt)/.exec(said);
    const rig = r.rig;
    rig.fake.play([{ calls: [read(place, { startLine: 300, limit: 5 })] }, { text: "done" }]);
    await rig.resume([r.last.sessionId, "--json", "and the middle?"]);
    const body = rig.fake.requests.filter((q) => q.api).at(-1).body;
    const again = JSON.stringify(body.messages.at(-1).content);
    assert.match(again, /row 29\d /);
    assert.deepEqual(rig.fake.violations, []);
  });
  it("of many results at once: each gets its share", async () => {
    const files = Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((i) => [`f${i}.txt`, lines(120, `file${i}`)]));
    const r = await play("messages", [{ calls: Object.keys(files).map((f) => read(f)) }, { text: "done" }], { provider: { contextWindow: 10_000 }, files });
    assert.equal(r.last.type, "run_completed", r.stdout.slice(-500));
    assert.ok(r.asked[1].raw.length < 40_000);
    for (const block of r.asked[1].body.messages.at(-1).content) assert.match(JSON.stringify(block), /file\d 0 /);
  });
});
