"""Selects the rows of a probe to show, those with something new, and formats them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from debugger.model.answers import Probe, ProbeColumn, ProbePlace, ProbeRow
from debugger.output.budget import TextSection
from debugger.output.page import RenderPage
from debugger.output.value_text import format_count, shorten_value

CELL = 60
FEW = 4  # changes so early say nothing: the first rows show them
_PAGE = 4000  # characters of a page of the usual size
_SOME = 4  # rows on it, where nothing stands out
_NOTABLE = 4  # and of those that do
_PART = 6  # one in so many of the rows is of the first, and of the last


def location_letter(answer: Probe, at: int) -> str:
    """Return how a place is called in the rows; nothing where it is the only one."""
    return ascii_uppercase[at % len(ascii_uppercase)] if len(answer.places) > 1 else ""


def is_steady(column: ProbeColumn) -> bool:
    """Tell whether its first change says nothing: it comes at once."""
    return column.change is None or column.change.hit <= FEW


def is_constant(column: ProbeColumn) -> bool:
    """Tell whether one value stands for all of several rows."""
    is_one = column.distinct == 1 and column.is_distinct_exact
    return is_one and column.taken > 1 and not column.failed


@dataclass(frozen=True)
class _EqualRows:
    """Rows in succession with the same values."""

    first: ProbeRow
    last: ProbeRow
    count: int


class ProbeRows:
    """The rows of an answer; what is the same in all of them is told elsewhere."""

    def __init__(self, answer: Probe, page: RenderPage) -> None:
        self._answer = answer
        self._page = page
        self._told = [_varying_columns(place) for place in answer.places]
        self._has_threads = len({row.thread for row in answer.rows}) > 1
        self._groups = self._group_rows() if any(self._told) else []
        self._notable = self._find_notable()

    def format_all(self) -> str | None:
        """Return all rows that there were; None where some of them were not kept."""
        is_kept = len(self._answer.rows) == self._answer.rows_total
        return self._format_rows(len(self._groups)) if is_kept else None

    def format_some(self) -> str:
        """Return the rows that are shown of many."""
        return self._format_rows(self._usual_count())

    def rows_section(self, rank: int, *, is_whole: bool) -> TextSection:
        """Return the rows, of which those that tell least are cut first."""
        count = len(self._groups) if is_whole else min(self._shown_count(), len(self._groups))
        return TextSection(self._format_rows, count=count, rank=rank, floor=3)

    def _shown_count(self) -> int:
        if self._answer.shows_rows:
            return self._answer.shows_rows
        if self._page.limit > _PAGE:
            return len(self._groups)
        return self._usual_count()

    def _usual_count(self) -> int:
        return max(_SOME, 2 + min(len(self._notable), _NOTABLE))

    def _group_rows(self) -> list[_EqualRows]:
        rows, total = self._answer.rows, self._answer.rows_total
        found: list[_EqualRows] = []
        for row in rows:
            before = found[-1] if found else None
            # Of rows with others between them nobody knows whether those were the same.
            if before is not None and len(rows) == total and self._is_same(before.last, row):
                found[-1] = _EqualRows(before.first, row, before.count + 1)
            else:
                found.append(_EqualRows(row, row, 1))
        return found

    def _is_same(self, one: ProbeRow, other: ProbeRow) -> bool:
        return (one.place, one.thread) == (other.place, other.thread) and all(
            one.values[at : at + 1] == other.values[at : at + 1]
            for at in self._shown_columns(one.place)
        )

    def _shown_columns(self, place: int) -> list[int]:
        return self._told[place] if place in range(len(self._told)) else []

    def _find_notable(self) -> list[int]:
        """Find the rows of what stands out, and of changes that come late."""
        named: set[tuple[int, int]] = set()
        for at, place in enumerate(self._answer.places):
            for column in place.columns:
                named |= {(at, one.hit) for one in column.outliers}
                named |= {(at, column.turn.hit)} if column.turn is not None else set()
                change = column.change
                if change is not None and not is_steady(column):
                    named.add((at, change.hit))
        return [
            at
            for at, one in enumerate(self._groups)
            if any(
                place == one.first.place and one.first.hit <= hit <= one.last.hit
                for place, hit in named
            )
        ]

    def _format_rows(self, kept: int) -> str:
        groups = self._groups
        # By their hits, or where there are several places, by the clock.
        is_single = len(self._answer.places) == 1
        times = [float(one.first.hit) if is_single else one.first.at_s for one in groups]
        picked = [groups[at] for at in _choose_rows(times, kept, self._notable)]
        left = self._answer.rows_total - sum(one.count for one in picked)
        lines = (
            (self._format_table(picked) if is_single else self._format_lines(picked))
            if picked
            else []
        )
        if left and groups:
            lines.append(f"… {format_count(left, 'row')} left out: --rows N, --csv, --from, --to")
        return "\n".join(lines)

    def _format_table(self, groups: Sequence[_EqualRows]) -> list[str]:
        """Draw the rows of one place; aligned for people alone: blanks tell a program nothing."""
        told = self._shown_columns(0)
        columns = self._answer.places[0].columns
        titles = [
            "hit",
            *(["thread"] if self._has_threads else []),
            *(shorten_value(columns[at].expression, CELL) for at in told),
        ]
        lines = [titles, *([*self._row_head(one), *self._row_cells(one.first)] for one in groups)]
        if not self._page.is_terminal:
            return ["  ".join(line).rstrip() for line in lines]
        widths = [max(len(line[at]) for line in lines) for at in range(len(titles))]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]

    def _row_head(self, one: _EqualRows) -> list[str]:
        thread = [str(one.first.thread or "?")] if self._has_threads else []
        return [_format_hits(one), *thread]

    def _row_cells(self, row: ProbeRow) -> list[str]:
        return [
            shorten_value(row.values[at], CELL) if at < len(row.values) else ""
            for at in self._shown_columns(row.place)
        ]

    def _format_lines(self, groups: Sequence[_EqualRows]) -> list[str]:
        """Draw the rows of several places, each with its names."""
        drawn = []
        for one in groups:
            row = one.first
            told = self._shown_columns(row.place)
            columns = self._answer.places[row.place].columns if told else ()
            values = " ".join(
                f"{shorten_value(columns[at].expression, CELL)}={cell}"
                for at, cell in zip(told, self._row_cells(row), strict=True)
            )
            is_named = self._has_threads and row.thread is not None
            thread = f" thread {row.thread}" if is_named else ""
            label = location_letter(self._answer, row.place)
            drawn.append(f"{label}{_format_hits(one)}{thread} {values}".rstrip())
        return drawn


def _varying_columns(place: ProbePlace) -> list[int]:
    """Return which columns of a place have something to say in each row."""
    return [
        at
        for at, one in enumerate(place.columns)
        if not one.is_never_there and not is_constant(one)
    ]


def _format_hits(one: _EqualRows) -> str:
    return f"{one.first.hit:,}" + (f"-{one.last.hit:,}" if one.count > 1 else "")


def _choose_rows(times: Sequence[float], kept: int, notable: Sequence[int]) -> list[int]:
    """Choose so many of the rows: some from the start and from the end, more from between.

    Those between are what stands out, and else as evenly spread over the run as what was kept.
    """
    total = len(times)
    if kept >= total:
        return list(range(total))
    ends = max(kept // _PART, 1)
    first, last = min(ends, kept), min(ends, max(kept - ends, 0))
    middle = kept - first - last
    free = range(first, total - last)
    between = set([at for at in notable if at in free][:middle])
    spread = middle - len(between)
    start, end = times[0], times[-1]
    for at in range(spread):
        wanted = start + (end - start) * (at + 1) / (spread + 1)
        left = [one for one in free if one not in between]
        between.add(min(left, key=lambda one: abs(times[one] - wanted)))
    return sorted({*range(first), *between, *range(total - last, total)})
