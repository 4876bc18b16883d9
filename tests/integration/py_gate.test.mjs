// What python_run is let in by, and what is said of it at a shell.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
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
