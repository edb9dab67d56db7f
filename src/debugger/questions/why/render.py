"""Formats the origin of a value: the value, then each link with its certainty."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.model.answers import FrameView
from debugger.output.location_text import (
    base_name,
    escape_text,
    format_chain,
    format_count,
    in_sentence,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.recordings import run_text
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink

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
_PLACES = 8  # of links that are left out
_HANDING_ON = frozenset({LinkKind.PASSED, LinkKind.RETURNED, LinkKind.COPIED, LinkKind.LOADED})
_FIRST_LINKS = 3
_LAST_LINKS = 2  # of those that are shown: what leads to the end, and the end


def format_why(answer: Why, page: RenderPage) -> list[TextSection]:
    """Build the sections about the origin of a value."""
    befores = (None, *answer.links[:-1])
    both = zip(answer.links, befores, strict=True) if answer.links else ()
    pairs = list(enumerate(both, 1))
    others = [
        fixed_section(_format_head(answer), _HEAD),
        fixed_section(_format_end(answer), _END),
        fixed_section(_format_reached(answer), _END),
        fixed_section(_format_decided(answer), _END),
        fixed_section(_format_facts(answer), _FACTS),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]
    used = sum(len(one.fit_text(one.count)) + 1 for one in others)
    # Only --all or a budget above the default one shows more.
    is_short = page.limit <= _DEFAULT_LIMIT and not answer.shows_all
    limit = _TEXT_MAX if is_short else page.limit
    order = _order_links(answer.links)
    links = [_format_link(number, one, before) for number, (one, before) in pairs]
    if sum(len(one) + 1 for one in links) > limit - used:
        # The callers of later links are left out before a link is.
        links = [
            _format_link(number, one, before, has_callers=number <= _LEAST_LINKS)
            for number, (one, before) in pairs
        ]
    section = _links_section(answer.links, links, order, limit - used)
    return [others[0], section, *others[1:]]


def _order_links(links: Sequence[WhyLink]) -> list[int]:
    """Return the numbers of the links, those that say most first.

    These are the first and the last ones, then those that give another value.
    """
    last = range(max(len(links) - _LAST_LINKS, 1), len(links))
    ends = list(dict.fromkeys([0, *last, *range(min(_FIRST_LINKS, len(links)))]))
    middle = [at for at in range(len(links)) if at not in ends]
    changing = [at for at in middle if not _hands_on(links[at], links[at - 1])]
    return [*ends, *changing, *(at for at in middle if at not in changing)]


def _hands_on(link: WhyLink, later: WhyLink) -> bool:
    """Return whether a link has the value of the link before it, as an argument or a result has."""
    if link.certainty is LinkCertainty.INFERRED or link.operands:
        return False
    if link.kind is LinkKind.WRITTEN:
        return link.new == later.new or later.kind in _HANDING_ON
    return link.kind in _HANDING_ON


def _links_section(
    links: Sequence[WhyLink], texts: list[str], order: list[int], limit: int
) -> TextSection:
    """Build the section of links, of which the locations of those that are cut are named."""

    def fit_text(count: int) -> str:
        return _join_links(links, texts, set(order[:count]))

    for retained in range(len(links), _LEAST_LINKS, -1):
        if len(fit_text(retained)) <= limit:
            break
    else:
        retained = min(len(links), _LEAST_LINKS)
    return TextSection(fit_text, count=retained, rank=_LINKS, floor=_LEAST_LINKS)


def _join_links(links: Sequence[WhyLink], texts: list[str], shown: set[int]) -> str:
    rows: list[str] = []
    cut: list[int] = []
    hint = ": --budget 2000"
    for at in range(len(texts) + 1):
        if at < len(texts) and at not in shown:
            cut.append(at)
            continue
        if cut:
            telling = [
                links[one] for one in cut if one and not _hands_on(links[one], links[one - 1])
            ]
            rows.append(f"  … {_format_cut([links[one] for one in cut], telling)}{hint}")
            cut, hint = [], ""
        rows += texts[at : at + 1]
    return "\n".join(rows)


def _format_cut(links: Sequence[WhyLink], telling: Sequence[WhyLink]) -> str:
    """Format links that are left out: their number and locations, of many the telling ones."""
    places = _places_of(links)
    if len(places) > _PLACES:
        places = _places_of(telling) or places
    rows: list[str] = []
    above = None
    for file, line in places[:_PLACES]:
        rows.append(f":{line}" if file == above else f"{base_name(file)}:{line}")
        above = file
    some = ", some" if len(rows) < len(_places_of(links)) else ""
    where = f"{some} at {' '.join(rows)}" if rows else ""
    return f"{format_count(len(links), 'link')}{where}"


def _places_of(links: Sequence[WhyLink]) -> list[tuple[str, int]]:
    frames = [one.frame for one in links if one.frame is not None]
    return list(dict.fromkeys((one.file, one.line or 0) for one in frames if one.file))


def _format_head(answer: Why) -> str:
    value = shorten_value(answer.value, _VALUE) if answer.value is not None else "?"
    if answer.other is not None:
        value += f", not {shorten_value(answer.other, _VALUE)},"
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
    # What the compiler or a library made has no line: its caller has.
    has_line = link.frame is None or link.frame.line
    caller = () if has_line else tuple(one for one in link.stack if one.line)[:1]
    where += f" (called from {format_chain(caller)})" if caller else ""
    lines = [f"{number:>3} [{mark}] {shorten_value(link.text, _TEXT)}{where}{change}{thread}"]
    if link.statement:
        lines.append(f"      {shorten_value(link.statement, _STATEMENT)}{_format_operands(link)}")
    # The callers of the link before are there already.
    if (
        has_callers
        and link.stack
        and not caller
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


def _format_reached(answer: Why) -> str:
    text = run_text.format_reached(answer.reached)
    return f"  the last was {text}" if text else ""


def _format_decided(answer: Why) -> str:
    text = run_text.format_conditions(answer.decided)
    return f"  on the way {text}" if text else ""


def _format_facts(answer: Why) -> str:
    took = f" in {answer.took_s:.1f} s" if answer.took_s is not None else ""
    return f"{format_count(answer.runs, 'run')}{took}, {answer.method}" if answer.method else ""
