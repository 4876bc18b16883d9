// How the makers' packages and this program judge the same streams: where they accept what must not run, and where they refuse
// what is harmless. Each cell is seen: with the real package (raw iteration, and the final message of its .stream() helper), and
// with the real binary. Packages that change their mind turn a cell red; then it is to be thought again what is right here.
//
// Of a package, "raw/helper" (one word where both agree): ok = the text is there and so is the turn's end; lost = no error, but
// text or end is missing; throws. Of ours: ok; cut, malformed … = the attempt failed as that and was asked again; or the
// code that the run ended with.
import { describe, it, test } from "node:test";
import assert from "node:assert/strict";
import { startFake } from "../fake/server.mjs";
import { JUDGES, JUDGE_KEY } from "../fake/sdk.mjs";
import { agentRig, ofType, textOf } from "../fake/lib.mjs";

const TEXT = "the whole answer";
const said = { text: TEXT, usage: { input: 9, output: 3 }, wire: { split: 4 } };
const wire = (more) => ({ ...said, wire: { split: 4, ...more } });
const broken = { parts: [{ text: TEXT.slice(0, 4) }, { text: TEXT.slice(4), index: 2 }], usage: said.usage };
const last = (e) => e.event === "message_stop" || e.event === "response.completed" || e.data === "[DONE]" || Boolean(e.data?.choices?.[0]?.finish_reason);
const failed = { type: "response.failed", sequence_number: 50, response: { id: "resp_f0", object: "response", status: "failed", output: [], error: { code: "server_error", message: "boom" }, usage: null } };
const fail = (list) => list.map((e) => (e.event === "response.completed" ? { event: failed.type, data: { ...failed, response: { ...failed.response, id: e.data.response.id } } } : e));
const boom = (shape) => ({ ...said, error: { at: 4, shape, message: "boom", type: "api_error" } });
const HTML = "<html><body>Bad gateway</body></html>";
const unknown = { at: 3, event: "response.brand_new", data: { type: "response.brand_new", sequence_number: 99, x: 1 } };

// name, step, then [openai-7, openai-6 | anthropic, ours] of each API that it is about
const ROWS = [
  ["nothing special", said, { chat: ["ok", "ok", "ok"], responses: ["ok", "ok", "ok"], messages: ["ok", "ok"] }],
  ["no event: lines", wire({ eventLines: false }), { responses: ["ok", "ok", "ok"], messages: ["lost/throws", "ok"] }],
  ["comments", wire({ noise: ["comment"] }), { chat: ["ok", "ok", "ok"], responses: ["ok", "ok", "ok"], messages: ["ok", "ok"] }],
  ["an id alone", wire({ noise: ["id"] }), { chat: ["ok", "ok", "ok"], messages: ["ok", "ok"] }],
  ["data: : keepalive", wire({ noise: ["colon"] }), { chat: ["throws", "throws", "ok"], responses: ["throws", "throws", "ok"], messages: ["ok", "ok"] }],
  ["empty data", wire({ noise: ["empty"] }), { chat: ["throws", "throws", "ok"], responses: ["throws", "throws", "ok"], messages: ["ok", "ok"] }],
  ["event: keepalive alone", wire({ noise: ["keepalive"] }), { chat: ["throws", "throws", "ok"], responses: ["throws", "throws", "ok"], messages: ["ok", "ok"] }],
  ["event: ping", wire({ noise: ["ping"] }), { chat: ["ok/throws", "ok/throws", "ok"], responses: ["ok/throws", "ok/throws", "ok"], messages: ["ok", "ok"] }],
  ["[DONE] and a blank", { ...said, edit: (list) => list.map((e) => (e.data === "[DONE]" ? { data: "[DONE] " } : e)) }, { chat: ["throws", "ok", "ok"] }],
  ["no [DONE]", { ...said, edit: (list) => list.filter((e) => e.data !== "[DONE]") }, { chat: ["ok", "ok", "ok"] }],
  ["cut inside an event", { ...said, cut: { byte: 900 } }, { chat: ["throws", "lost/throws", "cut"], responses: ["throws", "lost", "cut"], messages: ["lost/throws", "cut"] }],
  ["cut between events", { ...said, cut: { event: 4 } }, { chat: ["lost/throws", "lost/throws", "cut"], responses: ["lost", "lost", "cut"], messages: ["lost/throws", "cut"] }],
  ["the connection reset", { ...said, cut: { event: 4, how: "reset" } }, { chat: ["throws", "throws", "cut"], responses: ["throws", "throws", "cut"], messages: ["throws", "cut"] }],
  ["the last event missing", { ...said, edit: (list) => list.filter((e) => !last(e)) }, { chat: ["lost/throws", "lost/throws", "cut"], responses: ["lost", "lost", "cut"], messages: ["ok/throws", "cut"] }],
  ["an empty finish_reason", { ...said, endWord: "" }, { chat: ["lost/throws", "lost/throws", "cut"] }],
  ["an empty body", { raw: "" }, { chat: ["lost/throws", "lost/throws", "malformed"], responses: ["lost/throws", "lost/throws", "malformed"], messages: ["lost/throws", "malformed"] }],
  ["HTML with 200", { raw: HTML, contentType: "text/html" }, { chat: ["lost/throws", "lost/throws", "malformed"], responses: ["lost/throws", "lost/throws", "malformed"], messages: ["lost/throws", "malformed"] }],
  ["{error} in data", boom("data"), { chat: ["throws", "throws", "server_error"], responses: ["throws", "throws", "server_error"], messages: ["lost/throws", "server_error"] }],
  ["event: error with {error}", boom("event"), { chat: ["throws", "throws", "server_error"], responses: ["throws", "throws", "server_error"], messages: ["throws", "server_error"] }],
  ["event: error with {message}", boom("message"), { chat: ["throws", "lost/throws", "server_error"], responses: ["throws", "lost/throws", "server_error"], messages: ["throws", "server_error"] }],
  ["event: error alone", boom("bare"), { chat: ["throws", "throws", "server_error"], responses: ["throws", "throws", "server_error"], messages: ["throws", "server_error"] }],
  ["the flat error", boom("flat"), { responses: ["throws", "lost/throws", "server_error"] }],
  ["an unknown event", { ...said, insert: [unknown] }, { chat: ["ok/throws", "ok/throws", "ok"], responses: ["ok/throws", "ok/throws", "ok"], messages: ["ok", "ok"] }],
  ["response.failed", { ...said, edit: fail }, { responses: ["lost", "lost", "server_error"] }],
  ["two objects in one event", { ...said, edit: (list) => list.map((e, i) => (i === 3 ? { ...e, data: JSON.stringify(e.data) + JSON.stringify(e.data) } : e)) }, { chat: ["throws", "throws", "malformed"], responses: ["throws", "throws", "malformed"], messages: ["throws", "malformed"] }],
  ["block indexes 0 and 2", broken, { messages: ["ok/lost", "ok"] }],
];

