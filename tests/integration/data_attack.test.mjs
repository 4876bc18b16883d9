// Statements that a model should not be able to hurt anything with: each is refused, or ended by its deadline, by the code
// that says why; the dataset and its folder stay as they were, and the next query is fine.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { McpClient, alisio, makeHome } from "./lib.mjs";

const TIMEOUT_MS = 300;
const big = 1_000_000_000;

// [statement, the codes that may end it]. "" is an answer.
const REFUSED = ["QUERY_REJECTED"], STOPPED = ["QUERY_LIMIT", "QUERY_TIMEOUT"];
const attacks = [
  ["ATTACH 'x.db' AS x", REFUSED], ["DETACH main", REFUSED], ["PRAGMA writable_schema = 1", REFUSED], ["PRAGMA table_info(data)", REFUSED],
  ["INSERT INTO data VALUES (1)", REFUSED], ["UPDATE data SET n = 1", REFUSED], ["DELETE FROM data", REFUSED], ["DROP TABLE data", REFUSED],
  ["CREATE TEMP TABLE t AS SELECT 1", REFUSED], ["CREATE VIEW v AS SELECT 1", REFUSED], ["ALTER TABLE data ADD COLUMN x", REFUSED],
  ["VACUUM INTO '/tmp/out.db'", REFUSED], ["REINDEX", REFUSED], ["ANALYZE", REFUSED], ["BEGIN", REFUSED], ["SAVEPOINT a", REFUSED],
  ["EXPLAIN SELECT 1", REFUSED], ["SELECT 1; SELECT 2", REFUSED], ["SELECT 1; DROP TABLE data", REFUSED], ["", ["QUERY_REJECTED", "TOOL_INPUT_INVALID"]], ["-- nothing", REFUSED],
  ["SELECT load_extension('x')", [...REFUSED, "QUERY_ERROR"]], ["SELECT * FROM pragma_database_list", [...REFUSED, "QUERY_ERROR"]],
  ["SELECT readfile('/etc/passwd')", [...REFUSED, "QUERY_ERROR"]], ["SELECT writefile('/tmp/x', 'y')", [...REFUSED, "QUERY_ERROR"]],
  ["SELECT fts3_tokenizer('simple')", [...REFUSED, "QUERY_ERROR"]], ["SELECT edit('x')", [...REFUSED, "QUERY_ERROR"]],
  ["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", STOPPED],
  ["WITH RECURSIVE c(x) AS (SELECT 'ab' UNION ALL SELECT x || x FROM c) SELECT length(x) FROM c", STOPPED],
  ["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT group_concat(hex(randomblob(1000))) FROM c", STOPPED],
  ["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, randomblob(1000) AS b FROM c ORDER BY b", STOPPED],
  ["SELECT count(*) FROM data a, data b, data c, data d, data e, data f", STOPPED],
  ["SELECT count(*) FROM data a JOIN data b ON a.t LIKE b.t || '%' JOIN data c ON c.t LIKE '%' || a.t JOIN data d ON 1 JOIN data e ON 1", STOPPED],
  ["SELECT instr(zeroblob(16000000), zeroblob(8000000) || x'01')", ["", ...STOPPED]],
  ["SELECT replace(printf('%.*c', 16000000, 'a'), 'a', 'bb')", STOPPED],
  ["SELECT printf('%.*c', 16000000, 'a') LIKE '%a%a%a%a%a%a%a%a%b'", ["", ...STOPPED, "QUERY_ERROR"]],
  ["SELECT printf('%.*c', 10000000, 'a') GLOB '*a*a*a*a*a*a*b'", ["", ...STOPPED, "QUERY_ERROR"]],
  ["SELECT regexp('(a+)+$', printf('%.*c', 100000, 'a') || 'b')", ["", ...STOPPED, "QUERY_ERROR"]],
  ["SELECT regexp('(?R)*', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')", ["", ...STOPPED, "QUERY_ERROR"]],
  ["SELECT json_extract(replace(printf('%.*c', 5000000, '['), '[', '['), '$')", ["", ...STOPPED, "QUERY_ERROR"]],
  ["SELECT json_group_array(a.t) FROM data a, data b, data c, data d", STOPPED],
  ["SELECT median(a.n) FROM data a, data b, data c, data d", STOPPED],
  ["SELECT count(*) FROM (SELECT DISTINCT a.n, b.n, c.n, d.n FROM data a, data b, data c, data d)", STOPPED],
  ["SELECT a.n, sum(b.n) OVER (ORDER BY a.n, b.n, c.n ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) FROM data a, data b, data c", ["", ...STOPPED]],
  [`SELECT ${"(".repeat(5000)}1${")".repeat(5000)}`, [...STOPPED, "QUERY_ERROR", "QUERY_REJECTED"]],
  [Array.from({ length: 5000 }, () => "SELECT 1").join(" UNION ALL "), [...STOPPED, "QUERY_ERROR", "QUERY_REJECTED"]],
  [`SELECT ${Array.from({ length: 5000 }, () => "1").join(",")}`, [...STOPPED, "QUERY_ERROR", "QUERY_REJECTED"]],
];
// Every built-in that takes a size or makes something long of something short.
for (const f of [`printf('%${big}d', 1)`, `printf('%.*c', 900000000, 'x')`, `format('%0${big}d', 1)`, `zeroblob(${big})`, `randomblob(${big})`,
  `hex(zeroblob(16000000))`, `quote(zeroblob(16000000))`, `replace(hex(zeroblob(4000000)), '0', 'aaaaaaaa')`, `upper(printf('%.*c', ${big}, 'x'))`,
  `json_quote(printf('%.*c', ${big}, 'x'))`, `group_concat(printf('%.*c', 10000000, 'x')) FROM data`, `string_agg(printf('%.*c', 10000000, 'x'), ',') FROM data`,
  `json_group_object(n, zeroblob(100)) FROM data`, `char(${Array.from({ length: 200 }, () => "1114111").join(",")})`, `unhex(printf('%.*c', ${big}, 'a'))`,
  `concat_ws(printf('%.*c', 9000000, 'x'), 'a', 'b', 'c', 'd')`, `strftime(printf('%.*c', 16000000, '%'), 'now')`, `substr(zeroblob(${big}), 1)`, `trim(printf('%.*c', ${big}, ' '))`])
  attacks.push([`SELECT length(x) FROM (SELECT ${f.replace(/( FROM data)?$/, " AS x$1")})`, ["", ...STOPPED, "QUERY_ERROR"]]);

