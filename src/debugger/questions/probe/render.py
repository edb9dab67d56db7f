"""Formats the values of expressions over a run: their summary, then the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debugger.model.answers import Probe, ProbeColumn, ProbePlace
from debugger.output import answer_parts
from debugger.output.budget import TextSection, fixed_section
from debugger.output.list_text import format_output_line, list_section
from debugger.output.location_text import file_names, in_sentence
from debugger.output.page import RenderPage
from debugger.output.value_text import IN_A_LIST, format_count, short_name, shorten_value
from debugger.questions.probe.render_rows import (
    CELL,
    ProbeRows,
    is_constant,
    is_steady,
    location_letter,
)

# What is cut last has the lowest number.
_HEAD, _NOTES, _PLACES, _COLUMNS, _ROWS, _OUTPUT = range(6)
_VALUE = 40
_SHORT = 400  # characters of rows
_NAMES = 8
_MEANS = {
    "recorder": "recorded inside Python",
    "frida": "logpoints of the Frida engine",
    "logpoints": "logpoints of {adapter}",
    "stops": "{adapter}, stopped at each hit",
}
_FEW = 4


def format_probe(answer: Probe, page: RenderPage) -> list[TextSection]:
    """Return the parts of what is said of a run with probes; none where its rows were printed."""
    if answer.csv is not None:
        return []
    rows = ProbeRows(answer, page)
    summed = [_format_columns(place, is_all=True) for place in answer.places]
    # All rows tell more than what sums them up: they do, unless they are longer, and long.
    whole = None if answer.shows_rows else rows.format_all()
    few = len(rows.format_some()) + sum(len(line) for lines in summed for line in lines)
    is_whole = whole is not None and len(whole) <= max(few, _SHORT)
    if is_whole:
        summed = [_format_columns(place, is_all=False) for place in answer.places]
    names = file_names(place.file or "" for place in answer.places)
    return [
        fixed_section(_format_head(answer), _HEAD),
        *[
            part
            for at, (place, lines) in enumerate(zip(answer.places, summed, strict=True))
            for part in _format_place(answer, at, place, lines, names)
        ],
        rows.rows_section(_ROWS, is_whole=is_whole),
        *_format_output(answer, page),
        *answer_parts.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_head(answer: Probe) -> str:
    hits = format_count(sum(place.hits for place in answer.places), "hit")
    return f"probe: {hits}; {_format_ended(answer)} ({_format_cost(answer)})"


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
    if answer.outcome == "limit":
        most = max(place.hits for place in answer.places)
        each = " of each place" if len(answer.places) > 1 else ""
        return f"the run was ended after {format_count(most, 'hit')}{each}"
    said = answer_parts.format_end(answer.exit_signal, answer.exit_code)
    return f"{before}{where}; {said}" if before else said


def _format_place(
    answer: Probe, at: int, place: ProbePlace, columns: Sequence[str], names: Mapping[str, str]
) -> list[TextSection]:
    label = f"{location_letter(answer, at)} ".lstrip()
    where = f"{names[place.file]}:{place.line}" if place.file and place.line else place.asked
    is_said = place.function is None or place.function == where
    inside = "" if is_said else f" in {short_name(place.function or '')}"
    when = f", {shorten_value(place.when, IN_A_LIST)}" if place.when is not None else ""
    hits = _format_hits(place)
    # Of one place alone the first line has said how many there were.
    is_told = len(answer.places) == 1 and hits in {f"{place.hits:,} hits", "1 hit"}
    head = f"{label}{where}{inside}{when}" + ("" if is_told else f": {hits}")
    parts = [fixed_section(head, _PLACES)]
    if place.why is not None:
        parts.append(
            fixed_section(
                f"  {shorten_value(place.why, 2 * IN_A_LIST)}{_format_near(place)}", _PLACES
            )
        )
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


def in_scope(names: Sequence[str], near: Sequence[str]) -> str:
    """Say which names there are, and which of them may have been meant."""
    more = " …" if len(names) > _NAMES else ""
    meant = f" (did you mean {', '.join(near)}?)" if near else ""
    return f"in scope there: {' '.join(names[:_NAMES])}{more}{meant}"


def _format_columns(place: ProbePlace, *, is_all: bool) -> list[str]:
    """Return what sums up each column; `is_all`: also of those whose rows are all shown."""
    return [
        f"  {_format_column(one)}"
        for one in place.columns
        if one.taken and (is_all or one.is_never_there or one.failed or is_constant(one))
    ]


def _format_hits(place: ProbePlace) -> str:
    passed = ""
    if place.passed is not None and place.when is not None and place.passed != place.hits:
        passed = f" of {place.passed:,}"
    if not place.hits:
        return "never hit"
    said = f"{place.hits:,}{passed} hits" if place.hits > 1 or passed else "1 hit"
    if place.taken < place.hits:
        return f"{said}, values of {place.taken:,}"
    return said


def _format_near(place: ProbePlace) -> str:
    choices = [*map(str, place.nearest_lines), *(place.near_names if not place.columns else ())]
    return f"; nearest: {', '.join(choices)}" if choices else ""


def _format_column(column: ProbeColumn) -> str:
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
    if column.failed:
        error = shorten_value(column.error or "", IN_A_LIST)
        parts.append(f"no value at {format_count(column.failed, 'hit')}: {error}")
    return f"{name}: {'; '.join(parts)}"


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


def _format_output(answer: Probe, page: RenderPage) -> list[TextSection]:
    if not answer.output_total and not answer.output_dropped:
        return []
    count = format_count(answer.output_total, "line")
    lost = ", more was not kept" if answer.output_dropped else ""
    if not answer.shows_output:
        return [fixed_section(f"output: {count}{lost} (--output)", _OUTPUT)]
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
