// Dashboards of the real binary in Chromium: what the chips count, files, the page's policy, keyboard, screen readers, paper.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { makeHome, runJson, until } from "../integration/lib.mjs";
import { axe, launch, skip, tab } from "./browser.mjs";
import { AGES, CHANNELS, REGIONS, csv, evil, evilRows, expected, plans, rows } from "./data.mjs";

let home, browser;
const made = {}; // name: what dashboard_generate said
const place = (name) => join(home.workspace, `${name}.html`);
const url = (name) => pathToFileURL(place(name)).href;
function make(name, file, ...more) {
  const r = runJson(home, ["dashboard", file, "-o", place(name), ...more]);
  assert.equal(r.status, 0, r.stdout + r.stderr);
  assert.ok(existsSync(place(name)));
  made[name] = r.json.structured;
}
before(async () => {
  if (skip) return;
  const files = { "furniture.csv": csv(rows), "evil.csv": csv(evilRows) };
  for (const [name, plan] of Object.entries(plans)) files[`${name}.json`] = JSON.stringify(plan);
  home = makeHome(files);
  for (const name of Object.keys(plans)) make(name, "furniture.csv", "--spec", `${name}.json`);
  make("bare", "furniture.csv", "--no-rows");
  make("evil", "evil.csv");
  browser = await launch();
});
after(async () => {
  await browser?.close();
  home?.remove();
});
async function open(name, options) {
  const page = await tab(browser, { offline: true, ...options });
  await page.goto(url(name));
  return page;
}
// A page that is opened once for all tests, as it was at first.
const opened = {};
async function at(name, colorScheme = "light") {
  const page = (opened[name] ??= await open(name));
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme, media: null });
  const ink = colorScheme === "dark" ? "#e3ebe7" : "#14201d";
  await page.waitForFunction((i) => window.alisioCharts.every((s) => s.theme.ink === i), ink);
  await page.evaluate(() => {
    document.querySelector(".ac-clear")?.click();
    document.querySelectorAll("details").forEach((d) => { d.open = false; });
  });
  return page;
}
const quiet = (page) => assert.deepEqual([page.asked, page.complaints, page.violations], [[], [], []]);

// --- what a page shows ---

// Runs in the page: each widget as {kpi} or {series, table}, with the chart's own numbers beside its table's.
function shown() {
  const number = (cell) => (cell.dataset.acV === undefined ? null : Number(cell.dataset.acV));
  const out = {};
  for (const box of document.querySelectorAll("[data-ac-widget]")) {
    const it = (out[box.dataset.acWidget] = { fixed: !!box.querySelector(".ac-fixed") && box.querySelector(".ac-fixed").checkVisibility() });
    const table = box.querySelector("table"), value = box.querySelector(".ac-value");
    if (value) {
      const span = value.querySelector("[data-ac-v]");
      Object.assign(it, { kpi: span ? number(span) : null, text: value.textContent, title: span?.title });
      continue;
    }
    if (!table) continue;
    const head = [...table.tHead.rows[0].cells].slice(1).map((c) => c.textContent);
    const body = [...table.tBodies[0].rows].filter((r) => !r.querySelector(".ac-nothing"));
    it.heads = head;
    it.table = body.map((r) => [r.cells[0].dataset.acK ?? r.cells[0].textContent, ...[...r.cells].slice(1).map(number)]);
    const state = window.alisioCharts.find((s) => box.contains(s.figure));
    it.chart = state?.spec.series.map((s) => s.values);
    it.drawn = state && state.chart ? state.chart.data.datasets.map((s) => s.data) : null;
    it.summary = state?.canvas.getAttribute("aria-label");
    it.classes = [...table.querySelectorAll("td")].map((td) => td.className);
  }
  return out;
}
const near = (a, b) => a === b || (a !== null && b !== null && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)));
function assertSame(got, want, what) {
  assert.equal(got?.length, want.length, `${what}: ${JSON.stringify(got)} for ${JSON.stringify(want)}`);
  want.forEach((row, i) => {
    assert.equal(got[i][0], row[0], `${what}, row ${i}: ${JSON.stringify(got)} for ${JSON.stringify(want)}`);
    row.slice(1).forEach((v, k) => assert.ok(near(got[i][k + 1], v), `${what}, ${row[0]}: ${got[i][k + 1]} for ${v}`));
  });
}
function assertWidgets(seen, plan, list, on) {
  for (const w of plan.widgets) {
    const it = seen[w.id], what = `${w.type} ${w.aggregation} of ${w.metric}${w.dimension ? ` by ${w.dimension}` : ""}${w.by ? ` and ${w.by}` : ""}`;
    assert.ok(it, `${what} is on the page`);
    const again = !["scatter", "table"].includes(w.type) && w.aggregation !== "count_distinct";
    assert.equal(it.fixed, on && !again, what);
    if (w.type === "scatter" || w.type === "table" || (on && !again)) continue;
    if (w.type === "kpi") {
      assert.ok(near(it.kpi, expected(w, list)), `${what}: ${it.kpi} for ${expected(w, list)}`);
      continue;
    }
    const share = w.type === "pie" || w.type === "donut";
    const want = expected(w, list, w.by ? it.heads : [null]);
    assertSame(it.table.map((r) => (share ? r.slice(0, 2) : r)), want, what);
    if (share) it.table.forEach((r) => assert.ok(near(r[2], r[1] / want.reduce((a, x) => a + x[1], 0)), what));
    if (w.type === "heat" || !want.length) continue;
    const empty = it.chart.flat().every((v) => v === null);
    assert.deepEqual(it.drawn, empty ? null : it.chart, what);
    it.chart.forEach((values, s) => assert.deepEqual(values, it.table.map((r) => r[s + 1]), what));
  }
}

