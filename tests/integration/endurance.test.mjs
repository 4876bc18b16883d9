// A host that serves many scripts does not grow, and a host that is killed leaves nothing half done.
// ALISIO_SOAK_RUNS and ALISIO_SOAK_KILLS make it long; see `make soak`.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AT_REST, McpClient, childrenOf, isAlive, makeHome, runJson, soon, until } from "./lib.mjs";

const RUNS = Number(process.env.ALISIO_SOAK_RUNS ?? 1_500);
const KILLS = Number(process.env.ALISIO_SOAK_KILLS ?? 20);

function figures(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    kB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: childrenOf(pid).length,
  };
}

test(`${RUNS} scripts in one host: no growth of memory, descriptors or processes`, async () => {
  const home = makeHome({ "a.txt": "one\n" });
  const client = new McpClient(home);
  try {
    await client.initialize();
    const randoms = new Set();
    let next = 0;
    const worker = async () => {
      while (next < RUNS) {
        const i = next++;
        const { result } = await client.call("js_run", {
          code: `const {text} = await tools.read_file({path: "a.txt"}); return [Math.random(), text, ${i}]`,
        });
        assert.equal(result.isError, false, JSON.stringify(result));
        assert.equal(result.structuredContent.value[2], i);
        randoms.add(result.structuredContent.value[0]);
        client.lines.length = 0;
      }
    };
    const warm = Math.min(Math.floor(RUNS / 3), 1_000);
    const all = RUNS;
    // A first part fills caches and pools; what comes after must not add to them.
    const stopAt = (n) => new Promise((resolve) => {
      const timer = setInterval(() => next >= n && (clearInterval(timer), resolve()), 5);
    });
    const done = Promise.all(Array.from({ length: 8 }, worker));
    await soon(stopAt(warm), "the warm-up", 120_000);
    const before = figures(client.process.pid);
    await soon(done, `${all} runs`, all * 60);
    await until("only the zygote and its spare are left", () => figures(client.process.pid).processes <= AT_REST);
    const end = figures(client.process.pid);
    assert.equal(randoms.size, RUNS, "each run draws its own random numbers");
    assert.ok(end.descriptors <= before.descriptors, `${before.descriptors} → ${end.descriptors} descriptors`);
    // At most 8 MB: the allocator's and SQLite's caches breathe; a leak of a run's smallest buffer each time would be more.
    assert.ok(end.kB <= before.kB + Math.min(8_192, 2 * (RUNS - warm)), `${before.kB} → ${end.kB} kB`);
    console.log(`# ${RUNS} runs: ${before.kB} → ${end.kB} kB, ${before.descriptors} → ${end.descriptors} descriptors`);
    await client.close();
  } finally {
    client.process.kill("SIGKILL");
    home.remove();
  }
});

function filesBelow(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).map((e) => e.name);
}

function descendants(pid) {
  const all = [];
  for (const queue = [pid]; queue.length; ) {
    const children = childrenOf(queue.pop());
    all.push(...children);
    queue.push(...children);
  }
  return all;
}

const killedScript = `
  const round = (state.left ?? 0) + 1;
  for (let i = 0; i < 8; i++) {
    print("round", round, "write", i);
    await tools.write_file({path: "out/" + i + ".txt", content: "x".repeat(1000 * (i + 1))});
  }
  state.left = round;
  state.right = round;
  return round;`;

test(`kill -9 of the host at ${KILLS} random moments leaves nothing half done`, async () => {
  const home = makeHome();
  const moments = [];
  try {
    let last = 0;
    for (let k = 0; k < KILLS; k++) {
      const client = new McpClient(home, ["--allow-write"]);
      await client.initialize();
      for (let i = 0; i < 3; i++)
        client.send({ id: `k${i}`, method: "tools/call", params: { name: "js_run", arguments: { code: killedScript } } });
      const wait = Math.random() * 60;
      await new Promise((resolve) => setTimeout(resolve, wait)); // the moment itself is what is being tried
      const children = descendants(client.process.pid);
      client.process.kill("SIGKILL");
      await soon(client.exit, "the killed host");
      moments.push(wait);

      const { json } = runJson(home, ["runs", "list", "--limit", "0"]);
      const runs = json.structured.runs;
      for (const run of runs) assert.ok(!["running", "queued"].includes(run.status), `${run.id} is ${run.status}`);
      await until("no child is left", () => children.every((pid) => !isAlive(pid)));
      assert.deepEqual(filesBelow(home.workspace).filter((n) => n.startsWith(".alisio-tmp")), [], "temporary files");
      // start.lock is nobody's: hosts take it in turns while they start
      const hosts = readdirSync(join(home.env.ALISIO_STATE_HOME, "hosts")).filter((name) => name !== "start.lock");
      assert.deepEqual(hosts, [], "locks and sockets");
      const state = runJson(home, ["js", "-e", "return state"]).json.structured.value;
      assert.equal(state.left, state.right, "the state is the old one or the new one");
      assert.ok((state.left ?? 0) >= last, "and never an older one");
      last = state.left ?? 0;
    }
    const { json } = runJson(home, ["runs", "list", "--limit", "0"]);
    const counts = {};
    for (const run of json.structured.runs) counts[run.status] = (counts[run.status] ?? 0) + 1;
    console.log(`# ${KILLS} kills after ${Math.min(...moments).toFixed(1)} to ${Math.max(...moments).toFixed(1)} ms:`, counts);
  } finally {
    home.remove();
  }
});

test("eight hosts on one state folder lose nothing", async () => {
  const home = makeHome({ "a.txt": "one\n" });
  const hosts = Array.from({ length: 8 }, () => new McpClient(home));
  try {
    await Promise.all(hosts.map((h) => h.initialize()));
    const each = 40;
    await Promise.all(
      hosts.map(async (host, h) => {
        for (let i = 0; i < each; i++) {
          const { result } = await host.call("js_run", {
            code: `await tools.read_file({path: "a.txt"}); print("said"); state["h${h}_${i}"] = ${i}; return ${i}`,
          });
          assert.equal(result.isError, false, JSON.stringify(result));
        }
      }),
    );
    const { json } = runJson(home, ["runs", "list", "--limit", "0"]);
    assert.equal(json.structured.runs.filter((r) => r.status === "completed").length, 8 * each);
    const { value } = runJson(home, ["js", "-e", "return Object.keys(state).length"]).json.structured;
    assert.equal(value, 8 * each, "every key of every host is there");
  } finally {
    await Promise.all(hosts.map((h) => h.close()));
    home.remove();
  }
});
