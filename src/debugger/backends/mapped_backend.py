"""Maps source paths for a program whose sources lie elsewhere than where it was built.

A backend is wrapped in another one: paths in its answers are mapped to this machine, and paths in
requests to the program's own. All other calls are passed on unchanged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import msgspec

from debugger.backends.abilities import (
    DisassemblyAbility,
    InstructionBreakpointAbility,
    JumpAbility,
)
from debugger.backends.base import Backend, BackendEvent, BreakpointChanged, ChildStarted, Sink
from debugger.backends.wrapped_backend import WrappedBackend
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.location import SourceMap
from debugger.model.program import Frame, Instruction, Stack

T = TypeVar("T")
Make = Callable[[Sink, asyncio.TaskGroup], Backend]


def map_sources(make: Make, places: SourceMap) -> Make:
    """Return a factory of source-mapped backends; without a source map, the factory itself."""
    # Most programs lie where they were built: nothing is wrapped then.
    if not places:
        return make

    def make_mapped_backend(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        return _map_backend(make(_map_sink(sink, places), tasks), places)

    return make_mapped_backend


def _map_backend(backend: Backend, places: SourceMap) -> Backend:
    return _MappedBackend(backend, places)


def _map_sink(sink: Sink, places: SourceMap) -> Sink:
    # Only these events carry paths or backends; a child's backend is wrapped as its parent's.
    def report_event(event: BackendEvent) -> None:
        match event:
            case BreakpointChanged(bound):
                sink(BreakpointChanged(_map_bound(bound, places)))
            case ChildStarted(backend):
                sink(msgspec.structs.replace(event, backend=_map_backend(backend, places)))
            case _:
                sink(event)

    return report_event


def _map_bound(bound: BoundBreakpoint, places: SourceMap) -> BoundBreakpoint:
    file = places.to_local(bound.file) if bound.file is not None else None
    return msgspec.structs.replace(bound, file=file)


class _MappedBackend(WrappedBackend):
    """Wraps a backend whose source paths are mapped."""

    def __init__(self, inner: Backend, places: SourceMap) -> None:
        super().__init__(inner)
        self._places = places

    def set_sink(self, sink: Sink) -> None:
        super().set_sink(_map_sink(sink, self._places))

    def find_ability(self, kind: type[T]) -> T:
        # Abilities are objects of their own: those with paths are wrapped, too.
        ability: Any = super().find_ability(kind)
        wrapper = _ABILITIES.get(kind)
        return cast("T", ability if wrapper is None else wrapper(ability, self._places))

    async def set_breakpoints(
        self, file: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        bounds = await super().set_breakpoints(self._places.to_built(file), breakpoints)
        return [_map_bound(one, self._places) for one in bounds]

    async def set_function_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        # A function's name is the same everywhere; the answer has the file that it is in.
        bounds = await super().set_function_breakpoints(breakpoints)
        return [_map_bound(one, self._places) for one in bounds]

    async def explain_unbound(self, spec: BreakpointSpec) -> BoundBreakpoint:
        return _map_bound(await super().explain_unbound(spec), self._places)

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        stack = await super().read_stack(thread, start=start, levels=levels)
        frames = tuple(self._map_frame(one) for one in stack.frames)
        return msgspec.structs.replace(stack, frames=frames)

    def _map_frame(self, frame: Frame) -> Frame:
        file = self._places.to_local(frame.file) if frame.file is not None else None
        return msgspec.structs.replace(frame, file=file)


class _MappedJump:
    """Maps the file of a jump (`JumpAbility`)."""

    def __init__(self, inner: JumpAbility, places: SourceMap) -> None:
        self._inner = inner
        self._places = places

    @property
    def is_stop_reported(self) -> bool:
        return self._inner.is_stop_reported

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        await self._inner.jump_to(self._places.to_built(file), line, thread)


class _MappedDisassembly:
    """Maps the files of instructions (`DisassemblyAbility`)."""

    def __init__(self, inner: DisassemblyAbility, places: SourceMap) -> None:
        self._inner = inner
        self._places = places

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        return [
            msgspec.structs.replace(one, file=self._places.to_local(one.file)) if one.file else one
            for one in await self._inner.read_instructions(address, count)
        ]


class _MappedAddresses:
    """Maps the files of breakpoints at addresses (`InstructionBreakpointAbility`)."""

    def __init__(self, inner: InstructionBreakpointAbility, places: SourceMap) -> None:
        self._inner = inner
        self._places = places

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        bounds = await self._inner.set_instruction_breakpoints(breakpoints)
        return [_map_bound(one, self._places) for one in bounds]


# A test compares these with the abilities whose methods take or return a path.
_ABILITIES: Mapping[type[Any], Callable[[Any, SourceMap], object]] = {
    DisassemblyAbility: _MappedDisassembly,
    InstructionBreakpointAbility: _MappedAddresses,
    JumpAbility: _MappedJump,
}
