"""Orders steps and stops: one request at a time reaches the engine, others wait."""

from __future__ import annotations

import asyncio

from debugger.backends.frida.engine.events import Paused
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.stepping.decoding import Instruction
from debugger.backends.frida.stepping.entering import Destination
from debugger.backends.frida.stepping.steps import Judged, Steps
from debugger.backends.frida.stops import Stops
from debugger.core.model import Resume
from debugger.errors import DebuggerError


class Turns:
    """The steps of one program, begun by the user and judged as the engine tells of pauses."""

    def __init__(self, inside: Inside, stops: Stops) -> None:
        self._inside = inside
        self._stops = stops
        self._steps = Steps(inside)
        self._under_way: set[int] = set()
        # Not a queue: the user's call waits for its answer, and so does the reader of events.
        self._turn = asyncio.Lock()

    async def begin(
        self,
        how: Resume,
        thread: int,
        *,
        by_instruction: bool = False,
        target: int | None = None,
    ) -> None:
        """Begin a step (see Steps.begin); where it cannot, the thread stays where it is."""
        self._inside.paused(thread)
        self._stops.stepping(thread)
        try:
            async with self._turn:
                self._under_way.add(thread)
                await self._steps.begin(how, thread, by_instruction=by_instruction, target=target)
        except DebuggerError:
            self._stops.stepped_in_vain(thread)
            raise

    async def judge(self, paused: Paused) -> Judged:
        """Tell what a pause is to its thread's step (see Steps.judge)."""
        async with self._turn:
            judged = await self._steps.judge(paused)
        if judged is not Judged.GO_ON:
            self._under_way.discard(paused.thread)
        return judged

    async def forget(self) -> None:
        """Give up the steps that another stop has interrupted: the user has gone on."""
        async with self._turn:
            for thread in list(self._under_way):
                await self._steps.forget(thread)
            self._under_way.clear()

    async def calls(self, thread: int) -> list[tuple[Instruction, Destination | None]]:
        """List the calls of the line that a thread waits in."""
        async with self._turn:
            return await self._steps.calls(thread)
