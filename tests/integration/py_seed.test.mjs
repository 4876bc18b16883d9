// The examples that people and models are given, as they are written; and what a person sees who types `alisio py`.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { alisio, makeHome, run, runJson, soon } from "./lib.mjs";

let home;
before(() => {
  home = makeHome({
    "sales.csv": "region,amount,revenue\nNorth,3,30\nSouth,4.5,45\nNorth,5,50\n",
    "more/sales.csv": "region,amount,revenue\nWest,1,10\n",
  });
});
after(() => home.remove());

const call = (name, args) => runJson(home, ["tool", "call", name, JSON.stringify(args)]).json;

function published(code, inputs) {
  const r = call("python_run", { code, ...(inputs && { inputs }) });
  assert.equal(r.ok, true, r.text);
  assert.deepEqual(r.structured.warnings, []);
  return r.structured;
}

const textOf = (id) => call("artifact_read", { id }).text;

test("the quick start of alisio_runtime publishes its page under its title", () => {
  const r = published(`from alisio_runtime import output_dir, html, svg, charts, outputs

chart = svg.bar(["Q1", "Q2", "Q3"], [12, 18, 9], title="Sales")
html.write("index.html", "Sales", f"<h1>Sales</h1>{chart}")
(output_dir() / "summary.md").write_text("# Summary\\n", encoding="utf-8")
outputs.declare("index.html", title="Sales dashboard")
`);
  assert.deepEqual(r.artifacts.map((a) => [a.fileName, a.title, a.kind]), [["index.html", "Sales dashboard", "dashboard"]]);
  assert.match(textOf(r.artifacts[0].id), /<h1>Sales<\/h1><svg/);
});

test("the dashboard of charts is one file that loads nothing", () => {
  const r = published(`from alisio_runtime import charts

body = charts.kpis(("Orders", "1,204", "+8% vs last month")) + charts.grid(
    charts.card("Order status", charts.donut(["Delivered", "In transit", "Cancelled"], [81.7, 14.8, 3.4])),
    charts.card("Sales by seller", charts.bar(
        ["Ana", "Luis", "Marta"], {"Sales": [120000, 95000, 87000], "Profit": [30000, 21000, 25000]},
        fmt="currency:USD", locale="en-US")),
    charts.card("Orders per month", charts.line(["Jan", "Feb", "Mar"], {"Orders": [120, 135, 128]})),
)
charts.write("dashboard.html", "Sales dashboard", body)   # Chart.js is inlined here, once
`);
  assert.deepEqual(r.artifacts.map((a) => [a.fileName, a.kind, a.files]), [["dashboard.html", "dashboard", 1]]);
  assert.ok(r.artifacts[0].bytes > 150_000, "Chart.js is in it");
});

test("outputs.json chooses the names, titles and the page that opens", () => {
  const r = published(`from alisio_runtime import output_dir
out = output_dir()
(out / "sales-dashboard").mkdir()
(out / "sales-dashboard" / "index.html").write_text("<!doctype html><title>Sales</title><p>Sales")
(out / "sales-dashboard" / "style.css").write_text("p { color: teal }")
(out / "summary.pdf").write_bytes(b"%PDF-1.4\\n%%EOF\\n")
(out / "scratch.txt").write_text("not declared")
(out / "outputs.json").write_text("""{ "artifacts": [
  { "path": "sales-dashboard", "title": "Sales dashboard", "entry": "index.html" },
  { "path": "summary.pdf", "title": "Executive summary" }
] }""")
`);
  assert.deepEqual(r.artifacts.map((a) => [a.title, a.kind, a.files]),
    [["Sales dashboard", "dashboard", 2], ["Executive summary", "document", 1]]);
});

test("a dataset is summed, and says its columns", () => {
  const { datasetId } = runJson(home, ["data", "inspect", "sales.csv"]).json.structured;
  const r = published(`from alisio_runtime import datasets

db = datasets.open("sales")                     # sqlite3, read-only: mode=ro&immutable=1
total = db.execute("SELECT sum(revenue) FROM data").fetchone()[0]
for column in datasets.columns("sales"):        # type hints and statistics
    print(column["name"], column["type"], column["nulls"])
print(total)
`, [{ datasetId }]);
  assert.equal(r.stdout, "region text 0\namount real 0\nrevenue integer 0\n125\n");
  // What forge_guide shows a model runs, too.
  const guide = call("forge_guide", { topic: "python_run" });
  assert.ok(Buffer.byteLength(guide.text) <= 6144, guide.text);
  assert.match(guide.text, /^Now: \w+, isolation [\w-]+ \(.*\), Python 3\.\d+/m);
  const code = guide.text.match(/^from alisio_runtime[^]*?(?=^Charts:)/m)[0];
  assert.deepEqual(published(code, [{ datasetId }]).artifacts.map((a) => a.fileName), ["report.html"]);
});

