"""outputs, html, datasets, progress and the folders."""

import decimal
import fractions
import json
import os
import shutil
import sqlite3
import subprocess
import unittest
from pathlib import Path

from place import Case, Tree

import alisio_runtime
from alisio_runtime import _progress, charts, datasets, html, outputs


class Folders(Case):
    def test_folders_are_those_of_the_run(self):
        for name, call in (("out", alisio_runtime.output_dir), ("input", alisio_runtime.input_dir), ("work", alisio_runtime.work_dir)):
            self.assertEqual(self.place.dir / name, call())
        self.assertEqual("exec_01", alisio_runtime.execution_id())
        os.environ["ALISIO_SCRATCH_DIR"] = "/s"
        self.assertEqual(Path("/s"), alisio_runtime.scratch_dir())

    def test_by_hand_they_are_here(self):
        for name in self.place.VARIABLES:
            os.environ.pop(name, None)
        here = Path.cwd()
        self.assertEqual(here / "out", alisio_runtime.output_dir())
        self.assertTrue((here / "out").is_dir())
        self.assertEqual((here / "input", here, here / "scratch", "local"), (
            alisio_runtime.input_dir(), alisio_runtime.work_dir(), alisio_runtime.scratch_dir(), alisio_runtime.execution_id()))
        self.assertEqual([], datasets.inputs())

    def test_unknown_names_of_the_package_are_answered_with_the_known_ones(self):
        with self.refused(AttributeError, "chart", "charts"):
            alisio_runtime.chart


class Outputs(Case):
    def declared(self):
        return json.loads((self.out / "outputs.json").read_text())["artifacts"]

    def test_path_makes_the_folders(self):
        target = outputs.path("a/b/c.csv")
        self.assertEqual(self.out / "a/b/c.csv", target)
        self.assertTrue(target.parent.is_dir())
        self.assertEqual(target, outputs.path(target))

    def test_declare_replaces_the_same_path_and_keeps_the_others(self):
        for name in ("a.txt", "b.txt"):
            outputs.path(name).write_text("x")
            outputs.declare(name, title=f"Old {name}")
        outputs.declare(self.out / "a.txt", title="New é")
        self.assertEqual([{"path": "b.txt", "title": "Old b.txt"}, {"path": "a.txt", "title": "New é"}], self.declared())

    def test_folders_may_name_their_entry(self):
        outputs.path("site/start.html").write_text("x")
        outputs.declare("site", entry="start.html")
        self.assertEqual([{"path": "site", "entry": "start.html"}], self.declared())
        with self.refused(FileNotFoundError, "index.html", "site"):
            outputs.declare("site", entry="index.html")

    def test_a_missing_file_is_said_with_what_there_is(self):
        outputs.path("other.txt").write_text("x")
        with self.refused(FileNotFoundError, "report.html", "other.txt", 'outputs.path("report.html")'):
            outputs.declare("report.html")

    def test_names_that_lead_elsewhere_are_refused(self):
        for name in ("../x", "a/../../x", "..\\x", "/etc/passwd", ".hidden", "a/.b/c", "", ".", "a\nb", "/".join("abcdefghij")):
            with self.refused(ValueError, "outputs.path"):
                outputs.path(name)
        with self.refused(TypeError, "report.html"):
            outputs.path(3)
        outputs.path(".nojekyll")

    def test_a_broken_list_is_not_overwritten(self):
        (self.out / "outputs.json").write_text("{")
        outputs.path("a.txt").write_text("x")
        with self.refused(ValueError, "outputs.json"):
            outputs.declare("a.txt")


