// The command line of the real binary: help and its examples, wrong input to every command, exit statuses, what goes
// to which stream, configuration, trust, permissions, the scratchpad.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { DEADLINE_MS, McpClient, alisio, makeHome, root, run, runJson, soon, until } from "./lib.mjs";

// Runs body with a home that is removed whatever happens.
async function withHome(files, body) {
  const home = makeHome(files);
  try {
    await body(home);
  } finally {
    home.remove();
  }
}

const NO_RUN = "exec_01J00000000000000000000000";
const NO_SESSION = "ses_01J00000000000000000000000";
const NO_GRANT = "grant_01J00000000000000000000000";

// A command line in a shell, with `alisio` in PATH; on a terminal with pty: true.
function shell(home, line, { pty = false, input = "", env = {} } = {}) {
  const bin = join(home.dir, "bin");
  if (!existsSync(bin)) {
    mkdirSync(bin, { mode: 0o755 });
    symlinkSync(alisio, join(bin, "alisio"));
  }
  const argv = pty ? ["script", ["-qec", line, "/dev/null"]] : ["sh", ["-c", line]];
  const r = spawnSync(argv[0], argv[1], {
    cwd: home.workspace,
    env: { ...home.env, PATH: `${bin}:${process.env.PATH}`, SHELL: "/bin/sh", TERM: "xterm", ...env },
    input,
    encoding: "utf8",
    timeout: DEADLINE_MS,
  });
  if (r.error) throw r.error;
  return r;
}

// A configuration of a client with one server.
const server = (name) =>
  JSON.stringify({ mcpServers: { [name]: { command: process.execPath, args: [join(root, "tests/fixtures/simple.mjs")] } } });

function commandNames(home) {
  const names = [];
  const listed = (text) => [...text.split("Commands\n")[1].split("\n\n")[0].matchAll(/^ {2}(\S+)/gm)].map((m) => m[1]);
  for (const word of listed(run(home, ["help"]).stdout)) {
    const help = run(home, [word, "--help"]).stdout;
    const group = help.split(/\nCommands\n/)[1];
    if (!group || help.includes("\nUsage\n")) names.push(word); // mcp is both
    if (group && word !== "help") names.push(...[...group.matchAll(/^ {2}alisio (\S+ \S+)/gm)].map((m) => m[1]));
  }
  return names;
}

test("without words it prints help, and touches no file", () =>
  withHome({}, (home) => {
    for (const args of [[], ["help"], ["--help"], ["-h"], ["help", "js"], ["runs", "--help"], ["--version"], ["-V"],
      ["completion", "bash"], ["config", "path"]]) {
      const r = run(home, args);
      assert.equal(r.status, 0, r.stderr);
      assert.equal(r.stderr, "");
      assert.ok(r.stdout.length > 0);
    }
    assert.match(run(home, ["-V"]).stdout, /^alisio \d+\.\d+\.\d+\n$/);
    assert.ok(!existsSync(home.env.ALISIO_STATE_HOME), "no state folder was made");
    assert.ok(!existsSync(home.env.ALISIO_CONFIG_HOME), "no config folder was made");
  }));

// A model server in a process of its own, that answers whatever it is asked.
async function modelServer(home) {
  writeFileSync(join(home.dir, "scenario.mjs"), 'export default () => ({ text: "fine" });\n');
  const child = spawn(process.execPath, [join(root, "tests/fake/server.mjs"), "--scenario", join(home.dir, "scenario.mjs"), "--while-stdin"], { stdio: ["pipe", "pipe", "inherit"] });
  const line = await soon(new Promise((done) => child.stdout.setEncoding("utf8").once("data", done)), "the port of the model server");
  return { url: JSON.parse(line).url, stop: () => child.stdin.end() };
}

