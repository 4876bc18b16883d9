/*
 * A dashboard in the browser: chips that count again, CSV of each widget. Put after charts-boot.js, which draws.
 *
 * The page's contract (page.c writes it; this file and dashboard.css are its readers):
 *
 *   <main class="ac-dash" data-ac-locale="es-CO">
 *     <header> h1, p.ac-sub
 *     <section class="ac-filters" hidden>          shown by this script when there is a cube
 *       <fieldset data-ac-chip="0"><legend>NAME</legend>
 *         <button type="button" aria-pressed="false" data-ac-value="0">TEXT</button> …
 *       <button type="button" class="ac-clear" disabled>  <p class="ac-state" role="status">
 *     <dl class="ac-kpis"> <div class="ac-kpi" data-ac-widget="ID"><dt>TITLE <dd class="ac-value">
 *         <span data-ac-v="NUMBER" title="EXACT TEXT">TEXT</span> <dd class="ac-extra">
 *     <div class="ac-grid"> <section class="ac-card" data-ac-widget="ID" aria-labelledby="t-ID"><h2 id="t-ID">
 *         a figure (charts-boot.js), or <div class="ac-scroll"><table class="ac-table …"> (heat: class ac-heat, table: ac-rows)
 *         <p class="ac-note">  <p class="ac-fixed" hidden>"not filtered"  <button type="button" class="ac-csv">
 *     <details class="ac-made"> each widget: h3, pre > code (its SQL)
 *     <footer>
 *   <script type="application/json" id="ac-cube">CUBE      inert, escaped as a figure's SPEC is; absent without chips
 *
 *   CUBE: v 1 · words {all, none, rows, …: the texts that this script writes, in the page's language}
 *     chips [{values [text]}]        in the order of the fieldsets; "" is "none"
 *     widgets [{id, agg, fmt, compact?, order, limit, other?, keys [text], labels [text], series [text], cells [number, …]}]
 *       those that count again. keys: as sorted and joined; labels: as shown (the same length). order "value" or "key" (keys
 *       stand in order). cells: rows of  chip…, label, series, then by agg  sum: n, sum · avg: n, sum · count: n · min: n, min ·
 *       max: n, max · ratio: n, sum, over  (label, series: 0 for a kpi; series 0 without a second dimension).
 */
(function () {
  "use strict";
})();
