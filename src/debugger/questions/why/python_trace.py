"""Follows a value of Python back to its origin, by one recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import CRASH, FAIL
from debugger.questions.runner import command_call
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why.answer import Why
from debugger.questions.why.python_chain import build_chain, decode_record
from debugger.questions.why.why_request import (
    WhyRequest,
    repeat_with,
    require_innermost,
)
from debugger.recorders.model import OriginOrder, Recording, RecordingNote, RecordingOrder
from debugger.recorders.recorded_process import record_run, require_recording, roots_of
from debugger.session import source_files

_METHOD = "recording the assignments and calls"
_NO_EVENT = {
    CRASH: ("the program did not end with an exception", "debugger why EXPR --at FILE:LINE -- CMD"),
    FAIL: (
        "no test failed in the program's own code",
        "debugger why EXPR --at crash -- CMD takes an exception",
    ),
}


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a program, and follow the value of an expression at a location back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there, NOT_SUPPORTED for what cannot be followed.
    """
    require_innermost(request)
    launch = question.target
    assert isinstance(launch, LaunchTarget)  # what is run, and not attached to
    order = _origin_order(request)
    argv = command_call.launch_argv(launch)
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    patience = question.patience
    ran = await record_run(
        argv,
        RecordingOrder(
            roots=roots_of(argv, launch.cwd),
            origin=order,
            ends_run=not order.event and order.nth > 0,
        ),
        cwd=launch.cwd,
        env=launch.env,
        stdin=await command_call.stdin_bytes(launch),
        timeout_s=patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
    )
    require_recording(ran, argv)
    for recording in ran.recordings:
        text = _note_text(recording, "origin")
        if text is None:
            continue
        record = decode_record(text)
        if record.value is None:
            raise _no_value(request, _note_text(recording, "condition"))
        answer = build_chain(
            request.expression, request.place, record, recording.threads, request.links
        )
        fault = _note_text(recording, "fault")
        return msgspec.structs.replace(
            answer,
            method=_METHOD,
            timed_out=ran.is_timed_out,
            took_s=round(ran.took_s, 1),
            notes=(f"the recorder stopped early: {fault}",) if fault else (),
        )
    faults = [text for one in ran.recordings if (text := _note_text(one, "fault"))]
    if faults:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"values could not be followed in this program: {faults[0]}",
            hint=f"debugger who-wrote '{request.expression}' --at {request.place} -- CMD",
        )
    raise _never_reached(request, ran.recordings, is_timed_out=ran.is_timed_out)


def _origin_order(request: WhyRequest) -> OriginOrder:
    """Return the order to the recorder.

    Raises:
        DebuggerError: USAGE for an expression or a condition that is not Python.
    """
    for what, text in (("expression", request.expression), ("condition", request.when)):
        try:
            if text:
                compile(text, "<why>", "eval")
        except (SyntaxError, ValueError) as error:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"the {what} {text!r} is not a Python expression: {error}",
                hint="debugger why --help",
            ) from error
    if request.event is not None:
        return OriginOrder(request.expression, event=request.event)
    at = request.at
    assert at is not None
    return OriginOrder(
        request.expression,
        file=at.file or "",
        line=at.line or 0,
        name=at.function or "",
        when=request.when,
        nth=request.nth,
    )


def _note_text(recording: Recording, kind: str) -> str | None:
    """Return the last note of a kind."""
    found = [
        one.text for one in recording.events if isinstance(one, RecordingNote) and one.kind == kind
    ]
    return found[-1] if found else None


def _no_value(request: WhyRequest, why: str | None) -> DebuggerError:
    said = f": {why}" if why else ""
    # At an event the place of the failure names the line.
    place = "FILE:LINE" if request.event is not None else request.place
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{request.expression} has no value at {request.place}{said}",
        hint=repeat_with("NAME", place),
    )


def _never_reached(
    request: WhyRequest, recordings: Sequence[Recording], *, is_timed_out: bool
) -> DebuggerError:
    if is_timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.location_text()} was not reached in time",
            hint=f"debugger why --timeout 300 {request.expression} --at {request.place} -- CMD",
        )
    if request.event is not None:
        message, hint = _NO_EVENT[request.event]
        return DebuggerError(ErrorCode.NOT_FOUND, message, hint=hint)
    hits = max((int(_note_text(one, "hits") or 0) for one in recordings), default=0)
    failed = [text for one in recordings if (text := _note_text(one, "condition"))]
    why = f": the condition could not be evaluated: {failed[0]}" if failed else ""
    if hits:
        why = f": it was reached {hits:,} time{'s' * (hits > 1)}"
    at = request.at
    if at is not None and at.file is not None and at.line is not None:
        why = why or _line_problem(at.file, at.line)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"the program ended, and {request.location_text()} was not reached{why}",
        hint=repeat_with(request.expression, request.place)
        if hits
        else "debugger path -- CMD shows what ran",
    )


def _line_problem(file: str, line: int) -> str:
    """Say why a line can never be reached; "" if it may have code."""
    if not Path(file).is_file():
        return f": there is no file {file}"
    lines = source_files.read_source(file) or ()
    if line > len(lines):
        return f": the file has {len(lines):,} lines"
    text = lines[line - 1].strip()
    return f": line {line} has no code" if not text or text.startswith("#") else ""
