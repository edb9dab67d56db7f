"""Finds the writes of a JavaScript value by a run in which the program records them itself."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.recordings.counted_run import JAVASCRIPT, node_roots, run_node_origin
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.who_wrote import javascript_writes
from debugger.questions.who_wrote.answer import PassedCall, WhoWrote, build_writers_answer
from debugger.questions.who_wrote.value_writers import (
    ParameterNames,
    ValueWrite,
    WriteLocation,
    WriteRequest,
)
from debugger.recorders.node.origin_run import (
    NodeOrigin,
    NodeOriginOrder,
    OriginHistory,
    OriginPlace,
)
from debugger.sources.javascript_outline import outline_file
from debugger.symbols.program_file import inspect_program

_METHOD = "its own scripts rewritten to record writes, in one run"
_OTHER = (
    "{} at {}: no write that was seen gave it this value; the last that was seen gave {}, in {}"
)
_DROPPED = "{:,} earlier writes were not kept"


async def who_wrote(
    call: CommandCall, question: QuestionRun, request: WriteRequest
) -> WhoWrote | None:
    """Run a program whose scripts record, and list the writes of a value before a location.

    Returns:
        None if the location is in no script that was rewritten, or the expression is neither a
        variable nor a property.

    Raises:
        DebuggerError: EVALUATION_FAILED for an expression without a value there, TIMEOUT.
    """
    launch, at = question.target, request.at
    is_node = (
        isinstance(launch, LaunchTarget)
        and inspect_program(str(launch.program)).language == JAVASCRIPT
    )
    is_place = at.file is not None and at.line is not None
    if not is_node or not is_place or request.frame or request.until is not None:
        return None
    assert isinstance(launch, LaunchTarget)
    began = asyncio.get_running_loop().time()
    order = NodeOriginOrder(
        node_roots(launch),
        request.expression,
        os.path.realpath(at.file or ""),
        at.line or 0,
        when=request.when,
        nth=request.hit,
        links=1,
        is_history=True,
    )
    found = await run_node_origin(call, question, launch, order)
    if found.failure is not None:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{request.expression} has no value at {request.place}: {found.failure}",
            hint=request.no_value_hint,
        )
    if not found.located or found.fault is not None or found.history is None:
        return None
    answer = _build_answer(request, found, found.history)
    took_s = asyncio.get_running_loop().time() - began
    notes = (*answer.notes, *found.notes)
    return msgspec.structs.replace(answer, took_s=round(took_s, 1), notes=notes)


def _build_answer(request: WriteRequest, found: NodeOrigin, history: OriginHistory) -> WhoWrote:
    value = found.value
    writes = [
        ValueWrite(stack=_locations((one.frame, *one.stack)), old=one.old, new=one.new)
        for one in history.writes
    ]
    answer = build_writers_answer(
        request.expression, request.place, value, writes, _find_call(request, found)
    )
    if not history.is_last:
        last = writes[-1].location
        text = f"{last.function} {Path(last.file or '').name}:{last.line}"
        cause = _OTHER.format(
            f"{request.expression}={value}", request.place, writes[-1].new or "?", text
        )
        answer = msgspec.structs.replace(answer, cause=cause)
    notes = [_DROPPED.format(history.dropped)] if history.dropped else []
    if javascript_writes.is_written_at(request):
        notes.append(javascript_writes.ITSELF.format(request.place, request.expression))
    return msgspec.structs.replace(answer, method=_METHOD, adapter="recorder", notes=tuple(notes))


def _find_call(request: WriteRequest, found: NodeOrigin) -> PassedCall | None:
    """Return the call that gave a parameter its value; None of other expressions."""
    link = next(iter(found.links), None)
    if link is None or link.kind != "passed" or found.frame is None:
        return None
    outline = outline_file(request.at.file or "")
    function = outline.innermost_function(request.at.line or 0) if outline is not None else None
    if function is None or request.expression not in function.arguments:
        return None
    return PassedCall(
        _locations((link.frame, *link.stack)),
        found.frame.function,
        ParameterNames(tuple(function.arguments)),
    )


def _locations(places: Sequence[OriginPlace]) -> tuple[WriteLocation, ...]:
    return tuple(WriteLocation(one.function, one.file, one.line) for one in places)
