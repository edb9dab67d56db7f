"""Defines the command that explains a hang of a running or newly started program."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option, register_command
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    Force,
    Pid,
    QuestionOptions,
    Words,
    options_of,
    run_options,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall

_AFTER_S = 3.0  # seconds that a started program runs by default
_AFTER_MAX = 3600.0


@register_command("hang", group=GROUP)
async def hang(
    call: CommandCall,
    words: Words = (),
    *,
    pid: Pid = None,
    after: Annotated[
        float | None,
        Option(
            "--after", "--timeout", help="seconds after which CMD is inspected (3)", metavar="S"
        ),
    ] = None,
    is_group: Annotated[
        bool, Option("--group", help="of CMD's processes, or the current group: who lags")
    ] = False,
    only_begins: Annotated[
        bool, Option("--begin", help="given by the daemon: it looks later", is_hidden=True)
    ] = False,
    svg: Annotated[
        str | None, Option("--svg", help="draw who waits for whom: FILE.svg", metavar="FILE")
    ] = None,
    dot: Annotated[
        str | None, Option("--dot", help="the same for Graphviz: FILE.dot", metavar="FILE")
    ] = None,
    force: Force = False,
    options: Annotated[QuestionOptions, run_options("timeout")] = DEFAULT_RUN,
) -> answers.Answer:
    """Say why a program hangs: deadlock, busy loop, what it waits for.

    Its processor time is measured and its stacks are sampled for a few seconds. Locks are reported
    with their owners, descriptors with their other end, loops with what changes in them and what
    does not. Python's tasks and goroutines are reported like threads. A program that was started is
    ended; an attached process keeps running.
    """
    from debugger.questions.group import group_hang, group_question
    from debugger.questions.group.group_choice import choose_group
    from debugger.questions.hang import hang_question, second_run
    from debugger.questions.hang.wait_graph import draw_waits, picture_of_waits, text_of_waits
    from debugger.questions.runner.evidence_store import AnswerPicture, files_of
    from debugger.questions.runner.picture_file import choose_file
    from debugger.questions.runner.question_build import build_question, keep_evidence

    after_s = _AFTER_S if after is None else after
    _check_options(after_s, after, pid, is_drawn_group=is_group and (svg or dot) is not None)
    # Elsewhere --group takes the name of a group: that of a running one is no command.
    named = words[0] if len(words) == 1 and call.sessions.groups.find(words[0]) else None
    if is_group and pid is None and (not words or named is not None):
        is_part = bool(call.sessions.name_suffix)
        chosen = await choose_group(call, named)
        if not is_part:
            group_hang.require_live(chosen)
        return await group_hang.find_laggards(chosen, keeps_waits=is_part)
    pictures = [
        choose_file(call, "hang", f"--{kind}", given, (kind,), force=force)
        for kind, given in (("svg", svg), ("dot", dot))
        if given is not None
    ]
    requested = msgspec.structs.replace(options, words=words, pid=pid)
    if only_begins:
        return await group_question.begin_group_question(call, requested)
    if is_group:
        return await group_hang.explain_group_hang(call, requested, after_s)
    answer = await hang_question.explain_hang(await build_question(call, requested), after_s)
    answer = await second_run.add_second_run(call, requested, answer, after_s=after_s)
    frames = [answer.frame, *(one for group in answer.groups for one in group.frames)]
    command = requested.repeat_command(options_of(("--after", after)))
    title = shlex.join(command)
    answer = keep_evidence(
        call,
        command,
        answer,
        summary=answer.cause,
        files=files_of(frames),
        draw=AnswerPicture(
            svg=partial(picture_of_waits, answer, title), text=partial(text_of_waits, answer, title)
        ),
    )
    paths = [await one.write_text(draw_waits(answer, one.kind, title)) for one in pictures]
    return msgspec.structs.replace(answer, picture=", ".join(paths)) if paths else answer


def _check_options(
    after_s: float, after: float | None, pid: int | None, *, is_drawn_group: bool
) -> None:
    """Refuse options that mean nothing together.

    Raises:
        DebuggerError: USAGE.
    """
    if not 0 <= after_s <= _AFTER_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--after is in seconds, from 0 to {_AFTER_MAX:g}, not {after_s:g}",
            hint="debugger hang --after 5 -- CMD",
        )
    if after is not None and pid is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "--after is for a command", hint=f"debugger hang --pid {pid}"
        )
    if is_drawn_group:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--svg and --dot draw one process, not a group",
            hint="debugger hang --pid N --svg FILE.svg",
        )
