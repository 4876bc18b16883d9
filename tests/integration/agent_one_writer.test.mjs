// One writer: a conversation is one process's at a time; who comes second is told who has it, and may go on with a copy.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { agentRig, ofType, startAlisio } from "../fake/lib.mjs";
import { requestsOf, resultsOf, sessionOf, settledOf } from "./agent_kill_rig.mjs";
import { alisio, run, runJson, until } from "./lib.mjs";

const FILES = { "a.txt": "alpha\n" };
const reading = { calls: [{ name: "read_file", arguments: { path: "a.txt" } }] };

test("of twenty that go on with a dead process's session at once, one does, and the others are told who", async () => {
  const rig = await agentRig("chat", ({ n }) => (n === 0 ? reading : { text: "done", hold: "all" }), { files: FILES });
  try {
    const dead = await rig.run(["--json", "do it"], { env: { ALISIO_FAILPOINT: "agent.results_stored" } });
    assert.equal(dead.signal, "SIGKILL");
    const id = sessionOf(rig.home);
    const runs = Array.from({ length: 20 }, () => startAlisio(rig.home, ["resume", id, "--json"], { timeout: 60_000 }));
    const ends = runs.map((r) => r.done);
    await until("nineteen have ended", () => runs.filter((r) => r.child.exitCode !== null).length === 19, 60_000);
    const winner = runs.find((r) => r.child.exitCode === null);
    await until("the one asks", () => requestsOf(rig).length === 2);
    rig.fake.release("all");
    await Promise.all(ends);
    assert.equal(winner.status, 0, winner.stderr);
    assert.equal(winner.last.type, "run_completed");
    assert.equal(requestsOf(rig).length, 2);
    for (const r of runs.filter((r) => r !== winner)) {
      assert.equal(r.status, 1, r.stderr);
      const said = r.stdout + r.stderr;
      assert.match(said, /STATE_CONFLICT/);
      assert.match(said, new RegExp(`session ${id} is in use by process ${winner.child.pid} since \\d{4}-\\d\\d-\\d\\d `));
      assert.match(said, new RegExp(`alisio resume ${id} --fork`));
    }
    assert.deepEqual(rig.fake.violations, []);
  } finally {
    await rig.close();
  }
});

test("a copy goes on beside the original, with what was open told as open", async () => {
  const wait = { calls: [{ name: "shell", arguments: { command: "echo here; until test -e go; do sleep 0.02; done; echo on" } }] };
  const rig = await agentRig("chat", ({ n, body }) => (n === 0 ? wait : { text: body.messages.at(-1).role === "tool" ? "original" : "copy" }), { files: FILES });
  try {
    const original = rig.start(["--json", "--allow-process", "do it"]);
    await until("the call runs", () => ofType(original.events, "tool_started").length === 1);
    const id = sessionOf(rig.home);
    const copy = await rig.resume([id, "--fork", "and you?", "--json"]);
    assert.equal(copy.status, 0, copy.stderr + copy.stdout);
    assert.equal(copy.last.data.text, "copy");
    assert.notEqual(copy.last.sessionId, id);
    const [told] = resultsOf("chat", requestsOf(rig)[1].body);
    assert.match(told.text, /^interrupted while running; it may have taken effect; check before repeating\nrunning since /);
    assert.deepEqual(settledOf(copy.events).map((e) => e.data.preview), [told.text]);
    writeFileSync(join(rig.home.workspace, "go"), "");
    await original.done;
    assert.equal(original.status, 0, original.stderr);
    assert.equal(original.last.data.text, "original");
    assert.match(resultsOf("chat", requestsOf(rig)[2].body)[0].text, /here\non/);
    assert.deepEqual(rig.fake.violations, []);
  } finally {
    await rig.close();
  }
});

test("who has a session at a terminal is named with it", async () => {
  const rig = await agentRig("chat", [{ text: "done", hold: "all" }], { files: FILES });
  try {
    const python = "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 1024))))";
    const child = spawn("python3", ["-c", python, alisio, "run", "do it"], { cwd: rig.home.workspace, env: rig.home.env, stdio: ["pipe", "ignore", "ignore"] });
    const end = new Promise((done) => child.on("close", done));
    await rig.fake.request(0);
    const second = await rig.resume([sessionOf(rig.home), "and you?", "--json"]);
    assert.equal(second.status, 1, second.stdout);
    assert.match(second.stdout + second.stderr, /in use by process \d+ on \/dev\/pts\/\d+ since /);
    rig.fake.release("all");
    assert.equal(await end, 0);
  } finally {
    await rig.close();
  }
});

test("a session that is in use is not deleted", async () => {
  const rig = await agentRig("chat", [{ text: "done", hold: "all" }], { files: FILES });
  try {
    const going = rig.start(["--json", "do it"]);
    await rig.fake.request(0);
    const id = sessionOf(rig.home);
    const refused = run(rig.home, ["sessions", "rm", id, "--json"]);
    assert.equal(refused.status, 5, refused.stdout);
    assert.match(refused.stdout + refused.stderr, new RegExp(`BUSY.*in use by process ${going.child.pid}`));
    rig.fake.release("all");
    await going.done;
    assert.equal(going.status, 0, going.stderr);
    assert.equal(run(rig.home, ["sessions", "rm", id, "--json"]).status, 0);
    assert.ok(!runJson(rig.home, ["sessions", "list"]).json.structured.sessions.some((s) => s.sessionId === id));
  } finally {
    await rig.close();
  }
});
