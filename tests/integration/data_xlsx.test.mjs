// A workbook and its CSV export are the same dataset: columns, types, statistics and cells.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome, root, run, runJson } from "./lib.mjs";

const python = "/usr/bin/python3";
const libraries = spawnSync(python, ["-c", "import openpyxl, xlsxwriter"]).status === 0;

function inspect(home, file) {
  const r = runJson(home, ["data", "inspect", file, "--rows", "0"]);
  assert.equal(r.status, 0, `${file}: ${r.stderr}${r.stdout}`);
  return r.json.structured.sheets[0];
}

const cells = (home, file, table) => {
  const r = run(home, ["data", "query", file, `SELECT * FROM "${table}"`, "--format", "csv"]);
  assert.equal(r.status, 0, r.stderr);
  return r.stdout;
};

test("workbooks by openpyxl and XlsxWriter against their CSV twins", { skip: libraries ? false : "python3-openpyxl and python3-xlsxwriter are not here" }, () => {
  const home = makeHome();
  try {
    const made = spawnSync(python, [join(root, "tests/fixtures/workbooks.py"), home.workspace], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    const pairs = made.stdout.trim().split("\n").map((line) => line.split(" "));
    assert.ok(pairs.length >= 12);
    for (const [name, library] of pairs) {
      const twin = inspect(home, `${name}.csv`);
      const sheet = inspect(home, `${name}.${library}.xlsx`);
      const where = `${name} by ${library}`;
      assert.equal(sheet.name, "Sheet One");
      assert.equal(sheet.table, "s_sheet_one");
      assert.equal(sheet.rows, twin.rows, where);
      assert.deepEqual(sheet.columns, twin.columns, where);
      assert.equal(cells(home, `${name}.${library}.xlsx`, sheet.table), cells(home, `${name}.csv`, "data"), where);
    }
  } finally {
    home.remove();
  }
});
