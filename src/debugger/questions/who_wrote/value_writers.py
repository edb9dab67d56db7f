"""Counts the lines that wrote a value, and finds the last write before a location. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class WriteLocation(Struct, frozen=True):
    """A function, and a line of it."""

    function: str
    file: str | None = None
    line: int | None = None


class ValueWrite(Struct, frozen=True):
    """One write: what was there and what is now, and the stack, the writer itself first."""

    stack: tuple[WriteLocation, ...]
    old: str | None
    new: str | None
    thread: int | None = None
    is_after: bool = False  # after the place that was asked about

    @property
    def location(self) -> WriteLocation:
        """Where it was written."""
        return self.stack[0] if self.stack else WriteLocation("?")


class WritingLine(Struct, frozen=True):
    """A line that wrote `count` times; `first` and `last` are the numbers of its writes, from 1."""

    site: WriteLocation
    stack: tuple[WriteLocation, ...]
    count: int
    first: int
    last: int
    first_write: ValueWrite
    last_write: ValueWrite
    is_last: bool = False
    is_after: bool = False
    callers: int = 1  # ways that led there


def group_writes(writes: Sequence[ValueWrite]) -> list[WritingLine]:
    """Fold the writes by line, before the place and after it apart, in the order of the first.

    The one that wrote last before the place is marked.
    """
    groups: dict[tuple[WriteLocation, bool], list[tuple[int, ValueWrite]]] = {}
    for number, one in enumerate(writes, 1):
        groups.setdefault((one.location, one.is_after), []).append((number, one))
    before = [number for number, one in enumerate(writes, 1) if not one.is_after]
    marked = before[-1] if before else 0
    return [
        WritingLine(
            site=site,
            stack=some[-1][1].stack,
            count=len(some),
            first=some[0][0],
            last=some[-1][0],
            first_write=some[0][1],
            last_write=some[-1][1],
            is_last=some[-1][0] == marked,
            is_after=is_after,
            callers=len({one.stack[1:2] for _, one in some}),
        )
        for (site, is_after), some in groups.items()
    ]


def last_before(writes: Sequence[ValueWrite]) -> ValueWrite | None:
    """Return the last write before the place."""
    return next((one for one in reversed(writes) if not one.is_after), None)
