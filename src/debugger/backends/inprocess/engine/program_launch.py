"""Launches a program stopped at its beginning, with Frida in it and its exit status ours."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from debugger.backends.inprocess.engine.host_link import HostLink
from debugger.errors import DebuggerError, ErrorCode

_LAUNCHER = str(Path(__file__).with_name("program_launcher.py"))
_READY_S = 10.0

Ended = asyncio.Future[tuple[int | None, int | None]]


class EngineFolders(msgspec.Struct, frozen=True, kw_only=True):
    """Where an engine works: `scratch` is its own, and removed by the guard at the end."""

    cwd: str
    env: Mapping[str, str]
    scratch: Path


class PendingProgram:
    """A process of our own that becomes the program when it is told to."""

    def __init__(self, scratch: Path) -> None:
        self._ready = str(scratch / "ready")
        self._go = str(scratch / "go")
        for path in (self._ready, self._go):
            os.mkfifo(path, 0o600)
        # Both ways, so that neither side waits for the other to open it.
        self._files = [
            os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            for path in (self._ready, self._go)
        ]

    async def spawn(
        self,
        link: HostLink,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdio: tuple[str | None, str | None, str | None],
    ) -> tuple[int, Ended]:
        """Start the process below the guard, and wait until it is ready.

        Raises:
            DebuggerError: LAUNCH_FAILED.
        """
        launcher = (sys.executable, "-I", "-S", _LAUNCHER, self._ready, self._go)
        pid, ended = await link.guarded.spawn_program(
            (*launcher, *argv), cwd=cwd, env=env, stdio=stdio
        )
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._files[0], wake)
        try:
            async with asyncio.timeout(_READY_S):
                await ready
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.LAUNCH_FAILED,
                f"the launcher of {argv[0]} was not ready within {_READY_S:g} s",
            ) from None
        finally:
            loop.remove_reader(self._files[0])
        return pid, ended

    def run_program(self) -> None:
        """Let the process become the program."""
        os.write(self._files[1], b".")

    def close(self) -> None:
        """Close the FIFOs."""
        for descriptor in self._files:
            os.close(descriptor)
        self._files.clear()
