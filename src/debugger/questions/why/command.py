"""Defines the command that follows a value back to its origin."""

from __future__ import annotations

from typing import Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.location import CRASH, EVENTS, FAIL
from debugger.questions.locations.event_location import count_hits, locate_event
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.evidence_store import files_of
from debugger.questions.runner.question_arguments import (
    GROUP,
    Adapter,
    Cwd,
    Env,
    QuestionOptions,
    Stdin,
    Timeout,
    Words,
    build_question,
    keep_evidence,
)
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import trace_dispatch
from debugger.questions.why.answer import Why
from debugger.questions.why.why_request import (
    WhyRequest,
    check_expression,
    parse_hit,
    program_words,
)

_TIMEOUT_S = 60.0


@register_command("why", group=GROUP)
async def why(
    call: CommandCall,
    expression: Annotated[str, Argument("EXPR", "a variable, a field, an element, as at LOC")],
    words: Words = (),
    *,
    at: Annotated[
        str | None,
        Option("--at", help="where it is seen: FILE:LINE, FUNCTION, crash or fail", metavar="LOC"),
    ] = None,
    nth: Annotated[
        str | None, Option("--nth", help="the hit of LOC: a number (1), or last", metavar="K")
    ] = None,
    when: Annotated[
        str, Option("--when", help="only hits at which this is true", metavar="COND")
    ] = "",
    every: Annotated[
        bool, Option("--all", help="show where each operand comes from, not only the guilty one")
    ] = False,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
    adapter: Adapter = None,
) -> answers.Answer:
    """Follow a value back, link by link, to where it comes from.

    The chain ends at a constant, an input or an allocation. The program is run up to four times;
    each link is marked: seen in the run, seen in a rerun, or inferred from the source. Without a
    command the value is that of the session's stop.
    """
    expression = check_expression(expression)
    if when:
        one_line(when)
    if not words:
        return await _trace_at_stop(call, expression, at, timeout, shows_all=every)
    place = _require_location(at, expression)
    options = QuestionOptions(
        verb="why",
        words=words,
        timeout=timeout,
        stdin=stdin,
        cwd=cwd,
        env=env,
        adapter=adapter,
    )
    program = msgspec.structs.replace(options, words=program_words(words, cwd or call.cwd))
    question = await build_question(call, program)
    request = _why_request(call, question, expression, place, nth, when)
    request = msgspec.structs.replace(request, shows_all=every)
    request = await _find_hit(call, options, question, request)
    try:
        answer = await trace_dispatch.trace_value(call, question, request)
    except DebuggerError as error:
        # Behind an await V8 cannot tell what nobody will catch; the end of the program does.
        is_unseen = error.code is ErrorCode.NOT_FOUND and request.event == CRASH
        if not is_unseen or question.language != "javascript":
            raise
        found = await _find_event(call, options, request)
        request = await _find_hit(call, options, question, found)
        answer = await trace_dispatch.trace_value(call, question, request)
    again = options.repeat_command([expression, *request.repeat_options()])
    return _keep_answer(call, again, answer)


def _require_location(at: str | None, expression: str) -> str:
    if at is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at LOC is missing: the place at which the value is seen",
            hint=f"debugger why {expression} --at crash -- CMD, or --at FILE:LINE",
        )
    return at


def _why_request(  # noqa: PLR0917 - as they were given
    call: CommandCall, question: QuestionRun, expression: str, at: str, nth: str | None, when: str
) -> WhyRequest:
    target = question.target
    script = target.program
    request = WhyRequest(expression=expression, place=at, nth=parse_hit(nth), when=when)
    if at in EVENTS:
        if when or nth is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--nth and --when choose a hit of a line, and --at {at} is the end of the run",
                hint=f"debugger why {expression} --at {at} -- CMD",
            )
        return request
    current = script if script is not None and script.endswith((".py", ".js", ".go")) else None
    spec = call.breakpoint_spec(at, near=[target.cwd], current=current, program=script)
    return msgspec.structs.replace(
        request, at=msgspec.structs.replace(spec, condition=when or None)
    )


async def _find_event(
    call: CommandCall, options: QuestionOptions, request: WhyRequest
) -> WhyRequest:
    """Return the request for the last hit of the line that an event happens at."""
    found = await locate_event(call, options, request.place)
    spec = BreakpointSpec(file=found.file, line=found.line)
    return msgspec.structs.replace(request, at=spec, nth=-1, runs=request.runs + 1)


async def _find_hit(
    call: CommandCall, options: QuestionOptions, question: QuestionRun, request: WhyRequest
) -> WhyRequest:
    """Return the request with the line of a failed test, and the number of a last hit.

    Python's recorder and gdb find both in their own runs.
    """
    if question.language == "python":
        return request
    if request.event == FAIL:
        request = await _find_event(call, options, request)
    if request.is_last and request.at is not None and question.language == "javascript":
        program = msgspec.structs.replace(
            options, words=program_words(options.words, options.cwd or call.cwd)
        )
        total = await count_hits(call, program, question, request.at, request.place)
        number = total + 1 + request.nth
        if number < 1:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"{request.place} was hit {total:,} times, so there is no hit {request.nth}",
                hint="debugger path -- CMD shows what ran",
            )
        request = msgspec.structs.replace(request, nth=number, runs=request.runs + 1)
    return request


async def _trace_at_stop(
    call: CommandCall,
    expression: str,
    at: str | None,
    timeout: float | None,
    *,
    shows_all: bool,
) -> answers.Answer:
    """Follow a value at the stop of the session, whose program is run again."""
    if at is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at LOC needs the command to run",
            hint=f"debugger why {expression} --at {at} -- CMD; at a stop: debugger why EXPR",
        )
    session = call.current_session()
    request = trace_dispatch.request_at_stop(session, expression)
    request = msgspec.structs.replace(request, shows_all=shows_all)
    question = await trace_dispatch.question_of_session(
        call, session, seconds=timeout or _TIMEOUT_S
    )
    answer = await trace_dispatch.trace_value(call, question, request)
    every = ("--all",) if shows_all else ()
    again = ("debugger", "--session", session.name, "why", expression, *every)
    return _keep_answer(call, again, answer)


def _keep_answer(call: CommandCall, again: tuple[str, ...], answer: Why) -> Why:
    frames = [answer.frame, *(one.frame for one in answer.links)]
    return keep_evidence(
        call, again, answer, summary=answer.cause, files=files_of([one for one in frames if one])
    )
