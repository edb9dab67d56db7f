"""Defines the tools that inspect a program: stops, values, timeline, and any other command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from msgspec import Struct

from debugger.cli import command_help
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall, answer_each, failed_text, one_of
from debugger.mcp.tool_definition import RARE, Toolset
from debugger.model.command_registry import COMMANDS
from debugger.model.group_merge import BY_LINE

TOOLS = Toolset()
_HERE = frozenset({"mcp", "completion", "daemon"})


@TOOLS.tool(
    "debug_stack",
    title="Stack",
    result={"thread": int, "frames": list[Any], "threads": list[Any], "total": int},
    reads_only=True,
    of_group=True,
)
async def debug_stack(
    call: ToolCall,
    *,
    thread_index: Annotated[int | None, "from 0", RARE] = None,
    max_frames: Annotated[int | None, "", RARE] = None,
    all_threads: bool = False,
    with_locals: bool = False,
    by: Annotated[str, "of a group: line, function, state", RARE] = BY_LINE,
) -> ToolAnswer:
    """Show the stack of the current thread, another, or all."""
    if all_threads:
        reply = await call.run_command("backtrace", every=True, limit=max_frames, by=by)
        return ToolAnswer(reply.text, reply.data)
    thread = await thread_number(call, thread_index) if thread_index is not None else None
    reply = await call.run_command(
        "backtrace", thread=thread, limit=max_frames, with_locals=with_locals, by=by
    )
    return ToolAnswer(reply.text, reply.data)


async def thread_number(call: ToolCall, index: int) -> int:
    """Return a thread's id by its index.

    Raises:
        DebuggerError: USAGE, in XcodeBuildMCP's wording.
    """
    threads = (await call.run_command("threads")).data["threads"]
    if not 0 <= index < len(threads):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"Thread index {index} is out of range.",
            hint=f"there are {len(threads)}, from 0",
        )
    return int(threads[index]["id"])


@TOOLS.tool(
    "debug_variables",
    title="Variables",
    result={"variables": list[Any], "total": int},
    reads_only=True,
    of_group=True,
)
async def debug_variables(
    call: ToolCall,
    *,
    frame_index: Annotated[int | None, "0 is the innermost"] = None,
    ref: Annotated[str | None, "look inside (v3)"] = None,
    start: Annotated[int, "", RARE] = 0,
    count: Annotated[int | None, "", RARE] = None,
) -> ToolAnswer:
    """Show a frame's arguments and locals, or page through a value."""
    if ref:
        reply = await call.run_command("vars", ref=ref, start=start, count=count)
        return ToolAnswer(reply.text, reply.data)
    await select(call, frame_index)
    reply = await call.run_command("locals")
    return ToolAnswer(reply.text, reply.data)


async def select(call: ToolCall, frame_index: int | None) -> None:
    """Make a frame the current one.

    Raises:
        DebuggerError: NOT_FOUND, in XcodeBuildMCP's wording.
    """
    if frame_index is None:
        return
    try:
        await call.run_command("frame", number=frame_index)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"Frame index {frame_index} is out of range.", hint=error.message
        ) from error


@TOOLS.tool(
    "debug_evaluate",
    title="Evaluate",
    result={"value": str, "type": str, "ref": str, "children": list[Any]},
    destructive=True,
    of_group=True,
)
async def debug_evaluate(
    call: ToolCall,
    expression: str,
    *,
    frame_index: int | None = None,
) -> ToolAnswer:
    """Evaluate an expression of the program's language; it may change the program."""
    await select(call, frame_index)
    reply = await call.run_command("eval", expression=expression)
    return ToolAnswer(reply.text, reply.data)


@TOOLS.tool("debug_command", title="Any command", result={}, destructive=True)
async def debug_command(
    call: ToolCall, command: Annotated[str, "as after `debugger `"]
) -> ToolAnswer:
    """Run any other command: watch EXPR, until LOC, catch raised, memory read &x, help."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"cannot be read: {error}", hint="close the quotes"
        ) from error
    if words[:1] == ["debugger"]:
        words = words[1:]
    if not words:
        raise DebuggerError(ErrorCode.USAGE, "which command?", hint='{"command": "help"}')
    if words[0] == "help" or not {"--help", "-h"}.isdisjoint(words):
        return ToolAnswer(
            command_help.help_text([word for word in words if word != "help"], COMMANDS)
        )
    if words[0] in _HERE:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"{words[0]} is for a shell, not for a session",
            hint=f"a person gives it in a shell: debugger {words[0]}",
        )
    if "--follow" in words:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "--follow has no end here",
            hint="call again for what came since",
        )
    reply = await call.run_command_line(words)
    if words[0] == "focus":
        members = reply.data["members"]
        call.remember(members[0]["session"] if reply.data["focused"] else reply.data["group"])
    return ToolAnswer(reply.text, reply.data)


_DEFAULT = "u64"
_INTEGERS = frozenset({"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"})
_REAL = frozenset({"f32", "f64"})


class ToolTarget(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A variable (any expression that has a place), or an address with its type."""

    variable: str | None = None
    address: str | None = None
    type: str | None = None


