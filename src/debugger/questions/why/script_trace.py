"""Follows a value of Ruby or PHP back, by one run in which the program records each statement."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.text_filters import clip_text
from debugger.questions.runner import command_call
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import script_statement as statements
from debugger.questions.why.answer import Why, chain_cause
from debugger.questions.why.script_calls import is_method_call
from debugger.questions.why.script_chain import ScriptChain
from debugger.questions.why.script_refused import find_refused_call
from debugger.questions.why.why_request import WhyRequest, repeat_with, require_innermost
from debugger.recorders.recorded_process import CompletedRun, record_run, roots_of
from debugger.recorders.script.script_recorder import (
    PHP,
    ScriptOrigin,
    ScriptRecorder,
    find_roots,
    script_command,
)
from debugger.recorders.script.step_history import PassedValue, PlaceHit, StepHistory

_NO_PLACE = "{} was not reached in code of the program's own"
# Of PHP a file is recorded by the process that begins with it, and by the forks of that process.
_NO_CHILDREN = " (a PHP that it starts is not recorded)"
_METHOD = "recording each statement of its own code, {:,} of them"
_REFUSED = "{} did not begin: PHP refused its arguments"
_ERROR = 160  # characters of a program's own error
_FILE_MAX = 4 << 20  # bytes of a source


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a program, and follow the value of an expression at a location back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there, NOT_SUPPORTED for what cannot be followed.
    """
    require_innermost(request)
    launch = question.target
    assert isinstance(launch, LaunchTarget)
    began = asyncio.get_running_loop().time()
    is_result = request.is_thrown and is_method_call(request.expression)
    recorder, ran = await _record(call, question, launch, request, is_result=is_result)
    if request.is_thrown and question.language == PHP:
        found = _trace_refused(recorder.histories, request)
        if found is not None:
            took_s = round(asyncio.get_running_loop().time() - began, 1)
            return msgspec.structs.replace(found, timed_out=ran.is_timed_out, took_s=took_s)
    history, hit = find_hit(recorder.histories, request)
    if history is None or hit is None:
        is_php = question.language == PHP
        raise _not_reached(recorder.histories, request, ran, is_php=is_php)
    if hit.failure is not None:
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{request.expression} has no value at {request.place}: {hit.failure}",
            hint=repeat_with("NAME", request.place),
        )
    chain = ScriptChain(
        history,
        lru_cache(maxsize=None)(_read_lines),
        is_php=question.language == PHP,
        links_most=request.links,
    )
    known, follow = hit.value, chain.follow
    if is_result:
        known, follow = _find_result(chain, request, hit), chain.follow_result
    await asyncio.to_thread(follow, request.expression, hit.call, hit.index, known)
    value = f"{request.expression}={known.text}"
    unseen = f"{value} at {request.place}: {chain.ending or 'no write of it was seen'}"
    function, line = hit.stack[0]
    place = history.functions[function]
    return Why(
        expression=request.expression,
        place=request.place,
        cause=chain_cause(value, chain.links, unseen),
        value=known.text,
        frame=FrameView(0, place.name, place.file, line),
        links=tuple(chain.links),
        ended=chain.ended,
        ending=chain.ending,
        runs=request.runs + 1,
        method=_METHOD.format(len(history.steps)),
        timed_out=ran.is_timed_out,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=_notes(history),
    )


def _find_result(chain: ScriptChain, request: WhyRequest, hit: PlaceHit) -> PassedValue:
    result = chain.find_result(request.expression, hit.call, hit.index)
    if result is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"what {request.expression} returned at {request.place} was not recorded: no function "
            "of the program's own code",
            hint=repeat_with("NAME", request.place),
        )
    return result


def _trace_refused(histories: Sequence[StepHistory], request: WhyRequest) -> Why | None:
    """Return the origin of an argument that PHP refused; None if the function began.

    Raises:
        DebuggerError: EVALUATION_FAILED for an expression that is no parameter of the function.
    """
    at, lines_of = request.at, lru_cache(maxsize=None)(_read_lines)
    if at is None or not at.file or at.line is None:
        return None
    file = os.path.realpath(at.file)
    for history in histories:
        refused = find_refused_call(history, file, at.line, lines_of)
        if refused is None:
            continue
        name = request.expression
        if name not in refused.parameters:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{_REFUSED.format(refused.function)}, {name} is none",
                hint=repeat_with(next(iter(refused.parameters), "NAME"), request.place),
            )
        chain = ScriptChain(history, lines_of, is_php=True, links_most=request.links)
        text = chain.follow_refused(refused, name)
        value = f"{name}={text}" if text is not None else name
        return Why(
            expression=name,
            place=request.place,
            cause=chain_cause(value, chain.links, f"{value} at {request.place}"),
            value=text or "not known",
            frame=FrameView(0, refused.function, at.file, at.line),
            links=tuple(chain.links),
            ended=chain.ended,
            ending=chain.ending,
            runs=request.runs + 1,
            method=_METHOD.format(len(history.steps)),
            notes=(*_notes(history), _REFUSED.format(refused.function)),
        )
    return None


