// A browser for the tests of pages: tabs that refuse the network and keep what the page complains of.
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const find = (...names) => {
  for (const dir of ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)]) {
    for (const name of names) {
      try {
        accessSync(join(dir, name), constants.X_OK);
        return join(dir, name);
      } catch { /* not there */ }
    }
  }
  return null;
};
const chromium = find("chromium", "chromium-browser", "google-chrome");
const library = join(root, "node_modules/playwright-core/index.mjs");
export const skip = !chromium ? "no Chromium is here" : !existsSync(library) ? "no playwright-core in node_modules" : false;
export const axe = skip ? "" : readFileSync(join(root, "node_modules/axe-core/axe.min.js"), "utf8");

export async function launch() {
  const { chromium: driver } = await import(library);
  const args = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
  return driver.launch({ executablePath: chromium, args: args.split(" ") });
}

// asked: requests other than for files; complaints: errors and warnings of the console; violations: of the page's policy.
export async function tab(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  Object.assign(page, { asked: [], complaints: [], violations: [] });
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.complaints.push(m.text()));
  page.on("pageerror", (e) => page.complaints.push(e.message));
  await context.exposeFunction("acViolated", (what) => page.violations.push(what));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => window.acViolated(`${e.effectiveDirective} ${e.blockedURI}`));
  });
  await page.route("**/*", (route) => {
    if (route.request().url().startsWith("file:")) return route.continue();
    page.asked.push(route.request().url());
    return route.abort();
  });
  return page;
}
