"""The MCP tools that explain a hang and name the writer of a value."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_client import connect_stdio

SCRIPT = """
def wait(count):
    total = 0
    total = total + count
    check(total)
    while count < 5:
        pass
def check(total):
    return total
wait(3)
"""


@pytest.mark.adapter("debugpy")
async def test_the_tools_answer_and_leave_nothing(runtime_dir: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script)]
    async with connect_stdio(toolset="all") as agent:
        told = await agent.call("debug_hang", command=command, afterMs=500)
        assert told.data["kind"] == "busy"
        assert "`while count < 5:` never changes count=3" in told.data["cause"]
        assert told.data["hang"]["frame"]["function"] == "wait"
        told = await agent.call(
            "debug_who_wrote",
            expression="total",
            at="script.py:5",
            command=command,
            cwd=str(tmp_path),
            timeoutMs=1000,
        )
        assert told.data["value"] == "3"
        assert told.data["cause"].endswith("in wait script.py:4")
        assert "no sessions" in (await agent.call("debug_session", action="list")).text
