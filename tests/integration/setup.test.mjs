// alisio setup CLIENT: one entry in the client's file, its servers in ours, and back.
import assert from "node:assert/strict";
import {
  existsSync, linkSync, lstatSync, mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, statSync, symlinkSync, writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { alisio, makeHome, run, runJson } from "./lib.mjs";

const simple = join(dirname(fileURLToPath(import.meta.url)), "../fixtures/simple.mjs");
const node = process.execPath;
const own = realpathSync(alisio);

function place(file, text) {
  const home = makeHome();
  home.config = join(home.env.ALISIO_CONFIG_HOME, "config.json");
  home.file = join(home.dir, file);
  if (text !== undefined) {
    mkdirSync(dirname(home.file), { recursive: true });
    writeFileSync(home.file, text);
  }
  home.read = () => readFileSync(home.file, "utf8");
  home.ours = () => JSON.parse(readFileSync(home.config, "utf8")).mcp.servers;
  home.beside = () => readdirSync(dirname(home.file)).sort();
  return home;
}

// Everything below a folder but the state: names, modes and bytes.
function snapshot(dir) {
  const all = {};
  const walk = (at, name) => {
    for (const entry of readdirSync(at).sort()) {
      const path = join(at, entry), key = `${name}/${entry}`, st = lstatSync(path);
      if (key === "/state" || key === "/tmp") continue;
      all[key] = st.isDirectory() ? "folder" : `${(st.mode & 0o777).toString(8)} ${readFileSync(path).toString("base64")}`;
      if (st.isDirectory()) walk(path, key);
    }
  };
  walk(dir, "");
  return all;
}

const entry = (name, more = {}) => JSON.stringify({ command: node, args: [simple], env: { SIMPLE_NAME: name }, ...more });
const clients = {
  "claude-code": {
    file: ".claude.json",
    text: `{
  "numStartups": 3,
  "tipsHistory": {"a\\u00e9": 1},
  "mcpServers": {
    "one": {
      "type": "stdio",
      "command": ${JSON.stringify(node)},
      "args": [
        ${JSON.stringify(simple)}
      ],
      "env": {}
    },
    "two": {
      "type": "http",
      "url": "http://127.0.0.1:1/mcp",
      "headers": {
        "Authorization": "Bearer not-to-be-shown"
      }
    }
  },
  "projects": {
    "/home/somebody/p": {
      "allowedTools": [],
      "mcpServers": {
        "three": {
          "type": "stdio",
          "command": "x",
          "args": []
        }
      }
    }
  },
  "userID": "0123"
}
`,
    after: `{
  "numStartups": 3,
  "tipsHistory": {"a\\u00e9": 1},
  "mcpServers": {
    "alisio": {
      "type": "stdio",
      "command": ${JSON.stringify(own)},
      "args": ["mcp"]
    }
  },
  "projects": {
    "/home/somebody/p": {
      "allowedTools": [],
      "mcpServers": {
        "three": {
          "type": "stdio",
          "command": "x",
          "args": []
        }
      }
    }
  },
  "userID": "0123"
}
`,
    names: ["one", "two"],
    says: /not touched: 1 server of the project \/home\/somebody\/p/,
  },
  "claude-desktop": {
    file: ".config/Claude/claude_desktop_config.json",
    text: `{"mcpServers":{"one":${entry("1")},"two":${entry("2")}}}`,
    after: `{"mcpServers":{"alisio":{"command":${JSON.stringify(own)},"args":["mcp"]}}}`,
    names: ["one", "two"],
  },
  codex: {
    file: ".codex/config.toml",
    text: `model = "gpt"   # mine\r\n\r\n[mcp_servers.one]\r\ncommand = '${node}'\r\nargs = [ '${simple}', ]\r\n\r\n[mcp_servers.one.env]\r\nK = "ü"\r\n\r\n# the other\r\n[mcp_servers."two two"]\r\nurl = "http://127.0.0.1:1/mcp"\r\nbearer_token_env_var = "TOK"\r\n\r\n[profiles.x]\r\na = 1\r\n`,
    after: `model = "gpt"   # mine\r\n\r\n[mcp_servers.alisio]\r\ncommand = ${JSON.stringify(own)}\r\nargs = ["mcp"]\r\n\r\n[profiles.x]\r\na = 1\r\n`,
    names: ["one", "two two"],
  },
  cursor: {
    file: ".cursor/mcp.json",
    text: `\ufeff{\r\n\t// all of mine\r\n\t"mcpServers": {\r\n\t\t"one": ${entry("1")}, // first\r\n\t\t/* kept */\r\n\t\t"odd": {"command": 7},\r\n\t\t"two": ${entry("2")},\r\n\t},\r\n\t"z": "\u65e5\u672c"\r\n}`,
    after: `\ufeff{\r\n\t// all of mine\r\n\t"mcpServers": {\r\n\t\t/* kept */\r\n\t\t"odd": {"command": 7},\r\n\t\t"alisio": {\r\n\t\t\t"command": ${JSON.stringify(own)},\r\n\t\t\t"args": ["mcp"]\r\n\t\t}\r\n\t},\r\n\t"z": "\u65e5\u672c"\r\n}`,
    names: ["one", "two"],
    says: /stays there: odd: its command must be a string/,
  },
  vscode: {
    file: ".config/Code/User/mcp.json",
    text: `{
	"inputs": [{ "type": "promptString", "id": "key", "password": true }],
	"servers": {
		"asks": { "type": "http", "url": "https://x.example/mcp", "headers": { "A": "\${input:key}" } },
		"one": { "type": "stdio", "command": ${JSON.stringify(node)}, "args": ["${simple}"] }
	}
}
`,
    after: `{
	"inputs": [{ "type": "promptString", "id": "key", "password": true }],
	"servers": {
		"asks": { "type": "http", "url": "https://x.example/mcp", "headers": { "A": "\${input:key}" } },
		"alisio": {
			"type": "stdio",
			"command": ${JSON.stringify(own)},
			"args": ["mcp"]
		}
	}
}
`,
    names: ["one"],
    says: /stays there: asks: only its own client can fill in \$\{input:key\}/,
  },
  opencode: {
    file: ".config/opencode/opencode.jsonc",
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "one": {
      "type": "local",
      "command": [
        ${JSON.stringify(node)},
        ${JSON.stringify(simple)}
      ],
      "environment": {
        "K": "{env:HOME}"
      }
    }
  }
}`,
    after: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "alisio": {
      "type": "local",
      "command": [${JSON.stringify(own)}, "mcp"]
    }
  }
}`,
    names: ["one"],
  },
  gemini: {
    file: ".gemini/settings.json",
    text: `{\n  "theme": "x",\n  "mcpServers": {\n    "one": {\n      "httpUrl": "http://127.0.0.1:1/mcp",\n      "timeout": 5000,\n      "trust": true\n    }\n  }\n}`,
    after: `{\n  "theme": "x",\n  "mcpServers": {\n    "alisio": {\n      "command": ${JSON.stringify(own)},\n      "args": ["mcp"]\n    }\n  }\n}`,
    names: ["one"],
  },
};

