"""The folders of a run, from the environment that alisio sets; plain folders here when a script is run by hand."""

from __future__ import annotations

import os
from pathlib import Path


def _folder(variable: str, fallback: str) -> Path:
    return Path(os.environ.get(variable) or fallback).absolute()


def output_dir() -> Path:
    """The folder whose files are published when the script ends well. By hand: ./out, made when missing.

    >>> output_dir().is_dir()
    True
    """
    folder = _folder("ALISIO_OUTPUT_DIR", "out")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def input_dir() -> Path:
    """The folder with copies of the inputs of this run. By hand: ./input."""
    return _folder("ALISIO_INPUT_DIR", "input")


def work_dir() -> Path:
    """The current folder at the start, for files that are not published. By hand: the current folder."""
    return _folder("ALISIO_WORK_DIR", ".")


def scratch_dir() -> Path:
    """The scratchpad of the session, where scripts and notes of earlier steps lie; may be read only. By hand: ./scratch."""
    return _folder("ALISIO_SCRATCH_DIR", "scratch")


def execution_id() -> str:
    """The id of this run, "exec_…". By hand: "local"."""
    return os.environ.get("ALISIO_EXECUTION_ID") or "local"
