"""Keeps what XcodeBuildMCP's tools need of a session, and formats their answers in its wording."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from debugger.daemon.daemon_client import DaemonReply
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall, ToolFailure, invalid_arguments
from debugger.mcp.tool_definition import Toolset

TEXT_MAX = 16_000  # characters of one answer


def stack_text(
    thread: int, frames: Sequence[Mapping[str, Any]], *, name: str = "", left_out: int = 0
) -> str:
    """Format a thread's stack, innermost frame first."""
    label = f"Thread {thread} ({name})" if name else f"Thread {thread}"
    if not frames:
        return f"{label}: no stack frames."
    lines = [
        f"frame #{one.get('index', number)}: {one['function']} "
        f"at {one.get('file') or 'unknown'}:{one.get('line') or 0}"
        for number, one in enumerate(frames)
    ]
    if left_out > 0:
        lines.append(f"… {left_out} more: maxFrames")
    return "\n".join([label, *lines])


def variables_text(section: str, found: Sequence[Mapping[str, Any]], total: int) -> str:
    """Format a scope's variables below its name, with a count of the omitted ones."""
    if not found:
        return f"{section}:\n  (no variables)"
    lines: list[str] = []
    remaining = TEXT_MAX
    for one in found:
        line = f"  {one['name']}{_of_type(one.get('type'))} = {one['value']}"
        remaining -= len(line) + 1
        if remaining < 0:
            break
        lines.append(line)
    if total > len(lines):
        lines.append(f'  … {total - len(lines)} more: debug_lldb_command "frame variable NAME"')
    return "\n".join([f"{section}:", *lines])


def _of_type(name: str | None) -> str:
    return f" ({name})" if name else ""


def output_text(text: str) -> str:
    """Truncate the output of a debugger command, with its full length."""
    stripped = text.strip()
    if len(stripped) <= TEXT_MAX:
        return stripped
    return (
        f"{stripped[:TEXT_MAX]}\n… {len(stripped) - TEXT_MAX} more characters: ask for less of it"
    )


def attached_text(
    status: Mapping[str, Any],
    simulator: str,
    *,
    is_current: bool,
    is_running: bool,
    warnings: Sequence[str] = (),
) -> str:
    """Describe a new session, and the possible next steps."""
    session = status["session"]
    label = "DAP debugger" if status.get("backend") == "dap" else "LLDB"
    current = (
        "This session is now the current debug session."
        if is_current
        else "This session is not set as the current session."
    )
    resumed = (
        "Execution resumed after attach."
        if is_running
        else "Execution is paused. Use debug_continue to resume before UI automation."
    )
    key = f'debugSessionId: "{session}"'
    warned = "".join(f"⚠️ {one}\n\n" for one in warnings)
    return (
        f"{warned}✅ Attached {label} to simulator process {status.get('pid')} ({simulator}).\n\n"
        f"Debug session ID: {session}\n{current}\n{resumed}\n\nNext steps:\n"
        f'1. Add a breakpoint: debug_breakpoint_add({{ {key}, file: "...", line: 123 }})\n'
        f"2. Continue execution: debug_continue({{ {key} }})\n"
        f"3. Show call stack: debug_stack({{ {key} }})"
    )


def breakpoint_text(one: Mapping[str, Any]) -> str:
    """Describe a new breakpoint, with the reason if it is not bound."""
    number = one["id"]
    line = one.get("line") or one.get("requested_line")
    is_by_name = one.get("function") and not one.get("requested_line")
    where = f"on {one['function']}" if is_by_name else f"at {one.get('file')}:{line}"
    lines = [f"✅ Breakpoint {number} set.", "", f"Set breakpoint {number} {where}"]
    if one.get("condition"):
        lines[-1] += f" if {one['condition']}"
    if not one.get("verified"):
        lines.append(f"⚠️ Not bound yet: {one.get('why_unbound') or 'it may bind later'}")
    return "\n".join(lines)


NO_SESSION = "No active debug session. Provide debugSessionId or attach first."


