"""The tool that shows what expressions were at places of a whole run."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import RARE, Toolset
from debugger.mcp.tools.session_tools import (
    Adapter,
    Command,
    Env,
    Stdin,
    TimeoutMs,
    environment_pairs,
    to_seconds,
)

TOOLS = Toolset()


@TOOLS.tool(
    "debug_probe",
    title="Values over a run",
    result={"outcome": str, "hits": int, "probe": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_probe(
    call: ToolCall,
    command: Command = (),
    *,
    at: Annotated[dict[str, str], "{FILE:LINE or FUNCTION: 'expr, expr'}"],
    when: Annotated[str | None, "condition"] = None,
    limit: Annotated[int | None, "end the run after so many hits of each place", RARE] = None,
    start: Annotated[str | None, "first hit, or time: 100, 2.5s", RARE] = None,
    end: Annotated[str | None, "last hit, or time", RARE] = None,
    pid: int | None = None,
    output: Annotated[bool, "show what it wrote", RARE] = False,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: a table of expressions' values, each time that it comes to a place."""
    reply = await call.without_session().run_command(
        "probe",
        waits=True,
        words=command,
        at=tuple(at.items()),
        when=(when,) if when is not None else (),
        limit=limit,
        start=start,
        end=end,
        pid=pid,
        output=output,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
        timeout=to_seconds(timeout_ms),
    )
    hits = sum(place.get("hits", 0) for place in reply.data.get("places", ()))
    return ToolAnswer(
        reply.text, {"outcome": reply.data.get("outcome"), "hits": hits, "probe": reply.data}
    )
