// What a model reads and writes for ten everyday tasks in three sizes: with the tools of three servers called one by one,
// and with one js_run over the same servers. node bench/tokens.mjs ALISIO [docs/tokens.md]
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { encode } from "gpt-tokenizer";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { makeFiles, singleCalls, sizes, tasks } from "./tokens_tasks.mjs";

const [alisio, page] = process.argv.slice(2).map((path) => resolve(path));
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
async function inFolder(task, size, use) {
  const dir = mkdtempSync(join(tmpdir(), "alisio-tokens-"));
  const files = join(dir, "files");
  const memory = join(dir, "memory.jsonl");
  mkdirSync(files);
  makeFiles(files, memory, size);
  const servers = {
    filesystem: { command: process.execPath, args: [programOf("server-filesystem"), files], cwd: files },
    memory: { command: process.execPath, args: [programOf("server-memory")], env: { MEMORY_FILE_PATH: memory } },
    everything: { command: process.execPath, args: [programOf("server-everything")] },
  };
  for (const name of Object.keys(servers)) if (task.servers && !task.servers.includes(name)) delete servers[name];
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

// What depends on the size is a function of it.
const of = (text, size) => (typeof text === "function" ? text(size) : text);

// Counts a conversation as a client holds it that keeps no cache: each turn is a request, which carries the definitions of
// all tools and all that was said so far, and what the model writes in answer to it. once: each text one single time.
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

async function direct(task, size) {
  return inFolder(task, size, async ({ servers, connect }) => {
    const clients = {};
    let definitions = "";
    for (const [name, parameters] of Object.entries(servers)) {
      clients[name] = await connect(parameters);
      definitions += (await clients[name].listTools()).tools.map(shown).join("\n");
    }
    const talk = new Conversation(definitions, of(task.prompt, size));
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
    }, size);
    talk.writes(JSON.stringify(answer));
    return { answer, talk };
  });
}

async function byScript(task, size) {
  return inFolder(task, size, async ({ dir, servers, connect, files }) => {
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
    const talk = new Conversation(tools.map(shown).join("\n"), of(task.prompt, size));
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
    await call([["forge_guide", { topic: "tools", query: task.query }]]);
    const values = [];
    do {
      const [run] = await call([["js_run", { title: task.title, code: of(task.script, size) }]]);
      values.push(run.structuredContent.value);
    } while (task.again?.(values.at(-1)));
    const answer = task.answerOf ? task.answerOf(values) : values[0];
    talk.writes(JSON.stringify(answer));
    return { answer, talk };
  });
}

async function measure(task, size) {
  const a = await direct(task, size);
  const b = await byScript(task, size);
  assert.deepEqual(b.answer, a.answer, task.title);
  if (size !== sizes.small) assert.ok(JSON.stringify(a.answer).length > 2 || a.answer > 0, `${task.title}: an empty answer`);
  assert.equal(b.left, a.left, `${task.title}: the files differ`);
  const saved = { turns: 1 - b.talk.through / a.talk.through, once: 1 - b.talk.once / a.talk.once };
  console.error(`${task.title}, ${task.data(size)}: ${a.talk.through} → ${b.talk.through} (once: ${a.talk.once} → ${b.talk.once})`);
  return { task, size, a: a.talk, b: b.talk, saved };
}

const measured = {};
for (const [name, size] of Object.entries(sizes)) {
  measured[name] = [];
  for (const task of tasks) measured[name].push(await measure(task, size));
}
const singles = [];
for (const task of singleCalls) singles.push(await measure(task, sizes.everyday));

const median = (list) => {
  const sorted = [...list].sort((x, y) => x - y);
  const half = sorted.length / 2;
  return (sorted[Math.floor(half - 0.5)] + sorted[Math.floor(half)]) / 2;
};
const n = (value) => value.toLocaleString("en-US");
// Rounded down: 89.9 % is not 90 %.
const percent = (value) => `${(Math.floor(1000 * value) / 10).toFixed(1)} %`.replace("-", "−");
const medianOf = (name, how) => percent(median(measured[name].map((r) => r.saved[how])));
const WINDOW = 200_000;

const row = ({ task, a, b, saved }) =>
  `| ${task.title} | ${n(a.through)} | ${a.turns} | ${n(b.through)} | ${b.turns} | ${percent(saved.turns)} | ${n(a.once)} | ${n(b.once)} | ${percent(saved.once)} |`;
