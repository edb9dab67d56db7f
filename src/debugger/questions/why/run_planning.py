"""Plans what a run of a traced program watches besides the memory that it is for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.native_chain import ValuePosition
from debugger.questions.why.statement_origin import OriginKind
from debugger.questions.why.traced_run import EndPlan, LinePlan, ReturnPlan, TraceFrame
from debugger.questions.why.why_request import WhyRequest
from debugger.session import source_files

_LINES_MAX = 6


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


def assigning_lines(position: ValuePosition, new_key: Callable[[str], str]) -> tuple[LinePlan, ...]:
    """Return the lines of a local's function that assign to it."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line:
        return ()
    found = [
        LinePlan(new_key("l"), f"{frame.file}:{number}")
        for number, text in enumerate(lines[: frame.line], 1)
        if number > frame.first_line and statement_origin.is_reassigned(position.expression, [text])
    ]
    return tuple(found[-_LINES_MAX:])


def assigning_line(position: ValuePosition) -> str:
    """Return the line of a function on one line that assigns to its local; "" if it does not."""
    frame = position.frame
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.file or frame.line != frame.first_line:
        return ""
    text = lines[frame.first_line - 1] if frame.first_line <= len(lines) else ""
    is_assigned = statement_origin.is_reassigned(position.expression, [text])
    return f"{Path(frame.file).name}:{frame.line}" if is_assigned else ""


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
