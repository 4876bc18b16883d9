// Other ways to run a script in a fresh VM, each as { name, fresh(code) → result }. A peer that is not installed is left out.
import { Worker } from "node:worker_threads";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const body = (code) => `(() => {${code}\n})()`;

async function quickjsEmscripten() {
  const { getQuickJS } = await import("quickjs-emscripten");
  const QuickJS = await getQuickJS();
  return {
    name: "quickjs-emscripten",
    fresh(code) {
      const runtime = QuickJS.newRuntime();
      runtime.setMemoryLimit(128 << 20);
      const vm = runtime.newContext();
      const handle = vm.unwrapResult(vm.evalCode(body(code)));
      const value = vm.dump(handle);
      handle.dispose();
      vm.dispose();
      runtime.dispose();
      return value;
    },
  };
}

// A Node worker thread that is started for the run, as the VM's wall: what a host in Node does for isolation.
async function quickjsInWorker() {
  const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(${JSON.stringify(import.meta.resolve("quickjs-emscripten"))}).then(async ({ getQuickJS }) => {
      const vm = (await getQuickJS()).newContext();
      parentPort.postMessage(vm.dump(vm.unwrapResult(vm.evalCode(workerData))));
    });`;
  await import("quickjs-emscripten");
  return {
    name: "quickjs-emscripten in a worker",
    fresh: (code) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(source, { eval: true, workerData: body(code) });
        worker.once("message", (value) => worker.terminate().then(() => resolve(value)));
        worker.once("error", reject);
      }),
  };
}

async function isolatedVm() {
  const ivm = require("isolated-vm");
  return {
    name: "isolated-vm",
    async fresh(code) {
      const isolate = new ivm.Isolate({ memoryLimit: 128 });
      const context = await isolate.createContext();
      const value = await context.eval(body(code));
      isolate.dispose();
      return value;
    },
  };
}

async function nodeWorker() {
  return {
    name: "Node worker",
    fresh: (code) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(`require("node:worker_threads").parentPort.postMessage(${body(code)})`, { eval: true });
        worker.once("message", (value) => worker.terminate().then(() => resolve(value)));
        worker.once("error", reject);
      }),
  };
}

// The very module that alisio translates to C, in V8's WebAssembly.
async function sameModuleInV8() {
  const { QuickJS } = await import("quickjs-wasi");
  const wasm = await WebAssembly.compile(readFileSync(require.resolve("quickjs-wasi/quickjs.wasm")));
  return {
    name: "the same module in V8",
    async fresh(code) {
      const vm = await QuickJS.create({ wasm, memoryLimit: 128 << 20 });
      const handle = vm.evalCode(body(code));
      const value = vm.dump(handle);
      vm.dispose();
      return value;
    },
  };
}

export async function peers() {
  const found = [];
  for (const make of [quickjsEmscripten, quickjsInWorker, isolatedVm, nodeWorker, sameModuleInV8]) {
    try {
      found.push(await make());
    } catch (error) {
      console.error(`# ${make.name} is left out: ${String(error.message).split("\n")[0]}`);
    }
  }
  return found;
}
