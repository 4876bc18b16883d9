// Artifacts from the command line and from scripts: made, listed, read (tables through the data engine) and copied out.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeHome, run, runJson } from "./lib.mjs";

let home;
before(() => (home = makeHome()));
after(() => home.remove());

const call = (name, args, flags = []) => runJson(home, [...flags, "tool", "call", name, JSON.stringify(args)]).json;

test("what one process publishes is found by the next, in another session of the workspace, too", () => {
  const made = call("artifact_create", { fileName: "report.md", title: "Weekly", text: "# Hé\n" });
  assert.equal(made.ok, true, JSON.stringify(made));
  const { id } = made.structured;
  const listed = call("artifact_list", {}).structured.artifacts;
  assert.deepEqual(listed.map((a) => [a.id, a.title, a.kind, a.bytes, a.status]), [[id, "Weekly", "document", 6, "ready"]]);
  const session = runJson(home, ["--session", "new", "tool", "call", "artifact_read", JSON.stringify({ id })]).json;
  assert.equal(session.structured.text, "# Hé\n");
  const other = makeHome();
  other.env = { ...home.env, HOME: other.dir };
  const elsewhere = runJson(other, ["tool", "call", "artifact_read", JSON.stringify({ id })]);
  assert.equal(elsewhere.json.error.code, "NOT_FOUND");
  other.remove();
});

test("a session of its own lists what was made in it, and the workspace lists all", () => {
  const own = runJson(home, ["--session", "new", "js", "-e",
    "await tools.artifact_create({fileName: 'own.txt', text: 'x'}); return (await tools.artifact_list({})).artifacts.map((a) => a.fileName)"]);
  assert.deepEqual(own.json.structured.value, ["own.txt"], own.stderr);
  assert.ok(call("artifact_list", {}).structured.artifacts.some((a) => a.fileName === "own.txt"));
});

test("a table gives its rows, and the dataset that has all of them", () => {
  const text = "name,n\n" + Array.from({ length: 50 }, (_, i) => `row ${i},${i}\n`).join("");
  const { id } = call("artifact_create", { fileName: "rows.csv", text }).structured;
  const read = call("artifact_read", { id });
  assert.equal(read.structured.rowCount, 50, JSON.stringify(read));
  assert.deepEqual(read.structured.columns.map((c) => c.name), ["name", "n"]);
  assert.equal(read.structured.rows.length, 20);
  assert.deepEqual(read.structured.rows[7], ["row 7", 7]);
  assert.equal(read.structured.truncated, true);
  assert.match(read.text, /^rows\.csv: a table of 50 rows; data_query reads all of it as ds_/);
  const sum = call("data_query", { datasetId: read.structured.datasetId, sql: "SELECT sum(n) FROM data" });
  assert.deepEqual(sum.structured.rows, [[1225]]);
  assert.equal(call("artifact_read", { id }).structured.datasetId, read.structured.datasetId); // read once
  const raw = call("artifact_read", { id, maxBytes: 12 });
  assert.equal(raw.structured.text, "name,n\nrow 0");
});

test("a file that only calls itself a table is read as text", () => {
  const { id } = call("artifact_create", { fileName: "broken.csv", text: "" }).structured;
  const read = call("artifact_read", { id });
  assert.equal(read.ok, true, JSON.stringify(read));
  assert.equal(read.structured.text, "");
});

test("scripts make, list, read and export as the gate lets them", () => {
  const code = `const made = await tools.artifact_create({ fileName: "a.json", text: "{}" });
    const list = await tools.artifact_list({ kind: "data" });
    const read = await tools.artifact_read({ id: made.id });
    const out = await tools.artifact_export({ id: made.id, target: "out" }).catch((e) => [e.code, e.hint]);
    return { same: list.artifacts[0].id === made.id, text: read.text, out };`;
  const refused = runJson(home, ["js", "-e", code]).json.structured.value;
  assert.deepEqual(refused, { same: true, text: "{}", out: ["APPROVAL_REQUIRED", "call artifact_export directly, or start alisio with --allow-write"] });
  assert.ok(!existsSync(join(home.workspace, "out")));
  const allowed = runJson(home, ["--allow-write", "js", "-e", code]).json.structured.value;
  assert.deepEqual(allowed.out.files, ["out/a.json"]);
  assert.equal(readFileSync(join(home.workspace, "out/a.json"), "utf8"), "{}");
});

test("a typed export may leave the workspace, and never replaces by itself", () => {
  const { id } = call("artifact_create", { fileName: "n.txt", text: "new" }).structured;
  const target = join(home.dir, "elsewhere");
  assert.equal(call("artifact_export", { id, target }).ok, true);
  writeFileSync(join(target, "n.txt"), "mine");
  assert.equal(call("artifact_export", { id, target }).error.code, "TOOL_ERROR");
  assert.equal(readFileSync(join(target, "n.txt"), "utf8"), "mine");
  assert.equal(call("artifact_export", { id, target, overwrite: true }).ok, true);
  assert.equal(readFileSync(join(target, "n.txt"), "utf8"), "new");
});

test("--read-only leaves listing and reading, and publishes nothing", () => {
  const names = (flags) => runJson(home, [...flags, "js", "-e", "return (await tools.list()).map((t) => t.name).filter((n) => /^artifact_/.test(n)).sort()"]).json.structured.value;
  assert.deepEqual(names([]), ["artifact_create", "artifact_export", "artifact_list", "artifact_read"]);
  assert.deepEqual(names(["--read-only"]), ["artifact_list", "artifact_read"]);
  assert.equal(run(home, ["--read-only", "tool", "call", "artifact_list", "{}"]).status, 0);
});
