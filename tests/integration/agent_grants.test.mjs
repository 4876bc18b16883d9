// Capability grants from end to end: a prompt on a terminal, what is kept of the answer, and where it counts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { agentRig, configure, providerOf, soon } from "../fake/lib.mjs";
import { onTerminal } from "./agent_terminal.mjs";
import { alisio, makeHome, runJson } from "./lib.mjs";

const python = (code = "print('ran')", more = {}) => ({ name: "python_run", arguments: { code, ...more } });
const shell = { name: "shell", arguments: { command: "echo ran" } };

// One home, in which what holds scripts is found out once; each test has a session of its own.
const shared = makeHome();
after(() => shared.remove());

async function withRig(scenario, options, body) {
  const rig = await agentRig("chat", scenario, { home: shared, ...options });
  try {
    await body(rig);
    assert.deepEqual(rig.fake.violations, []);
  } finally {
    await rig.close();
  }
}

const listed = (rig, ...args) => {
  const r = runJson(rig.home, args);
  assert.equal(r.status, 0, r.stderr);
  return r.json.structured;
};
const ofSession = (rig, rows) => rows.filter((row) => row.sessionId === sessionOf(rig));
const grants = (rig) => ofSession(rig, listed(rig, "permissions", "list").grants);
const decisions = (rig) => ofSession(rig, listed(rig, "permissions", "log").decisions).filter((d) => d.origin === "agent");
const sessionOf = (rig) => listed(rig, "sessions", "list").sessions.filter((s) => s.kind === "agent").sort((a, b) => (a.sessionId < b.sessionId ? 1 : -1))[0].sessionId;
// What the model read of its calls, in the newest request.
const results = (rig, from = 0) => rig.fake.requests.at(-1).body.messages.filter((m) => m.role === "tool").slice(from).map((m) => m.content);
const offered = (rig) => rig.fake.requests.at(-1).body.tools.map((t) => t.function.name);

