"""The tool that says why a test fails."""

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


@TOOLS.tool(
    "debug_test",
    title="Why a test fails",
    result={"outcome": str, "cause": str, "test": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_test(
    call: ToolCall,
    command: Command,
    *,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    keep: Annotated[bool, "leave it stopped there", RARE] = False,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run tests (pytest, go test, cargo test, jest, ctest, …): why the first failure failed."""
    reply = await call.without_session().run_command(
        "test",
        waits=True,
        words=command,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        keep=keep,
        timeout=to_seconds(timeout_ms),
    )
    if keep and reply.data.get("session"):
        call.remember(reply.data["session"])
    found: dict[str, Any] = {"outcome": reply.data["outcome"], "test": reply.data}
    if reply.data.get("cause") is not None:
        found["cause"] = reply.data["cause"]
    return ToolAnswer(reply.text, found)
