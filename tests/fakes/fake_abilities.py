"""A fake debugger that reads, traces and calls while the program runs."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends import abilities
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, StopReason, Thread, TracedPattern, Variable
from fakes.fake_backend import FakeBackend


class FakePauseAll:
    """Stops each thread alone: `waiting_threads` wait, the others run (`PauseAllAbility`)."""

    def __init__(self, backend: FakeBackend, *names: str) -> None:
        self._backend = backend
        backend.known = [Thread(at, name, is_running=True) for at, name in enumerate(names, 1)]
        backend.abilities[abilities.PauseAllAbility] = self
        backend.abilities[abilities.SingleThreadAbility] = self

    @property
    def waiting_threads(self) -> Sequence[int]:
        return tuple(one.id for one in self._backend.known if not one.is_running)

    def wait(self, *threads: int) -> None:
        self._backend.known = [
            Thread(one.id, one.name, is_running=one.is_running and one.id not in threads)
            for one in self._backend.known
        ]

    async def pause_all_threads(self) -> None:
        self._backend.calls.append("pause all")
        self.wait(*(one.id for one in self._backend.known))
        self._backend.stop(7, StopReason.PAUSE)


class FakeLiveValues:
    """Globals that can be read and written at any time, and what is at addresses."""

    def __init__(self, backend: FakeBackend) -> None:
        self.values = {"total": "3", "0x10": "42"}
        self.kinds: list[str | None] = []
        backend.abilities[abilities.LiveValueAbility] = self

    async def read_live_value(self, expression: str, *, kind: str | None = None) -> Variable:
        self.kinds.append(kind)
        if expression not in self.values:
            raise DebuggerError(ErrorCode.NOT_FOUND, f"there is no global {expression}")
        return Variable(expression, self.values[expression], kind or "int")

    async def write_live_value(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        before = await self.read_live_value(target, kind=kind)
        self.values[target] = value
        return before, await self.read_live_value(target, kind=kind)


class FakeFunctionCalls:
    """A function that adds."""

    def __init__(self, backend: FakeBackend) -> None:
        backend.abilities[abilities.CallAbility] = self

    async def call_function(
        self, function: str, arguments: Sequence[str], frame: Frame
    ) -> Variable:
        del frame
        return Variable(function, str(sum(map(int, arguments))), "int")


class FakeTracing:
    """Patterns, of which each matches two functions, or none if it begins with `no`."""

    def __init__(self, backend: FakeBackend) -> None:
        self.known: dict[int, TracedPattern] = {}
        self.limits: list[int | None] = []
        backend.abilities[abilities.TracingAbility] = self

    async def trace_functions(
        self, patterns: Sequence[str], *, limit: int | None = None
    ) -> list[TracedPattern]:
        made = [self._matched(pattern, limit) for pattern in patterns]
        self.limits.append(limit)
        return made

    def _matched(self, pattern: str, limit: int | None) -> TracedPattern:
        number = max(self.known, default=0) + 1
        names = () if pattern.startswith("no") else ("one", "two")[:limit]
        left_out = 2 - len(names) if names else 0
        why = None if names else "no function is called so"
        made = TracedPattern(number, pattern, len(names), names, left_out, why=why)
        if names:
            self.known[number] = made
        return made

    async def untrace_functions(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            del self.known[number]

    async def traced_patterns(self) -> list[TracedPattern]:
        return list(self.known.values())
