"""Workbooks against openpyxl: cell by cell, and each sheet against the CSV that openpyxl makes of it.

workbooks.py BINARY CORPUS [PART]. Cells are compared row by row without their empty ones, since sheets are read without blank rows
and columns. A CSV twin must give the same columns, types and statistics.
"""
import csv
import datetime
import os
import re
import sys
import warnings

import alisio

try:
    import openpyxl
except ImportError:
    print("corpus: workbooks | openpyxl is not here")
    sys.exit(0)

warnings.simplefilter("ignore")
STATISTICS = ("name", "label", "type", "nulls", "distinct", "min", "max", "mean", "stddev", "quartiles", "textFallbacks", "parsedAs")
# Where openpyxl is another reader by right: path: reason.
KNOWN = {
    "xlsx/exceljs/1904.xlsx": "serial 0 of a 1904 workbook is 1904-01-01; openpyxl takes it for a time",
    "xlsx/exceljs/shared_string_with_escape.xlsx": "openpyxl takes _x005F_ off, so its _x000D_ cannot be told from an escape",
}


def unescape(text):
    """_xHHHH_ of ECMA-376, 22.9.2.19; openpyxl leaves it."""
    text = re.sub("_x([0-9A-Fa-f]{4})_", lambda m: chr(int(m[1], 16)), text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def seconds(moment):
    return moment + datetime.timedelta(microseconds=500000) if moment.microsecond >= 500000 else moment


def show(v):
    """A value as the sheet's CSV export has it."""
    if v is None:
        return ""
    if isinstance(v, bool):
        return "TRUE" if v else "FALSE"
    if isinstance(v, float) and v.is_integer() and abs(v) < 2**53:
        return str(int(v))
    if isinstance(v, datetime.datetime):
        v = seconds(v).replace(microsecond=0)
        return v.isoformat() if v.time() != datetime.time() else v.date().isoformat()
    if isinstance(v, datetime.time):
        return seconds(datetime.datetime.combine(datetime.date(2000, 1, 1), v)).time().isoformat("seconds")
    if isinstance(v, datetime.timedelta):
        n = round(v.total_seconds())
        return "%02d:%02d:%02d" % (n // 3600, n // 60 % 60, n % 60)
    return unescape(v) if isinstance(v, str) else str(v)


def same(ours, theirs):
    if ours == show(theirs):
        return True
    if isinstance(theirs, (int, float)) and not isinstance(theirs, bool):
        try:
            return float(ours) == float(theirs)
        except ValueError:
            return False
    return False


def values_of(sheet, blanks=False):
    """Rows and columns that have a cell; with blanks, the blank rows between them, too. By the cells that are there: a sheet
    may have one in its last corner."""
    cells = {at: cell.value for at, cell in sheet._cells.items() if cell.value is not None and cell.value != ""}
    rows, used = sorted({y for y, _ in cells}), sorted({x for _, x in cells})
    if blanks and rows and rows[-1] - rows[0] < 10000:
        rows = range(rows[0], rows[-1] + 1)
    return [[cells.get((y, x)) for x in used] for y in rows]


def compare_cells(home, path, book, sheets):
    cells = 0
    for sheet in sheets:
        theirs = [[v for v in row if v is not None and show(v) != ""] for row in values_of(book[sheet["name"]])]
        status, out = home.run("data", "query", path, 'SELECT * FROM "%s"' % sheet["table"], "--format", "csv", "--exact", "--header", "no",
                               "--skip-rows", "0")
        if status != 0:
            return cells, "%s: SELECT * failed" % sheet["name"]
        ours = [[text for text, _ in row if text] for row in alisio.read_exact(out.decode())[1:]]
        ours = [row for row in ours if row]
        for y, (a, b) in enumerate(zip(ours, theirs)):
            for p, q in zip(a, b):
                if not same(p, q):
                    return cells, "%s, row %d: %.60r, not %.60r" % (sheet["name"], y + 1, p, show(q))
            if len(a) != len(b):
                return cells, "%s, row %d: %d cells, not %d: %.150r, not %.150r" % (sheet["name"], y + 1, len(a), len(b), a, b)
            cells += len(a)
        if len(ours) != len(theirs):
            return cells, "%s: %d rows, not %d" % (sheet["name"], len(ours), len(theirs))
    return cells, None


def compare_twins(home, path, book, sheets):
    compared, wrong = 0, []
    for i, sheet in enumerate(sheets):
        twin = os.path.join(home.dir, "twin-%d.csv" % i)
        # A blank row is a blank line: what parts a title from its table.
        rows = [row if any(v is not None for v in row) else [] for row in values_of(book[sheet["name"]], blanks=True)]
        with open(twin, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([show(v) for v in row] for row in rows)
        v = None
        if len(rows) > 1:
            status, out = home.run("data", "inspect", twin, "--json", "--delimiter", ",", "--encoding", "utf-8")
            v = alisio.json.loads(out)["structured"] if status == 0 else None
        if not v:
            continue
        compared += 1
        a, b = sheet["columns"], v["sheets"][0]["columns"]
        if len(a) != len(b) or sheet["rows"] != v["sheets"][0]["rows"]:
            wrong.append("%s: %d columns × %d rows, its CSV %d × %d" % (sheet["name"], len(a), sheet["rows"], len(b), v["sheets"][0]["rows"]))
            continue
        for p, q in zip(a, b):
            off = ["%s %.60r, not %.60r" % (key, p.get(key), q.get(key)) for key in STATISTICS if p.get(key) != q.get(key)]
            if off:
                wrong.append("%s, %s: %s" % (sheet["name"], p["name"], "; ".join(off)))
                break
    return compared, wrong


def compare(path):
    with alisio.Home() as home:
        all_rows = home.run("data", "inspect", path, "--json", "--header", "no", "--skip-rows", "0")
        plain = home.inspect(path)
        if all_rows[0] != 0 or not plain or plain["format"] != "xlsx":
            return None
        try:
            book = openpyxl.load_workbook(path, data_only=True)
            sheets = {s.title: s for s in book.worksheets}
        except Exception as e:
            return "openpyxl: %s" % type(e).__name__
        forced = [s for s in alisio.json.loads(all_rows[1])["structured"]["sheets"] if s["name"] in sheets and s["columns"]]
        auto = [s for s in plain["sheets"] if s["name"] in sheets and s["columns"]]
        return compare_cells(home, path, book, forced), compare_twins(home, path, book, auto)


cells = files = unread = refused = sheets = wrong = known = twins = 0
for path, r in alisio.each(compare, alisio.files(".xlsx", ".xlsm")):
    name = alisio.name(path)
    if r is None:
        refused += 1
    elif isinstance(r, str):
        unread += 1
    else:
        (n, why), (compared, off) = r
        files, cells, sheets, twins = files + 1, cells + n, sheets + compared, twins + len(off)
        if why:
            known, wrong = known + (name in KNOWN), wrong + (name not in KNOWN)
            print("%s: %s" % (name, "%s (explained: %s)" % (why, KNOWN[name]) if name in KNOWN else why), flush=True)
        for line in off:
            print("%s: its CSV: %s" % (name, line), flush=True)
print("corpus: exact cells of XLSX against openpyxl | %d files, %d cells, %d files differ, %d explained; %d that openpyxl cannot read, %d refused"
      % (files, cells, wrong, known, unread, refused))
print("corpus: sheets against their CSV export | %d of %d give the same columns, types and statistics" % (sheets - twins, sheets))
sys.exit(1 if wrong else 0)
