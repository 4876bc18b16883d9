// Ask a German spreadsheet export in SQL, beside a CSV of another make: datasets join under names of their own.
const fees = await tools.data_inspect({ path: "data/liegegebuehren.csv" });
const orders = await tools.data_inspect({ path: "data/orders.csv" });
const open = await tools.data_query({
  datasetId: fees.datasetId,
  // data_values: the same table, with "1.234,56" as a number and 08.01.2026 as a date.
  sql: "SELECT hafen, round(sum(gebuhr), 2) AS offen FROM data_values WHERE status = 'offen' GROUP BY hafen ORDER BY offen DESC",
});
const months = await tools.data_query({
  datasets: { fees: fees.datasetId, orders: orders.datasetId },
  sql: `SELECT o.month, o.orders, count(f.beleg) AS berths
        FROM (SELECT substr(date, 1, 7) AS month, count(*) AS orders FROM orders.data GROUP BY 1) AS o
        LEFT JOIN fees.data_values AS f ON substr(f.datum, 1, 7) = o.month
        GROUP BY o.month ORDER BY o.month LIMIT 3`,
});
return { open: Object.fromEntries(open.rows), months: months.rows };
