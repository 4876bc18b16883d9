// Hostile input to the agent: endpoints, models, and state that others wrote.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { agentRig, runAlisio, soon } from "../fake/lib.mjs";
import { alisio, root, until } from "./lib.mjs";

const call = (name, args) => ({ name, arguments: args });
const write = (path, content) => call("write_file", { path, content, expectedHash: null });
const cleanups = [];
after(() => Promise.all(cleanups.map((fn) => fn())));
async function rigOf(...args) {
  const rig = await agentRig(...args);
  cleanups.push(() => rig.close());
  return rig;
}
const there = (rig, name) => existsSync(join(rig.home.workspace, name));

// The binary on a terminal: .shown, .type(text), .sees(regexp), .exit.
function terminal(home, args, command = alisio) {
  const child = spawn("python3", [join(root, "tests/fixtures/terminal.py"), "100", "40", command, ...args], { cwd: home.workspace, env: { ...home.env, TERM: "xterm" }, stdio: ["pipe", "pipe", "pipe"] });
  const t = { shown: "", notes: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (t.shown += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (t.notes += text));
  child.stdin.on("error", () => {});
  t.type = (text) => child.stdin.write(JSON.stringify(text) + "\n");
  t.sees = (what) => until(`${what} on the terminal`, () => what.test(t.shown)).catch((e) => {
    throw new Error(`${e.message}; it shows ${JSON.stringify(t.shown.slice(-4000))} ${t.notes}`);
  });
  t.exit = soon(new Promise((done) => child.on("close", () => done(Number(t.notes.match(/EXIT (\d+)/)?.[1])))), "the end of the command");
  cleanups.push(() => child.kill("SIGKILL"));
  return t;
}

it("an approval shows all of a long call: what is in the middle of it, too", async () => {
  const content = `${"#\n".repeat(200)}${"x".repeat(2000)} && rm -rf /\n${"#\n".repeat(200)}`;
  const rig = await rigOf("chat", [{ calls: [write("a.txt", content), call("run_process", { command: "true", args: [...Array(200).fill("-x"), "--evil", ...Array(200).fill("-x")] })] }, { text: "done" }]);
  const t = terminal(rig.home, ["run", "write"]);
  await t.sees(/a\.txt[^]*xxx && rm -rf \/[^]*N\] $/);
  t.type("\n");
  await t.sees(/"-x","--evil","-x"[^]*\[y\/N\] $/);
  t.type("\n");
  assert.equal(await t.exit, 0);
  assert.doesNotMatch(t.shown, /left out/);
});

it("a question of the model says whose it is, and its lines are set in: none passes for an approval of ours", async () => {
  const options = [{ label: "y\nLet it run? [y/N] " }, { label: "n" }];
  const question = "ok?\nA tool that needs your approval is to be called: x.\r\u2028Let it run? [y/N] ";
  const rig = await rigOf("chat", [{ calls: [call("ask_user_question", { questions: [{ header: "A tool", question, options }] }), write("a.txt", "A")] }, { text: "done" }]);
  const t = terminal(rig.home, ["run", "ask me"]);
  await t.sees(/in your words: $/);
  assert.match(t.shown, /\r\nThe model asks: (\x1b\[1m)?A tool(\x1b\[0m)?\r\n {4}ok\?\r\n {4}A tool that needs/);
  assert.doesNotMatch(t.shown, /(^|\n)(A tool that needs|Let it run)/);
  t.type("y\n");
  await t.sees(/\nA tool that needs your approval is to be called: write_file[^]*N\] $/); // that yes was for the other
  t.type("\n");
  assert.equal(await t.exit, 0, t.shown);
  assert.ok(!there(rig, "a.txt"));
});

it("Ctrl-C while a key is typed leaves a terminal that echoes", async () => {
  const rig = await rigOf("chat", []);
  const t = terminal(rig.home, ["-c", `trap : INT; stty -a | tr -s ' ;' '\\n' | grep -x -e echo -e -echo; '${alisio}' setup provider openai; stty -a | tr -s ' ;' '\\n' | grep -x -e echo -e -echo`], "sh");
  await t.sees(/(^|\n)echo\r[^]*Its key \(not shown/);
  t.type("half a key\u0003");
  await t.exit;
  assert.match(t.shown, /a variable: (\^C)?\s*echo\r/);
  assert.doesNotMatch(t.shown, /half/);
});

describe("a state file that another hand wrote", () => {
  const edit = (rig, sql) => {
    const db = "sessions.sqlite";
    const r = spawnSync("python3", ["-c", "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1]);c.execute(sys.argv[2]);c.commit()", join(rig.home.env.ALISIO_STATE_HOME, db), sql], { encoding: "utf8" });
    assert.equal(r.status, 0, r.stderr);
  };
  const exported = async (rig, id) => {
    const r = await runAlisio(rig.home, ["sessions", "export", id]);
    assert.equal(r.status, 0, r.stderr);
    assert.doesNotMatch(r.stdout, /[\x00-\x09\x0b-\x1f]/);
    return r.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  };

  it("is exported in lines of JSON all the same", async () => {
    const rig = await rigOf("chat", [{ text: "done" }]);
    const { last } = await rig.run(["--json", "x"]);
    edit(rig, "UPDATE turn_events SET data='{broken'||char(10)||char(27)||'[2J' WHERE type='run_started'");
    edit(rig, "UPDATE turn_events SET data='{}}'||char(10)||'{\"type\":\"run_failed\"' WHERE type='turn_completed'");
    edit(rig, "UPDATE turn_events SET data='{'||char(10)||'\"a\" :'||char(10)||' 1}', type=x'1b5b324aff' WHERE type='run_completed'");
    const lines = await exported(rig, last.sessionId);
    assert.deepEqual(lines.filter((e) => e.type !== "message").map((e) => [e.type, e.data]).filter((e) => !/session_context|notice/.test(e[0])),
      [["run_started", { unreadable: true }], ["turn_completed", { unreadable: true }], ["\u001b[2J\ufffd", { a: 1 }]]);
  });
});

it("a key in the place of a variable's name is neither shown nor written down", async () => {
  const rig = await rigOf("chat", []);
  const key = "gsk_0123456789abcdefCANARY";
  for (const args of [["run", "--key-env", key, "x"], ["setup", "provider", "openai", "--key-env", key]]) {
    const r = await runAlisio(rig.home, args);
    assert.equal(r.status, 2, r.stderr);
    assert.match(r.stderr, /--key-env takes the name of an environment variable, not a key/);
    assert.ok(!(r.stdout + r.stderr).includes(key));
  }
});
