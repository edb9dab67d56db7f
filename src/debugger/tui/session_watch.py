"""Follows one session of the daemon for a person's screen, and connects again when it is lost."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from debugger.clients.session_client import SessionClient, read_overview
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode

_OVERVIEW_S: Final = 1.0  # seconds between two looks at the sessions and the evidence
_RETRY_S: Final = 1.0
_PICTURE_TOKENS: Final = "1000000"

# Sends a request, and returns the body of its response.
Request = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
# Runs a command of the daemon for the session, and returns its answer.
RunCommand = Request
# Takes the name of an event and its body.
Receive = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class SessionWatch:
    """Follows a session, as a page does, and reports what happens.

    Besides the events of the conversation (see `SessionClient`) it reports `overview` with the
    sessions and the evidence, `joined` and `lost` with the session's name, and `gone` with a
    message where there is no such session.
    """

    def __init__(self, daemon: DaemonClient, receive: Receive, session: str | None) -> None:
        self._daemon = daemon
        self._receive = receive
        self.session = session
        # With it this screen takes over; it stays the same when the connection is lost.
        self._key = secrets.token_urlsafe(12)
        self._conversation: SessionClient | None = None
        self._since = "0"
        self._chosen = asyncio.Event()
        self._overview: Mapping[str, Any] = {}

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_daemon())
            tasks.create_task(self._follow_sessions())

    async def choose(self, session: str) -> None:
        """Follow another session, from the beginning of what is kept of it."""
        if session != self.session:
            self.session, self._since = session, "0"
            self._chosen.set()
            if self._conversation is not None:
                await self._conversation.close()

    async def request(self, command: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request of the conversation, and return the body of its response.

        Raises:
            DebuggerError: What the daemon answers; NO_SESSION where none is followed.
        """
        if self._conversation is None:
            raise DebuggerError(ErrorCode.NO_SESSION, "no session is followed")
        return await self._conversation.request(command, arguments)

    async def run_command(self, command: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a command of the daemon for the session, or for a `group`, and return its answer.

        Raises:
            DebuggerError: The command's failure.
        """
        session = None if "group" in arguments else self.session
        reply = await self._daemon.run_command(command, arguments, session=session)
        return dict(reply.data)

    async def draw_answer(self, number: str, width: int) -> dict[str, Any]:
        """Return an answer's picture in so many characters a line, or the trees of its calls.

        Raises:
            DebuggerError: NOT_FOUND if it has nothing to draw.
        """
        # A picture is no shorter than it is: of a cut one nothing could be shown.
        words = ["--budget", _PICTURE_TOKENS, "evidence", "draw", number]
        reply = await self._daemon.run_command_line([*words, "--text", "--width", str(width)])
        return dict(reply.data)

    async def _watch_daemon(self) -> None:
        while True:
            overview = await read_overview(self._daemon)
            if self.session is None and overview["current"] is not None:
                self.session = overview["current"]
                self._chosen.set()
            if overview != self._overview:
                self._overview = overview
                await self._receive("overview", overview)
            await asyncio.sleep(_OVERVIEW_S)

    async def _follow_sessions(self) -> None:
        while True:
            self._chosen.clear()
            if self.session is not None:
                await self._follow_session(self.session)
            # A session that has ended may be started again.
            with suppress(TimeoutError):
                async with asyncio.timeout(_RETRY_S):
                    await self._chosen.wait()

    async def _follow_session(self, session: str) -> None:
        try:
            joined = await SessionClient.join_session(
                session, page_key=self._key, since=self._since
            )
        except DebuggerError as error:
            await self._receive("gone", {"session": session, "message": error.message})
            return
        self._conversation = joined
        try:
            await self._receive("joined", {"session": session})
            while (message := await joined.next_event()) is not None:
                body = message.get("body") or {}
                if message["event"] == "output" and session == self.session:
                    self._since = body.pop("data", None) or self._since
                await self._receive(message["event"], body)
        finally:
            self._conversation = None
            await joined.close()
        await self._receive("lost", {"session": session})
