// dashboard_generate against the real binary: from the command line, over MCP and from a script.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { McpClient, childrenOf, isAlive, makeHome, run, runJson, soon, until } from "./lib.mjs";

const regions = ["North", "South", "East", "West"];
const rows = (n) => {
  const lines = ["date,region,channel,sales,cost,name"];
  for (let i = 0; i < n; i++) {
    const day = `${2023 + (i % 2)}-${String((i % 12) + 1).padStart(2, "0")}-${String((i % 28) + 1).padStart(2, "0")}`;
    lines.push([day, regions[(i * 7) % 4], i % 3 ? "web" : "shop", ((i * 37) % 500) + 0.25, (i * 11) % 90, `order ${i}`].join(","));
  }
  return lines.join("\n") + "\n";
};

let home, dataset, other;
const call = (args, options) => runJson(home, ["tool", "call", "dashboard_generate", JSON.stringify(args)], options).json;
const inspect = (path, where = home) =>
  runJson(where, ["tool", "call", "data_inspect", JSON.stringify({ path, sampleRows: 0 })]).json.structured.datasetId;
before(() => {
  home = makeHome({
    "sales.csv": rows(400),
    "few.csv": "date,region,sales\n2024-01-05,North,10.5\n2024-02-06,South,20.25\n2024-03-07,North,7.75\n2024-04-08,East,8.5\n",
    "names.csv": "a\n" + Array.from({ length: 60 }, (_, i) => `text number ${i} that is long\n`).join(""),
  });
  dataset = inspect("sales.csv");
});
after(() => {
  home.remove();
  other?.remove();
});

const folderOf = (id) => {
  const root = join(home.env.ALISIO_STATE_HOME, "artifacts");
  for (const workspace of readdirSync(root))
    for (const session of readdirSync(join(root, workspace)))
      for (const name of readdirSync(join(root, workspace, session)))
        if (name.endsWith(id)) return join(root, workspace, session, name);
  throw new Error(`no folder of ${id}`);
};
const pageOf = (made) => readFileSync(join(folderOf(made.artifactId), "files/dashboard.html"), "utf8");

// As much of JSON Schema as our output schemas use; a member that is not declared is none.
const conforms = (schema, value, at = "") => {
  const is = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  if (schema.type) assert.ok(schema.type === is || (schema.type === "number" && is === "integer"), `${at}: ${is}, not ${schema.type}`);
  if (schema.items) value.forEach((one, i) => conforms(schema.items, one, `${at}/${i}`));
  for (const name of schema.required ?? []) assert.ok(name in value, `${at}/${name} is missing`);
  if (!schema.properties) return;
  for (const [name, one] of Object.entries(value)) {
    assert.ok(schema.properties[name], `${at}/${name} is not in the schema`);
    conforms(schema.properties[name], one, `${at}/${name}`);
  }
};
const schema = () => runJson(home, ["tool", "describe", "dashboard_generate"]).json.structured.outputSchema;

