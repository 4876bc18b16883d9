// `alisio dashboard`: a file becomes a page, from the command line.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome, run, runJson } from "./lib.mjs";

const ROWS = [];
for (let i = 0; i < 240; i++) {
  const day = `2025-${String((i % 12) + 1).padStart(2, "0")}-${String((i % 27) + 1).padStart(2, "0")}`;
  ROWS.push([day, ["North", "South", "East"][i % 3], ["web", "shop"][i % 2], ((i * 37) % 500) + 0.5, (i * 7) % 50].join(","));
}
const SALES = "day,region,channel,amount,units\n" + ROWS.join("\n") + "\n";
const sum = (wanted) =>
  ROWS.map((line) => line.split(",")).filter(wanted).reduce((total, row) => total + Number(row[3]), 0);

function withHome(body) {
  const home = makeHome({ "sales.csv": SALES });
  try {
    return body(home);
  } finally {
    home.remove();
  }
}

const chromium = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => existsSync(path));

test("a file becomes a page, and standard output is its place", () =>
  withHome((home) => {
    const r = run(home, ["dashboard", "sales.csv"]);
    assert.equal(r.status, 0, r.stderr);
    const page = readFileSync(r.stdout.trim(), "utf8");
    assert.match(page, /^<!doctype html>/i);
    assert.ok(page.length < 500_000);
    assert.match(r.stderr, /art_\w+/);
    assert.match(r.stderr, /kpi +/);
  }));

test("-o writes the page where it is wanted, in the place of what was there", () =>
  withHome((home) => {
    writeFileSync(join(home.workspace, "sales.html"), "old");
    const r = run(home, ["dashboard", "sales.csv", "-o", "sales.html", "--title", "Sales <2025>"]);
    assert.equal(r.status, 0, r.stderr);
    assert.equal(r.stdout, "sales.html\n");
    const page = readFileSync(join(home.workspace, "sales.html"), "utf8");
    assert.match(page, /Sales &lt;2025&gt;/);
    const json = runJson(home, ["dashboard", "sales.csv", "-o", "sales.html"]).json.structured;
    assert.equal(json.path, join(home.workspace, "sales.html"));
    assert.match(json.artifactId, /^art_/);
    assert.ok(json.widgets.every((w) => /^(SELECT|WITH) /.test(w.sql)));
  }));

test("-o names a PDF, which a browser prints", { skip: !chromium && "no Chromium" }, () =>
  withHome((home) => {
    const env = { ALISIO_STATE_HOME: join(home.dir, "state #1?a%41 ñ") }; // in a URL these would mean something
    const args = ["dashboard", "sales.csv", "--title", "Sales2025", "-o", "sales.pdf"];
    const r = run(home, args, { env, timeout: 120_000 }); // a browser starts
    assert.equal(r.status, 0, r.stderr);
    const bytes = readFileSync(join(home.workspace, "sales.pdf"));
    assert.equal(bytes.subarray(0, 5).toString(), "%PDF-");
    assert.match(bytes.toString("latin1"), /\/Title \(Sales2025\)/);
    assert.ok(bytes.length > 10_000);
  }));

test("what -o cannot be is said before anything is made", () =>
  withHome((home) => {
    mkdirSync(join(home.workspace, "out"));
    for (const [name, words] of [
      ["out", /is a folder/],
      ["sales.txt", /neither a page nor a PDF/],
    ]) {
      const r = run(home, ["dashboard", "sales.csv", "-o", name]);
      assert.equal(r.status, 2, r.stderr);
      assert.match(r.stderr, words);
      assert.match(r.stderr, /hint: /);
    }
    assert.deepEqual(runJson(home, ["artifacts", "list"]).json.structured.artifacts, []);
    const r = run(home, ["dashboard", "sales.csv", "-o", "no/such/sales.html"]);
    assert.equal(r.status, 4, r.stderr);
  }));

