"""Reports to an editor how a session begins: progress events, which the editor may cancel.

The editor decides when to show them: VS Code shows what takes longer than half a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from debugger.editors.editor_channel import EditorChannel
from debugger.model.events import EventKind
from debugger.session.selection import target_program
from debugger.session.session import Session

_UPDATE_S = 1.0
_TEXT_MAX = 200
_SPEAKS = frozenset({EventKind.OUTPUT, EventKind.ADAPTER})


class LaunchProgress:
    """The present start of a session: the progress and the request that it belongs to."""

    def __init__(self) -> None:
        self._request: int | None = None

    @property
    def name(self) -> str:
        """The progress's own name."""
        return f"launch-{self._request}"

    def begin(self, request: int) -> None:
        """Record that the start that a request asked for begins."""
        self._request = request

    def end(self) -> None:
        """Record that it is over."""
        self._request = None

    def is_of(self, progress: str | None, request: int | None) -> bool:
        """Tell whether a progress, or a request, is the present start."""
        return self._request is not None and (progress == self.name or request == self._request)


class ProgressHost(Protocol):
    """What the report needs of an editor's conversation."""

    channel: EditorChannel
    progress: LaunchProgress
    takes_progress: bool


@asynccontextmanager
async def report_progress(
    editor: ProgressHost, session: Session, request: int
) -> AsyncIterator[None]:
    """Report that a session begins, each second what it does, and that it has begun."""
    editor.progress.begin(request)
    if not editor.takes_progress:
        try:
            yield
        finally:
            editor.progress.end()
        return
    name = editor.progress.name
    await editor.channel.send_event("progressStart", _start_body(name, session, request))
    updates = asyncio.ensure_future(_send_updates(editor.channel, session, name))
    try:
        yield
    finally:
        editor.progress.end()
        updates.cancel()
        await asyncio.wait({updates})
        await editor.channel.send_event("progressEnd", {"progressId": name})


def _start_body(name: str, session: Session, request: int) -> Mapping[str, Any]:
    return {
        "progressId": name,
        "title": f"Starting {target_program(session.target) or session.name}"[:_TEXT_MAX],
        "requestId": request,
        "cancellable": True,
    }


async def _send_updates(channel: EditorChannel, session: Session, name: str) -> None:
    seconds = 0
    cursor = session.timeline.cursor()
    while True:
        await asyncio.sleep(_UPDATE_S)
        seconds += 1
        event = await session.timeline.wait(cursor, _SPEAKS, 0)
        cursor = event.seq if event is not None else cursor
        text = f", {event.text[:_TEXT_MAX]}" if event is not None and event.text else ""
        body = {"progressId": name, "message": f"{seconds} s{text}"}
        await channel.send_event("progressUpdate", body)
