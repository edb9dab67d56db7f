"""Finds the branches that two runs passed, and which went another way in one of them. Pure.

Where a fault decides, the same condition has another outcome: that tells more than the lines that
only follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from debugger.recorders.model import BranchCount, BranchCounts, Recording

_CROWD = 4  # branches of one function that differ, beyond which it has only other data


class BranchPlace(Struct, frozen=True):
    """A branch of a line, the `number`th; the same in every run."""

    file: str
    function: str
    line: int
    number: int


class DivergingBranch(Struct, frozen=True):
    """A branch with its counts in the failing and the passing runs: of each outcome."""

    place: BranchPlace
    to: tuple[int, int]
    is_condition: bool
    failing: tuple[int, int]
    passing: tuple[int, int]

    @property
    def only_failing(self) -> int | None:
        """The outcome that only the failing runs had; None: it is that of the passing runs."""
        for at in (0, 1):
            if self.failing[at] and not self.passing[at]:
                return at
        return None

    @property
    def only_passing(self) -> int | None:
        """The outcome that only the passing runs had."""
        for at in (0, 1):
            if self.passing[at] and not self.failing[at]:
                return at
        return None


def sum_branches(run: Iterable[Recording]) -> dict[BranchPlace, BranchCount]:
    """Sum the branches of a run's processes."""
    found: dict[BranchPlace, BranchCount] = {}
    for recording in run:
        for event in recording.events:
            if not isinstance(event, BranchCounts):
                continue
            function = recording.find_function(event.function)
            for one in event.branches:
                place = BranchPlace(function.file, function.name, one.line, one.number)
                known = found.get(place)
                if known is not None:
                    times = (one.times[0] + known.times[0], one.times[1] + known.times[1])
                    one = structs.replace(known, times=times)  # noqa: PLW2901 - the sum of both
                found[place] = one
    return found


def find_diverging_branches(
    failing: Sequence[Iterable[Recording]], passing: Sequence[Iterable[Recording]]
) -> tuple[DivergingBranch, ...]:
    """Find the branches that failing and passing runs passed, with another outcome.

    Those come first whose every outcome is that of one side alone, and those of functions with few
    such branches: many are the work of other data. Otherwise they are in the order of time.
    """
    bad, good = _sum_runs(failing), _sum_runs(passing)
    found = [
        DivergingBranch(place, one.to, one.is_condition, one.times, good[place].times)
        for place, one in bad.items()
        if place in good
    ]
    found = [one for one in found if (one.only_failing, one.only_passing) != (None, None)]
    crowds: dict[tuple[str, str], int] = {}
    for branch in found:
        key = (branch.place.file, branch.place.function)
        crowds[key] = crowds.get(key, 0) + 1

    def rank(one: DivergingBranch) -> tuple[bool, bool, int]:
        is_whole = one.only_failing is not None and one.only_passing is not None
        is_crowd = crowds[one.place.file, one.place.function] > _CROWD
        return not is_whole, is_crowd, bad[one.place].first

    return tuple(sorted(found, key=rank))


def _sum_runs(runs: Sequence[Iterable[Recording]]) -> dict[BranchPlace, BranchCount]:
    return sum_branches(one for run in runs for one in run)
