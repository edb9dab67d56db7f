"""Handles the engine's events one after another, in their order."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Protocol

from debugger.backends.base import Ended, Logged, Printed
from debugger.backends.base import Event as Told
from debugger.backends.frida import reasons
from debugger.backends.frida.breakpoints import Asked, Breakpoints
from debugger.backends.frida.engine import events as of
from debugger.backends.frida.engine.hearing import BECOMING
from debugger.backends.frida.engine.link import HOST_ENDED
from debugger.backends.frida.looking.looking import Looking
from debugger.backends.frida.stepping.steps import Judged
from debugger.backends.frida.stops import Stops
from debugger.backends.frida.tracing import Tracing
from debugger.backends.frida.turns import Turns
from debugger.backends.frida.watched import Watched
from debugger.core.events import Stream
from debugger.core.model import Reason, Stopped
from debugger.errors import DebuggerError

# Frida's words for an exec that was not seen coming, and for an end.
_REPLACED, _ENDED = "process-replaced", "process-terminated"
_HOW_S = 2.0
_UNSEEN = "it does so by a system call of its own"


class Around(Asked, Protocol):
    """The parts of the backend that events go to."""

    breakpoints: Breakpoints
    looking: Looking
    stops: Stops
    steps: Turns
    tracing: Tracing
    watched: Watched

    @property
    def is_guest(self) -> bool:
        """Whether the program was there before us."""

    def appeared(self, pid: int, at: int) -> None:
        """Have a process that was started debugged, or let it run free."""

    async def became(self, at: int) -> None:
        """Enter what the program has become.

        Raises:
            DebuggerError: ADAPTER_FAILED; then it runs free.
        """

    async def drain(self) -> None:
        """Tell what the program has written to its end."""


class Hearing:
    """The events of one engine; those that need an answer of it wait in the same line."""

    def __init__(self, around: Around, tasks: asyncio.TaskGroup) -> None:
        self._around = around
        self._tasks = tasks
        self._queue: asyncio.Queue[of.Event | None] = asyncio.Queue()
        self._is_over = False
        self._aborting: set[int] = set()
        self.is_muted = False

    def take(self, event: of.Event) -> None:
        """Take an event of the engine; it is read when its turn comes."""
        if self.is_muted:
            self._let_go(event)
        else:
            self._queue.put_nowait(event)

    def listen(self) -> None:
        """Begin to read."""
        self._tasks.create_task(self._read())

    def mute(self) -> None:
        """Tell nothing any more."""
        self.is_muted = True
        self._queue.put_nowait(None)

    async def _read(self) -> None:
        while not self._is_over and (event := await self._queue.get()) is not None:
            if self.is_muted:
                self._let_go(event)
                continue
            try:
                await self._hear(event)
            except DebuggerError as error:
                # The program may have ended meanwhile, which is told next.
                self._say(error.message)

    def _let_go(self, event: of.Event) -> None:
        """Let who waits to be entered go on: nobody is there to do so."""
        match event:
            case of.ChildAppeared(pid=pid, at=at, why=None):
                self._around.engine.tell_child(pid, at=at)
            case of.Became(at=at, why=None):
                engine = self._around.engine
                engine.tell_child(engine.pid, at=at)

    async def _hear(self, event: of.Event) -> None:
        around = self._around
        match event:
            case of.Paused():
                await self._paused(event)
            case of.Logged():
                around.breakpoints.recorded(event)
            case of.ConditionFailed():
                around.breakpoints.failed(event)
            case of.Calls() | of.Called() | of.Returned() | of.Dropped():
                around.tracing.take(event)
            case of.ModuleLoaded(module=module):
                new = around.program.load([module])
                await around.breakpoints.loaded(new)
                await around.tracing.loaded(new)
            case of.ModuleUnloaded():
                self._unload(event)
            case of.ChildAppeared() | of.Became():
                await self._waits(event)
            case of.AgentFailed(text=text):
                self._say(text)
            case of.Exited() | of.Lost():
                await self._gone(event)

    def _unload(self, event: of.ModuleUnloaded) -> None:
        low, high = event.base, event.base + event.size
        self._around.program.unload(low)
        self._around.breakpoints.unloaded(low, high)
        self._around.tracing.unloaded(low, high)

    def _say(self, text: str) -> None:
        self._around.tell(Printed(Stream.CONSOLE, f"{text}\n"))

    async def _paused(self, paused: of.Paused) -> None:
        around = self._around
        if paused.reason == "module":
            # Its breakpoints have been set by now: that it was loaded was told before.
            around.engine.resume([paused.thread])
            return
        if not await around.looking.counts(paused):
            around.engine.resume([paused.thread])
            return
        stop = reasons.stopped(paused, around.breakpoints) if self._is_new(paused) else None
        judged = await around.steps.judge(paused)
        if stop is None and judged is Judged.ENDED:
            stop = Stopped(Reason.STEP, "step", paused.thread)
        if stop is not None and stop.reason is Reason.WATCHPOINT:
            stop = await around.watched.judged(stop)
        if stop is None:
            around.engine.resume([paused.thread])
        else:
            around.stops.take(stop)

    def _is_new(self, paused: of.Paused) -> bool:
        """Tell whether it was not told already: the signal of a call of `abort` comes after it."""
        if paused.reason != "crash" or paused.signal != signal.SIGABRT:
            self._aborting.discard(paused.thread)
            return True
        is_known = paused.thread in self._aborting
        self._aborting.add(paused.thread)
        return not is_known

    async def _gone(self, event: of.Exited | of.Lost) -> None:
        guarded = self._around.engine.guarded
        if isinstance(event, of.Exited) and not guarded.is_lost:
            is_guest = self._around.is_guest
            await self._end(reasons.exited(event.status, event.signal, is_guest=is_guest))
            return
        reason = event.reason if isinstance(event, of.Lost) else HOST_ENDED
        if reason == HOST_ENDED:
            with suppress(TimeoutError):
                async with asyncio.timeout(_HOW_S):
                    how = await asyncio.shield(guarded.exited)
                    reason = f"the process that holds Frida {how.rstrip(',')}"
            if self._around.is_guest:
                reason += f": process {self._around.engine.pid} runs on, without the debugger"
            await self._end(None, error=reason)
        elif reason == _REPLACED:
            self._free(_UNSEEN)
        elif reason not in {_ENDED, BECOMING} and self._around.is_guest:
            await self._end(reasons.exited(None, None, is_guest=True))
        # Else how a program ended is told by who waits for it.

    async def _waits(self, event: of.ChildAppeared | of.Became) -> None:
        why = event.why
        if isinstance(event, of.ChildAppeared):
            if why is None:
                self._around.appeared(event.pid, event.at)
            else:
                self._say(f"the child process {event.pid} runs free: {why}")
            return
        if why is None:
            try:
                await self._around.became(event.at)
            except DebuggerError as error:
                why = error.message
        if why is not None:
            self._free(why)

    def _free(self, why: str) -> None:
        around = self._around
        around.stops.ended()
        free = f"the program became another by exec, and the debugger is not inside that one: {why}"
        self._say(f"{free}; its end is told")
        around.breakpoints.left(free)

    async def _end(self, exited: Told | None, *, error: str | None = None) -> None:
        self._is_over = True
        around = self._around
        around.stops.ended()
        await around.drain()
        for number, (count, hits) in (await around.breakpoints.counted()).items():
            if count:
                more = f"({count} more hits, too many a second to be logged)"
                around.tell(Logged(number, more, hit=hits))
        if exited is not None:
            around.tell(exited)
        around.tell(Ended(error=error))
