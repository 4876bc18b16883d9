// Runs the attack suite in one back end: node py_attack_rig.mjs BACKEND. Prints {missing} or {backend, isolation, user,
// attempts: [{name, row, result, got}], changed, left}: what was tried and how it ended, what was changed outside of the
// script's own folders, and which processes were left.
//
// From the environment: ALISIO_BINARY, ATTACK_SCRIPT; for oci ATTACK_IMAGE and the engine's own; for wasm ATTACK_PYODIDE and
// ATTACK_NODE, and ATTACK_WITHOUT_BWRAP to have
// Landlock around it, or nothing when ALISIO_BINARY sees to that. ATTACK_TITLE: the name of the back end in what is printed. ATTACK_RUNS: those with a run of their own that
// are wanted (else all).
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { McpClient, makeHome, soon, until } from "./lib.mjs";

const RUN_MS = 120_000;
const backend = process.argv[2];
// Of such a script nothing is refused: as root it takes /proc and the root of all file systems from the whole machine.
if (backend === "managed" && process.getuid() === 0) throw new Error("managed has no wall: as an ordinary user, or not at all");
const unique = `${process.pid}-${Date.now().toString(36)}`;
const secret = `secret-${unique}`;
const python = ["/usr/bin/python3", "/usr/local/bin/python3"].find((p) => fs.existsSync(p)) ?? "python3";
// Processes that stay longest go first.
const RUNS = [
  ["fill_memory", "limits"], ["fill_disk", "limits"], ["fill_disk_with_small_files", "limits"], ["many_processes", "limits"],
  ["large_file", "limits"], ["many_open_files", "limits"], ["read_through_input_that_was_a_link", "read"],
  ["link_in_output", "output"], ["hard_link_in_output", "output"], ["swapped_link_in_output", "output"],
  ["link_for_progress", "output"],
];

// Listens at every door there is, and prints a line for whatever comes; is a process to be attacked, too.
const WITNESS = `
import json, os, signal, socket, sys, threading
folder, unique = sys.argv[1], sys.argv[2]
def say(what): os.write(1, (what + "\\n").encode())
def serve(s, stream):
    while True:
        if stream:
            c, _ = s.accept()
            def one(c=c):
                try: data = c.recv(200)
                except OSError: return
                if data: say("heard " + data.decode("latin1"))
            threading.Thread(target=one, daemon=True).start()
        else:
            say("heard " + s.recv(200).decode("latin1"))
def door(family, kind, address):
    s = socket.socket(family, kind)
    s.bind(address)
    if kind == socket.SOCK_STREAM: s.listen(64)
    threading.Thread(target=serve, args=(s, kind == socket.SOCK_STREAM), daemon=True).start()
    return s
U, S, D = socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
told = {"unixStream": folder + "/s", "unixDatagram": folder + "/d", "abstractStream": "alisio-s-" + unique, "abstractDatagram": "alisio-d-" + unique}
told["tcp"] = door(socket.AF_INET, S, ("0.0.0.0", 0)).getsockname()[1]
told["udp"] = door(socket.AF_INET, D, ("127.0.0.1", 0)).getsockname()[1]
try: told["tcp6"] = door(socket.AF_INET6, S, ("::1", 0)).getsockname()[1]
except OSError: told["tcp6"] = 0
door(U, S, told["unixStream"]); door(U, D, told["unixDatagram"])
door(U, S, "\\0" + told["abstractStream"]); door(U, D, "\\0" + told["abstractDatagram"])
for path in ("s", "d"): os.chmod(folder + "/" + path, 0o777)
names = {signal.SIGUSR1: "signal_process js_debug_process", signal.SIGUSR2: "signal_process_by_descriptor",
    signal.SIGCONT: "signal_everybody", signal.SIGRTMIN + 1: "queue_signal", 37: "js_signal"}
for s, name in names.items(): signal.signal(s, lambda n, f, name=name: say("heard " + name))
say(json.dumps(told))
signal.pthread_sigmask(signal.SIG_BLOCK, [])
while True: signal.pause()
`;

// What each job of a neighbour is: it runs, and there is something to read in it.
const NEIGHBOUR = (word) => `
# ${secret}
import subprocess, sys, time
if sys.platform != "emscripten":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "${word}"])
print("here", flush=True)
time.sleep(600)
`;

function processesWith(word) {
  return fs.readdirSync("/proc").filter((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return false;
      const args = fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
      return args.includes(word) && Number(pid) !== process.pid;
    } catch {
      return false;
    }
  }).map(Number);
}

