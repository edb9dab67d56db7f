"""Orders steps and stops: one request at a time reaches the engine, others wait."""

from __future__ import annotations

import asyncio

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.stepping.call_destination import CallDestination
from debugger.backends.inprocess.stepping.instruction_decoding import DecodedInstruction
from debugger.backends.inprocess.stepping.thread_steps import StepVerdict, ThreadSteps
from debugger.backends.inprocess.stop_queue import StopQueue
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError
from debugger.model.program import ResumeKind


class StepTurns:
    """The steps of one program, begun by the user and judged as the engine tells of pauses."""

    def __init__(self, inside: TargetAccess, stops: StopQueue) -> None:
        self._inside = inside
        self._stops = stops
        self._steps = ThreadSteps(inside)
        self._under_way: set[int] = set()
        # Not a queue: the user's call waits for its answer, and so does the reader of events.
        self._turn = asyncio.Lock()

    async def begin_step(
        self,
        how: ResumeKind,
        thread: int,
        *,
        by_instruction: bool = False,
        target: int | None = None,
    ) -> None:
        """Begin a step (see Steps.begin); where it cannot, the thread stays where it is."""
        self._inside.paused_thread(thread)
        self._stops.note_step(thread)
        try:
            async with self._turn:
                self._under_way.add(thread)
                await self._steps.begin_step(
                    how, thread, by_instruction=by_instruction, target=target
                )
        except DebuggerError:
            self._stops.stepped_in_vain(thread)
            raise

    async def decide_pause(self, paused: ThreadPaused) -> StepVerdict:
        """Tell what a pause is to its thread's step (see Steps.judge)."""
        async with self._turn:
            judged = await self._steps.decide_pause(paused)
        if judged is not StepVerdict.GO_ON:
            self._under_way.discard(paused.thread)
        return judged

    async def forget_steps(self) -> None:
        """Give up the steps that another stop has interrupted: the user has gone on."""
        async with self._turn:
            for thread in list(self._under_way):
                await self._steps.forget_step(thread)
            self._under_way.clear()

    async def line_calls(
        self, thread: int
    ) -> list[tuple[DecodedInstruction, CallDestination | None]]:
        """List the calls of the line that a thread waits in."""
        async with self._turn:
            return await self._steps.line_calls(thread)
