"""Listens for programs that are their own adapters, and for their child processes."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from debugger.backends.dap.dap_transport import ByteStream, TcpConnection, find_peer
from debugger.backends.dap.two_connection_launch import ALTOGETHER, AT_ONCE

OnChild = Callable[[ByteStream, int], None]
# A Unix socket's path has at most 107 bytes (unix(7): sun_path).
_SOCKET_MAX = 107


class ChildCount:
    """Counts the child processes of one program that connect: each has a session of its own."""

    def __init__(self) -> None:
        self._total = 0
        self._live: set[ByteStream] = set()

    def admit_child(self, link: ByteStream) -> bool:
        """Count a child; False where there are too many, and it is to run free."""
        if len(self._live) >= AT_ONCE or self._total >= ALTOGETHER:
            return False
        self._total += 1
        self._live.add(link)
        return True

    def forget_child(self, link: ByteStream) -> None:
        """Note that a child's connection is closed."""
        self._live.discard(link)


class ProgramListener:
    """A Unix socket of ours that a program connects to, and after it its child processes.

    Only the program's own user can reach the socket: its folder is closed to others. Unlike a port,
    it is known before the program runs, and needs no message among the program's output.
    """

    def __init__(self, folder: Path, on_child: OnChild) -> None:
        self.path = str(folder / "program.sock")
        self._short: str | None = None  # a folder for the socket where the path is too long
        if len(os.fsencode(self.path)) > _SOCKET_MAX:
            self._short = tempfile.mkdtemp(prefix="debugger-", dir="/tmp")
            self.path = f"{self._short}/program.sock"
        self.on_child = on_child
        self._children = ChildCount()
        self._server: asyncio.Server | None = None
        self.program: asyncio.Future[TcpConnection] = asyncio.get_running_loop().create_future()

    async def listen(self) -> None:
        """Listen from now on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self._make_connection, self.path)

    def close(self) -> None:
        """Listen no more, and remove the socket."""
        if self._server is not None:
            self._server.close()
        with suppress(OSError):
            Path(self.path).unlink()
        if self._short is not None:
            shutil.rmtree(self._short, ignore_errors=True)

    def _make_connection(self) -> TcpConnection:
        link = TcpConnection()
        made: asyncio.Future[TcpConnection] = asyncio.get_running_loop().create_future()
        link.when_made(made)
        made.add_done_callback(lambda one: self._take_connection(one.result()))
        return link

    def _take_connection(self, link: TcpConnection) -> None:
        if not self.program.done():
            self.program.set_result(link)
        elif self._children.admit_child(link):
            link.ended.add_done_callback(lambda _: self._children.forget_child(link))
            self.on_child(link, find_peer(link.transport))
        else:
            link.close()  # its agent lets it run free
