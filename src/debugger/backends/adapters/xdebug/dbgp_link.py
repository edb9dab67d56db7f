"""Connects PHP programs that Xdebug debugs with our side, which speaks the Debug Adapter Protocol.

PHP connects to a Unix socket of ours, once for each request: a script is one, the built-in server
has many. Those of one process are served one after the other; a child process of a script has a
link, and a session, of its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from debugger.backends.adapters.xdebug.dap_translation import DapTranslation
from debugger.backends.adapters.xdebug.dbgp_engine import DbgpEngine, EngineError
from debugger.backends.base import AttachTarget
from debugger.backends.dap.dap_transport import (
    ByteStream,
    MessageDecoder,
    ProgramLink,
    encode_message,
)
from debugger.backends.dap.program_listener import ChildCount
from debugger.errors import DebuggerError, ErrorCode
from debugger.system import process_info as processes


async def _wait_for_end(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        process = os.pidfd_open(pid)
    except (AttributeError, OSError):  # no Linux, or it has ended
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    # A pidfd becomes readable when its process ends.
    loop.add_reader(process, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(process)
        os.close(process)


def _encode_json(message: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can write
        return json.dumps(message).encode()


class DbgpLink(ProgramLink):
    """A stream of DAP messages (`ByteStream`) that DBGp is behind."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._take: Callable[[bytes], None] | None = None
        self._waiting: list[bytes] = []
        self._requests: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._decoder = MessageDecoder(sender="the client")
        self._ended = asyncio.Event()
        self._turn = asyncio.Lock()
        self._number = 0
        self._pid: int | None = None  # whose requests, and its children's, are debugged; None: all
        self._on_close: Callable[[], None] = lambda: None
        self._on_child: Callable[[ByteStream, int], None] | None = None
        self._children = ChildCount()
        self._program: int | None = None  # the process that connected first
        self._running: list[asyncio.Task[Any]] = []
        self._server: asyncio.Server | None = None
        self._translation = DapTranslation(self._send, self._begin_run)

    async def listen(
        self,
        path: str,
        on_close: Callable[[], None],
        on_child: Callable[[ByteStream, int], None],
    ) -> None:
        """Listen for PHP, and its child processes, at a Unix socket."""
        self._on_close, self._on_child = on_close, on_child
        self._server = await asyncio.start_unix_server(self._accept_engine, path)
        self._running.append(self._tasks.create_task(self._answer_requests()))

    async def listen_for(self, target: AttachTarget) -> None:
        """Listen at a port for the requests of a running server.

        Raises:
            DebuggerError: ADAPTER_FAILED for a port that is in use.
        """
        address = target.listens_at or target.connect
        assert address is not None
        try:
            self._server = await asyncio.start_server(self._accept_engine, *address)
        except OSError as error:
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED,
                f"cannot listen at {address[0]}:{address[1]}, where Xdebug connects to: "
                f"{os.strerror(error.errno or 0)}",
                hint="debugger sessions; or an editor listens there",
            ) from error
        self._pid = target.pid
        self._running.append(self._tasks.create_task(self._answer_requests()))
        if target.pid is not None:
            self._running.append(self._tasks.create_task(self._watch_end(target.pid)))

    async def _watch_end(self, pid: int) -> None:
        """Close the link once the process that was attached to has ended."""
        await _wait_for_end(pid)
        self._translation.send_event("terminated")
        self._ended.set()

    async def forward_output(self, take: Callable[[bytes], None]) -> None:
        """Pass messages to `take` until the link is closed."""
        self._take = take
        for one in self._waiting:
            take(one)
        self._waiting.clear()
        await self._ended.wait()

    def write_input(self, data: bytes) -> None:
        """Take bytes of DAP requests."""
        for body in self._decoder.add_bytes(data):
            self._requests.put_nowait(msgspec.json.decode(body))

    def close(self) -> None:
        """Stop listening, and let PHP go on alone."""
        if self._translation.engine is not None:
            self._translation.engine.close()
        if self._server is not None:
            self._server.close()
        for one in self._running:
            one.cancel()
        self._on_close()
        self._ended.set()

    def _send(self, message: Mapping[str, Any]) -> None:
        self._number += 1
        data = encode_message(_encode_json({"seq": self._number, **message}))
        if self._take is None:
            self._waiting.append(data)
        else:
            self._take(data)

    async def _answer_requests(self) -> None:
        while True:
            await self._translation.answer(await self._requests.get())

    def _accept_engine(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of ours: a cancelled one of asyncio's own is logged as a fault.
        self._running = [one for one in self._running if not one.done()]
        self._running.append(self._tasks.create_task(self._serve_engine(reader, writer)))

    async def _serve_engine(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        engine = DbgpEngine(reader, writer, self.note_packet)
        if not await engine.begin():
            engine.close()
        elif self._is_child(engine):
            await self._serve_child(engine)
        # A request of a server's other process, while one is being debugged, or a process of
        # somebody else's, runs free.
        elif not self._belongs_here(engine):
            engine.close()
        else:
            self._program = self._program or engine.pid
            await self._serve_request(engine)

    async def _serve_request(self, engine: DbgpEngine) -> None:
        async with self._turn:
            await self._translation.configured.wait()
            self._translation.engine = engine
            await self._translation.breakpoints.synchronize(engine, is_new=True)
            await self._run(self._translation.choose_first_command(), engine)
            await engine.over.wait()
            self._translation.engine = None
            engine.close()

    def _is_child(self, engine: DbgpEngine) -> bool:
        """Return whether a process is one that a launched script has forked or started."""
        return self._on_child is not None and self._program not in {None, engine.pid}

    async def _serve_child(self, engine: DbgpEngine) -> None:
        """Serve a child process on a link of its own, until it ends."""
        assert self._on_child is not None
        link = DbgpLink(self._tasks)
        if not self._children.admit_child(link):
            engine.close()
            return
        engine.on_notify = link.note_packet
        self._on_child(link, engine.pid)
        try:
            await link.serve_alone(engine)
        finally:
            self._children.forget_child(link)

    def note_packet(self, packet: ET.Element) -> None:
        """Note a notification of PHP's."""
        self._translation.breakpoints.note_packet(packet)

    async def serve_alone(self, engine: DbgpEngine) -> None:
        """Serve the one request of a child process, to its end."""
        self._running.append(self._tasks.create_task(self._answer_requests()))
        await self._serve_request(engine)
        self._ended.set()

    def _belongs_here(self, engine: DbgpEngine) -> bool:
        process = processes.look_at(engine.pid)
        active = self._translation.engine
        if active is not None and processes.is_below(process, active.pid):
            return False
        return self._pid in {None, engine.pid} or processes.is_below(process, self._pid or 0)

    def _begin_run(self, command: str) -> None:
        engine = self._translation.engine
        if engine is not None:
            self._running = [one for one in self._running if not one.done()]
            self._running.append(self._tasks.create_task(self._run(command, engine)))

    async def _run(self, command: str, engine: DbgpEngine) -> None:
        """Let PHP run to its next stop that somebody asked for, or to its end."""
        following: str | None = command
        while following is not None:
            try:
                ahead = self._translation.commands_ahead(following)
                packet = await engine.run(following, ahead=ahead)
            except (EngineError, ValueError):
                packet = None
            if packet is None:
                engine.over.set()
                return
            if packet.get("status") == "break":
                following = await self._translation.report_stop(packet, following)
            else:  # it has come to its end, and waits for a last command
                following = "run"
