"""XcodeBuildMCP's tool that attaches to an app on a simulator."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp import argument_defaults
from debugger.mcp.daemon_client import DaemonReply
from debugger.mcp.error_envelope import ToolFailure, invalid_arguments
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import Toolset
from debugger.mcp.tools import xcode_texts

TOOLS = Toolset()
_PAIRS = (argument_defaults.SIMULATOR, argument_defaults.TARGET)
_UDID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@TOOLS.tool(
    "debug_attach_sim",
    title="Attach to Simulator App",
    result={
        "debugSessionId": str,
        "simulatorId": str,
        "pid": int,
        "backend": str,
        "state": Literal["running", "stopped", "terminated"],
        "isCurrent": bool,
    },
    session_key=None,
    failure="Failed to attach debugger",
)
async def debug_attach_sim(
    call: ToolCall,
    *,
    simulator_id: Annotated[
        str | None, "UUID of the simulator. Provide EITHER this OR simulatorName, not both"
    ] = None,
    simulator_name: Annotated[
        str | None, "such as 'iPhone 16'. Provide EITHER this OR simulatorId, not both"
    ] = None,
    bundle_id: str | None = None,
    pid: Annotated[int | None, "without bundleId and without waitFor"] = None,
    wait_for: Annotated[bool | None, "Wait for the process to appear; with bundleId"] = None,
    continue_on_attach: Annotated[bool, "default: true"] = True,
    make_current: Annotated[bool, "Set debug session as current (default: true)"] = True,
) -> ToolAnswer:
    """Attach LLDB to sim app."""
    wanted = await _merged_arguments(
        call,
        {
            "simulatorId": simulator_id,
            "simulatorName": simulator_name,
            "bundleId": bundle_id,
            "pid": pid,
        },
        waits=bool(wait_for),
    )
    simulator = wanted.get("simulatorId") or wanted["simulatorName"]
    before = (
        None
        if make_current
        else (await call.without_session().run_command("sessions")).data.get("current")
    )
    reply = await _attach_app(
        call.without_session(),
        simulator=simulator,
        bundle_id=wanted.get("bundleId"),
        what=wanted.get("pid"),
        wait_for=bool(wait_for),
        pause=not continue_on_attach,
    )
    session = str(reply.data["session"])
    if make_current:
        call.remember(session)
    elif before is not None:
        await call.without_session().run_command(
            "use", name=before
        )  # the shell's current session stays as it was, too
    # Where clients cannot be told apart none has a current session.
    is_current = call.memory.session == session
    status = (await replace(call, session=session).run_command("status")).data
    udid = str(status.get("simulator") or simulator)
    warnings = [one for one in reply.data.get("notes", ()) if udid not in one]
    if "simulatorId" not in wanted and _UDID.fullmatch(simulator):
        warnings.insert(
            0,
            f"The simulatorName '{simulator}' appears to be a UUID. "
            "Consider using simulatorId parameter instead.",
        )
    text = xcode_texts.attached_text(
        status,
        udid,
        is_current=is_current,
        is_running=status.get("state") == "running",
        warnings=warnings,
    )
    told = {
        "debugSessionId": session,
        "simulatorId": udid,
        "pid": status.get("pid"),
        "backend": status.get("backend"),
        "state": status.get("state"),
        "isCurrent": is_current,
    }
    return ToolAnswer(text, {key: value for key, value in told.items() if value is not None})


async def _merged_arguments(
    call: ToolCall, explicit: Mapping[str, Any], *, waits: bool
) -> dict[str, Any]:
    """Return the arguments with what defaults say; nothing is run before all are there.

    Raises:
        DebuggerError: For arguments that are missing, or that exclude each other.
    """
    problem = argument_defaults.find_conflict(explicit, _PAIRS)
    if problem is not None:
        raise invalid_arguments(problem)
    if explicit["pid"] is not None and explicit["pid"] < 1:
        raise invalid_arguments("Number must be greater than 0", argument="pid")
    if explicit["pid"] is not None and waits:
        raise invalid_arguments(
            "waitFor is only valid when attaching by bundleId. "
            "For PID attach, omit waitFor or set it to false."
        )
    found = argument_defaults.merge_defaults(explicit, [call.memory.defaults], _PAIRS)
    if any(argument_defaults.explain_missing(found, pair) for pair in _PAIRS):
        settings = argument_defaults.of_settings(
            (await call.run_command("config")).data.get("settings", ())
        )
        layers = [call.memory.defaults, settings, argument_defaults.of_environment(os.environ)]
        found = argument_defaults.merge_defaults(explicit, layers, _PAIRS)
    lacking = argument_defaults.explain_missing(found, argument_defaults.SIMULATOR)
    if lacking is not None:
        raise ToolFailure("Missing required session defaults", lacking)
    if argument_defaults.explain_missing(found, argument_defaults.TARGET):
        raise invalid_arguments(
            "Provide either bundleId or pid to attach.",
            tip="set session defaults via session_set_defaults",
        )
    return found


async def _attach_app(call: ToolCall, **args: Any) -> DaemonReply:
    try:
        return await call.run_command("attach", waits=True, **args)
    except DebuggerError as error:
        if error.code is ErrorCode.ADAPTER_NOT_FOUND and "xcrun" in error.message:
            raise DebuggerError(
                error.code,
                f'{error.message}. debug_attach {{"pid": …}} attaches to a process of this machine',
            ) from error
        raise
