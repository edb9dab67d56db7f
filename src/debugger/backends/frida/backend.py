"""A debugged program with Frida inside: the Backend protocol by the engine and its debug data."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from debugger.backends.base import (
    Attach,
    Closed,
    Event,
    Launch,
    Printed,
    Sink,
    Started,
)
from debugger.backends.frida import able, breakpoints, entering, hearing, parts, thrown
from debugger.backends.frida.dwarf import cache
from debugger.backends.frida.dwarf.unwind import Modules
from debugger.backends.frida.engine.engine import Engine, Place
from debugger.backends.frida.engine.events import Paused
from debugger.backends.frida.looking.looking import Looking
from debugger.backends.frida.program import Program
from debugger.backends.frida.stops import Stops
from debugger.backends.frida.tracing import Tracing
from debugger.backends.frida.turns import Turns
from debugger.backends.frida.watched import Watched
from debugger.backends.stdio import Stdio, input_of
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

_DETACH_S = 8.0


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
    ) -> None:
        self._sink = sink
        self._scratch = scratch
        self._tasks = tasks
        self._others = others
        self._abilities: dict[type[Any], Any] = {}
        self._engine: Engine | None = None
        self._stdio: Stdio | None = None
        self._hearing = hearing.Hearing(self, tasks)
        self._wants_pause = False
        self._is_guest = False
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
        if self._engine is None:
            raise DebuggerError(
                Code.WRONG_STATE, "the program has not begun", hint="debugger start PROGRAM"
            )
        return self._engine

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
            if self._stdio is not None and not isinstance(event, Printed):
                self._stdio.poll()
            self._sink(event)

    @property
    def is_guest(self) -> bool:
        """Whether the program was there before us."""
        return self._is_guest

    async def drain(self) -> None:
        """Tell what the program has written to its end."""
        if self._stdio is not None:
            await self._stdio.drain()

    # -- begin and end --------------------------------------------------------------------------

    def report_to(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._sink = sink

    def ability(self, kind: type[T]) -> T:
        """Return what does something that not every debugger can (see Backend.ability)."""
        found: Any = self._abilities.get(kind)
        if found is None:
            if kind not in parts.ABILITIES:
                raise able.missing(kind, self._others(kind))
            self._abilities[kind] = found = parts.ABILITIES[kind](self)
        ability: T = found
        return ability

    async def start(self, launch: Launch) -> None:
        """Start the program with the engine inside, and hold it where breakpoints can be set."""
        assert launch.program is not None
        self._stdio = stdio = Stdio(self._scratch, as_terminal=True, on_output=self._print)
        if launch.stdin is not None:
            stdio.end_input()
        self._engine = await Engine.start(
            [launch.program, *launch.args],
            place=Place(cwd=launch.cwd, env=launch.env, scratch=self._scratch),
            stdio=(launch.stdin or stdio.stdin, stdio.stdout, stdio.stderr),
            tasks=self._tasks,
            sink=self._hearing.take,
            holds_modules=True,
        )
        stdio.opened()
        await self._begun(launch.env)
        if launch.stop_on_entry:
            await entering.hold_at_entry(self.engine, self.program)

    async def attach(self, target: Attach) -> None:
        """Enter a process that runs, and let it run on.

        Raises:
            DebuggerError: NOT_SUPPORTED for a core file or a debug server.
        """
        if target.pid is None:
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                f"{able.KIND} goes inside a process that runs here, and this is none",
                hint="--backend dap, or none, takes what can",
            )
        self._is_guest, self._wants_pause = True, target.pause
        self._engine = await Engine.attach(
            target.pid,
            place=Place(cwd=target.cwd, env=target.env, scratch=self._scratch),
            tasks=self._tasks,
            sink=self._hearing.take,
            holds_modules=True,
        )
        await self._begun(target.env)

    async def _begun(self, env: Mapping[str, str]) -> None:
        engine = self.engine
        self.program = program = Program(engine.pid, cache.folder(env))
        program.load(await engine.modules())
        self.looking = Looking(self)
        self.steps = Turns(self, self.stops)
        self.tracing = Tracing(self)
        self.watched = Watched(self)
        self._hearing.listen()
        self.tell(Started(engine.pid))

    async def connect(self) -> None:
        """Take hold of a child process: none is followed.

        Raises:
            DebuggerError: NOT_SUPPORTED.
        """
        raise DebuggerError(Code.NOT_SUPPORTED, f"{able.KIND} follows no child processes")

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
        engine, stdio = self._engine, self._stdio
        killed: tuple[str, ...] = ()
        if engine is not None:
            if kill and self._is_guest:
                with suppress(OSError):
                    os.kill(engine.pid, signal.SIGKILL)
            elif not kill:
                await self._let_go(engine, stdio)
            helpers = _helpers(self._scratch)
            ended = (await engine.end()).killed
            killed = tuple(one for one in ended if one.partition(" ")[0] not in helpers)
        if stdio is not None:
            await stdio.drain()
            stdio.close()
        self.program.close()
        return Closed(killed=killed)

    async def _let_go(self, engine: Engine, stdio: Stdio | None) -> None:
        if not self._is_guest:
            await engine.guarded.release([engine.pid], stdio.outputs if stdio is not None else [])
        with suppress(DebuggerError, TimeoutError):
            async with asyncio.timeout(_DETACH_S):
                await engine.run()  # it may never have begun
                await engine.detach()

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
        return sorted(self._engine.paused) if self._engine is not None else ()

    async def pause_all(self) -> None:
        """Ask every thread to pause; one stop is reported when they have."""
        running = [one.id for one in await self.engine.threads() if not one.is_paused]
        await self.stops.pause_all(running)

    # -- looking --------------------------------------------------------------------------------

    async def threads(self) -> list[Thread]:
        """Return the threads."""
        return await self.looking.threads()

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
        await input_of(self._stdio).write(text)

    async def close_input(self) -> None:
        """End the program's standard input."""
        input_of(self._stdio).end_input()


def _helpers(scratch: Path) -> list[str]:
    """List the processes that Frida has started for itself, out of its own files there."""
    found = []
    for one in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError):
            if str(one.readlink()).startswith(f"{scratch}/"):
                found.append(one.parent.name)
    return found
