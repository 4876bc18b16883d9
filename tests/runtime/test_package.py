"""What holds for the package as a whole: annotations, imports, documents, colours."""

import ast
import compileall
import contextlib
import doctest
import importlib
import io
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

from place import PACKAGE, ROOT, SOURCE, Case, Place

MODULES = sorted(path.stem for path in PACKAGE.glob("*.py"))
SUPPORT = tuple(sys.stdlib_module_names)


def tree(name):
    return ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"), name)


class Source(unittest.TestCase):
    def test_every_function_is_annotated_and_the_public_ones_are_explained(self):
        for name in MODULES:
            module = tree(name)
            self.assertTrue(ast.get_docstring(module), name)
            for node in ast.walk(module):
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                where = f"{name}.{node.name}"
                self.assertIsNotNone(node.returns, where)
                arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                arguments += [a for a in (node.args.vararg, node.args.kwarg) if a]
                for argument in arguments:
                    self.assertTrue(argument.annotation or argument.arg == "self", f"{where}: {argument.arg}")
            for node in module.body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                    self.assertTrue(ast.get_docstring(node), f"{name}.{node.name}")
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_it_imports_the_standard_library_alone(self):
        for name in MODULES:
            for node in ast.walk(tree(name)):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module]
                for module in names:
                    top = module.split(".")[0]
                    self.assertTrue(top in SUPPORT or (name, top) == ("html", "plotly"), f"{name} imports {module}")

    def test_it_compiles(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "p"))
            for name in MODULES:
                text = (PACKAGE / f"{name}.py").read_text(encoding="utf-8")
                with open(os.path.join(folder, "p", f"{name}.py"), "w", encoding="utf-8") as copy:
                    copy.write(text)
                ast.parse(text, feature_version=(3, 10))
            self.assertTrue(compileall.compile_dir(folder, quiet=1))

    def test_public_names_are_listed(self):
        for name in ("charts", "datasets", "html", "outputs", "svg"):
            module = importlib.import_module(f"alisio_runtime.{name}")
            self.assertEqual(sorted(module.__all__), list(module.__all__), name)
            for public in module.__all__:
                self.assertTrue(hasattr(module, public), f"{name}.{public}")

    def test_scripts_in_pages_cannot_end_their_element(self):
        from alisio_runtime import charts

        for text in (charts._chart_js(), (PACKAGE / "charts-boot.js").read_text(encoding="utf-8")):
            self.assertNotRegex(text.lower(), "</script|<!--")
        boot = (PACKAGE / "charts-boot.js").read_text(encoding="utf-8")
        for word in ("innerHTML", "eval(", "new Function", "document.write", "fetch(", "XMLHttpRequest", "localStorage", "cookie"):
            self.assertNotIn(word, boot)

    @unittest.skipIf(sys.platform == "emscripten", "no processes here")
    def test_what_a_script_does_not_use_is_not_loaded(self):
        code = "import sys, alisio_runtime; alisio_runtime.progress; print(*sorted(m for m in sys.modules if 'alisio' in m), 'sqlite3' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"},
                              capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual("alisio_runtime alisio_runtime._check alisio_runtime._places alisio_runtime._progress False", done.stdout.strip())


class Documents(Case):
    def test_examples_of_the_docstrings_hold(self):
        ran = 0
        for name in MODULES:
            module = importlib.import_module("alisio_runtime" if name == "__init__" else f"alisio_runtime.{name}")
            with self.says():
                result = doctest.testmod(module, verbose=False)
            self.assertEqual(0, result.failed, name)
            ran += result.attempted
        self.assertGreater(ran, 50)

    def test_every_public_function_has_an_example(self):
        for name in ("charts", "datasets", "html", "outputs", "svg"):
            module = importlib.import_module(f"alisio_runtime.{name}")
            for public in module.__all__:
                thing = getattr(module, public)
                if callable(thing) and public not in ("library", "inline_plotly"):
                    self.assertIn(">>>", thing.__doc__, f"{name}.{public}")

    def test_examples_of_the_guide_run(self):
        page = ROOT / "docs" / "alisio_runtime.md"
        if not page.exists():
            self.skipTest("the docs are not here")
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 5)
        for i, block in enumerate(blocks):
            place = Place()
            try:
                with self.says(), contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block, f"docs/alisio_runtime.md, example {i + 1}", "exec"), {"__name__": "__main__"})
            finally:
                place.remove()


# --- colours ---
def linear(hex_colour):
    parts = [int(hex_colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def contrast(one, other):
    lights = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(linear, (one, other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


# Dichromats' view (Machado, Oliveira, Fernandes 2009, severity 1), in linear light; distances in OKLab (Ottosson 2020).
VIEWS = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def seen(hex_colour, view):
    rgb = linear(hex_colour)
    r, g, b = (max(0, min(1, sum(a * c for a, c in zip(row, rgb)))) for row in VIEWS[view])
    cube = [
        (x * r + y * g + z * b) ** (1 / 3)
        for x, y, z in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    ]
    rows = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    return tuple(sum(a * c for a, c in zip(row, cube)) for row in rows)


def schemes(name):
    """The custom properties of a stylesheet in light and in dark."""
    css = (PACKAGE / name).read_text(encoding="utf-8")
    light, dark = css.split("@media screen and (prefers-color-scheme: dark)", 1)
    dark = dark.split("}", 1)[0]
    return [dict(re.findall(r"--ac-([a-z0-9]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]


class Colours(unittest.TestCase):
    def test_both_stylesheets_have_the_same_colours(self):
        for base, own in zip(schemes("html-base.css"), schemes("charts.css")):
            self.assertEqual(base, {key: own[key] for key in base})
            self.assertGreater(len(base), 7)

    def test_text_is_readable_and_shapes_stand_out(self):
        for scheme in schemes("charts.css"):
            for ground in ("ground", "sheet", "well"):
                for text in ("ink", "soft", "link"):
                    self.assertGreaterEqual(contrast(scheme[text], scheme[ground]), 4.5, (text, ground))
            for colour in [str(i) for i in range(1, 9)] + ["other", "edge"]:
                self.assertGreaterEqual(contrast(scheme[colour], scheme["sheet"]), 3, colour)
                self.assertGreaterEqual(contrast(scheme[colour], scheme["ground"]), 3, colour)

    def test_static_colours_stand_out_on_both(self):
        from alisio_runtime import svg

        for colour in (*svg.PALETTE, svg._OTHER):
            for ground in ("#ffffff", "#f3f5f4", "#151f1d"):
                self.assertGreaterEqual(contrast(colour, ground), 3, (colour, ground))

    def test_series_are_told_apart_by_everybody(self):
        from alisio_runtime import svg

        palettes = [[scheme[str(i)] for i in range(1, 9)] for scheme in schemes("charts.css")] + [list(svg.PALETTE)]
        for palette in palettes:
            self.assertEqual(8, len(set(palette)))
            for view in VIEWS:
                for i in range(8):
                    for j in range(i):
                        distance = math.dist(seen(palette[i], view), seen(palette[j], view))
                        self.assertGreaterEqual(distance, 0.08 if i < 4 else 0.05, (palette[i], palette[j], view))


if __name__ == "__main__":
    unittest.main()