function everyFile(dir, found = []) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) everyFile(path, found);
    else found.push(path);
  }
  return found;
}

const sha = (path) => (fs.existsSync(path) ? createHash("sha256").update(fs.readFileSync(path)).digest("hex") : "");

// All that is not the script's: names, contents, modes and times.
function picture(...dirs) {
  const lines = [];
  for (const dir of dirs) {
    lines.push(dir);
    for (const path of everyFile(dir)) {
      const s = fs.lstatSync(path);
      lines.push([path, s.mode, s.uid, s.mtimeMs, s.isFile() ? sha(path) : ""].join(" "));
    }
    for (const entry of fs.readdirSync(dir)) lines.push(join(dir, entry));
  }
  return lines;
}

function disks() {
  return fs.existsSync("/sys/block")
    ? fs.readdirSync("/sys/block").filter((n) => /^(sd|vd|nvme|xvd|mmcblk)/.test(n)).slice(0, 2)
        .map((n) => [n, ...fs.readFileSync(`/sys/block/${n}/dev`, "utf8").trim().split(":").map(Number)])
    : [];
}

function makeWorld() {
  const home = makeHome({ "file.txt": secret, "told.json": "{}" });
  // What stands first in PATH may be a shim that takes its time.
  home.env.PATH = "/usr/bin:/bin";
  if (process.env.ATTACK_WITHOUT_BWRAP) {
    home.env.PATH = join(home.dir, "bin");
    fs.mkdirSync(home.env.PATH);
    fs.symlinkSync(python, join(home.env.PATH, "python3"));
  }
  for (const name of ["CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"]) {
    if (process.env[name]) home.env[name] = process.env[name];
  }
  home.env.ATTACK_API_KEY = `key-${unique}`;
  const inHome = join(home.dir, "private");
  fs.mkdirSync(inHome);
  for (const name of ["secret.txt", "to-remove", "to-rename", "to-cut", "attributes"]) fs.writeFileSync(join(inHome, name), secret);
  fs.writeFileSync(join(inHome, "progress.json"), JSON.stringify({ completed: 1, total: 2, note: secret }));
  fs.writeFileSync(join(inHome, "program"), "#!/bin/sh\necho it ran\n", { mode: 0o755 });
  fs.symlinkSync(join(inHome, "secret.txt"), join(home.workspace, "linked.txt"));
  const tmp = fs.mkdtempSync(join(tmpdir(), "alisio-attack-"));
  fs.chmodSync(tmp, 0o777);
  fs.writeFileSync(join(tmp, "file"), secret);
  return { home, inHome, tmp };
}

function configure(home) {
  const analysis = {
    runtime: backend,
    limits: { memoryMb: 256, processes: 60, maxWorkBytes: 16 << 20, maxWorkFiles: 500 },
    oci: { engine: "podman", memoryMb: 256 },
    wasm: { startupMs: 60000, memoryMb: 512 },
  };
  if (process.env.ATTACK_IMAGE) analysis.oci.image = process.env.ATTACK_IMAGE;
  if (process.env.ATTACK_NODE) analysis.wasm.node = process.env.ATTACK_NODE;
  fs.mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
  fs.writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify({ analysis }), { mode: 0o600 });
  fs.writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "secret"), secret, { mode: 0o600 });
  if (backend !== "wasm") return;
  const from = process.env.ATTACK_PYODIDE;
  const { version } = JSON.parse(fs.readFileSync(join(from, "package.json"), "utf8"));
  const place = join(home.env.ALISIO_STATE_HOME, "runtimes/pyodide", version);
  fs.mkdirSync(place, { recursive: true, mode: 0o700 });
  fs.chmodSync(place, 0o755);
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"])
    fs.copyFileSync(join(from, name), join(place, name));
}

async function startWitness(tmp) {
  const word = `al-victim-${unique}`;
  const p = spawn(python, ["-c", WITNESS, tmp, unique, word], { stdio: ["ignore", "pipe", "inherit"], env: { PATH: "/usr/bin:/bin", KEY: `key-${unique}` } });
  let heard = "";
  p.stdout.setEncoding("utf8").on("data", (text) => (heard += text));
  await until("the witness", () => heard.includes("\n"));
  const doors = JSON.parse(heard.slice(0, heard.indexOf("\n")));
  return { process: p, word, doors, heard: (name) => heard.split("\n").some((l) => l.startsWith("heard ") && l.split(" ").includes(name)) };
}

