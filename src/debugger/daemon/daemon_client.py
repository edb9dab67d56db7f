"""Sends a server's requests to the daemon: concurrent and cancellable, on one connection."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from debugger import __version__, paths
from debugger.daemon import daemon_process, protocol, transport
from debugger.errors import DebuggerError, ErrorCode

REQUESTS_MAX = 256  # unanswered requests
STREAM_MAX = 100_000  # characters of a streamed text
_TRIES = 3  # a daemon that is just ending refuses, or hangs up; its successor will answer


@dataclass(frozen=True)
class DaemonReply:
    """The daemon's reply: the text of the command line, and the data of `--json`."""

    text: str
    data: Mapping[str, Any]
    exit: int = 0


class _DaemonHungUp(Exception):
    """The daemon closed the connection before it answered."""


class DaemonClient:
    """A client of the daemon in a server's process, as a context that connects when needed.

    With `starts_daemon` it starts the daemon that does not run. `note` receives the warnings that a
    person would see on standard error: a dead daemon, lost sessions, a version mismatch.
    """

    def __init__(self, *, note: Callable[[str], None], starts_daemon: bool = True) -> None:
        self._note = note
        self._starts_daemon = starts_daemon
        self._directory = paths.runtime_dir()
        self._cwd = os.getcwd()  # noqa: PTH109 - as the client sends it
        self._connection: _RequestConnection | None = None
        # Two requests at once must not start two connections: opening one is no single step.
        self._opening = asyncio.Lock()
        self._noted: str | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def run_command(
        self, command: str, args: Mapping[str, Any], *, session: str | None = None
    ) -> DaemonReply:
        """Run a command by its wire name.

        Raises:
            DebuggerError: The command's failure, or that of the connection to the daemon.
        """
        return await self._request_and_wait(
            {"command": command, "args": dict(args), "session": session}
        )

    async def run_command_line(
        self, argv: Sequence[str], *, session: str | None = None
    ) -> DaemonReply:
        """Run a command line.

        Raises:
            DebuggerError: The command's failure, or that of the connection to the daemon.
        """
        words = [*(("--session", session) if session else ()), "--no-color", *argv]
        return await self._request_and_wait({"argv": words})

    async def _request_and_wait(self, arguments: Mapping[str, Any]) -> DaemonReply:
        message = {
            **arguments,
            "v": protocol.VERSION,
            "cwd": self._cwd,
            "env": dict(os.environ),
            "client": __version__,
        }
        for _ in range(_TRIES):
            connection = await self._open_connection()
            try:
                answer = await connection.request(message)
            except _DaemonHungUp:
                self._raise_if_daemon_died(
                    str(arguments.get("command") or " ".join(arguments.get("argv") or ()))
                )
                continue
            if not answer.get("retry"):
                return self._to_reply(answer)
        raise DebuggerError(
            ErrorCode.TIMEOUT, "the daemon does not answer", hint="debugger daemon logs shows why"
        )

    def _to_reply(self, answer: Mapping[str, Any]) -> DaemonReply:
        note = answer.get("note")
        if note is not None and note != self._noted:
            self._noted = note
            self._note(note)
        error = answer.get("error")
        if error is not None and not answer.get("success"):
            raise DebuggerError(ErrorCode(error["code"]), error["message"], hint=error.get("hint"))
        return DaemonReply(
            text=str(answer.get("stream", "")) + str(answer.get("text") or ""),
            data=answer.get("result") or {},
            exit=int(answer.get("exit") or 0),
        )

    async def _open_connection(self) -> _RequestConnection:
        async with self._opening:
            if self._connection is None or not self._connection.is_open:
                # Starting a daemon blocks.
                opened = await asyncio.to_thread(self._connect_daemon)
                self._connection = await _RequestConnection.from_transport(opened)
            return self._connection

    def _connect_daemon(self) -> transport.DaemonConnection:
        try:
            found = transport.connect_daemon(self._directory)
            if found is None and not self._starts_daemon:
                raise DebuggerError(
                    ErrorCode.NO_SESSION,
                    "the daemon does not run, so there is no session",
                    hint="debugger start PROGRAM begins one",
                )
            return found or daemon_process.connect_or_start(self._directory, say=self._note)
        except TimeoutError as error:
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                "the daemon does not answer",
                hint="debugger daemon logs shows why",
            ) from error
        except OSError as error:
            raise DebuggerError(
                ErrorCode.INTERNAL, str(error), hint="debugger daemon logs shows why"
            ) from error

    def _raise_if_daemon_died(self, ran: str) -> None:
        """Raise if the daemon crashed; return if it ended in good order."""
        state = transport.read_state(self._directory)
        if state is None or state.get("closing"):
            return
        raise DebuggerError(
            ErrorCode.INTERNAL,
            f"the daemon died while it ran '{ran}'; {daemon_process.describe_lost_sessions(state)}",
            hint="debug_launch begins anew; debugger daemon logs shows why",
        )


