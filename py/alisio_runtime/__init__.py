"""Helpers for scripts that alisio runs: where things lie, pages, charts, datasets, progress.

Standard library only; Python 3.10 and newer. What a script leaves in `output_dir()` is published when it ends well.

    from alisio_runtime import charts, datasets

    db = datasets.open("sales")
    rows = db.execute("SELECT region, sum(amount) FROM data_values GROUP BY 1 ORDER BY 2 DESC").fetchall()
    chart = charts.hbar([r[0] for r in rows], [r[1] for r in rows], title="Sales by region", fmt="currency:USD")
    charts.write("sales.html", "Sales", charts.grid(charts.card("Regions", chart)))

Modules: `charts` (interactive charts in one HTML file), `svg` (static charts), `html` (pages and tables), `outputs`
(names and titles of what is published), `datasets` (SQLite files given as input).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._places import execution_id, input_dir, output_dir, scratch_dir, work_dir
from ._progress import progress

if TYPE_CHECKING:
    from types import ModuleType

    from . import charts, datasets, html, outputs, svg

__version__ = "1"

__all__ = [
    "charts",
    "datasets",
    "execution_id",
    "html",
    "input_dir",
    "output_dir",
    "outputs",
    "progress",
    "scratch_dir",
    "svg",
    "work_dir",
]

_MODULES = ("charts", "datasets", "html", "outputs", "svg")


if not TYPE_CHECKING:
    # A script that only wants progress() should not pay for sqlite3 and json: modules come when they are named.
    def __getattr__(name: str) -> ModuleType:
        if name in _MODULES:
            from importlib import import_module

            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"alisio_runtime has no {name!r}; it has {', '.join(sorted(__all__))}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_MODULES))
