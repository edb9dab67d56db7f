"""Tracks the breakpoints of one process, and those disabled for the moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from debugger.backends.inprocess.engine.agent_connection import AgentConnection
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint
from debugger.backends.inprocess.engine.patch_sites import PatchSites


class EngineBreakpoints:
    """The breakpoints of one process, by their names."""

    def __init__(self, inside: AgentConnection, sites: PatchSites) -> None:
        self._inside = inside
        self._sites = sites
        self._known: dict[str, EngineBreakpoint] = {}
        self._disabled: set[str] = set()

    async def add_breakpoints(self, points: Iterable[EngineBreakpoint]) -> dict[str, str]:
        """Add some, in one go; return why some could not be, by name."""
        wished = list(points)
        refused = await self._sites.make_sites([point.address for point in wished])
        failed = {one.id: refused[one.address] for one in wished if one.address in refused}
        good = [one for one in wished if one.id not in failed]
        value, _ = await self._inside.send_order("add", points=[_as_order(point) for point in good])
        failed |= value
        self._known |= {one.id: one for one in good if one.id not in failed}
        return failed

    async def remove_breakpoints(self, ids: Iterable[str], *, is_awaited: bool = True) -> None:
        """Remove some."""
        gone = list(ids)
        if is_awaited:
            await self._inside.send_order("remove", ids=gone)
        else:
            self._inside.post_order("remove", ids=gone)
        for point in gone:
            self._known.pop(point, None)
            self._disabled.discard(point)

    def forget_range(self, low: int, high: int) -> None:
        """Forget those in code that was unmapped."""
        gone = [name for name, one in self._known.items() if low <= one.address < high]
        for name in gone:
            del self._known[name]
            self._disabled.discard(name)

    async def enable_breakpoints(self, ids: Iterable[str], *, on: bool) -> None:
        """Put some back, or take them out and keep them."""
        known = [point for point in ids if point in self._known]
        if on:
            again = [self._known[point] for point in known if point in self._disabled]
            self._disabled -= set(known)
            await self.add_breakpoints(again)
        else:
            self._disabled |= set(known)
            await self._inside.send_order("remove", ids=known)


def _as_order(point: EngineBreakpoint) -> dict[str, Any]:
    order: dict[str, Any] = msgspec.to_builtins(point)
    return order | {"address": hex(point.address)}
