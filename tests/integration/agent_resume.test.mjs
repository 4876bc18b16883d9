// What a resumed conversation knows of scripts that were running, and what happens to rows that cannot be read.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { agentRig } from "../fake/lib.mjs";
import { FILES, requestsOf, resultsOf, sessionOf, settledOf } from "./agent_kill_rig.mjs";
import { run, until } from "./lib.mjs";

const normal = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replace(/exec_[0-9A-Z]{26}/g, "EXEC");
const once = (call) => ({ body }) => (resultsOf("chat", body).length ? { text: "done" } : { calls: [call] });
const told = (rig) => resultsOf("chat", requestsOf(rig).at(-1).body).map((r) => normal(r.text));
const sql = (home, text) =>
  new Promise((done, fail) => {
    const code = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1], timeout=20); c.executescript(sys.argv[2]); c.close()";
    execFile("python3", ["-c", code, join(home.env.ALISIO_STATE_HOME, "sessions.sqlite"), text], (e) => (e ? fail(e) : done()));
  });

async function within(call, fn, options = {}) {
  const rig = await agentRig("chat", once(call), { files: FILES, ...options });
  try {
    await fn(rig);
    assert.deepEqual(rig.fake.violations, []);
  } finally {
    await rig.close();
  }
}

describe("a script that was running when the host died", { concurrency: 2 }, () => {
  test("is told with the calls that it had made, and none is made again", () => {
    const code = `
      await tools.call("edit_file", { path: "grows.txt", oldText: "end", newText: "line\\nend" });
      await tools.call("shell", { command: "echo x >> counted.txt; sleep 600" });`;
    return within({ name: "js_run", arguments: { code } }, async (rig) => {
      const flags = ["--json", "--allow-write", "--allow-process"];
      const going = rig.start([...flags, "do it"], { timeout: 60_000 });
      const counted = join(rig.home.workspace, "counted.txt");
      await until("its second call runs", () => existsSync(counted), 40_000);
      going.child.kill("SIGKILL");
      await going.done;
      const resumed = await rig.resume([sessionOf(rig.home), ...flags]);
      assert.equal(resumed.status, 0, resumed.stderr + resumed.stdout);
      const [text] = told(rig);
      assert.equal(text, "interrupted while running; it may have taken effect; check before repeating\nrunning since TIME; run EXEC was interrupted\nits calls: edit_file completed, shell interrupted");
      assert.deepEqual(settledOf(resumed.events).map((e) => normal(e.data.preview)), [text]);
      assert.equal(readFileSync(counted, "utf8"), "x\n");
      assert.equal(readFileSync(join(rig.home.workspace, "grows.txt"), "utf8"), "line\nend\n");
    });
  });

  test("is told with its recorded result when it had ended", () =>
    within({ name: "js_run", arguments: { code: "console.log('said'); return { answer: 6 * 7 }" } }, async (rig) => {
      const killed = await rig.run(["--json", "do it"], { env: { ALISIO_FAILPOINT: "agent.effect" } });
      assert.equal(killed.signal, "SIGKILL", killed.stdout);
      const resumed = await rig.resume([sessionOf(rig.home), "--json"]);
      assert.equal(resumed.status, 0, resumed.stderr + resumed.stdout);
      assert.deepEqual(told(rig), ['completed before the session was interrupted; what run EXEC recorded:\n{"answer":42}\nsaid\n']);
    }));

  test("is told with its recorded failure when it had failed", () =>
    within({ name: "js_run", arguments: { code: "throw new Error('no luck')" } }, async (rig) => {
      await rig.run(["--json", "do it"], { env: { ALISIO_FAILPOINT: "agent.effect" } });
      const resumed = await rig.resume([sessionOf(rig.home), "--json"]);
      assert.equal(resumed.status, 0, resumed.stderr + resumed.stdout);
      assert.match(told(rig)[0], /^failed before the session was interrupted; what run EXEC recorded:\nSCRIPT_ERROR: .*no luck/);
    }));
});

test("a row of another program is named, the rest can be exported, and other sessions are not harmed", () =>
  within({ name: "read_file", arguments: { path: "a.txt" } }, async (rig) => {
    assert.equal((await rig.run(["--json", "do it"])).status, 0);
    const id = sessionOf(rig.home);
    const bad = ["{}", "no json", '{"role":"wizard","parts":[]}', '{"role":"user","by":"person","parts":[{"text":7}]}', `[${"[".repeat(5000)}`, '{"role":"assistant","from":{},"parts":[{"call":{}}]}'];
    for (const body of bad) {
      await sql(rig.home, `UPDATE messages SET body='${body}' WHERE seq=1;`);
      const r = await rig.resume([id, "and now?", "--json"]);
      assert.equal(r.status, 70, `${body.slice(0, 40)}: ${r.stdout}${r.stderr}`);
      assert.match(r.stdout + r.stderr, new RegExp(`message 1 of session ${id} cannot be read`));
      assert.match(r.stdout + r.stderr, new RegExp(`alisio sessions export ${id}`));
      const rest = run(rig.home, ["sessions", "export", id]);
      assert.equal(rest.status, 0, rest.stderr);
      assert.match(rest.stdout, /alpha|done/);
    }
    assert.equal((await rig.run(["--json", "another"])).status, 0);
  }));
