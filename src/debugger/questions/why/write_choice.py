"""Decides which write of a run made a value: one of the same call, seen or not."""

from __future__ import annotations

import re

from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.native_chain import ValuePosition
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceResult

_STACK = 8 << 20  # bytes
_LEVELS = 24  # frames that are read of a stack


def is_unseen(result: TraceResult, key: str, event: TraceEvent | None, before: int | None) -> bool:
    """Tell whether memory changed without a write of the program: the system wrote it."""
    if before is not None and event is not None:
        return False
    now = result.final.get(key)
    was = event.new if event is not None else result.initial.get(key)
    return bool(now) and bool(was) and now != was


def owner_of(position: ValuePosition) -> TraceFrame | None:
    """Return the frame whose part of the stack holds a position's memory; None elsewhere."""
    for frame in position.frames[position.index :]:
        if frame.cfa and 0 <= frame.cfa - position.value.address < _STACK:
            return frame
    return None


def is_of_frame(position: ValuePosition, event: TraceEvent, result: TraceResult) -> bool:
    """Tell whether a write of the stack was made during the call that the memory belongs to.

    Other calls have had their frames there before. A stack that was read in part tells nothing.
    """
    owner = owner_of(position)
    if owner is None:
        return True
    is_there = any((one.cfa, one.function) == (owner.cfa, owner.function) for one in event.frames)
    if not is_there and len(event.frames) < _LEVELS:
        return False
    return event.sequence > result.entries.get(str(owner.cfa), 0)


def is_of_value(position: ValuePosition, event: TraceEvent) -> bool:
    """Tell whether a write left the value: else the memory is not that of the copied field."""
    if position.part is None or not event.new or not position.value.bytes:
        return True
    least = min(len(event.new), len(position.value.bytes))
    return event.new[:least] == position.value.bytes[:least]


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
        and _begins_with_write(one.frames[0].statement, position.expression)
        and (before is None or one.sequence < before)
    ]
    if not found or (event is not None and is_of_frame(position, event, result)):
        return None
    return found[-1]


def _begins_with_write(statement: str, expression: str) -> bool:
    """Tell whether the first part of a `for`, at which a breakpoint of its line is, writes a local.

    `for (int i = 0; i < 3; i++) list = push(list, i);` writes `list` later.
    """
    head = re.match(r"for\s*\(([^;]*);", statement)
    return head is None or re.search(rf"\b{re.escape(expression)}\s*=", head[1]) is not None


def is_loop_begin(position: ValuePosition, event: TraceEvent, result: TraceResult) -> bool:
    """Tell whether a write at the line of a `for` is its first part, and no later step.

    It is the first one in its call that writes the value of that part.
    """
    own = event.own
    head = re.match(r"for\s*\(([^;]*);", own.statement) if own is not None else None
    if own is None or head is None or event.new is None:
        return False
    origin = statement_origin.origin_of_assignment(head[1], position.expression)
    begin = own.vars.get(origin.text)
    written = int.from_bytes(bytes.fromhex(event.new), "little")
    if re.fullmatch(r"\d+", origin.text):
        is_value = written == int(origin.text)
    else:
        is_value = begin is not None and begin.number == written
    entry = result.entries.get(str(own.cfa), 0)
    earlier = [
        one
        for one in result.events_of(event.key)
        if entry < one.sequence < event.sequence
        and one.own is not None
        and one.own.line == own.line
    ]
    return is_value and not earlier


def find_last_write(result: TraceResult, key: str, before: int | None) -> TraceEvent | None:
    """Return the last change of watched memory before a moment; None is the run's end."""
    events = [one for one in result.events_of(key) if before is None or one.sequence < before]
    return events[-1] if events else None
