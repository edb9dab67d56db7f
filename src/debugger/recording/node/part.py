"""Turns the counts of a part of a run into those of its functions. Pure.

V8 counts anew each time that it writes, and writes the functions that were entered since, or came
to blocks that it counts by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from debugger.recording.node.ranges import Entered, Range


def of_part(functions: Sequence[Entered], known: Sequence[Sequence[Entered]]) -> list[Entered]:
    """Add the functions that other parts tell, which were not entered: names come from them all."""
    found = {_key(one): one for each in known for one in each if one.ranges}
    for one in functions:
        found.pop(_key(one), None)
    nothing = [Entered(one.name, (Range(start, end, 0),)) for (start, end), one in found.items()]
    return [*functions, *nothing]


def with_call(functions: Sequence[Entered], before: Sequence[Entered], place: int) -> list[Entered]:
    """Count the call with which a part began: V8 had counted it, and nothing in it, before."""
    around = [one for one in before if one.ranges and _holds(one.ranges[0], place)]
    begun = min(around, key=lambda one: one.ranges[0].end - one.ranges[0].start, default=None)
    if begun is None or begun.ranges[0].count != 1:
        return list(functions)
    return [_added(one, begun) if _key(one) == _key(begun) else one for one in functions]


def _key(one: Entered) -> tuple[int, int]:
    return one.ranges[0].start, one.ranges[0].end


def _holds(one: Range, place: int) -> bool:
    return one.start <= place < one.end


def _added(one: Entered, other: Entered) -> Entered:
    """Add up what two parts say of a function; its blocks need not be the same in both."""
    start, end = _key(one)
    edges = sorted(
        {edge for each in (one, other) for r in each.ranges for edge in (r.start, r.end)}
    )
    total = one.ranges[0].count + other.ranges[0].count
    found = [Range(start, end, total)]
    for first, last in pairwise(edges):
        count = _times(one, first) + _times(other, first)
        if found[1:] and found[-1].end == first and found[-1].count == count:
            found[-1] = Range(found[-1].start, last, count)
        elif count != total:
            found.append(Range(first, last, count))
    return Entered(one.name, tuple(found))


def _times(one: Entered, place: int) -> int:
    """Return how often the innermost range ran that a place is in."""
    around = [each for each in one.ranges if _holds(each, place)]
    return min(around, key=lambda each: each.end - each.start).count if around else 0
