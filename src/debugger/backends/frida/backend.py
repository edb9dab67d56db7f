"""A debugged program with Frida inside: the Backend protocol by the engine and its debug data."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from debugger.backends import abilities
from debugger.backends.base import (
    Attach,
    ChildAppeared,
    Closed,
    Event,
    Launch,
    Printed,
    Resumed,
    Sink,
    Started,
)
from debugger.backends.frida import able, breakpoints, entering, hearing, parts, reasons, thrown
from debugger.backends.frida.children import Children, Held
from debugger.backends.frida.dwarf import cache
from debugger.backends.frida.dwarf.unwind import Modules
from debugger.backends.frida.engine.engine import Engine
from debugger.backends.frida.engine.events import Paused
from debugger.backends.frida.life import Life
from debugger.backends.frida.looking.looking import Looking
from debugger.backends.frida.program import Program
from debugger.backends.frida.stops import Stops
from debugger.backends.frida.tracing import Tracing
from debugger.backends.frida.turns import Turns
from debugger.backends.frida.watched import Watched
from debugger.backends.stdio import input_of
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.core.events import Stream
from debugger.core.model import (
    ExceptionDetails,
    Frame,
    Purpose,
    Reason,
    Resume,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)
from debugger.errors import Code, DebuggerError

T = TypeVar("T")


class FridaBackend:
    """One program with the engine inside (`Backend`)."""

    kind = able.KIND
    adapter = able.ADAPTER

    def __init__(
        self,
        *,
        sink: Sink,
        scratch: Path,
        tasks: asyncio.TaskGroup,
        others: Callable[[type[Any]], str] = lambda _: "",
        held: Held | None = None,
    ) -> None:
        self._sink = sink
        self._others = others
        self._make = partial(FridaBackend, scratch=scratch, tasks=tasks, others=others)
        self._life = Life(scratch, tasks, held=held)
        self._children = held.family if held is not None else Children()
        self._abilities: dict[type[Any], Any] = {}
        self._hearing = hearing.Hearing(self, tasks)
        self._wants_pause = False
        self.program = Program(0, None)
        self.breakpoints = breakpoints.Breakpoints(self)
        # There once the engine is inside.
        self.looking: Looking
        self.steps: Turns
        self.tracing: Tracing
        self.watched: Watched
        self.stops = Stops(self, tell=self._show, holds=self._holds)

    # -- what its parts may ask -----------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """The engine inside the program.

        Raises:
            DebuggerError: WRONG_STATE before there is one.
        """
        return self._life.engine

    @property
    def modules(self) -> Modules:
        """The binaries that are loaded now."""
        return self.program.modules

    def paused(self, thread: int) -> Paused:
        """Return what a thread that waits has told.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        found = self.engine.paused.get(thread)
        if found is None:
            raise DebuggerError(
                Code.WRONG_STATE,
                f"thread {thread} is running",
                hint="debugger pause --all stops every thread",
            )
        return found

    def tell(self, event: Event) -> None:
        """Tell the session; what the program wrote before is told first."""
        if not self._hearing.is_muted:
            stdio = self._life.stdio
            if stdio is not None and not isinstance(event, Printed):
                stdio.poll()
            self._sink(event)

    @property
    def is_guest(self) -> bool:
        """Whether the program was there before us."""
        return self._life.is_guest

    async def drain(self) -> None:
        """Tell what the program has written to its end."""
        await self._life.drain()

    # -- begin and end --------------------------------------------------------------------------

    def report_to(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._sink = sink

    def ability(self, kind: type[T]) -> T:
        """Return what does something that not every debugger can (see Backend.ability)."""
        found: Any = self._abilities.get(kind)
        if found is None:
            if kind not in parts.ABILITIES:
                raise abilities.missing(kind, able.KIND, self._others(kind))
            self._abilities[kind] = found = parts.ABILITIES[kind](self)
        ability: T = found
        return ability

    async def start(self, launch: Launch) -> None:
        """Start the program with the engine inside, and hold it where breakpoints can be set."""
        await self._life.start(launch, self._hearing.take, self._print)
        await self._begun()
        if launch.stop_on_entry:
            await entering.hold_at_entry(self.engine, self.program)

    async def attach(self, target: Attach) -> None:
        """Enter a process that runs, and let it run on.

        Raises:
            DebuggerError: NOT_SUPPORTED for a core file or a debug server.
        """
        self._wants_pause = target.pause
        await self._life.attach(target, self._hearing.take)
        await self._begun()

    async def _begun(self) -> None:
        await self._look()
        self._hearing.listen()
        self.tell(Started(self.engine.pid))

    async def _look(self) -> None:
        engine = self.engine
        self.program = program = Program(engine.pid, cache.folder(self._life.env))
        program.load(await engine.modules())
        self.looking = Looking(self)
        self.steps = Turns(self, self.stops)
        self.tracing = Tracing(self)
        self.watched = Watched(self)

    async def connect(self) -> None:
        """Enter the child process that this backend was made for, which waits.

        Raises:
            DebuggerError: ADAPTER_FAILED; then it runs free.
        """
        await self._life.follow(self._hearing.take)
        await self._begun()

    async def became(self, at: int) -> None:
        """Enter what the program has become by exec, with its breakpoints, and let it run.

        Raises:
            DebuggerError: ADAPTER_FAILED; then it runs free.
        """
        self.tell(Resumed())  # whatever thread was stopped is no more
        self.stops.ended()
        self.stops = Stops(self, tell=self._show, holds=self._holds)
        await self._life.become(at, self._hearing.take)
        self.breakpoints.left("the program became another by exec")
        self._abilities.clear()
        self.program.close()
        try:
            await self._look()
            await self.breakpoints.loaded(list(self.modules))
        finally:
            await self.engine.run()

    def appeared(self, pid: int, at: int) -> None:
        """Have a process that was started debugged as this one is, or let it run free."""
        held = self._children.hold(pid, self._life, at)
        if held is not None:
            child = self._make(sink=self._sink, held=held)
            self.tell(ChildAppeared(child, pid, held.words))
        elif (said := self._children.refused()) is not None:
            self.tell(Printed(Stream.CONSOLE, f"{said}\n"))

    async def run(self) -> None:
        """End the configuration: the program runs from here on."""
        await self.engine.run()
        if self._wants_pause:
            self._wants_pause = False
            await self.pause()

    async def close(self, *, kill: bool) -> Closed:
        """End the engine, and the program with it if `kill`."""
        self._hearing.mute()
        self.stops.ended()
        closed = await self._life.end(kill=kill)
        self.program.close()
        return closed

    # -- what happens ---------------------------------------------------------------------------

    def _print(self, stream: Stream, text: str) -> None:
        self.tell(Printed(stream, text))

    def _holds(self, stop: Stopped) -> bool:
        """Tell whether a stop is still one: its breakpoint may have been removed meanwhile."""
        if stop.thread not in self.engine.paused:
            return False
        if stop.reason not in {Reason.BREAKPOINT, Reason.EXCEPTION}:
            return True
        return any(self.breakpoints.is_wanted(one) for one in stop.hits)

    def _show(self, stop: Stopped) -> None:
        self.looking.new_stop()
        self.tell(stop)

    # -- breakpoints ----------------------------------------------------------------------------

    def place(self, spec: Spec) -> Spec | Bound:
        """Return where a breakpoint is to be set, or why it cannot be."""
        return thrown.place(spec) if spec.kind is Kind.EXCEPTION else spec

    async def set_breakpoints(self, file: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints of a source file (their `at`)."""
        return await self.breakpoints.replace(f"file {file}", wanted)

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the function breakpoints."""
        return await self.breakpoints.replace("functions", wanted)

    async def set_instruction_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints at addresses."""
        return await self.breakpoints.replace("addresses", wanted)

    async def set_catches(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace what is caught."""
        return await self.breakpoints.replace("catches", wanted)

    async def explain(self, spec: Spec) -> Bound:
        """Say why a breakpoint does not bind."""
        return await self.breakpoints.explain(spec)

    # -- running --------------------------------------------------------------------------------

    async def resume(self, how: Resume, thread: int) -> None:
        """Let the threads run whose stop has been told, or step with one."""
        if how is Resume.CONTINUE:
            await self.steps.forget()
            self.stops.go_on()
        else:
            # What is known of the frames now tells afterwards which function has been left.
            await self.looking.stack(thread, levels=2)
            await self.steps.begin(how, thread)

    async def resume_alone(self, how: Resume, thread: int) -> None:
        """Let only this thread run; the others that have stopped stay where they are."""
        if how is Resume.CONTINUE:
            self.paused(thread)
            self.stops.go_on_alone(thread)
        else:
            await self.resume(how, thread)

    async def pause(self) -> None:
        """Ask one thread to pause: the one that stopped last, else the main one."""
        running = [one.id for one in await self.engine.threads() if not one.is_paused]
        last = self.stops.last
        await self.stops.pause(sorted(running, key=lambda one: (one != last, one)))

    @property
    def waiting(self) -> Sequence[int]:
        """The threads that wait now, told of or not."""
        return sorted(self._life.inside.paused) if self._life.inside is not None else ()

    async def pause_all(self) -> None:
        """Ask every thread to pause; one stop is reported when they have."""
        running = [one.id for one in await self.engine.threads() if not one.is_paused]
        await self.stops.pause_all(running)

    # -- looking --------------------------------------------------------------------------------

    async def threads(self) -> list[Thread]:
        """Return the threads; of those that have stopped, at which breakpoints and for how long."""
        return [self._with_stop(one) for one in await self.looking.threads()]

    def _with_stop(self, thread: Thread) -> Thread:
        paused = self.engine.paused.get(thread.id)
        if paused is None:
            return thread
        stop = reasons.stopped(paused, self.breakpoints)
        stopped_s = max(time.monotonic() - paused.time / 1e6, 0.0)
        return replace(thread, hits=stop.hits if stop is not None else (), stopped_s=stopped_s)

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread, innermost first."""
        return await self.looking.stack(thread, start=start, levels=levels)

    async def scopes(self, frame: Frame) -> list[Scope]:
        """Return the groups of variables of a frame."""
        return await self.looking.scopes(frame)

    async def variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        """Return what a scope or a value holds, or a part of it."""
        return await self.looking.variables(handle, start=start, count=count)

    async def size(self, handle: int) -> int | None:
        """Return how many elements a value has."""
        return await self.looking.size(handle)

    async def completed(self, values: Sequence[Variable]) -> list[Variable]:
        """Add to values what was cut off them."""
        return await self.looking.completed(values)

    async def arguments(self, frame: Frame) -> list[str] | None:
        """Return the names of the arguments among a frame's locals."""
        return await self.looking.arguments(frame)

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression in a frame."""
        return await self.looking.evaluate(expression, frame, purpose)

    async def assign(self, target: str, value: str, frame: Frame) -> Variable:
        """Set a variable, a field or an element; return it as it is now."""
        return await self.looking.assign(target, value, frame)

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the signal, or the exception, that a thread stopped at."""
        if stop.reason is Reason.EXCEPTION:
            return await thrown.thrown(self, stop, stop.raw_reason)
        return await self.looking.exception(stop)

    async def source(self, frame: Frame) -> str | None:
        """Return source that only the debugger has: none."""
        del frame
        return None

    # -- input ----------------------------------------------------------------------------------

    async def write_input(self, text: bytes) -> None:
        """Write to the program's standard input."""
        await input_of(self._life.stdio).write(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        input_of(self._life.stdio).end_input()
