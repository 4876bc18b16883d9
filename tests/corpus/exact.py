"""Cell by cell: what `SELECT *` prints with --exact against what Python's own readers see.

exact.py BINARY CORPUS [PART]. CSV against the module csv (of the same delimiter and encoding, where the file is regular: what is
told in notes is no difference), JSON against the module json.
"""
import csv
import io
import itertools
import json
import re
import sys

import alisio

# Notes under which two readers may differ by right, and the figure says so; all else must be equal.
IRREGULAR = {"short_rows", "long_rows", "cut_rows", "unterminated_quote", "stray_quote", "invalid_bytes", "comment_lines", "preamble", "other"}
# Where Python is another reader by right.
KNOWN = {
    "csv/messytables/characters.csv": "Big5 0xA145 is U+2027 in ICU's table, as in Unicode's own, and U+2022 in Python's",
}
csv.field_size_limit(1 << 30)


def differs(ours, theirs):
    """The first difference of two lists of rows of texts; None: there is none."""
    for y, (a, b) in enumerate(itertools.zip_longest(ours, theirs)):
        if a != b:
            if a is None or b is None or len(a) != len(b):
                return "row %d: %.200r, not %.200r" % (y + 1, a, b)
            x = next(i for i in range(len(a)) if a[i] != b[i])
            return "row %d, column %d: %.100r, not %.100r" % (y + 1, x + 1, a[x], b[x])
    return None


def compare_csv(path):
    with alisio.Home() as home:
        v = home.inspect(path)
        if not v or v["format"] not in ("csv", "tsv"):
            return "refused", 0, None
        notes = {note["kind"]: note for note in v["notes"]}
        if IRREGULAR & set(notes):
            return "irregular", 0, None
        rows = [[text for text, _ in row] for row in home.export(path, v["sheets"][0]["table"])]
    with open(path, "rb") as f:
        raw = f.read()
    try:
        text = alisio.decode(raw, v["encoding"])
    except (LookupError, UnicodeDecodeError):
        return "irregular", 0, None
    if text.lower().startswith("sep=") and text[5:6] in ("\r", "\n"):
        text = text.split("\n", 1)[1]
    delimiter = v.get("delimiter") or "\x1f"
    said = " ".join(note["message"] for note in v["notes"])
    # A NUL is a character like others from Python 3.11 on.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar="'" if "quoted by '" in said else '"',
                        escapechar="\\" if "backslash stands before quotes" in said else None,
                        skipinitialspace="blank stands behind" in said)
    columns = v["sheets"][0]["columns"]
    width = len(columns)
    # A blank line is no row, unless the note says that it is an empty cell.
    empty = "lines are empty cells" in said
    theirs = [row or [""] for row in reader if row or empty]
    header = re.search("the header has ([0-9]+) lines", said)
    if header:
        theirs = theirs[int(header[1]):]
    elif "header" not in notes and not (empty and theirs[0] == [""]):
        theirs = theirs[1:]
    if "no column is made of" in said:
        theirs = [row[:width] if not any(row[width:]) else row for row in theirs]
    if any(len(row) != width for row in theirs):
        return "differ", 0, "widths: %d columns, rows of %s" % (width, sorted({len(row) for row in theirs})[:8])
    return "same", width * len(rows), differs(rows, theirs)


def print_json(v):
    return "" if v is None else ("true" if v else "false") if isinstance(v, bool) else v if isinstance(v, str) else str(v)


class Literal(str):
    """A number as it was written."""


def same_scalar(ours, quoted, theirs):
    if isinstance(theirs, Literal):
        return ours == theirs or float(ours) == float(theirs)
    return ours == print_json(theirs)


def compare_json(path):
    with alisio.Home() as home:
        v = home.inspect(path)
        if not v or v["format"] not in ("json", "jsonl"):
            return "refused", 0, None
        notes = {note["kind"] for note in v["notes"]}
        if notes & {"duplicate_keys", "not_objects", "invalid_bytes", "wrapper", "other"} or v["encoding"] != "UTF-8":
            return "irregular", 0, None
        sheet = v["sheets"][0]
        rows = home.export(path, sheet["table"])
    with open(path, "rb") as f:
        text = f.read().decode()
    decoder = json.JSONDecoder(parse_float=Literal, parse_int=Literal, strict=False)
    load, records, at = decoder.decode, [], 0
    try:
        while at < len(text.rstrip()):
            v, at = decoder.raw_decode(text, re.compile("[\\s,\ufeff\x1e]*").match(text, at).end())
            records.append(v)
    except (ValueError, RecursionError):
        return "irregular", 0, None
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    if not all(isinstance(r, dict) for r in records):
        return "irregular", 0, None
    labels = [c["label"] for c in sheet["columns"]]
    if len(records) == 1 and len(rows) != 1 and all(isinstance(c, list) for c in records[0].values()):
        columns = records[0]
        records = [dict(zip(columns, cells)) for cells in itertools.zip_longest(*columns.values())]
    if len(rows) != len(records):
        return "same", 0, "%d rows, not %d" % (len(rows), len(records))
    cells = 0
    for y, (row, record) in enumerate(zip(rows, records)):
        if not set(record) <= set(labels):
            return "same", cells, "row %d: keys %r are no columns" % (y + 1, sorted(set(record) - set(labels))[:5])
        for label, (ours, quoted) in zip(labels, row):
            theirs = record.get(label)
            if isinstance(theirs, (dict, list)):
                if load(ours) != theirs:
                    return "same", cells, "row %d, %r: %.100r, not %.100r" % (y + 1, label, ours, theirs)
            elif not same_scalar(ours, quoted, theirs):
                return "same", cells, "row %d, %r: %.100r, not %.100r" % (y + 1, label, ours, theirs)
            cells += 1
    return "same", cells, None


def run(what, compare, paths):
    count, cells, wrong, known = {}, 0, 0, 0
    for path, (kind, n, why) in alisio.each(compare, paths):
        kind = "same" if kind == "differ" else kind
        count[kind] = count.get(kind, 0) + 1
        cells += n
        if why and alisio.name(path) in KNOWN:
            known += 1
            print("%s (explained): %s" % (alisio.name(path), KNOWN[alisio.name(path)]), flush=True)
        elif why:
            wrong += 1
            print("%s: %s" % (alisio.name(path), why), flush=True)
    print("corpus: exact cells of %s | %d files, %d cells, %d files differ, %d explained; %d irregular and noted, %d refused or of another format"
          % (what, count.get("same", 0), cells, wrong, known, count.get("irregular", 0), count.get("refused", 0)))
    return wrong


failed = run("CSV", compare_csv, alisio.files(".csv", ".tsv", ".txt", ".psv", ".ssv"))
failed += run("JSON", compare_json, alisio.files(".json", ".jsonl", ".ndjson"))
sys.exit(1 if failed else 0)
