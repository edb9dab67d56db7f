"""Keeps a step that an adapter would lose at a breakpoint that does not stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from debugger.core.breakpoints import Bound, Breakpoint
from debugger.core.model import Resume, Stopped


class Steps(Protocol):
    """The steps of one program."""

    async def note(
        self, name: str, wanted: Sequence[Breakpoint], bounds: Sequence[Bound]
    ) -> list[Bound]:
        """Take a list of breakpoints as it was set; `name` tells the lists apart.

        Returns: where each one is.
        """

    async def begin(self, how: Resume, thread: int, *, by_instruction: bool = False) -> None:
        """Take care that a step that is about to begin is not lost."""

    def told(self, stop: Stopped) -> None:
        """Take a stop that is told to the session."""

    async def judged(self, stop: Stopped) -> Stopped | None:
        """Return a stop with those breakpoints that stopped it; None if none of the user's did."""

    async def ended(self) -> Stopped | None:
        """Return the stop of a step that has ended, at a stop that is not told; None else."""

    async def enter(self, stop: Stopped) -> Stopped | None:
        """Return a stop once its function's arguments are in place; None while they are not."""
