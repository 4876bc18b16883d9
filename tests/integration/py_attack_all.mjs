// Starts the attack suite (py_attack_rig.mjs) in each back end, as root and as an ordinary user where that matters.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alisio, root } from "./lib.mjs";

const setpriv = "/usr/bin/setpriv";
const isRoot = process.getuid() === 0;

export const missingPart = (r) => r.missing ?? null;

// Of a copy that an ordinary user can read, wherever the tree and the binary lie.
function makeCopy() {
  const dir = mkdtempSync(join(tmpdir(), "alisio-suite-"));
  chmodSync(dir, 0o755);
  for (const name of ["lib.mjs", "py_attack_rig.mjs"]) copyFileSync(join(root, "tests/integration", name), join(dir, name));
  copyFileSync(join(root, "tests/python/attack.py"), join(dir, "attack.py"));
  copyFileSync(alisio, join(dir, "alisio"));
  chmodSync(join(dir, "alisio"), 0o755);
  return dir;
}

function start(dir, backend, asUser, env) {
  if (asUser && !existsSync(setpriv)) return Promise.resolve({ missing: "there is no setpriv" });
  const words = [process.execPath, join(dir, "py_attack_rig.mjs"), backend];
  if (asUser) words.unshift(setpriv, "--reuid", "1000", "--regid", "1000", "--clear-groups");
  return new Promise((resolve, reject) => {
    const p = spawn(words[0], words.slice(1), {
      cwd: dir,
      env: { PATH: "/usr/bin:/bin", ALISIO_BINARY: join(dir, "alisio"), ATTACK_SCRIPT: join(dir, "attack.py"), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let errors = "";
    p.stdout.on("data", (chunk) => (out += chunk));
    p.stderr.on("data", (chunk) => (errors += chunk));
    p.on("error", reject);
    p.on("close", (code) => (code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`the suite in ${backend} ended with ${code}: ${errors}`))));
  });
}

function ociEnv() {
  const dir = process.env.ALISIO_OCI_DIR ?? join(tmpdir(), "alisio-oci-test");
  const made = spawnSync(join(root, "tools/oci-image"), [dir], { encoding: "utf8", timeout: 90_000 });
  if (made.status !== 0) return { missing: made.error ? String(made.error) : made.stderr.trim() };
  return {
    ATTACK_IMAGE: made.stdout.trim(), ATTACK_RUNS: "few",
    CONTAINERS_CONF: join(dir, "containers.conf"), CONTAINERS_STORAGE_CONF: join(dir, "storage.conf"),
  };
}

function wasmEnv() {
  const pyodide = join(root, "node_modules/pyodide");
  const node = ["x64", "arm64"].map((arch) => join(root, `node_modules/node-linux-${arch}/bin/node`)).find((p) => existsSync(p));
  if (!node || !existsSync(pyodide)) return { missing: "no Pyodide or no Node.js in node_modules" };
  return { ATTACK_PYODIDE: pyodide, ATTACK_NODE: node, ATTACK_RUNS: "few" };
}

// {runs: [{title, backend, run}], remove}. The first of each back end is the one that the tables show.
export function attackAll() {
  const dir = makeCopy();
  const one = (title, backend, asUser, env = () => ({})) => ({
    title, backend,
    run: async () => {
      const more = env();
      return more.missing ? more : start(dir, backend, asUser, more);
    },
  });
  const few = () => ({ ATTACK_RUNS: "few" });
  const runs = [one("bwrap", "bwrap", false), one("landlock", "landlock", false)];
  if (isRoot) runs.push(one("bwrap as an ordinary user", "bwrap", true, few), one("landlock as an ordinary user", "landlock", true, few));
  runs.push(
    one("oci", "oci", false, ociEnv),
    one("wasm", "wasm", false, wasmEnv),
    one("wasm without bubblewrap", "wasm", false, () => ({ ...wasmEnv(), ATTACK_WITHOUT_BWRAP: "1" })),
    one("managed", "managed", isRoot),
  );
  return { runs, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
