// The fake model server is judged by the makers' own packages: their stream helpers must read of it what the scenario says,
// their refusals must be its refusals, and what it refuses is what the APIs refuse.
import { test } from "node:test";
import assert from "node:assert/strict";
import { startFake } from "../fake/server.mjs";
import { JUDGES, JUDGE_KEY, FIRST, resultsOf } from "../fake/sdk.mjs";
import { expected } from "../fake/wire.mjs";
import { validate } from "../fake/validate.mjs";

const usage = { input: 1200, cachedInput: 800, cacheWrite: 100, output: 77, reasoning: 30 };
const ANSWERS = {
  "a text": { text: "Hello, wörld 🌍: 你好, one more.", usage },
  "a call": { calls: [{ name: "read_file", arguments: { path: "ä/🌍.txt", x: 1 } }], usage },
  "text, then three calls at once": { text: "I look.", calls: [{ name: "a", arguments: { x: 1 } }, { name: "b", arguments: {} }, { name: "a", arguments: { x: 2 } }], usage },
  "reasoning, text and a call": { reasoning: "First … then 🌍.", text: "So:", calls: [{ name: "a", arguments: { x: 0.5 } }], usage },
  "reasoning alone before a call": { reasoning: "short", calls: [{ name: "b", arguments: { deep: { list: [1, [2, { y: "\\\"\n" }]] } } }], usage },
  "a long text": { text: "0123456789 ".repeat(500), usage },
  "no usage of the cache": { text: "x", usage: { input: 3, output: 1 } },
};
const IN_EVERY_WAY = ["a text", "text, then three calls at once", "reasoning, text and a call"];
const WIRES = {
  plain: {},
  "CRLF lines": { wire: { eol: "\r\n" } },
  "CR lines": { wire: { eol: "\r" } },
  "a BOM": { wire: { bom: true } },
  "no space after the colon": { wire: { space: false } },
  "comments between": { wire: { noise: ["comment", "retry"] } },
  "one character a delta": { wire: { split: 1 } },
  "one delta": { wire: { split: "whole" } },
  "arguments in uneven pieces": { wire: { argSplit: [1, 7, 2, 3] } },
  "data over several lines": { edit: (events) => events.map((e) => (typeof e.data === "object" ? { ...e, data: JSON.stringify(e.data, null, 1) } : e)) },
  "writes of 1, 2 and 5 bytes": { chunk: [1, 2, 5, 1, 2, 5, 3], wire: { split: 30 } },
};

const withFake = async (scenario, fn, options = { key: JUDGE_KEY }) => {
  const fake = await startFake(scenario, options);
  try {
    return await fn(fake);
  } finally {
    await fake.close();
  }
};
const plainCalls = (calls) => calls.map(({ name, arguments: a }) => ({ name, arguments: a }));

function same(api, got, step) {
  const want = expected(step);
  assert.equal(got.text, want.text);
  if (got.reasoning !== undefined) assert.equal(got.reasoning, want.reasoning);
  assert.deepEqual(plainCalls(got.calls), want.calls);
  assert.deepEqual(got.usage, want.usage);
  const end = { chat: want.calls.length ? "tool_calls" : "stop", responses: "completed", messages: want.calls.length ? "tool_use" : "end_turn" };
  assert.equal(got.end, end[api]);
}

