"""The program `debugger mcp`: its options, and which transport it serves."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from debugger import commands
from debugger.core.command import COMMANDS
from debugger.errors import Code, DebuggerError
from debugger.mcp import address
from debugger.mcp.token import Token
from debugger.mcp.tools import TOOLSETS
from debugger.surface import cli


def main(argv: Sequence[str]) -> int:
    """Serve until the client goes, and end the process; what there is to say goes to stderr.

    Raises:
        DebuggerError: USAGE for options that mean nothing.
    """
    commands.load()
    wanted = cli.parse(argv, COMMANDS)
    options = wanted.command.bind(wanted.args)
    toolset = TOOLSETS.get(options["toolset"])
    if toolset is None:
        raise DebuggerError(
            Code.USAGE,
            f"no toolset {options['toolset']!r}; there are: {', '.join(TOOLSETS)}",
            hint="debugger mcp --help",
        )
    where = address.place(options["http"]) if options["http"] is not None else None
    # The SDK's models are tens of thousands of objects, and all of them stay: looking through them
    # again and again would be a fourth of the start, and taking them apart most of the end.
    gc.disable()
    # Late, for the start: not before the options are known to mean something.
    from debugger.mcp import serving

    if where is None:
        transport = serving.over_stdio()
    else:
        transport = serving.over_http(where, Token.taken_from(os.environ))
    gc.freeze()
    gc.enable()
    serving.serve(toolset, transport)
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(0)
