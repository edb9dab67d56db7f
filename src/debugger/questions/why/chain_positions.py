"""Derives what a link of a native value's chain needs from its position and the sources."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from debugger.questions.why import (
    container_items,
    native_values,
    statement_origin,
    struct_parts,
)
from debugger.questions.why.answer import ChainEnd, LinkCertainty
from debugger.questions.why.native_steps import (
    NextStep,
    ReachedEnd,
    ReturnTarget,
    ValuePosition,
)
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.traced_run import TraceFrame, TraceValue
from debugger.session import source_files

_MOVED = re.compile(r"\bstd::move\(\s*([\w.>-]+)\s*\)")


def is_changed_parameter(position: ValuePosition) -> bool:
    """Tell whether a function may have assigned to its parameter before a position's line."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line:
        return True
    body = list(lines[max(frame.first_line, 0) : frame.line - 1])
    # A loop may lead back from below.
    return statement_origin.is_reassigned(position.expression, body)


def stored_value(position: ValuePosition) -> StatementOrigin | None:
    """Return what a statement puts into a container, if that is what was written.

    A container that grows writes its other items, too.
    """
    event, frame = position.event, position.frame
    library = event.frames[: position.index] if event is not None else ()
    if any(native_values.is_moving(one.function) for one in library):
        return None
    origin = container_items.stored_value(frame.statement)
    if origin is None or origin.kind is not OriginKind.OPERAND:
        return origin
    value = frame.vars.get(origin.text)
    return origin if value is not None and value.is_equal(position.value) else None


def end_in_library(position: ValuePosition) -> ReachedEnd | None:
    """Return the end at a zero that C++ itself has written: of a moved-from object, a new key."""
    event, frame = position.event, position.frame
    if event is None or position.value.number or not event.library_call:
        return None
    place = place_of(frame)
    if native_values.plain_call(event.library_call) == "operator[]":
        text = f"the key was not in the container: operator[] has put a zero there, at {place}"
        return ReachedEnd(ChainEnd.CONSTANT, text)
    moved = _MOVED.search(frame.statement)
    if moved is None:
        return None
    text = f"{moved[1]} was moved from at {place}: what it held is in the object that took it"
    return ReachedEnd(ChainEnd.CONSTANT, text)


def inner_call(target: ReturnTarget) -> ReturnTarget | None:
    """Return the call of the object that a library's method reads: `find(3)` of `find(3).at(2)`."""
    text = target.call.receiver if target.call is not None else ""
    call = statement_origin.classify_expression(text)
    if call.kind is not OriginKind.CALL:
        return None
    certainty = LinkCertainty.INFERRED
    return ReturnTarget(target.position, call.function, call.text, call, certainty)


def at_part(position: ValuePosition, name: str, found: TraceValue) -> ValuePosition:
    """Return the position of the part of an operand that was chosen for its equal value."""
    part = struct_parts.part_at(name, found, position.frame, position.part)
    certainty = LinkCertainty.INFERRED
    return msgspec.structs.replace(
        position, expression=name, value=found, certainty=certainty, part=part
    )


def field_of(position: ValuePosition) -> str:
    """Return the name of the field that a position's value is; "" for a whole value."""
    return position.part.field if position.part is not None else ""


def place_of(frame: TraceFrame) -> str:
    """Return a frame's file and line."""
    return f"{Path(frame.file or '?').name}:{frame.line}"


def as_inferred(step: NextStep) -> NextStep:
    """Mark the next link: of several operands this one was chosen because its value is equal."""
    if isinstance(step, ValuePosition):
        return msgspec.structs.replace(step, certainty=LinkCertainty.INFERRED)
    return step
