// `alisio run` and its neighbours as a person types them: text, prompts, sessions, providers and keys.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentRig, APIS, KEY, KEY_ENV, soon, startFake } from "../fake/lib.mjs";
import { alisio, makeHome, run, runJson } from "./lib.mjs";

const call = (name, args) => ({ name, arguments: args });
const cleanups = [];
after(() => Promise.all(cleanups.map((fn) => fn())));
async function rigOf(...args) {
  const rig = await agentRig(...args);
  cleanups.push(() => rig.close());
  return rig;
}
function homeOf(files) {
  const home = makeHome(files);
  cleanups.push(() => home.remove());
  return home;
}
async function fakeOf(scenario, options) {
  const fake = await startFake(scenario, options);
  cleanups.push(() => fake.close());
  return fake;
}

// The binary without waiting in between, since the fake answers from this process.
function start(home, args, { input = "", env = {}, stdio = ["pipe", "pipe", "pipe"] } = {}) {
  const child = spawn(alisio, args, { cwd: home.workspace, env: { ...home.env, ...env }, stdio });
  let stdout = "", stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  if (child.stdin) child.stdin.on("error", () => {}).end(input);
  return soon(new Promise((done) => child.on("close", (status) => done({ status, stdout, stderr }))), args.join(" "));
}

