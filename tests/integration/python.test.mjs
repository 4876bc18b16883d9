// python_run through the real binary: what goes in, what comes out, what is published, how it ends. Behind the back end
// that this machine has; where walls matter, the test names one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { McpClient, alisio, isAlive, makeHome, run, runJson, soon, until } from "./lib.mjs";

const SALES = "region,amount\nNorth,3\nSouth,4.5\nNorth,5\n";

let home;
before(() => {
  home = makeHome({
    "sales.csv": SALES,
    "feb.csv": "region,amount\nWest,100\n",
    "notes/plan.txt": "a plan\n",
    ".env": "TOKEN=1\n",
  });
});
after(() => home.remove());

// A call as a person types it; its whole answer.
function python(args, options = {}) {
  const input = typeof args === "string" ? { code: args } : args;
  const { in: at = home, flags = [], ...rest } = options;
  const r = runJson(at, ["tool", "call", "python_run", JSON.stringify(input), ...flags], rest);
  return { ...r.json, exit: r.status, s: r.json.structured, e: r.json.error };
}

const withConfig = (analysis) => {
  const other = makeHome({ "sales.csv": SALES });
  mkdirSync(other.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
  writeFileSync(join(other.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify({ analysis }), { mode: 0o600 });
  return other;
};

// Files beneath a folder of the state, by their paths from it.
function files(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]);
}

const jobOf = (id, at = home) => {
  const root = join(at.env.ALISIO_STATE_HOME, "analysis/jobs");
  for (const key of readdirSync(root))
    for (const session of readdirSync(join(root, key)))
      if (existsSync(join(root, key, session, id))) return join(root, key, session, id);
  return null;
};

const manifestOf = (id) => {
  const path = files(join(home.env.ALISIO_STATE_HOME, "artifacts")).find(
    (p) => p.includes(id) && p.endsWith("manifest.json"));
  return JSON.parse(readFileSync(path, "utf8"));
};

test("what a script prints comes back, with what it ran behind", () => {
  const r = python("print('ñandú', 1 + 1)");
  assert.equal(r.exit, 0, JSON.stringify(r));
  assert.equal(r.s.status, "completed");
  assert.equal(r.s.exitCode, 0);
  assert.equal(r.s.stdout, "ñandú 2\n");
  assert.ok(r.s.backend && r.s.isolation && r.s.reason, JSON.stringify(r.s));
  assert.match(r.text, /^exit code 0, [^\n]*; nothing published: the output folder is empty\n--- stdout ---\nñandú 2\n$/);
  assert.equal(r.executionId, r.s.executionId);
});

