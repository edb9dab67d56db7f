"""How does a test speak to `debugger mcp`, as a client of the official SDK does?"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

CALL_S = 60.0


@dataclass(frozen=True)
class Told:
    """What a tool answered."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


class Connected:
    """A client that is connected."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def list_tools(self) -> list[types.Tool]:
        """List the tools."""
        return list((await self.client.list_tools()).tools)

    async def call(self, name: str, /, **arguments: Any) -> Told:
        """Call a tool that must succeed."""
        told = await self.ask(name, **arguments)
        assert not told.is_error, f"{name} {arguments}: {told.text}"
        return told

    async def refused(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must fail; give the text of the failure."""
        told = await self.ask(name, **arguments)
        assert told.is_error, f"{name} {arguments}: {told.text}"
        return told.text

    async def ask(self, name: str, /, **arguments: Any) -> Told:
        """Call a tool."""
        result = await self.client.call_tool(name, arguments, read_timeout_seconds=CALL_S)
        assert isinstance(result, types.CallToolResult)
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return Told(content.text, result.structured_content or {}, bool(result.is_error))


def command(*words: str) -> list[str]:
    """Give the words that start the server."""
    return [sys.executable, "-m", "debugger", "mcp", *words]


@asynccontextmanager
async def over_stdio(
    *, toolset: str = "core", env: Mapping[str, str] | None = None
) -> AsyncIterator[Connected]:
    """Start a server, and connect to it over its standard streams."""
    program, *words = command("--toolset", toolset)
    parameters = StdioServerParameters(
        command=program, args=words, env={**os.environ, **(env or {})}
    )
    with plain_failures():
        async with Client(stdio_client(parameters)) as client:
            yield Connected(client)


@contextmanager
def plain_failures() -> Iterator[None]:
    """Raise what went wrong itself, without the groups of the SDK's tasks around it."""
    try:
        yield
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
