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
 *   CUBE: v 1 · words: the texts that this script writes, in the page's language ({0} … are gaps):
 *       rows "{0} of {1} rows" · all "{0} rows" · other "Other" · top "Top {0} of {1}" · more "and {0} more" · none "No data" ·
 *       fixed "Not filtered" · copyHint "No file can be saved from here. Copy the text:" · copy "Copy" · copied "Copied" ·
 *       close "Close" · figure "Figure" · value "Value" · kpis "Key figures" · file (the page's title)
 *     chips [{values [text]}]        in the order of the fieldsets; "" is "none"
 *     rows [number, …]               rows of  chip…, n: how many rows of the data each combination has
 *     widgets [{id, agg, fmt, unit?, compact?, order, time?, limit, other?, keys [text], labels [text], series [text], cells
 *       [number, …]}]
 *       those that count again. keys: as sorted and joined; labels: as shown (the same length). order "value" (ties: by key) or
 *       "key" (keys stand in order, the first `limit` with rows are shown). time true: all keys are shown, those without rows
 *       as gaps. limit: labels besides Other; 0: all. other true: what is beyond the limit is summed up as one more.
 *       series: those of the SPEC or the columns of the heat table, in their order; [] for a kpi. cells: one flat list, rows of
 *       chip…, label, series, then by agg  sum: n, sum · avg: n, sum · count: n · min: n, min · max: n, max · ratio: n, sum, over
 *       (label, series: 0 for a kpi; series 0 without a second dimension). fmt: options of Intl.NumberFormat, as in SPEC;
 *       compact true: from a million on in compact form, the exact one as title.
 *
 * Nothing here makes markup of text, evaluates text, or asks the network.
 */
(function () {
  "use strict";
})();
