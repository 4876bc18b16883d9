// What python_run is let in by, and what is said of it at a shell.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeHome, run, runJson } from "./lib.mjs";

let home;
const configure = (config) => {
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
  writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify({ schemaVersion: 1, ...config }));
};
const call = (args, ...more) => [...more, "tool", "call", "python_run", JSON.stringify(args)];

before(() => {
  home = makeHome();
  configure({ analysis: { runtime: "managed" } });
});
after(() => home.remove());

test("an explanation knows what would hold the script", () => {
  const explain = (...flags) => runJson(home, [...call({ code: "1" }, ...flags), "--explain"]).json.structured.inScript;
  const weak = explain("--allow-analysis");
  assert.equal(weak.code, "PERMISSION_DENIED", JSON.stringify(weak));
  assert.match(weak.message, /isolation "none"/);
  assert.match(weak.hint, /--allow-analysis=unsandboxed/);
  assert.match(explain().hint, /--allow-analysis=unsandboxed/);
  assert.equal(explain("--allow-analysis=unsandboxed").decision, "allowed");
  assert.equal(explain("--allow-process").decision, "allowed");
  const raised = explain("--allow-analysis", "--isolation", "required");
  assert.equal(raised.code, "RUNTIME_UNAVAILABLE", JSON.stringify(raised));
});

test("a failure is told once, on standard error, beside what the script said", () => {
  const { stdout, stderr } = run(home, call({ code: "print('so far')\nraise KeyError('x')" }));
  assert.match(stderr, /PYTHON_FAILED: KeyError/);
  assert.match(stderr, /hint: /);
  assert.ok(!stdout.includes("PYTHON_FAILED") && !stdout.includes("hint:"), stdout);
  assert.match(stdout, /^exit code 1.*\n--- stdout ---\nso far\n--- stderr ---\nTraceback/);
});

test("what fails names no folder of this machine to a script", () => {
  const said = (args, ...flags) =>
    run(home, ["--allow-process", ...flags, "--json", "js", "-e",
      `return await tools.python_run(${JSON.stringify(args)}).catch((e) => [e.code, e.message, e.hint])`]).stdout;
  const publishes = { code: "from alisio_runtime import output_dir\n(output_dir() / 'a.txt').write_text('x')" };
  assert.match(said({ code: "1" }, "--python", join(home.dir, "no-python")), /RUNTIME_UNAVAILABLE.*…\/no-python/);
  for (const args of [["--python", join(home.dir, "no-python")], []]) {
    const text = said(publishes, ...args);
    assert.ok(!text.includes(home.dir), text);
  }
  rmSync(join(home.env.ALISIO_STATE_HOME, "artifacts"), { recursive: true, force: true });
  for (const plant of [(path) => writeFileSync(path, ""), (path) => symlinkSync(home.workspace, path)]) {
    const path = join(home.env.ALISIO_STATE_HOME, "artifacts");
    plant(path);
    const text = said(publishes);
    assert.match(text, /the output cannot be stored/);
    assert.ok(!text.includes(home.dir), text);
    rmSync(path);
  }
});

test("what is kept has a limit: artifacts, datasets and the files of runs together", () => {
  configure({ analysis: { runtime: "managed" }, storage: { maxBytes: 1 << 20 } });
  const tool = (args) => runJson(home, call(args)).json;
  writeFileSync(join(home.workspace, "large.bin"), Buffer.alloc(1 << 20));
  assert.match(tool({ code: "1", inputs: [{ path: "large.bin" }] }).error.message, /larger than/);
  const made = tool({ code: "import os\nopen('left', 'wb').write(bytes(1 << 20))\nprint('made')" });
  assert.equal(made.structured?.stdout, "made\n", JSON.stringify(made));
  rmSync(join(home.env.ALISIO_STATE_HOME, "analysis/usage.json")); // as after ten minutes
  const { error } = tool({ code: "print('more')" });
  assert.equal(error.code, "QUOTA_EXCEEDED", JSON.stringify(error));
  assert.match(error.message, /files of earlier Python runs .* storage\.maxBytes is 1 MB/);
  assert.match(error.hint, /analysis sweep/);
  configure({ analysis: { runtime: "managed" } });
  assert.ok(tool({ code: "1" }).ok);
});

test("with its row a run's files go: copies of inputs, script and logs", () => {
  const jobs = () =>
    spawnSync("find", [join(home.env.ALISIO_STATE_HOME, "analysis/jobs"), "-name", "exec_*"], { encoding: "utf8" })
      .stdout.split("\n").filter(Boolean);
  const made = runJson(home, call({ code: "1" })).json.structured.executionId;
  const before = jobs();
  assert.ok(before.some((path) => path.endsWith(made)));
  assert.equal(run(home, ["runs", "rm", made]).status, 0);
  assert.deepEqual(jobs().sort(), before.filter((path) => !path.endsWith(made)).sort());
  assert.ok(jobs().length > 0);
  assert.equal(run(home, ["purge", "--older-than", "0m"]).status, 0);
  assert.deepEqual(jobs(), []);
});

test("an export keeps apart what would have one name", () => {
  const code = `
from alisio_runtime import output_dir
site = output_dir() / "site"
site.mkdir()
(site / "index.html").write_text("<p>x</p>")
odd = "\\u202a\\u202b\\u202c\\u202d\\u202e"
for n in range(125):
    (site / ("x" + odd[n % 5] + odd[n // 5 % 5] + odd[n // 25] + ".txt")).write_text(str(n))
`;
  const made = runJson(home, call({ code })).json.structured.artifacts[0];
  const args = JSON.stringify({ id: made.id, target: "out", overwrite: true });
  const { files } = runJson(home, ["tool", "call", "artifact_export", args]).json.structured;
  assert.equal(new Set(files).size, 126);
  assert.ok(files.every((file) => /(x___(-\d+)?\.txt|index\.html)$/.test(file)), files.join(" "));
  const texts = files.filter((file) => file.endsWith(".txt")).map((file) => Number(readFileSync(join(home.workspace, file), "utf8")));
  assert.deepEqual(texts.sort((a, b) => a - b), Array.from({ length: 125 }, (_, n) => n));
});
