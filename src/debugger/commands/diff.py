"""Where do two runs of a program part?"""

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
from debugger.questions import diff as questions

_EXAMPLE = "debugger diff -- CMD_A ARGS --vs CMD_B ARGS"


@command("diff", group=GROUP)
async def diff(
    call: Call,
    words: Words = (),
    *,
    versus: Versus = (),
    function: Annotated[
        str | None, Opt("--function", help="compare its calls only", metavar="FUNC")
    ] = None,
    timeout: Timeout = None,
    stdin: Stdin = None,
    versus_stdin: Annotated[
        str | None, Opt("--vs-stdin", help="standard input of the other run", metavar="FILE")
    ] = None,
    cwd: Cwd = None,
    env: Env = (),
) -> answers.Answer:
    """Run two commands, and show where they part: the first step and value that differ.

    Both are recorded line by line, aligned, and compared by what they called, the lines that they
    passed, what these changed, and what came back. With one command and --vs-stdin, it is run with
    two inputs. The same files in another folder, before and after a change, are compared, too.
    """
    given = Given("diff", timeout, stdin, cwd, env)
    first, *others = await programs(call, given, words, versus)
    if versus_stdin is not None:
        other = others[0].words if others else first.words
        others = await programs(call, Given("diff", timeout, versus_stdin, cwd, env), other)
    if len(others) != 1:
        raise DebuggerError(
            Code.USAGE, f"two commands are compared, not {len(others) + 1}", hint=_EXAMPLE
        )
    answer = await questions.diff(first, others[0], function=function)
    options = [
        *options_of(("--function", function), ("--vs-stdin", versus_stdin)),
        *(word for one in versus for word in ("--vs", one)),
    ]
    steps = (*answer.before, *answer.left, *answer.right)
    return keep(
        call,
        given,
        answer,
        options=options,
        words=words,
        summary=_summary(answer),
        files=[*(one.file for one in steps), *(one.point.file for one in answer.differences)],
    )


def _summary(answer: answers.Diff) -> str:
    if not answer.left and not answer.right:
        return f"the same {answer.common:,} steps"
    there = answer.before[-1] if answer.before else None
    return f"part at {there.file}:{there.line}" if there is not None else "part at once"
