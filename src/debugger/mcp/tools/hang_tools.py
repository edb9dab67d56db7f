"""The tools that say why a program hangs, and who wrote a value."""

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
    "debug_hang",
    title="Why it hangs",
    result={"kind": str, "cause": str, "hang": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_hang(
    call: ToolCall,
    command: Command = (),
    *,
    pid: int | None = None,
    after_ms: Annotated[int | None, "when to look at the command (3000)", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
) -> ToolAnswer:
    """Say why it hangs: deadlock with owners, busy loop, what it waits for."""
    reply = await call.without_session().run_command(
        "hang",
        waits=True,
        words=command,
        pid=pid,
        after=to_seconds(after_ms),
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
    )
    return ToolAnswer(
        reply.text,
        {"kind": reply.data["kind"], "cause": reply.data["cause"], "hang": reply.data},
    )


@TOOLS.tool(
    "debug_who_wrote",
    title="Who wrote a value",
    result={"cause": str, "value": str, "who_wrote": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_who_wrote(
    call: ToolCall,
    expression: Annotated[str, "order->total"],
    at: Annotated[str, "FILE:LINE or FUNCTION"],
    command: Command,
    *,
    hit: Annotated[int | None, "Nth time there"] = None,
    when: Annotated[str, "condition there"] = "",
    until: Annotated[str | None, "writes after it only up to here", RARE] = None,
    limit: Annotated[int | None, "writes seen", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: which line wrote the value that is seen at a place, and all others."""
    reply = await call.without_session().run_command(
        "who-wrote",
        waits=True,
        expression=expression,
        at=at,
        words=command,
        hit=hit,
        when=when,
        until=until,
        limit=limit,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
        timeout=to_seconds(timeout_ms),
    )
    found: dict[str, Any] = {"cause": reply.data["cause"], "who_wrote": reply.data}
    if reply.data.get("value") is not None:
        found["value"] = reply.data["value"]
    return ToolAnswer(reply.text, found)
