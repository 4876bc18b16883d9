// Runs the examples of the documentation, so that they cannot rot.
//
//   ```console   lines "$ command" are run in a copy of examples/workspace, one shell for the block; what follows is
//                the expected output. "…" matches anything within a line, a line of "…" alone matches any lines.
//   ```js        is run by `alisio js`, with --allow-write. A last line "// → JSON" is what it must return.
//
// A fence with more words after the language ("```console not-run") is left out; the closing line counts those.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const binary = process.env.ALISIO_BINARY ?? join(root, "build/alisio");
const files = ["README.md", ...readdirSync(join(root, "docs")).filter((f) => f.endsWith(".md")).map((f) => `docs/${f}`)];

function blocks(text) {
  const found = [];
  let open = null;
  text.split("\n").forEach((line, i) => {
    const fence = /^```(\S*)\s*(.*)$/.exec(line);
    if (!open && fence) open = { language: fence[1], extra: fence[2], line: i + 1, body: [] };
    else if (open && fence) {
      found.push(open);
      open = null;
    } else if (open) open.body.push(line);
  });
  return found;
}

// A fresh copy of the sample workspace, as a git repository, with state of its own.
function makePlace() {
  const dir = mkdtempSync(join(tmpdir(), "alisio-docs-"));
  const workspace = join(dir, "workspace");
  cpSync(join(root, "examples"), join(dir, "examples"), { recursive: true });
  cpSync(join(root, "examples/workspace"), workspace, { recursive: true });
  mkdirSync(join(dir, "tmp"), { mode: 0o700 });
  const env = {
    PATH: `${dirname(binary)}:${process.env.PATH}`,
    HOME: dir,
    ALISIO_STATE_HOME: join(dir, "state"),
    ALISIO_CONFIG_HOME: join(dir, "config"),
    ALISIO_TMPDIR: join(dir, "tmp"),
    COLUMNS: "100",
  };
  return { dir, workspace, env, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

const place = makePlace();
const sh = (script, input) =>
  spawnSync("sh", ["-c", script], { cwd: place.workspace, env: place.env, encoding: "utf8", input, timeout: 60_000 });

function lineMatches(want, got) {
  const parts = want.split("…").map((p) => p.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(got);
}

function linesMatch(want, got) {
  if (want.length === 0) return got.length === 0;
  if (want[0].trim() === "…") {
    for (let skip = 0; skip <= got.length; skip++) if (linesMatch(want.slice(1), got.slice(skip))) return true;
    return false;
  }
  return got.length > 0 && lineMatches(want[0].trimEnd(), got[0].trimEnd()) && linesMatch(want.slice(1), got.slice(1));
}

const trimLines = (lines) => {
  const out = [...lines];
  while (out.length && out.at(-1).trim() === "") out.pop();
  while (out.length && out[0].trim() === "") out.shift();
  return out;
};

function runConsole(block) {
  let i = 0;
  while (i < block.body.length) {
    if (!block.body[i].startsWith("$ ")) throw new Error(`line ${block.line + 1 + i} is no "$ command"`);
    let command = block.body[i++].slice(2);
    while (command.endsWith("\\") || (i < block.body.length && block.body[i].startsWith("> "))) {
      if (command.endsWith("\\")) command = `${command.slice(0, -1)}${block.body[i++].replace(/^> /, "")}`;
      else command += `\n${block.body[i++].slice(2)}`;
    }
    const want = [];
    while (i < block.body.length && !block.body[i].startsWith("$ ")) want.push(block.body[i++]);
    const r = sh(`exec 2>&1; ${command}`);
    const got = trimLines(r.stdout.split("\n"));
    if (!linesMatch(trimLines(want), got))
      throw new Error(`$ ${command}\n--- expected\n${trimLines(want).join("\n")}\n--- got\n${got.join("\n")}`);
  }
}

function runScript(block) {
  const last = /^\/\/ → (.*)$/.exec(trimLines(block.body).at(-1) ?? "");
  const r = sh(`alisio js --json --allow-write -`, block.body.join("\n"));
  const answer = JSON.parse(r.stdout);
  if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}\n${answer.text}`);
  if (last && JSON.stringify(answer.structured.value) !== JSON.stringify(JSON.parse(last[1])))
    throw new Error(`returned ${JSON.stringify(answer.structured.value)}, not ${last[1]}`);
}

let passed = 0, failed = 0, left = 0;
sh("git init -q . && git add -A && git -c user.name=x -c user.email=x@example.org commit -qm start");
for (const file of files) {
  for (const block of blocks(readFileSync(join(root, file), "utf8"))) {
    if (!["console", "js"].includes(block.language)) continue;
    if (block.extra) {
      left++;
      continue;
    }
    try {
      if (block.language === "console") runConsole(block);
      else runScript(block);
      passed++;
    } catch (error) {
      failed++;
      console.error(`${relative(root, join(root, file))}:${block.line}: ${error.message}\n`);
    }
  }
}
place.remove();
console.log(`${passed} examples ran, ${failed} failed, ${left} are marked as not run`);
process.exit(failed || !passed ? 1 : 0);
