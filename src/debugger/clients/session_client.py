"""Joins a session for one person's screen, as an editor does: by a DAP conversation."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from debugger import __version__, paths
from debugger.backends.dap.dap_transport import MessageDecoder, encode_message
from debugger.daemon import protocol, transport
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode

ANSWER_S = 120.0  # seconds; a request waits for those before it
_BEGIN_S = 10.0
_CHUNK = 1 << 16
_EVENTS_MAX = 1000  # events that wait for a screen that does not read; then the daemon waits for it

# The overview of a daemon that does not run.
NO_OVERVIEW: Final[Mapping[str, Any]] = {
    "sessions": [],
    "groups": [],
    "current": None,
    "evidence": [],
}


class SessionClient:
    """One screen's conversation with the daemon, at one session.

    The screen is a page of `debugger ui`, or a terminal of `debugger tui`. `next_event` returns
    what the daemon reports (DAP events), until the conversation ends.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._seq = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_EVENTS_MAX)
        self._reading = asyncio.ensure_future(self._read_messages())

    @classmethod
    async def join_session(cls, session: str, *, page_key: str, since: str) -> SessionClient:
        """Join a session of the daemon that runs.

        Args:
            session: The session's name.
            page_key: The key by which the screen takes over.
            since: What the screen has received before (TIMELINE:CURSOR), "0" for nothing.

        Raises:
            DebuggerError: NO_SESSION without a daemon or such a session; TIMEOUT.
        """
        reader, writer = await _open_conversation()
        joined = cls(reader, writer)
        try:
            async with asyncio.timeout(_BEGIN_S):
                about = {"adapterID": "debugger", "supportsInvalidatedEvent": True}
                await joined.request("initialize", about)
                attach = {"session": session, "pageKey": page_key, "outputSince": since}
                await joined.request("attach", attach)
                await joined.request("configurationDone", {})
        except TimeoutError:
            await joined.close()
            raise _no_answer() from None
        except BaseException:
            await joined.close()
            raise
        return joined

    async def request(self, command: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, and return the body of its response.

        Raises:
            DebuggerError: What the daemon answers; NO_SESSION once the conversation has ended.
        """
        if self._reading.done():
            raise _ended()
        self._seq += 1
        number = self._seq
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        try:
            self._writer.write(encode_message(msgspec.json.encode(message)))
            async with asyncio.timeout(ANSWER_S):
                await self._writer.drain()
                answer = await answered
        except TimeoutError:
            raise _no_answer() from None
        except OSError:
            raise _ended() from None
        finally:
            self._waiting.pop(number, None)
        if not answer.get("success"):
            error = (answer.get("body") or {}).get("error") or {}
            text = str(error.get("format") or answer.get("message"))
            raise DebuggerError(ErrorCode.PROTOCOL, text)
        return answer.get("body") or {}

    async def next_event(self) -> dict[str, Any] | None:
        """Wait for an event; None after the end."""
        return await self._events.get()

    async def close(self) -> None:
        """Leave the session, which goes on."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read_messages(self) -> None:
        decoder = MessageDecoder(sender="the daemon")
        try:
            while chunk := await self._reader.read(_CHUNK):
                for body in decoder.add_bytes(chunk):
                    await self._take_message(msgspec.json.decode(body))
        except (OSError, DebuggerError, msgspec.DecodeError):
            pass  # as if it had hung up: what it says cannot be read any more
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(_ended())
        await self._events.put(None)

    async def _take_message(self, message: dict[str, Any]) -> None:
        if message.get("type") == "event":
            await self._events.put(message)
            return
        waiting = self._waiting.get(message.get("request_seq", 0))
        if waiting is not None and not waiting.done():
            waiting.set_result(message)


async def read_overview(daemon: DaemonClient) -> Mapping[str, Any]:
    """Return the daemon's sessions, groups and evidence; `problem` says why there are none."""
    try:
        found = (await daemon.run_command("sessions", {})).data
        evidence = (await daemon.run_command("evidence_list", {})).data
    except DebuggerError as error:
        return {**NO_OVERVIEW, "problem": error.message}
    return {
        "sessions": found.get("sessions", []),
        "groups": found.get("groups", []),
        "current": found.get("current"),
        "evidence": evidence.get("evidence", []),
    }


async def _open_conversation() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        opened = await asyncio.to_thread(transport.connect_daemon, paths.runtime_dir())
    except (TimeoutError, OSError):
        raise _no_answer() from None
    if opened is None:
        raise DebuggerError(
            ErrorCode.NO_SESSION,
            "the daemon does not run",
            hint="debugger start PROGRAM begins a session",
        )
    sock = socket.socket(fileno=opened.detach_socket())
    sock.setblocking(False)  # noqa: FBT003 - no keyword there
    reader, writer = await asyncio.open_connection(sock=sock, limit=protocol.MAX_BYTES)
    request = {
        "v": protocol.VERSION,
        "id": 1,
        "argv": ["dap"],
        "cwd": os.getcwd(),  # noqa: PTH109 - as the client sends it
        "env": dict(os.environ),
        "client": __version__,
    }
    try:
        writer.write(protocol.encode_message(request))
        async with asyncio.timeout(_BEGIN_S):
            answer = protocol.decode_message(await reader.readuntil(b"\n"))
    except (TimeoutError, OSError, asyncio.IncompleteReadError, protocol.MalformedMessage):
        writer.close()
        raise _no_answer() from None
    if not answer.get("success"):
        writer.close()
        error = answer.get("error") or {}
        raise DebuggerError(ErrorCode.NO_SESSION, str(error.get("message")), hint=error.get("hint"))
    return reader, writer


def _ended() -> DebuggerError:
    return DebuggerError(
        ErrorCode.NO_SESSION,
        "the conversation with the daemon has ended",
        hint="debugger status shows what there is",
    )


def _no_answer() -> DebuggerError:
    return DebuggerError(
        ErrorCode.TIMEOUT, "the daemon does not answer", hint="debugger daemon logs shows why"
    )
