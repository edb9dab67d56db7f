"""Formats the values of expressions over a run: their summary, then the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from string import ascii_uppercase

from debugger.output.list_text import format_output_line, list_section
from debugger.output.location_text import (
    IN_A_LIST,
    file_names,
    format_count,
    in_sentence,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.probe.answer import Probe, ProbeColumn, ProbeObject, ProbePlace, ProbeRow
from debugger.questions.recordings import run_text
from debugger.questions.runner.question_run import reason_line

CELL = 60
FEW = 4  # changes so early say nothing: the first rows show them
_PAGE = 4000  # characters of a page of the usual size
_SOME = 4  # rows on it, where nothing stands out
_NOTABLE = 4  # and of those that do
_PART = 6  # one in so many of the rows is of the first, and of the last


def location_letter(answer: Probe, at: int) -> str:
    """Return a location's letter in the rows; nothing if it is the only one."""
    return ascii_uppercase[at % len(ascii_uppercase)] if len(answer.places) > 1 else ""


def is_steady(column: ProbeColumn) -> bool:
    """Return whether a column's first change is uninformative, because it comes at once."""
    return column.change is None or column.change.hit <= FEW


def is_constant(column: ProbeColumn) -> bool:
    """Return whether one value stands for all of several rows."""
    is_one = column.distinct == 1 and column.is_distinct_exact
    return is_one and column.taken > 1 and not column.failed


@dataclass(frozen=True)
class _EqualRows:
    """Consecutive rows with the same values."""

    first: ProbeRow
    last: ProbeRow
    count: int


