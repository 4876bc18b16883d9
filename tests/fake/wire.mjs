// From a neutral answer to what each model API puts on the wire: a list of stream events, or the whole answer as JSON.
//
// A neutral answer:
//   { parts: [{ text } | { reasoning, signature?, encrypted?, redacted? } | { refusal } | { call: { name, arguments, id? } } | { raw: […] }],
//     or in short text, reasoning, calls: [{ name, arguments, id? }],
//     end: "stop" | "length" | "context_window" | "content_filter" | "refusal" | "pause" (default "stop"; calls do not change it),
//     endWord: what stands in its place on the wire, usage: { input, cachedInput, cacheWrite, output, reasoning } | null,
//     model, id }
// arguments is an object, or the text itself (also a broken one), or null (absent).
// Options: split (characters of a delta: a number, a list of sizes, or "whole"), argSplit (likewise, of arguments),
//     dialect (of Chat Completions: see DIALECTS), usageInStream (chat: what stream_options asked for).

const characters = (text) => Array.from(text); // code points: a delta of a real server holds whole ones

export function pieces(text, split = 12) {
  if (split === "whole" || text === "") return text === "" ? [] : [text];
  const all = characters(text);
  const found = [];
  for (let at = 0, i = 0; at < all.length; i++) {
    const size = Math.max(1, Array.isArray(split) ? (split[i] ?? split[split.length - 1]) : split);
    found.push(all.slice(at, at + size).join(""));
    at += size;
  }
  return found;
}

export const argumentText = (call) =>
  call.arguments === null || call.arguments === undefined ? null
    : typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

export function partsOf(answer) {
  if (answer.parts) return answer.parts;
  const parts = [];
  if (answer.reasoning !== undefined) parts.push({ reasoning: answer.reasoning });
  if (answer.text !== undefined) parts.push({ text: answer.text });
  for (const call of answer.calls ?? []) parts.push({ call });
  return parts;
}

const ZERO = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
const usageOf = (answer) => (answer.usage === null ? null : { ...ZERO, ...answer.usage });

// What the person who reads the scenario expects of it: the same for every API.
export function expected(answer) {
  const parts = partsOf(answer);
  return {
    text: parts.filter((p) => p.text !== undefined).map((p) => p.text).join(""),
    reasoning: parts.filter((p) => p.reasoning !== undefined).map((p) => p.reasoning).join(""),
    calls: parts.filter((p) => p.call).map((p) => ({ name: p.call.name, arguments: argumentText(p.call) ?? "" })),
    usage: usageOf(answer),
    end: answer.end ?? "stop",
  };
}

// --- what a server signs: reasoning that comes back is compared with it (validate.mjs) ---

export function stamp(text) {
  let h = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return h.toString(16).padStart(16, "0");
}
export const signatureOf = (thinking, model) => Buffer.from(`sig:${model}:${stamp(thinking)}`).toString("base64");
export const encryptedOf = (id, text, model) => Buffer.from(`enc:${model}:${id}:${stamp(text)}:${text}`).toString("base64");

// --- Chat Completions ---

const chatEnd = (answer, anyCall) => {
  if (answer.endWord !== undefined) return answer.endWord;
  switch (answer.end ?? "stop") {
    case "stop": return anyCall ? "tool_calls" : "stop";
    case "context_window":
    case "length": return "length";
    case "content_filter": return "content_filter";
    case "refusal": return "stop";
    default: throw new Error(`Chat Completions has no end "${answer.end}"`);
  }
};

export function chatUsage(u, dialect = {}) {
  const usage = {
    prompt_tokens: u.input,
    completion_tokens: u.output,
    total_tokens: u.input + u.output,
    prompt_tokens_details: { cached_tokens: u.cachedInput, cache_write_tokens: u.cacheWrite },
    completion_tokens_details: { reasoning_tokens: u.reasoning },
  };
  if (dialect.plainUsage) {
    delete usage.prompt_tokens_details;
    delete usage.completion_tokens_details;
  }
  if (dialect.hitUsage) {
    usage.prompt_tokens_details = { cached_tokens: u.cachedInput };
    usage.prompt_cache_hit_tokens = u.cachedInput;
    usage.prompt_cache_miss_tokens = u.input - u.cachedInput;
  }
  return usage;
}

