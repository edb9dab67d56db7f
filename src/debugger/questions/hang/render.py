"""Formats the answer about a hang: the verdict, the location, the loop, and each thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from debugger.model.answers import SourceLine
from debugger.output.list_text import (
    format_output_line,
    leading_to,
    list_section,
    source_of,
    worth_reading,
)
from debugger.output.location_text import (
    base_name,
    format_chain,
    format_count,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.hang.answer import Hang, HangGroup, LoopView
from debugger.questions.recordings import run_text

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _LOOP, _SOURCE, _GROUPS, _OUTPUT = range(7)
_CAUSE = 500
_VALUE = 60
_STATE = 200
_LINE = 160


def format_hang(answer: Hang, page: RenderPage) -> list[TextSection]:
    """Build the sections about a hang, or about a program without one."""
    return [
        fixed_section(shorten_value(answer.cause, _CAUSE), _HEAD),
        fixed_section(_format_facts(answer), _FACTS),
        *run_text.format_location(answer.frame, page, text=answer.cause, rank=_SOURCE),
        source_of(_source_lines(answer), page, rank=_SOURCE, more=lambda _: ""),
        *(_format_loop(answer.loop) if answer.loop is not None else []),
        *_format_groups(answer),
        *_format_output(answer, page),
        *run_text.format_picture(answer.picture, rank=_HEAD),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _source_lines(answer: Hang) -> list[SourceLine]:
    """Return the source lines to show; for a loop also the sampled ones."""
    return leading_to(answer.source) if answer.loop is None else worth_reading(answer.source)


def _format_facts(answer: Hang) -> str:
    parts = []
    if answer.cpu is not None:
        parts.append(f"processor {answer.cpu:.0%} over {answer.window_s:g} s")
    if answer.samples:
        parts.append(f"{format_count(answer.samples, 'sample')} by {answer.adapter}")
    return " · ".join(parts)


def _format_loop(found: LoopView) -> list[TextSection]:
    if not found.lines:
        return []
    first, last = found.lines[0], found.lines[-1]
    text = f"{first}" if first == last else f"{first} to {last}"
    parts = [f"seen at lines {text}" if first != last else f"seen at line {text}"]
    if found.changed:
        changed = (
            f"{short_name(one.name)} {shorten_value(one.first, _VALUE)} → "
            f"{shorten_value(one.last, _VALUE)}"
            for one in found.changed
        )
        parts.append("changes: " + ", ".join(changed))
    elif found.same:  # else no value is known
        parts.append("no variable changes")
    if found.same:
        same = (f"{short_name(one.name)}={shorten_value(one.value, _VALUE)}" for one in found.same)
        parts.append("the same: " + " ".join(same))
    lines = [*_format_turns(found), f"loop: {parts[0]}", *(f"  {one}" for one in parts[1:])]
    return [list_section(lines, lambda _: "", rank=_LOOP)]


def _format_turns(found: LoopView) -> Iterator[str]:
    """Format the ways out of a loop, and its cycle with those that linked it."""
    for one in found.exits:
        if one.is_header:
            if one.text and one.values:
                yield f"goes on while {shorten_value(one.text, _LINE)}: {one.values}"
            continue
        state = f"reached in {one.reached} of {found.turns} turns, never true"
        values = f"; {one.values}" if one.values else ""
        state = state if one.reached else f"not reached in {found.turns} turns"
        yield f"ends if {shorten_value(one.text, _LINE)} (line {one.line}): {state}{values}"
    yield from _format_returns(found)
    cycle = found.cycle
    if cycle is None:
        return
    yield f"{cycle.name}: {cycle.order}, over and over, by line {cycle.line}: {cycle.statement}"
    for writer in found.writers:
        mark = "rerun" if writer.is_seen else "inferred"
        times = f" x{writer.times:,}" if writer.times > 1 else ""
        what = f"{cycle.link} set" if writer.is_seen else "a link of that name set"
        where = f"{base_name(writer.file)}:{writer.line}{times}"
        yield f"why: {what} at {where}: {shorten_value(writer.text, _LINE)} [{mark}]"


def _format_returns(found: LoopView) -> Iterator[str]:
    if found.returns:
        yield "below it, over and over, in a second run:"
    for one in found.returns:
        values = ", ".join(one.values)
        again = f" (the same {one.period} in turn)" if one.period > 1 else ""
        values = f"  [{values}{again}]" if values else ""
        where = f"{base_name(one.file)}:{one.line} in {one.function} x{one.times:,}"
        yield f"  {where}: {shorten_value(one.text, _VALUE)}{values}"


def _format_groups(answer: Hang) -> list[TextSection]:
    lines = _format_together([_format_group(one, answer.cause) for one in answer.groups])
    return [list_section(lines, lambda cut: f"… {cut} more: --budget 2000", rank=_GROUPS, floor=4)]


def _format_together(groups: Sequence[tuple[str, str]]) -> list[str]:
    """Format the threads with only a location in one line, if the location is the same."""
    texts: list[str] = []
    last = ""
    for head, place in groups:
        if place == last and place.startswith(":"):
            texts[-1] = f"{texts[-1].removesuffix(place)}, {head}{place}"
        else:
            texts.append(f"{head}{place}")
        last = place
    return texts


def _format_group(one: HangGroup, cause: str) -> tuple[str, str]:
    """Format a group's names and location."""
    names = ", ".join(short_name(name) for name in one.names)
    more = ", …" if one.count > len(one.names) else ""
    who = names if one.count == 1 else f"{one.count} {one.noun}s ({names}{more})"
    cpu = f" (processor {one.cpu:.0%})" if one.cpu is not None else ""
    at = format_chain(one.frames)
    if at and one.state and any(f"{name} {one.state}" in cause for name in (who, *one.names)):
        return f"{who}{cpu}", f": at {at}"  # what it waits for, the first line has said
    head = f"{who}{cpu}: {shorten_value(one.state, _STATE)}" if one.state else f"{who}{cpu}"
    return head, f"\n  at {at}" if at else ""


def _format_output(answer: Hang, page: RenderPage) -> list[TextSection]:
    shown = [
        f"  {shorten_value(format_output_line(one, page), _LINE)}"
        for one in answer.output
        if one.text.strip()
    ]
    if not shown:
        return []
    label = f"output: {format_count(answer.output_total, 'line')}, the last:"
    return [list_section([label, *shown], lambda _: "", rank=_OUTPUT, floor=1)]
