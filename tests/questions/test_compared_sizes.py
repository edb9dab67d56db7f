"""Runs with inputs of different sizes are compared by the ratio of their counts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

NODE = program_text("counted_lines/sizes.js")
PYTHON = program_text("counted_lines/sizes.py")
EVERYWHERE = "counts differ by 4.0 nearly everywhere ("


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sizes")
    (made / "sizes.js").write_text(NODE)
    (made / "sizes.py").write_text(PYTHON)
    return made


@pytest.mark.adapter("js-debug")
def test_only_counts_that_depart_from_the_ratio_are_told_of_node(
    cli: Callable[..., Any], folder: Path
) -> None:
    run = ["node", "sizes.js"]
    answer = cli("diff", "--", *run, "400", "--vs", *run, "100", cwd=folder, check=0)
    assert answer.out.startswith(f"diff: {EVERYWHERE}"), str(answer)
    assert "more in A)" in answer.out.splitlines()[0]
    assert "x309 / x9  called  (in odd)" in answer.out
    assert "(in score)" not in answer.out


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(["node", "sizes.js"], marks=pytest.mark.adapter("js-debug")),
        [sys.executable, "sizes.py"],
    ],
)
def test_the_counts_of_a_failing_run_are_compared_by_their_ratio(
    cli: Callable[..., Any], folder: Path, run: list[str]
) -> None:
    answer = cli("path", "--", *run, "400", "--vs", *run, "100", cwd=folder, check=0)
    assert f"{EVERYWHERE}" in answer.out, str(answer)
    assert "more in the failing run); what departs from that, failing / passing:" in answer.out
    assert "x309 / x9  called  (in odd)" in answer.out
    assert "called  (in score)" not in answer.out
    turned = cli("diff", "--", *run, "100", "--vs", *run, "400", cwd=folder, check=0)
    assert EVERYWHERE in turned.out, str(turned)
    assert "more in B)" in turned.out
