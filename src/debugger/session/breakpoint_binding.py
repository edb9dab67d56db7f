"""How the breakpoints that are wanted get to the debugger, and its answers back."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends.abilities import (
    ExceptionAbility,
    InstructionBreakpointAbility,
    TracingAbility,
)
from debugger.backends.base import Backend
from debugger.errors import DebuggerError
from debugger.model.breakpoints import (
    BoundBreakpoint,
    Breakpoint,
    BreakpointKind,
    Breakpoints,
    BreakpointSpec,
)
from debugger.model.program import Frame
from debugger.session.watchpoints import Watchpoints


class BreakpointBinding:
    """Sends breakpoints to a backend while there is one; its methods are jobs of the session."""

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self._backend: Backend | None = None
        self._traced: dict[str, int | None] = {}
        self._has_ended = False
        self.watching = Watchpoints(breakpoints)

    def forget(self) -> None:
        """Forget the backend and what it answered: the program has ended or is started anew."""
        self._backend = None
        self._breakpoints.forget_answers()
        self.watching.forget()

    def detach(self) -> None:
        """Send nothing any more; what was answered is kept to be told."""
        self._backend = None
        self._has_ended = True

    async def send_all(self, backend: Backend) -> None:
        """Send every breakpoint to a new backend."""
        self._backend = backend
        self._has_ended = False
        for one in self._breakpoints.all_breakpoints():
            self._resolve_location(one, backend)
        for at in self._breakpoints.list_representatives():
            await self._send_list(at)
        for pattern, limit in self._traced.items():
            await backend.find_ability(TracingAbility).trace_functions([pattern], limit=limit)

    def note_traced(self, patterns: Sequence[str], limit: int | None) -> None:
        """Note which functions are traced, for when the program is started again."""
        self._traced |= dict.fromkeys(patterns, limit)

    def note_untraced(self, patterns: Sequence[str]) -> None:
        """Note which functions are traced no longer."""
        for pattern in patterns:
            self._traced.pop(pattern, None)

    async def add(self, spec: BreakpointSpec, *, internal: bool = False) -> Breakpoint:
        """Want a breakpoint and send it; one that does not bind is kept and says why.

        Raises:
            DebuggerError: What the backend raises; then all is wanted that was before.
        """
        same = None if internal else self._breakpoints.find_same(spec)
        if same is not None:
            return same
        wanted = self._breakpoints.add(spec, internal=internal)
        try:
            return await self._replace_breakpoint(wanted)
        except DebuggerError:
            self._breakpoints.remove(wanted.id)
            raise

    async def adopt(self, known: Breakpoint) -> None:
        """Want a breakpoint of another process of the family, under the same number."""
        self._breakpoints.adopt(known)
        await self._replace_breakpoint(self._breakpoints.get(known.id))

    async def drop_number(self, number: int) -> None:
        """Stop wanting the breakpoint of a number, if it is wanted."""
        known = next(
            (one for one in self._breakpoints.user_breakpoints() if one.id == number), None
        )
        if known is not None:
            await self.remove(known)

    async def remove(self, known: Breakpoint) -> None:
        """Stop wanting a breakpoint, also one of ours."""
        if known.spec.kind is BreakpointKind.WATCHPOINT:
            await self.watching.remove(known, self._backend)
            return
        self._breakpoints.remove(known.id)
        if known.at is not None:
            await self._send_list(known.at)

    async def enable(self, number: int, *, on: bool, frame: Frame | None = None) -> Breakpoint:
        """Switch one of the user's breakpoints on or off; a watchpoint is meant in a frame.

        Raises:
            DebuggerError: NOT_FOUND, and what setting a watchpoint raises.
        """
        known = self._breakpoints.get(number)
        if known.spec.kind is BreakpointKind.WATCHPOINT:
            return await self.watching.enable(known, self._backend, frame, on=on)
        return await self._replace_breakpoint(self._breakpoints.enable(number, on=on))

    async def _replace_breakpoint(self, wanted: Breakpoint) -> Breakpoint:
        if self._backend is not None:
            at = self._resolve_location(wanted, self._backend)
            if at is not None:
                await self._send_list(at)
        elif self._has_ended and wanted.bound is None:
            why = "the program has ended; debugger restart sets it"
            self._breakpoints.set_location(wanted.id, BoundBreakpoint(verified=False, why=why))
        found = [one for one in self._breakpoints.all_breakpoints() if one.id == wanted.id]
        return found[0] if found else wanted

    def _resolve_location(self, wanted: Breakpoint, backend: Backend) -> BreakpointSpec | None:
        if wanted.spec.kind is BreakpointKind.WATCHPOINT:
            return None  # set one at a time, where the program has stopped
        at = backend.locate_breakpoint(wanted.spec)
        self._breakpoints.set_location(wanted.id, at)
        return None if isinstance(at, BoundBreakpoint) else at

    async def _send_list(self, at: BreakpointSpec) -> None:
        if self._backend is None:
            return
        alike = self._breakpoints.same_list(at)
        match at.kind:
            case BreakpointKind.FUNCTION:
                bounds = await self._backend.set_function_breakpoints(alike)
            case BreakpointKind.LINE:
                assert at.file is not None
                bounds = await self._backend.set_breakpoints(at.file, alike)
            case BreakpointKind.ADDRESS:
                setter = self._backend.find_ability(InstructionBreakpointAbility)
                bounds = await setter.set_instruction_breakpoints(alike)
            case BreakpointKind.EXCEPTION:
                bounds = await self._backend.find_ability(ExceptionAbility).set_catches(alike)
            case BreakpointKind.WATCHPOINT:
                return
        self._breakpoints.take_answers(alike, bounds)
        if at.kind is BreakpointKind.FUNCTION and self._breakpoints.qualify_functions():
            await self._send_functions()
        taken = {(one.file, one.line) for one in bounds if one.is_taken}
        for file, line in sorted((file, line) for file, line in taken if file and line):
            # Delve keeps one breakpoint at an address, be it of a function or of a line.
            self._breakpoints.move_to_line(file, line)
            if at.kind is not BreakpointKind.FUNCTION:
                await self._send_functions()
            await self._send_list(BreakpointSpec(file=file, line=line))

    async def _send_functions(self) -> None:
        await self._send_list(BreakpointSpec(function=""))
