"""Runs the program `debugger mcp`: parses its options, and serves until the transport ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import warnings
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPDeprecationWarning

from debugger.cli import commands, parser
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import http_server, mcp_server
from debugger.mcp.http_server import AccessToken, ListenAddress
from debugger.mcp.mcp_server import ProtocolAnswers
from debugger.mcp.stdio_server import serve_stdio
from debugger.mcp.tool_definition import Toolset
from debugger.mcp.tools import TOOLSETS
from debugger.model.command_registry import COMMANDS


def run_server(argv: Sequence[str]) -> int:
    """Serve until the client disconnects, and end the process; messages go to stderr.

    Raises:
        DebuggerError: USAGE for invalid options.
    """
    commands.register_all()
    parsed = parser.parse_argv(argv, COMMANDS)
    options = parsed.command.bind_arguments(parsed.args)
    toolset = TOOLSETS.get(options["toolset"])
    if toolset is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no toolset {options['toolset']!r}; there are: {', '.join(TOOLSETS)}",
            hint="debugger mcp --help",
        )
    where = (
        http_server.parse_listen_address(options["http"]) if options["http"] is not None else None
    )
    if where is None:
        transport = over_stdio()
    else:
        transport = over_http(where, AccessToken.taken_from(os.environ))
    # What is imported stays; its modules were imported without the collector (cli/client.py).
    gc.freeze()
    gc.enable()
    serve_toolset(toolset, transport)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(0)


Transport = Callable[[Server[Any]], Awaitable[None]]


def serve_toolset(toolset: Toolset, transport: Transport) -> None:
    """Serve a toolset until the transport ends, or a signal comes.

    Raises:
        DebuggerError: The transport cannot start.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    logging.getLogger("debugger").addHandler(mcp_server.FailureHandler())
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
    async with DaemonClient(note=mcp_server.log_note) as daemon:
        await transport(ProtocolAnswers(daemon, toolset).server())
