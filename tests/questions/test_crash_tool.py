"""The MCP tool that explains a crash."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcp_client import connect_stdio


@pytest.mark.adapter("debugpy")
async def test_the_tool_answers_with_the_cause(runtime_dir: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("def run(order):\n    return order.total\nrun(None)\n")
    async with connect_stdio() as agent:
        told = await agent.call("debug_crash", command=[sys.executable, str(script)])
        assert told.data["outcome"] == "crashed"
        assert told.data["kind"] == "nothing"
        assert told.data["cause"].startswith("None: order is None, .total of it is read")
        assert told.data["crash"]["frame"]["line"] == 2
        assert told.text.startswith("crash: None: order is None")
        assert "no sessions" in (await agent.call("debug_session", action="list")).text
        text = await agent.refused("debug_crash", command=["./nosuch"])
        assert "no such command" in text
