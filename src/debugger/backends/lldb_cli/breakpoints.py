"""Sends lists of breakpoints to LLDB, and converts the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from debugger.backends.lldb import common
from debugger.backends.lldb.inside import Inside
from debugger.backends.lldb.steps import Steps
from debugger.backends.lldb_cli import able, parse
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.errors import DebuggerError

_LOGGING = frozenset({Kind.LINE, Kind.FUNCTION, Kind.ADDRESS})  # without a stop


class Asked(Inside, Protocol):
    """Gives the breakpoints access to the session's LLDB."""

    async def ask(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""


def place(spec: Spec) -> Spec | Bound:
    """Resolve a breakpoint's location; a word for exceptions is a filter or a function."""
    if spec.kind is not Kind.EXCEPTION:
        return spec
    word = spec.catch or ""
    function = common.CATCH_FUNCTIONS.get(word)
    if function is not None:
        return Spec(function=function)
    known = able.CATCHES.get(word)
    if known is None:
        return Bound(verified=False, why=f"lldb-cli has no filter {word}")
    return Spec(catch=known.name, type=spec.type)


async def explained(inside: Inside, spec: Spec) -> Bound:
    """Explain why a breakpoint does not bind."""
    try:
        return await common.explain(inside, spec)
    except DebuggerError:
        return Bound(verified=False, why="the debugger did not say why")


class Breakpoints:
    """The breakpoints of one program."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside
        # Keeps steps from being lost at breakpoints that do not stop.
        self.steps = Steps(inside, logging=_LOGGING, on_moved=self._share)
        # Our number and the condition of each breakpoint, by LLDB's number.
        self.conditions: dict[int, tuple[int, str]] = {}
        # The types of exceptions that the breakpoints catch, by LLDB's number.
        self.thrown: dict[int, set[str | None]] = {}
        # Held while LLDB has breakpoints that are not noted yet: the program may have run to one of
        # them before it had its condition.
        self.changing = asyncio.Lock()

    async def _share(self, number: int, wanted: Breakpoint, owner: int) -> None:
        """Make a moved breakpoint log the text of the breakpoint that it stands for."""
        del wanted
        await self._inside.ask("share_breakpoint", number=number, owner=owner)

    async def replace(
        self, name: str, wanted: Sequence[Breakpoint], file: str | None
    ) -> list[Bound]:
        """Replace a list, of a source file or of none; the answers come in the same order."""
        asked = [parse.wanted(one, file) for one in wanted]
        async with self.changing:
            told = await self._inside.ask("breakpoints", name=name, wanted=asked)
            places = parse.places(told)
            self._note(places, wanted)
        bounds = [
            await self._bound(parse.bound(found, one), one.at or one.spec)
            for found, one in zip(places, wanted, strict=True)
        ]
        return await self.steps.note(name, wanted, bounds)

    def _note(self, places: Sequence[parse.Place], wanted: Sequence[Breakpoint]) -> None:
        for found in places:
            self.conditions.pop(found.id, None)
            self.thrown.pop(found.id, None)
        for found, one in zip(places, wanted, strict=True):
            if one.spec.condition is not None and one.spec.log is None:
                self.conditions[found.id] = (one.id, one.spec.condition)
            if one.spec.catch is not None:
                self.thrown.setdefault(found.id, set()).add(one.spec.type)

    async def _bound(self, bound: Bound, at: Spec) -> Bound:
        if at.kind is Kind.EXCEPTION:
            # It binds when the language's runtime is loaded, which may be at any time.
            return msgspec.structs.replace(bound, verified=True)
        if bound.verified:
            return bound
        if at.kind is Kind.ADDRESS:
            why = f"no code at {at.address}"
            return msgspec.structs.replace(bound, address=at.address, why=why)
        told = await explained(self._inside, at)
        return msgspec.structs.replace(
            bound, why=told.why, nearest_lines=told.nearest_lines, near_names=told.near_names
        )
