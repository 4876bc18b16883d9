// How datasets and their processes live and end: a host that is killed while it reads, scripts and calls that are
// cancelled, lists longer than a page.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AT_REST, McpClient, alisio, childrenOf, isAlive, makeHome, run, runJson, soon, until } from "./lib.mjs";

let home;
before(() => {
  home = makeHome();
  // Long enough that every test here meets it while it is read.
  const row = Array.from({ length: 40 }, (_, i) => `${i},name ${i},${i}.25,some text that is no number\n`).join("");
  const block = row.repeat(800);
  const fd = openSync(join(home.workspace, "big.csv"), "w");
  writeSync(fd, "n,name,price,text\n");
  for (let i = 0; i < 100; i++) writeSync(fd, block);
  closeSync(fd);
});
after(() => home.remove());

const datasetFiles = () => {
  const folder = join(home.dir, "state/analysis");
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : [];
  return names.filter((name) => /\.sqlite|alisio-tmp/.test(name));
};

// All living processes beneath pid.
const beneath = (pid) => childrenOf(pid).flatMap((child) => [child, ...beneath(child)]);

test("a host that is killed while it reads leaves no process, no row and, at the next start, no file", async () => {
  const host = spawn(alisio, ["data", "inspect", "big.csv", "--json"], { cwd: home.workspace, env: home.env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  host.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const exit = new Promise((resolve) => host.on("exit", (code, signal) => resolve(signal)));
  await until("progress", () => /"progress"/.test(said));
  const workers = beneath(host.pid);
  assert.ok(workers.length > 0);
  host.kill("SIGKILL");
  assert.equal(await soon(exit, "the end of the host"), "SIGKILL");
  await until("the end of the workers", () => !workers.some(isAlive));
  assert.deepEqual(runJson(home, ["data", "list"]).json.structured.datasets, []);
  assert.deepEqual(datasetFiles(), []);
});

test("an interrupt while a file is read ends it at once, with nothing left", async () => {
  const host = spawn(alisio, ["data", "inspect", "big.csv", "--json"], { cwd: home.workspace, env: home.env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "", out = "";
  host.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  host.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  const exit = new Promise((resolve) => host.on("close", resolve));
  await until("progress", () => /"progress"/.test(said));
  const workers = beneath(host.pid);
  host.kill("SIGINT");
  assert.notEqual(await soon(exit, "the end of the host"), 0);
  assert.match(out, /"code":"(INTERRUPTED|CANCELLED)"/);
  assert.ok(!workers.some(isAlive));
  assert.deepEqual(datasetFiles(), []);
});

test("a script inspects five files at once and joins them; an error has its code", () => {
  for (let i = 0; i < 5; i++) writeFileSync(join(home.workspace, `part${i}.csv`), `k,v\n1,${i}\n2,${i * 10}\n`);
  const code = `const parts = await Promise.all([0, 1, 2, 3, 4].map((i) => tools.data_inspect({ path: "part" + i + ".csv" })));
    const datasets = Object.fromEntries(parts.map((p, i) => ["p" + i, p.datasetId]));
    const sql = "SELECT k, sum(v) AS s FROM (" + Object.keys(datasets).map((a) => "SELECT * FROM " + a + ".data").join(" UNION ALL ") + ") GROUP BY k ORDER BY k";
    const { rows } = await tools.data_query({ datasets, sql });
    const errors = await Promise.all([tools.data_inspect({ path: "none.csv" }), tools.data_query({ datasetId: parts[0].datasetId, sql: "DROP TABLE data" })]
      .map((p) => p.catch((e) => [e.name, e.code])));
    return { rows, errors };`;
  const { json } = runJson(home, ["js", "-e", code]);
  assert.equal(json.ok, true, JSON.stringify(json.error));
  assert.deepEqual(json.structured.value, { rows: [[1, 10], [2, 100]], errors: [["ToolError", "NOT_FOUND"], ["ToolError", "QUERY_REJECTED"]] });
});

test("a script or a call that is cancelled while a file is read takes its process along", async () => {
  const client = new McpClient(home);
  await client.initialize();
  const pid = client.process.pid;
  for (const [name, args] of [
    ["data_inspect", { path: "big.csv" }],
    ["js_run", { code: 'return await tools.data_inspect({ path: "big.csv" });' }],
  ]) {
    const before = client.notifications.length;
    const token = `t-${name}`;
    const id = client.nextId;
    const answer = client.request("tools/call", { name, arguments: args, _meta: { progressToken: token } });
    answer.catch(() => {});
    const reads = () => beneath(pid).filter((p) => {
      try {
        return readFileSync(`/proc/${p}/cmdline`, "utf8").includes("__data-ingest");
      } catch {
        return false;
      }
    });
    await until(`${name}: a worker`, () => reads().length > 0);
    if (name === "data_inspect")
      await until("progress", () => client.notifications.slice(before).some((n) => n.method === "notifications/progress" && n.params.progressToken === token));
    client.send({ method: "notifications/cancelled", params: { requestId: id } });
    await until(`${name}: its end`, () => reads().length === 0);
    await until(`${name}: rest`, () => childrenOf(pid).length <= AT_REST);
    await until(`${name}: no file`, () => !datasetFiles().some((f) => f.includes("tmp")));
  }
  await client.close();
});

test("resources are listed page by page, datasets and runs, each once", async () => {
  const client = new McpClient(home);
  await client.initialize();
  const made = [];
  for (let i = 0; i < 55; i++) {
    writeFileSync(join(home.workspace, "one.csv"), `a\n${i}\n`);
    const r = await client.request("tools/call", { name: "data_inspect", arguments: { path: "one.csv" } });
    made.push(`dataset://${r.result.structuredContent.datasetId}`);
  }
  for (let i = 0; i < 3; i++) await client.request("tools/call", { name: "js_run", arguments: { code: "return 1" } });
  const uris = [];
  let cursor, pages = 0;
  do {
    const { result } = await client.request("resources/list", cursor ? { cursor } : {});
    assert.ok(result.resources.length <= 50);
    uris.push(...result.resources.map((r) => r.uri));
    cursor = result.nextCursor;
    pages++;
  } while (cursor);
  assert.ok(pages >= 2);
  assert.equal(new Set(uris).size, uris.length);
  const datasets = uris.filter((u) => u.startsWith("dataset://"));
  assert.deepEqual(datasets.slice(0, 55), [...made].reverse());
  assert.ok(uris.filter((u) => u.startsWith("run://")).length >= 3);
  for (const cursor of ["ds_00000000000000000000000000", "x", ""])
    assert.ok((await client.request("resources/list", { cursor })).error, cursor);
  await client.close();
});
