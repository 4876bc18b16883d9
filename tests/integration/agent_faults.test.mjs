// Faults that agents have met with model endpoints, each as an input for the real binary: streams, deltas of calls, and what is
// particular to an API. Each kind of fault has its unit tests; here it is seen end to end. (agent_faults_runs: retries, windows,
// output.)
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { APIS, agentRig, configure, providerOf } from "../fake/lib.mjs";
import { askedAgain, completed, each, failed, go, nothingRan, ran, told } from "../fake/faults.mjs";

const TEXT = "a 🌍, b é, c 你好.";
const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };
const read = (path, more = {}) => ({ name: "read_file", arguments: { path }, ...more });
const WRITE = { name: "write_file", arguments: { path: "made.txt", content: "made", expectedHash: null } };
// A chat stream of these deltas and nothing else of the answer.
const deltas = (list, more = {}) => ({ parts: [{ raw: list }], endWord: "tool_calls", ...more });
const delta = (o) => ({ tool_calls: [o] });
const resultsIn = (request) => request.body.messages.filter((m) => m.role === "tool");

describe("faults of streams", { concurrency: 4 }, () => {
  it("1: a character is split over reads at each of its bytes", each((api) =>
    go(api, [{ text: TEXT, wire: { split: "whole" }, chunk: 1 }], {}, (r) => completed(r, TEXT)), ["chat", "messages"]));

  const ways = { crlf: { eol: "\r\n" }, cr: { eol: "\r" }, "no space": { space: false }, bom: { bom: true }, fields: { noise: ["id", "retry"] } };
  for (const [name, wire] of Object.entries(ways))
    it(`2: lines end and begin in every way: ${name}`, each((api) =>
      go(api, [{ text: TEXT, wire, chunk: name === "crlf" ? 3 : undefined }], {}, (r) => completed(r, TEXT))));

  it("3: a chunk of arguments that is no JSON fails the attempt, and nothing runs", each((api) => {
    const args = '{"path":"made.txt","content":"x","expectedHash":null,"lost":"y"}';
    const isArguments = (e) => JSON.stringify(e.data).includes("lost");
    const scenario = [{ calls: [{ name: "write_file", arguments: args }], wire: { argSplit: [52, 11, 10] }, edit: (list) => list.map((e) => (isArguments(e) && !/done|completed/.test(e.event ?? "") ? { ...e, data: '{"oops' } : e)) }, { text: "again" }];
    return go(api, scenario, { args: ["--allow-write"] }, (r, rig) => {
      askedAgain(r, "malformed");
      nothingRan(r);
      completed(r, "again");
      assert.ok(!existsSync(join(rig.home.workspace, "made.txt")));
    });
  }));

  // That they count as a sign of life: agent_dialects, where nothing else keeps this process from writing in time.
  it("4: comments and events without data are ignored", each((api) =>
    go(api, [{ text: TEXT, wire: { noise: ["comment", "id"], split: 2 } }], {}, (r) => {
      completed(r, TEXT);
      askedAgain(r, "", 0);
    })));

  it("5: keep-alive events without JSON are ignored", each((api) =>
    go(api, [{ text: TEXT, wire: { noise: ["colon", "empty", "keepalive", "heartbeat", "ping"] } }], {}, (r) => completed(r, TEXT))));

  const bare = (list) => list.filter((e) => e.data !== "[DONE]" && !(e.data?.choices?.length === 0));
  it("6: a complete last event without its blank line is used", each((api) =>
    go(api, [{ text: TEXT, edit: bare, cut: { byte: -1 } }], {}, (r) => {
      completed(r, TEXT);
      askedAgain(r, "", 0);
    })));
  it("6: half of a last event is dropped: the attempt was cut", each((api) =>
    go(api, [{ text: TEXT, edit: bare, cut: { byte: -14 } }, { text: "again" }], {}, (r) => {
      askedAgain(r, "cut");
      completed(r, "again");
    })));

  const padded = (bytes) => ({ text: TEXT, edit: (list) => list.map((e, i) => (i === 2 ? { ...e, data: { ...e.data, padding: "x".repeat(bytes) } } : e)) });
  it("7: an event of 1 and of 15 MiB is read", each((api) =>
    go(api, [padded(api === "chat" ? 15 << 20 : 1 << 20)], {}, (r) => completed(r, TEXT))));
  it("7: an event over 16 MiB fails, and the limit is named", () =>
    go("messages", [padded(17 << 20)], {}, (r) => failed(r, "RESULT_TOO_LARGE", /16 MiB/)));

  it("8: 200 with an empty body is no answer", each((api) =>
    go(api, [{ raw: "" }, { text: "again" }], {}, (r) => {
      askedAgain(r, "malformed");
      completed(r, "again");
    })));
  it("8: 200 with a page of HTML is shown as what it is", each((api) =>
    go(api, [{ raw: "<html><body>Please log in</body></html>", contentType: "text/html", headers: { "x-should-retry": "false" } }], {}, (r) => failed(r, "UPSTREAM_UNAVAILABLE", /200[\s\S]*text\/html[\s\S]*Please log in/))));
  it("8: 200 with an error object is an error", each((api) =>
    go(api, [{ reply: { status: 200, body: { error: { message: "the balance is used up", type: "insufficient_quota", code: "insufficient_quota" } } } }], {}, (r) => failed(r, "UPSTREAM_REJECTED", /balance is used up/))));

  it("8: a whole answer as JSON, although a stream was asked for, is an answer", each((api) =>
    go(api, [{ reasoning: "hm", text: "I look.", calls: [read("a.txt")], whole: true }, { text: TEXT, whole: true, usage: { input: 7, output: 5 } }], { files: FILES }, (r) => {
      completed(r, TEXT);
      assert.deepEqual(ran(r), [["read_file", { path: "a.txt" }]]);
      assert.equal(r.of("turn_completed")[1].data.usage.output, 5);
    })));

  it("9: an error event without data is an error, asked again", each((api) =>
    go(api, [{ text: TEXT, error: { at: 0, shape: "bare" } }, { text: "again" }], {}, (r) => {
      askedAgain(r, "server_error");
      completed(r, "again");
    })));
  it("9: an error event as of a 400 is not asked again", each((api) =>
    go(api, [{ text: TEXT, error: { at: 1, shape: "event", type: "invalid_request_error", code: "invalid_prompt", message: "this prompt is not taken" } }], {}, (r) => {
      failed(r, "UPSTREAM_REJECTED", /this prompt is not taken/);
      askedAgain(r, "", 0);
    })));

  it("10: two objects in one event are malformed, and the host is named", each((api) =>
    go(api, Array(5).fill({ text: TEXT, wire: { broken: { at: 3, data: '{"a":1}{"a":1}' } } }), {}, (r) => {
      askedAgain(r, "malformed", 4);
      failed(r, "UPSTREAM_UNAVAILABLE", /127\.0\.0\.1/);
    })));

  it("11: events are known by their JSON where the line is missing", each((api) =>
    go(api, [{ text: TEXT, reasoning: "hm", calls: [read("a.txt")], wire: { eventLines: false } }, { text: "done", wire: { eventLines: false } }], { files: FILES }, (r) => {
      completed(r, "done");
      assert.deepEqual(ran(r), [["read_file", { path: "a.txt" }]]);
    })));

  const strange = {
    chat: (list) => list.map((e, i) => (typeof e.data === "string" ? e : { ...e, data: { ...e.data, usage: "none", created: "now", ...(i === 1 ? { choices: [{ index: 0, delta: { content: 5, refusal: [] }, finish_reason: null }] } : {}) } })),
    responses: (list) => list.map((e) => (e.event === "response.completed" ? { ...e, data: { ...e.data, response: { ...e.data.response, usage: "none" } } } : { ...e, data: { ...e.data, sequence_number: "x" } })),
    messages: (list) => list.map((e) => ({ ...e, data: { ...e.data, ...(e.data.usage ? { usage: "none" } : {}), ...(e.data.message ? { message: { ...e.data.message, usage: 7, model: [] } } : {}) } })),
  };
  it("12: a known field of a wrong type is dropped, and the event is used", each((api) =>
    go(api, [{ text: `x${TEXT}`, wire: { split: [1, 99] }, edit: strange[api] }], {}, (r) => completed(r, api === "chat" ? TEXT : `x${TEXT}`))));

  it("13: a connection that ends in the middle of arguments is a cut", each((api) =>
    go(api, [{ calls: [WRITE], wire: { argSplit: 4 }, cut: { event: 9 } }, { text: "again" }], { args: ["--allow-write"] }, (r) => {
      askedAgain(r, "cut");
      nothingRan(r);
      completed(r, "again");
    })));
  it("13: the turn ends at its marker, and the connection is left, however long it stays open", each(async (api) => {
    const started = performance.now();
    await go(api, [{ text: TEXT, linger: true, edit: bare }], {}, async (r, rig) => {
      completed(r, TEXT);
      await rig.fake.requests[0].closed;
      assert.ok(performance.now() - started < 15_000);
    });
  }));

  it("14: an empty finish_reason is none", each((api) =>
    go(api, [{ text: TEXT, endWord: "", edit: (list) => list.map((e) => (e.data?.choices?.[0] ? { ...e, data: { ...e.data, choices: [{ ...e.data.choices[0], finish_reason: "" }] } } : e)) }, { text: "again" }], {}, (r) => {
      askedAgain(r, "cut");
      completed(r, "again");
    }), ["chat"]));
});

