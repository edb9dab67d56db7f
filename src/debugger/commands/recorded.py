"""What the questions that record a run take, and what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, TypeVar

import msgspec

from debugger.backends import choose
from debugger.backends.base import Launch
from debugger.commands.asking import Asked, question
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.command import Arg, Opt
from debugger.questions.recorded import Program
from debugger.targets.several import several

GROUP = "Questions"
_KEPT_TOKENS = 4000

Words = Annotated[tuple[str, ...], Arg("CMD", "what to run, after --")]
Timeout = Annotated[float | None, Opt("--timeout", help="seconds to run (60)", metavar="S")]
Stdin = Annotated[
    str | None, Opt("--stdin", help="file for its standard input, else empty", metavar="FILE")
]
Cwd = Annotated[str | None, Opt("--cwd", help="directory to run in", metavar="D")]
Env = Annotated[tuple[str, ...], Opt("--env", help="change the environment", metavar="K=V")]
Versus = Annotated[
    tuple[str, ...],
    Opt("--vs", help="another command, quoted; or after --: CMD --vs CMD", metavar="CMD"),
]


class Given(msgspec.Struct, frozen=True):
    """What was asked for, but for the words of the command."""

    verb: str
    timeout: float | None = None
    stdin: str | None = None
    cwd: str | None = None
    env: tuple[str, ...] = ()


def _asked(given: Given, words: Sequence[str]) -> Asked:
    return Asked(
        verb=given.verb,
        words=tuple(words),
        timeout=given.timeout,
        stdin=given.stdin,
        cwd=given.cwd,
        env=given.env,
    )


async def programs(
    call: Call, given: Given, words: Sequence[str], quoted: Sequence[str] = ()
) -> list[Program]:
    """Return the programs that are to be run, the one before `--vs` first.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED, ADAPTER_NOT_FOUND.
    """
    found = []
    for one in several(words, quoted, verb=given.verb):
        asked = _asked(given, one)
        languages: list[str] = []
        made = await question(call, asked, partial(_no_breakpoints, languages))
        assert isinstance(made.target, Launch)  # what is run, and not attached to
        traced = msgspec.structs.replace(asked, backend=choose.FRIDA)
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found.append(
            Program(
                words=one,
                launch=made.target,
                patience=made.patience,
                scratch=call.scratch_root,
                language=languages[0],
                question=made,
                traced=partial(question, call, traced, partial(_no_breakpoints, [])),
            )
        )
    return found


def _no_breakpoints(
    languages: list[str],
    language: str,
    *,
    keep: bool,  # noqa: ARG001 - a protocol
) -> tuple[Spec, ...]:
    """Stop nowhere, and note the language that the program is in."""
    languages.append(language)
    return ()


_Kept = TypeVar("_Kept", answers.Path, answers.Calls, answers.Diff)


def keep(
    call: Call,
    given: Given,
    answer: _Kept,
    *,
    options: Iterable[str],
    words: Sequence[str],
    summary: str,
    files: Iterable[str],
) -> _Kept:
    """Keep an answer as evidence, under the command that asks it again."""
    again: tuple[str, ...] = _asked(given, words).command()
    number = call.evidence.keep(
        (*again[:2], *options, *again[2:]),
        call.cwd,
        summary=summary,
        text=call.as_text(answer, _KEPT_TOKENS),
        files=files,
    )
    return msgspec.structs.replace(answer, evidence=number)


def options_of(*pairs: tuple[str, str | int | None]) -> list[str]:
    """Return options with their values, but for those that were not given."""
    return [word for flag, one in pairs if one is not None for word in (flag, str(one))]
