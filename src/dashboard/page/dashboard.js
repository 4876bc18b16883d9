/*
 * A dashboard in the browser: chips that count again, CSV of each widget. Put after charts-boot.js, which draws.
 *
 * The page's contract (page.c writes it; this file and dashboard.css are its readers):
 *
 *   <main class="ac-dash" data-ac-locale="es-CO">
 *     <header> h1, p.ac-sub
 *     <section class="ac-filters" aria-label="…" hidden>   shown by this script when there is a cube
 *       <fieldset data-ac-chip="0"><legend>NAME</legend>
 *         <button type="button" aria-pressed="false" data-ac-value="0">TEXT</button> …
 *       <button type="button" class="ac-clear" disabled>  <p class="ac-state" role="status">
 *     <dl class="ac-kpis"> <div class="ac-kpi" data-ac-widget="ID"><dt>TITLE <dd class="ac-value">
 *         <span data-ac-v="NUMBER" title="EXACT TEXT">TEXT</span> <dd class="ac-extra">
 *     <p class="ac-tools"> <button type="button" class="ac-csv" data-ac-csv="kpis">    all key figures, as one file
 *     <div class="ac-grid"> <section class="ac-card" data-ac-widget="ID" aria-labelledby="t-ID"><h2 id="t-ID">
 *         a figure (charts-boot.js), or <div class="ac-scroll"><table class="ac-table …"> (heat: class ac-heat, table: ac-rows)
 *         <p class="ac-note">  <p class="ac-fixed" hidden>"not filtered"
 *         <p class="ac-tools"><button type="button" class="ac-csv" aria-label="CSV: TITLE">
 *     <details class="ac-made"> each widget: h3, pre > code (its SQL)
 *     <footer>
 *   <script type="application/json" id="ac-cube">CUBE      inert, escaped as a figure's SPEC is; always there: without
 *                                                          chips it has v and words alone
 *
 *   Tables, a figure's and others: thead of th scope=col (numbers: class ac-num), each row of tbody a th scope=row (not in
 *   ac-rows), then cells. A cell with a number is td.ac-num data-ac-v="NUMBER" (all its digits; %.17g or less), one without is
 *   td.ac-num "—". Where the text of a cell is not what a file should have (a month's name, a cut text), data-ac-k="KEY" has that.
 *   A heat table's rows are the labels, its columns the series; this script gives its cells ac-h0 … ac-h9 (lowest to highest).
 *   A wide card: class ac-wide (detail tables, long axes, heat tables). Notes: p.ac-note.ac-whole holds for all rows and is
 *   hidden while a chip is on (rows left out); p.ac-note.ac-top ("Top 10 of 34") is written again.
 *
 *   Text that may run against the page's direction stands in a <bdi> within its element (in pages from right to left all text
 *   but numbers). A kpi of a million and more has, in its span, a short form (aria-hidden) and the exact one (ac-hidden); dd
 *   .ac-extra says the period of what counts the last one.
 *
 *   CUBE: v 1 · words: the texts that this script writes, in the page's language ({0} … are gaps):
 *       rows "{0} of {1} rows" · all "{0} rows" · other "Other" · top "Top {0} of {1}" · more "and {0} more" · none "No data" ·
 *       fixed "Not filtered" · copyHint "No file can be saved from here. Copy the text:" · copy "Copy" · copied "Copied" ·
 *       close "Close" · figure "Figure" · value "Value" · kpis "Key figures" · file (the page's title)
 *     chips [{values [text]}]        in the order of the fieldsets; "" is "none"
 *     rows "…"                       cells, of n: how many rows of the data each combination of chips has
 *     widgets [{id, agg, fmt, unit?, compact?, order, time?, limit, other?, keys [text], labels [text], series [text],
 *       cells "…"}]
 *       those that count again. keys: in their order, natural where they have one; labels: as shown (the same length).
 *       Shown are the `limit` labels (0: all) of the largest value; with two dimensions and what does not add up (avg, min, max,
 *       ratio) of the most rows. order "value": they stand in that order (ties: by key), "key": in the order of the keys. time
 *       true: all keys are shown, those without rows as gaps. other true: what is beyond the limit is summed up as one more,
 *       unless there is a number below zero.
 *       series: names as in the SPEC or the heads of the heat table, those that are not shown, too; [] without a second
 *       dimension. fmt: options of Intl.NumberFormat, as in SPEC; compact true: from a million on in compact form, the exact one as title.
 *       cells: words by commas, for each cell  "+step" where it is not 1, then by agg  sum: sum · avg: n, sum · count: n · min:
 *       min · max: max · ratio: sum, over; with series min, max and ratio have n before them. step is how much larger the cell's number is than the one before (at first -1); it is
 *       ((((chip0 * N1 + chip1) * N2 + …) * L + label) * S + series)  with N the values of each chip, L keys.length or 1, S
 *       series.length or 1; of rows it is that of the chips alone. Cells without numbers are not there.
 *
 * Nothing here makes markup of text, evaluates text, or asks the network.
 */
