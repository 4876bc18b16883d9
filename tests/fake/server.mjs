#!/usr/bin/env node
// A strict model server: Chat Completions, Responses and Messages, streamed or whole, as a scenario says, for tests.
//
// As a module:   const fake = await startFake(scenario, options); … await fake.close();
// As a process:  node tests/fake/server.mjs [--scenario FILE(.json|.mjs)] [--port N] [--while-stdin]
//                prints {"port":…,"url":…} on one line. Control: GET /_fake/log, POST /_fake/scenario, POST /_fake/release/NAME.
//
// A scenario is a list of steps (the n-th step answers the n-th request that is valid), { steps, …options }, or a function
// ({ n, api, body, headers, request }) => step. options: what validate.mjs takes, and models: { dialect, list }, dialect (of
// Chat Completions, for all steps), idle (ms that a connection may idle). A step is one of
//   a neutral answer (wire.mjs: text, reasoning, calls, parts, end, usage…), with
//       wire:    { split, argSplit, dialect, eol, bom, space, eventLines, noise, broken } how it is written down
//       chunk:   bytes of one write (a number or a list, the last of which repeats); pace: ms between two writes
//       edit:    (events) => events; insert: [{ at, event?, data? | comment? }]; dropLast: n
//       error:   { at, shape: "data" | "event" | "bare" | "flat" | "message", type, code, message } stands in place of event `at` and ends it
//       cut:     { byte | event, how: "end" | "reset" }: how many of them are still sent (below 0: all but so many bytes);
//       stall:   { byte | event }: silence from there
//       hold:    { event, name } or name: nothing goes on before release(name); linger: true: the connection stays open at the end
//       whole:   true: an answer as JSON although a stream was asked for; status, headers, contentType
//       delayMs: before the status line; headMs: between headers and first byte
//   { reply: { status, headers, contentType, body | error: { type, message, code, param, details } } }   no stream at all
//   { raw: text or bytes, contentType }  a stream as it was recorded
//   { hang: true }  no answer; { reset: true }  the connection is closed before a byte of the answer; { redirect: status, location }
// In a text of a reply, header or error, {key} is the key that came, {n} the number of the request, {url} our address.
//
// What it keeps: requests for an answer [{ n, api, method, path, headers, body, raw, violation, refused, closed }], asides (those
// for lists of models and the like), violations (words of refusals that no scenario asked for: a correct client has none),
// effects { NAME: count } of GET or POST /_fake/effect/NAME.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { resolve as resolvePath } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { validate, errorBody } from "./validate.mjs";
import { EVENTS, WHOLE, expected, frames } from "./wire.mjs";
import { modelsAnswer } from "./models.mjs";

const nap = (ms) => new Promise((done) => setTimeout(done, ms));
const breath = () => new Promise((done) => setImmediate(done));

function apiOf(path) {
  const clean = path.split("?")[0];
  if (/^(\/api)?(\/v1)?\/chat\/completions$/.test(clean)) return "chat";
  if (/^(\/v1)?\/responses$/.test(clean)) return "responses";
  if (/^\/v1\/messages$/.test(clean)) return "messages";
  return null;
}

const keyOf = (headers) => headers["x-api-key"] ?? /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";

// json: the text is JSON, and stays it.
function filled(text, request, fake, json = false) {
  const key = json ? JSON.stringify(keyOf(request.headers)).slice(1, -1) : keyOf(request.headers);
  return text.replaceAll("{key}", () => key).replaceAll("{n}", String(request.n)).replaceAll("{url}", fake.url);
}

export class Fake {
  constructor(scenario = [], options = {}) {
    this.requests = [];
    this.asides = [];
    this.violations = [];
    this.effects = {};
    this.answered = 0; // valid requests: the number of the next step
    this.gates = new Map();
    this.watchers = [];
    this.options = options;
    this.play(scenario);
    this.server = createServer((req, res) => this.take(req, res));
    this.server.keepAliveTimeout = options.idle ?? 5000;
    this.server.on("clientError", (_, socket) => socket.destroy());
  }

