"""Reads what an engine reports of a failure in the lines and exceptions of others. Pure.

Ray prints a worker's lines at its driver, each behind `(NAME pid=N)`, and raises a worker's
exception there with the worker's traceback as its message (Ray 2.60).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from debugger.model.text_filters import without_colour

_TAG = re.compile(r"\((?:[^()\s]+ )?pid=(\d{1,9})(?:, ip=[^)]*)?\)(?: |$)", re.ASCII)
_RAISED_IN = re.compile(r"^\S+ \(pid=(\d{1,9}), ip=[^)]*\)$", re.ASCII)
_BEGIN = "Traceback (most recent call last):"


class WorkerReport(Struct, frozen=True):
    """What a process says of another one's exception."""

    pid: int
    # As Python writes a traceback.
    lines: tuple[str, ...]


def lines_of_worker(lines: Sequence[str], pid: int | None) -> list[str]:
    """Return the lines that are marked as a worker's, as it wrote them."""
    plain = [without_colour(line) for line in lines]
    tags = [_TAG.match(line) for line in plain]
    return [
        line[tag.end() :]
        for line, tag in zip(plain, tags, strict=True)
        if tag is not None and int(tag[1]) == pid
    ]


def parse_worker_report(message: str) -> WorkerReport | None:
    """Parse the message of an exception that a worker's exception has raised in its driver."""
    first, *lines = without_colour(message).splitlines() or [""]
    found = _RAISED_IN.match(first.strip())
    if found is None or not lines:
        return None
    return WorkerReport(int(found[1]), (_BEGIN, *lines))
