// The official conformance suites, for servers and for clients, both through the gateway.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clientRuns, runClient, runServer, serverRuns, suitableNode } from "../conformance/suite.mjs";

const options = suitableNode() ? {} : { skip: "the suites need Node 22 or later" };
const passes = (verdict) => assert.deepEqual(verdict.wrong, []);

describe("servers", { ...options, concurrency: 2 }, () => {
  for (const run of serverRuns) test(run.name, async () => passes(await runServer(run)));
});

describe("clients", { ...options, concurrency: 2 }, () => {
  for (const run of clientRuns)
    for (const scenario of run.scenarios)
      test(`${run.name} ${scenario}`, async () => passes(await runClient(run, scenario)));
});
