// `alisio dashboard` where a person slips: what is said, and what to do next.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome, run, runJson } from "./lib.mjs";

const ROWS = [];
for (let i = 0; i < 120; i++)
  ROWS.push([`T${1000 + i}`, `2025-${String((i % 12) + 1).padStart(2, "0")}-11`, ["North", "South", "East"][i % 3], (i * 37) % 500 + 0.5].join(","));
const SALES = "order_id,day,region,amount\n" + ROWS.join("\n") + "\n";

function withHome(body) {
  const home = makeHome({ "sales.csv": SALES });
  try {
    return body(home);
  } finally {
    home.remove();
  }
}
const notes = (home, ...args) => {
  const r = runJson(home, ["dashboard", "sales.csv", ...args]);
  assert.equal(r.json.ok, true, r.stdout);
  return r.json.structured.notes.join("\n");
};

// A ZIP of stored files.
function zip(files) {
  const crc = (bytes) => {
    let c = ~0;
    for (const b of bytes) {
      c ^= b;
      for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    }
    return ~c >>> 0;
  };
  const parts = [], directory = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const data = Buffer.from(text), head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x21, 8);
    head.writeUInt32LE(crc(data), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt16LE(name.length, 22);
    parts.push(Buffer.from("PK\x03\x04"), head, Buffer.from(name), data);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), head, place, Buffer.from(name));
    at += 30 + name.length + data.length;
  }
  const list = Buffer.concat(directory), end = Buffer.alloc(18), n = Object.keys(files).length;
  end.writeUInt16LE(n, 4);
  end.writeUInt16LE(n, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, list, Buffer.from("PK\x05\x06"), end]);
}

