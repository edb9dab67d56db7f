"""Dispatches the host's messages to the parts of the engine that need them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from debugger.backends.inprocess.engine.agent_connection import AgentConnection
from debugger.backends.inprocess.engine.agent_messages import (
    among_calls,
    read_events,
    read_tally,
    split_later,
)
from debugger.backends.inprocess.engine.child_processes import (
    Ending,
    ForeignProcess,
    has_become_another,
)
from debugger.backends.inprocess.engine.engine_events import (
    AgentFailed,
    EngineChildAppeared,
    EngineEvent,
    EngineExited,
    EngineLost,
    HitTally,
    ProgramReplaced,
    ThreadPaused,
)
from debugger.backends.inprocess.engine.host_link import HOST_ENDED, Ended
from debugger.errors import DebuggerError, ErrorCode

_T = TypeVar("_T")

# Frida's words for what the program does itself; any other reason means a detach, or a lost
# host.
_TERMINATED, _REPLACED = "process-terminated", "process-replaced"
# The program is about to become another, or has become it already.
BECOMING = "it becomes another program by exec"
_THE_PROGRAMS_OWN = frozenset({_TERMINATED, _REPLACED, BECOMING})
# The end is reported by the guard, the last words come by the agent's connection: two
# channels without an order between them. This is how long one waits for the other.
_AFTER_LAST_S = 2.0


class HostEventDispatcher:
    """Receives all events of the host for one process, and reports them to the engine."""

    def __init__(self, sink: Callable[[EngineEvent], None]) -> None:
        self._sink = sink
        self._agent: AgentConnection | None = None
        self.pid = 0
        self.last: dict[str, HitTally] = {}
        self.paused: dict[int, ThreadPaused] = {}
        self.has_exited = False
        # The status that the program has passed to _exit, by the agent's report: the kernel
        # gives none for a process that is no child of ours (before Linux 6.15).
        self.exiting: int | None = None
        self._names: list[str] = []  # of the points that machine code logs at, by their numbers
        # Logpoint records, held back until the calls of the same time have come.
        self._logged: list[EngineEvent] = []
        self._process: ForeignProcess | None = None
        self._ending: asyncio.Task[Ending] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._ended: Ended | None = None
        self._is_becoming = False
        # Why the agent cannot go along into the program that this one becomes.
        self._why: str | None = None
        loop = asyncio.get_running_loop()
        self.became: asyncio.Future[None] = loop.create_future()
        # With the address of `abort`, where a breakpoint of our own catches it.
        self.ready: asyncio.Future[int] = loop.create_future()
        self.gone: asyncio.Future[str] = loop.create_future()
        self._last_words: asyncio.Future[None] = loop.create_future()

    @property
    def has_last_words(self) -> bool:
        """Whether the agent reported all its counts before the program ended itself."""
        return self._last_words.done()

    def set_agent(self, agent: AgentConnection) -> None:
        """Set the connection whose answers will come."""
        self._agent = agent

    def handle_event(self, event: Mapping[str, Any]) -> None:
        """Handle one event of the host."""
        match event:
            case {"event": "message", "message": message, "data": data}:
                self._on_message(message, data)
            # The launcher's exec. Only the first one counts: the program itself may exec
            # later.
            case {"event": "child", "pid": int(pid), "origin": "exec"} if (
                pid == self.pid and not self.became.done()
            ):
                self.became.set_result(None)
            case {"event": "becoming", "child": child} if child == self.pid:
                self._is_becoming = True
            case {"event": "became", "pid": parent, "child": child, "at": at, "why": why}:
                self._on_exec(parent, child, at, why)
            case {"event": "detached", "pid": pid, "reason": reason}:
                # An exec ends the first session in the launcher, which was none of the program's.
                if self.ready.done() and pid == self.pid and not self.gone.done():
                    self._on_detached(reason)
            case {"event": "over"}:
                self.note_left(HOST_ENDED)

    # Frida says "process-terminated" for an exec as well, where the agent was mapped in the
    # process and is not any more. Three sources tell the two apart: the host's "becoming"
    # comes before an exec that ExecTracker follows; `_why` remembers an exec that could not
    # be followed; and the process that lives without an agent in its maps has become another,
    # too.
    def _on_detached(self, reason: str) -> None:
        if self._is_becoming:
            self.note_left(BECOMING)
        elif reason in {_TERMINATED, _REPLACED} and self._why and not self.has_last_words:
            # It may have ended since: only who is still itself says last words.
            self.note_left(BECOMING)
            self._sink(ProgramReplaced(at=0, why=self._why))
        elif reason == _TERMINATED and has_become_another(self.pid):
            self.note_left(_REPLACED)
        else:
            self.note_left(reason)

    def _on_exec(self, parent: int, child: int, at: int, why: str | None) -> None:
        if child != self.pid:
            if at or why:
                self._sink(EngineChildAppeared(pid=child, parent=parent, at=at, why=why))
            return
        self._is_becoming = False
        if at:
            self.note_left(BECOMING)
        if self.gone.done() and (at or why):
            self._sink(ProgramReplaced(at=at, why=why))
        self._why = why  # of what may still come

    def _on_message(self, message: Mapping[str, Any], data: bytes | None) -> None:
        if message["type"] != "send":
            self._sink(AgentFailed(text=str(message.get("stack") or message.get("description"))))
            return
        payload = message["payload"]
        assert self._agent is not None
        match payload["type"]:
            case "reply":
                self._agent.take_reply(payload, data)
            case "ready":
                self.ready.set_result(int(payload["abort"], 16))
            case "exiting":
                self.exiting = payload["status"]
            # After the last words a count of an earlier moment may still arrive: it must not
            # win.
            case "last" | "counts" as kind if not self.has_last_words:
                self.last = read_tally(payload["tally"])
                if kind == "last":
                    self._last_words.set_result(None)
            case kind:
                # Acknowledged at once, and not after the events were handled: the bound is on
                # what is on its way, and a slow listener must not make the program drop
                # records.
                if kind in {"records", "calls"}:
                    self._agent.acknowledge_batch()
                self._pass_events(payload, data)

    def _pass_events(self, payload: Mapping[str, Any], data: bytes | None) -> None:
        self._names += payload.get("names", ())
        events = list(read_events(payload, data, self._names))
        # While calls are traced, records and calls come in two messages, each ordered by
        # time. The records wait here for the next batch of calls, to be put among them.
        if payload.get("traced"):
            self._logged += events
            return
        logged, self._logged = split_later(self._logged, events)
        for event in among_calls(logged, events):
            if isinstance(event, ThreadPaused):
                self.paused[event.thread] = event
            self._sink(event)

    def note_registers(self, thread: int, registers: Mapping[str, int]) -> None:
        """Note that registers of a paused thread were set."""
        paused = self.paused.get(thread)
        if paused is not None:
            now = {**paused.registers, **registers}
            self.paused[thread] = msgspec.structs.replace(paused, registers=now)

    def note_left(self, reason: str) -> None:
        """Note that the agent is no longer in the program, and report it once."""
        if self.gone.done():
            return
        self.gone.set_result(reason)
        for event in self._logged:
            self._sink(event)
        self._logged.clear()
        self.paused.clear()
        if self._agent is not None:
            self._agent.take_end(reason)
            self._sink(EngineLost(reason=reason))

    def watch_end(self, process: ForeignProcess, tasks: asyncio.TaskGroup) -> None:
        """Wait for the end of a process that somebody else has started, and report it."""
        self._process = process
        self._ending = tasks.create_task(process.wait_for_end())
        self.watch_for_end(self._ending, tasks)

    def watch_for_end(self, ended: Ended, tasks: asyncio.TaskGroup) -> None:
        """Wait for the end of a program, and report it."""
        self._ended = ended
        self._telling = tasks.create_task(self._await_exit(ended))

    def pass_on(self, heir: HostEventDispatcher, tasks: asyncio.TaskGroup) -> None:
        """Hand the wait for the end over to the dispatcher of the program that this one became."""
        assert self._ended is not None
        assert self._telling is not None
        # The task that reports is this dispatcher's; the future of the end goes to the heir,
        # so the pidfd is opened once for a process, whatever it becomes.
        self._telling.cancel()
        heir._process, heir._ending = self._process, self._ending
        self._process = self._ending = None
        heir.watch_for_end(self._ended, tasks)

    def stop_watching(self) -> None:
        """Stop waiting for the end of a process."""
        if self._ending is not None and self._process is not None:
            self._ending.cancel()
            self._process.close()
            self._ending = self._process = None

    async def _await_exit(self, ended: Ended) -> None:
        # The guard reports both the program's end and the host's, and the host may be the
        # first to end.
        waits: list[asyncio.Future[Any]] = [ended, self.gone]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done() and self.gone.result() not in _THE_PROGRAMS_OWN:
            await asyncio.wait([ended], timeout=_AFTER_LAST_S)
            if not ended.done():
                return
        await asyncio.wait([ended])  # which is another's to hear of, once this is passed on
        if ended.cancelled():
            return
        status, number = ended.result()
        # The agent's last words are read before the end is reported. A child that was forked
        # without us has the program's connection, and keeps it open: hence the bound.
        waits = [self.gone, self._last_words]
        await asyncio.wait(waits, timeout=_AFTER_LAST_S, return_when=asyncio.FIRST_COMPLETED)
        self.note_left(_TERMINATED)
        self.has_exited = True
        if number is None and status is None:
            status = self.exiting
        self._sink(EngineExited(status=status, signal=number))


async def wait_within(seconds: float, waiting: asyncio.Future[_T], wrong: str) -> _T:
    """Await a future for a bounded time.

    Raises:
        DebuggerError: TIMEOUT.
    """
    try:
        async with asyncio.timeout(seconds):
            # Shielded: the future is set by the dispatcher, which must not meet a cancelled
            # one.
            return await asyncio.shield(waiting)
    except TimeoutError:
        raise DebuggerError(ErrorCode.TIMEOUT, f"{wrong} within {seconds:g} s") from None
