// What a file and a page hold, as little as the checks of plans need.
import { readFileSync } from "node:fs";

// A header's names, by RFC 4180; of JSON the members in the order in which they come.
export function headersOf(path) {
  const text = new TextDecoder("utf-8").decode(readFileSync(path));
  if (path.endsWith(".json")) return [...new Set(JSON.parse(text).flatMap(Object.keys))];
  const mark = path.endsWith(".tsv") ? "\t" : ",", names = [];
  let name = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') name += c;
      else if (text[i + 1] === '"') name += text[++i];
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === mark || c === "\n" || c === "\r") {
      names.push(name);
      name = "";
      if (c !== mark) break;
    } else name += c;
  }
  return names;
}

// The SPEC of each chart, by its widget's id.
export function specsOf(html) {
  const specs = new Map();
  for (const [, id, body] of html.matchAll(/<section class="ac-card[^"]*" data-ac-widget="([^"]+)"(.*?)<\/section>/gs)) {
    const json = body.match(/<script type="application\/json">(.*?)<\/script>/s);
    if (json) specs.set(id, JSON.parse(json[1]));
  }
  return specs;
}

// In Arabic quarters are words: the first to the fourth.
const ARABIC_QUARTERS = ["الأول", "الثاني", "الثالث", "الرابع"];

// Texts of periods that do not say their key: the year, the month's name as Intl has it, the day, the hour.
export function periodsWrong(html) {
  const locale = html.match(/data-ac-locale="([^"]+)"/)[1], wrong = [];
  const digits = (n) => new Intl.NumberFormat(locale, { useGrouping: false }).format(n);
  const part = (date, options, type) => new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options }).formatToParts(date).find((p) => p.type === type).value;
  let n = 0;
  for (const [, key, text] of html.matchAll(/<th scope="row"[^>]* data-ac-k="(\d{4}-(?:Q\d|\d\d(?:-\d\d(?:T\d\d)?)?))"[^>]*>(.*?)<\/th>/g)) {
    const [, year, quarter, month, day, hour] = key.match(/^(\d{4})-(?:Q(\d)|(\d\d)(?:-(\d\d)(?:T(\d\d))?)?)$/);
    const date = new Date(Date.UTC(+year, month ? month - 1 : 0, +(day ?? 1), +(hour ?? 0)));
    const needs = hour ? [] : [digits(+year)];
    if (quarter) needs.push(locale.startsWith("ar") ? ARABIC_QUARTERS[quarter - 1] : digits(+quarter));
    if (month) needs.push(part(date, { month: "short", day: "numeric" }, "month").replace(".", "").slice(0, 3));
    if (day) needs.push(digits(+day));
    if (hour) needs.push(part(date, { hour: "numeric" }, "hour"));
    n++;
    const words = text.replace(/<[^>]*>/g, "");
    if (!needs.every((need) => words.includes(need))) wrong.push(`${locale}: ${key} is written ${words}, without one of ${needs.join(", ")}`);
  }
  return { n, wrong };
}