// --- chips ---

const CHOICES = [
  { region: ["North"] },
  { region: ["South", "East"], channel: ["Web"] },
  { region: [""] },
  { channel: ["Shop", "Partner"], age_group: ["<18", "65+"] },
  { region: ["North", "West", "East"], channel: ["Web"], age_group: ["25-34"] },
  { region: REGIONS, channel: CHANNELS },
  { region: ["West"], channel: ["Shop"] }, // nobody
];
// What the other plan's widgets are tried with: several values, none, and nobody; all of it with ALISIO_SOAK.
const FEW = [1, 2, 6].map((i) => CHOICES[i]);
const CHIPS = ["region", "channel", "age_group"];
async function choose(page, choice) {
  await page.evaluate(([columns, wanted]) => {
    const click = (selector, text) => [...document.querySelectorAll(selector)].find((b) => b.textContent === text).click();
    document.querySelector(".ac-clear").click();
    for (const [column, values] of Object.entries(wanted)) for (const v of values) click(`fieldset[data-ac-chip="${columns.indexOf(column)}"] button`, v || "(none)");
  }, [CHIPS, choice]);
}
const kept = (choice) => rows.filter((r) => Object.entries(choice).every(([c, values]) => values.includes(r[c])));
const counted = new Set();

for (const name of Object.keys(plans))
  test(`chips count every widget again as the rows say: ${name}`, { skip }, async () => {
    const page = await at(name), { plan } = made[name];
    assert.deepEqual(plan.chips, CHIPS);
    assert.equal(await page.locator(".ac-state").textContent(), `${rows.length.toLocaleString("en")} rows`);
    assertWidgets(await page.evaluate(shown), plan, rows, false);
    for (const choice of name === "first" || process.env.ALISIO_SOAK ? CHOICES : FEW) {
      await choose(page, choice);
      const list = kept(choice);
      assert.equal(await page.locator(".ac-state").textContent(), `${list.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`);
      assertWidgets(await page.evaluate(shown), plan, list, true);
    }
    for (const w of plan.widgets) counted.add(w.type).add(w.aggregation);
    quiet(page);
  });

test("the two plans have every kind of widget and every aggregation", { skip }, () => {
  const all = ["kpi", "line", "area", "bar", "hbar", "pie", "donut", "heat", "scatter", "table", "sum", "avg", "min", "max", "count", "count_distinct", "ratio"];
  assert.deepEqual(all.filter((x) => !counted.has(x)), []);
});

