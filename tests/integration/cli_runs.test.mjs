// The journal from the command line, runs that go on, and signals.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AT_REST, McpClient, alisio, childrenOf, isAlive, makeHome, run, runJson, soon, until } from "./lib.mjs";

const ENDLESS = "print('on the way'); progress('on the way'); while (true) {}";

async function withHome(files, body) {
  const home = makeHome(files);
  const running = [];
  try {
    await body(home, running);
  } finally {
    for (const p of running) p.kill("SIGKILL");
    home.remove();
  }
}

// A command that goes on: what it wrote so far, and its end.
function begin(home, running, args) {
  const p = spawn(alisio, args, { cwd: home.workspace, env: home.env, stdio: ["ignore", "pipe", "pipe"] });
  running.push(p);
  p.out = "";
  p.err = "";
  p.stdout.setEncoding("utf8").on("data", (text) => (p.out += text));
  p.stderr.setEncoding("utf8").on("data", (text) => (p.err += text));
  p.end = new Promise((resolve) => p.on("close", (code, signal) => resolve({ code, signal })));
  return p;
}

// An endless script that is known to run.
async function beginEndless(home, running, ...flags) {
  const p = begin(home, running, ["js", "--json", "-e", ENDLESS, ...flags]);
  await until("the script runs", () => p.err.includes('"progress"') && p.err.includes("on the way"));
  return p;
}

