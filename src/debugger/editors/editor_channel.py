"""Carries the messages between the daemon and one editor (DAP, Base Protocol)."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from debugger.backends.dap.dap_transport import MessageDecoder, encode_message
from debugger.errors import DebuggerError, ErrorCode

T = TypeVar("T")

_log = logging.getLogger(__name__)
_CHUNK = 1 << 16
_MESSAGE_MAX = 16 << 20  # bytes of a request; the largest are a `writeMemory`'s
_ERROR_ID = 1


class EditorRequest(Struct, frozen=True):
    """One request of an editor."""

    seq: int
    command: str
    kind: str = msgspec.field(default="request", name="type")
    arguments: dict[str, Any] | None = None

    def decode_arguments(self, kind: type[T]) -> T:
        """Return the arguments as a struct.

        Raises:
            DebuggerError: PROTOCOL for one that is missing, or of another type.
        """
        try:
            return msgspec.convert(self.arguments or {}, kind, strict=False)
        except msgspec.ValidationError as error:
            raise DebuggerError(
                ErrorCode.PROTOCOL,
                f"{self.command}: {error}",
                hint="the Debug Adapter Protocol's specification has the arguments",
            ) from None


class EditorChannel:
    """The messages to and from one editor; writing waits while the editor does not read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._decoder = MessageDecoder(message_max=_MESSAGE_MAX, sender="the editor")
        self._bodies: deque[bytes] = deque()
        self._seq = 0
        self._sending = asyncio.Lock()

    async def receive_request(self, refuse: Callable[[str], None]) -> EditorRequest | None:
        """Wait for a request; None after the editor has gone.

        A message that is no request is passed to `refuse` as a text about it, and skipped.

        Raises:
            DebuggerError: PROTOCOL for bytes that are no messages at all.
        """
        while True:
            while self._bodies:
                request = _decode_request(self._bodies.popleft(), refuse)
                if request is not None:
                    return request
            try:
                chunk = await self._reader.read(_CHUNK)
            except OSError:
                return None
            if not chunk:
                return None
            self._bodies.extend(self._decoder.add_bytes(chunk))

    async def send_response(
        self, request: EditorRequest, body: Mapping[str, Any] | None = None
    ) -> None:
        """Answer a request."""
        answer: dict[str, Any] = {
            "type": "response",
            "request_seq": request.seq,
            "command": request.command,
            "success": True,
        }
        await self._send({**answer, "body": body} if body is not None else answer)

    async def send_error(self, request: EditorRequest, error: DebuggerError) -> None:
        """Answer a request with a failure, and its hint."""
        text = f"{error.message}; {error.hint}" if error.hint else error.message
        message = {"id": _ERROR_ID, "format": _plain_format(text), "showUser": True}
        await self._send(
            {
                "type": "response",
                "request_seq": request.seq,
                "command": request.command,
                "success": False,
                "message": error.message,
                "body": {"error": message},
            }
        )

    async def send_event(self, name: str, body: Mapping[str, Any] | None = None) -> None:
        """Send an event."""
        event: dict[str, Any] = {"type": "event", "event": name}
        await self._send({**event, "body": body} if body is not None else event)

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            self._seq += 1
            self._writer.write(encode_message(msgspec.json.encode({"seq": self._seq, **message})))
            try:
                # No bound: an editor that does not read waits for itself, and for nobody else.
                await self._writer.drain()
            except OSError:
                _log.debug("an editor hung up while it was spoken to")


def _decode_request(body: bytes, refuse: Callable[[str], None]) -> EditorRequest | None:
    try:
        message = msgspec.json.decode(body)
        if isinstance(message, dict) and message.get("type") == "response":
            return None  # to a request of ours, of which there are none
        request = msgspec.convert(message, EditorRequest)
    except msgspec.MsgspecError as error:
        refuse(f"the editor sent a message that is no request of DAP: {error}")
        return None
    if request.kind != "request":
        refuse(f"the editor sent a message of type {request.kind!r}")
        return None
    return request


def _plain_format(text: str) -> str:
    """Return a text as DAP's `Message.format`, in which braces enclose variables."""
    return text.replace("{", "(").replace("}", ")")