const everyday = [
  "| task, everyday size | direct | turns | js_run | turns | saved | once: direct | js_run | saved |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ...measured.everyday.map(row),
  `| **median of the ten** | | | | | **${medianOf("everyday", "turns")}** | | | **${medianOf("everyday", "once")}** |`,
  ...singles.map(row),
].join("\n");

const tooMuch = (r) => (r.a.once > WINDOW ? "\\*" : "");
const bySize = [
  "| task | small | saved | everyday | saved | large | saved |",
  "| --- | --- | ---: | --- | ---: | --- | ---: |",
  ...tasks.map(
    (task, i) => `| ${task.title} | ${["small", "everyday", "large"].map((name) => `${task.data(sizes[name])} | ${percent(measured[name][i].saved.turns)}${tooMuch(measured[name][i])}`).join(" | ")} |`,
  ),
  `| **median** | | **${medianOf("small", "turns")}** | | **${medianOf("everyday", "turns")}** | | **${medianOf("large", "turns")}** |`,
  `| median, all counted once | | ${medianOf("small", "once")} | | ${medianOf("everyday", "once")} | | ${medianOf("large", "once")} |`,
].join("\n");
const reasons = tasks.map((task) => `- ${task.title}: ${task.data(sizes.everyday)}; ${task.why}.`).join("\n");
const over = measured.large.some((r) => r.a.once > WINDOW)
  ? `\n\\* More than ${n(WINDOW)} tokens at the end: with direct calls, many models could not do this task at all.\n`
  : "";

const text = `# Tokens

What a model reads and writes for ten everyday tasks over three servers that people use (\`server-filesystem\`,
\`server-memory\`, \`server-everything\`): with their tools called directly, and with one js_run over the same servers behind
alisio. \`make tokens\` makes this page; it ends with an error unless both ways give equal answers and leave equal files.

${everyday}

The last two rows are where it does not pay, and they are not in the median: one call with a short result. Beside three
servers js_run still reads less, for it carries fewer definitions, but it takes a turn more; beside one small server it
costs more (a negative figure), and the tool is better called directly.

## How it depends on the size

${bySize}
${over}
What is saved is the data that never passes through the model, and the definitions; what js_run costs is its definition and the
signatures. So the
percentage says as much about the size of the data as about alisio. The everyday sizes follow no result: each is what such a
thing commonly has, rather low than high. Small is a tenth of it, large is four times as much (the server knows three cities
and no more; where there are more pages than one script may change, several scripts change them):

${reasons}

## What is counted

Tokens of \`gpt-tokenizer\` (o200k_base), on both sides of the same texts: the definitions of the tools (name, description,
input schema), the task, each call that the model writes, each result's text, and the answer. System prompts, which are
the same for both, are left out, and so is what a model thinks. Percentages are
rounded down.

**direct, js_run: as a client sends it.** Each turn is a request, and each request carries the definitions of all tools and
all that was said so far: it counts again in each turn, on both sides, as a provider counts it that keeps no cache. The
definitions are ${n(singles[0].a.definitions)} tokens a turn for the three servers' tools
(${n(singles[1].a.definitions)} for server-everything's alone), ${n(singles[0].b.definitions)} for alisio's two.
A provider's cache makes what it knows cheaper, on both sides; a client that shows definitions only when they are looked for
has fewer of them with direct calls, too.

**once: how full the conversation is at its end.** Each text counts one single time, the definitions too.

**Direct calls at their best.** Whatever can be called at the same time is called in one turn, nothing is called in vain,
and what is counted or compared costs the model no word. Text alone counts: structured content, which repeats it, does not,
although many clients show it to the model.

**js_run from nothing.** The signatures of the tools are asked of forge_guide anew for each task, as the server's own
instructions say (how a script is written stands in the definition of js_run, which is in every request), which is a turn of
its own (a model that has read them keeps them for the rest of its conversation). The script is right at once, as the direct
calls are.

**What this does not compare.** Only the tools of these servers. A model that has a shell beside them would count the lines
of a file with grep, and its data would not pass through it either.
`;
console.log(everyday + "\n\n" + bySize);
if (page) writeFileSync(page, text);
