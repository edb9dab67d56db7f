"""Turns the counts of a part of a run into those of its functions. Pure.

V8 counts anew each time that it writes, and writes the functions that were entered since, or came
to blocks that it counts by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from debugger.recorders.node.v8_ranges import CountedRange, V8Function


def of_part(
    functions: Sequence[V8Function], known: Sequence[Sequence[V8Function]]
) -> list[V8Function]:
    """Add the functions that other parts tell, which were not entered: names come from them all."""
    found = {_range_key(one): one for each in known for one in each if one.ranges}
    for one in functions:
        found.pop(_range_key(one), None)
    nothing = [
        V8Function(one.name, (CountedRange(start, end, 0),)) for (start, end), one in found.items()
    ]
    return [*functions, *nothing]


def with_call(
    functions: Sequence[V8Function], before: Sequence[V8Function], place: int
) -> list[V8Function]:
    """Count the call with which a part began: V8 had counted it, and nothing in it, before."""
    around = [one for one in before if one.ranges and _contains_place(one.ranges[0], place)]
    begun = min(around, key=lambda one: one.ranges[0].end - one.ranges[0].start, default=None)
    if begun is None or begun.ranges[0].count != 1:
        return list(functions)
    return [
        _add_counts(one, begun) if _range_key(one) == _range_key(begun) else one
        for one in functions
    ]


def _range_key(one: V8Function) -> tuple[int, int]:
    return one.ranges[0].start, one.ranges[0].end


def _contains_place(one: CountedRange, place: int) -> bool:
    return one.start <= place < one.end


def _add_counts(one: V8Function, other: V8Function) -> V8Function:
    """Add up what two parts say of a function; its blocks need not be the same in both."""
    start, end = _range_key(one)
    edges = sorted(
        {edge for each in (one, other) for r in each.ranges for edge in (r.start, r.end)}
    )
    total = one.ranges[0].count + other.ranges[0].count
    found = [CountedRange(start, end, total)]
    for first, last in pairwise(edges):
        count = _innermost_count(one, first) + _innermost_count(other, first)
        if found[1:] and found[-1].end == first and found[-1].count == count:
            found[-1] = CountedRange(found[-1].start, last, count)
        elif count != total:
            found.append(CountedRange(first, last, count))
    return V8Function(one.name, tuple(found))


def _innermost_count(one: V8Function, place: int) -> int:
    """Return how often the innermost range ran that a place is in."""
    around = [each for each in one.ranges if _contains_place(each, place)]
    return min(around, key=lambda each: each.end - each.start).count if around else 0
