// Judges requests as the three model APIs do, in their words and shapes, and a little more strictly: what a server of the same
// dialect may refuse is refused. null: the request is fine; else { status, type, message, param?, code? } (see errorBody).
import { signatureOf, encryptedOf } from "./wire.mjs";

const fault = (message, more = {}) => ({ status: 400, type: "invalid_request_error", message, ...more });
const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v);
const kind = (v) => (v === null ? "null" : Array.isArray(v) ? "array" : Number.isInteger(v) ? "integer" : typeof v);
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?:[^\ud800-\udbff]|^)[\udc00-\udfff]/;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9_-]+$/;
const CHAT_ID = /^[a-zA-Z0-9_.:-]+$/; // servers of this dialect make ids such as functions.name:0, and know them again
export const MAX_BODY = 32 << 20;

export class Refused extends Error {
  constructor(what) {
    super(what.message);
    this.what = what;
  }
}
const refuse = (...args) => {
  throw new Refused(fault(...args));
};

// The error as the maker writes it.
export function errorBody(api, e, requestId = "req_f0") {
  if (api === "messages") return { type: "error", error: { type: e.type, message: e.message, ...(e.details ? { details: e.details } : {}) }, request_id: requestId };
  return { error: { message: e.message, type: e.type, param: e.param ?? null, code: e.code ?? null } };
}

// body: the bytes. options: strict (default true: unknown top-level fields are refused), key, window (tokens; refuses what is
// estimated to be more), refuse: names of fields that this model does not take, prefill, wantsReasoning (chat),
// maxOutput (tokens that it writes at most), checkSignatures (default true), model (the only one that exists), encryptedFor (the model that wrote what is encrypted).
export function validate(api, headers, bytes, options = {}) {
  try {
    checkHeaders(api, headers, options);
    const body = parse(api, bytes);
    CHECKS[api](body, options, headers);
    checkCommon(api, body, bytes, options);
    return null;
  } catch (e) {
    if (e instanceof Refused) return e.what;
    throw e;
  }
}

function checkHeaders(api, headers, o) {
  const type = headers["content-type"] ?? "";
  if (!/^application\/json\b/.test(type)) refuse(`Unsupported content type: '${type}'. This API only supports the 'application/json' content type.`, { status: api === "messages" ? 400 : 415 });
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  const given = api === "messages" ? (headers["x-api-key"] ?? bearer) : bearer;
  if (api === "messages" && headers["x-api-key"] && bearer) refuse("Both x-api-key and authorization headers are set", { status: 401, type: "authentication_error" });
  if (o.key !== undefined && given !== o.key) refuseKey(api, given);
  if (api !== "messages") return;
  const version = headers["anthropic-version"];
  if (version === undefined) refuse("anthropic-version: header is required");
  if (!["2023-01-01", "2023-06-01", "2026-10-21"].includes(version)) refuse(`anthropic-version: "${version}" is not a valid version. You can see valid versions at docs.anthropic.com`);
}

function refuseKey(api, given) {
  if (api === "messages")
    refuse(given ? "invalid x-api-key" : "x-api-key header is required", { status: 401, type: "authentication_error" });
  if (!given) refuse("You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).", { status: 401 });
  refuse(`Incorrect API key provided: ${given}. You can find your API key at your account's settings.`, { status: 401, code: "invalid_api_key" });
}

function parse(api, bytes) {
  if (bytes.length > MAX_BODY) refuse("Request exceeds the maximum size", { status: 413, type: api === "messages" ? "request_too_large" : "invalid_request_error" });
  let text, body;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    refuse("We could not parse the JSON body of your request: it is not valid UTF-8.");
  }
  try {
    body = JSON.parse(text);
  } catch (e) {
    refuse(api === "messages" ? `The request body is not valid JSON: ${e.message}` : "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)");
  }
  if (!isObject(body)) refuse(api === "messages" ? "Input should be a valid dictionary" : `Invalid type: expected an object, but got ${kind(body)} instead.`, { code: "invalid_type" });
  everyString(body, (s, path) => {
    if (LONE.test(s)) refuse(`The request body is not valid JSON: no low surrogate in string at ${path}`);
    if (s.includes("\0")) refuse(`The request body holds the character U+0000 at ${path}`);
  });
  return body;
}

