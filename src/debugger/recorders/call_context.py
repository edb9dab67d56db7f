"""Finds the paths that lead to a location, and what happens after it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from debugger.recorders.call_folding import FoldedCalls, fold_calls
from debugger.recorders.call_tree import CallNode, walk_calls
from debugger.recorders.model import RecordedFunction, Recording


class PathStep(Struct, frozen=True):
    """A function on the way, and the line in it that goes on; 0 where it is not known."""

    function: RecordedFunction
    line: int = 0


class CallPath(Struct, frozen=True):
    """How `count` calls came to a place, outermost first; recursions are told once."""

    count: int
    steps: tuple[PathStep, ...]


class CallContext(Struct, frozen=True):
    """The calls of a place: the most frequent ways there, how many more, and what they led to."""

    function: RecordedFunction
    calls: int
    ways: tuple[CallPath, ...]
    more_ways: int
    folded: FoldedCalls


def find_call_contexts(
    recording: Recording,
    roots: Sequence[CallNode],
    is_there: Callable[[RecordedFunction], bool],
    *,
    ways: int = 5,
) -> tuple[CallContext, ...]:
    """Tell what surrounds the calls of each function that is there, in the order of their first."""
    groups: dict[int, list[CallNode]] = {}
    for call in walk_calls(roots):
        if is_there(recording.find_function(call.function)):
            groups.setdefault(call.function, []).append(call)
    return tuple(
        _call_context(recording, recording.find_function(number), calls, ways)
        for number, calls in groups.items()
    )


def _call_context(
    recording: Recording, function: RecordedFunction, calls: list[CallNode], most: int
) -> CallContext:
    counts: dict[tuple[tuple[int, int], ...], int] = {}
    for call in calls:
        way = _call_path(call)
        counts[way] = counts.get(way, 0) + call.count
    ranked = sorted(counts, key=lambda way: -counts[way])
    found = tuple(
        CallPath(
            counts[way],
            tuple(PathStep(recording.find_function(number), line) for number, line in way),
        )
        for way in ranked[:most]
    )
    # Calls below others of the same function are among the recursions of those.
    outer = [call for call in calls if not _is_below(call)]
    folded = fold_calls(recording, outer)
    total = sum(call.count for call in calls)
    return CallContext(function, total, found, max(len(ranked) - most, 0), folded)


def _is_below(call: CallNode) -> bool:
    parent = call.parent
    while parent is not None:
        if parent.function == call.function:
            return True
        parent = parent.parent
    return False


def _call_path(call: CallNode) -> tuple[tuple[int, int], ...]:
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
