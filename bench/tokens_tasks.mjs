// Ten everyday tasks over three servers that people use (filesystem, memory, everything), and the files they are about.
// direct(turn): the calls of a model, as few turns as the task allows; what is known in one turn is called in that turn.
// script: the same by one js_run. query: what the model asks the guide about. Both give the answer, which must be equal.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Numbers that are the same on every machine.
function random(seed) {
  let x = seed;
  return (n) => {
    x = (x * 1103515245 + 12345) % 2147483648;
    return Math.floor((x / 2147483648) * n);
  };
}
const two = (n) => String(n).padStart(2, "0");

const services = ["gateway", "billing", "search", "mailer", "reports"];
const countries = ["Norway", "Chile", "Japan", "Kenya", "Canada", "Portugal", "Vietnam", "Poland"];
const owners = ["ana", "bo", "chen", "dita", "emil"];
const first = ["Ada", "Bruno", "Carla", "Dario", "Edith", "Farid", "Greta", "Hugo", "Iris", "Jonas"];
const last = ["Adler", "Berg", "Castro", "Duarte", "Engel", "Fonseca", "Gruber", "Holm", "Ivanov", "Jensen"];
const teams = ["platform", "sales", "support", "research"];

function logs(dir, pick) {
  for (let day = 1; day <= 14; day++) {
    const lines = [];
    for (let i = 0; i < 150; i++) {
      const level = ["INFO", "INFO", "INFO", "WARN", "ERROR"][pick(5)];
      const time = `2026-09-${two(day)}T${two(Math.floor((i * 24) / 150))}:${two(pick(60))}:${two(pick(60))}Z`;
      lines.push(`${time} ${level} ${services[pick(5)]} request ${pick(90000) + 10000} took ${pick(900)} ms`);
    }
    writeFileSync(join(dir, "logs", `2026-09-${two(day)}.log`), lines.join("\n") + "\n");
  }
}

function orders(dir, pick) {
  const rows = ["order,date,country,product,quantity,price"];
  for (let i = 0; i < 3000; i++) {
    const date = `2026-${two(pick(12) + 1)}-${two(pick(28) + 1)}`;
    rows.push(`${100000 + i},${date},${countries[pick(8)]},P-${pick(400)},${pick(9) + 1},${pick(20000) / 100}`);
  }
  writeFileSync(join(dir, "orders.csv"), rows.join("\n") + "\n");
}

function sources(dir, pick) {
  for (let f = 0; f < 80; f++) {
    const lines = [`# Module ${f}: part of the nightly reports.`, "import math", ""];
    for (let i = 0; i < 12; i++) {
      lines.push(`def step_${f}_${i}(rows, limit=${pick(500)}):`);
      if (pick(4) === 0) lines.push(`    # TODO(${owners[pick(5)]}): check the limit against the contract of customer ${pick(90)}`);
      lines.push(`    kept = [row for row in rows if row["amount"] > limit and row["state"] != "void"]`);
      lines.push(`    return math.fsum(row["amount"] * ${pick(100)} / 100 for row in kept)`, "");
    }
    writeFileSync(join(dir, "src", `module_${two(f)}.py`), lines.join("\n"));
  }
}

function pages(dir, pick) {
  const words = "the report of a customer shows each month what was sold and what came back as the contract says".split(" ");
  for (let p = 0; p < 70; p++) {
    const parts = [`# Page ${p}`, ""];
    for (let i = 0; i < 12; i++) {
      const text = Array.from({ length: 50 }, () => words[pick(words.length)]).join(" ");
      parts.push(`${text}. See [page](page_${two(pick(74))}.md).${pick(20) === 0 ? " Made by Acme." : ""}`, "");
    }
    writeFileSync(join(dir, "docs", `page_${two(p)}.md`), parts.join("\n"));
  }
}

function configs(dir, pick) {
  const staging = {};
  const production = {};
  for (let i = 0; i < 150; i++) {
    const key = `feature.${["limits", "mail", "search", "cache"][pick(4)]}.option_${i}`;
    staging[key] = pick(1000);
    production[key] = pick(15) === 0 ? pick(1000) + 1000 : staging[key];
  }
  writeFileSync(join(dir, "staging.json"), JSON.stringify(staging, null, 2));
  writeFileSync(join(dir, "production.json"), JSON.stringify(production, null, 2));
}

function people(dir, memory, pick) {
  const all = Array.from({ length: 300 }, (_, i) => ({
    name: `${first[pick(10)]} ${last[pick(10)]} ${i}`,
    team: teams[pick(4)],
    since: `20${two(10 + pick(16))}-${two(pick(12) + 1)}-01`,
    mail: `person${i}@example.com`,
  }));
  writeFileSync(join(dir, "people.json"), JSON.stringify(all, null, 2));
  const known = Array.from({ length: 400 }, (_, i) => ({
    type: "entity",
    name: `customer ${i}`,
    entityType: "customer",
    observations: [`country: ${countries[pick(8)]}`, `last order: 2026-${two(pick(12) + 1)}-${two(pick(28) + 1)}`, `orders: ${pick(90)}`],
  }));
  writeFileSync(memory, known.map((e) => JSON.stringify(e)).join("\n") + "\n");
}

