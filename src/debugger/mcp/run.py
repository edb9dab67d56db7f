"""The program `debugger mcp`: its options, and which transport it serves."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence

from debugger import commands
from debugger.core.command import COMMANDS
from debugger.errors import Code, DebuggerError
from debugger.mcp.daemon import Daemon
from debugger.mcp.server import Answers
from debugger.mcp.stdio import serve_stdio
from debugger.mcp.tool import Toolset
from debugger.mcp.tools import TOOLSETS
from debugger.surface import cli


def main(argv: Sequence[str]) -> int:
    """Serve until the client goes; what there is to say goes to standard error.

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
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    asyncio.run(_serve(toolset))
    return 0


async def _serve(toolset: Toolset) -> None:
    async with Daemon(note=_note) as daemon:
        await serve_stdio(Answers(daemon, toolset).server())


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")
