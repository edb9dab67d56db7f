"""Reports to an editor how a session begins: progress events, which the editor may cancel.

The editor decides when to show them: a start of a fraction of a second is nothing to show.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from debugger.editors.editor_channel import EditorChannel
from debugger.model.events import EventKind
from debugger.session.selection import target_program
from debugger.session.session import Session

_UPDATE_S = 1.0
_TEXT_MAX = 200
_OUTPUT = frozenset({EventKind.OUTPUT, EventKind.ADAPTER})


class LaunchProgress:
    """The present start of an editor's session: the progress and the request of it."""

    def __init__(self, channel: EditorChannel) -> None:
        self.is_requested = False  # whether the editor takes progress events
        self._channel = channel
        self._request: int | None = None

    def is_of(self, progress: str | None, request: int | None) -> bool:
        """Return whether a progress, or a request, is the present start."""
        is_this = progress == self._name or request == self._request
        return self._request is not None and is_this

    @asynccontextmanager
    async def report_start(self, session: Session, request: int) -> AsyncIterator[None]:
        """Report that a session begins, each second what it does, and that it has begun."""
        self._request = request
        name = self._name
        updates: asyncio.Task[None] | None = None
        if self.is_requested:
            await self._channel.send_event("progressStart", _start_body(name, session, request))
            updates = asyncio.ensure_future(self._send_updates(session, name))
        try:
            yield
        finally:
            self._request = None
            if updates is not None:
                updates.cancel()
                await asyncio.wait({updates})
                await self._channel.send_event("progressEnd", {"progressId": name})

    @property
    def _name(self) -> str:
        return f"launch-{self._request}"

    async def _send_updates(self, session: Session, name: str) -> None:
        seconds = 0
        cursor = session.timeline.cursor()
        while True:
            await asyncio.sleep(_UPDATE_S)
            seconds += 1
            event = await session.timeline.wait(cursor, _OUTPUT, 0)
            cursor = event.seq if event is not None else cursor
            text = f", {event.text[:_TEXT_MAX]}" if event is not None and event.text else ""
            body = {"progressId": name, "message": f"{seconds} s{text}"}
            await self._channel.send_event("progressUpdate", body)


def _start_body(name: str, session: Session, request: int) -> Mapping[str, Any]:
    return {
        "progressId": name,
        "title": f"Starting {target_program(session.target) or session.name}"[:_TEXT_MAX],
        "requestId": request,
        "cancellable": True,
    }
