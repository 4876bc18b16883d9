// One host over MCP that makes dashboards of many files, and the oracle that counts their pages again.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { McpClient, makeHome, root } from "../integration/lib.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const corpus = process.env.ALISIO_CORPUS ?? join(root, "../shared/corpus");
export const FOLDERS = ["vega-datasets", "csv/fivethirtyeight", "csv/seaborn-data"];
export const expected = JSON.parse(readFileSync(join(here, "expected.json"), "utf8"));
const python = process.env.ALISIO_PYTHON ?? (existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3");

export function missing() {
  if (!existsSync(corpus)) return `there is no corpus at ${corpus}`;
  const enough = spawnSync(python, ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).status === 0;
  return enough ? false : "no Python 3.11";
}

function* walk(dir) {
  for (const name of readdirSync(dir).sort()) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}
export const files = () => FOLDERS.flatMap((folder) => [...walk(join(corpus, folder))].map((path) => relative(corpus, path)));

export class Maker {
  constructor() {
    this.home = makeHome();
    this.client = new McpClient(this.home, ["--add-dir", corpus]);
    this.datasets = new Map();
    this.jobs = [];
  }

  async open() {
    await this.client.initialize();
    return this;
  }

  async call(name, args) {
    const { result, error } = await this.client.call(name, args);
    if (error) throw new Error(`${name}: ${error.message}`);
    if (!result.isError) return { ok: true, ...result.structuredContent, text: result.content[0].text };
    return { ok: false, text: result.content[0].text, code: result.content[0].text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/)?.[0] };
  }

  // {ok, datasetId, columns: identifiers in the file's order}
  async dataset(file) {
    if (!this.datasets.has(file)) {
      const found = await this.call("data_inspect", { path: file.startsWith("/") ? file : join(corpus, file), sampleRows: 0 });
      if (!found.ok) return this.datasets.set(file, found).get(file);
      const { datasetId, sheets } = found;
      const all = await this.call("data_query", { datasetId, sql: `SELECT * FROM "${sheets[0].table}" LIMIT 0` });
      this.datasets.set(file, { ok: true, datasetId, columns: all.columns.map((c) => c.name ?? c) });
    }
    return this.datasets.get(file);
  }

  // What dashboard_generate answers, with the page's place and a job for the oracle.
  async make(file, args = {}) {
    const data = await this.dataset(file);
    if (!data.ok) return { ...data, stage: "ingest" };
    const made = await this.call("dashboard_generate", { datasetId: data.datasetId, ...args });
    if (!made.ok) return { ...made, stage: "dashboard" };
    if (made.artifactId) {
      made.html = this.place(made.artifactId);
      made.job = {
        name: `${file} ${JSON.stringify({ ...args, spec: undefined, filters: made.plan.filters, locale: made.plan.locale })}`,
        file: file.startsWith("/") ? file : join(corpus, file),
        columns: data.columns,
        html: made.html,
        plan: made.plan,
        forced: !!args.spec, // as somebody wanted it, sensible or not
      };
      this.jobs.push(made.job);
    }
    return made;
  }

  place(artifactId) {
    // Others are published meanwhile: folders of theirs may go while it looks.
    const out = spawnSync("find", [join(this.home.env.ALISIO_STATE_HOME, "artifacts"), "-path", `*${artifactId}*`, "-name", "dashboard.html"], { encoding: "utf8" }).stdout;
    return out.trim().split("\n")[0];
  }

  // {status, problems: [line], pages, numbers, kinds}
  check(jobs = this.jobs) {
    const list = join(this.home.dir, "jobs.jsonl");
    writeFileSync(list, jobs.map((job) => JSON.stringify(job)).join("\n") + "\n");
    const r = spawnSync(python, ["-B", join(here, "oracle.py"), list], { encoding: "utf8", maxBuffer: 1 << 28 });
    if (r.stderr) throw new Error(r.stderr);
    const lines = r.stdout.trim().split("\n");
    return { status: r.status, ...JSON.parse(lines.pop()), problems: lines };
  }

  async close() {
    await this.client.close();
    this.home.remove();
  }
}
