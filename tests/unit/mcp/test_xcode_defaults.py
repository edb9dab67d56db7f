"""Defaults and the current session belong to one connection."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.tool_call import ClientMemory, ToolAnswer, ToolCall
from debugger.mcp.tools import TOOLSETS
from debugger.mcp.tools.xcode_session import current_session


@pytest.fixture
def daemon(runtime_dir) -> DaemonClient:
    return DaemonClient(note=pytest.fail)


def call(daemon: DaemonClient, memory: ClientMemory, session: str | None = None) -> ToolCall:
    return ToolCall(daemon, memory, session, lambda asked, _: asked)


async def run(name: str, to: ToolCall, **arguments: Any) -> ToolAnswer:
    tool = TOOLSETS["xcodebuildmcp"].get(name)
    assert tool is not None
    _, bound = tool.bind_arguments(arguments)
    return await tool.run(to, **bound)


async def test_two_connections_have_defaults_of_their_own(daemon):
    one, other = call(daemon, ClientMemory()), call(daemon, ClientMemory())
    await run("session_set_defaults", one, simulatorName="iPhone 16")
    assert (await run("session_show_defaults", one)).data == {"simulatorName": "iPhone 16"}
    assert (await run("session_show_defaults", other)).data == {}
    await run("session_clear_defaults", one, keys=[])
    assert one.memory.defaults
    await run("session_clear_defaults", one, all=True)
    assert one.memory.defaults == {}


async def test_an_empty_string_sets_nothing(daemon):
    one = call(daemon, ClientMemory())
    await run("session_set_defaults", one, simulatorName="iPhone 16", simulatorId="")
    assert one.memory.defaults == {"simulatorName": "iPhone 16"}


async def test_clients_that_cannot_be_told_apart_have_none(daemon):
    many = call(daemon, ClientMemory(of_many=True))
    with pytest.raises(DebuggerError) as error:
        await run("session_set_defaults", many, simulatorName="iPhone 16")
    assert error.value.code is ErrorCode.NOT_SUPPORTED
    assert many.memory.defaults == {}


def test_the_current_session_is_the_one_that_is_named_else_the_connections(daemon):
    memory = ClientMemory()
    memory.session = "mine"
    assert current_session(call(daemon, memory)) == "mine"
    assert current_session(call(daemon, memory, "named")) == "named"
    with pytest.raises(DebuggerError, match="No active debug session"):
        current_session(call(daemon, ClientMemory()))
