"""Defines the tools that answer a question about a whole run."""

from __future__ import annotations

from typing import Annotated, Any

from debugger.mcp.tool_call import ToolAnswer, ToolCall
from debugger.mcp.tool_definition import RARE, Toolset
from debugger.mcp.tools.session_tools import (
    Adapter,
    Command,
    Env,
    Stdin,
    TimeoutMs,
    environment_pairs,
    to_seconds,
)

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
    command: Command = (),
    *,
    pid: int | None = None,
    core: Annotated[str | None, "FILE, of the command"] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
    raised: Annotated[bool, "the first exception, also a caught one", RARE] = False,
    keep: Annotated[bool, "leave it stopped there", RARE] = False,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command line to its crash: the cause in a line, source, values, callers."""
    reply = await call.without_session().run_command(
        "crash",
        waits=True,
        words=command,
        pid=pid,
        core=core,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
        raised=raised,
        keep=keep,
        timeout=to_seconds(timeout_ms),
    )
    if keep and reply.data.get("session"):
        call.remember(reply.data["session"])
    found: dict[str, Any] = {"crash": reply.data}
    for key in ("outcome", "cause", "kind"):
        if reply.data.get(key) is not None:
            found[key] = reply.data[key]
    return ToolAnswer(reply.text, found)


@TOOLS.tool(
    "debug_test",
    title="Why a test fails",
    result={"outcome": str, "cause": str, "test": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_test(
    call: ToolCall,
    command: Command,
    *,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    keep: Annotated[bool, "leave it stopped there", RARE] = False,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run tests (pytest, go test, cargo test, jest, ctest, …): why the first failure failed."""
    reply = await call.without_session().run_command(
        "test",
        waits=True,
        words=command,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        keep=keep,
        timeout=to_seconds(timeout_ms),
    )
    if keep and reply.data.get("session"):
        call.remember(reply.data["session"])
    found: dict[str, Any] = {"outcome": reply.data["outcome"], "test": reply.data}
    if reply.data.get("cause") is not None:
        found["cause"] = reply.data["cause"]
    return ToolAnswer(reply.text, found)


