"""Finds the writes of a Python value by recording one run."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import CodeType

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.recordings.source_search import check_exists, resolve_function
from debugger.questions.runner import command_call
from debugger.questions.runner.question_run import describe_end
from debugger.questions.who_wrote.answer import PassedCall, WhoWrote, build_writers_answer
from debugger.questions.who_wrote.value_writers import (
    HINT_WHEN,
    ParameterNames,
    ValueWrite,
    WriteLocation,
    WriteRequest,
)
from debugger.recorders.model import (
    FunctionPlace,
    Recording,
    RecordingLimits,
    RecordingNote,
    RecordingOrder,
    ValueWritten,
)
from debugger.recorders.python.python_branches import parse_watch
from debugger.recorders.recorded_process import (
    CompletedRun,
    record_run,
    require_recording,
    roots_of,
)
from debugger.session import source_files
from debugger.session.stepping import WaitLimit

_UNTIL = "--until is for compiled programs: of Python all writes are told, up to --limit"
_OTHER = (
    "it was {} after the last write that was seen, and {} at the place: something else wrote it, "
    "as a library's own code or a thread does"
)
_MADE = (
    "it had its value when it was first named in the program's own code: a library made the "
    "object, or code that is not recorded"
)
_HINT_PATH = "debugger path -- CMD shows what ran"
_CHANGED = re.compile(r" \(changed: [^()]*\)$")


class _PassedRecord(msgspec.Struct):
    """A call's record: the function, its parameters, and its stack, the caller first."""

    function: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    stack: tuple[tuple[str, str, int], ...]


class _ReachedRecord(msgspec.Struct):
    """The recorder's record of the location."""

    line: int = 0
    found: bool = False
    # The variable is that of a function around the one at the location.
    is_captured: bool = False
    value: str | None = None
    known: str | None = None
    cut: int = 0
    full: bool = False
    passed: _PassedRecord | None = None
    why: str = ""


async def who_wrote(
    launch: LaunchTarget, patience: WaitLimit, request: WriteRequest, *, scratch: Path
) -> WhoWrote:
    """Run a program recorded, and report the writes of the value at a location.

    Raises:
        DebuggerError: NOT_FOUND if the location is never reached, or has no such name; USAGE for an
        expression that runs code.
    """
    at = request.at
    place = FunctionPlace(name=at.function or "", file=at.file or "", line=at.line or 0)
    argv = command_call.launch_argv(launch)
    roots = roots_of(argv, launch.cwd)
    again = f"debugger who-wrote {shlex.quote(request.expression)} --at {{}} -- CMD"
    await asyncio.to_thread(check_exists, request.place, at.file, at.function, roots, again=again)
    place = await asyncio.to_thread(resolve_function, place, roots)
    watch = parse_watch(request.expression, place, hit=request.hit, when=request.when)
    ran = await record_run(
        argv,
        RecordingOrder(
            roots=roots,
            functions=(place,),
            watch=watch,
            limits=RecordingLimits(writes=request.limit),
        ),
        cwd=launch.cwd,
        env=launch.env,
        stdin=await command_call.stdin_bytes(launch),
        timeout_s=patience.seconds,
        scratch_root=scratch,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
    )
    require_recording(ran, argv)
    chosen = next((one for one in ran.recordings if _reached_record(one) is not None), None)
    if chosen is None:
        raise _never_reached(request, ran)
    reached = _reached_record(chosen)
    assert reached is not None
    if not reached.found:
        raise _not_found_error(request)
    if reached.is_captured:
        raise _captured_error(request)
    writes = _recorded_writes(chosen)
    answer = build_writers_answer(
        request.expression,
        request.place,
        reached.value,
        writes,
        passed=_passed_call(reached.passed),
    )
    notes = list(_write_notes(request, reached, writes))
    return msgspec.structs.replace(
        answer,
        method="recording the assignments, in one run",
        timed_out=ran.is_timed_out,
        took_s=round(ran.took_s, 1),
        adapter="recorder",
        notes=tuple(notes),
    )


def _not_found_error(request: WriteRequest) -> DebuggerError:
    if request.expression.isidentifier():
        return DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"there is no {request.expression} at {request.place}",
            hint=request.no_value_hint,
        )
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{request.expression} at {request.place} has no value that can be read without running "
        "the program's own code: it is not there, it is an attribute of a class, or a method "
        "makes it",
        hint=request.no_value_hint,
    )


