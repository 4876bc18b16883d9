// Data files through the real binary: as a person types it, as a script composes it, as a client calls it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { McpClient, makeHome, run, runJson } from "./lib.mjs";

const SALES = 'region,amount,Preis\nNorth,3,"1.234,56"\nSouth,4.5,"2.000,00"\nNorth,5,"12,10"\n,7,"9,99"\n';

let home;
before(() => {
  home = makeHome({
    "sales.csv": SALES,
    "people.json": '[{"name":"Ada","born":1815},{"name":"Grace","born":1906}]',
    "doc.csv": "%PDF-1.4\n1 0 obj\n",
    "esc.csv": 'a,b\n"\u001b[31mred",1\n"=cmd()",2\n',
    ".env.csv": "a\n1\n",
  });
});
after(() => home.remove());

const inspect = (...args) => runJson(home, ["data", "inspect", ...args]);
const query = (...args) => run(home, ["data", "query", ...args]);

function files(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]);
}

test("a file is inspected once and found again", () => {
  const { status, json } = inspect("sales.csv");
  assert.equal(status, 0, JSON.stringify(json));
  const [sheet] = json.structured.sheets;
  assert.match(json.structured.datasetId, /^ds_/);
  assert.deepEqual(sheet.columns.map((c) => c.name), ["region", "amount", "preis"]);
  assert.equal(sheet.rows, 4);
  assert.equal(json.structured.sample.length, 4);
  assert.equal(json.structured.sample[3][0], null);
  assert.match(json.text, /data_values/);
  const again = inspect("sales.csv");
  assert.equal(again.json.structured.reused, true);
  assert.equal(again.json.structured.datasetId, json.structured.datasetId);
  const byId = inspect(json.structured.datasetId, "--rows", "1");
  assert.equal(byId.json.structured.sample.length, 1);
  const person = run(home, ["data", "inspect", "sales.csv"]);
  assert.match(person.stdout, /preis \(Preis\)/);
  assert.equal(files(join(home.env.ALISIO_STATE_HOME, "analysis")).length, 1);
});

test("a query answers in each form, from a file that was never seen", () => {
  const sql = "SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY total DESC LIMIT 2";
  assert.equal(query("sales.csv", sql, "--format", "csv").stdout, "region,total\nNorth,8\n,7\n");
  assert.equal(query("sales.csv", sql, "--format", "tsv").stdout, "region\ttotal\nNorth\t8\n\t7\n");
  assert.deepEqual(JSON.parse(query("sales.csv", sql, "--format", "json").stdout).rows, [["North", 8], [null, 7]]);
  assert.equal(query("sales.csv", sql, "--format", "jsonl").stdout.split("\n")[0], '{"region":"North","total":8}');
  assert.match(query("sales.csv", sql).stdout, /^region +total\nNorth +8\nNULL +7\n$/);
  const { json } = runJson(home, ["data", "query", "people.json", "SELECT max(born) FROM data"]);
  assert.deepEqual(json.structured.rows, [[1906]]);
  assert.equal(query("sales.csv", "SELECT sum(preis) FROM data_values", "--format", "csv").stdout.split("\n")[1], "3256.65");
});

test("values go in by name and by place, and a statement through standard input", () => {
  const where = (sql, ...params) => query("sales.csv", sql, "--format", "csv", ...params.flatMap((p) => ["--param", p])).stdout;
  assert.equal(where("SELECT amount FROM data WHERE amount > :min", "min=4.5"), "amount\n5\n7\n");
  assert.equal(where("SELECT amount FROM data WHERE amount > ?1 AND region = ?2", "1=4", "2=North"), "amount\n5\n");
  const piped = run(home, ["data", "query", "sales.csv", "--format", "csv"], { input: "SELECT count(*) AS n FROM data" });
  assert.equal(piped.stdout, "n\n4\n");
});