export function makeFiles(dir, memory) {
  const pick = random(20260728);
  for (const name of ["logs", "src", "docs"]) mkdirSync(join(dir, name), { recursive: true });
  for (const make of [logs, orders, sources, pages, configs]) make(dir, pick);
  people(dir, memory, pick);
}

const fs = (tool, args) => ["filesystem", tool, args];
const filesOf = (listing) => [...listing.matchAll(/^\[FILE\] (.+)$/gm)].map((m) => m[1]).sort();
// What read_multiple_files gives: "path:\ntext\n" with a line between.
const split = (text) =>
  text.split("\n---\n").map((part) => part.trimStart()).map((part) => [part.slice(0, part.indexOf(":\n")), part.slice(part.indexOf(":\n") + 2)]);
const tally = (list) => Object.fromEntries(Object.entries(list.reduce((t, x) => ({ ...t, [x]: (t[x] ?? 0) + 1 }), {})).sort());

async function readFolder(turn, folder) {
  const [listing] = await turn([fs("list_directory", { path: folder })]);
  const [text] = await turn([fs("read_multiple_files", { paths: filesOf(listing).map((f) => `${folder}/${f}`) })]);
  return split(text);
}

const READ_FOLDER = (folder) => `const { content } = await tools.filesystem.list_directory({ path: "${folder}" });
const names = content.split("\\n").filter((l) => l.startsWith("[FILE] ")).map((l) => l.slice(7)).sort();
const paths = names.map((f) => "${folder}/" + f);
const text = (await tools.filesystem.read_multiple_files({ paths })).content;
`;
const TALLY = `const tally = {};
for (const x of found) tally[x] = (tally[x] ?? 0) + 1;
return Object.fromEntries(Object.entries(tally).sort());`;

const revenue = (text) => {
  const sums = {};
  for (const line of text.trim().split("\n").slice(1)) {
    const [, , country, , quantity, price] = line.split(",");
    sums[country] = (sums[country] ?? 0) + quantity * price;
  }
  return Object.entries(sums).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([c, s]) => `${c} ${s.toFixed(2)}`);
};

