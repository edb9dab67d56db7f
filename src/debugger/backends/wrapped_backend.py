"""Wraps a backend in another one, which passes every call on unless a subclass changes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from debugger.backends.base import AttachTarget, Backend, ClosedBackend, LaunchTarget, Sink
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    Frame,
    ResumeKind,
    Scope,
    Stack,
    Stopped,
    Thread,
    Variable,
)

T = TypeVar("T")


class WrappedBackend:
    """Passes each call on to the wrapped backend (`Backend`).

    Each method is written out, so that a new one of `Backend` is missing here for the type checker.
    """

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    @property
    def adapter_name(self) -> str:
        return self._inner.adapter_name

    @property
    def backend_name(self) -> str:
        return self._inner.backend_name

    @property
    def traits(self) -> DebuggerTraits:
        return self._inner.traits

    async def start(self, launch: LaunchTarget) -> None:
        await self._inner.start(launch)

    async def attach(self, target: AttachTarget) -> None:
        await self._inner.attach(target)

    async def connect_child(self) -> None:
        await self._inner.connect_child()

    def find_ability(self, kind: type[T]) -> T:
        return self._inner.find_ability(kind)

    def set_sink(self, sink: Sink) -> None:
        self._inner.set_sink(sink)

    def locate_breakpoint(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        return self._inner.locate_breakpoint(spec)

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        return await self._inner.set_breakpoints(file, breakpoints)

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        return await self._inner.set_function_breakpoints(breakpoints)

    async def run_program(self) -> None:
        await self._inner.run_program()

    async def resume(self, how: ResumeKind, thread: int) -> None:
        await self._inner.resume(how, thread)

    async def pause(self) -> None:
        await self._inner.pause()

    async def list_threads(self) -> list[Thread]:
        return await self._inner.list_threads()

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        return await self._inner.read_stack(thread, start=start, levels=levels)

    async def read_scopes(self, frame: Frame) -> list[Scope]:
        return await self._inner.read_scopes(frame)

    async def read_variables(
        self, handle: int, *, start: int = 0, count: int | None = None
    ) -> list[Variable]:
        return await self._inner.read_variables(handle, start=start, count=count)

    async def count_elements(self, handle: int) -> int | None:
        return await self._inner.count_elements(handle)

    async def complete_values(self, values: Sequence[Variable]) -> list[Variable]:
        return await self._inner.complete_values(values)

    async def argument_names(self, frame: Frame) -> list[str] | None:
        return await self._inner.argument_names(frame)

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        return await self._inner.evaluate(expression, frame, purpose)

    async def assign_value(self, target: str, value: str, frame: Frame) -> Variable:
        return await self._inner.assign_value(target, value, frame)

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        return await self._inner.read_exception(stop)

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        return await self._inner.explain_unbound(spec)

    async def read_source(self, frame: Frame) -> str | None:
        return await self._inner.read_source(frame)

    async def write_input(self, text: bytes) -> None:
        await self._inner.write_input(text)

    async def close_input(self) -> None:
        await self._inner.close_input()

    async def close(self, *, kill: bool) -> ClosedBackend:
        return await self._inner.close(kill=kill)
