// A dashboard of a large table beside the plain statements that it shows, one after the other through the same guarded
// data_query, in turns within one run. node bench/dashboard.mjs ALISIO [ROWS]
// The table has ten columns; the dataset is there before. What holds: at most 1.5 times the statements, 0.7 s, 500 KB.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [alisio, count] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const rows = Number(count) || 1_000_000;
const ROUNDS = Number(process.env.ROUNDS) || 7;
const MOST = { ratio: 1.5, seconds: 0.7, bytes: 500_000 };
const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "alisio-bench-"));
const work = join(dir, "work");
mkdirSync(work);
const env = { PATH: process.env.PATH, HOME: dir, ALISIO_STATE_HOME: join(dir, "state"), ALISIO_CONFIG_HOME: join(dir, "config") };
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));

const host = spawn(alisio, ["mcp"], { cwd: work, env, stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let rest = "", id = 0;
host.stdout.setEncoding("utf8").on("data", (text) => {
  rest += text;
  for (let at; (at = rest.indexOf("\n")) >= 0; rest = rest.slice(at + 1)) {
    const message = JSON.parse(rest.slice(0, at));
    waiting.get(message.id)?.(message.result ?? message.error);
  }
});
const request = (method, params) =>
  new Promise((resolve) => {
    waiting.set(++id, resolve);
    host.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  });
async function call(name, args) {
  const result = await request("tools/call", { name, arguments: args });
  if (!result.structuredContent || result.isError) throw new Error(`${name}: ${result.content?.[0].text ?? result.message}`);
  return result.structuredContent;
}
async function timed(work) {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

spawnSync(process.execPath, [join(here, "data_make.mjs"), "csv10", String(rows), join(work, "in.csv")], { stdio: "inherit" });
await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
const { datasetId } = await call("data_inspect", { path: "in.csv" });

const asked = [
  ["by itself", {}],
  ["an analysis", { goal: "analyse total and quantity by region, category and month" }],
  ["a filter and a cross-tab", { by: ["region", "category"], filters: [{ column: "quantity", op: ">", value: 5 }] }],
];
console.log(`| ${rows} × 10 | widgets | page | statements | ratio | plan alone | bytes |\n| --- | --- | --- | --- | --- | --- | --- |`);
let held = true;
for (const [name, args] of asked) {
  const make = (more) => call("dashboard_generate", { datasetId, ...args, ...more });
  const first = await make();
  const statements = first.widgets.map((w) => w.sql);
  const took = { page: [], statements: [], plan: [] };
  for (let round = 0; round < ROUNDS; round++) {
    took.page.push(await timed(() => make()));
    took.statements.push(await timed(async () => {
      for (const sql of statements) await call("data_query", { datasetId, sql, maxRows: 1000, timeoutMs: 60_000 });
    }));
    took.plan.push(await timed(() => make({ plan: true })));
  }
  const page = median(took.page), plain = median(took.statements);
  if (page / plain > MOST.ratio || page > MOST.seconds || first.bytes > MOST.bytes) held = false;
  console.log(`| ${name} | ${statements.length} | ${page.toFixed(2)} s | ${plain.toFixed(2)} s | ${(page / plain).toFixed(2)} | ${median(took.plan).toFixed(2)} s | ${first.bytes} |`);
}
console.log(`\n(at most ${MOST.ratio} times the statements, ${MOST.seconds} s, ${MOST.bytes} bytes: ${held ? "so it is" : "NOT so here"})`);
host.stdin.end();
