// kill -9 at each point of a turn, then `alisio resume`: nothing is lost, no effect happens twice, and what is said is true.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
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