describe("analysis.run", () => {
  it("granted for the session at a prompt it lasts: in the run, on a resume, and headless", () =>
    withRig([{ calls: [python()] }, { calls: [python("print('again')")] }, { text: "one" }, { calls: [python()] }, { text: "two" }, { calls: [python()] }, { text: "three" }], {}, async (rig) => {
      const first = await onTerminal(rig, ["run", "compute"], ["s\n"]);
      assert.equal(first.status, 0, first.seen);
      assert.match(first.seen, /y = once \/ s = for this session \/ N/);
      assert.equal(results(rig).length, 2);
      for (const text of results(rig)) assert.match(text, /^exit code 0/);
      const [grant] = grants(rig);
      assert.equal(grant.capability, "analysis.run");
      assert.deepEqual([grant.sessionId, grant.source], [sessionOf(rig), "agent"]);
      assert.ok(grant.isolation);
      assert.ok(!grant.expiresAt, "only a grant of a default session ends by itself");
      const second = await onTerminal(rig, ["resume", sessionOf(rig), "once more"]);
      assert.equal(second.status, 0, second.seen);
      const headless = await rig.resume(["--json", sessionOf(rig), "and headless"]);
      assert.equal(headless.last.type, "run_completed", headless.stderr);
      assert.equal(results(rig).length, 4);
      for (const text of results(rig)) assert.match(text, /^exit code 0/);
      assert.deepEqual(decisions(rig).map((d) => [d.tool, d.decision, d.reason]).reverse(), [
        ["python_run", "approved", "the person was asked: for the session"],
        ...Array(3).fill(["python_run", "allowed", "allowed by a stored grant"]),
      ]);
    }));

  it("never widens to programs, to scripts or to another session", () =>
    withRig(({ n }) => [{ calls: [python()] }, { text: "one" }, { calls: [shell, { name: "js_run", arguments: { code: "return await tools.python_run({code: '1'})" } }] }, { text: "two" }, { calls: [python()] }, { text: "three" }][n], {}, async (rig) => {
      await onTerminal(rig, ["run", "compute"], ["s\n"]);
      const r = await rig.resume(["--json", sessionOf(rig), "more"]);
      assert.equal(r.last.type, "run_completed", r.stderr);
      assert.ok(offered(rig).includes("python_run"));
      assert.ok(!offered(rig).includes("shell") && !offered(rig).includes("run_process"));
      const [ofShell, ofScript] = results(rig, 1);
      assert.doesNotMatch(ofShell, /^ran/m);
      assert.match(ofScript, /APPROVAL_REQUIRED/);
      const other = await rig.run(["--json", "another session"]);
      assert.equal(other.last.type, "run_completed", other.stderr);
      assert.ok(!offered(rig).includes("python_run"));
      assert.doesNotMatch(results(rig)[0], /exit code 0/);
    }));

  it("is for the isolation of then: a weaker one asks again, and headless is refused with the flag that opens it", () =>
    withRig([{ calls: [python()] }, { text: "one" }, { calls: [python()] }, { text: "two" }, { calls: [python()] }, { text: "three" }, { calls: [python()] }, { text: "four" }], { home: undefined }, async (rig) => {
      await onTerminal(rig, ["run", "compute"], ["s\n"]);
      const [{ isolation }] = grants(rig);
      if (isolation === "none") return; // no sandbox on this machine: nothing is weaker
      configure(rig.home, providerOf(rig.fake, "chat"), { analysis: { runtime: "managed" } });
      const headless = await rig.resume(["--json", sessionOf(rig), "weaker"]);
      assert.equal(headless.last.type, "run_completed", headless.stderr);
      const refused = results(rig, 1)[0];
      assert.match(refused, /PERMISSION_DENIED/);
      assert.match(refused, /isolation "none"/);
      assert.match(refused, /--allow-analysis=unsandboxed/);
      const asked = await onTerminal(rig, ["resume", sessionOf(rig), "asked"], ["n\n"]);
      assert.match(asked.seen, /NOT SANDBOXED/);
      assert.match(results(rig, 2)[0], /PERMISSION_DENIED.*said no/);
      const opened = await rig.resume(["--json", "--allow-analysis=unsandboxed", sessionOf(rig), "opened"]);
      assert.equal(opened.last.type, "run_completed", opened.stderr);
      assert.match(results(rig, 3)[0], /^exit code 0/);
    }));

  it("revoked it is asked for again, and headless not offered", () =>
    withRig([{ calls: [python()] }, { text: "one" }, { calls: [python()] }, { text: "two" }, { calls: [python()] }, { text: "three" }], {}, async (rig) => {
      await onTerminal(rig, ["run", "compute"], ["s\n"]);
      const [grant] = grants(rig);
      assert.equal(runJson(rig.home, ["permissions", "revoke", grant.id]).status, 0);
      const headless = await rig.resume(["--json", sessionOf(rig), "again"]);
      assert.equal(headless.last.type, "run_completed", headless.stderr);
      assert.ok(!offered(rig).includes("python_run"));
      assert.match(results(rig, 1)[0], /APPROVAL_REQUIRED[^]*--allow-analysis|TOOL_NOT_FOUND/);
      const again = await onTerminal(rig, ["resume", sessionOf(rig), "asked"], ["y\n"]);
      assert.match(results(rig, 2)[0], /^exit code 0/);
      assert.equal(again.status, 0);
    }));

  it("approved once it is kept for nothing, denied it is audited and not remembered", () =>
    withRig([{ calls: [python("print(1)")] }, { calls: [python("print(2)")] }, { calls: [python("print(3)")] }, { text: "done" }], {}, async (rig) => {
      const r = await onTerminal(rig, ["run", "compute"], ["y\n", "n\n", "y\n"]);
      assert.equal(r.status, 0, r.seen);
      assert.deepEqual(grants(rig).filter((g) => g.capability === "analysis.run"), []);
      const [one, two, three] = results(rig);
      assert.match(one, /^exit code 0/);
      assert.match(two, /PERMISSION_DENIED.*the person was asked, and said no/);
      assert.match(three, /^exit code 0/);
      assert.deepEqual(decisions(rig).map((d) => d.decision).reverse(), ["approved", "refused: PERMISSION_DENIED", "approved"]);
    }));

  it("is told in the events that are kept, with its capability", () =>
    withRig([{ calls: [python("print(1)")] }, { text: "done" }], {}, async (rig) => {
      await onTerminal(rig, ["run", "compute"], ["s\n"]);
      const p = runJson(rig.home, ["permissions", "list"]);
      assert.equal(p.status, 0);
      const exported = spawn(alisio, ["sessions", "export", sessionOf(rig)], { cwd: rig.home.workspace, env: rig.home.env });
      let text = "";
      exported.stdout.setEncoding("utf8").on("data", (part) => (text += part));
      await soon(new Promise((done) => exported.on("close", done)), "the export");
      const events = text.trim().split("\n").map((line) => JSON.parse(line));
      const requested = events.find((e) => e.type === "approval_requested"), resolved = events.find((e) => e.type === "approval_resolved");
      assert.deepEqual([requested.data.name, requested.data.effect, requested.data.capability], ["python_run", "process", "analysis.run"]);
      assert.deepEqual([resolved.data.decision, resolved.data.capability], ["session", "analysis.run"]);
    }));
});

