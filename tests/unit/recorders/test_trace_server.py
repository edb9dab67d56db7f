"""The debugger that serves all traced runs of one question."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from debugger.recorders.trace_server import TraceServer

# Does what gdb's script does: for each plan a result, and a reply.
_SCRIPT = """
import os, sys, time
folder = sys.argv[1]
with open(folder + "/orders") as orders:
    while plan := orders.readline().strip():
        words = open(plan).read()
        if words == "die":
            os._exit(1)
        time.sleep(60 if words == "hang" else 0)
        read = os.read(0, 20).decode()
        os.lseek(0, 0, os.SEEK_SET)
        open(plan + ".result", "w").write(f"{os.getpid()} {read}")
        open(folder + "/replies", "w").write("x")
"""


async def _serve(tmp_path: Path, plans: Sequence[str], timeout_s: float) -> list[str | None]:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)

    def build_command(folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
        return (sys.executable, "-S", str(script), str(folder)), {}

    found: list[str | None] = []
    async with asyncio.TaskGroup() as tasks:
        server = TraceServer(
            tasks, tmp_path, asyncio.Event(), build_command, stdin=b"input", shown=("x",)
        )
        for number, words in enumerate(plans):
            plan = tmp_path / f"plan{number}"
            plan.write_text(words)
            is_over = await server.run_plan(plan, timeout_s=timeout_s)
            result = tmp_path / f"plan{number}.result"
            found.append(result.read_text() if result.exists() else "none" if is_over else None)
        await server.end()
    assert not list(tmp_path.glob("trace-*"))
    return found


async def test_runs_of_a_question_share_one_debugger_and_read_the_input_from_its_begin(
    tmp_path: Path,
) -> None:
    first, second = await _serve(tmp_path, ["", ""], 60.0)
    assert first is not None
    assert first.split()[1] == "input"
    assert first == second


@pytest.mark.parametrize(
    ("words", "timeout_s", "result"), [("die", 60.0, "none"), ("hang", 2.0, None)]
)
async def test_a_debugger_that_ended_or_was_late_is_started_anew(
    tmp_path: Path, words: str, timeout_s: float, result: str | None
) -> None:
    first, second, third = await _serve(tmp_path, ["", words, ""], timeout_s)
    assert second == result
    assert first is not None
    assert third is not None
    assert first.split()[0] != third.split()[0]
