// A journal that cannot be written in the middle of a turn: nothing runs without its row, and the run's end says what is so.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { agentRig, ofType } from "../fake/lib.mjs";
import { requestsOf, resultsOf, sessionOf } from "./agent_kill_rig.mjs";
import { alisio, runJson } from "./lib.mjs";

const lines = (home) => (existsSync(join(home.workspace, "counted.txt")) ? readFileSync(join(home.workspace, "counted.txt"), "utf8").split("\n").length - 1 : 0);
const counting = { name: "shell", arguments: { command: "echo x >> counted.txt" } };

function sql(home, text) {
  const code = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1], timeout=20); c.executescript(sys.argv[2]); c.close()";
  const r = spawnSync("python3", ["-c", code, join(home.env.ALISIO_STATE_HOME, "sessions.sqlite"), text], { encoding: "utf8" });
  assert.equal(r.status, 0, r.stderr);
}
const refuse = (when) => `CREATE TRIGGER refused BEFORE ${when} BEGIN SELECT RAISE(FAIL, 'no room'); END;`;

// Rows that cannot be written: how many requests go out, how often the effect happens, what the resumed turn is told of it.
const ROWS = {
  "the turn": { when: "INSERT ON turns", requests: 0, effect: 0, none: true },
  "the prompt": { when: "INSERT ON messages", requests: 0, effect: 0, none: true },
  "the request": { when: "INSERT ON model_requests", requests: 0, effect: 0 },
  "the answer": { when: "INSERT ON messages WHEN NEW.body LIKE '%\"assistant\"%'", requests: 1, effect: 0 },
  "the calls": { when: "INSERT ON model_calls", requests: 1, effect: 0 },
  "a call's begin": { when: "UPDATE ON model_calls WHEN NEW.status='running'", requests: 2, effect: 0, says: /cannot be written down/ },
  "a call's end": { when: "UPDATE ON model_calls WHEN NEW.status IN ('completed','failed','cancelled')", requests: 1, effect: 1, told: /^completed before the session was interrupted|^interrupted while running/ },
};

describe("a row that cannot be written", { concurrency: 2 }, () => {
  for (const [name, row] of Object.entries(ROWS))
    test(`${name}: it is said, and nothing runs without it`, async () => {
      const rig = await agentRig("chat", ({ body }) => (resultsOf("chat", body).length ? { text: "done" } : { text: "I go.", calls: [counting, counting] }));
      try {
        runJson(rig.home, ["sessions", "list"]);
        sql(rig.home, refuse(row.when));
        const r = await rig.run(["--json", "--allow-process", "do it"]);
        assert.equal(r.signal, null);
        assert.equal(requestsOf(rig).length, row.requests);
        assert.equal(lines(rig.home), row.effect);
        if (row.says) {
          // A call that was refused for it is the model's to judge, as any that failed.
          assert.equal(r.status, 0, r.stderr);
          for (const t of resultsOf("chat", requestsOf(rig)[1].body)) assert.match(t.text, row.says);
          return;
        }
        assert.notEqual(r.status, 0, r.stdout);
        if (!row.none) {
          assert.equal(r.last.type, "run_failed", r.stdout);
          assert.match(r.stdout, /written down|database/);
        }
        sql(rig.home, "DROP TRIGGER refused;");
        if (row.none) return;
        const resumed = await rig.resume([sessionOf(rig.home), "--json", "--allow-process"]);
        assert.equal(resumed.status, 0, resumed.stderr + resumed.stdout);
        assert.equal(resumed.last.type, "run_completed");
        const told = resultsOf("chat", requestsOf(rig)[row.requests].body);
        if (row.told) assert.match(told[0].text, row.told);
        assert.ok(told.every((t) => !/^exit code 0/.test(t.text)) || row.effect === 0, JSON.stringify(told));
        assert.deepEqual(rig.fake.violations, []);
      } finally {
        await rig.close();
      }
    });

  test("an event that cannot be kept is told all the same, and the run goes on", async () => {
    const rig = await agentRig("chat", [{ calls: [counting] }, { text: "done" }]);
    try {
      runJson(rig.home, ["sessions", "list"]);
      sql(rig.home, refuse("INSERT ON turn_events"));
      const r = await rig.run(["--json", "--allow-process", "do it"]);
      assert.equal(r.status, 0, r.stderr);
      assert.equal(r.last.type, "run_completed");
      assert.equal(ofType(r.events, "tool_completed").length, 1);
      assert.equal(lines(rig.home), 1);
    } finally {
      await rig.close();
    }
  });
});

// A file system of its own, which fills up while a call runs.
const script = `
mount -t tmpfs -o size=6m,mode=700 tmpfs "$ALISIO_STATE_HOME" || exit 99
"$1" run --json --allow-process "do it"; echo "status $?"
rm -f "$ALISIO_STATE_HOME/filler"
"$1" resume last --json --allow-process; echo "status $?"
`;
const isolate = [["-m"], ["-r", "-m"]].find((how) => spawnSync("unshare", [...how, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0);

test("a disk that fills up during a call: the run ends with the truth, and goes on when there is room", { skip: isolate ? false : "no mount namespace can be made here" }, async () => {
  const fill = { name: "shell", arguments: { command: 'echo x >> counted.txt; head -c 20000000 /dev/zero > "$FILL" || true' } };
  const rig = await agentRig("chat", ({ body }) => (resultsOf("chat", body).length ? { text: "done" } : { calls: [fill, counting] }));
  try {
    const state = rig.home.env.ALISIO_STATE_HOME;
    fill.arguments.command = fill.arguments.command.replace("$FILL", join(state, "filler"));
    spawnSync("mkdir", ["-m", "700", "-p", state]);
    const child = spawn("unshare", [...isolate, "sh", "-c", script, "sh", alisio], { cwd: rig.home.workspace, env: rig.home.env, stdio: ["ignore", "pipe", "pipe"] });
    let out = "", errors = "";
    child.stdout.setEncoding("utf8").on("data", (t) => (out += t));
    child.stderr.setEncoding("utf8").on("data", (t) => (errors += t));
    await new Promise((done) => child.on("close", done));
    const [first, second] = out.split(/^status \d+$/m).map((part) => part.trim().split("\n").filter(Boolean).map((l) => JSON.parse(l)));
    const [, status1, status2] = /status (\d+)[^]*status (\d+)/.exec(out);
    assert.notEqual(status1, "0", out + errors);
    assert.equal(first.at(-1).type, "run_failed", out + errors);
    assert.match(JSON.stringify(first.at(-1).data), /disk is full|cannot grow|written down/);
    assert.equal(status2, "0", out + errors);
    assert.equal(second.at(-1).type, "run_completed");
    assert.equal(lines(rig.home), 1, "the second call has not run");
    const told = resultsOf("chat", requestsOf(rig).at(-1).body);
    assert.match(told[1].text, /^not started: the session ended before|cannot be written down/);
    assert.deepEqual(rig.fake.violations, []);
  } finally {
    await rig.close();
  }
});