(function () {
  "use strict";
  var main = document.querySelector("main.ac-dash");
  if (!main) return;
  var charts = window.alisioCharts || [];
  var WORDS = { // where a page brings none along
    rows: "{0} of {1} rows", all: "{0} rows", other: "Other", top: "Top {0} of {1}", more: "and {0} more", none: "No data",
    fixed: "Not filtered", copyHint: "No file can be saved from here. Copy the text:", copy: "Copy", copied: "Copied",
    close: "Close", figure: "Figure", value: "Value", kpis: "Key figures", file: ""
  };
  var MOST_CELLS = 100000; // of a widget: labels × series

  function fill(text, gaps) { return text.replace(/\{(\d)\}/g, function (all, i) { return i in gaps ? gaps[i] : all; }); }
  function make(name, kind, text) {
    var element = document.createElement(name);
    if (kind) element.className = kind;
    if (text !== undefined) element.textContent = text;
    return element;
  }
  function each(list, action) { Array.prototype.forEach.call(list, action); }
  function formatter(options, unit) {
    var format, tag = main.getAttribute("data-ac-locale") || undefined;
    try {
      format = new Intl.NumberFormat(tag, options);
    } catch (e) { // an option or a language that this browser does not know
      format = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
    }
    return function (v) {
      if (v === null) return "—";
      return format.format(v) + (unit ? (unit === "%" ? "" : "\u00a0") + unit : "");
    };
  }
  function readCube() {
    var script = document.getElementById("ac-cube"), cube = null;
    try {
      cube = script && JSON.parse(script.textContent);
    } catch (e) { console.warn("alisio: the page's numbers cannot be read: " + e.message); }
    if (!cube || cube.v !== 1) cube = { v: 1 };
    Object.keys(cube.words || {}).forEach(function (id) { WORDS[id] = cube.words[id]; });
    return cube;
  }

  // --- the numbers behind the page ---
  // Cells as the page has them: words by commas, for each cell "+step" where it is not 1, then `width` numbers. radix: values
  // of each place.
  function unpack(text, radix, width) {
    var cells = [], words = text ? text.split(",") : [], number = -1, step = 1;
    for (var i = 0; i < words.length; i += width) {
      if (words[i].charAt(0) === "+") step = Number(words[i++]);
      var at = [], rest = (number += step);
      for (var place = radix.length - 1; place >= 0; place--) {
        at[place] = rest % radix[place];
        rest = Math.floor(rest / radix[place]);
      }
      cells.push({ at: at, v: words.slice(i, i + width).map(Number) });
      step = 1;
    }
    return cells;
  }
  var WIDTH = { sum: 1, avg: 2, count: 1, min: 1, max: 1, ratio: 2 }, ADDS = { sum: true, count: true };
  // Sums carry what rounding lost along, as SQLite's do.
  function Sum() { this.s = 0; this.lost = 0; }
  Sum.prototype.add = function (v) {
    var t = this.s + v;
    this.lost += Math.abs(this.s) >= Math.abs(v) ? this.s - t + v : v - t + this.s;
    this.s = t;
  };
  Sum.prototype.get = function () { return isFinite(this.lost) ? this.s + this.lost : this.s; };
  function Group() { this.met = false; this.n = 0; this.least = Infinity; this.most = -Infinity; this.a = new Sum(); this.b = new Sum(); }
  Group.prototype.take = function (v, n) {
    this.met = true;
    this.n += n;
    this.least = Math.min(this.least, v[0]);
    this.most = Math.max(this.most, v[0]);
    this.a.add(v[0]);
    if (v.length > 1) this.b.add(v[1]);
  };
  // null: nothing was there to count.
  Group.prototype.value = function (agg) {
    var a = this.a.get(), b = this.b.get(), v;
    if (!this.met) return agg === "count0" ? 0 : null;
    if (agg === "min") v = this.least;
    else if (agg === "max") v = this.most;
    else if (agg === "avg") v = a ? b / a : null;
    else if (agg === "ratio") v = b ? a / b : null;
    else v = a;
    // Of what was added in parts, the last digits are chance.
    return v === null || !isFinite(v) ? null : Number.isInteger(v) ? v : Number(v.toPrecision(15));
  };
  // By code points, as the data was sorted: UTF-16 sorts emoji before other signs.
  function byPoints(a, b) {
    for (var i = 0; i < a.length && i < b.length; i++) {
      var x = a.charCodeAt(i), y = b.charCodeAt(i);
      if (x === y) continue;
      if (x >= 0xd800 && y >= 0xd800) return (x >= 0xe000 ? x - 0x2800 : x) - (y >= 0xe000 ? y - 0x2800 : y);
      return x - y;
    }
    return a.length - b.length;
  }
  function allowed(cell, on) {
    return on.every(function (set, c) { return !set || set[cell.at[c]]; });
  }

  // The groups of a widget under the chips: [label * S + series], and each label's own.
  function gather(w, on) {
    var n = w.S * w.L, groups = [], labels = [], all = new Group();
    for (var i = 0; i < n; i++) groups.push(null);
    w.list.forEach(function (cell) {
      if (!allowed(cell, on)) return;
      var label = cell.at[w.chips], at = label * w.S + cell.at[w.chips + 1];
      (groups[at] = groups[at] || new Group()).take(cell.v, cell.n);
      (labels[label] = labels[label] || new Group()).take(cell.v, cell.n);
      all.take(cell.v, cell.n);
    });
    return { groups: groups, labels: labels, all: all };
  }
  function isNumber(text) { return /^-?\d+(\.\d+)?$/.test(text); }
  function byKey(w, a, b) {
    var x = isNumber(w.keys[a]), y = isNumber(w.keys[b]);
    return x && y ? a - b : x || y ? y - x : byPoints(w.keys[a], w.keys[b]);
  }
  // Which labels a widget shows, in their order, and which ones are beyond its limit.
  function choose(w, g, positive) {
    var list = [], size = [], other = !!w.other;
    w.keys.forEach(function (_, i) {
      size[i] = !g.labels[i] ? null : w.series.length && !ADDS[w.agg] ? g.labels[i].n : g.labels[i].value(w.agg);
      if (!w.time && !g.labels[i] || positive && !(size[i] > 0)) return;
      list.push(i);
      if (!(size[i] >= 0)) other = false;
    });
    if (w.time) return { shown: list, rest: [] };
    list.sort(function (a, b) {
      if (size[a] === null || size[b] === null) return (size[a] === null) - (size[b] === null) || byKey(w, a, b);
      return size[b] - size[a] || byKey(w, a, b);
    });
    var shown = list.slice(0, w.limit || list.length), rest = list.slice(shown.length);
    if (w.order === "key") shown.sort(function (a, b) { return a - b; });
    return { shown: shown, rest: other ? rest : [], of: list.length };
  }
  // A widget's table: labels and keys in order, values by series; other: the number of the label that sums up the rest.
  function count(w, on, positive) {
    var g = gather(w, on), pick = choose(w, g, positive), out = { labels: [], keys: [], from: pick.shown, values: [], of: pick.of || pick.shown.length };
    pick.shown.forEach(function (i) {
      out.labels.push(w.labels[i]);
      out.keys.push(w.keys[i]);
    });
    out.values = w.columns.map(function (s) {
      return pick.shown.map(function (i) {
        var group = g.groups[i * w.S + s];
        return group ? group.value(w.agg) : null;
      });
    });
    var rest = new Group();
    pick.rest.forEach(function (i) { rest.take([g.labels[i].a.get()], 0); });
    if (w.columns.length > 1 || !(rest.value(w.agg) > 0)) return out;
    out.other = pick.shown.length;
    out.labels.push(WORDS.other);
    out.keys.push(WORDS.other);
    out.values[0].push(rest.value(w.agg));
    return out;
  }

  // --- one widget on the page: each has show(on), on null: as the page came ---
  function keep(element) { // what stood there at first, to be put back as it was
    var nodes = Array.prototype.slice.call(element.childNodes);
    return function () {
      element.textContent = "";
      nodes.forEach(function (node) { element.appendChild(node); });
    };
  }
  function compact(w) { return formatter({ notation: "compact", maximumFractionDigits: 1 }, w.unit); }
  function kpi(w, box) {
    var value = box.querySelector(".ac-value"), back = keep(value), text = formatter(w.fmt, w.unit), brief = compact(w);
    var agg = w.agg === "count" ? "count0" : w.agg;
    return function (on) {
      if (!on) return back();
      var v = gather(w, on).all.value(agg), span = make("span", "", text(v));
      value.textContent = "";
      value.appendChild(span);
      if (v === null) return;
      span.setAttribute("data-ac-v", String(v));
      if (!w.compact || Math.abs(v) < 1e6) return;
      span.title = text(v);
      span.textContent = "";
      span.appendChild(make("span", "", brief(v))).setAttribute("aria-hidden", "true");
      span.appendChild(make("span", "ac-hidden", text(v)));
    };
  }
  // The colour of each key, so that it keeps it: those that were shown at first have the first ones.
  function hues(w) {
    var of = {}, next = 0;
    count(w, [], true).from.forEach(function (i) { of[i] = next++; });
    return function (list) {
      return list.map(function (i) {
        if (!(i in of)) of[i] = next++;
        return of[i] % 8;
      });
    };
  }
  function chart(w, state) {
    var base = state.spec, round = base.kind === "pie" || base.kind === "donut", colours = round ? hues(w) : null;
    var body = state.figure.querySelector("details tbody"), back = body && keep(body), said = state.canvas.getAttribute("aria-label");
    var text = formatter(w.fmt, w.unit), brief = compact(w);
    // In the middle of a donut: the whole, and what else stands there.
    function center(values) {
      var sum = values.reduce(function (a, v) { return a + v; }, 0), rest = base.center.indexOf("\n");
      return (sum >= 1e6 ? brief : text)(sum) + (rest < 0 ? "" : base.center.slice(rest));
    }
    return function (on) {
      if (!on) {
        charts.update(state.figure, base, WORDS);
        if (back) back();
        state.canvas.setAttribute("aria-label", said);
        return null;
      }
      var t = count(w, on, round), spec = Object.assign({}, base, { labels: t.labels, keys: t.keys, other: t.other });
      spec.series = t.values.map(function (values, s) { return { name: base.series[s].name, values: values }; });
      if (round) spec.hues = colours(t.from).concat(0);
      if (round && base.center) spec.center = center(t.values[0]);
      charts.update(state.figure, spec, WORDS);
      return t;
    };
  }
  function heat(w, table) {
    var body = table.tBodies[0], back = keep(body), text = formatter(w.fmt, w.unit);
    return function (on) {
      if (!on) {
        back();
        shade(table);
        return null;
      }
      var t = count(w, on, false);
      body.textContent = "";
      t.labels.forEach(function (label, i) {
        var row = body.appendChild(make("tr")), head = row.appendChild(make("th"));
        head.scope = "row";
        head.appendChild(make("bdi", "", label));
        if (t.keys[i] !== label) head.setAttribute("data-ac-k", t.keys[i]);
        t.values.forEach(function (values) {
          var cell = row.appendChild(make("td", "ac-num", text(values[i])));
          if (values[i] !== null) cell.setAttribute("data-ac-v", String(values[i]));
        });
      });
      if (!t.labels.length) body.appendChild(make("tr")).appendChild(make("td", "ac-nothing", WORDS.none)).colSpan = w.columns.length + 1;
      shade(table);
      return t;
    };
  }
  // The cells of a heat table by their size, and a scale below it.
  function shade(table) {
    var cells = [], low = Infinity, high = -Infinity, least, most, scroll = table.parentNode, scale = scroll.nextElementSibling;
    each(table.querySelectorAll("td[data-ac-v]"), function (cell) {
      var v = Number(cell.getAttribute("data-ac-v"));
      cells.push([cell, v]);
      if (v < low) { low = v; least = cell; }
      if (v > high) { high = v; most = cell; }
    });
    cells.forEach(function (pair) {
      var step = high > low ? Math.min(9, Math.floor((pair[1] - low) / (high - low) * 10)) : 4;
      pair[0].className = "ac-num ac-h" + step;
    });
    if (scale && scale.classList.contains("ac-scale")) scale.parentNode.removeChild(scale);
    if (!cells.length || high === low) return;
    scale = make("p", "ac-scale");
    scale.setAttribute("aria-hidden", "true");
    scale.appendChild(make("span", "", least.textContent));
    for (var i = 0; i < 10; i++) scale.appendChild(make("i", "ac-h" + i));
    scale.appendChild(make("span", "", most.textContent));
    scroll.parentNode.insertBefore(scale, scroll.nextSibling);
  }
  function byId(id) {
    return Array.prototype.filter.call(main.querySelectorAll("[data-ac-widget]"), function (e) { return e.getAttribute("data-ac-widget") === id; })[0];
  }
  // For each series that is shown its number in the cube. Names may be alike when they were cut: then the order decides.
  function columnsOf(w, names) {
    var left = w.series.slice(), found = [];
    names.forEach(function (name) {
      var i = w.series.length ? left.indexOf(name) : 0;
      if (i < 0) return;
      left[i] = null;
      found.push(i);
    });
    return found;
  }
  // Numbers of a cell; with series, those that do not say how many rows they are of have that before them.
  function readCells(w, radix) {
    var weighed = w.series.length > 0 && !ADDS[w.agg] && w.agg !== "avg";
    return unpack(w.cells, radix, WIDTH[w.agg] + (weighed ? 1 : 0)).map(function (cell) {
      cell.n = cell.v[0];
      if (weighed) cell.v = cell.v.slice(1);
      return cell;
    });
  }
  // The part of the page that a widget of the cube counts, or null.
  function bind(w, radix) {
    var box = byId(w.id), table = box && box.querySelector("table.ac-heat"), show = null;
    w.keys = w.keys || [];
    w.labels = w.labels || w.keys;
    w.series = w.series || [];
    w.L = w.keys.length || 1;
    w.S = w.series.length || 1;
    if (!box || !WIDTH[w.agg] || w.L * w.S > MOST_CELLS) return null;
    w.chips = radix.length;
    w.list = readCells(w, radix.concat(w.L, w.S));
    var state = charts.filter(function (s) { return box.contains(s.figure); })[0];
    var names = table ? Array.prototype.slice.call(table.tHead.rows[0].cells, 1).map(function (c) { return c.textContent; })
      : state ? state.spec.series.map(function (s) { return s.name; }) : [""];
    w.columns = columnsOf(w, names);
    if (box.classList.contains("ac-kpi")) show = kpi(w, box);
    else if (w.columns.length !== names.length) return null;
    else if (table) show = heat(w, table);
    else if (state) show = chart(w, state);
    var top = box.querySelector(".ac-top");
    return show && { box: box, show: show, top: top, said: top && top.textContent };
  }

  // --- chips ---
  function chipsOf(cube) {
    var filters = main.querySelector(".ac-filters"), clear = filters.querySelector(".ac-clear"), state = filters.querySelector(".ac-state");
    var radix = cube.chips.map(function (c) { return c.values.length; });
    var rows = unpack(cube.rows || [], radix, 1), widgets = [], number = formatter({ maximumFractionDigits: 0 });
    var chosen = filters.appendChild(make("p", "ac-chosen")); // for paper, where the buttons are not
    (cube.widgets || []).forEach(function (w) {
      var bound = bind(w, radix);
      if (bound) widgets.push(bound);
    });
    var total = sumOf(rows, []);
    function say(text) { // a number before a word turns round where the page runs from right to left
      state.textContent = "";
      state.appendChild(make("bdi", "", text));
    }
    function read() {
      var on = cube.chips.map(function () { return null; }), names = [];
      each(filters.querySelectorAll("fieldset"), function (set) {
        var c = Number(set.getAttribute("data-ac-chip")), texts = [];
        each(set.querySelectorAll("button"), function (button) {
          if (button.getAttribute("aria-pressed") !== "true") return;
          (on[c] = on[c] || {})[button.getAttribute("data-ac-value")] = true;
          texts.push(button.textContent);
        });
        if (texts.length) names.push(set.querySelector("legend").textContent + ": " + texts.join(", "));
      });
      chosen.textContent = names.join(" · ");
      return names.length ? on : null;
    }
    function apply() {
      var on = read(), kept = on ? sumOf(rows, on) : total;
      main.classList.toggle("ac-filtered", !!on);
      clear.disabled = !on;
      say(on ? fill(WORDS.rows, [number(kept), number(total)]) : fill(WORDS.all, [number(total)]));
      widgets.forEach(function (w) {
        var t = w.show(on);
        if (!w.top) return;
        w.top.textContent = t ? fill(WORDS.top, [number(t.from.length), number(t.of)]) : w.said;
        w.top.hidden = !!t && t.from.length >= t.of;
      });
      markFixed(widgets, !!on);
    }
    filters.addEventListener("click", function (event) {
      var button = event.target.closest("button");
      if (!button) return;
      if (button === clear) {
        each(filters.querySelectorAll("[aria-pressed=true]"), function (b) { b.setAttribute("aria-pressed", "false"); });
        filters.querySelector("fieldset button").focus(); // a button that is off holds no focus
      } else if (button.hasAttribute("aria-pressed")) {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      } else return;
      apply();
    });
    say(fill(WORDS.all, [number(total)]));
    filters.hidden = false;
  }
  function sumOf(rows, on) {
    return rows.reduce(function (n, cell) { return n + (allowed(cell, on) ? cell.v[0] : 0); }, 0);
  }
  // What is not counted again says so; what holds for all rows alone is out of sight.
  function markFixed(widgets, on) {
    var counted = widgets.map(function (w) { return w.box; });
    each(main.querySelectorAll("[data-ac-widget]"), function (box) {
      var mark = box.querySelector(".ac-fixed"), fixed = counted.indexOf(box) < 0;
      if (!mark && fixed && on) {
        var figure = box.classList.contains("ac-kpi"); // has little room
        mark = box.appendChild(make(figure ? "dd" : "p", "ac-fixed", figure ? WORDS.fixed.split(":")[0] : WORDS.fixed));
      }
      if (mark) mark.hidden = !(fixed && on);
      each(box.querySelectorAll(".ac-whole"), function (note) { note.hidden = on && !fixed; });
    });
  }

  // --- files ---
  // A text that a spreadsheet would run gets an apostrophe; a number never, though it may be text here (a longitude).
  function csvText(text) {
    text = String(text);
    if (!/^-\d+(\.\d+)?$/.test(text) && /^[\t\r]|^[\s\u0000-\u001f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text)) text = "'" + text;
    // Where the separator is ";" the text behind one is a cell, too.
    text = text.replace(/([;\t\r\n][ \t\r\n]*)(?![+\-]\d)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'");
    return /[",;\r\n\t]|^\s|\s$/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  function csvCell(cell) {
    var v = cell.getAttribute("data-ac-v"), key = cell.getAttribute("data-ac-k");
    if (v !== null && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(v)) return v;
    if (cell.classList.contains("ac-num") && cell.tagName === "TD" && key === null && v === null && cell.textContent === "—") return "";
    return csvText(key !== null ? key : cell.textContent);
  }
  function csvTable(table) {
    return Array.prototype.filter.call(table.rows, function (row) { return !row.querySelector(".ac-nothing"); }).map(function (row) {
      return Array.prototype.map.call(row.cells, csvCell).join(",");
    });
  }
  function csvPoints(state) { // the table under a chart has the first points only
    var heads = state.figure.querySelectorAll("thead th"), spec = state.spec, rows = [];
    rows.push([heads[heads.length - 2], heads[heads.length - 1]].map(function (th) { return th ? csvText(th.textContent) : ""; }).join(","));
    spec.series.forEach(function (s) { s.points.forEach(function (p) { rows.push(p[0] + "," + p[1]); }); });
    return rows;
  }
  function csvKpis() {
    var rows = [[WORDS.figure, WORDS.value].map(csvText).join(",")];
    each(main.querySelectorAll(".ac-kpi"), function (box) {
      var number = box.querySelector(".ac-value [data-ac-v]"), value = box.querySelector(".ac-value").textContent;
      rows.push(csvText(box.querySelector("dt").textContent) + "," + (number ? csvCell(number) : value === "—" ? "" : csvText(value)));
    });
    return rows;
  }
  function csvOf(button) {
    if (button.getAttribute("data-ac-csv") === "kpis") return { name: WORDS.kpis, rows: csvKpis() };
    var box = button.closest("[data-ac-widget]"), state = charts.filter(function (s) { return box.contains(s.figure); })[0];
    var table = box.querySelector("table"), scatter = state && state.spec.kind === "scatter";
    return { name: box.querySelector("h2").textContent, rows: scatter ? csvPoints(state) : table ? csvTable(table) : [] };
  }
  function fileName(title) {
    var name = (WORDS.file ? WORDS.file + " - " : "") + title;
    // eslint-disable-next-line no-control-regex
    name = name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\\/:*?"<>|%]+/g, " ").replace(/\s+/g, " ").slice(0, 100);
    name = name.replace(/[\ud800-\udbff]$/, "").replace(/^[. ]+|[. ]+$/g, "");
    return (name || "data") + ".csv";
  }
  function save(name, text) {
    var url = URL.createObjectURL(new Blob(["\ufeff" + text], { type: "text/csv;charset=utf-8" })), link = make("a");
    link.href = url;
    link.download = name;
    link.hidden = true;
    document.body.appendChild(link);
    link.click();
    document.body.removeChild(link);
    setTimeout(function () { URL.revokeObjectURL(url); }, 60000);
  }
  // A viewer's frame may save nothing: the text is there to be copied.
  function offer(name, text) {
    var box = make("dialog", "ac-panel"), title = box.appendChild(make("h2")), area = make("textarea"), row = make("p", "ac-tools");
    var copy = row.appendChild(make("button", "", WORDS.copy)), close = row.appendChild(make("button", "", WORDS.close)), said = make("span", "ac-copied");
    title.id = "ac-panel-title";
    title.appendChild(make("bdi", "", name));
    box.setAttribute("aria-labelledby", title.id);
    box.appendChild(make("p", "", WORDS.copyHint));
    copy.type = close.type = "button";
    area.readOnly = true;
    area.rows = 12;
    area.wrap = "off";
    area.setAttribute("aria-labelledby", title.id);
    area.value = text;
    box.appendChild(area);
    said.setAttribute("role", "status");
    row.appendChild(said);
    box.appendChild(row);
    copy.addEventListener("click", function () {
      area.focus();
      area.select();
      var done = false;
      try { done = document.execCommand("copy"); } catch (e) { /* the text stays selected */ }
      said.textContent = done ? WORDS.copied : "";
    });
    close.addEventListener("click", function () { box.close(); });
    box.addEventListener("close", function () { box.parentNode.removeChild(box); });
    document.body.appendChild(box);
    box.showModal();
    area.focus();
    area.select();
  }
  main.addEventListener("click", function (event) {
    var button = event.target.closest("button.ac-csv");
    if (!button) return;
    var csv = csvOf(button), text = csv.rows.join("\r\n") + "\r\n";
    if (window.top !== window) offer(csv.name, text);
    else save(fileName(csv.name), text);
  });

  var cube = readCube();
  each(main.querySelectorAll("table.ac-heat"), shade);
  if (cube.chips && cube.chips.length && main.querySelector(".ac-filters")) chipsOf(cube);
})();