describe("run", () => {
  for (const api of APIS)
    it(`asks an endpoint that only the line names (${api})`, async () => {
      const fake = await fakeOf([{ text: "hello" }]), home = homeOf();
      const r = await start(home, ["run", "--base-url", fake.base(api), "--api", api, "--model", "m", "--key-env", "K", "hi"], { env: { K: "k" } });
      assert.equal(r.stdout, "hello\n", r.stderr);
      assert.equal(r.status, 0);
      assert.deepEqual(fake.violations, []);
      assert.match(r.stderr, /^session ses_\w+, [\d,]+ tokens in, [\d,]+ out, /m);
      assert.equal(fake.requests.filter((q) => q.api)[0].body.model, "m");
    });

  it("puts the model's text on standard output, and all else on standard error", async () => {
    const rig = await rigOf("chat", [{ text: "I look.", calls: [call("read_file", { path: "a.txt" })] }, { text: "It says hello." }], { files: { "a.txt": "hello" } });
    const r = await rig.run(["what?"]);
    assert.equal(r.stdout, "I look.\nIt says hello.\n");
    assert.match(r.stderr, /^> read_file \{"path":"a.txt"\}$/m);
    assert.match(r.stderr, /^ {2}done in \d/m);
  });

  it("takes the prompt from the line, from standard input, or both", async () => {
    const rig = await rigOf("chat", () => ({ text: "ok" }));
    const asked = () => rig.fake.requests.filter((q) => q.api).at(-1).body.messages.at(-1).content;
    for (const [args, input, want] of [[["one"], "never read", "one"], [["-"], "from input\n", "from input\n"], [["one", "-"], "two", "one\n\ntwo"], [["one", "-"], "", "one"], [["--", "--json"], "", "--json"]]) {
      const r = await start(rig.home, ["run", ...args], { input });
      assert.equal(r.status, 0, r.stderr);
      assert.equal(asked(), want);
    }
    const r = await start(rig.home, ["run", "-"], { input: Buffer.from([0xff, 0xfe]) });
    assert.equal(r.status, 2);
    assert.match(r.stderr, /not valid UTF-8/);
    const big = await start(rig.home, ["run", "-"], { input: "x".repeat((1 << 20) + 1) });
    assert.equal(big.status, 2);
    assert.match(big.stderr, /1 MiB|1024 KiB/);
  });

  it("needs no terminal and touches none: closed standard input, no TERM, a session of its own", async () => {
    const rig = await rigOf("chat", [{ text: "fine" }]);
    const child = spawn("setsid", ["-w", "sh", "-c", `"$ALISIO" run x <&-`], { cwd: rig.home.workspace, env: { ...rig.home.env, ALISIO: alisio }, stdio: ["ignore", "pipe", "pipe"] });
    let out = "", err = "";
    child.stdout.on("data", (text) => (out += text));
    child.stderr.on("data", (text) => (err += text));
    const status = await soon(new Promise((done) => child.on("close", done)), "the end");
    assert.equal(out, "fine\n", err);
    assert.equal(status, 0);
  });

  it("shows control characters, but in a pipe with --raw", async () => {
    const payload = "a\u001b]0;owned\u0007b\u001b[2Jc\u202ed\u0000e\r\n\tz";
    const rig = await rigOf("chat", () => ({ text: payload }));
    const shown = await rig.run(["x"]);
    assert.ok(!/[\u0000-\u0008\u000b-\u001f\u202e]/.test(shown.stdout), JSON.stringify(shown.stdout));
    assert.match(shown.stdout, /a\\x1b\]0;owned\\x07b/);
    assert.ok(shown.stdout.endsWith("\n\tz\n"));
    const raw = await rig.run(["--raw", "x"]);
    assert.equal(raw.stdout, payload.replace("\u0000", "\ufffd") + "\n");
  });

  it("drops what an attempt had said that broke off", async () => {
    const rig = await rigOf("chat", [{ text: "a first half that never ends well", cut: { event: 4, how: "end" } }, { text: "the whole" }]);
    const r = await rig.run(["x"]);
    assert.equal(r.stdout, "the whole\n");
    assert.match(r.stderr, /connection lost, asking again/);
    assert.match(r.stderr, /≥ /);
  });

  it("counts money by the prices of the configuration, and none without them", async () => {
    const usage = { input: 1_000_000, output: 100_000 };
    const rig = await rigOf("chat", () => ({ text: "x", usage }), { provider: { models: { fake: { price: { input: 3, output: 15 } } } } });
    const r = await rig.run(["--json", "x"]);
    assert.equal(r.last.data.costUsd, 4.5);
    assert.match((await rig.run(["x"])).stderr, /\$4\.5000/);
  });

  it("goes on with a session, and says how", async () => {
    const rig = await rigOf("chat", () => ({ text: "yes" }));
    const first = await rig.run(["--json", "one"]), id = first.last.sessionId;
    const sent = () => rig.fake.requests.filter((q) => q.api).at(-1).body.messages.filter((m) => m.role === "user").map((m) => m.content);
    await rig.run(["--session", id, "two"]);
    assert.deepEqual(sent(), ["one", "two"]);
    await rig.resume(["last", "three"]);
    assert.deepEqual(sent(), ["one", "two", "three"]);
    const forked = await rig.resume(["--fork", "--json", id, "four"]);
    assert.deepEqual(sent(), ["one", "two", "three", "four"]);
    assert.notEqual(forked.last.sessionId, id);
    await rig.resume([id, "five"]);
    assert.deepEqual(sent(), ["one", "two", "three", "five"]);
    // From another folder it goes on in its own.
    const elsewhere = join(rig.home.dir, "elsewhere");
    mkdirSync(elsewhere);
    const r = spawnAt(elsewhere, rig, ["resume", "--json", id, "six"]);
    assert.equal(JSON.parse((await r).stdout.split("\n")[0]).data.workspace, rig.home.workspace);
    const nothing = await rig.resume([id]);
    assert.equal(nothing.status, 2, nothing.stderr);
    const list = runJson(rig.home, ["sessions", "list"]).json.structured.sessions;
    assert.deepEqual(list.map((s) => [s.kind, s.title]).sort(), [["agent", "one"], ["agent", "one"]]);
  });

  it("is shown with its turns, and can be deleted", async () => {
    const rig = await rigOf("chat", [{ text: "yes" }, { reply: { status: 400, error: { type: "invalid_request_error", message: "no\u001b[31m" } } }]);
    const first = await rig.run(["--json", "one"]), id = first.last.sessionId;
    await rig.resume([id, "two"]);
    const { turns, session } = runJson(rig.home, ["sessions", "show", "last"]).json.structured;
    assert.equal(session.sessionId, id);
    assert.deepEqual(turns.map((t) => [t.status, t.code]), [["completed", undefined], ["failed", "UPSTREAM_REJECTED"]]);
    assert.match(run(rig.home, ["sessions", "show", id]).stdout, /^turns .* completed, fake, 1 answer, 0 calls, \d+ tokens in, \d+ out$/m);
    assert.equal(run(rig.home, ["sessions", "rm", id]).status, 0);
    assert.equal((await rig.resume([id, "three"])).status, 4);
  });

  it("refuses a session that is no conversation", async () => {
    const rig = await rigOf("chat", []);
    run(rig.home, ["js", "-e", "1"]);
    const [own] = runJson(rig.home, ["sessions", "list"]).json.structured.sessions;
    const r = await rig.run(["--session", own.sessionId, "x"]);
    assert.equal(r.status, 2);
    assert.match(r.stderr, /holds no conversation with a model/);
  });

  it("says that a pile of words is to be put in quotes", async () => {
    const r = run(homeOf(), ["run", "fix", "the", "bug"]);
    assert.equal(r.status, 2);
    assert.match(r.stderr, /in quotes/);
  });
});

