// What the integration tests share: a state folder of their own, the binary, and a bare JSON-RPC client over stdio.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const alisio = process.env.ALISIO_BINARY ?? join(root, "build/alisio");
export const DEADLINE_MS = 20_000;

// A promise that must settle before the deadline.
export function soon(promise, what, ms = DEADLINE_MS) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Asks again and again until the answer is truthy.
export async function until(what, ask, ms = DEADLINE_MS) {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`${what}: not so after ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

// A workspace with files, and state, config and scratchpads beside it. Removed by home.remove().
export function makeHome(files = {}) {
  const dir = mkdtempSync(join(tmpdir(), "alisio-test-"));
  const workspace = join(dir, "workspace");
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    ALISIO_STATE_HOME: join(dir, "state"),
    ALISIO_CONFIG_HOME: join(dir, "config"),
    ALISIO_TMPDIR: join(dir, "tmp"),
  };
  if (process.env.ASAN_OPTIONS) env.ASAN_OPTIONS = process.env.ASAN_OPTIONS;
  mkdirSync(env.ALISIO_TMPDIR, { mode: 0o700 });
  return { dir, workspace, env, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

// Runs a command to its end.
export function run(home, args, options = {}) {
  const r = spawnSync(alisio, args, {
    cwd: home.workspace,
    env: { ...home.env, ...options.env },
    input: options.input ?? "",
    encoding: "utf8",
    timeout: options.timeout ?? DEADLINE_MS,
    maxBuffer: 1 << 28,
  });
  if (r.error) throw r.error;
  return { status: r.status, signal: r.signal, stdout: r.stdout, stderr: r.stderr };
}

export function runJson(home, args, options) {
  const r = run(home, [...args, "--json"], options);
  return { ...r, json: JSON.parse(r.stdout) };
}

// The most children that a host has at rest: the zygote, and the process that waits for the next script. While a
// script runs there is at least one more.
export const AT_REST = 2;

// Processes whose parent is pid (zombies do not count).
export function childrenOf(pid) {
  const found = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const rest = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (rest[0] !== "Z" && Number(rest[1]) === pid) found.push(Number(name));
    } catch {
      // gone meanwhile
    }
  }
  return found;
}

export const isAlive = (pid) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
};

// An MCP client that shows every byte: messages that came, by id, and all notifications.
export class McpClient {
  constructor(home, args = [], options = {}) {
    this.process = spawn(alisio, ["mcp", ...args], {
      cwd: home.workspace,
      env: { ...home.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.notifications = [];
    this.stderr = "";
    this.lines = [];
    this.waiting = new Map();
    this.strays = []; // answers without a request of ours
    this.nextId = 1;
    this.exit = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve({ code, signal })));
    this.process.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    this.process.stdin.on("error", () => {});
    let rest = "";
    this.process.stdout.setEncoding("utf8").on("data", (text) => {
      rest += text;
      for (let at; (at = rest.indexOf("\n")) >= 0; rest = rest.slice(at + 1)) this.take(rest.slice(0, at));
    });
  }

  take(line) {
    this.lines.push(line);
    const message = JSON.parse(line); // standard output carries nothing but the protocol
    if (message.method) this.notifications.push(message);
    else if (this.waiting.has(message.id)) {
      this.waiting.get(message.id)(message);
      this.waiting.delete(message.id);
    } else this.strays.push(message);
  }

  write(text) {
    this.process.stdin.write(text);
  }

  send(message) {
    this.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  request(method, params, id = this.nextId++) {
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.send({ id, method, params });
    return soon(answer, method);
  }

  call(name, args, _meta) {
    return this.request("tools/call", { name, arguments: args, ...(_meta ? { _meta } : {}) });
  }

  async initialize() {
    const answer = await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    this.send({ method: "notifications/initialized" });
    return answer;
  }

  async close() {
    this.process.stdin.end();
    return soon(this.exit, "the end of the server");
  }
}
