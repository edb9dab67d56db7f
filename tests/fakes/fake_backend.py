"""The smallest backend that a session can drive: a program of lines in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypeVar

from debugger.backends.base import (
    AttachTarget,
    BackendEnded,
    ClosedBackend,
    LaunchTarget,
    ProcessStarted,
    Sink,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Frame,
    ResumeKind,
    Scope,
    ScopeKind,
    Stack,
    Stopped,
    StopReason,
    Thread,
    Variable,
)

T = TypeVar("T")

FILE = "/nowhere/loop.c"
LAUNCH = LaunchTarget(program="/nowhere/loop", cwd="/nowhere", env={})
LAST_LINE = 100


class FakeBackend:
    """A program that stops when the test says so (`Backend`).

    `calls` are what it was asked, `hold` names a call that waits for `let_go`; `fails` maps a call
    to the error that it raises.
    """

    adapter_name = "fake"
    traits = DebuggerTraits()
    backend_name = "memory"

    def __init__(self, sink: Sink, tasks: asyncio.TaskGroup) -> None:
        del tasks
        self.sink = sink
        self.calls: list[str] = []
        self.lists: dict[str | None, tuple[Breakpoint, ...]] = {}
        self.line = 1
        self.function = "work"
        self.file = FILE
        self.values: dict[str, str] = {"i": "0"}
        self.fails: dict[str, DebuggerError] = {}
        self.abilities: dict[type[Any], Any] = {}
        self.hold: str | None = None
        self.held = asyncio.Event()
        self.let_go = asyncio.Event()
        self.is_closed = False
        self.is_stepping_at_once = False
        self.stops_at_pause = True
        self.known = [Thread(1, "main")]

    async def _asked(self, name: str) -> None:
        self.calls.append(name)
        if name == self.hold:
            self.held.set()
            await self.let_go.wait()
        if name in self.fails:
            raise self.fails[name]

    # -- what the test does ------------------------------------------------------------------

    def stop(
        self,
        line: int = 1,
        reason: StopReason = StopReason.BREAKPOINT,
        *,
        hits: Sequence[int] = (),
        thread: int = 1,
    ) -> None:
        self.line = line
        self.sink(Stopped(reason, reason.value, thread=thread, hits=tuple(hits)))

    def hit(self, wanted: Breakpoint, line: int = 1) -> None:
        assert wanted.bound is not None
        assert wanted.bound.backend_id is not None
        self.stop(line, hits=[wanted.bound.backend_id])

    def end(self, code: int = 0) -> None:
        self.sink(ExitedProgram(code=code))
        self.sink(BackendEnded())

    def sent(self, file: str | None = FILE) -> list[int | None]:
        return [one.at.line if one.at is not None else None for one in self.lists.get(file, ())]

    # -- what a session asks -----------------------------------------------------------------

    def set_sink(self, sink: Sink) -> None:
        self.sink = sink

    async def start(self, launch: LaunchTarget) -> None:
        del launch
        await self._asked("start")
        self.sink(ProcessStarted(4711))

    async def attach(self, target: AttachTarget) -> None:
        del target
        await self._asked("attach")

    async def connect_child(self) -> None:
        await self._asked("connect")

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        return spec

    async def set_breakpoints(
        self, file: str, wanted: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        await self._asked("set_breakpoints")
        self.lists[file] = tuple(wanted)
        return [self._bound(one) for one in wanted]

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        await self._asked("set_function_breakpoints")
        self.lists[None] = tuple(wanted)
        return [self._bound(one) for one in wanted]

    def _bound(self, wanted: Breakpoint) -> BoundBreakpoint:
        spec = wanted.at or wanted.spec
        number = 1000 + wanted.id
        if spec.kind is BreakpointKind.LINE and (spec.line or 0) > LAST_LINE:
            return BoundBreakpoint(verified=False, backend_id=number, why="no code there")
        return BoundBreakpoint(
            verified=True, backend_id=number, file=spec.file or FILE, line=spec.line
        )

    async def run_program(self) -> None:
        await self._asked("run")

    async def resume(self, how: ResumeKind, thread: int) -> None:
        del thread
        await self._asked(how.value)
        if self.is_stepping_at_once and how is not ResumeKind.CONTINUE:
            self.stop(self.line + 1, StopReason.STEP)

    async def pause(self) -> None:
        await self._asked("pause")
        if self.stops_at_pause:
            self.stop(self.line, StopReason.PAUSE)

    async def list_threads(self) -> list[Thread]:
        await self._asked("threads")
        return list(self.known)

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        del thread
        await self._asked("stack")
        frames = (
            Frame(0, self.function, 1, self.file, self.line),
            Frame(1, "main", 2, self.file, 90),
        )
        return Stack(frames[start : start + levels], total=2)

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        del frame
        return [Scope("Locals", ScopeKind.LOCALS, 1)]

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        del handle
        found = [Variable(name, value, "int") for name, value in self.values.items()]
        return found[start:] if count is None else found[start : start + count]

    async def count_elements(self, handle: int) -> int | None:
        del handle
        return len(self.values)

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        return list(values)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        del frame
        return None

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        del frame, purpose
        await self._asked("evaluate")
        if expression not in self.values:
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, f"no {expression}")
        return Variable(expression, self.values[expression], "int")

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        del frame
        self.values[target] = value
        return Variable(target, value, "int")

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        del stop
        return None

    def find_ability(self, kind: type[T]) -> T:
        found: T | None = self.abilities.get(kind)
        if found is None:
            raise DebuggerError(ErrorCode.NOT_SUPPORTED, f"the fake has no {kind.__name__}")
        return found

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        del spec
        return BoundBreakpoint(verified=False, why="no code there")

    async def read_source(self, frame: Frame) -> str | None:
        del frame
        return None

    async def write_input(self, text: bytes) -> None:
        await self._asked(f"input {text!r}")

    async def close_input(self) -> None:
        await self._asked("end of input")

    async def close(self, *, kill: bool) -> ClosedBackend:
        self.calls.append("kill" if kill else "let go")
        self.is_closed = True
        self.let_go.set()
        return ClosedBackend()
