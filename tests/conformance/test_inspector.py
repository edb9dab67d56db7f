"""The official inspector's command line, over both transports."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from debuggees import find_marker, find_source
from mcp_client import server_command, start_http_server

LOOP = find_source("loop.py")
STOP = f"{LOOP}:{find_marker('loop.py', 'step')}"

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture(params=["stdio", "http"])
async def ask(request, runtime_dir, run_judge) -> AsyncIterator[Ask]:
    """Ask the server something by way of the inspector, which connects anew each time."""
    async with AsyncExitStack() as stack:
        if request.param == "http":
            server = await stack.enter_async_context(start_http_server())
            token = f"Authorization: {server.headers['Authorization']}"
            target = [server.url, "--transport", "http", "--header", token]
        else:
            # Of our environment the inspector hands on what any program needs, and no more.
            own = {name: os.environ[name] for name in ("DEBUGGER_RUNTIME_DIR", "DEBUGGER_CONFIG")}
            target = [
                *server_command(),
                *(word for one in own.items() for word in ("-e", "=".join(one))),
            ]

        async def run(method: str, *words: str) -> Any:
            told = await run_judge(
                "inspector",
                "--cli",
                *target,
                "--quiet",
                "--format",
                "json",
                "--method",
                method,
                *words,
            )
            assert told.exit == 0, str(told)
            return json.loads(told.out)["result"]

        yield run


async def test_the_tools_have_schemas_that_any_client_can_read(ask) -> None:
    listed = await ask("tools/list", "--strict")
    assert "debug_launch" in {one["name"] for one in listed["tools"]}


async def test_a_program_is_launched_and_its_session_read(ask) -> None:
    arguments = json.dumps({"command": str(LOOP), "breakpoints": [STOP]})
    told = await ask("tools/call", "--tool-name", "debug_launch", "--tool-args-json", arguments)
    assert told["structuredContent"]["status"] == "paused"
    name = told["structuredContent"]["sessionId"]
    listed = await ask("resources/list")
    uris = [one["uri"] for one in listed["resources"]]
    assert f"debugger://session/{name}/source" in uris
    read = await ask("resources/read", "--uri", f"debugger://session/{name}/source")
    assert "def " in read["contents"][0]["text"]


async def test_a_prompt_is_filled_in(ask) -> None:
    told = await ask("prompts/get", "--prompt-name", "find-crash", "--prompt-args", "command=./app")
    assert "Find why this program crashes: ./app" in told["messages"][0]["content"]["text"]
