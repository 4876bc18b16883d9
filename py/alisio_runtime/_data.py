"""What charts are given, made into labels and series of numbers, or into an error that says the right call."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ._check import some, tell

MAX_SERIES = 8
MAX_LABELS = 5000
_GROUPED = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?")

_MIDNIGHT = re.compile(r"\d{4}-\d\d-\d\d[T ]00:00:00(\.0+)?")


@dataclass
class Series:
    """One line, one colour: a name ("" when it is the only one) and a number, or None, for each label."""

    name: str
    values: list[float | None]


@dataclass
class Points:
    """A scatter's points of one name, with a label each where labels were given."""

    name: str
    points: list[tuple[float, float]]
    labels: list[str] = field(default_factory=list)


def listed(values: object, where: str, what: str, example: str) -> list[object]:
    """Any iterable as a list: lists, tuples, ranges, arrays, columns of a data frame."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{where}: {what} is a list, not one text; call it like this: {example}")
    if isinstance(values, Mapping):
        raise TypeError(
            f"{where}: {what} is a list, not a dict; call it like this: {example}"
            + (", with list(d) and list(d.values()) for a dict d" if what == "labels" else "")
        )
    if not isinstance(values, Iterable):
        raise TypeError(f"{where}: {what} is a list, not {type(values).__name__}; call it like this: {example}")
    return list(values)


def label(value: object) -> str:
    """A label as text: dates as ISO, whole floats without .0, nothing as a dash."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "—"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = str(value)
    if _MIDNIGHT.fullmatch(text) and not isinstance(value, str):
        text = text[:10]
    return text if text.strip() else "—"


