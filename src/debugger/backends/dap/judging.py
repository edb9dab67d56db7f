"""Filters stops of an adapter, and continues after those that no request of the user's explains."""

from __future__ import annotations

import msgspec

from debugger.backends.base import Backend, ConditionFailed, Logged, Sink
from debugger.backends.dap import breakpoints
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.events import Events
from debugger.backends.dap.exceptions import Exceptions
from debugger.backends.dap.lost_steps import LostSteps
from debugger.backends.dap.profile import Inside, Profile
from debugger.backends.dap.sites import Sites
from debugger.core.model import Frame, Purpose, Reason, Stopped
from debugger.core.template import parts
from debugger.errors import DebuggerError


class Judge:
    """Filters the doubtful stops of one program.

    In order: complete the thread; settle a stop whose event says too little; ask the step keeper
    which breakpoints really stopped; leave a frame that an exception only passes through; apply
    conditions, hit counts and logs of shared sites; drop hits whose condition cannot be evaluated,
    and report the failure; drop exceptions of other types; write logpoints. A stop without a reason
    left is not reported: the program continues, or the step that it interrupted goes on.
    """

    def __init__(
        self,
        backend: Backend,
        inside: Inside,
        profile: Profile,
        exceptions: Exceptions,
        *,
        sites: Sites,
        lost_steps: LostSteps,
        sink: Sink,
    ) -> None:
        self._backend = backend
        self._inside = inside
        self._profile = profile
        self._exceptions = exceptions
        self._sites = sites
        self._lost_steps = lost_steps
        self._sink = sink

    async def judge(self, stop: Stopped, events: Events, before: int | None) -> Stopped | None:
        """Return a stop that is to be reported, with its thread; None where the program goes on.

        `before` is the thread of the previous stop.
        """
        real = await self._judge(stop, events, before)
        if real is not None and self._lost_steps.is_leaving and real.reason is Reason.STEP:
            real = await self._lost_steps.go_on(real)
        elif real is not None:
            self._lost_steps.forget()
        steps = self._inside.steps
        return await steps.enter(real) if real is not None and steps is not None else real

    async def _judge(self, stop: Stopped, events: Events, before: int | None) -> Stopped | None:
        if stop.thread is None:  # delve may leave it out
            known = [one.id for one in await self._backend.threads()]
            thread = before if before in known else next(iter(known), None)
            stop = msgspec.structs.replace(stop, thread=thread)
        if self._profile.settle is not None:
            settled = await self._profile.settle(self._inside, stop)
            if settled is None:
                return None
            stop = settled
        steps = self._inside.steps
        real = await steps.judged(stop) if steps is not None else stop
        if real is None:
            return await self._passed(stop)
        stop = real
        step_ended = self._profile.step_ended
        if stop.reason is Reason.STEP and step_ended is not None:
            ended = await step_ended(self._inside, stop)
            if ended is None:
                await self._inside.request("next", ask.OfThread(stop.thread or 0), dap.Body)
                return None
            stop = ended
        due = await self._sites.judge(stop, self._filled)
        if due is None:
            return await self._not_due(stop, events)
        stop = due
        failures = await self._failures(stop, events)
        for failure in failures.values():
            self._sink(failure)
        hits = tuple(hit for hit in stop.hits if hit not in failures)
        is_failed = bool(failures) and not hits
        stop = msgspec.structs.replace(stop, hits=hits)
        if is_failed or not await self._is_asked_for(stop, events):
            return await self._passed(stop)
        return await self._not_due(stop, events) if await self._only_logs(stop, events) else stop

    async def _passed(self, stop: Stopped) -> Stopped | None:
        """Continue the program, unless a step has ended here; return the stop of that step.

        A step that has not ended goes on by itself: LLDB keeps its plan until it is done.
        """
        steps = self._inside.steps
        ended = await steps.ended() if steps is not None else None
        if ended is None:
            await self._inside.request("continue", ask.OfThread(stop.thread or 0), dap.Body)
        return ended

    async def _not_due(self, stop: Stopped, events: Events) -> Stopped | None:
        """Continue after breakpoints none of which stops, and go on with the interrupted step."""
        if events.is_stepping and not self._profile.keeps_steps:
            ended = msgspec.structs.replace(stop, reason=Reason.STEP, raw_reason="step", hits=())
            return await self._lost_steps.go_on(ended)
        return await self._passed(stop)

    async def _only_logs(self, stop: Stopped, events: Events) -> bool:
        """Write the logpoints' texts; return whether the stop has no other reason."""
        passed = [events.logs[hit] for hit in stop.hits if hit in events.logs]
        if not passed or stop.thread is None:
            return False
        frame = (await self._backend.stack(stop.thread, levels=1)).frames[0]
        for number, text in passed:
            self._sink(Logged(number, await self._filled(text, frame)))
        return len(passed) == len(stop.hits)

    async def _filled(self, text: str, frame: Frame) -> str:
        said = ""
        for part, is_expression in parts(text):
            if not is_expression:
                said += part
                continue
            try:
                said += (await self._backend.evaluate(part, frame, Purpose.PRINT)).value
            except DebuggerError as error:
                said += f"<{error.message}>"
        return said

    async def _is_asked_for(self, stop: Stopped, events: Events) -> bool:
        if stop.reason is Reason.ENTRY and self._profile.stops_first:
            launched = self._inside.launched
            return events.wants_entry or (launched is not None and launched.stop_on_entry)
        if stop.reason is not Reason.EXCEPTION:
            return True
        thrown = {kind for hit in stop.hits for kind in events.thrown.get(hit, ())}
        if thrown:
            types = [one for one in thrown if one is not None]
            return None in thrown or await self._exceptions.is_one_of(stop, types)
        return await self._exceptions.stands(stop)

    async def _failures(self, stop: Stopped, events: Events) -> dict[int, ConditionFailed]:
        """Return the conditions that could not be evaluated, by the adapter's number."""
        if stop.thread is None:
            return {}
        problem = self._profile.failed_condition(stop)
        if problem is None:
            return await breakpoints.failed_conditions(self._backend, stop, events.conditions)
        frames = (await self._backend.stack(stop.thread, levels=1)).frames
        for number, condition in dict.fromkeys(events.conditions.values()):
            if frames and await self._fails(condition, frames[0], problem):
                return dict.fromkeys(
                    stop.hits or (0,), ConditionFailed(number, f"{condition}: {problem}")
                )
        return dict.fromkeys(stop.hits or (0,), ConditionFailed(None, problem))

    async def _fails(self, condition: str, frame: Frame, problem: str) -> bool:
        try:
            await self._backend.evaluate(condition, frame, Purpose.PRINT)
        except DebuggerError as error:
            return error.message in problem or problem in error.message
        return False
