"""A Python process becomes a member where it runs the program's code, and not an engine's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import debugger

ENTRY = Path(debugger.__file__).parent / "questions" / "group" / "entry"


@pytest.mark.parametrize(
    ("place", "becomes"),
    [
        ("ray/_private/workers/default_worker.py", True),
        ("ray/_private/log_monitor.py", False),
        ("ray/_private/runtime_env/agent/main.py", False),
        ("ray/dashboard/agent.py", False),
        ("ray/autoscaler/_private/monitor.py", False),
        ("app/dashboard/agent.py", True),
    ],
)
def test_a_service_of_an_engine_starts_as_without_a_debugger(
    tmp_path: Path, place: str, becomes: bool
) -> None:
    program = tmp_path / place
    program.parent.mkdir(parents=True)
    program.write_text("print('the program')\n")
    member = tmp_path / "member"
    member.write_text("#!/bin/sh\necho a member\n")
    member.chmod(0o755)
    names = {"DEBUGGER_MEMBER_GROUP": "job", "DEBUGGER_MEMBER_PYTHON": str(member)}
    ran = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, **names, "PYTHONPATH": str(ENTRY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == ("a member\n" if becomes else "the program\n")
