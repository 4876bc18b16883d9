// The official conformance suites (npm @modelcontextprotocol/conformance), run against the gateway, and judged: a check
// that fails or warns must stand in exceptions.mjs, and one that stands there must not pass.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../integration/lib.mjs";
import { exceptions, notAsked } from "./exceptions.mjs";
import { startGateway } from "./gateway.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(root, "node_modules");

// The suites need Node 22: this one, or the one from npm. null: there is none.
export function suitableNode() {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  const own = join(packages, `node-linux-${process.arch}/bin/node`);
  return existsSync(own) ? own : null;
}

export const serverRuns = [
  { name: "0.1.16", suite: "conformance-2025", args: ["--suite", "all"], era: "legacy" },
  { name: "2025-11-25", suite: "conformance-2026", args: ["--requirements", "2025-11-25"], era: "legacy" },
  { name: "2026-07-28", suite: "conformance-2026", args: ["--requirements", "2026-07-28"], era: "modern" },
  // The client of one era, the upstream server of the other.
  { name: "2025-11-25, modern upstream", suite: "conformance-2026", args: ["--requirements", "2025-11-25"], era: "modern" },
  { name: "2026-07-28, older upstream", suite: "conformance-2026", args: ["--requirements", "2026-07-28"], era: "legacy" },
];

// Scenarios for clients, as each suite has them for a version of the protocol.
export const clientRuns = [
  { name: "0.1.16", suite: "conformance-2025", scenarios: listed("conformance-2025"), args: [] },
  { name: "2025-11-25", suite: "conformance-2026", scenarios: required("2025-11-25"), args: ["--spec-version", "2025-11-25"] },
  { name: "2026-07-28", suite: "conformance-2026", scenarios: required("2026-07-28"), args: ["--spec-version", "2026-07-28"] },
];

// The older suite has no list of requirements: these are all of its scenarios for clients that are not auth/*.
function listed() {
  return ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"];
}

// Scenarios for clients that a version requires, and what the suite runs beside them.
function required(version) {
  const file = join(packages, "conformance-2026/requirements", `${version}.yaml`);
  if (!existsSync(file)) return [];
  const names = [];
  let part = "";
  let name;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (/^\w+:$/.test(line)) part = line.slice(0, -1);
    else if (part === "client" && /^ {2}- /.test(line)) names.push(line.slice(4).trim());
    else if (/^ {2}- scenario: /.test(line)) name = line.slice(14).trim();
    else if (/^ {4}leg: client/.test(line)) names.push(name);
  }
  return names.filter((n) => !notAsked.some(({ match }) => match.test(n)));
}

function spawnSuite(run, args) {
  const node = suitableNode();
  const child = spawn(node, [join(packages, run.suite, "dist/index.js"), ...args], {
    cwd: here,
    env: { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}`, NODE_TEST_CONTEXT: undefined },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, said })));
}

// The checks of each scenario, from the folder that the suite has written them to.
function readChecks(folder, prefix) {
  const found = new Map();
  for (const entry of readdirSync(folder, { recursive: true })) {
    if (!entry.endsWith("checks.json")) continue;
    const name = dirname(entry).replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "").slice(prefix.length);
    found.set(name, JSON.parse(readFileSync(join(folder, entry), "utf8")));
  }
  return found;
}

const asked = (scenario) => !notAsked.some(({ match }) => match.test(scenario));

// What is wrong with the checks of a run, in lines; and how many passed.
function judge(runName, checks) {
  const wrong = [];
  let passed = 0;
  const excused = exceptions.filter((e) => e.run === runName);
  const used = new Set();
  for (const [scenario, list] of checks) {
    if (!asked(scenario)) continue;
    if (!list.some(({ status }) => status === "SUCCESS" || status === "FAILURE" || status === "WARNING"))
      wrong.push(`${scenario}: nothing was checked`);
    for (const check of list) {
      const excuse = excused.find((e) => e.scenario === scenario && (e.check === undefined || e.check === check.id));
      if (check.status === "FAILURE" || check.status === "WARNING") {
        if (excuse) used.add(excuse);
        else wrong.push(`${scenario}: ${check.id}: ${check.errorMessage ?? check.description}`);
      } else if (check.status === "SUCCESS") passed++;
    }
  }
  for (const e of excused)
    if (!used.has(e)) wrong.push(`${e.scenario}: ${e.check ?? "all"}: stands in exceptions.mjs and passes; take it out`);
  return { wrong, passed };
}

export async function runServer(run) {
  const results = mkdtempSync(join(tmpdir(), "alisio-conformance-"));
  const gateway = await startGateway(run.era);
  try {
    const { said } = await spawnSuite(run, ["server", "--url", gateway.url, ...run.args, "-o", results]);
    const checks = readChecks(results, "server-");
    const verdict = judge(run.name, checks);
    if (checks.size === 0) verdict.wrong.push(`the suite ran nothing: ${said.slice(-2000)}`);
    return { ...verdict, checks, said, host: gateway.said() };
  } finally {
    await gateway.stop();
    rmSync(results, { recursive: true, force: true });
  }
}

export async function runClient(run, scenario) {
  const results = mkdtempSync(join(tmpdir(), "alisio-conformance-"));
  try {
    const args = ["client", "--command", "node client.mjs", "--scenario", scenario, ...run.args, "-o", results];
    const { code, said } = await spawnSuite(run, args);
    const checks = readChecks(results, "");
    const verdict = judge(`client ${run.name}`, checks);
    if (checks.size === 0) verdict.wrong.push(`the suite ran nothing: ${said.slice(-2000)}`);
    if (code !== 0 && verdict.wrong.length === 0) verdict.wrong.push(`${scenario}: the suite ended with ${code}: ${said.slice(-2000)}`);
    return { ...verdict, checks, said };
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}
