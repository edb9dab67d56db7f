"""The MCP tool that probes expressions over a run."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp_client import connect_stdio


async def test_the_tool_answers_with_rows_and_their_summary(
    runtime_dir: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text("def run(n):\n    return n * 2\nfor n in range(5):\n    run(n)\n")
    async with connect_stdio(toolset="all") as agent:
        told = await agent.call(
            "debug_probe", command=[sys.executable, str(script)], at={f"{script}:2": "n, n * 2"}
        )
        assert told.data["outcome"] == "exited"
        assert told.data["hits"] == 5
        assert told.data["probe"]["rows"][4]["values"] == ["4", "8"]
        assert told.text.startswith("probe: 5 hits; exited with status 0")
        text = await agent.refused("debug_probe", command=["./nosuch"], at={"a.c:1": "x"})
        assert "no such command" in text


async def test_a_command_is_looked_for_in_the_directory_that_the_call_names(
    runtime_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text("import os\nn = os.getcwd()\nprint(n)\n")
    async with connect_stdio(toolset="all") as agent:
        told = await agent.call(
            "debug_probe",
            command=[sys.executable, "script.py"],
            cwd=str(tmp_path),
            at={"script.py:3": "n"},
        )
        assert told.data["probe"]["rows"][0]["values"] == [f"'{tmp_path}'"]
        started = await agent.call("debug_launch", command="script.py", cwd=str(tmp_path))
        assert str(tmp_path) in started.text
