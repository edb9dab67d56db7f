"""Describes the caller's machine, and runs its commands."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from debugger import paths

Say = Callable[[str], Awaitable[None]]

_OUTPUT_MAX = 1 << 20  # characters of a command's output
_LINE_MAX = 160  # characters of a command's last lines
_FIRST_S = 5.0  # until the first line of progress; each is said twice as late as the one before
_LOOK_S = 1.0  # seconds between two looks at a command
_END_S = 5.0  # seconds to collect a killed command


class CommandResult(Struct, frozen=True):
    """The result of a command; `code` is None if it could not run or timed out."""

    code: int | None
    output: str

    @property
    def is_ok(self) -> bool:
        """Whether the command succeeded."""
        return self.code == 0

    @property
    def last_output(self) -> str:
        """The end of the command's output."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return "\n".join(line[:_LINE_MAX] for line in lines[-5:])


async def ignore_progress(_: str) -> None:
    """Ignore a progress report."""


@dataclass(frozen=True)
class CallerMachine:
    """The caller's machine: its system, and the commands on the caller's PATH."""

    env: Mapping[str, str]
    say: Say = ignore_progress
    system: str = sys.platform
    processor: str = field(default_factory=platform.machine)
    is_root: bool = field(default_factory=lambda: os.geteuid() == 0)

    @property
    def adapters_folder(self) -> Path:
        """The folder of the adapters that we installed."""
        return Path(paths.data_dir(self.env)) / "adapters"

    def find_command(self, command: str) -> str | None:
        """Find a command on the caller's PATH."""
        return shutil.which(command, path=self.env.get("PATH", os.defpath))

    async def run_command(
        self,
        argv: Sequence[str],
        *,
        within_s: float,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command to its end, with progress reports.

        It is killed, with its children, at the time-out or when its requester is cancelled.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=cwd or "/",
                env={**self.env, "LC_ALL": "C.UTF-8", **(env or {})},
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return CommandResult(
                None, f"cannot run {argv[0]}: {getattr(error, 'strerror', None) or error}"
            )
        try:
            async with asyncio.timeout(within_s):
                output = await self._wait_with_notes(process)
                return CommandResult(await process.wait(), output)
        except TimeoutError:
            return CommandResult(None, f"{argv[0]} did not end within {within_s:g} s")
        finally:
            await _kill_group(process)

    async def _wait_with_notes(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        loop = asyncio.get_running_loop()
        begun, say_at = loop.time(), _FIRST_S
        output = ""
        while True:
            try:
                async with asyncio.timeout(_LOOK_S):
                    chunk = await process.stdout.read(1 << 14)
            except TimeoutError:
                chunk = None
            if chunk is not None:
                output = (output + chunk.decode(errors="backslashreplace"))[-_OUTPUT_MAX:]
            if chunk == b"":
                return output
            if loop.time() - begun >= say_at:
                last = (output.strip().splitlines() or ["…"])[-1]
                await self.say(f"  {say_at:.0f} s: {last[:_LINE_MAX]}")
                say_at *= 2


async def _kill_group(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await process.wait()