class _RequestConnection:
    """One daemon connection that carries concurrent requests and matches their replies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._streamed: dict[int, str] = {}
        self._number = 0
        self._reading = asyncio.ensure_future(self._read_answers())

    @classmethod
    async def from_transport(cls, opened: transport.DaemonConnection) -> _RequestConnection:
        """Take over an open client connection."""
        sock = socket.socket(fileno=opened.detach_socket())
        sock.setblocking(False)  # noqa: FBT003 - no keyword there
        return cls(*await asyncio.open_connection(sock=sock, limit=protocol.MAX_BYTES))

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return not self._reading.done()

    async def request(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer; a cancellation is forwarded to the daemon.

        Raises:
            DebuggerError: DENIED for too many at once, PROTOCOL for one that is too long.
            _DaemonHungUp: The daemon closed the connection.
        """
        if len(self._waiting) >= REQUESTS_MAX:
            raise DebuggerError(
                ErrorCode.DENIED,
                f"{REQUESTS_MAX} calls are running already",
                hint="wait for some of them, or cancel them",
            )
        # Ids are never reused on a connection: a late answer must not reach another request.
        self._number += 1
        number = self._number
        line = protocol.encode_message({**message, "id": number})
        if len(line) > protocol.MAX_BYTES:
            raise DebuggerError(
                ErrorCode.PROTOCOL,
                f"the call has {len(line)} bytes, a message at most {protocol.MAX_BYTES}",
                hint="send less",
            )
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        try:
            await self._send_line(line)
            return await answered
        except asyncio.CancelledError:
            # The daemon would go on with the wait otherwise.
            self._cancel_request(number)
            raise
        finally:
            self._waiting.pop(number, None)
            self._streamed.pop(number, None)

    async def _send_line(self, line: bytes) -> None:
        try:
            self._writer.write(line)
            await self._writer.drain()
        except OSError:
            raise _DaemonHungUp from None

    def _cancel_request(self, number: int) -> None:
        self._number += 1
        cancel = {"v": protocol.VERSION, "id": self._number, "cancel": number}
        with contextlib.suppress(OSError):
            self._writer.write(protocol.encode_message(cancel))

    async def _read_answers(self) -> None:
        try:
            while line := await self._reader.readline():
                self._take_answer(protocol.decode_message(line))
        except (OSError, ValueError, protocol.MalformedMessage):
            pass  # as if it had hung up: what it says cannot be read any more
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    # Each request decides by itself whether to try again.
                    waiting.set_exception(_DaemonHungUp())
            self._writer.close()

    def _take_answer(self, message: protocol.Message) -> None:
        number = message.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is None or number is None or waiting.done():
            return  # its asker has gone
        if "stream" in message:
            before = self._streamed.get(number, "")
            # The end of it: an answer has a limit, and the last lines say most.
            self._streamed[number] = (before + str(message["stream"]))[-STREAM_MAX:]
            return
        waiting.set_result({**message, "stream": self._streamed.get(number, "")})

    async def close(self) -> None:
        """Close the connection."""
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading
        # Not left to the task: one that had not begun yet has closed nothing.
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