// No recursion: a request may be deep.
function everyString(v, fn) {
  const open = [[v, "$"]];
  while (open.length) {
    const [x, path] = open.pop();
    if (typeof x === "string") fn(x, path);
    else if (x && typeof x === "object")
      for (const [k, child] of Object.entries(x)) {
        fn(k, `${path}.(key)`);
        open.push([child, `${path}.${k}`]);
      }
  }
}

const FIELDS = {
  chat: ["model", "messages", "stream", "stream_options", "tools", "tool_choice", "max_completion_tokens", "max_tokens", "parallel_tool_calls",
    "reasoning_effort", "prompt_cache_key", "verbosity", "prompt_cache_options", "safety_identifier", "service_tier", "store", "temperature", "top_p",
    "stop", "seed", "user", "metadata", "n", "response_format", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "logit_bias",
    "modalities", "audio", "prediction", "web_search_options", "functions", "function_call", "prompt_cache_retention"],
  responses: ["model", "instructions", "input", "stream", "stream_options", "store", "include", "tools", "tool_choice", "parallel_tool_calls",
    "max_output_tokens", "max_tool_calls", "reasoning", "text", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
    "previous_response_id", "conversation", "background", "truncation", "context_management", "metadata", "temperature", "top_p", "top_logprobs",
    "safety_identifier", "service_tier", "user", "prompt"],
  messages: ["model", "max_tokens", "system", "messages", "tools", "tool_choice", "stream", "thinking", "output_config", "cache_control", "metadata",
    "stop_sequences", "temperature", "top_p", "top_k", "service_tier", "container", "context_management", "mcp_servers", "inference_geo"],
};

function checkFields(api, body, o) {
  for (const name of Object.keys(body)) {
    if (o.strict !== false && !FIELDS[api].includes(name)) {
      if (api === "chat") refuse(`Unrecognized request argument supplied: ${name}`);
      if (api === "responses") refuse(`Unknown parameter: '${name}'.`, { param: name, code: "unknown_parameter" });
      refuse(`${name}: Extra inputs are not permitted`);
    }
  }
  const unwanted = (o.refuse ?? []).find((name) => fieldThere(body, name));
  if (unwanted !== undefined) refuseField(api, unwanted);
}

const fieldThere = (body, name) => {
  if (name === "developer") return (body.messages ?? []).some((m) => m?.role === "developer");
  if (name === "strict") return (body.tools ?? []).some((t) => t?.strict !== undefined || t?.function?.strict !== undefined);
  if (name === "reasoning_effort" && body.reasoning?.effort !== undefined) return true;
  return body[name] !== undefined;
};

// The words differ from maker to maker: what must be recognised is the field's name in them.
function refuseField(api, name) {
  if (api === "messages") refuse(`${name}: Extra inputs are not permitted`);
  if (name === "max_tokens") refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", { param: name, code: "unsupported_parameter" });
  if (name === "developer") refuse("Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user', 'function', and 'tool'.", { param: "messages[0].role", code: "invalid_value" });
  if (name === "temperature") refuse("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", { param: name, code: "unsupported_value" });
  const path = api === "responses" && name === "reasoning_effort" ? "reasoning.effort" : name;
  refuse(`Unsupported parameter: '${path}' is not supported with this model.`, { param: path, code: "unsupported_parameter" });
}

function checkCommon(api, body, bytes, o) {
  if (o.model !== undefined && body.model !== o.model) {
    if (api === "messages") refuse(`model: ${body.model}`, { status: 404, type: "not_found_error" });
    refuse(`The model \`${body.model}\` does not exist or you do not have access to it.`, { status: 404, code: "model_not_found" });
  }
  const output = body.max_completion_tokens ?? body.max_output_tokens ?? body.max_tokens ?? 0;
  if (output > o.maxOutput) {
    if (api === "messages") refuse(`max_tokens: ${output} > ${o.maxOutput}, which is the maximum allowed number of output tokens for ${body.model}`);
    const name = ["max_completion_tokens", "max_output_tokens", "max_tokens"].find((n) => body[n] !== undefined);
    refuse(`${name} is too large: ${output}. This model supports at most ${o.maxOutput} completion tokens, whereas you provided ${output}.`, { param: name, code: "invalid_value" });
  }
  if (o.window === undefined) return;
  const tokens = Math.ceil(bytes.length / 4);
  if (api === "messages") {
    if (tokens > o.window) refuse(`prompt is too long: ${tokens} tokens > ${o.window} maximum`);
    if (tokens + output > o.window) refuse(`input length and \`max_tokens\` exceed context limit: ${tokens} + ${output} > ${o.window}, decrease input length or \`max_tokens\` and try again`);
  } else if (tokens > o.window) {
    refuse(`This model's maximum context length is ${o.window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`, { param: api === "chat" ? "messages" : "input", code: "context_length_exceeded" });
  }
}

