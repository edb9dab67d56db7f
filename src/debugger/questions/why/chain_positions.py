"""Derives what a link of a native value's chain needs from its position and the sources."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.questions.why import (
    container_items,
    frame_values,
    inner_bodies,
    native_values,
    statement_origin,
    struct_parts,
    value_lines,
)
from debugger.questions.why.answer import ChainEnd, LinkCertainty
from debugger.questions.why.native_links import LINE_ASK, literal_end
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
    """Return whether a function may have assigned to its parameter before a position's line."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line:
        return True
    body = list(lines[max(frame.first_line, 0) : frame.line - 1])
    # A loop may lead back from below.
    name = re.escape(position.expression)
    field = re.escape(field_of(position)) or r"\w+"
    pattern = re.compile(rf"(?<![\w.>]){name}\.{field}\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)")
    is_set = position.part is not None and any(pattern.search(one) for one in body)
    return is_set or statement_origin.is_reassigned(position.expression, body)


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
    """Return the end in a library: a text, a literal, the zero of a moved object or a new key."""
    event, frame = position.event, position.frame
    literal = literal_end(position)
    if literal is not None:
        return literal
    if position.value.kind == "text":
        text = f"the text was put together there: {frame.statement}, {place_of(frame)}"
        return ReachedEnd(ChainEnd.NOT_FOLLOWED, text)
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


def copied_memory(call: StatementOrigin, position: ValuePosition) -> NextStep:
    """Return the memory that `memcpy` or a function like it has copied a position's value from."""
    to, source = call.arguments[:2] if call.function != "bcopy" else call.arguments[1::-1]
    known = position.frame.vars
    if source.startswith('"'):
        text = f"the literal {source} at {place_of(position.frame)}"
        return ReachedEnd(ChainEnd.CONSTANT, text)
    into, out = known.get(to), known.get(source)
    if into is None or out is None:
        text = f"{source} could not be evaluated: {call.text}"
        return ReachedEnd(ChainEnd.NOT_FOLLOWED, text)
    shift = position.value.address - frame_values.begin_of(into)
    value = TraceValue(
        text=position.value.text,
        kind=position.value.kind,
        address=frame_values.begin_of(out) + shift,
        size=position.value.size,
        bytes=position.value.bytes,
    )
    type_ = position.value.type or "char"
    name = f"*({type_} *)((char *){source} + {shift})" if shift else f"*({type_} *){source}"
    if out.pointee == 1:
        name = f"{source}[{shift}]"
    return msgspec.structs.replace(position, expression=name, value=value)


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


class LineOrigin(Struct, frozen=True):
    """What a frame's line gives, with the statement, and the line of what it reads."""

    origin: StatementOrigin
    statement: str
    line: int


def origin_at(frame: TraceFrame, name: str) -> LineOrigin:
    """Return what a frame's line gives to a name: an arm of a `match` by its expression."""
    file, line = frame.file or "", frame.line or 0
    source = source_files.read_source(file) or ()
    lines = source if file.endswith(".rs") and source else None
    # A statement over several lines may hold several closures: the frame's line comes first.
    texts = (*source[line - 1 : line], frame.statement)
    bodies = (inner_bodies.body_of(frame.function, frame.args, one) for one in texts)
    body = next(filter(None, bodies), "")
    if body:
        is_given = bool(name) or re.search(r"\breturn\b", body) is not None
        classify = statement_origin.classify_expression
        given = statement_origin.origin_of_assignment(body, name) if is_given else classify(body)
        return LineOrigin(given, body, line)
    arm = value_lines.arm_origin(lines, line, name) if lines is not None else None
    if arm is None or lines is None:
        origin = statement_origin.origin_of_assignment(frame.statement, name)
        return LineOrigin(origin, frame.statement, line)
    return LineOrigin(arm[0], value_lines.without_comment(lines[line - 1]).strip(), arm[1])


def written_origin(position: ValuePosition) -> LineOrigin:
    """Return what a write's line gave: of several assignments none of another value."""
    frame, name = position.frame, position.expression
    given = origin_at(frame, name)
    is_operand = _is_other_operand(given.origin, position)
    if not _is_other_constant(given.origin, position) and not is_operand:
        return given
    texts = map(str.strip, re.split(r"[;{}]", given.statement))
    parts = [one for one in texts if name in one and not one.startswith("return")]
    others = [statement_origin.origin_of_assignment(one, name) for one in parts]
    fitting = [
        one
        for one in others
        if one.kind is not OriginKind.UNKNOWN
        and not _is_other_constant(one, position)
        and not _is_other_operand(one, position)
    ]
    if not fitting and is_operand:
        return given  # it may have changed since
    unknown = StatementOrigin(OriginKind.UNKNOWN, given.statement)
    return LineOrigin(fitting[-1] if fitting else unknown, given.statement, given.line)


def _is_other_operand(origin: StatementOrigin, position: ValuePosition) -> bool:
    """Return whether an origin is a variable, and the write gave another value than it has."""
    value, event = position.value, position.event
    if origin.kind is not OriginKind.OPERAND or event is None or not event.new:
        return False
    known = position.frame.vars.get(origin.text)
    if known is None or not known.bytes or known.kind not in {"int", "unsigned"}:
        return False
    return value.kind in {"int", "unsigned"} and not event.new.startswith(
        known.bytes[: value.size * 2]
    )


