"""Pairs the hits of two runs, and finds where their values differ first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from debugger.model.answers import ProbedColumn, ProbedPair, ProbeRow
from debugger.recorders.run_alignment import common_subsequence

_CONTEXT = 3
_NEXT = 3
_AGAIN = 2  # hits, below which it says nothing that the last are the same
# What looks like the address of an object, which is another in each run; null is none.
_ADDRESS = re.compile(r"\b0x(?!0+\b)0*[0-9a-fA-F]{6,16}\b")
_IDENTITY = re.compile(r"\bid\(")
_LONG = re.compile(r"\d{9,20}\Z")


class PairedHits(Struct, frozen=True):
    """The hits of two runs in pairs, in order, and which of the pairs is the first to differ.

    Before the one at `at` all are the same, and the last `again` are, too. Without `is_whole` they
    have too little in common to be compared to their ends.
    """

    pairs: tuple[ProbedPair, ...]
    at: int
    again: int = 0
    is_whole: bool = True


class ProbedSides(Struct, frozen=True):
    """The expressions of each place, and the rows of both runs."""

    expressions: tuple[tuple[str, ...], ...]
    left: tuple[ProbeRow, ...]
    right: tuple[ProbeRow, ...]

    def at_location(self, place: int) -> ProbedSides:
        """Return the rows of one place, in the order of its hits."""
        left, right = (
            tuple(sorted((row for row in rows if row.place == place), key=lambda row: row.hit))
            for rows in (self.left, self.right)
        )
        return ProbedSides(self.expressions, left, right)

    def hit_key(self, row: ProbeRow) -> tuple[int, tuple[str, ...]]:
        """Return what has to be the same for two hits to be the same."""
        asked = self.expressions[row.place]
        values = zip(asked, row.values, strict=False)
        return row.place, tuple(without_addresses(text, one) for one, text in values)

    def is_same(self, pair: ProbedPair) -> bool:
        """Tell whether both runs have this hit, with the same values."""
        if pair.left is None or pair.right is None:
            return False
        return self.hit_key(pair.left) == self.hit_key(pair.right)


def without_addresses(text: str, expression: str = "") -> str:
    """Return a value without the addresses in it, and without what Python's id() gives."""
    if _IDENTITY.search(expression):
        text = _LONG.sub("0x…", text)
    return _ADDRESS.sub("0x…", text) if "0x" in text else text


def has_order(rows: Iterable[ProbeRow]) -> bool:
    """Tell whether hits came one after the other: all of one thread of one process."""
    threads: set[int | None] = set()
    last: dict[int, int] = {}
    for row in rows:
        threads.add(row.thread)
        if row.hit < last.get(row.place, 0):
            return False
        last[row.place] = row.hit
    return len(threads) <= 1


def complete_up_to(rows: Iterable[ProbeRow], place: int) -> int:
    """Return up to which hit of a place all are told."""
    told = {row.hit for row in rows if row.place == place}
    return next(number for number in range(1, len(told) + 2) if number not in told) - 1


def pair_hits(sides: ProbedSides) -> PairedHits:
    """Put the hits of two runs in pairs, all places in one order."""
    left, right = sides.left, sides.right
    a, b = [sides.hit_key(one) for one in left], [sides.hit_key(one) for one in right]
    room = min(len(a), len(b))
    start = next((at for at in range(room) if a[at] != b[at]), room)
    end = next((at for at in range(room - start) if a[-1 - at] != b[-1 - at]), room - start)
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    matched, is_whole = _match_hits(middle_a, middle_b)
    every = [
        *((at, at) for at in range(start)),
        *((start + x, start + y) for x, y in matched),
        *((len(a) - at, len(b) - at) for at in range(end, 0, -1)),
    ]
    return PairedHits(_fill_pairs(left, right, every), start, end, is_whole)


