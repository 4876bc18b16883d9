"""Whatever the calls are given, they draw it, or say in their own words why not."""

import contextlib
import io
import json
import random
import re
import unittest
import xml.etree.ElementTree as ET

from place import Case, Tree

from alisio_runtime import charts, svg

KINDS = ("pie", "donut", "bar", "hbar", "line", "area", "scatter")
NUMBERS = (0, 1, -1, 0.5, -1000, 10**400, 1e308, -1e308, 5e-324, float("nan"), float("inf"), None, "1,234", "x", "", True, b"x", [1], {}, 2**63)
TEXTS = ("a", "", "<b>", "\x00", "\ud800", "é" * 50, "مر", None, 3, 2.5, "x" * 3000, "&amp;", "\u2028", "</script>")
FORMATS = ("number", "integer", "percent", "compact", "currency:EUR", "usd", None, 3, {"maximumFractionDigits": 25}, {"maximumSignificantDigits": 3})


class RandomCalls(Case):
    def call(self, draw, module):
        size = draw.randint(0, 12)
        some = lambda pool, n: [draw.choice(pool) for _ in range(n)]  # noqa: E731
        length = lambda: size if draw.random() < 0.8 else draw.randint(0, 12)  # noqa: E731
        values = some(NUMBERS, length())
        if draw.random() < 0.4:
            values = {f"{draw.choice(TEXTS)}{i}": some(NUMBERS, length()) for i in range(draw.randint(0, 9))}
        kind = draw.choice(KINDS)
        more = {"title": draw.choice(TEXTS), "unit": draw.choice(TEXTS), "fmt": draw.choice(FORMATS), "locale": draw.choice((None, "es", "de-CH", "!"))}
        more = {key: value for key, value in more.items() if draw.random() < 0.4}
        if kind in ("bar", "hbar", "area") and draw.random() < 0.4:
            more["stacked"] = True
        return kind, getattr(module, kind)(some(NUMBERS if kind == "scatter" else TEXTS, size), values, **more)

    def test_a_call_is_drawn_or_answered(self):
        drawn = 0
        for seed in range(600):
            draw = random.Random(seed)
            module = (charts, svg)[seed % 2]
            with self.subTest(seed=seed), contextlib.redirect_stderr(io.StringIO()):
                try:
                    kind, text = self.call(draw, module)
                except (TypeError, ValueError) as error:
                    self.assertRegex(str(error), r"^(charts|svg)\.")
                    continue
                drawn += 1
                text.encode("utf-8")
                if module is svg:
                    ET.fromstring(text)
                    for number in re.findall(r' (?:x|y|width|height|cx|cy|x1|x2|y1|y2|r)="([^"]*)"', text):
                        self.assertLess(abs(float(number)), 1e5)
                else:
                    tree = Tree(text)
                    self.assertEqual([], tree.faults)
                    for spec in tree.texts.get("script", []):
                        json.loads(spec, parse_constant=self.fail)
        self.assertGreater(drawn, 200)


if __name__ == "__main__":
    unittest.main()
