// Plans that force each kind of widget, aggregation, bucket, filter and language on files that have what it takes. Columns are
// identifiers. The plan that comes back may have been repaired; what it says then is what is held against the file.

const LOCALES = ["en", "es-CO", "de", "fr", "ar"];
const AGGREGATIONS = ["sum", "avg", "min", "max", "count", "count_distinct"];
const MOST = 11; // widgets of one plan; 6 of them may be KPIs

// Where: a file, its time, a number that adds up, one that does not, and dimensions, few values first.
const FILES = [
  { file: "vega-datasets/weather.csv", time: "date", flow: "precipitation", rate: "temp_max", dims: ["location", "weather"], buckets: ["week", "month", "quarter", "year"] },
  { file: "vega-datasets/flights-2k.json", time: "date", flow: "distance", rate: "delay", dims: ["origin", "destination"], buckets: ["day", "week", "month"] },
  { file: "vega-datasets/movies.json", time: "release_date", flow: "worldwide_gross", rate: "imdb_rating", dims: ["mpaa_rating", "major_genre", "distributor"], buckets: ["quarter", "year"] },
  { file: "vega-datasets/gapminder.json", time: "year", flow: "pop", rate: "life_expect", dims: ["cluster", "country"], buckets: ["year"] },
  { file: "vega-datasets/stocks.csv", time: "date", flow: "price", rate: "price", dims: ["symbol"], buckets: ["month", "quarter", "year"] },
  { file: "csv/fivethirtyeight/impeachment-polls/impeachment_polls.csv", time: "start", flow: "samplesize", rate: "yes", dims: ["pop", "category", "pollster"], buckets: ["day", "week", "month"] },
  { file: "csv/fivethirtyeight/bechdel/movies.csv", time: "year", flow: "domgross", rate: "budget", dims: ["binary", "clean_test"], buckets: ["year"] },
  { file: "csv/seaborn-data/tips.csv", flow: "total_bill", rate: "tip", dims: ["sex", "day", "size"] },
  { file: "csv/fivethirtyeight/food-world-cup/food-world-cup-data.csv", flow: "please_rate_how_much_you_like_the_traditional_cu_13", rate: "please_rate_how_much_you_like_the_traditional_cu_14", dims: ["gender", "education", "location_census_region"] },
];
const HOURS = { file: "vega-datasets/seattle-weather-hourly-normals.csv", time: "date", filters: [{ column: "date", op: "between", value: ["2010-03-01", "2010-03-12T23:59:59"] }] };

function metrics(f) {
  return [
    ...AGGREGATIONS.map((aggregation) => ({ metric: f.flow, aggregation })),
    { metric: f.rate, aggregation: "avg" },
    { metric: "*", aggregation: "count" },
    { metric: f.dims[0], aggregation: "count_distinct" },
    { metric: f.flow, over: f.rate, aggregation: "ratio" },
  ];
}

function* widgetsOf(f) {
  const all = metrics(f);
  for (const m of all) yield { type: "kpi", role: "kpi", ...m };
  if (f.time) for (const m of [all[0], all[1], all[4]]) yield { type: "kpi", role: "kpi", ...m, latest: true };
  for (const bucket of f.buckets ?? []) {
    for (const m of all) yield { type: "line", role: "trend", dimension: f.time, bucket, ...m };
    yield { type: "area", role: "trend", dimension: f.time, bucket, ...all[0] };
    yield { type: "bar", role: "trend", dimension: f.time, bucket, ...all[1] };
    for (const m of [all[0], all[1], all[7]]) yield { type: "line", role: "trend", dimension: f.time, bucket, by: f.dims[0], ...m };
    yield { type: "heat", role: "crosstab", dimension: f.dims[0], by: f.time, bucket, ...all[1] };
    yield { type: "heat", role: "crosstab", dimension: f.time, by: f.dims[0], bucket, ...all[0] };
  }
  for (const dimension of f.dims) {
    for (const m of all) {
      yield { type: "hbar", role: "ranking", dimension, order: "value", limit: 10, other: false, ...m };
      yield { type: "bar", role: "ranking", dimension, order: "key", limit: 20, ...m };
    }
    for (const m of [all[0], all[7]]) {
      for (const limit of [1, 3, 5]) yield { type: "donut", role: "composition", dimension, limit, other: true, ...m };
      yield { type: "pie", role: "composition", dimension, limit: 5, other: true, ...m };
      yield { type: "hbar", role: "ranking", dimension, limit: 4, other: true, ...m };
    }
    yield { type: "hbar", role: "ranking", dimension, limit: 5, latest: true, ...all[0] };
  }
  for (const dimension of f.dims) for (const by of f.dims) {
    if (by === dimension) continue;
    for (const m of [all[0], all[1], all[2], all[7], all[9]]) {
      yield { type: "bar", role: "crosstab", dimension, by, ...m };
      yield { type: "heat", role: "crosstab", dimension, by, ...m };
    }
  }
  yield { type: "scatter", role: "correlation", x: f.flow, y: f.rate };
  yield { type: "table", role: "table", columns: [f.time, ...f.dims, f.flow, f.rate].filter(Boolean), limit: 20 };
}