export const tasks = [
  {
    title: "Errors of each service in two weeks of logs",
    prompt: "How many ERROR lines has each service in logs/?",
    query: "list a directory, read multiple files",
    async direct(turn) {
      const files = await readFolder(turn, "logs");
      return tally(files.flatMap(([, text]) => [...text.matchAll(/ ERROR (\w+)/g)].map((m) => m[1])));
    },
    script: `${READ_FOLDER("logs")}const found = [...text.matchAll(/ ERROR (\\w+)/g)].map((m) => m[1]);
${TALLY}`,
  },
  {
    title: "Revenue by country, from 3,000 orders",
    prompt: "The three countries with the most revenue in orders.csv?",
    query: "read a text file",
    direct: async (turn) => revenue((await turn([fs("read_text_file", { path: "orders.csv" })]))[0]),
    script: `const { content } = await tools.filesystem.read_text_file({ path: "orders.csv" });
const sums = {};
for (const line of content.trim().split("\\n").slice(1)) {
  const [, , country, , quantity, price] = line.split(",");
  sums[country] = (sums[country] ?? 0) + quantity * price;
}
return Object.entries(sums).sort((a, b) => b[1] - a[1]).slice(0, 3).map(([c, s]) => c + " " + s.toFixed(2));`,
  },
  {
    title: "Open points by owner, in 80 source files",
    prompt: "How many TODOs has each owner in src/?",
    query: "list a directory, read multiple files",
    async direct(turn) {
      const files = await readFolder(turn, "src");
      return tally(files.flatMap(([, text]) => [...text.matchAll(/TODO\((\w+)\)/g)].map((m) => m[1])));
    },
    script: `${READ_FOLDER("src")}const found = [...text.matchAll(/TODO\\((\\w+)\\)/g)].map((m) => m[1]);
${TALLY}`,
  },
  {
    title: "Links that lead nowhere, in 70 pages",
    prompt: "Which links in docs/ lead to a page that is not there, and how often?",
    query: "list a directory, read multiple files",
    async direct(turn) {
      const files = await readFolder(turn, "docs");
      const there = new Set(files.map(([path]) => path.split("/").at(-1)));
      return tally(files.flatMap(([, text]) => [...text.matchAll(/\]\((.+?)\)/g)].map((m) => m[1])).filter((l) => !there.has(l)));
    },
    script: `${READ_FOLDER("docs")}const there = new Set(names);
const found = [...text.matchAll(/\\]\\((.+?)\\)/g)].map((m) => m[1]).filter((l) => !there.has(l));
${TALLY}`,
  },
  {
    title: "What differs between two configurations",
    prompt: "Which keys differ between staging.json and production.json?",
    query: "read text files",
    async direct(turn) {
      const [a, b] = (await turn([fs("read_text_file", { path: "staging.json" }), fs("read_text_file", { path: "production.json" })])).map(JSON.parse);
      return Object.keys(a).filter((key) => a[key] !== b[key]).sort();
    },
    script: `const [a, b] = await tools.map(["staging.json", "production.json"], async (path) =>
  JSON.parse((await tools.filesystem.read_text_file({ path })).content));
return Object.keys(a).filter((key) => a[key] !== b[key]).sort();`,
  },
  {
    title: "300 people from a file into the memory",
    prompt: "Put everyone in people.json into the memory, with team and mail. How many are there now?",
    query: "read a text file, create entities",
    async direct(turn) {
      const all = JSON.parse((await turn([fs("read_text_file", { path: "people.json" })]))[0]);
      const entities = all.map(({ name, team, mail }) => ({ name, entityType: "person", observations: [`team: ${team}`, `mail: ${mail}`] }));
      const [made] = await turn([["memory", "create_entities", { entities }]]);
      return JSON.parse(made).length;
    },
    script: `const all = JSON.parse((await tools.filesystem.read_text_file({ path: "people.json" })).content);
const entities = all.map(({ name, team, mail }) => ({ name, entityType: "person", observations: ["team: " + team, "mail: " + mail] }));
return (await tools.memory.create_entities({ entities })).entities.length;`,
  },
  {
    title: "Customers without an order since spring",
    prompt: "How many customers in the memory have their last order before May 2026, by country?",
    query: "read the knowledge graph",
    async direct(turn) {
      const { entities } = JSON.parse((await turn([["memory", "read_graph", {}]]))[0]);
      const old = entities.filter((e) => e.entityType === "customer" && e.observations[1].slice(12) < "2026-05");
      return tally(old.map((e) => e.observations[0].slice(9)));
    },
    script: `const { entities } = await tools.memory.read_graph({});
const old = entities.filter((e) => e.entityType === "customer" && e.observations[1].slice(12) < "2026-05");
const found = old.map((e) => e.observations[0].slice(9));
${TALLY}`,
  },
  {
    title: "The five largest files",
    prompt: "The five largest files of logs/, src/ and docs/?",
    query: "list a directory with sizes",
    async direct(turn) {
      const folders = ["logs", "src", "docs"];
      const all = await turn(folders.map((path) => fs("list_directory_with_sizes", { path })));
      return largest(folders.map((folder, i) => [folder, all[i]]));
    },
    script: `const sizes = [];
for (const folder of ["logs", "src", "docs"]) {
  const { content } = await tools.filesystem.list_directory_with_sizes({ path: folder });
  for (const [, name, n, unit] of content.matchAll(/^\\[FILE\\] (\\S+)\\s+([\\d.]+) (K?B)$/gm))
    sizes.push([folder + "/" + name, n * (unit === "KB" ? 1024 : 1)]);
}
return sizes.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5).map(([name]) => name);`,
  },
  {
    title: "The warmest of three cities",
    prompt: "Which of New York, Chicago and Los Angeles is the warmest now?",
    query: "structured content of a city",
    async direct(turn) {
      const cities = ["New York", "Chicago", "Los Angeles"];
      const all = await turn(cities.map((location) => ["everything", "get-structured-content", { location }]));
      return cities.map((city, i) => [city, JSON.parse(all[i]).temperature]).sort((a, b) => b[1] - a[1])[0][0];
    },
    script: `const cities = ["New York", "Chicago", "Los Angeles"];
const all = await tools.map(cities, (location) => tools.call("everything.get-structured-content", { location }));
return cities.map((city, i) => [city, all[i].temperature]).sort((a, b) => b[1] - a[1])[0][0];`,
  },
  {
    title: "A name that changes, on 70 pages",
    prompt: "Acme is now Apex: change every page of docs/. How many pages changed?",
    query: "list a directory, read multiple files, write a file",
    async direct(turn) {
      const files = (await readFolder(turn, "docs")).filter(([, text]) => text.includes("Acme"));
      const edits = files.map(([path, text]) => {
        const lines = text.split("\n").filter((line) => line.includes("Acme"));
        const changes = lines.map((line) => ({ oldText: line.slice(-60), newText: line.slice(-60).replaceAll("Acme", "Apex") }));
        return fs("edit_file", { path, edits: changes });
      });
      return (await turn(edits)).length;
    },
    script: `${READ_FOLDER("docs")}const old = text.split("\\n---\\n").map((part, i) => [paths[i], part.slice(part.indexOf(":\\n") + 2, -1)])
  .filter(([, page]) => page.includes("Acme"));
for (const [path, page] of old) await tools.filesystem.write_file({ path, content: page.replaceAll("Acme", "Apex") });
return old.length;`,
  },
];

function largest(listings) {
  const sizes = [];
  for (const [folder, listing] of listings)
    for (const [, name, n, unit] of listing.matchAll(/^\[FILE\] (\S+)\s+([\d.]+) (K?B)$/gm))
      sizes.push([`${folder}/${name}`, n * (unit === "KB" ? 1024 : 1)]);
  return sizes.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5).map(([name]) => name);
}