describe("faults of the deltas of calls", { concurrency: 4 }, () => {
  const open = (more, path = "a.txt") => delta({ ...more, type: "function", function: { name: "read_file", arguments: `{"path":"${path}` } });
  const rest = (more, text = '"}') => delta({ ...more, function: { arguments: text } });
  const two = [["read_file", { path: "a.txt" }], ["read_file", { path: "b.txt" }]];
  const shapes = {
    "15: an id in the first chunk only": [[open({ index: 0, id: "c1" }), rest({ index: 0 }), open({ index: 1, id: "c2" }, "b.txt"), rest({ index: 1 })], two],
    "15: an index, but never an id": [[open({ index: 0 }), rest({ index: 0 }), open({ index: 1 }, "b.txt"), rest({ index: 1 })], two],
    "15: neither index nor id": [[open({}), rest({}), open({}, "b.txt"), rest({})], two],
    "16: two calls of the same index with different ids": [[
      delta({ index: 0, id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } }),
      delta({ index: 0, id: "c2", type: "function", function: { name: "read_file", arguments: '{"path":"b.txt"}' } })], two],
    "17: the first index is 1": [[open({ index: 1, id: "c1" }), rest({ index: 1 })], two.slice(0, 1)],
    "17: the indexes are 0 and 3": [[open({ index: 0, id: "c1" }), open({ index: 3, id: "c2" }, "b.txt"), rest({ index: 0 }), rest({ index: 3 })], two],
    "17: a later chunk has the index of another call: the id wins": [[open({ index: 0, id: "c1" }), open({ index: 1, id: "c2" }, "b.txt"), rest({ index: 1, id: "c1" }), rest({ index: 0, id: "c2" })], two],
    "24: usage on each chunk and empty lists of calls": [[{ content: "x", tool_calls: [] }, open({ index: 0, id: "c1" }), rest({ index: 0 }), { content: "y", tool_calls: [] }], two.slice(0, 1)],
  };
  for (const [name, [list, want]] of Object.entries(shapes))
    it(name, () => {
      const edit = name.startsWith("24") ? (events) => events.map((e) => (typeof e.data === "object" ? { ...e, data: { ...e.data, usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } } } : e)) : undefined;
      return go("chat", [deltas(list, { edit }), { text: "done" }], { files: FILES }, (r, rig) => {
        completed(r, "done");
        assert.deepEqual(ran(r).sort(), want);
        assert.deepEqual(resultsIn(rig.fake.requests[1]).length, want.length);
      });
    });

  it("18: the same id in every turn, and twice within one", each((api) => {
    const same = (...paths) => ({ calls: paths.map((path) => read(path, { id: "call_0" })) });
    return go(api, [same("a.txt"), same("b.txt", "a.txt"), same("b.txt"), { text: "done" }], { files: FILES }, (r, rig) => {
      completed(r, "done");
      assert.equal(new Set(r.of("tool_started").map((e) => e.data.id)).size, 4);
      assert.equal(r.of("tool_completed").length, 4);
      // Which result belongs to which call is seen from the texts.
      const text = JSON.stringify(rig.fake.requests[3].body);
      assert.equal(text.split("alpha").length, text.split("beta").length);
    });
  }, ["chat", "messages"]));

  for (const [name, args] of Object.entries({ "an empty text": "", nothing: null, null: "null", "{}": "{}" }))
    it(`19: arguments that are ${name} are an empty object`, each((api) =>
      go(api, [{ calls: [{ name: "list_files", arguments: args }, { name: "read_file", arguments: args }] }, { text: "done" }], { files: FILES }, (r) => {
        completed(r, "done");
        const [list, missing] = ["list_files", "read_file"].map((tool) => r.of("tool_completed").find((e) => e.data.name === tool).data);
        assert.equal(list.isError, false, JSON.stringify(list));
        assert.equal(missing.isError, true);
        assert.match(missing.preview, /TOOL_INPUT_INVALID/);
        assert.match(missing.preview, /path/);
      }), name === "nothing" ? ["chat", "messages"] : APIS));

  for (const args of ["[1]", '"x"', '{"path":', '{"path":"a.txt"}{"path":"b.txt"}', '"{\\"path\\":\\"a.txt\\"}"'])
    it(`20: arguments ${args} do not run, and what is sent back is an object`, each((api) =>
      go(api, [{ calls: [{ name: "read_file", arguments: args }] }, { text: "done" }], { files: FILES }, (r) => {
        completed(r, "done"); // the fake refuses arguments that are no object
        const [only] = r.of("tool_completed");
        assert.equal(only.data.isError, true);
        assert.match(only.data.preview, /TOOL_INPUT_INVALID[\s\S]*path/);
      })));

  it("21: a call that the output limit cut does not run, also when what came of it is whole", each((api) =>
    go(api, [{ calls: [WRITE, { name: "write_file", arguments: '{"path":"b.txt","content":"' }], end: "length" }, { calls: [{ name: "write_file", arguments: { path: "made.txt" } }], end: "length" }, { text: "in parts" }], { args: ["--allow-write"] }, (r, rig) => {
      nothingRan(r);
      assert.equal(r.of("truncation_recovery").length, 2);
      completed(r, "in parts");
      assert.ok(/output limit/i.test(JSON.stringify(rig.fake.requests[1].body)));
      assert.ok(!existsSync(join(rig.home.workspace, "made.txt")));
    })));
  it("22: the third cut in a row ends the run, with the reason", each((api) =>
    go(api, Array(3).fill({ calls: [WRITE], end: "length" }), { args: ["--allow-write"] }, (r, rig) => {
      failed(r, "output_truncated");
      assert.equal(r.status, 5);
      nothingRan(r);
      assert.equal(rig.fake.requests.length, 3);
    })));
  it("23: complete calls run although the turn's end says stop", each((api) =>
    go(api, [{ calls: [read("a.txt")], endWord: api === "messages" ? "end_turn" : "stop" }, { text: "done" }], { files: FILES }, (r) => {
      completed(r, "done");
      assert.deepEqual(ran(r), [["read_file", { path: "a.txt" }]]);
    }), ["chat", "messages"]));
});

