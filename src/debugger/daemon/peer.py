"""Reads requests from one connection, writes the replies, and reports progress in between."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from debugger import __version__
from debugger.daemon import protocol
from debugger.daemon.command_request import CommandReply, CommandRequest, Handler
from debugger.errors import DebuggerError, ErrorCode

# A peer that speaks nonsense may still be sending when we answer.
_LINGER_S = 2.0
_CHUNK = 1 << 16
# Characters; as JSON each may take six bytes.
_STREAM_CHARACTERS = 1 << 20
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)  # json.dumps: one a call


class WireRequest(msgspec.Struct, frozen=True):
    """The fields of a request on the wire."""

    id: int
    argv: tuple[str, ...] | None = None
    command: str | None = None
    args: dict[str, Any] = {}
    session: str | None = None
    # Of another machine's daemon: what it calls this one. Its environment does not count here.
    known_as: str | None = None
    json: bool = False
    budget: int | None = None
    color: bool = False
    cwd: str = "/"
    env: dict[str, str] = {}
    width: int = 80
    tty: bool = False
    progress: bool = False
    result: bool = True
    client: str | None = None
    cancel: int | None = None


class ClientPeer:
    """The server's end of one client connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.requests: dict[int, CommandRequest] = {}

    @property
    def socket(self) -> socket.socket:
        """The socket of the connection."""
        found: socket.socket = self._writer.get_extra_info("socket")
        return found

    def hand_over(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the streams: from now on they belong to a conversation in another protocol."""
        return self._reader, self._writer

    async def receive_message(self) -> protocol.Message | None:
        """Wait for a message; None after the client has disconnected."""
        try:
            return protocol.decode_message(await self._reader.readuntil(b"\n"))
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            raise protocol.MalformedMessage(
                f"a message may have at most {protocol.MAX_BYTES} bytes"
            ) from None

    async def send_message(self, message: Mapping[str, Any]) -> None:
        """Send a message, and wait until it is written."""
        await self.send_line(as_line(message), message.get("id"))

    async def send_line(self, line: bytes, request_id: object) -> None:
        """Send an encoded reply, and wait until it is written."""
        if len(line) > protocol.MAX_BYTES:
            error = DebuggerError(
                ErrorCode.PROTOCOL,
                f"the answer has {len(line)} bytes, a message at most {protocol.MAX_BYTES}",
                hint="ask for less: --limit, --count or --tail",
            )
            line = as_line(as_answer(request_id, CommandReply.from_error(error)))
        self._writer.write(line)
        # No bound: who does not read waits, and is cancelled when it hangs up.
        await self._writer.drain()

    async def send_last(self, message: Mapping[str, Any]) -> None:
        """Send a message, and read what still arrives: a close could destroy the message."""
        async with asyncio.timeout(_LINGER_S):
            await self.send_message(message)
            self._writer.write_eof()
            while await self._reader.read(_CHUNK):
                pass

    def hang_up(self) -> None:
        """Close the connection without waiting."""
        self._writer.close()


def decode_request(message: protocol.Message) -> WireRequest:
    """Decode a message as a request.

    Raises:
        DebuggerError: It is of another version, or not a request.
    """
    version = message.get("v")
    if version != protocol.VERSION:
        raise DebuggerError(
            ErrorCode.PROTOCOL,
            f"the message is of protocol version {version!r}, the daemon (debugger {__version__}) "
            f"speaks version {protocol.VERSION}",
            hint="debugger daemon stop",
        )
    try:
        wire = msgspec.convert(message, WireRequest)
    except msgspec.ValidationError as error:
        raise protocol_error(f"bad request: {error}") from None
    if (wire.argv, wire.command, wire.cancel).count(None) != 2:  # noqa: PLR2004 - all but one
        raise protocol_error("bad request: it needs one of argv, command and cancel")
    return wire


def as_request(wire: WireRequest, peer: ClientPeer) -> CommandRequest:
    """Convert a wire request to the handler's request."""

    async def stream(text: str) -> None:
        for start in range(0, len(text), _STREAM_CHARACTERS):
            await peer.send_message(
                {"id": wire.id, "stream": text[start : start + _STREAM_CHARACTERS]}
            )

    async def report_begun(name: str) -> None:
        if wire.known_as is not None:
            await peer.send_message({"id": wire.id, "begun": name})

    return CommandRequest(
        id=wire.id,
        stream=stream,
        argv=wire.argv,
        command=wire.command,
        args=wire.args,
        session=wire.session,
        known_as=wire.known_as,
        report_begun=report_begun,
        is_json=wire.json,
        budget=wire.budget,
        is_color=wire.color,
        cwd=wire.cwd if wire.known_as is None else _local_folder(wire.cwd),
        env=wire.env if wire.known_as is None else _own_environment(),
        width=wire.width,
        tty=wire.tty,
        wants_progress=wire.progress,
        wants_result=wire.result,
    )


def _local_folder(folder: str) -> str:
    """Return a folder of another machine if it exists here, too; else the home directory."""
    return folder if Path(folder).is_dir() else str(Path.home())


def _own_environment() -> Mapping[str, str]:
    """Return this daemon's environment, without what was set for the daemon alone."""
    return {name: text for name, text in os.environ.items() if name != "DEBUGGER_RUNTIME_DIR"}


def as_answer(request_id: object, reply: CommandReply) -> dict[str, Any]:
    """Convert a reply to its wire message."""
    answer: dict[str, Any] = {"id": request_id, "success": reply.success, "exit": int(reply.exit)}
    if reply.success:
        return {**answer, "result": reply.result or {}, "text": reply.text or ""}
    error = reply.error or DebuggerError(
        ErrorCode.INTERNAL, "the command failed and did not say why"
    )
    answer["error"] = {"code": error.code.value, "message": error.message, "hint": error.hint}
    return answer if reply.text is None else {**answer, "text": reply.text}


def as_line(message: Mapping[str, Any]) -> bytes:
    """Encode a message as a line.

    Raises:
        TypeError, ValueError: It holds something that JSON cannot.
    """
    return _ENCODER.encode(message).encode("ascii") + b"\n"


def protocol_error(message: str) -> DebuggerError:
    """Return the error for a message that violates the protocol."""
    return DebuggerError(ErrorCode.PROTOCOL, message, hint="one JSON object a line")


_FIRST_S = 2.0  # seconds before the first report of progress
_EACH_S = 1.0  # seconds between two reports


@asynccontextmanager
async def reporting_progress(
    peer: ClientPeer, request: CommandRequest, handler: Handler
) -> AsyncIterator[None]:
    """Report progress every second, from the second one on."""
    task = asyncio.create_task(_report_progress(peer, request, handler))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])  # nothing of it comes after the answer


async def _report_progress(peer: ClientPeer, request: CommandRequest, handler: Handler) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    began, wait_s = loop.time(), _FIRST_S
    command = next(iter(protocol.command_words(request.argv or ())), "")
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await over.wait()
        wait_s = _EACH_S
        text = f"{command}: {loop.time() - began:.0f} s"
        if activity := handler.describe_progress(request):
            text += f", {activity}"
        try:
            await peer.send_message({"id": request.id, "progress": text})
        except OSError:
            return
