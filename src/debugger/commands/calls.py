"""Reports what happened in single calls of a function, line by line."""

from __future__ import annotations

from typing import Annotated

from debugger.commands.asking import (
    GROUP,
    Asked,
    Cwd,
    Env,
    Stdin,
    Timeout,
    Words,
    kept,
    options_of,
)
from debugger.commands.call import Call
from debugger.commands.recorded import programs
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.questions import calls as questions


@command("calls", group=GROUP)
async def calls(
    call: Call,
    function: Annotated[str, Arg("FUNC", "a function, 'Class.*', or FILE:LINE in it")],
    words: Words = (),
    *,
    nth: Annotated[
        int | None, Opt("--nth", help="the call of this number, counted from 1", metavar="K")
    ] = None,
    when: Annotated[
        str, Opt("--when", help="calls for which this holds at the entry", metavar="COND")
    ] = "",
    depth: Annotated[
        int, Opt("--depth", help="levels of the calls that it makes (1)", metavar="N")
    ] = 1,
    limit: Annotated[
        int | None, Opt("--limit", help="calls told line by line (3)", metavar="N")
    ] = None,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
) -> answers.Answer:
    """Run a command, and show calls of a function line by line: what changed, what was called.

    For each call: its arguments, the lines that it passed with what they changed and the calls that
    they made, the branches taken, and the value or exception in the end. Rounds of a loop are
    folded: the first and the last of each way through it, and what varies.
    """
    asked = Asked(verb="calls", words=words, timeout=timeout, stdin=stdin, cwd=cwd, env=env)
    (program,) = await programs(call, asked)
    answer = await questions.calls(program, function, nth=nth, when=when, depth=depth, limit=limit)
    options = options_of(
        ("--nth", nth),
        ("--when", when or None),
        ("--depth", depth if depth != 1 else None),
        ("--limit", limit),
    )
    return kept(
        call,
        asked.command([function, *options]),
        answer,
        summary=_summary(answer),
        files=[one.file for one in answer.lives],
    )


def _summary(answer: answers.Calls) -> str:
    first = answer.lives[0] if answer.lives else None
    if first is None:
        return f"{answer.function}: {answer.seen:,} calls, none of them meant"
    ended = first.error if first.error is not None else first.value
    return f"{answer.function}: {answer.seen:,} calls, #{first.number} gave {ended}"
