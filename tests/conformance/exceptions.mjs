// What of the official suites is not asked of alisio, each with its reason. An exception whose check passes is a failure.

// Scenarios that are not looked at.
export const notAsked = [
  { match: /^auth\//, reason: "Signing in by OAuth: a server that wants it is AUTH_REQUIRED, so there is nothing to test." },
  { match: /^tasks-/, reason: "The tasks extension, which is optional. Neither end of the gateway declares it." },
  { match: /^sep-2640-/, reason: "The skills extension, which is optional. Neither end of the gateway declares it." },
];

// { run, scenario, check, reason }: single checks that do not pass, by the name of the run in suite.mjs.
export const exceptions = [];
