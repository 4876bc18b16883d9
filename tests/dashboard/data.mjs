// Rows for the tests of pages, and what each widget of a plan has to show of them, counted the plain way.
let seed = 20240229;
const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 0x80000000;
const pick = (list, skew = 1) => list[Math.floor(random() ** skew * list.length)];

export const REGIONS = ["North", "South", "East", "West", ""];
export const CHANNELS = ["Web", "Shop", "Partner"];
// A formula and a minus stay text; ties go by code points, so "a" stands after "Z", and an emoji after U+FF21.
const PRODUCTS = ["Chairs & tables", "Lamps", "Desks", "Sofas", "Rugs", "Mirrors", "Shelves", "=1+1", "-Beds", "\uff21 wide", "😀 face", "שולחן", "Zinc", "zinc", "Stools, round", 'The "best"'];
export const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
export const AGES = ["<18", "18-24", "25-34", "65+"];
const date = (n) => new Date(Date.UTC(2023, 0, 1 + n)).toISOString().slice(0, 10);

export const rows = Array.from({ length: 4000 }, () => {
  const quantity = 1 + Math.floor(random() * 9), price = Math.round(500 + random() * 30_000) / 100, sales = Math.round(quantity * price * 100) / 100;
  return {
    region: pick(REGIONS, 1.6), channel: pick(CHANNELS), product: pick(PRODUCTS, 1.5), order_date: date(Math.floor(random() * 730)),
    weekday: pick(DAYS, 1.2), age_group: pick(AGES), quantity, price, sales, profit: Math.round(sales * (random() - 0.35) * 100) / 100,
  };
}).filter((r) => !/^2023-0[89]/.test(r.order_date)); // a gap of two months
// A region that one channel alone sells to: choices without a row.
for (const r of rows) if (r.region === "West") r.channel = "Web";