  // From now on this scenario, from its first step.
  play(scenario) {
    const { steps, ...more } = Array.isArray(scenario) || typeof scenario === "function" ? { steps: scenario } : scenario;
    this.steps = steps ?? [];
    this.options = { ...this.options, ...more };
    this.first = this.answered;
  }

  async listen(port = 0, host = "127.0.0.1") {
    await new Promise((done, fail) => this.server.once("error", fail).listen(port, host, done));
    this.port = this.server.address().port;
    this.url = `http://${host}:${this.port}`;
    return this;
  }

  // What a client takes as base URL.
  base(api) {
    return api === "messages" ? this.url : `${this.url}/v1`;
  }

  async close() {
    for (const name of this.gates.keys()) this.release(name);
    this.server.closeAllConnections?.();
    await new Promise((done) => this.server.close(done));
  }

  gate(name) {
    if (!this.gates.has(name)) {
      const g = {};
      g.open = new Promise((done) => (g.done = done));
      this.gates.set(name, g);
    }
    return this.gates.get(name).open;
  }

  release(name) {
    this.gate(name);
    this.gates.get(name).done();
  }

  // The request number n (from 0) has come, and is answered as far as its step goes without release.
  async request(n, ms = 20_000) {
    const end = performance.now() + ms;
    while (this.requests.length <= n) {
      const left = end - performance.now();
      if (left <= 0) throw new Error(`request ${n} did not come within ${ms} ms; there are ${this.requests.length}`);
      let timer;
      await Promise.race([new Promise((done) => this.watchers.push(done)), new Promise((done) => (timer = setTimeout(done, left)))]);
      clearTimeout(timer);
    }
    return this.requests[n];
  }

  take(req, res) {
    const parts = [];
    req.on("data", (d) => parts.push(d));
    req.on("error", () => {});
    res.on("error", () => {});
    req.on("end", () => {
      this.answer(req, res, Buffer.concat(parts)).catch((e) => {
        this.violations.push(`the fake itself: ${e.stack}`);
        res.destroy();
      });
    });
  }

  async answer(req, res, bytes) {
    if (req.url.startsWith("/_fake/")) return this.control(req, res, bytes);
    const api = apiOf(req.url);
    const request = { n: this.requests.length, at: performance.now(), api, method: req.method, path: req.url, headers: req.headers, raw: bytes };
    request.closed = new Promise((done) => res.once("close", () => done(performance.now())));
    try {
      request.body = JSON.parse(bytes.toString("utf8"));
    } catch {
      request.body = undefined;
    }
    if (!api || req.method !== "POST") {
      this.asides.push(request);
      return this.aside(request, res);
    }
    this.requests.push(request);
    for (const done of this.watchers.splice(0)) done();
    return this.judge(request, res);
  }

  judge(request, res) {
    const { key, window, maxOutput, refuse, model, wantsReasoning, noReasoning, ...always } = this.options;
    const wrong = validate(request.api, request.headers, request.raw, always);
    if (wrong) {
      request.violation = wrong.message;
      this.violations.push(wrong.message);
      return this.refuse(request, res, wrong);
    }
    const refused = validate(request.api, request.headers, request.raw, this.options);
    if (refused) {
      request.refused = refused.message;
      return this.refuse(request, res, refused);
    }
    const index = this.answered++ - this.first;
    const step = typeof this.steps === "function" ? this.steps({ n: index, api: request.api, body: request.body, headers: request.headers, request }) : this.steps[index];
    if (!step) {
      this.violations.push(`request ${request.n}: the scenario has no step ${index}`);
      return this.refuse(request, res, { status: 500, type: "server_error", message: "the scenario has no further step" }, { "x-should-retry": "false" });
    }
    request.step = index;
    return this.perform(step, request, res);
  }

  head(request, more = {}) {
    return { [request.api === "messages" ? "request-id" : "x-request-id"]: `req_f${request.n}`, ...more };
  }