class Html(Case):
    def test_page_is_whole_and_escaped(self):
        tree = Tree(html.page("A <b> & \"c\"", "<p>x</p>", css="p{color:red}</style><script>1</script>", lang="es-CO"))
        self.assertEqual([], tree.faults)
        self.assertEqual(0, tree.tags.count("script"))
        self.assertEqual(['A <b> & "c"'], tree.texts["title"])
        self.assertEqual(['A <b> & "c"'], tree.texts["h1"])
        self.assertIn(("html", "lang", "es-CO"), tree.attributes)

    def test_a_heading_of_the_body_is_kept_alone(self):
        self.assertEqual(1, html.page("A", "<H1 class=x>B</H1>").lower().count("<h1"))

    def test_charts_in_any_page_bring_their_library(self):
        self.assertIn("Chart.js v4.5.1", html.page("A", charts.bar(["a"], [1])))
        self.assertNotIn("Chart.js", html.page("A", "<p>x</p>"))

    def test_write_keeps_to_the_output_folder(self):
        self.assertEqual(self.out / "a/b.html", html.write("a/b.html", "T", "<p>é 👩</p>"))
        self.assertIn("é 👩", (self.out / "a/b.html").read_text(encoding="utf-8"))
        with self.refused(ValueError, "html.write", "leads out", '"report.html"'):
            html.write("../report.html", "T", "")
        with self.refused(ValueError, '"report.html"'):
            html.write("report", "T", "")
        with self.refused(TypeError, "body is text"):
            html.write("a.html", "T", ["x"])
        with self.refused(ValueError, "lang"):
            html.write("a.html", "T", "", lang="en\"><script>")

    def test_what_utf8_cannot_hold_is_replaced(self):
        html.write("a.html", "T\ud800", "<p>\x00\udfff</p>")
        self.assertEqual("", html.escape(None))
        self.assertEqual("\ufffd&#x27;", html.escape("\x01'"))

    def test_tables(self):
        text = html.table([["<b>", 1204.5, None], ["x", 15320]], headers=["Name", "Amount"])
        tree = Tree(text)
        self.assertEqual([], tree.faults)
        self.assertEqual(["<b>", "1,204.5", "x", "15,320.0"], tree.texts["td"])
        self.assertEqual(2, tree.tags.count("th"))
        rows = html.table([{"a": 1, "b": "x"}, {"b": "y"}])
        self.assertEqual((["a", "b"], ["1", "x", "y"]), (Tree(rows).texts["th"], Tree(rows).texts["td"]))
        self.assertEqual(["2024", "2025"], Tree(html.table([[2024], [2025]])).texts["td"])
        self.assertEqual(["1.5", "2.0"], Tree(html.table([[decimal.Decimal("1.5")], [fractions.Fraction(2)]])).texts["td"])
        self.assertEqual(["1.10"], Tree(html.table([[decimal.Decimal("1.10")]])).texts["td"])
        self.assertIn("<tbody></tbody>", html.table([]))
        with self.refused(TypeError, "html.table", "a list of its own"):
            html.table(["north", 3])
        with self.refused(TypeError, "list of rows"):
            html.table("x")

    def test_rows_of_a_query_are_rows(self):
        self.assertIn("north", html.table(datasets.open("sales").execute("SELECT * FROM data")))

    def test_plotly_that_is_missing_names_the_command(self):
        try:
            import plotly  # noqa: F401
        except ImportError:
            with self.refused(ImportError, "alisio analysis setup --extras analysis"):
                html.inline_plotly()


class Datasets(Case):
    def test_a_dataset_opens_by_name_file_source_id_and_path(self):
        for name in ("sales", "sales.sqlite", "sales.csv", "ds_01", self.place.dir / "input/sales.sqlite"):
            db = datasets.open(name)
            self.assertEqual(4, db.execute("SELECT count(*) FROM data_values").fetchone()[0])
            db.close()

    def test_it_is_read_only(self):
        db = datasets.open("sales")
        for sql in ("DELETE FROM data", "CREATE TABLE x(y)", "INSERT INTO data VALUES (1, 2, 3)"):
            with self.assertRaises(sqlite3.OperationalError):
                db.execute(sql)
        self.assertEqual(["notes.txt", "sales.sqlite"], sorted(i["name"] for i in datasets.inputs()))

    def test_names_with_marks_of_addresses_are_names(self):
        odd = self.place.dir / "input" / "a b?mode=rw#%41.sqlite"
        shutil.copy(self.place.dir / "input/sales.sqlite", odd)
        self.assertEqual(4, datasets.open("a b?mode=rw#%41").execute("SELECT count(*) FROM data").fetchone()[0])
        with self.assertRaises(sqlite3.OperationalError):
            datasets.connect(odd).execute("DELETE FROM data")

    def test_columns_and_tables(self):
        self.assertEqual([{"name": "data", "table": "data", "values": "data_values", "rows": 4, "columns": 3}], datasets.tables("sales"))
        for table in (None, "data", "data_values"):
            found = datasets.columns("sales", table)
            self.assertEqual(["region", "day", "amount"], [c["name"] for c in found])
        self.assertEqual((99.25, 1200.5), (found[2]["min"], found[2]["max"]))
        self.assertEqual("2026-01-05", found[1]["min"])
        self.assertEqual([{"value": "north", "count": 2}, {"value": "south", "count": 1}], found[0]["top"])
        self.assertIs(True, found[0]["distinct_exact"])
        with self.refused(LookupError, "dta", '"data"'):
            datasets.columns("sales", "dta")

    def test_unknown_names_are_answered_with_what_there_is(self):
        with self.refused(FileNotFoundError, "'sale'", 'did you mean "sales"', "sales.sqlite"):
            datasets.open("sale")
        with self.refused(ValueError, "as a file", "datasetId"):
            datasets.open("notes.txt")
        with self.refused(ValueError, "no SQLite file"):
            datasets.connect(self.place.dir / "input/notes.txt")
        with self.refused(TypeError, "datasets.open"):
            datasets.open(3)
        with self.refused(FileNotFoundError, "../out"):
            datasets.open("../out/x")
        sqlite3.connect(self.place.dir / "work/other.sqlite").close()
        other = self.place.dir / "work/other.sqlite"
        db = sqlite3.connect(other)
        db.execute("CREATE TABLE t(x)")
        db.commit()
        db.close()
        with self.refused(ValueError, "no dataset", "sqlite_master"):
            datasets.tables(other)
        (self.place.dir / "input/inputs.json").write_text("[]")
        os.remove(self.place.dir / "input/sales.sqlite")
        with self.refused(FileNotFoundError, "no dataset", "datasetId"):
            datasets.open("sales")


