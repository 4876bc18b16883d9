// What a model reads and writes for ten everyday tasks: with the tools of three servers called one by one, and with one
// js_run over the same servers. node bench/tokens.mjs ALISIO [docs/tokens.md]
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { encode } from "gpt-tokenizer";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { makeFiles, tasks } from "./tokens_tasks.mjs";

const [alisio, page] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const count = (text) => encode(text).length;
const programOf = (name) => join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js");

// Of everything that a task could have changed.
function hashOf(files, memory) {
  const hash = createHash("sha256").update(readFileSync(memory));
  for (const name of readdirSync(files, { recursive: true }).sort())
    if (statSync(join(files, name)).isFile()) hash.update(name).update(readFileSync(join(files, name)));
  return hash.digest("hex");
}

// A fresh set of files and servers for one way to do one task.
async function inFolder(use) {
  const dir = mkdtempSync(join(tmpdir(), "alisio-tokens-"));
  const files = join(dir, "files");
  const memory = join(dir, "memory.jsonl");
  mkdirSync(files);
  makeFiles(files, memory);
  const servers = {
    filesystem: { command: process.execPath, args: [programOf("server-filesystem"), files], cwd: files },
    memory: { command: process.execPath, args: [programOf("server-memory")], env: { MEMORY_FILE_PATH: memory } },
    everything: { command: process.execPath, args: [programOf("server-everything")] },
  };
  const closing = [];
  const connect = async (parameters) => {
    const client = new Client({ name: "tokens", version: "1" });
    await client.connect(new StdioClientTransport({ ...parameters, stderr: "ignore" }));
    closing.push(() => client.close());
    return client;
  };
  try {
    const result = await use({ dir, files, servers, connect });
    return { ...result, left: hashOf(files, memory) };
  } finally {
    for (const close of closing) await close();
    rmSync(dir, { recursive: true, force: true });
  }
}

// A tool as providers show it to a model.
const shown = ({ name, description, inputSchema }) => JSON.stringify({ name, description, input_schema: inputSchema });
const textOf = (result) => result.content.map((part) => part.text ?? "").join("\n");

// Counts a conversation. In each turn the model reads the definitions and all that was said before, and writes.
class Conversation {
  constructor(definitions, prompt) {
    this.definitions = count(definitions);
    this.said = count(prompt);
    this.through = 0;
    this.turns = 0;
  }

  writes(text) {
    const n = count(text);
    this.through += this.definitions + this.said + n;
    this.said += n;
    this.turns++;
  }

  reads(text) {
    this.said += count(text);
  }

  get once() {
    return this.definitions + this.said;
  }
}

async function direct(task) {
  return inFolder(async ({ servers, connect, files }) => {
    const clients = {};
    let definitions = "";
    for (const [name, parameters] of Object.entries(servers)) {
      clients[name] = await connect(parameters);
      definitions += (await clients[name].listTools()).tools.map(shown).join("\n");
    }
    const talk = new Conversation(definitions, task.prompt);
    const answer = await task.direct(async (calls) => {
      talk.writes(calls.map(([, name, args]) => JSON.stringify({ name, input: args })).join("\n"));
      const texts = [];
      for (const [server, name, args] of calls) {
        const result = await clients[server].callTool({ name, arguments: args });
        assert.notEqual(result.isError, true, textOf(result));
        texts.push(textOf(result));
      }
      talk.reads(texts.join("\n"));
      return texts;
    }, files);
    talk.writes(JSON.stringify(answer));
    return { answer, talk };
  });
}

