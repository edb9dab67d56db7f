"""Chooses how the origin of a value is found, by the program's language or by its session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointKind, BreakpointSpec
from debugger.model.events import State
from debugger.model.location import CRASH
from debugger.model.program import StopReason
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions, build_question
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import (
    go_trace,
    java_trace,
    native_trace,
    node_origin,
    node_trace,
    python_trace,
)
from debugger.questions.why.answer import Why
from debugger.questions.why.why_request import WhyRequest
from debugger.session.session import Session


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Follow a value back, by the means of the program's language.

    Raises:
        DebuggerError: What following the value raises.
    """
    answer = await _trace_by_language(call, question, request)
    return msgspec.structs.replace(answer, shows_all=request.shows_all)


async def _trace_by_language(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    target = question.target
    if isinstance(target, AttachTarget):
        raise _not_repeatable("an attached process or a core file")
    if target.python is not None or target.module is not None:
        return await python_trace.trace_value(call, question, request)
    if question.language == "javascript":
        return await _trace_node(call, question, request)
    if question.language == "go" or _is_go_source(str(target.program)):
        return await go_trace.trace_value(call, question, request)
    if question.language == "java":
        return await java_trace.trace_value(call, question, request)
    if question.language not in _COMPILED:
        raise _no_chain(question)
    return await native_trace.trace_value(call, question, request)


_COMPILED = frozenset({"c", "c++", "rust", "native", "swift", ""})


def _no_chain(question: QuestionRun) -> DebuggerError:
    """Build the error for a language in which one function at a time is followed."""
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"a value of {question.language} is not followed through several lines",
        hint="debugger calls FUNCTION -- CMD shows each line of it, with what it changed",
    )


async def _trace_node(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Follow a value by recording scripts, or else by breakpoints at the lines that may write it.

    A function's name, and what is compiled from another language, is not found in them.
    """
    found, fault = await node_origin.trace_value(call, question, request)
    if found is not None:
        return found
    answer = await node_trace.trace_value(call, question, request)
    notes = (f"its scripts could not be recorded: {fault}",) if fault else ()
    return msgspec.structs.replace(answer, notes=(*answer.notes, *notes))


def _is_go_source(program: str) -> bool:
    return program.endswith(".go") or Path(program).is_dir()


async def question_of_session(
    call: CommandCall, session: Session, *, seconds: float
) -> QuestionRun:
    """Return a question that runs the program of a session again.

    Raises:
        DebuggerError: NOT_SUPPORTED for a program that was attached to.
    """
    target = session.target
    if not isinstance(target, LaunchTarget):
        raise _not_repeatable("a process that was attached to, or a core file,")
    words = [target.python] if target.python is not None else []
    words += ["-m", target.module] if target.module is not None else [str(target.program)]
    options = QuestionOptions(verb="why", words=(*words, *target.args), timeout=seconds)
    made = await build_question(call, options)
    # Exactly as the session was started, and not with the caller's environment of now.
    stdin = target.stdin if target.stdin is not None else "/dev/null"
    return replace(made, target=replace_streams(target, stdin))


def replace_streams(target: LaunchTarget, stdin: str) -> LaunchTarget:
    """Return the target of a second run: it does not stop at its entry, and reads a file."""
    return LaunchTarget(
        program=target.program,
        cwd=target.cwd,
        env=target.env,
        args=target.args,
        module=target.module,
        stdin=stdin,
        python=target.python,
    )


def request_at_stop(session: Session, expression: str) -> WhyRequest:
    """Return the request about a value at the stop of a session.

    Raises:
        DebuggerError: WRONG_STATE if it is not stopped, NOT_SUPPORTED without a source line.
    """
    session.require_state(State.STOPPED, to="follow a value")
    selection, stop = session.selection, session.last_stop
    frame = selection.frame
    chosen = frame.index if frame is not None else 0
    if stop is not None and stop.reason in {StopReason.SIGNAL, StopReason.EXCEPTION}:
        return WhyRequest(expression=expression, place=CRASH, frame=chosen)
    hits = [
        one
        for one in session.breakpoints.user_breakpoints()
        if one.id in session.hits and one.spec.kind is not BreakpointKind.WATCHPOINT
    ]
    if hits:
        spec = hits[0].spec
        place = f"{spec.file}:{spec.line}" if spec.file is not None else str(spec.function)
        return WhyRequest(
            expression=expression,
            place=place,
            at=spec,
            nth=max(hits[0].hits, 1),
            when=spec.condition or "",
            frame=chosen,
        )
    if frame is None or frame.file is None or frame.line is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "there is no source line here to run to again",
            hint="debugger why EXPR --at FILE:LINE -- CMD",
        )
    place = f"{frame.file}:{frame.line}"
    return WhyRequest(
        expression=expression,
        place=place,
        at=BreakpointSpec(file=frame.file, line=frame.line),
        frame=0,
    )


def _not_repeatable(what: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{what} cannot be run again, and a value is followed by runs from the start",
        hint="debugger why EXPR --at LOC -- CMD",
    )
