"""What ran: one run's own functions as a tree, or what only failing runs did."""

from __future__ import annotations

from typing import Annotated

from debugger.commands.call import Call
from debugger.commands.recorded import (
    GROUP,
    Cwd,
    Env,
    Given,
    Stdin,
    Timeout,
    Versus,
    Words,
    keep,
    options_of,
    programs,
)
from debugger.core import answers
from debugger.core.command import Opt, command
from debugger.errors import Code, DebuggerError
from debugger.questions import path as questions


@command("path", group=GROUP)
async def path(
    call: Call,
    words: Words = (),
    *,
    around: Annotated[
        str | None,
        Opt("--around", help="how a function is come to, and what it does", metavar="LOC"),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        Opt("--between", help="from the first call of one to the next of another", metavar="LOC"),
    ] = None,
    versus: Versus = (),
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
) -> answers.Answer:
    """Run a command, and show which of its own functions ran, as a tree in the order of time.

    With arguments, results, times and exceptions; calls of one function in a row, loops and
    recursions are one line; libraries are left out. With --vs, repeatable, only what failing runs
    (by their exit status) did and passing ones did not, the most suspicious first, with the values
    that differ. LOC is a function or FILE:LINE.
    """
    given = Given("path", timeout, stdin, cwd, env)
    every = await programs(call, given, words, versus)
    if len(every) > 1 and (around, between) != (None, None):
        raise DebuggerError(
            Code.USAGE,
            "--vs compares whole runs",
            hint="debugger path --around LOC -- CMD looks at one",
        )
    if len(every) > 1:
        answer = await questions.compared(every)
    else:
        answer = await questions.path(every[0], around=around, between=between)
    options = [
        *options_of(("--around", around)),
        *(["--between", *between] if between is not None else []),
        *(word for one in versus for word in ("--vs", one)),
    ]
    return keep(
        call,
        given,
        answer,
        options=options,
        words=words,
        summary=_summary(answer),
        files=[*(one.file for one in answer.suspects), *(one.file for one in answer.rows)],
    )


def _summary(answer: answers.Path) -> str:
    if answer.suspects:
        first = answer.suspects[0]
        return f"most suspicious: {first.function} ({first.score:.2f})"
    return f"{answer.calls:,} calls of {answer.functions} functions"