function filtersOf(f) {
  const list = [
    [],
    [{ column: f.flow, op: ">", value: 3 }],
    [{ column: f.flow, op: "<=", value: 100 }, { column: f.rate, op: "not_null" }],
    [{ column: f.flow, op: "between", value: [2, 5000] }],
    [{ column: f.rate, op: "not_null" }],
    [{ column: f.flow, op: "!=", value: 0 }],
    [{ column: f.dims.at(-1), op: "contains", value: "a" }],
    [{ column: f.dims[0], op: "not_null" }],
    [{ column: f.dims[0], op: "is_null" }],
  ];
  if (f.time === "year") list.push([{ column: "year", op: ">=", value: 1990 }], [{ column: "year", op: "in", value: [1995, 2000, 2005] }]);
  else if (f.time) list.push([{ column: f.time, op: ">=", value: "2001-02-01" }], [{ column: f.time, op: "<", value: "2013-01-01" }]);
  return list;
}

const VALUES = {
  location: ["Seattle"], origin: ["ORD", "LAX"], mpaa_rating: ["PG-13", "R"], cluster: [3, 1], symbol: ["MSFT", "AAPL"], pop: ["a", "rv"],
  binary: ["FAIL"], sex: ["Female"], gender: ["Male"],
};
function valueFilters(f) {
  const column = f.dims[0], values = VALUES[column];
  return [
    [{ column, op: "=", value: values[0] }],
    [{ column, op: "!=", value: values[0] }],
    [{ column, op: "in", value: values }],
    [{ column, op: "not_in", value: values }],
  ];
}

function plan(widgets, filters, locale, more = {}) {
  return {
    version: 1, purpose: "analytical", locale, noRows: false, filters, chips: [],
    widgets: widgets.map((w, i) => ({ id: `w${i}`, title: `Widget ${i}`, ...w })), ...more,
  };
}

function* chunks(list, most) {
  let part = [], kpis = 0;
  for (const w of list) {
    if (part.length === most || (w.type === "kpi" && kpis === 5)) {
      yield part;
      part = [], kpis = 0;
    }
    part.push(w);
    if (w.type === "kpi") kpis++;
  }
  if (part.length) yield part;
}

// [{file, spec}]; quick: each kind once or twice, else all.
export function* forced(quick) {
  let turn = 0;
  for (const f of quick ? FILES.slice(0, 3) : FILES) {
    const all = [...widgetsOf(f)];
    const parts = [...chunks(all, MOST)];
    for (const [i, part] of parts.entries()) {
      if (quick && i % 4 !== turn % 4) continue;
      yield { file: f.file, spec: plan(part, [], LOCALES[(turn + i) % LOCALES.length], { chips: f.dims.slice(0, 2) }) };
    }
    const some = all.filter((_, i) => i % Math.ceil(all.length / (MOST - 1)) === turn % 3).slice(0, MOST - 1);
    for (const filters of quick ? [filtersOf(f)[1], valueFilters(f)[2]] : [...filtersOf(f), ...valueFilters(f)])
      for (const locale of quick ? [LOCALES[turn % LOCALES.length]] : LOCALES) yield { file: f.file, spec: plan(some, filters, locale, { noRows: locale === "de", chips: f.dims.slice(0, 1) }) };
    turn++;
  }
  const hours = ["sum", "avg", "min", "max"].map((aggregation) => ({ type: "line", role: "trend", dimension: "date", bucket: "hour", metric: "temperature", aggregation }));
  yield { file: HOURS.file, spec: plan([...hours, { type: "kpi", role: "kpi", metric: "wind", aggregation: "avg" }], HOURS.filters, "es-CO") };
}
