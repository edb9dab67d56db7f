"""Reports who wrote a value that is seen at a location."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from debugger.backends.base import Launch
from debugger.commands.asking import (
    GROUP,
    Adapter,
    Asked,
    Backend,
    Cwd,
    Env,
    Stdin,
    Words,
    kept,
    options_of,
    question,
)
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt, command
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.questions.asking import Question
from debugger.questions.evidence import files_of
from debugger.questions.writing import python, watching
from debugger.questions.writing.wanted import Wanted

_COUNT_MAX = 100_000


@command("who-wrote", group=GROUP)
async def who_wrote(
    call: Call,
    expression: Annotated[str, Arg("EXPR", "a variable, a field, an element, as at LOC")],
    words: Words = (),
    *,
    at: Annotated[
        str | None, Opt("--at", help="where it is seen: FILE:LINE or FUNCTION", metavar="LOC")
    ] = None,
    hit: Annotated[
        int | None, Opt("--hit", help="at the Nth time that LOC is reached (1)", metavar="N")
    ] = None,
    when: Annotated[
        str,
        Opt("--when", help="times at which this holds there; --hit counts these", metavar="COND"),
    ] = "",
    until: Annotated[
        str | None, Opt("--until", help="writes after LOC only up to here", metavar="LOC")
    ] = None,
    limit: Annotated[
        int | None, Opt("--limit", help="writes seen before LOC, and after (1000)", metavar="N")
    ] = None,
    timeout: Annotated[
        float | None, Opt("--timeout", help="seconds for each run (60)", metavar="S")
    ] = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
    adapter: Adapter = None,
    backend: Backend = None,
) -> answers.Answer:
    """Say who wrote a value last before a place, and all that wrote it.

    Compiled programs are run twice, with the memory watched by the processor; Python is recorded
    once. Each line that wrote is told with how often, the first and the last values, and its
    callers.
    """
    if at is None:
        # FILE:LINE is no expression: it was meant as the place.
        means_place = re.fullmatch(r"[^\s:]+:\d+", expression) is not None
        example = f"EXPR --at {expression}" if means_place else f"{expression} --at LOC"
        raise DebuggerError(
            Code.USAGE,
            "--at LOC is missing: the place at which the value is seen",
            hint=f"debugger who-wrote {example} …",
        )
    one_line(expression)
    if when:
        one_line(when)
    _check_count("--hit", hit)
    _check_count("--limit", limit)
    asked = Asked(
        verb="who-wrote",
        words=words,
        timeout=timeout,
        stdin=stdin,
        cwd=cwd,
        env=env,
        adapter=adapter,
        backend=backend,
    )
    made = await question(call, asked)
    wanted = _wanted(call, made, expression, at, hit, until, limit, when)
    answer = await _answer(call, asked, made, wanted)
    options = options_of(
        ("--at", at),
        ("--hit", hit),
        ("--when", when or None),
        ("--until", until),
        ("--limit", limit),
    )
    return kept(
        call,
        asked.command([expression, *options]),
        answer,
        summary=answer.cause,
        files=files_of([answer.frame, *(one.frame for one in answer.writers)]),
    )


def _check_count(flag: str, number: int | None) -> None:
    if number is not None and not 1 <= number <= _COUNT_MAX:
        raise DebuggerError(
            Code.USAGE,
            f"{flag} is 1 to {_COUNT_MAX:,}, not {number}",
            hint="debugger who-wrote --help",
        )


def _wanted(  # noqa: PLR0917 - as they were given
    call: Call,
    made: Question,
    expression: str,
    at: str,
    hit: int | None,
    until: str | None,
    limit: int | None,
    when: str,
) -> Wanted:
    target = made.target
    script = target.program
    near = [target.cwd]
    current = script if script is not None and script.endswith((".py", ".js", ".go")) else None

    def spec(words: str) -> Spec:
        return call.spec(words, near=near, current=current, program=script)

    return Wanted(
        expression=expression,
        at=msgspec.structs.replace(spec(at), condition=when or None),
        place=at,
        hit=hit or 1,
        until=spec(until) if until is not None else None,
        limit=limit or Wanted.limit,
        when=when,
    )


async def _answer(call: Call, asked: Asked, made: Question, wanted: Wanted) -> answers.WhoWrote:
    target = made.target
    assert isinstance(target, Launch)  # what is run, and not attached to
    if target.python is not None and asked.adapter is None:
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = call.scratch_root
        return await python.who_wrote(target, made.patience, wanted, scratch=scratch)
    if made.language == "javascript":
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            "V8 cannot watch a value: js-debug has no watchpoints",
            hint=f"debugger probe --at LOC '{wanted.expression}' -- CMD shows it at lines",
        )
    return await watching.who_wrote(made, wanted)
