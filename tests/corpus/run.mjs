// Every file of the corpus through the real binary, one process tree each, and what came of it as a table.
// node tests/corpus/run.mjs BUILD [ASAN_BUILD] [PART]      the corpus is ../shared/corpus beside the project, or $ALISIO_CORPUS
// PART: only files with it in their path, as in "csv/duckdb"; "-" in the place of ASAN_BUILD: without sanitizers.
// Fails on a crash, no answer within a minute, a sanitizer's report, over 10 s of CPU or over 300 MB (those two of the plain build). What the files should give
// is held by the programs test_corpus_*, whose figures come first.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const corpus = process.env.ALISIO_CORPUS ?? join(root, "../shared/corpus");
const [plainBuild, asanBuild, part = ""] = process.argv.slice(2);
// The system's own Python is the one for which openpyxl is packaged.
const python = process.env.ALISIO_PYTHON ?? (existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3");
const MAX_SECONDS = 10, MAX_MB = 300;
let failed = 0;

if (!existsSync(corpus) || !plainBuild) {
  console.log(plainBuild ? `corpus: there is none at ${corpus}` : "usage: run.mjs BUILD [ASAN_BUILD] [PART]");
  process.exit(plainBuild ? 0 : 2);
}

function* walk(dir) {
  for (const name of readdirSync(dir).sort()) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

// The oracles' figures: lines "corpus: NAME | FIGURE" of the programs that hold them.
function oracles(build) {
  console.log("| oracle | |\n| --- | --- |");
  for (const name of readdirSync(join(build, "tests")).filter((f) => /^test_corpus_[a-z_]+$/.test(f)).sort()) {
    const r = spawnSync(join(build, "tests", name), { cwd: root, encoding: "utf8", env: { ...process.env, ALISIO_CORPUS: corpus } });
    for (const [, what, figure] of (r.stdout + r.stderr).matchAll(/^corpus: (.+?) \| (.+)$/gm)) console.log(`| ${what} | ${figure} |`);
    if (r.status !== 0) {
      failed++;
      console.log(`| ${name} | FAILED |`);
    }
  }
}

function inspect(build, path, home) {
  const state = mkdtempSync(join(home, "s-"));
  const env = { PATH: process.env.PATH, HOME: state, ALISIO_STATE_HOME: join(state, "state"), ALISIO_CONFIG_HOME: join(state, "config") };
  const args = [join(build, "alisio"), "data", "inspect", path, "--json"];
  return new Promise((resolve) => {
    const child = spawn(join(build, "bench_timed"), args, { cwd: state, env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    const said = ["", "", ""];
    [1, 2, 3].forEach((fd, i) => child.stdio[fd].setEncoding("utf8").on("data", (text) => (said[i] += text)));
    const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.on("close", () => {
      clearTimeout(timer);
      rmSync(state, { recursive: true, force: true });
      let answer = null, took = { cpu: 60, mb: 0 };
      try {
        took = JSON.parse(said[2]);
        answer = JSON.parse(said[0]);
      } catch {}
      resolve({ path, answer, took, stderr: said[1] });
    });
  });
}

async function sweep(build, plain) {
  const home = mkdtempSync(join(tmpdir(), "alisio-corpus-"));
  const groups = new Map();
  const queue = [...walk(corpus)].filter((path) => path.includes(part));
  const work = async () => {
    for (let path; (path = queue.shift()); ) {
      const done = await inspect(build, path, home);
      const parts = relative(corpus, path).split("/");
      const name = parts.slice(0, Math.min(2, parts.length - 1)).join("/") || ".";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(done);
    }
  };
  await Promise.all(Array.from({ length: Number(process.env.ALISIO_JOBS ?? cpus().length) }, work));
  rmSync(home, { recursive: true, force: true });

  console.log(`\n| ${plain ? "folder" : "folder, with sanitizers"} | files | datasets | refused, by code | rows | worst CPU s | worst MB |\n| --- | --- | --- | --- | --- | --- | --- |`);
  for (const [name, list] of [...groups].sort()) {
    const made = list.filter((f) => f.answer?.ok);
    const codes = {};
    for (const { answer } of list) if (answer && !answer.ok) codes[answer.error.code] = (codes[answer.error.code] ?? 0) + 1;
    const rows = made.reduce((sum, f) => sum + f.answer.structured.sheets.reduce((n, sheet) => n + sheet.rows, 0), 0);
    const worst = (key) => Math.max(...list.map((f) => f.took[key]));
    console.log(`| ${name} | ${list.length} | ${made.length} | ${Object.entries(codes).map(([c, n]) => `${n} ${c}`).join(", ")} | ${rows} | ${worst("cpu").toFixed(1)} | ${worst("mb").toFixed(0)} |`);
    for (const f of list) {
      const code = f.answer?.error?.code;
      const why = !f.answer ? "no answer" : ["ENGINE_CRASHED", "INTERNAL", "ENGINE_UNAVAILABLE", "MEMORY_LIMIT"].includes(code) ? code
        : /Sanitizer|runtime error/.test(f.stderr) ? "a sanitizer's report"
        : plain && f.took.cpu > MAX_SECONDS ? `${f.took.cpu} s` : plain && f.took.mb > MAX_MB ? `${f.took.mb} MB` : null;
      if (!why) continue;
      failed++;
      console.log(`FAILED ${relative(corpus, f.path)}: ${why}\n${f.stderr.slice(0, 2000)}`);
    }
  }
}

// Programs in Python that read the same files on their own and compare: lines as those of the oracles, and below them what differs.
function readers(build) {
  if (spawnSync(python, ["--version"]).status !== 0) return console.log("\nwithout Python: cells and statistics are not compared");
  console.log("\n| compared with an independent reader | |\n| --- | --- |");
  for (const name of ["exact.py", "statistics.py", "workbooks.py"]) {
    const script = join(root, "tests/corpus", name);
    const r = spawnSync(python, [script, join(build, "alisio"), corpus, part], { encoding: "utf8", maxBuffer: 1 << 28 });
    const lines = (r.stdout + r.stderr).split("\n");
    const figures = lines.filter((line) => line.startsWith("corpus: "));
    for (const line of figures) console.log(`| ${line.slice(8)} |`);
    const rest = lines.filter((line) => line && !line.startsWith("corpus: "));
    if (r.status !== 0) {
      failed++;
      console.log(`| ${name} | FAILED |\n`);
    }
    if (rest.length) console.log(rest.join("\n"));
  }
}

oracles(plainBuild);
await sweep(plainBuild, true);
readers(plainBuild);
if (asanBuild && asanBuild !== "-") await sweep(asanBuild, false);
console.log(failed ? `\n${failed} failed` : "\nall fine");
process.exit(failed ? 1 : 0);
