// Python in WebAssembly, through the real binary.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { alisio, makeHome, root } from "./lib.mjs";

const pyodide = join(root, "node_modules/pyodide");
const nodes = ["x64", "arm64"].map((arch) => join(root, `node_modules/node-linux-${arch}/bin/node`));
const node = nodes.find((path) => existsSync(path));
const missing = !node ? "there is no Node.js in node_modules" : !existsSync(pyodide) ? "no Pyodide in node_modules" : null;
const files = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
let home;

function configure(wasm) {
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
  const config = { analysis: { runtime: "wasm", wasm: { startupMs: 60000, ...wasm } } };
  writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify(config), { mode: 0o600 });
}

before(() => {
  if (missing) return;
  home = makeHome();
  configure({ node });
});
after(() => home?.remove());

// Node.js compiles ten megabytes of Python first, for the probe and for the script.
function py(code) {
  const r = spawnSync(alisio, ["py", "-e", code, "--allow-analysis=unsandboxed", "--json"],
    { cwd: home.workspace, env: home.env, encoding: "utf8", timeout: 80_000 });
  assert.equal(r.error, undefined);
  return JSON.parse(r.stdout);
}

test("without the distribution, the command that puts it there is named", (t) => {
  if (missing) return t.skip(missing);
  const json = py("print(1)");
  assert.equal(json.error.code, "RUNTIME_UNAVAILABLE");
  assert.match(json.error.hint, /alisio analysis setup --wasm/);
});

test("an older Node.js is refused, and why is said", (t) => {
  if (missing) return t.skip(missing);
  const place = join(home.env.ALISIO_STATE_HOME, "runtimes/pyodide/314.0.7");
  mkdirSync(place, { recursive: true, mode: 0o700 });
  chmodSync(place, 0o755);
  files.forEach((name) => copyFileSync(join(pyodide, name), join(place, name)));
  const old = join(home.dir, "node");
  writeFileSync(old, "#!/bin/sh\necho v24.12.0\n", { mode: 0o755 });
  configure({ node: old });
  const json = py("print(1)");
  assert.equal(json.error.code, "RUNTIME_UNAVAILABLE");
  assert.match(JSON.stringify(json.error), /v24\.12\.0.*CVE-2025-55130/);
});

test("what a script in WebAssembly leaves is published, with what held it", (t) => {
  if (missing) return t.skip(missing);
  configure({ node });
  const json = py(`
import os, sys, pathlib
import alisio_runtime
(alisio_runtime.output_dir() / 'a.md').write_text('# It')
print(sys.platform)`);
  assert.ok(json.ok, JSON.stringify(json));
  const result = json.structured;
  assert.equal(result.backend, "wasm");
  assert.ok(["os-sandbox", "os-filter", "restricted-process"].includes(result.isolation));
  assert.equal(result.stdout.trim(), "emscripten");
  assert.equal(result.artifacts.length, 1);
});
