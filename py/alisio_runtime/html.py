"""Pages that need nothing but themselves: one HTML file, styles inside, light and dark, made to be printed, too.

    html.write("report.html", "Sales in March", f"<p>North leads.</p>{html.table(rows, headers=['Region', 'Amount'])}")

What goes between tags is yours; pass whatever comes from data through `escape()`.
"""

from __future__ import annotations

import html as _html
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ._check import guide, unknown
from ._format import column
from .outputs import _relative, path as _output_path

__all__ = ["escape", "inline_plotly", "page", "table", "write"]

_ALSO = {"save": "write", "to_html": "table", "unescape": "escape"}


if not TYPE_CHECKING:  # for a checker, what is not there is not there

    def __getattr__(name: str) -> object:
        raise unknown("html", name, __all__, _ALSO)


_HERE = Path(__file__).parent
# What HTML cannot hold: controls but tab and line ends, halves of surrogate pairs.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """The text with what neither HTML nor UTF-8 can hold replaced."""
    return _UNFIT.sub("\ufffd", text)


@guide("html.escape(name)")
def escape(text: object) -> str:
    """Any value as text that is safe between tags and in quoted attributes. None is nothing.

    >>> escape("<b> & \\"co\\"")
    '&lt;b&gt; &amp; &quot;co&quot;'
    >>> escape(None)
    ''
    """
    return "" if text is None else _html.escape(clean(str(text)), quote=True)


@guide('html.table([["north", 12], ["south", 9]], headers=["Region", "Orders"])')
def table(rows: Iterable[Iterable[object] | Mapping[str, object]], headers: Iterable[object] | None = None) -> str:
    """Rows as an HTML table, escaped; numbers stand right. Rows of dicts bring their headers along.

    >>> table([["north", 12]], headers=["Region", "Orders"]).count("<td")
    2
    >>> "<th" in table([{"region": "north", "orders": 12}])
    True
    """
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise TypeError(
            f"html.table: rows is a list of rows, such as [[\"north\", 12], [\"south\", 9]], not {type(rows).__name__}"
        )
    listed: list[list[object]] = []
    heads = [str(head) for head in headers] if headers is not None else None
    for row in rows:
        if isinstance(row, Mapping):
            if heads is None:
                heads = [str(key) for key in row]
            listed.append([_plain(row.get(head)) for head in heads])
        elif isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise TypeError(
                f"html.table: each row is a list of cells, such as [\"north\", 12], not {type(row).__name__}; "
                "a single row goes into a list of its own"
            )
        else:
            listed.append([_plain(cell) for cell in row])
    width = max([len(row) for row in listed] + [len(heads or [])], default=0)
    numeric = [_is_numeric(row[i] for row in listed if i < len(row)) for i in range(width)]
    parts = ['<div class="ac-scroll" tabindex="0" role="group" aria-label="Table"><table class="ac-table">']
    if heads is not None:
        cells = "".join(
            f'<th scope="col"{_number_class(numeric[i])} dir="auto">{escape(head)}</th>' if head.strip() else "<td></td>"
            for i, head in enumerate(heads + [""] * (width - len(heads)))
        )
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for row in listed:
        row += [None] * (width - len(row))
    for i in range(width):
        if numeric[i]:
            for row, text in zip(listed, column([row[i] for row in listed])):  # type: ignore[misc]
                row[i] = text
    for row in listed:
        cells = "".join(f'<td{_number_class(numeric[i])} dir="auto">{escape(cell)}</td>' for i, cell in enumerate(row))
        parts.append(f"<tr>{cells}</tr>")
    parts.append("</tbody></table></div>")
    return "".join(parts)


def _plain(cell: object) -> object:
    """Numbers of whatever kind as int or float, where that keeps them; all else as it is."""
    if isinstance(cell, (int, float, str)) or cell is None:
        return cell
    from decimal import Decimal
    from numbers import Integral, Real

    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, (Real, Decimal)) and str(float(cell)).removesuffix(".0") == str(cell).removesuffix(".0"):
        return float(cell)
    return cell


def _is_numeric(cells: Iterable[object]) -> bool:
    kept = [cell for cell in cells if cell is not None]
    return bool(kept) and all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in kept)


def _number_class(numeric: bool) -> str:
    return ' class="ac-num"' if numeric else ""


@guide('html.page("Sales", "<p>North leads.</p>")')
def page(title: str, body: str, css: str | None = None, lang: str = "en") -> str:
    """A whole HTML page around body, as text. Charts in the body bring their library along, once.

    title is escaped, and stands on the page unless the body has an <h1> of its own; body is HTML; css comes after ours.

    >>> page("A < B", "<p>text</p>").count("<h1>A &lt; B</h1>")
    1
    """
    for name, value in (("title", title), ("body", body), ("lang", lang)):
        if not isinstance(value, str):
            raise TypeError(f'html.page: {name} is text, not {type(value).__name__}: html.page("Sales", "<p>…</p>")')
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", lang):
        raise ValueError(f'html.page: lang is a language tag such as "en" or "es-CO", not {lang!r}')
    head, foot = "", ""
    if "data-ac-chart=" in body and "data-ac-library" not in body:
        from . import charts

        head, foot = charts._styles(), charts._scripts()
    heading = "" if re.search(r"<h1[\s>]", body, re.IGNORECASE) else f"<h1>{escape(title)}</h1>\n"
    own = f"<style>{style_text(clean(css))}</style>\n" if css else ""
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style_text(_file('html-base.css'))}</style>\n{head}{own}</head>\n"
        f"<body>\n<main>\n{heading}{clean(body)}\n</main>\n{foot}</body>\n</html>\n"
    )


@guide('html.write("report.html", "Sales", "<p>North leads.</p>")')
def write(name: str | os.PathLike[str], title: str, body: str, css: str | None = None, lang: str = "en") -> Path:
    """Writes page(title, body, css, lang) into the output folder, and returns its path.

    >>> write("report.html", "Sales", "<p>North leads.</p>").name
    'report.html'
    """
    return save("html.write", name, page(title, body, css, lang))


def save(where: str, name: str | os.PathLike[str], text: str) -> Path:
    """The page into the output folder; a name that no browser would open is refused."""
    clean_name = _relative(name, where)
    if not clean_name.lower().endswith((".html", ".htm")):
        raise ValueError(f'{where}: a page ends in ".html", so that it opens in a browser: "{clean_name}.html"')
    target = _output_path(clean_name)
    target.write_text(text, encoding="utf-8", newline="\n")
    return target


def style_text(css: str) -> str:
    """A stylesheet that cannot end its <style> element."""
    return re.sub(r"</(?=style)", r"<\\/", css, flags=re.IGNORECASE)


def _file(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def inline_plotly() -> str:
    """The library of Plotly as a <script>, for pages with charts that `charts` does not cover; about 4 MB.

    Make each figure with include_plotlyjs=False. ImportError when the optional packages are not installed.
    """
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-not-found,import-untyped]
    except ImportError:
        raise ImportError(
            "html.inline_plotly: Plotly is not installed; install it once with `alisio analysis setup --extras analysis` "
            'and run with extras ["analysis"], or draw with alisio_runtime.charts, which needs nothing'
        ) from None
    return f"<script>{get_plotlyjs()}</script>"
