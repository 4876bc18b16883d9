import datetime
import decimal
import json
import unittest

from place import Case, Tree

from alisio_runtime import charts, datasets

HOSTILE = ["<script>alert(1)</script>", "</script><img onerror=x>", "a\"b'c&d", "\u202eabc", "مرحبا", "x" * 10_000, "\x00\ud800", "👩‍👧"]


def spec(text):
    """The JSON of the only chart in text."""
    tree = Tree(text)
    found = [part for part in tree.texts.get("script", [])]
    assert len(found) == 1, found
    return json.loads(found[0])


def cells(text):
    return Tree(text).texts.get("td", [])


class Specs(Case):
    def test_chart_has_figure_canvas_table_and_inert_json(self):
        text = charts.bar(["Ana", "Luis"], {"Sales": [120000, 95000], "Profit": [30000, 21000]}, title="Sellers", fmt="currency:USD",
                          locale="en-US", note="2025")
        tree = Tree(text)
        self.assertEqual([], tree.faults)
        for tag in ("figure", "figcaption", "canvas", "details", "summary", "table", "script"):
            self.assertEqual(1, tree.tags.count(tag), tag)
        self.assertIn(("figure", "data-ac-chart", "bar"), tree.attributes)
        self.assertIn(("script", "type", "application/json"), tree.attributes)
        label = next(value for tag, name, value in tree.attributes if (tag, name) == ("canvas", "aria-label"))
        self.assertEqual("Bar chart, Sellers: Sales, Ana $120,000; Sales, Luis $95,000; Profit, Ana $30,000; Profit, Luis $21,000", label)
        self.assertEqual(
            {
                "v": 1, "kind": "bar", "title": "Sellers", "locale": "en-US", "height": 320, "labels": ["Ana", "Luis"],
                "series": [{"name": "Sales", "values": [120000, 95000]}, {"name": "Profit", "values": [30000, 21000]}],
                "fmt": {"style": "currency", "currency": "USD", "minimumFractionDigits": 0, "maximumFractionDigits": 0},
                "valueLabels": True,
            },
            spec(text),
        )

    def test_summary_names_the_first_eight_points_and_counts_the_rest(self):
        text = charts.line([f"d{i}" for i in range(20)], list(range(20)))
        self.assertIn("d7 7; and 12 more", text)
        self.assertNotIn("d8 8", text.partition("<details")[0])

    def test_hostile_text_stays_text(self):
        numbers = list(range(1, len(HOSTILE) + 1))
        for draw in (charts.bar, charts.hbar, charts.line, charts.area, charts.pie, charts.donut):
            text = draw(HOSTILE, numbers, title=HOSTILE[1], note=HOSTILE[1], unit=HOSTILE[1])
            tree = Tree(text)
            self.assertEqual([], tree.faults)
            self.assertNotIn("img", tree.tags)
            self.assertEqual(1, tree.tags.count("script"))
            self.assertIn(HOSTILE[0], tree.texts["th"])
            self.assertIn("x" * 10_000, tree.texts["th"])  # the table has all of it
            self.assertTrue(all(len(name) <= 300 for name in spec(text)["labels"]))
            text.encode("utf-8")
        text = charts.scatter([1], {HOSTILE[1]: [2]}, labels=[HOSTILE[1]], x_title=HOSTILE[1])
        self.assertNotIn("img", Tree(text).tags)
        body = charts.kpis((HOSTILE[1], HOSTILE[1], HOSTILE[1])) + charts.card(HOSTILE[1], note=HOSTILE[1])
        self.assertNotIn("img", Tree(body).tags)

    def test_heights_follow_the_kind(self):
        self.assertEqual(340, spec(charts.pie(["a", "b"], [1, 2]))["height"])
        self.assertEqual(320, spec(charts.line(["a"], [1]))["height"])
        self.assertEqual(240, spec(charts.hbar(["a"], [1]))["height"])
        self.assertEqual(56 + 24 * 20, spec(charts.hbar(range(20), range(1, 21)))["height"])
        self.assertEqual(900, spec(charts.hbar(range(100), range(1, 101)))["height"])
        self.assertEqual(500, spec(charts.hbar(["a"], [1], height=500))["height"])

    def test_bars_have_value_labels_up_to_sixteen(self):
        self.assertTrue(spec(charts.bar(range(16), range(1, 17)))["valueLabels"])
        self.assertNotIn("valueLabels", spec(charts.bar(range(17), range(1, 18))))
        self.assertNotIn("valueLabels", spec(charts.bar(range(9), {"a": range(9), "b": range(1, 10)})))
        self.assertNotIn("valueLabels", spec(charts.bar(["a"], [1], value_labels=False)))

    def test_formats(self):
        for fmt, values, wanted in (
            (None, [1.2345], {"maximumFractionDigits": 2}),
            (None, [0.00012], {"maximumSignificantDigits": 3}),
            ("number", [0.00012], {"maximumFractionDigits": 2}),
            ("integer", [1.5], {"maximumFractionDigits": 0}),
            ("percent", [0.5], {"style": "percent", "maximumFractionDigits": 1}),
            ("compact", [1e6], {"notation": "compact", "maximumFractionDigits": 1}),
            ("currency:cop", [1.5, None], {"style": "currency", "currency": "COP"}),
            ("currency:USD", [999.99, 1000.5], {"style": "currency", "currency": "USD", "minimumFractionDigits": 0, "maximumFractionDigits": 0}),
            ({"style": "unit", "unit": "hour"}, [1], {"style": "unit", "unit": "hour"}),
        ):
            self.assertEqual(wanted, spec(charts.bar(["a", "b"][: len(values)], values, fmt=fmt))["fmt"], fmt)

    def test_slices_beyond_the_most_are_folded_and_stay_in_the_table(self):
        text = charts.pie(list("abcdefgh"), [5, 40, 3, 20, 10, 9, 7, 6])
        self.assertEqual(["b", "d", "e", "f", "g", "Other"], spec(text)["labels"])
        self.assertEqual([40, 20, 10, 9, 7, 14], spec(text)["series"][0]["values"])
        self.assertEqual(5, spec(text)["other"])
        self.assertEqual(9, text.count("<tr>"))
        self.assertEqual("Otros", spec(charts.donut(list("abcdefghi"), range(1, 10), locale="es-CO"))["labels"][-1])
        kept = spec(charts.pie(["Other", "b", "c"], [50, 30, 20], max_slices=2))
        self.assertEqual((["b", "Other"], [30, 70]), (kept["labels"], kept["series"][0]["values"]))
        self.assertNotIn("other", spec(charts.pie(list("abcdef"), range(1, 7))))

    def test_values_may_be_text_with_commas_decimals_dates_and_gaps(self):
        with self.says():
            found = spec(charts.line(
                [datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 2), 3.0, None, "x", True],
                ["1,234.5", decimal.Decimal("2.5"), None, float("nan"), " ", "-1,000"]))
        self.assertEqual([1234.5, 2.5, None, None, None, -1000], found["series"][0]["values"])
        self.assertEqual(["2026-01-01", "2026-01-02", "3", "—", "x", "True"], found["labels"])

    def test_any_iterable_will_do(self):
        self.assertEqual([0, 1, 4], spec(charts.line(range(3), (i * i for i in range(3))))["series"][0]["values"])
        self.assertEqual(["a"], spec(charts.bar({"a": 1}.keys(), {"a": 1}.values()))["labels"])

    def test_what_is_no_number_is_left_out_with_a_note(self):
        with self.says("charts.bar", "1 of 3 values", "'1,5'"):
            found = spec(charts.bar(["a", "b", "c"], [1, "1,5", 3]))
        self.assertEqual([1, None, 3], found["series"][0]["values"])
        with self.says("charts.pie", "2 of 4 slices"):
            self.assertEqual(["a", "d"], spec(charts.pie(list("abcd"), [3, 0, -2, 1]))["labels"])

    def test_series_of_another_length_are_filled_up_or_cut_with_a_note(self):
        with self.says("2 values of 'short' for 3 labels", "4 values of 'long' for 3 labels"):
            found = spec(charts.line(["a", "b", "c"], {"short": [1, 2], "long": [1, 2, 3, 4]}))
        self.assertEqual([[1, 2, None], [1, 2, 3]], [s["values"] for s in found["series"]])

    def test_numbers_beyond_what_can_be_drawn_are_none(self):
        with self.says("2 of 4 values"):
            found = spec(charts.bar(list("abcd"), [1e308, -1e250, 5e-324, 2]))
        self.assertEqual([None, None, 0, 2], found["series"][0]["values"])

    def test_nothing_to_draw_says_so(self):
        for text in (charts.bar([], []), charts.line(["a"], [None]), charts.pie([], []), charts.scatter([], []), charts.bar(["a"], {})):
            self.assertIn("No data", text)
            self.assertNotIn("canvas", text)
            self.assertNotIn("data-ac-chart", text)
        self.assertIn("Sin datos", charts.bar([], [], locale="es"))

    def test_numbers_follow_the_locale(self):
        self.assertEqual(["1.234,5\u00a0kg"], cells(charts.bar(["a"], [1234.5], locale="es-CO", unit="kg")))
        self.assertEqual(["12,5\u00a0%"], cells(charts.bar(["a"], [0.125], locale="de", fmt="percent")))
        self.assertEqual(["$1,234.50"], cells(charts.bar(["a"], [1234.5], fmt={"style": "currency", "currency": "USD"})))
        self.assertEqual(["-$12"], cells(charts.bar(["a"], [-12], fmt="currency:USD")))
        self.assertEqual(["COP\u00a01,200"], cells(charts.bar(["a"], [1200], fmt="currency:COP")))
        self.assertEqual(["12%"], cells(charts.bar(["a"], [12], unit="%")))

    def test_scatter_keeps_every_point_and_tables_two_hundred(self):
        text = charts.scatter(range(500), range(500), x_title="Weight", y_title="Price")
        self.assertEqual(500, len(spec(text)["series"][0]["points"]))
        self.assertEqual(201, text.count("<tr>"))
        self.assertIn("The first 200 of 500 points", text)
        with self.says("1 of 3 points"):
            self.assertEqual([[1, 2], [3, 4]], spec(charts.scatter([1, 2, 3], [2, None, 4]))["series"][0]["points"])
        named = spec(charts.scatter({"a": [1], "b": [2]}, {"a": [3], "b": [4]}))
        self.assertEqual([("a", [[1, 3]]), ("b", [[2, 4]])], [(s["name"], s["points"]) for s in named["series"]])

    def test_same_calls_give_the_same_bytes(self):
        self.assertEqual(charts.page("t", charts.pie(["a"], [1])), charts.page("t", charts.pie(["a"], [1])))


