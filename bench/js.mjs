// js_run beside other engines, in turns within one run, as ratios. node bench/js.mjs ALISIO BENCH_JS
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peers } from "./peers.mjs";
import { heavy, trivial } from "./scripts.mjs";

const [alisio, benchJs] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "alisio-bench-"));
writeFileSync(
  join(dir, "config.json"),
  JSON.stringify({ forge: { javascript: { memoryBytes: 128 << 20, maxToolCalls: 500, maxConcurrency: 16 } } }),
);
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
const sort = (list) => [...list].sort((a, b) => a - b);

function host(...args) {
  const r = spawnSync(benchJs, [dir, ...args.map(String)], { encoding: "utf8", maxBuffer: 1 << 24 });
  if (r.status !== 0) throw new Error(`${args.join(" ")}: ${r.stderr}`);
  return JSON.parse(r.stdout);
}

function ours(code, runs) {
  const file = join(dir, "script.js");
  writeFileSync(file, code);
  return host("runs", runs, file);
}

async function theirs(peer, code, runs) {
  const us = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await peer.fresh(code);
    us.push((performance.now() - start) * 1000);
  }
  const sorted = sort(us);
  return { medianUs: quantile(sorted, 0.5), p99Us: quantile(sorted, 0.99) };
}

function row(name, figure, base) {
  const ms = (us) => `${(us / 1000).toFixed(2)} ms`.padStart(11);
  console.log(`${name.padEnd(32)}${ms(figure.medianUs)}${ms(figure.p99Us)}${(figure.medianUs / base.medianUs).toFixed(2).padStart(9)} ×`);
}

async function compare(title, code, runs, rounds) {
  console.log(`\n${title}\n${"".padEnd(32)}${"median".padStart(11)}${"p99".padStart(11)}    ratio to js_run`);
  const all = [{ name: "alisio js_run", measure: async (n) => ours(code, n) }];
  for (const peer of await peers()) all.push({ name: peer.name, measure: (n) => theirs(peer, code, n) });
  for (const one of all) one.seen = [];
  // In turns, so that a change of the machine's speed meets all of them.
  for (let r = 0; r < rounds; r++) for (const one of all) one.seen.push(await one.measure(runs));
  for (const one of all) {
    const by = (key) => quantile(sort(one.seen.map((s) => s[key])), 0.5);
    one.figure = { medianUs: by("medianUs"), p99Us: by("p99Us") };
  }
  for (const one of all) row(one.name, one.figure, all[0].figure);
}

// Time from exec to the answer to initialize, beside a program that does nothing.
function firstAnswer() {
  const home = join(dir, "home");
  mkdirSync(home, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, ALISIO_STATE_HOME: join(dir, "mcp-state"), ALISIO_CONFIG_HOME: home };
  const hello = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "b", version: "1" } } });
  const once = (command, args) =>
    new Promise((resolve) => {
      const start = performance.now();
      const child = spawn(command, args, { env, cwd: home, stdio: ["pipe", "pipe", "ignore"] });
      child.stdout.once("data", () => {
        resolve(performance.now() - start);
        child.stdin.end();
      });
      child.stdin.write(hello + "\n");
    });
  return { once, mcp: () => once(alisio, ["mcp"]), cat: () => once("cat", []), node: () => once(process.execPath, ["-e", "process.stdin.once('data', d => process.stdout.write(d))"]) };
}

try {
  await compare("A trivial script in a fresh VM (js_run: in a process of its own, journaled)", trivial, 200, 3);
  await compare("A script that computes", heavy, 3, 3);

  const call = sort([1, 2, 3, 4, 5].map(() => host("calls", 500).perCallUs))[2];
  console.log(`\nNested call, one after the other, a tool that does nothing: ${call.toFixed(1)} µs each (500 calls, median of 5)`);
  const total = sort([1, 2, 3].map(() => host("ideal", 500, 16).totalUs))[1];
  const ideal = (500 / 16) * 1000;
  console.log(`500 calls of 1 ms at concurrency 16: ${(total / ideal).toFixed(2)} × the ideal of ${(ideal / 1000).toFixed(1)} ms`);
  console.log(`Private memory of a run that waits: ${(host("idle").privateKb / 1024).toFixed(2)} MiB`);

  const first = firstAnswer();
  const times = { mcp: [], cat: [], node: [] };
  for (let i = 0; i < 30; i++) for (const k of Object.keys(times)) times[k].push(await first[k]());
  const median = (k) => quantile(sort(times[k]), 0.5);
  console.log(`\nFrom exec to the answer to initialize: alisio mcp ${median("mcp").toFixed(1)} ms; cat ${median("cat").toFixed(1)} ms; an echo in Node ${median("node").toFixed(1)} ms`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
