// Each request begins with the bytes of the one before: over twenty turns with reasoning, calls and results, then a second
// prompt in another process, per API. Endpoints' caches count on it.
import { test } from "node:test";
import assert from "node:assert/strict";
import { APIS, agentRig } from "../fake/lib.mjs";

const TURNS = 20;
const open = (raw) => raw.toString("utf8").replace(/["}\]]+$/, "");

function step(n) {
  const read = (k) => ({ name: "read_file", arguments: { path: `f${k}.txt` } });
  // Failures, parallel calls, text beside them, ids that come again in each turn.
  if (n % 5 === 4) return { text: `turn ${n}`, calls: [{ name: "read_file", arguments: { path: "not there" } }] };
  if (n % 3 === 2) return { reasoning: `I think of ${n}`, calls: [{ ...read(1), id: "call_0" }, { ...read(2), id: "call_1" }, read(0)] };
  return { reasoning: `because ${n}`, text: `step "${n}" \\ ünï 中 😀`, calls: [{ ...read(n % 3), id: "call_0" }] };
}

for (const api of APIS) {
  test(`twenty turns of ${api}, and a second process, send the bytes of the request before and then more`, async () => {
    const steps = Array.from({ length: TURNS }, (_, n) => step(n));
    const rig = await agentRig(api, [...steps, { text: "done" }, { calls: [{ name: "read_file", arguments: { path: "f0.txt" } }] }, { text: "and done" }],
      { files: { "f0.txt": "zero", "f1.txt": "one \"quoted\"\n", "f2.txt": "" }, provider: { contextWindow: 200_000 } });
    try {
      const run = await rig.run(["--json", "--max-turns", "50", "Read them all."]);
      assert.equal(run.status, 0, run.stderr);
      const session = run.last.sessionId ?? run.last.data.sessionId;
      const again = await rig.resume([session, "--json", "Once more."]);
      assert.equal(again.status, 0, again.stderr);
      const asked = rig.fake.requests.filter((r) => r.api === api && r.method === "POST");
      assert.ok(asked.length >= TURNS + 3, `${asked.length} requests`);
      assert.deepEqual(rig.fake.violations, []);
      for (let i = 1; i < asked.length; i++) {
        const before = open(asked[i - 1].raw), now = asked[i].raw.toString("utf8");
        if (now.startsWith(before)) continue;
        let at = 0;
        while (now[at] === before[at]) at++;
        assert.fail(`request ${i + 1} leaves request ${i} at ${at}:\n${before.slice(Math.max(0, at - 80), at + 80)}\n${now.slice(Math.max(0, at - 80), at + 80)}`);
      }
    } finally {
      await rig.close();
    }
  });
}
