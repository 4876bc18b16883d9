// A run that is killed at a point, gone on with, and judged: what the table of agent_kill.test.mjs and the soak run share.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentRig, configure, ofType, providerOf } from "../fake/lib.mjs";
import { root, runJson } from "./lib.mjs";

// Each effect class: the call that is killed around, the flags it needs, and how often it happened.
const countLines = (home, name) => {
  const file = join(home.workspace, name);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter((line) => line !== "").length : 0;
};
// What follows: a read; behind calls that run beside each other, one that waits for them.
const reads = { name: "read_file", arguments: { path: "b.txt" } };
const waits = { name: "shell", arguments: { command: "true" } };
export const EFFECTS = {
  read: { call: { name: "read_file", arguments: { path: "a.txt" } }, next: waits, flags: ["--allow-process"], count: () => 0, at: 0 },
  internal: {
    call: { name: "artifact_create", arguments: { fileName: "made.md", text: "# made" } }, next: waits, flags: ["--allow-process"],
    count: (home) => runJson(home, ["artifacts", "list"]).json.structured.artifacts.length, at: 1,
  },
  write: {
    call: { name: "edit_file", arguments: { path: "grows.txt", oldText: "end", newText: "line\nend" } }, flags: ["--allow-write"],
    count: (home) => countLines(home, "grows.txt") - 1, at: 1,
  },
  process: { call: { name: "shell", arguments: { command: "echo x >> counted.txt" } }, flags: ["--allow-process"], count: (home) => countLines(home, "counted.txt"), at: 1 },
  external: { call: { name: "effects.add", arguments: { line: "x" } }, flags: ["--allow-mcp"], count: (home) => countLines(home, "outside.txt"), at: 1 },
};
export const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n", "grows.txt": "end\n" };

// The points, in the order of a turn. after: how often the effect has happened when all is over, as a part of once: 1 when the
// resumed turn still asks for it (nothing of it was known) or when it had happened, 0 when it had not and is not repeated.
// prompt: the conversation ended with an answer, so that going on needs a new prompt.
export const POINTS = {
  "agent.prompt_stored": { after: 1 },
  "agent.request_stored": { after: 1 },
  "agent.stream": { after: 1 },
  "agent.answer_ended": { after: 1 },
  "agent.assistant_stored": { after: 0, words: ["not started"] },
  "agent.call_stored": { after: 0, words: ["interrupted"] },
  "agent.effect": { after: 1, words: ["interrupted", "completed"] },
  "agent.result_stored": { after: 1, words: ["result"] },
  "agent.between_calls": { after: 1, words: ["result"] },
  "agent.results_stored": { after: 1, words: ["result"] },
  "agent.compact_asked": { after: 1, compacts: true },
  "agent.compact_stored": { after: 1, compacts: true },
  "agent.turn_ended": { after: 1, prompt: true },
};

// --- what a request holds, whatever the API ---

export function resultsOf(api, body) {
  const found = [];
  if (api === "chat")
    for (const m of body.messages) if (m.role === "tool") found.push({ id: m.tool_call_id, text: m.content });
  if (api === "responses")
    for (const item of body.input) if (item.type === "function_call_output") found.push({ id: item.call_id, text: item.output });
  if (api === "messages")
    for (const m of body.messages)
      for (const block of Array.isArray(m.content) ? m.content : [])
        if (block.type === "tool_result")
          found.push({ id: block.tool_use_id, text: typeof block.content === "string" ? block.content : block.content.map((b) => b.text).join("") });
  return found;
}

// Without what asks for models.
export const requestsOf = (rig) => rig.fake.requests.filter((r) => r.api);

const isSummary = (api, body) => (api === "messages" ? body.tool_choice?.type === "none" : body.tool_choice === "none");

