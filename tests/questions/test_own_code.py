"""No question runs the program's own code unasked: no hash, comparison, truth or attribute."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS, find_marker

SOURCE = "recorded/watched_class.py"
END = f"watched_class.py:{find_marker(SOURCE, 'end')}"


@pytest.mark.parametrize(
    "question",
    [
        ("why", "first", "--at", "crash"),
        ("why", "table", "--at", END),
        ("why", "both", "--at", END),
        ("who-wrote", "one.number", "--at", END),
        ("calls", "make"),
        ("path",),
        ("holds", "rows is both", "--at", END),
    ],
)
def test_a_question_runs_no_code_of_a_class(
    cli: Callable[..., Any], tmp_path: Path, question: tuple[str, ...]
) -> None:
    log = tmp_path / "log"
    answer = cli(*question, "--", sys.executable, "watched_class.py", str(log),
                 check=0, cwd=PROGRAMS / "recorded")  # fmt: skip
    assert "watched_class.py" in str(answer)
    assert log.read_text() == ""


def test_a_comparison_of_two_runs_runs_no_code_of_a_class(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    program = (sys.executable, "watched_class.py", str(log))
    cli("diff", "--", *program, "--vs", *program, check=0, cwd=PROGRAMS / "recorded")
    assert log.read_text() == ""
