"""What does a debugger do that reads, traces and calls while the program runs?"""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends import abilities
from debugger.core.model import Frame, Reason, Thread, Traced, Variable
from debugger.errors import Code, DebuggerError
from fakes.backend import FakeBackend


class Alone:
    """Each thread of it stops on its own: `waiting` wait, the others run (`PauseAll`)."""

    def __init__(self, backend: FakeBackend, *names: str) -> None:
        self._backend = backend
        backend.known = [Thread(at, name, is_running=True) for at, name in enumerate(names, 1)]
        backend.abilities[abilities.PauseAll] = self
        backend.abilities[abilities.ThreadsAlone] = self

    @property
    def waiting(self) -> Sequence[int]:
        return tuple(one.id for one in self._backend.known if not one.is_running)

    def wait(self, *threads: int) -> None:
        self._backend.known = [
            Thread(one.id, one.name, is_running=one.is_running and one.id not in threads)
            for one in self._backend.known
        ]

    async def pause_all(self) -> None:
        self._backend.calls.append("pause all")
        self.wait(*(one.id for one in self._backend.known))
        self._backend.stop(7, Reason.PAUSE)


class Live:
    """Globals that can be read and written at any time, and what is at addresses."""

    def __init__(self, backend: FakeBackend) -> None:
        self.values = {"total": "3", "0x10": "42"}
        self.kinds: list[str | None] = []
        backend.abilities[abilities.LiveValues] = self

    async def read_live(self, expression: str, *, kind: str | None = None) -> Variable:
        self.kinds.append(kind)
        if expression not in self.values:
            raise DebuggerError(Code.NOT_FOUND, f"there is no global {expression}")
        return Variable(expression, self.values[expression], kind or "int")

    async def write_live(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        before = await self.read_live(target, kind=kind)
        self.values[target] = value
        return before, await self.read_live(target, kind=kind)


class Calling:
    """A function that adds."""

    def __init__(self, backend: FakeBackend) -> None:
        backend.abilities[abilities.Calls] = self

    async def call(self, function: str, arguments: Sequence[str], frame: Frame) -> Variable:
        del frame
        return Variable(function, str(sum(map(int, arguments))), "int")


class Trace:
    """Patterns, of which each matches two functions, or none if it begins with `no`."""

    def __init__(self, backend: FakeBackend) -> None:
        self.known: dict[int, Traced] = {}
        self.limits: list[int | None] = []
        backend.abilities[abilities.Tracing] = self

    async def trace(self, patterns: Sequence[str], *, limit: int | None = None) -> list[Traced]:
        made = [self._matched(pattern, limit) for pattern in patterns]
        self.limits.append(limit)
        return made

    def _matched(self, pattern: str, limit: int | None) -> Traced:
        number = max(self.known, default=0) + 1
        names = () if pattern.startswith("no") else ("one", "two")[:limit]
        left_out = 2 - len(names) if names else 0
        why = None if names else "no function is called so"
        made = Traced(number, pattern, len(names), names, left_out, why=why)
        if names:
            self.known[number] = made
        return made

    async def untrace(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            del self.known[number]

    async def traces(self) -> list[Traced]:
        return list(self.known.values())