test("every command has help with examples, and every example works", () =>
  withHome({ "a.txt": "one\n", "sales.csv": "region,amount\nNorth,120\nSouth,80\n", "export.txt": "a;b\n1;2\n",
    "sales-2025.csv": "region,amount\nNorth,90\n", "sales-october.csv": "region,amount\nEast,7\n",
    "report.py": "import shutil\nfrom alisio_runtime import input_dir, output_dir\nshutil.copy(input_dir() / 'sales.csv', output_dir())\n", ".alisio/config.json": '{"forge":{"javascript":{"maxToolCalls":7}}}', ".mcp.json": server("b") }, async (home) => {
    const model = await modelServer(home);
    const ollama = { baseUrl: `${model.url}/v1`, model: "qwen3", keyEnv: "EXAMPLE_KEY" };
    const config = { ...JSON.parse(`{"mcp":${server("github").replace("mcpServers", "servers")}}`), provider: "ollama", providers: { ollama } };
    for (const [name, text] of [["config/config.json", JSON.stringify(config)],
      [".cursor/mcp.json", server("c")], [".claude.json", server("d")]]) {
      mkdirSync(dirname(join(home.dir, name)), { recursive: true, mode: 0o700 });
      writeFileSync(join(home.dir, name), text, { mode: 0o600 });
    }
    assert.equal(shell(home, `"${process.execPath}" "${join(root, "bench/data_make.mjs")}" xlsx 20 book.xlsx`).status, 0);
    // No such grant is there; nobody is there to say yes; nothing listens there; the conversation has its answer.
    const ends = [[/^alisio setup provider$/, 2], [/^alisio setup provider local .*--probe$/, 6], [/^alisio resume last$/, 2], [/^alisio permissions revoke/, 4], [/^alisio mcp import \.mcp\.json$/, 3], [/^alisio mcp remove github$/, 3], [/^alisio setup claude-code$/, 3]];
    const names = commandNames(home);
    assert.ok(names.includes("js") && names.includes("runs show") && names.length > 25, names.join(", "));
    for (const dir of [".local/share/bash-completion/completions", ".config/fish/completions"])
      mkdirSync(join(home.dir, dir), { recursive: true });
    for (const name of names) {
      const r = run(home, [...name.split(" "), "--help"]);
      assert.equal(r.status, 0, r.stderr);
      const examples = [...r.stdout.split("Examples\n")[1].split("\n\n")[0].matchAll(/^ {2}(\S.*)$/gm)].map((m) => m[1]);
      assert.ok(examples.length > 0, name);
      for (const line of examples) {
        if (line.includes("--http")) continue; // serves until it is stopped: mcp_http.test.mjs
        if (line.startsWith("alisio analysis setup")) continue; // fetches: extras.test.mjs, py_oci.test.mjs, py_wasm.test.mjs
        const done = shell(home, line, { env: { EXAMPLE_KEY: "k" } });
        const expected = ends.find(([pattern]) => pattern.test(line))?.[1] ?? 0;
        assert.equal(done.status, expected, `${line}\n${done.stderr}`);
      }
    }
    model.stop();
  }));

// What each command says to wrong input: words, exit status, code, and a part of the message or hint.
const wrong = [
  [["jss"], 2, "INVALID_INPUT", "did you mean `alisio js`?"],
  [["runs"], 2, "INVALID_INPUT", "`alisio runs --help`"],
  [["runs", "lits"], 2, "INVALID_INPUT", "did you mean `alisio runs list`?"],
  [["js", "--jsno", "-e", "1"], 2, "INVALID_INPUT", "did you mean --json?"],
  [["help", "jss"], 2, "INVALID_INPUT", "did you mean `alisio help js`?"],
  [["js"], 2, "INVALID_INPUT", "no script"],
  [["js", "-e"], 2, "INVALID_INPUT", "-e needs a value"],
  [["js", "-e", "1", "a.js"], 2, "INVALID_INPUT", "two scripts"],
  [["js", "missing.js"], 4, "NOT_FOUND", "there is no file missing.js"],
  [["js", "."], 2, "INVALID_INPUT", "is a folder"],
  [["js", "-e", ""], 2, "INVALID_INPUT", "code"],
  [["js", "-e", "1", "--input", "{"], 2, "INVALID_INPUT", "--input is not JSON"],
  [["js", "-e", "1", "--timeout", "x"], 2, "INVALID_INPUT", "a whole number"],
  [["js", "-e", "1", "--title", "t".repeat(201)], 2, "INVALID_INPUT", "title"],
  [["js", "-e", "1", "--cwd", "missing"], 2, "INVALID_INPUT", "--cwd"],
  [["js", "-e", "1", "--session", NO_SESSION], 4, "NOT_FOUND", NO_SESSION],
  [["js", "-e", "1", "--config", "missing.json"], 2, "CONFIG_INVALID", "--config"],
  [["js", "-e", "1 +"], 1, "SYNTAX_ERROR", ""],
  [["js", "-e", "throw new Error('oh')"], 1, "SCRIPT_ERROR", "oh"],
  [["js", "-e", "await new Promise(() => {})"], 1, "DEADLOCK", ""],
  [["js", "-e", "while(true){}", "--timeout", "50"], 5, "TIMEOUT", "--timeout MS"],
  [["js", "-e", "const a = []; for(;;) a.push(new Array(1e5).fill(1))"], 5, "MEMORY_LIMIT", "memoryBytes"],
  [["js", "-e", "await tools.write_file({path: 'x', content: 'x'})"], 3, "APPROVAL_REQUIRED", "--allow-write"],
  [["js", "-e", "await tools.nope({})"], 4, "TOOL_NOT_FOUND", ""],
  [["tool", "describe", "read_fil"], 4, "TOOL_NOT_FOUND", "read_file"],
  [["tool", "call", "read_fil"], 4, "TOOL_NOT_FOUND", "read_file"],
  [["tool", "call", "read_fil", "{}", "--explain"], 4, "TOOL_NOT_FOUND", "read_file"],
  [["tool", "call", "read_file", "{"], 2, "INVALID_INPUT", "not JSON"],
  [["tool", "call", "read_file", "[]"], 2, "INVALID_INPUT", "not an object"],
  [["tool", "call", "read_file", "{}"], 2, "TOOL_INPUT_INVALID", "path"],
  [["tool", "call", "read_file", '{"path":"missing"}'], 4, "NOT_FOUND", "missing"],
  [["tool", "call", "write_file", '{"path":"x","content":"x"}', "--read-only"], 3, "PERMISSION_DENIED", "read-only"],
  [["runs", "show", "last"], 4, "NOT_FOUND", "nothing has run"],
  [["runs", "show", "5"], 2, "INVALID_INPUT", "not the id of a run"],
  [["runs", "show", NO_RUN], 4, "NOT_FOUND", NO_RUN],
  [["runs", "show", "last", "--code", "--command"], 2, "INVALID_INPUT", "exclude each other"],
  [["runs", "logs", NO_RUN], 4, "NOT_FOUND", NO_RUN],
  [["runs", "cancel"], 2, "INVALID_INPUT", "--all"],
  [["runs", "cancel", NO_RUN], 4, "NOT_FOUND", NO_RUN],
  [["runs", "cancel", "last", "--all"], 2, "INVALID_INPUT", "exclude each other"],
  [["runs", "rm", "last"], 2, "INVALID_INPUT", "wants the id"],
  [["runs", "rm", NO_RUN], 4, "NOT_FOUND", NO_RUN],
  [["sessions", "show", "x"], 2, "INVALID_INPUT", "not the id of a session"],
  [["sessions", "show", "default"], 4, "NOT_FOUND", "no session yet"],
  [["sessions", "rm", NO_SESSION], 4, "NOT_FOUND", NO_SESSION],
  [["permissions", "revoke", "x"], 2, "INVALID_INPUT", "not the id of a grant"],
  [["permissions", "revoke", NO_GRANT], 4, "NOT_FOUND", NO_GRANT],
  [["trust", "add", "missing"], 4, "NOT_FOUND", "missing"],
  [["trust", "revoke", "."], 4, "NOT_FOUND", ""],
  [["config", "get", "forge.javascript.timeout"], 2, "INVALID_INPUT", "forge.javascript.timeoutMs"],
  [["config", "set", "nope", "1"], 2, "INVALID_INPUT", "nope"],
  [["config", "set", "forge.javascript.timeoutMs", "soon"], 2, "INVALID_INPUT", "forge.javascript.timeoutMs"],
  [["purge"], 2, "INVALID_INPUT", "--older-than"],
  [["purge", "--older-than", "soon"], 2, "INVALID_INPUT", "30d"],
  [["purge", "--workspace", ".", "--older-than", "1d"], 2, "INVALID_INPUT", "exclude each other"],
  [["doctor", "--require", "perl"], 2, "INVALID_INPUT", "js, data, python"],
  [["completion", "csh"], 2, "INVALID_INPUT", "bash, zsh or fish"],
];

