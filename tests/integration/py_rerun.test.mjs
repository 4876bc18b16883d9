// Running a script again when somebody has been at what was kept of it: scripts without a sandbox can.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { makeHome, runJson } from "./lib.mjs";

const NAME = `${"é".repeat(60)}.csv`;
let home, id, kept;

const py = (args) => runJson(home, ["tool", "call", "python_run", JSON.stringify(args)]).json;
const refused = (args) => {
  const { error } = py(args);
  assert.equal(error?.code, "RERUN_REFUSED", JSON.stringify(error));
  assert.ok(!error.message.includes("\ufffd"), error.message);
  return error.message;
};

before(() => {
  home = makeHome({ [NAME]: "a\n1\n" });
  const first = py({ code: "print(1)", inputs: [{ path: NAME }] });
  assert.ok(first.ok, JSON.stringify(first));
  id = first.structured.executionId;
  kept = spawnSync("find", [home.env.ALISIO_STATE_HOME, "-path", `*${id}/input/*.csv`], { encoding: "utf8" }).stdout.trim();
  assert.ok(kept);
});
after(() => home.remove());

test("a kept copy that became a file of holes is not read", () => {
  truncateSync(kept, 2 ** 40); // hashing that would take an hour
  assert.match(refused({ rerunOf: id }), /has changed/);
});

test("nor is a link or a pipe in its place", () => {
  rmSync(kept);
  symlinkSync("/etc/hostname", kept);
  assert.match(refused({ rerunOf: id }), /is missing/);
  rmSync(kept);
  spawnSync("mkfifo", [kept]);
  assert.match(refused({ rerunOf: id }), /is missing/);
});

test("the same size with other bytes is another file", () => {
  rmSync(kept);
  writeFileSync(kept, "a\n2\n");
  assert.match(refused({ rerunOf: id }), /has changed/);
});

test("a message about long names has whole characters", () => {
  assert.match(refused({ rerunOf: id, inputs: [{ path: NAME, as: `x${"ü".repeat(100)}` }] }), /none of its inputs' names/);
});

test("with the kept copy replaced by a given input it runs", () => {
  const again = py({ rerunOf: id, inputs: [{ path: NAME }] });
  assert.ok(again.ok, JSON.stringify(again.error));
  assert.deepEqual(again.structured.replacedInputs, [NAME]);
});
