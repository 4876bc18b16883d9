// What of the official suites is not asked of alisio, each with its reason. An exception whose check passes is a failure.

// Scenarios that are not looked at.
export const notAsked = [
  { match: /^auth\//, reason: "Signing in by OAuth: a server that wants it is AUTH_REQUIRED, so there is nothing to test." },
  { match: /^tasks-/, reason: "The tasks extension, which is optional. Neither end of the gateway declares it." },
  { match: /^sep-2640-/, reason: "The skills extension, which is optional. Neither end of the gateway declares it." },
];

// { run, scenario, check, reason }: single checks that do not pass, by the name of the run in suite.mjs. The gateway passes
// both suites with servers of the suite's own era; these are of a modern client before a server of the older era.
const crossed = [
  [
    "input-required-result-basic-elicitation",
    "sep-2322-elicitation-incomplete",
    "It wants the key that a modern server gives to its question. An older server gives none, so the key is alisio's.",
  ],
  [
    "input-required-result-multiple-input-requests",
    "sep-2322-multiple-inputs-incomplete",
    "It wants three questions in one answer. An older server asks one, and the next when that is answered.",
  ],
  [
    "input-required-result-ignore-extra-params",
    "sep-2322-ignore-unexpected-params",
    "It answers a question that was not asked yet. An older server asks while the call runs.",
  ],
  [
    "input-required-result-capability-check",
    "sep-2322-respect-client-capabilities",
    "It wants a server that looks at what the client of this request can. An older server is told once, when it starts.",
  ],
  [
    "server-stateless",
    "sep-2575-server-rejects-undeclared-capability",
    "The same: the older server was told at its start that its client can be asked.",
  ],
  ["server-stateless", "sep-2575-missing-capability-http-400", "The HTTP status of the refusal before it."],
];

export const exceptions = crossed.map(([scenario, check, reason]) => ({
  run: "2026-07-28, older upstream",
  scenario,
  check,
  reason,
}));
