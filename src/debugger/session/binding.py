"""How the breakpoints that are wanted get to the debugger, and its answers back."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends.abilities import Exceptions, InstructionBreakpoints, Tracing
from debugger.backends.base import Backend
from debugger.core.breakpoints import Bound, Breakpoint, Breakpoints, Kind, Spec
from debugger.core.model import Frame
from debugger.errors import DebuggerError
from debugger.session.watching import Watching


class Binding:
    """Sends breakpoints to a backend while there is one; its methods are jobs of the session."""

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self._backend: Backend | None = None
        self._traced: dict[str, int | None] = {}
        self._has_ended = False
        self.watching = Watching(breakpoints)

    def forget(self) -> None:
        """Forget the backend and what it answered: the program has ended or is started anew."""
        self._backend = None
        self._breakpoints.unbind()
        self.watching.forget()

    def detach(self) -> None:
        """Send nothing any more; what was answered is kept to be told."""
        self._backend = None
        self._has_ended = True

    async def send_all(self, backend: Backend) -> None:
        """Send every breakpoint to a new backend."""
        self._backend = backend
        self._has_ended = False
        for one in self._breakpoints.every():
            self._place(one, backend)
        for at in self._breakpoints.lists():
            await self._send(at)
        for pattern, limit in self._traced.items():
            await backend.ability(Tracing).trace([pattern], limit=limit)

    def traced(self, patterns: Sequence[str], limit: int | None) -> None:
        """Note which functions are traced, for when the program is started again."""
        self._traced |= dict.fromkeys(patterns, limit)

    def untraced(self, patterns: Sequence[str]) -> None:
        """Note which functions are traced no longer."""
        for pattern in patterns:
            self._traced.pop(pattern, None)

    async def add(self, spec: Spec, *, internal: bool = False) -> Breakpoint:
        """Want a breakpoint and send it; one that does not bind is kept and says why.

        Raises:
            DebuggerError: What the backend raises; then all is wanted that was before.
        """
        same = None if internal else self._breakpoints.at(spec)
        if same is not None:
            return same
        wanted = self._breakpoints.add(spec, internal=internal)
        try:
            return await self._renew(wanted)
        except DebuggerError:
            self._breakpoints.remove(wanted.id)
            raise

    async def adopt(self, known: Breakpoint) -> None:
        """Want a breakpoint of another process of the family, under the same number."""
        self._breakpoints.adopt(known)
        await self._renew(self._breakpoints.get(known.id))

    async def drop_number(self, number: int) -> None:
        """Stop wanting the breakpoint of a number, if it is wanted."""
        known = next((one for one in self._breakpoints.listed() if one.id == number), None)
        if known is not None:
            await self.drop(known)

    async def drop(self, known: Breakpoint) -> None:
        """Stop wanting a breakpoint, also one of ours."""
        if known.spec.kind is Kind.WATCHPOINT:
            await self.watching.drop(known, self._backend)
            return
        self._breakpoints.remove(known.id)
        if known.at is not None:
            await self._send(known.at)

    async def enable(self, number: int, *, on: bool, frame: Frame | None = None) -> Breakpoint:
        """Switch one of the user's breakpoints on or off; a watchpoint is meant in a frame.

        Raises:
            DebuggerError: NOT_FOUND, and what setting a watchpoint raises.
        """
        known = self._breakpoints.get(number)
        if known.spec.kind is Kind.WATCHPOINT:
            return await self.watching.enable(known, self._backend, frame, on=on)
        return await self._renew(self._breakpoints.enable(number, on=on))

    async def _renew(self, wanted: Breakpoint) -> Breakpoint:
        if self._backend is not None:
            at = self._place(wanted, self._backend)
            if at is not None:
                await self._send(at)
        elif self._has_ended and wanted.bound is None:
            why = "the program has ended; debugger restart sets it"
            self._breakpoints.place(wanted.id, Bound(verified=False, why=why))
        found = [one for one in self._breakpoints.every() if one.id == wanted.id]
        return found[0] if found else wanted

    def _place(self, wanted: Breakpoint, backend: Backend) -> Spec | None:
        if wanted.spec.kind is Kind.WATCHPOINT:
            return None  # set one at a time, where the program has stopped
        at = backend.place(wanted.spec)
        self._breakpoints.place(wanted.id, at)
        return None if isinstance(at, Bound) else at

    async def _send(self, at: Spec) -> None:
        if self._backend is None:
            return
        alike = self._breakpoints.alike(at)
        match at.kind:
            case Kind.FUNCTION:
                bounds = await self._backend.set_function_breakpoints(alike)
            case Kind.LINE:
                assert at.file is not None
                bounds = await self._backend.set_breakpoints(at.file, alike)
            case Kind.ADDRESS:
                setter = self._backend.ability(InstructionBreakpoints)
                bounds = await setter.set_instruction_breakpoints(alike)
            case Kind.EXCEPTION:
                bounds = await self._backend.ability(Exceptions).set_catches(alike)
            case Kind.WATCHPOINT:
                return
        self._breakpoints.bind(alike, bounds)
        if at.kind is Kind.FUNCTION and self._breakpoints.qualify():
            await self._send_functions()
        taken = {(one.file, one.line) for one in bounds if one.is_taken}
        for file, line in sorted((file, line) for file, line in taken if file and line):
            # Delve keeps one breakpoint at an address, be it of a function or of a line.
            self._breakpoints.move_to_line(file, line)
            if at.kind is not Kind.FUNCTION:
                await self._send_functions()
            await self._send(Spec(file=file, line=line))

    async def _send_functions(self) -> None:
        await self._send(Spec(function=""))