for (const [args, status, code, words] of wrong)
  test(`wrong input: alisio ${args.join(" ").slice(0, 70)}`, () =>
    withHome({}, (home) => {
      const r = run(home, args);
      assert.equal(r.status, status, r.stdout + r.stderr);
      assert.equal(r.stdout, "");
      assert.match(r.stderr, new RegExp(`^error: ${code}: `, "m"));
      assert.ok(r.stderr.includes(words), r.stderr);
      assert.doesNotMatch(r.stderr, /\.c:\d+|Sanitizer|0x[0-9a-f]{6}/);
      const j = runJson(home, args);
      assert.equal(j.status, status);
      assert.equal(j.json.ok, false);
      assert.equal(j.json.error.code, code);
      assert.equal(j.stdout.trim().split("\n").length, 1);
      assert.equal(typeof j.json.text, "string");
    }));

test("mcp refuses a wrong --expose on standard error, and says nothing on its output", () =>
  withHome({}, (home) => {
    const r = run(home, ["mcp", "--expose", "file", "--json"]);
    assert.equal(r.status, 2);
    assert.equal(r.stdout, "");
    assert.match(r.stderr, /^error: INVALID_INPUT: --expose does not know "file"/);
  }));

test("js prints the value as a person reads it, and what was printed before it", () =>
  withHome({ "f.js": "return 'from a file'" }, (home) => {
    const cases = [
      [["-e", "1 + 1"], "2\n"],
      [["-e", "return 'text\\nas it is'"], "text\nas it is\n"],
      [["-e", "({a: [1, {b: null}]})"], '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}\n'],
      [["-e", "print('one'); print({a: 1}); return 3"], /^one\n.*\n3\n$/],
      [["-e", "print('only this')"], "only this\n"],
      [["-e", "return null"], "null\n"],
      [["-e", "return input.n * 2", "--input", '{"n": 21}'], "42\n"],
      [["f.js"], "from a file\n"],
      [["-"], "from stdin\n", { input: "return 'from stdin'" }],
      [["-e", "return '\\x1b[31m'"], "\x1b[31m\n"], // a pipe gets the bytes
    ];
    for (const [args, want, options] of cases) {
      const r = run(home, ["js", ...args], options);
      assert.equal(r.status, 0, r.stderr);
      if (want instanceof RegExp) assert.match(r.stdout, want);
      else assert.equal(r.stdout, want);
      assert.equal(r.stderr, "");
    }
  }));