export const csv = (list) => {
  const cell = (v) => (/[",\r\n]/.test(v) ? `"${String(v).replaceAll('"', '""')}"` : String(v));
  return [Object.keys(list[0]), ...list.map(Object.values)].map((r) => r.map(cell).join(",")).join("\r\n") + "\r\n";
};

// Sums as decimals are added by hand: no rounding.
const cents = (list, f) => list.reduce((a, r) => a + BigInt(Math.round(r[f] * 100)), 0n);
const sum = (list, f) => Number(cents(list, f)) / 100;
const AGGREGATES = {
  sum: (list, w) => sum(list, w.metric),
  avg: (list, w) => sum(list, w.metric) / list.length,
  min: (list, w) => Math.min(...list.map((r) => r[w.metric])),
  max: (list, w) => Math.max(...list.map((r) => r[w.metric])),
  count: (list) => list.length,
  count_distinct: (list, w) => new Set(list.map((r) => r[w.metric]).filter((v) => v !== "")).size,
  ratio: (list, w) => (sum(list, w.over) ? sum(list, w.metric) / sum(list, w.over) : null),
};
const ORDER = { weekday: DAYS, age_group: AGES };
const bytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const MONTHS = [...Array(24)].map((_, i) => `${2023 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, "0")}`);

// [[key, value of each series …]], null where there is nothing; series: names of the columns.
export function expected(w, list, series = [null]) {
  const value = (some) => (some.length ? AGGREGATES[w.aggregation](some, w) : null);
  if (w.type === "kpi") return w.aggregation === "count" ? list.length : value(list);
  const key = (r) => (w.bucket === "month" ? r[w.dimension].slice(0, 7) : String(r[w.dimension]));
  const groups = new Map();
  for (const r of list) {
    if (r[w.dimension] === "" || (w.by && r[w.by] === "")) continue;
    groups.set(key(r), [...(groups.get(key(r)) ?? []), r]);
  }
  let keys = [...groups.keys()].sort(bytes);
  const round = w.type === "pie" || w.type === "donut";
  if (round) keys = keys.filter((k) => value(groups.get(k)) > 0);
  // What does not add up is worth its rows when there are two dimensions, so that rare extremes do not fill the table.
  const worth = (k) => (w.by && !["sum", "count"].includes(w.aggregation) ? groups.get(k).length : value(groups.get(k)));
  if (w.bucket) keys = MONTHS;
  else keys.sort((a, b) => worth(b) - worth(a) || bytes(a, b));
  const limit = w.bucket ? keys.length : w.limit;
  const shown = keys.slice(0, limit);
  let rest = w.other ? keys.slice(limit) : [];
  if (rest.length && keys.some((k) => value(groups.get(k)) < 0)) rest = [];
  if (w.order === "key") shown.sort((a, b) => (ORDER[w.dimension] ? ORDER[w.dimension].indexOf(a) - ORDER[w.dimension].indexOf(b) : bytes(a, b)));
  const row = (name, some) => [name, ...series.map((s) => value(some.filter((r) => s === null || String(r[w.by]) === s)))];
  const table = shown.map((k) => row(k, groups.get(k) ?? []));
  if (rest.length) table.push(row("Other", rest.flatMap((k) => groups.get(k))));
  return table;
}

// Two plans with every kind of widget and every aggregation.
const plan = (widgets) => ({ version: 1, purpose: "analytical", locale: "en", title: "Furniture & more", chips: ["region", "channel", "age_group"], widgets: widgets.map((w, i) => ({ id: `w${i}`, ...w })) });
const kpi = (aggregation, metric, more) => ({ type: "kpi", role: "kpi", metric, aggregation, ...more });
export const plans = {
  first: plan([
    kpi("sum", "sales"), kpi("count", "*"), kpi("avg", "price"), kpi("max", "price"), kpi("ratio", "profit", { over: "sales" }), kpi("count_distinct", "product"),
    { type: "line", role: "trend", metric: "sales", aggregation: "sum", dimension: "order_date", bucket: "month" },
    { type: "hbar", role: "ranking", metric: "sales", aggregation: "sum", dimension: "product", order: "value", limit: 8, other: true },
    { type: "donut", role: "composition", metric: "sales", aggregation: "sum", dimension: "channel", order: "value", limit: 6, other: true },
    { type: "bar", role: "ranking", metric: "price", aggregation: "avg", dimension: "weekday", order: "key", limit: 7 },
    { type: "heat", role: "crosstab", metric: "profit", over: "sales", aggregation: "ratio", dimension: "product", by: "weekday", order: "value", limit: 20 },
    { type: "table", role: "table", columns: ["order_date", "region", "channel", "product", "quantity", "price", "sales", "profit"], limit: 20 },
  ]),
  second: plan([
    kpi("sum", "profit"), kpi("min", "price"),
    { type: "area", role: "trend", metric: "*", aggregation: "count", dimension: "order_date", bucket: "month", by: "channel" },
    { type: "line", role: "trend", metric: "price", aggregation: "max", dimension: "order_date", bucket: "month", by: "age_group" },
    { type: "bar", role: "crosstab", metric: "quantity", aggregation: "sum", dimension: "region", by: "channel", order: "value", limit: 10 },
    { type: "pie", role: "composition", metric: "*", aggregation: "count", dimension: "product", order: "value", limit: 6, other: true },
    { type: "hbar", role: "ranking", metric: "price", aggregation: "min", dimension: "product", order: "value", limit: 5 },
    { type: "bar", role: "ranking", metric: "profit", over: "sales", aggregation: "ratio", dimension: "age_group", order: "key", limit: 10 },
    { type: "heat", role: "crosstab", metric: "sales", aggregation: "sum", dimension: "region", by: "age_group", order: "value", limit: 20 },
    { type: "scatter", role: "correlation", x: "sales", y: "profit" },
  ]),
};

// Names and values that try to be more than text.
const EVIL = [
  "<script>window.pwned=1</script>", "</script><img src=x onerror=\"window.pwned=2\">", "'\"><svg onload=window.pwned=3>", "<!--<script>", "=HYPERLINK(\"http://x.test\",\"go\")",
  "+1+1", "-1+1", "@SUM(A1)", "\u05e9\u05dc\u05d5\u05dd \u202e evil \u202c", "👩‍👩‍👧‍👦 & <b>family</b>", "x".repeat(10_000), "\uff1dfull width",
];
export const evil = EVIL;
export const evilRows = Array.from({ length: 600 }, (_, i) => ({
  "<script>window.pwned=4</script>": EVIL[i % EVIL.length],
  "</title></script><img src=x onerror=window.pwned=5>": EVIL[(i * 5) % 8],
  "=cmd|' /C calc'!A0": ["x;=1+1", "b\u2028c", "</style><style>*{display:none}</style>"][i % 3],
  "מכירות \u202e sales": i % 97,
  ["sales amount " + "y".repeat(10_000)]: (i * 7) % 1000,
  "order date 😀": date(i),
}));
