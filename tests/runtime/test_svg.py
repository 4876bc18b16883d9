import math
import random
import re
import unittest
import xml.etree.ElementTree as ET

from place import Case

from alisio_runtime import svg

ALL = ("bar", "hbar", "line", "area")


def parse(text):
    return ET.fromstring(text)


class Geometry(unittest.TestCase):
    def test_last_slice_ends_exactly_a_turn_after_the_start(self):
        draw = random.Random(5)
        for start in (-90, 0, 33.3):
            for n in (1, 2, 3, 7, 100, 1000):
                values = [draw.random() * 10 ** draw.randint(-8, 8) for _ in range(n)]
                found = svg.pie_slices(values, start)
                self.assertEqual(start + 360, found[-1]["end"])
                self.assertEqual(start, found[0]["start"])
                for one, other in zip(found, found[1:]):
                    self.assertEqual(one["end"], other["start"])
                    self.assertGreaterEqual(one["sweep"], 0)
                self.assertAlmostEqual(1, math.fsum(s["fraction"] for s in found), 12)

    def test_one_slice_is_the_full_circle(self):
        for values in ([5], [0, 5, None, -1], ["1,000"], [1e308], [5e-324]):
            (one,) = svg.pie_slices(values)
            self.assertTrue(one["full"])
            self.assertEqual((1.0, 100.0, -90.0, 270.0, 360.0, 1), tuple(one[k] for k in ("fraction", "percent", "start", "end", "sweep", "large_arc")))
        self.assertEqual(1, svg.pie_slices([0, 5])[0]["index"])

    def test_nothing_above_zero_has_no_slices(self):
        for values in ([], [0], [-1, None, float("nan"), "x"]):
            self.assertEqual([], svg.pie_slices(values))

    def test_large_arc_is_for_more_than_half(self):
        self.assertEqual([1, 0], [s["large_arc"] for s in svg.pie_slices([51, 49])])
        self.assertEqual([0, 0], [s["large_arc"] for s in svg.pie_slices([1, 1])])

    def test_the_largest_and_the_smallest_numbers_keep_their_shares(self):
        self.assertEqual([0.5, 0.5], [s["fraction"] for s in svg.pie_slices([1.7e308, 1.7e308])])
        tiny = svg.pie_slices([1e300, 1e-300, 1e300])
        self.assertEqual(270, tiny[-1]["end"])
        self.assertEqual(0, tiny[1]["sweep"])
        nearly = svg.pie_slices([1e9, 1])
        self.assertTrue(nearly[0]["full"])
        self.assertFalse(nearly[1]["full"])

    def test_arc_of_a_whole_turn_is_two_halves_and_has_no_wedge(self):
        self.assertEqual("M50 10A40 40 0 1 1 50 90A40 40 0 1 1 50 10Z", svg.arc_path(50, 50, 40, -90, 270))
        self.assertEqual(4, svg.arc_path(50, 50, 40, -90, 270, inner=20).count("A"))
        self.assertEqual("M50 50L50 10A40 40 0 0 1 90 50Z", svg.arc_path(50, 50, 40, -90, 0))
        self.assertIn("0 1 1", svg.arc_path(50, 50, 40, -90, 100))
        self.assertNotIn("nan", svg.arc_path(50, 50, 40, -90, -90))

    def test_ticks_are_round_and_span_the_values(self):
        draw = random.Random(7)
        for _ in range(2000):
            size = 10.0 ** draw.randint(-9, 12)
            low, high = draw.uniform(-size, size), draw.uniform(-size, size)
            ticks = svg.nice_ticks(low, high)
            self.assertLessEqual(ticks[0], min(low, high) + size * 1e-9)
            self.assertGreaterEqual(ticks[-1], max(low, high) - size * 1e-9)
            self.assertTrue(2 <= len(ticks) <= 9, ticks)
        self.assertEqual([0.0, 1.0], svg.nice_ticks(0, 0, 2))
        self.assertEqual([0.0, 0.1, 0.2, 0.3], svg.nice_ticks(0, 0.3, 4))
        with self.assertRaises(ValueError):
            svg.nice_ticks(0, float("inf"))

    def test_small_slices_are_summed_up_and_a_lone_one_keeps_its_name(self):
        self.assertEqual((["a", "b", "Other"], [60.0, 38.0, 2.0]), svg.group_small(list("abcd"), [60, 38, 1, 1]))
        self.assertEqual((["a", "b", "c"], [60.0, 39.0, 1.0]), svg.group_small(list("abc"), [60, 39, 1]))
        names, values = svg.group_small(range(20), range(1, 21), max_slices=5)
        self.assertEqual(5, len(names))
        self.assertEqual(210, sum(values))
        self.assertEqual(([], []), svg.group_small([], []))