test("js --json is one object on standard output, and progress is lines on standard error", () =>
  withHome({ "a.txt": "one\n" }, (home) => {
    const r = runJson(home, ["js", "-e", "progress({completed: 1, total: 2, note: 'half'}); print('p'); return await tools.read_file({path: 'a.txt'})"]);
    assert.equal(r.status, 0);
    assert.equal(r.json.ok, true);
    assert.equal(r.json.tool, "js_run");
    assert.match(r.json.executionId, /^exec_/);
    assert.equal(r.json.structured.value.text, "one\n");
    assert.equal(r.json.structured.text, "p\n");
    assert.equal(r.json.structured.calls.length, 1);
    assert.equal(typeof r.json.durationMs, "number");
    const lines = r.stderr.trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(lines.length > 0 && lines.every((line) => line.type === "progress"), r.stderr);
    const quiet = run(home, ["js", "--quiet", "--json", "-e", "progress('x')"]);
    assert.equal(quiet.stderr, "");
  }));

test("a failing script still shows what it had printed", () =>
  withHome({}, (home) => {
    const r = run(home, ["js", "-e", "print('before'); throw new Error('then')"]);
    assert.equal(r.status, 1);
    assert.equal(r.stdout, "before\n");
    assert.match(r.stderr, /^error: SCRIPT_ERROR: .*then/);
  }));

test("scripts that are not UTF-8 or too long are refused, a long one that fits runs", () =>
  withHome({}, (home) => {
    const bad = run(home, ["js", "-"], { input: Buffer.from([0x31, 0xff]) });
    assert.match(bad.stderr, /^error: INVALID_INPUT: the script is not UTF-8/);
    const long = run(home, ["js", "-"], { input: "1;".repeat(150_000) });
    assert.equal(long.status, 2);
    const fits = run(home, ["js", "-"], { input: ` ${"//x\n".repeat(40_000)} return 5` });
    assert.equal(fits.stdout, "5\n", fits.stderr);
  }));

test("a large value goes through whole", () =>
  withHome({}, (home) => {
    const r = runJson(home, ["js", "-e", "return 'x'.repeat(3e6)"]);
    assert.equal(r.json.structured.value.length, 3e6);
    assert.ok(r.json.text.length < 17_000, "the text that a model reads stays short");
    const person = run(home, ["js", "-e", "return 'x'.repeat(3e6)"]);
    assert.equal(person.stdout.length, 3e6 + 1);
  }));

test("results that cannot be written are a failure, a reader that has left is none", () =>
  withHome({}, (home) => {
    const full = shell(home, "alisio js -e 1 > /dev/full");
    assert.equal(full.status, 70);
    assert.match(full.stderr, /^error: INTERNAL: cannot write the results/);
    const left = shell(home, "alisio js -e 'return \"x\".repeat(1e6)' 2>err | head -c 1 >/dev/null; cat err");
    assert.equal(left.stdout, "");
  }));

test("tool list, describe, call and --explain", () =>
  withHome({ "a.txt": "one\n" }, (home) => {
    const list = runJson(home, ["tool", "list"]).json;
    assert.ok(list.structured.tools.some((t) => t.name === "js_run"));
    for (const tool of list.structured.tools) {
      const described = runJson(home, ["tool", "describe", tool.name]).json;
      assert.equal(described.structured.name, tool.name);
      assert.equal(described.structured.inputSchema.type, "object");
    }
    const person = run(home, ["tool", "call", "read_file", '{"path":"a.txt"}']);
    assert.match(person.stdout, /one/);
    const piped = runJson(home, ["tool", "call", "read_file", "-"], { input: '{"path":"a.txt"}' });
    assert.equal(piped.json.structured.text, "one\n");
    assert.equal(piped.json.tool, "read_file");
    const explain = runJson(home, ["tool", "call", "write_file", '{"path":"b.txt"}', "--explain"]).json.structured;
    assert.equal(explain.effect, "write");
    assert.ok(explain.problems.length > 0);
    assert.equal(explain.typed.decision, "allowed");
    assert.equal(explain.inScript.code, "APPROVAL_REQUIRED");
    assert.equal(explain.wouldRun, false);
    const refused = runJson(home, ["--read-only", "tool", "call", "shell", '{"command":"true"}', "--explain"]);
    assert.equal(refused.json.structured.typed.code, "PERMISSION_DENIED", refused.stdout);
    assert.ok(!existsSync(join(home.workspace, "b.txt")), "--explain runs nothing");
  }));

