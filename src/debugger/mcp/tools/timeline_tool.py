"""The tool that asks what happened."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset

TOOLS = Toolset()


@TOOLS.tool(
    "debug_query",
    title="What happened",
    result={"events": list[Any], "next": int, "eventsDropped": int, "total": int},
    reads_only=True,
)
async def debug_query(
    call: ToolCall,
    *,
    event_type: Annotated[
        tuple[str, ...], "output, stop, logpoint, function_enter, crash, exit, …"
    ] = (),
    function: Annotated[str | None, "*part*"] = None,
    file: str | None = None,
    text: str | None = None,
    thread: int | None = None,
    returned: Annotated[str | None, "<0, *text*"] = None,
    min_duration: Annotated[str | None, "5ms"] = None,
    max_duration: str | None = None,
    time_from: Annotated[str | None, "-5s"] = None,
    time_to: str | None = None,
    after_event_id: Annotated[int | None, "the last answer's next"] = None,
    limit: int = 50,
) -> ToolAnswer:
    """Show what happened: output, stops, logpoints, traced calls, crashes, exits."""
    since = str(after_event_id) if after_event_id is not None else time_from
    reply = await call.run_command(
        "events",
        kinds=event_type,
        function=function,
        file=file,
        text=text,
        thread=thread,
        returned=returned,
        min_duration=min_duration,
        max_duration=max_duration,
        since=since,
        until=time_to,
        limit=limit,
    )
    renamed = {"dropped": "eventsDropped"}
    return ToolAnswer(
        reply.text, {renamed.get(key, key): value for key, value in reply.data.items()}
    )
