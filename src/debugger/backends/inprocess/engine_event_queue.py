"""Handles the engine's events one after another, in their order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable
from typing import Protocol

from debugger.backends.base import BackendEnded, LogpointPassed, OutputPrinted
from debugger.backends.base import BackendEvent as Told
from debugger.backends.inprocess.engine import engine_events as of
from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.engine.host_events import BECOMING
from debugger.backends.inprocess.engine.host_link import HOST_ENDED
from debugger.backends.inprocess.inspection.inspector import (
    ThreadInspector,
    signal_address,
    signal_reason,
)
from debugger.backends.inprocess.site_breakpoints import ProgramAccess, SiteBreakpoints, WatchFilter
from debugger.backends.inprocess.stepping.thread_steps import StepVerdict
from debugger.backends.inprocess.stop_queue import StepTurns, StopQueue
from debugger.backends.inprocess.tracing_ability import InProcessTracing
from debugger.errors import DebuggerError
from debugger.model.events import OutputStream
from debugger.model.program import ExitedProgram, Stopped, StopReason
from debugger.model.signals import signal_name

ENTRY = "entry "


class InstalledBreakpoints(Protocol):
    """Knows the breakpoints that are set."""

    def breakpoint_number(self, point: str) -> int | None:
        """Return the number of a site's breakpoint; None if the breakpoint was removed."""

    def caught_word(self, numbers: Iterable[int]) -> str | None:
        """Return what the breakpoints catch, as its word; None where one has a location."""


def to_stopped(paused: ThreadPaused, known: InstalledBreakpoints) -> Stopped | None:
    """Convert a thread's pause to a stop; None for what is no stop of the user's."""
    match paused.reason:
        case "breakpoint":
            return _at_points(paused, known)
        case "pause":
            return Stopped(StopReason.PAUSE, "pause", paused.thread)
        case "watch":
            hits = tuple(int(name) for name, _, _ in paused.watches if name.lstrip("-").isdigit())
            return Stopped(StopReason.WATCHPOINT, "watch", paused.thread, hits=hits)
        case "crash":
            return _crash_stop(paused)
    return None


def _at_points(paused: ThreadPaused, known: InstalledBreakpoints) -> Stopped | None:
    numbers = [known.breakpoint_number(point) for point in paused.points]
    hits = tuple(dict.fromkeys(one for one in numbers if one is not None))
    word = known.caught_word(hits) if hits else None
    if word is not None:
        return Stopped(StopReason.EXCEPTION, word, paused.thread, hits=hits)
    if hits:
        return Stopped(StopReason.BREAKPOINT, "breakpoint", paused.thread, hits=hits)
    if any(point.startswith(ENTRY) for point in paused.points):
        return Stopped(StopReason.ENTRY, "entry", paused.thread)
    return None


def _crash_stop(paused: ThreadPaused) -> Stopped:
    name, why, about = signal_name(paused.signal), signal_reason(paused), signal_address(paused)
    text = f"signal {name}" + (f": {why}" if why else "")
    text += f" (address {about:#x})" if about is not None else ""
    return Stopped(
        StopReason.SIGNAL, "crash", paused.thread, description=text, text=name, signal=name
    )


def to_exited(status: int | None, number: int | None, *, is_guest: bool) -> ExitedProgram:
    """Convert a program's exit status."""
    if number is not None:
        return ExitedProgram(signal=signal_name(number))
    # A process that was attached to is no child of ours: the kernel gives its status to its
    # parent, and to a pidfd since Linux 6.15.
    doubt = "its status is known only to who started it" if is_guest and status is None else None
    return ExitedProgram(code=status, doubt=doubt)


# Frida's reasons for a detach: an exec that was not seen coming, and an end.
_REPLACED, _ENDED = "process-replaced", "process-terminated"
# The agent hooks libc's execve, execveat and fexecve; a raw system call passes by all of
# them.
_UNSEEN = "it does so by a system call of its own"


