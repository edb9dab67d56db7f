"""Finds the paths that lead to a location, and what happens after it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from debugger.recording.fold import Folded, fold_calls
from debugger.recording.model import Function, Recording
from debugger.recording.tree import Call, walk


class Step(Struct, frozen=True):
    """A function on the way, and the line in it that goes on; 0 where it is not known."""

    function: Function
    line: int = 0


class Way(Struct, frozen=True):
    """How `count` calls came to a place, outermost first; recursions are told once."""

    count: int
    steps: tuple[Step, ...]


class Around(Struct, frozen=True):
    """The calls of a place: the most frequent ways there, how many more, and what they led to."""

    function: Function
    calls: int
    ways: tuple[Way, ...]
    more_ways: int
    folded: Folded


def around(
    recording: Recording,
    roots: Sequence[Call],
    is_there: Callable[[Function], bool],
    *,
    ways: int = 5,
) -> tuple[Around, ...]:
    """Tell what surrounds the calls of each function that is there, in the order of their first."""
    groups: dict[int, list[Call]] = {}
    for call in walk(roots):
        if is_there(recording.function(call.function)):
            groups.setdefault(call.function, []).append(call)
    return tuple(
        _around(recording, recording.function(number), calls, ways)
        for number, calls in groups.items()
    )


def _around(recording: Recording, function: Function, calls: list[Call], most: int) -> Around:
    counts: dict[tuple[tuple[int, int], ...], int] = {}
    for call in calls:
        way = _way(call)
        counts[way] = counts.get(way, 0) + call.count
    ranked = sorted(counts, key=lambda way: -counts[way])
    found = tuple(
        Way(counts[way], tuple(Step(recording.function(number), line) for number, line in way))
        for way in ranked[:most]
    )
    # Calls below others of the same function are among the recursions of those.
    outer = [call for call in calls if not _is_below(call)]
    folded = fold_calls(recording, outer)
    total = sum(call.count for call in calls)
    return Around(function, total, found, max(len(ranked) - most, 0), folded)


def _is_below(call: Call) -> bool:
    parent = call.parent
    while parent is not None:
        if parent.function == call.function:
            return True
        parent = parent.parent
    return False


def _way(call: Call) -> tuple[tuple[int, int], ...]:
    """Return the functions that lead to a call, each with the line that it went on from."""
    chain: list[tuple[int, int]] = []
    line, parent = call.line, call.parent
    while parent is not None:
        chain.append((parent.function, line))
        line, parent = parent.line, parent.parent
    kept: dict[int, int] = {}
    for number, at in reversed(chain):
        kept.setdefault(number, at)
    return tuple(kept.items())