test("each file of the output folder is an artifact, and inputs are copies", () => {
  const code = `
from alisio_runtime import input_dir, output_dir
text = (input_dir() / "sales.csv").read_text()
(output_dir() / "copy.csv").write_text(text)
(output_dir() / "summary.md").write_text("# Summary\\n", encoding="utf-8")
`;
  const r = python({ code, title: "Copy", inputs: [{ path: "sales.csv" }, { path: "sales.csv" }, { path: "notes/plan.txt", as: "p.txt" }] });
  assert.equal(r.exit, 0, r.text);
  assert.deepEqual(r.s.artifacts.map((a) => [a.fileName, a.kind, a.bytes, a.partial]).sort(),
    [["copy.csv", "spreadsheet", SALES.length, false], ["summary.md", "document", 10, false]]);
  assert.deepEqual(r.s.inputs.map((i) => i.name), ["sales.csv", "sales-2.csv", "p.txt"]);
  assert.match(r.text, /; published 2: copy\.csv \(spreadsheet, [^,]+, art_\w+\), summary\.md \(document, 10 B, art_/);
  const p = manifestOf(r.s.artifacts[0].id).provenance;
  assert.equal(p.executionId, r.executionId);
  assert.equal(p.runtime.backend, r.s.backend);
  assert.equal(p.runtime.isolation, r.s.isolation);
  assert.match(p.scriptSha256, /^[0-9a-f]{64}$/);
  assert.deepEqual(p.inputs.map((i) => i.name), ["sales.csv", "sales-2.csv", "p.txt"]);
  assert.equal(JSON.stringify(p).includes(home.dir), false);
  const job = JSON.parse(readFileSync(join(jobOf(r.executionId), "job.json"), "utf8"));
  assert.equal(job.schemaVersion, 1);
  assert.deepEqual(job.inputs.map((i) => i.copySha256 === i.sha256), [true, true, true]);
  assert.equal(readFileSync(join(home.workspace, "sales.csv"), "utf8"), SALES);
});

test("outputs.json chooses, names and opens", () => {
  const r = python(`
import json
from alisio_runtime import output_dir
out = output_dir()
(out / "sales-dashboard").mkdir()
(out / "sales-dashboard" / "index.html").write_text("<!doctype html><title>x</title><p>x")
(out / "summary.txt").write_text("s")
(out / "left-out.txt").write_text("x")
(out / "outputs.json").write_text(json.dumps({"artifacts": [
  {"path": "sales-dashboard", "title": "Sales dashboard", "entry": "index.html"},
  {"path": "summary.txt", "title": "Executive summary"}]}))
`);
  assert.deepEqual(r.s.artifacts.map((a) => a.title), ["Sales dashboard", "Executive summary"], r.text);
});

test("a dataset arrives as SQLite, and alisio_runtime opens it", () => {
  const { json } = runJson(home, ["data", "inspect", "sales.csv"]);
  const id = json.structured.datasetId;
  const r = python({ code: `
from alisio_runtime import datasets

db = datasets.open("sales")                     # sqlite3, read-only: mode=ro&immutable=1
total = db.execute("SELECT sum(amount) FROM data").fetchone()[0]
for column in datasets.columns("sales"):        # type hints and statistics
    print(column["name"], column["type"], column["nulls"])
print(total, [i["kind"] for i in datasets.inputs()])
`, inputs: [{ datasetId: id }] });
  assert.equal(r.exit, 0, r.text);
  assert.equal(r.s.stdout, "region text 0\namount real 0\n12.5 ['dataset']\n");
  assert.deepEqual(r.s.inputs.map((i) => [i.name, i.kind, i.datasetId]), [["sales.sqlite", "dataset", id]]);
  const listed = JSON.parse(readFileSync(join(jobOf(r.executionId), "input/inputs.json"), "utf8"));
  assert.deepEqual([listed[0].name, listed[0].source, listed[0].format, listed[0].sheets[0].table],
    ["sales.sqlite", "sales.csv", "csv", "data"]);
});

test("an artifact is an input of the next script", () => {
  const made = python("from alisio_runtime import output_dir\n(output_dir() / 'n.txt').write_text('42')");
  const r = python({ code: "from alisio_runtime import input_dir\nprint(open(input_dir() / 'n.txt').read())",
    inputs: [{ artifactId: made.s.artifacts[0].id }] });
  assert.equal(r.s.stdout, "42\n", r.text);
});

test("a failure says its line and its end, and publishes nothing", () => {
  const code = "from alisio_runtime import output_dir\n(output_dir() / 'a.txt').write_text('a')\nprint('before')\n\n\n{}['region']\n";
  const r = python(code);
  assert.equal(r.exit, 1);
  assert.equal(r.e.code, "PYTHON_FAILED");
  assert.equal(r.e.message, "KeyError: 'region' (main.py, line 6)");
  assert.equal(r.s.exitCode, 1);
  assert.equal(r.s.status, "failed");
  assert.deepEqual(r.s.artifacts, []);
  assert.equal(r.s.stdout, "before\n");
  assert.match(r.s.stderr, /File "\/job\/script\/main\.py", line 6, in <module>/);
  const partial = python({ code, publishOnError: true });
  assert.equal(partial.exit, 1);
  assert.deepEqual(partial.s.artifacts.map((a) => [a.fileName, a.partial]), [["a.txt", true]]);
  assert.equal(manifestOf(partial.s.artifacts[0].id).provenance.partial, true);
});

for (const runtime of ["managed", "landlock"]) {
  test(`no path of this machine is in what a model reads of a script in ${runtime}`, (t) => {
    const other = withConfig({ runtime });
    try {
      const r = python({ code: `
import os, sys, json
print(os.getcwd(), sys.argv[0], os.environ["ALISIO_OUTPUT_DIR"], os.environ["HOME"])
def inner():
    json.loads("{")
inner()
`, inputs: [{ path: "sales.csv" }] }, { in: other });
      if (r.e.code === "RUNTIME_UNAVAILABLE") return t.skip(r.e.message);
      assert.equal(r.e.code, "PYTHON_FAILED", r.text);
      assert.match(r.e.message, /^json\.decoder\.JSONDecodeError: .* \(main\.py, line 5\)$/);
      assert.equal(r.s.stdout, "/job/work /job/script/main.py /job/out /job/work\n");
      const said = JSON.stringify([r.text, r.s, r.e]);
      assert.equal(said.includes(other.dir), false, said);
      assert.equal(said.includes("analysis/jobs"), false, said);
      assert.equal(r.s.backend, runtime);
    } finally {
      other.remove();
    }
  });
}

test("a hint says what to do about what is missing", () => {
  const hints = [
    ["import pandas", /extras: \["analysis"\]/],
    ["open('notes/plan.txt')", /inputs: \[\{"path": "notes\/plan\.txt"\}\]/],
  ];
  for (const [code, hint] of hints) assert.match(python(code).e.hint, hint, code);
  const named = python({ code: "open('sales.csv')", inputs: [{ path: "sales.csv" }] });
  assert.match(named.e.hint, /input_dir\(\)/);
  assert.match(python("raise SystemExit(3)").e.message, /exit code 3/);
});

test("arguments that cannot be are refused before anything runs", () => {
  const cases = [
    [{}, /there is no code/],
    [{ code: "1", codePath: "a.py" }, /exclude each other/],
    [{ code: "1", rerunOf: "exec_x" }, /exclude each other/],
    [{ code: " \n" }, /no code in it/],
    [{ codePath: "../x.py" }, /"\.\." has no place/],
    [{ codePath: "none.py" }, /codePath/],
    [{ code: "1", timeoutMs: 130000 }, /timeoutMs: an integer from 1000 to 120000/],
    [{ code: "1", timeoutMs: 10 }, /timeoutMs/],
    [{ code: "1", inputs: [{}] }, /exactly one of path/],
    [{ code: "1", inputs: [{ path: "a", datasetId: "b" }] }, /exactly one of path/],
    [{ code: "1", inputs: [{ path: "sales.csv", as: "a/b" }] }, /without a folder/],
    [{ code: "1", inputs: Array(21).fill({ path: "sales.csv" }) }, /inputs/],
    [{ code: "1", extras: ["torch"] }, /extras/],
  ];
  for (const [args, message] of cases) {
    const r = python(args);
    assert.equal(r.e?.code, "INVALID_INPUT", JSON.stringify([args, r]));
    assert.match(r.e.message, message);
    assert.equal(r.exit, 2);
  }
});

test("an input that may not or cannot be read is named, and no job is left", () => {
  for (const [input, code, exit] of [
    [{ path: "none.csv" }, "NOT_FOUND", 4],
    [{ path: ".env" }, "PATH_SECRET", 3],
    [{ path: "notes" }, "INVALID_INPUT", 2],
    [{ datasetId: "ds_none" }, "NOT_FOUND", 4],
    [{ artifactId: "art_none" }, "NOT_FOUND", 4],
  ]) {
    const r = python({ code: "print(1)", inputs: [input] });
    assert.equal(r.e?.code, code, JSON.stringify([input, r]));
    assert.equal(r.exit, exit);
    assert.equal(jobOf(r.executionId), null);
  }
});

test("a script in the scratchpad is run by its name", () => {
  run(home, ["tool", "call", "write_file", JSON.stringify({ path: "scratch:a.py", content: "print('from a file')\n" })]);
  assert.equal(python({ codePath: "a.py" }).s?.stdout, "from a file\n");
});

test("what takes too long ends in time, with what it said", () => {
  const r = python({ code: "print('on the way', flush=True)\nwhile True: pass", timeoutMs: 1000 });
  assert.equal(r.e.code, "TIMEOUT", r.text);
  assert.equal(r.exit, 5);
  assert.equal(r.s.status, "timed_out");
  assert.equal(r.s.stdout, "on the way\n");
  assert.ok(r.e.message.includes(r.executionId));
  assert.match(r.text, /^timed out, /);
});

test("a great deal of output is bounded, and the script is not stopped by it", () => {
  const r = python(`
import sys
for i in range(200000): print("line", i)
sys.stderr.buffer.write(b"\\xff\\xfe broken \\x00\\n" * 1000)
print("the end")
`);
  assert.equal(r.exit, 0, r.text.slice(0, 500));
  assert.ok(r.s.stdout.startsWith("line 0\n"));
  assert.ok(r.s.stdout.endsWith("the end\n"));
  assert.ok(r.s.stdout.length < 400_000);
  assert.ok(r.text.length < 12_000, `${r.text.length}`);
  assert.match(r.text, /line 199999\nthe end\n--- stderr ---/);
  assert.equal(readFileSync(join(jobOf(r.executionId), "logs/stdout.log"), "utf8").split("\n").length, 200002);
});

test("the same script on the same inputs, and on this month's file", () => {
  const code = `
from alisio_runtime import input_dir, output_dir
text = (input_dir() / "month.csv").read_text() + (input_dir() / "plan.txt").read_text()
(output_dir() / "report.txt").write_text(text)
`;
  const first = python({ code, inputs: [{ path: "sales.csv", as: "month.csv" }, { path: "notes/plan.txt" }] });
  const artifact = first.s.artifacts[0].id;
  const again = python({ rerunOf: artifact });
  assert.equal(again.exit, 0, again.text);
  assert.notEqual(again.executionId, first.executionId);
  const p = manifestOf(again.s.artifacts[0].id).provenance;
  assert.equal(p.rerunOf, first.executionId);
  assert.equal(p.rerunOfArtifact, artifact);
  assert.equal(manifestOf(again.s.artifacts[0].id).sha256, manifestOf(artifact).sha256);
  const feb = python({ rerunOf: again.executionId, inputs: [{ path: "feb.csv", as: "month.csv" }] });
  assert.equal(feb.exit, 0, feb.text);
  const pf = manifestOf(feb.s.artifacts[0].id).provenance;
  assert.deepEqual(pf.replacedInputs, ["month.csv"]);
  assert.equal(feb.s.artifacts[0].bytes, "region,amount\nWest,100\na plan\n".length);

  // Another name replaces nothing; every mismatch is told, and nothing runs.
  const jobs = () => readdirSync(join(jobOf(first.executionId), "..")).length;
  const before = jobs();
  const other = python({ rerunOf: first.executionId, inputs: [{ path: "feb.csv" }] });
  assert.equal(other.e.code, "RERUN_REFUSED");
  assert.match(other.e.message, /feb\.csv is none of its inputs' names \(month\.csv, plan\.txt\)/);
  const job = jobOf(first.executionId);
  rmSync(join(job, "input/plan.txt"), { force: true });
  rmSync(join(job, "input/month.csv"), { force: true });
  writeFileSync(join(job, "input/month.csv"), "x");
  rmSync(join(job, "script/main.py"), { force: true });
  writeFileSync(join(job, "script/main.py"), "print(1)");
  const refused = python({ rerunOf: first.executionId });
  assert.equal(refused.e.code, "RERUN_REFUSED");
  for (const part of [/copy of month\.csv has changed/, /copy of plan\.txt is missing/, /main\.py\) has changed/])
    assert.match(refused.e.message, part);
  assert.equal(jobs(), before);
  assert.equal(python({ rerunOf: "art_01ARZ3NDEKTSV4RRFFQ69G5FAV" }).e.code, "NOT_FOUND");
  const js = runJson(home, ["js", "-e", "return 1"]).json.executionId;
  assert.equal(python({ rerunOf: js }).e.code, "RERUN_REFUSED");
});

test("what is offered to a model as an example runs as written, and again from another session", () => {
  const { description } = runJson(home, ["tool", "describe", "python_run"]).json.structured;
  const code = description.match(/^Example: ([^]*?)\nA plain file/m)[1];
  const { json } = runJson(home, ["data", "inspect", "sales.csv"]);
  const r = python({ code, inputs: [{ datasetId: json.structured.datasetId }] });
  assert.equal(r.exit, 0, r.text);
  assert.deepEqual(r.s.artifacts.map((a) => a.fileName), ["sales.html", "summary.md"]);
  const again = python({ rerunOf: r.s.artifacts[1].id }, { flags: ["--session", "new"] });
  assert.equal(again.exit, 0, again.text);
});

test("packages that are not there, and a Python that is not, are told before anything runs", () => {
  const extras = python({ code: "print(1)", extras: ["analysis"] });
  assert.equal(extras.e.code, "EXTRAS_NOT_INSTALLED");
  assert.match(extras.e.hint, /alisio analysis setup --extras analysis/);
  const none = python("print(1)", { flags: ["--python", "/nonexistent/python3"] });
  assert.equal(none.e.code, "RUNTIME_UNAVAILABLE");
  assert.equal(none.exit, 6);
  for (const r of [extras, none]) {
    assert.equal(r.s.status, "failed");
    assert.equal(jobOf(r.executionId), null);
  }
  assert.match(python({ rerunOf: extras.executionId }).e.message, /never came to run/);
});

test("what may not be published is refused whole, and a limit of the disk ends the script", () => {
  const r = python(`
import os
from alisio_runtime import output_dir
(output_dir() / "fine.txt").write_text("x")
os.symlink("/etc/passwd", output_dir() / "link")`);
  assert.equal(r.e.code, "PUBLISH_REJECTED");
  assert.equal(r.s.exitCode, 0);
  assert.deepEqual(r.s.artifacts, []);
  const other = withConfig({ limits: { maxWorkBytes: 4 << 20 } });
  try {
    const full = python(`
import time
for i in range(8):
    with open(f"{i}", "wb") as f: f.write(b"x" * (1 << 20))
time.sleep(60)`, { in: other });
    assert.equal(full.exit, 5, full.text);
    assert.equal(full.s.status, "failed");
    assert.match(full.e.message + full.e.hint, /analysis\.limits\.maxWorkBytes/);
  } finally {
    other.remove();
  }
});

test("a dataset that was made anew refuses the rerun", () => {
  writeFileSync(join(home.workspace, "gone.csv"), "a\n1\n");
  const id = runJson(home, ["data", "inspect", "gone.csv"]).json.structured.datasetId;
  const first = python({ code: "print(1)", inputs: [{ datasetId: id }] });
  assert.equal(python({ rerunOf: first.executionId }).exit, 0);
  assert.equal(run(home, ["data", "rm", id]).status, 0);
  const r = python({ rerunOf: first.executionId });
  assert.equal(r.e.code, "RERUN_REFUSED");
  assert.match(r.e.message, new RegExp(`gone\\.sqlite \\(${id}\\) is no longer there`));
});

// A run that goes on, in a process of its own; its id once it says so.
async function begin(code, more = {}) {
  const p = spawn(alisio, ["tool", "call", "python_run", JSON.stringify({ code, ...more }), "--json"],
    { cwd: home.workspace, env: home.env, stdio: ["ignore", "pipe", "pipe"] });
  p.out = "";
  p.stdout.setEncoding("utf8").on("data", (text) => (p.out += text));
  p.end = new Promise((resolve) => p.on("close", (status, signal) => resolve({ status, signal })));
  let id;
  await until("the script says something", () => {
    const { json } = runJson(home, ["runs", "list"]);
    const live = json.structured.runs.find((r) => r.status === "running" && r.kind === "python_run");
    if (!live) return false;
    id = live.executionId ?? live.id;
    return run(home, ["runs", "logs", id]).stdout.includes("on the way");
  });
  return { p, id };
}

const ENDLESS = `
import os, time
from alisio_runtime import progress
progress(1, 2, "half")
print("on the way", os.getpid(), flush=True)
time.sleep(600)
`;

test("a run is followed, cancelled from another process, and publishes nothing", async () => {
  const { p, id } = await begin(`from alisio_runtime import output_dir\n(output_dir() / "a.txt").write_text("a")\n${ENDLESS}`);
  await until("progress is in the journal", () => run(home, ["runs", "logs", id]).stdout.includes("progress: 1/2 half"));
  assert.equal(run(home, ["runs", "cancel", id]).status, 0);
  await soon(p.end, "the end of the call");
  const r = JSON.parse(p.out);
  assert.equal(r.error.code, "CANCELLED");
  assert.equal(r.structured.status, "cancelled");
  assert.deepEqual(r.structured.artifacts, []);
  assert.match(r.structured.stdout, /^on the way/);
  assert.equal(runJson(home, ["runs", "show", id]).json.structured.run.status, "cancelled");
});

test("a host that is killed leaves an interrupted run and no process, and its script can be run again", async () => {
  const { p, id } = await begin("import sys\nfrom alisio_runtime import input_dir\n" +
    "print('on the way', flush=True)\nimport time\n" +
    "if (input_dir() / 'sales.csv').read_text().startswith('region'): time.sleep(600)\n",
    { inputs: [{ path: "sales.csv" }] });
  const dir = jobOf(id);
  const mine = () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isAlive(Number(pid))).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`ALISIO_EXECUTION_ID=${id}`);
    } catch {
      return false;
    }
  });
  assert.ok(mine().length > 0);
  p.kill("SIGKILL");
  await until("no process of it is left", () => mine().length === 0);
  assert.ok(statSync(dir).isDirectory());
  assert.equal(runJson(home, ["runs", "show", id]).json.structured.run.status, "interrupted");
  const r = python({ rerunOf: id, inputs: [{ path: "notes/plan.txt", as: "sales.csv" }] });
  assert.equal(r.s?.stdout, "on the way\n", JSON.stringify(r.e));
});