const spawnAt = (cwd, rig, args) => start({ workspace: cwd, env: rig.home.env }, args);

describe("keys", () => {
  it("are taken from --key-env, the provider's variable, the credentials file, in that order", async () => {
    const rig = await rigOf("chat", () => ({ text: "x" }), { fake: { key: null } });
    delete rig.home.env[KEY_ENV];
    const used = () => rig.fake.requests.filter((q) => q.api).at(-1).headers.authorization;
    const file = join(rig.home.env.ALISIO_CONFIG_HOME, "credentials.json");
    writeFileSync(file, JSON.stringify({ providers: { fake: { key: "of-the-file" } } }), { mode: 0o600 });
    await rig.run(["x"]);
    assert.equal(used(), "Bearer of-the-file");
    await rig.run(["x"], { env: { [KEY_ENV]: "of-the-provider" } });
    assert.equal(used(), "Bearer of-the-provider");
    await rig.run(["--key-env", "MINE", "x"], { env: { [KEY_ENV]: "of-the-provider", MINE: "of-the-flag" } });
    assert.equal(used(), "Bearer of-the-flag");
    const unset = await rig.run(["--key-env", "MINE", "x"], { env: { [KEY_ENV]: "of-the-provider" } });
    assert.equal(unset.status, 3);
    assert.match(unset.stderr, /AUTH_REQUIRED.*MINE.*is not set/);
    chmodSync(file, 0o640);
    const open = await rig.run(["x"]);
    assert.equal(open.status, 2);
    assert.match(open.stderr, /open to other users.*chmod 600/s);
    assert.ok(!open.stderr.includes("of-the-file"));
  });

  it("are asked for where one is needed", async () => {
    const home = homeOf();
    const r = await start(home, ["run", "--provider", "anthropic", "--model", "m", "x"]);
    assert.equal(r.status, 3);
    assert.match(r.stderr, /AUTH_REQUIRED: there is no key for anthropic\nhint: export ANTHROPIC_API_KEY=…/);
  });

  it("of another provider never go to an endpoint that --base-url names", async () => {
    const fake = await fakeOf(() => ({ text: "x" }), { key: null }), home = homeOf();
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify({ provider: "openai", model: "m" }), { mode: 0o600 });
    const r = await start(home, ["run", "--base-url", fake.base("chat"), "--model", "m", "x"], { env: { OPENAI_API_KEY: "canary" } });
    assert.equal(r.status, 3, r.stderr); // the endpoint wants one
    assert.equal(fake.requests.filter((q) => q.api)[0].headers.authorization, undefined);
  });

  it("of a project's configuration are none, and its provider is ignored with a notice", async () => {
    const rig = await rigOf("chat", () => ({ text: "x" }));
    mkdirSync(join(rig.home.workspace, ".alisio"));
    writeFileSync(join(rig.home.workspace, ".alisio/config.json"), JSON.stringify({ provider: "evil", providers: { evil: { baseUrl: "http://evil.example" } }, maxTurns: 1 }));
    const r = await rig.run(["--trust-project", "x"]);
    assert.equal(r.stdout, "x\n");
    assert.match(r.stderr, /warning: .*providers: only the user's own configuration may name them/);
  });
});

