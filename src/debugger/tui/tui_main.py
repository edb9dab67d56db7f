"""Runs the program `debugger tui`: the screen in this terminal, until the person quits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from debugger.cli import commands, parser
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import COMMANDS

INSTALL = "pip install 'debugger-cli[tui]'"


def run_screen(argv: Sequence[str]) -> int:
    """Show the screen until the person quits.

    Raises:
        DebuggerError: USAGE for invalid options, or without a terminal; NOT_SUPPORTED without the
            extra `tui`.
    """
    commands.register_all()
    parsed = parser.parse_argv(argv, COMMANDS)
    parsed.command.bind_arguments(parsed.args)
    if not all(os.isatty(one) for one in range(3)):  # textual writes to standard error
        raise DebuggerError(
            ErrorCode.USAGE,
            "debugger tui is for a person at a terminal, and this is none",
            hint="debugger status, or debugger ui for a page",
        )
    try:
        from debugger.tui.tui_app import TuiApp
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, "textual is not installed", hint=INSTALL
        ) from None
    session = parsed.session or os.environ.get("DEBUGGER_SESSION") or None

    async def show() -> None:
        # Notes would be written over the screen, which says the same.
        async with DaemonClient(note=lambda _: None, starts_daemon=False) as daemon:
            await TuiApp(daemon, session).run_async()

    asyncio.run(show())
    return 0
