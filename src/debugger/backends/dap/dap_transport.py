"""Carries bytes to an adapter and back: by a guarded process's pipes, or a TCP connection."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from debugger.errors import DebuggerError, ErrorCode
from debugger.system.supervised_process import SupervisedProcess

_CONNECT_S = 5.0


class ByteStream(Protocol):
    """A byte stream to an adapter."""

    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass incoming bytes to `take`, until the end; an exception of `take` is raised here."""

    def write_input(self, data: bytes) -> None:
        """Send bytes; those that the other side no longer reads are lost."""

    def stderr_tail(self) -> str:
        """Return the last lines of the adapter's standard error, where it has one of ours."""


class TcpConnection(asyncio.Protocol):
    """A TCP connection to an adapter that somebody else runs."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._take: Callable[[bytes], None] | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open_connection(cls, host: str, port: int) -> TcpConnection:
        """Connect.

        Raises:
            DebuggerError: ADAPTER_FAILED.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_S):
                return (await loop.create_connection(cls, host, port))[1]
        except (OSError, TimeoutError) as error:
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED, f"cannot connect to the adapter at {host}:{port}: {error}"
            ) from error

    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass incoming bytes to `take`, until the end; an exception of `take` is raised here."""
        self._take = take
        self._transport.resume_reading()
        await self._ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport; reading starts with `forward_output`."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.pause_reading()
        self._set_option("TCP_NODELAY")

    def data_received(self, data: bytes) -> None:
        """Pass on the bytes that came."""
        self._set_option("TCP_QUICKACK")
        assert self._take is not None
        if self._ended.done():
            return
        try:
            self._take(data)
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            self._ended.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        """End `forward_output`: a lost connection is its end, whatever the reason."""
        if not self._ended.done():
            self._ended.set_result(None)

    def write_input(self, data: bytes) -> None:
        """Send bytes; those that the other side no longer reads are lost."""
        if not self._transport.is_closing():
            self._transport.write(data)
            # js-debug 1.112 writes a header and its body apart: it waits 40 ms for our ACK of the
            # first. The flag does not last, the kernel resets it as it sees fit, tcp(7).
            self._set_option("TCP_QUICKACK")

    def _set_option(self, option: str) -> None:
        """Set a TCP option, where the system has it."""
        number = getattr(socket, option, None)
        if number is not None:
            with suppress(OSError):
                self._transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, number, 1)

    def stderr_tail(self) -> str:
        """Return nothing: it is not our process."""
        return ""

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()


__all__ = ["ByteStream", "SupervisedProcess", "TcpConnection"]
