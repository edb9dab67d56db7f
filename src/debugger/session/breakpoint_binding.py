"""Sends requested breakpoints and watchpoints to the debugger, and records its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from debugger.backends.abilities import (
    ExceptionAbility,
    InstructionBreakpointAbility,
    TracingAbility,
    WatchpointAbility,
)
from debugger.backends.base import Backend
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import (
    BoundBreakpoint,
    Breakpoint,
    BreakpointKind,
    Breakpoints,
    BreakpointSpec,
    WatchAccess,
)
from debugger.model.program import EvaluationPurpose, Frame, Stopped, StopReason


class WatchedChange(msgspec.Struct, frozen=True):
    """A watched expression with its values at the previous stop and at this one."""

    id: int
    expression: str
    previous: str | None
    value: str


class Watchpoints:
    """The watchpoints of a session; its methods are jobs of the session."""

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self._values: dict[int, str] = {}
        self._last_changes: tuple[Stopped | None, tuple[WatchedChange, ...]] = (None, ())

    def forget(self) -> None:
        """Clear all values: the program starts anew."""
        self._values.clear()
        self._last_changes = (None, ())

    def watchpoints(self) -> list[Breakpoint]:
        """Return all watchpoints."""
        return [
            one
            for one in self._breakpoints.user_breakpoints()
            if one.spec.kind is BreakpointKind.WATCHPOINT
        ]

    def find_lone(self, stop: Stopped) -> list[Breakpoint]:
        """Return the only watchpoint, if it has a filter and the debugger names none."""
        watched = [one for one in self.watchpoints() if one.spec.enabled]
        is_one = stop.reason is StopReason.WATCHPOINT and len(watched) == 1
        return watched if is_one and watched[0].spec.rule is not None else []

    def last_value(self, number: int) -> str | None:
        """Return the last known value of a watchpoint."""
        return self._values.get(number)

    async def add(self, spec: BreakpointSpec, backend: Backend, frame: Frame) -> Breakpoint:
        """Watch an expression in a frame; one that is already watched is set again.

        Raises:
            DebuggerError: NOT_SUPPORTED, WRONG_STATE if all of the processor's debug registers are
            taken, EVALUATION_FAILED; then the earlier watchpoints are unchanged.
        """
        ability = backend.find_ability(WatchpointAbility)
        located = msgspec.structs.replace(spec, function=frame.function)
        same = self._breakpoints.find_watchpoint(located)
        if same is not None:
            # First the old one, which may hold the last debug register.
            await self.remove(same, backend)
        self._check_room(ability)
        breakpoint_ = self._breakpoints.add(located)
        try:
            return await self._set_watchpoint(breakpoint_, ability, backend, frame)
        except DebuggerError:
            self._breakpoints.remove(breakpoint_.id)
            raise

    def _check_room(self, ability: WatchpointAbility) -> None:
        taken = [
            one.id for one in self.watchpoints() if one.bound is not None and one.bound.verified
        ]
        if ability.slot_count is not None and len(taken) >= ability.slot_count:
            those = ", ".join(map(str, taken))
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                f"all {ability.slot_count} hardware watchpoints are in use: {those}",
                hint="debugger watch list; debugger watch remove ID frees one",
            )

    async def _set_watchpoint(
        self, breakpoint_: Breakpoint, ability: WatchpointAbility, backend: Backend, frame: Frame
    ) -> Breakpoint:
        bound = await ability.set_watchpoint(breakpoint_, frame)
        self._breakpoints.set_location(breakpoint_.id, breakpoint_.spec)
        known = self._breakpoints.get(breakpoint_.id)
        self._breakpoints.take_answers([known], [bound])
        # The baseline for the first stop.
        value = await _read_value(backend, bound, frame)
        if value is not None:
            self._values[breakpoint_.id] = value
        return self._breakpoints.get(breakpoint_.id)

    async def remove(self, known: Breakpoint, backend: Backend | None) -> None:
        """Remove a watchpoint."""
        self._breakpoints.remove(known.id)
        self._values.pop(known.id, None)
        await self._remove_watchpoint(known, backend)

    async def _remove_watchpoint(self, known: Breakpoint, backend: Backend | None) -> None:
        if backend is not None and known.bound is not None and known.bound.verified:
            await backend.find_ability(WatchpointAbility).remove_watchpoint(known.bound)

    async def enable(
        self, known: Breakpoint, backend: Backend | None, frame: Frame | None, *, on: bool
    ) -> Breakpoint:
        """Enable or disable a watchpoint; a disabled one takes no debug register."""
        if not on:
            await self._remove_watchpoint(known, backend)
            return self._breakpoints.enable(known.id, on=False)
        if known.spec.enabled and known.bound is not None and known.bound.verified:
            return known
        if backend is not None and frame is not None:
            ability = backend.find_ability(WatchpointAbility)
            self._check_room(ability)
            changed = self._breakpoints.enable(known.id, on=True)
            try:
                return await self._set_watchpoint(changed, ability, backend, frame)
            except DebuggerError:
                self._breakpoints.enable(known.id, on=False)
                raise
        return self._breakpoints.enable(known.id, on=True)

    async def read_changes(
        self, stop: Stopped, hits: Sequence[int], backend: Backend, frame: Frame
    ) -> tuple[WatchedChange, ...]:
        """Return the changes of watched values at a stop, and the hit ones.

        A watchpoint that a restart has undone is set again once the program is in its function.
        """
        # A second report of the same stop: the values have been updated already.
        if self._last_changes[0] is stop:
            return self._last_changes[1]
        changes: list[WatchedChange] = []
        for one in self.watchpoints():
            if not one.spec.enabled:
                continue
            if one.bound is None:
                await self._set_again(one, backend, frame)
                continue
            before, now = self._values.get(one.id), await _read_value(backend, one.bound, frame)
            if now is None:
                continue
            self._values[one.id] = now
            if before != now or one.id in hits:
                expression = one.spec.watch or ""
                changes.append(WatchedChange(one.id, expression, before, now))
        if not changes and not hits and stop.reason is StopReason.WATCHPOINT:
            changes += self._read_changes()
        self._last_changes = (stop, tuple(changes))
        return self._last_changes[1]

    def _read_changes(self) -> list[WatchedChange]:
        """Return the only watchpoint that may have been read, if the debugger names none."""
        readable = [
            one
            for one in self.watchpoints()
            if one.spec.enabled
            and one.bound is not None
            and one.spec.access is not WatchAccess.WRITE
        ]
        if len(readable) != 1:
            return []
        now = self._values.get(readable[0].id)
        return (
            [WatchedChange(readable[0].id, readable[0].spec.watch or "", now, now)]
            if now is not None
            else []
        )

    async def _set_again(self, one: Breakpoint, backend: Backend, frame: Frame) -> None:
        if frame.function != one.spec.function:
            return
        try:
            await self._set_watchpoint(one, backend.find_ability(WatchpointAbility), backend, frame)
        except DebuggerError as error:
            self._breakpoints.set_location(
                one.id, BoundBreakpoint(verified=False, why=error.message)
            )


async def _read_value(backend: Backend, bound: BoundBreakpoint, frame: Frame) -> str | None:
    if bound.again is None:
        return None
    try:
        value = await backend.evaluate(bound.again, frame, EvaluationPurpose.PRINT)
        return (await backend.complete_values([value]))[0].value
    except DebuggerError:
        return None


async def _set_breakpoints(
    backend: Backend, at: BreakpointSpec, alike: Sequence[Breakpoint]
) -> Sequence[BoundBreakpoint]:
    """Send a list of breakpoints of one kind, of one file if they have lines."""
    match at.kind:
        case BreakpointKind.FUNCTION:
            return await backend.set_function_breakpoints(alike)
        case BreakpointKind.ADDRESS:
            setter = backend.find_ability(InstructionBreakpointAbility)
            return await setter.set_instruction_breakpoints(alike)
        case BreakpointKind.EXCEPTION:
            return await backend.find_ability(ExceptionAbility).set_catches(alike)
        case _:
            assert at.file is not None
            return await backend.set_breakpoints(at.file, alike)


class BreakpointBinding:
    """Sends breakpoints to a backend while there is one; its methods are jobs of the session."""

    def __init__(self, breakpoints: Breakpoints, write_rank: Callable[[str], str] = str) -> None:
        self._breakpoints = breakpoints
        # Writes what stands for `_rank` in a condition of this process.
        self._write_rank = write_rank
        self._backend: Backend | None = None
        self._traced: dict[str, int | None] = {}
        self._has_ended = False
        # Lists of breakpoints that are sent and not answered, and the stops that wait for them.
        self._unanswered = 0
        self._deferred: list[Callable[[], None]] = []
        self.watching = Watchpoints(breakpoints)

    def forget(self) -> None:
        """Drop the backend and its answers: the program has ended or starts anew."""
        self._backend = None
        self._breakpoints.forget_answers()
        self.watching.forget()

    def detach(self) -> None:
        """Stop sending breakpoints; the received answers are kept for display."""
        self._backend = None
        self._has_ended = True

    async def send_all(self, backend: Backend) -> None:
        """Send every breakpoint to a new backend."""
        self._backend = backend
        self._has_ended = False
        for one in self._breakpoints.all_breakpoints():
            await self._resolve_location(one, backend)
        for at in self._breakpoints.list_representatives():
            await self._send_list(at)
        for pattern, limit in self._traced.items():
            await backend.find_ability(TracingAbility).trace_functions([pattern], limit=limit)

    def note_traced(self, patterns: Sequence[str], limit: int | None) -> None:
        """Record traced functions, to trace them again after a restart."""
        self._traced |= dict.fromkeys(patterns, limit)

    def note_untraced(self, patterns: Sequence[str]) -> None:
        """Record functions that are no longer traced."""
        for pattern in patterns:
            self._traced.pop(pattern, None)

    async def add(
        self, spec: BreakpointSpec, *, internal: bool = False, is_lasting: bool = False
    ) -> Breakpoint:
        """Add a breakpoint and send it; one that does not bind is kept with the reason.

        Raises:
            DebuggerError: What the backend raises; then the earlier breakpoints are unchanged.
        """
        same = None if internal else self._breakpoints.find_same(spec)
        if same is not None:
            return same
        breakpoint_ = self._breakpoints.add(spec, internal=internal, is_lasting=is_lasting)
        try:
            made = await self._replace_breakpoint(breakpoint_)
            for event in self._breakpoints.events_of(breakpoint_.id):
                await self._replace_breakpoint(event)
        except DebuggerError:
            for one in (breakpoint_, *self._breakpoints.events_of(breakpoint_.id)):
                self._breakpoints.remove(one.id)
            raise
        # An event at its line may have changed the answer.
        return self._breakpoints.find(made.id) or made

    async def adopt(self, known: Breakpoint) -> None:
        """Add a breakpoint of another process of the tree, under the same number."""
        self._breakpoints.adopt(known)
        await self._replace_breakpoint(self._breakpoints.get(known.id))
        for event in self._breakpoints.events_of(known.id):
            await self._replace_breakpoint(event)

    async def drop_number(self, number: int) -> None:
        """Remove the breakpoint of a number, if it exists."""
        known = next(
            (one for one in self._breakpoints.user_breakpoints() if one.id == number), None
        )
        if known is not None:
            await self.remove(known)

    async def remove(self, known: Breakpoint) -> None:
        """Remove a breakpoint, internal ones included."""
        if known.spec.kind is BreakpointKind.WATCHPOINT:
            await self.watching.remove(known, self._backend)
        else:
            self._breakpoints.remove(known.id)
            if known.at is not None:
                await self._send_list(known.at)
        for event in self._breakpoints.events_of(known.id):
            await self.remove(event)

    async def enable(self, number: int, *, on: bool, frame: Frame | None = None) -> Breakpoint:
        """Enable or disable one of the user's breakpoints; a watchpoint needs a frame.

        Raises:
            DebuggerError: NOT_FOUND, and what setting a watchpoint raises.
        """
        known = self._breakpoints.get(number)
        if known.spec.kind is BreakpointKind.WATCHPOINT:
            return await self.watching.enable(known, self._backend, frame, on=on)
        return await self._replace_breakpoint(self._breakpoints.enable(number, on=on))

    async def change(
        self, number: int, change: Callable[[BreakpointSpec], BreakpointSpec]
    ) -> Breakpoint:
        """Change what one of the user's breakpoints does at its location.

        Raises:
            DebuggerError: NOT_FOUND; what the backend raises, and then it is as before.
        """
        known = self._breakpoints.get(number)
        try:
            return await self._replace_breakpoint(self._breakpoints.change(number, change))
        except DebuggerError:
            self._breakpoints.change(number, lambda _: known.spec)
            raise

    async def _replace_breakpoint(self, breakpoint_: Breakpoint) -> Breakpoint:
        if self._backend is not None:
            at = await self._resolve_location(breakpoint_, self._backend)
            if at is not None:
                await self._send_list(at)
        elif self._has_ended and breakpoint_.bound is None:
            why = "the program has ended; debugger restart sets it"
            self._breakpoints.set_location(breakpoint_.id, BoundBreakpoint(verified=False, why=why))
        found = [one for one in self._breakpoints.all_breakpoints() if one.id == breakpoint_.id]
        return found[0] if found else breakpoint_

    async def _resolve_location(
        self, breakpoint_: Breakpoint, backend: Backend
    ) -> BreakpointSpec | None:
        if breakpoint_.spec.kind is BreakpointKind.WATCHPOINT:
            return None  # set one at a time, where the program has stopped
        if breakpoint_.spec.function is None:
            at = backend.locate_breakpoint(breakpoint_.spec)
        else:
            # Sources are searched for it, which takes seconds in a large project.
            at = await asyncio.to_thread(backend.locate_breakpoint, breakpoint_.spec)
        self._breakpoints.set_location(breakpoint_.id, at)
        return None if isinstance(at, BoundBreakpoint) else at

    async def _send_list(self, at: BreakpointSpec) -> None:
        if self._backend is None or at.kind is BreakpointKind.WATCHPOINT:
            return
        alike = [self._with_rank(one) for one in self._breakpoints.same_list(at)]
        self._unanswered += 1
        try:
            bounds = await _set_breakpoints(self._backend, at, alike)
            # DAP answers in the order of the request.
            self._breakpoints.take_answers(alike, bounds)
        finally:
            self._unanswered -= 1
            deferred, self._deferred = self._deferred, []
            for report in deferred:
                report()
        if at.kind is BreakpointKind.FUNCTION:
            await self._send_renamed()
        taken = {(one.file, one.line) for one in bounds if one.is_taken}
        for file, line in sorted((file, line) for file, line in taken if file and line):
            # Delve keeps one breakpoint at an address, be it of a function or of a line.
            self._breakpoints.move_to_line(file, line)
            if at.kind is not BreakpointKind.FUNCTION:
                await self._send_functions()
            await self._send_list(BreakpointSpec(file=file, line=line))

    def defer_stop(self, stop: Stopped, report: Callable[[Stopped], None]) -> bool:
        """Report a stop later, if an answer that is awaited may tell which breakpoint it is for.

        A program that runs may come to a breakpoint before we have the breakpoint's number.
        """
        is_known = all(self._breakpoints.by_backend_id(number) for number in stop.hits)
        if is_known or not self._unanswered:
            return False
        self._deferred.append(partial(report, stop))
        return True

    def _with_rank(self, one: Breakpoint) -> Breakpoint:
        if one.spec.condition is None:
            return one
        spec = msgspec.structs.replace(one.spec, condition=self._write_rank(one.spec.condition))
        return msgspec.structs.replace(one, spec=spec)

    async def _send_renamed(self) -> None:
        """Send functions again that the debugger knows by a longer name, or by a line only."""
        moved = self._breakpoints.use_definitions()
        if moved or self._breakpoints.qualify_functions():
            await self._send_functions()
        for file in dict.fromkeys(one.file for one in moved):
            await self._send_list(BreakpointSpec(file=file, line=1))

    async def _send_functions(self) -> None:
        await self._send_list(BreakpointSpec(function=""))