describe("setup provider", () => {
  const config = (home) => JSON.parse(readFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), "utf8"));
  const secrets = (home) => join(home.env.ALISIO_CONFIG_HOME, "credentials.json");

  it("writes an entry, keeps the file's other bytes, and says what to run", () => {
    const home = homeOf();
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), '{\n  "maxTurns":   7\n}\n', { mode: 0o600 });
    const r = run(home, ["setup", "provider", "ollama", "--model", "qwen3"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(r.stdout, /next: alisio run "/);
    assert.deepEqual(config(home), { maxTurns: 7, providers: { ollama: { model: "qwen3" } }, provider: "ollama" });
    assert.match(readFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), "utf8"), /"maxTurns": {3}7/);
    assert.ok(!existsSync(secrets(home)));
    // A second one is there beside the first, which stays the one that is used.
    const second = runJson(home, ["setup", "provider", "anthropic", "--model", "m", "--key-env", "MY_KEY"]);
    assert.deepEqual(second.json.structured, { provider: "anthropic", changed: true, keyStored: false, entry: { model: "m", keyEnv: "MY_KEY" } });
    assert.equal(config(home).provider, "ollama");
  });

  it("takes a key from standard input with -, into a file of its owner's alone", () => {
    const home = homeOf();
    const r = run(home, ["setup", "provider", "openai", "-", "--model", "m"], { input: "sk-canary-0123456789\n" });
    assert.equal(r.status, 0, r.stderr);
    assert.deepEqual(JSON.parse(readFileSync(secrets(home), "utf8")), { providers: { openai: { key: "sk-canary-0123456789" } } });
    assert.equal(statSync(secrets(home)).mode & 0o777, 0o600);
    assert.ok(!(r.stdout + r.stderr + JSON.stringify(config(home))).includes("canary"));
    for (const command of [["doctor"], ["forge", "status"], ["config", "show"], ["models", "show", "m"]]) {
      const shown = run(home, command, { timeout: 60_000, env: { https_proxy: "http://127.0.0.1:1" } });
      assert.ok(!(shown.stdout + shown.stderr).includes("canary"), command.join(" "));
    }
    const word = run(home, ["setup", "provider", "openai", "sk-canary"]);
    assert.equal(word.status, 2);
    assert.match(word.stderr, /never an argument/);
  });

  it("changes nothing with --dry-run, nor when what it is told is wrong", () => {
    const home = homeOf();
    const dry = run(home, ["setup", "provider", "local", "--base-url", "http://127.0.0.1:1/v1", "--api", "responses", "--dry-run"]);
    assert.equal(dry.status, 0);
    assert.match(dry.stdout, /"api": "responses"/);
    for (const args of [["a b"], ["x"], [], ["x", "--base-url", "http://me:pw@h/"], ["openai", "--api", "soap"], ["openai", "--key-env", "sk-1"]]) {
      const r = run(home, ["setup", "provider", ...args]);
      assert.equal(r.status, 2, args.join(" ") + r.stderr);
    }
    assert.ok(!existsSync(join(home.env.ALISIO_CONFIG_HOME, "config.json")));
  });

  it("tries the endpoint with --probe, before it writes", async () => {
    const fake = await fakeOf([], { models: { list: [{ id: "fake" }] } }), home = homeOf();
    const good = await start(home, ["setup", "provider", "local", "--base-url", fake.base("chat"), "--model", "fake", "--probe"]);
    assert.equal(good.status, 0, good.stderr);
    assert.match(good.stdout, /answers, with 1 model; the chosen one is among them/);
    const bad = await start(home, ["setup", "provider", "other", "--base-url", "http://127.0.0.1:1/v1", "--model", "fake", "--probe"]);
    assert.equal(bad.status, 6, bad.stderr);
    assert.match(bad.stderr, /nothing was changed/);
    assert.deepEqual(Object.keys(config(home).providers), ["local"]);
  });
});