// How servers that speak Chat Completions differ. reasoning: the field; callsAt: which index a call gets; wholeCalls: a call
// comes in one chunk; usageOn: "own" chunk, the "finish" chunk, or "all"; comment: a line between the events.
export const DIALECTS = {
  openai: { callId: (n, i) => `call_f${n}x${i}`, usageOn: "own", obfuscation: true },
  deepseek: { callId: (n, i) => `call_${i}_f${n}-ds`, reasoning: "reasoning_content", usageOn: "finish", hitUsage: true },
  vllm: { callId: (n, i) => `chatcmpl-tool-${String(n).padStart(16, "0")}${String(i).padStart(16, "0")}`, reasoning: "reasoning_content", usageOn: "own", plainUsage: true },
  openrouter: { callId: (n, i) => `call_or_${n}_${i}`, reasoning: "reasoning", details: true, usageOn: "own", comment: "OPENROUTER PROCESSING", usageChoices: true },
  ollama: { callId: (n, i) => `call_ol${n}${i}`, reasoning: "reasoning", wholeCalls: true, sameIndex: true, usageOn: "own", plainUsage: true },
  llamacpp: { callId: (n, i) => stamp(`l${n}.${i}`) + stamp(`r${n}.${i}`), reasoning: "reasoning_content", usageOn: "own", plainUsage: true, timings: true },
  lmstudio: { callId: (n, i) => String(100000000 + n * 100 + i), reasoning: "reasoning_content", usageOn: "own", plainUsage: true, stats: true },
  think: { callId: (n, i) => `call_t${n}_${i}`, inline: true, usageOn: "own", plainUsage: true },
};

// reasoning of the plain dialect has nowhere to go on this API: it is left out, as OpenAI does.
function chatDeltas(answer, o, dialect) {
  const deltas = [];
  let calls = 0;
  for (const part of partsOf(answer)) {
    if (part.raw) deltas.push(...part.raw);
    else if (part.text !== undefined) for (const content of pieces(part.text, o.split)) deltas.push({ content });
    else if (part.refusal !== undefined) for (const refusal of pieces(part.refusal, o.split)) deltas.push({ refusal });
    else if (part.reasoning !== undefined) deltas.push(...chatReasoning(part.reasoning, o, dialect));
    else if (part.call) {
      deltas.push(...chatCall(part.call, dialect.sameIndex ? 0 : calls, dialect.callId(o.n ?? 0, calls), o, dialect));
      calls++;
    }
  }
  return { deltas, calls };
}

function chatReasoning(text, o, dialect) {
  if (dialect.inline) return pieces(`<think>${text}</think>`, o.split).map((content) => ({ content }));
  if (!dialect.reasoning) return [];
  return pieces(text, o.split).map((piece) => ({
    [dialect.reasoning]: piece,
    ...(dialect.details ? { reasoning_details: [{ type: "reasoning.text", text: piece, format: "unknown", index: 0 }] } : {}),
  }));
}

function chatCall(call, index, made, o, dialect) {
  const id = call.id === undefined ? made : call.id;
  const text = argumentText(call);
  const open = { index, ...(id === null ? {} : { id }), type: "function", function: { name: call.name } };
  if (dialect.wholeCalls) {
    if (text !== null) open.function.arguments = text;
    return [{ tool_calls: [open] }];
  }
  if (text !== null) open.function.arguments = "";
  const rest = text === null ? [] : pieces(text, o.argSplit ?? o.split);
  return [{ tool_calls: [open] }, ...rest.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))];
}

export function chatEvents(answer, o = {}) {
  const dialect = DIALECTS[o.dialect ?? "openai"];
  const base = { id: answer.id ?? `chatcmpl-f${o.n ?? 0}`, object: "chat.completion.chunk", created: 1_790_000_000, model: answer.model ?? "fake" };
  const usage = usageOf(answer);
  const wanted = usage && (o.usageInStream || dialect.usageOn !== "own");
  const chunk = (delta, finish_reason = null, more = {}) => ({
    data: {
      ...base,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(wanted && dialect.usageOn === "own" ? { usage: null } : {}),
      ...(dialect.obfuscation && delta.content ? { obfuscation: "xA" } : {}),
      ...more,
    },
  });
  const { deltas, calls } = chatDeltas(answer, o, dialect);
  const events = [chunk({ role: "assistant", content: "" }), ...deltas.map((d) => chunk(d))];
  const report = wanted ? { usage: chatUsage(usage, dialect) } : {};
  const extra = { ...(dialect.timings ? { timings: { prompt_n: 1, predicted_n: 1 } } : {}), ...(dialect.stats ? { stats: {} } : {}) };
  events.push(chunk({}, chatEnd(answer, calls > 0), { ...(dialect.usageOn === "finish" ? report : {}), ...extra }));
  if (wanted && dialect.usageOn === "own")
    events.push({ data: { ...base, choices: dialect.usageChoices ? [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] : [], ...report } });
  events.push({ data: "[DONE]" });
  return dialect.comment ? [{ comment: dialect.comment }, ...events] : events;
}

