"""Resumes a step that an adapter has lost at a breakpoint that is not due.

debugpy, delve and js-debug forget a step when the program stops at a breakpoint. Where the stop is
for none of the user's breakpoints, the step is finished here: the program steps out of the
functions that the step had called, then on to another line.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from debugger.backends.base import Backend
from debugger.model.program import Frame, ResumeKind, Stopped

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
            if 0 < len(frames) < _LEVELS:
                self._step = _StepInProgress(how, thread, frames[0], len(frames))

    def forget_step(self) -> None:
        """Forget the step: another stop has ended it, or no step is to be resumed."""
        self._step = None

    async def continue_step(self, stop: Stopped) -> Stopped | None:
        """Return the stop, of the step's own thread, if the step has ended; else resume it."""
        step = self._step
        if step is None:
            return stop
        frames = (await self._backend.read_stack(step.thread, levels=_LEVELS)).frames
        how = _remaining_step(step, frames) if frames else None
        if how is None:
            self._step = None
            return msgspec.structs.replace(stop, thread=step.thread)
        step.is_leaving = True
        await self._send(how, step.thread)
        return None


def _remaining_step(step: _StepInProgress, frames: Sequence[Frame]) -> ResumeKind | None:
    """Return the command that goes on with a step, for the present stack; None at its end."""
    deeper = len(frames) - step.depth
    if deeper > 0 or (deeper == 0 and step.how is ResumeKind.FINISH):
        return ResumeKind.FINISH
    current_frame = frames[0]
    is_same_line = (current_frame.file, current_frame.line) == (step.start.file, step.start.line)
    if step.how is ResumeKind.NEXT and deeper == 0 and step.is_leaving and is_same_line:
        return ResumeKind.NEXT
    return None
