// The makers' own packages as judges: each asks a server through its stream helper, through raw iteration, or for a whole
// answer, and what it made of it is told in our neutral terms (wire.mjs: expected). They want Node.js 22 or newer.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { OpenAI: OpenAI6 } = require("openai-6");
const { OpenAI: OpenAI7 } = require("openai-7");
const { Anthropic } = require("@anthropic-ai/sdk");
export const JUDGE_KEY = "fk-judge";

const usage = (u, input, cached, written, output, reasoning) =>
  u ? { input, cachedInput: cached ?? 0, cacheWrite: written ?? 0, output, reasoning: reasoning ?? 0 } : null;

function ofChat(c) {
  const { message, finish_reason } = c.choices[0];
  const u = c.usage;
  return {
    text: message.content ?? "",
    refusal: message.refusal ?? "",
    calls: (message.tool_calls ?? []).map((t) => ({ id: t.id, name: t.function.name, arguments: t.function.arguments })),
    usage: usage(u, u?.prompt_tokens, u?.prompt_tokens_details?.cached_tokens, u?.prompt_tokens_details?.cache_write_tokens,
      u?.completion_tokens, u?.completion_tokens_details?.reasoning_tokens),
    end: finish_reason,
    again: [message],
    back: (call, text) => ({ role: "tool", tool_call_id: call.id, content: text }),
  };
}

function ofResponse(r) {
  const parts = r.output.filter((i) => i.type === "message").flatMap((i) => i.content);
  const u = r.usage;
  return {
    text: parts.filter((p) => p.type === "output_text").map((p) => p.text).join(""),
    refusal: parts.filter((p) => p.type === "refusal").map((p) => p.refusal).join(""),
    reasoning: r.output.filter((i) => i.type === "reasoning").flatMap((i) => i.summary).map((s) => s.text).join(""),
    calls: r.output.filter((i) => i.type === "function_call").map((i) => ({ id: i.call_id, name: i.name, arguments: i.arguments })),
    usage: usage(u, u?.input_tokens, u?.input_tokens_details?.cached_tokens, u?.input_tokens_details?.cache_write_tokens,
      u?.output_tokens, u?.output_tokens_details?.reasoning_tokens),
    end: r.status === "incomplete" ? r.incomplete_details.reason : r.status,
    again: r.output,
    back: (call, text) => ({ type: "function_call_output", call_id: call.id, output: text }),
  };
}

function ofMessage(m) {
  const of = (type) => m.content.filter((b) => b.type === type);
  const u = m.usage;
  return {
    text: of("text").map((b) => b.text).join(""),
    refusal: "",
    reasoning: of("thinking").map((b) => b.thinking).join(""),
    calls: of("tool_use").map((b) => ({ id: b.id, name: b.name, arguments: JSON.stringify(b.input) })),
    usage: usage(u, (u?.input_tokens ?? 0) + (u?.cache_read_input_tokens ?? 0) + (u?.cache_creation_input_tokens ?? 0), u?.cache_read_input_tokens,
      u?.cache_creation_input_tokens, u?.output_tokens, u?.output_tokens_details?.thinking_tokens),
    end: m.stop_reason,
    again: [{ role: "assistant", content: m.content }],
    back: (call, text) => ({ type: "tool_result", tool_use_id: call.id, content: text }),
  };
}

const SCHEMA = { type: "object", properties: { x: { type: "number" } } };
const NAMES = ["a", "b", "read_file"];
const BODY = {
  chat: (messages) => ({ model: "fake", messages, tools: NAMES.map((name) => ({ type: "function", function: { name, parameters: SCHEMA } })), stream_options: { include_usage: true } }),
  responses: (input) => ({ model: "fake", input, store: false, include: ["reasoning.encrypted_content"], tools: NAMES.map((name) => ({ type: "function", name, parameters: SCHEMA, strict: false })) }),
  messages: (messages) => ({ model: "fake", max_tokens: 1000, messages, tools: NAMES.map((name) => ({ name, input_schema: SCHEMA })) }),
};
export const FIRST = { role: "user", content: "go" };

const openai = (name, Client, major) => {
  const client = (fake) => new Client({ apiKey: JUDGE_KEY, baseURL: fake.base("chat"), maxRetries: 0 });
  return [
    {
      name, major, api: "chat",
      helper: async (fake, list = [FIRST]) => ofChat(await client(fake).chat.completions.stream(BODY.chat(list)).finalChatCompletion()),
      raw: (fake, list = [FIRST]) => client(fake).chat.completions.create({ ...BODY.chat(list), stream: true }),
      whole: async (fake, list = [FIRST]) => {
        const { stream_options: _, ...body } = BODY.chat(list);
        return ofChat(await client(fake).chat.completions.create(body));
      },
      rawEnd: (chunks) => chunks.map((c) => c.choices?.[0]?.finish_reason ?? null).filter((r) => r !== null).pop() ?? null,
      models: async (fake) => (await client(fake).models.list()).data.map((m) => m.id),
    },
    {
      name, major, api: "responses",
      helper: async (fake, list = [FIRST]) => ofResponse(await client(fake).responses.stream(BODY.responses(list)).finalResponse()),
      raw: (fake, list = [FIRST]) => client(fake).responses.create({ ...BODY.responses(list), stream: true }),
      whole: async (fake, list = [FIRST]) => ofResponse(await client(fake).responses.create(BODY.responses(list))),
      rawEnd: (chunks) => chunks.map((c) => c.response?.status ?? null).pop() ?? null,
      models: async (fake) => (await client(fake).models.list()).data.map((m) => m.id),
    },
  ];
};

const anthropic = (fake) => new Anthropic({ apiKey: JUDGE_KEY, baseURL: fake.base("messages"), maxRetries: 0 });
export const JUDGES = [
  ...openai("openai-6", OpenAI6, 6),
  ...openai("openai-7", OpenAI7, 7),
  {
    name: "anthropic", major: 1, api: "messages",
    helper: async (fake, list = [FIRST]) => ofMessage(await anthropic(fake).messages.stream(BODY.messages(list)).finalMessage()),
    raw: (fake, list = [FIRST]) => anthropic(fake).messages.create({ ...BODY.messages(list), stream: true }),
    whole: async (fake, list = [FIRST]) => ofMessage(await anthropic(fake).messages.create(BODY.messages(list))),
    rawEnd: (chunks) => chunks.map((c) => c.delta?.stop_reason ?? null).filter((r) => r !== null).pop() ?? null,
    models: async (fake) => (await anthropic(fake).models.list()).data.map((m) => m.id),
  },
];

// The results of an answer's calls, as messages of its API.
export const resultsOf = (api, answer) => {
  const list = answer.calls.map((call, i) => answer.back(call, `result ${i}`));
  return api === "messages" ? [{ role: "user", content: list }] : list;
};