export function chatWhole(answer, o = {}) {
  const dialect = DIALECTS[o.dialect ?? "openai"];
  const want = expected(answer);
  const parts = partsOf(answer);
  const calls = parts.filter((p) => p.call).map((p, i) => ({
    id: p.call.id ?? dialect.callId(o.n ?? 0, i), type: "function", function: { name: p.call.name, arguments: argumentText(p.call) ?? "" },
  }));
  const refusal = parts.filter((p) => p.refusal !== undefined).map((p) => p.refusal).join("") || null;
  const message = { role: "assistant", content: want.text || null, refusal, annotations: [] };
  if (calls.length) message.tool_calls = calls;
  if (dialect.reasoning && want.reasoning) message[dialect.reasoning] = want.reasoning;
  return {
    id: answer.id ?? `chatcmpl-f${o.n ?? 0}`, object: "chat.completion", created: 1_790_000_000, model: answer.model ?? "fake",
    choices: [{ index: 0, message, logprobs: null, finish_reason: chatEnd(answer, calls.length > 0) }],
    ...(want.usage ? { usage: chatUsage(want.usage, dialect) } : {}),
  };
}

// --- Responses ---

export const responsesUsage = (u) => ({
  input_tokens: u.input,
  input_tokens_details: { cached_tokens: u.cachedInput, cache_write_tokens: u.cacheWrite },
  output_tokens: u.output,
  output_tokens_details: { reasoning_tokens: u.reasoning },
  total_tokens: u.input + u.output,
});

const INCOMPLETE = { length: "max_output_tokens", context_window: "max_output_tokens", content_filter: "content_filter" };

function responsesItem(part, i, answer, o) {
  const n = o.n ?? 0;
  const model = answer.model ?? "fake";
  if (part.text !== undefined || part.refusal !== undefined) {
    const content = part.refusal !== undefined ? { type: "refusal", refusal: part.refusal } : { type: "output_text", text: part.text, annotations: [], logprobs: [] };
    return { id: `msg_f${n}x${i}`, type: "message", status: "completed", role: "assistant", content: [content], ...(part.phase ? { phase: part.phase } : {}) };
  }
  if (part.reasoning !== undefined) {
    const id = `rs_f${n}x${i}`;
    const encrypted = part.encrypted === undefined ? encryptedOf(id, part.reasoning, model) : part.encrypted;
    return { id, type: "reasoning", summary: part.reasoning ? [{ type: "summary_text", text: part.reasoning }] : [], ...(o.encrypted ? { encrypted_content: encrypted } : {}) };
  }
  const id = part.call.id === undefined ? `call_f${n}x${i}` : part.call.id;
  return { id: `fc_f${n}x${i}`, type: "function_call", status: "completed", call_id: id, name: part.call.name, arguments: argumentText(part.call) ?? "" };
}

function responseOf(answer, o, status, output, usage) {
  const end = answer.end ?? "stop";
  return {
    id: answer.id ?? `resp_f${o.n ?? 0}`, object: "response", created_at: 1_790_000_000, status, background: false,
    error: null, incomplete_details: status === "incomplete" ? { reason: answer.endWord ?? INCOMPLETE[end] } : null,
    instructions: null, max_output_tokens: null, model: answer.model ?? "fake", output, parallel_tool_calls: true,
    previous_response_id: null, reasoning: { effort: null, summary: null }, store: false, temperature: 1,
    text: { format: { type: "text" } }, tool_choice: "auto", tools: [], top_p: 1, truncation: "disabled", usage, metadata: {},
  };
}

const lastStatus = (answer) => (INCOMPLETE[answer.end ?? "stop"] ? "incomplete" : "completed");

export function responsesWhole(answer, o = {}) {
  const usage = usageOf(answer);
  const output = partsOf(answer).map((part, i) => part.raw ?? responsesItem(part, i, answer, o));
  return responseOf(answer, o, lastStatus(answer), output.flat(), usage && responsesUsage(usage));
}