def amount(value: object) -> float | None:
    """A number, or None for what is none. Text may have thousands commas: "1,234.5".

    >>> amount("1,234.5"), amount("1,5"), amount(None), amount(float("nan"))
    (1234.5, None, None, None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip().replace("\u2212", "-")
        if not _GROUPED.fullmatch(text):
            return None
        value = text.replace(",", "")
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def drawable(value: object) -> float | None:
    """An amount of a size that can be drawn: what is beyond 1e200 is none, and what is below 1e-200 is zero."""
    found = amount(value)
    if found is None or abs(found) > 1e200:
        return None
    return 0.0 if abs(found) < 1e-200 else found


def text(where: str, name: str, value: object) -> str | None:
    """A title, unit or note; TypeError for what is no text."""
    if value is None or isinstance(value, str):
        return value or None
    raise TypeError(f"{where}: {name} is text, not {type(value).__name__}")


def whole(value: float | None) -> float | int | None:
    """1200.0 as 1200, so that JSON and text are short."""
    if value is not None and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _numbers(values: list[object], where: str, name: str) -> list[float | None]:
    found = [drawable(value) for value in values]
    odd = [value for value, number in zip(values, found) if number is None and not _is_missing(value)]
    if odd:
        tell(where, f"{len(odd)} of {len(values)} values{name} are no numbers and left out: {_shown(odd)}")
    return found


def _is_missing(value: object) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return value != value  # NaN, NaT
    except Exception:  # an array within the list
        return False


def _shown(values: list[object]) -> str:
    return some((repr(value)[:40] for value in values), 3)


def series(labels: object, values: object, where: str, example: str) -> tuple[list[str], list[Series]]:
    """Labels and series of one length. A single list is one series without a name."""
    names = [label(value) for value in listed(labels, where, "labels", example)]
    if isinstance(values, Mapping):
        if len(values) > MAX_SERIES:
            raise ValueError(
                f"{where}: {len(values)} series, and no palette tells more than {MAX_SERIES} apart; keep the largest "
                "and sum the others up, or draw several charts"
            )
        parts = [(str(name), listed(part, where, f"values[{name!r}]", example)) for name, part in values.items()]
    else:
        flat = listed(values, where, "values", example)
        if flat and all(isinstance(part, (list, tuple, Mapping)) for part in flat):
            raise TypeError(
                f"{where}: values is a list of lists; give series their names: "
                f'{where}(labels, {{"2024": [3, 5], "2025": [4, 6]}})'
            )
        parts = [("", flat)]
    found = []
    for name, part in parts:
        called = f" of {name!r}" if name else ""
        numbers = _numbers(part, where, called)
        if part and len(part) == len(names) and not any(number is not None for number in numbers):
            if names and all(amount(text) is not None for text in names):
                raise ValueError(
                    f"{where}: values are texts and labels are numbers; labels come first: {example}"
                )
        if len(numbers) != len(names):
            fate = "the rest is left empty" if len(numbers) < len(names) else "the rest is left out"
            tell(where, f"{len(numbers)} values{called} for {len(names)} labels: {fate}")
        found.append(Series(name, (numbers + [None] * len(names))[: len(names)]))
    if len(names) > MAX_LABELS:
        raise ValueError(
            f"{where}: {len(names):,} labels are more than anybody can see (at most {MAX_LABELS:,}); group them first, "
            "by month or by the largest"
        )
    return names, found


def is_empty(parts: list[Series]) -> bool:
    """Nothing to draw."""
    return not any(value is not None for part in parts for value in part.values)


def slices(labels: object, values: object, where: str, example: str) -> tuple[list[str], list[float]]:
    """Labels and amounts above zero, in their order; the others are left out with a note."""
    if isinstance(values, Mapping):
        raise TypeError(f"{where}: one list of values, not several series; use charts.bar(…, stacked=True) for those")
    names = [label(value) for value in listed(labels, where, "labels", example)]
    given = listed(values, where, "values", example)
    if len(names) != len(given):
        raise ValueError(f"{where}: {len(names)} labels and {len(given)} values; each slice needs both: {example}")
    numbers = [drawable(value) for value in given]
    if given and all(n is None for n in numbers) and all(amount(name) is not None for name in names):
        raise ValueError(f"{where}: values are texts and labels are numbers; labels come first: {example}")
    kept = [(name, number) for name, number in zip(names, numbers) if number is not None and number > 0]
    left = [value for value, number in zip(given, numbers) if number is None or number <= 0]
    if left:
        tell(where, f"{len(left)} of {len(given)} slices are left out, since a slice is a number above zero: {_shown(left)}")
    return [name for name, _ in kept], [number for _, number in kept]


def fold(
    labels: list[str], values: list[float], max_slices: object, other: str, where: str
) -> tuple[list[str], list[float], int | None]:
    """At most max_slices slices: the largest in their order, the others summed up at the end. Third: where the sum is.

    >>> fold(["a", "b", "c", "d"], [1, 9, 5, 2], 3, "Other", "charts.pie")
    (['b', 'c', 'Other'], [9, 5, 3.0], 2)
    """
    if not isinstance(max_slices, int) or isinstance(max_slices, bool) or max_slices < 2:
        raise ValueError(f"{where}: max_slices is a whole number from 2, not {max_slices!r}")
    if len(values) <= max_slices:
        return labels, values, None
    order = sorted(range(len(values)), key=lambda i: (labels[i] == other, -values[i]))
    kept = sorted(order[: max_slices - 1])
    rest = math.fsum(values[i] for i in order[max_slices - 1 :])
    return [labels[i] for i in kept] + [other], [values[i] for i in kept] + [rest], len(kept)


def points(xs: object, ys: object, labels: object, where: str, example: str) -> list[Points]:
    """The points of a scatter: two lists, or lists by name in both, or one list of xs and ys by name."""
    parts: list[tuple[str, object, object]]
    if isinstance(ys, Mapping):
        if len(ys) > MAX_SERIES:
            raise ValueError(f"{where}: {len(ys)} series, and no palette tells more than {MAX_SERIES} apart")
        if isinstance(xs, Mapping):
            if set(xs) != set(ys):
                raise ValueError(f"{where}: xs has the series {some(map(str, xs))}, and ys {some(map(str, ys))}")
            parts = [(str(name), xs[name], ys[name]) for name in ys]
        else:
            shared = listed(xs, where, "xs", example)
            parts = [(str(name), shared, part) for name, part in ys.items()]
    else:
        parts = [("", xs, ys)]
    found = []
    for name, part_x, part_y in parts:
        given_x, given_y = listed(part_x, where, "xs", example), listed(part_y, where, "ys", example)
        if len(given_x) != len(given_y):
            raise ValueError(
                f"{where}: {len(given_x)} xs and {len(given_y)} ys{f' of {name!r}' if name else ''}; a point needs both"
            )
        called = [label(one) for one in listed(labels, where, "labels", example)] if labels is not None else []
        if called and len(called) != len(given_x):
            raise ValueError(f"{where}: {len(called)} labels and {len(given_x)} points; each point needs one, or none has any")
        pairs = [(drawable(x), drawable(y)) for x, y in zip(given_x, given_y)]
        keep = [i for i, (x, y) in enumerate(pairs) if x is not None and y is not None]
        if len(keep) < len(pairs):
            tell(where, f"{len(pairs) - len(keep)} of {len(pairs)} points lack a number and are left out")
        part = Points(name, [(pairs[i][0] or 0.0, pairs[i][1] or 0.0) for i in keep])
        part.labels = [called[i] for i in keep] if called else []
        found.append(part)
    return found
