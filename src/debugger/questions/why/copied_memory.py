"""Keeps the writes of the memory that has a value's bytes besides, as the runs have shown them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from debugger.questions.why.native_steps import ValuePosition
from debugger.questions.why.traced_run import TraceEvent, TraceResult, WatchPlan

_SIZES = frozenset({4, 8})  # bytes of values that are looked for in memory
_COMMON = 1 << 12  # smaller numbers are equal by chance


def is_distinctive(content: str) -> bool:
    """Return whether a value, in hexadecimal, is in several places hardly by chance."""
    raw = bytes.fromhex(content)
    number = int.from_bytes(raw, "little", signed=True)
    is_negative = len(raw) == max(_SIZES) and -_COMMON < number < -1
    return len(raw) in _SIZES and (abs(number) >= _COMMON or is_negative)


class CopyWrite(Struct, frozen=True):
    """The one write that gave memory a value, and the watchpoint that saw it."""

    event: TraceEvent
    watch: WatchPlan
    # The moments of all events of its run, by their keys and counts.
    moments: Mapping[tuple[str, int], int]

    def is_before(self, event: TraceEvent | None) -> bool:
        """Test whether the write was before an event, as far as its own run shows; None is last."""
        if event is None:
            return True
        moment = self.moments.get((event.key, event.count))
        return moment is not None and self.event.sequence < moment


class CopiedMemory:
    """The places that have a value's bytes at the end of a run, and how they got them.

    A value that was copied several times lies at its earlier places still, mostly. A run that
    watches these as well shows several links at once.
    """

    def __init__(self) -> None:
        self._content = ""
        self._found: dict[int, None] = {}
        self._watched: set[int] = set()
        self._writes: dict[int, CopyWrite] = {}
        # Memory that had the value from the beginning: the run that has seen no write, and the key.
        self._unwritten: dict[int, tuple[TraceResult, str]] = {}

    def note_end(self, result: TraceResult, content: str) -> None:
        """Add the places that the end of a run has shown, those of another value first removed."""
        if content != self._content:
            self._content, self._found, self._watched = content, {}, set()
            self._writes, self._unwritten = {}, {}
        self._found |= dict.fromkeys(result.copies)

    def watches_for(self, position: ValuePosition, known: set[int]) -> list[WatchPlan]:
        """Return watchpoints of the places, those whose writes are not known first; without keys.

        The others show the order of their writes and the further links.
        """
        value = position.value
        if value.size not in _SIZES or value.bytes != self._content:
            return []
        unknown = [one for one in self._found if one not in self._watched]
        return [
            WatchPlan("", one, value.size, value=value.bytes, is_copy=True)
            for one in (*unknown, *self._writes)
            if one not in known
        ]

    def read_events(self, result: TraceResult, watches: tuple[WatchPlan, ...]) -> None:
        """Keep the writes that alone can have given the watched places the value."""
        moments = {(one.key, one.count): one.sequence for one in result.events}
        for watch in watches:
            if not watch.is_copy or watch.value != self._content or not result.reached:
                continue
            self._watched.add(watch.address)
            if watch.key in result.hot:
                continue
            given = result.events_of(watch.key)
            was_there = result.initial.get(watch.key, "").startswith(watch.value)
            is_changed = any(map(result.counts.get, (watch.key, f"{watch.key}:other")))
            if was_there and not is_changed:
                self._unwritten[watch.address] = result, watch.key
            if len(given) == 1 and given[0].deep and not was_there:
                self._writes[watch.address] = CopyWrite(given[0], watch, moments)

    def write_of(self, position: ValuePosition) -> CopyWrite | None:
        """Return the write that gave a position's memory its value, if there was one only."""
        is_same = position.value.bytes == self._content
        return self._writes.get(position.value.address) if is_same else None

    def unwritten_run(self, position: ValuePosition) -> tuple[TraceResult, str] | None:
        """Return the run that has seen no write of a position's memory, and its key there."""
        is_same = position.value.bytes == self._content
        return self._unwritten.get(position.value.address) if is_same else None

    def write_before(self, content: str, event: TraceEvent | None) -> CopyWrite | None:
        """Return the last write of an equal value before a moment; None if there may be none."""
        if content != self._content or not is_distinctive(content):
            return None
        some = [one for one in self._writes.values() if one.is_before(event)]
        # The order of the events of different runs is not known.
        is_ordered = len({id(one.moments) for one in some}) == 1
        return max(some, key=lambda one: one.event.sequence) if is_ordered else None
