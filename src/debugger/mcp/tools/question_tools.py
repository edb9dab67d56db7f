"""The tools that answer a question about a whole run."""

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
    "debug_crash",
    title="Why it crashes",
    result={"outcome": str, "cause": str, "kind": str, "crash": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_crash(
    call: ToolCall,
    command: Command = (),
    *,
    pid: int | None = None,
    core: Annotated[str | None, "FILE, of the command"] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
    raised: Annotated[bool, "the first exception, also a caught one", RARE] = False,
    keep: Annotated[bool, "leave it stopped there", RARE] = False,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command line to its crash: the cause in a line, source, values, callers."""
    reply = await call.without_session().run_command(
        "crash",
        waits=True,
        words=command,
        pid=pid,
        core=core,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
        raised=raised,
        keep=keep,
        timeout=to_seconds(timeout_ms),
    )
    if keep and reply.data.get("session"):
        call.remember(reply.data["session"])
    found: dict[str, Any] = {"crash": reply.data}
    for key in ("outcome", "cause", "kind"):
        if reply.data.get(key) is not None:
            found[key] = reply.data[key]
    return ToolAnswer(reply.text, found)
