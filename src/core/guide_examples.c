#include "core/guide.h"

const struct guide_example guide_examples[] = {
    {"overview",
     "One script instead of many calls",
     "const { files } = await tools.list_files({ limit: 50 });\n"
     "const read = await tools.map(files, path => tools.read_file({ path }), { settle: true });\n"
     "return { files: files.length, read: read.filter(r => r.status === \"fulfilled\").length };",
     {"list_files", "read_file"}},
    {"js_run",
     "A value is what the script returns; an expression alone is a script, too",
     "[3, 1, 2].sort().map(n => ({ n, square: n * n }))",
     {NULL}},
    {"js_run",
     "Find the tool, then call it by its signature",
     "const found = tools.list(\"read a file\");\n"
     "return found.slice(0, 3).map(t => tools.describe(t.name).signature);",
     {NULL}},
    {"js_run",
     "In parallel, in order; what fails is told apart",
     "const paths = [\"README.md\", \"no/such/file\"];\n"
     "const all = await tools.map(paths, path => tools.read_file({ path }), { concurrency: 4, settle: true "
     "});\n"
     "return all.map((r, i) => [paths[i], r.status === \"fulfilled\" ? r.value.bytes : r.reason.code]);",
     {"read_file"}},
    {"js_run",
     "Errors carry code, message and hint",
     "try {\n"
     "  return await tools.call(\"no_such_tool\", {});\n"
     "} catch (e) {\n"
     "  return { code: e.code, hint: e.hint };\n"
     "}",
     {NULL}},
    {"js_run",
     "Text beside the value, and progress",
     "for (let i = 1; i <= 3; i++) {\n"
     "  progress({ completed: i, total: 3, note: \"step \" + i });\n"
     "  print(\"step\", i, { square: i * i });\n"
     "}\n"
     "return \"done\";",
     {NULL}},
    {"js_run",
     "Kept across the runs of a session",
     "state.runs = (state.runs ?? 0) + 1;\n"
     "return { run: state.runs, input };",
     {NULL}},
    {"data",
     "A file, a question, figures",
     "await tools.write_file({ path: \"scratch:sales.csv\", content: "
     "\"region,amount\\nNorth,3\\nSouth,4.5\\nNorth,5\\n\" "
     "});\n"
     "const { datasetId, sheets } = await tools.data_inspect({ path: \"scratch:sales.csv\" });\n"
     "const sql = \"SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY total DESC\";\n"
     "const { rows } = await tools.data_query({ datasetId, sql });\n"
     "return { columns: sheets[0].columns.map(c => c.name), rows };",
     {"write_file", "data_inspect", "data_query"}},
    {"dashboards",
     "A page of a file, and what is on it",
     "await tools.write_file({ path: \"scratch:sales.csv\", content: "
     "\"day,region,amount\\n2026-01-05,North,3\\n2026-01-06,South,4.5\\n2026-02-07,North,5\\n\" "
     "});\n"
     "const { datasetId } = await tools.data_inspect({ path: \"scratch:sales.csv\" });\n"
     "const page = await tools.dashboard_generate({ datasetId, goal: \"amount by region per month\" });\n"
     "return { id: page.artifactId, widgets: page.widgets.map(w => w.title), notes: page.notes };",
     {"write_file", "data_inspect", "dashboard_generate"}},
    {"tools",
     "The same from within a script",
     "return tools.list().filter(t => t.callable).map(t => t.name + \" (\" + t.effect + \")\");",
     {NULL}},
    {"limits",
     "Return figures, not rows",
     "const rows = Array.from({ length: 1000 }, (_, i) => ({ id: i, size: i % 7 }));\n"
     "const bySize = {};\n"
     "for (const r of rows) bySize[r.size] = (bySize[r.size] ?? 0) + 1;\n"
     "return { rows: rows.length, bySize, first: rows.slice(0, 3) };",
     {NULL}},
    {"limits",
     "Keep what is long in the scratchpad",
     "const rows = Array.from({ length: 1000 }, (_, i) => i + \",\" + i * i);\n"
     "await tools.write_file({ path: \"scratch:squares.csv\", content: rows.join(\"\\n\") });\n"
     "return \"1000 rows in scratch:squares.csv\";",
     {"write_file"}},
    {"errors",
     "A call that may need an approval",
     "try {\n"
     "  await tools.call(\"write_file\", { path: \"notes.md\", content: \"# Notes\\n\" });\n"
     "  return \"written\";\n"
     "} catch (e) {\n"
     "  if (e.code !== \"APPROVAL_REQUIRED\") throw e;\n"
     "  return \"it needs an approval: \" + e.hint;\n"
     "}",
     {"write_file"}},
};
const size_t guide_n_examples = sizeof guide_examples / sizeof guide_examples[0];
