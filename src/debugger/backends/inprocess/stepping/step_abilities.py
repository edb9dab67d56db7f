"""Steps one machine instruction, or into one call of several."""

from __future__ import annotations

from debugger.backends.inprocess.stepping.call_destination import CallDestination
from debugger.backends.inprocess.stepping.instruction_decoding import DecodedInstruction
from debugger.backends.inprocess.stepping.thread_steps import ThreadSteps
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.model.program import Frame, ResumeKind, StepTarget


class InProcessInstructionSteps:
    """Steps by one machine instruction."""

    def __init__(self, inside: TargetAccess, steps: ThreadSteps) -> None:
        self._inside = inside
        self._steps = steps

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into (`ResumeKind.STEP`) or over calls (`ResumeKind.NEXT`); the stop is reported."""
        await self._steps.begin_step(how, thread, by_instruction=True)


class InProcessStepTargets:
    """Steps into one of the calls of a line."""

    def __init__(self, inside: TargetAccess, steps: ThreadSteps) -> None:
        self._inside = inside
        self._steps = steps

    async def list_step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into.

        None where a call's function is known only when it is made: any may be meant.
        """
        thread = _thread_at(frame, self._inside)
        if thread is None:
            return []
        calls = await self._steps.line_calls(thread)
        if any(there is None for _, there in calls):
            return []
        return [_step_target(one, there) for one, there in calls if there is not None]

    async def step_into_target(self, target: StepTarget, thread: int) -> None:
        """Step into one; the stop is reported."""
        await self._steps.begin_step(ResumeKind.STEP, thread, target=target.id)


def _thread_at(frame: Frame, inside: TargetAccess) -> int | None:
    """Find the thread that waits in a frame; the calls of outer ones have been made."""
    if frame.index or frame.address is None:
        return None
    place = int(frame.address, 16)
    waiting = inside.engine.paused_threads.values()
    return next((one.thread for one in waiting if one.registers.get("rip") == place), None)


def _step_target(one: DecodedInstruction, there: CallDestination) -> StepTarget:
    return StepTarget(id=one.address, label=there.name or one.text)
