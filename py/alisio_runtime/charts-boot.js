/*
 * Draws the charts of a page when it is reached, and again when a script of the page asks; put after the last chart and
 * after Chart.js 4.
 *
 * The page's contract, which whoever writes pages keeps (this file and charts.css are the only readers):
 *
 *   <figure class="ac-chart" data-ac-chart="KIND">      KIND: pie donut bar hbar line area scatter
 *     <figcaption>                                      optional; text only
 *     <div class="ac-plot"><canvas role="img" aria-label="SUMMARY"></canvas></div>
 *     <p class="ac-note">                               optional
 *     <details class="ac-data"><summary>…</summary>TABLE</details>
 *     <script type="application/json">SPEC            inert (and closed); < > & U+2028 U+2029 written as \uXXXX
 *   </figure>
 *
 *   SPEC: v 1 · kind · height (px) · title, locale, unit (optional) · fmt (options of Intl.NumberFormat)
 *     all but scatter  labels [text] · series [{name, values [number or null]}], 1 to 8
 *     pie, donut       one series, values > 0 · other (index of the slice that sums the rest up) · center (text, lines by \n)
 *                      hues [0 to 7] (optional: the colour of each slice, so that a name keeps its own when the order changes)
 *     the axes         stacked, smooth, valueLabels (booleans) · xTitle, yTitle · other (of bars, as of slices)
 *     scatter          series [{name, points [[x, y]], labels [text]?}] · xFmt
 *   A cell with data-ac-v="NUMBER" is written again with fmt, so that table and chart agree in the viewer's language;
 *   data-ac-f="x" takes xFmt, "share" a percentage.
 *
 *   alisioCharts: what is drawn, [{figure, spec, …}], and
 *   alisioCharts.update(figure, spec, words)   draws a figure again from another SPEC of the same kind; its table and its
 *     summary follow. spec.keys [text] (optional) goes to the row heads as data-ac-k where it differs from the label. A SPEC
 *     without a number shows words.none instead of a chart. words (optional): none "No data" · more "and {0} more". The table
 *     gets a column for each series; a scatter keeps the columns it has. Series hidden by a click stay hidden.
 *
 * Nothing here makes markup of text, evaluates text, or asks the network. A chart that cannot be drawn leaves its table open.
 */