test("a typed call is its own approval; files keep the user's umask", () =>
  withHome({}, (home) => {
    const r = shell(home, `umask 022; alisio tool call write_file '{"path":"b.txt","content":"x"}'`);
    assert.equal(r.status, 0, r.stderr);
    assert.equal(readFileSync(join(home.workspace, "b.txt"), "utf8"), "x");
    assert.equal(statSync(join(home.workspace, "b.txt")).mode & 0o777, 0o644);
    assert.equal(statSync(home.env.ALISIO_STATE_HOME).mode & 0o777, 0o700);
    const log = runJson(home, ["permissions", "log"]).json.structured.decisions;
    assert.ok(log.some((d) => d.tool === "write_file" && d.origin === "cli"), JSON.stringify(log));
  }));

test("scripts need the flags; decisions are logged", () =>
  withHome({}, (home) => {
    const script = "await tools.write_file({path: 'b.txt', content: 'x'})";
    assert.equal(run(home, ["js", "-e", script]).status, 3);
    assert.equal(run(home, ["js", "-e", script, "--allow-write"]).status, 0);
    const shell = "await tools.shell({command: 'true'})";
    assert.equal(run(home, ["js", "-e", shell, "--allow-process"]).status, 0);
    assert.equal(run(home, ["js", "-e", shell, "--allow-process", "--read-only"]).status, 3);
    const log = runJson(home, ["permissions", "log"]).json.structured.decisions;
    assert.ok(log.some((d) => d.tool === "write_file" && d.decision.startsWith("refused") && d.origin === "script"));
    assert.match(run(home, ["permissions", "log"]).stdout, /write_file +write +script +refused/);
    assert.match(run(home, ["permissions", "list"]).stdout, /no grant/);
  }));

test("config: get, set, show and where values come from", () =>
  withHome({}, (home) => {
    const key = "forge.javascript.timeoutMs";
    assert.equal(run(home, ["config", "get", key]).stdout, "30000\n");
    const set = run(home, ["config", "set", key, "5000"]);
    assert.equal(set.status, 0, set.stderr);
    assert.equal(run(home, ["config", "get", key]).stdout, "5000\n");
    const file = run(home, ["config", "path"]).stdout.trim();
    assert.equal(JSON.parse(readFileSync(file, "utf8")).forge.javascript.timeoutMs, 5000);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const shown = runJson(home, ["config", "show"]).json.structured.options.find((o) => o.key === key);
    assert.deepEqual([shown.value, shown.from, shown.origin], [5000, "user", file]);
    const limits = runJson(home, ["forge", "status"]).json.structured.limits;
    assert.equal(limits.find((l) => l.key === key).value, 5000);
  }));

test("a broken config: every command says so, mcp starts, doctor tells, config set and path still work", () =>
  withHome({}, async (home) => {
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    const file = join(home.env.ALISIO_CONFIG_HOME, "config.json");
    writeFileSync(file, '{\n  "forge": {"javascript": {"timeoutMz": 1}}\n}\n', { mode: 0o600 });
    for (const args of [["js", "-e", "1"], ["tool", "list"], ["config", "show"], ["forge", "status"]]) {
      const r = run(home, args);
      assert.equal(r.status, 2, args.join(" "));
      assert.match(r.stderr, /^error: CONFIG_INVALID: .*line 2.*forge\.javascript\.timeoutMs/m);
      assert.ok(r.stderr.includes(file), r.stderr);
    }
    const doctor = runJson(home, ["doctor"]).json.structured.checks;
    assert.ok(doctor.some((c) => c.check === "config" && c.mark === "bad"), JSON.stringify(doctor));
    assert.equal(run(home, ["config", "path"]).stdout.trim(), file);
    const client = new McpClient(home);
    await client.initialize();
    const { result } = await client.call("js_run", { code: "1" });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /CONFIG_INVALID/);
    assert.equal((await client.close()).code, 0);
  }));

test("a project's file counts only when trusted, and only as it was then", () =>
  withHome({ ".alisio/config.json": '{"forge":{"javascript":{"timeoutMs":1000,"memoryBytes":1048576}}}' }, (home) => {
    const value = (...flags) => run(home, ["config", "get", "forge.javascript.timeoutMs", ...flags]);
    const before = value();
    assert.equal(before.stdout, "30000\n");
    assert.match(before.stderr, /^warning: .*not trusted/);
    assert.equal(value("--quiet").stderr, "");
    assert.equal(value("--trust-project").stdout, "1000\n");
    assert.equal(value().stdout, "30000\n");
    const add = run(home, ["trust", "add", "."]);
    assert.equal(add.status, 0, add.stderr);
    assert.match(add.stdout, /forge\.javascript\.timeoutMs: 30000 becomes 1000/);
    assert.match(add.stderr, /memoryBytes/, "what is ignored is told");
    assert.equal(value().stdout, "1000\n");
    assert.match(run(home, ["trust", "list"]).stdout, new RegExp(home.workspace));
    writeFileSync(join(home.workspace, ".alisio/config.json"), '{"forge":{"javascript":{"timeoutMs":2000}}}');
    assert.equal(value().stdout, "30000\n", "a changed file is not trusted");
    run(home, ["trust", "add", "."]);
    assert.equal(value().stdout, "2000\n");
    assert.equal(run(home, ["trust", "revoke", "."]).status, 0);
    assert.equal(value().stdout, "30000\n");
    writeFileSync(join(home.dir, "other.json"), '{"forge":{"javascript":{"timeoutMs":3000}}}');
    assert.equal(value("--config", "../other.json").stdout, "3000\n");
  }));