const number = (body, name, min = 1) => {
  const v = body[name];
  if (v !== undefined && v !== null && (!Number.isInteger(v) || v < min)) refuse(`Invalid '${name}': integer below minimum value. Expected a value >= ${min}, but got ${JSON.stringify(v)} instead.`, { param: name, code: "integer_below_min_value" });
};

function checkSchema(schema, name, param) {
  if (!isObject(schema) || schema.type !== "object")
    refuse(`Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${isObject(schema) ? schema.type : kind(schema)}"'.`, { param, code: "invalid_function_parameters" });
  if (schema.properties !== undefined && !isObject(schema.properties)) refuse(`Invalid schema for function '${name}': 'properties' is not an object.`, { param, code: "invalid_function_parameters" });
  for (const key of schema.required ?? [])
    if (!Object.hasOwn(schema.properties ?? {}, key)) refuse(`Invalid schema for function '${name}': 'required' names '${key}', which is not in 'properties'.`, { param, code: "invalid_function_parameters" });
}

function checkOpenAiTools(api, body) {
  if (body.tools === undefined) {
    if (body.tool_choice !== undefined) refuse("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", { param: "tool_choice" });
    if (body.parallel_tool_calls !== undefined) refuse("Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.", { param: "parallel_tool_calls" });
    return;
  }
  if (!Array.isArray(body.tools)) refuse(`Invalid type for 'tools': expected an array of objects, but got ${kind(body.tools)} instead.`, { param: "tools", code: "invalid_type" });
  if (body.tools.length === 0) refuse("Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.", { param: "tools", code: "empty_array" });
  const names = new Set();
  body.tools.forEach((tool, i) => {
    const at = `tools[${i}]`;
    if (tool?.type !== "function") refuse(`Invalid value: '${tool?.type}'. Supported values are: 'function' and 'custom'.`, { param: `${at}.type`, code: "invalid_value" });
    if (api === "responses" && tool.function !== undefined) refuse(`Unknown parameter: '${at}.function'.`, { param: `${at}.function`, code: "unknown_parameter" });
    const f = api === "chat" ? tool.function : tool;
    const where = api === "chat" ? `${at}.function` : at;
    if (!isObject(f) || typeof f.name !== "string") refuse(`Missing required parameter: '${where}.name'.`, { param: `${where}.name`, code: "missing_required_parameter" });
    if (!NAME.test(f.name)) refuse(`Invalid '${where}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, { param: `${where}.name`, code: "invalid_value" });
    if (names.has(f.name)) refuse(`Invalid '${where}.name': duplicate function name '${f.name}'.`, { param: `${where}.name`, code: "invalid_value" });
    names.add(f.name);
    if (f.description !== undefined && typeof f.description !== "string") refuse(`Invalid type for '${where}.description': expected a string, but got ${kind(f.description)} instead.`, { code: "invalid_type" });
    checkSchema(f.parameters, f.name, `${where}.parameters`);
  });
}

// --- Chat Completions ---

const CHAT_ROLES = ["system", "developer", "assistant", "user", "tool"];
const MESSAGE_FIELDS = {
  system: ["role", "content", "name"], developer: ["role", "content", "name"], user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "refusal", "tool_calls", "reasoning_content", "reasoning", "reasoning_details", "annotations", "audio"],
  tool: ["role", "content", "tool_call_id"],
};

function textContent(content, at, types, optional) {
  if (content === undefined || content === null) {
    if (optional) return;
    refuse(`Invalid value for 'content': expected a string, got null.`, { param: `${at}.content` });
  }
  if (typeof content === "string") {
    if (content === "") refuse(`Invalid '${at}.content': empty text.`, { param: `${at}.content` });
    return;
  }
  if (!Array.isArray(content)) refuse(`Invalid type for '${at}.content': expected one of a string or array of objects, but got ${kind(content)} instead.`, { param: `${at}.content`, code: "invalid_type" });
  if (content.length === 0) refuse(`Invalid '${at}.content': empty array. Expected an array with minimum length 1, but got an empty array instead.`, { param: `${at}.content`, code: "empty_array" });
  content.forEach((part, i) => {
    if (!types.includes(part?.type)) refuse(`Invalid value: '${part?.type}'. Supported values are: ${types.map((t) => `'${t}'`).join(", ")}.`, { param: `${at}.content[${i}].type`, code: "invalid_value" });
    if (/text$/.test(part.type) && (typeof part.text !== "string" || part.text === "")) refuse(`Invalid '${at}.content[${i}].text': empty text.`, { param: `${at}.content[${i}].text` });
  });
}

function checkChatCalls(m, at, seen) {
  if (!Array.isArray(m.tool_calls) || m.tool_calls.length === 0) refuse(`Invalid '${at}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`, { param: `${at}.tool_calls`, code: "empty_array" });
  const ids = [];
  m.tool_calls.forEach((call, k) => {
    const where = `${at}.tool_calls[${k}]`;
    if (typeof call?.id !== "string") refuse(`Missing required parameter: '${where}.id'.`, { param: `${where}.id`, code: "missing_required_parameter" });
    if (call.id.length > 64 || call.id === "") refuse(`Invalid '${where}.id': string too long. Expected a string with maximum length 64, but got a string with length ${call.id.length} instead.`, { param: `${where}.id`, code: "string_above_max_length" });
    if (!CHAT_ID.test(call.id)) refuse(`Invalid '${where}.id': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_.:-]+$'.`, { param: `${where}.id`, code: "invalid_value" });
    if (seen.has(call.id)) refuse(`Invalid '${where}.id': duplicate tool call id '${call.id}'.`, { param: `${where}.id`, code: "invalid_value" });
    seen.add(call.id);
    ids.push(call.id);
    if (call.type !== "function") refuse(`Missing required parameter: '${where}.type'.`, { param: `${where}.type`, code: "missing_required_parameter" });
    if (call.index !== undefined) refuse(`Unknown parameter: '${where}.index'.`, { param: `${where}.index`, code: "unknown_parameter" });
    checkCallText(call.function, where);
  });
  return ids;
}

function checkCallText(f, where) {
  if (typeof f?.name !== "string" || !NAME.test(f.name)) refuse(`Invalid '${where}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, { param: `${where}.function.name`, code: "invalid_value" });
  if (typeof f.arguments !== "string") refuse(`Missing required parameter: '${where}.function.arguments'.`, { param: `${where}.function.arguments`, code: "missing_required_parameter" });
  let value;
  try {
    value = JSON.parse(f.arguments);
  } catch {
    value = null;
  }
  if (!isObject(value)) refuse(`Invalid '${where}.function.arguments': expected the JSON text of an object.`, { param: `${where}.function.arguments`, code: "invalid_value" });
}

function checkChat(body, o) {
  if (typeof body.model !== "string" || body.model === "") refuse("you must provide a model parameter");
  checkFields("chat", body, o);
  if (!Array.isArray(body.messages)) refuse("Missing required parameter: 'messages'.", { param: "messages", code: "missing_required_parameter" });
  if (body.messages.length === 0) refuse("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.", { param: "messages", code: "empty_array" });
  number(body, "max_tokens");
  number(body, "max_completion_tokens");
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) refuse("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.");
  if (body.stream_options !== undefined && body.stream !== true) refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: "stream_options" });
  checkOpenAiTools("chat", body);
  checkChatMessages(body, o);
}

function checkChatMessages(body, o) {
  let open = []; // ids that wait for their results
  const seen = new Set();
  let firstSeen = false;
  body.messages.forEach((m, i) => {
    const at = `messages[${i}]`;
    if (!CHAT_ROLES.includes(m?.role)) refuse(`Invalid value: '${m?.role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`, { param: `${at}.role`, code: "invalid_value" });
    const unknown = o.strict === false ? undefined : Object.keys(m).find((k) => !MESSAGE_FIELDS[m.role].includes(k));
    if (unknown) refuse(`Unknown parameter: '${at}.${unknown}'.`, { param: `${at}.${unknown}`, code: "unknown_parameter" });
    if (m.role === "tool") {
      if (typeof m.tool_call_id !== "string") refuse(`Missing required parameter: '${at}.tool_call_id'.`, { param: `${at}.tool_call_id`, code: "missing_required_parameter" });
      if (!open.includes(m.tool_call_id)) refuse("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", { param: `messages.[${i}].role` });
      open = open.filter((id) => id !== m.tool_call_id);
      textContent(m.content, at, ["text"]);
      return;
    }
    if (open.length) refuse(`An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`, { param: `messages.[${i}].role` });
    if (m.role === "system" || m.role === "developer") {
      if (firstSeen) refuse(`Unexpected role '${m.role}' in 'messages[${i}]': system messages come first.`, { param: `${at}.role` });
      return textContent(m.content, at, ["text"]);
    }
    if (!firstSeen && m.role !== "user") refuse("Conversation roles must begin with 'user' after the system message.", { param: `${at}.role` });
    firstSeen = true;
    if (m.role === "user") return textContent(m.content, at, ["text", "image_url", "input_audio", "file"]);
    if (m.tool_calls === undefined && (m.content === undefined || m.content === null) && !m.refusal) refuse(`Invalid value for 'content': expected a string, got null.`, { param: `${at}.content` });
    textContent(m.content, at, ["text", "refusal"], true);
    if (m.tool_calls !== undefined) open = checkChatCalls(m, at, seen);
    if (o.wantsReasoning && m.tool_calls && inOpenLoop(body.messages, i) && !m.reasoning_content) refuse("The `reasoning_content` in the thinking mode must be passed back to the API.");
    if (o.noReasoning && m.reasoning_content !== undefined) refuse(`Unknown parameter: '${at}.reasoning_content'.`, { param: `${at}.reasoning_content`, code: "unknown_parameter" });
  });
  if (open.length) refuse(`An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`, { param: "messages" });
  if (body.messages[body.messages.length - 1].role === "assistant" && !o.prefill) refuse("Cannot continue from a final assistant message.", { param: "messages" });
  if (!firstSeen) refuse("No user message found in messages.", { param: "messages" });
}

// Whether only calls and results stand between message i and the end.
const inOpenLoop = (messages, i) => messages.slice(i + 1).every((m) => m.role === "tool" || (m.role === "assistant" && m.tool_calls));

// --- Responses ---

const ITEM_FIELDS = {
  message: ["type", "role", "content", "id", "status", "phase"],
  function_call: ["type", "call_id", "name", "arguments", "id", "status", "namespace", "caller"],
  function_call_output: ["type", "call_id", "output", "id", "status"],
  reasoning: ["type", "id", "summary", "content", "encrypted_content", "status"],
};

function checkResponses(body, o) {
  if (typeof body.model !== "string" || body.model === "") refuse("Missing required parameter: 'model'.", { param: "model", code: "missing_required_parameter" });
  checkFields("responses", body, o);
  for (const name of ["max_output_tokens"]) number(body, name, 16);
  if (body.instructions !== undefined && body.instructions !== null && typeof body.instructions !== "string") refuse(`Invalid type for 'instructions': expected a string, but got ${kind(body.instructions)} instead.`, { param: "instructions", code: "invalid_type" });
  checkOpenAiTools("responses", body);
  if (typeof body.input === "string" && body.input !== "") return;
  if (!Array.isArray(body.input)) refuse("Missing required parameter: 'input'.", { param: "input", code: "missing_required_parameter" });
  if (body.input.length === 0) refuse("Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.", { param: "input", code: "empty_array" });
  checkItems(body, o);
}

function checkItems(body, o) {
  let calls = []; // call ids without their output
  let outputs = false; // whether outputs of the open calls have begun
  const seen = new Set(), ids = new Set();
  let user = false;
  body.input.forEach((item, i) => {
    const at = `input[${i}]`;
    const type = item?.type ?? (item?.role ? "message" : undefined);
    if (!ITEM_FIELDS[type]) refuse(`Invalid value: '${type}'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning', 'item_reference', and others.`, { param: `${at}.type`, code: "invalid_value" });
    const unknown = o.strict === false ? undefined : Object.keys(item).find((k) => !ITEM_FIELDS[type].includes(k));
    if (unknown) refuse(`Unknown parameter: '${at}.${unknown}'.`, { param: `${at}.${unknown}`, code: "unknown_parameter" });
    if (typeof item.id === "string" && type !== "message") {
      if (ids.has(item.id)) refuse(`Duplicate item found with id ${item.id}. Remove duplicate items from your input and try again.`, { param: "input" });
      ids.add(item.id);
    }
    if (type === "function_call_output") {
      if (!calls.includes(item.call_id)) refuse(`No tool call found for function call output with call_id ${item.call_id}.`, { param: "input" });
      calls = calls.filter((id) => id !== item.call_id);
      outputs = calls.length > 0;
      return checkOutput(item, at);
    }
    if (outputs || (calls.length && (type === "message" && item.role !== "assistant"))) refuse(`No tool output found for function call ${calls[0]}.`, { param: "input" });
    if (type === "message") user = checkItemMessage(item, at, user) || user;
    else if (!user) refuse("The first item of 'input' must be a message of the user.", { param: at });
    if (type === "function_call") calls.push(checkItemCall(item, at, seen));
    if (type === "reasoning") checkReasoning(item, at, body, i, o);
  });
  if (calls.length) refuse(`No tool output found for function call ${calls[0]}.`, { param: "input" });
}

function checkOutput(item, at) {
  if (typeof item.output === "string" ? item.output === "" : !Array.isArray(item.output) || item.output.length === 0)
    refuse(`Invalid '${at}.output': empty text.`, { param: `${at}.output` });
}

function checkItemMessage(item, at, user) {
  if (!["user", "assistant", "system", "developer"].includes(item.role)) refuse(`Invalid value: '${item.role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`, { param: `${at}.role`, code: "invalid_value" });
  const types = item.role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
  textContent(item.content, at, types);
  if (item.role === "assistant" && !user) refuse("The first item of 'input' must be a message of the user.", { param: at });
  return item.role === "user";
}

function checkItemCall(item, at, seen) {
  if (typeof item.call_id !== "string" || item.call_id === "") refuse(`Missing required parameter: '${at}.call_id'.`, { param: `${at}.call_id`, code: "missing_required_parameter" });
  if (item.call_id.length > 64) refuse(`Invalid '${at}.call_id': string too long. Expected a string with maximum length 64, but got a string with length ${item.call_id.length} instead.`, { param: `${at}.call_id`, code: "string_above_max_length" });
  if (!ID.test(item.call_id)) refuse(`Invalid '${at}.call_id': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, { param: `${at}.call_id`, code: "invalid_value" });
  if (seen.has(item.call_id)) refuse(`Duplicate call_id ${item.call_id}.`, { param: `${at}.call_id` });
  seen.add(item.call_id);
  if (item.id !== undefined && !/^fc_/.test(item.id)) refuse(`Invalid '${at}.id': '${item.id}'. Expected an ID that begins with 'fc'.`, { param: `${at}.id`, code: "invalid_value" });
  checkCallText({ name: item.name, arguments: item.arguments }, at);
  return item.call_id;
}

function checkReasoning(item, at, body, i, o) {
  if (!Array.isArray(item.summary)) refuse(`Missing required parameter: '${at}.summary'.`, { param: `${at}.summary`, code: "missing_required_parameter" });
  if (typeof item.encrypted_content !== "string") {
    if (body.store === false) refuse(`Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`, { status: 404, param: "input" });
  } else if (o.checkSignatures !== false) {
    const text = item.summary.map((s) => s.text).join("");
    if (item.encrypted_content !== encryptedOf(item.id, text, o.encryptedFor ?? body.model)) refuse(`The encrypted content for item ${item.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`, { code: "invalid_encrypted_content" });
  }
  const next = body.input[i + 1];
  if (!next || next.type === "function_call_output" || (next.role && next.role !== "assistant")) refuse(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`, { param: "input" });
}

// --- Messages ---

function checkMessages(body, o, headers) {
  if (typeof body.model !== "string" || body.model === "") refuse("model: Field required");
  checkFields("messages", body, o);
  if (body.max_tokens === undefined) refuse("max_tokens: Field required");
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) refuse("max_tokens: Input should be greater than or equal to 1");
  if (headers["anthropic-version"] === "2026-10-21")
    for (const name of ["temperature", "top_p", "top_k"]) if (body[name] !== undefined) refuse(`${name}: Extra inputs are not permitted`);
  if (!Array.isArray(body.messages)) refuse("messages: Field required");
  if (body.messages.length === 0) refuse("messages: at least one message is required");
  if (body.messages.length > 100_000) refuse("messages: at most 100000 messages are allowed");
  if (typeof body.system === "string" ? body.system === "" : body.system !== undefined && !Array.isArray(body.system)) refuse("system: text content blocks must be non-empty");
  for (const block of Array.isArray(body.system) ? body.system : []) if (block?.type !== "text" || !block.text) refuse("system: text content blocks must be non-empty");
  checkThinking(body);
  checkCacheControl(body);
  checkMessagesTools(body);
  if (body.messages[0]?.role !== "user") refuse('messages: first message must use the "user" role');
  checkMessageList(body, o);
}

function checkThinking(body) {
  const t = body.thinking;
  if (t === undefined) return;
  if (!["adaptive", "enabled", "disabled"].includes(t?.type)) refuse(`thinking: Input tag '${t?.type}' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'`);
  if (t.type === "enabled" && !(t.budget_tokens >= 1024)) refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  if (t.type === "enabled" && t.budget_tokens >= body.max_tokens) refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
}

function checkCacheControl(body) {
  let n = 0;
  const see = (x) => {
    if (x?.cache_control === undefined) return;
    n++;
    if (x.cache_control?.type !== "ephemeral") refuse("cache_control.type: Input should be 'ephemeral'");
  };
  see(body);
  for (const block of Array.isArray(body.system) ? body.system : []) see(block);
  for (const tool of body.tools ?? []) see(tool);
  for (const m of body.messages ?? []) for (const block of Array.isArray(m?.content) ? m.content : []) see(block);
  if (n > 4) refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${n}.`);
}

function checkMessagesTools(body) {
  if (body.tools !== undefined && !Array.isArray(body.tools)) refuse("tools: Input should be a valid list");
  const names = new Set();
  (body.tools ?? []).forEach((tool, i) => {
    if (typeof tool?.name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) refuse(`tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (names.has(tool.name)) refuse("tools: Tool names must be unique.");
    names.add(tool.name);
    if (tool.function !== undefined || tool.parameters !== undefined) refuse(`tools.${i}.custom.${tool.function ? "function" : "parameters"}: Extra inputs are not permitted`);
    if (!isObject(tool.input_schema)) refuse(`tools.${i}.custom.input_schema: Field required`);
    if (tool.input_schema.type !== "object") refuse(`tools.${i}.custom.input_schema.type: Input should be 'object'`);
    checkSchema(tool.input_schema, tool.name, `tools.${i}.custom.input_schema`);
  });
  if (body.tool_choice !== undefined && !["auto", "any", "tool", "none"].includes(body.tool_choice?.type)) refuse("tool_choice: Input tag found using 'type' does not match any of the expected tags: 'auto', 'any', 'none', 'tool'");
  if (body.tool_choice !== undefined && body.tools === undefined) refuse("tool_choice: may only be specified while providing tools");
}