// The most memory that a process of the program has had while it could be looked at.
const PEAK_KIB = 300 * 1024;
const children = (pid) => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((t) => readFileSync(`/proc/${pid}/task/${t}/children`, "utf8").split(" ").filter(Boolean));
  } catch {
    return [];
  }
};
const peakOf = (pid) => {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // it has ended
  }
};

const digest = (dir) =>
  readdirSync(dir, { recursive: true })
    .map((name) => join(dir, String(name)))
    .filter((path) => statSync(path).isFile())
    .sort()
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);

test(`${attacks.length} statements`, async () => {
  const home = makeHome();
  const rows = Array.from({ length: 2000 }, (_, i) => `${i},text ${i % 97}`);
  writeFileSync(join(home.workspace, "t.csv"), ["n,t", ...rows].join("\n"));
  const client = new McpClient(home);
  try {
    await client.initialize();
    const call = async (name, args) => (await client.request("tools/call", { name, arguments: args })).result;
    const inspected = await call("data_inspect", { path: "t.csv" });
    const { datasetId } = inspected.structuredContent;
    const folder = join(home.env.ALISIO_STATE_HOME, "analysis/datasets");
    const before = digest(folder);
    let peak = 0, answered;
    const watch = () => {
      for (const child of children(client.process.pid)) peak = Math.max(peak, peakOf(child));
      if (!answered) setImmediate(watch);
    };
    for (const [sql, codes] of attacks) {
      answered = false;
      setImmediate(watch);
      const answer = await call("data_query", { datasetId, sql, timeoutMs: TIMEOUT_MS });
      answered = true;
      const code = answer.isError ? /^[^A-Z]*([A-Z_]{4,})/.exec(answer.content[0].text)?.[1] : "";
      assert.ok(codes.includes(code), `${sql.slice(0, 120)}: ${answer.content[0].text.slice(0, 300)}`);
      const next = await call("data_query", { datasetId, sql: "SELECT sum(n) AS s FROM data" });
      assert.deepEqual(next.structuredContent?.rows, [[1999000]], `after ${sql.slice(0, 120)}`);
    }
    assert.deepEqual(digest(folder), before);
    // The sanitizer build maps shadow memory, and is not held to it.
    if (!readFileSync(alisio).includes("__asan_init")) assert.ok(peak > 0 && peak <= PEAK_KIB, `a process had ${peak} KiB`);
  } finally {
    await client.close();
    home.remove();
  }
});
