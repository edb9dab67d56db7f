"""Frames and unframes messages of DAP's base protocol, without I/O."""

from __future__ import annotations

from collections.abc import Iterator

from debugger.errors import DebuggerError, ErrorCode

HEADER_MAX = 4096
MESSAGE_MAX = 64 << 20
_END = b"\r\n\r\n"


def encode_message(body: bytes) -> bytes:
    """Frame one JSON message (DAP, Base Protocol: a header, an empty line, the content)."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class MessageDecoder:
    """Cuts a byte stream, fed in any chunks, into message bodies."""

    def __init__(self, *, message_max: int = MESSAGE_MAX) -> None:
        self._message_max = message_max
        self._buffer = bytearray()
        self._wanted: int | None = None

    def add_bytes(self, chunk: bytes) -> Iterator[bytes]:
        """Add bytes and return an iterator over the messages that are complete now.

        Messages before a malformed one come first, then the iteration raises.

        Raises:
            DebuggerError: PROTOCOL for a malformed header or a message over the limit.
        """
        self._buffer += chunk
        return iter(self._next_message, None)

    def _next_message(self) -> bytes | None:
        if self._wanted is None:
            end = self._buffer.find(_END, 0, HEADER_MAX + len(_END))
            if end < 0:
                if len(self._buffer) > HEADER_MAX:
                    raise _header_error(bytes(self._buffer[:80]))
                return None
            self._wanted = self._content_length(bytes(self._buffer[:end]))
            del self._buffer[: end + len(_END)]
        if len(self._buffer) < self._wanted:
            return None
        body = bytes(self._buffer[: self._wanted])
        del self._buffer[: self._wanted]
        self._wanted = None
        return body

    def _content_length(self, header: bytes) -> int:
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            digits = value.strip()
            if name.strip().lower() == b"content-length" and digits.isdigit():
                # The length is checked first: int() of thousands of digits is slow, or fails.
                if len(digits) > len(str(self._message_max)) or int(digits) > self._message_max:
                    message = f"the adapter sent a message over {self._message_max} bytes"
                    raise DebuggerError(ErrorCode.PROTOCOL, message, hint="debugger daemon logs")
                return int(digits)
        raise _header_error(header[:80])


def _header_error(start: bytes) -> DebuggerError:
    shown = ascii(start.decode("latin-1"))
    return DebuggerError(
        ErrorCode.PROTOCOL,
        f"the adapter sent something that is not the Debug Adapter Protocol: {shown}",
        hint="debugger doctor tries each adapter",
    )
