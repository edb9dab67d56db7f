"""Formats traces, and values that were read at once."""

from __future__ import annotations

from collections.abc import Iterable

from debugger.core.answers import TRACED_MAX, Reading, Readings, TracedView, Traces, Value
from debugger.render.budget import Section, fixed
from debugger.render.lists import listing
from debugger.render.page import Page, wider
from debugger.render.values import IN_A_LIST, counted, short_name, shorten
from debugger.render.variables import value

_NAMES = 8


def traces(answer: Traces, _page: Page) -> list[Section]:
    """Return the patterns, one a line, each with what came of it."""
    if not answer.traced:
        return [fixed("nothing is traced")]
    lines = [_line(one) for one in answer.traced]

    def more(cut: int) -> str:
        return f"… {counted(cut, 'more trace')}: debugger trace list {wider(lines)}"

    return [listing(lines, more, rank=0)]


def _line(one: TracedView) -> str:
    head = "not traced" if one.id is None else f"trace {one.id}"
    said = [f"{head}: {shorten(one.pattern, IN_A_LIST)}"]
    if one.functions:
        count = counted(one.functions, "function")
        names = _some(one.names, one.functions)
        is_itself = one.functions == 1 and one.names == (one.pattern,)
        said.append(count if is_itself or not names else f"{count} ({names})")
    else:
        why = one.why if isinstance(one.why, str) else "no function matches"
        said.append(shorten(why, IN_A_LIST))
    if one.left_out:
        said.append(_left_out(one))
    if one.sampled:
        pairs = zip(one.sampled, one.skipped, strict=False)
        hot = _some([f"{count:,} of {name}" for name, count in pairs], len(one.sampled))
        said.append(f"not recorded, for they were too many a second: {hot}")
    if isinstance(one.near_names, tuple) and one.near_names:
        said.append(f"near names: {_some(one.near_names, len(one.near_names))}")
    return ", ".join(said)


def _left_out(one: TracedView) -> str:
    wanted = one.functions + one.left_out
    said = f"{one.left_out:,} left out"
    return f"{said} (--limit {wanted} takes them)" if wanted <= TRACED_MAX else said


def _some(names: Iterable[str], total: int) -> str:
    shown = [short_name(name) for name in names][:_NAMES]
    more = total - len(shown)
    return ", ".join([*shown, *([f"… {more:,} more"] if more > 0 and shown else [])])


def readings(answer: Readings, page: Page) -> list[Section]:
    """Return each value with what is inside it; of those that could not be read, why."""
    sections = [section for one in answer.values for section in _reading(one, page)]
    return sections or [fixed("nothing was read")]


def _reading(one: Reading, page: Page) -> list[Section]:
    if isinstance(one.error, str):
        return [fixed(f"{shorten(one.name, IN_A_LIST)}: {shorten(one.error, IN_A_LIST)}")]
    shown = Value(
        expression=one.name,
        value=one.value or "",
        type=one.type,
        ref=one.ref,
        children=one.children,
        children_total=one.children_total,
    )
    return value(shown, page)
