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
