"""How bytes get to an adapter and back: a guarded process's pipes, or a TCP connection."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Protocol

from debugger.backends.guarded import Guarded
from debugger.errors import Code, DebuggerError

_CONNECT_S = 5.0


class Link(Protocol):
    """A byte stream to an adapter."""

    async def read(self) -> bytes:
        """Return what came; nothing at its end."""

    def write(self, data: bytes) -> None:
        """Send; what the other side no longer takes is lost."""

    def stderr_tail(self) -> str:
        """Return the last lines of the adapter's standard error, where it has one of ours."""


class Connection:
    """A TCP connection to an adapter that somebody else runs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._set("TCP_NODELAY")

    @classmethod
    async def open(cls, host: str, port: int) -> Connection:
        """Connect.

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """
        try:
            async with asyncio.timeout(_CONNECT_S):
                return cls(*await asyncio.open_connection(host, port))
        except (OSError, TimeoutError) as error:
            raise DebuggerError(
                Code.ADAPTER_FAILED, f"cannot connect to the adapter at {host}:{port}: {error}"
            ) from error

    async def read(self) -> bytes:
        """Return what came; nothing at its end."""
        try:
            chunk = await self._reader.read(1 << 16)
        except OSError:
            return b""
        self._set("TCP_QUICKACK")
        return chunk

    def write(self, data: bytes) -> None:
        """Send; what the other side no longer takes is lost."""
        if not self._writer.is_closing():
            self._writer.write(data)
            # js-debug 1.112 writes a header and its body apart: it waits 40 ms for our ACK of the
            # first. The flag does not last, the kernel resets it as it sees fit, tcp(7).
            self._set("TCP_QUICKACK")

    def _set(self, option: str) -> None:
        """Set an option of TCP, where the system has it."""
        number = getattr(socket, option, None)
        if number is not None:
            with suppress(OSError):
                self._writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, number, 1)

    def stderr_tail(self) -> str:
        """Return nothing: it is not our process."""
        return ""

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


__all__ = ["Connection", "Guarded", "Link"]