def current_session(call: ToolCall) -> str:
    """Return the id of the call's session: the named one, else the current one.

    The current one is this connection's: the daemon's own may be another client's.

    Raises:
        DebuggerError: NO_SESSION.
    """
    name = call.session or call.memory.session
    if not name:
        raise DebuggerError(ErrorCode.NO_SESSION, NO_SESSION)
    return name


async def request(
    call: ToolCall, command: str, *, to_fetch: str | None = None, waits: bool = False, **args: Any
) -> DaemonReply:
    """Run one of the daemon's commands in the call's session.

    `to_fetch` names data that a running program cannot provide.

    Raises:
        DebuggerError: In XcodeBuildMCP's wording if it has any.
    """
    name = current_session(call)
    try:
        return await replace(call, session=name).run_command(command, waits=waits, **args)
    except DebuggerError as error:
        if error.code is ErrorCode.NO_SESSION:
            raise _session_gone(call, name) from error
        if (
            error.code is ErrorCode.WRONG_STATE
            and to_fetch is not None
            and "running" in error.message
        ):
            raise is_running(to_fetch) from error
        raise


def is_running(to_fetch: str) -> DebuggerError:
    """Return the failure to fetch data of a running program."""
    return DebuggerError(
        ErrorCode.WRONG_STATE, f"Process is running; pause or hit a breakpoint to fetch {to_fetch}."
    )


def _session_gone(call: ToolCall, name: str) -> DebuggerError:
    if call.memory.session == name:
        call.remember(None)
    if call.session:
        return DebuggerError(ErrorCode.NO_SESSION, f"Debug session not found: {name}")
    return DebuggerError(ErrorCode.NO_SESSION, NO_SESSION)


Pair = tuple[str, str]

# The arguments of XcodeBuildMCP's tools that have defaults, and where they may be set for good.
SETTINGS: Final[Mapping[str, str]] = {
    "simulatorId": "simulator.id",
    "simulatorName": "simulator.name",
    "bundleId": "simulator.bundle_id",
}
VARIABLES: Final[Mapping[str, str]] = {
    "simulatorId": "XCODEBUILDMCP_SIMULATOR_ID",
    "simulatorName": "XCODEBUILDMCP_SIMULATOR_NAME",
    "bundleId": "XCODEBUILDMCP_BUNDLE_ID",
}
SIMULATOR: Final[Pair] = ("simulatorId", "simulatorName")
TARGET: Final[Pair] = ("bundleId", "pid")


def given_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Drop arguments that count as not given."""
    return {name: value for name, value in arguments.items() if value is not None and value != ""}


def find_conflict(arguments: Mapping[str, Any], pairs: Iterable[Pair]) -> str | None:
    """Return the conflict between two exclusive arguments; None if there is none."""
    named = given_arguments(arguments)
    for first, second in pairs:
        if first in named and second in named:
            return f"{first} and {second} are mutually exclusive. Provide only one."
    return None


def merge_defaults(
    explicit: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], pairs: Iterable[Pair]
) -> dict[str, Any]:
    """Complete a call's arguments from layers of defaults, the strongest first.

    A member of an exclusive pair in a stronger layer drops the other member's default; of two in
    one layer the pair's first is kept.
    """
    found: dict[str, Any] = {}
    for layer in (explicit, *layers):
        named = given_arguments(layer)
        # Of the stronger layers only: within one layer the pair's first member wins.
        taken = set(found)
        for first, second in pairs:
            if {first, second} & taken:
                named.pop(first, None)
                named.pop(second, None)
            elif first in named and layer is not explicit:
                named.pop(second, None)
        found |= {name: value for name, value in named.items() if name not in found}
    return found


def change_defaults(
    current: Mapping[str, Any], new: Mapping[str, Any], pairs: Iterable[Pair]
) -> tuple[dict[str, Any], list[str]]:
    """Merge new defaults into others; return the result and the cleared names."""
    found, notices = dict(current), []
    for first, second in pairs:
        for set_now, other in ((first, second), (second, first)):
            if set_now in given_arguments(new) and found.pop(other, None) is not None:
                notices.append(f"Cleared {other} because {set_now} was set.")
    return found | given_arguments(new), notices


def explain_missing(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return how to give one of several required arguments; None if one is given."""
    if any(name in given_arguments(arguments) for name in names):
        return None
    ways = " OR ".join(f'session_set_defaults {{ "{name}": "..." }}' for name in names)
    return f"Provide {' or '.join(names)}\nSet with: {ways}"


