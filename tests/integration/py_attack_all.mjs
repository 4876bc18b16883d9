// Starts the attack suite (py_attack_rig.mjs) in each back end, as root and as an ordinary user where that matters.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alisio, root } from "./lib.mjs";

const setpriv = "/usr/bin/setpriv";
// Those with a run of their own that depend on the back end.
const FEW = "fill_memory link_in_output";
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
  const words = [process.execPath, join(dir, "py_attack_rig.mjs"), backend.split(" ")[0]];
  const user = [setpriv, "--reuid", "1000", "--regid", "1000", "--clear-groups"];
  for (const path of asUser ? [process.execPath, env.ATTACK_NODE, env.ATTACK_PYODIDE].filter(Boolean) : []) {
    if (spawnSync(user[0], [...user.slice(1), "test", "-r", path]).status !== 0) return Promise.resolve({ missing: `an ordinary user cannot read ${path}` });
  }
  if (asUser) words.unshift(...user);
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

// A program that starts alisio on a kernel that has no Landlock, as far as it can see.
function withoutLandlock(dir) {
  const path = join(dir, "alisio-without-landlock");
  writeFileSync(path, `#!/usr/bin/python3
import ctypes, os, struct, sys
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50026), (6, 0, 0, 0x7fff0000)]  # landlock_create_ruleset: ENOSYS
held = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(held)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog, 0, 0): sys.exit("cannot set a filter")
os.execv(${JSON.stringify(join(dir, "alisio"))}, ["alisio"] + sys.argv[1:])
`, { mode: 0o755 });
  return path;
}

function ociEnv() {
  const dir = process.env.ALISIO_OCI_DIR ?? join(tmpdir(), "alisio-oci-test");
  const made = spawnSync(join(root, "tools/oci-image"), [dir], { encoding: "utf8", timeout: 90_000 });
  if (made.status !== 0) return { missing: made.error ? String(made.error) : made.stderr.trim() };
  return {
    ATTACK_IMAGE: made.stdout.trim(), ATTACK_RUNS: FEW,
    CONTAINERS_CONF: join(dir, "containers.conf"), CONTAINERS_STORAGE_CONF: join(dir, "storage.conf"),
  };
}

function wasmEnv() {
  const pyodide = join(root, "node_modules/pyodide");
  const node = ["x64", "arm64"].map((arch) => join(root, `node_modules/node-linux-${arch}/bin/node`)).find((p) => existsSync(p));
  if (!node || !existsSync(pyodide)) return { missing: "no Pyodide or no Node.js in node_modules" };
  return { ATTACK_PYODIDE: pyodide, ATTACK_NODE: node, ATTACK_RUNS: FEW };
}

// {runs: [{title, backend, shown, run}], remove}. shown: its results are those of the tables.
export function attackAll() {
  const dir = makeCopy();
  const one = (title, backend, asUser, env = () => ({})) => ({
    title, backend,
    run: async () => {
      const more = env();
      return more.missing ? more : start(dir, backend, asUser, more);
    },
  });
  const few = () => ({ ATTACK_RUNS: "fill_memory" });
  const runs = [one("bwrap", "bwrap", false), one("landlock", "landlock", false)];
  if (isRoot) runs.push(one("bwrap as an ordinary user", "bwrap", true, few), one("landlock as an ordinary user", "landlock", true, few));
  runs.push(
    one("oci", "oci", false, ociEnv),
    one("wasm", "wasm", false, wasmEnv),
    one("wasm without bubblewrap", "wasm", false, () => ({ ...wasmEnv(), ATTACK_WITHOUT_BWRAP: "1", ATTACK_RUNS: "none" })),
    one("wasm with nothing around it", "wasm alone", isRoot, () => ({
      ...wasmEnv(), ATTACK_WITHOUT_BWRAP: "1", ATTACK_RUNS: "none", ATTACK_TITLE: "wasm alone", ALISIO_BINARY: withoutLandlock(dir) })),
    one("managed", "managed", isRoot),
  );
  runs.forEach((r) => (r.shown = runs.find((other) => other.backend === r.backend) === r));
  return { runs, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
