"""Interactive charts for one self-contained HTML page, drawn by Chart.js, which `write` and `page` put in once.

    body = charts.kpis(("Orders", "1,204", "+8% vs last month")) + charts.grid(
        charts.card("Status", charts.donut(["Delivered", "In transit"], [81.7, 18.3])),
        charts.card("Per month", charts.line(["Jan", "Feb", "Mar"], {"2024": [3, 5, 4], "2025": [4, 6, 7]})),
    )
    charts.write("dashboard.html", "Orders", body)

values is a list, or {series name: list} for several series. Each chart brings a data table and a summary for screen
readers along. fmt: "number", "integer", "percent" (0.25 is 25%), "compact", "currency:USD" (any ISO code), or a dict of
Intl.NumberFormat options. locale: a tag such as "es-CO"; without one the viewer's own is used. Errors say the right call;
what is left out of a chart is said on standard error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Union

from . import _data, _format
from ._check import guide, unknown
from ._words import words
from .html import clean, escape, page as _page, save, style_text

__all__ = ["area", "bar", "card", "donut", "grid", "hbar", "kpis", "library", "line", "page", "pie", "scatter", "write"]

Labels = Iterable[object]
Values = Union[Iterable[object], Mapping[str, Iterable[object]]]
Fmt = Union[str, Mapping[str, object], None]

_ALSO = {
    "barh": "hbar", "column": "bar", "columns": "bar", "doughnut": "donut", "horizontal_bar": "hbar", "kpi": "kpis",
    "save": "write", "histogram": "bar", "scatterplot": "scatter", "lines": "line", "stacked_bar": "bar", "section": "card",
    "row": "grid", "table": "html.table", "metric": "kpis",
}


if not TYPE_CHECKING:  # for a checker, what is not there is not there

    def __getattr__(name: str) -> object:
        raise unknown("charts", name, __all__, _ALSO)


_HERE = Path(__file__).parent
_SUMMARY_POINTS = 8
_SCATTER_ROWS = 200
_LABELLED_BARS = 16
_LONGEST = 300  # characters of a label in a chart; the data table has all of it


@guide('charts.pie(["Yes", "No"], [62, 38], title="Answers")')
def pie(
    labels: Labels,
    values: Iterable[object],
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    max_slices: int = 6,
    note: str | None = None,
) -> str:
    """A pie, for 2 to 5 parts of a whole. What is beyond max_slices is summed up as "Other".

    >>> pie(["Yes", "No"], [62, 38], title="Answers").count("<canvas")
    1
    """
    return _round("pie", labels, values, title, fmt, locale, unit, height, max_slices, note)


@guide('charts.donut(["Delivered", "In transit"], [81.7, 18.3], title="Status")')
def donut(
    labels: Labels,
    values: Iterable[object],
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    max_slices: int = 8,
    center: str | None = None,
    note: str | None = None,
) -> str:
    """A pie with a hole; center is text in it, such as the total. A second line of it is smaller.

    >>> "1,204" in donut(["Paid", "Open"], [1100, 104], center="1,204\\norders")
    True
    """
    return _round("donut", labels, values, title, fmt, locale, unit, height, max_slices, note, center)


@guide('charts.bar(["Jan", "Feb"], [3, 5], title="Orders")')
def bar(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    stacked: bool = False,
    value_labels: bool = True,
    x_title: str | None = None,
    y_title: str | None = None,
    note: str | None = None,
) -> str:
    """Upright bars, for a few categories or points of time. Values stand on the bars while there are at most 16.

    >>> chart = bar(["Ana", "Luis"], {"Sales": [120000, 95000], "Profit": [30000, 21000]}, fmt="currency:USD")
    >>> "$120,000" in chart
    True
    """
    return _axes(
        "bar", labels, values, title, fmt, locale, unit, height, note, stacked, value_labels, x_title, y_title, False
    )


@guide('charts.hbar(["North", "South"], [3, 5], title="Orders by region")')
def hbar(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    stacked: bool = False,
    value_labels: bool = True,
    x_title: str | None = None,
    y_title: str | None = None,
    note: str | None = None,
) -> str:
    """Bars that lie, for rankings and long labels; the chart grows with their number.

    >>> hbar(["North", "South"], [3, 5]).count("<tr>")
    3
    """
    return _axes(
        "hbar", labels, values, title, fmt, locale, unit, height, note, stacked, value_labels, x_title, y_title, False
    )


@guide('charts.line(["Jan", "Feb"], {"2024": [3, 5], "2025": [4, 6]}, title="Orders per month")')
def line(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    smooth: bool = False,
    x_title: str | None = None,
    y_title: str | None = None,
    note: str | None = None,
) -> str:
    """Lines over time. A missing value (None) is a gap.

    >>> "2025" in line(["Jan", "Feb"], {"2024": [3, None], "2025": [4, 6]})
    True
    """
    return _axes("line", labels, values, title, fmt, locale, unit, height, note, False, False, x_title, y_title, smooth)


@guide('charts.area(["Jan", "Feb"], {"Web": [3, 5], "Shop": [4, 6]}, stacked=True)')
def area(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    stacked: bool = False,
    smooth: bool = False,
    x_title: str | None = None,
    y_title: str | None = None,
    note: str | None = None,
) -> str:
    """Lines with their areas filled; stacked shows parts and their sum.

    >>> area(["Jan", "Feb"], {"Web": [3, 5], "Shop": [4, 6]}, stacked=True).count("<canvas")
    1
    """
    return _axes("area", labels, values, title, fmt, locale, unit, height, note, stacked, False, x_title, y_title, smooth)


@guide('charts.scatter([1.2, 3.4], [20, 35], x_title="Weight", y_title="Price")')
def scatter(
    xs: Values,
    ys: Values,
    title: str | None = None,
    *,
    labels: Labels | None = None,
    fmt: Fmt = None,
    x_fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    height: int | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    note: str | None = None,
) -> str:
    """Points of two measures. ys may be {series name: list}, and xs, too; labels name the points when asked.

    fmt and unit are of ys, x_fmt of xs. The data table holds the first 200 points.

    >>> scatter([1, 2], [3, 4], x_title="Weight", y_title="Price").count("<canvas")
    1
    """
    where = "charts.scatter"
    common = _common(where, title, locale, unit, height, note)
    named = {"x_title": _data.text(where, "x_title", x_title), "y_title": _data.text(where, "y_title", y_title)}
    parts = _data.points(xs, ys, labels, where, 'charts.scatter([1.2, 3.4], [20, 35], x_title="Weight", y_title="Price")')
    options = _format.resolve(fmt, [y for part in parts for _, y in part.points], where)
    x_options = _format.resolve(x_fmt, [x for part in parts for x, _ in part.points], where)
    if not any(part.points for part in parts):
        return _nothing(common)
    spec: dict[str, object] = {
        "series": [
            {"name": _cut(part.name), "points": [[_data.whole(x), _data.whole(y)] for x, y in part.points]}
            | ({"labels": [_cut(name) for name in part.labels]} if part.labels else {})
            for part in parts
        ],
        "fmt": options,
        "xFmt": x_options,
        "xTitle": named["x_title"],
        "yTitle": named["y_title"],
    }
    text, x_text = _format.Format(options, locale, unit), _format.Format(x_options, locale)
    said = [f"{x_text(x)}; {text(y)}" for part in parts for x, y in part.points[:_SUMMARY_POINTS]]
    total = sum(len(part.points) for part in parts)
    return _figure("scatter", common, spec, said, total, _scatter_table(parts, common, named, text, x_text))


def _scatter_table(
    parts: list[_data.Points],
    common: dict[str, object],
    named: dict[str, str | None],
    text: _format.Format,
    x_text: _format.Format,
) -> str:
    word = words(_locale(common))
    heads = [named["x_title"] or "x", named["y_title"] or "y"]
    has_names, has_labels = any(part.name for part in parts), any(part.labels for part in parts)
    lead = ([word["category"]] if has_names else []) + (["#"] if has_labels else [])
    rows: list[str] = []
    for part in parts:
        for i, (x, y) in enumerate(part.points):
            cells = [part.name] if has_names else []
            cells += [part.labels[i] if part.labels else ""] if has_labels else []
            rows.append("".join(_text_cell(cell) for cell in cells) + _number_cell(x, x_text, "x") + _number_cell(y, text))
            if len(rows) == _SCATTER_ROWS:
                break
        if len(rows) == _SCATTER_ROWS:
            break
    total = sum(len(part.points) for part in parts)
    more = f'<p class="ac-note">{escape(word["rows"].format(len(rows), total))}</p>' if total > len(rows) else ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in lead)
    head += "".join(f'<th scope="col" class="ac-num">{escape(name)}</th>' for name in heads)
    return _table(head, rows, common) + more


def _round(
    kind: str,
    labels: object,
    values: object,
    title: str | None,
    fmt: Fmt,
    locale: str | None,
    unit: str | None,
    height: int | None,
    max_slices: int,
    note: str | None,
    center: str | None = None,
) -> str:
    where = f"charts.{kind}"
    common = _common(where, title, locale, unit, height, note)
    word = words(_locale(common))
    names, amounts = _data.slices(labels, values, where, f'{where}(["Yes", "No"], [62, 38])')
    full = list(zip(names, amounts))
    names, amounts, other = _data.fold(names, amounts, max_slices, word["other"], where)
    options = _format.resolve(fmt, amounts, where)
    middle = _data.text(where, "center", center)
    if not amounts:
        return _nothing(common)
    spec: dict[str, object] = {
        "labels": [_cut(name) for name in names],
        "series": [{"name": "", "values": [_data.whole(value) for value in amounts]}],
        "fmt": options,
        "other": other,
        "center": middle,
    }
    text = _format.Format(options, locale, unit)
    share = _format.Format({"style": "percent", "maximumFractionDigits": 1}, locale)
    total = sum(amounts)
    shares = options.get("style") != "percent" or abs(total - 1) > 0.005
    # The table has every slice, the folded ones, too: nothing is lost by folding.
    rows = [
        _label_cell(name)
        + _number_cell(value, text)
        + (f'<td class="ac-num" data-ac-v="{value / total!r}" data-ac-f="share">{share(value / total)}</td>' if shares else "")
        for name, value in full
    ]
    head = f'<th scope="col">{word["category"]}</th><th scope="col" class="ac-num">{word["value"]}</th>'
    head += f'<th scope="col" class="ac-num">{word["share"]}</th>' if shares else ""
    said = [f"{_brief(name)} {text(value)}" for name, value in zip(names, amounts)]
    return _figure(kind, common, spec, said[:_SUMMARY_POINTS], len(said), _table(head, rows, common))


def _axes(
    kind: str,
    labels: object,
    values: object,
    title: str | None,
    fmt: Fmt,
    locale: str | None,
    unit: str | None,
    height: int | None,
    note: str | None,
    stacked: bool,
    value_labels: bool,
    x_title: str | None,
    y_title: str | None,
    smooth: bool,
) -> str:
    where = f"charts.{kind}"
    common = _common(where, title, locale, unit, height, note)
    x_title, y_title = _data.text(where, "x_title", x_title), _data.text(where, "y_title", y_title)
    names, parts = _data.series(labels, values, where, f'{where}(["Jan", "Feb"], [3, 5])')
    options = _format.resolve(fmt, [value for part in parts for value in part.values], where)
    if _data.is_empty(parts):
        return _nothing(common)
    spec: dict[str, object] = {
        "labels": [_cut(name) for name in names],
        "series": [
            {"name": _cut(part.name), "values": [_data.whole(value) for value in part.values]} for part in parts
        ],
        "fmt": options,
        "stacked": bool(stacked),
        "smooth": bool(smooth),
        "valueLabels": bool(value_labels) and kind in ("bar", "hbar") and len(names) * len(parts) <= _LABELLED_BARS,
        "xTitle": x_title,
        "yTitle": y_title,
    }
    if kind == "hbar" and height is None:
        each = 24 if stacked or len(parts) == 1 else max(24, 14 * len(parts) + 8)
        common["height"] = max(240, min(900, 56 + each * len(names)))
    word = words(_locale(common))
    text = _format.Format(options, locale, unit)
    measure = x_title if kind == "hbar" else y_title
    axis = y_title if kind == "hbar" else x_title
    head = f'<th scope="col" dir="auto">{escape(axis or word["category"])}</th>' + "".join(
        f'<th scope="col" class="ac-num" dir="auto">{escape(part.name or measure or word["value"])}</th>' for part in parts
    )
    rows = [
        _label_cell(name) + "".join(_number_cell(part.values[i], text) for part in parts) for i, name in enumerate(names)
    ]
    said: list[str] = []
    for part in parts:
        for i, value in enumerate(part.values):
            if len(said) < _SUMMARY_POINTS and value is not None:
                named = f"{_brief(part.name)}, {_brief(names[i])}" if part.name else _brief(names[i])
                said.append(f"{named} {text(value)}")
    total = sum(value is not None for part in parts for value in part.values)
    return _figure(kind, common, spec, said, total, _table(head, rows, common))


def _common(
    where: str, title: str | None, locale: str | None, unit: str | None, height: int | None, note: str | None
) -> dict[str, object]:
    if height is not None and (isinstance(height, bool) or not isinstance(height, (int, float)) or not 120 <= height <= 2000):
        raise ValueError(f"{where}: height is in pixels, from 120 to 2000, not {height!r}")
    kind = where.removeprefix("charts.")
    return {
        "title": _data.text(where, "title", title),
        "locale": _format.tag(locale, where),
        "unit": _data.text(where, "unit", unit),
        "note": _data.text(where, "note", note),
        "height": int(height) if height is not None else 340 if kind in ("pie", "donut") else 320,
    }


def _locale(common: dict[str, object]) -> str | None:
    locale = common["locale"]
    return locale if isinstance(locale, str) else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _brief(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def _label_cell(text: str) -> str:
    return f'<th scope="row" dir="auto">{escape(text)}</th>'


def _text_cell(text: str) -> str:
    return f'<td dir="auto">{escape(text)}</td>'


def _number_cell(value: float | None, text: _format.Format, which: str = "") -> str:
    if value is None:
        return '<td class="ac-num">—</td>'
    kind = f' data-ac-f="{which}"' if which else ""
    return f'<td class="ac-num" data-ac-v="{_data.whole(value)!r}"{kind}>{escape(text(value))}</td>'


def _table(head: str, rows: list[str], common: dict[str, object]) -> str:
    name = words(_locale(common))["data"]
    if common["title"]:
        name += f": {_brief(str(common['title']))}"
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="ac-scroll" tabindex="0" role="group" aria-label="{escape(name)}">'
        f'<table class="ac-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _nothing(common: dict[str, object]) -> str:
    word = words(_locale(common))
    return f'<figure class="ac-chart">{_caption(common)}<p class="ac-none">{word["none"]}</p>{_note(common)}</figure>'


def _caption(common: dict[str, object]) -> str:
    return f'<figcaption dir="auto">{escape(common["title"])}</figcaption>' if common["title"] else ""


def _note(common: dict[str, object]) -> str:
    return f'<p class="ac-note" dir="auto">{escape(common["note"])}</p>' if common["note"] else ""


def _figure(kind: str, common: dict[str, object], spec: dict[str, object], said: list[str], total: int, table: str) -> str:
    word = words(_locale(common))
    more = f"; {word['more'].format(total - len(said))}" if total > len(said) else ""
    name = word[kind] + (f", {_brief(str(common['title']))}" if common["title"] else "")
    summary = f"{name}: {'; '.join(said)}{more}"
    whole = {"v": 1, "kind": kind, **{key: common[key] for key in ("title", "locale", "unit", "height")}, **spec}
    kept = {key: value for key, value in whole.items() if value is not None and value is not False}
    return (
        f'<figure class="ac-chart" data-ac-chart="{kind}">{_caption(common)}'
        f'<div class="ac-plot"><canvas role="img" aria-label="{escape(summary)}"></canvas></div>{_note(common)}'
        f'<details class="ac-data"><summary>{word["data"]}</summary>{table}</details>'
        f'<script type="application/json">{inert(kept)}</script></figure>\n'
    )


def inert(value: object) -> str:
    """JSON that no HTML parser takes for markup."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return clean(text)


