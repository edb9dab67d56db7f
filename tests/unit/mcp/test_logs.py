"""A client gets the log messages of its level, and nobody else's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.server.lowlevel.server import Server

from debugger.mcp import mcp_server
from debugger.mcp.tool_call import ClientMemory

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
_log = logging.getLogger("debugger.tried")


@pytest.fixture(autouse=True)
def _failures() -> Iterator[None]:
    handler = mcp_server.FailureHandler()
    _log.addHandler(handler)
    yield
    _log.removeHandler(handler)


async def _say(_context: Any, _params: object) -> types.ListToolsResult:
    await asyncio.to_thread(mcp_server.log_note, "from a thread")
    _log.error("it broke: %s", "why")
    return types.ListToolsResult(tools=[])


async def collect_messages(*, level: str | None = None, **options: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []

    async def hear(params: types.LoggingMessageNotificationParams) -> None:
        found.append((params.level, params.data))

    memory = ClientMemory()
    server: Server[Any] = Server("tried", on_list_tools=_say)
    mcp_server.add_to(server, lambda _: memory)
    async with Client(server, logging_callback=hear, **options) as client:
        if level is not None:
            await client.session.send_request(
                types.SetLevelRequest(params=types.SetLevelRequestParams(level=level)),  # type: ignore[arg-type]
                types.EmptyResult,
            )
        await client.list_tools()
    return found


async def test_notes_and_failures_are_told_before_the_answer(capsys) -> None:
    assert await collect_messages(mode="legacy") == [
        ("warning", "from a thread"),
        ("error", "it broke: why"),
    ]
    assert "note: from a thread\n" in capsys.readouterr().err


async def test_what_is_less_than_the_client_wants_is_not_told() -> None:
    assert await collect_messages(mode="legacy", level="error") == [("error", "it broke: why")]
    assert await collect_messages(mode="legacy", level="emergency") == []


async def test_a_client_of_the_later_protocol_hears_what_it_asks_for() -> None:
    assert await collect_messages() == []
    assert [level for level, _ in await collect_messages(log_level="debug")] == ["warning", "error"]


def test_what_is_said_to_nobody_goes_to_standard_error_alone(capsys, monkeypatch) -> None:
    mcp_server.log_note("alone")
    assert capsys.readouterr().err == "note: alone\n"
    monkeypatch.setattr("sys.stderr", None)
    mcp_server.log_note("closed")