for (const judge of JUDGES) {
  const who = `${judge.name} reads by ${judge.api}`;
  for (const [what, answer] of Object.entries(ANSWERS))
    for (const [how, wire] of Object.entries(WIRES)) {
      if (how !== "plain" && !IN_EVERY_WAY.includes(what)) continue;
      test(`${who} ${what}, ${how}`, () => withFake([{ ...answer, ...wire }], async (fake) => {
        same(judge.api, await judge.helper(fake), answer);
        assert.deepEqual(fake.violations, []);
      }));
    }
  test(`${who} whole answers`, () => withFake(Object.values(ANSWERS), async (fake) => {
    for (const answer of Object.values(ANSWERS)) same(judge.api, await judge.whole(fake), answer);
    assert.deepEqual(fake.violations, []);
  }));
  test(`${who} the cut ends`, () => withFake([{ text: "abc", end: "length", usage }, { text: "abc", end: "content_filter", usage }], async (fake) => {
    const words = { chat: ["length", "content_filter"], responses: ["max_output_tokens", "content_filter"], messages: ["max_tokens", "refusal"] };
    for (const word of words[judge.api]) assert.equal((await judge.helper(fake)).end, word);
  }));
  test(`${judge.name} sends back what it read by ${judge.api}, and the fake takes it`, () => withFake([ANSWERS["reasoning, text and a call"], ANSWERS["text, then three calls at once"], ANSWERS["a text"]], async (fake) => {
    const list = [FIRST];
    for (let turn = 0; turn < 3; turn++) {
      const got = await judge.helper(fake, list);
      list.push(...got.again.map(clean), ...resultsOf(judge.api, got));
    }
    assert.deepEqual(fake.violations, []);
    assert.equal(fake.requests.length, 3);
  }));
  test(`${judge.name} lists the models by ${judge.api}`, () => withFake({ models: { list: [{ id: "one" }, { id: "two", window: 5 }] } }, async (fake) => {
    assert.deepEqual(await judge.models(fake), ["one", "two"]);
  }));
}

// What the helpers add for themselves (parsed …) is not theirs to send.
function clean(x) {
  if (Array.isArray(x)) return x.map(clean);
  if (x === null || typeof x !== "object") return x;
  return Object.fromEntries(Object.entries(x).filter(([k]) => !/^parsed/.test(k)).map(([k, v]) => [k, clean(v)]));
}

// --- refusals ---

const REFUSALS = [
  [400, "BadRequestError", { message: "no", code: "context_length_exceeded" }],
  [401, "AuthenticationError", { message: "invalid key", type: "authentication_error" }],
  [403, "PermissionDeniedError", { message: "not here", type: "permission_error" }],
  [404, "NotFoundError", { message: "no such model", code: "model_not_found" }],
  [409, "ConflictError", { message: "again" }],
  [422, "UnprocessableEntityError", { message: "strange" }],
  [429, "RateLimitError", { message: "slower", code: "rate_limit_exceeded", type: "rate_limit_error" }],
  [500, "InternalServerError", { message: "oh", type: "api_error" }],
  [529, /Error$/, { message: "Overloaded", type: "overloaded_error" }],
];
for (const judge of JUDGES)
  test(`${judge.name} names the refusals of ${judge.api}`, () => withFake(REFUSALS.map(([status, , error]) => ({ reply: { status, error, headers: { "retry-after": "1" } } })), async (fake) => {
    for (const [status, name, error] of REFUSALS) {
      const e = await judge.helper(fake).then(() => assert.fail("no error"), (x) => x);
      assert.equal(e.status, status);
      assert.match(e.constructor.name, new RegExp(name));
      assert.match(e.message, new RegExp(error.message));
      assert.equal(e.headers.get("retry-after"), "1");
      assert.match(String(e.requestID), /^req_f\d$/);
    }
  }));

// --- what a request must be: each rule broken once ---

const json = { "content-type": "application/json" };
const HEADERS = { chat: json, responses: json, messages: { ...json, "anthropic-version": "2023-06-01" } };
const tool = (name, parameters = { type: "object", properties: {} }) => ({ type: "function", function: { name, parameters } });
const flat = (name, parameters = { type: "object", properties: {} }) => ({ type: "function", name, parameters });
const claude = (name, input_schema = { type: "object", properties: {} }) => ({ name, input_schema });
const call = (id, args = "{}") => ({ id, type: "function", function: { name: "a", arguments: args } });
const use = (id, input = {}) => ({ type: "tool_use", id, name: "a", input });
const back = (id, more = {}) => ({ type: "tool_result", tool_use_id: id, content: "r", ...more });
const fcall = (id, more = {}) => ({ type: "function_call", call_id: id, name: "a", arguments: "{}", ...more });
const fback = (id) => ({ type: "function_call_output", call_id: id, output: "r" });
const user = { role: "user", content: "u" };
const chat = (messages, more = {}) => ({ model: "m", messages, ...more });
const responses = (input, more = {}) => ({ model: "m", input, store: false, ...more });
const messages = (list, more = {}) => ({ model: "m", max_tokens: 5, messages: list, tools: [claude("a")], ...more });
const asst = (...content) => ({ role: "assistant", content });
const calls = (...ids) => ({ role: "assistant", content: null, tool_calls: ids.map((id) => call(id)) });
const result = (id) => ({ role: "tool", tool_call_id: id, content: "r" });