test("the configuration of a container is taken as it is written, and a tag is refused", () => {
  const other = makeHome();
  const config = (image) => {
    mkdirSync(other.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
    writeFileSync(join(other.env.ALISIO_CONFIG_HOME, "config.json"), `{
  "analysis": {
    "runtime": "oci",
    "oci": {
      "engine": "docker",
      "image": "${image}",
      "memoryMb": 2048,
      "cpus": 2
    }
  }
}`, { mode: 0o600 });
  };
  try {
    config("python@sha256:f77ac9e44ae96ef2c90b8053ea08c31f8be030f824196b0ae4db6d462c84e51f");
    assert.equal(runJson(other, ["config", "get", "analysis.runtime"]).json.text.trim(), "oci");
    config("python:3.12");
    const refused = run(other, ["py", "-e", "print(1)"]);
    assert.match(refused.stderr, /must be pinned by its digest.*setup --oci --image/s);
  } finally {
    other.remove();
  }
});

// --- what a person sees ---

// The first line of a script that then waits for its end, which comes by a signal.
async function firstWords(command, args) {
  const child = spawn(command, args, { cwd: home.workspace, env: { ...home.env, TERM: "xterm" }, stdio: ["ignore", "pipe", "ignore"] });
  try {
    let text = "";
    for await (const chunk of child.stdout) {
      text += chunk;
      if (/first\r?\n/.test(text)) break;
    }
    return text;
  } finally {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await soon(ended, "the end of the command");
  }
}

test("what a script prints is shown before it ends, and a terminal's controls are made visible", async () => {
  const script = "import time; print('\\x1b[31mfirst', flush=True); time.sleep(100)";
  assert.equal(await soon(firstWords(alisio, ["py", "-e", script]), "the first line"), "\x1b[31mfirst\n");
  if (spawnSync("script", ["--version"]).error) return;
  const line = `'${alisio}' py -e "import time; print(chr(27) + '[31mfirst', flush=True); time.sleep(100)"`;
  assert.match(await soon(firstWords("script", ["-qec", line, "/dev/null"]), "the first line"), /^\\x1b\[31mfirst\r\n/m);
});

test("redirected output is whole and as it was printed", () => {
  const r = run(home, ["py", "-e", "import sys; sys.stdout.write('y' * 3_000_000); print('z' * 200_000, file=sys.stderr)"]);
  assert.equal(r.status, 0);
  assert.ok(r.stdout === "y".repeat(3_000_000), `${r.stdout.length} characters`);
  assert.ok(r.stderr.startsWith("z".repeat(200_000) + "\n"));
});

test("files in the wrong folder are told with the right one, and no line of a run that was none", () => {
  const r = run(home, ["py", "-e", "open('report.md', 'w').write('# hi'); open('.cache', 'w')"]);
  assert.match(r.stderr, /^warning: report\.md: left in the current folder, which is not published.*output_dir\(\)/);
  assert.doesNotMatch(run(home, ["py", "-e", "open('.cache', 'w')"]).stderr, /not published/);
  const none = run(home, ["py", "-e", "1", "--in", "nowhere.csv"]);
  assert.equal(none.status, 4);
  assert.match(none.stderr, /^error: NOT_FOUND: nowhere\.csv/);
});

test("hints are in the words of the command, and a name that was taken is told", () => {
  const hint = (...args) => run(home, ["py", ...args]).stderr.split("\nhint: ")[1] ?? "";
  assert.match(hint("-e", "open('sales.csv')"), /pass --in "sales\.csv" and open it beneath/);
  assert.match(hint("-e", "import pandas_of_none, pandas"), /do without/);
  assert.match(run(home, ["py", "--timeout", "5", "-e", "1"]).stderr, /milliseconds\nhint: --timeout 5000 is 5 seconds/);
  const twice = run(home, ["py", "-e", "1", "--in", "sales.csv", "--in", "more/sales.csv"]);
  assert.match(twice.stderr, /^--in more\/sales\.csv is called sales-2\.csv in the script's input folder$/m);
});

test("a run is shown with its wall, its words and its artifacts, and is run again, by hand, too", () => {
  const script = "from alisio_runtime import input_dir, output_dir; print('said'); (output_dir() / 'a.txt').write_text((input_dir() / 'sales.csv').read_text())";
  assert.equal(run(home, ["py", "-e", script, "--in", "sales.csv"]).status, 0);
  const shown = run(home, ["runs", "show", "last"]).stdout;
  assert.match(shown, /^engine +\w+\nisolation +[\w-]+\nreason +.+\ninput +sales\.csv\n\nprinted\nsaid\n\nartifacts\nID .*\nart_\w+ .* a\.txt/m);
  const lines = run(home, ["runs", "show", "last", "--command"]).stdout.split("\n");
  const again = lines.find((l) => l.startsWith("alisio ")), byHand = lines.find((l) => l.startsWith("cd "));
  assert.equal(run(home, again.split(" ").slice(1)).stdout, "said\n");
  const r = spawnSync("sh", ["-c", byHand], { encoding: "utf8" });
  assert.equal(r.stdout, "said\n", r.stderr);
});