function messageEvents(item, at, part, o) {
  const where = { item_id: item.id, output_index: at, content_index: 0 };
  const refusal = part.refusal !== undefined;
  const text = refusal ? part.refusal : part.text;
  const empty = refusal ? { type: "refusal", refusal: "" } : { type: "output_text", text: "", annotations: [], logprobs: [] };
  const kind = refusal ? "response.refusal" : "response.output_text";
  return [
    { type: "response.output_item.added", output_index: at, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...where, part: empty },
    ...pieces(text, o.split).map((delta) => ({ type: `${kind}.delta`, ...where, delta, ...(refusal ? {} : { logprobs: [] }) })),
    { type: `${kind}.done`, ...where, ...(refusal ? { refusal: text } : { text, logprobs: [] }) },
    { type: "response.content_part.done", ...where, part: item.content[0] },
    { type: "response.output_item.done", output_index: at, item },
  ];
}

function reasoningEvents(item, at, part, o) {
  const where = { item_id: item.id, output_index: at, summary_index: 0 };
  const middle = part.reasoning === "" ? [] : [
    { type: "response.reasoning_summary_part.added", ...where, part: { type: "summary_text", text: "" } },
    ...pieces(part.reasoning, o.split).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...where, delta })),
    { type: "response.reasoning_summary_text.done", ...where, text: part.reasoning },
    { type: "response.reasoning_summary_part.done", ...where, part: item.summary[0] },
  ];
  return [
    { type: "response.output_item.added", output_index: at, item: { ...item, summary: [] } },
    ...middle,
    { type: "response.output_item.done", output_index: at, item },
  ];
}

function callEvents(item, at, part, o) {
  return [
    { type: "response.output_item.added", output_index: at, item: { ...item, status: "in_progress", arguments: "" } },
    ...pieces(item.arguments, o.argSplit ?? o.split).map((delta) => ({ type: "response.function_call_arguments.delta", item_id: item.id, output_index: at, delta })),
    { type: "response.function_call_arguments.done", item_id: item.id, output_index: at, name: item.name, arguments: item.arguments },
    { type: "response.output_item.done", output_index: at, item },
  ];
}

export function responsesEvents(answer, o = {}) {
  const begun = responseOf(answer, o, "in_progress", [], null);
  const list = [{ type: "response.created", response: begun }, { type: "response.in_progress", response: begun }];
  const output = [];
  for (const part of partsOf(answer)) {
    const at = output.length;
    if (part.raw) {
      list.push(...part.raw);
      continue;
    }
    const item = responsesItem(part, at, answer, o);
    list.push(...(part.call ? callEvents : part.reasoning !== undefined ? reasoningEvents : messageEvents)(item, at, part, o));
    output.push(item);
  }
  const usage = usageOf(answer);
  const status = lastStatus(answer);
  list.push({ type: `response.${status}`, response: responseOf(answer, o, status, output, usage && responsesUsage(usage)) });
  return list.map((data, i) => ({ event: data.type, data: { type: data.type, sequence_number: i, ...data } }));
}

// --- Messages ---

export const messagesUsage = (u) => ({
  input_tokens: u.input - u.cachedInput - u.cacheWrite,
  cache_creation_input_tokens: u.cacheWrite,
  cache_read_input_tokens: u.cachedInput,
  cache_creation: { ephemeral_5m_input_tokens: u.cacheWrite, ephemeral_1h_input_tokens: 0 },
  output_tokens: u.output,
  output_tokens_details: { thinking_tokens: u.reasoning },
  service_tier: "standard",
});

const messagesEnd = (answer, anyCall) => answer.endWord ?? {
  stop: anyCall ? "tool_use" : "end_turn", length: "max_tokens", context_window: "model_context_window_exceeded",
  content_filter: "refusal", refusal: "refusal", pause: "pause_turn",
}[answer.end ?? "stop"];

function messagesBlock(part, i, answer, o) {
  if (part.text !== undefined) return { type: "text", text: part.text };
  if (part.refusal !== undefined) return { type: "text", text: part.refusal };
  if (part.redacted !== undefined) return { type: "redacted_thinking", data: part.redacted };
  if (part.reasoning !== undefined)
    return { type: "thinking", thinking: part.reasoning, signature: part.signature ?? signatureOf(part.reasoning, answer.model ?? "fake") };
  const id = part.call.id === undefined ? `toolu_f${o.n ?? 0}x${i}` : part.call.id;
  return { type: "tool_use", id, name: part.call.name, input: part.call.arguments ?? {} };
}

