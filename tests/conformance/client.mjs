// The client that the suites run, with the address of their server as its last argument: alisio with that server as its
// only upstream one. Where a scenario needs more than tools (a person who answers, resources, prompts, a schema as it is),
// an MCP client stands before it and talks through the relay, in the older era.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { alisio, makeHome, run } from "../integration/lib.mjs";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const home = makeHome();
const config = join(home.dir, "servers.json");
writeFileSync(config, JSON.stringify({ mcpServers: { suite: { type: "http", url } } }));
const flags = ["--mcp-config", config, "--allow-mcp"];

// A script over the suite's server.
function script(code, input = {}) {
  const r = run(home, ["js", ...flags, "-", "--input", JSON.stringify(input)], { input: code });
  process.stdout.write(r.stdout);
  process.stderr.write(r.stderr);
  if (r.status !== 0) throw new Error(`alisio js ended with ${r.status}`);
}

// Connects, and lists the tools.
function doctor() {
  const r = run(home, ["mcp", "doctor", "suite", "--mcp-config", config]);
  process.stdout.write(r.stdout);
  process.stderr.write(r.stderr);
}

// A client of the official SDK before the relay. answer: what a person says to a question.
async function relayed(answer, use) {
  const client = new Client(
    { name: "conformance-client", version: "1.0.0" },
    { capabilities: { elicitation: { form: { applyDefaults: true } } } },
  );
  client.setRequestHandler(ElicitRequestSchema, (request) => answer(request.params, client));
  const args = ["mcp", ...flags, "--expose", "upstream", "--plain-names"];
  const transport = new StdioClientTransport({ command: alisio, args, cwd: home.workspace, env: home.env });
  await client.connect(transport);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

const callAll = "for (const t of tools.list()) if (t.name.startsWith('mcp_suite_')) ";

const scenarios = {
  initialize: doctor,
  tools_call: () => script("return tools.suite.add_numbers({ a: 5, b: 3 })"),
  // Twice: the first call may be answered on the stream that listens, which the suite takes for a reconnection.
  "sse-retry": () => script("await tools.suite.test_reconnection({}); return tools.suite.test_reconnection({})"),
  "request-metadata": doctor,
  "json-schema-ref-no-deref"() {
    doctor();
    script("return tools.describe(tools.list('lookup user').find(({ name }) => name.startsWith('mcp_')).name)");
  },
  // One that is offered although its annotation is wrong would be called here.
  "http-invalid-tool-headers"() {
    doctor();
    script(`${callAll} await tools.call(t.name, { region: "us" }).catch(print)`);
  },

  "elicitation-sep1034-client-defaults": () =>
    relayed(
      () => ({ action: "accept", content: {} }),
      (client) => client.callTool({ name: "test_client_elicitation_defaults", arguments: {} }),
    ),
  "sep-2322-client-request-state": () =>
    relayed(
      async (_, client) => {
        // Another call while the question is open: it must carry nothing of it.
        await client.callTool({ name: "test_mrtr_unrelated", arguments: {} });
        return { action: "accept", content: { confirmed: true } };
      },
      async (client) => {
        for (const name of ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"])
          await client.callTool({ name, arguments: {} });
      },
    ),
  "http-standard-headers": () =>
    relayed(null, async (client) => {
      const { tools } = await client.listTools();
      for (const { name } of tools.filter((t) => /header|hyphen/.test(t.name))) await client.callTool({ name, arguments: {} });
      for (const { uri } of (await client.listResources()).resources.filter((r) => /^(file|https):/.test(r.uri)))
        await client.readResource({ uri });
      for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
    }),
  "http-custom-headers": () =>
    relayed(null, async (client) => {
      await client.listTools();
      for (const { name, arguments: args } of context.toolCalls) await client.callTool({ name, arguments: args });
    }),
  "json-schema-2020-12-preservation": () =>
    relayed(null, async (client) => {
      const { tools } = await client.listTools();
      const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
      await client.callTool({ name: "json_schema_echo", arguments: { schema: inputSchema } });
    }),
};

try {
  if (!scenarios[scenario]) throw new Error(`no way to run the scenario ${scenario}`);
  await scenarios[scenario]();
} finally {
  home.remove();
}
