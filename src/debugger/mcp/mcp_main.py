"""The program `debugger mcp`: its options, and which transport it serves."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from debugger.cli import commands, parser
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import listen_address
from debugger.mcp.access_token import AccessToken
from debugger.mcp.tools import TOOLSETS
from debugger.model.command_registry import COMMANDS


def run_server(argv: Sequence[str]) -> int:
    """Serve until the client goes, and end the process; what there is to say goes to stderr.

    Raises:
        DebuggerError: USAGE for options that mean nothing.
    """
    commands.register_all()
    wanted = parser.parse_argv(argv, COMMANDS)
    options = wanted.command.bind_arguments(wanted.args)
    toolset = TOOLSETS.get(options["toolset"])
    if toolset is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no toolset {options['toolset']!r}; there are: {', '.join(TOOLSETS)}",
            hint="debugger mcp --help",
        )
    where = (
        listen_address.parse_listen_address(options["http"])
        if options["http"] is not None
        else None
    )
    # The SDK's models are tens of thousands of objects, and all of them stay: looking through them
    # again and again would be a fourth of the start, and taking them apart most of the end.
    gc.disable()
    # Late, for the start: not before the options are known to mean something.
    from debugger.mcp import serve_transport

    if where is None:
        transport = serve_transport.over_stdio()
    else:
        transport = serve_transport.over_http(where, AccessToken.taken_from(os.environ))
    gc.freeze()
    gc.enable()
    serve_transport.serve_toolset(toolset, transport)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(0)