async function byScript(task) {
  return inFolder(async ({ dir, servers, connect, files }) => {
    mkdirSync(join(dir, "config"), { mode: 0o700 });
    for (const server of Object.values(servers)) server.tools = { "*": "allow" };
    const config = { schemaVersion: 1, mcp: { servers } };
    writeFileSync(join(dir, "config/config.json"), JSON.stringify(config), { mode: 0o600 });
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      ALISIO_STATE_HOME: join(dir, "state"),
      ALISIO_CONFIG_HOME: join(dir, "config"),
    };
    // What the servers offer is known, as after alisio setup.
    spawnSync(alisio, ["mcp", "doctor"], { env, cwd: files });
    const client = await connect({ command: alisio, args: ["mcp", "--cwd", files], env, cwd: files });
    const { tools } = await client.listTools();
    const talk = new Conversation(tools.map(shown).join("\n"), task.prompt);
    const call = async (calls) => {
      talk.writes(calls.map(([name, args]) => JSON.stringify({ name, input: args })).join("\n"));
      const results = [];
      for (const [name, args] of calls) {
        const result = await client.callTool({ name, arguments: args });
        assert.notEqual(result.isError, true, textOf(result));
        talk.reads(textOf(result));
        results.push(result);
      }
      return results;
    };
    await call([
      ["forge_guide", { topic: "js_run" }],
      ["forge_guide", { topic: "tools", query: task.query }],
    ]);
    const [run] = await call([["js_run", { title: task.title, code: task.script }]]);
    const answer = run.structuredContent.value;
    talk.writes(JSON.stringify(answer));
    return { answer, talk };
  });
}

const rows = [];
for (const task of tasks) {
  const a = await direct(task);
  const b = await byScript(task);
  assert.deepEqual(b.answer, a.answer, task.title);
  assert.equal(b.left, a.left, `${task.title}: the files differ`);
  const saved = 1 - b.talk.through / a.talk.through;
  rows.push({ task, a: a.talk, b: b.talk, saved });
  console.error(`${task.title}: ${a.talk.through} → ${b.talk.through}, ${(100 * saved).toFixed(1)} % (once: ${a.talk.once} → ${b.talk.once})`);
}
const median = (list) => {
  const sorted = [...list].sort((x, y) => x - y);
  const half = sorted.length / 2;
  return (sorted[Math.floor(half - 0.5)] + sorted[Math.floor(half)]) / 2;
};
const n = (value) => value.toLocaleString("en-US");
const percent = (value) => `${(100 * value).toFixed(0)} %`;
const table = [
  "| task | direct calls | turns | js_run | turns | saved | all read once: direct | js_run |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ...rows.map(
    ({ task, a, b, saved }) =>
      `| ${task.title} | ${n(a.through)} | ${a.turns} | ${n(b.through)} | ${b.turns} | ${percent(saved)} | ${n(a.once)} | ${n(b.once)} |`,
  ),
  `| **median** | | | | | **${percent(median(rows.map((r) => r.saved)))}** | | |`,
].join("\n");
const once = median(rows.map(({ a, b }) => 1 - b.once / a.once));
const definitions = `${n(rows[0].a.definitions)} tokens against ${n(rows[0].b.definitions)}`;

const text = `# Tokens

What a model reads and writes for ten everyday tasks over three servers that people use (\`server-filesystem\`,
\`server-memory\`, \`server-everything\`): with their tools called directly, and with one js_run over the same servers behind
alisio. \`make tokens\` makes this page. The answers of both ways were compared, and the files that they left: they are equal.

${table}

Where each text counts once (the last two columns: how full the conversation is at its end), the median saved is ${percent(once)}.

**What is counted.** Tokens of \`gpt-tokenizer\` (o200k_base), of these texts alone: the definitions of the tools (name,
description, input schema: ${definitions} for alisio's two), the task, each call that the model writes, each result's text,
and the answer. In every turn a model reads the definitions and all that was said before, so each turn counts them again, as
a provider does that keeps no cache. System prompts, which are the same for both, are left out.

**Direct calls at their best.** Whatever can be called at the same time is called in one turn, and nothing is called in
vain. Text alone counts: structured content, which repeats it, does not, although many clients show it to the model.

**js_run at its worst.** The guide of js_run and the signatures of the tools are read anew for each task (a model that has
read them keeps them for the rest of its conversation). Small tasks therefore save little, or nothing: what is saved is the
data that never passes through the model.
`;
console.log(table);
if (page) writeFileSync(page, text);
