"""Maps source paths for a program whose sources lie elsewhere than where it was built.

A backend is wrapped in another one: paths in its answers are mapped to this machine, and paths in
requests to the program's own. All other calls are passed on unchanged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec

from debugger.backends.abilities import Disassembly, InstructionBreakpoints, Jump
from debugger.backends.base import Backend, ChildAppeared, Event, Rebound, Sink
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.model import Frame, Instruction, Stack
from debugger.core.source_map import SourceMap

T = TypeVar("T")
Make = Callable[[Sink, asyncio.TaskGroup], Backend]


def mapping(make: Make, places: SourceMap) -> Make:
    """Return a factory of source-mapped backends; without a source map, the factory itself."""
    if not places:
        return make

    def made(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        return _around(make(_telling(sink, places), tasks), places)

    return made


def _around(backend: Backend, places: SourceMap) -> Backend:
    return cast("Backend", _Mapped(backend, places))


def _telling(sink: Sink, places: SourceMap) -> Sink:
    def tell(event: Event) -> None:
        match event:
            case Rebound(bound):
                sink(Rebound(_bound(bound, places)))
            case ChildAppeared(backend):
                sink(msgspec.structs.replace(event, backend=_around(backend, places)))
            case _:
                sink(event)

    return tell


def _bound(bound: Bound, places: SourceMap) -> Bound:
    file = places.here(bound.file) if bound.file is not None else None
    return msgspec.structs.replace(bound, file=file)


class _Passing:
    """Delegates to an inner object all that its subclass does not define."""

    def __init__(self, inner: Any, places: SourceMap) -> None:
        self._inner = inner
        self._places = places

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Mapped(_Passing):
    """Wraps a backend whose source paths are mapped."""

    def report_to(self, sink: Sink) -> None:
        self._inner.report_to(_telling(sink, self._places))

    def ability(self, kind: type[T]) -> T:
        found: Any = self._inner.ability(kind)
        around = _ABILITIES.get(kind)
        return cast("T", around(found, self._places)) if around is not None else cast("T", found)

    async def set_breakpoints(self, file: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        found = await self._inner.set_breakpoints(self._places.built(file), wanted)
        return [_bound(one, self._places) for one in found]

    async def set_function_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        found = await self._inner.set_function_breakpoints(wanted)
        return [_bound(one, self._places) for one in found]

    async def explain(self, spec: Spec) -> Bound:
        return _bound(await self._inner.explain(spec), self._places)

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        found: Stack = await self._inner.stack(thread, start=start, levels=levels)
        frames = tuple(self._frame(one) for one in found.frames)
        return msgspec.structs.replace(found, frames=frames)

    def _frame(self, frame: Frame) -> Frame:
        file = self._places.here(frame.file) if frame.file is not None else None
        return msgspec.structs.replace(frame, file=file)


class _MappedJump(_Passing):
    async def jump(self, file: str, line: int, thread: int) -> None:
        await self._inner.jump(self._places.built(file), line, thread)


class _MappedDisassembly(_Passing):
    async def instructions(self, address: int, count: int) -> list[Instruction]:
        return [
            msgspec.structs.replace(one, file=self._places.here(one.file)) if one.file else one
            for one in await self._inner.instructions(address, count)
        ]


class _MappedAddresses(_Passing):
    async def set_instruction_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        found = await self._inner.set_instruction_breakpoints(wanted)
        return [_bound(one, self._places) for one in found]


_ABILITIES: dict[type[Any], type[_Passing]] = {
    Disassembly: _MappedDisassembly,
    InstructionBreakpoints: _MappedAddresses,
    Jump: _MappedJump,
}
