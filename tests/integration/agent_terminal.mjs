// The agent on a terminal, for tests: a person who answers its questions.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { alisio, soon, until } from "./lib.mjs";

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

// alisio on a terminal. answers: what is typed at each question that ends in a prompt; then nothing more may be asked.
const PROMPT = /\[y[^\]]*N\] |in your words: /g;
export async function onTerminal(rig, args, answers = []) {
  const p = spawn("script", ["-qec", [alisio, ...args].map(quoted).join(" "), "/dev/null"], {
    cwd: rig.home.workspace,
    env: { ...rig.home.env, SHELL: "/bin/sh", TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let seen = "";
  let status;
  p.stdout.setEncoding("utf8").on("data", (text) => (seen += text));
  const ended = new Promise((resolve) => p.on("close", (code) => resolve((status = code))));
  const asked = () => (seen.match(PROMPT) ?? []).length;
  try {
    for (const [i, answer] of answers.entries()) {
      await until(`question ${i + 1} in ${seen}`, () => asked() > i || status !== undefined).catch((e) => assert.fail(`${e.message}: ${seen}`));
      assert.ok(asked() > i, `it ended before question ${i + 1}: ${seen}`);
      p.stdin.write(answer);
    }
    await soon(ended, "the end");
    assert.equal(asked(), answers.length, seen);
    return { status, seen };
  } catch (e) {
    e.message += `\n${seen}`;
    throw e;
  } finally {
    p.kill("SIGKILL");
  }
}
