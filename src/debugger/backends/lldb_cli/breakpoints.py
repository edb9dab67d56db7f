"""How lists of breakpoints get to LLDB, and what it made of them."""

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
    """What may be asked of the session's LLDB."""

    async def ask(self, do: str, **arguments: Any) -> Any:
        """Ask a question."""


def place(spec: Spec) -> Spec | Bound:
    """Return where a breakpoint is to be set; a word for exceptions is a filter or a function."""
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
    """Say why a breakpoint does not bind."""
    try:
        return await common.explain(inside, spec)
    except DebuggerError:
        return Bound(verified=False, why="the debugger did not say why")


class Breakpoints:
    """The breakpoints of one program.

    `conditions` are our number and the condition of each that has one, by LLDB's number; `thrown`
    which types of exceptions are asked for, by the same; `steps` sees to it that no step is lost
    at a breakpoint that does not stop. While `changing` is held LLDB has some that are not noted
    yet, and the program may have run to one before it had its condition.
    """

    def __init__(self, inside: Asked) -> None:
        self._inside = inside
        self.steps = Steps(inside, logging=_LOGGING, on_moved=self._share)
        self.conditions: dict[int, tuple[int, str]] = {}
        self.thrown: dict[int, set[str | None]] = {}
        self.changing = asyncio.Lock()

    async def _share(self, number: int, wanted: Breakpoint, owner: int) -> None:
        """Have a breakpoint that was moved log as the one does that it stands for."""
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