@TOOLS.tool(
    "debug_probe",
    title="Values over a run",
    result={"outcome": str, "hits": int, "probe": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_probe(
    call: ToolCall,
    command: Command = (),
    *,
    at: Annotated[dict[str, str], "{FILE:LINE or FUNCTION: 'expr, expr'}"],
    when: Annotated[str | None, "condition"] = None,
    limit: Annotated[int | None, "end the run after so many hits of each place", RARE] = None,
    start: Annotated[str | None, "first hit, or time: 100, 2.5s", RARE] = None,
    end: Annotated[str | None, "last hit, or time", RARE] = None,
    pid: int | None = None,
    output: Annotated[bool, "show what it wrote", RARE] = False,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: a table of expressions' values, each time that it comes to a place."""
    reply = await call.without_session().run_command(
        "probe",
        waits=True,
        words=command,
        at=tuple(at.items()),
        when=(when,) if when is not None else (),
        limit=limit,
        start=start,
        end=end,
        pid=pid,
        output=output,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
        timeout=to_seconds(timeout_ms),
    )
    hits = sum(place.get("hits", 0) for place in reply.data.get("places", ()))
    return ToolAnswer(
        reply.text, {"outcome": reply.data.get("outcome"), "hits": hits, "probe": reply.data}
    )


_Other = Annotated[tuple[str, ...], "commands that pass"]


@TOOLS.tool(
    "debug_path",
    title="What ran",
    result={"path": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_path(
    call: ToolCall,
    command: Command,
    *,
    around: Annotated[str | None, "FUNCTION"] = None,
    between: Annotated[
        tuple[str, str] | None, "from the first call of one to the next of another", RARE
    ] = None,
    process: Annotated[str | None, "number, or failing", RARE] = None,
    versus: _Other = (),
    save: Annotated[str | None, "keep the run: versus run:NAME", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: which of its functions ran; with versus, what only the failing one did."""
    reply = await call.without_session().run_command(
        "path",
        waits=True,
        words=command,
        around=around,
        between=between,
        process=process,
        versus=versus,
        save=save,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        timeout=to_seconds(timeout_ms),
    )
    return ToolAnswer(reply.text, {"path": reply.data})


@TOOLS.tool(
    "debug_calls",
    title="Calls of a function, line by line",
    result={"calls": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_calls(
    call: ToolCall,
    function: Annotated[str, "or FILE:LINE in it"],
    command: Command,
    *,
    nth: Annotated[int | None, "from 1"] = None,
    when: Annotated[str, "condition"] = "",
    depth: Annotated[int, "levels of the calls that it makes", RARE] = 1,
    limit: Annotated[int | None, "calls told line by line", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: calls of a function, line by line, with what changed and was called."""
    reply = await call.without_session().run_command(
        "calls",
        waits=True,
        function=function,
        words=command,
        nth=nth,
        when=when,
        depth=depth,
        limit=limit,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        timeout=to_seconds(timeout_ms),
    )
    return ToolAnswer(reply.text, {"calls": reply.data})


@TOOLS.tool(
    "debug_diff",
    title="Where two runs part",
    result={"diff": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_diff(
    call: ToolCall,
    command: Command,
    *,
    versus: str | None = None,
    function: Annotated[str | None, "only its calls"] = None,
    at: dict[str, str] = {},  # noqa: B006 - msgspec copies it
    when: Annotated[str | None, "of at: condition", RARE] = None,
    save: Annotated[str | None, "keep the run: versus run:NAME", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    versus_stdin: Annotated[str | None, "the other run's FILE", RARE] = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run command and versus: the first step or value that differs; at: as probe."""
    reply = await call.without_session().run_command(
        "diff",
        waits=True,
        words=command,
        versus=(versus,) if versus is not None else (),
        function=function,
        at=tuple(at.items()),
        when=(when,) if when is not None else (),
        save=save,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        versus_stdin=versus_stdin,
        timeout=to_seconds(timeout_ms),
    )
    return ToolAnswer(reply.text, {"diff": reply.data})


@TOOLS.tool(
    "debug_hang",
    title="Why it hangs",
    result={"kind": str, "cause": str, "hang": dict[str, Any]},
    session_key=None,
    destructive=True,
)
async def debug_hang(
    call: ToolCall,
    command: Command = (),
    *,
    pid: int | None = None,
    after_ms: Annotated[int | None, "when to look at the command (3000)", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
) -> ToolAnswer:
    """Say why it hangs: deadlock with owners, busy loop, what it waits for."""
    reply = await call.without_session().run_command(
        "hang",
        waits=True,
        words=command,
        pid=pid,
        after=to_seconds(after_ms),
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
    )
    return ToolAnswer(
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
    expression: Annotated[str, "order->total"],
    at: Annotated[str, "FILE:LINE or FUNCTION"],
    command: Command,
    *,
    hit: Annotated[int | None, "Nth time there"] = None,
    when: Annotated[str, "condition there"] = "",
    until: Annotated[str | None, "writes after it only up to here", RARE] = None,
    limit: Annotated[int | None, "writes seen", RARE] = None,
    cwd: str | None = None,
    env: Env = {},  # noqa: B006 - msgspec copies it
    stdin: Stdin = None,
    adapter: Adapter = None,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Run a command: which line wrote the value that is seen at a place, and all others."""
    reply = await call.without_session().run_command(
        "who-wrote",
        waits=True,
        expression=expression,
        at=at,
        words=command,
        hit=hit,
        when=when,
        until=until,
        limit=limit,
        cwd=cwd,
        env=environment_pairs(env),
        stdin=stdin,
        adapter=adapter,
        timeout=to_seconds(timeout_ms),
    )
    found: dict[str, Any] = {"cause": reply.data["cause"], "who_wrote": reply.data}
    if reply.data.get("value") is not None:
        found["value"] = reply.data["value"]
    return ToolAnswer(reply.text, found)


@TOOLS.tool(
    "debug_try",
    title="Try a change",
    result={"held": bool, "verdict": str, "try": dict[str, Any]},
    destructive=True,
)
async def debug_try(
    call: ToolCall,
    changes: Annotated[tuple[str, ...], "x=3, or return 5"],
    *,
    until: Annotated[str | None, "FILE:LINE"] = None,
    expect: Annotated[str | None, "condition"] = None,
    here: Annotated[bool, "in the session itself", RARE] = False,
    timeout_ms: TimeoutMs = None,
) -> ToolAnswer:
    """Try a change at a stop, in a second run: does what you expect hold? The session stays."""
    reply = await call.run_command(
        "try",
        waits=True,
        words=changes,
        until=until,
        expect=expect,
        here=here,
        timeout=to_seconds(timeout_ms),
    )
    found: dict[str, Any] = {"verdict": reply.data["verdict"], "try": reply.data}
    held = (reply.data.get("expected") or {}).get("held")
    if held is not None:
        found["held"] = held
    return ToolAnswer(reply.text, found)


@TOOLS.tool(
    "debug_evidence",
    title="Answers so far",
    result={"evidence": list[Any], "text": str},
    session_key=None,
    reads_only=True,
)
async def debug_evidence(call: ToolCall, answer: Annotated[str | None, "e1"] = None) -> ToolAnswer:
    """List the answers so far, or show one again; stale where sources changed."""
    if answer is None:
        reply = await call.without_session().run_command("evidence_list")
    else:
        reply = await call.without_session().run_command("evidence_show", number=answer)
    return ToolAnswer(reply.text, reply.data)
