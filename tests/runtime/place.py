"""A job as alisio lays it out: folders, environment, a dataset among the inputs."""

import contextlib
import functools
import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "py"
PACKAGE = SOURCE / "alisio_runtime"
sys.path.insert(0, str(SOURCE))
sys.dont_write_bytecode = True

ROWS = [
    ("north", "2026-01-05", 1200.5, "1.200,50"),
    ("south", "2026-01-06", 830, "830,00"),
    ("north", "2026-02-01", 835, "835,00"),
    (None, "2026-02-03", 99.25, None),
]


def make_dataset(path):
    """What the ingest writes for a file of four rows (src/dataset/dataset.h); a real one is in DatasetsOfTheBinary."""
    db = sqlite3.connect(path)
    db.executescript(
        """
        PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF; BEGIN;
        CREATE TABLE _alisio_meta(key PRIMARY KEY, value);
        CREATE TABLE _alisio_sheets(ordinal INTEGER PRIMARY KEY, name, table_name, rows, columns, values_name);
        CREATE TABLE _alisio_columns(table_name, ordinal, name, label, inferred_type, nulls, distinct_count, distinct_exact,
          min, max, mean, text_fallbacks, top_values, stddev, quartiles, scale, parsed_as, parsed_nulls, min_length,
          max_length, PRIMARY KEY(table_name, ordinal));
        CREATE TABLE data(region, day, amount);
        CREATE VIEW data_values AS SELECT * FROM data;
        INSERT INTO _alisio_sheets VALUES (1, 'data', 'data', 4, 3, 'data_values');
        """
    )
    db.executemany("INSERT INTO data VALUES (?, ?, ?)", [row[:3] for row in ROWS])
    top = json.dumps([{"value": "north", "count": 2}, {"value": "south", "count": 1}])
    for i, (name, kind, low, high) in enumerate(
        (("region", "text", "north", "south"), ("day", "date", "2026-01-05", "2026-02-03"), ("amount", "real", "99.25", "1200.5")), 1
    ):
        db.execute(
            "INSERT INTO _alisio_columns VALUES ('data', ?, ?, ?, ?, ?, 3, 1, ?, ?, NULL, 0, ?, NULL, NULL, NULL, NULL, NULL, 5, 9)",
            (i, name, name.title(), kind, int(name == "region"), low, high, top),
        )
    db.commit()
    db.close()


@functools.lru_cache(maxsize=1)
def dataset_bytes():
    with tempfile.TemporaryDirectory() as folder:
        make_dataset(Path(folder) / "d")
        return (Path(folder) / "d").read_bytes()


class Place:
    """Folders under a fresh one; the environment points there until remove()."""

    VARIABLES = ("ALISIO_OUTPUT_DIR", "ALISIO_INPUT_DIR", "ALISIO_WORK_DIR", "ALISIO_SCRATCH_DIR", "ALISIO_EXECUTION_ID",
                 "ALISIO_PROGRESS_FILE")

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="alisio-runtime-"))
        for name in ("out", "input", "work"):
            (self.dir / name).mkdir()
        (self.dir / "input" / "sales.sqlite").write_bytes(dataset_bytes())
        (self.dir / "input" / "notes.txt").write_text("n")
        listed = [
            {"name": "sales.sqlite", "kind": "dataset", "datasetId": "ds_01", "source": "sales.csv", "format": "csv", "sheets": ["data"]},
            {"name": "notes.txt", "kind": "file", "bytes": 1},
        ]
        (self.dir / "input" / "inputs.json").write_text(json.dumps(listed))
        self.before = {name: os.environ.get(name) for name in self.VARIABLES}
        self.cwd = os.getcwd()
        os.environ.update(
            ALISIO_OUTPUT_DIR=str(self.dir / "out"),
            ALISIO_INPUT_DIR=str(self.dir / "input"),
            ALISIO_WORK_DIR=str(self.dir / "work"),
            ALISIO_EXECUTION_ID="exec_01",
        )
        os.environ.pop("ALISIO_PROGRESS_FILE", None)
        os.environ.pop("ALISIO_SCRATCH_DIR", None)
        os.chdir(self.dir / "work")

    def remove(self):
        os.chdir(self.cwd)
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(self.dir, ignore_errors=True)


class Case(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.out = self.place.dir / "out"
        self.addCleanup(self.place.remove)

    @contextlib.contextmanager
    def says(self, *words):
        """Notes on standard error within; each of words is in them, and without words there are none."""
        log = io.StringIO()
        with contextlib.redirect_stderr(log):
            yield
        for word in words:
            self.assertIn(word, log.getvalue())
        if not words:
            self.assertEqual("", log.getvalue())

    @contextlib.contextmanager
    def refused(self, kind, *words):
        """An error of this kind, whose text has all the words."""
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(kind) as caught:
            yield
        for word in words:
            self.assertIn(word, str(caught.exception))


class Tree(HTMLParser):
    """Reads HTML as a browser would start to: counts elements, keeps attributes and the text of each kind of element."""

    VOID = {"meta", "link", "br", "hr", "img", "input"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts, self.faults = [], [], [], {}, []
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"left open: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> fits nothing")

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)