function blockEvents(block, index, part, o) {
  const delta = (d) => ({ type: "content_block_delta", index, delta: d });
  const start = (content_block) => ({ type: "content_block_start", index, content_block });
  const stop = { type: "content_block_stop", index };
  switch (block.type) {
    case "text":
      return [start({ type: "text", text: "" }), ...pieces(block.text, o.split).map((text) => delta({ type: "text_delta", text })), stop];
    case "thinking":
      return [start({ type: "thinking", thinking: "", signature: "" }),
        ...pieces(block.thinking, o.split).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }), stop];
    case "tool_use": {
      const text = argumentText(part.call);
      return [start({ type: "tool_use", id: block.id, name: block.name, input: {} }),
        delta({ type: "input_json_delta", partial_json: "" }),
        ...(text === null ? [] : pieces(text, o.argSplit ?? o.split).map((partial_json) => delta({ type: "input_json_delta", partial_json }))), stop];
    }
    default:
      return [start(block), stop];
  }
}

export function messagesWhole(answer, o = {}) {
  const usage = usageOf(answer);
  const parts = partsOf(answer);
  const content = parts.map((part, i) => part.raw ?? messagesBlock(part, i, answer, o)).flat();
  return {
    id: answer.id ?? `msg_f${o.n ?? 0}`, type: "message", role: "assistant", model: answer.model ?? "fake", content,
    stop_reason: messagesEnd(answer, parts.some((p) => p.call)), stop_sequence: null, ...(usage ? { usage: messagesUsage(usage) } : {}),
  };
}

export function messagesEvents(answer, o = {}) {
  const usage = usageOf(answer);
  const report = usage && messagesUsage(usage);
  const parts = partsOf(answer);
  const message = {
    id: answer.id ?? `msg_f${o.n ?? 0}`, type: "message", role: "assistant", model: answer.model ?? "fake", content: [],
    stop_reason: null, stop_sequence: null, ...(report ? { usage: { ...report, output_tokens: 1, output_tokens_details: { thinking_tokens: 0 } } } : {}),
  };
  const list = [{ type: "message_start", message }];
  let index = 0;
  for (const part of parts) {
    if (part.raw) list.push(...part.raw);
    else list.push(...blockEvents(messagesBlock(part, index, answer, o), part.index ?? index, part, o));
    index++;
  }
  list.splice(2, 0, { type: "ping" });
  const reason = messagesEnd(answer, parts.some((p) => p.call));
  list.push({ type: "message_delta", delta: { stop_reason: reason, stop_sequence: null, ...(answer.stopDetails ? { stop_details: answer.stopDetails } : {}) }, ...(report ? { usage: report } : {}) });
  list.push({ type: "message_stop" });
  return list.map((data) => ({ event: data.type, data }));
}

export const EVENTS = { chat: chatEvents, responses: responsesEvents, messages: messagesEvents };
export const WHOLE = { chat: chatWhole, responses: responsesWhole, messages: messagesWhole };

// --- bytes ---

// Noise as servers and gateways send it between events.
export const NOISE = {
  comment: ": keepalive\n\n",
  id: ": keepalive\nid: 7\n\n",
  colon: "data: : keepalive\n\n",
  empty: "data:\n\n",
  keepalive: "event: keepalive\n\n",
  ping: 'event: ping\ndata: {"type": "ping"}\n\n',
  heartbeat: "event: heartbeat\ndata:\n\n",
  retry: "retry: 3000\n\n",
};

const dataText = (data) => (typeof data === "string" ? data : JSON.stringify(data));

function frame(e, o) {
  if (e.comment !== undefined) return `: ${e.comment}\n\n`;
  const gap = o.space === false ? "" : " ";
  let text = e.event && o.eventLines !== false ? `event:${gap}${e.event}\n` : "";
  if (e.data !== undefined) for (const line of dataText(e.data).split("\n")) text += `data:${gap}${line}\n`;
  return text + "\n";
}

// The bytes of each event. Options: eol, space, bom, eventLines, noise (true or names of NOISE, before each event),
// broken ({ at, data }: what stands in place of the data of event `at`).
export function frames(events, o = {}) {
  const eol = o.eol ?? "\n";
  const noise = o.noise === true ? Object.keys(NOISE) : (o.noise ?? []);
  return events.map((e, i) => {
    const now = o.broken?.at === i ? { ...e, data: o.broken.data } : e;
    let text = noise.map((name) => NOISE[name]).join("") + frame(now, o);
    if (eol !== "\n") text = text.replaceAll("\n", eol);
    return Buffer.from(i === 0 && o.bom ? `\ufeff${text}` : text);
  });
}
