"""Filters stops of LLDB, and continues after those that no request of the user's explains.

LLDB stops where a condition cannot be evaluated, at exceptions of every type, and at a breakpoint
that was set while the program runs before it has its condition.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from debugger.backends.base import ConditionFailed, Event
from debugger.backends.lldb import common
from debugger.backends.lldb.inside import Inside
from debugger.backends.lldb.steps import Steps
from debugger.core.model import ExceptionDetails, Frame, Purpose, Reason, Stopped
from debugger.errors import DebuggerError

_FALSE = frozenset({"0", "false"})


class Judged(Inside, Protocol):
    """Gives the stop filter access to the session."""

    @property
    def changing(self) -> asyncio.Lock:
        """A lock, held while LLDB has breakpoints that are not noted yet."""

    @property
    def thrown(self) -> dict[int, set[str | None]]:
        """The types of exceptions that breakpoints catch, by LLDB's number."""

    @property
    def steps(self) -> Steps:
        """Keeps steps from being lost."""

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception that a thread stopped at."""

    async def ask(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""

    def tell(self, event: Event) -> None:
        """Report an event to the session."""


class Judge:
    """Filters the stops of one program."""

    def __init__(self, inside: Judged) -> None:
        self._inside = inside

    async def judge(self, stop: Stopped) -> Stopped | None:
        """Return a stop that is to be reported; None where the program goes on."""
        real = await self._judge(stop)
        return await self._inside.steps.enter(real) if real is not None else None

    async def _judge(self, stop: Stopped) -> Stopped | None:
        async with self._inside.changing:
            pass  # breakpoints that were being set are noted now
        caught = {kind for hit in stop.hits for kind in self._inside.thrown.get(hit, ())}
        if caught:
            stop = msgspec.structs.replace(stop, reason=Reason.EXCEPTION)
        stop = await common.settle(self._inside, stop)
        real = await self._inside.steps.judged(stop)
        if real is None:
            return await self._passed(stop)
        due = await self._due(real)
        if due is None or (caught and not await self._is_asked_for(due, caught)):
            return await self._passed(real)
        return due

    async def _passed(self, stop: Stopped) -> Stopped | None:
        """Continue the program, unless a step has ended here; return the stop of that step.

        A step that has not ended goes on by itself: LLDB keeps its plan until it is done.
        """
        ended = await self._inside.steps.ended()
        if ended is None:
            await self._inside.ask("resume", how="continue", thread=stop.thread or 0)
        return ended

    async def _is_asked_for(self, stop: Stopped, types: set[str | None]) -> bool:
        if None in types:
            return True
        details = await self._inside.exception(stop)
        return details is None or any(one in types for one in _names(details.type))

    async def _due(self, stop: Stopped) -> Stopped | None:
        """Return a stop with the breakpoints whose condition, if any, is true; None without any.

        A condition that cannot be evaluated is reported.
        """
        conditions = self._inside.conditions
        if stop.thread is None or not any(hit in conditions for hit in stop.hits):
            return stop
        frames = (await self._inside.stack(stop.thread, levels=1)).frames
        hits: list[int] = []
        for hit in stop.hits:
            number, condition = conditions.get(hit, (None, ""))
            try:
                if number is None or await self._is_true(condition, frames[0]):
                    hits.append(hit)
            except DebuggerError as error:
                self._inside.tell(ConditionFailed(number, f"{condition}: {error.message}"))
        return msgspec.structs.replace(stop, hits=tuple(hits)) if hits else None

    async def _is_true(self, condition: str, frame: Frame) -> bool:
        found = await self._inside.evaluate(condition, frame, Purpose.PRINT)
        return found.value not in _FALSE


def _names(kind: str) -> Sequence[str]:
    return (kind, kind.rpartition("::")[2], kind.rpartition(".")[2])
