// Extras: packages of a local index that the test makes, installed with their hashes, or not at all.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { createServer } from "node:http";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alisio, isAlive, makeHome, run, runJson, soon, until } from "./lib.mjs";

const PYTHON = ["python3", "/usr/bin/python3"].find((python) =>
  spawnSync(python, ["-I", "-c", "import sys, venv, ensurepip; assert sys.version_info >= (3, 10)"]).status === 0);
const skip = PYTHON ? false : "no Python with ensurepip is here";

// A wheel of one module, as PEP 427 wants it; Python writes the ZIP.
const MAKE_WHEEL = `
import base64, hashlib, sys, zipfile
name, version, code, path = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {f"{name}.py": code, f"{info}/METADATA": f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n",
         f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
record = ""
with zipfile.ZipFile(path, "w") as z:
    for file, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{file},sha256={digest},{len(text.encode())}\\n"
        z.writestr(zipfile.ZipInfo(file, (2020, 1, 1, 0, 0, 0)), text)
    z.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2020, 1, 1, 0, 0, 0)), record + f"{info}/RECORD,,\\n")
`;

let home, wheels, lock;

function makeWheel(name, version, code) {
  const path = join(wheels, `${name}-${version}-py3-none-any.whl`);
  const made = spawnSync(PYTHON, ["-c", MAKE_WHEEL, name, version, code, path], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

const writeLock = (name, lines) => {
  const path = join(home.dir, name);
  writeFileSync(path, lines.join("\n") + "\n");
  return path;
};
const line = (name, version, hash) => `${name}==${version} --hash=sha256:${hash}`;
const setup = (...args) => runJson(home, ["analysis", "setup", "--extras", "analysis", "--python", PYTHON, ...args]);
const folder = () => join(home.env.ALISIO_STATE_HOME, "runtimes/python");
// What there is, without what finding an interpreter notes.
const installed = () =>
  existsSync(folder()) ? readdirSync(folder()).filter((f) => !f.endsWith(".json") || f === "extras.json").sort() : [];
const use = (code) =>
  runJson(home, ["py", "-e", code, "--extras", "analysis", "--python", PYTHON]);

before(() => {
  if (skip) return;
  home = makeHome();
  wheels = join(home.dir, "wheels");
  mkdirSync(wheels);
  const a = makeWheel("tidewords", "1.0", "def low(): return 'ebb'\n");
  const b = makeWheel("tidesums", "2.1", "import tidewords\ndef twice(n): return 2 * n\n");
  lock = writeLock("good.lock", [line("tidewords", "1.0", a), line("tidesums", "2.1", b)]);
});
after(() => home?.remove());

test("what is not installed is named with the command that installs it", { skip }, () => {
  const { json } = use("import tidewords");
  assert.equal(json.error.code, "EXTRAS_NOT_INSTALLED");
  assert.match(json.error.hint, /alisio analysis setup --extras analysis/);
});

test("one wrong byte is refused, and nothing is left of it", { skip }, () => {
  const before = installed();
  const bad = join(home.dir, "bad");
  mkdirSync(bad);
  for (const name of readdirSync(wheels)) {
    const bytes = readFileSync(join(wheels, name));
    if (name.startsWith("tidesums")) bytes[bytes.length - 30] ^= 1;
    writeFileSync(join(bad, name), bytes);
  }
  const { status, json } = setup("--lock", lock, "--from", bad);
  assert.equal(status, 6);
  assert.equal(json.error.code, "EXTRAS_INSTALL_FAILED");
  assert.match(json.error.message, /hash/);
  assert.match(json.error.message, /nothing was installed/);
  assert.deepEqual(installed(), before);
});

test("without a network nothing is installed, and it says so", { skip }, async () => {
  const before = installed();
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve)); // nobody listens there now
  const { json } = runJson(home, ["analysis", "setup", "--extras", "analysis", "--python", PYTHON, "--lock", lock],
    { env: { PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`, UV_INDEX_URL: `http://127.0.0.1:${port}/simple` } });
  assert.equal(json.error.code, "EXTRAS_INSTALL_FAILED");
  assert.match(json.error.message, /cannot be reached|no wheel/);
  assert.deepEqual(installed(), before);
});

test("a lock file without hashes is refused", { skip }, () => {
  const { json } = setup("--lock", writeLock("no-hash.lock", ["tidewords==1.0"]), "--from", wheels);
  assert.equal(json.error.code, "EXTRAS_INSTALL_FAILED");
  assert.match(json.error.message, /hash/i);
});

test("killed half-way nothing half-built is found, and the next installation clears it away", { skip }, async () => {
  let asked;
  const reached = new Promise((resolve) => (asked = resolve));
  const server = createServer(() => asked()).listen(0, "127.0.0.1"); // it never answers
  await new Promise((resolve) => server.on("listening", resolve));
  const child = spawn(alisio, ["analysis", "setup", "--extras", "analysis", "--python", PYTHON, "--lock", lock], {
    cwd: home.workspace,
    env: { ...home.env, PIP_INDEX_URL: `http://127.0.0.1:${server.address().port}/simple`, PIP_RETRIES: "0" },
  });
  await soon(reached, "pip asks the index");
  assert.ok(installed().some((name) => name.startsWith(".tmp-")));
  child.kill("SIGKILL");
  await new Promise((resolve) => child.on("exit", resolve));
  await until("its installers are gone", () => !readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(home.dir) && isAlive(Number(pid));
    } catch {
      return false;
    }
  }));
  server.closeAllConnections?.();
  server.close();
  assert.equal(use("import tidewords").json.error.code, "EXTRAS_NOT_INSTALLED");
  const { status, json } = setup("--lock", lock, "--from", wheels);
  assert.equal(status, 0, JSON.stringify(json));
  assert.ok(!installed().some((name) => name.startsWith(".tmp-")), installed().join());
});