const FINE = [
  ["chat", chat([{ role: "system", content: "s" }, user, calls("c1", "c2"), result("c2"), result("c1"), { role: "user", content: [{ type: "text", text: "x" }] }], { tools: [tool("a")], stream: true, stream_options: { include_usage: true } })],
  ["responses", responses([user, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "?" }, fcall("c1"), fcall("c2"), fback("c1"), fback("c2"), user])],
  ["responses", responses([user, fcall("c1"), { type: "message", role: "assistant", content: [{ type: "output_text", text: "t" }] }, fback("c1")])],
  ["messages", messages([user, asst({ type: "text", text: "t" }, use("t1"), use("t2")), { role: "user", content: [back("t1"), back("t2", { is_error: true }), { type: "text", text: "and" }] }])],
];
const BROKEN = [
  ["chat", chat([]), /empty array/],
  ["chat", { messages: [user] }, /you must provide a model/],
  ["chat", chat([user], { wish: 1 }), /Unrecognized request argument supplied: wish/],
  ["chat", chat([{ ...user, id: "x" }]), /Unknown parameter: 'messages\[0\].id'/],
  ["chat", chat([{ role: "host", content: "x" }]), /Invalid value: 'host'/],
  ["chat", chat([user, calls("c1", "c2"), result("c1")]), /did not have response messages: c2/],
  ["chat", chat([user, calls("c1"), user, result("c1")]), /did not have response messages: c1/],
  ["chat", chat([user, result("c1")]), /must be a response to a preceeding message/],
  ["chat", chat([user, calls("c1"), result("c1"), result("c1")]), /must be a response to a preceeding message/],
  ["chat", chat([user, calls("c1"), result("c1"), calls("c1"), result("c1")]), /duplicate tool call id/],
  ["chat", chat([user, calls("a|b"), result("a|b")]), /does not match pattern/],
  ["chat", chat([user, calls("a".repeat(65)), result("a".repeat(65))]), /string too long/],
  ["chat", chat([user, { role: "assistant", content: null, tool_calls: [call("c1", '{"a":')] }, result("c1")]), /JSON text of an object/],
  ["chat", chat([user, { role: "assistant", content: null, tool_calls: [call("c1", "[1]")] }, result("c1")]), /JSON text of an object/],
  ["chat", chat([user, { role: "assistant", content: "", tool_calls: [call("c1")] }, result("c1")]), /empty text/],
  ["chat", chat([user, calls("c1"), { ...result("c1"), content: "" }]), /empty text/],
  ["chat", chat([user, { role: "assistant", content: "x", tool_calls: [] }, user]), /empty array/],
  ["chat", chat([{ role: "assistant", content: "x" }, user]), /begin with 'user'/],
  ["chat", chat([user, { role: "assistant", content: "x" }]), /final assistant message/],
  ["chat", chat([user], { tools: [tool("a b")] }), /does not match pattern/],
  ["chat", chat([user], { tools: [tool("a"), tool("a")] }), /duplicate function name/],
  ["chat", chat([user], { tools: [tool("a", { type: "array" })] }), /Invalid schema for function 'a'/],
  ["chat", chat([user], { tools: [tool("a", null)] }), /Invalid schema for function 'a'/],
  ["chat", chat([user], { tools: [] }), /empty array/],
  ["chat", chat([user], { stream_options: { include_usage: true } }), /only allowed when 'stream' is enabled/],
  ["chat", chat([user], { max_tokens: 0 }), /below minimum/],
  ["chat", chat([user], { parallel_tool_calls: true }), /only allowed when 'tools'/],
  ["responses", responses([]), /empty array/],
  ["responses", responses([user], { messages: [] }), /Unknown parameter: 'messages'/],
  ["responses", responses([user], { tools: [tool("a")] }), /Unknown parameter: 'tools\[0\].function'/],
  ["responses", responses([user], { tools: [flat("a", { type: "string" })] }), /Invalid schema for function 'a'/],
  ["responses", responses([user, fcall("c1")]), /No tool output found for function call c1/],
  ["responses", responses([user, fcall("c1"), user, fback("c1")]), /No tool output found for function call c1/],
  ["responses", responses([user, fback("c1")]), /No tool call found for function call output with call_id c1/],
  ["responses", responses([user, fcall("c1"), fback("c1"), fback("c1")]), /No tool call found/],
  ["responses", responses([user, fcall("c1"), fback("c1"), fcall("c1"), fback("c1")]), /Duplicate call_id/],
  ["responses", responses([user, fcall("c1", { arguments: "" }), fback("c1")]), /JSON text of an object/],
  ["responses", responses([user, { ...fcall("c1"), id: "x1" }, fback("c1")]), /begins with 'fc'/],
  ["responses", responses([user, { type: "reasoning", id: "rs_1", summary: [] }, fcall("c1"), fback("c1")]), /Items are not persisted/],
  ["responses", responses([user, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "?" }, user]), /without its required following item/],
  ["responses", responses([{ role: "user", content: [{ type: "text", text: "x" }] }]), /Invalid value: 'text'/],
  ["responses", responses([user, { type: "message", role: "assistant", content: [{ type: "output_text", text: "" }] }, user]), /empty text/],
  ["responses", responses([fcall("c1"), fback("c1")]), /must be a message of the user/],
  ["responses", responses([user], { max_output_tokens: 1 }), /below minimum/],
  ["messages", { ...messages([user]), max_tokens: undefined }, /max_tokens: Field required/],
  ["messages", messages([user], { functions: [] }), /functions: Extra inputs are not permitted/],
  ["messages", messages([]), /at least one message/],
  ["messages", messages([asst({ type: "text", text: "x" }), user]), /first message must use the "user" role/],
  ["messages", messages([user, asst(use("t1")), user]), /`tool_use` ids were found without `tool_result` blocks immediately after: t1/],
  ["messages", messages([user, asst(use("t1"), use("t2")), { role: "user", content: [back("t1")] }, { role: "user", content: [back("t2")] }]), /without `tool_result` blocks immediately after: t2/],
  ["messages", messages([user, asst(use("t1")), { role: "user", content: [{ type: "text", text: "x" }, back("t1")] }]), /without `tool_result` blocks immediately after: t1/],
  ["messages", messages([{ role: "user", content: [back("t1")] }]), /unexpected `tool_use_id`/],
  ["messages", messages([user, asst(use("t1")), { role: "user", content: [back("t1"), back("t1")] }]), /unexpected `tool_use_id`/],
  ["messages", messages([user, asst(use("a|b")), { role: "user", content: [back("a|b")] }]), /should match pattern/i],
  ["messages", messages([user, asst(use("t1")), { role: "user", content: [back("t1")] }, asst(use("t1")), { role: "user", content: [back("t1")] }]), /must be unique/],
  ["messages", messages([user, asst(use("t1", "{}")), { role: "user", content: [back("t1")] }]), /valid dictionary/],
  ["messages", messages([user, asst({ type: "text", text: "" }), user]), /non-whitespace text/],
  ["messages", messages([{ role: "user", content: "" }]), /non-empty/],
  ["messages", messages([user, asst(), user]), /non-empty content/],
  ["messages", messages([user, asst(use("t1")), { role: "user", content: [back("t1", { content: "" })] }]), /content must be non-empty/],
  ["messages", messages([user, asst({ type: "text", text: "x" })]), /prefill/],
  ["messages", messages([user, asst({ type: "thinking", thinking: "t", signature: "made up" }, { type: "text", text: "x" }), user]), /Invalid `signature`/],
  ["messages", messages([user, asst({ type: "thinking", thinking: "t" }, { type: "text", text: "x" }), user]), /signature: Field required/],
  ["messages", messages([user], { tools: [tool("a")] }), /tools.0.custom/],
  ["messages", messages([user], { tools: [claude("a", { type: "null" })] }), /Input should be 'object'/],
  ["messages", messages([user], { system: "" }), /system: text content blocks must be non-empty/],
  ["messages", messages([user, asst(use("t1")), { role: "user", content: [back("t1")] }], { tools: undefined }), /must define tools/],
  ["messages", messages([{ role: "user", content: [1, 2, 3, 4, 5].map((n) => ({ type: "text", text: `${n}`, cache_control: { type: "ephemeral" } })) }]), /maximum of 4 blocks/],
];
const judged = (api, body, o = {}) => validate(api, { ...HEADERS[api], ...o.headers }, Buffer.from(o.text ?? JSON.stringify(body)), { checkSignatures: api === "messages", ...o });