test("a script calls it, and gets what it made", () => {
  const js = `const r = await tools.python_run({code: "print(6 * 7)"}); return [r.stdout, r.status, r.artifacts.length]`;
  const { json } = runJson(home, ["js", "--allow-process", "-e", js]);
  assert.deepEqual(json.structured.value, ["42\n", "completed", 0], json.text);
  const slow = `await tools.python_run({code: "import time; time.sleep(600)"})`;
  const late = runJson(home, ["js", "--allow-process", "--timeout", "1500", "-e", slow]).json;
  assert.equal(late.error.code, "TIMEOUT");
  const runs = runJson(home, ["runs", "list"]).json.structured.runs;
  assert.deepEqual(runs.slice(0, 2).map((r) => r.status).sort(), ["cancelled", "timed_out"]);
  const refused = runJson(home, ["js", "-e", js]).json;
  assert.equal(refused.error.code, "APPROVAL_REQUIRED");
});

test("over MCP direct runs go at once, and their results keep to the limit", async () => {
  const client = new McpClient(home, ["--allow-process"]);
  await client.initialize();
  const began = performance.now();
  const code = "import time\ntime.sleep(1)\nprint('x' * 300000)\nraise ValueError('the last line')";
  const answers = await Promise.all([1, 2, 3, 4].map(() => client.call("python_run", { code })));
  const took = performance.now() - began;
  for (const { result } of answers) {
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /PYTHON_FAILED: ValueError: the last line/);
    assert.match(result.content[0].text, /ValueError: the last line\n$/);
    assert.ok(JSON.stringify(result).length <= 2 * 16000 + 2048, `${JSON.stringify(result).length}`);
    assert.match(result.structuredContent.executionId, /^exec_\w{26}$/);
  }
  assert.ok(took < 3800, `four runs of a second took ${took} ms`);
  const { result } = await client.call("python_run",
    { code: "from alisio_runtime import output_dir\n(output_dir() / 'c.txt').write_text('c')" });
  const { client: who } = manifestOf(result.structuredContent.artifacts[0].id).provenance;
  assert.deepEqual(who, { name: "test", version: "1" });
  await client.close();
});

test("under --read-only it is not there", () => {
  const r = python("print(1)", { flags: ["--read-only"] });
  assert.equal(r.e.code, "PERMISSION_DENIED");
});
