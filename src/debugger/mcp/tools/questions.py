"""The tools that answer a question about a whole run."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.call import Told, ToolCall
from debugger.mcp.tool import Toolset
from debugger.mcp.tools.beginning import seconds

TOOLS = Toolset()


@TOOLS.tool(
    "debug_crash",
    title="Why it crashes",
    result={"outcome": str, "cause": str, "kind": str, "crash": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_crash(
    call: ToolCall,
    command: Annotated[tuple[str, ...], "words, as typed; no shell"] = (),
    *,
    pid: Annotated[int | None, "a process, instead"] = None,
    core: Annotated[str | None, "core file; command is its program"] = None,
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    stdin: Annotated[str | None, "FILE"] = None,
    adapter: str | None = None,
    keep: Annotated[bool, "leave it stopped there"] = False,
    timeout_ms: int | None = None,
) -> Told:
    """Run a command to its crash: the cause in a line, source, values, callers; then clean up."""
    reply = await call.anew().ask(
        "crash",
        waits=True,
        words=command,
        pid=pid,
        core=core,
        cwd=cwd,
        env=tuple(f"{name}={value}" for name, value in env.items()),
        stdin=stdin,
        adapter=adapter,
        keep=keep,
        timeout=seconds(timeout_ms),
    )
    if keep and reply.data.get("session"):
        call.remember(reply.data["session"])
    found: dict[str, Any] = {"crash": reply.data}
    for key in ("outcome", "cause", "kind"):
        if reply.data.get(key) is not None:
            found[key] = reply.data[key]
    return Told(reply.text, found)
