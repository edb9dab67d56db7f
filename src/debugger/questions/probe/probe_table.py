"""Keeps some rows of a probe and summarises all of them, one hit at a time. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from debugger.model.answers import ProbeColumn, ProbeRow
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.value_summary import ValueSummary

_VALUE_MAX = 400


class ProbeCell(Struct, frozen=True):
    """What an expression gave; an error's text is one, too."""

    text: str
    is_error: bool = False


class SampledRows:
    """The first rows, the last, and a part of those between, evenly spread."""

    def __init__(self, most: int) -> None:
        self._ends = max(most // 3, 1)
        self._first: list[ProbeRow] = []
        self._middle: list[ProbeRow] = []
        self._last: deque[ProbeRow] = deque()
        self._every = 1
        self._passed = 0
        self.total = 0

    def take(self, row: ProbeRow) -> None:
        """Take a row."""
        self.total += 1
        if len(self._first) < self._ends:
            self._first.append(row)
            return
        self._last.append(row)
        if len(self._last) <= self._ends:
            return
        row = self._last.popleft()
        self._passed += 1
        if self._passed % self._every == 0:
            self._middle.append(row)
            if len(self._middle) > self._ends:
                self._middle = self._middle[1::2]
                self._every *= 2

    def rows(self) -> list[ProbeRow]:
        """Return the rows that are kept, in order."""
        return [*self._first, *self._middle, *self._last]


class _LocationRows:
    def __init__(self, expressions: Sequence[str], rows: int) -> None:
        self.columns = [ValueSummary(one) for one in expressions]
        self.kept = SampledRows(rows)
        self.examples: dict[tuple[int, str], ProbeRow] = {}  # by column, of what it sums up
        self.hits = 0
        self.is_over = False

    def rows(self) -> list[ProbeRow]:
        """Return the rows that are kept, and those that the summary names."""
        # Threads that hit it at once may be given one number.
        every = (*self.kept.rows(), *self.examples.values())
        return list({id(row): row for row in every}.values())


class ProbeTable:
    """The hits of all places; `kept_rows` are kept in all."""

    def __init__(self, wanted: Sequence[Sequence[str]], within: HitRange, *, rows: int) -> None:
        self._share = max(rows // max(len(wanted), 1), 3)
        self._places = [_LocationRows(one, self._share) for one in wanted]
        self._within = within

    def add_location(self, expressions: Sequence[str]) -> int:
        """Add a place, and return its number."""
        self._places.append(_LocationRows(expressions, self._share))
        return len(self._places) - 1

    def take_hit(
        self,
        place: int,
        cells: Sequence[ProbeCell],
        *,
        at_s: float,
        hit: int | None = None,
        thread: int | None = None,
    ) -> None:
        """Take one hit; without a number it is the next one of its place."""
        known = self._places[place]
        number = known.hits + 1 if hit is None else hit
        known.hits = max(known.hits, number)  # those of threads are not told in their order
        known.is_over = known.is_over or self._within.is_over(number, at_s)
        if not self._within.contains(number, at_s):
            return
        values = tuple(_shown_text(cell) for cell in cells)
        row = ProbeRow(place, number, round(at_s, 6), values, thread)
        for at, (column, cell) in enumerate(zip(known.columns, cells, strict=True)):
            for mark in column.add_value(number, cell.text, is_error=cell.is_error):
                known.examples[at, mark] = row
        known.kept.take(row)

    def set_hits(self, place: int, hits: int) -> None:
        """Take that a place had so many hits in all, more than were told of."""
        self._places[place].hits = max(self._places[place].hits, hits)

    @property
    def location_count(self) -> int:
        """How many places there are."""
        return len(self._places)

    def hit_count(self, place: int) -> int:
        """Return how many hits a place had."""
        return self._places[place].hits

    def row_count(self, place: int) -> int:
        """Return how many of a place's hits have rows, kept or not."""
        return self._places[place].kept.total

    def is_over(self, place: int) -> bool:
        """Tell whether no later hit of a place counts."""
        return self._places[place].is_over

    @property
    def is_all_over(self) -> bool:
        """Whether no later hit of any place counts."""
        return all(place.is_over for place in self._places)

    @property
    def ends_run(self) -> bool:
        """Whether a program that was started is ended once no later hit counts."""
        return self._within.ends_run

    @property
    def total_rows(self) -> int:
        """How many rows there were."""
        return sum(one.kept.total for one in self._places)

    def summarise_columns(self, place: int) -> tuple[ProbeColumn, ...]:
        """Sum up a place's columns."""
        return tuple(column.to_column() for column in self._places[place].columns)

    def kept_rows(self) -> tuple[ProbeRow, ...]:
        """Return the rows that are kept, of all places, in the order of time."""
        found = [row for place in self._places for row in place.rows()]
        return tuple(sorted(found, key=lambda row: (row.at_s, row.place, row.hit)))


def _shown_text(cell: ProbeCell) -> str:
    text = cell.text if len(cell.text) <= _VALUE_MAX else f"{cell.text[: _VALUE_MAX - 1]}…"
    return f"<{text}>" if cell.is_error else text
