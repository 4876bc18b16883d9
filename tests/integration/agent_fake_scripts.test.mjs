// The recorded streams of tests/llm/scripts, over HTTP, read by the makers' packages: where they make of one what its .json
// says, and where not. Each difference stands here, so that a script that becomes wrong, or a package that changes its mind,
// is seen. (What this program makes of them: tests/unit/test_llm_read_scripts.c.)
import { test } from "node:test";
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib.mjs";
import { startFake } from "../fake/server.mjs";
import { complete } from "../fake/complete.mjs";
import { JUDGES, JUDGE_KEY } from "../fake/sdk.mjs";

const DIR = join(root, "tests/llm/scripts");

// accepts: it says nothing of what is a fault here. throws: it refuses what is an answer here. differs: it reads another answer.
// Of openai-7/openai-6 where they are not of one mind.
const DIFFERENT = {
  chat: {
    // What must not be taken for an answer, or must not run.
    "error-in-choice": "accepts", "error-reason": "accepts", "finish-unknown-call": "accepts", "whole-cut": "accepts",
    // Calls without an index, of the same index, with an old or another shape.
    "arguments-10": "differs", "call-custom": "throws", "call-old": "differs", "calls-03": "throws/differs", "calls-05": "throws/differs",
    "calls-06": "throws/differs", "calls-07": "differs", "calls-08": "differs", "calls-09": "throws", "calls-10": "throws", "calls-11": "differs",
    "calls-13": "throws/differs", "calls-14": "throws/differs", "calls-15": "differs", "calls-18": "throws/differs", "calls-22": "throws/differs",
    "calls-23": "differs", "calls-24": "throws", "calls-26": "differs", "no-index": "throws", "whole-beside-delta": "throws",
    // Reasoning within the text, text as a list, lone surrogates.
    "think": "differs", "think-one-chunk": "differs", "think-open": "differs", "content-parts": "differs", "surrogates-lone": "differs",
    // Usage where other servers put it, or of wrong types.
    "usage-cached-flat": "differs", "usage-groq": "differs", "usage-odd": "differs", "usage-on-finish": "differs", "usage-string": "differs",
    // What is harmless.
    "done-blank": "throws", "unknown": "throws", "wrong-types": "throws", "whole-events": "throws", "odd-end": "throws", "odd-words": "throws",
  },
  responses: {
    "cancelled": "accepts", "failed-prompt": "accepts", "failed-rate": "accepts", "failed-silent": "accepts", "whole-failed": "accepts",
    "no-end": "accepts", "no-end-call": "accepts",
    "call-custom": "differs", "calls-done-empty": "differs", "calls-no-deltas": "throws", "calls-no-index": "throws", "calls-one-index": "throws/same",
    "delta-before-item": "throws", "event-lines-only": "throws", "incomplete-none": "throws", "output-at-end": "throws",
    "reasoning-text": "throws", "text-done-only": "throws", "unknown": "throws", "wrong-types": "throws",
  },
  messages: {
    "no-index": "accepts", "no-reason-call": "accepts", "reason-unknown-call": "accepts", "unopened-call": "accepts",
    "length-in-call": "differs", // a part of the arguments, as a whole object
    "calls-swapped": "differs", "index-gap": "differs", "usage-wrong": "differs", "wrong-types": "differs",
    "event-lines-only": "throws", "no-event-lines": "throws", "unopened": "throws", "usage-none": "throws",
  },
};

const plain = (text) => {
  try {
    return JSON.stringify(JSON.parse(text === "" ? "{}" : text));
  } catch {
    return text;
  }
};

function sameAs(want, got) {
  const parts = want.parts ?? [];
  const text = parts.filter((p) => p.text !== undefined).map((p) => p.text).join("");
  const calls = parts.filter((p) => p.call).map((p) => [p.call.name, plain(p.call.arguments)]);
  return text === got.text + got.refusal
    && JSON.stringify(calls) === JSON.stringify(got.calls.map((c) => [c.name, plain(c.arguments)]))
    && JSON.stringify(want.usage) === JSON.stringify(got.usage);
}

function scriptsOf(api) {
  const dir = join(DIR, api);
  return readdirSync(dir).filter((f) => f.endsWith(".json")).map((f) => {
    const name = f.slice(0, -5);
    const whole = existsSync(join(dir, `${name}.body`));
    const raw = readFileSync(join(dir, whole ? `${name}.body` : `${name}.sse`));
    return { name, whole, raw: whole ? raw : complete(api, raw), want: JSON.parse(readFileSync(join(dir, f), "utf8")) };
  });
}

async function verdictOf(judge, fake, script) {
  let got;
  try {
    got = await (script.whole ? judge.whole(fake) : judge.helper(fake));
  } catch {
    return "throws";
  }
  if (script.want.fault) return "accepts";
  return sameAs(script.want, got) ? "same" : "differs";
}

console.error = () => {}; // what the packages say of a stream that they do not like

for (const judge of JUDGES)
  test(`${judge.name} reads the recorded streams of ${judge.api} as they are meant, but where it is known to differ`, async () => {
    let script;
    const fake = await startFake(() => ({ raw: script.raw, contentType: script.whole ? "application/json" : "text/event-stream" }), { key: JUDGE_KEY });
    try {
      const differs = {};
      let n = 0;
      for (script of scriptsOf(judge.api)) {
        n++;
        const verdict = await verdictOf(judge, fake, script);
        const [by7, by6 = by7] = (DIFFERENT[judge.api][script.name] ?? (script.want.fault ? "throws" : "same")).split("/");
        const wanted = judge.major === 6 ? by6 : by7;
        if (verdict !== wanted) differs[script.name] = `${verdict}, not ${wanted}`;
      }
      assert.deepEqual(differs, {});
      assert.ok(n > 40);
      assert.deepEqual(fake.violations, []);
      for (const name of Object.keys(DIFFERENT[judge.api])) assert.ok(existsSync(join(DIR, judge.api, `${name}.json`)), `${name} is a script`);
    } finally {
      await fake.close();
    }
  });