test("a request as the makers want it is fine", () => {
  for (const [api, body] of FINE) assert.equal(judged(api, body), null);
});
test("each rule of a request, broken, is a 400 in the makers' words", () => {
  for (const [api, body, words] of BROKEN) {
    const e = judged(api, body);
    assert.ok(e, `${api} took ${JSON.stringify(body)}`);
    assert.match(e.message, words);
    assert.match(String(e.status), /^40[04]$/);
  }
});
test("headers, bytes and sizes are looked at, too", () => {
  const says = (api, o, words, status = 400) => {
    const e = judged(api, api === "messages" ? messages([user]) : chat([user]), o);
    assert.match(e?.message ?? "fine", words);
    assert.equal(e.status, status);
  };
  says("messages", { headers: { "anthropic-version": undefined } }, /anthropic-version: header is required/);
  says("messages", { headers: { "anthropic-version": "1" } }, /not a valid version/);
  says("messages", { key: "k" }, /x-api-key header is required/, 401);
  says("messages", { key: "k", headers: { "x-api-key": "j" } }, /invalid x-api-key/, 401);
  says("chat", { key: "k", headers: { authorization: "Bearer j" } }, /Incorrect API key provided: j/, 401);
  says("chat", { headers: { "content-type": "text/plain" } }, /Unsupported content type/, 415);
  says("chat", { text: "{" }, /could not parse/);
  says("chat", { text: '{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}' }, /no low surrogate/);
  says("chat", { text: '{"model":"m","messages":[{"role":"user","content":"a\\u0000"}]}' }, /U\+0000/);
  says("chat", { model: "other" }, /does not exist/, 404);
  says("chat", { window: 5 }, /maximum context length is 5 tokens/);
  says("messages", { window: 5 }, /prompt is too long: \d+ tokens > 5 maximum/);
  for (const field of ["stream_options", "max_tokens", "reasoning_effort", "temperature", "parallel_tool_calls", "store", "prompt_cache_key"]) {
    const body = chat([user], { stream: true, tools: [tool("a")], [field]: field === "stream_options" ? { include_usage: true } : 1 });
    assert.match(judged("chat", body, { refuse: [field] }).message, new RegExp(field));
  }
  assert.equal(judged("messages", messages([user]), { key: "k", headers: { authorization: "Bearer k" } }), null);
  assert.match(validate("chat", HEADERS.chat, Buffer.from([0x7b, 0xff, 0x7d])).message, /not valid UTF-8/);
  assert.equal(validate("messages", HEADERS.messages, Buffer.alloc((32 << 20) + 1, 32)).status, 413);
});
