"""Formats traces, and values that were read at once."""

from __future__ import annotations

from collections.abc import Iterable

from debugger.model.answers import (
    TRACED_MAX,
    LiveReading,
    LiveReadings,
    TracedView,
    Traces,
    Value,
)
from debugger.output.budget import TextSection, fixed_section
from debugger.output.list_text import list_section
from debugger.output.page import RenderPage, width_option
from debugger.output.value_text import IN_A_LIST, format_count, short_name, shorten_value
from debugger.output.variable_text import format_value

_NAMES = 8


def format_traces(answer: Traces, _page: RenderPage) -> list[TextSection]:
    """Return the patterns, one a line, each with what came of it."""
    if not answer.traced:
        return [fixed_section("nothing is traced")]
    lines = [_format_line(one) for one in answer.traced]

    def more(cut: int) -> str:
        return f"… {format_count(cut, 'more trace')}: debugger trace list {width_option(lines)}"

    return [list_section(lines, more, rank=0)]


def _format_line(one: TracedView) -> str:
    head = "not traced" if one.id is None else f"trace {one.id}"
    said = [f"{head}: {shorten_value(one.pattern, IN_A_LIST)}"]
    if one.functions:
        count = format_count(one.functions, "function")
        names = _format_some(one.names, one.functions)
        is_itself = one.functions == 1 and one.names == (one.pattern,)
        said.append(count if is_itself or not names else f"{count} ({names})")
    else:
        why = one.why if isinstance(one.why, str) else "no function matches"
        said.append(shorten_value(why, IN_A_LIST))
    if one.left_out:
        said.append(_format_omitted(one))
    if one.sampled:
        pairs = zip(one.sampled, one.skipped, strict=False)
        hot = _format_some([f"{count:,} of {name}" for name, count in pairs], len(one.sampled))
        said.append(f"not recorded, for they were too many a second: {hot}")
    if isinstance(one.near_names, tuple) and one.near_names:
        said.append(f"near names: {_format_some(one.near_names, len(one.near_names))}")
    return ", ".join(said)


def _format_omitted(one: TracedView) -> str:
    wanted = one.functions + one.left_out
    said = f"{one.left_out:,} left out"
    return f"{said} (--limit {wanted} takes them)" if wanted <= TRACED_MAX else said


def _format_some(names: Iterable[str], total: int) -> str:
    shown = [short_name(name) for name in names][:_NAMES]
    more = total - len(shown)
    return ", ".join([*shown, *([f"… {more:,} more"] if more > 0 and shown else [])])


def format_readings(answer: LiveReadings, page: RenderPage) -> list[TextSection]:
    """Return each value with what is inside it; of those that could not be read, why."""
    sections = [section for one in answer.values for section in _format_reading(one, page)]
    return sections or [fixed_section("nothing was read")]


def _format_reading(one: LiveReading, page: RenderPage) -> list[TextSection]:
    if isinstance(one.error, str):
        return [
            fixed_section(
                f"{shorten_value(one.name, IN_A_LIST)}: {shorten_value(one.error, IN_A_LIST)}"
            )
        ]
    shown = Value(
        expression=one.name,
        value=one.value or "",
        type=one.type,
        ref=one.ref,
        children=one.children,
        children_total=one.children_total,
    )
    return format_value(shown, page)