describe("faults of one API", { concurrency: 4 }, () => {
  it("25: overloaded after ten deltas: what was told is discarded", () =>
    go("messages", [{ text: "0123456789".repeat(2), wire: { split: 2 }, error: { at: 13, type: "overloaded_error", message: "Overloaded" } }, { text: "again" }], {}, (r) => {
      askedAgain(r, "overloaded");
      assert.ok(r.of("request_retry")[0].data.discardedChars >= 16);
      completed(r, "again");
    }));

  it("26: thinking of an open loop of calls stays byte for byte and in order", () => {
    const scenario = ({ n }) => (n < 5 ? { parts: [{ reasoning: `thought ${n} 🌍` }, { redacted: `secret${n}`, reasoning: "" }, { text: `text ${n}` }, { call: read(`${n}.txt`) }] } : { text: "done" });
    return go("messages", scenario, { files: FILES }, (r, rig) => {
      completed(r, "done");
      const blocks = rig.fake.requests[5].body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
      assert.deepEqual(blocks.filter((b) => b.type === "thinking").map((b) => b.thinking), [0, 1, 2, 3, 4].map((n) => `thought ${n} 🌍`));
      assert.deepEqual(blocks.filter((b) => b.type === "redacted_thinking").map((b) => b.data), [0, 1, 2, 3, 4].map((n) => `secret${n}`));
    });
  });

  it("27: another provider in the middle of a session: no foreign thinking, and ids that it takes", async () => {
    const rig = await agentRig("chat", ({ api, n }) => (n % 2 === 0
      ? { reasoning: `by ${api}`, calls: [read("a.txt", api === "chat" ? { id: `call|${n}/x` } : {})] } : { text: `done by ${api}` }), { files: FILES, fake: { dialect: "deepseek" } });
    try {
      configure(rig.home, providerOf(rig.fake, "chat"), { providers: Object.fromEntries(APIS.map((api) => [`by-${api}`, providerOf(rig.fake, api, { model: `m-${api}` })])) });
      let args = [];
      let session;
      for (const api of ["chat", "messages", "responses", "messages", "chat"]) {
        const r = told(await (session ? rig.resume(["--json", "--provider", `by-${api}`, session, "more"]) : rig.run(["--json", "--provider", `by-${api}`, "go"])), rig);
        completed(r, `done by ${api}`);
        session = r.last.data.sessionId;
        args = rig.fake.requests[rig.fake.requests.length - 1];
      }
      assert.ok(JSON.stringify(args.body).includes("done by responses"));
    } finally {
      await rig.close();
    }
  });

  const signature = { reply: { status: 400, error: { type: "invalid_request_error", message: "messages.1.content.0: Invalid `signature` in `thinking` block" } } };
  it("28: a refused signature: thinking is left out once and for the session", () =>
    go("messages", [{ reasoning: "t", calls: [read("a.txt")] }, signature, { reasoning: "t", calls: [read("b.txt")] }, { text: "done" }], { files: FILES }, (r, rig) => {
      completed(r, "done");
      assert.ok(!JSON.stringify(rig.fake.requests[2].body).includes('"thinking":"t"'));
      assert.equal(rig.fake.requests.length, 4);
    }));
  it("28: a second refusal is shown", () =>
    go("messages", [{ reasoning: "t", calls: [read("a.txt")] }, signature, signature], { files: FILES }, (r) => failed(r, "UPSTREAM_REJECTED", /signature/i)));

  it("29: four results and what the person typed meanwhile are one message, results first", async () => {
    const calls = ["a.txt", "b.txt", "a.txt", "b.txt"].map((p) => read(p));
    const rig = await agentRig("messages", [{ calls }, { reply: { status: 400, error: { type: "invalid_request_error", message: "not now" } } }, { text: "done" }], { files: FILES });
    try {
      const first = told(await rig.run(["--json", "go"]), rig);
      failed(first, "UPSTREAM_REJECTED", /not now/);
      completed(told(await rig.resume(["--json", first.events[0].sessionId, "and this"]), rig), "done");
      const last = rig.fake.requests[2].body.messages.slice(-1)[0];
      assert.deepEqual(last.content.map((b) => b.type), ["tool_result", "tool_result", "tool_result", "tool_result", "text"]);
      const ids = rig.fake.requests[2].body.messages.slice(-2)[0].content.filter((b) => b.type === "tool_use").map((b) => b.id);
      assert.deepEqual(last.content.slice(0, 4).map((b) => b.tool_use_id), ids);
    } finally {
      await rig.close();
    }
  });

  it("30: nothing empty is sent: texts, answers, results", each(async (api) => {
    const rig = await agentRig(api, [{ text: "", calls: [{ name: "js_run", arguments: { code: "return ''" } }, read("empty.txt")] }, { text: "" }, { text: "done" }], { files: { "empty.txt": "" } });
    try {
      const first = told(await rig.run(["--json", "go"]), rig);
      completed(told(await rig.resume(["--json", first.events[0].sessionId, "more"]), rig), "done");
    } finally {
      await rig.close();
    }
  }));

  it("31: a lone surrogate, in a result and in the model's own arguments", each(async (api) => {
    const rig = await agentRig(api, [{ calls: [{ name: "js_run", arguments: { code: "return 'x\\ud83dy'" } }, { name: "read_file", arguments: '{"path":"\\ud83d.txt"}' }] }, { text: "x" }, { text: "done" }], {});
    try {
      const first = told(await rig.run(["--json", "go"]), rig);
      completed(first, "x");
      completed(told(await rig.resume(["--json", first.last.data.sessionId, "more"]), rig), "done");
      assert.ok(JSON.stringify(rig.fake.requests[2].body).includes("x\ufffdy"));
    } finally {
      await rig.close();
    }
  }));

  it("32: gaps in the indexes, blocks and deltas that nobody knows, pings anywhere", () => {
    const at = (data, where) => ({ at: where, event: data.type, data });
    const insert = [at({ type: "ping" }, 1), at({ type: "content_block_start", index: 9, content_block: { type: "hologram", x: 1 } }, 3), at({ type: "content_block_delta", index: 9, delta: { type: "hologram_delta", y: 2 } }, 4),
      at({ type: "content_block_stop", index: 9 }, 5), at({ type: "content_block_delta", index: 77, delta: { type: "text_delta", text: "" } }, 6), at({ type: "brand_new" }, 7), at({ type: "ping" }, -3)];
    return go("messages", [{ parts: [{ text: TEXT }, { call: read("a.txt"), index: 2 }], insert }, { text: "done" }], { files: FILES, fake: { strict: false } }, (r) => {
      completed(r, "done");
      assert.deepEqual(ran(r), [["read_file", { path: "a.txt" }]]);
    });
  });

  const reasons = (request) => request.body.input.filter((i) => i.type === "reasoning");
  it("33: reasoning goes back only with what is encrypted of it", () =>
    go("responses", [{ parts: [{ reasoning: "one" }, { call: read("a.txt") }] }, { parts: [{ reasoning: "two", encrypted: null }, { call: read("b.txt") }] }, { text: "done" }], { files: FILES }, (r, rig) => {
      completed(r, "done");
      assert.equal(rig.fake.requests[1].body.store, false);
      assert.deepEqual(rig.fake.requests[0].body.include, ["reasoning.encrypted_content"]);
      assert.deepEqual(reasons(rig.fake.requests[2]).map((i) => i.summary[0].text), ["one"]);
    }));
  it("34: refused encrypted content is left out once, groups are not torn", () => {
    const no = { reply: { status: 400, error: { code: "invalid_encrypted_content", message: "The encrypted content for item rs_f0x0 could not be verified." } } };
    return go("responses", [{ parts: [{ reasoning: "one" }, { text: "a" }, { call: read("a.txt") }] }, no, { parts: [{ reasoning: "two" }, { call: read("b.txt") }] }, { text: "done" }], { files: FILES }, (r, rig) => {
      completed(r, "done");
      assert.deepEqual(rig.fake.requests.map((q) => reasons(q).length), [0, 1, 0, 0]);
    });
  });
  it("35: response.incomplete keeps its usage, and runs nothing", () =>
    go("responses", [{ calls: [WRITE], end: "length", usage: { input: 50, output: 7 } }, { text: "done", usage: { input: 60, output: 1 } }], { args: ["--allow-write"] }, (r) => {
      nothingRan(r);
      completed(r, "done");
      assert.equal(r.last.data.usage.output, 8);
    }));
  it("36: a stream that ends after its deltas is a cut; events that nobody knows are ignored", () =>
    go("responses", [{ text: TEXT, dropLast: 1 }, { text: "again", insert: [{ at: 4, event: "response.hologram.delta", data: { type: "response.hologram.delta", delta: {} } }] }], {}, (r) => {
      askedAgain(r, "cut");
      completed(r, "again");
    }));
  it("37: reasoning_content comes back where the endpoint wants it, learned from its refusal", () =>
    go("chat", [{ reasoning: "because", calls: [read("a.txt")] }, { reasoning: "so", calls: [read("b.txt")] }, { text: "done" }], { files: FILES, fake: { dialect: "deepseek", wantsReasoning: true } }, (r, rig) => {
      completed(r, "done");
      const said = rig.fake.requests[rig.fake.requests.length - 1].body.messages.filter((m) => m.role === "assistant").map((m) => m.reasoning_content);
      assert.deepEqual(said, ["because", "so"]);
      assert.ok(rig.fake.requests.filter((q) => q.refused).length <= 1);
    }));
});
