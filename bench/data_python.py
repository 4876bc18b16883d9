"""Peers of bench/data that are written in Python: data_python.py csv|zip|openpyxl IN OUT
csv: the csv module, cells typed as alisio types them, into sqlite3. zip: zipfile and xml.etree, the same. openpyxl: cells only."""
import csv
import re
import sqlite3
import sys
import zipfile
from xml.etree.ElementTree import iterparse

NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?\Z")


def typed(text):
    if text == "":
        return None
    if NUMBER.match(text) and text != "-0":
        return float(text) if "." in text else int(text)
    return text


def insert(out, rows):
    db = sqlite3.connect(out)
    db.execute("PRAGMA journal_mode=OFF")
    db.execute("PRAGMA synchronous=OFF")
    header = next(rows)
    db.execute("CREATE TABLE data (%s)" % ",".join('"%s"' % name for name in header))
    db.executemany("INSERT INTO data VALUES (%s)" % ",".join("?" * len(header)), rows)
    db.commit()


def from_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        yield next(reader)
        for row in reader:
            yield [typed(cell) for cell in row]


def from_zip(path):
    ns = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        strings = []
        with archive.open("xl/sharedStrings.xml") as part:
            for _, element in iterparse(part):
                if element.tag == ns + "si":
                    strings.append("".join(t.text or "" for t in element.iter(ns + "t")))
                    element.clear()
        width = 0
        with archive.open("xl/worksheets/sheet1.xml") as part:
            for _, element in iterparse(part):
                if element.tag != ns + "row":
                    continue
                row = [None] * width
                for cell in element:
                    at = ord(cell.get("r")[0]) - 65
                    value = cell.findtext(ns + "v")
                    row.extend([None] * (at + 1 - len(row)))
                    row[at] = strings[int(value)] if cell.get("t") == "s" else typed(value)
                width = width or len(row)
                yield row
                element.clear()


def from_openpyxl(path):
    import openpyxl

    for row in openpyxl.load_workbook(path, read_only=True).active.iter_rows(values_only=True):
        yield row


kind, source, target = sys.argv[1:]
if kind == "openpyxl":
    print(sum(1 for _ in from_openpyxl(source)))
else:
    insert(target, from_csv(source) if kind == "csv" else from_zip(source))
