"""Compares two runs of a program, and reports where they part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from debugger.commands import diff_probes
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
from debugger.questions.probing import differing
from debugger.questions.probing.differing import Taken
from debugger.questions.recorded import Program, Recorded
from debugger.questions.saved import Saved, roots_of

_EXAMPLE = "debugger diff -- CMD_A ARGS --vs CMD_B ARGS"
_Sides = Sequence[Program | Saved]


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
    at: Annotated[
        tuple[tuple[str, str], ...],
        Opt("--at", help="compare values at a place only, as probe", metavar="LOC 'EXPR, EXPR'"),
    ] = (),
    when: Annotated[
        tuple[str, ...],
        Opt("--when", help="only hits of --at at which it holds", metavar="COND"),
    ] = (),
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
    two inputs. The same files in another folder, before and after a change, are compared, too. Of
    JavaScript and Go it tells how often functions and lines ran; with --function, line by line.
    With --at, in every language, only the values of expressions, hit by hit.
    """
    diff_probes.check(at, when, function)
    asked = Asked(verb="diff", words=words, timeout=timeout, stdin=stdin, cwd=cwd, env=env)
    scope = diff_probes.scope(at, when) or function or ""
    sides = await _sides(call, asked, versus, scope=scope, save=save, versus_stdin=versus_stdin)
    again = asked.command(
        [
            *diff_probes.options(at, when),
            *options_of(("--function", function), ("--save", save), ("--vs-stdin", versus_stdin)),
            *(word for one in versus for word in ("--vs", one)),
        ]
    )

    def saved(ran: Recorded | Taken) -> tuple[str, ...]:
        first = sides[0]
        if save is None or isinstance(first, Saved):
            return ()
        return (saved_runs(call).save(save, first, ran, verb="diff", scope=scope),)

    if at:
        one, *other = await diff_probes.compared(call, sides, at, when)
        if not other:
            differing.require_hits([one])
            return answers.Text(*saved(one))
        told = differing.told(one, other[0])
        told = msgspec.structs.replace(told, notes=(*told.notes, *saved(one)))
        files = [place.file for place in told.places if place.file is not None]
        return kept(call, again, told, summary=diff_probes.summary(told), files=files)
    left = await questions.whole(sides[0], function=function)
    if len(sides) == 1:
        return answers.Text(*saved(left))
    right = await questions.whole(sides[1], function=function)
    answer = questions.told([left, right], [roots_of(one) for one in sides], function)
    answer = msgspec.structs.replace(answer, notes=(*answer.notes, *saved(left)))
    steps = (*answer.before, *answer.left, *answer.right)
    return kept(
        call,
        again,
        answer,
        summary=_summary(answer),
        files=[
            *(one.file for one in steps),
            *(one.point.file for one in answer.differences),
            *(one.file for one in answer.counts),
        ],
    )


async def _sides(
    call: Call,
    asked: Asked,
    versus: Sequence[str],
    *,
    scope: str,
    save: str | None,
    versus_stdin: str | None,
) -> _Sides:
    """Return the two that are compared; one alone where it is only to be saved.

    Raises:
        DebuggerError: USAGE for another number of them; as `runs`.
    """
    first, *others = await runs(call, asked, versus, scope=scope, save=save)
    if versus_stdin is not None:
        other = others[0] if others else first
        words = asked.words if isinstance(other, Saved) else other.words
        one = msgspec.structs.replace(asked, words=words, stdin=versus_stdin)
        others = await runs(call, one, (), scope=scope)
    if len(others) == 1 or (save is not None and not others and not isinstance(first, Saved)):
        return [first, *others]
    raise DebuggerError(
        Code.USAGE, f"two commands are compared, not {len(others) + 1}", hint=_EXAMPLE
    )


def _summary(answer: answers.Diff) -> str:
    if answer.counts:
        first = answer.counts[0]
        return f"counts differ first at {first.file}:{first.line}"
    if not answer.left and not answer.right:
        return f"the same {answer.common:,} steps"
    there = answer.before[-1] if answer.before else None
    return f"part at {there.file}:{there.line}" if there is not None else "part at once"