for (const [client, c] of Object.entries(clients)) {
  test(`${client}: one entry, all else as it was, twice is once, and undone without a trace`, () => {
    const home = place(c.file, c.text);
    const before = snapshot(home.dir);
    const r = run(home, ["setup", client, "--yes"]);
    assert.equal(r.status, 0, r.stdout + r.stderr);
    assert.equal(home.read(), c.after);
    assert.deepEqual(Object.keys(home.ours()).sort(), c.names);
    if (c.says) assert.match(r.stdout, c.says);
    assert.doesNotMatch(r.stdout + r.stderr, /not-to-be-shown/);
    assert.equal(statSync(home.config).mode & 0o777, 0o600);
    const backup = home.beside().find((name) => name.includes("alisio-backup"));
    assert.equal(readFileSync(join(dirname(home.file), backup), "utf8"), c.text);
    assert.equal(statSync(join(dirname(home.file), backup)).mode & 0o777, 0o600);
    const after = snapshot(home.dir);
    assert.match(run(home, ["setup", client, "--yes"]).stdout, /nothing to do/);
    assert.deepEqual(snapshot(home.dir), after);
    assert.equal(run(home, ["setup", client, "--undo"]).status, 0);
    assert.deepEqual(snapshot(home.dir), before);
    assert.equal(run(home, ["setup", client, "--undo"]).status, 4);
    home.remove();
  });

  test(`${client}: what others wrote meanwhile stays when it is undone`, () => {
    const home = place(c.file, c.text);
    run(home, ["setup", client, "--yes"]);
    const added = c.file.endsWith(".toml") ? home.read().replace("a = 1", "a = 2") : home.read().replace(/\}\s*$/, ',"added": [1]}');
    writeFileSync(home.file, added);
    const r = run(home, ["setup", client, "--undo"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(home.read(), c.file.endsWith(".toml") ? /a = 2/ : /"added": \[1\]/);
    assert.doesNotMatch(home.read(), /alisio"?[:\]]/);
    assert.ok(!existsSync(home.env.ALISIO_CONFIG_HOME));
    // The servers are back as they were: taking them again copies the same ones.
    const again = runJson(home, ["setup", client, "--yes"]).json;
    assert.deepEqual(again.structured.servers.filter((s) => s.copied).map((s) => s.name).sort(), c.names);
    home.remove();
  });

  test(`${client}: a client without a configuration gets one, which goes with --undo`, () => {
    const home = place(c.file);
    const before = snapshot(home.dir);
    const r = run(home, ["setup", client, "--yes"]);
    assert.equal(r.status, 0, r.stderr);
    const file = client === "opencode" ? join(home.dir, ".config/opencode/opencode.json") : home.file;
    assert.ok(readFileSync(file, "utf8").includes(JSON.stringify(own)));
    assert.ok(!existsSync(home.config));
    assert.match(run(home, ["setup", client, "--yes"]).stdout, /nothing to do/);
    assert.equal(run(home, ["setup", client, "--undo"]).status, 0);
    assert.deepEqual(snapshot(home.dir), before);
    home.remove();
  });
}

test("variables of Gemini are ours, and a rule is there once", () => {
  const home = place(
    ".gemini/settings.json",
    JSON.stringify({ mcpServers: { m: { command: node, args: [simple], env: { SIMPLE_TOOLS: "3", MEMORY: "$HOME/mem.jsonl" }, includeTools: ["tool_0", "tool_1"] } } }),
  );
  const r = run(home, ["setup", "gemini", "--dry-run"]);
  assert.match(r.stdout, /sets +SIMPLE_TOOLS, MEMORY \(from HOME\)/);
  assert.equal(run(home, ["setup", "gemini", "--yes"]).status, 0);
  assert.equal(home.ours().m.env.MEMORY, "${HOME}/mem.jsonl");
  const names = readFileSync(home.config, "utf8").match(/"tool_[01]"/g);
  assert.deepEqual(names, [...new Set(names)]);
  home.remove();
});

test("--dry-run shows both files' changes without secrets, and changes nothing", () => {
  const c = clients["claude-code"];
  const home = place(c.file, c.text);
  const before = snapshot(home.dir);
  const r = run(home, ["setup", "claude-code", "--dry-run"]);
  assert.equal(r.status, 0);
  assert.match(r.stdout, /\n- {5}"two": \{\n/);
  assert.match(r.stdout, /\n\+ {5}"alisio": \{\n/);
  assert.doesNotMatch(r.stdout, /not-to-be-shown/);
  assert.deepEqual(snapshot(home.dir), before);
  home.remove();
});

test("--dry-run prints no secret in whatever form, and no line that is none of its own", () => {
  const secret = "s3cr3t";
  const files = {
    "claude-code": [".claude.json", `// ${secret}
{"apiKey": "${secret}", "mcpServers": {"a": {"command": "x", "env": {"A": "s3c\\u0072\\u00333t${secret}", "B": "x${secret}", "C": "ab"}, // ${secret}
  "oauth": {"clientSecret": "${secret}"}}, "b": {"url": "https://me:${secret}@h/mcp?key=${secret}&${secret}", "headers": {"X": "${secret}"}},
  "c": {"command": "y", "args": ["--header", "Authorization: Bearer ${secret}"]}}, "other": "${secret}"}`],
    codex: [".codex/config.toml", `key = "${secret}"\n[mcp_servers.a]\ncommand = "x"\n# ${secret}\n[mcp_servers.a.env]\nA = """${secret}"""\nB = 's3cr3t'\n[mcp_servers.b]\nurl = "https://h/?k=${secret}"\nhttp_headers = { "X" = "${secret}" }\n[other]\nk = "${secret}"\n`],
    opencode: [".config/opencode/opencode.json", `{"k": "${secret}", "mcp": {"a": {"type": "local", "command": ["x"], "environment": {"A": "${secret}"}}}}`],
  };
  for (const [client, [file, text]] of Object.entries(files)) {
    const home = place(file, text);
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
    const config = JSON.stringify({ mcp: { servers: { mine: { command: "z", env: { K: secret } } } } }, null, 2);
    writeFileSync(home.config, config, { mode: 0o600 });
    for (const args of [["setup", client, "--dry-run"], ["setup", client, "--dry-run", "--json"]]) {
      const r = run(home, args);
      assert.equal(r.status, 0, r.stderr);
      assert.doesNotMatch(r.stdout + r.stderr, /s3cr3t|s3c\\u/, client);
      assert.doesNotMatch(r.stdout, /mine/);
    }
    assert.match(run(home, ["setup", client, "--dry-run"]).stdout, /\n- {5}"a": \{\n[^]*\n\+ {5}"alisio": \{\n[^]*\n\+ {7}"a": \{\n/);
    home.remove();
  }
});

test("without a terminal a yes has to be given", () => {
  const home = place(clients.cursor.file, clients.cursor.text);
  const before = snapshot(home.dir);
  const r = run(home, ["setup", "cursor"]);
  assert.equal(r.status, 3);
  assert.match(r.stderr, /hint: alisio setup cursor --yes/);
  assert.match(r.stdout, /starts +/);
  assert.deepEqual(snapshot(home.dir), before);
  home.remove();
});

test("the moved servers work from the client's one entry", () => {
  const home = place(clients.cursor.file, clients.cursor.text);
  run(home, ["setup", "cursor", "--yes"]);
  const { json } = runJson(home, ["js", "-e", "return [await tools.one.echo({text: 'a'}), await tools.two.echo({text: 'b'})]"]);
  assert.deepEqual(json.structured?.value, ["a", "b"]);
  home.remove();
});

test("tokens saved are an estimate that says so", () => {
  const home = place(".cursor/mcp.json", `{"mcpServers": {"s": ${entry("s", { env: { SIMPLE_TOOLS: "400" } })}}}`);
  const r = run(home, ["setup", "cursor", "--yes"]);
  const [, tools, tokens] = /(\d+) tool definitions leave the client's context: about (\d+) tokens less .*\(an estimate/.exec(r.stdout);
  assert.ok(Number(tools) > 400);
  assert.ok(Number(tokens) > 1000);
  home.remove();
});

test("a broken file is refused and left alone", () => {
  for (const text of ["{", "[]", '{"mcpServers": []}', '{"mcpServers": {"a": {"command": "x"}} "z": 1}']) {
    const home = place(".cursor/mcp.json", text);
    const r = run(home, ["setup", "cursor", "--yes"]);
    assert.equal(r.status, 2, text);
    assert.match(r.stderr, /CONFIG_INVALID/);
    assert.equal(home.read(), text);
    assert.deepEqual(home.beside(), ["mcp.json"]);
    home.remove();
  }
});

test("an empty file counts as none", () => {
  for (const text of ["", " \n", "{}", "{}\n", '{"mcpServers": {}}', '{"mcpServers": {\n}}', "// nothing\n{\n}\n"]) {
    const home = place(".cursor/mcp.json", text);
    assert.equal(run(home, ["setup", "cursor", "--yes"]).status, 0, text);
    assert.equal(run(home, ["setup", "cursor", "--undo"]).status, 0, text);
    assert.equal(home.read(), text);
    home.remove();
  }
});

test("a link is followed, and what it leads to is replaced", () => {
  const home = place("dotfiles/cursor.json", clients.cursor.text);
  mkdirSync(join(home.dir, ".cursor"));
  symlinkSync(home.file, join(home.dir, ".cursor/mcp.json"));
  assert.equal(run(home, ["setup", "cursor", "--yes"]).status, 0);
  assert.ok(lstatSync(join(home.dir, ".cursor/mcp.json")).isSymbolicLink());
  assert.equal(home.read(), clients.cursor.after);
  assert.equal(run(home, ["setup", "cursor", "--undo"]).status, 0);
  assert.equal(home.read(), clients.cursor.text);
  home.remove();
});

test("links that lead nowhere, second names and folders are refused", () => {
  const home = place(".cursor/other.json", "{}");
  const file = join(home.dir, ".cursor/mcp.json");
  symlinkSync(join(home.dir, "nowhere"), file);
  assert.match(run(home, ["setup", "cursor", "--yes"]).stderr, /link that leads nowhere/);
  renameSync(file, join(home.dir, "gone"));
  linkSync(home.file, file);
  assert.match(run(home, ["setup", "cursor", "--yes"]).stderr, /second name/);
  assert.match(run(home, ["setup", "cursor", "--yes", "--file", home.dir]).stderr, /no regular file/);
  home.remove();
});

test("--file names another place", () => {
  const home = place("elsewhere/mcp.json", clients.cursor.text);
  assert.equal(run(home, ["setup", "cursor", "--yes", "--file", home.file]).status, 0);
  assert.equal(home.read(), clients.cursor.after);
  run(home, ["setup", "cursor", "--undo"]);
  assert.equal(home.read(), clients.cursor.text);
  home.remove();
});

test("another server of the same name stays, and the client's gets its name", () => {
  const home = place(".cursor/mcp.json", `{"mcpServers": {"one": ${entry("theirs")}}}`);
  mkdirSync(home.env.ALISIO_CONFIG_HOME, { mode: 0o700 });
  const config = '{"mcp": {"servers": {"one": {"command": "mine"}}}}\n';
  writeFileSync(home.config, config, { mode: 0o600 });
  const r = run(home, ["setup", "cursor", "--yes"]);
  assert.match(r.stdout, /one-cursor/);
  assert.equal(home.ours().one.command, "mine");
  assert.equal(home.ours()["one-cursor"].command, node);
  run(home, ["setup", "cursor", "--undo"]);
  assert.equal(readFileSync(home.config, "utf8"), config);
  home.remove();
});

test("two clients with the same servers share them, and each is undone by itself", () => {
  const text = `{"mcpServers": {"one": ${entry("1")}}}`;
  const home = place(".cursor/mcp.json", text);
  const desktop = join(home.dir, clients["claude-desktop"].file);
  mkdirSync(dirname(desktop), { recursive: true });
  writeFileSync(desktop, text);
  const before = snapshot(home.dir);
  run(home, ["setup", "cursor", "--yes"]);
  assert.match(run(home, ["setup", "claude-desktop", "--yes"]).stdout, /is configured already/);
  assert.deepEqual(Object.keys(home.ours()), ["one"]);
  run(home, ["setup", "claude-desktop", "--undo"]);
  assert.equal(readFileSync(desktop, "utf8"), text);
  assert.deepEqual(Object.keys(home.ours()), ["one"]);
  run(home, ["setup", "cursor", "--undo"]);
  assert.deepEqual(snapshot(home.dir), before);
  home.remove();
});

test("a file that changed while servers were started is not written, and nothing else is", () => {
  const home = place(".cursor/mcp.json");
  const touch = `require("fs").appendFileSync(${JSON.stringify(home.file)}, "\\n")`;
  mkdirSync(dirname(home.file));
  writeFileSync(home.file, JSON.stringify({ mcpServers: { busy: { command: node, args: ["-e", touch] } } }));
  const text = home.read();
  const r = run(home, ["setup", "cursor", "--yes"]);
  assert.match(r.stderr, /STATE_CONFLICT: .*changed by another program meanwhile/);
  assert.equal(r.status, 1);
  assert.equal(home.read().trimEnd(), text);
  assert.deepEqual(home.beside(), ["mcp.json"]);
  assert.ok(!existsSync(home.env.ALISIO_CONFIG_HOME));
  assert.equal(run(home, ["setup", "cursor", "--undo"]).status, 4);
  home.remove();
});

test("setups are undone in any order", () => {
  for (const order of [["cursor", "gemini", "codex"], ["codex", "cursor", "gemini"], ["gemini", "codex", "cursor"]]) {
    const home = place(clients.cursor.file, clients.cursor.text);
    for (const client of ["gemini", "codex"]) {
      mkdirSync(dirname(join(home.dir, clients[client].file)), { recursive: true });
      writeFileSync(join(home.dir, clients[client].file), clients[client].text);
    }
    const before = snapshot(home.dir);
    for (const client of ["cursor", "gemini", "codex"]) assert.equal(run(home, ["setup", client, "--yes"]).status, 0);
    for (const client of order) assert.equal(run(home, ["setup", client, "--undo"]).status, 0);
    assert.deepEqual(snapshot(home.dir), before);
    home.remove();
  }
});

test("an undo that failed half-way is finished by the next", () => {
  for (const [client, c] of Object.entries(clients)) {
    const home = place(c.file, c.text);
    const before = snapshot(home.dir);
    run(home, ["setup", client, "--yes"]);
    // A state folder that is none: the file is back by then, and the rest is not.
    const broken = run(home, ["setup", client, "--undo"], { env: { ALISIO_STATE_HOME: home.file } });
    assert.notEqual(broken.status, 0);
    assert.equal(home.read(), c.text);
    const r = run(home, ["setup", client, "--undo"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(r.stdout, /is as it was\n/);
    assert.deepEqual(snapshot(home.dir), before);
    home.remove();
  }
});

test("what counts from the folder that a client is opened in stays there", () => {
  const home = place(".cursor/mcp.json", JSON.stringify({ mcpServers: {
    here: { command: node, args: ["./here.mjs"] }, fs: { command: "npx", args: ["-y", "fs", "."] }, opened: { command: "x", cwd: "${workspaceFolder}" },
  } }));
  writeFileSync(join(home.dir, ".cursor/here.mjs"), "");
  const { stdout } = run(home, ["setup", "cursor", "--dry-run"]);
  assert.ok(stdout.includes(`starts   ${node} ${join(home.dir, ".cursor/here.mjs")}\n`));
  assert.match(stdout, /stays there: fs: its argument \. counts from the folder that its client is opened in; write it with its whole path\n/);
  assert.match(stdout, /stays there: opened: its cwd \. counts from/);
  home.remove();
});

test("servers added later move in a second step, and --undo takes both back", () => {
  const home = place(".cursor/mcp.json", `{\n  "mcpServers": {\n    "one": ${entry("1")}\n  }\n}\n`);
  const before = snapshot(home.dir);
  run(home, ["setup", "cursor", "--yes"]);
  const now = JSON.parse(home.read());
  now.mcpServers.two = JSON.parse(entry("2"));
  writeFileSync(home.file, JSON.stringify(now, null, 2));
  assert.equal(run(home, ["setup", "cursor", "--yes"]).status, 0);
  assert.deepEqual(Object.keys(home.ours()).sort(), ["one", "two"]);
  assert.deepEqual(Object.keys(JSON.parse(home.read()).mcpServers), ["alisio"]);
  assert.equal(run(home, ["setup", "cursor", "--undo"]).status, 0);
  assert.deepEqual(Object.keys(JSON.parse(home.read()).mcpServers).sort(), ["one", "two"]);
  assert.deepEqual(Object.keys(snapshot(home.dir)), Object.keys(before));
  home.remove();
});

test("an unknown client is told with the nearest", () => {
  const home = makeHome();
  const r = run(home, ["setup", "claude-cod", "--yes"]);
  assert.equal(r.status, 2);
  assert.match(r.stderr, /did you mean claude-code\?/);
  home.remove();
});
