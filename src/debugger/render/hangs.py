"""Formats why a program hangs: the verdict, the location, the loop, and each thread."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.core.answers import Hang, HangGroup, LoopView, SourceLine
from debugger.render import asked
from debugger.render.budget import Section, fixed
from debugger.render.lists import leading_to, listing, source_of, streamed, worth_reading
from debugger.render.page import Page
from debugger.render.places import chain
from debugger.render.values import counted, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _LOOP, _SOURCE, _GROUPS, _OUTPUT = range(7)
_CAUSE = 500
_VALUE = 60
_STATE = 200
_LINE = 160


def hang(answer: Hang, page: Page) -> list[Section]:
    """Return the parts of what is said of a program that hangs, or does not."""
    return [
        fixed(shorten(answer.cause, _CAUSE), _HEAD),
        fixed(_facts(answer), _FACTS),
        *asked.place(answer.frame, page, said=answer.cause, rank=_SOURCE),
        source_of(_source(answer), page, rank=_SOURCE, more=lambda _: ""),
        *(_loop(answer.loop) if answer.loop is not None else []),
        *_groups(answer),
        *_output(answer, page),
        *asked.notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _source(answer: Hang) -> list[SourceLine]:
    """Return the lines to read: of a loop those that it is made of, too."""
    return leading_to(answer.source) if answer.loop is None else worth_reading(answer.source)


def _facts(answer: Hang) -> str:
    parts = []
    if answer.cpu is not None:
        parts.append(f"processor {answer.cpu:.0%} over {answer.window_s:g} s")
    if answer.samples:
        parts.append(f"{counted(answer.samples, 'sample')} by {answer.adapter}")
    return " · ".join(parts)


def _loop(found: LoopView) -> list[Section]:
    if not found.lines:
        return []
    first, last = found.lines[0], found.lines[-1]
    seen = f"{first}" if first == last else f"{first} to {last}"
    parts = [f"seen at lines {seen}" if first != last else f"seen at line {seen}"]
    if found.changed:
        changed = (
            f"{short_name(one.name)} {shorten(one.first, _VALUE)} → {shorten(one.last, _VALUE)}"
            for one in found.changed
        )
        parts.append("changes: " + ", ".join(changed))
    elif found.same:  # else no value is known
        parts.append("no variable changes")
    if found.same:
        same = (f"{short_name(one.name)}={shorten(one.value, _VALUE)}" for one in found.same)
        parts.append("the same: " + " ".join(same))
    return [
        listing([f"loop: {parts[0]}", *(f"  {one}" for one in parts[1:])], lambda _: "", rank=_LOOP)
    ]


def _groups(answer: Hang) -> list[Section]:
    lines = _together([_group(one, answer.cause) for one in answer.groups])
    return [listing(lines, lambda cut: f"… {cut} more: --budget 2000", rank=_GROUPS, floor=4)]


def _together(groups: Sequence[tuple[str, str]]) -> list[str]:
    """Tell those of whom only the place is told in one line, where they are at the same."""
    said: list[str] = []
    last = ""
    for head, place in groups:
        if place == last and place.startswith(":"):
            said[-1] = f"{said[-1].removesuffix(place)}, {head}{place}"
        else:
            said.append(f"{head}{place}")
        last = place
    return said


def _group(one: HangGroup, cause: str) -> tuple[str, str]:
    """Return who is meant, and where that is."""
    names = ", ".join(short_name(name) for name in one.names)
    more = ", …" if one.count > len(one.names) else ""
    who = names if one.count == 1 else f"{one.count} {one.noun}s ({names}{more})"
    cpu = f" (processor {one.cpu:.0%})" if one.cpu is not None else ""
    at = chain(one.frames)
    if at and one.state and any(f"{name} {one.state}" in cause for name in (who, *one.names)):
        return f"{who}{cpu}", f": at {at}"  # what it waits for, the first line has said
    head = f"{who}{cpu}: {shorten(one.state, _STATE)}" if one.state else f"{who}{cpu}"
    return head, f"\n  at {at}" if at else ""


def _output(answer: Hang, page: Page) -> list[Section]:
    shown = [
        f"  {shorten(streamed(one, page), _LINE)}" for one in answer.output if one.text.strip()
    ]
    if not shown:
        return []
    label = f"output: {counted(answer.output_total, 'line')}, the last:"
    return [listing([label, *shown], lambda _: "", rank=_OUTPUT, floor=1)]
