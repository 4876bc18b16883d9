// alisio mcp over HTTP on a free port, for tests: its address, its token, and its end.
import { spawn } from "node:child_process";
import { alisio, soon } from "./lib.mjs";

export const TOKEN = "a-token-for-tests-0123456789abcdef";

// The address is told on standard error.
function address(host) {
  let said = "";
  return new Promise((resolve, reject) => {
    host.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said) ?? [];
      if (port) resolve({ port: Number(port), said: () => said });
    });
    host.on("exit", (code, signal) => reject(new Error(`alisio mcp ended with ${code ?? signal}: ${said}`)));
  });
}

export async function startHttpHost(home, args = [], env = {}) {
  const host = spawn(alisio, ["mcp", "--http", "0", ...args], {
    cwd: home.workspace,
    env: { ...home.env, ALISIO_MCP_TOKEN: TOKEN, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = new Promise((resolve) => host.on("exit", (code, signal) => resolve({ code, signal })));
  const { port, said } = await soon(address(host), "the address of alisio mcp");
  return {
    port,
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    pid: host.pid,
    said,
    headers: { Authorization: `Bearer ${TOKEN}` },
    async stop() {
      host.kill("SIGTERM");
      return soon(exit, "the end of alisio mcp");
    },
  };
}