def _fill_pairs(
    left: Sequence[ProbeRow], right: Sequence[ProbeRow], matched: Sequence[tuple[int, int]]
) -> tuple[ProbedPair, ...]:
    """Return the pairs, and between them what only one run has."""
    found, a, b = [], 0, 0
    for x, y in (*matched, (len(left), len(right))):
        found += [ProbedPair(left[at], None) for at in range(a, x)]
        found += [ProbedPair(None, right[at]) for at in range(b, y)]
        if x < len(left) and y < len(right):
            found.append(ProbedPair(left[x], right[y]))
        a, b = x + 1, y + 1
    return tuple(found)


_Key = tuple[int, tuple[str, ...]]


def _match_hits(a: Sequence[_Key], b: Sequence[_Key]) -> tuple[list[tuple[int, int]], bool]:
    """Match hits: one by one, where both came to the same places; else by what is the same."""
    if [key[0] for key in a] == [key[0] for key in b]:
        return [(at, at) for at in range(len(a))], True
    anchors, _ = common_subsequence(a, b)
    # Few that are the same, of many, are so by chance.
    if 2 * len(anchors) < min(len(a), len(b)):
        anchors = []
    found: list[tuple[int, int]] = []
    is_whole, x, y = True, 0, 0
    for next_x, next_y in (*anchors, (len(a), len(b))):
        places_a, places_b = ([key[0] for key in one] for one in (a[x:next_x], b[y:next_y]))
        some, is_all = common_subsequence(places_a, places_b)
        is_whole = is_whole and is_all
        found += [(x + one, y + other) for one, other in some]
        if (next_x, next_y) != (len(a), len(b)):
            found.append((next_x, next_y))
        x, y = next_x + 1, next_y + 1
    return found, is_whole


def compare_columns(
    sides: ProbedSides, place: int, pairs: Iterable[ProbedPair]
) -> tuple[ProbedColumn, ...]:
    """Say of each expression of a place at how many pairs of hits it differs, and where first."""
    both = [
        (one.left, one.right)
        for one in pairs
        if one.left is not None and one.right is not None and one.left.place == place
    ]
    return tuple(
        _compare_column(expression, at, both)
        for at, expression in enumerate(sides.expressions[place])
    )


def _compare_column(
    expression: str, at: int, both: Sequence[tuple[ProbeRow, ProbeRow]]
) -> ProbedColumn:
    different = addresses = 0
    first: tuple[ProbeRow, ProbeRow] | None = None
    for left, right in both:
        a, b = left.values[at], right.values[at]
        if a == b:
            continue
        if without_addresses(a, expression) == without_addresses(b, expression):
            addresses += 1
            continue
        different += 1
        first = first or (left, right)
    if first is None:
        return ProbedColumn(expression, len(both), addresses=addresses)
    left, right = first
    return ProbedColumn(
        expression,
        len(both),
        different,
        left.hit,
        right.hit,
        left.values[at],
        right.values[at],
        addresses,
    )


def first_difference(found: PairedHits) -> tuple[ProbedPair | None, tuple[ProbedPair, ...]]:
    """Return the first pair that differs, and those that come next; None where none does.

    Where each run has a hit there that the other has not, these two are told as a pair.
    """
    if found.at >= len(found.pairs):
        return None, ()
    first, *rest = found.pairs[found.at :]
    if first.left is not None and first.right is None:
        at = next((at for at, one in enumerate(rest) if one.left is None or one.right), None)
        if at is not None and rest[at].left is None:
            first = ProbedPair(first.left, rest.pop(at).right)
    return first, tuple(rest[:_NEXT])


def pairs_before(found: PairedHits) -> tuple[ProbedPair, ...]:
    """Return the pairs just before the first that differs."""
    return found.pairs[max(found.at - _CONTEXT, 0) : found.at]


def where_equal_again(found: PairedHits) -> tuple[ProbedPair | None, int]:
    """Return from where on the last hits of both are the same again, and how many are."""
    if found.again < _AGAIN or found.at >= len(found.pairs):
        return None, 0
    return found.pairs[len(found.pairs) - found.again], found.again
