"""Checks the conditions of watchpoints that were hit."""

from __future__ import annotations

from typing import Protocol

import msgspec

from debugger.backends.base import ConditionFailed
from debugger.backends.frida.looking import watching
from debugger.backends.frida.looking.around import Around
from debugger.core.breakpoints import Bound, Breakpoint
from debugger.core.model import Frame, Purpose, Stopped
from debugger.errors import DebuggerError


class Asked(Around, Protocol):
    """What has the conditions of watchpoints."""

    @property
    def watched(self) -> Watched:
        """The conditions of those that have one."""


class Watched:
    """The conditions of watchpoints, which the processor knows nothing of."""

    def __init__(self, inside: Around) -> None:
        self._inside = inside
        self._conditions: dict[int, tuple[int, str]] = {}

    def note(self, wanted: Breakpoint, bound: Bound) -> None:
        """Note a watchpoint's condition."""
        if bound.backend_id is not None and wanted.spec.condition is not None:
            self._conditions[bound.backend_id] = (wanted.id, wanted.spec.condition)

    def forget(self, bound: Bound) -> None:
        """Forget a watchpoint that was removed."""
        if bound.backend_id is not None:
            self._conditions.pop(bound.backend_id, None)

    async def judged(self, stop: Stopped) -> Stopped | None:
        """Leave out of a stop what does not hold; None if nothing is left."""
        kept = [one for one in stop.hits if await self._holds(one, stop.thread or 0)]
        if not kept and stop.hits:
            return None
        return msgspec.structs.replace(stop, hits=tuple(kept))

    async def _holds(self, number: int, thread: int) -> bool:
        if number not in self._conditions:
            return True
        ours, text = self._conditions[number]
        looking = self._inside.looking
        try:
            (frame,) = (await looking.stack(thread, levels=1)).frames[:1]
            value = await looking.evaluate(f"({text}) ? 1 : 0", frame, Purpose.PRINT)
        except DebuggerError as error:
            self._inside.tell(ConditionFailed(ours, error.message))
            return False
        return value.value == "1"


class Watchpoints:
    """Watchpoints by the debug registers, with conditions."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside
        self._own = watching.Watchpoints(inside)

    @property
    def slots(self) -> int | None:
        """How many there can be at once."""
        return self._own.slots

    async def watch(self, wanted: Breakpoint, frame: Frame | None) -> Bound:
        """Set one (see abilities.Watchpoints)."""
        bound = await self._own.watch(wanted, frame)
        self._inside.watched.note(wanted, bound)
        return bound

    async def unwatch(self, bound: Bound) -> None:
        """Remove one."""
        self._inside.watched.forget(bound)
        await self._own.unwatch(bound)
