"""The tool that says what is here to debug with."""

from __future__ import annotations

from typing import Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset

TOOLS = Toolset()


@TOOLS.tool(
    "doctor", title="Doctor", result={"checks": list[Any]}, session_key=None, reads_only=True
)
async def doctor(call: ToolCall) -> ToolAnswer:
    """Check adapters, backends, versions, the selected backend, ptrace and simulators."""
    reply = await call.run_command("doctor", waits=True)
    return ToolAnswer(reply.text, reply.data)
