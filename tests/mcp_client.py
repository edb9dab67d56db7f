"""Speaks to `debugger mcp` in a test, by the official SDK's client."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from warm_daemon import WARM_PROCESS, WARM_SERVERS

CALL_S = 110.0
_START_S = 60.0
_END_S = 30.0


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool answered."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


class McpConnection:
    """A client that is connected."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def list_tools(self) -> list[types.Tool]:
        """List the tools."""
        return list((await self.client.list_tools()).tools)

    async def call(self, name: str, /, **arguments: Any) -> ToolAnswer:
        """Call a tool that must succeed."""
        told = await self.ask(name, **arguments)
        assert not told.is_error, f"{name} {arguments}: {told.text}"
        return told

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must fail; give the text of the failure."""
        told = await self.ask(name, **arguments)
        assert told.is_error, f"{name} {arguments}: {told.text}"
        return told.text

    async def ask(self, name: str, /, **arguments: Any) -> ToolAnswer:
        """Call a tool."""
        result = await self.client.call_tool(name, arguments, read_timeout_seconds=CALL_S)
        assert isinstance(result, types.CallToolResult)
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return ToolAnswer(content.text, result.structured_content or {}, bool(result.is_error))


def server_command(*words: str) -> list[str]:
    """Give the words that start the server as a user does."""
    return [sys.executable, "-m", "debugger", "mcp", *words]


@asynccontextmanager
async def connect_stdio(
    *, toolset: str = "core", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> AsyncIterator[McpConnection]:
    """Start a server, and connect to it over its standard streams."""
    environment = {**os.environ, **(env or {})}
    WARM_PROCESS.hatch(environment)
    own = ["mcp", "--toolset", toolset]
    program, *words = WARM_SERVERS.choose_command(own, environment)
    parameters = StdioServerParameters(command=program, args=words, env=environment, cwd=cwd)
    with unwrap_failures():
        async with Client(stdio_client(parameters)) as client:
            yield McpConnection(client)


@contextmanager
def unwrap_failures() -> Iterator[None]:
    """Raise what went wrong itself, without the groups of the SDK's tasks around it."""
    try:
        yield
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


@dataclass(frozen=True)
class HttpServer:
    """A server that listens for HTTP, and how to reach it."""

    process: asyncio.subprocess.Process
    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """Give what a client must send with each request."""
        return {"Authorization": f"Bearer {self.token}"}

    @asynccontextmanager
    async def connected(self, **options: Any) -> AsyncIterator[McpConnection]:
        """Connect a client; the options are those of the SDK's."""
        with unwrap_failures():
            async with (
                httpx2.AsyncClient(headers=self.headers, timeout=CALL_S) as http,
                Client(streamable_http_client(self.url, http_client=http), **options) as client,
            ):
                yield McpConnection(client)


@asynccontextmanager
async def start_http_server(
    *, toolset: str = "core", env: Mapping[str, str] | None = None, at: str = "127.0.0.1:0"
) -> AsyncIterator[HttpServer]:
    """Start a server over HTTP, with a token of its own."""
    environment = {**os.environ, **(env or {})}
    WARM_PROCESS.hatch(environment)
    process = await asyncio.create_subprocess_exec(
        *WARM_SERVERS.choose_command(["mcp", "--toolset", toolset, "--http", at], environment),
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(_START_S):
            url = re.fullmatch(r"serving at (\S+)\n", (await process.stderr.readline()).decode())
            kept = re.fullmatch(r"token: (.+)\n", (await process.stderr.readline()).decode())
        assert url is not None
        assert kept is not None
        if (env or {}).get("DEBUGGER_MCP_TOKEN"):
            token = (env or {})["DEBUGGER_MCP_TOKEN"]
        else:
            token = Path(kept[1]).read_text().strip()
        yield HttpServer(process, url[1], token)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), _END_S)


@asynccontextmanager
async def connect_http(
    *, toolset: str = "core", env: Mapping[str, str] | None = None, **options: Any
) -> AsyncIterator[McpConnection]:
    """Start a server over HTTP, and connect to it; the options are those of the SDK's client."""
    async with (
        start_http_server(toolset=toolset, env=env) as server,
        server.connected(**options) as agent,
    ):
        yield agent
