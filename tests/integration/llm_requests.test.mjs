// What we send, held against a checker that shares no line with the code that writes it: recorded requests, and thousands of
// conversations that nobody would have.
import { test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib.mjs";
import { validate } from "../fake/validate.mjs";

const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
// Of others than OpenAI: their own fields. A turn that paused ends with the model's words.
const options = { checkSignatures: false, prefill: true };
const own = /deepseek|gemini|googleapis/;

// What an endpoint named itself, it takes back: "." and ":" in the ids of chat's calls are no fault of ours.
function plain(api, body) {
  const id = (s) => s.replace(/[.:]/g, "-");
  for (const m of api === "chat" ? body.messages : []) {
    for (const call of m.tool_calls ?? []) call.id = id(call.id);
    if (m.tool_call_id) m.tool_call_id = id(m.tool_call_id);
  }
  return Buffer.from(JSON.stringify(body));
}

const judge = (api, bytes, tolerant) => validate(api, headers, bytes, { ...options, strict: !tolerant })?.message;

for (const api of ["chat", "responses", "messages"]) {
  test(`recorded requests of ${api} are what the API takes`, () => {
    const dir = join(root, "tests/llm/requests", api);
    const utf8 = new TextDecoder("utf-8", { fatal: true });
    const names = readdirSync(dir).filter((n) => n.endsWith(".json") && !n.endsWith(".in.json"));
    assert.ok(names.length >= 15);
    for (const name of names) assert.equal(judge(api, plain(api, JSON.parse(utf8.decode(readFileSync(join(dir, name))))), own.test(name)), undefined, name);
  });
}

test("conversations by chance become requests that the APIs take", () => {
  const count = Number(process.env.AL_BODIES ?? 3000);
  const lines = execFileSync(process.env.AL_LLM_BODIES, [process.env.AL_SEED ?? "1", String(count)], { maxBuffer: 1 << 30 }).toString().trimEnd().split("\n");
  assert.equal(lines.length, count);
  const seen = {};
  for (const line of lines) {
    const { seed, api, base, body } = JSON.parse(line);
    seen[api] = (seen[api] ?? 0) + 1;
    assert.equal(judge(api, plain(api, body), api === "chat" && !/openai\.com/.test(base)), undefined, `seed ${seed}: ${line.slice(0, 4000)}`);
  }
  for (const api of ["chat", "responses", "messages"]) assert.ok(seen[api] > count / 10);
});
