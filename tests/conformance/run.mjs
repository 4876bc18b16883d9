// node run.mjs [PATTERN]: runs the suites whose name matches, and prints every check that did not pass. With
// CONFORMANCE_VERBOSE=1 also what the suite and the gateway said.
import { clientRuns, runClient, runServer, serverRuns, suitableNode } from "./suite.mjs";

const pattern = new RegExp(process.argv[2] ?? ".");
if (!suitableNode()) throw new Error("this needs Node 22");
let failed = 0;

function show(name, { wrong, passed, said, host }) {
  console.log(`${wrong.length ? "✗" : "✓"} ${name}: ${passed} passed${wrong.length ? `, ${wrong.length} wrong` : ""}`);
  for (const line of wrong) console.log(`    ${line}`);
  if (process.env.CONFORMANCE_VERBOSE) console.log(said, host ?? "");
  failed += wrong.length;
}

for (const run of serverRuns) {
  const name = `server ${run.name}`;
  if (pattern.test(name)) show(name, await runServer(run));
}
for (const run of clientRuns)
  for (const scenario of run.scenarios) {
    const name = `client ${run.name} ${scenario}`;
    if (pattern.test(name)) show(name, await runClient(run, scenario));
  }
process.exitCode = failed ? 1 : 0;
