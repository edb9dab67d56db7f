"""Plans what a run of a traced program watches besides the memory that it is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.question_run import describe_end
from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.decided_return import jump_lines
from debugger.questions.why.native_sites import NativeFunction
from debugger.questions.why.native_steps import ReturnTarget, ValuePosition
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.traced_run import (
    EndPlan,
    LinePlan,
    ReturnPlan,
    TraceFrame,
    TraceResult,
)
from debugger.questions.why.why_request import WhyRequest
from debugger.session import source_files
from debugger.sources.function_names import last_part
from debugger.sources.function_span import find_span

_LINES_MAX = 6
_JUMPS_MAX = 80
_SOURCES_SHOWN = 8
_RETURNS_SHOWN = 4
_STATEMENT_LINES = 8


def equal_memory(position: ValuePosition, watched: set[int]) -> list[tuple[int, int]]:
    """Return other memory of the stack's frames with the same value: it may be its source."""
    found: dict[int, int] = {}
    value = position.value
    for frame in position.frames[position.index :]:
        for one in frame.vars.values():
            is_new = one.address and one.address not in watched | found.keys()
            if is_new and one.kind not in {"struct", "array"} and one.is_equal(value):
                found[one.address] = one.size
    return list(found.items()) if value.number else []


def predict_returns(position: ValuePosition, new_key: Callable[[str], str]) -> list[ReturnPlan]:
    """Return the calls by which the function's source assigns to the expression."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line or not frame.cfa:
        return []
    found: dict[str, ReturnPlan] = {}
    name = re.escape(position.expression)
    for text in lines[max(frame.first_line - 1, 0) : frame.line]:
        if not re.search(rf"(?<![\w.>]){name}\s*=(?!=)", text):
            continue
        origin = statement_origin.origin_of_assignment(text, position.expression)
        if origin.kind is OriginKind.CALL and not native_values.is_input(origin.function):
            found[origin.function] = ReturnPlan(
                new_key("r"), origin.function, frame.cfa, frame.function, frame.file or ""
            )
    return list(found.values())[:3]


def entry_of(frame: TraceFrame) -> str:
    """Return the location of a function's entry: before its parameters are stored, if known."""
    # A library is not loaded yet when a run's breakpoints are set.
    is_known = frame.entry and not frame.module
    return f"*{frame.entry:#x}" if is_known else f"-function {frame.function}"


def statement_numbers(frame: TraceFrame) -> range:
    """Return the lines that the statement of a frame may have."""
    first = frame.line or 0
    lines = source_files.read_source(frame.file or "") or ()
    for number, text in enumerate(lines[max(first - 1, 0) :][:_STATEMENT_LINES], first):
        if text.split("//")[0].rstrip().endswith((";", "{", "}")):
            return range(first, number + 1)
    return range(first, first + _STATEMENT_LINES)


def search_plan(target: ReturnTarget, new_key: Callable[[str], str]) -> ReturnPlan | None:
    """Return the plan that follows the calls of a statement to the functions of the program."""
    frame = target.position.frame
    numbers = statement_numbers(frame)
    if not frame.entry or not frame.cfa:
        return None
    return ReturnPlan(
        new_key("r"),
        target.function,
        frame.cfa,
        frame.function,
        frame.file or "",
        caller_entry=frame.entry,
        calls=(numbers[0], numbers[-1]),
    )


def assigning_lines(position: ValuePosition, new_key: Callable[[str], str]) -> tuple[LinePlan, ...]:
    """Return the lines of a local's function that assign to it."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line:
        return ()
    found = [
        LinePlan(new_key("l"), f"{frame.file}:{number}")
        for number, text in enumerate(lines[: frame.line], 1)
        if number > frame.first_line and statement_origin.is_assigned(position.expression, text)
    ]
    return tuple(found[-_LINES_MAX:])


def assigning_line(position: ValuePosition) -> str:
    """Return the line behind the stop that first names a local, if it assigns to it; else ""."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.file or not frame.line or not frame.first_line:
        return ""
    name = re.compile(rf"\b{re.escape(position.expression)}\b")
    span = find_span(frame.file, lines, frame.line, frame.function)
    last = span[1] if span is not None else frame.line
    named = (at for at in range(frame.first_line, last + 1) if name.search(lines[at - 1]))
    first = next(named, 0)
    is_later = first >= frame.line and statement_origin.is_assigned(
        position.expression, lines[first - 1]
    )
    return f"{Path(frame.file).name}:{first}" if is_later else ""


def location_end(request: WhyRequest, nth: int) -> EndPlan:
    """Return the end of a run at the request's location, or at the crash."""
    if request.at is None:
        return EndPlan("crash")
    spec = request.at
    if spec.address is not None:
        location = f"*{spec.address}"
    elif spec.line is not None:
        location = f"{spec.file}:{spec.line}"
    else:
        location = f"-function {spec.function}"
    return EndPlan("location", location, nth=nth, when=request.when)