@guide('charts.card("Sales by region", charts.bar(labels, values))')
def card(title: str, *content: str, note: str | None = None) -> str:
    """A panel with a heading, around one chart (or other HTML); note stands small at its foot.

    >>> card("A & B", "<p>text</p>")
    '<section class="ac-card"><h2 dir="auto">A &amp; B</h2><p>text</p></section>\\n'
    """
    _html_parts("charts.card", (title, *content))
    foot = f'<p class="ac-note" dir="auto">{escape(note)}</p>' if note else ""
    return f'<section class="ac-card"><h2 dir="auto">{escape(title)}</h2>{"".join(content)}{foot}</section>\n'


@guide("charts.grid(charts.card(…), charts.card(…))")
def grid(*cards: str, min_width: int = 340) -> str:
    """Cards side by side, as many as fit; none is narrower than min_width pixels, unless the page is.

    >>> grid(card("A"), card("B")).count("ac-card")
    2
    """
    _html_parts("charts.grid", cards)
    if isinstance(min_width, bool) or not isinstance(min_width, int) or not 120 <= min_width <= 2000:
        raise ValueError(f"charts.grid: min_width is in pixels, from 120 to 2000, not {min_width!r}")
    style = "" if min_width == 340 else f' style="--ac-min:{min_width}px"'
    return f'<div class="ac-grid"{style}>{"".join(cards)}</div>\n'


