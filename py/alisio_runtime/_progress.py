"""progress(): one small JSON file, written over and over, which alisio polls."""

from __future__ import annotations

import os

from ._check import guide

_NOTE_LENGTH = 200
_fd = -1
_path = ""
_pid = 0
_length = 0  # of the file's present text


def _number(value: object, name: str) -> float | int | None:
    if value is None:
        return None
    if isinstance(value, str) or isinstance(value, bool):
        raise TypeError(
            f"progress({name}={value!r}): {name} is a number; words go into note: progress(3, 10, note={str(value)!r})"
        )
    try:
        number = value if isinstance(value, int) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"progress(): {name} is a number, not {type(value).__name__}: progress(3, 10)") from None
    if not 0 <= number < 1e15:
        raise ValueError(f"progress(): {name} is {value}; it is a number from 0 to 1e15")
    return number


@guide("progress(3, 10, note=\"reading March\")")
def progress(completed: float | None = None, total: float | None = None, note: str | None = None) -> None:
    """Says how far the script is: people who wait see it at once. Cheap enough for every turn of a loop.

    completed and total count whatever you like; note says in a few words what happens now (200 characters are kept).
    Where nobody listens it does nothing; it never fails for want of a disk.

    >>> progress(3, 10, note="reading March")
    >>> progress(note="writing the report")
    """
    import json

    done, whole = _number(completed, "completed"), _number(total, "total")
    if note is not None and not isinstance(note, str):
        raise TypeError(f"progress(): note is text, not {type(note).__name__}: progress(3, 10, note=\"reading March\")")
    path = os.environ.get("ALISIO_PROGRESS_FILE")
    if not path:
        return
    said: dict[str, object] = {}
    if done is not None:
        said["completed"] = done
    if whole is not None:
        said["total"] = whole
    if note is not None:
        said["note"] = note[:_NOTE_LENGTH]
    _write(path, json.dumps(said).encode("ascii"))


def _write(path: str, text: bytes) -> None:
    global _fd, _path, _pid, _length
    try:
        if _fd < 0 or path != _path or os.getpid() != _pid:
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            _fd, _path, _pid = os.open(path, flags, 0o600), path, os.getpid()
            _length = os.fstat(_fd).st_size
        # Padded to what stands there, so that a reader between the two calls finds one whole object, too.
        os.pwrite(_fd, text.ljust(min(_length, 4096)), 0)
        os.ftruncate(_fd, len(text))
        _length = len(text)
    except OSError:
        pass