function ask(client, args, meta = {}) {
  const id = client.nextId++;
  const answer = new Promise((resolve) => client.waiting.set(id, resolve));
  client.send({ id, method: "tools/call", params: { name: "python_run", arguments: args, _meta: meta } });
  return { id, answer: soon(answer, "a script", RUN_MS).then((m) => m.result ?? { isError: true, structuredContent: { error: m.error } }) };
}

// Of Python in WebAssembly it takes seconds to have one, and it has no processes to be attacked: a folder will do.
function neighbourAtRest(home) {
  const job = join(home.env.ALISIO_STATE_HOME, "analysis/jobs/w-000000000000/ses_NEIGHBOUR/exec_NEIGHBOUR");
  for (const name of ["script", "work", "logs"]) fs.mkdirSync(join(job, name), { recursive: true, mode: 0o700 });
  fs.writeFileSync(join(job, "script/main.py"), `# ${secret}`);
  return { id: 0, job };
}

async function neighbour(client, home) {
  if (backend === "wasm") return neighbourAtRest(home);
  const word = `al-sibling-${unique}`;
  const code = NEIGHBOUR(word);
  const run = ask(client, { code, timeoutMs: 100_000 });
  const jobs = join(home.env.ALISIO_STATE_HOME, "analysis/jobs");
  const find = () => fs.existsSync(jobs) && everyFile(jobs).find((p) => p.endsWith("logs/stdout.log") && fs.readFileSync(p, "utf8").includes("here"));
  let ended = null;
  run.answer.then((a) => (ended = a)).catch(() => {});
  const log = await until("a neighbour", () => find() || ended, RUN_MS);
  if (ended) return { missing: ended.structuredContent?.error?.message ?? JSON.stringify(ended) };
  return { ...run, word, job: dirname(dirname(log)), pid: processesWith(word)[0] };
}

async function scratchpad(client, home) {
  await client.call("js_run", { code: "await tools.write_file({path: 'scratch:here.txt', content: 'x'})" });
  const found = everyFile(home.env.ALISIO_TMPDIR).find((p) => basename(p) === "here.txt");
  return found && dirname(found);
}

function told(world, witness, client, near) {
  const { home, inHome, tmp } = world;
  const state = home.env.ALISIO_STATE_HOME;
  const hosts = join(state, "hosts");
  const address = Object.values(networkInterfaces()).flat().find((a) => a.family === "IPv4" && !a.internal);
  return {
    ...witness.doors, secret, envSecret: `key-${unique}`, outliveWord: `al-outlive-${unique}`, managed: backend === "managed",
    home: inHome, homeFile: join(inHome, "secret.txt"), homeProgram: join(inHome, "program"), attributes: join(inHome, "attributes"),
    progressFile: join(inHome, "progress.json"), workspaceFile: join(home.workspace, "file.txt"), tmp, tmpFile: join(tmp, "file"),
    otherJob: near.job, state, journal: everyFile(state).find((p) => p.endsWith("sessions.sqlite")) ?? join(state, "sessions.sqlite"),
    settings: join(home.env.ALISIO_CONFIG_HOME, "secret"), packages: join(state, "runtimes"), plantedLink: "planted.txt",
    controlSocket: join(hosts, fs.readdirSync(hosts).find((n) => n.endsWith(".sock")) ?? "none.sock"),
    victim: witness.process.pid, victimWord: witness.word, sibling: near.pid ?? witness.process.pid,
    siblingWord: near.pid ? near.word : witness.word, host: client.process.pid, hostWord: "mcp", address: address?.address ?? null,
    passwdHash: sha("/etc/passwd"), resolvHash: sha("/etc/resolv.conf"), disks: disks(),
    waitSeconds: backend === "managed" ? 1 : 6, hungryMb: backend === "wasm" ? 600 : 320,
  };
}

const lines = (text) => text.split("\n").filter((l) => l.startsWith("{")).map((l) => JSON.parse(l));

async function attack(client, world, info) {
  fs.writeFileSync(join(world.home.workspace, "told.json"), JSON.stringify({ ...info, mode: "all" }));
  const { structuredContent: s } = await ask(client, { code: fs.readFileSync(process.env.ATTACK_SCRIPT, "utf8"), inputs: [{ path: "told.json" }] }).answer;
  if (s?.error?.code === "RUNTIME_UNAVAILABLE") return { missing: s.error.message };
  if (!s?.executionId) throw new Error(JSON.stringify(s));
  const log = everyFile(join(world.home.env.ALISIO_STATE_HOME, "analysis/jobs")).find((p) => p.endsWith(`${s.executionId}/logs/stdout.log`));
  const attempts = lines(fs.readFileSync(log, "utf8"));
  if (s.exitCode !== 0) throw new Error(`${JSON.stringify({ ...s, stdout: "" })} after ${JSON.stringify(attempts.at(-1))}`);
  return { s, attempts };
}

