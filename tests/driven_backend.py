"""Drives a backend, or everything behind the socket, in a test."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from debugger.backends import abilities, select_backend
from debugger.backends.base import (
    BackendEvent,
    BreakpointChanged,
    ChildStarted,
    LaunchTarget,
    OutputPrinted,
)
from debugger.backends.dap.dap_client import AdapterLimits
from debugger.backends.dap.debug_adapter import AdapterLocation, DebugAdapter
from debugger.daemon.command_request import CommandReply, CommandRequest
from debugger.daemon.dispatch import Dispatcher
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.events import OutputStream
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    ResumeKind,
    ScopeKind,
    Stopped,
    Variable,
)
from debugger.system.supervised_process import SupervisedProcess

T = TypeVar("T")
LIMITS = AdapterLimits(initialize_s=10, request_s=10)
_EVENT_S = 60.0
_END_S = 60.0


class EventRecorder(list[BackendEvent]):
    """A sink that keeps what it is told, to be waited for in its order."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Event()
        self._at = 0

    def __call__(self, event: BackendEvent) -> None:
        self.append(event)
        self._news.set()

    async def next(self, kind: type[T] | tuple[type[T], ...], *, within: float = _EVENT_S) -> T:
        """Wait for the first event of a kind, or of several, after that waited for last."""
        try:
            async with asyncio.timeout(within):
                while True:
                    while self._at < len(self):
                        self._at += 1
                        found = self[self._at - 1]
                        if isinstance(found, kind):
                            return found
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"no {kind} in {within:g} s; seen: {self}") from None

    def printed(self, stream: OutputStream) -> str:
        """Join what was printed on a stream so far."""
        return "".join(
            one.text for one in self if isinstance(one, OutputPrinted) and one.stream is stream
        )

    async def until_printed(self, text: str, stream: OutputStream = OutputStream.STDOUT) -> None:
        """Wait until a stream has this text."""
        while text not in self.printed(stream):
            await self.next(OutputPrinted)


@dataclass
class DrivenBackend:
    """A backend in a test, and what it told; the breakpoints' numbers are given here."""

    backend: Any
    seen: EventRecorder
    tasks: asyncio.TaskGroup
    _numbers: list[int] = field(default_factory=list)

    @property
    def guard(self) -> SupervisedProcess | None:
        """What holds the debugger and the program."""
        if hasattr(self.backend, "engine"):
            return self.backend.engine.supervised_host
        inner = self.backend._talk if hasattr(self.backend, "_talk") else self.backend._console
        return inner._guard if hasattr(inner, "_guard") else inner.guard

    async def add(self, *specs: BreakpointSpec) -> list[BoundBreakpoint]:
        """Set breakpoints of one list, each placed as the backend wants it."""
        wanted = []
        for spec in specs:
            at = self.backend.locate_breakpoint(spec)
            if isinstance(at, BoundBreakpoint):
                return [at]
            self._numbers.append(len(self._numbers) + 1)
            wanted.append(Breakpoint(id=self._numbers[-1], spec=spec, at=at))
        first = wanted[0].at
        assert first is not None
        if first.kind is BreakpointKind.FUNCTION:
            return await self.backend.set_function_breakpoints(wanted)
        if first.kind is BreakpointKind.ADDRESS:
            addresses = self.backend.find_ability(abilities.InstructionBreakpointAbility)
            return await addresses.set_instruction_breakpoints(wanted)
        if first.kind is BreakpointKind.EXCEPTION:
            return await self.backend.find_ability(abilities.ExceptionAbility).set_catches(wanted)
        assert first.file is not None
        return await self.backend.set_breakpoints(first.file, wanted)

    async def watch(self, expression: str, frame: Frame) -> BoundBreakpoint:
        """Watch what an expression means in a frame."""
        spec = BreakpointSpec(watch=expression, function=frame.function)
        self._numbers.append(len(self._numbers) + 1)
        wanted = Breakpoint(id=self._numbers[-1], spec=spec, at=spec)
        return await self.backend.find_ability(abilities.WatchpointAbility).set_watchpoint(
            wanted, frame
        )

    async def to_stop(self, start: LaunchTarget, *specs: BreakpointSpec) -> Stopped:
        """Start a program with breakpoints that must all bind, and run it to its first stop."""
        await self.backend.start(start)
        bounds = [bound for spec in specs for bound in await self.add(spec)]
        return await self.run_to_stop(*bounds)

    async def run_to_stop(self, *bounds: BoundBreakpoint) -> Stopped:
        """Run to the first stop, by which all breakpoints must be bound.

        gdb 16 and js-debug bind them once the program's code is there.
        """
        for bound in bounds:
            assert bound.verified or bound.backend_id is not None, bound
        await self.backend.run_program()
        stop = await self.seen.next(Stopped)
        news = [event.bound for event in self.seen if isinstance(event, BreakpointChanged)]
        late = {bound.backend_id for bound in news if bound.verified}
        for bound in bounds:
            assert bound.verified or bound.backend_id in late, (bound, self.seen)
        return stop

    async def go_on(self, stop: Stopped, how: ResumeKind = ResumeKind.CONTINUE) -> None:
        """Let the program go on from a stop."""
        assert stop.thread is not None
        await self.backend.resume(how, stop.thread)

    async def frames(self, stop: Stopped) -> tuple[Frame, ...]:
        """Return the frames of a stop, innermost first."""
        assert stop.thread is not None
        return (await self.backend.read_stack(stop.thread)).frames

    async def frame(self, stop: Stopped) -> Frame:
        """Return the frame that a stop is in."""
        return (await self.frames(stop))[0]

    async def value(self, stop: Stopped, expression: str) -> str:
        """Evaluate an expression where the program stopped."""
        frame = await self.frame(stop)
        return (await self.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)).value

    async def locals(self, frame: Frame) -> dict[str, Variable]:
        """Return a frame's variables, its arguments too, by their names."""
        found: list[Variable] = []
        for scope in await self.backend.read_scopes(frame):
            if scope.kind in {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}:
                found += await self.backend.read_variables(scope.handle)
        return {variable.name: variable for variable in found}