// The model: calls once (the effect, then a read), reads once more where the window is to be filled, and is done.
function scenario(effect, compacts) {
  return ({ api, body }) => {
    if (isSummary(api, body)) return { text: "the older part: the effect was asked for, and had", usage: { input: 100, output: 10 } };
    const n = resultsOf(api, body).length;
    const summarised = JSON.stringify(body).includes("the older part");
    if (n === 0 && !summarised) return { text: "I go.", calls: [effect.call, effect.next ?? reads], usage: { input: 3000, output: 20 } };
    if (compacts && !summarised && n < 3) return { calls: [reads], usage: { input: 31000, output: 20 } };
    return { text: "done", usage: { input: 3200, output: 5 } };
  };
}

export async function killedRig(api, effectName, point) {
  const effect = EFFECTS[effectName];
  const compacts = Boolean(POINTS[point]?.compacts);
  const rig = await agentRig(api, scenario(effect, compacts), {
    files: FILES,
    provider: { contextWindow: 32768, maxOutputTokens: 1000 },
    config: { compaction: { keepTurns: 1 } },
  });
  const server = { command: process.execPath, args: [join(root, "tests/fixtures/effects.mjs"), join(rig.home.workspace, "outside.txt")] };
  if (effectName === "external") {
    configure(rig.home, providerOf(rig.fake, api, { contextWindow: 32768, maxOutputTokens: 1000 }), { mcp: { servers: { effects: server } } });
  }
  return Object.assign(rig, { effect, server });
}

// Of a session's newest conversation in the workspace.
export function sessionOf(home) {
  const all = runJson(home, ["sessions", "list"]).json.structured.sessions;
  const found = all.find((s) => s.kind === "agent");
  assert.ok(found, "there is a session of the agent");
  return found.sessionId;
}

// What people read: of each call that was settled, its words.
export const settledOf = (events) => ofType(events, "tool_completed").filter((e) => e.data.settled);

// A run killed at the point, and what came of going on.
export async function killAndResume(api, effectName, point, nth = 1) {
  const rig = await killedRig(api, effectName, point);
  try {
    const killed = await rig.run(["--json", ...rig.effect.flags, "do it"], { env: { ALISIO_FAILPOINT: `${point}:${nth}` } });
    assert.equal(killed.signal, "SIGKILL", `killed at ${point}: ${killed.stderr}${killed.stdout.slice(-600)}`);
    const before = requestsOf(rig).length;
    const id = sessionOf(rig.home);
    const expect = POINTS[point];
    const words = expect.prompt ? ["and now?"] : [];
    const resumed = await rig.resume([id, ...words, "--json", ...rig.effect.flags]);
    return { rig, killed, resumed, id, first: requestsOf(rig)[before], count: rig.effect.count(rig.home) };
  } catch (e) {
    await rig.close();
    throw e;
  }
}

const kindOf = (text) =>
  text.startsWith("not started: the session ended before") ? "not started"
    : text.startsWith("interrupted while running; it may have taken effect; check before repeating") ? "interrupted"
      : text.startsWith("completed before the session was interrupted") ? "completed" : "result";

// The rules: a valid first request, an effect at most once, the same words for person and model.
export async function judge(api, effectName, point) {
  const r = await killAndResume(api, effectName, point);
  try {
    const what = `${point}, ${effectName}, ${api}`;
    const expect = POINTS[point];
    assert.deepEqual(r.rig.fake.violations, [], what);
    assert.equal(r.resumed.status, 0, `${what}: ${r.resumed.stderr}${r.resumed.stdout.slice(-800)}`);
    assert.equal(r.resumed.last.type, "run_completed", what);
    assert.equal(r.resumed.last.data.text, "done", what);
    const told = resultsOf(api, r.first.body);
    assert.equal(r.count, expect.after * r.rig.effect.at, `${what}: times of the effect`);
    const settled = settledOf(r.resumed.events);
    for (const e of settled) assert.ok(told.some((t) => t.text.slice(0, 2000) === e.data.preview), `${what}: ${e.data.preview}`);
    if (expect.words) {
      assert.ok(expect.words.includes(kindOf(told[0].text)), `${what}: ${told[0].text}`);
      assert.equal(settled.length, told.filter((t) => kindOf(t.text) !== "result").length, `${what}: told to the person`);
    } else {
      assert.deepEqual(settled, [], what);
    }
    return r;
  } finally {
    await r.rig.close();
  }
}
