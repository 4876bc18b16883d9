"""Static charts: one <svg> that scales with its place, for reports, .svg files and pages without scripts.

    (output_dir() / "sales.svg").write_text(svg.bar(["Q1", "Q2"], [12, 18], title="Sales"), encoding="utf-8")

They take what `charts` takes, but its pages are better on a screen. Text is drawn in currentColor, so that it follows the
page around it; the colours stand out from light and dark ground. `pie_slices` is the geometry alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict

from . import _data, _format
from ._check import guide, unknown
from ._words import words
from .charts import Fmt, Labels, Values
from .html import escape

__all__ = [
    "PALETTE",
    "arc_path",
    "area",
    "bar",
    "donut",
    "fmt_value",
    "group_small",
    "hbar",
    "line",
    "nice_ticks",
    "pie",
    "pie_slices",
    "scatter",
]

_ALSO = {"barh": "hbar", "column": "bar", "doughnut": "donut", "write": "html.write", "scatterplot": "scatter", "lines": "line"}


if not TYPE_CHECKING:  # for a checker, what is not there is not there

    def __getattr__(name: str) -> object:
        raise unknown("svg", name, __all__, _ALSO)


#: Told apart by people with colour blindness, and at least 3:1 against both white and near-black.
PALETTE = ("#1f9b98", "#c27c00", "#625fc8", "#c84038", "#327c40", "#99558d", "#0580b0", "#90796c")
_OTHER = "#7f8a86"
_FONT = "font-family=\"system-ui, 'Segoe UI', 'Noto Sans', Arial, sans-serif\""
_LABELLED_BARS = 16


class Slice(TypedDict):
    """One part of a pie. Angles in degrees, clockwise, -90 is up; full: it is the whole circle."""

    index: int
    value: float
    fraction: float
    percent: float
    start: float
    end: float
    sweep: float
    large_arc: int
    full: bool


@guide('svg.fmt_value(1234.5, "currency:USD")')
def fmt_value(value: float | None, fmt: Fmt = None, locale: str | None = None, unit: str | None = None) -> str:
    """A number as charts write it.

    >>> fmt_value(0.256, "percent"), fmt_value(1234.5, "currency:USD"), fmt_value(None)
    ('25.6%', '$1,235', '—')
    """
    where = "svg.fmt_value"
    number = _data.amount(value)
    return _format.Format(_format.resolve(fmt, [number], where), _format.tag(locale, where), unit)(number)


@guide("svg.nice_ticks(0, 87)")
def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that span low to high, about count of them.

    >>> nice_ticks(0, 87)
    [0.0, 25.0, 50.0, 75.0, 100.0]
    >>> nice_ticks(3, 3)
    [0.0, 1.0, 2.0, 3.0]
    """
    if not (abs(low) <= 1e300 and abs(high) <= 1e300):
        raise ValueError(f"svg.nice_ticks: low and high are numbers up to 1e300, not {low!r} and {high!r}")
    low, high = min(low, high), max(low, high)
    if high - low < 1e-300 or high - low < 1e-12 * max(abs(low), abs(high)):
        low, high = min(low, 0.0), max(high, 0.0)
        if high - low < 1e-300:
            low, high = 0.0, 1.0
    rough = (high - low) / max(1, count - 1)
    size = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next((m * size for m in (1, 2, 2.5, 5) if m * size >= rough * (1 - 1e-9)), 10 * size)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = 2 - math.floor(math.log10(step))
    return [(round(i * step, digits) if digits < 300 else i * step) + 0.0 for i in range(first, last + 1)]


