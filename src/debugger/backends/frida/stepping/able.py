"""Steps one machine instruction, or into one call of several."""

from __future__ import annotations

from debugger.backends.frida.inside import Inside
from debugger.backends.frida.stepping.decoding import Instruction
from debugger.backends.frida.stepping.entering import Destination
from debugger.backends.frida.stepping.steps import Steps
from debugger.core.model import Frame, Resume, StepTarget


class InstructionSteps:
    """Steps by one machine instruction."""

    def __init__(self, inside: Inside, steps: Steps) -> None:
        self._inside = inside
        self._steps = steps

    async def step_instruction(self, how: Resume, thread: int) -> None:
        """Step into (`Resume.STEP`) or over calls (`Resume.NEXT`); the stop is reported."""
        await self._steps.begin(how, thread, by_instruction=True)


class StepTargets:
    """Steps into one of the calls of a line."""

    def __init__(self, inside: Inside, steps: Steps) -> None:
        self._inside = inside
        self._steps = steps

    async def step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into.

        None where a call's function is known only when it is made: any may be meant.
        """
        thread = _thread_at(frame, self._inside)
        if thread is None:
            return []
        calls = await self._steps.calls(thread)
        if any(there is None for _, there in calls):
            return []
        return [_target(one, there) for one, there in calls if there is not None]

    async def step_into(self, target: StepTarget, thread: int) -> None:
        """Step into one; the stop is reported."""
        await self._steps.begin(Resume.STEP, thread, target=target.id)


def _thread_at(frame: Frame, inside: Inside) -> int | None:
    """Find the thread that waits in a frame; the calls of outer ones have been made."""
    if frame.index or frame.address is None:
        return None
    place = int(frame.address, 16)
    waiting = inside.engine.paused.values()
    return next((one.thread for one in waiting if one.registers.get("rip") == place), None)


def _target(one: Instruction, there: Destination) -> StepTarget:
    return StepTarget(id=one.address, label=there.name or one.text)