test("a plan is printed, changed and built", () =>
  withHome((home) => {
    const printed = run(home, ["dashboard", "sales.csv", "--plan"]);
    assert.equal(printed.status, 0, printed.stderr);
    const plan = JSON.parse(printed.stdout);
    assert.equal(plan.version, 1);
    plan.title = "Mine";
    plan.widgets = plan.widgets.filter((w) => w.type === "kpi");
    writeFileSync(join(home.workspace, "plan.json"), JSON.stringify(plan));
    const built = runJson(home, ["dashboard", "sales.csv", "--spec", "plan.json"]).json.structured;
    assert.equal(built.title, "Mine");
    assert.ok(built.widgets.length > 0 && built.widgets.every((w) => w.type === "kpi"));
    const again = run(home, ["dashboard", "sales.csv", "--spec", "-", "-o", "a.html"], { input: JSON.stringify(plan) });
    assert.equal(again.status, 0, again.stderr);
    const bad = run(home, ["dashboard", "sales.csv", "--spec", "sales.csv"]);
    assert.equal(bad.status, 2);
    assert.match(bad.stderr, /the plan in sales.csv is no JSON/);
  }));

test("conditions choose the rows, and a slip in one names what there is", () =>
  withHome((home) => {
    const kpi = (...filters) => {
      const flags = filters.flatMap((f) => ["--filter", f]);
      const r = runJson(home, ["dashboard", "sales.csv", "-o", "f.html", ...flags]);
      assert.equal(r.json.ok, true, r.stdout);
      const page = readFileSync(join(home.workspace, "f.html"), "utf8");
      return [...page.matchAll(/data-ac-v="([^"]+)"/g)].map((m) => Number(m[1]));
    };
    assert.ok(kpi("region=North").includes(sum((r) => r[1] === "North")));
    assert.ok(kpi("region=North|South", "channel!=web").includes(sum((r) => r[1] !== "East" && r[2] === "shop")));
    assert.ok(kpi("amount>=250").includes(sum((r) => Number(r[3]) >= 250)));
    assert.ok(kpi("region~ort").includes(sum((r) => r[1] === "North")));
    const wrong = run(home, ["dashboard", "sales.csv", "--filter", "regoin=North"]);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /regoin/);
    assert.match(wrong.stderr, /region/);
    assert.match(run(home, ["dashboard", "sales.csv", "--filter", "North"]).stderr, /is no condition/);
    assert.match(run(home, ["dashboard", "sales.csv", "--by", "region"]).stderr, /does not name two columns/);
  }));

test("an earlier dashboard is made again of another file", () =>
  withHome((home) => {
    writeFileSync(join(home.workspace, "next.csv"), SALES.replace("channel", "way"));
    const first = runJson(home, ["dashboard", "sales.csv", "--by", "region,channel"]).json.structured;
    const next = runJson(home, ["dashboard", "next.csv", "--like", first.artifactId]).json.structured;
    assert.deepEqual(next.missing, ["channel"]);
    assert.notEqual(next.artifactId, first.artifactId);
  }));

test("rows that hold the sum of the others are left out, whatever the columns are called, and only then", () =>
  withHome((home) => {
    const file = (name, header, total) => {
      const lines = [header];
      for (let i = 0; i < 20; i++)
        lines.push(`North,x${i % 3},${10 + i}`, `South,y${i % 4},${20 + i}`, `Total,z,${total(30 + 2 * i)}`);
      writeFileSync(join(home.workspace, name), lines.join("\n") + "\n");
      return runJson(home, ["dashboard", name]).json.structured;
    };
    for (const header of ["Entity,m,Sales", "Entity,n,Sales", "Entity,k,Sales"])
      assert.deepEqual(file("totals.csv", header, (both) => both).plan.filters, [{ column: "entity", op: "!=", value: "Total" }]);
    assert.deepEqual(file("film.csv", "Entity,n,Sales", () => 7).plan.filters, []);
  }));

test("switched off, read-only or not there: each says so", () =>
  withHome((home) => {
    assert.match(run(home, ["dashboard", "nofile.csv"]).stderr, /NOT_FOUND/);
    assert.equal(run(home, ["dashboard", "sales.csv", "--read-only"]).status, 3);
    assert.equal(run(home, ["config", "set", "analysis.smartDashboard", "false"]).status, 0);
    const off = run(home, ["dashboard", "sales.csv"]);
    assert.equal(off.status, 4);
    assert.match(off.stderr, /analysis\.smartDashboard/);
  }));