def _captured_error(request: WriteRequest) -> DebuggerError:
    nth = f" --nth {request.hit}" if request.hit > 1 else ""
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{request.expression} at {request.place} is a variable of a function around it: which "
        "lines wrote it is not recorded",
        hint=f"debugger why {shlex.quote(request.expression)} --at {request.place}{nth} -- CMD "
        "follows it",
    )


def _reached_record(recording: Recording) -> _ReachedRecord | None:
    found = (
        one.text
        for one in recording.events
        if isinstance(one, RecordingNote) and one.kind == "reached"
    )
    text = next(found, None)
    return msgspec.json.decode(text, type=_ReachedRecord) if text is not None else None


def _passed_call(call: _PassedRecord | None) -> PassedCall | None:
    if call is None:
        return None
    stack = tuple(WriteLocation(name, file, line) for name, file, line in call.stack)
    return PassedCall(stack, call.function, ParameterNames(call.positional, call.keywords))


def _recorded_writes(recording: Recording) -> list[ValueWrite]:
    writes = []
    is_after = False
    for one in recording.events:
        if isinstance(one, RecordingNote) and one.kind == "reached":
            is_after = True
        elif isinstance(one, ValueWritten):
            stack = [recording.find_function(number) for number, _ in one.stack]
            lines = [line for _, line in one.stack]
            writes.append(
                ValueWrite(
                    stack=tuple(
                        WriteLocation(function.name, function.file, line)
                        for function, line in zip(stack, lines, strict=True)
                    ),
                    old=one.old,
                    new=one.new,
                    thread=one.thread,
                    is_after=is_after,
                )
            )
    return writes


def _write_notes(
    request: WriteRequest, reached: _ReachedRecord, writes: list[ValueWrite]
) -> list[str]:
    notes = [f"{request.expression}: {reached.why}"] if reached.why else []
    if request.until is not None:
        notes.append(_UNTIL)
    before = [one for one in writes if not one.is_after]
    if not writes and not reached.why and reached.passed is None and reached.value is not None:
        notes.append(_MADE)
    if before and _plain_value(before[-1].new) != reached.value:
        notes.append(_OTHER.format(before[-1].new, reached.value))
    if reached.cut or reached.full:
        notes.append(f"of the writes before it only the last {len(before):,} are told")
    return notes


def _plain_value(text: str | None) -> str | None:
    """Return a value without the note on a change that its text does not show."""
    return _CHANGED.sub("", text) if text is not None else None


def _never_reached(request: WriteRequest, ran: CompletedRun) -> DebuggerError:
    if ran.is_timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.condition_text} was not reached in time",
            hint="debugger who-wrote --timeout 300 …",
        )
    times = f" {request.hit} times" if request.hit > 1 else ""
    failed = [
        one.text
        for recording in ran.recordings
        for one in recording.events
        if isinstance(one, RecordingNote) and one.kind == "condition"
    ]
    why = f": the condition could not be evaluated: {failed[0]}" if failed else ""
    lines = source_files.read_source(request.at.file) if request.at.file is not None else None
    if request.at.file is not None and not Path(request.at.file).is_file():
        why = f": there is no file {request.at.file}"
    if lines is not None and request.at.line is not None and request.at.line > len(lines):
        why = f": the file has {len(lines):,} lines"
    hint = HINT_WHEN.format(request.place, request.when) if request.when else _HINT_PATH
    later = _next_with_code(lines or (), request.at.line or 0)
    if later is not None and not why:
        why = f": line {request.at.line} has no code"
        name = Path(request.at.file or "").name
        hint = f"debugger who-wrote {shlex.quote(request.expression)} --at {name}:{later} -- CMD"
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{describe_end(ran.status, ran.signal, ran.output_lines())}, and"
        f" {request.condition_text} was not reached{times}{why}",
        hint=hint,
    )


def _next_with_code(lines: Sequence[str], line: int) -> int | None:
    """Return the next line with code after one without; None if unknown."""
    try:
        blocks = [compile("\n".join(lines), "", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError):  # of another Python, or none
        return None
    for block in blocks:  # it grows while it is read
        blocks += [one for one in block.co_consts if isinstance(one, CodeType)]
    known = {at for block in blocks for _, _, at in block.co_lines() if at}
    return None if line in known else min((at for at in known if at > line), default=None)
