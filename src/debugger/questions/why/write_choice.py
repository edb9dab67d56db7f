"""Decides which write of a run made a value: one of the same call, seen or not."""

from __future__ import annotations

import re

from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.native_chain import ValuePosition
from debugger.questions.why.traced_run import TraceEvent, TraceResult


def is_unseen(result: TraceResult, key: str, event: TraceEvent | None, before: int | None) -> bool:
    """Tell whether memory changed without a write of the program: the system wrote it."""
    if before is not None and event is not None:
        return False
    now = result.final.get(key)
    was = event.new if event is not None else result.initial.get(key)
    return bool(now) and bool(was) and now != was


def is_of_frame(position: ValuePosition, event: TraceEvent, result: TraceResult) -> bool:
    """Tell whether a write of a local was made during the call that the local belongs to."""
    frame = position.frame
    if not native_values.is_local(position.expression, position.value, frame):
        return True
    if position.expression in frame.args:
        return True
    if not any(one.cfa == frame.cfa and one.function == frame.function for one in event.frames):
        return False
    entry = result.entries.get(str(frame.cfa), 0)
    return event.sequence > entry


def same_value_write(
    position: ValuePosition,
    result: TraceResult,
    event: TraceEvent | None,
    before: int | None,
) -> TraceEvent | None:
    """Return an assignment to a local that ran, and that changed nothing: no write is seen."""
    frame = position.frame
    if not native_values.is_local(position.expression, position.value, frame):
        return None
    entry = result.entries.get(str(frame.cfa), 0)
    least = max(entry, event.sequence if event is not None else 0)
    found = [
        one
        for one in result.events
        if one.key.startswith("l")
        and one.frames
        and one.frames[0].cfa == frame.cfa
        and one.sequence > least
        and (before is None or one.sequence < before)
    ]
    if not found or (event is not None and is_of_frame(position, event, result)):
        return None
    return found[-1]


def is_loop_begin(position: ValuePosition, event: TraceEvent, result: TraceResult) -> bool:
    """Tell whether a write at the line of a `for` is its first part, and no later step.

    It is the first one in its call that writes the literal of that part.
    """
    own = event.own
    head = re.match(r"for\s*\(([^;]*);", own.statement) if own is not None else None
    if own is None or head is None or event.new is None:
        return False
    origin = statement_origin.origin_of_assignment(head[1], position.expression)
    if not re.fullmatch(r"\d+", origin.text):
        return False
    entry = result.entries.get(str(own.cfa), 0)
    earlier = [
        one
        for one in result.events_of(event.key)
        if entry < one.sequence < event.sequence
        and one.own is not None
        and one.own.line == own.line
    ]
    return int.from_bytes(bytes.fromhex(event.new), "little") == int(origin.text) and not earlier


def find_last_write(result: TraceResult, key: str, before: int | None) -> TraceEvent | None:
    """Return the last change of watched memory before a moment; None is the run's end."""
    events = [one for one in result.events_of(key) if before is None or one.sequence < before]
    return events[-1] if events else None