@guide('charts.kpis(("Orders", "1,204", "+8% vs last month"), ("Revenue", "$92,300"))')
def kpis(*items: tuple[object, ...] | list[object]) -> str:
    """Figures in a row, each (label, value) or (label, value, extra). A number as value is written for people.

    >>> kpis(("Orders", 1204), ("Revenue", "$92,300", "+8%")).count("<dt")
    2
    >>> "1.2M" in kpis(("Visits", 1234567))
    True
    """
    # One list of tuples will do, too.
    listed: Iterable[object] = items[0] if len(items) == 1 and isinstance(items[0], list) else items
    parts: list[str] = []
    for item in listed:
        if isinstance(item, str) or not isinstance(item, (tuple, list)) or not 2 <= len(item) <= 3:
            raise TypeError(
                f"charts.kpis: each figure is (label, value) or (label, value, extra), not {str(item)[:60]!r}; "
                'call it like this: charts.kpis(("Orders", "1,204", "+8% vs last month"), ("Revenue", "$92,300"))'
            )
        extra = f'<dd class="ac-extra" dir="auto">{escape(item[2])}</dd>' if len(item) == 3 and item[2] not in (None, "") else ""
        parts.append(f'<div class="ac-kpi"><dt dir="auto">{escape(item[0])}</dt>{_kpi_value(item[1])}{extra}</div>')
    return f'<dl class="ac-kpis">{"".join(parts)}</dl>\n' if parts else ""


