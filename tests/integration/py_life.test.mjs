// How Python runs live and end through the real binary: a host that is killed, a server that goes on answering, and what
// many runs leave behind (nothing).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AT_REST, McpClient, alisio, childrenOf, isAlive, makeHome, runJson, soon, until } from "./lib.mjs";

// Each is tried where this machine has it.
const BACKENDS = ["bwrap", "landlock", "managed"];
const homes = {};
const ready = {};

before(() => {
  for (const runtime of BACKENDS) {
    const home = (homes[runtime] = makeHome());
    // What stands first in PATH may be a shim that takes its time.
    if (existsSync("/usr/bin/python3")) home.env.PATH = "/usr/bin:/bin";
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
    const config = { analysis: { runtime, limits: { processes: 60 } } };
    writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify(config), { mode: 0o600 });
    const r = runJson(home, ["py", "-e", "print(1)", "--allow-analysis=unsandboxed"]);
    ready[runtime] = r.status === 0 ? null : JSON.stringify(r.json.error);
  }
});
after(() => Object.values(homes).forEach((home) => home.remove()));

const best = () => BACKENDS.find((b) => !ready[b]);
const SERVER = ["--allow-process", "--allow-analysis=unsandboxed"];

// Living processes with that word in their command line.
function withWord(word) {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(word) && isAlive(Number(pid));
    } catch {
      return false;
    }
  });
}

function files(dir) {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]);
}

// Daemons that hear no signal, in sessions of their own, holding the script's outputs; a canary after 2 s.
const daemons = (word) => `
import os, signal, subprocess, sys, time
body = '''
import signal, sys, time
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
open(sys.argv[2], 'w')
time.sleep(2)
open('canary', 'w')
time.sleep(600)
'''
words = lambda name: [sys.executable, '-S', '-E', '-c', body, '${word}', name]
subprocess.Popen(words('up1'), start_new_session=True)
subprocess.Popen(['nohup'] + words('up2'))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execv(sys.executable, words('up3'))
    os._exit(0)
while not all(os.path.exists('up%d' % i) for i in (1, 2, 3)): time.sleep(0.005)
print('ready', flush=True)
`;

// Empty when it has gone meanwhile, as the processes between a script and its daemons do.
function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

for (const runtime of BACKENDS) {
  test(`${runtime}: a host that is killed takes all with it`, async (t) => {
    if (ready[runtime]) return t.skip(ready[runtime]);
    const home = homes[runtime];
    const word = `al-life-${randomUUID()}`;
    const p = spawn(alisio, ["py", "-e", daemons(word) + "time.sleep(600)", "--allow-analysis=unsandboxed"], {
      cwd: home.workspace, env: home.env, stdio: "ignore" });
    const exit = new Promise((resolve) => p.on("exit", (code, signal) => resolve(signal)));
    const up = () => files(join(home.env.ALISIO_STATE_HOME, "analysis/jobs")).filter((f) => /work\/up\d$/.test(f)).length === 3;
    await until("the daemons", () => up() && withWord(word).length >= 3);
    p.kill("SIGKILL");
    assert.equal(await soon(exit, "the end of the host"), "SIGKILL");
    await until("the end of all", () => withWord(word).length === 0, 10_000);
    assert.deepEqual(files(home.env.ALISIO_STATE_HOME).filter((f) => f.endsWith("/canary")), []);
  });

  test(`${runtime}: an interrupt at the terminal ends a script with its daemons`, async (t) => {
    if (ready[runtime]) return t.skip(ready[runtime]);
    const home = homes[runtime];
    const word = `al-life-${randomUUID()}`;
    const p = spawn(alisio, ["py", "-e", daemons(word) + "time.sleep(600)", "--allow-analysis=unsandboxed", "--json"], {
      cwd: home.workspace, env: home.env, stdio: ["ignore", "pipe", "pipe"] });
    t.after(() => p.kill("SIGKILL"));
    let out = "";
    p.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    const exit = new Promise((resolve) => p.on("close", resolve));
    await until("the daemons", () => withWord(word).filter((pid) => /up\d/.test(commandOf(pid))).length >= 3);
    p.kill("SIGINT");
    assert.notEqual(await soon(exit, "the end of the host"), 0);
    assert.equal(withWord(word).length, 0);
    assert.match(out, /"code":"(INTERRUPTED|CANCELLED)"/);
  });
}

