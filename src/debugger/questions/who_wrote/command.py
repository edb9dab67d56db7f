"""Defines the command that finds the code that wrote a value."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.evidence_store import files_of
from debugger.questions.runner.question_arguments import (
    GROUP,
    Adapter,
    Backend,
    Cwd,
    Env,
    QuestionOptions,
    Stdin,
    Words,
    build_question,
    keep_evidence,
    options_of,
)
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.who_wrote import javascript_writes, python_writes, watched_writes
from debugger.questions.who_wrote.answer import WhoWrote
from debugger.questions.who_wrote.value_writers import WriteRequest

_COUNT_MAX = 100_000


@register_command("who-wrote", group=GROUP)
async def who_wrote(
    call: CommandCall,
    expression: Annotated[str, Argument("EXPR", "a variable, a field, an element, as at LOC")],
    words: Words = (),
    *,
    at: Annotated[
        str | None, Option("--at", help="where to read it: FILE:LINE or FUNCTION", metavar="LOC")
    ] = None,
    hit: Annotated[
        int | None, Option("--hit", help="at the Nth time that LOC is reached (1)", metavar="N")
    ] = None,
    when: Annotated[
        str,
        Option(
            "--when", help="only hits at which this is true; --hit counts these", metavar="COND"
        ),
    ] = "",
    until: Annotated[
        str | None, Option("--until", help="report writes after LOC only up to here", metavar="LOC")
    ] = None,
    limit: Annotated[
        int | None, Option("--limit", help="most writes before LOC, and after (1000)", metavar="N")
    ] = None,
    timeout: Annotated[
        float | None, Option("--timeout", help="seconds for each run (60)", metavar="S")
    ] = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
    adapter: Adapter = None,
    backend: Backend = None,
) -> answers.Answer:
    """Say which line wrote a value last before a location, and which others wrote it.

    Compiled programs are run twice, with hardware watchpoints; Python is recorded once. Each line
    that wrote is shown with its number of writes, the first and the last values, and its callers.
    """
    if at is None:
        # FILE:LINE is no expression: it was meant as the place.
        means_place = re.fullmatch(r"[^\s:]+:\d+", expression) is not None
        example = f"EXPR --at {expression}" if means_place else f"{expression} --at LOC"
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at LOC is missing: the place at which the value is seen",
            hint=f"debugger who-wrote {example} …",
        )
    one_line(expression)
    if when:
        one_line(when)
    _check_count("--hit", hit)
    _check_count("--limit", limit)
    asked = QuestionOptions(
        verb="who-wrote",
        words=words,
        timeout=timeout,
        stdin=stdin,
        cwd=cwd,
        env=env,
        adapter=adapter,
        backend=backend,
    )
    made = await build_question(call, asked)
    wanted = _write_request(call, made, expression, at, hit, until, limit, when)
    answer = await _writers_answer(call, asked, made, wanted)
    options = options_of(
        ("--at", at),
        ("--hit", hit),
        ("--when", when or None),
        ("--until", until),
        ("--limit", limit),
    )
    return keep_evidence(
        call,
        asked.repeat_command([expression, *options]),
        answer,
        summary=answer.cause,
        files=files_of([answer.frame, *(one.frame for one in answer.writers)]),
    )


def _check_count(flag: str, number: int | None) -> None:
    if number is not None and not 1 <= number <= _COUNT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{flag} is 1 to {_COUNT_MAX:,}, not {number}",
            hint="debugger who-wrote --help",
        )


def _write_request(  # noqa: PLR0917 - as they were given
    call: CommandCall,
    made: QuestionRun,
    expression: str,
    at: str,
    hit: int | None,
    until: str | None,
    limit: int | None,
    when: str,
) -> WriteRequest:
    target = made.target
    script = target.program
    near = [target.cwd]
    current = script if script is not None and script.endswith((".py", ".js", ".go")) else None

    def spec(words: str) -> BreakpointSpec:
        return call.breakpoint_spec(words, near=near, current=current, program=script)

    return WriteRequest(
        expression=expression,
        at=msgspec.structs.replace(spec(at), condition=when or None),
        place=at,
        hit=hit or 1,
        until=spec(until) if until is not None else None,
        limit=limit or WriteRequest.limit,
        when=when,
    )


async def _writers_answer(
    call: CommandCall, options: QuestionOptions, made: QuestionRun, request: WriteRequest
) -> WhoWrote:
    target = made.target
    assert isinstance(target, LaunchTarget)  # what is run, and not attached to
    if target.python is not None and options.adapter is None:
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = call.scratch_root
        return await python_writes.who_wrote(target, made.patience, request, scratch=scratch)
    if made.language == "javascript":
        return await javascript_writes.who_wrote(made, request)
    return await watched_writes.who_wrote(made, request)
