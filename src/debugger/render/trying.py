"""Formats the result of a change that was tried."""

from __future__ import annotations

from debugger.core.answers import Change, Tried
from debugger.render import asked
from debugger.render.budget import Section, fixed
from debugger.render.lists import locals_of, output_of, source_of, worth_reading
from debugger.render.page import Page
from debugger.render.places import in_sentence
from debugger.render.values import IN_A_LIST, counted, short_name, shorten

# What is cut last has the lowest number.
_HEAD, _NOTES, _FACTS, _SOURCE, _OUTPUT, _LOCALS = range(6)
_VERDICT = 500
_SIDE = 60


def tried(answer: Tried, page: Page) -> list[Section]:
    """Return the parts of what is said of a trial."""
    is_stopped = answer.state == "stopped"
    return [
        fixed(f"try: {shorten(answer.verdict, _VERDICT)}", _HEAD),
        fixed(_changed(answer), _FACTS),
        fixed(_end(answer), _FACTS),
        *([_source(answer, page)] if is_stopped else []),
        *_locals(answer, page),
        *output_of(answer.output, answer.output_total, 0, page, rank=_OUTPUT),
        fixed(_where(answer), _NOTES),
        fixed(_differs(answer), _NOTES),
        *asked.notes(answer.notes, answer.evidence, rank=_NOTES),
    ]


def _source(answer: Tried, page: Page) -> Section:
    """Return the line where it stopped, with those around it where nobody had named that place."""
    shown = worth_reading(answer.source)
    if answer.reached:
        shown = [one for one in shown if one.current]
    return source_of(shown, page, rank=_SOURCE, more=lambda _: "")


def _changed(answer: Tried) -> str:
    said = [
        f"{short_name(one.name)}={_was(one.previous)}{shorten(one.value, _SIDE)}"
        for one in answer.assigned
    ]
    if answer.returned is not None:
        said.append(f"return {shorten(answer.returned, _SIDE)}".rstrip())
    at = f" in {in_sentence(answer.tried_at)}" if answer.tried_at is not None else ""
    return f"with {', '.join(said)}{at}" if said else ""


def _was(previous: str | None) -> str:
    return f"{shorten(previous, _SIDE)}→" if previous is not None else ""


def _end(answer: Tried) -> str:
    at = f" in {in_sentence(answer.frame)}" if answer.frame is not None else ""
    if answer.exception is not None:
        kind = "signal" if answer.signal is not None else "exception"
        message = shorten(answer.exception.message, IN_A_LIST)
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


def _locals(answer: Tried, page: Page) -> list[Section]:
    if answer.state != "stopped" or not answer.locals:
        return []
    return [locals_of(answer.locals, answer.locals_total, page, rank=_LOCALS, floor=4)]


def _where(answer: Tried) -> str:
    if answer.is_here:
        return "in the session itself, which is there now"
    return "tried in a second run; the session is where it was"


def _differs(answer: Tried) -> str:
    if not answer.differs:
        return ""
    more = answer.differs_total - len(answer.differs)
    said = ", ".join(map(_difference, answer.differs))
    rest = f", {counted(more, 'more value')}" if more > 0 else ""
    return f"note: before the change the second run had other values: {said}{rest}"


def _difference(one: Change) -> str:
    was = shorten(one.previous, _SIDE) if one.previous is not None else "nothing"
    return f"{short_name(one.name)}={shorten(one.value, _SIDE)} (here {was})"