const escaped = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const cell = (v) => (typeof v === "number" ? `<c><v>${v}</v></c>` : `<c t="inlineStr"><is><t>${escaped(v)}</t></is></c>`);
function workbook(sheets) {
  const names = Object.keys(sheets), main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const relation = (i, type, target) => `<Relationship Id="r${i}" Type="${office}/${type}" Target="${target}"/>`;
  const relations = (list) => `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list}</Relationships>`;
  const files = {
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
    "_rels/.rels": relations(relation(1, "officeDocument", "xl/workbook.xml")),
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${names.map((name, i) => `<sheet name="${escaped(name)}" sheetId="${i + 1}" r:id="r${i + 1}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations(names.map((_, i) => relation(i + 1, "worksheet", `worksheets/sheet${i + 1}.xml`)).join("")),
  };
  names.forEach((name, i) => {
    const rows = sheets[name].map((row) => `<row>${row.map(cell).join("")}</row>`).join("");
    files[`xl/worksheets/sheet${i + 1}.xml`] = `<worksheet xmlns="${main}"><sheetData>${rows}</sheetData></worksheet>`;
  });
  return zip(files);
}

test("a filter that keeps no row says so, and which values there are", () =>
  withHome((home) => {
    assert.match(notes(home, "--filter", "region=north"), /No row fits .*Region is north[^]*Values of Region: .*North/);
    assert.match(notes(home, "--filter", "day>=2031"), /No row fits [^]*Day goes from 2025-01-11 to 2025-12-11/);
    assert.match(notes(home, "--filter", "amount<0", "--locale", "es"), /Ninguna fila cumple [^]*Amount va de 0\.5 a /);
    assert.doesNotMatch(notes(home, "--filter", "region=north", "--no-rows"), /South/);
    assert.equal(notes(home, "--filter", "region=North"), "");
  }));

test("signs and quotes of other languages are understood in a condition", () =>
  withHome((home) => {
    const filters = (word) => runJson(home, ["dashboard", "sales.csv", "--plan", "--filter", word]).json.structured.plan.filters;
    const north = [{ column: "region", op: "=", value: "North" }];
    for (const word of ["region=North", "region == North", "region='North'", 'region = "North"', '"region"=North'])
      assert.deepEqual(filters(word), north, word);
    assert.deepEqual(filters("region<>North"), [{ column: "region", op: "!=", value: "North" }]);
    assert.deepEqual(filters("region='North'|'South'"), [{ column: "region", op: "in", value: ["North", "South"] }]);
  }));

test("what a goal asks for in vain is said, and why a column is not shown", () =>
  withHome((home) => {
    assert.match(notes(home, "--goal", "amount by country"), /asks for “country”, and no column is called that\. Columns: .*Region/);
    assert.match(notes(home, "--goal", "ventas por país", "--locale", "es"), /El objetivo pide “pais”/);
    assert.match(notes(home, "--goal", "the tallest mountains"), /names no column/);
    assert.equal(notes(home, "--goal", "amount by region per month"), "");
  }));

test("a cover sheet is no dead end, and the other sheets are named", () =>
  withHome((home) => {
    const data = SALES.trim().split("\n").map((line) => line.split(",").map((v) => (/^[\d.]+$/.test(v) ? Number(v) : v)));
    writeFileSync(join(home.workspace, "book.xlsx"), workbook({ "Read me": [["Sales of 2025"], ["by Ana"]], Sales: data, Targets: data.slice(0, 9) }));
    const r = run(home, ["dashboard", "book.xlsx", "-o", "book.html"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(r.stderr, /The sheet Sales is shown\. Other sheets with rows: Read me, Targets\./);
    const asked = run(home, ["dashboard", "book.xlsx", "--sheet", "Read me"]);
    assert.match(asked.stderr, /NO_USABLE_COLUMNS[^]*hint: other sheets with rows: Sales, Targets/);
    assert.match(run(home, ["dashboard", "book.xlsx", "--sheet", "sales 2025"]).stderr, /its sheets: Read me, Sales, Targets/);
  }));

test("the newest dashboard is `last`; without one that is said", () =>
  withHome((home) => {
    assert.match(run(home, ["dashboard", "sales.csv", "--like", "last"]).stderr, /no dashboard was made in this workspace yet/);
    runJson(home, ["dashboard", "sales.csv", "--title", "First"]);
    runJson(home, ["dashboard", "sales.csv", "--title", "Second"]);
    assert.equal(runJson(home, ["dashboard", "sales.csv", "--like", "last"]).json.structured.title, "Second");
    assert.match(run(home, ["dashboard", "sales.csv", "--like", "x"]).stderr, /hint: `alisio artifacts list --kind dashboard`/);
  }));

test("an error names what there is, and commands where a person reads it", () =>
  withHome((home) => {
    writeFileSync(join(home.workspace, "plan.json"), '{"version": 1, // mine\n"widgets": []}');
    writeFileSync(join(home.workspace, "list.json"), "[1]");
    writeFileSync(join(home.workspace, "ids.csv"), "id\n" + ROWS.map((_, i) => 7000 + i).join("\n") + "\n");
    for (const [args, words] of [
      [["sales.csv", "--by", "day,regoin"], /did you mean region\?/],
      [["sales.csv", "--by", "day,planet"], /it has order_id, day/],
      [["sales.csv", "--locale", "spanish"], /"spanish" is no language tag/],
      [["sales.csv", "--spec", "plan.json"], /JSON has no comments/],
      [["sales.csv", "--spec", "list.json"], /is no JSON object/],
      [["sales.csv", "--filter", "region>N"], /~ \(contains\)/],
      [["ids.csv"], /hint: `alisio data query`/],
    ]) {
      const r = run(home, ["dashboard", ...args]);
      assert.notEqual(r.status, 0, args.join(" "));
      assert.match(r.stderr, words);
    }
  }));

test("a place that cannot be written is known before anything is made", () =>
  withHome((home) => {
    mkdirSync(join(home.workspace, "closed"), { mode: 0o500 });
    const missing = run(home, ["dashboard", "sales.csv", "-o", "no/page.html"]);
    assert.equal(missing.status, 4, missing.stderr);
    assert.match(missing.stderr, /hint: make it first: mkdir -p 'no\/'/);
    if (process.getuid() !== 0) {
      const closed = run(home, ["dashboard", "sales.csv", "-o", "closed/page.html"]);
      assert.equal(closed.status, 3, closed.stderr);
    }
    assert.match(run(home, ["dashboard", "sales.csv", "-o", "page"]).stderr, /ends with \.html or \.pdf: -o page\.html/);
    assert.deepEqual(runJson(home, ["artifacts", "list"]).json.structured.artifacts, []);
    assert.ok(!existsSync(join(home.workspace, "page.html")));
  }));
