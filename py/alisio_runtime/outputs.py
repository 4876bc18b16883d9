"""What is published: files in the output folder, with titles where they are declared.

Without a declaration every top-level file of `output_dir()` is published, a top-level folder with an index.html as one
dashboard, any other folder as a ZIP. Once something is declared, only what is declared is published.
"""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ._check import guide, some, unknown
from ._places import output_dir

__all__ = ["declare", "path"]

_ALSO = {"add": "declare", "publish": "declare", "write": "path", "save": "path", "file": "path"}


if not TYPE_CHECKING:  # for a checker, what is not there is not there

    def __getattr__(name: str) -> object:
        raise unknown("outputs", name, __all__, _ALSO)


_DECLARED = "outputs.json"


def _relative(name: object, where: str) -> str:
    """The name beneath the output folder, with /; ValueError when it is none."""
    if isinstance(name, os.PathLike):
        name = os.fspath(name)
    if not isinstance(name, str):
        raise TypeError(f'{where}: a name is text such as "report.html", not {type(name).__name__}')
    if os.path.isabs(name):  # what output_dir() / "x" gives is fine
        try:
            name = os.path.relpath(Path(name).resolve(), output_dir().resolve())
        except ValueError:
            pass
        if os.path.isabs(name) or name == ".." or name.startswith("../"):
            raise ValueError(f'{where}: the file is not in the output folder; give a name in it, such as "report.html"')
    parts = name.replace("\\", "/").split("/")
    if ".." in parts:
        raise ValueError(
            f'{where}: {name!r} leads out of the output folder; give a name in it, such as "report.html" or "site/index.html"'
        )
    clean = str(PurePosixPath(*[part for part in parts if part not in ("", ".")]))
    if clean == ".":
        raise ValueError(f'{where}: the name is empty; give one such as "report.html"')
    for part in clean.split("/"):
        if part.startswith(".") and part != ".nojekyll":
            raise ValueError(f"{where}: {part!r} would be a hidden file, which is not published; drop the dot at its front")
        if any(ord(c) < 32 or ord(c) == 127 for c in part):
            raise ValueError(f"{where}: {name!r} has control characters in it; use letters, digits, - and _")
    if clean.count("/") >= 8:
        raise ValueError(f"{where}: {name!r} lies more than 8 folders deep; use fewer")
    return clean


@guide('outputs.path("report.csv")')
def path(name: str | os.PathLike[str]) -> Path:
    """The full path of an output file; its folders are made. Write to it whatever you like.

    >>> target = path("tables/sales.csv")
    >>> _ = target.write_text("region,amount\\n")
    >>> target.is_relative_to(output_dir())
    True
    """
    target = output_dir() / _relative(name, "outputs.path")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


@guide('outputs.declare("report.html", title="Sales in March")')
def declare(name: str | os.PathLike[str], title: str | None = None, entry: str | None = None) -> None:
    """Publishes this file or folder, with a title; what is not declared then stays unpublished.

    Write it first. entry: for a folder, the page in it that opens ("index.html" when there is one). Declared again, it
    is replaced.

    >>> _ = path("summary.md").write_text("# Summary\\n")
    >>> declare("summary.md", title="Summary")
    """
    where = "outputs.declare"
    clean = _relative(name, where)
    folder = output_dir()
    target = folder / clean
    if not target.exists():
        there = sorted(p.name for p in folder.iterdir() if p.name != _DECLARED)
        has = f"it has {some(there)}" if there else "it is empty"
        raise FileNotFoundError(
            f'{where}: there is no {clean!r} in the output folder ({has}); write it first: outputs.path("{clean}")'
        )
    if clean == _DECLARED:
        raise ValueError(f"{where}: {_DECLARED} is the list itself; declare the files in it")
    item: dict[str, str] = {"path": clean}
    if title is not None:
        if not isinstance(title, str) or not title.strip():
            raise ValueError(f'{where}: title is text such as "Sales in March"')
        item["title"] = title.strip()[:200]
    if entry is not None:
        page = _relative(entry, where)
        if not target.is_dir():
            raise ValueError(f"{where}: {clean!r} is a file; entry is for folders")
        if not (target / page).is_file():
            raise FileNotFoundError(f"{where}: there is no {page!r} in {clean!r}; write it first")
        item["entry"] = page
    declared = [old for old in _declared(folder) if old.get("path") != clean]
    text = json.dumps({"artifacts": [*declared, item]}, ensure_ascii=True, indent=2)
    (folder / _DECLARED).write_text(text + "\n", encoding="utf-8")


def _declared(folder: Path) -> list[dict[str, object]]:
    try:
        listed = json.loads((folder / _DECLARED).read_text(encoding="utf-8"))["artifacts"]
        return [item for item in listed if isinstance(item, dict)]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        raise ValueError(
            'outputs.declare: outputs.json is there, and is not {"artifacts": [{"path": …}]}; let declare() write it'
        ) from None
