"""The tools that begin, list and end sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import LINE, RARE, Toolset
from debugger.mcp.tools.running_tools import STOP, stop_answer

TOOLS = Toolset()
_Breaks = Annotated[tuple[str, ...], "FILE:LINE or FUNCTION"]
# What the tools take that run a command.
Command = Annotated[tuple[str, ...], "", LINE]
Stdin = Annotated[str | None, "FILE", RARE]
Env = Annotated[dict[str, str], "", RARE]
Adapter = Annotated[str | None, "", RARE]
TimeoutMs = Annotated[int | None, "60000 without it", RARE]


@TOOLS.tool("debug_launch", title="Launch", result=STOP, session_key=None, destructive=True)
async def debug_launch(
    call: ToolCall,
    command: Annotated[str | None, "program"] = None,
    *,
    args: tuple[str, ...] = (),
    cwd: str | None = None,
    env: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    module: Annotated[str | None, "of Python, instead"] = None,
    breakpoints: _Breaks = (),
    stop_on_entry: bool = False,
    adapter: str | None = None,
    backend: str | None = None,
    timeout_ms: int | None = None,
) -> ToolAnswer:
    """Start a program under the debugger; runs to the first stop or its end."""
    reply = await call.without_session().run_command(
        "start",
        waits=True,
        program=command,
        args=args,
        cwd=cwd,
        env=environment_pairs(env),
        module=module,
        breaks=breakpoints,
        stop_on_entry=stop_on_entry,
        adapter=adapter,
        backend=backend,
        timeout=to_seconds(timeout_ms),
    )
    call.remember(reply.data.get("session"))
    return stop_answer(reply)


@TOOLS.tool("debug_attach", title="Attach", result=STOP, session_key=None)
async def debug_attach(
    call: ToolCall,
    *,
    pid: int | None = None,
    name: str | None = None,
    core: Annotated[str | None, "FILE, with program"] = None,
    connect: Annotated[str | None, "HOST:PORT"] = None,
    program: str | None = None,
    breakpoints: _Breaks = (),
    pause: bool = False,
    adapter: str | None = None,
    backend: str | None = None,
) -> ToolAnswer:
    """Attach to a process, core file or server; a process runs on unless paused."""
    reply = await call.without_session().run_command(
        "attach",
        waits=True,
        what=pid if pid is not None else program,
        name=name,
        core=core,
        connect=connect,
        breaks=breakpoints,
        pause=pause,
        adapter=adapter,
        backend=backend,
    )
    call.remember(reply.data.get("session"))
    return stop_answer(reply)


@TOOLS.tool(
    "debug_session",
    title="Sessions",
    result={"sessions": list[Any], "session": str, "state": str, "status": str, "stop": dict},
    destructive=True,
)
async def debug_session(
    call: ToolCall,
    *,
    action: Literal["status", "list", "use", "wait", "pause", "restart", "stop", "kill"] = "status",
    all_threads: Annotated[bool, "pause all"] = False,
    timeout_ms: int | None = None,
) -> ToolAnswer:
    """Show, list, choose, await, pause, restart, end (or kill) a session."""
    if action in {"status", "list", "stop", "kill"}:
        command = {"list": "sessions", "kill": "stop"}.get(action, action)
        reply = await call.run_command(command, **({"kill": True} if action == "kill" else {}))
        if command == "stop" and call.memory.session in reply.data.get("ended", ()):
            call.remember(None)
        return ToolAnswer(reply.text, reply.data)
    if action == "use":
        if call.session is None:
            raise DebuggerError(
                ErrorCode.USAGE, "which session?", hint='debug_session {"action": "list"}'
            )
        reply = await call.run_command("use", name=call.session)
        call.remember(call.session)
        return ToolAnswer(reply.text, reply.data)
    if action == "pause":
        return stop_answer(await call.run_command("pause", waits=True, every=all_threads))
    command = "restart" if action == "restart" else "await"
    return stop_answer(await call.run_command(command, waits=True, timeout=to_seconds(timeout_ms)))


@TOOLS.tool("debug_detach", title="Detach", result={"ended": list[str]})
async def debug_detach(call: ToolCall) -> ToolAnswer:
    """Let the program run on without the debugger, and end the session."""
    reply = await call.run_command("detach")
    if call.memory.session in reply.data.get("ended", ()):
        call.remember(None)
    return ToolAnswer(reply.text, reply.data)


def to_seconds(timeout_ms: int | None) -> float | None:
    """Return milliseconds as the daemon takes them."""
    return timeout_ms / 1000 if timeout_ms is not None else None


def environment_pairs(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return changes of the environment as the daemon takes them."""
    return tuple(f"{name}={value}" for name, value in env.items())
