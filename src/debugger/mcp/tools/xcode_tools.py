"""Defines XcodeBuildMCP's debugging tools, with its names, arguments and wording."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall, invalid_arguments
from debugger.mcp.tool_definition import Toolset
from debugger.mcp.tools import breakpoint_tools, xcode_session
from debugger.mcp.tools.xcode_session import current_session, is_running, request

TOOLS = Toolset()
_SESSION = "debugSessionId"
_COMMAND_MS = 30_000
_BROKEN_OFF_S = 4.0
_FRAMES = 100
_FRAMES_MAX = 1000


@TOOLS.tool(
    "debug_breakpoint_add",
    title="Add Breakpoint",
    result={
        "breakpointId": int,
        "verified": bool,
        "file": str,
        "line": int,
        "function": str,
        "condition": str,
        "whyUnbound": str,
    },
    session_key=_SESSION,
    failure="Failed to add breakpoint",
)
async def debug_breakpoint_add(
    call: ToolCall,
    *,
    file: str | None = None,
    line: int | None = None,
    function: str | None = None,
    condition: Annotated[str | None, "Expression for breakpoint condition"] = None,
) -> ToolAnswer:
    """Add breakpoint."""
    _check_place(file, line, function)
    place = f"{file}:{line}" if function is None else None
    reply = await request(
        call,
        "breakpoint_add",
        place=place,
        function=function,
        when=(condition,) if condition else (),
    )
    await _refuse_without_code(call, reply.data, file, line)
    one = reply.data
    data = {
        "breakpointId": one["id"],
        "verified": one.get("verified"),
        "file": one.get("file"),
        "line": one.get("line"),
        "function": one.get("function"),
        "condition": one.get("condition"),
        "whyUnbound": one.get("why_unbound"),
    }
    return ToolAnswer(xcode_session.breakpoint_text(one), _known_fields(data))


def _check_place(file: str | None, line: int | None, function: str | None) -> None:
    """Check that a location is a function or a line of a file, before any change."""
    try:
        breakpoint_tools.check_location(function, file, line)
    except DebuggerError as error:
        raise invalid_arguments(error.message) from error
    if line is not None:
        _at_least(1, "line", line)


async def _refuse_without_code(
    call: ToolCall, one: Any, file: str | None, line: int | None
) -> None:
    """Remove a breakpoint at a line without code, and fail.

    Raises:
        DebuggerError: NOT_FOUND, with the nearest lines that have code.
    """
    nearest = one.get("nearest_lines")
    if one.get("verified") or not nearest:
        return
    await request(call, "breakpoint_remove", ids=(one["id"],))
    raise breakpoint_tools.no_code(str(file), line, nearest)


@TOOLS.tool(
    "debug_breakpoint_remove",
    title="Remove Breakpoint",
    result={"breakpointId": int},
    session_key=_SESSION,
    failure="Failed to remove breakpoint",
)
async def debug_breakpoint_remove(call: ToolCall, breakpoint_id: int) -> ToolAnswer:
    """Remove breakpoint."""
    _at_least(1, "breakpointId", breakpoint_id)
    try:
        await request(call, "breakpoint_remove", ids=(breakpoint_id,))
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"Breakpoint not found: {breakpoint_id}"
        ) from error
    text = f"✅ Breakpoint {breakpoint_id} removed.\n\nRemoved breakpoint {breakpoint_id}."
    return ToolAnswer(text, {"breakpointId": breakpoint_id})


@TOOLS.tool(
    "debug_continue",
    title="Continue",
    result={_SESSION: str, "state": Literal["running", "stopped", "terminated"]},
    session_key=_SESSION,
    failure="Failed to resume debugger",
)
async def debug_continue(call: ToolCall) -> ToolAnswer:
    """Continue debug session."""
    reply = await request(call, "continue", no_wait=True)
    name = current_session(call)
    data = {_SESSION: name, "state": reply.data.get("state")}
    return ToolAnswer(f"✅ Resumed debugger session {name}.", _known_fields(data))


@TOOLS.tool(
    "debug_detach",
    title="Detach",
    result={_SESSION: str},
    session_key=_SESSION,
    failure="Failed to detach debugger",
)
async def debug_detach(call: ToolCall) -> ToolAnswer:
    """Detach debugger."""
    # Before the request, after which the session may be gone.
    name = current_session(call)
    reply = await request(call, "detach")
    if call.memory.session in reply.data.get("ended", ()):
        call.remember(None)
    return ToolAnswer(f"✅ Detached debugger session {name}.", {_SESSION: name})


@TOOLS.tool(
    "debug_lldb_command",
    title="Run LLDB Command",
    result={"output": str},
    session_key=_SESSION,
    failure="Failed to run LLDB command",
    destructive=True,
)
async def debug_lldb_command(
    call: ToolCall, command: str, *, timeout_ms: int | None = None
) -> ToolAnswer:
    """Run LLDB command."""
    if timeout_ms is not None:
        _at_least(1, "timeoutMs", timeout_ms)
    limit = timeout_ms or _COMMAND_MS
    try:
        # The session may be busy with another command, or not get LLDB to break this one off.
        async with asyncio.timeout(limit / 1000 + _BROKEN_OFF_S):
            reply = await request(call, "raw", waits=True, text=command, within=limit / 1000)
    except TimeoutError:
        raise _timed_out(limit) from None
    except DebuggerError as error:
        # What takes no longer than was asked, but than the debugger may, says so itself.
        if error.code is ErrorCode.TIMEOUT and "did not end within" in error.message:
            raise _timed_out(limit) from error
        raise
    # A command that lets the program run has no output of its own: where it stopped is the answer.
    text = reply.text if reply.data.get("stop") else str(reply.data.get("output", ""))
    output = xcode_session.output_text(text)
    return ToolAnswer(output, {"output": output})


def _timed_out(limit: int) -> DebuggerError:
    return DebuggerError(
        ErrorCode.TIMEOUT,
        f"LLDB command timed out after {limit}ms",
        hint="while LLDB is busy with it still, nothing is answered; debug_detach lets go",
    )


@TOOLS.tool(
    "debug_stack",
    title="Stack",
    result={"thread": int, "frames": list[Any], "total": int},
    session_key=_SESSION,
    failure="Failed to get stack",
    reads_only=True,
)
async def debug_stack(
    call: ToolCall, *, thread_index: int | None = None, max_frames: int | None = None
) -> ToolAnswer:
    """Get backtrace."""
    if max_frames is not None:
        _at_least(1, "maxFrames", max_frames)
    thread, name = None, ""
    if thread_index is not None:
        _at_least(0, "threadIndex", thread_index)
        thread, name = await _thread_at(call, thread_index)
    limit = min(max_frames or _FRAMES, _FRAMES_MAX)
    reply = await request(call, "backtrace", to_fetch="stack", thread=thread, limit=limit)
    frames = reply.data["frames"]
    total = reply.data.get("total") or len(frames)
    left_out = total - len(frames) if max_frames is None else 0
    text = xcode_session.stack_text(reply.data["thread"], frames, name=name, left_out=left_out)
    return ToolAnswer(text, {"thread": reply.data["thread"], "frames": frames, "total": total})


async def _thread_at(call: ToolCall, index: int) -> tuple[int, str]:
    """Return a thread's id and name by its index.

    Raises:
        DebuggerError: NOT_FOUND, WRONG_STATE.
    """
    threads = (await request(call, "threads", to_fetch="stack")).data["threads"]
    if any(one.get("state") == "running" for one in threads):
        raise is_running("stack")
    if index >= len(threads):
        raise DebuggerError(ErrorCode.NOT_FOUND, f"Thread index {index} is out of range.")
    return int(threads[index]["id"]), str(threads[index].get("name") or "")


@TOOLS.tool(
    "debug_variables",
    title="Variables",
    result={
        "variables": list[Any],
        "total": int,
        "frame": dict[str, Any],
        "scopes": list[Any],
    },
    session_key=_SESSION,
    failure="Failed to get variables",
    reads_only=True,
)
async def debug_variables(call: ToolCall, *, frame_index: int | None = None) -> ToolAnswer:
    """Get frame variables."""
    index = frame_index or 0
    _at_least(0, "frameIndex", index)
    try:
        # A tool that only reads leaves the current frame as it is.
        reply = await request(call, "locals", to_fetch="variables", frame=index, scopes=True)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        raise DebuggerError(ErrorCode.NOT_FOUND, f"Frame index {index} is out of range.") from error
    found, total = reply.data["variables"], reply.data["total"]
    data = {"variables": found, "total": total, "frame": reply.data.get("frame")}
    texts = [xcode_session.variables_text("Locals", found, total)]
    scopes = [one for one in reply.data.get("scopes", ()) if one["variables"]]
    texts += [
        xcode_session.variables_text(one["name"], one["variables"], one["total"]) for one in scopes
    ]
    data["scopes"] = scopes
    return ToolAnswer(xcode_session.output_text("\n\n".join(texts)), _known_fields(data))


def _at_least(least: int, name: str, value: int) -> None:
    if value < least:
        kind = "greater than 0" if least else "greater than or equal to 0"
        raise invalid_arguments(f"Number must be {kind}", argument=name)


def _known_fields(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


@TOOLS.tool(
    "doctor", title="Doctor", result={"checks": list[Any]}, session_key=None, reads_only=True
)
async def doctor(call: ToolCall) -> ToolAnswer:
    """Check adapters, backends, versions, the selected backend, ptrace and simulators."""
    reply = await call.run_command("doctor", waits=True)
    return ToolAnswer(reply.text, reply.data)