class WrongCalls(Case):
    def test_missing_values(self):
        with self.refused(TypeError, "values", 'charts.bar(["Jan", "Feb"], [3, 5]'):
            charts.bar([1, 2, 3])
        with self.refused(TypeError, "ys", "charts.scatter("):
            charts.scatter([1])

    def test_unknown_arguments_are_answered_with_the_known_ones(self):
        with self.refused(TypeError, "colour", "stacked", "call it like this"):
            charts.bar(["a"], [1], colour="red")

    def test_names_of_other_libraries_are_answered_with_ours(self):
        for name, words in (("doughnut", '"donut"'), ("barh", '"hbar"'), ("scattr", '"scatter"'), ("zzz", "bar, card, donut")):
            with self.refused(AttributeError, name, words):
                getattr(charts, name)
        with self.refused(AttributeError, '"open"', "columns, connect"):
            getattr(datasets, "load")

    def test_formats(self):
        for fmt, words in (("usd", '"currency:USD"'), ("$", '"currency:USD"'), ("currency", '"currency:USD"'), ("%", '"percent"'),
                           ("{:,.0f}", '"integer"'), ("money please", '"number", "integer"'), (3, "text or a dict"),
                           ({"maxDigits": 2}, "maxDigits"), ({"style": "currency"}, '"currency": "USD"'),
                           ({"maximumFractionDigits": 1.5}, "whole number")):
            with self.refused(ValueError, "charts.bar", words):
                charts.bar(["a"], [1], fmt=fmt)
        with self.refused(ValueError, "es-CO"):
            charts.bar(["a"], [1], locale="Spanish (Colombia)")

    def test_more_than_eight_series(self):
        with self.refused(ValueError, "9 series", "8"):
            charts.line(["a"], {str(i): [i] for i in range(9)})
        with self.refused(ValueError, "9 series"):
            charts.scatter([1], {str(i): [i] for i in range(9)})

    def test_lengths_of_slices_and_points(self):
        with self.refused(ValueError, "3 labels and 2 values"):
            charts.pie(["a", "b", "c"], [1, 2])
        with self.refused(ValueError, "2 xs and 1 ys"):
            charts.scatter([1, 2], [3])

    def test_shapes(self):
        with self.refused(TypeError, "list of lists", '{"2024"'):
            charts.bar(["a", "b"], [[1, 2], [3, 4]])
        with self.refused(TypeError, "not one text"):
            charts.bar("abc", [1, 2, 3])
        with self.refused(TypeError, "not a dict", "list(d.values())"):
            charts.bar({"a": 1}, [1])
        with self.refused(TypeError, "not int"):
            charts.bar(["a"], 1)
        with self.refused(ValueError, "labels come first"):
            charts.bar([1, 2], ["a", "b"])
        with self.refused(ValueError, "labels come first"):
            charts.pie([1, 2], ["a", "b"])
        with self.refused(TypeError, "not several series", "stacked=True"):
            charts.pie(["a"], {"x": [1]})
        with self.refused(ValueError, "120 to 2000"):
            charts.bar(["a"], [1], height=20)
        with self.refused(TypeError, "title is text"):
            charts.bar(["a"], [1], title=["x"])
        with self.refused(ValueError, "group them first"):
            charts.line(range(6000), range(6000))
        with self.refused(ValueError, "max_slices"):
            charts.pie(["a"], [1], max_slices=1)

    def test_layout(self):
        with self.refused(TypeError, "not as a list", "charts.grid(*parts)"):
            charts.grid([charts.card("a")])
        with self.refused(TypeError, "HTML text"):
            charts.card("a", 3)
        with self.refused(TypeError, "(label, value)", '("Orders", "1,204", "+8% vs last month")'):
            charts.kpis("Orders", "1,204")
        with self.refused(ValueError, "min_width"):
            charts.grid(charts.card("a"), min_width=3)
        with self.refused(ValueError, '"sales.html"'):
            charts.write("sales", "Sales", "")


