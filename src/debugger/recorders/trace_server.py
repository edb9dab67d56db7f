"""Keeps a debugger that has loaded a program, and runs the program once for each plan.

A start of gdb takes longer than the run of most programs. The debugger's script therefore forks
for each plan it is given: every run begins in the same state, with the symbols loaded.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from debugger.errors import DebuggerError
from debugger.recorders.recorded_process import Unrecorded, record_run

_ORDERS, _REPLIES = "orders", "replies"  # FIFOs: a plan's path to the script, a byte from it
_LONGEST_S = 86_400.0  # each run has a limit of its own
_END_S = 5.0


class TraceServer:
    """A debugger that serves the runs of one question; it is started with the first one."""

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        scratch_root: Path,
        interrupted: asyncio.Event,
        build_command: Callable[[Path], tuple[Sequence[str], Mapping[str, str]]],
        *,
        stdin: bytes,
        shown: Sequence[str],
    ) -> None:
        """Prepare a server.

        Args:
            tasks: Where the debugger's own task belongs.
            scratch_root: The folder of its files.
            interrupted: Ends a run that waits.
            build_command: Returns the debugger's words and environment for the folder of its FIFOs.
            stdin: The program's input, which each run reads from its begin.
            shown: The program's words, for the progress.
        """
        self._tasks = tasks
        self._scratch_root = scratch_root
        self._interrupted = interrupted
        self._build_command = build_command
        self._stdin, self._shown = stdin, shown
        self._running: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._replied = asyncio.Event()
        self._folder: Path | None = None
        self._descriptors: tuple[int, int] | None = None

    async def run_plan(self, plan: Path, *, timeout_s: float) -> bool:
        """Run the program by a plan; False if the run was not over in time.

        A debugger that has ended, or was left in a run, is started anew for the next one.

        Raises:
            DebuggerError: LAUNCH_FAILED if the debugger cannot be run.
        """
        if self._running is not None and self._running.done():
            await self.end()
        self.prepare()
        assert self._running is not None
        assert self._descriptors is not None
        self._replied.clear()
        is_over = False
        try:
            os.write(self._descriptors[0], f"{plan}\n".encode())
            waits = [asyncio.create_task(one.wait()) for one in (self._replied, self._interrupted)]
            try:
                await asyncio.wait(
                    [*waits, self._running],
                    timeout=timeout_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                for one in waits:
                    one.cancel()
            has_ended = self._running.done()
            is_over = self._replied.is_set() and not has_ended
            return is_over or has_ended
        finally:
            if not is_over:
                await self.end()

    def prepare(self) -> None:
        """Start the debugger, which loads the program's symbols, before the first plan comes.

        Raises:
            DebuggerError: ADAPTER_NOT_FOUND.
        """
        if self._running is None:
            self._start()

    def _start(self) -> None:
        self._scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Its command fails before anything is made, where the debugger is not installed.
        folder = self._folder = Path(tempfile.mkdtemp(prefix="trace-", dir=self._scratch_root))
        for name in (_ORDERS, _REPLIES):
            os.mkfifo(folder / name, 0o600)
        # Opened for both: an open for one side would wait for the other.
        flags = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
        orders, replies = (os.open(folder / name, flags) for name in (_ORDERS, _REPLIES))
        self._descriptors = (orders, replies)
        asyncio.get_running_loop().add_reader(replies, self._note_reply, replies)
        self._ending = asyncio.Event()
        argv, env = self._build_command(folder)
        self._running = self._tasks.create_task(self._serve(argv, env, self._ending))

    async def _serve(
        self, argv: Sequence[str], env: Mapping[str, str], ending: asyncio.Event
    ) -> None:
        with suppress(DebuggerError):  # the guard was killed: then the run has no answer
            await record_run(
                argv,
                Unrecorded(),
                cwd="/",
                env=env,
                stdin=self._stdin,
                timeout_s=_LONGEST_S,
                scratch_root=self._folder,
                interrupted=ending,
                shown=self._shown,
            )

    def _note_reply(self, descriptor: int) -> None:
        with suppress(BlockingIOError):
            os.read(descriptor, 64)
        self._replied.set()

    async def end(self) -> None:
        """End the debugger and what it runs, and remove its files."""
        running, self._running = self._running, None
        if running is not None and not running.done():
            self._ending.set()
            await asyncio.wait([running], timeout=_END_S)
        if self._descriptors is not None:
            asyncio.get_running_loop().remove_reader(self._descriptors[1])
            for one in self._descriptors:
                os.close(one)
            self._descriptors = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
