"""Maps times to event numbers; events may arrive later than they happened."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

_GRAIN = 512
_MOST = 4096


class TimeIndex:
    """The earliest and latest time of each run of neighbouring events.

    Events are numbered as they arrive, but a traced call carries the time at which it happened. A
    search between two times therefore covers a few events too many, never too few.
    """

    def __init__(self) -> None:
        self._lasts: list[int] = []
        self._earliest: list[int] = []
        self._latest: list[int] = []
        self._first = 1
        self._grain = _GRAIN

    def add(self, first: int, last: int, earliest: int, latest: int) -> None:
        """Add the events `first` to `last`, newer than all added before."""
        if self._lasts and first - self._first < self._grain:
            self._lasts[-1] = last
            self._earliest[-1] = min(self._earliest[-1], earliest)
            self._latest[-1] = max(self._latest[-1], latest)
            return
        self._first = first
        self._lasts.append(last)
        self._earliest.append(earliest)
        self._latest.append(latest)
        if len(self._lasts) > _MOST:
            self._merge_runs()

    def before(self, time_ns: int) -> int:
        """Return a number up to which all events happened before a time."""
        at = bisect_left(list(accumulate(self._latest, max)), time_ns)
        return self._lasts[at - 1] if at else 0

    def upto(self, time_ns: int) -> int:
        """Return a number after which all events happened after a time."""
        # From the end on, the earliest of all that follow only falls: what is not later ends it.
        for last, earliest in zip(reversed(self._lasts), reversed(self._earliest), strict=True):
            if earliest <= time_ns:
                return last
        return 0

    def _merge_runs(self) -> None:
        pairs = range(0, len(self._lasts) - 1, 2)
        rest = len(self._lasts) % 2
        self._earliest = [min(self._earliest[at : at + 2]) for at in pairs] + (
            self._earliest[-1:] * rest
        )
        self._latest = [max(self._latest[at : at + 2]) for at in pairs] + self._latest[-1:] * rest
        self._lasts = [self._lasts[at + 1] for at in pairs] + self._lasts[-1:] * rest
        self._grain *= 2
