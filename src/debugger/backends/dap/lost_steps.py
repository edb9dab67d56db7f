"""Resumes a step that an adapter has lost at a breakpoint that is not due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from debugger.backends.base import Backend
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import Frame, ResumeKind, Stopped


class StepKeeper(Protocol):
    """Keeps the steps of one program."""

    async def note_breakpoints(
        self, name: str, breakpoints: Sequence[Breakpoint], bounds: Sequence[BoundBreakpoint]
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


# A deeper stack is taken for one of this depth: its step ends where the breakpoint is.
_LEVELS = 1000
Send = Callable[[ResumeKind, int], Awaitable[None]]


class _StepInProgress(msgspec.Struct):
    how: ResumeKind
    thread: int
    start: Frame
    depth: int
    is_leaving: bool = False  # it goes on after a breakpoint that was not due


class LostStepRecovery:
    """Resumes the lost steps of one program."""

    def __init__(self, backend: Backend, send: Send) -> None:
        self._backend = backend
        self._send = send
        self._step: _StepInProgress | None = None

    @property
    def is_continuing_step(self) -> bool:
        """Whether a lost step is being finished."""
        return self._step is not None and self._step.is_leaving

    async def begin_step(self, how: ResumeKind, thread: int) -> None:
        """Note where a step begins; a step into a call ends at any breakpoint's line."""
        self._step = None
        if how in {ResumeKind.NEXT, ResumeKind.FINISH}:
            frames = (await self._backend.read_stack(thread, levels=_LEVELS)).frames
            # One more request for each step, made only where a breakpoint that is filtered here
            # exists.
            if 0 < len(frames) < _LEVELS:
                self._step = _StepInProgress(how, thread, frames[0], len(frames))

    def forget_step(self) -> None:
        """Forget the step: another stop has ended it, or no step is to be resumed."""
        # A step into a call is not resumed: a breakpoint in what it steps into is a line like any
        # other, and the step may end there.
        self._step = None

    async def continue_step(self, stop: Stopped) -> Stopped | None:
        """Return the stop, of the step's own thread, if the step has ended; else resume it."""
        # debugpy, delve and js-debug forget a step as soon as the program stops for another reason.
        # A stop that is then dropped, because no breakpoint there is due, would leave the program
        # running without its step; reported, it would end the step inside a function that the user
        # steps over.
        #
        # So the step is finished in parts, by what remains of it:
        # - deeper than it began: step out, until the frame of the step is the innermost one again;
        # - back in that frame of a `next`, still on its line, as a step out ends in the middle of a
        #   line: one more `next`;
        # - elsewhere, or in a caller: the step has ended, and this stop is its end.
        #
        # Frames are compared by depth, not by handle: handles do not outlive a stop.
        step = self._step
        if step is None:
            return stop
        frames = (await self._backend.read_stack(step.thread, levels=_LEVELS)).frames
        how = _remaining_step(step, frames) if frames else None
        if how is None:
            self._step = None
            return msgspec.structs.replace(stop, thread=step.thread)
        # From here on every stop passes the filter (`EventDispatcher.is_leaving`): the parts of a
        # step must not be reported.
        step.is_leaving = True
        await self._send(how, step.thread)
        return None


def _remaining_step(step: _StepInProgress, frames: Sequence[Frame]) -> ResumeKind | None:
    """Return the command that goes on with a step, for the present stack; None at its end."""
    deeper = len(frames) - step.depth
    if deeper > 0 or (deeper == 0 and step.how is ResumeKind.FINISH):
        return ResumeKind.FINISH
    current_frame = frames[0]
    # Without `is_leaving` the stop is at the breakpoint itself: the same line again is then a turn
    # of a loop in one line, and an end of the step.
    is_same_line = (current_frame.file, current_frame.line) == (step.start.file, step.start.line)
    if step.how is ResumeKind.NEXT and deeper == 0 and step.is_leaving and is_same_line:
        return ResumeKind.NEXT
    return None
