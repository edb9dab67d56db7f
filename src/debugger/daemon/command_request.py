"""Defines a request for a command, its reply, and the handler that answers requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from debugger.errors import DebuggerError


async def _report_nothing(_name: str) -> None: ...


Publish = Callable[[Sequence[Mapping[str, Any]]], None]


@dataclass(frozen=True, eq=False)
class CommandRequest:
    """One request for a command: `argv` from a command line, or `command` with `args`."""

    id: int
    # Writes text to the client before the answer, and waits while the client does not read.
    stream: Callable[[str], Awaitable[None]]
    argv: tuple[str, ...] | None = None
    command: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    # What another machine's daemon calls this one; None for a client of this machine.
    known_as: str | None = None
    # Tells that daemon the session or group that a command has begun, before it answers.
    report_begun: Callable[[str], Awaitable[None]] = _report_nothing
    # Of a `command`, whose options of every command do not stand in `argv`.
    is_json: bool = False
    budget: int | None = None
    is_color: bool = False
    cwd: str = "/"
    env: Mapping[str, str] = field(default_factory=dict)
    width: int = 80
    tty: bool = False
    # A person sits at a terminal, and sees the progress of a long request.
    wants_progress: bool = False
    # Without it the text is enough, and `result` is not encoded.
    wants_result: bool = True
    # Set when the user wants the wait to end and an answer.
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def takes_colour(self) -> bool:
        """Whether the client's environment allows colour (https://no-color.org: not empty)."""
        return not self.env.get("NO_COLOR") and self.env.get("TERM") != "dumb"

    def cancel_wait(self) -> None:
        """Request that the handler ends its wait and answers with its current data."""
        self.interrupted.set()


@dataclass(frozen=True)
class CommandReply:
    """The answer to a request."""

    success: bool = True
    result: Mapping[str, Any] | None = None
    text: str | None = None
    error: DebuggerError | None = None
    exit: int = 0
    # Ends the daemon after the reply is sent.
    stop_daemon: bool = False

    @classmethod
    def from_error(cls, error: DebuggerError, *, text: str | None = None) -> CommandReply:
        """Build the reply for a failure; `text` goes to stdout in place of the message."""
        return cls(success=False, error=error, text=text, exit=int(error.exit_code))


class Handler(Protocol):
    """The interface that answers the daemon's requests.

    `handle` runs concurrently for many requests, and is cancelled when its client disconnects.
    """

    async def handle(self, request: CommandRequest) -> CommandReply:
        """Answer a request; a raised DebuggerError is an answer as well."""
        ...

    async def serve_editor(
        self, request: CommandRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Hold the conversation with an editor, until it disconnects."""
        ...

    def idle_s(self) -> float | None:
        """Return the idle seconds after which the daemon ends; None: the initial value."""
        ...

    def has_live_session(self) -> bool:
        """Whether a session lives, so that the daemon must not end for being idle."""
        ...

    def live_sessions(self) -> list[dict[str, Any]]:
        """List the sessions that would be lost with the daemon: name, program and pid."""
        ...

    def evidence_numbers(self) -> tuple[str, ...]:
        """Return the ids of the stored answers, which are also lost with the daemon."""
        ...

    def describe_sessions(self) -> dict[str, Any]:
        """Describe all sessions, for the daemon of another machine: each, and the current one."""
        ...

    def describe_progress(self, request: CommandRequest) -> str:
        """Describe the work of a long request in a few words; "" if nothing is known."""
        ...

    async def close(self) -> None:
        """End all sessions."""
        ...


HandlerFactory = Callable[[Publish], Handler]
