// What the tests of faults share: one run of the binary against a scenario, and what holds of every run whatever the fault.
import assert from "node:assert/strict";
import { APIS, agentRig, ofType } from "./lib.mjs";

// A test's body for a fault that is the same by every API is shown by one of them, in turn; with ALISIO_EVERY_API=1 (make soak) by all.
let turn = 0;
export function each(fn, apis = APIS) {
  const chosen = process.env.ALISIO_EVERY_API ? apis : [apis[turn++ % apis.length]];
  return () => Promise.all(chosen.map(fn));
}

const LAST = ["run_completed", "run_failed", "run_cancelled", "run_turns_exceeded"];

// Standard output is JSON lines only, begun and ended as they must be, numbered, without a control character.
export function wellFormed(r) {
  const lines = r.stdout.split("\n");
  assert.equal(lines.pop(), "", "the last line is whole");
  const events = lines.map((line) => {
    assert.ok(Buffer.byteLength(line) <= 1 << 20, "a line has at most 1 MiB");
    assert.doesNotMatch(line, /[\u0000-\u001f\u007f]/);
    return JSON.parse(line);
  });
  assert.equal(events[0].type, "run_started");
  events.forEach((e, i) => {
    assert.equal(e.schemaVersion, 1);
    assert.equal(e.seq, i + 1);
    assert.equal(LAST.includes(e.type), i === events.length - 1, `${e.type} at ${i + 1} of ${events.length}`);
  });
  return events;
}

// One run. o: args, prompt, files, config, provider, fake, env, input, onEvent(event, rig), loose (the fake may have refused). check(r, rig)
// sees the workspace before it is removed; r.events, r.last, r.of(type).
export async function go(api, scenario, o = {}, check = () => {}) {
  const rig = await agentRig(api, scenario, o);
  try {
    const r = await rig.run(["--json", ...(o.args ?? []), o.prompt ?? "go"], { ...o, onEvent: o.onEvent && ((e, run) => o.onEvent(e, rig, run)) });
    told(r, rig, o);
    await check(r, rig);
    return r;
  } finally {
    await rig.close();
  }
}

export function told(r, rig, o = {}) {
  try {
    wellFormed(r);
    r.of = (type) => ofType(r.events, type);
    if (!o.loose) assert.deepEqual(rig.fake.violations, []);
  } catch (e) {
    e.message += `\nstatus ${r.status}\n${r.stdout.slice(-3000)}\n${r.stderr.slice(-2000)}`;
    throw e;
  }
  return r;
}

// The run came to its end with this text.
export function completed(r, text) {
  assert.equal(r.last.type, "run_completed", `${r.stdout.slice(-1500)}${r.stderr}`);
  assert.equal(r.status, 0);
  if (text !== undefined) assert.equal(r.last.data.text, text);
}
export function failed(r, code, words) {
  assert.equal(r.last.type, "run_failed", `${r.stdout.slice(-1500)}${r.stderr}`);
  assert.equal(r.last.data.code, code);
  if (words) assert.match(JSON.stringify(r.last.data), words);
  assert.ok(r.status > 0);
}
// One attempt failed as that, and was asked again.
export function askedAgain(r, reason, times = 1) {
  assert.deepEqual(r.of("request_retry").map((e) => e.data.reason), Array(times).fill(reason));
}
export const nothingRan = (r) => assert.deepEqual(r.of("tool_started"), []);
// The calls that ran: [name, arguments as an object].
export const ran = (r) => r.of("tool_started").map((e) => [e.data.name, typeof e.data.arguments === "string" ? JSON.parse(e.data.arguments) : e.data.arguments]);