@guide("svg.pie_slices([62, 38])")
def pie_slices(values: Iterable[object], start: float = -90) -> list[Slice]:
    """The slices of a pie: the last ends at start + 360 exactly. What is not above zero has none, and keeps its index.

    >>> [(s["start"], s["end"]) for s in pie_slices([3, 1])]
    [(-90.0, 180.0), (180.0, 270.0)]
    >>> pie_slices([5])[0]["full"]
    True
    """
    given = _data.listed(values, "svg.pie_slices", "values", "svg.pie_slices([62, 38])")
    amounts = [(i, number) for i, number in enumerate(map(_data.amount, given)) if number is not None and number > 0]
    if not amounts:
        return []
    # Scaled first: sums of the largest floats, and shares of the smallest, stay numbers.
    largest = max(number for _, number in amounts)
    scaled = [number / largest for _, number in amounts]
    total = math.fsum(scaled)
    found: list[Slice] = []
    at, done = float(start), 0.0
    for k, (index, value) in enumerate(amounts):
        done += scaled[k]
        end = start + 360.0 if k == len(amounts) - 1 else min(start + 360.0 * done / total, start + 360.0)
        fraction = scaled[k] / total
        sweep = end - at
        found.append(
            Slice(
                index=index,
                value=value,
                fraction=fraction,
                percent=fraction * 100,
                start=at,
                end=end,
                sweep=sweep,
                large_arc=int(sweep > 180),
                full=sweep >= 359.999,
            )
        )
        at = end
    return found