const BLOCKS = {
  user: ["text", "image", "document", "search_result", "tool_result"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result",
    "code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "mcp_tool_use", "mcp_tool_result",
    "container_upload", "compaction"],
};

function blocksOf(m, i) {
  if (typeof m.content === "string") {
    if (m.content === "") refuse(`messages.${i}: text content blocks must be non-empty`);
    return [{ type: "text", text: m.content }];
  }
  if (!Array.isArray(m.content)) refuse(`messages.${i}.content: Input should be a valid list`);
  if (m.content.length === 0) refuse(`messages.${i}: all messages must have non-empty content except for the optional final assistant message`);
  return m.content;
}

function checkMessageList(body, o) {
  const seen = new Set();
  let open = []; // of the assistant message before
  body.messages.forEach((m, i) => {
    if (!["user", "assistant", "system"].includes(m?.role)) refuse(`messages.${i}.role: Input should be 'user' or 'assistant'`);
    const extra = Object.keys(m).find((k) => !["role", "content"].includes(k));
    if (extra && o.strict !== false) refuse(`messages.${i}.${extra}: Extra inputs are not permitted`);
    const blocks = blocksOf(m, i);
    if (m.role === "user") open = checkUserBlocks(blocks, i, open);
    else if (open.length) refuseUnanswered(i, open);
    else if (m.role === "assistant") open = checkAssistantBlocks(blocks, i, body, seen, o);
  });
  if (open.length) refuseUnanswered(body.messages.length - 1, open);
  if (body.messages[body.messages.length - 1].role === "assistant" && !o.prefill)
    refuse("This model does not support assistant message prefill. The conversation must end with a user message.");
  if (seen.size && body.tools === undefined) refuse("Requests which include `tool_use` or `tool_result` blocks must define tools");
}

