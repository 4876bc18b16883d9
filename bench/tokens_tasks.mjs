// Ten everyday tasks over three servers that people use (filesystem, memory, everything), one single call, and the files
// they are about, in three sizes.
// direct(turn): the calls of a model, as few turns as the task allows; what is known in one turn is called in that turn.
// script: the same by one js_run. query: what the model asks the guide about. Both give the answer, which must be equal.
// again(value): whether the script is run once more; answerOf(values): the answer from what all runs returned.
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
const n = (count, one, many = `${one}s`) => `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
const two = (n) => String(n).padStart(2, "0");

const LINES_A_DAY = 150;
const services = ["gateway", "billing", "search", "mailer", "reports"];
const countries = ["Norway", "Chile", "Japan", "Kenya", "Canada", "Portugal", "Vietnam", "Poland"];
const owners = ["ana", "bo", "chen", "dita", "emil"];
const first = ["Ada", "Bruno", "Carla", "Dario", "Edith", "Farid", "Greta", "Hugo", "Iris", "Jonas"];
const last = ["Adler", "Berg", "Castro", "Duarte", "Engel", "Fonseca", "Gruber", "Holm", "Ivanov", "Jensen"];
const teams = ["platform", "sales", "support", "research"];

// Everyday is what such a thing commonly has (each task says why); small is a tenth of it, large four times as much. No
// size depends on what was measured.
export const sizes = {
  small: { days: 1, orders: 300, modules: 6, pages: 4, keys: 15, people: 20, customers: 25, cities: 1 },
  everyday: { days: 14, orders: 3000, modules: 60, pages: 40, keys: 150, people: 200, customers: 250, cities: 3 },
  large: { days: 56, orders: 12_000, modules: 240, pages: 160, keys: 600, people: 800, customers: 1000, cities: 3 },
};

function logs(dir, { days }, pick) {
  for (let day = 1; day <= days; day++) {
    const date = new Date(Date.UTC(2026, 8, day)).toISOString().slice(0, 10);
    const lines = [];
    for (let i = 0; i < LINES_A_DAY; i++) {
      const level = ["INFO", "INFO", "INFO", "WARN", "ERROR"][pick(5)];
      const time = `${date}T${two(Math.floor((i * 24) / LINES_A_DAY))}:${two(pick(60))}:${two(pick(60))}Z`;
      lines.push(`${time} ${level} ${services[pick(5)]} request ${pick(90000) + 10000} took ${pick(900)} ms`);
    }
    writeFileSync(join(dir, "logs", `${date}.log`), lines.join("\n") + "\n");
  }
}

function orders(dir, size, pick) {
  const rows = ["order,date,country,product,quantity,price"];
  for (let i = 0; i < size.orders; i++) {
    const date = `2026-${two(pick(12) + 1)}-${two(pick(28) + 1)}`;
    rows.push(`${100000 + i},${date},${countries[pick(8)]},P-${pick(400)},${pick(9) + 1},${pick(20000) / 100}`);
  }
  writeFileSync(join(dir, "orders.csv"), rows.join("\n") + "\n");
}

function sources(dir, { modules }, pick) {
  for (let f = 0; f < modules; f++) {
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

function pages(dir, size, pick) {
  const words = "the report of a customer shows each month what was sold and what came back as the contract says".split(" ");
  for (let p = 0; p < size.pages; p++) {
    const parts = [`# Page ${p}`, ""];
    for (let i = 0; i < 12; i++) {
      const text = Array.from({ length: 50 }, () => words[pick(words.length)]).join(" ");
      parts.push(`${text}. See [page](page_${two(pick(size.pages + 4))}.md).${pick(20) === 0 ? " Made by Acme." : ""}`, "");
    }
    writeFileSync(join(dir, "docs", `page_${two(p)}.md`), parts.join("\n"));
  }
}

function configs(dir, { keys }, pick) {
  const staging = {};
  const production = {};
  for (let i = 0; i < keys; i++) {
    const key = `feature.${["limits", "mail", "search", "cache"][pick(4)]}.option_${i}`;
    staging[key] = pick(1000);
    production[key] = pick(15) === 0 ? pick(1000) + 1000 : staging[key];
  }
  writeFileSync(join(dir, "staging.json"), JSON.stringify(staging, null, 2));
  writeFileSync(join(dir, "production.json"), JSON.stringify(production, null, 2));
}

