"""Defines the tools that start, list, run and end sessions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from debugger.cli import commands
from debugger.daemon.daemon_client import DaemonReply
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import ENVIRONMENT, MILLISECONDS, RARE, ToolArgument, Toolset

commands.register_all()  # the tools are derived from the commands

TOOLS = Toolset()
COMMANDS = {"continue": "continue", "step-over": "next", "step-into": "step", "step-out": "finish"}
_CHOOSE = 'debug_command {{"command": "thread {}"}} chooses it'
STATUS = {"stopped": "paused", "terminated": "exited"}
# What every tool answers that ends in a stop.
STOP = {
    "status": Literal["paused", "running", "exited"],
    "breakpointId": str,
    "file": str,
    "line": int,
    "function": str,
    "sessionId": str,
    "stop": dict[str, Any],
}
# And where a group's other members are.
OF_GROUP = {"group": str, "member": str, "others": list[Any]}


@TOOLS.tool("debug_continue", title="Run and wait", result=STOP | OF_GROUP, of_group=True)
async def debug_continue(
    call: ToolCall,
    *,
    action: Literal["continue", "step-over", "step-into", "step-out"] = "continue",
    thread: Annotated[int | None, "", RARE] = None,
    wait: Annotated[bool, "", RARE] = True,
    timeout_ms: Annotated[int | None, "", RARE] = None,
) -> ToolAnswer:
    """Run to the next stop or end; the answer is the whole stop."""
    command = COMMANDS[action]
    if thread is not None and action != "continue":
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{action} acts on the current thread only",
            hint=_CHOOSE.format(thread),
        )
    if not wait and command == "continue":
        return stop_answer(await call.run_command(command, no_wait=True, thread=thread))
    seconds = MILLISECONDS.to_command(timeout_ms) if wait else 0
    try:
        return stop_answer(
            await call.run_command(command, waits=True, timeout=seconds, thread=thread)
        )
    except DebuggerError as error:
        if action != "continue" or thread is not None or error.code is not ErrorCode.WRONG_STATE:
            raise
        if (await call.run_command("status")).data["state"] != "running":
            raise
    # It runs already, as after an attach: what is asked for is the next stop.
    return stop_answer(await call.run_command("await", waits=True, timeout=seconds))


def stop_answer(reply: DaemonReply) -> ToolAnswer:
    """Answer with a stop, the program's end, or the report that it still runs."""
    # Of a group the first stop, with where its other members are; without a stop its stacks.
    stop = reply.data.get("stop", reply.data)
    if "state" not in stop:
        return ToolAnswer(reply.text, reply.data)
    frame = stop.get("frame") or {}
    hits = stop.get("hit_breakpoints") or ()
    found = {
        "status": STATUS.get(str(stop.get("state")), "running"),
        "breakpointId": str(hits[0]) if hits else None,
        "file": frame.get("file"),
        "line": frame.get("line"),
        "function": frame.get("function"),
        "sessionId": stop.get("session"),
        "stop": stop,
        **{name: reply.data.get(name) for name in OF_GROUP},
    }
    return ToolAnswer(reply.text, {key: value for key, value in found.items() if value is not None})


_RARE = frozenset({RARE})
_Breaks = Annotated[tuple[str, ...], "FILE:LINE or FUNCTION"]


def _answer_started(call: ToolCall, reply: DaemonReply) -> ToolAnswer:
    call.remember(reply.data.get("group") or reply.data.get("session"))
    return stop_answer(reply)


TOOLS.derive_tool(
    "debug_launch",
    "start",
    (
        ToolArgument("program", "program", renamed="command"),
        ToolArgument("args"),
        ToolArgument("cwd", "", _RARE),
        ToolArgument("env", "", _RARE, form=ENVIRONMENT),
        ToolArgument("module", "of Python, instead", _RARE),
        ToolArgument("breaks", "FILE:LINE or FUNCTION", renamed="breakpoints"),
        ToolArgument("stop_on_entry", "", _RARE),
        ToolArgument("is_group", "with its processes", _RARE, renamed="group"),
        ToolArgument("adapter", "", _RARE),
        ToolArgument("backend"),
        ToolArgument("config", "NAME in launch.json", _RARE),
        ToolArgument("timeout", "", _RARE, renamed="timeout_ms", form=MILLISECONDS),
    ),
    title="Launch",
    description="Start a program; it runs to the first stop or its end.",
    result=STOP,
    answer=_answer_started,
)


@TOOLS.tool("debug_attach", title="Attach", result=STOP, session_key=None)
async def debug_attach(
    call: ToolCall,
    *,
    pid: int | None = None,
    name: str | None = None,
    core: Annotated[str | None, "FILE, with program"] = None,
    connect: Annotated[str | None, "HOST:PORT", RARE] = None,
    group: Annotated[bool, "all of name, tree or pids", RARE] = False,
    tree: Annotated[int | None, "a process and all below it", RARE] = None,
    pids: Annotated[str | None, "1,2,3", RARE] = None,
    program: str | None = None,
    breakpoints: _Breaks = (),
    pause: bool = False,
    adapter: Annotated[str | None, "", RARE] = None,
    backend: Annotated[str | None, "", RARE] = None,
) -> ToolAnswer:
    """Attach to a process or core file; a process runs on unless paused."""
    reply = await call.without_session().run_command(
        "attach",
        waits=True,
        what=pid if pid is not None else program,
        name=name,
        core=core,
        connect=connect,
        is_group=group,
        tree=tree,
        pids=pids,
        breaks=breakpoints,
        pause=pause,
        adapter=adapter,
        backend=backend,
    )
    return _answer_started(call, reply)


@TOOLS.tool(
    "debug_session",
    title="Sessions",
    result={"sessions": list[Any], "session": str, "state": str, "status": str, "stop": dict},
    destructive=True,
    of_group=True,
)
async def debug_session(
    call: ToolCall,
    *,
    action: Literal["status", "list", "use", "wait", "pause", "restart", "stop", "kill"] = "status",
    all_threads: Annotated[bool, "pause all", RARE] = False,
    timeout_ms: Annotated[int | None, "", RARE] = None,
) -> ToolAnswer:
    """Manage the sessions."""
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
    return stop_answer(
        await call.run_command(command, waits=True, timeout=MILLISECONDS.to_command(timeout_ms))
    )


@TOOLS.tool("debug_detach", title="Detach", result={"ended": list[str]}, of_group=True)
async def debug_detach(call: ToolCall) -> ToolAnswer:
    """Let the program run on without the debugger, and end the session."""
    reply = await call.run_command("detach")
    if call.memory.session in reply.data.get("ended", ()):
        call.remember(None)
    return ToolAnswer(reply.text, reply.data)
