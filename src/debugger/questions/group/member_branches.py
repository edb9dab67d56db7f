"""Finds where the processes of a program took different branches, and who did so first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from debugger.model.group_merge import order_members
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    LinePassed,
    LinesSkipped,
    Recording,
)


class CodeLine(NamedTuple):
    """A line of a function; the same in every process."""

    file: str
    function: str
    line: int


class LineExit(NamedTuple):
    """How a call went on after a line: at another line of its function, or at its end."""

    line: int = 0
    # Where it did not go on: `returns`, `raises KeyError`.
    end: str = ""


class ExitRun(NamedTuple):
    """Times in a row at which a line was left alike; the order of time is that of the first."""

    exit: LineExit
    times: int
    order: int


class PassedLine(NamedTuple):
    """A line that a process came to, and how it went on, each time."""

    line: CodeLine
    runs: tuple[ExitRun, ...]

    def count_times(self) -> int:
        """Return how often the process came to the line."""
        return sum(one.times for one in self.runs)

    def list_exits(self) -> list[LineExit]:
        """Return how the process went on, time by time."""
        return [one.exit for one in self.runs for _ in range(one.times)]

    def find_order(self, at: int) -> int | None:
        """Return the order of a time (from 0) at which the process began to go on otherwise."""
        for one in self.runs:
            if at <= 0:
                return one.order if at == 0 else None
            at -= one.times
        return None


class MemberLines(Struct, frozen=True):
    """What a process did after each of its lines, each time that it came there."""

    label: str
    lines: tuple[PassedLine, ...]


class BranchWay(Struct, frozen=True):
    """A way to go on from a line, and the members that took it."""

    line: int
    end: str
    members: tuple[str, ...]
    # The source of the line, where it can be read.
    text: str = ""


class BranchSplit(Struct, frozen=True):
    """A line after which members went different ways: the first time that they did."""

    file: str
    function: str
    line: int
    hit: int
    # How often members came there together, and at how many of these times they differ.
    compared: int
    differing: int
    ways: tuple[BranchWay, ...]
    text: str = ""


def collect_lines(label: str, recording: Recording) -> MemberLines:
    """Return what a process did after each line, as far as each of its calls is recorded."""
    calls: dict[int, int] = {}
    last: dict[int, tuple[int, int]] = {}
    passed: dict[CodeLine, list[ExitRun]] = {}
    # Functions of which not all calls or lines are recorded: later times have no number.
    ended: set[int] = set()

    def leave_line(call: int, exit_: LineExit) -> None:
        function = calls.get(call)
        if call not in last or function is None or function in ended:
            return
        line, order = last.pop(call)
        known = recording.find_function(function)
        key = CodeLine(known.file, known.name, line)
        _add_exit(passed.setdefault(key, []), exit_, order)

    for order, event in enumerate(recording.events):
        match event:
            case CallEntered():
                calls[event.call] = event.function
            case CallsMerged():
                ended.add(event.function)
            case LinesSkipped():
                ended.add(calls.get(event.call, 0))
            case LinePassed():
                leave_line(event.call, LineExit(event.line))
                last[event.call] = (event.line, order)
            case CallReturned():
                leave_line(event.call, LineExit(end="returns"))
            case CallRaised():
                leave_line(event.call, LineExit(end=f"raises {event.type}"))
            case _:
                pass
    lines = (PassedLine(line, tuple(runs)) for line, runs in passed.items())
    return MemberLines(label, tuple(lines))


def _add_exit(runs: list[ExitRun], exit_: LineExit, order: int) -> None:
    if runs and runs[-1].exit == exit_:
        runs[-1] = runs[-1]._replace(times=runs[-1].times + 1)
    else:
        runs.append(ExitRun(exit_, 1, order))


def find_splits(members: Sequence[MemberLines]) -> tuple[BranchSplit, ...]:
    """Return the lines after which members went different ways.

    Those come first at which all went the same way before: where each time is different, members
    have different tasks. Otherwise they are in the order of time.
    """
    by_line: dict[CodeLine, dict[str, PassedLine]] = {}
    for member in members:
        for one in member.lines:
            by_line.setdefault(one.line, {})[member.label] = one
    found = [split for line, each in by_line.items() if (split := _find_split(line, each))]
    found.sort(key=lambda one: one[0])
    return tuple(split for _, split in found)


def _find_split(
    line: CodeLine, passed: Mapping[str, PassedLine]
) -> tuple[tuple[bool, int], BranchSplit] | None:
    """Return the first time that members went on otherwise, with its place in the order of all."""
    times = sorted((one.count_times() for one in passed.values()), reverse=True)[1:2]
    exits = {label: one.list_exits() for label, one in passed.items()}
    first: tuple[int, dict[LineExit, list[str]]] | None = None
    differing = 0
    for at in range(times[0] if times else 0):
        ways: dict[LineExit, list[str]] = {}
        for label, each in exits.items():
            if at < len(each):
                ways.setdefault(each[at], []).append(label)
        if len(ways) > 1:
            differing += 1
            first = first or (at, ways)
    if first is None:
        return None
    at, ways = first
    orders = [one.find_order(at) for one in passed.values()]
    ordered = sorted(ways.items(), key=lambda one: len(one[1]))
    split = BranchSplit(
        *line,
        hit=at + 1,
        compared=times[0],
        differing=differing,
        ways=tuple(
            BranchWay(exit_.line, exit_.end, order_members(labels)) for exit_, labels in ordered
        ),
    )
    return (at == 0, min(one for one in orders if one is not None)), split
