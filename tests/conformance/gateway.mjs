// The gateway under test: alisio mcp over HTTP with one upstream server, everything.mjs, and before it a proxy that adds
// the bearer token, since the suites send none. Host and Origin pass through the proxy as the suite wrote them, but for
// the proxy's own port.
import { spawn } from "node:child_process";
import http from "node:http";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { alisio, makeHome, root, soon } from "../integration/lib.mjs";

const TOKEN = "a-token-for-the-suites-0123456789abcdef";

// The address that alisio mcp --http tells on standard error.
function address(host) {
  let said = "";
  return new Promise((resolve, reject) => {
    host.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said) ?? [];
      if (port) resolve({ port: Number(port), said: () => said });
    });
    host.on("exit", (code) => reject(new Error(`alisio mcp ended with ${code}: ${said}`)));
  });
}

function proxyTo(port) {
  const own = () => server.address().port;
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${TOKEN}` };
    for (const name of ["host", "origin"])
      if (headers[name]) headers[name] = headers[name].replace(new RegExp(`:${own()}$`), `:${port}`);
    const forward = http.request(
      { host: "127.0.0.1", port, method: request.method, path: request.url, headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        response.flushHeaders();
        answer.on("error", () => response.destroy());
        answer.pipe(response);
      },
    );
    forward.on("error", () => response.destroy());
    response.on("close", () => forward.destroy());
    request.pipe(forward);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

export async function startGateway(era) {
  const home = makeHome();
  const config = join(home.dir, "servers.json");
  const fixture = join(root, "tests/fixtures/everything.mjs");
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [fixture, era] } } }),
  );
  const args = ["mcp", "--http", "0", "--expose", "upstream", "--plain-names", "--allow-mcp", "--mcp-config", config];
  const host = spawn(alisio, args, {
    cwd: home.workspace,
    env: { ...home.env, ALISIO_MCP_TOKEN: TOKEN },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exit = new Promise((resolve) => host.on("exit", resolve));
  const { port, said } = await soon(address(host), "the address of the gateway");
  const proxy = await proxyTo(port);
  return {
    url: `http://127.0.0.1:${proxy.address().port}/mcp`,
    pid: host.pid,
    said,
    async stop() {
      proxy.closeAllConnections();
      proxy.close();
      host.kill("SIGTERM");
      await soon(exit, "the end of the gateway");
      home.remove();
    },
  };
}
