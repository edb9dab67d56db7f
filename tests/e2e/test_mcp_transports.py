"""Sessions are the same over standard streams and HTTP, with one client and with several."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from debuggees import build_debuggee, find_marker, find_source
from event_loop import begin_task
from mcp_client import (
    CALL_S,
    McpConnection,
    connect_http,
    connect_stdio,
    server_command,
    start_http_server,
)

BOTH = pytest.mark.parametrize("over", [connect_stdio, connect_http])
LOOP_PY = str(find_source("loop.py"))


def marked_location(name: str, label: str) -> str:
    return f"{find_source(name)}:{find_marker(name, label)}"


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


async def running(agent: McpConnection) -> str:
    """Start a program that runs for long, and leave it running."""
    told = await agent.call("debug_launch", command=str(find_source("endless.py")), timeoutMs=1)
    assert told.data["status"] == "running"
    return str(told.data["sessionId"])


@BOTH
async def test_a_whole_session_is_the_same_over_both_and_seen_from_the_shell(cli, over) -> None:
    async with over() as agent:
        told = await agent.call(
            "debug_launch", command=str(build_debuggee("loop.c")), stopOnEntry=True
        )
        name = told.data["sessionId"]
        told = await agent.call(
            "debug_breakpoint",
            add=[
                {
                    "file": str(find_source("loop.c")),
                    "line": find_marker("loop.c", "add"),
                    "condition": "i == 3",
                }
            ],
        )
        assert told.data["breakpoints"][0]["condition"] == "i == 3"
        told = await agent.call("debug_continue")
        assert (told.data["status"], told.data["function"]) == ("paused", "sum_to")
        told = await agent.call("debug_variables")
        values = {one["name"]: one["value"] for one in told.data["variables"]}
        assert (values["i"], values["sum"]) == ("3", "5")
        assert cli("--session", name, "print", "sum", check=0).out == "sum = 5\n"
        told = await agent.call("debug_write", targets=[{"variable": "sum", "value": 1000}])
        assert told.data["results"][0]["newValue"] == "1000"
        assert cli("--session", name, "print", "sum", check=0).out == "sum = 1000\n"
        await agent.call("debug_breakpoint", remove=["1"])
        told = await agent.call("debug_continue", action="step-over")
        assert told.data["status"] == "paused"
        assert (await agent.call("debug_detach")).data["ended"] == [name]
        assert "no session" in cli("sessions").out


@BOTH
async def test_a_call_that_is_cancelled_ends_and_the_program_runs_on(cli, over) -> None:
    async with over() as agent:
        name = await running(agent)
        with anyio.move_on_after(0.5) as scope:
            await agent.call("debug_continue")
        assert scope.cancelled_caught
        assert cli("--json", "--session", name, "status").data["data"]["state"] == "running"
        assert (await agent.call("debug_session", action="pause")).data["status"] == "paused"


@BOTH
async def test_a_client_that_goes_away_in_a_wait_leaves_the_session(cli, over) -> None:
    async with over() as agent:
        name = await running(agent)
    with anyio.move_on_after(0.7):
        async with over() as agent:
            await agent.call("debug_session", action="wait", sessionId=name)
    assert cli("--json", "--session", name, "status").data["data"]["state"] == "running"
    async with over() as agent:
        told = await agent.call("debug_session", action="pause", sessionId=name)
        assert told.data["status"] == "paused"


@BOTH
async def test_progress_is_told_to_who_asks_for_it_and_to_nobody_else(runtime_dir, over) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with over() as agent:
        await running(agent)
        arguments = {"action": "wait", "timeoutMs": 2500}
        # At once: of the two waits that are as long, the one tells what it is at.
        await asyncio.gather(
            agent.client.call_tool("debug_session", arguments),
            agent.client.call_tool("debug_session", arguments, progress_callback=hear),
        )
    assert len(heard) == 1
    assert heard[0][0] >= 2
    assert "running for 2 s" in str(heard[0][1])


async def test_two_clients_of_one_server_have_a_session_each(runtime_dir) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(start_http_server())
        one = await stack.enter_async_context(server.connected(mode="legacy"))
        other = await stack.enter_async_context(server.connected(mode="legacy"))
        mine = (await one.call("debug_launch", command=LOOP_PY, stopOnEntry=True)).data["sessionId"]
        told = await other.call(
            "debug_launch", command=str(build_debuggee("loop.c")), stopOnEntry=True
        )
        theirs = told.data["sessionId"]
        asked = [one.call("debug_session"), other.call("debug_session")] * 5
        names = [told.data["session"] for told in await asyncio.gather(*asked)]
        assert names == [mine, theirs] * 5


async def test_clients_that_cannot_be_told_apart_must_name_their_session(runtime_dir) -> None:
    async with (
        start_http_server() as server,
        server.connected() as one,
        server.connected() as other,
    ):
        mine = (await one.call("debug_launch", command=LOOP_PY, stopOnEntry=True)).data["sessionId"]
        # As long as there is only one, it is meant.
        assert (await one.call("debug_session")).data["session"] == mine
        told = await other.call(
            "debug_launch", command=str(build_debuggee("loop.c")), stopOnEntry=True
        )
        theirs = told.data["sessionId"]
        said = await one.refused("debug_continue")
        assert "several sessions are open" in said
        assert mine in said
        assert theirs in said
        said = await one.refused("debug_command", command="continue")
        assert "several sessions are open" in said
        assert len((await one.call("debug_session", action="list")).data["sessions"]) == 2
        told = await one.call("debug_session", sessionId=mine)
        assert told.data["session"] == mine


@BOTH
async def test_a_daemon_that_is_killed_loses_its_sessions_and_nothing_else(
    cli, over, runtime_dir
) -> None:
    async with over() as agent:
        name = await running(agent)
        pid = cli("--json", "daemon", "status").data["data"]["pid"]
        waiting = await begin_task(agent.ask("debug_session", action="wait", sessionId=name))
        told = await agent.call("debug_session", sessionId=name)  # it has been sent by then
        assert told.data["state"] == "running"
        kill(pid)
        lost = await asyncio.wait_for(waiting, 10)
        assert lost.is_error
        assert "the daemon died" in lost.text
        assert f"lost: session {name}" in lost.text
        said = await agent.refused("debug_variables", sessionId=name)
        assert "hint: " in said
        told = await agent.call("debug_launch", command=LOOP_PY, stopOnEntry=True)
        assert told.data["status"] == "paused"
        assert (await agent.call("debug_variables")).text


async def test_a_client_hears_what_the_daemon_lost_as_loud_as_it_wants(
    cli, runtime_dir, wait_until
) -> None:
    heard: list[tuple[str, Any]] = []

    async def hear(params: Any) -> None:
        heard.append((params.level, params.data))

    async def losing(agent: McpConnection) -> None:
        await agent.call("debug_session", action="list")
        kill(cli("--json", "daemon", "status").data["data"]["pid"])
        wait_until(lambda: "not running" in cli("daemon", "status").out)
        await agent.ask("debug_session", action="list")
        await agent.ask("debug_session", action="list")

    async with connect_http(mode="legacy", logging_callback=hear) as agent:
        await losing(agent)
        ((loud, said),) = heard
        assert loud == "warning"
        assert re.match(r"the daemon \(pid \d+\) died; it held no session", said)
        heard.clear()
        level = types.SetLevelRequest(params=types.SetLevelRequestParams(level="error"))
        await agent.client.session.send_request(level, types.EmptyResult)
        await losing(agent)
        assert heard == []
    async with connect_http(logging_callback=hear) as agent:  # who does not ask, hears nothing
        await losing(agent)
        assert heard == []
    async with connect_http(logging_callback=hear, log_level="info") as agent:
        await losing(agent)
        assert [level for level, _ in heard] == ["warning"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("words", [(), ("--http", "127.0.0.1:0")])
async def test_a_signal_ends_the_server_quietly(runtime_dir, number, words) -> None:
    process = await asyncio.create_subprocess_exec(
        *server_command(*words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    if words:
        await process.stderr.readline()
        await process.stderr.readline()
    else:
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        await process.stdout.readline()
    process.send_signal(number)
    async with asyncio.timeout(CALL_S):
        out, err = await process.communicate()
    assert (process.returncode, out, err) == (0, b"", b"")


async def test_nothing_that_prints_can_break_the_stream_nor_hold_it_open(
    runtime_dir, tmp_path
) -> None:
    # A server whose library prints in every way there is, and whose child outlives it.
    child = (
        "import os, sys, time; os.write(1, b'noise'); sys.stdin.read(); "
        f"open({str(tmp_path / 'read')!r}, 'w').close(); time.sleep(60)"
    )
    noisy = f"""
