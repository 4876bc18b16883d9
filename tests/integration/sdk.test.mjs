// Clients of both official SDKs, in both eras of the protocol, over both transports: what every one of them must get.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { alisio, makeHome, root, until } from "./lib.mjs";
import { startHttpHost } from "./sdk_host.mjs";

const info = { name: "sdk-test", version: "1.0.0" };
const simple = join(root, "tests/fixtures/simple.mjs");
// The second SDK needs Node 20.
const modern = Number(process.versions.node.split(".")[0]) >= 20;
const { Client: Client2, StreamableHTTPClientTransport: Http2 } = modern ? await import("@modelcontextprotocol/client") : {};
const { StdioClientTransport: Stdio2 } = modern ? await import("@modelcontextprotocol/client/stdio") : {};

// Each client: how it is made, and how it takes a handler for elicitation.
const clients = {
  "SDK v1": {
    make: (capabilities) => new Client1(info, { capabilities }),
    stdio: (o) => new Stdio1(o),
    http: (url, headers) => new Http1(url, { requestInit: { headers } }),
    onElicit: (client, answer) => client.setRequestHandler(ElicitRequestSchema, (r) => answer(r.params)),
    call: (client, params, options) => client.callTool(params, undefined, options),
  },
  "SDK v2, older era": v2({}, "legacy"),
  "SDK v2, 2026-07-28": v2({ versionNegotiation: { mode: { pin: "2026-07-28" } } }, "modern"),
  "SDK v2, whichever it finds": v2({ versionNegotiation: { mode: "auto" } }, "modern"),
};
function v2(options, era) {
  return {
    era,
    skip: !modern && "the second SDK needs Node 20",
    make: (capabilities) => new Client2(info, { capabilities, ...options }),
    stdio: (o) => new Stdio2(o),
    http: (url, headers) => new Http2(url, { requestInit: { headers } }),
    onElicit: (client, answer) => client.setRequestHandler("elicitation/create", (r) => answer(r.params)),
    call: (client, params, options_) => client.callTool(params, options_),
  };
}

// What a person answers to a question for approval: the choice that holds the word, wherever it stands.
function choose(params, word) {
  const content = {};
  for (const [name, schema] of Object.entries(params.requestedSchema.properties)) {
    const choices = schema.enum ?? schema.oneOf?.map((o) => o.const);
    const found = choices?.find((choice) => choice.includes(word));
    if (found !== undefined) content[name] = found;
  }
  assert.equal(Object.keys(content).length, 1, `no choice "${word}" in ${JSON.stringify(params.requestedSchema)}`);
  return { action: "accept", content };
}

