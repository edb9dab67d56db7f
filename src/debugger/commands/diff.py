"""Where do two runs of a program part?"""

from __future__ import annotations

from typing import Annotated

import msgspec

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
from debugger.commands.recorded import Save, Versus, runs, saved_runs
from debugger.core import answers
from debugger.core.command import Opt, command
from debugger.errors import Code, DebuggerError
from debugger.questions import diff as questions
from debugger.questions.saved import Saved, roots_of

_EXAMPLE = "debugger diff -- CMD_A ARGS --vs CMD_B ARGS"


@command("diff", group=GROUP)
async def diff(
    call: Call,
    words: Words = (),
    *,
    versus: Versus = (),
    save: Save = None,
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
    asked = Asked(verb="diff", words=words, timeout=timeout, stdin=stdin, cwd=cwd, env=env)
    scope = function or ""
    first, *others = await runs(call, asked, versus, scope=scope, save=save)
    if versus_stdin is not None:
        other = others[0] if others else first
        words = asked.words if isinstance(other, Saved) else other.words
        one = msgspec.structs.replace(asked, words=words, stdin=versus_stdin)
        others = await runs(call, one, (), scope=scope)
    if save is not None and not isinstance(first, Saved):
        left = await questions.whole(first, function=function)
        said = saved_runs(call).save(save, first, left, verb="diff", scope=scope)
        if not others:
            return answers.Text(said)
    else:
        left, said = None, ""
    if len(others) != 1:
        raise DebuggerError(
            Code.USAGE, f"two commands are compared, not {len(others) + 1}", hint=_EXAMPLE
        )
    left = left or await questions.whole(first, function=function)
    right = await questions.whole(others[0], function=function)
    answer = questions.told([left, right], [roots_of(first), roots_of(others[0])], function)
    if said:
        answer = msgspec.structs.replace(answer, notes=(*answer.notes, said))
    options = [
        *options_of(("--function", function), ("--save", save), ("--vs-stdin", versus_stdin)),
        *(word for one in versus for word in ("--vs", one)),
    ]
    steps = (*answer.before, *answer.left, *answer.right)
    return kept(
        call,
        asked.command(options),
        answer,
        summary=_summary(answer),
        files=[*(one.file for one in steps), *(one.point.file for one in answer.differences)],
    )


def _summary(answer: answers.Diff) -> str:
    if not answer.left and not answer.right:
        return f"the same {answer.common:,} steps"
    there = answer.before[-1] if answer.before else None
    return f"part at {there.file}:{there.line}" if there is not None else "part at once"
