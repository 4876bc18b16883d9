// A key is nowhere but where it is needed: not in the state, the logs at their most talkative, a child's environment or
// command line, the output, the texts of errors that echo it, or an exported session. Looked for as it is and as it may be
// written: escaped, encoded, cut.
import { test } from "node:test";
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KEY_ENV, agentRig, ofType, runAlisio } from "../fake/lib.mjs";
import { told } from "../fake/faults.mjs";

const KEY = "sk-canary-Zq7/Lw+93xT\"0vB=41kd'Rm"; // with characters that are escaped in JSON, HTML and URLs
const escaped = [...KEY].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const FORMS = [
  KEY, JSON.stringify(KEY).slice(1, -1), KEY.replaceAll("/", "\\/"), encodeURIComponent(KEY), escaped,
  KEY.replaceAll('"', "&quot;").replaceAll("'", "&#39;"), KEY.slice(0, 20), KEY.slice(-16),
  Buffer.from(KEY).toString("base64").slice(0, 36), Buffer.from(KEY).toString("hex"), [...KEY].reverse().join(""),
];
const seenIn = (bytes) => {
  const text = Buffer.isBuffer(bytes) ? bytes.toString("latin1") : bytes;
  return FORMS.find((form) => text.includes(form));
};

function* filesUnder(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesUnder(path);
    else if (entry.isFile()) yield path;
  }
}

