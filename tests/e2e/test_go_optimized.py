"""Setting values in Go that was built with optimisation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli_commands import Cli
from debuggees import program_text

pytestmark = pytest.mark.adapter("delve")

SOURCE = program_text("counted_lines/go_optimized.go")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.go").write_text(SOURCE)
    (tmp_path / "go.mod").write_text("module example.org/work\n\ngo 1.16\n")
    return tmp_path


def built(folder: Path, *options: str) -> Path:
    command = ["go", "build", *options, "-o", "work", "."]
    subprocess.run(command, cwd=folder, check=True, timeout=100)
    return folder / "work"


def test_that_an_optimized_function_may_not_see_what_was_set_is_said(
    cli: Cli, folder: Path
) -> None:
    cli("start", built(folder), "--break", "main.go:12", check=0)
    answer = cli("set", "n", "2", check=0)
    assert answer.out.startswith("n = 2 (was 5)\nnote: the function is optimized, and may hold n")
    gone = cli("set", "sum", "2", check=1)
    assert "optimized out at this PC. Recompile with -gcflags='all=-N -l'." in gone.err
    assert "hint: debugger up" in gone.err
    assert "no value here" not in cli("set", "nothing", "2", check=1).err
    assert "can not take address" in cli("set", "3", "2", check=1).err


def test_nothing_is_said_of_a_function_that_is_not_optimized(cli: Cli, folder: Path) -> None:
    cli("start", built(folder, "-gcflags=all=-N -l"), "--break", "main.go:12", check=0)
    assert cli("set", "n", "2", check=0).out == "n = 2 (was 5)\n"
    assert cli("--json", "set", "sum", "9", check=0).data["data"].get("note") is None
