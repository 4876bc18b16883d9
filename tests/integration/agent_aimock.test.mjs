// A second opinion, for breadth: the binary against a mock of others, by each API. It proves nothing of requests (it takes
// orphan calls, and a missing version or max_tokens); that is the strict fake's part.
import { test } from "node:test";
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { APIS, KEY, KEY_ENV, configure, makeHome, ofType, runAlisio } from "../fake/lib.mjs";

const { LLMock } = createRequire(import.meta.url)("@copilotkit/aimock");

for (const api of APIS)
  test(`a run by ${api} against another's mock: a call, its result, the answer`, async () => {
    const mock = new LLMock({ port: 0, logLevel: "silent" });
    mock.on({ userMessage: "read it", hasToolResult: false }, { content: "I look.", toolCalls: [{ name: "read_file", arguments: '{"path":"a.txt"}' }] });
    mock.on({ userMessage: "read it", hasToolResult: true }, { content: "It says alpha. 🌍", reasoning: "simple" });
    await mock.start();
    const home = makeHome({ "a.txt": "alpha\n" });
    try {
      configure(home, { api, baseUrl: api === "messages" ? mock.url : `${mock.url}/v1`, model: "fake", keyEnv: KEY_ENV });
      const r = await runAlisio(home, ["run", "--json", "read it"], { env: { [KEY_ENV]: KEY } });
      assert.equal(r.last?.type, "run_completed", r.stdout + r.stderr);
      assert.equal(r.last.data.text, "It says alpha. 🌍");
      assert.match(ofType(r.events, "tool_completed")[0].data.preview, /alpha/);
      assert.deepEqual(ofType(r.events, "request_retry"), []);
    } finally {
      home.remove();
      await mock.stop();
    }
  });
