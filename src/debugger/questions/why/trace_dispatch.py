"""Chooses how the origin of a value is found, by the program's language."""

from __future__ import annotations

from pathlib import Path

import msgspec

from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.runner.stopped_session import not_repeatable
from debugger.questions.why import (
    go_trace,
    java_trace,
    native_trace,
    node_origin,
    node_trace,
    python_trace,
    script_trace,
)
from debugger.questions.why.answer import Why
from debugger.questions.why.why_request import WhyRequest
from debugger.recorders.script import script_recorder


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
        raise not_repeatable("an attached process or a core file")
    if target.python is not None or target.module is not None:
        return await python_trace.trace_value(call, question, request)
    if question.language == "javascript":
        return await _trace_node(call, question, request)
    if question.language in script_recorder.LANGUAGES:
        return await script_trace.trace_value(call, question, request)
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
