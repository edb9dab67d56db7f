"""Checks the conditions of watchpoints that were hit."""

from __future__ import annotations

from typing import Protocol

import msgspec

from debugger.backends.base import ConditionError
from debugger.backends.inprocess.inspection import inspection_abilities
from debugger.backends.inprocess.inspection.inspector import InspectionAccess
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import EvaluationPurpose, Frame, Stopped


class WatchConditionAccess(InspectionAccess, Protocol):
    """Gives access to the conditions of watchpoints."""

    @property
    def watched(self) -> WatchFilter:
        """The filter with the watchpoints' conditions."""


class WatchFilter:
    """Evaluates the conditions of watchpoints, which the processor cannot do."""

    def __init__(self, inspection: InspectionAccess) -> None:
        self._inside = inspection
        self._conditions: dict[int, tuple[int, str]] = {}

    def note_watchpoint(self, breakpoint_: Breakpoint, bound: BoundBreakpoint) -> None:
        """Note a watchpoint's condition."""
        if bound.backend_id is not None and breakpoint_.spec.condition is not None:
            self._conditions[bound.backend_id] = (breakpoint_.id, breakpoint_.spec.condition)

    def forget_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Forget a watchpoint that was removed."""
        if bound.backend_id is not None:
            self._conditions.pop(bound.backend_id, None)

    async def filter_stop(self, stop: Stopped) -> Stopped | None:
        """Remove the watchpoints whose condition is false from a stop; None if none is left."""
        kept = [one for one in stop.hits if await self._condition_holds(one, stop.thread or 0)]
        if not kept and stop.hits:
            return None
        return msgspec.structs.replace(stop, hits=tuple(kept))

    async def _condition_holds(self, number: int, thread: int) -> bool:
        if number not in self._conditions:
            return True
        ours, text = self._conditions[number]
        looking = self._inside.looking
        try:
            (frame,) = (await looking.read_stack(thread, levels=1)).frames[:1]
            # A value and no truth: the result's text is 1 or 0, whatever the type of the
            # condition.
            value = await looking.evaluate(f"({text}) ? 1 : 0", frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            self._inside.report_event(ConditionError(ours, error.message))
            return False
        return value.value == "1"


class FilteredWatchpoints:
    """Sets watchpoints by the debug registers, with conditions."""

    def __init__(self, inside: WatchConditionAccess) -> None:
        self._inside = inside
        self._own = inspection_abilities.InProcessWatchpoints(inside)

    @property
    def slot_count(self) -> int | None:
        """The number of watchpoints that there can be at once."""
        return self._own.slot_count

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint (see abilities.Watchpoints)."""
        bound = await self._own.set_watchpoint(breakpoint_, frame)
        self._inside.watched.note_watchpoint(breakpoint_, bound)
        return bound

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""
        self._inside.watched.forget_watchpoint(bound)
        await self._own.remove_watchpoint(bound)