  send(request, res, status, type, body, headers = {}) {
    const own = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, filled(String(v), request, this)]));
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
    res.writeHead(status, { ...this.head(request), ...(type ? { "content-type": type } : {}), "content-length": bytes.length, ...own });
    res.end(bytes);
  }

  refuse(request, res, e, headers = {}) {
    const body = filled(JSON.stringify(errorBody(request.api, e, `req_f${request.n}`)), request, this, true);
    this.send(request, res, e.status, "application/json", body, headers);
  }

  async perform(step, request, res) {
    if (step.delayMs) await nap(step.delayMs);
    if (typeof step.hold === "string") await this.gate(step.hold);
    if (step.hang) return undefined;
    if (step.reset) return res.socket.resetAndDestroy?.() ?? res.destroy();
    if (step.redirect) return this.send(request, res, step.redirect, "text/plain", "moved", { location: step.location });
    if (step.reply) return this.reply(step.reply, request, res);
    if (step.raw === undefined && (step.whole || request.body.stream !== true)) return this.sendWhole(step, request, res);
    return this.stream(step, request, res);
  }

  reply(r, request, res) {
    if (r.error) return this.refuse(request, res, { status: r.status, type: "invalid_request_error", ...r.error }, r.headers);
    const text = typeof r.body === "string" || Buffer.isBuffer(r.body) ? r.body : JSON.stringify(r.body ?? {});
    const type = r.contentType === undefined ? (typeof r.body === "string" ? "text/plain" : "application/json") : r.contentType;
    return this.send(request, res, r.status ?? 200, type, Buffer.isBuffer(text) ? text : filled(text, request, this, /json/.test(type)), r.headers);
  }

  settings(step, request) {
    return {
      n: request.n,
      dialect: this.options.dialect,
      usageInStream: request.body?.stream_options?.include_usage === true,
      encrypted: request.body?.include?.includes("reasoning.encrypted_content") ?? false,
      ...step.wire,
    };
  }

  // A step that says nothing of usage gets a plausible one: 4 bytes a token.
  answerOf(step, request) {
    const want = expected(step);
    const written = want.text.length + want.reasoning.length + want.calls.reduce((n, c) => n + c.arguments.length, 0);
    return { model: request.body.model, usage: { input: Math.ceil(request.raw.length / 4), output: Math.ceil(written / 4) + 1 }, ...step };
  }

  sendWhole(step, request, res) {
    const answer = this.answerOf(step, request);
    const body = JSON.stringify(WHOLE[request.api](answer, this.settings(step, request)));
    this.send(request, res, step.status ?? 200, step.contentType ?? "application/json", body, step.headers);
  }

  // The bytes of the answer, event by event.
  bytesOf(step, request) {
    if (step.raw !== undefined) return [Buffer.from(step.raw)];
    const settings = this.settings(step, request);
    let events = EVENTS[request.api](this.answerOf(step, request), settings);
    if (step.dropLast) events = events.slice(0, -step.dropLast);
    for (const one of step.insert ?? []) events.splice(one.at < 0 ? events.length + 1 + one.at : one.at, 0, one);
    if (step.error) events = [...events.slice(0, step.error.at), errorEvent(request.api, step.error, request, this)];
    if (step.edit) events = step.edit(events);
    return frames(events, settings);
  }

  async stream(step, request, res) {
    const list = this.bytesOf(step, request);
    const type = step.contentType === undefined ? "text/event-stream; charset=utf-8" : step.contentType;
    const own = Object.fromEntries(Object.entries(step.headers ?? {}).map(([k, v]) => [k, filled(String(v), request, this)]));
    res.writeHead(step.status ?? 200, { ...this.head(request), ...(type ? { "content-type": type } : {}), "cache-control": "no-cache", ...own });
    res.flushHeaders();
    if (step.headMs) await nap(step.headMs);
    const sum = (frames) => frames.reduce((n, b) => n + b.length, 0);
    const limit = (x) => (x === undefined ? Infinity : x.byte === undefined ? sum(list.slice(0, x.event)) : x.byte < 0 ? sum(list) + x.byte : x.byte);
    const end = Math.min(limit(step.cut), limit(step.stall));
    await this.write(step, list, end, res);
    if (res.destroyed || step.stall !== undefined || (step.linger && step.cut === undefined)) return;
    if (step.cut?.how === "reset") {
      await breath();
      res.socket?.resetAndDestroy?.();
    } else res.end();
  }

  // At most `end` bytes, in the writes that the step asks for.
  async write(step, list, end, res) {
    let sent = 0, writes = 0;
    for (const [i, frame] of list.entries()) {
      if (step.hold?.event === i) await this.gate(step.hold.name);
      const whole = frame.subarray(0, Math.max(0, end - sent));
      for (let at = 0; at < whole.length; ) {
        const size = step.chunk === undefined ? whole.length : Array.isArray(step.chunk) ? step.chunk[Math.min(writes, step.chunk.length - 1)] : step.chunk;
        if (res.destroyed) return;
        await new Promise((done) => res.write(whole.subarray(at, at + size), done));
        writes++;
        at += size;
        if (step.pace) await nap(step.pace);
        else if (step.chunk !== undefined) await breath();
      }
      sent += whole.length;
      if (sent >= end) return;
    }
  }

  // What is no request for an answer.
  aside(request, res) {
    const known = request.method === "GET" || request.method === "POST" ? modelsAnswer(request, this.options) : null;
    if (known) return this.send(request, res, 200, "application/json", JSON.stringify(known));
    const api = request.path.includes("messages") ? "messages" : "chat";
    if (!/\/(models|props|api\/)/.test(request.path)) this.violations.push(`${request.method} ${request.path}: no such path`);
    return this.refuse({ ...request, api }, res, { status: 404, type: api === "messages" ? "not_found_error" : "invalid_request_error", message: `Invalid URL (${request.method} ${request.path})` });
  }

  control(req, res, bytes) {
    const [, , verb, name] = req.url.split("/");
    const say = (body) => {
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify(body));
    };
    if (verb === "effect") {
      this.effects[name] = (this.effects[name] ?? 0) + 1;
      return say({ effect: name, count: this.effects[name] });
    }
    if (verb === "release") this.release(name);
    if (verb === "scenario") this.play(JSON.parse(bytes.toString("utf8")));
    const requests = this.requests.map(({ n, api, method, path, headers, body, violation, refused, step }) => ({ n, api, method, path, headers, body, violation, refused, step }));
    return say(verb === "log" ? { requests, asides: this.asides.map(({ method, path }) => ({ method, path })), violations: this.violations, effects: this.effects } : {});
  }
}

