"""Datasets among the inputs: SQLite files that hold a table for each sheet, opened for reading.

    db = datasets.open("sales")
    db.execute("SELECT region, sum(amount) FROM data_values GROUP BY region").fetchall()

`data` (or `s_<sheet>`) holds each cell as it was written: "1.234,56" stays that text. `data_values` is the same table with
numbers and dates converted: compute with that one. `tables()` names both, `columns()` says what is in them.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ._check import guide, nearest, some, unknown
from ._places import input_dir

__all__ = ["columns", "connect", "inputs", "open", "tables"]

_ALSO = {"load": "open", "read": "open", "list": "inputs", "schema": "columns", "describe": "columns", "sheets": "tables"}


if not TYPE_CHECKING:  # for a checker, what is not there is not there

    def __getattr__(name: str) -> object:
        raise unknown("datasets", name, __all__, _ALSO)


@guide('datasets.connect(input_dir() / "sales.sqlite")')
def connect(path: str | os.PathLike[str]) -> sqlite3.Connection:
    """Opens any SQLite file for reading. The file is taken to stay as it is while it is open.

    >>> db = connect(input_dir() / "sales.sqlite")
    >>> db.execute("SELECT count(*) FROM data").fetchone()[0]
    4
    """
    target = Path(path).absolute()
    if not target.is_file():
        raise FileNotFoundError(f"datasets.connect: there is no file {str(path)!r}{_there()}")
    with io.open(target, "rb") as file:
        head = file.read(16)
    if head != b"SQLite format 3\0":
        raise ValueError(
            f"datasets.connect: {target.name} is no SQLite file; read it as the file that it is: "
            f'(input_dir() / "{target.name}").read_text()'
        )
    db = sqlite3.connect(f"file:{quote(str(target))}?mode=ro&immutable=1", uri=True)
    db.execute("PRAGMA query_only=ON")
    return db


@guide('datasets.open("sales")')
def open(name: str | os.PathLike[str]) -> sqlite3.Connection:
    """Opens a dataset of the inputs by its name; ".sqlite" may be left off, and its source's name or id will do, too.

    >>> db = open("sales")
    >>> db.execute("SELECT sum(amount) FROM data_values WHERE region = ?", ("north",)).fetchone()[0]
    2035.5
    """
    return connect(_find(name, "datasets.open"))


@guide('datasets.tables("sales")')
def tables(name: str | os.PathLike[str]) -> list[dict[str, object]]:
    """The sheets of a dataset: name (as in the source), table, values (the view with numbers and dates converted), rows, columns.

    >>> tables("sales")
    [{'name': 'data', 'table': 'data', 'values': 'data_values', 'rows': 4, 'columns': 3}]
    """
    with _Closing(_find(name, "datasets.tables")) as db:
        known = _names(db, "_alisio_sheets")
        view = "values_name" if "values_name" in known else "NULL"
        rows = _ask(db, f"SELECT name, table_name, {view}, rows, columns FROM _alisio_sheets ORDER BY ordinal")
        return [dict(zip(("name", "table", "values", "rows", "columns"), row)) for row in rows]


# What columns() tells, and the column of _alisio_columns behind it; those marked came later than the format did.
_COLUMNS = {
    "name": "name",
    "label": "label",
    "type": "inferred_type",
    "nulls": "nulls",
    "distinct": "distinct_count",
    "distinct_exact": "distinct_exact",
    "min": "min",
    "max": "max",
    "mean": "mean",
    "text_fallbacks": "text_fallbacks",
    "top": "top_values",
    "stddev": "stddev",
    "quartiles": "quartiles",
    "parsed_as": "parsed_as",
    "parsed_nulls": "parsed_nulls",
}


@guide('datasets.columns("sales")')
def columns(name: str | os.PathLike[str], table: str | None = None) -> list[dict[str, object]]:
    """The columns of a table (or of all), with type and statistics.

    Each has name (for SQL), label (the header of the source), type (integer, real, date, boolean, text), nulls, distinct,
    distinct_exact, min, max, mean, text_fallbacks (cells kept as text among numbers), top ([{value, count}]), stddev,
    quartiles, and parsed_as: how the cells of a text column read as numbers or dates, which `data_values` has converted.

    >>> [(c["name"], c["type"]) for c in columns("sales")]
    [('region', 'text'), ('day', 'date'), ('amount', 'real')]
    """
    with _Closing(_find(name, "datasets.columns")) as db:
        known = _names(db, "_alisio_columns")
        sheets = _ask(db, "SELECT name, table_name FROM _alisio_sheets ORDER BY ordinal")
        wanted = _table(sheets, table) if table is not None else None
        fields = ", ".join(column if column in known else "NULL" for column in _COLUMNS.values())
        rows = _ask(
            db,
            f"SELECT table_name, {fields} FROM _alisio_columns WHERE ?1 IS NULL OR table_name = ?1 "
            "ORDER BY (SELECT ordinal FROM _alisio_sheets s WHERE s.table_name = _alisio_columns.table_name), ordinal",
            (wanted,),
        )
    found: list[dict[str, object]] = []
    for row in rows:
        column: dict[str, object] = dict(zip(_COLUMNS, row[1:]))
        column["table"] = row[0]
        column["distinct_exact"] = bool(column["distinct_exact"])
        if column["type"] in ("integer", "real"):  # in the file both are text
            column["min"], column["max"] = _as_number(column["min"]), _as_number(column["max"])
        column["top"] = _json(column["top"]) or []
        column["quartiles"] = _json(column["quartiles"])
        found.append(column)
    return found


def inputs() -> list[dict[str, object]]:
    """What this run was given: name, kind ("file" or "dataset"), and bytes, or datasetId, source, format and sheets.

    >>> [(i["name"], i["kind"]) for i in inputs()]
    [('sales.sqlite', 'dataset'), ('notes.txt', 'file')]
    """
    folder = input_dir()
    try:
        listed = json.loads((folder / "inputs.json").read_text(encoding="utf-8"))
        listed = listed["inputs"] if isinstance(listed, dict) else listed
        return [item for item in listed if isinstance(item, dict) and isinstance(item.get("name"), str)]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    if not folder.is_dir():  # by hand, without an input folder
        return []
    found: list[dict[str, object]] = []
    for entry in sorted(folder.iterdir()):
        if entry.is_file() and entry.name != "inputs.json":
            kind = "dataset" if entry.suffix == ".sqlite" else "file"
            found.append({"name": entry.name, "kind": kind, "bytes": entry.stat().st_size})
    return found


class _Closing:
    def __init__(self, path: Path) -> None:
        self.db = connect(path)

    def __enter__(self) -> sqlite3.Connection:
        return self.db

    def __exit__(self, *_: object) -> None:
        self.db.close()


def _ask(db: sqlite3.Connection, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    try:
        return db.execute(sql, values).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            raise ValueError(
                "datasets: this SQLite file is no dataset of alisio; ask it yourself: datasets.connect(path), "
                "then SELECT name FROM sqlite_master"
            ) from None
        raise


def _names(db: sqlite3.Connection, table: str) -> set[object]:
    return {row[0] for row in _ask(db, "SELECT name FROM pragma_table_info(?)", (table,))}


def _table(sheets: list[tuple[object, ...]], table: str) -> str:
    for name, table_name in sheets:
        if table in (table_name, f"{table_name}_values", name):
            return str(table_name)
    names = [str(sheet[1]) for sheet in sheets]
    raise LookupError(f"datasets.columns: there is no table {table!r}; there is {some(names)}{nearest(str(table), names)}")


def _as_number(text: object) -> object:
    try:
        number = float(text) if isinstance(text, str) else text
    except ValueError:  # a text among the numbers
        return text
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 1e15 else number


def _json(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _there() -> str:
    names = [str(item["name"]) for item in inputs() if item.get("kind") == "dataset"]
    if names:
        return f"; the datasets of this run are {some(names)}"
    return '; this run was given no dataset: ask for one with python_run {"inputs": [{"datasetId": "ds_…"}]}'


def _find(name: str | os.PathLike[str], where: str) -> Path:
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f'{where}: a dataset is named by text, such as {where}("sales"), not by {type(name).__name__}')
    text = os.fspath(name)
    if os.path.isabs(text):
        return Path(text)
    given = inputs()
    for item in given:
        own = str(item["name"])
        stem = own.removesuffix(".sqlite")
        if item.get("kind") == "dataset" and text in (own, stem, item.get("datasetId"), item.get("source")):
            return input_dir() / own
    for item in given:
        if item["name"] == text:
            raise ValueError(
                f"{where}: {text} was given as a file, not as a dataset; read it with "
                f'(input_dir() / "{text}").read_text(), or give it as {{"datasetId": "ds_…"}}'
            )
    plain = text if text.endswith(".sqlite") else f"{text}.sqlite"
    if ".." not in Path(plain).parts and (input_dir() / plain).is_file():
        return input_dir() / plain
    stems = [str(item["name"]).removesuffix(".sqlite") for item in given if item.get("kind") == "dataset"]
    raise FileNotFoundError(f"{where}: there is no dataset {text!r}{nearest(text, stems)}{_there()}")
