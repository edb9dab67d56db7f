"""Formats the result of a tried change."""

from __future__ import annotations

from debugger.model.answers import ChangedValue
from debugger.output.list_text import locals_of, output_of, source_of, worth_reading
from debugger.output.location_text import (
    IN_A_LIST,
    format_count,
    in_sentence,
    short_name,
    shorten_value,
)
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.recordings import run_text
from debugger.questions.try_change.answer import Tried

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _SOURCE, _OUTPUT, _LOCALS = range(6)
_VERDICT = 500
_SIDE = 60


def format_tried(answer: Tried, page: RenderPage) -> list[TextSection]:
    """Build the sections about a trial."""
    is_stopped = answer.state == "stopped"
    return [
        fixed_section(f"try: {shorten_value(answer.verdict, _VERDICT)}", _HEAD),
        fixed_section(_format_changed(answer), _FACTS),
        fixed_section(_format_end(answer), _FACTS),
        *([_format_source(answer, page)] if is_stopped else []),
        *_format_locals(answer, page),
        *output_of(answer.output, answer.output_total, 0, page, rank=_OUTPUT),
        fixed_section(_format_where(answer), _NOTES),
        fixed_section(_format_differs(answer), _NOTES),
        *run_text.format_notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _format_source(answer: Tried, page: RenderPage) -> TextSection:
    """Format the line of the stop, with its neighbours if nobody had named the location."""
    shown = worth_reading(answer.source)
    if answer.reached:
        shown = [one for one in shown if one.current]
    return source_of(shown, page, rank=_SOURCE, more=lambda _: "")


def _format_changed(answer: Tried) -> str:
    texts = [
        f"{short_name(one.name)}={_format_was(one.previous)}{shorten_value(one.value, _SIDE)}"
        for one in answer.assigned
    ]
    if answer.returned is not None:
        texts.append(f"return {shorten_value(answer.returned, _SIDE)}".rstrip())
    at = f" in {in_sentence(answer.tried_at)}" if answer.tried_at is not None else ""
    return f"with {', '.join(texts)}{at}" if texts else ""


def _format_was(previous: str | None) -> str:
    return f"{shorten_value(previous, _SIDE)}→" if previous is not None else ""


def _format_end(answer: Tried) -> str:
    at = f" in {in_sentence(answer.frame)}" if answer.frame is not None else ""
    if answer.exception is not None:
        kind = "signal" if answer.signal is not None else "exception"
        message = shorten_value(answer.exception.message, IN_A_LIST)
        return f"then: {kind} {short_name(answer.exception.type)}: {message}{at}"
    if answer.signal is not None:
        return f"then: signal {short_name(answer.signal)}{at}"
    if answer.state == "terminated":
        code = f" with status {answer.exit_code}" if answer.exit_code is not None else ""
        return f"then: exited{code}"
    if answer.frame is None:
        return ""
    verb = "stopped" if answer.state == "stopped" else "still ran"
    return f"then: {verb}{at}"


def _format_locals(answer: Tried, page: RenderPage) -> list[TextSection]:
    if answer.state != "stopped" or not answer.locals:
        return []
    return [locals_of(answer.locals, answer.locals_total, page, rank=_LOCALS, floor=4)]


def _format_where(answer: Tried) -> str:
    if answer.is_here:
        return "in the session itself, which is there now"
    return "tried in a second run; the session is where it was"


def _format_differs(answer: Tried) -> str:
    if not answer.differs:
        return ""
    more = answer.differs_total - len(answer.differs)
    text = ", ".join(map(_format_difference, answer.differs))
    rest = f", {format_count(more, 'more value')}" if more > 0 else ""
    return f"note: before the change the second run had other values: {text}{rest}"


def _format_difference(one: ChangedValue) -> str:
    was = shorten_value(one.previous, _SIDE) if one.previous is not None else "nothing"
    return f"{short_name(one.name)}={shorten_value(one.value, _SIDE)} (here {was})"
