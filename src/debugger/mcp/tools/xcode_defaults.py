"""XcodeBuildMCP's tools that set, show and clear a session's defaults."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import argument_defaults
from debugger.mcp.error_envelope import invalid_arguments
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset

TOOLS = Toolset()
_RESULT = {"simulatorId": str, "simulatorName": str, "bundleId": str}
_FAILURE = "Failed to set session defaults"


@TOOLS.tool(
    "session_set_defaults",
    title="Set Session Defaults",
    result=_RESULT,
    session_key=None,
    failure=_FAILURE,
    destructive=True,
)
async def session_set_defaults(
    call: ToolCall,
    *,
    simulator_id: str | None = None,
    simulator_name: str | None = None,
    bundle_id: str | None = None,
) -> ToolAnswer:
    """Set the session defaults, should be called at least once to set tool defaults."""
    if call.memory.of_many:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "clients cannot be told apart on this connection, so none has defaults",
            hint="give simulatorId, simulatorName and bundleId with each call",
        )
    new = {"simulatorId": simulator_id, "simulatorName": simulator_name, "bundleId": bundle_id}
    problem = argument_defaults.find_conflict(new, (argument_defaults.SIMULATOR,))
    if problem is not None:
        raise invalid_arguments(problem, argument=argument_defaults.SIMULATOR[0])
    found, notices = argument_defaults.change_defaults(
        call.memory.defaults, new, (argument_defaults.SIMULATOR,)
    )
    call.memory.defaults = found
    noticed = "\nNotices:\n- " + "\n- ".join(notices) if notices else ""
    return ToolAnswer(f"Defaults updated:\n{_defaults_text(found)}{noticed}", found)


@TOOLS.tool(
    "session_show_defaults",
    title="Show Session Defaults",
    result=_RESULT,
    session_key=None,
    failure=_FAILURE,
    reads_only=True,
)
async def session_show_defaults(call: ToolCall) -> ToolAnswer:
    """Show current session defaults."""
    return ToolAnswer(_defaults_text(call.memory.defaults), dict(call.memory.defaults))


@TOOLS.tool(
    "session_clear_defaults",
    title="Clear Session Defaults",
    result=_RESULT,
    session_key=None,
    failure=_FAILURE,
    destructive=True,
)
async def session_clear_defaults(
    call: ToolCall,
    *,
    keys: Annotated[
        tuple[Literal["simulatorId", "simulatorName", "bundleId"], ...] | None, "default: all"
    ] = None,
    all_: bool = False,
) -> ToolAnswer:
    """Clear session defaults."""
    if all_ or keys is None:
        call.memory.defaults = {}
    else:
        kept = call.memory.defaults.items()
        call.memory.defaults = {name: value for name, value in kept if name not in keys}
    return ToolAnswer("Session defaults cleared", dict(call.memory.defaults))


def _defaults_text(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)