class Pages(Case):
    def test_library_is_put_in_once(self):
        body = charts.grid(*[charts.card(str(i), charts.bar(["a"], [i])) for i in range(1, 6)])
        text = charts.page("Sales", body)
        self.assertEqual(1, text.count("Chart.js v4.5.1"))
        self.assertEqual(1, text.count("window.alisioCharts) return"))
        self.assertEqual(1, charts.page("Sales", body + charts.library()).count("Chart.js v4.5.1"))
        self.assertNotIn("sourceMappingURL", text)
        tree = Tree(text)
        self.assertEqual([], tree.faults)
        self.assertEqual(5 + 2, tree.tags.count("script"))
        self.assertEqual([], [a for a in tree.attributes if a[1].startswith("on") or a[1] in ("src", "href", "style")])

    def test_kpis_write_numbers_for_people(self):
        text = charts.kpis(("Visits", 1234567), ("Loss", -2_500_000.5), ("Rate", 0.125), ("None", None), ("Text", "3.4%"))
        self.assertEqual([], Tree(text).faults)
        for part in ('title="1,234,567"', ">1.2M<", ">-2.5M<", ">0.13<", ">—<", ">3.4%<"):
            self.assertIn(part, text)
        self.assertEqual(charts.kpis(("a", 1), ("b", 2)), charts.kpis([("a", 1), ("b", 2)]))
        self.assertEqual("", charts.kpis())

    def test_grid_has_the_width_asked_for(self):
        self.assertIn("--ac-min:420px", charts.grid(charts.card("a"), min_width=420))
        self.assertNotIn("style", charts.grid(charts.card("a")))


if __name__ == "__main__":
    unittest.main()
