// A small MCP server over standard input and output: high water of two harbours. For the examples of docs/servers.md.
import { createInterface } from "node:readline";

const heights = { northport: [3.1, 3.4, 3.6], southport: [2.2, 2.1, 2.5] };
const bookings = [];
const harbour = { type: "string", enum: Object.keys(heights) };
const tools = {
  high_water: {
    description: "Height of the next high waters of a harbour, in metres.",
    inputSchema: { type: "object", properties: { harbour }, required: ["harbour"] },
    annotations: { readOnlyHint: true },
    run: ({ harbour: name }) => ({ harbour: name, metres: heights[name] }),
  },
  book_berth: {
    description: "Books a berth for a boat.",
    inputSchema: {
      type: "object",
      properties: { harbour, boat: { type: "string" } },
      required: ["harbour", "boat"],
    },
    annotations: { destructiveHint: false },
    run: ({ harbour: name, boat }) => ({ harbour: name, boat, berth: bookings.push(boat) }),
  },
};

function answer({ method, params }) {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "tides", version: "1.0.0" },
    };
  if (method === "ping") return {};
  if (method === "tools/list")
    return { tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool })) };
  if (method !== "tools/call" || !tools[params.name]) return undefined;
  const value = tools[params.name].run(params.arguments ?? {});
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  if (request.id === undefined) return;
  const result = answer(request);
  const rest = result ? { result } : { error: { code: -32601, message: `Not here: ${request.method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, ...rest })}\n`);
});