test("a mistake is told with what to do", () => {
  for (const [args, code, words] of [
    [["query", "sales.csv", "SELECT reigon FROM data"], "QUERY_ERROR", /reigon.*region\?/s],
    [["query", "sales.csv", "SELECT * FROM dta"], "QUERY_ERROR", /data\?/],
    [["query", "sales.csv", "DROP TABLE data"], "QUERY_REJECTED", /DROP/],
    [["query", "sales.csv", "SELECT 1; SELECT 2"], "QUERY_REJECTED", /second statement/],
    [["query", "sales.csv", "SELECT 'x"], "QUERY_ERROR", /'x/],
    [["query", "sales.csv", "SELECT sum(preis) FROM data"], "QUERY_ERROR", /data_values/],
    [["query", "sales.csv", "SELECT 1", "--format", "xml"], "INVALID_INPUT", /table, csv/],
    [["query", "sales.csv", "SELECT 1", "--exact"], "INVALID_INPUT", /csv and tsv/],
    [["query", "sales.csv", "SELECT 1", "--param", "x"], "INVALID_INPUT", /no name/],
    [["query", "sales.csv", "SELECT 1", "--format", "csv", "--json"], "INVALID_INPUT", /two forms/],
    [["query", "ds_00000000000000000000000000", "SELECT 1"], "NOT_FOUND", /ds_0/],
    [["inspect", "doc.csv"], "DATASET_UNSUPPORTED", /PDF/],
    [["inspect", "no.csv"], "NOT_FOUND", /no\.csv/],
    [["inspect", "."], "INVALID_INPUT", /folder/],
    [["inspect", ".env.csv"], "PATH_SECRET", /secrets/],
    [["inspect", "sales.csv", "--sheet", "North"], "NOT_FOUND", /data/],
    [["inspect", "sales.csv", "--header", "maybe"], "INVALID_INPUT", /yes or no/],
    [["rm", "ds_x"], "INVALID_INPUT", /data list/],
  ]) {
    const r = run(home, ["data", ...args]);
    assert.notEqual(r.status, 0, args.join(" "));
    assert.match(r.stderr + r.stdout, new RegExp(code), args.join(" "));
    assert.match(r.stderr + r.stdout, words, args.join(" "));
  }
});

test("an endless statement ends, and the next one works", () => {
  const sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";
  const { status, json } = runJson(home, ["data", "query", "sales.csv", sql, "--timeout", "300"]);
  assert.equal(status, 5);
  assert.equal(json.error.code, "QUERY_TIMEOUT");
  assert.equal(query("sales.csv", "SELECT 1 AS n", "--format", "csv").stdout, "n\n1\n");
});

test("bytes of cells reach a pipe as they are, formulas with --exact only", () => {
  assert.match(query("esc.csv", "SELECT a FROM data", "--format", "csv").stdout, /\u001b\[31mred\n'=cmd\(\)/);
  assert.match(query("esc.csv", "SELECT a FROM data", "--format", "csv", "--exact").stdout, /\n=cmd\(\)/);
});

test("the options of reading make another dataset", () => {
  const forced = inspect("sales.csv", "--header", "no");
  assert.equal(forced.json.structured.sheets[0].rows, 5);
  assert.equal(forced.json.structured.sheets[0].columns[0].name, "column_1");
  assert.equal(inspect("sales.csv").json.structured.sheets[0].rows, 4);
});

test("datasets are listed, and go one by one, by age and with their session", () => {
  const listed = () => runJson(home, ["data", "list"]).json.structured.datasets;
  const before = listed();
  assert.ok(before.length >= 2);
  assert.match(run(home, ["data", "list"]).stdout, /sales\.csv/);
  assert.equal(run(home, ["data", "rm", before[0].datasetId]).status, 0);
  assert.equal(run(home, ["purge", "--dataset", before[1].datasetId]).status, 0);
  assert.equal(listed().length, before.length - 2);
  const old = inspect("sales.csv").json.structured.datasetId;
  assert.equal(run(home, ["sessions", "rm", "default"]).status, 0);
  assert.equal(listed().length, 0);
  assert.equal(files(join(home.env.ALISIO_STATE_HOME, "analysis")).length, 0);
  assert.equal(run(home, ["data", "inspect", old]).status, 4);
  assert.match(run(home, ["forge", "status"]).stdout, /datasets +0/);
});

test("a script inspects and queries, also when nothing may be written", () => {
  const code = `const { datasetId, sheets } = await tools.data_inspect({ path: "sales.csv" });
    const a = await tools.data_query({ datasetId, sql: "SELECT region, sum(amount) s FROM data GROUP BY 1 ORDER BY 2 DESC" });
    const b = await tools.data_query({ datasets: { x: datasetId, y: datasetId }, sql: "SELECT count(*) FROM x.data, y.data" });
    let wrong;
    try { await tools.data_query({ datasetId, sql: "SELECT nope FROM data" }); } catch (e) { wrong = e.code; }
    return [sheets[0].columns.length, a.rows, b.rows, wrong];`;
  const { json } = runJson(home, ["js", "--read-only", "-e", code]);
  assert.equal(json.ok, true, JSON.stringify(json));
  assert.deepEqual(json.structured.value, [3, [["North", 8], [null, 7], ["South", 4.5]], [[16]], "QUERY_ERROR"]);
});

test("an error says where in the statement it is, to programs too", async () => {
  const sql = "SELECT region,\n  amunt FROM data";
  const { json } = runJson(home, ["data", "query", "sales.csv", sql]);
  assert.equal(json.error.code, "QUERY_ERROR");
  assert.deepEqual([json.error.details.position, json.error.details.column, json.error.details.close], [18, "amunt", ["amount"]]);
  const client = new McpClient(home);
  await client.initialize();
  const { datasetId } = (await client.call("data_inspect", { path: "sales.csv" })).result.structuredContent;
  const { result } = await client.call("data_query", { datasetId, sql });
  assert.equal(result.isError, true);
  assert.deepEqual(result.structuredContent.error.details, json.error.details);
  await client.close();
});

test("an alias is one whatever its letter case; those of SQLite are taken", async () => {
  const client = new McpClient(home);
  await client.initialize();
  const { datasetId } = (await client.call("data_inspect", { path: "sales.csv" })).result.structuredContent;
  const ask = async (datasets) => (await client.call("data_query", { datasets, sql: "SELECT 1" })).result.content[0].text;
  assert.match(await ask({ a: datasetId, A: datasetId }), /^TOOL_INPUT_INVALID: datasets names A twice/);
  for (const alias of ["main", "Main", "TEMP", "a'b", "1a", ""]) assert.match(await ask({ [alias]: datasetId }), /^TOOL_INPUT_INVALID: .* is no alias/);
  for (const alias of ["select", "data", "sqlite_master"]) assert.match(await ask({ [alias]: datasetId }), /^1\n1\n/);
  await client.close();
});

test("a description of a thousand columns is cut, but not the id in it", async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `column number ${i}`);
  writeFileSync(join(home.workspace, "wide.csv"), [names, ...Array.from({ length: 20 }, () => names)].map((r) => r.join(",")).join("\n") + "\n");
  const client = new McpClient(home);
  await client.initialize();
  const { content, structuredContent } = (await client.call("data_inspect", { path: "wide.csv", sampleRows: 20 })).result;
  assert.ok(JSON.stringify(content).length + JSON.stringify(structuredContent).length < 50_000);
  assert.equal(structuredContent.truncated, true);
  assert.equal(structuredContent.datasetId, content[0].text.slice(0, 29));
  await client.close();
});

test("a client inspects, queries, reads and completes; another workspace finds nothing", async () => {
  const client = new McpClient(home);
  await client.initialize();
  const tools = (await client.request("tools/list")).result.tools.map((t) => t.name);
  assert.ok(tools.includes("data_inspect") && tools.includes("data_query"));
  const call = async (name, args) => (await client.request("tools/call", { name, arguments: args })).result;
  const seen = await call("data_inspect", { path: "sales.csv" });
  assert.equal(seen.isError, false);
  const { datasetId } = seen.structuredContent;
  const counted = await call("data_query", { datasetId, sql: "SELECT count(*) n FROM data WHERE amount > ?1", params: [4] });
  assert.deepEqual(counted.structuredContent.rows, [[3]]);
  assert.match(counted.content[0].text, /^n\n3\n/);
  const outside = await call("data_inspect", { path: "/etc/passwd" });
  assert.equal(outside.isError, true);
  assert.match(outside.content[0].text, /PATH_OUTSIDE_WORKSPACE/);
  const uri = `dataset://${datasetId}`;
  const listed = (await client.request("resources/list")).result.resources;
  assert.ok(listed.some((r) => r.uri === uri));
  const read = (await client.request("resources/read", { uri })).result.contents[0];
  assert.equal(JSON.parse(read.text).datasetId, datasetId);
  const gone = await client.request("resources/read", { uri: "dataset://ds_00000000000000000000000000" });
  assert.ok(gone.error);
  const ref = { type: "ref/resource", uri: "dataset://{datasetId}" };
  const completed = await client.request("completion/complete", { ref, argument: { name: "datasetId", value: "ds_" } });
  assert.ok(completed.result.completion.values.includes(datasetId));
  const guide = await call("forge_guide", { topic: "data" });
  assert.match(guide.content[0].text, /data_values/);
  await client.close();
  const other = join(home.dir, "other");
  const { mkdirSync } = await import("node:fs");
  mkdirSync(other);
  assert.equal(run(home, ["--cwd", other, "data", "inspect", datasetId]).status, 4);
});

test("limits of the configuration are kept and named; off is off", () => {
  const set = (key, value) => assert.equal(run(home, ["config", "set", key, value]).status, 0);
  writeFileSync(join(home.workspace, "more.csv"), "a\n1\n2\n3\n");
  set("analysis.data.maxRows", "2");
  assert.match(run(home, ["data", "inspect", "more.csv"]).stderr, /INGEST_LIMIT.*analysis\.data\.maxRows/s);
  set("analysis.data.maxRows", "5000000");
  set("analysis.data.maxUploadBytes", "4");
  assert.match(run(home, ["data", "inspect", "more.csv"]).stderr, /INGEST_LIMIT.*analysis\.data\.maxUploadBytes/s);
  set("analysis.data.maxUploadBytes", "209715200");
  set("analysis.enabled", "false");
  assert.match(run(home, ["data", "inspect", "more.csv"]).stderr, /analysis\.enabled/);
  set("analysis.enabled", "true");
  assert.equal(run(home, ["data", "inspect", "more.csv"]).status, 0);
});
