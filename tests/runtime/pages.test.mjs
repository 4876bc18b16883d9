// Pages of alisio_runtime in Chromium: as a file and in the viewer's sandbox, light and dark, narrow, wide and on paper.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
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
const python = find("python3");
const library = join(root, "node_modules/playwright-core/index.mjs");
const skip = !chromium ? "no Chromium is here" : !python ? "no python3 is here" : !existsSync(library) ? "no playwright-core in node_modules" : false;
const axe = skip ? "" : readFileSync(join(root, "node_modules/axe-core/axe.min.js"), "utf8");
const PAGES = ["dashboard", "report", "hostile"];
// What the viewer sends with every artifact.
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; sandbox allow-scripts allow-downloads";

let dir, browser;
const opened = [];
before(async () => {
  if (skip) return;
  dir = mkdtempSync(join(tmpdir(), "alisio-pages-"));
  const made = spawnSync(python, ["-B", join(here, "pages.py"), dir], { encoding: "utf8", env: { ...process.env, PYTHONPATH: join(root, "py") } });
  assert.equal(made.status, 0, made.stderr);
  const { chromium: driver } = await import(library);
  const args = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
  browser = await driver.launch({ executablePath: chromium, args: args.split(" ") });
});
after(async () => {
  await browser?.close();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

// A tab whose every request but the page itself is refused and counted, and whose complaints are kept.
async function tab(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.asked = [];
  page.complaints = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.complaints.push(m.text()));
  page.on("pageerror", (e) => page.complaints.push(e.message));
  await page.route("**/*", (route) => {
    if (route.request().url().startsWith("file:")) return route.continue();
    page.asked.push(route.request().url());
    return route.abort();
  });
  opened.push(context);
  return page;
}
// A page as a file, offline, opened once for all tests; as it was at first.
const shown = {};
async function at(name, colorScheme = "light") {
  if (!shown[name]) {
    shown[name] = await tab({ offline: true });
    await shown[name].goto(file(name));
  }
  const page = shown[name];
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme });
  const ink = colorScheme === "dark" ? "#e3ebe7" : "#14201d";
  await page.waitForFunction((i) => (window.alisioCharts ?? []).every((s) => s.theme.ink === i), ink);
  return page;
}
const file = (name) => pathToFileURL(join(dir, `${name}.html`)).href;

// Runs in the page: how much is painted on each canvas, looked at through a small copy.
function painted() {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [240, 160];
  const eye = copy.getContext("2d", { willReadFrequently: true });
  return [...document.querySelectorAll("canvas")].map((canvas) => {
    eye.clearRect(0, 0, 240, 160);
    eye.drawImage(canvas, 0, 0, 240, 160);
    const { data } = eye.getImageData(0, 0, 240, 160);
    const colours = new Set();
    let dots = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 200) continue;
      dots++;
      colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    }
    const box = canvas.getBoundingClientRect(), around = canvas.parentNode.getBoundingClientRect();
    return { dots, colours: colours.size, fits: box.width <= around.width + 1 && box.height <= around.height + 1, width: box.width };
  });
}
function assertPainted(canvases, n) {
  assert.equal(canvases.length, n);
  for (const c of canvases) assert.ok(c.dots > 100 && c.colours > 3 && c.fits && c.width > 200, JSON.stringify(c));
}

test("a dashboard opens as a file: every chart is painted, nothing is asked of the network", { skip }, async () => {
  const page = await at("dashboard");
  assertPainted(await page.evaluate(painted), 11);
  assert.equal(await page.locator(".ac-failed").count(), 0);
  await at("dashboard", "dark");
  const dark = await page.evaluate(() => window.alisioCharts.map((s) => [s.theme.ink, s.chart.data.datasets[0].borderColor || "", s.chart.options.color]));
  assert.ok(dark.every(([ink, , colour]) => ink === "#e3ebe7" && colour === ink), JSON.stringify(dark));
  assertPainted(await page.evaluate(painted), 11);
  assert.deepEqual([page.asked, page.complaints], [[], []]);
});

test("it works in the viewer: sandboxed, opaque origin, policy, no network", { skip }, async () => {
  const page = await tab();
  const asked = [];
  await page.route("http://**/*", (route) => {
    const url = route.request().url();
    if (url === "http://app.test/") return route.fulfill({ contentType: "text/html", body: '<!doctype html><title>t</title><iframe sandbox="allow-scripts allow-downloads" src="http://app.test/view/x.html" width="1000" height="800"></iframe>' });
    if (url === "http://app.test/view/x.html") return route.fulfill({ contentType: "text/html; charset=utf-8", headers: { "content-security-policy": POLICY }, body: readFileSync(join(dir, "dashboard.html"), "utf8") });
    asked.push(url);
    return route.abort();
  });
  await page.goto("http://app.test/");
  const frame = page.frames().find((f) => f.url().endsWith("x.html"));
  assert.equal(await frame.evaluate(() => self.origin), "null");
  assertPainted(await frame.evaluate(painted), 11);
  assert.deepEqual([asked.filter((u) => !u.endsWith("favicon.ico")), page.complaints], [[], []]);
});

