"""XcodeBuildMCP's tools that set, show and clear a session's defaults."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from debugger.errors import Code, DebuggerError
from debugger.mcp import defaults
from debugger.mcp.call import Told, ToolCall
from debugger.mcp.envelope import invalid
from debugger.mcp.tool import Toolset

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
) -> Told:
    """Set the session defaults, should be called at least once to set tool defaults."""
    if call.memory.of_many:
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            "clients cannot be told apart on this connection, so none has defaults",
            hint="give simulatorId, simulatorName and bundleId with each call",
        )
    new = {"simulatorId": simulator_id, "simulatorName": simulator_name, "bundleId": bundle_id}
    problem = defaults.conflict(new, (defaults.SIMULATOR,))
    if problem is not None:
        raise invalid(problem, argument=defaults.SIMULATOR[0])
    found, notices = defaults.changed(call.memory.defaults, new, (defaults.SIMULATOR,))
    call.memory.defaults = found
    noticed = "\nNotices:\n- " + "\n- ".join(notices) if notices else ""
    return Told(f"Defaults updated:\n{_shown(found)}{noticed}", found)


@TOOLS.tool(
    "session_show_defaults",
    title="Show Session Defaults",
    result=_RESULT,
    session_key=None,
    failure=_FAILURE,
    reads_only=True,
)
async def session_show_defaults(call: ToolCall) -> Told:
    """Show current session defaults."""
    return Told(_shown(call.memory.defaults), dict(call.memory.defaults))


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
) -> Told:
    """Clear session defaults."""
    if all_ or keys is None:
        call.memory.defaults = {}
    else:
        kept = call.memory.defaults.items()
        call.memory.defaults = {name: value for name, value in kept if name not in keys}
    return Told("Session defaults cleared", dict(call.memory.defaults))


def _shown(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)