test("one call makes a page that is published, and says what is in it", () => {
  const made = call({ datasetId: dataset, goal: "sales by region" });
  assert.equal(made.ok, true, JSON.stringify(made));
  const { structured, text } = made;
  conforms(schema(), structured);
  assert.equal(structured.rows, 400);
  assert.ok(structured.widgets.length >= 3);
  assert.ok(structured.widgets.every((w) => w.id && w.type && w.title && /^(SELECT|WITH) /.test(w.sql)));
  assert.equal(new Set(structured.widgets.map((w) => w.id)).size, structured.widgets.length);
  assert.equal(structured.plan.version, 1);
  assert.ok(text.length < 12_000);
  assert.match(text, /^a dashboard: \d+ KPIs?, \d+ charts?/);
  assert.match(text, new RegExp(`published dashboard\\.html \\(dashboard, .*, ${structured.artifactId}\\)`));
  const page = pageOf(structured);
  assert.equal(Buffer.byteLength(page), structured.bytes);
  assert.match(page, /^<!doctype html>/i);
  assert.match(page, /sales\.csv/);
  assert.doesNotMatch(page, /\b(?:src|href)="?(?:https?:)?\/\//);
  for (const region of regions) assert.ok(page.includes(region), region);
});

test("the SQL of each widget runs as it stands", () => {
  const { widgets } = call({ datasetId: dataset, goal: "analysis of sales and cost by region and channel", plan: true }).structured;
  assert.ok(widgets.length >= 4);
  for (const { id, sql } of widgets) {
    const r = runJson(home, ["tool", "call", "data_query", JSON.stringify({ datasetId: dataset, sql })]).json;
    assert.equal(r.ok, true, `${id}: ${sql}\n${JSON.stringify(r.error)}`);
  }
});

test("the same request gives the same bytes", () => {
  const twice = [0, 1].map(() => pageOf(call({ datasetId: dataset, goal: "ventas por región", locale: "es-CO" }).structured));
  assert.ok(twice[0] === twice[1]);
  assert.match(twice[0], /<html[^>]* lang="es-CO"/);
});

test("numbers and dates of any locale are formatted behind the seal", () => {
  for (const locale of ["de", "fa", "th-TH-u-ca-buddhist", "hi", "zh-Hant"]) {
    const made = call({ datasetId: dataset, locale });
    assert.equal(made.ok, true, `${locale}: ${JSON.stringify(made.error)}`);
  }
  const bad = call({ datasetId: dataset, locale: "no such tag" });
  assert.equal(bad.error.code, "INVALID_INPUT");
  assert.match(bad.error.hint, /BCP 47/);
});

test("a plan is returned without a page, and built when it comes back as spec", () => {
  const count = () => runJson(home, ["tool", "call", "artifact_list", '{"limit":100}']).json.structured.artifacts.length;
  const before = count();
  const { structured, text } = call({ datasetId: dataset, goal: "sales by region", plan: true });
  conforms(schema(), structured);
  assert.equal(structured.artifactId, undefined);
  assert.equal(count(), before);
  assert.deepEqual(JSON.parse(text.slice(text.indexOf('\n{"') + 1)), structured.plan);
  const plan = structuredClone(structured.plan);
  plan.title = "Mine";
  plan.widgets = plan.widgets.filter((w) => w.type !== "donut");
  plan.widgets[0].title = "Edited <b>";
  plan.widgets.push({ id: "x", type: "pie", metric: "nothing", invented: true });
  const made = call({ datasetId: dataset, spec: plan });
  assert.equal(made.ok, true, JSON.stringify(made));
  assert.equal(made.structured.title, "Mine");
  assert.equal(made.structured.widgets[0].title, "Edited <b>");
  assert.deepEqual(made.structured.missing, ["nothing"]);
  assert.ok(made.structured.notes.length > 0);
  assert.match(pageOf(made.structured), /Edited &lt;b&gt;/);
});

test("like makes an earlier dashboard of another dataset, and says which columns are missing", () => {
  const first = call({ datasetId: dataset, goal: "sales and cost by channel and region", title: "Shop" }).structured;
  const made = call({ datasetId: inspect("few.csv"), like: first.artifactId });
  assert.equal(made.ok, true, JSON.stringify(made));
  assert.equal(made.structured.title, "Shop");
  assert.equal(made.structured.rows, 4);
  for (const column of ["channel", "cost"]) assert.ok(made.structured.missing.includes(column), column);
  assert.ok(!made.structured.missing.includes("region"));
  assert.match(made.text, /missing in this dataset: /);
  const page = runJson(home, ["tool", "call", "artifact_create", JSON.stringify({ fileName: "p.html", text: "<p>x" })]).json.structured;
  assert.equal(call({ datasetId: dataset, like: page.id }).error.code, "INVALID_INPUT");
  assert.equal(call({ datasetId: dataset, like: "art_01J00000000000000000000000" }).error.code, "NOT_FOUND");
});

test("filters keep rows, and what they name wrongly is told with what there is", () => {
  const of = (filters) => call({ datasetId: dataset, filters });
  const north = of([{ column: "region", op: "=", value: "North" }]).structured;
  assert.ok(north.widgets.every((w) => w.sql.includes("'North'")), JSON.stringify(north.widgets));
  const wrong = of([{ column: "regoin", op: "=", value: "North" }]);
  assert.equal(wrong.error.code, "INVALID_INPUT");
  assert.match(wrong.error.message + wrong.error.hint, /regoin.*region/s);
  const op = of([{ column: "region", op: "like", value: "N%" }]);
  assert.match(op.error.code, /INPUT_INVALID/);
  assert.match(op.error.message, /not_in/);
  assert.equal(of([{ column: "sales", op: "between", value: [1] }]).error.code, "INVALID_INPUT");
});

test("by crosses two columns", () => {
  const made = call({ datasetId: dataset, by: ["region", "channel"] });
  assert.equal(made.ok, true, JSON.stringify(made));
  assert.ok(made.structured.plan.widgets.some((w) => w.role === "crosstab" && w.by), JSON.stringify(made.structured.plan.widgets));
  assert.equal(call({ datasetId: dataset, by: ["region", "nothing"] }).error.code, "INVALID_INPUT");
  assert.match(call({ datasetId: dataset, by: ["region"] }).error.code, /INPUT_INVALID/);
});

test("noRows leaves the rows of the file out", () => {
  const goal = "analysis of sales and cost, detail";
  const all = call({ datasetId: dataset, goal }).structured, none = call({ datasetId: dataset, goal, noRows: true }).structured;
  assert.ok(all.rawRows > 0, JSON.stringify(all.widgets));
  assert.equal(none.rawRows, 0);
  assert.ok(!none.widgets.some((w) => w.type === "table" || w.type === "scatter"));
});

test("what it cannot do has a code and a way on", () => {
  const sheet = call({ datasetId: dataset, sheet: "nope" });
  assert.equal(sheet.error.code, "NOT_FOUND");
  assert.match(sheet.error.message, /nope/);
  const names = call({ datasetId: inspect("names.csv") });
  if (!names.ok) {
    assert.equal(names.error.code, "NO_USABLE_COLUMNS");
    assert.match(names.error.message + names.error.hint, /python_run/);
  }
  other = makeHome({ "sales.csv": rows(5) });
  const foreign = runJson({ ...other, env: { ...home.env } }, ["tool", "call", "dashboard_generate", JSON.stringify({ datasetId: dataset })]);
  assert.equal(foreign.json.error.code, "NOT_FOUND");
  const long = call({ datasetId: dataset, goal: "sales " + "word ".repeat(3000) });
  assert.ok(long.structured.notes.some((n) => n.includes("2,000")), JSON.stringify(long.structured.notes));
});

test("it needs no Python and no other program", () => {
  assert.equal(call({ datasetId: dataset }, { env: { PATH: "/nonexistent" } }).ok, true);
});

test("--read-only and the switches take it away", async () => {
  const denied = runJson(home, ["--read-only", "tool", "call", "dashboard_generate", JSON.stringify({ datasetId: dataset })]);
  assert.equal(denied.json.error.code, "PERMISSION_DENIED");
  for (const key of ["analysis.smartDashboard", "analysis.enabled"]) {
    const config = makeHome();
    const off = { env: { ALISIO_CONFIG_HOME: config.env.ALISIO_CONFIG_HOME } };
    assert.equal(run(home, ["config", "set", key, "false"], off).status, 0);
    assert.equal(call({ datasetId: dataset }, off).error.code, "TOOL_NOT_FOUND");
    const tools = runJson(home, ["tool", "list"], off).json.structured;
    assert.ok(!JSON.stringify(tools).includes("dashboard_generate"));
    config.remove();
  }
  const client = new McpClient(home, ["--read-only"]);
  assert.doesNotMatch((await client.initialize()).result.instructions, /dashboard_generate/);
  assert.ok(!(await client.request("tools/list")).result.tools.some((t) => t.name === "dashboard_generate"));
  await client.close();
});

test("a script calls it, without approval", () => {
  writeFileSync(join(home.workspace, "made.js"), `
    const { datasetId } = await tools.data_inspect({ path: "sales.csv" });
    const plan = await tools.dashboard_generate({ datasetId, goal: "sales by channel", plan: true });
    plan.plan.title = "From a script";
    const made = await tools.dashboard_generate({ datasetId, spec: plan.plan });
    let code;
    try { await tools.dashboard_generate({ datasetId, sheet: "none" }); } catch (e) { code = e.code; }
    return { id: made.artifactId, title: made.title, widgets: made.widgets.length, code };`);
  const r = runJson(home, ["js", "made.js"]).json;
  assert.equal(r.ok, true, JSON.stringify(r));
  const { value } = r.structured;
  assert.equal(value.title, "From a script");
  assert.equal(value.code, "NOT_FOUND");
  const { provenance } = JSON.parse(readFileSync(join(folderOf(value.id), "manifest.json"), "utf8"));
  assert.match(provenance.runId, /^exec_/);
});

test("the manifest says how the page was made", () => {
  const goal = "sales by region";
  const made = call({ datasetId: dataset, goal, filters: [{ column: "channel", op: "=", value: "web" }] }).structured;
  const manifest = JSON.parse(readFileSync(join(folderOf(made.artifactId), "manifest.json"), "utf8"));
  const { tool, datasetId, sourceSha256, goal: said, plan, sessionId } = manifest.provenance;
  assert.equal(tool, "dashboard_generate");
  assert.equal(datasetId, dataset);
  assert.match(sourceSha256, /^[0-9a-f]{64}$/);
  assert.equal(said, goal);
  assert.match(sessionId, /^ses/);
  assert.deepEqual(plan, made.plan);
  assert.equal(manifest.title ?? made.title, made.title);
});

// --- over MCP ---

const workersOf = (pid) =>
  childrenOf(pid).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, "utf8").includes("__data-dashboard");
    } catch {
      return false;
    }
  });

