"""The tool that shows the answers to questions again."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset

TOOLS = Toolset()


@TOOLS.tool(
    "debug_evidence",
    title="Answers so far",
    result={"evidence": list[Any], "text": str},
    session_key=None,
    reads_only=True,
)
async def debug_evidence(call: ToolCall, answer: Annotated[str | None, "e1"] = None) -> ToolAnswer:
    """List the answers so far, or show one again; stale where sources changed."""
    if answer is None:
        reply = await call.without_session().run_command("evidence_list")
    else:
        reply = await call.without_session().run_command("evidence_show", number=answer)
    return ToolAnswer(reply.text, reply.data)
