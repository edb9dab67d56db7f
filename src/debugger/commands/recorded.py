"""What the questions that record a run take, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from debugger.backends import choose
from debugger.backends.base import Launch
from debugger.commands.asking import Asked, question
from debugger.commands.call import Call
from debugger.core.command import Opt
from debugger.errors import Code, DebuggerError
from debugger.questions.recorded import Program
from debugger.questions.saved import Saved, SavedRuns, check_name, meant
from debugger.targets.several import several

Versus = Annotated[
    tuple[str, ...],
    Opt("--vs", help="another command, quoted; or after --: CMD --vs CMD", metavar="CMD"),
]


Save = Annotated[
    str | None,
    Opt("--save", help="keep the run: --vs run:NAME compares with it", metavar="NAME"),
]


def saved_runs(call: Call) -> SavedRuns:
    """Return the runs that were saved."""
    return SavedRuns(call.scratch_root.parent / "runs")


async def runs(
    call: Call, asked: Asked, quoted: Sequence[str], *, scope: str = "", save: str | None = None
) -> list[Program | Saved]:
    """Return what is compared: programs, and saved runs that stand for one as `run:NAME`.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    if save is not None:
        check_name(save)
    found: list[Program | Saved] = []
    every = several(asked.words, quoted, verb=asked.verb)
    for words in every:
        name = meant(words)
        if name is None:
            found += await programs(call, msgspec.structs.replace(asked, words=words))
        else:
            found.append(saved_runs(call).load(name, verb=asked.verb, scope=scope))
    if isinstance(found[0], Saved) and (save is not None or len(found) == 1):
        raise DebuggerError(
            Code.USAGE,
            f"run:{found[0].name} is saved already, and is compared with another",
            hint=f"debugger {asked.verb} -- CMD --vs run:{found[0].name}",
        )
    return found


async def programs(call: Call, asked: Asked, quoted: Sequence[str] = ()) -> list[Program]:
    """Return the programs that are to be run, the one before `--vs` first.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    found = []
    for words in several(asked.words, quoted, verb=asked.verb):
        one = msgspec.structs.replace(asked, words=words)
        made = await question(call, one)
        assert isinstance(made.target, Launch)  # what is run, and not attached to
        traced = msgspec.structs.replace(one, backend=choose.FRIDA)
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found.append(
            Program(
                words=one.words,
                launch=made.target,
                patience=made.patience,
                scratch=call.scratch_root,
                language=made.language,
                question=made,
                traced=partial(question, call, traced),
            )
        )
    return found
