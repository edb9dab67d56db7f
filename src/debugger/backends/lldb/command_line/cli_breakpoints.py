"""Sends breakpoints to LLDB, and filters the stops that no request of the user's explains."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from debugger.backends.base import BackendEvent, ConditionError
from debugger.backends.lldb import lldb_common
from debugger.backends.lldb.command_line import cli_abilities, lldb_answers
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.backends.lldb.lldb_steps import LldbSteps
from debugger.errors import DebuggerError
from debugger.model.breakpoints import (
    BoundBreakpoint,
    Breakpoint,
    BreakpointKind,
    BreakpointSpec,
    is_true_text,
)
from debugger.model.program import EvaluationPurpose, ExceptionDetails, Frame, Stopped, StopReason

_LOGGING = frozenset(
    {BreakpointKind.LINE, BreakpointKind.FUNCTION, BreakpointKind.ADDRESS}
)  # without a stop


class BreakpointAccess(LldbAccess, Protocol):
    """Gives the breakpoints access to the session's LLDB."""

    async def ask_lldb(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""


def locate_breakpoint(
    spec: BreakpointSpec, program: str | None = None
) -> BreakpointSpec | BoundBreakpoint:
    """Resolve a breakpoint's location; a word for exceptions is a filter or a function."""
    if spec.kind is BreakpointKind.FUNCTION:
        return lldb_common.locate_function(program, spec)
    if spec.kind is not BreakpointKind.EXCEPTION:
        return spec
    word = spec.catch or ""
    function = lldb_common.CATCH_FUNCTIONS.get(word)
    if function is not None:
        return BreakpointSpec(function=function)
    catch_filter = cli_abilities.CATCHES.get(word)
    if catch_filter is None:
        return BoundBreakpoint(verified=False, why=f"lldb-cli has no filter {word}")
    return BreakpointSpec(catch=catch_filter.name, type=spec.type)


async def explain_unbound(lldb: LldbAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    """Explain why a breakpoint does not bind."""
    try:
        return await lldb_common.explain_unbound(lldb, spec)
    except DebuggerError:
        return BoundBreakpoint(verified=False, why="the debugger did not say why")


class CliBreakpoints:
    """The breakpoints of one program."""

    def __init__(self, access: BreakpointAccess) -> None:
        self._access = access
        # Keeps steps from being lost at breakpoints that do not stop.
        self.steps = LldbSteps(access, logging=_LOGGING, on_moved=self._share_log)
        # Our number and the condition of each breakpoint, by LLDB's number.
        self.conditions: dict[int, tuple[int, str]] = {}
        # The types of exceptions that the breakpoints catch, by LLDB's number.
        self.thrown: dict[int, set[str | None]] = {}
        # Held while LLDB has breakpoints that are not noted yet: the program may have run to one of
        # them before it had its condition.
        self.changing = asyncio.Lock()

    async def _share_log(self, number: int, breakpoint_: Breakpoint, owner: int) -> None:
        """Make a moved breakpoint log the text of the breakpoint that it stands for."""
        del breakpoint_
        await self._access.ask_lldb("share_breakpoint", number=number, owner=owner)

    async def replace_list(
        self, name: str, breakpoints: Sequence[Breakpoint], file: str | None
    ) -> list[BoundBreakpoint]:
        """Replace a list, of a source file or of none; the answers come in the same order."""
        requests = [lldb_answers.encode_breakpoint(one, file) for one in breakpoints]
        # The program may run while breakpoints are set: a stop at one of them must wait until its
        # condition is noted here, or it would be reported without being evaluated.
        async with self.changing:
            answer = await self._access.ask_lldb("breakpoints", name=name, wanted=requests)
            locations = lldb_answers.parse_locations(answer)
            self._note_locations(locations, breakpoints)
        bounds = [
            await self._to_bound(lldb_answers.to_bound(location, one), one.at or one.spec)
            for location, one in zip(locations, breakpoints, strict=True)
        ]
        return await self.steps.note_breakpoints(name, breakpoints, bounds)

    def _note_locations(
        self, places: Sequence[lldb_answers.LldbLocation], breakpoints: Sequence[Breakpoint]
    ) -> None:
        for location in places:
            self.conditions.pop(location.id, None)
            self.thrown.pop(location.id, None)
        for location, one in zip(places, breakpoints, strict=True):
            # LLDB evaluates the condition itself; here it is needed to find one that failed. A
            # logpoint's is checked inside LLDB.
            if one.spec.condition is not None and one.spec.log is None:
                self.conditions[location.id] = (one.id, one.spec.condition)
            if one.spec.catch is not None:
                self.thrown.setdefault(location.id, set()).add(one.spec.type)

    async def _to_bound(self, bound: BoundBreakpoint, at: BreakpointSpec) -> BoundBreakpoint:
        if at.kind is BreakpointKind.EXCEPTION:
            # It binds when the language's runtime is loaded, which may be at any time.
            return msgspec.structs.replace(bound, verified=True)
        if bound.verified:
            return bound
        if at.kind is BreakpointKind.ADDRESS:
            why = f"no code at {at.address}"
            return msgspec.structs.replace(bound, address=at.address, why=why)
        explanation = await explain_unbound(self._access, at)
        return msgspec.structs.replace(
            bound,
            why=explanation.why,
            nearest_lines=explanation.nearest_lines,
            near_names=explanation.near_names,
            definition=explanation.definition,
        )


class StopFilterAccess(LldbAccess, Protocol):
    """Gives the stop filter access to the session."""

    @property
    def breakpoint_lock(self) -> asyncio.Lock:
        """A lock, held while LLDB has breakpoints that are not noted yet."""

    @property
    def caught_types(self) -> dict[int, set[str | None]]:
        """The types of exceptions that breakpoints catch, by LLDB's number."""

    @property
    def step_keeper(self) -> LldbSteps:
        """Keeps steps from being lost."""

    async def read_exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception that a thread stopped at."""

    async def ask_lldb(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""


class CliStopFilter:
    """Filters the stops of one program."""

    def __init__(self, access: StopFilterAccess) -> None:
        self._access = access

    async def filter_stop(self, stop: Stopped) -> Stopped | None:
        """Return a stop that is to be reported; None where the program goes on."""
        # As `dap.stop_filter`, with less to do: LLDB counts hits and evaluates conditions itself,
        # and logpoints never stop. What remains is to drop guards, conditions that failed, and
        # exceptions of other types; and to move a stop at a function's entry on to its body.
        filtered = await self._filter_doubtful(stop)
        return await self._access.step_keeper.enter_body(filtered) if filtered is not None else None

    async def _filter_doubtful(self, stop: Stopped) -> Stopped | None:
        async with self._access.breakpoint_lock:
            pass  # breakpoints that were being set are noted now
        caught = {kind for hit in stop.hits for kind in self._access.caught_types.get(hit, ())}
        if caught:
            stop = msgspec.structs.replace(stop, reason=StopReason.EXCEPTION)
        # A core file's stop lacks the address of the fault.
        stop = await lldb_common.settle_core_stop(self._access, stop)
        filtered = await self._access.step_keeper.attribute_stop(stop)
        if filtered is None:
            return await self._continue_past(stop)
        due_stop = await self._due_breakpoints(filtered)
        if due_stop is None or (caught and not await self._is_requested(due_stop, caught)):
            return await self._continue_past(filtered)
        return due_stop

    async def _continue_past(self, stop: Stopped) -> Stopped | None:
        """Continue the program, unless a step has ended here; return the stop of that step.

        A step that has not ended goes on by itself: LLDB keeps its plan until it is done.
        """
        ended = await self._access.step_keeper.ended_step()
        if ended is None:
            await self._access.ask_lldb("resume", how="continue", thread=stop.thread or 0)
        return ended

    async def _is_requested(self, stop: Stopped, types: set[str | None]) -> bool:
        if None in types:
            return True
        details = await self._access.read_exception(stop)
        return details is None or any(one in types for one in _type_names(details.type))

    async def _due_breakpoints(self, stop: Stopped) -> Stopped | None:
        """Return a stop with the breakpoints whose condition, if any, is true; None without any.

        A condition that cannot be evaluated is reported.
        """
        conditions = self._access.breakpoint_conditions
        if stop.thread is None or not any(hit in conditions for hit in stop.hits):
            return stop
        frames = (await self._access.read_stack(stop.thread, levels=1)).frames
        hits: list[int] = []
        for hit in stop.hits:
            number, condition = conditions.get(hit, (None, ""))
            try:
                # LLDB stops where a condition cannot be evaluated, without saying so: it is
                # evaluated again.
                if number is None or await self._is_condition_true(condition, frames[0]):
                    hits.append(hit)
            except DebuggerError as error:
                self._access.report_event(ConditionError(number, f"{condition}: {error.message}"))
        return msgspec.structs.replace(stop, hits=tuple(hits)) if hits else None

    async def _is_condition_true(self, condition: str, frame: Frame) -> bool:
        value = await self._access.evaluate(condition, frame, EvaluationPurpose.PRINT)
        return is_true_text(value.value)


def _type_names(kind: str) -> Sequence[str]:
    return (kind, kind.rpartition("::")[2], kind.rpartition(".")[2])