class ProbeRows:
    """Formats the rows of an answer, without the columns that never change."""

    def __init__(self, answer: Probe, page: RenderPage) -> None:
        self._answer = answer
        self._page = page
        self._varying = [_varying_columns(place) for place in answer.places]
        self._has_threads = len({row.thread for row in answer.rows}) > 1
        self._groups = self._group_rows() if any(self._varying) else []
        self._notable = self._find_notable()

    def format_all(self) -> str | None:
        """Format all rows; None if some of them were not kept."""
        is_kept = len(self._answer.rows) == self._answer.rows_total
        return self._format_rows(len(self._groups)) if is_kept else None

    def format_some(self) -> str:
        """Format the chosen rows of many."""
        return self._format_rows(self._usual_count())

    def rows_section(self, rank: int, *, is_whole: bool) -> TextSection:
        """Build the section of the rows, of which the least informative are cut first."""
        shown = len(self._groups) if is_whole else max(self._shown_count(), 0)
        count = min(shown, len(self._groups))
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
        return self._varying[place] if place in range(len(self._varying)) else []

    def _find_notable(self) -> list[int]:
        """Find the rows with outliers, and with late changes."""
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

    def _format_rows(self, most: int) -> str:
        groups = self._groups
        # By their hits, or where there are several places, by the clock.
        is_single = len(self._answer.places) == 1
        times = [float(one.first.hit) if is_single else one.first.at_s for one in groups]
        picked = [groups[at] for at in _choose_rows(times, most, self._notable)]
        remaining = self._answer.rows_total - sum(one.count for one in picked)
        lines = (
            (self._format_table(picked) if is_single else self._format_lines(picked))
            if picked
            else []
        )
        if remaining and groups:
            lines.append(
                f"… {format_count(remaining, 'row')} left out: --rows N, --csv, --from, --to"
            )
        return "\n".join(lines)

    def _format_table(self, groups: Sequence[_EqualRows]) -> list[str]:
        """Format one location's rows; aligned for people only."""
        shown = self._shown_columns(0)
        columns = self._answer.places[0].columns
        titles = [
            "hit",
            *(["thread"] if self._has_threads else []),
            *(shorten_value(columns[at].expression, CELL) for at in shown),
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
        return [_format_hit_span(one), *thread]

    def _row_cells(self, row: ProbeRow) -> list[str]:
        return [
            shorten_value(row.values[at], CELL) if at < len(row.values) else ""
            for at in self._shown_columns(row.place)
        ]

    def _format_lines(self, groups: Sequence[_EqualRows]) -> list[str]:
        """Format the rows of several locations, each with its names."""
        drawn = []
        for one in groups:
            row = one.first
            shown = self._shown_columns(row.place)
            columns = self._answer.places[row.place].columns if shown else ()
            values = " ".join(
                f"{shorten_value(columns[at].expression, CELL)}={cell}"
                for at, cell in zip(shown, self._row_cells(row), strict=True)
            )
            is_named = self._has_threads and row.thread is not None
            thread = f" thread {row.thread}" if is_named else ""
            label = location_letter(self._answer, row.place)
            drawn.append(f"{label}{_format_hit_span(one)}{thread} {values}".rstrip())
        return drawn


def _varying_columns(place: ProbePlace) -> list[int]:
    """Return the columns of a location that vary."""
    return [
        at
        for at, one in enumerate(place.columns)
        if not one.is_never_there and not is_constant(one)
    ]


def _format_hit_span(one: _EqualRows) -> str:
    return f"{one.first.hit:,}" + (f"-{one.last.hit:,}" if one.count > 1 else "")


def _choose_rows(times: Sequence[float], most: int, notable: Sequence[int]) -> list[int]:
    """Choose rows: some from the start and from the end, more from between.

    Those between are the notable ones, and otherwise as evenly spread over the run as the kept
    ones.
    """
    total = len(times)
    if most >= total:
        return list(range(total))
    ends = max(most // _PART, 1)
    first, last = min(ends, most), min(ends, max(most - ends, 0))
    middle = most - first - last
    free = range(first, total - last)
    between = set([at for at in notable if at in free][:middle])
    spread = middle - len(between)
    start, end = times[0], times[-1]
    for at in range(spread):
        requested = start + (end - start) * (at + 1) / (spread + 1)
        free_rows = [one for one in free if one not in between]
        between.add(min(free_rows, key=lambda one: abs(times[one] - requested)))
    return sorted({*range(first), *between, *range(total - last, total)})


# What is cut last has the lowest number.
_HEAD, _NOTES, _PLACES, _COLUMNS, _ROWS, _OUTPUT = range(6)
_VALUE = 40  # characters
_SHORT = 400  # characters of rows
_NAMES = 8
_MEANS = {
    "recorder": "recorded inside Python",
    "frida": "logpoints of the Frida engine",
    "logpoints": "logpoints of {adapter}",
    "stops": "{adapter}, stopped at each hit",
    "failure": "values of the failed test",
}
_EVENTS = {"crash": "crash", "fail": "failure", "exit": "end", "hang": "hang"}
_NARROWED = 6  # changes that are narrowed
_ADDRESS = re.compile(r"(?:\([^()]*\)\s*)?0x[0-9a-f]+")
_FEW = 4  # distinct values that are all named


def format_probe(answer: Probe, page: RenderPage) -> list[TextSection]:
    """Build the sections about a probed run; none if its rows were printed."""
    if answer.csv is not None:
        return []
    rows = ProbeRows(answer, page)
    summed = [_format_columns(place, is_all=True) for place in answer.places]
    # All rows tell more than what sums them up: they do, unless they are longer, and long.
    all_rows = None if answer.shows_rows else rows.format_all()
    few = len(rows.format_some()) + sum(len(line) for lines in summed for line in lines)
    is_whole = all_rows is not None and len(all_rows) <= max(few, _SHORT)
    if is_whole:
        summed = [_format_columns(place, is_all=False) for place in answer.places]
    names = file_names(place.file or "" for place in (*answer.places, *answer.events))
    return [
        fixed_section(_format_head(answer), _HEAD),
        *[
            part
            for at, (place, lines) in enumerate(zip(answer.places, summed, strict=True))
            for part in _format_place(answer, at, place, lines, names)
        ],
        *[fixed_section(_format_event(one, names), _PLACES) for one in answer.events],
        rows.rows_section(_ROWS, is_whole=is_whole),
        fixed_section(_format_narrowing(answer), _COLUMNS),
        *_format_output(answer, page),
        *run_text.format_picture(answer.picture, rank=_HEAD),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_narrowing(answer: Probe) -> str:
    """Name what changed the values between the hits, a second run's numbers of hits being those."""
    lines = []
    for one in answer.narrowed[:_NARROWED]:
        site = f"{Path(one.frame.file or '?').name}:{one.frame.line}"
        times = f" (run {one.run:,} of {one.runs:,})" if one.runs > 1 else ""
        text = f"between hits {one.first} and {one.second}: {site} {one.statement}{times}"
        facts = [shorten_value(each, _VALUE) for each in one.operands]
        if one.source is not None:
            facts.append(f"from {Path(one.source.file or '?').name}:{one.source.line}")
        if one.called is not None:
            facts.append(f"calls {in_sentence(one.called)}")
        if not one.is_final:
            facts.append(f"then {shorten_value(one.after or '?', _VALUE)}")
        lines.append(text + (f"  [{', '.join(facts)}]" if facts else ""))
    return "\n".join(lines)


def _format_head(answer: Probe) -> str:
    hits = format_count(sum(place.hits for place in answer.places), "hit")
    only = f" ({answer.filter})" if answer.filter else ""
    return f"probe: {hits}{only}; {_format_ended(answer)} ({_format_cost(answer)})"


def _format_cost(answer: Probe) -> str:
    known = _MEANS.get(answer.means)
    means = known.format(adapter=answer.adapter) if known is not None else answer.means
    return f"{means}, {answer.took_s:.2f} s" if answer.took_s is not None else means


def _format_ended(answer: Probe) -> str:
    before = f"stopped by {shorten_value(answer.stopped, IN_A_LIST)}" if answer.stopped else ""
    where = f" in {in_sentence(answer.frame)}" if answer.frame is not None else ""
    if answer.outcome == "running" and not answer.timed_out:
        return "all hits that were asked for; it runs on"
    if answer.outcome == "running":
        waited = f" after {answer.waited_s:g} s" if answer.waited_s is not None else ""
        return f"still running{waited}{where}, a part"
    if answer.outcome in _EVENTS:
        event = _EVENTS[answer.outcome]
        return f"at the {event}: {shorten_value(answer.stopped or '', 2 * IN_A_LIST)}"
    if answer.outcome == "limit":
        most = max(place.hits for place in answer.places)
        each = " of each place" if len(answer.places) > 1 else ""
        return f"the run was ended after {format_count(most, 'hit')}{each}"
    text = run_text.format_end(answer.exit_signal, answer.exit_code)
    return f"{before}{where}; {text}" if before else text


def _format_place(
    answer: Probe, at: int, place: ProbePlace, columns: Sequence[str], names: Mapping[str, str]
) -> list[TextSection]:
    label = f"{location_letter(answer, at)} ".lstrip()
    where = f"{names[place.file]}:{place.line}" if place.file and place.line else place.asked
    is_plain = place.function is None or place.function == where
    function = "" if is_plain else f" in {short_name(place.function or '')}"
    when = f", {shorten_value(place.when, IN_A_LIST)}" if place.when is not None else ""
    hits = _format_hits(place)
    # Of one place alone the first line has said how many there were.
    is_single = len(answer.places) == 1 and hits in {f"{place.hits:,} hits", "1 hit"}
    head = f"{label}{where}{function}{when}" + ("" if is_single else f": {hits}")
    parts = [fixed_section(head, _PLACES)]
    if place.why is not None:
        parts.append(
            fixed_section(
                f"  {shorten_value(place.why, 2 * IN_A_LIST)}{_format_near(place)}", _PLACES
            )
        )
    if place.refused:
        values = "; ".join(format_column(one) for one in place.refused)
        parts.append(fixed_section(f"  there, in a second run: {values}", _PLACES))
    if place.condition_error is not None and place.hits:
        failed = format_count(place.failed_conditions, "time")
        error = shorten_value(place.condition_error, IN_A_LIST)
        parts.append(fixed_section(f"  the condition failed {failed}: {error}", _PLACES))
    parts.append(
        list_section(columns, lambda cut: f"  … {format_count(cut, 'more column')}", rank=_COLUMNS)
    )
    if place.names_in_scope:
        parts.append(
            fixed_section(f"  {in_scope(place.names_in_scope, place.near_names)}", _COLUMNS)
        )
    return parts


def _format_event(place: ProbePlace, names: Mapping[str, str]) -> str:
    """Say of an event of the filter whether it happened."""
    where = f"{names[place.file]}:{place.line}" if place.file and place.line else place.asked
    when = f" if {shorten_value(place.when, IN_A_LIST)}" if place.when is not None else ""
    head = f"--{place.event} {where}{when}"
    if place.hits:
        return f"{head}: happened"
    if place.event == "until":
        return f"{head}: never happened: {place.why or 'never hit'}; hits count to the end"
    return f"{head}: never happened, so no hit counts: {place.why or 'never hit'}"


def in_scope(names: Sequence[str], near: Sequence[str]) -> str:
    """Name the variables in scope, and the similar ones first."""
    more = " …" if len(names) > _NAMES else ""
    suggestion = f" (did you mean {', '.join(near)}?)" if near else ""
    return f"in scope there: {' '.join(names[:_NAMES])}{more}{suggestion}"


def _format_columns(place: ProbePlace, *, is_all: bool) -> list[str]:
    """Build the summaries of the columns; `is_all`: also of those whose rows are all shown."""
    return [
        f"  {format_column(one)}"
        for one in place.columns
        if one.taken and (is_all or _adds_to_rows(one))
    ]


def _adds_to_rows(column: ProbeColumn) -> bool:
    """Return whether a summary says what the rows do not."""
    is_shared = any(one.hits > 1 for one in column.objects) or column.departure is not None
    return column.is_never_there or bool(column.failed) or is_constant(column) or is_shared


def _format_hits(place: ProbePlace) -> str:
    passed = ""
    if place.passed is not None and place.passed > place.hits > 0:
        passed = f" of {place.passed:,}"
    if not place.hits:
        return "never hit"
    text = f"{place.hits:,}{passed} hits" if place.hits > 1 or passed else "1 hit"
    if place.taken < place.hits:
        return f"{text}, values of {place.taken:,}"
    return text


def _format_near(place: ProbePlace) -> str:
    # With names in scope the near names are variables.
    names = place.near_names if not place.names_in_scope else ()
    if names and not place.nearest_lines:
        again = f"debugger probe --at {quote(names[0])} EXPR -- CMD"
        return f"; there is {', '.join(names)}: {again} (or FILE:LINE)"
    choices = [*map(str, place.nearest_lines), *names]
    why = place.why or ""
    if not choices and why.startswith("no function") and "FILE:LINE" not in why:
        return "; FILE:LINE names any function by a line of it"
    return f"; nearest: {', '.join(choices)}" if choices else ""


def format_column(column: ProbeColumn) -> str:
    """Summarise the values of an expression in one line."""
    name = shorten_value(column.expression, CELL)
    if column.is_never_there:
        return f"{name}: never a value: {shorten_value(column.error or '', IN_A_LIST)}"
    parts = [_format_span(column)]
    if column.change is not None and not is_steady(column):
        change = column.change
        parts.append(
            f"first change at hit {change.hit:,}: {_format_step(change.previous, change.value)}"
        )
    if column.turn is not None:
        turn = column.turn
        parts.append(f"turns at hit {turn.hit:,}: {_format_step(turn.previous, turn.value)}")
    if column.outliers:
        far = ", ".join(
            f"{shorten_value(one.value, _VALUE)} at hit {one.hit:,}"
            + (f" ({one.count:,} times)" if one.count > 1 else "")
            for one in column.outliers
        )
        parts.append(f"stands out: {far}")
    parts += _format_objects(column)
    if column.failed:
        error = shorten_value(column.error or "", IN_A_LIST)
        parts.append(f"no value at {format_count(column.failed, 'hit')}: {error}")
    return f"{name}: {'; '.join(parts)}"


def _format_objects(column: ProbeColumn) -> Iterator[str]:
    """Tell which hits saw one object, and where an array leaves its pattern."""
    if column.are_addresses and _ADDRESS.fullmatch(column.first or ""):
        return  # the values are the addresses
    kind, kinds = ("address", "addresses") if column.are_addresses else ("object", "objects")
    total, hits = column.objects_total, sum(one.hits for one in column.objects)
    if total == 1 and hits > 1:
        yield f"one {kind} (#{column.objects[0].number})"
    elif total > 1 and all(one.hits == 1 for one in column.objects):
        yield f"{total:,} {kinds}, each at one hit"
    elif total > 1:
        shown = [_format_object(one) for one in column.objects[:_FEW]]
        more = f", {total - len(shown):,} more" if total > len(shown) else ""
        yield f"{total:,} {kinds}: {', '.join(shown)}{more}"
    if column.departure is not None:
        one = column.departure
        yield f"leaves its pattern at hit {one.hit:,}: {shorten_value(one.value, _VALUE)}"


def _format_object(one: ProbeObject) -> str:
    spans = [f"{a:,}" if a == b else f"{a:,}-{b:,}" for a, b in one.spans[:_FEW]]
    more = " …" if len(one.spans) > _FEW else ""
    return f"#{one.number} at {' '.join(spans)}{more}"


def _format_step(before: str, after: str) -> str:
    return f"{shorten_value(before, _VALUE)}→{shorten_value(after, _VALUE)}"


def _format_span(column: ProbeColumn) -> str:
    count = f"{column.distinct:,}" if column.is_distinct_exact else f"over {column.distinct:,}"
    if column.distinct == 1 and column.is_distinct_exact:
        return f"always {shorten_value(column.first or '', CELL)}"
    least, most = column.minimum, column.maximum
    if least is not None and most is not None:
        ends = f"{least.value} (hit {least.hit:,}) to {most.value} (hit {most.hit:,})"
        return f"{ends}, {count} distinct"
    some = ", ".join(
        f"{shorten_value(one.value, _VALUE)} ×{one.count:,}"  # noqa: RUF001 - a count
        for one in column.common
        if one.count > 1 or column.distinct <= _FEW
    )
    return f"{count} distinct{f': {some}' if some else ''}"


def _why_no_hits(answer: Probe) -> str:
    """Quote what a program wrote that failed before it came to any location."""
    if any(one.hits for one in answer.places) or not (answer.exit_code or answer.exit_signal):
        return ""
    reason = reason_line([one.text for one in answer.output])
    return f": {reason}" if reason else ""


def _format_output(answer: Probe, page: RenderPage) -> list[TextSection]:
    if not answer.output_total and not answer.output_dropped:
        return []
    count = format_count(answer.output_total, "line")
    lost = ", more was not kept" if answer.output_dropped else ""
    if not answer.shows_output:
        return [fixed_section(f"output: {count}{lost} (--output){_why_no_hits(answer)}", _OUTPUT)]
    lines = [
        f"  {shorten_value(format_output_line(one, page), IN_A_LIST)}" for one in answer.output
    ]
    return [
        list_section(
            [f"output: {count}{lost}", *lines],
            lambda cut: f"  … {format_count(cut, 'more line')}",
            missing=max(answer.output_total - len(lines), 0),
            rank=_OUTPUT,
        )
    ]
