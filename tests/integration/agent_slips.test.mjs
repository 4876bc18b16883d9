// What somebody types by mistake, or without having read anything: each error says what was wrong and what to type next, and
// what it says works when it is typed.
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agentRig, makeHome, runAlisio, startFake, KEY, KEY_ENV } from "../fake/lib.mjs";

const NO_MODEL = [{ reply: { status: 404, error: { message: "The model does not exist", code: "model_not_found", type: "invalid_request_error" } } }, { text: "done" }];

async function withRig(scenario, options, work) {
  const rig = await agentRig("chat", scenario, options);
  const alisio = (...args) => runAlisio(rig.home, args);
  try {
    await work(alisio, rig);
    assert.deepEqual(rig.fake.violations, []);
  } finally {
    await rig.close();
  }
}

// Nothing is configured; the flags name the endpoint.
async function without(scenario, work) {
  const fake = await startFake(scenario, { key: KEY });
  const home = makeHome();
  home.env[KEY_ENV] = KEY;
  const flags = ["--base-url", fake.base("chat"), "--key-env", KEY_ENV];
  try {
    await work((...args) => runAlisio(home, args), flags, fake, home);
    assert.deepEqual(fake.violations, []);
  } finally {
    await fake.close();
    home.remove();
  }
}

// The command between backquotes that begins so, as words.
function command(stderr, start) {
  const found = [...stderr.matchAll(/`alisio ([^`]*)`/g)].map((m) => m[1]).find((c) => c.startsWith(start));
  assert.ok(found, stderr);
  return found.split(" ");
}

describe("slips at `alisio run`", { concurrency: 4 }, () => {
  it("a prompt, a session or the quotes that are missing are named, with the line to type", async () => {
    const home = makeHome();
    try {
      for (const [args, says, next] of [
        [["run"], /the prompt is missing/, /alisio run "What is in this folder\?"/],
        [["run", "two", "words"], /more than one prompt/, /alisio run "two words"/],
        [["resume"], /which conversation/, /`alisio resume last`/],
        [["resume", "last"], /has no conversation/, /alisio run/],
        [["run", "--api", "openai", "hi"], /no model provider|chat, responses or messages/, /alisio setup provider|--provider openai/],
        [["run", "--base-url", "localhost:8080", "hi"], /must begin with/, /--base-url http:\/\/localhost:8080/],
        [["run", "--base-url", "http://127.0.0.1:1", "--api", "openai", "hi"], /chat, responses or messages, not openai/, /--provider openai/],
        [["run", "--provider", "ollama", "hi"], /no model is named for ollama/, /`alisio models --provider ollama`/],
        [["run", "--provider", "olama", "hi"], /no model provider olama/, /did you mean ollama\?/],
        [["run", "hi"], /no model provider is configured/, /`alisio setup provider`/],
      ]) {
        const r = await runAlisio(home, args);
        assert.equal(r.status, args[1] === "last" ? 4 : 2, args.join(" "));
        assert.match(r.stderr, says);
        assert.match(r.stderr, next);
        assert.equal(r.stdout, "");
      }
    } finally {
      home.remove();
    }
  });

  it("the name of a file alone is a prompt, and how to send the file is said", () =>
    withRig([{ text: "done" }], { files: { "notes.txt": "text" } }, async (alisio, rig) => {
      const r = await alisio("run", "notes.txt");
      assert.equal(r.status, 0, r.stderr);
      assert.match(r.stderr, /only the name is sent; `alisio run - < notes.txt`/);
      assert.match(JSON.stringify(rig.fake.requests[0].body.messages.at(-1)), /notes\.txt/);
    }));

  it("in the home folder it is said that file tools do not work there", () =>
    withRig([{ text: "done" }], {}, async (alisio, rig) => {
      const r = await runAlisio(rig.home, ["run", "hi"], { cwd: rig.home.env.HOME });
      assert.equal(r.status, 0, r.stderr);
      assert.match(r.stderr, /it is your home folder; start alisio in the folder of the work, or with --cwd DIR/);
    }));

  it("after a model that is not there, the two commands that are named work as they stand", () =>
    without(NO_MODEL, async (alisio, flags) => {
      const r = await alisio("run", ...flags, "--model", "wrong", "hi");
      assert.equal(r.status, 6);
      assert.doesNotMatch(r.stderr, /context window/, "no word of a window where the request was refused");
      const list = await alisio(...command(r.stderr, "models"), "--key-env", KEY_ENV);
      assert.equal(list.status, 0, list.stderr);
      assert.match(list.stdout, /fake/);
      const again = await alisio(...command(r.stderr, "resume").map((w) => (w === "M" ? "fake" : w)));
      assert.equal(again.status, 0, again.stderr);
      assert.equal(again.stdout, "done\n");
    }));
});

describe("which endpoint a conversation goes on with", { concurrency: 4 }, () => {
  it("the one it was with, where nothing is configured", () =>
    without([{ text: "one" }, { text: "two" }], async (alisio, flags) => {
      assert.equal((await alisio("run", ...flags, "--model", "fake", "hi")).status, 0);
      const r = await alisio("resume", "last", "--key-env", KEY_ENV, "more");
      assert.equal(r.status, 0, r.stderr);
      assert.equal(r.stdout, "two\n");
    }));

  it("what was said to one endpoint is not sent to another unless the line says so", async () => {
    const other = await startFake([{ text: "from the other" }, { text: "again" }], {});
    try {
      await withRig([{ text: "from the configured" }], {}, async (alisio, rig) => {
        assert.equal((await alisio("run", "--base-url", other.base("chat"), "--model", "m", "private words")).status, 0);
        const r = await alisio("resume", "last", "more");
        assert.equal(r.status, 2);
        assert.match(r.stderr, /this conversation was with .*, and your configuration names fake/);
        assert.equal(rig.fake.requests.length, 0);
        const line = /--base-url \S+ --api chat --model m/.exec(r.stderr)[0].split(" ");
        assert.equal((await alisio("resume", "last", ...line, "more")).stdout, "again\n");
        assert.equal((await alisio("resume", "last", "--provider", "fake", "more")).stdout, "from the configured\n");
      });
    } finally {
      await other.close();
    }
  });
});

describe("providers in the configuration", { concurrency: 4 }, () => {
  it("the notice of an unknown window names a command, which is typed once", () =>
    withRig([{ text: "one", hold: "told" }, { text: "two" }, { text: "three" }], { fake: { models: { dialect: "openai", list: [{ id: "fake" }] } } }, async (alisio, rig) => {
      const run = rig.start(["hi"]);
      run.child.stderr.on("data", () => /context window/.test(run.stderr) && rig.fake.release("told"));
      const r = await run.done;
      const words = command(r.stderr, "config set providers.fake.contextWindow");
      assert.doesNotMatch((await alisio("resume", "last", "more")).stderr, /context window/, "said once in a conversation");
      assert.equal((await alisio(...words.map((w) => (w === "N" ? "65536" : w)))).status, 0);
      assert.equal((await alisio("config", "get", "providers.fake.contextWindow")).stdout, "65536\n");
      assert.doesNotMatch((await alisio("run", "hi")).stderr, /context window/);
    }));

  it("a member that is not known or of a wrong kind changes nothing", () =>
    withRig([], {}, async (alisio, rig) => {
      const file = join(rig.home.env.ALISIO_CONFIG_HOME, "config.json");
      const before = readFileSync(file, "utf8");
      for (const [key, value, says] of [
        ["providers.fake.contextWindw", "65536", /the nearest is providers\.fake\.contextWindow/],
        ["providers.fake.contextWindow", "big", /must be a whole number/],
        ["providers.fake", "x", /providers\.NAME\.contextWindow/],
        ["providers.", "x", /providers\.NAME\.contextWindow/],
        ["providers.fake.baseUrl", "nonsense", /must begin with/],
      ]) {
        const r = await alisio("config", "set", key, value);
        assert.equal(r.status, 2, key);
        assert.match(r.stderr, says);
      }
      assert.equal(readFileSync(file, "utf8"), before);
      assert.equal((await alisio("config", "get", "providers.nobody")).status, 4);
      assert.match((await alisio("config", "set", "provider", "faek")).stderr, /did you mean fake\?/);
    }));

  it("config show lists the providers, and no value of their headers", () =>
    withRig([], { provider: { headers: { "X-Team": "a-secret-word" } } }, async (alisio) => {
      const r = await alisio("config", "show");
      assert.match(r.stdout, /providers\.fake +\{.*"X-Team"/);
      assert.doesNotMatch(r.stdout + (await alisio("config", "show", "--json")).stdout + (await alisio("config", "get", "providers.fake")).stdout, /a-secret-word/);
    }));

  it("a window that was learned from an overflow is forgotten when that is said", () =>
    withRig([{ reply: { status: 400, error: { message: "This model's maximum context length is 16384 tokens.", code: "context_length_exceeded", type: "invalid_request_error" } } }, { text: "done" }, { text: "again" }], {}, async (alisio) => {
      await alisio("run", "hello");
      assert.match((await alisio("models", "show")).stdout, /16,?384/);
      const forgot = await alisio("models", "forget");
      assert.equal(forgot.status, 0, forgot.stderr);
      assert.match(forgot.stdout, /fake: what was learned is forgotten/);
      assert.doesNotMatch((await alisio("models", "show")).stdout, /16,?384/);
      assert.match((await alisio("models", "forget")).stdout, /nothing was learned|is forgotten/);
    }));
});
