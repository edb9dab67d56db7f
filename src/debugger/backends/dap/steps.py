"""Defines the interface that keeps a step that an adapter would lose at a breakpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from debugger.core.breakpoints import Bound, Breakpoint
from debugger.core.model import Resume, Stopped


class Steps(Protocol):
    """Keeps the steps of one program."""

    async def note(
        self, name: str, wanted: Sequence[Breakpoint], bounds: Sequence[Bound]
    ) -> list[Bound]:
        """Note a list of breakpoints that was set; `name` identifies the list.

        Returns: the location of each one.
        """

    async def begin(self, how: Resume, thread: int, *, by_instruction: bool = False) -> None:
        """Prepare for a step that is about to begin."""

    def told(self, stop: Stopped) -> None:
        """Note a stop that is reported to the session."""

    async def judged(self, stop: Stopped) -> Stopped | None:
        """Return a stop with the breakpoints that caused it; None if none of the user's did."""

    async def ended(self) -> Stopped | None:
        """Return the stop of a step that ended at a stop that is not reported; else None."""

    async def enter(self, stop: Stopped) -> Stopped | None:
        """Return a stop once its function's arguments are in place; None while they are not."""
