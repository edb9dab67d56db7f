"""The tools that say why a program hangs, and who wrote a value."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.call import Told, ToolCall
from debugger.mcp.tool import Toolset
from debugger.mcp.tools.beginning import seconds

TOOLS = Toolset()

_Command = Annotated[tuple[str, ...], "words, as typed; no shell"]
_Stdin = Annotated[str | None, "FILE"]


def _pairs(env: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in env.items())


@TOOLS.tool(
    "debug_hang",
    title="Why it hangs",
    result={"kind": str, "cause": str, "hang": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_hang(
    call: ToolCall,
    command: _Command = (),
    *,
    pid: Annotated[int | None, "a process, instead"] = None,
    after_ms: Annotated[int | None, "when to look at the command (3000)"] = None,
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    stdin: _Stdin = None,
    adapter: str | None = None,
) -> Told:
    """Say why it hangs: deadlock with owners, busy loop, what it waits for; then clean up."""
    reply = await call.anew().ask(
        "hang",
        waits=True,
        words=command,
        pid=pid,
        after=seconds(after_ms),
        cwd=cwd,
        env=_pairs(env),
        stdin=stdin,
        adapter=adapter,
    )
    return Told(
        reply.text,
        {"kind": reply.data["kind"], "cause": reply.data["cause"], "hang": reply.data},
    )


@TOOLS.tool(
    "debug_who_wrote",
    title="Who wrote a value",
    result={"cause": str, "value": str, "who_wrote": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_who_wrote(
    call: ToolCall,
    expression: Annotated[str, "as at that place: order->total"],
    at: Annotated[str, "FILE:LINE or FUNCTION where it is seen"],
    command: _Command,
    *,
    hit: Annotated[int | None, "the Nth time (1)"] = None,
    until: Annotated[str | None, "writes after it only up to here"] = None,
    limit: int | None = None,
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    stdin: _Stdin = None,
    adapter: str | None = None,
    timeout_ms: int | None = None,
) -> Told:
    """Run a command: which line wrote a value last before a place, and all that wrote it."""
    reply = await call.anew().ask(
        "who-wrote",
        waits=True,
        expression=expression,
        at=at,
        words=command,
        hit=hit,
        until=until,
        limit=limit,
        cwd=cwd,
        env=_pairs(env),
        stdin=stdin,
        adapter=adapter,
        timeout=seconds(timeout_ms),
    )
    found: dict[str, Any] = {"cause": reply.data["cause"], "who_wrote": reply.data}
    if reply.data.get("value") is not None:
        found["value"] = reply.data["value"]
    return Told(reply.text, found)
