"""Selects the hits that a filter keeps, one at a time or from a list. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from debugger.model.hit_filter import HitFilter
from debugger.model.location import plain_function

_JOINTS = ("::", ".", ")", "#", "/", " ")  # before the last part of a function's name
_Hit = TypeVar("_Hit")


class SkippedHits(Struct, frozen=True):
    """How many hits were omitted, by what the filter requires."""

    before: int = 0  # the --after event
    later: int = 0  # than the --until event
    unchanged: int = 0
    unnumbered: int = 0  # not the hits of --nth, --first or --last

    @property
    def total(self) -> int:
        """All of them."""
        return self.before + self.later + self.unchanged + self.unnumbered


class HitSelector(Generic[_Hit]):
    """Decides for each hit of one location whether it counts.

    Conditions, threads and callers are tested before: a hit that is added meets them. Hits that
    only the end of the run decides (`--last`, a negative `--nth`) are held until `finish`.
    """

    def __init__(self, hits: HitFilter) -> None:
        self._filter = hits
        self._is_begun = hits.after is None
        self._is_ended = False
        self._previous: Hashable = None
        self._is_first = True
        self._counted = 0
        self._pending_hits: deque[_Hit] = deque()
        self._before = self._later = self._unchanged = self._unnumbered = 0

    def begin(self) -> None:
        """Record the event of `--after`: later hits count."""
        self._is_begun = True

    def end(self) -> None:
        """Record the event of `--until`: no later hit counts, once any could count."""
        self._is_ended = self._is_ended or self._is_begun

    def add_hit(self, hit: _Hit, values: Hashable = None) -> bool:
        """Add the next hit with its values; return whether it is certain to count."""
        if not self._is_begun:
            self._before += 1
            return False
        if self._is_ended:
            self._later += 1
            return False
        if self._filter.changes:
            is_same = not self._is_first and values == self._previous
            self._is_first, self._previous = False, values
            if is_same:
                self._unchanged += 1
                return False
        self._counted += 1
        if self._filter.kept_last:
            self._pending_hits.append(hit)
            if len(self._pending_hits) > self._filter.kept_last:
                self._pending_hits.popleft()
                self._unnumbered += 1
            return False
        is_chosen = self._is_chosen()
        self._unnumbered += not is_chosen
        return is_chosen

    def _is_chosen(self) -> bool:
        if self._filter.nth is not None:
            return self._counted == self._filter.nth
        return self._filter.first is None or self._counted <= self._filter.first

    @property
    def counted(self) -> int:
        """The number of hits to which `--nth`, `--first` and `--last` apply."""
        return self._counted

    @property
    def is_begun(self) -> bool:
        """Whether the event of `--after` was seen, or none is needed."""
        return self._is_begun

    @property
    def is_over(self) -> bool:
        """Whether no later hit can count."""
        limit = self._filter.first if self._filter.nth is None else self._filter.nth
        is_reached = limit is not None and 0 < limit <= self._counted
        return self._is_ended or is_reached

    def finish(self) -> list[_Hit]:
        """Return the hits that the end of the run decides."""
        remaining, self._pending_hits = list(self._pending_hits), deque()
        nth = self._filter.nth
        if nth is None or nth > 0:
            return remaining
        chosen = remaining[:1] if len(remaining) == -nth else []
        self._unnumbered += len(remaining) - len(chosen)
        return chosen

    @property
    def skipped(self) -> SkippedHits:
        """The hits that were omitted so far."""
        return SkippedHits(self._before, self._later, self._unchanged, self._unnumbered)


CALLERS_MAX = 200  # frames in which a caller is searched


def is_called_by(functions: Iterable[str | None], function: str) -> bool:
    """Return whether a stack, from its innermost function on, is that of the function or below.

    A name without its class or package means the function of any: `insert` is `Tree::insert`.
    """
    return any(one is not None and names_function(one, function) for one in functions)


def names_function(name: str, function: str) -> bool:
    """Return whether a debugger's name of a function is the one that a user typed."""
    plain = plain_function(name)
    for one in (name, plain):
        if one == function or (one.endswith(function) and one[: -len(function)].endswith(_JOINTS)):
            return True
    return False


class HitMark(Struct, frozen=True):
    """An occurrence of an event among the hits: that of `--after` or of `--until`."""

    is_begin: bool


class NumberedHit(Struct, frozen=True):
    """A hit of a location with its values."""

    number: int
    values: tuple[str, ...] = ()
    thread: int | None = None


def select_hits(
    hits: HitFilter, observed: Sequence[NumberedHit | HitMark]
) -> tuple[list[NumberedHit], SkippedHits]:
    """Return the hits that a filter keeps, in order, and how many it omits.

    The filter's thread is tested here, its condition and its function are not.
    """
    selector: HitSelector[NumberedHit] = HitSelector(hits)
    chosen = list(_certain_hits(selector, hits, observed))
    chosen += selector.finish()
    return chosen, selector.skipped


def _certain_hits(
    selector: HitSelector[NumberedHit], hits: HitFilter, observed: Iterable[NumberedHit | HitMark]
) -> Iterator[NumberedHit]:
    for one in observed:
        if isinstance(one, HitMark):
            selector.begin() if one.is_begin else selector.end()
        elif hits.thread in {None, one.thread} and selector.add_hit(one, one.values):
            yield one
