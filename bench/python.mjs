// python_run beside the bare thing: what each back end costs above the program that it starts, in turns within one run.
// node bench/python.mjs ALISIO BUILD [RUNS]
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [alisio, build, rounds = "15"] = process.argv.slice(2);
const runs = Number(rounds);
const dir = mkdtempSync(join(tmpdir(), "alisio-bench-"));
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// The wall time of a whole process in milliseconds, measured by a small program and not by Node.
function bare(argv) {
  const r = spawnSync(join(build, "bench_timed"), argv, { encoding: "utf8", cwd: dir, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  if (r.status !== 0) throw new Error(`${argv.join(" ")}: ${r.stderr}`);
  return JSON.parse(r.output[3]).wall * 1000;
}

class Host {
  constructor(name, config) {
    const home = join(dir, name);
    mkdirSync(join(home, "work"), { recursive: true });
    mkdirSync(join(home, "config"), { mode: 0o700 });
    writeFileSync(join(home, "config/config.json"), JSON.stringify({ analysis: config }), { mode: 0o600 });
    this.child = spawn(alisio, ["mcp", "--allow-analysis=unsandboxed"], {
      cwd: join(home, "work"),
      env: { ...process.env, HOME: home, ALISIO_STATE_HOME: join(home, "state"), ALISIO_CONFIG_HOME: join(home, "config") },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.waiting = new Map();
    this.id = 0;
    let rest = "";
    this.child.stdout.setEncoding("utf8").on("data", (text) => {
      rest += text;
      for (let at; (at = rest.indexOf("\n")) >= 0; rest = rest.slice(at + 1)) {
        const message = JSON.parse(rest.slice(0, at));
        this.waiting.get(message.id)?.(message);
      }
    });
  }
  ask(method, params) {
    const id = ++this.id;
    this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }
  async start() {
    await this.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
    this.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return this;
  }
  async python(code) {
    const start = performance.now();
    const { result, error } = await this.ask("tools/call", { name: "python_run", arguments: { code } });
    const ms = performance.now() - start;
    if (error || result.isError) throw new Error(error?.message ?? result.content[0].text);
    return { ms, ...result.structuredContent };
  }
  stop() {
    this.child.stdin.end();
    return new Promise((resolve) => this.child.on("exit", resolve));
  }
}

// What of the host is left after many runs: descriptors, children, mounts, control groups.
function traces(pid) {
  const groups = (d, depth) =>
    depth > 6 ? 0 : readdirSync(d, { withFileTypes: true }).filter((e) => e.isDirectory())
      .reduce((n, e) => n + (e.name.startsWith("alisio-") ? 1 : 0) + groups(join(d, e.name), depth + 1), 0);
  const count = (what) => {
    try {
      return what();
    } catch {
      return 0;
    }
  };
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    children: readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).length,
    mounts: readFileSync("/proc/mounts", "utf8").split("\n").length,
    groups: count(() => groups("/sys/fs/cgroup", 0)),
  };
}

const status = JSON.parse(spawnSync(alisio, ["analysis", "status", "--json"], { encoding: "utf8", env: { ...process.env, ALISIO_STATE_HOME: join(dir, "probe") } }).stdout);
const ready = new Map(status.structured.python.backends.filter((b) => b.ready).map((b) => [b.backend, b]));
const { executable: python, prefix } = JSON.parse(readFileSync(join(dir, "probe/runtimes/python/discovery.json"), "utf8"));

writeFileSync(join(dir, "main.py"), "print(1)\n");
const words = ["-E", "-s", "-B", "-u", "-X", "utf8"];
const bareOf = {
  managed: [python, ...words, "main.py"],
  landlock: [python, ...words, "main.py"],
  bwrap: ["/usr/bin/bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", ...(prefix.startsWith("/usr") ? [] : ["--ro-bind", prefix, prefix]),
    "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", dir, "/job", "--chdir", "/job", python, ...words, "/job/main.py"],
};
const goals = { managed: 5, bwrap: 15, landlock: 10 };

try {
  console.log("A script of one line, from the call to the answer, beside the bare program; medians in ms");
  console.log(`${"".padEnd(12)}${"bare".padStart(9)}${"alisio".padStart(9)}${"above".padStart(9)}${"ratio".padStart(9)}   goal`);
  for (const backend of ["managed", "landlock", "bwrap"]) {
    if (!ready.has(backend)) {
      console.log(`${backend.padEnd(12)}not ready here`);
      continue;
    }
    const host = await new Host(backend, { runtime: backend }).start();
    const seen = { bare: [], ours: [] };
    await host.python("print(1)"); // probes, caches
    for (let i = 0; i < runs; i++) {
      seen.bare.push(bare(bareOf[backend]));
      seen.ours.push((await host.python("print(1)")).ms);
    }
    const [b, o] = [median(seen.bare), median(seen.ours)];
    console.log(`${backend.padEnd(12)}${[b, o, o - b].map((v) => v.toFixed(1).padStart(9)).join("")}${(o / b).toFixed(2).padStart(9)}   ≤ ${goals[backend]} ms above`);
    await host.stop();
  }

  const many = Number(process.env.PYTHON_RUNS ?? 1000);
  const host = await new Host("many", {}).start();
  for (let i = 0; i < 8; i++) await host.python("print(1)");
  const before = traces(host.child.pid);
  let left = many;
  const worker = async () => {
    while (left-- > 0) await host.python("import os; open(os.environ['ALISIO_WORK_DIR'] + '/x', 'w').close()");
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  const after = traces(host.child.pid);
  console.log(`\nAfter ${many} runs, four at once: ${Object.keys(before).map((k) => `${k} ${before[k]} -> ${after[k]}`).join(", ")}`);
  await host.stop();
} finally {
  rmSync(dir, { recursive: true, force: true });
}