(function () {
  "use strict";
  if (window.alisioCharts) return;
  var shown = (window.alisioCharts = []);
  var printing = false;
  // Around foreign text beside numbers, so that right-to-left names leave the number where it is.
  var isolate = function (text) { return "\u2068" + text + "\u2069"; };
  var cut = function (text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; };
  var ruler = document.createElement("canvas").getContext("2d");
  // As much of the text as is no wider than room, in the given font.
  function fit(text, room, font) {
    ruler.font = font;
    text = cut(text, 200);
    if (ruler.measureText(text).width <= room) return text;
    var low = 0, high = text.length;
    while (low < high) {
      var middle = (low + high + 1) >> 1;
      if (ruler.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
      else high = middle - 1;
    }
    return text.slice(0, low).trimEnd() + "…";
  }

  function formatter(spec, options, unit) {
    var format = null;
    [[spec.locale, options], [undefined, options], [undefined, { maximumFractionDigits: 2 }]].some(function (pair) {
      try {
        format = new Intl.NumberFormat(pair[0] || undefined, pair[1]);
      } catch (e) { /* an option or a language that this browser does not know */ }
      return format !== null;
    });
    return function (value) {
      if (value === null || value === undefined || !isFinite(value)) return "—";
      return format.format(value) + (unit ? (unit === "%" ? "" : "\u00a0") + unit : "");
    };
  }
  // For axes and narrow bars: 120K for 120,000.
  function short(spec, options, largest, unit) {
    var plain = { minimumFractionDigits: 0 };
    if (largest >= 10000) plain = { notation: "compact", minimumFractionDigits: 0, maximumFractionDigits: 1 };
    return formatter(spec, Object.assign({}, options, plain), unit);
  }
  // Whole numbers get no ticks between them.
  function isWhole(options) { return options.maximumFractionDigits === 0 && options.style !== "percent"; }

  function theme(figure) {
    var style = getComputedStyle(figure);
    var get = function (name) { return style.getPropertyValue("--ac-" + name).trim(); };
    var colours = [];
    for (var i = 1; i <= 8; i++) colours.push(get(String(i)));
    return {
      colours: colours, other: get("other"), ink: get("ink"), soft: get("soft"), grid: get("grid"), edge: get("edge"),
      sheet: get("sheet"), font: style.fontFamily
    };
  }
  function rgb(hex) { return [1, 3, 5].map(function (i) { return parseInt(hex.slice(i, i + 2), 16); }); }
  function alpha(hex, a) { return "rgba(" + rgb(hex).join(",") + "," + a + ")"; }
  function onto(hex) { // black or white, whichever is easier to read there
    var l = rgb(hex).map(function (c) { c /= 255; return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4); });
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2] > 0.19 ? "#0b1211" : "#ffffff";
  }

  var MARKS = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded", "cross"];
  var DASHES = [[], [], [], [], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4]];

  function values(spec) {
    var all = [];
    spec.series.forEach(function (s) {
      (s.points || s.values).forEach(function (v) { all.push(Array.isArray(v) ? v[1] : v); });
    });
    return all.filter(function (v) { return v !== null; });
  }
  // The largest number that an axis has to show: of a stack, its height.
  function reach(spec) {
    if (!spec.stacked) return Math.max.apply(null, values(spec).map(Math.abs));
    return Math.max.apply(null, spec.labels.map(function (_, i) {
      return spec.series.reduce(function (sum, s) { return sum + Math.abs(s.values[i] || 0); }, 0);
    }));
  }

  // --- what is written on the canvas beside Chart.js' own ---
  function free(taken, box) {
    var hit = taken.some(function (t) { return box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3]; });
    if (!hit) taken.push(box);
    return !hit;
  }
  // halo: the colour of the ground, drawn around the letters where they may lie on a neighbour's bar.
  function write(ctx, text, x, y, colour, align, halo, taken) {
    var w = ctx.measureText(text).width, left = align === "left" ? x : align === "right" ? x - w : x - w / 2;
    if (!align) left = Math.max(1, Math.min(left, ctx.canvas.clientWidth - w - 1));
    if (taken && !free(taken, [left - 1, y - 7, left + w + 1, y + 7])) return;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    if (halo) {
      ctx.strokeStyle = halo;
      ctx.lineWidth = 4;
      ctx.lineJoin = "round";
      ctx.strokeText(text, left, y);
    }
    ctx.fillStyle = colour;
    ctx.fillText(text, left, y);
  }
  function barLabels(state) {
    var flat = state.spec.kind === "hbar", stacked = state.spec.stacked;
    return {
      id: "acBarLabels",
      afterDatasetsDraw: function (chart) {
        var ctx = chart.ctx, t = state.theme, taken = [];
        ctx.save();
        chart.data.datasets.forEach(function (set, s) {
          if (!chart.isDatasetVisible(s)) return;
          ctx.font = "600 12px " + t.font;
          chart.getDatasetMeta(s).data.forEach(function (bar, i) {
            var v = set.data[i];
            if (v === null || v === undefined) return;
            var size = Math.abs(flat ? bar.x - bar.base : bar.y - bar.base);
            var long = state.text(v), brief = state.tick(v);
            if (stacked) { // within the part, if it fits
              var room = flat ? size : bar.width, high = flat ? bar.height : size;
              var text = ctx.measureText(long).width + 8 <= room ? long : brief;
              if (high < 16 || ctx.measureText(text).width + 6 > room) return;
              write(ctx, text, flat ? (bar.x + bar.base) / 2 : bar.x, flat ? bar.y : (bar.y + bar.base) / 2, onto(t.colours[s]));
            } else if (flat) {
              var whole = state.barText(v), end = fit(whole, chart.width - bar.x - 8, ctx.font);
              write(ctx, v < 0 ? whole : end, bar.x + (v < 0 ? -6 : 6), bar.y, t.ink, v < 0 ? "right" : "left", t.sheet, taken);
            } else {
              var step = chart.chartArea.width / Math.max(1, set.data.length) / chart.data.datasets.length;
              var fits = ctx.measureText(long).width <= Math.max(bar.width, step * (chart.data.datasets.length > 1 ? 0.8 : 1)) + 4;
              write(ctx, fits ? long : brief, bar.x, bar.y + (v < 0 ? 10 : -10), t.ink, null, t.sheet, taken);
            }
          });
        });
        ctx.restore();
      }
    };
  }
  function sliceLabels(state) {
    return {
      id: "acSliceLabels",
      afterDatasetsDraw: function (chart) {
        var ctx = chart.ctx, t = state.theme, set = chart.data.datasets[0];
        var sum = set.data.reduce(function (a, v, i) { return a + (chart.getDataVisibility(i) ? v : 0); }, 0);
        ctx.save();
        ctx.font = "600 12px " + t.font;
        chart.getDatasetMeta(0).data.forEach(function (arc, i) {
          if (!chart.getDataVisibility(i)) return;
          var text = state.spec.fmt.style === "percent" ? state.text(set.data[i]) : state.share(set.data[i] / sum);
          var angle = (arc.startAngle + arc.endAngle) / 2, r = arc.innerRadius + (arc.outerRadius - arc.innerRadius) * (arc.innerRadius ? 0.5 : 0.64);
          var w = ctx.measureText(text).width, across = Math.min(arc.endAngle - arc.startAngle, Math.PI) * r;
          if (across < w + 6 && across < 26 || across < 18 || (arc.innerRadius && arc.outerRadius - arc.innerRadius < w + 4)) return;
          write(ctx, text, arc.x + Math.cos(angle) * r, arc.y + Math.sin(angle) * r, onto(set.backgroundColor[i]));
        });
        if (state.spec.center) {
          var lines = state.spec.center.split("\n").slice(0, 3), first = chart.getDatasetMeta(0).data[0];
          var y = first.y - (lines.length - 1) * 9, room = first.innerRadius * 1.7;
          lines.forEach(function (line, i) {
            var px = i ? 12 : 24;
            ctx.font = (i ? "400 " : "600 ") + px + "px " + t.font;
            while (ctx.measureText(line).width > room && px > 10) ctx.font = (i ? "400 " : "600 ") + --px + "px " + t.font;
            write(ctx, fit(line, room, ctx.font), first.x, y, i ? t.soft : t.ink);
            y += i ? 15 : 21;
          });
        }
        ctx.restore();
      }
    };
  }

  // --- from a spec to what Chart.js takes ---
  function datasets(state) {
    var spec = state.spec, t = state.theme;
    if (spec.kind === "pie" || spec.kind === "donut")
      return [{
        data: spec.series[0].values,
        backgroundColor: spec.labels.map(function (_, i) { return i === spec.other ? t.other : t.colours[(spec.hues ? spec.hues[i] : i) % 8]; }),
        borderColor: t.sheet, borderWidth: spec.labels.length > 1 ? 2 : 0, hoverOffset: 4
      }];
    // What sums up the rest is no bar like the others.
    var rest = function (colour) {
      if (spec.other === undefined || spec.series.length > 1) return colour;
      return spec.labels.map(function (_, i) { return i === spec.other ? t.other : colour; });
    };
    return spec.series.map(function (s, i) {
      var colour = t.colours[i], set = { label: cut(s.name, 60), data: s.values };
      if (spec.kind === "bar" || spec.kind === "hbar")
        return Object.assign(set, {
          backgroundColor: rest(colour), hoverBackgroundColor: rest(colour), borderRadius: spec.stacked ? 0 : 2, maxBarThickness: 56,
          borderColor: t.sheet, borderWidth: spec.stacked ? 1 : 0, categoryPercentage: spec.series.length > 1 ? 0.76 : 0.7,
          barPercentage: spec.series.length > 1 && !spec.stacked ? 0.94 : 1
        });
      if (spec.kind === "scatter")
        return Object.assign(set, {
          data: s.points.map(function (p) { return { x: p[0], y: p[1] }; }), pointStyle: MARKS[i], pointRadius: 4,
          pointHoverRadius: 6, clip: 8, backgroundColor: alpha(colour, 0.7), borderColor: colour, borderWidth: i > 3 ? 2 : 1
        });
      var few = s.values.length <= 24;
      var lonely = s.values.map(function (v, k) { // between two gaps there is no line: the point has to be seen
        var before = k > 0 ? s.values[k - 1] : null, after = k + 1 < s.values.length ? s.values[k + 1] : null;
        return v !== null && (few || before === null && after === null) ? 3 : 0;
      });
      return Object.assign(set, {
        borderColor: colour, backgroundColor: spec.kind === "area" ? alpha(colour, spec.stacked ? 0.6 : 0.16) : colour,
        clip: 8, fill: spec.kind === "area" ? (spec.stacked && i ? "-1" : "origin") : false, borderWidth: 2, borderDash: DASHES[i],
        pointStyle: MARKS[i], pointRadius: lonely, pointHoverRadius: 5, pointBackgroundColor: colour, pointBorderColor: colour,
        cubicInterpolationMode: spec.smooth ? "monotone" : "default", tension: 0, spanGaps: false
      });
    });
  }
  function axisTitle(text, t, room) {
    return { display: !!text, text: text ? fit(text, room, "12px " + t.font) : "", color: t.soft, font: { size: 12 }, padding: 4 };
  }
  function scales(state) {
    var spec = state.spec, t = state.theme, flat = spec.kind === "hbar", bars = flat || spec.kind === "bar";
    if (spec.kind === "pie" || spec.kind === "donut") return {};
    var narrow = state.figure.clientWidth < 420, across = state.figure.clientWidth * 0.7, down = spec.height * 0.6;
    var numbers = function (title, text, whole, room) {
      return {
        type: "linear", border: { display: false },
        grid: { drawTicks: false, color: function (c) { return c.tick && c.tick.value === 0 ? t.edge : t.grid; } },
        ticks: {
          color: t.soft, padding: 8, maxTicksLimit: narrow ? 5 : 7, maxRotation: 0, precision: whole ? 0 : undefined,
          callback: function (v) { return text(v); }
        },
        title: axisTitle(title, t, room)
      };
    };
    var measure = numbers((flat ? spec.xTitle : spec.yTitle) || (state.longUnit ? spec.unit : null), state.tick, isWhole(spec.fmt),
      flat ? across : down);
    if (spec.kind === "scatter") return { x: numbers(spec.xTitle, state.xTick, isWhole(spec.xFmt || {}), across), y: measure };
    var all = values(spec), low = Math.min.apply(null, all), high = Math.max.apply(null, all);
    measure.stacked = !!spec.stacked;
    // Bars and areas stand on zero. A line may leave it, when its changes are small beside its height.
    measure.beginAtZero = bars || spec.kind === "area" || low <= 0 || low < high * 0.6;
    if (spec.valueLabels && !spec.stacked && !flat) measure.grace = "8%";
    else if (!measure.beginAtZero) measure.grace = "10%";
    var longest = spec.labels.reduce(function (most, name) { return Math.max(most, name.length); }, 0);
    var names = {
      type: "category", stacked: !!spec.stacked, grid: { display: false }, border: { display: false },
      ticks: {
        color: flat ? t.ink : t.soft, padding: 6, autoSkip: spec.labels.length > (flat ? 40 : bars ? 12 : 0), autoSkipPadding: bars ? 6 : 14,
        maxRotation: bars && longest > 5 ? 40 : 0,
        callback: function (v) {
          var name = this.getLabelForValue(v);
          return isolate(flat ? fit(name, roomBeside(state), "12px " + t.font) : cut(name, narrow ? 12 : 22));
        }
      },
      title: axisTitle(flat ? spec.yTitle : spec.xTitle, t, flat ? down : across)
    };
    return flat ? { x: measure, y: names } : { x: names, y: measure };
  }
  function legend(state) {
    var spec = state.spec, t = state.theme, round = spec.kind === "pie" || spec.kind === "donut";
    var wide = state.figure.clientWidth >= 460, font = "13px " + t.font;
    var room = wide && round ? state.figure.clientWidth * 0.42 : state.figure.clientWidth - 60;
    var entry = function (name, value) { // the value is what must be read; the name has what is left
      var text = fit(state.text(value), room * 0.5, font);
      ruler.font = font;
      return isolate(fit(name, room - ruler.measureText("  " + text).width, font)) + "  " + text;
    };
    return {
      display: round || spec.series.length > 1,
      position: round ? (wide ? "right" : "bottom") : "top", align: round ? "center" : "start",
      labels: {
        color: t.ink, usePointStyle: true, boxWidth: 10, boxHeight: 9, padding: round ? 12 : 14, font: { size: 13 },
        generateLabels: function (chart) {
          if (!round)
            return spec.series.map(function (s, i) {
              var mark = spec.kind === "bar" || spec.kind === "hbar" ? "rectRounded" : MARKS[i], line = /^cross|star/.test(mark);
              return {
                text: isolate(fit(s.name, Math.min(room, 220), font)), fontColor: t.ink, pointStyle: mark, fillStyle: t.colours[i],
                strokeStyle: t.colours[i], lineWidth: line ? 2 : 0, hidden: !chart.isDatasetVisible(i), datasetIndex: i
              };
            });
          var set = chart.data.datasets[0];
          return spec.labels.map(function (name, i) {
            return {
              text: entry(name, set.data[i]), fontColor: t.ink, pointStyle: "rectRounded",
              fillStyle: set.backgroundColor[i], strokeStyle: set.backgroundColor[i], lineWidth: 0,
              hidden: !chart.getDataVisibility(i), index: i
            };
          });
        }
      }
    };
  }
  function tooltip(state) {
    var spec = state.spec, t = state.theme, round = spec.kind === "pie" || spec.kind === "donut";
    return {
      backgroundColor: t.ink, titleColor: t.sheet, bodyColor: t.sheet, padding: 10, cornerRadius: 3, boxPadding: 6,
      usePointStyle: true, multiKeyBackground: t.ink, titleFont: { size: 13, weight: 600 }, bodyFont: { size: 13 },
      callbacks: {
        labelColor: function (item) {
          var colour = round ? item.dataset.backgroundColor[item.dataIndex] : t.colours[item.datasetIndex];
          return { borderColor: colour, backgroundColor: colour, borderWidth: 0 };
        },
        title: function (items) {
          var item = items[0], part = spec.series[item.datasetIndex];
          if (spec.kind === "scatter") return part.labels ? isolate(cut(part.labels[item.dataIndex], 60)) : "";
          return isolate(cut(spec.labels[item.dataIndex], 60));
        },
        label: function (item) {
          if (round) {
            var sum = item.dataset.data.reduce(function (a, b) { return a + b; }, 0);
            return state.text(item.raw) + (spec.fmt.style === "percent" ? "" : " (" + state.share(item.raw / sum) + ")");
          }
          var name = item.dataset.label ? isolate(item.dataset.label) + ": " : "";
          if (spec.kind === "scatter") return name + state.xText(item.raw.x) + "; " + state.text(item.raw.y);
          return name + state.text(item.raw);
        }
      }
    };
  }
  // Values of bars that lie are written beyond their ends: in full, if that leaves the bars their room.
  function beyond(state) {
    var spec = state.spec;
    if (spec.kind !== "hbar" || !spec.valueLabels || spec.stacked) return 6;
    var widest = function (text) {
      ruler.font = "600 12px " + state.theme.font;
      return Math.max.apply(null, values(spec).map(function (v) { return ruler.measureText(text(v)).width; }));
    };
    state.barText = widest(state.text) <= state.figure.clientWidth * 0.25 ? state.text : state.tick;
    return Math.min(widest(state.barText) + 10, state.figure.clientWidth * 0.4);
  }
  // For the names of bars that lie. Chart.js gives an axis half of what is left at most, and cuts what is longer.
  function roomBeside(state) {
    var wide = state.figure.clientWidth;
    return Math.min(wide * 0.32, (wide - beyond(state)) / 2 - 14);
  }
  function config(state) {
    var spec = state.spec, t = state.theme, round = spec.kind === "pie" || spec.kind === "donut";
    var airy = { // some air between the legend and what is below it
      id: "acAir",
      beforeInit: function (chart) {
        var fit = chart.legend && chart.legend.fit;
        if (fit) chart.legend.fit = function () { fit.call(this); if (this.options.position === "top") this.height += 10; };
      }
    };
    var plugins = round ? [sliceLabels(state)] : spec.valueLabels ? [barLabels(state)] : [];
    var kind = { pie: "pie", donut: "doughnut", bar: "bar", hbar: "bar", scatter: "scatter" }[spec.kind] || "line";
    return {
      type: kind,
      data: { labels: spec.labels, datasets: datasets(state) },
      options: {
        indexAxis: spec.kind === "hbar" ? "y" : "x", responsive: true, maintainAspectRatio: false, animation: false,
        cutout: spec.kind === "donut" ? "60%" : 0, font: { family: t.font, size: 12 }, color: t.ink,
        devicePixelRatio: printing ? 3 : undefined, layout: { padding: round ? 6 : { top: 4, right: beyond(state) } },
        interaction: { mode: round || spec.kind === "scatter" ? "nearest" : "index", intersect: round || spec.kind === "scatter", axis: spec.kind === "hbar" ? "y" : "x" },
        scales: scales(state),
        plugins: { legend: legend(state), tooltip: tooltip(state) }
      },
      plugins: plugins.concat(airy)
    };
  }

  // --- a figure's life ---
  function draw(state) {
    var off = state.chart ? state.spec.series.map(function (_, i) { return !state.chart.isDatasetVisible(i); }) : [];
    if (state.chart) state.chart.destroy();
    state.chart = null;
    state.theme = theme(state.figure);
    if (state.empty) return;
    Chart.defaults.font.family = state.theme.font;
    state.canvas.removeAttribute("style");
    // Three rows of cards on a sheet of paper; names of bars and slices need their room.
    var high = printing && !/^(hbar|pie|donut)$/.test(state.spec.kind) ? Math.min(state.spec.height, 250) : state.spec.height;
    state.canvas.parentNode.style.height = high + "px";
    var wanted = config(state);
    wanted.data.datasets.forEach(function (set, i) { if (off[i]) set.hidden = true; });
    state.chart = new Chart(state.canvas, wanted);
  }
  function textOf(state, cell) {
    var kind = cell.getAttribute("data-ac-f"), v = Number(cell.getAttribute("data-ac-v"));
    return (kind === "x" ? state.xText : kind === "share" ? state.share : state.text)(v);
  }
  function cells(state) {
    state.figure.querySelectorAll("[data-ac-v]").forEach(function (cell) { cell.textContent = textOf(state, cell); });
  }
  // What a state has from its spec alone.
  function take(state, spec) {
    if (spec.v !== 1) throw new Error("a chart of version " + spec.v);
    spec.fmt = spec.fmt || {};
    var xs = [];
    if (spec.kind === "scatter") spec.series.forEach(function (s) { s.points.forEach(function (p) { xs.push(Math.abs(p[0])); }); });
    state.spec = spec;
    state.empty = values(spec).length === 0;
    state.text = formatter(spec, spec.fmt, spec.unit);
    state.longUnit = !!spec.unit && spec.unit.length > 4;
    state.tick = short(spec, spec.fmt, reach(spec), state.longUnit ? null : spec.unit);
    state.share = formatter(spec, { style: "percent", maximumFractionDigits: 1 });
    state.xText = formatter(spec, spec.xFmt || {});
    state.xTick = short(spec, spec.xFmt || {}, Math.max.apply(null, xs.concat(0)));
  }
  function start(figure) {
    var state = { figure: figure, canvas: figure.querySelector("canvas"), chart: null };
    take(state, JSON.parse(figure.querySelector('script[type="application/json"]').textContent));
    cells(state);
    draw(state);
    shown.push(state);
  }

  // --- drawing again ---
  function add(parent, name, text) {
    var element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  }
  function numberCell(state, row, value, kind) {
    var cell = add(row, "td", "—");
    cell.className = "ac-num";
    if (value === null || value === undefined) return;
    cell.setAttribute("data-ac-v", String(value));
    if (kind) cell.setAttribute("data-ac-f", kind);
    cell.textContent = textOf(state, cell);
  }
  function textCell(row, name, text, key) {
    var cell = add(row, name);
    add(cell, "bdi", text);
    if (name === "th") cell.scope = "row";
    if (key !== undefined && key !== text) cell.setAttribute("data-ac-k", key);
  }
  function fillPoints(state, body) {
    var spec = state.spec, left = 200;
    var named = spec.series.some(function (s) { return s.name; }), labelled = spec.series.some(function (s) { return s.labels; });
    spec.series.forEach(function (s) {
      s.points.forEach(function (p, i) {
        if (left-- <= 0) return;
        var row = add(body, "tr");
        if (named) textCell(row, "td", s.name);
        if (labelled) textCell(row, "td", s.labels ? s.labels[i] : "");
        numberCell(state, row, p[0], "x");
        numberCell(state, row, p[1]);
      });
    });
    var note = state.figure.querySelector("details .ac-note");
    if (note) note.hidden = true; // it counts the points of the first spec
  }
  function fillLabels(state, body, shares) {
    var spec = state.spec, sum = spec.series[0].values.reduce(function (a, v) { return a + (v || 0); }, 0);
    spec.labels.forEach(function (label, i) {
      var row = add(body, "tr");
      textCell(row, "th", label, spec.keys && spec.keys[i]);
      spec.series.forEach(function (s) { numberCell(state, row, s.values[i]); });
      if (shares) numberCell(state, row, spec.series[0].values[i] / sum, "share");
    });
  }
  function fillTable(state) {
    var spec = state.spec, table = state.figure.querySelector("details table"), body = table && table.tBodies[0];
    if (!body) return;
    var head = table.tHead.rows[0], round = spec.kind === "pie" || spec.kind === "donut";
    body.textContent = "";
    if (spec.kind === "scatter") return fillPoints(state, body);
    if (!round) {
      while (head.cells.length > spec.series.length + 1) head.deleteCell(-1);
      while (head.cells.length < spec.series.length + 1) head.appendChild(head.cells[head.cells.length - 1].cloneNode(true));
      spec.series.forEach(function (s, i) { if (s.name) head.cells[i + 1].textContent = s.name; });
    }
    fillLabels(state, body, round && head.cells.length > 2);
  }
  // "Bar chart, Orders: North 3; South 5; and 7 more". What is before the colon was there before.
  function summary(state, words) {
    var spec = state.spec, said = [], total = 0, before = state.canvas.getAttribute("aria-label") || "";
    var title = spec.title ? ", " + cut(spec.title, 80) + ": " : ": ", at = before.indexOf(title);
    var lead = at < 0 ? before : before.slice(0, at + title.length - 2);
    spec.series.forEach(function (s) {
      (s.points || s.values).forEach(function (v, i) {
        if (v === null || v === undefined) return;
        var many = s.name && !s.points && spec.series.length > 1, name = s.points ? "" : cut(spec.labels[i], 80) + " ";
        if (total++ < 8) said.push((many ? cut(s.name, 80) + ", " : "") + name + (s.points ? state.xText(v[0]) + "; " + state.text(v[1]) : state.text(v)));
      });
    });
    if (total > said.length) said.push((words.more || "… {0}").replace("{0}", String(total - said.length)));
    state.canvas.setAttribute("aria-label", lead + ": " + (said.join("; ") || words.none || "—"));
  }
  function empty(state, words) {
    var plot = state.canvas.parentNode, none = state.figure.querySelector(".ac-none");
    if (state.empty && !none) {
      none = document.createElement("p");
      none.className = "ac-none";
      plot.parentNode.insertBefore(none, plot);
    }
    if (none) {
      none.textContent = words.none || "—";
      none.hidden = !state.empty;
    }
    state.figure.classList.toggle("ac-empty", state.empty);
  }
  shown.update = function (figure, spec, words) {
    var state = shown.filter(function (s) { return s.figure === figure; })[0];
    if (!state) throw new Error("that figure has no chart");
    if (spec.kind !== state.spec.kind) throw new Error("a " + state.spec.kind + " stays one");
    take(state, spec);
    words = words || {};
    empty(state, words);
    fillTable(state);
    summary(state, words);
    draw(state);
  };
  document.querySelectorAll("figure[data-ac-chart]").forEach(function (figure) {
    try {
      start(figure);
    } catch (error) {
      console.warn("alisio: a chart was not drawn: " + error.message);
      figure.classList.add("ac-failed");
      figure.querySelector("details").open = true;
    }
  });

  function again() { shown.forEach(draw); }
  // Paper is light and narrow: the page takes its printed form first, then the charts are drawn for it.
  function paper(on) {
    if (printing === on) return;
    printing = on;
    document.documentElement.classList.toggle("ac-printing", on);
    again();
  }
  window.addEventListener("beforeprint", function () { paper(true); });
  window.addEventListener("afterprint", function () { paper(false); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();