import os, subprocess, sys
from debugger.mcp import mcp_server
answered = mcp_server.ProtocolAnswers.call_tool
async def call_tool(self, *words):
    print("noise"); sys.stdout.flush()
    os.write(1, b"noise")
    child = subprocess.Popen([sys.executable, "-c", {child!r}])
    open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
    return await answered(self, *words)
mcp_server.ProtocolAnswers.call_tool = call_tool
from debugger.cli.client import run_command
sys.exit(run_command(["mcp"]))
"""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", noisy),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # the child has it, and may keep it
    )
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "debug_session", "arguments": {"action": "list"}},
    }
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(INITIALIZE + json.dumps(call).encode() + b"\n")
    try:
        async with asyncio.timeout(CALL_S):
            lines = [json.loads(await process.stdout.readline()) for _ in range(2)]
            assert [one["id"] for one in lines] == [1, 2]
            process.stdin.close()
            # The daemon that it has started lives, and holds neither of the pipes.
            assert await process.stdout.read() == b""
            await process.wait()
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert (tmp_path / "read").exists()  # the child's input was empty, not the client's
    assert Path(f"/proc/{_daemon(runtime_dir)}").exists()


INITIALIZE = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
    ).encode()
    + b"\n"
)


def _daemon(runtime_dir: Path) -> int:
    return int(json.loads((runtime_dir / "daemon.json").read_bytes())["pid"])
