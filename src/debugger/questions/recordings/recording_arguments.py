"""Defines the arguments that all questions about recorded runs share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option
from debugger.questions.recordings.recorded_run import RecordedProgram
from debugger.questions.recordings.saved_runs import (
    SavedRunStore,
    StoredRun,
    check_name,
    saved_name,
)
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions, build_question
from debugger.targets.command_line import split_commands

Versus = Annotated[
    tuple[str, ...],
    Option("--vs", help="another command, quoted; or after --: CMD --vs CMD", metavar="CMD"),
]


Save = Annotated[
    str | None,
    Option("--save", help="keep the run: --vs run:NAME compares with it", metavar="NAME"),
]


def saved_runs(call: CommandCall) -> SavedRunStore:
    """Return the store of saved runs."""
    return SavedRunStore(call.scratch_root.parent / "runs")


async def compared_runs(
    call: CommandCall,
    options: QuestionOptions,
    quoted: Sequence[str],
    *,
    scope: str = "",
    save: str | None = None,
) -> list[RecordedProgram | StoredRun]:
    """Return the runs to compare: programs, and saved runs named as `run:NAME`.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    if save is not None:
        check_name(save)
    found: list[RecordedProgram | StoredRun] = []
    every = split_commands(options.words, quoted, verb=options.verb)
    for words in every:
        name = saved_name(words)
        if name is None:
            found += await recorded_programs(call, msgspec.structs.replace(options, words=words))
        else:
            found.append(saved_runs(call).load_run(name, verb=options.verb, scope=scope))
    if isinstance(found[0], StoredRun) and (save is not None or len(found) == 1):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"run:{found[0].name} is saved already, and is compared with another",
            hint=f"debugger {options.verb} -- CMD --vs run:{found[0].name}",
        )
    return found


async def recorded_programs(
    call: CommandCall, options: QuestionOptions, quoted: Sequence[str] = ()
) -> list[RecordedProgram]:
    """Return the programs to run, the one before `--vs` first.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    found = []
    for words in split_commands(options.words, quoted, verb=options.verb):
        one = msgspec.structs.replace(options, words=words)
        made = await build_question(call, one)
        assert isinstance(made.target, LaunchTarget)  # what is run, and not attached to
        traced = msgspec.structs.replace(one, backend=select_backend.FRIDA)
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found.append(
            RecordedProgram(
                words=one.words,
                launch=made.target,
                patience=made.patience,
                scratch=call.scratch_root,
                language=made.language,
                question=made,
                traced=partial(build_question, call, traced),
            )
        )
    return found
