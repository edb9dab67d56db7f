"""A command that runs in a fork of the tests' warm client answers as one that is started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import find_source
from warm_clients import WARM_CLIENTS, start_client

LIMIT_S = 60.0


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("--json", "status"),
        ("print", "1 + 1"),
        ("start", "nosuch.py"),
        ("start", "--help"),
        ("nosuch",),
        ("daemon", "status"),
        ("start", str(find_source("syntax_error.py")), "--json"),
    ],
    ids=" ".join,
)
def test_a_fork_answers_as_a_client_of_its_own(
    words: tuple[str, ...], cli: Callable[..., Any], tmp_path: Path
) -> None:
    cli("sessions", check=0)
    answers = []
    for run in (WARM_CLIENTS.run_command, start_client):
        ran = run(words, str(tmp_path), dict(os.environ), LIMIT_S)
        answers.append((ran.returncode, ran.stdout, ran.stderr))
        cli("stop")
    assert answers[0] == answers[1]


def test_a_fork_is_ended_after_its_time(cli: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "waits.py"
    script.write_text("input()\n")
    cli("start", script, "--no-wait", check=0)
    with pytest.raises(subprocess.TimeoutExpired):
        cli("await", timeout=0.3)
    assert "running" in cli("status", check=0).out
    cli("stop", check=0)
