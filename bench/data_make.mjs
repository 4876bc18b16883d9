// The files of bench/data: made from one seed, so the same bytes everywhere. node bench/data_make.mjs csv|csv10|xlsx ROWS OUT
// Twelve columns: a key, dates, names and places in UTF-8, a zero-padded code, money, counts, a percentage, 3 % empty cells,
// 2 % quoted cells with commas and doubled quotes, line breaks inside quotes in one row of a thousand. csv10: ten of them, without
// the discount and the comment, for bench/dashboard.
import { closeSync, openSync, writeSync } from "node:fs";
import * as zlib from "node:zlib";

const [kind, count, out] = process.argv.slice(2);
const rows = Number(count);
const columns = ["order_id", "ordered_on", "region", "city", "category", "customer", "sku", "quantity", "unit_price", "discount", "total", "comment"];
const regions = ["North", "South", "East", "West", "Centre", "Islands"];
const cities = ["Málaga", "Łódź", "Zürich", "Porto", "東京", "Αθήνα", "Київ", "Oslo", "Lyon", "Cork", "Reykjavík", "Gent"];
const categories = ["Tools", "Toys", "Books", "Garden", "Kitchen", "Office"];
const given = ["Ana", "Zoë", "Ivo", "Mina", "Søren", "Chen", "Ada", "Omar", "Lea", "Igor"];
const family = ["Núñez", "Okafor", "Weiß", "Ito", "O'Neil", "Costa", "Nowak", "Berg"];

let seed = 20260131n;
const next = (n) => {
  seed = (seed * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
  return Number((seed >> 33n) % BigInt(n));
};
const money = (cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;

function row(i) {
  const day = new Date(Date.UTC(2021, 0, 1 + next(1800))).toISOString().slice(0, 10);
  const quantity = 1 + next(40);
  const price = 100 + next(50000);
  const discount = next(4) ? 0 : next(30);
  const kind = next(1000);
  const comment = kind < 30 ? "" : kind < 50 ? `said "fine", then left` : kind < 51 ? `two\nlines` : `note ${next(5000)}`;
  return [1000000 + i, day, regions[next(6)], cities[next(12)], categories[next(6)], `${given[next(10)]} ${family[next(8)]}`,
    String(next(20000)).padStart(6, "0"), quantity, money(price), discount, money(quantity * price), comment];
}

const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
const kept = (cells) => (kind === "csv10" ? cells.filter((_, i) => !["discount", "comment"].includes(columns[i])) : cells);
function* csv() {
  yield kept(columns).join(",") + "\n";
  for (let i = 0; i < rows; i++) yield kept(row(i)).map(quoted).join(",") + "\n";
}

// The least that is a workbook: numbers as numbers, all else as shared strings.
const strings = new Map();
const shared = (text) => strings.get(text) ?? (strings.set(text, strings.size), strings.size - 1);
const isNumber = [true, false, false, false, false, false, false, true, true, true, true, false];
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const cell = (value, i, r) => {
  const at = String.fromCharCode(65 + i) + r;
  if (value === "") return "";
  return r > 1 && isNumber[i] ? `<c r="${at}"><v>${Number(value)}</v></c>` : `<c r="${at}" t="s"><v>${shared(String(value))}</v></c>`;
};
function* sheet() {
  yield `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`;
  for (let r = 1; r <= rows + 1; r++) {
    const cells = r === 1 ? columns : row(r - 2);
    yield `<row r="${r}">${cells.map((value, i) => cell(value, i, r)).join("")}</row>`;
  }
  yield `</sheetData></worksheet>`;
}

function workbook(fd) {
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const packages = "http://schemas.openxmlformats.org/package/2006";
  const type = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const data = [...sheet()].join("");
  const parts = {
    "[Content_Types].xml": `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${type}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${type}.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="${type}.sharedStrings+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Orders" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    "xl/worksheets/sheet1.xml": data,
    "xl/sharedStrings.xml": `<sst xmlns="${main}">${[...strings.keys()].map((s) => `<si><t xml:space="preserve">${escaped(s)}</t></si>`).join("")}</sst>`,
  };
  const directory = [];
  let at = 0;
  const write = (buffer) => {
    writeSync(fd, buffer);
    at += buffer.length;
  };
  for (const [name, text] of Object.entries(parts)) {
    const plain = Buffer.from(text);
    const packed = zlib.deflateRawSync(plain, { level: 6 });
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crcOf(plain), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(plain.length, 18);
    head.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), head, tail, Buffer.from(name));
    write(Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), head, Buffer.from(name), packed]));
  }
  const all = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(parts).length, 8);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(all.length, 12);
  end.writeUInt32LE(at, 16);
  write(Buffer.concat([all, end]));
}

// zlib.crc32 is new in Node 20.15.
function crcOf(buffer) {
  if (zlib.crc32) return zlib.crc32(buffer);
  let c = -1;
  for (const byte of buffer) {
    c ^= byte;
    for (let k = 0; k < 8; k++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0);
  }
  return (c ^ -1) >>> 0;
}

const fd = openSync(out, "w");
if (kind === "xlsx") workbook(fd);
else {
  let part = "";
  for (const line of csv()) {
    part += line;
    if (part.length > 1 << 20) {
      writeSync(fd, part);
      part = "";
    }
  }
  writeSync(fd, part);
}
closeSync(fd);
