"""Defines what may be requested of an LLDB, however a backend talks to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from debugger.backends.base import Attach, Event, Launch
from debugger.core.model import Frame, Purpose, Stack, Stopped, Variable


class Inside(Protocol):
    """One program in LLDB."""

    @property
    def launched(self) -> Launch | None:
        """What was launched."""

    @property
    def attached(self) -> Attach | None:
        """What was attached to."""

    @property
    def conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each of LLDB's breakpoints, by its number there.

        One that cannot be evaluated is told, and does not stop.
        """

    @property
    def checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """What an ability does at each stop before it is told."""

    def tell(self, event: Event) -> None:
        """Tell the session what an ability came to know."""

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression."""

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of LLDB's command line."""

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Return what a value holds, or a part of it, as LLDB tells it."""

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""
