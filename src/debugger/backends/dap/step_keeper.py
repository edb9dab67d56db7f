"""Defines the interface that keeps a step that an adapter would lose at a breakpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import ResumeKind, Stopped


class StepKeeper(Protocol):
    """Keeps the steps of one program."""

    async def note_breakpoints(
        self, name: str, wanted: Sequence[Breakpoint], bounds: Sequence[BoundBreakpoint]
    ) -> list[BoundBreakpoint]:
        """Note a list of breakpoints that was set; `name` identifies the list.

        Returns: the location of each one.
        """

    async def begin_step(
        self, how: ResumeKind, thread: int, *, by_instruction: bool = False
    ) -> None:
        """Prepare for a step that is about to begin."""

    def note_stop(self, stop: Stopped) -> None:
        """Note a stop that is reported to the session."""

    async def attribute_stop(self, stop: Stopped) -> Stopped | None:
        """Return a stop with the breakpoints that caused it; None if none of the user's did."""

    async def ended_step(self) -> Stopped | None:
        """Return the stop of a step that ended at a stop that is not reported; else None."""

    async def enter_body(self, stop: Stopped) -> Stopped | None:
        """Return a stop once its function's arguments are in place; None while they are not."""