describe("analysis.install", () => {
  const withExtras = python("import pandas", { extras: ["analysis"] });

  it("is asked for each time, only once or not at all, whatever is allowed", () =>
    withRig([{ calls: [withExtras] }, { calls: [withExtras] }, { text: "done" }], {}, async (rig) => {
      const r = await onTerminal(rig, ["run", "--allow-analysis=unsandboxed", "compute"], ["n\n", "s\n"]);
      assert.equal(r.status, 0, r.seen);
      assert.match(r.seen, /\[y\/N\]/);
      assert.doesNotMatch(r.seen, /for this session/);
      for (const text of results(rig)) assert.match(text, /EXTRAS_NOT_INSTALLED/);
      assert.deepEqual(grants(rig), []);
      const installs = decisions(rig).filter((d) => d.tool === "analysis.install");
      assert.deepEqual(installs.map((d) => d.decision), Array(2).fill("refused: EXTRAS_NOT_INSTALLED"));
      assert.ok(!existsSync(join(rig.home.env.ALISIO_STATE_HOME, "extras/analysis")));
    }));

  it("is never asked for headless: the error names the command", () =>
    withRig([{ calls: [withExtras] }, { text: "done" }], {}, async (rig) => {
      const r = await rig.run(["--json", "--allow-analysis=unsandboxed", "--allow-process", "compute"]);
      assert.equal(r.last.type, "run_completed", r.stderr);
      assert.match(results(rig)[0], /EXTRAS_NOT_INSTALLED/);
      assert.match(results(rig)[0], /alisio analysis setup --extras analysis/);
      assert.deepEqual(r.events.filter((e) => e.type === "approval_requested"), []);
    }));
});

describe("other effects at a terminal", () => {
  const write = (name) => ({ name: "write_file", arguments: { path: name, content: "x\n" } });
  it("are asked about at each call; a grant of writing is kept, one of programs is not even offered", () =>
    withRig([{ calls: [write("a.txt")] }, { calls: [write("b.txt")] }, { calls: [shell] }, { calls: [shell] }, { text: "done" }], {}, async (rig) => {
      const r = await onTerminal(rig, ["run", "write"], ["s\n", "s\n", "y\n"]);
      assert.equal(r.status, 0, r.seen);
      assert.ok(existsSync(join(rig.home.workspace, "a.txt")) && existsSync(join(rig.home.workspace, "b.txt")));
      const [, , first, second] = results(rig);
      assert.match(first, /PERMISSION_DENIED/, "s is no answer where it is not offered");
      assert.match(second, /ran/);
      assert.deepEqual(grants(rig).map((g) => g.capability), ["write_file"]);
    }));

  it("that a script names in uses are asked about once, before it starts", () =>
    withRig([{ calls: [{ name: "js_run", arguments: { code: "await tools.write_file({path: 'c.txt', content: '1'}); await tools.write_file({path: 'd.txt', content: '2'}); return 'written'", uses: ["write_file"] } }] }, { text: "done" }], {}, async (rig) => {
      const r = await onTerminal(rig, ["run", "write"], ["y\n"]);
      assert.equal(r.status, 0, r.seen);
      assert.match(results(rig)[0], /written/);
      assert.ok(existsSync(join(rig.home.workspace, "d.txt")));
    }));
});

describe("ask_user_question", () => {
  const question = (header, more) => ({ header, question: "Which one?", options: [{ label: "JSON" }, { label: "CSV", recommended: true }], ...more });
  const ask = (...questions) => ({ name: "ask_user_question", arguments: { questions } });

  it("is asked at a terminal, one after the other, and the model reads the answers", () =>
    withRig([{ calls: [ask(question("Format"), question("Parts", { multiSelect: true })), ask(question("Other"))] }, { text: "done" }], {}, async (rig) => {
      const r = await onTerminal(rig, ["run", "ask me"], ["2\n", "1,2\n", "neither of them\n"]);
      assert.equal(r.status, 0, r.seen);
      assert.match(r.seen, /CSV \(recommended\)/);
      assert.deepEqual(results(rig), ["Format: CSV\nParts: JSON, CSV\n", "Other: in their own words: neither of them\n"]);
    }));

  it("headless is an error at once, and the run goes on", () =>
    withRig([{ calls: [ask(question("Format"))] }, { text: "done" }], {}, async (rig) => {
      const r = await rig.run(["--json", "ask me"]);
      assert.equal(r.last.type, "run_completed", r.stderr);
      const [completed] = r.events.filter((e) => e.type === "tool_completed");
      assert.equal(completed.data.isError, true);
      assert.ok(completed.data.code, JSON.stringify(completed.data));
    }));
});
