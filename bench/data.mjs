// The data engine beside others: files into tables and what a query costs, in turns within one run, as ratios.
// node bench/data.mjs ALISIO BUILD [ROWS] [large | huge]      BUILD holds bench_data_floor and bench_timed
// A row stands for a whole program from start to end. With "large", what a table of ROWS answers within the default limits;
// with "huge", a file of 10 GB is read once, for its memory.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [alisio, build, count, mode] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const rows = Number(count) || 1_000_000;
const sheetRows = Math.ceil(rows / 10);
const ROUNDS = Number(process.env.ROUNDS) || 5;
const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), "alisio-bench-"));
const file = (name) => join(dir, name);
const node = process.execPath;
const peers = join(here, "data_peers.mjs");
const python = [join(here, "data_python.py")];
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const env = { PATH: process.env.PATH, HOME: dir, ALISIO_STATE_HOME: file("state"), ALISIO_CONFIG_HOME: file("config") };

// Limits are the defaults, but for files beyond them.
mkdirSync(file("config"), { mode: 0o700 });
if (mode)
  writeFileSync(
    file("config/config.json"),
    JSON.stringify({
      schemaVersion: 1,
      analysis: { data: { maxUploadBytes: 64 * 2 ** 30, maxRows: 2 ** 31 } },
      storage: { maxBytes: 2 ** 40 },
    }),
    { mode: 0o600 },
  );
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));

// What a program takes: {wall, cpu, mb}, or null when it is not there or fails.
function timed(command) {
  for (const name of ["out.db", "out.db.wal", "state"]) rmSync(file(name), { recursive: true, force: true });
  const run = spawnSync(join(build, "bench_timed"), command, {
    cwd: dir,
    env,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
  if (run.status === 0) return JSON.parse(run.output[3]);
  process.stderr.write(`bench: ${command.slice(0, 3).join(" ")}: ${run.stderr.trim().split("\n").at(-1) ?? run.status}\n`);
  return null;
}

// Rounds in turns, so that what else the machine does falls on all of them alike.
function compare(title, entries, base) {
  const taken = new Map(entries.map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, command] of entries) {
      const list = taken.get(name);
      if (list.length < round) continue; // it failed before
      const took = timed(command);
      if (took) list.push(took);
    }
  }
  const of = (name, key) => median(taken.get(name).map((took) => took[key]));
  const unit = of(base, "wall");
  console.log(`\n| ${title} | wall, ratio | CPU, ratio | peak MB |\n| --- | --- | --- | --- |`);
  for (const [name] of entries) {
    if (taken.get(name).length === 0) continue;
    const ratio = (key) => (of(name, key) / of(base, key)).toFixed(2);
    console.log(`| ${name} | ${name === base ? "1" : ratio("wall")} | ${name === base ? "1" : ratio("cpu")} | ${of(name, "mb").toFixed(0)} |`);
  }
  console.log(`\n(${base}: ${unit.toFixed(2)} s)`);
}

function csv() {
  spawnSync(node, [join(here, "data_make.mjs"), "csv", String(rows), file("in.csv")], { stdio: "inherit" });
  const mb = Math.round(statSync(file("in.csv")).size / 1e6);
  const floor = join(build, "bench_data_floor");
  compare(
    `CSV, ${rows} × 12, ${mb} MB`,
    [
      ["alisio: types and statistics of every cell", [alisio, "data", "inspect", file("in.csv")]],
      ["floor: one thread, parse and type", [floor, "parse", file("in.csv")]],
      ["floor: the same and insert", [floor, "insert", file("in.csv"), file("out.db")]],
      ["DuckDB, load", [node, peers, "duckdb", file("in.csv"), file("out.db")]],
      ["DuckDB, load and SUMMARIZE", [node, peers, "duckdb-summarize", file("in.csv"), file("out.db")]],
      ["sqlite3 .import, all text", ["sqlite3", file("out.db"), ".mode csv", `.import ${file("in.csv")} data`]],
      ["Python csv and sqlite3, typed", ["/usr/bin/python3", ...python, "csv", file("in.csv"), file("out.db")]],
      ["PapaParse and better-sqlite3, typed", [node, peers, "papaparse", file("in.csv"), file("out.db")]],
    ],
    "alisio: types and statistics of every cell",
  );
}

function xlsx() {
  spawnSync(node, [join(here, "data_make.mjs"), "xlsx", String(sheetRows), file("in.xlsx")], { stdio: "inherit" });
  compare(
    `XLSX, ${sheetRows} × 12, ${Math.round(statSync(file("in.xlsx")).size / 1e6)} MB`,
    [
      ["alisio: types and statistics of every cell", [alisio, "data", "inspect", file("in.xlsx")]],
      ["Python zipfile, xml.etree and sqlite3", ["/usr/bin/python3", ...python, "zip", file("in.xlsx"), file("out.db")]],
      ["openpyxl, cells only", ["/usr/bin/python3", ...python, "openpyxl", file("in.xlsx"), "-"]],
      ["SheetJS, cells only", [node, peers, "sheetjs", file("in.xlsx"), "-"]],
    ],
    "alisio: types and statistics of every cell",
  );
}

