"""Orders the lines of a folded tree by their worth in an answer. Pure.

Those that an exception passed come first, then outer ones, then slow ones; a line never comes
before the one that it is below.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from debugger.recorders.call_folding import FoldedCalls


class TreeLine(Struct, frozen=True):
    """A line of the tree; the line of `order` 0 is the last to be left out."""

    folded: FoldedCalls
    depth: int
    order: int


class _RankedLine(Struct):
    folded: FoldedCalls
    depth: int
    parent: int
    is_bad: bool


def flatten_tree(folded: Sequence[FoldedCalls], most: int) -> tuple[TreeLine, ...]:
    """Lay out a tree as lines, outer ones before inner ones; the `most` that are worth most."""
    lines: list[_RankedLine] = []

    def lay(one: FoldedCalls, depth: int, parent: int) -> bool:
        place = len(lines)
        lines.append(_RankedLine(one, depth, parent, is_bad=bool(one.raised or one.open)))
        for child in one.children:
            if lay(child, depth + 1, place):
                lines[place].is_bad = True
        return lines[place].is_bad

    for one in folded:
        lay(one, 0, -1)
    order = _line_order(lines)
    return tuple(
        TreeLine(line.folded, line.depth, order[place])
        for place, line in enumerate(lines)
        if order[place] < most
    )


def _line_order(lines: Sequence[_RankedLine]) -> dict[int, int]:
    ranked = sorted(
        range(len(lines)),
        key=lambda at: (not lines[at].is_bad, lines[at].depth, -lines[at].folded.total_ns, at),
    )
    order: dict[int, int] = {}
    for place in ranked:
        chain, outer = [], place
        while outer >= 0 and outer not in order:
            chain.append(outer)
            outer = lines[outer].parent
        for one in reversed(chain):
            order[one] = len(order)
    return order
