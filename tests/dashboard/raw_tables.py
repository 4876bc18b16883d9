"""Tables as they lie in files, read without any of our own code: cells as text, numbers and times as a person reads them."""
import collections
import csv
import datetime
import io
import json
import re

csv.field_size_limit(1 << 30)
PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?$")
ENOUGH = 0.95  # of a column's cells have to follow a pattern before all are read by it
MONTHS = {m: i + 1 for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())}


class Column:
    """cells: None, or the text as it stands; numbers: None where the cell is no number; times: ISO text or None."""

    def __init__(self, header, cells):
        self.header = header
        self.cells = cells
        self.numbers = [plain_number(c) for c in cells]
        self.times = [None] * len(cells)
        self.has_times = self.years = False
        filled = [c for c in cells if c is not None]
        if not filled:
            return
        if sum(n is not None for n in self.numbers) < len(filled):
            read = by_pattern(filled, NUMBER_PATTERNS)
            if read:
                self.numbers = [None if c is None else read(c) for c in cells]
        read = by_pattern([str(c) for c in filled], TIME_PATTERNS)
        if read:
            self.times = [None if c is None else read(str(c)) for c in cells]
        self.has_times = any(self.times)
        numbers = [n for n in self.numbers if n is not None]
        self.years = bool(numbers) and all(n == int(n) and 1500 <= n <= 2100 for n in numbers)


def plain_number(cell):
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, (int, float)):
        return cell
    if not PLAIN.match(cell) or cell in ("-0",) or len(cell) > 24:
        return None
    return float(cell) if "." in cell else int(cell)


def is_text(cell):
    return isinstance(cell, str)


def by_pattern(filled, patterns):
    """The first reader that reads nearly all, and does not contradict itself."""
    for read in patterns:
        misses = (1 - ENOUGH) * len(filled)
        for c in filled:
            misses -= read(c) is None
            if misses < 0:
                break
        else:
            return read
    return None


# --- numbers that are written for people ---
def scientific(cell):
    plain = plain_number(cell)
    if plain is not None:
        return plain
    return float(cell) if is_text(cell) and re.match(r"-?[0-9]+(\.[0-9]+)?[eE][-+]?[0-9]+$", cell) else None


def leading_point(cell):
    plain = scientific(cell)
    if plain is not None:
        return plain
    return float(cell) if is_text(cell) and re.match(r"-?\.[0-9]+$", cell) else None


def grouped(group, mark):
    shape = re.compile(r"-?[0-9]{1,3}(%s[0-9]{3})*(%s[0-9]+)?$" % (re.escape(group), re.escape(mark)))

    def read(cell):
        if plain_number(cell) is not None and not is_text(cell):
            return cell
        if not is_text(cell) or not shape.match(cell.strip()):
            return None
        return float(cell.strip().replace(group, "").replace(mark, "."))
    return read


def percent(cell):
    m = is_text(cell) and re.match(r"(-?[0-9]+(?:\.[0-9]+)?) ?%$", cell)
    return float(m[1]) if m else None


def money(cell):
    m = is_text(cell) and re.match(r"(-?)[$€£] ?([0-9,]+(?:\.[0-9]+)?)$", cell)
    return float(m[1] + m[2].replace(",", "")) if m else None


NUMBER_PATTERNS = [scientific, leading_point, percent, money, grouped(",", "."), grouped(".", ",")]


# --- times ---
def iso(y, m, d, clock=""):
    try:
        datetime.date(y, m, d)
    except ValueError:
        return None
    return "%04d-%02d-%02d%s" % (y, m, d, clock)


def time_iso(cell):
    m = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:([T ])([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[-+][0-9:]+)?))?$", cell)
    return m and iso(int(m[1]), int(m[2]), int(m[3]), "T" + m[5] if m[5] else "")


def time_slashed_year_first(cell):
    m = re.match(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})(?:[ T]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?)?$", cell)
    if not m:
        return None
    clock = "T%02d:%s:%s" % (int(m[4]), m[5], m[6] or "00") if m[4] else ""
    return iso(int(m[1]), int(m[2]), int(m[3]), clock)


def century(text):
    year = int(text)
    return year if len(text) == 4 else year + (1900 if year >= 70 else 2000)


def time_month_first(cell):
    m = re.match(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4}|[0-9]{2})$", cell)
    return m and iso(century(m[3]), int(m[1]), int(m[2]))


def time_day_first(cell):
    m = re.match(r"([0-9]{1,2})[/.]([0-9]{1,2})[/.]([0-9]{4})$", cell)
    return m and iso(int(m[3]), int(m[2]), int(m[1]))


def time_words(cell):
    m = re.match(r"([A-Za-z]{3})[a-z]* ([0-9]{1,2}),? ([0-9]{4})$", cell)
    if m and m[1].lower() in MONTHS:
        return iso(int(m[3]), MONTHS[m[1].lower()], int(m[2]))
    m = re.match(r"([0-9]{1,2}) ([A-Za-z]{3})[a-z]* ([0-9]{4})$", cell)
    if m and m[2].lower() in MONTHS:
        return iso(int(m[3]), MONTHS[m[2].lower()], int(m[1]))
    return None


TIME_PATTERNS = [time_iso, time_slashed_year_first, time_month_first, time_day_first, time_words]


# --- files ---
def decode(raw):
    """UTF-8, else windows-1252 as browsers read it: the five bytes that are no characters are controls."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        table = {i: bytes([i]).decode("cp1252", "ignore") or chr(i) for i in range(128, 160)}
        return raw.decode("latin-1").translate(table)


def json_cell(value):
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value != "" else None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_rows(document):
    if isinstance(document, dict):  # the longest list of objects inside is the table
        lists = [v for v in document.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
        document = max(lists, key=len)
    headers = list(collections.OrderedDict((k, 1) for row in document for k in row))
    return headers, [[json_cell(row.get(h)) for h in headers] for row in document]


def read(path):
    """The table's columns, in their order."""
    with open(path, "rb") as f:
        raw = f.read()
    if path.endswith(".json"):
        headers, rows = json_rows(json.loads(raw))
    else:
        lines = csv.reader(io.StringIO(decode(raw), newline=""), delimiter="\t" if path.endswith(".tsv") else ",")
        headers, *rows = [line for line in lines if line]
        rows = [[c if c != "" else None for c in row] + [None] * (len(headers) - len(row)) for row in rows]
    return [Column(h, [row[i] for row in rows]) for i, h in enumerate(headers)]