test("a script imports what was installed", { skip }, () => {
  const { status, json } = use("import tidewords, tidesums\nprint(tidewords.low(), tidesums.twice(21))");
  assert.equal(status, 0, JSON.stringify(json));
  assert.equal(json.structured.stdout.trim(), "ebb 42");
  // Where something isolates the script it cannot change its packages.
  if (json.structured.isolation !== "none") {
    const write = use("import tidewords\nopen(tidewords.__file__, 'a').write('#')");
    assert.equal(write.json.error.code, "PYTHON_FAILED");
  }
});

test("a second installation replaces the first, which stays until then", { skip }, () => {
  const record = join(folder(), installed().find((name) => /^[0-9a-f]{16}$/.test(name)), "runtime.json");
  const first = readFileSync(record, "utf8");
  assert.equal(setup("--lock", lock, "--from", wheels).status, 0);
  assert.equal(readFileSync(record, "utf8"), first); // the same is there already, and whoever uses it keeps it
  const a = makeWheel("tidewords", "1.1", "def low(): return 'low water'\n");
  const newer = writeLock("newer.lock", [line("tidewords", "1.1", a)]);
  const failed = setup("--lock", writeLock("worse.lock", [line("tidewords", "1.1", a.replace(/^./, (c) => (c === "0" ? "1" : "0")))]),
    "--from", wheels);
  assert.equal(failed.json.error.code, "EXTRAS_INSTALL_FAILED");
  assert.equal(use("import tidewords; print(tidewords.low())").json.structured.stdout.trim(), "ebb");
  assert.equal(setup("--lock", newer, "--from", wheels).status, 0);
  assert.equal(use("import tidewords; print(tidewords.low())").json.structured.stdout.trim(), "low water");
});

test("packages that were changed are not used", { skip }, () => {
  const index = JSON.parse(readFileSync(join(folder(), "extras.json"), "utf8"));
  const site = spawnSync("find", [join(folder(), Object.values(index)[0], "venv"), "-name", "tidewords.py"], { encoding: "utf8" });
  const path = site.stdout.trim();
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("low water", "owned!!!!"));
  const { json } = use("import tidewords; print(tidewords.low())");
  assert.equal(json.error.code, "EXTRAS_INSTALL_FAILED");
  assert.match(json.error.message, /not as they were/);
  const newer = join(home.dir, "newer.lock");
  assert.equal(setup("--lock", newer, "--from", wheels).status, 0); // mended, in its place
  assert.ok(!installed().some((name) => name.startsWith(".tmp-")), installed().join());
  assert.equal(readFileSync(path, "utf8"), text);
  writeFileSync(path, text); // the same bytes again, at another time: that is no change
  assert.equal(use("import tidewords; print(tidewords.low())").json.structured.stdout.trim(), "low water");
});

test("two installations at once both end well, and each set stays in the index", { skip }, async () => {
  const c = makeWheel("tidepools", "1.0", "def deep(): return 3\n");
  const locks = ["analysis", "science"].map((set) => [set, writeLock(`${set}-twice.lock`, [line("tidepools", "1.0", c), `# ${set}`])]);
  const install = ([set, path]) =>
    new Promise((resolve) => {
      const args = ["analysis", "setup", "--extras", set, "--python", PYTHON, "--lock", path, "--from", wheels];
      spawn(alisio, args, { cwd: home.workspace, env: home.env, stdio: "ignore" }).on("exit", resolve);
    });
  assert.deepEqual(await Promise.all(locks.map(install)), [0, 0]);
  const index = JSON.parse(readFileSync(join(folder(), "extras.json"), "utf8"));
  assert.deepEqual(Object.keys(index).map((key) => key.split("-")[0]).sort(), ["analysis", "science"]);
  assert.equal(use("import tidepools; print(tidepools.deep())").json.structured.stdout.trim(), "3");
});

test("a lock file with options of pip's is refused, and variables do not lead an installation astray", { skip }, () => {
  const evil = writeLock("evil.lock", ["--index-url http://127.0.0.1:1/simple", ...readFileSync(lock, "utf8").trim().split("\n")]);
  const { json } = setup("--lock", evil, "--from", wheels);
  assert.equal(json.error.code, "INVALID_INPUT", JSON.stringify(json));
  assert.match(json.error.message, /line 1 .*--index-url/);
  const target = join(home.dir, "target");
  const env = { PIP_TARGET: target, PIP_USER: "1", PIP_NO_BINARY: ":all:", PIP_REQUIREMENT: evil, PIP_DRY_RUN: "1" };
  const fine = writeLock("fine.lock", [line("tidepools", "1.0", makeWheel("tidepools", "1.0", "def deep(): return 4\n"))]);
  const done = runJson(home, ["analysis", "setup", "--extras", "analysis", "--python", PYTHON, "--lock", fine, "--from", wheels], { env });
  assert.equal(done.status, 0, JSON.stringify(done.json));
  assert.ok(!existsSync(target));
  assert.equal(use("import tidepools; print(tidepools.deep())").json.structured.stdout.trim(), "4");
});