def _kpi_value(value: object) -> str:
    if isinstance(value, str) or value is None or _data.amount(value) is None:
        return f'<dd class="ac-value" dir="auto">{escape(value) or "—"}</dd>'
    exact = _data.amount(value) or 0.0
    text = _format.Format({"maximumFractionDigits": 2})(exact)
    if abs(exact) < 1_000_000:
        return f'<dd class="ac-value">{text}</dd>'
    short = _format.Format({"notation": "compact", "maximumFractionDigits": 1})(exact)
    return f'<dd class="ac-value" title="{text}"><span aria-hidden="true">{short}</span><span class="ac-hidden">{text}</span></dd>'


def _html_parts(where: str, parts: tuple[object, ...]) -> None:
    for part in parts:
        if isinstance(part, (list, tuple)):
            raise TypeError(f"{where}: pass the parts one by one, not as a list: {where}(*parts)")
        if not isinstance(part, str):
            raise TypeError(f"{where}: the parts are HTML text, as charts.bar(…) gives it, not {type(part).__name__}")


@lru_cache(maxsize=1)
def _chart_js() -> str:
    places = [_HERE / "chart.umd.min.js"]
    if os.environ.get("ALISIO_CHART_JS"):
        places.insert(0, Path(os.environ["ALISIO_CHART_JS"]))
    places.append(_HERE.parents[1] / "node_modules/chart.js/dist/chart.umd.min.js")  # in the source tree
    for place in places:
        try:
            text = place.read_text(encoding="utf-8")
        except OSError:
            continue
        return text.partition("\n//# sourceMappingURL")[0].replace("</script", "<\\/script")
    raise FileNotFoundError("charts: chart.umd.min.js is not beside alisio_runtime; name the file by ALISIO_CHART_JS")


