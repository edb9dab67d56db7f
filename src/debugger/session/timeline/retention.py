"""Limits the stored output and calls, and counts the dropped events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from debugger.model.events import LASTING_KINDS, TRACE_KINDS, EventKind
from debugger.model.program import CallEvent
from debugger.session.timeline.line_splitter import OutputBlock, OutputPiece

_MAX_RUNS = 1024  # runs of one kind of event
_MAX_CHUNK = 4096  # calls of one chunk
_TRACE_SHARE = 10  # one part in so many is reserved for traces

_Run = tuple[int, int, int]
"""First and last number, and how many of those between were dropped."""


class RetentionLimits(msgspec.Struct, frozen=True):
    """The maximum number of events, and of bytes, to keep."""

    events: int
    size: int

    def are_exceeded(self, count: int, size: int) -> bool:
        """Return whether `count` events of together `size` bytes are too much."""
        return count > self.events or size > self.size


class DroppedCounts:
    """Counts the dropped events of each kind by their position.

    The counts are exact for the last runs of neighbours; older runs are merged, so that a range
    which cuts a merged run may count up to the whole run. The count is never too low.
    """

    def __init__(self) -> None:
        self._runs: dict[EventKind, list[_Run]] = {kind: [] for kind in EventKind}

    def add(self, kind: EventKind, first: int, count: int = 1, *, last: int | None = None) -> None:
        """Count `count` dropped events of `kind` numbered from `first`, after all added before.

        With `last` they lie somewhere up to there.
        """
        # Neighbours form one run, which is exact. A chunk of traced calls has events of two kinds
        # among each other, so its runs have gaps (`last`), and a range that cuts one is counted at
        # its maximum. When there are too many runs the older half is merged, so that counts of
        # recent events stay exact.
        if not count:
            return
        runs = self._runs[kind]
        last = first + count - 1 if last is None else last
        if runs and runs[-1][1] == first - 1 and last - first == count - 1:
            start, _, before = runs[-1]
            runs[-1] = (start, last, before + count)
            return
        runs.append((first, last, count))
        if len(runs) > _MAX_RUNS:
            half = _MAX_RUNS // 2
            runs[:half] = _merge_runs(runs[:half])

    def count(self, kinds: Iterable[EventKind] | None, *, after: int, upto: int) -> int:
        """Return how many events with after < seq <= upto were dropped; None means every kind."""
        total = 0
        for kind in EventKind if kinds is None else set(kinds):
            for first, last, count in self._runs[kind]:
                total += min(count, max(0, min(last, upto) - max(first, after + 1) + 1))
        return total

    def forget(self, kind: EventKind) -> None:
        """Remove the counts of `kind`."""
        self._runs[kind].clear()


def _merge_runs(runs: list[_Run]) -> list[_Run]:
    """Return about half as many runs of similar size, so that no range is far off."""
    grain = 4 * sum(run[2] for run in runs) // len(runs)
    merged = [runs[0]]
    for first, last, count in runs[1:]:
        start, _, before = merged[-1]
        if before + count <= grain:
            merged[-1] = (start, last, before + count)
        else:
            merged.append((first, last, count))
    return merged


class OutputRetention:
    """The newest lines of output within the limits: some stored, the rest waiting in blocks."""

    def __init__(self, limits: RetentionLimits, drops: DroppedCounts) -> None:
        self._limits = limits
        self._drops = drops
        self._stored: deque[tuple[int, int]] = deque()
        self._blocks: deque[OutputBlock] = deque()
        self._count = 0
        self._size = 0
        self.waiting_size = 0
        self.floor = 0
        """Every stored line up to this number is to be deleted."""

    @property
    def pending_blocks(self) -> int:
        """The number of blocks that wait to be stored."""
        return len(self._blocks)

    def add(self, block: OutputBlock) -> None:
        """Add the lines of `block`, and drop the oldest lines that no longer fit."""
        # Stored lines are older than waiting ones, so they are dropped first, one by one; `floor`
        # tells the database what to delete. Waiting blocks are not split into lines yet: output
        # that is dropped before a reader comes is never split. So a waiting block is dropped only
        # as a whole, and only when the blocks after it fill a limit by themselves; `take` decides
        # about single lines.
        self._blocks.append(block)
        self._count += block.count
        self._size += block.size
        self.waiting_size += block.size
        self._drop_stored()
        while self._is_first_block_lost():
            lost = self._blocks.popleft()
            self._count -= lost.count
            self._size -= lost.size
            self.waiting_size -= lost.size
            self._drops.add(EventKind.OUTPUT, lost.first, lost.count)

    def take(self) -> list[OutputPiece]:
        """Return the waiting lines that fit, for storing them now."""
        pieces = [piece for block in self._blocks for piece in block.pieces()]
        self._blocks.clear()
        self.waiting_size = 0
        self._stored.extend((piece.seq, piece.size) for piece in pieces)
        self._drop_stored()
        return [piece for piece in pieces if piece.seq > self.floor]

    def clear(self) -> int:
        """Delete all lines and the record of dropped ones; return how many were kept."""
        self.take()
        cleared = self._count
        if self._stored:
            self.floor = self._stored[-1][0]
        self._stored.clear()
        self._count = self._size = 0
        self._drops.forget(EventKind.OUTPUT)
        return cleared

    def _drop_stored(self) -> None:
        while self._stored and self._limits.are_exceeded(self._count, self._size):
            self.floor, size = self._stored.popleft()
            self._count -= 1
            self._size -= size
            self._drops.add(EventKind.OUTPUT, self.floor)

    def _is_first_block_lost(self) -> bool:
        # Whether the first block's last line is lost is certain only when the rest fills a limit;
        # what is uncertain waits for `take`, which knows the lines.
        if len(self._blocks) <= 1:
            return False
        first = self._blocks[0]
        is_full = self._count - first.count >= self._limits.events
        return is_full or self._size - first.size > self._limits.size


class CallRetention:
    """The newest traced calls and returns within the limits, in chunks of neighbours."""

    def __init__(self, limits: RetentionLimits, drops: DroppedCounts) -> None:
        self._limits = limits
        self._drops = drops
        self._chunks: deque[tuple[int, int, int, int]] = deque()
        self._count = 0
        self._size = 0

    @property
    def chunk_size(self) -> int:
        """The maximum size of a chunk: an eighth of the capacity, so that a drop keeps the rest."""
        return min(max(self._limits.events // 8, 1), _MAX_CHUNK)

    def add(self, first: int, passages: Sequence[CallEvent]) -> list[tuple[int, int]]:
        """Add a chunk; return the ranges of numbers that are dropped for it."""
        returns = sum(one.is_return for one in passages)
        size = sum(len(one.text) + len(one.returned or "") for one in passages)
        self._chunks.append((first, len(passages), returns, size))
        self._count += len(passages)
        self._size += size
        dropped = []
        while self._chunks and self._limits.are_exceeded(self._count, self._size):
            start, count, returns, size = self._chunks.popleft()
            self._count -= count
            self._size -= size
            self.count_lost(start, count, returns)
            dropped.append((start, start + count - 1))
        return dropped

    def count_lost(self, first: int, count: int, returns: int) -> None:
        """Count events that could not be stored."""
        last = first + count - 1
        self._drops.add(EventKind.FUNCTION_ENTER, first, count - returns, last=last)
        self._drops.add(EventKind.FUNCTION_EXIT, first, returns, last=last)


class _RetainedNumbers:
    """Numbers and sizes of the kept events, oldest first."""

    def __init__(self) -> None:
        self.entries: deque[tuple[int, EventKind, int]] = deque()
        self.size = 0

    def add(self, seq: int, kind: EventKind, size: int) -> None:
        self.entries.append((seq, kind, size))
        self.size += size

    def drop(self) -> tuple[int, EventKind]:
        seq, kind, size = self.entries.popleft()
        self.size -= size
        return seq, kind


class RecordRetention:
    """The events other than output within the limits: traces are dropped first.

    A tenth of the capacity is reserved for traces; otherwise a session with many stops would never
    show one.
    """

    def __init__(self, limits: RetentionLimits, drops: DroppedCounts) -> None:
        self._limits = limits
        self._drops = drops
        self._traces = _RetainedNumbers()
        self._rest = _RetainedNumbers()

    def add(self, seq: int, kind: EventKind, size: int) -> list[int]:
        """Add an event of `size` bytes; return the numbers of the events dropped for it."""
        if kind in LASTING_KINDS:
            return []
        (self._traces if kind in TRACE_KINDS else self._rest).add(seq, kind, size)
        dropped = []
        while self._limits.are_exceeded(
            len(self._traces.entries) + len(self._rest.entries), self._traces.size + self._rest.size
        ):
            lost, lost_kind = self._choose_shelf().drop()
            self._drops.add(lost_kind, lost)
            dropped.append(lost)
        return dropped

    def _choose_shelf(self) -> _RetainedNumbers:
        traces = self._traces
        if not self._rest.entries:
            return traces
        is_over_share = (
            len(traces.entries) * _TRACE_SHARE > self._limits.events
            or traces.size * _TRACE_SHARE > self._limits.size
        )
        return traces if traces.entries and is_over_share else self._rest
