"""The tool that shows the answers to questions again."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.call import Told, ToolCall
from debugger.mcp.tool import Toolset

TOOLS = Toolset()


@TOOLS.tool(
    "debug_evidence",
    title="Answers so far",
    result={"evidence": list[Any], "text": str},
    session_key=None,
    reads_only=True,
)
async def debug_evidence(call: ToolCall, answer: Annotated[str | None, "e1"] = None) -> Told:
    """List the answers so far, or show one again; stale where sources changed."""
    if answer is None:
        reply = await call.anew().ask("evidence_list")
    else:
        reply = await call.anew().ask("evidence_show", number=answer)
    return Told(reply.text, reply.data)
