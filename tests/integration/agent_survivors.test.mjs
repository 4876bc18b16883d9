// Nothing survives an agent's host: whatever ends it, and whatever its tools have started, all of it is gone within a second.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { agentRig, configure, providerOf } from "../fake/lib.mjs";
import { isAlive, root, until } from "./lib.mjs";

const GENEROUS = 20_000; // 20 times what is promised: the machine may be busy
const SIGNALS = ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGHUP"];

// A daemon in a session of its own, twice forked, that hears no signal; and a child that stays in the foreground.
const STUBBORN = "trap '' TERM HUP INT; while :; do sleep 1000; done";
const shellLine = (word) => `(setsid sh -c "${STUBBORN}" ${word}-far &) ; sh -c "${STUBBORN}" ${word}-near`;
const python = (word) => `
import os, signal, subprocess, sys, time
body = '''
import signal, time
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
time.sleep(1000)
'''
words = lambda name: [sys.executable, '-S', '-E', '-c', body, '${word}-' + name]
subprocess.Popen(words('near'))
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: os.execv(sys.executable, words('far'))
    os._exit(0)
time.sleep(1000)
`;
const TOOLS = {
  shell: { flags: ["--allow-process"], call: (word) => ({ name: "shell", arguments: { command: shellLine(word) } }) },
  js_run: {
    flags: ["--allow-process"],
    call: (word) => ({ name: "js_run", arguments: { code: `return await tools.call("shell", { command: ${JSON.stringify(shellLine(word))} })` } }),
  },
  python_run: { flags: ["--allow-analysis=unsandboxed"], call: (word) => ({ name: "python_run", arguments: { code: python(word) } }) },
  upstream: { flags: ["--allow-mcp"], call: () => ({ name: "effects.hang", arguments: {} }) },
};

const stat = (pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const rest = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, ppid: Number(rest[1]), born: rest[19], dead: rest[0] === "Z" };
  } catch {
    return null;
  }
};
const everyone = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => stat(Number(name))).filter((s) => s && !s.dead);
function descendants(pid) {
  const all = everyone(), found = [];
  for (let front = [pid]; front.length; ) {
    const next = all.filter((s) => front.includes(s.ppid));
    found.push(...next);
    front = next.map((s) => s.pid);
  }
  return found;
}
const lives = (s) => isAlive(s.pid) && stat(s.pid)?.born === s.born;
const commandOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
  } catch {
    return "";
  }
};

async function survive(tool, signal) {
  const word = `stay-${randomUUID()}`;
  const rig = await agentRig("chat", [{ calls: [TOOLS[tool].call(word)] }], {});
  try {
    if (existsSystemPython) rig.home.env.PATH = "/usr/bin:/bin";
    const count = join(rig.home.workspace, word);
    const server = { command: process.execPath, args: [join(root, "tests/fixtures/effects.mjs"), count] };
    if (tool === "upstream") configure(rig.home, providerOf(rig.fake, "chat"), { mcp: { servers: { effects: server } } });
    const run = rig.start(["--json", ...TOOLS[tool].flags, "do it"], { timeout: 60_000 });
    // Both of them are there, the near and the far one. (The list is read while processes change hands: it may want another look.)
    const known = () => {
      try {
        return readFileSync(count, "utf8").trim().split("\n").map(Number);
      } catch {
        return [];
      }
    };
    const tree = await until(`${tool} has begun; ${run.stderr}`, async () => {
      await new Promise((done) => setTimeout(done, 40)); // a look at all processes costs something
      const found = descendants(run.child.pid);
      const commands = found.map((s) => commandOf(s.pid));
      const there = tool === "upstream"
        ? known().length === 2 && known().every((pid) => found.some((s) => s.pid === pid))
        : ["near", "far"].every((name) => commands.some((c) => c.includes(`${word}-${name}`)));
      return there && found.length >= 3 && found;
    }, 40_000);
    run.child.kill(signal);
    await run.done;
    const from = performance.now();
    await until(`${tool}, ${signal}: all are gone`, () => !tree.some(lives), GENEROUS).catch((e) => {
      throw new Error(`${e.message}: ${tree.filter(lives).map((s) => `${s.pid} ${commandOf(s.pid).slice(0, 120)}`).join("; ")}`);
    });
    return performance.now() - from;
  } finally {
    await rig.close();
  }
}
const existsSystemPython = readdirSync("/usr/bin").includes("python3");

// Each tool with the end that nothing can catch, each other end with one tool; all of it with ALISIO_SOAK.
const names = Object.keys(TOOLS);
const cases = process.env.ALISIO_SOAK
  ? names.flatMap((tool) => SIGNALS.map((signal) => [tool, signal]))
  : [...names.map((tool) => [tool, "SIGKILL"]), ...SIGNALS.slice(1).map((signal, i) => [names[i % names.length], signal])];

describe("all that an agent's tools have started is gone after its host", { concurrency: 2 }, () => {
  for (const [tool, signal] of cases)
    test(`${tool}, ${signal}`, async (t) => {
      t.diagnostic(`gone after ${Math.round(await survive(tool, signal))} ms`);
    });
});