test("Clear puts everything back as it came, to the letter", { skip }, async () => {
  const page = await at("first");
  const all = () => page.evaluate(() => [document.querySelector("main").innerText, [...document.querySelectorAll("canvas")].map((c) => c.getAttribute("aria-label")), [...document.querySelectorAll("[data-ac-v], [data-ac-k]")].map((c) => [c.dataset.acV, c.dataset.acK, c.className, c.textContent]), window.alisioCharts.map((s) => JSON.stringify(s.spec))]);
  await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  const first = await all();
  await choose(page, CHOICES[1]);
  assert.notDeepEqual(await all(), first);
  await page.locator(".ac-clear").click();
  assert.deepEqual(await all(), first);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("data-ac-value")), "0");
  quiet(page);
});

test("a choice that no row fits says so everywhere, and slices keep their colours", { skip }, async () => {
  const page = await at("first");
  await choose(page, CHOICES.at(-1));
  const seen = await page.evaluate(shown), by = (type) => made.first.plan.widgets.filter((w) => w.type === type).map((w) => seen[w.id]);
  for (const it of by("kpi").filter((k) => !k.fixed)) assert.ok(it.kpi === 0 || it.text === "—");
  assert.ok(by("hbar").every((it) => it.drawn === null && it.summary.endsWith(": No data")));
  assert.ok((await page.locator("figure .ac-none:visible").count()) >= 3);
  assert.ok((await page.locator(".ac-heat .ac-nothing").textContent()) === "No data");
  const colours = () => page.evaluate(() => { const s = window.alisioCharts.find((x) => x.spec.kind === "donut"); return Object.fromEntries(s.spec.labels.map((l, i) => [l, s.chart.data.datasets[0].backgroundColor[i]])); });
  await page.locator(".ac-clear").click();
  const before = await colours();
  await choose(page, { channel: ["Shop"] });
  assert.deepEqual(await colours(), { Shop: before.Shop });
  quiet(page);
});

// --- files ---

function parse(text) { // RFC 4180, strictly: CRLF, quotes doubled
  const out = [[""]];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const row = out.at(-1), c = text[i];
    if (quoted) {
      if (c !== '"') row[row.length - 1] += c;
      else if (text[i + 1] === '"') row[row.length - 1] += text[++i];
      else quoted = false;
    } else if (c === '"') {
      assert.equal(row.at(-1), "");
      quoted = true;
    } else if (c === ",") row.push("");
    else if (c === "\r") {
      assert.equal(text[++i], "\n");
      out.push([""]);
    } else {
      assert.notEqual(c, "\n");
      row[row.length - 1] += c;
    }
  }
  assert.deepEqual(out.pop(), [""]);
  return out;
}
const RUNS = /^[\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const plain = (text) => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text);
async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

