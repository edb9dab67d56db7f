"""Sends lists of breakpoints to LLDB, and converts the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from debugger.backends.lldb import lldb_common
from debugger.backends.lldb.command_line import cli_abilities, lldb_answers
from debugger.backends.lldb.lldb_access import LldbAccess
from debugger.backends.lldb.lldb_steps import LldbSteps
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec

_LOGGING = frozenset(
    {BreakpointKind.LINE, BreakpointKind.FUNCTION, BreakpointKind.ADDRESS}
)  # without a stop


class BreakpointAccess(LldbAccess, Protocol):
    """Gives the breakpoints access to the session's LLDB."""

    async def ask_lldb(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""


def locate_breakpoint(spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    """Resolve a breakpoint's location; a word for exceptions is a filter or a function."""
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


async def explain_unbound(inside: LldbAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    """Explain why a breakpoint does not bind."""
    try:
        return await lldb_common.explain_unbound(inside, spec)
    except DebuggerError:
        return BoundBreakpoint(verified=False, why="the debugger did not say why")


class CliBreakpoints:
    """The breakpoints of one program."""

    def __init__(self, inside: BreakpointAccess) -> None:
        self._inside = inside
        # Keeps steps from being lost at breakpoints that do not stop.
        self.steps = LldbSteps(inside, logging=_LOGGING, on_moved=self._share_log)
        # Our number and the condition of each breakpoint, by LLDB's number.
        self.conditions: dict[int, tuple[int, str]] = {}
        # The types of exceptions that the breakpoints catch, by LLDB's number.
        self.thrown: dict[int, set[str | None]] = {}
        # Held while LLDB has breakpoints that are not noted yet: the program may have run to one of
        # them before it had its condition.
        self.changing = asyncio.Lock()

    async def _share_log(self, number: int, wanted: Breakpoint, owner: int) -> None:
        """Make a moved breakpoint log the text of the breakpoint that it stands for."""
        del wanted
        await self._inside.ask_lldb("share_breakpoint", number=number, owner=owner)

    async def replace_list(
        self, name: str, wanted: Sequence[Breakpoint], file: str | None
    ) -> list[BoundBreakpoint]:
        """Replace a list, of a source file or of none; the answers come in the same order."""
        requests = [lldb_answers.encode_breakpoint(one, file) for one in wanted]
        async with self.changing:
            answer = await self._inside.ask_lldb("breakpoints", name=name, wanted=requests)
            locations = lldb_answers.parse_locations(answer)
            self._note_locations(locations, wanted)
        bounds = [
            await self._to_bound(lldb_answers.to_bound(location, one), one.at or one.spec)
            for location, one in zip(locations, wanted, strict=True)
        ]
        return await self.steps.note_breakpoints(name, wanted, bounds)

    def _note_locations(
        self, places: Sequence[lldb_answers.LldbLocation], wanted: Sequence[Breakpoint]
    ) -> None:
        for location in places:
            self.conditions.pop(location.id, None)
            self.thrown.pop(location.id, None)
        for location, one in zip(places, wanted, strict=True):
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
        explanation = await explain_unbound(self._inside, at)
        return msgspec.structs.replace(
            bound,
            why=explanation.why,
            nearest_lines=explanation.nearest_lines,
            near_names=explanation.near_names,
        )