test("trust add works for a folder without a file", () =>
  withHome({}, (home) => {
    const r = runJson(home, ["trust", "add", "."]);
    assert.equal(r.status, 0, r.stdout);
    assert.equal(r.json.structured.configSha256, null);
  }));

test("--db moves the state; a folder that others can read is refused with a hint", () =>
  withHome({}, (home) => {
    const own = join(home.dir, "own");
    mkdirSync(own, { mode: 0o700 });
    const r = run(home, ["js", "-e", "1", "--db", join(own, "a.sqlite")]);
    assert.equal(r.status, 0, r.stderr);
    assert.ok(existsSync(join(own, "a.sqlite")));
    assert.ok(!existsSync(home.env.ALISIO_STATE_HOME));
    chmodSync(own, 0o755);
    const open = run(home, ["js", "-e", "1", "--db", join(own, "a.sqlite")]);
    assert.notEqual(open.status, 0);
    assert.match(open.stderr, /hint: /);
  }));

test("sessions: state, show, --session new, rm", () =>
  withHome({}, (home) => {
    assert.equal(run(home, ["js", "-e", "state.n = (state.n ?? 0) + 1"]).status, 0);
    assert.equal(run(home, ["js", "-e", "state.n = state.n + 1; return state.n"]).stdout, "2\n");
    assert.equal(run(home, ["js", "--session", "new", "-e", "return state.n ?? 'none'"]).stdout, "none\n");
    const sessions = runJson(home, ["sessions", "list"]).json.structured.sessions;
    assert.equal(sessions.length, 2);
    const shown = runJson(home, ["sessions", "show", "default"]).json.structured;
    assert.deepEqual(shown.state, { n: 2 });
    assert.equal(shown.session.runs, 2);
    assert.match(run(home, ["sessions", "show", "default"]).stdout, /"n": 2/);
    assert.equal(run(home, ["sessions", "rm", "default"]).status, 0);
    assert.equal(run(home, ["js", "-e", "return state.n ?? 'none'"]).stdout, "none\n");
  }));

test("scratch: what a run saved is listed, measured and emptied", () =>
  withHome({}, (home) => {
    assert.match(run(home, ["scratch", "list"]).stdout, /empty/);
    assert.equal(run(home, ["js", "--allow-write", "-e", "await tools.write_file({path: 'scratch:a/b.txt', content: 'twelve bytes'})"]).status, 0);
    const files = runJson(home, ["scratch", "list"]).json.structured.files;
    assert.deepEqual(files.map((f) => [f.name, f.bytes]), [["a/b.txt", 12]]);
    const shown = runJson(home, ["scratch", "show"]).json.structured;
    assert.ok(shown.path.startsWith(home.env.ALISIO_TMPDIR), shown.path);
    assert.equal(shown.bytes, 12);
    assert.equal(runJson(home, ["scratch", "empty"]).json.structured.freedBytes, 12);
    assert.deepEqual(runJson(home, ["scratch", "list"]).json.structured.files, []);
    run(home, ["config", "set", "forge.scratch.enabled", "false"]);
    assert.equal(run(home, ["scratch", "list"]).status, 4);
  }));

test("purge leaves nothing of a workspace, and of old runs", () =>
  withHome({}, (home) => {
    run(home, ["js", "-e", "print('a secret of the workspace')"]);
    run(home, ["trust", "add", "."]);
    const place = runJson(home, ["scratch", "show"]).json.structured.path;
    assert.equal(runJson(home, ["purge", "--older-than", "1d"]).json.structured.deletedRuns, 0);
    assert.equal(runJson(home, ["purge", "--workspace", "."]).json.structured.deletedRuns, 1);
    assert.ok(!existsSync(place), place);
    assert.match(run(home, ["runs", "list"]).stdout, /nothing has run/);
    assert.match(run(home, ["sessions", "list"]).stdout, /no session/);
    assert.match(run(home, ["trust", "list"]).stdout, /no folder/);
    run(home, ["js", "-e", "1"]);
    assert.equal(runJson(home, ["purge", "--older-than", "0m"]).json.structured.deletedRuns, 1);
  }));

