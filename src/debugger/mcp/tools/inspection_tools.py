"""The tools that look at a stopped program, and the one that runs any other command."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from debugger.cli import parser
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset
from debugger.model.command_registry import COMMANDS

TOOLS = Toolset()
_HERE = frozenset({"mcp", "completion", "daemon"})


@TOOLS.tool(
    "debug_stack",
    title="Stack",
    result={"thread": int, "frames": list[Any], "threads": list[Any], "total": int},
    reads_only=True,
)
async def debug_stack(
    call: ToolCall,
    *,
    thread_index: Annotated[int | None, "from 0"] = None,
    max_frames: int | None = None,
    all_threads: bool = False,
    with_locals: bool = False,
) -> ToolAnswer:
    """Show the stack of the current thread, another, or all."""
    if all_threads:
        reply = await call.run_command("backtrace", every=True, limit=max_frames)
        return ToolAnswer(reply.text, reply.data)
    thread = await thread_number(call, thread_index) if thread_index is not None else None
    reply = await call.run_command(
        "backtrace", thread=thread, limit=max_frames, with_locals=with_locals
    )
    return ToolAnswer(reply.text, reply.data)


async def thread_number(call: ToolCall, index: int) -> int:
    """Return the id of the thread at a place among all.

    Raises:
        DebuggerError: USAGE, in the words that XcodeBuildMCP uses.
    """
    threads = (await call.run_command("threads")).data["threads"]
    if not 0 <= index < len(threads):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"Thread index {index} is out of range.",
            hint=f"there are {len(threads)}, from 0",
        )
    return int(threads[index]["id"])


@TOOLS.tool(
    "debug_variables",
    title="Variables",
    result={"variables": list[Any], "total": int},
    reads_only=True,
)
async def debug_variables(
    call: ToolCall,
    *,
    frame_index: Annotated[int | None, "0 is the innermost"] = None,
    ref: Annotated[str | None, "look inside (v3)"] = None,
    start: int = 0,
    count: int | None = None,
) -> ToolAnswer:
    """Show a frame's arguments and locals, or page through a value."""
    if ref:
        reply = await call.run_command("vars", ref=ref, start=start, count=count)
        return ToolAnswer(reply.text, reply.data)
    await select(call, frame_index)
    reply = await call.run_command("locals")
    return ToolAnswer(reply.text, reply.data)


async def select(call: ToolCall, frame_index: int | None) -> None:
    """Make a frame the current one.

    Raises:
        DebuggerError: NOT_FOUND, in the words that XcodeBuildMCP uses.
    """
    if frame_index is None:
        return
    try:
        await call.run_command("frame", number=frame_index)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"Frame index {frame_index} is out of range.", hint=error.message
        ) from error


@TOOLS.tool(
    "debug_evaluate",
    title="Evaluate",
    result={"value": str, "type": str, "ref": str, "children": list[Any]},
    destructive=True,
)
async def debug_evaluate(
    call: ToolCall,
    expression: str,
    *,
    frame_index: int | None = None,
) -> ToolAnswer:
    """Evaluate an expression of the program's language; it may change the program."""
    await select(call, frame_index)
    reply = await call.run_command("eval", expression=expression)
    return ToolAnswer(reply.text, reply.data)


@TOOLS.tool("debug_command", title="Any command", result={}, destructive=True)
async def debug_command(
    call: ToolCall, command: Annotated[str, "as after `debugger `"]
) -> ToolAnswer:
    """Run any command: watch EXPR, until LOC, catch raised, memory read &x, output, help."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"cannot be read: {error}", hint="close the quotes"
        ) from error
    if words[:1] == ["debugger"]:
        words = words[1:]
    if not words:
        raise DebuggerError(ErrorCode.USAGE, "which command?", hint='{"command": "help"}')
    if words[0] == "help" or not {"--help", "-h"}.isdisjoint(words):
        return ToolAnswer(parser.help_text([word for word in words if word != "help"], COMMANDS))
    if words[0] in _HERE:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"{words[0]} is for a shell, not for a session",
            hint=f"a person gives it in a shell: debugger {words[0]}",
        )
    if "--follow" in words:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "--follow has no end here",
            hint="call again for what came since",
        )
    reply = await call.run_command_line(words)
    return ToolAnswer(reply.text, reply.data)
