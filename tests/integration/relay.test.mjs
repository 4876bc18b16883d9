// alisio mcp --expose upstream: what servers offer passes through in both directions, whatever the eras of both ends.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { McpClient, makeHome, root, soon, until } from "./lib.mjs";

const META = "io.modelcontextprotocol/";
const everything = join(root, "tests/fixtures/everything.mjs");
const server = (era) => ({ command: process.execPath, args: [everything, era] });
const able = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

// What a person, a model and a workspace say to the questions of servers.
const answers = {
  "elicitation/create": () => ({ action: "accept", content: { name: "Ada", username: "ada", email: "a@b.example" } }),
  "sampling/createMessage": () => ({ role: "assistant", content: { type: "text", text: "Paris" }, model: "m" }),
  "roots/list": () => ({ roots: [{ uri: "file:///a/root", name: "root" }] }),
};

let open = [];
afterEach(async () => {
  for (const { client, home } of open) {
    client.process.kill("SIGTERM");
    await client.exit;
    home.remove();
  }
  open = [];
});

class Client extends McpClient {
  asked = [];

  // A question of the server, in the older era.
  take(line) {
    const message = JSON.parse(line);
    if (message.method === undefined || message.id === undefined) return super.take(line);
    this.asked.push(message);
    const answer = this.answer ?? ((question) => answers[question.method](question.params));
    const result = answer(message);
    if (result !== undefined) this.send({ id: message.id, ...(result.error ? result : { result }) });
  }

  async older(capabilities = able) {
    const clientInfo = { name: "test", version: "1" };
    const answer = await this.request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
    this.send({ method: "notifications/initialized" });
    return answer.result;
  }

  modern(method, params = {}, { capabilities = able, meta = {} } = {}) {
    const _meta = {
      [`${META}protocolVersion`]: "2026-07-28",
      [`${META}clientCapabilities`]: capabilities,
      [`${META}clientInfo`]: { name: "test", version: "1" },
      ...meta,
    };
    return this.request(method, { ...params, _meta });
  }

  // In the newer era: the questions of a result are answered by a retry, as often as there are some.
  async modernRounds(method, params, options) {
    let rounds = 0;
    let answer = await this.modern(method, params, options);
    for (; answer.result?.resultType === "input_required"; rounds++) {
      const { inputRequests = {}, requestState } = answer.result;
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests).map(([key, q]) => [key, (this.say ?? answers)[q.method](q.params)]),
      );
      answer = await this.modern(method, { ...params, inputResponses, requestState }, options);
    }
    return { ...answer, rounds };
  }
}

function start(mcpServers, args = [], { allow = true } = {}) {
  const home = makeHome();
  const config = join(home.dir, "servers.json");
  writeFileSync(config, JSON.stringify({ mcpServers }));
  const policy = allow ? ["--allow-mcp"] : [];
  const client = new Client(home, ["--expose", "upstream", ...policy, "--mcp-config", config, ...args]);
  open.push({ client, home });
  return client;
}

// A server that answers with the bytes that it is told to: lines of "method<TAB>result".
function rawServer(home, name, script, said = "/dev/null") {
  const file = join(home, `${name}.mjs`);
  writeFileSync(
    file,
    `import { appendFileSync } from "node:fs";
let rest = "";
const script = ${JSON.stringify(script)};
process.stdin.setEncoding("utf8").on("data", (text) => {
  rest += text;
  for (let at; (at = rest.indexOf("\\n")) >= 0; rest = rest.slice(at + 1)) {
    const message = JSON.parse(rest.slice(0, at));
    if (message.method === "notifications/cancelled")
      process.stdout.write('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"cancelled"}}\\n');
    if (message.id === undefined) continue;
    appendFileSync(${JSON.stringify(said)}, message.method + "\\n");
    const result = script[message.method];
    if (result === "exit") process.exit(3);
    if (result === "nothing") continue;
    const body = result ?? null;
    process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(message.id) + "," +
      (body === null ? '"error":{"code":-32601,"message":"no such method"}' : body.startsWith('"error"') ? body : '"result":' + body) + "}\\n");
  }
});
process.stdin.on("end", () => process.exit(0));`,
  );
  return { command: process.execPath, args: [file] };
}
const initialized = JSON.stringify({
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "raw", version: "1" },
});

