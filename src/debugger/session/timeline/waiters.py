"""Wakes those who wait for certain kinds of events."""

from __future__ import annotations

import asyncio
from collections.abc import Set as AbstractSet

from debugger.model.events import EventKind


class Waiters:
    """The tasks of one event loop that wait until an event of some kind is appended."""

    def __init__(self) -> None:
        self._kinds: dict[asyncio.Future[None], AbstractSet[EventKind]] = {}

    async def wait_for_append(self, kinds: AbstractSet[EventKind]) -> None:
        """Wait for `wake` with one of the kinds; the caller bounds the wait."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._kinds[future] = kinds
        try:
            await future
        finally:
            del self._kinds[future]

    def wake(self, *kinds: EventKind) -> None:
        """Resume every task that waits for one of the kinds."""
        for future, wanted in self._kinds.items():
            if not wanted.isdisjoint(kinds) and not future.done():
                future.set_result(None)
