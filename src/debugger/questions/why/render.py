"""Formats the origin of a value: the value, then each link with its certainty."""

from __future__ import annotations

from debugger.model.answers import FrameView
from debugger.output.location_text import (
    escape_text,
    format_chain,
    format_count,
    in_sentence,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.recordings import run_text
from debugger.questions.why.answer import ChainEnd, Why, WhyLink

# What is cut last has the lowest number.
_HEAD, _NOTES, _END, _LINKS, _FACTS = range(5)
_TEXT_MAX = 1500  # characters of the whole answer
_DEFAULT_LIMIT = 4000  # of a text answer without --budget
_VALUE = 48
_STATEMENT = 100
_DETAIL = 190
_TEXT = 120
_STACK = 3  # callers shown
_LEAST_LINKS = 2
_LAST_LINKS = 2  # of those that are shown: what leads to the end, and the end


def format_why(answer: Why, page: RenderPage) -> list[TextSection]:
    """Build the sections about the origin of a value."""
    befores = (None, *answer.links[:-1])
    both = zip(answer.links, befores, strict=True) if answer.links else ()
    pairs = list(enumerate(both, 1))
    others = [
        fixed_section(_format_head(answer), _HEAD),
        fixed_section(_format_end(answer), _END),
        fixed_section(_format_facts(answer), _FACTS),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]
    used = sum(len(one.fit_text(one.count)) + 1 for one in others)
    # Only --all or a budget above the default one shows more.
    is_short = page.limit <= _DEFAULT_LIMIT and not answer.shows_all
    limit = _TEXT_MAX if is_short else page.limit
    links = [_format_link(number, one, before) for number, (one, before) in pairs]
    if sum(len(one) + 1 for one in links) > limit - used:
        # The callers of later links are left out before a link is.
        links = [
            _format_link(number, one, before, has_callers=number <= _LEAST_LINKS)
            for number, (one, before) in pairs
        ]
    return [others[0], _links_section(links, limit - used), *others[1:]]


def _links_section(links: list[str], limit: int) -> TextSection:
    """Build the section of links, of which the middle ones are cut: the ends say most."""
    for retained in range(len(links), _LEAST_LINKS, -1):
        shown = _join_links(links, retained)
        if len(shown) <= limit:
            break
    else:
        retained = min(len(links), _LEAST_LINKS)
    return TextSection(
        lambda count: _join_links(links, count), count=retained, rank=_LINKS, floor=_LEAST_LINKS
    )


def _join_links(links: list[str], count: int) -> str:
    if count >= len(links):
        return "\n".join(links)
    cut = format_count(len(links) - count, "link")
    last = min(max(count - 1, 1), _LAST_LINKS)
    return "\n".join([*links[: max(count - last, 0)], f"  … {cut}: --budget 2000", *links[-last:]])


def _format_head(answer: Why) -> str:
    value = shorten_value(answer.value, _VALUE) if answer.value is not None else "?"
    where = in_sentence(answer.frame) if answer.frame is not None else answer.place
    text = f"why: {shorten_value(answer.expression, _TEXT)} = {value} in {where}"
    if answer.frame is None:
        text = f"why: {shorten_value(answer.expression, _TEXT)} = {value} at {answer.place}"
    if answer.event:
        text += f" ({shorten_value(answer.event, _TEXT)})"
    if answer.meaning:
        text += f"\n  the value: {shorten_value(answer.meaning, _DETAIL)}"
    return text


def _format_link(
    number: int, link: WhyLink, before: WhyLink | None, *, has_callers: bool = True
) -> str:
    where = f", {in_sentence(link.frame)}" if link.frame is not None else ""
    change = _format_change(link)
    thread = f", thread {escape_text(link.thread)}" if link.thread else ""
    mark = link.certainty.value
    lines = [f"{number:>3} [{mark}] {shorten_value(link.text, _TEXT)}{where}{change}{thread}"]
    if link.statement:
        lines.append(f"      {shorten_value(link.statement, _STATEMENT)}{_format_operands(link)}")
    # The callers of the link before are there already.
    if (
        has_callers
        and link.stack
        and not (before and link.stack == before.stack[-len(link.stack) :])
    ):
        lines.append(f"      called from {format_chain(_first_frames(link.stack))}")
    lines += [f"      {shorten_value(one, _DETAIL)}" for one in link.details]
    return "\n".join(lines)


def _first_frames(frames: tuple[FrameView, ...]) -> tuple[FrameView, ...]:
    return frames[:_STACK]


def _format_change(link: WhyLink) -> str:
    if link.new is None:
        return ""
    new = shorten_value(link.new, _VALUE)
    return f": {shorten_value(link.old, _VALUE)} → {new}" if link.old is not None else f": {new}"


def _format_operands(link: WhyLink) -> str:
    texts = [
        f"{one.text}={shorten_value(one.value, _VALUE)}{' ←' * one.is_followed}"
        for one in link.operands
        if one.value is not None
    ]
    return f"  [{', '.join(texts)}]" if texts else ""


def _format_end(answer: Why) -> str:
    if answer.ending:
        return f"  end ({answer.ended.value}): {shorten_value(answer.ending, 2 * _DETAIL)}"
    return f"  end: {answer.ended.value}" if answer.ended is not ChainEnd.NOT_FOLLOWED else ""


def _format_facts(answer: Why) -> str:
    took = f" in {answer.took_s:.1f} s" if answer.took_s is not None else ""
    return f"{format_count(answer.runs, 'run')}{took}, {answer.method}" if answer.method else ""
