"""What tests are run in, and how a program of theirs is run without a debugger."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import OutputStream
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.recorded_process import CompletedRun, Unrecorded, record_run

_HELPER_S = 120.0


class DebuggedRerun(Struct, frozen=True):
    """How one test that failed is run again, under a debugger, and what it is to stop at."""

    words: tuple[str, ...]
    cwd: str
    env: tuple[str, ...] = ()
    specs: tuple[BreakpointSpec, ...] = ()
    notes: tuple[str, ...] = ()
    with_others: tuple[str, ...] = ()  # the words that run the other tests of its file too


class RunnerSetting(Struct, frozen=True):
    """The words of a runner, the first the path of a program, and what it is run in.

    `ask` makes of a command of a test, and the seconds that are left, what is to be debugged.
    `scratch` is a folder that is removed afterwards.
    """

    runner: str
    words: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    seconds: float
    scratch: Path
    ask: Callable[[DebuggedRerun, float], Awaitable[QuestionRun]]
    stdin: bytes = b""
    interrupted: asyncio.Event | None = None

    async def run_tests(self, words: Sequence[str], **also: str) -> CompletedRun:
        """Run the tests, or some of them, as the user would; `also` is in their environment."""
        return await record_run(
            words,
            Unrecorded(),
            cwd=self.cwd,
            env={**self.env, **also},
            stdin=self.stdin,
            timeout_s=self.seconds,
            scratch_root=self.scratch,
            interrupted=self.interrupted,
        )

    async def run_helper(self, words: Sequence[str], *, cwd: str | None = None) -> str:
        """Return what a command of the runner's own tells: what it has built, which tests it has.

        Raises:
            DebuggerError: LAUNCH_FAILED with its last words, where it fails.
        """
        ran = await record_run(
            words,
            Unrecorded(),
            cwd=cwd or self.cwd,
            env=self.env,
            timeout_s=_HELPER_S,
            scratch_root=self.scratch,
            interrupted=self.interrupted,
        )
        if ran.status != 0:
            said = ran.joined_output(OutputStream.STDERR).strip().splitlines()
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"{' '.join(words[:3])} failed: {said[-1] if said else ran.status}",
                hint=f"debugger start -- {' '.join(self.words[:2])}",
            )
        return ran.joined_output(OutputStream.STDOUT)
