"""Serves MCP over standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.message_framing import (
    LineReader,
    PendingRequests,
    RejectedMessage,
    parse_message,
)

_CHUNK: Final = 1 << 16
# A client that sends its requests and closes at once (a shell's pipe) gets the quick answers.
_GRACE_S: Final = 0.3


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes our input, or no longer reads our output.

    Raises:
        DebuggerError: USAGE if a standard stream is closed.
    """
    hung_up = contextlib.suppress(BrokenPipeError, ConnectionResetError)
    with _claim_stream(0) as stdin, _claim_stream(1) as stdout, hung_up:
        await _serve_streams(server, _AsyncDescriptor(stdin), _AsyncDescriptor(stdout))


async def _serve_streams(
    server: Server[Any], stdin: _AsyncDescriptor, stdout: _AsyncDescriptor
) -> None:
    # Without a buffer, so that a server that falls behind slows the client down.
    incoming, to_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    from_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    wire = _StdioMessages(stdin, stdout)
    try:
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(wire.read_messages(incoming))
            writing = group.create_task(wire.write_messages(outgoing))
            await server.run(to_server, from_server, server.create_initialization_options())
            # The server has ended by itself; the client may keep its end open.
            reading.cancel()
            # What is written by now, or a client that does not read: no reason to stay.
            await asyncio.wait({writing}, timeout=_GRACE_S)
            writing.cancel()
    except ExceptionGroup as error:
        # A client that leaves is a normal end.
        hung_up, others = error.split((BrokenPipeError, ConnectionResetError))
        if others is not None:
            raise others from None
        raise ConnectionResetError from hung_up


class _StdioMessages:
    """The messages on a pair of streams; every received request gets one answer."""

    def __init__(self, stdin: _AsyncDescriptor, stdout: _AsyncDescriptor) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._owed = PendingRequests()
        self._answered = asyncio.Event()
        # Answers and refusals come from two tasks, and a long line is written in pieces.
        self._writing = asyncio.Lock()

    async def read_messages(self, incoming: MemoryObjectSendStream[Any]) -> None:
        """Forward the client's messages, until it closes its end."""
        async with incoming:
            lines = LineReader()
            while data := await self._stdin.read():
                for line in lines.add_bytes(data):
                    await self._receive_line(line, incoming)
            if (rest := lines.finish()) is not None:
                await self._receive_line(rest, incoming)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE_S):
                    while self._owed:
                        self._answered.clear()
                        await self._answered.wait()

    async def _receive_line(
        self, line: bytes | RejectedMessage, incoming: MemoryObjectSendStream[Any]
    ) -> None:
        found = line if isinstance(line, RejectedMessage) else parse_message(line)
        if not isinstance(found, RejectedMessage):
            size = len(line) if isinstance(line, bytes) else 0
            refused = self._owed.note_received(found, size)
            if refused is None:
                await incoming.send(SessionMessage(found))
                return
            found = refused
        # Not read further until this is written: who does not read the answers is not listened to.
        await self._send_message(found.to_error())

    async def write_messages(self, outgoing: MemoryObjectReceiveStream[Any]) -> None:
        """Write the server's messages, until it has ended."""
        async with outgoing:
            async for one in outgoing:
                await self._send_message(one.message)
                self._owed.note_sent(one.message)
                self._answered.set()

    async def _send_message(self, message: types.JSONRPCMessage) -> None:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        async with self._writing:
            await self._stdout.write(text.encode() + b"\n")


class _AsyncDescriptor:
    """A descriptor of any kind, for non-blocking reads and writes.

    O_NONBLOCK is not set: it would apply to every process that shares the open file, and the shell
    shares a terminal's. The descriptor is used only when it is ready; a regular file, which has no
    readiness, always is.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self) -> bytes:
        """Read the available bytes, once there are any; an empty result means the end."""
        loop = asyncio.get_running_loop()
        await self._until_ready(select.POLLIN, loop.add_reader, loop.remove_reader)
        return os.read(self._descriptor, _CHUNK)

    async def write(self, data: bytes) -> None:
        """Write all of the data.

        Raises:
            OSError: The reader has gone.
        """
        loop = asyncio.get_running_loop()
        rest = memoryview(data)
        while rest:
            await self._until_ready(select.POLLOUT, loop.add_writer, loop.remove_writer)
            # As much as a pipe that is ready takes without blocking (POSIX, PIPE_BUF).
            rest = rest[os.write(self._descriptor, rest[: select.PIPE_BUF]) :]

    async def _until_ready(
        self, event: int, add: Callable[..., None], remove: Callable[[int], bool]
    ) -> None:
        poll = select.poll()
        poll.register(self._descriptor, event)
        if poll.poll(0):
            return
        ready = asyncio.Event()
        add(self._descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            remove(self._descriptor)


@contextmanager
def _claim_stream(descriptor: int) -> Iterator[int]:
    """Reserve a standard stream for the protocol.

    Anything else in this process or its children reads an empty input, and prints to standard
    error.

    Raises:
        DebuggerError: USAGE if it is closed.
    """
    # Asked of Python: a descriptor that was closed has become something else's by now.
    if (sys.stdout if descriptor else sys.stdin) is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"standard {'output' if descriptor else 'input'} is closed",
            hint="a client of MCP starts this with pipes; debugger mcp --http 127.0.0.1:0",
        )
    # Above the standard ones: of these another may be closed.
    private = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    try:
        diverted = _divert_stream(descriptor)
        os.dup2(diverted, descriptor)
        os.close(diverted)
        yield private
    finally:
        # The caller's own stream again, for what it prints at its end.
        os.dup2(private, descriptor)
        os.close(private)


def _divert_stream(descriptor: int) -> int:
    if descriptor:
        with contextlib.suppress(OSError):
            return os.dup(2)
    return os.open(os.devnull, os.O_RDWR)