test("over MCP: listed with its hints, progress, a result that fits its schema and links to the page", async () => {
  const client = new McpClient(home);
  assert.match((await client.initialize()).result.instructions, /dashboard_generate/);
  const tool = (await client.request("tools/list")).result.tools.find((t) => t.name === "dashboard_generate");
  assert.equal(tool.annotations.readOnlyHint, false);
  assert.equal(tool.annotations.destructiveHint, false);
  const { result } = await client.call("dashboard_generate", { datasetId: dataset, goal: "sales" }, { progressToken: "p" });
  assert.equal(result.isError, false, JSON.stringify(result));
  conforms(tool.outputSchema, result.structuredContent);
  const link = result.content.find((c) => c.type === "resource_link");
  assert.equal(link.uri, `artifact://${result.structuredContent.artifactId}/dashboard.html`);
  const page = (await client.request("resources/read", { uri: link.uri })).result.contents[0];
  assert.equal(page.mimeType, "text/html");
  assert.equal(page.text, pageOf(result.structuredContent));
  const told = client.notifications.filter((n) => n.method === "notifications/progress").map((n) => n.params);
  assert.equal(told[0].message, "analysing");
  assert.ok(told.every((p, i) => i === 0 || p.progress > told[i - 1].progress), JSON.stringify(told));
  const { provenance } = JSON.parse(readFileSync(join(folderOf(result.structuredContent.artifactId), "manifest.json"), "utf8"));
  assert.equal(provenance.client.name, "test");
  await client.close();
});

