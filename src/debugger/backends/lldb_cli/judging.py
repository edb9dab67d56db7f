"""Does a stop count, or does the program go on because nobody asked for it?

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
from debugger.core.model import ExceptionDetails, Purpose, Reason, Stopped
from debugger.errors import DebuggerError

_FALSE = frozenset({"0", "false"})


class Judged(Inside, Protocol):
    """What a judge may ask."""

    @property
    def changing(self) -> asyncio.Lock:
        """Held while LLDB has breakpoints that are not noted yet."""

    @property
    def thrown(self) -> dict[int, set[str | None]]:
        """Which types are asked for by the breakpoints that catch exceptions."""

    @property
    def steps(self) -> Steps:
        """What keeps a step from being lost."""

    async def exception(self, stop: Stopped) -> ExceptionDetails | None:
        """Return the exception that a thread stopped at."""

    async def ask(self, do: str, **arguments: Any) -> Any:
        """Ask LLDB a question."""

    def tell(self, event: Event) -> None:
        """Tell the session."""


class Judge:
    """Looks at the doubtful stops of one program."""

    def __init__(self, inside: Judged) -> None:
        self._inside = inside

    async def judge(self, stop: Stopped) -> Stopped | None:
        """Return a stop as it is to be told; None where the program goes on."""
        real = await self._judge(stop)
        return await self._inside.steps.enter(real) if real is not None else None

    async def _judge(self, stop: Stopped) -> Stopped | None:
        async with self._inside.changing:
            pass  # what has just been set is noted now
        caught = {kind for hit in stop.hits for kind in self._inside.thrown.get(hit, ())}
        if caught:
            stop = msgspec.structs.replace(stop, reason=Reason.EXCEPTION)
        stop = await common.settle(self._inside, stop)
        real = await self._inside.steps.judged(stop)
        if real is None:
            return await self._passed(stop)
        failures = await self._unmet(real)
        for failure in failures or ():
            self._inside.tell(failure)
        if failures is not None or (caught and not await self._is_asked_for(real, caught)):
            return await self._passed(real)
        return real

    async def _passed(self, stop: Stopped) -> Stopped | None:
        """Let the program go on, unless a step has ended here; return that as the stop.

        One that has not goes on: LLDB keeps its plan until it is done.
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

    async def _unmet(self, stop: Stopped) -> list[ConditionFailed] | None:
        """Return which conditions could not be evaluated where none holds; None if the stop is due.

        It is due without a condition, or where one is true.
        """
        conditions = self._inside.conditions
        known = [conditions[hit] for hit in stop.hits if hit in conditions]
        if not known or len(known) < len(stop.hits) or stop.thread is None:
            return None
        frames = (await self._inside.stack(stop.thread, levels=1)).frames
        failures: list[ConditionFailed] = []
        for number, condition in known:
            try:
                found = await self._inside.evaluate(condition, frames[0], Purpose.PRINT)
            except DebuggerError as error:
                failures.append(ConditionFailed(number, f"{condition}: {error.message}"))
            else:
                if found.value not in _FALSE:
                    return None
        return failures


def _names(kind: str) -> Sequence[str]:
    return (kind, kind.rpartition("::")[2], kind.rpartition(".")[2])