test("a server answers while its scripts exhaust what they are given", async (t) => {
  const runtime = best();
  if (!runtime || runtime === "managed") return t.skip("no wall is here");
  const home = homes[runtime];
  const client = new McpClient(home, SERVER);
  t.after(() => client.process.kill("SIGKILL"));
  await client.initialize();
  const hungry = [
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "import sys\nb = b'x' * (1 << 20)\nwhile True: sys.stdout.buffer.write(b); sys.stderr.buffer.write(b)",
    "i = 0\nwhile True:\n    open('f%d' % i, 'w').write('x' * 10000)\n    i += 1",
  ];
  const ids = hungry.map((_, i) => 1000 + i);
  const answers = hungry.map((code, i) => client.request("tools/call", { name: "python_run", arguments: { code, timeoutMs: 8000 } }, ids[i]));
  await until("their processes", () => childrenOf(client.process.pid).length > AT_REST);
  let slowest = 0;
  let n = 0;
  for (const end = performance.now() + 1500; performance.now() < end; n++) {
    const began = performance.now();
    await client.request("ping", {});
    slowest = Math.max(slowest, performance.now() - began);
  }
  t.diagnostic(`${runtime}: the slowest of ${n} answers took ${Math.round(slowest)} ms`);
  for (const id of ids) client.send({ method: "notifications/cancelled", params: { requestId: id } });
  await until("the end of the scripts", () => childrenOf(client.process.pid).length <= AT_REST);
  answers.forEach((a) => a.catch(() => {})); // a cancelled request has no answer
  assert.ok((await client.request("ping", {})).result);
  await client.close();
});

test("many runs leave no process, descriptor, mount or control group behind", async (t) => {
  const runtime = best();
  if (!runtime) return t.skip("no Python is here");
  const client = new McpClient(homes[runtime], SERVER);
  t.after(() => client.process.kill("SIGKILL")); // a failing test must not wait for it
  await client.initialize();
  const { pid } = client.process;
  const code = "import subprocess, sys\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\nprint(1)";
  const many = async (n) => {
    const ended = await Promise.all(Array.from({ length: n }, () => client.call("python_run", { code })));
    return ended.map(({ result }) => {
      assert.ok(!result.isError, JSON.stringify(result));
      return result.structuredContent.executionId;
    });
  };
  const look = () => ({
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    // Of our own: whoever else mounts something here meanwhile is not asked.
    mounts: readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n").filter((line) => line.includes(homes[runtime].dir)).length,
  });
  const ids = await many(8);
  await until("rest", () => childrenOf(pid).length <= AT_REST);
  const before = look();
  for (let i = 0; i < 2; i++) ids.push(...(await many(8)));
  await until("rest", () => childrenOf(pid).length <= AT_REST);
  assert.deepEqual(look(), before);
  const groups = readFileSync("/proc/mounts", "utf8").split("\n").map((line) => line.split(" "))
    .filter(([, , kind]) => /^cgroup2?$/.test(kind)).map(([, where]) => where);
  const left = groups.flatMap((dir) => foldersBeneath(dir, 4)).filter((name) => ids.some((id) => name.includes(id)));
  assert.deepEqual(left, []);
  await client.close();
});

function foldersBeneath(dir, depth) {
  if (depth === 0) return [];
  try {
    return readdirSync(dir, { withFileTypes: true }).filter((e) => e.isDirectory())
      .flatMap((e) => [e.name, ...foldersBeneath(join(dir, e.name), depth - 1)]);
  } catch {
    return []; // gone, or not ours to look into
  }
}
