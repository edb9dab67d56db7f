"""Finds the debug session that a call of XcodeBuildMCP's tools means, and sends it requests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.daemon_client import DaemonReply
from debugger.mcp.tool_call import ToolCall

NO_SESSION = "No active debug session. Provide debugSessionId or attach first."


def current_session(call: ToolCall) -> str:
    """Return the id of the session that is meant: the one named, else the current one.

    The current one is this connection's: the daemon's own may be another client's.

    Raises:
        DebuggerError: NO_SESSION.
    """
    name = call.session or call.memory.session
    if not name:
        raise DebuggerError(ErrorCode.NO_SESSION, NO_SESSION)
    return name


async def request(
    call: ToolCall, command: str, *, to_fetch: str | None = None, waits: bool = False, **args: Any
) -> DaemonReply:
    """Run one of the daemon's commands in the session that is meant.

    `to_fetch` is what a program that runs cannot tell.

    Raises:
        DebuggerError: In XcodeBuildMCP's words where it has any.
    """
    name = current_session(call)
    try:
        return await replace(call, session=name).run_command(command, waits=waits, **args)
    except DebuggerError as error:
        if error.code is ErrorCode.NO_SESSION:
            raise _session_gone(call, name) from error
        if (
            error.code is ErrorCode.WRONG_STATE
            and to_fetch is not None
            and "running" in error.message
        ):
            raise is_running(to_fetch) from error
        raise


def is_running(to_fetch: str) -> DebuggerError:
    """Return the failure to fetch something of a program that runs."""
    return DebuggerError(
        ErrorCode.WRONG_STATE, f"Process is running; pause or hit a breakpoint to fetch {to_fetch}."
    )


def _session_gone(call: ToolCall, name: str) -> DebuggerError:
    if call.memory.session == name:
        call.remember(None)
    if call.session:
        return DebuggerError(ErrorCode.NO_SESSION, f"Debug session not found: {name}")
    return DebuggerError(ErrorCode.NO_SESSION, NO_SESSION)
