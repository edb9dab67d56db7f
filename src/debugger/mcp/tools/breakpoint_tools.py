"""Defines the tools for breakpoints, logpoints and traces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any

from msgspec import Struct

from debugger.daemon.daemon_client import DaemonReply
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall, answer_each, failed_data, failed_text
from debugger.mcp.tool_definition import RARE, Toolset

TOOLS = Toolset()
_NO_CODE = "no code"


class ToolLocation(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A function, or a line of a file; stops from the hitCount-th hit on (0: every one)."""

    function: str | None = None
    file: str | None = None
    line: int | None = None
    condition: str | None = None
    hit_count: int = 0


class HitOptions(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Which hits count: the nth, the first so many, of a thread, below a function, by events."""

    nth: int | None = None
    first: int | None = None
    changes: bool = False
    thread: int | None = None
    inside: str | None = None
    after: str | None = None
    until: str | None = None

    def as_parameters(self) -> dict[str, Any]:
        """Return the parameters of the command."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        chosen = {name: value for name, value in given.items() if value not in {None, False}}
        return chosen | ({"nth": str(self.nth)} if self.nth is not None else {})


class LogLocation(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A function, or a line of a file, and what to write when it is passed."""

    function: str | None = None
    file: str | None = None
    line: int | None = None
    message: str
    condition: str | None = None


_Ids = Annotated[tuple[str | int, ...], "ids"]
_Hits = Annotated[HitOptions | None, "which hits of those added count", RARE]


@TOOLS.tool(
    "debug_breakpoint",
    title="Breakpoints",
    result={"breakpoints": list[Any], "removed": list[str]},
    of_group=True,
)
async def debug_breakpoint(
    call: ToolCall,
    *,
    add: Annotated[tuple[ToolLocation, ...], ""] = (),
    remove: _Ids = (),
    hits: _Hits = None,
) -> ToolAnswer:
    """Set, remove or list breakpoints."""
    if not add and not remove:
        reply = await call.run_command("breakpoint_list")
        return ToolAnswer(
            reply.text, {"breakpoints": [breakpoint_data(one) for one in reply.data["breakpoints"]]}
        )
    return await _change_breakpoints(call, "breakpoints", add, remove, hits)


@TOOLS.tool(
    "debug_logpoint", title="Logpoints", result={"logpoints": list[Any], "removed": list[str]}
)
async def debug_logpoint(
    call: ToolCall,
    *,
    add: Annotated[tuple[LogLocation, ...], "message may hold {expr}"] = (),
    remove: _Ids = (),
    hits: _Hits = None,
) -> ToolAnswer:
    """Log a message where the program passes, without stopping (debug_query)."""
    if not add and not remove:
        raise DebuggerError(
            ErrorCode.USAGE,
            "give add or remove",
            hint='{"add": [{"file": …, "line": …, "message": …}]}',
        )
    return await _change_breakpoints(call, "logpoints", add, remove, hits)


@TOOLS.tool("debug_trace", title="Trace calls", result={"traced": list[Any], "removed": list[str]})
async def debug_trace(
    call: ToolCall,
    *,
    add: Annotated[tuple[str, ...], "functions, audio::*"] = (),
    remove: _Ids = (),
    limit: Annotated[int | None, "functions a pattern", RARE] = None,
    condition: Annotated[str | None, "of a call, at its entry", RARE] = None,
    hits: _Hits = None,
) -> ToolAnswer:
    """Record the calls of functions, without stopping (debug_query)."""
    numbers = tuple(breakpoint_number(one) for one in remove)
    replies = [await call.run_command("trace_remove", ids=numbers)] if numbers else []
    if add:
        when = {"when": (condition,)} if condition is not None else {}
        chosen = {**when, **(hits.as_parameters() if hits is not None else {})}
        replies.append(await call.run_command("trace_add", patterns=add, limit=limit, **chosen))
    elif not numbers:
        replies.append(await call.run_command("trace_list"))
    traced = [_traced_pattern(one) for reply in replies for one in reply.data.get("traced", ())]
    return ToolAnswer.join_replies(
        replies, {"traced": traced, "removed": [str(one) for one in remove]}
    )


def _traced_pattern(one: dict[str, Any]) -> dict[str, Any]:
    renamed = {"left_out": "leftOut", "near_names": "nearNames"}
    fields = {renamed.get(key, key): value for key, value in one.items() if key != "id"}
    return fields | ({"id": str(one["id"])} if one["id"] is not None else {})


async def _change_breakpoints(
    call: ToolCall,
    key: str,
    add: Sequence[ToolLocation | LogLocation],
    remove: Sequence[str | int],
    hits: HitOptions | None,
) -> ToolAnswer:
    """Remove and set breakpoints after checking all of them; `key` names the set ones."""
    for place in add:
        check_location(place.function, place.file, place.line)
    numbers = {f"remove {one}": breakpoint_number(one) for one in remove}
    jobs: dict[str, Callable[[], Awaitable[DaemonReply]]] = {
        name: partial(call.run_command, "breakpoint_remove", ids=(one,))
        for name, one in numbers.items()
    }
    for at, place in enumerate(add):
        named = place.function or f"{place.file}:{place.line}"
        job = partial(
            add_breakpoint,
            call,
            place.function,
            place.file,
            place.line,
            **_breakpoint_options(place),
            **(hits.as_parameters() if hits is not None else {}),
        )
        jobs[named if named not in jobs else f"{named} ({at + 1})"] = job
    replies, failures = await answer_each(jobs)
    data = {
        key: [breakpoint_data(one.data) for name, one in replies.items() if name not in numbers],
        "removed": [str(one) for name, one in numbers.items() if name in replies],
    }
    text = "".join(one.text for one in replies.values()) + failed_text(failures)
    return ToolAnswer(text, data | ({"failed": failed_data(failures)} if failures else {}))


def _breakpoint_options(place: ToolLocation | LogLocation) -> dict[str, Any]:
    when = (place.condition,) if place.condition else ()
    if isinstance(place, LogLocation):
        return {"when": when, "log": place.message}
    return {"when": when, "hit_count": place.hit_count or None}


def check_location(function: str | None, file: str | None, line: int | None) -> None:
    """Check that a location is a function or a line of a file.

    Raises:
        DebuggerError: USAGE, in XcodeBuildMCP's wording.
    """
    hint = '{"file": "main.c", "line": 3} or {"function": "main"}'
    if function and file:
        raise DebuggerError(
            ErrorCode.USAGE, "Provide either file/line or function, not both.", hint=hint
        )
    if line is not None and not file:
        message = (
            "Provide either file/line or function, not both."
            if function
            else "file is required when line is provided."
        )
        raise DebuggerError(ErrorCode.USAGE, message, hint=hint)
    if not function and (not file or line is None):
        raise DebuggerError(ErrorCode.USAGE, "Provide file + line or function.", hint=hint)


async def add_breakpoint(
    call: ToolCall, function: str | None, file: str | None, line: int | None, **more: Any
) -> DaemonReply:
    """Set one breakpoint; one at a line without code is removed again.

    Raises:
        DebuggerError: NOT_FOUND with the nearest lines; the daemon's failure.
    """
    place = None if function else f"{file}:{line}"
    reply = await call.run_command("breakpoint_add", place=place, function=function or None, **more)
    nearest = reply.data.get("nearest_lines")
    if not reply.data.get("verified") and nearest:
        await call.run_command("breakpoint_remove", ids=(reply.data["id"],))
        raise no_code(str(file), line, nearest)
    return reply


def no_code(file: str, line: int | None, nearest: Sequence[int]) -> DebuggerError:
    """Return the failure of a breakpoint at a line without code."""
    valid = ", ".join(map(str, nearest))
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"No code at {PurePath(file).name}:{line}. Valid lines: {valid}",
        hint=f'{{"file": "{file}", "line": {nearest[0]}}}',
    )


def breakpoint_number(given: str | int) -> int:
    """Parse a breakpoint's number.

    Raises:
        DebuggerError: USAGE for anything else.
    """
    if not str(given).isdecimal() or not str(given).isascii():
        raise DebuggerError(
            ErrorCode.USAGE,
            f"not the id of a breakpoint: {given}",
            hint="debug_breakpoint lists them",
        )
    return int(given)


def breakpoint_data(one: Any) -> dict[str, Any]:
    """Return a breakpoint with the protocol's keys; unknown values are omitted."""
    known = {key: value for key, value in one.items() if value is not None}
    renamed = {"hit_count": "hitCount", "why_unbound": "whyUnbound", "near_names": "nearNames"}
    return {renamed.get(key, key): value for key, value in known.items()} | {"id": str(one["id"])}