describe("models", () => {
  it("lists them with their windows, and marks the one that is used", async () => {
    const rig = await rigOf("chat", [], { fake: { models: { list: [{ id: "fake", max_model_len: 8192 }, { id: "other" }] } } });
    const r = await start(rig.home, ["models", "--json"]);
    const { models, model } = JSON.parse(r.stdout).structured;
    assert.equal(model, "fake");
    assert.deepEqual(models.map((m) => m.id), ["fake", "other"]);
  });

  it("shows where each number of one comes from", async () => {
    const rig = await rigOf("chat", [], { provider: { contextWindow: 65536, models: { fake: { contextWindow: 4096, price: { input: 1, output: 2 } } } } });
    const r = await start(rig.home, ["models", "show", "fake"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(r.stdout, /^window +4,096 tokens \(models in config.json\)$/m);
    assert.match(r.stdout, /^output +1,024 tokens \(a quarter of the window\)$/m);
    assert.match(r.stdout, /^price +\$1 input, \$2 output, a million tokens each$/m);
    assert.match(r.stdout, /^key +from the environment: FAKE_API_KEY$/m);
    assert.ok(!r.stdout.includes(KEY));
  });

  it("shows what an endpoint taught: the second run does not send it again", async () => {
    const rig = await rigOf("chat", () => ({ text: "x" }), { fake: { refuse: ["stream_options"] } });
    const first = await rig.run(["x"]);
    assert.equal(first.status, 0, first.stderr);
    const r = await start(rig.home, ["models", "show", "fake"]);
    assert.match(r.stdout, /^learned +it refuses stream_options/m);
    const before = rig.fake.requests.filter((q) => q.api).length;
    await rig.run(["x"]);
    const sent = rig.fake.requests.filter((q) => q.api).slice(before);
    assert.equal(sent.length, 1);
    assert.equal(sent[0].body.stream_options, undefined);
  });

  it("tells what is known when the endpoint cannot be asked", async () => {
    const r = await start(homeOf(), ["models", "show", "m", "--base-url", "http://127.0.0.1:1/v1"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(r.stderr, /the endpoint could not be asked/);
    const list = await start(homeOf(), ["models", "--base-url", "http://127.0.0.1:1/v1"]);
    assert.equal(list.status, 6);
  });
});

describe("context explain", () => {
  it("names each file with its bytes, and whose words it has", () => {
    const home = homeOf({ "AGENTS.md": "be kind\n", "sub/AGENTS.md": "be quick\n" });
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "AGENTS.md"), "mine\n");
    const { files } = runJson(home, ["context", "explain", "sub"]).json.structured;
    assert.deepEqual(files.map((f) => [f.bytes, f.trusted]), [[5, true], [8, false], [9, false]]);
    assert.match(run(home, ["context", "explain", "sub"]).stdout, /yours[^]*not trusted[^]*not trusted/);
    assert.match(run(home, ["context", "explain", "sub", "--trust-project"]).stdout, /yours[^]* trusted[^]* trusted/);
    assert.equal(run(home, ["context", "explain", "nowhere"]).status, 4);
  });
});
