// Artifacts and Python over MCP: resources and links to them, which tools are offered to whom, and what a person is asked
// before a script runs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { McpClient, alisio, makeHome, runJson } from "./lib.mjs";

const info = { name: "sdk-test", version: "1.0.0" };
// The second SDK needs Node 20.
const second = Number(process.versions.node.split(".")[0]) >= 20;
const { Client: Client2 } = second ? await import("@modelcontextprotocol/client") : {};
const { StdioClientTransport: Stdio2 } = second ? await import("@modelcontextprotocol/client/stdio") : {};
const works = (command, args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;
const noPython = works("/usr/bin/python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]) ? false : "no Python 3.10";
const noBwrap = works("bwrap", ["--ro-bind", "/", "/", "true"]) ? noPython : "bubblewrap does not work here";

const home = makeHome({ "sales.csv": "a,b\n1,2\n" });
useRuntime("managed");
after(() => home.remove());

function useRuntime(runtime) {
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
  writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"), JSON.stringify({ analysis: { runtime } }), { mode: 0o600 });
}

// A client whose user answers each question by `answers`, one after the other (the last one again and again).
class Asked extends McpClient {
  constructor(args, answers = []) {
    super(home, args);
    this.answers = answers;
    this.questions = [];
  }

  take(line) {
    const message = JSON.parse(line);
    if (message.method && message.id !== undefined) {
      const decision = this.answers[Math.min(this.questions.length, this.answers.length - 1)];
      this.questions.push(message.params);
      this.send({ id: message.id, result: { action: "accept", content: { decision } } });
    } else {
      super.take(line);
    }
  }

  async open(capabilities = this.answers.length ? { elicitation: {} } : {}, protocolVersion = "2025-11-25") {
    await this.request("initialize", { protocolVersion, capabilities, clientInfo: info });
    this.send({ method: "notifications/initialized" });
    return this;
  }

  async names() {
    return (await this.request("tools/list", {})).result.tools.map((t) => t.name);
  }

  async python(args) {
    return (await this.call("python_run", typeof args === "string" ? { code: args } : args)).result;
  }

  async done() {
    assert.equal((await this.close()).code, 0, this.stderr);
  }
}
const open = (args, answers, ...more) => new Asked(args, answers).open(...more);

const SITE = `
import os, pathlib
out = pathlib.Path(os.environ["ALISIO_OUTPUT_DIR"])
(out / "site").mkdir()
(out / "site/index.html").write_text("<h1>é</h1>", encoding="utf-8")
(out / "site/odd name?.txt").write_text("odd")
(out / "data.bin").write_bytes(bytes(range(256)))
`;

describe("resources", { skip: noPython }, () => {
  before(() => {
    const made = runJson(home, ["tool", "call", "python_run", JSON.stringify({ code: SITE, title: "Two things" })]).json;
    assert.equal(made.structured?.artifacts.length, 2, JSON.stringify(made));
    for (const from of [0, 30]) {
      const code = `for (let i = ${from}; i < ${from + 30}; i++) await tools.artifact_create({fileName: "n" + i + ".txt", text: "text " + i})`;
      const many = runJson(home, ["js", "-e", code]).json;
      assert.equal(many.ok, true, JSON.stringify(many.error));
    }
  });

  const clients = {
    "SDK v1": { make: () => new Client1(info), stdio: (o) => new Stdio1(o) },
    "SDK v2, 2026-07-28": {
      skip: !second && "the second SDK needs Node 20",
      make: () => new Client2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      stdio: (o) => new Stdio2(o),
    },
  };
  for (const [name, sdk] of Object.entries(clients)) {
    test(`${name} lists and reads them`, { skip: sdk.skip ?? false }, async () => {
      const client = sdk.make();
      await client.connect(sdk.stdio({ command: alisio, args: ["mcp"], cwd: home.workspace, env: home.env }));
      const all = [];
      for (let cursor, page = 0; page === 0 || cursor; page++) {
        const { resources, nextCursor } = await client.listResources(cursor ? { cursor } : {});
        all.push(...resources);
        cursor = nextCursor;
      }
      const artifacts = all.filter((r) => r.uri.startsWith("artifact://"));
      assert.ok(artifacts.length >= 62);
      assert.equal(new Set(all.map((r) => r.uri)).size, all.length);
      const firstRun = all.findIndex((r) => r.uri.startsWith("run://"));
      assert.ok(firstRun > 0 && !all.slice(firstRun).some((r) => r.uri.startsWith("artifact://")));
      const text = artifacts.find((r) => r.name === "n7.txt");
      assert.deepEqual([text.mimeType, text.size], ["text/plain", 6]);
      assert.deepEqual((await client.readResource({ uri: text.uri })).contents.map((c) => [c.mimeType, c.text]), [["text/plain", "text 7"]]);
      const site = artifacts.find((r) => r.name === "site");
      const [, id] = /^artifact:\/\/(art_[^/]+)\/index\.html$/.exec(site.uri);
      assert.equal((await client.readResource({ uri: site.uri })).contents[0].text, "<h1>é</h1>");
      assert.equal((await client.readResource({ uri: `artifact://${id}/odd%20name%3F.txt` })).contents[0].text, "odd");
      assert.equal((await client.readResource({ uri: `artifact://${id}` })).contents[0].uri, site.uri);
      const binary = artifacts.find((r) => r.name === "data.bin");
      const [content] = (await client.readResource({ uri: binary.uri })).contents;
      assert.equal(content.text, undefined);
      assert.deepEqual([...Buffer.from(content.blob, "base64")], Array.from({ length: 256 }, (_, i) => i));
      await client.listTools(); // then it checks results against their schemas
      const call = (name, args) => client.callTool({ name, arguments: args });
      const made = await call("artifact_create", { fileName: "t.csv", text: "a,b\n1,2\n" });
      assert.equal(made.structuredContent.kind, "spreadsheet");
      assert.equal((await call("artifact_list", { limit: 3 })).structuredContent.artifacts[0].id, made.structuredContent.id);
      assert.deepEqual((await call("artifact_read", { id: made.structuredContent.id })).structuredContent.rows, [[1, 2]]);
      assert.equal((await call("artifact_read", { id, path: "odd name?.txt" })).structuredContent.text, "odd");
      assert.equal((await call("artifact_read", { id: "art_x" })).isError, true);
      for (const uri of [`artifact://${id}/none.txt`, `artifact://${id}/../x`, "artifact://art_x/y", `artifact://${id}/a%00b`])
        await assert.rejects(client.readResource({ uri }), /not found/i, uri);
      await client.close();
    });
  }

  test("what publishes links to what it published, in clients that know links", async () => {
    const client = await open([]);
    const { content } = (await client.call("artifact_create", { fileName: "l.md", title: "Linked", text: "# L" })).result;
    assert.deepEqual(content.map((c) => c.type), ["text", "resource_link"]);
    const link = content[1];
    assert.deepEqual([link.name, link.title, link.mimeType, link.size], ["l.md", "Linked", "text/markdown", 3]);
    const { contents } = (await client.request("resources/read", { uri: link.uri })).result;
    assert.equal(contents[0].text, "# L");
    await client.done();
    const newest = runJson(home, ["tool", "call", "artifact_list", '{"limit":1}']).json.structured.artifacts[0];
    const root = join(home.env.ALISIO_STATE_HOME, "artifacts");
    const workspace = readdirSync(root).find((f) => f.startsWith("workspace-"));
    const folders = readdirSync(join(root, workspace)).flatMap((s) => readdirSync(join(root, workspace, s)).map((f) => join(root, workspace, s, f)));
    const { provenance } = JSON.parse(readFileSync(join(folders.find((f) => f.endsWith(newest.id)), "manifest.json"), "utf8"));
    assert.deepEqual(provenance.client, info);
    const older = await open([], [], {}, "2024-11-05");
    const plain = (await older.call("artifact_create", { fileName: "o.md", text: "o" })).result;
    assert.deepEqual(plain.content.map((c) => c.type), ["text"]);
    await older.done();
    const python = await open(["--allow-analysis=unsandboxed"]);
    const run = await python.python(`${SITE}\nfor i in range(100): (out / f"f{i}.txt").write_text(str(i))`);
    assert.equal(run.isError, false, JSON.stringify(run));
    const links = run.content.filter((c) => c.type === "resource_link");
    assert.ok(links.length > 2 && links.length <= 20, `${links.length} links`);
    assert.ok(!JSON.stringify(run).includes("AAECAwQF"), "base64 is for resources");
    await python.done();
  });

  test("ids and files are completed", async () => {
    const client = await open([]);
    const list = (await client.request("resources/list", {})).result.resources;
    const id = list[0].uri.slice("artifact://".length).split("/")[0];
    const complete = async (name, value, context) =>
      (await client.request("completion/complete", {
        ref: { type: "ref/resource", uri: "artifact://{artifactId}/{+path}" }, argument: { name, value }, ...(context ? { context } : {}),
      })).result.completion.values;
    assert.ok((await complete("artifactId", id.slice(0, -1))).includes(id));
    assert.ok((await complete("path", "", { arguments: { artifactId: id } })).length >= 1);
    assert.deepEqual(await complete("path", "", { arguments: { artifactId: "art_x" } }), []);
    await client.done();
  });
});

describe("offering", () => {
  const both = ["python_run", "artifact_export"];
  for (const [args, answers, wanted] of [
    [[], [], []],
    [[], ["once"], both],
    [["--allow-analysis"], [], ["python_run"]],
    [["--allow-process"], [], ["python_run"]],
    [["--allow-write"], [], ["artifact_export"]],
    [["--read-only", "--allow-analysis", "--allow-write"], ["once"], []],
  ]) {
    test(`with "${args.join(" ")}" and ${answers.length ? "a client that asks" : "nobody to ask"}: ${wanted.join(", ") || "none"}`, async () => {
      const client = await open(args, answers);
      const names = await client.names();
      assert.deepEqual(both.filter((n) => names.includes(n)), wanted);
      assert.ok(names.includes("artifact_list") && names.includes("artifact_read"));
      assert.equal(names.includes("artifact_create"), !args.includes("--read-only"));
      await client.done();
    });
  }

  test("a call of what is not offered says what would open it", async () => {
    const client = await open([]);
    const { error } = await client.call("python_run", { code: "print(1)" });
    assert.equal(error.code, -32602);
    assert.match(error.message, /unknown tool: python_run \(it needs an approval.*`alisio mcp --allow-analysis`/);
    await client.done();
  });
});

describe("a person is asked", { skip: noPython }, () => {
  test("before each script: once, with what holds it", async () => {
    useRuntime("managed");
    const client = await open([], ["once", "deny", "once"]);
    const title = `${"long ".repeat(30)}\u202e`;
    const run = await client.python({ code: "print(6 * 7)\n# \u001b[2J", title, inputs: [{ path: "sales.csv" }] });
    assert.equal(run.structuredContent.stdout, "42\n", JSON.stringify(run));
    const { message, requestedSchema } = client.questions[0];
    assert.match(message, /NOT SANDBOXED: runs with your rights, can read your files and use the network \(managed, none\)/);
    assert.match(message, /It gets copies of:\n    sales\.csv\n/);
    assert.match(message, /The script:\n    print\(6 \* 7\)\n    # \\x1b\[2J/);
    assert.ok(/"(long ){15,16}/.test(message) && !/(long ){18}/.test(message) && !message.includes("\u202e"), message);
    assert.match(message, /"Allow for this session" covers any call of python_run, whatever its script, with or without a sandbox/);
    assert.deepEqual(requestedSchema.properties.decision.enum, ["once", "session", "deny"]);
    assert.equal(requestedSchema.properties.decision.default, undefined);
    const no = await client.python("print(1)");
    assert.match(no.content[0].text, /PERMISSION_DENIED: .*said no/);
    assert.equal((await client.python("print(2)")).structuredContent.stdout, "2\n"); // a no is not remembered
    assert.equal(client.questions.length, 3);
    const nested = await client.call("js_run", { code: "return await tools.python_run({code: 'print(1)'})" });
    assert.match(nested.result.content[0].text, /APPROVAL_REQUIRED/);
    assert.match(nested.result.structuredContent.error.hint, /`uses`.*--allow-analysis=unsandboxed/);
    await client.done();
  });

  test("a script's Python is approved by uses, for the wall that was shown", async () => {
    const client = await open([], ["once"]);
    const code = "const r = await tools.python_run({code: 'print(3)'}); return [r.stdout, r.isolation]";
    const { result } = await client.call("js_run", { code, uses: ["python_run"] });
    assert.deepEqual(result.structuredContent.value, ["3\n", "none"], JSON.stringify(result));
    assert.equal(client.questions.length, 1);
    assert.match(client.questions[0].message, /A Python script of it: NOT SANDBOXED/);
    await client.done();
  });

  test("for a session: a permission given for bubblewrap covers it there, and nothing weaker", { skip: noBwrap }, async () => {
    useRuntime("bwrap");
    const client = await open([], ["session"]);
    const first = await client.python("print(1)");
    assert.equal(first.structuredContent.isolation, "os-sandbox", JSON.stringify(first));
    assert.match(client.questions[0].message, /It runs in bubblewrap: no network, no files but the job's \(bwrap, os-sandbox\)/);
    assert.match(client.questions[0].message, /behind such a wall or a stronger one/);
    await client.python("print(2)");
    assert.equal(client.questions.length, 1);
    const shell = await client.call("js_run", { code: "await tools.shell({command: 'true'})" });
    assert.match(shell.result.content[0].text, /APPROVAL_REQUIRED/);
    await client.done();
    const headless = await open([]);
    assert.equal((await headless.python("print(3)")).structuredContent.stdout, "3\n");
    const nested = await headless.call("js_run", { code: "await tools.python_run({code: 'print(1)'})" });
    assert.match(nested.result.content[0].text, /APPROVAL_REQUIRED/, "no grant counts for a script");
    await headless.done();
    useRuntime("managed");
    const weaker = await open([]);
    assert.match((await weaker.python("print(4)")).content[0].text, /PERMISSION_DENIED: .*"none"[^]*--allow-analysis=unsandboxed/);
    await weaker.done();
    const again = await open([], ["deny"]);
    assert.match((await again.python("print(5)")).content[0].text, /PERMISSION_DENIED: .*said no/);
    assert.equal(again.questions.length, 1);
    await again.done();
    const flagged = await open(["--allow-analysis"]);
    assert.match((await flagged.python("print(6)")).content[0].text, /PERMISSION_DENIED: .*"none"[^]*--allow-analysis=unsandboxed/);
    await flagged.done();
  });

  test("in the era of retries, too", { skip: !second && "the second SDK needs Node 20" }, async () => {
    useRuntime("managed");
    const asked = [];
    const client = new Client2(info, { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } });
    client.setRequestHandler("elicitation/create", (r) => {
      asked.push(r.params.message);
      return { action: "accept", content: { decision: "once" } };
    });
    await client.connect(new Stdio2({ command: alisio, args: ["mcp"], cwd: home.workspace, env: home.env }));
    const run = await client.callTool({ name: "python_run", arguments: { code: "print(7)" } });
    assert.equal(run.structuredContent.stdout, "7\n", JSON.stringify(run));
    assert.equal(asked.length, 1);
    await client.close();
  });

  test("in the older era over the first SDK", async () => {
    const client = new Client1(info, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { decision: "once" } }));
    await client.connect(new Stdio1({ command: alisio, args: ["mcp"], cwd: home.workspace, env: home.env }));
    await client.listTools();
    const run = await client.callTool({ name: "python_run", arguments: { code: "print(8)" } });
    assert.equal(run.structuredContent.stdout, "8\n", JSON.stringify(run));
    await client.close();
  });

  test("before packages are installed: always, and with what, how much and from where", async () => {
    const client = await open(["--allow-analysis=unsandboxed"], ["deny"]);
    const run = await client.python({ code: "print(1)", extras: ["analysis"] });
    assert.match(run.content[0].text, /EXTRAS_NOT_INSTALLED[^]*`alisio analysis setup --extras analysis`/);
    assert.equal(client.questions.length, 1);
    assert.match(client.questions[0].message, /pandas[^]*downloads about \d+ MB and needs the network/);
    assert.deepEqual(client.questions[0].requestedSchema.properties.decision.enum, ["once", "deny"]);
    await client.done();
    const headless = await open(["--allow-process"]);
    assert.match((await headless.python({ code: "print(1)", extras: ["analysis"] })).content[0].text, /EXTRAS_NOT_INSTALLED/);
    await headless.done();
    assert.ok(!existsSync(join(home.env.ALISIO_STATE_HOME, "runtimes/python/extras.json")));
  });
});
