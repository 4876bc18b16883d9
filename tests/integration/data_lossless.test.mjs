// Random tables, written in the ways that programs of all countries write them, and read back cell by cell: what
// `SELECT *` prints with --exact is what stood in the file. ALISIO_SEED repeats a run; ALISIO_RANDOM_TABLES makes it longer.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome, run } from "./lib.mjs";

const TABLES = Number(process.env.ALISIO_RANDOM_TABLES ?? 25);
const seed = Number(process.env.ALISIO_SEED ?? 20260131);

let state = seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const digits = (n) => Array.from({ length: n }, () => below(10)).join("");

const likeNumbers = [
  () => String(below(1e6)), () => "-" + below(1000), () => `${below(1000)}.${below(100)}`, () => `${below(100)}.${digits(2)}`,
  () => "1" + digits(19), () => "9007199254740993", () => "9007199254740991", () => "-9007199254740992",
  () => "-0", () => "-0.0", () => "0.0", () => "1e5", () => "1E-3", () => "+7", () => "0x1F", () => `${below(100)} %`, () => `${below(100)}%`,
  () => `$${below(1000)}`, () => `(${below(1000)})`, () => `${below(10)}.${digits(3)},${digits(2)}`, () => `${below(10)},${digits(3)}.5`,
  () => "007", () => "0" + digits(4), () => "1.10", () => "1.1", () => "1.10.2", () => ".5", () => "5.", () => "1_000",
  () => "NaN", () => "Infinity", () => "1e400", () => "0.1234567890123456", () => "123456789012345.6", () => "99999999999999.5",
  () => "2024-02-30", () => "31/12/2024", () => "12:30", () => "TRUE", () => "null", () => "NA", () => "N/A", () => "-", () => "1 234",
];
const texts = [
  () => " ", () => "  padded  ", () => "a\tb", () => "it's", () => 'say "hi"', () => '"', () => '""', () => '"quoted"', () => "a,b;c|d",
  () => "line\nbreak", () => "line\r\nbreak", () => "cr\rhere", () => "\\", () => "\\n", () => "=1+1", () => "@x", () => "#tag",
  () => "x".repeat(below(3000)), () => "é", () => "ß".repeat(below(5)), () => "name " + below(50),
];
const wideNumbers = [...likeNumbers, () => "٣", () => "１２", () => "−5", () => "1\u202f234"];
const wide = [() => "Łódź", () => "東京", () => "🙂👩‍👩‍👧", () => "\u202eabc", () => "e\u0301", () => "\u0000nul", () => "\ufefft", () => "\u00a012"];

// What an encoding can say, and its bytes.
const encodings = {
  utf8: { cells: [...texts, ...wide], numbers: wideNumbers, bytes: (s) => Buffer.from(s) },
  "utf8 with a mark": { cells: [...texts, ...wide], numbers: wideNumbers, bytes: (s) => Buffer.from("\ufeff" + s) },
  utf16le: { cells: [...texts, ...wide], numbers: wideNumbers, bytes: (s) => Buffer.from("\ufeff" + s, "utf16le") },
  utf16be: { cells: [...texts, ...wide], numbers: wideNumbers, bytes: (s) => Buffer.from("\ufeff" + s, "utf16le").swap16() },
  "windows-1252": { cells: texts, numbers: likeNumbers, bytes: (s) => Buffer.from(s, "latin1"), forced: "windows-1252" },
};

// Column by column of one kind, so that typing has something to decide, with something else now and then.
function makeTable(cells, numbers) {
  const width = 1 + below(8);
  const height = random() < 0.05 ? 4000 : below(60);
  const kinds = Array.from({ length: width }, () => pick([[pick(numbers)], numbers, cells, [pick(numbers), pick(numbers)]]));
  const cell = (list) => (random() < 0.05 ? "" : random() < 0.02 ? pick(cells)() : pick(list)());
  const header = Array.from({ length: width }, (_, i) => pick(["Name", "Año", "1st", "", "rowid", "a b", "%", "data"]) + (i ? i : "x"));
  return { header, rows: Array.from({ length: height }, () => kinds.map(cell)) };
}

function write({ header, rows }, delimiter, end, always) {
  const one = (text, alone) => {
    const must = always || (alone && text === "") || text.includes(delimiter) || /["\r\n]/.test(text);
    return must ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [header, ...rows].map((row) => row.map((text) => one(text, row.length === 1)).join(delimiter) + end).join("");
}

// RFC 4180 with LF and quotes where they are needed, as --exact prints it.
function parse(text) {
  const rows = [];
  let row = [], at = 0;
  while (at < text.length) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; ; at++) {
        const close = text.indexOf('"', at);
        cell += text.slice(at, close);
        at = close + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
    } else {
      const stop = /[,\n]/g;
      stop.lastIndex = at;
      const found = stop.exec(text);
      cell = text.slice(at, found.index);
      at = found.index;
    }
    row.push(cell);
    if (text[at++] === "\n") {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

test(`${TABLES} random tables come back cell by cell (seed ${seed})`, () => {
  const home = makeHome();
  try {
    for (let i = 0; i < TABLES; i++) {
      const began = state;
      const [name, encoding] = pick(Object.entries(encodings));
      const table = makeTable(encoding.cells, encoding.numbers);
      const delimiter = pick([",", ";", "\t", "|"]);
      const written = write(table, delimiter, pick(["\n", "\r\n", "\r"]), random() < 0.3);
      const file = join(home.workspace, `t${i}.csv`);
      writeFileSync(file, encoding.bytes(written));
      const flags = ["--delimiter", delimiter, "--header", "yes", "--skip-rows", "0"];
      if (encoding.forced) flags.push("--encoding", encoding.forced);
      const r = run(home, ["data", "query", file, "SELECT * FROM data", "--format", "csv", "--exact", ...flags]);
      const where = `table ${i}, ${name}, delimiter ${JSON.stringify(delimiter)}, state ${began}`;
      assert.equal(r.status, 0, `${where}: ${r.stderr}`);
      const [, ...rows] = parse(r.stdout);
      assert.equal(rows.length, table.rows.length, where);
      table.rows.forEach((row, y) => assert.deepEqual(rows[y], row, `${where}, row ${y + 1}`));
    }
  } finally {
    home.remove();
  }
});

test("text after 100,000 numbers, and a version among decimals, are kept", () => {
  const home = makeHome();
  try {
    const rows = [];
    for (let i = 0; i < 100_000; i++) rows.push([String(i), `${i % 90}.${String(i % 100).padStart(2, "0")}`]);
    rows.push(["n/a", "1.1"], ["007", "1.10"], ["", "late"]);
    writeFileSync(join(home.workspace, "late.csv"), write({ header: ["n", "price"], rows }, ",", "\n", false));
    const r = run(home, ["data", "query", "late.csv", "SELECT * FROM data", "--format", "csv", "--exact"]);
    assert.equal(r.status, 0, r.stderr);
    assert.deepEqual(parse(r.stdout).slice(1), rows);
  } finally {
    home.remove();
  }
});
