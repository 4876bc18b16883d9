"""Writes the pages that pages.test.mjs looks at: argv[1] is the folder."""

import os
import sys

os.environ["ALISIO_OUTPUT_DIR"] = sys.argv[1]
from alisio_runtime import charts, html, svg  # noqa: E402

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def every_kind() -> str:
    orders = [1204, 1350, 1287, 1422, 1390, 1511, None, 1620, 1580, 1702, 1688, 1841]
    before = [980, 1010, 1105, 1090, 1204, 1180, 1260, 1301, 1288, 1350, 1402, 1431]
    sellers = {"Sales": [120000, 95000, 87000, 64000], "Profit": [30000, 21000, 25000, 9000]}
    cities = [
        "Rotterdam", "Antwerp", "Hamburg", "Valencia", "Piraeus", "Algeciras", "Bremerhaven", "Gioia Tauro", "Le Havre",
        "Barcelona", "Genoa", "Gdańsk and the ports of the bay around it",
    ]
    tonnes = [14.5, 13.5, 8.3, 5.1, 5.0, 4.8, 4.6, 3.8, 3.1, 2.9, 2.6, 2.1]
    plans = {name: [20 + 3 * i + (i * k) % 7 for i in range(12)] for k, name in enumerate(["Basic", "Plus", "Team", "Firm"], 1)}
    xs = [round(0.7 * i + (i * 37 % 11) / 3, 2) for i in range(60)]
    ys = [round(12 + 1.9 * x + (i * 53 % 17) - 8, 1) for i, x in enumerate(xs)]
    return (
        charts.kpis(
            ("Orders", "1,204", "+8% vs last month"),
            ("Revenue", "$92,300", "−2% vs last month"),
            ("Visits", 1_234_567, "from 41 countries"),
            ("Conversion", "3.4%"),
        )
        + charts.grid(
            charts.card(
                "Order status",
                charts.donut(["Delivered", "In transit", "Cancelled"], [81.7, 14.8, 3.4], unit="%", center="1,204\norders"),
            ),
            charts.card("Sales by seller", charts.bar(
                ["Ana", "Luis", "Marta", "Jo"], sellers, fmt="currency:USD", locale="en-US")),
            charts.card("Orders per month", charts.line(MONTHS, {"2025": orders, "2024": before}),
                        note="No data for July 2025."),
            charts.card("Containers by port", charts.hbar(cities, tonnes, x_title="Million TEU")),
            charts.card("Subscribers by plan", charts.area(MONTHS, plans, stacked=True, unit="k")),
            charts.card("Answers", charts.pie(list("ABCDEFGH"), [30, 25, 20, 11, 6, 4, 3, 1])),
            charts.card("Price and weight", charts.scatter(
                {"Sea": xs[:40], "Air": xs[40:]}, {"Sea": ys[:40], "Air": ys[40:]},
                x_title="Weight in kg", y_title="Price in €")),
            charts.card("Share of returns", charts.line(
                MONTHS, [0.041, 0.043, 0.038, 0.036, 0.04, 0.044, 0.047, 0.045, 0.041, 0.039, 0.037, 0.035], fmt="percent",
                smooth=True, y_title="Returns")),
            charts.card("Hours by team", charts.bar(
                ["Q1", "Q2", "Q3", "Q4"], {"Build": [120, 140, 150, 90], "Run": [80, 70, 60, 110], "Meet": [40, 45, 30, 20]},
                stacked=True, unit="h")),
            charts.card("Profit and loss", charts.bar(MONTHS, [12, 8, -4, -9, 3, 7, 11, 14, 9, -2, 5, 16], fmt="currency:EUR")),
            charts.card("Nothing yet", charts.bar([], [])),
            charts.card("Eight lines", charts.line(
                MONTHS, {f"Line {k + 1}": [10 * k + (i * (k + 3)) % 9 for i in range(12)] for k in range(8)})),
        )
        + charts.card(
            "The last orders",
            html.table(
                [["A-1", "Rotterdam", 1204.5], ["A-2", "Gdańsk", 87], ["A-3", None, 15320]], headers=["Order", "Port", "Amount"]
            ),
        )
    )


HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><img src=x onerror=\"window.pwned=1\">",
    "\"><svg onload=window.pwned=1>",
    "'quotes\" & ampersands;",
    "\u202egnp.exe \u2066x",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦 " * 5,
    "W" * 10_000,
    "line\nbreak\ttab\x00nul\ud800",
    "</style><!-- \u2028\u2029",
    "__proto__",
    "",
]


def hostile() -> str:
    numbers = list(range(1, len(HOSTILE) + 1))
    name = HOSTILE[1]
    return (
        charts.kpis(*[(text, text, text) for text in HOSTILE])
        + charts.grid(
            *[
                charts.card(
                    name,
                    draw(HOSTILE, numbers, title=name, note=name, unit=name[:12]),
                    note=name,
                )
                for draw in (charts.bar, charts.hbar, charts.pie, charts.line)
            ],
            charts.card(
                HOSTILE[7],
                charts.bar(["a", "b"], {text: [1, 2] for text in HOSTILE[:8]}, title=HOSTILE[7], x_title=name, y_title=HOSTILE[7]),
            ),
            charts.card(name, charts.donut(HOSTILE[:3], [1, 2, 3], center=name)),
            charts.card(name, charts.scatter([1, 2], {name: [3, 4]}, labels=HOSTILE[:2], x_title=name)),
            charts.card(name, svg.bar(HOSTILE, numbers, title=name) + svg.donut(HOSTILE, numbers, title=name)),
        )
        + html.table([HOSTILE], headers=HOSTILE)
    )


if __name__ == "__main__":
    charts.write("dashboard.html", "Sales dashboard", every_kind())
    charts.write("hostile.html", HOSTILE[1], hostile())
    picture = svg.bar(["Q1", "Q2", "Q3"], [12, 18, 9], title="Sales")
    html.write(
        "report.html",
        "Sales in March",
        "<p>North leads, and <a href='#t'>the table</a> says by how much.</p><h2>Figures</h2>"
        + svg.pie(["Yes", "No", "Perhaps"], [62, 30, 8], title="Answers")
        + svg.hbar(["North", "South", "West"], {"2024": [3, 5, 2], "2025": [4, 6, 3]}, title="Orders by region")
        + svg.line(MONTHS, [3, 5, 4, None, 6, 7, 5, 8, 9, 7, 10, 11], title="Orders per month")
        + svg.area(MONTHS, {"Web": [3, 5, 4, 6, 6, 7, 5, 8, 9, 7, 10, 11], "Shop": [2] * 12}, title="Channels", stacked=True)
        + svg.scatter([1, 2, 3, 4], [3, 4, 2, 5], title="Weight and price", x_title="Weight", y_title="Price")
        + svg.donut(["All"], [5], title="One slice", center_text="100%")
        + picture
        + "<div id='t'>" + html.table([{"region": "North", "orders": 12}, {"region": "South", "orders": 9}]) + "</div>",
    )