def source_lines(
    position: ValuePosition, origin: StatementOrigin, new_key: Callable[[str], str]
) -> tuple[LinePlan, ...]:
    """Return the lines of a sum's function that assign to its operands, and to what these read."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line:
        return ()
    names = statement_origin.operand_names(origin.text)
    found = statement_origin.find_sources(lines, frame.first_line, frame.line, names)
    return tuple(LinePlan(new_key("l"), f"{frame.file}:{one}") for one in found)


def jump_plans(
    functions: Iterable[NativeFunction], new_key: Callable[[str], str]
) -> list[LinePlan]:
    """Return the lines of functions that leave for a label."""
    plans: list[LinePlan] = []
    for one in functions:
        lines = source_files.read_source(one.file) or ()
        numbers = jump_lines(lines, one.head, one.last)
        plans += [LinePlan(new_key("g"), f"{one.file}:{number}") for number in numbers]
    return plans[:_JUMPS_MAX]


def last_executed(
    frame: TraceFrame, keys: Mapping[str, int], result: TraceResult | None
) -> int | None:
    """Return the line that ran last of some, in the call of a frame, as the last run shows it."""
    entry = result.entries.get(str(frame.cfa), 0) if result is not None else 0
    ran = [
        one
        for one in (result.events if result is not None else ())
        if one.key in keys
        and one.sequence > entry
        and one.frames
        and one.frames[0].cfa == frame.cfa
    ]
    found = max(ran, key=lambda one: one.sequence, default=None)
    return keys[found.key] if found is not None else None


def executed_lines(
    position: ValuePosition, lines: Sequence[LinePlan], result: TraceResult
) -> tuple[str, ...]:
    """Return the lines that ran in the position's call, the last ones, in their order."""
    frame = position.frame
    text = source_files.read_source(frame.file or "") or ()
    entry = result.entries.get(str(frame.cfa), 0)
    moments: dict[str, int] = {}
    for one in result.events:
        is_of_call = one.frames and one.frames[0].cfa == frame.cfa and one.sequence > entry
        if is_of_call and any(one.key == line.key for line in lines):
            moments[one.key] = one.sequence
    ran = sorted((one for one in lines if one.key in moments), key=lambda one: moments[one.key])
    numbers = [int(one.location.rpartition(":")[2]) for one in ran[-_SOURCES_SHOWN:]]
    name = Path(frame.file or "?").name
    return tuple(
        f"before it ran {name}:{number}: {statement_origin.short_statement(text, number)}"
        for number in numbers
    )


def returned_lines(
    position: ValuePosition, result: TraceResult, after: int, before: int | None
) -> tuple[str, ...]:
    """Return the statements by which the functions that a sum has called gave their values."""
    frame = position.frame
    found: dict[tuple[str, int | None], str] = {}
    for one in sorted(result.events, key=lambda each: each.sequence):
        is_inside = after < one.sequence and (before is None or one.sequence < before)
        callers = [each for each in one.frames[1:] if each.cfa == frame.cfa]
        if not is_inside or not one.value or not callers or callers[0].line != frame.line:
            continue
        own = one.frames[0]
        text = f"in it {last_part(own.function)} returned {Path(own.file or '?').name}:{own.line}:"
        found[own.function, own.line] = f"{text} {own.statement.removesuffix(' }')}"
    return tuple(found.values())[-_RETURNS_SHOWN:]


def location_error(request: WhyRequest, found: TraceResult) -> DebuggerError:
    """Return the error for a location that a run did not come to."""
    if found.late:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.location_text()} was not reached in time",
            hint="debugger why --timeout 300 …",
        )
    if request.at is None:
        ended = f"it exited with status {found.exit_code or 0}"
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"the program did not crash: {ended}",
            hint="debugger why EXPR --at FILE:LINE -- CMD",
        )
    hits = f": {found.hits:,} hits" if found.hits else ""
    why = f": {found.condition_error}" if found.condition_error else hits
    ended = describe_end(found.exit_code, found.signal)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{ended}, and {request.location_text()} was not reached{why}",
        hint="debugger why EXPR --at crash -- CMD"
        if found.signal
        else "debugger path -- CMD shows what ran",
    )


def operand_hint(request: WhyRequest, survey: TraceResult) -> str:
    """Return the command for the pointer of an expression that could not be followed."""
    known = [name for name, one in survey.operands.items() if one is not None]
    if not known:
        return f"debugger why NAME --at {request.place} -- CMD: a name that is known there"
    return f"debugger why '{max(known, key=len)}' --at {request.place} -- CMD"
