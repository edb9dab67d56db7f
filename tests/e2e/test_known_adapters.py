"""An adapter that claims few options answers the questions, too: bash-dap, from the PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LOOP = """#!/bin/bash
price() {
    local n=$1
    local p=$((n * 3))
    echo "$p"
}
total=0
for n in 0 1 2 3; do price "$n"; total=$((total + n)); done
echo "total $total"
"""


@pytest.fixture
def run(cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "loop.sh").write_text(LOOP)
    folder = str(Path(sys.executable).parent)  # where the tests' own programs are
    monkeypatch.setenv("PATH", os.pathsep.join((folder, os.environ["PATH"])))

    def call(*words: str) -> Any:
        return cli("--json", *words, cwd=tmp_path, check=0, timeout=60).data["data"]

    return call


def test_a_session_has_hit_counts_conditions_and_logpoints(run: Callable[..., Any]) -> None:
    stop = run("start", "loop.sh", "--break", "loop.sh:4")
    assert (stop["reason"], stop["frame"]["line"], stop["hit_breakpoints"]) == (
        "breakpoint",
        4,
        [1],
    )
    run("breakpoint", "remove", "1")
    run("break", "loop.sh:4", "--hit-count", "2")
    run("break", "loop.sh:5", "--log", "p is {p}")
    assert run("continue")["hit_breakpoints"] == [2]
    assert run("print", "n")["value"] == "2"
    logged = [one["text"] for one in run("events", "--kind", "logpoint")["events"]]
    assert logged == ["p is 0", "p is 3"]
    run("breakpoint", "remove", "--all")
    assert run("continue")["exit_code"] == 0


def test_values_are_probed_at_each_hit(run: Callable[..., Any]) -> None:
    answer = run("probe", "--at", "loop.sh:5", "n, p", "--", "bash", "loop.sh")
    [place] = answer["places"]
    ranges = [
        (one["expression"], one["taken"], one["first"], one["last"]) for one in place["columns"]
    ]
    assert ranges == [("n", 4, "0", "3"), ("p", 4, "0", "9")]


def test_calls_are_stepped_through(run: Callable[..., Any]) -> None:
    answer = run("calls", "price", "--first", "1", "--", "./loop.sh")
    [life] = answer["lives"]
    assert [(one["line"], one["text"]) for one in life["items"]] == [
        (3, "local n=$1"),
        (4, "local p=$((n * 3))"),
        (5, 'echo "$p"'),
    ]
