"""A proxy that adds a token for clients that cannot send one."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from mcp_client import HttpServer

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)\r\n")


@asynccontextmanager
async def add_token(server: HttpServer) -> AsyncIterator[str]:
    """Give a URL that leads to the server; each request gets the token on its way.

    Nothing else of a request is changed, but the proxy's own name becomes the server's.
    """
    there = urlsplit(server.url)
    assert there.hostname is not None

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, requests = await asyncio.open_connection(there.hostname, there.port)
        passing = asyncio.ensure_future(forward_bytes(answers, writer))
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    length = _LENGTH.search(head)
                    body = await reader.readexactly(int(length[1])) if length else b""
                    head = head.replace(own, there.netloc.encode())
                    token = f"\r\nAuthorization: Bearer {server.token}\r\n".encode()
                    requests.write(head.replace(b"\r\n", token, 1) + body)
                    await requests.drain()
        finally:
            passing.cancel()
            requests.close()
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    own = f"127.0.0.1:{port}".encode()
    async with listening:
        yield f"http://127.0.0.1:{port}{there.path}"


async def forward_bytes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
