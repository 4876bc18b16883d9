"""Statistics of columns: what data_inspect says against a second computation over the raw file, in exact fractions.

statistics.py BINARY CORPUS [PART]. Every column of the public CSV tables: type, NULLs, distinct, least and greatest, mean, standard
deviation, quartiles, the five most frequent values; and the first ones once more as SQL says them.
"""
import collections
import csv
import io
import json
import re
import sys
from fractions import Fraction

import alisio

FOLDERS = ("vega-datasets/", "csv/seaborn-data/", "csv/fivethirtyeight/")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.([0-9]+))?")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
TOP = 200  # bytes of a text that are told


def candidate(text):
    """The decimals of a text that may be a number, or None."""
    m = NUMBER.fullmatch(text)
    if not m or (text.startswith("-") and not text.strip("-0.")):
        return None
    digits = text.lstrip("-").replace(".", "").lstrip("0")
    if m[1] is None:
        return 0 if abs(int(text)) < 2**53 else None
    if len(digits) > 15 and shortest(text) != text:
        return None
    return len(m[1])


def shortest(text):
    """Shortest digits that read back as the same double, without an exponent."""
    s = repr(float(text))
    return plain(s) if "e" in s else s


def plain(s):
    mantissa, exponent = s.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, rest = mantissa.lstrip("-").partition(".")
    digits, point = whole + rest, len(whole) + int(exponent)
    if point <= 0:
        return sign + "0." + "0" * -point + digits
    return sign + (digits + "0" * (point - len(digits)) + ".0" if point >= len(digits) else digits[:point] + "." + digits[point:])


def numbers_of(texts):
    """For each text its number (int or float), or None: the text is kept as it is."""
    decimals = [candidate(t) for t in texts]
    one = len({d for d in decimals if d is not None}) == 1
    result = []
    for text, d in zip(texts, decimals):
        trailing = d is not None and d > 1 and text.endswith("0")
        if d is None or (trailing and not one):
            result.append(None)
        else:
            result.append(int(text) if d == 0 else float(text))
    return result


def quartile(values, q):
    at = (len(values) - 1) * q
    low = at.numerator // at.denominator
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def computed(cells):
    texts = [c for c in cells if c != ""]
    numbers = numbers_of(texts)
    exact = sorted(Fraction(t) for t, n in zip(texts, numbers) if n is not None)
    kept = [t for t, n in zip(texts, numbers) if n is None]
    counts = collections.Counter(t if n is None else float(n) for t, n in zip(texts, numbers))
    whole = all(not isinstance(n, float) for n in numbers)
    v = {"nulls": len(cells) - len(texts), "distinct": len(counts), "counts": counts}
    if texts and len(exact) * 100 >= len(texts) * 95:
        v["type"] = "integer" if whole else "real"
    elif texts and all(t.lower() in ("true", "false") for t in texts):
        v["type"] = "boolean"
    elif texts and all(DATE.fullmatch(t) for t in texts):
        v["type"] = "date"
    else:
        v["type"] = "text"
    if exact:
        v["min"], v["max"] = exact[0], exact[-1]
        v["mean"] = sum(exact) / len(exact)
        if len(exact) > 1:
            v["variance"] = sum((x - v["mean"]) ** 2 for x in exact) / (len(exact) - 1)
        v["quartiles"] = [quartile(exact, Fraction(q, 4)) for q in (1, 2, 3)]
    elif kept:
        v["min"], v["max"] = min(kept, key=str.encode), max(kept, key=str.encode)
    return v


def near(got, want, digits):
    if got is None or isinstance(got, str):
        return False
    return abs(Fraction(got) - want) <= abs(want) * Fraction(1, 10**digits)


def same_text(got, want):
    return got == want or (len(want.encode()) > TOP and got.endswith("…") and want.startswith(got[:-1]))


def same_bound(got, want):
    if want is None:
        return got is None
    if isinstance(want, str):
        return isinstance(got, str) and same_text(got, want)
    return not isinstance(got, str) and got is not None and float(got) == float(want)