// One attempt with a run of its own; "sent" is decided here.
async function single(client, world, info, [name, row]) {
  const file = `told-${name}.json`;
  fs.writeFileSync(join(world.home.workspace, file), JSON.stringify({ ...info, mode: name }));
  const inputs = [{ path: file, as: "told.json" }];
  if (name === "read_through_input_that_was_a_link") inputs.push({ path: "linked.txt" });
  const { structuredContent: s } = await ask(client, { code: fs.readFileSync(process.env.ATTACK_SCRIPT, "utf8"), inputs }, { progressToken: name }).answer;
  let { result, got } = lines(s?.stdout ?? "").find((l) => l.name === name) ?? { result: "refused", got: "" };
  const code = s?.error?.code;
  if (result !== "refused" && code) [result, got] = ["refused", code];
  else if (result === "refused") got ||= code ?? s?.status ?? "";
  if (result === "sent") {
    const seen = JSON.stringify(client.notifications).includes(`${secret}`) ||
      (s.artifacts ?? []).some((a) => everyFile(join(world.home.env.ALISIO_STATE_HOME, "analysis")).some((p) => p.includes(a.id) && fs.readFileSync(p, "utf8").includes(secret)));
    [result, got] = seen ? ["open", "it went out"] : ["refused", "nothing went out"];
  }
  return { name, row, result, got };
}

async function decide(attempts, world, witness, info, artifacts) {
  // Whatever was sent has arrived by now, or soon will; only what did not arrive takes the time.
  const arrived = (name) => name === "outlive_the_run" ? processesWith(info.outliveWord).length > 0
    : name === "what_is_read_leaves_as_output" ? artifacts.length === 1
    : witness.heard(name) || fs.existsSync(join(world.inHome, name));
  await new Promise((resolve) => setTimeout(resolve, 300));
  return attempts.map((a) => (a.result !== "sent" ? a : { ...a, ...(arrived(a.name) ? { result: "open", got: "it arrived" } : { result: "refused", got: "nothing arrived" }) }));
}

async function main() {
  const world = makeWorld();
  const { home, tmp, inHome } = world;
  let witness, client;
  try {
    configure(home);
    witness = await startWitness(tmp);
    client = new McpClient(home, ["--allow-process", "--allow-analysis=unsandboxed"]);
    await client.initialize();
    const near = await neighbour(client, home);
    if (near.missing) return near;
    const pad = await scratchpad(client, home);
    if (pad) fs.symlinkSync(join(inHome, "secret.txt"), join(pad, "planted.txt"));
    const info = told(world, witness, client, near);
    const before = picture(inHome, tmp, home.env.ALISIO_CONFIG_HOME, join(near.job, "script"));
    const { s, attempts, missing } = await attack(client, world, info);
    if (missing) return { missing };
    const all = await decide(attempts, world, witness, info, s.artifacts);
    const left = processesWith(info.outliveWord);
    const after = picture(inHome, tmp, home.env.ALISIO_CONFIG_HOME, join(near.job, "script"));
    const changed = [...after.filter((l) => !before.includes(l)), ...before.filter((l) => !after.includes(l))];
    const wanted = process.env.ATTACK_RUNS?.split(" ");
    const runs = RUNS.filter(([name]) => !wanted || wanted.includes(name));
    const alone = await Promise.all(runs.map((r) => single(client, world, info, r)));
    if (near.word) {
      client.send({ method: "notifications/cancelled", params: { requestId: near.id } });
      await until("the end of the neighbour", () => processesWith(near.word).length === 0).catch(() => {});
      left.push(...processesWith(near.word));
    }
    await client.close();
    left.forEach((pid) => { try { process.kill(pid, "SIGKILL"); } catch { /* it has gone */ } });
    return { backend: process.env.ATTACK_TITLE ?? backend, isolation: s.isolation, reason: s.reason, user: process.getuid(), attempts: [...all, ...alone], changed, left };
  } finally {
    client?.process.kill("SIGKILL");
    witness?.process.kill("SIGKILL");
    home.remove();
    fs.rmSync(tmp, { recursive: true, force: true });
  }
}

process.stdout.write(JSON.stringify(await main()) + "\n");
process.exit(0);
