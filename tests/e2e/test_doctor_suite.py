"""`doctor --suite` tries what an adapter that only the configuration knows can do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes import fake_adapter
from refused_commands import check_refused

PROGRAM = """\
import sys
def price(n):
    p = n * 3
    return p

total = 0
for n in range(4):
    total += price(n)
    print("total", total)
if sys.argv[1:]:
    raise ValueError("bad")
"""
ESSENTIAL = {
    "start to a breakpoint", "stack", "variables", "expression", "second hit", "step over", "end",
    "nothing left running",
}  # fmt: skip


def write_section(runtime_dir: Path, *command: str, suite: str = "") -> None:
    launch = "program = '{program}', args = '{args}', cwd = '{cwd}', env = '{env}'"
    launch += f", console = 'internalConsole', python = {json.dumps(sys.executable)}"
    (runtime_dir / "config.toml").write_text(
        f"[adapters.own]\ncommand = {json.dumps(command)}\nextensions = ['.loop']\n"
        f"launch = {{ {launch} }}\n{suite}"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.loop").write_text(PROGRAM)
    return tmp_path


@pytest.mark.adapter("debugpy")
def test_an_adapter_is_tried_with_the_program_of_its_section(
    cli: Any, runtime_dir: Path, folder: Path
) -> None:
    suite = (
        f"[adapters.own.suite]\nprogram = '{folder}/a.loop'\nat = '{folder}/a.loop:4'\n"
        "expression = 'n'\nraises = ['bad']\n"
    )
    write_section(runtime_dir, sys.executable, "-m", "debugpy.adapter", suite=suite)
    answer = cli("--json", "doctor", "--adapter", "own", "--suite", check=0, timeout=90)
    scenes = {one["name"]: one for one in answer.data["data"]["scenes"]}
    assert {name for name, one in scenes.items() if one["is_essential"]} == ESSENTIAL
    works = {name for name, one in scenes.items() if one["outcome"] == "works"}
    assert works >= ESSENTIAL | {"condition", "log message", "exception", "set a variable"}, scenes
    assert scenes["condition"]["detail"] == "n == 1"
    assert "ValueError: bad" in scenes["exception"]["detail"]
    assert scenes["attach and detach"]["outcome"] == "not tried"
    assert cli("sessions", check=0).out == "no sessions\n"


@pytest.mark.adapter("debugpy")
def test_an_essential_scene_that_fails_is_the_exit_code(
    cli: Any, runtime_dir: Path, folder: Path
) -> None:
    write_section(runtime_dir, sys.executable, "-m", "debugpy.adapter")
    at = ("--at", "a.loop:11", "--expr", "n")  # it is never reached
    answer = cli("doctor", "own", "--suite", *at, "--", "a.loop", check=1, cwd=folder, timeout=90)
    assert "own with a.loop: 0 of 1 scene work; what is essential does not (*)" in answer.out
    assert "and no stop at line 11" in answer.out
    assert answer.out.count("it needs: start to a breakpoint") >= 8
    assert cli("sessions", check=0).out == "no sessions\n"


def test_the_suite_says_what_it_needs(cli: Any, runtime_dir: Path, folder: Path) -> None:
    write_section(runtime_dir, sys.executable, str(fake_adapter.ADAPTER))
    hint = "debugger doctor own --suite --at FILE:LINE --expr NAME -- PROGRAM ARGS"
    usage: Any = {"exit": 2, "code": "USAGE", "hint": hint}
    check_refused(cli, "doctor", "own", "--suite", says="the suite needs a program", **usage)
    words = ("doctor", "own", "--suite", "--", folder / "a.loop")
    check_refused(cli, *words, says="the suite needs --at FILE:LINE", **usage)
    check_refused(cli, "doctor", "own", "--expr", "n", says="a program is for --suite", **usage)
