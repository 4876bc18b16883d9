// Where a script runs, by what this computer offers: with a bubblewrap that is missing, broken or good.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { makeHome, run } from "./lib.mjs";

const python = "/usr/bin/python3";

describe("where Python runs", { skip: existsSync(python) ? false : `there is no ${python}` }, () => {
  let home, bin, landlock;

  // The only programs that are found: Python, and what a test adds.
  before(() => {
    home = makeHome({ "a.txt": "x" });
    bin = join(home.dir, "bin");
    mkdirSync(bin, { mode: 0o755 });
    symlinkSync(python, join(bin, "python3"));
    home.env.PATH = bin;
    const status = py(["analysis", "status", "--json"]);
    assert.equal(status.status, 0, status.stderr);
    landlock = !/landlock is not ready/.test(status.stdout) && /os-filter/.test(status.stdout);
  });
  after(() => home.remove());

  const py = (args, options) => run(home, args, options);
  const runtime = (name) => {
    mkdirSync(home.env.ALISIO_CONFIG_HOME, { recursive: true, mode: 0o700 });
    writeFileSync(
      join(home.env.ALISIO_CONFIG_HOME, "config.json"),
      JSON.stringify({ analysis: { runtime: name } }),
      { mode: 0o600 },
    );
  };
  const bubblewrap = (text) => {
    writeFileSync(join(bin, "bwrap"), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, "bwrap"), 0o755);
  };
  const refused = 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1';
  const broken = `[ "$1" = --version ] && { echo bubblewrap 0.9.0; exit; }\n${refused}`;
  const mark = () => join(home.workspace, "was-run");
  const script = () => `open(${JSON.stringify(mark())}, "w").close()`;

  it("without bubblewrap the next one is taken, and the reason says what is missing", (t) => {
    if (!landlock) return t.skip("this kernel has no Landlock");
    const r = py(["py", "-e", "print(6 * 7)", "--json"]);
    assert.equal(r.status, 0, r.stderr);
    const { structured } = JSON.parse(r.stdout);
    assert.equal(structured.backend, "landlock");
    assert.equal(structured.isolation, "os-filter");
    assert.equal(structured.stdout, "42\n");
    assert.equal(
      structured.reason,
      "analysis.runtime=auto: bwrap is not ready (bubblewrap is not installed), so landlock was taken",
    );
  });

  it("bubblewrap that is asked for and missing is an error with its cure, and nothing runs", () => {
    runtime("bwrap");
    const r = py(["py", "-e", script()]);
    assert.equal(r.status, 6, r.stderr);
    assert.match(r.stderr, /RUNTIME_UNAVAILABLE: analysis\.runtime=bwrap is not ready: bubblewrap is not installed/);
    assert.match(r.stderr, /hint: Install bubblewrap/);
    assert.equal(existsSync(mark()), false);
  });

  it("bubblewrap that the system refuses is named by its layer, never a failed script", () => {
    bubblewrap(broken);
    const r = py(["py", "-e", script()]);
    assert.equal(r.status, 6, r.stderr);
    assert.match(r.stderr, /RUNTIME_UNAVAILABLE: analysis\.runtime=bwrap is not ready: bwrap: /);
    assert.match(r.stderr, /AppArmor refuses|setting up uid map|container around us|user namespaces/);
    assert.match(r.stderr, /hint: /);
    assert.equal(existsSync(mark()), false);
  });

  it("a refused bubblewrap is no end for auto", (t) => {
    if (!landlock) return t.skip("this kernel has no Landlock");
    runtime("auto");
    const r = py(["py", "-e", "print(1)", "--json"]);
    assert.equal(r.status, 0, r.stderr);
    assert.match(JSON.parse(r.stdout).structured.reason, /^analysis\.runtime=auto: bwrap is not ready \(.*\), so landlock/);
  });

  it("an old bubblewrap is refused by its version", () => {
    runtime("bwrap");
    bubblewrap("echo bubblewrap 0.4.1");
    const r = py(["py", "-e", script()]);
    assert.equal(r.status, 6);
    assert.match(r.stderr, /bubblewrap 0\.4\.1 is too old/);
    assert.equal(existsSync(mark()), false);
  });

  it("the policy excludes managed, whoever raised it", () => {
    runtime("managed");
    for (const [args, env] of [
      [["--isolation", "required"], {}],
      [["--isolation", "strict"], {}],
      [[], { ALISIO_ISOLATION: "required" }],
    ]) {
      const r = py(["py", "-e", script(), ...args], { env });
      assert.equal(r.status, 6, r.stderr);
      assert.match(r.stderr, /analysis\.runtime=managed is not allowed by isolation/);
      assert.equal(existsSync(mark()), false);
    }
    const free = py(["py", "-e", script(), "--json"]);
    assert.equal(free.status, 0, free.stderr);
    assert.equal(JSON.parse(free.stdout).structured.isolation, "none");
    assert.equal(existsSync(mark()), true);
  });

  it("a Python of the workspace is never taken, and without another one the hint says how to get it", () => {
    runtime("auto");
    const inside = join(home.workspace, "bin");
    mkdirSync(inside);
    writeFileSync(join(inside, "python3"), `#!/bin/sh\necho > ${join(home.workspace, "trap")}\n`, { mode: 0o755 });
    const r = py(["py", "-e", "print(1)"], {
      env: { PATH: inside, ALISIO_STATE_HOME: join(home.dir, "other-state") },
    });
    assert.equal(r.status, 6, r.stderr);
    assert.match(r.stderr, /no Python 3\.10 or newer was found/);
    assert.match(r.stderr, /hint: Install it \(.+\), or start alisio with --python PATH/);
    assert.equal(existsSync(join(home.workspace, "trap")), false);
  });

  it("an ordinary user has the same walls", (t) => {
    if (process.getuid() !== 0) return t.skip("we are one already: the other tests show it");
    if (!existsSync("/usr/bin/setpriv")) return t.skip("there is no setpriv");
    const own = makeHome();
    own.env.PATH = "/usr/bin:/bin";
    for (const dir of [own.dir, own.workspace, own.env.ALISIO_TMPDIR]) spawnSync("chown", ["1000:1000", dir]);
    // Not our binary's folder, which may be closed to others: a copy of it.
    const copy = join(own.dir, "alisio");
    spawnSync("cp", [process.env.ALISIO_BINARY ?? "build/alisio", copy]);
    chmodSync(copy, 0o755);
    try {
      const as = (args) =>
        spawnSync("setpriv", ["--reuid", "1000", "--regid", "1000", "--clear-groups", copy, ...args], {
          cwd: own.workspace,
          env: own.env,
          encoding: "utf8",
          timeout: 60_000,
        });
      const code = "import os, socket; print(os.getuid()); socket.create_connection(('127.0.0.1', 9), 2)";
      const r = as(["py", "-e", code, "--json", "--isolation", "required"]);
      if (r.status === 6) return t.skip(r.stderr || r.stdout);
      assert.equal(r.status, 1, r.stderr);
      const { structured } = JSON.parse(r.stdout);
      assert.equal(structured.stdout, "1000\n");
      assert.match(structured.isolation, /^os-/);
      assert.match(structured.stderr, /Error/);
    } finally {
      own.remove();
    }
  });
});
