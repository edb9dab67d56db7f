"""Connects the engine with Frida's process, and launches programs there."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends.inprocess.engine.message_frames import MessageUnpacker, pack_message
from debugger.errors import DebuggerError, ErrorCode
from debugger.system.supervised_process import SupervisedEnd, SupervisedProcess

_ROOT = str(Path(__file__).parents[4])
# -I keeps PYTHONPATH and the program's directory out of the host, which runs with the
# program's environment; our own package is then found by its path alone.
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); import runpy;"
    " runpy.run_module('debugger.backends.inprocess.engine.frida_host', run_name='__main__')"
)
# An attach takes 0.12 s on an idle machine (frida 17.25).
_REPLY_S = 20.0

HOST_ENDED = "the process that holds Frida has ended"


class HostLink:
    """Sends orders to Frida's process, and passes its events on.

    Each order is answered, or fails in time.
    """

    # The host is a process of its own below a guard, because Frida may hang, crash, and leave
    # threads and files behind: all of that ends with it, and the daemon goes on. One pipe
    # leads in, one out; each message is a length and MessagePack (message_frames.py).
    #
    # - `send_order` is for Frida itself (attach, load, detach): the answer is {"event":
    #   "done"}.
    # - `post_message` is for an agent: the host only hands it on, so nothing is awaited.
    # - Events come for a process id, and go to its listener, else to who started the host: a
    #   forked child is entered through its parent's host, so one link serves several engines.
    def __init__(
        self, guarded: SupervisedProcess, on_event: Callable[[dict[str, Any]], None]
    ) -> None:
        self.guarded = guarded
        self._on_event = on_event
        self._hearers: dict[int, Callable[[dict[str, Any]], None]] = {}
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 1
        self.is_over = False

    @classmethod
    async def start(
        cls,
        *,
        cwd: str,
        env: Mapping[str, str],
        scratch: Path,
        tasks: asyncio.TaskGroup,
        on_event: Callable[[dict[str, Any]], None],
    ) -> HostLink:
        """Start the host; what Frida leaves in `scratch` is removed together with the host.

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """
        guarded = await SupervisedProcess.start(
            (sys.executable, "-I", "-c", _BOOT, _ROOT),
            cwd=cwd,
            # Frida's device manager makes a directory in TMPDIR for each client, and does not
            # remove it where the client is killed.
            env={**env, "TMPDIR": str(scratch)},
            scratch=scratch,
            tasks=tasks,
        )
        link = cls(guarded, on_event)
        tasks.create_task(link._read_messages())
        return link

    async def send_order(self, op: str, *, within: float = _REPLY_S, **arguments: Any) -> None:
        """Send one order to the host, and wait until it is done.

        Raises:
            DebuggerError: ADAPTER_FAILED with Frida's words, ADAPTER_DIED, TIMEOUT.
        """
        if self.is_over:
            raise self._died_error()
        number, self._next = self._next, self._next + 1
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        self.guarded.write_input(pack_message({"id": number, "op": op, **arguments}))
        try:
            async with asyncio.timeout(within):
                reply = await waiting
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"Frida did not {op} within {within:g} s",
                hint="debugger stop ends the session",
            ) from None
        finally:
            del self._waiting[number]
        if "error" in reply:
            raise DebuggerError(ErrorCode.ADAPTER_FAILED, f"Frida cannot {op}: {reply['error']}")

    def add_listener(self, pid: int, on_event: Callable[[dict[str, Any]], None]) -> None:
        """Pass the events of one process to a listener of its own."""
        self._hearers[pid] = on_event

    def remove_listener(self, pid: int) -> None:
        """Stop passing the events of a process to its listener."""
        self._hearers.pop(pid, None)

    def post_message(self, pid: int, message: dict[str, Any], data: bytes | None = None) -> None:
        """Send a message to the agent in a process; no answer is awaited."""
        self.guarded.write_input(
            pack_message({"id": 0, "op": "post", "pid": pid, "message": message, "data": data})
        )

    async def end(self) -> SupervisedEnd:
        """End the host and all processes below the guard."""
        return await self.guarded.end_processes()

    def _died_error(self) -> DebuggerError:
        tail = self.guarded.stderr_tail()
        return DebuggerError(
            ErrorCode.ADAPTER_DIED,
            HOST_ENDED + (f":\n{tail}" if tail else ""),
            hint="debugger restart begins anew",
        )

    async def _read_messages(self) -> None:
        unpacker = MessageUnpacker()

        def take(chunk: bytes) -> None:
            for message in unpacker.add_bytes(chunk):
                self._take_message(message)

        # Returns at the end of the host's output: the pipe is closed however the host ends,
        # so no request can wait for an answer that never comes.
        await self.guarded.forward_output(take)
        self.is_over = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._died_error())
        # After the requests have failed: who hears of the end may send orders at once.
        for on_event in [self._on_event, *self._hearers.values()]:
            on_event({"event": "over"})

    def _take_message(self, message: dict[str, Any]) -> None:
        if message["event"] != "done":
            self._hearers.get(message["pid"], self._on_event)(message)
            return
        waiting = self._waiting.get(message["id"])
        if waiting is not None and not waiting.done():
            waiting.set_result(message)


_LAUNCHER = str(Path(__file__).with_name("program_launcher.py"))
_READY_S = 10.0

Ended = asyncio.Future[tuple[int | None, int | None]]


class EngineFolders(msgspec.Struct, frozen=True, kw_only=True):
    """Says where an engine works: `scratch` is its own, and is removed by the guard at the end."""

    cwd: str
    env: Mapping[str, str]
    scratch: Path


class PendingProgram:
    """Runs a process of our own, which becomes the program on a signal by FIFO."""

    # Why not Frida's spawn: Frida reaps what it spawns, so the exit status would be lost, and
    # its pipes are its own. So the guard starts a launcher that says it is ready and waits;
    # Frida attaches to the launcher with child gating, and the launcher's exec is then held
    # as a child with the origin "exec", before the first instruction of the program.
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
        """Start the launcher below the guard, and wait until it is ready.

        Raises:
            DebuggerError: LAUNCH_FAILED.
        """
        # -I and -S: neither the program's environment nor site-packages has a say in the
        # launcher.
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
        """Let the launcher exec the program."""
        os.write(self._files[1], b".")

    def close(self) -> None:
        """Close the FIFOs."""
        for descriptor in self._files:
            os.close(descriptor)
        self._files.clear()
