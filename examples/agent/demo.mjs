// examples/agent/demo.mjs ALISIO: one prompt over examples/workspace with a scripted model (orders.mjs), once as a person reads
// it and once as a program does; the lines of the second are held to docs/jsonl.schema.json.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startFake } from "../../tests/fake/server.mjs";
import step from "./orders.mjs";

const [alisio] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const workspace = join(here, "../workspace");
const prompt = "Which items earn most, and how does it go by month? A dashboard, please.";

async function ask(args) {
  const fake = await startFake(step);
  const child = spawn(alisio, ["run", "--base-url", fake.base("chat"), "--api", "chat", "--model", "scripted", "--cwd", workspace, "--allow-analysis", ...args, prompt],
    { stdio: ["ignore", args.length ? "pipe" : "inherit", "inherit"] });
  let out = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => (out += text));
  const status = await new Promise((done) => child.on("close", done));
  const refused = fake.violations;
  await fake.close();
  if (status !== 0 || refused.length) throw new Error(`it ended with ${status}; ${refused.join("; ")}`);
  return out;
}

await ask([]);
const lines = (await ask(["--json", "--quiet"])).trimEnd().split("\n");
const Ajv = createRequire(import.meta.url)("ajv");
const check = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(readFileSync(join(here, "../../docs/jsonl.schema.json"), "utf8")));
const events = lines.map((line) => JSON.parse(line));
for (const event of events) if (!check(event)) throw new Error(`${JSON.stringify(event)}: ${JSON.stringify(check.errors)}`);
const tools = events.filter((e) => e.type === "tool_completed").map((e) => e.data.name);
const artifacts = events.filter((e) => e.type === "artifact_published").length;
console.log(`\nThe same for a program (--json): ${lines.length} lines, each valid by docs/jsonl.schema.json; ${tools.join(", ")}; ${artifacts} artifacts; ${events.at(-1).type}.`);