const within = (ms, promise) => {
  let timer;
  return Promise.race([promise, new Promise((_, late) => (timer = setTimeout(() => late(new Error("late")), ms)))]).finally(() => clearTimeout(timer));
};

async function verdict(judge, step) {
  const fake = await startFake(() => step, { key: JUDGE_KEY });
  const word = async (fn) => within(10_000, fn()).then((good) => (good ? "ok" : "lost"), () => "throws");
  const raw = await word(async () => {
    const chunks = [];
    for await (const chunk of await judge.raw(fake)) chunks.push(chunk);
    return !["", null, "in_progress", "failed"].includes(judge.rawEnd(chunks));
  });
  const helper = await word(async () => {
    const got = await judge.helper(fake);
    return got.text === TEXT && !["in_progress", "failed"].includes(got.end);
  });
  assert.deepEqual(fake.violations, []);
  await fake.close();
  return raw === helper ? raw : `${raw}/${helper}`;
}

async function ours(api, step) {
  const rig = await agentRig(api, [step, { text: "asked again" }]);
  try {
    const r = await rig.run(["--json", "go"]);
    assert.deepEqual(rig.fake.violations, []);
    const [retry] = ofType(r.events, "request_retry");
    if (retry) {
      assert.equal(r.last.type, "run_completed", r.stdout + r.stderr);
      assert.equal(r.last.data.text, "asked again"); // nothing of the broken attempt is part of it
      return retry.data.reason;
    }
    if (r.last?.type !== "run_completed") return r.last?.data.code ?? `${r.stdout}${r.stderr}`;
    assert.equal(textOf(r.events), TEXT);
    return r.last.data.text === TEXT ? "ok" : "lost";
  } finally {
    await rig.close();
  }
}

// What the packages write about it to the console is not of interest.
console.error = () => {};

const COLUMN = { "openai-7": 0, "openai-6": 1, anthropic: 0 };
const CELLS = ROWS.flatMap(([name, step, apis]) => Object.entries(apis).map(([api, cells]) => ({ name, step, api, cells })));
describe("the makers' packages", () => {
  for (const { name, step, api, cells } of CELLS)
    for (const judge of JUDGES.filter((j) => j.api === api))
      it(`${judge.name} by ${api}: ${name} is ${cells[COLUMN[judge.name]]}`, async () => assert.equal(await verdict(judge, step), cells[COLUMN[judge.name]]));
});
describe("ours", { concurrency: 6 }, () => {
  for (const { name, step, api, cells } of CELLS)
    it(`ours by ${api}: ${name} is ${cells[cells.length - 1]}`, async () => assert.equal(await ours(api, step), cells[cells.length - 1]));
});

// What a package makes of a call that the output limit cut: the text as far as it came, or worse, a whole object of a part of it.
test("a call cut by the output limit: the packages give it, ours does not run it", async () => {
  const step = { calls: [{ name: "write_file", arguments: '{"path":"a.txt","content":"half' }], end: "length" };
  for (const judge of JUDGES) {
    const fake = await startFake([step], { key: JUDGE_KEY });
    const got = await judge.helper(fake);
    assert.equal(got.calls[0].arguments, judge.api === "messages" ? '{"path":"a.txt"}' : step.calls[0].arguments);
    await fake.close();
  }
  for (const api of ["chat", "responses", "messages"]) {
    const rig = await agentRig(api, [step, { text: "done" }]);
    const r = await rig.run(["--json", "--allow-write", "go"]);
    assert.deepEqual(ofType(r.events, "tool_started"), []);
    assert.equal(ofType(r.events, "truncation_recovery").length, 1);
    assert.equal(r.last.data.text, "done");
    assert.deepEqual(rig.fake.violations, []);
    await rig.close();
  }
});
