// MCP servers that people use, from npm: their tools by script, and what they offer through the relay.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { McpClient, makeHome, root, runJson } from "./lib.mjs";

const programOf = (name) => join(root, "node_modules/@modelcontextprotocol", name, "dist/index.js");

let home, config;
before(() => {
  home = makeHome({ "notes/a.txt": "alpha\nbeta\n", "notes/b.txt": "gamma\n" });
  config = join(home.dir, "mcp.json");
  const mcpServers = {
    filesystem: { command: process.execPath, args: [programOf("server-filesystem"), home.workspace] },
    memory: { command: process.execPath, args: [programOf("server-memory")], env: { MEMORY_FILE_PATH: join(home.dir, "memory") } },
    everything: { command: process.execPath, args: [programOf("server-everything")] },
  };
  writeFileSync(config, JSON.stringify({ mcpServers }));
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
});
after(() => home.remove());

const script = (code) => {
  const { json } = runJson(home, ["js", "--mcp-config", config, "--allow-mcp", "-e", code]);
  assert.ok(json.ok, JSON.stringify(json));
  return json.structured.value;
};

test("one script over three servers", () => {
  const value = script(`
    const { content } = await tools.filesystem.list_directory({ path: "notes" });
    const names = content.split("\\n").map((line) => line.replace("[FILE] ", "")).sort();
    const entities = [];
    for (const name of names) {
      const file = await tools.filesystem.read_text_file({ path: "notes/" + name });
      entities.push({ name, entityType: "note", observations: file.content.trim().split("\\n") });
    }
    await tools.memory.create_entities({ entities });
    const sum = await tools.everything["get-sum"]({ a: 40, b: 2 });
    return [names, (await tools.memory.read_graph({})).entities.length, sum];`);
  assert.deepEqual(value.slice(0, 2), [["a.txt", "b.txt"], 2]);
  assert.match(value[2], /42/);
  assert.match(readFileSync(join(home.dir, "memory"), "utf8"), /gamma/);
});

test("structured content is the value, a picture is a part, and its text has no base64", () => {
  const [weather, picture] = script(`
    return [await tools.everything["get-structured-content"]({ location: "Chicago" }), await tools.everything["get-tiny-image"]({})]`);
  assert.equal(typeof weather.temperature, "number");
  assert.match(JSON.stringify(picture), /image\/png/);
  const { json } = runJson(home, ["tool", "call", "everything.get-tiny-image", "{}", "--mcp-config", config]);
  assert.match(json.text, /image\/png/);
  assert.ok(!/[A-Za-z0-9+/]{200}/.test(json.text), json.text.slice(0, 500));
});

test("what a server offers beside tools passes the relay under its own names", async () => {
  const only = join(home.dir, "everything.json");
  const { everything } = JSON.parse(readFileSync(config)).mcpServers;
  writeFileSync(only, JSON.stringify({ mcpServers: { everything } }));
  const client = new McpClient(home, ["--mcp-config", only, "--allow-mcp", "--expose", "upstream", "--plain-names"]);
  try {
    await client.initialize();
    const { tools } = (await client.request("tools/list")).result;
    assert.ok(tools.some((t) => t.name === "js_run") && tools.some((t) => t.name === "get-sum"));
    assert.match(JSON.stringify((await client.call("get-sum", { a: 1, b: 2 })).result.content), /3/);
    const { prompts } = (await client.request("prompts/list")).result;
    assert.ok(prompts.length > 0);
    const simple = (await client.request("prompts/get", { name: "simple-prompt" })).result;
    assert.ok(simple.messages.length > 0);
    const { resources } = (await client.request("resources/list")).result;
    const theirs = resources.find((r) => !r.uri.startsWith("run:"));
    assert.ok((await client.request("resources/read", { uri: theirs.uri })).result.contents.length > 0);
    const { resourceTemplates } = (await client.request("resources/templates/list")).result;
    assert.ok(resourceTemplates.length > 0);
  } finally {
    await client.close();
  }
});
