"""Chooses how the origin of a value is found, by the program's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec

from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.location import is_test_file
from debugger.questions.runner.answer import ReachingCondition
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
    reaching_conditions,
    script_trace,
)
from debugger.questions.why.answer import REACHED_ENDS, Why, WhyLink
from debugger.questions.why.why_request import WhyRequest
from debugger.questions.why.wrapped_number import add_overflows
from debugger.recorders.script import script_recorder
from debugger.sources.deciding_condition import DecidingCondition, find_skipped
from debugger.sources.function_span import find_span


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Follow a value back, by the means of the program's language.

    Raises:
        DebuggerError: What following the value raises.
    """
    answer = add_conditions(await _trace_by_language(call, question, request))
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
        return add_overflows(await go_trace.trace_value(call, question, request))
    if question.language == "java":
        return await java_trace.trace_value(call, question, request)
    if question.language not in _COMPILED:
        raise _no_chain(question)
    return add_overflows(await native_trace.trace_value(call, question, request))


_DECIDED = 4
_ASSIGNED = re.compile(r"assigned to (\w+)$")
_PASSED = re.compile(r"passed as (\w+) to ")
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


def add_conditions(answer: Why) -> Why:
    """Return an answer with the conditions around the statement of its last link.

    They decided that a constant is used, so a chain of values ends before the cause.
    """
    last = answer.links[-1] if answer.links else None
    if last is None or last.frame is None:
        return answer
    if answer.event and _is_of_check(last.frame, answer):
        decided = tuple(_find_decisions(answer))
        return msgspec.structs.replace(answer, decided=decided)
    if answer.ended not in REACHED_ENDS:
        return answer
    # What they compared is there already, where a run has read it.
    reached = answer.reached or reaching_conditions.find_reached(last)
    return msgspec.structs.replace(answer, reached=reached)


def _is_of_check(frame: FrameView, answer: Why) -> bool:
    """Return whether a frame is that of a check or of one of its callers, or of its tests."""
    check = answer.frame
    if check is None or frame.file is None:
        return False
    stack = next((one.stack for one in answer.links if one.stack), ())
    at = next((at for at, one in enumerate(stack) if one.function == check.function), len(stack))
    places = {(one.file, one.function) for one in (check, *stack[at:])}
    files = {file for file, _ in places}
    return (frame.file, frame.function) in places or (
        frame.file in files and is_test_file(frame.file)
    )


def _find_decisions(answer: Why) -> Iterator[ReachingCondition]:
    """Yield the conditions by which the links' statements ran, or others did not, the last first.

    Those of the check and its callers do not count.
    """
    found: dict[tuple[str | None, int], tuple[bool, ReachingCondition]] = {}
    for before, link in reversed(list(pairwise((None, *answer.links)))):
        assert link is not None
        reader = before.frame if before is not None else None
        frame, every = reader, _find_skipped(link, reader)
        is_skipped = bool(every)
        if not every:
            frame, every = link.frame, reaching_conditions.find_conditions_of(link.frame)
        if frame is None or not every or _is_of_check(frame, answer):
            continue
        at = msgspec.structs.replace(frame, line=every[0].line)
        condition = ReachingCondition(at, every[0].written, every[0].is_met)
        found.setdefault((at.file, every[0].line), (not is_skipped, condition))
    # What was left out says more than what decides about most values.
    for _, condition in sorted(found.values(), key=lambda one: one[0])[:_DECIDED]:
        yield condition


def _find_skipped(link: WhyLink, reader: FrameView | None) -> list[DecidingCondition]:
    """Return the conditions by which a link's variable kept its value until a line read it."""
    place = reaching_conditions.place_of(reader)
    if link.frame is None or link.frame.line is None or place is None or reader is None:
        return []
    file, lines, line = place
    first = 0
    given = _ASSIGNED.match(link.text)
    if given is not None and (link.frame.file, link.frame.function) == (file, reader.function):
        first = link.frame.line
    elif given := _PASSED.match(link.text):
        first, _ = find_span(file, lines, line, reader.function) or (0, 0)
    if given is None or not first:
        return []
    return find_skipped(file, "\n".join(lines), given[1], range(first, line))
