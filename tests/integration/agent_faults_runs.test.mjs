// Faults that agents have met, each as an input for the real binary: retries and limits, the context window, the output of a
// run without a terminal. (agent_faults: streams, calls, what is particular to an API.)
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { alisio, root, until } from "./lib.mjs";
import { APIS, agentRig, soon, textOf } from "../fake/lib.mjs";
import { askedAgain, completed, each, failed, go, told, wellFormed } from "../fake/faults.mjs";

const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };
const read = (path, more = {}) => ({ name: "read_file", arguments: { path }, ...more });
const APPEND = (url) => ({ name: "shell", arguments: { command: `curl -s ${url}/_fake/effect/call >/dev/null; echo ran >> ran.txt` } });
const reply = (status, error, headers) => ({ reply: { status, error, headers } });

// What needs a clock that can be set is shown beside the code; these tests must be there.
const ELSEWHERE = [
  ["test_llm_ask.c", "ten_minutes_of_comments_are_no_failure"],
  ["test_llm_ask.c", "after_a_sleep_a_dead_connection_costs_no_retry"],
  ["test_http_reach.c", "kept_connections_that_are_dropped_are_not_used_again"],
];

describe("retries, limits and time", { concurrency: 4 }, () => {
  it("38: a cut after 100 deltas of text doubles nothing", each((api) =>
    go(api, [{ text: "x".repeat(300), wire: { split: 2 }, cut: { event: 104, how: "reset" } }, { text: "whole" }], {}, (r) => {
      askedAgain(r, "cut");
      assert.ok(r.of("request_retry")[0].data.discardedChars >= 190);
      completed(r, "whole");
      const attempts = new Set(r.of("text_delta").map((e) => e.data.attempt));
      assert.deepEqual([...attempts], [1, 2]);
      assert.equal(textOf(r.events.filter((e) => e.data.attempt === 2)), "whole");
    })));
  it("38: a complete call before the cut runs once, in the attempt that ended", each((api) => {
    let url;
    const scenario = ({ n, request }) => {
      url = `http://${request.headers.host}`;
      return n === 0 ? { calls: [APPEND(url), APPEND(url)], dropLast: api === "chat" ? 3 : api === "messages" ? 2 : 1 } : n === 1 ? { calls: [APPEND(url)] } : { text: "done" };
    };
    return go(api, scenario, { args: ["--allow-process"] }, (r, rig) => {
      askedAgain(r, "cut");
      completed(r, "done");
      assert.equal(readFileSync(join(rig.home.workspace, "ran.txt"), "utf8"), "ran\n");
    });
  }));
  it("39: a request that was taken and not answered counts, and what it cost is unknown", each((api) =>
    go(api, [{ reset: true }, { text: "done", usage: { input: 10, output: 2 } }], {}, (r, rig) => {
      completed(r, "done");
      assert.equal(r.of("request_retry").length, 1);
      assert.equal(r.of("turn_completed")[0].data.attemptsUnknown, 1);
      assert.equal(r.last.data.usage.estimated, true);
      assert.equal(rig.fake.requests.length, 2);
    })));
  it("39: attempts are bounded", () =>
    go("chat", Array(9).fill({ reset: true }), {}, (r, rig) => {
      failed(r, "UPSTREAM_UNAVAILABLE");
      assert.equal(r.status, 6);
      assert.equal(rig.fake.requests.length, 5);
    }));

  const waits = {
    "retry-after-ms": [{ "retry-after-ms": "700" }, 700, 1000],
    "seconds": [{ "retry-after": "1" }, 1000, 1100],
    "ms before seconds": [{ "retry-after-ms": "600", "retry-after": "9" }, 600, 1000],
    "0": [{ "retry-after": "0" }, 0, 500],
    "-1": [{ "retry-after": "-1" }, 375, 500],
    "a text": [{ "retry-after": "soon" }, 375, 500],
    "a date that has passed": [{ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 0, 500],
  };
  for (const [name, [headers, least, most]] of Object.entries(waits))
    it(`40: 429 that asks to wait: ${name}`, () =>
      go("chat", [reply(429, { message: "slower", code: "rate_limit_exceeded" }, headers), { text: "done" }], {}, (r, rig) => {
        completed(r, "done");
        const [retry] = r.of("request_retry");
        assert.equal(retry.data.reason, "rate_limit");
        assert.ok(retry.data.waitMs >= least && retry.data.waitMs <= most, `waited ${retry.data.waitMs}`);
        assert.ok(rig.fake.requests[1].at - rig.fake.requests[0].at >= least - 1);
      }));
  it("40: a day is not waited for: it is said until when", each((api) =>
    go(api, [reply(429, { message: "slower", type: "rate_limit_error" }, { "retry-after": "86400" })], {}, (r) => {
      failed(r, "UPSTREAM_UNAVAILABLE", /20\d\d-|until/);
      askedAgain(r, "", 0);
    })));
  it("40: half a minute is waited for, and a cancel ends the wait at once", async () => {
    const rig = await agentRig("messages", [reply(429, { message: "slower", type: "rate_limit_error" }, { "retry-after": "30" })]);
    try {
      let sent;
      const run = rig.start(["--json", "go"], { onEvent: (e, r) => { if (e.type === "request_retry") { sent = performance.now(); r.child.kill("SIGINT"); } } });
      const r = told(await run.done, rig);
      assert.ok(r.of("request_retry")[0].data.waitMs >= 30_000);
      assert.equal(r.last.type, "run_cancelled");
      assert.equal(r.status, 130);
      assert.ok(performance.now() - sent < 5000);
    } finally {
      await rig.close();
    }
  });

  const money = [
    ["chat", 429, { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" }],
    ["responses", 429, { message: "The organization's budget is spent", code: "organization_spend_limit_exceeded" }],
    ["messages", 402, { message: "Your credit balance is too low", type: "billing_error" }],
    ["messages", 429, { message: "Your spending limit is reached", type: "rate_limit_error", details: { error_code: "enforced_spend_limit_reached" } }],
  ];
  for (const [api, status, error] of money)
    it(`41: ${api} ${status} of money is not asked again, and the words are shown: ${error.message}`, () =>
      go(api, [reply(status, error)], {}, (r) => {
        failed(r, "UPSTREAM_REJECTED", new RegExp(error.message));
        assert.equal(r.status, 6);
        askedAgain(r, "", 0);
      }));

  it("42, 43: minutes of patience, and sleep, have their tests with a clock of their own", () => {
    for (const [file, fact] of ELSEWHERE) assert.match(readFileSync(join(root, "tests/unit", file), "utf8"), new RegExp(`cmocka_unit_test\\w*\\(${fact}`));
  });

  const fields = {
    chat: ["stream_options", "max_tokens", "temperature", "reasoning_effort", "prompt_cache_key"],
    responses: ["store", "include", "strict", "reasoning_effort", "prompt_cache_key", "temperature"],
    messages: ["cache_control", "temperature"],
  };
  const every = Boolean(process.env.ALISIO_EVERY_API);
  const refusals = Object.fromEntries(APIS.map((api) => [api, [fields[api], ...(every ? fields[api].map((f) => [f]) : [])]]));
  for (const api of APIS)
    for (const refuse of refusals[api])
      it(`44: ${api} without ${refuse.join(" and ")}: left out once, and never sent again`, async () => {
        const rig = await agentRig(api, () => ({ text: "done" }), { fake: { refuse }, provider: { temperature: 0.2, reasoningEffort: "low" } });
        try {
          const r = told(await rig.run(["--json", "go"]), rig);
          completed(r, "done");
          const first = rig.fake.requests.length;
          assert.ok(first <= 1 + refuse.length);
          completed(told(await rig.run(["--json", "go"]), rig), "done");
          assert.equal(rig.fake.requests.length, first + 1, rig.fake.requests.map((q) => q.refused).join("; "));
        } finally {
          await rig.close();
        }
      });

  it("44: more output than the model writes: what it says is learned, and asked for no more", each(async (api) => {
    const rig = await agentRig(api, () => ({ text: "done" }), { fake: { maxOutput: 4096 } });
    try {
      for (let i = 0; i < 2; i++) completed(told(await rig.run(["--json", "go"]), rig), "done");
      assert.deepEqual(rig.fake.requests.map((q) => q.body.max_tokens ?? q.body.max_output_tokens), [16384, 4096, 4096]);
    } finally {
      await rig.close();
    }
  }));
});

// --- the window ---

const isSummary = (body) => body.tool_choice === "none" || body.tool_choice?.type === "none";
const overflow = (status, error) => ({ reply: { status, error } });

// A session of some turns, each with calls and a long text; then what is to be seen.
async function longSession(api, last, o, fn) {
  let summaries = 0, asked = 0;
  const scenario = (x) => {
    if (isSummary(x.body)) {
      summaries++;
      return (o.summary ?? (() => ({ text: "In short: files were read.", usage: { input: 900, output: 20 } })))(x);
    }
    asked++;
    if (asked <= 4) return asked % 2 ? { text: "I look. ".repeat(60), calls: [read("a.txt"), read("b.txt")] } : { text: `Turn ${asked}. ${"Long words. ".repeat(300)}` };
    return last(asked - 4, x);
  };
  const rig = await agentRig(api, scenario, { files: FILES, config: { compaction: { keepTurns: 1 } }, ...o });
  try {
    let r = told(await rig.run(["--json", "the first question"]), rig);
    const session = r.last.data.sessionId;
    completed(told(await rig.resume(["--json", session, "question 2"]), rig));
    r = told(await rig.resume(["--json", session, "the newest question, word for word"]), rig, o);
    await fn(r, rig, { session, summaries: () => summaries, before: rig.fake.requests.length });
  } finally {
    await rig.close();
  }
}
const BIG = { contextWindow: 200_000 };

describe("the context window", { concurrency: 4 }, () => {
  const shapes = [
    ["chat", "a code", overflow(400, { message: "This model's maximum context length is 100000 tokens. However, your messages resulted in 100500 tokens. Please reduce the length of the messages.", code: "context_length_exceeded", param: "messages" })],
    ["chat", "vLLM's words", overflow(400, { message: "This model's maximum context length is 100000 tokens. However, you requested 100500 tokens in the messages, please reduce the length of the messages.", type: "BadRequestError", code: 400 })],
    ["chat", "llama.cpp's", { reply: { status: 400, body: { error: { code: 400, message: "the request exceeds the available context size, try increasing it", type: "exceed_context_size_error", n_prompt_tokens: 100500, n_ctx: 100000 } } } }],
    ["responses", "a code", overflow(400, { message: "Your input exceeds the context window of this model. Please adjust your input and try again.", code: "context_length_exceeded", param: "input" })],
    ["messages", "413", overflow(413, { message: "Request exceeds the maximum size", type: "request_too_large" })],
    ["messages", "its words", overflow(400, { message: "prompt is too long: 100500 tokens > 100000 maximum", type: "invalid_request_error" })],
    ["messages", "a sum of input and output", overflow(400, { message: "input length and `max_tokens` exceed context limit: 95000 + 16384 > 100000, decrease input length or `max_tokens` and try again", type: "invalid_request_error" })],
    ["messages", "the turn's end", { text: "so far", end: "context_window" }],
  ];
  for (const [api, name, step] of shapes)
    it(`45, 48: overflow told by ${api} as ${name}: one compaction, one more request`, () =>
      longSession(api, (n) => (n === 1 ? step : { text: "after all" }), { provider: BIG }, (r, rig, { summaries }) => {
        completed(r, "after all");
        assert.equal(summaries(), 1);
        assert.equal(r.of("compaction_completed").length, 1);
        const { tokensBefore, tokensAfter } = r.of("compaction_completed")[0].data;
        assert.ok(tokensAfter < tokensBefore);
      }));

  it("46: a system prompt and tools that do not fit end the run with the sizes by part", each((api) =>
    go(api, () => ({ text: "x" }), { provider: { contextWindow: 2000 } }, (r, rig) => {
      failed(r, "CONTEXT_LIMIT", /tools/);
      assert.match(JSON.stringify(r.last.data), /system/);
      assert.equal(r.status, 5);
      assert.ok(rig.fake.requests.length <= 1);
    })));
  it("46: a summary that saves nothing ends the run: no loop", () =>
    longSession("chat", () => ({ ...overflow(400, { message: "too long", code: "context_length_exceeded" }) }), { provider: BIG, summary: () => ({ text: "as long as before. ".repeat(1500) }) }, (r, rig, { summaries }) => {
      failed(r, "CONTEXT_LIMIT");
      assert.ok(summaries() <= 2);
    }));

  it("47: threshold and overflow in the same turn are one compaction", () =>
    longSession("messages", (n) => (n === 1 ? { text: "so far", end: "context_window", usage: { input: 190_000, output: 9000 } } : { text: "after all" }), { provider: BIG }, (r, rig, { summaries }) => {
      completed(r, "after all");
      assert.equal(summaries(), 1);
    }));

  it("49: a summary that fails shows its error, and the session is as before", each((api) =>
    longSession(api, (n) => (n === 1 ? overflow(413, { message: "Request exceeds the maximum size", type: "request_too_large", code: "context_length_exceeded" }) : { text: "still here" }),
      { provider: BIG, summary: () => reply(401, { message: "this key was revoked", type: "authentication_error" }) }, async (r, rig, { session }) => {
        failed(r, "AUTH_REQUIRED", /this key was revoked/);
        assert.equal(r.of("compaction_failed").length, 1);
        completed(told(await rig.resume(["--json", session, "go on"]), rig), "still here");
        assert.match(JSON.stringify(rig.fake.requests[rig.fake.requests.length - 1].body), /the first question/);
      })));

  it("50: compaction in the middle of a task: it goes on by itself, the newest question word for word", each((api) =>
    longSession(api, (n) => (n === 1 ? { calls: [read("a.txt")], usage: { input: 190_000, output: 50 } } : { text: "finished" }), { provider: BIG }, (r, rig, { summaries }) => {
      completed(r, "finished");
      assert.equal(summaries(), 1);
      const body = JSON.stringify(rig.fake.requests[rig.fake.requests.length - 1].body);
      assert.match(body, /the newest question, word for word/);
      assert.doesNotMatch(body, /the first question/);
      // The summary's request begins with what was sent before: the endpoint's cache knows it.
      const at = rig.fake.requests.findIndex((q) => isSummary(q.body));
      assert.equal(rig.fake.requests[at].body.tools.length, rig.fake.requests[at - 1].body.tools.length);
    })));

  it("52: a summary that takes long is waited for, and its beginning is told", () =>
    longSession("messages", (n) => (n === 1 ? { calls: [read("a.txt")], usage: { input: 190_000, output: 50 } } : { text: "finished" }),
      { provider: BIG, summary: () => ({ text: "In short: files were read. ".repeat(8), wire: { split: 8 }, chunk: 150, pace: 60 }) }, (r) => {
        completed(r, "finished");
        const [begun, ended] = ["compaction_started", "compaction_completed"].map((type) => Date.parse(r.of(type)[0].timestamp));
        assert.ok(ended - begun > 1000, `it took ${ended - begun} ms`);
      }));

  it("51: a window that the server says to be smaller than the configured one holds", async () => {
    const models = { dialect: "vllm", list: [{ id: "fake", window: 8192 }] };
    // The first answer waits until the list of models has been asked for.
    const rig = await agentRig("chat", [{ text: "x", hold: "asked" }, { text: "y" }], { provider: { contextWindow: 131_072 }, fake: { models } });
    try {
      const run = rig.start(["--json", "go"]);
      await rig.fake.request(0);
      await until("the question for the window", () => rig.fake.asides.length > 0);
      rig.fake.release("asked");
      const first = told(await run.done, rig);
      const second = told(await rig.resume(["--json", first.last.data.sessionId, "more"]), rig);
      assert.equal(second.events[0].data.limits.contextWindow, 8192);
      assert.ok(rig.fake.requests[1].body.max_tokens <= 8192 / 2);
    } finally {
      await rig.close();
    }
  });
  it("51: a window that nobody knows is 32,768, and it is said", () =>
    go("chat", [{ text: "x", hold: "told" }], { onEvent: (e, rig) => e.type === "notice" && rig.fake.release("told") }, (r) => assert.match(JSON.stringify(r.of("notice")), /32,?768/)));
});

// --- output without a terminal ---

describe("output of a run", { concurrency: 4 }, () => {
  it("66: standard output holds lines of JSON only: a first run, notices, children that print", each((api) =>
    go(api, [{ calls: [{ name: "shell", arguments: { command: "echo out; echo err >&2; echo more > /proc/self/fd/1" } }] }, { text: "done" }], { args: ["--allow-process"] }, (r) => {
      completed(r, "done");
      assert.match(r.of("tool_completed")[0].data.preview, /out/);
    })));

  it("67: at a terminal --json stays lines of JSON: no escape, no mode", async () => {
    const rig = await agentRig("chat", [{ text: "done" }]);
    try {
      const script = `import os,pty,sys\npid,fd=pty.fork()\nif pid==0: os.execv(sys.argv[1],sys.argv[1:])\nout=b""\nwhile True:\n  try: d=os.read(fd,65536)\n  except OSError: break\n  if not d: break\n  out+=d\nos.write(1,out)\nsys.exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))`;
      const child = spawn("python3", ["-c", script, alisio, "run", "--json", "go"], { cwd: rig.home.workspace, env: { ...rig.home.env, TERM: "xterm-256color" } });
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (d) => (out += d));
      const status = await soon(new Promise((end) => child.on("close", end)), "a run at a terminal");
      assert.equal(status, 0, out);
      assert.doesNotMatch(out, /\u001b/);
      wellFormed({ stdout: out.split("\r\n").filter((l) => l.startsWith("{")).map((l) => `${l}\n`).join("") });
    } finally {
      await rig.close();
    }
  });

  it("68: blank and CRLF lines on standard input are part of no protocol", () =>
    go("chat", [{ text: "done" }], { prompt: "-", input: "\r\n\r\nsay it\r\n" }, (r, rig) => {
      completed(r, "done");
      assert.match(JSON.stringify(rig.fake.requests[0].body.messages), /say it/);
    }));

  it("69: a tool that prints 100 MB of escapes and broken UTF-8", each((api) =>
    go(api, [{ calls: [{ name: "shell", arguments: { command: "yes \"$(printf '\\033[31m\\377\\033]0;x\\007')\" | head -c 100000000" } }] }, { text: "done" }], { args: ["--allow-process"] }, (r) => {
      completed(r, "done");
      const { preview } = r.of("tool_completed")[0].data;
      assert.ok(Array.from(preview).length <= 2000);
      assert.doesNotMatch(r.stderr, /[\u0000-\u0008\u000b-\u001f]/);
      assert.ok(r.stdout.length < 100_000);
    })));

  it("70: 100 kB in tokens of 4 bytes: the output grows with the answer, not with its square", each((api) => {
    const text = "word".repeat(25_000);
    return go(api, [{ text, wire: { split: 4 }, chunk: 65536 }], {}, (r) => {
      completed(r, text);
      assert.equal(textOf(r.events), text);
      assert.ok(r.stdout.length <= 40 * text.length + 200 * r.of("text_delta").length);
    });
  }, ["chat"]));
});