test("each widget's file has what the widget shows now, number by number", { skip }, async () => {
  const page = await at("first");
  await choose(page, CHOICES[1]);
  const seen = await page.evaluate(shown), { plan } = made.first;
  for (const w of plan.widgets.filter((x) => x.type !== "kpi")) {
    const { name, bytes } = await download(page, page.locator(`[data-ac-widget="${w.id}"] .ac-csv`));
    assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
    assert.equal(name, `Furniture & more - ${w.title.replace(/[%/]/g, " ").replace(/\s+/g, " ").trim()}.csv`);
    const [head, ...body] = parse(bytes.subarray(3).toString());
    if (w.type === "table") {
      assert.equal(body.length, Math.min(w.limit ?? 10, 20));
      for (const [i, r] of body.entries()) {
        assert.equal(r.length, 8);
        assert.match(r[0], /^202[34]-\d\d-\d\d$/);
        assert.equal(Number(r[6]), rows[i].sales);
      }
      continue;
    }
    assert.deepEqual(head.slice(1), seen[w.id].heads);
    assert.deepEqual(body.map((r) => r.slice(1)), seen[w.id].table.map((r) => r.slice(1).map((v) => (v === null ? "" : String(v)))));
    body.forEach((r, i) => assert.equal(r[0], RUNS.test(seen[w.id].table[i][0]) ? `'${seen[w.id].table[i][0]}` : seen[w.id].table[i][0]));
  }
  const kpis = await download(page, page.locator(".ac-csv[data-ac-csv=kpis]"));
  const want = plan.widgets.filter((x) => x.type === "kpi").map((w) => [w.title, String(seen[w.id].kpi)]);
  assert.deepEqual(parse(kpis.bytes.subarray(3).toString()), [["Figure", "Value"], ...want]);
  const some = await download(page, page.locator("[data-ac-widget] .ac-csv").nth(1));
  assert.match(some.bytes.toString(), /\r\n'?/);
  quiet(page);
});

test("a scatter's file has every point, and no text that a spreadsheet runs is in any file", { skip }, async () => {
  const page = await at("second"), scatter = made.second.plan.widgets.find((w) => w.type === "scatter");
  const points = parse((await download(page, page.locator(`[data-ac-widget="${scatter.id}"] .ac-csv`))).bytes.subarray(3).toString());
  assert.equal(points.length, 501);
  assert.ok(points.slice(1).every(([x, y]) => rows.some((r) => String(r.sales) === x && String(r.profit) === y)));
  const hostile = await at("evil");
  let guarded = 0;
  const files = [];
  for (const button of await hostile.locator(".ac-csv").all()) {
    const file = await download(hostile, button);
    assert.doesNotMatch(file.name, /[\\/:*?"<>|\u202a-\u202e]/);
    files.push(file.bytes.toString());
    for (const cell of parse(file.bytes.subarray(3).toString()).flat()) {
      assert.ok(plain(cell) || !RUNS.test(cell), cell.slice(0, 80));
      if (cell.startsWith("'") && RUNS.test(cell.slice(1))) guarded++;
    }
  }
  assert.ok(guarded > 0);
  assert.ok(!files.some((text) => /;\s*[=@]/.test(text)), "behind a semicolon, either");
  assert.ok(files.some((text) => text.includes("x;'=1+1")));
  quiet(page);
});

// --- the policy, the viewer, hostile data ---

test("hostile names and values stay text, and the policy would have stopped them", { skip }, async () => {
  const page = await at("evil");
  const seen = await page.evaluate(() => ({
    text: document.querySelector("main").textContent, pwned: window.pwned, scripts: document.querySelectorAll("script:not([type])").length,
    strange: document.querySelectorAll("main :is(img, svg, script:not([type]), style, iframe, object, a, form)").length, styles: document.querySelectorAll("style").length,
    handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on|^style$/i.test(a.name) && !e.matches("canvas, .ac-plot"))).length,
    failed: document.querySelectorAll(".ac-failed").length, charts: window.alisioCharts.length, visible: document.querySelector("main").checkVisibility(),
  }));
  assert.deepEqual([seen.pwned, seen.strange, seen.failed, seen.visible], [undefined, 0, 0, true]);
  assert.deepEqual([seen.scripts, seen.styles, seen.handlers], [3, 3, 0]);
  assert.ok(seen.charts >= 2);
  assert.ok(evil.filter((e) => seen.text.includes(e)).length >= 5, "the values are there as text");
  const chips = await page.locator(".ac-filters fieldset button").all();
  assert.ok(chips.length >= 3);
  for (const chip of chips) {
    await chip.click();
    if (chips.indexOf(chip) % 4 === 3) await page.locator(".ac-clear").click();
  }
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  quiet(page);
  // What the page's own policy does with markup that would get in all the same.
  const broken = await open("evil");
  await broken.evaluate(() => {
    const box = document.body.appendChild(document.createElement("div"));
    box.innerHTML = '<img src=x onerror="window.pwned=9"><p style="color:red" onclick="window.pwned=10"></p><iframe srcdoc="<script>top.pwned=11</script>"></iframe>';
    box.querySelector("p").click();
    const script = box.appendChild(document.createElement("script"));
    script.textContent = "window.pwned = 12";
    fetch("http://x.test/").catch(() => {});
  });
  const directives = ["script-src-attr", "style-src-attr", "script-src-elem", "connect-src", "img-src"];
  await until("the policy's complaints", () => directives.every((d) => broken.violations.some((v) => v.startsWith(d))));
  assert.equal(await broken.evaluate(() => window.pwned), undefined);
  assert.deepEqual(broken.asked, []);
});

// What the viewer sends with every artifact; no downloads in its frame.
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; sandbox allow-scripts";
async function framed(name) {
  const page = await tab(browser);
  await page.route("http://**/*", (route) => {
    const at = route.request().url();
    if (at === "http://app.test/") return route.fulfill({ contentType: "text/html", body: '<!doctype html><title>t</title><iframe sandbox="allow-scripts" src="http://app.test/view/x.html" width="1000" height="800"></iframe>' });
    if (at === "http://app.test/view/x.html") return route.fulfill({ contentType: "text/html; charset=utf-8", headers: { "content-security-policy": POLICY }, body: readFileSync(place(name), "utf8") });
    if (!at.endsWith("favicon.ico")) page.asked.push(at);
    return route.abort();
  });
  await page.goto("http://app.test/");
  return [page, page.frames().find((f) => f.url().endsWith("x.html"))];
}

test("in the viewer's sandbox chips work, and a file is text to be copied", { skip }, async () => {
  const [page, frame] = await framed("first");
  assert.equal(await frame.evaluate(() => self.origin), "null");
  await frame.locator("fieldset button").first().click();
  assert.match(await frame.locator(".ac-state").textContent(), / of /);
  const widget = made.first.plan.widgets.find((w) => w.type === "hbar"), button = frame.locator(`[data-ac-widget="${widget.id}"] .ac-csv`);
  await button.click();
  const panel = frame.locator("dialog.ac-panel");
  assert.ok(await panel.isVisible());
  const [text, selected, active] = await panel.locator("textarea").evaluate((t) => [t.value, t.value.slice(t.selectionStart, t.selectionEnd), document.activeElement === t]);
  assert.equal(selected, text);
  assert.ok(active);
  assert.equal(parse(text.replaceAll("\n", "\r\n")).length, (await frame.evaluate(shown))[widget.id].table.length + 1);
  await frame.evaluate(axe);
  const { violations } = await frame.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  assert.deepEqual(violations.map((v) => [v.id, v.nodes[0].html.slice(0, 200)]), []);
  await panel.getByRole("button", { name: "Copy" }).click();
  assert.equal(await panel.locator("[role=status]").textContent(), "Copied");
  await page.keyboard.press("Escape");
  assert.equal(await panel.count(), 0);
  assert.ok(await button.evaluate((b) => b === document.activeElement), "the focus is back where it was");
  await button.click();
  await panel.getByRole("button", { name: "Close" }).click();
  assert.equal(await panel.count(), 0);
  assert.deepEqual([page.asked, page.complaints], [[], []]);
});

test("without rows there are no chips, no raw rows, and files all the same", { skip }, async () => {
  const page = await at("bare");
  assert.equal(await page.locator(".ac-filters:visible").count(), 0);
  assert.equal(await page.locator(".ac-rows, [data-ac-chart=scatter]").count(), 0);
  const cube = JSON.parse(await page.locator("#ac-cube").textContent());
  assert.deepEqual(Object.keys(cube).sort(), ["v", "words"]);
  assert.ok((await download(page, page.locator(".ac-csv").first())).bytes.length > 10);
  quiet(page);
});

// --- people ---

for (const colorScheme of ["light", "dark"])
  test(`axe finds nothing to say, ${colorScheme}: as it comes, filtered, all open`, { skip }, async () => {
    for (const name of colorScheme === "light" ? ["first", "second", "evil"] : ["first"]) {
      const page = await at(name, colorScheme);
      // axe is put in by the driver, past the page's policy; the page's own scripts stay under it. What the dark scheme changes is the contrast.
      if (colorScheme === "light") await page.evaluate(axe);
      for (const chips of name === "first" && colorScheme === "light" ? [0, 2] : [2]) {
        await page.evaluate((all) => document.querySelectorAll("details").forEach((d, i) => { d.open = i < 2 || all || d.className === "ac-made"; }), chips === 0);
        for (let i = 0; i < chips; i++) await page.locator(".ac-filters fieldset button").nth(i * 5).click();
        // The colours are the same wherever they are: of the first as it comes, and of pressed chips on the second.
        const pale = colorScheme === "light" && !process.env.ALISIO_SOAK && (name === "evil" || (name === "first" && chips > 0));
        const rules = colorScheme === "dark" ? { runOnly: ["color-contrast"] } : pale ? { rules: { "color-contrast": { enabled: false } } } : {};
        const { violations, passes } = await page.evaluate((r) => window.axe.run(document, { resultTypes: ["violations"], ...r }), rules);
        assert.ok(passes.length > (colorScheme === "dark" ? 0 : 15));
        assert.deepEqual(violations.map((v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]), [], `${name}, ${chips} chips`);
      }
    }
  });

test("the keyboard reaches chips, files, tables and statements, in reading order, and shows where it is", { skip }, async () => {
  const page = await open("first");
  const stops = [];
  for (let i = 0; i < 200; i++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const e = document.activeElement, style = getComputedStyle(e);
      return e === document.body ? null : { what: e.className || e.tagName + (e.hasAttribute("aria-pressed") ? " chip" : ""), ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, top: e.getBoundingClientRect().top + scrollY };
    });
    if (!stop) break;
    stops.push(stop);
  }
  const count = (what) => stops.filter((s) => s.what.includes(what)).length;
  assert.equal(count("chip"), await page.locator("fieldset button").count());
  assert.equal(count("ac-csv"), await page.locator(".ac-csv").count());
  assert.equal(count("SUMMARY"), await page.locator("summary").count());
  assert.deepEqual(stops.filter((s) => !s.ring), []);
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  assert.match(await page.locator(".ac-state").textContent(), / of /);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-pressed")), "true");
  assert.ok(await page.locator(".ac-state[role=status]").isVisible());
  assert.ok(await page.locator(".ac-clear").isEnabled());
  quiet(page);
});

