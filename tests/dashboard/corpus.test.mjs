// Dashboards of files that nobody here wrote: each gives a page or a clear reason, twelve hold what an analyst expects, and the
// numbers of every page are those of the file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { drawn, everyPlan, fresh, goal } from "./checks.mjs";
import { forced } from "./forced.mjs";
import { headersOf, periodsWrong, specsOf } from "./read.mjs";
import { Maker, corpus, expected, files, missing } from "./rig.mjs";

const skip = missing();
const soak = process.env.ALISIO_SOAK === "1";
// What there is nothing to draw of, and why an analyst would say so, too.
const UNUSABLE = {
  // GeoJSON: all facts of an earthquake lie in one cell, as JSON; type is one value, id is each its own.
  "vega-datasets/earthquakes.json": "NO_USABLE_COLUMNS",
};
const LANES = 2; // files that are worked on at a time

let maker;
const pages = new Map(); // file: what came of it
const asked = new Map(); // file: [[goal, what came of it]]

async function makeAll(file) {
  pages.set(file, await maker.make(file));
  const one = [...expected.twelve, ...expected.more].find((e) => e.file === file);
  if (!one) return;
  const name = await nameIn(file), answers = [];
  for (const g of one.goals) {
    const by = g.by ? { by: g.by.map(name) } : {}, locale = g.locale ? { locale: g.locale } : {};
    answers.push([g, await maker.make(file, { goal: g.goal, ...locale, ...by })]);
  }
  asked.set(file, answers);
}

async function nameIn(file) {
  const { columns } = await maker.dataset(file);
  const of = new Map(headersOf(join(corpus, file)).map((h, i) => [h, columns[i]]));
  return (header) => (header === "*" ? "*" : of.get(header) ?? assert.fail(`${file} has no column ${header}`));
}

before(async () => {
  if (skip) return;
  maker = await new Maker().open();
  const queue = files();
  const lane = async () => {
    for (let file; (file = queue.shift()); ) await makeAll(file);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
});
after(() => maker?.close());

test("every file gives a page, or the reason why there is none", { skip }, () => {
  const reasons = {}, wrong = [];
  for (const [file, r] of pages) {
    if (!r.ok) reasons[file] = r.code;
    else if (!(r.bytes > 10_000 && r.bytes <= 500_000)) wrong.push(`${file}: ${r.bytes} bytes`);
    for (const w of r.plan?.widgets ?? []) everyPlan(w, expected.everywhere, (text) => wrong.push(`${file}: ${text}`));
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(reasons, UNUSABLE);
  assert.ok(pages.size > 70, `${pages.size} files`);
});

for (const one of [...expected.twelve, ...expected.more]) {
  test(`${one.file}: what an analyst expects`, { skip }, async () => {
    const r = pages.get(one.file), name = await nameIn(one.file);
    assert.ok(r.ok, r.text);
    const specs = (page) => specsOf(readFileSync(page.html, "utf8"));
    const problems = [...fresh(one, r.plan, name, expected.everywhere), ...drawn(one, r.plan, specs(r), name)];
    for (const [g, answer] of asked.get(one.file)) {
      if (!answer.ok) problems.push(`"${g.goal}": ${answer.text}`);
      else problems.push(...goal(one, g, answer.plan, name, expected.everywhere), ...drawn(one, answer.plan, specs(answer), name));
    }
    assert.deepEqual(problems, []);
  });
}

test("plans that force each kind, bucket, filter and language are built", { skip }, async () => {
  const refused = [], wrong = [];
  let n = 0;
  for (const { file, spec } of forced(!soak)) {
    const r = await maker.make(file, { spec });
    if (!r.ok) {
      refused.push(`${file}: ${r.text}`);
      continue;
    }
    const periods = periodsWrong(readFileSync(r.html, "utf8"));
    wrong.push(...periods.wrong.map((text) => `${file}: ${text}`));
    n += periods.n;
  }
  assert.deepEqual(refused, []);
  assert.deepEqual(wrong.slice(0, 20), []);
  assert.ok(n > 1000, `${n} names of periods`);
});

test("every number of every page is the file's", { skip }, (t) => {
  const r = maker.check();
  assert.deepEqual(r.problems.slice(0, 20), []);
  assert.ok(r.pages > 100 && r.numbers > 50_000, JSON.stringify(r));
  for (const kind of ["kpi", "line", "area", "bar", "hbar", "pie", "donut", "heat", "scatter", "table", "cube"])
    assert.ok(Object.keys(r.kinds).some((k) => k.startsWith(kind)), `no ${kind} among ${Object.keys(r.kinds)}`);
  t.diagnostic(`${r.pages} pages, ${r.numbers} numbers`);
});