def count_of(counts, value):
    if not isinstance(value, str):
        return counts.get(float(value), 0)
    return next((n for t, n in counts.items() if isinstance(t, str) and same_text(value, t)), 0)


def faults(c, v):
    """What is not the same, by name."""
    if not c["distinctExact"]:
        yield "distinct is not exact"
    for key in ("type", "nulls", "distinct"):
        if c[key] != v[key]:
            yield "%s %s, not %s" % (key, c[key], v[key])
    for key in ("min", "max"):
        if not same_bound(c.get(key), v.get(key)):
            yield "%s %.60r, not %.60s" % (key, c.get(key), v.get(key))
    if "mean" in v and not near(c["mean"], v["mean"], 14):
        yield "mean %r, not %r" % (c["mean"], float(v["mean"]))
    if "variance" in v and not (near(Fraction(c["stddev"]) ** 2, v["variance"], 13) if c["stddev"] is not None else False):
        yield "stddev %r, not %r" % (c["stddev"], float(v["variance"]) ** 0.5)
    if "quartiles" in v and not all(near(a, b, 14) for a, b in zip(c.get("quartiles") or [None] * 3, v["quartiles"])):
        yield "quartiles %r, not %r" % (c.get("quartiles"), [float(q) for q in v["quartiles"]])
    top = [n for _, n in v["counts"].most_common(5)]
    if [t["count"] for t in c["top"]] != top or any(count_of(v["counts"], t["value"]) != t["count"] for t in c["top"]):
        yield "top %.200r, not %.200r" % (c["top"], v["counts"].most_common(5))


def compare(path):
    with alisio.Home() as home:
        v = home.inspect(path)
        if not v or v["encoding"] not in ("UTF-8", "windows-1252"):
            return None
        sheet = v["sheets"][0]
        sql = ", ".join('count(*) - count("{0}"), count(DISTINCT "{0}"), min("{0}") FILTER (WHERE typeof("{0}") <> \'text\'), '
                        'max("{0}") FILTER (WHERE typeof("{0}") <> \'text\'), avg("{0}") FILTER (WHERE typeof("{0}") <> \'text\')'
                        .format(c["name"]) for c in sheet["columns"])
        status, out = home.run("data", "query", path, "SELECT %s FROM %s" % (sql, sheet["table"]), "--json")
        said = json.loads(out)["structured"]["rows"][0] if status == 0 else None
    with open(path, "rb") as f:
        text = alisio.decode(f.read(), v["encoding"])
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=v["delimiter"]) if row]
    if not any(note["kind"] == "header" for note in v["notes"]):
        rows = rows[1:]
    wrong = []
    for i, c in enumerate(sheet["columns"]):
        want = computed([row[i] if i < len(row) else "" for row in rows])
        wrong += ["%s, %s: %s" % (alisio.name(path), c["name"], why) for why in faults(c, want)]
        if said is None:
            wrong.append("%s, %s: SQL failed" % (alisio.name(path), c["name"]))
            continue
        nulls, distinct, least, greatest, mean = said[5 * i:5 * i + 5]
        numeric = "mean" in want
        if (nulls, distinct) != (want["nulls"], want["distinct"]) or numeric and not (
                same_bound(least, want["min"]) and same_bound(greatest, want["max"]) and near(mean, want["mean"], 11)):
            wrong.append("%s, %s: SQL says %r" % (alisio.name(path), c["name"], said[5 * i:5 * i + 5]))
    return len(sheet["columns"]), len(rows), wrong


results = [r for _, r in alisio.each(compare, [p for p in alisio.files(".csv", ".tsv") if alisio.name(p).startswith(FOLDERS)]) if r]
wrong = [line for r in results for line in r[2]]
columns = sum(r[0] for r in results)
bad = {line.rsplit(": ", 1)[0].split(": ")[0] for line in wrong}
print("corpus: statistics of columns | %d of %d columns agree in all figures, %d files, %d rows"
      % (columns - len(bad), columns, len(results), sum(r[1] for r in results)))
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
