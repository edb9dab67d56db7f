"""Implements the Backend protocol by the in-process engine and the program's debug information."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from debugger.backends import abilities
from debugger.backends.base import (
    AttachTarget,
    BackendEvent,
    ChildStarted,
    ClosedBackend,
    LaunchTarget,
    OutputPrinted,
    ProcessStarted,
    ProgramResumed,
    Sink,
)
from debugger.backends.inprocess import (
    backend_abilities,
    engine_event_queue,
    engine_lifecycle,
    site_breakpoints,
    thrown_exceptions,
)
from debugger.backends.inprocess.engine.engine import Engine
from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.engine_lifecycle import (
    EngineLifecycle,
    InjectedChildren,
    PendingChild,
)
from debugger.backends.inprocess.inspection import inspection_abilities as looking
from debugger.backends.inprocess.inspection.inspector import ThreadInspector
from debugger.backends.inprocess.loaded_program import LoadedProgram
from debugger.backends.inprocess.site_breakpoints import FilteredWatchpoints, WatchFilter
from debugger.backends.inprocess.stepping.thread_steps import (
    InProcessInstructionSteps,
    InProcessStepTargets,
)
from debugger.backends.inprocess.stop_queue import StepTurns, StopQueue
from debugger.backends.inprocess.thrown_exceptions import InProcessExceptions
from debugger.backends.inprocess.tracing_ability import InProcessTracing
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    ResumeKind,
    Scope,
    Stack,
    Stopped,
    StopReason,
    Thread,
    Variable,
)
from debugger.symbols.dwarf import debug_cache
from debugger.symbols.dwarf.unwinding import LoadedBinaries
from debugger.system.program_streams import require_stdio

ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    **looking.ABILITIES,
    abilities.ExceptionAbility: InProcessExceptions,
    abilities.InstructionBreakpointAbility: lambda backend: backend,
    abilities.InstructionStepAbility: lambda backend: InProcessInstructionSteps(
        backend, backend.steps
    ),
    abilities.PauseAllAbility: lambda backend: backend,
    abilities.StepTargetAbility: lambda backend: InProcessStepTargets(backend, backend.steps),
    abilities.SingleThreadAbility: lambda backend: backend,
    abilities.TracingAbility: lambda backend: backend.tracing,
    abilities.WatchpointAbility: FilteredWatchpoints,
}


T = TypeVar("T")


class FridaBackend:
    """Debugs one program by the engine inside it (`Backend`)."""

    backend_name = backend_abilities.KIND
    adapter_name = backend_abilities.ADAPTER
    traits = backend_abilities.TRAITS

    def __init__(
        self,
        *,
        sink: Sink,
        scratch: Path,
        tasks: asyncio.TaskGroup,
        others: Callable[[type[Any]], str] = lambda _: "",
        child: PendingChild | None = None,
    ) -> None:
        self._sink = sink
        self._others = others
        # For the backends of child processes, which share the scratch folder and the task
        # group.
        self._make = partial(FridaBackend, scratch=scratch, tasks=tasks, others=others)
        self._life = EngineLifecycle(scratch, tasks, child=child)
        self._children = child.family if child is not None else InjectedChildren()
        self._abilities: dict[type[Any], Any] = {}
        # The names of these fields are older than their classes: `_hearing` queues the
        # engine's events, `looking` inspects paused threads, `_life` injects the engine and
        # takes it out.
        self._dispatcher = engine_event_queue.EngineEventQueue(self, tasks)
        self._wants_pause = False
        self.program = LoadedProgram(0, None)
        self.breakpoints = site_breakpoints.SiteBreakpoints(self)
        # Set by `_make_inspector`, once the engine is in the program.
        self.inspector: ThreadInspector
        self.steps: StepTurns
        self.tracing: InProcessTracing
        self.watched: WatchFilter
        self.stops = StopQueue(self, tell=self._report_stop, holds=self._stop_still_counts)

    # -- access for its parts
    # ---------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """The engine inside the program.

        Raises:
            DebuggerError: WRONG_STATE before there is one.
        """
        return self._life.engine

    @property
    def modules(self) -> LoadedBinaries:
        """The binaries that are loaded now."""
        return self.program.modules

    def paused_thread(self, thread: int) -> ThreadPaused:
        """Return the last report of a paused thread.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        found = self.engine.paused_threads.get(thread)
        if found is None:
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                f"thread {thread} is running",
                hint="debugger pause --all stops every thread",
            )
        return found

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session, after the output that the program wrote before it."""
        if not self._dispatcher.is_muted:
            # Output comes by a pipe, events by the agent: without this a stop could be shown
            # before the line that the program printed ahead of it.
            stdio = self._life.stdio
            if stdio is not None and not isinstance(event, OutputPrinted):
                stdio.read_now()
            self._sink(event)

    @property
    def is_guest(self) -> bool:
        """Whether the program ran before the debugger came."""
        return self._life.is_guest

    async def report_remaining_output(self) -> None:
        """Report what the program has written to its end."""
        await self._life.report_remaining_output()

    # -- begin and end --------------------------------------------------------------------------

    def set_sink(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._sink = sink

    def find_ability(self, kind: type[T]) -> T:
        """Return an ability that not every debugger has (see Backend.ability)."""
        found: Any = self._abilities.get(kind)
        if found is None:
            if kind not in ABILITIES:
                raise abilities.missing_ability(kind, backend_abilities.KIND, self._others(kind))
            self._abilities[kind] = found = ABILITIES[kind](self)
        ability: T = found
        return ability

    async def start(self, launch: LaunchTarget) -> None:
        """Start the program with the engine inside, held where breakpoints can be set."""
        await self._life.start_program(launch, self._dispatcher.queue_event, self._report_output)
        await self._note_started()
        if launch.stop_on_entry:
            await engine_lifecycle.hold_at_entry(self.engine, self.program)

    async def attach(self, target: AttachTarget) -> None:
        """Enter a process that runs, and let it run on.

        Raises:
            DebuggerError: NOT_SUPPORTED for a core file or a debug server.
        """
        self._wants_pause = target.pause
        await self._life.attach_process(target, self._dispatcher.queue_event)
        await self._note_started()

    async def _note_started(self) -> None:
        await self._make_inspector()
        # Events were queued since the engine was injected: their handlers need the parts made
        # above.
        self._dispatcher.start_reading()
        self.report_event(ProcessStarted(self.engine.pid))

    async def _make_inspector(self) -> None:
        engine = self.engine
        self.program = program = LoadedProgram(engine.pid, debug_cache.cache_folder(self._life.env))
        # Libraries that are loaded after this list was made come as events, which may repeat
        # one of it.
        program.load_modules(await engine.list_modules())
        self.inspector = ThreadInspector(self)
        self.steps = StepTurns(self, self.stops)
        self.tracing = InProcessTracing(self)
        self.watched = WatchFilter(self)

    async def connect_child(self) -> None:
        """Enter the child process that this backend was made for, which waits.

        Raises:
            DebuggerError: ADAPTER_FAILED; then the child runs without the agent.
        """
        await self._life.follow_child(self._dispatcher.queue_event)
        await self._note_started()

    async def enter_new_program(self, at: int) -> None:
        """Enter the program that this one became by exec, set its breakpoints, and let it run.

        Raises:
            DebuggerError: ADAPTER_FAILED; then the program runs without the agent.
        """
        self.report_event(ProgramResumed())  # whatever thread was stopped is no more
        self.stops.clear_stops()
        self.stops = StopQueue(self, tell=self._report_stop, holds=self._stop_still_counts)
        await self._life.follow_exec(at, self._dispatcher.queue_event)
        # Its sites were in memory that is no more; `on_loaded` below sets all of them anew.
        self.breakpoints.on_program_replaced("the program became another by exec")
        # They hold parts that were made for the old program.
        self._abilities.clear()
        self.program.close()
        try:
            await self._make_inspector()
            await self.breakpoints.on_loaded(list(self.modules))
        finally:
            # In any case: the process waits for a word, and would run free after 60 s.
            await self.engine.run_program()

    def enter_or_release_child(self, pid: int, at: int) -> None:
        """Debug a child process as this one is debugged, or let it run without the agent."""
        current = self._children.hold_child(pid, self._life, at)
        if current is not None:
            child = self._make(sink=self._sink, child=current)
            self.report_event(ChildStarted(child, pid, current.command_words))
        elif (note := self._children.refusal_note()) is not None:
            self.report_event(OutputPrinted(OutputStream.CONSOLE, f"{note}\n"))

    async def run_program(self) -> None:
        """End the configuration: the program runs from here on."""
        await self.engine.run_program()
        # Not before: a thread that is held at the beginning has nothing to show.
        if self._wants_pause:
            self._wants_pause = False
            await self.pause()

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End the engine, and the program with it if `kill`."""
        # First: what the program does while it is taken down is no event for the user.
        self._dispatcher.stop_reporting()
        self.stops.clear_stops()
        closed = await self._life.end_engine(kill=kill)
        self.program.close()
        return closed

    # -- events
    # ----------------------------------------------------------------------------------

    def _report_output(self, stream: OutputStream, text: str) -> None:
        self.report_event(OutputPrinted(stream, text))

    def _stop_still_counts(self, stop: Stopped) -> bool:
        """Return whether a stop is still valid: its breakpoint may have been removed meanwhile."""
        if stop.thread not in self.engine.paused_threads:
            return False
        if stop.reason not in {StopReason.BREAKPOINT, StopReason.EXCEPTION}:
            return True
        return any(self.breakpoints.is_wanted(one) for one in stop.hits)

    def _report_stop(self, stop: Stopped) -> None:
        self.inspector.new_stop()
        self.report_event(stop)

    # -- breakpoints ----------------------------------------------------------------------------

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Return the location of a breakpoint, or why there is none."""
        return (
            thrown_exceptions.locate_catch(spec) if spec.kind is BreakpointKind.EXCEPTION else spec
        )

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints of a source file (their `at`)."""
        return await self.breakpoints.replace_list(f"file {file}", breakpoints)

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the function breakpoints."""
        return await self.breakpoints.replace_list("functions", breakpoints)

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses."""
        return await self.breakpoints.replace_list("addresses", breakpoints)

    async def set_catches(self, breakpoints: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the catchpoints."""
        return await self.breakpoints.replace_list("catches", breakpoints)

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        """Say why a breakpoint does not bind."""
        return await self.breakpoints.explain_unbound(spec)

    # -- running --------------------------------------------------------------------------------

    async def resume(self, how: ResumeKind, thread: int) -> None:
        """Resume the threads whose stop was reported, or step with one."""
        if how is ResumeKind.CONTINUE:
            await self.steps.forget_steps()
            self.stops.go_on()
        else:
            # The frames of now tell after the step which function has returned
            # (`returned_frame`).
            await self.inspector.read_stack(thread, levels=2)
            await self.steps.begin_step(how, thread)

    async def resume_single_thread(self, how: ResumeKind, thread: int) -> None:
        """Resume this thread alone; the others that have stopped stay paused."""
        if how is ResumeKind.CONTINUE:
            self.paused_thread(thread)
            self.stops.go_on_alone(thread)
        else:
            await self.resume(how, thread)

    async def pause(self) -> None:
        """Request a pause of one thread: the one that stopped last, else the main one."""
        # The thread that stopped last is the one that the user looks at.
        running = [one.id for one in await self.engine.list_threads() if not one.is_paused]
        last = self.stops.last
        await self.stops.pause_one(sorted(running, key=lambda one: (one != last, one)))

    @property
    def waiting_threads(self) -> Sequence[int]:
        """The threads that are paused now, reported or not."""
        return sorted(self._life.inside.paused_threads) if self._life.inside is not None else ()

    async def pause_all_threads(self) -> None:
        """Request a pause of every thread; one stop is reported when they have paused."""
        running = [one.id for one in await self.engine.list_threads() if not one.is_paused]
        await self.stops.pause_all(running)

    # -- inspection
    # ------------------------------------------------------------------------------

    async def list_threads(self) -> list[Thread]:
        """Return the threads; of paused ones, at which breakpoints they are and for how long."""
        return [self._with_stop(one) for one in await self.inspector.list_threads()]

    def _with_stop(self, thread: Thread) -> Thread:
        paused = self.engine.paused_threads.get(thread.id)
        if paused is None:
            return thread
        stop = engine_event_queue.to_stopped(paused, self.breakpoints)
        stopped_s = max(time.monotonic() - paused.time / 1e6, 0.0)
        return replace(thread, hits=stop.hits if stop is not None else (), stopped_s=stopped_s)

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        return await self.inspector.read_stack(thread, start=start, levels=levels)

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        return await self.inspector.read_scopes(frame)

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return the children of a scope or a value, or a part of them."""
        return await self.inspector.read_variables(handle, start=start, count=count)

    async def count_elements(self, handle: int) -> int | None:
        """Return the number of elements of a value."""
        return await self.inspector.count_elements(handle)

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        """Return values with what was truncated."""
        return await self.inspector.complete_values(values)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals."""
        return await self.inspector.argument_names(frame)

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression in a frame."""
        return await self.inspector.evaluate(expression, frame, purpose)

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return its new value."""
        return await self.inspector.assign_value(target, value, frame)

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the signal, or the exception, that a thread stopped at."""
        if stop.reason is StopReason.EXCEPTION:
            return await thrown_exceptions.read_thrown(self, stop, stop.raw_reason)
        return await self.inspector.read_exception(stop)

    async def read_source(self, frame: Frame) -> str | None:
        """Return source that only the debugger has: there is none."""
        del frame
        return None

    # -- input ----------------------------------------------------------------------------------

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await require_stdio(self._life.stdio).write_input(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        require_stdio(self._life.stdio).end_input()
