// Python in a container of Podman, through the real binary.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { alisio, isAlive, makeHome, root, soon, until } from "./lib.mjs";

const dir = process.env.ALISIO_OCI_DIR ?? join(tmpdir(), "alisio-oci-test");
let home, missing, image;

before(() => {
  const made = spawnSync(join(root, "tools/oci-image"), [dir], { encoding: "utf8", timeout: 90_000 });
  if (made.status !== 0) {
    missing = made.error ? String(made.error) : made.stderr.trim();
    return;
  }
  image = made.stdout.trim();
  home = makeHome({ "in.csv": "a\n1\n2\n" });
  Object.assign(home.env, {
    CONTAINERS_CONF: join(dir, "containers.conf"),
    CONTAINERS_STORAGE_CONF: join(dir, "storage.conf"),
    SOME_API_KEY: "not for scripts",
  });
  // Of a test that was killed.
  spawnSync("podman", ["rm", "-f", "-t", "0", "-a"], { env: home.env });
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
  const config = { analysis: { runtime: "oci", oci: { engine: "podman", image, memoryMb: 512 } } };
  writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify(config), { mode: 0o600 });
});
after(() => home?.remove());

// An engine takes its time on a busy machine.
const LONG_MS = 60_000;
function py(code) {
  const r = spawnSync(alisio, ["py", "-e", code, "--allow-analysis", "--json"],
    { cwd: home.workspace, env: home.env, encoding: "utf8", timeout: LONG_MS });
  assert.equal(r.error, undefined);
  const json = JSON.parse(r.stdout);
  assert.equal(r.status, 0, r.stdout + r.stderr);
  return json.structured;
}

const containers = () => {
  const args = ["ps", "-aq", "--filter", "label=alisio=analysis"];
  const r = spawnSync("podman", args, { env: home.env, encoding: "utf8" });
  assert.equal(r.status, 0, r.stderr);
  return r.stdout.split("\n").filter(Boolean);
};
// What lies in the work folder of that run.
function worksIn(job) {
  const at = join(home.env.ALISIO_STATE_HOME, "analysis/jobs");
  for (const name of readdirSync(at)) {
    for (const session of readdirSync(join(at, name))) {
      if (readdirSync(join(at, name, session)).includes(job)) return readdirSync(join(at, name, session, job, "work"));
    }
  }
  return [];
}
const locks = () => readdirSync(join(home.env.ALISIO_STATE_HOME, "runtimes/oci"));

test("what a script leaves in a container is published, with what held it", (t) => {
  if (missing) return t.skip(missing);
  const code = `
import os, pathlib
assert 'SOME_API_KEY' not in os.environ and not os.path.exists('${home.workspace}')
pathlib.Path(os.environ['ALISIO_OUTPUT_DIR'], 'a.md').write_text('# It\\n')
print('done')`;
  const result = py(code);
  assert.equal(result.status, "completed");
  assert.equal(result.backend, "oci");
  assert.equal(result.isolation, "container");
  assert.equal(result.artifacts.length, 1);
  assert.equal(result.artifacts[0].fileName, "a.md");
  assert.deepEqual(locks(), []);
  assert.deepEqual(containers(), []);
});

test("a host that is killed takes its script along, and the next run its container", async (t) => {
  if (missing) return t.skip(missing);
  const code = "import time; open('here', 'w'); time.sleep(600)";
  const host = spawn(alisio, ["py", "-e", code, "--allow-analysis"],
    { cwd: home.workspace, env: home.env, stdio: "ignore" });
  const gone = new Promise((resolve) => host.once("exit", resolve));
  t.after(() => host.kill("SIGKILL"));
  const job = await until("the job", () => locks()[0], LONG_MS);
  await until("the script", () => worksIn(job).includes("here"), LONG_MS);
  // The one process whose command line has the script in it, and is no client of an engine.
  const inside = readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("python\0-E\0-s\0-B");
    } catch {
      return false;
    }
  });
  assert.ok(inside.length >= 1);
  host.kill("SIGKILL");
  await soon(gone, "the host");
  await until("the script's end", () => inside.every((pid) => !isAlive(Number(pid))));
  assert.equal(py("print(1)").status, "completed");
  assert.deepEqual(locks(), []);
  assert.deepEqual(containers(), []);
});
