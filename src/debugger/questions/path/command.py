"""Defines the command that reports one run as a tree, or the difference of failing runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.command_registry import Option, register_command
from debugger.questions.path import path_comparison
from debugger.questions.path import path_question as questions
from debugger.questions.path.answer import PathAnswer
from debugger.questions.path.decision_values import take_decision
from debugger.questions.path.failure_origin import trace_failure
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun, check_choice
from debugger.questions.recordings.saved_runs import (
    Save,
    StoredRun,
    Versus,
    compared_runs,
    roots_of,
    saved_runs,
)
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


@register_command("path", group=GROUP)
async def path(
    call: CommandCall,
    words: Words = (),
    *,
    around: Annotated[
        str | None,
        Option("--around", help="how a function is reached, and what it does", metavar="LOC"),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        Option(
            "--between", help="from the first call of one to the next of another", metavar="LOC"
        ),
    ] = None,
    process: Annotated[
        str | None,
        Option("--process", help="report this process: failing, or by number", metavar="N|failing"),
    ] = None,
    versus: Versus = (),
    save: Save = None,
    timeout: Timeout = None,
    stdin: Stdin = None,
    cwd: Cwd = None,
    env: Env = (),
) -> answers.Answer:
    """Run a command, and show which of its own functions ran, as a tree in the order of time.

    With arguments, results, times and exceptions; calls of one function in a row, loops and
    recursions are one line; libraries are omitted. With --vs, repeatable, only what failing runs
    (by their exit status) did and passing ones did not, the most suspicious first, with the values
    that differ. LOC is a function or FILE:LINE. For JavaScript and Go it shows only how often each
    function and line ran.
    """
    asked = QuestionOptions(
        verb="path", words=words, timeout=timeout, stdin=stdin, cwd=cwd, env=env
    )
    check_choice(process, is_single=not versus and save is None)
    every = await compared_runs(call, asked, versus, save=save)
    _check_scope(around, between, save=save, is_one=len(every) == 1)
    first = every[0]
    if len(every) > 1:
        recorded = [await path_comparison.record_or_load(one) for one in every]
        answer = path_comparison.compare_paths(recorded, [roots_of(one) for one in every])
        answer = await _add_origin(call, every, recorded, answer)
    elif save is not None:
        assert not isinstance(first, StoredRun)
        recorded = [await path_comparison.record_or_load(first)]
        answer = questions.report_path(first, recorded[0], around_=around)
    else:
        assert not isinstance(first, StoredRun)
        recorded = []
        answer = await questions.record_path(first, around=around, between=between, process=process)
    if save is not None and not isinstance(first, StoredRun):
        said = saved_runs(call).save_run(save, first, recorded[0], verb="path", scope="")
        answer = msgspec.structs.replace(answer, notes=(*answer.notes, said))
    options = [
        *options_of(("--around", around), ("--process", process), ("--save", save)),
        *(["--between", *between] if between is not None else []),
        *(word for one in versus for word in ("--vs", one)),
    ]
    return keep_evidence(
        call,
        asked.repeat_command(options),
        answer,
        summary=_evidence_summary(answer),
        files=[*(one.file for one in answer.suspects), *(one.file for one in answer.rows)],
    )


async def _add_origin(
    call: CommandCall,
    every: Sequence[RecordedProgram | StoredRun],
    recorded: Sequence[RecordedRun],
    answer: PathAnswer,
) -> PathAnswer:
    """Add the calls that the failure comes from, and the condition that decided differently."""
    bad, good = path_comparison.choose_pair(recorded)
    program = every[bad]
    answer = await trace_failure(
        call, None if isinstance(program, StoredRun) else program, recorded[bad], answer
    )
    decision, notes = await take_decision(
        call, (every[bad], every[good]), (recorded[bad], recorded[good]), answer
    )
    return msgspec.structs.replace(answer, decision=decision, notes=(*answer.notes, *notes))


def _check_scope(
    around: str | None, between: tuple[str, str] | None, *, save: str | None, is_one: bool
) -> None:
    if between is not None and any(one.startswith("-") for one in between):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--between takes two places, not {shlex.join(between)}",
            hint="debugger path --between LOC LOC -- CMD",
        )
    if save is not None and between is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "--save keeps a whole run", hint="debugger path --save NAME -- CMD"
        )
    if not is_one and (around, between) != (None, None):
        raise DebuggerError(
            ErrorCode.USAGE,
            "--vs compares whole runs",
            hint="debugger path --around LOC -- CMD looks at one",
        )


def _evidence_summary(answer: PathAnswer) -> str:
    if answer.suspects:
        first = answer.suspects[0]
        return f"most suspicious: {first.function} ({first.score:.2f})"
    return f"{answer.calls:,} calls of {answer.functions} functions"
