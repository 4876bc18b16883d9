"""A dashboard's page as data: what stands where, by the contract at the head of src/dashboard/page/dashboard.js."""
import html.parser
import json
import re
import unicodedata

VOID = {"meta", "br", "img", "input", "link", "hr", "col", "wbr"}


class Node:
    def __init__(self, tag, attrs):
        self.tag, self.attrs, self.children = tag, dict(attrs), []

    def classes(self):
        return (self.attrs.get("class") or "").split()

    def all(self, tag=None, cls=None, attr=None):
        found, waiting = [], list(reversed(self.children))
        while waiting:
            n = waiting.pop()
            if isinstance(n, str):
                continue
            if (tag is None or n.tag == tag) and (cls is None or cls in n.classes()) and (attr is None or attr in n.attrs):
                found.append(n)
            waiting.extend(reversed(n.children))
        return found

    def first(self, *a, **k):
        found = self.all(*a, **k)
        return found[0] if found else None

    def text(self):
        parts, waiting = [], [self]
        while waiting:
            n = waiting.pop()
            if isinstance(n, str):
                parts.append(n)
            else:
                waiting.extend(reversed(n.children))
        return "".join(parts)


class Builder(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = Node("root", [])
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs)
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Node(tag, attrs))

    def handle_endtag(self, tag):
        for i in range(len(self.open) - 1, 0, -1):
            if self.open[i].tag == tag:
                del self.open[i:]
                return

    def handle_data(self, data):
        self.open[-1].children.append(data)


class Cell:
    """A number of a table: value None for a dash."""

    def __init__(self, node):
        self.text = node.text()
        raw = node.attrs.get("data-ac-v")
        self.value = None if raw is None else float(raw)
        self.key = node.attrs.get("data-ac-k", self.text)
        self.number = "ac-num" in node.classes() or raw is not None


class Table:
    def __init__(self, node):
        heads = node.first("thead")
        self.columns = [Cell(th) for th in heads.all("th")] if heads else []
        self.rows = []
        body = node.first("tbody")
        for tr in body.all("tr") if body else []:
            self.rows.append([Cell(c) for c in tr.children if isinstance(c, Node) and c.tag in ("th", "td")])
        foot = node.first("tfoot")
        self.foot = [Cell(c) for c in foot.all("td")] if foot else []


class Widget:
    def __init__(self, node):
        self.id = node.attrs["data-ac-widget"]
        self.kpi = "ac-kpi" in node.classes()
        self.title = (node.first("dt") or node.first("h2")).text().strip()
        self.spec = None
        self.table = None
        self.rows = False
        self.value = self.shown = self.exact = None
        if self.kpi:
            span = node.first(attr="data-ac-v")
            spoken = node.first(cls="ac-hidden")  # the exact number, where the one that is seen is short
            seen = (span or node.first(cls="ac-value")).text()
            self.spoken = spoken.text().strip() if spoken else None
            self.shown = seen[:len(seen) - len(spoken.text())].strip() if spoken and seen.endswith(spoken.text()) else seen.strip()
            self.value = float(span.attrs["data-ac-v"]) if span else None
            self.exact = span.attrs.get("title") if span else None
        script = node.first("script")
        if script:
            self.spec = json.loads(script.text())
        table = node.first("table")
        if table:
            self.table = Table(table)
            self.rows = "ac-rows" in table.classes()
        canvas = node.first("canvas")
        self.aria = canvas.attrs.get("aria-label") if canvas else None
        self.notes = [n.text().strip() for n in node.all(cls="ac-note")]


    def largest(self):
        """Of the numbers of its table."""
        if not hasattr(self, "_largest"):
            self._largest = max((abs(c.value) for row in self.table.rows for c in row if c.value is not None), default=0)
        return self._largest


class Page:
    def __init__(self, text):
        builder = Builder()
        builder.feed(text)
        root = builder.root
        self.bytes = len(text.encode())
        main = root.first("main")
        self.locale = main.attrs.get("data-ac-locale", "en")
        self.widgets = {}
        for n in main.all(attr="data-ac-widget"):
            w = Widget(n)
            self.widgets.setdefault(w.id, w)
        self.order = list(self.widgets)
        cube = root.first("script", attr="id")
        self.cube = json.loads(cube.text()) if cube and cube.attrs["id"] == "ac-cube" else None
        for s in root.all("script", attr="id"):
            if s.attrs["id"] == "ac-cube":
                self.cube = json.loads(s.text())
        foot = root.first("footer")
        self.foot = foot.text() if foot else ""
        self.sub = (root.first(cls="ac-sub") or Node("p", [])).text()


# --- numbers as people of a language write them ---
DECIMAL = {"en": ".", "es": ",", "de": ",", "fr": ",", "ar": "٫"}
COMPACT = {
    "en": {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12},
    "es": {"mil": 1e3, "k": 1e3, "M": 1e6, "mil M": 1e9, "B": 1e12},
    "de": {"Tsd.": 1e3, "Mio.": 1e6, "Mrd.": 1e9, "Bio.": 1e12},
    "fr": {"k": 1e3, "M": 1e6, "Md": 1e9, "Bn": 1e12},
    "ar": {"ألف": 1e3, "مليون": 1e6, "مليار": 1e9, "ترليون": 1e12, "تريليون": 1e12},
}


def parse_number(text, locale):
    """(value, the weight of half its last digit, whether it is a percentage), or None."""
    language = locale.split("-")[0]
    marks = "".join(c for c in text if unicodedata.category(c) not in ("Cf",)).strip()
    marks = re.sub(r"[\u00a0\u202f\u2009 ]+", " ", marks)
    digits = "".join(str(unicodedata.decimal(c)) if unicodedata.category(c) == "Nd" else c for c in marks)
    has_arabic = digits != marks
    m = re.match(r"^([-−]?) ?([0-9][0-9.,٫٬'’ ]*?)(?: ?([%٪]))?(?: ?([^\d%٪]+))?$", digits)
    if not m:
        return None
    sign, body, share, suffix = m.groups()
    mark = DECIMAL.get(language, ".")
    if language == "ar" and not has_arabic:
        mark = "." if "." in body else ","
        mark = "."
    whole, _, rest = body.partition(mark)
    whole = re.sub(r"[.,٬'’ ]", "", whole)
    if not whole.isdigit() or (rest and not rest.isdigit()):
        return None
    scale = 1.0
    if suffix:
        scale = COMPACT.get(language, {}).get(suffix.strip())
        if scale is None:
            return None
    value = float(whole + "." + (rest or "0")) * scale * (-1 if sign else 1)
    return value, 0.5 * 10.0 ** -len(rest) * scale, bool(share)
