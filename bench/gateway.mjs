// What a gateway takes at the least with the official SDK: one upstream server's tools, passed on. node gateway.mjs SERVER
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "gateway", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [process.argv[2]] }));
const server = new Server({ name: "gateway", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => client.listTools());
server.setRequestHandler(CallToolRequestSchema, (request) => client.callTool(request.params));
await server.connect(new StdioServerTransport());
process.stdin.on("end", () => process.exit(0));
