// A stream may end at any byte, and an error may come in place of any event: then it is asked for again, and what is sent
// afterwards, what ran and what is said are as if nothing had been. Some places here; with ALISIO_EVERY_API=1 (make soak) many.
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { APIS, textOf } from "../fake/lib.mjs";
import { completed, go } from "../fake/faults.mjs";
import { EVENTS, frames } from "../fake/wire.mjs";

const MANY = Boolean(process.env.ALISIO_EVERY_API);
const wire = { split: 4, n: 0 }; // the ids of its parts are the same in every attempt
const usage = { input: 100, output: 20 };
// A file that is made twice is refused the second time: what ran twice would be seen in the results.
const CALLS = ["one", "two"].map((word, i) => ({ name: "write_file", arguments: { path: `${word}.txt`, content: `{"a":1} é ${word}`, expectedHash: null }, id: `call_of_the_test_${i}` }));
const answer = { reasoning: "I think 🌍", text: "First é, then.", calls: CALLS, usage, wire };
const end = { text: "done", usage };

// Everything of the last request but what names the session.
const sent = (rig) => {
  const { prompt_cache_key: _, ...body } = rig.fake.requests[rig.fake.requests.length - 1].body;
  return body;
};
const args = ["--allow-write"];

async function undisturbed(api) {
  let body;
  await go(api, [answer, end], { args }, (r, rig) => {
    completed(r, "done");
    body = sent(rig);
  });
  return body;
}

function disturbed(api, first, want) {
  return go(api, [first, answer, end], { args }, (r, rig) => {
    completed(r, "done");
    assert.equal(r.of("request_retry").length, 1);
    assert.deepEqual(sent(rig), want);
    for (const word of ["one", "two"]) assert.equal(readFileSync(join(rig.home.workspace, `${word}.txt`), "utf8"), `{"a":1} é ${word}`);
    assert.ok(r.of("tool_completed").every((e) => !e.data.isError));
    assert.equal(textOf(r.events.filter((e) => e.data.attempt === 2)), "First é, then.");
    assert.equal(r.of("tool_started").length, 2);
  });
}

for (const api of APIS)
  describe(`a broken stream by ${api}`, { concurrency: 4 }, () => {
    const settings = { ...wire, usageInStream: true, encrypted: true };
    const events = EVENTS[api]({ ...answer, model: "fake" }, settings);
    const list = frames(events, settings);
    const total = list.reduce((n, b) => n + b.length, 0);
    // What decides that a turn has ended is the event that is left out last.
    const decisive = api === "chat" ? events.findIndex((e) => e.data.choices?.[0]?.finish_reason) : events.length - 1;
    const most = list.slice(0, decisive).reduce((n, b) => n + b.length, 0);
    const want = undisturbed(api);

    const cuts = MANY ? Array.from({ length: 60 }, (_, i) => Math.round((most * (i + 1)) / 60)) : [1, Math.round(most * 0.45), most - 1, most];
    for (const byte of cuts)
      it(`cut after byte ${byte} of ${total}`, async () => disturbed(api, { ...answer, cut: { byte, how: byte % 2 ? "end" : "reset" } }, await want));

    const places = MANY ? Array.from({ length: decisive }, (_, i) => i + 1) : [1, decisive];
    for (const at of places) it(`an error in place of event ${at} of ${events.length}`, async () => disturbed(api, { ...answer, error: { at, message: "overloaded" } }, await want));
  });
