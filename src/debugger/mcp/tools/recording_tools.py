"""The tools that record a run: what ran, single calls, where two runs part."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import RARE, Toolset
from debugger.mcp.tools.session_tools import (
    Command,
    Env,
    Stdin,
    TimeoutMs,
    environment_pairs,
    to_seconds,
)

TOOLS = Toolset()

_Other = Annotated[tuple[str, ...], "commands that pass"]


@TOOLS.tool(
    "debug_path",
    title="What ran",
    result={"path": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_path(
    call: ToolCall,
    command: Command,
    *,
    around: Annotated[str | None, "FUNCTION"] = None,
    between: Annotated[
        tuple[str, str] | None, "from the first call of one to the next of another", RARE
    ] = None,
    process: Annotated[str | None, "number, or failing", RARE] = None,
    versus: _Other = (),
    save: Annotated[str | None, "keep the run: versus run:NAME", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: which of its functions ran; with versus, what only the failing one did."""
    reply = await call.without_session().run_command(
        "path",
        waits=True,
        words=command,
        around=around,
        between=between,
        process=process,
        versus=versus,
        save=save,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        timeout=to_seconds(timeout_ms),
    )
    return ToolAnswer(reply.text, {"path": reply.data})


@TOOLS.tool(
    "debug_calls",
    title="Calls of a function, line by line",
    result={"calls": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_calls(
    call: ToolCall,
    function: Annotated[str, "or FILE:LINE in it"],
    command: Command,
    *,
    nth: Annotated[int | None, "from 1"] = None,
    when: Annotated[str, "condition"] = "",
    depth: Annotated[int, "levels of the calls that it makes", RARE] = 1,
    limit: Annotated[int | None, "calls told line by line", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: calls of a function, line by line, with what changed and was called."""
    reply = await call.without_session().run_command(
        "calls",
        waits=True,
        function=function,
        words=command,
        nth=nth,
        when=when,
        depth=depth,
        limit=limit,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        timeout=to_seconds(timeout_ms),
    )
    return ToolAnswer(reply.text, {"calls": reply.data})


@TOOLS.tool(
    "debug_diff",
    title="Where two runs part",
    result={"diff": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_diff(
    call: ToolCall,
    command: Command,
    *,
    versus: str | None = None,
    function: Annotated[str | None, "only its calls"] = None,
    at: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    when: Annotated[str | None, "of at: condition", RARE] = None,
    save: Annotated[str | None, "keep the run: versus run:NAME", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    versus_stdin: Annotated[str | None, "the other run's FILE", RARE] = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run command and versus: the first step or value that differs; at: as probe."""
    reply = await call.without_session().run_command(
        "diff",
        waits=True,
        words=command,
        versus=(versus,) if versus is not None else (),
        function=function,
        at=tuple(at.items()),
        when=(when,) if when is not None else (),
        save=save,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        versus_stdin=versus_stdin,
        timeout=to_seconds(timeout_ms),
    )
    return ToolAnswer(reply.text, {"diff": reply.data})