class BackendParts(ProgramAccess, Protocol):
    """Names the parts of the backend that events go to."""

    breakpoints: SiteBreakpoints
    inspector: ThreadInspector
    stops: StopQueue
    steps: StepTurns
    tracing: InProcessTracing
    watched: WatchFilter

    @property
    def is_guest(self) -> bool:
        """Whether the program ran before the debugger came."""

    def enter_or_release_child(self, pid: int, at: int) -> None:
        """Debug a child process, or let it run without the agent."""

    async def enter_new_program(self, at: int) -> None:
        """Enter the program that this one became by exec.

        Raises:
            DebuggerError: ADAPTER_FAILED; then it runs without the agent.
        """

    async def report_remaining_output(self) -> None:
        """Report what the program has written to its end."""


class EngineEventQueue:
    """Handles the events of one engine in their order; each is finished before the next begins."""

    # Events come in the dispatcher's callback, which cannot wait. Handling may take requests
    # to the agent (a step that goes on, breakpoints of a library), so they are queued, and
    # one task handles them. The order matters: a library's breakpoints are set before its
    # thread is resumed, a logpoint's record is reported before the stop that came after it,
    # and the end comes last.
    def __init__(self, parts: BackendParts, tasks: asyncio.TaskGroup) -> None:
        self._parts = parts
        self._tasks = tasks
        self._queue: asyncio.Queue[of.EngineEvent | None] = asyncio.Queue()
        self._is_over = False
        self._aborting: set[int] = set()
        self.is_muted = False

    def queue_event(self, event: of.EngineEvent) -> None:
        """Queue an event of the engine."""
        # The session is being closed: nobody will enter a child, so it must not wait.
        if self.is_muted:
            self._let_go(event)
        else:
            self._queue.put_nowait(event)

    def start_reading(self) -> None:
        """Start the task that handles events."""
        self._tasks.create_task(self._read_events())

    def stop_reporting(self) -> None:
        """Report nothing any more."""
        self.is_muted = True
        # Wakes the task, which waits in `get`.
        self._queue.put_nowait(None)

    async def _read_events(self) -> None:
        while not self._is_over and (event := await self._queue.get()) is not None:
            if self.is_muted:
                self._let_go(event)
                continue
            try:
                await self._handle_event(event)
            except DebuggerError as error:
                # The program may have ended meanwhile, which the next event reports. One
                # failed event must not end the handling of all others.
                self._report_note(error.message)

    def _let_go(self, event: of.EngineEvent) -> None:
        """Release a process that waits to be entered, as nobody will enter it."""
        match event:
            case of.EngineChildAppeared(pid=pid, at=at, why=None):
                self._parts.engine.send_child_word(pid, at=at)
            case of.ProgramReplaced(at=at, why=None):
                engine = self._parts.engine
                engine.send_child_word(engine.pid, at=at)

    async def _handle_event(self, event: of.EngineEvent) -> None:
        parts = self._parts
        match event:
            case of.ThreadPaused():
                await self._on_paused(event)
            case of.RecordLogged():
                parts.breakpoints.report_logged(event)
            case of.EngineConditionFailed():
                parts.breakpoints.report_failed_condition(event)
            case (
                of.CallsRecorded()
                | of.FunctionCalled()
                | of.FunctionReturned()
                | of.RecordsDropped()
            ):
                parts.tracing.report_calls(event)
            case of.ModuleLoaded(module=module):
                new = parts.program.load_modules([module])
                await parts.breakpoints.on_loaded(new)
                await parts.tracing.on_loaded(new)
            case of.ModuleUnloaded():
                self._on_unloaded(event)
            case of.EngineChildAppeared() | of.ProgramReplaced():
                await self._on_pending(event)
            case of.AgentFailed(text=text):
                self._report_note(text)
            case of.EngineExited() | of.EngineLost():
                await self._on_gone(event)

    def _on_unloaded(self, event: of.ModuleUnloaded) -> None:
        low, high = event.base, event.base + event.size
        self._parts.program.unload_module(low)
        self._parts.breakpoints.on_unloaded(low, high)
        self._parts.tracing.on_unloaded(low, high)

    def _report_note(self, text: str) -> None:
        self._parts.report_event(OutputPrinted(OutputStream.CONSOLE, f"{text}\n"))

    async def _on_paused(self, paused: of.ThreadPaused) -> None:
        parts = self._parts
        if paused.reason == "module":
            # The thread waits in the loader. Its library's event came before this one, so the
            # library's breakpoints have been set by now.
            parts.engine.resume([paused.thread])
            return
        # A watchpoint whose condition fails, or one whose frame has been left.
        if not await parts.inspector.pause_counts(paused):
            parts.engine.resume([paused.thread])
            return
        stop = to_stopped(paused, parts.breakpoints) if self._is_new(paused) else None
        # Of every pause, even where it is a stop already: the step of that thread is then
        # forgotten.
        judged = await parts.steps.decide_pause(paused)
        if stop is None and judged is StepVerdict.ENDED:
            stop = Stopped(StopReason.STEP, "step", paused.thread)
        if stop is not None and stop.reason is StopReason.WATCHPOINT:
            stop = await parts.watched.filter_stop(stop)
        if stop is None:
            parts.engine.resume([paused.thread])
        else:
            parts.stops.add_stop(stop)

    def _is_new(self, paused: of.ThreadPaused) -> bool:
        """Return whether a pause was not reported yet: after a call of `abort` comes its signal."""
        if paused.reason != "crash" or paused.signal != signal.SIGABRT:
            self._aborting.discard(paused.thread)
            return True
        is_known = paused.thread in self._aborting
        self._aborting.add(paused.thread)
        return not is_known

    async def _on_gone(self, event: of.EngineExited | of.EngineLost) -> None:
        guarded = self._parts.engine.supervised_host
        # Where the guard was lost, SIGKILL is given as the end of all its programs, and is no
        # real status.
        if isinstance(event, of.EngineExited) and not guarded.is_lost:
            is_guest = self._parts.is_guest
            await self._report_end(to_exited(event.status, event.signal, is_guest=is_guest))
            return
        reason = event.reason if isinstance(event, of.EngineLost) else HOST_ENDED
        if reason == HOST_ENDED:
            how = await guarded.describe_exit()
            reason = f"the process that holds Frida {how.rstrip(',')}"
            if self._parts.is_guest:
                reason += f": process {self._parts.engine.pid} runs on, without the debugger"
            await self._report_end(None, error=reason)
        elif reason == _REPLACED:
            self._report_free(_UNSEEN)
        elif reason not in {_ENDED, BECOMING} and self._parts.is_guest:
            await self._report_end(to_exited(None, None, is_guest=True))
        # Otherwise EngineExited follows, with the status.

    async def _on_pending(self, event: of.EngineChildAppeared | of.ProgramReplaced) -> None:
        why = event.why
        if isinstance(event, of.EngineChildAppeared):
            if why is None:
                self._parts.enter_or_release_child(event.pid, event.at)
            else:
                self._report_note(f"the child process {event.pid} runs free: {why}")
            return
        if why is None:
            try:
                await self._parts.enter_new_program(event.at)
            except DebuggerError as error:
                why = error.message
        if why is not None:
            self._report_free(why)

    def _report_free(self, why: str) -> None:
        parts = self._parts
        parts.stops.clear_stops()
        free = f"the program became another by exec, and the debugger is not inside that one: {why}"
        self._report_note(f"{free}; its end is told")
        parts.breakpoints.on_program_replaced(free)

    async def _report_end(self, exited: Told | None, *, error: str | None = None) -> None:
        self._is_over = True
        parts = self._parts
        parts.stops.clear_stops()
        await parts.report_remaining_output()
        # After the last words: the counts are complete now.
        for number, (count, hits) in (await parts.breakpoints.uncounted_records()).items():
            if count:
                more = f"({count} more hits, too many a second to be logged)"
                parts.report_event(LogpointPassed(number, more, hit=hits))
        if exited is not None:
            parts.report_event(exited)
        parts.report_event(BackendEnded(error=error))
