"""Errors that say the right call."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def guide(example: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Adds to Python's complaint about missing or unknown arguments how the function is called."""

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                # No frame below this one: the call itself did not fit, nothing of the function ran.
                trace = error.__traceback__
                if trace is None or trace.tb_next is not None:
                    raise
                said = str(error).rstrip(".")
                if "unexpected keyword" in said:
                    code = function.__code__  # type: ignore[attr-defined]
                    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                    said += f" (it takes {', '.join(names)})"
                raise TypeError(f"{said}; call it like this: {example}") from None

        return call

    return wrap


def tell(where: str, message: str) -> None:
    """A note for whoever reads the log; the result stands."""
    print(f"alisio_runtime: {where}: {message}", file=sys.stderr)


def nearest(word: str, words: Iterable[str]) -> str:
    """`; did you mean "x"?`, or nothing."""
    import difflib

    close = difflib.get_close_matches(word, list(words), 1)
    return f'; did you mean "{close[0]}"?' if close else ""


def unknown(module: str, name: str, names: Iterable[str], also: dict[str, str]) -> AttributeError:
    """For a name that the module does not have: the one that was meant, and all that there are."""
    listed = list(names)
    meant = f'; did you mean "{also[name]}"?' if name in also else nearest(name, listed) or ";"
    return AttributeError(f"alisio_runtime.{module} has no {name!r}{meant} It has {', '.join(listed)}")


def some(words: Iterable[str], limit: int = 20) -> str:
    """Up to limit words, and how many more there are."""
    listed = list(words)
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more