@unittest.skipUnless(os.environ.get("ALISIO_BINARY") and os.name == "posix", "ALISIO_BINARY names no binary")
class DatasetsOfTheBinary(Case):
    def test_a_dataset_that_alisio_made(self):
        workspace = self.place.dir / "workspace"
        workspace.mkdir()
        (workspace / "Ventas.csv").write_text('Año de venta,Betrag €\n2024,"1.234,50"\n2025,"12.000,10"\n', encoding="utf-8")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.place.dir), "ALISIO_STATE_HOME": str(self.place.dir / "state"),
               "ALISIO_CONFIG_HOME": str(self.place.dir / "config")}
        subprocess.run([os.environ["ALISIO_BINARY"], "data", "inspect", "Ventas.csv"], cwd=workspace, env=env, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        (made,) = (self.place.dir / "state").glob("**/ds_*.sqlite")
        shutil.copy(made, self.place.dir / "input/Ventas.sqlite")
        (self.place.dir / "input/inputs.json").unlink()
        self.assertEqual("data_values", datasets.tables("Ventas")[0]["values"])
        year, amount = datasets.columns("Ventas")
        self.assertEqual(("ano_de_venta", "Año de venta", "integer", 2024), (year["name"], year["label"], year["type"], year["min"]))
        self.assertEqual("1.234,56", amount["parsed_as"])
        total = datasets.open("Ventas").execute(f"SELECT sum({amount['name']}) FROM data_values").fetchone()[0]
        self.assertAlmostEqual(13234.6, total)


class Progress(Case):
    def setUp(self):
        super().setUp()
        self.file = self.place.dir / "work/.alisio-progress.json"

    def said(self):
        return json.loads(self.file.read_text())

    def test_without_a_listener_nothing_is_written(self):
        alisio_runtime.progress(1, 2, "x")
        self.assertFalse(self.file.exists())

    def test_the_last_word_stands_and_nothing_of_the_one_before(self):
        os.environ["ALISIO_PROGRESS_FILE"] = str(self.file)
        alisio_runtime.progress(1, 10, note="a long note " * 10)
        alisio_runtime.progress(2.5, 10)
        self.assertEqual({"completed": 2.5, "total": 10}, self.said())
        alisio_runtime.progress(note="ü" * 5000)
        self.assertEqual({"note": "ü" * 200}, self.said())
        self.assertLess(self.file.stat().st_size, 4096)
        alisio_runtime.progress()
        self.assertEqual({}, self.said())

    def test_a_reader_between_the_two_steps_finds_one_object(self):
        os.environ["ALISIO_PROGRESS_FILE"] = str(self.file)
        alisio_runtime.progress(1, 10, note="a long note")
        cut = os.ftruncate
        try:
            os.ftruncate = lambda fd, n: None
            alisio_runtime.progress(2)
            self.assertEqual({"completed": 2}, self.said())
        finally:
            os.ftruncate = cut

    def test_wrong_calls_say_the_right_one(self):
        with self.refused(TypeError, "completed is a number", "note='half'"):
            alisio_runtime.progress("half")
        with self.refused(ValueError, "total"):
            alisio_runtime.progress(1, -2)
        with self.refused(ValueError, "completed"):
            alisio_runtime.progress(float("nan"))
        with self.refused(TypeError, "note is text"):
            alisio_runtime.progress(1, 2, 3)
        with self.refused(TypeError, "step", "progress(3, 10"):
            alisio_runtime.progress(step=3)

    def test_a_file_that_cannot_be_written_stops_no_script(self):
        os.environ["ALISIO_PROGRESS_FILE"] = str(self.place.dir / "nowhere/x")
        alisio_runtime.progress(1)
        target = self.place.dir / "victim"
        target.write_text("kept")
        os.symlink(target, self.place.dir / "link")
        os.environ["ALISIO_PROGRESS_FILE"] = str(self.place.dir / "link")
        alisio_runtime.progress(1)
        self.assertEqual("kept", target.read_text())

    @unittest.skipUnless(hasattr(os, "fork") and os.environ.get("ALISIO_NO_FORK") is None, "no fork here")
    def test_children_may_say_it_too(self):
        os.environ["ALISIO_PROGRESS_FILE"] = str(self.file)
        alisio_runtime.progress(1)
        child = os.fork()
        if child == 0:
            alisio_runtime.progress(2)
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual({"completed": 2}, self.said())
        alisio_runtime.progress(3)
        self.assertEqual({"completed": 3}, self.said())


if __name__ == "__main__":
    unittest.main()
