"""The tool that says what is here to debug with."""

from __future__ import annotations

from typing import Any

from debugger.mcp.call import Told, ToolCall
from debugger.mcp.tool import Toolset

TOOLS = Toolset()


@TOOLS.tool(
    "doctor", title="Doctor", result={"checks": list[Any]}, session_key=None, reads_only=True
)
async def doctor(call: ToolCall) -> Told:
    """Check adapters, backends, versions, the selected backend, ptrace and simulators."""
    reply = await call.ask("doctor", waits=True)
    return Told(reply.text, reply.data)