test("no page scrolls sideways at 360, 1,280 and 2,560 pixels, also with all open; statements wrap", { skip }, async () => {
  for (const name of ["first", "second", "evil"]) {
    const page = await at(name);
    for (const width of name === "evil" ? [360] : [360, 1280, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      for (const open of [false, true]) {
        await page.evaluate((o) => document.querySelectorAll("details").forEach((d) => { d.open = o; }), open);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${name} at ${width}${open ? ", open" : ""}: ${wide}`);
      }
      const cut = await page.evaluate(() => [...document.querySelectorAll(".ac-made pre, .ac-value, .ac-filters button")].filter((e) => e.scrollWidth > e.clientWidth + 1 && !e.closest("fieldset")).map((e) => e.textContent.slice(0, 60)));
      assert.deepEqual(cut, [], `${name} at ${width}`);
    }
  }
});

test("on paper there are no buttons and no statements, the choice is there in words, charts are whole", { skip }, async () => {
  const page = await at("first", "dark");
  await choose(page, CHOICES[1]);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  const seen = await page.evaluate(() => ({
    buttons: [...document.querySelectorAll("button, fieldset, .ac-made")].filter((b) => b.checkVisibility()).length,
    chosen: document.querySelector(".ac-chosen").checkVisibility() && document.querySelector(".ac-chosen").textContent, state: document.querySelector(".ac-state").checkVisibility(),
    ink: window.alisioCharts.every((s) => s.theme.ink === "#14201d"), cut: window.alisioCharts.filter((s) => s.canvas.getBoundingClientRect().width > s.figure.getBoundingClientRect().width + 1).length,
  }));
  assert.deepEqual(seen, { buttons: 0, chosen: "Region: East, South · Channel: Web", state: true, ink: true, cut: 0 });
  await page.emulateMedia({ media: null });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length;
  assert.ok(pages >= 2 && pages <= 6, `${pages} pages`);
  quiet(page);
});

test("without scripts the numbers, tables and statements are there, and nothing that does nothing", { skip }, async () => {
  const page = await open("first", { javaScriptEnabled: false });
  assert.equal(await page.locator("button:visible").count(), 0);
  const value = await page.locator(".ac-value").first().textContent();
  assert.match(value, /\d/);
  await page.locator(".ac-made > summary").click();
  assert.ok(await page.locator(".ac-made code").first().isVisible());
  await page.locator("figure summary").first().click();
  assert.ok(await page.locator("figure table").first().isVisible());
});

test("nothing moves", { skip }, async () => {
  const page = await at("first");
  assert.deepEqual(await page.evaluate(() => [...new Set([...document.querySelectorAll("main, main *")].map((e) => getComputedStyle(e).transitionDuration + getComputedStyle(e).animationName))]), ["0snone"]);
  assert.ok(await page.evaluate(() => window.alisioCharts.every((s) => s.chart.options.animation === false)));
});
