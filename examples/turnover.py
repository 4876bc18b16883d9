"""What each item brought in, month by month: a dashboard and a table, from orders.csv."""
import csv
from collections import defaultdict

from alisio_runtime import charts, input_dir, output_dir, outputs

months, items = defaultdict(float), defaultdict(float)
with open(input_dir() / "orders.csv", newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        amount = int(row["quantity"]) * float(row["price"])
        months[row["date"][:7]] += amount
        items[row["item"]] += amount

names = sorted(months)
best = sorted(items.items(), key=lambda item: -item[1])
total = sum(months.values())

page = charts.kpis(("Turnover", f"{total:,.2f}"), ("Months", str(len(names))), ("Best item", best[0][0])) + charts.grid(
    charts.card("By month", charts.line(names, {"Turnover": [months[name] for name in names]}, fmt="number")),
    charts.card("By item", charts.hbar([name for name, _ in best], [amount for _, amount in best], fmt="number")),
)
charts.write("turnover.html", "Turnover", page)
outputs.declare("turnover.html", title="Turnover")

with open(output_dir() / "items.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([("item", "turnover"), *((name, f"{amount:.2f}") for name, amount in best)])
outputs.declare("items.csv", title="Turnover by item")

print(f"{total:,.2f} in {len(names)} months; most from {best[0][0]}")