const refuseUnanswered = (i, open) =>
  refuse(`messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`);

// The results of all open calls come first, each once.
function checkUserBlocks(blocks, i, open) {
  const left = new Set(open);
  let other = false;
  blocks.forEach((b, k) => {
    const at = `messages.${i}.content.${k}`;
    if (!BLOCKS.user.includes(b?.type)) refuse(`${at}: Input tag '${b?.type}' found using 'type' does not match any of the expected tags: ${BLOCKS.user.map((t) => `'${t}'`).join(", ")}`);
    if (b.type === "text" && !b.text) refuse("messages: text content blocks must be non-empty");
    if (b.type !== "tool_result") {
      other = true;
      return;
    }
    if (!left.has(b.tool_use_id)) refuse(`${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${b.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`);
    if (other) refuseUnanswered(i, [...left]);
    left.delete(b.tool_use_id);
    checkResultBlock(b, at);
  });
  if (left.size) refuseUnanswered(i, [...left]);
  return [];
}

function checkResultBlock(b, at) {
  const extra = Object.keys(b).find((k) => !["type", "tool_use_id", "content", "is_error", "cache_control"].includes(k));
  if (extra) refuse(`${at}.tool_result.${extra}: Extra inputs are not permitted`);
  if (b.is_error !== undefined && typeof b.is_error !== "boolean") refuse(`${at}.tool_result.is_error: Input should be a valid boolean`);
  if (b.content === "" || b.content === undefined) refuse(`${at}.tool_result: content must be non-empty`);
  if (Array.isArray(b.content)) for (const x of b.content) if (x?.type === "text" && !x.text) refuse("messages: text content blocks must be non-empty");
}