def _n(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@guide("svg.arc_path(100, 100, 80, -90, 45)")
def arc_path(cx: float, cy: float, radius: float, start: float, end: float, inner: float = 0) -> str:
    """The d of a slice from start to end (degrees); inner > 0 leaves a hole. A whole turn is drawn as two halves.

    >>> arc_path(0, 0, 10, -90, 0)
    'M0 0L0 -10A10 10 0 0 1 10 0Z'
    >>> arc_path(0, 0, 10, -90, 270).count("A")
    2
    """
    sweep = end - start
    if sweep >= 359.999:
        rings = [_ring(cx, cy, radius, 1)]
        if inner > 0:
            rings.append(_ring(cx, cy, inner, 0))
        return "".join(rings)
    large = int(sweep > 180)
    x1, y1 = _on(cx, cy, radius, start)
    x2, y2 = _on(cx, cy, radius, end)
    arc = f"A{_n(radius)} {_n(radius)} 0 {large} 1 {_n(x2)} {_n(y2)}"
    if inner <= 0:
        return f"M{_n(cx)} {_n(cy)}L{_n(x1)} {_n(y1)}{arc}Z"
    x3, y3 = _on(cx, cy, inner, end)
    x4, y4 = _on(cx, cy, inner, start)
    back = f"A{_n(inner)} {_n(inner)} 0 {large} 0 {_n(x4)} {_n(y4)}"
    return f"M{_n(x1)} {_n(y1)}{arc}L{_n(x3)} {_n(y3)}{back}Z"


def _ring(cx: float, cy: float, radius: float, way: int) -> str:
    r, top, bottom = _n(radius), f"{_n(cx)} {_n(cy - radius)}", f"{_n(cx)} {_n(cy + radius)}"
    return f"M{top}A{r} {r} 0 1 {way} {bottom}A{r} {r} 0 1 {way} {top}Z"


def _on(cx: float, cy: float, radius: float, degrees: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    return cx + radius * math.cos(angle), cy + radius * math.sin(angle)


@guide('svg.group_small(["a", "b", "c"], [90, 9, 1], max_slices=2)')
def group_small(
    labels: Labels,
    values: Iterable[object],
    max_slices: int = 8,
    min_fraction: float = 0.02,
    other: str = "Other",
) -> tuple[list[str], list[float]]:
    """Sums up what is beyond max_slices or below min_fraction of the whole. A lone small slice keeps its name.

    >>> group_small(["a", "b", "c", "d"], [60, 38, 1, 1])
    (['a', 'b', 'Other'], [60.0, 38.0, 2.0])
    >>> group_small(["a", "b", "c"], [60, 39, 1])
    (['a', 'b', 'c'], [60.0, 39.0, 1.0])
    """
    where = "svg.group_small"
    if not isinstance(max_slices, int) or isinstance(max_slices, bool) or max_slices < 2:
        raise ValueError(f"{where}: max_slices is a whole number from 2, not {max_slices!r}")
    names, amounts = _data.slices(labels, values, where, 'svg.group_small(["a", "b"], [90, 10])')
    total = math.fsum(amounts)
    small = {i for i, value in enumerate(amounts) if value < min_fraction * total}
    if len(small) < 2:
        small = set()
    large = [i for i in range(len(amounts)) if i not in small]
    room = max_slices - 1 if small or len(large) > max_slices else max_slices
    if len(large) > room:
        order = sorted(large, key=lambda i: -amounts[i])
        small |= set(order[room:])
    kept = [i for i in range(len(amounts)) if i not in small]
    if not small:
        return names, amounts
    rest = math.fsum(amounts[i] for i in small)
    return [names[i] for i in kept] + [other], [amounts[i] for i in kept] + [rest]


def _document(kind: str, title: str | None, said: list[str], width: float, height: float, body: str, locale: str | None) -> str:
    word = words(locale)
    name = title or word[kind]
    more = f"; {word['more'].format(len(said) - 8)}" if len(said) > 8 else ""
    desc = f"{word[kind]}: {'; '.join(said[:8])}{more}" if said else word["none"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ac-svg" viewBox="0 0 {_n(width)} {_n(height)}" role="img" data-ac-svg="{kind}" '
        f'aria-label="{escape(name)}. {escape(desc)}" {_FONT} font-size="13" fill="currentColor">'
        f"<title>{escape(name)}</title><desc>{escape(desc)}</desc>{body}</svg>"
    )


# Widths of letters are not known here; this is a little wider than most fonts are.
def _wide(text: str, size: float = 13) -> float:
    return sum(_letter(c) for c in text) * size


def _letter(c: str) -> float:
    if c in "iljI.,:;'|! ":
        return 0.34
    if c in "mwMW@%" or ord(c) > 0x2E80:
        return 1.0
    return 0.72 if c.isupper() else 0.6


def _fit(text: str, room: float, size: float = 13) -> str:
    text = text[:500]
    if _wide(text, size) <= room:
        return text
    used, kept = _wide("…", size), 0
    for kept, letter in enumerate(text):
        used += _wide(letter, size)
        if used > room:
            break
    return text[:kept].rstrip() + "…"


def _label(
    x: float, y: float, text: str, anchor: str = "start", size: float = 13, weight: int = 400, opacity: float = 1, fill: str = ""
) -> str:
    more = (f' font-weight="{weight}"' if weight != 400 else "") + (f' fill-opacity="{opacity}"' if opacity != 1 else "")
    more += f' fill="{fill}"' if fill else ""
    place = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{_n(x)}" y="{_n(y)}"{place} font-size="{_n(size)}"{more}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, opacity: float) -> str:
    return (
        f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="currentColor" '
        f'stroke-opacity="{opacity}" stroke-width="1"/>'
    )


def _headed(title: str | None, width: float) -> tuple[str, float]:
    """The title as it is drawn, and where the chart begins."""
    return (_label(0, 18, _fit(title, width, 16), size=16, weight=600), 32) if title else ("", 4)


def _empty(kind: str, title: str | None, width: float, height: float, locale: str | None) -> str:
    head, _ = _headed(title, width)
    body = head + _label(width / 2, height / 2, words(locale)["none"], "middle", opacity=0.75)
    return _document(kind, title, [], width, height, body, locale)


def _size(where: str, width: float, height: float) -> None:
    for name, value in (("width", width), ("height", height)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 80 <= value <= 10_000:
            raise ValueError(f"{where}: {name} is a number from 80 to 10000, not {value!r}")


def _round(
    kind: str,
    labels: object,
    values: object,
    title: str | None,
    fmt: Fmt,
    locale: str | None,
    unit: str | None,
    width: float,
    height: float,
    max_slices: int,
    center_text: str | None,
) -> str:
    where = f"svg.{kind}"
    _size(where, width, height)
    locale, unit, title = _format.tag(locale, where), _data.text(where, "unit", unit), _data.text(where, "title", title)
    center_text = _data.text(where, "center_text", center_text)
    names, amounts = _data.slices(labels, values, where, f'{where}(["Yes", "No"], [62, 38])')
    names, amounts, other = _data.fold(names, amounts, max_slices, words(locale)["other"], where)
    options = _format.resolve(fmt, amounts, where)
    if not amounts:
        return _empty(kind, title, width, height, locale)
    text = _format.Format(options, locale, unit)
    share = _format.Format({"style": "percent", "maximumFractionDigits": 1}, locale)
    head, top = _headed(title, width)
    radius = max(20.0, min(height - top - 4, width * 0.5) / 2)
    cx, cy, inner = radius + 2, top + radius, radius * 0.6 if kind == "donut" else 0.0
    apart = 1.0 if len(amounts) > 1 else 0.0  # the ground shows between the slices, whatever its colour
    body = [head]
    for part in pie_slices(amounts):
        i = part["index"]
        colour = _OTHER if i == other else PALETTE[i % len(PALETTE)]
        x, y = _on(cx, cy, apart, part["start"] + part["sweep"] / 2)
        d = arc_path(x, y, radius - apart, part["start"], part["end"], inner)
        rule = ' fill-rule="evenodd"' if part["full"] and inner else ""
        tip = f"{names[i]}: {text(amounts[i])}"
        body.append(f'<path d="{d}" fill="{colour}"{rule}><title>{escape(tip)}</title></path>')
    if center_text and inner:
        body.append(_label(cx, cy + 6, _fit(center_text, inner * 1.7, 18), "middle", 18, 600))
    left, step = 2 * radius + 24, min(24.0, (height - top) / len(names))
    y = cy - step * (len(names) - 1) / 2
    total = math.fsum(amounts)
    for i, name in enumerate(names):
        colour = _OTHER if i == other else PALETTE[i % len(PALETTE)]
        value = text(amounts[i]) + ("" if options.get("style") == "percent" else f" ({share(amounts[i] / total)})")
        room = width - left - 16
        shown = _fit(name, max(24.0, room - _wide(value) - 10))
        body.append(f'<rect x="{_n(left)}" y="{_n(y - 5)}" width="10" height="10" rx="2" fill="{colour}"/>')
        body.append(_label(left + 16, y + 4.5, shown) + _label(width, y + 4.5, value, "end", opacity=0.8))
        y += step
    said = [f"{name} {text(value)}" for name, value in zip(names, amounts)]
    return _document(kind, title, said, width, height, "".join(body), locale)


@guide('svg.pie(["Yes", "No"], [62, 38], title="Answers")')
def pie(
    labels: Labels,
    values: Iterable[object],
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    width: float = 480,
    height: float = 260,
    max_slices: int = 6,
) -> str:
    """A pie with its values beside it.

    >>> pie(["Yes", "No"], [62, 38]).count("<path")
    2
    """
    return _round("pie", labels, values, title, fmt, locale, unit, width, height, max_slices, None)


@guide('svg.donut(["Yes", "No"], [62, 38], center_text="100")')
def donut(
    labels: Labels,
    values: Iterable[object],
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    width: float = 480,
    height: float = 260,
    max_slices: int = 8,
    center_text: str | None = None,
) -> str:
    """A pie with a hole, and text in it.

    >>> ">100<" in donut(["Yes", "No"], [62, 38], center_text="100")
    True
    """
    return _round("donut", labels, values, title, fmt, locale, unit, width, height, max_slices, center_text)


class _Plot:
    """Where an axis chart's rectangle lies, and its scale of values."""

    def __init__(self, left: float, top: float, right: float, bottom: float, ticks: Sequence[float], flat: bool) -> None:
        self.left, self.top, self.right, self.bottom = left, top, right, bottom
        self.ticks, self.flat = ticks, flat

    def at(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        part = (value - low) / (high - low)
        return self.left + part * (self.right - self.left) if self.flat else self.bottom - part * (self.bottom - self.top)


def _stacks(parts: list[_data.Series], stacked: bool) -> list[list[tuple[float, float] | None]]:
    """From and to of each value: from zero, or from the end of the one before it (below zero apart)."""
    found: list[list[tuple[float, float] | None]] = []
    size = max((len(part.values) for part in parts), default=0)
    above, below = [0.0] * size, [0.0] * size
    for part in parts:
        spans: list[tuple[float, float] | None] = []
        for i, value in enumerate(part.values):
            if value is None:
                spans.append(None)
                continue
            ends = above if value >= 0 else below
            base = ends[i] if stacked else 0.0
            ends[i] = base + value
            spans.append((base, base + value))
        found.append(spans)
    return found


def _legend(parts: list[_data.Series] | list[_data.Points], width: float, top: float) -> tuple[str, float]:
    names = [part.name for part in parts]
    if len(names) < 2:
        return "", top
    body: list[str] = []
    x, y = 0.0, top + 8
    for i, name in enumerate(names):
        shown = _fit(name, min(180, width - 20))
        if x and x + 16 + _wide(shown) > width:
            x, y = 0.0, y + 20
        body.append(f'<rect x="{_n(x)}" y="{_n(y - 5)}" width="10" height="10" rx="2" fill="{PALETTE[i]}"/>')
        body.append(_label(x + 16, y + 4.5, shown))
        x += 16 + _wide(shown) + 18
    return "".join(body), y + 16


def _tick_format(options: dict[str, object], ticks: Sequence[float], locale: str | None) -> _format.Format:
    if max(map(abs, ticks)) >= 10_000:
        options = {**options, "notation": "compact", "minimumFractionDigits": 0, "maximumFractionDigits": 1}
    for digits in range(4):  # steps of 0.5 are no whole numbers, whatever fmt says
        text = _format.Format(options, locale)
        if len({text(value) for value in ticks}) == len(ticks):
            return text
        options = {**options, "maximumFractionDigits": digits + 1}
    return _format.Format(options, locale)


def _axes(
    kind: str,
    labels: object,
    values: object,
    title: str | None,
    fmt: Fmt,
    locale: str | None,
    unit: str | None,
    width: float,
    height: float | None,
    stacked: bool,
    value_labels: bool,
    x_title: str | None,
    y_title: str | None,
) -> str:
    where = f"svg.{kind}"
    locale, unit, title = _format.tag(locale, where), _data.text(where, "unit", unit), _data.text(where, "title", title)
    x_title, y_title = _data.text(where, "x_title", x_title), _data.text(where, "y_title", y_title)
    names, parts = _data.series(labels, values, where, f'{where}(["Jan", "Feb"], [3, 5])')
    each = 24 if stacked or len(parts) == 1 else max(24, 14 * len(parts) + 8)
    high = height if height is not None else 280.0 if kind != "hbar" else float(max(160, min(900, 72 + each * len(names))))
    _size(where, width, high)
    options = _format.resolve(fmt, [value for part in parts for value in part.values], where)
    if _data.is_empty(parts):
        return _empty(kind, title, width, high, locale)
    text = _format.Format(options, locale, unit)
    spans = _stacks(parts, stacked)
    ends = [end for row in spans for span in row if span for end in (span if kind in ("bar", "hbar", "area") else span[1:])]
    if kind == "line" and min(ends) > 0 and min(ends) >= max(ends) * 0.6:
        ticks = nice_ticks(min(ends), max(ends))
    else:
        ticks = nice_ticks(min(0.0, *ends), max(0.0, *ends))
    tick = _tick_format(options, ticks, locale)
    head, top = _headed(title, width)
    keys, top = _legend(parts, width, top)
    flat = kind == "hbar"
    show = value_labels and kind in ("bar", "hbar") and len(names) * len(parts) <= _LABELLED_BARS
    side = [_fit(name, width * 0.32) for name in names] if flat else [tick(value) for value in ticks]
    left = max(map(_wide, side)) + 10 + (18 if y_title else 0)
    right = width - (max(_wide(text(v)) for p in parts for v in p.values if v is not None) + 8 if flat and show else 8)
    plot = _Plot(left, top + (16 if show and not flat else 6), right, high - 26 - (18 if x_title else 0), ticks, flat)
    body = [head, keys, _frame(plot, names, side, tick, kind, x_title, y_title, width, high)]
    draw = _bars if kind in ("bar", "hbar") else _lines
    body.append(draw(plot, parts, spans, names, text, stacked if kind in ("bar", "hbar") else kind == "area", show))
    said = [
        f"{part.name + ', ' if part.name else ''}{names[i]} {text(value)}"
        for part in parts
        for i, value in enumerate(part.values)
        if value is not None
    ]
    return _document(kind, title, said, width, high, "".join(body), locale)


def _frame(
    plot: _Plot,
    names: list[str],
    side: list[str],
    tick: _format.Format,
    kind: str,
    x_title: str | None,
    y_title: str | None,
    width: float,
    height: float,
) -> str:
    body: list[str] = []
    for value in plot.ticks:
        strong = 0.55 if value == 0 else 0.14
        at = plot.at(value)
        if plot.flat:
            body.append(_line(at, plot.top, at, plot.bottom, strong))
            body.append(_label(at, plot.bottom + 18, tick(value), "middle", 12, opacity=0.8))
        else:
            body.append(_line(plot.left, at, plot.right, at, strong))
            body.append(_label(plot.left - 8, at + 4, tick(value), "end", 12, opacity=0.8))
    if plot.flat:
        step = (plot.bottom - plot.top) / len(names)
        every = max(1, math.ceil(14 / step))
        body += [_label(plot.left - 8, plot.top + step * (i + 0.5) + 4.5, side[i], "end") for i in range(0, len(names), every)]
    else:
        step = (plot.right - plot.left) / (len(names) if kind == "bar" else max(1, len(names) - 1))
        offset = 0.5 if kind == "bar" else 0.0
        widest = min(max(map(_wide, names)), 120.0)
        every = max(1, math.ceil((min(widest, 60.0) + 8) / step))
        for i in range(0, len(names), every):
            x = plot.left + step * (i + offset)
            ends = kind != "bar" and len(names) > 1
            anchor = "start" if ends and i == 0 else "end" if ends and i == len(names) - 1 else "middle"
            body.append(_label(x, plot.bottom + 18, _fit(names[i], step * every - 6), anchor, 12, opacity=0.8))
    if x_title:
        body.append(_label((plot.left + plot.right) / 2, height - 6, _fit(x_title, width * 0.8), "middle", 12, opacity=0.8))
    if y_title:
        y = (plot.top + plot.bottom) / 2
        turned = _label(0, 0, _fit(y_title, height * 0.8), "middle", 12, opacity=0.8)
        body.append(f'<g transform="translate(12 {_n(y)}) rotate(-90)">{turned}</g>')
    return "".join(body)


def _bars(
    plot: _Plot,
    parts: list[_data.Series],
    spans: list[list[tuple[float, float] | None]],
    names: list[str],
    text: _format.Format,
    stacked: bool,
    show: bool,
) -> str:
    length = (plot.bottom - plot.top) if plot.flat else (plot.right - plot.left)
    step = length / len(names)
    thick = min(step * 0.72, 64.0 * (1 if stacked else len(parts)))
    each = thick if stacked else thick / len(parts)
    start = plot.top if plot.flat else plot.left
    body: list[str] = []
    for s, part in enumerate(parts):
        for i, span in enumerate(spans[s]):
            value = part.values[i]
            if span is None or value is None:
                continue
            across = start + step * (i + 0.5) - thick / 2 + (0 if stacked else each * s)
            low, high = sorted((plot.at(span[0]), plot.at(span[1])))
            gap = min(1.0, each * 0.08)
            x, y, w, h = (low, across, high - low, each - gap) if plot.flat else (across, low, each - gap, high - low)
            tip = f"{part.name + ', ' if part.name else ''}{names[i]}: {text(value)}"
            body.append(
                f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(w, 0))}" height="{_n(max(h, 0))}" fill="{PALETTE[s]}">'
                f"<title>{escape(tip)}</title></rect>"
            )
            if show and not stacked:
                if plot.flat:
                    body.append(_label(high + 5, y + h / 2 + 4.5, text(value), size=12, weight=600))
                elif _wide(text(value), 12) <= max(each, step / len(parts)) + 6:
                    body.append(_label(x + w / 2, low - 5, text(value), "middle", 12, 600))
    return "".join(body)


def _lines(
    plot: _Plot,
    parts: list[_data.Series],
    spans: list[list[tuple[float, float] | None]],
    names: list[str],
    text: _format.Format,
    filled: bool,
    show: bool,
) -> str:
    step = (plot.right - plot.left) / max(1, len(names) - 1)
    body: list[str] = []
    for s, part in enumerate(parts):
        for run in _runs(spans[s]):
            top = [(plot.left + step * i, plot.at(span[1])) for i, span in run]
            if filled:
                floor = [(plot.left + step * i, plot.at(span[0])) for i, span in reversed(run)]
                around = " ".join(f"{_n(x)},{_n(y)}" for x, y in top + floor)
                body.append(f'<polygon points="{around}" fill="{PALETTE[s]}" fill-opacity=".3"/>')
            path = " ".join(f"{_n(x)},{_n(y)}" for x, y in top)
            if len(top) > 1:
                body.append(f'<polyline points="{path}" fill="none" stroke="{PALETTE[s]}" stroke-width="2" stroke-linejoin="round"/>')
            if len(names) <= 40 or len(top) == 1:
                for (i, _), (x, y) in zip(run, top):
                    tip = f"{part.name + ', ' if part.name else ''}{names[i]}: {text(part.values[i])}"
                    body.append(
                        f'<circle cx="{_n(x)}" cy="{_n(y)}" r="3" fill="{PALETTE[s]}"><title>{escape(tip)}</title></circle>'
                    )
    return "".join(body)


def _runs(row: list[tuple[float, float] | None]) -> list[list[tuple[int, tuple[float, float]]]]:
    """Stretches without a gap."""
    found: list[list[tuple[int, tuple[float, float]]]] = [[]]
    for i, span in enumerate(row):
        if span is None:
            found.append([])
        else:
            found[-1].append((i, span))
    return [run for run in found if run]


@guide('svg.bar(["Q1", "Q2"], [12, 18], title="Sales")')
def bar(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    width: float = 640,
    height: float | None = None,
    stacked: bool = False,
    value_labels: bool = True,
    x_title: str | None = None,
    y_title: str | None = None,
) -> str:
    """Upright bars.

    >>> bar(["Q1", "Q2", "Q3"], [12, 18, 9], title="Sales").count("<rect")
    3
    """
    return _axes("bar", labels, values, title, fmt, locale, unit, width, height, stacked, value_labels, x_title, y_title)


@guide('svg.hbar(["North", "South"], [12, 18], title="Sales")')
def hbar(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    width: float = 640,
    height: float | None = None,
    stacked: bool = False,
    value_labels: bool = True,
    x_title: str | None = None,
    y_title: str | None = None,
) -> str:
    """Bars that lie; the picture grows with their number.

    >>> hbar(["North", "South"], {"a": [1, 2], "b": [3, 4]}, stacked=True).count("<title>")
    5
    """
    return _axes("hbar", labels, values, title, fmt, locale, unit, width, height, stacked, value_labels, x_title, y_title)


@guide('svg.line(["Jan", "Feb"], {"2024": [3, 5], "2025": [4, 6]})')
def line(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    width: float = 640,
    height: float | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
) -> str:
    """Lines; a missing value is a gap.

    >>> line(["Jan", "Feb", "Mar", "Apr", "May"], [3, 5, None, 4, 6]).count("<polyline")
    2
    """
    return _axes("line", labels, values, title, fmt, locale, unit, width, height, False, False, x_title, y_title)


@guide('svg.area(["Jan", "Feb"], {"Web": [3, 5], "Shop": [4, 6]}, stacked=True)')
def area(
    labels: Labels,
    values: Values,
    title: str | None = None,
    *,
    fmt: Fmt = None,
    locale: str | None = None,
    unit: str | None = None,
    width: float = 640,
    height: float | None = None,
    stacked: bool = False,
    x_title: str | None = None,
    y_title: str | None = None,
) -> str:
    """Filled lines.

    >>> area(["Jan", "Feb"], [3, 5]).count("<polygon")
    1
    """
    return _axes("area", labels, values, title, fmt, locale, unit, width, height, stacked, False, x_title, y_title)


@guide('svg.scatter([1.2, 3.4], [20, 35], x_title="Weight", y_title="Price")')
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
    width: float = 640,
    height: float = 320,
    x_title: str | None = None,
    y_title: str | None = None,
) -> str:
    """Points of two measures.

    >>> scatter([1, 2, 3], [3, 4, 5]).count("<circle")
    3
    """
    where = "svg.scatter"
    _size(where, width, height)
    locale, unit, title = _format.tag(locale, where), _data.text(where, "unit", unit), _data.text(where, "title", title)
    x_title, y_title = _data.text(where, "x_title", x_title), _data.text(where, "y_title", y_title)
    parts = _data.points(xs, ys, labels, where, "svg.scatter([1.2, 3.4], [20, 35])")
    flat = [point for part in parts for point in part.points]
    options = _format.resolve(fmt, [y for _, y in flat], where)
    x_options = _format.resolve(x_fmt, [x for x, _ in flat], where)
    if not flat:
        return _empty("scatter", title, width, height, locale)
    x_ticks = nice_ticks(min(x for x, _ in flat), max(x for x, _ in flat))
    y_ticks = nice_ticks(min(y for _, y in flat), max(y for _, y in flat))
    text, x_text = _format.Format(options, locale, unit), _format.Format(x_options, locale)
    x_tick, y_tick = _tick_format(x_options, x_ticks, locale), _tick_format(options, y_ticks, locale)
    head, top = _headed(title, width)
    keys, top = _legend(parts, width, top)
    left = max(_wide(y_tick(value)) for value in y_ticks) + 10 + (18 if y_title else 0)
    down = _Plot(left, top + 6, width - 12, height - 26 - (18 if x_title else 0), y_ticks, False)
    across = _Plot(down.left, down.top, down.right, down.bottom, x_ticks, True)
    body = [head, keys]
    for value in y_ticks:
        body.append(_line(down.left, down.at(value), down.right, down.at(value), 0.14))
        body.append(_label(left - 8, down.at(value) + 4, y_tick(value), "end", 12, opacity=0.8))
    for value in x_ticks:
        body.append(_line(across.at(value), down.top, across.at(value), down.bottom, 0.14))
        body.append(_label(across.at(value), down.bottom + 18, x_tick(value), "middle", 12, opacity=0.8))
    if x_title:
        body.append(_label((left + down.right) / 2, height - 6, _fit(x_title, width * 0.8), "middle", 12, opacity=0.8))
    if y_title:
        turned = _label(0, 0, _fit(y_title, height * 0.8), "middle", 12, opacity=0.8)
        body.append(f'<g transform="translate(12 {_n((down.top + down.bottom) / 2)}) rotate(-90)">{turned}</g>')
    for s, part in enumerate(parts):
        for i, (x, y) in enumerate(part.points):
            name = part.labels[i] if part.labels else part.name
            tip = f"{name + ': ' if name else ''}{x_text(x)}; {text(y)}"
            body.append(
                f'<circle cx="{_n(across.at(x))}" cy="{_n(down.at(y))}" r="4" fill="{PALETTE[s]}" fill-opacity=".75">'
                f"<title>{escape(tip)}</title></circle>"
            )
    said = [f"{x_text(x)}; {text(y)}" for x, y in flat]
    return _document("scatter", title, said, width, height, "".join(body), locale)
