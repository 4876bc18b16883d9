// What a scripted model says, turn by turn, to "Which items earn most, and how does it go by month?": code over all files, a
// dataset, a question in SQL, a dashboard without code, a Python script that publishes, and an answer from what came back.
import { readFileSync } from "node:fs";

const look = `
const { files } = await tools.list_files({ path: "data", limit: 100 });
const tables = [];
for (const path of files.filter((name) => name.endsWith(".csv"))) {
  const { text } = await tools.read_file({ path });
  const lines = text.trimEnd().split("\\n");
  tables.push({ path, rows: lines.length - 1, columns: lines[0] });
  progress({ completed: tables.length, total: files.length, note: path });
}
return tables;`;

// The texts of the newest tool results, whatever the API calls them.
function results({ messages, input }) {
  const found = [];
  for (const m of messages ?? input) {
    if (m.role === "tool") found.push(m.content);
    else if (m.type === "function_call_output") found.push(m.output);
    else if (Array.isArray(m.content)) found.push(...m.content.filter((b) => b.type === "tool_result").map((b) => b.content));
  }
  return found.map((c) => (typeof c === "string" ? c : JSON.stringify(c)));
}
const first = (texts, pattern) => texts.map((t) => pattern.exec(t)?.[0]).find(Boolean);

export default function step({ n, body }) {
  const seen = results(body);
  const datasetId = first(seen, /ds_[0-9A-Z]{26}/);
  const call = (name, args, text) => ({ text, calls: [{ name, arguments: args }] });
  switch (n) {
    case 0:
      return call("js_run", { title: "What is there", code: look }, "First, what the files hold.");
    case 1:
      return call("data_inspect", { path: "data/orders.csv" }, "Orders it is.");
    case 2:
      return call("data_query", { datasetId, sql: "SELECT item, round(sum(quantity * price), 2) AS turnover FROM data_values GROUP BY item ORDER BY 2 DESC LIMIT 3" });
    case 3:
      return call("dashboard_generate", { datasetId, title: "Orders", goal: "quantity by item per month" }, "A page that you can filter:");
    case 4:
      return call("python_run", { title: "Turnover", code: readFileSync(new URL("../turnover.py", import.meta.url), "utf8"), inputs: [{ path: "data/orders.csv" }] },
        "And the turnover, which is a product of two columns:");
    default: {
      const best = seen.flatMap((t) => /^.*\d+\.\d\d in \d+ months; most from .+$/m.exec(t)?.[0] ?? []).at(-1);
      return { text: `Turnover: ${best ?? "see the page"}. The dashboard and the two files are published.\n` };
    }
  }
}
