// alisio as a gateway beside one of the official SDK in Node, in turns within one run, as ratios: one hop to the same
// upstream server. Before a call that may change something its row is on the disk; so alisio is measured a second time
// with its journal in memory, as the gateway in Node keeps none. node bench/mcp.mjs ALISIO
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [alisio] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const upstream = join(here, "../tests/fixtures/simple.mjs");
const dir = mkdtempSync(join(tmpdir(), "alisio-bench-"));
const memory = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/alisio-bench-") : null;
const CALLS = 500;
const ROUNDS = 5;
const WIDE = 16;
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

mkdirSync(join(dir, "workspace"));
mkdirSync(join(dir, "config"), { mode: 0o700 });
writeFileSync(
  join(dir, "config/config.json"),
  JSON.stringify({
    schemaVersion: 1,
    forge: { javascript: { maxToolCalls: CALLS, maxConcurrency: WIDE } },
    mcp: { servers: { simple: { command: process.execPath, args: [upstream], tools: { "*": "allow" } } } },
  }),
  { mode: 0o600 },
);
const env = {
  PATH: process.env.PATH,
  HOME: dir,
  ALISIO_STATE_HOME: join(dir, "state"),
  ALISIO_CONFIG_HOME: join(dir, "config"),
};

// An MCP server as a child, spoken to by lines.
class Peer {
  constructor(command, args, more = {}) {
    this.waiting = new Map();
    this.nextId = 1;
    this.started = performance.now();
    this.child = spawn(command, args, { cwd: join(dir, "workspace"), env: { ...env, ...more }, stdio: ["pipe", "pipe", "ignore"] });
    this.child.on("exit", (code) => {
      for (const { reject } of this.waiting.values()) reject(new Error(`${args.join(" ")} ended with ${code}`));
    });
    let rest = "";
    this.child.stdout.setEncoding("utf8").on("data", (text) => {
      rest += text;
      for (let at; (at = rest.indexOf("\n")) >= 0; rest = rest.slice(at + 1)) this.take(JSON.parse(rest.slice(0, at)));
    });
  }

  take(message) {
    const waits = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) waits?.reject(new Error(message.error.message));
    else waits?.resolve(message.result);
  }

  request(method, params) {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    });
  }

  // Until a tool of the upstream server can be called.
  async ready(tool) {
    const clientInfo = { name: "bench", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.initializedMs = performance.now() - this.started;
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    this.tool = tool;
    await this.call();
    this.readyMs = performance.now() - this.started;
    return this;
  }

  async call() {
    const r = await this.request("tools/call", { name: this.tool, arguments: { text: "hello" } });
    if (r.isError || r.content[0].text !== "hello") throw new Error(JSON.stringify(r));
  }

  async script(code) {
    const r = await this.request("tools/call", { name: "js_run", arguments: { code } });
    if (r.isError) throw new Error(r.content[0].text);
    return r.structuredContent.value;
  }

  async end() {
    const gone = new Promise((resolve) => this.child.on("exit", resolve));
    this.child.stdin.end();
    await gone;
  }
}

const relay = (more) => new Peer(alisio, ["mcp", "--expose", "upstream", "--plain-names"], more).ready("echo");
const makers = {
  "the upstream server itself": () => new Peer(process.execPath, [upstream]).ready("echo"),
  "a gateway of the SDK in Node": () => new Peer(process.execPath, [join(here, "gateway.mjs"), upstream]).ready("echo"),
  alisio: () => relay(),
  ...(memory && { "alisio, journal in memory": () => relay({ ALISIO_STATE_HOME: memory }) }),
};

async function timed(what) {
  const start = performance.now();
  await what();
  return performance.now() - start;
}

const oneByOne = async (peer) => {
  for (let i = 0; i < CALLS; i++) await peer.call();
};
const wide = (peer) => {
  let left = CALLS;
  const lane = async () => {
    while (left-- > 0) await peer.call();
  };
  return Promise.all(Array.from({ length: WIDE }, lane));
};
const nested = (peer) => peer.script(`for (let i = 0; i < ${CALLS}; i++) await tools.simple.echo({text: "hello"})`);
const nestedWide = (peer) =>
  peer.script(`await tools.map([...Array(${CALLS}).keys()], () => tools.simple.echo({text: "hello"}), {concurrency: ${WIDE}})`);

// Memory of a process and its children but those that run the upstream server, shared pages counted by halves.
function memoryMb(pid) {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  if (command.includes(upstream) && !command.some((part) => part.endsWith("gateway.mjs"))) return 0;
  const pss = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
  let sum = Number(pss?.[1] ?? 0) / 1024;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid) sum += memoryMb(Number(name));
    } catch {
      // gone meanwhile
    }
  }
  return sum;
}

const figures = {};
const note = (name, key, value) => ((figures[name] ??= {})[key] ??= []).push(value);
const figure = (name, key) => median(figures[name][key]);

try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, make] of Object.entries(makers)) {
      const peer = await make();
      note(name, "initialized", peer.initializedMs);
      note(name, "ready", peer.readyMs);
      if (round === 0) await oneByOne(peer);
      note(name, "each", (await timed(() => oneByOne(peer))) / CALLS);
      note(name, "wide", (CALLS / (await timed(() => wide(peer)))) * 1000);
      note(name, "memory", memoryMb(peer.child.pid));
      if (name.startsWith("alisio")) {
        if (round === 0) await nested(peer);
        note(`  ${name}, from a script`, "each", (await timed(() => nested(peer))) / CALLS);
        note(`  ${name}, from a script`, "wide", (CALLS / (await timed(() => nestedWide(peer)))) * 1000);
      }
      await peer.end();
    }
  }
  const base = figure("the upstream server itself", "each");
  console.log(`One hop to the same server over standard input and output, medians of ${ROUNDS} turns\n`);
  const us = (ms) => `${(ms * 1000).toFixed(0)} µs`;
  const columns = [
    ["one call", (f) => us(f("each"))],
    ["overhead", (f) => us(f("each") - base)],
    [`calls/s, ${WIDE} at once`, (f) => f("wide").toFixed(0)],
    ["memory", (f) => `${f("memory").toFixed(1)} MB`],
    ["to initialize", (f) => `${f("initialized").toFixed(0)} ms`],
    ["to the first answer", (f) => `${f("ready").toFixed(0)} ms`],
  ];
  console.log("".padEnd(44) + columns.map(([title]) => title.padStart(21)).join(""));
  const order = Object.keys(makers).flatMap((name) => [name, `  ${name}, from a script`]).filter((name) => figures[name]);
  for (const name of order) {
    const cells = columns.map(([, show]) => {
      try {
        return show((key) => figure(name, key)).padStart(21);
      } catch {
        return "".padStart(21); // not measured
      }
    });
    console.log(name.padEnd(44) + cells.join(""));
  }
  const node = (key) => figure("a gateway of the SDK in Node", key);
  const ratio = (a, b) => (a / b).toFixed(2);
  for (const name of order.filter((n) => n.startsWith("alisio")))
    console.log(
      `\n${name} to the gateway in Node: overhead of a call ${ratio(figure(name, "each") - base, node("each") - base)}` +
        ` (from a script ${ratio(figure(`  ${name}, from a script`, "each") - base, node("each") - base)}),` +
        ` calls a second ${ratio(figure(name, "wide"), node("wide"))}, memory ${ratio(figure(name, "memory"), node("memory"))},` +
        ` to initialize ${ratio(figure(name, "initialized"), node("initialized"))}`,
    );
} finally {
  for (const folder of [dir, memory]) if (folder) rmSync(folder, { recursive: true, force: true });
}
