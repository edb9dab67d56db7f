"""Defines the command that reports single calls of a function, line by line."""

from __future__ import annotations

from typing import Annotated

from debugger.model import answers
from debugger.model.command_registry import Argument, Option, register_command
from debugger.questions.calls import calls_question as questions
from debugger.questions.calls.answer import Calls
from debugger.questions.recordings.saved_runs import recorded_programs
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import (
    GROUP,
    Cwd,
    Env,
    QuestionOptions,
    Stdin,
    Timeout,
    Words,
    keep_evidence,
    options_of,
)


@register_command("calls", group=GROUP)
async def calls(
    call: CommandCall,
    function: Annotated[str, Argument("FUNC", "a function, 'Class.*', or FILE:LINE in it")],
    words: Words = (),
    *,
    nth: Annotated[
        int | None, Option("--nth", help="the call of this number, counted from 1", metavar="K")
    ] = None,
    when: Annotated[
        str, Option("--when", help="only calls for which this is true at entry", metavar="COND")
    ] = "",
    depth: Annotated[
        int, Option("--depth", help="levels of nested calls to show (1)", metavar="N")
    ] = 1,
    limit: Annotated[
        int | None, Option("--limit", help="calls shown line by line (3)", metavar="N")
    ] = None,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
) -> answers.Answer:
    """Run a command, and show calls of a function line by line: what changed, what was called.

    For each call: its arguments, the lines that ran with what they changed and the calls they made,
    the branches taken, and the returned value or exception. Loop iterations are folded: the first
    and the last of each way through the loop, and what varies.
    """
    asked = QuestionOptions(
        verb="calls", words=words, timeout=timeout, stdin=stdin, cwd=cwd, env=env
    )
    (program,) = await recorded_programs(call, asked)
    answer = await questions.record_calls(
        program, function, nth=nth, when=when, depth=depth, limit=limit
    )
    options = options_of(
        ("--nth", nth),
        ("--when", when or None),
        ("--depth", depth if depth != 1 else None),
        ("--limit", limit),
    )
    return keep_evidence(
        call,
        asked.repeat_command([function, *options]),
        answer,
        summary=_evidence_summary(answer),
        files=[one.file for one in answer.lives],
    )


def _evidence_summary(answer: Calls) -> str:
    first = answer.lives[0] if answer.lives else None
    if first is None:
        return f"{answer.function}: {answer.seen:,} calls, none of them meant"
    ended = first.error if first.error is not None else first.value
    return f"{answer.function}: {answer.seen:,} calls, #{first.number} gave {ended}"