def drive_adapter(
    adapter: DebugAdapter,
    found: AdapterLocation,
    scratch_root: Path,
    *,
    limits: AdapterLimits = LIMITS,
) -> AbstractAsyncContextManager[DrivenBackend]:
    """Make a backend that drives an adapter, and end it with all that it started."""
    return hold_backend(
        select_backend.backend_maker(adapter, found, limits=limits, scratch_root=scratch_root)
    )


@asynccontextmanager
async def hold_backend(
    make: Callable[[EventRecorder, asyncio.TaskGroup], Any],
) -> AsyncIterator[DrivenBackend]:
    """Make a backend, and end it with all that it started."""
    seen = EventRecorder()
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        backend = make(seen, tasks)
        try:
            yield DrivenBackend(backend, seen, tasks)
        finally:
            children = [one.backend for one in seen if isinstance(one, ChildStarted)]
            async with asyncio.timeout(_END_S):
                for one in (*children, backend):
                    await one.close(kill=True)


def launch_target(program: str | Path, *args: str, **changes: Any) -> LaunchTarget:
    """Launch a program in the tests' own environment."""
    return LaunchTarget(str(program), cwd=os.getcwd(), env=dict(os.environ), args=args, **changes)


@dataclass
class DaemonStack:
    """The daemon's handler in the test's own process: commands in, replies out."""

    dispatcher: Dispatcher
    cwd: Path
    env: Mapping[str, str]
    bound_s: float = 20.0

    async def __call__(self, *argv: str) -> CommandReply:
        """Run a command; it must answer within the bound."""

        async def stream(_: str) -> None:
            return

        request = CommandRequest(id=1, stream=stream, argv=argv, cwd=str(self.cwd), env=self.env)
        async with asyncio.timeout(self.bound_s):
            return await self.dispatcher.handle(request)

    async def data(self, *argv: str) -> Mapping[str, Any]:
        """Run a command that must succeed, and return what it says."""
        reply = await self(*argv)
        assert reply.error is None, f"{argv}: {reply.error.code} {reply.error.message}"
        assert reply.result is not None
        return reply.result


def write_configuration(
    file: Path, *, adapter: str, arguments: tuple[str, ...], **seconds: float
) -> None:
    """Write a configuration that starts an adapter with these arguments."""
    times = "".join(f"{name} = {value}\n" for name, value in seconds.items())
    words = json.dumps(list(arguments))
    file.write_text(f"[adapters.{adapter}]\nargs = {words}\n[timeouts]\n{times}")


@asynccontextmanager
async def open_stack(cwd: Path, config: Path) -> AsyncIterator[DaemonStack]:
    """Hold a daemon's handler, and end its sessions."""
    published: list[object] = []
    dispatcher = Dispatcher(published.append)
    env = {**os.environ, "DEBUGGER_CONFIG": str(config)}
    try:
        yield DaemonStack(dispatcher, cwd, env)
    finally:
        async with asyncio.timeout(_END_S):
            await dispatcher.close()
