"""Finds the ratio by which the counts of two runs differ, and the counts that depart from it. Pure.

With inputs of different sizes nearly every count differs, and says only how large the inputs are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

# Two ratios this near to each other count as the same one.
_NEAR = math.log(1.1)
# A count departs from the ratio if it is this far from it: the data of two inputs differ, too.
_CLEAR = math.log(1.25)
_SHARE = 0.5  # of the weight of all compared counts that the most frequent ratio must have
_LEAST = 3  # counts of that ratio, below which each is told
_DIGITS_BELOW = 10  # ratios below it are told with a decimal place


class CountPair(Struct, frozen=True):
    """How often the same code ran in each of two runs."""

    left: int
    right: int

    @property
    def is_compared(self) -> bool:
        """Whether it ran in both runs, and not once only: setup code runs once in any run."""
        return bool(self.left and self.right) and self.left + self.right > 2  # noqa: PLR2004

    @property
    def logarithm(self) -> float:
        """The logarithm of the ratio of both counts."""
        return math.log(self.left / self.right)

    @property
    def weight(self) -> float:
        """The precision of the ratio: that of small counts is known badly."""
        return math.log2(1 + min(self.left, self.right))


class CountRatio(Struct, frozen=True):
    """The ratio of the left counts to the right ones that most code has, and how much has it."""

    ratio: float
    # The number of counts that do not depart from the ratio, of all that were compared.
    matching: int
    compared: int

    def departs(self, pair: CountPair) -> bool:
        """Return whether counts differ clearly from this ratio, or one run only has any.

        Equal counts never depart: code that does not depend on the input runs equally often.
        """
        if pair.left == pair.right:
            return False
        if not pair.left or not pair.right:
            return True
        return not self._is_off_by_one(pair) and self.distance(pair) > _CLEAR

    def distance(self, pair: CountPair) -> float:
        """Return how far counts are from this ratio; that of one run's own code is infinite."""
        if not pair.left or not pair.right:
            return math.inf
        return abs(pair.logarithm - math.log(self.ratio))

    def _is_off_by_one(self, pair: CountPair) -> bool:
        """Return whether one run more or less explains it, as that of a loop's head at its end."""
        return (
            self.ratio * (pair.right - 1) <= pair.left <= self.ratio * (pair.right + 1)
            or pair.left - 1 <= self.ratio * pair.right <= pair.left + 1
        )

    @property
    def text(self) -> str:
        """The ratio, larger than 1, as a reader wants it."""
        ratio = max(self.ratio, 1 / self.ratio)
        return f"{ratio:.1f}" if ratio < _DIGITS_BELOW else f"{ratio:,.0f}"


def find_dominant_ratio(pairs: Iterable[CountPair]) -> CountRatio | None:
    """Find the ratio other than 1 that at least half of the counts have, by weight.

    None if there is no such ratio: then the runs' inputs have one size, or each difference counts.
    """
    compared = [one for one in pairs if one.is_compared]
    ordered = sorted(compared, key=lambda one: one.logarithm)
    window = _heaviest_window(ordered)
    weight = sum(one.weight for one in window)
    if len(window) < _LEAST or weight < _SHARE * sum(one.weight for one in compared):
        return None
    ratio = math.exp(_median_logarithm(window, weight))
    # Equal counts, or nearly: whatever differs is to be told.
    if abs(math.log(ratio)) <= _NEAR:
        return None
    found = CountRatio(ratio, 0, len(compared))
    matching = sum(one.left != one.right and not found.departs(one) for one in compared)
    return CountRatio(ratio, matching, len(compared))


def _heaviest_window(ordered: Sequence[CountPair]) -> Sequence[CountPair]:
    """Return the neighbours, with about the same ratio, that weigh most."""
    best, start, end = 0.0, 0, 0
    first, weight = 0, 0.0
    for at, one in enumerate(ordered):
        weight += one.weight
        while one.logarithm - ordered[first].logarithm > _NEAR:
            weight -= ordered[first].weight
            first += 1
        if weight > best:
            best, start, end = weight, first, at + 1
    return ordered[start:end]


def _median_logarithm(window: Sequence[CountPair], weight: float) -> float:
    passed = 0.0
    for one in window:
        passed += one.weight
        if 2 * passed >= weight:
            return one.logarithm
    return window[-1].logarithm
