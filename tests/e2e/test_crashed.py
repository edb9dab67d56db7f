"""Every answer after a crash, also after the end, repeats what was inspected there."""

from __future__ import annotations

from typing import Any

import pytest

from cli_commands import answer_data, marked_location, resolve_program
from debuggees import find_marker
from mcp_client import connect_stdio

ADAPTERS = [
    pytest.param(("--adapter", "lldb-dap"), marks=pytest.mark.adapter("lldb-dap"), id="lldb-dap"),
    pytest.param(("--adapter", "gdb"), marks=pytest.mark.adapter("gdb"), id="gdb"),
    pytest.param(("--backend", "lldb-cli"), marks=pytest.mark.adapter("lldb-cli"), id="lldb-cli"),
]


@pytest.fixture(params=ADAPTERS)
def crashed(cli, request) -> Any:
    """Run a program into a crash."""
    told = cli("start", resolve_program("crash.c"), *request.param, check=0).out
    assert "SIGSEGV" in told.splitlines()[0]
    assert "crashed:" not in told
    return cli


def test_every_later_answer_tells_of_the_crash_until_the_next_run(crashed) -> None:
    line = f"crash.c:{find_marker('crash.c', 'crash')}"
    for words in (("status",), ("events",), ("output",)):
        (found,) = [one for one in crashed(*words).out.splitlines() if "crashed: " in one]
        assert found.startswith("crashed: SIGSEGV at 0x")
        assert line in found
    ended = crashed("--json", "continue", check=0)
    assert answer_data(ended)["crash"]["signal"] == "SIGSEGV"
    for words in (("status",), ("events",), ("output", "--all")):
        assert answer_data(crashed("--json", *words))["crash"]["line"] == find_marker(
            "crash.c", "crash"
        )
    crashed("restart", "--no-wait", check=0)
    crashed("await", check=0)
    assert answer_data(crashed("--json", "events", "--kind", "crash"))["total"] == 2


def test_the_crash_event_has_the_registers_the_stack_and_the_locals(crashed) -> None:
    (event,) = answer_data(crashed("--json", "events", "--kind", "crash"))["events"]
    told = event["data"]
    assert told["signal"] == "SIGSEGV"
    assert told["registers"]["rip"].startswith("0x")
    assert told["stack"][0]["line"] == event["line"] == find_marker("crash.c", "crash")
    assert told["locals"]
    assert any(one["current"] for one in told["source"])
    shown = crashed("events", "--kind", "crash").out
    assert f"#0 {event['function']} crash.c:{event['line']}" in shown


@pytest.mark.adapter("lldb-dap")
async def test_the_tools_tell_of_it_too(cli) -> None:
    cli("start", resolve_program("crash.c"), check=0)
    async with connect_stdio() as agent:
        told = await agent.call("debug_query", eventType=["stop"])
        assert told.data["crash"]["signal"] == "SIGSEGV"
        assert "crashed: SIGSEGV" in told.text


@pytest.mark.adapter("lldb-dap")
def test_a_program_that_did_not_crash_is_not_said_to_have(cli) -> None:
    cli("start", resolve_program("loop.c"), "--break", marked_location("loop.c", "call"), check=0)
    assert "crash" not in answer_data(cli("--json", "status"))
    assert "crashed" not in cli("continue").out