test("runs list, show, --code, --command, logs and rm tell of a run what it was", () =>
  withHome({ "a.txt": "one\n" }, (home) => {
    const script = "print('hello'); progress({completed: 1, total: 2}); const f = await tools.read_file({path: 'a.txt'}); return {n: f.text.length}";
    const made = runJson(home, ["js", "-e", script, "--title", "a 'title'"]).json;
    assert.equal(run(home, ["js", "-e", "nope()"]).status, 1);
    const id = made.executionId;
    const list = runJson(home, ["runs", "list"]).json.structured.runs;
    assert.deepEqual(list.map((r) => r.status), ["failed", "completed"]);
    assert.deepEqual(runJson(home, ["runs", "list", "--failed"]).json.structured.runs.map((r) => r.error.code), ["SCRIPT_ERROR"]);
    assert.match(run(home, ["runs", "list"]).stdout, new RegExp(`${id} +completed .* a 'title'`));

    const shown = run(home, ["runs", "show", id]).stdout;
    assert.match(shown, /status +completed in/);
    assert.match(shown, /1 +read_file +completed .*a\.txt/);
    assert.match(shown, /printed\nhello\n/);
    assert.match(shown, /value\n\{\n {2}"n": 4\n\}/);
    const json = runJson(home, ["runs", "show", id]).json;
    assert.equal(json.executionId, id);
    assert.equal(json.structured.calls[0].tool, "read_file");
    assert.deepEqual(json.structured.record.value, { n: 4 });

    assert.equal(run(home, ["runs", "show", id, "--code"]).stdout, script);
    assert.match(run(home, ["runs", "show", "last"]).stdout, /SCRIPT_ERROR/);
    const logs = run(home, ["runs", "logs", id]).stdout;
    assert.match(logs, /^hello\n/);
    assert.match(logs, /progress: 1\/2/);
    assert.equal(runJson(home, ["runs", "logs", id]).json.structured.events[0].text, "hello\n");

    const line = run(home, ["runs", "show", id, "--command"]).stdout.replace(/alisio/, '"$0"');
    const again = spawn("sh", ["-c", line, alisio], { cwd: "/", env: home.env, stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    again.stdout.on("data", (text) => (out += text));
    return soon(new Promise((resolve) => again.on("close", resolve)), "the command line").then((code) => {
      assert.equal(code, 0);
      assert.equal(out, 'hello\n{\n  "n": 4\n}\n');
      const rows = runJson(home, ["runs", "list"]).json.structured.runs;
      assert.equal(rows.length, 3);
      assert.equal(rows[0].title, "a 'title'");
      assert.equal(run(home, ["runs", "rm", id]).status, 0);
      assert.equal(run(home, ["runs", "show", id]).status, 4);
    });
  }));

test("the command line of a run has its input, and says what of it was not kept", () =>
  withHome({}, (home) => {
    const command = (input) => {
      assert.equal(run(home, ["js", "-e", "return 1", "--input", input]).status, 0);
      return run(home, ["runs", "show", "last", "--command"]);
    };
    const whole = command('{"a": "it\'s"}');
    assert.match(whole.stdout, /--input '\{"a": ?"it'\\''s"\}'/);
    assert.equal(whole.stderr, "");
    assert.match(command('{"password": "x"}').stderr, /^warning: secrets in the input/);
    assert.match(command(JSON.stringify("x".repeat(100_000))).stderr, /^warning: the input of exec_\S+ was too large/);
  }));

test("a typed call with an effect is in the journal, with a command line", () =>
  withHome({}, (home) => {
    const r = runJson(home, ["tool", "call", "write_file", '{"path":"b.txt","content":"x"}']).json;
    assert.match(r.executionId, /^exec_/);
    assert.match(run(home, ["runs", "show", r.executionId]).stdout, /1 +write_file +completed/);
    assert.match(run(home, ["runs", "show", "last", "--command"]).stdout, /tool call write_file '\{"path":"b.txt"/);
    const code = run(home, ["runs", "show", "last", "--code"]);
    assert.equal(code.status, 4);
    assert.match(code.stderr, /there is no script/);
  }));

for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]])
  test(`${signal} cancels an endless script, confirms, and ends with ${status}`, () =>
    withHome({}, async (home, running) => {
      const p = await beginEndless(home, running);
      const children = childrenOf(p.pid);
      assert.ok(children.length > 0);
      p.kill(signal);
      assert.deepEqual(await soon(p.end, "the end"), { code: status, signal: null });
      const answer = JSON.parse(p.out);
      assert.equal(answer.ok, false);
      assert.equal(answer.error.code, "CANCELLED");
      assert.equal(answer.structured.text, "on the way\n");
      assert.equal(runJson(home, ["runs", "list"]).json.structured.runs[0].status, "cancelled");
      assert.ok(children.every((pid) => !isAlive(pid)), "no process is left");
    }));

test("a person sees the cancel in words", () =>
  withHome({}, async (home, running) => {
    const p = begin(home, running, ["js", "-e", ENDLESS]);
    await until("the script runs", () => runJson(home, ["runs", "list"]).json.structured.runs[0]?.status === "running");
    p.kill("SIGINT");
    assert.equal((await soon(p.end, "the end")).code, 130);
    assert.match(p.err, /stopping/);
    assert.match(p.err, /^error: CANCELLED: /m);
  }));

test("two signals at once end it just the same, and the next start closes the run", () =>
  withHome({}, async (home, running) => {
    const p = await beginEndless(home, running);
    p.kill("SIGINT");
    p.kill("SIGTERM");
    const { code } = await soon(p.end, "the end");
    assert.ok(code === 130 || code === 143, String(code));
    const { status } = runJson(home, ["runs", "list"]).json.structured.runs[0];
    assert.ok(status === "cancelled" || status === "interrupted", status);
  }));

test("runs cancel reaches a run of another process; --all reaches every one", () =>
  withHome({}, async (home, running) => {
    const first = await beginEndless(home, running);
    const cancelled = run(home, ["runs", "cancel", "last"]);
    assert.equal(cancelled.status, 0, cancelled.stderr);
    assert.equal((await soon(first.end, "the end")).code, 7);
    assert.equal(JSON.parse(first.out).error.code, "CANCELLED");
    const again = run(home, ["runs", "cancel", "last"]);
    assert.equal(again.status, 4, "it has ended");

    const two = [await beginEndless(home, running), await beginEndless(home, running)];
    assert.equal(runJson(home, ["runs", "cancel", "--all"]).json.structured.cancelled.length, 2);
    for (const p of two) assert.equal((await soon(p.end, "the end")).code, 7);
    assert.match(run(home, ["runs", "cancel", "--all"]).stdout, /nothing is running/);
  }));

test("runs logs -f shows what is said while it is said, and ends with the run", () =>
  withHome({}, async (home, running) => {
    const p = await beginEndless(home, running);
    const follow = begin(home, running, ["runs", "logs", "last", "-f"]);
    await until("the printed line", () => follow.out.includes("on the way\n"));
    assert.equal(follow.exitCode, null);
    run(home, ["runs", "cancel", "last"]);
    await soon(p.end, "the run");
    assert.deepEqual(await soon(follow.end, "the end of the log"), { code: 0, signal: null });
  }));

test("runs logs -f of a run whose process was killed ends, and the run is interrupted", () =>
  withHome({}, async (home, running) => {
    const p = await beginEndless(home, running);
    const follow = begin(home, running, ["runs", "logs", "last", "-f"]);
    await until("the printed line", () => follow.out.includes("on the way\n"));
    p.kill("SIGKILL");
    assert.equal((await soon(follow.end, "the end of the log")).code, 0);
    assert.equal(runJson(home, ["runs", "list"]).json.structured.runs[0].status, "interrupted");
  }));

test("runs logs -f ends at once with the signal's status", () =>
  withHome({}, async (home, running) => {
    await beginEndless(home, running);
    const follow = begin(home, running, ["runs", "logs", "last", "-f"]);
    await until("the printed line", () => follow.out.includes("on the way\n"));
    follow.kill("SIGINT");
    assert.equal((await soon(follow.end, "the end of the log")).code, 130);
  }));

test("what a run still uses is not deleted under it", () =>
  withHome({}, async (home, running) => {
    const p = await beginEndless(home, running);
    for (const args of [["scratch", "empty"], ["sessions", "rm", "default"], ["purge", "--workspace", "."]]) {
      const r = run(home, args);
      assert.equal(r.status, 5, args.join(" ") + r.stdout + r.stderr);
      assert.match(r.stderr, /^error: BUSY: /);
    }
    assert.match(run(home, ["runs", "show", "last"]).stdout, /status +running/);
    p.kill("SIGTERM");
    await soon(p.end, "the end");
  }));

test("mcp ends with the signal's status, without children", () =>
  withHome({}, async (home) => {
    const client = new McpClient(home);
    await client.initialize();
    const call = client.call("js_run", { code: "while (true) {}" });
    call.catch(() => {});
    await until("a run", () => childrenOf(client.process.pid).length > AT_REST);
    const children = childrenOf(client.process.pid);
    client.process.kill("SIGTERM");
    assert.equal((await soon(client.exit, "the end")).code, 143);
    assert.ok(children.every((pid) => !isAlive(pid)), "no process is left");
  }));

test("a state file that is no database is told in words", () =>
  withHome({}, (home) => {
    run(home, ["js", "-e", "1"]);
    const bad = join(home.env.ALISIO_STATE_HOME, "sessions.sqlite");
    writeFileSync(bad, "this is no database");
    const r = run(home, ["runs", "list"]);
    assert.equal(r.status, 70, r.stderr);
    assert.match(r.stderr, /^error: INTERNAL: /);
  }));
