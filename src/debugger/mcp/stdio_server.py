"""Serves MCP over standard input and output, in bounded lines and messages."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from debugger.errors import DebuggerError, ErrorCode

# As much as the transport over HTTP takes; the daemon's own messages may be larger than this.
MESSAGE_MAX: Final = 4 << 20
# What is kept of a longer one, in search of its id: some write it first, some last.
_ENDS_KEPT: Final = 4096

_decoder = json.JSONDecoder()
_BLANKS = frozenset(" \t\r\n")
# The outermost object ends here, so this id is the message's own.
_LAST_ID = re.compile(r'[,{]\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")\s*\}\s*$')


@dataclass(frozen=True)
class RejectedMessage:
    """An invalid message, as the error that answers it."""

    id: types.RequestId | None
    code: int
    why: str

    def to_error(self) -> types.JSONRPCError:
        """Return the error message."""
        error = types.ErrorData(code=self.code, message=self.why)
        return types.JSONRPCError(jsonrpc="2.0", id=self.id, error=error)


@dataclass
class LineReader:
    """Splits a stream into lines; of a line beyond the limit only its ends are stored."""

    limit: int = MESSAGE_MAX
    _buffered: bytearray = field(default_factory=bytearray)
    _head: bytes | None = None
    _length: int = 0

    def add_bytes(self, data: bytes) -> Iterator[bytes | RejectedMessage]:
        """Add bytes, and return the completed lines without blank ones."""
        *complete, rest = data.split(b"\n")
        for part in complete:
            self._add_part(part)
            if found := self._finish_line():
                yield found
        self._add_part(rest)

    def finish(self) -> bytes | RejectedMessage | None:
        """Return the text after the last line's end, if any."""
        return self._finish_line()

    def _add_part(self, part: bytes) -> None:
        self._buffered += part
        self._length += len(part)
        if self._head is None and self._length > self.limit:
            self._head = bytes(self._buffered[:_ENDS_KEPT])
        if self._head is not None:
            # The end is kept as well, since an id may stand behind the long part.
            del self._buffered[:-_ENDS_KEPT]

    def _finish_line(self) -> bytes | RejectedMessage | None:
        line, head, length = bytes(self._buffered), self._head, self._length
        self._buffered, self._head, self._length = bytearray(), None, 0
        if head is None:
            return line if line.strip() else None
        why = f"the message has {length} bytes, of at most {self.limit}"
        return RejectedMessage(known_id(head, line), types.INVALID_REQUEST, why)


def parse_message(line: bytes) -> types.JSONRPCMessage | RejectedMessage:
    """Decode a line as a message, or return the reason of its rejection."""
    try:
        found = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not (isinstance(found, types.JSONRPCNotification) and _has_id(line)):
            return found
    except ValidationError as error:
        for one in error.errors(include_input=False, include_url=False):
            if one["type"] == "json_invalid":
                is_deep = "recursion" in one["msg"]
                why = "nested too deeply" if is_deep else "not JSON in UTF-8"
                return RejectedMessage(None, types.PARSE_ERROR, why)
    # Removed from the protocol with its version 2025-06-18.
    if line.lstrip()[:1] == b"[":
        return RejectedMessage(None, types.INVALID_REQUEST, "batches are not part of the protocol")
    why = "not a request, a notification or a response of JSON-RPC 2.0"
    return RejectedMessage(known_id(line, line), types.INVALID_REQUEST, why)


def known_id(head: bytes, tail: bytes) -> types.RequestId | None:
    """Find the id of a message of which only the ends are stored; None if it is unknown."""
    found = _first_id(head.decode("utf-8", "replace"))
    if found is None and (last := _LAST_ID.search(tail.decode("utf-8", "replace"))):
        found = json.loads(last[1])
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _first_id(text: str) -> Any:
    """Scan the outermost object's members, as far as they are stored."""
    at = _next_character(text, 0)
    if text[at : at + 1] != "{":
        return None
    # Cut anywhere, this ends in a value that is none, or at the end of the text.
    with contextlib.suppress(ValueError, IndexError, RecursionError):
        while text[at] in "{,":
            key, at = _decoder.raw_decode(text, _next_character(text, at + 1))
            value, at = _decoder.raw_decode(
                text, _next_character(text, _next_character(text, at) + 1)
            )
            # A number at the very end may have lost digits.
            if key == "id" and at < len(text):
                return value
            at = _next_character(text, at)
    return None


def _next_character(text: str, at: int) -> int:
    """Return the position of the next non-blank character."""
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _has_id(line: bytes) -> bool:
    # To the SDK a request with an id of a wrong type is a notification: nobody would answer it.
    return b'"id"' in line and "id" in json.loads(line)


@dataclass
class PendingRequests:
    """The unanswered requests of a client, within limits."""

    count_max: int = 256
    bytes_max: int = 8 * MESSAGE_MAX
    _sizes: dict[types.RequestId, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._sizes)

    def note_received(self, message: types.JSONRPCMessage, size: int) -> RejectedMessage | None:
        """Register a received message; a request beyond the limits is rejected."""
        if isinstance(message, types.JSONRPCNotification):
            # One that is cancelled is never answered.
            if message.method == "notifications/cancelled":
                self._forget_request((message.params or {}).get("requestId"))
            return None
        if not isinstance(message, types.JSONRPCRequest):
            return None
        # A client that sends without reading would fill the memory.
        if len(self._sizes) >= self.count_max or sum(self._sizes.values()) > self.bytes_max:
            why = f"{len(self._sizes)} requests are not answered yet: read the answers first"
            return RejectedMessage(message.id, types.INTERNAL_ERROR, why)
        self._sizes[coerce_request_id(message.id)] = size
        return None

    def note_sent(self, message: types.JSONRPCMessage) -> None:
        """Register a sent message."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._forget_request(message.id)

    def _forget_request(self, number: object) -> None:
        if isinstance(number, int | str):
            self._sizes.pop(coerce_request_id(number), None)


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