async function all(list, member) {
  const found = [];
  let cursor;
  do {
    const { result } = await list(cursor === undefined ? {} : { cursor });
    found.push(...result[member]);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return found;
}

const text = ({ result }) => result.content[0].text;

for (const clientEra of ["older", "modern"]) {
  describe(`a client of the ${clientEra} era, servers of both`, () => {
    const begin = async (args) => {
      const client = start({ old: server("legacy"), new: server("modern") }, args);
      if (clientEra === "older") await client.older();
      const ask = (method, params, options) =>
        clientEra === "older" ? client.request(method, params) : client.modernRounds(method, params, options);
      return { client, ask };
    };

    test("lists of all servers follow ours, in one page", async () => {
      const { ask } = await begin();
      const whole = async (method, member) => {
        const { result } = await ask(method, {});
        assert.equal(result.nextCursor, undefined);
        return result[member];
      };
      const tools = (await whole("tools/list", "tools")).map(({ name }) => name);
      assert.ok(tools.findIndex((n) => n.startsWith("mcp_old_")) < tools.findIndex((n) => n.startsWith("mcp_new_")));
      assert.equal(tools[0].startsWith("mcp_"), false);
      assert.ok(tools.includes("js_run"));
      assert.ok(tools.includes("mcp_old_test_simple_text"));
      assert.ok(tools.includes("mcp_new_test_simple_text"));
      const prompts = (await whole("prompts/list", "prompts")).map(({ name }) => name);
      assert.ok(prompts.includes("old_test_simple_prompt"));
      assert.ok(prompts.includes("new_test_simple_prompt"));
      const resources = await whole("resources/list", "resources");
      assert.equal(resources.filter(({ uri }) => uri === "test://static-text").length, 2);
      const templates = await whole("resources/templates/list", "resourceTemplates");
      assert.equal(templates.filter(({ uriTemplate }) => uriTemplate === "test://template/{id}/data").length, 2);
    });

    for (const name of ["old", "new"]) {
      test(`a tool's parts come as the ${name} server gave them`, async () => {
        const { ask } = await begin();
        const mixed = await ask("tools/call", { name: `mcp_${name}_test_multiple_content_types`, arguments: {} });
        assert.deepEqual(
          mixed.result.content.map(({ type }) => type),
          ["text", "image", "resource"],
        );
        const failed = await ask("tools/call", { name: `mcp_${name}_test_error_handling`, arguments: {} });
        assert.equal(failed.result.isError, true);
        assert.equal(text(failed), "This tool intentionally returns an error for testing");
      });

      test(`a question of the ${name} server reaches the client, and its answer the server`, async () => {
        const { ask } = await begin();
        const greeting = await ask("tools/call", { name: `mcp_${name}_test_input_required_result_elicitation` });
        assert.equal(text(greeting), "Hello, Ada!");
        const sampled = await ask("tools/call", { name: `mcp_${name}_test_sampling`, arguments: { prompt: "p" } });
        assert.equal(text(sampled), "LLM response: Paris");
        const roots = await ask("tools/call", { name: `mcp_${name}_test_input_required_result_list_roots` });
        assert.equal(text(roots), "file:///a/root");
        const three = await ask("tools/call", { name: `mcp_${name}_test_input_required_result_multiple_inputs` });
        assert.equal(text(three), "Paris Ada 1");
        const rounds = await ask("tools/call", { name: `mcp_${name}_test_input_required_result_multi_round` });
        assert.equal(text(rounds), "color undefined");
        const prompt = await ask("prompts/get", { name: `${name}_test_input_required_result_prompt` });
        assert.equal(prompt.result.messages[0].content.text, "Context: undefined");
      });

      test(`prompts, completions and resources of the ${name} server`, async () => {
        const { ask } = await begin();
        const prompt = await ask("prompts/get", {
          name: `${name}_test_prompt_with_arguments`,
          arguments: { arg1: "a", arg2: "b" },
        });
        assert.match(prompt.result.messages[0].content.text, /arg1='a', arg2='b'/);
        const completion = await ask("completion/complete", {
          ref: { type: "ref/prompt", name: `${name}_test_prompt_with_arguments` },
          argument: { name: "arg1", value: "par" },
        });
        assert.deepEqual(completion.result.completion.values, ["paris", "park", "party"]);
        const resource = await ask("resources/read", { uri: "test://template/7/data" });
        assert.equal(JSON.parse(resource.result.contents[0].text).id, "7");
        if (clientEra === "modern") {
          assert.equal(resource.result.resultType, "complete");
          assert.equal(typeof resource.result.ttlMs, "number");
          assert.ok(["public", "private"].includes(resource.result.cacheScope));
        }
        const unknown = await ask("resources/read", { uri: "test://nothing" });
        assert.equal(unknown.error.code, clientEra === "modern" ? -32602 : unknown.error.code);
        const noPrompt = await ask("prompts/get", { name: `${name}_nothing` });
        assert.equal(noPrompt.error.code, -32602);
        const noTool = await ask("tools/call", { name: `mcp_${name}_nothing` });
        assert.equal(noTool.error.code, -32602);
      });

      test(`progress and log messages of the ${name} server`, async () => {
        const { client, ask } = await begin();
        if (clientEra === "older") await ask("logging/setLevel", { level: "info" });
        const meta = { progressToken: "p1", [`${META}logLevel`]: "info" };
        const params = { name: `mcp_${name}_test_tool_with_progress`, arguments: {} };
        await ask("tools/call", clientEra === "older" ? { ...params, _meta: meta } : params, { meta });
        const told = client.notifications.filter(({ method }) => method === "notifications/progress");
        assert.deepEqual(
          told.map(({ params: p }) => [p.progressToken, p.progress, p.total]),
          [0, 50, 100].map((n) => ["p1", n, 100]),
        );
        await ask("tools/call", { name: `mcp_${name}_test_logging_tool` }, { meta });
        const log = await until("a line of log", () =>
          client.notifications.find(({ method, params: p }) => method === "notifications/message" && p.logger === "everything"),
        );
        assert.deepEqual(log.params, { level: "info", logger: "everything", data: "a line of log" });
      });

      test(`a client that cannot be asked is not asked by the ${name} server`, async () => {
        const client = start({ [name]: server(name === "old" ? "legacy" : "modern") });
        const call = { name: `mcp_${name}_test_sampling`, arguments: { prompt: "p" } };
        let answer;
        if (clientEra === "older") {
          await client.older({});
          answer = await client.request("tools/call", call);
        } else answer = await client.modern("tools/call", call, { capabilities: {} });
        assert.ok(answer.error, JSON.stringify(answer));
        assert.deepEqual(client.asked, []);
      });
    }
  });
}

describe("the gateway", () => {
  test("changes reach clients of the older era", async () => {
    const client = start({ everything: server("legacy") }, ["--plain-names"]);
    await client.older();
    const heard = (method) => until(method, () => client.notifications.find((n) => n.method === method));
    await client.call("test_trigger_tool_change", {});
    await heard("notifications/tools/list_changed");
    await client.call("test_trigger_prompt_change", {});
    await heard("notifications/prompts/list_changed");
    await client.request("resources/subscribe", { uri: "test://watched-resource" });
    await client.call("test_trigger_resource_update", {});
    const updated = await heard("notifications/resources/updated");
    assert.equal(updated.params.uri, "test://watched-resource");
    await client.request("resources/unsubscribe", { uri: "test://watched-resource" });
    const { result } = await client.request("tools/list");
    const names = [];
    for (let page = result; page; page = page.nextCursor && (await client.request("tools/list", { cursor: page.nextCursor })).result)
      names.push(...page.tools.map(({ name }) => name));
    assert.ok(names.includes("test_dynamic_tool"));
    assert.equal(text(await client.call("test_dynamic_tool", {})), "here");
  });

  for (const era of ["legacy", "modern"])
    test(`whoever listens hears of changes of a ${era} server`, async () => {
      const client = start({ everything: server(era) }, ["--plain-names"]);
      const notifications = { toolsListChanged: true, resourceSubscriptions: ["test://watched-resource"] };
      const listen = { notifications, _meta: { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} } };
      client.send({ id: "listen", method: "subscriptions/listen", params: listen });
      const heard = (method) => until(method, () => client.notifications.find((n) => n.method === method));
      await heard("notifications/subscriptions/acknowledged");
      await client.modern("tools/call", { name: "test_trigger_tool_change" });
      const changed = await heard("notifications/tools/list_changed");
      assert.equal(changed.params._meta[`${META}subscriptionId`], "listen");
      await until("an update", async () => {
        await client.modern("tools/call", { name: "test_trigger_resource_update" });
        return client.notifications.find((n) => n.method === "notifications/resources/updated");
      });
    });

  test("results pass as bytes", async () => {
    const odd = '{"content":[{"type":"text","text":"\\u00e4\\ud83d\\ude00","x":1.50e+1}],"own":{"n":12345678901234567890123},"isError":false}';
    const home = makeHome();
    const script = {
      initialize: initialized,
      "tools/list": JSON.stringify({ tools: [{ name: "odd", inputSchema: { type: "object" } }] }),
      "tools/call": odd,
    };
    const client = start({ raw: rawServer(home.dir, "raw", script) }, ["--plain-names"]);
    await client.older();
    await client.call("odd", {});
    assert.ok(client.lines.some((line) => line.includes(`"result":${odd}`)));
    home.remove();
  });

  test("an error passes with its code, message and data", async () => {
    const home = makeHome();
    const script = {
      initialize: initialized,
      "tools/list": JSON.stringify({ tools: [{ name: "bad", inputSchema: { type: "object" } }] }),
      "tools/call": '"error":{"code":-31999,"message":"no \\u00e4","data":{"n":1.0}}',
      "prompts/get": '"error":{"code":7,"message":"seven"}',
    };
    const client = start({ raw: rawServer(home.dir, "raw", script) }, ["--plain-names"]);
    await client.older();
    const failed = await client.call("bad", {});
    assert.deepEqual(failed.error, { code: -31999, message: "no ä", data: { n: 1 } });
    const prompt = await client.request("prompts/get", { name: "x" });
    assert.deepEqual(prompt.error, { code: 7, message: "seven" });
    home.remove();
  });

  test("a server that cannot start is left out and told; the others stay", async () => {
    const client = start({ dead: { command: "/nonexistent/program" }, live: server("legacy") });
    await client.older();
    await client.request("logging/setLevel", { level: "warning" });
    const tools = (await all((p) => client.request("tools/list", p), "tools")).map(({ name }) => name);
    assert.ok(tools.includes("mcp_live_test_simple_text"));
    const told = client.notifications.filter(({ method }) => method === "notifications/message");
    assert.ok(told.some(({ params }) => /^dead is left out: UPSTREAM_UNAVAILABLE: /.test(params.data)));
  });

  test("a server that dies in the middle is told with code and hint, and the others go on", async () => {
    const home = makeHome();
    const script = {
      initialize: initialized,
      "tools/list": JSON.stringify({ tools: [{ name: "die", inputSchema: { type: "object" } }] }),
      "tools/call": "exit",
      "resources/read": "exit",
    };
    const client = start({ mortal: rawServer(home.dir, "mortal", script), live: server("legacy") });
    await client.older();
    const died = await client.call("mcp_mortal_die", {});
    assert.equal(died.result.isError, true);
    assert.match(text(died), /^UPSTREAM_UNAVAILABLE: [^]*\nhint: /);
    assert.match(text(await client.call("mcp_live_test_simple_text", {})), /simple text/);
    home.remove();
  });

  test("a server that comes back after its death learns again what clients want to hear", async () => {
    const home = makeHome();
    const said = join(home.dir, "said");
    const script = {
      initialize: initialized.replace('"tools":{}', '"tools":{},"logging":{},"resources":{"subscribe":true}'),
      "tools/list": JSON.stringify({ tools: [{ name: "die", inputSchema: { type: "object" } }] }),
      "tools/call": "exit",
      "resources/subscribe": "{}",
      "resources/read": '{"contents":[]}',
      "logging/setLevel": "{}",
    };
    const client = start({ mortal: rawServer(home.dir, "mortal", script, said) }, ["--plain-names"]);
    await client.older();
    await client.request("resources/subscribe", { uri: "a:b" });
    await client.request("logging/setLevel", { level: "error" });
    const told = () => readFileSync(said, "utf8").split("\n");
    const count = (what) => told().filter((line) => line === what).length;
    await until("the level", () => count("logging/setLevel") === 1);
    assert.equal((await client.call("die", {})).result.isError, true);
    assert.ok((await client.request("resources/read", { uri: "a:b" })).result);
    await until("the subscription, again", () => count("resources/subscribe") === 2);
    const life = told();
    const begun = life.lastIndexOf("initialize");
    assert.ok(life.indexOf("logging/setLevel", begun) < life.indexOf("resources/read", begun));
    await client.close();
    home.remove();
  });

  test("what policy denies is not listed and cannot be called", async () => {
    const home = makeHome();
    const config = { mcp: { servers: { everything: { ...server("legacy"), tools: { "test_error*": "deny", "*": "allow" } } } } };
    home.env.ALISIO_CONFIG_HOME = join(home.dir, "config");
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
    writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify(config), { mode: 0o600 });
    const client = new Client(home, ["--expose", "upstream"]);
    open.push({ client, home });
    await client.older();
    const tools = (await all((p) => client.request("tools/list", p), "tools")).map(({ name }) => name);
    assert.ok(tools.includes("mcp_everything_test_simple_text"));
    assert.equal(tools.includes("mcp_everything_test_error_handling"), false);
    const denied = await client.call("mcp_everything_test_error_handling", {});
    assert.match(text(denied), /^PERMISSION_DENIED: /);
  });

  // One call is one approval, however often its server asks for more.
  for (const era of ["older", "modern"])
    for (const behind of ["legacy", "modern"])
      test(`a ${behind} server's tool wants approval: a client of the ${era} era is asked once`, async () => {
        const client = start({ everything: server(behind) }, [], { allow: false });
        const call = { name: "mcp_everything_test_input_required_result_multi_round", arguments: {} };
        let approvals = 0;
        const decide = (decision, params) => {
          const asksApproval = params.requestedSchema.properties.decision !== undefined;
          approvals += asksApproval;
          return { action: "accept", content: asksApproval ? { decision } : { name: "Ada", color: "red" } };
        };
        if (era === "older") {
          await client.older();
          client.answer = ({ method, params }) =>
            method === "elicitation/create" ? decide("deny", params) : answers[method]();
          assert.match(text(await client.request("tools/call", call)), /PERMISSION_DENIED|APPROVAL_REQUIRED/);
          assert.equal(approvals, 1);
          client.answer = ({ params }) => decide("once", params);
          assert.equal(text(await client.request("tools/call", call)), "color red");
          assert.equal(approvals, 2);
          return;
        }
        client.say = { "elicitation/create": (params) => decide("once", params) };
        const answer = await client.modernRounds("tools/call", call);
        assert.equal(text(answer), "color red");
        assert.equal(approvals, 1);
        await client.modernRounds("tools/call", call);
        assert.equal(approvals, 2);
      });

  test("an approval that nobody gives ends with the server", async () => {
    const client = start({ everything: server("legacy") }, [], { allow: false });
    await client.older();
    client.answer = ({ method }) => (method === "roots/list" ? answers[method]() : undefined);
    client.send({ id: "w", method: "tools/call", params: { name: "mcp_everything_test_simple_text", arguments: {} } });
    await until("the question", () => client.asked.find(({ method }) => method === "elicitation/create"));
    const parked = await client.modern("tools/call", { name: "mcp_everything_test_sampling", arguments: { prompt: "p" } });
    assert.equal(parked.result.resultType, "input_required");
    client.process.kill("SIGTERM");
    assert.equal((await soon(client.exit, "the end")).code, 143);
  });

  test("a cursor that was not given out is refused", async () => {
    const client = start({ everything: server("legacy") });
    await client.older();
    for (const cursor of ["", "x", "4:none", "10:everythingx", 7]) {
      const answer = await client.request("tools/list", { cursor });
      assert.equal(answer.error?.code, -32602, JSON.stringify(cursor));
    }
  });

  test("a call that waits for its user does not hold another one", async () => {
    const client = start({ everything: server("legacy") }, ["--plain-names"]);
    await client.older();
    client.answer = ({ method }) => (method === "roots/list" ? answers[method]() : undefined);
    const waiting = client.call("test_input_required_result_elicitation", {});
    const question = await until("the question", () => client.asked.find(({ method }) => method === "elicitation/create"));
    assert.match(text(await client.call("test_simple_text", {})), /simple text/);
    client.send({ id: question.id, result: answers["elicitation/create"]() });
    assert.equal(text(await waiting), "Hello, Ada!");
  });

  test("a cancelled call is cancelled at its server, too", async () => {
    const home = makeHome();
    const script = {
      initialize: initialized,
      "tools/list": JSON.stringify({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }),
      "tools/call": "nothing",
    };
    const client = start({ raw: rawServer(home.dir, "raw", script) }, ["--plain-names"]);
    await client.older();
    await client.request("tools/list");
    client.send({ id: "c", method: "tools/call", params: { name: "wait", arguments: {} } });
    client.send({ method: "notifications/cancelled", params: { requestId: "c" } });
    await until("the cancel at the server", () => client.notifications.find(({ params }) => params?.data === "cancelled"));
    assert.ok(client.lines.every((line) => JSON.parse(line).id !== "c"));
    const { code } = await soon(client.close(), "the end");
    assert.equal(code, 0);
    home.remove();
  });

  test("a URL that an older server wants opened first is a round for a modern client", async () => {
    const home = makeHome();
    const page = { mode: "url", elicitationId: "e1", url: "https://a.example/x", message: "go" };
    const script = {
      initialize: initialized,
      "tools/list": JSON.stringify({ tools: [{ name: "sign", inputSchema: { type: "object" } }] }),
      "tools/call": `"error":${JSON.stringify({ code: -32042, message: "first", data: { elicitations: [page] } })}`,
    };
    const client = start({ raw: rawServer(home.dir, "raw", script) }, ["--plain-names"]);
    const { result } = await client.modern("tools/call", { name: "sign", arguments: {} });
    assert.equal(result.resultType, "input_required");
    assert.deepEqual(result.inputRequests.e1, { method: "elicitation/create", params: page });
    home.remove();
  });
});
