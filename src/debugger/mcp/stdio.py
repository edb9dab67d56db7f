"""The server over standard input and output."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes our input.

    What anything else prints goes to standard error: the SDK keeps the stream for itself.
    """
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())