// An error in the middle of a stream, in the shapes that have been seen.
function errorEvent(api, e, request, fake) {
  const message = filled(e.message ?? "The server is overloaded", request, fake);
  const type = e.type ?? (api === "messages" ? "overloaded_error" : "server_error");
  const inner = { message, type, ...(e.code === undefined ? {} : { code: e.code }), ...(e.param === undefined ? {} : { param: e.param }) };
  const maker = errorBody(api, { ...e, type, message }, `req_f${request.n}`);
  switch (e.shape ?? (api === "messages" ? "event" : api === "responses" ? "flat" : "data")) {
    case "data": return { data: api === "messages" ? maker : { error: inner } };
    case "event": return { event: "error", data: api === "messages" ? maker : { error: inner } };
    case "bare": return { event: "error" };
    case "message": return { event: "error", data: { message, ...(e.code === undefined ? {} : { code: e.code }) } };
    case "flat": return { event: "error", data: { type: "error", code: e.code ?? type, message, param: e.param ?? null, sequence_number: e.at } };
    default: throw new Error(`no shape "${e.shape}" of an error`);
  }
}

export const startFake = (scenario, options = {}) => new Fake(scenario, options).listen(options.port);

async function main(argv) {
  const option = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  const file = option("--scenario");
  let scenario = [];
  if (file?.endsWith(".json")) scenario = JSON.parse(readFileSync(file, "utf8"));
  else if (file) scenario = (await import(pathToFileURL(resolvePath(file)))).default;
  const fake = await startFake(scenario, { port: Number(option("--port") ?? 0) });
  if (argv.includes("--while-stdin")) process.stdin.on("end", () => process.exit(0)).resume();
  process.stdout.write(JSON.stringify({ port: fake.port, url: fake.url }) + "\n");
}

if (process.argv[1] && fileURLToPath(import.meta.url) === resolvePath(process.argv[1])) await main(process.argv.slice(2));
