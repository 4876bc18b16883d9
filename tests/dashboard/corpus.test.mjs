// Dashboards of files that nobody here wrote: each gives a page or a clear reason, twelve hold what an analyst expects, and the
// numbers of every page are those of the file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { drawn, everyPlan, fresh, goal } from "./checks.mjs";
import { Maker, corpus, expected, files, missing } from "./rig.mjs";
import { headersOf, specsOf } from "./read.mjs";

const skip = missing();
let maker;
const made = new Map(); // file: what came of it

before(async () => {
  if (skip) return;
  maker = await new Maker().open();
});
after(() => maker?.close());

async function pageOf(file) {
  if (!made.has(file)) made.set(file, await maker.make(file));
  return made.get(file);
}

// Text without a number that is a measure or a group is no dashboard; each with what an analyst would say.
const UNUSABLE = {};

test("every file gives a page, or the reason why there is none", { skip }, async () => {
  const reasons = {};
  for (const file of files()) {
    const r = await pageOf(file);
    if (!r.ok) reasons[file] = r.code;
    else {
      assert.ok(r.bytes > 10_000 && r.bytes <= 500_000, `${file}: ${r.bytes} bytes`);
      const wrong = [];
      for (const w of r.plan.widgets) everyPlan(w, expected.everywhere, (text) => wrong.push(text));
      assert.deepEqual(wrong, [], file);
    }
  }
  assert.deepEqual(reasons, UNUSABLE);
});

const nameIn = (file, identifiers) => {
  const headers = headersOf(`${corpus}/${file}`);
  const of = new Map(headers.map((h, i) => [h, identifiers[i]]));
  return (header) => (header === "*" ? "*" : of.get(header) ?? assert.fail(`${file} has no column ${header}`));
};

for (const one of [...expected.twelve, ...expected.more]) {
  test(`${one.file}: what an analyst expects`, { skip }, async () => {
    const r = await pageOf(one.file);
    assert.ok(r.ok, r.text);
    const { columns } = await maker.dataset(one.file);
    const name = nameIn(one.file, columns);
    const problems = [...fresh(one, r.plan, name, expected.everywhere), ...drawn(one, r.plan, specsOf(readFileSync(r.html, "utf8")), name)];
    for (const asked of one.goals) {
      const args = { goal: asked.goal, ...(asked.locale ? { locale: asked.locale } : {}), ...(asked.by ? { by: asked.by.map(name) } : {}) };
      const g = await maker.make(one.file, args);
      if (!g.ok) problems.push(`"${asked.goal}": ${g.text}`);
      else problems.push(...goal(one, asked, g.plan, name, expected.everywhere), ...drawn(one, g.plan, specsOf(readFileSync(g.html, "utf8")), name));
    }
    assert.deepEqual(problems, []);
  });
}

test("every number of every page is the file's", { skip }, () => {
  const r = maker.check();
  assert.deepEqual(r.problems.slice(0, 20), []);
  assert.ok(r.pages > 60 && r.numbers > 10_000, JSON.stringify(r));
});
