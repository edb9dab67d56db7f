"""Indexes traced calls by time, thread, location, kind, duration and returned number.

Each index of SQLite's costs as much time as the insert of the event itself; a block of events that
is sorted once, when the block is full, costs a tenth of that. The index is in memory and takes some
30 bytes for each stored call.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from operator import eq, ge, gt, itemgetter, le, lt, ne
from typing import NamedTuple

from debugger.session.timeline.event_rows import BLOCK, CALL_NAMES, INT64, Columns

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


Number = int | float
Span = tuple[int, int]
COLUMNS = ("kind", "thread", "place", "duration_ns", "number")
_FEW = frozenset({"kind", "thread"})
_REPEATED = frozenset({"place"})
_EXACT = range(-(2**53), 2**53 + 1)
_COMPARED: dict[str, Callable[[Number, Number], bool]] = {
    "<": lt, "<=": le, "=": eq, ">=": ge, ">": gt, "!=": ne,
}  # fmt: skip
_columns_of = itemgetter(*map(CALL_NAMES.index, COLUMNS))


class OneOf(NamedTuple):
    """The condition that a value is one of several."""

    wanted: frozenset[int]

    def matches(self, value: Number) -> bool:
        """Return whether a value is one of them."""
        return value in self.wanted

    def find_spans(self, values: Sequence[Number]) -> list[Span]:
        """Return the positions of these values among sorted ones."""
        found = []
        for one in self.wanted:
            start = bisect_left(values, one)
            if start < len(values) and values[start] == one:
                found.append((start, bisect_right(values, one, start)))
        return found


class Comparison(NamedTuple):
    """The condition that a value compares to another one, and is at most a third one."""

    operator: str
    value: Number
    most: Number | None = None

    def matches(self, value: Number) -> bool:
        """Return whether a value satisfies the comparison."""
        is_most = self.most is None or value <= self.most
        return is_most and _COMPARED[self.operator](value, self.value)

    def find_spans(self, values: Sequence[Number]) -> list[Span]:
        """Return the positions of such values among sorted ones."""
        end = len(values) if self.most is None else bisect_right(values, self.most)
        before, after = bisect_left(values, self.value), bisect_right(values, self.value)
        found: dict[str, list[Span]] = {
            "<": [(0, before)],
            "<=": [(0, after)],
            "=": [(before, after)],
            ">=": [(before, end)],
            ">": [(after, end)],
            "!=": [(0, before), (after, end)],
        }
        return [(start, min(stop, end)) for start, stop in found[self.operator] if start < stop]


ColumnTest = OneOf | Comparison


class _OpenBlock:
    """The events of a block that is not full yet, few enough to test each."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.columns: dict[str, list[Number | None]] = {name: [] for name in COLUMNS}

    @property
    def last(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    @property
    def first(self) -> int:
        return self.seqs[0] if self.seqs else 0

    def numbers(self, column: str, test: ColumnTest) -> list[int]:
        values = zip(self.seqs, self.columns[column], strict=True)
        return [seq for seq, value in values if value is not None and test.matches(value)]

    def count(self, column: str, test: ColumnTest) -> int:
        return len(self.numbers(column, test))


class _SealedBlock:
    """The events of a full block, with each column sorted."""

    def __init__(self, opened: _OpenBlock) -> None:
        self.first, self.last = opened.first, opened.last
        # Offsets fit into 16 bits (`_split_open_block`), a quarter of the size of full numbers.
        offsets = [seq - self.first for seq in opened.seqs]
        self._few = {
            name: {value: array("H", found) for value, found in grouped.items()}
            for name in _FEW
            for grouped in [_group_values(opened.columns[name], offsets)]
        }
        self._sorted = {
            name: (_sort_grouped if name in _REPEATED else _sort_column)(
                opened.columns[name], offsets
            )
            for name in COLUMNS
            if name not in _FEW
        }

    def _matching_numbers(self, column: str, test: ColumnTest) -> list[array[int]]:
        if column in _FEW:
            return [found for value, found in self._few[column].items() if test.matches(value)]
        values, offsets = self._sorted[column]
        return [offsets[start:stop] for start, stop in test.find_spans(values)]

    def numbers(self, column: str, test: ColumnTest) -> list[int]:
        found = self._matching_numbers(column, test)
        numbers = [self.first + offset for offset in chain.from_iterable(found)]
        numbers.sort()
        return numbers

    def count(self, column: str, test: ColumnTest) -> int:
        if column in _FEW:
            return sum(map(len, self._matching_numbers(column, test)))
        return sum(stop - start for start, stop in test.find_spans(self._sorted[column][0]))


def _group_values(
    column: Sequence[Number | None], offsets: Sequence[int]
) -> dict[Number, list[int]]:
    groups: defaultdict[Number | None, list[int]] = defaultdict(list)
    for value, offset in zip(column, offsets, strict=True):
        groups[value].append(offset)
    return {value: found for value, found in groups.items() if value is not None}


def _sort_column(
    column: Sequence[Number | None], offsets: Sequence[int]
) -> tuple[Sequence[Number], array[int]]:
    known = [at for at, value in enumerate(column) if value is not None]
    known.sort(key=column.__getitem__)  # type: ignore[arg-type]  # none of those is None
    values = [column[at] for at in known]
    return _pack_numbers(values), array("H", [offsets[at] for at in known])  # type: ignore[arg-type]


def _sort_grouped(
    column: Sequence[Number | None], offsets: Sequence[int]
) -> tuple[Sequence[Number], array[int]]:
    """Sort as `_sort_column` does, faster for columns with many equal values."""
    groups = _group_values(column, offsets)
    values: list[Number] = []
    found: list[int] = []
    for value in sorted(groups):
        found += groups[value]
        values += [value] * len(groups[value])
    return _pack_numbers(values), array("H", found)


def _pack_numbers(values: list[Number]) -> Sequence[Number]:
    """Return sorted values in the smallest array type that holds each exactly."""
    # Integers beyond 64 bits, and those that a double cannot hold exactly, stay in a list.
    if float not in set(map(type, values)):
        return array("q", values) if not values or _fits_width(values, INT64) else values
    integers = [one for one in values if isinstance(one, int)]
    return array("d", values) if not integers or _fits_width(integers, _EXACT) else values


def _fits_width(values: Sequence[Number], room: range) -> bool:
    return room[0] <= values[0] and values[-1] <= room[-1]


_Block = _OpenBlock | _SealedBlock


class ColumnIndex:
    """Maps call values to event numbers, in blocks of neighbours; not thread-safe."""

    def __init__(self) -> None:
        self._sealed: list[_SealedBlock] = []
        self._open = _OpenBlock()
        self.floor = 0
        """Calls up to this number are forgotten."""

    def add(self, columns: Columns) -> None:
        """Add the columns of calls that are newer than all indexed ones."""
        seqs, values_of = columns[0], _columns_of(columns)
        start = 0
        while start < len(seqs):
            opened = self._open
            end = start + BLOCK - len(opened.seqs)
            opened.seqs += seqs[start:end]
            for name, column in zip(COLUMNS, values_of, strict=True):
                opened.columns[name] += column[start:end]
            if len(opened.seqs) >= BLOCK:
                self._sealed += map(_SealedBlock, _split_open_block(opened))
                self._open = _OpenBlock()
            start = end

    def forget(self, upto: int) -> None:
        """Remove the calls up to a number."""
        self.floor = max(self.floor, upto)
        lost = 0
        while lost < len(self._sealed) and self._sealed[lost].last <= self.floor:
            lost += 1
        del self._sealed[:lost]

    def count(self, column: str, test: ColumnTest, *, since: int, before: int, most: int) -> int:
        """Return the number of matching calls between two numbers, at most `most`."""
        total, since = 0, max(since, self.floor)
        for block in self._blocks_between(since, before, is_backwards=False):
            if since < block.first and block.last < before:
                # The whole block lies between the numbers: no single event needs a look.
                total += block.count(column, test)
            else:
                total += len(_numbers_between(block.numbers(column, test), since, before))
            if total >= most:
                return most
        return total

    def numbers(
        self, column: str, test: ColumnTest, *, since: int, before: int, is_backwards: bool
    ) -> Iterator[list[int]]:
        """Yield the numbers of matching calls, ascending, block by block."""
        since = max(since, self.floor)
        for block in self._blocks_between(since, before, is_backwards=is_backwards):
            if found := _numbers_between(block.numbers(column, test), since, before):
                yield found

    def _blocks_between(self, since: int, before: int, *, is_backwards: bool) -> Iterator[_Block]:
        blocks: list[_Block] = [*self._sealed, self._open]
        for block in reversed(blocks) if is_backwards else blocks:
            if block.last > since and block.first < before:
                yield block


def _split_open_block(opened: _OpenBlock) -> Iterator[_OpenBlock]:
    """Split a block so that its numbers fit, because lost events leave gaps in them."""
    start = 0
    while start < len(opened.seqs):
        end = bisect_left(opened.seqs, opened.seqs[start] + 2**16)
        part = _OpenBlock()
        part.seqs = opened.seqs[start:end]
        part.columns = {name: values[start:end] for name, values in opened.columns.items()}
        yield part
        start = end


def _numbers_between(numbers: list[int], since: int, before: int) -> list[int]:
    start, end = bisect_right(numbers, since), bisect_left(numbers, before)
    return numbers if end - start == len(numbers) else numbers[start:end]
