// A person at a terminal beside a run: what they are asked, what their keys do, and what they see.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentRig, KEY_ENV, soon } from "../fake/lib.mjs";
import { alisio, isAlive, makeHome, root, until } from "./lib.mjs";

const call = (name, args) => ({ name, arguments: args });
const write = (path, content) => call("write_file", { path, content, expectedHash: null });
// The system's own where it is: what comes first in PATH may be a slow wrapper.
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const cleanups = [];
after(() => Promise.all(cleanups.map((fn) => fn())));
async function rigOf(...args) {
  const rig = await agentRig(...args);
  cleanups.push(() => rig.close());
  return rig;
}

// A command on a terminal of its own: .shown (all that it wrote), .type(text), .sees(regexp), .exit.
function terminal(home, args, { columns = 100, rows = 40, env = {}, command = [alisio] } = {}) {
  const child = spawn(python, ["-I", "-S", join(root, "tests/fixtures/terminal.py"), String(columns), String(rows), ...command, ...args], {
    cwd: home.workspace,
    env: { ...home.env, TERM: "xterm", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const t = { child, shown: "", notes: "", waiting: new Set() };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    t.shown += text;
    for (const look of t.waiting) look();
  });
  child.stderr.setEncoding("utf8").on("data", (text) => (t.notes += text));
  child.stdin.on("error", () => {});
  t.order = (order) => child.stdin.write(JSON.stringify(order) + "\n");
  t.type = (text) => t.order(text);
  t.sees = async (what, from = 0) => {
    let look;
    const seen = new Promise((done) => {
      look = () => what.test(t.shown.slice(from)) && done();
      t.waiting.add(look);
      look();
    });
    await soon(seen, `${what} on the terminal`).catch((e) => {
      throw new Error(`${e.message}; it shows ${JSON.stringify(t.shown)} ${t.notes}`);
    });
    t.waiting.delete(look);
  };
  t.pid = () => Number(t.notes.match(/PID (\d+)/)?.[1]);
  t.exit = soon(new Promise((done) => child.on("close", () => done(Number(t.notes.match(/EXIT (\d+)/)?.[1])))), "the end of the command");
  cleanups.push(() => child.kill("SIGKILL"));
  return t;
}
const results = (rig, n) => rig.fake.requests.filter((q) => q.api)[n].body.messages.filter((m) => m.role === "tool").map((m) => m.content);
const there = (rig, name) => existsSync(join(rig.home.workspace, name));

describe("an approval", () => {
  it("is given once, and the next call is asked about again; no is no", async () => {
    const rig = await rigOf("chat", [{ calls: [write("a.txt", "A")] }, { calls: [write("b.txt", "B")] }, { text: "done" }]);
    const t = terminal(rig.home, ["run", "write"]);
    await t.sees(/a\.txt[^]*\[y = once \/ s = for this session \/ N\] $/);
    assert.ok(!there(rig, "a.txt"));
    t.type("y\n");
    await t.sees(/b\.txt[^]*\[y = once \/ s = for this session \/ N\] $/, t.shown.length);
    assert.equal(readFileSync(join(rig.home.workspace, "a.txt"), "utf8"), "A");
    t.type("\n");
    await t.sees(/done/);
    assert.equal(await t.exit, 0);
    assert.ok(!there(rig, "b.txt"));
    assert.match(results(rig, 2).at(-1), /^PERMISSION_DENIED: .*the person was asked, and said no/);
  });

  it("for the session covers the next call, also after a resume", async () => {
    const rig = await rigOf("chat", [{ calls: [write("a.txt", "A")] }, { calls: [write("b.txt", "B")] }, { text: "done" }, { calls: [write("c.txt", "C")] }, { text: "more" }]);
    const t = terminal(rig.home, ["run", "write"]);
    await t.sees(/\[y = once/);
    t.type("s\n");
    assert.equal(await t.exit, 0, t.shown);
    assert.ok(there(rig, "a.txt") && there(rig, "b.txt"));
    assert.equal(t.shown.match(/\[y = once/g).length, 1);
    const again = terminal(rig.home, ["resume", "last", "again"]);
    assert.equal(await again.exit, 0, again.shown);
    assert.ok(there(rig, "c.txt"));
  });

  it("for the session is not offered for programs", async () => {
    const rig = await rigOf("chat", [{ calls: [call("run_process", { command: "touch", args: ["x"] })] }, { text: "done" }]);
    const t = terminal(rig.home, ["run", "x"]);
    await t.sees(/\[y\/N\] $/);
    t.type("s\n"); // no answer that was offered: no
    assert.equal(await t.exit, 0);
    assert.ok(!there(rig, "x"));
  });

  it("is not given by what was typed before the question stood there", async () => {
    const rig = await rigOf("chat", [{ calls: [write("a.txt", "A")], hold: { event: 1, name: "gate" } }, { text: "done" }]);
    const t = terminal(rig.home, ["run", "write"]);
    await rig.fake.request(0);
    t.type("y\ny\ny");
    await t.sees(/y\r\ny\r\ny/);
    rig.fake.release("gate");
    await t.sees(/N\] $/);
    t.type("\n");
    assert.equal(await t.exit, 0);
    assert.ok(!there(rig, "a.txt"));
  });

  for (const [what, keys] of [["the end of input", "\u0004"], ["half a line and the end of input", "y\u0004\u0004"]])
    it(`is not given by ${what}; nothing spins`, async () => {
      const rig = await rigOf("chat", [{ calls: [write("a.txt", "A")] }, { calls: [write("b.txt", "B")] }, { text: "done", hold: { event: 1, name: "gate" } }]);
      const t = terminal(rig.home, ["run", "write"]);
      await t.sees(/N\] $/);
      t.type(keys);
      await rig.fake.request(2);
      const ticks = () => { const f = readFileSync(`/proc/${t.pid()}/stat`, "utf8").split(") ")[1].split(" "); return Number(f[11]) + Number(f[12]); };
      const before = ticks(), end = performance.now() + 400;
      await until("a while", () => performance.now() > end);
      assert.ok(ticks() - before <= 10, `${ticks() - before} ticks in 400 ms`);
      rig.fake.release("gate");
      assert.equal(await t.exit, 0);
      assert.ok(!there(rig, "a.txt") && !there(rig, "b.txt"));
      assert.match(results(rig, 1)[0], /^APPROVAL_REQUIRED: .*nobody answered/);
    });

  it("is not asked for where standard input or standard error is no terminal: the tool is not even offered", async () => {
    await Promise.all([["run x", true], ["run x < /dev/null", false], ["run x 2> err", false], ["run --json x", false], ["run --read-only x", false], ["run x < /dev/null --allow-write", true]].map(async ([line, offered]) => {
      const rig = await rigOf("chat", [{ text: "hello" }]);
      const t = terminal(rig.home, ["-c", `"${alisio}" ${line}`], { command: ["sh"] });
      assert.equal(await t.exit, 0, t.shown);
      const names = rig.fake.requests.filter((q) => q.api)[0].body.tools.map((x) => x.function.name);
      assert.equal(names.includes("write_file"), offered, line);
      assert.equal(names.includes("ask_user_question"), line === "run x" || line === "run --read-only x", line);
    }));
  });
});

it("questions of the model are answered by a number, by several, or in words", async () => {
  const options = [{ label: "JSON" }, { label: "CSV", description: "for spreadsheets", recommended: true }];
  const questions = [
    { header: "Format", question: "Which one?", options },
    { header: "Parts", question: "Which parts?", options: [{ label: "one" }, { label: "two" }, { label: "three" }], multiSelect: true },
    { header: "Name", question: "What name\u001b[2J?", options },
  ];
  const rig = await rigOf("chat", [{ calls: [call("ask_user_question", { questions })] }, { text: "thanks" }]);
  const t = terminal(rig.home, ["run", "ask me"]);
  await t.sees(/Format[^]*1 {2}JSON\r\n {2}2 {2}CSV \(recommended\): for spreadsheets\r\nA number, or[^]*: $/);
  t.type("\n");
  await t.sees(/An empty line is no answer/);
  t.type("2\n");
  await t.sees(/Parts[^]*Numbers[^]*: $/);
  t.type("1, 3\n");
  await t.sees(/What name\\x1b\[2J\?[^]*words: $/);
  t.type("something of mine\n");
  assert.equal(await t.exit, 0, t.shown);
  assert.equal(results(rig, 1)[0].trim(), "Format: CSV\nParts: one, three\nName: in their own words: something of mine");
});

describe("signals", () => {
  it("Ctrl-C cancels and confirms: 130, and what there was of the answer stays", async () => {
    const rig = await rigOf("chat", [{ text: "the beginning of an answer", hold: { event: 4, name: "gate" } }]);
    const t = terminal(rig.home, ["run", "x"]);
    await t.sees(/the beginning/);
    const began = performance.now();
    t.type("\u0003");
    assert.equal(await t.exit, 130);
    assert.ok(performance.now() - began < 4000);
    assert.match(t.shown, /stopping; once more ends it at once/);
    assert.match(t.shown, /`alisio resume ses_\w+` goes on/);
  });

  it("Ctrl-C at a question leaves it: the call did not happen", async () => {
    const rig = await rigOf("chat", [{ calls: [write("a.txt", "A")] }]);
    const t = terminal(rig.home, ["run", "x"]);
    await t.sees(/N\] $/);
    t.type("\u0003");
    assert.equal(await t.exit, 130);
    assert.ok(!there(rig, "a.txt"));
    assert.equal(rig.fake.requests.filter((q) => q.api).length, 1);
  });

  it("a terminal that goes away ends it: 129, and no process of it is left", async () => {
    const rig = await rigOf("chat", [{ calls: [call("run_process", { command: "sh", args: ["-c", "echo $$ > pid; exec sleep 100"], timeoutMs: 100000 })] }]);
    const t = terminal(rig.home, ["run", "--allow-process", "x"]);
    await until("the program", () => there(rig, "pid") && readFileSync(join(rig.home.workspace, "pid"), "utf8").endsWith("\n"));
    t.order({ close: true });
    assert.equal(await t.exit, 129);
    const pid = Number(readFileSync(join(rig.home.workspace, "pid"), "utf8"));
    await until("the end of the program", () => !isAlive(pid));
  });
});

describe("what is seen", () => {
  it("an answer that breaks off is struck through, and asked for again", async () => {
    const rig = await rigOf("chat", [{ text: "a first half that never ends well", cut: { event: 4, how: "end" } }, { text: "the whole" }]);
    const t = terminal(rig.home, ["run", "x"], { columns: 20 });
    assert.equal(await t.exit, 0, t.shown);
    assert.match(t.shown, /a first half.*\u001b\[1A\r\u001b\[J\u001b\[9ma first half[^]*\u001b\[0m\r\nconnection lost, asking again/s);
    assert.match(t.shown, /the whole\r\n/);
  });

  it("control characters of the model are shown, with --raw too", async () => {
    const payload = "a\u001b]0;owned\u0007b\u001b[2Jc\u202ed\r\u001b[1Ae";
    const rig = await rigOf("chat", () => ({ text: payload, calls: [] }));
    for (const args of [["run", "x"], ["run", "--raw", "x"]]) {
      const t = terminal(rig.home, args, { env: { NO_COLOR: "1" } });
      assert.equal(await t.exit, 0);
      assert.match(t.shown, /a\\x1b\]0;owned\\x07b\\x1b\[2Jc\\u202ed\\r\\x1b\[1Ae/);
      assert.ok(!t.shown.includes("\u001b]0") && !t.shown.includes("\u202e"), JSON.stringify(t.shown));
    }
  });
});

it("setup provider asks for each thing, and shows no key", async () => {
  const home = makeHome();
  cleanups.push(() => home.remove());
  const t = terminal(home, ["setup", "provider"]);
  await t.sees(/Which provider\?[^]*2 {2}anthropic[^]*: $/);
  t.type("2\n");
  await t.sees(/Its key \(not shown[^]*: $/);
  t.type("sk-canary-0123456789\n");
  await t.sees(/The model[^]*: $/);
  t.type("claude\n");
  assert.equal(await t.exit, 0, t.shown);
  assert.ok(!t.shown.includes("canary"), t.shown);
  assert.match(t.shown, /next: alisio run/);
  const dir = home.env.ALISIO_CONFIG_HOME;
  assert.deepEqual(JSON.parse(readFileSync(join(dir, "config.json"), "utf8")), { providers: { anthropic: { model: "claude" } }, provider: "anthropic" });
  assert.deepEqual(JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8")), { providers: { anthropic: { key: "sk-canary-0123456789" } } });
  const left = terminal(home, ["setup", "provider"]);
  await left.sees(/words|: $/);
  left.type("\u0004");
  assert.equal(await left.exit, 7);
});
