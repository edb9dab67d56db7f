"""What does the host tell, and who of us has to know it?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from debugger.backends.frida.engine.events import (
    AgentFailed,
    ChildAppeared,
    Event,
    Exited,
    Lost,
    Paused,
    Tally,
)
from debugger.backends.frida.engine.inside import Inside
from debugger.backends.frida.engine.kin import Ending, Process, has_become_another
from debugger.backends.frida.engine.launch import Ended
from debugger.backends.frida.engine.link import HOST_ENDED
from debugger.backends.frida.engine.told import read_events, read_tally
from debugger.errors import Code, DebuggerError

_T = TypeVar("_T")

# Frida's words for what the program does itself; else we have left it, or were cut off.
_TERMINATED, _REPLACED = "process-terminated", "process-replaced"
_THE_PROGRAMS_OWN = frozenset({_TERMINATED, _REPLACED})
_AFTER_LAST_S = 2.0


class Hearing:
    """The one place where events of the host arrive; everything else is told from here."""

    def __init__(self, sink: Callable[[Event], None]) -> None:
        self._sink = sink
        self._inside: Inside | None = None
        self.pid = 0
        self.last: dict[str, Tally] = {}
        self.paused: dict[int, Paused] = {}
        self.has_exited = False
        self.has_last_words = False
        # The status that the program ends itself with, by its own words.
        self.exiting: int | None = None
        self._process: Process | None = None
        self._ending: asyncio.Task[Ending] | None = None
        loop = asyncio.get_running_loop()
        self.became: asyncio.Future[None] = loop.create_future()
        # With the address of `abort`, which is caught where it begins.
        self.ready: asyncio.Future[int] = loop.create_future()
        self.gone: asyncio.Future[str] = loop.create_future()

    def expect(self, inside: Inside) -> None:
        """Name the agent whose answers will come."""
        self._inside = inside

    def take(self, event: Mapping[str, Any]) -> None:
        """Take one event of the host."""
        match event:
            case {"event": "message", "message": message, "data": data}:
                self._hear(message, data)
            case {"event": "child", "pid": int(pid), "origin": "exec"} if (
                pid == self.pid and not self.became.done()
            ):
                self.became.set_result(None)
            case {"event": "child", "pid": pid, "parent": parent, "origin": origin, "path": path}:
                self._sink(ChildAppeared(pid=pid, parent=parent, origin=origin, path=path))
            case {"event": "detached", "pid": pid, "reason": reason}:
                # An exec ends the first session in the launcher, which was none of the program's.
                if self.ready.done() and pid == self.pid:
                    is_another = reason == _TERMINATED and has_become_another(pid)
                    self.leave(_REPLACED if is_another else reason)
            case {"event": "over"}:
                self.leave(HOST_ENDED)

    def _hear(self, message: Mapping[str, Any], data: bytes | None) -> None:
        if message["type"] != "send":
            self._sink(AgentFailed(text=str(message.get("stack") or message.get("description"))))
            return
        payload = message["payload"]
        assert self._inside is not None
        match payload["type"]:
            case "reply":
                self._inside.take_reply(payload, data)
            case "ready":
                self.ready.set_result(int(payload["abort"], 16))
            case "exiting":
                self.exiting = payload["status"]
            case "last" | "counts" as kind:
                if not self.has_last_words:
                    self.last = read_tally(payload["tally"])
                    self.has_last_words = kind == "last"
            case kind:
                if kind in {"records", "calls"}:
                    self._inside.acknowledge()
                for event in read_events(payload, data):
                    if isinstance(event, Paused):
                        self.paused[event.thread] = event
                    self._sink(event)

    def changed(self, thread: int, registers: Mapping[str, int]) -> None:
        """Note that registers of a paused thread were set."""
        paused = self.paused.get(thread)
        if paused is not None:
            now = {**paused.registers, **registers}
            self.paused[thread] = msgspec.structs.replace(paused, registers=now)

    def leave(self, reason: str) -> None:
        """Note that the engine is no longer inside the program."""
        if self.gone.done():
            return
        self.gone.set_result(reason)
        self.paused.clear()
        if self._inside is not None:
            self._inside.take_end(reason)
            self._sink(Lost(reason=reason))

    def watch_end(self, process: Process, tasks: asyncio.TaskGroup) -> None:
        """Wait for the end of a process that somebody else has started, and tell it."""
        self._process = process
        self._ending = tasks.create_task(process.ended())
        tasks.create_task(self.await_exit(self._ending))

    def unwatch(self) -> None:
        """Wait for the end of a process no longer."""
        if self._ending is not None and self._process is not None:
            self._ending.cancel()
            self._process.close()
            self._ending = self._process = None

    async def await_exit(self, ended: Ended) -> None:
        """Wait for the end of a program, and tell it."""
        # The guard tells both, and the host may be the first to end.
        waits: list[asyncio.Future[Any]] = [ended, self.gone]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done() and self.gone.result() not in _THE_PROGRAMS_OWN:
            await asyncio.wait([ended], timeout=_AFTER_LAST_S)
            if not ended.done():
                return
        if ended.cancelled():
            return
        status, number = await ended
        # What the agent said last is read before the end is told.
        await asyncio.wait([self.gone], timeout=_AFTER_LAST_S)
        self.has_exited = True
        if number is None and status is None:
            status = self.exiting
        self._sink(Exited(status=status, signal=number))


async def within(seconds: float, waiting: asyncio.Future[_T], wrong: str) -> _T:
    """Wait for what will be told.

    Raises:
        DebuggerError: TIMEOUT.
    """
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(waiting)
    except TimeoutError:
        raise DebuggerError(Code.TIMEOUT, f"{wrong} within {seconds:g} s") from None
