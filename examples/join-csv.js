// Join two CSV files: revenue by harbour, and the orders whose customer nobody knows.
function parse(text) {
  const rows = [];
  for (const line of text.trim().split("\n")) {
    const cells = [...line.matchAll(/("([^"]|"")*"|[^,]*)(,|$)/g)].map((m) => m[1].replace(/^"|"$/g, ""));
    rows.push(cells.slice(0, -1));
  }
  const [header, ...body] = rows;
  return body.map((cells) => Object.fromEntries(header.map((name, i) => [name, cells[i]])));
}

const [customers, orders] = (
  await Promise.all(["data/customers.csv", "data/orders.csv"].map((path) => tools.read_file({ path })))
).map((file) => parse(file.text));

const byId = new Map(customers.map((c) => [c.customer_id, c]));
const revenue = {};
const unknown = [];
for (const order of orders) {
  const customer = byId.get(order.customer_id);
  if (!customer) {
    unknown.push(order.order_id);
    continue;
  }
  revenue[customer.harbour] = (revenue[customer.harbour] ?? 0) + order.quantity * order.price;
}
for (const harbour in revenue) revenue[harbour] = Math.round(revenue[harbour] * 100) / 100;

return { orders: orders.length, revenue, unknownCustomers: unknown };
