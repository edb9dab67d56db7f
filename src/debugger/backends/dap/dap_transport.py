"""Carries messages to an adapter and back: by a supervised process's pipes, or a TCP connection."""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode

# Bytes of a header, which is one line in practice. Something that is not DAP is noticed after so
# many.
HEADER_MAX = 4096
# Bytes of a message: far above the largest answer, so that a wrong length cannot fill the memory.
MESSAGE_MAX = 64 << 20
_END = b"\r\n\r\n"


def encode_message(body: bytes) -> bytes:
    """Frame one JSON message (DAP, Base Protocol: a header, an empty line, the content)."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class MessageDecoder:
    """Cuts a byte stream, fed in any chunks, into message bodies; errors name the sender."""

    def __init__(self, *, message_max: int = MESSAGE_MAX, sender: str = "the adapter") -> None:
        self._message_max = message_max
        self._sender = sender
        self._buffer = bytearray()
        self._body_length: int | None = None

    def add_bytes(self, chunk: bytes) -> Iterator[bytes]:
        """Add bytes and return an iterator over the messages that are complete now.

        Messages before a malformed one come first, then the iteration raises.

        Raises:
            DebuggerError: PROTOCOL for a malformed header or a message over the limit.
        """
        self._buffer += chunk
        # A lazy iterator: messages before a malformed one are handled before it raises.
        return iter(self._next_message, None)

    def _next_message(self) -> bytes | None:
        if self._body_length is None:
            # Bounded: without a limit each chunk of a stream that is not DAP would be searched
            # anew.
            end = self._buffer.find(_END, 0, HEADER_MAX + len(_END))
            if end < 0:
                if len(self._buffer) > HEADER_MAX:
                    raise self._header_error(bytes(self._buffer[:80]))
                return None
            self._body_length = self._content_length(bytes(self._buffer[:end]))
            del self._buffer[: end + len(_END)]
        if len(self._buffer) < self._body_length:
            return None
        body = bytes(self._buffer[: self._body_length])
        del self._buffer[: self._body_length]
        self._body_length = None
        return body

    def _content_length(self, header: bytes) -> int:
        # Something that an adapter has printed may stand before: the mock adapter does.
        for line in header.split(b"\n"):
            name, _, value = line.partition(b":")
            digits = value.strip()
            if name.strip().lower() == b"content-length" and digits.isdigit():
                # The length is checked first: int() of thousands of digits is slow, or fails.
                if len(digits) > len(str(self._message_max)) or int(digits) > self._message_max:
                    message = f"{self._sender} sent a message over {self._message_max} bytes"
                    raise DebuggerError(ErrorCode.PROTOCOL, message, hint="debugger daemon logs")
                return int(digits)
        raise self._header_error(header[:80])

    def _header_error(self, start: bytes) -> DebuggerError:
        shown = ascii(start.decode("latin-1"))
        return DebuggerError(
            ErrorCode.PROTOCOL,
            f"{self._sender} sent something that is not the Debug Adapter Protocol: {shown}",
            hint="debugger doctor tries each adapter",
        )


_PIDFD_GETFD = 438  # the same number on every architecture; since Linux 5.6


def disable_nagle(pid: int) -> int:
    """Set TCP_NODELAY on a process's local TCP connections; return their number.

    Where the system does not permit that, the connections only stay slower.
    """
    # js-debug 1.112 and Node write a header and its body apart: with Nagle's algorithm the body
    # waits for the ACK of the header, which the other side delays by 40 ms. Where both ends are
    # other processes, only their sockets can be changed: pidfd_getfd gives us a copy of each.
    if not sys.platform.startswith("linux"):
        return 0
    changed = 0
    with suppress(OSError, ValueError):
        process = os.pidfd_open(pid)
        try:
            for link in Path(f"/proc/{pid}/fd").iterdir():
                changed += _set_nodelay(process, link)
        finally:
            os.close(process)
    return changed


def _set_nodelay(process: int, link: Path) -> bool:
    with suppress(OSError):
        if not str(link.readlink()).startswith("socket:"):
            return False
        # Python has no function for it. It needs the permission to trace the process.
        descriptor = ctypes.CDLL(None).syscall(_PIDFD_GETFD, process, int(link.name), 0)
        if descriptor < 0:
            return False
        with socket.socket(fileno=descriptor) as target_socket:
            is_tcp = (
                target_socket.family == socket.AF_INET and target_socket.type == socket.SOCK_STREAM
            )
            if is_tcp and target_socket.getpeername()[0].startswith("127."):
                target_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return True
    return False


_CONNECT_S = 5.0


def find_peer(connection: asyncio.BaseTransport | asyncio.StreamWriter) -> int:
    """Return the process at the other end of a Unix socket; 0 of another connection."""
    peer = connection.get_extra_info("socket")
    if peer is None or peer.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return 0
    size = struct.calcsize("3i")
    pid: int = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[0]
    return pid


class ByteStream(Protocol):
    """A byte stream to an adapter."""

    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass incoming bytes to `take`, until the end; an exception of `take` is raised here."""

    def write_input(self, data: bytes) -> None:
        """Send bytes; those that the other side no longer reads are lost."""

    def stderr_tail(self) -> str:
        """Return the last lines of the adapter's standard error, where it has one of ours."""


