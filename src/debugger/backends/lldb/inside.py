"""Defines the access to LLDB that the modules here need, whichever backend drives LLDB."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from debugger.backends.base import Attach, Event, Launch
from debugger.core.model import Frame, Purpose, Stack, Stopped, Variable


class Inside(Protocol):
    """Gives access to one program in LLDB."""

    @property
    def launched(self) -> Launch | None:
        """The launch request; None for a target that was attached to."""

    @property
    def attached(self) -> Attach | None:
        """The attach request; None for a launched program."""

    @property
    def conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each breakpoint, by LLDB's number.

        A breakpoint whose condition cannot be evaluated is reported, and does not stop.
        """

    @property
    def checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""

    def tell(self, event: Event) -> None:
        """Report an event to the session."""

    async def evaluate(self, expression: str, frame: Frame | None, purpose: Purpose) -> Variable:
        """Evaluate an expression."""

    async def raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of LLDB's command line and return its output."""

    async def fetch(self, handle: int, *, start: int | None, count: int | None) -> list[Variable]:
        """Return the children of a value, or a part of them, unchanged."""

    async def stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""
