"""The tool that tries a change at a stop."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import RARE, Toolset
from debugger.mcp.tools.session_tools import TimeoutMs, to_seconds

TOOLS = Toolset()


@TOOLS.tool(
    "debug_try",
    title="Try a change",
    result={"held": bool, "verdict": str, "try": dict[str, Any]},
    destructive=True,
)
async def debug_try(
    call: ToolCall,
    changes: Annotated[tuple[str, ...], "x=3, or return 5"],
    *,
    until: Annotated[str | None, "FILE:LINE"] = None,
    expect: Annotated[str | None, "condition"] = None,
    here: Annotated[bool, "in the session itself", RARE] = False,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Try a change at a stop, in a second run: does what you expect hold? The session stays."""
    reply = await call.run_command(
        "try",
        waits=True,
        words=changes,
        until=until,
        expect=expect,
        here=here,
        timeout=to_seconds(timeout_ms),
    )
    found: dict[str, Any] = {"verdict": reply.data["verdict"], "try": reply.data}
    held = (reply.data.get("expected") or {}).get("held")
    if held is not None:
        found["held"] = held
    return ToolAnswer(reply.text, found)
