"""Every number of a dashboard's page, computed again from the file itself.

oracle.py JOBS      lines of JSON: {name, file, html, columns: [identifier], plan, request?}; prints what differs and a last line
{"pages", "numbers", "kinds", "differences"}. Fails when there is a difference.

Nothing of the program under test is used but the page, its plan and the columns' identifiers, which stand in the file's order:
the file is read by raw_tables.py, and what a widget means is written here a second time.
"""
import collections
import datetime
import json
import math
import re
import sys

import pages
import raw_tables

CLOSE = 1e-9  # of sums in another order
POINTS, SERIES, HEAT = 500, 8, 20
BUCKET_LENGTH = {"year": 4, "month": 7, "day": 10, "hour": 13}


def close(a, b, tolerance=CLOSE):
    if a is None or b is None:
        return a is b
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b)) or abs(a - b) < 1e-12


def bucket_key(bucket, time):
    """The period of a time: text that sorts. Numbers are years."""
    if time is None:
        return None
    if not isinstance(time, str):
        return "%04d" % time if time == int(time) else None
    if bucket in BUCKET_LENGTH:
        key = time[:BUCKET_LENGTH[bucket]]
        return key if len(key) == BUCKET_LENGTH[bucket] else (time[:10] + "T00" if bucket == "hour" else None)
    if bucket == "quarter":
        return "%s-Q%d" % (time[:4], (int(time[5:7]) + 2) // 3)
    if bucket == "week":
        day = datetime.date.fromisoformat(time[:10])
        return (day - datetime.timedelta(days=day.weekday())).isoformat()
    raise ValueError("bucket %r" % bucket)


def next_key(bucket, key):
    if bucket == "year":
        return "%04d" % (int(key) + 1)
    if bucket == "quarter":
        year, quarter = int(key[:4]), int(key[6])
        return "%04d-Q%d" % (year + quarter // 4, quarter % 4 + 1)
    if bucket == "month":
        year, month = int(key[:4]), int(key[5:7])
        return "%04d-%02d" % (year + month // 12, month % 12 + 1)
    if bucket == "hour":
        t = datetime.datetime.strptime(key, "%Y-%m-%dT%H") + datetime.timedelta(hours=1)
        return t.strftime("%Y-%m-%dT%H")
    return (datetime.date.fromisoformat(key) + datetime.timedelta(days=7 if bucket == "week" else 1)).isoformat()


class Data:
    """The file's rows, as the plan names their columns."""

    def __init__(self, columns, names):
        if len(columns) != len(names):
            raise ValueError("%d columns in the file, %d in the dataset" % (len(columns), len(names)))
        self.columns = dict(zip(names, columns))
        self.n = len(columns[0].cells) if columns else 0

    def is_years(self, name):
        """Numbers, or texts of four digits."""
        return not self.columns[name].has_times

    def is_time(self, name):
        c = self.columns[name]
        return c.has_times or c.years

    def time(self, name, r):
        c = self.columns[name]
        return c.times[r] if c.has_times else c.numbers[r]

    def number(self, name, r):
        return self.columns[name].numbers[r]

    def text(self, name, r):
        """As a label: the cell's own text."""
        cell = self.columns[name].cells[r]
        if cell is None or cell == "":
            return None
        if self.columns[name].times[r] is not None and self.columns[name].numbers[r] is None:
            return self.columns[name].times[r]
        return cell if isinstance(cell, str) else number_text(cell)

    def keep(self, filters):
        return [r for r in range(self.n) if all(self.holds(f, r) for f in filters)]

    def holds(self, f, r):
        c = self.columns[f["column"]]
        cell, op, value = c.cells[r], f["op"], f.get("value")
        if op == "is_null":
            return cell is None
        if op == "not_null":
            return cell is not None
        if cell is None:
            return op in ("!=", "not_in")  # what is empty is not equal to anything
        seen = c.times[r] if c.times[r] is not None else c.numbers[r] if c.numbers[r] is not None else str(cell)
        if op == "contains":
            return str(value).lower() in str(seen if c.times[r] is not None else cell).lower()
        values = value if isinstance(value, list) else [value]
        order = [compare(seen, v, cell) for v in values]
        if op == "in":
            return 0 in order
        if op == "not_in":
            return 0 not in order
        if op == "between":
            return order[0] is not None and order[0] >= 0 and order[1] is not None and order[1] <= 0
        o = order[0]
        if o is None:
            return op == "!="
        return {"=": o == 0, "!=": o != 0, "<": o < 0, "<=": o <= 0, ">": o > 0, ">=": o >= 0}[op]


def compare(seen, value, cell):
    """-1, 0, 1; None: of two kinds."""
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(seen, str) and not isinstance(value, str):
        return None
    if not isinstance(seen, str) and isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            seen = str(cell)
    return (seen > value) - (seen < value)


def number_text(v):
    return str(v) if isinstance(v, int) else repr(v)


def sort_key(label):
    """Numbers before texts, as the statement that is shown sorts them."""
    try:
        return (0, float(label), b"")
    except ValueError:
        return (1, 0.0, label.encode())


def same_label(a, b):
    if a == b:
        return True
    try:
        return float(a) == float(b)
    except (TypeError, ValueError):
        return False


YES_NO = {"Yes": "true", "Sí": "true", "No": "false"}


def find(keys, shown):
    """The one of keys that is shown so: as it is, as a number, as yes or no, or cut."""
    if shown in keys:
        return shown
    for k in keys:
        if same_label(k, shown) or k.lower() == YES_NO.get(shown):
            return k
    return next((k for k in keys if shown.endswith("…") and k.startswith(shown[:-1])), None)


# --- what a widget's numbers are ---
def counted(data, w, rows):
    """The rows that count: those with a number, of a ratio with both; where cells are counted, those that are not empty."""
    agg, metric = w.get("aggregation"), w.get("metric")
    if metric in ("*", None):
        return rows
    if agg in ("count", "count_distinct"):
        return [r for r in rows if data.text(metric, r) is not None]
    needed = [metric] + ([w["over"]] if agg == "ratio" and w["over"] != "*" else [])
    return [r for r in rows if all(data.number(c, r) is not None for c in needed)]


def aggregate(data, w, rows):
    """Of rows that count; None: there is no number."""
    agg, metric = w.get("aggregation"), w.get("metric")
    if agg == "count":
        return len(rows)
    if agg == "count_distinct":
        return len({data.text(metric, r) if data.number(metric, r) is None else data.number(metric, r) for r in rows})
    if not rows:
        return None
    values = [data.number(metric, r) for r in rows]
    if agg == "ratio":
        bottom = len(rows) if w["over"] == "*" else math.fsum(data.number(w["over"], r) for r in rows)
        return math.fsum(values) / bottom if bottom else None
    if agg == "sum":
        return sum(values) if all(isinstance(v, int) for v in values) else math.fsum(values)
    return {"avg": lambda: math.fsum(values) / len(values), "min": lambda: min(values), "max": lambda: max(values)}[agg]()


def latest_rows(data, w, rows):
    """Those of the last period in which there is a number: a day, or a year where the axis is years."""
    if not w.get("latest"):
        return rows
    clock = w["clock"]
    years = data.is_years(clock)
    bucket = "year" if years else w.get("bucket") if w.get("bucket") and clock not in (w.get("dimension"), w.get("by")) else "day"
    keys = {r: bucket_key(bucket, data.time(clock, r)) for r in rows}
    last = max((k for k in keys.values() if k is not None), default=None)
    return [r for r in rows if last is not None and keys[r] == last]


def axis_bucket(data, w, column, second=False):
    """The periods of an axis; None: it is not made of time."""
    if not data.is_time(column):
        return None
    if data.is_years(column):
        return w.get("bucket")
    if second and (data.is_time(w["dimension"]) or not w.get("bucket")):
        return "year"
    return w.get("bucket")


def label_of(data, column, bucket, r):
    if bucket:
        return bucket_key(bucket, data.time(column, r))
    return data.text(column, r)


def groups_of(data, w, rows):
    """{label: [row]} and how many rows have none."""
    groups, without = collections.OrderedDict(), 0
    bucket = axis_bucket(data, w, w["dimension"])
    for r in rows:
        key = label_of(data, w["dimension"], bucket, r)
        if key is None:
            without += 1
        else:
            groups.setdefault(key, []).append(r)
    return groups, without


def step_of(bucket, keys):
    """By how many periods those that there are lie apart: their greatest common divisor."""
    order = {k: i for i, k in enumerate(periods(bucket, min(keys), max(keys), 5000))}
    places = sorted(order[k] for k in keys)
    return math.gcd(*[b - a for a, b in zip(places, places[1:])]) or 1


def periods(bucket, first, last, most):
    found = []
    while first <= last and len(found) < most:
        found.append(first)
        first = next_key(bucket, first)
    return found


class Check:
    def __init__(self, data, plan, page, name, forced=False):
        self.data, self.plan, self.page, self.name = data, plan, page, name
        self.rows = data.keep(plan.get("filters") or [])
        self.problems, self.numbers, self.kinds = [], 0, collections.Counter()
        self.where, self.widget_now = "", {}
        self.forced = forced

    def wrong(self, text, *args):
        plan = {k: v for k, v in self.widget_now.items() if k not in ("id", "title", "role", "_unit_percent")}
        self.problems.append("%s: %s: %s %s" % (self.name, self.where, text % args if args else text, json.dumps(plan, ensure_ascii=False)))

    def equal(self, what, ours, theirs, tolerance=CLOSE):
        self.numbers += 1
        if not close(ours, theirs, tolerance):
            self.wrong("%s: the page has %r, the file gives %r", what, theirs, ours)
            return False
        return True

    def shown(self, what, value, text, w=None, largest=None):
        """The text is the number, to the precision that it shows; which is enough beside the largest number there."""
        self.numbers += 1
        if value is None:
            if text not in ("—", ""):
                self.wrong("%s: %r stands where there is no number", what, text)
            return
        parsed = pages.parse_number(text, self.page.locale)
        if parsed is None:
            self.wrong("%s: %r is no number in %s", what, text, self.page.locale)
            return
        number, half, share = parsed
        if share and not (w and w.get("_unit_percent")):
            number, half = number / 100, half / 100
        if abs(number - value) > half * 1.000001 + abs(value) * 1e-12:
            self.wrong("%s: %r is shown for %r", what, text, value)
        elif value != 0 and abs(number - value) > 0.06 * (largest or abs(value)):
            self.wrong("%s: %r says too little of %r", what, text, value)

    # --- kinds ---
    def widget(self, w):
        self.where, self.widget_now = w["id"], w
        shown = self.page.widgets.get(w["id"])
        if shown is None:
            self.wrong("is in the plan and not on the page")
            return
        kind = w["type"]
        agg = w.get("aggregation", "")
        self.kinds[" ".join(filter(None, [kind, agg, w.get("bucket"), "by" if w.get("by") else "", "latest" if w.get("latest") else ""]))] += 1
        w["_unit_percent"] = self.is_unit_percent(w)
        rows = latest_rows(self.data, w, counted(self.data, w, self.rows))
        if kind == "kpi":
            self.kpi(w, shown, rows)
        elif kind == "scatter":
            self.scatter(w, shown)
        elif kind == "table":
            self.table(w, shown)
        elif shown.table is None:
            self.nothing(w, rows)
        elif w.get("by"):
            self.crossed(w, shown, rows)
        else:
            self.chart(w, shown, rows)

    def nothing(self, w, rows):
        """A chart without data: nothing can be shown."""
        if w.get("by"):
            second = axis_bucket(self.data, w, w["by"], True)
            rows = [r for r in rows if label_of(self.data, w["by"], second, r) is not None]
        groups, _ = groups_of(self.data, w, rows)
        values = [aggregate(self.data, w, r) for r in groups.values()]
        if any(v is not None and (v > 0 or w["type"] not in ("pie", "donut")) for v in values):
            self.wrong("there is no data on the page, and %d groups in the file", len(values))

    def is_unit_percent(self, w):
        """A % behind a number that is a percentage already: the column's numbers go beyond 1."""
        if w.get("aggregation") == "ratio" or w.get("metric") in ("*", None):
            return False
        return self.beyond_one(w["metric"])

    def beyond_one(self, name):
        return any(abs(v) > 1 for v in self.data.columns[name].numbers if v is not None)

    def kpi(self, w, shown, rows):
        value = aggregate(self.data, w, rows)
        if value is None or shown.value is None:
            if value is not None or shown.value is not None:
                self.wrong("the page has %r, the file gives %r", shown.value, value)
            return
        self.equal("value", value, shown.value)
        self.shown("text", value, shown.shown, w)
        if shown.exact:
            self.shown("title", value, shown.exact, w)
        if shown.spoken:
            self.shown("what is read out", value, shown.spoken, w)

    def labels(self, w, shown):
        """The page's labels as keys, from the table; the SPEC has the same texts."""
        firsts = [row[0] for row in shown.table.rows]
        if shown.spec is not None and "labels" in shown.spec and shown.spec["labels"] != [c.text for c in firsts]:
            self.wrong("labels %r in the chart, %r in the table", shown.spec["labels"][:5], [c.text for c in firsts][:5])
        return [c.key for c in firsts]

    def time_keys(self, w, groups, keys):
        """All periods from the first to the last, in their order; of values that come every fifth year, every fifth."""
        bucket = axis_bucket(self.data, w, w["dimension"])
        want = periods(bucket, min(groups), max(groups), 5000)[::step_of(bucket, list(groups)) if len(groups) > 1 else 1]
        if keys != want:
            self.wrong("periods %s… (%d), not %s… (%d)", keys[:3], len(keys), want[:3], len(want))

    def ranked(self, w, values):
        """Labels in their order of value, ties by text; those without a value last."""
        return sorted(values, key=lambda k: (values[k] is None, -(values[k] or 0), sort_key(k)))

    def chart(self, w, shown, rows):
        groups, without = groups_of(self.data, w, rows)
        values = {k: aggregate(self.data, w, r) for k, r in groups.items()}
        if not self.forced:
            self.level(w, groups)
        keys = self.labels(w, shown)
        other = None
        if w.get("other") and shown.spec and len(keys) < len(values) + 1 and keys and keys[-1] in ("", "Other", "Otros", "Resto"):
            other = len(keys) - 1
        found = {}
        for i, key in enumerate(keys):
            cell = shown.table.rows[i][1]
            if i == other:
                rest = math.fsum(v for k, v in values.items() if k not in found and v is not None)
                self.number_cell("Other", rest, cell, shown, 0, i, w)
                continue
            match = find(values, key)
            if match is None and w.get("bucket"):
                self.number_cell(key, None, cell, shown, 0, i, w)
                continue
            if match is None:
                self.wrong("label %r is not in the file", key)
                continue
            found[match] = True
            self.number_cell(key, values[match], cell, shown, 0, i, w)
        self.choice(w, values, list(found), keys, other)
        self.notes(w, shown, values, without, len(found))

    def level(self, w, groups):
        """What adds up over places only is the sum of one moment in each period: three months are no quarter of people."""
        levels = {x["metric"] for x in self.plan["widgets"] if x.get("latest") and x.get("aggregation") == "sum"}
        if w.get("bucket") and w["aggregation"] == "sum" and not w.get("latest") and w["metric"] in levels:
            crowded = [k for k, rows in groups.items() if len({self.data.time(w["dimension"], r) for r in rows}) > 1]
            if crowded:
                self.wrong("%s adds up several moments of a level", crowded[0])

    def choice(self, w, values, found, keys, other):
        """Which labels are shown, and in which order."""
        if w["type"] in ("pie", "donut"):
            values = {k: v for k, v in values.items() if v is not None and v > 0}
        if w.get("bucket"):
            if values:
                self.time_keys(w, values, keys)
            return
        limit = w.get("limit") or 20
        some = {k: v for k, v in values.items() if v is not None}
        if w.get("order") == "key":
            missing = [k for k in some if k not in found]
            if missing and len(found) < limit:
                self.wrong("%r is left out of %d of %d", missing[:3], len(found), limit)
            return
        want = self.ranked(w, some)
        room = len(found)
        if room < min(limit - (1 if other is not None else 0), len(want)):
            self.wrong("%d labels of %d, the limit is %d", room, len(want), limit)
        for ours, theirs in zip(want, found):
            if ours != theirs and not close(some[ours], some.get(theirs), 1e-12):
                self.wrong("%r stands where %r is larger (%r, %r)", theirs, ours, some.get(theirs), some[ours])
                return

    def number_cell(self, what, value, cell, shown, series, i, w):
        """A number of a data table, and the same of the chart."""
        self.equal(what, value, cell.value)
        self.shown(what, value, cell.text, w, shown.largest())
        if shown.spec is not None and "series" in shown.spec:
            self.equal(what + " (chart)", value, shown.spec["series"][series]["values"][i])

    def crossed(self, w, shown, rows):
        first, second = axis_bucket(self.data, w, w["dimension"]), axis_bucket(self.data, w, w["by"], True)
        cells = collections.OrderedDict()  # (label, series): rows that have both
        for r in rows:
            at = label_of(self.data, w["dimension"], first, r), label_of(self.data, w["by"], second, r)
            if None not in at:
                cells.setdefault(at, []).append(r)
        labels = self.labels(w, shown)
        columns = shown.table.columns[1:]
        if shown.spec is not None and [s["name"] for s in shown.spec["series"]] != [c.text for c in columns]:
            self.wrong("series of the chart and of the table differ")
        names = [find({s for _, s in cells}, c.key) for c in columns]
        keys = [label if first else find({k for k, _ in cells}, label) for label in labels]
        rest = w.get("other") and keys and keys[-1] is None
        if None in names or None in (keys[:-1] if rest else keys):
            self.wrong("labels %r or series %r are not in the file", labels[:9], [c.key for c in columns][:9])
            return
        for i, key in enumerate(keys):
            for s, name in enumerate(names):
                if rest and i == len(keys) - 1:
                    members = [r for (k, n), of in cells.items() if n == name and k not in keys for r in of]
                else:
                    members = cells.get((key, name))
                value = aggregate(self.data, w, members) if members else None
                self.number_cell("%s × %s" % (labels[i], name), value, shown.table.rows[i][1 + s], shown, s, i, w)
        self.chosen(w, cells, names, SERIES if w["type"] != "heat" else HEAT, 1)
        if first:
            self.time_keys(w, {k for k, s in cells if s in names}, labels)
        else:
            self.chosen(w, cells, keys[:-1] if rest else keys, w.get("limit") or HEAT, 0)

    def chosen(self, w, cells, shown, limit, which):
        """Those with the largest sum or count, of averages and the like with the most rows, are shown; of equals the first."""
        members = {}
        for at, rows in cells.items():
            members.setdefault(at[which], []).extend(rows)
        adds = w["aggregation"] in ("sum", "count")
        weight = {k: aggregate(self.data, w, rows) if adds else len(rows) for k, rows in members.items()}
        want = sorted(weight, key=lambda k: (-weight[k], sort_key(k)))[:limit]
        if set(want) != set(shown) and [weight[k] for k in want] != sorted((weight[k] for k in shown), reverse=True):
            self.wrong("%r are shown, %r are larger", sorted(set(shown) - set(want))[:5], sorted(set(want) - set(shown))[:5])

    def scatter(self, w, shown):
        pairs = collections.Counter()
        for r in self.rows:
            x, y = self.data.number(w["x"], r), self.data.number(w["y"], r)
            if x is not None and y is not None:
                pairs[(float(x), float(y))] += 1
        points = [(float(x), float(y)) for s in shown.spec["series"] for x, y in s["points"]]
        self.equal("points", min(POINTS, sum(pairs.values())), len(points))
        for point, n in collections.Counter(points).items():
            self.numbers += 2
            if n > pairs[point]:
                self.wrong("point %r is %d times on the page and %d times in the file", point, n, pairs[point])
        for row, point in zip(shown.table.rows if shown.table else [], points):
            cells = [c for c in row if c.value is not None]
            self.equal("x", point[0], cells[-2].value)
            self.equal("y", point[1], cells[-1].value)
            self.shown("x", point[0], cells[-2].text, {"_unit_percent": self.beyond_one(w["x"])}, max(abs(x) for x, _ in points))
            self.shown("y", point[1], cells[-1].text, {"_unit_percent": self.beyond_one(w["y"])}, max(abs(y) for _, y in points))

    def table(self, w, shown):
        limit = min(w.get("limit") or 10, len(self.rows))
        self.equal("rows of the table", limit, len(shown.table.rows))
        for i, row in enumerate(shown.table.rows):
            r = self.rows[i]
            for name, cell in zip(w["columns"], row):
                raw = self.data.columns[name]
                if cell.value is not None:
                    if self.equal("row %d, %s" % (i, name), raw.numbers[r], cell.value):
                        self.shown("row %d, %s" % (i, name), raw.numbers[r], cell.text, {"_unit_percent": self.beyond_one(name)})
                    continue
                self.text_cell(i, name, raw, r, cell)

    def text_cell(self, i, name, raw, r, cell):
        self.numbers += 1
        text = raw.cells[r]
        if text is None:
            if cell.key not in ("", "—"):
                self.wrong("row %d, %s: %r stands where the file has nothing", i, name, cell.key)
            return
        want = [str(text), raw.times[r] or ""]
        if any(cell.key == t or t.strip() == cell.key or (cell.text.endswith("…") and t.startswith(cell.text[:-1])) for t in want):
            return
        year = (raw.times[r] or "")[:4]
        if not (year and year in "".join(str(pages.unicodedata.decimal(c)) if c.isdecimal() else c for c in cell.text)):
            self.wrong("row %d, %s: %r, the file has %r", i, name, cell.text, text)

    def foot(self, source):
        """What the page says of itself: how many rows it is made of, and how many of them stand in it as they are."""
        self.where, self.widget_now = "foot", {}
        raw = 0
        for w in self.page.widgets.values():
            if w.spec and w.spec["kind"] == "scatter":
                raw += sum(len(s["points"]) for s in w.spec["series"])
            elif w.rows and w.table:
                raw += len(w.table.rows)
        said = self.numbers_in(self.page.foot.replace(source, ""))
        above = self.numbers_in(self.page.sub.replace(source, ""))
        raw = min(raw, len(self.rows))  # points and tables may show one row twice
        for what, n, among in ("rows", self.data.n, said), ("raw rows", raw, said), ("rows that the filters keep", len(self.rows), above):
            self.numbers += 1
            if n and float(n) not in among:
                self.wrong("%d %s are not in %r", n, what, self.page.foot + self.page.sub)

    def numbers_in(self, text):
        found = [pages.parse_number(t, self.page.locale) for t in re.findall(r"\d[\d.,٬٫\u00a0\u202f’]*\d|\d", text)]
        return [f[0] for f in found if f]

    def notes(self, w, shown, values, without, n_shown):
        """Numbers in the words below a chart are those of the file: how many there are, shown, left out."""
        known = {float(len(values)), float(sum(v is not None and v > 0 for v in values.values())), float(n_shown), float(without), float(len(self.rows)), float(w.get("limit") or 0)}
        if w.get("latest"):
            last = max(key for key in (bucket_key("day", self.data.time(w["clock"], r)) for r in latest_rows(self.data, w, counted(self.data, w, self.rows))) if key)
            known |= {float(part) for part in last.split("-")}
        for note in shown.notes:
            for n in self.numbers_in(note):
                self.numbers += 1
                if n not in known:
                    self.wrong("note %r: %r is none of %s", note, n, sorted(known))


def places_of(keys):
    return {k: i for i, k in enumerate(keys)}


class Cube:
    """The cells behind the chips: each number of a widget by chips, label and series, as the head of dashboard.js says."""

    def __init__(self, check):
        self.check, self.data, self.cube = check, check.data, check.page.cube
        self.names = check.plan["chips"][:len(self.cube["chips"])]
        self.values = [c["values"] for c in self.cube["chips"]]
        self.of = [self.numbers_of(n, v) for n, v in zip(self.names, self.values)]

    def numbers_of(self, name, values):
        """{text or None: number of the chip's value}"""
        keys, found = {self.data.text(name, r) for r in self.check.rows}, {}
        for i, shown in enumerate(values):
            found[None if shown == "" else find(keys - {None}, shown)] = i
        return found

    def place(self, r):
        at = 0
        for name, values, of in zip(self.names, self.values, self.of):
            chip = of.get(self.data.text(name, r))
            if chip is None:
                self.check.wrong("chips: %r of %s is none of %r", self.data.text(name, r), name, values)
                chip = 0
            at = at * len(values) + chip
        return at

    def compare(self, want, flat, width):
        """want: {number: values}; flat: text "79.19,+5,237.57", a step to the next cell where it is not 1, then values."""
        at, seen, tokens = -1, {}, flat.split(",") if flat else []
        i = 0
        while i < len(tokens):
            step = 1
            if tokens[i].startswith("+"):
                step, i = int(tokens[i]), i + 1
            at += step
            seen[at] = [float(t) for t in tokens[i:i + width]]
            i += width
        if set(seen) != set(want):
            self.check.wrong("cells %r are missing, %r too many", sorted(set(want) - set(seen))[:5], sorted(set(seen) - set(want))[:5])
        for key in set(seen) & set(want):
            for ours, theirs in zip(want[key], seen[key]):
                if not self.check.equal("cell %d" % key, ours, theirs):
                    return

    def widget(self, w, cells):
        check, members = self.check, {}
        check.where, check.widget_now = "cube " + w["id"], w
        second = axis_bucket(self.data, w, w["by"], True) if w.get("by") else None
        first = axis_bucket(self.data, w, w["dimension"]) if w.get("dimension") else None
        labels, series = {}, {}
        exact, near = places_of(cells["keys"]), places_of(map(sort_key, cells["keys"]))
        for r in latest_rows(self.data, w, counted(self.data, w, check.rows)):
            at = self.place(r)
            if w.get("dimension"):
                key = label_of(self.data, w["dimension"], first, r)
                name = label_of(self.data, w["by"], second, r) if w.get("by") else ""
                if key is None or name is None:
                    continue
                if key not in labels:
                    labels[key] = exact.get(key, near.get(sort_key(key)))
                if name not in series:
                    series[name] = next((i for i, k in enumerate(cells["series"]) if find([name], k)), None) if w.get("by") else 0
                if series[name] is None:
                    continue
                if labels[key] is None:
                    check.wrong("key %r is missing", key)
                    return
                at = (at * (len(cells["keys"]) or 1) + labels[key]) * (len(cells["series"]) or 1) + series[name]
            members.setdefault(at, []).append(r)
        self.compare({at: self.sums(w, rows) for at, rows in members.items()}, cells["cells"], len(self.sums(w, None)))

    def sums(self, w, rows):
        """What a cell holds; of no rows as many as it would."""
        agg = w["aggregation"]
        n = [len(rows or [])]
        values = [self.data.number(w["metric"], r) for r in rows or []] if w["metric"] != "*" else []
        if agg == "count":
            return n
        if agg == "sum":
            return [math.fsum(values)]
        if agg == "avg":
            return n + [math.fsum(values)]
        weight = n if w.get("by") else []
        if agg == "ratio":
            return weight + [math.fsum(values), math.fsum(self.data.number(w["over"], r) for r in rows or [])]
        return weight + [{"min": min, "max": max}[agg](values, default=0)]

    def run(self):
        self.check.where = "cube"
        rows = collections.Counter(self.place(r) for r in self.check.rows)
        self.compare({at: [n] for at, n in rows.items()}, self.cube["rows"], 1)
        plan = {w["id"]: w for w in self.check.plan["widgets"]}
        for cells in self.cube["widgets"]:
            self.check.kinds["cube " + cells["agg"]] += 1
            self.widget(plan[cells["id"]], cells)


def check_page(job, data):
    with open(job["html"], encoding="utf-8") as f:
        page = pages.Page(f.read())
    plan = job["plan"]
    check = Check(data, plan, page, job["name"], job.get("forced", False))
    for w in plan["widgets"]:
        check.widget(dict(w))
    planned = {w["id"] for w in plan["widgets"]}
    for name in page.widgets:
        if name not in planned:
            check.where = name
            check.wrong("is on the page and not in the plan")
    check.foot(job["file"].rsplit("/", 1)[-1])
    if page.cube and page.cube.get("chips"):
        if plan.get("noRows"):
            check.wrong("noRows, and there are cells")
        Cube(check).run()
    return check


def main(path):
    tables, problems, numbers, kinds, n = {}, [], 0, collections.Counter(), 0
    with open(path, encoding="utf-8") as f:
        jobs = [json.loads(line) for line in f if line.strip()]
    for job in jobs:
        if job["file"] not in tables:
            tables.clear()
            tables[job["file"]] = Data(raw_tables.read(job["file"]), job["columns"])
        check = check_page(job, tables[job["file"]])
        n += 1
        problems += check.problems
        numbers += check.numbers
        kinds += check.kinds
    for p in problems:
        print(p)
    print(json.dumps({"pages": n, "numbers": numbers, "kinds": dict(sorted(kinds.items())), "differences": len(problems)}, ensure_ascii=False))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