test("no page scrolls sideways at 360, 1280 and 2560 pixels", { skip }, async () => {
  for (const name of PAGES) {
    const page = await at(name);
    for (const width of [360, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name} at ${width}: ${wide}`);
    }
    if (name === "dashboard") {
      await page.setViewportSize({ width: 360, height: 900 });
      await page.waitForFunction(() => [...document.querySelectorAll("canvas")].every((c) => c.getBoundingClientRect().width <= 330));
      assertPainted(await page.evaluate(painted), 11);
    }
  }
});

for (const colorScheme of ["light", "dark"])
  test(`axe finds nothing to say about the pages, ${colorScheme}, tables open`, { skip }, async () => {
    for (const name of colorScheme === "dark" ? ["dashboard"] : PAGES) {
      const page = await at(name, colorScheme);
      // What the dark scheme changes is the contrast; what hostile text could change is everything else.
      const rules = colorScheme === "dark" ? { runOnly: ["color-contrast"] } : name === "hostile" ? { rules: { "color-contrast": { enabled: false } } } : {};
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
      if (colorScheme === "light") await page.evaluate(axe);
      const { violations, passes } = await page.evaluate((r) => window.axe.run(document, { resultTypes: ["violations"], ...r }), rules);
      assert.ok(passes.length > (colorScheme === "dark" ? 0 : 15));
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = false; }));
      assert.deepEqual(violations.map((v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]), [], name);
    }
  });

test("the keyboard opens each data table and scrolls it, and the cells are as the chart says", { skip }, async () => {
  const page = await tab({ locale: "es-CO" });
  await page.goto(file("dashboard"));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
  await page.keyboard.press("Enter");
  assert.ok(await page.locator("details").first().locator("table").isVisible());
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "ac-scroll");
  const reached = await page.evaluate(() => document.querySelectorAll("details > summary").length);
  assert.equal(reached, 11);
  const cells = await page.locator("[data-ac-chart=line] td").allTextContents();
  assert.ok(cells.includes("1.204"), "numbers without a locale are the viewer's");
  const fixed = await page.locator("[data-ac-chart=bar] td").allTextContents();
  assert.ok(fixed.includes("$120,000"), "and those with one are not");
});

test("a chart is drawn again from other numbers: canvas, table and summary, and what was hidden stays so", { skip }, async () => {
  const page = await tab();
  await page.goto(file("dashboard"));
  const seen = await page.evaluate(() => {
    const of = (kind) => window.alisioCharts.find((s) => s.spec.kind === kind && (kind !== "bar" || s.spec.series.length > 1));
    const rows = (s) => [...s.figure.querySelectorAll("tr")].map((r) => [...r.cells].map((c) => c.textContent));
    const out = {};
    const bar = of("bar"), pie = of("donut") ?? of("pie"), lead = bar.canvas.getAttribute("aria-label").split(":")[0];
    bar.chart.setDatasetVisibility(1, false);
    const next = { ...bar.spec, fmt: {}, unit: undefined, locale: "en", labels: ["<b>A</b>", "B"], keys: ["a", "B"], series: bar.spec.series.map((s, i) => ({ name: s.name, values: [i + 1, null] })) };
    window.alisioCharts.update(bar.figure, next);
    out.bar = [rows(bar), bar.canvas.getAttribute("aria-label") === `${lead}: ${next.series.map((s, i) => `${s.name}, <b>A</b> ${i + 1}`).join("; ")}`, bar.chart.isDatasetVisible(0), bar.chart.isDatasetVisible(1), bar.figure.querySelector("[data-ac-k]").dataset.acK, bar.figure.querySelectorAll("[data-ac-k]").length];
    out.names = bar.spec.series.map((s) => s.name);
    window.alisioCharts.update(pie.figure, { ...pie.spec, fmt: {}, unit: undefined, locale: "en", labels: ["x", "y"], other: undefined, hues: [5, 2], series: [{ name: "", values: [3, 1] }] }, {});
    out.pie = [rows(pie).slice(1), pie.chart.data.datasets[0].backgroundColor.map((c) => pie.theme.colours.indexOf(c))];
    window.alisioCharts.update(pie.figure, { ...pie.spec, labels: [], series: [{ name: "", values: [] }] }, { none: "No data" });
    out.empty = [pie.chart, pie.figure.querySelector(".ac-none").checkVisibility(), pie.canvas.checkVisibility(), pie.canvas.getAttribute("aria-label").endsWith(": No data")];
    window.alisioCharts.update(pie.figure, { ...pie.spec, labels: ["x"], series: [{ name: "", values: [3] }] });
    out.back = [pie.figure.querySelector(".ac-none").checkVisibility(), pie.canvas.checkVisibility(), rows(pie)[1]];
    const wrong = (f, s) => { try { window.alisioCharts.update(f, s); } catch (e) { return e.message; } };
    out.wrong = [wrong(document.body, next), wrong(pie.figure, next), wrong(bar.figure, { ...next, v: 2 })];
    return out;
  });
  const [first, ...other] = seen.names;
  assert.deepEqual(seen.bar[0].map((r) => r.slice(1)), [[first, ...other], ["1", ...other.map((_, i) => String(i + 2))], ["—", ...other.map(() => "—")]]);
  assert.deepEqual(seen.bar.slice(1), [true, true, false, "a", 1]);
  assert.deepEqual(seen.pie, [[["x", "3", "75%"], ["y", "1", "25%"]], [5, 2]]);
  assert.deepEqual(seen.empty, [null, true, false, true]);
  assert.deepEqual(seen.back, [false, true, ["x", "3", "100%"]]);
  assert.deepEqual(seen.wrong, ["that figure has no chart", "a donut stays one", "a chart of version 2"]);
  assert.deepEqual([page.asked, page.complaints], [[], []]);
});

test("paper is light, whole and as wide as paper, and the screen comes back after it", { skip }, async () => {
  const page = await at("dashboard", "dark");
  const before = await page.evaluate(() => window.alisioCharts[0].canvas.width);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const during = await page.evaluate(() => ({ ink: window.alisioCharts[0].theme.ink, ground: getComputedStyle(document.documentElement).getPropertyValue("--ac-sheet").trim() }));
  assert.deepEqual(during, { ink: "#14201d", ground: "#ffffff" });
  assertPainted(await page.evaluate(painted), 11);
  assert.ok(await page.evaluate(() => document.body.getBoundingClientRect().width) <= 700);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal(await page.evaluate(() => window.alisioCharts[0].theme.ink), "#e3ebe7");
  assert.equal(await page.evaluate(() => window.alisioCharts[0].canvas.width), before);
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length;
  assert.ok(pdf.length > 50_000 && pages >= 2 && pages <= 4, `${pdf.length} bytes, ${pages} pages`);
  assert.equal(await page.evaluate(() => document.documentElement.className), "");
});

test("hostile labels, titles and units stay text", { skip }, async () => {
  const page = await at("hostile");
  const seen = await page.evaluate(() => ({
    pwned: window.pwned, images: document.querySelectorAll("img, iframe, object, a").length, scripts: document.querySelectorAll("body script:not([type])").length,
    failed: document.querySelectorAll(".ac-failed").length, charts: window.alisioCharts.length,
    cells: [...document.querySelectorAll("[data-ac-chart=bar] tbody th")].map((c) => c.textContent),
  }));
  assert.deepEqual([seen.pwned, seen.images, seen.scripts, seen.failed, seen.charts], [undefined, 0, 2, 0, 7]);
  assert.ok(seen.cells.includes("<script>window.pwned=1</script>") && seen.cells.some((c) => c.length === 10_000));
  assertPainted(await page.evaluate(painted), 7);
  assert.deepEqual([page.asked, page.complaints], [[], []]);
});

test("a chart that cannot be drawn leaves its table open, and the others are drawn", { skip }, async () => {
  const text = readFileSync(join(dir, "dashboard.html"), "utf8");
  writeFileSync(join(dir, "broken.html"), text.replace('"v":1', '"v":9').replace('"kind":"line"', '"kind":'));
  const page = await tab();
  await page.goto(file("broken"));
  assert.deepEqual(await page.evaluate(() => [window.alisioCharts.length, [...document.querySelectorAll(".ac-failed details")].map((d) => d.open)]), [9, [true, true]]);
  assert.equal(page.complaints.length, 2);
});

test("without scripts the tables are there to be opened, and no empty frame is", { skip }, async () => {
  const page = await tab({ javaScriptEnabled: false });
  await page.goto(file("dashboard"));
  await page.locator("summary").first().click();
  assert.ok(await page.locator("details table").first().isVisible());
  assert.ok(!(await page.locator("canvas").first().isVisible()));
});
