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

from debugger.mcp import logs
from debugger.mcp.address import Place
from debugger.mcp.daemon import Daemon
from debugger.mcp.server import Answers
from debugger.mcp.stdio import serve_stdio
from debugger.mcp.token import Token
from debugger.mcp.tool import Toolset

Transport = Callable[[Server[Any]], Awaitable[None]]


def serve(toolset: Toolset, transport: Transport) -> None:
    """Serve a toolset until the transport ends, or a signal comes.

    Raises:
        DebuggerError: The transport cannot begin.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("debugger").addHandler(logs.Failures())
    # Log messages are going out of the protocol; there are clients that still ask for them.
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    asyncio.run(_serve(toolset, transport))


def over_stdio() -> Transport:
    """Return the transport over standard input and output."""
    return serve_stdio


def over_http(where: Place, token: Token) -> Transport:
    """Return the transport over HTTP."""
    # What it needs is not for those that serve standard streams: start-up time.
    from debugger.mcp.http import serve_http

    return lambda server: serve_http(server, where, token)


async def _serve(toolset: Toolset, transport: Transport) -> None:
    serving = asyncio.ensure_future(_answer(toolset, transport))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def _answer(toolset: Toolset, transport: Transport) -> None:
    async with Daemon(note=logs.note) as daemon:
        await transport(Answers(daemon, toolset).server())