function checkAssistantBlocks(blocks, i, body, seen, o) {
  const open = [];
  blocks.forEach((b, k) => {
    const at = `messages.${i}.content.${k}`;
    if (!BLOCKS.assistant.includes(b?.type)) refuse(`${at}: Input tag '${b?.type}' found using 'type' does not match any of the expected tags: ${BLOCKS.assistant.map((t) => `'${t}'`).join(", ")}`);
    if (b.type === "text" && (typeof b.text !== "string" || b.text.trim() === "")) refuse("messages: text content blocks must contain non-whitespace text");
    if (b.type === "thinking") checkThinkingBlock(b, at, body, o);
    if (b.type === "tool_use") open.push(checkUseBlock(b, at, seen));
  });
  const last = blocks[blocks.length - 1];
  if (last.type === "thinking" || last.type === "redacted_thinking") refuse(`messages.${i}: The final block in an assistant message cannot be \`thinking\`.`);
  return open;
}

function checkThinkingBlock(b, at, body, o) {
  if (typeof b.thinking !== "string") refuse(`${at}.thinking.thinking: Field required`);
  if (typeof b.signature !== "string" || b.signature === "") refuse(`${at}.thinking.signature: Field required`);
  if (o.checkSignatures !== false && b.signature !== signatureOf(b.thinking, o.encryptedFor ?? body.model)) refuse(`${at}: Invalid \`signature\` in \`thinking\` block`);
}

function checkUseBlock(b, at, seen) {
  if (typeof b.id !== "string" || !ID.test(b.id)) refuse(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (seen.has(b.id)) refuse(`${at}: \`tool_use\` ids must be unique`);
  seen.add(b.id);
  if (typeof b.name !== "string" || !/^[a-zA-Z0-9_-]{1,200}$/.test(b.name)) refuse(`${at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`);
  if (!isObject(b.input)) refuse(`${at}.tool_use.input: Input should be a valid dictionary`);
  const extra = Object.keys(b).find((k) => !["type", "id", "name", "input", "caller", "cache_control"].includes(k));
  if (extra) refuse(`${at}.tool_use.${extra}: Extra inputs are not permitted`);
  return b.id;
}

const CHECKS = { chat: checkChat, responses: checkResponses, messages: checkMessages };
