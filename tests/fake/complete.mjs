// Recorded scripts say only what they are about. What the makers always send and their packages want is added here, and
// nothing else is touched: the role of the first delta, the type of a call, the output of a response that has ended.

function blocks(text) {
  return text.split(/\r\n\r\n|\n\n|\r\r/).filter((b) => b !== "").map((b) => {
    const lines = b.split(/\r\n|\n|\r/);
    const data = lines.filter((l) => l.startsWith("data:")).map((l) => l.slice(5).replace(/^ /, "")).join("\n");
    let value;
    try {
      value = JSON.parse(data);
    } catch {
      value = undefined;
    }
    return { block: b, lines, value: value !== null && typeof value === "object" ? value : undefined };
  });
}

function chat(list) {
  let begun = false;
  for (const { value } of list) {
    for (const choice of Array.isArray(value?.choices) ? value.choices : []) {
      const delta = choice?.delta;
      if (delta === null || typeof delta !== "object") continue;
      if (!begun && delta.role === undefined) delta.role = "assistant";
      begun = true;
      for (const call of Array.isArray(delta.tool_calls) ? delta.tool_calls : [])
        if (call?.function?.name !== undefined && call.type === undefined) call.type = "function";
    }
  }
}

function responses(list) {
  const output = [];
  for (const { value } of list) {
    if (value?.type === "response.output_item.done") output.push(value);
    if (value?.type === "response.created" && value.response && value.response.output === undefined) value.response.output = [];
    if (/^response\.(completed|incomplete)$/.test(value?.type) && !value.response?.output?.length) value.response.output = output.sort((a, b) => a.output_index - b.output_index).map((e) => e.item);
  }
}

export function complete(api, raw) {
  const text = raw.toString("utf8");
  if (api === "messages" || !text.includes("data")) return raw;
  const list = blocks(text);
  (api === "chat" ? chat : responses)(list);
  return Buffer.from(list.map(({ block, lines, value }) =>
    value === undefined ? `${block}\n\n` : `${lines.filter((l) => !l.startsWith("data:")).map((l) => `${l}\n`).join("")}data: ${JSON.stringify(value)}\n\n`).join(""));
}
