// The tests of alisio_runtime in the Python of the wasm back end: Pyodide, in a recent Node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const node = ["x64", "arm64"].map((arch) => join(root, `node_modules/node-linux-${arch}/bin/node`)).find(existsSync);
const pyodide = join(root, "node_modules/pyodide/pyodide.mjs");
const skip = !node ? "no recent Node in node_modules" : !existsSync(pyodide) ? "no Pyodide in node_modules" : false;

test("every test of alisio_runtime passes in Pyodide", { skip }, () => {
  const run = `
    import { loadPyodide } from ${JSON.stringify(pyodide)};
    const py = await loadPyodide({ stdout: (line) => console.log(line), stderr: (line) => console.log(line) });
    const root = ${JSON.stringify(root)};
    for (const part of ["py", "docs", "tests/runtime", "node_modules/chart.js/dist"]) {
      py.FS.mkdirTree("/tree/" + part);
      py.FS.mount(py.FS.filesystems.NODEFS, { root: root + "/" + part }, "/tree/" + part);
    }
    const good = py.runPython(\`
import os, sys
os.environ["ALISIO_NO_FORK"] = "1"
sys.path.insert(0, "/tree/tests/runtime")
sys.dont_write_bytecode = True
import run
run.here()
\`);
    process.exit(good ? 0 : 1);`;
  const done = spawnSync(node, ["--input-type=module", "-e", run], { encoding: "utf8", timeout: 100_000 });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  const [, tests, skipped] = /(\d+) tests, (\d+) skipped/.exec(done.stdout);
  assert.ok(Number(tests) > 70 && Number(skipped) < 6, done.stdout);
});