test("doctor checks, and --require js passes where scripts run", () =>
  withHome({}, (home) => {
    const r = runJson(home, ["doctor", "--require", "js"]);
    assert.equal(r.status, 0, r.stdout);
    const checks = r.json.structured.checks;
    for (const name of ["version", "engine", "kernel", "landlock", "seccomp", "user", "config", "state", "workspace", "git", "rg", "scripts"])
      assert.ok(checks.some((c) => c.check === name), name);
    assert.match(run(home, ["doctor"]).stdout, /^ok {4}version +alisio /);
    const low = shell(home, "ulimit -v 4000000; alisio doctor --require js");
    if (low.stderr.includes("ReserveShadowMemoryRange")) {
      console.log("# the low ulimit was not tried: a sanitizer build needs more addresses than that itself");
      return;
    }
    assert.equal(low.status, 6, low.stdout + low.stderr);
    assert.match(low.stdout, /^bad {3}addresses/m);
  }));

test("doctor says which helper programs it passed over, and why", () =>
  withHome({ "bin/git": "#!/bin/sh\n" }, (home) => {
    chmodSync(join(home.workspace, "bin/git"), 0o755);
    const r = runJson(home, ["doctor"], { env: { PATH: `${home.workspace}/bin:bin:${process.env.PATH}` } });
    const lines = r.json.structured.checks.filter((c) => c.check === "git");
    assert.ok(lines.some((c) => c.mark === "warn" && c.text.includes("inside the workspace")), JSON.stringify(lines));
    assert.ok(lines.some((c) => c.mark === "warn" && c.text.includes("relative")), JSON.stringify(lines));
  }));

