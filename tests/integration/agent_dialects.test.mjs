// The servers that speak Chat Completions, each in its own way: the same text, reasoning, calls and numbers come out of all.
// And the lists of models in each server's shape: how large a window is.
import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { agentRig, runAlisio } from "../fake/lib.mjs";
import { completed, go, ran } from "../fake/faults.mjs";
import { DIALECTS } from "../fake/wire.mjs";

const FILES = { "a.txt": "alpha\n", "b.txt": "beta\n" };
const read = (path) => ({ name: "read_file", arguments: { path } });
const usage = { input: 900, cachedInput: 500, output: 70, reasoning: 20 };

describe("dialects of Chat Completions", { concurrency: 3 }, () => {
  for (const dialect of Object.keys(DIALECTS))
    it(dialect, () =>
      go("chat", [{ reasoning: "I think 🌍", text: "Both.", calls: [read("a.txt"), read("b.txt")], usage }, { reasoning: "So", text: "alpha, beta", usage }], { files: FILES, fake: { dialect } }, (r, rig) => {
        completed(r, "alpha, beta");
        assert.deepEqual(ran(r).sort(), [["read_file", { path: "a.txt" }], ["read_file", { path: "b.txt" }]]);
        const thought = r.of("reasoning_delta").map((e) => e.data.text).join("");
        assert.equal(thought, dialect === "openai" ? "" : "I think 🌍So");
        const { input, cachedInput, output, reasoning } = r.last.data.usage;
        const told = DIALECTS[dialect];
        assert.deepEqual({ input, output }, { input: 1800, output: 140 });
        assert.equal(cachedInput, told.plainUsage ? 0 : 1000);
        assert.equal(reasoning, told.plainUsage ? 0 : 40);
        assert.equal(r.of("request_retry").length, 0);
        assert.equal(rig.fake.requests.length, 2);
      }));
});

describe("lists of models", { concurrency: 3 }, () => {
  // window: what is known at all; served: what this server serves of it, where it says so.
  const servers = {
    openai: [{ id: "fake" }, null],
    anthropic: [{ id: "fake", name: "Fake", window: 200_000, maxOutput: 32_000 }, 200_000],
    openrouter: [{ id: "fake", window: 131_072, served: 65_536, maxOutput: 8000 }, 65_536],
    vllm: [{ id: "fake", window: 40_960 }, 40_960],
    llamacpp: [{ id: "fake", window: 131_072, served: 16_384 }, 16_384],
    lmstudio: [{ id: "fake", window: 131_072, served: 12_288 }, 12_288],
    ollama: [{ id: "fake", window: 262_144, served: 20_480 }, 20_480],
  };
  for (const [dialect, [model, window]] of Object.entries(servers))
    it(`${dialect}: a window of ${window ?? "no known size"}`, async () => {
      const api = dialect === "anthropic" ? "messages" : "chat";
      const rig = await agentRig(api, [{ text: "x" }], { fake: { models: { dialect, list: [model, { ...model, id: "other" }] } } });
      try {
        const r = await runAlisio(rig.home, ["models", "show", "fake", "--json"]);
        assert.equal(r.status, 0, r.stdout + r.stderr);
        assert.equal(JSON.parse(r.stdout).structured.contextWindow.endpoint || null, window, r.stdout);
        const list = await runAlisio(rig.home, ["models"]);
        assert.match(list.stdout, /fake[\s\S]*other/);
        assert.deepEqual(rig.fake.violations, []);
        assert.equal(rig.fake.requests.length, 0);
      } finally {
        await rig.close();
      }
    });
});

describe("patience", () => {
  it("4: comments count as a sign of life: a stream of them longer than the idle time is no silence", () =>
    go("chat", [{ text: "a, b, c", wire: { noise: ["comment", "id"], split: 2 }, chunk: 40, pace: 100 }], { provider: { idleMs: 3000 } }, (r) => {
      completed(r, "a, b, c");
      assert.equal(r.of("request_retry").length, 0);
      assert.ok(r.last.data.apiMs > 3000, `it took ${r.last.data.apiMs} ms`);
    }));
});
