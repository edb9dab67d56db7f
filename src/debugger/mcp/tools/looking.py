"""The tools that look at a stopped program, and the one that runs any other command."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from debugger.core.command import COMMANDS
from debugger.errors import Code, DebuggerError
from debugger.mcp.call import Told, ToolCall
from debugger.mcp.tool import Toolset
from debugger.surface import cli

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
) -> Told:
    """Show the stack of the current thread, another, or all."""
    if all_threads:
        reply = await call.ask("backtrace", every=True, limit=max_frames)
        return Told(reply.text, reply.data)
    thread = await thread_number(call, thread_index) if thread_index is not None else None
    reply = await call.ask("backtrace", thread=thread, limit=max_frames, with_locals=with_locals)
    return Told(reply.text, reply.data)


async def thread_number(call: ToolCall, index: int) -> int:
    """Return the id of the thread at a place among all.

    Raises:
        DebuggerError: USAGE, in the words that XcodeBuildMCP uses.
    """
    threads = (await call.ask("threads")).data["threads"]
    if not 0 <= index < len(threads):
        raise DebuggerError(
            Code.USAGE,
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
) -> Told:
    """Show a frame's arguments and locals, or page through a value."""
    if ref:
        reply = await call.ask("vars", ref=ref, start=start, count=count)
        return Told(reply.text, reply.data)
    await select(call, frame_index)
    reply = await call.ask("locals")
    return Told(reply.text, reply.data)


async def select(call: ToolCall, frame_index: int | None) -> None:
    """Make a frame the current one.

    Raises:
        DebuggerError: NOT_FOUND, in the words that XcodeBuildMCP uses.
    """
    if frame_index is None:
        return
    try:
        await call.ask("frame", number=frame_index)
    except DebuggerError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        raise DebuggerError(
            Code.NOT_FOUND, f"Frame index {frame_index} is out of range.", hint=error.message
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
) -> Told:
    """Evaluate an expression of the program's language; it may change the program."""
    await select(call, frame_index)
    reply = await call.ask("eval", expression=expression)
    return Told(reply.text, reply.data)


@TOOLS.tool("debug_command", title="Any command", result={}, destructive=True)
async def debug_command(call: ToolCall, command: Annotated[str, "as after `debugger `"]) -> Told:
    """Run any command: watch EXPR, until LOC, catch raised, memory read &x, output, help."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DebuggerError(
            Code.USAGE, f"cannot be read: {error}", hint="close the quotes"
        ) from error
    if words[:1] == ["debugger"]:
        words = words[1:]
    if not words:
        raise DebuggerError(Code.USAGE, "which command?", hint='{"command": "help"}')
    if words[0] == "help" or not {"--help", "-h"}.isdisjoint(words):
        return Told(cli.help_text([word for word in words if word != "help"], COMMANDS))
    if words[0] in _HERE:
        raise DebuggerError(
            Code.DENIED,
            f"{words[0]} is for a shell, not for a session",
            hint=f"a person gives it in a shell: debugger {words[0]}",
        )
    if "--follow" in words:
        raise DebuggerError(
            Code.NOT_SUPPORTED, "--follow has no end here", hint="call again for what came since"
        )
    reply = await call.run(words)
    return Told(reply.text, reply.data)
