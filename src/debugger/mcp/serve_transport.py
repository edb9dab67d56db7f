"""How long does the server serve: until its transport ends, or somebody asks it to."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPDeprecationWarning

from debugger.mcp import client_log
from debugger.mcp.access_token import AccessToken
from debugger.mcp.daemon_client import DaemonClient
from debugger.mcp.listen_address import ListenAddress
from debugger.mcp.mcp_server import ProtocolAnswers
from debugger.mcp.stdio_server import serve_stdio
from debugger.mcp.tool_definition import Toolset

Transport = Callable[[Server[Any]], Awaitable[None]]


def serve_toolset(toolset: Toolset, transport: Transport) -> None:
    """Serve a toolset until the transport ends, or a signal comes.

    Raises:
        DebuggerError: The transport cannot begin.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("debugger").addHandler(client_log.FailureHandler())
    # Log messages are going out of the protocol; there are clients that still ask for them.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(_serve_until_stopped(toolset, transport))


def over_stdio() -> Transport:
    """Return the transport over standard input and output."""
    return serve_stdio


def over_http(where: ListenAddress, token: AccessToken) -> Transport:
    """Return the transport over HTTP."""
    # What it needs is not for those that serve standard streams: start-up time.
    from debugger.mcp.http_server import serve_http

    return lambda server: serve_http(server, where, token)


async def _serve_until_stopped(toolset: Toolset, transport: Transport) -> None:
    serving = asyncio.ensure_future(_serve_transport(toolset, transport))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _serve_transport(toolset: Toolset, transport: Transport) -> None:
    async with DaemonClient(note=client_log.log_note) as daemon:
        await transport(ProtocolAnswers(daemon, toolset).server())