function people(dir, memory, size, pick) {
  const all = Array.from({ length: size.people }, (_, i) => ({
    name: `${first[pick(10)]} ${last[pick(10)]} ${i}`,
    team: teams[pick(4)],
    since: `20${two(10 + pick(16))}-${two(pick(12) + 1)}-01`,
    mail: `person${i}@example.com`,
  }));
  writeFileSync(join(dir, "people.json"), JSON.stringify(all, null, 2));
  const known = Array.from({ length: size.customers }, (_, i) => ({
    type: "entity",
    name: `customer ${i}`,
    entityType: "customer",
    observations: [`country: ${countries[pick(8)]}`, `last order: 2026-${two(pick(12) + 1)}-${two(pick(28) + 1)}`, `orders: ${pick(90)}`],
  }));
  writeFileSync(memory, known.map((e) => JSON.stringify(e)).join("\n") + "\n");
}

export function makeFiles(dir, memory, size) {
  const pick = random(20260728);
  for (const name of ["logs", "src", "docs"]) mkdirSync(join(dir, name), { recursive: true });
  for (const make of [logs, orders, sources, pages, configs]) make(dir, size, pick);
  people(dir, memory, size, pick);
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

const cities = (size) => ["New York", "Chicago", "Los Angeles"].slice(0, size.cities);

export const tasks = [
  {
    title: "Errors of each service in the logs",
    data: (s) => `${n(s.days, "day")} of 150 lines`,
    why: "rotated logs are often kept for two weeks; a request every ten minutes is a quiet service",
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
    title: "Revenue by country",
    data: (s) => `${n(s.orders, "order")}`,
    why: "a year of a small shop: eight orders a day",
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
    title: "Open points by owner, in source files",
    data: (s) => `${n(s.modules, "file")} of about 50 lines`,
    why: "a small project",
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
    title: "Links that lead nowhere",
    data: (s) => `${n(s.pages, "page")} of 600 words`,
    why: "the manual of a small product",
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
    data: (s) => `twice ${n(s.keys, "key")}`,
    why: "a service with a setting for each feature",
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
    title: "People from a file into the memory",
    data: (s) => `${n(s.people, "person", "people")}`,
    why: "a firm of middle size",
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
    data: (s) => `${n(s.customers, "customer")}`,
    why: "those that one salesperson knows",
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
    data: (s) => `${n(s.days + s.modules + s.pages, "file")} in 3 folders`,
    why: "the folders of the tasks above",
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
    title: "The warmest city",
    data: (s) => `${n(s.cities, "city", "cities")}`,
    why: "all that the server knows",
    prompt: (s) => `Which is the warmest now: ${cities(s).join(", ")}?`,
    query: "structured content of a city",
    async direct(turn, size) {
      const asked = cities(size);
      const all = await turn(asked.map((location) => ["everything", "get-structured-content", { location }]));
      return asked.map((city, i) => [city, JSON.parse(all[i]).temperature]).sort((a, b) => b[1] - a[1])[0][0];
    },
    script: (s) => `const cities = ${JSON.stringify(cities(s))};
const all = await tools.map(cities, (location) => tools.call("everything.get-structured-content", { location }));
return cities.map((city, i) => [city, all[i].temperature]).sort((a, b) => b[1] - a[1])[0][0];`,
  },
  {
    title: "A name that changes in all pages",
    data: (s) => `${n(s.pages, "page")} of 600 words`,
    why: "the manual of a small product, again",
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
const now = old.slice(0, ALISIO.limits.maxToolCalls - 2);
for (const [path, page] of now) await tools.filesystem.write_file({ path, content: page.replaceAll("Acme", "Apex") });
return { changed: now.length, left: old.length - now.length };`,
    // More pages than one script may change are changed by several.
    again: ({ left }) => left > 0,
    answerOf: (values) => values.reduce((sum, { changed }) => sum + changed, 0),
  },
];

// What js_run is not for: one call whose result is short. servers: those that are there; all, where a task names none.
const singleCall = {
  data: () => "two numbers",
  prompt: "How much is 1234 + 5678, by the tool?",
  query: "sum of two numbers",
  direct: async (turn) => (await turn([["everything", "get-sum", { a: 1234, b: 5678 }]]))[0],
  script: `return tools.everything["get-sum"]({ a: 1234, b: 5678 });`,
};
export const singleCalls = [
  { ...singleCall, title: "One call to one tool of three servers" },
  { ...singleCall, title: "One call to one tool, with its server alone", servers: ["everything"] },
];

function largest(listings) {
  const sizes = [];
  for (const [folder, listing] of listings)
    for (const [, name, n, unit] of listing.matchAll(/^\[FILE\] (\S+)\s+([\d.]+) (K?B)$/gm))
      sizes.push([`${folder}/${name}`, n * (unit === "KB" ? 1024 : 1)]);
  return sizes.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5).map(([name]) => name);
}
