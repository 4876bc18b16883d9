// The gateway under test: alisio mcp over HTTP with one upstream server, everything.mjs, and before it a proxy that adds
// the bearer token, since the suites send none. Host and Origin pass as the suite wrote them, but for the port.
import http from "node:http";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { makeHome, root } from "../integration/lib.mjs";
import { startHttpHost } from "../integration/sdk_host.mjs";

function proxyTo(port, authorization) {
  const own = () => server.address().port;
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization };
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
  const args = ["--expose", "upstream", "--plain-names", "--allow-mcp", "--mcp-config", config];
  const host = await startHttpHost(home, args);
  const proxy = await proxyTo(host.port, host.headers.Authorization);
  return {
    url: `http://127.0.0.1:${proxy.address().port}/mcp`,
    said: host.said,
    async stop() {
      proxy.closeAllConnections();
      proxy.close();
      await host.stop();
      home.remove();
    },
  };
}