// data_query as an MCP client meets it, beside the bare library that opens the same file and asks the same.
async function queries() {
  const turns = 300;
  rmSync(file("state"), { recursive: true, force: true });
  const inspected = spawnSync(alisio, ["data", "inspect", file("in.csv"), "--json"], { cwd: dir, env, encoding: "utf8", maxBuffer: 1 << 26 });
  const { datasetId } = JSON.parse(inspected.stdout).structured;
  const found = spawnSync("find", [file("state"), "-name", `${datasetId}.sqlite`], { encoding: "utf8" }).stdout.trim();
  const child = spawn(alisio, ["mcp"], { cwd: dir, env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let rest = "", id = 0;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    rest += text;
    for (let at; (at = rest.indexOf("\n")) >= 0; rest = rest.slice(at + 1)) {
      const message = JSON.parse(rest.slice(0, at));
      waiting.get(message.id)?.(message.result ?? message.error);
    }
  });
  const request = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++id, resolve);
      child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    });
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  const ask = (sql) => request("tools/call", { name: "data_query", arguments: { datasetId, sql } });
  const trivial = "SELECT count(*) FROM data WHERE rowid < 100";
  for (let i = 0; i < 20; i++) await ask(trivial);
  const took = [];
  for (let i = 0; i < turns; i++) {
    const began = performance.now();
    const result = await ask(trivial);
    took.push(performance.now() - began);
    if (result.isError) throw new Error(result.content[0].text);
  }
  const bare = Number(spawnSync(join(build, "bench_data_floor"), ["query", found, String(turns)], { encoding: "utf8" }).stdout) / 1000;
  const p99 = [...took].sort((a, b) => a - b)[Math.floor(turns * 0.99)];
  console.log(`\ndata_query over MCP: ${median(took).toFixed(2)} ms median, ${p99.toFixed(2)} ms p99, of which the bare library ${bare.toFixed(2)} ms`);
  child.stdin.end();
}

// What an analyst asks of a large table, each within the default limits or refused by name.
function large() {
  spawnSync(node, [join(here, "data_make.mjs"), "csv", String(rows), file("in.csv")], { stdio: "inherit" });
  spawnSync(node, [join(here, "data_make.mjs"), "csv", "20000", file("other.csv")], { stdio: "inherit" });
  const inspect = (name) => {
    const r = spawnSync(alisio, ["data", "inspect", file(name), "--json"], { cwd: dir, env, encoding: "utf8", maxBuffer: 1 << 26 });
    return JSON.parse(r.stdout).structured.datasetId;
  };
  const a = inspect("in.csv"), b = inspect("other.csv");
  const one = { datasetId: a }, two = { datasets: { a, b } };
  const asked = [
    ["top 3 per group", one, "SELECT * FROM (SELECT region, city, total, row_number() OVER (PARTITION BY region ORDER BY total DESC) AS n FROM data) WHERE n <= 3"],
    ["distinct per month", one, "SELECT substr(ordered_on, 1, 7) AS month, count(DISTINCT customer) FROM data GROUP BY month ORDER BY month"],
    ["a deep page in order", one, "SELECT order_id, total FROM data ORDER BY total DESC, order_id LIMIT 50 OFFSET 1000000"],
    ["GROUP BY with sums", one, "SELECT category, region, count(*), sum(total), avg(unit_price) FROM data GROUP BY category, region"],
    ["a join of two datasets", two, "SELECT b.region, count(*), sum(a.total) FROM a.data AS a JOIN b.data AS b ON a.order_id = b.order_id GROUP BY b.region"],
    ["a filter with an aggregate", one, "SELECT count(*), max(total), median(quantity) FROM data WHERE city = 'Oslo' AND discount > 10"],
  ];
  console.log(`\n| ${rows} × 12 | |\n| --- | --- |`);
  for (const [name, over, sql] of asked) {
    const began = performance.now();
    const r = spawnSync(alisio, ["tool", "call", "data_query", JSON.stringify({ ...over, sql }), "--json"], { cwd: dir, env, encoding: "utf8", maxBuffer: 1 << 26 });
    const answer = JSON.parse(r.stdout);
    const took = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`| ${name} | ${answer.ok ? `${answer.structured.rowCount} rows, ${took} s` : `${answer.error.code} after ${took} s`} |`);
  }
}

function huge() {
  const base = 1_000_000, target = 10e9;
  spawnSync(node, [join(here, "data_make.mjs"), "csv", String(base), file("part.csv")], { stdio: "inherit" });
  const times = Math.ceil(target / statSync(file("part.csv")).size);
  const script = `head -1 part.csv >huge.csv; for i in $(seq ${times}); do tail -n +2 part.csv; done >>huge.csv`;
  spawnSync("sh", ["-c", script], { cwd: dir, stdio: "inherit" });
  const took = timed([alisio, "data", "inspect", file("huge.csv")]);
  console.log(`\n${(statSync(file("huge.csv")).size / 1e9).toFixed(1)} GB of CSV, ${times} × ${base} rows: ${took?.mb} MB, ${took?.wall.toFixed(0)} s`);
  rmSync(file("huge.csv"));
}

if (mode === "huge") huge();
else if (mode === "large") large();
else {
  csv();
  xlsx();
  await queries();
}