class ProgramLink(ABC):
    """A byte stream of the protocol (DAP) that another protocol is behind (`ByteStream`)."""

    @abstractmethod
    async def listen(
        self,
        path: str,
        on_close: Callable[[], None],
        on_child: Callable[[ByteStream, int], None],
    ) -> None:
        """Listen for the program, and its child processes, at a Unix socket."""

    @abstractmethod
    async def listen_for(self, target: AttachTarget) -> None:
        """Listen at a port for a running program that connects by itself, or for its requests."""

    @abstractmethod
    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass bytes of the protocol to `take`, until the link is closed."""

    @abstractmethod
    def write_input(self, data: bytes) -> None:
        """Take bytes of the protocol."""

    def stderr_tail(self) -> str:
        """Return nothing: the program's errors go to its own files."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Close the link."""


class TcpConnection(asyncio.Protocol):
    """A TCP or Unix connection to an adapter that somebody else runs."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self._take: Callable[[bytes], None] | None = None
        # What came before somebody could take it: the adapter may speak first.
        self._early = b""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._made: asyncio.Future[TcpConnection] | None = None
        self._is_tcp = True

    def when_made(self, made: asyncio.Future[TcpConnection]) -> None:
        """Set the future that gets this connection once the other side has connected."""
        self._made = made

    @classmethod
    async def open_connection(
        cls, host: str, port: int, *, within_s: float = _CONNECT_S
    ) -> TcpConnection:
        """Connect (bounded).

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(within_s):
                return (await loop.create_connection(cls, host, port))[1]
        except (OSError, TimeoutError) as error:
            why = str(error) or f"no answer within {within_s:g} s"
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED, f"cannot connect to the adapter at {host}:{port}: {why}"
            ) from error

    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass incoming bytes to `take`, until the end; an exception of `take` is raised here."""
        self._take = take
        take(self._early)
        await self.ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport.

        Reading is not paused until `forward_output`: CPython 3.11.2 reads all the same.
        """
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        # A program that is its own adapter connects to a Unix socket.
        self._is_tcp = transport.get_extra_info("socket").family != socket.AF_UNIX
        self._set_option("TCP_NODELAY")
        if self._made is not None and not self._made.done():
            self._made.set_result(self)

    def data_received(self, data: bytes) -> None:
        """Pass on the bytes that came."""
        # At each arrival: the flag is not permanent, tcp(7).
        self._set_option("TCP_QUICKACK")
        if self._take is None:
            self._early += data
            return
        if self.ended.done():
            return
        try:
            self._take(data)
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            self.ended.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        """End `forward_output`: a lost connection is its end, whatever the reason."""
        if not self.ended.done():
            self.ended.set_result(None)

    def write_input(self, data: bytes) -> None:
        """Send bytes; those that the other side no longer reads are lost."""
        if not self.transport.is_closing():
            self.transport.write(data)
            # js-debug 1.112 writes a header and its body apart: it waits 40 ms for our ACK of the
            # first. The flag does not last, the kernel resets it as it sees fit, tcp(7).
            self._set_option("TCP_QUICKACK")

    def _set_option(self, option: str) -> None:
        """Set a TCP option, where the system has it."""
        number = getattr(socket, option, None) if self._is_tcp else None
        if number is not None:
            with suppress(OSError):
                self.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, number, 1)

    def stderr_tail(self) -> str:
        """Return nothing: it is not our process."""
        return ""

    def close(self) -> None:
        """Close the connection."""
        self.transport.close()