class Pictures(Case):
    def test_every_picture_is_xml_with_a_view_box_title_and_description(self):
        texts = [getattr(svg, kind)(["Q1", "Q2"], {"a": [1, 2], "b": [3, None]}, title="A <b> & c") for kind in ALL]
        texts += [svg.pie(["a", "b"], [1, 2], title="A <b> & c"), svg.donut(["a"], [1], title="A <b> & c", center_text="<1>"),
                  svg.scatter([1, 2], [3, 4], title="A <b> & c")]
        with self.says("svg.pie: 1 of 1 slices"):
            texts += [svg.bar([], [], title="A <b> & c"), svg.pie(["a"], [0], title="A <b> & c")]
        for text in texts:
            root = parse(text)
            self.assertTrue(root.get("viewBox"))
            self.assertEqual((None, None), (root.get("width"), root.get("height")))
            self.assertEqual("currentColor", root.get("fill"))
            self.assertEqual("ac-svg", root.get("class"))  # by which publication knows that it is no drawing by hand
            self.assertEqual("A <b> & c", root[0].text)
            self.assertTrue(root[0].tag.endswith("title") and root[1].tag.endswith("desc") and root[1].text)

    def test_everything_lies_within_the_view_box(self):
        for kind in ALL:
            for values in ([5, -3, 0], [1e9, 2e9, 5], [None, 1, None], [0.001, 0.002, 0.003]):
                text = getattr(svg, kind)(["a", "b", "c" * 300], values, title="t" * 300, x_title="x", y_title="y")
                _, _, width, height = map(float, parse(text).get("viewBox").split())
                for node in parse(text).iter():
                    for name, limit in (("x", width), ("cx", width), ("x1", width), ("y", height), ("cy", height), ("y2", height)):
                        if node.get(name) is not None:
                            self.assertTrue(-0.01 <= float(node.get(name)) <= limit + 0.01, (kind, values, name, node.attrib))
                    if node.tag.endswith("rect"):
                        self.assertGreaterEqual(float(node.get("width")), 0)
                        self.assertGreaterEqual(float(node.get("height")), 0)

    def test_hostile_text_stays_text(self):
        names = ["</text><script>x</script>", "\"' onload=x", "x" * 10_000, "\x00\ud800", "مرحبا"]
        for kind in ALL + ("pie", "donut"):
            text = getattr(svg, kind)(names, [1, 2, 3, 4, 5], title=names[0])
            tags = {node.tag.split("}")[1] for node in parse(text).iter()}
            self.assertNotIn("script", tags)
            self.assertLess(len(re.findall("x{100}", text)), 500)

    def test_bars_are_as_long_as_their_values(self):
        rects = [n for n in parse(svg.bar(["a", "b", "c"], [10, 20, -10])).iter() if n.tag.endswith("rect")]
        heights = [float(n.get("height")) for n in rects]
        self.assertAlmostEqual(2, heights[1] / heights[0], 2)
        self.assertAlmostEqual(heights[0], heights[2], 1)
        self.assertAlmostEqual(float(rects[0].get("y")) + heights[0], float(rects[2].get("y")), 1)

    def test_stacks_stand_on_each_other(self):
        rects = [n for n in parse(svg.bar(["a"], {"x": [10], "y": [5]}, stacked=True)).iter() if n.tag.endswith("rect") and n.get("rx") is None]
        self.assertAlmostEqual(float(rects[1].get("y")) + float(rects[1].get("height")), float(rects[0].get("y")), 1)

    def test_gaps_are_gaps(self):
        self.assertEqual(2, svg.line(list("abcde"), [1, 2, None, 3, 4]).count("<polyline"))
        self.assertEqual(1, svg.line(["a"], [1]).count("<circle"))

    def test_ticks_of_whole_numbers_are_told_apart(self):
        texts = [n.text for n in parse(svg.bar(["a"], [1], fmt="integer", value_labels=False)).iter() if n.tag.endswith("text")]
        self.assertEqual(len(texts), len(set(texts)))

    def test_wrong_calls_say_the_right_one(self):
        with self.refused(TypeError, "svg.pie(["):
            svg.pie(["a"])
        with self.refused(ValueError, "svg.bar", '"currency:USD"'):
            svg.bar(["a"], [1], fmt="usd")
        with self.refused(ValueError, "width"):
            svg.bar(["a"], [1], width=1)
        with self.refused(ValueError, "9 series"):
            svg.line(["a"], {str(i): [1] for i in range(9)})


if __name__ == "__main__":
    unittest.main()
