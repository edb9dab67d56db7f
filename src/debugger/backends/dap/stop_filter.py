"""Filters an adapter's stops, and resumes after those that no request of the user's explains."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from debugger.backends.base import Backend, ConditionError, LogpointPassed, Sink
from debugger.backends.dap import dap_breakpoints
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.breakpoint_sites import BreakpointSites
from debugger.backends.dap.dap_breakpoints import DapExceptions
from debugger.backends.dap.dap_inspection import StopValues
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.backends.dap.event_dispatcher import EventDispatcher
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, split_template
from debugger.model.program import EvaluationPurpose, Frame, ResumeKind, Stopped, StopReason


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

    def note_leaving(self) -> None:
        self.is_leaving = True


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
        # From here on every stop passes the filter (`StopDoubts.is_continuing_step`): the parts of
        # a step must not be reported.
        step.note_leaving()
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


class StopFilter:
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
        connection: AdapterConnection,
        adapter: DebugAdapter,
        exceptions: DapExceptions,
        *,
        values: StopValues,
        sites: BreakpointSites,
        lost_steps: LostStepRecovery,
        sink: Sink,
    ) -> None:
        self._backend = backend
        self._connection = connection
        self._adapter = adapter
        self._exceptions = exceptions
        self._values = values
        self._sites = sites
        self._lost_steps = lost_steps
        self._sink = sink

    async def filter_stop(
        self, stop: Stopped, events: EventDispatcher, before: int | None
    ) -> Stopped | None:
        """Return a stop that is to be reported, with its thread; None where the program goes on.

        `before` is the thread of the previous stop.
        """
        # The decision about one stop, part by part (see the class). A part returns the stop, maybe
        # changed; or None, after it has let the program run on. The result is reported exactly if
        # it is not None.
        #
        # A step that was interrupted by a dropped stop must not be lost. Adapters differ: LLDB
        # keeps a step's plan through a continue (`keeps_steps`); debugpy, delve and js-debug forget
        # it, and `LostStepRecovery` then finishes the step in parts. The stops of those parts come
        # here again, with `is_continuing_step` set, until the step has ended.
        #
        # `enter_body` is last: it moves a stop at a function's entry on to where the arguments are
        # stored, and must not do that for a stop that nobody sees.
        filtered = await self._filter_doubtful(stop, events, before)
        if (
            filtered is not None
            and self._lost_steps.is_continuing_step
            and filtered.reason is StopReason.STEP
        ):
            filtered = await self._lost_steps.continue_step(filtered)
        elif filtered is not None:
            # Another reason than the step's own has stopped the program: the step is over.
            self._lost_steps.forget_step()
        steps = self._connection.step_keeper
        return (
            await steps.enter_body(filtered)
            if filtered is not None and steps is not None
            else filtered
        )

    async def _filter_doubtful(
        self, stop: Stopped, events: EventDispatcher, before: int | None
    ) -> Stopped | None:
        if stop.thread is None:  # delve may leave it out
            thread_ids = [one.id for one in await self._backend.list_threads()]
            # The thread of the last stop is the best guess: the user works on it.
            thread = before if before in thread_ids else next(iter(thread_ids), None)
            stop = msgspec.structs.replace(stop, thread=thread)
        # What the event does not say: which signal, a watchpoint or a breakpoint, an exception or a
        # breakpoint in the runtime.
        inspected = await self._adapter.inspect_stop(self._connection, stop)
        if inspected is None:
            return None
        stop = inspected
        steps = self._connection.step_keeper
        # LLDB stops at addresses that the step keeper guards, and names breakpoints that only share
        # an address: only those that caused the stop remain.
        filtered = await steps.attribute_stop(stop) if steps is not None else stop
        if filtered is None:
            return await self._continue_past(stop)
        stop = await self._sites.complete_hits(filtered)
        if stop.reason is StopReason.STEP and self._adapter.inspects_step_ends:
            # Python only: pydevd ends a step in a frame that an exception leaves.
            ended = await self._adapter.inspect_step_end(self._connection, stop)
            if ended is None:
                await self._connection.send_request(
                    "next", ask.ThreadArguments(stop.thread or 0), dap.DapBody
                )
                return None
            stop = ended
        # Members of a shared site are decided one by one: those that are not due leave the hits,
        # and a site whose members are all not due leaves no stop.
        due_stop = await self._sites.filter_stop(stop, self._fill_log)
        if due_stop is None:
            return await self._continue_or_resume_step(stop, events)
        stop = due_stop
        # A condition that failed is reported, and its breakpoint leaves the hits, as does one whose
        # condition only our evaluation found false. Where another breakpoint was hit as well the
        # stop remains.
        undue = await self._undue_conditions(stop, events)
        for failure in undue.values():
            if failure is not None:
                self._sink(failure)
        hits = tuple(hit for hit in stop.hits if hit not in undue)
        is_undue = bool(undue) and not hits
        stop = msgspec.structs.replace(stop, hits=hits)
        if is_undue or not await self._is_requested(stop, events):
            return await self._continue_past(stop)
        return (
            await self._continue_or_resume_step(stop, events)
            if await self._write_logpoints(stop, events)
            else stop
        )

    async def _continue_past(self, stop: Stopped) -> Stopped | None:
        """Continue the program, unless a step has ended here; return the stop of that step.

        A step that has not ended goes on by itself: LLDB keeps its plan until it is done.
        """
        steps = self._connection.step_keeper
        # The step may have ended at the very address of a breakpoint that is not due: LLDB would
        # not stop there a second time.
        ended = await steps.ended_step() if steps is not None else None
        if ended is None:
            await self._connection.send_request(
                "continue", ask.ThreadArguments(stop.thread or 0), dap.DapBody
            )
        return ended

    async def _continue_or_resume_step(
        self, stop: Stopped, events: EventDispatcher
    ) -> Stopped | None:
        """Continue after breakpoints none of which stops, and go on with the interrupted step."""
        if events.is_stepping and not self._adapter.keeps_steps:
            ended = msgspec.structs.replace(
                stop, reason=StopReason.STEP, raw_reason="step", hits=()
            )
            return await self._lost_steps.continue_step(ended)
        return await self._continue_past(stop)

    async def _write_logpoints(self, stop: Stopped, events: EventDispatcher) -> bool:
        """Write the logpoints' texts; return whether the stop has no other reason."""
        passed_logpoints = [events.logs[hit] for hit in stop.hits if hit in events.logs]
        if not passed_logpoints or stop.thread is None:
            return False
        frame = (await self._backend.read_stack(stop.thread, levels=1)).frames[0]
        for number, text in passed_logpoints:
            self._sink(LogpointPassed(number, await self._fill_log(text, frame)))
        # A stop at a logpoint and a breakpoint remains a stop; its texts are written all the same.
        return len(passed_logpoints) == len(stop.hits)

    async def _fill_log(self, text: str, frame: Frame) -> str:
        text_so_far = ""
        for part, is_expression in split_template(text):
            if not is_expression:
                text_so_far += part
                continue
            try:
                text_so_far += (
                    await self._backend.evaluate(part, frame, EvaluationPurpose.PRINT)
                ).value
            except DebuggerError as error:
                # One failing expression leaves the others of a text readable.
                text_so_far += f"<{error.message}>"
        return text_so_far

    async def _is_requested(self, stop: Stopped, events: EventDispatcher) -> bool:
        if stop.reason is StopReason.ENTRY and self._adapter.stops_first:
            # Such an adapter stops at the entry unasked.
            launched = self._connection.launch_target
            return events.wants_entry or (launched is not None and launched.stop_on_entry)
        if stop.reason is not StopReason.EXCEPTION:
            return True
        # Functions that throw (`__cxa_throw`, `rust_panic`) are breakpoints: their hits carry the
        # types.
        caught_types = {kind for hit in stop.hits for kind in events.thrown.get(hit, ())}
        if caught_types:
            types = [one for one in caught_types if one is not None]
            return None in caught_types or await self._exceptions.is_of_type(stop, types)
        return await self._exceptions.is_requested(stop)

    async def _undue_conditions(
        self, stop: Stopped, events: EventDispatcher
    ) -> dict[int, ConditionError | None]:
        """Return the hits whose condition is false or cannot be evaluated (and why)."""
        if stop.thread is None:
            return {}
        problem = self._adapter.read_failed_condition(stop)
        if problem is None:
            return await dap_breakpoints.find_undue_conditions(
                self._values, self._backend, stop, events.conditions
            )
        frames = (await self._backend.read_stack(stop.thread, levels=1)).frames
        # delve stops with the problem, but without the breakpoint's number. The condition that
        # fails with the same words when it is evaluated again is taken for the cause.
        for number, condition in dict.fromkeys(events.conditions.values()):
            if frames and await self._condition_fails(condition, frames[0], problem):
                return dict.fromkeys(
                    stop.hits or (0,), ConditionError(number, f"{condition}: {problem}")
                )
        # The key 0 stands for a stop that names no breakpoint: the failure alone makes it none.
        return dict.fromkeys(stop.hits or (0,), ConditionError(None, problem))

    async def _condition_fails(self, condition: str, frame: Frame, problem: str) -> bool:
        try:
            await self._backend.evaluate(condition, frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            return error.message in problem or problem in error.message
        return False
