// Does a plan hold what expected.json says? Columns are named there as in the file's header, in a plan by identifier.

// {header: identifier}
export function namesOf(headers, identifiers) {
  return Object.fromEntries(headers.map((h, i) => [h, identifiers[i]]));
}

const list = (v) => (v === undefined ? undefined : Array.isArray(v) ? v : [v]);
const isSum = (w) => w.aggregation === "sum" || w.aggregation === "ratio";

// Does the widget show what the pattern says? Members that the pattern does not have do not matter.
function fits(w, pattern, name) {
  const among = (value, allowed) => allowed === undefined || list(allowed).map(name).includes(value);
  if (pattern.scatter) {
    const wanted = pattern.scatter.map(name);
    return w.type === "scatter" && wanted.includes(w.x) && wanted.includes(w.y) && w.x !== w.y;
  }
  if (w.type === "scatter" || w.type === "table") return false;
  if (!among(w.metric, pattern.metric)) return false;
  if (pattern.aggregation && !list(pattern.aggregation).includes(w.aggregation)) return false;
  if (pattern.latest !== undefined && !!w.latest !== pattern.latest) return false;
  if (pattern.bucket && !list(pattern.bucket).includes(w.bucket)) return false;
  if (pattern.dimension && !among(w.dimension, pattern.dimension) && !(w.by && among(w.by, pattern.dimension))) return false;
  if (pattern.by && !(w.by && among(w.by, pattern.by))) return false;
  return true;
}

const said = (p) => JSON.stringify(p);

function lead(expected, plan, name, wrong) {
  const first = plan.widgets.find((w) => w.type === "kpi");
  if (!first) return wrong("there is no KPI");
  if (!expected.lead.allowed.some((p) => fits(first, p, name))) wrong(`the first KPI is ${said(first)}: ${expected.lead.why}`);
  for (const role of ["ranking", "trend"]) {
    const allowed = expected.time?.trend && role === "trend" ? expected.time.trend : expected.lead.allowed.map(({ latest, ...p }) => (role === "trend" ? p : { ...p, ...(latest === undefined ? {} : { latest }) }));
    const w = plan.widgets.find((one) => one.role === role);
    if (w && !allowed.some((p) => fits(w, p, name))) wrong(`the ${role} shows ${said(w)}: ${expected.lead.why}`);
  }
}

function time(expected, plan, name, wrong) {
  const trend = plan.widgets.find((w) => w.role === "trend");
  if (!expected.time) return trend && wrong(`there is no time in it, and a trend: ${said(trend)}`);
  if (!trend) return expected.time.allowed_null || wrong(`no trend: ${expected.time.why}`);
  if (trend.dimension !== name(expected.time.column)) wrong(`the trend goes by ${trend.dimension}: ${expected.time.why}`);
  else if (!expected.time.buckets.includes(trend.bucket)) wrong(`the trend's bucket is ${trend.bucket}: ${expected.time.why}`);
}

function ranking(expected, plan, name, wrong) {
  const w = plan.widgets.find((one) => one.role === "ranking");
  if (!expected.ranking) return w && wrong(`nothing can be ranked, and there is ${said(w)}`);
  if (!w) return wrong(`no ranking: ${expected.ranking.why}`);
  if (!expected.ranking.allowed.map(name).includes(w.dimension)) wrong(`${w.dimension} is ranked: ${expected.ranking.why}`);
}

// What must not be in any plan of this file, whatever was asked.
export function never(expected, plan, name, everywhere, wrong) {
  const columns = (key) => (expected[key]?.columns ?? []).map(name);
  for (const w of plan.widgets) {
    const measured = w.type === "scatter" ? [w.x, w.y] : ["count", "count_distinct"].includes(w.aggregation) ? [] : [w.metric, w.over].filter(Boolean);
    if (isSum(w)) for (const c of measured) if (columns("never_sum").includes(c)) wrong(`${c} is added up in ${w.id}: ${expected.never_sum.why}`);
    for (const c of measured) if (columns("never_metric").includes(c)) wrong(`${c} is a measure of ${w.id}: ${expected.never_metric.why}`);
    for (const c of [w.dimension, w.by]) if (c && columns("never_dimension").includes(c)) wrong(`${c} is a dimension of ${w.id}: ${expected.never_dimension.why}`);
    const alongTime = w.role === "trend" || w.bucket;
    if (w.aggregation === "sum" && columns("over_time_sum").includes(w.metric) && !w.latest && !alongTime) wrong(`${w.metric} is added up over time in ${w.id}: ${expected.over_time_sum.why}`);
    everyPlan(w, everywhere, wrong);
  }
}

export function everyPlan(w, everywhere, wrong) {
  if (["pie", "donut"].includes(w.type) && !everywhere.pie_of.includes(w.aggregation)) wrong(`${w.id} is a ${w.type} of ${w.aggregation}: ${everywhere.why}`);
  if (w.other && !everywhere.other_of.includes(w.aggregation)) wrong(`${w.id} has a rest of ${w.aggregation}: ${everywhere.why}`);
}

export function fresh(expected, plan, name, everywhere) {
  const problems = [], wrong = (text) => problems.push(text);
  lead(expected, plan, name, wrong);
  time(expected, plan, name, wrong);
  ranking(expected, plan, name, wrong);
  never(expected, plan, name, everywhere, wrong);
  return problems;
}

export function goal(expected, asked, plan, name, everywhere) {
  const problems = [], wrong = (text) => problems.push(`"${asked.goal}": ${text}`);
  for (const { any_dimension, ...p } of asked.must) if (!plan.widgets.some((w) => fits(w, p, name))) wrong(`nothing shows ${said(p)}: ${asked.why}`);
  for (const p of asked.must_not ?? []) for (const w of plan.widgets) if (fits(w, p, name)) wrong(`${said(w)} is wrong: ${asked.why}`);
  const first = plan.widgets.find((w) => w.type === "kpi");
  if (asked.first_kpi && !(first && fits(first, asked.first_kpi, name))) wrong(`the first KPI is ${said(first)}: ${asked.why}`);
  never(expected, plan, name, everywhere, wrong);
  return problems;
}

// Labels of the page's charts: natural orders, as many points as the file has, no line of lone points.
export function drawn(expected, plan, specs, name) {
  const problems = [], wrong = (text) => problems.push(text);
  for (const w of plan.widgets) {
    const spec = specs.get(w.id);
    if (!spec?.labels) continue;
    for (const [header, order] of Object.entries(expected.order ?? {})) {
      if (name(header) !== w.dimension || w.bucket) continue;
      const places = spec.labels.map((l) => order.indexOf(l)).filter((i) => i >= 0);
      if (places.some((p, i) => i && p < places[i - 1])) wrong(`${w.id}: ${spec.labels.join(", ")} are not in their order`);
    }
    if (w.role !== "trend" || !expected.time) continue;
    const values = spec.series[0].values, there = values.filter((v) => v !== null).length;
    if (expected.time.points && there !== expected.time.points) wrong(`${w.id}: ${there} points, the file has ${expected.time.points}`);
    const joined = spec.spanGaps || values.every((v, i) => v === null || (values[i - 1] ?? values[i + 1] ?? null) !== null);
    if (expected.time.gaps && !joined) wrong(`${w.id}: points without a neighbour, so no line`);
  }
  return problems;
}