test("over MCP: what is cancelled ends its process, one that dies is told, and the next is served", async () => {
  writeFileSync(join(home.workspace, "large.csv"), rows(120_000));
  const large = inspect("large.csv");
  const client = new McpClient(home);
  await client.initialize();
  const begin = async (send) => {
    const id = client.nextId++;
    const answer = send(id, { name: "dashboard_generate", arguments: { datasetId: large } });
    const [worker] = await until("its process", () => {
      const found = workersOf(client.process.pid);
      return found.length && found;
    });
    process.kill(worker, "SIGSTOP"); // so that it does not end before the test acts
    return { id, answer, worker };
  };
  const cancelled = await begin((id, params) => client.send({ id, method: "tools/call", params })); // has no answer
  client.send({ method: "notifications/cancelled", params: { requestId: cancelled.id } });
  await until("the end of the process", () => !isAlive(cancelled.worker));
  const killed = await begin((id, params) => client.request("tools/call", params, id));
  process.kill(killed.worker, "SIGKILL");
  const { result } = await soon(killed.answer, "the answer");
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /ENGINE_CRASHED/);
  const after = (await client.call("dashboard_generate", { datasetId: large })).result;
  assert.equal(after.isError, false, JSON.stringify(after));
  assert.equal(after.structuredContent.rows, 120_000);
  await client.close();
});