class ToolWrite(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What to write where."""

    variable: str | None = None
    address: str | None = None
    value: float | int | str | bool
    type: str | None = None


@TOOLS.tool("debug_read", title="Read values", result={"results": list[Any]}, reads_only=True)
async def debug_read(
    call: ToolCall,
    targets: Annotated[tuple[ToolTarget, ...], "type: i8…u64, f32, f64, pointer"],
) -> ToolAnswer:
    """Read variables or addresses; with frida or Python also while it runs."""
    _require_targets(targets)
    reply = await call.run_command("read", names=tuple(_target_name(one) for one in targets))
    if "values" not in reply.data:  # of a group: each with the members that have it
        return ToolAnswer(reply.text, {"results": reply.data["rows"]})
    pairs = zip(targets, reply.data["values"], strict=True)
    return ToolAnswer(reply.text, {"results": [_read_result(one, found) for one, found in pairs]})


def _target_name(one: ToolTarget | ToolWrite) -> str:
    """Format a target as the commands `read` and `write` expect it."""
    if one_of(variable=one.variable, address=one.address) == "variable":
        return str(one.variable)
    return f"{one.address}:{one.type or _DEFAULT}"


def _read_result(target: ToolTarget, found: Mapping[str, Any]) -> dict[str, Any]:
    if "error" in found:
        named = {"variable": target.variable, "address": target.address}
        return {key: name for key, name in named.items() if name} | {"error": found["error"]}
    if target.variable:
        fields = {key: found[key] for key in ("value", "type", "ref") if key in found}
        return {"variable": target.variable, **fields}
    kind = target.type or _DEFAULT
    return {"address": target.address, "value": _plain_number(found["value"], kind), "type": kind}


@TOOLS.tool("debug_write", title="Write values", result={"results": list[Any]}, destructive=True)
async def debug_write(call: ToolCall, targets: tuple[ToolWrite, ...]) -> ToolAnswer:
    """Write variables or addresses; answers with previousValue and newValue."""
    _require_targets(targets)
    names = [_target_name(one) for one in targets]
    named = {
        name if names.count(name) == 1 else f"{name} ({at})": one
        for at, (name, one) in enumerate(zip(names, targets, strict=True), start=1)
    }
    replies, failures = await answer_each(
        {
            key: partial(
                call.run_command, "write", name=_target_name(one), value=_literal_text(one.value)
            )
            for key, one in named.items()
        }
    )
    results = [
        _write_result(one, replies[key].data)
        if key in replies
        else _read_result(ToolTarget(one.variable, one.address), {"error": failures[key].message})
        for key, one in named.items()
    ]
    text = "".join(one.text for one in replies.values()) + failed_text(failures)
    return ToolAnswer(text, {"results": results})


def _write_result(target: ToolWrite, found: Mapping[str, Any]) -> dict[str, Any]:
    previous, new = found.get("previous"), found.get("value")
    if target.variable:
        known = {key: found[key] for key in ("address", "type") if found.get(key)}
        values = {"previousValue": previous, "newValue": new}
        return {"variable": target.variable, **known, **values}
    kind = target.type or _DEFAULT
    values = {"previousValue": _plain_number(previous, kind), "newValue": _plain_number(new, kind)}
    return {"address": target.address, **values}


def _plain_number(value: Any, kind: str) -> Any:
    """Convert a number of a protocol type; an address stays a text."""
    try:
        return float(value) if kind in _REAL else int(value) if kind in _INTEGERS else value
    except (TypeError, ValueError):
        return value


def _literal_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _require_targets(targets: tuple[Any, ...]) -> None:
    if not targets:
        raise DebuggerError(ErrorCode.USAGE, "no targets", hint='{"targets": [{"variable": "x"}]}')


@TOOLS.tool(
    "debug_query",
    title="What happened",
    result={"events": list[Any], "next": int, "eventsDropped": int, "total": int},
    reads_only=True,
    of_group=True,
)
async def debug_query(
    call: ToolCall,
    *,
    event_type: tuple[str, ...] = (),
    function: Annotated[str | None, "*part*", RARE] = None,
    file: Annotated[str | None, "", RARE] = None,
    text: str | None = None,
    thread: Annotated[int | None, "", RARE] = None,
    returned: Annotated[str | None, "<0, *text*", RARE] = None,
    min_duration: Annotated[str | None, "5ms", RARE] = None,
    max_duration: Annotated[str | None, "", RARE] = None,
    time_from: Annotated[str | None, "-5s", RARE] = None,
    time_to: Annotated[str | None, "", RARE] = None,
    after_event_id: int | None = None,
    limit: int = 50,
) -> ToolAnswer:
    """Show what happened: output, stop, logpoint, function_enter, crash, exit."""
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
