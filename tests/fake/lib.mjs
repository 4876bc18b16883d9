// What tests of the agent share: a fake model server, a user's config that names it, and the binary run beside it.
//
//   const rig = await agentRig("chat", [{ calls: [{ name: "read_file", arguments: { path: "a.txt" } }] }, { text: "done" }],
//                              { files: { "a.txt": "hello" } });
//   const r = await rig.run(["--json", "say it"]);      // alisio run --json "say it"
//   r.status, r.stdout, r.stderr, r.events (of --json), r.last; rig.fake.requests, rig.fake.violations; await rig.close();
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { alisio, makeHome, soon, DEADLINE_MS } from "../integration/lib.mjs";
import { startFake } from "./server.mjs";

export { startFake, makeHome, soon, DEADLINE_MS };
export const APIS = ["chat", "responses", "messages"];
export const KEY = "fk-of-the-tests-0123456789";
export const KEY_ENV = "FAKE_API_KEY";

// Adds a provider (the one that is used, unless the config names another) and whatever else to the user's config.
export function configure(home, provider, more = {}) {
  const dir = home.env.ALISIO_CONFIG_HOME;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, "config.json");
  const old = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const config = { provider: "fake", ...old, ...more, providers: { ...old.providers, ...more.providers, fake: provider } };
  writeFileSync(file, JSON.stringify(config, null, 2), { mode: 0o600 });
}

export const providerOf = (fake, api, more = {}) => ({ api, baseUrl: fake.base(api), model: "fake", keyEnv: KEY_ENV, ...more });

// The binary, without waiting in between: the fake answers from this process. onEvent sees each line of --json as it comes.
export function startAlisio(home, args, options = {}) {
  const child = spawn(alisio, args, { cwd: options.cwd ?? home.workspace, env: { ...home.env, ...options.env }, stdio: ["pipe", "pipe", "pipe"], detached: options.detached ?? false });
  const run = { child, stdout: "", stderr: "", events: [] };
  let rest = "";
  child.stdin.on("error", () => {});
  if (!options.keepInput) child.stdin.end(options.input ?? "");
  child.stdout.setEncoding("utf8").on("data", (text) => {
    run.stdout += text;
    rest += text;
    for (let at; (at = rest.indexOf("\n")) >= 0; rest = rest.slice(at + 1)) {
      let event;
      try {
        event = JSON.parse(rest.slice(0, at));
      } catch {
        continue;
      }
      run.events.push(event);
      options.onEvent?.(event, run);
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text) => (run.stderr += text));
  run.exit = new Promise((done, fail) => child.on("error", fail).on("close", (status, signal) => done({ status, signal })));
  run.done = soon(run.exit, `alisio ${args.join(" ")}`, options.timeout ?? 3 * DEADLINE_MS).then(
    ({ status, signal }) => Object.assign(run, { status, signal, last: run.events[run.events.length - 1] }),
    (e) => {
      child.kill("SIGKILL");
      e.message += `\nstandard output: ${run.stdout.slice(-2000)}\nstandard error: ${run.stderr.slice(-2000)}`;
      throw e;
    });
  return run;
}
export const runAlisio = (home, args, options) => startAlisio(home, args, options).done;

// A fake, a home whose config names it, and the two together. options: files, fake (options of the fake), provider (more of its
// entry), config (more of the config), env, home (one that exists already).
export async function agentRig(api, scenario, options = {}) {
  const fake = await startFake(scenario, { key: KEY, ...options.fake });
  const home = options.home ?? makeHome(options.files);
  configure(home, providerOf(fake, api, options.provider), options.config);
  home.env[KEY_ENV] ??= KEY;
  Object.assign(home.env, options.env);
  return {
    fake, home, api,
    start: (args, o) => startAlisio(home, ["run", ...args], o),
    run: (args, o) => runAlisio(home, ["run", ...args], o),
    resume: (args, o) => runAlisio(home, ["resume", ...args], o),
    async close() {
      await fake.close();
      if (!options.home) home.remove();
    },
  };
}

// What a run said, of the events of --json.
export const textOf = (events) => events.filter((e) => e.type === "text_delta").map((e) => e.data.text).join("");
export const ofType = (events, type) => events.filter((e) => e.type === type);