def of_settings(settings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the defaults in the configuration's values (`config`)."""
    values = {str(one["name"]): one.get("value") for one in settings}
    return given_arguments({name: values.get(setting) for name, setting in SETTINGS.items()})


def of_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the defaults in the environment's variables."""
    return given_arguments({name: env.get(variable) for name, variable in VARIABLES.items()})


TOOLS = Toolset()
_PAIRS = (SIMULATOR, TARGET)
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
    arguments = await _merged_arguments(
        call,
        {
            "simulatorId": simulator_id,
            "simulatorName": simulator_name,
            "bundleId": bundle_id,
            "pid": pid,
        },
        waits=bool(wait_for),
    )
    simulator = arguments.get("simulatorId") or arguments["simulatorName"]
    before = (
        None
        if make_current
        else (await call.without_session().run_command("sessions")).data.get("current")
    )
    reply = await _attach_app(
        call.without_session(),
        simulator=simulator,
        bundle_id=arguments.get("bundleId"),
        what=arguments.get("pid"),
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
    if "simulatorId" not in arguments and _UDID.fullmatch(simulator):
        warnings.insert(
            0,
            f"The simulatorName '{simulator}' appears to be a UUID. "
            "Consider using simulatorId parameter instead.",
        )
    text = attached_text(
        status,
        udid,
        is_current=is_current,
        is_running=status.get("state") == "running",
        warnings=warnings,
    )
    fields = {
        "debugSessionId": session,
        "simulatorId": udid,
        "pid": status.get("pid"),
        "backend": status.get("backend"),
        "state": status.get("state"),
        "isCurrent": is_current,
    }
    return ToolAnswer(text, {key: value for key, value in fields.items() if value is not None})


async def _merged_arguments(
    call: ToolCall, explicit: Mapping[str, Any], *, waits: bool
) -> dict[str, Any]:
    """Return the arguments completed by defaults, checked before anything runs.

    Raises:
        DebuggerError: For missing arguments, or exclusive ones.
    """
    problem = find_conflict(explicit, _PAIRS)
    if problem is not None:
        raise invalid_arguments(problem)
    if explicit["pid"] is not None and explicit["pid"] < 1:
        raise invalid_arguments("Number must be greater than 0", argument="pid")
    if explicit["pid"] is not None and waits:
        raise invalid_arguments(
            "waitFor is only valid when attaching by bundleId. "
            "For PID attach, omit waitFor or set it to false."
        )
    found = merge_defaults(explicit, [call.memory.defaults], _PAIRS)
    # The configuration costs a request, so it is read only if something is missing.
    if any(explain_missing(found, pair) for pair in _PAIRS):
        settings = of_settings((await call.run_command("config")).data.get("settings", ()))
        layers = [call.memory.defaults, settings, of_environment(os.environ)]
        found = merge_defaults(explicit, layers, _PAIRS)
    lacking = explain_missing(found, SIMULATOR)
    if lacking is not None:
        raise ToolFailure("Missing required session defaults", lacking)
    if explain_missing(found, TARGET):
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
            "clients cannot be distinguished on this connection, so none has defaults",
            hint="give simulatorId, simulatorName and bundleId with each call",
        )
    new = {"simulatorId": simulator_id, "simulatorName": simulator_name, "bundleId": bundle_id}
    problem = find_conflict(new, (SIMULATOR,))
    if problem is not None:
        raise invalid_arguments(problem, argument=SIMULATOR[0])
    found, notices = change_defaults(call.memory.defaults, new, (SIMULATOR,))
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
        items = call.memory.defaults.items()
        call.memory.defaults = {name: value for name, value in items if name not in keys}
    return ToolAnswer("Session defaults cleared", dict(call.memory.defaults))


def _defaults_text(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)
