"""Tracing, reading, writing and pausing a running program by the core tools."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from debuggees import build_debuggee, find_marker, find_source
from mcp_client import McpConnection, ToolAnswer, connect_stdio

pytestmark = pytest.mark.adapter("frida")
FILE = str(find_source("live.c"))


async def launched(agent: McpConnection, *args: str, label: str = "call") -> ToolAnswer:
    return await agent.call(
        "debug_launch",
        command=str(build_debuggee("live.c")),
        args=list(args),
        backend="frida",
        breakpoints=[f"{FILE}:{find_marker('live.c', label)}"],
    )


async def runs(agent: McpConnection) -> None:
    await launched(agent, "forever")
    await agent.call("debug_breakpoint", remove=["1"])
    assert (await agent.call("debug_continue", wait=False)).data["status"] == "running"


async def test_functions_are_traced_and_their_calls_queried_while_it_runs(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await runs(agent)
        told = await agent.call("debug_trace", add=["twic*", "wrok"])
        first, second = told.data["traced"]
        assert (first["id"], first["names"]) == ("1", ["twice"])
        assert "id" not in second
        assert "work" in second["nearNames"]
        assert (await agent.call("debug_trace")).data["traced"][0]["pattern"] == "twic*"
        await agent.call("debug_session", action="wait", timeoutMs=200)
        told = await agent.call("debug_query", eventType=["function_enter"], function="twice")
        assert told.data["events"][0]["text"] == "twice(value=1)"
        assert (await agent.call("debug_trace", remove=["1"])).data["removed"] == ["1"]
        assert (await agent.call("debug_trace")).data["traced"] == []


async def test_globals_are_read_and_written_while_it_runs_and_locals_are_not(cli) -> None:
    async with connect_stdio() as agent:
        schemas = {one.name: one.output_schema for one in await agent.list_tools()}
        await runs(agent)
        told = await agent.call("debug_write", targets=[{"variable": "bonus", "value": 5}])
        (written,) = told.data["results"]
        assert int(written.pop("address"), 16)
        assert written == {
            "variable": "bonus",
            "type": "int",
            "previousValue": "1",
            "newValue": "5",
        }
        told = await agent.call(
            "debug_read", targets=[{"variable": "bonus"}, {"variable": "nosuch"}]
        )
        jsonschema.validate(told.data, schemas["debug_read"])
        bonus, missing = told.data["results"]
        assert bonus["value"] == "5"
        assert missing["error"]
        assert told.text.startswith("bonus = 5\nnosuch: ")
        assert cli("read", "bonus", "nosuch").out == told.text
        text = await agent.refused("debug_write", targets=[{"variable": "doubled", "value": 1}])
        assert text.startswith("error: Local variable writes require a paused breakpoint.\n")


async def test_a_logpoint_with_a_condition_is_set_while_it_runs(runtime_dir) -> None:
    async with connect_stdio() as agent:
        await runs(agent)
        place = {"file": FILE, "line": find_marker("live.c", "after")}
        add = [{**place, "message": "n={n}", "condition": "n == 1"}]
        told = await agent.call("debug_logpoint", add=add)
        assert told.data["logpoints"][0]["verified"]
        await agent.call("debug_session", action="wait", timeoutMs=200)
        told = await agent.call("debug_query", eventType=["logpoint"], limit=1)
        assert told.data["events"][0]["text"] == "n=1"


async def test_threads_are_let_go_each_by_itself_and_paused_all_at_once(runtime_dir) -> None:
    async with connect_stdio() as agent:
        told = await launched(agent, "threads", label="after")
        first = told.data["stop"]["thread"]
        told = await agent.call("debug_session", action="pause", allThreads=True)
        assert told.data["status"] == "paused"
        states = await all_states(agent)
        assert set(states.values()) == {"stopped"}
        text = await agent.refused("debug_continue", action="step-over", thread=first)
        assert "step-over acts on the current thread only" in text
        await agent.call("debug_continue", thread=first, timeoutMs=500)
        states = await all_states(agent)
        # Of the thread that was let go nothing is left, or it runs; the main one stays.
        assert states.get(first, "running") == "running"
        assert "stopped" in states.values()


async def all_states(agent: McpConnection) -> dict[int, Any]:
    told = await agent.call("debug_command", command="threads")
    return {one["id"]: one["state"] for one in told.data["threads"]}
