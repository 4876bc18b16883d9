// kill -9 at each point of a turn, then `alisio resume`: nothing is lost, no effect happens twice, and what is said is true.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { APIS, agentRig } from "../fake/lib.mjs";
import { EFFECTS, FILES, POINTS, judge, killAndResume, requestsOf, resultsOf, sessionOf, settledOf } from "./agent_kill_rig.mjs";
import { until } from "./lib.mjs";

const points = Object.keys(POINTS), effects = Object.keys(EFFECTS);
const all = points.flatMap((point) => effects.flatMap((effect) => APIS.map((api) => ({ point, effect, api }))));
// Each point, each effect around its own row, each API; all of it with ALISIO_SOAK.
const some = [
  ...points.map((point, i) => ({ point, effect: effects[i % effects.length], api: APIS[i % APIS.length] })),
  ...effects.flatMap((effect, i) => ["agent.call_stored", "agent.effect"].map((point, k) => ({ point, effect, api: APIS[(i + k) % APIS.length] }))),
];
const seen = new Set();
const cases = (process.env.ALISIO_SOAK ? all : some).filter((c) => {
  const key = `${c.point} ${c.effect} ${c.api}`;
  return seen.has(key) ? false : seen.add(key);
});

describe("killed at a point and resumed", { concurrency: 2 }, () => {
  for (const { point, effect, api } of cases) test(`${point}, ${effect}, ${api}`, () => judge(api, effect, point));
});

// Between the points, too: killed at the k-th line that it says, again and again, and gone on with until it is done.
async function killedAgainAndAgain(api, kills, seed) {
  const rounds = 4;
  const calls = (n) => [
    { name: "shell", arguments: { command: `echo ${n} >> counted.txt` } },
    { name: "edit_file", arguments: { path: "grows.txt", oldText: "end", newText: `${n}\nend` } },
    { name: "read_file", arguments: { path: "a.txt" } },
  ];
  const rig = await agentRig(api, ({ body }) => {
    const n = resultsOf(api, body).length / 3;
    return n < rounds ? { text: `Round ${n}.`, calls: calls(n) } : { text: "done" };
  }, { files: FILES });
  const flags = ["--json", "--allow-process", "--allow-write"];
  let state = seed;
  const random = (max) => (state = (state * 1103515245 + 12345) % 2147483648) % max;
  const dying = (line) => {
    let n = 0;
    return { onEvent: (_, run) => ++n === line && run.child.kill("SIGKILL"), timeout: 60_000 };
  };
  try {
    let r = await rig.run([...flags, "do it"], dying(1 + random(12)));
    for (let k = 1; k < kills && r.signal; k++) r = await rig.resume([sessionOf(rig.home), ...flags], dying(1 + random(12)));
    if (r.signal) r = await rig.resume([sessionOf(rig.home), ...flags], { timeout: 60_000 });
    // Killed behind its last answer: there is nothing left to do.
    if (r.status === 2) assert.match(r.stdout + r.stderr, /ended with an answer/);
    else assert.equal(r.last.data.text, "done", r.stdout.slice(-600) + r.stderr);
    assert.deepEqual(rig.fake.violations, []);
    for (const name of ["counted.txt", "grows.txt"]) {
      const file = join(rig.home.workspace, name);
      const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
      assert.equal(new Set(lines).size, lines.length, `${name}: nothing twice: ${lines}`);
    }
  } finally {
    await rig.close();
  }
}
describe("killed again and again", { concurrency: 2 }, () => {
  const times = process.env.ALISIO_SOAK ? 20 : 1;
  for (const api of APIS)
    for (let i = 0; i < times; i++) test(`${api}, ${i}`, () => killedAgainAndAgain(api, 5, 7 * i + api.length));
});

const normal = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replace(/exec_[0-9A-Z]{26}/g, "EXEC");

describe("what is said of a call that has no end", { concurrency: 3 }, () => {
  for (const api of APIS)
    test(`all three kinds in one turn, the same for person and model: ${api}`, async () => {
      const calls = ["first", "second", "third"].map((name) => ({ name: "shell", arguments: { command: `echo ${name} >> counted.txt` } }));
      const rig = await agentRig(api, [{ text: "I go.", calls }, { text: "done" }], { files: FILES });
      try {
        const killed = await rig.run(["--json", "--allow-process", "do it"], { env: { ALISIO_FAILPOINT: "agent.call_stored:2" } });
        assert.equal(killed.signal, "SIGKILL");
        const resumed = await rig.resume([sessionOf(rig.home), "--json", "--allow-process"]);
        assert.equal(resumed.status, 0, resumed.stderr);
        const told = resultsOf(api, requestsOf(rig).at(-1).body).map((r) => normal(r.text));
        assert.match(told[0], /exit/i);
        assert.deepEqual(told.slice(1), [
          "interrupted while running; it may have taken effect; check before repeating\nrunning since TIME",
          "not started: the session ended before",
        ]);
        assert.deepEqual(settledOf(resumed.events).map((e) => [normal(e.data.preview), e.data.isError, e.data.name]), [[told[1], true, "shell"], [told[2], true, "shell"]]);
        assert.equal(EFFECTS.process.count(rig.home), 1);
        assert.deepEqual(rig.fake.violations, []);
      } finally {
        await rig.close();
      }
    });

  test("without --json the person reads the same rows on standard error", async () => {
    const rig = await agentRig("chat", [{ calls: [EFFECTS.process.call] }, { text: "done" }], { files: FILES });
    try {
      await rig.run(["--allow-process", "do it"], { env: { ALISIO_FAILPOINT: "agent.call_stored" } });
      const resumed = await rig.resume([sessionOf(rig.home), "--allow-process"]);
      assert.equal(resumed.status, 0, resumed.stderr);
      assert.equal(resumed.stdout, "done\n");
      assert.match(resumed.stderr, /shell\b.*\s+.*interrupted while running; it may have taken effect; check before repeating/);
      assert.match(resumed.stderr, /running since \d{4}-/);
    } finally {
      await rig.close();
    }
  });

  test("a run that had ended is told with its recorded result", async () => {
    const r = await killAndResume("chat", "process", "agent.effect");
    try {
      const [first] = resultsOf("chat", r.first.body);
      assert.match(normal(first.text), /^completed before the session was interrupted; what run EXEC recorded:\n/);
      assert.equal(r.count, 1);
    } finally {
      await r.rig.close();
    }
  });

  test("what a running program had printed is told", async () => {
    const command = "echo halfway; sleep 60";
    const rig = await agentRig("chat", [{ calls: [{ name: "shell", arguments: { command } }] }, { text: "done" }], { files: FILES });
    try {
      const run = rig.start(["--json", "--allow-process", "do it"], { timeout: 60_000 });
      const sql = "import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute(\"select count(*) from model_calls where output like '%halfway%'\").fetchone()[0])";
      // Not spawnSync: the model's server is in this process.
      const ask = () => new Promise((done) => execFile("python3", ["-c", sql, `${rig.home.env.ALISIO_STATE_HOME}/sessions.sqlite`], (_, out) => done(out.trim() === "1")));
      await until("the output is in the journal", ask, 60_000);
      run.child.kill("SIGKILL");
      await run.done;
      const resumed = await rig.resume([sessionOf(rig.home), "--json", "--allow-process"]);
      assert.equal(resumed.status, 0, resumed.stderr);
      const [only] = resultsOf("chat", requestsOf(rig).at(-1).body);
      assert.match(only.text, /^interrupted while running; it may have taken effect; check before repeating\nrunning since .*its output so far:\nhalfway\n$/s);
    } finally {
      await rig.close();
    }
  });
});
