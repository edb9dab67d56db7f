"""The tool that lets the program run, and waits."""

from __future__ import annotations

from typing import Any, Literal

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.daemon_client import DaemonReply
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset

TOOLS = Toolset()
COMMANDS = {"continue": "continue", "step-over": "next", "step-into": "step", "step-out": "finish"}
_CHOOSE = 'debug_command {{"command": "thread {}"}} chooses it'
STATUS = {"stopped": "paused", "terminated": "exited"}
# What every tool answers that ends in a stop.
STOP = {
    "status": Literal["paused", "running", "exited"],
    "breakpointId": str,
    "file": str,
    "line": int,
    "function": str,
    "sessionId": str,
    "stop": dict[str, Any],
}


@TOOLS.tool("debug_continue", title="Run and wait", result=STOP)
async def debug_continue(
    call: ToolCall,
    *,
    action: Literal["continue", "step-over", "step-into", "step-out"] = "continue",
    thread: int | None = None,
    wait: bool = True,
    timeout_ms: int | None = None,
) -> ToolAnswer:
    """Run to the next stop or end: where and why, source, changed locals, stack, output."""
    command = COMMANDS[action]
    if thread is not None and action != "continue":
        raise DebuggerError(
            ErrorCode.USAGE, f"{action} is of the current thread", hint=_CHOOSE.format(thread)
        )
    if not wait and command == "continue":
        return stop_answer(await call.run_command(command, no_wait=True, thread=thread))
    seconds = 0 if not wait else timeout_ms / 1000 if timeout_ms is not None else None
    try:
        return stop_answer(
            await call.run_command(command, waits=True, timeout=seconds, thread=thread)
        )
    except DebuggerError as error:
        if action != "continue" or thread is not None or error.code is not ErrorCode.WRONG_STATE:
            raise
        if (await call.run_command("status")).data["state"] != "running":
            raise
    # It runs already, as after an attach: what is asked for is the next stop.
    return stop_answer(await call.run_command("await", waits=True, timeout=seconds))


def stop_answer(reply: DaemonReply) -> ToolAnswer:
    """Answer with a stop, or with the program's end, or that it still runs."""
    stop = reply.data
    frame = stop.get("frame") or {}
    hits = stop.get("hit_breakpoints") or ()
    found = {
        "status": STATUS.get(str(stop.get("state")), "running"),
        "breakpointId": str(hits[0]) if hits else None,
        "file": frame.get("file"),
        "line": frame.get("line"),
        "function": frame.get("function"),
        "sessionId": stop.get("session"),
        "stop": stop,
    }
    return ToolAnswer(reply.text, {key: value for key, value in found.items() if value is not None})
