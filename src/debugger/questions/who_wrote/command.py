"""Defines the command that finds the code that wrote a value."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.hit_filter import (
    EVERY_HIT,
    HitFilter,
    Refusal,
    refuse_options,
    require_one_condition,
)
from debugger.questions.locations import event_location
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
_ONE_HIT = "who-wrote explains the value at one hit: --nth K and --when COND choose it"
_LOC_HITS = refuse_options(
    {
        "last": Refusal("it explains one hit", _ONE_HIT),
        "changes": Refusal("it reports each write of the value anyway", _ONE_HIT),
        "thread": Refusal("hits are counted over all threads", _ONE_HIT),
        "inside": Refusal("hits are counted wherever they come from", _ONE_HIT),
        "after": Refusal("hits are chosen by number or condition", _ONE_HIT),
    },
    help={
        "when": "only hits of LOC at which it is true; also --if, --condition, -c",
        "nth": "at this hit of LOC: 3, last, -2 (1)",
    },
    also={"nth": ("--hit",)},
    # --until has another meaning here, and so has --limit.
    without=frozenset({"until", "first"}),
)


@register_command("who-wrote", group=GROUP)
async def who_wrote(
    call: CommandCall,
    expression: Annotated[str, Argument("EXPR", "a variable, a field, an element, as at LOC")],
    words: Words = (),
    *,
    at: Annotated[
        str | None,
        Option("--at", help="where to read it: FILE:LINE, FUNCTION, crash or fail", metavar="LOC"),
    ] = None,
    hits: Annotated[HitFilter, _LOC_HITS] = EVERY_HIT,
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
    when = require_one_condition("who-wrote", hits) or ""
    nth = hits.nth
    _check_count("--nth", abs(nth) if nth is not None else None)
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
    if event_location.is_event(at):
        at, nth = (await event_location.locate_event(call, asked, at)).place, -1
    made = await build_question(call, asked)
    wanted = _write_request(call, made, expression, at, nth, until, limit, when)
    if nth is not None and nth < 0:
        wanted = await _with_hit_from_end(call, asked, wanted, nth)
    answer = await _writers_answer(call, asked, made, wanted)
    options = options_of(
        ("--at", at),
        ("--nth", "last" if nth == -1 else nth),
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


async def _with_hit_from_end(
    call: CommandCall, options: QuestionOptions, request: WriteRequest, nth: int
) -> WriteRequest:
    """Return the request with the number of a hit that is counted from the last one."""
    question = await build_question(call, options)
    total = await event_location.count_hits(call, options, question, request.at, request.place)
    if total < -nth:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{request.condition_text} was hit {total:,} times, so there is no hit {nth}",
            hint="debugger path -- CMD shows what ran",
        )
    return replace(request, hit=total + nth + 1)


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