async def _record(
    call: CommandCall,
    question: QuestionRun,
    launch: LaunchTarget,
    request: WhyRequest,
    *,
    is_result: bool,
) -> tuple[ScriptRecorder, CompletedRun]:
    at = request.at
    if at is None:
        # A command finds the line of an event by a run before; a session's stop may be any of them.
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"which hit of its line {request.place} is was not counted",
            hint=f"debugger why {shlex.quote(request.expression)} --at {request.place} -- CMD",
        )
    program = str(launch.program)
    origin = ScriptOrigin(
        # A method that is called again may change the program, as that of a queue does.
        "0" if is_result else request.expression,
        file=os.path.realpath(at.file) if at.file and at.line is not None else "",
        line=at.line or 0,
        function=at.function or "",
        when=request.when,
        nth=request.nth,
    )
    roots = find_roots(roots_of((program, *launch.args), launch.cwd), program)
    recorder = ScriptRecorder.for_origin(question.language, roots, origin)
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    patience = question.patience
    ran = await record_run(
        script_command(question.language, program, launch.args, launch.env),
        recorder,
        cwd=launch.cwd,
        env=launch.env,
        stdin=await command_call.stdin_bytes(launch),
        timeout_s=patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
        shown=(program, *launch.args),
    )
    return recorder, ran


def find_hit(
    histories: Sequence[StepHistory], request: WhyRequest
) -> tuple[StepHistory | None, PlaceHit | None]:
    """Return the process that reached the location, and its requested hit."""
    if request.is_thrown:
        # Another thread or process may have come to the line, too, which did not fail there.
        thrown = ((one, hit) for one in histories for hit in one.hits[::-1])
        failed = ((one, hit) for one, hit in thrown if one.is_thrown_from(hit.call))
        if (found := next(failed, None)) is not None:
            return found
    for one in histories:
        if request.nth > 0 and one.hits:
            return one, one.hits[-1]
        if request.nth < 0 and len(one.hits) >= -request.nth:
            return one, one.hits[request.nth]
    return None, None


def _not_reached(
    histories: Sequence[StepHistory], request: WhyRequest, ran: CompletedRun, *, is_php: bool
) -> DebuggerError:
    if ran.is_timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.place} was not reached within the time, recorded",
            hint="debugger why --timeout 300 EXPR --at LOC -- CMD",
        )
    failed = next((one.condition for one in histories if one.condition), None)
    if failed is not None:
        return DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"{request.when} could not be evaluated at {request.place}: {failed}",
            hint=repeat_with(request.expression, request.place),
        )
    hits = max((len(one.hits) for one in histories), default=0)
    at = request.at
    if not hits and at is not None and at.file and at.line and _is_blank_line(at.file, at.line):
        below = _line_after(histories, os.path.realpath(at.file), at.line)
        place = f"{Path(at.file).name}:{below}" if below else f"{Path(at.file).name}:LINE"
        next_line = f"the next line with code that ran is {below}" if below else "none below it ran"
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no code at {request.place}; {next_line}",
            hint=repeat_with(request.expression, place),
        )
    times = f", only {hits:,} times" if hits else ""
    where = _NO_CHILDREN if is_php else ""
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{_NO_PLACE.format(request.location_text())}{times}{where}{_describe_end(ran)}",
        hint="debugger path -- CMD shows what ran",
    )


def _is_blank_line(file: str, line: int) -> bool:
    lines = _read_lines(os.path.realpath(file))
    return 0 < line <= len(lines) and statements.is_blank(lines[line - 1])


def _line_after(histories: Sequence[StepHistory], file: str, line: int) -> int:
    """Return the first line below one that ran; 0 if none did."""
    ran = {
        step.line
        for one in histories
        for step in one.steps
        if step.line > line and one.function_of(step.call).file == file
    }
    return min(ran, default=0)


def _describe_end(ran: CompletedRun) -> str:
    """Return what a program that failed wrote last about it."""
    lines = [one.strip() for one in ran.output_lines() if one.strip()]
    errors = [one for one in lines if re.search(r"error", one, re.IGNORECASE)]
    if not ran.status or not lines:
        return ""
    return f"; it exited with status {ran.status}: {clip_text((errors or lines)[-1], _ERROR)}"


def _notes(history: StepHistory) -> tuple[str, ...]:
    if not history.dropped:
        return ()
    return (f"only the last {len(history.steps):,} statements before it were recorded",)


def _read_lines(file: str) -> list[str]:
    try:
        with Path(file).open("rb") as source:
            return source.read(_FILE_MAX).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
