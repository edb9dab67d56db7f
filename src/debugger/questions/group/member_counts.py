"""Finds the lines that ran in some processes of a program, or more often there. Pure.

Of programs in Node, Go and compiled languages the counts of lines are recorded, and not each time:
the first line of a function whose counts differ follows the line at which its processes parted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from debugger.model.group_merge import MergedValue, merge_values
from debugger.recorders.model import CallsMerged, LinesHit, PartCounts, Recording


class LineTimes(NamedTuple):
    """How often a line ran, or the part of it that begins at a column, and when it first did."""

    line: int
    column: int
    times: int
    # Its place in the order of time in its process; 0: not known.
    first: int


class FunctionCounts(Struct, frozen=True):
    """A function of one process: its calls, and its lines."""

    file: str
    function: str
    calls: int
    lines: tuple[LineTimes, ...]


class MemberCounts(Struct, frozen=True):
    """What ran in one process."""

    label: str
    functions: tuple[FunctionCounts, ...]
    # Only which lines ran is known: each count is 1.
    only_lines: bool = False


class CountSplit(Struct, frozen=True):
    """The first line of a function that ran more often in some members than in others."""

    file: str
    function: str
    line: int
    # Numbers of times, and the members that have each.
    counts: tuple[MergedValue, ...]
    # The line before it, which ran as often in all of them; 0: there is none.
    after: int = 0
    text: str = ""
    after_text: str = ""


def collect_counts(label: str, recording: Recording) -> MemberCounts:
    """Return the counts of a process's functions."""
    calls = {one.function: one.count for one in recording.events if isinstance(one, CallsMerged)}
    lines: dict[tuple[str, str], dict[tuple[int, int], LineTimes]] = {}
    entered: dict[tuple[str, str], int] = {}
    only_lines = False
    for event in recording.events:
        if not isinstance(event, PartCounts | LinesHit):
            continue
        known = recording.find_function(event.function)
        key = (known.file, known.name)
        entered[key] = entered.get(key, 0) + calls.get(event.function, 0)
        own = lines.setdefault(key, {})
        only_lines = only_lines or isinstance(event, LinesHit)
        for one in _list_lines(event):
            before = own.get((one.line, one.column))
            times = one.times + (before.times if before is not None else 0)
            own[one.line, one.column] = one._replace(times=times)
    functions = (
        FunctionCounts(file, function, entered[file, function], tuple(own.values()))
        for (file, function), own in lines.items()
    )
    return MemberCounts(label, tuple(functions), only_lines=only_lines)


def _list_lines(event: PartCounts | LinesHit) -> Iterator[LineTimes]:
    if isinstance(event, PartCounts):
        for part in event.parts:
            yield LineTimes(part.line, part.column, part.times, part.first)
        return
    for line, first in zip(event.lines, event.firsts, strict=False):
        yield LineTimes(line, 0, 1, first + 1)


def find_count_splits(members: Sequence[MemberCounts]) -> tuple[CountSplit, ...]:
    """Return the first line of each function whose counts differ among the members that ran it.

    Functions that all of them called equally often come first: the others differ by their callers.
    Then lines that did not run at all in some members, and then those by the order of time.
    """
    by_function: dict[tuple[str, str], dict[str, FunctionCounts]] = {}
    for member in members:
        for one in member.functions:
            if any(each.times for each in one.lines):
                by_function.setdefault((one.file, one.function), {})[member.label] = one
    found = [
        split for each in by_function.values() if len(each) > 1 and (split := _find_split(each))
    ]
    found.sort(key=lambda one: one[0])
    return tuple(split for _, split in found)


_Rank = tuple[bool, bool, int, str, int]


def _find_split(counts: Mapping[str, FunctionCounts]) -> tuple[_Rank, CountSplit] | None:
    tables = {
        label: {(each.line, each.column): each for each in one.lines}
        for label, one in counts.items()
    }
    # A process that was forked within a function has not run its beginning.
    entry = min(at for one in tables.values() for at in one)
    tables = {label: one for label, one in tables.items() if entry in one and one[entry].times}
    # A part of a line that ran as often as the line is not listed: it is compared where it is.
    shared = {at for one in tables.values() for at in one}
    shared = {at for at in shared if not at[1] or all(at in one for one in tables.values())}
    before = 0
    for at in sorted(shared):
        times = {label: one[at].times if at in one else 0 for label, one in tables.items()}
        if len(set(times.values())) == 1:
            before = at[0] if any(times.values()) else before
            continue
        first = next(iter(counts.values()))
        orders = [one[at].first for one in tables.values() if at in one and one[at].first]
        rank = (
            len({one.calls for one in counts.values()}) > 1,
            all(times.values()),
            min(orders, default=0),
            first.file,
            at[0],
        )
        merged = merge_values({label: str(count) for label, count in times.items()})
        return rank, CountSplit(first.file, first.function, at[0], merged, after=before)
    return None