// Environment and command line of every descendant of a process, as long as it lives.
function watch(pid) {
  const seen = new Map();
  const parents = new Map([[pid, 0]]); // of what was looked at once: strangers are not looked at again
  const parentOf = (name) => {
    const stat = readFileSync(`/proc/${name}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  };
  const isOurs = (p) => {
    while (p && p !== pid) p = parents.get(p) ?? 0;
    return p === pid;
  };
  const look = () => {
    for (const child of readdirSync("/proc").filter((n) => /^\d+$/.test(n)).map(Number))
      try {
        if (!parents.has(child)) parents.set(child, parentOf(child));
        if (!isOurs(child)) continue;
        const cmdline = readFileSync(`/proc/${child}/cmdline`, "latin1");
        seen.set(`${child} ${cmdline}`, { own: child === pid, cmdline, environ: readFileSync(`/proc/${child}/environ`, "latin1") });
      } catch {
        // gone meanwhile
      }
  };
  const timer = setInterval(look, 15);
  return { seen, stop: () => clearInterval(timer) };
}

const tools = (url) => [
  { calls: [{ name: "js_run", arguments: { code: `return await tools.call("shell", {command: "curl -s ${url}/_fake/effect/js"})` } }] },
  { calls: [{ name: "python_run", arguments: { code: "import time\ntime.sleep(0.4)\nprint('py')" } }, { name: "shell", arguments: { command: `curl -s ${url}/_fake/effect/shell; env; sleep 0.2` } }] },
];
const ECHO = "the key {key} is not good";
const LONG = { text: "several words of text", wire: { split: 4 } };
// What each step of a run is, for a key that is right: errors that echo it, a field of a wrong type (which is logged), then
// calls, then an answer.
const odd = (e) => (typeof e.data === "string" ? e : { ...e, data: { ...e.data, usage: KEY, ...(e.data.response ? { response: { ...e.data.response, usage: KEY } } : {}) } });
const scenario = (url) => [
  { reply: { status: 500, error: { message: ECHO, type: "server_error" }, headers: { "x-request-id": "{key}", "request-id": "{key}", "retry-after-ms": "1" } } },
  { ...LONG, error: { at: 4, shape: "event", message: ECHO } },
  ...tools(url),
  { text: "done", edit: (list) => list.map(odd) },
];
const never = { "x-should-retry": "false" };
const endings = [
  { reply: { status: 401, error: { message: ECHO, type: "authentication_error" } } },
  { reply: { status: 400, body: `{"error":{"message":"bad key ${escaped}","type":"invalid_request_error"}}`, contentType: "application/json" } },
  { reply: { status: 403, body: "<html>Forbidden: {key}</html>", contentType: "text/html" } },
  { raw: `<p>${KEY}</p>`, contentType: "text/html", headers: never },
  { redirect: 302, location: "http://127.0.0.1:1/?key={key}" },
  { ...LONG, error: { at: 4, shape: "data", type: "invalid_request_error", code: "invalid_prompt", message: `${ECHO} ${encodeURIComponent(KEY)}` } },
  { reply: { status: 429, error: { message: ECHO, type: "insufficient_quota", code: "insufficient_quota" } } },
];

function placeKey(rig, where) {
  if (where === "env") {
    rig.home.env[KEY_ENV] = KEY;
    return;
  }
  delete rig.home.env[KEY_ENV];
  const file = join(rig.home.env.ALISIO_CONFIG_HOME, "credentials.json");
  writeFileSync(file, JSON.stringify({ providers: { fake: { key: KEY } } }), { mode: 0o600 });
}

// Each way for the key, each API, each face of the errors.
for (const [api, where] of [["chat", "env"], ["responses", "file"], ["messages", "env"]])
  test(`a key from ${where === "env" ? "the environment" : "the credentials file"} is found nowhere after runs by ${api}`, async () => {
    const rig = await agentRig(api, [], { fake: { key: KEY }, config: {} });
    try {
      placeKey(rig, where);
      const log = join(rig.home.dir, "log");
      Object.assign(rig.home.env, { ALISIO_LOG_LEVEL: "debug", ALISIO_LOG_FILE: log, ALISIO_TRACE: "all" });
      const outputs = [];
      const note = (what, r) => outputs.push([`${what}: standard output`, r.stdout], [`${what}: standard error`, r.stderr]);

      rig.fake.play(scenario(rig.fake.url));
      const run = rig.start(["--json", "--allow-process", "--allow-analysis=unsandboxed", "go"]);
      const children = watch(run.child.pid);
      const r = told(await run.done.finally(children.stop), rig);
      note("the run", r);
      assert.equal(r.last.type, "run_completed", r.stdout + r.stderr);
      assert.equal(ofType(r.events, "request_retry").length, 2);
      assert.deepEqual(ofType(r.events, "tool_completed").map((e) => [e.data.name, e.data.isError]).sort(), [["js_run", false], ["python_run", false], ["shell", false]]);
      assert.deepEqual(rig.fake.effects, { js: 1, shell: 1 });
      assert.ok(rig.fake.requests.every((q) => !q.refused), "the key was used");

      const programs = new Set();
      for (const { own, cmdline, environ } of children.seen.values()) {
        programs.add(cmdline.split("\0")[0].split("/").pop());
        assert.equal(seenIn(cmdline), undefined, `a command line: ${cmdline}`);
        if (!own || where === "file") assert.equal(seenIn(environ), undefined, `the environment of ${cmdline.replaceAll("\0", " ")}`);
      }
      for (const name of ["sh", "curl"]) assert.ok(programs.has(name), `${name} was among ${[...programs]}`);
      assert.ok([...programs].some((p) => p.startsWith("python")), `python was among ${[...programs]}`);

      // The number in the prompt says which ending is meant, so that they can go on at once.
      rig.fake.play(({ request }) => endings[Number(/ending-(\d)/.exec(request.raw.toString())[1])]);
      await Promise.all(endings.map(async (_, i) => {
        const e = await rig.run(["--json", `ending-${i}`]);
        assert.notEqual(e.status, 0, e.stdout);
        note(`ending ${i}`, e);
        if (api === "chat") note(`ending ${i} for people`, await rig.run([`ending-${i}`]));
      }));
      const exported = await runAlisio(rig.home, ["sessions", "export", r.last.data.sessionId]);
      assert.ok(exported.stdout.includes("several words") || exported.stdout.includes("done"), exported.stderr);
      note("export", exported);
      if (api === "chat") {
        note("sessions", await runAlisio(rig.home, ["sessions", "list", "--json"]));
        note("models", await runAlisio(rig.home, ["models"]));
        note("config", await runAlisio(rig.home, ["config", "show", "--json"]));
        note("doctor", await runAlisio(rig.home, ["doctor", "--json"]));
      }

      for (const [what, text] of outputs) assert.equal(seenIn(text), undefined, `${what} has it: ${text.slice(0, 1500)}`);
      let files = 0;
      for (const file of filesUnder(rig.home.dir)) {
        if (file.endsWith("credentials.json")) continue;
        files++;
        assert.equal(seenIn(readFileSync(file)), undefined, `${file} has it`);
      }
      assert.ok(files > 3 && existsSync(log) && statSync(log).size > 0, "state and log were looked at");
    } finally {
      await rig.close();
    }
  });
