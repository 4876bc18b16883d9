// One script that tries to get out, in every back end that this machine has: what is open is what is written down, and the
// pages say the same.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, test } from "node:test";
import { root } from "./lib.mjs";
import { attackAll, missingPart } from "./py_attack_all.mjs";
import { fullTable, readTable, shortTable, surprises } from "./py_attack_table.mjs";

const results = new Map();
const all = attackAll();

describe("what a script gets", { concurrency: 2 }, () => {
  for (const { title, shown, run } of all.runs) {
    it(`a script gets nothing in ${title} but what is written down`, async (t) => {
      const r = await run();
      if (missingPart(r)) return t.skip(missingPart(r));
      assert.deepEqual(surprises(r), []);
      assert.ok(r.attempts.length >= 60, `${r.attempts.length} attempts`);
      assert.deepEqual(r.left, [], "processes that stayed");
      if (r.backend !== "managed") assert.deepEqual(r.changed, [], "what was changed outside");
      if (shown) results.set(r.backend, r);
      t.diagnostic(`${r.attempts.filter((a) => a.result === "refused").length} refused, ${r.attempts.filter((a) => a.result === "open").length} open, ${r.isolation}`);
    });
  }
});

test("the pages say what was seen", (t) => {
  all.remove();
  if (results.size === 0) return t.skip("no back end is ready");
  const seen = [...results.values()];
  for (const [page, make] of [["docs/isolation.md", fullTable], ["README.md", shortTable]]) {
    const said = readTable(readFileSync(join(root, page), "utf8"));
    // Of a back end that this machine does not have, nothing is known.
    const wanted = readTable(`<!-- made by tools/isolation-table -->\n${make(seen)}<!-- end of what tools/isolation-table made -->`);
    assert.deepEqual(said.head, wanted.head, page);
    assert.equal(said.body.length, wanted.body.length, page);
    wanted.body.forEach((cells, i) => cells.forEach((cell, k) => {
      const backend = page === "README.md" ? cells[0].replaceAll("`", "") : wanted.head[k];
      if (k === 0 || results.has(backend)) assert.equal(said.body[i][k], cell, `${page}: ${cells[0]}, ${wanted.head[k]}; run tools/isolation-table`);
    }));
  }
});
