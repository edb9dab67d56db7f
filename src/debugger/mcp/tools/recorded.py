"""The tools that record a run: what ran, single calls, where two runs part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from debugger.mcp.call import Told, ToolCall
from debugger.mcp.tool import Toolset
from debugger.mcp.tools.beginning import seconds

TOOLS = Toolset()

_Command = Annotated[tuple[str, ...], "words, as typed; no shell"]
_Other = Annotated[tuple[str, ...], "another command, as one text each"]
_Stdin = Annotated[str | None, "FILE"]


def _pairs(env: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in env.items())


@TOOLS.tool(
    "debug_path",
    title="What ran",
    result={"path": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_path(
    call: ToolCall,
    command: _Command,
    *,
    around: Annotated[str | None, "a function or FILE:LINE"] = None,
    between: Annotated[
        tuple[str, str] | None, "from the first call of one to the next of another"
    ] = None,
    versus: _Other = (),
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    stdin: _Stdin = None,
    timeout_ms: int | None = None,
) -> Told:
    """Run a command: which of its functions ran; with versus, what only failing runs did."""
    reply = await call.anew().ask(
        "path",
        waits=True,
        words=command,
        around=around,
        between=between,
        versus=versus,
        cwd=cwd,
        env=_pairs(env),
        stdin=stdin,
        timeout=seconds(timeout_ms),
    )
    return Told(reply.text, {"path": reply.data})


@TOOLS.tool(
    "debug_calls",
    title="Calls of a function, line by line",
    result={"calls": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_calls(
    call: ToolCall,
    function: Annotated[str, "a function, or FILE:LINE in it"],
    command: _Command,
    *,
    nth: Annotated[int | None, "the call of this number, from 1"] = None,
    when: Annotated[str, "a condition at the entry"] = "",
    depth: Annotated[int, "levels of the calls that it makes"] = 1,
    limit: Annotated[int | None, "calls told line by line"] = None,
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    stdin: _Stdin = None,
    timeout_ms: int | None = None,
) -> Told:
    """Run a command: calls of a function line by line: changes, callees, branches, result."""
    reply = await call.anew().ask(
        "calls",
        waits=True,
        function=function,
        words=command,
        nth=nth,
        when=when,
        depth=depth,
        limit=limit,
        cwd=cwd,
        env=_pairs(env),
        stdin=stdin,
        timeout=seconds(timeout_ms),
    )
    return Told(reply.text, {"calls": reply.data})


@TOOLS.tool(
    "debug_diff",
    title="Where two runs part",
    result={"diff": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_diff(
    call: ToolCall,
    command: _Command,
    *,
    versus: Annotated[str | None, "the other command, as one text"] = None,
    function: Annotated[str | None, "compare its calls only"] = None,
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    stdin: _Stdin = None,
    versus_stdin: Annotated[str | None, "the other run's FILE"] = None,
    timeout_ms: int | None = None,
) -> Told:
    """Run two commands: the first step and the first value in which they differ."""
    reply = await call.anew().ask(
        "diff",
        waits=True,
        words=command,
        versus=(versus,) if versus is not None else (),
        function=function,
        cwd=cwd,
        env=_pairs(env),
        stdin=stdin,
        versus_stdin=versus_stdin,
        timeout=seconds(timeout_ms),
    )
    return Told(reply.text, {"diff": reply.data})
