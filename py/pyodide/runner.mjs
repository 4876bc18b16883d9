// Runs one script in Pyodide, in Node.js under its Permission Model: node [flags] runner.mjs DISTRIBUTION SCRIPT INPUT WORK
// OUTPUT [SCRATCH]. Each is a folder; the script is SCRIPT/main.py, and sees them as /job/script, /job/input, /job/work,
// /job/out and /job/scratch. Its environment is ours. The exit status is the script's; 120: it did not get that far.
//
// This is a mitigation, not a wall: Python can reach JavaScript, and JavaScript whatever the process may do. What holds
// is around it: no rights on foreign files, no child process, no worker (Node.js), and the sandbox (alisio), if any.
import fs from "node:fs";
import module, { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import v8 from "node:v8";

const FAILED = 120;
const [distribution, ...places] = process.argv.slice(2);
const mounts = ["script", "input", "work", "out", "scratch"];

// What Node.js says of its own ways is for nobody who reads a script's output.
process.removeAllListeners("warning");
process.on("warning", () => {});

// A call that the Permission Model refuses throws ERR_ACCESS_DENIED, which Pyodide's file system does not know: it would
// take it for success. As EACCES it is the error that a script expects.
function toErrno(error) {
  if (error?.code !== "ERR_ACCESS_DENIED") return error;
  const known = new Error("EACCES: permission denied");
  return Object.assign(known, { code: "EACCES", errno: -13, syscall: error.syscall });
}
for (const name of Object.keys(fs)) {
  const original = fs[name];
  if (typeof original !== "function" || !name.endsWith("Sync")) continue;
  // Under the Permission Model these are refused whatever the file.
  const harmless = name === "fsyncSync" || name === "fdatasyncSync";
  const wrapped = function (...args) {
    try {
      return original.apply(fs, args);
    } catch (error) {
      if (harmless && error?.code === "ERR_ACCESS_DENIED") return undefined;
      throw toErrno(error);
    }
  };
  fs[name] = Object.assign(wrapped, original);
}
syncBuiltinESMExports();

// Pyodide asks for the numbers of open(2) by a call that the Permission Model refuses.
const constants = fs.constants;
process.binding = (name) => {
  if (name === "constants") return { fs: constants, os: {} };
  throw new Error(`there is no binding ${name}`);
};

// Lets loop.run_until_complete() wait, where V8 does not yet do that unasked.
v8.setFlagsFromString("--experimental-wasm-jspi");

function write(fd, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code === "EPIPE") process.exit(FAILED);
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  return bytes.length;
}

// Messages of failures before the script name folders of this computer, which are nobody's business.
function clean(text) {
  let out = String(text).replaceAll(distribution, "<distribution>");
  places.forEach((place, i) => {
    if (place) out = out.replaceAll(place, `/job/${mounts[i]}`);
  });
  return out;
}

function fail(error) {
  write(2, Buffer.from(clean(`alisio-wasm: ${error?.stack ?? error}\n`)));
  process.exit(FAILED);
}
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

// From here on nothing more is loaded, and what speaks to the network has no name. Whoever looks long enough finds it.
function close() {
  for (const name of ["fetch", "WebSocket", "EventSource", "XMLHttpRequest", "Request", "Response"]) {
    delete globalThis[name];
  }
  const refuse = (what) => {
    throw Object.assign(new Error(`${what} is not there for scripts`), { code: "EACCES" });
  };
  process.getBuiltinModule = refuse;
  process.dlopen = () => refuse("dlopen");
  process.kill = () => refuse("kill");
  globalThis.require = undefined;
  module.registerHooks?.({ resolve: (specifier) => refuse(specifier) });
}

// The interpreter as `python -s -B -u -X utf8 main.py` sets it up. Frames of ours are not the script's business.
const bootstrap = `
import sys, os, types, traceback

def _alisio_run(path):
    sys.dont_write_bytecode = True
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(path))
    os.chdir("/job/work")
    for name in ("stdout", "stderr"):
        getattr(sys, name).reconfigure(encoding="utf-8", line_buffering=True, write_through=True,
                                       errors="backslashreplace" if name == "stderr" else "strict")
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    status = 0
    try:
        with open(path, "rb") as f:
            source = f.read()
        exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as e:
        status = _alisio_status(e.code)
    except BaseException as e:
        e.__traceback__ = e.__traceback__ and e.__traceback__.tb_next
        if isinstance(e, SyntaxError) and e.filename == path:
            e.__traceback__ = None
        sys.excepthook(type(e), e, e.__traceback__)
        status = 1
    import atexit
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    return status

def _alisio_status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xff
    print(code, file=sys.stderr)
    return 1

_alisio_run("/job/script/main.py")
`;

async function main() {
  const { loadPyodide } = await import(pathToFileURL(join(distribution, "pyodide.mjs")));
  const python = await loadPyodide({
    indexURL: distribution,
    env: { ...process.env, _: "/job/script/main.py" },
  });
  python.setStdin({ stdin: () => null });
  python.setStdout({ write: (bytes) => write(1, bytes) });
  python.setStderr({ write: (bytes) => write(2, bytes) });
  mounts.forEach((name, i) => {
    if (!places[i]) return;
    python.FS.mkdirTree(`/job/${name}`);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: places[i] }, `/job/${name}`);
  });
  close();
  let status;
  try {
    status = await python.runPythonAsync(bootstrap, { globals: python.toPy({}), filename: "<alisio>" });
  } catch (error) {
    // Not Python's own doing: memory, a stack that is too deep, the module itself.
    write(2, Buffer.from(clean(`${error?.message ?? error}\n`)));
    status = 1;
  }
  // What JavaScript was asked for at last still begins.
  await new Promise((done) => setImmediate(done));
  process.reallyExit(status);
}

main().catch(fail);
