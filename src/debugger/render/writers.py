"""Formats who wrote a value: the last writer, and each line that wrote."""

from __future__ import annotations

from debugger.core.answers import WhoWrote, WriterView
from debugger.render import asked
from debugger.render.budget import Section, fixed
from debugger.render.lists import leading_to, listing, source_of
from debugger.render.page import Page
from debugger.render.places import chain, in_stack
from debugger.render.values import counted, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _SOURCE, _WRITERS, _FACTS = range(5)
_CAUSE = 500
_VALUE = 60


def who_wrote(answer: WhoWrote, page: Page) -> list[Section]:
    """Return the parts of what is said of who wrote a value."""
    before = [_writer(one) for one in answer.writers if not one.after]
    after = [_writer(one) for one in answer.writers if one.after]
    if before:
        before.insert(0, f"{counted(answer.writes, 'write')} before {answer.place}:")
    if after:
        after.insert(0, f"{counted(answer.later, 'write')} after it:")
    return [
        fixed(shorten(answer.cause, _CAUSE) or "who wrote it is not known", _HEAD),
        *asked.place(answer.frame, page, said=answer.cause, rank=_SOURCE),
        source_of(leading_to(answer.source), page, rank=_SOURCE, more=lambda _: ""),
        listing(before, lambda cut: f"  … {cut} more: --budget 2000", rank=_WRITERS, floor=4),
        listing(after, lambda cut: f"  … {cut} more: --budget 2000", rank=_WRITERS, floor=3),
        fixed(_facts(answer), _FACTS),
        *asked.notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _facts(answer: WhoWrote) -> str:
    return f"seen by {answer.method}" if answer.method else ""


def _writer(one: WriterView) -> str:
    mark = "->" if one.last else "  "
    number = f"#{one.first}" if one.count == 1 else f"#{one.first} to #{one.final}"
    change = _change(one.old, one.new)
    if one.count > 1:
        change = f"{one.count:,} times, {change} … {_change(one.final_old, one.final_new)}"
    by = chain([one.frame, *one.stack]).removeprefix(in_stack(one.frame))
    ways = f" (and from {counted(one.ways - 1, 'other line')})" if one.ways > 1 else ""
    return f"{mark} {number} {in_stack(one.frame)}: {change}{by}{ways}"


def _change(old: str | None, new: str | None) -> str:
    before = shorten(old, _VALUE) if old is not None else "nothing"
    now = shorten(new, _VALUE) if new is not None else "nothing"
    return f"{before} → {now}"