for (const [name, sdk] of Object.entries(clients)) {
  for (const transport of ["stdio", "http"]) {
    describe(`${name} over ${transport}`, { skip: sdk.skip ?? false }, () => {
      let home, host, config;
      const args = () => ["--mcp-config", config, "--expose", "files"];

      before(async () => {
        home = makeHome({ "data.csv": "a,b\n1,2\n3,4\n" });
        config = join(home.dir, "servers.json");
        writeFileSync(config, JSON.stringify({ mcpServers: { simple: { command: process.execPath, args: [simple] } } }));
        if (transport === "http") host = await startHttpHost(home, args());
      });
      after(async () => {
        await host?.stop();
        home.remove();
      });

      async function connected(use, capabilities = {}, answer) {
        const client = sdk.make(capabilities);
        if (answer) sdk.onElicit(client, answer);
        await client.connect(
          host
            ? sdk.http(host.url, host.headers)
            : sdk.stdio({ command: alisio, args: ["mcp", ...args()], cwd: home.workspace, env: home.env }),
        );
        try {
          await use(client);
        } finally {
          await client.close();
        }
      }

      test("connects in its era, lists and calls", () =>
        connected(async (client) => {
          if (sdk.era) assert.equal(client.getProtocolEra(), sdk.era);
          assert.equal(client.getServerVersion().name, "alisio");
          const { tools } = await client.listTools();
          assert.ok(tools.some((t) => t.name === "js_run"));
          const r = await sdk.call(client, { name: "js_run", arguments: { code: "return 6 * 7" } });
          assert.equal(r.structuredContent.value, 42);
          assert.equal(r.content[0].type, "text");
          const bad = await sdk.call(client, { name: "js_run", arguments: { code: "throw new Error('no')" } });
          assert.equal(bad.isError, true);
          await assert.rejects(async () => sdk.call(client, { name: "no_such_tool", arguments: {} }));
        }));

      test("progress arrives, and an abort ends while(true){}", () =>
        connected(async (client) => {
          const seen = [];
          const code = "for (let i = 1; i <= 3; i++) { progress({completed: i, total: 3}); await tools.list_files({}) }";
          await sdk.call(client, { name: "js_run", arguments: { code } }, { onprogress: (p) => seen.push(p) });
          assert.ok(seen.length >= 1);
          const abort = new AbortController();
          const endless = { name: "js_run", arguments: { code: "progress('on'); while(true){}" } };
          let running = false;
          const call = sdk.call(client, endless, { signal: abort.signal, onprogress: () => (running = true) });
          const ended = assert.rejects(call);
          await until("the run", () => running);
          abort.abort("enough");
          await ended;
        }));

      test("a run is a resource, in the list and readable", () =>
        connected(async (client) => {
          const r = await sdk.call(client, { name: "js_run", arguments: { code: "return 'kept'" } });
          const uri = `run://${r.structuredContent.executionId}`;
          const { contents } = await client.readResource({ uri });
          assert.match(contents[0].text, /kept/);
          const { resources } = await client.listResources();
          assert.ok(resources.some((x) => x.uri === uri), JSON.stringify(resources));
          await assert.rejects(async () => client.readResource({ uri: "run://exec_00000000000000000000000000" }));
        }));

      test("tools of upstream servers are found and called by a script", () =>
        connected(async (client) => {
          const asks = await sdk.call(client, {
            name: "js_run",
            arguments: { code: "return tools.simple.echo({text: 'x'}).catch((e) => [e.code, e.hint])" },
          });
          assert.equal(asks.structuredContent.value[0], "APPROVAL_REQUIRED");
          assert.match(asks.structuredContent.value[1], /mcp allow simple|--allow-mcp/);
        }));

      test("the tools of uses are approved by one question", async () => {
        const questions = [];
        const answer = (word) => (params) => {
          questions.push(params.message);
          return choose(params, word);
        };
        const run = (client, file) =>
          sdk.call(client, {
            name: "js_run",
            arguments: {
              title: "Writes twice",
              uses: ["write_file", "simple.echo"],
              code: `await tools.write_file({path: '${file}', content: 'x'}); return tools.simple.echo({text: 'hi'})`,
            },
          });
        await connected(
          async (client) => {
            const r = await run(client, "yes.txt");
            assert.notEqual(r.isError, true, JSON.stringify(r.content));
            assert.equal(r.structuredContent.value, "hi");
            assert.equal(questions.length, 1);
            assert.match(questions[0], /write_file/);
            assert.ok(existsSync(join(home.workspace, "yes.txt")));
          },
          { elicitation: {} },
          answer("once"),
        );
        await connected(
          async (client) => {
            const r = await run(client, "no.txt");
            assert.equal(r.isError, true);
            assert.ok(!existsSync(join(home.workspace, "no.txt")));
          },
          { elicitation: {} },
          answer("deny"),
        );
        await connected(
          async (client) => {
            assert.equal((await run(client, "no.txt")).isError, true);
            assert.ok(!existsSync(join(home.workspace, "no.txt")));
          },
          { elicitation: {} },
          () => ({ action: "cancel" }),
        );
      });

      test("a client that cannot ask gets APPROVAL_REQUIRED", () =>
        connected(async (client) => {
          const write = { name: "write_file", arguments: { path: "never.txt", content: "x" } };
          const r = await sdk.call(client, write);
          assert.equal(r.isError, true);
          assert.match(r.content[0].text, /APPROVAL_REQUIRED/);
          assert.ok(!existsSync(join(home.workspace, "never.txt")));
        }));

      test("a call is asked about each time, until it is allowed for the session", async () => {
        const words = ["once", "session"];
        let asked = 0;
        await connected(
          async (client) => {
            for (const text of ["1", "2", "3", "4"]) {
              const r = await sdk.call(client, {
                name: "write_file",
                arguments: { path: "asked.txt", content: text },
              });
              assert.notEqual(r.isError, true, JSON.stringify(r.content));
              assert.equal(readFileSync(join(home.workspace, "asked.txt"), "utf8"), text);
            }
            assert.equal(asked, 2);
          },
          { elicitation: {} },
          (params) => choose(params, words[asked++]),
        );
      });
    });
  }
}