@lru_cache(maxsize=1)
def _styles() -> str:
    css = style_text((_HERE / "charts.css").read_text(encoding="utf-8"))
    return f"<style data-ac-library>{css}</style>\n"


@lru_cache(maxsize=1)
def _scripts() -> str:
    boot = (_HERE / "charts-boot.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    return f"<script>{_chart_js()}</script>\n<script>{boot}</script>\n"


def library() -> str:
    """Styles and scripts for charts in a page of your own: put it once, after the last chart.

    `page` and `write`, also those of `html`, do this by themselves.
    """
    return _styles() + _scripts()


@guide('charts.page("Sales", charts.card("Regions", chart))')
def page(title: str, body: str, css: str | None = None, lang: str = "en") -> str:
    """A whole page around body, with the library in it once, as text.

    >>> page("Sales", card("Regions", bar(["North"], [3]))).count("Chart.js v4")
    1
    """
    if not isinstance(body, str):
        _html_parts("charts.page", (body,))
    return _page(title, body, css, lang)


@guide('charts.write("sales.html", "Sales", charts.card("Regions", chart))')
def write(name: str | os.PathLike[str], title: str, body: str, css: str | None = None, lang: str = "en") -> Path:
    """Writes page(title, body, css, lang) into the output folder, and returns its path.

    >>> write("sales.html", "Sales", card("Regions", bar(["North"], [3]))).name
    'sales.html'
    """
    return save("charts.write", name, page(title, body, css, lang))
