// Peers of bench/data that run in Node, each a whole program: node data_peers.mjs KIND IN OUT
import { createReadStream } from "node:fs";

const [kind, source, target] = process.argv.slice(2);

async function duckdb(summarize) {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(target, { threads: "2" });
  const connection = await instance.connect();
  const file = source.replaceAll("'", "''");
  await connection.run(`CREATE TABLE data AS SELECT * FROM read_csv('${file}')`);
  if (summarize) await connection.runAndReadAll("SUMMARIZE data");
  connection.closeSync();
  instance.closeSync();
}

// As alisio types a cell.
const typed = (text) => (text === "" ? null : /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(text) && text !== "-0" ? Number(text) : text);

async function papaparse() {
  const [{ default: Papa }, { default: Database }] = await Promise.all([import("papaparse"), import("better-sqlite3")]);
  const db = new Database(target);
  db.pragma("journal_mode = OFF");
  db.pragma("synchronous = OFF");
  let insert;
  db.exec("BEGIN");
  await new Promise((resolve, reject) =>
    Papa.parse(createReadStream(source), {
      skipEmptyLines: true,
      error: reject,
      complete: resolve,
      step({ data: cells }) {
        if (insert) return insert.run(cells.map(typed));
        db.exec(`CREATE TABLE data (${cells.map((name) => `"${name}"`).join(",")})`);
        insert = db.prepare(`INSERT INTO data VALUES (${cells.map(() => "?").join(",")})`);
      },
    }),
  );
  db.exec("COMMIT");
  db.close();
}

async function sheetjs() {
  const { default: XLSX } = await import("xlsx");
  const book = XLSX.readFile(source, { dense: true });
  console.log(XLSX.utils.sheet_to_json(book.Sheets[book.SheetNames[0]], { header: 1 }).length);
}

const kinds = { duckdb: () => duckdb(false), "duckdb-summarize": () => duckdb(true), papaparse, sheetjs };
await kinds[kind]();
