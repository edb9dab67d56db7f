"""Formats the writes of a value: the last writer, and each line that wrote."""

from __future__ import annotations

from debugger.output.list_text import leading_to, list_section, source_of
from debugger.output.location_text import format_chain, format_count, in_stack, shorten_value
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.recordings import run_text
from debugger.questions.who_wrote.answer import WhoWrote, WriterView

# What is cut last has the lowest number.
_HEAD, _NOTES, _SOURCE, _WRITERS, _FACTS = range(5)
_CAUSE = 500
_VALUE = 60


def who_wrote(answer: WhoWrote, page: RenderPage) -> list[TextSection]:
    """Build the sections about the writes of a value."""
    before = [_format_writer(one) for one in answer.writers if not one.after]
    after = [_format_writer(one) for one in answer.writers if one.after]
    if before:
        before.insert(0, f"{format_count(answer.writes, 'write')} before {answer.place}:")
    if after:
        after.insert(0, f"{format_count(answer.later, 'write')} after it:")
    return [
        fixed_section(shorten_value(answer.cause, _CAUSE) or "who wrote it is not known", _HEAD),
        *run_text.format_location(answer.frame, page, text=answer.cause, rank=_SOURCE),
        source_of(leading_to(answer.source), page, rank=_SOURCE, more=lambda _: ""),
        list_section(before, lambda cut: f"  … {cut} more: --budget 2000", rank=_WRITERS, floor=4),
        list_section(after, lambda cut: f"  … {cut} more: --budget 2000", rank=_WRITERS, floor=3),
        fixed_section(_format_facts(answer), _FACTS),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_facts(answer: WhoWrote) -> str:
    return f"seen by {answer.method}" if answer.method else ""


def _format_writer(one: WriterView) -> str:
    mark = "->" if one.last else "  "
    number = f"#{one.first}" if one.count == 1 else f"#{one.first} to #{one.final}"
    change = _format_change(one.old, one.new)
    if one.count > 1:
        change = f"{one.count:,} times, {change} … {_format_change(one.final_old, one.final_new)}"
    by = format_chain([one.frame, *one.stack]).removeprefix(in_stack(one.frame))
    ways = f" (and from {format_count(one.ways - 1, 'other line')})" if one.ways > 1 else ""
    threads = f", by {one.threads} threads" if one.threads > 1 else ""
    return f"{mark} {number} {in_stack(one.frame)}: {change}{threads}{by}{ways}"


def _format_change(old: str | None, new: str | None) -> str:
    before = shorten_value(old, _VALUE) if old is not None else "nothing"
    now = shorten_value(new, _VALUE) if new is not None else "nothing"
    return f"{before} → {now}"
