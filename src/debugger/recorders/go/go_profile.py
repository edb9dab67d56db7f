"""Reads the functions and lines of Go that ran from the counters of Go's cover tool. Pure.

`go tool cover -mode=count -var=NAME` writes the source with `NAME.Count[3]++` where statements
begin that always run together, and behind it a NAME with the places of each: first and last line,
and the columns in bytes, the last in the upper half of a word (cmd/cover).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from debugger.recorders.counted_recording import CoveredFunction, only_known
from debugger.recorders.model import SourcePart

_PLACES = re.compile(r"(\d+), (\d+), 0x([0-9a-f]+), // \[\d+\]")
_HEADER = re.compile(
    r"func\s+(?:\(\s*(?:\w+\s+)?\*?\s*(?P<of>\w+)(?:\[[^\]]*\])?\s*\)\s*)?(?P<name>\w+)"
)
_NOTHING = re.compile(r"[\s{}()\[\];,]*\Z")
_COMMENT = ("//", "/*")
_COLUMN = 0xFFFF


class CoverBlock(NamedTuple):
    """Statements that ran equally often, from a line and byte column to another."""

    start: tuple[int, int]
    end: tuple[int, int]
    times: int = 0


def with_counters(text: str, name: str, made_by: str) -> tuple[str, tuple[CoverBlock, ...]]:
    """Return a source whose counters are made by an expression of Go, and what they count.

    `text` is the cover tool's with its own counters, which end with the process.
    """
    before, declared, after = text.rpartition(f"\nvar {name} = struct {{")
    if not declared:
        return text, ()
    places = [
        CoverBlock((int(first), int(word, 16) & _COLUMN), (int(last), int(word, 16) >> 16))
        for first, last, word in _PLACES.findall(after)
    ]
    return f"{before}\nvar {name} = {made_by}\n", tuple(places)


def read_covered(
    file: str, blocks: Sequence[CoverBlock], text: Sequence[str]
) -> list[CoveredFunction]:
    """Return what ran of a file: its functions in the order of the source."""
    known = function_headers(text)
    begins = [number for number, _ in known]
    groups: dict[int, list[CoverBlock]] = {}
    for block in sorted(blocks):
        groups.setdefault(bisect_right(begins, block.start[0]) - 1, []).append(block)
    return [
        only_known(
            CoveredFunction(
                known[at][1], file, known[at][0], some[0].times, _count_parts(some, text)
            )
        )
        for at, some in groups.items()
        if at >= 0 and any(one.times for one in some)
    ]


def function_headers(text: Sequence[str]) -> list[tuple[int, str]]:
    """Return the line and the name of each function of a file; of a method, with its type."""
    return [
        (number, f"{one['of']}.{one['name']}" if one["of"] else one["name"])
        for number, line in enumerate(text, 1)
        if (one := _HEADER.match(line)) is not None
    ]


def _count_parts(known: Sequence[CoverBlock], text: Sequence[str]) -> tuple[SourcePart, ...]:
    """Count each line by the block that its first character is in, the last that begins there."""
    times: dict[int, int] = {}
    for block in known:
        for number in range(block.start[0], min(block.end[0], len(text)) + 1):
            line = text[number - 1]
            stripped = line.strip()
            if _NOTHING.match(stripped) or stripped.startswith(_COMMENT):
                continue
            first = (number, len(line) - len(line.lstrip()) + 1)
            if block.start <= first < block.end:
                times[number] = block.times
    return tuple(SourcePart(line, times=count) for line, count in sorted(times.items()))