def _is_other_constant(origin: StatementOrigin, position: ValuePosition) -> bool:
    """Return whether an origin is a number, and the write gave another one."""
    value, new = position.value, position.event.new if position.event is not None else None
    if origin.kind is not OriginKind.CONSTANT or not new or value.kind not in {"int", "unsigned"}:
        return False
    content = native_values.number_bytes(origin.text, value.kind, value.size)
    return content is not None and len(new) >= len(content) and not new.startswith(content)


def at_subject(position: ValuePosition, line: int) -> ValuePosition:
    """Return the position at the first line of a `match`, which ran before its arm."""
    if line == position.frame.line:
        return position
    frames = list(position.frames)
    frames[position.index] = msgspec.structs.replace(position.frame, line=line)
    return msgspec.structs.replace(position, frames=tuple(frames), is_ahead=False)


def given_operand(origin: StatementOrigin, position: ValuePosition) -> StatementOrigin:
    """Return what an expression stands for at a position: of a struct's literal one item."""
    frame, part = position.frame, position.part
    known = struct_parts.known_operand(origin, frame, field_of(position))
    return struct_parts.literal_element(known, frame, part, position.value.size)


def before_change(step: NextStep, position: ValuePosition) -> NextStep:
    """Return a step to the memory that a statement has changed with the value from before."""
    old = position.event.old if position.event is not None else ""
    value = position.value
    if not isinstance(step, ValuePosition) or not old or step.value.address != value.address:
        return step
    text = native_values.format_bytes(old, value.kind) or step.value.text
    before = msgspec.structs.replace(step.value, bytes=old[: 2 * step.value.size], text=text)
    return msgspec.structs.replace(step, value=before)


def given_through(position: ValuePosition, at: int) -> ValuePosition | None:
    """Return the argument that a library's function, as `make_unique`, has handed on.

    It is the one argument of the program's own call of it that has the value.
    """
    frames = position.frames
    own = next((one for one in range(at, len(frames)) if _is_own(frames[one])), 0)
    if not own:
        return None
    frame = frames[own]
    name = frames[own - 1].function.partition("<")[0]
    call = statement_origin.call_in_statement(frame.statement, name)
    equal = [
        one
        for one in (call.arguments if call is not None else ())
        if one.strip() in frame.vars and frame.vars[one.strip()].is_equal(position.value)
    ]
    if len(equal) != 1:
        return None
    return msgspec.structs.replace(
        position, expression=equal[0].strip(), index=own, certainty=LinkCertainty.INFERRED
    )


def _is_own(frame: TraceFrame) -> bool:
    return bool(frame.file) and not frame.library


def at_text(position: ValuePosition, name: str, value: TraceValue) -> ValuePosition:
    """Return the position of the text that an array holds, or a pointer points to."""
    is_array = value.kind == "array"
    at = value.address if is_array else value.number
    text = TraceValue(text=value.text, kind="text", address=at, size=8)
    return msgspec.structs.replace(
        position, expression=name if is_array else f"*{name}", value=text
    )


def passed_whole(position: ValuePosition, target: ValuePosition) -> ValuePosition | None:
    """Return the parameter whose part a caller has written to the stack for its call.

    Args:
        position: The write, in the caller.
        target: The part, in the function that was called.
    """
    root, outer = re.split(r"\W", target.expression, maxsplit=1)[0], target.index + 1
    frame = target.frame
    is_part = (root != target.expression or target.part is not None) and root in frame.args
    if not is_part or outer >= len(target.frames) or target.value.address < frame.cfa:
        return None
    is_caller = target.frames[outer].cfa == position.frame.cfa
    return msgspec.structs.replace(target, expression=root) if is_caller else None


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


def at_optimised_out(name: str, known: TraceValue, position: ValuePosition) -> ValuePosition:
    """Return the position of a variable that is optimised out: its value is that of its user."""
    value = msgspec.structs.replace(position.value, address=0, is_register=True, type=known.type)
    return msgspec.structs.replace(
        position, expression=name, value=value, certainty=LinkCertainty.INFERRED
    )


def end_without_memory(name: str, frame: TraceFrame, *, is_constant: bool = False) -> ReachedEnd:
    """Return the end at a constant, or at a name that has no value."""
    place = place_of(frame)
    if is_constant or name.isupper():
        return ReachedEnd(ChainEnd.CONSTANT, f"{name} is a constant of the source, {place}")
    command = LINE_ASK.format(name, Path(frame.file or "?").name, frame.line)
    return ReachedEnd(ChainEnd.NOT_FOLLOWED, f"{name} could not be evaluated at {place}: {command}")


def end_of_operand(
    name: str, value: TraceValue | None, position: ValuePosition, *, is_copy: bool
) -> ReachedEnd | None:
    """Return the end at an operand without memory, or with another value than was copied from it.

    None if the operand can be followed.
    """
    place = place_of(position.frame)
    if name.startswith("&"):
        return ReachedEnd(ChainEnd.ALLOCATION, f"{name} is the address of a variable, {place}")
    if re.match(r"argv\[", name):
        return ReachedEnd(ChainEnd.INPUT, f"{name} is an argument of the command line")
    if value is None or not (value.address or value.is_register or not value.bytes):
        return end_without_memory(name, position.frame, is_constant=value is not None)
    if not is_copy or not frame_values.is_another_value(value, position.value, position.event):
        return None
    return ReachedEnd(
        ChainEnd.NOT_FOLLOWED,
        f"{name} is {value.text} at {place}, which is not what was copied from it: it has changed "
        "since, or optimised code has used another value",
        is_opaque=True,
    )