test("forge status says what the engine was built from, and --probe that it works", () =>
  withHome({}, (home) => {
    const s = runJson(home, ["forge", "status", "--probe"]).json.structured;
    assert.equal(s.engine.isolation, "process-vm");
    assert.equal(s.engine.host, "process");
    assert.match(s.engine.builtFrom.wasmSha256, /^[0-9a-f]{64}$/);
    assert.match(s.engine.builtFrom.package, /^quickjs-wasi /);
    assert.equal(s.probe.passed, true);
    run(home, ["config", "set", "forge.javascript.host", "worker"]);
    assert.match(run(home, ["forge", "status"]).stdout, /host +process: .*says worker/);
    run(home, ["config", "set", "forge.javascript.enabled", "false"]);
    assert.match(run(home, ["forge", "status"]).stdout, /off \(execute/);
    const off = run(home, ["js", "-e", "1"]);
    assert.equal(off.status, 6);
    assert.match(off.stderr, /forge\.javascript\.enabled/);
  }));

test("completion: the scripts are well formed, and bash completes", () =>
  withHome({}, (home) => {
    const script = run(home, ["completion", "bash"]).stdout;
    writeFileSync(join(home.dir, "complete.bash"), script);
    const complete = (...words) => {
      const r = spawnSync("bash", ["-c", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _alisio; printf '%s\\n' "\${COMPREPLY[@]}"`,
        "bash", join(home.dir, "complete.bash"), "alisio", ...words],
        { encoding: "utf8", cwd: home.workspace, env: { ...home.env, PATH: `${dirname(alisio)}:${process.env.PATH}` } });
      assert.equal(r.stderr, "");
      return r.stdout.trim().split("\n");
    };
    assert.deepEqual(complete("ru"), ["runs", "run"]);
    assert.deepEqual(complete("runs", "sh"), ["show"]);
    assert.deepEqual(complete("--cwd", "/tmp", "runs", "show", "--co"), ["--config", "--code", "--command"]);
    assert.deepEqual(complete("runs", "show", "l"), ["last"]);
    assert.deepEqual(complete("completion", "z"), ["zsh"]);
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    writeFileSync(join(home.env.ALISIO_CONFIG_HOME, "config.json"),
      '{"mcp":{"servers":{"git-hub":{"command":"x"},"$(touch here)":{"command":"x"},"two words":{"command":"x"}}}}', { mode: 0o600 });
    assert.deepEqual(complete("mcp", "remove", ""), ["git-hub"]);
    assert.ok(!existsSync(join(home.workspace, "here")));
    assert.deepEqual(complete("mcp", "--expose", "p"), ["process"]);
    for (const [name, check] of [["zsh", ["zsh", "-n"]], ["fish", ["fish", "--no-execute"]]]) {
      writeFileSync(join(home.dir, `complete.${name}`), run(home, ["completion", name]).stdout);
      const r = spawnSync(check[0], [check[1], join(home.dir, `complete.${name}`)], { encoding: "utf8" });
      if (r.error) console.log(`# ${name} is not there: its script was not checked by ${name} itself`);
      else assert.equal(r.stderr, "", name);
    }
  }));

test("on a terminal foreign control characters are shown, tables fit, colour obeys NO_COLOR", () =>
  withHome({}, (home) => {
    const shown = shell(home, `alisio js -e 'return "a\\u001b[31mred\\u202e"' --title "t$(printf '\\033[2J')"`, { pty: true });
    assert.ok(!shown.stdout.includes("\x1b["), JSON.stringify(shown.stdout));
    assert.match(shown.stdout, /a\\x1b\[31mred\\u202e/);
    const list = shell(home, "stty cols 100; alisio runs list", { pty: true });
    assert.ok(!list.stdout.includes("\x1b[2J"), JSON.stringify(list.stdout));
    assert.ok(list.stdout.includes("\x1b[32mcompleted\x1b[0m"), JSON.stringify(list.stdout));
    for (const off of ["NO_COLOR=1 alisio runs list", "TERM=dumb alisio runs list", "alisio runs list --no-color"]) {
      const plain = shell(home, `stty cols 100; ${off}`, { pty: true });
      assert.ok(!plain.stdout.includes("\x1b"), off);
      for (const line of plain.stdout.split(/\r?\n/)) assert.ok(line.length <= 100, line);
    }
  }));

test("on a terminal base64 is shown by its size, in a pipe whole", () =>
  withHome({}, (home) => {
    const line = "alisio js -e 'const data = btoa(String.fromCharCode(...Array.from({length: 900}, (_, i) => i * 7 % 256))); return {data}'";
    const seen = shell(home, line, { pty: true }).stdout;
    assert.match(seen, /"data": "\[base64, 900 B\]"/);
    assert.match(seen, /note: base64 is shown by its size/);
    const piped = shell(home, line);
    assert.equal(JSON.parse(piped.stdout).data.length, 1200);
    assert.doesNotMatch(piped.stderr, /base64/);
  }));

test("an error of several lines is shown in lines, none of which looks like one of ours", () =>
  withHome({}, (home) => {
    const r = run(home, ["js", "-e", "throw new Error('one\\r\\nerror: two\\n\\x1b[31m')"]);
    assert.match(r.stderr, /^error: SCRIPT_ERROR: .*one\n  error: two\n  \\x1b\[31m/m);
  }));

// A command on a terminal that asks something. `ahead` is typed before the command starts, `answer` once it asks.
async function asked(home, line, { ahead = "", answer }) {
  shell(home, "true"); // makes the folder of PATH
  const p = spawn("script", ["-qec", ahead ? `read go; ${line}` : line, "/dev/null"], {
    cwd: home.workspace,
    env: { ...home.env, PATH: `${home.dir}/bin:${process.env.PATH}`, SHELL: "/bin/sh", TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let seen = "";
  p.stdout.setEncoding("utf8").on("data", (text) => (seen += text));
  const ended = new Promise((resolve) => p.on("close", resolve));
  try {
    if (ahead) p.stdin.write(`go\n${ahead}`);
    await until("the question", () => seen.includes("[y/N]"));
    p.stdin.write(answer);
    return { status: await soon(ended, "the end after the answer"), seen };
  } finally {
    p.kill("SIGKILL");
  }
}

test("on a terminal `uses` is asked for once, and the answer counts", () =>
  withHome({}, async (home) => {
    const line = `alisio tool call js_run '{"code":"await tools.write_file({path: \\"b.txt\\", content: \\"x\\"})","uses":["write_file"]}'`;
    const file = join(home.workspace, "b.txt");
    const no = await asked(home, line, { answer: "n\n" });
    assert.match(no.seen, /A script wants to use tools that need your approval: write_file\.\s+The script:\s+await tools/);
    assert.match(no.seen, /PERMISSION_DENIED: the person said no to write_file/);
    assert.equal(no.status, 3);
    const nasty = await asked(
      home,
      `alisio tool call js_run '{"code":"//\\u200b\\nreturn 1","uses":["write_file"],"title":"a\\" (checked). \\u202e"}'`,
      { answer: "\x04" },
    );
    assert.match(nasty.seen, /"a' \(checked\)\. \\u202e"\s+The script:\s+\/\/\\u200b\s+return 1/);
    assert.match(nasty.seen, /APPROVAL_REQUIRED: .*nobody answered, about write_file/);
    assert.ok(!existsSync(file));
    const ahead = await asked(home, line, { ahead: "y\ny\ny", answer: "n\n" });
    assert.notEqual(ahead.status, 0, ahead.seen);
    assert.ok(!existsSync(file), "what was typed before the question approves nothing");
    const half = await asked(home, `stty -icanon min 1; ${line}`, { answer: "y no\n" });
    assert.notEqual(half.status, 0, half.seen);
    assert.ok(!existsSync(file), "the whole line counts");
    const yes = await asked(home, line, { answer: "y\n" });
    assert.equal(yes.status, 0, yes.seen);
    assert.equal(readFileSync(file, "utf8"), "x");
    assert.equal((await asked(home, line, { answer: "\x03" })).status, 130);
    const nobody = run(home, ["tool", "call", "js_run", '{"code":"1","uses":["write_file"]}']);
    assert.doesNotMatch(nobody.stderr, /y\/N/);
  }));
